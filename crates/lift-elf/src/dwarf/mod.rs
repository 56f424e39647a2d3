//! Debug information: signatures, parameters, local objects, lines, names of function-local statics.
//!
//! Everything here is optional: where it is missing or broken, less is known. What it says about signatures and
//! locals becomes a named assumption of a verdict, so a wrong word in it makes no silent wrong proof.

mod classify;
mod lines;
mod sections;
mod source;
mod source_types;
mod structure;
mod types;
mod unit;

use crate::container::{AddressMap, Kind, Place, Section, Symbol};
use program::{Local, Parameter, Register, Signature, SourceLine};
use rustc_hash::{FxHashMap, FxHashSet};
pub(crate) use structure::{Care, Packed, Type, TypeId, TypeTable};

/// Sizes of accesses.
pub(crate) const WIDTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// What debug information says about a file.
#[derive(Default)]
pub(crate) struct Debug {
    /// Functions with code, by their first instruction.
    pub functions: FxHashMap<Place, Described>,
    /// Signatures by linker name; `None` where declarations disagree or say nothing.
    pub signatures: FxHashMap<String, Option<Signature>>,
    /// Names of function-local statics: `function.name`.
    pub statics: FxHashMap<Place, String>,
    /// Structure of the types of variables, parameters and results.
    pub types: TypeTable,
    /// The same with names, for conditions in the source's words.
    pub source_types: std::sync::Arc<program::SourceTypes>,
    /// Types of variables by their place.
    pub variables: FxHashMap<Place, TypeId>,
    /// Alignments that declarations of variables ask for, by their place.
    pub alignments: FxHashMap<Place, u64>,
    /// Variables in several parts, or with a part missing.
    pub split: Vec<crate::split::Parts>,
    /// Variables in one byte.
    pub shrunken: Vec<crate::split::Shrunken>,
    /// Units, and sizes of volatile types that they have pointers to.
    pub volatile_targets: std::collections::BTreeSet<(u32, u64)>,
    /// Units, and sizes of the volatile members and elements of their types.
    pub volatile_members: std::collections::BTreeSet<(u32, u64)>,
    /// Units that describe every type to which something is cast.
    pub described_casts: std::collections::BTreeSet<u32>,
    /// Registers that function types of units name as arguments; `None` where one says nothing (no prototype, or any number).
    pub function_arguments: std::collections::BTreeMap<u32, Option<std::collections::BTreeSet<Register>>>,
    /// Units that describe types, and so their variables, of which none outside functions is in a register.
    pub kept_in_memory: std::collections::BTreeSet<u32>,
    /// Units whose types are described in other units.
    pub foreign_types: std::collections::BTreeSet<u32>,
    /// Variables with a volatile part.
    pub volatile: FxHashSet<Place>,
    /// Types of other files' variables by unit and linker name.
    pub other_variables: FxHashMap<(u32, String), TypeId>,
    /// Other files' variables by linker name: does every declaration say `const`?
    pub constants: FxHashMap<String, bool>,
    /// Variables of the file by their place: is everything that is described there `const`?
    pub described: FxHashMap<Place, bool>,
    /// Units that were read, and those that were passed over.
    pub units: [u32; 2],
    /// Result types of other files' functions by unit and linker name.
    pub other_results: FxHashMap<(u32, String), TypeId>,
    pub lines: lines::Lines,
    /// The source texts of units, by their numbers, where they are identified.
    pub sources: FxHashMap<u32, std::sync::Arc<program::SourceText>>,
    /// Why it could not be read to the end.
    pub trouble: Option<String>,
}

/// A compiler that debug information names.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Producer {
    Gnu,
    Clang,
    #[default]
    Other,
}

