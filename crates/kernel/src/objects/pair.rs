//! Two functions, ready to be compared.
//!
//! What surrounds a function decides what may be believed of it: whose call sites are visible, which definitions can be
//! replaced, what the source may be believed. The crate `pair` decides that from the files and makes the value; nobody
//! changes it on the way to the kernel.

use crate::Precondition;
use crate::objects::lemma::{Facts, Lemma};
use program::{CallInterface, Function, Undefined};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Two functions as they were read from their files, with what the files say about their surroundings.
#[derive(Debug)]
pub struct Pair {
    original: Function,
    candidate: Function,
    lemmas: Vec<Lemma>,
    precondition: Precondition,
    /// Does nobody but the user say how the original is called?
    told: bool,
}

impl Pair {
    /// Two functions of one arena, what was proved of their files, who returns twice there, and whether the original's source
    /// may be taken to be defined. Only for the crate `pair`: every argument but the facts is believed.
    pub fn new(
        mut original: Function,
        candidate: Function,
        facts: &Facts,
        twice: &BTreeSet<String>,
        undefined: Undefined,
    ) -> Pair {
        original.undefined = undefined;
        original.adopt_declarations(&candidate);
        let (mut contracts, lemmas) = facts.about([&original, &candidate]);
        contracts.twice.clone_from(twice);
        original.contracts = Arc::new(contracts);
        Pair { original, candidate, lemmas, precondition: Precondition::default(), told: false }
    }

    /// The same pair in start states that satisfy a condition. What a proof is about is what its certificate states; this is
    /// what a search is asked to state.
    pub fn under(self, precondition: Precondition) -> Pair {
        Pair { precondition, ..self }
    }

    /// The same pair, called as the user says where the files do not say it. A proof about it says so.
    pub fn called_as(mut self, interface: &CallInterface) -> Pair {
        self.told |= self.original.take_interface(interface);
        self.candidate.take_interface(interface);
        self
    }

    /// Is the original called as the user says, of which its file says nothing?
    pub fn is_called_as_told(&self) -> bool {
        self.told
    }

    /// The condition under which the functions are compared.
    pub fn precondition(&self) -> &Precondition {
        &self.precondition
    }

    /// The lemmas that a proof about the pair may use, and those that their proofs need.
    pub fn lemmas(&self) -> &[Lemma] {
        &self.lemmas
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
