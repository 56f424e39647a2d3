//! What the turns of a loop of the original change, found by executing them.
//!
//! A state in which all of that is forgotten stands for every state that the original is in at a head of the loop. Nothing
//! is claimed by a certificate here: rounds go on until no turn changes anything else.
//!
//! Trust: full. Forgetting more is always sound; a place that a turn changes must be forgotten.

use super::{Checker, Onward, Point};
use crate::objects::claims::is_scratch;
use crate::objects::location::{Location, Spot};
use program::{PointId, Register, Side};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use symbolic::{Event, Joins, Known, Run, State};
use term::{Sort, TermId};

/// Rounds in which changing places are found.
const MOST_ROUNDS: usize = 8;

/// Places of the original, and memories.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Changed {
    places: BTreeSet<Location>,
    /// Those that hold an address of the frame after some turn.
    frames: BTreeSet<Location>,
    world: bool,
    locals: BTreeSet<usize>,
}

/// A loop of the original with everything forgotten that its turns change.
pub(super) struct AnyTurn {
    /// What the original does from each head of the loop to its next event.
    pub runs: Vec<Run>,
}

impl Checker<'_, '_> {
    /// What the original does in any turn of a loop that it enters with a state. None if that cannot be said.
    pub(super) fn any_turn(&mut self, at: &Point, state: &State, body: &FxHashSet<PointId>) -> Option<AnyTurn> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let mut heads: Vec<PointId> = self.heads[0].iter().copied().filter(|h| body.contains(h)).collect();
        heads.sort();
        let mut changed = Changed::default();
        // Some turn may have let a local object escape already; what is forgotten may hold what came to be just now.
        let mut state = state.clone();
        self.context.publish_all(&mut state);
        self.context.tick();
        for _ in 0..MOST_ROUNDS {
            let start = self.forgetting(&state, &changed);
            let before = changed.clone();
            let mut runs = Vec::new();
            for head in &heads {
                let run = match self.run(Side::Original, Onward::At(*head), &start, &known, Joins::Merge) {
                    Ok(run) => run,
                    Err(rejection) => {
                        self.stuck.get_or_insert(rejection);
                        return None;
                    }
                };
                for arrival in &run.arrivals {
                    let inside = matches!(arrival.event, Event::Head(next) if body.contains(&next));
                    if inside && !self.note_changes(&start, &arrival.state, &mut changed) {
                        return None;
                    }
                }
                runs.push(run);
            }
            if changed == before {
                return Some(AnyTurn { runs });
            }
        }
        None
    }

    /// A state of the original in which nothing is known of some places and memories. A variable for what may be an address of
    /// the frame is no pointer to the world.
    fn forgetting(&mut self, state: &State, changed: &Changed) -> State {
        let mut out = state.clone();
        for location in &changed.places {
            let old = location.read(self.context.arena, state);
            let hint = format!("{location}@turn");
            let fresh = if changed.frames.contains(location) || self.context.depends_on_frame(old) {
                self.context.fresh_frame_value(&hint, Sort::Bv(location.width))
            } else {
                self.context.fresh(&hint, Sort::Bv(location.width))
            };
            location.write(self.context.arena, &mut out, fresh);
        }
        for register in Register::all().filter(|r| is_scratch(*r)) {
            let value = self.context.fresh_undefined(&register.name(), register.sort());
            out.set(register, value);
        }
        if changed.world {
            out.world = self.context.fresh("world", Sort::Memory);
        }
        for local in &changed.locals {
            out.locals[*local] = self.context.fresh("local", Sort::Memory);
        }
        out
    }

    fn note_change(&mut self, location: Location, value: TermId, changed: &mut Changed) {
        changed.places.insert(location);
        if self.context.depends_on_frame(value) {
            changed.frames.insert(location);
        }
    }

    /// Adds the places that differ between two states. False if one is no place.
    fn note_changes(&mut self, then: &State, now: &State, changed: &mut Changed) -> bool {
        for register in Register::all().filter(|r| !is_scratch(*r)) {
            if now.get(register) == then.get(register) {
                continue;
            }
            let Some(location) = Location::whole(Side::Original, Spot::Register(register)) else { return false };
            if register == Register::RSP {
                return false;
            }
            self.note_change(location, now.get(register), changed);
        }
        for (offset, bytes) in self.slots(&[now, then]) {
            let spot = Spot::Slot { offset, bytes };
            let location = Location { side: Side::Original, spot, low: 0, width: 8 * bytes };
            let [a, b] = [now, then].map(|state| location.read(self.context.arena, state));
            if a == b {
                continue;
            }
            self.note_change(location, a, changed);
        }
        changed.world |= now.world != then.world;
        changed.locals.extend((0..now.locals.len()).filter(|i| now.locals[*i] != then.locals[*i]));
        // Objects that come to be reached from outside in a turn are another state altogether.
        now.escaped == then.escaped && now.frame.base == then.frame.base
    }
}
