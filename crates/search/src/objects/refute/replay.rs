//! Replay of a witness on the real CPU.
//!
//! Only for pairs whose code stands alone: in one piece, without calls, without anything that the linker fills in. The
//! child gets the code, the registers as the interpreter set them at entry, and the memory that the interpreter's run
//! accessed, at its addresses. What the CPU then does must be what the interpreter said.
//!
//! Trust: none. It can only take a witness away.

use super::runner::Runner;
use crate::objects::inputs::Input;
use crate::{Native, Witness};
use interpreter::{Change, End, Passed, Trace, is_stack};
use native::{Access, Block, FunctionRun, Outcome, Signal, State, run_function};
use program::{FaultKind, Flag, Next, Op, Place, Register, Side};
use std::collections::BTreeMap;
use std::time::Duration;
use term::{Arena, Bits};

/// What a search for differences came to.
#[derive(Clone, Debug)]
pub(crate) enum Refutation {
    /// An input that tells the programs apart.
    Different(Box<Witness>),
    /// Interpreter and CPU disagree about an input: one of them is wrong, so nothing is said.
    Disputed(String),
}

/// What came of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Replay {
    /// The CPU cannot say: the code does not stand alone, or an address cannot be mapped.
    Impossible,
    /// The CPU does what the interpreter said.
    Agrees,
    /// It does not.
    Disagrees(String),
}

/// Where the code lies: far from everything that the interpreter places.
const CODE: u64 = 0x0800_0000_0000;
/// Pages of data at most.
const MOST_PAGES: usize = 4096;
const LIMIT: Duration = Duration::from_millis(400);
/// How long a run that never ends is watched.
const WATCH: Duration = Duration::from_millis(100);

