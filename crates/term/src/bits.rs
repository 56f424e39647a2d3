//! Bit-vector constants of 1 to 512 bits with SMT-LIB semantics.
//!
//! Division follows SMT-LIB: `x / 0` is all ones, `x % 0` is `x`. Callers that model a faulting division
//! guard it themselves.

use std::cmp::Ordering;
use std::fmt;

const LIMBS: usize = 8;

/// A bit vector. Bits above `width` are always zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits {
    width: u16,
    limbs: [u64; LIMBS],
}

impl Bits {
    /// The largest width.
    pub const MAX_WIDTH: u16 = 64 * LIMBS as u16;

    /// The low `width` bits of `value`.
    #[inline]
    pub fn new(width: u16, value: u64) -> Bits {
        assert!((1..=512).contains(&width), "bit vector of {width} bits");
        let value = if width < 64 { value & ((1 << width) - 1) } else { value };
        Bits { width, limbs: [value, 0, 0, 0, 0, 0, 0, 0] }
    }

    /// Almost all vectors fit one limb; operations on them skip the others.
    #[inline]
    fn is_narrow(self) -> bool {
        self.width <= 64
    }

    /// The low `width` bits of `value`.
    pub fn from_u128(width: u16, value: u128) -> Bits {
        Bits::from_limbs(width, &[value as u64, (value >> 64) as u64])
    }

    /// `value` sign-extended or truncated to `width` bits.
    pub fn from_i64(width: u16, value: i64) -> Bits {
        Bits::new(64, value as u64).sext_or_truncate(width)
    }

    /// Little-endian limbs; missing limbs are zero.
    pub fn from_limbs(width: u16, limbs: &[u64]) -> Bits {
        assert!((1..=512).contains(&width), "bit vector of {width} bits");
        let mut out = [0; LIMBS];
        for (o, l) in out.iter_mut().zip(limbs) {
            *o = *l;
        }
        Bits { width, limbs: out }.masked()
    }

    /// Little-endian bytes, 8 bits each.
    pub fn from_bytes(bytes: &[u8]) -> Bits {
        let mut limbs = [0u64; LIMBS];
        for (i, b) in bytes.iter().enumerate() {
            limbs[i / 8] |= u64::from(*b) << (8 * (i % 8));
        }
        Bits::from_limbs(8 * bytes.len() as u16, &limbs)
    }

    /// Little-endian bytes of a vector whose width is a multiple of 8.
    pub fn to_bytes(self) -> Vec<u8> {
        (0..usize::from(self.width) / 8).map(|i| (self.limbs[i / 8] >> (8 * (i % 8))) as u8).collect()
    }

    fn masked(mut self) -> Bits {
        let full = usize::from(self.width) / 64;
        let rest = self.width % 64;
        if rest != 0 {
            self.limbs[full] &= (1 << rest) - 1;
        }
        let used = full + usize::from(rest != 0);
        self.limbs[used..].fill(0);
        self
    }

    /// All zeros.
    pub fn zero(width: u16) -> Bits {
        Bits::new(width, 0)
    }

    /// All ones.
    pub fn ones(width: u16) -> Bits {
        Bits::zero(width).not()
    }

    /// Number of bits.
    pub fn width(self) -> u16 {
        self.width
    }

    /// Limbs, least significant first.
    pub fn limbs(&self) -> &[u64; LIMBS] {
        &self.limbs
    }

    /// The low 64 bits.
    pub fn low(self) -> u64 {
        self.limbs[0]
    }

    /// The low 128 bits.
    pub fn low_u128(self) -> u128 {
        u128::from(self.limbs[0]) | u128::from(self.limbs[1]) << 64
    }

    /// The value, if it fits 64 bits.
    pub fn to_u64(self) -> Option<u64> {
        (self.is_narrow() || self.limbs[1..].iter().all(|l| *l == 0)).then_some(self.limbs[0])
    }

    /// The value read as signed, for widths up to 64.
    pub fn to_i64(self) -> Option<i64> {
        (self.width <= 64).then(|| {
            let shift = 64 - u32::from(self.width);
            ((self.limbs[0] << shift) as i64) >> shift
        })
    }

    /// Is every bit zero?
    pub fn is_zero(self) -> bool {
        self.limbs[0] == 0 && (self.is_narrow() || self.limbs.iter().all(|l| *l == 0))
    }

