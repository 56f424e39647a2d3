//! Linear sums modulo 2^w: `Σ cᵢ·tᵢ + c`.
//!
//! The canonical form of a sum has its terms sorted by handle, no zero coefficient, coefficient one bare, other
//! coefficients as `Mul(t, c)`, and the constant last. Addresses are compared in this form.
//!
//! Trust: full. Everything that compares addresses relies on [`Arena::difference`].

use crate::{Arena, Bits, Op, TermId};
use smallvec::SmallVec;

/// A sum of terms with coefficients and a constant, all of one width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// Terms that are no sums themselves, sorted, with their nonzero coefficients.
    pub terms: SmallVec<[(TermId, Bits); 4]>,
    /// The constant.
    pub constant: Bits,
}

impl Linear {
    /// The number zero.
    pub fn zero(width: u16) -> Linear {
        Linear { terms: SmallVec::new(), constant: Bits::zero(width) }
    }

    /// The linear form of a bit-vector term.
    pub fn of(arena: &Arena, term: TermId) -> Linear {
        let width = arena.width(term);
        let mut sum = Linear::zero(width);
        sum.add_scaled(arena, term, Bits::new(width, 1));
        sum
    }

    /// Is this term more than an atom in linear form?
    pub fn is_sum(arena: &Arena, term: TermId) -> bool {
        match arena.op(term) {
            Op::Add | Op::BvNot | Op::Const(_) => true,
            Op::Ite => arena.as_const(arena.arg(term, 1)).is_some() && arena.as_const(arena.arg(term, 2)).is_some(),
            Op::Sext(_) => arena.width(arena.arg(term, 0)) == 1,
            Op::Mul | Op::Shl => arena.as_const(arena.arg(term, 1)).is_some(),
            _ => false,
        }
    }

    /// Adds `scale · term`.
    pub fn add_scaled(&mut self, arena: &Arena, term: TermId, scale: Bits) {
        // Sums nest only a few levels (they are flattened when built), but terms as written may nest deeply.
        let mut todo: SmallVec<[(TermId, Bits); 8]> = SmallVec::new();
        todo.push((term, scale));
        while let Some((term, scale)) = todo.pop() {
            let args = arena.args(term);
            match arena.op(term) {
                Op::Const(_) => {
                    let value = arena.as_const(term).expect("a constant");
                    self.constant = self.constant.add(value.mul(scale));
                }
                Op::Add => todo.extend(args.iter().rev().map(|arg| (*arg, scale))),
                Op::BvNot => {
                    self.constant = self.constant.sub(scale);
                    todo.push((args[0], scale.neg()));
                }
                Op::Mul => match arena.as_const(args[1]) {
                    Some(c) => todo.push((args[0], scale.mul(c))),
                    None => self.add_atom(term, scale),
                },
                Op::Shl => match arena.as_const(args[1]) {
                    Some(c) => todo.push((args[0], scale.shl(c))),
                    None => self.add_atom(term, scale),
                },
                Op::Ite => self.add_choice(arena, term, scale),
                Op::Sext(width) => {
                    // Copies of a bit are minus the bit.
                    let bit = (arena.width(args[0]) == 1).then(|| arena.lookup_normal(Op::Zext(width), args)).flatten();
                    match bit {
                        Some(bit) => self.add_atom(bit, scale.neg()),
                        None => self.add_atom(term, scale),
                    }
                }
                _ => self.add_atom(term, scale),
            }
        }
    }

    /// `ite(c, a, b) = b + (a − b)·[c]` for constants `a` and `b`, where `[c]` is the choice between one and zero.
    fn add_choice(&mut self, arena: &Arena, term: TermId, scale: Bits) {
        let (c, a, b) = (arena.arg(term, 0), arena.arg(term, 1), arena.arg(term, 2));
        let bit = match (arena.as_const(a), arena.as_const(b)) {
            (Some(a), Some(b)) => arena.choice_bit(c, a.width()).map(|bit| (a, b, bit)),
            _ => None,
        };
        match bit {
            Some((a, b, bit)) if bit != term => {
                self.constant = self.constant.add(b.mul(scale));
                self.add_atom(bit, a.sub(b).mul(scale));
            }
            _ => self.add_atom(term, scale),
        }
    }

    fn add_atom(&mut self, term: TermId, scale: Bits) {
        match self.terms.binary_search_by_key(&term, |(t, _)| *t) {
            Ok(i) => {
                let sum = self.terms[i].1.add(scale);
                if sum.is_zero() {
                    self.terms.remove(i);
                } else {
                    self.terms[i].1 = sum;
                }
            }
            Err(i) => {
                if !scale.is_zero() {
                    self.terms.insert(i, (term, scale));
                }
            }
        }
    }

    /// Every coefficient and the constant multiplied.
    pub fn scaled(mut self, factor: Bits) -> Linear {
        self.terms.retain(|(_, c)| {
            *c = c.mul(factor);
            !c.is_zero()
        });
        self.constant = self.constant.mul(factor);
        self
    }

