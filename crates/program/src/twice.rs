//! Callees that return twice: `setjmp` and its kin.
//!
//! Behind the second return memory is what it is then, and a slot that the code between has stored to holds that, not what
//! it held at the first return. So nothing that is known of slots or objects holds behind such a call, and a function that
//! makes one is neither compared nor is anything believed of it.
//!
//! Debug information does not say who returns twice, so names decide: those that compilers know (gcc's
//! `special_function_p`), with the prefixes that they strip, and every function of the file that jumps to one of them.
//!
//! Trust: full.

use crate::{Call, Callee, Function, Next};
use std::collections::BTreeSet;

/// Without the prefixes.
const NAMES: &[&str] = &["setjmp", "sigsetjmp", "qsetjmp", "savectx", "getcontext", "swapcontext", "vfork"];

/// Does a function of this name return twice?
pub fn returns_twice(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let plain = name.trim_start_matches('_');
    let stripped = plain.strip_prefix('x').filter(|_| name.starts_with("__x"));
    [Some(plain), stripped].into_iter().flatten().any(|name| NAMES.contains(&name) || name == "builtin_setjmp")
}

/// The first call of a function that returns twice, by itself or because it is one of `more`: its name and address.
pub fn call_that_returns_twice<'f>(function: &'f Function, more: &BTreeSet<String>) -> Option<(&'f str, u64)> {
    function.points.iter().find_map(|point| match &point.next {
        Next::Call(Call { callee: Callee::Named(name), .. }) if returns_twice(name) || more.contains(name) => {
            Some((name.as_str(), point.last_address()))
        }
        _ => None,
    })
}

/// Functions of a file that return twice because they end with a jump to one that does.
pub fn jump_to_twice(functions: &[Function]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let jumps = |function: &&Function| {
            function.points.iter().any(|point| {
                let Next::Call(Call { callee: Callee::Named(name), tail: true, .. }) = &point.next else {
                    return false;
                };
                returns_twice(name) || found.contains(name)
            })
        };
        let more: Vec<String> = functions.iter().filter(jumps).map(|f| f.name.clone()).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::returns_twice;

    #[test]
    fn names_with_the_prefixes_that_compilers_strip() {
        for name in ["setjmp", "_setjmp", "__sigsetjmp", "vfork", "__vfork", "getcontext", "savectx", "_setjmp@plt"] {
            assert!(returns_twice(name), "{name}");
        }
        for name in ["longjmp", "fork", "my_setjmp", "setjmps", "xsetjmp"] {
            assert!(!returns_twice(name), "{name}");
        }
    }
}
