//! What happens in a run, as it happens: for the display, and as lines of the journal.

use serde::Serialize;

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A run begins.
    Begin {
        /// The function.
        function: String,
        /// Its file.
        file: String,
        /// Seed of everything random.
        seed: u64,
    },
    /// Another part of the work begins.
    Phase {
        /// What it is.
        name: &'static str,
    },
    /// Something that the user should know.
    Note {
        /// What.
        what: String,
    },
    /// Somebody has a version.
    Proposed {
        /// Who.
        origin: String,
        /// Bytes of its code.
        bytes: usize,
        /// Its text.
        text: String,
    },
    /// A version is of no use.
    Useless {
        /// Whose.
        origin: String,
        /// Why.
        why: String,
    },
    /// A version was timed.
    Timed {
        /// Whose.
        origin: String,
        /// How much faster it is.
        speedup: f64,
    },
    /// A proof is tried.
    Proving {
        /// Of whose version.
        origin: String,
    },
    /// The kernel accepted a proof.
    Proved {
        /// Of whose version.
        origin: String,
        /// How much faster it is, if that was measured.
        speedup: Option<f64>,
        /// How long the proof took.
        seconds: f64,
    },
    /// An input tells a version from the original.
    Refuted {
        /// Whose version.
        origin: String,
        /// What it does, in words.
        what: String,
    },
    /// There is no proof.
    Unknown {
        /// Of whose version.
        origin: String,
        /// The kind of the reason.
        kind: &'static str,
        /// The reason.
        why: String,
    },
    /// A search tells how far it is.
    Searching {
        /// What it does.
        name: String,
        /// Versions that it tried.
        proposals: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// The best version so far is another one.
    Best {
        /// Whose.
        origin: String,
        /// How much faster it is, if that was measured.
        speedup: Option<f64>,
        /// Bytes of its code.
        bytes: usize,
    },
    /// The file was written and its proof was made about what was read back.
    Written {
        /// The file.
        file: String,
    },
}

impl Event {
    /// A line of the journal: JSON.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Who is told.
pub type Tell<'a> = dyn Fn(Event) + Sync + 'a;
