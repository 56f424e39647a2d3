//! Syntax tree to program: names become slots and cells, calls are inlined, types are made explicit.
//!
//! An integer variable is control until it is seen to depend on data: a value from a cell is assigned to it, it is
//! assigned under a condition on data, or its address is taken. The tree is then lowered again with that variable as
//! data, until nothing changes. So the common case, loop counters, costs nothing at run time.

use crate::ast::{self, Basic, Expr, ExprKind, File, Function};
use crate::ctype::{CType, Layout};
use crate::error::Error;
use crate::lexer::{Name, Names};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use updates::{Constant, Data, Int, Object, Origin, Program, Scalar, Site, Start, Stmt};

mod access;
mod arithmetic;
mod assign;
mod blocks;
mod calls;
mod declare;
mod entry;
mod expressions;
mod initializers;
mod openmp;
mod reduction;
mod region;
mod sequence;
mod statements;
mod switch;
mod values;
mod written;

pub(crate) use values::{Lv, Val};

/// Programs with more nodes than this after inlining are refused.
const MOST_NODES: usize = 4_000_000;
/// Rounds of finding data variables; each adds at least one.
const MOST_ROUNDS: usize = 500;

/// A variable of the program, per inlined copy.
type Key = (u64, u32);

/// What a name means.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A control integer.
    Slot(u32, Scalar),
    /// A pointer.
    Pointer(u32, Rc<CType>),
    /// Memory.
    Object(u32, CType),
    /// A number.
    Known(i64, Scalar),
}

/// The state of lowering one function.
pub(crate) struct Lowerer<'a> {
    file: &'a File,
    names: &'a Names,
    path: &'a str,
    parameters: &'a [(String, i64)],
    used_parameters: FxHashSet<String>,
    program: Program,
    scopes: Vec<FxHashMap<Name, (Binding, Key)>>,
    globals: FxHashMap<Name, (Binding, Key)>,
    /// Statics of functions, by the number of their declaration.
    statics: FxHashMap<u32, Binding>,
    /// Names that some function of the file may write through.
    written: FxHashSet<Name>,
    data: FxHashSet<Key>,
    grown: bool,
    /// Depth of conditions on data around the current place.
    uncertain: u32,
    loops: Vec<u32>,
    /// Functions being inlined, and a number for the way here.
    calls: Vec<Name>,
    way: u64,
    /// The innermost inlined call.
    call: Option<u32>,
    nodes: usize,
    /// Where `return` puts its value.
    results: Vec<Option<(Binding, Key)>>,
    line: u32,
    pragma: Option<Name>,
    /// A directive that reaches this many loops inside.
    collapse: Option<(Name, u32)>,
    /// Number of scopes outside the parallel region that this place is in.
    region: Option<usize>,
    /// Value and type of the last parameter that became a variable.
    started: Option<(i64, Scalar)>,
}

/// A program and the parameters that it used.
pub(crate) struct Lowered {
    pub program: Program,
    pub used: Vec<String>,
}

/// Lowers a function with values for its parameters.
pub(crate) fn lower(
    file: &File,
    names: &Names,
    path: &str,
    function: &Function,
    parameters: &[(String, i64)],
) -> Result<Lowered, Error> {
    let mut data = FxHashSet::default();
    for _ in 0..MOST_ROUNDS {
        let mut lowerer = Lowerer::new(file, names, path, parameters, data);
        lowerer.function(function)?;
        if !lowerer.grown {
            let mut used: Vec<String> = lowerer.used_parameters.into_iter().collect();
            used.sort();
            return Ok(Lowered { program: lowerer.program, used });
        }
        data = lowerer.data;
    }
    Err(Error::Unsupported {
        file: path.to_string(),
        line: function.line,
        what: "more variables depend on data than can be sorted out".to_string(),
    })
}

