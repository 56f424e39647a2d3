//! The library table: what is known about functions of the C library that a program calls but does not define.
//!
//! An unknown callee is an *event*: it may read and write everything, its result is new. For the functions of
//! this table we know more: where arguments and result live, whether they return, and whether a call is an event
//! at all. Optimisers know these functions too: they merge two `strlen`s, expand a `memcpy` into moves, turn
//! `printf` into `puts` ([`rename`]).
//!
//! Rules of the table:
//! - A contract holds only where [`applicable`] says so: a program may have its own `index` or `error`.
//! - A row is a statement about every C library that follows C11 and POSIX, glibc and musl in particular. A
//!   function that may set `errno`, in glibc or in the eyes of a compiler, writes memory and is an event.
//! - [`Effect::Pure`] says that the *original's* call is a term. The candidate's call of the same function is free
//!   of faults only where the original makes it too, or where each byte it may read is readable for another reason.
//! - `nonnull` lists arguments that the original never passes as null: undefined behaviour otherwise, even for a
//!   length of zero.
//!
//! Trust: full. A wrong row makes wrong proofs, so every row's shape is compared with the system headers in the
//! tests of `testkit`, and rows that are in doubt are events.

use program::{Place, Register, Signature, Value};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

mod applies;
mod checked;
mod evaluate;
mod format;
mod memory;
mod numbers;
mod rename;
mod stdio;
mod stdlib;
mod strings;
mod system;
mod threads;
mod variadic;

pub use applies::{applicable, is_reserved, row};
pub use evaluate::eval_pure;
pub use rename::{Action, Argument, Known, Meaning, Renaming, ResultUse, rename};
pub use variadic::{prints, unprinted, variadic_arguments};

/// What the table knows about one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contract {
    /// Linker name.
    pub name: &'static str,
    /// Named parameters in order.
    pub arguments: &'static [Class],
    /// Result; [`Class::Void`] for none.
    pub result: Class,
    /// Takes further arguments after the named ones.
    pub variadic: bool,
    /// Never returns.
    pub noreturn: bool,
    /// What a call does.
    pub effect: Effect,
    /// Positions of the arguments that must not be null.
    pub nonnull: &'static [usize],
    /// Why a function that calls this one cannot be treated at all, in words.
    pub unsupported: Option<&'static str>,
}

/// Kind of a value at a call, enough to place it (System V).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// No value, as a result only.
    Void,
    /// An integer of this many bytes, 4 or 8.
    Int(u16),
    /// An address.
    Pointer,
    /// A float of this many bytes, 4 or 8.
    Float(u16),
    /// Two 8-byte words in `rax` and `rdx`, as a result only.
    IntPair,
}

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// An ordinary call with unknown effect.
    Event,
    /// No event: a function of the arguments and, if it reads memory, of the whole world (the floating-point
    /// environment and the locale included).
    Pure {
        /// Does it depend on anything besides the arguments?
        reads_memory: bool,
        /// Is only the sign of the result defined (`memcmp`, `isalpha`), not its size?
        sign_only: bool,
    },
    /// `memcpy`, `memmove`: copies (destination, source, length) and returns the destination.
    CopyMemory,
    /// `memset`: fills (destination, byte, length) and returns the destination.
    FillMemory,
    /// An event whose result, unless null, is the address of an object that nothing else points to.
    Allocate,
    /// A pure function without memory whose result is an address that belongs to the thread.
    ReadsThreadLocalAddress,
}

/// What is known about a function of the library.
pub fn contract(name: &str) -> Option<&'static Contract> {
    static BY_NAME: LazyLock<FxHashMap<&'static str, &'static Contract>> =
        LazyLock::new(|| contracts().map(|row| (row.name, row)).collect());
    BY_NAME.get(name).copied()
}

/// Does the function only manage the heap? Then it changes nothing that its caller can see but what it is given to free,
/// and `errno`.
pub fn manages_heap(name: &str) -> bool {
    const HEAP: [&str; 9] =
        ["malloc", "calloc", "realloc", "reallocarray", "free", "aligned_alloc", "memalign", "valloc", "strdup"];
    HEAP.contains(&name)
}

/// May a call of this function, with the right arguments, become moves or a call that is no event?
pub fn may_vanish(name: &str) -> bool {
    let plain = name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")).unwrap_or(name);
    ["str", "stp", "mem", "sprintf", "snprintf", "bzero", "bcopy"].iter().any(|family| plain.starts_with(family))
}

/// All rows of the table.
pub fn contracts() -> impl Iterator<Item = &'static Contract> {
    [
        memory::TABLE,
        strings::TABLE,
        numbers::TABLE,
        stdio::TABLE,
        stdlib::TABLE,
        system::TABLE,
        threads::TABLE,
        checked::TABLE,
    ]
    .into_iter()
    .flatten()
}

