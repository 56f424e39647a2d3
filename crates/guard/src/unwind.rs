//! Unwind tables of code that was copied.
//!
//! Each description of a frame in `.eh_frame` that begins at a copied piece is copied too, with the common part that it refers to. The code
//! in front changes no frame, so its description is the common part alone. What names a personality routine is refused: its tables
//! say where the code lies.

use crate::elf::{Elf, Relocation, Section};
use crate::import::Placed;
use object::elf;

/// `DW_EH_PE_pcrel | DW_EH_PE_sdata4`: how places of code are written.
const RELATIVE_WORD: u8 = 0x1b;

/// A record of `.eh_frame`.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Offset of its length.
    at: usize,
    end: usize,
    /// Offset of the common part that it refers to; none for a common part.
    common: Option<usize>,
}

/// Describes copied pieces, and code from the start of the new section up to the first of them.
pub(crate) fn describe(from: &Elf, to: &mut Elf, placed: &[Placed], home: usize) -> Result<(), String> {
    let Some(source) = from.sections.iter().position(is_unwind) else { return Ok(()) };
    let content = &from.sections[source].content;
    let relocations = from.relocations(source)?;
    let mut added: Vec<u8> = Vec::new();
    let mut named: Vec<(usize, u64)> = Vec::new();
    let mut commons: Vec<(usize, usize)> = Vec::new();
    for record in records(content)? {
        let Some(common) = record.common else { continue };
        let begins = relocations.iter().find(|r| r.offset as usize == record.at + 8);
        let Some(begins) = begins.filter(|r| from.symbols[r.symbol].is_placed()) else { continue };
        let symbol = &from.symbols[begins.symbol];
        let start = symbol.value.wrapping_add_signed(begins.addend);
        let here = |p: &&Placed| p.extent.contains(usize::from(symbol.section), start);
        let Some(piece) = placed.iter().find(here) else { continue };
        let whole = records(content)?.into_iter().find(|r| r.at == common && r.common.is_none());
        let whole = whole.ok_or("an unwind table refers to nothing")?;
        check_plain(content, whole, &relocations)?;
        let others = relocations.iter().filter(|r| (record.at..record.end).contains(&(r.offset as usize))).count();
        if others > 1 {
            return Err("its unwind tables cannot be copied: they refer to other tables".to_string());
        }
        let first = commons.is_empty();
        let known = commons.iter().find(|(at, _)| *at == common).map(|(_, to)| *to);
        let common_at = known.unwrap_or_else(|| {
            let at = added.len();
            added.extend(&content[whole.at..whole.end]);
            commons.push((common, at));
            at
        });
        if first {
            let length = placed.first().map_or(0, |piece| piece.at);
            named.push((added.len() + 8, 0));
            frame(&mut added, common_at, length as u32);
        }
        let at = added.len();
        added.extend(&content[record.at..record.end]);
        added[at + 4..at + 8].copy_from_slice(&((at + 4 - common_at) as u32).to_le_bytes());
        named.push((at + 8, piece.at + (start - piece.extent.start)));
    }
    if added.is_empty() {
        return Ok(());
    }
    let table = match to.sections.iter().position(is_unwind) {
        Some(table) => table,
        None => {
            let source = &from.sections[source];
            to.add_section(Section { link: 0, info: 0, size: 0, content: Vec::new(), ..source.clone() })
        }
    };
    let base = to.sections[table].content.len();
    let symbol = to.section_symbol(home);
    to.sections[table].content.extend(added);
    to.sections[table].size = to.sections[table].content.len() as u64;
    let relocation = |(offset, place): (usize, u64)| Relocation {
        offset: (base + offset) as u64,
        kind: elf::R_X86_64_PC32,
        symbol,
        addend: place as i64,
    };
    let relocations: Vec<Relocation> = named.into_iter().map(relocation).collect();
    to.add_relocations(table, &relocations);
    Ok(())
}

/// A description of code that keeps the frame as it is at entry.
fn frame(out: &mut Vec<u8>, common: usize, length: u32) {
    let at = out.len();
    // The length without its own field: pointer, start, length of the code, no augmentation, three `DW_CFA_nop`.
    out.extend(16u32.to_le_bytes());
    out.extend(((at + 4 - common) as u32).to_le_bytes());
    out.extend([0; 4]);
    out.extend(length.to_le_bytes());
    out.extend([0; 4]);
}

pub(crate) fn is_unwind(section: &Section) -> bool {
    section.name == b".eh_frame" && section.has(elf::SHF_ALLOC)
}

fn word(content: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(content.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn records(content: &[u8]) -> Result<Vec<Record>, String> {
    let broken = || "its unwind tables cannot be read".to_string();
    let mut out = Vec::new();
    let mut at = 0;
    while at < content.len() {
        let length = word(content, at).ok_or_else(broken)? as usize;
        if length == 0 {
            at += 4;
            continue;
        }
        let end = at
            .checked_add(4 + length)
            .filter(|end| *end <= content.len() && length < 0xffff_ff00)
            .ok_or_else(broken)?;
        let pointer = word(content, at + 4).ok_or_else(broken)? as usize;
        let common = match pointer {
            0 => None,
            distance => Some((at + 4).checked_sub(distance).ok_or_else(broken)?),
        };
        out.push(Record { at, end, common });
        at = end;
    }
    Ok(out)
}

/// Does a common part name nothing but how places are written?
fn check_plain(content: &[u8], common: Record, relocations: &[Relocation]) -> Result<(), String> {
    let refused = || "its unwind tables cannot be copied: they name a personality routine".to_string();
    if relocations.iter().any(|r| (common.at..common.end).contains(&(r.offset as usize))) {
        return Err(refused());
    }
    let body = content.get(common.at + 8..common.end).unwrap_or(&[]);
    // Version 1, the augmentation "zR", alignments in a byte each, the register of the return address, one byte of augmentation.
    match body {
        [1, b'z', b'R', 0, code, data, _, 1, RELATIVE_WORD, ..] if *code < 0x80 && *data < 0x80 => Ok(()),
        _ => Err(refused()),
    }
}
