//! A relocatable object as tables that can grow: sections, symbols, relocations; read from bytes and written again.
//!
//! What is not touched keeps its bytes and its section's index. Symbols may move, because local ones come first; whatever names
//! symbols by their index is rewritten.
//!
//! Trust: none. The kernel proves what is read from the written bytes.

use object::LittleEndian;
use object::elf::{self, FileHeader64, Rela64, SectionHeader64, Sym64};
use object::pod::{bytes_of, bytes_of_slice, slice_from_all_bytes};
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};
use object::{I64, U16, U32, U64};

const LE: LittleEndian = LittleEndian;
/// `SHT_LLVM_ADDRSIG`: symbols whose addresses are compared.
const ADDRESS_HINTS: u32 = 0x6fff_4c03;

/// A section.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub name: Vec<u8>,
    pub kind: u32,
    pub flags: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entity: u64,
    /// Bytes in memory; the content is empty for `SHT_NOBITS`.
    pub size: u64,
    pub content: Vec<u8>,
}

impl Section {
    pub fn has(&self, flag: u32) -> bool {
        self.flags & u64::from(flag) != 0
    }

    pub fn is_code(&self) -> bool {
        self.has(elf::SHF_ALLOC) && self.has(elf::SHF_EXECINSTR) && self.kind == elf::SHT_PROGBITS
    }

    /// Is it loaded and never written to?
    pub fn is_constant(&self) -> bool {
        let relocated = self.name.starts_with(b".data.rel.ro");
        self.has(elf::SHF_ALLOC)
            && self.kind == elf::SHT_PROGBITS
            && !self.is_code()
            && (!self.has(elf::SHF_WRITE) || relocated)
    }

