//! Expressions as C writes them.
//!
//! What is shown is read again before anybody sees it, and must give the same expressions; what C has no words for is shown as the
//! expression itself, between braces, which can be read as well.
//!
//! Trust: none. Who reads a condition may believe that it means what it seems to mean, because of that second reading.

mod places;
mod shown;

use crate::types::Type;
use crate::{Interface, build, parse_all};
use kernel::{Expression, FloatWord, Operator};
use shown::{Level, Shown, literal};

/// Whether conversions that C makes by itself are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Conversions {
    Silent,
    Written,
}

/// Shows one conjunct.
pub fn render(expression: &Expression, interface: &Interface) -> String {
    render_all(std::slice::from_ref(expression), interface).remove(0)
}

/// Shows conjuncts that hold together, in their order. Read together the texts give these conjuncts and no others.
pub fn render_all(conjuncts: &[Expression], interface: &Interface) -> Vec<String> {
    let mut texts: Vec<Option<String>> =
        conjuncts.iter().map(|c| if blocks(c) { None } else { alone(c, interface) }).collect();
    // What is said of blocks may bring bounds of their extents; those must be stated anyway.
    let plain: Vec<String> = texts.iter().flatten().cloned().collect();
    for (text, conjunct) in texts.iter_mut().zip(conjuncts).filter(|(_, conjunct)| blocks(conjunct)) {
        *text = ways(conjunct, interface).find(|text| {
            let all: Vec<&str> = plain.iter().map(String::as_str).chain([text.as_str()]).collect();
            parse_all(&all, interface).is_ok_and(|parsed| {
                parsed.conjuncts.contains(conjunct) && parsed.conjuncts.iter().all(|c| conjuncts.contains(c))
            })
        });
    }
    texts.into_iter().zip(conjuncts).map(|(text, c)| text.unwrap_or_else(|| format!("{{{c}}}"))).collect()
}

/// A short word for what a conjunct is about.
pub fn kind(conjunct: &Expression) -> &'static str {
    let Expression::Apply(operator, operands) = conjunct else { return "other" };
    match (operator, &operands[..]) {
        (Operator::Apart, _) => "apart",
        (Operator::Not, [inner]) => kind(inner),
        (Operator::Or | Operator::BvAnd, parts) => match parts.iter().any(blocks) {
            true => "apart",
            false => "choice",
        },
        (Operator::Eq, [Expression::Apply(Operator::Slice(0, low), of), Expression::Constant(_)])
            if *low < 8 && matches!(of[..], [Expression::Named(_)]) =>
        {
            "alignment"
        }
        (_, parts) if parts.iter().any(loads) => "content",
        (Operator::Eq, [Expression::Apply(Operator::Urem | Operator::Srem, _), Expression::Constant(_)]) => "multiple",
        (Operator::Eq, _) => "equality",
        (Operator::Ult | Operator::Ule | Operator::Slt | Operator::Sle, [a, b]) => {
            match build::value_of(a).or_else(|| build::value_of(b)) {
                Some(_) => "range",
                None => "order",
            }
        }
        _ => "other",
    }
}

fn blocks(expression: &Expression) -> bool {
    mentions(expression, |operator| operator == Operator::Apart)
}

fn loads(expression: &Expression) -> bool {
    mentions(expression, |operator| matches!(operator, Operator::Load(..)))
}

fn mentions(expression: &Expression, wanted: fn(Operator) -> bool) -> bool {
    match expression {
        Expression::Apply(operator, operands) => wanted(*operator) || operands.iter().any(|o| mentions(o, wanted)),
        _ => false,
    }
}

/// The first text that means the conjunct.
fn alone(conjunct: &Expression, interface: &Interface) -> Option<String> {
    ways(conjunct, interface)
        .find(|text| parse_all(&[text], interface).is_ok_and(|parsed| parsed.conjuncts == [conjunct.clone()]))
}

