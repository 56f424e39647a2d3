//! Timing: several functions in one sandbox, in turn, by the processor's clock.
//!
//! [`Bench`] is a sandbox that may read the clock, with a driver of ours beside the code ([`driver`]). A *contender* is a list of calls;
//! a *round* times each contender once, in random order, so that whatever else the machine does hits all of them alike. The memory that
//! a call needs is put in place outside the timed part. What the numbers mean is decided elsewhere (crate `measure`).
//!
//! Trust: none. Code under test can falsify its own times; it is the user's code, and nobody proves anything with times.

mod driver;

#[cfg(test)]
mod tests;

use crate::function::Access;
use crate::sandbox::{Clock, Image, Limits, Processor, Sandbox, Segment, Stop, Zeros};
use crate::state::NativeError;
use driver::{Control, Copy, DATA, Record, Step, Words};
use std::collections::HashMap;
use std::sync::Arc;

/// A sandbox in which calls are timed.
pub struct Bench {
    sandbox: Sandbox,
    /// Where the driver lies.
    driver: u64,
    /// Bytes behind the driver's code.
    room: u64,
    fs_base: u64,
}

/// A call of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The first instruction.
    pub entry: u64,
    /// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8–r15. `rsp` points at the place of the return address; of the others, a timed call
    /// has those that a caller may pass something in.
    pub general: [u64; 16],
    /// ymm0–ymm7, if the function looks at them.
    pub vectors: Option<[[u64; 4]; 8]>,
    /// What is put in place before the call.
    pub memory: Vec<(u64, Arc<[u8]>)>,
    /// How often it is made; only a call that leaves its memory as it was may be made more than once.
    pub repeats: u32,
    /// Does it leave a value on the x87 stack?
    pub x87: X87,
}

/// What a call leaves on the x87 stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum X87 {
    /// Nothing.
    #[default]
    Empty,
    /// Its result.
    Result,
}

/// What a single call did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Once {
    /// How it ended; [`Once::returned`] says whether as it should.
    pub stop: Stop,
    /// Registers at the end.
    pub processor: Processor,
    /// Did it return to its caller?
    pub returned: bool,
    /// Did it compute with a number so small that the processor may take a slow way?
    pub denormal: bool,
}

/// Ticks by round and contender.
pub type Ticks = Vec<Vec<u64>>;

/// Most bytes of the driver's tables.
const MOST_ROOM: u64 = 192 << 20;
const PAGE: u64 = 4096;

impl Bench {
    /// Starts a sandbox with these segments and pieces, and so much room for the memory of calls.
    pub fn start(segments: &[Segment], zeros: &[Zeros], room: u64, fs_base: u64) -> Result<Bench, NativeError> {
        if room > MOST_ROOM {
            return Err(NativeError::TooLarge);
        }
        let room = room.next_multiple_of(PAGE).max(PAGE);
        let mut taken: Vec<(u64, u64)> = segments.iter().map(|s| (s.address, s.bytes.len() as u64)).collect();
        taken.extend(zeros.iter().map(|z| (z.address, z.length)));
        let driver = gap(&mut taken, DATA + room + PAGE)?;
        let mut code = driver::code();
        code.resize(DATA as usize, 0xcc);
        let mut segments = segments.to_vec();
        segments.push(Segment { address: driver, bytes: code, access: Access::Execute });
        let mut zeros = zeros.to_vec();
        zeros.push(Zeros { address: driver + DATA, length: room });
        let sandbox = Sandbox::of(Image::new(&segments)?.with_clock(Clock::Visible), &zeros)?;
        Ok(Bench { sandbox, driver, room, fs_base })
    }

    /// Makes a call once, untimed.
    pub fn once(&mut self, call: &Call, limits: Limits) -> Result<Once, NativeError> {
        /// Nothing is there: returning ends with a fault at this address.
        const FINISH: u64 = 0x1000;
        let pieces: Vec<(u64, &[u8])> = call.memory.iter().map(|(at, bytes)| (*at, &bytes[..])).collect();
        self.sandbox.write_all(&pieces)?;
        self.sandbox.write(call.general[4], &FINISH.to_le_bytes())?;
        let mut start = Processor { rip: call.entry, fs_base: self.fs_base, ..Processor::default() };
        start.general = call.general;
        for (to, from) in start.vectors.iter_mut().zip(call.vectors.iter().flatten()) {
            *to = *from;
        }
        self.sandbox.set_processor(&start)?;
        let stop = self.sandbox.run(limits)?;
        let processor = self.sandbox.processor()?;
        let returned = matches!(stop, Stop::Fault(_)) && processor.rip == FINISH;
        let returned = returned && processor.general[4] == call.general[4].wrapping_add(8);
        Ok(Once { stop, processor, returned, denormal: self.sandbox.met_denormal()? })
    }

