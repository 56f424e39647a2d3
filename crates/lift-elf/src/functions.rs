//! Which functions a file has: their places, unique names, aliases and outlined pieces.
//!
//! A function is a symbol of function type, or a global label in code (assembly files often give no type). Symbols
//! at one place are one function with aliases, but for weak ones beside others: these are replaceable. Where the only visible
//! name is weak, the function is listed by it, and calls by a local name go by that. A compiler's outlined pieces (`f.cold`, `f.part.0`) are functions
//! of this list too, but name their parent; jumps between parent and piece are edges of one graph.

use crate::container::{Binding, Place, Section, Symbol};
use crate::dwarf::Debug;
use object::elf;
use rustc_hash::FxHashMap;

/// A function of a file.
#[derive(Clone, Debug)]
pub struct FunctionEntry {
    /// Unique name: the linker's, or `file.c:name` where a local name repeats.
    pub name: String,
    /// Unique names of other symbols at the same place.
    pub aliases: Vec<String>,
    /// First instruction.
    pub place: Place,
    /// Size in bytes; up to the next function where the file does not say it.
    pub size: u64,
    /// Does the file itself say the size?
    pub sized: bool,
    /// Is it invisible outside its file?
    pub local: bool,
    /// Can another file's definition take its place?
    pub weak: bool,
    /// The function that this is an outlined piece of.
    pub parent: Option<usize>,
}

impl FunctionEntry {
    /// Does a place lie in the function's code?
    pub fn contains(&self, place: Place) -> bool {
        place.section == self.place.section && place.offset.wrapping_sub(self.place.offset) < self.size
    }
}

/// Unique names of all symbols; empty for those without a name. Statics of a function are named after it
/// (`function.name`): compilers number them in ways of their own.
pub(crate) fn unique_names(symbols: &[Symbol], debug: &Debug) -> Vec<String> {
    let plain = |symbol: &Symbol| {
        let known = symbol.place().filter(|_| symbol.binding == Binding::Local && !symbol.is_function());
        known.and_then(|place| debug.statics.get(&place)).unwrap_or(&symbol.name).clone()
    };
    let plain: Vec<String> = symbols.iter().map(|s| if s.is_name() { plain(s) } else { String::new() }).collect();
    let mut places: FxHashMap<&str, Vec<Place>> = FxHashMap::default();
    for (symbol, name) in symbols.iter().zip(&plain).filter(|(s, _)| s.is_name()) {
        places.entry(name).or_default().extend(symbol.place());
    }
    for seen in places.values_mut() {
        seen.sort_unstable();
        seen.dedup();
    }
    // Local names that repeat get their file in front, and a number if that is not enough.
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let mut given: FxHashMap<(String, Option<Place>), String> = FxHashMap::default();
    let mut names = Vec::with_capacity(symbols.len());
    for (symbol, name) in symbols.iter().zip(&plain) {
        let repeats = symbol.binding == Binding::Local && places.get(name.as_str()).is_some_and(|p| p.len() > 1);
        if !repeats {
            names.push(name.clone());
            continue;
        }
        let qualified = format!("{}:{name}", symbol.file.as_deref().unwrap_or(""));
        let unique = given.entry((qualified.clone(), symbol.place())).or_insert_with(|| {
            let number = numbers.entry(qualified.clone()).or_insert(0);
            *number += 1;
            if *number == 1 { qualified } else { format!("{qualified}#{number}") }
        });
        names.push(unique.clone());
    }
    names
}

