//! Pieces of C: how tightly they bind, and constants.

use crate::types::Type;
use program::SourceTypes;
use term::Bits;

/// How tightly the outermost operator of a text binds, the weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    Choice,
    Disjunction,
    Conjunction,
    Or,
    Xor,
    And,
    Equality,
    Order,
    Shift,
    Sum,
    Product,
    Unary,
    Atom,
}

impl Level {
    /// The next one that binds more tightly.
    pub fn above(self) -> Level {
        const ALL: [Level; 13] = [
            Level::Choice,
            Level::Disjunction,
            Level::Conjunction,
            Level::Or,
            Level::Xor,
            Level::And,
            Level::Equality,
            Level::Order,
            Level::Shift,
            Level::Sum,
            Level::Product,
            Level::Unary,
            Level::Atom,
        ];
        ALL.into_iter().find(|level| *level > self).unwrap_or(Level::Atom)
    }
}

/// A text with its type.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub text: String,
    pub level: Level,
    pub ty: Type,
}

impl Shown {
    pub fn truth(text: impl Into<String>, level: Level) -> Shown {
        Shown { text: text.into(), level, ty: Type::INT }
    }

    /// The text where something that binds so tightly is expected.
    pub fn at(&self, least: Level) -> String {
        // C's compilers warn of sums in shifts and of bits in comparisons: people read them wrongly.
        if self.level < least { format!("({})", self.text) } else { self.text.clone() }
    }

    pub fn cast(&self, to: &Type, types: &SourceTypes) -> Shown {
        let text = format!("({}){}", to.text(types), self.at(Level::Unary));
        Shown { text, level: Level::Unary, ty: to.clone() }
    }
}

/// Powers of two from here on are written as such.
const FIRST_POWER: u64 = 1 << 12;

/// A whole number.
pub(crate) fn literal(bits: Bits, signed: bool) -> Shown {
    let width = bits.width();
    let ty = Type::integer(width / 8, signed);
    let (value, atom) = (bits.low(), |text: String, level| Shown { text, level, ty: ty.clone() });
    if signed && bits.sign() {
        let size = bits.to_i64().unwrap_or(0).unsigned_abs();
        // The least number has no literal.
        return match size {
            n if n == 1 << 63 => atom("1l << 63".to_string(), Level::Shift),
            n if n == 1 << 31 && width == 32 => atom("1 << 31".to_string(), Level::Shift),
            n => atom(format!("-{n}"), Level::Unary),
        };
    }
    let suffix = match width {
        32 if value > i32::MAX as u64 => "u",
        64 if value > i64::MAX as u64 => "ul",
        _ => "",
    };
    if value.is_power_of_two() && value >= FIRST_POWER {
        let by = value.trailing_zeros();
        let one = match (by, signed) {
            (0..31, _) => "1",
            (31, _) if width == 32 => "1u",
            (..63, true) => "1l",
            _ => "1ul",
        };
        return atom(format!("{one}<<{by}"), Level::Shift);
    }
    atom(format!("{value}{suffix}"), Level::Atom)
}

/// A floating-point number; `None` if it has no literal.
pub(crate) fn float_literal(bits: Bits) -> Option<Shown> {
    let (value, suffix, bytes) = match bits.width() {
        32 => (f64::from(f32::from_bits(bits.low() as u32)), "f", 4),
        64 => (f64::from_bits(bits.low()), "", 8),
        _ => return None,
    };
    if !value.is_finite() {
        return None;
    }
    let digits = match bytes {
        4 => format!("{:?}", f32::from_bits(bits.low() as u32).abs()),
        _ => format!("{:?}", value.abs()),
    };
    let (sign, level) = if value.is_sign_negative() { ("-", Level::Unary) } else { ("", Level::Atom) };
    Some(Shown { text: format!("{sign}{digits}{suffix}"), level, ty: Type::Float { bytes } })
}
