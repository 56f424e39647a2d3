//! Registers and stack words in the order of the parameters (psABI 3.2.3, "Passing" and "Returning of Values").

use crate::{Class, Refusal, Type, classify};

/// Where a part of a value is at a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A general register by its encoding: 0 rax, 1 rcx, 2 rdx, 6 rsi, 7 rdi, 8 r8, 9 r9.
    General(u8),
    /// The low 16 bytes of a vector register.
    Vector(u8),
    /// The bytes 16 to 31 of a vector register.
    VectorHigh(u8),
    /// The stack, at this offset from the first stack argument.
    Stack(u32),
}

/// A part of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Piece {
    /// Where.
    pub place: Place,
    /// How many bytes from the low end belong to the value.
    pub bytes: u16,
}

/// How a result comes back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Returned {
    /// In these registers; nowhere if it is empty.
    Registers(Vec<Piece>),
    /// In memory: a hidden pointer comes first among the arguments, and back in `rax`.
    Hidden,
}

/// Hands out places to a function's parameters, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Convention {
    general: usize,
    vector: u8,
    stack: u32,
    ymm: Option<bool>,
}

/// General registers of arguments, by their encodings.
const ARGUMENTS: [u8; 6] = [7, 6, 2, 1, 8, 9];
/// Bytes of the largest argument: one on the stack is a piece for each word.
const LARGEST: u64 = 4096;

impl Convention {
    /// All places are free. `ymm`: are vectors of 32 bytes in `ymm` registers (compiled for AVX) or in memory, if that is known?
    pub fn new(ymm: Option<bool>) -> Convention {
        Convention { ymm, ..Convention::default() }
    }

    /// The result's place. Must be asked for first: a hidden pointer takes the first general register.
    pub fn result(&mut self, of: &Type) -> Result<Returned, Refusal> {
        let classes = self.classes(of)?;
        if classes.iter().any(|class| matches!(class, Class::X87 | Class::X87Up | Class::ComplexX87)) {
            return Err(Refusal("a result in the x87 stack".to_string()));
        }
        if classes.contains(&Class::Memory) {
            self.general = 1;
            return Ok(Returned::Hidden);
        }
        let (mut general, mut vector) = ([0u8, 2].into_iter(), 0u8..2);
        let pieces = pieces(of, &classes, &mut || general.next(), &mut || vector.next());
        pieces.map(Returned::Registers).ok_or_else(|| Refusal("a result in too many registers".to_string()))
    }

    /// The places of the next argument; none if it is empty.
    pub fn argument(&mut self, of: &Type) -> Result<Vec<Piece>, Refusal> {
        let classes = self.classes(of)?;
        if classes.is_empty() {
            return Ok(Vec::new());
        }
        let in_registers =
            classes.iter().all(|c| matches!(c, Class::Integer | Class::Sse | Class::SseUp | Class::NoClass));
        if in_registers {
            let (mut general, mut vector) = (self.general, self.vector);
            let pieces = pieces(
                of,
                &classes,
                &mut || {
                    general += 1;
                    ARGUMENTS.get(general - 1).copied()
                },
                &mut || {
                    vector += 1;
                    (vector <= 8).then(|| vector - 1)
                },
            );
            // All of it in registers, or none.
            if let Some(pieces) = pieces {
                (self.general, self.vector) = (general, vector);
                return Ok(pieces);
            }
        }
        self.on_stack(of)
    }

    fn on_stack(&mut self, of: &Type) -> Result<Vec<Piece>, Refusal> {
        if of.size > LARGEST || self.stack > 1 << 20 {
            return Err(Refusal("a structure of more than 4 KiB".to_string()));
        }
        if of.align > 64 || !of.align.is_power_of_two() {
            return Err(Refusal(format!("an argument that is aligned to {} bytes", of.align)));
        }
        let at = self.stack.next_multiple_of(of.align.max(8) as u32);
        let size = of.size as u32;
        self.stack = at + size.next_multiple_of(8);
        // The last six bytes of a `long double` are padding.
        let x87 = !of.aggregate && matches!(of.members[..], [only] if only.scalar == crate::Scalar::X87);
        let defined = if x87 { size.min(10) } else { size };
        let word = |offset: u32| Piece { place: Place::Stack(at + offset), bytes: (defined - offset).min(8) as u16 };
        Ok((0..defined).step_by(8).map(word).collect())
    }

