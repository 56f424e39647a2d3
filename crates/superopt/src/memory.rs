//! Memory of the states, and what stores change of it.
//!
//! Memory itself is never written: a load looks at the stores before it, the latest first. Programs are short, so there
//! are few.

use crate::steps::{Buffer, Reads, lane};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::Arc;

/// Memory of one state: pieces by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pieces: Vec<(u64, Vec<u8>)>,
}

impl Image {
    pub fn new(pieces: &[(u64, Vec<u8>)]) -> Image {
        let mut pieces = pieces.to_vec();
        pieces.sort_unstable_by_key(|(address, _)| *address);
        let mut joined: Vec<(u64, Vec<u8>)> = Vec::new();
        for (address, bytes) in pieces {
            match joined.last_mut() {
                Some((start, before)) if start.wrapping_add(before.len() as u64) == address => before.extend(bytes),
                _ => joined.push((address, bytes)),
            }
        }
        Image { pieces: joined }
    }

    pub fn byte(&self, address: u64) -> Option<u8> {
        let after = self.pieces.partition_point(|(start, _)| *start <= address);
        let (start, bytes) = self.pieces.get(after.checked_sub(1)?)?;
        bytes.get(usize::try_from(address - start).ok()?).copied()
    }

    /// A little-endian word of up to 8 bytes.
    fn word(&self, address: u64, bytes: u8) -> Option<u64> {
        let after = self.pieces.partition_point(|(start, _)| *start <= address);
        let (start, content) = self.pieces.get(after.checked_sub(1)?)?;
        let at = usize::try_from(address - start).ok()?;
        let piece = content.get(at..at.checked_add(usize::from(bytes))?)?;
        Some(piece.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }
}

/// A store that was run: the buffer of its address, the words of the value behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stored {
    pub buffer: u16,
    pub bytes: u16,
}

/// Memory in the middle of a program.
pub(crate) struct View<'a> {
    pub images: &'a [Arc<Image>],
    pub stores: &'a [Stored],
    /// Where the last access outside of memory was.
    pub missing: &'a Cell<Option<u64>>,
}

impl Stored {
    /// Address in a state.
    pub fn address(self, buffers: &[Buffer], i: usize) -> u64 {
        lane(buffers, usize::from(self.buffer), i)
    }

    /// A byte of the value in a state.
    pub fn byte(self, buffers: &[Buffer], i: usize, at: u64) -> u8 {
        (lane(buffers, usize::from(self.buffer) + 1 + (at / 8) as usize, i) >> (8 * (at % 8))) as u8
    }
}

impl Reads for View<'_> {
    fn read(&self, buffers: &[Buffer], i: usize, address: u64, bytes: u8) -> Option<u64> {
        let image = &self.images[i];
        let near = |stored: &&Stored| {
            let start = stored.address(buffers, i);
            start.wrapping_sub(address) < u64::from(bytes) || address.wrapping_sub(start) < u64::from(stored.bytes)
        };
        if !self.stores.iter().any(|stored| near(&stored)) {
            let word = image.word(address, bytes);
            if word.is_none() {
                // An access over the end of a piece needs what is behind it.
                let first =
                    (0..u64::from(bytes)).map(|k| address.wrapping_add(k)).find(|place| image.byte(*place).is_none());
                self.missing.set(Some(first.unwrap_or(address)));
            }
            return word;
        }
        let mut word = 0;
        for k in (0..u64::from(bytes)).rev() {
            let place = address.wrapping_add(k);
            let hit = self.stores.iter().rev().find_map(|stored| {
                let at = place.wrapping_sub(stored.address(buffers, i));
                (at < u64::from(stored.bytes)).then(|| stored.byte(buffers, i, at))
            });
            let byte = hit.or_else(|| image.byte(place));
            if byte.is_none() {
                self.missing.set(Some(place));
            }
            word = word << 8 | u64::from(byte?);
        }
        Some(word)
    }
}

/// Bytes that differ from the start in one state.
pub(crate) type Changed = FxHashMap<u64, u8>;

/// What stores leave changed in a state; `None` if one is outside of memory.
pub(crate) fn changed(view: &View, buffers: &[Buffer], i: usize) -> Option<Changed> {
    let mut out = Changed::default();
    for stored in view.stores {
        let start = stored.address(buffers, i);
        for at in 0..u64::from(stored.bytes) {
            let place = start.wrapping_add(at);
            if view.images[i].byte(place).is_none() {
                view.missing.set(Some(place));
                return None;
            }
            out.insert(place, stored.byte(buffers, i, at));
        }
    }
    out.retain(|place, byte| view.images[i].byte(*place) != Some(*byte));
    Some(out)
}
