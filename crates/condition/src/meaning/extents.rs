//! `apart`: extents in bytes, computed over the integers.
//!
//! An extent such as `4*n` is computed modulo 2^64, where it could come out small although it is large. So what it mentions must be
//! small enough for the sum as a whole to fit into 64 bits with a sign: sums and products modulo 2^64 are then those of the integers.
//! Where the types or other parts of the condition do not see to that, a bound is added to the condition.

use super::Meaning;
use crate::syntax::{Node, NodeKind};
use crate::types::Type;
use crate::{Error, build};
use kernel::{Expression, Operator};
use std::collections::BTreeMap;

/// What conjuncts say of numbers: the least and the largest value, read with the sign that the comparison had.
#[derive(Default, Debug)]
pub(crate) struct Ranges(Vec<(Expression, bool, i128, i128)>);

const FIRST: i128 = i64::MIN as i128;
const LAST: i128 = i64::MAX as i128;

impl Ranges {
    /// Notes what a conjunct says about the size of a number.
    pub fn note(&mut self, conjunct: &Expression) {
        let Expression::Apply(operator, operands) = conjunct else { return };
        let [a, b] = &operands[..] else { return };
        let signed = match operator {
            Operator::Slt | Operator::Sle => true,
            Operator::Ult | Operator::Ule | Operator::Eq => false,
            _ => return,
        };
        let strict = i128::from(matches!(operator, Operator::Slt | Operator::Ult));
        let (least, most) = (if signed { FIRST } else { 0 }, if signed { LAST } else { i128::from(u64::MAX) });
        match (build::value_of(a), build::value_of(b)) {
            (None, Some(bits)) => {
                let bound = build::integer(bits, signed);
                let from = if *operator == Operator::Eq { bound } else { least };
                self.0.push((a.clone(), signed, from, bound - strict));
            }
            (Some(bits), None) => self.0.push((b.clone(), signed, build::integer(bits, signed) + strict, most)),
            _ => {}
        }
    }

    /// Between what a number of a type lies. Without a sign a number below 2^(w-1) is the same with one.
    fn of(&self, bits: &Expression, width: u16, signed: bool) -> (i128, i128) {
        let half = 1i128 << (width - 1);
        let (mut first, mut last) = if signed { (-half, half - 1) } else { (0, 2 * half - 1) };
        for (of, with_sign, from, to) in &self.0 {
            if of == bits && (*with_sign == signed || *from >= 0 && *to < half) {
                (first, last) = (first.max(*from), last.min(*to));
            }
        }
        (first, last)
    }
}

/// A number in an extent that is no sum, difference or product.
#[derive(Clone, PartialEq, Debug)]
struct Leaf {
    bits: Expression,
    width: u16,
    signed: bool,
}

/// A polynomial: coefficients by the leaves, by their positions, of which they are the product.
type Polynomial = BTreeMap<Vec<usize>, i128>;

/// An extent: 64 bits, and what number it stands for.
struct Extent {
    bits: Expression,
    number: Polynomial,
}

/// Terms of an extent that are looked at.
const MOST_TERMS: usize = 64;

