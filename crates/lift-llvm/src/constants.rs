//! Constants.

use crate::token::{Reader, Token};
use crate::types::{Names, Type};
use ir::{Cell, Kind, Known};
use rustc_hash::FxHashMap;

/// What constants may mention.
pub(crate) struct Scope<'a> {
    pub names: &'a Names,
    /// Numbers of the globals.
    pub globals: &'a FxHashMap<String, u32>,
}

/// A floating-point number as it is printed: decimal, or the bits of a `double`.
fn number(word: &str, kind: Kind) -> Result<u64, String> {
    let bad = || format!("the number `{word}`");
    let value = match word.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            f64::from_bits(u64::from_str_radix(digits, 16).map_err(|_| bad())?)
        }
        Some(_) => return Err(bad()),
        None => word.parse::<f64>().map_err(|_| bad())?,
    };
    if kind == Kind::Double {
        return Ok(value.to_bits());
    }
    let single = value as f32;
    // NaNs keep their payload in the upper bits.
    if value.is_nan() {
        let bits = value.to_bits();
        let fraction = ((bits >> 29) & 0x7f_ffff) as u32;
        return Ok(u64::from((bits >> 32) as u32 & 0x8000_0000 | 0x7f80_0000 | fraction));
    }
    if f64::from(single).to_bits() != value.to_bits() {
        return Err(bad());
    }
    Ok(u64::from(single.to_bits()))
}

impl Scope<'_> {
    /// A constant of a type that a register may hold.
    pub fn scalar(&self, reader: &mut Reader<'_>, kind: Kind) -> Result<Known, String> {
        match reader.next()? {
            Token::Global(name) => match self.globals.get(name) {
                Some(number) => Ok(Known::Address(*number, 0)),
                None => Err(format!("the address of `{name}`")),
            },
            Token::Word(word) => match (word.as_str(), kind) {
                ("null", Kind::Pointer) | ("zeroinitializer" | "false", _) => Ok(Known::Bits(0)),
                ("true", Kind::Int(1)) => Ok(Known::Bits(1)),
                ("undef" | "poison", _) => Ok(Known::Poison),
                ("getelementptr", Kind::Pointer) => self.address(reader),
                (digits, Kind::Int(bits)) => {
                    let value: i128 = digits.parse().map_err(|_| format!("the constant `{digits}`"))?;
                    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
                    Ok(Known::Bits(value as u64 & mask))
                }
                (digits, Kind::Float | Kind::Double) => Ok(Known::Bits(number(digits, kind)?)),
                (other, Kind::Pointer) => Err(format!("the address `{other}`")),
            },
            other => Err(format!("the constant {other:?}")),
        }
    }

    /// `getelementptr inbounds (T, ptr @x, i64 1, …)`.
    fn address(&self, reader: &mut Reader<'_>) -> Result<Known, String> {
        while matches!(reader.peek(), Some(Token::Word(_))) {
            reader.next()?;
        }
        if reader.is_word("inrange") {
            return Err("an address in a range".to_string());
        }
        reader.expect('(')?;
        let mut ty = Type::read(reader)?;
        reader.expect(',')?;
        let base = Type::read(reader)?.kind()?;
        let Known::Address(global, start) = self.scalar(reader, base)? else {
            return Err("an address that is no global's".to_string());
        };
        let mut offset = start;
        let mut first = true;
        while reader.take(',') {
            let kind = Type::read(reader)?.kind()?;
            let Known::Bits(index) = self.scalar(reader, kind)? else { return Err("an unknown index".to_string()) };
            let shift = 64 - u32::from(kind.bits());
            let index = ((index << shift) as i64) >> shift;
            let (step, next) = if first {
                (index.checked_mul(ty.layout(self.names)?.0 as i64), ty.clone())
            } else {
                let (at, part) = match ty.resolved(self.names)? {
                    Type::Array(_, element) => {
                        (index.checked_mul(element.layout(self.names)?.0 as i64), element.as_ref().clone())
                    }
                    _ => {
                        let (at, part) = ty.part(u64::try_from(index).map_err(|_| "a negative field")?, self.names)?;
                        (Some(at as i64), part.clone())
                    }
                };
                (at, part)
            };
            offset = step.and_then(|s| offset.checked_add(s)).ok_or("too large an address")?;
            (ty, first) = (next, false);
        }
        reader.expect(')')?;
        Ok(Known::Address(global, offset))
    }

    /// Cells of an initial value that are not zero.
    pub fn cells(&self, reader: &mut Reader<'_>, ty: &Type, offset: u64, cells: &mut Vec<Cell>) -> Result<(), String> {
        if reader.is_word("zeroinitializer") {
            reader.next()?;
            return Ok(());
        }
        let ty = ty.resolved(self.names)?;
        if reader.is_word("undef") || reader.is_word("poison") {
            return Err("an initial value that is none".to_string());
        }
        match ty {
            Type::Scalar(kind) => {
                let value = self.scalar(reader, *kind)?;
                if value != Known::Bits(0) {
                    cells.push(Cell { offset, bytes: kind.bytes(), value });
                }
                Ok(())
            }
            Type::Array(count, element) => {
                if let Some(Token::Bytes(bytes)) = reader.peek() {
                    reader.next()?;
                    let nonzero = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
                    cells.extend(nonzero.map(|(at, byte)| Cell {
                        offset: offset + at as u64,
                        bytes: 1,
                        value: Known::Bits(u64::from(*byte)),
                    }));
                    return Ok(());
                }
                reader.expect('[')?;
                let (size, _) = element.layout(self.names)?;
                for number in 0..*count {
                    let of = Type::read(reader)?;
                    self.cells(reader, &of, offset + number * size, cells)?;
                    reader.take(',');
                }
                reader.expect(']')
            }
            Type::Struct { fields, packed } => {
                if *packed {
                    reader.expect('<')?;
                }
                reader.expect('{')?;
                for number in 0..fields.len() {
                    let of = Type::read(reader)?;
                    let (at, _) = ty.part(number as u64, self.names)?;
                    self.cells(reader, &of, offset + at, cells)?;
                    reader.take(',');
                }
                reader.expect('}')?;
                if *packed { reader.expect('>') } else { Ok(()) }
            }
            other => Err(format!("an initial value of the type {other:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        assert_eq!(number("1.000000e+00", Kind::Double), Ok(1.0f64.to_bits()));
        assert_eq!(number("0x3FB99999A0000000", Kind::Float), Ok(u64::from(0.1f32.to_bits())));
        assert_eq!(number("0x7FF8000000000000", Kind::Float), Ok(0x7fc0_0000));
        assert!(number("0x3FB999999999999A", Kind::Float).is_err(), "no float");
        assert!(number("0xK4000", Kind::Double).is_err());
    }
}
