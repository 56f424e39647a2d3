//! How control and values come to a block: what the analysis of computed jumps knows about the blocks before a jump.

use crate::blocks::{Block, End};
use crate::code::Exit;
use crate::container::Place;
use crate::dispatch::{Dispatch, Dispatcher};
use crate::layout::Location;
use crate::values::{self, Values};
use program::Register;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Linear, TermId, VarId};

/// Blocks before the jump that are looked at for bounds.
const MAX_CHAIN: usize = 6;
/// Ways to a block that are looked at one by one.
const MAX_WAYS: usize = 8;
/// Blocks that are executed to find where table addresses come from, per function and round.
pub(crate) const MAX_WORK: usize = 1 << 16;

/// A block that control comes from and the condition under which it does: a term and whether it holds.
pub(crate) type Step = (Place, Option<(TermId, bool)>);
/// Where control comes to each block from.
pub(crate) type Predecessors = FxHashMap<Place, Vec<Step>>;

/// The state at the start of a block, on one of the ways to it.
pub(crate) struct Way {
    pub values: Values,
    /// Upper bounds of terms that the conditions on the way give.
    pub bounds: FxHashMap<TermId, u64>,
}

/// The largest value of a term on any of the ways.
pub(crate) fn bound_on_all(arena: &mut Arena, ways: &[Way], term: TermId) -> Option<u64> {
    let mut most = 0;
    for way in ways {
        let decided = way.values.get(arena, term);
        most = most.max(values::implied_bound(arena, decided, &way.bounds)?);
    }
    Some(most)
}

/// Is the upper half of a value zero?
pub(crate) fn is_narrow(arena: &Arena, value: TermId) -> bool {
    values::upper_bound(arena, value, &FxHashMap::default()).is_some_and(|bound| bound <= u64::from(u32::MAX))
}

impl Dispatcher<'_, '_> {
    /// Blocks that control comes from, with the condition under which it comes.
    pub(crate) fn predecessors(&self) -> Predecessors {
        let mut out = Predecessors::default();
        for (leader, block) in self.blocks {
            let mut edge = |to: Place, condition| out.entry(to).or_default().push((*leader, condition));
            match &block.end {
                End::Fall(next) => edge(*next, None),
                End::Off(_) => {}
                End::Exit { exit, next, term } => match exit {
                    Exit::Next | Exit::Return | Exit::Trap | Exit::Leave(_) => {}
                    Exit::Jump(to) => edge(*to, None),
                    Exit::Branch(to) => {
                        edge(*to, term.map(|t| (t, true)));
                        edge(*next, term.map(|t| (t, false)));
                    }
                    Exit::LeaveIf(_) => edge(*next, term.map(|t| (t, false))),
                    Exit::Call(target) if self.image.never_returns(&target.name) => {}
                    Exit::Call(_) | Exit::ComputedCall | Exit::ThreadAddress(_) => edge(*next, None),
                    Exit::Repeat | Exit::Masked => edge(*next, None),
                    Exit::Computed => {
                        let places = self.known.get(leader).map_or_else(Vec::new, Dispatch::places);
                        places.into_iter().collect::<FxHashSet<Place>>().into_iter().for_each(|to| edge(to, None));
                    }
                },
            }
        }
        for list in out.values_mut() {
            list.sort_by_key(|(from, _)| *from);
        }
        out
    }

    /// Is nothing known across the end of a block?
    fn is_barrier(&self, leader: Place) -> bool {
        matches!(
            self.blocks[&leader].end,
            End::Exit {
                exit: Exit::Call(_) | Exit::ComputedCall | Exit::ThreadAddress(_) | Exit::Repeat | Exit::Masked,
                ..
            }
        )
    }

    /// Blocks from which control inevitably comes to the leader, the farthest first, with the condition of each
    /// step.
    pub(crate) fn chain(&self, predecessors: &Predecessors, leader: Place) -> Vec<Step> {
        let mut chain: Vec<Step> = Vec::new();
        let mut at = leader;
        while chain.len() < MAX_CHAIN && at != self.code.entry() {
            let Some([(from, condition)]) = predecessors.get(&at).map(|p| &p[..]) else { break };
            if *from == leader || chain.iter().any(|(known, _)| known == from) {
                break;
            }
            if self.is_barrier(*from) {
                break;
            }
            chain.push((*from, *condition));
            at = *from;
        }
        chain.reverse();
        chain
    }

