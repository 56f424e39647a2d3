//! The private part of an activation: stack slots at constant offsets from the entry stack pointer.
//!
//! A slot behaves like a variable. Cells do not overlap; a byte without a cell has the value that `base` gives
//! it, a memory that nobody else mentions (so: unknown, and unknown per side).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use term::{Arena, TermId};

/// Frame contents by offset from the entry stack pointer.
#[derive(Clone, Debug)]
pub struct Frame {
    cells: Rc<BTreeMap<i64, TermId>>,
    /// Content of bytes without a cell, addressed by the offset itself.
    pub base: TermId,
    /// Incoming stack arguments, addressed by the offset from the first: bytes without a cell above the return
    /// address.
    arguments: TermId,
    /// What is at offset 0 without a cell.
    return_address: TermId,
    /// Bytes that were written since the last call, and not read.
    unread: Rc<BTreeSet<i64>>,
}

/// Incoming stack arguments begin here, behind the return address.
pub(crate) const ARGUMENTS: i64 = 8;

fn bytes(arena: &Arena, value: TermId) -> i64 {
    i64::from(arena.width(value) / 8)
}

fn slice(arena: &mut Arena, value: TermId, from: i64, len: i64) -> TermId {
    arena.extract(value, (8 * (from + len) - 1) as u16, (8 * from) as u16)
}

impl Frame {
    /// A frame of which nothing is known.
    pub fn new(base: TermId, arguments: TermId, return_address: TermId) -> Frame {
        Frame { cells: Rc::default(), base, arguments, return_address, unread: Rc::default() }
    }

    /// The bytes `offset..offset + len`.
    pub fn read(&self, arena: &mut Arena, offset: i64, len: u16) -> TermId {
        let end = offset + i64::from(len);
        let mut parts = Vec::new();
        let mut at = offset;
        let first = self.cells.range(..=offset).next_back().map_or(offset, |(start, _)| *start);
        for (start, value) in self.cells.range(first..end) {
            let stop = start + bytes(arena, *value);
            if stop <= at {
                continue;
            }
            if *start > at {
                parts.push(self.missing(arena, at, *start - at));
                at = *start;
            }
            let upto = stop.min(end);
            parts.push(slice(arena, *value, at - start, upto - at));
            at = upto;
        }
        if at < end {
            parts.push(self.missing(arena, at, end - at));
        }
        parts.reverse();
        arena.concat_all(&parts)
    }

    /// The bytes `offset..offset + len`, if one write has set them all.
    pub(crate) fn stored(&self, arena: &mut Arena, offset: i64, len: u16) -> Option<TermId> {
        let (start, value) = self.cells.range(..=offset).next_back()?;
        let covers = start.saturating_add(bytes(arena, *value)) >= offset.saturating_add(i64::from(len));
        covers.then(|| slice(arena, *value, offset - start, i64::from(len)))
    }

    fn missing(&self, arena: &mut Arena, offset: i64, len: i64) -> TermId {
        for border in [0, ARGUMENTS] {
            if offset < border && offset + len > border {
                let low = self.missing(arena, offset, border - offset);
                let high = self.missing(arena, border, offset + len - border);
                return arena.concat(high, low);
            }
        }
        if (0..ARGUMENTS).contains(&offset) {
            return slice(arena, self.return_address, offset, len);
        }
        let (memory, start) = if offset < 0 { (self.base, 0) } else { (self.arguments, ARGUMENTS) };
        let address = arena.bv_i64(64, offset - start);
        arena.load(memory, address, len as u16)
    }

    /// Writes `value` at `offset`.
    pub fn write(&mut self, arena: &mut Arena, offset: i64, value: TermId) {
        let end = offset + bytes(arena, value);
        self.clear(arena, offset, end);
        Rc::make_mut(&mut self.cells).insert(offset, value);
        Rc::make_mut(&mut self.unread).extend(offset..end);
    }

    /// The code reads the bytes `offset..offset + len`.
    pub(crate) fn note_read(&mut self, offset: i64, len: u16) {
        if !self.unread.is_empty() {
            let unread = Rc::make_mut(&mut self.unread);
            (offset..offset + i64::from(len)).for_each(|byte| {
                unread.remove(&byte);
            });
        }
    }

