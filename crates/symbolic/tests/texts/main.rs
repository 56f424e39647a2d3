//! Symbolic execution of programs that are text: no compiler, no file.

mod aliasing;
mod calls;
mod execution;
mod pieces;
