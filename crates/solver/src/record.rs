//! Which questions were hard, and what became of them.
//!
//! A search asks many questions; of those that its last check asked, a few cost nearly everything: some only a process
//! answers, others nobody does, and the check goes on in another way. A record of these lets a second check go there
//! directly. It is keyed by a hash of the question that does not depend on what was asked before: operands that may
//! change places are taken in an order of their own, and variables that were made up on the way are numbered as they come.
//!
//! Trust: none. A record never says that something is proved. At worst a question stays open that could be answered.

use crate::Query;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use term::{Arena, Op, TermId};

/// What became of a hard question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hard {
    /// Nobody answered it with so many propagations, or what they are worth to a process.
    Open(u64),
    /// It was proved by clauses, with so many conflicts.
    Clauses(u64),
    /// A process proved it that was allowed so many resources.
    Process(u64),
}

/// Hard questions by their key.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Record(pub BTreeMap<u64, Hard>);

impl Record {
    /// Notes what became of a question. What was proved once was worth it, even if less was not enough before.
    pub(crate) fn note(&mut self, key: u64, hard: Hard) {
        match (self.0.get(&key), hard) {
            (Some(Hard::Clauses(_) | Hard::Process(_)), Hard::Open(_)) => {}
            (Some(Hard::Open(known)), Hard::Open(new)) if *known >= new => {}
            _ => drop(self.0.insert(key, hard)),
        }
    }
}

/// A hash of a question, whatever the arena holds besides.
pub(crate) fn key_of(arena: &Arena, query: &Query) -> u64 {
    let mut roots = query.hypotheses.clone();
    roots.push(query.goal);
    let order = arena.topological(&roots);
    let anonymous = hashes(arena, &order, &FxHashMap::default());
    roots[..query.hypotheses.len()].sort_by_key(|root| anonymous[root]);
    let numbers = numbers(arena, &roots, &anonymous);
    let named = hashes(arena, &order, &numbers);
    let mut hypotheses: Vec<u64> = query.hypotheses.iter().map(|term| named[term]).collect();
    hypotheses.sort_unstable();
    hypotheses.push(named[&query.goal]);
    hypotheses.into_iter().fold(START, mixed)
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

fn mixed(hash: u64, word: u64) -> u64 {
    let x = (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ x >> 29
}

fn text(hash: u64, text: &str) -> u64 {
    text.bytes().fold(mixed(hash, text.len() as u64), |hash, byte| mixed(hash, u64::from(byte)))
}

fn may_swap(op: Op) -> bool {
    matches!(op, Op::And | Op::Or | Op::Eq | Op::Add | Op::Mul | Op::BvAnd | Op::BvOr | Op::BvXor)
}

/// A variable that was made up on the way is called by its hint and how many variables there were.
fn hint(name: &str) -> (&str, bool) {
    name.split_once('#').map_or((name, false), |(hint, _)| (hint, true))
}

/// A hash of every term; of variables made up on the way with their numbers, where they have one.
fn hashes(arena: &Arena, order: &[TermId], numbers: &FxHashMap<TermId, u64>) -> FxHashMap<TermId, u64> {
    let mut out: FxHashMap<TermId, u64> = FxHashMap::default();
    for term in order {
        let op = arena.op(*term);
        let mut hash = match op {
            Op::Var(var) => {
                let (hint, made_up) = hint(arena.var_name(var));
                mixed(text(START, hint), if made_up { numbers.get(term).map_or(1, |n| n + 2) } else { 0 })
            }
            Op::Const(_) => arena.as_const(*term).map_or(START, |bits| text(START, &bits.to_string())),
            Op::Apply(func) => text(START, &format!("{:?}", arena.func(func))),
            op => text(START, &format!("{op:?}")),
        };
        hash = mixed(hash, u64::from(arena.sort(*term).width().unwrap_or(0)));
        let mut args: Vec<u64> = arena.args(*term).iter().map(|arg| out[arg]).collect();
        if may_swap(op) {
            args.sort_unstable();
        }
        out.insert(*term, args.into_iter().fold(hash, mixed));
    }
    out
}

/// The order in which variables that were made up on the way are met.
fn numbers(arena: &Arena, roots: &[TermId], anonymous: &FxHashMap<TermId, u64>) -> FxHashMap<TermId, u64> {
    let mut out = FxHashMap::default();
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    let mut open: Vec<TermId> = roots.iter().rev().copied().collect();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        if let Op::Var(var) = arena.op(term)
            && hint(arena.var_name(var)).1
        {
            let number = out.len() as u64;
            out.insert(term, number);
        }
        let mut args = arena.args(term).to_vec();
        if may_swap(arena.op(term)) {
            args.sort_by_key(|arg| anonymous[arg]);
        }
        open.extend(args.into_iter().rev());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;

    /// The key of `a + b = c` under `c < d`, where the variables are made in this order, after `before` others.
    fn key(before: usize, order: [usize; 4], names: [&str; 4]) -> u64 {
        let mut arena = Arena::new();
        for _ in 0..before {
            arena.fresh("other", Sort::Bv(8));
        }
        let mut vars = [None; 4];
        for i in order {
            vars[i] = Some(arena.fresh(names[i], Sort::Bv(32)));
        }
        let [a, b, c, d] = vars.map(|var| var.expect("made"));
        let sum = arena.add(a, b);
        let (goal, under) = (arena.eq(sum, c), arena.ult(c, d));
        key_of(&arena, &Query::new([under], goal))
    }

    #[test]
    fn keys_do_not_depend_on_what_was_asked_before() {
        let names = ["x", "y", "z", "w"];
        let wanted = key(0, [0, 1, 2, 3], names);
        assert_eq!(key(7, [0, 1, 2, 3], names), wanted);
        assert_eq!(key(0, [3, 2, 1, 0], names), wanted);
        assert_eq!(key(3, [1, 0, 3, 2], names), wanted);
        assert_ne!(key(0, [0, 1, 2, 3], ["x", "y", "z", "v"]), wanted);
    }

    #[test]
    fn variables_that_were_made_up_are_told_apart() {
        let mut arena = Arena::new();
        let [a, b, c] = [(); 3].map(|()| arena.fresh("x", Sort::Bv(32)));
        let (one, other) = (arena.ult(a, b), arena.ult(b, a));
        let third = arena.ult(b, c);
        let asked = |h, g| key_of(&arena, &Query::new([h], g));
        assert_ne!(asked(one, other), asked(one, third));
        assert_eq!(asked(one, third), asked(one, third));
    }

    #[test]
    fn what_was_proved_stays_proved() {
        let mut record = Record::default();
        record.note(1, Hard::Open(5));
        record.note(1, Hard::Open(3));
        assert_eq!(record.0[&1], Hard::Open(5));
        record.note(1, Hard::Process(9));
        record.note(1, Hard::Open(50));
        assert_eq!(record.0[&1], Hard::Process(9));
    }
}
