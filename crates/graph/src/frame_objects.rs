//! Which local object a frame address with a variable part belongs to.
//!
//! In unoptimised code the constant part of the address lies in the object. An optimiser folds constants of the index into
//! it, counts up to the object's end, or begins one element early: the constant part of `b[i - 1]` may lie in `a`. But
//! wherever it lies, the original accesses some local (`in-bounds`), and debug information lists these
//! (`described-locals`). Those that the address cannot point into are left out: by the range of the variable part, by its
//! factors, by their size. If one claimed object holds all others, the access is in that object; the claimed object
//! may consist of several locals and what lies between them, and is one piece of memory then.
//!
//! For the candidate nothing of this is assumed: its address is a distance from any object that it has, and the access must
//! be one that the original makes.

use crate::context::unsupported;
use crate::{Assumption, Context, Interval, Known, Side, Stuck};
use term::{Bits, Linear, TermId};

/// Sums beyond this may have wrapped.
const FAR: i128 = 1 << 62;

/// What is known about the object behind a frame address of optimised code.
enum FrameObject {
    /// It is this claimed local object, or a part of it.
    Claimed(usize),
    /// It is somewhere in this part of the frame, for which no single object is claimed.
    Within(Interval),
    /// Debug information has no local that it could be.
    Nothing,
}

impl Context<'_> {
    /// The claimed object that `rsp₀ + offset + rest` points into, if any; if there should be one, the part of the frame that
    /// it must hold. Without `bytes` the address may also be the object's end.
    pub(crate) fn claimed_object(
        &mut self,
        side: Side,
        place: u64,
        known: &Known,
        (offset, rest): (i64, &[(TermId, Bits)]),
        bytes: Option<u16>,
    ) -> Result<(Option<usize>, Option<Interval>), Stuck> {
        match side {
            _ if rest.is_empty() => {}
            Side::Candidate if bytes.is_some() => return Ok((self.candidate_object(offset, rest), None)),
            Side::Original if !self.functions[0].is_unoptimised() => {
                return match self.frame_object(known, offset, rest, bytes) {
                    FrameObject::Claimed(local) => {
                        self.assume(Assumption::DescribedLocals);
                        Ok((Some(local), None))
                    }
                    FrameObject::Within(interval) => Ok((None, Some(interval))),
                    FrameObject::Nothing => Err(unsupported(side, place, "variable frame access of optimised code")),
                };
            }
            _ => {}
        }
        Ok((self.local_at(side, offset), None))
    }

    /// The object that the optimised original's `rsp₀ + offset + rest` points into.
    fn frame_object(&mut self, known: &Known, offset: i64, rest: &[(TermId, Bits)], bytes: Option<u16>) -> FrameObject {
        let (low, high) = self.range_of_rest(known, rest).unwrap_or((-FAR, FAR));
        let factors = rest.iter().fold(0, |all, (_, factor)| all | factor.low());
        // Offsets are known modulo the power of two that all factors share.
        let step = if factors == 0 { 1 } else { 1i128 << factors.trailing_zeros().min(32) };
        let mut span: Option<(i64, i64)> = None;
        for local in &self.functions[0].locals {
            let (first, size) = (i128::from(local.offset), i128::from(local.size));
            let last = match bytes {
                // What is just as large as the access needs no index.
                Some(bytes) if size <= i128::from(bytes) => continue,
                Some(bytes) => first + size - i128::from(bytes),
                None => first + size,
            };
            let from = first.max(i128::from(offset) + low);
            let to = last.min(i128::from(offset) + high);
            // The first offset from there on that the factors allow.
            let reached = from + (i128::from(offset) - from).rem_euclid(step);
            if reached > to {
                continue;
            }
            let end = local.offset.saturating_add_unsigned(local.size);
            span = Some(span.map_or((local.offset, end), |(a, b)| (a.min(local.offset), b.max(end))));
        }
        let Some((start, end)) = span else { return FrameObject::Nothing };
        let holds = |i: Interval| i.offset <= start && i.offset.saturating_add_unsigned(i.size) >= end;
        match self.bindings.iter().position(|b| b.original.is_some_and(holds)) {
            Some(local) => FrameObject::Claimed(local),
            None => FrameObject::Within(Interval { offset: start, size: end.wrapping_sub(start) as u64 }),
        }
    }

    /// The candidate's object for a frame address with a variable part: one with which the address is one that the original
    /// accesses, else the one that the constant part lies in. (An address is a distance from each of them.)
    fn candidate_object(&mut self, offset: i64, rest: &[(TermId, Bits)]) -> Option<usize> {
        let claimed: Vec<usize> =
            (0..self.bindings.len()).filter(|local| self.bindings[*local].candidate.is_some()).collect();
        let near = self.local_at(Side::Candidate, offset);
        for local in near.into_iter().chain(claimed) {
            let address = self.local_pointer(Side::Candidate, local, offset, rest.to_vec());
            if self.original_addresses.contains(&address) {
                return Some(local);
            }
        }
        near
    }

    /// `rest − (rsp₀ + offset)` as a distance from the claimed object at that offset.
    pub(crate) fn distance_from_object(&mut self, side: Side, term: TermId) -> Option<TermId> {
        if self.arena.sort(term).width() != Some(64) {
            return None;
        }
        let base = self.entry_rsp(side);
        let mut linear = Linear::of(self.arena, term);
        let at = linear.terms.iter().position(|(t, factor)| *t == base && factor.is_ones())?;
        let offset = (linear.constant.low() as i64).wrapping_neg();
        let local = self.local_at(side, offset)?;
        let start = self.bindings[local].interval(side)?.offset;
        linear.terms[at].0 = self.local_address(local);
        linear.constant = Bits::from_i64(64, start.wrapping_sub(offset));
        let others = linear.terms.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, (t, _))| *t);
        if others.collect::<Vec<_>>().into_iter().any(|t| self.depends_on_frame(t)) {
            return None;
        }
        Some(linear.build(self.arena))
    }

    /// Smallest and largest value of a sum with sign, if it does not wrap.
    fn range_of_rest(&self, known: &Known, rest: &[(TermId, Bits)]) -> Option<(i128, i128)> {
        let (mut low, mut high) = (0i128, 0i128);
        for (term, factor) in rest {
            let (a, b) = known.range(self.arena, *term, true);
            let factor = i128::from(factor.to_i64()?);
            let ends = [a.checked_mul(factor)?, b.checked_mul(factor)?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        (low >= -FAR && high <= FAR).then_some((low, high))
    }
}
