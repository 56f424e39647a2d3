//! An instance of a rule without what the rule did not look at.
//!
//! Below a depth every operand becomes a variable, the same one for the same term. What holds for all values of that
//! variable holds for the term: an instance of a proved pattern is proved. A pattern that is not valid says nothing; the
//! next one is cut deeper.

use rustc_hash::FxHashMap;
use term::{Arena, Op, Sort, TermId};

/// Larger patterns are not made.
const MOST_TERMS: usize = 3000;

/// Copies terms from one arena to another, as they are written.
pub(crate) struct Cutter<'a> {
    from: &'a Arena,
    to: &'a mut Arena,
    /// Variables by the term that they stand for.
    variables: FxHashMap<TermId, TermId>,
    copies: FxHashMap<(TermId, u32), TermId>,
    cut: bool,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(from: &'a Arena, to: &'a mut Arena) -> Cutter<'a> {
        Cutter { from, to, variables: FxHashMap::default(), copies: FxHashMap::default(), cut: false }
    }

    /// The claim that two terms are equal, cut at a depth, and whether anything was cut. Nothing if that is too large.
    pub(crate) fn equation(mut self, before: TermId, after: TermId, depth: u32) -> Option<(TermId, bool)> {
        let (mut one, mut other) = (self.copy(before, depth)?, self.copy(after, depth)?);
        if self.to.sort(one) == Sort::Memory {
            // Two memories are the same if a byte anywhere is.
            let anywhere = self.to.var("anywhere", Sort::Bv(64));
            one = self.to.raw(Op::Load(1), &[one, anywhere]);
            other = self.to.raw(Op::Load(1), &[other, anywhere]);
        }
        Some((self.to.raw(Op::Eq, &[one, other]), self.cut))
    }

    fn copy(&mut self, term: TermId, depth: u32) -> Option<TermId> {
        if let Some(copy) = self.copies.get(&(term, depth)) {
            return Some(*copy);
        }
        if self.copies.len() > MOST_TERMS {
            return None;
        }
        let copy = match self.from.op(term) {
            Op::Const(_) => self.to.constant(self.from.as_const(term)?),
            Op::Var(_) => self.variable(term),
            Op::True | Op::False => self.to.bool(self.from.as_bool(term)?),
            _ if depth == 0 => {
                self.cut = true;
                self.variable(term)
            }
            op => {
                let mut args = Vec::new();
                for arg in self.from.args(term) {
                    args.push(self.copy(*arg, depth - 1)?);
                }
                let op = match op {
                    Op::Apply(func) => Op::Apply(self.to.func_id(self.from.func(func).clone())),
                    op => op,
                };
                self.to.raw(op, &args)
            }
        };
        self.copies.insert((term, depth), copy);
        Some(copy)
    }

    fn variable(&mut self, term: TermId) -> TermId {
        let (number, sort) = (self.variables.len(), self.from.sort(term));
        *self.variables.entry(term).or_insert_with(|| self.to.var(&format!("{number}.{sort}"), sort))
    }
}
