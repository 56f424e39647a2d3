//! What code costs, estimated: the longest path of results that wait for each other, or the machine's width if that is more.
//!
//! The numbers are those of recent Intel and AMD processors, rounded. They order candidates; what is claimed is measured.

use crate::cells::{self, CELLS};
use crate::task::Goal;
use program::Register;
use x86::Instruction;

/// Instructions that a core begins in one clock.
const WIDTH: u32 = 6;
/// Clocks of a load that hits the first cache.
const LOAD: u32 = 5;

/// Clocks from the operands to the result.
pub(crate) fn latency(instruction: &Instruction) -> u32 {
    let Some(row) = instruction.mnemonic.row() else { return 20 };
    let name = row.name;
    let own = match name {
        "imul" | "mul" | "mulx" | "popcnt" | "lzcnt" | "tzcnt" | "bsf" | "bsr" | "pext" | "pdep" => 3,
        "div" | "idiv" if instruction.width == 64 => 18,
        "div" | "idiv" => 12,
        "shld" | "shrd" => 3,
        "bswap" if instruction.width == 64 => 2,
        "cmovcc" => 1,
        "rcl" | "rcr" => 3,
        "nop" | "endbr64" => 0,
        _ if row.nan_lanes.is_some() => match name {
            _ if name.starts_with("div") => 12,
            _ if name.starts_with("sqrt") => 16,
            _ => 4,
        },
        _ if name.starts_with("pmul") || name.starts_with("pmadd") || name.starts_with("psad") => 5,
        _ if name.starts_with("cvt") => 5,
        _ if is_crossing(instruction) => 3,
        _ => 1,
    };
    let loads = x86::effects(instruction).is_ok_and(|effects| effects.loads);
    own + if loads { LOAD } else { 0 }
}

/// Does it move data between general and vector registers, or between the halves of a vector?
fn is_crossing(instruction: &Instruction) -> bool {
    let mut kinds = [false; 2];
    for operand in &instruction.operands {
        if let x86::Operand::Register(lane) = operand {
            kinds[usize::from(matches!(lane.register, Register::Vector(_)))] = true;
        }
    }
    kinds == [true; 2]
        || instruction.mnemonic.name().starts_with("vperm")
        || instruction.mnemonic.name().contains("128")
}

/// Small operations that a processor makes of it.
pub(crate) fn operations(instruction: &Instruction) -> u32 {
    let Some(row) = instruction.mnemonic.row() else { return 20 };
    let own = match row.name {
        "div" | "idiv" => 10,
        "mul" | "mulx" => 2,
        "adc" | "sbb" | "cmovcc" | "setcc" => 1,
        "xchg" | "bswap" | "shld" | "shrd" => 2,
        "nop" | "endbr64" => 0,
        "shl" | "shr" | "sar" if instruction.operands.len() == 2 && !is_constant(instruction) => 2,
        _ => 1,
    };
    let effects = x86::effects(instruction).unwrap_or_default();
    own + u32::from(effects.loads && own > 0 && !instruction.mnemonic.name().contains("mov"))
        + u32::from(effects.stores)
}

fn is_constant(instruction: &Instruction) -> bool {
    matches!(instruction.operands.last(), Some(x86::Operand::Immediate(_)))
}

/// The price of code in sixths of a clock, or in bytes.
pub fn price(code: &[Instruction], goal: Goal) -> u32 {
    if goal == Goal::Size {
        return code.iter().map(|instruction| x86::encode(instruction, 0).map_or(8, |bytes| bytes.len() as u32)).sum();
    }
    let width: u32 = code.iter().map(operations).sum();
    if goal == Goal::Throughput {
        return width;
    }
    let mut ready = [0u32; CELLS];
    let mut longest = 0;
    for instruction in code {
        let Ok(effects) = x86::effects(instruction) else { return u32::MAX };
        let of = |registers: x86::Registers| registers.iter().filter_map(cells::of).map(usize::from);
        let start = of(effects.reads).map(|cell| ready[cell]).max().unwrap_or(0);
        // A copy between registers is a new name.
        let end = if is_renamed(instruction) { start } else { start + latency(instruction) };
        of(effects.writes).for_each(|cell| ready[cell] = end);
        longest = longest.max(end);
    }
    // Among equally long paths the shorter code is better.
    (WIDTH * longest).max(width) * 4 + width
}

/// Does the processor do it by renaming registers?
fn is_renamed(instruction: &Instruction) -> bool {
    let registers = |operand: &x86::Operand| matches!(operand, x86::Operand::Register(lane) if lane.bits >= 32);
    let moves = matches!(
        instruction.mnemonic.name(),
        "mov" | "movaps" | "movups" | "movdqa" | "movdqu" | "vmovaps" | "vmovdqa"
    );
    moves && instruction.operands.iter().all(registers)
}
