//! References from data into code: jump tables, and labels whose addresses are taken.

use crate::Image;
use crate::container::{Kind, Place};
use crate::layout::{Base, Location, Use};
use crate::relocation::Meaning;

/// How data refers to code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reference {
    /// By its address.
    Pointer,
    /// By a distance, as in relative jump tables; where it leads depends on what it is added to, so the place is a
    /// guess.
    Distance,
}

impl Image {
    /// References from data to code: the field and what it refers to, in the order of the fields.
    pub(crate) fn code_labels(&self) -> &[(Place, Place, Reference)] {
        self.code_labels.get_or_init(|| {
            let mut out = Vec::new();
            for (index, section) in self.sections.iter().enumerate() {
                if !section.is_loaded() || section.is_code() || section.is_unwind() {
                    continue;
                }
                let field = |offset: u64| Place { section: index as u32, offset };
                // How many distances come right before this one: it may count from the first of them.
                let (mut run, mut expected) = (0, None);
                for relocation in &section.relocations {
                    run = if expected == Some(relocation.offset) { run + 4 } else { 0 };
                    expected = relocation.is_relative_word().then(|| relocation.offset.saturating_add(4));
                    let (location, reference) = match relocation.symbol {
                        _ if relocation.is_pointer() => (self.pointer(relocation), Reference::Pointer),
                        Some(symbol) if relocation.is_relative_word() => {
                            let addend = relocation.addend.wrapping_sub(run);
                            (Some(self.layout.symbol(&self.symbols, symbol, addend)), Reference::Distance)
                        }
                        _ => continue,
                    };
                    let target = location.and_then(|location| self.place_of(location));
                    if let Some(target) = target.filter(|t| self.sections[t.section as usize].is_code()) {
                        out.push((field(relocation.offset), target, reference));
                    }
                }
                // At fixed addresses pointers have no relocations.
                if self.kind == Kind::Executable && section.is_read_only() {
                    for (i, word) in self.data(index as u32).chunks_exact(8).enumerate() {
                        let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
                        let target = self.map.find(address).filter(|t| self.sections[t.section as usize].is_code());
                        out.extend(target.map(|target| (field(8 * i as u64), target, Reference::Pointer)));
                    }
                }
            }
            out
        })
    }

    /// The address of a place in code, relative to the function that holds it.
    pub(crate) fn code_location(&self, place: Place) -> Location {
        let location = Location { base: Base::Section(place.section), offset: place.offset as i64 };
        self.layout.resolve(&self.sections, location, Use::Pointer)
    }

    /// The code place that an 8-byte word of read-only data points to.
    pub(crate) fn code_pointer(&self, at: Place) -> Option<Place> {
        let section = &self.sections[at.section as usize];
        let location = match section.relocations_in(at.offset..at.offset + 8) {
            [relocation] if relocation.offset == at.offset && relocation.is_pointer() => self.pointer(relocation)?,
            [] if self.kind == Kind::Executable => {
                let bytes = self.data(at.section).get(at.offset as usize..at.offset as usize + 8)?;
                self.at_address(u64::from_le_bytes(bytes.try_into().ok()?))?
            }
            _ => return None,
        };
        self.place_of(location)
    }

    /// Does code refer to this place of data by a relocation?
    pub(crate) fn is_mentioned_by_code(&self, place: Place) -> bool {
        let relocations = self.sections.iter().filter(|s| s.is_code()).flat_map(|s| &s.relocations);
        let mut targets = relocations.filter_map(|relocation| {
            // A relative address counts from behind its field, which is the last of its instruction where a table is named.
            let more = if relocation.meaning() == Meaning::Relative { 4 } else { 0 };
            let addend = relocation.addend.wrapping_add(more);
            self.place_of(self.layout.symbol(&self.symbols, relocation.symbol?, addend))
        });
        targets.any(|target| target == place)
    }

    /// The code place that a 4-byte word of read-only data, added to an origin, points to.
    pub(crate) fn relative_code_pointer(&self, at: Place, origin: Location) -> Option<Place> {
        let section = &self.sections[at.section as usize];
        let origin = self.place_of(origin)?;
        match section.relocations_in(at.offset..at.offset + 4) {
            [relocation] if relocation.offset == at.offset && relocation.is_relative_word() => {
                if origin.section != at.section {
                    return None;
                }
                // S + A − P + origin, where P and origin lie in one section.
                let more = (origin.offset as i64).wrapping_sub(at.offset as i64);
                let addend = relocation.addend.wrapping_add(more);
                self.place_of(self.layout.symbol(&self.symbols, relocation.symbol?, addend))
            }
            [] if self.kind != Kind::Relocatable => {
                let bytes = self.data(at.section).get(at.offset as usize..at.offset as usize + 4)?;
                let word = i32::from_le_bytes(bytes.try_into().ok()?);
                let start = self.sections[origin.section as usize].address.wrapping_add(origin.offset);
                self.place_of(self.at_address(start.wrapping_add(word as i64 as u64))?)
            }
            _ => None,
        }
    }
}
