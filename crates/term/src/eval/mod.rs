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
pub(crate) use model::mix;
pub use model::{Model, Value};
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
            Op::Ite => {
                if value(0).bool() {
                    value(1)
                } else {
                    value(2)
                }
            }
            Op::Load(bytes) => Value::Bits(memory::load(
                self.arena,
                self.model,
                &|t| self.values[&t],
                value(0).memory(),
                value(1).bits(),
                bytes,
            )),
            Op::Store(_) | Op::Fill | Op::Copy => Value::Memory(term),
            Op::Apply(_) if node.sort == Sort::Memory => Value::Memory(term),
            Op::Apply(func) => {
                let args: Vec<Value> = node.args.iter().map(|arg| self.values[arg]).collect();
                match self.arena.func(func) {
                    Func::Float(_) => apply(self.arena, node.op, &args),
                    Func::Opaque { .. } => memory::opaque(self.arena, self.model, &|t| self.values[&t], func, &args),
                }
            }
            op => {
                let args: smallvec::SmallVec<[Value; 4]> = node.args.iter().map(|arg| self.values[arg]).collect();
                apply(self.arena, op, &args)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_see_stores_fills_and_copies() {
        let mut arena = Arena::new();
        let a = &mut arena;
        let (memory, c) = (a.var("m", Sort::Memory), a.var("c", Sort::Bool));
        let p = a.var("p", Sort::Bv(64));
        let address = |a: &mut Arena, offset: i64| a.add_const(p, offset);
        let (value, byte) = (a.bv(32, 0x1122_3344), a.bv(8, 0x77));
        let (n, start) = (a.var("n", Sort::Bv(64)), address(a, 2));
        let stored = a.store(memory, p, value);
        let filled = a.fill(stored, start, byte, n);
        let chosen = a.ite(c, filled, stored);
        let target = address(a, 100);
        let copied = a.copy(chosen, target, chosen, p, n);
        let inside = a.load(copied, target, 4);
        let mut model = Model::seeded(1);
        let set = |model: &mut Model, a: &Arena, name: &str, value: u64| {
            model.set_bits(a.find_var(name).expect("declared"), Bits::new(64, value));
        };
        set(&mut model, a, "p", 0x1000);
        set(&mut model, a, "n", 3);
        model.set_bool(a.find_var("c").expect("declared"), true);
        model.set_byte(a.find_var("m").expect("declared"), 0x1000 + 103, 0xee);
        // Three bytes copied: two of the value, one of the fill; the fourth is the base memory's.
        assert_eq!(eval(a, inside, &model).bits(), Bits::new(32, 0xee77_3344));
        model.set_bool(a.find_var("c").expect("declared"), false);
        assert_eq!(eval(a, inside, &model).bits(), Bits::new(32, 0xee22_3344));
    }

    #[test]
    fn opaque_functions_see_the_content_of_memories() {
        let mut arena = Arena::new();
        let a = &mut arena;
        let (memory, p) = (a.var("m", Sort::Memory), a.var("p", Sort::Bv(64)));
        let (x, y, q) = (a.bv(8, 1), a.bv(8, 2), a.var("q", Sort::Bv(64)));
        let (first, second) = (a.store(memory, p, x), a.store(memory, q, y));
        let (one, two) = (a.store(first, q, y), a.store(second, p, x));
        let length = |a: &mut Arena, m: TermId| a.apply("strlen", Sort::Bv(64), &[m, p]);
        let (one, two) = (length(a, one), length(a, two));
        let base = length(a, memory);
        assert_ne!(one, two);
        let mut model = Model::seeded(7);
        assert_eq!(eval(a, one, &model), eval(a, two, &model));
        assert_ne!(eval(a, one, &model), eval(a, base, &model));
        // At one address the order of the stores matters.
        let (p, q) = (a.find_var("p").expect("declared"), a.find_var("q").expect("declared"));
        model.set_bits(p, Bits::new(64, 64));
        model.set_bits(q, Bits::new(64, 64));
        assert_ne!(eval(a, one, &model), eval(a, two, &model));
    }

    #[test]
    fn the_same_seed_gives_the_same_values() {
        let mut arena = Arena::new();
        let x = arena.var("x", Sort::Bv(200));
        assert_eq!(eval(&arena, x, &Model::seeded(9)), eval(&arena, x, &Model::seeded(9)));
        assert_ne!(eval(&arena, x, &Model::seeded(9)), eval(&arena, x, &Model::seeded(10)));
    }
}
