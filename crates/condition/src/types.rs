//! Types of C, as far as conditions need them.

use program::{SourceType, SourceTypeId, SourceTypes};
use std::fmt::Write as _;

/// A type of a value. Structures stay in the table, so that one can contain pointers to itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Void,
    Integer { bytes: u16, signed: bool, boolean: bool },
    Float { bytes: u16 },
    Pointer(Box<Type>),
    Array(Box<Type>, Option<u64>),
    Vector(Box<Type>, u64),
    Aggregate(SourceTypeId),
    Other(String, u64),
}

/// How many pointers to pointers are followed.
const DEEPEST: u32 = 12;

impl Type {
    pub const INT: Type = Type::integer(4, true);
    pub const UNSIGNED: Type = Type::integer(4, false);
    pub const LONG: Type = Type::integer(8, true);
    pub const UNSIGNED_LONG: Type = Type::integer(8, false);

    pub const fn integer(bytes: u16, signed: bool) -> Type {
        Type::Integer { bytes, signed, boolean: false }
    }

    /// A type of the source.
    pub fn of_source(types: &SourceTypes, id: SourceTypeId) -> Type {
        Type::read(types, id, DEEPEST)
    }

    fn read(types: &SourceTypes, id: SourceTypeId, depth: u32) -> Type {
        let Some(depth) = depth.checked_sub(1) else { return Type::Other("a deeply nested type".to_string(), 0) };
        match types.get(id) {
            SourceType::Integer { bytes, signed, boolean } => {
                Type::Integer { bytes: *bytes, signed: *signed, boolean: *boolean }
            }
            SourceType::Float { bytes } => Type::Float { bytes: *bytes },
            SourceType::Pointer(None) => Type::Pointer(Box::new(Type::Void)),
            SourceType::Pointer(Some(to)) => Type::Pointer(Box::new(Type::read(types, *to, depth))),
            SourceType::Array { element, count } => Type::Array(Box::new(Type::read(types, *element, depth)), *count),
            SourceType::Vector { element, count } => Type::Vector(Box::new(Type::read(types, *element, depth)), *count),
            SourceType::Aggregate { .. } => Type::Aggregate(id),
            SourceType::Other { what, size } => Type::Other(what.clone(), *size),
        }
    }

    /// Size in bytes, if it is known and not zero.
    pub fn size(&self, types: &SourceTypes) -> Option<u64> {
        let size = match self {
            Type::Void => 1,
            Type::Integer { bytes, .. } | Type::Float { bytes } => u64::from(*bytes),
            Type::Pointer(_) => 8,
            Type::Array(element, count) => element.size(types)?.checked_mul((*count)?)?,
            Type::Vector(element, count) => element.size(types)?.checked_mul(*count)?,
            Type::Aggregate(id) => match types.get(*id) {
                SourceType::Aggregate { size, .. } => (*size)?,
                _ => return None,
            },
            Type::Other(_, size) => *size,
        };
        (size > 0).then_some(size)
    }

    /// What arithmetic makes of the type: small integers become `int`.
    pub fn promoted(&self) -> Type {
        match self {
            Type::Integer { bytes: 1 | 2, .. } => Type::INT,
            Type::Integer { bytes, signed, .. } => Type::integer(*bytes, *signed),
            other => other.clone(),
        }
    }

    pub fn is_integer(&self) -> bool {
        matches!(self, Type::Integer { .. })
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self, Type::Pointer(_))
    }

    /// Does a comparison of such values look at a sign?
    pub fn is_signed(&self) -> bool {
        matches!(self, Type::Integer { signed: true, .. })
    }

    /// As it is written in a cast.
    pub fn text(&self, types: &SourceTypes) -> String {
        match self {
            Type::Void => "void".to_string(),
            Type::Integer { boolean: true, .. } => "_Bool".to_string(),
            Type::Integer { bytes, signed, .. } => {
                let word = match bytes {
                    1 if *signed => "signed char",
                    1 => "char",
                    2 => "short",
                    4 => "int",
                    _ => "long",
                };
                if *signed { word.to_string() } else { format!("unsigned {word}") }
            }
            Type::Float { bytes: 4 } => "float".to_string(),
            Type::Float { .. } => "double".to_string(),
            Type::Pointer(to) => {
                let mut text = to.text(types);
                let _ = write!(text, "{}*", if matches!(**to, Type::Pointer(_)) { "" } else { " " });
                text
            }
            Type::Array(element, count) => {
                format!("{}[{}]", element.text(types), count.map_or(String::new(), |n| n.to_string()))
            }
            Type::Vector(element, count) => format!("a vector of {count} {}", element.text(types)),
            Type::Aggregate(id) => match types.get(*id) {
                SourceType::Aggregate { name, .. } if !name.is_empty() => name.clone(),
                _ => types.name_of(*id).unwrap_or("an unnamed structure").to_string(),
            },
            Type::Other(what, _) => what.clone(),
        }
    }
}

/// A type that every condition knows, by its words.
pub(crate) fn basic(words: &[&str]) -> Option<Type> {
    if let [word] = words {
        let known = match *word {
            "void" => Type::Void,
            "_Bool" | "bool" => Type::Integer { bytes: 1, signed: false, boolean: true },
            "float" => Type::Float { bytes: 4 },
            "double" => Type::Float { bytes: 8 },
            "int8_t" => Type::integer(1, true),
            "uint8_t" => Type::integer(1, false),
            "int16_t" => Type::integer(2, true),
            "uint16_t" => Type::integer(2, false),
            "int32_t" => Type::INT,
            "uint32_t" => Type::UNSIGNED,
            "int64_t" | "intptr_t" | "ptrdiff_t" | "ssize_t" => Type::LONG,
            "uint64_t" | "uintptr_t" | "size_t" => Type::UNSIGNED_LONG,
            _ => return whole(words),
        };
        return Some(known);
    }
    whole(words)
}

/// `char`, `short`, `int`, `long` with what C lets stand before and behind them.
fn whole(words: &[&str]) -> Option<Type> {
    let mut count = [0u32; 6];
    const WORDS: [&str; 6] = ["signed", "unsigned", "char", "short", "int", "long"];
    for word in words {
        count[WORDS.iter().position(|known| known == word)?] += 1;
    }
    let [signed, unsigned, char, short, int, long] = count;
    if words.is_empty() || signed + unsigned > 1 || char > 1 || short > 1 || int > 1 || long > 2 {
        return None;
    }
    let bytes = match (char, short, int, long) {
        (1, 0, 0, 0) => 1,
        (0, 1, _, 0) => 2,
        (0, 0, _, 1 | 2) => 8,
        (0, 0, _, 0) => 4,
        _ => return None,
    };
    Some(Type::integer(bytes, unsigned == 0))
}
