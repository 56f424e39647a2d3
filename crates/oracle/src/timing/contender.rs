//! The contenders of one layout: linked beside each other, with the memory of each start state.

use super::callees::Callees;
use crate::input::Input;
use crate::link::{CannotLink, Linked};
use crate::map;
use crate::places::{File, Places, Region};
use crate::run::{Begin, Role, registers};
use crate::same::both_nan;
use crate::seed::{Garbage, Seed, plausible};
use crate::shape::{Piece, Place};
use crate::world::{Filling, PAGE, World, fixed_zeros, pages_of, zeros};
use native::timing::{Bench, Call, Once, X87};
use native::{Access, Limits, NativeError, Processor, Segment, Stop, Zeros};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Original, candidate, control.
pub(super) const CONTENDERS: usize = 3;

/// Which object each of them is.
const SIDES: [usize; CONTENDERS] = [0, 1, 0];

/// One layout under way.
pub(super) struct Session {
    bench: Bench,
    /// By start state: each contender's call.
    calls: Vec<[Call; CONTENDERS]>,
    callees: Callees,
    /// Those of them that were called.
    called: BTreeSet<String>,
    /// By contender: calls with their number in a round.
    plan: Vec<(usize, usize)>,
}

/// What came of trying start states.
pub(super) struct Tried {
    pub states: Vec<usize>,
    pub left_out: Vec<(usize, String)>,
    pub differing: Vec<usize>,
    pub denormal: Vec<usize>,
}

pub(super) enum Error {
    Link(CannotLink),
    Native(NativeError),
}

/// For many start states in one list.
const LIMITS: Limits = Limits { processor: Duration::from_secs(50), clock: Duration::from_secs(500) };
/// Room for the driver's tables beside the start states' memory.
const TABLES: u64 = 4 << 20;
/// Most calls of a start state in a round: repeated in one go, and one by one.
const MOST_REPEATS: u64 = 10_000;
const MOST_COPIES: u64 = 100;

/// The regions of the contenders: apart from each other, the last bits of the addresses drawn.
fn region(contender: usize, seed: Seed, layout: usize) -> Region {
    // Who comes first changes from layout to layout.
    let at = ((contender + layout) % CONTENDERS) as u64;
    let draw = |key: u64, most: u64| if layout == 0 { 0 } else { seed.number(16 * contender as u64 + key) % most };
    let sections = map::SECTIONS + at * 0x0a00_0000;
    let externs = map::EXTERNS + at * 0x0a00_0000;
    Region {
        stubs: map::STUBS + at * 0x20_0000,
        sections: sections + PAGE * draw(1, 16),
        sections_end: sections + 0x0a00_0000,
        externs: externs + PAGE * draw(2, 16),
        externs_end: externs + 0x0a00_0000,
        table: map::TABLE + at * 0x20_0000,
        skew: draw(3, 64),
    }
}

