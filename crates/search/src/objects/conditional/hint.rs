//! What a difference hints at: the one condition without which the programs would agree on that input.
//!
//! A hint is no verdict. It is given only if other runs, changed so that the condition holds, show no difference either.

use super::atom::{Atom, Kind};
use super::lab::Lab;
use crate::objects::inputs::Input;
use crate::objects::refute::Judged;
use std::time::{Duration, Instant};

/// One condition that would make the programs agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// What kind of condition it is.
    pub kind: Kind,
    /// As `--assume` takes it.
    pub text: String,
}

/// Runs that must agree under the condition, of so many that are tried.
const AGREEING: usize = 4;
const TRIED: usize = 40;
/// What a hint may cost.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);

impl Lab<'_, '_> {
    /// The condition that an input lacks, if it is one.
    pub(super) fn hint(&mut self, input: &Input) -> Option<Hint> {
        let mut atoms: Vec<Atom> = self.pool.iter().filter(|atom| says_little(atom)).cloned().collect();
        atoms.sort_by_key(|atom| (super::explain::rank(atom), atom.strength()));
        self.deadline = Instant::now() + PATIENCE;
        for atom in atoms {
            if self.is_late() {
                return None;
            }
            if self.holds(&atom, input) {
                continue;
            }
            let agrees = self
                .projected(input, std::iter::once(&atom))
                .is_some_and(|input| matches!(self.judge(&input), Judged::Agrees { .. }));
            if agrees && self.is_enough(&atom) {
                return Some(Hint { kind: atom.kind(), text: self.text(&atom) });
            }
        }
        None
    }

    /// Do runs show no difference where the atom holds?
    fn is_enough(&mut self, atom: &Atom) -> bool {
        let mut agreeing = 0;
        for _ in 0..TRIED {
            if self.is_late() {
                return false;
            }
            let input = self.next_input();
            let Some(input) = self.projected(&input, std::iter::once(atom)) else { continue };
            match self.judge(&input) {
                Judged::Agrees { .. } => agreeing += 1,
                Judged::Differs(_) => return false,
                Judged::Open => {}
            }
        }
        agreeing >= AGREEING
    }
}

/// Fixed values and small bounds make many programs agree that have nothing in common.
fn says_little(atom: &Atom) -> bool {
    match atom {
        Atom::Equal { number, .. } => number.is_cell(),
        Atom::Below { bound, .. } => *bound > 128,
        Atom::AtMost { bound, .. } => *bound >= 127,
        Atom::AtLeast { bound, .. } => *bound <= 1,
        _ => atom.kind() != Kind::Axiom,
    }
}
