//! A function in an object: where its code is, and the pieces that its compiler moved elsewhere.

use crate::elf::{Elf, Symbol};
use object::elf;

/// One function of a relocatable object.
#[derive(Clone, Copy, Debug)]
pub struct ObjectPiece<'a> {
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// The function's symbol.
    pub function: &'a str,
}

/// Code of one symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// Index of the symbol.
    pub symbol: usize,
    pub section: usize,
    pub start: u64,
    pub end: u64,
}

impl Extent {
    pub fn contains(&self, section: usize, offset: u64) -> bool {
        self.section == section && (self.start..self.end).contains(&offset)
    }
}

/// The code of a function by the name of its symbol.
pub(crate) fn find(elf: &Elf, function: &str) -> Result<Extent, String> {
    let named = |symbol: &&Symbol| symbol.name == function.as_bytes() && symbol.is_placed();
    let ifunc = elf.symbols.iter().any(|s| named(&s) && s.kind == elf::STT_GNU_IFUNC);
    if ifunc {
        return Err(format!("`{function}` is chosen by the loader"));
    }
    let found: Vec<usize> = (0..elf.symbols.len())
        .filter(|index| named(&&elf.symbols[*index]) && elf.symbols[*index].names_code())
        .collect();
    match found[..] {
        [symbol] => extent(elf, symbol),
        [] => Err(format!("it has no function `{function}`")),
        _ => Err(format!("several of its functions are called `{function}`")),
    }
}

/// The code that a symbol names: to its end, or to the next symbol where the file does not say it.
pub(crate) fn extent(elf: &Elf, index: usize) -> Result<Extent, String> {
    let symbol = &elf.symbols[index];
    let section = usize::from(symbol.section);
    let code = elf.sections.get(section).filter(|section| section.is_code());
    let code = code.ok_or_else(|| format!("`{}` is not in code", symbol.title()))?;
    let next = || {
        let others = elf.symbols.iter().filter(|s| usize::from(s.section) == section && s.names_code());
        others.map(|s| s.value).filter(|value| *value > symbol.value).min().unwrap_or(code.size)
    };
    let end = if symbol.size > 0 { symbol.value.saturating_add(symbol.size) } else { next() };
    if end > code.size || end <= symbol.value {
        return Err(format!("`{}` leaves its section", symbol.title()));
    }
    Ok(Extent { symbol: index, section, start: symbol.value, end })
}

/// The name of the function that a symbol is an outlined piece of.
pub(crate) fn parent(name: &str) -> Option<&str> {
    if let Some(parent) = name.strip_suffix(".cold") {
        return Some(parent);
    }
    let (front, number) = name.rsplit_once('.')?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    [".cold", ".part"].iter().find_map(|suffix| front.strip_suffix(suffix))
}
