//! Block copies that compilers expand into moves.
//!
//! A structure assignment or `memcpy` of a small block becomes pairs of loads and stores, in an order that each compiler
//! chooses. Source and destination must not overlap, unless they are the same: C leaves that undefined, and the code
//! does not show it. So a run of an original in which a value moves unchanged from `S + k` to `T + k` for several `k`,
//! with nothing of the frame read and no branch in between, must not have these blocks overlap.

use super::program::Cell;
use program::Register;

/// A value in memory: address and length.
pub(super) type Source = (u64, u16);

/// Follows values from loads to stores.
pub(super) struct Copies {
    /// Where the value of a cell was loaded from, unchanged.
    sources: [Vec<Option<Source>>; 2],
    /// Moves so far: to, from, length.
    moves: Vec<(u64, u64, u64)>,
}

/// Longest block that is followed, in moves.
const MOST: usize = 64;

impl Copies {
    pub fn new(narrow: usize, wide: usize) -> Copies {
        Copies { sources: [vec![None; narrow], vec![None; wide]], moves: Vec::new() }
    }

    /// Forgets what the registers hold; temporaries are set before they are used.
    pub fn reset(&mut self) {
        for sources in &mut self.sources {
            let registers = sources.len().min(Register::COUNT);
            sources[..registers].fill(None);
        }
        self.moves.clear();
    }

    fn place(&mut self, cell: Cell) -> &mut Option<Source> {
        match cell {
            Cell::Narrow(index) => &mut self.sources[0][index as usize],
            Cell::Wide(index) => &mut self.sources[1][index as usize],
        }
    }

    /// The cell got a new value.
    pub fn set(&mut self, cell: Cell, source: Option<Source>) {
        *self.place(cell) = source;
    }

    /// Where the cell's value was loaded from.
    pub fn source(&mut self, cell: Cell) -> Option<Source> {
        *self.place(cell)
    }

    /// Something else happened: the next move belongs to another block.
    pub fn interrupt(&mut self) {
        self.moves.clear();
    }

    /// A value is stored. Returns true if it belongs to a block that overlaps its own source.
    pub fn store(&mut self, to: u64, bytes: u16, source: Option<Source>) -> bool {
        let Some((from, length)) = source.filter(|(_, length)| *length >= bytes) else {
            self.moves.clear();
            return false;
        };
        let length = u64::from(length.min(bytes));
        if self.moves.len() >= MOST {
            self.moves.clear();
        }
        self.moves.push((to, from, length));
        let distance = to.wrapping_sub(from);
        let block = self.moves.iter().filter(|(t, f, _)| t.wrapping_sub(*f) == distance && distance != 0);
        let meets = |a: (u64, u64), b: (u64, u64)| a.0 < b.0.wrapping_add(b.1) && b.0 < a.0.wrapping_add(a.1);
        let mut others = block.clone().take_while(|m| **m != (to, from, length));
        others.any(|(t, f, n)| meets((*t, *n), (from, length)) || meets((to, length), (*f, *n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_overlaps_its_source_is_noticed() {
        let mut copies = Copies::new(1, 1);
        assert!(!copies.store(108, 8, Some((100, 8))));
        assert!(copies.store(116, 8, Some((108, 8))));
    }

    #[test]
    fn disjoint_blocks_and_separate_moves_are_fine() {
        let mut copies = Copies::new(1, 1);
        assert!(!copies.store(200, 8, Some((100, 8))));
        assert!(!copies.store(208, 8, Some((108, 8))));
        copies.interrupt();
        assert!(!copies.store(108, 8, Some((100, 8))));
        copies.interrupt();
        assert!(!copies.store(116, 8, Some((108, 8))));
        assert!(!copies.store(100, 8, Some((100, 8))));
    }
}
