//! When two values of the two sides are the same, though their objects may lie elsewhere.

use crate::link::Linked;
use crate::map;
use native::Access;

/// What a comparison says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Same {
    Yes,
    /// It cannot be told.
    Doubt,
    No,
}

/// Compares words of two sides.
pub(crate) struct Sides<'l> {
    pub linked: [&'l Linked; 2],
}

/// What an address means on a side.
enum Meaning<'l> {
    /// A symbol and an offset.
    Symbol(&'l crate::names::Name, u64),
    /// Data without a name: its bytes from there on.
    Anonymous(&'l [u8], Access),
    /// The own stack.
    Stack,
    /// No address of the object.
    Other,
}

impl Sides<'_> {
    fn meaning(&self, side: usize, value: u64) -> Meaning<'_> {
        if value.wrapping_sub(map::STACK) < map::STACK_SIZE {
            return Meaning::Stack;
        }
        let linked = self.linked[side];
        let section = linked.sections.iter().find(|s| value.wrapping_sub(s.address) < s.bytes.len() as u64 + 1);
        match (linked.names.find(value), section) {
            (Some((name, offset)), _) => Meaning::Symbol(name, offset),
            (None, Some(s)) => Meaning::Anonymous(&s.bytes[(value - s.address) as usize..], s.access),
            (None, None) => Meaning::Other,
        }
    }

    /// Compares two words.
    pub fn word(&self, a: u64, b: u64) -> Same {
        use Meaning::*;
        if a == b || both_nan(a, b) {
            return Same::Yes;
        }
        match (self.meaning(0, a), self.meaning(1, b)) {
            (Stack, Stack) => Same::Yes,
            (Other, Other) => Same::No,
            (Symbol(x, i), Symbol(y, j)) => {
                let counterpart = self.linked[1].names.counterpart(x);
                match counterpart {
                    Some(c) if c.start == y.start && i == j => Same::Yes,
                    // Both names are known to both sides.
                    Some(_) if self.linked[0].names.counterpart(y).is_some() => Same::No,
                    _ => Same::Doubt,
                }
            }
            (Anonymous(x, Access::Read), Anonymous(y, Access::Read)) => same_text(x, y),
            (Anonymous(..) | Symbol(..), Anonymous(..) | Symbol(..)) => Same::Doubt,
            // An address of the object against a number.
            (Symbol(..) | Anonymous(..), Other | Stack) | (Other | Stack, Symbol(..) | Anonymous(..)) => Same::Doubt,
            (Stack, Other) | (Other, Stack) => Same::Doubt,
        }
    }

    /// Compares the low bytes of two words.
    pub fn bytes(&self, a: u64, b: u64, bytes: u16) -> Same {
        if bytes >= 8 {
            return self.word(a, b);
        }
        let mask = (1u64 << (8 * bytes)) - 1;
        let (x, y) = (a & mask, b & mask);
        let nan = |v: u64| bytes == 4 && f32::from_bits(v as u32).is_nan();
        if x == y || nan(x) && nan(y) {
            return Same::Yes;
        }
        // Half an address.
        let address = |side: usize, value: u64| bytes >= 4 && !matches!(self.meaning(side, value), Meaning::Other);
        if address(0, x) || address(1, y) { Same::Doubt } else { Same::No }
    }
}

/// Are two words that differ both numbers that are none, whole or in halves?
pub(crate) fn both_nan(a: u64, b: u64) -> bool {
    let double = f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan();
    let half = |a: u32, b: u32| a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan();
    double || half(a as u32, b as u32) && half((a >> 32) as u32, (b >> 32) as u32)
}

/// Do both hold the same text? Of other data nobody knows where it ends.
fn same_text(a: &[u8], b: &[u8]) -> Same {
    let text = |bytes: &[u8]| bytes.iter().position(|byte| *byte == 0).map(|end| bytes[..end].to_vec());
    let (x, y) = (text(a), text(b));
    if x.is_some() && x == y && a.iter().zip(b).take(8).all(|(x, y)| x == y) {
        return Same::Yes;
    }
    let printable = |t: &Option<Vec<u8>>| t.as_ref().is_some_and(|t| t.iter().all(|c| (9..127).contains(c)));
    if x == y && printable(&x) {
        return Same::Yes;
    }
    if printable(&x) && printable(&y) { Same::No } else { Same::Doubt }
}
