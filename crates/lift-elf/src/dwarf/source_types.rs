//! Types with the names of their members, for conditions in the source's words.
//!
//! What [`super::structure`] has is for following pointers through code and knows no names and no signs; proofs rest on it, none
//! rests on this. Only types that parameters of functions with code and variables lead to are read, each once.

use super::sections::Reader;
use super::types::Types;
use gimli::UnitOffset;
use gimli::constants as c;
use program::{SourceMember, SourceType, SourceTypeId, SourceTypes};
use rustc_hash::FxHashMap;

type Entry<'a, 'b> = gimli::DebuggingInformationEntry<'a, 'a, Reader<'b>>;

/// Types of a file that are read; further ones are unknown.
const MOST_TYPES: usize = 1 << 18;
/// How many qualifiers and names of a type are looked through.
const MAX_DEPTH: u32 = 32;

/// Makes a file's types of the entries of one unit.
#[derive(Default)]
pub(crate) struct SourceInterner {
    known: FxHashMap<UnitOffset, SourceTypeId>,
    waiting: Vec<(SourceTypeId, UnitOffset)>,
}

impl SourceInterner {
    /// The type that an entry's `DW_AT_type` names, with all that it leads to; `None` for `void`.
    pub fn of<'a, 'b>(
        &mut self,
        table: &mut SourceTypes,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
    ) -> Option<SourceTypeId> {
        let id = self.target(table, types, entry);
        while let Some((id, offset)) = self.waiting.pop() {
            if let Ok(entry) = types.unit.entry(offset) {
                let ty = self.read(table, types, &entry);
                table.define(id, ty);
                self.note_name(table, types, &entry, id);
            }
        }
        id
    }

    /// Looks through names and qualifiers.
    fn target<'a, 'b>(
        &mut self,
        table: &mut SourceTypes,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
    ) -> Option<SourceTypeId> {
        let mut offset = types.reference(entry, c::DW_AT_type)?;
        let mut names = Vec::new();
        for _ in 0..MAX_DEPTH {
            let entry = types.unit.entry(offset).ok()?;
            match entry.tag() {
                c::DW_TAG_typedef => names.extend(types.text(&entry, c::DW_AT_name)),
                c::DW_TAG_const_type | c::DW_TAG_volatile_type | c::DW_TAG_atomic_type | c::DW_TAG_restrict_type => {}
                _ => break,
            }
            // A name for `void` has no type.
            offset = types.reference(&entry, c::DW_AT_type)?;
        }
        let id = match self.known.get(&offset) {
            Some(id) => *id,
            None => {
                let id = table.add(SourceType::Other { what: "a type that is not described".to_string(), size: 0 });
                self.known.insert(offset, id);
                if table.len() < MOST_TYPES {
                    self.waiting.push((id, offset));
                }
                id
            }
        };
        names.into_iter().for_each(|name| table.name(name, id));
        Some(id)
    }