    /// The ways on which control comes to a block.
    pub(crate) fn ways(
        &self,
        arena: &mut Arena,
        predecessors: &Predecessors,
        leader: Place,
        inside: &Values,
        block: &Block,
    ) -> Vec<Way> {
        let list = predecessors.get(&leader).map_or(&[][..], |list| &list[..]);
        if !(2..=MAX_WAYS).contains(&list.len()) || leader == self.code.entry() {
            let chain = self.chain(predecessors, leader);
            return vec![self.way(arena, &chain, inside, block)];
        }
        let mut out = Vec::new();
        for (from, condition) in list {
            let mut chain = Vec::new();
            if !self.is_barrier(*from) {
                chain = self.chain(predecessors, *from);
                chain.push((*from, *condition));
            }
            out.push(self.way(arena, &chain, inside, block));
        }
        out
    }

    /// Values at the start of the block and bounds that hold there and at the jump.
    fn way(&self, arena: &mut Arena, chain: &[Step], inside: &Values, block: &Block) -> Way {
        let mut values = Values::default();
        let mut bounds = FxHashMap::default();
        for (from, condition) in chain {
            values.run(arena, &self.blocks[from].ops);
            if let Some((condition, holds)) = condition {
                let mut term = values.get(arena, *condition);
                if !holds {
                    term = arena.bool_not(term);
                }
                values::collect_bounds(arena, term, &mut bounds);
            }
        }
        // Loads inside the block that repeat a load before it have the same value.
        values.adopt(arena, inside, &block.ops);
        Way { values, bounds }
    }

    /// The constant address that a term over the state at the start of a block always has.
    pub(crate) fn constant(
        &self,
        arena: &mut Arena,
        predecessors: &Predecessors,
        leader: Place,
        before: &Values,
        term: TermId,
    ) -> Option<Location> {
        let known = before.get(arena, term);
        if let Some(location) = self.location(arena, known) {
            return Some(location);
        }
        let register = arena.as_var(term).filter(|var| matches!(Register::of_var(*var), Some(Register::General(_))))?;
        let values = self
            .reaching(arena, predecessors, leader, register, &|arena, value| self.location(arena, value).is_some())?;
        // All definitions must agree.
        let (first, rest) = values.split_first()?;
        let location = self.location(arena, *first)?;
        rest.iter().all(|value| self.location(arena, *value) == Some(location)).then_some(location)
    }

    /// Reads an address back out of a term.
    fn location(&self, arena: &Arena, term: TermId) -> Option<Location> {
        let linear = Linear::of(arena, term);
        let offset = linear.constant.low() as i64;
        match linear.terms[..] {
            [(base, factor)] if factor.to_u64() == Some(1) => {
                let base = *self.bases.get(&arena.as_var(base)?)?;
                Some(Location { base, offset })
            }
            _ => None,
        }
    }

    /// The values that a register can have at the start of a block, copies of other registers followed back, if all
    /// of them are wanted ones.
    pub(crate) fn reaching(
        &self,
        arena: &mut Arena,
        predecessors: &Predecessors,
        leader: Place,
        register: VarId,
        wanted: &dyn Fn(&Arena, TermId) -> bool,
    ) -> Option<Vec<TermId>> {
        let mut found: Vec<TermId> = Vec::new();
        let mut seen: FxHashSet<(Place, VarId)> = FxHashSet::default();
        let mut todo = vec![(leader, register)];
        while let Some((at, var)) = todo.pop() {
            if !seen.insert((at, var)) {
                continue;
            }
            self.work.set(self.work.get() + 1);
            if at == self.code.entry() || self.work.get() > MAX_WORK {
                return None;
            }
            // What nothing but a call that never returns leads to is not reached.
            for (from, _) in predecessors.get(&at).map_or(&[][..], |list| &list[..]) {
                let block = &self.blocks[from];
                let clobbers = matches!(block.end, End::Exit { exit: Exit::Call(_) | Exit::ComputedCall, .. });
                let saved = Register::of_var(var).is_some_and(|r| Register::CALLEE_SAVED.contains(&r));
                let repeats = matches!(block.end, End::Exit { exit: Exit::Repeat, .. });
                let string = matches!(Register::of_var(var), Some(Register::General(0 | 1 | 6 | 7)));
                if clobbers && !saved || repeats && string {
                    return None;
                }
                let mut values = Values::default();
                values.run(arena, &block.ops);
                let term = arena.var_term(var);
                let value = values.get(arena, term);
                if wanted(arena, value) {
                    found.push(value);
                } else {
                    let source = arena.as_var(value)?;
                    if !matches!(Register::of_var(source), Some(Register::General(_))) {
                        return None;
                    }
                    todo.push((*from, source));
                }
            }
        }
        Some(found)
    }
}
