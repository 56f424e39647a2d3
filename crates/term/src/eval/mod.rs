//! Concrete evaluation of terms.
//!
//! A [`Model`] gives every variable a value: the stated one, or a pseudo-random one that only depends on the
//! model's seed and the variable. [`eval`] computes one term in one model, [`Evaluator`] many terms in one model,
//! [`Batch`] many terms in many models at once.
//!
//! Terms are evaluated in the order of their handles (operands come first), so depth costs no stack. Memories are
//! never materialised: a load walks the chain of stores beneath it.
//!
//! Trust: full. Constant folding in the rewrite rules is this evaluator, and witnesses are checked with it.

mod batch;
mod memory;
mod model;
mod operation;

pub use batch::{Batch, Column};
pub use model::{Model, Value};
pub(crate) use model::mix;
pub use operation::apply;

use crate::{Arena, Bits, Func, Op, Sort, TermId};
use rustc_hash::FxHashMap;

/// The value of one term in one model.
pub fn eval(arena: &Arena, term: TermId, model: &Model) -> Value {
    Evaluator::new(arena, model).eval(term)
}

/// Evaluates terms of one arena in one model, remembering what it has computed.
pub struct Evaluator<'a> {
    arena: &'a Arena,
    model: &'a Model,
    values: FxHashMap<TermId, Value>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator that knows nothing yet.
    pub fn new(arena: &'a Arena, model: &'a Model) -> Evaluator<'a> {
        Evaluator { arena, model, values: FxHashMap::default() }
    }

    /// The value of a term.
    pub fn eval(&mut self, term: TermId) -> Value {
        if let Some(value) = self.values.get(&term) {
            return *value;
        }
        for next in self.arena.topological_where(&[term], |t| !self.values.contains_key(&t)) {
            let value = self.step(next);
            self.values.insert(next, value);
        }
        self.values[&term]
    }

    /// The value of a bit-vector term. Panics on other sorts: a caller's bug.
    pub fn bits(&mut self, term: TermId) -> Bits {
        self.eval(term).bits()
    }

    /// The value of a truth term. Panics on other sorts: a caller's bug.
    pub fn bool(&mut self, term: TermId) -> bool {
        self.eval(term).bool()
    }

    fn step(&self, term: TermId) -> Value {
        let node = self.arena.node(term);
        let value = |i: usize| self.values[&node.args[i]];
        match node.op {
            Op::True => Value::Bool(true),
            Op::False => Value::Bool(false),
            Op::Const(_) => Value::Bits(self.arena.as_const(term).expect("a constant")),
            Op::Var(var) => self.model.var(self.arena, var, term),
            Op::Ite => if value(0).bool() { value(1) } else { value(2) },
            Op::Load(bytes) => {
                Value::Bits(memory::load(self.arena, self.model, &|t| self.values[&t], value(0).memory(), value(1).bits(), bytes))
            }
            Op::Store(_) | Op::Fill | Op::Copy => Value::Memory(term),
            Op::Apply(_) if node.sort == Sort::Memory => Value::Memory(term),
            Op::Apply(func) => {
                let args: Vec<Value> = node.args.iter().map(|arg| self.values[arg]).collect();
                match self.arena.func(func) {
                    Func::Float(_) => apply(self.arena, node.op, &args),
                    Func::Opaque { .. } => {
                        memory::opaque(self.arena, self.model, &|t| self.values[&t], func, &args)
                    }
                }
            }
            op => {
                let args: smallvec::SmallVec<[Value; 4]> = node.args.iter().map(|arg| self.values[arg]).collect();
                apply(self.arena, op, &args)
            }
        }
    }
}
