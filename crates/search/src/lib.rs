//! Strategies that look for certificates and witnesses.
//!
//! Trust: none. Whatever is guessed here becomes a certificate that the kernel checks, or a witness that the
//! interpreter replays.

mod budgets;
mod watchdog;
mod reason;
mod verdict;
mod objects;
pub mod regalloc;
pub mod nests;

pub use objects::conditional::{Conjunct, FloatAxioms, Hint, Inferred, Kind, Need, Question};
pub use objects::journal::{Attempt, Journal};
pub use objects::refute::{Sample, usual_pages};
pub use objects::session::{Native, Options, Session};
pub use objects::start_samples::{Samples, Wanted, start_samples};
pub use objects::start_state::{ABOVE_STACK, HIGHEST_ADDRESS, StartBytes, StartCall, StartPlace, StartState};
pub use objects::strategy::Strategy;
pub use reason::{Reason, ReasonKind};
pub use verdict::{
    Behaviour, NativeRuns, Outcome, Statistics, Verdict, Witness, WitnessBytes, WitnessCall, WitnessClass, WitnessKind,
    WitnessRegister,
};
pub use watchdog::interrupt_at;
