//! What the tests of the rule families share.

use crate::{Arena, Sort, TermId};
use expect_test::Expect;

/// Checks the text of what a construction gives.
pub(super) fn gives(build: impl FnOnce(&mut Arena) -> TermId, expected: Expect) {
    let mut arena = Arena::new();
    let term = build(&mut arena);
    expected.assert_eq(&arena.text(term));
}

/// The 32-bit variables `x` and `y`.
pub(super) fn words(arena: &mut Arena) -> (TermId, TermId) {
    (arena.var("x", Sort::Bv(32)), arena.var("y", Sort::Bv(32)))
}

/// The truth variables `p` and `q`.
pub(super) fn truths(arena: &mut Arena) -> (TermId, TermId) {
    (arena.var("p", Sort::Bool), arena.var("q", Sort::Bool))
}
