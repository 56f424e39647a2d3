//! Types by their structure: what lies where in a type, and what a pointer to it points to.
//!
//! This is for following pointers through code. A question that has more than one answer (unions, casts that
//! leave the type, indices that may belong to a neighbour) has none.

use super::sections::Reader;
use super::types::Types;
use gimli::UnitOffset;
use gimli::constants as c;
use program::Signature;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

type Entry<'a, 'b> = gimli::DebuggingInformationEntry<'a, 'a, Reader<'b>>;

/// How many qualifiers and names of a type are looked through, and how deep it nests.
const MAX_DEPTH: u32 = 32;
/// Starts of members that are listed of one type.
const MAX_STARTS: usize = 256;
/// How many members one question looks at: unions of unions are a tree.
const MAX_WORK: u32 = 4096;

/// Handle of a type in its [`TypeTable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct TypeId(u32);

/// A type without names and qualifiers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Type {
    /// To this type; `None` for `void`.
    Pointer(Option<TypeId>),
    /// Members with their offsets; all at once in a union.
    Aggregate { size: u64, union: bool, members: Vec<(u64, TypeId)> },
    /// `count` elements, those of inner dimensions included.
    Array { element: TypeId, count: u64 },
    /// A function; the signature is missing without a prototype.
    Function { signature: Option<Signature>, result: Option<TypeId> },
    /// `_Bool`.
    Boolean,
    /// Another number, or an enumeration.
    Scalar { size: u64 },
    /// Anything else.
    Other { size: u64 },
}

/// The types of a file.
#[derive(Default)]
pub(crate) struct TypeTable {
    types: Vec<Type>,
    /// Those that are `volatile` or `_Atomic` as a whole.
    volatile: FxHashSet<TypeId>,
    /// Those with a volatile part that is no member here: bit fields, arrays without a length, classes.
    hidden_volatile: FxHashSet<TypeId>,
    /// Structures with parts that are no members here: bit fields, bases, members of which nothing is known.
    partial: FxHashSet<TypeId>,
    /// Does a name stand for a type with less alignment than its own?
    relaxed: bool,
}

/// What is taken of a structure whose layout does not tell whether it is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packed {
    /// That it may be.
    Possible,
    /// That it is not.
    Unlikely,
}

/// How code may access an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Care {
    /// As it likes.
    Ordinary,
    /// Exactly as written.
    Volatile,
    /// Nobody can tell.
    Unclear,
}

impl TypeTable {
    /// A type by its handle.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Does a local end where an array does, or something that may be one?
    pub fn may_end_with_array(&self, local: &super::TypedLocal) -> bool {
        local.type_id.is_none_or(|id| self.ends_with_array(id, MAX_DEPTH))
    }

    fn ends_with_array(&self, id: TypeId, depth: u32) -> bool {
        match self.get(id) {
            Type::Pointer(_) | Type::Boolean | Type::Scalar { .. } | Type::Function { .. } => false,
            Type::Array { .. } | Type::Other { .. } => true,
            Type::Aggregate { .. } if depth == 0 || self.partial.contains(&id) => true,
            Type::Aggregate { size, members, .. } => members.iter().any(|(start, member)| {
                start.saturating_add(self.size(*member, MAX_DEPTH)) >= *size && self.ends_with_array(*member, depth - 1)
            }),
        }
    }

    /// Where members of a structure begin, apart from the first; members of members too. Nothing of a union is said.
    pub fn member_starts(&self, id: TypeId) -> Vec<u64> {
        let mut starts = Vec::new();
        self.note_members(id, 0, MAX_DEPTH, &mut starts);
        starts
    }

    fn note_members(&self, id: TypeId, at: u64, depth: u32, starts: &mut Vec<u64>) {
        let Type::Aggregate { members, .. } = self.get(id) else { return };
        let union = members.windows(2).any(|pair| pair[0].0 == pair[1].0);
        if depth == 0 || union || starts.len() > MAX_STARTS {
            return;
        }
        for (start, member) in members {
            let start = at.saturating_add(*start);
            starts.extend(Some(start).filter(|start| *start > at));
            self.note_members(*member, start, depth - 1, starts);
        }
    }

