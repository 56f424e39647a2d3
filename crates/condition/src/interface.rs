//! What a condition about a function may mention: its parameters, its objects and their types.

use crate::types::{Type, basic};
use kernel::{Expression, Operator};
use program::{Function, ObjectKind, Parameter, Place, Register, Signature, SourceTypes, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use term::{Arena, Sort};

/// The names of a function that conditions are about.
#[derive(Clone, Debug)]
pub struct Interface {
    pub(crate) function: String,
    pub(crate) types: Arc<SourceTypes>,
    pub(crate) parameters: Vec<Named>,
    pub(crate) objects: Vec<Global>,
    /// What arrives in registers and on the stack, by the names that expressions have for it.
    pub(crate) arguments: BTreeMap<String, Value>,
    /// Why nothing is known of the arguments.
    pub(crate) refused: Option<String>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub name: String,
    pub ty: Option<Type>,
    pub values: Vec<Value>,
    pub pointer: bool,
}

/// An object of the original.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub name: String,
    /// The variable of its address.
    pub var: String,
    pub ty: Option<Type>,
}

impl Interface {
    /// The interface of the original of a pair.
    pub fn new(original: &Function, arena: &Arena) -> Interface {
        let types = original.source_types.clone();
        let parameter = |p: &Parameter| Named {
            name: p.name.clone(),
            ty: p.source_type.map(|id| Type::of_source(&types, id)),
            values: p.values.clone(),
            pointer: p.pointer,
        };
        let objects = original.objects.values().filter(|o| matches!(o.kind, ObjectKind::Named { function: false, .. }));
        let object = |o: &program::Object| Global {
            name: o.name.clone(),
            var: arena.var_name(o.var).to_string(),
            ty: types.variable(&o.name).map(|id| Type::of_source(&types, id)),
        };
        let signature = original.signature.as_ref();
        Interface {
            function: original.name.clone(),
            parameters: original.parameters.iter().map(parameter).collect(),
            objects: objects.map(object).collect(),
            arguments: arguments(signature).into_iter().map(|value| (place_name(value.place), value)).collect(),
            refused: signature.and_then(|s| s.unsupported.clone()),
            types,
        }
    }

    /// The function's name.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// The parameters as C declares them, type and name; none where debug information does not say them all.
    pub fn declared_parameters(&self) -> Option<Vec<(String, String)>> {
        let named = |parameter: &Named| {
            let ty = parameter.ty.as_ref()?;
            is_name(&parameter.name).then(|| (ty.text(&self.types), parameter.name.clone()))
        };
        self.parameters.iter().map(named).collect()
    }

    /// The sort of an expression, if its parts fit and a condition may mention them.
    pub fn sort(&self, expression: &Expression) -> Option<Sort> {
        match expression {
            Expression::Place(_) => None,
            Expression::Constant(bits) => Some(Sort::Bv(bits.width())),
            Expression::Named(name) if name.starts_with('&') => {
                self.objects.iter().any(|o| o.var == *name).then_some(Sort::Bv(64))
            }
            Expression::Named(name) => self.arguments.get(name).map(|value| Sort::Bv(value.bytes * 8)),
            Expression::Apply(Operator::Load(program::Side::Candidate, _), _) => None,
            Expression::Apply(operator, operands) => {
                let sorts: Option<Vec<Sort>> = operands.iter().map(|operand| self.sort(operand)).collect();
                operator.result(&sorts?)
            }
        }
    }

    /// The width of a number.
    pub(crate) fn width(&self, expression: &Expression) -> Option<u16> {
        self.sort(expression)?.width()
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&Named> {
        self.parameters.iter().find(|p| p.name == name)
    }

    pub(crate) fn object(&self, name: &str) -> Option<&Global> {
        self.objects.iter().find(|o| o.name == name)
    }

    /// A type by what stands for it in a cast.
    pub(crate) fn type_named(&self, words: &[&str]) -> Option<Type> {
        let source = match words {
            [word, name] if matches!(*word, "struct" | "union" | "enum") => self.types.named(&format!("{word} {name}")),
            // A variable hides a type.
            [word] if self.parameter(word).is_none() && self.object(word).is_none() => self.types.named(word),
            _ => None,
        };
        source.map(|id| Type::of_source(&self.types, id)).or_else(|| basic(words))
    }

    /// What a user could have meant.
    pub(crate) fn names(&self) -> String {
        let parameters = self.parameters.iter().map(|p| p.name.clone()).filter(|name| !name.is_empty());
        let mut names: Vec<String> = parameters.collect();
        if names.is_empty() {
            names = self.arguments.keys().cloned().collect();
        }
        names.extend(self.objects.iter().map(|o| o.name.clone()).filter(|name| is_name(name)).take(8));
        if names.is_empty() { "nothing".to_string() } else { names.join(", ") }
    }
}

/// Can it be written in C?
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The arguments of a function, as its callees may look at them.
fn arguments(signature: Option<&Signature>) -> Vec<Value> {
    match signature {
        Some(signature) if signature.unsupported.is_some() => Vec::new(),
        Some(signature) => signature.arguments.iter().map(Value::as_passed).collect(),
        // Without a signature every register of the convention is an argument.
        None => {
            let value =
                |register, bytes| Value { place: Place::Register(register), bytes, boolean: false, narrow: None };
            let general = Register::ARGUMENTS.into_iter().map(|register| value(register, 8));
            general.chain((0..8).map(|i| value(Register::Vector(i), 16))).collect()
        }
    }
}

/// The name of an argument in expressions.
pub(crate) fn place_name(place: Place) -> String {
    match place {
        Place::Register(register) => register.name(),
        Place::Stack(offset) => format!("stack.{offset}"),
    }
}
