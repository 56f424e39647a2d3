//! `lockstep explain`: what a word in a report means.

use crate::arguments::ExplainArguments;
use crate::deliver;
use crate::status::{Failure, Status};
use search::{ReasonKind, WitnessClass};

/// The documents that say what assumptions mean, a row of a table each.
const DOCUMENTS: [&str; 3] = [
    include_str!("../../../docs/soundness.md"),
    include_str!("../../../docs/kernels.md"),
    include_str!("../../../docs/regalloc.md"),
];

const VERDICTS: &[(&str, &str)] = &[
    (
        "equivalent",
        "Proved: on every input on which the original is defined, under the assumptions that are printed, both do the same. The kernel has accepted the proof.",
    ),
    (
        "different",
        "Refuted: on the input that is shown both were run, and did not do the same. Its class says what the difference needs.",
    ),
    ("unknown", "Neither. The reason says what could not be shown, and where; it is no difference."),
    (
        "inlined",
        "A function that only its own file sees, gone into those that used it, which have verdicts of their own.",
    ),
];

const CLASSES: &[(WitnessClass, &str)] = &[
    (WitnessClass::Plain, "A difference that needs nothing but the input that is shown."),
    (
        WitnessClass::Overlap,
        "A difference that shows only if two arguments point into one object, so that what is written through one is read through the other. C allows it, unless `restrict` or the description of the function forbids it. `--fail-on` without `overlap` lets it pass.",
    ),
    (
        WitnessClass::CalleeWrites,
        "A difference that shows only if a function that is called writes to the memory that is shown. If its source cannot do that (a pure function, a pointer to const that is not cast), the difference cannot show.",
    ),
    (WitnessClass::Undefined, "A difference that needs something that C leaves undefined, or open."),
];

/// Says what a word means, or lists them.
pub fn run(arguments: &ExplainArguments) -> Result<Status, Failure> {
    let Some(word) = &arguments.word else {
        let mut out = String::new();
        for (title, words) in all() {
            out.push_str(&format!("{title}\n"));
            words.iter().for_each(|word| out.push_str(&format!("  {word}\n")));
        }
        deliver(&out);
        return Ok(Status::Good);
    };
    // As printed, an assumption names what it is about.
    let plain = word.split('(').next().unwrap_or(word).trim_end_matches(':');
    match meaning(plain) {
        Some(text) => {
            deliver(&format!("{plain}\n\n{}\n", wrapped(&text)));
            Ok(Status::Good)
        }
        None => {
            let words: Vec<String> = all().into_iter().flat_map(|(_, words)| words).collect();
            let alike = |other: &&String| strsim::normalized_damerau_levenshtein(plain, other);
            let nearest = words.iter().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|other| alike(other) > 0.5);
            let hint = nearest.map_or(String::new(), |other| format!("; is `{other}` meant?"));
            let list = "`lockstep explain` lists the words";
            Err(Failure(format!("`{}` is no word of a report{hint} ({list})", plain.escape_debug())))
        }
    }
}

/// All words, by what they are.
fn all() -> Vec<(&'static str, Vec<String>)> {
    let mut assumptions: Vec<String> = assumptions().map(|(name, _)| name.to_string()).collect();
    assumptions.sort();
    assumptions.dedup();
    vec![
        ("verdicts", VERDICTS.iter().map(|(name, _)| name.to_string()).collect()),
        ("reasons for unknown", ReasonKind::ALL.iter().map(|kind| kind.name().to_string()).collect()),
        ("classes of differences", WitnessClass::ALL.iter().map(|class| class.name().to_string()).collect()),
        ("assumptions", assumptions),
    ]
}

fn meaning(word: &str) -> Option<String> {
    if let Some((_, text)) = VERDICTS.iter().find(|(name, _)| *name == word) {
        return Some(text.to_string());
    }
    if let Some(kind) = ReasonKind::ALL.into_iter().find(|kind| kind.name() == word) {
        return Some(format!("A reason for unknown. {}", report::explain(kind)));
    }
    if let Some((_, text)) = CLASSES.iter().find(|(class, _)| class.name() == word) {
        return Some(format!("A class of differences. {text}"));
    }
    let (_, text) = assumptions().find(|(name, _)| *name == word)?;
    Some(format!("An assumption that a proof is printed with: {}.", text.replace('`', "").trim_end_matches('.')))
}

/// Assumptions and what they say: the first two columns of tables whose first column is a name in code.
fn assumptions() -> impl Iterator<Item = (&'static str, &'static str)> {
    DOCUMENTS.into_iter().flat_map(str::lines).filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let name = cells.next()?.trim_end_matches('`').split('(').next()?.split('`').next()?;
        let known = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit());
        known.then_some((name, cells.next()?.trim_end_matches(" |")))
    })
}

/// Lines of at most 96 columns.
fn wrapped(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > 96 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_meaning() {
        for (_, words) in all() {
            assert!(!words.is_empty());
            for word in words {
                assert!(meaning(&word).is_some_and(|text| text.len() > 20), "{word}");
            }
        }
        assert!(meaning("in-bounds").is_some() && meaning("assert-text").is_some());
        assert_eq!(meaning("tarot"), None);
    }
}
