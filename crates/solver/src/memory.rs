//! Removal of memory terms: every load becomes a term over loads from memory variables.
//!
//! Solvers do badly on chains of array stores, so they never see one. A load walks down the chain: over a store it
//! becomes a choice between the value and the load below ([`crate::store`]), over an `ite` of memories an `ite` of
//! loads. `fill` and `copy` have symbolic lengths and choose per byte between two whole values. Most choices vanish:
//! differences of addresses fold to constants, or the [`Facts`] of the question decide them.
//!
//! The expansion has a budget. A load beyond it stays as it is, and [`crate::smt`] shows it to the solver as an
//! uninterpreted function of memory and address: a proof found that way is still a proof, a model is not trusted
//! anyway. What would go wrong if this module were wrong: false proofs. The tests compare it with the evaluator.

use crate::facts::Facts;
use crate::store::{Meeting, covers};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use term::{Arena, Op, TermId};

/// One load to expand: memory, address, number of bytes.
type Key = (TermId, TermId, u16);

/// Rewrites terms so that loads read from base memories only.
pub(crate) struct Flattener<'a> {
    pub(crate) arena: &'a mut Arena,
    pub(crate) facts: Facts<'a>,
    done: FxHashMap<TermId, TermId>,
    pub(crate) loads: FxHashMap<Key, TermId>,
    pub(crate) distances: Vec<TermId>,
    budget: usize,
}

/// Is the memory one that loads are not resolved through?
pub(crate) fn is_base(arena: &Arena, memory: TermId) -> bool {
    matches!(arena.op(memory), Op::Var(_) | Op::Apply(_))
}

