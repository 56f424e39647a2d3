//! Classes of eightbytes (psABI 3.2.3, "Classification").

use crate::{Refusal, Scalar, Type};

/// The class of eight bytes of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Padding and empty structures.
    NoClass,
    /// In a general register.
    Integer,
    /// In a vector register.
    Sse,
    /// In the next eight bytes of the last vector register.
    SseUp,
    /// The mantissa of a `long double`, returned in the x87 stack.
    X87,
    /// Its exponent and padding.
    X87Up,
    /// `_Complex long double`, returned in two x87 registers.
    ComplexX87,
    /// On the stack; results behind a hidden pointer.
    Memory,
}

/// Larger types are in memory.
const LARGEST: u64 = 64;

/// The classes of the eightbytes of a type: none for an empty one, `[Memory]` for one that is passed in memory.
pub fn classify(of: &Type) -> Result<Vec<Class>, Refusal> {
    if of.size == 0 {
        return Ok(Vec::new());
    }
    if of.size > LARGEST {
        return Ok(vec![Class::Memory]);
    }
    if let [only] = of.members[..]
        && only.scalar == Scalar::ComplexX87
    {
        return Ok(vec![Class::ComplexX87]);
    }
    let mut classes = vec![Class::NoClass; of.size.div_ceil(8) as usize];
    for member in of.members.iter().filter(|m| m.size > 0) {
        let end = member.offset.checked_add(member.size).filter(|end| *end <= of.size);
        let Some(end) = end else { return Err(Refusal("a type with a member outside of it".to_string())) };
        // A misaligned member puts the whole in memory.
        let natural = match member.scalar {
            Scalar::ComplexX87 => 16,
            _ if member.size.is_power_of_two() => member.size,
            _ => 1,
        };
        if !member.offset.is_multiple_of(natural) {
            return Ok(vec![Class::Memory]);
        }
        let first = member.offset / 8;
        for at in first..end.div_ceil(8) {
            let class = match member.scalar {
                Scalar::Integer { .. } => Class::Integer,
                Scalar::Sse if at == first => Class::Sse,
                Scalar::Sse => Class::SseUp,
                Scalar::X87 if at == first => Class::X87,
                Scalar::X87 => Class::X87Up,
                Scalar::ComplexX87 => Class::Memory,
            };
            let Some(slot) = classes.get_mut(at as usize) else { return Ok(vec![Class::Memory]) };
            *slot = merge(*slot, class);
        }
    }
    Ok(cleaned(classes))
}

/// The class of eight bytes that two members share.
fn merge(a: Class, b: Class) -> Class {
    use Class::{ComplexX87, Integer, Memory, NoClass, Sse, SseUp, X87, X87Up};
    match (a, b) {
        _ if a == b => a,
        (NoClass, other) | (other, NoClass) => other,
        (Memory, _) | (_, Memory) => Memory,
        (Integer, _) | (_, Integer) => Integer,
        (X87 | X87Up | ComplexX87, _) | (_, X87 | X87Up | ComplexX87) => Memory,
        (Sse | SseUp, _) => Sse,
    }
}

/// What remains to be looked at when all members are merged.
fn cleaned(mut classes: Vec<Class>) -> Vec<Class> {
    let in_memory = classes.contains(&Class::Memory)
        || classes.iter().enumerate().any(|(i, class)| {
            *class == Class::X87Up && !i.checked_sub(1).is_some_and(|before| classes[before] == Class::X87)
        })
        || classes.len() > 2 && (classes[0] != Class::Sse || classes[1..].iter().any(|class| *class != Class::SseUp));
    if in_memory {
        return vec![Class::Memory];
    }
    for i in 0..classes.len() {
        let above_vector = i > 0 && matches!(classes[i - 1], Class::Sse | Class::SseUp);
        if classes[i] == Class::SseUp && !above_vector {
            classes[i] = Class::Sse;
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Member;

    fn classes(size: u64, members: &[(u64, u64, Scalar)]) -> Vec<Class> {
        let members =
            members.iter().map(|(offset, size, scalar)| Member { offset: *offset, size: *size, scalar: *scalar });
        classify(&Type { size, align: 8, members: members.collect(), aggregate: true }).expect("a type inside its size")
    }

    #[test]
    fn every_class_by_eightbyte() {
        use Class::{ComplexX87, Integer, Memory, NoClass, Sse, SseUp, X87, X87Up};
        const I: Scalar = Scalar::INTEGER;
        const F: Scalar = Scalar::Sse;
        const X: Scalar = Scalar::X87;
        type Case = (&'static str, u64, &'static [(u64, u64, Scalar)], &'static [Class]);
        let cases: &[Case] = &[
            ("empty", 0, &[], &[]),
            ("int", 4, &[(0, 4, I)], &[Integer]),
            ("__int128", 16, &[(0, 16, I)], &[Integer, Integer]),
            ("float, float", 8, &[(0, 4, F), (4, 4, F)], &[Sse]),
            ("float, int", 8, &[(0, 4, F), (4, 4, I)], &[Integer]),
            ("double, int", 16, &[(0, 8, F), (8, 4, I)], &[Sse, Integer]),
            ("__m128", 16, &[(0, 16, F)], &[Sse, SseUp]),
            ("__m256", 32, &[(0, 32, F)], &[Sse, SseUp, SseUp, SseUp]),
            ("two doubles", 16, &[(0, 8, F), (8, 8, F)], &[Sse, Sse]),
            ("three doubles", 24, &[(0, 8, F), (8, 8, F), (16, 8, F)], &[Memory]),
            ("two __m128", 32, &[(0, 16, F), (16, 16, F)], &[Memory]),
            ("long double", 16, &[(0, 16, X)], &[X87, X87Up]),
            ("union of long double and long", 16, &[(0, 16, X), (0, 8, I)], &[Memory]),
            ("_Complex long double", 32, &[(0, 32, Scalar::ComplexX87)], &[ComplexX87]),
            ("union of __m128 and int", 16, &[(0, 16, F), (0, 4, I)], &[Integer, Sse]),
            ("union of __m128 and two doubles", 16, &[(0, 16, F), (0, 8, F), (8, 8, F)], &[Sse, Sse]),
            ("packed char, int", 5, &[(0, 1, I), (1, 4, I)], &[Memory]),
            ("aligned(16) long", 16, &[(0, 8, I)], &[Integer, NoClass]),
            ("three longs", 24, &[(0, 8, I), (8, 8, I), (16, 8, I)], &[Memory]),
            ("large", 65, &[], &[Memory]),
        ];
        for (name, size, members, expected) in cases {
            assert_eq!(&classes(*size, members)[..], *expected, "{name}");
        }
    }

    #[test]
    fn members_stay_inside() {
        let outside = |offset, size| {
            let members = vec![Member { offset, size, scalar: Scalar::INTEGER }];
            classify(&Type { size: 8, align: 8, members, aggregate: true })
        };
        assert!(outside(8, 1).is_err() && outside(u64::MAX, 8).is_err() && outside(0, 8).is_ok());
    }
}
