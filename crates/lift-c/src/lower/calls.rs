//! Calls: functions of the file are inlined, mathematical functions stay, others are refused.

use super::expressions::typed;
use super::values::is_closed;
use super::{Binding, Key, Lowerer, Val};
use crate::ast::{Expr, ExprKind, Function, Parameter, Type};
use crate::ctype::CType;
use crate::error::Error;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use updates::{Call, Cmp, Constant, Data, Int, Op, Origin, Scalar, Stmt};

/// Functions of doubles without side effects; with `f` at the end, of floats.
const MATHEMATICAL: [(&str, usize); 36] = [
    ("sqrt", 1),
    ("fabs", 1),
    ("exp", 1),
    ("exp2", 1),
    ("expm1", 1),
    ("log", 1),
    ("log2", 1),
    ("log10", 1),
    ("log1p", 1),
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("asin", 1),
    ("acos", 1),
    ("atan", 1),
    ("sinh", 1),
    ("cosh", 1),
    ("tanh", 1),
    ("cbrt", 1),
    ("floor", 1),
    ("ceil", 1),
    ("trunc", 1),
    ("round", 1),
    ("rint", 1),
    ("nearbyint", 1),
    ("erf", 1),
    ("erfc", 1),
    ("tgamma", 1),
    ("lgamma", 1),
    ("pow", 2),
    ("fmod", 2),
    ("atan2", 2),
    ("hypot", 2),
    ("fmin", 2),
    ("fmax", 2),
    ("copysign", 2),
];

/// Functions that a kernel may call for no effect on its result.
const IGNORED: [&str; 2] = ["free", "polybench_free_data"];

/// The statements of an inlined call, and where its result is.
type Inlined = (Vec<Stmt>, Option<(Binding, Key)>);

/// Calls inside calls deeper than this are refused.
const DEEPEST: usize = 40;

/// Result type and canonical name of a mathematical function.
fn mathematical(name: &str, arguments: usize) -> Option<(Scalar, &str)> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let known = |n: &str| MATHEMATICAL.iter().any(|(m, count)| *m == n && *count == arguments);
    if known(name) || name == "fma" && arguments == 3 {
        return Some((Scalar::F64, name));
    }
    let base = name.strip_suffix('f')?;
    (known(base) || base == "fma" && arguments == 3).then_some((Scalar::F32, name))
}

/// The value of an inlined call that only binds arguments and returns an integer: `min`, `floord` and the like.
fn bindings(stmts: &[Stmt], result: u32) -> Option<Int> {
    let (Stmt::Call(body), arguments) = stmts.split_last()? else { return None };
    let [Stmt::Int(_, Int::Assign(slot, value)), Stmt::Return(_)] = body.as_slice() else { return None };
    if *slot != result {
        return None;
    }
    let parts = arguments.iter().map(super::expressions::bound).collect::<Option<Vec<_>>>()?;
    Some(Int::Let(parts, value.clone()))
}

