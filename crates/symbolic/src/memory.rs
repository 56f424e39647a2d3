//! Reads and writes of the world: store chains resolved by regions and offsets.
//!
//! A world is a memory term: a variable with stores on top, merged by `ite`. Two accesses are compared by
//! [`Context::alias`]; what it decides never reaches a solver. Chains are kept canonical: an overwritten store is
//! dropped and neighbouring disjoint stores are sorted by address, so that independent stores in another order give
//! the same term.

use crate::Context;
use crate::context::Region;
use program::{Assumption, Register};
use term::{Bits, Linear, Op as TermOp, Sort, TermId, VarId};

/// How two accesses relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alias {
    /// No byte in common.
    Disjoint,
    /// The first begins this many bytes after the second (possibly negative), and they overlap.
    Distance(i64),
    /// Cannot tell.
    May,
}

const WALK_LIMIT: usize = 400;
/// Bytes of the largest store in a canonical chain.
const LARGEST_STORE: i64 = 8;
/// Distances from a pointer that are those of fields: what is nearer may be a mark in the pointer, what is farther an address
/// with an index.
const FIELDS: std::ops::Range<u64> = 8..4096;

impl Context<'_> {
    /// How an access of `n` bytes at `a` relates to one of `m` bytes at `b`.
    pub fn alias(&mut self, a: TermId, n: u16, b: TermId, m: u16) -> Alias {
        if let Some(difference) = self.arena.difference(a, b) {
            let distance = difference.low() as i64;
            let disjoint = distance as u64 >= u64::from(m) && (distance.wrapping_neg()) as u64 >= u64::from(n);
            return if disjoint { Alias::Disjoint } else { Alias::Distance(distance) };
        }
        if self.is_trace(a) || self.is_trace(b) || self.kept_apart((a, n), (b, m)) {
            return Alias::Disjoint;
        }
        let given = [a, b].map(|address| self.mentions_thread_address(address));
        if given[0] != given[1] && self.may_assume_defined() {
            self.assume(Assumption::ErrnoPrivate);
            return Alias::Disjoint;
        }
        let (ra, rb) = (self.region(a, n), self.region(b, m));
        if let (Some(x), Some(y)) = (ra, rb) {
            if x.var != y.var && self.may_assume_defined() {
                self.assume(Assumption::DisjointObjects);
                for region in [x, y] {
                    if region.assumed {
                        let name = self.object_name(region.var);
                        self.assume(Assumption::InBounds(name));
                    }
                }
                return Alias::Disjoint;
            }
            return Alias::May;
        }
        for (region, (other, bytes)) in [(ra, (b, m)), (rb, (a, n))] {
            let named = region.filter(|r| r.local.is_none() && !self.allocations.contains_key(&r.var));
            if let Some(named) = named.filter(|_| self.is_in_claimed_arguments(other, bytes))
                && self.may_assume_defined()
            {
                self.assume(Assumption::DisjointObjects);
                if named.assumed {
                    let name = self.object_name(named.var);
                    self.assume(Assumption::InBounds(name));
                }
                return Alias::Disjoint;
            }
        }
        for (region, other) in [(ra, b), (rb, a)] {
            let Some(region) = region else { continue };
            let apart =
                match region.local {
                    Some(local) => {
                        let escaped = self.escaped_at[local];
                        !self.may_reach_local(other, local)
                            || escaped.is_some_and(|then| self.is_based_before(other, then, region.var))
                    }
                    None if self.may_assume_defined()
                        && self.is_unaliased(region.var)
                        && !self.is_part_of(region.var, other) =>
                    {
                        let name = self.object_name(region.var);
                        self.assume(Assumption::UnaliasedStatic(name));
                        self.assume(Assumption::DisjointObjects);
                        true
                    }
                    None => self.allocations.get(&region.var).copied().is_some_and(|born| {
                        self.older_than(other, born) || self.is_based_before(other, born, region.var)
                    }),
                };
            if apart {
                if region.local.is_some() {
                    self.assume(Assumption::FramePrivate);
                } else if self.allocations.contains_key(&region.var) {
                    self.assume(Assumption::FreshAllocation);
                }
                if region.assumed {
                    let entity = self.object_name(region.var);
                    self.assume(Assumption::InBounds(entity));
                }
                return Alias::Disjoint;
            }
        }
        for (region, (bytes, other)) in [(ra, (n, b)), (rb, (m, a))] {
            if let Some(region) = region
                && self.is_behind(other, region, bytes)
            {
                return Alias::Disjoint;
            }
        }
        Alias::May
    }

    /// Is an address that the original accesses so far from a pointer that it lies behind these bytes of an object, wherever in
    /// the object the pointer points to? No pointer points in front of its object.
    fn is_behind(&mut self, address: TermId, region: Region, bytes: u16) -> bool {
        let known = self.original_addresses.contains(&address) && self.may_assume_defined();
        if !known || self.depends_on_frame(address) || self.mentions_locals(address) {
            return false;
        }
        let size = self.object(region.var).and_then(|object| object.size);
        let Some(end) = region.offset.map(|at| at.saturating_add(u64::from(bytes))).or(size) else { return false };
        let linear = Linear::of(self.arena, address);
        let &[(pointer, factor)] = &linear.terms[..] else { return false };
        let distance = linear.constant.low();
        let named = self.base_object(pointer).is_some() || self.is_given_number(pointer);
        if named || !FIELDS.contains(&distance) || distance < end || factor.to_i64() != Some(1) {
            return false;
        }
        let free = self.arena.free_vars(pointer);
        if self.is_narrow(pointer) || free.iter().any(|var| self.is_candidate_value(*var)) {
            return false;
        }
        let text = self.arena.text(pointer);
        self.assume(Assumption::InBounds(text));
        self.assume(Assumption::DisjointObjects);
        if region.assumed {
            let name = self.object_name(region.var);
            self.assume(Assumption::InBounds(name));
        }
        true
    }

    /// Is an address that the original accesses an index away from a pointer that was there before that time, or to another
    /// new object? Then it lies in what the pointer points to, and not in an object that came to be reached later. What is
    /// scaled, or extended from 32 bits, is an index; of what else there is must be one.
    fn is_based_before(&mut self, address: TermId, clock: u32, object: VarId) -> bool {
        let known = self.original_addresses.contains(&address) && self.may_assume_defined();
        if !known || self.depends_on_frame(address) || self.mentions_locals(address) {
            return false;
        }
        let linear = Linear::of(self.arena, address);
        let mut base = None;
        for (part, factor) in &linear.terms {
            // What the candidate computes may be a distance between two objects.
            let free = self.arena.free_vars(*part);
            if !self.is_narrow(*part) && free.iter().any(|var| self.is_candidate_value(*var)) {
                return false;
            }
            if self.is_index(*part, *factor) {
                continue;
            }
            if factor.to_i64() != Some(1) || base.replace(*part).is_some() {
                return false;
            }
        }
        let Some(base) = base.filter(|base| self.points_elsewhere(*base, clock, object)) else { return false };
        // Nothing is derived from a number; and what is made of the object's own address leads back to it.
        if self.is_given_number(base) || self.arena.free_vars(address).contains(&object) {
            return false;
        }
        let text = self.arena.text(base);
        self.assume(Assumption::InBounds(text));
        true
    }

    /// Is this an argument that nobody declares to be a pointer?
    fn is_given_number(&self, value: TermId) -> bool {
        let Some(register) = self.arena.as_var(value).and_then(Register::of_var) else { return false };
        let here = |v: &program::Value| v.place == program::Place::Register(register);
        !self.functions[0].parameters.iter().any(|p| p.pointer && p.values.iter().any(here))
    }

    /// Is a part of an address extended from 32 bits or less?
    fn is_narrow(&self, part: TermId) -> bool {
        let extended = matches!(self.arena.op(part), TermOp::Zext(_) | TermOp::Sext(_));
        extended && self.arena.width(self.arena.args(part)[0]) <= 32
    }

    /// Is a part of an address no pointer: extended from 32 bits, or scaled?
    fn is_index(&self, part: TermId, factor: Bits) -> bool {
        self.is_narrow(part) || factor.to_i64().is_some_and(|f| !(-1..=1).contains(&f))
    }

    /// Is a value older than that time, or the address of another new object, whichever way it was chosen?
    fn points_elsewhere(&mut self, value: TermId, clock: u32, object: VarId) -> bool {
        if self.older_than(value, clock) {
            return true;
        }
        if let Some(var) = self.arena.as_var(value) {
            let fresh = var != object && self.allocations.contains_key(&var);
            if fresh {
                self.assume(Assumption::FreshAllocation);
            }
            return fresh;
        }
        if self.arena.op(value) == TermOp::Ite {
            let [_, a, b] = *self.arena.args(value) else { return false };
            return self.points_elsewhere(a, clock, object) && self.points_elsewhere(b, clock, object);
        }
        false
    }

    /// Are these bytes on the stack, among those claimed of what a variadic function was given? Who owns them is not known:
    /// the caller may have given less.
    fn is_in_claimed_arguments(&self, address: TermId, bytes: u16) -> bool {
        let Some((_, Some(local))) = self.base_object(address) else { return false };
        let linear = Linear::of(self.arena, address);
        let size = self.bindings[local].original.map_or(0, |i| i.size);
        let offset = linear.constant.low();
        self.is_incoming(local) && linear.terms.len() == 1 && offset <= size && size - offset >= u64::from(bytes)
    }

    /// Is an address made of one that the library gives for the thread, as that of `errno`? What is loaded from there is
    /// another address.
    fn mentions_thread_address(&self, address: TermId) -> bool {
        Linear::of(self.arena, address).terms.iter().any(|(term, _)| self.library_location(*term).is_some())
    }

    /// Bytes that the library keeps at an address that it gives for the thread.
    pub fn library_location(&self, address: TermId) -> Option<u16> {
        let TermOp::Apply(function) = self.arena.op(address) else { return None };
        let term::Func::Opaque { name, .. } = self.arena.func(function) else { return None };
        match name.strip_prefix("__ctype_") {
            Some(table) => table.ends_with("_loc").then_some(8),
            None => name.ends_with("errno_location").then_some(4),
        }
    }

    /// Is this a static of the original's file whose address nobody has?
    fn is_unaliased(&self, var: VarId) -> bool {
        self.functions[0].objects.get(&var).is_some_and(|o| o.unaliased)
    }

    /// Does an address contain that of the object, other than as a place in memory that something was loaded from?
    fn is_part_of(&self, var: VarId, address: TermId) -> bool {
        let outside = |t: TermId| !matches!(self.arena.op(t), TermOp::Load(_)) && self.arena.sort(t) != Sort::Memory;
        let vars = |roots: &[TermId]| -> Vec<VarId> {
            let parts = self.arena.topological_where(roots, outside);
            parts.into_iter().filter_map(|t| self.arena.as_var(t)).collect()
        };
        if vars(&[address]).contains(&var) {
            return true;
        }
        // Where the original accesses it, too, an index is an index, whoever computes it.
        let linear = Linear::of(self.arena, address);
        let pointers =
            linear.terms.iter().filter(|(part, factor)| !self.is_index(*part, *factor)).map(|(part, _)| *part);
        let pointers: Vec<TermId> = match self.original_addresses.contains(&address) {
            true => pointers.collect(),
            false => vec![address],
        };
        if vars(&pointers).into_iter().any(|v| self.is_candidate_value(v)) {
            return true;
        }
        // The candidate may keep the address in a memory of its own.
        self.has_candidate_memories() && self.arena.free_vars(address).iter().any(|v| self.is_candidate_value(*v))
    }

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
        if difference.is_some() || !(certain || self.original_blocks.contains(&(start, whole))) {
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
