//! An object as assembly text, so that people can read what was proved, and assemblers can make it again.
//!
//! Everything that is loaded is written: bytes with the instructions that they are beside them, names, relocations. Debug information is
//! not. Whoever offers the text as a guard has it proved as it is read again.

use crate::elf::{Elf, Section, Symbol};
use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};
use object::elf;
use std::fmt::Write as _;

/// The text, or what cannot be written.
pub fn assembly(object: &[u8]) -> Result<String, String> {
    let elf = Elf::read(object)?;
    let mut out = String::new();
    for (index, section) in elf.sections.iter().enumerate() {
        if section.has(elf::SHF_ALLOC) && section.size > 0 {
            write_section(&elf, index, section, &mut out)?;
        }
    }
    for symbol in elf.symbols.iter().skip(1).filter(|symbol| !symbol.is_placed()) {
        match symbol.section {
            elf::SHN_COMMON => {
                let _ = writeln!(out, "\t.comm {}, {}, {}", quoted(symbol), symbol.size, symbol.value);
            }
            elf::SHN_UNDEF if symbol.binding == elf::STB_WEAK => {
                let _ = writeln!(out, "\t.weak {}", quoted(symbol));
            }
            _ => {}
        }
    }
    out.push_str("\t.section .note.GNU-stack,\"\",@progbits\n");
    Ok(out)
}

fn write_section(elf: &Elf, index: usize, section: &Section, out: &mut String) -> Result<(), String> {
    let kind = match section.kind {
        elf::SHT_PROGBITS => "@progbits",
        elf::SHT_NOBITS => "@nobits",
        elf::SHT_NOTE => "@note",
        elf::SHT_INIT_ARRAY => "@init_array",
        elf::SHT_FINI_ARRAY => "@fini_array",
        elf::SHT_X86_64_UNWIND => "@unwind",
        _ => return Err(format!("section {} has no words in assembly", section.title())),
    };
    if section.has(elf::SHF_GROUP) {
        return Err(format!("section {} is in a group", section.title()));
    }
    let flags: String = [
        (elf::SHF_ALLOC, 'a'),
        (elf::SHF_WRITE, 'w'),
        (elf::SHF_EXECINSTR, 'x'),
        (elf::SHF_MERGE, 'M'),
        (elf::SHF_STRINGS, 'S'),
        (elf::SHF_TLS, 'T'),
    ]
    .into_iter()
    .filter(|(flag, _)| section.has(*flag))
    .map(|(_, letter)| letter)
    .collect();
    let entity = if section.has(elf::SHF_MERGE) { format!(", {}", section.entity) } else { String::new() };
    // Sections of one name are told apart by a number.
    let unique = if first_of_its_name(elf, index) { String::new() } else { format!(", unique, {index}") };
    let _ = writeln!(out, "\t.section {:?}, \"{flags}\", {kind}{entity}{unique}", section.title());
    let _ = writeln!(out, "\t.balign {}\n{}:", section.align, label(index));
    let mut symbols: Vec<&Symbol> =
        elf.symbols.iter().filter(|s| usize::from(s.section) == index && s.kind != elf::STT_SECTION).collect();
    symbols.sort_by_key(|symbol| symbol.value);
    for symbol in &symbols {
        declare(symbol, out);
        let _ = writeln!(out, "\t.set {}, {} + {}", quoted(symbol), label(index), symbol.value);
    }
    for relocation in elf.relocations(index)? {
        let target = &elf.symbols[relocation.symbol];
        let name = match target.kind {
            elf::STT_SECTION => label(usize::from(target.section)),
            _ if relocation.symbol == 0 => "0".to_string(),
            _ => quoted(target),
        };
        let kind = relocation_name(relocation.kind)?;
        let _ =
            writeln!(out, "\t.reloc {} + {}, {kind}, {name} + {}", label(index), relocation.offset, relocation.addend);
    }
    match section.kind {
        elf::SHT_NOBITS => {
            let _ = writeln!(out, "\t.zero {}", section.size);
        }
        _ if section.is_code() => write_code(section, &symbols, out),
        _ => section.content.chunks(16).for_each(|chunk| write_bytes(chunk, "", out)),
    }
    Ok(())
}

