//! Preconditions: what a proof may take for granted about the states in which both functions are entered.
//!
//! The statement proved is "in every start state in which the condition holds, …". A condition is a list of conjuncts over
//! values at entry alone: arguments of the original's signature, addresses of objects that it names, and memory. It grants no
//! access (that a cell is mentioned does not say that it exists) and says nothing about what the candidate finds in places that
//! nobody has defined: those are the candidate's to fear, whatever the condition is.
//!
//! [`Precondition::new`] is the whitelist, and the only way to one; [`Precondition::term`] gives it its meaning, which is the same for
//! both sides because entry values are shared.
//!
//! Trust: full. A name that meant a place of the candidate alone would let a condition choose what must hold for all choices.

use crate::objects::expression::{Expression, Operator};
use program::{Function, ObjectKind, Place, Register, Side, Value};
use std::collections::BTreeMap;
use symbolic::{Context, State, Stated};
use term::{Axiom, Sort, TermId};

/// A checked condition on start states, and what floating-point operations are taken to satisfy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Precondition {
    conjuncts: Vec<Expression>,
    axioms: Vec<Axiom>,
}

/// More conjuncts are refused.
const MOST_CONJUNCTS: usize = 2_000;

/// What a name in a condition stands for.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    /// An argument.
    Argument(Value),
    /// The address of an object of the original.
    Object,
}

impl Precondition {
    /// A condition about calls of a function. The error says what may not be said.
    pub fn new(
        conjuncts: Vec<Expression>,
        mut axioms: Vec<Axiom>,
        original: &Function,
        arena: &term::Arena,
    ) -> Result<Precondition, String> {
        if conjuncts.len() > MOST_CONJUNCTS {
            return Err("a condition has too many parts".to_string());
        }
        for conjunct in &conjuncts {
            if sort(conjunct, original, arena).map_err(|what| format!("condition `{conjunct}`: {what}"))? != Sort::Bool
            {
                return Err(format!("condition `{conjunct}`: not a truth value"));
            }
        }
        axioms.sort_unstable();
        axioms.dedup();
        Ok(Precondition { conjuncts, axioms })
    }

    /// The same condition, with other axioms.
    pub(crate) fn with_axioms(self, axioms: Vec<Axiom>) -> Precondition {
        Precondition { axioms, ..self }
    }

    /// What must hold, all of it.
    pub fn conjuncts(&self) -> &[Expression] {
        &self.conjuncts
    }

    /// What floating-point operations are taken to satisfy.
    pub fn axioms(&self) -> &[Axiom] {
        &self.axioms
    }

    /// Does it hold always, and take nothing for granted?
    pub fn is_true(&self) -> bool {
        self.conjuncts.is_empty() && self.axioms.is_empty()
    }

    /// Do the conjuncts say that blocks do not overlap?
    pub(crate) fn keeps_apart(&self) -> bool {
        self.conjuncts.iter().any(|conjunct| mentions(conjunct, Operator::Apart))
    }

    /// Values and ranges of arguments that the conjuncts state outright.
    pub(crate) fn stated(&self, original: &Function) -> BTreeMap<Register, Stated> {
        let mut out: BTreeMap<Register, Stated> = BTreeMap::new();
        let outright = self.conjuncts.iter().filter_map(|conjunct| bound(conjunct, original));
        for (register, found) in outright.chain(self.stated_with_sign(original)) {
            match (out.get(&register), found) {
                (Some(Stated::Value(_)), _) => {}
                (Some(Stated::Bits(known)), Stated::Bits(bits)) if *known <= bits => {}
                _ => {
                    out.insert(register, found);
                }
            }
        }
        out
    }

    /// Of which arguments the conjuncts say, read with a sign, that they are not negative and below some number: the same numbers
    /// without a sign.
    fn stated_with_sign(&self, original: &Function) -> Vec<(Register, Stated)> {
        let ends: Vec<SignedEnd> =
            self.conjuncts.iter().filter_map(|conjunct| signed_end(conjunct, original)).collect();
        let positive = |register| ends.iter().any(|end| end.register == register && !end.upper && end.value >= 0);
        let below = ends.iter().filter(|end| end.upper && end.value >= 0 && positive(end.register));
        below.filter_map(|end| Some((end.register, fewer_bits(end.value.unsigned_abs(), end.width)?))).collect()
    }

