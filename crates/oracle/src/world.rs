//! The memory of a run: what it holds at first, and what has changed.

use crate::input::Input;
use crate::link::{Linked, padded};
use crate::map;
use crate::seed::{Garbage, Seed, plausible};
use native::{Access, NativeError, Sandbox, Segment, Zeros};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const PAGE: u64 = 4096;
/// Bytes of the stack below the return address that are filled with garbage.
const FRAME: u64 = 0x800;
/// Most pages of an input.
const MOST_PAGES: usize = 256;

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

/// Where inputs may have memory: above what both sides map, below what the system kernel takes.
const INPUTS: std::ops::Range<u64> = 0x1_0000_0000..0x7800_0000_0000;

/// The pages of an input, by number; `None` if they are too many, or lie where no sandbox can have them.
pub(crate) fn pages_of(input: &Input) -> Option<BTreeSet<u64>> {
    let mut pages = BTreeSet::new();
    for (address, bytes) in input.memory.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let last = address.checked_add(bytes.len() as u64 - 1)?;
        if !INPUTS.contains(address) || !INPUTS.contains(&last) || last / PAGE - address / PAGE > MOST_PAGES as u64 {
            return None;
        }
        pages.extend(address / PAGE..=last / PAGE);
    }
    (pages.len() <= MOST_PAGES).then_some(pages)
}

/// Pages for a sandbox.
pub(crate) fn zeros(pages: &BTreeSet<u64>) -> Vec<Zeros> {
    ranges(pages, 1).into_iter().map(|(start, count)| Zeros { address: start * PAGE, length: count * PAGE }).collect()
}

/// Pages that are no more than so far from each other together: first page and number.
pub(crate) fn ranges(pages: &BTreeSet<u64>, distance: u64) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for page in pages {
        match out.last_mut() {
            Some((start, count)) if page - (*start + *count - 1) <= distance => *count = page - *start + 1,
            _ => out.push((*page, 1)),
        }
    }
    out
}

/// What memory holds at the start that depends on seeds only: the same on both sides.
pub(crate) struct Filling {
    externs: Vec<Vec<u8>>,
    heap: Vec<u8>,
    pool: Vec<u8>,
    stack: Vec<u8>,
}

impl Filling {
    /// `garbage` is what nobody defines.
    pub fn new(linked: &Linked, input: &Input, garbage: Garbage) -> Filling {
        let seed = Seed(input.seed);
        let one = |name: &String| {
            let seed = seed.named(name);
            words(map::EXTERN_SIZE, |i| plausible(seed.number(i)))
        };
        let heap = if linked.allocates { map::HEAP_SIZE } else { 0 };
        Filling {
            externs: linked.externs.values().map(one).collect(),
            heap: words(heap, |i| garbage.number(i ^ 0x4ea9)),
            pool: words(map::POOL_SIZE, |i| plausible(seed.number(i ^ 0x9001))),
            stack: words(FRAME + FRAME / 2, |i| garbage.number(i ^ 0x57ac)),
        }
    }
}

/// Segments of a side that do not depend on inputs, except for their content.
pub(crate) fn fixed_segments(linked: &Linked) -> Vec<Segment> {
    let stubs = 16 * (linked.stubs.len() as u64 + 1);
    let mut out: Vec<Segment> = linked.segments().collect();
    out.push(Segment { address: map::STUBS, bytes: vec![0xcc; stubs as usize], access: Access::Execute });
    out
}

/// What a side has beside them, and beside the pages of inputs: written before each run.
pub(crate) fn fixed_zeros(linked: &Linked) -> Vec<Zeros> {
    let heap = if linked.allocates { map::HEAP_SIZE } else { 0 };
    let fixed = [
        (map::THREAD, map::THREAD_SIZE),
        (map::HEAP, heap),
        (map::POOL, map::POOL_SIZE),
        (map::STACK, map::STACK_SIZE),
    ];
    let externs = linked.externs.keys().map(|at| (*at, map::EXTERN_SIZE));
    fixed.into_iter().chain(externs).map(|(address, length)| Zeros { address, length }).collect()
}

impl World {
    /// The memory at the start of a run with this stack pointer.
    pub fn new(linked: &Linked, input: &Input, filling: &Filling, rsp: u64) -> Result<World, NativeError> {
        let mut world = World::default();
        for section in linked.sections.iter().filter(|s| s.access == Access::Write && !s.thread && !s.bytes.is_empty())
        {
            world.add(section.address / PAGE * PAGE, padded(section), true);
        }
        for (address, content) in linked.externs.keys().zip(&filling.externs) {
            world.add(*address, content.clone(), true);
        }
        world.add(map::THREAD, thread(linked), false);
        if linked.allocates {
            world.add(map::HEAP, filling.heap.clone(), true);
        }
        world.add(map::POOL, filling.pool.clone(), true);
        world.add(rsp - 8 - FRAME, filling.stack.clone(), false);
        // One by one: other inputs have other neighbours.
        for page in pages_of(input).ok_or(NativeError::TooLarge)? {
            world.add(page * PAGE, vec![0; PAGE as usize], true);
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
            world.put(rsp + 8 * i as u64, &word.to_le_bytes())?;
        }
        Ok(world)
    }

    fn add(&mut self, address: u64, start: Vec<u8>, observed: bool) {
        self.areas.push(Area { address, now: Vec::new(), start, observed });
    }

    /// Sets bytes of the start.
    fn put(&mut self, mut address: u64, mut bytes: &[u8]) -> Result<(), NativeError> {
        while !bytes.is_empty() {
            let inside = |area: &&mut Area| address.wrapping_sub(area.address) < area.start.len() as u64;
            let area = self.areas.iter_mut().find(inside).ok_or(NativeError::TooLarge)?;
            let place = &mut area.start[(address - area.address) as usize..];
            let (here, rest) = bytes.split_at(bytes.len().min(place.len()));
            place[..here.len()].copy_from_slice(here);
            (address, bytes) = (address.wrapping_add(here.len() as u64), rest);
        }
        Ok(())
    }

    /// Puts the start into a sandbox. `known` is what the sandbox holds there from earlier runs.
    pub fn load(&self, sandbox: &mut Sandbox, known: &BTreeMap<u64, Vec<u8>>) -> Result<(), NativeError> {
        let changed = |area: &&Area| known.get(&area.address).is_none_or(|now| *now != area.start);
        let pieces: Vec<(u64, &[u8])> =
            self.areas.iter().filter(changed).map(|area| (area.address, area.start.as_slice())).collect();
        sandbox.write_all(&pieces)
    }

    /// Reads what the sandbox holds now.
    pub fn refresh(&mut self, sandbox: &mut Sandbox) -> Result<(), NativeError> {
        self.areas.iter_mut().for_each(|area| area.now.resize(area.start.len(), 0));
        let mut pieces: Vec<(u64, &mut [u8])> =
            self.areas.iter_mut().map(|area| (area.address, area.now.as_mut_slice())).collect();
        sandbox.read_all(&mut pieces)
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
