//! Removal of memory terms: every load becomes a term over loads from memory variables.
//!
//! Solvers do badly on chains of array stores, so they never see one. A load of `n` bytes at `a` over a store of `k`
//! bytes at `b` is one choice over the whole access, not one per byte. With `d = a - b` modulo 2^64, the store matters
//! for `-n < d < k` only; for each such distance the bytes to take are known:
//!
//! ```text
//!   not overlap              the load below the store
//!   d = 0                    the value
//!   d = j, |j| small         parts of the value and of the load below, concatenated
//! ```
//!
//! Distances that the coefficients of `d` rule out (an index times four is no odd number) do not occur. Most choices
//! vanish: `d` folds to a constant, or the [`Facts`] of the question decide them. `fill` and `copy` have symbolic
//! lengths and choose per byte between two whole values.
//!
//! The expansion has a budget. A load beyond it stays as it is, and [`crate::smt`] shows it to the solver as an
//! uninterpreted function of memory and address: a proof found that way is still a proof, a model is not trusted
//! anyway. What would go wrong if this module were wrong: false proofs. The tests compare it with the evaluator.

use crate::facts::Facts;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use term::{Arena, Bits, Linear, Op, TermId};

/// One load to expand: memory, address, number of bytes.
type Key = (TermId, TermId, u16);

/// With more possible distances than this, a store is expanded with shifts instead of a choice for each distance.
const MAX_DISTANCES: usize = 4;

/// Rewrites terms so that loads read from base memories only.
pub(crate) struct Flattener<'a> {
    arena: &'a mut Arena,
    facts: Facts,
    done: FxHashMap<TermId, TermId>,
    loads: FxHashMap<Key, TermId>,
    distances: Vec<TermId>,
    budget: usize,
}

/// Is the memory one that loads are not resolved through?
pub(crate) fn is_base(arena: &Arena, memory: TermId) -> bool {
    matches!(arena.op(memory), Op::Var(_) | Op::Apply(_))
}

