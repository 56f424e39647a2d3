//! Evaluation of many terms in many models at once.
//!
//! Terms are computed one after another, each for all models: the inner loops run over plain columns of machine words
//! and the operator is looked up once per term. What does not fit 64 bits, and floating point, goes value by value.

use super::{Model, Value, apply, memory};
use crate::{Arena, Bits, Func, Op, Sort, TermId};
use rustc_hash::FxHashMap;

/// The values of one term, one per model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Column {
    /// Truth values as 0 and 1, and bit vectors of up to 64 bits.
    Narrow(Vec<u64>),
    /// Wider bit vectors.
    Wide(Vec<Bits>),
    /// Memories: the variable, store, fill, copy or application whose content it is.
    Memory(Vec<TermId>),
}

/// A list of terms to be evaluated in many models.
pub struct Batch<'a> {
    arena: &'a Arena,
    terms: Vec<TermId>,
    order: Vec<TermId>,
    /// Position of each term in `order`.
    places: FxHashMap<TermId, usize>,
}

impl<'a> Batch<'a> {
    /// Prepares the evaluation of some terms.
    pub fn new(arena: &'a Arena, terms: &[TermId]) -> Batch<'a> {
        let order = arena.topological(terms);
        let places = order.iter().enumerate().map(|(i, term)| (*term, i)).collect();
        Batch { arena, terms: terms.to_vec(), order, places }
    }

    /// One column per term, one row per model.
    pub fn run(&self, models: &[Model]) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::with_capacity(self.order.len());
        for term in &self.order {
            let column = self.column(*term, &columns, models);
            columns.push(column);
        }
        self.terms.iter().map(|term| columns[self.places[term]].clone()).collect()
    }

    fn column(&self, term: TermId, columns: &[Column], models: &[Model]) -> Column {
        let node = self.arena.node(term);
        let row = |t: TermId, i: usize| self.value(t, &columns[self.places[&t]], i);
        let rows = 0..models.len();
        match node.op {
            Op::Var(var) => self.collect(node.sort, models.iter().map(|model| model.var(self.arena, var, term))),
            Op::True => Column::Narrow(vec![1; models.len()]),
            Op::False => Column::Narrow(vec![0; models.len()]),
            Op::Const(_) => {
                let value = Value::Bits(self.arena.as_const(term).expect("a constant"));
                self.collect(node.sort, rows.map(|_| value))
            }
            Op::Store(_) | Op::Fill | Op::Copy => Column::Memory(vec![term; models.len()]),
            Op::Apply(_) if node.sort == Sort::Memory => Column::Memory(vec![term; models.len()]),
            Op::Load(bytes) => self.collect(
                node.sort,
                rows.map(|i| {
                    let (base, address) = (row(node.args[0], i).memory(), row(node.args[1], i).bits());
                    Value::Bits(memory::load(self.arena, &models[i], &|t| row(t, i), base, address, bytes))
                }),
            ),
            Op::Apply(func) if matches!(self.arena.func(func), Func::Opaque { .. }) => self.collect(
                node.sort,
                rows.map(|i| {
                    let args: Vec<Value> = node.args.iter().map(|arg| row(*arg, i)).collect();
                    memory::opaque(self.arena, &models[i], &|t| row(t, i), func, &args)
                }),
            ),
            op => {
                let words: Option<Vec<&[u64]>> =
                    node.args.iter().map(|arg| narrow(&columns[self.places[arg]])).collect();
                let widths = |i: usize| self.arena.sort(node.args[i]).width().unwrap_or(1);
                if let (Some(words), true) =
                    (words, node.sort.width().is_none_or(|w| w <= 64) && node.sort != Sort::Memory)
                    && let Some(out) = word_column(op, &words, node.sort.width().unwrap_or(1), &widths)
                {
                    return Column::Narrow(out);
                }
                self.collect(
                    node.sort,
                    rows.map(|i| {
                        let args: smallvec::SmallVec<[Value; 4]> = node.args.iter().map(|arg| row(*arg, i)).collect();
                        apply(self.arena, op, &args)
                    }),
                )
            }
        }
    }

    fn value(&self, term: TermId, column: &Column, i: usize) -> Value {
        match (column, self.arena.sort(term)) {
            (Column::Narrow(words), Sort::Bv(width)) => Value::Bits(Bits::new(width, words[i])),
            (Column::Narrow(words), _) => Value::Bool(words[i] == 1),
            (Column::Wide(values), _) => Value::Bits(values[i]),
            (Column::Memory(terms), _) => Value::Memory(terms[i]),
        }
    }

    fn collect(&self, sort: Sort, values: impl Iterator<Item = Value>) -> Column {
        match sort {
            Sort::Bool => Column::Narrow(values.map(|value| u64::from(value.bool())).collect()),
            Sort::Bv(width) if width <= 64 => Column::Narrow(values.map(|value| value.bits().low()).collect()),
            Sort::Bv(_) => Column::Wide(values.map(Value::bits).collect()),
            Sort::Memory => Column::Memory(values.map(Value::memory).collect()),
        }
    }
}