    fn size(&self, id: TypeId, depth: u32) -> u64 {
        match self.get(id) {
            Type::Pointer(_) => 8,
            Type::Boolean => 1,
            Type::Aggregate { size, .. } | Type::Scalar { size } | Type::Other { size } => *size,
            Type::Array { element, count } if depth > 0 => self.size(*element, depth - 1).saturating_mul(*count),
            Type::Array { .. } | Type::Function { .. } => 0,
        }
    }

    /// The one member that holds these bytes, and where they begin in it.
    fn member(&self, members: &[(u64, TypeId)], at: u64, bytes: u64) -> Option<(TypeId, u64)> {
        let holds = |(start, id): &&(u64, TypeId)| {
            let end = start.saturating_add(self.size(*id, MAX_DEPTH));
            *start <= at && at.saturating_add(bytes) <= end
        };
        let mut holding = members.iter().filter(holds);
        let (start, id) = holding.next()?;
        holding.next().is_none().then_some((*id, at - start))
    }

    /// The pointer that lies at this offset of a type: the handle of its type.
    pub fn pointer_at(&self, id: TypeId, offset: i64) -> Option<TypeId> {
        self.find_pointer(id, u64::try_from(offset).ok()?, MAX_DEPTH, &mut { MAX_WORK })
    }

    /// Is it a pointer to such a type? One to `void` is to none.
    fn is_to(&self, id: TypeId, such: impl Fn(&Type) -> bool) -> bool {
        matches!(self.get(id), Type::Pointer(Some(target)) if such(self.get(*target)))
    }

    fn find_pointer(&self, id: TypeId, at: u64, depth: u32, work: &mut u32) -> Option<TypeId> {
        let depth = depth.checked_sub(1)?;
        *work = work.checked_sub(1)?;
        match self.get(id) {
            Type::Pointer(_) => (at == 0).then_some(id),
            Type::Aggregate { union: true, members, .. } => {
                // What the members agree on; or the one function among pointers to objects, for those are not called.
                let mut found = Vec::with_capacity(members.len());
                for (start, id) in members {
                    found.push(self.find_pointer(*id, at.checked_sub(*start)?, depth, work)?);
                }
                found.sort();
                found.dedup();
                let mut functions = found.iter().filter(|id| self.is_to(**id, |t| matches!(t, Type::Function { .. })));
                match (&found[..], functions.next(), functions.next()) {
                    ([only], ..) => Some(*only),
                    (_, Some(function), None) if found.iter().all(|id| self.is_to(*id, |_| true)) => Some(*function),
                    _ => None,
                }
            }
            Type::Aggregate { members, .. } => {
                let (member, at) = self.member(members, at, 8)?;
                self.find_pointer(member, at, depth, work)
            }
            Type::Array { element, count } => {
                let size = self.size(*element, MAX_DEPTH);
                if size == 0 || at >= size.saturating_mul(*count) {
                    return None;
                }
                self.find_pointer(*element, at % size, depth, work)
            }
            Type::Function { .. } | Type::Boolean | Type::Scalar { .. } | Type::Other { .. } => None,
        }
    }

    /// Is anything volatile in the file?
    pub fn has_volatile(&self) -> bool {
        !self.volatile.is_empty() || !self.hidden_volatile.is_empty()
    }

    /// Is an object of the type volatile as a whole?
    pub fn is_volatile(&self, id: TypeId) -> bool {
        self.volatile.contains(&id)
    }

    /// Is an object of the type volatile, or a part of it? In doubt it is.
    pub fn has_volatile_part(&self, id: TypeId) -> bool {
        self.has_volatile() && self.holds_volatile(id)
    }

    /// Is an object of the type volatile, or a part of it?
    fn holds_volatile(&self, id: TypeId) -> bool {
        let (mut open, mut seen) = (vec![id], FxHashSet::default());
        while let Some(id) = open.pop() {
            if self.volatile.contains(&id) || self.hidden_volatile.contains(&id) {
                return true;
            }
            open.extend(self.parts(id).into_iter().filter(|id| seen.insert(*id)));
        }
        false
    }

