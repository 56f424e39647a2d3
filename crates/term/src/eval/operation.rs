//! The meaning of each operator on values.

use super::Value;
use crate::{Arena, Bits, Func, Op};

/// The result of an operator on concrete operands. Variables, memory operations and opaque functions need a model
/// and are not handled here: asking for them is a caller's bug and panics.
pub fn apply(arena: &Arena, op: Op, args: &[Value]) -> Value {
    let bits = |i: usize| args[i].bits();
    let count = |n: u16| {
        let width = bits(0).width();
        Value::Bits(Bits::new(64, u64::from(n)).resize(width))
    };
    match op {
        Op::True => Value::Bool(true),
        Op::False => Value::Bool(false),
        Op::Not => Value::Bool(!args[0].bool()),
        Op::And => Value::Bool(args.iter().all(|arg| arg.bool())),
        Op::Or => Value::Bool(args.iter().any(|arg| arg.bool())),
        Op::Ite => {
            if args[0].bool() {
                args[1]
            } else {
                args[2]
            }
        }
        Op::Eq => Value::Bool(args[0] == args[1]),
        Op::Ult => Value::Bool(bits(0).ult(bits(1))),
        Op::Slt => Value::Bool(bits(0).slt(bits(1))),
        Op::Add => Value::Bits(args[1..].iter().fold(bits(0), |sum, arg| sum.add(arg.bits()))),
        Op::Mul => Value::Bits(bits(0).mul(bits(1))),
        Op::Udiv => Value::Bits(bits(0).udiv(bits(1))),
        Op::Urem => Value::Bits(bits(0).urem(bits(1))),
        Op::Sdiv => Value::Bits(bits(0).sdiv(bits(1))),
        Op::Srem => Value::Bits(bits(0).srem(bits(1))),
        Op::BvNot => Value::Bits(bits(0).not()),
        Op::BvAnd => Value::Bits(bits(0).and(bits(1))),
        Op::BvOr => Value::Bits(bits(0).or(bits(1))),
        Op::BvXor => Value::Bits(bits(0).xor(bits(1))),
        Op::Shl => Value::Bits(bits(0).shl(bits(1))),
        Op::Lshr => Value::Bits(bits(0).lshr(bits(1))),
        Op::Ashr => Value::Bits(bits(0).ashr(bits(1))),
        Op::Extract { hi, lo } => Value::Bits(bits(0).extract(hi, lo)),
        Op::Concat => Value::Bits(args[1..].iter().fold(bits(0), |high, arg| high.concat(arg.bits()))),
        Op::Zext(width) => Value::Bits(bits(0).zext(width)),
        Op::Sext(width) => Value::Bits(bits(0).sext(width)),
        Op::Popcount => count(bits(0).count_ones() as u16),
        Op::TrailingZeros => count(bits(0).trailing_zeros()),
        Op::LeadingZeros => count(bits(0).leading_zeros()),
        Op::Apply(func) => match arena.func(func) {
            Func::Float(float) => {
                let args: Vec<Bits> = args.iter().map(|arg| arg.bits()).collect();
                let out = float.eval(&args);
                if float.result().width().is_none() { Value::Bool(out.low() == 1) } else { Value::Bits(out) }
            }
            Func::Opaque { name, .. } => panic!("opaque function `{name}` needs a model"),
        },
        Op::Const(_) | Op::Var(_) | Op::Load(_) | Op::Store(_) | Op::Fill | Op::Copy => {
            panic!("{op:?} needs a model")
        }
    }
}
