//! String literals of plain read-only sections, found by who refers to them.
//!
//! Nothing in the file says where an anonymous object ends, and a reference may lead into the middle of one. So a text is
//! cut at its NUL and nowhere else, it begins where something refers to and no text goes on, and what
//! nobody refers to belongs to what is in front of it. Where code adds an index to an address in a stretch of such
//! data, or reads across the end of a text, the stretch is one object.
//!
//! Trust: full. The content of what is cut too short is not compared.

use crate::container::{Container, Kind, Section};
use crate::content::hex;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of code that are searched for references; sections of a broken file may overlap without end.
const MAX_SWEPT: usize = 1 << 28;
/// Zeros that alignment explains.
const MOST_FILLING: u64 = 7;
/// A text of so many bytes is aligned by compilers.
const ALIGNED_TEXT: u64 = 30;

/// How code or data refers to a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Mention {
    /// By its address.
    Address,
    /// An instruction accesses so many bytes there.
    Access(u64),
    /// An address to which something is added, or of which it is not known what becomes of it.
    Indexed,
}

/// How each offset of each section is referred to.
pub(crate) fn references(file: &Container, bytes: &[u8]) -> Vec<BTreeMap<u64, Mention>> {
    let Container { kind, map, sections, symbols, .. } = file;
    let mut out = vec![BTreeMap::new(); sections.len()];
    let mut swept = 0;
    for section in sections.iter().filter(|s| !s.name.starts_with(".debug")) {
        let data = bytes.get(section.range.clone()).unwrap_or(&[]);
        if section.is_code() {
            swept += data.len();
        }
        let found = match (section.is_code() && swept <= MAX_SWEPT, *kind) {
            (true, Kind::Relocatable) => fields(section, data),
            (true, kind) => {
                for (address, mention) in addresses_in(kind, data, section.address) {
                    if let Some(place) = map.find(address) {
                        note(&mut out, place.section, place.offset, mention);
                    }
                }
                continue;
            }
            (false, _) => BTreeMap::new(),
        };
        if *kind != Kind::Relocatable {
            continue;
        }
        for relocation in &section.relocations {
            let symbol = relocation.symbol.and_then(|i| symbols.get(i as usize));
            let Some(place) = symbol.and_then(|s| s.place()) else { continue };
            let (mention, rest) = match found.get(&relocation.offset) {
                Some(found) => *found,
                // A pointer in data, or code that was not understood.
                None if section.is_code() => (Mention::Indexed, 4),
                None => (Mention::Address, 4),
            };
            // Relative addends leave out the distance from the field to the next instruction.
            let skipped = if relocation.is_relative_word() { rest } else { 0 };
            let at = (place.offset as i64).wrapping_add(relocation.addend).wrapping_add(skipped);
            if let Ok(at) = u64::try_from(at) {
                note(&mut out, place.section, at, mention);
            }
        }
    }
    out
}

fn note(out: &mut [BTreeMap<u64, Mention>], section: u32, at: u64, mention: Mention) {
    if let Some(list) = out.get_mut(section as usize) {
        let known = list.entry(at).or_insert(mention);
        *known = mention.max(*known);
    }
}

/// Fields of a section's instructions that hold addresses: how each refers to its target, and how far it is from the field to
/// the next instruction.
fn fields(section: &Section, code: &[u8]) -> BTreeMap<u64, (Mention, i64)> {
    let mut out = BTreeMap::new();
    let mut decoder = Decoder::with_ip(64, code, section.address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        let start = decoder.position() as u64;
        decoder.decode_out(&mut instruction);
        let end = decoder.position() as u64;
        if instruction.is_invalid() {
            continue;
        }
        let offsets = decoder.get_constant_offsets(&instruction);
        for relocation in section.relocations_in(start..end) {
            let at = (relocation.offset - start) as usize;
            let in_memory = offsets.has_displacement() && at == offsets.displacement_offset();
            let mention = if in_memory { memory_mention(&instruction) } else { Mention::Address };
            out.insert(relocation.offset, (mention, (end - relocation.offset) as i64));
        }
    }
    out
}

/// What an instruction does with its memory operand.
fn memory_mention(instruction: &Instruction) -> Mention {
    let plain = matches!(instruction.memory_base(), Register::None | Register::RIP);
    if !plain || instruction.memory_index() != Register::None {
        return Mention::Indexed;
    }
    match instruction.mnemonic() {
        Mnemonic::Lea => Mention::Address,
        _ => Mention::Access(instruction.memory_size().size() as u64),
    }
}

/// Addresses that instructions mention: relative to themselves, and in files at fixed addresses also as constants.
fn addresses_in(kind: Kind, code: &[u8], start: u64) -> Vec<(u64, Mention)> {
    let mut out = Vec::new();
    for instruction in Decoder::with_ip(64, code, start, DecoderOptions::NONE).iter() {
        if instruction.is_ip_rel_memory_operand() {
            out.push((instruction.ip_rel_memory_address(), memory_mention(&instruction)));
        }
        if kind == Kind::Executable && !matches!(instruction.op0_kind(), OpKind::NearBranch64) {
            let constants = (0..instruction.op_count()).filter_map(|i| instruction.try_immediate(i).ok());
            out.extend(constants.map(|constant| (constant, Mention::Address)));
            out.push((instruction.memory_displacement64(), memory_mention(&instruction)));
        }
    }
    out
}

