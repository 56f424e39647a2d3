//! Why programs disagree on a start state: the atoms that, made to hold, make them agree.
//!
//! All atoms of a group are made to hold; if the programs then agree, atoms are left out again, those first that agreeing runs violate
//! most, as long as the programs still agree. What is left explains the difference: without any one of it, it is there.

use super::atom::{Atom, Kind};
use super::lab::Lab;
use super::number::Form;
use crate::objects::inputs::Input;
use crate::objects::refute::Judged;

/// Bounds below this are no part of the groups: few turns of a loop hide a difference.
const LEAST_BOUND: u64 = 256;
/// Larger multiples make nested loops too long to run.
const MOST_TURNS: u64 = 16;

impl Lab<'_, '_> {
    /// The positions in the pool of atoms that explain a difference, beside a condition that holds there.
    pub(super) fn explain(&mut self, input: &Input, condition: &[Atom]) -> Option<Vec<usize>> {
        let mut best: Option<(u32, u32, Vec<usize>)> = None;
        for group in self.groups(condition) {
            if self.is_late() {
                break;
            }
            if !self.agrees(input, condition, &group) {
                continue;
            }
            let left = self.fewest(input, condition, group);
            let violations = self.violations();
            let worst = left.iter().map(|i| discounted(&self.pool[*i], violations[*i])).max().unwrap_or(0);
            let ranks = left.iter().map(|i| rank(&self.pool[*i])).sum();
            if best.as_ref().is_none_or(|(w, r, _)| (worst / 100, ranks) < (*w / 100, *r)) {
                best = Some((worst, ranks, left));
            }
            // Lighter groups come first.
            if worst < 100 {
                break;
            }
        }
        best.map(|(.., left)| left).filter(|left| !left.is_empty())
    }

    /// Do the programs agree where these atoms hold, too?
    fn agrees(&mut self, input: &Input, condition: &[Atom], chosen: &[usize]) -> bool {
        let atoms: Vec<Atom> = condition.iter().cloned().chain(chosen.iter().map(|i| self.pool[*i].clone())).collect();
        let Some(projected) = self.projected(input, &atoms) else { return false };
        matches!(self.judge(&projected), Judged::Agrees { .. })
    }

