//! The memory of one run: the world as a sparse map of words, the frame as an array.
//!
//! Every address is mapped. A byte has its initial value until it is written; the initial value is that of the object
//! if it is read-only, else a chosen or a seeded one, the same for both programs. Bytes of the frame and of new heap
//! objects hold garbage of the side. Each byte knows whether its value is *tainted*: nobody defined it.

use super::ctype;
use super::layout::Layout;
use super::values::{BUFFER_COUNT, BUFFER_SPACING, BUFFERS, Fabric, Seed, is_buffer, plausible_floats};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// Value of `rsp` at entry: ≡ 8 (mod 16).
pub const STACK_TOP: u64 = 0x7ffd_0000_0008;
/// Incoming stack arguments begin here.
pub const STACK_ARGUMENTS: u64 = STACK_TOP + 8;
/// What lies at [`STACK_TOP`].
const RETURN_ADDRESS: u64 = 0x4012_3456;
/// Bytes below and above the entry stack pointer that belong to the activation.
const BELOW: u64 = 1 << 24;
const ABOVE: u64 = 1 << 12;
/// Part of it that is an array.
const WINDOW: u64 = 1 << 15;
/// Where new heap objects lie, one after the other.
const ALLOCATIONS: u64 = 0x3000_0000_0000;
/// Room of a new heap object.
pub(super) const LARGEST_ALLOCATION: u64 = 1 << 26;
/// Where thread-local objects lie; they hold pointers.
pub(super) const THREAD_LOCAL: u64 = 0x2f00_0000_0000;
const THREAD_LOCAL_SIZE: u64 = 1 << 20;

/// Does the address belong to the activation's stack?
pub fn is_stack(address: u64) -> bool {
    address.wrapping_sub(STACK_TOP - BELOW) < BELOW + ABOVE
}

/// Bytes that an object at an address may have, as far as anybody can tell.
pub fn extent_of(start: u64) -> u64 {
    if is_buffer(start) { BUFFER_SPACING / 2 } else { 1 << 30 }
}

/// What the initial bytes of a run are made from.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Objects.
    pub layout: &'a Layout<'a>,
    /// Chosen bytes.
    pub fixed: &'a FxHashMap<u64, u8>,
    /// Seed of what is shared.
    pub seed: Seed,
    /// Seed of this side's garbage.
    pub garbage: Seed,
    /// Constants of the programs, of which words may be made.
    pub constants: &'a [u64],
    /// Pointers that the caller passes, and addresses of objects.
    pub pointers: &'a [u64],
    /// Does memory hold floating-point numbers?
    pub floats: bool,
    /// What its other words are like.
    pub fabric: Fabric,
    /// Do all buffers hold the same?
    pub alike: bool,
    /// Memory that is somewhere else, and what it has goes before everything that is seeded.
    pub backing: Option<&'a dyn Backing>,
}

/// Memory outside the interpreter: that of a process.
pub trait Backing: fmt::Debug {
    /// The eight bytes at a multiple of 8, if they are there.
    fn word(&self, address: u64) -> Option<u64>;
}

/// A heap object made during the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// First byte.
    pub start: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Is it full of zeros at first?
    pub zeroed: bool,
    /// Is it gone?
    pub freed: bool,
}

/// A word of the world.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    now: u64,
    start: u64,
    /// Bytes whose initial value was read.
    read: u8,
    /// Bytes that were written.
    written: u8,
    /// Bytes that nobody defined.
    taint: u8,
}

/// A changed word at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// Address, a multiple of 8.
    pub address: u64,
    /// Its bytes before the run.
    pub before: u64,
    /// Its bytes now.
    pub now: u64,
    /// Bytes that mean something: a bit for each.
    pub mask: u8,
    /// Bytes that were written.
    pub written: u8,
}

