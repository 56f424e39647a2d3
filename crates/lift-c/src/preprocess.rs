//! The compiler's preprocessor, and its output as tokens.
//!
//! Only the compiler knows its own macros, headers and rules, so `cc -E` does all of it; what comes back are tokens,
//! pragmas and line markers. Macros whose value depends on how the file will be compiled are refused: the proof is about the text.

use crate::error::Error;
use crate::lexer::{Kind, Names, Token, tokens};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

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
    /// Which of them are the system's.
    pub system: Vec<bool>,
    /// Macros of the file that a parameter replaced.
    pub replaced: Vec<String>,
    /// The text that the tokens are of.
    pub text: String,
}

/// Files larger than this are refused.
const LARGEST: u64 = 16 << 20;
/// More files than this are refused.
const MOST_FILES: usize = 4096;

/// Macros that say how the file is compiled, when, or under which name: the kernel may be compiled otherwise.
const OF_THE_BUILD: [&str; 14] = [
    "_OPENMP",
    "__OPTIMIZE__",
    "__OPTIMIZE_SIZE__",
    "__NO_INLINE__",
    "__FAST_MATH__",
    "__FINITE_MATH_ONLY__",
    "__FILE__",
    "__BASE_FILE__",
    "__FILE_NAME__",
    "__DATE__",
    "__TIME__",
    "__TIMESTAMP__",
    "__PIC__",
    "__PIE__",
];

/// Words of OpenMP's pragmas are expanded only for files that are compiled with OpenMP. The macros that say so stay undefined:
/// the kernel is compiled without, too.
const EXPANDED_PRAGMAS: [&str; 3] = ["-fopenmp", "-U_OPENMP", "-U_REENTRANT"];

/// A text after the compiler's preprocessor.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    original: String,
    expanded: String,
    replaced: Vec<String>,
}

/// Texts that were preprocessed: the compiler is asked once for the same text, such as that of a file which no parameter changes.
#[derive(Default, Debug)]
pub struct Texts(Mutex<HashMap<Asked, Preprocessed>>);

/// What the preprocessor was asked: path, text with the macros that parameters replaced, options.
type Asked = (PathBuf, (String, Vec<String>), Vec<String>, Vec<PathBuf>);

impl Texts {
    /// Reads and preprocesses a file.
    pub fn preprocessed(&self, path: &Path, settings: &Settings) -> Result<Preprocessed, Error> {
        let original = read(path)?;
        let replaced = replace_macros(&original, &settings.parameters);
        let asked = (path.to_path_buf(), replaced, settings.defines.clone(), settings.includes.clone());
        let known = self.0.lock().ok().and_then(|texts| texts.get(&asked).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let made = preprocess_text(path, original, settings)?;
        if let Ok(mut texts) = self.0.lock() {
            texts.insert(asked, made.clone());
        }
        Ok(made)
    }
}

/// Reads and preprocesses a file.
pub fn preprocessed(path: &Path, settings: &Settings) -> Result<Preprocessed, Error> {
    preprocess_text(path, read(path)?, settings)
}

/// Preprocesses a text that was read from a file.
pub(crate) fn preprocess_text(path: &Path, original: String, settings: &Settings) -> Result<Preprocessed, Error> {
    let (expanded, replaced) = system(path, &original, settings)?;
    Ok(Preprocessed { original, expanded, replaced })
}

/// The tokens of a file of the user's.
pub(crate) fn own_unit(path: &Path, text: Preprocessed, names: &mut Names) -> Result<Unit, Error> {
    let Preprocessed { original, expanded, replaced } = text;
    let unit = Unit { replaced, ..unit_of(path, expanded, names)? };
    of_the_build(path, &original)?;
    for (file, system) in unit.files.iter().zip(&unit.system).skip(1) {
        // A file that is not there has been read under another name; the compiler's own texts have none.
        if let (false, Ok(text)) = (system, read(Path::new(file))) {
            of_the_build(Path::new(file), &text)?;
        }
    }
    Ok(unit)
}

/// Refuses texts that ask how they are compiled.
fn of_the_build(path: &Path, text: &str) -> Result<(), Error> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (number, line) in text.lines().enumerate() {
        if let Some(found) = line.split(|c| !word(c)).find(|w| OF_THE_BUILD.contains(w)) {
            let what = format!("the macro `{found}`, which depends on how the file is compiled");
            return Err(Error::Unsupported { file: path.display().to_string(), line: number as u32 + 1, what });
        }
    }
    Ok(())
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
    command.arg("-E").arg("-xc").args(EXPANDED_PRAGMAS).args(settings.defines.iter().map(|d| format!("-D{d}")));
    command.args(settings.includes.iter().flat_map(|i| ["-I".into(), i.as_os_str().to_owned()]));
    let beside = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    command.arg("-iquote").arg(beside).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| Error::Unsupported {
        file: path.display().to_string(),
        line: 1,
        what: format!("anything without a C compiler: cannot run `cc -E`: {e}"),
    })?;
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

/// The text with object-like definitions of parameters replaced by their values, and which were. Lines that a splice joins to
/// a definition are part of it; empty ones take their place, so that lines keep their numbers.
fn replace_macros(text: &str, parameters: &[(String, i64)]) -> (String, Vec<String>) {
    let (mut replaced, mut out, mut skipped) = (Vec::new(), String::with_capacity(text.len()), false);
    for line in text.lines() {
        let spliced = line.trim_end().ends_with('\\');
        let define = line.trim_start().strip_prefix('#').and_then(|l| l.trim_start().strip_prefix("define"));
        let name = define.filter(|l| l.starts_with([' ', '\t'])).and_then(|l| l.split_whitespace().next());
        match parameters.iter().find(|(p, _)| Some(p.as_str()) == name) {
            _ if skipped => {}
            Some((name, value)) => {
                if !replaced.contains(name) {
                    replaced.push(name.clone());
                }
                out.push_str(&format!("#define {name} {value}"));
            }
            None => {
                out.push_str(line);
                out.push('\n');
                continue;
            }
        }
        out.push('\n');
        skipped = spliced;
    }
    (out, replaced)
}