    /// Types of the parts of an object.
    fn parts(&self, id: TypeId) -> Vec<TypeId> {
        match self.get(id) {
            Type::Aggregate { members, .. } => members.iter().map(|(_, id)| *id).collect(),
            Type::Array { element, .. } => vec![*element],
            _ => Vec::new(),
        }
    }

    /// Sizes of the volatile numbers and pointers that values of some types lead to.
    pub fn volatile_widths(&self, from: Vec<TypeId>) -> BTreeSet<u64> {
        let mut out = BTreeSet::new();
        let mut open: Vec<(TypeId, bool)> = from.into_iter().map(|id| (id, false)).collect();
        let mut seen: FxHashSet<(TypeId, bool)> = open.iter().copied().collect();
        while let Some((id, inherited)) = open.pop() {
            let volatile = inherited || self.volatile.contains(&id);
            if self.hidden_volatile.contains(&id) {
                out.extend([1, 2, 4, 8, 16]);
            }
            let parts = self.parts(id);
            if volatile && parts.is_empty() {
                out.insert(self.size(id, MAX_DEPTH));
            }
            let behind = match self.get(id) {
                Type::Pointer(target) => *target,
                Type::Function { result, .. } => *result,
                _ => None,
            };
            let next = parts.into_iter().map(|id| (id, volatile)).chain(behind.map(|id| (id, false)));
            open.extend(next.filter(|one| seen.insert(*one)));
        }
        out
    }

    /// Does one object of this type hold so many bytes at an offset?
    pub fn holds(&self, id: TypeId, offset: i64, bytes: u64) -> bool {
        let size = self.size(id, MAX_DEPTH);
        u64::try_from(offset).is_ok_and(|at| at.checked_add(bytes).is_some_and(|end| end <= size))
    }

    /// How an access of so many bytes at an offset of an object of this type, or of an array of such, is to be made.
    pub fn care_at(&self, id: TypeId, offset: i64, bytes: u64) -> Care {
        if !self.has_volatile_part(id) {
            return Care::Ordinary;
        }
        let size = self.size(id, MAX_DEPTH);
        if size == 0 {
            return if self.volatile.contains(&id) { Care::Volatile } else { Care::Unclear };
        }
        let at = offset.rem_euclid(i64::try_from(size).unwrap_or(i64::MAX)) as u64;
        self.care_inside(id, at, bytes)
    }

    fn care_inside(&self, mut id: TypeId, mut at: u64, bytes: u64) -> Care {
        for _ in 0..MAX_DEPTH {
            if self.volatile.contains(&id) {
                return Care::Volatile;
            }
            if !self.has_volatile_part(id) {
                return Care::Ordinary;
            }
            match self.get(id) {
                Type::Aggregate { union: false, members, .. } if !self.hidden_volatile.contains(&id) => {
                    match self.member(members, at, bytes) {
                        Some(member) => (id, at) = member,
                        // Several members at once, or what lies between them.
                        None => return Care::Unclear,
                    }
                }
                Type::Array { element, .. } => match self.size(*element, MAX_DEPTH) {
                    0 => return Care::Unclear,
                    size => (id, at) = (*element, at % size),
                },
                _ => return Care::Unclear,
            }
        }
        Care::Unclear
    }

    /// Is the byte at an offset of an object of this type, or of an array of such, a `_Bool`, whichever member is meant?
    pub fn is_boolean_at(&self, mut id: TypeId, offset: i64) -> bool {
        let size = i64::try_from(self.size(id, MAX_DEPTH)).ok().filter(|size| *size > 0);
        let Some(mut at) = size.map(|size| offset.rem_euclid(size) as u64) else { return false };
        for _ in 0..MAX_DEPTH {
            match self.get(id) {
                Type::Boolean => return at == 0,
                Type::Aggregate { union: false, members, .. } => match self.member(members, at, 1) {
                    Some(member) => (id, at) = member,
                    None => return false,
                },
                Type::Array { element, .. } => match self.size(*element, MAX_DEPTH) {
                    0 => return false,
                    size => (id, at) = (*element, at % size),
                },
                _ => return false,
            }
        }
        false
    }