impl<'a> Lowerer<'a> {
    fn new(
        file: &'a File,
        names: &'a Names,
        path: &'a str,
        parameters: &'a [(String, i64)],
        data: FxHashSet<Key>,
    ) -> Lowerer<'a> {
        let program = Program {
            name: String::new(),
            file: path.to_string(),
            objects: Vec::new(),
            arguments: Vec::new(),
            slots: 0,
            functions: Vec::new(),
            body: Vec::new(),
            sites: vec![Site { line: 0, loops: Vec::new(), call: None }],
            loops: Vec::new(),
            calls: Vec::new(),
            result: None,
            parameters: Vec::new(),
            hash: String::new(),
        };
        Lowerer {
            file,
            names,
            path,
            parameters,
            used_parameters: FxHashSet::default(),
            program,
            scopes: vec![FxHashMap::default()],
            globals: FxHashMap::default(),
            statics: FxHashMap::default(),
            written: written::written_names(file),
            data,
            grown: false,
            uncertain: 0,
            loops: Vec::new(),
            calls: Vec::new(),
            way: 0,
            call: None,
            nodes: 0,
            results: Vec::new(),
            line: 0,
            pragma: None,
            collapse: None,
            region: None,
            started: None,
        }
    }

    fn text(&self, name: Name) -> &'a str {
        self.names.text(name)
    }

    fn unsupported(&self, what: impl Into<String>) -> Error {
        Error::Unsupported { file: self.path.to_string(), line: self.line, what: what.into() }
    }

    fn malformed(&self, what: impl Into<String>) -> Error {
        Error::Malformed { file: self.path.to_string(), line: self.line, what: what.into() }
    }

    fn count(&mut self) -> Result<(), Error> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.unsupported("a program of this size once its calls are inlined"));
        }
        Ok(())
    }

    fn site(&mut self, line: u32) -> u32 {
        let fits = |s: &Site| s.line == line && s.loops == self.loops && s.call == self.call;
        if !self.program.sites.last().is_some_and(fits) {
            self.program.sites.push(Site { line, loops: self.loops.clone(), call: self.call });
        }
        self.program.sites.len() as u32 - 1
    }

    fn new_slot(&mut self) -> u32 {
        self.program.slots += 1;
        self.program.slots as u32 - 1
    }

    fn new_object(&mut self, name: String, ty: &CType, origin: Origin) -> Result<u32, Error> {
        let (element, dims) = ty.element();
        let fields = element.fields();
        let fields = fields.ok_or_else(|| self.unsupported(format!("memory of type `{}`", ty.name())))?;
        let known: Vec<u64> = dims.iter().map(|d| d.unwrap_or(0)).collect();
        let dims = if dims == [None] { Vec::new() } else { known };
        let start = Start::Elsewhere;
        let element_bytes = element.size().unwrap_or(0);
        self.program.objects.push(Object {
            element_bytes,
            name,
            dims,
            fields,
            cells: ty.cells(),
            origin,
            start,
            call: self.call,
        });
        Ok(self.program.objects.len() as u32 - 1)
    }

    fn function_number(&mut self, name: &str) -> u32 {
        let known = self.program.functions.iter().position(|f| f == name);
        known.unwrap_or_else(|| {
            self.program.functions.push(name.to_string());
            self.program.functions.len() - 1
        }) as u32
    }

    fn bind(&mut self, name: Name, binding: Binding, key: Key) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, (binding, key));
        }
    }

    /// From the next round on the variable is data.
    fn make_data(&mut self, key: Key) {
        self.grown |= self.data.insert(key);
    }

    fn lookup(&mut self, name: Name) -> Result<(Binding, Key), Error> {
        if let Some(found) = self.scopes.iter().rev().find_map(|scope| scope.get(&name)) {
            return Ok(found.clone());
        }
        if let Some((_, value)) = self.file.constants.iter().find(|(n, _)| *n == name) {
            return Ok((Binding::Known(*value, Scalar::I32), (0, 0)));
        }
        if let Some(found) = self.global(name)? {
            return Ok(found);
        }
        let text = self.text(name);
        if let Some((_, value)) = self.parameters.iter().find(|(p, _)| p == text) {
            self.used_parameters.insert(text.to_string());
            let ty = if i32::try_from(*value).is_ok() { Scalar::I32 } else { Scalar::I64 };
            return Ok((Binding::Known(*value, ty), (0, 0)));
        }
        // A name that nobody declares is a parameter of the whole file, such as `N`.
        Err(if self.file.functions.iter().any(|f| f.name == name) {
            self.unsupported(format!("the address of function `{text}`"))
        } else if text.starts_with("__") {
            // The compiler's own, such as `__func__`.
            self.unsupported(format!("the name `{text}`"))
        } else {
            Error::Parameter(text.to_string())
        })
    }

    /// The type as written, with its sizes.
    fn ctype(&mut self, ty: &ast::Type) -> Result<CType, Error> {
        Ok(match ty {
            ast::Type::Void => CType::Void,
            ast::Type::Basic(basic) => CType::Scalar(scalar(*basic)),
            ast::Type::Other(name) => return Err(self.unsupported(format!("type `{name}`"))),
            ast::Type::Pointer(target) => CType::Pointer(Rc::new(self.ctype(target)?)),
            ast::Type::Typeof(expr)
                if is_place(expr) && !matches!(self.place(expr)?, Lv::Slot(..) | Lv::Memory(_, CType::Scalar(_))) =>
            {
                return Err(self.unsupported("`typeof` of something that is no number"));
            }
            ast::Type::Typeof(expr) => match self.value(expr)? {
                Val::Int(_, ty) | Val::Data(_, ty) => CType::Scalar(ty),
                Val::Pointer(_, target) => CType::Pointer(target),
                Val::Struct(_, ty, _) => ty,
                Val::Fresh(..) | Val::Void => return Err(self.unsupported("`typeof` of this")),
            },
            ast::Type::Function(..) => return Err(self.unsupported("a function type")),
            ast::Type::Array(element, length) => {
                let element = self.ctype(element)?;
                let length = match length {
                    None => None,
                    Some(expr) => Some(self.array_length(expr)?),
                };
                CType::Array(Rc::new(element), length)
            }
            ast::Type::Struct(number) => self.layout(*number)?,
        })
    }

    fn layout(&mut self, number: u32) -> Result<CType, Error> {
        let file = self.file;
        let found = &file.structs[number as usize];
        if found.union {
            return Err(self.unsupported(format!("union `{}`", found.name)));
        }
        let Some(members) = &found.members else {
            return Err(self.unsupported(format!("struct `{}` without its members", found.name)));
        };
        let mut list = Vec::new();
        for (name, ty) in members {
            // A pointer may lead back to the structure itself.
            let ty = match ty {
                ast::Type::Pointer(_) => CType::Pointer(Rc::new(CType::Void)),
                other => self.ctype(other)?,
            };
            list.push((self.text(*name).to_string(), ty));
        }
        Ok(CType::Struct(Rc::new(Layout { name: found.name.clone(), number, members: list })))
    }

    fn array_length(&mut self, expr: &Expr) -> Result<u64, Error> {
        self.line = expr.line;
        let value = self.value(expr)?;
        match value {
            Val::Int(Int::Const(length), _) if (0..1 << 32).contains(&length) => Ok(length as u64),
            Val::Int(Int::Const(length), _) => Err(self.malformed(format!("an array of length {length}"))),
            Val::Data(data, _) => match self.value_parameter(&data) {
                Some(name) => Err(Error::Parameter(name)),
                None => Err(self.unsupported("an array whose length depends on data")),
            },
            _ => Err(self.unsupported("an array whose length is not a constant")),
        }
    }

    /// The parameter without a value that an expression reads.
    fn value_parameter(&self, data: &Data) -> Option<String> {
        match data {
            Data::Load(updates::Place::Cell(object)) => {
                let object = &self.program.objects[*object as usize];
                matches!(object.origin, Origin::Value(_)).then(|| object.name.clone())
            }
            Data::Binary(_, _, parts) => self.value_parameter(&parts.0).or_else(|| self.value_parameter(&parts.1)),
            Data::Convert(_, _, inner) => self.value_parameter(inner),
            _ => None,
        }
    }
}

