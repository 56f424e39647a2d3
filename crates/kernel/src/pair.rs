//! Two functions, ready to be compared.
//!
//! What surrounds a function decides what may be believed of it: whose call sites are visible, which definitions can be
//! replaced, what the source may be believed. The crate `pair` decides that from the files and makes the value; nobody
//! changes it on the way to the kernel.

use graph::{Contracts, Function, Undefined};
use std::sync::Arc;

/// Two functions as they were read from their files, with what the files say about their surroundings.
#[derive(Debug)]
pub struct Pair {
    original: Function,
    candidate: Function,
}

impl Pair {
    /// Two functions of one arena, the contracts of their files' local functions, and whether the original's source may be
    /// taken to be defined. Only for the crate `pair`: every argument is believed.
    pub fn new(mut original: Function, candidate: Function, contracts: Arc<Contracts>, undefined: Undefined) -> Pair {
        original.contracts = contracts;
        original.undefined = undefined;
        original.adopt_declarations(&candidate);
        Pair { original, candidate }
    }

    /// The original.
    pub fn original(&self) -> &Function {
        &self.original
    }

    /// The candidate.
    pub fn candidate(&self) -> &Function {
        &self.candidate
    }

    /// Both.
    pub fn functions(&self) -> [&Function; 2] {
        [&self.original, &self.candidate]
    }
}