impl Session {
    /// Links the contenders and starts their sandbox. An error comes with the side that it is about.
    pub fn new(
        files: [&File; 2],
        functions: [&str; 2],
        inputs: &[Input],
        seed: Seed,
        layout: usize,
    ) -> Result<Session, (usize, Error)> {
        let mut linked = Vec::with_capacity(CONTENDERS);
        let mut entries = Vec::with_capacity(CONTENDERS);
        let mut regions = Vec::with_capacity(CONTENDERS);
        for (contender, side) in SIDES.into_iter().enumerate() {
            let failed = |error| (side, Error::Link(error));
            let region = region(contender, seed, layout);
            let places = Places::new(&[files[side]], region).map_err(failed)?;
            if !places.threads.is_empty() {
                return Err(failed(CannotLink("it has thread-local data of other files".to_string())));
            }
            let one = Linked::new(files[side], &places).map_err(failed)?;
            if one.sections.iter().any(|s| s.thread && !s.bytes.is_empty()) {
                return Err(failed(CannotLink("it has thread-local data".to_string())));
            }
            entries.push(one.function(functions[side]).map_err(failed)?);
            linked.push(one);
            regions.push(region);
        }
        let callees = Callees::new(linked.iter().flat_map(|l| l.stubs.values().cloned()));
        let rsp = map::STACK_TOP - if layout == 0 { 0 } else { 64 * (seed.number(7) % 60) };
        let failed = |error| (0, Error::Native(error));
        let mut kept = BTreeMap::new();
        let mut calls = Vec::with_capacity(inputs.len());
        for input in inputs {
            calls.push(calls_of(&linked, &entries, &callees, input, rsp, &mut kept).map_err(failed)?);
        }
        let mut segments = Vec::new();
        let mut pieces: BTreeMap<u64, u64> = callees.pages().map(|page| (page, PAGE)).collect();
        for (one, region) in linked.iter().zip(&regions) {
            segments.extend(one.segments());
            let bytes = callees.code(&one.stubs, region.stubs);
            segments.push(Segment { address: region.stubs, bytes, access: Access::Execute });
            pieces
                .extend(fixed_zeros(one).into_iter().map(|z| (z.address, z.length)).filter(|(_, length)| *length > 0));
        }
        let pages: BTreeSet<u64> = inputs.iter().filter_map(pages_of).flatten().collect();
        let zeros: Vec<Zeros> =
            pieces.into_iter().map(|(address, length)| Zeros { address, length }).chain(zeros(&pages)).collect();
        let room = kept.values().map(|bytes: &Arc<[u8]>| bytes.len() as u64).sum::<u64>() + TABLES;
        let bench = Bench::start(&segments, &zeros, room, map::THREAD_POINTER).map_err(failed)?;
        Ok(Session { bench, calls, callees, called: BTreeSet::new(), plan: Vec::new() })
    }

    /// Names of callees that were called and only stand for others.
    pub fn stand_ins(&self) -> Vec<String> {
        self.callees.stand_ins().into_iter().filter(|name| self.called.contains(name)).collect()
    }

    /// Tries these start states; afterwards a call's memory is what must be put back before it.
    pub fn try_all(&mut self, states: &[usize], results: &[Piece], limits: Limits) -> Result<Tried, NativeError> {
        let mut tried = Tried { states: Vec::new(), left_out: Vec::new(), differing: Vec::new(), denormal: Vec::new() };
        let mut dirty = BTreeSet::new();
        let mut content: BTreeMap<u64, Arc<[u8]>> = BTreeMap::new();
        for state in states {
            let mut ends = Vec::with_capacity(CONTENDERS);
            let mut why = None;
            for contender in 0..CONTENDERS {
                let call = &mut self.calls[*state][contender];
                for (address, bytes) in &call.memory {
                    if content.entry(*address).or_insert_with(|| bytes.clone()) != bytes {
                        dirty.insert(*address);
                    }
                }
                let once = self.bench.once(call, limits)?;
                let changed = changed(&mut self.bench, call)?;
                self.called.extend(changed.iter().filter_map(|(at, _)| self.callees.at(*at)).map(str::to_string));
                if !once.returned {
                    why.get_or_insert_with(|| {
                        format!("the {} {}", ["original", "candidate"][SIDES[contender]], end(&once))
                    });
                }
                call.repeats = if changed.is_empty() { u32::MAX } else { 1 };
                call.x87 = if once.processor.x87.is_some() { X87::Result } else { X87::Empty };
                let shared =
                    changed.iter().filter(|(at, _)| pages_of_inputs().contains(at)).cloned().collect::<Vec<_>>();
                dirty.extend(changed.into_iter().map(|(at, _)| at));
                ends.push((once, shared));
            }
            if let Some(why) = why {
                tried.left_out.push((*state, why));
                continue;
            }
            tried.states.push(*state);
            if ends.iter().any(|(once, _)| once.denormal) {
                tried.denormal.push(*state);
            }
            let returned = |contender: usize| returned(results, &ends[contender].0.processor);
            if ends[0].1 != ends[1].1 || !same(&returned(0), &returned(1)) {
                tried.differing.push(*state);
            }
        }
        for call in self.calls.iter_mut().flatten() {
            call.memory.retain(|(address, _)| dirty.contains(address));
        }
        Ok(tried)
    }

