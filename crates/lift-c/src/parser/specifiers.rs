//! Declaration specifiers: which type, and `static`, `const`, `typedef`.

use super::{Parser, basic};
use crate::ast::{Basic, Type};
use crate::error::Error;
use crate::lexer::Kind;

/// What stands before the declarators.
#[derive(Clone, Debug)]
pub(super) struct Specifiers {
    pub ty: Type,
    pub is_typedef: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub constant: bool,
    pub volatile: bool,
}

const KEYWORDS: [&str; 40] = [
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "_Bool",
    "_Complex",
    "__restrict",
    "__inline",
    "__restrict__",
    "__inline__",
];

/// Is the word reserved?
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Types that headers define; known without them.
fn library_type(word: &str) -> Option<Type> {
    Some(basic(match word {
        "size_t" | "uint64_t" | "uintptr_t" => Basic::UnsignedLong,
        "ptrdiff_t" | "int64_t" | "ssize_t" | "intptr_t" => Basic::Long,
        "int32_t" => Basic::Int,
        "uint32_t" => Basic::Unsigned,
        "int16_t" => Basic::Short,
        "uint16_t" => Basic::UnsignedShort,
        "int8_t" => Basic::SignedChar,
        "uint8_t" => Basic::UnsignedChar,
        _ => return None,
    }))
}

#[derive(Default)]
struct Words {
    char: u32,
    short: u32,
    int: u32,
    long: u32,
    signed: u32,
    unsigned: u32,
    float: u32,
    double: u32,
    bool: u32,
    void: u32,
    other: Option<String>,
}

impl Words {
    fn basic(&self) -> Option<Type> {
        if let Some(other) = &self.other {
            return Some(Type::Other(other.clone()));
        }
        let unsigned = self.unsigned > 0;
        let pick = |yes, no| Some(basic(if unsigned { yes } else { no }));
        match self {
            Words { void: 1.., .. } => Some(Type::Void),
            Words { double: 1.., long: 1.., .. } => Some(Type::Other("long double".to_string())),
            Words { double: 1.., .. } => Some(basic(Basic::Double)),
            Words { float: 1.., .. } => Some(basic(Basic::Float)),
            Words { bool: 1.., .. } => Some(basic(Basic::Bool)),
            Words { char: 1.., signed: 1.., .. } => Some(basic(Basic::SignedChar)),
            Words { char: 1.., .. } => pick(Basic::UnsignedChar, Basic::Char),
            Words { short: 1.., .. } => pick(Basic::UnsignedShort, Basic::Short),
            Words { long: 1.., .. } => pick(Basic::UnsignedLong, Basic::Long),
            Words { int: 1.., .. } | Words { signed: 1.., .. } | Words { unsigned: 1.., .. } => {
                pick(Basic::Unsigned, Basic::Int)
            }
            _ => None,
        }
    }

    fn any(&self) -> bool {
        self.basic().is_some()
    }
}

impl<'a> Parser<'a> {
    /// Does a declaration or a type name start here?
    pub(super) fn at_type(&self) -> bool {
        let token = self.peek();
        if token.kind != Kind::Word {
            return false;
        }
        match self.text() {
            "void" | "char" | "short" | "int" | "long" | "float" | "double" | "signed" | "unsigned" | "_Bool"
            | "struct" | "union" | "enum" | "const" | "volatile" | "static" | "extern" | "register" | "auto"
            | "typedef" | "inline" | "__inline" | "__inline__" | "__extension__" | "__const" | "__signed__"
            | "__attribute__" | "_Complex" | "__complex__" | "_Float128" | "__float128" | "__int128" | "restrict"
            | "__restrict" | "__restrict__" | "_Noreturn" | "__typeof__" | "typeof" | "__typeof" | "_Alignas" => true,
            word => self.typedef(token.name).is_some() || library_type(word).is_some() && !self.is_hidden(token.name),
        }
    }

    fn is_hidden(&self, name: crate::lexer::Name) -> bool {
        self.types.iter().any(|scope| matches!(scope.get(&name), Some(None)))
    }

