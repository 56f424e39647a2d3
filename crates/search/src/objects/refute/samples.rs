//! Inputs for others to run: start states on which the original's run is defined, with everything that it looks at.
//!
//! They are the random inputs of the search and their neighbours: numbers one off, flipped bits, pointers that are the same. Of those
//! that go the same way there are not too many. Callees
//! leave the world alone in them, so that whoever runs them need only return what is listed.
//!
//! Trust: none. They are tried against a proof that exists already.

use super::runner::{Runner, odd_bytes};
use crate::objects::inputs::{Input, RESTRICTED, Stream};
use interpreter::{BUFFER_SPACING, Effects, End, Seed, Trace, is_stack, pointer_to_buffer};
use program::{Object, ObjectKind, Place, Register, Side};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::time::Instant;
use term::{Arena, Bits};

/// A start state of both programs, for a run outside the interpreter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Arguments.
    pub arguments: Vec<(Place, Bits)>,
    /// What the candidate takes in registers, if it is not called as the original is.
    pub convention: Option<Vec<(Register, Bits)>>,
    /// Does no caller of the candidate look at its result?
    pub unread: bool,
    /// Memory that the runs look at, by address, outside the stack and outside objects.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// The same inside named objects: name, offset, bytes.
    pub objects: Vec<(String, u64, Vec<u8>)>,
    /// Addresses in use that stand for named objects: start, length, name.
    pub names: Vec<(u64, u64, String)>,
    /// Results of callees in `rax`, in the order of the calls.
    pub results: Vec<(String, u64)>,
    /// Samples that go the same way have the same number.
    pub path: u64,
    /// Seed of everything else.
    pub seed: u64,
}

/// What is seen of the paths that two runs took, as one number: how many points each entered and whom the original called.
pub(super) fn path_of([original, candidate]: [&Trace; 2]) -> u64 {
    let mut hasher = FxHasher::default();
    (original.steps, candidate.steps).hash(&mut hasher);
    original.calls.iter().for_each(|call| call.callee.name.hash(&mut hasher));
    hasher.finish()
}

/// Random inputs by their paths, in the order in which these were found.
#[derive(Default)]
pub(crate) struct Paths {
    found: Vec<Rounds>,
    index: FxHashMap<u64, usize>,
}

/// The inputs of a path, by round: those whose memory lies where that of most inputs does, and others.
#[derive(Default)]
struct Rounds {
    usual: Vec<u64>,
    others: Vec<u64>,
}

/// Does memory that two runs look at lie where that of most inputs does? Then a sandbox has it already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whereabouts {
    Usual,
    Elsewhere,
}

impl Paths {
    /// Is another input of a path of any use?
    pub fn wants(&self, path: u64) -> bool {
        self.index.get(&path).is_none_or(|at| self.found[*at].usual.len() < MOST_OF_PATH)
    }

    /// An input of a path, by its round.
    pub fn add(&mut self, path: u64, round: u64, memory: Whereabouts) {
        let found = &mut self.found;
        let at = *self.index.entry(path).or_insert_with(|| {
            found.push(Rounds::default());
            found.len() - 1
        });
        let rounds = match memory {
            Whereabouts::Usual => &mut self.found[at].usual,
            Whereabouts::Elsewhere => &mut self.found[at].others,
        };
        if rounds.len() < MOST_OF_PATH {
            rounds.push(round);
        }
    }

    /// The first round of each path, or the second, and so on. The second is one of the others: whatever is wrong with those that
    /// sandboxes have memory for, they need not share.
    fn rounds(&self, n: usize) -> Vec<u64> {
        let in_order = |rounds: &Rounds| {
            let [usual, others] = [&rounds.usual, &rounds.others].map(|r| r.split_at(r.len().min(1)));
            usual.0.iter().chain(others.0).chain(usual.1).chain(others.1).nth(n).copied()
        };
        self.found.iter().filter_map(in_order).collect()
    }
}

/// The samples so far, not too many of each path.
#[derive(Default)]
struct Chosen {
    samples: Vec<Sample>,
    /// Number of a path and how many were seen.
    paths: FxHashMap<u64, (u64, usize)>,
    /// Samples in a row that were like others.
    alike: usize,
}

