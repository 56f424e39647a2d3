//! Random changes of a program.
//!
//! STOKE's moves (ASPLOS'13, section 4.3) with the weights that did best here: a new instruction 3 of 16 (one in four is
//! nothing), another opcode 5, another operand 5, and 3 for moving code: swap two neighbours, swap any two, rotate a piece.

use crate::pool::{Pool, Slot};
use crate::random::Random;

/// Changes a program at random.
pub(crate) fn change(program: &mut [Slot], pool: &Pool, random: &mut Random) {
    let at = random.below(program.len());
    match random.below(16) {
        0..3 => {
            program[at] = if random.below(4) == 0 { Slot::default() } else { pool.draw(random) };
        }
        3..8 => program[at] = pool.change_opcode(program[at], random),
        8..13 => program[at] = pool.change_operand(program[at], random),
        13 => {
            let next = (at + 1).min(program.len() - 1);
            program.swap(at, next);
        }
        14 => {
            let other = random.below(program.len());
            program.swap(at, other);
        }
        _ => {
            let other = random.below(program.len());
            let (from, to) = (at.min(other), at.max(other));
            if random.below(2) == 0 {
                program[from..=to].rotate_left(1);
            } else {
                program[from..=to].rotate_right(1);
            }
        }
    }
}
