//! Instances of rules that rest on axioms, as claims about real numbers.
//!
//! Such an instance is no theorem about floats. It is one about real numbers: sums, differences, products and changes of
//! sign mean what they mean there, constants are exact fractions, and everything else is any number.

use rustc_hash::FxHashMap;
use std::fmt::Write;
use term::{Arena, Axiom, Bits, Firing, FloatOp, Func, Op, TermId};

/// The axioms that a rule rests on; none for most rules.
pub fn axioms_of(rule: &str) -> Vec<Axiom> {
    term::rules::resting_on_axioms().into_iter().find(|r| r.name == rule).map(|r| r.axioms()).unwrap_or_default()
}

/// SMT-LIB declarations, definitions and the assertion that the two terms of a firing differ as real numbers.
pub fn over_reals(arena: &Arena, firing: Firing) -> String {
    let mut out = String::new();
    let mut names: FxHashMap<TermId, String> = FxHashMap::default();
    let ends = [firing.before, firing.after];
    for term in arena.topological_where(&ends, |term| ends.contains(&term) || is_float(arena, term)) {
        let name = format!("r{}", term.index());
        let meaning = meaning(arena, term, &names);
        let _ = match meaning {
            Some(meaning) => writeln!(out, "(define-fun {name} () Real {meaning})"),
            None => writeln!(out, "(declare-const {name} Real)"),
        };
        names.insert(term, name);
    }
    let _ = writeln!(out, "(assert (not (= {} {})))", names[&firing.before], names[&firing.after]);
    out
}

/// Has the term the width of a float? What is beneath others does not matter.
fn is_float(arena: &Arena, term: TermId) -> bool {
    matches!(arena.sort(term).width(), Some(32 | 64))
}

fn meaning(arena: &Arena, term: TermId, names: &FxHashMap<TermId, String>) -> Option<String> {
    if let Some(c) = arena.as_const(term) {
        return fraction(c);
    }
    let operand = |i: usize| arena.args(term).get(i).and_then(|arg| names.get(arg));
    match arena.op(term) {
        Op::BvXor => {
            let c = arena.as_const(arena.arg(term, 1))?;
            let sign = c.sign() && c.trailing_zeros() == c.width() - 1;
            sign.then(|| operand(0).map(|a| format!("(- {a})"))).flatten()
        }
        Op::Apply(func) => {
            let name = match arena.func(func) {
                Func::Float(FloatOp::Add(_)) => "+",
                Func::Float(FloatOp::Sub(_)) => "-",
                Func::Float(FloatOp::Mul(_)) => "*",
                _ => return None,
            };
            Some(format!("({name} {} {})", operand(0)?, operand(1)?))
        }
        _ => None,
    }
}

/// The value of a float; nothing if it is no number.
fn fraction(c: Bits) -> Option<String> {
    let value = if c.width() == 32 { f64::from(f32::from_bits(c.low() as u32)) } else { f64::from_bits(c.low()) };
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let (field, mantissa) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    // Subnormal numbers have the exponent of the smallest normal ones and no leading one.
    let (digits, exponent) = if field == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, field - 1075) };
    let shift = digits.trailing_zeros().min(52);
    let (digits, exponent) = if digits == 0 { (0, 0) } else { (digits >> shift, exponent + shift as i32) };
    let size = match exponent {
        0 => format!("{digits}.0"),
        1.. => format!("(* {digits}.0 (^ 2.0 {exponent}))"),
        _ => format!("(/ {digits}.0 (^ 2.0 {}))", -exponent),
    };
    Some(if value.is_sign_negative() { format!("(- {size})") } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_exact() {
        let text = |value: f64| fraction(Bits::new(64, value.to_bits())).unwrap_or_default();
        assert_eq!(text(0.0), "0.0");
        assert_eq!(text(-0.75), "(- (/ 3.0 (^ 2.0 2)))");
        assert_eq!(text(99.0), "99.0");
        assert_eq!(text(12.0), "(* 3.0 (^ 2.0 2))");
        assert_eq!(text(5e-324), "(/ 1.0 (^ 2.0 1074))");
        assert_eq!(text(f64::INFINITY), "");
        assert_eq!(fraction(Bits::new(32, u64::from(0.5f32.to_bits()))), Some("(/ 1.0 (^ 2.0 1))".to_string()));
    }
}
