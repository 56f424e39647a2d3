//! What lies where: named objects and anonymous data of each section.
//!
//! A [`Location`] is an address before it becomes a term: an object of the layout plus a constant. Nested symbols
//! belong to the outermost one, symbols at one place are one object. But a weak symbol at the place of another one is an
//! object of its own: another file's definition may take its place, and only its. In read-only sections the bytes that no symbol
//! covers are literals, identified by their content: the strings and constants of mergeable sections one by
//! one, strings of plain sections where something refers to them, otherwise the whole gap between two symbols.
//!
//! A pointer into a section whose offset is both the end of one object and the start of the next is ambiguous
//! (`&array[10]` of a ten-element array, or `&next`): it stays section-relative, however small the first object is. Accesses at
//! a constant address are never ambiguous, they must hit the object that starts there. With an index nothing is
//! known here: see `symbolic::Context::member_address`. A label of a compiler (`.LC0`) names what it stands at,
//! whatever is added to it.

use crate::container::{Binding, Container, Definition, Kind, Place, Section, Symbol};
use crate::texts::{Mention, references, tails, texts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// An address before it becomes a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Location {
    pub base: Base,
    pub offset: i64,
}

/// What an address is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Base {
    /// The object of a symbol (the one that [`Layout::canonical`] chose).
    Symbol(u32),
    /// Anonymous read-only bytes.
    Literal { section: u32, start: u64, size: u64 },
    /// A section as a whole.
    Section(u32),
    /// A variable that is there in parts only ([`crate::split`]).
    Whole(u32),
    /// Nothing: a number.
    Number,
}

/// Bytes of a section that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub start: u64,
    pub size: u64,
    /// Is the size more than the distance to the next symbol?
    pub sized: bool,
    pub base: Base,
}

/// How an address is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// As a value.
    Pointer,
    /// To access memory there.
    Access,
}

/// Largest number of literals of a file.
const MAX_LITERALS: usize = 1 << 20;

/// Objects of all sections.
#[derive(Default)]
pub(crate) struct Layout {
    /// Extents of each section, sorted and disjoint.
    pub extents: Vec<Vec<Extent>>,
    /// The symbol that stands for a symbol's object, and the distance from its start.
    canonical: Vec<(u32, u64)>,
    /// Symbols of objects that share bytes with another one, unless another file's definition wins.
    shared: FxHashSet<u32>,
    /// What follows texts that may go on with it, by section and start of the text.
    tails: FxHashMap<(u32, u64), String>,
    /// Sections whose anonymous bytes are literals.
    has_literals: FxHashSet<u32>,
}

impl Layout {
    pub fn new(file: &Container, bytes: &[u8]) -> Layout {
        let Container { kind, sections, symbols, .. } = file;
        let kind = *kind;
        let mut layout = Layout {
            extents: vec![Vec::new(); sections.len()],
            canonical: (0..symbols.len() as u32).map(|i| (i, 0)).collect(),
            shared: FxHashSet::default(),
            tails: FxHashMap::default(),
            has_literals: FxHashSet::default(),
        };
        layout.merge_undefined(symbols);
        let mut by_section: Vec<Vec<u32>> = vec![Vec::new(); sections.len()];
        for (i, symbol) in symbols.iter().enumerate().filter(|(_, s)| s.is_name()) {
            if let Some(list) = symbol.place().and_then(|p| by_section.get_mut(p.section as usize)) {
                list.push(i as u32);
            }
        }
        // A compiler that merges strings has no others among the plain data than those with a NUL inside.
        let merges = kind == Kind::Relocatable && sections.iter().any(|s| s.is_loaded() && s.has_strings());
        let referred = if merges { vec![BTreeMap::new(); sections.len()] } else { references(file, bytes) };
        let mut literals = 0;
        for (i, list) in by_section.into_iter().enumerate() {
            layout.place_symbols(i as u32, &sections[i], symbols, list);
            if sections[i].is_read_only() {
                layout.has_literals.insert(i as u32);
                let data = bytes.get(sections[i].range.clone()).unwrap_or(&[]);
                literals +=
                    layout.place_literals(kind, i as u32, &sections[i], data, &referred[i], MAX_LITERALS - literals);
            }
        }
        layout
    }

    /// Undefined and common symbols of one name are one object.
    fn merge_undefined(&mut self, symbols: &[Symbol]) {
        let mut first: FxHashMap<&str, u32> = FxHashMap::default();
        for (i, symbol) in symbols.iter().enumerate().filter(|(_, s)| s.is_name()) {
            if matches!(symbol.definition, Definition::Undefined | Definition::Common(_)) {
                self.canonical[i].0 = *first.entry(&symbol.name).or_insert(i as u32);
            }
        }
    }

