//! The program form: structured statements over cells, with control that is known once the parameters are.
//!
//! Two kinds of values. *Control* integers live in slots and are always known numbers: loop counters, bounds, subscripts,
//! pointers. *Data* lives in cells: every floating-point value, every array element, and integers that may depend on
//! data. Which variable is which is the frontend's choice and affects speed only: data that happens to be a known
//! constant may be used as control, and a control slot whose value would depend on data is reported, never guessed.

use crate::scalar::{Cmp, Constant, Op, Scalar};
use crate::strided::Strided;
use std::sync::OnceLock;

/// A function with its parameters' values filled in.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name of the function.
    pub name: String,
    /// File it came from, for messages.
    pub file: String,
    /// Memory objects: parameters first, in order, then globals, then locals.
    pub objects: Vec<Object>,
    /// The function's arguments, in order.
    pub arguments: Vec<Argument>,
    /// Number of control slots.
    pub slots: usize,
    /// Names of the library functions called.
    pub functions: Vec<String>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Where statements are and in which loops.
    pub sites: Vec<Site>,
    /// The loops, by number.
    pub loops: Vec<Loop>,
    /// The calls that were inlined, by number.
    pub calls: Vec<Call>,
    /// The cell with the result, if there is one.
    pub result: Option<u32>,
    /// Values given to parameters, by name.
    pub parameters: Vec<(String, i64)>,
    /// Identity of the text that the program was made from.
    pub hash: String,
}

/// What is passed for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// This number, of a type.
    Known(i64, Scalar),
    /// The cells of this object, by value.
    Value(u32),
    /// A pointer to this object.
    Memory(u32),
    /// Something that the function does not name.
    Unnamed,
}

/// Who sees an object, and what it holds at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Behind the pointer parameter at this position; input and output.
    Parameter(u32),
    /// A scalar parameter passed by value at this position; input only.
    Value(u32),
    /// A global variable of this name; input and output.
    Global(String),
    /// A constant table; its cells are known.
    Table(Vec<Constant>),
    /// A local variable; nothing is known about its cells before they are written.
    Local,
}

/// What a variable that outlives calls holds before the program starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// Another file says so, or it is no such variable.
    Elsewhere,
    /// Zero everywhere.
    Zero,
    /// These values, not all of them zero.
    Values(Vec<Constant>),
}

impl Start {
    /// What a cell of a type holds, if it is known.
    pub fn cell(&self, cell: u64, ty: Scalar) -> Option<Constant> {
        match self {
            Start::Elsewhere => None,
            Start::Zero if ty.is_float() => Some(Constant::float(ty, 0.0)),
            Start::Zero => Some(Constant::Int(0)),
            Start::Values(values) => values.get(usize::try_from(cell).ok()?).copied(),
        }
    }
}

/// What the name of a file's own variable starts with in [`Origin::Global`].
pub const STATIC: &str = "static ";

/// A memory object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Name in the source.
    pub name: String,
    /// Dimensions as declared; empty for a scalar.
    pub dims: Vec<u64>,
    /// Types of the cells of one element: more than one for a structure.
    pub fields: Vec<Field>,
    /// Bytes of one element, padding included.
    pub element_bytes: u64,
    /// Number of cells; `None` for a flat pointer, whose extent nobody states.
    pub cells: Option<u64>,
    /// Role.
    pub origin: Origin,
    /// What a global variable holds before the program starts.
    pub start: Start,
    /// The inlined call whose variable this is.
    pub call: Option<u32>,
}

/// A cell of an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Name with the dot, such as `.x`; empty if the element is a scalar.
    pub name: String,
    /// Type.
    pub ty: Scalar,
    /// Bytes from the start of the element.
    pub offset: u64,
}

impl Object {
    /// Type of a cell.
    pub fn cell_type(&self, cell: u64) -> Scalar {
        self.fields[(cell % self.fields.len() as u64) as usize].ty
    }

    /// A cell as the source would write it: `A[2][4]`.
    pub fn cell_name(&self, cell: u64) -> String {
        let per = self.fields.len() as u64;
        let field = &self.fields[(cell % per) as usize].name;
        let mut index = cell / per;
        let mut inner: Vec<u64> = Vec::new();
        let dims: &[u64] = if self.cells.is_none() && self.dims.is_empty() { &[0] } else { &self.dims };
        for dim in dims.iter().skip(1).rev() {
            inner.push(index % (*dim).max(1));
            index /= (*dim).max(1);
        }
        if !dims.is_empty() {
            inner.push(index);
        }
        let subscripts: String = inner.iter().rev().map(|i| format!("[{i}]")).collect();
        format!("{}{subscripts}{field}", self.name)
    }

