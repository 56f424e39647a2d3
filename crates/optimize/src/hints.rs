//! What compilers are told about a function's arguments, in words of their own: a wrapper in which the function is inlined.
//!
//! The compiler itself says what the function's prototype is (`gcc -aux-info`). The wrapper has the function's name, includes the
//! source with the function renamed, and says before it calls that: `restrict`, `__builtin_assume_aligned`, and conditions whose
//! opposite is `__builtin_unreachable()`.
//!
//! Trust: none. What a hint promises may be wrong; the code that comes out is proved without it, or under a condition that is printed.

use std::fmt;
use std::path::Path;

/// A function as the compiler declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prototype {
    /// The result's type.
    pub result: String,
    /// Names and types of the parameters.
    pub parameters: Vec<Parameter>,
    /// Can it be seen from outside the file?
    pub external: bool,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name in the source.
    pub name: String,
    /// Its type, as a type name.
    pub r#type: String,
    /// Is it a pointer to data?
    pub pointer: bool,
}

/// Something that a compiler is told.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hint {
    /// No other pointer leads to what is reached through these.
    Apart,
    /// The pointer's address is a multiple of this.
    Aligned(String, u32),
    /// The expression is true at entry.
    True(String),
    /// The parameter has this value.
    Equal(String, i64),
}

