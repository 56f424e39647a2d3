//! Debug sections with their relocations applied.

use super::Addresses;
use crate::container::{Definition, Section};
use gimli::{EndianSlice, LittleEndian, SectionId};
use object::elf;
use rustc_hash::FxHashMap;

/// What a compressed section may grow to.
const MAX_SECTION: u64 = 1 << 28;

pub(crate) type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// Copies of the debug sections.
pub(crate) struct Sections {
    content: FxHashMap<SectionId, Vec<u8>>,
}

const WANTED: [SectionId; 12] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugTypes,
];

impl Sections {
    pub fn load(bytes: &[u8], addresses: Addresses) -> Sections {
        let mut content = FxHashMap::default();
        for id in WANTED {
            // A section may come in several pieces (groups); the first is the file's own.
            if let Some(section) = addresses.sections.iter().find(|s| s.name == id.name() && s.kind != elf::SHT_NOBITS)
            {
                let mut data = uncompressed(bytes, section).unwrap_or_default();
                apply(&mut data, section, addresses);
                content.insert(id, data);
            }
        }
        Sections { content }
    }

    pub fn dwarf(&self) -> gimli::Dwarf<Reader<'_>> {
        let slice = |id: SectionId| {
            let data = self.content.get(&id).map_or(&[][..], |data| &data[..]);
            Ok::<_, gimli::Error>(EndianSlice::new(data, LittleEndian))
        };
        gimli::Dwarf::load(slice).unwrap_or_else(|_| gimli::Dwarf::default())
    }
}

fn uncompressed(bytes: &[u8], section: &Section) -> Option<Vec<u8>> {
    let data = bytes.get(section.range.clone())?;
    if section.flags & u64::from(elf::SHF_COMPRESSED) == 0 {
        return Some(data.to_vec());
    }
    // Elf64_Chdr: type, reserved, size, alignment.
    let word = |at: usize| data.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let format = match word(0)? {
        elf::ELFCOMPRESS_ZLIB => object::CompressionFormat::Zlib,
        elf::ELFCOMPRESS_ZSTD => object::CompressionFormat::Zstandard,
        _ => return None,
    };
    let uncompressed_size = u64::from(word(8)?) | u64::from(word(12)?) << 32;
    if uncompressed_size > MAX_SECTION {
        return None;
    }
    let compressed = object::CompressedData { format, data: data.get(24..)?, uncompressed_size };
    compressed.decompress().ok().map(|data| data.into_owned())
}

/// Applies the relocations that debug sections have: absolute ones of 4 and 8 bytes.
fn apply(data: &mut [u8], section: &Section, addresses: Addresses) {
    for relocation in &section.relocations {
        let size = match relocation.kind {
            elf::R_X86_64_64 => 8,
            elf::R_X86_64_32 | elf::R_X86_64_32S => 4,
            _ => continue,
        };
        let base = match relocation.symbol.and_then(|s| addresses.symbols.get(s as usize)).map(|s| s.definition) {
            Some(Definition::At(place)) => addresses.address(place),
            Some(Definition::Absolute(value)) => value,
            _ => 0,
        };
        let value = base.wrapping_add(relocation.addend as u64).to_le_bytes();
        let field = usize::try_from(relocation.offset).ok().and_then(|at| data.get_mut(at..at.checked_add(size)?));
        if let Some(field) = field {
            field.copy_from_slice(&value[..size]);
        }
    }
}
