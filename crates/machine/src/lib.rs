//! Machine programs on the way through register allocation.
//!
//! A [`Function`] is a list of blocks of instructions, each of which is a list of [`Step`]s over lanes (bit ranges) of
//! locations: physical registers, virtual registers, spill slots. [`Values`] is a value numbering over such lanes,
//! [`execute`] runs one block symbolically, [`Matcher`] compares what two sides computed, and [`Product`] walks both
//! programs in step.
//!
//! Trust: full. The checker for register allocation in `kernel` believes all of it.

mod names;
mod form;
mod values;
mod run;
mod matching;
mod product;
mod trial;

pub use form::{
    Arg, Block, Commute, Condition, Effect, Exit, Function, Instruction, LARGEST_NUMBER, Lane, Location, Mask,
    MemoryKind, Object, Phi, Place, Span, Step, Target, Unit,
};
pub use matching::{Evidence, Hypotheses, Matcher, Memory, Mismatch, is_input, overlap};
pub use names::{Names, Symbol};
pub use product::{Choice, Edge, Misfit, Plan, Point, Product, Way, entering, pair_exits};
pub use run::{Event, EventKind, Fault, Leaving, Order, Run, State, execute};
pub use trial::{Agreement, Number, Stage, Trial};
pub use values::{IMMUTABLE, Id, Ids, Kind, RESULT_BITS, Side, Terms, Values};
