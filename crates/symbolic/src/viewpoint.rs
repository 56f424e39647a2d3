//! What one path's conditions say about which accesses overlap, and what reads were resolved to because of it.
//!
//! Trust: full.

mod integers;

use crate::Known;
use crate::distances::Distances;
use integers::Integers;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Arena, TermId, VarId};

/// What one condition says about distances.
pub(crate) struct View {
    distances: Distances,
    integers: Integers,
    /// The same for each case of conditions of which one holds.
    cases: Vec<Vec<Integers>>,
}

impl View {
    pub fn new(arena: &mut Arena, known: &Known) -> View {
        let distances = known.distances.clone();
        let pointers: Vec<VarId> = distances.pointers.iter().map(|(var, _)| *var).collect();
        let case = |arena: &mut Arena, holds: &TermId| {
            let mut known = known.clone();
            known.learn(arena, *holds);
            Integers::new(arena, known, pointers.clone())
        };
        let cases: Vec<Vec<Integers>> =
            distances.clauses.iter().map(|clause| clause.iter().map(|holds| case(arena, holds)).collect()).collect();
        View { integers: Integers::new(arena, known.clone(), pointers.clone()), cases, distances }
    }

    pub fn keep_apart(&self, arena: &mut Arena, a: (TermId, u16), b: (TermId, u16)) -> bool {
        self.distances.keep_apart(arena, a, b)
            || self.integers.keep_apart(arena, a, b)
            || self.cases.iter().any(|cases| cases.iter().all(|case| case.keep_apart(arena, a, b)))
    }
}

/// What was known, and which variables are pointers.
pub(crate) type ViewKey = (Vec<TermId>, Vec<(VarId, u16)>);

/// What reads were resolved to, for each condition that says something about distances.
#[derive(Default)]
pub(crate) struct ReadMemo {
    pub views: Vec<Rc<View>>,
    pub numbers: FxHashMap<ViewKey, usize>,
    pub values: FxHashMap<(usize, TermId, TermId, u16), TermId>,
    pub apart: FxHashMap<(usize, TermId, u16, TermId, u16), bool>,
}

/// What decides which accesses overlap besides their addresses; at first nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Viewpoint(pub(crate) usize);

/// What an execution knows of overlaps.
#[derive(Default)]
pub(crate) struct Overlaps {
    /// What reads were resolved to.
    pub memo: ReadMemo,
    /// Where it stands now.
    pub viewpoint: Viewpoint,
}
