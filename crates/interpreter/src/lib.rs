//! Concrete execution of a function on a sparse memory.
//!
//! Every address is mapped; a byte has a seeded value until it is written, the same for both programs of a pair.
//! Unknown callees are one seeded function of (callee, place in the order of calls); what they write is decided in the
//! run of the original and repeated in that of the candidate. The run of an original is instrumented: it ends at the
//! first thing that a proof could have assumed away (an access outside the object that its pointer came from, a
//! condition on an uninitialised byte, an address that is no user address, a fault), and such a run is no evidence.
//!
//! [`Program`] is a function made ready to run, [`run`] runs it, [`Trace`] says what it did.
//!
//! Trust: full, for `different`.

mod values;
mod layout;
mod ctype;
mod memory;
mod program;
mod taint;
mod copies;
mod cells;
mod callee;
mod watch;
mod trace;
mod machine;
mod access;
mod calls;
mod library_calls;

pub use callee::{CalleeInfo, Callees};
pub use cells::Cells;
pub use layout::{Layout, Placed};
pub use machine::{Effects, Faults, Script, Situation, run};
pub use memory::{Backing, Change, Memory, Pages, STACK_ARGUMENTS, STACK_TOP, Start, is_stack};
pub use program::{ByteUse, Extent, Program, bytes_read};
pub use trace::{Called, End, Form, FormArgument, Passed, Pointed, ResultUse, SetUp, Target, Trace, Write};
pub use values::{BUFFER_SPACING, BUFFERS, Fabric, Seed, plausible_word, pointer_to_buffer};
pub use watch::{Touch, Visit, Watch, WatchBase, WatchedLoad};
