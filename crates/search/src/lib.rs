//! Strategies that look for certificates and witnesses.
//!
//! Trust: none. Whatever is guessed here becomes a certificate that the kernel checks, or a witness that the
//! interpreter replays.

mod bindings;
mod constants;
mod inputs;
mod refute;
mod session;
pub mod updates;
mod verdict;

pub use session::{Options, Session};
pub use verdict::{
    Behaviour, Outcome, Reason, ReasonKind, Statistics, Verdict, Witness, WitnessBytes, WitnessCall, WitnessRegister,
};