/// Does the expression name something in memory?
fn is_place(expr: &Expr) -> bool {
    use ExprKind::{Arrow, Index, Member, Name, Unary};
    matches!(expr.kind, Name(_) | Index(..) | Member(..) | Arrow(..) | Unary(ast::Unary::Deref, _))
}

/// The scalar type of a basic one; `char` is signed, as on x86-64.
fn scalar(basic: Basic) -> Scalar {
    match basic {
        Basic::Bool => Scalar::Bool,
        Basic::Char | Basic::SignedChar => Scalar::I8,
        Basic::UnsignedChar => Scalar::U8,
        Basic::Short => Scalar::I16,
        Basic::UnsignedShort => Scalar::U16,
        Basic::Int => Scalar::I32,
        Basic::Unsigned => Scalar::U32,
        Basic::Long => Scalar::I64,
        Basic::UnsignedLong => Scalar::U64,
        Basic::Float => Scalar::F32,
        Basic::Double => Scalar::F64,
    }
}

/// A statement that does nothing.
fn nothing() -> Stmt {
    Stmt::Block(Vec::new())
}

/// A constant as data.
fn constant(value: Constant) -> Data {
    Data::Const(value)
}

/// Names that statements assign to or take the address of.
fn assigned_names(body: &[ast::Stmt]) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    for stmt in body {
        assigned_by(stmt, &mut names);
    }
    names
}

