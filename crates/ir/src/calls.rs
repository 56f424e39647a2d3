//! Calls: of functions of the module, of mathematical functions, and of a few that move memory.

use crate::datum::{Datum, signed};
use crate::machine::{Arrival, Machine, Run};
use crate::memory::MOST_BYTES;
use crate::module::{Callee, Function, Kind};
use crate::region::{Backing, Region};
use std::rc::Rc;
use updates::{Cmp, Constant, Domain, FaultKind, Op, Scalar};

/// The registers of a function when it starts.
pub(crate) type Template<V> = Vec<Datum<V>>;

/// Most calls inside each other.
const DEEPEST: usize = 120;

/// Number of arguments of a mathematical function without its `f`.
fn arity(base: &str) -> Option<usize> {
    Some(match base {
        "sqrt" | "fabs" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10" | "log1p" | "sin" | "cos" | "tan"
        | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "cbrt" | "floor" | "ceil" | "trunc" | "round"
        | "rint" | "nearbyint" | "erf" | "erfc" | "tgamma" | "lgamma" => 1,
        "pow" | "fmod" | "atan2" | "hypot" | "fmin" | "fmax" | "copysign" => 2,
        "fma" => 3,
        _ => return None,
    })
}

/// Type and number of arguments of a mathematical function.
fn mathematical(name: &str) -> Option<(Scalar, usize)> {
    let double = arity(name).map(|count| (Scalar::F64, count));
    double.or_else(|| Some((Scalar::F32, arity(name.strip_suffix('f')?)?)))
}

/// Is it a function of its arguments alone?
pub(crate) fn is_mathematical(name: &str) -> bool {
    mathematical(library_name(name).as_deref().unwrap_or(name)).is_some()
}

/// The library's name of an intrinsic such as `llvm.fabs.f64`.
fn library_name(name: &str) -> Option<String> {
    let (base, width) = name.strip_prefix("llvm.")?.rsplit_once('.')?;
    let base = match base {
        "minnum" => "fmin",
        "maxnum" => "fmax",
        "sqrt" | "fabs" | "floor" | "ceil" | "trunc" | "round" | "rint" | "nearbyint" | "copysign" | "fma" | "exp"
        | "exp2" | "log" | "log2" | "log10" | "sin" | "cos" | "tan" | "pow" => base,
        _ => return None,
    };
    match width {
        "f64" => Some(base.to_string()),
        "f32" => Some(format!("{base}f")),
        _ => None,
    }
}

impl<'m, D: Domain> Machine<'m, D> {
    /// The registers of a function when it starts.
    fn template(&mut self, number: u32, function: &'m Function) -> Run<Rc<Template<D::Value>>> {
        if let Some(made) = &self.templates[number as usize] {
            return Ok(Rc::clone(made));
        }
        let mut registers = vec![Datum::Poison; function.registers.len()];
        for (register, known) in &function.constants {
            registers[*register as usize] = self.constant(*known)?;
        }
        let made = Rc::new(registers);
        self.templates[number as usize] = Some(Rc::clone(&made));
        Ok(made)
    }

    /// Runs a function of the module.
    pub(crate) fn enter(&mut self, number: u32, arguments: &[Datum<D::Value>]) -> Run<Datum<D::Value>> {
        let function = &self.module.functions[number as usize];
        if let Some(why) = &function.refused {
            return Err(self.unsupported(format!("`{}`: {why}", function.name)));
        }
        if self.depth >= DEEPEST {
            return Err(self.unsupported("too many calls inside each other"));
        }
        if arguments.len() != function.parameters.len() {
            return Err(self.undefined(format!("`{}` is called with another number of arguments", function.name)));
        }
        let template = self.template(number, function)?;
        let (base, caller, block, first) = (self.base, (self.function, self.number), self.block, self.regions.len());
        self.base = self.registers.len();
        self.registers.extend_from_slice(&template);
        (self.function, self.number, self.block, self.depth) = (function, number, 0, self.depth + 1);
        self.find_heads();
        for (parameter, datum) in function.parameters.iter().zip(arguments) {
            self.set(parameter.register, *datum);
        }
        let arrival = self.run(None)?;
        self.bury(first);
        self.registers.truncate(self.base);
        (self.base, (self.function, self.number), self.block, self.depth) = (base, caller, block, self.depth - 1);
        match arrival {
            Arrival::Returned(datum) => Ok(datum),
            Arrival::Met => Err(self.unsupported("a call that does not return")),
        }
    }

