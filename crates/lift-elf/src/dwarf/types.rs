//! Types as the calling convention sees them: scalars at offsets.

use super::sections::Reader;
use gimli::constants as c;
use gimli::{AttributeValue, DwAt, UnitOffset};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

type Entry<'a, 'b> = gimli::DebuggingInformationEntry<'a, 'a, Reader<'b>>;

/// How deep types are followed.
const MAX_DEPTH: u32 = 32;
/// Scalars of an aggregate that are looked at; those that matter have at most 16 bytes.
const MAX_FIELDS: usize = 64;

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    /// Integer, enumeration, pointer; `signed` matters where it is extended.
    Integer { boolean: bool, signed: bool },
    /// In a vector register; above 8 bytes the whole register.
    Float,
    /// `long double`.
    X87,
}

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub size: u64,
    pub align: u64,
    /// Scalars inside with their offsets and sizes; incomplete above 16 bytes.
    pub fields: Vec<(u64, u64, Scalar)>,
    pub aggregate: bool,
    pub pointer: bool,
    pub restrict: bool,
    /// The size of the scalars that a pointer points to, if they lie at multiples of it; else 1.
    pub element: u16,
    /// Passed by reference whatever its size (C++ objects that are not trivially copied).
    pub by_reference: bool,
    /// Is its size or content unknown to us?
    pub unknown: Option<String>,
}

impl Shape {
    fn scalar(size: u64, scalar: Scalar) -> Shape {
        let align = if size.is_power_of_two() { size.min(16) } else { 1 };
        Shape {
            size,
            align,
            fields: vec![(0, size, scalar)],
            aggregate: false,
            pointer: false,
            restrict: false,
            element: 1,
            by_reference: false,
            unknown: None,
        }
    }

    fn unknown(what: impl Into<String>) -> Shape {
        Shape { fields: Vec::new(), unknown: Some(what.into()), ..Shape::scalar(0, Scalar::Float) }
    }
}

/// Types of a unit.
pub(crate) struct Types<'a, 'b> {
    pub dwarf: &'a gimli::Dwarf<Reader<'b>>,
    pub unit: &'a gimli::Unit<Reader<'b>>,
    known: RefCell<FxHashMap<UnitOffset, Option<Shape>>>,
}

impl<'a, 'b> Types<'a, 'b> {
    pub fn new(dwarf: &'a gimli::Dwarf<Reader<'b>>, unit: &'a gimli::Unit<Reader<'b>>) -> Self {
        Types { dwarf, unit, known: RefCell::new(FxHashMap::default()) }
    }

    pub fn reference(&self, entry: &Entry<'a, 'b>, name: DwAt) -> Option<UnitOffset> {
        match entry.attr_value(name).ok()?? {
            AttributeValue::UnitRef(offset) => Some(offset),
            AttributeValue::DebugInfoRef(offset) => offset.to_unit_offset(&self.unit.header),
            _ => None,
        }
    }

    pub fn number(&self, entry: &Entry<'a, 'b>, name: DwAt) -> Option<u64> {
        entry.attr_value(name).ok()??.udata_value()
    }

