//! Inputs for others to run: start states on which the original's run is defined, with everything that it looks at.
//!
//! They are the random inputs of the search and their neighbours: numbers one off, flipped bits, pointers that are the same. Callees
//! leave the world alone in them, so that whoever runs them need only return what is listed.
//!
//! Trust: none. They are tried against a proof that exists already.

use super::runner::{Runner, odd_bytes};
use crate::inputs::{Input, Stream};
use graph::interpreter::{Effects, End, Seed, Trace, is_stack};
use graph::{ObjectKind, Place};
use std::collections::BTreeMap;
use std::time::Instant;
use term::{Arena, Bits};

/// A start state of both programs, for a run outside the interpreter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Arguments.
    pub arguments: Vec<(Place, Bits)>,
    /// Memory that the runs look at, by address, outside the stack and outside objects.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// The same inside named objects: name, offset, bytes.
    pub objects: Vec<(String, u64, Vec<u8>)>,
    /// Addresses in use that stand for named objects: start, length, name.
    pub names: Vec<(u64, u64, String)>,
    /// Results of callees in `rax`, in the order of the calls.
    pub results: Vec<(String, u64)>,
    /// Seed of everything else.
    pub seed: u64,
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

impl<'a> Runner<'a> {
    /// Up to `most` samples from the first `rounds` inputs of a seed and their neighbours.
    pub fn samples(&mut self, arena: &Arena, seed: u64, rounds: u64, most: usize, until: Instant) -> Vec<Sample> {
        let mut out = Vec::new();
        let moved = |c: &graph::LocalContract| !c.moved.is_empty() || !c.promoted.is_empty();
        if self.functions[0].contract().is_some_and(moved) {
            return out;
        }
        let mut steps = 0;
        for round in 0..rounds {
            let input = self.random_input(arena, Seed(seed), round);
            let mut stream = Stream::new(Seed(seed).split(round).split(0x5a3e1e));
            let mut variants = vec![input.clone()];
            variants.extend((0..NEIGHBOURS).map(|_| self.neighbour(&input, &mut stream)));
            for mut variant in variants {
                if out.len() >= most || steps >= MOST_STEPS || Instant::now() >= until {
                    return out;
                }
                variant.effects = Effects::Quiet;
                out.extend(self.sample(arena, &variant, &mut steps));
            }
        }
        out
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

    /// The sample of an input, if the original's run is defined and can be told to others.
    fn sample(&mut self, arena: &Arena, input: &Input, steps: &mut usize) -> Option<Sample> {
        if !self.keeps_restrict(input) || self.points_to_statics(input) {
            return None;
        }
        let traces = self.traces(arena, input);
        let truths = self.functions.iter().any(|f| f.surroundings.truth_values);
        let [original, candidate] = &traces;
        *steps += original.steps + candidate.steps;
        let ends = matches!(original.end, End::Return | End::NoReturn);
        let vague = !original.made_up.is_empty() || original.sign_only || truths && !odd_bytes(&traces).is_empty();
        if !ends || vague || original.undefined.is_some() || original.doubtful.is_some() {
            return None;
        }
        self.tell(input, original)
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
                    if !named || placed.object.content.is_some() {
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
        Some(Sample { arguments, memory, objects, names, results, seed: input.seed.mix(0x5eed) })
    }
}
