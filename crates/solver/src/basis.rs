//! Differences of addresses as variables.
//!
//! Whether accesses overlap is a question about differences `d = q - p`, and a solver that sees `q` and `p` has to
//! reason through a 64-bit subtraction for each comparison of each `d` with a constant. So `d` becomes a variable `u`
//! and `p` the sum `q - u`: a bijection between states, hence equisatisfiable. Two stores that both meet the load are
//! then near each other by their low bits alone, without arithmetic.
//!
//! Elimination is Gauss's, modulo 2^64, with pivots of coefficient one or minus one: each difference in turn, written
//! in the variables chosen so far, gives away one variable, the one that occurs in the fewest differences. A variable
//! that also occurs inside another term of such a sum stays: put in there, it would still be the old one, and a state of
//! the new variables would stand for none of the old.
//!
//! What would go wrong if this module were wrong: false proofs, if the substitution were no bijection.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Bits, Linear, Sort, TermId, VarId};

/// The assertions in other variables.
#[derive(Clone)]
pub(crate) struct Basis {
    /// The assertions.
    pub(crate) assertions: Vec<TermId>,
    /// What the eliminated variables are.
    pub(crate) eliminated: Vec<(VarId, TermId)>,
    /// The new variables.
    pub(crate) introduced: FxHashSet<VarId>,
}

/// Rewrites assertions so that as many of the 64-bit differences as possible are variables.
pub(crate) fn change(arena: &mut Arena, assertions: &[TermId], distances: &[TermId]) -> Basis {
    let mut uses: FxHashMap<TermId, usize> = FxHashMap::default();
    let distinct: FxHashSet<TermId> = distances.iter().copied().collect();
    for distance in &distinct {
        for (term, _) in Linear::of(arena, *distance).terms {
            *uses.entry(term).or_default() += 1;
        }
    }
    let mentions = Mentions::new(arena, uses.keys().copied().collect());
    let mut eliminated: Vec<(VarId, Linear)> = Vec::new();
    let mut introduced = FxHashSet::default();
    // Variables inside other terms of the sums so far: what is read at an address that depends on them.
    let mut inside = mentions.none();
    let mut gone = mentions.none();
    for distance in distances {
        let mut sum = reduce(arena, &Linear::of(arena, *distance), &eliminated);
        sum.constant = Bits::zero(64);
        if sum.terms.len() < 2 {
            continue;
        }
        let mut within = mentions.none();
        sum.terms.iter().for_each(|(term, _)| mentions.add(*term, &mut within));
        if within.iter().zip(&gone).any(|(a, b)| a & b != 0) {
            continue;
        }
        let is_pivot = |(term, coefficient): &&(TermId, Bits)| {
            let unit = *coefficient == Bits::new(64, 1) || coefficient.is_ones();
            let free =
                |var: &VarId| !introduced.contains(var) && !mentions.has(*var, &within) && !mentions.has(*var, &inside);
            unit && arena.as_var(*term).is_some_and(|var| free(&var))
        };
        let by_uses = |(term, _): &&(TermId, Bits)| uses.get(term).copied().unwrap_or(0);
        let Some((pivot, sign)) = sum.terms.iter().rev().filter(is_pivot).min_by_key(by_uses).copied() else {
            continue;
        };
        let Some(var) = arena.as_var(pivot) else { continue };
        inside.iter_mut().zip(&within).for_each(|(all, more)| *all |= more);
        mentions.insert(var, &mut gone);
        let new = arena.var(&format!("distance!{}", introduced.len()), Sort::Bv(64));
        introduced.extend(arena.as_var(new));
        // sum = sign·pivot + rest = new, hence pivot = sign·(new − rest).
        sum.terms.retain(|(term, _)| *term != pivot);
        let mut value = sum.scaled(sign.neg());
        value.add_scaled(arena, new, sign);
        for (_, other) in &mut eliminated {
            *other = reduce(arena, other, &[(var, value.clone())]);
        }
        eliminated.push((var, value));
    }
    let mut terms: FxHashMap<VarId, TermId> = FxHashMap::default();
    for (var, value) in &eliminated {
        terms.insert(*var, value.build(arena));
    }
    let mut memo = FxHashMap::default();
    let assertions =
        assertions.iter().map(|a| arena.substitute(*a, &mut |var| terms.get(&var).copied(), &mut memo)).collect();
    let eliminated = eliminated.iter().map(|(var, _)| (*var, terms[var])).collect();
    Basis { assertions, eliminated, introduced }
}

/// Which variables of the differences occur inside their other terms, as sets of bits. One walk serves all: terms share
/// most of what is beneath them.
struct Mentions {
    index: FxHashMap<VarId, usize>,
    words: usize,
    inside: FxHashMap<TermId, Vec<u64>>,
}

impl Mentions {
    /// `terms` are those of all differences.
    fn new(arena: &Arena, terms: Vec<TermId>) -> Mentions {
        let (vars, others): (Vec<TermId>, Vec<TermId>) = terms.into_iter().partition(|t| arena.as_var(*t).is_some());
        let index: FxHashMap<VarId, usize> =
            vars.iter().filter_map(|t| arena.as_var(*t)).enumerate().map(|(i, var)| (var, i)).collect();
        let mut out = Mentions { words: index.len().div_ceil(64), index, inside: FxHashMap::default() };
        let mut below: FxHashMap<TermId, Vec<u64>> = FxHashMap::default();
        for term in arena.topological(&others) {
            let mut set = out.none();
            for arg in arena.args(term) {
                set.iter_mut().zip(&below[arg]).for_each(|(all, more)| *all |= more);
            }
            if let Some(var) = arena.as_var(term) {
                out.insert(var, &mut set);
            }
            below.insert(term, set);
        }
        out.inside = others.iter().map(|term| (*term, below[term].clone())).collect();
        out
    }

