//! Who watches an execution. The fast path has no watcher and pays nothing.

use crate::program::Parallel;

/// Watches loads, stores and loops.
pub trait Observer<V> {
    /// Does it want to hear anything?
    const ACTIVE: bool;

    /// A cell was read.
    fn load(&mut self, _object: u32, _cell: u64, _value: V, _site: u32) {}
    /// A control slot was written.
    fn slot(&mut self, _slot: u32, _site: u32) {}
    /// A cell was written; `iterators` are the values of the enclosing loops' variables.
    fn store(&mut self, _object: u32, _cell: u64, _value: V, _site: u32, _iterators: &dyn Fn() -> Vec<i64>) {}
    /// Who wrote a cell last, as a token for [`Observer::restore`].
    fn writer(&self, _object: u32, _cell: u64) -> u32 {
        0
    }
    /// The cell is back to an older state: one side of a data-dependent branch was left.
    fn restore(&mut self, _object: u32, _cell: u64, _writer: u32) {}
    /// A statement's condition depends on data.
    fn condition(&mut self, _value: V, _site: u32, _iterators: &[i64]) {}
    /// A statement begins.
    fn statement(&mut self) {}
    /// Statements inside an expression begin; a token for [`Observer::resume`].
    fn suspend(&mut self) -> u32 {
        0
    }
    /// They are over.
    fn resume(&mut self, _token: u32) {}
    /// A loop marked parallel begins.
    fn enter(&mut self, _number: u32, _parallel: &Parallel) {}
    /// A turn of the innermost parallel loop begins, with the values of the iterators.
    fn turn(&mut self, _iterators: Vec<i64>) {}
    /// The innermost parallel loop ended.
    fn leave(&mut self) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nobody;

impl<V> Observer<V> for Nobody {
    const ACTIVE: bool = false;
}
