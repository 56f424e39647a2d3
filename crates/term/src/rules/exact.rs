//! Sums and products of floating-point constants that round nothing: what holds for them holds for real numbers.
//!
//! An error-free transformation gives the rounding error itself. For sums it is Knuth's TwoSum (The Art of Computer
//! Programming, vol. 2, 4.2.2, theorem B), exact unless something overflows. For products it is a fused multiplication
//! and subtraction, exact unless something underflows.

use crate::Bits;

/// Neither an infinity nor a NaN.
pub(super) fn is_finite(c: Bits) -> bool {
    if c.width() == 32 { single(c).is_finite() } else { double(c).is_finite() }
}

/// `a + b`, if that is a float.
pub(super) fn sum(a: Bits, b: Bits) -> Option<Bits> {
    if a.width() == 32 {
        let (x, y) = (single(a), single(b));
        let sum = x + y;
        let virtual_y = sum - x;
        let error = (x - (sum - virtual_y)) + (y - virtual_y);
        return (sum.is_finite() && error == 0.0).then(|| Bits::new(32, u64::from(sum.to_bits())));
    }
    let (x, y) = (double(a), double(b));
    let sum = x + y;
    let virtual_y = sum - x;
    let error = (x - (sum - virtual_y)) + (y - virtual_y);
    (sum.is_finite() && error == 0.0).then(|| Bits::new(64, sum.to_bits()))
}

/// `a·b`, if that is a float.
pub(super) fn product(a: Bits, b: Bits) -> Option<Bits> {
    if a.width() == 32 {
        // 48 digits and the exponents fit a double.
        let wide = f64::from(single(a)) * f64::from(single(b));
        let product = wide as f32;
        return (f64::from(product) == wide && product.is_finite())
            .then(|| Bits::new(32, u64::from(product.to_bits())));
    }
    let (x, y) = (double(a), double(b));
    let product = x * y;
    // The error has at most 106 digits below the product's first.
    let normal = product.abs() > 1e-280 || x == 0.0 || y == 0.0;
    (product.is_finite() && normal && x.mul_add(y, -product) == 0.0).then(|| Bits::new(64, product.to_bits()))
}

/// Puts constants together as far as that is exact. What comes out depends on which there are, not on their order.
pub(super) fn merge(constants: &mut Vec<Bits>, together: fn(Bits, Bits) -> Option<Bits>) {
    constants.sort_by_key(|c| c.low());
    let mut merged: Vec<Bits> = Vec::new();
    for constant in constants.drain(..) {
        let mut constant = constant;
        while let Some((i, both)) =
            merged.iter().enumerate().find_map(|(i, other)| Some((i, together(*other, constant)?)))
        {
            merged.remove(i);
            constant = both;
        }
        merged.push(constant);
    }
    merged.sort_by_key(|c| c.low());
    *constants = merged;
}

fn single(c: Bits) -> f32 {
    f32::from_bits(c.low() as u32)
}

fn double(c: Bits) -> f64 {
    f64::from_bits(c.low())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: f64) -> Bits {
        Bits::new(64, x.to_bits())
    }

    fn g(x: f32) -> Bits {
        Bits::new(32, u64::from(x.to_bits()))
    }

    #[test]
    fn exact_ones_are_found() {
        assert_eq!(sum(f(1.5), f(-0.25)), Some(f(1.25)));
        assert_eq!(sum(g(16_777_215.0), g(1.0)), Some(g(16_777_216.0)));
        assert_eq!(product(f(3.0), f(0.125)), Some(f(0.375)));
        assert_eq!(product(g(4095.0), g(4095.0)), Some(g(16_769_025.0)));
        assert_eq!(product(f(0.0), f(1e300)), Some(f(0.0)));
        assert_eq!(sum(f(1.0), f(-1.0)), Some(f(0.0)));
    }

    #[test]
    fn rounded_ones_are_none() {
        assert_eq!(sum(f(0.1), f(0.2)), None);
        assert_eq!(sum(f(1e30), f(1.0)), None);
        assert_eq!(sum(g(16_777_216.0), g(1.0)), None);
        assert_eq!(sum(f(f64::MAX), f(f64::MAX)), None);
        assert_eq!(sum(f(f64::INFINITY), f(1.0)), None);
        assert_eq!(product(f(0.1), f(0.1)), None);
        assert_eq!(product(g(4097.0), g(4097.0)), None);
        assert_eq!(product(f(1e-200), f(1e-200)), None);
        assert_eq!(product(g(1e-30), g(1e-30)), None);
        assert_eq!(product(f(f64::NAN), f(1.0)), None);
    }

    #[test]
    fn merging_does_not_depend_on_the_order() {
        let all = [0.1, 0.2, 4.0, -4.0, 0.5, 1e30];
        let mut first: Vec<Bits> = all.iter().map(|x| f(*x)).collect();
        let mut second: Vec<Bits> = all.iter().rev().map(|x| f(*x)).collect();
        merge(&mut first, sum);
        merge(&mut second, sum);
        assert_eq!(first, second);
        assert!(first.len() < all.len() && first.len() > 1);
    }
}
