//! Differences of addresses as variables.
//!
//! Whether accesses overlap is a question about differences `d = q - p`, and a solver that sees `q` and `p` has to
//! reason through a 64-bit subtraction for each comparison of each `d` with a constant. So `d` becomes a variable `u`
//! and `p` the sum `q - u`: a bijection between states, hence equisatisfiable. Two stores that both meet the load are
//! then near each other by their low bits alone, without arithmetic.
//!
//! Elimination is Gauss's, modulo 2^64, with pivots of coefficient one or minus one: each difference in turn, written
//! in the variables chosen so far, gives away one variable, the one that occurs in the fewest differences.
//!
//! What would go wrong if this module were wrong: false proofs, if the substitution were no bijection.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Bits, Linear, Sort, TermId, VarId};

/// The assertions in other variables.
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
    let mut eliminated: Vec<(VarId, Linear)> = Vec::new();
    let mut introduced = FxHashSet::default();
    for distance in distances {
        let mut sum = reduce(arena, &Linear::of(arena, *distance), &eliminated);
        sum.constant = Bits::zero(64);
        if sum.terms.len() < 2 {
            continue;
        }
        let is_pivot = |(term, coefficient): &&(TermId, Bits)| {
            let unit = *coefficient == Bits::new(64, 1) || coefficient.is_ones();
            unit && arena.as_var(*term).is_some_and(|var| !introduced.contains(&var))
        };
        let by_uses = |(term, _): &&(TermId, Bits)| uses.get(term).copied().unwrap_or(0);
        let Some((pivot, sign)) = sum.terms.iter().rev().filter(is_pivot).min_by_key(by_uses).copied() else {
            continue;
        };
        let Some(var) = arena.as_var(pivot) else { continue };
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
