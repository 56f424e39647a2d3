//! Content of read-only objects and identities made of it.
//!
//! The identity of an object with known content is a hash of everything reachable from it through pointers in
//! read-only data: objects in the order of a breadth-first walk, each with its bytes, and each pointer as the number
//! of its target in that order or as the name of something whose content is not known. So equal identities mean equal
//! graphs of constants, cycles included, whatever the files' layouts are.

use crate::Image;
use crate::container::{Binding, Definition, Kind};
use crate::layout::{Base, Location, Use};
use crate::relocation::Relocation;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Content of a read-only object: bytes (zero under pointers) and pointers by offset.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub bytes: Vec<u8>,
    pub pointers: Vec<(u64, Location)>,
}

/// Objects above this size have no known content.
const MAX_CONTENT: u64 = 1 << 16;
/// Objects above this size, with pointers inside, cannot be compared.
const MAX_START: u64 = 1 << 24;
/// Objects that one identity covers at most.
const MAX_REACHABLE: usize = 1 << 14;
/// Bytes that the identities of one function's objects may cover.
pub(crate) const IDENTITY_BUDGET: usize = 1 << 27;

/// What belongs to the identity of an object with pointers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// What never changes.
    Constants,
    /// Also what writable objects hold at the start.
    Everything,
}

impl Image {
    /// Section, first byte, size, and whether that size is the object's own, of an object of this file.
    pub(crate) fn extent_of(&self, base: Base) -> Option<(u32, u64, u64, bool)> {
        match base {
            Base::Literal { section, start, size } => Some((section, start, size, true)),
            Base::Symbol(symbol) => {
                let place = self.symbols.get(symbol as usize)?.place()?;
                let extent = self.layout.extent(place).filter(|e| e.base == base)?;
                Some((place.section, extent.start, extent.size, extent.sized))
            }
            Base::Section(_) | Base::Whole(_) | Base::Number => None,
        }
    }

    /// Content of a base that can never change, if it is known.
    pub(crate) fn constant(&self, base: Base) -> Option<Constant> {
        let (section, start, size, _) = self.extent_of(base)?;
        if let Base::Symbol(symbol) = base
            && self.symbols[symbol as usize].binding == Binding::Weak
        {
            // Another definition may win at link time.
            return None;
        }
        let home = &self.sections[section as usize];
        if !home.is_read_only() && !self.is_constant(base) {
            return None;
        }
        // What touches a field that is not followed may be one object with it.
        let end = start.checked_add(size)?;
        let beside = |r: &Relocation| {
            let touches = r.offset == end || r.offset.checked_add(r.width()) == Some(start);
            r.width() > 0 && touches && !r.is_pointer()
        };
        let around = home.relocations_in(start.saturating_sub(8)..end.saturating_add(1));
        if matches!(base, Base::Literal { .. })
            && !home.has_strings()
            && !home.has_constants()
            && around.iter().any(beside)
        {
            return None;
        }
        self.bytes_of(section, start, size)
    }

    /// What a static holds at the start, if nobody knows what else it can hold: only code of this file can write it, or
    /// none does by its name.
    pub(crate) fn start(&self, symbol: u32) -> Option<Constant> {
        let (section, start, size, sized) = self.extent_of(Base::Symbol(symbol))?;
        let home = &self.sections[section as usize];
        let data = sized && !home.is_code() && !home.is_thread_local() && !home.is_read_only();
        let known = self.is_unwritten_static(symbol) || self.is_unaliased_static(symbol);
        (data && known).then(|| self.bytes_of(section, start, size))?
    }

    pub(crate) fn bytes_of(&self, section: u32, start: u64, size: u64) -> Option<Constant> {
        if size > MAX_CONTENT {
            return None;
        }
        self.all_bytes_of(section, start, size)
    }

    fn all_bytes_of(&self, section: u32, start: u64, size: u64) -> Option<Constant> {
        let home = &self.sections[section as usize];
        if size > MAX_START {
            return None;
        }
        let end = start.checked_add(size)?;
        let mut bytes = match home.kind {
            object::elf::SHT_NOBITS => vec![0; size as usize],
            _ => self.data(section).get(start as usize..end as usize)?.to_vec(),
        };
        let mut pointers = Vec::new();
        // Fields may begin before the object.
        for relocation in home.relocations_in(start.saturating_sub(7)..end) {
            if relocation.width() == 0 || relocation.offset + relocation.width() <= start {
                continue;
            }
            let at = relocation.offset.checked_sub(start)?;
            if !relocation.is_pointer() || at + 8 > size {
                return None;
            }
            bytes[at as usize..at as usize + 8].fill(0);
            pointers.push((at, self.pointer(relocation)?));
        }
        Some(Constant { bytes, pointers })
    }

