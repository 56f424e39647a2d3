//! Fused multiply-add.
//!
//! The digits of a name say which operands are multiplied and added: `vfmadd213` computes
//! `op1 := op2 * op1 + op3`. The negated forms flip the sign bit of an operand.

use crate::step::{Lifted, Step};
use crate::table::{Feature::Fma, Row, Vex};
use crate::vector::{join, split};
use term::{Arena, Bits, FloatOp, TermId};

/// Signs of the product and of the addend, on even and odd lanes.
#[derive(Clone, Copy)]
struct Signs {
    product: Sign,
    addend: [Sign; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

use Sign::{Minus, Plus};

const MADD: Signs = Signs { product: Plus, addend: [Plus, Plus] };
const MSUB: Signs = Signs { product: Plus, addend: [Minus, Minus] };
const NMADD: Signs = Signs { product: Minus, addend: [Plus, Plus] };
const NMSUB: Signs = Signs { product: Minus, addend: [Minus, Minus] };
const MADDSUB: Signs = Signs { product: Plus, addend: [Minus, Plus] };
const MSUBADD: Signs = Signs { product: Plus, addend: [Plus, Minus] };

macro_rules! rows {
    ($($base:literal $signs:ident [$($kind:literal $lift:ident $width:literal),*];)*) => {
        &[$($(
            row!(concat!("vf", $base, "132", $kind), |s| $lift(s, $width, $signs, [0, 2, 1]), $width),
            row!(concat!("vf", $base, "213", $kind), |s| $lift(s, $width, $signs, [1, 0, 2]), $width),
            row!(concat!("vf", $base, "231", $kind), |s| $lift(s, $width, $signs, [1, 2, 0]), $width),
        )*)*]
    };
}

macro_rules! row {
    ($name:expr, $lift:expr, $width:literal) => {
        Row::new($name, Fma, $lift).vex(Vex::Only).nan_lanes($width)
    };
}

pub(crate) const ROWS: &[Row] = rows! {
    "madd" MADD ["ss" scalar 32, "sd" scalar 64, "ps" packed 32, "pd" packed 64];
    "msub" MSUB ["ss" scalar 32, "sd" scalar 64, "ps" packed 32, "pd" packed 64];
    "nmadd" NMADD ["ss" scalar 32, "sd" scalar 64, "ps" packed 32, "pd" packed 64];
    "nmsub" NMSUB ["ss" scalar 32, "sd" scalar 64, "ps" packed 32, "pd" packed 64];
    "maddsub" MADDSUB ["ps" packed 32, "pd" packed 64];
    "msubadd" MSUBADD ["ps" packed 32, "pd" packed 64];
};

fn signed(arena: &mut Arena, value: TermId, sign: Sign) -> TermId {
    match sign {
        Plus => value,
        Minus => {
            let width = arena.width(value);
            let bit = arena.constant(Bits::ones(width).sub(Bits::ones(width - 1).zext(width)));
            arena.xor(value, bit)
        }
    }
}

fn fused(arena: &mut Arena, operands: [TermId; 3], product: Sign, addend: Sign) -> TermId {
    let [x, y, z] = operands;
    let (x, z) = (signed(arena, x, product), signed(arena, z, addend));
    arena.float(FloatOp::Fma(arena.width(x)), &[x, y, z])
}

fn scalar(s: &mut Step, width: u16, signs: Signs, order: [usize; 3]) -> Lifted {
    let [x, y, z] = order;
    let operands = [s.read_low(x, width)?, s.read_low(y, width)?, s.read_low(z, width)?];
    let value = fused(s.arena, operands, signs.product, signs.addend[0]);
    let old = s.read_full(0)?;
    let whole = s.insert(old, 0, value);
    s.write(0, whole)
}

fn packed(s: &mut Step, width: u16, signs: Signs, order: [usize; 3]) -> Lifted {
    let [x, y, z] = order;
    let (x, y, z) = (s.read_full(x)?, s.read_full(y)?, s.read_full(z)?);
    let [x, y, z] = [x, y, z].map(|value| split(s.arena, value, width));
    let mut lanes = Vec::with_capacity(8);
    for (i, ((x, y), z)) in x.into_iter().zip(y).zip(z).enumerate() {
        lanes.push(fused(s.arena, [x, y, z], signs.product, signs.addend[i % 2]));
    }
    let value = join(s.arena, &lanes);
    s.write(0, value)
}
