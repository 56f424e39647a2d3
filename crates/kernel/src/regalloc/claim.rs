//! The untrusted claim about a register allocation.

use machine::{Commute, Id, Kind, Lane, Location, Side, Symbol, Values};
use machine::{IMMUTABLE, RESULT_BITS};

/// Version of the claim's text form.
pub const VERSION: u32 = 1;

/// A value in terms of one program's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// Bits of a location.
    Lane(Lane),
    /// A number.
    Constant(u64, u16),
    /// Something known by its text.
    Symbol(Symbol, u16),
    /// Bits of a value: first, number.
    Extract(u16, u16, Box<Expression>),
    /// Values side by side, lowest first.
    Concat(Vec<Expression>),
    /// A sum of this width.
    Linear(u64, u16, Vec<(u64, Expression)>),
    /// An uninterpreted function.
    Apply(Symbol, Commute, Vec<Expression>),
    /// A result of a function.
    Result(u16, Box<Expression>),
    /// A load of so many bits from memory that never changes.
    Load(u16, Vec<Expression>),
}

/// A pair of blocks that are entered together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedPoint {
    /// Indices of the blocks.
    pub blocks: (u32, u32),
    /// The original's numbers of the candidate's events, if they are not in step.
    pub order: Option<Vec<u32>>,
    /// What is equal there: a value of the original and one of the candidate.
    pub equations: Vec<(Expression, Expression)>,
}

/// All pairs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Claim {
    /// In no particular order.
    pub points: Vec<ClaimedPoint>,
}

impl Expression {
    /// Takes a value apart. `None` if it means something only inside a block.
    pub fn of(values: &Values, id: Id) -> Option<Expression> {
        let bits = values.bits(id);
        let whole = |location: Location, low: u16| Expression::Lane(Lane::new(location, low, bits));
        let all = |id: Id| values.args(id).map(|arg| Expression::of(values, arg)).collect::<Option<Vec<_>>>();
        Some(match values.kind(id) {
            Kind::Input(_, location) => whole(location, 0),
            Kind::Constant(value) => Expression::Constant(value, bits),
            Kind::Symbol(symbol) => Expression::Symbol(symbol, bits),
            Kind::Extract(low) => {
                let of = values.arg(id, 0);
                if let Kind::Input(_, location) = values.kind(of) {
                    return Some(whole(location, low));
                }
                Expression::Extract(low, bits, Box::new(Expression::of(values, of)?))
            }
            Kind::Concat => Expression::Concat(all(id)?),
            Kind::Linear(constant) => {
                let (_, terms) = values.terms(id);
                let terms: Option<Vec<_>> =
                    terms.into_iter().map(|(f, t)| Some((f, Expression::of(values, t)?))).collect();
                Expression::Linear(constant, bits, terms?)
            }
            Kind::Apply(name, commute) => Expression::Apply(name, commute, all(id)?),
            Kind::Result(index) => Expression::Result(index, Box::new(Expression::of(values, values.arg(id, 0))?)),
            Kind::Load(IMMUTABLE) => Expression::Load(bits, all(id)?),
            Kind::Load(_) | Kind::Event(_) | Kind::Junk(_) | Kind::Undefined(..) => return None,
        })
    }

    /// Puts the value together in the state of one side. `None` if it is nonsense.
    pub fn build(&self, values: &mut Values, width: &dyn Fn(Location) -> u16, side: Side) -> Option<Id> {
        let fits = |low: u16, bits: u16, width: u16| bits > 0 && u32::from(low) + u32::from(bits) <= u32::from(width);
        let all = |values: &mut Values, list: &[Expression]| -> Option<Vec<Id>> {
            list.iter().map(|e| e.build(values, width, side)).collect()
        };
        Some(match self {
            Expression::Lane(lane) => {
                let whole = width(lane.location);
                if !fits(lane.low, lane.bits, whole) {
                    return None;
                }
                let input = values.input(side, lane.location, whole);
                values.extract(input, lane.low, lane.bits)
            }
            Expression::Constant(value, bits) if *bits > 0 => values.constant(*value, *bits),
            Expression::Symbol(symbol, bits) if *bits > 0 => values.symbol(*symbol, *bits),
            Expression::Extract(low, bits, of) => {
                let of = of.build(values, width, side)?;
                if !fits(*low, *bits, values.bits(of)) {
                    return None;
                }
                values.extract(of, *low, *bits)
            }
            Expression::Concat(parts) => {
                let parts = all(values, parts)?;
                let total: u32 = parts.iter().map(|part| u32::from(values.bits(*part))).sum();
                if parts.is_empty() || total > 1 << 14 {
                    return None;
                }
                values.concat(&parts)
            }
            Expression::Linear(constant, bits, terms) => {
                let mut sum = Vec::with_capacity(terms.len());
                for (factor, term) in terms {
                    let term = term.build(values, width, side)?;
                    if values.bits(term) != *bits {
                        return None;
                    }
                    sum.push((*factor, term));
                }
                if *bits == 0 || *bits > 64 {
                    return None;
                }
                values.linear(*constant, &sum, *bits)
            }
            Expression::Apply(name, commute, args) => {
                let args = all(values, args)?;
                values.apply(*name, *commute, &args)
            }
            Expression::Result(index, of) => {
                let of = of.build(values, width, side)?;
                if !matches!(values.kind(of), Kind::Apply(..)) || values.bits(of) != RESULT_BITS {
                    return None;
                }
                values.result(of, *index)
            }
            Expression::Load(bits, args) => match all(values, args)?[..] {
                [address] if *bits > 0 => values.load(*bits, IMMUTABLE, address, None),
                [address, segment] if *bits > 0 => values.load(*bits, IMMUTABLE, address, Some(segment)),
                _ => return None,
            },
            Expression::Constant(..) | Expression::Symbol(..) => return None,
        })
    }
}
