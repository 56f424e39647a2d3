//! The code in front: checks the condition and goes on, or to the original.
//!
//! What reads only registers comes first. A cell is read behind everything else, because the rest of the condition may be what says
//! that the original reads it too; that it does is for the kernel to prove.

use crate::Refusal;
use crate::compiler::{Accumulator, Compiler};
use crate::instruction::{self, Arithmetic};
use crate::listing::{Listing, Target, Truth, When};
use crate::number::reads_memory;
use crate::truth::low_bits_clear;
use condition::Interface;
use kernel::{Expression, Operator};

/// The code of a condition.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    pub code: Listing,
    /// Parts of the condition that read memory.
    pub cells: usize,
}

/// Compiles a condition: the code runs on at its end if it holds.
pub(crate) fn compile(
    conjuncts: &[Expression],
    interface: &Interface,
    accumulator: Accumulator,
) -> Result<Dispatcher, Refusal> {
    let mut compiler = Compiler::new(interface, accumulator);
    let (cells, registers): (Vec<&Expression>, Vec<&Expression>) =
        conjuncts.iter().partition(|part| reads_memory(part));
    let mut left = Vec::new();
    for group in alignments(&registers, &mut left) {
        compiler.aligned_together(&group)?;
    }
    for part in left.into_iter().chain(cells.iter().copied()) {
        compiler.branch(part, Truth::Fails, Target::Original)?;
    }
    Ok(Dispatcher { code: compiler.code, cells: cells.len() })
}

/// Arguments whose low bits are clear.
struct Aligned {
    mask: u32,
    registers: Vec<u8>,
}

/// Enough arguments with the same clear bits to be looked at together; the other parts go to `left`.
fn alignments<'e>(parts: &[&'e Expression], left: &mut Vec<&'e Expression>) -> Vec<Aligned> {
    let clear = |part: &Expression| match part {
        Expression::Apply(Operator::Eq, operands) => match &operands[..] {
            [a, b] => low_bits_clear(a, b).or_else(|| low_bits_clear(b, a)),
            _ => None,
        },
        _ => None,
    };
    let mut groups: Vec<Aligned> = Vec::new();
    for (register, mask) in parts.iter().filter_map(|part| clear(part)) {
        match groups.iter_mut().find(|group| group.mask == mask) {
            Some(group) => group.registers.push(register),
            None => groups.push(Aligned { mask, registers: vec![register] }),
        }
    }
    groups.retain(|group| group.registers.len() >= LEAST_TOGETHER);
    let together = |part: &Expression| clear(part).is_some_and(|(_, mask)| groups.iter().any(|g| g.mask == mask));
    left.extend(parts.iter().copied().filter(|part| !together(part)));
    groups
}

/// Fewer are as cheap one by one.
const LEAST_TOGETHER: usize = 3;

impl Compiler<'_> {
    fn aligned_together(&mut self, group: &Aligned) -> Result<(), Refusal> {
        let Some((first, rest)) = group.registers.split_first() else { return Ok(()) };
        let all = self.take(&Expression::Apply(Operator::True, Vec::new()))?;
        self.code.push(instruction::copy(32, all, *first));
        for register in rest {
            self.code.push(instruction::with_register(Arithmetic::Or, 32, all, *register));
        }
        self.code.push(instruction::test_mask(all, group.mask));
        self.code.branch(When::NotEqual, Target::Original);
        self.free.push(all);
        Ok(())
    }
}
