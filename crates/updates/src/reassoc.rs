//! Sums and products as multisets: the mode in which floating-point operations may be regrouped.
//!
//! A sum is flattened through the sums inside it and becomes the sorted list of its summands, signs included; a product
//! likewise. Zeros in sums and ones in products are dropped. Only final values are rewritten, each term once.

use crate::scalar::{Constant, Op, Scalar};
use crate::symbolic::Backing;
use crate::terms::{Shape, TermRef, Terms};
use rustc_hash::FxHashMap;

/// Rewrites terms to multisets.
#[derive(Debug, Default)]
pub struct Regroup {
    done: FxHashMap<TermRef, TermRef>,
    /// Operands handled so far; past the limit terms stay as they are.
    work: u64,
}

/// Most operands of all multisets together.
const MOST: u64 = 40_000_000;

impl Regroup {
    /// The normal form of a term.
    pub fn normal(&mut self, terms: &mut Terms, term: TermRef) -> TermRef {
        // Post-order without recursion: sums may be a million operations deep.
        let mut stack = vec![(term.plain(), false)];
        while let Some((current, ready)) = stack.pop() {
            if self.done.contains_key(&current) {
                continue;
            }
            if self.work > MOST {
                self.done.insert(current, current);
                continue;
            }
            let leaves = self.leaves(terms, current);
            self.work += leaves.len() as u64;
            if !ready {
                stack.push((current, true));
                stack.extend(leaves.iter().map(|l| (l.plain(), false)).filter(|(l, _)| !self.done.contains_key(l)));
                continue;
            }
            let normal = self.rebuild(terms, current, &leaves);
            self.done.insert(current, normal);
        }
        self.of(term)
    }

    fn of(&self, term: TermRef) -> TermRef {
        self.done.get(&term.plain()).copied().unwrap_or(term.plain()).turn(term.flag())
    }

    /// The parts that are normalised first: all summands of a sum, all factors of a product, else the operands.
    fn leaves(&self, terms: &Terms, term: TermRef) -> Vec<TermRef> {
        let Some((op, ty)) = group(terms, term) else { return terms.operands(term).to_vec() };
        let mut leaves = Vec::new();
        let mut stack = vec![term];
        while let Some(current) = stack.pop() {
            // The sign of a product moves to the product; the sign of a sum to each of its summands.
            if group(terms, current) == Some((op, ty)) {
                let flag = current.flag();
                stack.extend(terms.operands(current).iter().map(|o| if op == Op::Add { o.turn(flag) } else { *o }));
            } else {
                leaves.push(current);
            }
        }
        leaves
    }

    fn rebuild(&self, terms: &mut Terms, term: TermRef, leaves: &[TermRef]) -> TermRef {
        let Some((op, ty)) = group(terms, term) else {
            let operands: Vec<TermRef> = leaves.iter().map(|l| self.of(*l)).collect();
            return terms.make(terms.shape(term), &operands);
        };
        let mut parts: Vec<TermRef> = leaves.iter().map(|l| self.of(*l)).collect();
        let mut negative = false;
        if op == Op::Mul {
            negative = parts.iter().filter(|p| p.flag()).count() % 2 == 1;
            parts.iter_mut().for_each(|p| *p = p.plain());
        }
        // Where regrouping is allowed, the start values of partial sums and products do not count.
        let neutral = if op == Op::Add { 0.0 } else { 1.0 };
        parts.retain(|p| terms.known(*p).and_then(Constant::as_float) != Some(neutral));
        parts.sort_unstable();
        match parts.as_slice() {
            [] => return terms.constant(Constant::float(ty, neutral)),
            [only] => return only.turn(negative),
            _ => {}
        }
        terms.make(Shape::Multiset(op, ty), &parts).turn(negative)
    }
}

fn group(terms: &Terms, term: TermRef) -> Option<(Op, Scalar)> {
    match terms.shape(term) {
        Shape::Binary(op @ (Op::Add | Op::Mul), ty) if ty.is_float() => Some((op, ty)),
        _ => None,
    }
}