    /// The condition about the states in which both sides are entered.
    pub fn term(&self, context: &mut Context, states: &[State; 2]) -> Result<TermId, String> {
        let mut all = context.arena.bool(true);
        for conjunct in &self.conjuncts {
            let holds = term(conjunct, context, states)?;
            if context.arena.sort(holds) != Sort::Bool {
                return Err(format!("condition `{conjunct}`: not a truth value"));
            }
            all = context.arena.bool_and(all, holds);
        }
        Ok(all)
    }
}

fn mentions(expression: &Expression, wanted: Operator) -> bool {
    match expression {
        Expression::Apply(operator, operands) => *operator == wanted || operands.iter().any(|o| mentions(o, wanted)),
        _ => false,
    }
}

/// The least or the greatest value, read with a sign, that a conjunct leaves an argument.
#[derive(Clone, Copy, Debug)]
struct SignedEnd {
    register: Register,
    width: u16,
    upper: bool,
    value: i64,
}

/// `x < c`, `x ≤ c`, `c < x` or `c ≤ x` with a sign.
fn signed_end(conjunct: &Expression, original: &Function) -> Option<SignedEnd> {
    let Expression::Apply(operator @ (Operator::Slt | Operator::Sle), operands) = conjunct else { return None };
    let (name, constant, upper) = match &operands[..] {
        [Expression::Named(name), Expression::Constant(constant)] => (name, *constant, true),
        [Expression::Constant(constant), Expression::Named(name)] => (name, *constant, false),
        _ => return None,
    };
    let (register, width) = plain_argument(name, original)?;
    if constant.width() != width {
        return None;
    }
    let (value, strict) = (constant.to_i64()?, i64::from(*operator == Operator::Slt));
    let value = if upper { value.checked_sub(strict)? } else { value.checked_add(strict)? };
    Some(SignedEnd { register, width, upper, value })
}

/// A general register that carries an argument which is no narrow type, and its width.
fn plain_argument(name: &str, original: &Function) -> Option<(Register, u16)> {
    let Some(Meaning::Argument(value)) = meaning_of(name, original) else { return None };
    let Place::Register(register @ Register::General(_)) = value.place else { return None };
    (!value.boolean && value.narrow.is_none()).then_some((register, 8 * value.bytes))
}

/// The bits that numbers up to one need, if these are fewer than all.
fn fewer_bits(most: u64, width: u16) -> Option<Stated> {
    let bits = (u64::BITS - most.leading_zeros()).max(1) as u16;
    (bits < width).then_some(Stated::Bits(bits))
}

/// `x = c`, `x < c` or `x ≤ c` without a sign, of an argument of the original that is no narrow type.
fn bound(conjunct: &Expression, original: &Function) -> Option<(Register, Stated)> {
    let Expression::Apply(operator, operands) = conjunct else { return None };
    let (name, constant) = match &operands[..] {
        [Expression::Named(name), Expression::Constant(constant)] => (name, *constant),
        [Expression::Constant(constant), Expression::Named(name)] if *operator == Operator::Eq => (name, *constant),
        _ => return None,
    };
    let (register, width) = plain_argument(name, original)?;
    if constant.width() != width {
        return None;
    }
    let most = match operator {
        Operator::Eq => return Some((register, Stated::Value(constant))),
        Operator::Ule => constant.low(),
        Operator::Ult => constant.low().checked_sub(1)?,
        _ => return None,
    };
    fewer_bits(most, width).map(|stated| (register, stated))
}