    fn place_symbols(&mut self, index: u32, section: &Section, symbols: &[Symbol], mut list: Vec<u32>) {
        let start = |i: u32| symbols[i as usize].place().map_or(0, |p| p.offset);
        let rank = |i: u32| {
            let symbol = &symbols[i as usize];
            (start(i), u64::MAX - symbol.size, symbol.binding, symbol.is_label(), &symbol.name, i)
        };
        list.sort_by(|a, b| rank(*a).cmp(&rank(*b)));
        // Among the symbols of one object that begin together, a visible name is better than a local one.
        let better = |i: u32, than: u32| {
            let rank =
                |i: u32| (symbols[i as usize].is_label(), symbols[i as usize].binding, &symbols[i as usize].name);
            rank(i) < rank(than)
        };
        // The objects, each with the symbols that belong to it.
        let mut tops: Vec<(u32, u64, Vec<u32>)> = Vec::new();
        let end_of = |i: u32| start(i).saturating_add(symbols[i as usize].size).min(section.size);
        let (weak, strong): (Vec<u32>, Vec<u32>) =
            list.into_iter().partition(|i| symbols[*i as usize].binding == Binding::Weak);
        for i in strong {
            let at = start(i);
            match tops.last_mut().filter(|(top, end, _)| at < *end || at == start(*top)) {
                Some((top, end, inner)) => {
                    if at == start(*top) && better(i, *top) {
                        *top = i;
                    }
                    // Symbols that overlap are one object.
                    *end = end_of(i).max(*end);
                    inner.push(i);
                }
                None => tops.push((i, end_of(i), vec![i])),
            }
        }
        for i in weak {
            let (at, end) = (start(i), end_of(i).max(start(i).saturating_add(1)));
            let mut met = tops.iter().filter(|(top, last, _)| start(*top) < end && at < (*last).max(start(*top) + 1));
            match met.next() {
                Some((top, _, _)) => {
                    self.shared.extend([*top, i]);
                    self.shared.extend(met.map(|(top, _, _)| *top));
                }
                None => {
                    let behind = tops.partition_point(|(top, _, _)| start(*top) < at);
                    tops.insert(behind, (i, end_of(i), vec![i]));
                }
            }
        }
        for (top, _, inner) in &tops {
            for i in inner {
                self.canonical[*i as usize] = (*top, start(*i) - start(*top));
            }
        }
        let extents = &mut self.extents[index as usize];
        for (n, (top, end, _)) in tops.iter().enumerate() {
            let at = start(*top);
            let next = tops.get(n + 1).map_or(section.size, |(next, _, _)| start(*next));
            // A symbol without a size reaches up to the next one.
            let sized = *end > at;
            let end = if sized { *end } else { next };
            extents.push(Extent { start: at, size: end.saturating_sub(at), sized, base: Base::Symbol(*top) });
        }
    }

    /// Makes at most `limit` literals of the bytes that no symbol covers, and returns their number.
    fn place_literals(
        &mut self,
        kind: Kind,
        index: u32,
        section: &Section,
        data: &[u8],
        referred: &BTreeMap<u64, Mention>,
        limit: usize,
    ) -> usize {
        let named = std::mem::take(&mut self.extents[index as usize]);
        let mut out = Vec::with_capacity(named.len());
        let mut at = 0;
        let size = data.len() as u64;
        // Symbols do not count as literals.
        let limit = limit.saturating_add(named.len());
        for extent in named.iter().copied().chain([Extent { start: size, size: 0, sized: true, base: Base::Number }]) {
            if extent.start > at && out.len() < limit {
                let mut at = at;
                let end = extent.start.min(size);
                let texts = texts(section, data, at..end, referred);
                let tails = tails(section, data, end, &texts);
                self.tails.extend(tails.into_iter().map(|(start, tail)| ((index, start), tail)));
                for text in texts {
                    if text.start > at {
                        gap(kind, index, section, data, at..text.start, &mut out, limit);
                    }
                    if out.len() < limit {
                        let size = text.text_end - text.start;
                        let base = Base::Literal { section: index, start: text.start, size };
                        out.push(Extent { start: text.start, size, sized: true, base });
                    }
                    at = text.end;
                }
                if at < end {
                    gap(kind, index, section, data, at..end, &mut out, limit);
                }
            }
            at = at.max(extent.start + extent.size);
            if extent.base != Base::Number {
                out.push(extent);
            }
        }
        let literals = out.len() - named.len();
        self.extents[index as usize] = out;
        literals
    }

    /// Identity of what follows a text and may belong to it.
    pub fn tail(&self, base: Base) -> Option<&String> {
        let Base::Literal { section, start, .. } = base else { return None };
        self.tails.get(&(section, start))
    }

    /// May the object of a symbol share bytes with that of another one?
    pub fn is_shared(&self, symbol: u32) -> bool {
        self.shared.contains(&symbol)
    }

