//! Names of C++ and Rust as their sources have them.
//!
//! What a linker calls a function is what distinguishes it; that stays its name in JSON, in certificates and wherever it
//! is compared. People read, and may write, what they wrote in their source.

use cpp_demangle::{DemangleOptions, Symbol};

/// Names longer than this stay as they are: what they stand for can be exponentially long.
const LONGEST: usize = 4000;

/// The name for people: demangled, if it is mangled. A file before the name, and a number behind it, which make it unique, stay.
pub fn readable(name: &str) -> String {
    let (before, rest) = match name.rfind(':') {
        Some(colon) => name.split_at(colon + 1),
        None => ("", name),
    };
    let (symbol, behind) = match rest.find(['#', '@']) {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    match demangled(symbol) {
        Some(text) => format!("{before}{text}{behind}"),
        None => name.to_string(),
    }
}

fn demangled(symbol: &str) -> Option<String> {
    if symbol.len() > LONGEST {
        return None;
    }
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        // Without the hash at the end.
        return Some(format!("{rust:#}"));
    }
    if !symbol.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().recursion_limit(256);
    Symbol::new(symbol).ok()?.demangle(&options).ok().filter(|text| text.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_of_all_languages() {
        for (name, shown) in [
            ("clamp", "clamp"),
            ("a.c:helper", "a.c:helper"),
            ("_Z5clampiii", "clamp(int, int, int)"),
            ("_ZN3net6Socket4sendEPKcm", "net::Socket::send(char const*, unsigned long)"),
            ("b.cc:_ZL6helperi", "b.cc:helper(int)"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_Zmangled", "_Zmangled"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(readable(name), shown);
        }
    }
}
