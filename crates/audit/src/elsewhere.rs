//! Rules that the solver does not prove instance by instance, and what stands in for that.

use crate::reals::axioms_of;
use term::Axiom;

/// Rules with a theorem in words, and where it stands.
const THEOREMS: &[(&str, &str)] = &[
    ("extract-quotient", "theorem in magic.rs, exhaustive tests there"),
    ("sum-signed-quotient", "theorem in magic.rs, exhaustive tests there"),
    ("ult-divisible", "theorem in divisible.rs, exhaustive tests there"),
    ("and-divisible", "theorem in divisible.rs, exhaustive tests there"),
    ("or-divisible", "theorem in divisible.rs, exhaustive tests there"),
];

/// What rules rest on that are theorems about real numbers only.
const AXIOMS: &[(&[Axiom], &str)] = &[
    (&[Axiom::Reassociate], "rests on the axiom `reassoc`, which the condition names"),
    (&[Axiom::AddZero], "rests on the axiom `add-zero`, which the condition names"),
    (&[Axiom::MulZero], "rests on the axiom `mul-zero`, which the condition names"),
    (&[Axiom::Distribute], "rests on the axiom `distribute`, which the condition names"),
    (
        &[Axiom::Reassociate, Axiom::Distribute],
        "rests on the axioms `reassoc` and `distribute`, which the condition names",
    ),
];

/// A rule about floating-point functions, which are uninterpreted in questions.
pub fn is_float(rule: &str) -> bool {
    rule.starts_with("float-")
}

/// What stands in for a proof of the rule's instances; nothing if they are proved.
pub fn proved_elsewhere(rule: &str) -> Option<&'static str> {
    if is_float(rule) {
        return Some("proved in the theory of floating point at a small format (crates/solver/tests/rules.rs)");
    }
    let axioms = axioms_of(rule);
    if let Some((_, why)) = AXIOMS.iter().find(|(rests, _)| *rests == axioms) {
        return Some(why);
    }
    THEOREMS.iter().find(|(name, _)| *name == rule).map(|(_, why)| *why)
}
