//! How functions are called that have no debug information: a prototype, a header, or the registers that count.
//!
//! C is for a compiler to understand: it compiles a function with the prototype, and what it writes into the debug information of that
//! is the interface.

use crate::objects::input::read;
use crate::pairing::Matched;
use crate::status::Failure;
use clap::Args;
use pair::{File, Files, new_arena};
use program::{CallInterface, Register, Side};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the user says about how functions are called.
#[derive(Args, Clone, Debug, Default)]
pub struct InterfaceArguments {
    /// How a function without debug information is called, in C: 'int f(const int *a, long n)'; may be repeated
    #[arg(long = "prototype", value_name = "DECLARATION")]
    pub prototypes: Vec<String>,
    /// A C header that declares functions which have no debug information
    #[arg(long, value_name = "FILE.h")]
    pub header: Option<PathBuf>,
    /// Registers that hold something when the selected piece of code is entered, such as rdi,esi,xmm0; all others hold anything
    #[arg(long, value_name = "REG,…", value_delimiter = ',')]
    pub live_in: Option<Vec<String>>,
    /// Registers that are looked at behind the selected piece of code
    #[arg(long, value_name = "REG,…", value_delimiter = ',')]
    pub live_out: Option<Vec<String>>,
}

impl InterfaceArguments {
    /// Is nothing said?
    pub fn is_empty(&self) -> bool {
        self.prototypes.is_empty() && self.header.is_none() && self.live_in.is_none() && self.live_out.is_none()
    }

    /// The files, whose selected functions are called as the user says.
    pub fn apply(&self, files: Files, pairs: &[Matched]) -> Result<Files, Failure> {
        if self.is_empty() {
            return Ok(files);
        }
        let names: Vec<String> = pairs.iter().map(|pair| files.original().name(pair.original).to_string()).collect();
        let interfaces = self.interfaces(&names, files.original())?;
        Ok(files.called_as(interfaces))
    }

    /// How functions of a file are called.
    pub fn interfaces(&self, names: &[String], file: &File) -> Result<BTreeMap<String, CallInterface>, Failure> {
        let mut found = BTreeMap::new();
        for text in &self.prototypes {
            let failed = |what: String| Failure(format!("--prototype '{text}': {what}"));
            let prototype = Prototype::parse(text).map_err(failed)?;
            if !names.contains(&prototype.name) {
                return Err(failed(format!("no function `{}` is compared", prototype.name)));
            }
            refuse_described(file, &prototype.name).map_err(failed)?;
            found.insert(prototype.name.clone(), prototype.compiled("").map_err(failed)?);
        }
        if let Some(header) = &self.header {
            let failed = |what: String| Failure(format!("--header {}: {what}", header.display()));
            let path = header.canonicalize().map_err(|e| failed(e.to_string()))?;
            let text = preprocessed(&path).map_err(failed)?;
            let open = names.iter().filter(|name| file.image().signature(name).is_none() && !found.contains_key(*name));
            let mut declared = Vec::new();
            for name in open {
                if let Some(declaration) = declaration(&text, name) {
                    let include = format!("#include \"{}\"\n", path.display());
                    let prototype = Prototype { name: name.clone(), text: declaration.to_string() };
                    declared.push((name.clone(), prototype.compiled(&include).map_err(failed)?));
                }
            }
            if declared.is_empty() {
                return Err(failed("it declares no function without debug information that is compared".to_string()));
            }
            found.extend(declared);
        }
        if self.live_in.is_some() || self.live_out.is_some() {
            let failed = |what: String| Failure(format!("--live-in, --live-out: {what}"));
            let [name] = names else {
                return Err(failed("they are about one function: select it with --function".to_string()));
            };
            refuse_described(file, name).map_err(failed)?;
            if found.contains_key(name) {
                return Err(failed(format!("how {name} is called is said twice")));
            }
            let list = |words: &Option<Vec<String>>| -> Result<Vec<(Register, u16)>, String> {
                words.iter().flatten().filter(|word| !word.is_empty()).map(|word| register(word.trim())).collect()
            };
            let (live_in, live_out) = (list(&self.live_in).map_err(failed)?, list(&self.live_out).map_err(failed)?);
            let kept = live_out.iter().find(|(r, _)| Register::CALLEE_SAVED.contains(r) || *r == Register::RSP);
            if let Some((kept, _)) = kept {
                return Err(failed(format!("`{}` must be left as it was anyway", kept.name())));
            }
            found.insert(name.clone(), CallInterface::of_registers(&live_in, &live_out));
        }
        Ok(found)
    }
}