impl Contract {
    /// Does it, when it is done, keep none of the pointers that it was given where anybody could find them, its result
    /// excepted? A function that calls back, or stores one pointer through another (`strtol`), is none.
    pub fn forgets(&self) -> bool {
        const FORGETFUL: &[&str] = &[
            "printf",
            "fprintf",
            "sprintf",
            "snprintf",
            "vprintf",
            "vfprintf",
            "vsprintf",
            "vsnprintf",
            "puts",
            "fputs",
            "fwrite",
            "fread",
            "fgets",
            "sscanf",
            "fscanf",
            "perror",
            "fopen",
            "remove",
            "rename",
            "read",
            "write",
            "pread",
            "pwrite",
            "open",
            "openat",
            "creat",
            "access",
            "stat",
            "lstat",
            "fstat",
            "fstatat",
            "unlink",
            "unlinkat",
            "mkdir",
            "mkdirat",
            "rmdir",
            "chmod",
            "chown",
            "lchown",
            "readlink",
            "readlinkat",
            "symlink",
            "link",
            "chdir",
            "pipe",
            "getenv",
            "atoi",
            "atol",
            "atof",
            "strcpy",
            "strncpy",
            "strcat",
            "strncat",
            "stpcpy",
            "time",
            "gettimeofday",
            "mktime",
            "strftime",
            "system",
        ];
        matches!(self.effect, Effect::Pure { .. } | Effect::CopyMemory | Effect::FillMemory)
            || FORGETFUL.contains(&self.name)
    }

    /// Does it return its first argument?
    pub fn returns_first_argument(&self) -> bool {
        let plain = self.name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")).unwrap_or(self.name);
        matches!(
            plain,
            "strcpy"
                | "strncpy"
                | "strcat"
                | "strncat"
                | "wcscpy"
                | "wcsncpy"
                | "wcscat"
                | "wcsncat"
                | "wmemcpy"
                | "wmemmove"
                | "wmemset"
        )
    }

    /// Is the result, unless null, the address of an object to which no other pointer that may still be used points? Of
    /// `realloc`, too: the old object is gone, wherever the new one lies.
    pub fn returns_fresh(&self) -> bool {
        self.effect == Effect::Allocate || matches!(self.name, "realloc" | "reallocarray")
    }

    /// Does the original's call imply that source and destination do not overlap (unless they are the same)?
    pub fn forbids_overlap(&self) -> bool {
        self.effect == Effect::CopyMemory && self.name != "memmove"
    }

    /// Where the values of a call live.
    pub fn signature(&self) -> Signature {
        let mut places = Places::default();
        let arguments = self.arguments.iter().filter_map(|class| places.argument(*class)).collect();
        let results = match self.result {
            Class::Void => Vec::new(),
            Class::Float(bytes) => vec![value(Register::Vector(0), bytes)],
            Class::IntPair => vec![value(Register::General(0), 8), value(Register::General(2), 8)],
            class => vec![value(Register::General(0), class.bytes())],
        };
        Signature {
            arguments,
            results,
            variadic: self.variadic,
            noreturn: self.noreturn,
            unsupported: self.unsupported.map(str::to_string),
        }
    }
}

impl Class {
    /// Number of defined bytes.
    pub fn bytes(self) -> u16 {
        match self {
            Class::Void => 0,
            Class::Int(bytes) | Class::Float(bytes) => bytes,
            Class::Pointer => 8,
            Class::IntPair => 16,
        }
    }
}

/// Assigns places to arguments from left to right.
#[derive(Default)]
struct Places {
    general: usize,
    vector: u8,
    stack: u32,
}

impl Places {
    fn argument(&mut self, class: Class) -> Option<Value> {
        let register = match class {
            Class::Void | Class::IntPair => return None,
            Class::Float(_) if self.vector < 8 => {
                self.vector += 1;
                Some(Register::Vector(self.vector - 1))
            }
            Class::Float(_) => None,
            Class::Int(_) | Class::Pointer => {
                self.general += 1;
                Register::ARGUMENTS.get(self.general - 1).copied()
            }
        };
        let place = match register {
            Some(register) => Place::Register(register),
            None => {
                self.stack += 8;
                Place::Stack(self.stack - 8)
            }
        };
        Some(Value { place, bytes: class.bytes(), boolean: false, narrow: None })
    }
}

fn value(register: Register, bytes: u16) -> Value {
    Value { place: Place::Register(register), bytes, boolean: false, narrow: None }
}

/// Words in which the rows are written.
mod words {
    use super::{Class, Contract, Effect};

