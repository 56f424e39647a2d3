//! Declarations of variables: locals, statics and globals.

use super::values::Access;
use super::{Binding, Key, Lowerer, Val};
use crate::ast::{Initializer, Variable};
use crate::ctype::CType;
use crate::error::Error;
use crate::lexer::Name;
use updates::{Base, Constant, Data, Int, Origin, Place, Scalar, Stmt};

/// Most elements of an array with an initializer.
const MOST_ELEMENTS: usize = 1 << 16;

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
            let binding = self.static_variable(variable, ty, format!("{}.{name}", self.program.name))?;
            self.bind(variable.name, binding, key);
            return Ok(());
        }
        match ty {
            CType::Pointer(target) => {
                let slot = self.new_slot();
                match &variable.init {
                    None => out.push(Stmt::Forget(vec![slot])),
                    Some(init) => {
                        let value = self.initial_value(init)?;
                        let target = CType::Pointer(std::rc::Rc::clone(&target));
                        let Val::Pointer(value, _) = self.convert(value, &target)? else {
                            return Err(self.malformed("a pointer that starts as something else"));
                        };
                        out.push(Stmt::Int(site, Int::Assign(slot, Box::new(value))));
                    }
                }
                self.bind(variable.name, Binding::Pointer(slot, target), key);
            }
            CType::Scalar(scalar) if !scalar.is_float() && !self.data.contains(&key) => {
                let slot = self.new_slot();
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
                self.bind(variable.name, Binding::Slot(slot, scalar), key);
            }
            CType::Scalar(scalar) => {
                let object = self.new_object(name.to_string(), &CType::Scalar(scalar), Origin::Local)?;
                match &variable.init {
                    None => out.push(Stmt::Enter(vec![object])),
                    Some(init) => {
                        let value = self.initial_value(init)?;
                        let value = self.convert(value, &CType::Scalar(scalar))?;
                        let data = self.data_of(value, scalar)?;
                        out.push(Stmt::Store(site, Place::Cell(object), data));
                    }
                }
                self.bind(variable.name, Binding::Object(object, CType::Scalar(scalar)), key);
            }
            CType::Array(..) | CType::Struct(_) => self.aggregate(variable, ty, key, out)?,
            CType::Void => return Err(self.malformed(format!("the variable `{name}` of type void"))),
        }
        Ok(())
    }

    fn initial_value(&mut self, init: &Initializer) -> Result<Val, Error> {
        match init {
            Initializer::Value(expr) => self.value(expr),
            Initializer::List(list) => match list.as_slice() {
                [Initializer::Value(expr)] => self.value(expr),
                _ => Err(self.malformed("a list for a single value")),
            },
            _ => Err(self.malformed("a designator outside a list")),
        }
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

    /// Writes the values of a list to all cells of an object.
    pub(super) fn fill(
        &mut self,
        object: u32,
        list: &[Initializer],
        ty: &CType,
        site: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        for (cell, (value, scalar)) in self.flatten(list, ty)?.into_iter().enumerate() {
            let data = match value {
                Some(value) => self.data_of(value, scalar)?,
                None => Data::Const(zero(scalar)),
            };
            let to = Access { base: Base::Object(object), index: Vec::new(), offset: cell as i64 };
            out.push(Stmt::Store(site, to.element(), data));
        }
        Ok(())
    }

    /// The initializers of a list by the position that they are for.
    fn positions<'i>(&mut self, list: &'i [Initializer], ty: &CType) -> Result<Vec<Option<&'i Initializer>>, Error> {
        let mut found: Vec<Option<&Initializer>> = Vec::new();
        let mut at = 0usize;
        for init in list {
            let value = match (init, ty) {
                (Initializer::At(index, value), CType::Array(..)) => {
                    at = self.array_length(index)? as usize;
                    value
                }
                (Initializer::Member(name, value), CType::Struct(layout)) => {
                    let wanted = self.text(*name);
                    let position = layout.members.iter().position(|(member, _)| member == wanted);
                    at = position.ok_or_else(|| self.malformed(format!("no member `{wanted}`")))?;
                    value
                }
                (Initializer::At(..) | Initializer::Member(..), _) => {
                    return Err(self.malformed("a designator that does not fit the type"));
                }
                (plain, _) => plain,
            };
            if at >= MOST_ELEMENTS {
                return Err(self.unsupported("an initializer of this size"));
            }
            if found.len() <= at {
                found.resize(at + 1, None);
            }
            found[at] = Some(value);
            at += 1;
        }
        Ok(found)
    }

    /// The type with its length taken from the list: `double w[] = {…}`.
    fn sized(&mut self, ty: CType, init: Option<&Initializer>) -> Result<CType, Error> {
        Ok(match (ty, init) {
            (ty @ CType::Array(_, None), Some(Initializer::List(list))) => {
                let length = self.positions(list, &ty)?.len() as u64;
                let CType::Array(element, _) = ty else { return Err(self.malformed("an array")) };
                CType::Array(element, Some(length))
            }
            (ty, _) => ty,
        })
    }

    /// The values of all cells of an aggregate; missing ones are zero.
    fn flatten(&mut self, list: &[Initializer], ty: &CType) -> Result<Vec<(Option<Val>, Scalar)>, Error> {
        let parts: Vec<CType> = match ty {
            CType::Array(element, Some(length)) if *length <= MOST_ELEMENTS as u64 => {
                vec![(**element).clone(); *length as usize]
            }
            CType::Struct(layout) => layout.members.iter().map(|(_, ty)| ty.clone()).collect(),
            _ => return Err(self.unsupported("an initializer of this size")),
        };
        let nested = |i: &Initializer| matches!(i, Initializer::List(_));
        let scalars = parts.iter().all(|p| matches!(p, CType::Scalar(_)));
        // `{0}` is all zero, however deep the type is.
        let list = match list {
            [Initializer::Value(expr)] if !scalars => match self.value(expr)? {
                Val::Int(Int::Const(0), _) => &[],
                _ => list,
            },
            list => list,
        };
        let list = self.positions(list, ty)?;
        let mut out = Vec::new();
        if !scalars && !list.iter().flatten().all(|i| nested(i)) {
            return Err(self.unsupported("an initializer without its inner braces"));
        }
        if list.len() > parts.len() {
            return Err(self.malformed("too many values for the aggregate"));
        }
        for (index, part) in parts.iter().enumerate() {
            match (list.get(index).copied().flatten(), part) {
                (Some(init), CType::Scalar(scalar)) => {
                    let value = self.initial_value(init)?;
                    let value = self.convert(value, part)?;
                    out.push((Some(value), *scalar));
                }
                (Some(Initializer::List(inner)), part) => out.extend(self.flatten(inner, part)?),
                (None, CType::Scalar(scalar)) => out.push((None, *scalar)),
                (None, part) => out.extend(self.flatten(&[], part)?),
                (Some(_), _) => return Err(self.unsupported("this initializer")),
            }
        }
        Ok(out)
    }

    /// A variable that outlives the call: a constant table if it is constant, else input and output.
    fn static_variable(&mut self, variable: &Variable, ty: CType, name: String) -> Result<Binding, Error> {
        let shown = self.text(variable.name).to_string();
        let pointer = matches!(ty, CType::Pointer(_));
        if pointer {
            return Err(self.unsupported(format!("the global pointer `{shown}`")));
        }
        let ty = self.sized(ty, variable.init.as_ref())?;
        if variable.constant
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
                let mut cells = Vec::new();
                for (value, scalar) in self.flatten(list, &ty)? {
                    let data = match value {
                        Some(value) => self.data_of(value, scalar)?,
                        None => Data::Const(zero(scalar)),
                    };
                    match data {
                        Data::Const(known) => cells.push(known),
                        _ => return Err(self.unsupported(format!("the start values of `{shown}`"))),
                    }
                }
                let object = self.new_object(shown, &ty, Origin::Table(cells))?;
                return Ok(Binding::Object(object, ty));
            }
        }
        if ty.cells().is_none() {
            return Err(self.unsupported(format!("the global `{shown}` of type `{}`", ty.name())));
        }
        // A static variable is its file's own; nobody else sees what it is left with.
        let name = if variable.is_static { format!("static {name}") } else { name };
        let object = self.new_object(shown, &ty, Origin::Global(name))?;
        Ok(Binding::Object(object, ty))
    }

    /// A global variable, bound at its first use.
    pub(super) fn global(&mut self, name: Name) -> Result<Option<(Binding, Key)>, Error> {
        if let Some(known) = self.globals.get(&name) {
            return Ok(Some(known.clone()));
        }
        let file = self.file;
        // A later definition with a start value outranks an earlier declaration.
        let mut same = file.globals.iter().filter(|g| g.name == name);
        let Some(first) = same.next() else { return Ok(None) };
        let variable = same.find(|g| g.init.is_some()).filter(|_| first.init.is_none()).unwrap_or(first);
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

fn zero(ty: Scalar) -> Constant {
    if ty.is_float() { Constant::float(ty, 0.0) } else { Constant::Int(0) }
}
