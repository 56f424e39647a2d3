//! What the front end knows for certain. Attributes and pragmas may change types, layouts and arithmetic in ways that only the
//! compiler knows, so those that are not known to change nothing are refused, wherever they stand in the user's files.

use crate::error::Error;
use crate::lexer::{Kind, Names, Token};
use crate::preprocess::Unit;

/// Attributes that change neither values nor layouts, without their underscores.
const HARMLESS: [&str; 12] = [
    "noinline",
    "always_inline",
    "noclone",
    "noipa",
    "unused",
    "maybe_unused",
    "used",
    "hot",
    "cold",
    "nothrow",
    "flatten",
    "artificial",
];

/// Pragmas that change nothing, by their first words: marks of polyhedral tools, hints to compilers, and what C compilers do
/// not know. OpenMP's are held against the loops that they stand at.
const KNOWN: [&str; 16] = [
    "scop",
    "endscop",
    "omp",
    "ivdep",
    "vector",
    "novector",
    "simd",
    "unroll",
    "nounroll",
    "unroll_and_jam",
    "nounroll_and_jam",
    "GCC unroll",
    "GCC diagnostic",
    "clang diagnostic",
    "clang loop unroll",
    "once",
];

/// Those of them that stand at loops as a mark or a hint. Some compilers refuse them elsewhere, others do not know them.
const HINTS: [&str; 12] = [
    "scop",
    "endscop",
    "ivdep",
    "vector",
    "novector",
    "simd",
    "unroll",
    "nounroll",
    "unroll_and_jam",
    "nounroll_and_jam",
    "GCC unroll",
    "clang loop unroll",
];

/// Is the line of a preprocessed text a mark or a hint, which changes nothing?
pub fn is_hint(line: &str) -> bool {
    let pragma = line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("pragma"));
    let Some(text) = pragma.filter(|rest| rest.starts_with([' ', '\t'])) else { return false };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    HINTS.iter().any(|hint| text.strip_prefix(hint).is_some_and(|rest| !rest.starts_with(word)))
}

/// Words that change what a declaration means, and are not handled.
const REFUSED: [&str; 14] = [
    "_Alignas",
    "alignas",
    "__declspec",
    "asm",
    "__asm__",
    "__asm",
    "_Thread_local",
    "__thread",
    "_Atomic",
    "_Generic",
    "_Alignof",
    "__alignof__",
    "_BitInt",
    "__auto_type",
];

/// Refuses a file with something in it that may mean anything.
pub(crate) fn check(unit: &Unit, names: &Names) -> Result<(), Error> {
    let own = |token: &&Token| !unit.system.get(token.file as usize).copied().unwrap_or(false);
    let tokens: Vec<&Token> = unit.tokens.iter().filter(own).collect();
    let refuse = |token: &Token, what: String| {
        let file = unit.files.get(token.file as usize).cloned().unwrap_or_default();
        Err(Error::Unsupported { file, line: token.line, what })
    };
    let text = |at: usize| tokens.get(at).map_or("", |t| if t.kind == Kind::Text { "" } else { names.text(t.name) });
    for (at, token) in tokens.iter().enumerate() {
        match (token.kind, names.text(token.name)) {
            (Kind::Pragma, pragma) => {
                let known = |start: &str| {
                    pragma == start || pragma.strip_prefix(start).is_some_and(|rest| rest.starts_with([' ', '(']))
                };
                if !KNOWN.iter().any(|start| known(start)) {
                    return refuse(token, format!("`#pragma {pragma}`"));
                }
            }
            (Kind::Word, "__attribute__" | "__attribute") => {
                if let Some(found) = attributes(at + 1, &text).into_iter().find(|a| !HARMLESS.contains(&a.as_str())) {
                    return refuse(token, format!("the attribute `{found}`"));
                }
            }
            (Kind::Word, word) if REFUSED.contains(&word) => return refuse(token, format!("`{word}`")),
            (Kind::Punct, "[") if text(at + 1) == "[" => return refuse(token, "`[[`".to_string()),
            _ => {}
        }
    }
    Ok(())
}

/// Names of the attributes in the brackets at this position; a name that is none if they cannot be read.
fn attributes<'a>(start: usize, text: &dyn Fn(usize) -> &'a str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut at, mut depth) = (start, 0);
    loop {
        match text(at) {
            "(" => depth += 1,
            ")" => depth -= 1,
            "" => return vec!["?".to_string()],
            "," => {}
            word if depth == 2 => found.push(word.trim_matches('_').to_string()),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_marks_at_loops() {
        for line in ["#pragma scop", " # pragma  unroll(4)", "#pragma GCC unroll 4", "#pragma vector always"] {
            assert!(is_hint(line), "{line}");
        }
        for line in
            ["#pragma omp simd", "#pragma GCC ivdep", "#pragma pack(1)", "#pragma scopes", "#pragmascop", "scop", ""]
        {
            assert!(!is_hint(line), "{line}");
        }
        assert!(HINTS.iter().all(|hint| KNOWN.contains(hint)));
    }
}
