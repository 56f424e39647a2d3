//! Types as the calling convention sees them: scalars at offsets.

use super::sections::Reader;
use abi::{Member, Scalar, Type};
use gimli::constants as c;
use gimli::{AttributeValue, DwAt, UnitOffset};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

type Entry<'a, 'b> = gimli::DebuggingInformationEntry<'a, 'a, Reader<'b>>;

/// How deep types are followed.
const MAX_DEPTH: u32 = 32;
/// Scalars of an aggregate that are looked at; those that matter have at most 64 bytes.
const MAX_FIELDS: usize = 256;
/// Larger aggregates are in memory, whatever they hold.
const LARGEST: u64 = 64;

/// A type, and what is known of it beside its layout.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shape {
    pub layout: Type,
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
    fn new(layout: Type) -> Shape {
        Shape { layout, element: 1, ..Shape::default() }
    }

    fn scalar(size: u64, scalar: Scalar) -> Shape {
        Shape::new(Type::scalar(size, scalar))
    }

    fn unknown(what: impl Into<String>) -> Shape {
        Shape::new(Type::default()).refused(what)
    }

    /// The same size, but nobody knows where it is passed.
    fn refused(self, what: impl Into<String>) -> Shape {
        Shape { unknown: Some(what.into()), ..self }
    }

    /// A `_Complex` number of two parts.
    fn complex(size: u64, scalar: Scalar) -> Shape {
        let part = size / 2;
        let member = |offset| Member { offset, size: part, scalar };
        Shape::new(Type { size, align: part.min(16), members: vec![member(0), member(part)], aggregate: true })
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

    /// Distance of a member from the start of its structure; `None` if it is not a number. Old debug information has an
    /// expression that adds it.
    pub fn member_offset(&self, member: &Entry<'a, 'b>) -> Option<u64> {
        match member.attr_value(c::DW_AT_data_member_location).ok()? {
            None => Some(0),
            Some(AttributeValue::Exprloc(expression)) => {
                let mut operations = expression.operations(self.unit.encoding());
                match (operations.next().ok()??, operations.next().ok()?) {
                    (gimli::Operation::PlusConstant { value }, None) => Some(value),
                    _ => None,
                }
            }
            Some(value) => value.udata_value(),
        }
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

    /// The alignment that a variable's declaration asks for: its own, those of the names of its type, and that of the type.
    pub fn declared_alignment(&self, entry: &Entry<'a, 'b>) -> Option<u64> {
        let mut align = self.of(entry)?.layout.align.max(self.number(entry, c::DW_AT_alignment).unwrap_or(1));
        let mut next = self.reference(entry, c::DW_AT_type);
        for _ in 0..MAX_DEPTH {
            let Some(Ok(found)) = next.map(|offset| self.unit.entry(offset)) else { break };
            align = align.max(self.number(&found, c::DW_AT_alignment).unwrap_or(1));
            next = match found.tag() {
                c::DW_TAG_typedef
                | c::DW_TAG_const_type
                | c::DW_TAG_volatile_type
                | c::DW_TAG_atomic_type
                | c::DW_TAG_array_type => self.reference(&found, c::DW_AT_type),
                _ => break,
            };
        }
        Some(align)
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

    /// Does an object of the entry's type consist of members? In doubt it does.
    pub fn has_members(&self, entry: &Entry<'a, 'b>) -> bool {
        let mut next = self.reference(entry, c::DW_AT_type);
        for _ in 0..MAX_DEPTH {
            let Some(Ok(found)) = next.map(|offset| self.unit.entry(offset)) else { return true };
            match found.tag() {
                c::DW_TAG_base_type | c::DW_TAG_enumeration_type | c::DW_TAG_pointer_type => return false,
                c::DW_TAG_const_type | c::DW_TAG_typedef | c::DW_TAG_array_type => {
                    next = self.reference(&found, c::DW_AT_type);
                }
                _ => return true,
            }
        }
        true
    }

    /// Is the type of an entry, or of a part of it, volatile? In doubt it is.
    pub fn is_volatile(&self, entry: &Entry<'a, 'b>) -> bool {
        let mut waiting: Vec<UnitOffset> = self.reference(entry, c::DW_AT_type).into_iter().collect();
        for step in 0.. {
            let Some(offset) = waiting.pop() else { return false };
            let Ok(entry) = self.unit.entry(offset) else { return true };
            let nested = matches!(entry.tag(), c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type);
            if matches!(entry.tag(), c::DW_TAG_volatile_type | c::DW_TAG_atomic_type) || step > MAX_FIELDS {
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
                let mut shape = Shape::scalar(8, Scalar::INTEGER);
                shape.pointer = true;
                shape.element = self.element(&entry).unwrap_or(1);
                shape
            }
            c::DW_TAG_ptr_to_member_type | c::DW_TAG_unspecified_type if size.is_none_or(|s| s == 8) => {
                Shape::scalar(8, Scalar::INTEGER)
            }
            c::DW_TAG_enumeration_type => {
                let inner = self.reference(&entry, c::DW_AT_type).and_then(|t| self.shape(t, depth - 1));
                let scalar = inner.as_ref().and_then(|s| s.layout.members.first()).map(|m| m.scalar);
                let size = size.or(inner.map(|s| s.layout.size)).unwrap_or(4);
                match size {
                    1 | 2 | 4 | 8 | 16 => Shape::scalar(size, scalar.unwrap_or(Scalar::INTEGER)),
                    _ => Shape::unknown(format!("an enumeration of {size} bytes")),
                }
            }
            c::DW_TAG_typedef | c::DW_TAG_const_type | c::DW_TAG_volatile_type | c::DW_TAG_atomic_type => {
                let shape = self.shape(self.reference(&entry, c::DW_AT_type)?, depth - 1)?;
                match self.number(&entry, c::DW_AT_alignment) {
                    // Compilers do not agree about such a name where it is misaligned or on the stack.
                    Some(align) if align != shape.layout.align => shape.refused("a type name with its own alignment"),
                    _ => shape,
                }
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
        let x87 = name.contains("long double") || name.contains("64x");
        if name.contains("BitInt") {
            return Shape::scalar(size, Scalar::INTEGER).refused(format!("the type `{name}`"));
        }
        match (encoding, size) {
            (c::DW_ATE_boolean, 1) => Shape::scalar(1, Scalar::Integer { boolean: true, signed: false }),
            (c::DW_ATE_float, 16) if x87 => Shape::scalar(16, Scalar::X87),
            (c::DW_ATE_float | c::DW_ATE_decimal_float, 2 | 4 | 8 | 16) => Shape::scalar(size, Scalar::Sse),
            (c::DW_ATE_complex_float, 32) if x87 => Shape::scalar(32, Scalar::ComplexX87),
            (c::DW_ATE_complex_float, 4 | 8 | 16 | 32) => Shape::complex(size, Scalar::Sse),
            // Compilers have no other word for a `_Complex` integer.
            (c::DW_ATE_lo_user, 2 | 4 | 8 | 16 | 32) if name.contains("omplex") => {
                Shape::complex(size, Scalar::INTEGER)
            }
            (c::DW_ATE_signed | c::DW_ATE_signed_char, 1 | 2 | 4 | 8 | 16) => {
                Shape::scalar(size, Scalar::Integer { boolean: false, signed: true })
            }
            (c::DW_ATE_unsigned | c::DW_ATE_unsigned_char | c::DW_ATE_UTF | c::DW_ATE_address, 1 | 2 | 4 | 8 | 16) => {
                Shape::scalar(size, Scalar::INTEGER)
            }
            _ => Shape::scalar(size, Scalar::INTEGER).refused(format!("the type `{name}`")),
        }
    }

    fn aggregate(&self, entry: &Entry<'a, 'b>, at: UnitOffset, size: Option<u64>, depth: u32) -> Shape {
        let Some(size) = size else { return Shape::unknown("an incomplete type") };
        let mut shape = Shape::new(Type { size, align: 1, members: Vec::new(), aggregate: true });
        let convention = entry.attr_value(c::DW_AT_calling_convention);
        shape.by_reference =
            matches!(convention, Ok(Some(AttributeValue::CallingConvention(c::DW_CC_pass_by_reference))));
        let is_union = entry.tag() == c::DW_TAG_union_type;
        let Ok(mut tree) = self.unit.entries_tree(Some(at)) else { return shape.refused("a type that cannot be read") };
        let Ok(root) = tree.root() else { return shape.refused("a type that cannot be read") };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let child = child.entry();
            if !matches!(child.tag(), c::DW_TAG_member | c::DW_TAG_inheritance) || self.flag(child, c::DW_AT_external) {
                continue;
            }
            let field = self.reference(child, c::DW_AT_type).and_then(|offset| self.member_type(offset, depth));
            let Some(field) = field else { return shape.refused("a structure with a member without a type") };
            if field.unknown.is_some() {
                return Shape { unknown: field.unknown, ..shape };
            }
            let bit = self.number(child, c::DW_AT_data_bit_offset);
            let Some(start) = self.member_offset(child) else {
                return shape.refused("a structure with a member at a computed place");
            };
            let own = self.number(child, c::DW_AT_alignment).unwrap_or(1);
            shape.layout.align = shape.layout.align.max(field.layout.align).max(own);
            shape.by_reference |= field.by_reference;
            if size > LARGEST {
                continue;
            }
            if let Some(bits) = self.number(child, c::DW_AT_bit_size) {
                // The bytes that a bit field touches, as integers.
                let first = bit.map_or(start, |bit| bit / 8);
                let end = |bit: u64| bit.saturating_add(bits).div_ceil(8);
                let last = bit.map_or(start.saturating_add(field.layout.size), end).min(size);
                let byte = |offset| Member { offset, size: 1, scalar: Scalar::INTEGER };
                shape.layout.members.extend((first..last).map(byte));
                continue;
            }
            let start = if is_union { 0 } else { start };
            if start.saturating_add(field.layout.size) > size {
                return shape.refused("a structure with a field outside of it");
            }
            let moved = field.layout.members.iter().map(|m| Member { offset: start + m.offset, ..*m });
            shape.layout.members.extend(moved);
            if shape.layout.members.len() > MAX_FIELDS {
                return shape.refused("a structure of too many fields");
            }
        }
        if let Some(align) = self.number(entry, c::DW_AT_alignment) {
            shape.layout.align = shape.layout.align.max(align);
        }
        shape
    }

    /// The type of a member. A flexible array takes no room.
    fn member_type(&self, offset: UnitOffset, depth: u32) -> Option<Shape> {
        let shape = self.shape(offset, depth - 1)?;
        let array =
            self.unit.entry(offset).ok().filter(|e| e.tag() == c::DW_TAG_array_type && self.is_flexible(offset));
        match array.filter(|_| shape.unknown.is_some()) {
            Some(array) => {
                let element = self.reference(&array, c::DW_AT_type).and_then(|t| self.shape(t, depth - 1))?;
                let align = element.layout.align;
                let layout = Type { size: 0, align, members: Vec::new(), aggregate: true };
                Some(Shape { unknown: element.unknown, ..Shape::new(layout) })
            }
            None => Some(shape),
        }
    }

    /// Does an array type say nothing about how many elements there are?
    fn is_flexible(&self, at: UnitOffset) -> bool {
        let Ok(mut tree) = self.unit.entries_tree(Some(at)) else { return false };
        let Ok(root) = tree.root() else { return false };
        let mut children = root.children();
        let mut flexible = false;
        while let Ok(Some(child)) = children.next() {
            let child = child.entry();
            let said = |name| !matches!(child.attr_value(name), Ok(None));
            flexible |= child.tag() == c::DW_TAG_subrange_type && !said(c::DW_AT_upper_bound) && !said(c::DW_AT_count);
        }
        flexible
    }

    fn array(&self, entry: &Entry<'a, 'b>, at: UnitOffset, size: Option<u64>, depth: u32) -> Shape {
        let element = self.reference(entry, c::DW_AT_type).and_then(|t| self.shape(t, depth - 1));
        let Some(element) = element else { return Shape::unknown("an array") };
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
        let Some(total) = size.or(element.layout.size.checked_mul(count)) else { return Shape::unknown("an array") };
        if self.flag(entry, c::DW_AT_GNU_vector) {
            // Compilers do not agree about vectors of one element, or of truth values.
            return match total {
                8 | 16 | 32 | 64 if element.layout.size < total && !element.layout.is_boolean() => {
                    Shape::scalar(total, Scalar::Sse)
                }
                _ => Shape::scalar(total, Scalar::Sse).refused(format!("a vector of {total} bytes")),
            };
        }
        let mut layout = Type { size: total, align: element.layout.align, members: Vec::new(), aggregate: true };
        if let Some(what) = element.unknown {
            return Shape::new(layout).refused(what);
        }
        if total <= LARGEST && element.layout.size > 0 {
            for i in 0..total / element.layout.size {
                let start = i * element.layout.size;
                let moved = element.layout.members.iter().map(|m| Member { offset: start + m.offset, ..*m });
                layout.members.extend(moved);
            }
        }
        Shape { by_reference: element.by_reference, ..Shape::new(layout) }
    }
}