    /// Is every bit one?
    pub fn is_ones(self) -> bool {
        if self.is_narrow() { self.limbs[0] == u64::MAX >> (64 - self.width) } else { self == Bits::ones(self.width) }
    }

    /// Bit `i`, false above the width.
    pub fn bit(self, i: u16) -> bool {
        i < self.width && self.limbs[usize::from(i) / 64] >> (i % 64) & 1 == 1
    }

    /// The sign bit.
    pub fn sign(self) -> bool {
        self.bit(self.width - 1)
    }

    fn map(self, f: impl Fn(u64) -> u64) -> Bits {
        if self.is_narrow() {
            return Bits::new(self.width, f(self.limbs[0]));
        }
        Bits { width: self.width, limbs: self.limbs.map(f) }.masked()
    }

    fn zip(self, other: Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
        debug_assert_eq!(self.width, other.width);
        if self.is_narrow() {
            return Bits::new(self.width, f(self.limbs[0], other.limbs[0]));
        }
        let mut limbs = self.limbs;
        for (a, b) in limbs.iter_mut().zip(other.limbs) {
            *a = f(*a, b);
        }
        Bits { width: self.width, limbs }.masked()
    }

    /// Bitwise complement.
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Bits {
        self.map(|l| !l)
    }

    /// Bitwise and.
    pub fn and(self, other: Bits) -> Bits {
        self.zip(other, |a, b| a & b)
    }

    /// Bitwise or.
    pub fn or(self, other: Bits) -> Bits {
        self.zip(other, |a, b| a | b)
    }

    /// Bitwise exclusive or.
    pub fn xor(self, other: Bits) -> Bits {
        self.zip(other, |a, b| a ^ b)
    }

    /// Sum modulo 2^width.
    #[allow(clippy::should_implement_trait)]
    pub fn add(self, other: Bits) -> Bits {
        if self.is_narrow() {
            return Bits::new(self.width, self.limbs[0].wrapping_add(other.limbs[0]));
        }
        let mut limbs = [0; LIMBS];
        let mut carry = false;
        for (o, (a, b)) in limbs.iter_mut().zip(self.limbs.iter().zip(other.limbs)) {
            let (s, c1) = a.overflowing_add(b);
            let (s, c2) = s.overflowing_add(u64::from(carry));
            (*o, carry) = (s, c1 || c2);
        }
        Bits { width: self.width, limbs }.masked()
    }

    /// Two's complement.
    #[allow(clippy::should_implement_trait)]
    pub fn neg(self) -> Bits {
        if self.is_narrow() {
            return Bits::new(self.width, self.limbs[0].wrapping_neg());
        }
        self.not().add(Bits::new(self.width, 1))
    }

    /// Difference modulo 2^width.
    #[allow(clippy::should_implement_trait)]
    pub fn sub(self, other: Bits) -> Bits {
        if self.is_narrow() {
            return Bits::new(self.width, self.limbs[0].wrapping_sub(other.limbs[0]));
        }
        self.add(other.neg())
    }

    /// Product modulo 2^width.
    #[allow(clippy::should_implement_trait)]
    pub fn mul(self, other: Bits) -> Bits {
        if self.is_narrow() {
            return Bits::new(self.width, self.limbs[0].wrapping_mul(other.limbs[0]));
        }
        let mut limbs = [0u64; LIMBS];
        for i in 0..LIMBS {
            let mut carry = 0u128;
            for j in 0..LIMBS - i {
                let at = u128::from(limbs[i + j]) + u128::from(self.limbs[i]) * u128::from(other.limbs[j]) + carry;
                limbs[i + j] = at as u64;
                carry = at >> 64;
            }
        }
        Bits { width: self.width, limbs }.masked()
    }

    fn div_rem(self, other: Bits) -> (Bits, Bits) {
        if other.is_zero() {
            return (Bits::ones(self.width), self);
        }
        if self.is_narrow() {
            let (a, b) = (self.limbs[0], other.limbs[0]);
            return (Bits::new(self.width, a / b), Bits::new(self.width, a % b));
        }
        if self.width <= 128 {
            let (a, b) = (self.low_u128(), other.low_u128());
            return (Bits::from_u128(self.width, a / b), Bits::from_u128(self.width, a % b));
        }
        let (mut quotient, mut rest) = (Bits::zero(self.width), Bits::zero(self.width));
        for i in (0..self.width).rev() {
            let lost = rest.sign();
            rest = rest.shl_by(1);
            rest.limbs[0] |= u64::from(self.bit(i));
            if lost || other.ule(rest) {
                rest = rest.sub(other);
                quotient.limbs[usize::from(i) / 64] |= 1 << (i % 64);
            }
        }
        (quotient, rest)
    }