/// What debug information says about a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Described {
    pub name: String,
    pub signature: Option<Signature>,
    pub parameters: Vec<Parameter>,
    /// Types of the parameters, as many as there are parameters.
    pub parameter_types: Vec<Option<TypeId>>,
    /// Type of the result.
    pub result: Option<TypeId>,
    /// Number of the unit that describes it.
    pub unit: u32,
    /// Was it compiled without an optimiser?
    pub unoptimised: bool,
    /// Does a variable change its place? Then a slot of the frame may hold more than its variable.
    pub moves_variables: bool,
    /// Is it written in C?
    pub is_c: bool,
    /// Who has compiled it?
    pub producer: Producer,
    /// Has gcc compiled it, and no attribute asked for an optimiser? (Not said of functions that call nobody.)
    pub is_gnu: bool,
    /// Is the body of another function inlined?
    pub inlines: bool,
    /// Is a variable elsewhere than at a constant place in memory?
    pub has_registers: bool,
    /// Is there a variable with a volatile part of which it is not known where it lies?
    pub unplaced_volatile: bool,
    /// Locals whose place in the frame is constant.
    pub locals: Vec<TypedLocal>,
    /// Locals relative to `rbp`; valid if the function sets up a frame pointer at once.
    pub locals_by_rbp: Vec<TypedLocal>,
    /// Locals relative to `rsp` as the prologue leaves it.
    pub locals_by_rsp: Vec<TypedLocal>,
    /// Registers that calls are said to pass, by the end of the call (or the start of a tail jump) from the function's start.
    pub passed: Vec<(u64, Register)>,
}

impl Described {
    /// Is every value that the function loads for one use, if no optimiser saw it? gcc shares what it inlines and variables that it
    /// keeps in registers; clang shares loads wherever it does not select instructions one by one, and sizes of types.
    pub fn loads_once(&self) -> bool {
        self.is_c && self.is_gnu && !self.inlines && !self.has_registers
    }
}

/// A local with its type.
#[derive(Clone, Debug)]
pub(crate) struct TypedLocal {
    pub local: Local,
    pub type_id: Option<TypeId>,
}

/// Addresses of a file's debug information: in relocatable objects every section gets addresses of its own.
#[derive(Clone, Copy)]
pub(crate) struct Addresses<'a> {
    pub kind: Kind,
    pub map: &'a AddressMap,
    pub sections: &'a [Section],
    pub symbols: &'a [Symbol],
}

impl Addresses<'_> {
    /// Address that stands for a place in the relocated debug sections.
    fn address(&self, place: Place) -> u64 {
        let section = &self.sections[place.section as usize];
        match self.kind {
            Kind::Relocatable if section.is_loaded() => {
                ((u64::from(place.section) + 1) << 32).wrapping_add(place.offset)
            }
            Kind::Relocatable => place.offset,
            _ => section.address.wrapping_add(place.offset),
        }
    }

    /// The place that an address of the debug information stands for.
    fn place(&self, address: u64) -> Option<Place> {
        if self.kind == Kind::Relocatable {
            let section = u32::try_from((address >> 32).checked_sub(1)?).ok()?;
            let offset = address & 0xffff_ffff;
            return (offset <= self.sections.get(section as usize)?.size).then_some(Place { section, offset });
        }
        self.map.find(address)
    }
}

impl Debug {
    /// Reads the debug information of a file.
    pub fn read(bytes: &[u8], addresses: Addresses) -> Debug {
        let mut debug = Debug::default();
        let loaded = sections::Sections::load(bytes, addresses);
        if let Err(error) = unit::read_units(&loaded, addresses, &mut debug) {
            debug.trouble = Some(error.to_string());
        }
        debug.lines.finish();
        debug
    }

    /// Does it describe all variables? An assembler describes none, old versions are not read.
    pub fn is_complete(&self) -> bool {
        self.trouble.is_none() && self.units[0] > 0 && self.units[1] == 0
    }

    /// The source line of a place.
    pub fn line(&self, place: Place) -> Option<SourceLine> {
        self.lines.find(place)
    }
}