impl<'a> Lowerer<'a> {
    pub(super) fn call(&mut self, callee: &Expr, arguments: &[Expr], line: u32) -> Result<Val, Error> {
        let ExprKind::Name(name) = callee.kind else { return Err(self.unsupported("a call through a pointer")) };
        let file = self.file;
        let text = self.text(name);
        if let Some(function) = file.functions.iter().find(|f| f.name == name) {
            return self.inline(function, arguments, line);
        }
        match text {
            "malloc" | "calloc" | "aligned_alloc" | "polybench_alloc_data" => return self.fresh(text, arguments),
            "abs" | "labs" | "llabs" if arguments.len() == 1 => return self.absolute(text, &arguments[0]),
            "__builtin_inf" | "__builtin_huge_val" if arguments.is_empty() => {
                return Ok(Val::Data(super::constant(Constant::float(Scalar::F64, f64::INFINITY)), Scalar::F64));
            }
            "__builtin_inff" | "__builtin_huge_valf" if arguments.is_empty() => {
                return Ok(Val::Data(super::constant(Constant::float(Scalar::F32, f64::INFINITY)), Scalar::F32));
            }
            "__builtin_expect" if arguments.len() == 2 => return self.value(&arguments[0]),
            _ => {}
        }
        let Some((ty, canonical)) = mathematical(text, arguments.len()) else {
            return Err(self.unsupported(format!("a call of `{text}`")));
        };
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let value = self.value(argument)?;
            values.push(self.data_of(value, ty)?);
        }
        let function = self.function_number(canonical);
        Ok(Val::Data(Data::Call(ty, function, values), ty))
    }

    /// A call whose result nobody uses, if it is one of a function in the file or an ignored one.
    pub(super) fn call_for_effect(
        &mut self,
        callee: &Expr,
        arguments: &[Expr],
        line: u32,
    ) -> Result<Option<Vec<Stmt>>, Error> {
        let ExprKind::Name(name) = callee.kind else { return Ok(None) };
        let file = self.file;
        if let Some(function) = file.functions.iter().find(|f| f.name == name) {
            return self.inline_body(function, arguments, line).map(|(stmts, _)| Some(stmts));
        }
        let text = self.text(name);
        match text.strip_prefix("__builtin_").unwrap_or(text) {
            "memcpy" | "memmove" | "memset" => self.block_call(text, arguments, line).map(Some),
            _ => Ok(IGNORED.contains(&text).then(Vec::new)),
        }
    }

    fn absolute(&mut self, name: &str, argument: &Expr) -> Result<Val, Error> {
        let ty = if name == "abs" { Scalar::I32 } else { Scalar::I64 };
        let value = self.value(argument)?;
        let value = self.convert(value, &CType::Scalar(ty))?;
        match value {
            Val::Int(value, _) if !super::values::has_effects(&value) => {
                let zero = || Int::Const(0);
                let negative = Int::Compare(Cmp::Lt, ty, Box::new((value.clone(), zero())));
                let negated = Int::Binary(Op::Sub, ty, Box::new((zero(), value.clone())));
                Ok(Val::Int(Int::Choice(Box::new((negative, negated, value))), ty))
            }
            other => {
                let data = self.data_of(other, ty)?;
                let closed = is_closed(&data, &self.program.functions);
                let function = self.function_number(name);
                let data = Data::Call(ty, function, vec![data]);
                Ok(if closed { Val::Int(Int::FromData(ty, Box::new(data)), ty) } else { Val::Data(data, ty) })
            }
        }
    }

    fn fresh(&mut self, name: &str, arguments: &[Expr]) -> Result<Val, Error> {
        let mut sizes = Vec::new();
        for argument in arguments {
            match self.value(argument)? {
                Val::Int(Int::Const(size), _) if size >= 0 => sizes.push(size as u64),
                _ => return Err(self.unsupported(format!("`{name}` of a size that is not a constant"))),
            }
        }
        let bytes = match (name, sizes.as_slice()) {
            ("malloc", [size]) => Some(*size),
            ("calloc" | "polybench_alloc_data", [count, size]) => count.checked_mul(*size),
            ("aligned_alloc", [_, size]) => Some(*size),
            _ => None,
        };
        let bytes = bytes.ok_or_else(|| self.malformed(format!("the arguments of `{name}`")))?;
        Ok(Val::Fresh(bytes, name == "calloc"))
    }

    /// The object of fresh memory, now that its type is known.
    pub(super) fn allocate(&mut self, bytes: u64, zeroed: bool, target: &Rc<CType>) -> Result<Val, Error> {
        let (element, _) = target.element();
        let size = element.size().filter(|size| *size > 0 && bytes.is_multiple_of(*size));
        let size = size.ok_or_else(|| self.unsupported(format!("memory for `{}` of {bytes} bytes", target.name())))?;
        if self.uncertain > 0 || !self.loops.is_empty() {
            return Err(self.unsupported("allocation inside a loop or branch"));
        }
        let ty = CType::Array(Rc::new(element.clone()), Some(bytes / size));
        let name = format!("memory of line {}", self.line);
        let object = self.new_object(name, &ty, Origin::Local)?;
        let address = || Int::Address(Box::new(updates::Place::Cell(object)));
        let stmts = match element {
            _ if !zeroed => Vec::new(),
            CType::Scalar(scalar) => self.zeroed(address(), (bytes / size) as i64, *scalar),
            other => return Err(self.unsupported(format!("`calloc` of elements of type `{}`", other.name()))),
        };
        self.after(stmts, Val::Pointer(address(), Rc::clone(target)))
    }

    fn inline(&mut self, function: &'a Function, arguments: &[Expr], line: u32) -> Result<Val, Error> {
        let (stmts, result) = self.inline_body(function, arguments, line)?;
        let value = match result {
            None => Val::Void,
            Some((Binding::Slot(slot, ty), _)) => match bindings(&stmts, slot) {
                Some(value) => return Ok(Val::Int(value, ty)),
                None => Val::Int(Int::Slot(slot), ty),
            },
            Some((Binding::Pointer(slot, target), _)) => Val::Pointer(Int::Slot(slot), target),
            Some((Binding::Object(object, CType::Scalar(ty)), _)) => {
                Val::Data(Data::Load(updates::Place::Cell(object)), ty)
            }
            Some((Binding::Object(object, ty @ CType::Struct(_)), _)) => {
                let access =
                    super::values::Access { base: updates::Base::Object(object), index: Vec::new(), offset: 0 };
                Val::Struct(access, ty, Vec::new())
            }
            Some(_) => return Err(self.unsupported("a function that returns an array")),
        };
        self.after(stmts, value)
    }

    fn inline_body(&mut self, function: &'a Function, arguments: &[Expr], line: u32) -> Result<Inlined, Error> {
        let name = self.text(function.name);
        if self.calls.contains(&function.name) {
            return Err(self.unsupported(format!("recursion in `{name}`")));
        }
        if self.calls.len() >= DEEPEST {
            return Err(self.unsupported("calls that are nested this deeply"));
        }
        if arguments.len() != function.parameters.len() {
            return Err(self.malformed(format!(
                "`{name}` takes {} arguments, {} given",
                function.parameters.len(),
                arguments.len()
            )));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(typed(argument))?);
        }
        self.line = line;
        let outer_way = self.way;
        // Calls of one function in one line share what is known about their variables.
        self.way = (self.way ^ u64::from(function.name.0) ^ u64::from(line) << 32)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23)
            | 1;
        let assigned = super::assigned_names(&function.body);
        let mut stmts = Vec::new();
        let call = Some(self.program.calls.len() as u32);
        self.program.calls.push(Call { function: name.to_string(), line, outer: self.call });
        let first_object = self.program.objects.len();
        // Dimensions may mention earlier parameters.
        self.scopes.push(FxHashMap::default());
        for (index, (parameter, value)) in function.parameters.iter().zip(values).enumerate() {
            let key = (self.way, 1 << 31 | index as u32);
            let fixed = parameter.name.is_some_and(|name| !assigned.contains(&name));
            self.pass(parameter, value, key, fixed, &mut stmts)?;
        }
        let result = self.result_variable(&function.result)?;
        // The caller writes parameters, but they are variables of the call.
        for object in &mut self.program.objects[first_object..] {
            object.call = call;
        }
        // Names of the caller are not visible inside.
        let hidden = self.scopes.drain(..).collect::<Vec<_>>();
        let own = hidden.last().cloned().unwrap_or_default();
        self.scopes = vec![own];
        self.calls.push(function.name);
        self.results.push(result.clone());
        let outer = (std::mem::replace(&mut self.call, call), self.region.take());
        let body = self.list(&function.body);
        (self.call, self.region) = outer;
        self.results.pop();
        self.calls.pop();
        self.scopes = hidden;
        self.scopes.pop();
        self.way = outer_way;
        self.line = line;
        stmts.push(Stmt::Call(body?));
        Ok((stmts, result))
    }

    /// Binds a parameter of an inlined function to a value; `fixed` if nothing assigns to it.
    fn pass(
        &mut self,
        parameter: &Parameter,
        value: Val,
        key: Key,
        fixed: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        let Some(name) = parameter.name else { return Ok(()) };
        let site = self.site(self.line);
        let decayed = match self.ctype(&parameter.ty)? {
            CType::Array(element, _) => CType::Pointer(element),
            other => other,
        };
        match decayed {
            CType::Pointer(target) => {
                let Val::Pointer(value, _) = self.convert(value, &CType::Pointer(Rc::clone(&target)))? else {
                    return Err(self.malformed("an argument that is no pointer"));
                };
                let slot = self.new_slot();
                out.push(Stmt::Int(site, Int::Assign(slot, Box::new(value))));
                self.bind(name, Binding::Pointer(slot, target), key);
            }
            CType::Scalar(scalar) => {
                let value = self.convert(value, &CType::Scalar(scalar))?;
                match value {
                    // A constant argument keeps bounds and dimensions constant inside.
                    Val::Int(Int::Const(value), _) if fixed => self.bind(name, Binding::Known(value, scalar), key),
                    Val::Int(value, _) if !self.data.contains(&key) => {
                        let slot = self.new_slot();
                        if self.uncertain > 0 {
                            self.make_data(key);
                        }
                        out.push(Stmt::Int(site, Int::Assign(slot, Box::new(value))));
                        self.bind(name, Binding::Slot(slot, scalar), key);
                    }
                    value => {
                        let data = self.data_of(value, scalar)?;
                        let object =
                            self.new_object(self.text(name).to_string(), &CType::Scalar(scalar), Origin::Local)?;
                        out.push(Stmt::Store(site, updates::Place::Cell(object), data));
                        self.bind(name, Binding::Object(object, CType::Scalar(scalar)), key);
                    }
                }
            }
            CType::Struct(layout) => {
                let ty = CType::Struct(layout);
                let Val::Struct(from, _, before) = value else {
                    return Err(self.malformed("an argument that is no structure"));
                };
                out.extend(before);
                let object = self.new_object(self.text(name).to_string(), &ty, Origin::Local)?;
                let to = super::values::Access { base: updates::Base::Object(object), index: Vec::new(), offset: 0 };
                self.copy_struct(site, &to, &from, &ty, out)?;
                self.bind(name, Binding::Object(object, ty), key);
            }
            other => return Err(self.unsupported(format!("a parameter of type `{}`", other.name()))),
        }
        Ok(())
    }

    /// The variable that `return` writes in an inlined function.
    fn result_variable(&mut self, ty: &Type) -> Result<Option<(Binding, Key)>, Error> {
        let key = (self.way, u32::MAX);
        Ok(match self.ctype(ty)? {
            CType::Void => None,
            CType::Pointer(target) => Some((Binding::Pointer(self.new_slot(), target), key)),
            CType::Scalar(scalar) if !scalar.is_float() && !self.data.contains(&key) => {
                if self.uncertain > 0 {
                    self.make_data(key);
                }
                Some((Binding::Slot(self.new_slot(), scalar), key))
            }
            ty @ (CType::Scalar(_) | CType::Struct(_)) => {
                let object = self.new_object("result".to_string(), &ty, Origin::Local)?;
                Some((Binding::Object(object, ty), key))
            }
            other => return Err(self.unsupported(format!("a function that returns `{}`", other.name()))),
        })
    }
}
