//! The sparse memory and where objects lie in it.

use super::values::{Seed, plausible_word};
use crate::{Function, ObjectKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use term::{Arena, VarId};

/// Value of `rsp` at entry: ≡ 8 (mod 16).
pub const STACK_TOP: u64 = 0x7ffd_0000_0008;
/// Bytes below and above it that belong to the activation.
pub(crate) const STACK_BELOW: u64 = 1 << 24;
pub(crate) const STACK_ABOVE: u64 = 256;

const OBJECTS: u64 = 0x1000_0000_0000;
const SPACING: u64 = 1 << 28;

/// Addresses of the objects of a pair.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    addresses: FxHashMap<VarId, u64>,
    /// Objects by address: size and whether they are read-only.
    objects: BTreeMap<u64, Placed>,
    /// Sections: start, length, and members as (offset, size, address).
    sections: Vec<(u64, u64, Vec<(u64, u64, u64)>)>,
    /// Initial bytes of read-only objects.
    content: FxHashMap<u64, u8>,
}

#[derive(Clone, Debug)]
struct Placed {
    name: String,
    size: Option<u64>,
    read_only: bool,
}

impl Layout {
    /// Places the objects of both functions.
    pub fn new(arena: &Arena, functions: [&Function; 2]) -> Layout {
        let mut layout = Layout::default();
        let mut next = OBJECTS;
        for function in functions {
            for (var, object) in &function.objects {
                if layout.addresses.contains_key(var) {
                    continue;
                }
                layout.addresses.insert(*var, next);
                if object.kind != ObjectKind::Section {
                    let (name, size) = (object.name.clone(), object.size);
                    layout.objects.insert(next, Placed { name, size, read_only: object.content.is_some() });
                }
                next += SPACING;
            }
        }
        for function in functions {
            for (var, object) in &function.objects {
                let at = layout.addresses[var];
                if object.kind == ObjectKind::Section {
                    let members = object.members.iter().filter_map(|m| {
                        layout.addresses.get(&m.var).map(|address| (m.offset, m.size.max(1), *address))
                    });
                    let members: Vec<_> = members.collect();
                    layout.sections.push((at, SPACING, members));
                }
                let Some(content) = &object.content else { continue };
                for (i, byte) in content.bytes.iter().enumerate() {
                    layout.content.insert(at + i as u64, *byte);
                }
                for (offset, pointer) in &content.pointers {
                    let value = layout.constant_address(arena, *pointer);
                    for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                        layout.content.insert(at + offset + i as u64, byte);
                    }
                }
            }
        }
        layout
    }

    fn constant_address(&self, arena: &Arena, term: term::TermId) -> u64 {
        let linear = term::Linear::of(arena, term);
        let mut sum = linear.constant.low();
        for (part, coefficient) in &linear.terms {
            let base = arena.as_var(*part).and_then(|var| self.addresses.get(&var)).copied().unwrap_or(0);
            sum = sum.wrapping_add(base.wrapping_mul(coefficient.low()));
        }
        self.translate(sum)
    }

    /// Address of an object variable.
    pub fn address(&self, var: VarId) -> Option<u64> {
        self.addresses.get(&var).copied()
    }

    /// An address inside a section's range, moved to the member it falls in.
    pub fn translate(&self, address: u64) -> u64 {
        for (start, length, members) in &self.sections {
            let offset = address.wrapping_sub(*start);
            if offset < *length {
                let member = members.iter().find(|(at, size, _)| offset >= *at && offset - at < *size);
                return member.map_or(address, |(at, _, to)| to + (offset - at));
            }
        }
        address
    }

    /// The object at or below an address within its slot: name, offset, size, read-only.
    pub fn object_at(&self, address: u64) -> Option<(&str, u64, Option<u64>, bool)> {
        let (start, placed) = self.objects.range(..=address).next_back()?;
        let offset = address - start;
        (offset < SPACING).then_some((placed.name.as_str(), offset, placed.size, placed.read_only))
    }
}

/// Bytes of one run: initial content on demand, writes on top.
#[derive(Clone, Debug)]
pub struct Memory<'a> {
    seed: Seed,
    layout: &'a Layout,
    fixed: &'a FxHashMap<u64, u8>,
    written: FxHashMap<u64, u8>,
    /// Initial bytes that were looked at.
    pub read: BTreeMap<u64, u8>,
}

impl<'a> Memory<'a> {
    /// A memory with seeded content; `fixed` bytes come first.
    pub fn new(seed: Seed, layout: &'a Layout, fixed: &'a FxHashMap<u64, u8>) -> Memory<'a> {
        Memory { seed, layout, fixed, written: FxHashMap::default(), read: BTreeMap::new() }
    }

    /// The byte before any write.
    pub fn initial(&self, address: u64) -> u8 {
        if let Some(byte) = self.layout.content.get(&address).or_else(|| self.fixed.get(&address)) {
            return *byte;
        }
        let word = plausible_word(self.seed.mix(address >> 3));
        (word >> (8 * (address & 7))) as u8
    }

    /// Reads a byte.
    pub fn load(&mut self, address: u64) -> u8 {
        if let Some(byte) = self.written.get(&address) {
            return *byte;
        }
        let byte = self.initial(address);
        if !self.layout.content.contains_key(&address) {
            self.read.insert(address, byte);
        }
        byte
    }

    /// Writes a byte.
    pub fn store(&mut self, address: u64, byte: u8) {
        self.written.insert(address, byte);
    }

    /// Was the byte written?
    pub fn is_written(&self, address: u64) -> bool {
        self.written.contains_key(&address)
    }

    /// Bytes outside the activation's stack that differ from their initial value.
    pub fn changes(&self) -> BTreeMap<u64, u8> {
        let world = self.written.iter().filter(|(address, byte)| !is_stack(**address) && self.initial(**address) != **byte);
        world.map(|(a, b)| (*a, *b)).collect()
    }
}

/// Does the address belong to the activation's stack?
pub fn is_stack(address: u64) -> bool {
    address >= STACK_TOP - STACK_BELOW && address < STACK_TOP + STACK_ABOVE
}