    pub fn text(&self, entry: &Entry<'a, 'b>, name: DwAt) -> Option<String> {
        let value = entry.attr_value(name).ok()??;
        let text = self.dwarf.attr_string(self.unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    pub fn flag(&self, entry: &Entry<'a, 'b>, name: DwAt) -> bool {
        matches!(entry.attr_value(name), Ok(Some(AttributeValue::Flag(true))))
    }

    /// The type that an entry's `DW_AT_type` names; `None` for `void`.
    pub fn of(&self, entry: &Entry<'a, 'b>) -> Option<Shape> {
        let offset = self.reference(entry, c::DW_AT_type)?;
        self.shape(offset, MAX_DEPTH)
    }

    /// How a base type is encoded.
    pub fn encoding(&self, entry: &Entry<'a, 'b>) -> Option<gimli::DwAte> {
        match entry.attr_value(c::DW_AT_encoding) {
            Ok(Some(AttributeValue::Encoding(encoding))) => Some(encoding),
            _ => None,
        }
    }

    /// Is an object of the entry's type `const` as a whole, and nothing in it volatile? In doubt it is not.
    pub fn is_constant(&self, entry: &Entry<'a, 'b>) -> bool {
        let mut next = self.reference(entry, c::DW_AT_type);
        for _ in 0..MAX_DEPTH {
            let Some(Ok(found)) = next.map(|offset| self.unit.entry(offset)) else { return false };
            match found.tag() {
                c::DW_TAG_const_type => return !self.is_volatile(entry),
                c::DW_TAG_typedef | c::DW_TAG_array_type => next = self.reference(&found, c::DW_AT_type),
                _ => return false,
            }
        }
        false
    }

    /// Is the type of an entry, or of a part of it, volatile? In doubt it is.
    pub fn is_volatile(&self, entry: &Entry<'a, 'b>) -> bool {
        let mut waiting: Vec<UnitOffset> = self.reference(entry, c::DW_AT_type).into_iter().collect();
        for step in 0.. {
            let Some(offset) = waiting.pop() else { return false };
            let Ok(entry) = self.unit.entry(offset) else { return true };
            let nested = matches!(entry.tag(), c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type);
            if entry.tag() == c::DW_TAG_volatile_type || step > MAX_FIELDS {
                return true;
            }
            if nested {
                let Ok(mut tree) = self.unit.entries_tree(Some(offset)) else { return true };
                let Ok(root) = tree.root() else { return true };
                let mut children = root.children();
                while let Ok(Some(child)) = children.next() {
                    waiting.extend(self.reference(child.entry(), c::DW_AT_type));
                }
            } else if entry.tag() != c::DW_TAG_pointer_type {
                waiting.extend(self.reference(&entry, c::DW_AT_type));
            }
        }
        true
    }

    fn shape(&self, offset: UnitOffset, depth: u32) -> Option<Shape> {
        if depth == 0 {
            return Some(Shape::unknown("a type nested too deeply"));
        }
        if let Some(known) = self.known.borrow().get(&offset) {
            return known.clone();
        }
        let shape = self.read(offset, depth);
        self.known.borrow_mut().insert(offset, shape.clone());
        shape
    }

    fn read(&self, offset: UnitOffset, depth: u32) -> Option<Shape> {
        let Ok(entry) = self.unit.entry(offset) else { return Some(Shape::unknown("a type that cannot be read")) };
        let size = self.number(&entry, c::DW_AT_byte_size);
        Some(match entry.tag() {
            c::DW_TAG_base_type => self.base(&entry, size.unwrap_or(0)),
            c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
                let mut shape = Shape::scalar(8, Scalar::Integer { boolean: false, signed: false });
                shape.pointer = true;
                shape.element = self.element(&entry).unwrap_or(1);
                shape
            }
            c::DW_TAG_ptr_to_member_type | c::DW_TAG_unspecified_type if size.is_none_or(|s| s == 8) => {
                Shape::scalar(8, Scalar::Integer { boolean: false, signed: false })
            }
            c::DW_TAG_enumeration_type => {
                let inner = self.reference(&entry, c::DW_AT_type).and_then(|t| self.shape(t, depth - 1));
                let scalar = inner.as_ref().and_then(|s| s.fields.first()).map(|f| f.2);
                let scalar = scalar.unwrap_or(Scalar::Integer { boolean: false, signed: false });
                Shape::scalar(size.or(inner.map(|s| s.size)).unwrap_or(4), scalar)
            }
            c::DW_TAG_typedef | c::DW_TAG_const_type | c::DW_TAG_volatile_type | c::DW_TAG_atomic_type => {
                return self.shape(self.reference(&entry, c::DW_AT_type)?, depth - 1);
            }
            c::DW_TAG_restrict_type => {
                let mut shape = self.shape(self.reference(&entry, c::DW_AT_type)?, depth - 1)?;
                shape.restrict = true;
                shape
            }
            c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
                self.aggregate(&entry, offset, size, depth)
            }
            c::DW_TAG_array_type => self.array(&entry, offset, size, depth),
            tag => Shape::unknown(format!("a type of kind {tag}")),
        })
    }

