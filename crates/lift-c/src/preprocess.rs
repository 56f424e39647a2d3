//! A small preprocessor, and the system's for what it does not do.
//!
//! Starting `cc -E` costs more than the rest of the work, so files that need only object- and function-like macros,
//! simple conditionals and well-known headers are expanded here. Anything else ([`Trouble::Beyond`]) goes to the
//! system's compiler; its output comes back through the same code, with line markers instead of directives.

use crate::error::Error;
use crate::lexer::{Kind, Name, Names, Token, tokens};
use rustc_hash::FxHashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod condition;
mod headers;
mod macros;

use macros::Macro;

/// What the command line says about preprocessing.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `-D` options, `NAME` or `NAME=TEXT`.
    pub defines: Vec<String>,
    /// `-I` directories.
    pub includes: Vec<PathBuf>,
    /// Parameter values: a macro that the file defines under such a name has this value instead.
    pub parameters: Vec<(String, i64)>,
}

/// A preprocessed file.
#[derive(Debug)]
pub struct Unit {
    /// The tokens, an [`Kind::End`] last.
    pub tokens: Vec<Token>,
    /// Names of the files, the main one first.
    pub files: Vec<String>,
    /// Macros of the file that a parameter replaced.
    pub replaced: Vec<String>,
}

/// Why this preprocessor stopped.
enum Trouble {
    /// The text is wrong.
    Wrong(Error),
    /// It needs the real one.
    Beyond,
}

/// Files larger than this are refused.
const LARGEST: u64 = 16 << 20;
/// Tokens after expansion are refused beyond this.
const MOST_TOKENS: usize = 8 << 20;

/// Reads and preprocesses a file.
pub fn preprocess(path: &Path, settings: &Settings, names: &mut Names) -> Result<Unit, Error> {
    let text = read(path)?;
    preprocess_text(path, &text, settings, names)
}

/// Preprocesses a text that was read from a file.
pub fn preprocess_text(path: &Path, text: &str, settings: &Settings, names: &mut Names) -> Result<Unit, Error> {
    let mut worker = Worker::new(settings, names);
    match worker.file(path, text, 0) {
        Ok(()) => Ok(worker.finish()),
        Err(Trouble::Wrong(error)) => Err(error),
        Err(Trouble::Beyond) => {
            let (expanded, replaced) = system(path, text, settings)?;
            let plain = Settings::default();
            let mut worker = Worker::new(&plain, names);
            worker.files.push(path.display().to_string());
            worker.replaced = replaced;
            match worker.text(path, &expanded, 0, 0) {
                Ok(()) => Ok(worker.finish()),
                Err(Trouble::Wrong(error)) => Err(error),
                Err(Trouble::Beyond) => Err(malformed(path, 0, "the compiler's preprocessor left directives behind")),
            }
        }
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let failed = |what: String| malformed(path, 0, what);
    let size = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?.len();
    if size > LARGEST {
        return Err(failed(format!("{size} bytes are too many for a kernel")));
    }
    let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("not a text file".to_string()))
}

fn malformed(path: &Path, line: u32, what: impl Into<String>) -> Error {
    Error::Malformed { file: path.display().to_string(), line, what: what.into() }
}

/// Output of the system's preprocessor. It reads from a pipe, so that macros which a parameter replaces can be.
fn system(path: &Path, text: &str, settings: &Settings) -> Result<(String, Vec<String>), Error> {
    let failed = |what: String| malformed(path, 0, what);
    let (text, replaced) = replace_macros(text, &settings.parameters);
    let mut command = Command::new("cc");
    command.arg("-E").arg("-xc").args(settings.defines.iter().map(|d| format!("-D{d}")));
    command.args(settings.includes.iter().flat_map(|i| ["-I".into(), i.as_os_str().to_owned()]));
    let beside = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    command.arg("-iquote").arg(beside).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| failed(format!("cannot run `cc -E`: {e}")))?;
    let marked = format!("# 1 {:?}\n{text}", path.display().to_string());
    let feeder = child.stdin.take().map(|mut pipe| std::thread::spawn(move || pipe.write_all(marked.as_bytes())));
    let output = child.wait_with_output().map_err(|e| failed(format!("`cc -E`: {e}")))?;
    // The child may have stopped reading early; its status says what matters.
    let _ = feeder.map(std::thread::JoinHandle::join);
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let first =
            message.lines().find(|l| l.contains("error")).or(message.lines().next()).unwrap_or("`cc -E` failed");
        return Err(failed(first.to_string()));
    }
    if output.stdout.len() as u64 > LARGEST {
        return Err(failed("too long after preprocessing".to_string()));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| failed("not a text file".to_string()))?;
    Ok((text, replaced))
}

