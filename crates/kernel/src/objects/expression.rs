//! Terms over the two states of a product point, as a certificate writes them.
//!
//! Prefix notation: `(add c.rax (mul #64:4 (sext 64 o[-20,4])) &table)`. Atoms are locations, constants
//! `#width:value`, `&name` for the address of an object and `$name` for a value at entry.
//!
//! `(load 4 address)` reads the original's world, `(peek 4 address)` the candidate's. They differ in conditions of a point
//! where the original is ahead; in its definitions, and in what it is ahead, both read the candidate's.
//!
//! Trust: full. What a text means where a claim is assumed must be what it means where the claim is checked; both call
//! [`Expression::term`] for the states there.

use crate::objects::location::Location;
use program::Side;
use std::fmt;
use symbolic::{Context, State};
use term::{Bits, FloatOp, Sort, TermId};

/// A parsed expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A place of one of the states.
    Place(Location),
    /// A number.
    Constant(Bits),
    /// Address of an object, or a value at entry, by its variable's name.
    Named(String),
    /// An operator with its numbers and operands.
    Apply(Operator, Vec<Expression>),
}

/// What an expression can compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Sign extension to a width.
    Sext(u16),
    /// Zero extension to a width.
    Zext(u16),
    /// Bits from the low one, and how many.
    Slice(u16, u16),
    /// The higher operand first.
    Concat,
    /// Bytes of the world of a side.
    Load(Side, u16),
    /// Difference.
    Sub,
    /// Quotient of numbers without a sign; all ones where the divisor is zero, as SMT-LIB has it.
    Udiv,
    /// Remainder of numbers without a sign; the dividend where the divisor is zero.
    Urem,
    /// Quotient, rounded to zero.
    Sdiv,
    /// Remainder, with the dividend's sign.
    Srem,
    /// Shift to the left.
    Shl,
    /// Logical shift to the right.
    Lshr,
    /// Arithmetic shift to the right.
    Ashr,
    /// Every bit the other way.
    BvNot,
    /// Bitwise and; of truth values, whether all hold.
    BvAnd,
    /// Bitwise or.
    BvOr,
    /// Bitwise exclusive or.
    BvXor,
    /// The largest or smallest of some numbers, with or without sign.
    Extreme {
        /// The largest?
        most: bool,
        /// With sign?
        signed: bool,
    },
    /// Equality.
    Eq,
    /// Unsigned order.
    Ult,
    /// Unsigned order or equality.
    Ule,
    /// Signed order.
    Slt,
    /// Signed order or equality.
    Sle,
    /// Negation.
    Not,
    /// Disjunction.
    Or,
    /// The second operand if the first holds, else the third.
    Ite,
    /// Of an address, a length, an address and a length: neither block of bytes wraps, and one ends before the other begins.
    Apart,
    /// An operation on floating-point numbers.
    Float(FloatWord),
    /// What always holds.
    True,
    /// What never holds.
    False,
}

/// Operations on floating-point numbers, of operands of 32 or 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatWord {
    /// Neither is NaN, and they are equal.
    Equal,
    /// Neither is NaN, and the first is less.
    Less,
    /// Neither is NaN, and the first is not greater.
    LessOrEqual,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
}

/// Nested deeper than this is refused.
const DEEPEST: usize = 40;
/// Longer texts are refused.
const LONGEST: usize = 20_000;

impl Expression {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Expression, String> {
        if text.len() > LONGEST {
            return Err("an expression is too long".to_string());
        }
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut reader = Reader { tokens: spaced.split_whitespace().collect(), at: 0 };
        let expression = reader.read(0)?;
        match reader.tokens.get(reader.at) {
            None => Ok(expression),
            Some(more) => Err(format!("`{more}` follows an expression")),
        }
    }

    /// The places that it mentions.
    pub fn places(&self, out: &mut Vec<Location>) {
        match self {
            Expression::Place(location) => out.push(*location),
            Expression::Apply(_, operands) => operands.iter().for_each(|o| o.places(out)),
            _ => {}
        }
    }

