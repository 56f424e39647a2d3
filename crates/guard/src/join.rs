//! One object of two functions and the code in front.
//!
//! The result is the original's file with everything in it. The function's symbol moves to a new section, which holds the
//! code in front and the candidate's code; the original's code stays where it is, under a local name that says whose piece it
//! is (`f.cold`). Whoever referred to the function refers to the guarded one now, without its debug information and unwind
//! tables, which are about the code that stays.

use crate::compiler::Accumulator;
use crate::dispatcher::{self, Dispatcher};
use crate::elf::{Elf, Relocation, Section, Symbol};
use crate::import::{Import, congruent};
use crate::listing::Named;
use crate::piece::{self, Extent, ObjectPiece};
use crate::{Refusal, unwind};
use condition::Interface;
use kernel::Expression;
use object::elf;
use term::Axiom;

/// What decides between two functions, and how they are called.
#[derive(Clone, Copy, Debug)]
pub struct Guarded<'a> {
    /// What must hold for the candidate to run, all of it.
    pub conjuncts: &'a [Expression],
    /// What floating-point operations are taken to satisfy besides: no code can find out.
    pub axioms: &'a [Axiom],
    /// What the condition is about.
    pub interface: &'a Interface,
    /// May the function be called with more arguments than it names?
    pub variadic: Variadic,
}

/// Whether a function may have further arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variadic {
    /// It has not.
    No,
    /// It has, or nobody knows.
    Perhaps,
}

/// An object with a guarded function, not proved yet.
#[derive(Clone, Debug)]
pub struct GuardedObject {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The local name of the original's code.
    pub original: String,
    /// Instructions in front.
    pub instructions: usize,
    /// Bytes in front, with those that align the candidate.
    pub front: u64,
    /// Where the candidate's code ends, but for pieces that its compiler moved away.
    pub body_end: u64,
    /// Bytes of the function's symbol.
    pub size: u64,
    /// Parts of the condition that read memory.
    pub cells: usize,
}

/// Joins two functions by a guard. The object is what must be proved before anybody uses it.
pub fn build(original: &ObjectPiece, candidate: &ObjectPiece, guarded: &Guarded) -> Result<GuardedObject, Refusal> {
    if let Some(axiom) = guarded.axioms.first() {
        let why = "it is a law of real numbers, not a property of the arguments".to_string();
        return Err(Refusal::Condition { part: format!("fp({axiom})"), why });
    }
    let accumulator = match guarded.variadic {
        Variadic::No => Accumulator::Free,
        Variadic::Perhaps => Accumulator::Kept,
    };
    let dispatcher = dispatcher::compile(guarded.conjuncts, guarded.interface, accumulator)?;
    let mut elf = Elf::read(original.bytes).map_err(Refusal::original)?;
    let theirs = Elf::read(candidate.bytes).map_err(Refusal::candidate)?;
    let ours = piece::find(&elf, original.function).map_err(Refusal::original)?;
    let new = piece::find(&theirs, candidate.function).map_err(Refusal::candidate)?;
    if elf.sections[ours.section].has(elf::SHF_GROUP) {
        let why = format!("`{}` is in a group of which the linker keeps one", original.function);
        return Err(Refusal::original(why));
    }
    join(&mut elf, &theirs, [ours, new], &dispatcher, original.function)
}