/// Most samples of a pair, and of one path.
const MOST_SAMPLES: usize = 12;
const MOST_OF_PATH: usize = 5;
/// Samples in a row that are like others, after which no more are looked for.
const MOST_ALIKE: usize = 4;
/// Inputs that are tried where no run of the original was defined: callees that leave the world alone may change that.
const FEW_ROUNDS: u64 = 16;

impl Chosen {
    /// The number of a path of which another sample is wanted.
    fn number(&mut self, path: u64) -> Option<u64> {
        let number = self.paths.len() as u64;
        let (number, like) = self.paths.entry(path).or_insert((number, 0));
        *like += 1;
        self.alike = if *like > MOST_OF_PATH { self.alike + 1 } else { 0 };
        (self.alike == 0).then_some(*number)
    }

    fn is_full(&self) -> bool {
        self.samples.len() >= MOST_SAMPLES || self.alike >= MOST_ALIKE
    }
}

/// Points entered for the samples of a pair.
const MOST_STEPS: usize = 60_000;
/// Neighbours of an input that are tried.
const NEIGHBOURS: u64 = 2;
/// Where the interpreter puts what allocation functions return, and thread-local objects: not for others.
const HEAP: std::ops::Range<u64> = 0x3000_0000_0000..0x3f00_0000_0000;
const THREAD: std::ops::Range<u64> = 0x2f00_0000_0000..0x3000_0000_0000;
const PAGE: u64 = 4096;
/// Addresses that objects have.
const OBJECTS: std::ops::Range<u64> = 0x1000_0000_0000..0x2000_0000_0000;

/// Numbers of the pages that samples mostly have: the starts of the buffers to which arguments and memory point.
pub fn usual_pages() -> BTreeSet<u64> {
    let restricted = (0..6).map(|i| RESTRICTED + 4 * i * BUFFER_SPACING);
    (0..0xff).map(pointer_to_buffer).chain(restricted).map(|address| address / PAGE).collect()
}

impl<'a> Runner<'a> {
    /// Samples from inputs of a seed and their neighbours: of the inputs that were tried before, those of different paths first, and
    /// only such on which the original's run is defined.
    pub fn samples(&mut self, arena: &Arena, seed: u64, until: Instant) -> Vec<Sample> {
        let mut chosen = Chosen::default();
        if self.computes_otherwise() {
            return chosen.samples;
        }
        let mut steps = 0;
        for n in 0..MOST_OF_PATH {
            let mut rounds = self.paths.rounds(n);
            if n == 0 && rounds.is_empty() {
                rounds = (0..FEW_ROUNDS).collect();
            }
            let neighbours = rounds.iter().flat_map(|round| (1..=NEIGHBOURS).map(|i| (*round, i)));
            for (round, i) in rounds.iter().map(|round| (*round, 0)).chain(neighbours) {
                if chosen.is_full() || steps >= MOST_STEPS || Instant::now() >= until {
                    return chosen.samples;
                }
                let mut input = self.random_input(arena, Seed(seed), round);
                if i > 0 {
                    input = self.neighbour(&input, &mut Stream::new(Seed(seed).split(round).split(0x5a3e1e + i)));
                    self.project(arena, &mut input);
                }
                input.effects = Effects::Quiet;
                let sample = self.sample(arena, &input, &mut steps, &mut chosen);
                chosen.samples.extend(sample);
            }
        }
        chosen.samples
    }

    /// The sample of an input that somebody asked for, or why the original's run on it says nothing.
    pub(crate) fn sample_of(&mut self, arena: &Arena, input: &Input) -> Result<Sample, String> {
        if !self.keeps_restrict(input) {
            return Err("a `restrict` pointer leads to what another leads to".to_string());
        }
        let original = self.traces_of(arena, Side::Original, input);
        match &original.end {
            End::Return => {}
            End::Fuel => return Err("the original does not end soon enough".to_string()),
            _ => return Err(original.undefined.unwrap_or_else(|| "the original does not return".to_string())),
        }
        if let Some(why) = original.undefined {
            return Err(why);
        }
        let candidate = self.behind(arena, input, &original);
        let sample = self.tell(input, &original);
        let sample = sample.ok_or("it uses memory that cannot be told to others")?;
        Ok(Sample { path: path_of([&original, &candidate]), ..sample })
    }