    pub fn title(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: Vec<u8>,
    pub binding: u8,
    pub kind: u8,
    pub other: u8,
    /// Index of the section, or one of the reserved numbers.
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

impl Symbol {
    pub fn is_local(&self) -> bool {
        self.binding == elf::STB_LOCAL
    }

    /// Is it defined in a section?
    pub fn is_placed(&self) -> bool {
        self.section != elf::SHN_UNDEF && self.section < elf::SHN_LORESERVE
    }

    pub fn is_undefined(&self) -> bool {
        self.section == elf::SHN_UNDEF
    }

    /// Is it the name of code?
    pub fn names_code(&self) -> bool {
        let label = self.kind == elf::STT_NOTYPE && !self.is_local();
        self.kind == elf::STT_FUNC || label && !self.name.starts_with(b".L")
    }

    pub fn title(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

/// A relocation with an addend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Relocation {
    pub offset: u64,
    pub kind: u32,
    /// Index of the symbol.
    pub symbol: usize,
    pub addend: i64,
}

/// A relocatable object of x86-64.
#[derive(Clone, Debug)]
pub(crate) struct Elf {
    flags: u32,
    os_abi: u8,
    /// The first is the null section.
    pub sections: Vec<Section>,
    /// The first is the null symbol.
    pub symbols: Vec<Symbol>,
    symbol_table: usize,
    section_names: usize,
}

impl Elf {
    /// Takes a file apart. The error says what is not understood.
    pub fn read(bytes: &[u8]) -> Result<Elf, String> {
        let broken = |error: object::read::Error| error.to_string();
        let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(broken)?;
        if header.e_type(LE) != elf::ET_REL || header.e_machine(LE) != elf::EM_X86_64 {
            return Err("it is no relocatable object of x86-64".to_string());
        }
        let table = header.sections(LE, bytes).map_err(broken)?;
        let mut sections = Vec::new();
        for section in table.iter() {
            let name = if sections.is_empty() { &[][..] } else { table.section_name(LE, section).map_err(broken)? };
            let content = if sections.is_empty() { &[][..] } else { section.data(LE, bytes).map_err(broken)? };
            sections.push(Section {
                name: name.to_vec(),
                kind: section.sh_type(LE),
                flags: section.sh_flags(LE),
                link: section.sh_link(LE),
                info: section.sh_info(LE),
                align: section.sh_addralign(LE).max(1),
                entity: section.sh_entsize(LE),
                size: section.sh_size(LE),
                content: content.to_vec(),
            });
        }
        let of_kind = |kind: u32| sections.iter().position(|section| section.kind == kind);
        let symbol_table = of_kind(elf::SHT_SYMTAB).ok_or("it has no symbols")?;
        if of_kind(elf::SHT_SYMTAB_SHNDX).is_some() || sections.len() >= usize::from(elf::SHN_LORESERVE) {
            return Err("it has too many sections".to_string());
        }
        let read = table.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(broken)?;
        let mut symbols = Vec::new();
        for symbol in read.symbols() {
            symbols.push(Symbol {
                name: read.symbol_name(LE, symbol).map_err(broken)?.to_vec(),
                binding: symbol.st_bind(),
                kind: symbol.st_type(),
                other: symbol.st_other,
                section: symbol.st_shndx(LE),
                value: symbol.st_value(LE),
                size: symbol.st_size(LE),
            });
        }
        if symbols.is_empty() {
            return Err("it has no symbols".to_string());
        }
        let section_names = header.shstrndx(LE, bytes).map_err(broken)? as usize;
        let own_names = sections[symbol_table].link as usize;
        if section_names >= sections.len() || own_names >= sections.len() {
            return Err("its tables of names are missing".to_string());
        }
        if section_names == own_names {
            return Err("symbols and sections share a table of names".to_string());
        }
        Ok(Elf {
            flags: header.e_flags(LE),
            os_abi: header.e_ident().os_abi,
            sections,
            symbols,
            symbol_table,
            section_names,
        })
    }

    /// The relocations of a section.
    pub fn relocations(&self, section: usize) -> Result<Vec<Relocation>, String> {
        let mut out = Vec::new();
        for table in self.sections.iter().filter(|s| s.info as usize == section) {
            match table.kind {
                elf::SHT_RELA => out.extend(self.read_relocations(&table.content)?),
                elf::SHT_REL => return Err(format!("section {} has relocations without addends", table.title())),
                _ => {}
            }
        }
        out.sort_by_key(|relocation| relocation.offset);
        Ok(out)
    }

    fn read_relocations(&self, content: &[u8]) -> Result<Vec<Relocation>, String> {
        let table: &[Rela64<LittleEndian>] =
            slice_from_all_bytes(content).map_err(|()| "a table of relocations is cut off".to_string())?;
        let read = |rela: &Rela64<LittleEndian>| {
            let symbol = rela.r_sym(LE, false) as usize;
            let known = symbol < self.symbols.len();
            let relocation = Relocation {
                offset: rela.r_offset.get(LE),
                kind: rela.r_type(LE, false),
                symbol,
                addend: rela.r_addend.get(LE),
            };
            if known { Ok(relocation) } else { Err("a relocation of no symbol".to_string()) }
        };
        table.iter().map(read).collect()
    }

    /// Adds a section; its index.
    pub fn add_section(&mut self, section: Section) -> usize {
        self.sections.push(section);
        self.sections.len() - 1
    }

    /// Adds a symbol; its index.
    pub fn add_symbol(&mut self, symbol: Symbol) -> usize {
        self.symbols.push(symbol);
        self.symbols.len() - 1
    }

    /// The symbol that stands for a section.
    pub fn section_symbol(&mut self, section: usize) -> usize {
        let stands = |s: &Symbol| s.kind == elf::STT_SECTION && usize::from(s.section) == section;
        match self.symbols.iter().position(stands) {
            Some(symbol) => symbol,
            None => self.add_symbol(Symbol {
                name: Vec::new(),
                binding: elf::STB_LOCAL,
                kind: elf::STT_SECTION,
                other: 0,
                section: section as u16,
                value: 0,
                size: 0,
            }),
        }
    }

    /// Adds relocations to those of a section.
    pub fn add_relocations(&mut self, section: usize, more: &[Relocation]) {
        if more.is_empty() {
            return;
        }
        let bytes = relocation_bytes(more);
        let known = self.sections.iter_mut().find(|s| s.kind == elf::SHT_RELA && s.info as usize == section);
        match known {
            Some(table) => {
                table.content.extend(bytes);
                table.size = table.content.len() as u64;
            }
            None => {
                let mut name = b".rela".to_vec();
                name.extend(&self.sections[section].name);
                self.add_section(Section {
                    name,
                    kind: elf::SHT_RELA,
                    flags: u64::from(elf::SHF_INFO_LINK),
                    link: self.symbol_table as u32,
                    info: section as u32,
                    align: 8,
                    entity: 24,
                    size: bytes.len() as u64,
                    content: bytes,
                });
            }
        }
    }

    /// Changes the relocations of a section.
    pub fn change_relocations(
        &mut self,
        section: usize,
        mut change: impl FnMut(&mut Relocation),
    ) -> Result<(), String> {
        for index in 0..self.sections.len() {
            let table = &self.sections[index];
            if table.kind != elf::SHT_RELA || table.info as usize != section {
                continue;
            }
            let mut relocations = self.read_relocations(&table.content)?;
            relocations.iter_mut().for_each(&mut change);
            self.sections[index].content = relocation_bytes(&relocations);
        }
        Ok(())
    }

    /// The bytes of the file.
    pub fn write(mut self) -> Result<Vec<u8>, String> {
        let moved = self.order_symbols();
        self.rename_symbols(&moved)?;
        let names = self.symbol_names();
        let own_names = self.sections[self.symbol_table].link as usize;
        self.set_content(own_names, names.0);
        let symbols: Vec<Sym64<LittleEndian>> = self.symbols.iter().zip(&names.1).map(symbol_entry).collect();
        self.set_content(self.symbol_table, bytes_of_slice(&symbols).to_vec());
        let locals = self.symbols.iter().take_while(|symbol| symbol.is_local()).count();
        self.sections[self.symbol_table].info = locals as u32;
        let titles: Vec<&[u8]> = self.sections.iter().map(|section| section.name.as_slice()).collect();
        let (text, at) = string_table(&titles);
        self.set_content(self.section_names, text);

        let mut out = vec![0; size_of::<FileHeader64<LittleEndian>>()];
        let mut headers: Vec<SectionHeader64<LittleEndian>> = Vec::new();
        for (section, name) in self.sections.iter().zip(at) {
            let align = usize::try_from(section.align).ok().filter(|align| align.is_power_of_two());
            let align = align.ok_or("an alignment is no power of two")?;
            if !section.content.is_empty() {
                out.resize(out.len().next_multiple_of(align), 0);
            }
            let null = headers.is_empty();
            headers.push(SectionHeader64 {
                sh_name: U32::new(LE, name),
                sh_type: U32::new(LE, section.kind),
                sh_flags: U64::new(LE, section.flags),
                sh_addr: U64::new(LE, 0),
                sh_offset: U64::new(LE, if null { 0 } else { out.len() as u64 }),
                sh_size: U64::new(LE, section.size),
                sh_link: U32::new(LE, section.link),
                sh_info: U32::new(LE, section.info),
                sh_addralign: U64::new(LE, if null { 0 } else { section.align }),
                sh_entsize: U64::new(LE, section.entity),
            });
            out.extend(&section.content);
        }
        out.resize(out.len().next_multiple_of(8), 0);
        let header = self.file_header(out.len() as u64);
        out[..size_of::<FileHeader64<LittleEndian>>()].copy_from_slice(bytes_of(&header));
        out.extend(bytes_of_slice(&headers));
        Ok(out)
    }

    fn set_content(&mut self, section: usize, content: Vec<u8>) {
        self.sections[section].size = content.len() as u64;
        self.sections[section].content = content;
    }

    fn file_header(&self, sections_at: u64) -> FileHeader64<LittleEndian> {
        FileHeader64 {
            e_ident: elf::Ident {
                magic: elf::ELFMAG,
                class: elf::ELFCLASS64,
                data: elf::ELFDATA2LSB,
                version: elf::EV_CURRENT,
                os_abi: self.os_abi,
                abi_version: 0,
                padding: [0; 7],
            },
            e_type: U16::new(LE, elf::ET_REL),
            e_machine: U16::new(LE, elf::EM_X86_64),
            e_version: U32::new(LE, u32::from(elf::EV_CURRENT)),
            e_entry: U64::new(LE, 0),
            e_phoff: U64::new(LE, 0),
            e_shoff: U64::new(LE, sections_at),
            e_flags: U32::new(LE, self.flags),
            e_ehsize: U16::new(LE, size_of::<FileHeader64<LittleEndian>>() as u16),
            e_phentsize: U16::new(LE, 0),
            e_phnum: U16::new(LE, 0),
            e_shentsize: U16::new(LE, size_of::<SectionHeader64<LittleEndian>>() as u16),
            e_shnum: U16::new(LE, self.sections.len() as u16),
            e_shstrndx: U16::new(LE, self.section_names as u16),
        }
    }

    /// Local symbols first; where each symbol has gone.
    fn order_symbols(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by_key(|index| !self.symbols[*index].is_local());
        let mut moved = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            moved[*from] = to;
        }
        self.symbols = order.iter().map(|from| self.symbols[*from].clone()).collect();
        moved
    }

    /// Rewrites whatever names symbols by their index.
    fn rename_symbols(&mut self, moved: &[usize]) -> Result<(), String> {
        let renamed = |index: usize| moved.get(index).copied().ok_or("a section names no symbol".to_string());
        for index in 0..self.sections.len() {
            if self.sections[index].link as usize != self.symbol_table {
                continue;
            }
            match self.sections[index].kind {
                elf::SHT_RELA => {
                    let mut relocations = self.read_relocations(&self.sections[index].content)?;
                    for relocation in &mut relocations {
                        relocation.symbol = renamed(relocation.symbol)?;
                    }
                    self.sections[index].content = relocation_bytes(&relocations);
                }
                elf::SHT_GROUP => self.sections[index].info = renamed(self.sections[index].info as usize)? as u32,
                // Hints for the linker. Without them every address counts as significant.
                ADDRESS_HINTS => {
                    self.set_content(index, Vec::new());
                    let section = &mut self.sections[index];
                    (section.kind, section.flags, section.link) = (elf::SHT_NULL, 0, 0);
                }
                elf::SHT_SYMTAB => {}
                _ => return Err(format!("section {} names symbols in an unknown way", self.sections[index].title())),
            }
        }
        Ok(())
    }

    fn symbol_names(&self) -> (Vec<u8>, Vec<u32>) {
        let names: Vec<&[u8]> = self.symbols.iter().map(|symbol| symbol.name.as_slice()).collect();
        string_table(&names)
    }
}

fn string_table(names: &[&[u8]]) -> (Vec<u8>, Vec<u32>) {
    let mut text = vec![0];
    let mut at = Vec::new();
    for name in names {
        if name.is_empty() {
            at.push(0);
            continue;
        }
        at.push(text.len() as u32);
        text.extend(*name);
        text.push(0);
    }
    (text, at)
}

fn symbol_entry((symbol, name): (&Symbol, &u32)) -> Sym64<LittleEndian> {
    Sym64 {
        st_name: U32::new(LE, *name),
        st_info: (symbol.binding << 4) | symbol.kind,
        st_other: symbol.other,
        st_shndx: U16::new(LE, symbol.section),
        st_value: U64::new(LE, symbol.value),
        st_size: U64::new(LE, symbol.size),
    }
}

fn relocation_bytes(relocations: &[Relocation]) -> Vec<u8> {
    let entry = |relocation: &Relocation| Rela64::<LittleEndian> {
        r_offset: U64::new(LE, relocation.offset),
        r_info: U64::new(LE, (relocation.symbol as u64) << 32 | u64::from(relocation.kind)),
        r_addend: I64::new(LE, relocation.addend),
    };
    let entries: Vec<Rela64<LittleEndian>> = relocations.iter().map(entry).collect();
    bytes_of_slice(&entries).to_vec()
}
