//! Declarations of variables: locals, statics and globals. A name means the variable from its declarator on, so also in its
//! own start value.

use super::initializers::zero;
use super::values::Access;
use super::{Binding, Key, Lowerer, Val};
use crate::ast::{Initializer, Variable};
use crate::ctype::CType;
use crate::error::Error;
use crate::lexer::Name;
use updates::{Base, Constant, Data, Int, Origin, Place, STATIC, Start, Stmt};

/// A larger variable that nobody writes is an input all the same.
const MOST_ZEROS: u64 = 1 << 16;

impl<'a> Lowerer<'a> {
    pub(super) fn declare(&mut self, variable: &Variable, out: &mut Vec<Stmt>) -> Result<(), Error> {
        self.line = variable.line;
        let name = self.text(variable.name);
        let key = (self.way, variable.number);
        let site = self.site(variable.line);
        if variable.volatile {
            return Err(self.unsupported(format!("the volatile variable `{name}`")));
        }
        let ty = self.ctype(&variable.ty)?;
        if variable.is_static {
            let binding = self.local_static(variable, ty)?;
            self.bind(variable.name, binding, key);
            return Ok(());
        }
        if variable.is_extern {
            return Err(self.unsupported(format!("`{name}`, which is declared `extern` inside a function")));
        }
        match ty {
            CType::Pointer(target) => {
                let slot = self.new_slot();
                self.bind(variable.name, Binding::Pointer(slot, std::rc::Rc::clone(&target)), key);
                match &variable.init {
                    None => out.push(Stmt::Forget(vec![slot])),
                    Some(init) => {
                        let value = self.initial_value(init)?;
                        let target = CType::Pointer(target);
                        let Val::Pointer(value, _) = self.convert(value, &target)? else {
                            return Err(self.malformed("a pointer that starts as something else"));
                        };
                        out.push(Stmt::Int(site, Int::Assign(slot, Box::new(value))));
                    }
                }
            }
            CType::Scalar(scalar) if !scalar.is_float() && !self.data.contains(&key) => {
                let slot = self.new_slot();
                self.bind(variable.name, Binding::Slot(slot, scalar), key);
                match &variable.init {
                    None => out.push(Stmt::Forget(vec![slot])),
                    Some(init) => {
                        let value = self.initial_value(init)?;
                        let value = self.convert(value, &CType::Scalar(scalar))?;
                        if let Val::Int(value, _) = self.write_slot(slot, scalar, key, value)? {
                            out.push(Stmt::Int(site, value));
                        }
                    }
                }
            }
            CType::Scalar(scalar) => {
                let object = self.new_object(name.to_string(), &CType::Scalar(scalar), Origin::Local)?;
                self.bind(variable.name, Binding::Object(object, CType::Scalar(scalar)), key);
                match &variable.init {
                    None => out.push(Stmt::Enter(vec![object])),
                    Some(init) => {
                        let value = self.initial_value(init)?;
                        let value = self.convert(value, &CType::Scalar(scalar))?;
                        let data = self.data_of(value, scalar)?;
                        out.push(Stmt::Store(site, Place::Cell(object), data));
                    }
                }
            }
            CType::Array(..) | CType::Struct(_) => self.aggregate(variable, ty, key, out)?,
            CType::Void => return Err(self.malformed(format!("the variable `{name}` of type void"))),
        }
        Ok(())
    }

    fn aggregate(&mut self, variable: &Variable, ty: CType, key: Key, out: &mut Vec<Stmt>) -> Result<(), Error> {
        let name = self.text(variable.name);
        let ty = self.sized(ty, variable.init.as_ref())?;
        if ty.cells().is_none() {
            return Err(self.unsupported(format!("the variable `{name}` of type `{}`", ty.name())));
        }
        let object = self.new_object(name.to_string(), &ty, Origin::Local)?;
        self.bind(variable.name, Binding::Object(object, ty.clone()), key);
        out.push(Stmt::Enter(vec![object]));
        let site = self.site(variable.line);
        match &variable.init {
            None => {}
            Some(Initializer::Value(expr)) => {
                let value = self.value(expr)?;
                let Val::Struct(from, other, before) = value else {
                    return Err(self.malformed("a value for an aggregate"));
                };
                out.extend(before);
                if other != ty {
                    return Err(self.malformed("a value of another type"));
                }
                let to = Access { base: Base::Object(object), index: Vec::new(), offset: 0 };
                self.copy_struct(site, &to, &from, &ty, out)?;
            }
            Some(Initializer::List(list)) => self.fill(object, list, &ty, site, out)?,
            Some(_) => return Err(self.malformed("a designator outside a list")),
        }
        Ok(())
    }

    /// A static variable of a function: one for all calls. Its name is that of the function, the kernel's own aside, and its number
    /// among those of its name there.
    fn local_static(&mut self, variable: &Variable, ty: CType) -> Result<Binding, Error> {
        if let Some(known) = self.statics.get(&variable.number) {
            return Ok(known.clone());
        }
        let function = match self.calls.as_slice() {
            [] | [_] => "",
            [.., inner] => self.text(*inner),
        };
        let start = format!("{STATIC}{function}()::{} ", self.text(variable.name));
        let of_name = |o: &&updates::Object| matches!(&o.origin, Origin::Global(name) if name.starts_with(&start));
        let before = self.program.objects.iter().filter(of_name).count();
        let name = format!("{}{before}", start.trim_start_matches(STATIC));
        let binding = self.static_variable(variable, ty, name)?;
        self.statics.insert(variable.number, binding.clone());
        Ok(binding)
    }

