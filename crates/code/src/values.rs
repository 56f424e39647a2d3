//! Operations on lanes: each is an operation of the domain, a move of bits, or lost.

use crate::lane::{Content, Lane, Lanes, Value, aligned, push};
use rustc_hash::FxHashMap;
use term::{FloatOp, Rounding};
use updates::{Cmp, Constant, Domain, Op, Scalar};

const BIT_TRICK: &str = "an operation on the bits of a value";
const NOT_A_FLOAT: &str = "a floating-point operation on something else";

/// The domain, and how some of its values came about.
pub(crate) struct Values<'d, D: Domain> {
    pub domain: &'d mut D,
    /// Values that are another one or zero, by a condition: `mask & x`.
    masked: FxHashMap<D::Value, (D::Value, D::Value)>,
}

fn float_type(width: u16) -> Scalar {
    if width == 32 { Scalar::F32 } else { Scalar::F64 }
}

/// The constant of a type with these bits.
pub(crate) fn constant_of(bits: u64, ty: Scalar) -> Constant {
    match ty {
        Scalar::F64 => Constant::F64(bits),
        Scalar::F32 => Constant::F32(bits as u32),
        _ => Constant::integer(ty.wrap(i128::from(bits))),
    }
}

fn bits_of(constant: Constant) -> u64 {
    match constant {
        Constant::Int(value) => value as u64,
        Constant::Big(value) | Constant::F64(value) => value,
        Constant::F32(value) => u64::from(value),
    }
}

impl<'d, D: Domain> Values<'d, D> {
    pub fn new(domain: &'d mut D) -> Values<'d, D> {
        Values { domain, masked: FxHashMap::default() }
    }

    /// A whole value of a type.
    pub fn lane(&self, value: D::Value, ty: Scalar) -> Lane<D::Value> {
        let width = 8 * ty.bytes() as u16;
        match self.domain.known(value) {
            Some(constant) => Lane::known(width, bits_of(constant)),
            None => Lane { width, content: Content::Part { value, ty, low: 0 } },
        }
    }

    /// A truth value.
    pub fn truth(&self, value: D::Value) -> Value<D::Value> {
        match self.domain.known(value) {
            Some(constant) => Value::Bool(constant.is_true()),
            None => Value::Truth(value),
        }
    }

    /// The domain's value of a lane, as a value of a type.
    fn as_type(&mut self, lane: Lane<D::Value>, ty: Scalar) -> Result<D::Value, &'static str> {
        match lane.content {
            Content::Known(bits) if u64::from(lane.width) == 8 * ty.bytes() => {
                Ok(self.domain.constant(constant_of(bits, ty)))
            }
            Content::Lost(why) => Err(why),
            _ => match lane.whole() {
                Some((value, of)) if of == ty => Ok(value),
                _ => Err(NOT_A_FLOAT),
            },
        }
    }