/// Debug information is believed before a user.
fn refuse_described(file: &File, name: &str) -> Result<(), String> {
    match file.image().signature(name) {
        Some(_) => Err(format!("the original's debug information says how {name} is called")),
        None => Ok(()),
    }
}

/// A register and how many of its bytes a name means.
fn register(name: &str) -> Result<(Register, u16), String> {
    const PARTS: [(&str, [&str; 3]); 8] = [
        ("rax", ["eax", "ax", "al"]),
        ("rcx", ["ecx", "cx", "cl"]),
        ("rdx", ["edx", "dx", "dl"]),
        ("rbx", ["ebx", "bx", "bl"]),
        ("rsp", ["esp", "sp", "spl"]),
        ("rbp", ["ebp", "bp", "bpl"]),
        ("rsi", ["esi", "si", "sil"]),
        ("rdi", ["edi", "di", "dil"]),
    ];
    let plain = name.strip_prefix('%').unwrap_or(name);
    let mut whole = (plain, 8);
    for (register, parts) in PARTS {
        if let Some(i) = parts.iter().position(|part| *part == plain) {
            whole = (register, [4, 2, 1][i]);
        }
    }
    for (suffix, bytes) in [("d", 4), ("w", 2), ("b", 1)] {
        if let Some(stem) = plain.strip_suffix(suffix)
            && stem.strip_prefix('r').is_some_and(|digits| digits.parse::<u8>().is_ok())
        {
            whole = (stem, bytes);
        }
    }
    match Register::all().find(|register| register.name() == whole.0) {
        Some(register @ Register::General(_)) if register != Register::RSP => Ok((register, whole.1)),
        Some(register @ Register::Vector(_)) => Ok((register, 16)),
        _ => Err(format!("`{name}` is no general or vector register that can be named here")),
    }
}

/// A declaration of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Prototype {
    name: String,
    text: String,
}

impl Prototype {
    fn parse(text: &str) -> Result<Prototype, String> {
        let text = text.trim().trim_end_matches(';').trim_end();
        if text.contains(['{', '}', ';', '#', '\n', '"', '\\']) {
            return Err("a declaration of one function expected".to_string());
        }
        let before = text.split('(').next().unwrap_or_default().trim_end();
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &before[before.rfind(|c| !word(c)).map_or(0, |i| i + 1)..];
        if name.is_empty() || !text.ends_with(')') || before.len() == name.len() {
            return Err("a declaration such as 'int f(const int *a, long n)' expected".to_string());
        }
        Ok(Prototype { name: name.to_string(), text: text.to_string() })
    }

    /// What the compiler makes of it, behind other declarations.
    fn compiled(&self, before: &str) -> Result<CallInterface, String> {
        const HEADERS: &str = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n";
        let text = format!("{HEADERS}{before}#line 1 \"{PROTOTYPE}\"\n{} {{ __builtin_trap(); }}\n", self.text);
        let directory = tempfile::tempdir().map_err(|e| e.to_string())?;
        let object = directory.path().join("prototype.o");
        compile(&["-g", "-gdwarf-5", "-O0", "-w", "-c", "-x", "c", "-", "-o", &object.display().to_string()], &text)?;
        let file = read(&object).map_err(|Failure(what)| what)?;
        let index = file.find(&self.name).ok_or_else(|| format!("it declares no function `{}`", self.name))?;
        let function = file.lift(index, Side::Original, &mut new_arena()).map_err(|e| e.to_string())?;
        let interface = CallInterface::of_described(&function).ok_or("the compiler does not describe it")?;
        match &interface.signature.unsupported {
            Some(why) => Err(format!("how it is called is not supported: {why}")),
            None => Ok(interface),
        }
    }
}

