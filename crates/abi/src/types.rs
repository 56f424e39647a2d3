//! Types as the calling convention sees them: scalars at offsets.

/// A type of a parameter or a result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Type {
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Its scalars. Above 64 bytes they do not matter and may be left out.
    pub members: Vec<Member>,
    /// Is it a structure, union, array or `_Complex` number, which is never extended?
    pub aggregate: bool,
}

/// A scalar inside a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Offset in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Kind.
    pub scalar: Scalar,
}

/// A kind of scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// Integer, enumeration, pointer, part of a bit field, at most 16 bytes.
    Integer {
        /// A `_Bool`?
        boolean: bool,
        /// Is it extended with its sign?
        signed: bool,
    },
    /// A number or vector in a vector register: `float`, `double`, `_Float128`, vectors of 8, 16, 32 and 64 bytes.
    Sse,
    /// `long double`.
    X87,
    /// `_Complex long double`.
    ComplexX87,
}

impl Scalar {
    /// An ordinary integer.
    pub const INTEGER: Scalar = Scalar::Integer { boolean: false, signed: false };
}

impl Type {
    /// A type of one scalar.
    pub fn scalar(size: u64, scalar: Scalar) -> Type {
        let align = if size.is_power_of_two() { size } else { 1 };
        let align = if scalar == Scalar::ComplexX87 { 16 } else { align };
        Type { size, align, members: vec![Member { offset: 0, size, scalar }], aggregate: false }
    }

    /// The `_Bool`, `char` or `short` that the type is, if callers extend it: its size, and whether with its sign.
    pub fn extended(&self) -> Option<(u64, bool)> {
        match self.members[..] {
            [Member { offset: 0, size: size @ 1..=2, scalar: Scalar::Integer { boolean: false, signed } }]
                if !self.aggregate =>
            {
                Some((size, signed))
            }
            _ => None,
        }
    }

    /// Is it a `_Bool`?
    pub fn is_boolean(&self) -> bool {
        !self.aggregate && matches!(self.members[..], [Member { scalar: Scalar::Integer { boolean: true, .. }, .. }])
    }
}