    /// The term for a pair of states. The error says what does not fit.
    pub fn term(&self, context: &mut Context, states: &[State; 2]) -> Result<TermId, String> {
        let (operator, operands) = match self {
            Expression::Place(location) => return Ok(location.read(context.arena, &states[location.side.index()])),
            Expression::Constant(bits) => return Ok(context.arena.constant(*bits)),
            Expression::Named(name) => {
                let var = context.arena.find_var(name).ok_or_else(|| format!("nothing is named `{name}`"))?;
                if context.arena.var_sort(var).width().is_none() {
                    return Err(format!("`{name}` is no number"));
                }
                return Ok(context.arena.var_term(var));
            }
            Expression::Apply(operator, operands) => (*operator, operands),
        };
        let mut terms = Vec::new();
        for operand in operands {
            terms.push(operand.term(context, states)?);
        }
        apply(context, states, operator, &terms)
    }
}

/// The term of an operator and its operands.
pub(crate) fn apply(
    context: &mut Context,
    states: &[State; 2],
    operator: Operator,
    terms: &[TermId],
) -> Result<TermId, String> {
    let sorts: Vec<Sort> = terms.iter().map(|t| context.arena.sort(*t)).collect();
    let misfit = || Err(format!("operands of {operator:?} do not fit"));
    let numbers = sorts.iter().all(|s| s.width().is_some());
    let same = sorts.windows(2).all(|w| w[0] == w[1]);
    let arena = &mut *context.arena;
    Ok(match (operator, terms) {
        (Operator::True, []) => arena.bool(true),
        (Operator::False, []) => arena.bool(false),
        (Operator::Not, [a]) if sorts[0] == Sort::Bool => arena.bool_not(*a),
        (Operator::Or, all) if !all.is_empty() && sorts.iter().all(|s| *s == Sort::Bool) => arena.bool_or_all(all),
        (Operator::BvAnd, all) if !all.is_empty() && sorts.iter().all(|s| *s == Sort::Bool) => arena.bool_and_all(all),
        (Operator::Ite, [c, a, b]) if sorts[0] == Sort::Bool && sorts[1].width().is_some() && sorts[1] == sorts[2] => {
            arena.ite(*c, *a, *b)
        }
        _ if !numbers || terms.is_empty() => return misfit(),
        (Operator::Add, [first, rest @ ..]) if same => rest.iter().fold(*first, |sum, t| arena.add(sum, *t)),
        (Operator::Mul, [a, b]) if same => arena.mul(*a, *b),
        (Operator::Sub, [a, b]) if same => arena.sub(*a, *b),
        (Operator::Udiv, [a, b]) if same => arena.udiv(*a, *b),
        (Operator::Urem, [a, b]) if same => arena.urem(*a, *b),
        (Operator::Sdiv, [a, b]) if same => arena.sdiv(*a, *b),
        (Operator::Srem, [a, b]) if same => arena.srem(*a, *b),
        (Operator::Shl, [a, b]) if same => arena.shl(*a, *b),
        (Operator::Lshr, [a, b]) if same => arena.lshr(*a, *b),
        (Operator::Ashr, [a, b]) if same => arena.ashr(*a, *b),
        (Operator::BvNot, [a]) => arena.not(*a),
        (Operator::BvAnd, [first, rest @ ..]) if same => rest.iter().fold(*first, |all, t| arena.and(all, *t)),
        (Operator::BvOr, [first, rest @ ..]) if same => rest.iter().fold(*first, |all, t| arena.or(all, *t)),
        (Operator::BvXor, [first, rest @ ..]) if same => rest.iter().fold(*first, |all, t| arena.xor(all, *t)),
        (Operator::Sext(width), [a]) if width >= arena.width(*a) => arena.sext(*a, width),
        (Operator::Zext(width), [a]) if width >= arena.width(*a) => arena.zext(*a, width),
        (Operator::Slice(low, width), [a]) if width > 0 && low + width <= arena.width(*a) => {
            arena.extract(*a, low + width - 1, low)
        }
        (Operator::Concat, [a, b]) if arena.width(*a) + arena.width(*b) <= 512 => arena.concat(*a, *b),
        (Operator::Load(side, bytes), [address]) if sorts[0] == Sort::Bv(64) => {
            let address = context.canonical_address(*address);
            // Nobody says that the original accesses it here, and so that it is inside its object.
            let certain = context.region(address, bytes).is_none_or(|r| !r.assumed && !r.claimed);
            let world = states[side.index()].world;
            if certain { context.read(world, address, bytes) } else { context.arena.load(world, address, bytes) }
        }
        (Operator::Extreme { most, signed }, [first, rest @ ..]) if same => rest.iter().fold(*first, |found, term| {
            let less = if signed { arena.slt(found, *term) } else { arena.ult(found, *term) };
            if most { arena.ite(less, *term, found) } else { arena.ite(less, found, *term) }
        }),
        (Operator::Eq, [a, b]) if same => arena.eq(*a, *b),
        (Operator::Ult, [a, b]) if same => arena.ult(*a, *b),
        (Operator::Ule, [a, b]) if same => arena.ule(*a, *b),
        (Operator::Slt, [a, b]) if same => arena.slt(*a, *b),
        (Operator::Sle, [a, b]) if same => arena.sle(*a, *b),
        (Operator::Apart, [a, n, b, m]) if same && sorts[0] == Sort::Bv(64) => {
            let [first, second] = [(*a, *n, *b), (*b, *m, *a)].map(|(start, length, other)| {
                let end = arena.add(start, length);
                let (whole, before) = (arena.ule(start, end), arena.ule(end, other));
                arena.bool_and(whole, before)
            });
            arena.bool_or(first, second)
        }
        (Operator::Float(word), [a, b]) if same && matches!(sorts[0], Sort::Bv(32 | 64)) => {
            let width = arena.width(*a);
            let one = |op: fn(u16) -> FloatOp| op(width);
            match word {
                FloatWord::Equal => arena.float(one(FloatOp::Eq), &[*a, *b]),
                FloatWord::Less => arena.float(one(FloatOp::Lt), &[*a, *b]),
                FloatWord::LessOrEqual => {
                    let (less, equal) =
                        (arena.float(one(FloatOp::Lt), &[*a, *b]), arena.float(one(FloatOp::Eq), &[*a, *b]));
                    arena.bool_or(less, equal)
                }
                FloatWord::Add => arena.float(one(FloatOp::Add), &[*a, *b]),
                FloatWord::Sub => arena.float(one(FloatOp::Sub), &[*a, *b]),
                FloatWord::Mul => arena.float(one(FloatOp::Mul), &[*a, *b]),
                FloatWord::Div => arena.float(one(FloatOp::Div), &[*a, *b]),
            }
        }
        _ => return misfit(),
    })
}

