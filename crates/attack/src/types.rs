//! Types of C as the generators use them: how they are written, given seeded values, observed, and changed in one place.
//!
//! Whatever has parts is taken apart into *leaves*, lvalues of scalar types. Padding is in no leaf, so it is never compared.

use crate::random::Random;

/// What a scalar holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number with or without a sign.
    Integer,
    /// `_Bool`.
    Truth,
    /// `float` or `double`.
    Float,
    /// `long double`, of which ten bytes count.
    Extended,
    /// A pointer into the harness's memory.
    Pointer,
}

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// As written in C.
    pub c: &'static str,
    /// In bytes.
    pub size: usize,
    /// What it holds.
    pub kind: Kind,
}

const fn integer(c: &'static str, size: usize) -> Scalar {
    Scalar { c, size, kind: Kind::Integer }
}

/// The integer types up to eight bytes.
pub const INTEGERS: [Scalar; 9] = [
    integer("int", 4),
    integer("unsigned", 4),
    integer("long", 8),
    integer("unsigned long", 8),
    integer("char", 1),
    integer("unsigned char", 1),
    integer("signed char", 1),
    integer("short", 2),
    integer("unsigned short", 2),
];
/// `_Bool`.
pub const TRUTH: Scalar = Scalar { c: "_Bool", size: 1, kind: Kind::Truth };
/// Sixteen bytes.
pub const WIDE: [Scalar; 2] = [integer("__int128", 16), integer("unsigned __int128", 16)];
/// `float` and `double`.
pub const FLOATS: [Scalar; 2] =
    [Scalar { c: "float", size: 4, kind: Kind::Float }, Scalar { c: "double", size: 8, kind: Kind::Float }];
/// `long double`.
pub const EXTENDED: Scalar = Scalar { c: "long double", size: 16, kind: Kind::Extended };
/// Pointers.
pub const POINTERS: [Scalar; 3] = [
    Scalar { c: "char *", size: 8, kind: Kind::Pointer },
    Scalar { c: "int *", size: 8, kind: Kind::Pointer },
    Scalar { c: "void *", size: 8, kind: Kind::Pointer },
];

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// Without parts.
    Scalar(Scalar),
    /// A real and an imaginary part.
    Complex(Scalar),
    /// A vector of so many elements, by its name.
    Vector(String, Scalar, usize),
    /// A structure or union, by its name.
    Record(String, Vec<Member>),
}

/// A member of a structure; of a union, the one that covers it.
#[derive(Clone, Debug)]
pub struct Member {
    name: String,
    of: Type,
    /// Number of elements of an array.
    count: Option<usize>,
    bits: Option<usize>,
}

/// A scalar inside a value.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// How it is written.
    pub lvalue: String,
    /// Its type.
    pub scalar: Scalar,
    bits: Option<usize>,
}

impl Type {
    /// As written in C.
    pub fn c(&self) -> String {
        match self {
            Type::Scalar(scalar) => scalar.c.into(),
            Type::Complex(scalar) => format!("_Complex {}", scalar.c),
            Type::Vector(name, ..) | Type::Record(name, _) => name.clone(),
        }
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Whether it is an integer of at most eight bytes.
    pub fn is_integer(&self) -> bool {
        matches!(self, Type::Scalar(s) if s.kind == Kind::Integer && s.size <= 8)
    }

    /// The type that a variadic or undeclared function receives.
    pub fn promoted(&self) -> Type {
        match self {
            Type::Scalar(s) if matches!(s.kind, Kind::Integer | Kind::Truth) && s.size < 4 => Type::Scalar(INTEGERS[0]),
            Type::Scalar(s) if s.kind == Kind::Float => Type::Scalar(FLOATS[1]),
            other => other.clone(),
        }
    }

    /// The scalars of the value that is written so.
    pub fn leaves(&self, lvalue: &str) -> Vec<Leaf> {
        let leaf = |lvalue: String, scalar: Scalar| Leaf { lvalue, scalar, bits: None };
        match self {
            Type::Scalar(scalar) => vec![leaf(lvalue.into(), *scalar)],
            Type::Complex(scalar) => {
                vec![leaf(format!("__real__ {lvalue}"), *scalar), leaf(format!("__imag__ {lvalue}"), *scalar)]
            }
            Type::Vector(_, scalar, count) => (0..*count).map(|i| leaf(format!("{lvalue}[{i}]"), *scalar)).collect(),
            Type::Record(_, members) => members.iter().flat_map(|m| m.leaves(lvalue)).collect(),
        }
    }

    /// Statements of the harness that give every part a seeded value.
    pub fn seed(&self, lvalue: &str) -> String {
        self.leaves(lvalue).iter().map(Leaf::seed).collect()
    }

    /// Statements of the harness that observe every part.
    pub fn see(&self, lvalue: &str) -> String {
        self.leaves(lvalue).iter().map(Leaf::see).collect()
    }

    /// Statements that change one part of the value that is written so.
    pub fn changes(&self, lvalue: &str) -> Vec<String> {
        self.leaves(lvalue).iter().flat_map(Leaf::changes).collect()
    }
}

impl Member {
    fn leaves(&self, record: &str) -> Vec<Leaf> {
        let member = format!("{record}.{}", self.name);
        match (self.count, self.bits) {
            (Some(count), _) => (0..count).flat_map(|i| self.of.leaves(&format!("{member}[{i}]"))).collect(),
            (None, bits) => self.of.leaves(&member).into_iter().map(|l| Leaf { bits, ..l }).collect(),
        }
    }
}

impl Leaf {
    fn seed(&self) -> String {
        let value = match self.scalar.kind {
            Kind::Integer if self.scalar.size == 16 => "any128()",
            Kind::Integer => "any()",
            Kind::Truth => "(any() & 1)",
            Kind::Float | Kind::Extended => "any_float()",
            Kind::Pointer => "any_pointer()",
        };
        format!("{} = ({}){value}; ", self.lvalue, self.scalar.c)
    }