/// All functions, in the order of their places.
pub(crate) fn functions(sections: &[Section], symbols: &[Symbol], names: &[String]) -> Vec<FunctionEntry> {
    let is_code = |place: Place| sections.get(place.section as usize).is_some_and(Section::is_code);
    let mut starts: Vec<(Place, u32)> = Vec::new();
    for (index, symbol) in symbols.iter().enumerate() {
        let label = symbol.is_label() && symbol.binding != Binding::Local;
        let function = symbol.kind == elf::STT_FUNC || label;
        if let Some(place) = symbol.place().filter(|p| function && symbol.is_name() && is_code(*p)) {
            starts.push((place, index as u32));
        }
    }
    // The best name of a place first: typed, then strong before weak before local, then by name.
    let rank = |index: u32| {
        let symbol = &symbols[index as usize];
        (symbol.is_label(), symbol.binding, &symbol.name)
    };
    starts.sort_by(|a, b| (a.0, rank(a.1)).cmp(&(b.0, rank(b.1))));
    let mut out: Vec<FunctionEntry> = Vec::new();
    for (place, index) in starts {
        let (symbol, name) = (&symbols[index as usize], &names[index as usize]);
        match out.last_mut().filter(|f| f.place == place) {
            Some(known) => {
                // What a weak name stands for is the linker's to say: it is the name of no function of this file.
                let replaceable = symbol.binding == Binding::Weak;
                if !replaceable && known.name != *name && known.aliases.last() != Some(name) {
                    known.aliases.push(name.clone());
                }
                known.local &= symbol.binding == Binding::Local;
                known.size = known.size.max(symbol.size);
            }
            None => out.push(FunctionEntry {
                name: name.clone(),
                aliases: Vec::new(),
                place,
                size: symbol.size,
                sized: true,
                local: symbol.binding == Binding::Local,
                weak: symbol.binding == Binding::Weak,
                parent: None,
            }),
        }
    }
    for i in 0..out.len() {
        let place = out[i].place;
        let end = sections[place.section as usize].range.len() as u64;
        let next = out.get(i + 1).map(|f| f.place).filter(|p| p.section == place.section).map_or(end, |p| p.offset);
        let function = &mut out[i];
        function.sized = function.size > 0;
        let size = if function.sized { function.size } else { next.saturating_sub(place.offset) };
        function.size = size.min(end.saturating_sub(place.offset));
    }
    // A label at the very end of a section names no code.
    out.retain(|f| f.size > 0);
    find_parents(&mut out);
    out
}

fn find_parents(functions: &mut [FunctionEntry]) {
    let by_name: FxHashMap<String, usize> = functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)).collect();
    let parent = |(i, function): (usize, &FunctionEntry)| {
        let mut name = function.name.as_str();
        while let Some(shorter) = without_piece(name) {
            name = shorter;
            if let Some(found) = by_name.get(name).filter(|found| **found != i) {
                return Some(*found);
            }
        }
        None
    };
    let parents: Vec<Option<usize>> = functions.iter().enumerate().map(parent).collect();
    for (function, parent) in functions.iter_mut().zip(parents) {
        function.parent = parent;
    }
}

/// The name without its last `.cold`, `.cold.N`, `.part.N` or `.__part.N`.
fn without_piece(name: &str) -> Option<&str> {
    if let Some(parent) = name.strip_suffix(".cold") {
        return Some(parent);
    }
    let (front, number) = name.rsplit_once('.')?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    [".cold", ".part", ".__part"].iter().find_map(|suffix| front.strip_suffix(suffix))
}

#[cfg(test)]
mod tests {
    use super::{unique_names, without_piece};
    use crate::container::{Binding, Definition, Place, Symbol, Visibility};
    use crate::dwarf::Debug;
    use object::elf;

    #[test]
    fn local_names_that_repeat_get_their_file() {
        let symbol = |name: &str, file: Option<&str>, offset: u64| Symbol {
            name: name.to_string(),
            file: file.map(Into::into),
            definition: Definition::At(Place { section: 1, offset }),
            size: 1,
            visibility: Visibility::Default,
            binding: if file.is_some() { Binding::Local } else { Binding::Global },
            kind: elf::STT_FUNC,
        };
        let symbols = [
            symbol("f", Some("a.c"), 0),
            symbol("f", Some("b.c"), 8),
            symbol("f", Some("b.c"), 16),
            symbol("f", None, 24),
            symbol("once", Some("a.c"), 32),
        ];
        assert_eq!(unique_names(&symbols, &Debug::default()), ["a.c:f", "b.c:f", "b.c:f#2", "f", "once"]);
    }

    #[test]
    fn pieces_are_recognised_by_their_suffix() {
        assert_eq!(without_piece("f.cold"), Some("f"));
        assert_eq!(without_piece("f.cold.3"), Some("f"));
        assert_eq!(without_piece("f.part.0"), Some("f"));
        assert_eq!(without_piece("f.__part.1"), Some("f"));
        assert_eq!(without_piece("f.isra.0"), None);
        assert_eq!(without_piece("f.0"), None);
        assert_eq!(without_piece("partial"), None);
    }
}
