//! Which operands of a form are chosen, and how: from registers, from constants, from addresses.

use program::Register;
use term::Bits;
use x86::{Form, Instruction, Memory, Operand};

/// No register.
pub(crate) const NONE: u8 = 0xff;

/// What is chosen for an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Chosen {
    Read(Class),
    Written(Class),
    Address,
    Constant,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    General,
    Vector,
}

/// A constant operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Constant {
    Nothing,
    Immediate(u64),
    /// Without a base and with an index only if `scale` is not 0.
    Address {
        base: bool,
        scale: u8,
        displacement: i64,
    },
}

/// A form with these operands.
pub(crate) fn build(
    form: &Form,
    choices: &[(usize, Chosen)],
    constant: Constant,
    registers: &[u8; 4],
) -> Option<Instruction> {
    let mut out = form.prototype.clone();
    for (i, _) in choices {
        match (&mut out.operands[*i], constant) {
            (Operand::Register(lane), _) => {
                lane.register = match lane.register {
                    Register::General(_) => Register::General(registers[*i]),
                    _ => Register::Vector(registers[*i]),
                };
            }
            (Operand::Immediate(immediate), Constant::Immediate(value)) => {
                immediate.value = Bits::new(immediate.value.width(), value);
            }
            (Operand::Memory(memory), Constant::Address { base, scale, displacement }) => {
                *memory = Memory {
                    base: base.then_some(Register::General(registers[*i])),
                    index: (scale != 0).then_some(Register::General(registers[3])),
                    scale: scale.max(1),
                    displacement,
                    ..*memory
                };
            }
            _ => return None,
        }
    }
    Some(out)
}
