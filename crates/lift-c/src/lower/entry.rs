//! The kernel function itself: its parameters become inputs.

use super::{Binding, Lowerer};
use crate::ast::Function;
use crate::ctype::CType;
use crate::error::Error;
use std::rc::Rc;
use updates::{Argument, Int, Origin, Place, Scalar, Stmt};

impl<'a> Lowerer<'a> {
    pub(super) fn function(&mut self, function: &'a Function) -> Result<(), Error> {
        self.program.name = self.text(function.name).to_string();
        self.line = function.line;
        self.calls.push(function.name);
        let assigned = super::assigned_names(&function.body);
        let mut body = Vec::new();
        self.program.arguments = vec![Argument::Unnamed; function.parameters.len()];
        // Scalars first: the dimensions of arrays may mention any of them.
        for arrays in [false, true] {
            for (position, parameter) in function.parameters.iter().enumerate() {
                let array = !matches!(parameter.ty, crate::ast::Type::Basic(_));
                let Some(name) = parameter.name.filter(|_| array == arrays) else { continue };
                self.line = parameter.line;
                let text = self.text(name).to_string();
                let key = (0, 1 << 31 | position as u32);
                let ty = self.ctype(&parameter.ty)?;
                let position = position as u32;
                let binding = match ty {
                    CType::Scalar(scalar) if !scalar.is_float() => {
                        self.integer_parameter(&text, scalar, position, key, assigned.contains(&name), &mut body)?
                    }
                    CType::Scalar(_) => {
                        let object = self.new_object(text, &ty, Origin::Value(position))?;
                        Binding::Object(object, ty)
                    }
                    CType::Array(..) | CType::Pointer(_) => {
                        let ty = match ty {
                            CType::Pointer(target) => CType::Array(target, None),
                            other => other,
                        };
                        self.array_parameter(text, ty, position, assigned.contains(&name), &mut body)?
                    }
                    CType::Struct(_) => {
                        let object = self.new_object(text, &ty, Origin::Value(position))?;
                        Binding::Object(object, ty)
                    }
                    CType::Void => return Err(self.malformed(format!("the parameter `{text}` of type void"))),
                };
                self.program.arguments[position as usize] = match &binding {
                    Binding::Known(value, ty) => Argument::Known(*value, *ty),
                    _ => self.argument(position),
                };
                self.bind(name, binding, key);
            }
        }
        let result = match self.ctype(&function.result)? {
            CType::Void => None,
            ty @ CType::Scalar(_) => {
                let object = self.new_object("result".to_string(), &ty, Origin::Local)?;
                self.program.result = Some(object);
                Some((Binding::Object(object, ty), (0, u32::MAX)))
            }
            other => return Err(self.unsupported(format!("a kernel that returns `{}`", other.name()))),
        };
        self.results.push(result);
        body.extend(self.list(&function.body)?);
        self.program.body = body;
        Ok(())
    }

    /// What the caller passes at a position: the object made for it, or the number that a variable starts with.
    fn argument(&self, position: u32) -> Argument {
        for (number, object) in self.program.objects.iter().enumerate() {
            match object.origin {
                Origin::Parameter(p) if p == position => return Argument::Memory(number as u32),
                Origin::Value(p) if p == position => return Argument::Value(number as u32),
                _ => {}
            }
        }
        self.started.map_or(Argument::Unnamed, |(value, ty)| Argument::Known(value, ty))
    }

    fn integer_parameter(
        &mut self,
        text: &str,
        scalar: Scalar,
        position: u32,
        key: super::Key,
        assigned: bool,
        body: &mut Vec<Stmt>,
    ) -> Result<Binding, Error> {
        let given = self.parameters.iter().find(|(p, _)| p == text).map(|(_, value)| *value);
        let Some(value) = given else {
            let ty = CType::Scalar(scalar);
            let object = self.new_object(text.to_string(), &ty, Origin::Value(position))?;
            return Ok(Binding::Object(object, ty));
        };
        self.used_parameters.insert(text.to_string());
        let (low, high) = scalar.range();
        if !(low..=high).contains(&i128::from(value)) {
            return Err(
                self.malformed(format!("{value} does not fit the parameter `{text}` of type `{}`", scalar.name()))
            );
        }
        if !assigned {
            return Ok(Binding::Known(value, scalar));
        }
        self.started = Some((value, scalar));
        let site = self.site(self.line);
        if self.data.contains(&key) {
            let ty = CType::Scalar(scalar);
            let object = self.new_object(text.to_string(), &ty, Origin::Local)?;
            let constant = updates::Data::Const(updates::Constant::Int(value));
            body.push(Stmt::Store(site, Place::Cell(object), constant));
            return Ok(Binding::Object(object, ty));
        }
        let slot = self.new_slot();
        body.push(Stmt::Int(site, Int::Assign(slot, Box::new(Int::Const(value)))));
        Ok(Binding::Slot(slot, scalar))
    }

    fn array_parameter(
        &mut self,
        text: String,
        ty: CType,
        position: u32,
        assigned: bool,
        body: &mut Vec<Stmt>,
    ) -> Result<Binding, Error> {
        let object = self.new_object(text, &ty, Origin::Parameter(position))?;
        if !assigned {
            return Ok(Binding::Object(object, ty));
        }
        // The parameter is moved around: it is a pointer that starts at the object.
        let CType::Array(element, _) = ty else { return Ok(Binding::Object(object, ty)) };
        let slot = self.new_slot();
        let site = self.site(self.line);
        let start = Int::Address(Box::new(Place::Cell(object)));
        body.push(Stmt::Int(site, Int::Assign(slot, Box::new(start))));
        Ok(Binding::Pointer(slot, Rc::clone(&element)))
    }
}