    /// Which of so many bytes at an offset of a type, or of an array of such, lie between the members of a structure, lowest
    /// first. None if all seem to.
    pub fn padding_at(&self, id: TypeId, offset: i64, bytes: u64) -> u64 {
        let size = self.size(id, MAX_DEPTH);
        let Some(at) = i64::try_from(size).ok().filter(|s| *s > 0).map(|s| offset.rem_euclid(s) as u64) else {
            return 0;
        };
        let whole = if bytes >= 64 { u64::MAX } else { (1 << bytes) - 1 };
        if bytes > 64 || at + bytes > size {
            return 0;
        }
        let mut covered = 0;
        self.cover(id, 0, at, bytes, (MAX_DEPTH, &mut { MAX_WORK }), &mut covered);
        if covered & whole == 0 { 0 } else { !covered & whole }
    }

    /// Marks the bytes of `at..at + bytes` that the parts of a type at `start` cover.
    fn cover(&self, id: TypeId, start: u64, at: u64, bytes: u64, limits: (u32, &mut u32), covered: &mut u64) {
        let end = start.saturating_add(self.size(id, MAX_DEPTH));
        if end <= at || start >= at + bytes {
            return;
        }
        let mark = |covered: &mut u64| (start.max(at)..end.min(at + bytes)).for_each(|i| *covered |= 1 << (i - at));
        let (depth, work) = limits;
        if depth == 0 || *work == 0 {
            return mark(covered);
        }
        *work -= 1;
        match self.get(id) {
            Type::Aggregate { members, .. } if !self.partial.contains(&id) => {
                for (offset, member) in members {
                    self.cover(*member, start + offset, at, bytes, (depth - 1, work), covered);
                }
            }
            Type::Array { element, .. } => {
                let size = self.size(*element, MAX_DEPTH).max(1);
                let first = at.saturating_sub(start) / size;
                for i in first..=(at + bytes - 1).saturating_sub(start) / size {
                    self.cover(*element, start + i * size, at, bytes, (depth - 1, work), covered);
                }
            }
            _ => mark(covered),
        }
    }

    /// Alignment of what lies at this offset of a type, in bytes: what the language demands of an address of the type. Nothing
    /// says that a structure is not packed but a gap that packing would have closed: it is aligned as much as that shows.
    pub fn alignment_at(&self, id: TypeId, offset: i64, packed: Packed) -> u64 {
        if self.relaxed {
            return 1;
        }
        let whole = self.alignment(id, packed, MAX_DEPTH, &mut { MAX_WORK });
        if offset == 0 { whole } else { whole.min(1 << offset.trailing_zeros().min(6)) }
    }

    fn alignment(&self, id: TypeId, packed: Packed, depth: u32, work: &mut u32) -> u64 {
        let (Some(depth), Some(left)) = (depth.checked_sub(1), work.checked_sub(1)) else { return 1 };
        *work = left;
        match self.get(id) {
            Type::Pointer(_) => 8,
            Type::Scalar { size } if matches!(size, 2 | 4 | 8) => *size,
            Type::Array { element, .. } => self.alignment(*element, packed, depth, work),
            Type::Aggregate { .. } if self.partial.contains(&id) => 1,
            Type::Aggregate { size, members, .. } => {
                let (mut shown, mut most, mut end) = (1, 1, 0);
                for (start, member) in members {
                    let align = self.alignment(*member, packed, depth, work);
                    if !start.is_multiple_of(align) {
                        return 1;
                    }
                    shown = shown.max(align_of_gap(end, *start));
                    most = most.max(align);
                    end = end.max(start.saturating_add(self.size(*member, MAX_DEPTH)));
                }
                shown = shown.max(align_of_gap(end, *size)).min(most);
                match packed {
                    _ if !size.is_multiple_of(most) => 1,
                    Packed::Unlikely => most,
                    Packed::Possible => shown,
                }
            }
            Type::Function { .. } | Type::Boolean | Type::Scalar { .. } | Type::Other { .. } => 1,
        }
    }

