//! Which version is better.

use serde::Serialize;
use std::path::Path;

/// How fast a version is beside another, measured in turns.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Speed {
    /// How much faster: the median over places in memory.
    pub speedup: f64,
    /// The interval in which that is, 99 times out of 100.
    pub interval: [f64; 2],
    /// The smallest over places in memory.
    pub worst: f64,
    /// Is it faster whatever noise and places in memory do?
    pub faster: bool,
}

/// How thoroughly something is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Care {
    /// To put many in order.
    Quick,
    /// For a claim.
    Thorough,
}

/// Objects that are timed beside one that is to be beaten.
#[derive(Clone, Copy, Debug)]
pub struct Race<'a> {
    /// The file that says what is right: on its start states the others run.
    pub specification: &'a Path,
    /// The one to be beaten: its file.
    pub rival: &'a Path,
    /// The other's file.
    pub candidate: &'a Path,
    /// The function, in both.
    pub function: &'a str,
    /// Start states of the user.
    pub tests: &'a [search::StartState],
    /// Values of arguments, by name or register.
    pub arguments: &'a [(String, u64)],
    /// Seed of others.
    pub seed: u64,
    /// How thoroughly.
    pub care: Care,
}

/// Who measures. The error says why nothing can be measured.
pub type Timer<'a> = dyn Fn(&Race<'_>) -> Result<Speed, String> + Sync + 'a;
