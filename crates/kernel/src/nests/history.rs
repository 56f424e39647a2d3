//! What a cell held after each of its updates, for strict mode.

use updates::{Hashed, Observer, TermRef, chain};

/// A running hash per cell.
#[derive(Debug, Default)]
pub struct HashHistory {
    objects: Vec<Vec<Option<(Hashed, u64)>>>,
}

impl HashHistory {
    /// The history of a cell: hash and length.
    pub fn of(&self, object: u32, cell: u64) -> Option<(Hashed, u64)> {
        self.objects.get(object as usize)?.get(cell as usize).copied().flatten()
    }
}

fn at<T: Default + Clone>(objects: &mut Vec<Vec<T>>, object: u32, cell: u64) -> &mut T {
    let (object, cell) = (object as usize, cell as usize);
    if objects.len() <= object {
        objects.resize(object + 1, Vec::new());
    }
    let cells = &mut objects[object];
    if cells.len() <= cell {
        cells.resize(cell + 1, T::default());
    }
    &mut cells[cell]
}

impl Observer<Hashed> for HashHistory {
    const ACTIVE: bool = true;

    fn store(&mut self, object: u32, cell: u64, value: Hashed, _site: u32, _iterators: &dyn Fn() -> Vec<i64>) {
        let entry = at(&mut self.objects, object, cell);
        *entry = Some(match *entry {
            Some((history, length)) => (chain(history, value), length + 1),
            None => (value, 1),
        });
    }
}

/// All values of each cell.
#[derive(Debug, Default)]
pub struct TermHistory {
    objects: Vec<Vec<Vec<TermRef>>>,
}

impl TermHistory {
    /// The values of a cell, in order.
    pub fn of(&self, object: u32, cell: u64) -> &[TermRef] {
        let found = self.objects.get(object as usize).and_then(|cells| cells.get(cell as usize));
        found.map_or(&[], Vec::as_slice)
    }
}

impl Observer<TermRef> for TermHistory {
    const ACTIVE: bool = true;

    fn store(&mut self, object: u32, cell: u64, value: TermRef, _site: u32, _iterators: &dyn Fn() -> Vec<i64>) {
        at(&mut self.objects, object, cell).push(value);
    }
}
