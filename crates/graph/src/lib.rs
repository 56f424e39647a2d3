//! Program graphs and what can be done with them.
//!
//! A [`Function`] is a graph of [`Point`]s whose operations are terms over the machine's registers. Every
//! frontend produces this form and every strategy consumes only this form. [`Context::execute`] runs acyclic pieces
//! of it symbolically.
//!
//! Trust: full. The kernel believes symbolic execution and the interpreter.

mod registers;
mod point;
mod object;
mod signature;
mod source;
mod function;
mod side;
mod assumption;
mod liveness;
mod live_registers;
pub mod library;
pub mod contract;
mod value_range;
mod frame;
mod state;
mod context;
mod frame_objects;
mod constant_data;
mod memory;
mod declared;
mod apart;
mod known;
mod widen;
mod order;
pub mod loops;
mod calls;
mod promoted;
mod loaded;
mod execute;
mod volatile;
mod renaming;
mod tail_recursion;
mod twice;
pub mod interpreter;

pub use apart::Viewpoint;
pub use assumption::{Assumption, Undefined};
pub use calls::{Shape, reads_what_callees_overwrite};
pub use context::{Binding, Context, Interval, Region, Stuck};
pub use contract::{Contracts, LocalContract};
pub use execute::{Access, Arrival, Block, Event, Exclusive, Fault, Joins, PureCall, Run};
pub use frame::Frame;
pub use function::{
    Care, Casts, Function, LineTable, Local, Parameter, RegisterVariable, SourceLine, Surroundings, Volatile,
};
pub use known::Known;
pub use live_registers::{argument_registers, liveness, liveness_where};
pub use liveness::drop_dead_flags;
pub use memory::Alias;
pub use object::{Constancy, Content, Linkage, Member, Object, ObjectKind};
pub use point::{Call, Callee, Edge, FaultKind, Next, Op, Point, PointId};
pub use loaded::Loaded;
pub use registers::{Flag, Register};
pub use renaming::RenamedCall;
pub use side::Side;
pub use signature::{Narrow, Place, Signature, Value};
pub use source::{Digest, SourceText};
pub use state::State;
pub use tail_recursion::{Folded, fold_tail_calls, own_calls};
pub use twice::{call_that_returns_twice, jump_to_twice, returns_twice};
pub use value_range::ValueRange;