/// The tokens of a preprocessed text.
pub fn unit_of(path: &Path, text: String, names: &mut Names) -> Result<Unit, Error> {
    let input = tokens(&text, 0, names).map_err(|(line, what)| malformed(path, line, what))?;
    let mut files = vec![path.display().to_string()];
    let mut system = vec![false];
    let mut out: Vec<Token> = Vec::with_capacity(input.len());
    // Line markers say where the following text really is.
    let (mut file, mut shift) = (0u16, 0i64);
    let mut at = 0;
    while at < input.len() {
        let token = input[at];
        let line = u32::try_from(i64::from(token.line) + shift).unwrap_or(token.line);
        at += 1;
        match token.kind {
            Kind::Newline => {}
            Kind::Hash => {
                let end = (at..input.len()).find(|i| input[*i].kind == Kind::Newline).unwrap_or(input.len());
                let directive = &input[at..end];
                at = end + 1;
                let Some((first, rest)) = directive.split_first() else { continue };
                if let Some(marker) = Marker::of(directive, names) {
                    shift = i64::from(marker.line) - i64::from(token.line) - 1;
                    let known = files.iter().position(|f| *f == marker.file);
                    let number = known.unwrap_or_else(|| {
                        files.push(marker.file.clone());
                        system.push(marker.system);
                        files.len() - 1
                    });
                    if number >= MOST_FILES {
                        return Err(malformed(path, 0, "too many files are included"));
                    }
                    file = number as u16;
                } else if names.text(first.name) == "pragma" {
                    let words: Vec<&str> = rest.iter().map(|t| names.text(t.name)).collect();
                    let name = names.intern(&words.join(" "));
                    out.push(Token { kind: Kind::Pragma, name, line, file, spaced: true });
                } else if names.text(first.name) != "ident" {
                    let word = names.text(first.name);
                    return Err(malformed(path, line, format!("the preprocessor left `#{word}` behind")));
                }
            }
            _ => out.push(Token { line, file, ..token }),
        }
    }
    let line = out.last().map_or(1, |t| t.line);
    let name = names.intern("");
    out.push(Token { kind: Kind::End, name, line, file: 0, spaced: false });
    Ok(Unit { tokens: out, files, system, replaced: Vec::new(), text })
}

/// `# 12 "file" 3`: the line, the file, and whether it is one of the system's.
struct Marker {
    line: u32,
    file: String,
    system: bool,
}

impl Marker {
    fn of(directive: &[Token], names: &Names) -> Option<Marker> {
        let [line, file, flags @ ..] = directive else { return None };
        if line.kind != Kind::Number || file.kind != Kind::Text {
            return None;
        }
        let quoted = names.text(file.name);
        let system = flags.iter().any(|flag| names.text(flag.name) == "3");
        Some(Marker {
            line: names.text(line.name).parse().ok()?,
            file: quoted[1..quoted.len() - 1].to_string(),
            system,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn expands_to(source: &str, settings: &Settings, expect: Expect) {
        let mut names = Names::default();
        let path = Path::new("a.c");
        let unit = preprocess_text(path, source.to_string(), settings);
        let text = match unit.and_then(|unit| own_unit(path, unit, &mut names)) {
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
    fn the_compiler_expands() {
        let source = "#define N 16\n#define min(a,b) ((a)<(b)?(a):(b))\nx = min(N, i); // end \\\ny\nz\n#if -1 > 0u\nu\n#endif\n";
        expands_to(source, &Settings::default(), expect!["x = ( ( 16 ) < ( i ) ? ( 16 ) : ( i ) ) ; z u @7"]);
    }

    #[test]
    fn definitions_of_the_command_line() {
        let source = "#ifndef N\n#define N 8\n#endif\n#if N > 4 && defined(BIG)\nbig N\n#elif N == 8\neight\n#endif";
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
    fn a_replaced_macro_takes_its_spliced_lines_along() {
        let settings = Settings { parameters: vec![("N".into(), 4)], ..Settings::default() };
        expands_to("#define N 1 \\\n + 2\nint a[N];", &settings, expect!["int a [ 4 ] ; @3"]);
        expands_to("#define NOT 1 \\\n + 2\nint a[NOT];", &settings, expect!["int a [ 1 + 2 ] ; @3"]);
    }

    #[test]
    fn macros_in_pragmas_of_openmp_are_expanded() {
        let source = "#define t u\n#pragma omp parallel for private(t)\n#undef t\nt\n#ifdef _REENTRANT\nx\n#endif";
        expands_to(source, &Settings::default(), expect!["<omp parallel for private ( u )> t @4"]);
    }

    #[test]
    fn pragmas_stay_and_line_markers_count() {
        let source = "#pragma omp parallel for\n# 40 \"b.c\"\nx; _Pragma(\"omp simd\") y";
        expands_to(source, &Settings::default(), expect!["<omp parallel for> x ; <omp simd> y @40"]);
    }

    #[test]
    fn what_depends_on_the_build_is_refused() {
        let source = "\n#ifdef _OPENMP\nx\n#endif\ny";
        expands_to(
            source,
            &Settings::default(),
            expect!["a.c:2: the macro `_OPENMP`, which depends on how the file is compiled"],
        );
    }
}