    /// Reads memory as the last call left it.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), NativeError> {
        self.sandbox.read(address, bytes)
    }

    /// Times each contender once in each round: the sum over its calls. Every call must be one that returns; one that is listed again
    /// is made again, its memory restored.
    pub fn time(
        &mut self,
        contenders: &[Vec<&Call>],
        rounds: usize,
        seed: u64,
        limits: Limits,
    ) -> Result<Ticks, NativeError> {
        let data = self.driver + DATA;
        let mut tables = Tables { start: data, words: vec![0; size_of::<Control>() / 8], kept: HashMap::new() };
        let mut lists = Vec::with_capacity(contenders.len());
        for calls in contenders {
            let mut records: HashMap<*const Call, u64> = HashMap::new();
            let mut list = Vec::with_capacity(calls.len());
            for call in calls {
                let record = *records.entry(std::ptr::from_ref(*call)).or_insert_with(|| tables.call(call));
                list.push(record);
            }
            lists.push((tables.end(), list.len() as u64));
            tables.words.extend(list);
        }
        let order = orders(contenders.len(), rounds, seed);
        let first = tables.end();
        for contender in order.iter().flatten() {
            let (calls, count) = lists[*contender];
            Step { calls, count, sum: 0 }.words(&mut tables.words);
        }
        let end = tables.end();
        let mut control = Vec::new();
        Control::new(first, end).words(&mut control);
        tables.words[..control.len()].copy_from_slice(&control);
        if end - data > self.room {
            return Err(NativeError::TooLarge);
        }
        let bytes: Vec<u8> = tables.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.sandbox.write(data, &bytes)?;
        let start = Processor { rip: self.driver, fs_base: self.fs_base, ..Processor::default() };
        self.sandbox.set_processor(&start)?;
        match self.sandbox.run(limits)? {
            Stop::Trap if self.sandbox.processor()?.rip == self.driver + driver::code().len() as u64 => {}
            Stop::OutOfTime => return Err(NativeError::Busy),
            Stop::Trap | Stop::Fault(_) => return Err(NativeError::Unavailable("a timed call did not return")),
        }
        let mut bytes = vec![0; (end - first) as usize];
        self.sandbox.read(first, &mut bytes)?;
        let mut sums = bytes.chunks_exact(size_of::<Step>()).map(|step| {
            let sum = &step[std::mem::offset_of!(Step, sum)..];
            sum[..8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        });
        let mut out = Vec::with_capacity(rounds);
        for order in &order {
            let mut ticks = vec![0; contenders.len()];
            for (contender, sum) in order.iter().zip(&mut sums) {
                ticks[*contender] = sum;
            }
            out.push(ticks);
        }
        Ok(out)
    }
}

/// What the driver reads, as words from an address on.
struct Tables {
    start: u64,
    words: Vec<u64>,
    /// Where bytes are that were put there before.
    kept: HashMap<*const u8, u64>,
}

impl Tables {
    fn end(&self) -> u64 {
        self.start + 8 * self.words.len() as u64
    }

    fn call(&mut self, call: &Call) -> u64 {
        let mut copies = Vec::with_capacity(call.memory.len());
        for (to, bytes) in &call.memory {
            let next = self.end();
            let from = *self.kept.entry(bytes.as_ptr()).or_insert(next);
            if from == next {
                self.words.extend(bytes.chunks(8).map(|b| b.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))));
            }
            copies.push(Copy { to: *to, from, length: bytes.len() as u64 });
        }
        let (at, count) = (self.end(), copies.len() as u64);
        copies.iter().for_each(|copy| copy.words(&mut self.words));
        let record = self.end();
        let mut general = call.general;
        // The driver's `call` puts the return address there.
        general[4] = general[4].wrapping_add(8);
        let upper = call.vectors.is_some_and(|all| all.iter().any(|v| v[2] != 0 || v[3] != 0));
        let loads = match call.vectors {
            None => 0,
            Some(_) if upper && std::arch::is_x86_feature_detected!("avx") => 2,
            Some(_) => 1,
        };
        let repeats = u64::from(call.repeats.max(1));
        let (vectors, pops) = (call.vectors.unwrap_or_default(), u64::from(call.x87 == X87::Result));
        Record { copies: at, count, entry: call.entry, repeats, loads, pops, general, vectors }.words(&mut self.words);
        record
    }
}

/// A place for the driver: apart from everything else, and with the rest below 2 GiB if possible.
fn gap(taken: &mut [(u64, u64)], length: u64) -> Result<u64, NativeError> {
    const FROM: u64 = 0x6800_0000;
    taken.sort_unstable();
    let mut at = FROM;
    for (address, bytes) in taken.iter() {
        let end = address.checked_add(*bytes).and_then(|end| end.checked_next_multiple_of(PAGE));
        let end = end.ok_or(NativeError::TooLarge)?;
        if *address < at + length && end > at {
            at = end + PAGE;
        }
    }
    if at + length > Sandbox::HIGHEST { Err(NativeError::TooLarge) } else { Ok(at) }
}

/// For each round the order of the contenders.
fn orders(contenders: usize, rounds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut state = seed;
    // Splitmix64.
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    let one = |_| {
        let mut order: Vec<usize> = (0..contenders).collect();
        for i in (1..contenders).rev() {
            order.swap(i, (next() % (i as u64 + 1)) as usize);
        }
        order
    };
    (0..rounds).map(one).collect()
}
