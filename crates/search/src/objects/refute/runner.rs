//! Runs of the two programs of a pair on one input.

mod inference;

use super::compare::{Comparison, Difference};
use super::repair::is_near;
use super::replay::Refutation;
use super::samples::{Paths, path_of, usual_pages};
use crate::objects::constants::Constants;
use crate::objects::inputs::{Argument, Ingredients, Input, arguments, memory_at_start};
use crate::objects::start_state::is_named;
use crate::{Native, StartState};
use interpreter::{
    BUFFER_SPACING, ByteUse, Called, Callees, Cells, Effects, End, Faults, Layout, Memory, Pages, Program,
    STACK_ARGUMENTS, Seed, Situation, Start, Target, Trace, Watch, is_stack, run,
};
use kernel::Expression;
use program::contract::Fixed;
use program::{FaultKind, Function, Object, ObjectKind, Op, Place, Register, Side};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use term::{Arena, Bits, VarId};

/// Who says what the arguments of a run are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    /// The search: one that no declaration describes may be of a narrower type.
    Guessed,
    /// The user.
    Given,
}

/// Runs the two programs of a pair on inputs.
pub(crate) struct Runner<'a> {
    pub(crate) functions: [&'a Function; 2],
    programs: [Program<'a>; 2],
    pub(crate) layout: Layout<'a>,
    pub(super) callees: Callees<'a>,
    cells: [Cells; 2],
    pub(super) memories: [Memory; 2],
    /// Memory in which nothing ran.
    untouched: Memory,
    pub(super) constants: Constants,
    pub(crate) arguments: Vec<Argument>,
    /// Addresses of named objects.
    pub(super) objects: Vec<u64>,
    /// Addresses of objects to which memory may point: those of other files, and statics whose address is taken.
    targets: Vec<u64>,
    places: FxHashMap<VarId, u64>,
    /// Do the programs compute with floating-point numbers?
    floats: bool,
    /// Does one of them have a loop?
    loops: bool,
    /// Does the candidate keep a static variable in another form? What its bytes mean is then not known.
    reshaped: bool,
    /// Defined runs of the original that reached an exit or went round in circles.
    pub evidence: usize,
    /// Points entered so far.
    pub steps: usize,
    /// Did the original's last run use as an address what is none?
    went_wild: bool,
    /// Inputs tried so far.
    pub runs: usize,
    /// Why runs of the original were no evidence, by count.
    rejected: BTreeMap<String, usize>,
    /// Paths of the random inputs tried so far on which the original's run is defined.
    pub(super) paths: Paths,
    /// The path of the last input, if it is so.
    path: Option<u64>,
    /// Pages that sandboxes have.
    pub(super) usual_pages: BTreeSet<u64>,
    /// Who says what the arguments are.
    values: Values,
    /// May code of the programs run on the CPU?
    pub native: Native,
    /// What to note on the way, on each side.
    pub watches: Option<[Watch; 2]>,
    /// What start states are compared.
    condition: Vec<Expression>,
    /// Are floating-point numbers taken for real ones? Runs compute with what they are.
    real: bool,
}

/// An input on which the programs disagree.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub input: Input,
    pub difference: Difference,
}

/// What both programs do on an input.
#[derive(Debug)]
pub(crate) enum Judged {
    /// The same, in so many points.
    Agrees { steps: usize },
    /// Something else.
    Differs(Box<Found>),
    /// The original's run says nothing.
    Open,
}

/// What a run depends on besides side and input.
struct Conditions<'r, 'a> {
    magnitude: u64,
    earlier: &'r [Called<'a>],
    fuel: usize,
    pages: Option<Pages>,
    garbage: Garbage,
    faults: Faults,
}

/// What a side finds where nobody has defined anything.
#[derive(Clone, Copy)]
enum Garbage {
    Usual,
    Other(u64),
}

/// A byte of garbage is the same by chance once in 256 times; in so many other runs it is not.
const OTHER_GARBAGE: u64 = 4;

/// Why an input does not count that a condition excludes.
const OUTSIDE: &str = "the condition does not hold at the start";

/// Points that the candidate may enter in any case.
const CANDIDATE_FUEL: usize = 2000;