fn assigned_by(stmt: &ast::Stmt, names: &mut FxHashSet<Name>) {
    use ast::StmtKind;
    let mut inner = |stmt: &ast::Stmt| assigned_by(stmt, names);
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().for_each(inner),
        StmtKind::If(cond, yes, no) => {
            inner(yes);
            no.iter().for_each(|no| inner(no));
            assigned_in(cond, names);
        }
        StmtKind::For(parts) => {
            parts.init.iter().for_each(&mut inner);
            inner(&parts.body);
            parts.cond.iter().chain(&parts.step).for_each(|e| assigned_in(e, names));
        }
        StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) | StmtKind::Switch(cond, body) => {
            inner(body);
            assigned_in(cond, names);
        }
        StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) | StmtKind::Case(expr) => assigned_in(expr, names),
        StmtKind::Declare(variables) => {
            for variable in variables {
                if let Some(init) = &variable.init {
                    assigned_init(init, names);
                }
            }
        }
        _ => {}
    }
}

fn assigned_init(init: &ast::Initializer, names: &mut FxHashSet<Name>) {
    match init {
        ast::Initializer::Value(expr) => assigned_in(expr, names),
        ast::Initializer::List(list) => list.iter().for_each(|i| assigned_init(i, names)),
        ast::Initializer::At(_, inner) | ast::Initializer::Member(_, inner) => assigned_init(inner, names),
    }
}

/// Names that an expression assigns to, at any depth.
fn assigned_in(expr: &Expr, names: &mut FxHashSet<Name>) {
    let mut target = |inner: &Expr| {
        if let ExprKind::Name(name) = inner.kind {
            names.insert(name);
        }
    };
    match &expr.kind {
        ExprKind::Assign(_, left, _) => target(left),
        ExprKind::Unary(
            ast::Unary::PreIncrement
            | ast::Unary::PreDecrement
            | ast::Unary::PostIncrement
            | ast::Unary::PostDecrement
            | ast::Unary::Address,
            inner,
        ) => target(inner),
        ExprKind::Statements(list) => list.iter().for_each(|stmt| assigned_by(stmt, names)),
        ExprKind::Compound(_, list) => list.iter().for_each(|init| assigned_init(init, names)),
        _ => {}
    }
    for part in parts(expr) {
        assigned_in(part, names);
    }
}

/// The expressions inside an expression.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Member(a, _) | ExprKind::Arrow(a, _) => vec![a],
        ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Index(a, b) => {
            vec![a, b]
        }
        ExprKind::Choice(a, b, c) => vec![a, b, c],
        ExprKind::Call(_, arguments) => arguments.iter().collect(),
        _ => Vec::new(),
    }
}
