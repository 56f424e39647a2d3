//! Where the objects of a pair lie, and what the read-only ones hold.

use super::memory::is_stack;
use super::values::Seed;
use program::{Constancy, Content, Function, Object, ObjectKind, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, TermId, VarId};

const OBJECTS: u64 = 0x1000_0000_0000;
const SPACING: u64 = 1 << 28;
/// What the distance between neighbours grows by, so that no two pairs of objects are the same distance apart.
const STAGGER: u64 = 1 << 20;

/// Addresses of the objects of a pair.
#[derive(Clone, Debug, Default)]
pub struct Layout<'a> {
    addresses: FxHashMap<VarId, u64>,
    /// Objects by address.
    objects: Vec<Placed<'a>>,
    sections: Vec<Section>,
    /// Pointers inside read-only objects, by their own address.
    pointers: FxHashMap<u64, u64>,
    /// Statics that hold one of a few numbers: address, size, numbers.
    numbers: Vec<(u64, u64, Vec<u64>)>,
    /// Objects into which code stores by their name.
    written: FxHashSet<VarId>,
    /// Is any defined run wanted, rather than one that no compiler can rule out? Then statics hold anything that the
    /// assumptions allow, and functions of the file write where they could.
    pub free: bool,
}

/// An object and its place.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Address of the first byte.
    pub start: u64,
    /// The object.
    pub object: &'a Object,
}

#[derive(Clone, Debug)]
struct Section {
    start: u64,
    /// Offset, size and address of the members.
    members: Vec<(u64, u64, u64)>,
}