/// Bytes of one run.
pub struct Memory {
    words: FxHashMap<u64, Word>,
    /// Indices of the words in the order of the first access.
    order: Vec<u64>,
    frame: Vec<u8>,
    /// 0: untouched, 1: defined, 2: written with something that nobody defined.
    state: Vec<u8>,
    /// The part of the array that may not be untouched.
    touched: (usize, usize),
    /// How often a byte got another value.
    version: u64,
    /// Heap objects made so far.
    pub allocations: Vec<Allocation>,
    /// Memory of unknown extent that was freed, by its start.
    pub freed: Vec<u64>,
    /// Sum of a number for each changed word.
    fingerprint: u64,
}

impl Default for Memory {
    fn default() -> Memory {
        let size = (WINDOW + ABOVE) as usize;
        Memory {
            words: FxHashMap::default(),
            order: Vec::new(),
            frame: vec![0; size],
            state: vec![0; size],
            touched: (size, 0),
            version: 0,
            allocations: Vec::new(),
            freed: Vec::new(),
            fingerprint: 0,
        }
    }
}

/// Pages of the buffers that a run needs. Nobody knows whether there are others.
#[derive(Default, Debug)]
pub struct Pages(FxHashSet<u64>);

/// Bits of an address inside its page.
const PAGE_BITS: u32 = 12;

impl Pages {
    /// Is the page of an address there? What is no buffer is not looked at.
    pub fn have(&self, address: u64) -> bool {
        !is_buffer(address) || self.0.contains(&(address >> PAGE_BITS))
    }

    /// Adds what lies behind an address, as much as a page.
    pub fn add_behind(&mut self, address: u64) {
        self.0.extend([address, address.wrapping_add(4095)].map(|at| at >> PAGE_BITS));
    }
}

impl Memory {
    /// Forgets everything.
    pub fn reset(&mut self) {
        // Clearing costs as much as the largest run so far needed.
        if self.words.capacity() > 1 << 12 {
            self.words = FxHashMap::default();
        }
        self.words.clear();
        self.order.clear();
        let (from, to) = self.touched;
        if from < to {
            self.state[from..to].fill(0);
        }
        self.touched = (self.frame.len(), 0);
        self.allocations.clear();
        self.freed.clear();
        self.fingerprint = 0;
    }

    /// Position in the array of the frame.
    fn slot(address: u64, bytes: usize) -> Option<usize> {
        let at = address.wrapping_sub(STACK_TOP - WINDOW);
        (at + bytes as u64 <= WINDOW + ABOVE && at < WINDOW + ABOVE).then_some(at as usize)
    }

    /// The bytes at an address into `out`; the result has a bit for each that nobody defined.
    pub fn read(&mut self, start: &Start, address: u64, out: &mut [u8]) -> u64 {
        if let Some(at) = Memory::slot(address, out.len()) {
            return self.read_frame(start, at, out);
        }
        let mut taint = 0;
        let mut done = 0;
        while done < out.len() {
            let at = address.wrapping_add(done as u64);
            let inside = (at & 7) as usize;
            let n = (8 - inside).min(out.len() - done);
            let word = self.word(start, at >> 3);
            let mask = byte_mask(inside, n);
            word.read |= mask & !word.written;
            out[done..done + n].copy_from_slice(&word.now.to_le_bytes()[inside..inside + n]);
            taint |= u64::from((word.taint & mask) >> inside) << done;
            done += n;
        }
        taint
    }

    /// The pages of everything that was accessed.
    pub fn pages(&self) -> Pages {
        Pages(self.words.keys().map(|index| index >> (PAGE_BITS - 3)).collect())
    }

    /// Equal for runs that have changed the world in the same way.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Bytes of the frame, whether defined or not.
    pub fn peek_frame(&mut self, start: &Start, address: u64, out: &mut [u8]) {
        let Some(at) = Memory::slot(address, out.len()) else { return };
        let mut done = 0;
        while done < out.len() {
            let (address, slot) = (address + done as u64, at + done);
            let rest = &mut out[done..];
            let garbage = address.is_multiple_of(8) && address < STACK_TOP && rest.len() >= 8;
            if garbage && self.state[slot..slot + 8] == [0; 8] {
                rest[..8].copy_from_slice(&start.garbage.mix(address >> 3).to_le_bytes());
                done += 8;
            } else {
                self.read_frame(start, slot, &mut rest[..1]);
                done += 1;
            }
        }
    }

