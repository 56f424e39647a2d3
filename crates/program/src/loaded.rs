//! A value that is reached from an argument by loads: what compilers pass instead of a pointer.
//!
//! What it means at the entry of a function and at its calls is said where functions are executed.

use crate::Register;

/// A value that is reached from an argument by loads, made when the function is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Loaded {
    /// The original's argument register: an address.
    pub argument: Register,
    /// What is added before each load. All loads but the last are of eight bytes: addresses again.
    pub offsets: Vec<i64>,
    /// Bytes of the last load.
    pub bytes: u16,
}
