//! ELF files of x86-64 to program graphs.
//!
//! [`Image::read`] takes a file apart (sections, symbols, relocations, debug information), [`Image::functions`] lists
//! what can be compared, and [`Image::lift`] follows a function's control flow from its first instruction and
//! returns its graph. Addresses never become numbers: they are variables named after the object they point to,
//! the same in both programs of a pair.
//!
//! Trust: full, except for the debug information, which only adds named assumptions.

mod error;
mod assemble;
mod relocation;
mod container;
mod dwarf;
mod functions;
mod texts;
mod layout;
mod content;
mod objects;
mod image;
mod places;
mod operands;
mod code;
mod blocks;
mod values;
mod labels;
mod dispatch;
mod paths;
mod pointers;
mod describe;
mod lift;
mod identity;
mod statics;
mod fuzz;
#[cfg(test)]
mod testing;

pub use container::{Binding, Definition, Kind, Place, Section, Symbol};
pub use error::{Error, Gap};
pub use functions::FunctionEntry;
pub use fuzz::fuzz_one;
pub use graph::Side;
pub use image::Image;
pub use relocation::Relocation;
pub use statics::StaticFacts;