fn join(
    elf: &mut Elf,
    theirs: &Elf,
    [ours, new]: [Extent; 2],
    dispatcher: &Dispatcher,
    function: &str,
) -> Result<GuardedObject, Refusal> {
    let failed = |what: String| Refusal::original(format!("the guard cannot be assembled: {what}"));
    let (code, fields) = dispatcher.code.encode().map_err(failed)?;
    let landing = landing_pad(elf, ours);
    let align = theirs.sections[new.section].align.max(16);
    let body = congruent((landing.len() + code.len()) as u64, new.start, align);
    let mut front = landing.to_vec();
    front.extend(&code);
    fill(&mut front, body as usize);

    let kept = move_name(elf, ours, function);
    let source = &elf.sections[ours.section];
    let home = elf.add_section(Section {
        name: source.name.clone(),
        kind: elf::SHT_PROGBITS,
        flags: source.flags,
        link: 0,
        info: 0,
        align: align.max(source.align),
        entity: 0,
        size: 0,
        content: Vec::new(),
    });
    redirect(elf, ours, home, kept).map_err(Refusal::original)?;
    let (content, placed) = Import::new(theirs, elf, home, front).function(new, body).map_err(Refusal::candidate)?;
    let size = content.len() as u64;
    elf.sections[home].content = content;
    elf.sections[home].size = size;
    let here = elf.symbols.iter_mut().filter(|s| usize::from(s.section) == home && s.kind != elf::STT_SECTION);
    here.for_each(|symbol| symbol.size = size);
    let mut relocations = Vec::new();
    for field in fields {
        let (symbol, kind) = match &field.names {
            Named::Original => (kept, elf::R_X86_64_PLT32),
            Named::Slot(name) => (variable(elf, name)?, elf::R_X86_64_REX_GOTPCRELX),
        };
        let offset = landing.len() as u64 + field.offset;
        relocations.push(Relocation { offset, kind, symbol, addend: -4 });
    }
    elf.add_relocations(home, &relocations);
    unwind::describe(theirs, elf, &placed, home).map_err(Refusal::candidate)?;
    let name = elf.symbols[kept].title();
    let bytes = elf.clone().write().map_err(failed)?;
    let (instructions, cells) = (dispatcher.code.instructions(), dispatcher.cells);
    let body_end = body + (new.end - new.start);
    Ok(GuardedObject { bytes, original: name, instructions, front: body, body_end, size, cells })
}

/// The mark at which indirect calls may arrive, if the original has it.
fn landing_pad(elf: &Elf, function: Extent) -> &'static [u8] {
    const MARK: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
    let code = elf.sections[function.section].content.get(function.start as usize..).unwrap_or(&[]);
    if code.starts_with(MARK) { MARK } else { &[] }
}

/// Fills up to a length with instructions that do nothing, or one jump and what is never reached.
fn fill(code: &mut Vec<u8>, length: usize) {
    let gap = length.saturating_sub(code.len());
    if gap > MOST_FILLED {
        match i8::try_from(gap - 2) {
            Ok(distance) => code.extend([0xeb, distance as u8]),
            Err(_) => {
                code.push(0xe9);
                code.extend(((gap - 5) as u32).to_le_bytes());
            }
        }
        code.resize(length, 0xcc);
        return;
    }
    while code.len() < length {
        let longest = NOTHING.len().min(length - code.len());
        code.extend(NOTHING[longest - 1]);
    }
}

/// Longer gaps are jumped over.
const MOST_FILLED: usize = 18;

/// Instructions of 1 to 9 bytes that do nothing, as the manuals recommend them (Intel SDM vol. 2B, NOP).
const NOTHING: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// A local name for the code that stays; its symbol.
fn move_name(elf: &mut Elf, function: Extent, name: &str) -> usize {
    let taken = |name: &str| elf.symbols.iter().any(|symbol| symbol.name == name.as_bytes());
    let mut kept = format!("{name}.cold");
    let mut number = 0;
    while taken(&kept) {
        kept = format!("{name}.cold.{number}");
        number += 1;
    }
    elf.add_symbol(Symbol {
        name: kept.into_bytes(),
        binding: elf::STB_LOCAL,
        kind: elf::STT_FUNC,
        other: 0,
        section: function.section as u16,
        value: function.start,
        size: function.end - function.start,
    })
}

/// Makes all names of the function stand for the new section. Descriptions of the code that stays go by its own name.
fn redirect(elf: &mut Elf, function: Extent, home: usize, kept: usize) -> Result<(), String> {
    let mut moved = Vec::new();
    for (index, symbol) in elf.symbols.iter_mut().enumerate() {
        let here = usize::from(symbol.section) == function.section && symbol.value == function.start;
        if here && index != kept && symbol.names_code() && symbol.kind != elf::STT_SECTION {
            (symbol.section, symbol.value) = (home as u16, 0);
            moved.push(index);
        }
    }
    for section in 0..elf.sections.len() {
        let described = &elf.sections[section];
        if !described.has(elf::SHF_ALLOC) || unwind::is_unwind(described) {
            elf.change_relocations(section, |relocation| {
                if moved.contains(&relocation.symbol) {
                    relocation.symbol = kept;
                }
            })?;
        }
    }
    Ok(())
}

/// The variable that a condition mentions.
fn variable(elf: &Elf, name: &str) -> Result<usize, Refusal> {
    let named: Vec<usize> = (0..elf.symbols.len()).filter(|i| elf.symbols[*i].name == name.as_bytes()).collect();
    match named[..] {
        [symbol] => Ok(symbol),
        _ => Err(Refusal::Condition {
            part: format!("&{name}"),
            why: "the original's file has no such name".to_string(),
        }),
    }
}
