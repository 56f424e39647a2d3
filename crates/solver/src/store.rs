//! A load over one store.
//!
//! A load of `n` bytes at `a` over a store of `k` bytes at `b` is one choice over the whole access, not one per byte.
//! With `d = a - b` modulo 2^64 the store matters for `-n < d < k` only; for each such distance it is known which bytes
//! come from the value and which from the load below:
//!
//! ```text
//!   not -n < d < k       the load below the store
//!   d = 0                the value, if n = k
//!   d = j                parts of the value and of the load below, concatenated
//! ```
//!
//! Distances that the coefficients of `d` rule out (four times an index is no odd number) do not occur. Where many
//! remain, one choice with shifts and masks replaces one for each.
//!
//! What would go wrong if this module were wrong: false proofs. The tests compare it with the evaluator.

use crate::memory::Flattener;
use smallvec::SmallVec;
use term::{Arena, Bits, Linear, TermId};

/// With more possible distances than this, a store is expanded with shifts instead of a choice for each distance.
const MAX_DISTANCES: usize = 4;

/// How a load and a store meet, as far as terms and facts tell.
pub(crate) enum Meeting {
    /// They have no byte in common.
    Apart,
    /// The load begins that many bytes above the store.
    At(u64),
    /// The load begins that many bytes above the store, or they have no byte in common.
    AtOrApart(u64),
    /// Several distances are possible; the most likely comes first.
    Several(SmallVec<[u64; 16]>),
}

impl Flattener<'_> {
    /// How a load of `bytes` bytes at `address` and a store of `size` bytes at `start` meet.
    pub(crate) fn meeting(&mut self, address: TermId, start: TermId, bytes: u16, size: u16) -> Meeting {
        let ahead = self.arena.sub(address, start);
        if let Some(distance) = self.arena.as_u64(ahead) {
            return Meeting::At(distance);
        }
        let distances = possible_distances(self.arena, ahead, bytes, size);
        let Some(first) = distances.first().copied() else { return Meeting::Apart };
        let overlap = self.overlap(ahead, bytes, size);
        if self.facts.excludes(self.arena, overlap) {
            return Meeting::Apart;
        }
        let is_first = self.is_distance(ahead, first);
        let is_other = self.arena.bool_not(is_first);
        let elsewhere = self.arena.bool_and(overlap, is_other);
        if distances.len() > 1 && !self.facts.excludes(self.arena, elsewhere) {
            return Meeting::Several(distances);
        }
        if self.facts.excludes(self.arena, is_other) { Meeting::At(first) } else { Meeting::AtOrApart(first) }
    }

    /// The load over a store, the load below being expanded unless the store covers it.
    pub(crate) fn over_store(&mut self, address: TermId, bytes: u16, size: u16, store: &[TermId]) -> TermId {
        let (start, value) = (store[1], store[2]);
        let meeting = self.meeting(address, start, bytes, size);
        if let Meeting::At(distance) = meeting
            && covers(distance, bytes, size)
        {
            return self.joined_at(distance, bytes, size, value, value);
        }
        let below = self.loads[&(store[0], address, bytes)];
        let ahead = self.arena.sub(address, start);
        if matches!(meeting, Meeting::AtOrApart(_) | Meeting::Several(_)) {
            self.distances.push(ahead);
        }
        match meeting {
            Meeting::Apart => below,
            Meeting::At(distance) => self.joined_at(distance, bytes, size, value, below),
            Meeting::AtOrApart(distance) => {
                let is = self.is_distance(ahead, distance);
                let found = self.joined_at(distance, bytes, size, value, below);
                self.arena.ite(is, found, below)
            }
            Meeting::Several(distances) if distances.len() > MAX_DISTANCES => {
                self.shifted_into_place(ahead, bytes, size, value, below)
            }
            Meeting::Several(distances) => {
                // The last distance needs no test: if they overlap, one of them it is.
                let Some((last, others)) = distances.split_last() else { return below };
                let mut found = self.joined_at(*last, bytes, size, value, below);
                for distance in others.iter().rev() {
                    let is = self.is_distance(ahead, *distance);
                    let at = self.joined_at(*distance, bytes, size, value, below);
                    found = self.arena.ite(is, at, found);
                }
                let overlap = self.overlap(ahead, bytes, size);
                self.arena.ite(overlap, found, below)
            }
        }
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
    fn shifted_into_place(&mut self, ahead: TermId, bytes: u16, size: u16, value: TermId, below: TermId) -> TermId {
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
pub(crate) fn covers(distance: u64, bytes: u16, size: u16) -> bool {
    bytes <= size && distance <= u64::from(size - bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use term::{Op, Sort};

    /// How many choices a load of `bytes` bytes over a store of `size` bytes leaves.
    fn choices(size: u16, bytes: u16, address: impl Fn(&mut Arena, TermId) -> TermId) -> usize {
        let mut arena = Arena::new();
        let (memory, start) = (arena.var("m", Sort::Memory), arena.var("p", Sort::Bv(64)));
        let value = arena.var("v", Sort::Bv(8 * size));
        let address = address(&mut arena, start);
        let stored = arena.raw(Op::Store(size), &[memory, start, value]);
        let load = arena.raw(Op::Load(bytes), &[stored, address]);
        let flat = Flattener::new(&mut arena, Facts::default(), 10).flatten(load);
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
