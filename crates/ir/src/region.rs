//! Memory: objects far apart, each a row of cells of one grain.
//!
//! A value lies in as many cells as it needs, the first of which holds it. Known bits may be read and overwritten in pieces; of any other
//! value a piece is lost.

use crate::datum::{Datum, mask};
use updates::Scalar;

/// A cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot<V> {
    pub datum: Datum<V>,
    /// Width in bytes of the value that starts here; [`UNTOUCHED`] or [`TAIL`].
    pub bytes: u8,
    /// Was it written as a floating-point number? Known bits do not tell.
    pub float: bool,
}

/// Nobody touched the cell.
pub(crate) const UNTOUCHED: u8 = 0;
/// The cell belongs to the value before it.
pub(crate) const TAIL: u8 = u8::MAX;

/// What cells hold that nobody touched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Backing {
    /// What the caller left there.
    Input {
        /// Name of the input.
        key: u64,
        layout: Option<Layout>,
    },
    /// Zero.
    Zero,
    /// Nothing.
    Nothing,
}

/// Types of an array's cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    /// Bytes of an element.
    pub element: u64,
    /// Offset and type of each field.
    pub fields: Vec<(u64, Scalar)>,
}

impl Layout {
    /// Number and type of the cell that starts here.
    pub fn cell(&self, offset: u64) -> Option<(u64, Scalar)> {
        let (number, inside) = (offset.checked_div(self.element)?, offset % self.element);
        let field = self.fields.iter().position(|(start, _)| *start == inside)?;
        Some((number * self.fields.len() as u64 + field as u64, self.fields[field].1))
    }

    /// Where a cell starts.
    pub fn offset(&self, cell: u64) -> Option<u64> {
        let count = self.fields.len() as u64;
        let (start, _) = self.fields.get((cell.checked_rem(count)?) as usize)?;
        Some(cell / count * self.element + start)
    }
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Region<V> {
    pub name: String,
    /// Bytes; of an object that grows as it is used, what it may grow to.
    pub size: u64,
    /// Bytes of a cell, a power of two.
    pub grain: u8,
    pub cells: Vec<Slot<V>>,
    pub backing: Backing,
    pub alive: bool,
    pub writable: bool,
    /// Was anything touched since it was last forgotten?
    pub dirty: bool,
    /// Does it outlive the call that made it?
    pub heap: bool,
    /// End of the last byte touched.
    pub reached: u64,
}

/// What a read finds.
pub(crate) enum Found<V> {
    Datum(Datum<V>),
    /// Nobody touched it.
    Untouched,
    /// A piece of something that has no pieces.
    Torn,
}

impl<V: Copy + Eq> Slot<V> {
    pub const UNTOUCHED: Slot<V> = Slot { datum: Datum::Poison, bytes: UNTOUCHED, float: false };
    const TAIL: Slot<V> = Slot { datum: Datum::Poison, bytes: TAIL, float: false };
}

impl<V: Copy + Eq> Region<V> {
    pub fn new(name: String, size: u64, grain: u8, backing: Backing) -> Region<V> {
        Region {
            name,
            size,
            grain,
            cells: Vec::new(),
            backing,
            alive: true,
            writable: true,
            dirty: false,
            heap: false,
            reached: 0,
        }
    }

    /// Makes the cells smaller.
    pub fn refine(&mut self, grain: u8) {
        let ratio = usize::from(self.grain / grain);
        let mut cells = Vec::with_capacity(self.cells.len() * ratio);
        for slot in &self.cells {
            cells.push(*slot);
            let rest = if slot.bytes == UNTOUCHED { Slot::UNTOUCHED } else { Slot::TAIL };
            cells.extend(std::iter::repeat_n(rest, ratio - 1));
        }
        (self.cells, self.grain) = (cells, grain);
    }

    /// The grain that an access needs.
    pub fn needed(&self, offset: u64, bytes: u8) -> u8 {
        let mut grain = self.grain;
        while !offset.is_multiple_of(u64::from(grain)) || bytes < grain {
            grain /= 2;
        }
        grain
    }

    /// Makes room for cells up to an index.
    pub fn reach(&mut self, index: usize) {
        if self.cells.len() <= index {
            self.cells.resize(index + 1, Slot::UNTOUCHED);
        }
    }

    /// What lies at a cell; the grain fits the access.
    #[inline]
    pub fn read(&self, index: usize, bytes: u8) -> Found<V> {
        match self.cells.get(index) {
            Some(slot) if slot.bytes == bytes => Found::Datum(slot.datum),
            _ => self.pieces(index, bytes),
        }
    }

