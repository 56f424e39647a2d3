//! Reads and writes of the world: store chains resolved by regions and offsets.
//!
//! A world is a memory term: a variable with stores on top, merged by `ite`. Two accesses are compared by
//! [`Context::alias`], whose rules are the rows of `alias`; what it decides never reaches a solver. Chains are kept canonical:
//! an overwritten store is dropped and neighbouring disjoint stores are sorted by address, so that independent stores in another
//! order give the same term.

use crate::{Alias, Context};
use term::{Linear, Op as TermOp, Sort, TermId, VarId};

const WALK_LIMIT: usize = 400;
/// Bytes of the largest store in a canonical chain.
const LARGEST_STORE: i64 = 8;

impl Context<'_> {
    /// Value of `bytes` bytes at `address` in a memory term, resolved as far as aliasing is decided.
    pub fn read(&mut self, memory: TermId, address: TermId, bytes: u16) -> TermId {
        if let Some(value) = self.read_constant(address, bytes) {
            return value;
        }
        self.read_chain(memory, address, bytes)
    }

    fn read_chain(&mut self, memory: TermId, address: TermId, bytes: u16) -> TermId {
        if let Some(value) = self.remembered(memory, address, bytes) {
            return value;
        }
        let value = self.read_uncached(memory, address, bytes);
        self.remember(memory, address, bytes, value);
        value
    }

    fn read_uncached(&mut self, memory: TermId, address: TermId, bytes: u16) -> TermId {
        let mut memory = memory;
        loop {
            match self.arena.op(memory) {
                TermOp::Store(size) => {
                    let (inner, at, value) =
                        (self.arena.arg(memory, 0), self.arena.arg(memory, 1), self.arena.arg(memory, 2));
                    match self.alias(address, bytes, at, size) {
                        Alias::Disjoint => memory = inner,
                        Alias::Distance(d) => return self.read_overlap(memory, address, bytes, value, size, d),
                        Alias::May => {
                            memory = self.relevant(memory, address, bytes);
                            break;
                        }
                    }
                }
                TermOp::Copy if self.inside_moved_object(memory, address, bytes) => memory = self.arena.arg(memory, 2),
                TermOp::Fill | TermOp::Copy if self.outside_block(memory, address, bytes) => {
                    memory = self.arena.arg(memory, 0);
                }
                TermOp::Ite => {
                    let (condition, then, other) =
                        (self.arena.arg(memory, 0), self.arena.arg(memory, 1), self.arena.arg(memory, 2));
                    let a = self.read_chain(then, address, bytes);
                    let b = self.read_chain(other, address, bytes);
                    return if a == b { a } else { self.arena.ite(condition, a, b) };
                }
                _ => break,
            }
        }
        self.arena.load(memory, address, bytes)
    }

    /// The memory without the stores that cannot matter to a read at `address`: those it certainly misses, and all
    /// below one that certainly provides every byte.
    fn relevant(&mut self, memory: TermId, address: TermId, bytes: u16) -> TermId {
        let mut kept: Vec<(TermId, TermId)> = Vec::new();
        let mut base = memory;
        let mut dropped = false;
        for _ in 0..WALK_LIMIT {
            let TermOp::Store(size) = self.arena.op(base) else { break };
            let (inner, at, value) = (self.arena.arg(base, 0), self.arena.arg(base, 1), self.arena.arg(base, 2));
            base = inner;
            match self.alias(address, bytes, at, size) {
                Alias::Disjoint => {
                    dropped = true;
                    continue;
                }
                Alias::Distance(d) if d >= 0 && d + i64::from(bytes) <= i64::from(size) => {
                    kept.push((at, value));
                    base = self.arena.var("nothing", Sort::Memory);
                    dropped = true;
                    break;
                }
                _ => kept.push((at, value)),
            }
        }
        if !dropped {
            return memory;
        }
        for (at, value) in kept.into_iter().rev() {
            base = self.arena.store(base, at, value);
        }
        base
    }

    /// A read that overlaps the topmost store: whole bytes from the value, the rest from below.
    fn read_overlap(
        &mut self,
        memory: TermId,
        address: TermId,
        bytes: u16,
        value: TermId,
        size: u16,
        d: i64,
    ) -> TermId {
        let (n, m) = (i64::from(bytes), i64::from(size));
        let (from, to) = ((-d).max(0), (m - d).min(n));
        let inner = self.arena.arg(memory, 0);
        let mut parts = Vec::new();
        if from > 0 {
            parts.push(self.read_chain(inner, address, from as u16));
        }
        parts.push(self.arena.extract(value, (8 * (to + d) - 1) as u16, (8 * (from + d)) as u16));
        if to < n {
            let rest = self.arena.add_const(address, to);
            parts.push(self.read_chain(inner, rest, (n - to) as u16));
        }
        parts.reverse();
        self.arena.concat_all(&parts)
    }

    /// Is the access certainly inside a block that keeps its address (a local object that escaped)?
    fn inside_moved_object(&mut self, memory: TermId, address: TermId, bytes: u16) -> bool {
        let args = self.arena.args(memory);
        let (to, from, length) = (args[1], args[3], args[4]);
        let Some(length) = self.arena.as_u64(length).filter(|_| to == from) else { return false };
        if let Some(d) = self.arena.difference(address, to) {
            return d.low() <= length && length - d.low() >= u64::from(bytes);
        }
        let here = self.region(address, bytes);
        let whole = self.region(to, 1);
        matches!((here, whole), (Some(a), Some(b)) if a.var == b.var && a.local.is_some())
    }

    /// Is the access certainly outside a filled or copied block? One that the original fills or copies lies in the object
    /// that it begins in; of others only the distance tells.
    fn outside_block(&mut self, memory: TermId, address: TermId, bytes: u16) -> bool {
        let start = self.arena.arg(memory, 1);
        let whole = *self.arena.args(memory).last().expect("operands");
        let difference = self.arena.difference(address, start);
        let length = self.arena.as_u64(whole);
        match (length, difference) {
            (Some(0), _) => return true,
            (Some(length), Some(d)) => return d.low() >= length && d.neg().low() >= u64::from(bytes),
            _ => {}
        }
        let short = length.and_then(|n| u16::try_from(n).ok());
        let certain = short.and_then(|n| self.region(start, n)).is_some_and(|r| !r.assumed && !r.claimed);
        // Some of the stack that a variadic function was given: `alias` knows what it can be.
        let certain = certain || short.is_some_and(|n| self.is_in_claimed_arguments(start, n));
        if difference.is_some() || !(certain || self.accesses.blocks.contains(&(start, whole))) {
            return false;
        }
        match length {
            None => self.alias(address, bytes, start, 1) == Alias::Disjoint,
            Some(_) => short.is_some_and(|n| self.alias(address, bytes, start, n) == Alias::Disjoint),
        }
    }

    /// The memory with `value` stored at `address`, in canonical form: stores are aligned blocks of at most eight bytes,
    /// where the constant part of the address counts as its position, and two halves of a block are one store.
    pub fn write(&mut self, memory: TermId, address: TermId, value: TermId) -> TermId {
        let (from, size) = self.changed_bytes(memory, address, value);
        let position = Linear::of(self.arena, address).constant.low() as i64;
        let (mut memory, mut at) = (memory, from);
        while at < size {
            let aligned = 1 << (position + at).trailing_zeros().min(3);
            let mut piece = aligned.min(LARGEST_STORE);
            while piece > size - at {
                piece /= 2;
            }
            let here = self.arena.add_const(address, at);
            let part = self.arena.extract(value, (8 * (at + piece) - 1) as u16, (8 * at) as u16);
            memory = self.write_block(memory, here, part);
            at += piece;
        }
        memory
    }

    /// The first byte of a value, and the one behind the last, that are not what the memory holds there already.
    fn changed_bytes(&mut self, memory: TermId, address: TermId, value: TermId) -> (i64, i64) {
        let (mut from, mut to) = (0, i64::from(self.arena.width(value) / 8));
        let computed = matches!(self.arena.op(value), TermOp::BvAnd | TermOp::BvOr | TermOp::BvXor | TermOp::Concat);
        if !computed || to > LARGEST_STORE {
            return (from, to);
        }
        let unchanged = |context: &mut Self, byte: i64| {
            let part = context.arena.extract(value, (8 * byte + 7) as u16, (8 * byte) as u16);
            let loaded = matches!(context.arena.op(part), TermOp::Load(1));
            let here = context.arena.add_const(address, byte);
            loaded && context.read(memory, here, 1) == part
        };
        while from < to && unchanged(self, from) {
            from += 1;
        }
        while from < to && unchanged(self, to - 1) {
            to -= 1;
        }
        (from, to)
    }

    /// Stores an aligned block, together with its other half if that was stored before and can be moved up to here.
    fn write_block(&mut self, memory: TermId, address: TermId, value: TermId) -> TermId {
        let size = self.arena.width(value) / 8;
        let position = Linear::of(self.arena, address).constant.low();
        let upper = position & u64::from(size) != 0;
        if i64::from(size) < LARGEST_STORE {
            let half = if upper { -i64::from(size) } else { i64::from(size) };
            let buddy = self.arena.add_const(address, half);
            if let Some((below, other)) = self.take_out(memory, buddy, size) {
                let (low, high) = if upper { (other, value) } else { (value, other) };
                let whole = self.arena.concat(high, low);
                let start = if upper { buddy } else { address };
                return self.write_block(below, start, whole);
            }
        }
        self.write_store(memory, address, value)
    }

    /// The value of a store at exactly this address, and the memory without it, if no store above it may touch it.
    fn take_out(&mut self, memory: TermId, address: TermId, size: u16) -> Option<(TermId, TermId)> {
        let mut above: Vec<(TermId, TermId)> = Vec::new();
        let mut at = memory;
        for _ in 0..WALK_LIMIT {
            let TermOp::Store(n) = self.arena.op(at) else { return None };
            let (inner, place, value) = (self.arena.arg(at, 0), self.arena.arg(at, 1), self.arena.arg(at, 2));
            if place == address && n == size {
                let mut rest = inner;
                for (place, value) in above.into_iter().rev() {
                    rest = self.arena.store(rest, place, value);
                }
                return Some((rest, value));
            }
            if self.alias(place, n, address, size) != Alias::Disjoint {
                return None;
            }
            above.push((place, value));
            at = inner;
        }
        None
    }

    fn write_store(&mut self, memory: TermId, address: TermId, value: TermId) -> TermId {
        let size = self.arena.width(value) / 8;
        let mut kept: Vec<(TermId, TermId)> = Vec::new();
        let mut place = None;
        let mut base = memory;
        for _ in 0..WALK_LIMIT {
            let TermOp::Store(n) = self.arena.op(base) else { break };
            let (inner, at, old) = (self.arena.arg(base, 0), self.arena.arg(base, 1), self.arena.arg(base, 2));
            base = inner;
            match self.alias(at, n, address, size) {
                // Every byte of the old store is written again, so it is dead whatever lies between.
                Alias::Distance(d) if d >= 0 && d + i64::from(n) <= i64::from(size) => continue,
                Alias::Disjoint if place.is_none() && address < at => {}
                _ => {
                    place.get_or_insert(kept.len());
                }
            }
            kept.push((at, old));
        }
        let place = place.unwrap_or(kept.len());
        for (at, old) in kept[place..].iter().rev() {
            base = self.arena.store(base, *at, *old);
        }
        base = self.arena.store(base, address, value);
        for (at, old) in kept[..place].iter().rev() {
            base = self.arena.store(base, *at, *old);
        }
        base
    }

    /// Variable of the memory that a chain without `ite` stands on.
    pub fn memory_root(&self, memory: TermId) -> Option<VarId> {
        let mut at = memory;
        while matches!(self.arena.op(at), TermOp::Store(_) | TermOp::Fill | TermOp::Copy) {
            at = self.arena.arg(at, 0);
        }
        self.arena.as_var(at)
    }
}