/// A place to which no input points.
const RESULT_PLACE: u64 = 0x2d00_0000_0000;

/// Results whose sign alone is defined come in these sizes: a difference must show in all.
const MAGNITUDES: [u64; 3] = [1, 0x21, 0x1234_5678];

impl<'a> Runner<'a> {
    pub fn new(arena: &Arena, original: &'a Function, candidate: &'a Function) -> Runner<'a> {
        let functions = [original, candidate];
        let places = FxHashMap::default();
        let programs = functions.map(|function| Program::new(arena, function));
        let layout = Layout::new(arena, functions, &places);
        let cells = [0, 1].map(|i| Cells::new(&programs[i], &layout));
        let named = |kind: &ObjectKind| matches!(kind, ObjectKind::Named { function: false, local: false, .. });
        let objects = layout.objects().iter().filter(|p| named(&p.object.kind)).map(|p| p.start).collect();
        let reached = |p: &&interpreter::Placed| {
            let data = matches!(p.object.kind, ObjectKind::Named { function: false, .. });
            data && !p.object.unaliased && p.object.content.is_none()
        };
        let targets = layout.objects().iter().filter(reached).map(|p| p.start).collect();
        let floats = programs.iter().any(|p| p.computes_floats(arena));
        Runner {
            functions,
            programs,
            floats,
            loops: functions.iter().any(|f| program::order::has_cycle(f)),
            reshaped: has_reshaped_statics(functions),
            layout,
            callees: Callees::new(functions),
            cells,
            memories: [Memory::default(), Memory::default()],
            untouched: Memory::default(),
            constants: Constants::of(arena, functions),
            arguments: arguments(arena, original),
            objects,
            targets,
            places,
            evidence: 0,
            steps: 0,
            went_wild: false,
            runs: 0,
            rejected: BTreeMap::new(),
            paths: Paths::default(),
            path: None,
            usual_pages: usual_pages(),
            values: Values::Guessed,
            native: Native::Allowed,
            watches: None,
            condition: Vec::new(),
            real: false,
        }
    }

    /// Are results of runs not what the proof would be about, because floating-point numbers are taken for real ones?
    pub(crate) fn computes_otherwise(&self) -> bool {
        self.real
    }

    /// Random inputs number `rounds`, until one tells the programs apart, time is up, or `steps` points were entered.
    pub fn random(
        &mut self,
        arena: &Arena,
        seed: u64,
        rounds: std::ops::Range<u64>,
        steps: usize,
        until: Instant,
    ) -> Option<Refutation> {
        let limit = self.steps.saturating_add(steps);
        for round in rounds {
            if self.steps >= limit || Instant::now() >= until {
                return None;
            }
            let input = self.random_input(arena, Seed(seed), round);
            self.path = None;
            if let Some(found) = self.try_input(arena, &input) {
                return Some(self.witness(arena, found, until));
            }
            if let Some(path) = self.path.take().filter(|path| self.paths.wants(*path)) {
                let memory = self.has_usual_memory();
                self.paths.add(path, round, memory);
            }
            // What random words lead nowhere costs many runs, so it is done where the first inputs have told nothing.
            if round >= crate::budgets::FIRST_ROUNDS && round.is_multiple_of(4) && self.went_wild {
                let trace = self.traces_of(arena, Side::Original, &input);
                let better = self.repaired(arena, &input, &trace);
                if let Some(found) = better.and_then(|better| self.try_input(arena, &better)) {
                    return Some(self.witness(arena, found, until));
                }
            }
        }
        None
    }

    /// The start states that concern the original, until one tells the programs apart or time is up.
    pub fn start_states(&mut self, arena: &Arena, states: &[StartState], until: Instant) -> Option<Refutation> {
        self.values = Values::Given;
        let refutation = self.try_states(arena, states, until);
        self.values = Values::Guessed;
        refutation
    }

    fn try_states(&mut self, arena: &Arena, states: &[StartState], until: Instant) -> Option<Refutation> {
        let original = self.functions[0];
        for state in states.iter().filter(|state| state.concerns(&original.name)) {
            let mut input = self.random_input(arena, Seed(state.seed), 0);
            self.apply(state, &mut input);
            if Instant::now() >= until {
                return None;
            }
            if let Some(found) = self.try_input(arena, &input) {
                return Some(self.witness(arena, found, until));
            }
        }
        None
    }

    /// Has the original an argument of this name, or at this place?
    pub(crate) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| is_named(name, argument.place, &self.functions[0].parameters))
    }

    /// Puts a start state into an input.
    pub(crate) fn apply(&self, state: &StartState, input: &mut Input) {
        state.apply(input, &self.arguments, &self.functions[0].parameters, &self.layout);
    }

    pub(crate) fn random_input(&self, arena: &Arena, seed: Seed, round: u64) -> Input {
        let fixed = |value: &Fixed| self.fixed_value(arena, value);
        let (arguments, constants) = (self.arguments.as_slice(), &self.constants);
        let ingredients = Ingredients {
            arguments,
            constants,
            objects: &self.objects,
            targets: &self.targets,
            fixed: &fixed,
            loops: self.loops,
        };
        let mut input = Input::random(&ingredients, seed, round);
        self.project(arena, &mut input);
        input
    }

    fn fixed_value(&self, arena: &Arena, value: &Fixed) -> Option<u64> {
        match value {
            Fixed::Number(number) => Some(*number),
            Fixed::Address(name, offset) => {
                let base = self.layout.address(arena.find_var(name)?)?;
                Some(base.wrapping_add(*offset as u64))
            }
        }
    }

    /// The commonest reason why a run of the original was no evidence.
    pub fn commonest_rejection(&self) -> Option<&str> {
        self.rejected.iter().max_by_key(|(_, count)| **count).map(|(what, _)| what.as_str())
    }

    /// The disagreement on an input, if there is one and the original's run is defined.
    pub fn try_input(&mut self, arena: &Arena, input: &Input) -> Option<Found> {
        self.place(arena, input);
        if !self.keeps_restrict(input) || self.points_to_statics(input) {
            return None;
        }
        if !self.satisfies(arena, input) {
            *self.rejected.entry(OUTSIDE.to_string()).or_default() += 1;
            return None;
        }
        let (difference, traces) = self.try_magnitude(arena, input, MAGNITUDES[0])?;
        if may_be_pure(&traces[0]) {
            self.try_magnitude(arena, &without_effects(input, &traces[0]), MAGNITUDES[0])?;
        }
        if !odd_bytes(&traces).is_empty() && self.functions.iter().any(|f| f.surroundings.truth_values) && !input.sane {
            return self.with_truth_values(arena, input, &traces);
        }
        if traces.iter().any(|t| t.sign_only) {
            // What one side returns may be what the library would have returned.
            let returned = traces.iter().map(|t| u64::from((t.results[0].bits.low() as i32).unsigned_abs()));
            let returned: Vec<u64> = returned.filter(|magnitude| *magnitude != 0).collect();
            for magnitude in MAGNITUDES[1..].iter().chain(&returned) {
                self.try_magnitude(arena, input, *magnitude)?;
            }
        }
        if self.relies_on_result_place(arena, input, &traces) {
            return None;
        }
        let guessed =
            |i: &usize| self.values == Values::Guessed && self.arguments[*i].guessed && self.arguments[*i].bytes == 8;
        let doubtful: Vec<usize> = (0..self.arguments.len()).filter(guessed).collect();
        if doubtful.iter().any(|i| self.relies_on_type(arena, input, *i))
            || self.relies_on_types(arena, input, &doubtful)
        {
            return None;
        }
        Some(Found { input: input.clone(), difference })
    }

    /// Does an argument point to a static of the file? Compilers know better than we do which of those a pointer can reach. The
    /// ranges of sections are our own, and no pointer leads there.
    pub(super) fn points_to_statics(&self, input: &Input) -> bool {
        if input.values.iter().any(|value| self.layout.is_nowhere(value.low())) {
            return true;
        }
        let is_static = |kind: &ObjectKind| matches!(kind, ObjectKind::Named { local: true, function: false, .. });
        let found = |value: &Bits| self.layout.object_at(value.low()).is_some_and(|(p, _)| is_static(&p.object.kind));
        self.arguments.iter().zip(&input.values).any(|(a, value)| a.bytes == 8 && a.choices.is_empty() && found(value))
    }

    /// Is nothing else near what a `restrict` pointer points to?
    pub(super) fn keeps_restrict(&self, input: &Input) -> bool {
        let pointers: Vec<(u64, bool)> = self
            .arguments
            .iter()
            .zip(&input.values)
            .filter(|(a, _)| a.pointer)
            .map(|(a, value)| (value.low(), a.restrict))
            .collect();
        let near = |a: u64, b: u64| a.abs_diff(b) < BUFFER_SPACING && a.min(b) >= 4096;
        let pairs = (1..pointers.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        !pairs.into_iter().any(|(i, j)| {
            let ((a, first), (b, second)) = (pointers[i], pointers[j]);
            (first || second) && near(a, b)
        })
    }

    /// Could an argument of unknown type be of a narrow one, so that this value of it never comes? So it is if the programs
    /// agree about the value of such a type that has the same low bits, unless both look at more than those.
    fn relies_on_type(&mut self, arena: &Arena, input: &Input, i: usize) -> bool {
        let value = input.values[i].low();
        let (byte, short) = (value as u8, value as u16);
        let truths = [u64::from(value != 0), value & 1];
        let numbers = [u64::from(byte), byte as i8 as u64, u64::from(short), short as i16 as u64];
        truths.into_iter().chain(numbers).filter(|v| *v != value && value > 1).any(|v| {
            let mut other = input.clone();
            other.set(&self.arguments, i, Bits::new(64, v));
            // What a condition excludes tells nothing about types.
            self.satisfies(arena, &other)
                && self.try_magnitude(arena, &other, MAGNITUDES[0]).is_none()
                && self.may_be_alike(arena, input, &other)
        })
    }

    /// The same for several arguments at once: all those that one of the programs does not look at beyond a byte, or two.
    fn relies_on_types(&mut self, arena: &Arena, input: &Input, doubtful: &[usize]) -> bool {
        let extended: [fn(u64) -> u64; 4] =
            [|v| u64::from(v as u16), |v| v as i16 as u64, |v| u64::from(v as u8), |v| v as i8 as u64];
        extended.into_iter().any(|extended| {
            let (mut narrow, mut changed) = (input.clone(), 0);
            for i in doubtful {
                let value = narrow.values[*i].low();
                let mut other = narrow.clone();
                other.set(&self.arguments, *i, Bits::new(64, extended(value)));
                if extended(value) != value && value > 1 && self.may_be_alike(arena, &narrow, &other) {
                    (narrow, changed) = (other, changed + 1);
                }
            }
            changed > 1 && self.satisfies(arena, &narrow) && self.try_magnitude(arena, &narrow, MAGNITUDES[0]).is_none()
        })
    }

    /// Does one of the programs not tell these inputs apart?
    fn may_be_alike(&mut self, arena: &Arena, input: &Input, other: &Input) -> bool {
        // What callees write depends on where their arguments point.
        let [here, there] = [input, other].map(|input| Input { effects: Effects::Quiet, ..input.clone() });
        let (here, there) = (self.traces(arena, &here), self.traces(arena, &there));
        let undefined = there[0].undefined.is_some() || !matches!(there[0].end, End::Return | End::NoReturn);
        let tells = |side: usize| self.comparison(other).traces(&here[side], &there[side]).is_some();
        !(undefined || tells(0) && tells(1))
    }

    /// Could the first argument, of which nothing is known, be where the result goes, to which nothing else points? Both functions
    /// return it then, and the programs agree where it is elsewhere.
    fn relies_on_result_place(&mut self, arena: &Arena, input: &Input, traces: &[Trace<'a>; 2]) -> bool {
        let first = |a: &Argument| a.guessed && a.place == Place::Register(Register::ARGUMENTS[0]);
        let Some(i) = self.arguments.iter().position(first).filter(|_| self.values == Values::Guessed) else {
            return false;
        };
        let value = input.values[i].low();
        if value < 4096 || traces.iter().any(|trace| trace.results[0].bits.low() != value) {
            return false;
        }
        let mut apart = input.clone();
        apart.set(&self.arguments, i, Bits::new(64, RESULT_PLACE));
        self.satisfies(arena, &apart) && self.try_magnitude(arena, &apart, MAGNITUDES[0]).is_none()
    }

    /// The same with bytes that would do as truth values: a byte may hold one, and then it is 0 or 1.
    fn with_truth_values(&mut self, arena: &Arena, input: &Input, traces: &[Trace<'a>; 2]) -> Option<Found> {
        let mut sane = input.clone();
        sane.sane = true;
        sane.effects = Effects::Quiet;
        let looked_at = self.looked_at(input);
        for at in odd_bytes(traces).into_iter().filter(|at| !is_stack(*at) || *at >= STACK_ARGUMENTS) {
            sane.fixed.insert(at, looked_at.get(&at).copied().unwrap_or(0) & 1);
        }
        let found = self.try_input(arena, &sane)?;
        // The difference is there without odd bytes, so it does not come from them.
        odd_bytes(&self.traces(arena, &sane)).is_empty().then_some(found)
    }

    fn try_magnitude(&mut self, arena: &Arena, input: &Input, magnitude: u64) -> Option<(Difference, [Trace<'a>; 2])> {
        let original = self.run(arena, Side::Original, input, magnitude);
        self.steps += original.steps;
        self.runs += 1;
        self.went_wild = original.wild.is_some();
        if let Some(what) = &original.undefined {
            *self.rejected.entry(what.clone()).or_default() += 1;
            return None;
        }
        if !matches!(original.end, End::Return | End::NoReturn) {
            self.evidence += usize::from(original.end == End::Fuel);
            return None;
        }
        self.evidence += 1;
        if original.doubtful.is_some() {
            return None;
        }
        let candidate = self.follow(arena, input, magnitude, &original, (Garbage::Usual, Faults::End));
        self.steps += candidate.steps;
        self.path = Some(path_of([&original, &candidate]));
        if self.real {
            return None;
        }
        // What a function that we cannot evaluate would return is not ours to say, if one side knows better.
        let made_up = |trace: &Trace| trace.made_up.iter().copied().collect::<std::collections::BTreeSet<u64>>();
        let difference = self.comparison(input).traces(&original, &candidate)?;
        // Compilers know what local functions really do, and what they are given.
        let private = self.functions.iter().any(|f| f.surroundings.private);
        // What nobody but a linked file calls, a compiler calls as it likes, and for no more values than it needs to.
        let faults = matches!(candidate.end, End::BadAddress(..) | End::Fault(..));
        let kept = || !faults && self.functions.iter().all(|f| looks_unoptimised(arena, f));
        let changed = self.functions.iter().any(|f| f.surroundings.unseen_callers) && !kept();
        if self.reshaped || private || changed || original.local_calls || candidate.local_calls {
            return None;
        }
        if made_up(&original) != made_up(&candidate) {
            return None;
        }
        // An optimiser leaves out what nobody needs, also where that would fault.
        let faults = matches!(candidate.end, End::BadAddress(..) | End::Fault(FaultKind::Divide, _));
        if faults && !self.functions[0].is_unoptimised() && looks_unoptimised(arena, self.functions[1]) {
            let without = self.follow(arena, input, magnitude, &original, (Garbage::Usual, Faults::GoOn));
            self.steps += without.steps;
            self.comparison(input).traces(&original, &without)?;
        }
        let difference = self.without_garbage(arena, input, magnitude, [&original, &candidate], difference)?;
        Some((difference, [original, candidate]))
    }

    pub(super) fn comparison<'r>(&'r self, input: &Input) -> Comparison<'r, 'a> {
        let aligned_input = self.is_aligned(input);
        let (functions, layout, floats) = (self.functions, &self.layout, self.floats);
        let result = self.arguments.iter().zip(&input.values).find(|(a, _)| a.result).map(|(_, value)| value.low());
        Comparison { functions, layout, floats, aligned_input, result, untouched_counts: true }
    }

    /// The disagreement of two runs without what the candidate found where nobody has defined anything: members of a returned
    /// structure that the original leaves as they are, what an index reached that has left a member of a local one, and locals
    /// that a visible callee fills.
    fn without_garbage(
        &mut self,
        arena: &Arena,
        input: &Input,
        magnitude: u64,
        traces: [&Trace<'a>; 2],
        difference: Difference,
    ) -> Option<Difference> {
        let [original, candidate] = traces;
        // A function of the file that is given a local writes there, but runs do not know what.
        let given = |call: &Called| call.registers.iter().any(|passed| is_stack(passed.bits.low()));
        let filled = original.calls.iter().any(|call| call.callee.defined && given(call));
        let unknown = filled || original.computed_locals;
        if !unknown && !self.arguments.iter().any(|a| a.result) {
            return Some(difference);
        }
        let stays = (0..OTHER_GARBAGE).all(|n| {
            let again = self.follow(arena, input, magnitude, original, (Garbage::Other(n), Faults::End));
            let other = self.comparison(input).traces(original, &again);
            other.is_some_and(|other| other.summaries[1] == difference.summaries[1])
        });
        if stays {
            return Some(difference);
        }
        if unknown {
            return None;
        }
        Comparison { untouched_counts: false, ..self.comparison(input) }.traces(original, candidate)
    }

    /// Are all addresses among the arguments multiples of 8?
    fn is_aligned(&self, input: &Input) -> bool {
        self.arguments.iter().zip(&input.values).all(|(argument, value)| {
            let address = argument.pointer || (argument.bytes == 8 && value.low() >= 1 << 20);
            !address || value.low().is_multiple_of(8)
        })
    }

    /// The run of one side on an input, without calls to be like.
    pub(super) fn traces_of(&mut self, arena: &Arena, side: Side, input: &Input) -> Trace<'a> {
        self.run(arena, side, input, MAGNITUDES[0])
    }

    /// Where the original's last run read a word from which an address may have been made.
    pub(super) fn word_near(&self, input: &Input, address: u64) -> Option<u64> {
        let start = start(&self.layout, &self.constants, self.floats, Side::Original, input);
        self.memories[0].words_read(&start).rev().find(|(_, word)| is_near(address, *word)).map(|(at, _)| at)
    }

    /// Both runs on an input, whatever they do.
    pub(crate) fn traces(&mut self, arena: &Arena, input: &Input) -> [Trace<'a>; 2] {
        let original = self.run(arena, Side::Original, input, MAGNITUDES[0]);
        let candidate = self.behind(arena, input, &original);
        [original, candidate]
    }

    /// The candidate's run behind that of the original.
    pub(super) fn behind(&mut self, arena: &Arena, input: &Input, original: &Trace<'a>) -> Trace<'a> {
        self.follow(arena, input, MAGNITUDES[0], original, (Garbage::Usual, Faults::End))
    }

    /// The registers of a side at entry, left where [`Runner::register`] finds them.
    pub(super) fn enter(&mut self, arena: &Arena, side: Side, input: &Input) {
        self.run_with(
            arena,
            side,
            input,
            Conditions {
                magnitude: MAGNITUDES[0],
                earlier: &[],
                fuel: 0,
                pages: None,
                garbage: Garbage::Usual,
                faults: Faults::End,
            },
        );
    }

    /// A register after the last run of a side.
    pub(super) fn register(&self, side: Side, register: Register) -> Bits {
        self.cells[side.index()].register(register)
    }

    /// What the last run of a side accessed, as it was at the start, and the stack.
    pub(super) fn initial_blocks(&self, side: Side, input: &Input) -> Vec<(u64, Vec<u8>)> {
        self.memories[side.index()].initial_blocks(&start(&self.layout, &self.constants, self.floats, side, input))
    }

    /// The run of one side, without calls to be like.
    fn run(&mut self, arena: &Arena, side: Side, input: &Input, magnitude: u64) -> Trace<'a> {
        let fuel = if side == Side::Original { input.fuel } else { CANDIDATE_FUEL + 3 * input.fuel };
        self.run_with(
            arena,
            side,
            input,
            Conditions { magnitude, earlier: &[], fuel, pages: None, garbage: Garbage::Usual, faults: Faults::End },
        )
    }

    /// The candidate's run behind that of the original. Pages that the original does not touch need not be there, nor does an
    /// argument say so, unless the original has called somebody who may touch more.
    fn follow(
        &mut self,
        arena: &Arena,
        input: &Input,
        magnitude: u64,
        original: &Trace<'a>,
        (garbage, faults): (Garbage, Faults),
    ) -> Trace<'a> {
        let unknown = |call: &Called| {
            let callee = &call.callee;
            callee.library.is_none() && !callee.defined && !callee.own && callee.local.is_none()
        };
        let ended = matches!(original.end, End::Return | End::NoReturn) && original.undefined.is_none();
        let alone = original.made_up.is_empty() && !original.local_calls && original.calls.iter().all(unknown);
        let pages = (ended && alone).then(|| {
            let mut pages = self.memories[0].pages();
            input.values.iter().for_each(|value| pages.add_behind(value.low()));
            pages
        });
        let fuel = CANDIDATE_FUEL + 3 * input.fuel;
        let conditions = Conditions { magnitude, earlier: &original.calls, fuel, pages, garbage, faults };
        self.run_with(arena, Side::Candidate, input, conditions)
    }

    /// Puts objects where an input has them.
    fn place(&mut self, arena: &Arena, input: &Input) {
        if input.places != self.places {
            let free = self.layout.free;
            self.layout = Layout::new(arena, self.functions, &input.places);
            self.layout.free = free;
            self.cells = [0, 1].map(|i| Cells::new(&self.programs[i], &self.layout));
            self.places = input.places.clone();
        }
    }

    fn run_with(&mut self, arena: &Arena, side: Side, input: &Input, conditions: Conditions<'_, 'a>) -> Trace<'a> {
        self.place(arena, input);
        let i = side.index();
        let mut arguments = self.registers(side, input);
        if side == Side::Candidate {
            arguments.extend(self.promoted(input));
        }
        let reachable = self.reachable(input);
        let mut start = start(&self.layout, &self.constants, self.floats, side, input);
        if let Garbage::Other(n) = conditions.garbage {
            start.garbage = start.garbage.split(0x07_4e5 + n);
        }
        let situation = Situation {
            arena,
            start,
            callees: &self.callees,
            side,
            arguments: &arguments,
            reachable: &reachable,
            scripts: &input.scripts,
            effects: input.effects,
            magnitude: conditions.magnitude,
            earlier: conditions.earlier,
            fuel: conditions.fuel,
            watch: self.watches.as_ref().map(|w| &w[i]),
            aligned: self.is_aligned(input),
            pages: conditions.pages.as_ref(),
            faults: conditions.faults,
        };
        run(&self.programs[i], &mut self.cells[i], &mut self.memories[i], situation)
    }

    /// The registers of a side that hold arguments.
    pub(super) fn registers(&self, side: Side, input: &Input) -> Vec<(Register, Bits)> {
        let moved = self.functions[0].contract().map(|c| &c.moved);
        let mut out = Vec::with_capacity(self.arguments.len());
        for (argument, value) in self.arguments.iter().zip(&input.values) {
            let Place::Register(register) = argument.place else { continue };
            let to = match moved.and_then(|m| m.get(&register)) {
                Some(to) if side == Side::Candidate => *to,
                _ => Some(register),
            };
            out.extend(to.map(|register| (register, *value)));
        }
        out
    }

    /// The registers in which the candidate takes what the original loads through an argument; its memory is that of the start then.
    pub(super) fn promoted(&mut self, input: &Input) -> Vec<(Register, Bits)> {
        let Some(contract) = self.functions[0].contract() else { return Vec::new() };
        let memory = &mut self.memories[Side::Candidate.index()];
        memory.reset();
        let start = start(&self.layout, &self.constants, self.floats, Side::Candidate, input);
        let mut out = Vec::new();
        for (register, loaded) in &contract.promoted {
            let of = |a: &(&Argument, &Bits)| a.0.place == Place::Register(loaded.argument);
            let Some((_, value)) = self.arguments.iter().zip(&input.values).find(of) else { continue };
            let mut held = value.low();
            for (n, offset) in loaded.offsets.iter().enumerate() {
                let bytes = if n + 1 == loaded.offsets.len() { loaded.bytes.min(8) } else { 8 };
                held = memory.peek(&start, held.wrapping_add(*offset as u64), bytes);
            }
            out.push((*register, Bits::new(64, held)));
        }
        out
    }

    /// What callees can reach through the caller's pointers.
    fn reachable(&self, input: &Input) -> Vec<u64> {
        let arguments = self.arguments.iter().zip(&input.values).filter(|(a, _)| a.bytes == 8 && !a.restrict);
        arguments.flat_map(|(_, value)| [0, 8].map(|offset| value.low().wrapping_add(offset))).collect()
    }

    /// Initial bytes that the last runs looked at.
    pub(super) fn looked_at(&self, input: &Input) -> BTreeMap<u64, u8> {
        let start = start(&self.layout, &self.constants, self.floats, Side::Original, input);
        self.memories.iter().flat_map(|memory| memory.looked_at(&start)).collect()
    }
}