impl<'a> Flattener<'a> {
    /// A flattener that expands at most `budget` pairs of a load and a memory operation.
    pub(crate) fn new(arena: &'a mut Arena, facts: Facts<'a>, budget: usize) -> Flattener<'a> {
        let (done, loads) = (FxHashMap::default(), FxHashMap::default());
        Flattener { arena, facts, done, loads, distances: Vec::new(), budget }
    }

    /// The conjunction of some terms as a list of flat conjuncts. Each may be expanded with the help of those before:
    /// the list as a whole is equivalent, its members alone are not.
    pub(crate) fn conjunction(&mut self, terms: &[TermId]) -> Vec<TermId> {
        let conjuncts = conjuncts(self.arena, terms);
        if !has_operations(self.arena, &conjuncts) {
            return conjuncts;
        }
        let (simple, others): (Vec<TermId>, Vec<TermId>) =
            conjuncts.into_iter().partition(|term| !has_operations(self.arena, &[*term]));
        for term in &simple {
            self.facts.add(self.arena, *term);
        }
        let mut flat = simple;
        for term in others {
            // What the next ones are expanded with must have been expanded without them.
            let term = self.flatten(term);
            for conjunct in self::conjuncts(self.arena, &[term]) {
                self.facts.add(self.arena, conjunct);
                flat.push(conjunct);
            }
        }
        flat
    }

    /// The differences of addresses that neither the terms nor the facts decided, in order of their appearance.
    pub(crate) fn into_distances(self) -> Vec<TermId> {
        self.distances
    }

    /// The term with its loads expanded.
    pub(crate) fn flatten(&mut self, root: TermId) -> TermId {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.done.contains_key(&term) {
                stack.pop();
                continue;
            }
            let missing = stack.len();
            for arg in self.arena.args(term) {
                if !self.done.contains_key(arg) {
                    stack.push(*arg);
                }
            }
            if stack.len() > missing {
                continue;
            }
            stack.pop();
            let flat = self.rebuild(term);
            self.done.insert(term, flat);
        }
        self.done[&root]
    }

    fn rebuild(&mut self, term: TermId) -> TermId {
        let node = self.arena.node(term);
        let op = node.op;
        let args: SmallVec<[TermId; 4]> = node.args.iter().map(|a| self.done[a]).collect();
        match op {
            Op::Load(bytes) => self.load((args[0], args[1], bytes)),
            _ if args.as_slice() == self.arena.args(term) => term,
            _ => self.arena.make(op, &args),
        }
    }

    /// Expands a load whose operands are flat, by an explicit stack: chains of stores are long.
    fn load(&mut self, root: Key) -> TermId {
        let mut stack = vec![root];
        while let Some(&key) = stack.last() {
            if self.loads.contains_key(&key) {
                stack.pop();
                continue;
            }
            let needs = self.needs(key);
            let missing = stack.len();
            stack.extend(needs.iter().filter(|n| !self.loads.contains_key(n)));
            if stack.len() > missing {
                continue;
            }
            stack.pop();
            let flat = self.expand(key);
            self.loads.insert(key, flat);
        }
        self.loads[&root]
    }

    fn needs(&mut self, key: Key) -> SmallVec<[Key; 2]> {
        let (memory, address, bytes) = key;
        let args: SmallVec<[TermId; 5]> = self.arena.args(memory).into();
        match self.arena.op(memory) {
            _ if self.budget == 0 => SmallVec::new(),
            Op::Store(size) => match self.meeting(address, args[1], bytes, size) {
                Meeting::At(distance) if covers(distance, bytes, size) => SmallVec::new(),
                _ => SmallVec::from_slice(&[(args[0], address, bytes)]),
            },
            Op::Fill => SmallVec::from_slice(&[(args[0], address, bytes)]),
            Op::Copy => {
                let source = self.source(address, &args);
                SmallVec::from_slice(&[(args[0], address, bytes), (args[2], source, bytes)])
            }
            Op::Ite => SmallVec::from_slice(&[(args[1], address, bytes), (args[2], address, bytes)]),
            _ => SmallVec::new(),
        }
    }

    /// Where `copy` reads what it writes at `address`.
    fn source(&mut self, address: TermId, copy: &[TermId]) -> TermId {
        let offset = self.arena.sub(address, copy[1]);
        self.arena.add(copy[3], offset)
    }

    fn expand(&mut self, key: Key) -> TermId {
        let (memory, address, bytes) = key;
        let args: SmallVec<[TermId; 5]> = self.arena.args(memory).into();
        if is_base(self.arena, memory) || self.budget == 0 {
            return self.arena.raw(Op::Load(bytes), &[memory, address]);
        }
        self.budget -= 1;
        match self.arena.op(memory) {
            Op::Store(size) => self.over_store(address, bytes, size, &args),
            Op::Fill => {
                let below = self.loads[&(args[0], address, bytes)];
                let filled = self.arena.concat_all(&vec![args[2]; usize::from(bytes)]);
                self.choose_bytes(address, args[1], args[3], filled, below)
            }
            Op::Copy => {
                let source = self.source(address, &args);
                let (below, copied) = (self.loads[&(args[0], address, bytes)], self.loads[&(args[2], source, bytes)]);
                self.choose_bytes(address, args[1], args[4], copied, below)
            }
            Op::Ite => {
                match self.facts.decide(self.arena, args[0]) {
                    Some(true) => return self.loads[&(args[1], address, bytes)],
                    Some(false) => return self.loads[&(args[2], address, bytes)],
                    None => {}
                }
                let (then, other) = (self.loads[&(args[1], address, bytes)], self.loads[&(args[2], address, bytes)]);
                self.arena.ite(args[0], then, other)
            }
            _ => self.arena.raw(Op::Load(bytes), &[memory, address]),
        }
    }

    /// Byte `i` of the result is that of `inside` if `address + i` lies in `[start, start + length)`, else of `outside`.
    fn choose_bytes(
        &mut self,
        address: TermId,
        start: TermId,
        length: TermId,
        inside: TermId,
        outside: TermId,
    ) -> TermId {
        let offset = self.arena.sub(address, start);
        let bytes = self.arena.width(inside) / 8;
        let hits: SmallVec<[TermId; 8]> = (0..bytes)
            .map(|i| {
                let at = self.arena.add_const(offset, i64::from(i));
                self.arena.ult(at, length)
            })
            .collect();
        let any = self.arena.bool_or_all(&hits);
        if self.facts.excludes(self.arena, any) {
            return outside;
        }
        let all = self.arena.bool_and_all(&hits);
        let not_all = self.arena.bool_not(all);
        if self.facts.excludes(self.arena, not_all) {
            return inside;
        }
        self.distances.push(offset);
        let mut parts: SmallVec<[TermId; 8]> = SmallVec::new();
        for i in (0..bytes).rev() {
            let (yes, no) = (self.byte(inside, i), self.byte(outside, i));
            parts.push(self.arena.ite(hits[usize::from(i)], yes, no));
        }
        self.arena.concat_all(&parts)
    }

    fn byte(&mut self, value: TermId, i: u16) -> TermId {
        self.arena.extract(value, 8 * i + 7, 8 * i)
    }
}

