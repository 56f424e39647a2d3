//! Two conditions of one comparison: do they ever say different things?
//!
//! The operands of the comparison are numbers in a run; its flags are then what the processor makes of them.

use machine::{Id, Kind, Names, Product, Side, Stage, Trial, Values};

/// Runs that are tried.
const RUNS: u64 = 48;

/// The flags after a comparison. Intel SDM vol. 1, 3.4.3.1.
struct Flags {
    carry: bool,
    zero: bool,
    sign: bool,
    overflow: bool,
    parity: bool,
}

impl Flags {
    /// Of `CMP a, b` in so many bits, at most 64.
    fn of_comparison(a: u64, b: u64, bits: u16) -> Flags {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let (a, b) = (a & mask, b & mask);
        let result = a.wrapping_sub(b) & mask;
        let top = |value: u64| value >> (bits - 1) & 1 == 1;
        Flags {
            carry: a < b,
            zero: result == 0,
            sign: top(result),
            overflow: top(a) != top(b) && top(result) != top(a),
            parity: (result as u8).count_ones().is_multiple_of(2),
        }
    }

    /// Intel SDM vol. 1, appendix B.
    fn meet(&self, code: u8) -> bool {
        let even = match code >> 1 {
            0 => self.overflow,
            1 => self.carry,
            2 => self.zero,
            3 => self.carry || self.zero,
            4 => self.sign,
            5 => self.parity,
            6 => self.sign != self.overflow,
            _ => self.zero || self.sign != self.overflow,
        };
        even != (code & 1 == 1)
    }
}

/// Is there a run along the path in which two conditions of the same flags differ?
pub fn tell_apart(product: &mut Product<'_>, path: &[usize], flags: Id, names: &Names, codes: (u8, u8)) -> bool {
    let Some((a, b, bits)) = comparison(&product.values, flags, names) else { return false };
    let fixed = match product.values.kind(b) {
        Kind::Constant(number) => Some(number),
        _ => None,
    };
    let mut pairs = Vec::new();
    for seed in 1..=RUNS {
        let mut trial = Trial::along(&product.edges, path, seed);
        let Product { original, candidate, values, points, edges } = product;
        let mut stage = Stage { original, candidate, points, edges };
        let mut number = |id| trial.at(values, &mut stage, path.len(), Side::Original, id).filter(|n| !n.tainted);
        let (Some(a), Some(b)) = (number(a), number(b)) else { return false };
        pairs.push((a.words[0], b.words[0]));
    }
    // Bits that no run sets, such as those of an extension, are never set.
    let possible = pairs.iter().fold(0, |bits, (a, _)| bits | a);
    match fixed {
        Some(number) => pairs.extend([-1, 0, 1].map(|n| (number.wrapping_add_signed(n) & possible, number))),
        None => pairs.extend(pairs.clone().into_iter().filter(|_| a != b).map(|(a, _)| (a, a))),
    }
    pairs.into_iter().any(|(a, b)| {
        let flags = Flags::of_comparison(a, b, bits);
        flags.meet(codes.0) != flags.meet(codes.1)
    })
}

/// The operands and the width of the comparison that sets the flags.
fn comparison(values: &Values, flags: Id, names: &Names) -> Option<(Id, Id, u16)> {
    let mut at = flags;
    while let Kind::Result(0) | Kind::Extract(0) = values.kind(at) {
        at = values.arg(at, 0);
    }
    let Kind::Apply(name, _) = values.kind(at) else { return None };
    let text = names.text(name).strip_suffix(" flags")?;
    let bits: u16 = text.strip_prefix("CMP").or_else(|| text.strip_prefix("SUB"))?.parse().ok()?;
    (values.arity(at) == 2 && matches!(bits, 8 | 16 | 32 | 64)).then(|| (values.arg(at, 0), values.arg(at, 1), bits))
}

#[cfg(test)]
mod tests {
    use super::Flags;

    #[test]
    fn conditions_are_those_of_the_manual() {
        // 1 against -1: below and greater, not equal, no overflow.
        let flags = Flags::of_comparison(1, u64::MAX, 32);
        assert!(flags.meet(2) && flags.meet(15) && flags.meet(5) && !flags.meet(0) && !flags.meet(12));
        // The least number against 1 overflows.
        let flags = Flags::of_comparison(0x80, 1, 8);
        assert!(flags.meet(0) && flags.meet(12) && flags.meet(7) && !flags.meet(8));
        let flags = Flags::of_comparison(7, 7, 64);
        assert!(flags.meet(4) && flags.meet(6) && flags.meet(14) && flags.meet(13) && !flags.meet(2) && flags.meet(10));
    }
}
