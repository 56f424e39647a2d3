//! What has a place: parameters, registers, cells of memory by the paths that lead to them.

use super::Renderer;
use super::shown::{Level, Shown};
use crate::build;
use crate::interface::{is_name, place_name};
use crate::types::Type;
use crate::value::width_of;
use kernel::{Expression, Operator};
use program::{SourceType, Value};

/// Members in members are followed so far.
const DEEPEST: u32 = 12;

impl Renderer<'_> {
    /// An argument or the address of an object.
    pub fn named(&self, name: &str) -> Option<Shown> {
        let interface = self.interface;
        if name.starts_with('&') {
            let object = interface.objects.iter().find(|o| o.var == name && is_name(&o.name))?;
            let hidden = interface.parameter(&object.name).is_some();
            let ty = Type::Pointer(Box::new(object.ty.clone().unwrap_or(Type::Void)));
            return (!hidden).then(|| Shown { text: format!("&{}", object.name), level: Level::Unary, ty });
        }
        let value = interface.arguments.get(name)?;
        self.part(name, 0, 8 * value.bytes)
    }

    /// Bits of an argument: a parameter, a member of one, or a part of a register.
    pub fn part(&self, name: &str, low: u16, width: u16) -> Option<Shown> {
        let interface = self.interface;
        for parameter in interface.parameters.iter().filter(|p| is_name(&p.name)) {
            let mut at = 0;
            for value in parameter.values.iter().map(Value::as_passed) {
                if place_name(value.place) == name && low.is_multiple_of(8) {
                    let ty = match &parameter.ty {
                        Some(ty) => ty.clone(),
                        None if parameter.pointer => Type::Pointer(Box::new(Type::Void)),
                        None => Type::integer(value.bytes, false),
                    };
                    let whole = Shown { text: parameter.name.clone(), level: Level::Atom, ty };
                    // A small argument is extended by whoever calls, as arithmetic would.
                    let extended = matches!(whole.ty, Type::Integer { bytes: 1 | 2, .. }) && width == 32 && low == 0;
                    if extended {
                        return Some(Shown { ty: Type::INT, ..whole });
                    }
                    return self.within(whole, at + u64::from(low / 8), width);
                }
                at += u64::from(value.bytes.next_multiple_of(8));
            }
        }
        let ty = match name.starts_with("xmm") {
            true if matches!(width, 32 | 64) && low == 0 => Type::Float { bytes: width / 8 },
            true => return None,
            false => Type::integer(width / 8, false),
        };
        let text = match (low, width) {
            (0, _) if name.starts_with("xmm") => name.to_string(),
            (0, 64) => name.to_string(),
            (0, 32 | 16 | 8) => part_name(name, width)?,
            _ => return None,
        };
        Some(Shown { text, level: Level::Atom, ty })
    }

    /// What is in memory at an address.
    pub fn cell(&self, address: &Expression, bytes: u16) -> Option<Shown> {
        let path = self.path(address, 8 * bytes);
        path.or_else(|| {
            // Any address will do for a cast.
            if !matches!(bytes, 1 | 2 | 4 | 8) {
                return None;
            }
            let to = Type::Pointer(Box::new(Type::integer(bytes, false)));
            let shown = self.number(address)?.cast(&to, &self.interface.types);
            Some(Shown { text: format!("*{}", shown.text), level: Level::Unary, ty: Type::integer(bytes, false) })
        })
    }

    fn path(&self, address: &Expression, width: u16) -> Option<Shown> {
        let parts = match address {
            Expression::Apply(Operator::Add, parts) => &parts[..],
            other => std::slice::from_ref(other),
        };
        let at = parts.iter().position(|part| self.number(part).is_some_and(|shown| shown.ty.is_pointer()))?;
        let base = self.number(&parts[at])?;
        let Type::Pointer(to) = base.ty.clone() else { return None };
        let (mut offset, mut index) = (0i64, None);
        for (_, part) in parts.iter().enumerate().filter(|(i, _)| *i != at) {
            match build::value_of(part) {
                Some(bits) => offset = offset.checked_add(bits.to_i64()?)?,
                None if index.is_none() => index = Some(part),
                None => return None,
            }
        }
        if let (Expression::Named(name), None) = (&parts[at], index)
            && let Some(object) = name.strip_prefix('&').and(base.text.strip_prefix('&'))
        {
            let whole = Shown { text: object.to_string(), level: Level::Atom, ty: *to };
            return self.within(whole, u64::try_from(offset).ok()?, width);
        }
        if let (Expression::Named(name), Type::Array(element, _)) = (&parts[at], &*to)
            && name.starts_with('&')
        {
            let size = element.size(&self.interface.types)?;
            let text = format!("{}[{}]", base.text.strip_prefix('&')?, self.index(index?, size)?.text);
            return self.within(
                Shown { text, level: Level::Atom, ty: (**element).clone() },
                u64::try_from(offset).ok()?,
                width,
            );
        }
        let size = i64::try_from(to.size(&self.interface.types)?).ok()?;
        let (count, rest) = (offset.div_euclid(size), offset.rem_euclid(size) as u64);
        let element = match (index, count) {
            (Some(index), 0) => {
                let index = self.index(index, size as u64)?;
                Shown { text: format!("{}[{}]", base.at(Level::Atom), index.text), level: Level::Atom, ty: *to }
            }
            (Some(_), _) => return None,
            (None, 0) => {
                if let Type::Aggregate(_) = *to {
                    let arrow = Shown { text: format!("{}->", base.at(Level::Atom)), level: Level::Atom, ty: *to };
                    return self.within(arrow, rest, width);
                }
                Shown { text: format!("*{}", base.at(Level::Unary)), level: Level::Unary, ty: *to }
            }
            (None, count) => Shown { text: format!("{}[{count}]", base.at(Level::Atom)), level: Level::Atom, ty: *to },
        };
        self.within(element, rest, width)
    }

    /// A part of an object: of so many bits, so many bytes from its start.
    fn within(&self, mut object: Shown, mut offset: u64, width: u16) -> Option<Shown> {
        let types = &self.interface.types;
        for _ in 0..DEEPEST {
            match object.ty.clone() {
                Type::Aggregate(id) => {
                    let SourceType::Aggregate { members, .. } = types.get(id) else { return None };
                    let fits = |m: &&program::SourceMember| {
                        let size = Type::of_source(types, m.ty).size(types).unwrap_or(0);
                        !m.bits && m.offset <= offset && offset < m.offset + size
                    };
                    // Of the members of a union the first of that size counts.
                    let exact = |m: &&program::SourceMember| {
                        fits(m) && Type::of_source(types, m.ty).size(types) == Some(u64::from(width / 8))
                    };
                    let member = members.iter().find(exact).or_else(|| members.iter().find(fits))?;
                    offset -= member.offset;
                    let ty = Type::of_source(types, member.ty);
                    object = match (member.name.is_empty(), object.text.ends_with("->")) {
                        (true, _) => Shown { ty, ..object },
                        (false, true) => Shown { text: format!("{}{}", object.text, member.name), ty, ..object },
                        (false, false) => {
                            let text = format!("{}.{}", object.at(Level::Atom), member.name);
                            Shown { text, level: Level::Atom, ty }
                        }
                    };
                }
                Type::Array(element, _) | Type::Vector(element, _) => {
                    let size = element.size(types)?;
                    let text = format!("{}[{}]", object.at(Level::Atom), offset / size);
                    offset %= size;
                    object = Shown { text, level: Level::Atom, ty: *element };
                }
                ty => {
                    let scalar = matches!(ty, Type::Integer { .. } | Type::Float { .. } | Type::Pointer(_));
                    return (scalar && offset == 0 && width_of(&ty) == width).then_some(object);
                }
            }
        }
        None
    }
}

/// The name of the low part of a general register.
fn part_name(whole: &str, width: u16) -> Option<String> {
    let number = whole.strip_prefix('r')?;
    if number.bytes().all(|b| b.is_ascii_digit()) {
        return Some(format!("{whole}{}", [(32, 'd'), (16, 'w'), (8, 'b')].into_iter().find(|(w, _)| *w == width)?.1));
    }
    Some(match (number, width) {
        (_, 32) => format!("e{number}"),
        (_, 16) => number.to_string(),
        ("ax" | "bx" | "cx" | "dx", _) => format!("{}l", &number[..1]),
        _ => format!("{number}l"),
    })
}