/// Memory at the start of a side's run.
fn start<'r>(layout: &'r Layout, constants: &'r Constants, floats: bool, side: Side, input: &'r Input) -> Start<'r> {
    memory_at_start(layout, constants.words(), floats, side, input)
}

/// Does the original look at the result of a callee that wrote to the world? Such a function may be declared `pure`, which
/// debug information does not say: then it writes nothing.
fn may_be_pure(original: &Trace) -> bool {
    let writes = |call: &Called| call.writes.iter().any(|write| matches!(write.target, Target::World(_)));
    original.calls.iter().any(|call| call.result_used && writes(call))
}

/// The same, where callees whose results the original looks at leave the world alone.
fn without_effects(input: &Input, original: &Trace) -> Input {
    let mut quiet = input.clone();
    if quiet.effects == Effects::Writes {
        quiet.effects = Effects::FillsIfLookedAt;
    }
    let looked_at = |name: &str| original.calls.iter().any(|call| call.result_used && *call.callee.name == *name);
    for script in quiet.scripts.iter_mut().filter(|script| looked_at(&script.callee)) {
        script.writes.retain(|write| !matches!(write.target, Target::World(_)));
    }
    quiet
}

/// Bytes that could be truth values and are not 0 or 1. What one of the programs reads as a signed number is none, unless the
/// lowest bit is taken of it elsewhere.
pub(super) fn odd_bytes(traces: &[Trace; 2]) -> Vec<u64> {
    let all = || traces.iter().flat_map(|t| &t.odd_bytes);
    let taken = |at: u64, wanted: ByteUse| all().any(|(other, taken_for)| *other == at && *taken_for == wanted);
    let may_be_truth = |at: &u64| taken(*at, ByteUse::Cut) || !taken(*at, ByteUse::Signed);
    all().map(|(at, _)| *at).filter(may_be_truth).collect()
}