impl<'a> Flattener<'a> {
    /// A flattener that expands at most `budget` pairs of a load and a memory operation.
    pub(crate) fn new(arena: &'a mut Arena, budget: usize) -> Flattener<'a> {
        let (done, loads) = (FxHashMap::default(), FxHashMap::default());
        Flattener { arena, facts: Facts::default(), done, loads, distances: Vec::new(), budget }
    }

    /// The conjunction of some terms as a list of flat conjuncts. Each may be expanded with the help of those before:
    /// the list as a whole is equivalent, its members alone are not.
    pub(crate) fn conjunction(&mut self, terms: &[TermId]) -> Vec<TermId> {
        let (simple, others): (Vec<TermId>, Vec<TermId>) =
            conjuncts(self.arena, terms).into_iter().partition(|term| !has_operations(self.arena, *term));
        for term in &simple {
            self.facts.add(*term);
        }
        let mut flat = simple;
        for term in others {
            // What the next ones are expanded with must have been expanded without them.
            let term = self.flatten(term);
            for conjunct in conjuncts(self.arena, &[term]) {
                self.facts.add(conjunct);
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
            Op::Store(size) => match self.distance(address, args[1]) {
                Some(distance) if covers(distance, bytes, size) => SmallVec::new(),
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

    fn distance(&mut self, from: TermId, to: TermId) -> Option<u64> {
        let distance = self.arena.sub(from, to);
        self.arena.as_u64(distance)
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
    fn choose_bytes(&mut self, address: TermId, start: TermId, length: TermId, inside: TermId, outside: TermId) -> TermId {
        let offset = self.arena.sub(address, start);
        let mut parts: SmallVec<[TermId; 8]> = SmallVec::new();
        for i in (0..self.arena.width(inside) / 8).rev() {
            let at = self.arena.add_const(offset, i64::from(i));
            let hit = self.arena.ult(at, length);
            let hit = match self.facts.decide(self.arena, hit) {
                Some(known) => self.arena.bool(known),
                None => hit,
            };
            let (yes, no) = (self.byte(inside, i), self.byte(outside, i));
            parts.push(self.arena.ite(hit, yes, no));
        }
        self.arena.concat_all(&parts)
    }

    fn byte(&mut self, value: TermId, i: u16) -> TermId {
        self.arena.extract(value, 8 * i + 7, 8 * i)
    }

    fn over_store(&mut self, address: TermId, bytes: u16, size: u16, store: &[TermId]) -> TermId {
        let (start, value) = (store[1], store[2]);
        let ahead = self.arena.sub(address, start);
        let below = (store[0], address, bytes);
        if let Some(distance) = self.arena.as_u64(ahead) {
            if covers(distance, bytes, size) {
                return self.joined_at(distance, bytes, size, value, value);
            }
            let below = self.loads[&below];
            return self.joined_at(distance, bytes, size, value, below);
        }
        let below = self.loads[&below];
        let mut distances = possible_distances(self.arena, ahead, bytes, size);
        let overlap = self.overlap(ahead, bytes, size);
        if distances.is_empty() || self.facts.decide(self.arena, overlap) == Some(false) {
            return below;
        }
        if distances.len() > MAX_DISTANCES {
            self.distances.push(ahead);
            return self.over_far_store(ahead, bytes, size, value, below);
        }
        distances.retain(|distance| {
            let is = self.is_distance(ahead, *distance);
            self.facts.decide(self.arena, is) != Some(false)
        });
        if let [only] = distances[..] {
            let is = self.is_distance(ahead, only);
            let found = self.joined_at(only, bytes, size, value, below);
            if self.facts.decide(self.arena, is) == Some(true) {
                return found;
            }
            self.distances.push(ahead);
            return self.arena.ite(is, found, below);
        }
        self.distances.push(ahead);
        // The last distance needs no test: one of them it is.
        let Some((last, others)) = distances.split_last() else { return below };
        let mut found = self.joined_at(*last, bytes, size, value, below);
        for distance in others.iter().rev() {
            let is = self.is_distance(ahead, *distance);
            let at = self.joined_at(*distance, bytes, size, value, below);
            found = self.arena.ite(is, at, found);
        }
        self.arena.ite(overlap, found, below)
    }

    /// `-bytes < ahead < size`.
    fn overlap(&mut self, ahead: TermId, bytes: u16, size: u16) -> TermId {
        let reach = self.arena.add_const(ahead, i64::from(bytes) - 1);
        let span = self.arena.bv(64, u64::from(bytes) + u64::from(size) - 1);
        self.arena.ult(reach, span)
    }

    fn is_distance(&mut self, ahead: TermId, distance: u64) -> TermId {
        let distance = self.arena.bv(64, distance);
        self.arena.eq(ahead, distance)
    }

    /// The load at any distance, the overlapping parts shifted into place.
    fn over_far_store(&mut self, ahead: TermId, bytes: u16, size: u16, value: TermId, below: TermId) -> TermId {
        let behind = self.arena.neg(ahead);
        let overlap = self.overlap(ahead, bytes, size);
        let shifted = self.shifted_down(value, ahead, bytes);
        let mask = self.mask_down(ahead, bytes, size);
        let from_inside = self.join(below, shifted, mask);
        let (raised, mask) = (self.shifted_up(value, behind, bytes), self.mask_up(behind, bytes, size));
        let from_below = self.join(below, raised, mask);
        let size_term = self.arena.bv(64, u64::from(size));
        let inside = self.arena.ult(ahead, size_term);
        let found = self.arena.ite(inside, from_inside, from_below);
        self.arena.ite(overlap, found, below)
    }

    /// The load at a known distance.
    fn joined_at(&mut self, distance: u64, bytes: u16, size: u16, value: TermId, below: TermId) -> TermId {
        let behind = distance.wrapping_neg();
        if covers(distance, bytes, size) {
            let low = 8 * distance as u16;
            self.arena.extract(value, low + 8 * bytes - 1, low)
        } else if distance < u64::from(size) {
            let taken = size - distance as u16;
            let low = self.arena.extract(value, 8 * size - 1, 8 * distance as u16);
            let high = self.arena.extract(below, 8 * bytes - 1, 8 * taken);
            self.arena.concat(high, low)
        } else if behind < u64::from(bytes) {
            let skipped = behind as u16;
            let taken = size.min(bytes - skipped);
            let mut parts: SmallVec<[TermId; 3]> = SmallVec::new();
            if skipped + taken < bytes {
                parts.push(self.arena.extract(below, 8 * bytes - 1, 8 * (skipped + taken)));
            }
            parts.push(self.arena.extract(value, 8 * taken - 1, 0));
            parts.push(self.arena.extract(below, 8 * skipped - 1, 0));
            self.arena.concat_all(&parts)
        } else {
            below
        }
    }

    /// `below` with the bits of `mask` replaced by `value`, which is zero elsewhere.
    fn join(&mut self, below: TermId, value: TermId, mask: TermId) -> TermId {
        let keep = self.arena.not(mask);
        let kept = self.arena.and(below, keep);
        self.arena.or(kept, value)
    }

    /// The value without its lowest `distance` bytes (below its size), as `bytes` bytes.
    fn shifted_down(&mut self, value: TermId, distance: TermId, bytes: u16) -> TermId {
        let width = self.arena.width(value);
        let amount = self.bit_amount(distance, width / 8, width);
        let shifted = self.arena.lshr(value, amount);
        self.resize(shifted, 8 * bytes)
    }

    fn mask_down(&mut self, distance: TermId, bytes: u16, size: u16) -> TermId {
        let ones = self.arena.constant(Bits::ones(8 * size));
        self.shifted_down(ones, distance, bytes)
    }

    /// The value with `distance` (below `bytes`) zero bytes beneath it, as `bytes` bytes.
    fn shifted_up(&mut self, value: TermId, distance: TermId, bytes: u16) -> TermId {
        let wide = self.resize(value, 8 * bytes);
        let amount = self.bit_amount(distance, bytes, 8 * bytes);
        self.arena.shl(wide, amount)
    }

    fn mask_up(&mut self, distance: TermId, bytes: u16, size: u16) -> TermId {
        let ones = self.arena.constant(Bits::ones(8 * size));
        self.shifted_up(ones, distance, bytes)
    }

    fn resize(&mut self, value: TermId, width: u16) -> TermId {
        if self.arena.width(value) > width { self.arena.truncate(value, width) } else { self.arena.zext(value, width) }
    }

    /// Eight times a distance below `limit`. Only the bits that matter enter, so that the shifter stays small.
    fn bit_amount(&mut self, distance: TermId, limit: u16, width: u16) -> TermId {
        if limit <= 1 {
            return self.arena.constant(Bits::zero(width));
        }
        let bits = (u16::BITS - (limit - 1).leading_zeros()) as u16;
        let low = self.arena.truncate(distance, bits);
        let zeros = self.arena.bv(3, 0);
        let amount = self.arena.concat(low, zeros);
        self.arena.zext(amount, width)
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
fn has_operations(arena: &Arena, term: TermId) -> bool {
    arena.topological(&[term]).iter().any(|t| matches!(arena.op(*t), Op::Load(_)) && !is_base(arena, arena.arg(*t, 0)))
}

/// The distances at which a load of `bytes` bytes meets a store of `size` bytes and that `ahead` can take: it is its
/// constant modulo the largest power of two that divides all its coefficients. Zero comes first.
fn possible_distances(arena: &Arena, ahead: TermId, bytes: u16, size: u16) -> SmallVec<[u64; 16]> {
    let sum = Linear::of(arena, ahead);
    let step = sum.terms.iter().map(|(_, coefficient)| coefficient.trailing_zeros()).min().unwrap_or(64);
    let mask = if step >= 64 { u64::MAX } else { (1 << step) - 1 };
    let rest = sum.constant.low();
    let mut distances: SmallVec<[u64; 16]> = (1 - i64::from(bytes)..i64::from(size))
        .map(|distance| distance as u64)
        .filter(|distance| distance.wrapping_sub(rest) & mask == 0)
        .collect();
    distances.sort_by_key(|distance| (*distance as i64).unsigned_abs());
    distances
}

/// Does a store of `size` bytes determine all of a load of `bytes` bytes that begins `distance` above it?
fn covers(distance: u64, bytes: u16, size: u16) -> bool {
    bytes <= size && distance <= u64::from(size - bytes)
}


#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;
    use term::eval::{Evaluator, Model, eval};

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

    #[test]
    fn flat_loads_evaluate_as_before() {
        let mut dice = Dice(1);
        for seed in 0..600 {
            let mut arena = Arena::new();
            let memory = random_memory(&mut arena, &mut dice);
            let address = random_address(&mut arena, &mut dice);
            let bytes = [1, 2, 3, 4, 8, 16][dice.roll(6) as usize];
            let load = arena.raw(Op::Load(bytes), &[memory, address]);
            let flat = Flattener::new(&mut arena, 10_000).flatten(load);
            assert!(arena.topological(&[flat]).iter().all(|t| match arena.op(*t) {
                Op::Load(_) => is_base(&arena, arena.arg(*t, 0)),
                Op::Store(_) | Op::Fill | Op::Copy => false,
                _ => true,
            }));
            for round in 0..20 {
                let mut model = Model::seeded(seed * 100 + round);
                // Near each other and around the ends of the address space.
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
            let flat = Flattener::new(&mut arena, budget).flatten(load);
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
        let flat = Flattener::new(&mut arena, 30_000).flatten(load);
        assert!(arena.topological(&[flat]).len() > 20_000);
    }

    /// How many choices a load of `bytes` bytes over a store of `size` bytes leaves.
    fn choices(size: u16, bytes: u16, address: impl Fn(&mut Arena, TermId) -> TermId) -> usize {
        let mut arena = Arena::new();
        let (memory, start) = (arena.var("m", Sort::Memory), arena.var("p", Sort::Bv(64)));
        let value = arena.var("v", Sort::Bv(8 * size));
        let address = address(&mut arena, start);
        let stored = arena.raw(Op::Store(size), &[memory, start, value]);
        let load = arena.raw(Op::Load(bytes), &[stored, address]);
        let flat = Flattener::new(&mut arena, 10).flatten(load);
        arena.topological(&[flat]).iter().filter(|term| arena.op(**term) == Op::Ite).count()
    }

    #[test]
    fn a_known_distance_needs_no_choice() {
        for distance in -9..9 {
            assert_eq!(choices(8, 8, |arena, p| arena.add_const(p, distance)), 0);
            assert_eq!(choices(2, 4, |arena, p| arena.add_const(p, distance)), 0);
        }
    }

    #[test]
    fn coefficients_rule_out_distances() {
        let scaled = |scale: u64, offset: i64| {
            move |arena: &mut Arena, p: TermId| {
                let (i, scale) = (arena.var("i", Sort::Bv(64)), arena.bv(64, scale));
                let offset_i = arena.mul(i, scale);
                let sum = arena.add(p, offset_i);
                arena.add_const(sum, offset)
            }
        };
        assert_eq!(choices(4, 4, scaled(4, 0)), 1);
        assert_eq!(choices(4, 4, scaled(8, 4)), 0);
        assert_eq!(choices(4, 4, scaled(4, 2)), 2);
        assert_eq!(choices(1, 1, scaled(1, 0)), 1);
        assert_eq!(choices(8, 4, scaled(4, 0)), 2);
    }
}
