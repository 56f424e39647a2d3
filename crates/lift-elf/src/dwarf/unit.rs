//! Walks the entries of each unit and collects functions, declarations, locals and statics.

use super::classify::Placement;
use super::sections::{Reader, Sections};
use super::source_types::SourceInterner;
use super::structure::{Interner, TypeId};
use super::types::Types;
use super::{Addresses, Debug, Described, Producer, TypedLocal, WIDTHS};
use crate::container::Place;
use crate::split::{Parts, Shrunken};
use gimli::constants as c;
use gimli::{AttributeValue, Operation, UnitOffset};
use program::{Local, Parameter, Register, Signature, SourceTypeId};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

type Entry<'a, 'b> = gimli::DebuggingInformationEntry<'a, 'a, Reader<'b>>;

/// The oldest version of debug information that says enough to be believed.
const OLDEST: u16 = 5;

/// Reads all units.
pub(crate) fn read_units(sections: &Sections, addresses: Addresses, debug: &mut Debug) -> gimli::Result<()> {
    let dwarf = sections.dwarf();
    let mut headers = dwarf.units();
    let mut number = 0;
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        let walker = Walker {
            types: Types::new(&dwarf, &unit),
            addresses,
            number,
            interner: RefCell::default(),
            source_interner: RefCell::default(),
            typed: OnceCell::new(),
        };
        // What an assembler describes is no more than its labels. Before the fifth version alignment, calls and casts that differ
        // from the usual leave no trace.
        let described = !walker.is_assembly() && unit.header.version() >= OLDEST;
        debug.units[usize::from(!described)] += 1;
        if described {
            walker.walk(debug)?;
        }
        debug.lines.read(&dwarf, &unit, addresses)?;
        if let Some(text) = super::source::source_text(&dwarf, &unit)? {
            debug.sources.insert(number, text.into());
        }
        number += 1;
    }
    Ok(())
}

struct Walker<'a, 'b> {
    types: Types<'a, 'b>,
    addresses: Addresses<'a>,
    /// Number of the unit.
    number: u32,
    interner: RefCell<Interner>,
    source_interner: RefCell<SourceInterner>,
    /// Does the unit describe types?
    typed: OnceCell<bool>,
}

/// What `DW_OP_fbreg` counts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameBase {
    /// The canonical frame address: `rsp` at entry plus 8.
    Canonical,
    /// `rbp`, which is `rsp` at entry minus 8 once the function has set it up.
    Rbp,
    /// `rsp` as the prologue leaves it.
    Rsp,
    Other,
}

/// A function whose entries are being walked.
struct Open {
    depth: isize,
    place: Option<Place>,
    /// Address of the first instruction, as the debug information counts.
    start: Option<u64>,
    name: String,
    base: FrameBase,
    described: Described,
    /// How many variables of a name the function had so far.
    names: FxHashMap<String, u32>,
}

impl<'a, 'b> Walker<'a, 'b> {
    const ALL_CALLS: [gimli::DwAt; 2] = [c::DW_AT_call_all_calls, c::DW_AT_GNU_all_call_sites];

