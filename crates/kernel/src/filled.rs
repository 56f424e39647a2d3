//! Loops of the original that fill a block, where the candidate calls memset instead.
//!
//! While the original goes round, its world is the candidate's with a block of one byte value filled so far. Each turn adds
//! bytes at the end of the block; behind the loop the candidate fills it at once.
//!
//! Trust: full. A block grows by stores that the original has made, so that it has also accessed all of it.

use crate::claims::Abstraction;
use crate::obligation::Ignored;
use crate::product::{Checker, Point, Rejection};
use graph::{Access, Known, State};
use term::{Op, Sort, TermId};

/// A block of equal bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    pub address: TermId,
    pub byte: TermId,
    pub length: TermId,
}

impl Checker<'_, '_> {
    /// What the original has filled at a point, in terms of the states there.
    pub(crate) fn filled_at(&mut self, index: usize, states: &[State; 2]) -> Result<Option<Filled>, Rejection> {
        let Abstraction { filled: Some([address, byte, length]), .. } = &self.points[index] else { return Ok(None) };
        let mut terms = Vec::new();
        for expression in [address.clone(), byte.clone(), length.clone()] {
            terms.push(expression.term(self.context, states).map_err(Rejection::Malformed)?);
        }
        let sorts: Vec<Sort> = terms.iter().map(|t| self.context.arena.sort(*t)).collect();
        if sorts != [Sort::Bv(64), Sort::Bv(8), Sort::Bv(64)] {
            return Err(Rejection::Malformed("a filled block has an odd width".to_string()));
        }
        let address = self.context.canonical_address(terms[0]);
        Ok(Some(Filled { address, byte: terms[1], length: terms[2] }))
    }

    /// Is a memory another one with a block filled by stores at its end, one after the other?
    pub(crate) fn prove_filled(
        &mut self,
        at: &Point,
        known: &Known,
        memory: TermId,
        base: TermId,
        mut block: Filled,
    ) -> bool {
        let mut memory = known.rewrite(self.context.arena, memory);
        loop {
            match self.context.arena.op(memory) {
                Op::Store(bytes) if memory != base => {
                    let [under, address, value] = [0, 1, 2].map(|i| self.context.arena.arg(memory, i));
                    let size = self.context.arena.bv(64, u64::from(bytes));
                    let rest = self.context.arena.sub(block.length, size);
                    let end = self.context.arena.add(block.address, rest);
                    let enough = self.context.arena.ule(size, block.length);
                    let repeated = vec![block.byte; usize::from(bytes)];
                    let repeated = self.context.arena.concat_all(&repeated);
                    let last = self.prove_equal(at, known, address, end).is_ok()
                        && self.prove_equal(at, known, value, repeated).is_ok()
                        && self.prove(at, known, enough).is_ok();
                    if !last {
                        return false;
                    }
                    (memory, block.length) = (under, rest);
                }
                Op::Fill if memory != base => {
                    let args = self.context.arena.args(memory).to_vec();
                    let same = [(args[1], block.address), (args[2], block.byte), (args[3], block.length)];
                    return same.into_iter().all(|(a, b)| self.prove_equal(at, known, a, b).is_ok())
                        && self.prove_same_memory(at, known, args[0], base, Ignored::Nothing).is_ok();
                }
                _ => {
                    let zero = self.context.arena.bv(64, 0);
                    return self.prove_equal(at, known, block.length, zero).is_ok()
                        && self.prove_same_memory(at, known, memory, base, Ignored::Nothing).is_ok();
                }
            }
        }
    }

    /// The block that the original had filled where the segment began, with what it has stored at its end since then.
    pub(crate) fn filled_by_now(&mut self, at: &Point, known: &Known, accesses: &[Access]) -> Option<Filled> {
        let mut block = self.filled?;
        for access in accesses.iter().filter(|a| a.write) {
            let end = self.context.arena.add(block.address, block.length);
            let goal = self.equality(known, access.address, end);
            let goal = self.context.arena.bool_and(goal, access.guard);
            if self.prove(at, known, goal).is_ok() {
                let size = self.context.arena.bv(64, u64::from(access.bytes));
                block.length = self.context.arena.add(block.length, size);
            }
        }
        Some(block)
    }
}
