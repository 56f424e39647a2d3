//! Golden pairs: two programs as text and what lockstep must say about them.
//!
//! ```text
//! # Comment lines: what the pair shows.
//! prototype: int f(int a, int b)
//! --- original
//!     lea eax, [rdi + rsi]
//!     ret
//! --- candidate
//!     mov eax, edi
//!     add eax, esi
//!     ret
//! --- expect
//! verdict: equivalent
//! ```
//!
//! With a `prototype` the programs are bodies of that function in assembly (Intel syntax; `syntax: att` for the
//! other). The prototype gives the debug information that a compiler would. `prelude: LINE` adds a line of C in
//! front of both programs. Without a prototype the programs are C files, compiled with `flags:` and those of
//! `original-flags:` or `candidate-flags:`, by the compiler of `compiler:` (default gcc), and `function:` names the function (default `f`). `calls: int g(int); …` declares callees of assembly, so that their
//! signatures are known. `assume: EXPR` is a condition on start states; each such line is another.
//! With `conditional: yes` a condition is to be inferred, and each `condition:` of the expectation is a part of it.
//!
//! Expectations: `verdict:` a verdict, or several with `|` between them when the tool may give up; `reason:` the
//! kind of an `unknown`; `assumes:` an assumption that must be among the printed ones; `yet: unknown` that the tool does
//! not find the verdict so far, and may. They are typed by hand and never updated by a tool.

use crate::compiler::{CompileError, Compiler};
use crate::lockstep::{Answer, Verdict};
use std::path::Path;

/// A golden pair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    /// The function to check.
    pub function: String,
    /// C prototype, for assembly.
    prototype: Option<String>,
    syntax: Syntax,
    prelude: Vec<String>,
    calls: Vec<String>,
    flags: Vec<String>,
    own_flags: [Vec<String>; 2],
    /// Begin of the command of the compiler, if it must be a certain one.
    pub compiler: Option<String>,
    original: String,
    candidate: String,
    /// Verdicts that are right.
    pub verdicts: Vec<Verdict>,
    /// Kind of the reason, if the verdict is `unknown`.
    pub reason: Option<String>,
    /// Assumptions that must be printed.
    pub assumes: Vec<String>,
    /// Conditions under which the programs are compared (`--assume`).
    pub conditions: Vec<String>,
    /// Is a condition to be inferred?
    pub inference: Inference,
    /// The parts of the inferred condition, in any order.
    pub inferred: Vec<String>,
    /// The tool gives up so far.
    pub open: bool,
}

/// Whether a condition is to be inferred where the programs are not equivalent as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Inference {
    /// No.
    #[default]
    None,
    /// Yes (`--conditional`).
    Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Syntax {
    #[default]
    Intel,
    Att,
}

impl Pair {
    /// Parses the text of a `.pair` file.
    pub fn parse(text: &str) -> Result<Pair, String> {
        let mut pair = Pair { function: "f".to_string(), ..Pair::default() };
        let mut section = "header";
        for (number, line) in text.lines().enumerate() {
            let fail = |why: &str| Err(format!("line {}: {why}: `{line}`", number + 1));
            if let Some(name) = line.strip_prefix("--- ") {
                section = match (section, name.trim()) {
                    ("header", "original") => "original",
                    ("original", "candidate") => "candidate",
                    ("candidate", "expect") => "expect",
                    _ => return fail("sections are original, candidate, expect"),
                };
                continue;
            }
            let program = match section {
                "original" => &mut pair.original,
                "candidate" => &mut pair.candidate,
                _ => {
                    if line.starts_with('#') || line.trim().is_empty() {
                        continue;
                    }
                    let Some((key, value)) = line.split_once(':') else { return fail("no `key: value`") };
                    if !pair.set(section, key, value.trim()) {
                        return fail("a key or value that is not known here");
                    }
                    continue;
                }
            };
            program.push_str(line);
            program.push('\n');
        }
        if section != "expect" || pair.verdicts.is_empty() {
            return Err("no verdict".to_string());
        }
        Ok(pair)
    }

    fn set(&mut self, section: &str, key: &str, value: &str) -> bool {
        let owned = value.to_string();
        let words = || value.split_whitespace().map(str::to_string).collect();
        match (section, key) {
            ("header", "prototype") => self.prototype = Some(owned),
            ("header", "function") => self.function = owned,
            ("header", "conditional") if value == "yes" => self.inference = Inference::Wanted,
            ("header", "assume") => self.conditions.push(owned),
            ("header", "syntax") if value == "att" => self.syntax = Syntax::Att,
            ("header", "prelude") => self.prelude.push(owned),
            ("header", "calls") => self.calls.push(owned),
            ("header", "flags") => self.flags = words(),
            ("header", "compiler") => self.compiler = Some(owned),
            ("header", "original-flags") => self.own_flags[0] = words(),
            ("header", "candidate-flags") => self.own_flags[1] = words(),
            ("expect", "yet") if value == "unknown" => self.open = true,
            ("expect", "verdict") => {
                self.verdicts = value.split('|').filter_map(|v| Verdict::parse(v.trim())).collect();
                return self.verdicts.len() == value.split('|').count();
            }
            ("expect", "condition") => self.inferred.push(owned),
            ("expect", "reason") => self.reason = Some(owned),
            ("expect", "assumes") => self.assumes.push(owned),
            _ => return false,
        }
        true
    }

    /// Options of the command line.
    pub fn options(&self) -> Vec<String> {
        let assumed = self.conditions.iter().flat_map(|condition| ["--assume".to_string(), condition.clone()]);
        let inference = (self.inference == Inference::Wanted).then(|| "--conditional".to_string());
        assumed.chain(inference).collect()
    }

