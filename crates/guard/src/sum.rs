//! Sums of 64 bits as addresses: `base + index·scale + displacement` is one `lea`, or one operand.

use crate::Refusal;
use crate::compiler::{Compiler, Held};
use crate::instruction;
use iced_x86::{MemoryOperand, Register};
use kernel::{Expression, Operator};

/// A sum modulo 2^64: what is added how often, and a number.
#[derive(Default, Debug)]
struct Sum<'e> {
    parts: Vec<(&'e Expression, u64)>,
    number: u64,
}

impl<'e> Sum<'e> {
    fn add(&mut self, expression: &'e Expression, times: u64) {
        match expression {
            Expression::Constant(bits) => self.number = self.number.wrapping_add(bits.low().wrapping_mul(times)),
            Expression::Apply(Operator::Add, parts) => parts.iter().for_each(|part| self.add(part, times)),
            Expression::Apply(Operator::Sub, parts) => {
                for (i, part) in parts.iter().enumerate() {
                    self.add(part, if i == 0 { times } else { times.wrapping_neg() });
                }
            }
            Expression::Apply(Operator::Mul, parts) => match &parts[..] {
                [Expression::Constant(by), part] | [part, Expression::Constant(by)] => {
                    self.add(part, times.wrapping_mul(by.low()));
                }
                _ => self.note(expression, times),
            },
            Expression::Apply(Operator::Shl, parts) => match &parts[..] {
                [part, Expression::Constant(by)] if by.low() < 64 => self.add(part, times << by.low()),
                _ => self.note(expression, times),
            },
            _ => self.note(expression, times),
        }
    }

    fn note(&mut self, expression: &'e Expression, times: u64) {
        match self.parts.iter_mut().find(|(known, _)| *known == expression) {
            Some((_, known)) => *known = known.wrapping_add(times),
            None => self.parts.push((expression, times)),
        }
    }
}

/// Registers of an operand in memory.
#[derive(Default, Debug)]
pub(crate) struct Address {
    base: Option<Held>,
    index: Option<(Held, u32)>,
    displacement: i64,
}

impl Address {
    pub fn operand(&self) -> MemoryOperand {
        let register = |held: &Held| instruction::general(held.register, 64);
        let base = self.base.as_ref().map_or(Register::None, register);
        let (index, scale) = self.index.as_ref().map_or((Register::None, 1), |(held, scale)| (register(held), *scale));
        let size = u32::from(self.displacement != 0 || base == Register::None);
        let size = if base == Register::None { 8 * size } else { size };
        MemoryOperand::new(base, index, scale, self.displacement, size, false, Register::None)
    }
}

impl Compiler<'_> {
    /// The address that a number of 64 bits is. Its registers are to be released.
    pub fn address(&mut self, expression: &Expression) -> Result<Address, Refusal> {
        match self.scaled(expression)? {
            Some(address) => Ok(address),
            None => {
                let base = Some(self.operated(expression)?);
                Ok(Address { base, ..Address::default() })
            }
        }
    }

    /// The same, if one operand can say it.
    pub fn scaled(&mut self, expression: &Expression) -> Result<Option<Address>, Refusal> {
        let mut sum = Sum::default();
        sum.add(expression, 1);
        sum.parts.retain(|(_, times)| *times != 0);
        // The part that is there once, or more than once if there is only one, is the base.
        sum.parts.sort_by_key(|(_, times)| *times);
        let Ok(displacement) = i32::try_from(sum.number as i64) else { return Ok(None) };
        let displacement = i64::from(displacement);
        let scale = |times: u64| matches!(times, 1 | 2 | 4 | 8).then_some(times as u32);
        Ok(match sum.parts[..] {
            [(base, 1)] if *base != *expression => {
                Some(Address { base: Some(self.number(base)?), index: None, displacement })
            }
            [(part, times)] if *part != *expression => match scale(times) {
                Some(by) => Some(Address { base: None, index: Some((self.number(part)?, by)), displacement }),
                None => None,
            },
            [(base, 1), (index, times)] => match scale(times) {
                Some(by) => {
                    let base = Some(self.number(base)?);
                    let index = Some((self.number(index)?, by));
                    Some(Address { base, index, displacement })
                }
                None => None,
            },
            _ => None,
        })
    }

    pub fn release_address(&mut self, address: &Address) {
        let index = address.index.as_ref().map(|(held, _)| held);
        address.base.iter().chain(index).for_each(|held| self.release(held));
    }
}
