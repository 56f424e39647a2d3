//! What is in an object file about one function: its bytes, what it refers to, which registers it changes.
//!
//! Trust: none for proofs. But [`Code::spares`] keeps a function from being put beside callers that count on more than the calling
//! convention says, which no proof about the function alone can see.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A function in an object file.
#[derive(Clone, Debug)]
pub struct Code {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// A number that is the same for the same code with the same references.
    pub identity: [u8; 32],
    /// Registers that it changes, and whether it calls somebody.
    changes: BTreeSet<Register>,
    calls: bool,
    /// Does other code of the file call it or jump to it?
    pub is_called: bool,
    /// Where something in it is left to a linker: offsets of fields.
    pub relocations: Vec<usize>,
    /// Symbols that the file needs from elsewhere.
    pub undefined: BTreeSet<String>,
    /// Symbols that it defines for others.
    pub global: BTreeSet<String>,
}

impl Code {
    /// Reads a function of an object file; the error says what is wrong with the file.
    pub fn of(file: &[u8], name: &str) -> Result<Code, String> {
        let file = object::File::parse(file).map_err(|error| error.to_string())?;
        let defined = |symbol: &object::Symbol<'_, '_>| symbol.name() == Ok(name) && symbol.section_index().is_some();
        let symbol = file.symbols().find(defined).ok_or_else(|| format!("no function `{name}`"))?;
        let index = symbol.section_index().ok_or("not in a section")?;
        let section = file.section_by_index(index).map_err(|error| error.to_string())?;
        let data = section.data().map_err(|error| error.to_string())?;
        let offset = symbol.address().wrapping_sub(section.address());
        let start = usize::try_from(offset).ok().filter(|at| *at <= data.len()).ok_or("outside its section")?;
        let next = file.symbols().filter(|s| s.section_index() == Some(index) && s.kind() == SymbolKind::Text);
        let next = next.map(|s| s.address()).filter(|at| *at > symbol.address()).min();
        let end = match (symbol.size(), next) {
            (0, Some(next)) => usize::try_from(next.wrapping_sub(section.address())).unwrap_or(data.len()),
            (0, None) => data.len(),
            (size, _) => start.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)),
        };
        let bytes = data[start..end.clamp(start, data.len())].to_vec();
        let (mut hash, mut relocations) = (Sha256::new(), Vec::new());
        hash.update(&bytes);
        for (at, relocation) in section.relocations() {
            let Some(at) = at.checked_sub(start as u64).filter(|at| *at < bytes.len() as u64) else { continue };
            relocations.push(at as usize);
            let target = target(&file, relocation.target(), relocation.addend());
            hash.update(format!("{at} {:?} {target}\n", relocation.flags()));
        }
        let names = |wanted: fn(&object::Symbol<'_, '_>) -> bool| -> BTreeSet<String> {
            let names = file.symbols().filter(wanted).filter_map(|symbol| symbol.name().ok());
            names.filter(|name| !name.is_empty()).map(str::to_string).collect()
        };
        let undefined = names(|symbol| symbol.is_undefined());
        let global = names(|symbol| symbol.is_global() && !symbol.is_undefined());
        let (changes, calls) = changes(&bytes);
        let is_called = is_called(&file, &symbol, bytes.len() as u64);
        Ok(Code { bytes, identity: hash.finalize().into(), changes, calls, is_called, relocations, undefined, global })
    }

    /// Does it leave all registers alone that the other leaves alone? Callers in the same file may count on it.
    pub fn spares(&self, other: &Code) -> bool {
        other.calls || !self.calls && self.changes.is_subset(&other.changes)
    }
}

/// What a relocation means, without where anonymous data lies.
fn target(file: &object::File<'_>, target: RelocationTarget, addend: i64) -> String {
    /// As much as any constant that code loads at once.
    const CONSTANT: usize = 64;
    let RelocationTarget::Symbol(index) = target else { return format!("{target:?} {addend}") };
    let Ok(symbol) = file.symbol_by_index(index) else { return format!("{index:?} {addend}") };
    let name = symbol.name().unwrap_or_default();
    if symbol.kind() != SymbolKind::Section && !name.starts_with(".L") {
        return format!("{name} {addend}");
    }
    let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
    let Some(section) = section else { return format!("{name} {addend}") };
    let data = section.data().unwrap_or_default();
    // Addends of references relative to the instruction pointer count from the next instruction, a few bytes on.
    let from = usize::try_from(symbol.address() as i64 + addend).unwrap_or(0).min(data.len());
    let relocated = section.relocations().next().is_some();
    let place = if relocated { format!("{addend}") } else { String::new() };
    format!("{} {place} {:02x?}", section.name().unwrap_or_default(), &data[from..data.len().min(from + CONSTANT)])
}

/// Does code outside the function lead into it?
fn is_called(file: &object::File<'_>, function: &object::Symbol<'_, '_>, size: u64) -> bool {
    let range = function.address()..function.address().saturating_add(size);
    file.sections().filter(|section| section.kind() == object::SectionKind::Text).any(|section| {
        let here = function.section_index() == Some(section.index());
        let outside = |at: u64| !(here && range.contains(&(section.address().wrapping_add(at))));
        let referred = section.relocations().any(|(at, relocation)| {
            let RelocationTarget::Symbol(index) = relocation.target() else { return false };
            let Ok(symbol) = file.symbol_by_index(index) else { return false };
            let near = symbol.address().wrapping_add_signed(relocation.addend() + 4);
            let inside = symbol.section_index() == function.section_index() && range.contains(&near);
            outside(at) && (symbol.index() == function.index() || symbol.kind() == SymbolKind::Section && inside)
        });
        let Ok(data) = section.data() else { return true };
        let mut decoder = Decoder::with_ip(64, data, section.address(), DecoderOptions::NONE);
        let leads = |i: &Instruction| {
            let near = matches!(i.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
            near && !range.contains(&i.ip()) && range.contains(&i.near_branch_target())
        };
        referred || here && decoder.iter().any(|i| leads(&i))
    })
}

/// Registers that code changes, whole, and whether it calls somebody or leaves for elsewhere.
fn changes(bytes: &[u8]) -> (BTreeSet<Register>, bool) {
    let (mut changed, mut calls) = (BTreeSet::new(), false);
    let mut facts = InstructionInfoFactory::new();
    let end = bytes.len() as u64;
    for instruction in &mut Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE) {
        let leaves = match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall | FlowControl::IndirectBranch => true,
            FlowControl::UnconditionalBranch => instruction.near_branch_target() >= end,
            _ => false,
        };
        calls |= leaves;
        for used in facts.info(&instruction).used_registers() {
            if !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess) {
                changed.insert(used.register().full_register());
            }
        }
    }
    (changed, calls)
}