impl Meaning<'_> {
    /// Two blocks of bytes that do not overlap.
    pub(crate) fn apart(&self, addresses: [&Node; 2], extents: [&Node; 2]) -> Result<Expression, Error> {
        let mut operands = Vec::new();
        let mut holds = build::truth(true);
        for (address, extent) in addresses.into_iter().zip(extents) {
            let pointer = self.number(address)?;
            let number = pointer.ty.is_integer() && pointer.width() == 64;
            if !pointer.ty.is_pointer() && !number {
                return Err(Error::new(address.column, "an address expected"));
            }
            let mut leaves = Vec::new();
            let Extent { bits, number } = self.extent(extent, &mut leaves)?;
            let fits = self.fits(extent, &bits, &number, &leaves)?;
            holds = build::and(holds, fits);
            operands.extend([pointer.bits, bits]);
        }
        Ok(build::and(holds, build::apply(Operator::Apart, operands)))
    }

    fn extent(&self, node: &Node, leaves: &mut Vec<Leaf>) -> Result<Extent, Error> {
        let too_much = || Error::new(node.column, "an extent of too many parts");
        let (operator, a, b) = match &node.kind {
            NodeKind::Binary("+", a, b) => (Operator::Add, a, b),
            NodeKind::Binary("-", a, b) => (Operator::Sub, a, b),
            NodeKind::Binary("*", a, b) => (Operator::Mul, a, b),
            _ => return self.leaf(node, leaves),
        };
        let (a, b) = (self.extent(a, leaves)?, self.extent(b, leaves)?);
        let mut number = Polynomial::new();
        let mut add = |key: Vec<usize>, value: Option<i128>| {
            let entry = number.entry(key).or_insert(0);
            *entry = entry.checked_add(value?)?;
            Some(())
        };
        if operator == Operator::Mul {
            for (left, x) in &a.number {
                for (right, y) in &b.number {
                    let mut key = [&left[..], &right[..]].concat();
                    key.sort_unstable();
                    add(key, x.checked_mul(*y)).ok_or_else(too_much)?;
                }
            }
        } else {
            let sign = if operator == Operator::Add { 1 } else { -1 };
            let first = a.number.iter().map(|(key, x)| (key, Some(*x)));
            let second = b.number.iter().map(|(key, y)| (key, y.checked_mul(sign)));
            for (key, value) in first.chain(second) {
                add(key.clone(), value).ok_or_else(too_much)?;
            }
        }
        number.retain(|_, value| *value != 0);
        if number.len() > MOST_TERMS {
            return Err(too_much());
        }
        Ok(Extent { bits: build::arithmetic(operator, a.bits, b.bits), number })
    }

    /// Any other whole number, as C computes it.
    fn leaf(&self, node: &Node, leaves: &mut Vec<Leaf>) -> Result<Extent, Error> {
        let value = self.number(node)?;
        if !matches!(value.ty, Type::Integer { .. }) {
            return Err(Error::new(node.column, "a number of bytes expected"));
        }
        let value = value.promoted(self.interface);
        let (width, signed) = (value.width(), value.ty.is_signed());
        if let Some(bits) = build::value_of(&value.bits) {
            let number = build::integer(bits, signed);
            let number = if number == 0 { Polynomial::new() } else { Polynomial::from([(Vec::new(), number)]) };
            return Ok(Extent { bits: value.wide(), number });
        }
        let leaf = Leaf { bits: value.bits.clone(), width, signed };
        let at = leaves.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            leaves.push(leaf);
            leaves.len() - 1
        });
        Ok(Extent { bits: value.wide(), number: Polynomial::from([(vec![at], 1)]) })
    }

    /// Does the number fit into 64 bits with a sign?
    fn fits(&self, node: &Node, bits: &Expression, number: &Polynomial, leaves: &[Leaf]) -> Result<Expression, Error> {
        let ranges: Vec<(i128, i128)> =
            leaves.iter().map(|leaf| self.ranges.of(&leaf.bits, leaf.width, leaf.signed)).collect();
        if interval(number, &ranges).is_some_and(|(first, last)| first >= FIRST && last <= LAST) {
            return Ok(build::truth(true));
        }
        let constant = number.get(&Vec::new()).copied().unwrap_or(0);
        let others: Vec<(&Vec<usize>, i128)> =
            number.iter().filter(|(k, _)| !k.is_empty()).map(|(k, v)| (k, *v)).collect();
        match others[..] {
            [] => Err(Error::new(node.column, "the extent does not fit into 64 bits")),
            [(key, factor)] if key.len() == 1 => {
                let (leaf, range) = (&leaves[key[0]], ranges[key[0]]);
                // factor * x + constant lies in FIRST..=LAST.
                let bounds = [FIRST.checked_sub(constant), LAST.checked_sub(constant)];
                let [Some(low), Some(high)] = bounds else {
                    return Err(Error::new(node.column, "the extent does not fit into 64 bits"));
                };
                let (low, high) = if factor > 0 {
                    (-((-low).div_euclid(factor)), high.div_euclid(factor))
                } else {
                    (-(high.div_euclid(-factor)), (-low).div_euclid(-factor))
                };
                Ok(leaf.within(low, high, range))
            }
            _ => self.fits_wide(node, bits, number, leaves, &ranges),
        }
    }

    /// The same for products of several numbers: computed in as many bits as they need.
    fn fits_wide(
        &self,
        node: &Node,
        bits: &Expression,
        number: &Polynomial,
        leaves: &[Leaf],
        ranges: &[(i128, i128)],
    ) -> Result<Expression, Error> {
        // A product of k numbers of 64 bits with a factor, and some room for the sum.
        let degree = number.keys().map(Vec::len).max().unwrap_or(0) as u16;
        let wide = if interval(number, ranges).is_some() { 128 } else { 64 * (degree + 1) + 8 };
        if wide > 512 || number.values().any(|factor| i64::try_from(*factor).is_err()) {
            return Err(Error::new(node.column, "an extent of too many parts"));
        }
        let mut sum = None;
        for (key, factor) in number {
            let mut factors: Vec<Expression> = Vec::new();
            if *factor != 1 || key.is_empty() {
                // A certificate writes constants of up to 64 bits.
                factors.push(build::apply(Operator::Sext(wide), vec![build::constant(64, *factor as u64)]));
            }
            for at in key {
                let leaf = &leaves[*at];
                factors.push(build::extend(leaf.signed, leaf.bits.clone(), leaf.width, wide));
            }
            let product = factors.into_iter().reduce(|a, b| build::apply(Operator::Mul, vec![a, b]));
            sum = match (sum, product) {
                (Some(sum), Some(product)) => Some(build::arithmetic(Operator::Add, sum, product)),
                (sum, product) => sum.or(product),
            };
        }
        let Some(sum) = sum else { return Ok(build::truth(true)) };
        Ok(build::compare(Operator::Eq, build::extend(true, bits.clone(), 64, wide), sum))
    }
}

