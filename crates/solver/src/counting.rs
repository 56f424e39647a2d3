//! Operators that count bits, in terms of those that SMT-LIB has.
//!
//! `define` names an intermediate result of some width.

use crate::smt::const_text;
use term::Bits;

/// Names a text of that many bits.
type Define<'a> = &'a mut dyn FnMut(u16, &str) -> String;

/// Number of ones: sums of neighbouring fields of 1, 2, 4, … bits.
pub(crate) fn ones(width: u16, x: &str, define: Define<'_>) -> String {
    let wide = width.next_power_of_two();
    let mut sum = if wide == width { x.to_string() } else { format!("((_ zero_extend {}) {x})", wide - width) };
    let mut field = 1;
    while field < wide {
        let whole = define(wide, &sum);
        let mask = const_text(field_mask(wide, field));
        let amount = const_text(Bits::new(wide, u64::from(field)));
        sum = format!("(bvadd (bvand {whole} {mask}) (bvand (bvlshr {whole} {amount}) {mask}))");
        field *= 2;
    }
    if wide == width { sum } else { format!("((_ extract {} 0) {sum})", width - 1) }
}

/// Number of zeros below the lowest one: the ones of `¬x ∧ (x − 1)`, which are all for zero.
pub(crate) fn trailing_zeros(width: u16, x: &str, define: Define<'_>) -> String {
    let one = const_text(Bits::new(width, 1));
    let below = define(width, &format!("(bvand (bvnot {x}) (bvsub {x} {one}))"));
    ones(width, &below, define)
}

/// Number of zeros above the highest one: the zeros left after every one has been copied to all lower places.
pub(crate) fn leading_zeros(width: u16, x: &str, define: Define<'_>) -> String {
    let mut smeared = x.to_string();
    let mut step = 1;
    while step < width {
        let amount = const_text(Bits::new(width, u64::from(step)));
        smeared = define(width, &format!("(bvor {smeared} (bvlshr {smeared} {amount}))"));
        step *= 2;
    }
    let zeros = define(width, &format!("(bvnot {smeared})"));
    ones(width, &zeros, define)
}

/// Ones in every other field of that many bits, beginning with the lowest.
fn field_mask(width: u16, field: u16) -> Bits {
    let mut limbs = [0u64; 8];
    for i in (0..width).filter(|i| (i / field).is_multiple_of(2)) {
        limbs[usize::from(i) / 64] |= 1 << (i % 64);
    }
    Bits::from_limbs(width, &limbs)
}