    /// Where an unknown multiple of `step` bytes leads from an offset of a type: to an offset of the same type,
    /// if it is one of an array of its kind, or of the element of an array inside. Only offsets in the first element
    /// count: others may be an array behind it and an index that is never zero.
    pub fn element(&self, id: TypeId, offset: i64, step: u64) -> Option<(TypeId, i64)> {
        let (mut id, mut at) = (id, u64::try_from(offset).ok()?);
        for _ in 0..MAX_DEPTH {
            let size = self.size(id, MAX_DEPTH);
            if at >= size {
                return None;
            }
            if step.is_multiple_of(size) {
                return Some((id, at as i64));
            }
            match self.get(id) {
                Type::Aggregate { union: false, members, .. } => (id, at) = self.member(members, at, 1)?,
                Type::Array { element, count } if *count > 1 && at < self.size(*element, MAX_DEPTH) => id = *element,
                _ => return None,
            }
        }
        None
    }
}

/// The least alignment that puts what follows `end` to `start`; 1 if nothing lies between them, or more than alignment explains.
fn align_of_gap(end: u64, start: u64) -> u64 {
    let explains = |align: &u64| end.checked_next_multiple_of(*align) == Some(start);
    if start <= end { 1 } else { [2, 4, 8].into_iter().find(explains).unwrap_or(1) }
}

/// Makes a file's types of the entries of one unit.
#[derive(Default)]
pub(crate) struct Interner {
    known: FxHashMap<(UnitOffset, bool), TypeId>,
    waiting: Vec<(TypeId, UnitOffset)>,
}

impl Interner {
    /// The type that an entry's `DW_AT_type` names; `None` for `void`.
    pub fn of<'a, 'b>(
        &mut self,
        table: &mut TypeTable,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
        signature: &dyn Fn(&Entry<'a, 'b>) -> Option<Signature>,
    ) -> Option<TypeId> {
        let id = self.target(table, types, entry);
        while let Some((id, offset)) = self.waiting.pop() {
            if let Ok(entry) = types.unit.entry(offset) {
                table.types[id.0 as usize] = self.read(id, table, types, &entry, signature);
            }
        }
        id
    }

    /// Looks through names and qualifiers; `volatile` makes another type.
    fn target<'a, 'b>(
        &mut self,
        table: &mut TypeTable,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
    ) -> Option<TypeId> {
        let mut offset = types.reference(entry, c::DW_AT_type)?;
        let mut volatile = false;
        for _ in 0..MAX_DEPTH {
            let entry = types.unit.entry(offset).ok()?;
            table.relaxed |= types.number(&entry, c::DW_AT_alignment).is_some_and(|align| align < 8);
            match entry.tag() {
                c::DW_TAG_volatile_type | c::DW_TAG_atomic_type => volatile = true,
                c::DW_TAG_typedef | c::DW_TAG_const_type | c::DW_TAG_restrict_type => {}
                _ => break,
            }
            offset = types.reference(&entry, c::DW_AT_type)?;
        }
        if let Some(id) = self.known.get(&(offset, volatile)) {
            return Some(*id);
        }
        let id = TypeId(u32::try_from(table.types.len()).ok()?);
        table.types.push(Type::Other { size: 0 });
        if volatile {
            table.volatile.insert(id);
        }
        self.known.insert((offset, volatile), id);
        self.waiting.push((id, offset));
        Some(id)
    }

