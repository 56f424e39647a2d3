//! The memory of a run: what it holds at first, and what has changed.

use crate::input::Input;
use crate::link::{Linked, padded};
use crate::map;
use crate::seed::{Garbage, Seed, plausible};
use native::{Access, NativeError, Sandbox, Segment};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: u64 = 4096;
/// Bytes of the stack below the return address that are filled with garbage.
const FRAME: u64 = 0x800;
/// Most pages of all inputs.
const MOST_PAGES: usize = 4096;

/// A piece of writable memory.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    pub address: u64,
    /// What a run begins with.
    pub start: Vec<u8>,
    /// What it holds.
    pub now: Vec<u8>,
    /// Is it part of the world, not of the own stack?
    pub observed: bool,
}

/// Words that differ from those at the start, by address (a multiple of 8).
pub(crate) type Changes = BTreeMap<u64, u64>;

/// Everything that a run can write.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub areas: Vec<Area>,
}

/// The pages of these inputs, as segments.
pub(crate) fn input_segments(inputs: &[Input]) -> Result<Vec<Segment>, NativeError> {
    let mut pages = BTreeSet::new();
    for input in inputs {
        pages.extend(pages_of(input)?);
    }
    if pages.len() > MOST_PAGES {
        return Err(NativeError::TooLarge);
    }
    let ranges = ranges(&pages);
    let segment = |(start, count): (u64, u64)| {
        let bytes = vec![0; (count * PAGE) as usize];
        Segment { address: start * PAGE, bytes, access: Access::Write }
    };
    Ok(ranges.into_iter().map(segment).collect())
}

fn pages_of(input: &Input) -> Result<BTreeSet<u64>, NativeError> {
    let mut pages = BTreeSet::new();
    for (address, bytes) in input.memory.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let last = address.checked_add(bytes.len() as u64 - 1).ok_or(NativeError::TooLarge)?;
        if last / PAGE - address / PAGE > MOST_PAGES as u64 {
            return Err(NativeError::TooLarge);
        }
        pages.extend(address / PAGE..=last / PAGE);
    }
    Ok(pages)
}

/// Neighbouring pages together: first page and number.
fn ranges(pages: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for page in pages {
        match out.last_mut() {
            Some((start, count)) if *start + *count == *page => *count += 1,
            _ => out.push((*page, 1)),
        }
    }
    out
}

/// Segments of a side that do not depend on inputs, except for their content.
pub(crate) fn fixed_segments(linked: &Linked) -> Vec<Segment> {
    let stubs = 16 * (linked.stubs.len() as u64 + 1);
    let zeros = |address: u64, size: u64| Segment { address, bytes: vec![0; size as usize], access: Access::Write };
    let mut out: Vec<Segment> = linked.segments().collect();
    out.push(Segment { address: map::STUBS, bytes: vec![0xcc; stubs as usize], access: Access::Execute });
    out.push(zeros(map::THREAD, map::THREAD_SIZE));
    out.push(zeros(map::HEAP, map::HEAP_SIZE));
    out.push(zeros(map::POOL, map::POOL_SIZE));
    out.push(zeros(map::STACK, map::STACK_SIZE));
    out.extend(linked.externs.keys().map(|at| zeros(*at, map::EXTERN_SIZE)));
    out
}