    /// Compiles both programs to `original.o` and `candidate.o` in a folder.
    pub fn build(&self, compiler: &Compiler, folder: &Path) -> Result<(), CompileError> {
        let programs = [(&self.original, "original.o"), (&self.candidate, "candidate.o")];
        for ((program, object), own) in programs.into_iter().zip(&self.own_flags) {
            let mut flags: Vec<&str> = self.flags.iter().chain(own).map(String::as_str).collect();
            if self.prototype.is_some() {
                flags.push("-O0");
            }
            compiler.compile(&self.source(program), &flags, &folder.join(object))?;
        }
        Ok(())
    }

    /// A program as C.
    fn source(&self, program: &str) -> String {
        let mut text = String::new();
        for line in &self.prelude {
            text.push_str(line);
            text.push('\n');
        }
        let Some(prototype) = &self.prototype else { return text + program };
        // A compiler describes only those callees that something calls.
        for (i, call) in self.calls.iter().enumerate() {
            text.push_str(&format!("{call}\n"));
            if let Some(name) = callee_name(call) {
                text.push_str(&format!("void *declares_{i}(void) {{ return (void *){name}; }}\n"));
            }
        }
        let (before, after) = match self.syntax {
            Syntax::Intel => (".intel_syntax noprefix", ".att_syntax prefix"),
            Syntax::Att => ("", ""),
        };
        text.push_str(&format!("__attribute__((naked)) {prototype} {{\n  __asm__ volatile(\n"));
        for line in std::iter::once(before).chain(program.lines()).chain([after]) {
            text.push_str(&format!("    \"{}\\n\"\n", line.replace('\\', "\\\\").replace('"', "\\\"")));
        }
        text + "  );\n}\n"
    }

    /// Is the answer among the expected ones? Otherwise says what is wrong.
    pub fn judge(&self, answer: &Answer) -> Result<(), String> {
        if self.open && answer.verdict == Verdict::Unknown {
            return Ok(());
        }
        if !self.verdicts.contains(&answer.verdict) {
            let expected: Vec<&str> = self.verdicts.iter().map(|v| v.name()).collect();
            return Err(format!("{} ({}), expected {}", answer.verdict.name(), answer.detail, expected.join(" or ")));
        }
        if answer.verdict == Verdict::Unknown && self.reason.is_some() && answer.reason != self.reason {
            return Err(format!("unknown because of {}, expected {:?}", answer.detail, self.reason));
        }
        let sorted = |texts: &[String]| {
            let mut texts = texts.to_vec();
            texts.sort();
            texts
        };
        if !self.inferred.is_empty() && sorted(&answer.condition) != sorted(&self.inferred) {
            return Err(format!("under the condition {:?}, expected {:?}", answer.condition, self.inferred));
        }
        let missing = self.assumes.iter().find(|a| !answer.assumptions.contains(a));
        if let Some(missing) = missing.filter(|_| answer.verdict == Verdict::Equivalent) {
            return Err(format!("assumes {:?}, expected {missing} too", answer.assumptions));
        }
        Ok(())
    }
}

/// The name in a C declaration of a function.
fn callee_name(declaration: &str) -> Option<&str> {
    let before = declaration.split('(').next()?.trim_end();
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
    Some(&before[start..]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# What it shows.
prototype: int f(int a)
calls: int g(int, char *);
--- original
    mov eax, 1
    ret
--- candidate
    xor eax, eax
--- expect
verdict: different | unknown
";

    #[test]
    fn parses_header_programs_and_expectation() {
        let pair = Pair::parse(TEXT).unwrap();
        assert_eq!(pair.original, "    mov eax, 1\n    ret\n");
        assert_eq!(pair.verdicts, [Verdict::Different, Verdict::Unknown]);
        assert!(pair.source(&pair.candidate).contains("\"    xor eax, eax\\n\""));
    }

    #[test]
    fn a_verdict_that_is_not_found_yet_may_be_missing_but_not_wrong() {
        let text = TEXT.replace("different | unknown", "equivalent\nyet: unknown");
        let pair = Pair::parse(&text).unwrap();
        let answer = |verdict| Answer {
            name: "f".to_string(),
            verdict,
            detail: String::new(),
            reason: None,
            condition: Vec::new(),
            assumptions: Vec::new(),
        };
        assert!(pair.judge(&answer(Verdict::Equivalent)).is_ok());
        assert!(pair.judge(&answer(Verdict::Unknown)).is_ok());
        assert!(pair.judge(&answer(Verdict::Different)).is_err());
    }

    #[test]
    fn bad_pairs_are_errors_with_a_line() {
        let broken = |from: &str, to: &str| Pair::parse(&TEXT.replacen(from, to, 1)).unwrap_err();
        assert_eq!(
            broken("prototype", "protoype"),
            "line 2: a key or value that is not known here: `protoype: int f(int a)`"
        );
        assert_eq!(
            broken("verdict: different", "verdict: wrong"),
            "line 10: a key or value that is not known here: `verdict: wrong | unknown`"
        );
        assert_eq!(broken("--- expect", "--- end"), "line 9: sections are original, candidate, expect: `--- end`");
        assert_eq!(Pair::parse("prototype: int f(int)").unwrap_err(), "no verdict");
    }

    #[test]
    fn names_of_declared_callees() {
        assert_eq!(callee_name("int g(int);"), Some("g"));
        assert_eq!(callee_name("extern char *name_2 (void);"), Some("name_2"));
    }
}