    fn read<'a, 'b>(
        &mut self,
        id: TypeId,
        table: &mut TypeTable,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
        signature: &dyn Fn(&Entry<'a, 'b>) -> Option<Signature>,
    ) -> Type {
        let size = types.number(entry, c::DW_AT_byte_size).unwrap_or(0);
        if hides_volatile(types, entry) {
            table.hidden_volatile.insert(id);
        }
        match entry.tag() {
            c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
                Type::Pointer(self.target(table, types, entry))
            }
            c::DW_TAG_structure_type | c::DW_TAG_union_type if !types.flag(entry, c::DW_AT_declaration) => {
                let union = entry.tag() == c::DW_TAG_union_type;
                if has_other_parts(types, entry) {
                    table.partial.insert(id);
                }
                match self.members(table, types, entry) {
                    Some(members) => Type::Aggregate { size, union, members },
                    None => Type::Other { size },
                }
            }
            c::DW_TAG_array_type if !types.flag(entry, c::DW_AT_GNU_vector) => {
                match (self.target(table, types, entry), count(types, entry)) {
                    (Some(element), Some(count)) => Type::Array { element, count },
                    _ => Type::Other { size },
                }
            }
            c::DW_TAG_subroutine_type => {
                Type::Function { signature: signature(entry), result: self.target(table, types, entry) }
            }
            c::DW_TAG_base_type if size == 1 && types.encoding(entry) == Some(c::DW_ATE_boolean) => Type::Boolean,
            c::DW_TAG_base_type | c::DW_TAG_enumeration_type => Type::Scalar { size },
            _ => Type::Other { size },
        }
    }

    fn members<'a, 'b>(
        &mut self,
        table: &mut TypeTable,
        types: &Types<'a, 'b>,
        entry: &Entry<'a, 'b>,
    ) -> Option<Vec<(u64, TypeId)>> {
        let mut members = Vec::new();
        let mut tree = types.unit.entries_tree(Some(entry.offset())).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Some(child) = children.next().ok()? {
            let child = child.entry();
            let bits = child.attr_value(c::DW_AT_bit_size).ok()?.is_some();
            if bits && entry.tag() == c::DW_TAG_union_type {
                return None;
            }
            if child.tag() != c::DW_TAG_member || bits || types.flag(child, c::DW_AT_external) {
                continue;
            }
            let start = types.member_offset(child)?;
            members.push((start, self.target(table, types, child)?));
        }
        Some(members)
    }
}

/// Has a structure parts that are no members of [`Type::Aggregate`]? In doubt it has.
fn has_other_parts<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> bool {
    let Ok(mut tree) = types.unit.entries_tree(Some(entry.offset())) else { return true };
    let Ok(root) = tree.root() else { return true };
    let mut children = root.children();
    loop {
        match children.next() {
            Ok(None) => return false,
            Err(_) => return true,
            Ok(Some(child)) => {
                let child = child.entry();
                let bits = !matches!(child.attr_value(c::DW_AT_bit_size), Ok(None));
                let inner = matches!(
                    child.tag(),
                    c::DW_TAG_structure_type | c::DW_TAG_union_type | c::DW_TAG_enumeration_type | c::DW_TAG_typedef
                );
                if bits || !inner && child.tag() != c::DW_TAG_member {
                    return true;
                }
            }
        }
    }
}

/// Is something volatile in a type that [`Type`] has no place for?
fn hides_volatile<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> bool {
    match entry.tag() {
        c::DW_TAG_array_type => {
            let odd = types.flag(entry, c::DW_AT_GNU_vector) || count(types, entry).is_none();
            odd && types.is_volatile(entry)
        }
        c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
            let Ok(mut tree) = types.unit.entries_tree(Some(entry.offset())) else { return false };
            let Ok(root) = tree.root() else { return false };
            let mut children = root.children();
            while let Ok(Some(child)) = children.next() {
                let child = child.entry();
                let odd = child.tag() != c::DW_TAG_member || matches!(child.attr_value(c::DW_AT_bit_size), Ok(Some(_)));
                let odd = odd || entry.tag() == c::DW_TAG_class_type;
                if odd && types.is_volatile(child) {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// Elements of an array, all dimensions together; `None` where it is not constant.
fn count<'a, 'b>(types: &Types<'a, 'b>, entry: &Entry<'a, 'b>) -> Option<u64> {
    let mut count: u64 = 1;
    let mut tree = types.unit.entries_tree(Some(entry.offset())).ok()?;
    let mut children = tree.root().ok()?.children();
    while let Some(child) = children.next().ok()? {
        let child = child.entry();
        if child.tag() == c::DW_TAG_subrange_type {
            let upper = || types.number(child, c::DW_AT_upper_bound).and_then(|upper| upper.checked_add(1));
            count = count.checked_mul(types.number(child, c::DW_AT_count).or_else(upper)?)?;
        }
    }
    Some(count)
}