    pub(super) fn skip_attributes(&mut self) {
        loop {
            match self.text() {
                "__attribute__" | "__asm__" | "asm" | "__declspec" | "_Alignas" => {
                    self.at += 1;
                    self.skip_brackets();
                }
                "__extension__" => self.at += 1,
                _ => return,
            }
        }
    }

    pub(super) fn skip_brackets(&mut self) {
        let mut depth = 0;
        while self.peek().kind != Kind::End {
            match self.text() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth <= 0 {
                return;
            }
        }
    }

    pub(super) fn specifiers(&mut self) -> Result<Specifiers, Error> {
        let mut words = Words::default();
        let mut named: Option<Type> = None;
        let (mut is_typedef, mut is_static, mut is_extern) = (false, false, false);
        let (mut constant, mut volatile) = (false, false);
        loop {
            self.skip_attributes();
            let token = self.peek();
            if token.kind != Kind::Word {
                break;
            }
            match self.text() {
                "typedef" => is_typedef = true,
                "static" => is_static = true,
                "extern" => is_extern = true,
                "const" | "__const" => constant = true,
                "volatile" | "__volatile__" => volatile = true,
                "register" | "auto" | "inline" | "__inline" | "__inline__" | "restrict" | "__restrict"
                | "__restrict__" | "_Noreturn" => {}
                "void" => words.void += 1,
                "char" => words.char += 1,
                "short" => words.short += 1,
                "int" => words.int += 1,
                "long" => words.long += 1,
                "signed" | "__signed__" => words.signed += 1,
                "unsigned" => words.unsigned += 1,
                "float" => words.float += 1,
                "double" => words.double += 1,
                "_Bool" => words.bool += 1,
                word @ ("_Complex" | "__complex__" | "_Float128" | "__float128" | "__int128") => {
                    words.other = Some(word.to_string());
                }
                "struct" | "union" => {
                    named = Some(self.structure()?);
                    continue;
                }
                "enum" => {
                    named = Some(self.enumeration()?);
                    continue;
                }
                "__typeof__" | "typeof" | "__typeof" => {
                    named = Some(self.type_of()?);
                    continue;
                }
                word => {
                    if words.any() || named.is_some() {
                        break;
                    }
                    let found = self.typedef(token.name).cloned();
                    let library = if self.is_hidden(token.name) { None } else { library_type(word) };
                    match found.or(library) {
                        Some(ty) => named = Some(ty),
                        None => break,
                    }
                }
            }
            self.at += 1;
        }
        let ty = match (named, words.basic()) {
            (Some(ty), _) => ty,
            (None, Some(ty)) => ty,
            (None, None) => return Err(self.unexpected("a type")),
        };
        // Every access counts and keeps its place: refused wherever the type is used, behind names and pointers, too.
        let ty = if volatile { Type::Other("volatile".to_string()) } else { ty };
        Ok(Specifiers { ty, is_typedef, is_static, is_extern, constant, volatile })
    }

    /// `typeof (type)` or `typeof (expression)`.
    fn type_of(&mut self) -> Result<Type, Error> {
        self.at += 1;
        self.expect("(")?;
        let ty = if self.at_type() { self.type_name()? } else { Type::Typeof(Box::new(self.expression()?)) };
        self.expect(")")?;
        Ok(ty)
    }

