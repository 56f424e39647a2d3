//! Which relocated constants are constants: sections of the name `.data.rel.ro`.
//!
//! Such a section is writable until the loader is done with it. C has only constants there, but a name of a section can be given
//! to any variable. So a linked file must tell the loader to protect the section, and in an object file debug information must
//! call everything in it `const`. Neither counts where the file's own code
//! writes to the section: code is decoded from the start of each of its sections.
//!
//! If this is wrong, what a variable holds at the start is taken to be there forever.

use crate::container::{AddressMap, Definition, Kind, Section, Symbol};
use crate::dwarf::Debug;
use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess};
use std::ops::Range;

/// Marks the sections that only the loader writes to: in object files, those of which debug information must say it, too.
pub(crate) fn note_sealed(
    bytes: &[u8],
    kind: Kind,
    symbols: &[Symbol],
    map: &AddressMap,
    protected: &[Range<u64>],
    sections: &mut [Section],
) {
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
        let end = section.address.saturating_add(section.size);
        let covered = kind == Kind::Relocatable
            || protected.iter().any(|pages| pages.start <= section.address && end <= pages.end);
        section.sealed = relocated(section) && covered && !written.contains(&(i as u32));
    }
}

/// Takes the mark from sections of an object file that hold something which debug information does not call `const`.
pub(crate) fn check_described(debug: &Debug, symbols: &[Symbol], sections: &mut [Section]) {
    if !debug.is_complete() {
        sections.iter_mut().for_each(|section| section.sealed = false);
        return;
    }
    for (place, _) in debug.described.iter().filter(|(_, constant)| !**constant) {
        if let Some(section) = sections.get_mut(place.section as usize) {
            section.sealed = false;
        }
    }
    for (index, section) in sections.iter_mut().enumerate().filter(|(_, s)| s.sealed) {
        let here = |s: &&Symbol| s.is_name() && s.place().is_some_and(|p| p.section as usize == index);
        let mut objects: Vec<&Symbol> = symbols.iter().filter(here).collect();
        objects.sort_by_key(|s| s.place().map(|p| p.offset));
        let described = objects.iter().all(|s| s.place().is_some_and(|p| debug.described.contains_key(&p)));
        // What no name stands for is there for alignment only.
        let mut end = 0;
        let mut gaps = Vec::new();
        for place in objects.iter().filter_map(|s| Some((s.place()?.offset, s.size))) {
            gaps.push(place.0.saturating_sub(end));
            end = end.max(place.0.saturating_add(place.1));
        }
        gaps.push(section.size.saturating_sub(end));
        section.sealed = described && !objects.is_empty() && gaps.iter().all(|gap| *gap < section.align);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled};

    fn sealed(text: &str, command: &str) -> bool {
        let image = compiled(text, command);
        let mut relocated =
            image.sections().iter().filter(|s| s.name.starts_with(".data.rel.ro") && s.size > 0).peekable();
        assert!(relocated.peek().is_some(), "no relocated constants: {command}: {text}");
        relocated.all(|section| section.is_read_only())
    }

    const CONSTANT: &str =
        "static const char *const names[] = { \"a\", \"b\" }; const char *f(int i) { return names[i]; }";
    const VARIABLE: &str =
        "static int x __attribute__((section(\".data.rel.ro.local\"))) = 1; int *get(void) { return &x; }";

    #[test]
    fn in_object_files_debug_information_must_say_const() {
        let object = "cc -c -O1 -fPIC -gdwarf-5";
        assert!(sealed(CONSTANT, object));
        assert!(!sealed(VARIABLE, object));
        assert!(!sealed(CONSTANT, "cc -c -O1 -fPIC -g0"));
        assert!(!sealed(CONSTANT, "cc -c -O1 -fPIC -gdwarf-4"));
    }

    #[test]
    fn linked_files_must_have_the_loader_protect_them() {
        let linked = |relro: &str| format!("cc -O1 -fPIC -g -shared -nostdlib -Wl,-z,{relro}");
        for text in [CONSTANT, VARIABLE] {
            assert!(sealed(text, &linked("relro")));
            assert!(!sealed(text, &linked("norelro")));
        }
        let written = format!("{VARIABLE} void set(void) {{ x = 2; }}");
        assert!(!sealed(&written, &linked("relro")));
    }

    #[test]
    fn what_assemblers_put_there_is_not_constant() {
        let image =
            assembled(".globl f\nf: lea rax, [rip + .Lx]\nret\n.section .data.rel.ro.local, \"aw\"\n.Lx: .quad 1");
        assert!(image.sections().iter().filter(|s| s.name.starts_with(".data.rel.ro")).all(|s| !s.is_read_only()));
    }
}