impl Leaf {
    /// Is the number between these two, given what is known of it?
    fn within(&self, low: i128, high: i128, known: (i128, i128)) -> Expression {
        let constant = |value: i128| build::constant(self.width, value as u64);
        let [less, most] = if self.signed { [Operator::Slt, Operator::Sle] } else { [Operator::Ult, Operator::Ule] };
        let mut holds = build::truth(true);
        if known.0 < low {
            holds = build::and(holds, build::compare(most, constant(low), self.bits.clone()));
        }
        if known.1 > high {
            let round = high > 0 && (high + 1).count_ones() == 1 && high < known.1;
            let below = match round {
                true => build::compare(less, self.bits.clone(), constant(high + 1)),
                false => build::compare(most, self.bits.clone(), constant(high)),
            };
            holds = build::and(holds, below);
        }
        holds
    }
}

/// Between what a polynomial lies; `None` if it is beyond what is computed here.
fn interval(number: &Polynomial, ranges: &[(i128, i128)]) -> Option<(i128, i128)> {
    let (mut first, mut last) = (0i128, 0i128);
    for (key, factor) in number {
        let mut range = (*factor, *factor);
        for at in key {
            let (a, b) = ranges[*at];
            let ends =
                [range.0.checked_mul(a)?, range.0.checked_mul(b)?, range.1.checked_mul(a)?, range.1.checked_mul(b)?];
            range = (*ends.iter().min()?, *ends.iter().max()?);
        }
        (first, last) = (first.checked_add(range.0)?, last.checked_add(range.1)?);
    }
    Some((first, last))
}
