//! Reads of data that never changes: constants, and tables at a variable index.

use crate::Context;
use program::{Assumption, Constancy, Content};
use term::{Bits, Linear, Sort, TermId};

/// Tables of at most this many elements, or runs of the same elements, are read as a choice.
const LARGEST_TABLE: u64 = 64;
/// Elements of the longest table that is looked at.
const LONGEST_TABLE: u64 = 1024;

impl Context<'_> {
    /// Is an address a variable distance from the start of data that never changes?
    pub(crate) fn is_in_constant_data(&self, address: TermId) -> bool {
        let object = self.base_object(address).and_then(|(var, _)| self.object(var));
        object.is_some_and(|o| o.content.is_some()) && Linear::of(self.arena, address).terms.len() > 1
    }

    /// Content of a read-only object: a constant where the offset is one, else a load from a memory that never
    /// changes.
    pub(crate) fn read_constant(&mut self, address: TermId, bytes: u16) -> Option<TermId> {
        let region = self.region(address, bytes)?;
        let object = self.object(region.var)?;
        if object.content.is_none() && object.constancy == Constancy::Declared && self.may_assume_defined() {
            self.assume(Assumption::ConstantObject(object.name.clone()));
            let rom = self.arena.var("read-only", Sort::Memory);
            return Some(self.arena.load(rom, address, bytes));
        }
        let content: &Content = object.content.as_ref()?;
        if object.constant_static {
            if !self.may_assume_defined() {
                return None;
            }
            self.assume(Assumption::ConstantStatic(object.name.clone()));
        }
        if let Some(offset) = region.offset
            && let Some(value) = self.content_at(content, offset, bytes)
        {
            return Some(value);
        }
        let rom = self.arena.var("read-only", Sort::Memory);
        let unknown = self.arena.load(rom, address, bytes);
        Some(self.read_table(content, address, bytes, unknown))
    }

    /// An element of a small table as a choice by its index; `unknown` where the index is none of the table's.
    fn read_table(&mut self, content: &Content, address: TermId, bytes: u16, unknown: TermId) -> TermId {
        let linear = Linear::of(self.arena, address);
        // The base has coefficient 1; the other term is the index, its coefficient the stride.
        let index =
            linear.terms.iter().find(|(term, _)| self.arena.as_var(*term).is_none_or(|var| self.object(var).is_none()));
        let (Some((index, stride)), 2) = (index.copied(), linear.terms.len()) else { return unknown };
        let Some(stride) = stride.to_i64().filter(|s| *s > 0) else { return unknown };
        // An index that does not begin at 0 leaves a constant of any sign.
        let start = linear.constant.low() as i64;
        let (skipped, rest) = (start.div_euclid(stride), start.rem_euclid(stride) as u64);
        let elements = (content.bytes.len() as u64).saturating_sub(rest).div_ceil(stride as u64);
        if elements > LONGEST_TABLE {
            return unknown;
        }
        // Each element, or each run of the same elements, with the index behind it.
        let mut runs: Vec<(u64, TermId)> = Vec::new();
        for i in 0..elements {
            let element = self.content_at(content, rest + i * stride as u64, bytes).unwrap_or(unknown);
            let full = runs.len() as u64 == LARGEST_TABLE;
            match runs.last_mut() {
                Some((end, same)) if *same == element && elements > LARGEST_TABLE => *end = i + 1,
                _ if full => return unknown,
                _ => runs.push((i + 1, element)),
            }
        }
        let number = self.arena.add_const(index, skipped);
        let mut value = unknown;
        for (end, element) in runs.into_iter().rev() {
            let here = if elements > LARGEST_TABLE {
                let end = self.arena.bv(64, end);
                self.arena.ult(number, end)
            } else {
                let only = self.arena.bv(64, (end - 1).wrapping_sub(skipped as u64));
                self.arena.eq(index, only)
            };
            value = self.arena.ite(here, element, value);
        }
        value
    }

    fn content_at(&mut self, content: &Content, offset: u64, bytes: u16) -> Option<TermId> {
        let end = offset.checked_add(u64::from(bytes))?;
        let slice = content.bytes.get(offset as usize..end as usize)?;
        let mut parts: Vec<TermId> = Vec::new();
        let mut at = offset;
        for (start, pointer) in content.pointers.iter().filter(|(start, _)| start + 8 > offset && *start < end) {
            if *start < offset || start + 8 > end {
                return None;
            }
            if *start > at {
                let plain = &slice[(at - offset) as usize..(start - offset) as usize];
                parts.push(self.arena.constant(Bits::from_bytes(plain)));
            }
            parts.push(*pointer);
            at = start + 8;
        }
        if at < end {
            parts.push(self.arena.constant(Bits::from_bytes(&slice[(at - offset) as usize..])));
        }
        parts.reverse();
        Some(self.arena.concat_all(&parts))
    }
}