fn narrow(column: &Column) -> Option<&[u64]> {
    match column {
        Column::Narrow(words) => Some(words),
        Column::Wide(_) | Column::Memory(_) => None,
    }
}

fn mask(width: u16) -> u64 {
    u64::MAX >> (64 - width)
}

/// The word read as signed.
fn signed(x: u64, width: u16) -> i64 {
    let shift = 64 - u32::from(width);
    ((x << shift) as i64) >> shift
}

/// An operator on columns of words; `width` is the result's. `None` where it is left to the general evaluator.
fn word_column(op: Op, args: &[&[u64]], width: u16, widths: &dyn Fn(usize) -> u16) -> Option<Vec<u64>> {
    let m = mask(width);
    let one = |f: &dyn Fn(u64) -> u64| -> Vec<u64> { args[0].iter().map(|x| f(*x) & m).collect() };
    let fold = |f: fn(u64, u64) -> u64| -> Vec<u64> {
        let mut out = args[0].to_vec();
        for column in &args[1..] {
            out.iter_mut().zip(*column).for_each(|(x, y)| *x = f(*x, *y) & m);
        }
        out
    };
    let pair =
        |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> { args[0].iter().zip(args[1]).map(|(x, y)| f(*x, *y) & m).collect() };
    let bits = u64::from(width);
    Some(match op {
        Op::Not => one(&|x| x ^ 1),
        Op::And | Op::BvAnd => fold(|x, y| x & y),
        Op::Or | Op::BvOr => fold(|x, y| x | y),
        Op::BvXor => fold(|x, y| x ^ y),
        Op::Add => fold(u64::wrapping_add),
        Op::Mul => fold(u64::wrapping_mul),
        Op::Ite => {
            args[0].iter().zip(args[1].iter().zip(args[2])).map(|(c, (a, b))| if *c == 1 { *a } else { *b }).collect()
        }
        Op::Eq => pair(&|x, y| u64::from(x == y)),
        Op::Ult => pair(&|x, y| u64::from(x < y)),
        Op::Slt => {
            let w = widths(0);
            pair(&|x, y| u64::from(signed(x, w) < signed(y, w)))
        }
        Op::Udiv => pair(&|x, y| x.checked_div(y).unwrap_or(u64::MAX)),
        Op::Urem => pair(&|x, y| x.checked_rem(y).unwrap_or(x)),
        Op::Sdiv => pair(&|x, y| match (signed(x, width), signed(y, width)) {
            (a, 0) => {
                if a < 0 {
                    1
                } else {
                    u64::MAX
                }
            }
            (a, b) => a.wrapping_div(b) as u64,
        }),
        Op::Srem => pair(&|x, y| match (signed(x, width), signed(y, width)) {
            (a, 0) => a as u64,
            (a, b) => a.wrapping_rem(b) as u64,
        }),
        Op::BvNot => one(&|x| !x),
        Op::Shl => pair(&|x, y| if y >= bits { 0 } else { x << y }),
        Op::Lshr => pair(&|x, y| if y >= bits { 0 } else { x >> y }),
        Op::Ashr => pair(&|x, y| (signed(x, width) >> y.min(bits - 1)) as u64),
        Op::Extract { lo, .. } => one(&|x| x >> lo),
        Op::Concat => {
            let mut out = args[0].to_vec();
            for (i, column) in args.iter().enumerate().skip(1) {
                let shift = widths(i);
                out.iter_mut().zip(*column).for_each(|(x, y)| *x = *x << shift | *y);
            }
            out
        }
        Op::Zext(_) => args[0].to_vec(),
        Op::Sext(_) => {
            let w = widths(0);
            one(&|x| signed(x, w) as u64)
        }
        Op::Popcount => one(&|x| u64::from(x.count_ones())),
        Op::TrailingZeros => one(&|x| u64::from(x.trailing_zeros()).min(bits)),
        Op::LeadingZeros => one(&|x| u64::from(x.leading_zeros()) - (64 - bits)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::generate::Generator;

    #[test]
    fn agrees_with_one_at_a_time() {
        for seed in 0..20 {
            let mut arena = Arena::new();
            let mut generator = Generator::new(&mut arena, seed << 32);
            let terms: Vec<TermId> = (0..150).map(|_| generator.step(&mut arena)).collect();
            let models: Vec<Model> = (0..12).map(|i| Model::seeded(seed * 12 + i)).collect();
            let batch = Batch::new(&arena, &terms);
            let columns = batch.run(&models);
            for (i, model) in models.iter().enumerate() {
                let mut evaluator = Evaluator::new(&arena, model);
                for (term, column) in terms.iter().zip(&columns) {
                    assert_eq!(batch.value(*term, column, i), evaluator.eval(*term), "{}", arena.text(*term));
                }
            }
        }
    }
}
