//! The checker for register allocation: two machine programs in step.
//!
//! The claim names the pairs of blocks that are entered together and, for each pair, equations between the two states.
//! [`check`] walks both programs itself and accepts if, by induction over the steps:
//! 1. at the functions' entries the equations of the first pair hold because both start in the same machine state;
//! 2. at each pair the events (stores, calls, returns, whatever is not known to be harmless) are the same, in the same
//!    order or, for plain stores that do not overlap, another one;
//! 3. both leave on the same conditions, to a pair of the claim;
//! 4. the equations there follow from those here;
//! 5. what may fault in the candidate is also computed by the original.
//!
//! "Same" is [`machine::Matcher::same`] with the equations of the pair as the only hypotheses. Each step of the original
//! is a step of the candidate, so both terminate alike.

mod claim;
mod certificate;
mod check;

pub use certificate::{AllocationCertificate, text_hash};
pub use check::{Rejected, check};
pub use claim::{Claim, ClaimedPoint, Expression, VERSION};
