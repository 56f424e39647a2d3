//! Negation, conjunction, disjunction.
//!
//! Negation is pushed inwards through `And`, `Or` and truth-valued `Ite`, so it only stands before comparisons,
//! variables, equivalences and applications. Conjunctions and disjunctions are flat, sorted, without repetition;
//! parts common to all operands of one kind are factored out, so the merged conditions of a branch and its
//! opposite become the condition before the branch.

use super::interval::{self, Set};
use super::{FOLD, Rule, bit_set, divisible, float, rule};
use crate::{Arena, Op, TermId};
use smallvec::SmallVec;

/// Larger junctions are not flattened any further.
const MAX_FLAT: usize = 32;
/// Pairs of operands are only compared in junctions up to this size.
const MAX_PAIRS: usize = 12;

type List = SmallVec<[TermId; 8]>;

/// Rules for negations.
pub(super) const NOT: &[Rule] =
    &[FOLD, rule("not-not", not_not), rule("not-junction", not_junction), rule("not-ite", not_ite)];

/// Rules for conjunctions.
pub(super) const AND: &[Rule] = &[
    FOLD,
    rule("and-canonical", canonical),
    rule("and-absorb", absorb),
    rule("and-pair", pairs),
    rule("and-range", range),
    rule("and-factor", factor),
    rule("and-choice", choice),
    rule("and-divisible", divisible::and_divisible),
    rule("and-low-part", bit_set::low_part),
];

/// Rules for disjunctions.
pub(super) const OR: &[Rule] = &[
    FOLD,
    rule("or-canonical", canonical),
    rule("or-absorb", absorb),
    rule("or-pair", pairs),
    rule("or-range", range),
    rule("or-factor", factor),
    rule("or-choice", choice),
    rule("or-divisible", divisible::or_divisible),
    rule("or-low-part", bit_set::low_part),
];

fn not_not(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    (arena.op(args[0]) == Op::Not).then(|| arena.arg(args[0], 0))
}

fn not_junction(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let op = arena.op(args[0]);
    let dual = match op {
        Op::And | Op::Or => dual(op),
        _ => return None,
    };
    let inner: List = arena.args(args[0]).into();
    let negated: List = inner.into_iter().map(|t| arena.bool_not(t)).collect();
    Some(arena.make(dual, &negated))
}

fn not_ite(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if arena.op(args[0]) != Op::Ite {
        return None;
    }
    let (c, a, b) = (arena.arg(args[0], 0), arena.arg(args[0], 1), arena.arg(args[0], 2));
    let (a, b) = (arena.bool_not(a), arena.bool_not(b));
    Some(arena.ite(c, a, b))
}

fn dual(op: Op) -> Op {
    if op == Op::And { Op::Or } else { Op::And }
}

/// `a ∧ (b ∧ a) ∧ true = a ∧ b`, `a ∧ ¬a = false`, and the duals: flat, sorted, no repetition, no constant.
fn canonical(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let neutral = op == Op::And;
    let mut flat: List = SmallVec::new();
    for arg in args {
        if let Some(value) = arena.as_bool(*arg) {
            if value != neutral {
                return Some(*arg);
            }
        } else if arena.op(*arg) == op && flat.len() + arena.args(*arg).len() <= MAX_FLAT {
            flat.extend_from_slice(arena.args(*arg));
        } else {
            flat.push(*arg);
        }
    }
    flat.sort_unstable();
    flat.dedup();
    let contradiction = flat.iter().any(|t| arena.op(*t) == Op::Not && flat.binary_search(&arena.arg(*t, 0)).is_ok());
    if contradiction {
        return Some(arena.bool(!neutral));
    }
    match flat[..] {
        [] => Some(arena.bool(neutral)),
        [one] => Some(one),
        _ if flat[..] == *args => None,
        _ => Some(arena.make(op, &flat)),
    }
}

