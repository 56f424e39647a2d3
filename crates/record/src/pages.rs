//! The memory of a process that stands, read page by page when it is needed.

use interpreter::{Backing, STACK_TOP};
use native::traced::{Thread, Traced};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::fmt;

const PAGE: u64 = 4096;
/// What lies above the interpreter's stack pointer is the caller's.
const CALLER: std::ops::Range<u64> = STACK_TOP..STACK_TOP + PAGE;
/// Where the interpreter has objects of its own.
const OWN: std::ops::Range<u64> = 0x1000_0000_0000..0x2000_0000_0000;

/// Memory as it was when the process stopped.
pub(crate) struct Pages<'t> {
    traced: &'t Traced,
    process: Thread,
    /// The stack pointer, which the interpreter has elsewhere.
    rsp: u64,
    read: RefCell<FxHashMap<u64, Option<Box<[u8; PAGE as usize]>>>>,
    missing: Cell<bool>,
}

impl<'t> Pages<'t> {
    pub fn new(traced: &'t Traced, process: Thread, rsp: u64) -> Pages<'t> {
        Pages { traced, process, rsp, read: RefCell::default(), missing: Cell::new(false) }
    }

    /// Was something asked for that is not there?
    pub fn was_missing(&self) -> bool {
        self.missing.get()
    }

    /// Where the process has an address of the interpreter.
    pub fn translate(&self, address: u64) -> u64 {
        if CALLER.contains(&address) { address - STACK_TOP + self.rsp } else { address }
    }
}

impl Backing for Pages<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let address = self.translate(address);
        let mut read = self.read.borrow_mut();
        let page = read.entry(address / PAGE).or_insert_with(|| {
            let mut bytes = Box::new([0; PAGE as usize]);
            let there = self.traced.read(self.process, address / PAGE * PAGE, &mut bytes[..]);
            (there == bytes.len()).then_some(bytes)
        });
        let at = (address % PAGE) as usize;
        let word = page.as_ref().and_then(|bytes| bytes.get(at..at + 8)?.try_into().ok()).map(u64::from_le_bytes);
        if word.is_none() && !OWN.contains(&address) {
            self.missing.set(true);
        }
        word
    }
}

impl fmt::Debug for Pages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the memory of process {}", self.process)
    }
}