    /// The size of the scalars behind a pointer, if nothing says that they lie elsewhere than at multiples of it.
    fn element(&self, pointer: &Entry<'a, 'b>) -> Option<u16> {
        let mut at = self.reference(pointer, c::DW_AT_type)?;
        for _ in 0..MAX_DEPTH {
            let entry = self.unit.entry(at).ok()?;
            let size = match entry.tag() {
                _ if entry.attr_value(c::DW_AT_alignment).ok()?.is_some() => return None,
                c::DW_TAG_base_type if self.encoding(&entry) == Some(c::DW_ATE_complex_float) => return None,
                c::DW_TAG_base_type | c::DW_TAG_enumeration_type => self.number(&entry, c::DW_AT_byte_size)?,
                c::DW_TAG_pointer_type => 8,
                c::DW_TAG_typedef
                | c::DW_TAG_const_type
                | c::DW_TAG_volatile_type
                | c::DW_TAG_restrict_type
                | c::DW_TAG_array_type => {
                    at = self.reference(&entry, c::DW_AT_type)?;
                    continue;
                }
                _ => return None,
            };
            return u16::try_from(size).ok().filter(|s| matches!(s, 2 | 4 | 8));
        }
        None
    }

    fn base(&self, entry: &Entry<'a, 'b>, size: u64) -> Shape {
        let name = self.text(entry, c::DW_AT_name).unwrap_or_default();
        let Some(encoding) = self.encoding(entry) else { return Shape::unknown("a type without an encoding") };
        match (encoding, size) {
            (c::DW_ATE_boolean, 1) => Shape::scalar(1, Scalar::Integer { boolean: true, signed: false }),
            (c::DW_ATE_float, 16) if name.contains("long double") || name.contains("64x") => {
                Shape::scalar(16, Scalar::X87)
            }
            (c::DW_ATE_float | c::DW_ATE_decimal_float, 2 | 4 | 8 | 16) => Shape::scalar(size, Scalar::Float),
            (c::DW_ATE_complex_float, 4 | 8 | 16) => {
                let mut shape = Shape::scalar(size, Scalar::Float);
                (shape.aggregate, shape.align) = (true, size / 2);
                shape.fields = vec![(0, size / 2, Scalar::Float), (size / 2, size / 2, Scalar::Float)];
                shape
            }
            (c::DW_ATE_signed | c::DW_ATE_signed_char, 1 | 2 | 4 | 8 | 16) => {
                Shape::scalar(size, Scalar::Integer { boolean: false, signed: true })
            }
            (c::DW_ATE_unsigned | c::DW_ATE_unsigned_char | c::DW_ATE_UTF | c::DW_ATE_address, 1 | 2 | 4 | 8 | 16) => {
                Shape::scalar(size, Scalar::Integer { boolean: false, signed: false })
            }
            _ => Shape::unknown(format!("the type `{name}`")),
        }
    }

