//! Identity of a function: what a certificate names its programs by.

use crate::Image;
use crate::container::Kind;
use crate::content::{IDENTITY_BUDGET, hex, update_text};
use crate::layout::{Base, Use};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

/// Names and contents of what code refers to.
struct Referred {
    budget: usize,
    known: FxHashMap<Base, String>,
}

impl Image {
    /// A hash of everything that a function's graph is made of: its code and that of its outlined pieces, what their
    /// relocations refer to, and the read-only data among that. In linked files addresses are part of the code, so the
    /// whole file counts.
    pub fn hash(&self, index: usize) -> [u8; 32] {
        let mut hash = Sha256::new();
        if self.kind != Kind::Relocatable {
            hash.update(self.file_digest());
        }
        let mut referred = Referred { budget: IDENTITY_BUDGET, known: FxHashMap::default() };
        for (piece, function) in self.functions().iter().enumerate() {
            let mut root = piece;
            while let Some(parent) = self.functions()[root].parent.filter(|_| root != index) {
                root = parent;
            }
            if root == index {
                update_text(&mut hash, &function.name);
                self.hash_code(&mut hash, piece, &mut referred);
            }
        }
        hash.finalize().into()
    }

    fn hash_code(&self, hash: &mut Sha256, index: usize, referred: &mut Referred) {
        let function = &self.functions()[index];
        let start = function.place.offset;
        let end = start + function.size;
        let bytes = self.data(function.place.section).get(start as usize..end as usize).unwrap_or(&[]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
        for relocation in self.sections[function.place.section as usize].relocations_in(start..end) {
            let location = match relocation.symbol {
                Some(symbol) => self.layout.symbol(&self.symbols, symbol, relocation.addend),
                None => crate::layout::Location { base: Base::Number, offset: relocation.addend },
            };
            let location = self.layout.resolve(&self.sections, location, Use::Access);
            for part in [relocation.offset - start, u64::from(relocation.kind), location.offset as u64] {
                hash.update(part.to_le_bytes());
            }
            let known = referred.known.entry(location.base).or_insert_with(|| {
                let content = match location.base {
                    Base::Section(section) if self.sections[section as usize].is_read_only() => {
                        hex(&Sha256::digest(self.data(section)))
                    }
                    base => self.identity(base, &mut referred.budget).unwrap_or_default(),
                };
                format!("{}@{content}", self.plain_name(location.base))
            });
            update_text(hash, known);
        }
    }
}
