//! Register allocations on the command line: two files of Machine IR, or one file and every allocator that LLVM has.

pub mod machine_ir;
mod allocators;

pub use allocators::run;
