//! A certificate that somebody else has made.
//!
//! It is treated as one that was found here: the kernel checks it, some run of the original must be defined, and samples of runs come
//! with the proof.

use crate::objects::refute::Runner;
use crate::objects::session::{Session, stating};
use crate::objects::timed::check_until;
use crate::watchdog::interrupt_at;
use crate::{Outcome, Statistics};
use kernel::{Certificate, Pair, Rejection};
use std::time::Instant;
use term::Arena;

impl Session {
    /// The verdict of a certificate about a pair, or why the kernel rejects it. The arena is the one that was prepared with the pair.
    pub fn check_certificate(
        &self,
        arena: &mut Arena,
        pair: &Pair,
        mut certificate: Certificate,
        strategy: &'static str,
    ) -> Result<Outcome, Rejection> {
        let deadline = Instant::now() + self.timeout();
        let mut runner = Runner::new(arena, pair.original(), pair.candidate());
        runner.native = self.native();
        let mut solver = self.solver(deadline);
        solver.set_interrupt(interrupt_at(deadline));
        let proof = check_until(deadline, arena, pair, &mut certificate, &mut solver)?;
        let certificate = stating(pair, certificate);
        Ok(self.proved(arena, &mut runner, (proof, certificate), strategy, Statistics::default(), deadline))
    }
}
