//! Programs as graphs, and what their form alone says.
//!
//! A [`Function`] is a graph of [`Point`]s whose operations are terms over the machine's registers. Every frontend makes this
//! form and every strategy consumes only this form. What is known besides the code stands beside it: objects, signatures,
//! contracts of functions, assumptions by name. Nothing is executed here.
//!
//! Trust: full. What a program says is what this form says.

mod registers;
mod point;
mod object;
mod signature;
mod source;
mod source_type;
mod function;
mod side;
mod assumption;
mod call_interface;
mod liveness;
pub mod contract;
mod value_range;
pub mod order;
pub mod loops;
mod loaded;
mod tail_recursion;
mod twice;
mod text;

pub use assumption::{AssertTexts, Assumption, Undefined};
pub use call_interface::CallInterface;
pub use contract::{Contracts, LocalContract};
pub use function::{
    Care, Casts, Folded, Function, LineTable, Local, Parameter, RegisterVariable, SourceLine, Surroundings, Volatile,
};
pub use liveness::drop_dead_flags;
pub use loaded::Loaded;
pub use object::{Constancy, Content, Linkage, Member, Object, ObjectKind};
pub use point::{Call, Callee, Edge, FaultKind, Next, Op, Point, PointId};
pub use registers::{Flag, Register};
pub use side::Side;
pub use signature::{Narrow, Place, Signature, Value};
pub use source::{Digest, SourceText};
pub use source_type::{SourceMember, SourceType, SourceTypeId, SourceTypes};
pub use tail_recursion::{fold_tail_calls, own_calls};
pub use text::{read_function, read_functions, write_function};
pub use twice::{call_that_returns_twice, jump_to_twice, returns_twice};
pub use value_range::ValueRange;