    /// Ticks of a single call in each of these start states: the slower contender's.
    pub fn ticks(&mut self, states: &[usize]) -> Result<Vec<(usize, u64)>, NativeError> {
        let mut out = Vec::with_capacity(states.len());
        for state in states {
            let once: Vec<Call> = self.calls[*state].iter().map(|call| Call { repeats: 1, ..call.clone() }).collect();
            let contenders: Vec<Vec<&Call>> = once.iter().take(2).map(|call| vec![call]).collect();
            let rounds = self.bench.time(&contenders, 5, *state as u64, LIMITS)?;
            let median = |contender: usize| {
                let mut ticks: Vec<u64> = rounds.iter().map(|round| round[contender]).collect();
                ticks.sort_unstable();
                ticks[ticks.len() / 2]
            };
            out.push((*state, median(0).max(median(1))));
        }
        Ok(out)
    }

    /// Decides how often each start state's call is made in a round, so that a round takes about so many ticks; how many calls and
    /// ticks that are.
    pub fn plan(&mut self, states: &[usize], ticks: &[u64], batch: u64) -> (u64, u64) {
        let share = batch / states.len().max(1) as u64;
        let (mut calls, mut round) = (0, 0);
        self.plan.clear();
        for (state, ticks) in states.iter().zip(ticks) {
            let wanted = share.div_ceil((*ticks).max(1)).max(1);
            // Whatever one of them may not repeat, none does.
            let repeatable = self.calls[*state].iter().all(|call| call.repeats > 1);
            let (repeats, copies) = match repeatable {
                true => (wanted.min(MOST_REPEATS), 1),
                false => (1, wanted.min(MOST_COPIES)),
            };
            for call in &mut self.calls[*state] {
                call.repeats = repeats as u32;
            }
            self.plan.push((*state, copies as usize));
            calls += repeats * copies;
            round += repeats * copies * ticks;
        }
        (calls, round)
    }

    /// Times what was planned: by round the ticks of each contender.
    pub fn time(&mut self, rounds: usize, seed: u64) -> Result<Vec<[u64; CONTENDERS]>, NativeError> {
        let Session { bench, calls, plan, .. } = self;
        let list = |contender: usize| -> Vec<&Call> {
            plan.iter().flat_map(|(state, n)| std::iter::repeat_n(&calls[*state][contender], *n)).collect()
        };
        let contenders: Vec<Vec<&Call>> = (0..CONTENDERS).map(list).collect();
        let rounds = bench.time(&contenders, rounds, seed, LIMITS)?;
        Ok(rounds.into_iter().map(|round| std::array::from_fn(|i| round[i])).collect())
    }
}

/// Where memory of inputs is: not a contender's own.
fn pages_of_inputs() -> std::ops::Range<u64> {
    1 << 32..u64::MAX
}

/// What a call returned.
fn returned(results: &[Piece], processor: &Processor) -> Vec<u64> {
    let one = |piece: &Piece| {
        let words = match piece.place {
            Place::General(i) => [processor.general[usize::from(i & 15)], 0],
            Place::Vector(i) => [processor.vectors[usize::from(i & 15)][0], processor.vectors[usize::from(i & 15)][1]],
            Place::Stack(_) | Place::X87 => [0, 0],
        };
        let bytes = usize::from(piece.bytes.min(16));
        let mask = |bytes: usize| if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        [words[0] & mask(bytes), words[1] & mask(bytes.saturating_sub(8))]
    };
    results.iter().flat_map(one).collect()
}

