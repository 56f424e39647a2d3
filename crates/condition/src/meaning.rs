//! What C expressions mean as expressions of a proof.
//!
//! The types decide, as in C: which comparison, which extension, how far a pointer moves. Nothing overflows: numbers of a width
//! wrap, and division is total as in SMT-LIB. Floating-point operations are those of operands of one width; a constant takes the width of
//! the other operand where nothing changes by it.

mod extents;

pub(crate) use extents::Ranges;

use crate::syntax::{Node, NodeKind};
use crate::types::Type;
use crate::value::{Number, Room, Value, resized, width_of};
use crate::{Error, Interface, build, registers};
use kernel::{Expression, FloatWord, Operator};
use program::SourceType;
use term::{Bits, Sort};

/// What is known while a condition is read.
pub(crate) struct Meaning<'i> {
    pub interface: &'i Interface,
    /// What other conjuncts say about numbers.
    pub ranges: Ranges,
}

type Read<T> = Result<T, Error>;

fn fail<T>(node: &Node, message: impl Into<String>) -> Read<T> {
    Err(Error::new(node.column, message))
}

impl Meaning<'_> {
    /// Whether a condition holds.
    pub fn truth(&self, node: &Node) -> Read<Expression> {
        match &node.kind {
            NodeKind::Unary("!", inner) => return Ok(build::not(self.truth(inner)?)),
            NodeKind::Binary("&&", a, b) => return Ok(build::and(self.truth(a)?, self.truth(b)?)),
            NodeKind::Binary("||", a, b) => return Ok(build::or(self.truth(a)?, self.truth(b)?)),
            NodeKind::Choice(condition, a, b) => {
                if let (Value::Truth(a), Value::Truth(b)) = (self.value(a)?, self.value(b)?) {
                    let holds = self.truth(condition)?;
                    return Ok(build::or(build::and(holds.clone(), a), build::and(build::not(holds), b)));
                }
            }
            _ => {}
        }
        match self.value(node)? {
            Value::Truth(holds) => Ok(holds),
            value => {
                let number = self.number_of(value, node)?;
                let zero = build::constant(number.width(), 0);
                Ok(match number.ty {
                    Type::Float { .. } => build::not(build::float(FloatWord::Equal, number.bits, zero)),
                    _ => build::not(build::compare(Operator::Eq, number.bits, zero)),
                })
            }
        }
    }

    /// A number or pointer.
    pub fn number(&self, node: &Node) -> Read<Number> {
        let value = self.value(node)?;
        self.number_of(value, node)
    }

    fn number_of(&self, value: Value, node: &Node) -> Read<Number> {
        match value {
            Value::Number(number) => Ok(number),
            Value::Truth(holds) => {
                let (one, zero) = (build::constant(32, 1), build::constant(32, 0));
                Ok(Number::new(Type::INT, build::choice(holds, one, zero)))
            }
            Value::Object { ty: Type::Array(element, _), place: Room::Memory(address) } => {
                Ok(Number::new(Type::Pointer(element), address))
            }
            Value::Object { ty: ty @ (Type::Integer { .. } | Type::Float { .. } | Type::Pointer(_)), place } => {
                match place.read(width_of(&ty) / 8) {
                    Some(bits) => Ok(Number::new(ty, bits)),
                    None => fail(node, "it is passed in a way that is not known"),
                }
            }
            Value::Object { ty, .. } => {
                fail(node, format!("`{}` is neither a number nor a pointer", ty.text(&self.interface.types)))
            }
        }
    }

    fn value(&self, node: &Node) -> Read<Value> {
        Ok(match &node.kind {
            NodeKind::Integer { value, unsigned, long, decimal } => {
                Value::Number(literal(node, *value, *unsigned, *long, *decimal)?)
            }
            NodeKind::Character(value) => Value::Number(Number::int(i64::from(*value))),
            NodeKind::Float { value, bytes } => Value::Number(float_constant(*value, *bytes)),
            NodeKind::Name(name) => self.named(node, name)?,
            NodeKind::Raw(text) => self.raw(node, text)?,
            NodeKind::Unary("*", of) => {
                let pointer = self.number(of)?;
                self.behind(node, pointer)?
            }
            NodeKind::Unary("&", of) => self.address(node, of)?,
            NodeKind::Unary(sign, of) => self.unary(node, sign, of)?,
            NodeKind::Binary("&&" | "||", ..) => Value::Truth(self.truth(node)?),
            NodeKind::Binary(sign, a, b) => self.binary(node, sign, a, b)?,
            NodeKind::Choice(condition, a, b) => Value::Number(self.choice(node, condition, a, b)?),
            NodeKind::Index(of, index) => self.index(node, of, index)?,
            NodeKind::Member { of, name, arrow } => self.member(node, of, name, *arrow)?,
            NodeKind::Call(name, operands) => self.call(node, name, operands)?,
            NodeKind::Axioms(_) => {
                return fail(node, "an axiom is a condition of its own, not a part of another");
            }
            NodeKind::Cast(ty, of) => self.cast(node, ty, of)?,
            NodeKind::SizeOf(ty) => Value::Number(self.size(node, ty)?),
            NodeKind::SizeOfValue(of) => {
                let ty = match self.value(of)? {
                    Value::Truth(_) => Type::INT,
                    Value::Number(number) => number.ty,
                    Value::Object { ty, .. } => ty,
                };
                Value::Number(self.size(node, &ty)?)
            }
        })
    }

    fn size(&self, node: &Node, ty: &Type) -> Read<Number> {
        match ty.size(&self.interface.types) {
            Some(size) => Ok(Number::new(Type::UNSIGNED_LONG, build::constant(64, size))),
            None => fail(node, format!("the size of `{}` is not known", ty.text(&self.interface.types))),
        }
    }

    fn named(&self, node: &Node, name: &str) -> Read<Value> {
        let interface = self.interface;
        if let Some(parameter) = interface.parameter(name) {
            return match registers::parameter(parameter) {
                Some(value) => Ok(value),
                None => fail(node, format!("nothing says where the parameter `{name}` is passed")),
            };
        }
        if let Some(object) = interface.object(name) {
            let Some(ty) = object.ty.clone() else {
                return fail(node, format!("nothing says of which type `{name}` is; `&{name}` is its address"));
            };
            return Ok(Value::Object { ty, place: Room::Memory(Expression::Named(object.var.clone())) });
        }
        if let Some(value) = interface.types.constant(name) {
            let ty = if i32::try_from(value).is_ok() { Type::INT } else { Type::LONG };
            let bits = build::constant(width_of(&ty), value as u64);
            return Ok(Value::Number(Number::new(ty, bits)));
        }
        if let Some(value) = registers::named(name, interface) {
            return value.map_err(|message| Error::new(node.column, message));
        }
        match name {
            "true" => Ok(Value::Truth(build::truth(true))),
            "false" => Ok(Value::Truth(build::truth(false))),
            "NULL" | "nullptr" => {
                Ok(Value::Number(Number::new(Type::Pointer(Box::new(Type::Void)), build::constant(64, 0))))
            }
            "INFINITY" => Ok(Value::Number(float_constant(f64::INFINITY, 4))),
            _ => {
                let what = match &interface.refused {
                    Some(why) if interface.parameters.is_empty() => format!("how it is called is not known: {why}"),
                    _ => format!("it knows {}", interface.names()),
                };
                fail(node, format!("{} has no `{name}`; {what}", interface.function))
            }
        }
    }

    /// An expression of a proof between braces.
    fn raw(&self, node: &Node, text: &str) -> Read<Value> {
        let expression = match Expression::parse(text) {
            Ok(expression) => expression,
            Err(message) => return fail(node, message),
        };
        match self.interface.sort(&expression) {
            Some(Sort::Bool) => Ok(Value::Truth(expression)),
            Some(Sort::Bv(width @ (8 | 16 | 32 | 64))) => {
                Ok(Value::Number(Number::new(Type::integer(width / 8, false), expression)))
            }
            Some(_) => fail(node, "a truth value or a number of 8, 16, 32 or 64 bits expected between the braces"),
            None => fail(node, format!("`{expression}` does not fit {}", self.interface.function)),
        }
    }

    /// What a pointer points to.
    fn behind(&self, node: &Node, pointer: Number) -> Read<Value> {
        match pointer.ty {
            Type::Pointer(to) => match *to {
                Type::Void => fail(node, "a pointer to `void` points to nothing that has a value; cast it"),
                ty => Ok(Value::Object { ty, place: Room::Memory(pointer.bits) }),
            },
            ty => fail(node, format!("`{}` is no pointer", ty.text(&self.interface.types))),
        }
    }

    fn address(&self, node: &Node, of: &Node) -> Read<Value> {
        if let NodeKind::Name(name) = &of.kind
            && self.interface.parameter(name).is_none()
            && let Some(object) = self.interface.object(name)
        {
            let ty = Type::Pointer(Box::new(object.ty.clone().unwrap_or(Type::Void)));
            return Ok(Value::Number(Number::new(ty, Expression::Named(object.var.clone()))));
        }
        match self.value(of)? {
            Value::Object { ty, place: Room::Memory(address) } => {
                Ok(Value::Number(Number::new(Type::Pointer(Box::new(ty)), address)))
            }
            Value::Object { .. } => fail(node, "a parameter has no address at entry"),
            _ => fail(node, "only what is in memory has an address"),
        }
    }

    fn unary(&self, node: &Node, sign: &str, of: &Node) -> Read<Value> {
        if sign == "!" {
            return Ok(Value::Truth(build::not(self.truth(of)?)));
        }
        let number = self.number(of)?;
        if let (Type::Float { bytes }, "-" | "+") = (&number.ty, sign) {
            let flip = Expression::Constant(Bits::new(1, 1).concat(Bits::zero(8 * bytes - 1)));
            let bits = match sign {
                "-" => build::arithmetic(Operator::BvXor, number.bits, flip),
                _ => number.bits,
            };
            return Ok(Value::Number(Number::new(number.ty, bits)));
        }
        if !number.ty.is_integer() {
            return fail(node, format!("`{sign}` of `{}`", number.ty.text(&self.interface.types)));
        }
        let number = number.promoted(self.interface);
        let width = number.width();
        let bits = match sign {
            "-" => build::negative(number.bits, width),
            "~" => build::complement(number.bits),
            _ => number.bits,
        };
        Ok(Value::Number(Number::new(number.ty, bits)))
    }

    fn choice(&self, node: &Node, condition: &Node, a: &Node, b: &Node) -> Read<Number> {
        let holds = self.truth(condition)?;
        let (a, b) = (self.number(a)?, self.number(b)?);
        let (a, b) = match (a.ty.is_pointer(), b.ty.is_pointer()) {
            (true, true) => (a, b),
            (true, false) if build::is_zero(&b.bits) => (a.clone(), b.converted(&a.ty)),
            (false, true) if build::is_zero(&a.bits) => (a.converted(&b.ty), b),
            _ => self.usual(node, "?:", a, b)?,
        };
        Ok(Number::new(a.ty, build::choice(holds, a.bits, b.bits)))
    }

    fn index(&self, node: &Node, of: &Node, index: &Node) -> Read<Value> {
        let (of, at) = (self.value(of)?, self.number(index)?);
        let a = match of {
            Value::Object {
                ty: Type::Vector(element, _) | Type::Array(element, _),
                place: place @ Room::Arguments { .. },
            } => {
                let at = build::value_of(&at.bits).and_then(Bits::to_u64);
                return match (at, element.size(&self.interface.types)) {
                    (Some(at), Some(size)) => {
                        Ok(Value::Object { ty: *element, place: place.moved(at.saturating_mul(size)) })
                    }
                    _ => fail(index, "the index of something that is in registers is a constant"),
                };
            }
            Value::Object { ty: Type::Vector(element, _), place: Room::Memory(address) } => {
                Number::new(Type::Pointer(element), address)
            }
            of => self.number_of(of, node)?,
        };
        let b = at;
        let sum = match (&a.ty, &b.ty) {
            (Type::Pointer(_), _) => self.moved(node, a, b, false)?,
            (_, Type::Pointer(_)) => self.moved(node, b, a, false)?,
            _ => return fail(node, format!("`{}` is no array", a.ty.text(&self.interface.types))),
        };
        self.behind(node, sum)
    }

    /// A pointer so many elements further on, or back.
    fn moved(&self, node: &Node, pointer: Number, by: Number, back: bool) -> Read<Number> {
        let Type::Pointer(to) = &pointer.ty else { return fail(node, "a pointer expected") };
        if !by.ty.is_integer() {
            return fail(
                node,
                format!("a pointer moves by a whole number, not by `{}`", by.ty.text(&self.interface.types)),
            );
        }
        let Some(size) = to.size(&self.interface.types) else {
            return fail(node, format!("the size of `{}` is not known", to.text(&self.interface.types)));
        };
        let distance = build::arithmetic(Operator::Mul, build::constant(64, size), by.promoted(self.interface).wide());
        let operator = if back { Operator::Sub } else { Operator::Add };
        Ok(Number::new(pointer.ty, build::arithmetic(operator, pointer.bits, distance)))
    }

    fn member(&self, node: &Node, of: &Node, name: &str, arrow: bool) -> Read<Value> {
        // A static of a function has the function's name before its own.
        if let (NodeKind::Name(first), false) = (&of.kind, arrow)
            && self.interface.parameter(first).is_none()
            && self.interface.object(first).is_none()
            && self.interface.object(&format!("{first}.{name}")).is_some()
        {
            return self.named(node, &format!("{first}.{name}"));
        }
        let of = match arrow {
            true => self.behind(node, self.number(of)?)?,
            false => self.value(of)?,
        };
        let (ty, place) = match of {
            Value::Object { ty, place } => (ty, place),
            Value::Number(number) if number.ty.is_pointer() => {
                return fail(node, format!("`{}` is a pointer: write `->`", number.ty.text(&self.interface.types)));
            }
            _ => return fail(node, "a number has no members"),
        };
        if let (Type::Other(..), Room::Arguments { pieces, .. }) = (&ty, &place)
            && let Some(view) = pieces.first().and_then(|(_, atom, _)| registers::view(atom, name, self.interface))
        {
            return Ok(view);
        }
        if ty.is_pointer() {
            return fail(node, format!("`{}` is a pointer: write `->`", ty.text(&self.interface.types)));
        }
        let Type::Aggregate(id) = &ty else {
            return fail(node, format!("`{}` has no members", ty.text(&self.interface.types)));
        };
        match self.find_member(*id, name, 0) {
            Some((_, _, true)) => fail(node, format!("`{name}` is a bit field, which conditions cannot read")),
            Some((offset, ty, false)) => Ok(Value::Object { ty, place: place.moved(offset) }),
            None => fail(node, format!("`{}` has no member `{name}`", ty.text(&self.interface.types))),
        }
    }

    /// A member, also of an anonymous one: its offset, its type, whether it is a bit field.
    fn find_member(&self, id: program::SourceTypeId, name: &str, depth: u32) -> Option<(u64, Type, bool)> {
        let types = &self.interface.types;
        let SourceType::Aggregate { members, .. } = types.get(id) else { return None };
        if depth > 16 {
            return None;
        }
        members.iter().find_map(|member| {
            let ty = Type::of_source(types, member.ty);
            if member.name == name {
                return Some((member.offset, ty, member.bits));
            }
            match ty {
                Type::Aggregate(inner) if member.name.is_empty() => {
                    let (offset, ty, bits) = self.find_member(inner, name, depth + 1)?;
                    Some((member.offset.checked_add(offset)?, ty, bits))
                }
                _ => None,
            }
        })
    }

    fn cast(&self, node: &Node, to: &Type, of: &Node) -> Read<Value> {
        let number = self.number(of)?;
        let text = |ty: &Type| ty.text(&self.interface.types);
        Ok(Value::Number(match (&number.ty, to) {
            (Type::Float { bytes: a }, Type::Float { bytes: b }) if a == b => number,
            (Type::Float { bytes }, Type::Float { bytes: other }) => match build::value_of(&number.bits) {
                Some(bits) => float_constant(float_of(bits, *bytes), *other),
                None => return fail(node, "only a constant can be made a floating-point number of another size"),
            },
            (Type::Integer { signed, .. }, Type::Float { bytes }) => match build::value_of(&number.bits) {
                Some(bits) => float_constant(of_integer(build::integer(bits, *signed), *bytes), *bytes),
                None => return fail(node, "only a constant can be made a floating-point number"),
            },
            (Type::Integer { .. } | Type::Pointer(_), Type::Integer { .. } | Type::Pointer(_)) => number.converted(to),
            (from, to) => return fail(node, format!("`{}` cannot be made `{}`", text(from), text(to))),
        }))
    }

    fn binary(&self, node: &Node, sign: &str, a: &Node, b: &Node) -> Read<Value> {
        let (left, right) = (self.number(a)?, self.number(b)?);
        if let "==" | "!=" | "<" | "<=" | ">" | ">=" = sign {
            return Ok(Value::Truth(self.compare(node, sign, left, right)?));
        }
        let number = match (&left.ty, &right.ty, sign) {
            (Type::Pointer(_), Type::Pointer(to), "-") => {
                let Some(size) = to.size(&self.interface.types) else {
                    return fail(node, format!("the size of `{}` is not known", to.text(&self.interface.types)));
                };
                let bytes = build::arithmetic(Operator::Sub, left.bits, right.bits);
                let count = match size {
                    1 => bytes,
                    _ => build::arithmetic(Operator::Sdiv, bytes, build::constant(64, size)),
                };
                Number::new(Type::LONG, count)
            }
            (Type::Pointer(_), _, "+" | "-") => self.moved(node, left, right, sign == "-")?,
            (_, Type::Pointer(_), "+") => self.moved(node, right, left, false)?,
            (Type::Integer { .. }, Type::Integer { .. }, "<<" | ">>") => self.shifted(left, right, sign == "<<"),
            (Type::Float { .. }, _, _) | (_, Type::Float { .. }, _) => {
                let word = match sign {
                    "+" => FloatWord::Add,
                    "-" => FloatWord::Sub,
                    "*" => FloatWord::Mul,
                    "/" => FloatWord::Div,
                    _ => return fail(node, format!("`{sign}` of a floating-point number")),
                };
                let (a, b) = self.usual(node, sign, left, right)?;
                Number::new(a.ty, build::float(word, a.bits, b.bits))
            }
            _ => {
                let (a, b) = self.usual(node, sign, left, right)?;
                let signed = a.ty.is_signed();
                let operator = match sign {
                    "+" => Operator::Add,
                    "-" => Operator::Sub,
                    "*" => Operator::Mul,
                    "/" if signed => Operator::Sdiv,
                    "/" => Operator::Udiv,
                    "%" if signed => Operator::Srem,
                    "%" => Operator::Urem,
                    "&" => Operator::BvAnd,
                    "|" => Operator::BvOr,
                    _ => Operator::BvXor,
                };
                if matches!(sign, "/" | "%") && build::is_zero(&b.bits) {
                    return fail(node, "division by zero");
                }
                Number::new(a.ty, build::arithmetic(operator, a.bits, b.bits))
            }
        };
        Ok(Value::Number(number))
    }

    /// The left operand decides the type; an amount of its width or more shifts everything out.
    fn shifted(&self, left: Number, right: Number, up: bool) -> Number {
        let (left, right) = (left.promoted(self.interface), right.promoted(self.interface));
        let (width, amount, signed) = (left.width(), right.width(), left.ty.is_signed());
        let wide = width.max(amount);
        let value = build::extend(signed, left.bits, width, wide);
        let by = build::extend(right.ty.is_signed(), right.bits, amount, wide);
        let operator = match (up, signed) {
            (true, _) => Operator::Shl,
            (false, true) => Operator::Ashr,
            (false, false) => Operator::Lshr,
        };
        let bits = build::slice(0, width, build::arithmetic(operator, value, by), wide);
        Number::new(left.ty, bits)
    }

    fn compare(&self, node: &Node, sign: &str, left: Number, right: Number) -> Read<Expression> {
        let pointers = [&left, &right].map(|side| side.ty.is_pointer());
        let (a, b) = match pointers {
            [true, true] => (left, right),
            [true, false] if build::is_zero(&right.bits) && right.ty.is_integer() => {
                (left.clone(), right.converted(&left.ty))
            }
            [false, true] if build::is_zero(&left.bits) && left.ty.is_integer() => (left.converted(&right.ty), right),
            [false, false] => match powers(sign, &left, &right) {
                Some(holds) => return Ok(holds),
                None => self.usual(node, sign, left, right)?,
            },
            _ => return fail(node, "a pointer is compared with a number; cast one of them"),
        };
        let (a, b, sign) = match sign {
            ">" => (b, a, "<"),
            ">=" => (b, a, "<="),
            sign => (a, b, sign),
        };
        if let Type::Float { .. } = a.ty {
            return Ok(match sign {
                "==" => build::float(FloatWord::Equal, a.bits, b.bits),
                "!=" => build::not(build::float(FloatWord::Equal, a.bits, b.bits)),
                "<" => build::float(FloatWord::Less, a.bits, b.bits),
                _ => build::float(FloatWord::LessOrEqual, a.bits, b.bits),
            });
        }
        let operator = match (sign, a.ty.is_signed()) {
            ("==" | "!=", _) => Operator::Eq,
            ("<", true) => Operator::Slt,
            ("<", false) => Operator::Ult,
            (_, true) => Operator::Sle,
            (_, false) => Operator::Ule,
        };
        let holds = as_truths(operator, &a.bits, &b.bits).unwrap_or_else(|| build::compare(operator, a.bits, b.bits));
        Ok(if sign == "!=" { build::not(holds) } else { holds })
    }

    /// Both operands in the type in which C computes.
    fn usual(&self, node: &Node, sign: &str, a: Number, b: Number) -> Read<(Number, Number)> {
        let text = |ty: &Type| ty.text(&self.interface.types);
        match (&a.ty, &b.ty) {
            (Type::Integer { .. }, Type::Integer { .. }) => {
                let (a, b) = (a.promoted(self.interface), b.promoted(self.interface));
                let bytes = a.width().max(b.width()) / 8;
                // The wider type counts; of one width, the one without a sign.
                let signed = [&a, &b].iter().filter(|n| n.width() == 8 * bytes).all(|n| n.ty.is_signed());
                let to = Type::integer(bytes, signed);
                Ok((a.converted(&to), b.converted(&to)))
            }
            (Type::Float { bytes: x }, Type::Float { bytes: y }) if x == y => Ok((a, b)),
            (Type::Float { .. }, Type::Float { .. } | Type::Integer { .. }) => self.floats(node, sign, a, b),
            (Type::Integer { .. }, Type::Float { .. }) => {
                let (b, a) = self.floats(node, sign, b, a)?;
                Ok((a, b))
            }
            (x, y) => fail(node, format!("`{sign}` of `{}` and `{}`", text(x), text(y))),
        }
    }

    /// A floating-point number and another number: one of them is a constant, which takes the other's size.
    fn floats(&self, node: &Node, sign: &str, a: Number, b: Number) -> Read<(Number, Number)> {
        let narrow = [&a, &b].iter().all(|number| number.ty == Type::Float { bytes: 4 } || number.ty.is_integer());
        let value = |number: &Number| {
            let bits = build::value_of(&number.bits)?;
            Some(match &number.ty {
                Type::Float { bytes } => float_of(bits, *bytes),
                ty => of_integer(build::integer(bits, ty.is_signed()), if narrow { 4 } else { 8 }),
            })
        };
        let compares = matches!(sign, "==" | "!=" | "<" | "<=" | ">" | ">=");
        let is_int = [&a, &b].map(|number| number.ty.is_integer());
        let size = |number: &Number| width_of(&number.ty) / 8;
        match (value(&a), value(&b)) {
            (Some(x), Some(y)) => {
                let bytes = if is_int[1] { size(&a) } else { size(&a).max(size(&b)) };
                Ok((float_constant(x, bytes), float_constant(y, bytes)))
            }
            // C converts whole numbers to the other's type, and floats to doubles. Comparing as doubles is comparing as floats
            // if the constant is one.
            (None, Some(y)) if is_int[1] || size(&b) < size(&a) || compares && f64::from(y as f32) == y => {
                let bytes = size(&a);
                Ok((a, float_constant(y, bytes)))
            }
            (Some(x), None) if !is_int[1] && (size(&a) < size(&b) || compares && f64::from(x as f32) == x) => {
                let bytes = size(&b);
                Ok((float_constant(x, bytes), b))
            }
            (_, Some(_)) | (Some(_), _) if !is_int[1] => {
                fail(node, "the constant is no `float`; write it with an `f` to have it rounded to one")
            }
            _ => fail(node, "only a constant can be made a floating-point number, or one of another size"),
        }
    }

    fn call(&self, node: &Node, name: &str, operands: &[Node]) -> Read<Value> {
        match (name, operands) {
            ("apart", [a, n, b, m]) => Ok(Value::Truth(self.apart([a, b], [n, m])?)),
            ("apart", _) => fail(node, "apart(p, BYTES, q, BYTES) expected"),
            ("aligned", [p, to]) => {
                let pointer = self.number(p)?;
                if !(pointer.ty.is_pointer() || pointer.ty.is_integer()) {
                    return fail(p, "an address expected");
                }
                let bytes = build::value_of(&self.number(to)?.bits).and_then(Bits::to_u64);
                let Some(bytes) = bytes.filter(|n| n.is_power_of_two() && *n <= 1 << 30) else {
                    return fail(to, "a power of two expected");
                };
                let (low, width) = (bytes.trailing_zeros() as u16, pointer.width());
                Ok(Value::Truth(match low {
                    0 => build::truth(true),
                    _ if low > width => return fail(to, "more than the number has"),
                    _ => {
                        let bits = build::slice(0, low, pointer.bits, width);
                        build::compare(Operator::Eq, bits, build::constant(low, 0))
                    }
                }))
            }
            ("aligned", _) => fail(node, "aligned(p, BYTES) expected"),
            ("bits", [x]) => {
                let number = self.number(x)?;
                let ty = Type::integer(number.width() / 8, false);
                Ok(Value::Number(Number::new(ty, number.bits)))
            }
            ("as_float" | "as_double", [x]) => {
                let number = self.number(x)?;
                let bytes = if name == "as_float" { 4 } else { 8 };
                if !number.ty.is_integer() || number.ty.is_signed() && number.width() != 8 * bytes {
                    return fail(x, "the bits of a number expected");
                }
                let bits = resized(number.bits.clone(), false, number.width(), 8 * bytes);
                Ok(Value::Number(Number::new(Type::Float { bytes }, bits)))
            }
            _ => fail(node, format!("`{name}` is no function of conditions; there are apart, aligned, fp, bits")),
        }
    }
}

