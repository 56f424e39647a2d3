//! What must hold at returns, and of the candidate's accesses on every edge.

use crate::objects::obligation::{Fact, FactKind, Failure, Ignored};
use crate::objects::product::{Checker, MemoryAt, Obligation, Point, Rejection};
use program::{Assumption, PointId, Register, Side, Value};
use symbolic::{Access, Known, Run};
use term::eval::{Evaluator, Model};
use term::{Sort, TermId};

/// Accesses of the original that one of the candidate's is compared with by the solver.
const MOST_ALTERNATIVES: usize = 8;
/// The same, where each byte may be another's.
const MOST_PIECES: usize = 40;
/// Memory is there or not in pieces of so many bytes, at least.
const PAGE: i64 = 4096;
/// States in which addresses are compared before a solver sees them.
const SAMPLES: u64 = 6;

/// The place of accesses that were made before the edge: no instruction of it, so no type is known of them.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// Does it matter that bytes can be read, or that they are accessed themselves?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gaps {
    /// What lies between two accesses can be read, too.
    Filled,
    /// It is not accessed.
    Open,
}

/// What the original is known to have accessed since the last call, as reads: what a callee frees or unmaps is gone.
pub(crate) fn accesses_before(at: &Point) -> Vec<Access> {
    let access = |fact: &Fact| match fact.kind {
        FactKind::Access { called_since: true, .. } => None,
        FactKind::Access { address, bytes, .. } => {
            Some(Access { guard: fact.when, address, bytes, write: false, place: NOWHERE })
        }
        FactKind::Not(_) | FactKind::Apart(_) | FactKind::Aligned { .. } => None,
    };
    at.facts.iter().filter_map(access).collect()
}

