//! What a variadic function of the library reads: exactly the arguments that a known format, or known flags, ask for.
//!
//! C11 7.21.6.1: arguments that are left over when the format is exhausted are ignored. So a register that a format
//! does not ask for is no argument, whatever lies in it.
//!
//! Trust: full. A directive that is not understood leaves the question open.

use super::{Class, Contract, Known, Places};
use program::{Place, Register, Value};
use std::collections::BTreeSet;

/// Bits of the flags of `open` that make it look at its mode: `O_CREAT`, `O_TMPFILE`.
const OPEN_MODE: u64 = 0o100 | 0o20_000_000;

/// All arguments of a call of a variadic function, if what is known about the named ones tells.
pub fn variadic_arguments(contract: &Contract, known: &dyn Fn(usize) -> Option<Known>) -> Option<Vec<Value>> {
    let further = match contract.name {
        "open" | "open64" | "openat" | "openat64" => {
            let Known::Number(flags) = known(contract.arguments.len() - 1)? else { return None };
            if flags & OPEN_MODE == 0 { Vec::new() } else { vec![Class::Int(4)] }
        }
        name => {
            let direction = direction(name)?;
            let Known::Text(format) = known(contract.arguments.len().checked_sub(1)?)? else { return None };
            match direction {
                Direction::Prints => printed(&format)?,
                Direction::Scans => scanned(&format)?,
            }
        }
    };
    let mut places = Places::default();
    Some(contract.arguments.iter().chain(&further).filter_map(|class| places.argument(*class)).collect())
}

/// Does the function print what its format asks for?
pub fn prints(contract: &Contract) -> bool {
    direction(contract.name) == Some(Direction::Prints)
}

/// Argument registers of a call of a function that prints whose values nobody can read in what it prints: the named
/// ones, and the strings of a known format.
pub fn unprinted(contract: &Contract, known: &dyn Fn(usize) -> Option<Known>) -> BTreeSet<Register> {
    let format = match contract.arguments.len().checked_sub(1).and_then(known) {
        Some(Known::Text(format)) => format,
        _ => Vec::new(),
    };
    let mut places = Places::default();
    let named = contract.arguments.iter().map(|class| (*class, false));
    let further = asked(&format).unwrap_or_default();
    let kept = named.chain(further).filter_map(|(class, printed)| Some((places.argument(class)?, printed)));
    kept.filter(|(_, printed)| !printed)
        .filter_map(|(value, _)| match value.place {
            Place::Register(register) => Some(register),
            Place::Stack(_) => None,
        })
        .collect()
}

/// What a function does with a format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Prints,
    Scans,
}

/// What the function does with its last named argument, if that is a format.
fn direction(name: &str) -> Option<Direction> {
    let plain = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
    match plain {
        "printf" | "fprintf" | "sprintf" | "snprintf" | "dprintf" | "asprintf" | "__printf_chk" | "__fprintf_chk"
        | "__sprintf_chk" | "__snprintf_chk" | "__asprintf_chk" | "__dprintf_chk" | "err" | "errx" | "warn"
        | "warnx" | "error" | "syslog" => Some(Direction::Prints),
        "scanf" | "fscanf" | "sscanf" => Some(Direction::Scans),
        _ => None,
    }
}

/// The arguments that a format of the printf family asks for.
fn printed(format: &[u8]) -> Option<Vec<Class>> {
    Some(asked(format)?.into_iter().map(|(class, _)| class).collect())
}

/// The same, with whether the value itself is printed.
fn asked(format: &[u8]) -> Option<Vec<(Class, bool)>> {
    let mut out = Vec::new();
    let mut rest = format.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let mut long = false;
        loop {
            match rest.next()? {
                b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'.' | b'\'' | b'h' => {}
                b'*' => out.push((Class::Int(4), true)),
                b'l' | b'z' | b'j' | b't' | b'q' => long = true,
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
                    out.push((Class::Int(if long { 8 } else { 4 }), true));
                    break;
                }
                b'c' => {
                    out.push((Class::Int(4), true));
                    break;
                }
                conversion @ (b's' | b'p' | b'n') => {
                    out.push((Class::Pointer, conversion == b'p'));
                    break;
                }
                b'f' | b'F' | b'g' | b'G' | b'e' | b'E' | b'a' | b'A' => {
                    out.push((Class::Float(8), true));
                    break;
                }
                b'%' | b'm' => break,
                _ => return None,
            }
        }
    }
    Some(out)
}

/// The arguments that a format of the scanf family asks for: addresses.
fn scanned(format: &[u8]) -> Option<Vec<Class>> {
    let mut out = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let mut stored = true;
        loop {
            match rest.next()? {
                b'0'..=b'9' | b'h' | b'l' | b'L' | b'z' | b'j' | b't' | b'q' | b'm' => {}
                b'*' => stored = false,
                b'[' => {
                    // A closing bracket in the first place is a member of the set.
                    rest.next_if_eq(&b'^');
                    rest.next_if_eq(&b']');
                    while rest.next()? != b']' {}
                    break;
                }
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p' | b'n' | b'f' | b'F' | b'g' | b'G'
                | b'e' | b'E' | b'a' | b'A' => break,
                b'%' => {
                    stored = false;
                    break;
                }
                _ => return None,
            }
        }
        if stored {
            out.push(Class::Pointer);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;
    use program::Place;

    fn places(name: &str, last: Known) -> Option<String> {
        let row = contract(name).expect(name);
        let position = row.arguments.len() - 1;
        let values = variadic_arguments(row, &|i| (i == position).then(|| last.clone()))?;
        let one = |v: &Value| match v.place {
            Place::Register(register) => format!("{}:{}", register.name(), v.bytes),
            Place::Stack(offset) => format!("stack+{offset}:{}", v.bytes),
        };
        Some(values.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    fn format(name: &str, text: &str) -> Option<String> {
        places(name, Known::Text(text.as_bytes().to_vec()))
    }

    #[test]
    fn formats_ask_for_their_arguments() {
        assert_eq!(format("printf", "plain %%").as_deref(), Some("rdi:8"));
        assert_eq!(format("fprintf", "%d %-5ld %s\n").as_deref(), Some("rdi:8 rsi:8 rdx:4 rcx:8 r8:8"));
        assert_eq!(format("snprintf", "%.*s%g%m").as_deref(), Some("rdi:8 rsi:8 rdx:8 rcx:4 r8:8 xmm0:8"));
        assert_eq!(
            format("printf", "%d%d%d%d%d%d%c").as_deref(),
            Some("rdi:8 rsi:4 rdx:4 rcx:4 r8:4 r9:4 stack+0:4 stack+8:4")
        );
        assert_eq!(format("sscanf", "%*d %[]x] %lf%n%%").as_deref(), Some("rdi:8 rsi:8 rdx:8 rcx:8 r8:8"));
    }

    #[test]
    fn what_is_not_understood_stays_open() {
        for text in ["%Lf", "%1$d", "%", "%5", "%k"] {
            assert_eq!(format("printf", text), None, "{text}");
        }
        assert_eq!(format("sscanf", "%[a"), None);
        assert_eq!(format("wprintf", "%d"), None);
        assert_eq!(format("execl", "%d"), None);
    }

    #[test]
    fn a_mode_is_for_new_files() {
        assert_eq!(places("open", Known::Number(0)).as_deref(), Some("rdi:8 rsi:4"));
        assert_eq!(places("openat", Known::Number(0o1101)).as_deref(), Some("rdi:4 rsi:8 rdx:4 rcx:4"));
    }
}