    pub(super) const V: Class = Class::Void;
    pub(super) const I: Class = Class::Int(4);
    pub(super) const L: Class = Class::Int(8);
    pub(super) const P: Class = Class::Pointer;
    pub(super) const F: Class = Class::Float(4);
    pub(super) const D: Class = Class::Float(8);

    /// An ordinary call.
    pub(super) const fn event(name: &'static str, result: Class, arguments: &'static [Class]) -> Contract {
        Contract {
            name,
            arguments,
            result,
            variadic: false,
            noreturn: false,
            effect: Effect::Event,
            nonnull: &[],
            unsupported: None,
        }
    }

    /// A function of its arguments alone.
    pub(super) const fn constant(name: &'static str, result: Class, arguments: &'static [Class]) -> Contract {
        event(name, result, arguments).effect(Effect::Pure { reads_memory: false, sign_only: false })
    }

    /// A function of its arguments and the world.
    pub(super) const fn reader(name: &'static str, result: Class, arguments: &'static [Class]) -> Contract {
        event(name, result, arguments).effect(Effect::Pure { reads_memory: true, sign_only: false })
    }

    /// A function of its arguments and the world whose result is defined in sign only.
    pub(super) const fn sign(name: &'static str, result: Class, arguments: &'static [Class]) -> Contract {
        event(name, result, arguments).effect(Effect::Pure { reads_memory: true, sign_only: true })
    }

    /// A function that never returns.
    pub(super) const fn noreturn(name: &'static str, arguments: &'static [Class]) -> Contract {
        let mut row = event(name, Class::Void, arguments);
        row.noreturn = true;
        row
    }

    impl Contract {
        pub(super) const fn effect(mut self, effect: Effect) -> Contract {
            self.effect = effect;
            self
        }

        pub(super) const fn variadic(mut self) -> Contract {
            self.variadic = true;
            self
        }

        pub(super) const fn nonnull(mut self, arguments: &'static [usize]) -> Contract {
            self.nonnull = arguments;
            self
        }

        pub(super) const fn unsupported(mut self, why: &'static str) -> Contract {
            self.unsupported = Some(why);
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn places(name: &str) -> String {
        let show = |values: &[Value]| {
            let one = |v: &Value| match v.place {
                Place::Register(register) => format!("{}:{}", register.name(), v.bytes),
                Place::Stack(offset) => format!("stack+{offset}:{}", v.bytes),
            };
            values.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        let signature = contract(name).expect(name).signature();
        format!("({}) -> ({})", show(&signature.arguments), show(&signature.results))
    }

    #[test]
    fn signatures_follow_the_system_v_order() {
        assert_eq!(places("strlen"), "(rdi:8) -> (rax:8)");
        assert_eq!(places("memset"), "(rdi:8 rsi:4 rdx:8) -> (rax:8)");
        assert_eq!(places("ldexp"), "(xmm0:8 rdi:4) -> (xmm0:8)");
        assert_eq!(places("powf"), "(xmm0:4 xmm1:4) -> (xmm0:4)");
        assert_eq!(places("ldiv"), "(rdi:8 rsi:8) -> (rax:8 rdx:8)");
        assert_eq!(places("free"), "(rdi:8) -> ()");
    }

    #[test]
    fn seventh_integer_argument_is_on_the_stack() {
        let row = Contract { arguments: &[words::P; 8], ..*contract("free").unwrap() };
        let last = &row.signature().arguments[6..];
        assert_eq!(last.iter().map(|v| v.place).collect::<Vec<_>>(), [Place::Stack(0), Place::Stack(8)]);
    }

    #[test]
    fn names_are_unique() {
        let mut seen = BTreeSet::new();
        for row in contracts() {
            assert!(seen.insert(row.name), "{} twice", row.name);
        }
        assert!(seen.len() >= 250, "only {} functions", seen.len());
    }

    #[test]
    fn rows_are_consistent() {
        for row in contracts() {
            for &i in row.nonnull {
                assert_eq!(row.arguments.get(i), Some(&Class::Pointer), "{}: nonnull {i}", row.name);
            }
            assert!(!row.arguments.contains(&Class::Void) && !row.arguments.contains(&Class::IntPair), "{}", row.name);
            if let Effect::Pure { .. } = row.effect {
                assert!(row.result != Class::Void && !row.variadic && !row.noreturn, "{}", row.name);
            }
        }
    }

    #[test]
    fn what_may_set_errno_is_an_event() {
        for name in ["strtol", "atoi", "sqrt", "sin", "fmod", "lround", "strcoll", "realloc", "getenv"] {
            assert_eq!(contract(name).unwrap().effect, Effect::Event, "{name}");
        }
    }
}