    /// Is it a variable of the file's own (`static`), whose content only the file's functions change?
    pub fn is_static(&self) -> bool {
        matches!(&self.origin, Origin::Global(name) if name.starts_with(STATIC))
    }

    /// Is its final state seen by the caller?
    pub fn is_output(&self) -> bool {
        matches!(self.origin, Origin::Parameter(_) | Origin::Global(_))
    }
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Line, counted from one.
    pub line: u32,
    /// Enclosing loops, the outermost first.
    pub loops: Vec<u32>,
    /// The inlined call that the place is in.
    pub call: Option<u32>,
}

/// A call that was inlined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Name of the function.
    pub function: String,
    /// Line of the call.
    pub line: u32,
    /// The inlined call that it is in.
    pub outer: Option<u32>,
}

impl Program {
    /// Line of a place in the function itself, and the line in a function that it calls if the place is there.
    pub fn lines(&self, site: u32) -> (u32, Option<(&str, u32)>) {
        let Some(site) = self.sites.get(site as usize) else { return (0, None) };
        let Some(call) = site.call.and_then(|c| self.calls.get(c as usize)) else { return (site.line, None) };
        let mut outermost = call;
        while let Some(outer) = outermost.outer.and_then(|c| self.calls.get(c as usize)) {
            outermost = outer;
        }
        (outermost.line, Some((&call.function, site.line)))
    }
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Line of its head.
    pub line: u32,
    /// Name of the iterator, if it has one.
    pub iterator: Option<String>,
    /// Where the iterator's value is.
    pub variable: Option<Variable>,
}

/// A variable of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// In a control slot.
    Slot(u32),
    /// In the only cell of an object.
    Cell(u32),
}

/// A control expression. Values are `i64`: of unsigned 64-bit types the bits.
#[derive(Clone, Debug)]
pub enum Int {
    /// A number.
    Const(i64),
    /// A slot, which must have been written.
    Slot(u32),
    /// An operation.
    Binary(Op, Scalar, Box<(Int, Int)>),
    /// A comparison: zero or one.
    Compare(Cmp, Scalar, Box<(Int, Int)>),
    /// Logical negation.
    Not(Box<Int>),
    /// A conversion to a type.
    Convert(Scalar, Box<Int>),
    /// `a && b`.
    And(Box<(Int, Int)>),
    /// `a || b`.
    Or(Box<(Int, Int)>),
    /// `a ? b : c`.
    Choice(Box<(Int, Int, Int)>),
    /// Writes a slot; the value is the one written.
    Assign(u32, Box<Int>),
    /// Adds to a slot and yields the old value.
    PostStep(u32, Scalar, i64),
    /// Data that must be a known constant here; of this type.
    FromData(Scalar, Box<Data>),
    /// Statements, then a value.
    Sequence(Vec<Stmt>, Box<Int>),
    /// Writes slots that nothing else uses, in order, then a value: a small function.
    Let(Vec<(u32, Int)>, Box<Int>),
    /// Address of a place.
    Address(Box<Place>),
    /// Pointer plus an index times a number of cells.
    Offset(Box<(Int, Int)>, i64),
    /// Distance of two pointers in units of a number of cells.
    Distance(Box<(Int, Int)>, i64),
}