    /// The domain's value of bits, as a value of a type.
    pub fn operand(&mut self, value: &Value<D::Value>, ty: Scalar) -> Result<D::Value, &'static str> {
        match value.lanes().as_slice() {
            [lane] => self.as_type(*lane, ty),
            [.., Lane { content: Content::Lost(why), .. }] => Err(why),
            _ => Err(NOT_A_FLOAT),
        }
    }

    /// A floating-point operation.
    pub fn float(&mut self, op: FloatOp, args: &[Value<D::Value>]) -> Result<Value<D::Value>, &'static str> {
        use FloatOp::*;
        let (width, count) = op.operands();
        let from_type = match op {
            FromInt { from: 32, .. } => Scalar::I32,
            FromInt { .. } => Scalar::I64,
            _ => float_type(width),
        };
        let mut operands = Vec::with_capacity(count);
        for arg in args {
            operands.push(self.operand(arg, from_type)?);
        }
        let ty = from_type;
        let [a, b] = [operands[0], *operands.get(1).unwrap_or(&operands[0])];
        let single = ty == Scalar::F32;
        let name = |double: &'static str, float: &'static str| if single { float } else { double };
        let domain = &mut *self.domain;
        let undefined = |_| "an operation without a defined result";
        let (value, out) = match op {
            Add(_) => (domain.binary(Op::Add, ty, a, b).map_err(undefined)?, ty),
            Sub(_) => (domain.binary(Op::Sub, ty, a, b).map_err(undefined)?, ty),
            Mul(_) => (domain.binary(Op::Mul, ty, a, b).map_err(undefined)?, ty),
            Div(_) => (domain.binary(Op::Div, ty, a, b).map_err(undefined)?, ty),
            Sqrt(_) => (domain.call(name("sqrt", "sqrtf"), ty, &[a]), ty),
            Fma(_) => (domain.call(name("fma", "fmaf"), ty, &operands), ty),
            // The second operand unless the first is smaller, or greater: also for NaN and zeros.
            Min(_) => {
                let less = domain.compare(Cmp::Lt, ty, a, b);
                (domain.choice(less, a, b), ty)
            }
            Max(_) => {
                let more = domain.compare(Cmp::Lt, ty, b, a);
                (domain.choice(more, a, b), ty)
            }
            Lt(_) => return Ok(truth_of(domain.compare(Cmp::Lt, ty, a, b), domain)),
            Eq(_) => return Ok(truth_of(domain.compare(Cmp::Eq, ty, a, b), domain)),
            Unordered(_) => {
                let (first, second) = (domain.compare(Cmp::Eq, ty, a, a), domain.compare(Cmp::Eq, ty, b, b));
                let (yes, nan) = (domain.constant(Constant::Int(1)), domain.not(second));
                return Ok(truth_of(domain.choice(first, nan, yes), domain));
            }
            Convert { to, .. } => (domain.convert(ty, float_type(to), a).map_err(undefined)?, float_type(to)),
            FromInt { to, .. } => (domain.convert(ty, float_type(to), a).map_err(undefined)?, float_type(to)),
            // Out of range the machine has a value and C has none.
            Truncate { to, .. } => {
                let to = if to == 32 { Scalar::I32 } else { Scalar::I64 };
                (domain.convert(ty, to, a).map_err(undefined)?, to)
            }
            Round { .. } => return Err("a conversion to the nearest integer"),
            Integral { rounding, .. } => {
                let called = match rounding {
                    Rounding::Down => name("floor", "floorf"),
                    Rounding::Up => name("ceil", "ceilf"),
                    Rounding::Zero => name("trunc", "truncf"),
                    Rounding::Nearest => name("rint", "rintf"),
                };
                (domain.call(called, ty, &[a]), ty)
            }
        };
        Ok(Value::from_lanes([self.lane(value, out)].into_iter().collect()))
    }

    /// A bitwise operation, lane by lane.
    pub fn bitwise(&mut self, op: term::Op, a: &Value<D::Value>, b: &Value<D::Value>) -> Value<D::Value> {
        let mut out = Lanes::new();
        for (x, y) in aligned(&a.lanes(), &b.lanes()) {
            let lane = match op {
                term::Op::BvAnd => self.and(x, y),
                term::Op::BvOr => self.or(x, y),
                _ => self.xor(x, y),
            };
            push(&mut out, lane);
        }
        Value::from_lanes(out)
    }

    fn and(&mut self, x: Lane<D::Value>, y: Lane<D::Value>) -> Lane<D::Value> {
        let width = x.width;
        for (x, y) in [(x, y), (y, x)] {
            match (x.content, y.content) {
                (Content::Known(0), _) => return x,
                (Content::Known(_), _) if x.is_known(u64::MAX) => return y,
                (Content::Known(a), Content::Known(b)) => return Lane::known(width, a & b),
                (Content::Known(bits), Content::Part { .. }) => {
                    let Some((value, ty)) = y.whole().filter(|(_, ty)| ty.is_float()) else { continue };
                    if bits == u64::MAX >> (65 - width) {
                        let name = if ty == Scalar::F32 { "fabsf" } else { "fabs" };
                        let magnitude = self.domain.call(name, ty, &[value]);
                        return self.lane(magnitude, ty);
                    }
                }
                (Content::Mask(cond), Content::Part { .. }) => {
                    let Some((value, ty)) = y.whole() else { continue };
                    let zero = self.domain.constant(constant_of(0, ty));
                    let masked = self.domain.choice(cond, value, zero);
                    self.masked.insert(masked, (cond, value));
                    return self.lane(masked, ty);
                }
                (Content::Mask(first), Content::Mask(second)) => {
                    let no = self.domain.constant(Constant::Int(0));
                    let both = self.domain.choice(first, second, no);
                    return self.mask(width, both);
                }
                _ => {}
            }
        }
        Lane::lost(width, lost(x, y))
    }

    fn or(&mut self, x: Lane<D::Value>, y: Lane<D::Value>) -> Lane<D::Value> {
        let width = x.width;
        for (x, y) in [(x, y), (y, x)] {
            match (x.content, y.content) {
                (Content::Known(0), _) => return y,
                (Content::Known(_), _) if x.is_known(u64::MAX) => return x,
                (Content::Known(a), Content::Known(b)) => return Lane::known(width, a | b),
                (Content::Mask(first), Content::Mask(second)) => {
                    let yes = self.domain.constant(Constant::Int(1));
                    let either = self.domain.choice(first, yes, second);
                    return self.mask(width, either);
                }
                _ => {}
            }
        }
        // `mask & x | ~mask & y`.
        if let (Some((a, ty)), Some((b, of))) = (x.whole(), y.whole())
            && ty == of
            && let (Some((cond, yes)), Some((other, no))) = (self.masked.get(&a).copied(), self.masked.get(&b).copied())
            && self.domain.not(cond) == other
        {
            let value = self.domain.choice(cond, yes, no);
            return self.lane(value, ty);
        }
        Lane::lost(width, lost(x, y))
    }

    fn xor(&mut self, x: Lane<D::Value>, y: Lane<D::Value>) -> Lane<D::Value> {
        let width = x.width;
        for (x, y) in [(x, y), (y, x)] {
            match (x.content, y.content) {
                (Content::Known(0), _) => return y,
                (Content::Known(a), Content::Known(b)) => return Lane::known(width, a ^ b),
                (Content::Known(_), Content::Mask(cond)) if x.is_known(u64::MAX) => {
                    let not = self.domain.not(cond);
                    return self.mask(width, not);
                }
                (Content::Known(bits), Content::Part { .. }) => {
                    let Some((value, ty)) = y.whole().filter(|(_, ty)| ty.is_float()) else { continue };
                    if bits == 1 << (width - 1)
                        && let Ok(negated) = self.domain.negate(ty, value)
                    {
                        return self.lane(negated, ty);
                    }
                }
                _ => {}
            }
        }
        Lane::lost(width, lost(x, y))
    }

    fn mask(&self, width: u16, cond: D::Value) -> Lane<D::Value> {
        match self.domain.known(cond) {
            Some(constant) => Lane::known(width, if constant.is_true() { u64::MAX } else { 0 }),
            None => Lane { width, content: Content::Mask(cond) },
        }
    }

    /// One of two bit vectors, by a condition that is not known.
    pub fn choice(&mut self, cond: D::Value, yes: &Value<D::Value>, no: &Value<D::Value>) -> Value<D::Value> {
        let mut out = Lanes::new();
        for (x, y) in aligned(&yes.lanes(), &no.lanes()) {
            let lane = self.choose(cond, x, y);
            push(&mut out, lane);
        }
        Value::from_lanes(out)
    }

    fn choose(&mut self, cond: D::Value, x: Lane<D::Value>, y: Lane<D::Value>) -> Lane<D::Value> {
        let width = x.width;
        if x == y {
            return x;
        }
        if x.is_known(u64::MAX) && y.is_known(0) {
            return self.mask(width, cond);
        }
        if x.is_known(0) && y.is_known(u64::MAX) {
            let not = self.domain.not(cond);
            return self.mask(width, not);
        }
        let Some((_, ty)) = x.whole().or(y.whole()) else { return Lane::lost(width, lost(x, y)) };
        match (self.as_type(x, ty), self.as_type(y, ty)) {
            (Ok(a), Ok(b)) => {
                let value = self.domain.choice(cond, a, b);
                self.lane(value, ty)
            }
            (Err(why), _) | (_, Err(why)) => Lane::lost(width, why),
        }
    }

    /// Truth of `a` and `b`, or of one of them.
    pub fn connect(&mut self, all: bool, args: &[Value<D::Value>]) -> Value<D::Value> {
        let unit = self.domain.constant(Constant::Int(i64::from(all)));
        let zero = self.domain.constant(Constant::Int(i64::from(!all)));
        let (mut sum, mut why) = (unit, None);
        for arg in args {
            match arg {
                Value::Bool(known) if *known == all => {}
                Value::Bool(known) => return Value::Bool(*known),
                Value::Truth(next) if all => sum = self.domain.choice(sum, *next, zero),
                Value::Truth(next) => sum = self.domain.choice(sum, zero, *next),
                other => why = Some(other.why_lost().unwrap_or(BIT_TRICK)),
            }
        }
        why.map_or_else(|| self.truth(sum), Value::LostTruth)
    }
}

fn truth_of<D: Domain>(value: D::Value, domain: &D) -> Value<D::Value> {
    match domain.known(value) {
        Some(constant) => Value::Bool(constant.is_true()),
        None => Value::Truth(value),
    }
}

fn lost<V: Copy + Eq>(x: Lane<V>, y: Lane<V>) -> &'static str {
    match (x.content, y.content) {
        (Content::Lost(why), _) | (_, Content::Lost(why)) => why,
        _ => BIT_TRICK,
    }
}