    /// Groups of atoms that can hold together, the lighter ones first.
    fn groups(&mut self, condition: &[Atom]) -> Vec<Vec<usize>> {
        let usable: Vec<usize> = (0..self.pool.len()).filter(|i| !condition.contains(&self.pool[*i])).collect();
        let of = |lab: &Self, wanted: &dyn Fn(&Atom) -> bool| -> Vec<usize> {
            usable.iter().copied().filter(|i| wanted(&lab.pool[*i])).collect()
        };
        let light = of(self, &|atom| match atom {
            Atom::Below { bound, .. } => *bound >= LEAST_BOUND,
            Atom::AtLeast { bound, .. } => *bound <= 1,
            Atom::AtMost { bound, .. } => *bound > 255,
            Atom::Less { .. } => false,
            Atom::Multiple { of, .. } => of.is_power_of_two() && *of <= MOST_TURNS,
            _ => !matches!(atom.kind(), Kind::Equality | Kind::Content),
        });
        let alignment = of(self, &|atom| matches!(atom, Atom::Aligned { .. }));
        let few = |atom: &Atom| matches!(atom, Atom::Multiple { of, .. } if of.is_power_of_two() && *of <= MOST_TURNS);
        let multiples = of(self, &|atom| few(atom) || matches!(atom, Atom::Aligned { .. }));
        let others = of(self, &|atom| matches!(atom, Atom::Multiple { .. }) && !few(atom));
        // With tests, cells hold what they hold there; else they are zero, or the same.
        let held = of(self, &|atom| matches!(atom, Atom::Equal { number, .. } if number.is_cell()));
        let contents = self.first_of_each(&held);
        let held_else: Vec<usize> = held.iter().copied().filter(|i| !contents.contains(i)).collect();
        let same = of(self, &|atom| matches!(atom, Atom::Same { numbers } if numbers[0].is_cell()));
        let bounds = of(self, &|atom| atom.kind() == Kind::Range || atom.kind() == Kind::Content && is_bound(atom));
        let joined = |parts: &[&[usize]]| parts.concat();
        let mut groups = vec![alignment.clone(), multiples, light.clone()];
        groups.extend(others.iter().map(|i| joined(&[&alignment, &[*i]])));
        groups.extend(bounds.iter().filter(|i| !matches!(self.pool[**i], Atom::Less { .. })).map(|i| vec![*i]));
        groups.push(joined(&[&light, &same]));
        groups.push(joined(&[&light, &contents]));
        groups.extend(held_else.iter().map(|i| joined(&[&light, &[*i]])));
        // Values of arguments: one after the other, then all of them zero, one, or what the tests say.
        let values = of(self, &|atom| matches!(atom, Atom::Equal { number, .. } if !number.is_cell()));
        for i in &values {
            groups.push(vec![*i]);
            groups.push(joined(&[&light, &same, &[*i]]));
        }
        let equal = of(self, &|atom| matches!(atom, Atom::Same { numbers } if !numbers[0].is_cell()));
        groups.extend(equal.iter().map(|i| joined(&[&light, &[*i]])));
        groups.extend(of(self, &|atom| matches!(atom, Atom::Affine { .. })).iter().map(|i| joined(&[&light, &[*i]])));
        let orders = bounds.iter().copied().filter(|i| matches!(self.pool[*i], Atom::Less { .. }));
        groups.extend(orders.flat_map(|i| [vec![i], joined(&[&light, &[i]])]));
        let first_of_each = self.first_of_each(&values);
        groups.push(joined(&[&light, &first_of_each]));
        groups.push(joined(&[&light, &same, &first_of_each]));
        groups.push(joined(&[&light, &contents, &first_of_each]));
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Of atoms that say which value a number has, the first about each number.
    fn first_of_each(&self, atoms: &[usize]) -> Vec<usize> {
        let is_first =
            |(k, i): &(usize, &usize)| !atoms[..*k].iter().any(|j| same_number(&self.pool[*j], &self.pool[**i]));
        atoms.iter().enumerate().filter(is_first).map(|(_, i)| *i).collect()
    }

    /// As few of these atoms as are enough.
    fn fewest(&mut self, input: &Input, condition: &[Atom], mut chosen: Vec<usize>) -> Vec<usize> {
        let violations = self.violations();
        // What says too much goes first.
        chosen.sort_by_key(|i| {
            let atom = &self.pool[*i];
            std::cmp::Reverse((violations[*i] / 100, rank(atom), atom.strength()))
        });
        let mut chunk = chosen.len().div_ceil(2);
        loop {
            let mut at = 0;
            while at < chosen.len() && !self.is_late() {
                let rest: Vec<usize> =
                    chosen.iter().enumerate().filter(|(k, _)| !(at..at + chunk).contains(k)).map(|(_, i)| *i).collect();
                if self.agrees(input, condition, &rest) {
                    chosen = rest;
                } else {
                    at += chunk;
                }
            }
            if chunk <= 1 {
                return chosen;
            }
            chunk = chunk.div_ceil(2);
        }
    }
}

/// Blocks that overlap harm few runs.
fn discounted(atom: &Atom, violations: u32) -> u32 {
    if atom.kind() == Kind::Apart { violations / 4 } else { violations }
}

fn is_bound(atom: &Atom) -> bool {
    matches!(atom, Atom::Below { .. } | Atom::AtLeast { .. } | Atom::AtMost { .. })
}

fn same_number(a: &Atom, b: &Atom) -> bool {
    matches!((a, b), (Atom::Equal { number: x, .. }, Atom::Equal { number: y, .. }) if x == y)
}

/// The lower the better.
pub(super) fn rank(atom: &Atom) -> u32 {
    match (atom.kind(), atom) {
        (Kind::Aligned, _) => 0,
        (Kind::Multiple, _) => 1,
        (Kind::Distance, _) => 2,
        (Kind::Apart, Atom::Apart { order: super::atom::Order::Apart, .. }) => 4,
        (Kind::Apart, _) => 3,
        (Kind::Excluded, _) => 5,
        (Kind::Range, Atom::Less { numbers, .. }) if numbers[0].form == Form::Pointer => 9,
        (Kind::Range, Atom::Less { .. }) => 7,
        (Kind::Range, _) => 6,
        (Kind::Equality, Atom::Same { .. } | Atom::Affine { .. }) => 8,
        (Kind::Content, Atom::Same { .. }) => 7,
        (Kind::Content, _) => 9,
        (Kind::Equality | Kind::Axiom, _) => 10,
    }
}