    /// Up to eight bytes, without a trace of having looked at them.
    pub fn peek(&mut self, start: &Start, address: u64, bytes: u16) -> u64 {
        let mut word = [0; 8];
        for (i, byte) in word.iter_mut().take(usize::from(bytes)).enumerate() {
            let at = address.wrapping_add(i as u64);
            *byte = match (Memory::slot(at, 1), self.words.get(&(at >> 3))) {
                (Some(_), _) => {
                    let mut one = [0];
                    self.peek_frame(start, at, &mut one);
                    one[0]
                }
                (None, Some(word)) => word.now.to_le_bytes()[(at & 7) as usize],
                (None, None) => initial_word(start, at >> 3, &self.allocations).now.to_le_bytes()[(at & 7) as usize],
            };
        }
        u64::from_le_bytes(word)
    }

    fn read_frame(&mut self, start: &Start, at: usize, out: &mut [u8]) -> u64 {
        let mut taint = 0;
        for (i, byte) in out.iter_mut().enumerate() {
            let slot = at + i;
            match self.state[slot] {
                0 => {
                    let (value, defined) = initial_frame_byte(start, slot);
                    *byte = value;
                    taint |= u64::from(!defined).checked_shl(i as u32).unwrap_or(0);
                }
                state => {
                    *byte = self.frame[slot];
                    taint |= u64::from(state == 2).checked_shl(i as u32).unwrap_or(0);
                }
            }
        }
        taint
    }