    fn see(&self) -> String {
        let function = match self.scalar.kind {
            Kind::Integer if self.scalar.size == 16 => "see128",
            Kind::Integer | Kind::Truth => "see_number",
            Kind::Float => "see_float",
            Kind::Extended => "see_extended",
            Kind::Pointer => "see_pointer",
        };
        format!("{function}({}); ", self.lvalue)
    }

    /// Statements that change it.
    pub fn changes(&self) -> Vec<String> {
        let l = &self.lvalue;
        match self.scalar.kind {
            Kind::Integer => {
                let mut changes = vec![format!("{l} += 1;"), format!("{l} ^= 1;")];
                let bits = self.bits.unwrap_or(self.scalar.size * 8);
                changes.extend((7..bits).step_by(8).map(|bit| format!("{l} ^= ({})1 << {bit};", self.scalar.c)));
                changes
            }
            Kind::Truth => vec![format!("{l} = !{l};")],
            Kind::Float | Kind::Extended => vec![format!("{l} += 1;"), format!("{l} = -{l};")],
            Kind::Pointer => vec![format!("{l} = ({})((char *){l} + 1);", self.scalar.c)],
        }
    }
}

/// What a random type may be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Vectors of 32 bytes.
    pub avx: bool,
    /// `__int128`: of one that does not fit into the registers that are left, clang puts half into the last.
    pub wide: bool,
    /// `long double`, which the prover does not model yet.
    pub extended: bool,
    /// Whether a structure may stand in a structure.
    pub depth: usize,
}

/// A random type; what must be declared for it is added to `declared`.
pub fn random_type(random: &mut Random, name: &str, wanted: Wanted, declared: &mut String) -> Type {
    match random.below(12) {
        0..=3 => Type::Scalar(*random.pick(&INTEGERS)),
        4 => Type::Scalar(*random.pick(&FLOATS)),
        5 => Type::Scalar(*random.pick(&POINTERS)),
        6 if random.one_in(2) || !wanted.wide => Type::Scalar(TRUTH),
        6 => Type::Scalar(*random.pick(&WIDE)),
        7 if wanted.extended && random.one_in(2) => Type::Scalar(EXTENDED),
        7 => Type::Complex([FLOATS[0], FLOATS[1], INTEGERS[2], INTEGERS[0]][random.below(4)]),
        8 => vector(random, name, wanted, declared),
        _ => record(random, name, wanted, declared),
    }
}

fn vector(random: &mut Random, name: &str, wanted: Wanted, declared: &mut String) -> Type {
    let bytes = if wanted.avx { [8, 16, 32, 32][random.below(4)] } else { [8, 16, 16][random.below(3)] };
    let element = [FLOATS[0], FLOATS[1], INTEGERS[0], INTEGERS[2], INTEGERS[7], INTEGERS[4]][random.below(6)];
    // gcc and clang pass a vector of one element in different registers.
    let element = if element.size == bytes { FLOATS[0] } else { element };
    declared.push_str(&format!("typedef {} {name} __attribute__((vector_size({bytes})));\n", element.c));
    Type::Vector(name.into(), element, bytes / element.size)
}

fn record(random: &mut Random, name: &str, wanted: Wanted, declared: &mut String) -> Type {
    let union = random.one_in(6);
    let packed = random.one_in(6);
    let mut members = Vec::new();
    let mut text = String::new();
    for number in 0..random.below(4) + 1 {
        let member = format!("m{number}");
        let of = if wanted.depth > 0 && random.one_in(6) {
            record(random, &format!("{name}_{number}"), Wanted { depth: wanted.depth - 1, ..wanted }, declared)
        } else {
            match random.below(8) {
                0..=4 => Type::Scalar(*random.pick(&INTEGERS)),
                5 => Type::Scalar(*random.pick(&FLOATS)),
                6 => Type::Scalar(*random.pick(&POINTERS)),
                _ => Type::Scalar(TRUTH),
            }
        };
        let count = random.one_in(4).then(|| random.below(4) + 1);
        let bits = match &of {
            Type::Scalar(s) if count.is_none() && !union && s.kind == Kind::Integer && random.one_in(5) => {
                Some(random.below(s.size * 8 - 1) + 1)
            }
            _ => None,
        };
        let array = count.map_or(String::new(), |n| format!("[{n}]"));
        let width = bits.map_or(String::new(), |n| format!(" : {n}"));
        text.push_str(&format!(" {} {member}{array}{width};", of.c()));
        members.push(Member { name: member, of, count, bits });
    }
    if union {
        // The last member covers all others: it alone is seeded and observed.
        text.push_str(" unsigned char all[32];");
        members = vec![Member { name: "all".into(), of: Type::Scalar(INTEGERS[5]), count: Some(32), bits: None }];
        if random.one_in(2) {
            text = format!(" {} few; unsigned char all[8];", random.pick(&INTEGERS).c);
            members[0].count = Some(8);
        }
    }
    let word = if union { "union" } else { "struct" };
    let attribute = if packed { " __attribute__((packed))" } else { "" };
    declared.push_str(&format!("{word} {name} {{{text} }}{attribute};\n"));
    Type::Record(format!("{word} {name}"), members)
}
