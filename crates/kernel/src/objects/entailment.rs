//! What follows from a condition: another condition, or that no start state satisfies it.
//!
//! A proof under C is one under everything that implies C. Both conditions are terms over the same entry values, as they are
//! where a proof begins; the solver is asked for a state that satisfies the one and not the other.
//!
//! Trust: full where `verify --assume` says that the user's condition suffices. Only a proved answer counts.

use crate::{Pair, Precondition};
use program::Side;
use solver::{Answer, Query, Solver};
use symbolic::Context;
use term::Arena;

/// Does one condition imply another?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entailment {
    /// In every start state.
    Holds,
    /// Not in all.
    Fails,
    /// Nobody knows.
    Unknown,
}

impl Precondition {
    /// Does this condition imply another, in start states of the pair? The error says what cannot be expressed.
    pub fn implies(
        &self,
        other: &Precondition,
        pair: &Pair,
        arena: &mut Arena,
        solver: &mut Solver,
    ) -> Result<Entailment, String> {
        if other.axioms().iter().any(|axiom| !self.axioms().contains(axiom)) {
            return Ok(Entailment::Fails);
        }
        ask(self, Some(other), pair, arena, solver)
    }

    /// Is there no start state that satisfies the condition?
    pub fn is_contradictory(&self, pair: &Pair, arena: &mut Arena, solver: &mut Solver) -> Result<Entailment, String> {
        ask(self, None, pair, arena, solver)
    }
}

fn ask(
    premise: &Precondition,
    conclusion: Option<&Precondition>,
    pair: &Pair,
    arena: &mut Arena,
    solver: &mut Solver,
) -> Result<Entailment, String> {
    let [original, candidate] = pair.functions();
    let mut context = Context::new(arena, original, candidate, Vec::new());
    let states = Side::BOTH.map(|side| context.entry_state(side));
    let premise = premise.term(&mut context, &states)?;
    let goal = match conclusion {
        Some(conclusion) => conclusion.term(&mut context, &states)?,
        None => context.arena.bool(false),
    };
    Ok(match solver.ask(context.arena, &Query::new([premise], goal)) {
        Answer::Proved => Entailment::Holds,
        Answer::Refuted(_) => Entailment::Fails,
        Answer::Unknown(_) => Entailment::Unknown,
    })
}