/// Runs the compiler; the error is what it says first.
fn compile(arguments: &[&str], text: &str) -> Result<String, String> {
    let mut child = Command::new("cc")
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("the compiler `cc`: {e}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A compiler that stops early says why.
        let _ = input.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| format!("the compiler `cc`: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| line.contains("error")).or_else(|| said.lines().next()).unwrap_or_default();
    let own = line.strip_prefix(&format!("{PROTOTYPE}:1:")).and_then(|rest| rest.split_once(": error: "));
    Err(own.map_or_else(|| line.to_string(), |(column, what)| format!("column {column}: {what}")))
}

/// What the compiler calls the user's text.
const PROTOTYPE: &str = "prototype";

/// A header behind the preprocessor.
fn preprocessed(header: &Path) -> Result<String, String> {
    compile(&["-E", "-P", "-x", "c", "-"], &format!("#include \"{}\"\n", header.display()))
}

/// The declaration of a function in a text that was preprocessed: from the end of what stands before it to its last parenthesis. The compiler,
/// which sees the header as well, refuses one that is not what the header says.
fn declaration<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    for (at, _) in text.match_indices(name) {
        let behind = &text[at + name.len()..];
        let open = behind.trim_start();
        if word(text[..at].chars().next_back()) || !open.starts_with('(') {
            continue;
        }
        let start = text[..at].rfind([';', '}']).map_or(0, |i| i + 1);
        let from = at + name.len() + (behind.len() - open.len());
        let mut depth = 0;
        for (i, c) in text[from..].char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 {
                let found = text[start..=from + i].trim();
                let found = found.strip_prefix("extern ").unwrap_or(found).trim_start();
                // A call or a macro has no type before it.
                if found.starts_with(name) {
                    break;
                }
                return Some(found);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn signature(text: &str, expect: Expect) {
        let shown = match Prototype::parse(text).and_then(|prototype| prototype.compiled("")) {
            Ok(interface) => {
                let place = |v: &program::Value| match v.place {
                    program::Place::Register(register) => format!("{}:{}", register.name(), v.bytes),
                    program::Place::Stack(at) => format!("stack+{at}:{}", v.bytes),
                };
                let all = |values: &[program::Value]| values.iter().map(place).collect::<Vec<_>>().join(" ");
                let names: Vec<&str> = interface.parameters.iter().map(|p| p.name.as_str()).collect();
                let CallInterface { signature, .. } = &interface;
                format!("{} -> {}, {}", all(&signature.arguments), all(&signature.results), names.join(" "))
            }
            Err(why) => why,
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn a_compiler_says_where_arguments_are() {
        signature("int f(const int *a, long n)", expect!["rdi:8 rsi:8 -> rax:4, a n"]);
        signature("double g(double x, unsigned char c);", expect!["xmm0:8 rdi:4 -> xmm0:8, x c"]);
        signature("void h(void)", expect![" -> , "]);
        signature("int f(const strange *a)", expect!["column 13: unknown type name 'strange'"]);
        signature("int f", expect!["a declaration such as 'int f(const int *a, long n)' expected"]);
        signature("int f(int x) { return x; }", expect!["a declaration of one function expected"]);
    }

    #[test]
    fn declarations_are_found_in_headers() {
        let text = "typedef int (*call)(int f);\nextern int other(int f, int (*g)(int));\nint  f (const char *s,\n int (*g)(int)) __attribute__((x));";
        assert_eq!(declaration(text, "f"), Some("int  f (const char *s,\n int (*g)(int))"));
        assert_eq!(declaration(text, "other"), Some("int other(int f, int (*g)(int))"));
        assert_eq!(declaration(text, "call"), None);
        assert_eq!(declaration(text, "h"), None);
    }

    #[test]
    fn registers_by_their_names() {
        assert_eq!(register("edi"), Ok((Register::General(7), 4)));
        assert_eq!(register("%r15"), Ok((Register::General(15), 8)));
        assert_eq!(register("r9b"), Ok((Register::General(9), 1)));
        assert_eq!(register("xmm3"), Ok((Register::Vector(3), 16)));
        assert!(register("rsp").is_err() && register("rflags").is_err() && register("").is_err());
    }
}
