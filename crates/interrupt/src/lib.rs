//! Ends work from outside.
//!
//! What a proof believes counts its work (terms, points, questions, conflicts, propagations) and looks at no clock: the
//! same certificate gets the same answer on every machine, however busy. A search has a time limit all the same. It
//! holds the other end of an [`Interrupt`] and trips it when the time is over; whoever counts looks at it from time to
//! time, gives up, and says so. `verify` passes [`Interrupt::never`].
//!
//! Trust: none needed. Giving up proves nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Was it asked to stop? All clones are one.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

/// The end that trips an interrupt without keeping it alive.
#[derive(Debug)]
pub struct Tripwire(Weak<AtomicBool>);

impl Interrupt {
    /// One that nobody trips.
    pub const fn never() -> Interrupt {
        Interrupt(None)
    }

    /// One that was not tripped yet.
    pub fn new() -> (Interrupt, Tripwire) {
        let flag = Arc::new(AtomicBool::new(false));
        let tripwire = Tripwire(Arc::downgrade(&flag));
        (Interrupt(Some(flag)), tripwire)
    }

    /// Has somebody asked to stop?
    pub fn is_tripped(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Tripwire {
    /// Asks to stop.
    pub fn trip(&self) {
        if let Some(flag) = self.0.upgrade() {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Does nobody look any more?
    pub fn is_idle(&self) -> bool {
        self.0.strong_count() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_tripped_together() {
        let (interrupt, tripwire) = Interrupt::new();
        let other = interrupt.clone();
        assert!(!other.is_tripped() && !tripwire.is_idle());
        tripwire.trip();
        assert!(interrupt.is_tripped() && other.is_tripped());
        drop((interrupt, other));
        assert!(tripwire.is_idle());
        tripwire.trip();
    }

    #[test]
    fn nobody_trips_never() {
        assert!(!Interrupt::never().is_tripped());
    }
}
