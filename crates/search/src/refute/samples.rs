//! Inputs for others to run: start states on which the original's run is defined, with everything that it looks at.
//!
//! They are the random inputs of the search and their neighbours: numbers one off, flipped bits, pointers that are the same. Of those
//! that go the same way there are not too many. Callees
//! leave the world alone in them, so that whoever runs them need only return what is listed.
//!
//! Trust: none. They are tried against a proof that exists already.

use super::runner::{Runner, odd_bytes};
use crate::inputs::{Input, RESTRICTED, Stream};
use interpreter::{BUFFER_SPACING, Effects, End, Seed, Trace, is_stack, pointer_to_buffer};
use program::{Object, ObjectKind, Place, Register, Side};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
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

/// What is seen of the paths that two runs took.
#[derive(PartialEq, Eq, Hash)]
struct Path {
    /// Points that each entered.
    steps: [usize; 2],
    /// Whom the original called.
    callees: Vec<String>,
}

/// The samples so far, not too many of each path.
#[derive(Default)]
struct Chosen {
    samples: Vec<Sample>,
    /// Number of a path and how many were seen.
    paths: FxHashMap<Path, (u64, usize)>,
    /// Samples in a row that were like others.
    alike: usize,
}

/// Most samples of a pair, and of one path.
const MOST_SAMPLES: usize = 12;
const MOST_OF_PATH: usize = 6;
/// Samples in a row that are like others, after which no more are looked for.
const MOST_ALIKE: usize = 8;

impl Chosen {
    /// The number of a path of which another sample is wanted.
    fn number(&mut self, path: Path) -> Option<u64> {
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
/// Addresses that objects have.
const OBJECTS: std::ops::Range<u64> = 0x1000_0000_0000..0x2000_0000_0000;

/// Numbers of the pages that samples mostly have: the starts of the buffers to which arguments and memory point.
pub fn usual_pages() -> BTreeSet<u64> {
    const PAGE: u64 = 4096;
    let restricted = (0..6).map(|i| RESTRICTED + 4 * i * BUFFER_SPACING);
    (0..0xff).map(pointer_to_buffer).chain(restricted).map(|address| address / PAGE).collect()
}

impl<'a> Runner<'a> {
    /// Samples from the first `rounds` inputs of a seed and their neighbours.
    pub fn samples(&mut self, arena: &Arena, seed: u64, rounds: u64, until: Instant) -> Vec<Sample> {
        let mut chosen = Chosen::default();
        let mut steps = 0;
        for round in 0..rounds {
            let input = self.random_input(arena, Seed(seed), round);
            let mut stream = Stream::new(Seed(seed).split(round).split(0x5a3e1e));
            let mut variants = vec![input.clone()];
            variants.extend((0..NEIGHBOURS).map(|_| self.neighbour(&input, &mut stream)));
            for mut variant in variants {
                if chosen.is_full() || steps >= MOST_STEPS || Instant::now() >= until {
                    return chosen.samples;
                }
                variant.effects = Effects::Quiet;
                let sample = self.sample(arena, &variant, &mut steps, &mut chosen);
                chosen.samples.extend(sample);
            }
        }
        chosen.samples
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
        let convention = self.convention(input);
        let traces = self.traces(arena, input);
        let truths = self.functions.iter().any(|f| f.surroundings.truth_values);
        let [original, candidate] = &traces;
        *steps += original.steps + candidate.steps;
        let ends = matches!(original.end, End::Return | End::NoReturn);
        let vague = !original.made_up.is_empty() || original.sign_only || truths && !odd_bytes(&traces).is_empty();
        if !ends || vague || original.undefined.is_some() || original.doubtful.is_some() {
            return None;
        }
        let path = Path {
            steps: [original.steps, candidate.steps],
            callees: original.calls.iter().map(|call| call.callee.name.to_string()).collect(),
        };
        let path = chosen.number(path)?;
        Some(Sample { convention, path, ..self.tell(input, original)? })
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

    /// How many samples are chosen of runs with so many steps and calls.
    fn chosen(runs: impl IntoIterator<Item = (usize, usize)>) -> usize {
        let mut chosen = Chosen::default();
        for (steps, calls) in runs {
            if chosen.is_full() {
                break;
            }
            let path = Path { steps: [steps, steps], callees: vec!["f".to_string(); calls] };
            let found = chosen.number(path).map(|path| Sample { path, ..sample() });
            chosen.samples.extend(found);
        }
        chosen.samples.len()
    }

    #[test]
    fn a_few_samples_of_each_path() {
        assert_eq!(chosen((0..100).map(|_| (7, 0))), MOST_OF_PATH);
        assert_eq!(chosen((0..100).map(|i| (i, 0))), MOST_SAMPLES);
        // The same number of points, other calls.
        assert_eq!(chosen((0..MOST_OF_PATH + 2).map(|i| (7, i / MOST_OF_PATH))), MOST_OF_PATH + 2);
    }

    #[test]
    fn a_rare_path_is_waited_for_and_not_for_ever() {
        let late = |n: usize| (0..n).map(|_| (7, 0)).chain([(8, 0)]);
        assert_eq!(chosen(late(MOST_OF_PATH + MOST_ALIKE - 1)), MOST_OF_PATH + 1);
        assert_eq!(chosen(late(MOST_OF_PATH + MOST_ALIKE)), MOST_OF_PATH);
    }
}
