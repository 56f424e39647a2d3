//! String literals of plain read-only sections, found by who refers to them.

use crate::container::{Container, Kind, Section};
use iced_x86::{Decoder, DecoderOptions, OpKind};
use std::collections::BTreeSet;
use std::ops::Range;

/// Bytes of code that are searched for references; sections of a broken file may overlap without end.
const MAX_SWEPT: usize = 1 << 28;

/// Offsets of each section that relocations point at, as far as they can be told without decoding, or that the code of
/// a linked file refers to.
pub(crate) fn references(file: &Container, bytes: &[u8]) -> Vec<BTreeSet<u64>> {
    let Container { kind, map, sections, symbols } = file;
    let mut out = vec![BTreeSet::new(); sections.len()];
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
                    out[place.section as usize].insert(place.offset);
                }
            }
        }
        return out;
    }
    let loaded = sections.iter().filter(|s| !s.name.starts_with(".debug"));
    for relocation in loaded.flat_map(|s| &s.relocations) {
        let symbol = relocation.symbol.and_then(|i| symbols.get(i as usize));
        let Some(place) = symbol.and_then(|s| s.place()) else { continue };
        // The distance from a field of code to the next instruction, which is what relative addends leave out.
        let skipped = if relocation.is_relative_word() { 4 } else { 0 };
        let at = (place.offset as i64).wrapping_add(relocation.addend).wrapping_add(skipped);
        if let (Some(list), Ok(at)) = (out.get_mut(place.section as usize), u64::try_from(at)) {
            list.insert(at);
        }
    }
    out
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
pub(crate) fn texts(section: &Section, data: &[u8], range: Range<u64>, referred: &BTreeSet<u64>) -> Vec<Text> {
    let mut out = Vec::new();
    if section.has_strings() || section.has_constants() || section.is_code() || range.start >= range.end {
        return out;
    }
    let starts: Vec<u64> = referred.range(range.clone()).copied().collect();
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(range.end);
        let piece = &data[*start as usize..end as usize];
        let Some(length) = piece.iter().position(|b| *b == 0) else { continue };
        let printable = |b: &u8| *b >= 0x20 && *b != 0x7f || (7..=13).contains(b) || *b == 0x1b;
        // More zeros than any alignment explains are data.
        if piece.len() - length > if length == 0 { 8 } else { 32 } {
            continue;
        }
        let relocated = !section.relocations_in(*start..end).is_empty();
        if piece[..length].iter().all(printable) && piece[length..].iter().all(|b| *b == 0) && !relocated {
            out.push(Text { start: *start, text_end: start + length as u64 + 1, end });
        }
    }
    out
}
