//! Functions that one string instruction can do: fills, copies, the length of a string, comparisons. For the goal size, since they are
//! slow to start (the end of section 6 of "Black-box equivalence checking", APLAS'17, finds the same by enumeration).
//!
//! Arguments are put into the instruction's registers in every order; which of the results is right is for others to say.

use program::Register;
use x86::{Instruction, Registers, decode};

const RAX: u8 = 0;
const RCX: u8 = 1;
const RSI: u8 = 6;
const RDI: u8 = 7;

/// How a number of elements is passed.
#[derive(Clone, Copy)]
enum Count {
    Whole,
    Unsigned,
    Signed,
}

/// Most arguments of a function for which there are templates.
const MOST_ARGUMENTS: usize = 3;

/// Does the function give something back?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// A number or an address.
    Something,
    /// Nothing.
    Nothing,
}

/// Whole functions, without their `ret`, of a function with these general arguments.
pub fn string_functions(live_in: Registers, returns: Returns) -> Vec<Vec<Instruction>> {
    let arguments: Vec<u8> = Register::ARGUMENTS
        .into_iter()
        .filter(|register| live_in.contains(*register))
        .filter_map(|register| match register {
            Register::General(n) => Some(n),
            _ => None,
        })
        .collect();
    if arguments.len() > MOST_ARGUMENTS {
        return Vec::new();
    }
    let mut out = Vec::new();
    for to in &arguments {
        if returns == Returns::Something {
            out.push(length(*to));
        }
        for count in arguments.iter().filter(|count| *count != to) {
            for other in arguments.iter().filter(|other| *other != to && *other != count) {
                copies(&mut out, [*to, *other, *count], returns);
                fills(&mut out, (*to, Some(*other), *count), returns);
            }
            if arguments.len() == 2 {
                fills(&mut out, (*to, None, *count), returns);
            }
        }
    }
    out.into_iter().filter_map(|bytes| instructions(&bytes)).collect()
}

fn fills(out: &mut Vec<Vec<u8>>, (to, value, count): (u8, Option<u8>, u8), returns: Returns) {
    for passed in [Count::Whole, Count::Unsigned, Count::Signed] {
        for element in STORES {
            let mut moves = vec![(RDI, to, Count::Whole), (RCX, count, passed)];
            if let Some(value) = value {
                moves.push((RAX, value, Count::Whole));
            }
            let Some(mut code) = arranged(&moves) else { continue };
            if value.is_none() {
                code.extend([0x31, 0xc0]); // xor eax, eax
            }
            match returns {
                Returns::Nothing => code.extend(element),
                Returns::Something => {
                    code.extend([0x49, 0x89, 0xf8]); // mov r8, rdi
                    code.extend(element);
                    code.extend([0x4c, 0x89, 0xc0]); // mov rax, r8
                }
            }
            out.push(code);
        }
    }
}

fn copies(out: &mut Vec<Vec<u8>>, [to, from, count]: [u8; 3], returns: Returns) {
    for passed in [Count::Whole, Count::Unsigned, Count::Signed] {
        let Some(start) = arranged(&[(RDI, to, Count::Whole), (RSI, from, Count::Whole), (RCX, count, passed)]) else {
            continue;
        };
        if returns == Returns::Nothing {
            out.extend(MOVES.iter().map(|element| [&start[..], element].concat()));
            continue;
        }
        // mov rax, rdi
        out.extend(MOVES.iter().map(|element| [&start[..], &[0x48, 0x89, 0xf8], element].concat()));
        // xor eax, eax (for a count of 0: ZF); repe cmpsb; setne or sete al
        for set in [0x95, 0x94] {
            out.push([&start[..], &[0x31, 0xc0, 0xf3, 0xa6, 0x0f, set, 0xc0]].concat());
        }
    }
}