/// `a ∧ (a ∨ b) = a`, `a ∧ (¬a ∨ b) = a ∧ b`, `a ∧ ite(a, x, y) = a ∧ x`, and the duals: each operand is simplified
/// under the assumption that the other ones are neutral.
fn absorb(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let mut changed = false;
    let mut out: List = args.into();
    for i in 0..out.len() {
        let inner = arena.op(out[i]);
        if inner != dual(op) && inner != Op::Ite {
            continue;
        }
        let new = simplify_under(arena, op, out[i], &out);
        if new != out[i] {
            out[i] = new;
            changed = true;
        }
    }
    changed.then(|| arena.make(op, &out))
}

/// `term` where its direct parts that occur in `known` (as they are or negated) are replaced by what they are worth
/// when everything in `known` is the neutral element of `op`.
fn simplify_under(arena: &mut Arena, op: Op, term: TermId, known: &[TermId]) -> TermId {
    let neutral = op == Op::And;
    let worth = |arena: &mut Arena, part: TermId| {
        if known.contains(&part) {
            return Some(neutral);
        }
        let negated = arena.bool_not(part);
        known.contains(&negated).then_some(!neutral)
    };
    if arena.op(term) == Op::Ite {
        return match worth(arena, arena.arg(term, 0)) {
            Some(true) => arena.arg(term, 1),
            Some(false) => arena.arg(term, 2),
            None => term,
        };
    }
    let parts: List = arena.args(term).into();
    if parts.len() * known.len() > 256 {
        return term;
    }
    let mut kept: List = SmallVec::new();
    for part in &parts {
        match worth(arena, *part) {
            Some(value) if value == neutral => return arena.bool(neutral),
            Some(_) => {}
            None => kept.push(*part),
        }
    }
    if kept.len() == parts.len() {
        return term;
    }
    match kept[..] {
        [] => arena.bool(!neutral),
        [one] => one,
        _ => arena.make(dual(op), &kept),
    }
}

/// What a literal says, as far as [`pairs`] combines it with others.
enum Comparison {
    /// A term lies in a set.
    Member(TermId, Set),
    /// `a < b` (or not, if false) and the literal for `a = b`.
    Less {
        op: Op,
        a: TermId,
        b: TermId,
        holds: bool,
        same: TermId,
    },
    /// An equality of two terms.
    Equal,
    /// Outcomes of a floating-point comparison.
    Float,
    Other,
}

fn comparison(arena: &mut Arena, literal: TermId) -> Comparison {
    if float::is_condition(arena, literal) {
        return Comparison::Float;
    }
    let (atom, holds) = match arena.op(literal) {
        Op::Not => (arena.arg(literal, 0), false),
        _ => (literal, true),
    };
    let op = arena.op(atom);
    if !matches!(op, Op::Eq | Op::Ult | Op::Slt) {
        return Comparison::Other;
    }
    if let Some((base, set)) = interval::statement(arena, literal) {
        return Comparison::Member(base, set);
    }
    let (a, b) = (arena.arg(atom, 0), arena.arg(atom, 1));
    match op {
        Op::Eq => Comparison::Equal,
        _ => Comparison::Less { op, a, b, holds, same: arena.eq(a, b) },
    }
}

