//! Concrete execution of a function on a sparse memory.
//!
//! Every address is mapped; a byte gets its seeded value at the first read, the same for both programs of a pair.
//! Unknown callees are one seeded function of (callee, how often it was called) and write nothing. The run of an
//! original is instrumented: it records the first thing that a proof could have assumed away (an access outside the
//! object that its pointer came from, an uninitialised frame byte, an address that is no user address, a fault), and
//! such a run is no evidence.
//!
//! Trust: full, for `different`.

mod machine;
mod memory;
mod values;

pub use machine::{Called, End, Machine, Trace};
pub use memory::{Layout, Memory, STACK_TOP, is_stack};
pub use values::{Seed, plausible_word};