fn ways<'e>(conjunct: &'e Expression, interface: &'e Interface) -> impl Iterator<Item = String> + 'e {
    [Conversions::Silent, Conversions::Written]
        .into_iter()
        .filter_map(move |conversions| Some(Renderer { interface, conversions }.truth(conjunct)?.text))
}

pub(super) struct Renderer<'i> {
    pub interface: &'i Interface,
    pub conversions: Conversions,
}

impl Renderer<'_> {
    fn truth(&self, expression: &Expression) -> Option<Shown> {
        let Expression::Apply(operator, operands) = expression else { return None };
        match (operator, &operands[..]) {
            (Operator::True, _) => Some(Shown::truth("1", Level::Atom)),
            (Operator::False, _) => Some(Shown::truth("0", Level::Atom)),
            (Operator::Not, [inner]) => match inner {
                Expression::Apply(Operator::Eq | Operator::Float(FloatWord::Equal), parts)
                    if self.aligned(inner).is_none() =>
                {
                    self.compared(inner, "!=", parts)
                }
                _ => Some(Shown::truth(format!("!{}", self.truth(inner)?.at(Level::Unary)), Level::Unary)),
            },
            (Operator::BvAnd, parts) => self.joined(parts, " && ", Level::Conjunction),
            (Operator::Or, parts) => self.joined(parts, " || ", Level::Disjunction),
            (Operator::Apart, parts) => {
                let shown: Option<Vec<String>> = parts.iter().map(|part| Some(self.number(part)?.text)).collect();
                Some(Shown::truth(format!("apart({})", shown?.join(", ")), Level::Atom))
            }
            (Operator::Eq, parts) => {
                if let Some((value, bytes)) = self.aligned(expression) {
                    return Some(Shown::truth(format!("aligned({}, {bytes})", self.number(value)?.text), Level::Atom));
                }
                self.compared(expression, "==", parts)
            }
            (Operator::Float(FloatWord::Equal), parts) => self.compared(expression, "==", parts),
            (Operator::Ult | Operator::Slt | Operator::Float(FloatWord::Less), parts) => {
                self.compared(expression, "<", parts)
            }
            (Operator::Ule | Operator::Sle | Operator::Float(FloatWord::LessOrEqual), parts) => {
                self.compared(expression, "<=", parts)
            }
            _ => None,
        }
    }

    fn joined(&self, parts: &[Expression], between: &str, level: Level) -> Option<Shown> {
        let shown: Option<Vec<String>> = parts.iter().map(|part| Some(self.truth(part)?.at(level.above()))).collect();
        Some(Shown::truth(shown?.join(between), level))
    }

    /// A comparison. With a constant first it is turned round, as people write it.
    fn compared(&self, comparison: &Expression, sign: &str, parts: &[Expression]) -> Option<Shown> {
        let (Expression::Apply(operator, _), [a, b]) = (comparison, parts) else { return None };
        let level = if matches!(sign, "==" | "!=") { Level::Equality } else { Level::Order };
        let line = |a: String, sign: &str, b: String| Shown::truth(format!("{a} {sign} {b}"), level);
        if let Operator::Float(_) = operator {
            let turned = match sign {
                "<" => ">",
                "<=" => ">=",
                sign => sign,
            };
            let constant_first = build::value_of(a).is_some();
            let (a, b) = self.floats(a, b)?;
            let (a, sign, b) = if constant_first { (b, turned, a) } else { (a, sign, b) };
            return Some(line(a.at(level.above()), sign, b.at(level.above())));
        }
        let signed = match operator {
            Operator::Eq => None,
            operator => Some(matches!(operator, Operator::Slt | Operator::Sle)),
        };
        match (build::value_of(a), build::value_of(b)) {
            (None, Some(bits)) if bits.is_zero() && self.number(a)?.ty.is_pointer() && signed.is_none() => {
                Some(line(self.number(a)?.at(level.above()), sign, "0".to_string()))
            }
            // A comparison would make it an `int` first.
            (None, Some(bits)) if bits.is_zero() && matches!(bits.width(), 8 | 16) && signed.is_none() => {
                let shown = self.integer(a, None)?;
                let not = || Shown::truth(format!("!{}", shown.at(Level::Unary)), Level::Unary);
                Some(if sign == "==" { not() } else { shown })
            }
            (None, Some(bits)) => {
                let shown = self.integer(a, signed)?;
                let constant = literal(bits, signed.unwrap_or(shown.ty.is_signed()));
                Some(line(shown.at(level.above()), sign, constant.at(level.above())))
            }
            (Some(bits), None) => {
                let shown = self.integer(b, signed)?;
                let constant = literal(bits, signed.unwrap_or(shown.ty.is_signed()));
                let turned = if sign == "<" { ">" } else { ">=" };
                let turned = if matches!(sign, "==" | "!=") { sign } else { turned };
                Some(line(shown.at(level.above()), turned, constant.at(level.above())))
            }
            _ => {
                let (x, y) = (self.number(a)?, self.number(b)?);
                let pointers = x.ty.is_pointer() && y.ty.is_pointer() && signed != Some(true);
                let (x, y) = if pointers { (x, y) } else { (self.integer(a, signed)?, self.integer(b, signed)?) };
                Some(line(x.at(level.above()), sign, y.at(level.above())))
            }
        }
    }

    /// Two floating-point numbers, of which one may be a constant.
    fn floats(&self, a: &Expression, b: &Expression) -> Option<(Shown, Shown)> {
        let constant = |bits: term::Bits| shown::float_literal(bits);
        Some(match (build::value_of(a), build::value_of(b)) {
            (Some(x), None) => (constant(x)?, self.float(b)?),
            (None, Some(y)) => (self.float(a)?, constant(y)?),
            (None, None) => (self.float(a)?, self.float(b)?),
            (Some(x), Some(y)) => (constant(x)?, constant(y)?),
        })
    }

    fn float(&self, expression: &Expression) -> Option<Shown> {
        if let Expression::Apply(Operator::Float(word), parts) = expression {
            let [a, b] = &parts[..] else { return None };
            let (a, b) = self.floats(a, b)?;
            let (sign, level) = match word {
                FloatWord::Add => ("+", Level::Sum),
                FloatWord::Sub => ("-", Level::Sum),
                FloatWord::Mul => ("*", Level::Product),
                FloatWord::Div => ("/", Level::Product),
                _ => return None,
            };
            let bytes = if let Type::Float { bytes } = a.ty { bytes } else { return None };
            let text = format!("{} {sign} {}", a.at(level), b.at(level.above()));
            return Some(Shown { text, level, ty: Type::Float { bytes } });
        }
        let shown = self.number(expression)?;
        match (&shown.ty, self.interface.width(expression)?) {
            (Type::Float { .. }, _) => Some(shown),
            (_, width @ (32 | 64)) => {
                let name = if width == 32 { "as_float" } else { "as_double" };
                let text = format!("{name}({})", self.integer(expression, Some(false))?.text);
                Some(Shown { text, level: Level::Atom, ty: Type::Float { bytes: width / 8 } })
            }
            _ => None,
        }
    }

    /// A whole number, with or without a sign if that matters.
    fn integer(&self, expression: &Expression, signed: Option<bool>) -> Option<Shown> {
        let shown = self.number(expression)?;
        let width = self.interface.width(expression)?;
        let shown = match shown.ty {
            Type::Integer { .. } => shown,
            Type::Float { .. } => {
                let ty = Type::integer(width / 8, false);
                Shown { text: format!("bits({})", shown.text), level: Level::Atom, ty }
            }
            Type::Pointer(_) => shown.cast(&Type::UNSIGNED_LONG, &self.interface.types),
            _ => return None,
        };
        match signed {
            Some(wanted) if shown.ty.promoted().is_signed() != wanted => {
                Some(shown.cast(&Type::integer(width / 8, wanted), &self.interface.types))
            }
            _ => Some(shown),
        }
    }

    pub fn number(&self, expression: &Expression) -> Option<Shown> {
        let (operator, operands) = match expression {
            Expression::Place(_) => return None,
            Expression::Constant(bits) => return Some(literal(*bits, true)),
            Expression::Named(name) => return self.named(name),
            Expression::Apply(operator, operands) => (*operator, &operands[..]),
        };
        let width = self.interface.width(expression)?;
        match (operator, operands) {
            (Operator::Load(_, bytes), [address]) => self.cell(address, bytes),
            (Operator::Slice(low, bits), [Expression::Named(name)]) => {
                self.part(name, low, bits).or_else(|| self.cut(low, bits, &operands[0]))
            }
            (Operator::Slice(low, bits), [inner]) => self.cut(low, bits, inner),
            (Operator::Sext(_) | Operator::Zext(_), [inner]) => {
                let signed = matches!(operator, Operator::Sext(_));
                let shown = self.integer(inner, None)?;
                let inner_width = self.interface.width(inner)?;
                let shown = match shown.ty.is_signed() == signed {
                    true => shown,
                    false => shown.cast(&Type::integer(inner_width / 8, signed), &self.interface.types),
                };
                let ty = Type::integer(width / 8, signed);
                Some(match self.conversions {
                    Conversions::Silent => Shown { ty, ..shown },
                    Conversions::Written => shown.cast(&ty, &self.interface.types),
                })
            }
            (Operator::Add, parts) => self.sum(parts),
            (Operator::Sub, [a, b]) if build::is_zero(a) => {
                let b = self.integer(b, None)?;
                Some(Shown { text: format!("-{}", b.at(Level::Unary)), level: Level::Unary, ty: b.ty })
            }
            (Operator::Sub, [a, b]) => self.both("-", Level::Sum, a, b, None),
            (Operator::Mul, [a, b]) => self.both("*", Level::Product, a, b, None),
            (Operator::Udiv, [a, b]) => self.both("/", Level::Product, a, b, Some(false)),
            (Operator::Urem, [a, b]) => match self.both("%", Level::Product, a, b, None) {
                // Of a power of two the sign does not matter where the remainder is compared with zero.
                Some(shown) if self.conversions == Conversions::Silent => Some(shown),
                _ => self.both("%", Level::Product, a, b, Some(false)),
            },
            (Operator::Sdiv, [a, b]) => self.both("/", Level::Product, a, b, Some(true)),
            (Operator::Srem, [a, b]) => self.both("%", Level::Product, a, b, Some(true)),
            (Operator::Shl, [a, b]) => self.both("<<", Level::Shift, a, b, None),
            (Operator::Lshr, [a, b]) => self.both(">>", Level::Shift, a, b, Some(false)),
            (Operator::Ashr, [a, b]) => self.both(">>", Level::Shift, a, b, Some(true)),
            (Operator::BvNot, [a]) => {
                let a = self.integer(a, None)?;
                Some(Shown { text: format!("~{}", a.at(Level::Unary)), level: Level::Unary, ty: a.ty })
            }
            (Operator::BvAnd, [a, b]) => self.both("&", Level::And, a, b, None),
            (Operator::BvOr, [a, b]) => self.both("|", Level::Or, a, b, None),
            (Operator::BvXor, [a, b]) => self.both("^", Level::Xor, a, b, None),
            (Operator::Ite, [condition, a, b]) => {
                let (a, b) = (self.integer(a, None)?, self.integer(b, None)?);
                let condition = self.truth(condition)?.at(Level::Disjunction);
                let text = format!("{condition} ? {} : {}", a.at(Level::Choice), b.at(Level::Choice));
                Some(Shown { text, level: Level::Choice, ty: a.ty })
            }
            (Operator::Float(_), _) => self.float(expression),
            _ => None,
        }
    }

    /// The low bits of a number.
    fn cut(&self, low: u16, bits: u16, inner: &Expression) -> Option<Shown> {
        if low != 0 || !matches!(bits, 8 | 16 | 32) {
            return None;
        }
        Some(self.integer(inner, None)?.cast(&Type::integer(bits / 8, false), &self.interface.types))
    }

    fn both(&self, sign: &str, level: Level, a: &Expression, b: &Expression, signed: Option<bool>) -> Option<Shown> {
        let side = |e: &Expression| match e {
            Expression::Constant(bits) => Some(literal(*bits, signed.unwrap_or(true))),
            e => self.integer(e, signed),
        };
        let (x, y) = (side(a)?, side(b)?);
        let ty = if build::value_of(a).is_some() { y.ty.clone() } else { x.ty.clone() };
        Some(Shown { text: format!("{} {sign} {}", x.at(level), y.at(level.above())), level, ty })
    }

    /// A sum, or a pointer some elements further on.
    fn sum(&self, parts: &[Expression]) -> Option<Shown> {
        let pointer = parts.iter().position(|part| self.number(part).is_some_and(|shown| shown.ty.is_pointer()));
        if let Some(at) = pointer
            && let Some(moved) = self.moved(&parts[at], parts.iter().enumerate().filter(|(i, _)| *i != at))
        {
            return Some(moved);
        }
        let mut sum: Option<Shown> = None;
        for part in parts {
            sum = Some(match (sum, build::value_of(part)) {
                (Some(sum), Some(bits)) if bits.sign() => {
                    let positive = literal(bits.neg(), true).at(Level::Sum.above());
                    Shown { text: format!("{} - {positive}", sum.at(Level::Sum)), level: Level::Sum, ty: sum.ty }
                }
                (Some(sum), _) => {
                    let next = self.integer(part, None)?.at(Level::Sum.above());
                    Shown { text: format!("{} + {next}", sum.at(Level::Sum)), level: Level::Sum, ty: sum.ty }
                }
                (None, _) => self.integer(part, None)?,
            });
        }
        sum
    }

    fn moved<'e>(&self, base: &Expression, others: impl Iterator<Item = (usize, &'e Expression)>) -> Option<Shown> {
        let base = self.number(base)?;
        let Type::Pointer(to) = &base.ty else { return None };
        let size = to.size(&self.interface.types)?;
        let mut out = base.at(Level::Sum);
        for (_, part) in others {
            if let Some(bits) = build::value_of(part) {
                let by = bits.to_i64()?;
                let count =
                    by.checked_div(i64::try_from(size).ok()?).filter(|n| n.checked_mul(size as i64) == Some(by))?;
                let sign = if count < 0 { '-' } else { '+' };
                out = format!("{out} {sign} {}", count.unsigned_abs());
            } else {
                let index = self.index(part, size)?;
                out = format!("{out} + {}", index.at(Level::Sum.above()));
            }
        }
        Some(Shown { text: out, level: Level::Sum, ty: base.ty })
    }

    /// What is counted in elements of a size.
    pub fn index(&self, part: &Expression, size: u64) -> Option<Shown> {
        match part {
            _ if size == 1 => self.integer(part, None),
            Expression::Apply(Operator::Mul, factors) => match &factors[..] {
                [Expression::Constant(factor), index] if factor.to_u64() == Some(size) => self.integer(index, None),
                _ => None,
            },
            _ => None,
        }
    }

    /// `x` and 16 of what says that the low four bits of `x` are zero.
    fn aligned<'e>(&self, expression: &'e Expression) -> Option<(&'e Expression, u64)> {
        let Expression::Apply(Operator::Eq, operands) = expression else { return None };
        let [Expression::Apply(Operator::Slice(0, low), of), zero] = &operands[..] else { return None };
        let whole = match &of[0] {
            // A small argument is all of what is compared.
            Expression::Named(name) => self.part(name, 0, *low).is_some(),
            _ => matches!(low, 8 | 16 | 32),
        };
        (build::is_zero(zero) && *low <= 30 && !whole).then(|| (&of[0], 1 << low))
    }
}
