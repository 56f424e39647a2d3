//! Library calls in their general form (see [`library::rename`]), as symbolic execution meets them.

use crate::context::unsupported;
use crate::execute::{Executor, Outcome};
use crate::live_registers::liveness;
use crate::{Context, RenamedCall, State, Stuck};
use library::{Action, Argument, Known as Literal, Meaning, Renaming, ResultUse};
use program::{Assumption, Call, Callee, ObjectKind, PointId, Register, Side};
use term::{Linear, Sort, TermId};

/// Parts of the names of functions that write to a stream which they are given.
const TAKES_STREAM: &[&str] = &["fprintf", "fputs", "fwrite", "fputc", "putc"];

impl Context<'_> {
    /// Does nothing after the call at this point look at its result?
    fn result_use(&mut self, side: Side, point: PointId, call: &Call) -> ResultUse {
        let function = self.functions[side.index()];
        if self.shown.live[side.index()].is_none() {
            self.shown.live[side.index()] = Some(liveness(self.arena, function, &|_| None));
        }
        let live = self.shown.live[side.index()].as_ref().expect("just made");
        let result = 1u64 << Register::General(0).index();
        let used = match call.returns {
            Some(next) => live[next.index()] & result != 0,
            None => function.signature.as_ref().is_none_or(|s| s.unsupported.is_some() || !s.results.is_empty()),
        };
        let _ = point;
        if used { ResultUse::Used } else { ResultUse::Unused }
    }

    /// What is known about an argument: a number, or a literal string.
    pub(crate) fn literal(&self, value: TermId) -> Option<Literal> {
        if let Some(number) = self.arena.as_u64(value) {
            return Some(Literal::Number(number));
        }
        let linear = Linear::of(self.arena, value);
        let [(base, one)] = linear.terms[..] else { return None };
        let var = self.arena.as_var(base).filter(|_| one.to_u64() == Some(1))?;
        let object = self.object(var).filter(|o| o.kind != ObjectKind::Section && !o.constant_static)?;
        let content = object.content.as_ref().filter(|c| c.pointers.is_empty())?;
        let text = content.bytes.get(linear.constant.low() as usize..)?;
        let end = text.iter().position(|b| *b == 0)?;
        Some(Literal::Text(text[..end].to_vec()))
    }
}

impl Context<'_> {
    /// Where the string at an address ends.
    pub fn end_of_string(&mut self, side: Side, place: u64, start: TermId, world: TermId) -> Result<TermId, Stuck> {
        let string = self.outward(side, place, start, true)?;
        let length = self.arena.apply("strlen", Sort::Bv(64), &[string, world]);
        Ok(self.arena.add(start, length))
    }
}

impl Executor<'_, '_> {
    /// Brings a library call to its general form.
    pub(crate) fn rename_call(
        &mut self,
        place: u64,
        point: PointId,
        call: &Call,
        guard: TermId,
        state: &mut State,
    ) -> Result<Outcome, Stuck> {
        let Callee::Named(name) = &call.callee else { return Ok(Outcome::AsWritten) };
        if self.context.contract(name).is_none() {
            return Ok(Outcome::AsWritten);
        }
        let usage = self.context.result_use(self.side, point, call);
        let given: Vec<TermId> = Register::ARGUMENTS.iter().map(|r| state.get(*r)).collect();
        let known = |i: usize| given.get(i).and_then(|value| self.context.literal(*value));
        // What `calloc` gives is what `malloc` gives, filled with zeros. (The product of its arguments does not wrap.)
        if name == "calloc"
            && let Some(one) = (0..2).find(|i| matches!(known(*i), Some(Literal::Number(1))))
        {
            let length = given[1 - one];
            if self.context.contract("malloc").is_none() {
                return Ok(Outcome::AsWritten);
            }
            self.context.assume(Assumption::Library("calloc".to_string()));
            let (arguments, zeroes) = (vec![length], Some(length));
            return Ok(Outcome::Event(RenamedCall {
                callee: "malloc",
                arguments,
                keeps_result: true,
                returns_end: false,
                zeroes,
            }));
        }
        let Some(Renaming { action, result }) = library::rename(name, &known, usage) else {
            return Ok(Outcome::AsWritten);
        };
        if let Action::Call { callee, arguments } = &action {
            // A program's own `stdout` is not the library's.
            let own = |name: &str| {
                let mut objects = self.context.functions.into_iter().flat_map(|f| f.objects.values());
                objects.any(|o| {
                    o.name == name && matches!(o.kind, ObjectKind::Named { defined, local, .. } if defined || local)
                })
            };
            if arguments.iter().any(|argument| matches!(argument, Argument::Stream(name) if own(name))) {
                return Ok(Outcome::AsWritten);
            }
            // The function that it becomes must be the library's, too.
            if self.context.contract(callee).is_none() {
                return Ok(Outcome::AsWritten);
            }
            self.context.assume(Assumption::Library(callee.to_string()));
        }
        // A stream that nobody else names must be one: the library may look at it.
        if action == Action::Nothing && self.side == Side::Candidate && TAKES_STREAM.iter().any(|f| name.contains(f)) {
            return Ok(Outcome::AsWritten);
        }
        self.context.assume(Assumption::Library(name.clone()));
        let (callee, wanted) = match action {
            Action::Nothing => {
                self.finish(place, guard, state, &given, &result, None)?;
                return Ok(Outcome::Done);
            }
            Action::Call { callee, arguments } => (callee, arguments),
        };
        if callee == "memcpy" && matches!(wanted.get(1), Some(Argument::Text(_))) {
            let to = self.argument(place, guard, state, &given, &wanted[0])?;
            if let Argument::Text(bytes) = &wanted[1] {
                self.write_text(place, guard, state, to, bytes)?;
            }
            self.finish(place, guard, state, &given, &result, None)?;
            return Ok(Outcome::Done);
        }
        let mut arguments = Vec::new();
        for argument in &wanted {
            arguments.push(self.argument(place, guard, state, &given, argument)?);
        }
        if self.context.is_silent(callee) {
            for (register, value) in Register::ARGUMENTS.iter().zip(&arguments) {
                state.set(*register, *value);
            }
            let inner = Call { callee: Callee::Named(callee.to_string()), ..call.clone() };
            self.silent_call(place, &inner, guard, state)?;
            let returned = state.get(Register::General(0));
            self.finish(place, guard, state, &given, &result, Some(returned))?;
            return Ok(Outcome::Done);
        }
        let returns_end = result == Meaning::EndOfFirst;
        let keeps_result = result == Meaning::Same || returns_end;
        if !keeps_result && usage == ResultUse::Used {
            return Ok(Outcome::AsWritten);
        }
        Ok(Outcome::Event(RenamedCall { callee, arguments, keeps_result, returns_end, zeroes: None }))
    }