    /// The address that a symbol stands for.
    pub fn symbol(&self, symbols: &[Symbol], symbol: u32, addend: i64) -> Location {
        let Some(info) = symbols.get(symbol as usize) else { return Location { base: Base::Number, offset: addend } };
        match info.definition {
            Definition::Absolute(value) => Location { base: Base::Number, offset: (value as i64).wrapping_add(addend) },
            Definition::At(place) if !info.is_name() => {
                // Labels in code are places in functions, and a section's own symbol names no object.
                let labelled = info.kind != object::elf::STT_SECTION && self.has_literals.contains(&place.section);
                if let Some(extent) = self.extent(place).filter(|_| labelled) {
                    let distance = (place.offset - extent.start) as i64;
                    return Location { base: extent.base, offset: distance.wrapping_add(addend) };
                }
                let offset = (place.offset as i64).wrapping_add(addend);
                Location { base: Base::Section(place.section), offset }
            }
            _ => {
                let (top, distance) = self.canonical[symbol as usize];
                Location { base: Base::Symbol(top), offset: (distance as i64).wrapping_add(addend) }
            }
        }
    }

    /// The extent that holds an offset of a section.
    pub fn extent(&self, place: Place) -> Option<&Extent> {
        let extents = self.extents.get(place.section as usize)?;
        let after = extents.partition_point(|e| e.start <= place.offset);
        extents[..after].last().filter(|e| place.offset - e.start < e.size.max(1))
    }

    /// Is a section nothing but one object? In a linked file other sections lie beside it, and nothing says which is meant.
    pub fn is_only_object(&self, home: &Section, section: u32) -> bool {
        if home.address != 0 {
            return false;
        }
        let whole = |e: &Extent| e.start == 0 && e.size == home.size;
        let extents = self.extents.get(section as usize).map_or(&[][..], |extents| &extents[..]);
        matches!(extents, [only] if whole(only)) && !home.has_strings() && !home.has_constants()
    }

    /// The object that a section-relative address belongs to, if there is no doubt about it.
    pub fn resolve(&self, sections: &[Section], location: Location, usage: Use) -> Location {
        let Base::Section(section) = location.base else { return location };
        let (Some(home), Some(extents)) = (sections.get(section as usize), self.extents.get(section as usize)) else {
            return location;
        };
        let within = |e: &Extent| Location { base: e.base, offset: location.offset.wrapping_sub(e.start as i64) };
        // The distance between a section and its only object is fixed, wherever the address points.
        if let [only] = extents[..]
            && self.is_only_object(home, section)
        {
            return within(&only);
        }
        if location.offset < 0 {
            return location;
        }
        let Some(found) = self.extent(Place { section, offset: location.offset as u64 }) else { return location };
        let whole = home.has_strings() || home.has_constants() || home.is_code();
        if usage == Use::Pointer && !whole && location.offset as u64 == found.start {
            let before = extents[..extents.partition_point(|e| e.start < found.start)].last();
            let literal = |e: &Extent| matches!(e.base, Base::Literal { .. });
            if before.is_some_and(|e| e.start + e.size == found.start && !(literal(e) && literal(found))) {
                return location;
            }
        }
        within(found)
    }
}

/// Splits a range of bytes that no symbol covers into literals, up to `limit` extents in all.
fn gap(kind: Kind, index: u32, section: &Section, data: &[u8], range: Range<u64>, out: &mut Vec<Extent>, limit: usize) {
    let Range { start, end } = range;
    let literal = |start: u64, size: u64| {
        let base = Base::Literal { section: index, start, size };
        Extent { start, size, sized: true, base }
    };
    let unit = section.entity;
    if section.has_strings() && unit <= 8 {
        let mut at = start;
        while at < end && out.len() < limit {
            let rest = &data[at as usize..end as usize];
            let characters = rest.chunks_exact(unit as usize).position(|c| c.iter().all(|b| *b == 0));
            // A string without an end is cut by the section; it is no string then.
            let Some(characters) = characters else { return };
            let size = (characters as u64 + 1) * unit;
            out.push(literal(at, size));
            at += size;
        }
        return;
    }
    if section.has_constants() {
        let mut at = start.next_multiple_of(unit);
        while at.saturating_add(unit) <= end && out.len() < limit {
            out.push(literal(at, unit));
            at += unit;
        }
        return;
    }
    // Fields whose value is neither known nor a whole pointer cut the gap.
    let mut at = start;
    for relocation in section.relocations_in(start..end) {
        let known = relocation.is_pointer() || relocation.width() == 0;
        if out.len() >= limit {
            return;
        }
        if !known || (kind != Kind::Relocatable && relocation.symbol.is_none() && !relocation.is_pointer()) {
            if relocation.offset > at {
                out.push(literal(at, relocation.offset - at));
            }
            at = at.max(relocation.offset + relocation.width());
        }
    }
    if at < end {
        out.push(literal(at, end - at));
    }
}