    /// Unsigned quotient; all ones for a zero divisor.
    pub fn udiv(self, other: Bits) -> Bits {
        self.div_rem(other).0
    }

    /// Unsigned remainder; the dividend for a zero divisor.
    pub fn urem(self, other: Bits) -> Bits {
        self.div_rem(other).1
    }

    fn abs(self) -> Bits {
        if self.sign() { self.neg() } else { self }
    }

    /// Signed quotient, rounded towards zero.
    pub fn sdiv(self, other: Bits) -> Bits {
        let quotient = self.abs().udiv(other.abs());
        if self.sign() != other.sign() { quotient.neg() } else { quotient }
    }

    /// Signed remainder with the dividend's sign.
    pub fn srem(self, other: Bits) -> Bits {
        let rest = self.abs().urem(other.abs());
        if self.sign() { rest.neg() } else { rest }
    }

    fn shl_by(self, n: u16) -> Bits {
        if n >= self.width {
            return Bits::zero(self.width);
        }
        if self.is_narrow() {
            return Bits::new(self.width, self.limbs[0] << n);
        }
        let (whole, part) = (usize::from(n) / 64, n % 64);
        let mut limbs = [0; LIMBS];
        for (i, limb) in limbs.iter_mut().enumerate().skip(whole) {
            *limb = self.limbs[i - whole] << part;
            if part != 0 && i > whole {
                *limb |= self.limbs[i - whole - 1] >> (64 - part);
            }
        }
        Bits { width: self.width, limbs }.masked()
    }

    fn lshr_by(self, n: u16) -> Bits {
        if n >= self.width {
            return Bits::zero(self.width);
        }
        if self.is_narrow() {
            return Bits::new(self.width, self.limbs[0] >> n);
        }
        let (whole, part) = (usize::from(n) / 64, n % 64);
        let mut limbs = [0; LIMBS];
        for (i, limb) in limbs.iter_mut().enumerate().take(LIMBS - whole) {
            *limb = self.limbs[i + whole] >> part;
            if part != 0 && i + whole + 1 < LIMBS {
                *limb |= self.limbs[i + whole + 1] << (64 - part);
            }
        }
        Bits { width: self.width, limbs }
    }

    fn amount(self, other: Bits) -> u16 {
        other.to_u64().map_or(self.width, |n| n.min(u64::from(self.width)) as u16)
    }

    /// Shift left; zero when the amount reaches the width.
    #[allow(clippy::should_implement_trait)]
    pub fn shl(self, amount: Bits) -> Bits {
        self.shl_by(self.amount(amount))
    }

    /// Logical shift right; zero when the amount reaches the width.
    pub fn lshr(self, amount: Bits) -> Bits {
        self.lshr_by(self.amount(amount))
    }

    /// Arithmetic shift right; copies of the sign when the amount reaches the width.
    pub fn ashr(self, amount: Bits) -> Bits {
        let n = self.amount(amount);
        if self.sign() { self.not().lshr_by(n).not() } else { self.lshr_by(n) }
    }

    /// Bits `lo..=hi`.
    pub fn extract(self, hi: u16, lo: u16) -> Bits {
        if self.is_narrow() {
            return Bits::new(hi - lo + 1, self.limbs[0] >> lo);
        }
        let shifted = self.lshr_by(lo);
        Bits { width: hi - lo + 1, limbs: shifted.limbs }.masked()
    }

    /// `self` above `low`.
    pub fn concat(self, low: Bits) -> Bits {
        let width = self.width + low.width;
        if width <= 64 {
            return Bits::new(width, self.limbs[0] << low.width | low.limbs[0]);
        }
        self.zext(width).shl_by(low.width).or(low.zext(width))
    }

    /// Zero-extended to `width`.
    pub fn zext(self, width: u16) -> Bits {
        assert!((self.width..=512).contains(&width), "extension of {} bits to {width}", self.width);
        Bits { width, limbs: self.limbs }
    }