/// The text with object-like definitions of parameters replaced by their values, and which were.
fn replace_macros(text: &str, parameters: &[(String, i64)]) -> (String, Vec<String>) {
    let mut replaced = Vec::new();
    let mut line_of = |line: &str| {
        let define = line.trim_start().strip_prefix('#').and_then(|l| l.trim_start().strip_prefix("define"));
        let name = define.and_then(|l| l.split_whitespace().next());
        match parameters.iter().find(|(p, _)| Some(p.as_str()) == name) {
            Some((name, value)) => {
                if !replaced.contains(name) {
                    replaced.push(name.clone());
                }
                format!("#define {name} {value}\n")
            }
            None => format!("{line}\n"),
        }
    };
    let text = text.lines().map(&mut line_of).collect();
    (text, replaced)
}

/// One conditional group.
struct Group {
    /// Is the current part in force?
    active: bool,
    /// Was some part in force already?
    done: bool,
    /// Is the surrounding text in force?
    outer: bool,
}

struct Worker<'a> {
    settings: &'a Settings,
    names: &'a mut Names,
    macros: FxHashMap<Name, Macro>,
    files: Vec<String>,
    replaced: Vec<String>,
    out: Vec<Token>,
}

impl<'a> Worker<'a> {
    fn new(settings: &'a Settings, names: &'a mut Names) -> Worker<'a> {
        Worker {
            settings,
            names,
            macros: FxHashMap::default(),
            files: Vec::new(),
            replaced: Vec::new(),
            out: Vec::new(),
        }
    }

    fn finish(mut self) -> Unit {
        let line = self.out.last().map_or(1, |t| t.line);
        let name = self.names.intern("");
        self.out.push(Token { kind: Kind::End, name, line, file: 0, spaced: false });
        Unit { tokens: self.out, files: self.files, replaced: self.replaced }
    }

    fn file(&mut self, path: &Path, text: &str, depth: u32) -> Result<(), Trouble> {
        if depth == 0 {
            for define in &self.settings.defines {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                self.define_text(name, value)?;
            }
        }
        let number = u16::try_from(self.files.len()).map_err(|_| Trouble::Beyond)?;
        self.files.push(path.display().to_string());
        self.text(path, text, number, depth)
    }

    fn wrong(&self, line: u32, file: u16, what: impl Into<String>) -> Trouble {
        let file = self.files.get(file as usize).cloned().unwrap_or_default();
        Trouble::Wrong(Error::Malformed { file, line, what: what.into() })
    }

    fn text(&mut self, path: &Path, text: &str, number: u16, depth: u32) -> Result<(), Trouble> {
        let input = tokens(text, number, self.names).map_err(|(line, what)| self.wrong(line, number, what))?;
        let mut groups: Vec<Group> = Vec::new();
        let mut at = 0;
        // Line markers say where the following text really is.
        let (mut file, mut shift) = (number, 0i64);
        let mut pending: Vec<Token> = Vec::new();
        while at < input.len() {
            let token = input[at];
            match token.kind {
                Kind::Hash => {
                    let end = (at..input.len()).find(|i| input[*i].kind == Kind::Newline).unwrap_or(input.len());
                    let directive = &input[at + 1..end];
                    // A directive inside a macro's arguments belongs to none of them; expand what came before.
                    self.flush(&mut pending)?;
                    if let Some((line, name)) = self.marker(directive) {
                        shift = i64::from(line) - i64::from(token.line) - 1;
                        file = self.file_number(&name)?;
                    } else {
                        self.directive(path, directive, token, &mut groups, depth)?;
                    }
                    at = end + 1;
                }
                Kind::Newline => at += 1,
                _ => {
                    if groups.last().is_none_or(|g| g.active) {
                        let line = u32::try_from(i64::from(token.line) + shift).unwrap_or(token.line);
                        pending.push(Token { line, file, ..token });
                    }
                    at += 1;
                }
            }
        }
        if !groups.is_empty() {
            let line = input.last().map_or(0, |t| t.line);
            return Err(self.wrong(line, number, "`#if` without `#endif`"));
        }
        self.flush(&mut pending)
    }

    /// Expands the tokens gathered so far into the output.
    fn flush(&mut self, pending: &mut Vec<Token>) -> Result<(), Trouble> {
        if pending.is_empty() {
            return Ok(());
        }
        let input = std::mem::take(pending);
        if self.macros.is_empty() {
            self.out.extend(input);
            return Ok(());
        }
        let expanded = self.expand(input)?;
        self.out.extend(expanded);
        if self.out.len() > MOST_TOKENS {
            return Err(self.wrong(0, 0, "too long after preprocessing"));
        }
        Ok(())
    }

    /// `# 12 "file"` or `#line 12 "file"`.
    fn marker(&self, directive: &[Token]) -> Option<(u32, Option<String>)> {
        let rest = match directive.first()? {
            first if first.kind == Kind::Number => directive,
            first if self.names.text(first.name) == "line" => &directive[1..],
            _ => return None,
        };
        let line = self.names.text(rest.first()?.name).parse().ok()?;
        let name = rest.get(1).filter(|t| t.kind == Kind::Text).map(|t| {
            let quoted = self.names.text(t.name);
            quoted[1..quoted.len() - 1].to_string()
        });
        Some((line, name))
    }

    fn file_number(&mut self, name: &Option<String>) -> Result<u16, Trouble> {
        let Some(name) = name else { return Ok(0) };
        let known = self.files.iter().position(|f| f == name);
        let index = known.unwrap_or_else(|| {
            self.files.push(name.clone());
            self.files.len() - 1
        });
        u16::try_from(index).map_err(|_| Trouble::Beyond)
    }

    fn directive(
        &mut self,
        path: &Path,
        directive: &[Token],
        hash: Token,
        groups: &mut Vec<Group>,
        depth: u32,
    ) -> Result<(), Trouble> {
        let Some((first, rest)) = directive.split_first() else { return Ok(()) };
        let word = self.names.text(first.name).to_string();
        let active = groups.last().is_none_or(|g| g.active);
        match word.as_str() {
            "ifdef" | "ifndef" | "if" => {
                let holds = match (active, word.as_str()) {
                    (false, _) => false,
                    (true, "if") => self.condition(rest)?,
                    (true, _) => {
                        let name = rest.first().ok_or(Trouble::Beyond)?.name;
                        self.macros.contains_key(&name) == (word == "ifdef")
                    }
                };
                groups.push(Group { active: active && holds, done: holds, outer: active });
                return Ok(());
            }
            "elif" | "else" | "endif" => {
                let Some(group) = groups.last() else {
                    return Err(self.wrong(hash.line, hash.file, format!("`#{word}` without `#if`")));
                };
                if word == "endif" {
                    groups.pop();
                    return Ok(());
                }
                let (done, outer) = (group.done, group.outer);
                let holds = !done && outer && (word == "else" || self.condition(rest)?);
                if let Some(group) = groups.last_mut() {
                    (group.active, group.done) = (holds, done || holds);
                }
                return Ok(());
            }
            _ if !active => return Ok(()),
            _ => {}
        }
        match word.as_str() {
            "define" => self.define(rest),
            "undef" => {
                if let Some(name) = rest.first() {
                    self.macros.remove(&name.name);
                }
                Ok(())
            }
            "pragma" => {
                let words: Vec<&str> = rest.iter().map(|t| self.names.text(t.name)).collect();
                let text = words.join(" ");
                let name = self.names.intern(&text);
                let line = first.line;
                self.out.push(Token { kind: Kind::Pragma, name, line, file: hash.file, spaced: true });
                Ok(())
            }
            "include" => self.include(path, rest, depth),
            "error" => Err(self.wrong(hash.line, hash.file, "`#error` is reached")),
            "warning" | "ident" => Ok(()),
            _ => Err(Trouble::Beyond),
        }
    }

    fn include(&mut self, path: &Path, rest: &[Token], depth: u32) -> Result<(), Trouble> {
        let first = rest.first().ok_or(Trouble::Beyond)?;
        if first.kind == Kind::Text {
            let quoted = self.names.text(first.name);
            let wanted = quoted[1..quoted.len() - 1].to_string();
            let beside = path.parent().map(|d| d.join(&wanted));
            let others = self.settings.includes.iter().map(|d| d.join(&wanted));
            let found = beside.into_iter().chain(others).find(|p| p.is_file());
            let Some(found) = found else {
                return match headers::known(&wanted) {
                    Some(text) => self.header(path, text, depth),
                    None => Err(Trouble::Beyond),
                };
            };
            if depth > 16 {
                return Err(self.wrong(first.line, first.file, "includes nest too deeply"));
            }
            let text = read(&found).map_err(Trouble::Wrong)?;
            return self.file(&found, &text, depth + 1);
        }
        let name: String = rest.iter().map(|t| self.names.text(t.name)).collect();
        let wanted = name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).ok_or(Trouble::Beyond)?.to_string();
        match headers::known(&wanted) {
            Some(text) => self.header(path, text, depth),
            None => Err(Trouble::Beyond),
        }
    }

    /// A header whose content is known here: macros only.
    fn header(&mut self, path: &Path, text: &str, depth: u32) -> Result<(), Trouble> {
        if text.is_empty() {
            return Ok(());
        }
        self.text(path, text, 0, depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn expands_to(source: &str, settings: &Settings, expect: Expect) {
        let mut names = Names::default();
        let text = match preprocess_text(Path::new("a.c"), source, settings, &mut names) {
            Ok(unit) => {
                let words: Vec<String> = unit
                    .tokens
                    .iter()
                    .filter(|t| t.kind != Kind::End)
                    .map(|t| match t.kind {
                        Kind::Pragma => format!("<{}>", names.text(t.name)),
                        _ => names.text(t.name).to_string(),
                    })
                    .collect();
                let lines: Vec<u32> = unit.tokens.iter().map(|t| t.line).collect();
                format!("{} @{}", words.join(" "), lines.last().unwrap_or(&0))
            }
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn macros_with_and_without_arguments() {
        let source = "#define N 16\n#define min(a,b) ((a)<(b)?(a):(b))\nx = min(N, min(i, N-1)); // end\n";
        expands_to(
            source,
            &Settings::default(),
            expect![
                "x = ( ( 16 ) < ( ( ( i ) < ( 16 - 1 ) ? ( i ) : ( 16 - 1 ) ) ) ? ( 16 ) : ( ( ( i ) < ( 16 - 1 ) ? ( i ) : ( 16 - 1 ) ) ) ) ; @3"
            ],
        );
    }

    #[test]
    fn a_macro_does_not_expand_itself() {
        expands_to("#define f(x) f(x + 1)\nf(f(2))", &Settings::default(), expect!["f ( f ( 2 + 1 ) + 1 ) @2"]);
    }

    #[test]
    fn conditionals_and_definitions_of_the_command_line() {
        let source = "#ifndef N\n#define N 8\n#endif\n#if N > 4 && defined(BIG)\nbig N\n#elif N == 8\neight\n#else\nother N\n#endif";
        expands_to(source, &Settings::default(), expect!["eight @7"]);
        let settings = Settings { defines: vec!["N=5".into(), "BIG".into()], ..Settings::default() };
        expands_to(source, &settings, expect!["big 5 @5"]);
    }

    #[test]
    fn a_parameter_replaces_the_macro_of_the_file() {
        let settings = Settings { parameters: vec![("N".into(), 4)], ..Settings::default() };
        expands_to("#define N 1024\nint a[N];", &settings, expect!["int a [ 4 ] ; @2"]);
    }

    #[test]
    fn pragmas_stay_and_line_markers_count() {
        expands_to(
            "#pragma omp parallel for\n# 40 \"b.c\"\nx;",
            &Settings::default(),
            expect!["<omp parallel for> x ; @40"],
        );
    }

    #[test]
    fn statement_macros() {
        expands_to(
            "#define S1(i,j) A[i][j] = 0\nS1(t1, t2+1);",
            &Settings::default(),
            expect!["A [ t1 ] [ t2 + 1 ] = 0 ; @2"],
        );
    }

    #[test]
    fn bad_text_names_its_line() {
        expands_to("a\n/* b", &Settings::default(), expect!["a.c:2: comment without an end"]);
        expands_to("a\n\u{1}", &Settings::default(), expect![[r"a.c:2: stray character `\u{1}`"]]);
        expands_to("#if 1\nx", &Settings::default(), expect!["a.c:2: `#if` without `#endif`"]);
        expands_to("#define f(x) x\nf(1", &Settings::default(), expect!["a.c:2: call of macro `f` without an end"]);
    }
}