impl Operator {
    /// The sort of the result, if operands of these sorts fit.
    pub fn result(self, sorts: &[Sort]) -> Option<Sort> {
        let all_bool = !sorts.is_empty() && sorts.iter().all(|s| *s == Sort::Bool);
        let width = sorts.first().and_then(|s| s.width());
        let same = width.is_some() && sorts.windows(2).all(|w| w[0] == w[1]);
        let numbers = |count: usize| same && sorts.len() == count;
        match self {
            Operator::True | Operator::False => sorts.is_empty().then_some(Sort::Bool),
            Operator::Not => (all_bool && sorts.len() == 1).then_some(Sort::Bool),
            Operator::Or => all_bool.then_some(Sort::Bool),
            Operator::BvAnd if all_bool => Some(Sort::Bool),
            Operator::Ite => {
                let [Sort::Bool, a, b] = sorts else { return None };
                (a == b && a.width().is_some()).then_some(*a)
            }
            Operator::Add | Operator::BvAnd | Operator::BvOr | Operator::BvXor | Operator::Extreme { .. } => {
                same.then(|| sorts[0])
            }
            Operator::Sub
            | Operator::Mul
            | Operator::Udiv
            | Operator::Urem
            | Operator::Sdiv
            | Operator::Srem
            | Operator::Shl
            | Operator::Lshr
            | Operator::Ashr => numbers(2).then(|| sorts[0]),
            Operator::BvNot => numbers(1).then(|| sorts[0]),
            Operator::Sext(to) | Operator::Zext(to) => {
                (sorts.len() == 1 && width.is_some_and(|w| to >= w)).then_some(Sort::Bv(to))
            }
            Operator::Slice(low, bits) => {
                (sorts.len() == 1 && bits > 0 && width.is_some_and(|w| low + bits <= w)).then_some(Sort::Bv(bits))
            }
            Operator::Concat => match sorts {
                [Sort::Bv(a), Sort::Bv(b)] if a + b <= 512 => Some(Sort::Bv(a + b)),
                _ => None,
            },
            Operator::Load(_, bytes) => (sorts == [Sort::Bv(64)]).then_some(Sort::Bv(8 * bytes)),
            Operator::Eq | Operator::Ult | Operator::Ule | Operator::Slt | Operator::Sle => {
                numbers(2).then_some(Sort::Bool)
            }
            Operator::Apart => (sorts == [Sort::Bv(64); 4]).then_some(Sort::Bool),
            Operator::Float(word) => {
                let fits = numbers(2) && matches!(width, Some(32 | 64));
                let compares = matches!(word, FloatWord::Equal | FloatWord::Less | FloatWord::LessOrEqual);
                fits.then(|| if compares { Sort::Bool } else { sorts[0] })
            }
        }
    }
}