impl<'a> Layout<'a> {
    /// Places the objects of both functions: at the chosen addresses if these make sense, else far apart.
    pub fn new(arena: &Arena, functions: [&'a Function; 2], chosen: &FxHashMap<VarId, u64>) -> Layout<'a> {
        let mut layout = Layout::default();
        let (mut next, mut distance) = (OBJECTS + 5 * STAGGER, SPACING);
        for function in functions {
            let stores = function.points.iter().flat_map(|point| &point.ops).filter_map(|(_, op)| match op {
                Op::Store { address, .. } => Some(*address),
                _ => None,
            });
            let named = |var: &VarId| function.objects.contains_key(var);
            layout.written.extend(stores.flat_map(|address| arena.free_vars(address)).filter(named));
            for (var, object) in &function.objects {
                if layout.addresses.contains_key(var) {
                    continue;
                }
                // Each program gives it the alignment that its own file asks for.
                let align = functions.iter().filter_map(|f| f.objects.get(var)).map(|o| o.align.max(1)).max();
                let aligned = |at: &u64| at.is_multiple_of(align.unwrap_or(1));
                let wanted = chosen.get(var).copied().filter(|at| aligned(at) && layout.is_free(*at, object));
                let start = wanted.unwrap_or(next);
                distance += STAGGER;
                next += distance;
                layout.addresses.insert(*var, start);
                if object.kind != ObjectKind::Section {
                    layout.objects.push(Placed { start, object });
                }
            }
        }
        layout.objects.sort_by_key(|placed| placed.start);
        let known = &functions[0].contracts.statics;
        for object in functions[0].objects.values().filter(|o| o.unaliased) {
            if let (Some(numbers), Some(size)) = (known.get(&object.name), object.size) {
                layout.numbers.push((layout.addresses[&object.var], size, numbers.iter().copied().collect()));
            }
        }
        for function in functions {
            for object in function.objects.values() {
                layout.fill(arena, object);
            }
        }
        layout
    }

    /// The objects of one function where a process has them; those that are not among the places lie far away, with the content that
    /// their file gives them. Nothing is known of what lies beside what there.
    pub fn of_process(arena: &Arena, function: &'a Function, places: &FxHashMap<VarId, u64>) -> Layout<'a> {
        let mut layout = Layout::default();
        let mut next = OBJECTS + 5 * STAGGER;
        for (var, object) in &function.objects {
            if let Some(start) = places.get(var) {
                layout.addresses.insert(*var, *start);
                continue;
            }
            next += SPACING + STAGGER;
            layout.addresses.insert(*var, next);
            if object.kind != ObjectKind::Section {
                layout.objects.push(Placed { start: next, object });
            }
        }
        layout.objects.sort_by_key(|placed| placed.start);
        for object in function.objects.values().filter(|object| !places.contains_key(&object.var)) {
            layout.fill(arena, object);
        }
        layout
    }

    fn is_free(&self, at: u64, object: &Object) -> bool {
        let end = at.saturating_add(object.size.unwrap_or(1 << 20));
        let low = (4096..OBJECTS).contains(&at) && end < OBJECTS && object.kind != ObjectKind::Section;
        let apart = |p: &Placed| end <= p.start || p.start.saturating_add(p.object.size.unwrap_or(1 << 20)) <= at;
        low && self.objects.iter().all(apart)
    }

    fn fill(&mut self, arena: &Arena, object: &Object) {
        let Some(start) = self.addresses.get(&object.var).copied() else { return };
        if object.kind == ObjectKind::Section {
            let members = object.members.iter();
            let members = members.filter_map(|m| self.address(m.var).map(|address| (m.offset, m.size.max(1), address)));
            let members = members.collect();
            self.sections.push(Section { start, members });
        }
        for (offset, pointer) in object.content.iter().chain(&object.start).flat_map(|content| &content.pointers) {
            let value = self.constant_address(arena, *pointer);
            self.pointers.insert(start + offset, value);
        }
    }

    fn constant_address(&self, arena: &Arena, term: TermId) -> u64 {
        let linear = term::Linear::of(arena, term);
        let mut sum = linear.constant.low();
        for (part, coefficient) in &linear.terms {
            let base = arena.as_var(*part).and_then(|var| self.address(var)).unwrap_or(0);
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
        for section in &self.sections {
            let offset = address.wrapping_sub(section.start);
            if offset < SPACING {
                let member = section.members.iter().find(|(at, size, _)| offset >= *at && offset - at < *size);
                return member.map_or(address, |(at, _, to)| to + (offset - at));
            }
        }
        address
    }

    /// Is an address of a section both the end of one member and the start of another?
    pub fn is_border(&self, address: u64) -> bool {
        self.end_at(address)
            .is_some_and(|end| end != self.translate(address) && !self.is_nowhere(self.translate(address)))
    }

    /// The end of the member of a section that ends at an address of that section.
    fn end_at(&self, address: u64) -> Option<u64> {
        let inside = |s: &&Section| address.wrapping_sub(s.start) < SPACING;
        let section = self.sections.iter().find(inside)?;
        let ends = |(at, size, _): &&(u64, u64, u64)| at + size == address - section.start;
        section.members.iter().find(ends).map(|(_, size, to)| to + size)
    }

    /// Can two addresses be the same place? One of a section that is the border of two objects is the end of the one or the
    /// start of the other.
    pub fn may_be_same(&self, a: u64, b: u64) -> bool {
        let places = |address: u64| [Some(self.translate(address)), self.end_at(address)];
        let [first, second] = [a, b].map(places);
        first.iter().flatten().any(|place| second.contains(&Some(*place)))
    }

    /// Is the address in the range of a section? A translated one is then in none of its members, and what is there is not known.
    pub fn is_nowhere(&self, address: u64) -> bool {
        self.sections.iter().any(|section| address.wrapping_sub(section.start) < SPACING)
    }

    /// The object at or below an address, and the offset from its start.
    pub fn object_at(&self, address: u64) -> Option<(Placed<'a>, u64)> {
        let after = self.objects.partition_point(|p| p.start <= address);
        let placed = self.objects.get(after.checked_sub(1)?)?;
        let offset = address - placed.start;
        let reach = if placed.start < OBJECTS { placed.object.size.unwrap_or(1 << 20) } else { SPACING };
        (offset < reach).then_some((*placed, offset))
    }

    /// Is it an address of an object, of a section or of the frame?
    pub fn is_address(&self, address: u64) -> bool {
        is_stack(address) || self.is_nowhere(address) || self.object_at(address).is_some()
    }

    /// Is an address in no object that never changes, or that a compiler may know never to change?
    pub fn may_change(&self, address: u64) -> bool {
        let Some((Placed { object, .. }, _)) = self.object_at(address) else { return true };
        let declared = object.constancy == Constancy::Changing || self.written.contains(&object.var);
        object.content.is_none() && declared
    }

    /// Is an address the low half of one in an object? Code that counts on addresses of 32 bits computes with that.
    pub fn is_half(&self, address: u64) -> bool {
        let inside = |p: &Placed| {
            let reach = p.object.size.unwrap_or(0).clamp(1 << 16, SPACING);
            p.start >= OBJECTS && u64::from((address as u32).wrapping_sub(p.start as u32)) < reach
        };
        address < 1 << 32 && self.objects.iter().any(inside)
    }

    /// The objects, by address.
    pub fn objects(&self) -> &[Placed<'a>] {
        &self.objects
    }

    /// Is one of these bytes in a read-only object?
    pub fn has_content(&self, address: u64, bytes: u64) -> bool {
        let at = |address: u64| self.object_at(address).is_some_and(|(placed, _)| placed.object.content.is_some());
        at(address) || at(address.wrapping_add(bytes - 1))
    }

    /// A byte of a static at the start, if that is one of a few numbers: the one that the seed chooses.
    pub fn static_byte(&self, address: u64, seed: Seed) -> Option<u8> {
        let (start, _, numbers) = self.numbers.iter().find(|(start, size, _)| address.wrapping_sub(*start) < *size)?;
        let number = numbers.get((seed.mix(*start) % numbers.len().max(1) as u64) as usize)?;
        Some((number >> (8 * (address - start))) as u8)
    }

    /// Is one of these eight bytes in such a static, or in one that no code writes by its name?
    pub fn has_start(&self, address: u64) -> bool {
        let unwritten = |at: u64| self.object_at(at).is_some_and(|(placed, _)| placed.object.start.is_some());
        !self.free && (unwritten(address) || unwritten(address.wrapping_add(7)))
            || self.numbers.iter().any(|(start, size, _)| address < start + size && *start < address.saturating_add(8))
    }

    /// A byte that can never change.
    pub fn content(&self, address: u64) -> Option<u8> {
        let (placed, offset) = self.object_at(address)?;
        self.byte_of(placed, placed.object.content.as_ref()?, offset)
    }

    /// A byte at the start of a static that no code writes by its name.
    pub fn start_byte(&self, address: u64) -> Option<u8> {
        let (placed, offset) = self.object_at(address).filter(|_| !self.free)?;
        self.byte_of(placed, placed.object.start.as_ref()?, offset)
    }

    fn byte_of(&self, placed: Placed, content: &Content, offset: u64) -> Option<u8> {
        for back in 0..if content.pointers.is_empty() { 0 } else { 8 } {
            if let Some(value) = offset.checked_sub(back).and_then(|at| self.pointers.get(&(placed.start + at))) {
                return Some((value >> (8 * back)) as u8);
            }
        }
        content.bytes.get(offset as usize).copied()
    }

    /// Are both addresses in anonymous read-only objects that hold the same from there on (up to a NUL, for text)?
    pub fn same_literal(&self, a: u64, b: u64) -> bool {
        let literal = |address: u64| {
            let (placed, offset) = self.object_at(self.translate(address))?;
            let length = placed.object.content.as_ref()?.bytes.len() as u64;
            (placed.object.kind == ObjectKind::Literal && offset <= length)
                .then_some((placed.start + offset, length - offset))
        };
        let (Some((a, a_left)), Some((b, b_left))) = (literal(a), literal(b)) else { return false };
        for i in 0..a_left.min(b_left) {
            let (x, y) = (self.content(a + i), self.content(b + i));
            if x != y {
                return false;
            }
            if x == Some(0) {
                return true;
            }
        }
        a_left == b_left
    }

    /// Are both addresses in constants of one name that hold the same, apart from which of two same literals they point to?
    pub fn same_constant(&self, a: u64, b: u64) -> bool {
        let constant = |address: u64| {
            let (placed, offset) = self.object_at(self.translate(address))?;
            Some((placed.start, offset, &placed.object.name, placed.object.content.as_ref()?))
        };
        let (Some((start, at, name, mine)), Some((other, there, its, theirs))) = (constant(a), constant(b)) else {
            return false;
        };
        let value = |start: u64, offset: u64| self.pointers.get(&start.wrapping_add(offset)).copied();
        let same_pointers = mine.pointers.iter().zip(&theirs.pointers).all(|((i, _), (j, _))| {
            let (Some(x), Some(y)) = (value(start, *i), value(other, *j)) else { return false };
            i == j && (x == y || self.same_literal(x, y))
        });
        (at, name, &mine.bytes) == (there, its, &theirs.bytes)
            && mine.pointers.len() == theirs.pointers.len()
            && same_pointers
    }

    /// The NUL-terminated text at an address in a read-only object, the NUL left out.
    pub fn text_at(&self, address: u64) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut at = self.translate(address);
        loop {
            match self.content(at)? {
                0 => return Some(out),
                byte => out.push(byte),
            }
            if out.len() > 4096 {
                return None;
            }
            at += 1;
        }
    }

    /// The place of an address for people.
    pub fn describe(&self, address: u64) -> Option<String> {
        let (placed, offset) = self.object_at(address)?;
        let name = &placed.object.name;
        Some(if offset == 0 { name.clone() } else { format!("{name}+{offset:#x}") })
    }
}
