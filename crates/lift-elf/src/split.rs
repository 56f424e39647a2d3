//! Statics that an optimiser split into their parts, or keeps in one byte.
//!
//! LLVM keeps the fields of a local variable as variables of their own (`state` becomes `state.0` and `state.1`) if all code
//! of the file accesses it directly. Debug information still says where the parts are. A part is then read as what it
//! was: a place inside one object of the old name. That is a renaming of memory that only this file's code can reach, and
//! it is done only if no pointer to a part can exist and every access stays inside one part, without a register in its
//! address.
//!
//! A variable that only ever holds two numbers becomes one byte, 0 for the first of them and 1 for the other; debug information says which is which. That byte is
//! read as an object of the old name and size, and its accesses as what they mean there. Any other content of either
//! form means anything.

use crate::Image;
use crate::container::{Binding, Place};
use crate::content::Constant;
use crate::layout::{Base, Location};
use program::{Op, Point};
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Sort, TermId, VarId};

/// Bytes of the largest split variable whose start is compared.
const MAX_WHOLE: usize = 1 << 16;

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

/// A variable in one byte, as debug information describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shrunken {
    /// Its name, as that of an object.
    pub name: String,
    /// Bytes of the variable.
    pub size: u64,
    /// Where the byte is.
    pub place: Place,
    /// What the bytes 0 and 1 mean.
    pub meanings: [u64; 2],
}

/// The split variables of a file.
#[derive(Default)]
pub(crate) struct Splits {
    /// Name and size.
    pub wholes: Vec<(String, u64)>,
    /// By the symbol of a part: the variable, and the distance from its start.
    parts: FxHashMap<u32, (u32, u64)>,
    /// Those in one byte: what 0 and 1 mean.
    meanings: FxHashMap<u32, [u64; 2]>,
}

impl Image {
    /// The split variables whose parts are used as such.
    pub(crate) fn splits(&self) -> &Splits {
        self.splits.get_or_init(|| {
            let mut out = Splits::default();
            if self.debug.split.is_empty() && self.debug.shrunken.is_empty() {
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
            for variable in &self.debug.shrunken {
                let others = self.names.iter().filter(|name| **name == variable.name).count();
                let byte = Parts { name: String::new(), size: 1, parts: vec![(variable.place, 0, 1)] };
                let Some(&[(symbol, _)]) = self.parts(&byte, &plain).as_deref() else { continue };
                let own = usize::from(self.names[symbol as usize] == variable.name);
                let size = matches!(variable.size, 1 | 2 | 4 | 8);
                if others > own || !size || !repeated.insert(&variable.name) || out.parts.contains_key(&symbol) {
                    continue;
                }
                let whole = out.wholes.len() as u32;
                out.wholes.push((variable.name.clone(), variable.size));
                out.parts.insert(symbol, (whole, 0));
                out.meanings.insert(whole, variable.meanings);
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

    /// What a variable that is there in parts, or in one byte, stands for at the start. Parts that are not there any more count
    /// as zeros.
    pub(crate) fn whole_start(&self, whole: u32) -> Option<Constant> {
        let splits = self.splits();
        if splits.meanings.contains_key(&whole) {
            return self.shrunken_start(whole);
        }
        let size = usize::try_from(splits.wholes.get(whole as usize)?.1).ok().filter(|size| *size <= MAX_WHOLE)?;
        let mut start = Constant { bytes: vec![0; size], pointers: Vec::new() };
        let mut parts: Vec<(u32, u64)> =
            splits.parts.iter().filter(|(_, (of, _))| *of == whole).map(|(symbol, (_, at))| (*symbol, *at)).collect();
        parts.sort_by_key(|(_, at)| *at);
        for (symbol, at) in parts {
            let (section, offset, size, _) = self.extent_of(Base::Symbol(symbol))?;
            let part = self.bytes_of(section, offset, size)?;
            let end = at.checked_add(size)?;
            start.bytes.get_mut(at as usize..end as usize)?.copy_from_slice(&part.bytes);
            start.pointers.extend(part.pointers.into_iter().map(|(inside, target)| (at + inside, target)));
        }
        Some(start)
    }

    /// What a variable in one byte stands for at the start.
    fn shrunken_start(&self, whole: u32) -> Option<Constant> {
        let splits = self.splits();
        let meanings = splits.meanings.get(&whole)?;
        let size = splits.wholes[whole as usize].1 as usize;
        let (symbol, _) = splits.parts.iter().find(|(_, (of, _))| *of == whole)?;
        let (section, start, _, _) = self.extent_of(Base::Symbol(*symbol))?;
        let byte = *self.bytes_of(section, start, 1)?.bytes.first()?;
        let number = meanings.get(usize::from(byte))?;
        Some(Constant { bytes: number.to_le_bytes().get(..size)?.to_vec(), pointers: Vec::new() })
    }

    /// Accesses to variables in one byte, as accesses to what they stand for. `bases` are the objects of variables.
    pub(crate) fn unshrink(&self, arena: &mut Arena, points: &mut [Point], bases: &FxHashMap<VarId, Base>) {
        let splits = self.splits();
        let mut shrunken: FxHashMap<TermId, (u16, [u64; 2])> = FxHashMap::default();
        for (var, base) in bases {
            if let Base::Whole(whole) = base
                && let Some(meanings) = splits.meanings.get(whole)
            {
                let bits = 8 * splits.wholes[*whole as usize].1 as u16;
                shrunken.insert(arena.var_term(*var), (bits, *meanings));
            }
        }
        if shrunken.is_empty() {
            return;
        }
        for point in points {
            let ops = std::mem::take(&mut point.ops);
            for (place, op) in ops {
                let form = |address: &TermId| shrunken.get(address).copied();
                match op {
                    Op::Load { var, address, bytes: 1 } if form(&address).is_some() => {
                        let (bits, meanings) = form(&address).unwrap_or_default();
                        let [word, any] = [("shrunken.word", bits), ("shrunken.byte", 8)].map(|(name, bits)| {
                            let term = arena.var(&format!("{name}.{bits}"), Sort::Bv(bits));
                            (arena.as_var(term).expect("a variable"), term)
                        });
                        let [zero, one] = [0, 1].map(|n| arena.bv(8, n));
                        let [clear, set] = meanings.map(|n| arena.bv(bits, n));
                        let (is_clear, is_set) = (arena.eq(word.1, clear), arena.eq(word.1, set));
                        let other = arena.ite(is_set, one, any.1);
                        let value = arena.ite(is_clear, zero, other);
                        point.ops.push((place, Op::Load { var: word.0, address, bytes: bits / 8 }));
                        point.ops.push((place, Op::Unknown { var: any.0 }));
                        point.ops.push((place, Op::Set { var, value }));
                    }
                    Op::Store { address, value } if form(&address).is_some() && arena.width(value) == 8 => {
                        let (bits, meanings) = form(&address).unwrap_or_default();
                        let any = arena.var(&format!("shrunken.any.{bits}"), Sort::Bv(bits));
                        let [zero, one] = [0, 1].map(|n| arena.bv(8, n));
                        let [clear, set] = meanings.map(|n| arena.bv(bits, n));
                        let (is_clear, is_set) = (arena.eq(value, zero), arena.eq(value, one));
                        let other = arena.ite(is_set, set, any);
                        let value = arena.ite(is_clear, clear, other);
                        let var = arena.as_var(any).expect("a variable");
                        point.ops.push((place, Op::Unknown { var }));
                        point.ops.push((place, Op::Store { address, value }));
                    }
                    op => point.ops.push((place, op)),
                }
            }
        }
    }
}