/// Operators without numbers, by the words for them.
const WORDS: [(&str, Operator); 37] = [
    ("add", Operator::Add),
    ("sub", Operator::Sub),
    ("mul", Operator::Mul),
    ("udiv", Operator::Udiv),
    ("urem", Operator::Urem),
    ("sdiv", Operator::Sdiv),
    ("srem", Operator::Srem),
    ("concat", Operator::Concat),
    ("shl", Operator::Shl),
    ("lshr", Operator::Lshr),
    ("ashr", Operator::Ashr),
    ("bitnot", Operator::BvNot),
    ("and", Operator::BvAnd),
    ("bitor", Operator::BvOr),
    ("bitxor", Operator::BvXor),
    ("maxs", Operator::Extreme { most: true, signed: true }),
    ("maxu", Operator::Extreme { most: true, signed: false }),
    ("mins", Operator::Extreme { most: false, signed: true }),
    ("minu", Operator::Extreme { most: false, signed: false }),
    ("=", Operator::Eq),
    ("<u", Operator::Ult),
    ("<=u", Operator::Ule),
    ("<s", Operator::Slt),
    ("<=s", Operator::Sle),
    ("not", Operator::Not),
    ("or", Operator::Or),
    ("ite", Operator::Ite),
    ("apart", Operator::Apart),
    ("feq", Operator::Float(FloatWord::Equal)),
    ("flt", Operator::Float(FloatWord::Less)),
    ("fle", Operator::Float(FloatWord::LessOrEqual)),
    ("fadd", Operator::Float(FloatWord::Add)),
    ("fsub", Operator::Float(FloatWord::Sub)),
    ("fmul", Operator::Float(FloatWord::Mul)),
    ("fdiv", Operator::Float(FloatWord::Div)),
    ("true", Operator::True),
    ("false", Operator::False),
];

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Sext(width) => write!(f, "sext {width}"),
            Operator::Zext(width) => write!(f, "zext {width}"),
            Operator::Slice(low, width) => write!(f, "slice {low} {width}"),
            Operator::Load(Side::Original, bytes) => write!(f, "load {bytes}"),
            Operator::Load(Side::Candidate, bytes) => write!(f, "peek {bytes}"),
            plain => {
                let word = WORDS.iter().find(|(_, operator)| operator == plain).map_or("?", |(word, _)| word);
                f.write_str(word)
            }
        }
    }
}

