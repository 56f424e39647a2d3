//! Which function of the original is compared with which of the candidate.
//!
//! A function may have several names (aliases: symbols at one address). It is listed under its first name, and
//! under another one only where that leads to another function of the candidate, so that every name that the
//! original offers is accounted for and nothing is compared twice.

use crate::status::Failure;
use std::collections::{BTreeSet, HashMap};

/// A function of the original and who it is compared with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    pub name: String,
    /// Name in the candidate if the user gave one.
    pub other: Option<String>,
}

/// A function by its names, the one for reports first.
pub type Names<'a> = Vec<&'a str>;

/// A function of the original and its counterpart, as indices into the two lists of names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matched {
    /// Name in reports.
    pub name: String,
    pub original: usize,
    /// `None` when the candidate lacks it.
    pub candidate: Option<usize>,
}

impl Matched {
    /// Both functions, if there are two.
    pub fn both(&self) -> Option<[usize; 2]> {
        self.candidate.map(|candidate| [self.original, candidate])
    }
}

/// The pairs to compare, in the order of the original, and what is left over.
#[derive(PartialEq, Eq, Debug)]
pub struct Pairing {
    pub pairs: Vec<Matched>,
    /// Functions that only the candidate has; empty when the user chose the functions.
    pub extras: Vec<usize>,
}

/// Pairs functions by name. `selections` empty means all of the original.
pub fn pair_functions(
    original: &[Names<'_>],
    candidate: &[Names<'_>],
    selections: &[Selection],
) -> Result<Pairing, Failure> {
    let counterparts = by_name(candidate);
    if selections.is_empty() {
        let pairs = all_pairs(original, &counterparts);
        if pairs.iter().all(|pair| pair.candidate.is_none()) {
            return Err(Failure(no_common(original.len(), candidate.len())));
        }
        let found: BTreeSet<usize> = pairs.iter().filter_map(|pair| pair.candidate).collect();
        let extras = (0..candidate.len()).filter(|i| !found.contains(i)).collect();
        return Ok(Pairing { pairs, extras });
    }
    let originals = by_name(original);
    let mut pairs: Vec<Matched> = Vec::new();
    for Selection { name, other } in selections {
        let index = find(name, &originals, original)
            .map_err(|hint| Failure(format!("--function {name}: the original has no function of that name{hint}")))?;
        if pairs.iter().any(|pair| pair.name == *name) {
            return Err(Failure(format!("--function {name}: given twice")));
        }
        let counterpart = match other {
            Some(other) => Some(find(other, &counterparts, candidate).map_err(|hint| {
                Failure(format!("--function {name}={other}: the candidate has no function `{other}`{hint}"))
            })?),
            None => counterparts
                .get(name.as_str())
                .or_else(|| original[index].iter().find_map(|alias| counterparts.get(alias)))
                .copied(),
        };
        // In reports it has the linker's name, whichever was given.
        let name = if originals.contains_key(name.as_str()) { name } else { original[index][0] };
        pairs.push(Matched { name: name.to_string(), original: index, candidate: counterpart });
    }
    pairs.sort_by_key(|pair| pair.original);
    Ok(Pairing { pairs, extras: Vec::new() })
}

fn all_pairs(original: &[Names<'_>], counterparts: &HashMap<&str, usize>) -> Vec<Matched> {
    let mut pairs = Vec::new();
    for (index, names) in original.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for name in names {
            let counterpart = counterparts.get(name).copied();
            if seen.insert(counterpart) {
                pairs.push(Matched { name: name.to_string(), original: index, candidate: counterpart });
            }
        }
    }
    pairs
}

/// Where each name leads; a function's first name outranks another's alias.
fn by_name<'a>(functions: &[Names<'a>]) -> HashMap<&'a str, usize> {
    let names = |skip: usize, take: usize| {
        functions
            .iter()
            .enumerate()
            .flat_map(move |(i, names)| names.iter().skip(skip).take(take).map(move |name| (*name, i)))
    };
    let mut map: HashMap<&str, usize> = names(1, usize::MAX).collect();
    map.extend(names(0, 1));
    map
}

fn no_common(original: usize, candidate: usize) -> String {
    match (original, candidate) {
        (0, _) => "the original has no function".to_string(),
        (_, 0) => "the candidate has no function".to_string(),
        _ => "the two files have no function in common".to_string(),
    }
}

