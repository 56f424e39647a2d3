//! Concrete inputs for two kernels.
//!
//! Floating-point numbers of mixed magnitude make rounding visible, so that a wrong order of a sum shows; other
//! patterns keep square roots and divisions defined. Integers are small in most patterns, so that sums do not overflow;
//! in the last three they fill their type or are multiples of large powers of two, and floating-point numbers include
//! infinities, NaN and negative zero, and numbers that a narrower type does not hold.

use rustc_hash::FxHashMap;
use updates::{Constant, Object, Origin, Program, Scalar, Start, input_key};

/// A way to fill the inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inputs {
    /// Seed.
    pub seed: u64,
    /// Which pattern.
    pub pattern: u32,
}

/// Number of patterns.
pub(crate) const PATTERNS: u32 = 9;
/// A pattern of NaNs that can be told apart: which of two an operation gives shows the order of its operands.
pub(super) const NANS: u32 = PATTERNS;
/// Integers at the edges of their types and small ones.
pub const CORNERS: u32 = PATTERNS + 1;

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Inputs {
    /// The start value of a cell. `dims` are the dimensions of its object.
    pub fn value(self, key: u64, cell: u64, ty: Scalar, dims: &[u64]) -> Constant {
        let random = mix(mix(self.seed ^ u64::from(self.pattern) << 48)
            ^ mix(key.wrapping_add(0x9e37_79b9))
            ^ mix(cell << 1 | 1));
        if !ty.is_float() {
            return integer(self.pattern, random, ty);
        }
        if self.pattern == NANS {
            let payload = random >> 32 | 1;
            return match ty {
                Scalar::F32 => Constant::F32(0x7fc0_0000 | (payload & 0x3f_ffff) as u32),
                _ => Constant::F64(0x7ff8 << 48 | payload),
            };
        }
        let unit = (random >> 11) as f64 / (1u64 << 53) as f64;
        let sign = if random & 1 == 1 { -1.0 } else { 1.0 };
        let value = match self.pattern {
            0 => sign * (0.5 + unit) * 2f64.powi((random >> 1 & 7) as i32 - 4),
            1 => 1.0 + unit,
            2 => {
                // Heavy diagonal: factorisations stay defined.
                let diagonal = dims.len() == 2 && dims[1] > 0 && cell / dims[1] == cell % dims[1];
                if diagonal { 64.0 + unit } else { unit / 4.0 }
            }
            3 => sign * (0.5 + unit) * 2f64.powi((random >> 1 & 31) as i32 - 16),
            4 => (random >> 1 & 15) as f64 - 7.0,
            7 => match random >> 1 & 15 {
                0 => f64::NAN,
                1 => sign * f64::INFINITY,
                2 | 3 => sign * 0.0,
                _ => sign * (random >> 5 & 7) as f64,
            },
            8 => match random >> 1 & 7 {
                0 => f64::NAN,
                1 => sign * 0.0,
                2 => sign * f64::INFINITY,
                // One more than the numbers that a float counts to.
                3 | 4 => sign * (f64::from(1 << 24) + (random >> 5 & 7) as f64),
                _ => sign * (0.5 + unit),
            },
            _ => sign * unit,
        };
        Constant::float(ty, value)
    }

    /// A function for the machine: start values by key and cell, for objects of a program. A variable of the file's own holds
    /// what it starts with.
    pub fn for_program(self, program: &Program) -> impl FnMut(u64, u64, Scalar) -> Constant + use<> {
        let known = |o: &Object| {
            let start = if o.is_static() { o.start.clone() } else { Start::Elsewhere };
            Some((input_key(&o.origin)?, (o.dims.clone(), start)))
        };
        let objects: FxHashMap<u64, (Vec<u64>, Start)> = program.objects.iter().filter_map(known).collect();
        move |key, cell, ty| match objects.get(&key) {
            Some((dims, start)) => start.cell(cell, ty).unwrap_or_else(|| self.value(key, cell, ty, dims)),
            None => self.value(key, cell, ty, &[]),
        }
    }
}

fn integer(pattern: u32, random: u64, ty: Scalar) -> Constant {
    let (low, high) = ty.range();
    match pattern {
        CORNERS => {
            let edges =
                [0, 1, -1, low, high, low + 1, high - 1, 2, 3, -2, 31, 32, 33, 63, 64, 127, 128, 255, 256, 65535];
            return Constant::integer(ty.wrap(edges[(random >> 16) as usize % edges.len()]));
        }
        6 => return Constant::integer(ty.wrap(i128::from(random as i64))),
        7 | 8 => return Constant::integer(ty.wrap(i128::from((random >> 8 & 3) as i64) << (random % 64))),
        _ => {}
    }
    let spread = [8, 3, 100, 2, 20, 1000][pattern as usize % 6];
    let value = (random % (2 * spread + 1)) as i128 - i128::from(spread);
    let value = if ty.is_signed() { value } else { value.abs() };
    Constant::integer(value.clamp(low, high))
}

/// Is the object filled from the inputs?
pub(crate) fn is_input(origin: &Origin) -> bool {
    input_key(origin).is_some()
}
