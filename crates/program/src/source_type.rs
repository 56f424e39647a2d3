//! Types as the source declares them, with the names of members.
//!
//! Conditions are written and shown in the source's words: `v->z == 0` needs to know where `z` lies in what `v` points to, and
//! whether it is signed. The types of a file are one table, in which a structure may contain pointers to itself.
//!
//! Trust: none. A wrong type gives a wrong condition, which is printed as the expression that a proof is about.

use std::collections::BTreeMap;

/// Handle of a type in its [`SourceTypes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SourceTypeId(u32);

/// A type without qualifiers; names of types are looked through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SourceType {
    /// A whole number, an enumeration, `_Bool`.
    Integer {
        /// Size in bytes.
        bytes: u16,
        /// With a sign?
        signed: bool,
        /// Is it `_Bool`?
        boolean: bool,
    },
    /// A floating-point number.
    Float {
        /// Size in bytes.
        bytes: u16,
    },
    /// A pointer; `None` to `void`, to a function, or to something that is not described.
    Pointer(Option<SourceTypeId>),
    /// An array of a number of elements, if it is known.
    Array {
        /// Type of an element; arrays of more dimensions are arrays of arrays.
        element: SourceTypeId,
        /// How many.
        count: Option<u64>,
    },
    /// A vector of the compiler's extension.
    Vector {
        /// Type of an element.
        element: SourceTypeId,
        /// How many.
        count: u64,
    },
    /// A structure or union.
    Aggregate {
        /// `struct name`, `union name`, or empty.
        name: String,
        /// Size in bytes; `None` if it is only declared.
        size: Option<u64>,
        /// Members in order.
        members: Vec<SourceMember>,
    },
    /// Anything else, in words.
    Other {
        /// What it is.
        what: String,
        /// Size in bytes, 0 when unknown.
        size: u64,
    },
}

/// A member of a structure or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceMember {
    /// Its name; empty for an anonymous structure or union.
    pub name: String,
    /// Distance from the start.
    pub offset: u64,
    /// Its type.
    pub ty: SourceTypeId,
    /// Is it a bit field?
    pub bits: bool,
}

/// The types of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceTypes {
    types: Vec<SourceType>,
    /// Types by the names that the source gives them: `name`, `struct name`, `union name`, `enum name`. Where a name stands for
    /// several in a file, the first counts.
    names: BTreeMap<String, SourceTypeId>,
    /// Enumerators.
    constants: BTreeMap<String, i128>,
    /// Types of variables by the names that objects have ([`crate::Object::name`]).
    variables: BTreeMap<String, SourceTypeId>,
}

impl SourceTypes {
    /// A type by its handle.
    pub fn get(&self, id: SourceTypeId) -> &SourceType {
        &self.types[id.0 as usize]
    }

    /// A type by its name.
    pub fn named(&self, name: &str) -> Option<SourceTypeId> {
        self.names.get(name).copied()
    }

    /// A name of a type.
    pub fn name_of(&self, id: SourceTypeId) -> Option<&str> {
        self.names.iter().find(|(_, named)| **named == id).map(|(name, _)| name.as_str())
    }

    /// The value of an enumerator.
    pub fn constant(&self, name: &str) -> Option<i128> {
        self.constants.get(name).copied()
    }

    /// The type of a variable.
    pub fn variable(&self, name: &str) -> Option<SourceTypeId> {
        self.variables.get(name).copied()
    }

    /// Adds a type.
    pub fn add(&mut self, ty: SourceType) -> SourceTypeId {
        let id = SourceTypeId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        self.types.push(ty);
        id
    }

    /// Says what a type is that was added before it was known.
    pub fn define(&mut self, id: SourceTypeId, ty: SourceType) {
        self.types[id.0 as usize] = ty;
    }

    /// Gives a type a name, if nothing has it yet.
    pub fn name(&mut self, name: String, id: SourceTypeId) {
        self.names.entry(name).or_insert(id);
    }

    /// Notes an enumerator.
    pub fn add_constant(&mut self, name: String, value: i128) {
        self.constants.entry(name).or_insert(value);
    }

    /// Notes the type of a variable.
    pub fn add_variable(&mut self, name: String, id: SourceTypeId) {
        self.variables.entry(name).or_insert(id);
    }

    /// How many types there are.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}