/// `x % 2^k == 0`, for which the sign does not matter, as what everybody recognises.
fn powers(sign: &str, left: &Number, right: &Number) -> Option<Expression> {
    if !matches!(sign, "==" | "!=") || !build::is_zero(&right.bits) || !right.ty.is_integer() {
        return None;
    }
    let Expression::Apply(Operator::Srem, operands) = &left.bits else { return None };
    let [value, by] = &operands[..] else { return None };
    let factor = build::value_of(by)?;
    if factor.count_ones() != 1 || factor.sign() {
        return None;
    }
    let rest = build::arithmetic(Operator::Urem, value.clone(), by.clone());
    let holds = build::compare(Operator::Eq, rest, build::constant(factor.width(), 0));
    Some(if sign == "!=" { build::not(holds) } else { holds })
}

/// A truth value compared with 0 or 1.
fn as_truths(operator: Operator, a: &Expression, b: &Expression) -> Option<Expression> {
    let of = |value: &Expression| match value {
        Expression::Apply(Operator::Ite, operands) => match &operands[..] {
            [holds, Expression::Constant(one), Expression::Constant(zero)]
                if one.to_u64() == Some(1) && zero.is_zero() =>
            {
                Some(holds.clone())
            }
            _ => None,
        },
        _ => None,
    };
    let (holds, value) = match (of(a), of(b)) {
        (Some(holds), _) => (holds, build::value_of(b)?),
        (_, Some(holds)) => (holds, build::value_of(a)?),
        _ => return None,
    };
    match (operator, value.to_u64()) {
        (Operator::Eq, Some(0)) => Some(build::not(holds)),
        (Operator::Eq, Some(1)) => Some(holds),
        _ => None,
    }
}

