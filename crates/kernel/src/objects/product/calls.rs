//! Pairs of calls: what must be equal where both sides call, and the states that they leave.
//!
//! The obligations of a pair are checked on each edge that leads to it; then its edges are merged and both sides go on
//! from there, once.
//!
//! Trust: full. What a callee can see (arguments, world, escaped local objects) must be equal here, because its results
//! and the world that it leaves are taken to be.

use super::{Checker, MemoryAt, Obligation, Onward, Point, Rejection, Segment};
use crate::objects::obligation::{Fact, FactKind, Failure, Ignored};
use program::contract::FixedResult;
use program::{AssertTexts, Assumption, Call, Next, Place, PointId, Register, RegisterVariable, Side, Value};
use rustc_hash::FxHashSet;
use symbolic::{Context, Interval, Known, Shape, Stuck};
use term::{Sort, TermId};

/// A pair of calls that edges lead to.
pub(super) struct Pending {
    segment: Segment,
    calls: [PointId; 2],
    shape: Shape,
    hint: String,
    /// What the callee leaves filled with zeros, by side: so many bytes from its result on.
    zeroes: [Option<TermId>; 2],
    /// Local objects that nobody but the function itself can reach after the call, on any edge.
    own: Vec<bool>,
    incoming: Vec<Point>,
}

