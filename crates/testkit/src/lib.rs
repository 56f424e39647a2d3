//! Fixtures and the golden pair runner.
//!
//! Programs come as text: C ([`compiler`]) or assembly with a C prototype ([`pair`]). The runners of [`golden`] and
//! [`twins`] build both versions, ask the `lockstep` binary ([`lockstep`]) and hold its verdicts against what was
//! typed by hand. A wrong verdict always fails; an `unknown` fails where the expectation does not allow it.
//!
//! Trust: none; but nothing is skipped in silence.

pub mod compiler;
pub mod golden;
pub mod lockstep;
pub mod pair;
pub mod rooms;
pub mod score;
pub mod twins;

use std::path::PathBuf;

/// The folder of the shared test data, `tests/` at the root of the workspace.
pub fn data() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests"))
}