/// The function of a name: the linker's, or that of its source with or without the types of its parameters, where that is one
/// function. The error is a hint.
fn find(name: &str, by_name: &HashMap<&str, usize>, functions: &[Names<'_>]) -> Result<usize, String> {
    if let Some(index) = by_name.get(name) {
        return Ok(*index);
    }
    let is_it = |n: &&str| {
        let shown = report::readable(n);
        shown != **n && (shown == name || shown.split('(').next() == Some(name))
    };
    let found: Vec<usize> = (0..functions.len()).filter(|i| functions[*i].iter().any(&is_it)).collect();
    match found[..] {
        [index] => Ok(index),
        [] => Err(similar(name, functions)),
        _ => {
            let names: Vec<String> =
                found.iter().take(MOST_HINTS).map(|i| format!("`{}`", report::readable(functions[*i][0]))).collect();
            Err(format!(", but several: {}", names.join(", ")))
        }
    }
}

/// What to say about a function that nobody has.
pub fn unknown_selection(name: &str, functions: &[String]) -> Failure {
    let functions: Vec<Names<'_>> = functions.iter().map(|name| vec![name.as_str()]).collect();
    let hint = similar(name, &functions);
    Failure(format!("--function {name}: the original has no function of that name{hint}"))
}

/// Names that one hint lists.
const MOST_HINTS: usize = 4;
/// How alike two names are that may be the same, misspelt.
const ALIKE: f64 = 0.75;

/// A hint for a misspelt name: a function whose name ends in it (`file.c:name`), or begins with it, or is nearly the same.
fn similar(name: &str, functions: &[Names<'_>]) -> String {
    let names = || functions.iter().flatten();
    let qualified = |n: &&&str| n.rsplit_once(':').is_some_and(|(_, last)| last == name);
    let nearest = || {
        let alike = |n: &&str| {
            let shown = report::readable(n);
            strsim::normalized_damerau_levenshtein(name, n).max(strsim::normalized_damerau_levenshtein(name, &shown))
        };
        let near = names().map(|n| (alike(n), n)).filter(|(alike, _)| *alike >= ALIKE);
        near.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, n)| n)
    };
    match names().find(qualified).or_else(|| names().find(|n| n.starts_with(name))).or_else(nearest) {
        Some(found) => format!("; is `{}` meant?", report::readable(found)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Functions are separated by blanks, the names of one by commas.
    fn functions(text: &str) -> Vec<Names<'_>> {
        text.split_whitespace().map(|names| names.split(',').collect()).collect()
    }

    fn pairs_to(original: &str, candidate: &str, selections: &str, expect: Expect) {
        let (original, candidate) = (functions(original), functions(candidate));
        let selections: Vec<Selection> = selections
            .split_whitespace()
            .map(|text| match text.split_once('=') {
                Some((name, other)) => Selection { name: name.to_string(), other: Some(other.to_string()) },
                None => Selection { name: text.to_string(), other: None },
            })
            .collect();
        let text = match pair_functions(&original, &candidate, &selections) {
            Ok(pairing) => {
                let shown = pairing.pairs.iter().map(|p| match p.candidate {
                    Some(c) => format!("{}={}", p.name, candidate[c][0]),
                    None => format!("{}=?", p.name),
                });
                let extras = pairing.extras.iter().map(|e| format!("+{}", candidate[*e][0]));
                shown.chain(extras).collect::<Vec<_>>().join(" ")
            }
            Err(Failure(message)) => message,
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn all_functions_of_the_original_in_its_order() {
        pairs_to("b a c", "a b d", "", expect!["b=b a=a c=? +d"]);
    }

    #[test]
    fn aliases_are_listed_only_where_they_lead_elsewhere() {
        pairs_to("a,b", "a,b", "", expect!["a=a"]);
        pairs_to("a,b", "b,a", "", expect!["a=b"]);
        pairs_to("a,b", "a b", "", expect!["a=a b=b"]);
        pairs_to("a b", "a,b", "", expect!["a=a b=a"]);
        pairs_to("a,b", "a", "", expect!["a=a b=?"]);
    }

    #[test]
    fn chosen_functions_in_the_order_of_the_original() {
        pairs_to("a b c", "a b d", "b a=d", expect!["a=d b=b"]);
        pairs_to("a b c", "a b d", "c", expect!["c=?"]);
        pairs_to("a,x b", "a b", "x=b", expect!["x=b"]);
    }

    #[test]
    fn nothing_to_compare() {
        pairs_to("a", "b", "", expect!["the two files have no function in common"]);
        pairs_to("", "b", "", expect!["the original has no function"]);
        pairs_to("a", "", "", expect!["the candidate has no function"]);
    }

    #[test]
    fn names_of_the_source() {
        pairs_to("_Z5clampii _Z4emiti", "_Z5clampii", "clamp", expect!["_Z5clampii=_Z5clampii"]);
        pairs_to(
            "_Z5clampii",
            "_Z5clampii",
            "clamp(int,int)",
            expect![[
                r#"--function clamp(int,int): the original has no function of that name; is `clamp(int, int)` meant?"#
            ]],
        );
        pairs_to(
            "_Z5clampii _Z5clampff",
            "_Z5clampii",
            "clamp",
            expect![[
                r#"--function clamp: the original has no function of that name, but several: `clamp(int, int)`, `clamp(float, float)`"#
            ]],
        );
    }

    #[test]
    fn names_that_do_not_exist() {
        pairs_to(
            "x.c:a b",
            "a b",
            "a",
            expect!["--function a: the original has no function of that name; is `x.c:a` meant?"],
        );
        pairs_to("a b", "a b", "zz", expect!["--function zz: the original has no function of that name"]);
        pairs_to(
            "a b",
            "a b_new",
            "b=b_",
            expect!["--function b=b_: the candidate has no function `b_`; is `b_new` meant?"],
        );
        pairs_to("a b", "a b", "a a=b", expect!["--function a: given twice"]);
        pairs_to(
            "parse_number emit",
            "parse_number",
            "parse_nubmer",
            expect!["--function parse_nubmer: the original has no function of that name; is `parse_number` meant?"],
        );
    }
}