fn write_code(section: &Section, symbols: &[&Symbol], out: &mut String) {
    let mut formatter = GasFormatter::new();
    let mut decoder = Decoder::with_ip(64, &section.content, 0, DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let (from, to) = (instruction.ip() as usize, instruction.next_ip() as usize);
        for symbol in symbols.iter().filter(|symbol| symbol.value as usize == from) {
            let _ = writeln!(out, "# {}:", symbol.title());
        }
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        write_bytes(&section.content[from..to], &text, out);
    }
}

fn write_bytes(bytes: &[u8], comment: &str, out: &mut String) {
    let list: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    let list = list.join(",");
    let _ = if comment.is_empty() {
        writeln!(out, "\t.byte {list}")
    } else {
        writeln!(out, "\t.byte {list:<50} # {comment}")
    };
}

fn declare(symbol: &Symbol, out: &mut String) {
    let name = quoted(symbol);
    let _ = match symbol.binding {
        elf::STB_GLOBAL => writeln!(out, "\t.globl {name}"),
        elf::STB_WEAK => writeln!(out, "\t.weak {name}"),
        _ => Ok(()),
    };
    let _ = match symbol.other & 3 {
        elf::STV_HIDDEN => writeln!(out, "\t.hidden {name}"),
        elf::STV_PROTECTED => writeln!(out, "\t.protected {name}"),
        elf::STV_INTERNAL => writeln!(out, "\t.internal {name}"),
        _ => Ok(()),
    };
    let kind = match symbol.kind {
        elf::STT_FUNC => "@function",
        elf::STT_OBJECT => "@object",
        elf::STT_TLS => "@tls_object",
        elf::STT_GNU_IFUNC => "@gnu_indirect_function",
        _ => return,
    };
    let _ = writeln!(out, "\t.type {name}, {kind}\n\t.size {name}, {}", symbol.size);
}

fn first_of_its_name(elf: &Elf, index: usize) -> bool {
    elf.sections[..index].iter().all(|section| section.name != elf.sections[index].name)
}

fn label(section: usize) -> String {
    format!(".Lsection{section}")
}

fn quoted(symbol: &Symbol) -> String {
    format!("{:?}", symbol.title())
}

/// Names of relocations that assemblers know.
fn relocation_name(kind: u32) -> Result<&'static str, String> {
    Ok(match kind {
        elf::R_X86_64_NONE => "R_X86_64_NONE",
        elf::R_X86_64_64 => "R_X86_64_64",
        elf::R_X86_64_PC32 => "R_X86_64_PC32",
        elf::R_X86_64_PLT32 => "R_X86_64_PLT32",
        elf::R_X86_64_32 => "R_X86_64_32",
        elf::R_X86_64_32S => "R_X86_64_32S",
        elf::R_X86_64_PC64 => "R_X86_64_PC64",
        elf::R_X86_64_GOTPCREL => "R_X86_64_GOTPCREL",
        elf::R_X86_64_GOTPCRELX => "R_X86_64_GOTPCRELX",
        elf::R_X86_64_REX_GOTPCRELX => "R_X86_64_REX_GOTPCRELX",
        elf::R_X86_64_TPOFF32 => "R_X86_64_TPOFF32",
        elf::R_X86_64_GOTTPOFF => "R_X86_64_GOTTPOFF",
        elf::R_X86_64_DTPOFF32 => "R_X86_64_DTPOFF32",
        elf::R_X86_64_TLSGD => "R_X86_64_TLSGD",
        elf::R_X86_64_TLSLD => "R_X86_64_TLSLD",
        other => return Err(format!("relocation type {other} has no words in assembly")),
    })
}
