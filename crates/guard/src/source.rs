//! A guard as C text, for whoever prefers to write it into the source.
//!
//! The text is not what is proved: a compiler makes code of it that nobody has looked at. It says so.

use std::fmt::Write as _;

/// A check of these conditions, in the words of the source, about a function with these parameters: type and name.
pub fn source(function: &str, parameters: &[(String, String)], conditions: &[String]) -> String {
    let mut out = String::new();
    let named =
        |(ty, name): &(String, String)| if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") };
    let list: Vec<String> = parameters.iter().map(named).collect();
    let list = if list.is_empty() { "void".to_string() } else { list.join(", ") };
    let names: Vec<&str> = parameters.iter().map(|(_, name)| name.as_str()).collect();
    let names = names.join(", ");
    let values: Vec<String> = parameters.iter().map(|(ty, _)| format!("({ty}){{0}}")).collect();
    let all: Vec<String> = conditions.iter().map(|condition| format!("({condition})")).collect();
    let _ = write!(
        out,
        "/* When {function}_candidate may take the place of {function}_original.\n   \
         This text is not proved: the object that `lockstep guard -o FILE.o` writes is.\n   \
         Include first what declares {function}, and define both functions. */\n\
         #include <stdint.h>\n#include <string.h>\n{HELPERS}\n\
         extern __typeof__({function}) {function}_original, {function}_candidate;\n\n\
         static inline int {function}_holds({list})\n{{\n    return {};\n}}\n\n\
         static inline __typeof__({function}_original({})) {function}_guarded({list})\n{{\n    \
         return {function}_holds({names}) ? {function}_candidate({names}) : {function}_original({names});\n}}\n",
        if all.is_empty() { "1".to_string() } else { all.join("\n        && ") },
        values.join(", "),
    );
    out
}

/// The words that conditions have and C has not.
const HELPERS: &str = "
#define aligned(p, k) ((uintptr_t)(p) % (k) == 0)

static inline int apart(const void *p, uintptr_t n, const void *q, uintptr_t m)
{
    uintptr_t a = (uintptr_t)p, b = (uintptr_t)q;
    return (a <= a + n && a + n <= b) || (b <= b + m && b + m <= a);
}

#define bits(x) (__extension__({ __typeof__(x) value_ = (x); uint64_t bits_ = 0; memcpy(&bits_, &value_, sizeof value_); bits_; }))
";
