//! ELF files of x86-64 to program graphs.
//!
//! [`Image::read`] takes a file apart (sections, symbols, relocations, debug information), [`Image::functions`] lists
//! what can be compared, and [`Image::lift`] follows a function's control flow from its first instruction and
//! returns its graph. Addresses never become numbers: they are variables named after the object they point to,
//! the same in both programs of a pair.
//!
//! Trust: full, except for the debug information, which only adds named assumptions.

mod assemble;
mod blocks;
mod code;
mod container;
mod content;
mod describe;
mod surroundings;
mod dispatch;
mod dwarf;
mod error;
mod frame_depth;
mod functions;
mod fuzz;
mod handlers;
mod identity;
mod image;
mod labels;
mod layout;
mod lift;
mod objects;
mod operands;
mod paths;
mod places;
mod pointers;
mod relocation;
mod split;
mod statics;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod testing;
mod texts;
mod users;
mod values;
mod sealed;

pub use container::{Binding, Definition, Kind, Place, Section, Symbol, Visibility};
pub use error::{Error, Gap};
pub use functions::FunctionEntry;
pub use fuzz::fuzz_one;
pub use image::Image;
pub use program::Side;
pub use relocation::Relocation;
pub use statics::StaticFacts;