    fn walk(&self, debug: &mut Debug) -> gimli::Result<()> {
        let mut entries = self.types.unit.entries();
        let mut depth = 0;
        let mut open: Vec<Open> = Vec::new();
        let mut site = None;
        let (mut typed, mut foreign, mut in_register) = (false, false, false);
        let is_c = self.is_c();
        while let Some((delta, entry)) = entries.next_dfs()? {
            depth += delta;
            typed |= entry.tag() == c::DW_TAG_base_type || entry.tag() == c::DW_TAG_pointer_type;
            foreign |= self.refers_elsewhere(entry);
            while let Some(done) = open.pop_if(|f| f.depth >= depth) {
                close(done, debug);
            }
            match entry.tag() {
                c::DW_TAG_subprogram => open.extend(self.subprogram(entry, depth, debug)),
                // In C++ code uses the members of classes that other units describe.
                c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
                    foreign |= !is_c && self.types.flag(entry, c::DW_AT_declaration);
                }
                tag @ (c::DW_TAG_pointer_type
                | c::DW_TAG_reference_type
                | c::DW_TAG_rvalue_reference_type
                | c::DW_TAG_ptr_to_member_type
                | c::DW_TAG_member
                | c::DW_TAG_array_type) => {
                    let pointed = !matches!(tag, c::DW_TAG_member | c::DW_TAG_array_type);
                    let known = if pointed { &mut debug.volatile_targets } else { &mut debug.volatile_members };
                    let sizes = self.volatile_target(entry);
                    known.extend(sizes.into_iter().map(|size| (self.number, size)));
                }
                c::DW_TAG_inlined_subroutine => open.iter_mut().for_each(|f| f.described.inlines = true),
                c::DW_TAG_subroutine_type => self.note_function_type(entry, debug),
                c::DW_TAG_call_site | c::DW_TAG_GNU_call_site => site = self.call_site(entry),
                c::DW_TAG_call_site_parameter | c::DW_TAG_GNU_call_site_parameter => {
                    if let (Some(function), Some(site)) = (open.last_mut(), site) {
                        self.note_passed(entry, site, function);
                    }
                }
                c::DW_TAG_variable | c::DW_TAG_formal_parameter => {
                    if let Some(function) = open.last_mut().filter(|f| f.depth + 1 == depth) {
                        self.note_arrival(entry, function);
                    }
                    let elsewhere = !self.is_in_memory(entry);
                    open.iter_mut().for_each(|f| f.described.has_registers |= elsewhere);
                    in_register |= open.is_empty() && elsewhere && entry.attr(c::DW_AT_location)?.is_some();
                    self.variable(entry, open.last_mut(), debug);
                }
                _ => {}
            }
        }
        while let Some(done) = open.pop() {
            close(done, debug);
        }
        // clang describes every type that is cast to, gcc does not. Before the fifth version `_Atomic` has no word.
        if typed && self.types.unit.header.version() >= 5 && self.producer().contains("clang") {
            debug.described_casts.insert(self.number);
        }
        if typed && !in_register {
            debug.kept_in_memory.insert(self.number);
        }
        if foreign {
            debug.foreign_types.insert(self.number);
        }
        Ok(())
    }

    /// Does an entry say its type in another unit, which is not read with this one?
    fn refers_elsewhere(&self, entry: &Entry<'a, 'b>) -> bool {
        [c::DW_AT_type, c::DW_AT_signature, c::DW_AT_import].into_iter().any(|name| match entry.attr_value(name) {
            Ok(Some(AttributeValue::UnitRef(_)) | None) => false,
            Ok(Some(_)) => self.types.reference(entry, name).is_none(),
            Err(_) => true,
        })
    }

    /// Who made the unit, and how.
    fn producer(&self) -> String {
        let mut entries = self.types.unit.entries();
        let unit = entries.next_dfs().ok().flatten();
        unit.and_then(|(_, unit)| self.types.text(unit, c::DW_AT_producer)).unwrap_or_default()
    }

    /// Follows `DW_AT_abstract_origin` and `DW_AT_specification` to the entry that says most.
    fn origin(&self, entry: &Entry<'a, 'b>) -> Option<UnitOffset> {
        let mut offset = entry.offset();
        for _ in 0..4 {
            let Ok(entry) = self.types.unit.entry(offset) else { break };
            let next = self.types.reference(&entry, c::DW_AT_abstract_origin);
            match next.or_else(|| self.types.reference(&entry, c::DW_AT_specification)) {
                Some(next) => offset = next,
                None => break,
            }
        }
        Some(offset)
    }

    fn subprogram(&self, entry: &Entry<'a, 'b>, depth: isize, debug: &mut Debug) -> Option<Open> {
        let types = &self.types;
        let root = types.unit.entry(self.origin(entry)?).ok()?;
        let name = types.text(entry, c::DW_AT_linkage_name).or_else(|| types.text(&root, c::DW_AT_linkage_name));
        let name = name.or_else(|| types.text(&root, c::DW_AT_name))?;
        let source_name = types.text(&root, c::DW_AT_name).unwrap_or_else(|| name.clone());
        let start = self.start(entry);
        let place = start.and_then(|address| self.addresses.place(address));
        let defined = place.is_some();
        let mut described = Described { name: name.clone(), ..Described::default() };
        (described.unit, described.result) = (self.number, self.type_of(&root, debug));
        described.unoptimised = self.is_unoptimised(entry) && self.is_unoptimised(&root);
        described.is_c = self.language().is_some() && self.is_c();
        // Of gcc's functions with calls, those are described so that an attribute or a pragma optimises.
        let all_calls = Self::ALL_CALLS.iter().any(|name| self.types.flag(entry, *name));
        let producer = self.producer();
        described.producer = match () {
            () if producer.starts_with("GNU ") => Producer::Gnu,
            () if producer.contains("clang version ") => Producer::Clang,
            () => Producer::Other,
        };
        described.is_gnu = described.producer == Producer::Gnu && !all_calls;
        if let Some(placement) = self.signature(&root, entry, defined) {
            described.signature = Some(placement.signature);
            described.parameters = placement.parameters;
            described.parameter_types = self.parameter_types(&root, debug);
            if defined {
                self.note_source_types(&root, &mut described.parameters, debug);
            }
        }
        // Functions of this file are known by their place; names of others are the linker's.
        if types.flag(&root, c::DW_AT_external) || types.flag(&root, c::DW_AT_declaration) {
            declare(debug, &name, described.signature.clone(), defined);
            if let Some(result) = described.result {
                debug.other_results.insert((self.number, name), result);
            }
        }
        let base = self.frame_base(entry);
        Some(Open { depth, place, start, name: source_name, base, described, names: FxHashMap::default() })
    }

    /// Was a function compiled without an optimiser? GNU compilers record their switches; others describe all calls of what
    /// they optimise, from the fourth version on.
    fn is_unoptimised(&self, entry: &Entry<'a, 'b>) -> bool {
        let (types, producer) = (&self.types, self.producer());
        let says = |names: &[gimli::DwAt]| names.iter().any(|name| types.flag(entry, *name));
        let optimised = says(&Self::ALL_CALLS);
        if producer.starts_with("GNU ") {
            let switches: Vec<&str> = producer.split(' ').filter(|word| word.starts_with('-')).collect();
            let level = switches.iter().rfind(|switch| switch.starts_with("-O"));
            return !switches.is_empty() && level.is_none_or(|level| *level == "-O0");
        }
        let tails = [c::DW_AT_call_all_source_calls, c::DW_AT_call_all_tail_calls, c::DW_AT_GNU_all_tail_call_sites];
        types.unit.header.version() >= 4 && !optimised && !says(&tails)
    }

    /// Sizes of what is accessed through a pointer to a volatile type, or as a volatile member or element; none for others.
    fn volatile_target(&self, pointer: &Entry<'a, 'b>) -> Vec<u64> {
        let types = &self.types;
        let mut target = types.reference(pointer, c::DW_AT_type);
        for _ in 0..8 {
            let Some(Ok(entry)) = target.map(|offset| types.unit.entry(offset)) else { return Vec::new() };
            match entry.tag() {
                c::DW_TAG_volatile_type | c::DW_TAG_atomic_type => {
                    let whole = matches!(pointer.attr(c::DW_AT_bit_size), Ok(None));
                    let shape = types.of(pointer).filter(|shape| whole && !shape.layout.aggregate);
                    return shape.map_or_else(|| WIDTHS.to_vec(), |shape| vec![shape.layout.size]);
                }
                c::DW_TAG_const_type | c::DW_TAG_typedef | c::DW_TAG_restrict_type => {
                    target = types.reference(&entry, c::DW_AT_type);
                }
                _ => return Vec::new(),
            }
        }
        Vec::new()
    }

    /// Is a variable at one constant place in memory, or of another file?
    fn is_in_memory(&self, entry: &Entry<'a, 'b>) -> bool {
        let types = &self.types;
        match entry.attr_value(c::DW_AT_location) {
            Ok(Some(AttributeValue::Exprloc(expression))) => matches!(
                single(types.unit, expression),
                Some(Operation::FrameOffset { .. } | Operation::Address { .. } | Operation::AddressIndex { .. })
            ),
            // A parameter of a type has no name.
            Ok(None) => types.flag(entry, c::DW_AT_declaration) || matches!(entry.attr(c::DW_AT_name), Ok(None)),
            _ => false,
        }
    }

    /// Notes the registers that a function of this type takes arguments in.
    fn note_function_type(&self, entry: &Entry<'a, 'b>, debug: &mut Debug) {
        let signature = self.signature(entry, entry, false).map(|placement| placement.signature);
        let known = signature.filter(|s| self.is_c() && !s.variadic && s.unsupported.is_none());
        let all = debug.function_arguments.entry(self.number).or_insert_with(|| Some(Default::default()));
        match (all.as_mut(), known) {
            (Some(all), Some(known)) => all.extend(known.arguments.iter().filter_map(|value| match value.place {
                program::Place::Register(register) => Some(register),
                program::Place::Stack(_) => None,
            })),
            _ => *all = None,
        }
    }

    /// Are vectors of 32 bytes passed in `ymm` registers? Only gcc says for which processor it compiles.
    fn has_ymm(&self) -> Option<bool> {
        let producer = self.producer();
        let switches: Vec<&str> = producer.split(' ').collect();
        let said = |switch: &str| switches.contains(&switch);
        let plain = !switches.iter().any(|s| s.starts_with("-mno-") || s.contains("512"));
        (producer.starts_with("GNU ") && plain && (said("-mavx") || said("-mavx2"))).then_some(true)
    }

    /// The first instruction of a function.
    fn start(&self, entry: &Entry<'a, 'b>) -> Option<u64> {
        let types = &self.types;
        match entry.attr_value(c::DW_AT_low_pc).ok()? {
            Some(value) => types.dwarf.attr_address(types.unit, value).ok()?,
            None => {
                let ranges = entry.attr_value(c::DW_AT_ranges).ok()??;
                Some(types.dwarf.attr_ranges(types.unit, ranges).ok()??.next().ok()??.begin)
            }
        }
    }

    /// Where a call returns to, or where a tail jump stands.
    fn call_site(&self, entry: &Entry<'a, 'b>) -> Option<u64> {
        let types = &self.types;
        let names = [c::DW_AT_call_return_pc, c::DW_AT_call_pc, c::DW_AT_low_pc];
        let value = names.into_iter().find_map(|name| entry.attr_value(name).ok().flatten())?;
        types.dwarf.attr_address(types.unit, value).ok()?
    }

    /// Notes a register that a call passes.
    fn note_passed(&self, entry: &Entry<'a, 'b>, site: u64, function: &mut Open) {
        let register = self.register_at(entry, None);
        let from = function.start.and_then(|start| site.checked_sub(start));
        if let (Some(register), Some(from)) = (register, from) {
            function.described.passed.push((from, register));
        }
    }

    /// Notes the register in which a parameter is at the first instruction.
    fn note_arrival(&self, entry: &Entry<'a, 'b>, function: &mut Open) {
        let types = &self.types;
        let root = self.origin(entry).and_then(|offset| types.unit.entry(offset).ok());
        let Some(name) = root.and_then(|root| types.text(&root, c::DW_AT_name)) else { return };
        let register = self.register_at(entry, function.start);
        if let Some(parameter) = function.described.parameters.iter_mut().find(|p| p.name == name) {
            parameter.arrives = register;
            parameter.located = matches!(entry.attr_value(c::DW_AT_location), Ok(Some(_)));
        }
    }

    fn register_at(&self, entry: &Entry<'a, 'b>, start: Option<u64>) -> Option<Register> {
        let types = &self.types;
        let expression = match entry.attr_value(c::DW_AT_location).ok()?? {
            AttributeValue::Exprloc(expression) => expression,
            list => {
                let first = types.dwarf.attr_locations(types.unit, list).ok()??.next().ok()??;
                if Some(first.range.begin) != start {
                    return None;
                }
                first.data
            }
        };
        // The general registers in the order of the debug information's numbers.
        const GENERAL: [u8; 8] = [0, 2, 1, 3, 6, 7, 5, 4];
        match single(types.unit, expression)? {
            Operation::Register { register: gimli::Register(n @ 0..=7) } => {
                Some(Register::General(GENERAL[usize::from(n)]))
            }
            Operation::Register { register: gimli::Register(n @ 8..=15) } => Some(Register::General(n as u8)),
            Operation::Register { register: gimli::Register(n @ 17..=32) } => Some(Register::Vector((n - 17) as u8)),
            _ => None,
        }
    }

    /// Places of parameters and result; `None` for a declaration without a prototype.
    fn signature(&self, root: &Entry<'a, 'b>, entry: &Entry<'a, 'b>, defined: bool) -> Option<Placement> {
        let types = &self.types;
        let prototype = types.flag(root, c::DW_AT_prototyped);
        if !(prototype || !self.is_c() || defined) {
            return None;
        }
        // Debug information without types says nothing about arguments and results.
        if !prototype && !self.has_types() {
            return None;
        }
        let prototyped = prototype || !self.is_c();
        let result = types.of(root);
        let mut placement = Placement::new(result.as_ref(), self.has_ymm());
        placement.signature.noreturn = types.flag(root, c::DW_AT_noreturn) || types.flag(entry, c::DW_AT_noreturn);
        for entry in [root, entry] {
            let convention = entry.attr_value(c::DW_AT_calling_convention);
            let unsupported = match convention {
                Ok(None) | Ok(Some(AttributeValue::CallingConvention(c::DW_CC_normal))) => continue,
                Ok(Some(AttributeValue::CallingConvention(c::DW_CC_nocall))) => Signature::CHANGED.to_string(),
                Ok(Some(AttributeValue::CallingConvention(other))) => format!("calling convention {:#x}", other.0),
                _ => "a calling convention that cannot be read".to_string(),
            };
            placement.signature.unsupported = Some(unsupported);
        }
        if [root, entry].iter().any(|e| !matches!(e.attr_value(c::DW_AT_static_link), Ok(None))) {
            placement.signature.unsupported = Some("a static chain in r10".to_string());
        }
        let mut tree = types.unit.entries_tree(Some(root.offset())).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let child = child.entry();
            match child.tag() {
                c::DW_TAG_formal_parameter => {
                    let name = types.text(child, c::DW_AT_name).unwrap_or_default();
                    let shape = types.of(child)?;
                    let layout = &shape.layout;
                    let promoted = !prototyped && layout.size < 8 && !layout.aggregate;
                    if promoted && matches!(layout.members[..], [only] if only.scalar == abi::Scalar::Sse) {
                        // Without a prototype a `float` arrives as a `double`.
                        placement.signature.unsupported = Some("a `float` parameter without a prototype".to_string());
                    }
                    placement.add(name, &shape, prototyped);
                }
                c::DW_TAG_unspecified_parameters => placement.signature.variadic = prototyped,
                _ => {}
            }
        }
        Some(placement)
    }

    /// The structure of the type that an entry has.
    fn type_of(&self, entry: &Entry<'a, 'b>, debug: &mut Debug) -> Option<TypeId> {
        let signature = |entry: &Entry<'a, 'b>| Some(self.signature(entry, entry, false)?.signature);
        self.interner.borrow_mut().of(&mut debug.types, &self.types, entry, &signature)
    }

    /// The type that an entry has, in the source's words.
    fn source_type_of(&self, entry: &Entry<'a, 'b>, debug: &mut Debug) -> Option<SourceTypeId> {
        let table = Arc::make_mut(&mut debug.source_types);
        self.source_interner.borrow_mut().of(table, &self.types, entry)
    }

    fn note_source_types(&self, root: &Entry<'a, 'b>, parameters: &mut [Parameter], debug: &mut Debug) {
        let Ok(mut tree) = self.types.unit.entries_tree(Some(root.offset())) else { return };
        let Ok(root) = tree.root() else { return };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let name = self.types.text(child.entry(), c::DW_AT_name).unwrap_or_default();
            // One that has no place is not listed.
            if child.entry().tag() == c::DW_TAG_formal_parameter
                && let Some(parameter) = parameters.iter_mut().find(|p| p.name == name)
            {
                parameter.source_type = self.source_type_of(child.entry(), debug);
            }
        }
    }

    fn parameter_types(&self, root: &Entry<'a, 'b>, debug: &mut Debug) -> Vec<Option<TypeId>> {
        let mut out = Vec::new();
        let Ok(mut tree) = self.types.unit.entries_tree(Some(root.offset())) else { return out };
        let Ok(root) = tree.root() else { return out };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            if child.entry().tag() == c::DW_TAG_formal_parameter {
                out.push(self.type_of(child.entry(), debug));
            }
        }
        out
    }

    /// Does the unit describe types at all (`-g1` does not)?
    fn has_types(&self) -> bool {
        *self.typed.get_or_init(|| {
            let mut entries = self.types.unit.entries();
            while let Ok(Some((_, entry))) = entries.next_dfs() {
                if entry.tag() == c::DW_TAG_base_type {
                    return true;
                }
            }
            false
        })
    }

    fn language(&self) -> Option<gimli::DwLang> {
        let mut entries = self.types.unit.entries();
        let (_, root) = entries.next_dfs().ok().flatten()?;
        match root.attr_value(c::DW_AT_language) {
            Ok(Some(AttributeValue::Language(language))) => Some(language),
            _ => None,
        }
    }

    fn is_assembly(&self) -> bool {
        self.language() == Some(c::DW_LANG_Mips_Assembler)
    }

    fn is_c(&self) -> bool {
        let c_languages = [c::DW_LANG_C, c::DW_LANG_C89, c::DW_LANG_C99, c::DW_LANG_C11, c::DW_LANG_C17];
        self.language().is_none_or(|language| c_languages.contains(&language))
    }

    /// Does an object of the entry's type never change? C++ has `mutable` members in `const` objects, and gcc does not tell.
    fn is_constant(&self, entry: &Entry<'a, 'b>) -> bool {
        self.types.is_constant(entry) && (self.is_c() || !self.types.has_members(entry))
    }

    fn frame_base(&self, entry: &Entry<'a, 'b>) -> FrameBase {
        let Ok(Some(AttributeValue::Exprloc(expression))) = entry.attr_value(c::DW_AT_frame_base) else {
            return FrameBase::Other;
        };
        match single(self.types.unit, expression) {
            Some(Operation::CallFrameCFA) => FrameBase::Canonical,
            Some(Operation::Register { register: gimli::Register(6) }) => FrameBase::Rbp,
            Some(Operation::Register { register: gimli::Register(7) }) => FrameBase::Rsp,
            _ => FrameBase::Other,
        }
    }

    /// A variable, or a parameter of a function: a local in the frame, a static, or something of another file.
    fn variable(&self, entry: &Entry<'a, 'b>, mut function: Option<&mut Open>, debug: &mut Debug) {
        let types = &self.types;
        let Some(root) = self.origin(entry).and_then(|offset| types.unit.entry(offset).ok()) else { return };
        let Some(name) = types.text(&root, c::DW_AT_name) else { return };
        let own = self.type_of(entry, debug).or_else(|| self.type_of(&root, debug));
        // Where several have one name, it is numbered. Those that an optimiser has removed, or keeps in another form, count too.
        let full_name = match function.as_deref_mut().filter(|_| entry.tag() == c::DW_TAG_variable) {
            Some(function) => {
                let number = function.names.entry(name.clone()).or_insert(0);
                let suffix = if *number == 0 { String::new() } else { format!(".{number}") };
                *number += 1;
                format!("{}.{name}{suffix}", function.name)
            }
            None => name.clone(),
        };
        let is_volatile = |debug: &Debug| own.is_some_and(|id| debug.types.has_volatile_part(id));
        let expression = match entry.attr_value(c::DW_AT_location) {
            Ok(Some(AttributeValue::Exprloc(expression))) => expression,
            Ok(Some(_)) => {
                function.into_iter().for_each(|f| {
                    f.described.moves_variables = true;
                    f.described.unplaced_volatile |= is_volatile(debug);
                });
                return;
            }
            _ => {
                if types.flag(entry, c::DW_AT_declaration)
                    && types.flag(entry, c::DW_AT_external)
                    && let Some(own) = own
                {
                    let name = types.text(entry, c::DW_AT_linkage_name).unwrap_or(name);
                    let constant = self.is_constant(entry) || self.is_constant(&root);
                    *debug.constants.entry(name.clone()).or_insert(true) &= constant;
                    if let Some(ty) = self.source_type_of(&root, debug) {
                        Arc::make_mut(&mut debug.source_types).add_variable(name.clone(), ty);
                    }
                    debug.other_variables.insert((self.number, name), own);
                }
                return;
            }
        };
        if let Some(parts) = self.parts(expression) {
            let volatile = types.is_volatile(entry) || types.is_volatile(&root);
            if let (Some(size), false) = (types.of(&root).map(|s| s.layout.size), volatile) {
                debug.split.push(Parts { name: full_name, size, parts });
            }
            let hidden = is_volatile(debug);
            function.into_iter().for_each(|f| f.described.unplaced_volatile |= hidden);
            return;
        }
        if let Some((place, meanings)) = self.in_a_byte(expression) {
            let volatile = types.is_volatile(entry) || types.is_volatile(&root);
            if let (Some(size), false) = (types.of(&root).map(|s| s.layout.size), volatile) {
                debug.shrunken.push(Shrunken { name: full_name, size, place, meanings });
            }
            return;
        }
        let address = match single(types.unit, expression) {
            Some(Operation::FrameOffset { offset }) => {
                if let Some(function) = function {
                    self.local(&root, function, name, offset, own);
                }
                return;
            }
            Some(Operation::Address { address }) => address,
            Some(Operation::AddressIndex { index }) => match types.dwarf.address(types.unit, index) {
                Ok(address) => address,
                Err(_) => return,
            },
            _ => {
                let hidden = is_volatile(debug);
                function.into_iter().for_each(|f| f.described.unplaced_volatile |= hidden);
                return;
            }
        };
        let Some(place) = self.addresses.place(address) else { return };
        let constant = self.is_constant(entry) || self.is_constant(&root);
        *debug.described.entry(place).or_insert(true) &= constant;
        if types.is_volatile(entry) || types.is_volatile(&root) {
            debug.volatile.insert(place);
        }
        if let Some(own) = own {
            debug.variables.entry(place).or_insert(own);
            if let Some(ty) = self.source_type_of(entry, debug).or_else(|| self.source_type_of(&root, debug)) {
                Arc::make_mut(&mut debug.source_types).add_variable(full_name.clone(), ty);
            }
        }
        let align = [entry, &root].into_iter().filter_map(|e| types.declared_alignment(e)).max();
        if let Some(align) = align {
            let known = debug.alignments.entry(place).or_insert(align);
            *known = align.max(*known);
        }
        if function.is_some() {
            debug.statics.entry(place).or_insert(full_name);
        }
    }

    /// The parts of a variable that is in several places of memory.
    fn parts(&self, expression: gimli::Expression<Reader<'b>>) -> Option<Vec<(Place, u64, u64)>> {
        let types = &self.types;
        let mut operations = expression.operations(types.unit.encoding());
        let (mut out, mut at, mut here) = (Vec::new(), 0u64, None);
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::Address { address } if here.is_none() => here = Some(address),
                Operation::AddressIndex { index } if here.is_none() => {
                    here = Some(types.dwarf.address(types.unit, index).ok()?);
                }
                Operation::Piece { size_in_bits, bit_offset: None } if size_in_bits % 8 == 0 => {
                    let size = size_in_bits / 8;
                    if let Some(address) = here.take() {
                        out.push((self.addresses.place(address)?, at, size));
                    }
                    at = at.checked_add(size)?;
                }
                _ => return None,
            }
        }
        (here.is_none() && !out.is_empty()).then_some(out)
    }

    /// `byte × factor + offset`: where the byte is, and what 0 and 1 mean.
    fn in_a_byte(&self, expression: gimli::Expression<Reader<'b>>) -> Option<(Place, [u64; 2])> {
        let types = &self.types;
        let mut operations = expression.operations(types.unit.encoding());
        let mut next = || operations.next().ok().flatten();
        let number = |operation: Operation<Reader<'b>>| match operation {
            Operation::UnsignedConstant { value } => Some(value),
            Operation::SignedConstant { value } => Some(value as u64),
            _ => None,
        };
        let address = match next()? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => types.dwarf.address(types.unit, index).ok()?,
            _ => return None,
        };
        let Operation::Deref { size: 1, space: false, .. } = next()? else { return None };
        let mut factor = number(next()?)?;
        let mut operation = next()?;
        // LLVM says −1 as the complement of 0.
        if operation == Operation::Not {
            (factor, operation) = (!factor, next()?);
        }
        let Operation::Mul = operation else { return None };
        let offset = match next()? {
            Operation::PlusConstant { value } => value,
            operation => {
                let value = number(operation)?;
                let Operation::Plus = next()? else { return None };
                value
            }
        };
        let (Operation::StackValue, None) = (next()?, next()) else { return None };
        Some((self.addresses.place(address)?, [offset, offset.wrapping_add(factor)]))
    }

    fn local(&self, root: &Entry<'a, 'b>, function: &mut Open, name: String, offset: i64, own: Option<TypeId>) {
        let Some(shape) = self.types.of(root).filter(|s| s.layout.size > 0) else { return };
        let (size, align) = (shape.layout.size, self.types.declared_alignment(root).unwrap_or(1));
        let local = |offset| TypedLocal { local: Local { name, offset, size, align }, type_id: own };
        match function.base {
            FrameBase::Canonical => function.described.locals.push(local(offset.saturating_add(8))),
            FrameBase::Rbp => function.described.locals_by_rbp.push(local(offset.saturating_sub(8))),
            FrameBase::Rsp => function.described.locals_by_rsp.push(local(offset)),
            FrameBase::Other => {}
        }
    }
}

