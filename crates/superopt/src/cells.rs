//! The machine's state as a row of 64-bit cells: general registers, four words of each vector register, flags.

use program::{Flag, Register};

/// Number of cells.
pub(crate) const CELLS: usize = 16 + 64 + 7;
/// First cell of the flags.
pub(crate) const FLAGS: usize = 80;
/// Number of flags.
pub(crate) const FLAG_COUNT: usize = 7;

/// Position of a cell.
pub(crate) type Cell = u8;

/// First cell of a register; `None` for segment bases.
pub(crate) fn of(register: Register) -> Option<Cell> {
    match register {
        Register::General(i) => Some(i),
        Register::Vector(i) => Some(16 + 4 * i),
        Register::VectorHigh(i) => Some(18 + 4 * i),
        Register::Flag(flag) => Some(of_flag(flag)),
        Register::FsBase | Register::GsBase => None,
    }
}

/// The cell of a flag.
pub(crate) fn of_flag(flag: Flag) -> Cell {
    FLAGS as u8 + flag as u8
}

/// Number of cells that a register takes.
pub(crate) fn count(register: Register) -> u8 {
    match register {
        Register::Vector(_) | Register::VectorHigh(_) => 2,
        _ => 1,
    }
}