/// The form that [`Expression::parse`] reads.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Place(location) => write!(f, "{location}"),
            // As written: in 64 bits with a sign, which a narrower number never needs.
            Expression::Constant(bits) => write!(f, "#{}:{}", bits.width(), bits.to_i64().unwrap_or(0)),
            Expression::Named(name) if name.starts_with('&') => f.write_str(name),
            Expression::Named(name) => write!(f, "${name}"),
            Expression::Apply(operator, operands) => {
                write!(f, "({operator}")?;
                operands.iter().try_for_each(|operand| write!(f, " {operand}"))?;
                f.write_str(")")
            }
        }
    }
}

/// Tokens of a text, from left to right.
struct Reader<'t> {
    tokens: Vec<&'t str>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<&'t str, String> {
        let token = self.tokens.get(self.at).ok_or("an expression ends too early")?;
        self.at += 1;
        Ok(token)
    }

    fn number(&mut self, most: u16) -> Result<u16, String> {
        let token = self.next()?;
        token.parse().ok().filter(|n| *n <= most).ok_or_else(|| format!("`{token}` is no width"))
    }

    fn read(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return Err("an expression is too deep".to_string());
        }
        let token = self.next()?;
        if token != "(" {
            return atom(token);
        }
        let operator = match self.next()? {
            "sext" => Operator::Sext(self.number(512)?),
            "zext" => Operator::Zext(self.number(512)?),
            "slice" => Operator::Slice(self.number(512)?, self.number(512)?),
            "load" => Operator::Load(Side::Original, self.number(64)?.max(1)),
            "peek" => Operator::Load(Side::Candidate, self.number(64)?.max(1)),
            word => {
                let found = WORDS.iter().find(|(name, _)| *name == word).map(|(_, operator)| *operator);
                found.ok_or_else(|| format!("`{word}` is no operator"))?
            }
        };
        let mut operands = Vec::new();
        while self.tokens.get(self.at) != Some(&")") {
            operands.push(self.read(depth + 1)?);
        }
        self.at += 1;
        Ok(Expression::Apply(operator, operands))
    }
}

