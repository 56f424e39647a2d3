//! Statics that an optimiser split into their parts.
//!
//! LLVM keeps the fields of a local variable as variables of their own (`state` becomes `state.0` and `state.1`) if all code
//! of the file accesses it directly. Debug information still says where the parts are. A part is then read as what it
//! was: a place inside one object of the old name. That is a renaming of memory that only this file's code can reach, and
//! it is done only if no pointer to a part can exist and every access stays inside one part, without a register in its
//! address.

use crate::Image;
use crate::container::{Binding, Place};
use crate::layout::{Base, Location};
use rustc_hash::{FxHashMap, FxHashSet};

/// A variable in several parts, as debug information describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parts {
    /// Its name, as that of an object.
    pub name: String,
    /// Bytes of the variable.
    pub size: u64,
    /// Place, distance from the start of the variable, and size.
    pub parts: Vec<(Place, u64, u64)>,
}

/// The split variables of a file.
#[derive(Default)]
pub(crate) struct Splits {
    /// Name and size.
    pub wholes: Vec<(String, u64)>,
    /// By the symbol of a part: the variable, and the distance from its start.
    parts: FxHashMap<u32, (u32, u64)>,
}

impl Image {
    /// The split variables whose parts are used as such.
    pub(crate) fn splits(&self) -> &Splits {
        self.splits.get_or_init(|| {
            let mut out = Splits::default();
            if self.debug.split.is_empty() {
                return out;
            }
            let plain = self.plainly_accessed_statics();
            let names: FxHashSet<&str> = self.names.iter().map(String::as_str).collect();
            let mut repeated = FxHashSet::default();
            for variable in &self.debug.split {
                if names.contains(variable.name.as_str()) || !repeated.insert(&variable.name) {
                    continue;
                }
                let Some(parts) = self.parts(variable, &plain) else { continue };
                let whole = out.wholes.len() as u32;
                if parts.iter().any(|(symbol, _)| out.parts.contains_key(symbol)) {
                    continue;
                }
                out.wholes.push((variable.name.clone(), variable.size));
                out.parts.extend(parts.into_iter().map(|(symbol, offset)| (symbol, (whole, offset))));
            }
            out
        })
    }

    /// The symbols of a variable's parts and their distances, if they are local objects of just that size.
    fn parts(&self, variable: &Parts, plain: &FxHashSet<u32>) -> Option<Vec<(u32, u64)>> {
        let mut out: Vec<(u32, u64)> = Vec::new();
        let mut end = 0;
        for (place, offset, size) in &variable.parts {
            let extent =
                self.layout.extent(*place).filter(|e| e.start == place.offset && e.size == *size && e.sized)?;
            let Base::Symbol(symbol) = extent.base else { return None };
            let section = &self.sections[place.section as usize];
            let fits = *offset >= end && offset.checked_add(*size)? <= variable.size;
            let own = self.symbols[symbol as usize].binding == Binding::Local && plain.contains(&symbol);
            if !fits || !own || section.is_read_only() || section.is_thread_local() {
                return None;
            }
            end = offset + size;
            out.push((symbol, *offset));
        }
        (!out.is_empty()).then_some(out)
    }

    /// The place inside the whole variable, if the location is in a part of one.
    pub(crate) fn unsplit(&self, location: Location) -> Location {
        let Base::Symbol(symbol) = location.base else { return location };
        match self.splits().parts.get(&symbol) {
            Some((whole, distance)) => {
                Location { base: Base::Whole(*whole), offset: location.offset.wrapping_add(*distance as i64) }
            }
            None => location,
        }
    }
}
