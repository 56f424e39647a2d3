//! Evaluation of many terms in many models at once.

use super::{Evaluator, Model, Value};
use crate::{Arena, Bits, Sort, TermId};

/// The values of one term, one per model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Column {
    /// Truth values as 0 and 1, and bit vectors of up to 64 bits.
    Narrow(Vec<u64>),
    /// Wider bit vectors.
    Wide(Vec<Bits>),
    /// Memories have no value of their own here.
    Memory,
}

/// A list of terms to be evaluated in many models.
pub struct Batch<'a> {
    arena: &'a Arena,
    terms: Vec<TermId>,
}

impl<'a> Batch<'a> {
    /// Prepares the evaluation of some terms.
    pub fn new(arena: &'a Arena, terms: &[TermId]) -> Batch<'a> {
        Batch { arena, terms: terms.to_vec() }
    }

    /// One column per term, one row per model.
    pub fn run(&self, models: &[Model]) -> Vec<Column> {
        let mut columns: Vec<Column> = self
            .terms
            .iter()
            .map(|term| match self.arena.sort(*term) {
                Sort::Bool => Column::Narrow(Vec::with_capacity(models.len())),
                Sort::Bv(width) if width <= 64 => Column::Narrow(Vec::with_capacity(models.len())),
                Sort::Bv(_) => Column::Wide(Vec::with_capacity(models.len())),
                Sort::Memory => Column::Memory,
            })
            .collect();
        for model in models {
            let mut evaluator = Evaluator::new(self.arena, model);
            for (term, column) in self.terms.iter().zip(&mut columns) {
                match (column, evaluator.eval(*term)) {
                    (Column::Narrow(values), Value::Bool(value)) => values.push(u64::from(value)),
                    (Column::Narrow(values), Value::Bits(value)) => values.push(value.low()),
                    (Column::Wide(values), Value::Bits(value)) => values.push(value),
                    _ => {}
                }
            }
        }
        columns
    }
}