    /// Calls a function; `result` is the kind of the register that gets what it returns.
    pub(crate) fn call(&mut self, callee: &Callee, arguments: &[u32], result: Option<Kind>) -> Run<Datum<D::Value>> {
        let given: Vec<Datum<D::Value>> = arguments.iter().map(|a| self.get(*a)).collect();
        let name = match callee {
            Callee::Own(number) => return self.enter(*number, &given),
            Callee::Named(name) => name,
        };
        let kinds: Vec<Kind> = arguments.iter().map(|a| self.function.registers[*a as usize]).collect();
        let library = library_name(name);
        let plain = library.as_deref().unwrap_or(name);
        if let Some((ty, count)) = mathematical(plain) {
            if given.len() != count {
                return Err(self.unsupported(format!("`{plain}` with another number of arguments")));
            }
            // A file may declare the name for something else.
            let wanted = if ty == Scalar::F64 { Kind::Double } else { Kind::Float };
            if kinds.iter().chain(&result).any(|kind| *kind != wanted) {
                return Err(self.unsupported(format!("`{plain}`, which the file declares with other types")));
            }
            let mut values = Vec::with_capacity(count);
            for datum in given {
                values.push(self.number(datum, ty)?);
            }
            self.mathematical = true;
            let value = self.domain.call(plain, ty, &values);
            return Ok(self.held(value, ty, 8 * ty.bytes() as u8));
        }
        match (name.as_str(), given.as_slice()) {
            (memory, [to, from, count, ..])
                if memory.starts_with("llvm.memcpy.")
                    || memory.starts_with("llvm.memmove.")
                    || matches!(memory, "memcpy" | "memmove") =>
            {
                let Datum::Bits(count) = *count else { return Err(self.unsupported("a copy of unknown length")) };
                if !memory.contains("memmove") && overlap(*to, *from, count) {
                    return Err(self.undefined("`memcpy` of overlapping memory".to_string()));
                }
                self.copy(*to, *from, count)?;
                Ok(*to)
            }
            (memory, [to, byte, count, ..]) if memory.starts_with("llvm.memset.") || memory == "memset" => {
                let (Datum::Bits(byte), Datum::Bits(count)) = (*byte, *count) else {
                    return Err(self.unsupported("`memset` with data"));
                };
                self.fill(*to, byte as u8, count)?;
                Ok(*to)
            }
            ("malloc", [Datum::Bits(bytes)]) => self.allocate(*bytes, Backing::Nothing),
            ("calloc", [Datum::Bits(count), Datum::Bits(bytes)]) => {
                self.allocate(count.saturating_mul(*bytes), Backing::Zero)
            }
            ("free", [Datum::Bits(0)]) => Ok(Datum::Poison),
            ("free", [Datum::Place(number, 0)]) => {
                let region = &mut self.regions[*number as usize];
                if !region.heap || !region.alive || !self.journals.is_empty() {
                    return Err(self.unsupported("`free` of something that was not allocated"));
                }
                region.alive = false;
                Ok(Datum::Poison)
            }
            ("abs" | "labs" | "llabs", [datum]) => {
                let wanted = Kind::Int(if name == "abs" { 32 } else { 64 });
                if kinds.iter().chain(&result).any(|kind| *kind != wanted) {
                    return Err(self.unsupported(format!("`{name}`, which the file declares with other types")));
                }
                self.magnitude(*datum, kinds[0])
            }
            (absolute, [datum, _]) if absolute.starts_with("llvm.abs.") => self.magnitude(*datum, kinds[0]),
            _ => Err(self.unsupported(format!("a call of `{name}`"))),
        }
    }

    fn allocate(&mut self, bytes: u64, backing: Backing) -> Run<Datum<D::Value>> {
        if bytes > MOST_BYTES {
            return Err(self.fault(FaultKind::Memory, "too large an allocation".to_string()));
        }
        let mut region = Region::new("an allocated object".to_string(), bytes, 8, backing);
        region.heap = true;
        self.allocates = true;
        Ok(Datum::Place(self.add(region)?, 0))
    }

    /// The absolute value of an integer.
    fn magnitude(&mut self, datum: Datum<D::Value>, kind: Kind) -> Run<Datum<D::Value>> {
        let bits = kind.bits();
        if let Datum::Bits(known) = datum {
            let value = signed(known, bits);
            let lowest = i64::MIN >> (64 - u32::from(bits));
            return match value {
                _ if value == lowest => Err(self.undefined("signed overflow".to_string())),
                _ => Ok(Datum::Bits(value.unsigned_abs())),
            };
        }
        let Some(ty) = crate::datum::signed_type(bits) else { return Err(self.unsupported("an unusual width")) };
        let value = self.number(datum, ty)?;
        let zero = self.domain.constant(Constant::Int(0));
        let negative = self.domain.compare(Cmp::Lt, ty, value, zero);
        let negated = self.domain.binary(Op::Sub, ty, zero, value).map_err(|why| self.undefined(why.to_string()))?;
        let chosen = self.domain.choice(negative, negated, value);
        Ok(self.held(chosen, ty, bits))
    }
}

/// Do two blocks of memory overlap without being the same?
fn overlap<V>(a: Datum<V>, b: Datum<V>, bytes: u64) -> bool {
    match (a, b) {
        (Datum::Place(first, x), Datum::Place(second, y)) => first == second && x != y && x.abs_diff(y) < bytes,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_have_the_names_of_the_library() {
        assert_eq!(library_name("llvm.fabs.f32").as_deref(), Some("fabsf"));
        assert_eq!(library_name("llvm.minnum.f64").as_deref(), Some("fmin"));
        assert_eq!(library_name("llvm.fmuladd.f64"), None, "it may round once or twice");
        assert_eq!(library_name("llvm.experimental.constrained.fadd.f64"), None);
        assert_eq!(mathematical("sqrtf"), Some((Scalar::F32, 1)));
        assert_eq!(mathematical("printf"), None);
    }
}