    /// The state after a call without an event.
    fn finish(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        given: &[TermId],
        meaning: &Meaning,
        returned: Option<TermId>,
    ) -> Result<(), Stuck> {
        let result = match meaning {
            Meaning::Same => returned,
            Meaning::Low(bytes) => returned.map(|r| self.context.arena.truncate(r, 8 * bytes)),
            Meaning::Value(value) => Some(self.argument(place, guard, state, given, value)?),
            Meaning::Sum(a, b) => {
                let a = self.argument(place, guard, state, given, a)?;
                let b = self.argument(place, guard, state, given, b)?;
                Some(self.context.arena.add(a, b))
            }
            Meaning::ZeroTest | Meaning::EndOfFirst | Meaning::Lost => None,
        };
        let nothing = crate::Shape::default();
        let world = state.world;
        self.context.after_call(self.side, state, &nothing, &[], world);
        if let Some(result) = result {
            let whole = if self.context.arena.width(result) < 64 {
                let high = 64 - self.context.arena.width(result);
                let unknown = self.context.fresh_undefined("result", Sort::Bv(high));
                self.context.arena.concat(unknown, result)
            } else {
                result
            };
            state.set(Register::General(0), whole);
        }
        Ok(())
    }

    fn argument(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        given: &[TermId],
        argument: &Argument,
    ) -> Result<TermId, Stuck> {
        let missing = || unsupported(self.side, place, "library call with arguments on the stack");
        let register = |i: &usize| given.get(*i).copied().ok_or_else(missing);
        Ok(match argument {
            Argument::Given(i) => register(i)?,
            Argument::LowByte(i) => {
                let byte = self.context.arena.truncate(register(i)?, 8);
                self.context.arena.zext(byte, 64)
            }
            Argument::ByteAt(i) => {
                let address = register(i)?;
                let byte = self.load(place, guard, state, address, 1)?;
                self.context.arena.zext(byte, 64)
            }
            Argument::End(i) => {
                let start = register(i)?;
                let string = self.context.outward(self.side, place, start, true)?;
                self.context.publish(state);
                let length = self.context.arena.apply("strlen", Sort::Bv(64), &[string, state.world]);
                self.run.pure_calls.push(crate::PureCall { guard, value: length, place, reads: true });
                self.context.arena.add(start, length)
            }
            Argument::Text(bytes) => {
                let name: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
                self.context.arena.var(&format!("&text:{name}"), Sort::Bv(64))
            }
            Argument::Number(number) => self.context.arena.bv(64, *number),
            Argument::Stream(name) => {
                let address = self.context.arena.var(&format!("&{name}"), Sort::Bv(64));
                self.context.read(state.world, address, 8)
            }
        })
    }

    fn write_text(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        to: TermId,
        bytes: &[u8],
    ) -> Result<(), Stuck> {
        for (i, chunk) in bytes.chunks(8).enumerate() {
            let address = self.context.arena.add_const(to, 8 * i as i64);
            let value = self.context.arena.constant(term::Bits::from_bytes(chunk));
            self.store(place, guard, state, address, value)?;
        }
        Ok(())
    }
}