    fn aggregate(&self, entry: &Entry<'a, 'b>, at: UnitOffset, size: Option<u64>, depth: u32) -> Shape {
        let Some(size) = size else { return Shape::unknown("an incomplete type") };
        let mut shape = Shape::scalar(size, Scalar::Float);
        (shape.aggregate, shape.align) = (true, 1);
        shape.fields.clear();
        let convention = entry.attr_value(c::DW_AT_calling_convention);
        shape.by_reference =
            matches!(convention, Ok(Some(AttributeValue::CallingConvention(c::DW_CC_pass_by_reference))));
        let is_union = entry.tag() == c::DW_TAG_union_type;
        let Ok(mut tree) = self.unit.entries_tree(Some(at)) else { return shape };
        let Ok(root) = tree.root() else { return shape };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let child = child.entry();
            if !matches!(child.tag(), c::DW_TAG_member | c::DW_TAG_inheritance) || self.flag(child, c::DW_AT_external) {
                continue;
            }
            let Some(offset) = self.reference(child, c::DW_AT_type) else { continue };
            let Some(field) = self.shape(offset, depth - 1) else { continue };
            // Flexible array members have no size.
            if field.unknown.is_some() && size <= 16 {
                shape.unknown = field.unknown;
                return shape;
            }
            let bit = self.number(child, c::DW_AT_data_bit_offset);
            let start = self.number(child, c::DW_AT_data_member_location).unwrap_or(0);
            shape.align = shape.align.max(field.align);
            shape.by_reference |= field.by_reference;
            if size > 16 {
                continue;
            }
            if let Some(bits) = self.number(child, c::DW_AT_bit_size) {
                // The bytes that a bit field touches, as integers.
                let first = bit.map_or(start, |bit| bit / 8);
                let end = |bit: u64| bit.saturating_add(bits).div_ceil(8);
                let last = bit.map_or(start.saturating_add(field.size), end).min(size);
                let byte = Scalar::Integer { boolean: false, signed: false };
                shape.fields.extend((first..last).map(|at| (at, 1, byte)));
                continue;
            }
            let start = if is_union { 0 } else { start };
            if start.saturating_add(field.size) > size {
                shape.unknown = Some("a structure with a field outside of it".to_string());
                return shape;
            }
            shape.fields.extend(field.fields.iter().map(|(at, size, s)| (start + at, *size, *s)));
            if shape.fields.len() > MAX_FIELDS {
                shape.unknown = Some("a structure of too many fields".to_string());
                return shape;
            }
        }
        if let Some(align) = self.number(entry, c::DW_AT_alignment) {
            shape.align = shape.align.max(align.min(64));
        }
        shape
    }

    fn array(&self, entry: &Entry<'a, 'b>, at: UnitOffset, size: Option<u64>, depth: u32) -> Shape {
        let element = self.reference(entry, c::DW_AT_type).and_then(|t| self.shape(t, depth - 1));
        let Some(element) = element.filter(|e| e.unknown.is_none()) else { return Shape::unknown("an array") };
        let mut count: u64 = 1;
        if let Ok(mut tree) = self.unit.entries_tree(Some(at))
            && let Ok(root) = tree.root()
        {
            let mut children = root.children();
            while let Ok(Some(child)) = children.next() {
                let child = child.entry();
                if child.tag() != c::DW_TAG_subrange_type {
                    continue;
                }
                let upper = || self.number(child, c::DW_AT_upper_bound).and_then(|upper| upper.checked_add(1));
                let Some(length) = self.number(child, c::DW_AT_count).or_else(upper) else {
                    return Shape::unknown("an array of unknown length");
                };
                let Some(product) = count.checked_mul(length) else { return Shape::unknown("an array") };
                count = product;
            }
        }
        let Some(total) = size.or(element.size.checked_mul(count)) else { return Shape::unknown("an array") };
        if self.flag(entry, c::DW_AT_GNU_vector) {
            return match total {
                8 | 16 => Shape::scalar(total, Scalar::Float),
                _ => Shape::unknown(format!("a vector of {total} bytes")),
            };
        }
        let mut shape = Shape { size: total, aggregate: true, pointer: false, restrict: false, ..element.clone() };
        shape.fields.clear();
        if total <= 16 && element.size > 0 {
            for i in 0..(total / element.size).min(16) {
                shape.fields.extend(element.fields.iter().map(|(at, size, s)| (i * element.size + at, *size, *s)));
            }
        }
        shape
    }
}
