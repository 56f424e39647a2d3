//! Conditions of many turns at once: `i < n`, `i + 1 < n`, `i + 2 < n`, … as one row.
//!
//! A loop that was followed through many turns leaves a comparison for each of them. The solver gets the first and the
//! last of such a row, and, where no number between is missing, that the row does not wrap: `x + k < y` says that `x + k`
//! is not the largest number, so `x + k + 1` is above it. Then all others follow.
//!
//! Trust: full. What is left out only makes a question harder to prove; what is added follows from the row.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Linear, Op, TermId};

/// Conditions with fewer conjuncts are taken as they are.
const MANY_CONJUNCTS: usize = 8;

/// Which operand of a comparison goes up from turn to turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Moving {
    Left,
    Right,
}

/// One row: what is added to the operand that moves, and the comparison.
type Row = Vec<(i64, TermId)>;

/// The conjuncts of a condition, with the first and the last of each row of comparisons only.
pub(crate) fn weakened(arena: &mut Arena, condition: TermId) -> Vec<TermId> {
    if arena.op(condition) != Op::And {
        return vec![condition];
    }
    let conjuncts = arena.args(condition).to_vec();
    if conjuncts.len() < MANY_CONJUNCTS {
        return conjuncts;
    }
    let mut between: FxHashSet<TermId> = FxHashSet::default();
    let mut added = Vec::new();
    for moving in [Moving::Left, Moving::Right] {
        let open = conjuncts.iter().copied().filter(|c| !between.contains(c));
        let mut rows: Vec<Row> = rows(arena, &open.collect::<Vec<_>>(), moving).into_values().collect();
        rows.retain(|row| row.len() > 2);
        for mut row in rows {
            row.sort_unstable();
            let [(least, first), .., (most, last)] = row.as_slice() else { continue };
            if row.windows(2).all(|w| w[1].0 == w[0].0 + 1) && most - least < i64::from(i32::MAX) {
                added.push(in_order(arena, *first, *last, moving));
            }
            between.extend(row[1..row.len() - 1].iter().map(|r| r.1));
        }
    }
    added.sort_unstable();
    conjuncts.into_iter().filter(|c| !between.contains(c)).chain(added).collect()
}

/// Comparisons that differ in a constant that is added to one side.
fn rows(arena: &mut Arena, conjuncts: &[TermId], moving: Moving) -> FxHashMap<(bool, TermId, TermId), Row> {
    let mut rows: FxHashMap<(bool, TermId, TermId), Row> = FxHashMap::default();
    for conjunct in conjuncts {
        let signed = match arena.op(*conjunct) {
            Op::Slt => true,
            Op::Ult => false,
            _ => continue,
        };
        let (a, b) = (arena.arg(*conjunct, 0), arena.arg(*conjunct, 1));
        let (moves, rests) = if moving == Moving::Left { (a, b) } else { (b, a) };
        let offset = Linear::of(arena, moves).constant.to_i64().unwrap_or(0);
        let base = arena.add_const(moves, offset.wrapping_neg());
        rows.entry((signed, base, rests)).or_default().push((offset, *conjunct));
    }
    rows
}

/// The first and the last of a row without gaps: what moves does not wrap between them. To the left of `<` it can never be
/// the largest number before the last turn, to the right never the least one after the first.
fn in_order(arena: &mut Arena, first: TermId, last: TermId, moving: Moving) -> TermId {
    let operand = if moving == Moving::Left { 0 } else { 1 };
    let (low, high) = (arena.arg(first, operand), arena.arg(last, operand));
    match arena.op(first) {
        Op::Slt => arena.slt(low, high),
        _ => arena.ult(low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::eval::{Evaluator, Model};
    use term::{Bits, Sort};

    /// The comparisons `x + k < y`, or `y < x + k`, for these k.
    fn row(arena: &mut Arena, numbers: &[i8], moving: Moving, signed: bool) -> Vec<TermId> {
        let [x, y] = ["x", "y"].map(|name| arena.var(name, Sort::Bv(8)));
        let compare = |k: &i8| {
            let sum = arena.add_const(x, i64::from(*k));
            let (a, b) = if moving == Moving::Left { (sum, y) } else { (y, sum) };
            if signed { arena.slt(a, b) } else { arena.ult(a, b) }
        };
        numbers.iter().map(compare).collect()
    }

    proptest! {
        /// What the solver gets is true where the whole row is, and for rows without gaps only there.
        #[test]
        fn rows_say_no_more_than_their_parts(
            x in any::<u8>(), y in any::<u8>(), first in -9..9i8, length in 8..14i8, gap in prop::option::of(1..7i8),
            left in any::<bool>(), signed in any::<bool>(),
        ) {
            let mut arena = Arena::new();
            let moving = if left { Moving::Left } else { Moving::Right };
            let numbers: Vec<i8> = (first..first + length).filter(|k| Some(k - first) != gap).collect();
            let parts = row(&mut arena, &numbers, moving, signed);
            let whole = arena.bool_and_all(&parts);
            let weaker = weakened(&mut arena, whole);
            prop_assume!(arena.op(whole) == Op::And && arena.args(whole).len() >= MANY_CONJUNCTS);
            prop_assert!(weaker.len() <= 3);
            let mut model = Model::seeded(1);
            for (name, value) in [("x", x), ("y", y)] {
                let var = arena.var(name, Sort::Bv(8));
                model.set_bits(arena.as_var(var).expect("a variable"), Bits::new(8, u64::from(value)));
            }
            let mut evaluator = Evaluator::new(&arena, &model);
            let (all, some) = (evaluator.bool(whole), weaker.iter().all(|c| evaluator.bool(*c)));
            prop_assert!(!all || some, "the row holds, what is asked does not");
            prop_assert!(gap.is_some() || all == some, "a row without gaps is kept");
        }
    }

    /// Three turns behind the last multiple of four below n, and a fourth: only the row tells that it cannot be.
    #[test]
    fn gaps_add_nothing() {
        let mut arena = Arena::new();
        let parts = row(&mut arena, &[0, 1, 2, 3, 5, 6, 7, 8, 9], Moving::Left, true);
        let whole = arena.bool_and_all(&parts);
        assert_eq!(weakened(&mut arena, whole).len(), 2);
        let parts = row(&mut arena, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], Moving::Left, true);
        let whole = arena.bool_and_all(&parts);
        assert_eq!(weakened(&mut arena, whole).len(), 3);
    }
}
