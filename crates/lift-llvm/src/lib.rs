//! LLVM IR as text, as `clang -S -emit-llvm` prints it without running a pass, read into the form of `ir`.
//!
//! Only what a C compiler makes of kernels is read: integers of the usual widths, `float`, `double`, addresses, arrays and structures. Anything
//! else (vectors, atomics, volatile accesses, flags that let floating-point numbers be computed otherwise, inline assembly) refuses the
//! function in which it stands, with the line.
//!
//! Trust: full for what it reads; local variables become registers (`promote`) if every mention of their address is a plain access.

mod token;
mod types;
mod constants;
mod globals;
mod function;
mod instruction;
mod calls;
mod structures;
mod promote;
mod meets;
mod module;

pub use module::read;
