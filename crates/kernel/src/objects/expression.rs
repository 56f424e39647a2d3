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
use symbolic::{Context, State};
use term::{Bits, Sort, TermId};

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
    /// Logical shift to the right.
    Lshr,
    /// Bitwise and.
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

fn apply(context: &mut Context, states: &[State; 2], operator: Operator, terms: &[TermId]) -> Result<TermId, String> {
    let sorts: Vec<Sort> = terms.iter().map(|t| context.arena.sort(*t)).collect();
    let misfit = || Err(format!("operands of {operator:?} do not fit"));
    let numbers = sorts.iter().all(|s| s.width().is_some());
    let same = sorts.windows(2).all(|w| w[0] == w[1]);
    let arena = &mut *context.arena;
    Ok(match (operator, terms) {
        (Operator::Not, [a]) if sorts[0] == Sort::Bool => arena.bool_not(*a),
        (Operator::Or, all) if !all.is_empty() && sorts.iter().all(|s| *s == Sort::Bool) => arena.bool_or_all(all),
        (Operator::Ite, [c, a, b]) if sorts[0] == Sort::Bool && sorts[1].width().is_some() && sorts[1] == sorts[2] => {
            arena.ite(*c, *a, *b)
        }
        _ if !numbers || terms.is_empty() => return misfit(),
        (Operator::Add, [first, rest @ ..]) if same => rest.iter().fold(*first, |sum, t| arena.add(sum, *t)),
        (Operator::Mul, [a, b]) if same => arena.mul(*a, *b),
        (Operator::Lshr, [a, b]) if same => arena.lshr(*a, *b),
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
        _ => return misfit(),
    })
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
            "add" => Operator::Add,
            "mul" => Operator::Mul,
            "sext" => Operator::Sext(self.number(512)?),
            "zext" => Operator::Zext(self.number(512)?),
            "slice" => Operator::Slice(self.number(512)?, self.number(512)?),
            "concat" => Operator::Concat,
            "load" => Operator::Load(Side::Original, self.number(64)?.max(1)),
            "peek" => Operator::Load(Side::Candidate, self.number(64)?.max(1)),
            "lshr" => Operator::Lshr,
            "and" => Operator::BvAnd,
            "bitor" => Operator::BvOr,
            "bitxor" => Operator::BvXor,
            "maxs" => Operator::Extreme { most: true, signed: true },
            "maxu" => Operator::Extreme { most: true, signed: false },
            "mins" => Operator::Extreme { most: false, signed: true },
            "minu" => Operator::Extreme { most: false, signed: false },
            "=" => Operator::Eq,
            "<u" => Operator::Ult,
            "<=u" => Operator::Ule,
            "<s" => Operator::Slt,
            "<=s" => Operator::Sle,
            "not" => Operator::Not,
            "or" => Operator::Or,
            "ite" => Operator::Ite,
            other => return Err(format!("`{other}` is no operator")),
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
    if let Some(name) = token.strip_prefix('&').or_else(|| token.strip_prefix('$')) {
        return Ok(Expression::Named(name.to_string()));
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