impl Checker<'_, '_> {
    /// Both sides return: results, world, callee-saved registers and stack pointer.
    pub(crate) fn check_return(&mut self, at: &Point, points: [PointId; 2]) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, at.condition);
        for value in self.results(at, points[0]) {
            let mut values = [at.condition; 2];
            for side in Side::BOTH {
                let place = self.address(side, points[side.index()]);
                let raw = self.context.value_at(&at.states[side.index()], &value, side, place)?;
                let raw = self.context.canonical_value(raw);
                values[side.index()] = self.context.outward(side, place, raw, false)?;
            }
            self.prove_equal(at, &known, values[0], values[1])
                .map_err(|failure| self.refuse(Obligation::Result, points, failure))?;
        }
        self.check_worlds(at, &known, points, Ignored::Locals, MemoryAt::Return)?;
        self.check_unwound(at, &known, points)
    }

    /// The candidate leaves the registers of its caller as it found them.
    pub(crate) fn check_unwound(&mut self, at: &Point, known: &Known, points: [PointId; 2]) -> Result<(), Rejection> {
        for register in Register::CALLEE_SAVED.into_iter().chain([Register::RSP]) {
            let now = at.states[1].get(register);
            let then = self.entry[register.index()];
            if now == then {
                continue;
            }
            self.prove_equal(at, known, now, then)
                .map_err(|failure| self.refuse(Obligation::Restored(register), points, failure))?;
        }
        let direction = at.states[1].get(Register::Flag(program::Flag::Direction));
        let goal = self.context.arena.bool_not(direction);
        self.prove(at, known, goal).map_err(|failure| self.refuse(Obligation::DirectionFlag, points, failure))
    }

    fn results(&mut self, at: &Point, point: PointId) -> Vec<Value> {
        if self.context.own_contract().is_some_and(|c| c.result_unused) {
            return Vec::new();
        }
        if let Some(signature) = self.context.functions[0].signature.as_ref().filter(|s| s.unsupported.is_none()) {
            return signature.results.clone();
        }
        let declared = self.context.functions[0].signature.as_ref().and_then(|s| s.changed_results());
        if let Some(results) = declared.map(<[Value]>::to_vec) {
            let name = self.context.functions[0].name.clone();
            self.context.assume(Assumption::Signature(name));
            return results;
        }
        // Without debug information: everything that the original may have meant to return.
        let name = self.context.functions[0].name.clone();
        self.context.assume(Assumption::Signature(name));
        self.context.possible_results(point, &at.states)
    }

    /// Every access of the candidate to the world must be one that the original makes possible.
    pub(crate) fn check_accesses(
        &mut self,
        at: &Point,
        known: &Known,
        event: PointId,
        original: &Run,
        candidate: &Run,
    ) -> Result<(), Rejection> {
        let place = self.address(Side::Original, event);
        let mut seen = rustc_hash::FxHashSet::default();
        for access in &candidate.accesses {
            let access = &Access { guard: known.simplify(self.context.arena, access.guard), ..*access };
            if self.context.arena.as_bool(access.guard) == Some(false) {
                continue;
            }
            if !seen.insert((access.address, access.bytes, access.write, access.guard)) || self.exists(access) {
                continue;
            }
            let others = self.originals(original, access.write);
            let covered = self.coverage(known, access, &others, Gaps::Filled);
            let never = self.context.arena.bool(false);
            let goal = self.context.arena.implies(access.guard, covered.unwrap_or(never));
            let goal = known.simplify(self.context.arena, goal);
            let declared =
                |checker: &mut Self| !access.write && checker.context.is_declared(access.address, access.bytes);
            if self.context.arena.as_bool(goal) == Some(true) || self.proved_inside(at, known, access) || declared(self)
            {
                continue;
            }
            let unmade = if access.write { Obligation::UnmadeWrite } else { Obligation::UnmadeRead };
            let what = unmade(self.context.arena.text(access.address));
            let refuse = |failure| Rejection::Obligation { what, places: [place, access.place], failure };
            let result = match covered {
                None if self.context.arena.as_bool(access.guard) == Some(true) => Err(refuse(Failure::NotShown)),
                _ => self.prove(at, known, goal).map_err(refuse),
            };
            let Err(rejection) = result else { continue };
            if self.lies_in_block(at, known, access, original) {
                continue;
            }
            if !self.delays || access.write || !self.made_elsewhere(at, known, access, &others) {
                return Err(rejection);
            }
        }
        for block in &candidate.blocks {
            let mut guards = Vec::new();
            for other in original.blocks.iter().filter(|b| b.write || !block.write) {
                let same = [(other.address, block.address), (other.length, block.length)]
                    .map(|(a, b)| if a == b { self.context.arena.bool(true) } else { self.equality(known, a, b) });
                guards.push(self.context.arena.bool_and_all(&[other.guard, same[0], same[1]]));
            }
            let width = self.context.arena.width(block.length);
            let zero = self.context.arena.bv(width, 0);
            guards.push(self.context.arena.eq(block.length, zero));
            let any = self.context.arena.bool_or_all(&guards);
            let goal = self.context.arena.implies(block.guard, any);
            let result = self.prove(at, known, goal).or_else(|failure| {
                let fine = self.block_exists(at, known, block) || self.covers_block(at, known, block, original).is_ok();
                if fine { Ok(()) } else { Err(failure) }
            });
            result.map_err(|failure| Rejection::Obligation {
                what: Obligation::UnmadeBlock,
                places: [place, block.place],
                failure,
            })?;
        }
        for copy in &candidate.exclusive {
            if self.in_different_objects(candidate, copy) {
                continue;
            }
            let mut guards = Vec::new();
            for other in &original.exclusive {
                let same = [(other.to, copy.to), (other.from, copy.from), (other.length, copy.length)]
                    .map(|(a, b)| if a == b { self.context.arena.bool(true) } else { self.equality(known, a, b) });
                guards.push(self.context.arena.bool_and_all(&[other.guard, same[0], same[1], same[2]]));
            }
            let mut apart = self.context.arena.bool_or_all(&guards);
            for (a, b) in [(copy.to, copy.from), (copy.from, copy.to)] {
                let distance = self.context.arena.sub(a, b);
                let enough = self.context.arena.ule(copy.length, distance);
                let other = self.context.arena.sub(b, a);
                let also = self.context.arena.ule(copy.length, other);
                let both = self.context.arena.bool_and(enough, also);
                apart = self.context.arena.bool_or(apart, both);
            }
            let goal = self.context.arena.implies(copy.guard, apart);
            self.prove(at, known, goal).map_err(|failure| Rejection::Obligation {
                what: Obligation::Overlap,
                places: [place, copy.place],
                failure,
            })?;
        }
        for call in &candidate.pure_calls {
            self.check_pure_call(at, known, original, call).map_err(|failure| Rejection::Obligation {
                what: Obligation::UnmadeCall,
                places: [place, call.place],
                failure,
            })?;
        }
        Ok(())
    }

    /// Does the original make a read of the candidate behind the loop head that the edge leads to, or has it made it
    /// before the edge? In the latter case the bytes may have gone since then: an assumption.
    fn made_elsewhere(&mut self, at: &Point, known: &Known, access: &Access, made: &[&Access]) -> bool {
        let ahead = self.ahead.clone();
        let others: Vec<&Access> = ahead.iter().collect();
        if self.covers(at, known, access, &others, Gaps::Filled) {
            return true;
        }
        // From what the edge touches last to what comes next.
        let both: Vec<Access> = made.iter().copied().chain(&ahead).map(|other| self.settled(known, other)).collect();
        let both: Vec<&Access> = both.iter().collect();
        let settled = self.settled(known, access);
        if !ahead.is_empty()
            && let Some(between) = self.between(&settled, &both)
        {
            let goal = self.context.arena.implies(access.guard, between);
            if self.prove(at, known, goal).is_ok() {
                return true;
            }
        }
        if !self.context.may_assume_defined() {
            return false;
        }
        let before = accesses_before(at);
        let others: Vec<&Access> = before.iter().collect();
        let covered = self.covers(at, known, access, &others, Gaps::Filled);
        if covered {
            let text = self.context.arena.text(access.address);
            self.context.assume(Assumption::NoFault(text));
        }
        covered || self.behind.is_some_and(|head| self.made_later(at, head, access))
    }

    pub(crate) fn covers(
        &mut self,
        at: &Point,
        known: &Known,
        access: &Access,
        others: &[&Access],
        gaps: Gaps,
    ) -> bool {
        let Some(covered) = self.coverage(known, access, others, gaps) else { return false };
        let goal = self.context.arena.implies(access.guard, covered);
        self.prove(at, known, goal).is_ok()
    }

    /// When every byte of an access is one that the others touch or make possible.
    fn coverage(&mut self, known: &Known, access: &Access, others: &[&Access], gaps: Gaps) -> Option<TermId> {
        let exactly = self.covered_when(access, others);
        if let Some(when) = exactly {
            let goal = self.context.arena.implies(access.guard, when);
            let goal = known.simplify(self.context.arena, goal);
            if self.context.arena.as_bool(goal) == Some(true) {
                return exactly;
            }
        }
        // Where the original touches all bytes on some ways only, it may touch their chunk on the others.
        let covered = match (exactly, self.same_chunk(access, others)) {
            (Some(a), Some(b)) => Some(self.context.arena.bool_or(a, b)),
            (a, b) => a.or(b),
        };
        if covered.is_some() {
            return covered;
        }
        let settled = self.settled(known, access);
        let others: Vec<Access> = others.iter().map(|other| self.settled(known, other)).collect();
        let others: Vec<&Access> = others.iter().collect();
        let covered = self.covered_when(&settled, &others).or_else(|| self.same_chunk(&settled, &others));
        let covered = covered.or_else(|| self.same_address(&settled, &others));
        let covered = covered.or_else(|| if gaps == Gaps::Filled { self.between(&settled, &others) } else { None });
        let covered = covered.or_else(|| self.same_bytes(&settled, &others));
        let covered = covered.or_else(|| self.likely_same(&settled, &others));
        match (covered, self.likely_chunk(&settled, &others).filter(|_| gaps == Gaps::Filled)) {
            (Some(a), Some(b)) => Some(self.context.arena.bool_or(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// A call of a pure function must be one that the original makes, with the same operands.
    fn check_pure_call(
        &mut self,
        at: &Point,
        known: &Known,
        original: &Run,
        call: &symbolic::PureCall,
    ) -> Result<(), Failure> {
        let value = known.rewrite(self.context.arena, call.value);
        let mut guards = Vec::new();
        let mut similar = Vec::new();
        for other in &original.pure_calls {
            let theirs = known.rewrite(self.context.arena, other.value);
            if other.value == call.value || theirs == value {
                guards.push(other.guard);
            } else if self.context.arena.op(theirs) == self.context.arena.op(value) {
                similar.push((theirs, other.guard));
            }
        }
        let any = self.context.arena.bool_or_all(&guards);
        let goal = self.context.arena.implies(call.guard, any);
        let Err(failure) = self.prove(at, known, goal) else { return Ok(()) };
        similar.truncate(MOST_ALTERNATIVES);
        for (theirs, guard) in similar {
            let goal = self.context.arena.implies(call.guard, guard);
            if self.prove(at, known, goal).is_ok() && self.same_operands(at, known, theirs, value) {
                return Ok(());
            }
        }
        Err(failure)
    }

    /// Do two applications of a function have equal operands, memory included?
    fn same_operands(&mut self, at: &Point, known: &Known, a: TermId, b: TermId) -> bool {
        let pairs: Vec<(TermId, TermId)> =
            self.context.arena.args(a).iter().copied().zip(self.context.arena.args(b).iter().copied()).collect();
        pairs.into_iter().all(|(a, b)| match self.context.arena.sort(a) {
            Sort::Memory => self.prove_same_memory(at, known, a, b, Ignored::Nothing).is_ok(),
            _ => self.prove_equal(at, known, a, b).is_ok(),
        })
    }

    /// The access with everything that is known put into its address.
    fn settled(&mut self, known: &Known, access: &Access) -> Access {
        Access { address: known.rewrite(self.context.arena, access.address), ..*access }
    }

    /// Can the access be shown to stay inside an object that exists?
    fn proved_inside(&mut self, at: &Point, known: &Known, access: &Access) -> bool {
        if access.write && !self.is_writable(access) || self.context.is_volatile_object(access.address) {
            return false;
        }
        let Some(inside) = self.context.bounds(access.address, access.bytes) else { return false };
        let goal = self.context.arena.implies(access.guard, inside);
        self.prove(at, known, goal).is_ok()
    }

    pub(crate) fn is_writable(&self, access: &Access) -> bool {
        let region = self.context.region(access.address, access.bytes);
        let object = region.and_then(|r| self.context.object(r.var));
        object.is_some_and(|o| {
            o.content.is_none() && !o.read_only && !matches!(o.kind, program::ObjectKind::Named { function: true, .. })
        })
    }

    /// Is the access inside an object that certainly exists (and is writable, for a write)?
    fn exists(&self, access: &Access) -> bool {
        // The library always keeps something there.
        let kept = self.context.library_location(access.address).unwrap_or(0);
        if !access.write && access.bytes <= kept {
            return true;
        }
        let Some(region) = self.context.region(access.address, access.bytes) else { return false };
        if region.assumed || region.claimed || self.context.is_volatile_object(access.address) {
            return false;
        }
        region.local.is_some() || !access.write || self.is_writable(access)
    }

    /// When the access is at the address of one of the given ones, which must not be many.
    fn same_address(&mut self, access: &Access, others: &[&Access]) -> Option<TermId> {
        let object = self.context.base_object(access.address)?;
        let mut when = Vec::new();
        for other in others {
            if other.bytes >= access.bytes && self.context.base_object(other.address) == Some(object) {
                let same = self.context.arena.eq(access.address, other.address);
                when.push(self.context.arena.bool_and(other.guard, same));
            }
        }
        if when.is_empty() || when.len() > MOST_ALTERNATIVES {
            None
        } else {
            Some(self.context.arena.bool_or_all(&when))
        }
    }

    /// When every byte of the access is one of those that the given ones touch, piece by piece.
    fn same_bytes(&mut self, access: &Access, others: &[&Access]) -> Option<TermId> {
        if others.len() > MOST_PIECES {
            return None;
        }
        let piece =
            others.iter().map(|o| o.bytes.min(access.bytes)).max().filter(|n| access.bytes.is_multiple_of(*n))?;
        let mut all = self.context.arena.bool(true);
        for at in (0..access.bytes).step_by(usize::from(piece)) {
            let address = self.context.arena.add_const(access.address, i64::from(at));
            let mut any = Vec::new();
            for other in others {
                for inside in (0..=other.bytes.saturating_sub(piece)).step_by(usize::from(piece)) {
                    let there = self.context.arena.add_const(other.address, i64::from(inside));
                    let same = self.context.arena.eq(address, there);
                    if other.bytes >= piece && self.context.arena.as_bool(same) != Some(false) {
                        any.push(self.context.arena.bool_and(other.guard, same));
                    }
                }
            }
            let any = self.context.arena.bool_or_all(&any);
            all = self.context.arena.bool_and(all, any);
        }
        (self.context.arena.as_bool(all) != Some(false)).then_some(all)
    }

    /// When every byte of the access is one of the given ones', by addresses that look different and have met in
    /// some state. A guess: it remains to be proved.
    fn likely_same(&mut self, access: &Access, others: &[&Access]) -> Option<TermId> {
        let mut met: Vec<(&Access, i64)> = Vec::new();
        for seed in 0..SAMPLES {
            let model = Model::seeded(seed);
            let mut evaluator = Evaluator::new(self.context.arena, &model);
            let here = evaluator.bits(access.address).low();
            for other in others {
                let distance = here.wrapping_sub(evaluator.bits(other.address).low()) as i64;
                let near = distance > -i64::from(access.bytes) && distance < i64::from(other.bytes);
                if near && !met.iter().any(|(a, d)| std::ptr::eq(*a, *other) && *d == distance) {
                    met.push((other, distance));
                }
            }
        }
        if met.len() > MOST_ALTERNATIVES {
            return None;
        }
        let mut all = Vec::new();
        for byte in 0..i64::from(access.bytes) {
            let mut any = Vec::new();
            for (other, distance) in &met {
                if (0..i64::from(other.bytes)).contains(&(distance + byte)) {
                    let there = self.context.arena.add_const(other.address, *distance);
                    let same = self.context.arena.eq(access.address, there);
                    any.push(self.context.arena.bool_and(other.guard, same));
                }
            }
            if any.is_empty() {
                return None;
            }
            all.push(self.context.arena.bool_or_all(&any));
        }
        Some(self.context.arena.bool_and_all(&all))
    }

    /// A read is possible if it lies between two bytes that the original touches and that are no more than a page apart: then
    /// each of its bytes is on the page of one of them.
    fn between(&mut self, access: &Access, others: &[&Access]) -> Option<TermId> {
        // A neighbour may be volatile.
        if access.write || !self.context.functions[0].volatile.is_none() {
            return None;
        }
        let mut below: Option<(i64, &Access)> = None;
        let mut above: Option<(i64, &Access)> = None;
        for (first, other) in self.distances(access, others) {
            let last = first + i64::from(other.bytes) - 1;
            if first <= 0 && below.is_none_or(|(nearest, _)| first > nearest) {
                below = Some((first, other));
            }
            if last >= i64::from(access.bytes) - 1 && above.is_none_or(|(nearest, _)| last < nearest) {
                above = Some((last, other));
            }
        }
        let ((first, one), (last, two)) = (below?, above?);
        if last - first >= PAGE {
            return None;
        }
        let places = [(one, first), (two, last + 1 - i64::from(two.bytes))].map(|(other, distance)| {
            let there = self.context.arena.add_const(access.address, distance);
            let same = self.context.arena.eq(other.address, there);
            self.context.arena.bool_and(other.guard, same)
        });
        Some(self.context.arena.bool_and(places[0], places[1]))
    }

    /// How far accesses seem to be from a given one, less than a page. A guess: it remains to be proved.
    fn distances<'o>(&self, access: &Access, others: &[&'o Access]) -> Vec<(i64, &'o Access)> {
        let arena = &*self.context.arena;
        let plain = |other: &Access| arena.difference(other.address, access.address).and_then(|d| d.to_i64());
        let mut out: Vec<(i64, &Access)> = others.iter().filter_map(|other| Some((plain(other)?, *other))).collect();
        let models: Vec<Model> = (0..SAMPLES).map(Model::seeded).collect();
        let mut evaluators: Vec<Evaluator> = models.iter().map(|model| Evaluator::new(arena, model)).collect();
        for other in others.iter().filter(|other| plain(other).is_none()) {
            let distance =
                |e: &mut Evaluator| e.bits(other.address).low().wrapping_sub(e.bits(access.address).low()) as i64;
            let seen: Vec<i64> = evaluators.iter_mut().map(distance).collect();
            if seen.iter().all(|d| *d == seen[0]) {
                out.push((seen[0], other));
            }
        }
        out.retain(|(distance, _)| distance.unsigned_abs() < PAGE as u64);
        out
    }

    /// A read is possible if it lies in an aligned chunk of which the original touches a byte.
    fn same_chunk(&mut self, access: &Access, others: &[&Access]) -> Option<TermId> {
        let low = self.place_in_chunk(access)?;
        let aligned = self.context.arena.as_u64(low) == Some(0);
        self.when_one_of(others, |checker, other| {
            aligned && checker.touches(other, access) || checker.begins_chunk(other, access)
        })
    }

    /// The same where it remains to be proved that the chunk is aligned: types may say so.
    fn likely_chunk(&mut self, access: &Access, others: &[&Access]) -> Option<TermId> {
        let low = self.place_in_chunk(access).filter(|low| self.context.arena.as_u64(*low).is_none())?;
        let touched = self.when_one_of(others, |checker, other| checker.touches(other, access))?;
        let width = self.context.arena.width(low);
        let zero = self.context.arena.bv(width, 0);
        let aligned = self.context.arena.eq(low, zero);
        Some(self.context.arena.bool_and(aligned, touched))
    }

    /// Where a read begins in the chunk of its size. None if that does not matter.
    fn place_in_chunk(&mut self, access: &Access) -> Option<TermId> {
        if access.write || !access.bytes.is_power_of_two() || access.bytes < 2 {
            return None;
        }
        // A neighbour may be volatile.
        if !self.context.functions[0].volatile.is_none() {
            return None;
        }
        let bits = access.bytes.trailing_zeros() as u16;
        let low = self.context.arena.truncate(access.address, bits);
        Some(self.context.settle_alignment(program::Side::Candidate, low))
    }

    /// When one of the accesses is made that are of a kind. None if there is no such.
    fn when_one_of(&mut self, accesses: &[&Access], mut is: impl FnMut(&mut Self, &Access) -> bool) -> Option<TermId> {
        let guards: Vec<TermId> = accesses.iter().filter(|a| is(self, a)).map(|a| a.guard).collect();
        (!guards.is_empty()).then(|| self.context.arena.bool_or_all(&guards))
    }

    /// Does an access touch a byte of another?
    fn touches(&mut self, other: &Access, access: &Access) -> bool {
        let overlap = self.context.alias(access.address, access.bytes, other.address, other.bytes);
        matches!(overlap, symbolic::Alias::Distance(_))
    }

    /// Does an access of the original begin, by the type that it is made through, an aligned chunk in which all of `access`
    /// lies? A structure's members are aligned as far as the structure is.
    fn begins_chunk(&mut self, original: &Access, access: &Access) -> bool {
        let Some(align) = self.context.functions[0].alignments.get(&original.place).copied() else { return false };
        let Some(distance) = self.context.arena.difference(access.address, original.address) else { return false };
        let inside = distance.low().checked_add(u64::from(access.bytes)).is_some_and(|end| end <= align);
        if inside && self.context.may_assume_defined() {
            self.context.assume(Assumption::NaturalAlignment);
            return true;
        }
        false
    }
}