    /// Where the memory is that the last runs looked at.
    pub(super) fn has_usual_memory(&self) -> Whereabouts {
        let known = |address: &u64| {
            is_stack(*address) || HEAP.contains(address) || THREAD.contains(address) || OBJECTS.contains(address)
        };
        let mut pages =
            self.memories.iter().flat_map(|memory| memory.accessed()).filter(|at| !known(at)).map(|at| at / PAGE);
        match pages.all(|page| self.usual_pages.contains(&page)) {
            true => Whereabouts::Usual,
            false => Whereabouts::Elsewhere,
        }
    }

    /// An input with one argument changed.
    fn neighbour(&self, input: &Input, stream: &mut Stream) -> Input {
        let mut near = input.clone();
        if self.arguments.is_empty() {
            near.seed = near.seed.split(stream.next());
            return near;
        }
        let i = (stream.next() % self.arguments.len() as u64) as usize;
        let value = near.values[i].low();
        let other = near.values[(stream.next() % near.values.len() as u64) as usize].low();
        let by = 1u64 << (stream.next() % 64);
        let value = match stream.next() % 5 {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 if !self.arguments[i].pointer => value ^ by,
            3 => other,
            _ => value.wrapping_add(4),
        };
        near.set(&self.arguments, i, Bits::new(64, value).resize(self.arguments[i].width().max(64)));
        near
    }

    /// The sample of an input, if the original's run is defined, can be told to others and is not like too many others.
    fn sample(&mut self, arena: &Arena, input: &Input, steps: &mut usize, chosen: &mut Chosen) -> Option<Sample> {
        if !self.keeps_restrict(input) || self.points_to_statics(input) || !self.keeps_ranges(input) {
            return None;
        }
        if !self.satisfies(arena, input) {
            return None;
        }
        let convention = self.convention(input);
        let original = self.traces_of(arena, Side::Original, input);
        *steps += original.steps;
        let ends = matches!(original.end, End::Return | End::NoReturn);
        let vague = !original.made_up.is_empty() || original.sign_only;
        if !ends || vague || original.undefined.is_some() || original.doubtful.is_some() {
            return None;
        }
        let candidate = self.behind(arena, input, &original);
        *steps += candidate.steps;
        let path = path_of([&original, &candidate]);
        let traces = [original, candidate];
        let truths = self.functions.iter().any(|f| f.surroundings.truth_values);
        if truths && !odd_bytes(&traces).is_empty() {
            return None;
        }
        let path = chosen.number(path)?;
        Some(Sample { convention, path, ..self.tell(input, &traces[0])? })
    }

    /// Are the arguments such as the callers of a private function pass?
    fn keeps_ranges(&self, input: &Input) -> bool {
        let Some(contract) = self.functions[0].contract() else { return true };
        self.arguments.iter().zip(&input.values).all(|(argument, value)| match argument.place {
            Place::Register(register) => contract.ranges.get(&register).is_none_or(|range| range.has(value.low())),
            Place::Stack(_) => true,
        })
    }

    /// What the candidate takes in registers where it is a private function with a convention of its own.
    fn convention(&mut self, input: &Input) -> Option<Vec<(Register, Bits)>> {
        let contract = self.functions[0].contract()?;
        let moved = contract.moved.iter().any(|(from, to)| *to != Some(*from));
        if !moved && contract.promoted.is_empty() {
            return None;
        }
        let mut out = self.registers(Side::Candidate, input);
        out.extend(self.promoted(input));
        Some(out)
    }

    /// Does an object hold what its file says? Each side has that by itself, the one that keeps it in read-only memory, too.
    fn holds_its_start(&self, object: &Object) -> bool {
        let both = || self.functions.iter().filter_map(|f| f.objects.get(&object.var));
        let chosen = self.functions[0].contracts.statics.contains_key(&object.name);
        both().any(|o| o.content.is_some() || o.start.is_some() && self.layout.free && !chosen)
    }

