//! From a solver's values to a checked model.
//!
//! A solver's `sat` is only a proposal: the values become a [`Model`] of the arena, and the original question is
//! evaluated in it.

use crate::Query;
use crate::smt::{Meaning, Question};
use term::eval::{Evaluator, Model, Value};
use term::{Arena, Op, Sort, TermId};

/// The model that a solver's values describe.
pub(crate) fn model_of(arena: &Arena, question: &Question, values: &[Value]) -> Model {
    let mut model = Model::default();
    for meaning in &question.meanings {
        match *meaning {
            Meaning::Var { var, value } => match values[value] {
                Value::Bits(bits) => model.set_bits(var, bits),
                Value::Bool(truth) => model.set_bool(var, truth),
                Value::Memory(_) => {}
            },
            Meaning::Byte { memory, address, value } => {
                if let (Value::Bits(address), Value::Bits(byte)) = (values[address], values[value]) {
                    model.set_byte(memory, address.low(), byte.low() as u8);
                }
            }
            Meaning::Result { .. } => {}
        }
    }
    // Operands come before their users, so each application finds the results that its operands need.
    for meaning in &question.meanings {
        if let Meaning::Result { term, value } = *meaning
            && let Op::Apply(func) = arena.op(term)
        {
            let mut evaluator = Evaluator::new(arena, &model);
            let args: Vec<Value> = arena.args(term).iter().map(|arg| evaluator.eval(*arg)).collect();
            model.set_result(func, args, values[value]);
        }
    }
    model
}

/// Can the evaluator compute the terms? It has no value for a memory that an opaque function returns, and does not
/// compare memories.
pub(crate) fn is_evaluable(arena: &Arena, roots: &[TermId]) -> bool {
    arena.topological(roots).iter().all(|term| match arena.op(*term) {
        Op::Apply(_) => arena.sort(*term) != Sort::Memory,
        Op::Eq => arena.sort(arena.arg(*term, 0)) != Sort::Memory,
        _ => true,
    })
}

/// Does the model satisfy the hypotheses and falsify the goal?
pub(crate) fn refutes(arena: &Arena, query: &Query, model: &Model) -> bool {
    let mut evaluator = Evaluator::new(arena, model);
    !evaluator.bool(query.goal) && query.hypotheses.iter().all(|hypothesis| evaluator.bool(*hypothesis))
}
