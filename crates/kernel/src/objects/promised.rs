//! Calls of local functions whose pointer arguments the candidate replaced by what they point to.
//!
//! The callee was compared with a register of the candidate defined as a chain of loads from an argument of the
//! original, in the memory at entry (`symbolic::promoted`). So each call must pass that value. And since the original's
//! callee begins by reading there, whatever happens, a candidate that reads it just before the call risks nothing.
//!
//! Trust: full.

use crate::objects::product::{Checker, Obligation, Point, Rejection};
use program::{Callee, Next, Side};
use std::rc::Rc;
use symbolic::{Access, Event, Known, Run, Shape, State};

impl Checker<'_, '_> {
    /// The log of the original with what the callee at hand reads first.
    pub(crate) fn with_first_reads(&mut self, run: &Rc<Run>, event: Event, state: &State) -> Rc<Run> {
        let Event::Call(point) = event else { return Rc::clone(run) };
        let Next::Call(call) = &self.context.functions[0].point(point).next else { return Rc::clone(run) };
        let Callee::Named(name) = &call.callee else { return Rc::clone(run) };
        let reads = self.context.first_reads(name, state);
        if reads.is_empty() || state.renamed.is_some() {
            return Rc::clone(run);
        }
        let mut longer = Run::clone(run);
        let guard = self.context.arena.bool(true);
        let place = self.address(Side::Original, point);
        longer.accesses.extend(reads.into_iter().map(|(address, bytes)| Access {
            guard,
            address,
            bytes,
            write: false,
            place,
        }));
        Rc::new(longer)
    }

    /// The candidate passes what the original's pointers point to.
    pub(crate) fn check_promoted(
        &mut self,
        at: &mut Point,
        known: &Known,
        shape: &Shape,
        places: [u64; 2],
        callee: &str,
    ) -> Result<(), Rejection> {
        if shape.promoted.is_empty() {
            return Ok(());
        }
        let mut passed = [Vec::new(), Vec::new()];
        for side in Side::BOTH {
            let i = side.index();
            passed[i] = self.context.promoted_arguments(side, places[i], &mut at.states[i], shape)?;
            self.context.publish(&mut at.states[i]);
        }
        let [a, b] = &mut at.states;
        self.context.align_escapes(a, b);
        let [ours, theirs] = passed;
        for ((a, b), register) in ours.into_iter().zip(theirs).zip(shape.promoted.keys()) {
            self.prove_equal(at, known, a, b).map_err(|failure| Rejection::Obligation {
                what: Obligation::Given { callee: callee.to_string(), register: *register },
                places,
                failure,
            })?;
        }
        Ok(())
    }
}
