//! Which source text a function was compiled from.
//!
//! Compilers note a hash of every file that they read (DWARF 5, `DW_LNCT_MD5`). Two units whose main files have the same hash, and
//! no file of one path with two, were compiled from the same text: what one of them declares, the other has declared as well.
//! Macros of the command line are not in the hash; that is what `same-source(file)` says.
//!
//! Trust: full. If two texts pass for one, a declaration of the candidate decides what the original has meant.

use std::collections::BTreeMap;

/// Hash of a file's text.
pub type Digest = [u8; 16];

/// The files of one unit, by path, with their hashes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    main: String,
    files: BTreeMap<String, Digest>,
}

impl SourceText {
    /// The files of a unit; `None` if the main one is not among them, or two of one path differ.
    pub fn new(main: String, files: impl IntoIterator<Item = (String, Digest)>) -> Option<SourceText> {
        let mut known: BTreeMap<String, Digest> = BTreeMap::new();
        for (path, digest) in files {
            if known.insert(path, digest).is_some_and(|other| other != digest) {
                return None;
            }
        }
        known.contains_key(&main).then_some(SourceText { main, files: known })
    }

    /// The main file without its directories.
    pub fn name(&self) -> &str {
        self.main.rsplit('/').next().unwrap_or(&self.main)
    }

    /// Was the other unit compiled from the same text?
    pub fn is_same_as(&self, other: &SourceText) -> bool {
        let agree = |(path, digest): (&String, &Digest)| other.files.get(path).is_none_or(|theirs| theirs == digest);
        self.files.get(&self.main) == other.files.get(&other.main) && self.files.iter().all(agree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(files: &[(&str, u8)]) -> SourceText {
        let all = files.iter().map(|(path, digest)| (path.to_string(), [*digest; 16]));
        SourceText::new(files[0].0.to_string(), all).unwrap()
    }

    #[test]
    fn one_text_wherever_it_lies() {
        assert!(text(&[("/a/f.c", 1), ("h.h", 2)]).is_same_as(&text(&[("/b/f.c", 1), ("h.h", 2), ("k.h", 3)])));
        assert!(text(&[("f.c", 1)]).is_same_as(&text(&[("g.c", 1), ("k.h", 3)])));
    }

    #[test]
    fn another_text_or_header() {
        let ours = text(&[("/a/f.c", 1), ("h.h", 2)]);
        for theirs in [&[("/a/f.c", 9)][..], &[("/a/f.c", 1), ("h.h", 3)], &[("h.h", 2), ("/a/f.c", 1)]] {
            assert!(!ours.is_same_as(&text(theirs)), "{theirs:?}");
        }
    }

    #[test]
    fn contradictions_identify_nothing() {
        let files = [("f.c".to_string(), [1; 16]), ("f.c".to_string(), [2; 16])];
        assert_eq!(SourceText::new("f.c".to_string(), files), None);
        assert_eq!(SourceText::new("g.c".to_string(), [("f.c".to_string(), [1; 16])]), None);
    }
}