    fn classes(&self, of: &Type) -> Result<Vec<Class>, Refusal> {
        let classes = classify(of)?;
        if classes.first() == Some(&Class::NoClass) {
            return Err(Refusal("a structure that begins with padding".to_string()));
        }
        match (classes.len(), self.ymm) {
            (0..=2, _) => Ok(classes),
            (4, Some(true)) => Ok(classes),
            (4, Some(false)) => Ok(vec![Class::Memory]),
            (words, _) => Err(Refusal(format!("a vector of {} bytes", 8 * words))),
        }
    }
}

/// Pieces of a type in registers; `None` if the registers do not suffice.
fn pieces(
    of: &Type,
    classes: &[Class],
    general: &mut dyn FnMut() -> Option<u8>,
    vector: &mut dyn FnMut() -> Option<u8>,
) -> Option<Vec<Piece>> {
    let mut out: Vec<Piece> = Vec::new();
    for (i, class) in classes.iter().enumerate() {
        let start = 8 * i as u64;
        // Up to the end of the last member in this eightbyte: padding behind it is not defined.
        let inside = of.members.iter().filter(|m| m.offset < start + 8 && m.offset + m.size > start);
        let bytes = inside.map(|m| (m.offset + m.size).min(start + 8) - start).max().unwrap_or(0) as u16;
        let place = match class {
            Class::Integer => Place::General(general()?),
            Class::Sse => Place::Vector(vector()?),
            Class::SseUp => {
                let last = out.last_mut()?;
                match last.place {
                    Place::Vector(register) if last.bytes >= 16 => Place::VectorHigh(register),
                    _ => {
                        last.bytes = 8 + bytes;
                        continue;
                    }
                }
            }
            Class::NoClass => continue,
            Class::X87 | Class::X87Up | Class::ComplexX87 | Class::Memory => return None,
        };
        out.push(Piece { place, bytes });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Member, Scalar};

    fn integer(size: u64) -> Type {
        Type::scalar(size, Scalar::INTEGER)
    }

    fn float(size: u64) -> Type {
        Type::scalar(size, Scalar::Sse)
    }

    fn structure(align: u64, size: u64, members: &[(u64, u64, Scalar)]) -> Type {
        let members =
            members.iter().map(|(offset, size, scalar)| Member { offset: *offset, size: *size, scalar: *scalar });
        Type { size, align, members: members.collect(), aggregate: true }
    }

    fn shown(pieces: &[Piece]) -> String {
        let one = |piece: &Piece| match piece.place {
            Place::General(i) => format!("g{i}:{}", piece.bytes),
            Place::Vector(i) => format!("v{i}:{}", piece.bytes),
            Place::VectorHigh(i) => format!("h{i}:{}", piece.bytes),
            Place::Stack(at) => format!("s{at}:{}", piece.bytes),
        };
        pieces.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn placed(types: &[Type]) -> String {
        let mut convention = Convention { ymm: Some(true), ..Convention::default() };
        let all: Vec<String> = types.iter().map(|t| shown(&convention.argument(t).expect("placed"))).collect();
        all.join(", ")
    }

    #[test]
    fn arguments_take_registers_in_order() {
        assert_eq!(placed(&[integer(8), float(8), integer(4), float(4)]), "g7:8, v0:8, g6:4, v1:4");
        let longs = vec![integer(8); 8];
        assert_eq!(placed(&longs), "g7:8, g6:8, g2:8, g1:8, g8:8, g9:8, s0:8, s8:8");
        assert_eq!(placed(&vec![float(8); 10]), "v0:8, v1:8, v2:8, v3:8, v4:8, v5:8, v6:8, v7:8, s0:8, s8:8");
    }

    #[test]
    fn a_pair_is_whole_in_registers_or_on_the_stack() {
        let mut types = vec![integer(8); 5];
        types.extend([integer(16), integer(8), integer(8), integer(16)]);
        // The next word still takes the last register; 16 bytes lie at multiples of 16.
        assert_eq!(placed(&types), "g7:8, g6:8, g2:8, g1:8, g8:8, s0:8 s8:8, g9:8, s16:8, s32:8 s40:8");
        let complex = structure(8, 16, &[(0, 8, Scalar::INTEGER), (8, 8, Scalar::INTEGER)]);
        let mut types = vec![integer(8); 5];
        types.push(complex);
        assert_eq!(placed(&types), "g7:8, g6:8, g2:8, g1:8, g8:8, s0:8 s8:8");
    }

    #[test]
    fn vectors_have_all_their_bytes() {
        assert_eq!(placed(&[float(8), float(16), float(32)]), "v0:8, v1:16, v2:16 h2:16");
    }

    #[test]
    fn structures_mix_registers() {
        let mixed = structure(8, 16, &[(0, 8, Scalar::Sse), (8, 4, Scalar::INTEGER)]);
        let floats = structure(4, 12, &[(0, 4, Scalar::Sse), (4, 4, Scalar::Sse), (8, 4, Scalar::Sse)]);
        let large = structure(8, 20, &[]);
        assert_eq!(placed(&[mixed, floats, large]), "v0:8 g7:4, v1:8 v2:4, s0:8 s8:8 s16:4");
        let aligned = structure(32, 32, &[(0, 8, Scalar::INTEGER), (8, 8, Scalar::INTEGER)]);
        assert_eq!(placed(&[structure(8, 24, &[]), aligned]), "s0:8 s8:8 s16:8, s32:8 s40:8 s48:8 s56:8");
        assert_eq!(placed(&[Type::scalar(16, Scalar::X87), integer(4)]), "s0:8 s8:2, g7:4");
        assert_eq!(placed(&[structure(1, 0, &[]), integer(4)]), ", g7:4");
    }

    #[test]
    fn results() {
        let result = |of: &Type| match (Convention { ymm: Some(true), ..Convention::default() }).result(of) {
            Ok(Returned::Registers(pieces)) => shown(&pieces),
            Ok(Returned::Hidden) => "hidden".to_string(),
            Err(refusal) => refusal.0,
        };
        assert_eq!(result(&integer(16)), "g0:8 g2:8");
        assert_eq!(result(&structure(8, 16, &[(0, 8, Scalar::Sse), (8, 8, Scalar::INTEGER)])), "v0:8 g0:8");
        assert_eq!(result(&structure(8, 16, &[(0, 8, Scalar::Sse), (8, 8, Scalar::Sse)])), "v0:8 v1:8");
        assert_eq!(result(&float(16)), "v0:16");
        assert_eq!(result(&float(32)), "v0:16 h0:16");
        assert_eq!(result(&structure(8, 24, &[])), "hidden");
        assert_eq!(result(&Type::scalar(16, Scalar::X87)), "a result in the x87 stack");
        assert_eq!(result(&Type::scalar(32, Scalar::ComplexX87)), "a result in the x87 stack");
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        let mut convention = Convention::default();
        assert!(convention.argument(&float(32)).is_err() && convention.argument(&float(64)).is_err());
        assert!(convention.argument(&structure(8, 5000, &[])).is_err());
        assert!(convention.argument(&structure(256, 256, &[])).is_err());
        let mut plain = Convention { ymm: Some(false), ..Convention::default() };
        assert_eq!(plain.argument(&float(32)).map(|p| p.len()), Ok(4));
    }
}