    fn pieces(&self, index: usize, bytes: u8) -> Found<V> {
        let count = usize::from(bytes / self.grain);
        let slot = |i: usize| self.cells.get(i).copied().unwrap_or(Slot::UNTOUCHED);
        if (index..index + count).all(|i| slot(i).bytes == UNTOUCHED) {
            return match self.backing {
                Backing::Zero => Found::Datum(Datum::Bits(0)),
                Backing::Nothing => Found::Datum(Datum::Poison),
                Backing::Input { .. } => Found::Untouched,
            };
        }
        let (mut whole, mut at) = (0u64, index);
        while at < index + count {
            let head = self.head(at);
            let slot = slot(head);
            let (bits, width) = match (slot.datum, slot.bytes, &self.backing) {
                (_, UNTOUCHED, Backing::Zero) => (0, self.grain),
                (Datum::Bits(bits), 1.., _) => (bits, slot.bytes),
                _ => return Found::Torn,
            };
            let skipped = (at - head) * usize::from(self.grain);
            let piece = (bits >> (8 * skipped)) & mask(8 * self.grain);
            whole |= piece << (8 * usize::from(self.grain) * (at - index));
            debug_assert!(skipped < usize::from(width));
            at += 1;
        }
        Found::Datum(Datum::Bits(whole))
    }

    /// The cell with the value that a cell belongs to.
    pub fn head(&self, index: usize) -> usize {
        let mut at = index;
        while at > 0 && self.cells.get(at).is_some_and(|slot| slot.bytes == TAIL) {
            at -= 1;
        }
        at
    }

    /// The cells that a write changes, with their new content.
    pub fn changes(&self, index: usize, slot: Slot<V>) -> Vec<(usize, Slot<V>)> {
        let count = usize::from(slot.bytes / self.grain);
        let mut list = Vec::new();
        for edge in [index, index + count] {
            if self.cells.get(edge).is_some_and(|slot| slot.bytes == TAIL) {
                self.split(self.head(edge), &mut list);
            }
        }
        list.push((index, slot));
        list.extend((index + 1..index + count).map(|i| (i, Slot::TAIL)));
        list
    }

    /// Takes a value apart.
    fn split(&self, head: usize, list: &mut Vec<(usize, Slot<V>)>) {
        let Slot { datum, bytes, .. } = self.cells[head];
        for piece in 0..usize::from(bytes / self.grain) {
            let datum = match datum {
                Datum::Bits(bits) => {
                    Datum::Bits((bits >> (8 * piece * usize::from(self.grain))) & mask(8 * self.grain))
                }
                _ => Datum::Lost,
            };
            list.push((head + piece, Slot { datum, bytes: self.grain, float: false }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(grain: u8) -> Region<u32> {
        let mut region = Region::new("r".to_string(), 16, grain, Backing::Nothing);
        region.reach(usize::from(16 / grain) - 1);
        region
    }

    fn write(region: &mut Region<u32>, offset: usize, bytes: u8, datum: Datum<u32>) {
        for (index, slot) in region.changes(offset / usize::from(region.grain), Slot { datum, bytes, float: false }) {
            region.cells[index] = slot;
        }
    }

    fn read(region: &Region<u32>, offset: usize, bytes: u8) -> Option<Datum<u32>> {
        match region.read(offset / usize::from(region.grain), bytes) {
            Found::Datum(datum) => Some(datum),
            _ => None,
        }
    }

    #[test]
    fn known_bits_have_pieces_and_values_do_not() {
        let mut region = region(1);
        write(&mut region, 0, 8, Datum::Bits(0x1122_3344_5566_7788));
        assert_eq!(read(&region, 1, 2), Some(Datum::Bits(0x6677)));
        write(&mut region, 2, 1, Datum::Bits(0));
        assert_eq!(read(&region, 0, 4), Some(Datum::Bits(0x5500_7788)));
        write(&mut region, 8, 8, Datum::Value(7, Scalar::F64));
        assert_eq!(read(&region, 8, 8), Some(Datum::Value(7, Scalar::F64)));
        assert_eq!(read(&region, 8, 4), None, "half of a value");
        write(&mut region, 12, 4, Datum::Bits(0));
        assert_eq!(read(&region, 8, 8), None, "half of it was overwritten");
        assert_eq!(read(&region, 12, 4), Some(Datum::Bits(0)));
    }

    #[test]
    fn a_finer_grain_keeps_the_content() {
        let mut region = region(8);
        write(&mut region, 8, 8, Datum::Value(7, Scalar::I64));
        assert_eq!(region.needed(8, 4), 4);
        region.refine(4);
        assert_eq!(read(&region, 8, 8), Some(Datum::Value(7, Scalar::I64)));
        assert_eq!(read(&region, 12, 4), None);
        assert_eq!(read(&region, 0, 8), Some(Datum::Poison), "nobody wrote it");
    }

    #[test]
    fn cells_of_structures_have_numbers() {
        let layout = Layout { element: 16, fields: vec![(0, Scalar::I8), (4, Scalar::I32), (8, Scalar::F64)] };
        assert_eq!(layout.cell(20), Some((4, Scalar::I32)));
        assert_eq!(layout.cell(17), None);
        assert_eq!(layout.offset(4), Some(20));
    }
}
