//! Every update of a run: what was written where, by which statement instance, from which earlier updates.

use updates::{Observer, TermRef};

/// An update.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub object: u32,
    pub cell: u64,
    pub value: TermRef,
    pub site: u32,
    iterators: (u32, u32),
    reads: (u32, u32),
}

/// A read of an update: the cell and who wrote it, zero for the input, else one more than the update's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub object: u32,
    pub cell: u64,
    pub value: TermRef,
    pub writer: u32,
}

/// The updates of a run.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub updates: Vec<Update>,
    reads: Vec<Read>,
    iterators: Vec<i64>,
    writers: Vec<Vec<u32>>,
    /// Reads of the statements that have begun, the innermost from here on.
    pending: Vec<Read>,
    innermost: usize,
    /// Too long to keep.
    pub overflow: bool,
}

/// Stands for the object of a condition, which writes none.
pub(super) const CONDITION: u32 = u32::MAX;

/// Most updates that are kept.
const MOST: usize = 3_000_000;

impl Trace {
    pub fn reads(&self, update: &Update) -> &[Read] {
        &self.reads[update.reads.0 as usize..update.reads.1 as usize]
    }

    pub fn iterators(&self, update: &Update) -> &[i64] {
        &self.iterators[update.iterators.0 as usize..update.iterators.1 as usize]
    }

    /// Updates of each cell in order, by object and cell.
    pub fn versions(&self) -> Vec<Vec<Vec<u32>>> {
        let mut all: Vec<Vec<Vec<u32>>> = Vec::new();
        for (number, update) in self.updates.iter().enumerate() {
            if update.object == CONDITION {
                continue;
            }
            let (object, cell) = (update.object as usize, update.cell as usize);
            if all.len() <= object {
                all.resize(object + 1, Vec::new());
            }
            if all[object].len() <= cell {
                all[object].resize(cell + 1, Vec::new());
            }
            all[object][cell].push(number as u32);
        }
        all
    }

    /// Keeps an update with the reads since its statement began; its number plus one.
    fn record(&mut self, object: u32, cell: u64, value: TermRef, site: u32, iterators: &[i64]) -> Option<u32> {
        if self.updates.len() >= MOST || self.reads.len() >= 8 * MOST {
            self.overflow = true;
            return None;
        }
        let start = (self.reads.len() as u32, self.iterators.len() as u32);
        self.reads.extend(self.pending.drain(self.innermost..));
        self.iterators.extend_from_slice(iterators);
        let iterators = (start.1, self.iterators.len() as u32);
        let reads = (start.0, self.reads.len() as u32);
        self.updates.push(Update { object, cell, value, site, iterators, reads });
        Some(self.updates.len() as u32)
    }

    fn slot(&mut self, object: u32, cell: u64) -> &mut u32 {
        let (object, cell) = (object as usize, cell as usize);
        if self.writers.len() <= object {
            self.writers.resize(object + 1, Vec::new());
        }
        if self.writers[object].len() <= cell {
            self.writers[object].resize(cell + 1, 0);
        }
        &mut self.writers[object][cell]
    }
}

impl Observer<TermRef> for Trace {
    const ACTIVE: bool = true;

    fn statement(&mut self) {
        self.pending.truncate(self.innermost);
    }

    fn suspend(&mut self) -> u32 {
        std::mem::replace(&mut self.innermost, self.pending.len()) as u32
    }

    fn resume(&mut self, token: u32) {
        self.pending.truncate(self.innermost);
        self.innermost = token as usize;
    }

    fn load(&mut self, object: u32, cell: u64, value: TermRef, _site: u32) {
        let writer = self.writer(object, cell);
        self.pending.push(Read { object, cell, value, writer });
    }

    fn store(&mut self, object: u32, cell: u64, value: TermRef, site: u32, iterators: &dyn Fn() -> Vec<i64>) {
        if let Some(number) = self.record(object, cell, value, site, &iterators()) {
            *self.slot(object, cell) = number;
        }
    }

    fn condition(&mut self, value: TermRef, site: u32, iterators: &[i64]) {
        self.record(CONDITION, 0, value, site, iterators);
    }

    fn writer(&self, object: u32, cell: u64) -> u32 {
        let cells = self.writers.get(object as usize);
        cells.and_then(|cells| cells.get(cell as usize)).copied().unwrap_or(0)
    }

    fn restore(&mut self, object: u32, cell: u64, writer: u32) {
        *self.slot(object, cell) = writer;
    }
}