/// Two comparisons of the same operands become one, or decide each other.
fn pairs(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.len() > MAX_PAIRS {
        return None;
    }
    // A disjunction is combined as the conjunction of the negated operands.
    let literals: List = match op {
        Op::And => args.into(),
        _ => args.iter().map(|arg| arena.bool_not(*arg)).collect(),
    };
    let said: SmallVec<[Comparison; 8]> = literals.iter().map(|literal| comparison(arena, *literal)).collect();
    for i in 0..args.len() {
        for j in i + 1..args.len() {
            let (p, q) = (literals[i], literals[j]);
            let both = match (&said[i], &said[j]) {
                (Comparison::Member(x, a), Comparison::Member(y, b)) => {
                    if x == y {
                        interval::both(arena, *x, (p, *a), (q, *b))
                    } else if let Some(a) = interval::scaled(arena, *x, *a, *y) {
                        interval::both(arena, *y, (p, a), (q, *b))
                    } else if let Some(b) = interval::scaled(arena, *y, *b, *x) {
                        interval::both(arena, *x, (p, *a), (q, b))
                    } else {
                        None
                    }
                }
                (Comparison::Less { .. }, Comparison::Less { .. } | Comparison::Equal | Comparison::Member(..)) => {
                    order_and(arena, &said[i], p, q)
                }
                (Comparison::Equal | Comparison::Member(..), Comparison::Less { .. }) => {
                    order_and(arena, &said[j], q, p)
                }
                (Comparison::Float, Comparison::Float) => float::both(arena, p, q),
                _ => None,
            };
            let Some(both) = both else { continue };
            let both = if op == Op::And { both } else { arena.bool_not(both) };
            let mut rest: List = args.into();
            rest.remove(j);
            rest[i] = both;
            return Some(junction(arena, op, &rest));
        }
    }
    None
}

/// `p ∧ q` where `p` compares `a` and `b` by an order and `q` is any comparison.
fn order_and(arena: &mut Arena, said: &Comparison, p: TermId, q: TermId) -> Option<TermId> {
    let Comparison::Less { op, a, b, holds, same } = *said else { return None };
    let (atom, positive) = match arena.op(q) {
        Op::Not => (arena.arg(q, 0), false),
        _ => (q, true),
    };
    let opposite_same = if arena.op(same) == Op::Not { Some(arena.arg(same, 0)) } else { None };
    let equal = atom == same || Some(atom) == opposite_same;
    let greater = arena.op(atom) == op && arena.args(atom) == [b, a];
    if !equal && !greater {
        return None;
    }
    if equal {
        let says_same = (atom == same) == positive;
        return match (holds, says_same) {
            (true, true) => Some(arena.bool(false)),
            (true, false) => Some(p),
            (false, true) => Some(q),
            (false, false) => Some(arena.make(op, &[b, a])),
        };
    }
    match (holds, positive) {
        (true, true) => Some(arena.bool(false)),
        (true, false) => Some(p),
        (false, true) => Some(q),
        (false, false) => Some(same),
    }
}

/// `x ∈ S ∧ (x ∈ A ∨ x ∈ B) = x ∈ S ∩ A ∨ x ∈ S ∩ B` where the intersections are intervals, and the dual.
fn range(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.len() > MAX_PAIRS || !args.iter().any(|arg| arena.op(*arg) == dual(op)) {
        return None;
    }
    // The dual is the same statement about complements.
    let complement = |set: Set| if op == Op::And { set } else { set.complement() };
    for i in 0..args.len() {
        let Some((x, bound)) = interval::statement(arena, args[i]) else { continue };
        for j in 0..args.len() {
            if arena.op(args[j]) != dual(op) || arena.args(args[j]).len() > MAX_PAIRS {
                continue;
            }
            let parts: List = arena.args(args[j]).into();
            let both: Option<SmallVec<[Set; 8]>> = parts
                .iter()
                .map(|part| {
                    let (y, set) = interval::statement(arena, *part)?;
                    if x == y { complement(set).intersect(complement(bound)) } else { None }
                })
                .collect();
            let Some(both) = both else { continue };
            let members: List = both.iter().map(|set| interval::member(arena, x, complement(*set))).collect();
            let mut rest: List = args.into();
            rest[i] = junction(arena, dual(op), &members);
            rest.remove(j);
            return Some(junction(arena, op, &rest));
        }
    }
    None
}

