//! Semantics by area. Each file holds the rows of its area and the functions behind them.

mod mov;
mod arith;
mod logic;
mod shift;
mod rotate;
mod muldiv;
mod bits;
mod bmi;
mod string;
mod control;
mod sse_move;
mod sse_int;
mod sse_pairs;
mod sse_shift;
mod sse_shuffle;
mod sse_float;
mod convert;
mod avx;
pub(crate) mod masked;
mod fma;

use crate::table::Area;

/// All rows, by area.
pub(crate) static AREAS: &[Area] = &[
    Area { title: "Moves and the stack", rows: mov::ROWS },
    Area { title: "Addition, subtraction, comparison", rows: arith::ROWS },
    Area { title: "Logic and flags", rows: logic::ROWS },
    Area { title: "Shifts", rows: shift::ROWS },
    Area { title: "Rotations", rows: rotate::ROWS },
    Area { title: "Multiplication and division", rows: muldiv::ROWS },
    Area { title: "Bits and bit counts", rows: bits::ROWS },
    Area { title: "BMI", rows: bmi::ROWS },
    Area { title: "String instructions, not repeated", rows: string::ROWS },
    Area { title: "Control flow and hints", rows: control::ROWS },
    Area { title: "Vector moves", rows: sse_move::ROWS },
    Area { title: "Vector integers", rows: sse_int::ROWS },
    Area { title: "Vector logic and shifts", rows: sse_shift::ROWS },
    Area { title: "Vector shuffles", rows: sse_shuffle::ROWS },
    Area { title: "Floating point", rows: sse_float::ROWS },
    Area { title: "Conversions", rows: convert::ROWS },
    Area { title: "AVX only", rows: avx::ROWS },
    Area { title: "Masked loads and stores", rows: masked::ROWS },
    Area { title: "Fused multiply-add", rows: fma::ROWS },
];