    /// Writes bytes; `taint` has a bit for each that nobody defined.
    pub fn write(&mut self, start: &Start, address: u64, bytes: &[u8], taint: u64) {
        if let Some(at) = Memory::slot(address, bytes.len()) {
            let new = |(slot, byte): (usize, &u8)| self.state[at + slot] == 0 || self.frame[at + slot] != *byte;
            self.version += u64::from(bytes.iter().enumerate().any(new));
            self.frame[at..at + bytes.len()].copy_from_slice(bytes);
            for i in 0..bytes.len() {
                self.state[at + i] = 1 + (taint >> i & 1) as u8;
            }
            self.touched = (self.touched.0.min(at), self.touched.1.max(at + bytes.len()));
            return;
        }
        let mut done = 0;
        let mut changed = false;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let inside = (at & 7) as usize;
            let n = (8 - inside).min(bytes.len() - done);
            let word = self.word(start, at >> 3);
            let mut now = word.now.to_le_bytes();
            now[inside..inside + n].copy_from_slice(&bytes[done..done + n]);
            let (old, now) = (word.now, u64::from_le_bytes(now));
            changed |= old != now;
            word.now = now;
            let (old, new) = (Seed(at >> 3).mix(old), Seed(at >> 3).mix(now));
            let mask = byte_mask(inside, n);
            word.written |= mask;
            word.taint = word.taint & !mask | ((taint >> done << inside) as u8 & mask);
            self.fingerprint = self.fingerprint.wrapping_add(new).wrapping_sub(old);
            done += n;
        }
        self.version += u64::from(changed);
    }

    /// A number that is larger whenever a byte has changed.
    pub fn version(&self) -> u64 {
        self.version
    }

    fn word(&mut self, start: &Start, index: u64) -> &mut Word {
        let (allocations, order) = (&self.allocations, &mut self.order);
        self.words.entry(index).or_insert_with(|| {
            order.push(index);
            initial_word(start, index, allocations)
        })
    }

    /// Everything below this address of the stack is the business of callees.
    pub fn forget_below(&mut self, address: u64) {
        let limit = Memory::slot(address, 0).unwrap_or(0);
        let from = self.touched.0;
        if from < limit {
            self.state[from..limit.min(self.touched.1.max(from))].fill(0);
            self.touched.0 = limit;
        }
    }

    /// A new heap object, the same for the same place in the order of allocations.
    pub fn allocate(&mut self, size: u64, zeroed: bool) -> u64 {
        let start = ALLOCATIONS + self.allocations.len() as u64 * 2 * LARGEST_ALLOCATION;
        self.allocations.push(Allocation { start, size, zeroed, freed: false });
        start
    }

    /// The heap object in whose room an address lies.
    pub fn allocation_at(&self, address: u64) -> Option<&Allocation> {
        let index = address.checked_sub(ALLOCATIONS)? / (2 * LARGEST_ALLOCATION);
        self.allocations.get(usize::try_from(index).ok()?)
    }

    /// Frees an object.
    pub fn free(&mut self, address: u64) {
        let index = address.checked_sub(ALLOCATIONS).map(|at| (at / (2 * LARGEST_ALLOCATION)) as usize);
        match index.and_then(|i| self.allocations.get_mut(i)) {
            Some(allocation) => allocation.freed = true,
            None if address != 0 => self.freed.push(address),
            None => {}
        }
    }

    /// Was the memory at this address freed?
    pub fn is_freed(&self, address: u64) -> bool {
        let near = |start: &u64| address.wrapping_sub(*start) < extent_of(*start);
        self.allocation_at(address).is_some_and(|a| a.freed) || self.freed.iter().any(near)
    }

    /// Words outside the stack that differ from their initial value, sorted.
    pub fn changes(&self) -> Vec<Change> {
        let mut out = Vec::new();
        for index in &self.order {
            let (word, address) = (&self.words[index], index << 3);
            if word.written == 0
                || (word.now == word.start && word.taint == 0)
                || is_stack(address)
                || self.is_freed(address)
            {
                continue;
            }
            // Addresses of the own frame differ from program to program.
            let mask = if is_stack(word.now) { 0 } else { !word.taint };
            out.push(Change { address, before: word.start, now: word.now, mask, written: word.written });
        }
        out.sort_unstable_by_key(|change| change.address);
        out
    }

    /// Initial bytes outside the frame that the run looked at, with their addresses.
    pub fn looked_at(&self, start: &Start) -> Vec<(u64, u8)> {
        let mut out = Vec::new();
        for index in &self.order {
            let word = &self.words[index];
            for i in (0..8).filter(|i| word.read >> i & 1 == 1) {
                let address = (index << 3) + i;
                let known = start.layout.content(address).is_some() || ctype::word(address & !7).is_some();
                if !is_stack(address) && !known && self.allocation_at(address).is_none() {
                    out.push((address, (word.start >> (8 * i)) as u8));
                }
            }
        }
        out.sort_unstable();
        out
    }

    /// Whole words outside the stack whose initial value the run read, and that may be chosen: in the order of their first
    /// access.
    pub fn words_read(&self, start: &Start) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.order.iter().filter_map(|index| {
            let (word, address) = (&self.words[index], index << 3);
            let known = start.layout.content(address).is_some() || ctype::word(address).is_some();
            let free = word.read == 0xff && !is_stack(address) && !known && self.allocation_at(address).is_none();
            free.then_some((address, word.start))
        })
    }

    /// Words outside the frame that the run accessed, as they were at the start, by address.
    pub fn initial_words(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.order.iter().map(|index| (index << 3, self.words[index].start))
    }

    /// Everything that the run accessed, as it was at the start, and the part of the stack that programs use: blocks by
    /// address, apart from each other.
    pub fn initial_blocks(&self, start: &Start) -> Vec<(u64, Vec<u8>)> {
        let frame = (0..(WINDOW + ABOVE) as usize).map(|slot| initial_frame_byte(start, slot).0).collect();
        let mut blocks: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut indices = self.order.clone();
        indices.sort_unstable();
        for index in indices {
            let bytes = self.words[&index].start.to_le_bytes();
            match blocks.last_mut() {
                Some((at, block)) if *at + block.len() as u64 == index << 3 => block.extend(bytes),
                _ => blocks.push((index << 3, bytes.to_vec())),
            }
        }
        blocks.push((STACK_TOP - WINDOW, frame));
        blocks.sort_unstable();
        blocks
    }

    /// Words outside the frame that were accessed: address, bytes that were read before they were written, bytes that were written.
    pub fn accesses(&self) -> impl Iterator<Item = (u64, u8, u8)> + '_ {
        self.order.iter().map(|index| (index << 3, self.words[index].read, self.words[index].written))
    }

    /// Addresses of the words accessed so far, in the order of the first access.
    pub fn accessed(&self) -> impl Iterator<Item = u64> + '_ {
        self.order.iter().map(|index| index << 3)
    }
}