    fn none(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    fn insert(&self, var: VarId, set: &mut [u64]) {
        if let Some(i) = self.index.get(&var) {
            set[i / 64] |= 1 << (i % 64);
        }
    }

    fn has(&self, var: VarId, set: &[u64]) -> bool {
        self.index.get(&var).is_some_and(|i| set[i / 64] >> (i % 64) & 1 == 1)
    }

    /// Adds the variables inside a term that is no variable itself.
    fn add(&self, term: TermId, set: &mut [u64]) {
        if let Some(inside) = self.inside.get(&term) {
            set.iter_mut().zip(inside).for_each(|(all, more)| *all |= more);
        }
    }
}

/// A sum with eliminated variables replaced.
fn reduce(arena: &Arena, sum: &Linear, eliminated: &[(VarId, Linear)]) -> Linear {
    let mut out = Linear { terms: Default::default(), constant: sum.constant };
    for (term, coefficient) in &sum.terms {
        let value = arena.as_var(*term).and_then(|var| eliminated.iter().find(|(v, _)| *v == var));
        match value {
            Some((_, value)) => {
                for (t, c) in &value.terms {
                    out.add_scaled(arena, *t, c.mul(*coefficient));
                }
                out.constant = out.constant.add(value.constant.mul(*coefficient));
            }
            None => out.add_scaled(arena, *term, *coefficient),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::eval::{Model, eval};

    /// A state of the new variables and the state of the old ones that it stands for agree on the assertions.
    #[test]
    fn states_correspond() {
        let mut seed = 1u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        for _ in 0..200 {
            let mut arena = Arena::new();
            let names = ["a", "b", "c", "d"];
            let vars: Vec<TermId> = names.iter().map(|name| arena.var(name, Sort::Bv(64))).collect();
            let mut sum = |arena: &mut Arena| {
                let mut sum = arena.bv(64, roll(9));
                for _ in 0..2 + roll(3) {
                    let factor = arena.bv_i64(64, [1, -1, 1, -1, 4][roll(5) as usize]);
                    let scaled = arena.mul(vars[roll(4) as usize], factor);
                    sum = arena.add(sum, scaled);
                }
                sum
            };
            let distances: Vec<TermId> = (0..4).map(|_| sum(&mut arena)).collect();
            let bound = arena.bv(64, 12);
            let mut assertions: Vec<TermId> = distances.iter().map(|d| arena.ult(*d, bound)).collect();
            assertions.push(arena.ult(vars[0], vars[1]));
            let basis = change(&mut arena, &assertions, &distances);
            for state in 0..20 {
                let new = Model::seeded(state);
                let mut old = new.clone();
                for (var, value) in &basis.eliminated {
                    old.set_bits(*var, eval(&arena, *value, &new).bits());
                }
                for (before, after) in assertions.iter().zip(&basis.assertions) {
                    assert_eq!(eval(&arena, *before, &old), eval(&arena, *after, &new), "{}", arena.text(*before));
                }
            }
            // One to one: no new variable without an old one that depends on it, and each eliminated once.
            let eliminated: FxHashSet<VarId> = basis.eliminated.iter().map(|(var, _)| *var).collect();
            assert_eq!(eliminated.len(), basis.introduced.len());
            assert_eq!(eliminated.len(), basis.eliminated.len());
            for term in basis.assertions.iter().chain(basis.eliminated.iter().map(|(_, value)| value)) {
                assert!(arena.free_vars(*term).iter().all(|var| !eliminated.contains(var)));
            }
        }
    }

    #[test]
    fn a_variable_inside_another_term_of_the_sum_stays() {
        let mut arena = Arena::new();
        let [p, q] = ["p", "q"].map(|name| arena.var(name, Sort::Bv(64)));
        let memory = arena.var("m", Sort::Memory);
        let [behind_p, behind_q] = [p, q].map(|address| arena.load(memory, address, 8));
        let distances = [(p, behind_p), (q, behind_p), (p, behind_q)].map(|(a, b)| arena.sub(a, b));
        let bound = arena.bv(64, 8);
        let assertions = distances.map(|d| arena.ult(d, bound));
        let basis = change(&mut arena, &assertions, &distances);
        let eliminated: Vec<String> = basis.eliminated.iter().map(|(v, _)| arena.var_name(*v).to_string()).collect();
        assert_eq!(eliminated, ["q"]);
        for term in basis.assertions.iter().chain(basis.eliminated.iter().map(|(_, value)| value)) {
            assert!(arena.free_vars(*term).iter().all(|var| arena.var_name(*var) != "q"), "{}", arena.text(*term));
        }
    }

    #[test]
    fn differences_with_one_address_become_variables() {
        let mut arena = Arena::new();
        let q = arena.var("q", Sort::Bv(64));
        let bound = arena.bv(64, 8);
        let (mut distances, mut assertions) = (Vec::new(), Vec::new());
        for name in ["p0", "p1", "p2"] {
            let p = arena.var(name, Sort::Bv(64));
            let distance = arena.sub(q, p);
            distances.push(distance);
            assertions.push(arena.ult(distance, bound));
        }
        let basis = change(&mut arena, &assertions, &distances);
        assert_eq!(basis.eliminated.len(), 3);
        assert!(basis.assertions.iter().all(|a| arena.free_vars(*a).len() == 1));
    }
}
