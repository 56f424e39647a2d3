//! States at chosen points of a run: what invariants are guessed from.

use program::PointId;

/// Bytes below and above the entry stack pointer that a visit notes.
pub const FRAME_BELOW: usize = 1024;
pub const FRAME_ABOVE: usize = 128;

/// What to note, and where.
#[derive(Clone, Default, Debug)]
pub struct Watch {
    /// Is the point watched? By index.
    pub points: Vec<bool>,
    /// Memory to look at.
    pub loads: Vec<WatchedLoad>,
    /// Is the point one where a program may wait for the other: the entry, or behind a call? By index.
    pub waits: Vec<bool>,
}

/// Bytes of memory at a constant distance from a base.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WatchedLoad {
    /// Base.
    pub base: WatchBase,
    /// Distance.
    pub offset: i64,
    /// Number of bytes, at most 8.
    pub bytes: u16,
}

/// Where an address comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WatchBase {
    /// It is known.
    Address(u64),
    /// It is stored at this offset from the entry stack pointer.
    Slot(i64),
    /// It is in the general register of that number.
    Register(u8),
    /// It is the sum of a general register and another one times a scale.
    Indexed {
        /// The first register.
        base: u8,
        /// The other one.
        index: u8,
        /// What it is multiplied with.
        scale: u8,
    },
}

/// The state at a watched point.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The point.
    pub point: PointId,
    /// Calls so far.
    pub calls: usize,
    /// General registers.
    pub general: [u64; 16],
    /// Vector registers: the sixteen low halves, then the high ones.
    pub vectors: Vec<u128>,
    /// The frame from [`FRAME_BELOW`] bytes below the entry stack pointer.
    pub frame: Vec<u8>,
    /// Equal if the run has changed the world in the same way.
    pub world: u64,
    /// The watched loads.
    pub loads: Vec<u64>,
    /// Is it the entry or behind a call?
    pub waits: bool,
    /// Accesses since the last visit, the first ones.
    pub touches: Vec<Touch>,
}

/// An access of at most 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub bytes: u16,
    /// Write or read?
    pub write: bool,
    /// What was read or written.
    pub value: u128,
}

/// Accesses that are noted between two visits.
pub(super) const MOST_TOUCHES: usize = 48;

impl Touch {
    /// An access of these bytes; `None` if there are too many.
    pub(super) fn of(address: u64, data: &[u8], write: bool) -> Option<Touch> {
        let mut value = [0; 16];
        value.get_mut(..data.len())?.copy_from_slice(data);
        Some(Touch { address, bytes: data.len() as u16, write, value: u128::from_le_bytes(value) })
    }
}

impl Visit {
    /// Bytes of the frame, up to eight.
    pub fn slot(&self, offset: i64, bytes: u16) -> Option<u64> {
        let at = usize::try_from(offset + FRAME_BELOW as i64).ok()?;
        let mut word = [0; 8];
        word[..usize::from(bytes)].copy_from_slice(self.frame.get(at..at + usize::from(bytes))?);
        Some(u64::from_le_bytes(word))
    }
}
