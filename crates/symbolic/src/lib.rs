//! Symbolic execution of acyclic pieces of programs.
//!
//! [`Context::execute`] runs a piece from a [`State`] to its next events; memory is a term, the own frame a table of bytes, and
//! what overlaps is decided by the rows of `alias`.
//!
//! Trust: full. The kernel believes what an execution says.

mod live_registers;
mod frame;
mod named;
mod passed;
mod distances;
mod viewpoint;
mod state;
mod context;
mod frame_objects;
mod constant_data;
mod alias;
mod memory;
mod declared;
mod apart;
mod known;
mod widen;
mod calls;
mod promoted;
mod execute;
mod volatile;
mod renaming;

pub use alias::{Alias, alias_rules};
pub use calls::Shape;
pub use context::{Binding, Context, Given, Interval, Region, Stuck};
pub use execute::{Access, Arrival, Block, Event, Exclusive, Fault, Joins, PureCall, Run};
pub use frame::Frame;
pub use known::Known;
pub use live_registers::{argument_registers, liveness, liveness_where};
pub use passed::reads_what_callees_overwrite;
pub use state::{RenamedCall, State};
pub use viewpoint::Viewpoint;
