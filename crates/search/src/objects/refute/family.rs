//! Families of library functions: which calls a compiler replaces, what they read and write.

use interpreter::{Form, FormArgument, Trace};
use library::{Class, Contract, Effect};
use program::{Place, Register, Value};

/// Output of text, in every form.
const OUTPUT: &[&str] = &[
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "putchar",
    "fputs",
    "fputc",
    "putc",
    "_IO_putc",
    "fwrite",
    "putc_unlocked",
    "putchar_unlocked",
    "fputs_unlocked",
    "fputc_unlocked",
    "fwrite_unlocked",
    "__overflow",
    "__printf_chk",
    "__fprintf_chk",
    "__vprintf_chk",
    "__vfprintf_chk",
    "getchar",
    "getc",
    "fgetc",
    "_IO_getc",
    "getc_unlocked",
    "getchar_unlocked",
    "fgetc_unlocked",
    "__uflow",
];

/// Numbers from text.
const CONVERSION: &[&str] = &[
    "atoi",
    "atol",
    "atoll",
    "atof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtoimax",
    "strtoumax",
    "strtod",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
];

const HEAP: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "memalign",
    "strdup",
    "strndup",
    "reallocarray",
    "posix_memalign",
];

/// Copying and formatting into memory.
fn is_memory_writer(name: &str) -> bool {
    let name = name.trim_start_matches("__").trim_end_matches("_chk");
    let starts = ["mem", "str", "stp", "wmem", "wcs", "bcopy", "bzero", "explicit_bzero", "swab"];
    let prints = ["sprintf", "snprintf", "vsprintf", "vsnprintf", "swprintf"];
    let keeps = ["strtok", "strtok_r", "strsep", "strerror", "strsignal", "strftime", "strptime", "strcoll", "strxfrm"];
    (starts.iter().any(|s| name.starts_with(s)) && !keeps.contains(&name)) || prints.contains(&name)
}

/// May a compiler put other calls or code in the place of a call of this function, or leave it out?
pub(super) fn is_replaceable(contract: &Contract, trace: &Trace) -> bool {
    let name = contract.name;
    // What was allocated here may be known not to be needed.
    let allocates = || trace.calls.iter().any(|c| c.callee.library.is_some_and(|l| l.effect == Effect::Allocate));
    match contract.effect {
        Effect::Event if HEAP.contains(&name) => name != "free" || allocates(),
        Effect::Event => {
            OUTPUT.contains(&name) || CONVERSION.contains(&name) || is_memory_writer(name) || computes(contract)
        }
        _ => true,
    }
}

/// Functions of numbers, which at most set `errno`.
pub(super) fn computes(contract: &Contract) -> bool {
    contract.result != Class::Void
        && (matches!(contract.result, Class::Float(_))
            || contract.arguments.iter().any(|c| matches!(c, Class::Float(_))))
}

/// Does the function look at nothing in memory that the program wrote?
pub(super) fn reads_nothing(contract: &Contract) -> bool {
    HEAP.contains(&contract.name) || computes(contract)
}

/// The text and stream that a call in general form writes to, if they are known.
pub(super) fn output(form: &Form) -> Option<(Vec<u8>, u64)> {
    let (what, stream) = (form.arguments.first()?, form.arguments.last()?);
    let FormArgument::Word(stream) = stream else { return None };
    match (form.callee, what) {
        ("fwrite" | "fputs", FormArgument::Text(text)) => Some((text.clone(), *stream)),
        ("fputc", FormArgument::Word(byte)) => Some((vec![*byte as u8], *stream)),
        _ => None,
    }
}

/// The arguments that a format asks for, behind `general` and `vector` fixed ones.
pub(super) fn format_arguments(format: &[u8], general: usize, vector: usize) -> Vec<Value> {
    let mut out = Vec::new();
    let (mut general, mut vector) = (general, vector as u8);
    let mut rest = format.iter().copied().peekable();
    let mut word = |bytes: u16, out: &mut Vec<Value>| {
        let place = Register::ARGUMENTS.get(general).copied().map(Place::Register);
        general += 1;
        out.extend(place.map(|place| Value { place, bytes, boolean: false, narrow: None }));
    };
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let mut long = false;
        loop {
            match rest.next() {
                Some(b'*') => word(4, &mut out),
                Some(b'l' | b'z' | b'j' | b't') => long = true,
                Some(b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'.' | b'h' | b'\'') => {}
                Some(b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c') => {
                    word(if long { 8 } else { 4 }, &mut out);
                    break;
                }
                Some(b's' | b'p') => {
                    word(8, &mut out);
                    break;
                }
                Some(b'f' | b'g' | b'e' | b'F' | b'G' | b'E' | b'a') => {
                    let place = Place::Register(Register::Vector(vector));
                    vector += 1;
                    if vector <= 8 {
                        out.push(Value { place, bytes: 8, boolean: false, narrow: None });
                    }
                    break;
                }
                Some(b'%') => break,
                // Another directive, or the end: the rest is not known.
                _ => return out,
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(format: &str) -> String {
        let one = |v: &Value| match v.place {
            Place::Register(register) => format!("{}:{}", register.name(), v.bytes),
            Place::Stack(offset) => format!("stack+{offset}:{}", v.bytes),
        };
        format_arguments(format.as_bytes(), 1, 0).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn formats_name_their_arguments() {
        assert_eq!(places("%d %ld\n"), "rsi:4 rdx:8");
        assert_eq!(places("%s: %5.2f%%, %c"), "rsi:8 xmm0:8 rdx:4");
        assert_eq!(places("%*d %Lf %d"), "rsi:4 rdx:4");
        assert_eq!(places("plain"), "");
    }

    #[test]
    fn calls_that_nobody_replaces() {
        let trace_free = |name: &str| {
            let contract = library::contract(name).expect(name);
            matches!(contract.effect, Effect::Event)
                && !(OUTPUT.contains(&name)
                    || CONVERSION.contains(&name)
                    || is_memory_writer(name)
                    || computes(contract))
        };
        for name in ["abort", "exit", "fopen", "read", "qsort", "strtok"] {
            assert!(trace_free(name), "{name}");
        }
        for name in ["printf", "puts", "strcpy", "sqrt", "atoi", "snprintf"] {
            assert!(!trace_free(name), "{name}");
        }
    }
}
