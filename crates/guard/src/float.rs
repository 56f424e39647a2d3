//! Floating-point numbers of a condition: in vector registers from `xmm8` on, compared by `ucomiss` and `ucomisd`.

use crate::Refusal;
use crate::compiler::{Argument, Compiler};
use crate::instruction;
use crate::listing::{Target, Truth, When};
use iced_x86::Code;
use kernel::{Expression, FloatWord, Operator};
use program::Side;

/// A number in a vector register.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct HeldFloat {
    pub register: u8,
    own: bool,
}

impl Compiler<'_> {
    /// A vector register that holds a number; to be released.
    pub fn float(&mut self, expression: &Expression) -> Result<HeldFloat, Refusal> {
        let width = self.width(expression)?;
        if !matches!(width, 32 | 64) {
            return Err(self.refuse(expression, "it is no floating-point number"));
        }
        match expression {
            Expression::Apply(Operator::Float(word), operands) => {
                let [a, b] = &operands[..] else { return Err(self.refuse(expression, "it has no two operands")) };
                let code = match (word, width) {
                    (FloatWord::Add, 64) => Code::Addsd_xmm_xmmm64,
                    (FloatWord::Add, _) => Code::Addss_xmm_xmmm32,
                    (FloatWord::Sub, 64) => Code::Subsd_xmm_xmmm64,
                    (FloatWord::Sub, _) => Code::Subss_xmm_xmmm32,
                    (FloatWord::Mul, 64) => Code::Mulsd_xmm_xmmm64,
                    (FloatWord::Mul, _) => Code::Mulss_xmm_xmmm32,
                    (FloatWord::Div, 64) => Code::Divsd_xmm_xmmm64,
                    (FloatWord::Div, _) => Code::Divss_xmm_xmmm32,
                    (FloatWord::Equal | FloatWord::Less | FloatWord::LessOrEqual, _) => {
                        return Err(self.refuse(expression, "it is no floating-point number"));
                    }
                };
                let first = self.float(a)?;
                let first = if first.own {
                    first
                } else {
                    let to = self.take_vector(expression)?;
                    self.code.push(instruction::copy_vector(to, first.register));
                    HeldFloat { register: to, own: true }
                };
                let second = self.float(b)?;
                self.code.push(instruction::of_vectors(code, first.register, second.register));
                self.release_vector(&second);
                Ok(first)
            }
            Expression::Apply(Operator::Load(Side::Original, _), operands) if operands.len() == 1 => {
                let address = self.address(&operands[0])?;
                self.release_address(&address);
                let to = self.take_vector(expression)?;
                self.code.push(instruction::load_vector(width, to, address.operand()));
                Ok(HeldFloat { register: to, own: true })
            }
            Expression::Named(name) => match self.argument(expression, name)? {
                Argument::Vector(register) => Ok(HeldFloat { register, own: false }),
                _ => self.moved(expression, width),
            },
            Expression::Apply(Operator::Slice(0, _), operands) => match &operands[..] {
                [Expression::Named(name)] => match self.argument(expression, name)? {
                    Argument::Vector(register) => Ok(HeldFloat { register, own: false }),
                    _ => self.moved(expression, width),
                },
                _ => self.moved(expression, width),
            },
            _ => self.moved(expression, width),
        }
    }

    fn moved(&mut self, expression: &Expression, width: u16) -> Result<HeldFloat, Refusal> {
        let held = self.number(expression)?;
        let to = self.take_vector(expression)?;
        self.code.push(instruction::to_vector(width, to, held.register));
        self.release(&held);
        Ok(HeldFloat { register: to, own: true })
    }

    pub fn release_vector(&mut self, held: &HeldFloat) {
        if held.own {
            self.free_vectors.push(held.register);
        }
    }

    /// A comparison. If one operand is NaN it does not hold.
    pub fn float_branch(
        &mut self,
        expression: &Expression,
        word: FloatWord,
        [a, b]: [&Expression; 2],
        truth: Truth,
        to: Target,
    ) -> Result<(), Refusal> {
        let code = match self.width(a)? {
            64 => Code::Ucomisd_xmm_xmmm64,
            32 => Code::Ucomiss_xmm_xmmm32,
            _ => return Err(self.refuse(expression, "it compares no floating-point numbers")),
        };
        let first = self.float(a)?;
        let second = if a == b { HeldFloat { register: first.register, own: false } } else { self.float(b)? };
        // The flags say less where one is NaN: orders ask whether the second is greater.
        match word {
            FloatWord::Equal => {
                self.code.push(instruction::of_vectors(code, first.register, second.register));
                match (a == b, truth) {
                    (true, _) => self.code.branch(When::Ordered.if_is(truth), to),
                    (false, Truth::Fails) => {
                        self.code.branch(When::NotEqual, to);
                        self.code.branch(When::Unordered, to);
                    }
                    (false, Truth::Holds) => {
                        let end = self.code.label();
                        self.code.branch(When::Unordered, Target::Inside(end));
                        self.code.branch(When::Equal, to);
                        self.code.bind(end);
                    }
                }
            }
            FloatWord::Less | FloatWord::LessOrEqual => {
                self.code.push(instruction::of_vectors(code, second.register, first.register));
                let holds = if word == FloatWord::Less { When::Above } else { When::NotBelow };
                self.code.branch(holds.if_is(truth), to);
            }
            _ => return Err(self.refuse(expression, "it is no truth value")),
        }
        self.release_vector(&first);
        self.release_vector(&second);
        Ok(())
    }
}