fn atom(token: &str) -> Result<Expression, String> {
    if let Some(name) = token.strip_prefix('$') {
        return Ok(Expression::Named(name.to_string()));
    }
    // Variables of named objects begin with the sign themselves.
    if let Some(name) = token.strip_prefix('&') {
        let variable = if name.starts_with(['&', '§']) { name } else { token };
        return Ok(Expression::Named(variable.to_string()));
    }
    if let Some(constant) = token.strip_prefix('#') {
        let bits = constant.split_once(':').and_then(|(width, value)| {
            let (width, value): (u16, i64) = (width.parse().ok()?, value.parse().ok()?);
            (1..=64).contains(&width).then(|| Bits::from_i64(width, value))
        });
        return bits.map(Expression::Constant).ok_or_else(|| format!("`{token}` is no constant"));
    }
    token.parse().map(Expression::Place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use program::{Function, Register};
    use term::Arena;

    #[test]
    fn bad_texts_are_refused() {
        for text in
            ["", "(", "(add", "(add o.rax", "o.rax o.rax", "(sext 9999 o.rax)", "#65:1", "#8:x", "(what o.rax)", "o.zf"]
        {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
        assert!(Expression::parse(&"(not ".repeat(1000)).is_err());
    }

    #[test]
    fn places_are_found() {
        let expression = Expression::parse("(add c.rax (mul #64:4 (sext 64 o[-20,4])) &table)").expect("well formed");
        let mut places = Vec::new();
        expression.places(&mut places);
        let texts: Vec<String> = places.iter().map(Location::to_string).collect();
        assert_eq!(texts, ["c.rax", "o[-20,4]"]);
    }

    /// The term of an expression where the worlds of the two sides differ.
    fn means(text: &str) -> String {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        let function = Function::default();
        let mut context = Context::new(&mut arena, &function, &function, Vec::new());
        let mut states = Side::BOTH.map(|side| context.entry_state(side));
        for side in Side::BOTH {
            states[side.index()].world = context.arena.var(&format!("{}'s", side.name()), Sort::Memory);
        }
        let expression = Expression::parse(text).expect("well formed");
        expression.term(&mut context, &states).map_or_else(|why| why, |term| context.arena.text(term))
    }

    #[test]
    fn extremes_are_of_all_operands() {
        expect!["rsi <s rdi ? rdi : rsi"].assert_eq(&means("(maxs o.rsi o.rdi)"));
        expect!["rsi <u rdi ? rsi : rdi"].assert_eq(&means("(minu o.rdi o.rsi)"));
        assert_eq!(means("(maxs o.rdi (maxs o.rsi o.rdx))"), means("(maxs o.rdx o.rdi o.rsi)"));
        assert_ne!(means("(maxs o.rdi o.rsi)"), means("(maxu o.rdi o.rsi)"));
        expect!["operands of Extreme { most: true, signed: true } do not fit"]
            .assert_eq(&means("(maxs o.rdi (slice 0 32 o.rsi))"));
    }

    #[test]
    fn choices_are_between_two_numbers() {
        expect!["rdi == 0 ? rsi : rdx"].assert_eq(&means("(ite (= o.rdi #64:0) o.rsi o.rdx)"));
        expect!["operands of Ite do not fit"].assert_eq(&means("(ite o.rdi o.rsi o.rdx)"));
        expect!["operands of Ite do not fit"].assert_eq(&means("(ite (= o.rdi #64:0) o.rsi (slice 0 32 o.rdx))"));
        expect!["operands of Ite do not fit"].assert_eq(&means("(ite (= o.rdi #64:0) o.rsi)"));
    }

    #[test]
    fn bits_are_of_all_operands() {
        expect!["rsi | rdi"].assert_eq(&means("(bitor o.rsi o.rdi)"));
        expect!["rsi ^ rdi"].assert_eq(&means("(bitxor o.rdi o.rsi)"));
        assert_eq!(means("(bitxor o.rdi (bitxor o.rsi o.rdx))"), means("(bitxor o.rdx o.rdi o.rsi)"));
        assert_eq!(means("(and o.rdi (and o.rsi o.rdx))"), means("(and o.rdx o.rdi o.rsi)"));
        assert_ne!(means("(bitor o.rdi o.rsi)"), means("(bitxor o.rdi o.rsi)"));
        expect!["operands of BvXor do not fit"].assert_eq(&means("(bitxor o.rdi (slice 0 32 o.rsi))"));
        expect!["operands of BvOr do not fit"].assert_eq(&means("(bitor (= o.rdi o.rsi) (= o.rdi o.rdx))"));
    }

    #[test]
    fn each_side_has_a_world_to_read() {
        expect!["original's[rdi, 4]"].assert_eq(&means("(load 4 o.rdi)"));
        expect!["candidate's[rdi, 4]"].assert_eq(&means("(peek 4 o.rdi)"));
        expect!["candidate's[rdi, 1] == original's[rdi, 1]"].assert_eq(&means("(= (peek 1 o.rdi) (load 1 o.rdi))"));
        expect!["operands of Load(Candidate, 4) do not fit"].assert_eq(&means("(peek 4 (slice 0 32 o.rdi))"));
        expect!["operands of Load(Candidate, 4) do not fit"].assert_eq(&means("(peek 4 o.rdi c.rdi)"));
        assert!(Expression::parse("(peek o.rdi)").is_err());
        assert!(Expression::parse("(peek 65 o.rdi)").is_err());
    }
}
