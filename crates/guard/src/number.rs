//! Numbers of a condition, computed into registers.
//!
//! A number of fewer than 64 bits lies in the low bits of its register; what is above matters to few operations, which clear
//! it first.

use crate::Refusal;
use crate::compiler::{Argument, Compiler, Held, Owner, RAX, RDX, Rest};
use crate::instruction::{self, Arithmetic, Shift};
use crate::listing::{Target, Truth, When};
use iced_x86::{MemoryOperand, Register};
use kernel::{Expression, Operator};
use program::Side;

impl Compiler<'_> {
    /// A register that holds a number; to be released.
    pub fn number(&mut self, expression: &Expression) -> Result<Held, Refusal> {
        let width = self.width(expression)?;
        if width > 64 {
            return Err(self.refuse(expression, "it is wider than a register"));
        }
        match expression {
            Expression::Apply(Operator::Add | Operator::Sub | Operator::Mul | Operator::Shl, _) if width == 64 => {
                match self.scaled(expression)? {
                    Some(address) => {
                        self.release_address(&address);
                        let to = self.take(expression)?;
                        self.code.push(instruction::address(to, address.operand()));
                        Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Zeros })
                    }
                    None => self.operated(expression),
                }
            }
            Expression::Apply(..) => self.operated(expression),
            Expression::Constant(bits) => {
                let to = self.take(expression)?;
                self.code.push(instruction::set(to, bits.low()));
                Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Zeros })
            }
            Expression::Named(name) => match name.strip_prefix('&') {
                Some(symbol) => {
                    let to = self.take(expression)?;
                    let slot = MemoryOperand::with_base_displ_size(Register::RIP, 0, 8);
                    self.code.push_slot(instruction::load(8, to, slot), symbol);
                    Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Zeros })
                }
                None => self.passed(expression, name, width),
            },
            Expression::Place(_) => Err(self.refuse(expression, "it is no value at entry")),
        }
    }

    fn passed(&mut self, expression: &Expression, name: &str, width: u16) -> Result<Held, Refusal> {
        let rest = |bits: u16| if bits == width { Rest::Zeros } else { Rest::Anything };
        match self.argument(expression, name)? {
            Argument::General(register) => Ok(Held { register, owner: Owner::Caller, rest: rest(64) }),
            Argument::Vector(from) => {
                let bits = if width > 32 { 64 } else { 32 };
                let to = self.take(expression)?;
                self.code.push(instruction::from_vector(bits, to, from));
                Ok(Held { register: to, owner: Owner::Guard, rest: rest(bits) })
            }
            Argument::Stack(offset) => {
                let to = self.take(expression)?;
                let bytes = width.div_ceil(8).next_power_of_two();
                let memory = MemoryOperand::with_base_displ_size(Register::RSP, offset, 1);
                self.code.push(instruction::load(bytes, to, memory));
                Ok(Held { register: to, owner: Owner::Guard, rest: rest(8 * bytes) })
            }
        }
    }

    /// A copy that may be changed.
    fn own(&mut self, held: Held, expression: &Expression) -> Result<Held, Refusal> {
        if held.owner == Owner::Guard {
            return Ok(held);
        }
        let to = self.take(expression)?;
        self.code.push(instruction::copy(64, to, held.register));
        Ok(Held { register: to, owner: Owner::Guard, ..held })
    }

    /// The register to write a result to whose operand is no longer needed.
    fn result(&mut self, held: &Held, expression: &Expression) -> Result<u8, Refusal> {
        if held.owner == Owner::Guard { Ok(held.register) } else { self.take(expression) }
    }

    /// The same number with zeros above.
    pub fn clean(&mut self, held: Held, width: u16, expression: &Expression) -> Result<Held, Refusal> {
        if held.rest == Rest::Zeros || width == 64 {
            return Ok(held);
        }
        let to = self.result(&held, expression)?;
        match width {
            8 | 16 | 32 => self.code.push(instruction::copy(width, to, held.register)),
            _ => {
                if to != held.register {
                    self.code.push(instruction::copy(64, to, held.register));
                }
                if width < 32 {
                    self.code.push(instruction::with_number(Arithmetic::And, 32, to, (1 << width) - 1));
                } else {
                    self.code.push(instruction::shift(Shift::Left, 64, to, 64 - width));
                    self.code.push(instruction::shift(Shift::Right, 64, to, 64 - width));
                }
            }
        }
        Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Zeros })
    }

    /// The same number with copies of its sign above.
    pub fn signed(&mut self, held: Held, width: u16, expression: &Expression) -> Result<Held, Refusal> {
        if width == 64 {
            return Ok(held);
        }
        let to = self.result(&held, expression)?;
        match width {
            8 | 16 | 32 => self.code.push(instruction::extend(width, to, held.register)),
            _ => {
                if to != held.register {
                    self.code.push(instruction::copy(64, to, held.register));
                }
                self.code.push(instruction::shift(Shift::Left, 64, to, 64 - width));
                self.code.push(instruction::shift(Shift::Signed, 64, to, 64 - width));
            }
        }
        Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Anything })
    }

    /// An operation by its own instruction.
    pub fn operated(&mut self, expression: &Expression) -> Result<Held, Refusal> {
        let Expression::Apply(operator, operands) = expression else { return self.number(expression) };
        let width = self.width(expression)?;
        match (operator, &operands[..]) {
            (Operator::Add, all) => self.chain(expression, Arithmetic::Add, all),
            (Operator::Sub, all) => self.chain(expression, Arithmetic::Sub, all),
            (Operator::BvAnd, all) => self.chain(expression, Arithmetic::And, all),
            (Operator::BvOr, all) => self.chain(expression, Arithmetic::Or, all),
            (Operator::BvXor, all) => self.chain(expression, Arithmetic::Xor, all),
            (Operator::Mul, [a, b]) => self.product(expression, a, b),
            (Operator::BvNot, [a]) => {
                let held = self.number(a)?;
                let held = self.own(held, expression)?;
                self.code.push(instruction::complement(held.register));
                let rest = if width == 64 { Rest::Zeros } else { Rest::Anything };
                Ok(Held { rest, ..held })
            }
            (Operator::Sext(_), [a]) => {
                let (held, from) = (self.number(a)?, self.width(a)?);
                self.signed(held, from, expression)
            }
            (Operator::Zext(_), [a]) => {
                let (held, from) = (self.number(a)?, self.width(a)?);
                self.clean(held, from, expression)
            }
            (Operator::Slice(low, bits), [a]) => self.slice(expression, a, *low, *bits),
            (Operator::Concat, [high, low]) => {
                let by = self.width(low)?;
                let held = self.number(high)?;
                let high = self.own(held, expression)?;
                self.code.push(instruction::shift(Shift::Left, 64, high.register, by));
                let held = self.number(low)?;
                let low = self.clean(held, by, expression)?;
                self.code.push(instruction::with_register(Arithmetic::Or, 64, high.register, low.register));
                self.release(&low);
                Ok(Held { rest: if width == 64 { Rest::Zeros } else { Rest::Anything }, ..high })
            }
            (Operator::Load(Side::Original, bytes @ (1 | 2 | 4 | 8)), [address]) => {
                let address = self.address(address)?;
                self.release_address(&address);
                let to = self.take(expression)?;
                self.code.push(instruction::load(*bytes, to, address.operand()));
                Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Zeros })
            }
            (Operator::Shl | Operator::Lshr | Operator::Ashr, [a, Expression::Constant(by)]) => {
                self.shifted(expression, *operator, a, by.low())
            }
            (Operator::Udiv | Operator::Urem, [a, Expression::Constant(by)]) if by.low().is_power_of_two() => {
                let held = self.number(a)?;
                let held = self.clean(held, width, expression)?;
                let held = self.own(held, expression)?;
                let log = by.low().trailing_zeros() as u16;
                match operator {
                    Operator::Udiv => self.code.push(instruction::shift(Shift::Right, 64, held.register, log)),
                    _ if log <= 31 => {
                        let mask = (1i64 << log) as i32 - i32::from(log != 31);
                        let mask = if log == 31 { i32::MAX } else { mask };
                        self.code.push(instruction::with_number(Arithmetic::And, 32, held.register, mask));
                    }
                    _ => {
                        self.code.push(instruction::shift(Shift::Left, 64, held.register, 64 - log));
                        self.code.push(instruction::shift(Shift::Right, 64, held.register, 64 - log));
                    }
                }
                Ok(held)
            }
            (Operator::Udiv | Operator::Urem | Operator::Sdiv | Operator::Srem, [a, Expression::Constant(by)])
                if !by.is_zero() =>
            {
                self.divided(expression, *operator, a, &operands[1])
            }
            (Operator::Udiv | Operator::Urem | Operator::Sdiv | Operator::Srem, _) => {
                Err(self.refuse(expression, "it divides by what may be zero"))
            }
            (Operator::Shl | Operator::Lshr | Operator::Ashr, _) => {
                Err(self.refuse(expression, "it shifts by what is no constant"))
            }
            (Operator::Extreme { most, signed }, all) => self.extreme(expression, *most, *signed, all),
            (Operator::Ite, [condition, a, b]) => {
                let (otherwise, end) = (self.code.label(), self.code.label());
                self.branch(condition, Truth::Fails, Target::Inside(otherwise))?;
                let held = self.number(a)?;
                let to = self.own(held, expression)?;
                self.code.jump(Target::Inside(end));
                self.code.bind(otherwise);
                let held = self.number(b)?;
                self.code.push(instruction::copy(64, to.register, held.register));
                self.code.bind(end);
                self.release(&held);
                Ok(Held { rest: if width == 64 { Rest::Zeros } else { Rest::Anything }, ..to })
            }
            (Operator::Float(_), _) => {
                let from = self.float(expression)?;
                let to = self.take(expression)?;
                self.code.push(instruction::from_vector(width, to, from.register));
                self.release_vector(&from);
                Ok(Held { register: to, owner: Owner::Guard, rest: Rest::Zeros })
            }
            _ => Err(self.refuse(expression, "there is no code for it")),
        }
    }

    /// `first op second op …`
    fn chain(&mut self, expression: &Expression, op: Arithmetic, all: &[Expression]) -> Result<Held, Refusal> {
        let width = self.width(expression)?;
        let Some((first, rest)) = all.split_first() else {
            return Err(self.refuse(expression, "it has no operands"));
        };
        // A constant in front would need a register.
        let (first, rest) = match (first, rest) {
            (Expression::Constant(_), [second]) if op != Arithmetic::Sub => (second, std::slice::from_ref(first)),
            _ => (first, rest),
        };
        let bits = if width > 32 { 64 } else { 32 };
        let held = self.number(first)?;
        let held = self.own(held, expression)?;
        for operand in rest {
            match small(operand, width) {
                Some(number) => self.code.push(instruction::with_number(op, bits, held.register, number)),
                None => {
                    let other = self.number(operand)?;
                    self.code.push(instruction::with_register(op, bits, held.register, other.register));
                    self.release(&other);
                }
            }
        }
        Ok(Held { rest: if width == bits { Rest::Zeros } else { Rest::Anything }, ..held })
    }

    fn product(&mut self, expression: &Expression, a: &Expression, b: &Expression) -> Result<Held, Refusal> {
        let width = self.width(expression)?;
        let bits = if width > 32 { 64 } else { 32 };
        let rest = if width == bits { Rest::Zeros } else { Rest::Anything };
        let (a, b) = if matches!(a, Expression::Constant(_)) { (b, a) } else { (a, b) };
        let held = self.number(a)?;
        if let Expression::Constant(by) = b
            && by.low().is_power_of_two()
        {
            let held = self.own(held, expression)?;
            self.code.push(instruction::shift(Shift::Left, bits, held.register, by.low().trailing_zeros() as u16));
            return Ok(Held { rest, ..held });
        }
        if let Some(by) = small(b, width) {
            let to = self.result(&held, expression)?;
            self.code.push(instruction::multiply_by(bits, to, held.register, by));
            return Ok(Held { register: to, owner: Owner::Guard, rest });
        }
        let held = self.own(held, expression)?;
        let other = self.number(b)?;
        self.code.push(instruction::multiply(bits, held.register, other.register));
        self.release(&other);
        Ok(Held { rest, ..held })
    }

    fn slice(&mut self, expression: &Expression, of: &Expression, low: u16, bits: u16) -> Result<Held, Refusal> {
        let width = self.width(of)?;
        // Of what is wider than a register only a part is looked at.
        if width > 64 {
            match of {
                Expression::Apply(Operator::Load(Side::Original, _), operands)
                    if low.is_multiple_of(8) && matches!(bits, 8 | 16 | 32 | 64) =>
                {
                    let [address] = &operands[..] else { return Err(self.refuse(of, "it is no address")) };
                    let at = Expression::Constant(term::Bits::new(64, u64::from(low / 8)));
                    let address = Expression::Apply(Operator::Add, vec![address.clone(), at]);
                    let part = Expression::Apply(Operator::Load(Side::Original, bits / 8), vec![address]);
                    return self.operated(&part);
                }
                Expression::Named(name) if low == 0 && matches!(bits, 32 | 64) => {
                    return self.passed(expression, name, bits);
                }
                _ => return Err(self.refuse(expression, "it is a part of what is wider than a register")),
            }
        }
        let held = self.number(of)?;
        if low == 0 {
            return Ok(Held { rest: if bits == width { held.rest } else { Rest::Anything }, ..held });
        }
        let held = self.own(held, expression)?;
        self.code.push(instruction::shift(Shift::Right, 64, held.register, low));
        let rest = if low + bits == width { held.rest } else { Rest::Anything };
        Ok(Held { rest, ..held })
    }

    fn shifted(&mut self, expression: &Expression, op: Operator, of: &Expression, by: u64) -> Result<Held, Refusal> {
        let width = self.width(of)?;
        let held = self.number(of)?;
        let held = match op {
            Operator::Shl => held,
            Operator::Lshr => self.clean(held, width, expression)?,
            _ => self.signed(held, width, expression)?,
        };
        let held = self.own(held, expression)?;
        // Shifts by the width and more leave nothing, or the sign.
        let by = by.min(u64::from(if op == Operator::Ashr { width - 1 } else { width })) as u16;
        match op {
            _ if by == 64 => {
                self.code.push(instruction::with_register(Arithmetic::Xor, 32, held.register, held.register))
            }
            Operator::Shl => self.code.push(instruction::shift(Shift::Left, 64, held.register, by)),
            Operator::Lshr => self.code.push(instruction::shift(Shift::Right, 64, held.register, by)),
            _ => self.code.push(instruction::shift(Shift::Signed, 64, held.register, by)),
        }
        let zeros = width == 64 || op == Operator::Lshr;
        Ok(Held { rest: if zeros { Rest::Zeros } else { Rest::Anything }, ..held })
    }

    /// A division borrows `rdx`, which may hold an argument, and needs `rax`.
    fn divided(
        &mut self,
        expression: &Expression,
        op: Operator,
        of: &Expression,
        by: &Expression,
    ) -> Result<Held, Refusal> {
        let width = self.width(expression)?;
        if !matches!(width, 32 | 64) {
            return Err(self.refuse(expression, "it divides numbers of neither 32 nor 64 bits"));
        }
        if self.free.len() < 3 || !self.free.contains(&RAX) {
            return Err(self.refuse(expression, "a division needs `rax` and two other registers, which are not free"));
        }
        let signed = matches!(op, Operator::Sdiv | Operator::Srem);
        let held = self.number(of)?;
        if held.register != RAX {
            self.code.push(instruction::copy(width, RAX, held.register));
        }
        self.release(&held);
        self.free.retain(|register| *register != RAX);
        let divisor = self.number(by)?;
        let saved = self.take(expression)?;
        self.code.push(instruction::copy(64, saved, RDX));
        for step in instruction::divide(width, signed, divisor.register) {
            self.code.push(step);
        }
        self.release(&divisor);
        if matches!(op, Operator::Urem | Operator::Srem) {
            self.code.push(instruction::copy(width, RAX, RDX));
        }
        self.code.push(instruction::copy(64, RDX, saved));
        self.free.push(saved);
        Ok(Held { register: RAX, owner: Owner::Guard, rest: Rest::Zeros })
    }

    fn extreme(
        &mut self,
        expression: &Expression,
        most: bool,
        signed: bool,
        all: &[Expression],
    ) -> Result<Held, Refusal> {
        let width = self.width(expression)?;
        let Some((first, rest)) = all.split_first() else {
            return Err(self.refuse(expression, "it has no operands"));
        };
        let extended = |compiler: &mut Self, part: &Expression| {
            let held = compiler.number(part)?;
            if signed { compiler.signed(held, width, part) } else { compiler.clean(held, width, part) }
        };
        let held = extended(self, first)?;
        let best = self.own(held, expression)?;
        for part in rest {
            let other = extended(self, part)?;
            let keep = self.code.label();
            self.code.push(instruction::with_register(Arithmetic::Cmp, 64, best.register, other.register));
            let better = match (most, signed) {
                (true, true) => When::NotLess,
                (true, false) => When::NotBelow,
                (false, true) => When::NotGreater,
                (false, false) => When::NotAbove,
            };
            self.code.branch(better, Target::Inside(keep));
            self.code.push(instruction::copy(64, best.register, other.register));
            self.code.bind(keep);
            self.release(&other);
        }
        Ok(best)
    }
}

/// A constant that an instruction of this width can hold.
pub(crate) fn small(expression: &Expression, width: u16) -> Option<i32> {
    let Expression::Constant(bits) = expression else { return None };
    match width {
        64 => i32::try_from(bits.low() as i64).ok(),
        33..64 => i32::try_from(bits.low()).ok(),
        _ => Some(bits.low() as i32),
    }
}

/// Does it read memory?
pub(crate) fn reads_memory(expression: &Expression) -> bool {
    match expression {
        Expression::Apply(Operator::Load(..), _) => true,
        Expression::Apply(_, operands) => operands.iter().any(reads_memory),
        _ => false,
    }
}
