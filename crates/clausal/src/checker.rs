//! Unit propagation over two watched literals, and the check by it.
//!
//! Invariants between two steps: `trail` holds what follows from the clauses so far by propagation, for good; of every
//! clause in `clauses` that is not deleted, either some literal is true for good, or the first two are not false for
//! good, and the clause is in the watch lists of both.

use crate::proof::{Kind, Literal, Proof};
use std::collections::HashMap;
use std::fmt;

/// Why a proof is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invalid {
    /// The learnt clause at this step does not follow by unit propagation.
    NotImplied(usize),
    /// The clauses are not contradictory by unit propagation in the end.
    NotRefuted,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::NotImplied(step) => write!(f, "the clause at step {step} does not follow by unit propagation"),
            Invalid::NotRefuted => write!(f, "the clauses do not contradict each other by unit propagation"),
        }
    }
}

/// What was checked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Clauses of the question.
    pub given: usize,
    /// Clauses that were shown to follow.
    pub learnt: usize,
}

/// Does the proof show that its given clauses have no model?
pub fn check(proof: &Proof) -> Result<Counts, Invalid> {
    let mut checker = Checker::default();
    let mut counts = Counts::default();
    for (step, (kind, clause)) in proof.steps().enumerate() {
        match kind {
            Kind::Given => {
                counts.given += 1;
                checker.add(clause);
            }
            Kind::Learnt => {
                if !checker.implies(clause) {
                    return Err(Invalid::NotImplied(step));
                }
                counts.learnt += 1;
                checker.add(clause);
            }
            Kind::Deleted => checker.delete(clause),
        }
        if checker.contradictory {
            return Ok(counts);
        }
    }
    Err(Invalid::NotRefuted)
}

struct Clause {
    literals: Box<[Literal]>,
    deleted: bool,
}

#[derive(Default)]
struct Checker {
    clauses: Vec<Clause>,
    /// By literal: clauses that watch it.
    watches: Vec<Vec<u32>>,
    /// By literal: is it true?
    holds: Vec<bool>,
    trail: Vec<Literal>,
    /// How much of the trail was propagated.
    propagated: usize,
    contradictory: bool,
    /// Clauses by a hash that does not depend on their order, for deletions.
    known: HashMap<u64, Vec<u32>>,
}

impl Checker {
    fn make_room(&mut self, clause: &[Literal]) {
        let most = clause.iter().map(|literal| literal.index() | 1).max().unwrap_or(0);
        if most >= self.holds.len() {
            self.holds.resize(most + 1, false);
            self.watches.resize(most + 1, Vec::new());
        }
    }

    fn is_true(&self, literal: Literal) -> bool {
        self.holds[literal.index()]
    }

    fn is_false(&self, literal: Literal) -> bool {
        self.holds[literal.negated().index()]
    }

    fn assign(&mut self, literal: Literal) {
        self.holds[literal.index()] = true;
        self.trail.push(literal);
    }

    /// Takes a clause for granted, for good.
    fn add(&mut self, clause: &[Literal]) {
        self.make_room(clause);
        let mut literals = clause.to_vec();
        literals.sort_unstable();
        literals.dedup();
        let tautology = literals.windows(2).any(|pair| pair[0].negated() == pair[1]);
        if tautology || literals.iter().any(|literal| self.is_true(*literal)) {
            return;
        }
        let hash = hash_of(&literals);
        // What is not false comes first.
        literals.sort_by_key(|literal| self.is_false(*literal));
        match literals.iter().filter(|literal| !self.is_false(**literal)).count() {
            0 => self.contradictory = true,
            1 => {
                self.assign(literals[0]);
                self.contradictory = self.propagate();
            }
            _ => {
                let number = u32::try_from(self.clauses.len()).expect("fewer than 2^32 clauses");
                for literal in &literals[..2] {
                    self.watches[literal.index()].push(number);
                }
                self.known.entry(hash).or_default().push(number);
                self.clauses.push(Clause { literals: literals.into(), deleted: false });
            }
        }
    }

    fn delete(&mut self, clause: &[Literal]) {
        let mut wanted = clause.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let Some(numbers) = self.known.get_mut(&hash_of(&wanted)) else { return };
        let clauses = &self.clauses;
        let same = |number: &u32| {
            let mut literals = clauses[*number as usize].literals.to_vec();
            literals.sort_unstable();
            literals == wanted
        };
        if let Some(position) = numbers.iter().position(same) {
            let number = numbers.swap_remove(position) as usize;
            // Watch lists drop it when they meet it.
            self.clauses[number].deleted = true;
            self.clauses[number].literals = Box::default();
        }
    }

    /// Does propagation contradict the negation of a clause?
    fn implies(&mut self, clause: &[Literal]) -> bool {
        self.make_room(clause);
        let mark = self.trail.len();
        let mut implied = false;
        for literal in clause {
            if self.is_true(*literal) {
                implied = true;
                break;
            }
            if !self.is_false(*literal) {
                self.assign(literal.negated());
            }
        }
        implied = implied || self.propagate();
        for literal in self.trail.drain(mark..) {
            self.holds[literal.index()] = false;
        }
        self.propagated = mark;
        implied
    }

    /// Follows what is true to its consequences; true if they contradict each other.
    fn propagate(&mut self) -> bool {
        while let Some(literal) = self.trail.get(self.propagated).copied() {
            self.propagated += 1;
            let falsified = literal.negated();
            let mut watching = std::mem::take(&mut self.watches[falsified.index()]);
            let mut kept = 0;
            let mut contradiction = false;
            let mut next = 0;
            while next < watching.len() {
                let number = watching[next];
                next += 1;
                match self.visit(number, falsified) {
                    Visit::Leaves => continue,
                    Visit::Stays => {}
                    Visit::Forces(unit) => self.assign(unit),
                    Visit::Contradicts => contradiction = true,
                }
                watching[kept] = number;
                kept += 1;
                if contradiction {
                    break;
                }
            }
            watching.copy_within(next.., kept);
            watching.truncate(kept + watching.len() - next);
            self.watches[falsified.index()] = watching;
            if contradiction {
                return true;
            }
        }
        false
    }

    /// Looks at a clause one of whose watched literals has become false.
    fn visit(&mut self, number: u32, falsified: Literal) -> Visit {
        let clause = &mut self.clauses[number as usize];
        if clause.deleted {
            return Visit::Leaves;
        }
        let literals = &mut clause.literals;
        if literals[0] == falsified {
            literals.swap(0, 1);
        }
        let other = literals[0];
        if self.holds[other.index()] {
            return Visit::Stays;
        }
        let free = (2..literals.len()).find(|i| !self.holds[literals[*i].negated().index()]);
        if let Some(free) = free {
            literals.swap(1, free);
            self.watches[literals[1].index()].push(number);
            return Visit::Leaves;
        }
        if self.holds[other.negated().index()] { Visit::Contradicts } else { Visit::Forces(other) }
    }
}

enum Visit {
    /// Another literal is watched now, or the clause was deleted.
    Leaves,
    /// It is true.
    Stays,
    /// Its other literal is the last.
    Forces(Literal),
    /// All of it is false.
    Contradicts,
}

/// The same for all orders.
fn hash_of(literals: &[Literal]) -> u64 {
    let mixed = literals.iter().map(|literal| {
        let x = (literal.index() as u64).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ x >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)
    });
    mixed.fold(literals.len() as u64, u64::wrapping_add)
}
