//! A function's code as blocks: where control goes, which registers are live, which blocks repeat.
//!
//! Trust: none. What is wrong here proposes code that a proof refuses.

use crate::task::Output;
use program::{Flag, Register};
use std::ops::Range;
use x86::{Effects, Flow, Instruction, Registers, decode, effects};

/// An instruction and where it lies.
#[derive(Clone, Debug)]
pub struct Located {
    /// Offset of its first byte from the function's.
    pub offset: usize,
    /// The instruction.
    pub instruction: Instruction,
    /// Its address depends on where the code lies, or a linker fills something in.
    pub placed: bool,
    effects: Option<Effects>,
}

/// Instructions that run one after another.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its instructions, the jump at its end included.
    pub range: Range<usize>,
    /// Blocks that may follow.
    pub next: Vec<usize>,
    /// Can it come back to itself?
    pub repeats: bool,
}

/// The code of a function.
#[derive(Clone, Debug)]
pub struct Code {
    /// All instructions, by offset.
    pub instructions: Vec<Located>,
    /// The blocks, by offset.
    pub blocks: Vec<Block>,
    /// Registers that somebody reads after the function.
    kept: Registers,
    live_in: Vec<Registers>,
}

impl Code {
    /// Reads code; `relocated` says of a range of bytes whether a linker fills something in. `results` is what the caller looks at.
    /// `None` if bytes are no instructions, or control goes to an unknown place.
    pub fn read(bytes: &[u8], relocated: &dyn Fn(Range<usize>) -> bool, results: &[Output]) -> Option<Code> {
        let mut instructions = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let decoded = decode(&bytes[at..], at as u64).ok()?;
            let placed = decoded.fields.rip_relative || relocated(at..at + decoded.length);
            let effects = effects(&decoded.instruction).ok();
            instructions.push(Located { offset: at, instruction: decoded.instruction, placed, effects });
            at += decoded.length;
        }
        let blocks = blocks(&instructions)?;
        let mut kept: Registers = Register::CALLEE_SAVED.into_iter().chain([Register::RSP]).collect();
        kept.insert(Register::Flag(Flag::Direction));
        for output in results {
            match output {
                Output::Lane(lane) => kept.insert(lane.register),
                Output::Flag(flag) => kept.insert(Register::Flag(*flag)),
            }
        }
        let mut code = Code { live_in: vec![Registers::NONE; blocks.len()], instructions, blocks, kept };
        code.find_live();
        Some(code)
    }

    fn find_live(&mut self) {
        loop {
            let mut changed = false;
            for block in (0..self.blocks.len()).rev() {
                let live = self.live_before(block, self.blocks[block].range.start);
                changed |= live != self.live_in[block];
                self.live_in[block] = live;
            }
            if !changed {
                return;
            }
        }
    }

    /// Registers that are live before an instruction of a block (or behind its last one).
    pub fn live_before(&self, block: usize, instruction: usize) -> Registers {
        let Block { range, next, .. } = &self.blocks[block];
        let mut live = next.iter().fold(Registers::NONE, |live, next| live.union(self.live_in[*next]));
        for located in self.instructions[instruction..range.end].iter().rev() {
            live = match (located.instruction.flow(), &located.effects) {
                (Flow::Return, _) => self.kept,
                (Flow::Next | Flow::Jump(_) | Flow::ConditionalJump(_), Some(effects)) => {
                    live.without(effects.writes).union(effects.reads)
                }
                // A call, or something unknown: anything may be read.
                _ => Register::all().collect(),
            };
        }
        live
    }

    /// The block that begins with this instruction.
    pub fn block_at(&self, instruction: usize) -> Option<usize> {
        self.blocks.iter().position(|block| block.range.start == instruction)
    }

    /// The instruction at an offset.
    pub fn at_offset(&self, offset: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&offset, |located| located.offset as u64).ok()
    }
}

impl Located {
    /// Can it be run, and replaced, wherever it lies?
    pub fn is_free(&self) -> bool {
        !self.placed && self.effects.is_some() && self.instruction.flow() == Flow::Next
    }

    /// What it reads and writes, if it is modelled.
    pub fn effects(&self) -> Option<&Effects> {
        self.effects.as_ref()
    }
}

fn blocks(instructions: &[Located]) -> Option<Vec<Block>> {
    let find = |offset: u64| instructions.binary_search_by_key(&offset, |located| located.offset as u64).ok();
    let mut starts = vec![false; instructions.len() + 1];
    if let Some(first) = starts.first_mut() {
        *first = true;
    }
    for (i, located) in instructions.iter().enumerate() {
        match located.instruction.flow() {
            Flow::Next | Flow::Call(_) | Flow::IndirectCall(_) => {}
            // A jump that a linker fills in leaves the function.
            Flow::Jump(_) if located.placed => starts[i + 1] = true,
            Flow::Jump(target) | Flow::ConditionalJump(target) => {
                starts[find(target)?] = true;
                starts[i + 1] = true;
            }
            Flow::Return | Flow::Trap => starts[i + 1] = true,
            Flow::IndirectJump(_) | Flow::Unsupported => return None,
        }
    }
    let firsts: Vec<usize> = (0..instructions.len()).filter(|i| starts[*i]).collect();
    let block_of = |instruction: usize| firsts.binary_search(&instruction).ok();
    let mut blocks = Vec::new();
    for (k, first) in firsts.iter().enumerate() {
        let end = firsts.get(k + 1).copied().unwrap_or(instructions.len());
        let last = &instructions[end - 1];
        let mut next = Vec::new();
        match last.instruction.flow() {
            Flow::Jump(_) if last.placed => {}
            Flow::Jump(target) => next.extend(find(target).and_then(block_of)),
            Flow::ConditionalJump(target) => {
                next.extend(find(target).and_then(block_of));
                next.extend(block_of(end));
            }
            Flow::Return | Flow::Trap => {}
            _ => next.extend(block_of(end)),
        }
        blocks.push(Block { range: *first..end, next, repeats: false });
    }
    for i in 0..blocks.len() {
        blocks[i].repeats = reaches(&blocks, i, i);
    }
    Some(blocks)
}

fn reaches(blocks: &[Block], from: usize, to: usize) -> bool {
    let (mut seen, mut stack) = (vec![false; blocks.len()], blocks[from].next.clone());
    while let Some(block) = stack.pop() {
        if block == to {
            return true;
        }
        if !std::mem::replace(&mut seen[block], true) {
            stack.extend(&blocks[block].next);
        }
    }
    false
}