impl<'a> Runner<'a> {
    /// Runs both programs on the CPU. `traces` is what the interpreter said.
    pub(super) fn replay(&mut self, arena: &Arena, input: &Input, traces: &[Trace<'a>; 2]) -> Replay {
        if self.native == Native::Forbidden || ![0, 1].into_iter().all(|i| self.stands_alone(arena, i)) {
            return Replay::Impossible;
        }
        for side in [Side::Original, Side::Candidate] {
            let trace = &traces[side.index()];
            let Some(mut run) = self.cpu_run(arena, side, input) else { return Replay::Impossible };
            run.limit = if trace.end == End::Forever { WATCH } else { LIMIT };
            let Ok(outcome) = run_function(&run) else { return Replay::Impossible };
            match self.agrees(input, trace, &run, &outcome) {
                // Where the architecture leaves something open, the CPU may choose otherwise.
                Some(Err(_)) if trace.unknowns > 0 => return Replay::Impossible,
                Some(Err(what)) => return Replay::Disagrees(format!("the {}: {what}", side.name())),
                Some(Ok(())) => {}
                None => return Replay::Impossible,
            }
        }
        Replay::Agrees
    }

    fn stands_alone(&self, arena: &Arena, i: usize) -> bool {
        let function = self.functions[i];
        let segments = [Register::FsBase, Register::GsBase].map(Register::index);
        let plain = |op: &Op| {
            let terms = match op {
                Op::Set { value, .. } => vec![*value],
                Op::Load { address, .. } => vec![*address],
                Op::Store { address, value } => vec![*address, *value],
                Op::Fault { condition, .. } => vec![*condition],
                Op::Unknown { .. } => vec![],
            };
            !terms.iter().flat_map(|t| arena.free_vars(*t)).any(|var| segments.contains(&var.index()))
        };
        function.surroundings.code.is_some()
            && function.objects.is_empty()
            && function.points.iter().all(|p| !matches!(p.next, Next::Call(_)) && p.ops.iter().all(|(_, op)| plain(op)))
    }

    /// The start state of a side for the CPU.
    fn cpu_run(&mut self, arena: &Arena, side: Side, input: &Input) -> Option<FunctionRun> {
        let code = self.functions[side.index()].surroundings.code.clone()?;
        self.traces(arena, input);
        let blocks = self.initial_blocks(side, input);
        let pages: usize = blocks.iter().map(|(_, bytes)| bytes.len() / 4096 + 1).sum();
        if pages > MOST_PAGES {
            return None;
        }
        let data = blocks.into_iter().map(|(address, bytes)| Block { address, bytes, access: Access::Write });
        let code = Block { address: CODE, bytes: code.to_vec(), access: Access::Execute };
        let blocks = data.chain([code]).collect();
        self.enter(arena, side, input);
        let state = self.cpu_state(side);
        Some(FunctionRun { blocks, entry: CODE, state, limit: LIMIT })
    }

    /// The registers as they are now.
    fn cpu_state(&self, side: Side) -> State {
        let value = |register| self.register(side, register);
        let mut state = State::default();
        for i in 0..16u8 {
            let (low, high) = (value(Register::Vector(i)), value(Register::VectorHigh(i)));
            state.general[usize::from(i)] = value(Register::General(i)).low();
            state.vector[usize::from(i)] = [low.limbs()[0], low.limbs()[1], high.limbs()[0], high.limbs()[1]];
        }
        let flags = [
            (Flag::Carry, 0),
            (Flag::Parity, 2),
            (Flag::Adjust, 4),
            (Flag::Zero, 6),
            (Flag::Sign, 7),
            (Flag::Direction, 10),
            (Flag::Overflow, 11),
        ];
        for (flag, bit) in flags {
            state.flags |= (value(Register::Flag(flag)).low() & 1) << bit;
        }
        state
    }

    /// Does the CPU's outcome match the interpreter's? `None` if that cannot be said.
    fn agrees(&self, input: &Input, trace: &Trace, run: &FunctionRun, outcome: &Outcome) -> Option<Result<(), String>> {
        let signal = match (trace.end, outcome) {
            (End::Forever, Outcome::Timeout) => return Some(Ok(())),
            (_, Outcome::Killed | Outcome::Timeout) => return None,
            (End::Return, Outcome::Done { state, memory }) => {
                return Some(
                    self.same_registers(input, trace, run, state)
                        .and_then(|()| self.same_memory(input, trace, run, memory)),
                );
            }
            (End::Fault(FaultKind::Divide, _), _) => Signal::Fpe,
            // No address at all, on the stack.
            (End::BadAddress(..), Outcome::Fault(fault)) if fault.signal == Signal::Bus => Signal::Bus,
            (End::Fault(FaultKind::Misaligned, _) | End::BadAddress(..), _) => Signal::Segv,
            (End::Fault(FaultKind::Trap, _), Outcome::Fault(fault)) if fault.signal == Signal::Trap => Signal::Trap,
            (End::Fault(FaultKind::Trap, _), _) => Signal::Ill,
            // It takes something else for the return address.
            (End::Return, Outcome::Fault(_)) if trace.spoiled == Some(Register::RSP) => return Some(Ok(())),
            (End::Return, Outcome::Fault(fault)) => {
                return Some(Err(format!("{:?} at {:#x} instead of a return", fault.signal, fault.address)));
            }
            (End::Forever, _) => return Some(Err("an end instead of none".to_string())),
            _ => return None,
        };
        Some(match outcome {
            Outcome::Fault(fault) if fault.signal == signal => Ok(()),
            Outcome::Fault(fault) => Err(format!("{:?} instead of {signal:?}", fault.signal)),
            _ => Err(format!("no fault instead of {signal:?}")),
        })
    }

    fn same_registers(&self, input: &Input, trace: &Trace, run: &FunctionRun, state: &State) -> Result<(), String> {
        let comparison = self.comparison(input);
        for value in comparison.results([trace, trace]) {
            let Place::Register(register) = value.place else { continue };
            let Some(said) = trace.result(register) else { continue };
            let bits = match register {
                Register::General(i) => Bits::new(64, state.general[usize::from(i)]),
                Register::Vector(i) => Bits::from_limbs(128, &state.vector[usize::from(i)][..2]),
                _ => continue,
            };
            let got = Passed { bits, taint: 0 };
            if !comparison.same(said, got, value.bytes, value.place) {
                return Err(format!("{} is {} instead of {}", register.name(), bits, said.bits));
            }
        }
        for register in Register::CALLEE_SAVED {
            let Register::General(i) = register else { continue };
            let i = usize::from(i);
            let kept = state.general[i] == run.state.general[i];
            if !kept && trace.spoiled.is_none() {
                return Err(format!("{} is not kept", register.name()));
            }
            if kept && trace.spoiled == Some(register) {
                return Err(format!("{} is kept", register.name()));
            }
        }
        Ok(())
    }

    /// Is every word of the world as the interpreter left it?
    fn same_memory(&self, input: &Input, trace: &Trace, run: &FunctionRun, memory: &[u8]) -> Result<(), String> {
        let comparison = self.comparison(input);
        let changes: BTreeMap<u64, &Change> = trace.changes.iter().map(|c| (c.address, c)).collect();
        let mut rest = memory;
        for block in &run.blocks {
            let (now, others) = rest.split_at(block.bytes.len().min(rest.len()));
            rest = others;
            if is_stack(block.address) || block.access != Access::Write {
                continue;
            }
            let words = now.chunks_exact(8).zip(block.bytes.chunks_exact(8));
            for (address, (now, before)) in (block.address..).step_by(8).zip(words) {
                let (now, before) = (word(now), word(before));
                let (said, mask) = changes.get(&address).map_or((before, 0xff), |change| (change.now, change.mask));
                if comparison.word_differs(address, said, now, mask, [trace, trace]).is_some() {
                    return Err(format!("{now:#x} instead of {said:#x} at {address:#x}"));
                }
            }
        }
        Ok(())
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::{Edge, Function, LineTable, Point, PointId, Signature, Surroundings, Value};
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Instant;

    /// `int f(int n)` with this graph and this code.
    fn function(points: Vec<Point>, code: &[u8]) -> Function {
        let value = |i| Value { place: Place::Register(Register::General(i)), bytes: 4, boolean: false, narrow: None };
        Function {
            source_types: Default::default(),
            name: "f".to_string(),
            points,
            objects: BTreeMap::new(),
            signature: Some(Signature { arguments: vec![value(7)], results: vec![value(0)], ..Signature::default() }),
            adopted: Default::default(),
            source: None,
            same_source: None,
            parameters: Vec::new(),
            callees: BTreeMap::new(),
            truths: Default::default(),
            volatile: Default::default(),
            unoptimised: false,
            alignments: Default::default(),
            likely_alignments: Default::default(),
            paddings: Default::default(),
            undescribed_frame: false,
            local_ends: Default::default(),
            passed: Default::default(),
            pointer_calls: BTreeMap::new(),
            defined: BTreeSet::new(),
            locals: Vec::new(),
            lines: LineTable::default(),
            contracts: Default::default(),
            hash: String::new(),
            surroundings: Surroundings { code: Some(code.into()), ..Surroundings::default() },
            undefined: Default::default(),
            assert_texts: Default::default(),
            folded: None,
        }
    }

    fn arena() -> Arena {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        arena
    }

    /// Returns a constant; `code` should do the same.
    fn returns(arena: &mut Arena, constant: u64, code: &[u8]) -> Function {
        let value = arena.bv(64, constant);
        let rax = Register::General(0).term(arena);
        let var = arena.as_var(rax).expect("a register is a variable");
        function(vec![Point { address: 0, ops: vec![(0, Op::Set { var, value })], next: Next::Return }], code)
    }

    fn refuted(arena: &Arena, original: &Function, candidate: &Function) -> Option<Refutation> {
        let mut runner = Runner::new(arena, original, candidate);
        runner.random(arena, 1, 0..20, 100_000, Instant::now() + Duration::from_secs(20))
    }

    const FIVE: &[u8] = &[0xb8, 5, 0, 0, 0, 0xc3]; // mov eax, 5; ret
    const SIX: &[u8] = &[0xb8, 6, 0, 0, 0, 0xc3];

    #[test]
    fn the_cpu_confirms() {
        let mut arena = arena();
        let (five, six) = (returns(&mut arena, 5, FIVE), returns(&mut arena, 6, SIX));
        match refuted(&arena, &five, &six) {
            Some(Refutation::Different(witness)) => {
                assert_eq!(witness.replayed, ["interpreter", "cpu"]);
                assert_eq!([&witness.original.summary, &witness.candidate.summary], ["returns 5", "returns 6"]);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn code_that_does_something_else_makes_it_a_dispute() {
        let mut arena = arena();
        let (five, six) = (returns(&mut arena, 5, FIVE), returns(&mut arena, 6, FIVE));
        match refuted(&arena, &five, &six) {
            Some(Refutation::Disputed(what)) => assert_eq!(what, "the candidate: rax is 0x5 instead of 0x6"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_run_that_never_ends_is_a_difference() {
        let mut arena = arena();
        let five = returns(&mut arena, 5, FIVE);
        let edge = Edge { guard: arena.bool(true), target: PointId(0) };
        let endless = function(vec![Point { address: 0, ops: vec![], next: Next::Edges(vec![edge]) }], &[0xeb, 0xfe]);
        match refuted(&arena, &five, &endless) {
            Some(Refutation::Different(witness)) => {
                assert_eq!(witness.candidate.summary, "runs for ever");
                assert_eq!(witness.replayed, ["interpreter", "cpu"]);
            }
            other => panic!("{other:?}"),
        }
    }
}