    /// The value, if no term is left.
    pub fn as_const(&self) -> Option<Bits> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The canonical term of this sum.
    pub fn build(&self, arena: &mut Arena) -> TermId {
        let width = self.constant.width();
        let one = Bits::new(width, 1);
        if self.terms.is_empty() {
            return arena.constant(self.constant);
        }
        if let [(term, c)] = self.terms[..]
            && arena.op(term) == Op::Ite
            && let (Some(a), Some(b)) = (arena.as_const(arena.arg(term, 1)), arena.as_const(arena.arg(term, 2)))
        {
            let yes = arena.constant(a.mul(c).add(self.constant));
            let no = arena.constant(b.mul(c).add(self.constant));
            return arena.make(Op::Ite, &[arena.arg(term, 0), yes, no]);
        }
        if let [(term, c)] = self.terms[..]
            && c == one.neg()
            && self.constant == one.neg()
        {
            return arena.make(Op::BvNot, &[term]);
        }
        let mut args: SmallVec<[TermId; 8]> = SmallVec::new();
        for (term, c) in &self.terms {
            args.push(if *c == one {
                *term
            } else {
                let c = arena.constant(*c);
                arena.make(Op::Mul, &[*term, c])
            });
        }
        if !self.constant.is_zero() {
            args.push(arena.constant(self.constant));
        }
        match args[..] {
            [single] => single,
            _ => arena.make(Op::Add, &args),
        }
    }
}

impl Arena {
    /// The choice between one and zero by a condition, if it has been made already.
    fn choice_bit(&self, condition: TermId, width: u16) -> Option<TermId> {
        let (one, zero) = (self.find_const(Bits::new(width, 1))?, self.find_const(Bits::zero(width))?);
        self.lookup_normal(Op::Ite, &[condition, one, zero])
    }

    /// `a - b`, if that is the same number whatever the variables are, as far as linear forms tell.
    pub fn difference(&self, a: TermId, b: TermId) -> Option<Bits> {
        let width = self.width(a);
        if a == b {
            return Some(Bits::zero(width));
        }
        let (base_a, offset_a) = self.split_offset(a);
        let (base_b, offset_b) = self.split_offset(b);
        if let (Some(x), Some(y)) = (base_a, base_b)
            && x == y
        {
            return Some(offset_a.sub(offset_b));
        }
        if !Linear::is_sum(self, a) && !Linear::is_sum(self, b) {
            return None;
        }
        let mut sum = Linear::zero(width);
        sum.add_scaled(self, a, Bits::new(width, 1));
        sum.add_scaled(self, b, Bits::new(width, 1).neg());
        sum.as_const()
    }

    /// Cheap view of `term` as base + constant: the base when there is one term only.
    fn split_offset(&self, term: TermId) -> (Option<TermId>, Bits) {
        match (self.op(term), self.args(term)) {
            (Op::Add, [base, c]) if self.as_const(*c).is_some() => (Some(*base), self.as_const(*c).expect("checked")),
            (Op::Const(_), _) => (None, self.as_const(term).expect("checked")),
            _ => (Some(term), Bits::zero(self.width(term))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sort;

    #[test]
    fn different_ways_to_an_address_give_one_term() {
        let mut arena = Arena::new();
        let a = &mut arena;
        let (p, i) = (a.var("p", Sort::Bv(64)), a.var("i", Sort::Bv(64)));
        let (three, eight) = (a.bv(64, 3), a.bv(64, 8));
        // p + 8*i + 16
        let scaled = a.mul(i, eight);
        let sum = a.add(p, scaled);
        let first = a.add_const(sum, 16);
        // ((i + 2) << 3) + p
        let more = a.add_const(i, 2);
        let shifted = a.shl(more, three);
        let second = a.add(shifted, p);
        assert_eq!(first, second);
        assert_eq!(a.text(first), "p + 8*i + 16");
        // p − ~(8·i) + 15
        let complement = a.not(scaled);
        let third = a.sub(p, complement);
        let third = a.add_const(third, 15);
        assert_eq!(first, third);
    }

    #[test]
    fn differences_of_addresses() {
        let mut arena = Arena::new();
        let a = &mut arena;
        let (p, i) = (a.var("p", Sort::Bv(64)), a.var("i", Sort::Bv(64)));
        let (near, far) = (a.add_const(p, -8), a.add(p, i));
        let beyond = a.add_const(far, 3);
        let before = a.len();
        assert_eq!(a.difference(near, p), Some(Bits::from_i64(64, -8)));
        assert_eq!(a.difference(p, p), Some(Bits::zero(64)));
        assert_eq!(a.difference(beyond, far), Some(Bits::new(64, 3)));
        assert_eq!(a.difference(far, p), None);
        assert_eq!(a.difference(p, i), None);
        assert_eq!(a.len(), before);
    }

    #[test]
    fn choices_between_constants_are_linear_in_their_condition() {
        let mut arena = Arena::new();
        let a = &mut arena;
        let (x, c) = (a.var("x", Sort::Bv(32)), a.var("c", Sort::Bool));
        let (five, two) = (a.bv(32, 5), a.bv(32, 2));
        let choice = a.ite(c, five, two);
        let sum = a.add(x, choice);
        let bit = a.bool_to_bv(c, 32);
        let three = a.bv(32, 3);
        let scaled = a.mul(bit, three);
        let other = a.add(x, scaled);
        let other = a.add_const(other, 2);
        assert_eq!(sum, other);
        assert_eq!(a.text(sum), "x + (c ? 3 : 0) + 2");
    }
}