/// A string of a plain read-only section, with the padding behind it.
pub(crate) struct Text {
    pub start: u64,
    /// Behind the NUL, and behind zeros that may belong to it.
    pub text_end: u64,
    /// Behind the padding.
    pub end: u64,
    /// May it go on with what follows? Nothing tells a text behind its NUL from another one.
    pub open: bool,
}

/// Strings in a range that no symbol covers: printable text that begins where something refers to and is followed by
/// nothing but zeros up to the next such place behind it. (gcc -O0 keeps its string literals so.)
pub(crate) fn texts(section: &Section, data: &[u8], range: Range<u64>, referred: &BTreeMap<u64, Mention>) -> Vec<Text> {
    let mut out: Vec<Text> = Vec::new();
    if section.has_strings() || section.has_constants() || section.is_code() || range.start >= range.end {
        return out;
    }
    let starts: Vec<(u64, Mention)> = referred.range(range.clone()).map(|(at, found)| (*at, *found)).collect();
    // Entries of jump tables have relocations and are read with an index.
    let is_table = |at: u64| section.relocations_in(at..at.saturating_add(1)).first().is_some_and(|r| r.width() > 0);
    if starts.iter().any(|(at, found)| *found == Mention::Indexed && !is_table(*at)) {
        return out;
    }
    let mut behind = range.start;
    for (start, found) in &starts {
        if *start < behind {
            continue;
        }
        let rest = &data[*start as usize..range.end as usize];
        let Some(length) = rest.iter().position(|b| *b == 0) else { continue };
        let text_end = start + length as u64 + 1;
        let next = starts.iter().map(|(at, _)| *at).find(|at| *at >= text_end).unwrap_or(range.end);
        let zeros = next - text_end;
        let printable = |b: &u8| *b >= 0x20 && *b != 0x7f || (7..=13).contains(b) || *b == 0x1b;
        // More zeros than any alignment explains are data.
        if zeros >= if length == 0 { 8 } else { 32 } {
            continue;
        }
        // The number zero looks like an empty text.
        if length == 0 && next - start >= 4 && matches!(found, Mention::Access(_)) {
            continue;
        }
        let across = |(at, found): &(u64, Mention)| match found {
            Mention::Access(bytes) => *at < text_end && at.saturating_add(*bytes) > text_end,
            _ => false,
        };
        let crossed = starts.iter().filter(|(at, _)| at >= start).any(across);
        let plain = section.relocations_in(*start..next).is_empty();
        let filled = data[text_end as usize..next as usize].iter().all(|b| *b == 0);
        if rest[..length].iter().all(printable) && filled && plain && !crossed {
            let aligned = match starts.iter().find(|(at, _)| *at == next) {
                Some((_, Mention::Access(bytes))) => bytes.is_power_of_two() && next.is_multiple_of((*bytes).max(1)),
                Some(_) if is_table(next) => next.is_multiple_of(4),
                Some(_) => is_aligned_text(data, next, range.end),
                // A symbol comes next, or nothing.
                None => next.is_multiple_of(8) && next < data.len() as u64,
            };
            let padding = zeros <= MOST_FILLING && aligned;
            let refers = |at: u64| starts.iter().find(|(start, _)| *start == at).map(|(_, found)| *found);
            let open = refers(next) == Some(Mention::Address) && !is_table(next) && !(padding && zeros > 0);
            let text_end = if padding { text_end } else { next };
            out.push(Text { start: *start, text_end, end: next, open });
            behind = next;
        }
    }
    out
}

/// For each text that may go on with what follows, where it starts and the identity of that: up to the next text that may
/// not, or to the end of the range.
pub(crate) fn tails(section: &Section, data: &[u8], end: u64, texts: &[Text]) -> Vec<(u64, String)> {
    let mut out = Vec::new();
    // Where the text behind begins, and the identity of it and of what may belong to it.
    let mut behind: Option<(u64, String)> = None;
    for text in texts.iter().rev() {
        let next = behind.as_ref().map_or(end, |(start, _)| *start);
        let between = text.end..next.max(text.end);
        let identity = |bytes: Range<u64>, rest: Option<&str>| {
            let mut hash = Sha256::new();
            hash.update(data.get(bytes.start as usize..bytes.end as usize).unwrap_or(&[]));
            hash.update([u8::from(rest.is_some())]);
            hash.update(rest.unwrap_or_default());
            hex(&hash.finalize()[..16])
        };
        let rest = behind.as_ref().map(|(_, rest)| rest.as_str());
        let tail = text.open.then(|| match section.relocations_in(between.clone()).is_empty() {
            true => identity(between.clone(), rest),
            // What it points to is not followed: known by its place in this file only.
            false => format!("{}+{:#x}", section.name, text.end),
        });
        out.extend(tail.clone().map(|tail| (text.start, tail)));
        behind = Some((text.start, identity(text.start..text.end, tail.as_deref())));
    }
    out
}

/// Does something begin here that compilers align to eight bytes: a long text?
fn is_aligned_text(data: &[u8], start: u64, end: u64) -> bool {
    let text = data.get(start as usize..end as usize).unwrap_or(&[]);
    let length = text.iter().position(|b| *b == 0).unwrap_or(0) as u64;
    start.is_multiple_of(8) && length >= ALIGNED_TEXT
}
