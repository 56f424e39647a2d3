//! What the solver cannot know about floating-point comparisons, which are opaque functions to it.
//!
//! An ordered comparison that holds has no NaN among its operands, and two operands are unordered if one of them is a
//! NaN. Instances of these theorems (IEEE 754, section 5.11) are added for the comparisons of a question.
//!
//! Trust: full.

use term::{Arena, FloatOp, Func, Op, TermId};

/// More comparisons than this are not looked at.
const MOST: usize = 48;

/// Theorems about the comparisons in the assertions.
pub(crate) fn theorems(arena: &mut Arena, assertions: &[TermId]) -> Vec<TermId> {
    let mut found: Vec<(TermId, FloatOp)> = Vec::new();
    for term in arena.topological(assertions) {
        if let Op::Apply(func) = arena.op(term)
            && let Func::Float(op @ (FloatOp::Lt(_) | FloatOp::Eq(_) | FloatOp::Unordered(_))) = *arena.func(func)
        {
            found.push((term, op));
        }
    }
    let mut out = Vec::new();
    if found.len() > MOST {
        return out;
    }
    for (term, op) in found {
        let (FloatOp::Lt(width) | FloatOp::Eq(width) | FloatOp::Unordered(width)) = op else { continue };
        let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
        let [one, other] = [a, b].map(|x| arena.float(FloatOp::Unordered(width), &[x, x]));
        let any = arena.bool_or(one, other);
        let theorem = if matches!(op, FloatOp::Unordered(_)) {
            arena.eq(term, any)
        } else {
            let ordered = arena.bool_not(any);
            arena.implies(term, ordered)
        };
        if arena.as_bool(theorem).is_none() {
            out.push(theorem);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;
    use term::eval::{Model, eval};

    /// The evaluator computes with real floats.
    #[test]
    fn theorems_hold_on_numbers() {
        let mut arena = Arena::new();
        let (x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
        let terms: Vec<TermId> = [FloatOp::Lt(64), FloatOp::Eq(64), FloatOp::Unordered(64)]
            .iter()
            .flat_map(|op| [(x, y), (y, x), (x, x)].map(|(a, b)| arena.float(*op, &[a, b])))
            .collect();
        let theorems = theorems(&mut arena, &terms);
        assert!(theorems.len() >= 4, "{}", theorems.len());
        let numbers = [0.0, -0.0, 1.5, -3.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE];
        for a in numbers {
            for b in numbers {
                let mut model = Model::default();
                for (term, value) in [(x, a), (y, b)] {
                    let var = arena.as_var(term).expect("a variable");
                    model.set_bits(var, term::Bits::new(64, value.to_bits()));
                }
                assert!(theorems.iter().all(|t| eval(&arena, *t, &model).bool()), "{a} {b}");
            }
        }
    }
}