    fn tell(&self, input: &Input, trace: &Trace) -> Option<Sample> {
        let words: BTreeMap<u64, u64> = self.memories.iter().flat_map(|memory| memory.initial_words()).collect();
        let (mut memory, mut objects) = (Vec::<(u64, Vec<u8>)>::new(), Vec::<(String, u64, Vec<u8>)>::new());
        for (address, word) in words {
            let bytes = word.to_le_bytes();
            if is_stack(address) || HEAP.contains(&address) || THREAD.contains(&address) {
                continue;
            }
            match self.layout.object_at(address) {
                Some((placed, offset)) => {
                    let named = matches!(placed.object.kind, ObjectKind::Named { function: false, .. });
                    if !named || self.holds_its_start(placed.object) {
                        continue;
                    }
                    match objects.last_mut() {
                        Some((name, at, known))
                            if *name == placed.object.name && *at + known.len() as u64 == offset =>
                        {
                            known.extend(bytes);
                        }
                        _ => objects.push((placed.object.name.clone(), offset, bytes.to_vec())),
                    }
                }
                None if OBJECTS.contains(&address) => return None,
                None => match memory.last_mut() {
                    Some((at, known)) if *at + known.len() as u64 == address => known.extend(bytes),
                    _ => memory.push((address, bytes.to_vec())),
                },
            }
        }
        let mut names = Vec::new();
        for placed in self.layout.objects() {
            let reach = placed.object.size.unwrap_or(1 << 16).max(1) + 1;
            if matches!(placed.object.kind, ObjectKind::Named { .. }) {
                names.push((placed.start, reach, placed.object.name.clone()));
            }
        }
        let results = trace.calls.iter().filter(|c| !HEAP.contains(&c.result) && !c.callee.returns_fresh());
        let arguments = self.arguments.iter().zip(&input.values).map(|(a, value)| (a.place, *value)).collect();
        let results = results.map(|c| (c.callee.name.to_string(), c.result)).collect();
        let unread = self.functions[0].contract().is_some_and(|c| c.result_unused);
        Some(Sample {
            arguments,
            convention: None,
            unread,
            memory,
            objects,
            names,
            results,
            path: 0,
            seed: input.seed.mix(0x5eed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample {
        let (arguments, memory, objects) = Default::default();
        let (names, results) = Default::default();
        Sample { arguments, convention: None, unread: false, memory, objects, names, results, path: 0, seed: 0 }
    }

    /// How many samples are chosen of runs that take these paths.
    fn chosen(paths: impl IntoIterator<Item = u64>) -> usize {
        let mut chosen = Chosen::default();
        for path in paths {
            if chosen.is_full() {
                break;
            }
            let found = chosen.number(path).map(|path| Sample { path, ..sample() });
            chosen.samples.extend(found);
        }
        chosen.samples.len()
    }

    #[test]
    fn a_few_samples_of_each_path() {
        assert_eq!(chosen([7; 100]), MOST_OF_PATH);
        assert_eq!(chosen(0..100), MOST_SAMPLES);
        assert_eq!(chosen((0..MOST_OF_PATH as u64 + 2).map(|i| i / MOST_OF_PATH as u64)), MOST_OF_PATH + 2);
    }

    #[test]
    fn a_rare_path_is_waited_for_and_not_for_ever() {
        let late = |n: usize| std::iter::repeat_n(7, n).chain([8]);
        assert_eq!(chosen(late(MOST_OF_PATH + MOST_ALIKE - 1)), MOST_OF_PATH + 1);
        assert_eq!(chosen(late(MOST_OF_PATH + MOST_ALIKE)), MOST_OF_PATH);
    }

    #[test]
    fn inputs_of_rare_paths_come_first() {
        let mut paths = Paths::default();
        paths.add(7, 0, Whereabouts::Elsewhere);
        (1..50).for_each(|round| paths.add(7, round, Whereabouts::Usual));
        assert!(!paths.wants(7) && paths.wants(8));
        paths.add(8, 50, Whereabouts::Elsewhere);
        // What sandboxes have anyway comes before what they do not.
        assert_eq!(paths.rounds(0), [1, 50]);
        assert_eq!(paths.rounds(1), [0]);
        assert_eq!(paths.rounds(2), [2]);
    }
}