    fn structure(&mut self) -> Result<Type, Error> {
        self.enter()?;
        let union = self.next_is_union();
        self.skip_attributes();
        let tag = if self.text() == "{" { None } else { Some(self.word()?) };
        let number = match tag.and_then(|tag| self.tags.get(&tag).copied()) {
            Some(known) => known,
            None => {
                let name = tag.map_or("structure".to_string(), |t| self.names.text(t).to_string());
                let number = self.add_struct(name, union);
                if let Some(tag) = tag {
                    self.tags.insert(tag, number);
                    self.file.file_names.push(tag);
                }
                number
            }
        };
        if self.eat("{") {
            let mut members = Vec::new();
            while !self.eat("}") {
                let specifiers = self.specifiers()?;
                loop {
                    let (name, ty) = self.declarator(specifiers.ty.clone())?;
                    let name = name.ok_or_else(|| self.unexpected("a member's name"))?;
                    if self.text() == ":" {
                        return Err(self.malformed("bit fields are not supported"));
                    }
                    members.push((name, ty));
                    self.skip_attributes();
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(";")?;
            }
            // Tags are kept without their scopes.
            if self.file.structs[number as usize].members.is_some() {
                let tag = self.file.structs[number as usize].name.clone();
                return Err(self.unsupported(format!("the tag `{tag}`, which is defined twice")));
            }
            self.file.structs[number as usize].members = Some(members);
        }
        self.leave();
        Ok(Type::Struct(number))
    }

    fn next_is_union(&mut self) -> bool {
        let union = self.text() == "union";
        self.at += 1;
        union
    }

    /// An enumeration. Its type is `unsigned int`, or `int` if an enumerator is negative (as GCC and Clang choose); its
    /// enumerators are of type `int`. Other ones are refused.
    fn enumeration(&mut self) -> Result<Type, Error> {
        self.at += 1;
        self.skip_attributes();
        let tag = if self.text() == "{" { None } else { Some(self.word()?) };
        if !self.eat("{") {
            let known = tag.and_then(|tag| self.enums.get(&tag)).cloned();
            return known.ok_or_else(|| self.unsupported("an enumeration before its definition"));
        }
        let (mut value, mut negative) = (0i64, false);
        while !self.eat("}") {
            let name = self.word()?;
            if self.eat("=") {
                let expr = self.conditional()?;
                value = self.constant_value(&expr).ok_or_else(|| self.unsupported("the value of this enumerator"))?;
            }
            if i32::try_from(value).is_err() {
                return Err(self.unsupported("an enumerator that is no `int`"));
            }
            negative |= value < 0;
            self.file.constants.push((name, value));
            self.file.file_names.push(name);
            value += 1;
            if !self.eat(",") && self.text() != "}" {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.skip_attributes();
        let ty = basic(if negative { Basic::Int } else { Basic::Unsigned });
        if let Some(tag) = tag
            && self.enums.insert(tag, ty.clone()).is_some()
        {
            return Err(self.unsupported(format!("the tag `{}`, which is defined twice", self.names.text(tag))));
        }
        Ok(ty)
    }

    /// The value of a simple constant expression of type `int`.
    fn constant_value(&self, expr: &crate::ast::Expr) -> Option<i64> {
        self.int_value(expr).filter(|value| i32::try_from(*value).is_ok())
    }

    fn int_value(&self, expr: &crate::ast::Expr) -> Option<i64> {
        use crate::ast::{Binary, ExprKind, Unary};
        match &expr.kind {
            // Only what is of type `int` throughout is certain.
            ExprKind::Number(name) => match crate::literals::number(self.names.text(*name))? {
                (updates::Constant::Int(value), updates::Scalar::I32) => Some(value),
                _ => None,
            },
            ExprKind::Char(name) => crate::literals::character(self.names.text(*name)),
            ExprKind::Name(name) => self.file.constants.iter().find(|(n, _)| n == name).map(|(_, v)| *v),
            ExprKind::Unary(Unary::Minus, inner) => self.constant_value(inner)?.checked_neg(),
            ExprKind::Unary(Unary::Plus, inner) => self.constant_value(inner),
            ExprKind::Choice(cond, yes, no) => {
                self.constant_value(if self.constant_value(cond)? != 0 { yes } else { no })
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.constant_value(a)?, self.constant_value(b)?);
                match op {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    Binary::Mul => a.checked_mul(b),
                    Binary::Div => a.checked_div(b),
                    Binary::Rem => a.checked_rem(b),
                    Binary::And => Some(a & b),
                    Binary::Or => Some(a | b),
                    Binary::Xor => Some(a ^ b),
                    Binary::Shl if (0..31).contains(&b) && a >= 0 => a.checked_mul(1 << b),
                    Binary::Shr if (0..31).contains(&b) && a >= 0 => Some(a >> b),
                    Binary::Lt => Some(i64::from(a < b)),
                    Binary::Gt => Some(i64::from(a > b)),
                    Binary::Le => Some(i64::from(a <= b)),
                    Binary::Ge => Some(i64::from(a >= b)),
                    Binary::Eq => Some(i64::from(a == b)),
                    Binary::Ne => Some(i64::from(a != b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