    /// What a small object of writable data holds at the start, if that is a number.
    pub(crate) fn initial(&self, symbol: u32) -> Option<u64> {
        let (section, start, size, sized) = self.extent_of(Base::Symbol(symbol))?;
        let home = &self.sections[section as usize];
        let end = start.checked_add(size).filter(|_| sized && matches!(size, 1 | 2 | 4 | 8))?;
        if home.is_code() || home.is_thread_local() || !home.relocations_in(start.saturating_sub(7)..end).is_empty() {
            return None;
        }
        if home.kind == object::elf::SHT_NOBITS {
            return Some(0);
        }
        let bytes = self.data(section).get(start as usize..end as usize)?;
        Some(bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }

    /// Is it an object of a writable section that nothing writes?
    pub(crate) fn is_constant(&self, base: Base) -> bool {
        matches!(base, Base::Symbol(symbol) if self.is_constant_static(symbol))
    }

    /// What a pointer-sized relocation of data makes its field point to.
    pub(crate) fn pointer(&self, relocation: &Relocation) -> Option<Location> {
        let location = match relocation.symbol {
            Some(symbol) => self.layout.symbol(&self.symbols, symbol, relocation.addend),
            None if self.kind == Kind::Relocatable => Location { base: Base::Number, offset: relocation.addend },
            None => self.at_address(relocation.addend as u64)?,
        };
        Some(self.layout.resolve(&self.sections, location, Use::Pointer))
    }

    /// The location of a virtual address of a linked file.
    pub(crate) fn at_address(&self, address: u64) -> Option<Location> {
        let place = self.map.find(address)?;
        Some(Location { base: Base::Section(place.section), offset: place.offset as i64 })
    }

    /// Name of an object that is the same in every file that means the same object, apart from its content.
    pub(crate) fn plain_name(&self, base: Base) -> String {
        match base {
            Base::Symbol(symbol) => {
                let info = &self.symbols[symbol as usize];
                let thread = match info.definition {
                    Definition::At(place) => self.sections[place.section as usize].is_thread_local(),
                    _ => info.kind == object::elf::STT_TLS,
                };
                let name = &self.names[symbol as usize];
                if thread { format!("tls:{name}") } else { name.clone() }
            }
            Base::Literal { .. } => String::new(),
            Base::Section(section) => {
                let name = &self.sections[section as usize].name;
                let repeats = self.sections.iter().filter(|s| s.name == *name).count() > 1;
                if repeats { format!("{name}#{section}") } else { name.clone() }
            }
            Base::Whole(whole) => self.splits().wholes[whole as usize].0.clone(),
            Base::Number => String::new(),
        }
    }

    /// Identity by content as 32 hexadecimal digits; `None` if the content is not known. Takes the bytes that it reads
    /// from the budget; without budget the identity is one that no other file shares.
    pub(crate) fn identity(&self, base: Base, budget: &mut usize) -> Option<String> {
        let content = self.constant(base)?;
        Some(self.identity_with(base, content, Follow::Constants, budget))
    }

    /// Identity of what a writable object of this file holds at the start.
    pub(crate) fn start_identity(&self, base: Base, budget: &mut usize) -> Option<String> {
        let content = match base {
            Base::Symbol(symbol) => {
                let info = self.symbols.get(symbol as usize)?;
                if let (Definition::Common(_), true) = (info.definition, info.size > 0) {
                    // The linker makes room for these, full of zeros.
                    return self.plain_identity(info.size, None, budget);
                }
                let (section, start, size, sized) = self.extent_of(base)?;
                let home = &self.sections[section as usize];
                // What stays as it is, is known by its content; but not what another definition may replace, or has no end.
                let known = sized && info.binding != Binding::Weak;
                if home.is_code() || known && (home.is_read_only() || self.is_constant(base)) {
                    return None;
                }
                if home.relocations_in(start.saturating_sub(7)..start.checked_add(size)?).is_empty() {
                    let bytes = match home.kind {
                        object::elf::SHT_NOBITS => None,
                        _ => Some(self.data(section).get(start as usize..start.checked_add(size)? as usize)?),
                    };
                    return self.plain_identity(size, bytes, budget);
                }
                self.all_bytes_of(section, start, size)?
            }
            Base::Whole(whole) => {
                let content = self.whole_start(whole)?;
                if content.pointers.is_empty() {
                    return self.plain_identity(content.bytes.len() as u64, Some(&content.bytes), budget);
                }
                content
            }
            Base::Literal { .. } | Base::Section(_) | Base::Number => return None,
        };
        Some(self.identity_with(base, content, Follow::Everything, budget))
    }

    /// What a writable object that no other file replaces holds at the start.
    fn start_content(&self, base: Base) -> Option<Constant> {
        let Base::Symbol(symbol) = base else { return None };
        let (section, start, size, sized) = self.extent_of(base)?;
        let home = &self.sections[section as usize];
        let fixed = sized && self.symbols.get(symbol as usize)?.binding != Binding::Weak && home.is_loaded();
        if !fixed || home.is_code() || home.is_read_only() || home.is_thread_local() {
            return None;
        }
        self.all_bytes_of(section, start, size)
    }

    /// Identity of bytes without pointers; without any, of zeros.
    fn plain_identity(&self, size: u64, bytes: Option<&[u8]>, budget: &mut usize) -> Option<String> {
        let bytes = bytes.filter(|bytes| bytes.iter().any(|b| *b != 0));
        let cost = bytes.map_or(0, <[u8]>::len);
        *budget = budget.checked_sub(cost)?;
        let mut hash = Sha256::new();
        hash.update(b"plain");
        hash.update(size.to_le_bytes());
        hash.update(bytes.unwrap_or(&[]));
        Some(hex(&hash.finalize()[..16]))
    }

    /// Identity of an object with this content. What is known by its place in this file only makes it one that no other file
    /// shares.
    fn identity_with(&self, base: Base, content: Constant, follow: Follow, budget: &mut usize) -> String {
        let mut content = Some(content);
        let mut numbers: FxHashMap<Base, u64> = FxHashMap::default();
        let mut order = vec![base];
        numbers.insert(base, 0);
        let mut hash = Sha256::new();
        let mut next = 0;
        while let Some(base) = order.get(next).copied() {
            next += 1;
            let start = || self.start_content(base).filter(|_| follow == Follow::Everything);
            let Some(constant) = content.take().or_else(|| self.constant(base)).or_else(start) else {
                hash.update([0]);
                update_text(&mut hash, &self.plain_name(base));
                if let Some(identity) = self.opaque_identity(base, budget) {
                    hash.update([3]);
                    update_text(&mut hash, &identity);
                }
                if matches!(base, Base::Section(_) | Base::Literal { .. }) {
                    // Known by its place in this file only.
                    hash.update(self.file_digest());
                }
                continue;
            };
            let cost = constant.bytes.len() + 64 * constant.pointers.len();
            if next > MAX_REACHABLE || *budget < cost {
                *budget = 0;
                hash.update([2]);
                hash.update(self.file_digest());
                hash.update(format!("{base:?}"));
                break;
            }
            *budget -= cost;
            hash.update([1]);
            update_text(&mut hash, &self.plain_name(base));
            hash.update((constant.bytes.len() as u64).to_le_bytes());
            hash.update(&constant.bytes);
            for (at, target) in &constant.pointers {
                let fresh = numbers.len() as u64;
                let number = *numbers.entry(target.base).or_insert_with(|| {
                    order.push(target.base);
                    fresh
                });
                for part in [*at, number, target.offset as u64] {
                    hash.update(part.to_le_bytes());
                }
            }
        }
        hex(&hash.finalize()[..16])
    }

    /// Identity of a read-only object whose content is too large or has fields that we do not follow: two files mean the
    /// same by it only if its bytes are the same. `None` for everything else.
    pub(crate) fn opaque_identity(&self, base: Base, budget: &mut usize) -> Option<String> {
        let Base::Symbol(symbol) = base else { return None };
        let (section, start, size, _) = self.extent_of(base)?;
        let home = &self.sections[section as usize];
        let constant = home.is_read_only() && !home.is_code() || self.is_constant(base);
        if !constant || self.symbols[symbol as usize].binding == Binding::Weak {
            return None;
        }
        let end = start.checked_add(size)?;
        let mut hash = Sha256::new();
        hash.update(size.to_le_bytes());
        let plain = home.relocations_in(start.saturating_sub(7)..end).is_empty();
        if plain && *budget as u64 >= size {
            *budget -= size as usize;
            hash.update(self.data(section).get(start as usize..end as usize).unwrap_or(&[]));
        } else {
            hash.update(self.file_digest());
        }
        Some(hex(&hash.finalize()[..16]))
    }

    /// A hash of the whole file.
    pub(crate) fn file_digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| Sha256::digest(&self.bytes).into())
    }

    /// The name of an object for people.
    pub(crate) fn display_name(&self, base: Base) -> String {
        let Base::Literal { section, .. } = base else { return self.plain_name(base) };
        let Some(constant) = self.constant(base) else { return "anonymous data".to_string() };
        let printable = |b: &u8| matches!(b, 0x20..=0x7e | b'\n' | b'\t') || *b >= 0x80;
        if let [text @ .., 0] = &constant.bytes[..]
            && constant.pointers.is_empty()
            && text.iter().all(printable)
            && !self.sections[section as usize].has_constants()
        {
            let shown: String = String::from_utf8_lossy(text).escape_debug().take(40).collect();
            return format!("\"{shown}\"");
        }
        let mut shown = String::from("constant 0x");
        for byte in constant.bytes.iter().take(16).rev() {
            let _ = write!(shown, "{byte:02x}");
        }
        shown
    }
}

/// Texts with their length, so that one does not run into the next.
pub(crate) fn update_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
