//! String literals of plain read-only sections, found by who refers to them.

use crate::container::{Container, Kind, Section};
use crate::relocation::Relocation;
use iced_x86::{Decoder, DecoderOptions, OpKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of code that are searched for references; sections of a broken file may overlap without end.
const MAX_SWEPT: usize = 1 << 28;

/// How code refers to a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Mention {
    /// By its address, or in a way that was not looked at.
    Address,
    /// An instruction accesses it.
    Access,
}

/// Offsets of each section that relocations point at, as far as they can be told without decoding, or that the code of
/// a linked file refers to.
pub(crate) fn references(file: &Container, bytes: &[u8]) -> Vec<BTreeMap<u64, Mention>> {
    let Container { kind, map, sections, symbols } = file;
    let mut out = vec![BTreeMap::new(); sections.len()];
    if *kind != Kind::Relocatable {
        let mut swept = 0;
        for section in sections.iter().filter(|s| s.is_code()) {
            let code = bytes.get(section.range.clone()).unwrap_or(&[]);
            swept += code.len();
            if swept > MAX_SWEPT {
                break;
            }
            for address in addresses_in(*kind, code, section.address) {
                if let Some(place) = map.find(address) {
                    out[place.section as usize].insert(place.offset, Mention::Address);
                }
            }
        }
        return out;
    }
    let loaded = sections.iter().filter(|s| !s.name.starts_with(".debug"));
    for (section, relocation) in loaded.flat_map(|s| s.relocations.iter().map(move |r| (s, r))) {
        let symbol = relocation.symbol.and_then(|i| symbols.get(i as usize));
        let Some(place) = symbol.and_then(|s| s.place()) else { continue };
        // The distance from a field of code to the next instruction, which is what relative addends leave out.
        let skipped = if relocation.is_relative_word() { 4 } else { 0 };
        let at = (place.offset as i64).wrapping_add(relocation.addend).wrapping_add(skipped);
        if let (Some(list), Ok(at)) = (out.get_mut(place.section as usize), u64::try_from(at)) {
            let found = if is_access(section, relocation, bytes) { Mention::Access } else { Mention::Address };
            let known = list.entry(at).or_insert(found);
            *known = found.max(*known);
        }
    }
    out
}

/// Is a relocation the distance to an operand in memory? `lea` only computes where that is.
fn is_access(section: &Section, relocation: &Relocation, bytes: &[u8]) -> bool {
    const LEA: u8 = 0x8d;
    let field = section.range.start.checked_add(relocation.offset as usize);
    // The operand's form is the byte before the field, and the operation's the one before that.
    let operation = field.and_then(|at| bytes.get(at.checked_sub(2)?));
    section.is_code() && relocation.is_relative_word() && operation.is_some_and(|b| *b != LEA)
}

/// Addresses that instructions mention: relative to themselves, and in files at fixed addresses also as constants.
fn addresses_in(kind: Kind, code: &[u8], start: u64) -> Vec<u64> {
    let mut out = Vec::new();
    for instruction in Decoder::with_ip(64, code, start, DecoderOptions::NONE).iter() {
        if instruction.is_ip_rel_memory_operand() {
            out.push(instruction.ip_rel_memory_address());
        }
        if kind == Kind::Executable && !matches!(instruction.op0_kind(), OpKind::NearBranch64) {
            out.extend((0..instruction.op_count()).filter_map(|i| instruction.try_immediate(i).ok()));
            out.push(instruction.memory_displacement64());
        }
    }
    out
}

/// A string of a plain read-only section, with the padding behind it.
pub(crate) struct Text {
    pub start: u64,
    /// Behind the NUL.
    pub text_end: u64,
    /// Behind the padding.
    pub end: u64,
}

/// Strings in a range that no symbol covers: printable text that begins where something refers to and is followed by
/// nothing but zeros up to the next such place. (gcc -O0 keeps its string literals so.)
pub(crate) fn texts(section: &Section, data: &[u8], range: Range<u64>, referred: &BTreeMap<u64, Mention>) -> Vec<Text> {
    let mut out = Vec::new();
    if section.has_strings() || section.has_constants() || section.is_code() || range.start >= range.end {
        return out;
    }
    let starts: Vec<(u64, Mention)> = referred.range(range.clone()).map(|(at, found)| (*at, *found)).collect();
    for (i, (start, found)) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(range.end, |(at, _)| *at);
        let piece = &data[*start as usize..end as usize];
        let Some(length) = piece.iter().position(|b| *b == 0) else { continue };
        let printable = |b: &u8| *b >= 0x20 && *b != 0x7f || (7..=13).contains(b) || *b == 0x1b;
        // More zeros than any alignment explains are data.
        if piece.len() - length > if length == 0 { 8 } else { 32 } {
            continue;
        }
        // The number zero looks like an empty text.
        if length == 0 && piece.len() >= 4 && *found == Mention::Access {
            continue;
        }
        let relocated = !section.relocations_in(*start..end).is_empty();
        if piece[..length].iter().all(printable) && piece[length..].iter().all(|b| *b == 0) && !relocated {
            out.push(Text { start: *start, text_end: start + length as u64 + 1, end });
        }
    }
    out
}