/// Are these the same, where each contender has its own objects?
fn same(a: &[u64], b: &[u64]) -> bool {
    let own = |word: u64| (map::STUBS..map::STACK + map::STACK_SIZE).contains(&word);
    a.iter().zip(b).all(|(a, b)| a == b || own(*a) && own(*b) || both_nan(*a, *b))
}

fn end(once: &Once) -> String {
    match once.stop {
        Stop::OutOfTime => "does not end in time".to_string(),
        Stop::Trap => "calls what does not return".to_string(),
        Stop::Fault(fault) if fault.signal == native::Signal::Ill => {
            "executes an instruction that this machine does not have".to_string()
        }
        Stop::Fault(fault) => format!("faults ({:?} at {:#x})", fault.signal, fault.address),
    }
}

/// What a call has changed of its memory: where, and what is there now.
fn changed(bench: &mut Bench, call: &Call) -> Result<Vec<(u64, Vec<u8>)>, NativeError> {
    let mut out = Vec::new();
    for (address, bytes) in &call.memory {
        let mut now = vec![0; bytes.len()];
        bench.read(*address, &mut now)?;
        if now[..] != bytes[..] {
            out.push((*address, now));
        }
    }
    Ok(out)
}

/// The calls of a start state.
fn calls_of(
    linked: &[Linked],
    entries: &[u64],
    callees: &Callees,
    input: &Input,
    rsp: u64,
    kept: &mut BTreeMap<(u64, Vec<u8>), Arc<[u8]>>,
) -> Result<[Call; CONTENDERS], NativeError> {
    let seed = Seed(input.seed);
    let garbage = Garbage::Random(seed.of(0x6a4ba6e));
    let mut out = Vec::with_capacity(CONTENDERS);
    for (contender, one) in linked.iter().enumerate() {
        let filling = Filling::new(one, input, garbage);
        let world = World::new(one, input, &filling, rsp)?;
        let begin = Begin { entry: entries[contender], rsp, garbage, filling: &filling };
        let role = if SIDES[contender] == 0 { Role::Original } else { Role::Candidate };
        let processor = registers(one, role, begin, input);
        let script = |name: &str, n: usize| {
            let scripted = input.script.iter().filter(|s| s.callee == name).nth(n);
            let result = scripted.map(|s| input.translate(one, s.result));
            result.unwrap_or_else(|| plausible(seed.named(name).number(n as u64)))
        };
        let mut memory: Vec<(u64, Vec<u8>)> = callees.memory(script);
        for area in &world.areas {
            // Of the stack only what the caller passes: a frame begins with whatever is there.
            let (address, bytes) = match (map::STACK..map::STACK + map::STACK_SIZE).contains(&area.address) {
                true => (rsp + 8, &area.start[(rsp + 8 - area.address) as usize..][..8 * input.stack.len()]),
                false => (area.address, &area.start[..]),
            };
            let chunks = bytes.chunks(PAGE as usize);
            memory.extend((address..).step_by(PAGE as usize).zip(chunks).map(|(at, bytes)| (at, bytes.to_vec())));
        }
        let mut share = |(address, bytes): (u64, Vec<u8>)| {
            let shared = kept.entry((address, bytes)).or_insert_with_key(|(_, bytes)| bytes.clone().into());
            (address, shared.clone())
        };
        let memory = memory.into_iter().filter(|(_, bytes)| !bytes.is_empty()).map(&mut share).collect();
        let vectors: [[u64; 4]; 8] = std::array::from_fn(|i| processor.vectors[i]);
        let vectors = (vectors != [[0; 4]; 8]).then_some(vectors);
        let (entry, general) = (entries[contender], processor.general);
        out.push(Call { entry, general, vectors, memory, repeats: 1, x87: X87::Empty });
    }
    out.try_into().map_err(|_| NativeError::TooLarge)
}
