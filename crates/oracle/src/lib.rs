//! An independent oracle: both versions of a function, run natively on the same inputs, without instrumentation.
//!
//! Prover and refuter share the lifter, so neither sees its mistakes. This crate shares nothing with them: it links two
//! relocatable objects as a linker does ([`Pair::link`]), runs them in [`native::Sandbox`]es ([`Pair::compare`]) and compares results,
//! memory and the calls of functions that the objects do not define. Those functions are recording stubs, whose results come from a
//! seed.
//!
//! A difference is only reported if the original agrees with itself under other addresses and other garbage: what it leaves open
//! (uninitialised bytes, padding, where its objects lie) is no difference. What cannot be told for certain is a *doubt*, and no
//! difference either.
//!
//! Trust: none. It can only take a proof away.

mod shape;
mod seed;
mod input;
mod places;
mod link;
mod relocate;
mod names;
mod world;
mod stubs;
mod run;
mod same;
mod compare;
mod worker;
mod pair;
mod timing;

#[cfg(test)]
mod tests;

pub use input::{Alias, Input, Script};
pub use link::CannotLink;
pub use native::Limits;
pub use pair::{Difference, Objects, Pair, Pending, Report};
pub use seed::Seed;
pub use shape::{Piece, Place, Prototype, Shape};
pub use timing::{CannotTime, Options, Times, time};

/// Where things lie in a sandbox: all below 2 GiB, so that every code model can address them.
pub mod map {
    /// Stubs of undefined functions, 16 bytes each. The first is where the function returns to.
    pub const STUBS: u64 = 0x0030_0000;
    /// Sections of the object.
    pub const SECTIONS: u64 = 0x0100_0000;
    /// Objects that are declared but not defined, one every [`EXTERN_SPACING`].
    pub const EXTERNS: u64 = 0x3000_0000;
    /// Their distance.
    pub const EXTERN_SPACING: u64 = 0x1_0000;
    /// Bytes of each that are there.
    pub const EXTERN_SIZE: u64 = 0x1000;
    /// Thread-local storage; `fs` points at its middle.
    pub const THREAD: u64 = 0x5000_0000;
    /// Its size.
    pub const THREAD_SIZE: u64 = 0x2000;
    /// Value of `fs`.
    pub const THREAD_POINTER: u64 = THREAD + THREAD_SIZE / 2;
    /// The global offset table.
    pub const TABLE: u64 = 0x5100_0000;
    /// What allocation functions hand out.
    pub const HEAP: u64 = 0x5200_0000;
    /// Its size.
    pub const HEAP_SIZE: u64 = 0x2000;
    /// What stubs return where calls are timed: a cursor for each, and the results.
    pub const RESULTS: u64 = 0x5400_0000;
    /// Memory to which pointers lead that stubs return and that undefined objects hold.
    pub const POOL: u64 = 0x5300_0000;
    /// Its size.
    pub const POOL_SIZE: u64 = 0x1000;
    /// The stack.
    pub const STACK: u64 = 0x6000_0000;
    /// Its size.
    pub const STACK_SIZE: u64 = 0x10_0000;
    /// Where the return address lies at entry: ≡ 8 (mod 16).
    pub const STACK_TOP: u64 = STACK + STACK_SIZE - 0x1000 + 8;
}
