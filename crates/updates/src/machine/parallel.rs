//! Loops whose turns are claimed to be independent, in the orders that OpenMP allows.

use super::{Flow, Machine, Run, Schedule};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::program::{LoopStmt, Parallel, Stmt, UNWRITTEN, Variable};
use crate::scalar::Constant;

/// Most turns of one parallel loop that is run in another order.
const MOST_TURNS: usize = 1 << 20;

/// What a turn has of its own: the cells of its objects, and its slots.
type OwnState<V> = (Vec<Vec<V>>, Vec<i64>);

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    /// Runs the turns in the chosen order. Private variables hold nothing when a turn starts, and what they held before
    /// when the loop is over.
    pub(super) fn parallel_turns(&mut self, body: &'p LoopStmt, parallel: &'p Parallel) -> Run<Flow> {
        let Some(Variable::Slot(slot)) = self.program.loops[body.number as usize].variable else {
            return Err(self.unsupported("a parallel loop without an integer iterator"));
        };
        let joined = !parallel.reductions.is_empty() || !parallel.last_objects.is_empty();
        if joined && self.limits.schedule == Schedule::Interleaved {
            return Err(self.unsupported("turns side by side whose results are joined"));
        }
        self.observer.enter(body.number, parallel);
        let own = || parallel.private_objects.iter().chain(&parallel.copied_objects);
        let before: Vec<i64> = parallel.fresh_slots.iter().map(|s| self.slots[*s as usize]).collect();
        let saved: Vec<Vec<D::Value>> = own().map(|o| self.objects[*o as usize].clone()).collect();
        let mut values = Vec::new();
        while self.next_turn(body)? {
            values.push(self.read_slot(slot)?);
            if values.len() > MOST_TURNS {
                return Err(self.unsupported("a parallel loop with this many turns"));
            }
            self.list(&body.step)?;
        }
        let end = self.slots[slot as usize];
        if self.limits.schedule == Schedule::Interleaved {
            self.in_step(body, parallel, (slot, &values), &saved)?;
            values.clear();
        }
        if self.limits.schedule == Schedule::Reverse {
            values.reverse();
        }
        let mut written = Vec::new();
        let last = match self.limits.schedule {
            Schedule::Reverse => values.first().copied(),
            _ => values.last().copied(),
        };
        let mut left = Vec::new();
        for value in values {
            self.write_slot(slot, value);
            self.forget_private(parallel);
            for (object, cells) in own().zip(&saved).skip(parallel.private_objects.len()) {
                self.objects[*object as usize].clone_from(cells);
            }
            self.site = body.site;
            if O::ACTIVE {
                let iterators = self.iterators();
                self.observer.turn(iterators);
            }
            let together = self.limits.schedule == Schedule::Together;
            if together {
                let none = self.domain.constant(Constant::Int(0));
                self.begin(none, true)?;
            }
            let flow = self.list(&body.body)?;
            if last == Some(value) {
                left = parallel.last_objects.iter().map(|o| self.objects[*o as usize].clone()).collect();
            }
            if together {
                let mut effects = self.roll_back();
                // What is joined at the end is gathered here turn by turn.
                let (joined, rest) = effects.cells.into_iter().partition(|(o, ..)| parallel.reductions.contains(o));
                effects.cells = rest;
                written.push(effects);
                self.keep(joined)?;
            }
            if matches!(flow, Flow::Break | Flow::Return) {
                return Err(self.unsupported("a jump out of a parallel loop"));
            }
        }
        for effects in written {
            self.keep(effects.cells)?;
        }
        for (object, cells) in parallel.last_objects.iter().zip(left) {
            self.objects[*object as usize] = cells;
        }
        self.write_slot(slot, end);
        for (slot, value) in parallel.fresh_slots.iter().zip(before) {
            self.set_slot(*slot, value);
        }
        for (object, cells) in own().zip(saved) {
            self.objects[*object as usize] = cells;
        }
        self.observer.leave();
        Ok(Flow::Next)
    }

    fn keep(&mut self, cells: Vec<(u32, u64, D::Value)>) -> Run<()> {
        cells.into_iter().try_for_each(|(object, cell, value)| self.store(object, cell, value))
    }

    /// Runs the first statement of all turns, then the second. What a turn has of its own is changed with the turn.
    fn in_step(
        &mut self,
        body: &'p LoopStmt,
        parallel: &'p Parallel,
        (iterator, values): (u32, &[i64]),
        saved: &[Vec<D::Value>],
    ) -> Run<()> {
        let lasting = parallel.private_objects.iter().chain(&parallel.copied_objects).copied();
        let own: Vec<u32> = lasting.chain(parallel.inner_objects.iter().copied()).collect();
        let unwritten = self.domain.unwritten();
        let private = parallel.private_objects.len();
        let mut cells: Vec<Vec<D::Value>> = own.iter().map(|o| self.objects[*o as usize].clone()).collect();
        for (number, object) in cells.iter_mut().enumerate() {
            match saved.get(number) {
                Some(before) if number >= private => object.clone_from(before),
                _ => object.fill(unwritten),
            }
        }
        let weight = cells.iter().map(Vec::len).sum::<usize>().saturating_add(1).saturating_mul(values.len());
        if weight > MOST_TURNS {
            return Err(self.unsupported("a parallel loop with this many turns"));
        }
        let fresh = |slot: &u32| parallel.fresh_slots.contains(slot);
        let start = |slot: &u32| if fresh(slot) { UNWRITTEN } else { self.slots[*slot as usize] };
        let slots: Vec<i64> = parallel.private_slots.iter().map(start).collect();
        let mut turns: Vec<OwnState<D::Value>> = values.iter().map(|_| (cells.clone(), slots.clone())).collect();
        let mut stmts: &'p [Stmt] = &body.body;
        while let [Stmt::Block(inner)] = stmts {
            stmts = inner;
        }
        for stmt in stmts {
            for (value, (cells, slots)) in values.iter().zip(&mut turns) {
                self.exchange(&own, parallel, cells, slots);
                self.write_slot(iterator, *value);
                let flow = self.statement(stmt)?;
                self.exchange(&own, parallel, cells, slots);
                if flow != Flow::Next {
                    return Err(self.unsupported("a jump in a parallel loop"));
                }
            }
        }
        Ok(())
    }

    fn exchange(&mut self, own: &[u32], parallel: &Parallel, cells: &mut [Vec<D::Value>], slots: &mut [i64]) {
        for (object, cells) in own.iter().zip(cells) {
            std::mem::swap(&mut self.objects[*object as usize], cells);
        }
        for (slot, value) in parallel.private_slots.iter().zip(slots) {
            std::mem::swap(&mut self.slots[*slot as usize], value);
        }
    }

    fn next_turn(&mut self, body: &'p LoopStmt) -> Run<bool> {
        self.site = body.site;
        self.turns += 1;
        if self.turns & 0x3fff == 0 {
            self.check_time()?;
        }
        match &body.cond {
            Some(cond) => self.decide(cond),
            None => Err(self.unsupported("a parallel loop without an end")),
        }
    }

    fn forget_private(&mut self, parallel: &'p Parallel) {
        let unwritten = self.domain.unwritten();
        let copied = |object: &&u32| parallel.copied_objects.contains(object);
        for object in parallel.private_objects.iter().chain(parallel.last_objects.iter().filter(|o| !copied(o))) {
            self.objects[*object as usize].fill(unwritten);
        }
        for slot in &parallel.fresh_slots {
            self.set_slot(*slot, UNWRITTEN);
        }
    }
}