/// Is this code as no optimiser leaves it, as far as can be seen? Without debug information: it sets up a frame pointer at once.
fn looks_unoptimised(arena: &Arena, function: &Function) -> bool {
    let described = !function.parameters.is_empty() || !function.locals.is_empty();
    let frame = |op: &Op| match op {
        Op::Set { var, value } if Register::of_var(*var) == Some(Register::RBP) => {
            arena.free_vars(*value).iter().any(|v| Register::of_var(*v) == Some(Register::RSP))
        }
        _ => false,
    };
    let entry = function.point(Function::ENTRY);
    function.is_unoptimised() || !described && entry.ops.iter().any(|(_, op)| frame(op))
}

/// Is a static variable of the candidate of another size than the original's, or one that a compiler made of a part? Or is
/// one of the original a part of one that the candidate has?
fn has_reshaped_statics(functions: [&Function; 2]) -> bool {
    let is_static = |object: &&Object| {
        let data = matches!(object.kind, ObjectKind::Named { local: true, function: false, .. });
        data && !object.read_only
    };
    let statics = |side: usize| functions[side].objects.values().filter(is_static);
    let reshaped = |object: &Object| match functions[0].objects.get(&object.var) {
        Some(ours) => ours.size != object.size,
        None => whole_of(&object.name).is_some(),
    };
    let in_parts = |object: &Object| {
        let whole = whole_of(&object.name).filter(|_| !functions[1].objects.contains_key(&object.var));
        whole.is_some_and(|whole| statics(1).any(|other| other.name == whole))
    };
    statics(1).any(reshaped) || statics(0).any(in_parts)
}

/// The name of the variable of which a compiler made this one, if it is a part (`table.0`).
fn whole_of(name: &str) -> Option<&str> {
    let (whole, number) = name.rsplit_once('.')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(whole)
}
