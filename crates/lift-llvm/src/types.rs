//! Types and their layout on x86-64.

use crate::token::{Reader, Token};
use ir::Kind;
use rustc_hash::FxHashMap;

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Void,
    Scalar(Kind),
    Array(u64, Box<Type>),
    Struct {
        fields: Vec<Type>,
        packed: bool,
    },
    /// A structure by name.
    Named(String),
    /// One that is not handled.
    Odd(String),
}

/// Structures by name.
pub(crate) type Names = FxHashMap<String, Type>;

/// Deepest type that is read.
const DEEPEST: usize = 64;

impl Type {
    pub fn read(reader: &mut Reader<'_>) -> Result<Type, String> {
        Type::inside(reader, 0)
    }

    fn inside(reader: &mut Reader<'_>, depth: usize) -> Result<Type, String> {
        if depth > DEEPEST {
            return Err("types inside each other without end".to_string());
        }
        match reader.next()? {
            Token::Word(word) => Ok(match word.as_str() {
                "void" => Type::Void,
                "float" => Type::Scalar(Kind::Float),
                "double" => Type::Scalar(Kind::Double),
                "ptr" => Type::Scalar(Kind::Pointer),
                "i1" => Type::Scalar(Kind::Int(1)),
                "i8" => Type::Scalar(Kind::Int(8)),
                "i16" => Type::Scalar(Kind::Int(16)),
                "i32" => Type::Scalar(Kind::Int(32)),
                "i64" => Type::Scalar(Kind::Int(64)),
                other => Type::Odd(other.to_string()),
            }),
            Token::Local(name) => Ok(Type::Named(name.clone())),
            Token::Mark('[') => {
                let count = reader.word()?.parse().map_err(|_| "an array without a length".to_string())?;
                if !reader.take_word("x") {
                    return Err("an array without elements".to_string());
                }
                let element = Type::inside(reader, depth + 1)?;
                reader.expect(']')?;
                Ok(Type::Array(count, Box::new(element)))
            }
            Token::Mark('{') => Type::fields(reader, false, depth),
            Token::Mark('<') if reader.take('{') => {
                let made = Type::fields(reader, true, depth)?;
                reader.expect('>')?;
                Ok(made)
            }
            Token::Mark('<') => {
                let (count, _) = (reader.word()?, reader.take_word("x"));
                Type::inside(reader, depth + 1)?;
                reader.expect('>')?;
                Ok(Type::Odd(format!("a vector of {count}")))
            }
            other => Err(format!("no type where one is expected: {other:?}")),
        }
    }

    fn fields(reader: &mut Reader<'_>, packed: bool, depth: usize) -> Result<Type, String> {
        let mut fields = Vec::new();
        while !reader.take('}') {
            fields.push(Type::inside(reader, depth + 1)?);
            reader.take(',');
        }
        Ok(Type::Struct { fields, packed })
    }

    /// What a register of this type holds.
    pub fn kind(&self) -> Result<Kind, String> {
        match self {
            Type::Scalar(kind) => Ok(*kind),
            other => Err(format!("a value of the type {other:?}")),
        }
    }

    /// What a register for a value of this type holds: of a structure the address of a copy that nobody changes.
    pub fn register(&self) -> Result<Kind, String> {
        match self {
            Type::Struct { .. } | Type::Named(_) | Type::Array(..) => Ok(Kind::Pointer),
            other => other.kind(),
        }
    }

    pub fn is_structure(&self) -> bool {
        matches!(self, Type::Struct { .. } | Type::Named(_) | Type::Array(..))
    }

    pub fn resolved<'a>(&'a self, names: &'a Names) -> Result<&'a Type, String> {
        match self {
            Type::Named(name) => names.get(name).ok_or_else(|| format!("the structure `{name}` is not known")),
            other => Ok(other),
        }
    }

    /// Size and alignment.
    pub fn layout(&self, names: &Names) -> Result<(u64, u64), String> {
        self.layout_inside(names, 0)
    }

    fn layout_inside(&self, names: &Names, depth: usize) -> Result<(u64, u64), String> {
        if depth > DEEPEST {
            return Err("types inside each other without end".to_string());
        }
        let too_large = || "too large a type".to_string();
        match self.resolved(names)? {
            Type::Scalar(kind) => Ok((u64::from(kind.bytes()), u64::from(kind.bytes()))),
            Type::Array(count, element) => {
                let (size, align) = element.layout_inside(names, depth + 1)?;
                Ok((size.checked_mul(*count).ok_or_else(too_large)?, align))
            }
            Type::Struct { fields, packed } => {
                let (mut at, mut most) = (0u64, 1);
                for field in fields {
                    let (size, align) = field.layout_inside(names, depth + 1)?;
                    let align = if *packed { 1 } else { align };
                    at = at.next_multiple_of(align).checked_add(size).ok_or_else(too_large)?;
                    most = most.max(align);
                }
                Ok((at.next_multiple_of(most), most))
            }
            other => Err(format!("the type {other:?}")),
        }
    }

    /// Where a field or element starts, and its type.
    pub fn part<'a>(&'a self, index: u64, names: &'a Names) -> Result<(u64, &'a Type), String> {
        match self.resolved(names)? {
            Type::Array(_, element) => {
                let (size, _) = element.layout(names)?;
                Ok((size.checked_mul(index).ok_or_else(|| "too large an index".to_string())?, element))
            }
            Type::Struct { fields, packed } => {
                let mut at = 0u64;
                for (number, field) in fields.iter().enumerate() {
                    let (size, align) = field.layout(names)?;
                    at = at.next_multiple_of(if *packed { 1 } else { align });
                    if number as u64 == index {
                        return Ok((at, field));
                    }
                    at += size;
                }
                Err("a structure without this field".to_string())
            }
            other => Err(format!("parts of the type {other:?}")),
        }
    }

    /// The smallest cell that a value of the type needs: one, two, four or eight bytes.
    pub fn grain(&self, names: &Names) -> u8 {
        self.finest(names, 0).unwrap_or(1)
    }

    fn finest(&self, names: &Names, depth: usize) -> Option<u8> {
        if depth > DEEPEST {
            return None;
        }
        match self.resolved(names).ok()? {
            Type::Scalar(kind) => Some(kind.bytes()),
            Type::Array(_, element) => element.finest(names, depth + 1),
            Type::Struct { fields, packed } => {
                let parts: Vec<u8> = fields.iter().filter_map(|f| f.finest(names, depth + 1)).collect();
                let least = parts.iter().copied().min()?;
                Some(if *packed && parts.iter().any(|p| *p != least) { 1 } else { least })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokens;

    fn layout(text: &str) -> Result<(u64, u64), String> {
        let list = tokens(text)?;
        Type::read(&mut Reader::new(&list))?.layout(&Names::default())
    }

    #[test]
    fn structures_are_padded_unless_they_are_packed() {
        assert_eq!(layout("{ i8, i32, double }"), Ok((16, 8)));
        assert_eq!(layout("<{ i8, i32 }>"), Ok((5, 1)));
        assert_eq!(layout("[3 x { i16, i8 }]"), Ok((12, 2)));
        assert!(layout("<4 x float>").is_err());
        assert!(layout("x86_fp80").is_err());
    }
}