    /// Sign-extended to `width`.
    pub fn sext(self, width: u16) -> Bits {
        if width <= 64 {
            let shift = 64 - u32::from(self.width);
            return Bits::new(width, ((self.limbs[0] << shift) as i64 >> shift) as u64);
        }
        if self.sign() { self.not().zext(width).not() } else { self.zext(width) }
    }

    /// Zero-extended or truncated to `width`.
    pub fn resize(self, width: u16) -> Bits {
        if width <= 64 { Bits::new(width, self.limbs[0]) } else { Bits::from_limbs(width, &self.limbs) }
    }

    fn sext_or_truncate(self, width: u16) -> Bits {
        if width >= self.width { self.sext(width) } else { self.extract(width - 1, 0) }
    }

    /// Unsigned comparison.
    pub fn ucmp(self, other: Bits) -> Ordering {
        if self.is_narrow() {
            return self.limbs[0].cmp(&other.limbs[0]);
        }
        self.limbs.iter().rev().cmp(other.limbs.iter().rev())
    }

    /// Unsigned less-than.
    pub fn ult(self, other: Bits) -> bool {
        self.ucmp(other) == Ordering::Less
    }

    /// Unsigned less-or-equal.
    pub fn ule(self, other: Bits) -> bool {
        self.ucmp(other) != Ordering::Greater
    }

    /// Signed less-than.
    pub fn slt(self, other: Bits) -> bool {
        match (self.sign(), other.sign()) {
            (true, false) => true,
            (false, true) => false,
            _ => self.ult(other),
        }
    }

    /// Number of one bits.
    pub fn count_ones(self) -> u32 {
        if self.is_narrow() { self.limbs[0].count_ones() } else { self.limbs.iter().map(|l| l.count_ones()).sum() }
    }

    /// Number of zero bits below the lowest one; the width for zero.
    pub fn trailing_zeros(self) -> u16 {
        match self.limbs.iter().position(|l| *l != 0) {
            Some(i) => 64 * i as u16 + self.limbs[i].trailing_zeros() as u16,
            None => self.width,
        }
    }

    /// Number of zero bits above the highest one; the width for zero.
    pub fn leading_zeros(self) -> u16 {
        match self.limbs.iter().rposition(|l| *l != 0) {
            Some(i) => self.width - (64 * i as u16 + 64 - self.limbs[i].leading_zeros() as u16),
            None => self.width,
        }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}:{}", self.width)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = (0..LIMBS).rev().find(|i| self.limbs[*i] != 0).unwrap_or(0);
        write!(f, "0x{:x}", self.limbs[top])?;
        self.limbs[..top].iter().rev().try_for_each(|l| write!(f, "{l:016x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_arithmetic_agrees_with_u128() {
        let mut seed = 0x1234_5678_9abc_def0u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed ^ seed >> 29
        };
        for _ in 0..2000 {
            let a = u128::from(next()) << 64 | u128::from(next());
            let b = u128::from(next()) >> (next() % 64);
            let (x, y) = (Bits::from_u128(128, a), Bits::from_u128(128, b));
            assert_eq!(x.add(y).low_u128(), a.wrapping_add(b));
            assert_eq!(x.mul(y).low_u128(), a.wrapping_mul(b));
            assert_eq!(x.sub(y).low_u128(), a.wrapping_sub(b));
            let (wide_x, wide_y) = (x.zext(200), y.zext(200));
            if let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b)) {
                assert_eq!(wide_x.udiv(wide_y).low_u128(), quotient);
                assert_eq!(wide_x.urem(wide_y).low_u128(), rest);
            }
            let n = next() % 128;
            assert_eq!(x.shl(Bits::new(128, n)).low_u128(), a << n);
            assert_eq!(x.ashr(Bits::new(128, n)).low_u128(), ((a as i128) >> n) as u128);
        }
    }

    #[test]
    fn division_by_zero_is_smt_lib() {
        let x = Bits::new(8, 0x85);
        assert_eq!(x.udiv(Bits::zero(8)), Bits::ones(8));
        assert_eq!(x.urem(Bits::zero(8)), x);
        assert_eq!(x.sdiv(Bits::zero(8)), Bits::new(8, 1));
        assert_eq!(x.srem(Bits::zero(8)), x);
    }
}
