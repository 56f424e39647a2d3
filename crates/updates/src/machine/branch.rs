//! Conditions on data: both sides run, and what they wrote becomes a choice.

use super::{DEPENDS, Flow, Machine, Run};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::program::{Cond, Stmt};
use rustc_hash::FxHashMap;

/// Nested data-dependent conditions deeper than this are refused.
const DEEPEST: usize = 64;

/// What one side of a branch wrote, with the old values, in order.
#[derive(Debug)]
pub(super) struct Branch<V> {
    pub(super) cond: V,
    pub(super) side: bool,
    cells: Vec<(u32, u64, V, u32)>,
    pub(super) slots: Vec<(u32, i64)>,
}

/// New values of one side.
pub(super) struct Effects<V> {
    pub(super) cells: Vec<(u32, u64, V)>,
    slots: Vec<(u32, i64)>,
}

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    pub(super) fn log_cell(&mut self, object: u32, cell: u64) {
        let writer = if O::ACTIVE { self.observer.writer(object, cell) } else { 0 };
        if let (Some(branch), Some(old)) = (self.branches.last_mut(), self.objects[object as usize].get(cell as usize))
        {
            branch.cells.push((object, cell, *old, writer));
        }
    }

    pub(super) fn begin(&mut self, cond: D::Value, side: bool) -> Run<()> {
        if self.branches.len() >= DEEPEST {
            return Err(self.unsupported(format!("more than {DEEPEST} nested data-dependent conditions")));
        }
        self.branches.push(Branch { cond, side, cells: Vec::new(), slots: Vec::new() });
        Ok(())
    }

    /// Takes back what the innermost side did and says what that was.
    pub(super) fn roll_back(&mut self) -> Effects<D::Value> {
        let Some(branch) = self.branches.pop() else { return Effects { cells: Vec::new(), slots: Vec::new() } };
        let mut cells: Vec<(u32, u64, D::Value)> = Vec::new();
        let mut seen: FxHashMap<(u32, u64), ()> = FxHashMap::default();
        for (object, cell, ..) in &branch.cells {
            if seen.insert((*object, *cell), ()).is_none() {
                cells.push((*object, *cell, self.objects[*object as usize][*cell as usize]));
            }
        }
        let mut slots: Vec<(u32, i64)> = Vec::new();
        for (slot, _) in &branch.slots {
            if !slots.iter().any(|(known, _)| known == slot) {
                slots.push((*slot, self.slots[*slot as usize]));
            }
        }
        for (object, cell, old, writer) in branch.cells.iter().rev() {
            self.objects[*object as usize][*cell as usize] = *old;
            if O::ACTIVE {
                self.observer.restore(*object, *cell, *writer);
            }
        }
        for (slot, old) in branch.slots.iter().rev() {
            self.slots[*slot as usize] = *old;
        }
        Effects { cells, slots }
    }

    /// Writes the choice between what the two sides did.
    fn merge(&mut self, cond: D::Value, yes: Effects<D::Value>, no: Effects<D::Value>) -> Run<()> {
        let mut index: FxHashMap<(u32, u64), usize> = FxHashMap::default();
        let mut merged: Vec<(u32, u64, Option<D::Value>, Option<D::Value>)> = Vec::new();
        for (object, cell, value) in yes.cells {
            index.insert((object, cell), merged.len());
            merged.push((object, cell, Some(value), None));
        }
        for (object, cell, value) in no.cells {
            match index.get(&(object, cell)) {
                Some(at) => merged[*at].3 = Some(value),
                None => merged.push((object, cell, None, Some(value))),
            }
        }
        for (object, cell, first, second) in merged {
            let old = self.objects[object as usize][cell as usize];
            let (first, second) = (first.unwrap_or(old), second.unwrap_or(old));
            let unwritten = self.domain.is_unwritten(first) || self.domain.is_unwritten(second);
            let value = if unwritten { self.domain.unwritten() } else { self.domain.choice(cond, first, second) };
            if unwritten {
                self.log_cell(object, cell);
                self.objects[object as usize][cell as usize] = value;
            } else {
                self.store(object, cell, value)?;
                // The two sides counted their own writes.
                self.updates -= 1;
            }
        }
        let mut slots: Vec<(u32, i64, i64)> = Vec::new();
        for (slot, value) in yes.slots {
            slots.push((slot, value, self.slots[slot as usize]));
        }
        for (slot, value) in no.slots {
            match slots.iter_mut().find(|(known, ..)| *known == slot) {
                Some(entry) => entry.2 = value,
                None => slots.push((slot, self.slots[slot as usize], value)),
            }
        }
        for (slot, first, second) in slots {
            self.write_slot(slot, if first == second { first } else { DEPENDS });
        }
        Ok(())
    }

    pub(super) fn conditional(&mut self, site: u32, cond: &'p Cond, yes: &'p [Stmt], no: &'p [Stmt]) -> Run<Flow> {
        let data = match cond {
            Cond::Int(value) => return if self.int(value)? != 0 { self.list(yes) } else { self.list(no) },
            Cond::Data(data) => data,
        };
        let value = self.data(data)?;
        if let Some(constant) = self.domain.known(value) {
            return if constant.is_true() { self.list(yes) } else { self.list(no) };
        }
        self.begin(value, true)?;
        let first = self.list(yes)?;
        let then = self.roll_back();
        self.begin(value, false)?;
        let second = self.list(no)?;
        let otherwise = self.roll_back();
        self.site = site;
        if first != second {
            return Err(self.unsupported("data-dependent exit from a loop or function"));
        }
        self.merge(value, then, otherwise)?;
        Ok(first)
    }

    /// A value by a condition, with the effects of the side that is taken.
    pub(super) fn choose(
        &mut self,
        cond: &'p Cond,
        yes: impl FnOnce(&mut Self) -> Run<D::Value>,
        no: impl FnOnce(&mut Self) -> Run<D::Value>,
    ) -> Run<D::Value> {
        let value = self.truth(cond)?;
        if let Some(constant) = self.domain.known(value) {
            return if constant.is_true() { yes(self) } else { no(self) };
        }
        self.begin(value, true)?;
        let first = yes(self)?;
        let then = self.roll_back();
        self.begin(value, false)?;
        let second = no(self)?;
        let otherwise = self.roll_back();
        self.merge(value, then, otherwise)?;
        Ok(self.domain.choice(value, first, second))
    }
}
