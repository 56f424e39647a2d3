//! Which relocated constants are none: sections of the name `.data.rel.ro` that the file's own code writes to.
//!
//! Such a section is writable until the loader is done with it. C has only constants there, but a name of a section can be given
//! to any variable. Code is decoded from the start of each of its sections; where that fails, every such section counts as written.
//!
//! If this is wrong, what a variable holds at the start is taken to be there forever.

use crate::container::{AddressMap, Definition, Kind, Section, Symbol};
use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess};

/// Marks the sections that code writes to.
pub(crate) fn note_written(bytes: &[u8], kind: Kind, symbols: &[Symbol], map: &AddressMap, sections: &mut [Section]) {
    let relocated = |s: &Section| s.is_loaded() && s.name.starts_with(".data.rel.ro");
    if !sections.iter().any(relocated) {
        return;
    }
    let mut written: Vec<u32> = Vec::new();
    let mut factory = InstructionInfoFactory::new();
    for section in sections.iter().filter(|s| s.is_code()) {
        let data = bytes.get(section.range.clone()).unwrap_or(&[]);
        let mut decoder = Decoder::with_ip(64, data, section.address, DecoderOptions::NONE);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                continue;
            }
            let writes = |access| {
                !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess)
            };
            if !factory.info(&instruction).used_memory().iter().any(|m| writes(m.access())) {
                continue;
            }
            let start = instruction.ip().wrapping_sub(section.address);
            let named =
                section.relocations_in(start..start + instruction.len() as u64).iter().filter_map(|relocation| {
                    match symbols.get(relocation.symbol? as usize)?.definition {
                        Definition::At(place) => Some(place.section),
                        _ => None,
                    }
                });
            written.extend(named);
            if kind != Kind::Relocatable {
                let address = match instruction.is_ip_rel_memory_operand() {
                    true => instruction.ip_rel_memory_address(),
                    false => instruction.memory_displacement64(),
                };
                written.extend(map.find(address).map(|place| place.section));
            }
        }
    }
    for (i, section) in sections.iter_mut().enumerate() {
        section.written = written.contains(&(i as u32));
    }
}
