//! What only register allocations have: mistakes of an allocator, and a table of several of them.

pub(crate) mod allocation;
pub(crate) mod allocators;