fn byte_mask(from: usize, n: usize) -> u8 {
    (((1u16 << n) - 1) << from) as u8
}

fn initial_frame_byte(start: &Start, slot: usize) -> (u8, bool) {
    let address = STACK_TOP - WINDOW + slot as u64;
    let of = |word: u64| (word >> (8 * (address & 7))) as u8;
    if address < STACK_TOP {
        (of(start.garbage.mix(address >> 3)), false)
    } else if address < STACK_ARGUMENTS {
        (of(RETURN_ADDRESS), true)
    } else if let Some(byte) = start.fixed.get(&address) {
        (*byte, true)
    } else if let Some(word) = start.backing.and_then(|backing| backing.word(address & !7)) {
        (of(word), true)
    } else {
        (of(seeded_word(start, start.seed.mix(address >> 3))), true)
    }
}

fn seeded_word(start: &Start, random: u64) -> u64 {
    match start.floats && random >> 60 < 11 {
        true => plausible_floats(random),
        false => start.fabric.word(random, start.constants, start.pointers),
    }
}

fn initial_word(start: &Start, index: u64, allocations: &[Allocation]) -> Word {
    let address = index << 3;
    let allocated = address.checked_sub(ALLOCATIONS).map(|at| (at / (2 * LARGEST_ALLOCATION)) as usize);
    let whole = |value: u64, taint: u8| Word { now: value, start: value, taint, ..Word::default() };
    if let Some(allocation) = allocated.and_then(|i| allocations.get(i)) {
        return if allocation.zeroed { whole(0, 0) } else { whole(start.garbage.mix(index), 0xff) };
    }
    if is_stack(address) {
        return whole(start.garbage.mix(index), 0xff);
    }
    if let Some(word) = start.backing.and_then(|backing| backing.word(address)) {
        return whole(word, 0);
    }
    if let Some(value) = ctype::word(address) {
        return whole(value, 0);
    }
    let repeats = start.alike && is_buffer(address);
    let random = start.seed.mix(if repeats { index % (BUFFER_SPACING / 8) } else { index });
    let seeded = if address.wrapping_sub(THREAD_LOCAL) < THREAD_LOCAL_SIZE {
        BUFFERS + random % BUFFER_COUNT * BUFFER_SPACING + BUFFER_SPACING / 2
    } else {
        seeded_word(start, random)
    };
    let mut bytes = seeded.to_le_bytes();
    if start.fixed.is_empty() && !start.layout.has_content(address, 8) && !start.layout.has_start(address) {
        return whole(seeded, 0);
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        let at = address.wrapping_add(i as u64);
        let known = start.layout.content(at).or_else(|| start.layout.static_byte(at, start.seed));
        let known = known.or_else(|| start.layout.start_byte(at));
        if let Some(known) = known.or_else(|| start.fixed.get(&at).copied()) {
            *byte = known;
        }
    }
    whole(u64::from_le_bytes(bytes), 0)
}
