//! Which blocks belong together, and in which order stores come.

use machine::{
    Agreement, Choice, EventKind, Evidence, Function, Hypotheses, Id, Matcher, Memory, Place, Plan, Run, Step, Values,
};
use rustc_hash::FxHashMap;

/// Pairs blocks by number where the numbers exist on both sides, else by where control goes.
pub struct Guess<'a> {
    original: &'a Function,
    candidate: &'a Function,
    /// Blocks of the original with a partner.
    partner: FxHashMap<u32, u32>,
    by_number: bool,
}

impl<'a> Guess<'a> {
    pub fn new(original: &'a Function, candidate: &'a Function) -> Guess<'a> {
        // Numbers can be trusted as hints if the candidate has all of the original's.
        let by_number = original.blocks.iter().all(|block| candidate.block_index(block.number).is_some());
        Guess { original, candidate, partner: FxHashMap::default(), by_number }
    }

    /// Does nothing happen in the candidate's block but moves and a jump?
    fn is_detour(&self, block: u32) -> bool {
        let block = &self.candidate.blocks[block as usize];
        let steps = self.candidate.instructions[block.instructions.range()]
            .iter()
            .flat_map(|i| &self.candidate.steps[i.steps.range()]);
        let mut exits = 0;
        for step in steps {
            match step {
                Step::Leave(_) => exits += 1,
                Step::Apply { .. } | Step::Load { .. } | Step::Store { .. } => return false,
                _ => {}
            }
        }
        exits == 1 && block.phis.is_empty()
    }
}

impl Plan for Guess<'_> {
    fn choose(&mut self, original: u32, candidate: u32) -> Choice {
        let (ours, theirs) = (&self.original.blocks[original as usize], &self.candidate.blocks[candidate as usize]);
        if self.by_number {
            if ours.number == theirs.number {
                return Choice::Together;
            }
            return if self.is_detour(candidate) { Choice::Through } else { Choice::Together };
        }
        match self.partner.get(&original) {
            Some(partner) if *partner == candidate => Choice::Together,
            Some(_) if self.is_detour(candidate) => Choice::Through,
            Some(_) => Choice::Together,
            None => {
                self.partner.insert(original, candidate);
                Choice::Together
            }
        }
    }

    fn order(&mut self, values: &mut Values, _: (u32, u32), original: &Run, candidate: &Run) -> Option<Vec<u32>> {
        let (ours, theirs) = (&original.events, &candidate.events);
        if ours.len() != theirs.len() || !self.original.may_reorder {
            return None;
        }
        let (mut anything, mut memory) = (Anything, Memory::default());
        let mut matcher = Matcher::new(values, original, candidate, &mut anything, &mut memory);
        let mut fits = |i: usize, j: usize| {
            let (a, b) = (&ours[i], &theirs[j]);
            a.kind == b.kind
                && a.args.len() == b.args.len()
                && (!matches!(a.kind, EventKind::Store(_))
                    || a.args.iter().zip(&b.args).all(|(x, y)| matcher.plausible(*x, *y) > Evidence::No))
        };
        if (0..ours.len()).all(|i| fits(i, i)) {
            return None;
        }
        // Only neighbouring plain stores change places: match each run of stores by itself.
        let mut order: Vec<u32> = Vec::with_capacity(theirs.len());
        let mut used = vec![false; ours.len()];
        for j in 0..theirs.len() {
            let mut near = |i: &usize| !used[*i] && fits(*i, j);
            let exact = Some(j).filter(&mut near);
            let found = exact.or_else(|| (0..ours.len()).find(near))?;
            used[found] = true;
            order.push(found as u32);
        }
        Some(order)
    }
}

/// Any two locations may be equal.
struct Anything;

impl Hypotheses for Anything {
    const EXACT: bool = false;

    fn agree(&mut self, _: &mut Values, _: Id, _: Id) -> Agreement {
        Agreement::Unclear
    }

    fn evidence(&mut self, _: &mut Values, _: Id, _: Id) -> Evidence {
        Evidence::Maybe
    }

    fn require(&mut self, _: &mut Values, _: Id, _: Id) -> bool {
        true
    }

    fn postpone(&mut self) -> bool {
        false
    }
}

/// Is it a location that both functions enter with the same contents?
pub fn is_physical(location: machine::Location) -> bool {
    matches!(location.place(), Place::Physical(_))
}
