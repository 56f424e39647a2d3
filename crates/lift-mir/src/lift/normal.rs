//! Opcodes that compute the same function of their operands in another order.
//!
//! Each is an identity of LLVM's own commutations and folds, written out with what happens to immediates.

use super::*;

/// How an opcode's operands are brought into one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Normal {
    /// A fused multiplication and addition: where both factors and then the summand stand.
    Fused([usize; 3]),
    /// INSERTPS: the source is one of four elements, by the two highest bits of the immediate, or 32 bits of memory.
    InsertElement,
}

/// The common name of an opcode and its order.
pub fn normal(opcode: &str) -> Option<(String, Normal)> {
    if matches!(opcode, "INSERTPSrr" | "VINSERTPSrr" | "VINSERTPSZrr" | "INSERTPSrm" | "VINSERTPSrm" | "VINSERTPSZrm") {
        return Some(("INSERTPS element".to_string(), Normal::InsertElement));
    }
    let stem = ["VFMADDSUB", "VFMSUBADD", "VFNMADD", "VFNMSUB", "VFMADD", "VFMSUB"];
    let (stem, rest) = stem.iter().find_map(|stem| Some((stem, opcode.strip_prefix(stem)?)))?;
    let (digits, rest) = rest.split_at_checked(3)?;
    // Masked and scalar intrinsic forms keep parts of their first operand; those on registers only: `PSr`, `SDZr`, `PDZ256r`.
    let plain = rest.strip_suffix('r')?;
    if !plain.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
        return None;
    }
    // Intel SDM vol. 2C: the digits say which operands are multiplied and which is added.
    let order = match digits {
        "132" => [0, 2, 1],
        "213" => [1, 0, 2],
        "231" => [1, 2, 0],
        _ => return None,
    };
    Some((format!("{stem}{plain}"), Normal::Fused(order)))
}

impl Lifter<'_> {
    /// Brings the arguments into the common order. `false` if they are not of the usual form.
    pub(super) fn normalise(&mut self, normal: Normal, args: &mut [Arg]) -> bool {
        match (normal, args) {
            (Normal::Fused([x, y, z]), [a, b, c, ..]) => {
                let given = [*a, *b, *c];
                (*a, *b, *c) = (given[x], given[y], given[z]);
                true
            }
            (Normal::InsertElement, [_, source, Arg::Constant(immediate, _), ..]) => {
                // Intel SDM vol. 2A, INSERTPS: COUNT_S is bits 7 and 6, and is ignored with memory.
                let element = (*immediate >> 6 & 3) as u16;
                *immediate &= 0x3f;
                match source {
                    Arg::Lane(lane) if lane.bits == 128 => {
                        *source = Arg::Lane(Lane::new(lane.location, lane.low + 32 * element, 32));
                    }
                    Arg::Undefined(128) => *source = Arg::Undefined(32),
                    other if arg_bits(*other) == 32 => {}
                    _ => return false,
                }
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fused_operations_have_one_order() {
        let of = |opcode: &str| normal(opcode);
        assert_eq!(of("VFMADD132PSYr"), Some(("VFMADDPSY".to_string(), Normal::Fused([0, 2, 1]))));
        assert_eq!(of("VFMADD213SDr"), Some(("VFMADDSD".to_string(), Normal::Fused([1, 0, 2]))));
        assert_eq!(of("VFNMSUB231PDZ256r"), Some(("VFNMSUBPDZ256".to_string(), Normal::Fused([1, 2, 0]))));
        assert_eq!(of("VFMADD132PSZ128rk"), None);
        assert_eq!(of("VFMADD132SDr_Int"), None);
        assert_eq!(of("VFMADD4PSrr"), None);
    }
}