/// The operation of an expression that has exactly one.
fn single<'b>(
    unit: &gimli::Unit<Reader<'b>>,
    expression: gimli::Expression<Reader<'b>>,
) -> Option<Operation<Reader<'b>>> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    matches!(operations.next(), Ok(None)).then_some(first)
}

/// Notes a signature under a linker name. A definition beats declarations; declarations must agree.
fn declare(debug: &mut Debug, name: &str, signature: Option<Signature>, defined: bool) {
    match debug.signatures.get_mut(name) {
        None => {
            debug.signatures.insert(name.to_string(), signature);
        }
        Some(known) if defined => *known = signature,
        Some(known) => {
            if known.is_none() {
                *known = signature;
            } else if signature.is_some() && *known != signature {
                let unsupported = Some("declarations that disagree".to_string());
                *known = Some(Signature { unsupported, ..Signature::default() });
            }
        }
    }
}

fn close(function: Open, debug: &mut Debug) {
    if let Some(place) = function.place {
        debug.functions.entry(place).or_insert(function.described);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{compiled, lifted};
    use expect_test::expect;
    use program::{Place, Signature, Value};
    use std::fmt::Write as _;

    fn value(value: &Value) -> String {
        let place = match value.place {
            Place::Register(register) => register.name(),
            Place::Stack(at) => format!("stack+{at}"),
        };
        let narrow =
            value.narrow.map_or(String::new(), |n| format!("<{}{}", if n.signed { "s" } else { "u" }, n.bytes));
        format!("{place}:{}{}{narrow}", value.bytes, if value.boolean { "b" } else { "" })
    }

    fn signature(signature: &Signature) -> String {
        let list = |values: &[Value]| values.iter().map(value).collect::<Vec<_>>().join(" ");
        let mut out = format!("({}) -> ({})", list(&signature.arguments), list(&signature.results));
        let marks = [(signature.variadic, " variadic"), (signature.noreturn, " noreturn")];
        marks.iter().filter(|(holds, _)| *holds).for_each(|(_, mark)| out.push_str(mark));
        if let Some(what) = &signature.unsupported {
            let _ = write!(out, " unsupported: {what}");
        }
        out
    }

    #[test]
    fn pointers_tell_where_their_elements_lie() {
        let text = "
            typedef int loose __attribute__((aligned(1))); typedef loose alias; typedef double plain;
            struct packed { char c; int i; } __attribute__((packed)); enum e { A };
            void f(int *a, const plain *b, short (*c)[8], char **d, enum e *e, unsigned char *g, loose *h, const alias *i,
                loose (*j)[4], struct packed *k, void *l, _Complex float *m, int n) {}
        ";
        let image = compiled(text, "cc -c -g -O0 -w");
        let (_, function) = lifted(&image, "f");
        let elements: Vec<u16> = function.expect("a graph").parameters.iter().map(|p| p.element).collect();
        assert_eq!(elements, [4, 8, 2, 8, 4, 1, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn signatures_follow_the_calling_convention() {
        let text = "
            struct two { int a; double b; }; struct big { long x[4]; }; struct mix { float f, g; int i; };
            struct padded { char c; short s; int i; }; struct bits { unsigned a : 3, b : 20; };
            struct packed { char c; int i; } __attribute__((packed)); union either { double d; long l; };
            long all(char a, short b, _Bool c, struct two t, struct big g, float x, double y, struct mix m,
                unsigned char *restrict p, long q, int r, unsigned char last) { return 0; }
            struct big hidden(int a) { struct big b = {{a}}; return b; }
            struct two mixed(struct padded a, struct bits b, struct packed c, union either d) { struct two t = {0}; return t; }
            _Bool truth(int a) { return a; } signed char narrow(void) { return 1; }
            __int128 wide(long a, long b, long c, long d, long e, __int128 f) { return f; }
            long double extended(long double x) { return x; } int printer(const char *f, ...) { return 0; }
            int old(a, b) int a; char b; { return a + b; } _Complex double rotate(_Complex double z) { return z; }
            extern int known(int, char *); extern int unknown(); extern void die(void) __attribute__((noreturn));
            int calls(int a) { unknown(a); if (a) die(); return known(a, 0) + printer(\"\"); }
        ";
        let image = compiled(text, "cc -c -g -O0 -w");
        let mut out = String::new();
        for name in ["all", "hidden", "mixed", "truth", "narrow", "wide", "extended", "printer", "old", "rotate"] {
            let _ = writeln!(out, "{name}{}", signature(image.signature(name).expect(name)));
        }
        let (_, calls) = lifted(&image, "calls");
        for (name, callee) in &calls.expect("a graph").callees {
            let _ = writeln!(out, "calls {name}{}", signature(callee));
        }
        expect![[r#"
            all(rdi:4<s1 rsi:4<s2 rdx:1b rcx:4 xmm0:8 stack+0:8 stack+8:8 stack+16:8 stack+24:8 xmm1:4 xmm2:8 xmm3:8 r8:4 r9:8 stack+32:8 stack+40:4 stack+48:4<u1) -> (rax:8)
            hidden(rdi:8 rsi:4) -> (rax:8)
            mixed(rdi:8 rsi:3 stack+0:5 rdx:8) -> (rax:4 xmm0:8)
            truth(rdi:4) -> (rax:1b)
            narrow() -> (rax:1)
            wide(rdi:8 rsi:8 rdx:8 rcx:8 r8:8 stack+0:8 stack+8:8) -> (rax:8 rdx:8)
            extended(stack+0:8 stack+8:2) -> () unsupported: a result in the x87 stack
            printer(rdi:8) -> (rax:4) variadic
            old(rdi:4 rsi:4) -> (rax:4)
            rotate(xmm0:8 xmm1:8) -> (xmm0:8 xmm1:8)
            calls die() -> () noreturn
            calls known(rdi:4 rsi:8) -> (rax:4)
            calls printer(rdi:8) -> (rax:4) variadic
        "#]].assert_eq(&out);
    }

    #[test]
    fn parameters_arrive_in_registers() {
        let text = "int f(int a, int *b, double c, int unused) { return a + *b + (int)c; }";
        let shown = |command: &str| {
            let (_, function) = lifted(&compiled(text, command), "f");
            let mut out = String::new();
            for p in function.expect("a graph").parameters {
                let place = p.arrives.map_or("nowhere".to_string(), |r| r.name());
                let _ = write!(out, "{} {place} {}; ", p.name, p.located);
            }
            out
        };
        assert_eq!(shown("cc -c -g -O1"), "a rdi true; b rsi true; c xmm0 true; unused rdx true; ");
        assert_eq!(shown("cc -c -g -O0"), "a nowhere true; b nowhere true; c nowhere true; unused nowhere true; ");
    }

    #[test]
    fn locals_of_optimised_code_lie_below_the_stack_pointer() {
        let text =
            "void use(void *, void *); int f(int a) { int array[10]; long x; use(array, &x); return array[a] + x; }";
        let shown = |command: &str| {
            let (_, function) = lifted(&compiled(text, command), "f");
            let locals = function.expect("a graph").locals;
            let inside = locals.iter().all(|l| l.offset < 0 && l.offset + l.size as i64 <= 0);
            let mut names: Vec<String> = locals.iter().map(|l| format!("{}+{}", l.name, l.size)).collect();
            names.sort();
            (names.join(" "), inside)
        };
        for command in ["cc -c -g -O2 -fno-stack-protector", "clang-19 -c -g -O2", "clang-19 -c -g -O1"] {
            assert_eq!(shown(command), ("array+40 x+8".to_string(), true), "{command}");
        }
    }

    #[test]
    fn locals_lie_in_the_frame() {
        let text = "void use(void *); struct big { long x[4]; };
            int f(int a, struct big g) { int array[10]; { char inner[3]; use(inner); } use(array); use(&g); return a; }";
        let image = compiled(text, "cc -c -g -O0 -fno-stack-protector");
        let (_, function) = lifted(&image, "f");
        let function = function.expect("a graph");
        let names = |f: &program::Function| {
            f.locals.iter().map(|l| format!("{}+{}", l.name, l.size)).collect::<Vec<_>>().join(" ")
        };
        let mut sorted: Vec<String> = names(&function).split(' ').map(str::to_string).collect();
        sorted.sort();
        assert_eq!(sorted, ["a+4", "array+40", "g+32", "inner+3"]);
        assert!(function.locals.iter().any(|l| l.name == "g" && l.offset == 8));
        let line = function.lines.find(0).expect("a line");
        assert_eq!((line.file.as_str(), line.line), ("test.c", 2));
    }
}