    fn read<'a, 'b>(&mut self, table: &mut SourceTypes, types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> SourceType {
        let size = types.number(entry, c::DW_AT_byte_size);
        let other = |what: String| SourceType::Other { what, size: size.unwrap_or(0) };
        match entry.tag() {
            c::DW_TAG_base_type => base(types, entry, size.unwrap_or(0)),
            c::DW_TAG_enumeration_type => {
                let inner = self.target(table, types, entry).map(|id| table.get(id).clone());
                note_enumerators(table, types, entry);
                match (inner, size) {
                    (Some(SourceType::Integer { bytes, signed, .. }), _) => {
                        SourceType::Integer { bytes, signed, boolean: false }
                    }
                    (_, Some(bytes @ (1 | 2 | 4 | 8))) => {
                        let signed = has_negative(types, entry) || enumeration_is_signed(types, entry);
                        SourceType::Integer { bytes: bytes as u16, signed, boolean: false }
                    }
                    _ => other("an enumeration of unknown size".to_string()),
                }
            }
            c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
                SourceType::Pointer(self.target(table, types, entry))
            }
            c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
                let name = tag_name(types, entry).unwrap_or_default();
                let declared = types.flag(entry, c::DW_AT_declaration);
                let members = self.members(table, types, entry).unwrap_or_default();
                SourceType::Aggregate { name, size: size.filter(|_| !declared), members }
            }
            c::DW_TAG_array_type => self.array(table, types, entry).unwrap_or_else(|| other("an array".to_string())),
            c::DW_TAG_subroutine_type => other("a function".to_string()),
            tag => other(format!("a type of kind {tag}")),
        }
    }

    fn note_name<'a, 'b>(
        &mut self,
        table: &mut SourceTypes,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
        id: SourceTypeId,
    ) {
        let complete = !types.flag(entry, c::DW_AT_declaration);
        tag_name(types, entry).filter(|_| complete).into_iter().for_each(|name| table.name(name, id));
    }

    fn members<'a, 'b>(
        &mut self,
        table: &mut SourceTypes,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
    ) -> Option<Vec<SourceMember>> {
        let mut out = Vec::new();
        let mut tree = types.unit.entries_tree(Some(entry.offset())).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let child = child.entry();
            if child.tag() != c::DW_TAG_member || types.flag(child, c::DW_AT_external) {
                continue;
            }
            let bits = !matches!(child.attr_value(c::DW_AT_bit_size), Ok(None));
            let name = types.text(child, c::DW_AT_name).unwrap_or_default();
            if let (Some(offset), Some(ty)) = (types.member_offset(child), self.target(table, types, child)) {
                out.push(SourceMember { name, offset, ty, bits });
            }
        }
        Some(out)
    }

    /// The outermost dimension comes first.
    fn array<'a, 'b>(
        &mut self,
        table: &mut SourceTypes,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
    ) -> Option<SourceType> {
        let element = self.target(table, types, entry)?;
        let mut counts = Vec::new();
        let mut tree = types.unit.entries_tree(Some(entry.offset())).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let child = child.entry();
            if child.tag() == c::DW_TAG_subrange_type {
                let upper = || types.number(child, c::DW_AT_upper_bound).and_then(|upper| upper.checked_add(1));
                counts.push(types.number(child, c::DW_AT_count).or_else(upper));
            }
        }
        let first = counts.first().copied().flatten();
        if types.flag(entry, c::DW_AT_GNU_vector) {
            return Some(SourceType::Vector { element, count: first? });
        }
        let inner = counts
            .iter()
            .skip(1)
            .rev()
            .fold(element, |element, count| table.add(SourceType::Array { element, count: *count }));
        Some(SourceType::Array { element: inner, count: first })
    }
}

/// What the source calls a structure, union or enumeration.
fn tag_name<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> Option<String> {
    let word = match entry.tag() {
        c::DW_TAG_structure_type | c::DW_TAG_class_type => "struct",
        c::DW_TAG_union_type => "union",
        c::DW_TAG_enumeration_type => "enum",
        _ => return None,
    };
    Some(format!("{word} {}", types.text(entry, c::DW_AT_name)?))
}

fn base<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>, size: u64) -> SourceType {
    let name = types.text(entry, c::DW_AT_name).unwrap_or_default();
    let integer = |signed, boolean| SourceType::Integer { bytes: size as u16, signed, boolean };
    match (types.encoding(entry), size) {
        (Some(c::DW_ATE_boolean), 1) => integer(false, true),
        (Some(c::DW_ATE_signed | c::DW_ATE_signed_char), 1 | 2 | 4 | 8) if !name.contains("BitInt") => {
            integer(true, false)
        }
        (Some(c::DW_ATE_unsigned | c::DW_ATE_unsigned_char | c::DW_ATE_UTF), 1 | 2 | 4 | 8)
            if !name.contains("BitInt") =>
        {
            integer(false, false)
        }
        (Some(c::DW_ATE_float), 4 | 8) => SourceType::Float { bytes: size as u16 },
        _ => SourceType::Other { what: format!("`{name}`"), size },
    }
}

/// The values of an enumeration's names.
fn enumerators<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> Vec<(String, i128)> {
    let mut out = Vec::new();
    let Ok(mut tree) = types.unit.entries_tree(Some(entry.offset())) else { return out };
    let Ok(root) = tree.root() else { return out };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        let child = child.entry();
        let Ok(Some(value)) = child.attr_value(c::DW_AT_const_value) else { continue };
        let number = match value {
            gimli::AttributeValue::Sdata(value) => Some(i128::from(value)),
            value => value.udata_value().map(i128::from),
        };
        if let (Some(name), Some(number)) = (types.text(child, c::DW_AT_name), number) {
            out.push((name, number));
        }
    }
    out
}

fn note_enumerators<'a, 'b>(table: &mut SourceTypes, types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) {
    enumerators(types, entry).into_iter().for_each(|(name, value)| table.add_constant(name, value));
}

fn has_negative<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> bool {
    enumerators(types, entry).iter().any(|(_, value)| *value < 0)
}

fn enumeration_is_signed<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> bool {
    matches!(types.encoding(entry), Some(c::DW_ATE_signed | c::DW_ATE_signed_char))
}
