//! What a condition's expressions are in the start state that an input makes.

use crate::objects::inputs::{Argument, Input, memory_at_start};
use interpreter::{Layout, Memory};
use kernel::{Expression, FloatWord, Operator};
use program::{Place, Side};
use term::eval::Value;
use term::{Arena, Bits, FloatOp};

/// Who says what an input means: the arguments that its values belong to, where objects lie, and what memory is made from.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'r> {
    pub arena: &'r Arena,
    pub arguments: &'r [Argument],
    pub layout: &'r Layout<'r>,
    /// Words of which memory may be made.
    pub constants: &'r [u64],
    /// Do the programs compute with floating-point numbers?
    pub floats: bool,
}

/// Do all conjuncts hold in the start state of an input? One that cannot be told does not.
pub(crate) fn holds(entry: &Entry, input: &Input, conjuncts: &[Expression]) -> bool {
    let mut reading = Reading::new(entry, input);
    conjuncts.iter().all(|conjunct| reading.truth(conjunct) == Some(true))
}

/// One start state, while it is looked at. Its memory is never written.
pub(super) struct Reading<'r> {
    entry: &'r Entry<'r>,
    input: &'r Input,
    memory: Memory,
}

impl<'r> Reading<'r> {
    pub fn new(entry: &'r Entry<'r>, input: &'r Input) -> Reading<'r> {
        Reading { entry, input, memory: Memory::default() }
    }

    pub fn truth(&mut self, expression: &Expression) -> Option<bool> {
        match self.value(expression)? {
            Value::Bool(holds) => Some(holds),
            _ => None,
        }
    }

    pub fn bits(&mut self, expression: &Expression) -> Option<Bits> {
        match self.value(expression)? {
            Value::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// The value, or `None` of what no condition may say.
    pub fn value(&mut self, expression: &Expression) -> Option<Value> {
        match expression {
            Expression::Place(_) => None,
            Expression::Constant(bits) => Some(Value::Bits(*bits)),
            Expression::Named(name) => self.named(name).map(Value::Bits),
            Expression::Apply(Operator::Load(Side::Original, bytes), operands) => {
                let [address] = &operands[..] else { return None };
                let address = self.bits(address)?.to_u64()?;
                Some(Value::Bits(self.load(address, *bytes)))
            }
            Expression::Apply(operator, operands) => {
                let values: Option<Vec<Value>> = operands.iter().map(|operand| self.value(operand)).collect();
                apply(*operator, &values?)
            }
        }
    }

    fn named(&self, name: &str) -> Option<Bits> {
        if name.starts_with('&') {
            let var = self.entry.arena.find_var(name)?;
            return self.entry.layout.address(var).map(|address| Bits::new(64, address));
        }
        argument_named(name, self.entry.arguments).map(|i| self.input.values[i])
    }

    fn load(&mut self, address: u64, bytes: u16) -> Bits {
        let Entry { layout, constants, floats, .. } = *self.entry;
        let start = memory_at_start(layout, constants, floats, Side::Original, self.input);
        let mut out = Vec::with_capacity(usize::from(bytes));
        while out.len() < usize::from(bytes) {
            let at = address.wrapping_add(out.len() as u64);
            let n = (usize::from(bytes) - out.len()).min(8);
            out.extend_from_slice(&self.memory.peek(&start, at, n as u16).to_le_bytes()[..n]);
        }
        Bits::from_bytes(&out)
    }
}

/// The argument that goes by a name.
pub(super) fn argument_named(name: &str, arguments: &[Argument]) -> Option<usize> {
    arguments.iter().position(|argument| match argument.place {
        Place::Register(register) => register.name() == name,
        Place::Stack(offset) => name.strip_prefix("stack.").is_some_and(|at| at.parse() == Ok(offset)),
    })
}

/// An operation on values, as `kernel` has it on terms.
fn apply(operator: Operator, values: &[Value]) -> Option<Value> {
    let sorts: Vec<term::Sort> = values.iter().map(sort).collect::<Option<_>>()?;
    operator.result(&sorts)?;
    if sorts.iter().all(|sort| *sort == term::Sort::Bool) {
        let truths = || values.iter().map(|value| value.bool());
        return Some(Value::Bool(match operator {
            Operator::True => true,
            Operator::False => false,
            Operator::Not => !values[0].bool(),
            Operator::Or => truths().any(|holds| holds),
            Operator::BvAnd => truths().all(|holds| holds),
            _ => return None,
        }));
    }
    if let (Operator::Ite, [condition, a, b]) = (operator, values) {
        return Some(if condition.bool() { *a } else { *b });
    }
    let bits: Vec<Bits> = values.iter().map(|value| value.bits()).collect();
    if let (Operator::Apart, [a, n, b, m]) = (operator, &bits[..]) {
        let before = |start: Bits, length: Bits, other: Bits| {
            let end = start.add(length);
            start.ule(end) && end.ule(other)
        };
        return Some(Value::Bool(before(*a, *n, *b) || before(*b, *m, *a)));
    }
    let folded = |operation: fn(Bits, Bits) -> Bits| bits.iter().copied().reduce(operation).map(Value::Bits);
    let (a, b) = (bits[0], bits.last().copied()?);
    Some(match operator {
        Operator::Add => return folded(Bits::add),
        Operator::BvAnd => return folded(Bits::and),
        Operator::BvOr => return folded(Bits::or),
        Operator::BvXor => return folded(Bits::xor),
        Operator::Extreme { most, signed } => {
            let less = |a: Bits, b: Bits| if signed { a.slt(b) } else { a.ult(b) };
            return bits.iter().copied().reduce(|a, b| if less(a, b) == most { b } else { a }).map(Value::Bits);
        }
        Operator::Mul => Value::Bits(a.mul(b)),
        Operator::Sub => Value::Bits(a.sub(b)),
        Operator::Udiv => Value::Bits(a.udiv(b)),
        Operator::Urem => Value::Bits(a.urem(b)),
        Operator::Sdiv => Value::Bits(a.sdiv(b)),
        Operator::Srem => Value::Bits(a.srem(b)),
        Operator::Shl => Value::Bits(a.shl(b)),
        Operator::Lshr => Value::Bits(a.lshr(b)),
        Operator::Ashr => Value::Bits(a.ashr(b)),
        Operator::BvNot => Value::Bits(a.not()),
        Operator::Sext(width) => Value::Bits(a.sext(width)),
        Operator::Zext(width) => Value::Bits(a.zext(width)),
        Operator::Slice(low, width) => Value::Bits(a.extract(low + width - 1, low)),
        Operator::Concat => Value::Bits(a.concat(b)),
        Operator::Eq => Value::Bool(a == b),
        Operator::Ult => Value::Bool(a.ult(b)),
        Operator::Ule => Value::Bool(a.ule(b)),
        Operator::Slt => Value::Bool(a.slt(b)),
        Operator::Sle => Value::Bool(!b.slt(a)),
        Operator::Float(word) => float(word, a, b),
        _ => return None,
    })
}

fn sort(value: &Value) -> Option<term::Sort> {
    match value {
        Value::Bool(_) => Some(term::Sort::Bool),
        Value::Bits(bits) => Some(term::Sort::Bv(bits.width())),
        Value::Memory(_) => None,
    }
}

fn float(word: FloatWord, a: Bits, b: Bits) -> Value {
    let of = |op: fn(u16) -> FloatOp| op(a.width()).eval(&[a, b]);
    let truth = |bits: Bits| !bits.is_zero();
    match word {
        FloatWord::Equal => Value::Bool(truth(of(FloatOp::Eq))),
        FloatWord::Less => Value::Bool(truth(of(FloatOp::Lt))),
        FloatWord::LessOrEqual => Value::Bool(truth(of(FloatOp::Lt)) || truth(of(FloatOp::Eq))),
        FloatWord::Add => Value::Bits(of(FloatOp::Add)),
        FloatWord::Sub => Value::Bits(of(FloatOp::Sub)),
        FloatWord::Mul => Value::Bits(of(FloatOp::Mul)),
        FloatWord::Div => Value::Bits(of(FloatOp::Div)),
    }
}
