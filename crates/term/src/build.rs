//! Constructors by name. Each one only chooses the operator; [`crate::rules`] does the rest.

use crate::{Arena, Bits, FloatOp, Func, Op, Sort, TermId};

impl Arena {
    /// A truth constant.
    pub fn bool(&mut self, value: bool) -> TermId {
        self.raw(if value { Op::True } else { Op::False }, &[])
    }

    /// A constant of up to 64 bits.
    pub fn bv(&mut self, width: u16, value: u64) -> TermId {
        self.constant(Bits::new(width, value))
    }

    /// A signed constant, extended or truncated to the width.
    pub fn bv_i64(&mut self, width: u16, value: i64) -> TermId {
        self.constant(Bits::from_i64(width, value))
    }

    /// Boolean negation.
    pub fn bool_not(&mut self, a: TermId) -> TermId {
        self.make(Op::Not, &[a])
    }

    /// Conjunction.
    pub fn bool_and(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::And, &[a, b])
    }

    /// Conjunction of any number of terms.
    pub fn bool_and_all(&mut self, terms: &[TermId]) -> TermId {
        match terms {
            [] => self.bool(true),
            [one] => *one,
            _ => self.make(Op::And, terms),
        }
    }

    /// Disjunction.
    pub fn bool_or(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Or, &[a, b])
    }

    /// Disjunction of any number of terms.
    pub fn bool_or_all(&mut self, terms: &[TermId]) -> TermId {
        match terms {
            [] => self.bool(false),
            [one] => *one,
            _ => self.make(Op::Or, terms),
        }
    }

    /// Exclusive or of truth values.
    pub fn bool_xor(&mut self, a: TermId, b: TermId) -> TermId {
        let same = self.eq(a, b);
        self.bool_not(same)
    }

    /// Implication.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let not_a = self.bool_not(a);
        self.bool_or(not_a, b)
    }

    /// `if condition then a else b`, of any sort.
    pub fn ite(&mut self, condition: TermId, a: TermId, b: TermId) -> TermId {
        self.make(Op::Ite, &[condition, a, b])
    }

    /// Equality of bit vectors or truth values.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Eq, &[a, b])
    }

    /// Disequality.
    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let eq = self.eq(a, b);
        self.bool_not(eq)
    }

    /// Unsigned less-than.
    pub fn ult(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Ult, &[a, b])
    }

    /// Unsigned less-or-equal.
    pub fn ule(&mut self, a: TermId, b: TermId) -> TermId {
        let gt = self.ult(b, a);
        self.bool_not(gt)
    }

    /// Signed less-than.
    pub fn slt(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Slt, &[a, b])
    }

    /// Signed less-or-equal.
    pub fn sle(&mut self, a: TermId, b: TermId) -> TermId {
        let gt = self.slt(b, a);
        self.bool_not(gt)
    }

    /// Sum.
    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Add, &[a, b])
    }

    /// Sum with a constant.
    pub fn add_const(&mut self, a: TermId, value: i64) -> TermId {
        let width = self.width(a);
        let c = self.bv_i64(width, value);
        self.add(a, c)
    }

    /// Two's complement.
    pub fn neg(&mut self, a: TermId) -> TermId {
        let minus_one = self.bv_i64(self.width(a), -1);
        self.mul(a, minus_one)
    }

    /// Difference.
    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        let minus_b = self.neg(b);
        self.add(a, minus_b)
    }

    /// Product.
    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Mul, &[a, b])
    }

    /// Unsigned quotient.
    pub fn udiv(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Udiv, &[a, b])
    }

    /// Unsigned remainder.
    pub fn urem(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Urem, &[a, b])
    }

    /// Signed quotient.
    pub fn sdiv(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Sdiv, &[a, b])
    }

    /// Signed remainder.
    pub fn srem(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::Srem, &[a, b])
    }

    /// Bitwise complement.
    pub fn not(&mut self, a: TermId) -> TermId {
        self.make(Op::BvNot, &[a])
    }

    /// Bitwise and.
    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::BvAnd, &[a, b])
    }

    /// Bitwise or.
    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::BvOr, &[a, b])
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        self.make(Op::BvXor, &[a, b])
    }

    /// Shift left.
    pub fn shl(&mut self, a: TermId, amount: TermId) -> TermId {
        self.make(Op::Shl, &[a, amount])
    }

    /// Logical shift right.
    pub fn lshr(&mut self, a: TermId, amount: TermId) -> TermId {
        self.make(Op::Lshr, &[a, amount])
    }

    /// Arithmetic shift right.
    pub fn ashr(&mut self, a: TermId, amount: TermId) -> TermId {
        self.make(Op::Ashr, &[a, amount])
    }

    /// Bits `lo..=hi`.
    pub fn extract(&mut self, a: TermId, hi: u16, lo: u16) -> TermId {
        if lo == 0 && hi + 1 == self.width(a) {
            return a;
        }
        self.make(Op::Extract { hi, lo }, &[a])
    }

    /// The low `width` bits.
    pub fn truncate(&mut self, a: TermId, width: u16) -> TermId {
        self.extract(a, width - 1, 0)
    }

    /// Bit `i` as a truth value.
    pub fn bit(&mut self, a: TermId, i: u16) -> TermId {
        let bit = self.extract(a, i, i);
        let one = self.bv(1, 1);
        self.eq(bit, one)
    }

    /// `high` above `low`.
    pub fn concat(&mut self, high: TermId, low: TermId) -> TermId {
        self.make(Op::Concat, &[high, low])
    }

    /// Concatenation of parts, most significant first.
    pub fn concat_all(&mut self, parts: &[TermId]) -> TermId {
        match parts {
            [one] => *one,
            _ => self.make(Op::Concat, parts),
        }
    }

    /// Zero extension (the term itself if it has that width already).
    pub fn zext(&mut self, a: TermId, width: u16) -> TermId {
        if self.width(a) == width { a } else { self.make(Op::Zext(width), &[a]) }
    }

    /// Sign extension (the term itself if it has that width already).
    pub fn sext(&mut self, a: TermId, width: u16) -> TermId {
        if self.width(a) == width { a } else { self.make(Op::Sext(width), &[a]) }
    }

    /// A truth value as a bit vector: 1 or 0.
    pub fn bool_to_bv(&mut self, a: TermId, width: u16) -> TermId {
        let (one, zero) = (self.bv(width, 1), self.bv(width, 0));
        self.ite(a, one, zero)
    }

    /// Number of one bits.
    pub fn popcount(&mut self, a: TermId) -> TermId {
        self.make(Op::Popcount, &[a])
    }

    /// Zero bits below the lowest one; the width for zero.
    pub fn trailing_zeros(&mut self, a: TermId) -> TermId {
        self.make(Op::TrailingZeros, &[a])
    }

    /// Zero bits above the highest one; the width for zero.
    pub fn leading_zeros(&mut self, a: TermId) -> TermId {
        self.make(Op::LeadingZeros, &[a])
    }

    /// A floating-point operation.
    pub fn float(&mut self, op: FloatOp, args: &[TermId]) -> TermId {
        let func = self.func_id(Func::Float(op));
        self.make(Op::Apply(func), args)
    }

    /// An opaque function.
    pub fn apply(&mut self, name: &str, result: Sort, args: &[TermId]) -> TermId {
        let func = self.func_id(Func::Opaque { name: name.to_string(), result });
        self.make(Op::Apply(func), args)
    }

    /// `bytes` bytes of memory, little-endian.
    pub fn load(&mut self, memory: TermId, address: TermId, bytes: u16) -> TermId {
        self.make(Op::Load(bytes), &[memory, address])
    }

    /// Memory with `value` written at `address`, little-endian.
    pub fn store(&mut self, memory: TermId, address: TermId, value: TermId) -> TermId {
        let bytes = self.width(value) / 8;
        self.make(Op::Store(bytes), &[memory, address, value])
    }

    /// Memory with `length` copies of `byte` from `address` on: what memset does.
    pub fn fill(&mut self, memory: TermId, address: TermId, byte: TermId, length: TermId) -> TermId {
        self.make(Op::Fill, &[memory, address, byte, length])
    }

    /// Memory with `length` bytes of `source` at `from` written at `address`: what memmove does.
    pub fn copy(&mut self, memory: TermId, address: TermId, source: TermId, from: TermId, length: TermId) -> TermId {
        self.make(Op::Copy, &[memory, address, source, from, length])
    }
}