/// xor eax, eax; or rcx, -1; repne scasb; mov eax, ecx as -2 - length.
fn length(text: u8) -> Vec<u8> {
    let mut code = arranged(&[(RDI, text, Count::Whole)]).unwrap_or_default();
    code.extend([0x31, 0xc0, 0x48, 0x83, 0xc9, 0xff, 0xf2, 0xae]);
    code.extend([0x48, 0xf7, 0xd1, 0x48, 0x8d, 0x41, 0xff]); // not rcx; lea rax, [rcx - 1]
    code
}

/// rep stosb, stosw, stosd, stosq.
const STORES: [&[u8]; 4] = [&[0xf3, 0xaa], &[0x66, 0xf3, 0xab], &[0xf3, 0xab], &[0xf3, 0x48, 0xab]];
/// rep movsb, movsw, movsd, movsq.
const MOVES: [&[u8]; 4] = [&[0xf3, 0xa4], &[0x66, 0xf3, 0xa5], &[0xf3, 0xa5], &[0xf3, 0x48, 0xa5]];

/// Moves arguments to where they are wanted, in an order in which nothing is lost; `None` if they go in a circle.
fn arranged(moves: &[(u8, u8, Count)]) -> Option<Vec<u8>> {
    let mut left: Vec<(u8, u8, Count)> = moves.to_vec();
    left.retain(|(to, from, count)| to != from || !matches!(count, Count::Whole));
    let mut code = Vec::new();
    while !left.is_empty() {
        let free =
            (0..left.len()).find(|i| left.iter().enumerate().all(|(j, (_, from, _))| j == *i || *from != left[*i].0));
        let (to, from, count) = left.remove(free?);
        let (high_from, high_to) = (from >> 3, to >> 3);
        let registers = 0xc0 | (from & 7) << 3 | (to & 7);
        match count {
            Count::Whole => code.extend([0x48 | high_from << 2 | high_to, 0x89, registers]),
            Count::Unsigned if high_from | high_to == 0 => code.extend([0x89, registers]),
            Count::Unsigned => code.extend([0x40 | high_from << 2 | high_to, 0x89, registers]),
            // movsxd has its operands the other way round.
            Count::Signed => code.extend([0x48 | high_to << 2 | high_from, 0x63, 0xc0 | (to & 7) << 3 | (from & 7)]),
        }
    }
    Some(code)
}

fn instructions(bytes: &[u8]) -> Option<Vec<Instruction>> {
    let (mut at, mut out) = (0, Vec::new());
    while at < bytes.len() {
        let decoded = decode(&bytes[at..], at as u64).ok()?;
        at += decoded.length;
        out.push(decoded.instruction);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(arguments: usize, returns: Returns) -> Vec<String> {
        let arguments: Registers = Register::ARGUMENTS.into_iter().take(arguments).collect();
        let functions = string_functions(arguments, returns);
        let written = |instruction: &Instruction| {
            x86::encode(instruction, 0).is_ok() && x86::text(instruction, x86::Syntax::Att, &x86::Nameless).is_ok()
        };
        assert!(functions.iter().flatten().all(written));
        let text = |code: &Vec<Instruction>| code.iter().map(Instruction::to_string).collect::<Vec<_>>().join("; ");
        functions.iter().map(text).collect()
    }

    #[test]
    fn fills_and_copies_of_every_order_are_there() {
        let has = |arguments: usize, returns: Returns, wanted: &str| {
            let texts = texts(arguments, returns);
            assert!(texts.iter().any(|text| text == wanted), "no `{wanted}` among {}", texts.len());
        };
        has(3, Returns::Nothing, "mov rcx, rdx; mov rax, rsi; rep stosb");
        has(3, Returns::Nothing, "mov rcx, rdx; rep movsb");
        has(2, Returns::Nothing, "mov rcx, rsi; xor eax, eax; rep stosq");
        has(
            1,
            Returns::Something,
            "xor eax, eax; or rcx, 0xffffffffffffffff; repne scasb; not rcx; lea rax, [rcx-0x1]",
        );
        assert!(texts(4, Returns::Nothing).is_empty());
        assert!(texts(3, Returns::Nothing).len() < 200);
    }
}
