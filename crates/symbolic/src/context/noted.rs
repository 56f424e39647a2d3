//! What an execution notes on its way: what has been accessed, and what the code of both sides shows.
//!
//! Trust: full. `in-bounds` says something about what the original accesses, and about nothing else.

use crate::named::NamedAccesses;
use crate::passed::{Evidence, Slots, Spills};
use program::Care;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use term::TermId;

/// What has been accessed.
#[derive(Default)]
pub(crate) struct Accesses {
    /// Addresses that the original accesses: the only ones about which `in-bounds` says anything.
    pub original: FxHashSet<TermId>,
    /// Blocks that the original fills or copies: where they begin, and their lengths.
    pub blocks: FxHashSet<(TermId, TermId)>,
    /// Addresses of the candidate that must be proved to stay inside their object.
    pub claimed: FxHashSet<TermId>,
    /// Addresses of the original's volatile accesses.
    pub volatile: FxHashMap<TermId, Care>,
    /// Was there a volatile access?
    pub has_trace: bool,
}

/// What code shows without being executed; each part is made when it is first needed.
#[derive(Default)]
pub(crate) struct Shown {
    /// What the original accesses by name.
    pub named: Option<NamedAccesses>,
    /// Registers live at each point, by side.
    pub live: [Option<Vec<u64>>; 2],
    /// The values that the original sets up for calls.
    pub evidence: Option<Rc<Evidence>>,
    /// Stack words that the original stores for itself.
    pub spills: Option<Rc<Spills>>,
    /// Stack slots that the original reads behind its calls.
    pub slots: Option<Rc<Slots>>,
    /// Does one of the functions look at `errno`?
    pub uses_errno: Option<bool>,
}
