//! The syntax tree of the C that kernels are written in.

use crate::lexer::Name;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Line.
    pub line: u32,
    /// Height of the tree, kept small enough to walk it.
    pub depth: u16,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Name(Name),
    Number(Name),
    Char(Name),
    Text,
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Assignment; with an operator for `+=` and the like.
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member(Box<Expr>, Name),
    /// `->`.
    Arrow(Box<Expr>, Name),
    Call(Box<Expr>, Vec<Expr>),
    Cast(Box<Type>, Box<Expr>),
    SizeofType(Box<Type>),
    SizeofExpr(Box<Expr>),
    /// `(type){…}`.
    Compound(Box<Type>, Vec<Initializer>),
    /// `({ …; value; })`.
    Statements(Vec<Stmt>),
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    Address,
    Deref,
    PreIncrement,
    PreDecrement,
    PostIncrement,
    PostDecrement,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

impl Binary {
    /// Is the result zero or one, of type `int`?
    pub fn is_truth(self) -> bool {
        use Binary::*;
        matches!(self, Lt | Gt | Le | Ge | Eq | Ne | LogicalAnd | LogicalOr)
    }
}

/// A type as written.
#[derive(Clone, Debug)]
pub enum Type {
    /// `void`.
    Void,
    /// An arithmetic type, by its canonical words such as `unsigned long`.
    Basic(Basic),
    /// A type that exists and is not handled, by name.
    Other(String),
    /// `struct` or `union` by number in [`File::structs`].
    Struct(u32),
    /// A pointer.
    Pointer(Box<Type>),
    /// An array with its length, if stated.
    Array(Box<Type>, Option<Box<Expr>>),
    /// A function with its result and parameters.
    Function(Box<Type>, Vec<Parameter>),
    /// The type of an expression.
    Typeof(Box<Expr>),
}

/// Arithmetic types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Basic {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Float,
    Double,
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Tag or an invented name.
    pub name: String,
    /// Members, or nothing if it is only declared.
    pub members: Option<Vec<(Name, Type)>>,
    /// Is it a union?
    pub union: bool,
    /// The name that a `typedef` of the file gives it.
    pub alias: Option<Name>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name, if it has one.
    pub name: Option<Name>,
    /// Type as written; arrays are not yet pointers.
    pub ty: Type,
    /// Line.
    pub line: u32,
}

/// An initializer.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// A value.
    Value(Expr),
    /// A list in braces.
    List(Vec<Initializer>),
    /// `[index] = …` in a list.
    At(Expr, Box<Initializer>),
    /// `.name = …` in a list.
    Member(Name, Box<Initializer>),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Type,
    /// Start value.
    pub init: Option<Initializer>,
    /// Is it `const`, all the way down?
    pub constant: bool,
    /// Is it `static`?
    pub is_static: bool,
    /// Is it `extern`?
    pub is_extern: bool,
    /// Is it `volatile`?
    pub volatile: bool,
    /// Line.
    pub line: u32,
    /// Number of the declaration in the file.
    pub number: u32,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Line.
    pub line: u32,
}

/// Kinds of statements.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    Empty,
    Declare(Vec<Variable>),
    Expr(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    For(Box<For>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    Switch(Expr, Box<Stmt>),
    Case(Expr),
    Default,
    Break,
    Continue,
    Return(Option<Expr>),
    Block(Vec<Stmt>),
    /// A pragma; it belongs to the statement after it.
    Pragma(Name),
    /// A jump or another construct without support.
    Unsupported(String),
}

/// A `for` loop.
#[derive(Clone, Debug)]
pub struct For {
    /// Initialisation.
    pub init: Option<Stmt>,
    /// Condition.
    pub cond: Option<Expr>,
    /// Step.
    pub step: Option<Expr>,
    /// Body.
    pub body: Stmt,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: Name,
    /// Result.
    pub result: Type,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Body.
    pub body: Vec<Stmt>,
    /// Line.
    pub line: u32,
    /// Is it `static`?
    pub is_static: bool,
    /// Does it contain `#pragma scop`?
    pub scop: bool,
    /// Is it in the main file?
    pub main_file: bool,
    /// Its tokens, from the first of its declaration on.
    pub tokens: std::ops::Range<usize>,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Functions with bodies, in order.
    pub functions: Vec<Function>,
    /// Global variables, in order.
    pub globals: Vec<Variable>,
    /// Structures.
    pub structs: Vec<Struct>,
    /// Enumeration constants.
    pub constants: Vec<(Name, i64)>,
    /// Every name that is defined at file scope, types included.
    pub file_names: Vec<Name>,
}