/// The terms whose conjunction the conjunction of `terms` is.
fn conjuncts(arena: &Arena, terms: &[TermId]) -> Vec<TermId> {
    let mut todo: Vec<TermId> = terms.iter().rev().copied().collect();
    let mut out = Vec::new();
    while let Some(term) = todo.pop() {
        match arena.op(term) {
            Op::And => todo.extend(arena.args(term).iter().rev()),
            _ => out.push(term),
        }
    }
    out
}

/// Is there a load that reads through a memory operation?
fn has_operations(arena: &Arena, terms: &[TermId]) -> bool {
    arena.topological(terms).iter().any(|t| matches!(arena.op(*t), Op::Load(_)) && !is_base(arena, arena.arg(*t, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::eval::{Evaluator, Model, eval};
    use term::{Bits, Sort};

    /// A source of choices for the random memories.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % sides
        }
    }

    /// A memory of a few operations on top of `m` and `n`, none of them rewritten.
    fn random_memory(arena: &mut Arena, dice: &mut Dice) -> TermId {
        let mut memories = vec![arena.var("m", Sort::Memory), arena.var("n", Sort::Memory)];
        let below = |memories: &[TermId], dice: &mut Dice| match dice.roll(3) {
            0 => memories[dice.roll(memories.len() as u64) as usize],
            _ => memories[memories.len() - 1],
        };
        for i in 0..2 + dice.roll(4) {
            let memory = below(&memories, dice);
            let address = random_address(arena, dice);
            let length = arena.var(&format!("length{}", dice.roll(2)), Sort::Bv(64));
            let next = match dice.roll(8) {
                0 => {
                    let byte = arena.var("byte", Sort::Bv(8));
                    arena.raw(Op::Fill, &[memory, address, byte, length])
                }
                1 => {
                    let (from, source) = (below(&memories, dice), random_address(arena, dice));
                    arena.raw(Op::Copy, &[memory, address, from, source, length])
                }
                2 => {
                    let other = below(&memories, dice);
                    let condition = arena.var("c", Sort::Bool);
                    arena.raw(Op::Ite, &[condition, memory, other])
                }
                _ => {
                    let size = [1, 2, 3, 4, 8, 8, 16, 32][dice.roll(8) as usize];
                    let value = arena.var(&format!("value{i}_{size}"), Sort::Bv(8 * size));
                    arena.raw(Op::Store(size), &[memory, address, value])
                }
            };
            memories.push(next);
        }
        memories[memories.len() - 1]
    }

    fn random_address(arena: &mut Arena, dice: &mut Dice) -> TermId {
        let base = arena.var(&format!("p{}", dice.roll(3)), Sort::Bv(64));
        if dice.roll(2) == 0 {
            return base;
        }
        let offset = arena.bv_i64(64, dice.roll(12) as i64 - 6);
        arena.raw(Op::Add, &[base, offset])
    }

    /// A state whose addresses are near each other, and sometimes around the ends of the address space.
    fn random_state(arena: &Arena, dice: &mut Dice, seed: u64) -> Model {
        let mut model = Model::seeded(seed);
        let origin = if dice.roll(2) == 0 { 0x1000 } else { 0 };
        for name in ["p0", "p1", "p2"] {
            let at = Bits::from_i64(64, origin + dice.roll(24) as i64 - 12);
            if let Some(var) = arena.find_var(name) {
                model.set_bits(var, at);
            }
        }
        for name in ["length0", "length1"] {
            if let Some(var) = arena.find_var(name) {
                model.set_bits(var, Bits::new(64, dice.roll(12)));
            }
        }
        model
    }

    /// Facts may be used to expand the other conjuncts, but the conjunction stays the same.
    #[test]
    fn flat_conjunctions_evaluate_as_before() {
        let mut dice = Dice(2);
        let mut held = 0;
        for seed in 0..600 {
            let mut arena = Arena::new();
            let memory = random_memory(&mut arena, &mut dice);
            let mut terms = Vec::new();
            for _ in 0..1 + dice.roll(3) {
                let (a, b) = (random_address(&mut arena, &mut dice), random_address(&mut arena, &mut dice));
                let difference = arena.sub(a, b);
                let sum = arena.add_const(difference, dice.roll(16) as i64);
                let bound = arena.bv(64, 1 + dice.roll(24));
                let near = arena.ult(sum, bound);
                terms.push(if dice.roll(3) == 0 { near } else { arena.bool_not(near) });
            }
            let condition = arena.var("c", Sort::Bool);
            terms.push(if dice.roll(2) == 0 { condition } else { arena.bool_not(condition) });
            let length = arena.var("length0", Sort::Bv(64));
            let bound = arena.bv(64, dice.roll(9));
            terms.push(arena.ult(length, bound));
            let address = random_address(&mut arena, &mut dice);
            let load = arena.raw(Op::Load(4), &[memory, address]);
            let low = arena.raw(Op::Extract { hi: 0, lo: 0 }, &[load]);
            terms.push(arena.bit(low, 0));
            let before = arena.raw(Op::And, &terms);
            let flat = Flattener::new(&mut arena, Facts::default(), 10_000).conjunction(&terms);
            for round in 0..60 {
                let model = random_state(&arena, &mut dice, seed * 100 + round);
                let mut evaluator = Evaluator::new(&arena, &model);
                let holds = evaluator.bool(before);
                held += u32::from(holds);
                assert_eq!(holds, flat.iter().all(|term| evaluator.bool(*term)), "{}", arena.text(before));
            }
        }
        assert!(held > 500, "{held}");
    }

    #[test]
    fn flat_loads_evaluate_as_before() {
        let mut dice = Dice(1);
        for seed in 0..600 {
            let mut arena = Arena::new();
            let memory = random_memory(&mut arena, &mut dice);
            let address = random_address(&mut arena, &mut dice);
            let bytes = [1, 2, 3, 4, 8, 16][dice.roll(6) as usize];
            let load = arena.raw(Op::Load(bytes), &[memory, address]);
            let flat = Flattener::new(&mut arena, Facts::default(), 10_000).flatten(load);
            assert!(arena.topological(&[flat]).iter().all(|t| match arena.op(*t) {
                Op::Load(_) => is_base(&arena, arena.arg(*t, 0)),
                Op::Store(_) | Op::Fill | Op::Copy => false,
                _ => true,
            }));
            for round in 0..20 {
                let model = random_state(&arena, &mut dice, seed * 100 + round);
                let mut evaluator = Evaluator::new(&arena, &model);
                assert_eq!(evaluator.eval(load), evaluator.eval(flat), "{}", arena.text(load));
            }
        }
    }

    #[test]
    fn what_exceeds_the_budget_stays_a_load() {
        let mut arena = Arena::new();
        let mut dice = Dice(7);
        for budget in 0..6 {
            let memory = random_memory(&mut arena, &mut dice);
            let address = arena.var("p1", Sort::Bv(64));
            let load = arena.raw(Op::Load(4), &[memory, address]);
            let flat = Flattener::new(&mut arena, Facts::default(), budget).flatten(load);
            for seed in 0..10 {
                let model = Model::seeded(seed);
                assert_eq!(eval(&arena, load, &model), eval(&arena, flat, &model));
            }
        }
    }

    #[test]
    fn long_chains_need_no_stack() {
        let mut arena = Arena::new();
        let mut memory = arena.var("m", Sort::Memory);
        let value = arena.var("v", Sort::Bv(8));
        for i in 0..20_000 {
            let address = arena.var(&format!("p{i}"), Sort::Bv(64));
            memory = arena.raw(Op::Store(1), &[memory, address, value]);
        }
        let address = arena.var("q", Sort::Bv(64));
        let load = arena.raw(Op::Load(1), &[memory, address]);
        let flat = Flattener::new(&mut arena, Facts::default(), 30_000).flatten(load);
        assert!(arena.topological(&[flat]).len() > 20_000);
    }
}
