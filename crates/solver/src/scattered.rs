//! States in which every pointer has a place of its own, far from the others: what most states are like.
//!
//! Many questions are about claims that do not hold, and a solver that has to find out which accesses meet before it can
//! say so takes seconds. So a smaller question comes first. Accesses have no byte in common unless terms or facts say so,
//! and what addresses are sums with (variables, and pointers that are loaded themselves) are constants with gigabytes
//! between them. Hardly a condition on addresses is left then; what is left is about numbers.
//!
//! Trust: none. A state found here is one of those in question only if the evaluator says so.

use crate::Query;
use crate::basis::Basis;
use crate::facts::Facts;
use crate::memory::{Flattener, is_base};
use crate::model::{model_of, refutes};
use crate::smt::Question;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use term::eval::{Evaluator, Model, Value};
use term::{Arena, Bits, Linear, Op, Sort, TermId, VarId};

/// Distance of the places, and of those below 2³¹ for objects that code of fixed addresses speaks of.
const APART: u64 = 1 << 32;
const NEAR: u64 = 1 << 24;
/// More places than these are not given.
const MOST_PLACES: u64 = 1 << 12;
const MOST_NEAR: u64 = 100;

/// A question about states in which pointers are constants.
pub(crate) struct Scattered {
    pub(crate) question: Question,
    vars: Vec<(VarId, u64)>,
    /// Memory, address and value of pointers that are loaded, inner ones first.
    loads: Vec<(VarId, TermId, u64)>,
}

impl Scattered {
    /// The question for such a state that refutes the query. Nothing if there is no pointer, or no such state.
    pub(crate) fn new(arena: &mut Arena, query: &Query, budget: usize) -> Option<Scattered> {
        let mut terms = query.hypotheses.clone();
        terms.push(arena.bool_not(query.goal));
        let mut flattener = Flattener::scattered(arena, Facts::default(), budget);
        let mut flat = flattener.conjunction(&terms);
        let meet = flattener.take_scattered();
        let distances = flattener.into_distances();
        flat.extend(meet.into_iter().map(|meet| arena.bool_not(meet)));
        let bases = bases(arena, &flat, &distances);
        if bases.is_empty() {
            return None;
        }
        let (mut vars, mut loads) = (Vec::new(), Vec::new());
        let (mut near, mut far) = (0, 0);
        let mut put: FxHashMap<TermId, TermId> = FxHashMap::default();
        for term in arena.topological(&flat) {
            let args: SmallVec<[TermId; 4]> = arena.args(term).iter().map(|arg| put[arg]).collect();
            let place = bases.contains(&term).then(|| next_place(arena, term, &mut near, &mut far)).flatten();
            let new = match place {
                Some(place) => {
                    match arena.as_var(term) {
                        Some(var) => vars.push((var, place)),
                        None => loads.extend(arena.as_var(args[0]).map(|memory| (memory, args[1], place))),
                    }
                    arena.constant(Bits::new(64, place))
                }
                None if args.as_slice() == arena.args(term) => term,
                None => arena.make(arena.op(term), &args),
            };
            put.insert(term, new);
        }
        let mut assertions: Vec<TermId> = flat.iter().map(|term| put[term]).collect();
        assertions.retain(|term| arena.as_bool(*term) != Some(true));
        if assertions.iter().any(|term| arena.as_bool(*term) == Some(false)) {
            return None;
        }
        let basis = Basis { assertions, eliminated: Vec::new(), introduced: FxHashSet::default() };
        Some(Scattered { question: Question::new(arena, &basis), vars, loads })
    }

    /// The state that a solver's values describe, if it refutes the query.
    pub(crate) fn refutation(&self, arena: &Arena, query: &Query, values: &[Value]) -> Option<Model> {
        let mut model = model_of(arena, &self.question, values);
        self.vars.iter().for_each(|(var, place)| model.set_bits(*var, Bits::new(64, *place)));
        for (memory, address, place) in &self.loads {
            let Value::Bits(address) = Evaluator::new(arena, &model).eval(*address) else { return None };
            for (i, byte) in place.to_le_bytes().into_iter().enumerate() {
                model.set_byte(*memory, address.low().wrapping_add(i as u64), byte);
            }
        }
        refutes(arena, query, &model).then_some(model)
    }
}

/// A place for a pointer, if there are any left.
fn next_place(arena: &Arena, pointer: TermId, near: &mut u64, far: &mut u64) -> Option<u64> {
    let object = arena.as_var(pointer).is_some_and(|var| arena.var_name(var).starts_with('&'));
    if object && *near < MOST_NEAR {
        *near += 1;
        return Some(*near * NEAR);
    }
    *far += 1;
    (*far < MOST_PLACES).then_some(*far * APART)
}

/// The terms that addresses are sums with.
fn bases(arena: &Arena, flat: &[TermId], distances: &[TermId]) -> FxHashSet<TermId> {
    let is_candidate = |term: TermId| match arena.op(term) {
        Op::Var(_) => arena.sort(term) == Sort::Bv(64),
        Op::Load(8) => is_base(arena, arena.arg(term, 0)) && arena.as_var(arena.arg(term, 0)).is_some(),
        _ => false,
    };
    let candidates = |sum: &Linear, factor: Bits| -> SmallVec<[TermId; 4]> {
        sum.terms.iter().filter(|(term, by)| *by == factor && is_candidate(*term)).map(|(term, _)| *term).collect()
    };
    let (one, minus) = (Bits::new(64, 1), Bits::ones(64));
    let mut sums: Vec<SmallVec<[TermId; 4]>> = Vec::new();
    for term in arena.topological(flat) {
        if let Op::Load(_) = arena.op(term) {
            sums.push(candidates(&Linear::of(arena, arena.arg(term, 1)), one));
        }
    }
    for distance in distances {
        let sum = Linear::of(arena, *distance);
        sums.extend([one, minus].map(|factor| candidates(&sum, factor)));
    }
    // A sum of several is decided by those of one.
    let mut bases: FxHashSet<TermId> = sums.iter().filter(|s| s.len() == 1).map(|s| s[0]).collect();
    for sum in sums.iter().filter(|sum| sum.len() > 1) {
        if !sum.iter().any(|term| bases.contains(term)) {
            bases.insert(sum[0]);
        }
    }
    bases
}