/// A source file that wraps the function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Wrapped {
    /// What is told.
    pub hints: Vec<Hint>,
    /// The text of the file.
    pub text: String,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Apart => f.write_str("restrict"),
            Hint::Aligned(name, bytes) => write!(f, "{name} aligned {bytes}"),
            Hint::True(expression) => f.write_str(expression),
            Hint::Equal(name, value) => write!(f, "{name} == {value}"),
        }
    }
}

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, hint) in self.hints.iter().enumerate() {
            write!(f, "{}{hint}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl Prototype {
    /// The prototype of a function in what `gcc -aux-info` writes.
    pub fn find(listing: &str, name: &str) -> Option<Prototype> {
        // Definitions come after declarations, and with names of the parameters.
        listing.lines().rev().find_map(|line| Prototype::parse(line, name))
    }

    /// `/* t.c:5:NF */ extern double g (float *x, int (*f) (int), ...); /* (x, f) float *x; int (*f)(); */`
    fn parse(line: &str, name: &str) -> Option<Prototype> {
        let rest = line.strip_prefix("/* ")?;
        let (place, rest) = rest.split_once(" */ ")?;
        // A definition (`F`) with a prototype (`N`).
        let kind = place.rsplit(':').next()?;
        if kind != "NF" {
            return None;
        }
        let (declaration, comment) = rest.split_once("; /* (")?;
        let (names, _) = comment.split_once(')')?;
        let (external, declaration) = match declaration.strip_prefix("extern ") {
            Some(rest) => (true, rest),
            None => (false, declaration.strip_prefix("static ")?),
        };
        let (result, list) = declaration
            .split_once(&format!(" {name} ("))
            .or_else(|| declaration.split_once(&format!("*{name} (")).filter(|_| true))?;
        let pointer_result = declaration[result.len()..].starts_with('*');
        let result = if pointer_result { format!("{result}*") } else { result.to_string() };
        let list = list.strip_suffix(')')?;
        let declared = split_commas(list);
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if declared.last().is_some_and(|last| *last == "...") {
            return None;
        }
        let declared: Vec<&str> = if declared == ["void"] { Vec::new() } else { declared };
        if declared.len() != names.len() {
            return None;
        }
        let parameters = declared.into_iter().zip(names).map(|(text, name)| Parameter::of(text, name));
        Some(Prototype { result, parameters: parameters.collect::<Option<_>>()?, external })
    }

    /// The wrapper of a function in a source file that tells all this.
    pub fn wrap(&self, name: &str, source: &Path, hints: Vec<Hint>) -> Option<Wrapped> {
        let path = source.to_str().filter(|path| !path.contains(['"', '\\', '\n']))?;
        let inner = format!("{name}__wrapped");
        let apart = hints.contains(&Hint::Apart);
        let declare = |p: &Parameter| {
            let qualifier = if apart && p.pointer { " restrict" } else { "" };
            format!("__typeof__({}){qualifier} {}", p.r#type, p.name)
        };
        let parameters: Vec<String> = self.parameters.iter().map(declare).collect();
        let list = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        let mut text = format!("#define {name} {inner}\n#include \"{path}\"\n#undef {name}\n");
        let linkage = if self.external { "" } else { "static __attribute__((used)) " };
        text += &format!("{linkage}__attribute__((flatten)) {} {name}({list})\n{{\n", self.result);
        for hint in &hints {
            text += &match hint {
                Hint::Apart => continue,
                Hint::Aligned(pointer, bytes) => {
                    format!("  {pointer} = __builtin_assume_aligned({pointer}, {bytes});\n")
                }
                Hint::True(expression) => format!("  if (!({expression})) __builtin_unreachable();\n"),
                Hint::Equal(parameter, value) => {
                    format!("  if ({parameter} != {value}) __builtin_unreachable();\n  {parameter} = {value};\n")
                }
            };
        }
        let arguments: Vec<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        let hand = if self.result == "void" { "" } else { "return " };
        text += &format!("  {hand}{inner}({});\n}}\n", arguments.join(", "));
        Some(Wrapped { hints, text })
    }
}

impl Parameter {
    /// A declaration such as `const V3 *a` of the parameter `a`.
    fn of(text: &str, name: &str) -> Option<Parameter> {
        let at = text.rfind(name)?;
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(word) || after.starts_with(word) || !after.is_empty() && !before.contains("(*") {
            return None;
        }
        let function = before.contains("(*");
        let pointer = !function && before.trim_end().trim_end_matches("const").trim_end().ends_with('*');
        let r#type = format!("{}{after}", before.trim_end()).trim().to_string();
        Some(Parameter { name: name.to_string(), r#type, pointer })
    }
}

/// The parts between commas that are in no brackets.
fn split_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn wraps(line: &str, name: &str, hints: &[Hint], expect: Expect) {
        let prototype = Prototype::find(line, name);
        let wrapped = prototype.and_then(|p| p.wrap(name, Path::new("/tmp/t.c"), hints.to_vec()));
        expect.assert_eq(&wrapped.map_or("none".to_string(), |wrapped| wrapped.text));
    }

    #[test]
    fn a_wrapper_says_what_compilers_understand() {
        let aligned = Hint::Aligned("a".to_string(), 16);
        let hints = [Hint::Apart, aligned, Hint::True("n < 16".to_string()), Hint::Equal("n".to_string(), 8)];
        wraps(
            "/* t.c:3:NF */ extern int f (int *a, const V3 *b, long int n); /* (a, b, n) int *a; const V3 *b; long int n; */",
            "f",
            &hints,
            expect![[r#"
                #define f f__wrapped
                #include "/tmp/t.c"
                #undef f
                __attribute__((flatten)) int f(__typeof__(int *) restrict a, __typeof__(const V3 *) restrict b, __typeof__(long int) n)
                {
                  a = __builtin_assume_aligned(a, 16);
                  if (!(n < 16)) __builtin_unreachable();
                  if (n != 8) __builtin_unreachable();
                  n = 8;
                  return f__wrapped(a, b, n);
                }
            "#]],
        );
    }

    #[test]
    fn types_of_all_kinds() {
        wraps(
            "/* t.c:5:NF */ static char *g (float *x, int (*f) (int, char *), unsigned char c); /* (x, f, c) float *x; int (*f)(); unsigned char c; */",
            "g",
            &[Hint::Apart],
            expect![[r#"
                #define g g__wrapped
                #include "/tmp/t.c"
                #undef g
                static __attribute__((used)) __attribute__((flatten)) char * g(__typeof__(float *) restrict x, __typeof__(int (*) (int, char *)) f, __typeof__(unsigned char) c)
                {
                  return g__wrapped(x, f, c);
                }
            "#]],
        );
        wraps(
            "/* t.c:6:NF */ extern void h (void); /* () */",
            "h",
            &[],
            expect![[r#"
                #define h h__wrapped
                #include "/tmp/t.c"
                #undef h
                __attribute__((flatten)) void h(void)
                {
                  h__wrapped();
                }
            "#]],
        );
    }

    #[test]
    fn what_has_no_prototype_has_no_wrapper() {
        wraps("/* t.c:5:OF */ extern int f (); /* (a) int a; */", "f", &[], expect!["none"]);
        wraps("/* t.c:5:NF */ extern int f (int a, ...); /* (a) int a; */", "f", &[], expect!["none"]);
        wraps("/* t.c:5:NC */ extern int f (int); /* () */", "f", &[], expect!["none"]);
    }
}
