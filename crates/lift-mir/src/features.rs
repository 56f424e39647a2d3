//! What a function's attributes say that the processor has.
//!
//! An allocator may bring instructions that the original does not have: moves to spill slots, memory forms. They must be
//! ones that the processor knows. What is not listed may still be there if the original needs it too.

/// The list of a function.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// As the attribute spells it: `+avx,+sse`.
    list: String,
    /// A processor is named whose features the list need not repeat.
    named: bool,
}

/// What lists may leave out: whoever has the first has the second (llvm/lib/Target/X86/X86.td).
const IMPLIED: [(&str, &str); 13] = [
    ("avx512", "avx512f"),
    ("avx512", "avx2"),
    ("avx512", "fma"),
    ("avx512", "f16c"),
    ("avx2", "avx"),
    ("fma", "avx"),
    ("f16c", "avx"),
    ("avx512", "avx"),
    ("avx", "sse4.2"),
    ("avx", "sse4.1"),
    ("avx", "ssse3"),
    ("avx", "sse3"),
    ("sse4.2", "sse4.1"),
];

impl Features {
    /// From the text of a function's attributes.
    pub fn of(text: &str) -> Features {
        let value = |key: &str| {
            let (_, rest) = text.split_once(&format!("\"{key}\"=\""))?;
            Some(rest.split_once('"')?.0)
        };
        let named = value("target-cpu").is_some_and(|cpu| cpu != "x86-64" && cpu != "generic");
        Features { list: value("target-features").unwrap_or("").to_string(), named }
    }

    /// Is the feature on the list?
    pub fn lists(&self, wanted: &str) -> bool {
        self.list.split(',').any(|feature| feature.strip_prefix('+') == Some(wanted))
    }

    /// Is the feature on the list, or does one that is there imply it?
    pub fn has(&self, wanted: &str) -> bool {
        let listed =
            |stem: &str| self.list.split(',').any(|f| f.strip_prefix('+').is_some_and(|f| f.starts_with(stem)));
        let implied = || IMPLIED.iter().any(|(from, to)| *to == wanted && listed(from));
        let denied = || self.list.split(',').any(|feature| feature.strip_prefix('-') == Some(wanted));
        self.lists(wanted) || (implied() || self.named) && !denied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_implies_less() {
        let features = Features::of("\"target-cpu\"=\"x86-64\" \"target-features\"=\"+avx2,+sse\"");
        assert!(features.has("avx2") && features.has("avx") && features.has("sse4.1"));
        assert!(!features.has("avx512f") && !features.has("bmi2"));
        assert!(features.lists("avx2") && !features.lists("avx"));
    }

    #[test]
    fn a_processor_may_have_more_than_is_listed() {
        assert!(Features::of("\"target-cpu\"=\"skylake\"").has("avx"));
        assert!(!Features::of("\"target-cpu\"=\"skylake\" \"target-features\"=\"-avx\"").has("avx"));
        assert!(!Features::of("nounwind").has("avx"));
    }
}
