//! Calls: mathematical functions as the C side has them, and copies of memory, which compilers make of loops.

use crate::lane::{Content, Lane, Lanes, Value, push};
use crate::machine::{Machine, Run};
use crate::memory::STACK;
use program::{Callee, Register};
use updates::{Domain, Scalar};

const CLOBBERED: &str = "a register that a call may change";
/// Most bytes of one copy.
const MOST_BYTES: u64 = 1 << 28;

/// Number of arguments of a mathematical function without its `f`.
fn arity(base: &str) -> Option<usize> {
    Some(match base {
        "sqrt" | "fabs" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10" | "log1p" | "sin" | "cos" | "tan"
        | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "cbrt" | "floor" | "ceil" | "trunc" | "round"
        | "rint" | "nearbyint" | "erf" | "erfc" | "tgamma" | "lgamma" => 1,
        "pow" | "fmod" | "atan2" | "hypot" | "fmin" | "fmax" | "copysign" => 2,
        "fma" => 3,
        _ => return None,
    })
}

/// Type and number of arguments of a mathematical function.
fn mathematical(name: &str) -> Option<(Scalar, usize)> {
    let double = arity(name).map(|count| (Scalar::F64, count));
    double.or_else(|| Some((Scalar::F32, arity(name.strip_suffix('f')?)?)))
}

impl<D: Domain> Machine<'_, '_, D> {
    pub(crate) fn call(&mut self, callee: &Callee) -> Run<()> {
        let Callee::Named(name) = callee else { return Err(self.unsupported("a call through a pointer".into())) };
        if self.code.function.defined.contains(name) {
            return Err(self.unsupported(format!("a call of `{name}`, which the file defines")));
        }
        let result = match (mathematical(name), name.as_str()) {
            (Some((ty, count)), _) => {
                let mut arguments = Vec::new();
                for number in 0..count {
                    let lanes = self.register(Register::Vector(number as u8)).lanes();
                    let low = Value::from_lanes(crate::lane::slice(&lanes, 0, 8 * ty.bytes() as u16));
                    let operand = self.values.operand(&low, ty);
                    arguments.push(operand.map_err(|why| self.unsupported(format!("`{name}` is called with {why}")))?);
                }
                let value = self.values.domain.call(name, ty, &arguments);
                (Register::Vector(0), self.values.lane(value, ty))
            }
            (None, "memset" | "memcpy" | "memmove") => self.block(name)?,
            _ => return Err(self.unsupported(format!("a call of `{name}`"))),
        };
        for register in Register::all().filter(|r| *r != Register::RSP && !Register::CALLEE_SAVED.contains(r)) {
            let value = match (register.sort(), register) {
                (_, Register::FsBase | Register::GsBase | Register::Flag(program::Flag::Direction)) => continue,
                (term::Sort::Bv(width), _) => Value::lost(width, CLOBBERED),
                _ => Value::LostTruth(CLOBBERED),
            };
            self.set_register(register, value);
        }
        self.lose_below();
        let (register, lane) = result;
        let width = register.sort().width().unwrap_or(64);
        let mut lanes = Lanes::new();
        push(&mut lanes, lane);
        push(&mut lanes, Lane::lost(width - lane.width, CLOBBERED));
        self.set_register(register, Value::from_lanes(lanes));
        Ok(())
    }

    /// What lies below the stack pointer is the callee's.
    fn lose_below(&mut self) {
        let (Value::Bits(rsp), from) = (self.register(Register::RSP), self.lowest) else { return };
        if let Some(region) = self.memory.region_mut(STACK) {
            let (start, end) = (from.saturating_sub(region.base), rsp.low().saturating_sub(region.base));
            if let Some(bytes) = region.bytes.get_mut(start as usize..end as usize) {
                bytes.fill(Content::Lost("the stack below a call"));
            }
        }
    }

    /// `memset`, `memcpy` and `memmove`; the result is the destination.
    fn block(&mut self, name: &str) -> Run<(Register, Lane<D::Value>)> {
        let mut numbers = [0; 3];
        for (number, register) in numbers.iter_mut().zip(Register::ARGUMENTS) {
            // The byte of `memset` is the low end of an `int`.
            let narrow = name == "memset" && register == Register::ARGUMENTS[1];
            let value = crate::lane::slice(&self.register(register).lanes(), 0, if narrow { 8 } else { 64 });
            *number = match value.as_slice() {
                [Lane { content: Content::Known(bits), .. }] => *bits,
                _ => return Err(self.unsupported(format!("`{name}` with an argument that depends on data"))),
            };
        }
        let [to, from, count] = numbers;
        if count > MOST_BYTES {
            return Err(self.unsupported(format!("`{name}` of {count} bytes")));
        }
        let overlap = from < to.saturating_add(count) && to < from.saturating_add(count);
        if name == "memcpy" && overlap && to != from {
            return Err(self.fault(updates::FaultKind::Undefined, "`memcpy` of overlapping memory".to_string()));
        }
        // All bytes are read before any is written.
        let mut bytes = Vec::with_capacity(count as usize);
        for offset in 0..count {
            bytes.push(match name {
                "memset" => Value::from_lanes([Lane::known(8, from)].into_iter().collect()),
                _ => self.memory.load(from.wrapping_add(offset), 1).map_err(|r| self.refuse(r, "load"))?,
            });
        }
        for (offset, byte) in bytes.iter().enumerate() {
            self.store(to.wrapping_add(offset as u64), byte)?;
        }
        Ok((Register::General(0), Lane::known(64, to)))
    }
}