    /// Cells of which a byte was written since the last call and not read.
    pub fn unread_cells(&self) -> Vec<(i64, TermId)> {
        self.unread
            .iter()
            .filter_map(|byte| self.cells.range(..=*byte).next_back())
            .map(|(start, value)| (*start, *value))
            .collect::<BTreeMap<i64, TermId>>()
            .into_iter()
            .collect()
    }

    /// Forgets the cells of `from..to`; the rest of cells that straddle the ends stays.
    fn clear(&mut self, arena: &mut Arena, from: i64, to: i64) {
        let first = self.cells.range(..=from).next_back().map_or(from, |(start, _)| *start);
        let hit: Vec<(i64, TermId)> = self.cells.range(first..to).map(|(start, value)| (*start, *value)).collect();
        for (start, value) in hit {
            let stop = start + bytes(arena, value);
            if stop <= from {
                continue;
            }
            let cells = Rc::make_mut(&mut self.cells);
            cells.remove(&start);
            if start < from {
                let left = slice(arena, value, 0, from - start);
                Rc::make_mut(&mut self.cells).insert(start, left);
            }
            if stop > to {
                let right = slice(arena, value, to - start, stop - to);
                Rc::make_mut(&mut self.cells).insert(to, right);
            }
        }
    }

    /// Everything below `limit` becomes unknown, and so does every byte that had no cell: the effect of a call.
    pub fn forget_below(&mut self, arena: &mut Arena, limit: i64, base: TermId) {
        self.clear(arena, i64::MIN / 2, limit);
        self.base = base;
        self.unread = Rc::default();
    }

    /// Forgets the bytes `from..to`: outgoing arguments, which belong to the callee.
    pub fn forget_range(&mut self, arena: &mut Arena, from: i64, to: i64) {
        self.clear(arena, from, to);
    }

    /// The frame that is `then` where the condition holds and `other` elsewhere.
    pub fn merge(arena: &mut Arena, condition: TermId, then: &Frame, other: &Frame) -> Frame {
        let unread = match Rc::ptr_eq(&then.unread, &other.unread) {
            true => Rc::clone(&then.unread),
            false => Rc::new(then.unread.union(&other.unread).copied().collect()),
        };
        if Rc::ptr_eq(&then.cells, &other.cells) && then.base == other.base {
            return Frame { unread, ..then.clone() };
        }
        let base = arena.ite(condition, then.base, other.base);
        let mut cuts: Vec<(i64, i64)> = Vec::new();
        for frame in [then, other] {
            cuts.extend(frame.cells.iter().map(|(start, value)| (*start, start + bytes(arena, *value))));
        }
        let mut edges: Vec<i64> = cuts.iter().flat_map(|(a, b)| [*a, *b]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut cells = BTreeMap::new();
        // Equal cells stay whole; where the partitions differ, the pieces between all cuts are merged.
        for (start, value) in then.cells.iter() {
            if other.cells.get(start).is_some_and(|o| arena.sort(*o) == arena.sort(*value)) {
                let merged = if other.cells[start] == *value {
                    *value
                } else {
                    arena.ite(condition, *value, other.cells[start])
                };
                cells.insert(*start, merged);
            }
        }
        for pair in edges.windows(2) {
            let (start, stop) = (pair[0], pair[1]);
            let covered = cells.range(..=start).next_back().is_some_and(|(s, v)| s + bytes(arena, *v) > start);
            let present = cuts.iter().any(|(a, b)| *a <= start && stop <= *b);
            if covered || !present {
                continue;
            }
            let (a, b) =
                (then.read(arena, start, (stop - start) as u16), other.read(arena, start, (stop - start) as u16));
            let merged = arena.ite(condition, a, b);
            cells.insert(start, merged);
        }
        Frame { cells: Rc::new(cells), base, unread, ..then.clone() }
    }

    /// Changes every term.
    pub(crate) fn map(&mut self, change: &mut dyn FnMut(TermId) -> TermId) {
        for value in Rc::make_mut(&mut self.cells).values_mut() {
            *value = change(*value);
        }
        self.base = change(self.base);
    }

    /// Offsets and values of the cells.
    pub fn cells(&self) -> impl Iterator<Item = (i64, TermId)> {
        self.cells.iter().map(|(offset, value)| (*offset, *value))
    }
}
