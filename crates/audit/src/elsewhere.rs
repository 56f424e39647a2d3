//! Rules that the solver does not prove instance by instance, and what stands in for that.

/// Rules with a theorem in words, and where it stands.
const THEOREMS: &[(&str, &str)] = &[
    ("extract-quotient", "theorem in magic.rs, exhaustive tests there"),
    ("sum-signed-quotient", "theorem in magic.rs, exhaustive tests there"),
    ("ult-divisible", "theorem in divisible.rs, exhaustive tests there"),
    ("and-divisible", "theorem in divisible.rs, exhaustive tests there"),
    ("or-divisible", "theorem in divisible.rs, exhaustive tests there"),
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
    THEOREMS.iter().find(|(name, _)| *name == rule).map(|(_, why)| *why)
}
