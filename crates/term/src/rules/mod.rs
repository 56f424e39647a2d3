//! The rewrite rules.
//!
//! A rule is a row of a table: a stable name and a function that returns an equal term, or nothing if it does not
//! apply. Rules are grouped by the operator they start from and tried in order; what they return is built with the
//! normalising constructors, so it is in normal form already.
//!
//! Termination: every rule either makes the term smaller, or moves an operator in the one direction that its
//! family's module documents. A rule that asks for the very term it is rewriting gets it back as written.
//!
//! Trust: full. The tests prove every rule by the solver at several widths and fuzz it against the evaluator.

mod arithmetic;
mod axioms;
mod bit_set;
mod bitwise;
mod boolean;
mod choice;
mod divisible;
mod division;
mod equality;
mod exact;
mod float;
mod interval;
mod magic;
mod memory;
mod order;
mod polynomial;
mod shift;
mod slice;
mod view;

#[cfg(test)]
mod testing;

use crate::axiom::Axioms;
use crate::eval::{self, Value};
use crate::{Arena, Axiom, Func, Op, Sort, TermId};
use smallvec::SmallVec;

/// One rewrite rule.
pub struct Rule {
    /// Stable name.
    pub name: &'static str,
    /// What it rests on besides IEEE 754.
    axioms: Axioms,
    /// An equal term, or nothing if the rule does not apply.
    apply: fn(&mut Arena, Op, &[TermId]) -> Option<TermId>,
}

const fn rule(name: &'static str, apply: fn(&mut Arena, Op, &[TermId]) -> Option<TermId>) -> Rule {
    Rule { name, axioms: Axioms::NONE, apply }
}

/// A rule that rests on axioms, and runs only where all of them are allowed.
const fn axiom(name: &'static str, axioms: &[Axiom], apply: fn(&mut Arena, Op, &[TermId]) -> Option<TermId>) -> Rule {
    Rule { name, axioms: Axioms::of(axioms), apply }
}

impl Rule {
    /// The axioms that the rule rests on; none if it holds bit for bit, or up to the payload of a NaN.
    pub fn axioms(&self) -> Vec<Axiom> {
        self.axioms.list()
    }
}

/// The first rule that changes the term `before`, which is `op` of `args`; nothing if it is in normal form.
pub(crate) fn rewrite(arena: &mut Arena, before: TermId, op: Op, args: &[TermId]) -> Option<(&'static str, TermId)> {
    table(arena, op, args).iter().find_map(|rule| {
        if !arena.allowed.contains(rule.axioms) {
            return None;
        }
        let after = (rule.apply)(arena, op, args).filter(|after| *after != before)?;
        arena.used = arena.used.with(rule.axioms);
        // No axiom keeps the payload of a NaN.
        arena.swapped_float |= rule.axioms != Axioms::NONE;
        Some((rule.name, after))
    })
}

/// The rules of an operator, in the order in which they are tried.
fn table(arena: &Arena, op: Op, args: &[TermId]) -> &'static [Rule] {
    match op {
        Op::True | Op::False | Op::Const(_) | Op::Var(_) => &[],
        Op::Not => boolean::NOT,
        Op::And => boolean::AND,
        Op::Or => boolean::OR,
        Op::Ite => choice::ITE,
        Op::Eq => match arena.sort(args[0]) {
            Sort::Bool => equality::IFF,
            Sort::Bv(_) => equality::EQ,
            Sort::Memory => equality::MEMORY,
        },
        Op::Ult => order::ULT,
        Op::Slt => order::SLT,
        Op::Add => arithmetic::ADD,
        Op::Mul => arithmetic::MUL,
        Op::Udiv => division::UDIV,
        Op::Urem => division::UREM,
        Op::Sdiv => division::SDIV,
        Op::Srem => division::SREM,
        Op::BvNot => bitwise::NOT,
        Op::BvAnd => bitwise::AND,
        Op::BvOr => bitwise::OR,
        Op::BvXor => bitwise::XOR,
        Op::Shl => shift::SHL,
        Op::Lshr => shift::LSHR,
        Op::Ashr => shift::ASHR,
        Op::Extract { .. } => slice::EXTRACT,
        Op::Concat => slice::CONCAT,
        Op::Zext(_) => slice::ZEXT,
        Op::Sext(_) => slice::SEXT,
        Op::Popcount | Op::TrailingZeros | Op::LeadingZeros => &[FOLD],
        Op::Apply(_) => float::APPLY,
        Op::Load(_) => memory::LOAD,
        Op::Store(_) => memory::STORE,
        Op::Fill => memory::FILL,
        Op::Copy => memory::COPY,
    }
}

/// All rules that rest on no axiom, each name once, sorted by name.
pub fn all() -> Vec<&'static Rule> {
    named(|rule| rule.axioms == Axioms::NONE)
}

/// The rules that rest on axioms, each name once, sorted by name: theorems about real numbers, not about floats.
pub fn resting_on_axioms() -> Vec<&'static Rule> {
    named(|rule| rule.axioms != Axioms::NONE)
}

fn named(wanted: fn(&Rule) -> bool) -> Vec<&'static Rule> {
    let tables: &[&'static [Rule]] = &[
        boolean::NOT,
        boolean::AND,
        boolean::OR,
        choice::ITE,
        equality::IFF,
        equality::EQ,
        order::ULT,
        order::SLT,
        arithmetic::ADD,
        arithmetic::MUL,
        division::UDIV,
        division::UREM,
        division::SDIV,
        division::SREM,
        bitwise::NOT,
        bitwise::AND,
        bitwise::OR,
        bitwise::XOR,
        shift::SHL,
        shift::LSHR,
        shift::ASHR,
        slice::EXTRACT,
        slice::CONCAT,
        slice::ZEXT,
        slice::SEXT,
        float::APPLY,
        memory::LOAD,
        memory::STORE,
        memory::FILL,
        memory::COPY,
    ];
    let mut rules: Vec<&'static Rule> =
        tables.iter().flat_map(|table| table.iter()).filter(|rule| wanted(rule)).collect();
    rules.sort_by_key(|rule| rule.name);
    rules.dedup_by_key(|rule| rule.name);
    rules
}

/// Every operand is a constant: compute.
const FOLD: Rule = rule("constant", fold);

fn fold(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if !args.iter().all(|arg| matches!(arena.op(*arg), Op::Const(_) | Op::True | Op::False)) || args.is_empty() {
        return None;
    }
    if let Op::Apply(func) = op
        && matches!(arena.func(func), Func::Opaque { .. })
    {
        return None;
    }
    let mut values: SmallVec<[Value; 4]> = SmallVec::new();
    for arg in args {
        values.push(match arena.sort(*arg) {
            Sort::Bool => Value::Bool(arena.as_bool(*arg)?),
            Sort::Bv(_) => Value::Bits(arena.as_const(*arg)?),
            Sort::Memory => return None,
        });
    }
    Some(match eval::apply(arena, op, &values) {
        Value::Bool(value) => arena.bool(value),
        Value::Bits(bits) => arena.constant(bits),
        Value::Memory(_) => return None,
    })
}