    /// A variable that outlives the call: a constant table if it is constant, else input and output.
    fn static_variable(&mut self, variable: &Variable, ty: CType, name: String) -> Result<Binding, Error> {
        let shown = self.text(variable.name).to_string();
        let pointer = matches!(ty, CType::Pointer(_));
        if pointer {
            return Err(self.unsupported(format!("the global pointer `{shown}`")));
        }
        let ty = self.sized(ty, variable.init.as_ref())?;
        // Nobody writes it: it is what it starts with.
        let kept = variable.is_static && !self.written.contains(&variable.name) && !self.is_parameter(&shown);
        if kept && variable.init.is_none() {
            let fields = ty.element().0.fields().filter(|_| ty.cells().is_some_and(|cells| cells <= MOST_ZEROS));
            if let (Some(fields), Some(cells)) = (fields, ty.cells()) {
                let zeros = (0..cells as usize).map(|cell| zero(fields[cell % fields.len()].ty)).collect();
                let object = self.new_object(shown, &ty, Origin::Table(zeros))?;
                return Ok(Binding::Object(object, ty));
            }
        }
        if (variable.constant || kept)
            && let Some(init) = &variable.init
        {
            if let (CType::Scalar(scalar), Initializer::Value(expr)) = (&ty, init) {
                let value = self.value(expr)?;
                match self.convert(value, &ty)? {
                    Val::Int(Int::Const(value), _) => return Ok(Binding::Known(value, *scalar)),
                    Val::Data(Data::Const(value), _) => {
                        let object = self.new_object(shown, &ty, Origin::Table(vec![value]))?;
                        return Ok(Binding::Object(object, ty));
                    }
                    _ => return Err(self.unsupported(format!("the start value of `{shown}`"))),
                }
            }
            if let Initializer::List(list) = init {
                let known = |data| match data {
                    Data::Const(known) => Some(known),
                    _ => None,
                };
                let cells: Option<Vec<Constant>> = self.initial_cells(list, &ty)?.into_iter().map(known).collect();
                let Some(cells) = cells else {
                    return Err(self.unsupported(format!("the start values of `{shown}`")));
                };
                let object = self.new_object(shown, &ty, Origin::Table(cells))?;
                return Ok(Binding::Object(object, ty));
            }
        }
        if ty.cells().is_none() {
            return Err(self.unsupported(format!("the global `{shown}` of type `{}`", ty.name())));
        }
        // A static variable is its file's own; nobody else sees what it is left with.
        let start = self.start(variable, &ty)?;
        let name = if variable.is_static { format!("{STATIC}{name}") } else { name };
        let object = self.new_object(shown, &ty, Origin::Global(name))?;
        self.program.objects[object as usize].start = start;
        Ok(Binding::Object(object, ty))
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|(parameter, _)| parameter == name)
    }

    /// What a variable that outlives calls holds before the first one.
    fn start(&mut self, variable: &Variable, ty: &CType) -> Result<Start, Error> {
        let values = match &variable.init {
            None if variable.is_extern => return Ok(Start::Elsewhere),
            None => return Ok(Start::Zero),
            Some(Initializer::List(list)) => self.initial_cells(list, ty)?,
            Some(init) => {
                let CType::Scalar(scalar) = ty else {
                    return Err(self.unsupported("the start value of this aggregate"));
                };
                let value = self.initial_value(init)?;
                vec![self.data_of(value, *scalar)?]
            }
        };
        let known = |data| match data {
            Data::Const(known) => Some(known),
            _ => None,
        };
        let values: Option<Vec<Constant>> = values.into_iter().map(known).collect();
        let shown = self.text(variable.name);
        let values = values.ok_or_else(|| self.unsupported(format!("the start value of `{shown}`")))?;
        let is_zero = |c: &Constant| matches!(c, Constant::Int(0) | Constant::F32(0) | Constant::F64(0));
        Ok(if values.iter().all(is_zero) { Start::Zero } else { Start::Values(values) })
    }

    /// A global variable, bound at its first use.
    pub(super) fn global(&mut self, name: Name) -> Result<Option<(Binding, Key)>, Error> {
        if let Some(known) = self.globals.get(&name) {
            return Ok(Some(known.clone()));
        }
        let file = self.file;
        // The definition says what there is, declarations only that it exists.
        let same = || file.globals.iter().filter(|g| g.name == name);
        let Some(first) = same().next() else { return Ok(None) };
        let defined = same().find(|g| g.init.is_some()).or_else(|| same().find(|g| !g.is_extern));
        let variable = defined.unwrap_or(first);
        let line = self.line;
        self.line = variable.line;
        let text = self.text(name);
        if variable.volatile {
            return Err(self.unsupported(format!("the volatile variable `{text}`")));
        }
        let ty = self.ctype(&variable.ty)?;
        let key = (0, variable.number);
        let parameter = self.parameters.iter().find(|(p, _)| p == text);
        let binding = match (parameter, &ty) {
            (Some((_, value)), CType::Scalar(scalar)) if !scalar.is_float() => {
                self.used_parameters.insert(text.to_string());
                Binding::Known(*value, *scalar)
            }
            _ => self.static_variable(variable, ty, text.to_string())?,
        };
        self.line = line;
        self.globals.insert(name, (binding.clone(), key));
        Ok(Some((binding, key)))
    }
}
