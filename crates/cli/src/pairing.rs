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
        let index = *originals.get(name.as_str()).ok_or_else(|| {
            Failure(format!("--function {name}: the original has no function of that name{}", similar(name, original)))
        })?;
        if pairs.iter().any(|pair| pair.name == *name) {
            return Err(Failure(format!("--function {name}: given twice")));
        }
        let counterpart = match other {
            Some(other) => Some(*counterparts.get(other.as_str()).ok_or_else(|| {
                let hint = similar(other, candidate);
                Failure(format!("--function {name}={other}: the candidate has no function `{other}`{hint}"))
            })?),
            None => counterparts.get(name.as_str()).copied(),
        };
        pairs.push(Matched { name: name.clone(), original: index, candidate: counterpart });
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

/// A hint for a misspelt name: a function whose name ends in it (`file.c:name`), or begins with it.
fn similar(name: &str, functions: &[Names<'_>]) -> String {
    let names = || functions.iter().flatten();
    let qualified = |n: &&&str| n.rsplit_once(':').is_some_and(|(_, last)| last == name);
    match names().find(qualified).or_else(|| names().find(|n| n.starts_with(name))) {
        Some(found) => format!("; is `{found}` meant?"),
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
    }
}
