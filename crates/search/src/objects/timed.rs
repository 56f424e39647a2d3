//! The kernel's word within a time limit.

use crate::watchdog::interrupt_at;
use kernel::{Certificate, CheckedProof, EffortClaim, Pair, Rejection};
use solver::Solver;
use std::time::Instant;
use term::Arena;

/// Checks a certificate, and interrupts the kernel at the deadline. An accepted certificate says afterwards what its
/// check may cost and which questions were hard.
pub(crate) fn check_until(
    deadline: Instant,
    arena: &mut Arena,
    pair: &Pair,
    certificate: &mut Certificate,
    solver: &mut Solver,
) -> Result<CheckedProof, Rejection> {
    certificate.state(pair.precondition());
    solver.set_interrupt(interrupt_at(deadline));
    let proof = kernel::check(arena, pair, certificate, solver)?;
    certificate.effort = Some(EffortClaim::of(solver.efforts(), solver.record()));
    Ok(proof)
}