impl<'a> Checker<'_, 'a> {
    pub(super) fn arrive_at_calls(
        &mut self,
        mut at: Point,
        calls: [PointId; 2],
        segment: &Segment,
    ) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let zeroes = [0, 1].map(|i| at.states[i].renamed.as_ref().and_then(|r| r.zeroes));
        let mut own: Vec<bool> =
            at.states[0].escaped.iter().zip(&at.states[1].escaped).map(|(a, b)| !a && !b).collect();
        let (shape, hint) = self.check_call(&mut at, &known, calls, &mut own)?;
        if shape.noreturn {
            return Ok(());
        }
        let [a, b] = [0, 1].map(|i| (segment.passed[i].all, self.rank(i, calls[i])));
        let pending = self.pending.entry((a, b, segment.passed.clone(), hint.clone())).or_insert_with(|| Pending {
            segment: segment.clone(),
            calls,
            shape: shape.clone(),
            hint,
            zeroes,
            own: own.clone(),
            incoming: Vec::new(),
        });
        pending.own.iter_mut().zip(own).for_each(|(all, here)| *all &= here);
        // A result at which nobody looks on one edge is not looked at on the others.
        let results = shape.results.clone();
        let alike = results == pending.shape.results || results.is_empty() || pending.shape.results.is_empty();
        if results.is_empty() {
            pending.shape.results.clear();
        }
        let same = Shape { arguments: shape.arguments.clone(), results, ..pending.shape.clone() } == shape;
        if !(same && alike && pending.zeroes == zeroes) {
            return Err(self.refuse(Obligation::OneShape, calls, Failure::NotShown));
        }
        // The callee may overwrite every stack argument of any edge.
        for argument in shape.arguments {
            if !pending.shape.arguments.contains(&argument) {
                pending.shape.arguments.push(argument);
            }
        }
        pending.incoming.push(at);
        Ok(())
    }

    /// What must hold at a pair of calls. Of the local objects in `own`, which nobody else has known so far, those remain that
    /// nobody else knows when the callee is done.
    fn check_call(
        &mut self,
        at: &mut Point,
        known: &Known,
        calls: [PointId; 2],
        own: &mut [bool],
    ) -> Result<(Shape, String), Rejection> {
        let places = [self.address(Side::Original, calls[0]), self.address(Side::Candidate, calls[1])];
        let callees = Side::BOTH.map(|side| &self.call(side, calls[side.index()]).callee);
        let renamed = [0, 1].map(|i| at.states[i].renamed.clone());
        let names = [0, 1].map(|i| match &renamed[i] {
            Some(renamed) => Some(renamed.callee.to_string()),
            None => self.context.callee_name(callees[i], &at.states[i]),
        });
        match (&names[0], &names[1]) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let what = Obligation::SameCallee([a.clone(), b.clone()]);
                return Err(self.refuse(what, calls, Failure::NotShown));
            }
            (None, None) => {
                let (Some(a), Some(b)) = (at.states[0].call_target, at.states[1].call_target) else {
                    return Err(self.refuse(Obligation::Target, calls, Failure::NotShown));
                };
                self.prove_equal(at, known, a, b)
                    .map_err(|failure| self.refuse(Obligation::SameTarget, calls, failure))?;
            }
            _ => return Err(self.refuse(Obligation::NamedAlike, calls, Failure::NotShown)),
        }
        let name = names[0].clone();
        let hint = name.clone().unwrap_or_else(|| "pointer".to_string());
        if let Some(what) = name.as_deref().and_then(|n| self.context.refused_callee(n)) {
            let stuck = Stuck::Unsupported {
                side: Side::Original,
                address: places[0],
                what: format!("call of {hint}: {what}"),
            };
            return Err(stuck.into());
        }
        let mut shape = self.context.shape(name.as_deref(), Some(calls[0]), &at.states[0]);
        let chained = |f: &program::Function| f.surroundings.chained_callees.contains(&hint);
        let chain =
            self.context.passes_static_chain(&at.states[0]) || self.context.functions.iter().any(|f| chained(f));
        let chain = chain.then(|| "a static chain in r10".to_string());
        // The candidate's functions are compared with the original's. Where those read no such register, what these find behind
        // a narrow write changes nothing; a whole one shows what the original's code may hide.
        let [original, candidate] = [0, 1].map(|i| self.context.functions[i].surroundings.register_variable);
        let variable = original != RegisterVariable::None || candidate == RegisterVariable::Whole;
        let variable = variable.then(|| "a variable in a register that calls keep".to_string());
        if let Some(what) = shape.refused.take().or(chain).or(variable) {
            let what = format!("call of {hint}: {what}");
            return Err(Stuck::Unsupported { side: Side::Original, address: places[0], what }.into());
        }
        if renamed.iter().flatten().any(|r| !r.keeps_result) {
            // Nobody looks at it: that is when a call may be renamed so.
            shape.results.clear();
        }
        shape.returns_end = [0, 1].map(|i| renamed[i].as_ref().is_some_and(|r| r.returns_end));
        self.context.assume(Assumption::Signature(hint.clone()));
        let arguments = self.call_arguments(at, &shape, places, own)?;
        if arguments[0].iter().any(|a| self.context.is_literal(*a)) {
            self.context.assume(Assumption::LiteralAddressOpaque);
        }
        for (i, (a, b)) in arguments[0].iter().zip(&arguments[1]).enumerate() {
            if a != b
                && self.says_where(name.as_deref(), &shape, i)
                && [*a, *b].iter().all(|v| self.is_text_or_number(*v))
            {
                self.context.assume(Assumption::AssertText(hint.clone()));
                continue;
            }
            self.prove_equal(at, known, *a, *b).map_err(|failure| Rejection::Obligation {
                what: Obligation::Argument { callee: hint.clone(), number: i + 1 },
                places,
                failure,
            })?;
        }
        self.check_promoted(at, known, &shape, places, &hint)?;
        if shape.variadic {
            let declared = name.as_deref().is_some_and(|n| self.context.is_variadic(n));
            self.check_vector_count(at, known, calls, declared)?;
        }
        // What `free` is given is gone: nobody may read it any more.
        let freed = (name.as_deref() == Some("free")).then(|| arguments[0].first().copied()).flatten();
        let ignored = if freed.is_some() && self.context.contract("free").is_some() {
            Ignored::Freed(freed)
        } else {
            Ignored::Nothing
        };
        self.check_worlds(at, known, calls, ignored, MemoryAt::Call(hint.clone()))?;
        if let Ignored::Freed(_) = ignored {
            self.forget_freed(at, ignored);
        }
        let depths = [0, 1].map(|i| at.states[i].stack_depth(self.context));
        let aligned = |depth: Option<i64>| depth.is_some_and(|d| d.rem_euclid(16) == 8);
        let tail = Side::BOTH.map(|side| self.call(side, calls[side.index()]).tail);
        for (side, depth) in Side::BOTH.into_iter().zip(depths) {
            let frame = if tail[side.index()] { Some(0) } else { depth };
            let lost = (0..at.states[1].escaped.len()).any(|local| {
                let interval = self.context.bindings[local].interval(side);
                // A callee that was jumped to owns the stack arguments, too.
                let gone = |i: Interval| frame.is_none_or(|f| i.offset < f) || tail[side.index()] && i.offset > 0;
                at.states[side.index()].escaped[local] && interval.is_some_and(gone)
            });
            if lost {
                return Err(self.refuse(Obligation::InFrame(side), calls, Failure::NotShown));
            }
        }
        if tail[1] && shape.variadic {
            self.check_passed_on(at, &shape, calls)?;
        }
        if tail[1] {
            self.check_unwound(at, known, calls)?;
        } else if !aligned(depths[1]) && (tail[0] || aligned(depths[0])) {
            return Err(self.refuse(Obligation::StackAligned, calls, Failure::NotShown));
        }
        Ok((shape, hint))
    }

    /// Does an argument of this call only say where an assertion failed: in which file, line or function? The function of the C
    /// library prints it and never returns. What failed, which comes first, is compared like anything else.
    fn says_where(&self, name: Option<&str>, shape: &Shape, argument: usize) -> bool {
        let Some(name) = name.filter(|_| self.context.functions[0].assert_texts == AssertTexts::Ignored) else {
            return false;
        };
        let places = match name {
            "__assert_fail" | "__assert_perror_fail" => 1..4,
            "__assert" => 1..3,
            _ => return false,
        };
        // By the original's declaration it is that function, and the file does not define one of its name.
        let applies = self.context.contract(name).is_some_and(|row| row.noreturn);
        applies && shape.noreturn && shape.arguments.len() == places.end && places.contains(&argument)
    }

    /// Is it the address of known read-only bytes, or a number? Anything else was computed, and is compared.
    fn is_text_or_number(&self, value: TermId) -> bool {
        self.context.is_text(value) || self.context.arena.as_u64(value).is_some()
    }

    /// A callee that was jumped to finds the function's own stack arguments. Where nobody declares how many it takes, the
    /// candidate may have changed only those that are compared.
    fn check_passed_on(&mut self, at: &Point, shape: &Shape, calls: [PointId; 2]) -> Result<(), Rejection> {
        let compared = |at: i64| {
            let holds = |a: &Value| match a.place {
                Place::Stack(offset) => (0..i64::from(a.bytes)).contains(&(at - 8 - i64::from(offset))),
                Place::Register(_) => false,
            };
            shape.arguments.iter().any(holds)
        };
        let cells: Vec<(i64, TermId)> = at.states[1].frame.cells().filter(|(offset, _)| *offset >= 8).collect();
        let bytes = |value: TermId| i64::from(self.context.arena.width(value) / 8);
        if cells.iter().any(|(start, value)| !(*start..start + bytes(*value)).all(compared)) {
            return Err(self.refuse(Obligation::PassedOn, calls, Failure::NotShown));
        }
        Ok(())
    }

    /// The arguments of both sides. A frame address without a local object names both places, so that the search can
    /// claim one.
    fn call_arguments(
        &mut self,
        at: &mut Point,
        shape: &Shape,
        places: [u64; 2],
        own: &mut [bool],
    ) -> Result<[Vec<TermId>; 2], Rejection> {
        let mut out = [Vec::new(), Vec::new()];
        for argument in &shape.arguments {
            let forgotten = matches!(argument.place, Place::Register(r) if shape.forgets.contains(&r));
            let so_far = [out[0].len(), out[1].len()];
            let mut offsets = [None; 2];
            for side in Side::BOTH {
                let i = side.index();
                let Some(argument) = shape.on_side(argument, side) else { continue };
                let raw = self.context.value_at(&at.states[i], &argument, side, places[i])?;
                offsets[i] = self.context.frame_offset(raw).map(|(offset, _)| offset);
            }
            let one = Shape { arguments: vec![*argument], ..shape.clone() };
            for side in Side::BOTH {
                let i = side.index();
                if let Some(given) = self.renamed_argument(at, argument, side, places[i])? {
                    self.context.publish(&mut at.states[i]);
                    out[i].push(given);
                    continue;
                }
                match self.context.arguments(side, places[i], &at.states[i], &one) {
                    Ok(values) => out[i].extend(values),
                    Err(Stuck::Unbound { .. }) if offsets.iter().all(Option::is_some) => {
                        let [original, candidate] = offsets.map(|o| o.expect("checked"));
                        return Err(Rejection::Unbound { original, candidate });
                    }
                    Err(stuck) => return Err(stuck.into()),
                }
                self.context.publish(&mut at.states[i]);
            }
            let passed = [0, 1].into_iter().flat_map(|i| out[i][so_far[i]..].to_vec()).collect::<Vec<TermId>>();
            for (local, own) in own.iter_mut().enumerate().filter(|_| !forgotten) {
                *own &= !passed.iter().any(|value| self.context.mentions_local(*value, local));
            }
        }
        let [a, b] = &mut at.states;
        self.context.align_escapes(a, b);
        Ok(out)
    }

    /// An argument of a call under another name.
    fn renamed_argument(
        &mut self,
        at: &Point,
        argument: &Value,
        side: Side,
        place: u64,
    ) -> Result<Option<TermId>, Rejection> {
        let Some(renamed) = &at.states[side.index()].renamed else { return Ok(None) };
        let position = Register::ARGUMENTS.iter().position(|r| argument.place == Place::Register(*r));
        let Some(given) = position.and_then(|i| renamed.arguments.get(i)).copied() else {
            let what = format!("arguments of {} under another name", renamed.callee);
            return Err(Stuck::Unsupported { side, address: place, what }.into());
        };
        let value = self.context.arena.truncate(given, 8 * argument.bytes);
        let value = self.context.canonical_value(value);
        Ok(Some(self.context.outward(side, place, value, true)?))
    }

    /// `al` bounds the vector registers that a variadic callee saves; the candidate may not pass less. If the callee is
    /// `declared` to be one, and the original passes a number, so must the candidate: callees may jump by it.
    fn check_vector_count(
        &mut self,
        at: &Point,
        known: &Known,
        calls: [PointId; 2],
        declared: bool,
    ) -> Result<(), Rejection> {
        let count = |context: &mut Context, i: usize| {
            let al = at.states[i].get(Register::General(0));
            context.arena.truncate(al, 8)
        };
        let (a, b) = (count(self.context, 0), count(self.context, 1));
        if declared && self.context.arena.as_u64(a).is_some_and(|count| count <= 8) {
            let eight = self.context.arena.bv(8, 8);
            let bounds = [self.context.arena.ule(a, b), self.context.arena.ule(b, eight)];
            let goal = self.context.arena.bool_and_all(&bounds);
            return self.prove(at, known, goal).map_err(|failure| self.refuse(Obligation::VectorCount, calls, failure));
        }
        if self.context.arena.as_u64(a) == Some(0) || self.context.is_undefined(at.states[0].get(Register::General(0)))
        {
            return Ok(());
        }
        // Nor does one that is called through `rax`.
        if at.states[0].call_target == Some(at.states[0].get(Register::General(0))) {
            return Ok(());
        }
        // Unoptimised code sets `al` to a number just before a call that looks at it.
        if self.context.arena.as_u64(a).is_none() && self.context.functions[0].is_unoptimised() {
            return Ok(());
        }
        // Above 8 it is no such number: the callee is not variadic.
        let fewer = self.context.arena.ult(b, a);
        let eight = self.context.arena.bv(8, 8);
        let number = self.context.arena.ule(a, eight);
        let less = self.context.arena.bool_and(fewer, number);
        let goal = self.context.arena.bool_not(less);
        self.prove(at, known, goal).map_err(|failure| self.refuse(Obligation::VectorCount, calls, failure))
    }

    /// The states after a pair of calls, and on from there.
    pub(super) fn after_calls(&mut self, pending: Pending) -> Result<(), Rejection> {
        let Pending { segment, calls, shape, hint, zeroes, own, incoming } = pending;
        let returned = match shape.fixed {
            Some(FixedResult::Argument(register)) => Some(register),
            _ => None,
        };
        let overwritten =
            |r: &Register| !Register::CALLEE_SAVED.contains(r) && *r != Register::RSP && Some(*r) != returned;
        self.context.tick();
        let results = self.context.fresh_results(&shape, &hint);
        let after = self.context.fresh("world", Sort::Memory);
        let (mut point, afterwards) = self.merge(incoming, overwritten, shape.preserves, after);
        // The callee may have freed what was accessed.
        point.touched.clear();
        point.facts.iter_mut().for_each(Fact::called);
        if let Some(holds) = results.first().and_then(|r| self.context.result_in_range(&shape, *r)) {
            let not = self.context.arena.bool_not(holds);
            let fact = self.fact(point.condition, FactKind::Not(not));
            point.facts.push(fact);
        }
        let mut onward = [Onward::At(calls[0]); 2];
        for side in Side::BOTH {
            let i = side.index();
            let mut returned = results.clone();
            if shape.result_unused && side == Side::Candidate {
                // The candidate's callee may return anything.
                for result in &mut returned {
                    *result = self.context.fresh_undefined(&hint, self.context.arena.sort(*result));
                }
            }
            let promised = !(shape.result_unused && side == Side::Candidate);
            if let Some(known) = self.context.known_result(side, &shape, &point.states[i], 0).filter(|_| promised) {
                returned[0] = known;
            }
            let world = if shape.preserves { point.states[i].world } else { afterwards[i] };
            let world = match zeroes[i].zip(returned.first().copied()) {
                Some((length, result)) => self.zeroed(side, world, result, length),
                None => world,
            };
            if let (true, Some(start)) = (shape.returns_end[i], returned.first().copied()) {
                let place = self.address(side, calls[i]);
                returned[0] = self.context.end_of_string(side, place, start, world)?;
            }
            self.context.after_call(side, &mut point.states[i], &shape, &returned, world);
            for local in (0..own.len()).filter(|local| own[*local]) {
                self.context.take_back(&mut point.states[i], local);
            }
            let call = self.call(side, calls[i]);
            onward[i] = match (call.tail, call.returns) {
                (true, _) => Onward::Returned(calls[i]),
                (false, Some(next)) => Onward::Behind(next),
                // The original's code ends here: the callee does not return, as far as the original knows.
                (false, None) if side == Side::Original => return Ok(()),
                (false, None) => {
                    return Err(self.refuse(Obligation::CodeAfterCall, calls, Failure::NotShown));
                }
            };
        }
        if !shape.preserves {
            self.learn_statics(&mut point);
        }
        self.advance(point, onward, segment)
    }

    /// The world with what a call has allocated filled with zeros.
    fn zeroed(&mut self, side: Side, world: TermId, result: TermId, length: TermId) -> TermId {
        if side == Side::Original {
            self.context.note_original_block(result, length);
        }
        let arena = &mut *self.context.arena;
        let (null, zero) = (arena.bv(64, 0), arena.bv(8, 0));
        let failed = arena.eq(result, null);
        let filled = arena.fill(world, result, zero, length);
        arena.ite(failed, world, filled)
    }

    /// One point for all edges that arrive, what is known there, and the worlds that a callee leaves, given that it
    /// leaves `after`: on an edge where a local object has not escaped, the callee did not touch it. Registers that are
    /// overwritten next, and a world that is, need not be merged.
    pub(crate) fn merge(
        &mut self,
        mut incoming: Vec<Point>,
        overwritten: impl Fn(&Register) -> bool,
        world_matters: bool,
        after: TermId,
    ) -> (Point, [TermId; 2]) {
        let escaped: Vec<bool> = (0..self.context.bindings.len())
            .map(|local| incoming.iter().any(|p| p.states.iter().any(|s| s.escaped[local])))
            .collect();
        let mut merged = incoming.pop().expect("at least one edge");
        let mut worlds = [0, 1].map(|i| self.context.kept_private(&merged.states[i], &escaped, after));
        while let Some(mut point) = incoming.pop() {
            let left = [0, 1].map(|i| self.context.kept_private(&point.states[i], &escaped, after));
            for i in 0..2 {
                for register in Register::all().filter(&overwritten) {
                    point.states[i].set(register, merged.states[i].get(register));
                }
                if !world_matters {
                    point.states[i].world = merged.states[i].world;
                }
            }
            let (common, rest) = self.context.factor(&[point.condition, merged.condition]);
            for (world, left) in worlds.iter_mut().zip(left) {
                *world = if *world == left { left } else { self.context.arena.ite(rest[0], left, *world) };
            }
            for (state, arriving) in merged.states.iter_mut().zip(point.states) {
                *state = self.context.merge(rest[0], arriving, state.clone());
            }
            let any = self.context.arena.bool_or_all(&rest);
            merged.condition = self.context.arena.bool_and(common, any);
            let seen = merged.facts.iter().zip(&point.facts).take_while(|(a, b)| a == b).count();
            merged.facts.extend_from_slice(&point.facts[seen..]);
        }
        // What a callee may have taken away on one edge.
        let gone = |fact: &Fact| matches!(fact.kind, FactKind::Access { called_since: true, .. });
        let numbers: FxHashSet<u32> = merged.facts.iter().filter(|f| gone(f)).map(|f| f.number).collect();
        merged.facts.iter_mut().filter(|f| numbers.contains(&f.number)).for_each(Fact::called);
        (merged, worlds)
    }

    fn call(&self, side: Side, point: PointId) -> &'a Call {
        let function = self.context.functions[side.index()];
        match &function.point(point).next {
            Next::Call(call) => call,
            _ => unreachable!("a call event is at a call"),
        }
    }
}