/// The type that C gives a whole number: the first that has it.
fn literal(node: &Node, value: u64, unsigned: bool, long: bool, decimal: bool) -> Read<Number> {
    let candidates = [(4, true), (4, false), (8, true), (8, false)];
    let fits = |(bytes, signed): &(u16, bool)| {
        let bits = u32::from(8 * bytes) - u32::from(*signed);
        let allowed = (!unsigned || !signed) && (!long || *bytes == 8) && (*signed || unsigned || !decimal);
        allowed && (bits == 64 || value >> bits == 0)
    };
    match candidates.into_iter().find(fits) {
        Some((bytes, signed)) => Ok(Number::new(Type::integer(bytes, signed), build::constant(8 * bytes, value))),
        None => fail(node, "the number is too large for its type; write it with `ul`"),
    }
}

/// A whole number as a floating-point number of a size, rounded once.
fn of_integer(value: i128, bytes: u16) -> f64 {
    if bytes == 4 { f64::from(value as f32) } else { value as f64 }
}

/// A floating-point constant.
pub(crate) fn float_constant(value: f64, bytes: u16) -> Number {
    let bits = if bytes == 4 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
    Number::new(Type::Float { bytes }, build::constant(8 * bytes, bits))
}

/// The value of the bits of a floating-point number.
pub(crate) fn float_of(bits: Bits, bytes: u16) -> f64 {
    match bytes {
        4 => f64::from(f32::from_bits(bits.low() as u32)),
        _ => f64::from_bits(bits.low()),
    }
}
