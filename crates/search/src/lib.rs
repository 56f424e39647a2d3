//! Strategies that look for certificates and witnesses.
//!
//! Trust: none. Whatever is guessed here becomes a certificate that the kernel checks, or a witness that the
//! interpreter replays.

mod bindings;
mod budgets;
mod constants;
mod inputs;
mod journal;
mod reason;
mod loops;
mod refute;
pub mod regalloc;
mod session;
mod start_state;
mod strategy;
mod timed;
pub mod updates;
mod verdict;
mod watchdog;

pub use journal::{Attempt, Journal};
pub use reason::{Reason, ReasonKind};
pub use refute::{Sample, usual_pages};
pub use session::{Native, Options, Session};
pub use start_state::{HIGHEST_ADDRESS, StartBytes, StartCall, StartPlace, StartState};
pub use strategy::Strategy;
pub use verdict::{
    Behaviour, NativeRuns, Outcome, Statistics, Verdict, Witness, WitnessBytes, WitnessCall, WitnessKind,
    WitnessRegister,
};
pub use watchdog::interrupt_at;
