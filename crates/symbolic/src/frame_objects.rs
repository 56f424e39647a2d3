//! Which local object a frame address with a variable part belongs to.
//!
//! The constant part does not say it: compilers fold constants of the index into it, count up to an object's end, or begin
//! one element early. The constant part of `b[i - 1]` may lie in `a`, at every level of optimisation. But
//! wherever it lies, the original accesses some local (`in-bounds`), and debug information lists these
//! (`described-locals`). That is believed only if the code uses no other bytes of the frame: compilers describe no compound
//! literals and no temporaries. Locals that the address cannot point into are left out: by the range of the variable part, by its
//! factors, by their size. If one claimed object holds all others, the access is in that object; the claimed object
//! may consist of several locals and what lies between them, and is one piece of memory then. An address
//! that cannot leave a local is in that local, whatever else there is.
//!
//! A constant address that leaves the function at the end of one local and the start of another may mean either. Optimised code does not
//! tell; compilers that do not optimise take the address of a local and add to it, so there the steps tell which ends are meant,
//! and those of arrays, at which a loop may arrive.
//!
//! For the candidate nothing of this is assumed: its address is a distance from any object that it has, and the access must
//! be one that the original makes.

use crate::context::unsupported;
use crate::{Context, Interval, Known, Stuck};
use program::{Assumption, Local, Side};
use term::{Bits, Linear, TermId};

/// Sums beyond this may have wrapped.
const FAR: i128 = 1 << 62;

/// Where gcc saves argument registers: 176 bytes below the saved frame pointer.
const REGISTER_SAVE_AREA: i64 = -184;

/// What is known about the object behind a frame address with a variable part.
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
            Side::Original if rest.is_empty() && bytes.is_none() && self.is_end_of_local(offset) => {
                return Err(unsupported(
                    side,
                    place,
                    "an address that is the end of one local and the start of another",
                ));
            }
            _ if rest.is_empty() => {}
            Side::Candidate if bytes.is_some() => return Ok((self.candidate_object(offset, rest), None)),
            Side::Original => {
                return match self.frame_object(known, offset, rest, bytes) {
                    FrameObject::Claimed(local) => {
                        self.assume(Assumption::DescribedLocals);
                        Ok((Some(local), None))
                    }
                    FrameObject::Within(interval) => Ok((None, Some(interval))),
                    FrameObject::Nothing => {
                        Err(unsupported(side, place, "variable frame access, of no local that is known"))
                    }
                };
            }
            Side::Candidate => {}
        }
        Ok((self.local_at(side, offset), None))
    }

    /// May this be the end of a local of the original, and is it the start of another?
    fn is_end_of_local(&self, offset: i64) -> bool {
        let [original, _] = self.functions;
        let described = || original.locals.iter().any(|local| local.offset == offset);
        let claimed = || self.bindings.iter().filter_map(|b| b.original).any(|i| i.offset == offset);
        // Where unoptimised code of a function with variable arguments saves registers: `va_start` names it, nothing steps there.
        let saved = original.is_unoptimised() && original.signature.as_ref().is_some_and(|s| s.variadic);
        let claimed = || claimed() && !(saved && offset == REGISTER_SAVE_AREA && !described());
        let left = self.left_locals.contains(&offset);
        (left || original.local_ends.contains(&offset)) && (described() || claimed())
    }

    /// Notes that the original makes one constant address in its frame of another.
    pub(crate) fn note_step(&mut self, from: i64, to: i64) {
        let [original, _] = self.functions;
        let holds =
            |local: &Local, at: i64| at.checked_sub(local.offset).is_some_and(|d| (0..local.size as i64).contains(&d));
        if original.locals.iter().any(|local| holds(local, from) && !holds(local, to)) {
            self.left_locals.insert(to);
        }
    }

    /// The object that the original's `rsp₀ + offset + rest` points into.
    fn frame_object(&mut self, known: &Known, offset: i64, rest: &[(TermId, Bits)], bytes: Option<u16>) -> FrameObject {
        let (low, high) = self.range_of_rest(known, rest).unwrap_or((-FAR, FAR));
        let factors = rest.iter().fold(0, |all, (_, factor)| all | factor.low());
        // Offsets are known modulo the power of two that all factors share.
        let step = if factors == 0 { 1 } else { 1i128 << factors.trailing_zeros().min(32) };
        let [original, _] = self.functions;
        let width = i128::from(bytes.unwrap_or(0));
        let around = (i128::from(offset) + low, i128::from(offset) + high + width);
        let end_of = |offset: i64, size: u64| i128::from(offset) + i128::from(size);
        let confined =
            original.locals.iter().find(|l| i128::from(l.offset) <= around.0 && around.1 <= end_of(l.offset, l.size));
        // What is claimed and not described is an object, too.
        let claimed = self.bindings.iter().filter_map(|b| b.original).map(|i| (i.offset, i.size));
        let described = original.locals.iter().map(|l| (l.offset, l.size));
        let objects: Vec<(i64, u64)> = match confined {
            Some(local) => vec![(local.offset, local.size)],
            None if original.undescribed_frame => return FrameObject::Nothing,
            None => described.chain(claimed).collect(),
        };
        let mut span: Option<(i64, i64)> = None;
        for (local_offset, local_size) in objects {
            let (first, size) = (i128::from(local_offset), i128::from(local_size));
            // None for what is smaller than the access.
            let last = first + size - width;
            if last < first {
                continue;
            }
            let from = first.max(i128::from(offset) + low);
            let to = last.min(i128::from(offset) + high);
            // The first offset from there on that the factors allow.
            let reached = from + (i128::from(offset) - from).rem_euclid(step);
            if reached > to {
                continue;
            }
            let end = local_offset.saturating_add_unsigned(local_size);
            span = Some(span.map_or((local_offset, end), |(a, b)| (a.min(local_offset), b.max(end))));
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
            if self.accesses.original.contains(&address) {
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
    pub(crate) fn range_of_rest(&self, known: &Known, rest: &[(TermId, Bits)]) -> Option<(i128, i128)> {
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

impl crate::State {
    /// The constant distance of `rsp` from its value at entry.
    pub fn stack_depth(&self, context: &Context) -> Option<i64> {
        context
            .frame_offset(self.get(program::Register::RSP))
            .and_then(|(offset, rest)| rest.is_empty().then_some(offset))
    }
}
