//! The door: from two files to two functions that the kernel can compare.
//!
//! A function means something only in its file: which of its callees are defined there and cannot be replaced, which
//! functions only visible call sites call, which statics nobody else reaches. Whoever compares functions of object files
//! (`check`, `verify`, `show`, tests) comes through [`Files::prepare`], so that all of them see the same two programs.
//!
//! Trust: full. What is decided here is believed by the kernel: a local function that is called private but is not, or a
//! weak one that is taken for its definition, makes wrong proofs.

mod file;
mod files;

pub use file::{File, new_arena};
pub use files::{Alone, Files, Prepared};
pub use lift_elf::Error;
