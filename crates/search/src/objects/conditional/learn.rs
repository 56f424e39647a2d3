//! A condition from runs: as long as the programs disagree where it holds, what explains the difference is added.

use super::atom::Atom;
use super::lab::Lab;
use crate::objects::inputs::Input;
use crate::objects::refute::Judged;

/// A part of a condition that runs have shown to be needed, or not.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub atom: Atom,
    /// A start state that satisfies everything else, and on which the programs disagree.
    pub needed: Option<Input>,
}

/// Random start states in a condition, and those that just violate each other atom.
const RANDOM: usize = 160;
const NEIGHBOURS: usize = 2;
/// Start states that violate a part and nothing else.
const DOUBTS: usize = 24;
/// How often a condition is enlarged.
const MOST_STEPS: usize = 48;

impl Lab<'_, '_> {
    /// Some runs where much holds, from which it is known what agreeing runs violate.
    pub(super) fn warm_up(&mut self, tests: &[Input]) {
        for n in 0..90 {
            if self.is_late() {
                return;
            }
            let mut stream = self.stream();
            let input = match tests.len() {
                0 => self.next_input(),
                len if n % 2 == 0 => tests[n / 2 % len].clone(),
                _ => self.next_input(),
            };
            let sparse = stream.pick(&[1, 2, 2, 3, 6]);
            let chosen: Vec<Atom> = self.pool.iter().filter(|_| stream.one_in(sparse)).cloned().collect();
            let one_each = without_contradictions(chosen);
            if let Some(projected) = self.projected(&input, &one_each) {
                self.judge(&projected);
            }
        }
    }

    /// Enlarges the condition until runs find no difference where it holds. The error is a difference that nothing explains.
    pub(super) fn learn(&mut self, condition: &mut Vec<Atom>, mut given: Vec<Input>) -> Result<(), Box<Input>> {
        for _ in 0..MOST_STEPS {
            let next = match given.pop() {
                Some(input) if self.all_hold(condition.iter(), &input) => Some(input),
                Some(_) => continue,
                None => self.disagreement(condition),
            };
            let Some(input) = next else { return Ok(()) };
            let Some(found) = self.explain(&input, condition) else { return Err(Box::new(input)) };
            let more: Vec<Atom> = found.into_iter().map(|i| self.pool[i].clone()).collect();
            tracing::debug!(more = ?more.iter().map(|a| self.text(a)).collect::<Vec<_>>(), "explained");
            condition.extend(more);
        }
        Ok(())
    }

    /// A start state that satisfies a condition and on which the programs disagree.
    pub(super) fn disagreement(&mut self, condition: &[Atom]) -> Option<Input> {
        for i in (0..self.differing.len()).rev() {
            let input = self.differing[i].clone();
            if self.all_hold(condition, &input) {
                return Some(input);
            }
        }
        for n in 0..RANDOM {
            if self.is_late() {
                return None;
            }
            let input = self.next_input();
            // Where much else holds, little hides what is left.
            let projected = if n % 3 == 2 && !condition.is_empty() {
                let mut stream = self.stream();
                let more: Vec<Atom> = self.pool.iter().filter(|_| stream.one_in(3)).cloned().collect();
                let all: Vec<Atom> = condition.iter().cloned().chain(without_contradictions(more)).collect();
                self.projected(&input, &all)
            } else {
                self.projected(&input, condition)
            };
            if let Some(found) = projected.and_then(|input| self.differs(&input)) {
                return Some(found);
            }
        }
        for i in 0..self.pool.len() {
            let atom = self.pool[i].clone();
            if condition.contains(&atom) {
                continue;
            }
            for _ in 0..NEIGHBOURS {
                if self.is_late() {
                    return None;
                }
                if let Some(found) = self.doubt(condition, &atom) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// A start state that satisfies a condition, violates an atom, and on which the programs disagree, if one is found at once.
    fn doubt(&mut self, condition: &[Atom], atom: &Atom) -> Option<Input> {
        let mut stream = self.stream();
        let mut input = self.next_input();
        self.make_modest(&mut input, &mut stream);
        let mut all: Vec<Atom> = condition.to_vec();
        if stream.one_in(2) {
            all.push(atom.clone());
        }
        let mut input = self.projected(&input, &all)?;
        atom.violate(&mut self.scene(), &mut input, &mut stream);
        let input = self.projected(&input, condition)?;
        if self.holds(atom, &input) {
            return None;
        }
        self.differs(&input)
    }

    fn differs(&mut self, input: &Input) -> Option<Input> {
        match self.judge(input) {
            Judged::Differs(found) => Some(found.input),
            _ => None,
        }
    }

    /// The parts of a condition, each with a start state that shows that it is needed, if there is one. What runs do not show
    /// to be needed is left out, unless runs then find a difference.
    pub(super) fn prune(&mut self, condition: &[Atom]) -> Vec<Part> {
        let mut parts: Vec<Part> = condition.iter().map(|atom| Part { atom: atom.clone(), needed: None }).collect();
        parts.sort_by_key(|part| std::cmp::Reverse((super::explain::rank(&part.atom), part.atom.strength())));
        let mut i = 0;
        while i < parts.len() {
            let rest: Vec<Atom> =
                parts.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, part)| part.atom.clone()).collect();
            match self.violation(&rest, &parts[i].atom.clone()) {
                Some(input) => {
                    parts[i].needed = Some(input);
                    i += 1;
                }
                None if self.is_late() => i += 1,
                None => {
                    parts.remove(i);
                }
            }
        }
        parts.sort_by_key(|part| (super::explain::rank(&part.atom), self.position(&part.atom)));
        parts
    }

    fn position(&self, atom: &Atom) -> usize {
        self.pool.iter().position(|known| known == atom).unwrap_or(usize::MAX)
    }

    /// A start state that satisfies a condition and violates an atom, on which the programs disagree.
    pub(super) fn violation(&mut self, condition: &[Atom], atom: &Atom) -> Option<Input> {
        for i in (0..self.differing.len()).rev() {
            let input = self.differing[i].clone();
            if !self.holds(atom, &input) && self.all_hold(condition, &input) {
                return Some(input);
            }
        }
        for n in 0..DOUBTS {
            if self.is_late() {
                return None;
            }
            // A known difference, moved to where everything else holds.
            let known = self.differing.len().checked_sub(1 + n).map(|k| self.differing[k].clone());
            if let Some(input) = known.and_then(|input| self.projected(&input, condition))
                && !self.holds(atom, &input)
                && let Some(found) = self.differs(&input)
            {
                return Some(found);
            }
            if let Some(found) = self.doubt(condition, atom) {
                return Some(found);
            }
        }
        None
    }
}

/// The atoms without those that give a number another value than an earlier one does.
fn without_contradictions(atoms: Vec<Atom>) -> Vec<Atom> {
    let mut out: Vec<Atom> = Vec::new();
    for atom in atoms {
        let clashes = match &atom {
            Atom::Equal { number, .. } => {
                out.iter().any(|known| matches!(known, Atom::Equal { number: other, .. } if other == number))
            }
            Atom::AtLeast { bound, .. } => *bound > 16,
            Atom::Below { bound, .. } => *bound < 64,
            Atom::AtMost { bound, .. } => *bound < 64,
            _ => false,
        };
        if !clashes {
            out.push(atom);
        }
    }
    out
}
