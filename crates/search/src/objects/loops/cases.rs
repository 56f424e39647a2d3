//! Guesses that depend on what a loop keeps: a sum where a flag is set and another where it is not.
//!
//! A loop that asks each time what never changes does one of two things, and a closed form of it is a choice between
//! two. The meetings are taken apart by whether something that stays is zero; what fits each part is claimed for it.

use super::columns::Column;
use super::guess::{Degree, Names, combine};
use std::collections::BTreeSet;

/// Things that stay by which meetings are taken apart, at most.
const MOST_CASES: usize = 8;
/// Fewer meetings of one kind tell nothing.
const FEWEST: usize = 6;
/// Choices that are tried for one flag.
const MOST_TRIES: usize = 4;

/// A choice between two sums that gives the target in all rows.
pub(super) fn by_cases(names: &Names, target: &Column, basis: &[Column], dropped: &BTreeSet<String>) -> Option<String> {
    let splits = |c: &&Column| {
        let zeros = c.values.iter().filter(|v| **v == 0).count();
        !c.forgotten && c.text.is_none() && zeros >= FEWEST && zeros + FEWEST <= c.values.len()
    };
    basis.iter().filter(splits).take(MOST_CASES).find_map(|flag| {
        let part = |column: &Column, zero: bool| {
            let rows = column.values.iter().zip(&flag.values).filter(|(_, f)| (**f == 0) == zero);
            Column { values: rows.map(|(v, _)| *v).collect(), ..column.clone() }
        };
        let fits = |zero: bool, wrong: &BTreeSet<String>| {
            let others: Vec<Column> = basis.iter().map(|c| part(c, zero)).collect();
            combine(names, &part(target, zero), &others, wrong, Degree::Two)
        };
        let name = |text: &str| format!("{} := {text}", target.location);
        // Where a choice was wrong, the sum that fewer meetings tell about is an accident.
        let mut wrong = [dropped.clone(), dropped.clone()];
        for _ in 0..MOST_TRIES {
            let sums = [fits(true, &wrong[0])?, fits(false, &wrong[1])?];
            let [zero, other] = &sums;
            let text = format!("(ite (= {} #{}:0) {zero} {other})", flag.location, flag.location.width);
            if !dropped.contains(&name(&text)) {
                return Some(text);
            }
            let fewer = usize::from(part(flag, true).values.len() > part(flag, false).values.len());
            wrong[fewer].insert(name(&sums[fewer]));
        }
        None
    })
}