/// A data expression. Operands of one operation have its type.
#[derive(Clone, Debug)]
pub enum Data {
    /// A known value.
    Const(Constant),
    /// Content of a cell.
    Load(Place),
    /// A control integer of this type.
    FromInt(Scalar, Box<Int>),
    /// An operation.
    Binary(Op, Scalar, Box<(Data, Data)>),
    /// Arithmetic negation.
    Neg(Scalar, Box<Data>),
    /// A comparison of operands of this type: zero or one.
    Compare(Cmp, Scalar, Box<(Data, Data)>),
    /// Logical negation: zero or one.
    Not(Box<Data>),
    /// A conversion, from and to.
    Convert(Scalar, Scalar, Box<Data>),
    /// `c ? a : b`.
    Choice(Box<(Cond, Data, Data)>),
    /// `a && b`.
    And(Box<(Cond, Cond)>),
    /// `a || b`.
    Or(Box<(Cond, Cond)>),
    /// A library function without side effects, result type first.
    Call(Scalar, u32, Vec<Data>),
    /// Writes a cell; the value is the one written.
    Assign(u32, Box<(Place, Data)>),
    /// Writes a cell of this type after adding a number; the value is the old one.
    PostStep(u32, Scalar, Box<Place>, Constant),
    /// Statements, then a value.
    Sequence(Vec<Stmt>, Box<Data>),
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Cond {
    /// Known.
    Int(Int),
    /// Possibly symbolic: true if not zero.
    Data(Data),
}

/// A cell.
#[derive(Clone, Debug)]
pub enum Place {
    /// The only cell of an object.
    Cell(u32),
    /// An element.
    Element(Box<Element>),
}

/// An element of an array or behind a pointer.
#[derive(Clone, Debug)]
pub struct Element {
    /// What is indexed.
    pub base: Base,
    /// The subscripts, the outermost first.
    pub index: Vec<Index>,
    /// Cells to add for a field.
    pub offset: i64,
}

/// What is indexed.
#[derive(Clone, Debug)]
pub enum Base {
    /// An object from its start.
    Object(u32),
    /// A pointer.
    Pointer(Int),
}

/// A subscript.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its value.
    pub value: Int,
    /// Cells per step.
    pub stride: i64,
    /// Number of elements, if the type states it.
    pub extent: Option<i64>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Writes a cell.
    Store(u32, Place, Data),
    /// Evaluates for the effect.
    Data(u32, Data),
    /// Evaluates for the effect.
    Int(u32, Int),
    /// The cells of these locals hold nothing from here on.
    Enter(Vec<u32>),
    /// These slots hold nothing from here on.
    Forget(Vec<u32>),
    /// From these two pointers on so many cells do not overlap; it is undefined if they do.
    Apart(u32, Box<(Int, Int)>, i64),
    /// A conditional.
    If(u32, Box<(Cond, Vec<Stmt>, Vec<Stmt>)>),
    /// A loop.
    Loop(Box<LoopStmt>),
    /// A list.
    Block(Vec<Stmt>),
    /// An inlined call: a return inside ends it.
    Call(Vec<Stmt>),
    /// Jumps to the case of this value; cases are positions in the body.
    Switch(u32, Box<SwitchStmt>),
    /// Leaves the innermost loop or switch.
    Break,
    /// Starts the next turn.
    Continue,
    /// Leaves the innermost call or the function.
    Return(u32),
}

/// A loop; the initialisation comes before it.
#[derive(Clone, Debug)]
pub struct LoopStmt {
    /// Where its head is.
    pub site: u32,
    /// Number in [`Program::loops`].
    pub number: u32,
    /// Condition to go on.
    pub cond: Option<Cond>,
    /// After each turn.
    pub step: Vec<Stmt>,
    /// The turns.
    pub body: Vec<Stmt>,
    /// Is the condition asked before the first turn?
    pub test_first: bool,
    /// Are the turns claimed to be independent (`omp parallel for`)?
    pub parallel: Option<Parallel>,
    /// Its form for running many turns at once, made at the first use.
    pub strided: OnceLock<Option<Strided>>,
}

impl LoopStmt {
    /// The form for running many turns at once, if it has one.
    pub fn strided(&self) -> Option<&Strided> {
        self.strided.get_or_init(|| Strided::of(self)).as_ref()
    }
}

/// What an OpenMP directive says about the variables of a loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parallel {
    /// Slots with a copy per turn: the iterator and private ones.
    pub private_slots: Vec<u32>,
    /// Of these, the ones that hold nothing when a turn starts.
    pub fresh_slots: Vec<u32>,
    /// Objects with a copy per turn.
    pub private_objects: Vec<u32>,
    /// Objects with a copy per turn that starts with the value before the loop.
    pub copied_objects: Vec<u32>,
    /// Objects that are left with the value of the last turn; at its start they hold nothing, unless they are copied.
    pub last_objects: Vec<u32>,
    /// Objects declared inside the loop, in the order of their numbers; not those that outlive calls.
    pub inner_objects: Vec<u32>,
    /// The iterator, if it is a cell.
    pub iterator: Option<u32>,
    /// Objects combined at the end (`reduction`).
    pub reductions: Vec<u32>,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct SwitchStmt {
    /// What is asked.
    pub value: Int,
    /// Value and position in the body.
    pub cases: Vec<(i64, usize)>,
    /// Position of `default`.
    pub default: Option<usize>,
    /// The statements.
    pub body: Vec<Stmt>,
}

/// The text of a slot that was not written: no legal value of the supported types is stored as this.
pub const UNWRITTEN: i64 = i64::MIN + 0x5eed_0bad;
