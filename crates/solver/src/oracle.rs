//! Small questions about addresses, asked while a large one is prepared.
//!
//! Whether a load meets a store often follows from several facts together (two arrays are disjoint, two indices are in
//! bounds). Asked alone this takes a fraction of a millisecond; left inside the large question, where the values loaded are
//! added and compared, it makes the difference between milliseconds and never. Each answer removes a choice from the
//! large question; no answer costs nothing but time, which is limited by counts.

use crate::SolverStatistics;
use crate::backend::Reply;
use crate::basis;
use crate::model::{is_evaluable, model_of};
use crate::sat::{self, BitLimits};
use crate::smt::Question;
use crate::solver::key_of;
use interrupt::Interrupt;
use rustc_hash::FxHashMap;
use term::eval::{Evaluator, Model};
use term::{Arena, Op, Sort, TermId};

/// Conflicts that one small question may cost.
const CONFLICTS: u64 = 300;

/// A large sum takes its time without a conflict.
const PROPAGATIONS: u64 = 1_000_000;

/// How many small questions without a decision are asked for one large one.
const MAX_FRUITLESS: u32 = 8;

/// How many states are remembered in which facts about addresses hold.
const MAX_STATES: usize = 16;

/// What small questions leave behind for the next ones.
#[derive(Default)]
pub(crate) struct AddressMemory {
    excluded: FxHashMap<u128, bool>,
    states: Vec<Model>,
}

/// Asks small questions.
pub(crate) struct Oracle<'a> {
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) audited: bool,
    pub(crate) memory: &'a mut AddressMemory,
    pub(crate) statistics: &'a mut SolverStatistics,
    pub(crate) fruitless: u32,
}

impl Oracle<'_> {
    /// Is nothing asked any more?
    pub(crate) fn is_tired(&self) -> bool {
        self.fruitless >= MAX_FRUITLESS || self.interrupt.is_tripped()
    }

    /// Is the condition false wherever the facts hold?
    pub(crate) fn excludes(&mut self, arena: &mut Arena, facts: &[TermId], condition: TermId) -> bool {
        let mut assertions = facts.to_vec();
        assertions.push(condition);
        if self.happens(arena, &assertions) {
            return false;
        }
        let distances = compared_sums(arena, &assertions);
        let basis = basis::change(arena, &assertions, &distances);
        let question = Question::new(arena, &basis);
        let key = key_of(&question);
        if let Some(excluded) = self.memory.excluded.get(&key) {
            return *excluded;
        }
        let (interrupt, audited) = (self.interrupt, self.audited);
        let limits = BitLimits { conflicts: CONFLICTS, propagations: PROPAGATIONS, interrupt, audited };
        let (reply, work) = sat::ask(arena, &basis, &question, limits);
        self.statistics.address_calls += 1;
        self.statistics.worked(&work);
        let excluded = reply == Ok(Reply::Unsat);
        if !excluded {
            self.fruitless += 1;
        }
        if let Ok(Reply::Sat(values)) = &reply
            && is_evaluable(arena, &assertions)
        {
            self.memory.states.truncate(MAX_STATES - 1);
            self.memory.states.insert(0, model_of(arena, &question, values));
        }
        self.memory.excluded.insert(key, excluded);
        excluded
    }

    /// Is there a remembered state in which all assertions hold?
    fn happens(&self, arena: &Arena, assertions: &[TermId]) -> bool {
        if self.memory.states.is_empty() || !is_evaluable(arena, assertions) {
            return false;
        }
        self.memory.states.iter().any(|state| {
            let mut evaluator = Evaluator::new(arena, state);
            assertions.iter().rev().all(|assertion| evaluator.bool(*assertion))
        })
    }
}

/// The 64-bit sums that are compared with something, those of the last assertion first.
fn compared_sums(arena: &Arena, assertions: &[TermId]) -> Vec<TermId> {
    let mut sums = Vec::new();
    for assertion in assertions.iter().rev() {
        for atom in arena.topological(&[*assertion]) {
            if matches!(arena.op(atom), Op::Eq | Op::Ult | Op::Slt) && arena.sort(arena.arg(atom, 0)) == Sort::Bv(64) {
                sums.extend(arena.args(atom).iter().filter(|arg| arena.op(**arg) == Op::Add));
            }
        }
    }
    sums
}
