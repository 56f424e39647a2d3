//! Relocations: what a field of code or data will hold once the file is linked.

use object::elf;

/// A relocation of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Offset of the field in its section.
    pub offset: u64,
    /// Index of the symbol; `None` for no symbol.
    pub symbol: Option<u32>,
    /// Constant to add.
    pub addend: i64,
    pub(crate) kind: u32,
}

/// What a relocation computes. S is the symbol's address, A the addend, P the field's own address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// S + A in the field's width, which the linker checks to fit.
    Absolute,
    /// S + A − P; calls may go through a linkage table.
    Relative,
    /// Distance to a word that the linker fills with S.
    GotSlot,
    /// S's offset from the thread pointer, plus A.
    ThreadOffset,
    /// Distance to a word that the linker fills with S's offset from the thread pointer.
    ThreadOffsetSlot,
    /// Distance to the argument of `__tls_get_addr` for S.
    ThreadDescriptor,
    /// Distance to the argument of `__tls_get_addr` for this module's thread-local storage.
    ThreadModule,
    /// S's offset in this module's thread-local storage, plus A.
    ThreadModuleOffset,
    /// Not modelled.
    Other,
}

impl Relocation {
    pub(crate) fn meaning(&self) -> Meaning {
        match self.kind {
            elf::R_X86_64_64 | elf::R_X86_64_32 | elf::R_X86_64_32S => Meaning::Absolute,
            elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 | elf::R_X86_64_PC64 => Meaning::Relative,
            elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => Meaning::GotSlot,
            elf::R_X86_64_TPOFF32 | elf::R_X86_64_TPOFF64 => Meaning::ThreadOffset,
            elf::R_X86_64_GOTTPOFF => Meaning::ThreadOffsetSlot,
            elf::R_X86_64_TLSGD => Meaning::ThreadDescriptor,
            elf::R_X86_64_TLSLD => Meaning::ThreadModule,
            elf::R_X86_64_DTPOFF32 | elf::R_X86_64_DTPOFF64 => Meaning::ThreadModuleOffset,
            _ => Meaning::Other,
        }
    }

    /// May the linker put the address of an entry of the linkage table here?
    pub(crate) fn is_linkage(&self) -> bool {
        self.kind == elf::R_X86_64_PLT32
    }

    /// Number of bytes of the field.
    pub(crate) fn width(&self) -> u64 {
        match self.kind {
            elf::R_X86_64_64 | elf::R_X86_64_PC64 | elf::R_X86_64_TPOFF64 | elf::R_X86_64_DTPOFF64 => 8,
            elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_RELATIVE | elf::R_X86_64_IRELATIVE => 8,
            elf::R_X86_64_DTPMOD64 | elf::R_X86_64_GOTOFF64 | elf::R_X86_64_SIZE64 | elf::R_X86_64_GOT64 => 8,
            elf::R_X86_64_16 | elf::R_X86_64_PC16 => 2,
            elf::R_X86_64_8 | elf::R_X86_64_PC8 => 1,
            elf::R_X86_64_NONE => 0,
            _ => 4,
        }
    }

    /// Is the field a whole pointer, in an object file or filled by the loader?
    pub(crate) fn is_pointer(&self) -> bool {
        matches!(
            self.kind,
            elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_RELATIVE
        )
    }

    /// Is the field the 32-bit distance from itself to the symbol?
    pub(crate) fn is_relative_word(&self) -> bool {
        matches!(self.kind, elf::R_X86_64_PC32 | elf::R_X86_64_PLT32)
    }

    /// Name in the manuals, for messages.
    pub(crate) fn name(&self) -> String {
        match self.kind {
            elf::R_X86_64_GOTPC32 => "R_X86_64_GOTPC32".to_string(),
            elf::R_X86_64_GOTOFF64 => "R_X86_64_GOTOFF64".to_string(),
            elf::R_X86_64_GOTPC32_TLSDESC => "R_X86_64_GOTPC32_TLSDESC".to_string(),
            elf::R_X86_64_TLSDESC_CALL => "R_X86_64_TLSDESC_CALL".to_string(),
            elf::R_X86_64_16 => "R_X86_64_16".to_string(),
            elf::R_X86_64_8 => "R_X86_64_8".to_string(),
            elf::R_X86_64_SIZE32 => "R_X86_64_SIZE32".to_string(),
            elf::R_X86_64_SIZE64 => "R_X86_64_SIZE64".to_string(),
            kind => format!("relocation type {kind}"),
        }
    }
}