impl World {
    /// The memory at the start of a run. `garbage` is what nobody defines.
    pub fn new(linked: &Linked, input: &Input, garbage: Garbage) -> Result<World, NativeError> {
        let seed = Seed(input.seed);
        let mut world = World::default();
        for section in linked.sections.iter().filter(|s| s.access == Access::Write && !s.thread && !s.bytes.is_empty())
        {
            world.add(section.address / PAGE * PAGE, padded(section), true);
        }
        for (address, name) in &linked.externs {
            let seed = seed.named(name);
            world.add(*address, words(map::EXTERN_SIZE, |i| plausible(seed.number(i))), true);
        }
        world.add(map::THREAD, thread(linked), false);
        if linked.allocates {
            world.add(map::HEAP, words(map::HEAP_SIZE, |i| garbage.number(i ^ 0x4ea9)), true);
        }
        world.add(map::POOL, words(map::POOL_SIZE, |i| plausible(seed.number(i ^ 0x9001))), true);
        let (bottom, top) = (map::STACK_TOP - 8 - FRAME, map::STACK_TOP - 8 + FRAME / 2);
        world.add(bottom, words(top - bottom, |i| garbage.number(i ^ 0x57ac)), false);
        for (start, count) in ranges(&pages_of(input)?) {
            world.add(start * PAGE, vec![0; (count * PAGE) as usize], true);
        }
        for (address, bytes) in &input.memory {
            world.put(*address, &input.translate_bytes(linked, *address, bytes))?;
        }
        for (name, offset, bytes) in &input.objects {
            if let Some(named) = linked.names.named(name) {
                let at = named.start.wrapping_add(*offset);
                let room = named.size.saturating_sub(*offset).min(bytes.len() as u64) as usize;
                // What the side has made read-only it knows.
                let _ = world.put(at, &input.translate_bytes(linked, *offset, &bytes[..room]));
            }
        }
        for (i, word) in std::iter::once(&map::STUBS).chain(&input.stack).enumerate() {
            let word = input.translate(linked, *word);
            world.put(map::STACK_TOP + 8 * i as u64, &word.to_le_bytes())?;
        }
        Ok(world)
    }

    fn add(&mut self, address: u64, start: Vec<u8>, observed: bool) {
        self.areas.push(Area { address, now: Vec::new(), start, observed });
    }

    /// Sets bytes of the start.
    fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), NativeError> {
        for area in &mut self.areas {
            let Some(at) = address.checked_sub(area.address).and_then(|at| usize::try_from(at).ok()) else { continue };
            if let Some(place) = at.checked_add(bytes.len()).and_then(|end| area.start.get_mut(at..end)) {
                place.copy_from_slice(bytes);
                return Ok(());
            }
        }
        Err(NativeError::TooLarge)
    }

    /// Puts the start into a sandbox. `known` is what the sandbox holds there from earlier runs.
    pub fn load(&self, sandbox: &mut Sandbox, known: &BTreeMap<u64, Vec<u8>>) -> Result<(), NativeError> {
        for area in &self.areas {
            if known.get(&area.address).is_none_or(|now| *now != area.start) {
                sandbox.write(area.address, &area.start)?;
            }
        }
        Ok(())
    }

    /// Reads what the sandbox holds now.
    pub fn refresh(&mut self, sandbox: &mut Sandbox) -> Result<(), NativeError> {
        for area in &mut self.areas {
            area.now.resize(area.start.len(), 0);
            sandbox.read(area.address, &mut area.now)?;
        }
        Ok(())
    }

    /// What has changed, outside the stack.
    pub fn changes(&self) -> Changes {
        let mut out = Changes::new();
        for area in self.areas.iter().filter(|a| a.observed && a.start != a.now) {
            let words = area.start.chunks(8).zip(area.now.chunks(8));
            for (address, (start, now)) in (area.address..).step_by(8).zip(words) {
                if start != now {
                    out.insert(address, word(now));
                }
            }
        }
        out
    }

    /// Eight bytes at the start, from any address of the world.
    pub fn start_byte(&self, address: u64) -> Option<u8> {
        let area = self.areas.iter().find(|a| address.wrapping_sub(a.address) < a.start.len() as u64)?;
        area.start.get((address - area.address) as usize).copied()
    }
}

/// Up to eight bytes as a number.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn words(size: u64, number: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut out = vec![0; size as usize];
    for (i, word) in out.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&number(i as u64).to_le_bytes());
    }
    out
}

/// Thread-local storage: what the object defines, the pointer to itself, and the stack protector's value.
fn thread(linked: &Linked) -> Vec<u8> {
    let mut bytes = vec![0; map::THREAD_SIZE as usize];
    let own = (map::THREAD_POINTER, map::THREAD_POINTER.to_le_bytes().to_vec());
    let guard = (map::THREAD_POINTER + 0x28, 0x5ca1_ab1e_0dd5_ee00u64.to_le_bytes().to_vec());
    let sections = linked.sections.iter().filter(|s| s.thread).map(|s| (s.address, s.bytes.clone()));
    for (address, content) in sections.chain([own, guard]) {
        let at = (address - map::THREAD) as usize;
        bytes[at..at + content.len()].copy_from_slice(&content);
    }
    bytes
}