/// The argument that goes by a name: `rdi`, `xmm0`, `stack.8`.
fn argument(name: &str, original: &Function) -> Option<Value> {
    let place = match name.strip_prefix("stack.") {
        Some(offset) => Place::Stack(offset.parse().ok()?),
        None => Place::Register(Register::all().find(|register| register.name() == name)?),
    };
    match original.signature.as_ref() {
        Some(signature) if signature.unsupported.is_some() => None,
        Some(signature) => signature.arguments.iter().find(|a| a.place == place).copied(),
        // Without a signature every register of the convention is an argument.
        None => {
            let bytes = match place {
                Place::Register(register) if Register::ARGUMENTS.contains(&register) => 8,
                Place::Register(Register::Vector(0..8)) => 16,
                _ => return None,
            };
            Some(Value { place, bytes, boolean: false, narrow: None })
        }
    }
}

fn meaning_of(name: &str, original: &Function) -> Option<Meaning> {
    if name.starts_with('&') {
        return Some(Meaning::Object);
    }
    argument(name, original).map(|value| Meaning::Argument(value.as_passed()))
}

/// What a name means, if a condition may say it.
fn meaning(name: &str, original: &Function, arena: &term::Arena) -> Result<Meaning, String> {
    let unknown = || format!("`{name}` is no argument and no object of {}", original.name);
    let meaning = meaning_of(name, original).ok_or_else(unknown)?;
    if let Meaning::Object = meaning {
        let var = arena.find_var(name).ok_or_else(unknown)?;
        let object = original.objects.get(&var).ok_or_else(unknown)?;
        if !matches!(object.kind, ObjectKind::Named { function: false, .. }) {
            return Err(format!("`{name}` is no variable"));
        }
        if object.volatile {
            return Err(format!("`{name}` is volatile"));
        }
    }
    Ok(meaning)
}

/// The sort of an expression, if a condition may say it.
fn sort(expression: &Expression, original: &Function, arena: &term::Arena) -> Result<Sort, String> {
    let (operator, operands) = match expression {
        Expression::Place(location) => return Err(format!("`{location}` is no value at entry")),
        Expression::Constant(bits) => return Ok(Sort::Bv(bits.width())),
        Expression::Named(name) => {
            return Ok(match meaning(name, original, arena)? {
                Meaning::Argument(value) => Sort::Bv(8 * value.bytes),
                Meaning::Object => Sort::Bv(64),
            });
        }
        Expression::Apply(operator, operands) => (*operator, operands),
    };
    if let Operator::Load(Side::Candidate, _) = operator {
        return Err("only memory at entry may be read".to_string());
    }
    let sorts: Vec<Sort> = operands.iter().map(|o| sort(o, original, arena)).collect::<Result<_, _>>()?;
    operator.result(&sorts).ok_or_else(|| format!("operands of `{operator}` do not fit"))
}

/// The term of a checked expression.
fn term(expression: &Expression, context: &mut Context, states: &[State; 2]) -> Result<TermId, String> {
    match expression {
        Expression::Place(location) => Err(format!("`{location}` is no value at entry")),
        Expression::Constant(bits) => Ok(context.arena.constant(*bits)),
        Expression::Named(name) => match meaning(name, context.functions[0], context.arena)? {
            Meaning::Argument(value) => Ok(context.argument_at_entry(&value, &states[0])),
            Meaning::Object => {
                let var = context.arena.find_var(name).ok_or_else(|| format!("nothing is named `{name}`"))?;
                Ok(context.arena.var_term(var))
            }
        },
        Expression::Apply(Operator::Load(Side::Candidate, _), _) => Err("only memory at entry may be read".to_string()),
        // Nothing says that the address is inside an object: no assumption is made by reading it.
        Expression::Apply(Operator::Load(Side::Original, bytes), operands) => {
            let [address] = &operands[..] else { return Err("operands of `load` do not fit".to_string()) };
            let address = term(address, context, states)?;
            if context.arena.sort(address) != Sort::Bv(64) {
                return Err("operands of `load` do not fit".to_string());
            }
            Ok(context.arena.load(states[0].world, address, *bytes))
        }
        Expression::Apply(operator, operands) => {
            let mut terms = Vec::with_capacity(operands.len());
            for operand in operands {
                terms.push(term(operand, context, states)?);
            }
            crate::objects::expression::apply(context, states, *operator, &terms)
        }
    }
}