/// `(p ∧ a) ∨ (p ∧ b) = p ∧ (a ∨ b)` and the dual.
fn factor(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.len() > MAX_PAIRS {
        return None;
    }
    let inner = dual(op);
    for i in 0..args.len() {
        if arena.op(args[i]) != inner {
            continue;
        }
        for j in i + 1..args.len() {
            if arena.op(args[j]) != inner {
                continue;
            }
            let (a, b): (List, List) = (arena.args(args[i]).into(), arena.args(args[j]).into());
            let common: List = a.iter().copied().filter(|t| b.contains(t)).collect();
            if common.is_empty() {
                continue;
            }
            let rest = |list: &List| -> List { list.iter().copied().filter(|t| !common.contains(t)).collect() };
            let (rest_a, rest_b) = (rest(&a), rest(&b));
            let (rest_a, rest_b) = (junction(arena, inner, &rest_a), junction(arena, inner, &rest_b));
            let mut factored = common;
            factored.push(arena.make(op, &[rest_a, rest_b]));
            let both = arena.make(inner, &factored);
            let mut others: List = args.into();
            others.remove(j);
            others[i] = both;
            return Some(junction(arena, op, &others));
        }
    }
    None
}

fn junction(arena: &mut Arena, op: Op, terms: &[TermId]) -> TermId {
    match terms {
        [] => arena.bool(op == Op::And),
        [one] => *one,
        _ => arena.make(op, terms),
    }
}

/// `(c ∧ a) ∨ (¬c ∧ b) = ite(c, a, b)` and `(¬c ∨ a) ∧ (c ∨ b) = ite(c, a, b)`.
fn choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let inner = dual(op);
    let [p, q] = *args else { return None };
    if arena.op(p) != inner || arena.op(q) != inner {
        return None;
    }
    let (a, b): (List, List) = (arena.args(p).into(), arena.args(q).into());
    for (i, c) in a.iter().enumerate() {
        let negated = arena.bool_not(*c);
        let Some(j) = b.iter().position(|t| *t == negated) else { continue };
        let (mut a, mut b) = (a.clone(), b.clone());
        a.remove(i);
        b.remove(j);
        let (a, b) = (junction(arena, inner, &a), junction(arena, inner, &b));
        return Some(if op == Op::Or { arena.ite(*c, a, b) } else { arena.ite(*c, b, a) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, truths};
    use crate::Sort;
    use expect_test::expect;

    #[test]
    fn both_ways_of_a_branch_meet() {
        gives(
            |a| {
                let (p, c) = truths(a);
                let not_c = a.bool_not(c);
                let (yes, no) = (a.bool_and(p, c), a.bool_and(p, not_c));
                a.bool_or(yes, no)
            },
            expect!["p"],
        );
        gives(
            |a| {
                let (c, d) = truths(a);
                let p = a.var("r", Sort::Bool);
                let (not_c, not_d) = (a.bool_not(c), a.bool_not(d));
                let (first, second) = (a.bool_and_all(&[p, c, d]), a.bool_and_all(&[p, c, not_d]));
                let third = a.bool_and(p, not_c);
                a.bool_or_all(&[first, third, second])
            },
            expect!["r"],
        );
    }

    #[test]
    fn known_operands_simplify_their_neighbours() {
        gives(
            |a| {
                let (p, q) = truths(a);
                let not_p = a.bool_not(p);
                let both = a.bool_and(not_p, q);
                a.bool_or(p, both)
            },
            expect!["p || q"],
        );
        gives(
            |a| {
                let (p, q) = truths(a);
                let r = a.var("r", Sort::Bool);
                let choice = a.ite(p, q, r);
                a.bool_and(p, choice)
            },
            expect!["p && q"],
        );
        gives(
            |a| {
                let (p, q) = truths(a);
                let r = a.var("r", Sort::Bool);
                let not_p = a.bool_not(p);
                let (yes, no) = (a.bool_and(p, q), a.bool_and(not_p, r));
                let choice = a.bool_or(yes, no);
                a.bool_not(choice)
            },
            expect!["p ? !q : !r"],
        );
    }
}
