//! Loops whose turns are claimed to be independent, in the orders that OpenMP allows.

use super::{Flow, Machine, Run, Schedule};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::program::{LoopStmt, Parallel, Variable};
use crate::scalar::Constant;

/// Most turns of one parallel loop that is run in another order.
const MOST_TURNS: usize = 1 << 20;

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    /// Runs the turns in the chosen order. Private variables hold nothing when a turn starts, and what they held before
    /// when the loop is over.
    pub(super) fn parallel_turns(&mut self, body: &'p LoopStmt, parallel: &'p Parallel) -> Run<Flow> {
        let Some(Variable::Slot(slot)) = self.program.loops[body.number as usize].variable else {
            return Err(self.unsupported("a parallel loop without an integer iterator"));
        };
        self.observer.enter(body.number, parallel);
        let own = || parallel.private_objects.iter().chain(&parallel.copied_objects);
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
        if self.limits.schedule == Schedule::Reverse {
            values.reverse();
        }
        let mut written = Vec::new();
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
            if together {
                written.push(self.roll_back());
            }
            if matches!(flow, Flow::Break | Flow::Return) {
                return Err(self.unsupported("a jump out of a parallel loop"));
            }
        }
        for effects in written {
            for (object, cell, value) in effects.cells {
                self.store(object, cell, value)?;
            }
        }
        self.write_slot(slot, end);
        for (object, cells) in own().zip(saved) {
            self.objects[*object as usize] = cells;
        }
        self.observer.leave();
        Ok(Flow::Next)
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
        for object in &parallel.private_objects {
            self.objects[*object as usize].fill(unwritten);
        }
    }
}
