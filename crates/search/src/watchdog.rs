//! The clock: what a proof believes counts its work and reads none, so somebody has to end it when the time is over.
//!
//! One thread waits for the earliest deadline and trips the interrupts whose time has come. Whoever wants to be
//! interrupted takes [`interrupt_at`] and hands it on; when nobody holds it any more, it is forgotten.

use interrupt::{Interrupt, Tripwire};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::Instant;

/// From so many waiting interrupts on, those that nobody looks at are thrown away.
const MANY: usize = 1024;

/// An interrupt that is tripped at a deadline.
pub fn interrupt_at(deadline: Instant) -> Interrupt {
    let (interrupt, tripwire) = Interrupt::new();
    if Instant::now() >= deadline {
        tripwire.trip();
        return interrupt;
    }
    static WATCHDOG: OnceLock<Option<&'static Watchdog>> = OnceLock::new();
    match WATCHDOG.get_or_init(Watchdog::start) {
        Some(watchdog) => watchdog.add(deadline, tripwire),
        // Without a thread that watches the clock there is no time at all.
        None => tripwire.trip(),
    }
    interrupt
}

/// Who waits for which deadline.
#[derive(Default)]
struct Watchdog {
    waiting: Mutex<Waiting>,
    earlier: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Deadlines, the earliest first, each with the position of its interrupt.
    deadlines: BinaryHeap<Reverse<(Instant, u64)>>,
    tripwires: std::collections::HashMap<u64, Tripwire>,
    next: u64,
}

impl Watchdog {
    fn start() -> Option<&'static Watchdog> {
        let watchdog: &'static Watchdog = Box::leak(Box::default());
        Builder::new().name("watchdog".into()).spawn(move || watchdog.watch()).ok().map(|_| watchdog)
    }

    // A thread that panicked while it held the lock left lists that are always valid.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, deadline: Instant, tripwire: Tripwire) {
        let mut waiting = self.lock();
        if waiting.tripwires.len() >= MANY {
            waiting.forget_idle();
        }
        let first = waiting.deadlines.peek().is_none_or(|Reverse((earliest, _))| deadline < *earliest);
        let number = waiting.next;
        waiting.next += 1;
        waiting.deadlines.push(Reverse((deadline, number)));
        waiting.tripwires.insert(number, tripwire);
        if first {
            self.earlier.notify_one();
        }
    }

    fn watch(&self) {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            waiting.trip_until(now);
            let next = waiting.deadlines.peek().map(|Reverse((deadline, _))| *deadline);
            waiting = match next {
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(now);
                    self.earlier.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.earlier.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Waiting {
    fn trip_until(&mut self, now: Instant) {
        while let Some(Reverse((deadline, number))) = self.deadlines.peek().copied()
            && deadline <= now
        {
            self.deadlines.pop();
            if let Some(tripwire) = self.tripwires.remove(&number) {
                tripwire.trip();
            }
        }
    }

    fn forget_idle(&mut self) {
        self.tripwires.retain(|_, tripwire| !tripwire.is_idle());
        let tripwires = &self.tripwires;
        self.deadlines.retain(|Reverse((_, number))| tripwires.contains_key(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn interrupts_are_tripped_in_time_and_not_before() {
        let now = Instant::now();
        let late = interrupt_at(now + Duration::from_secs(3600));
        let soon = interrupt_at(now + Duration::from_millis(60));
        assert!(!soon.is_tripped());
        while !soon.is_tripped() {
            assert!(now.elapsed() < Duration::from_secs(10), "never tripped");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(now.elapsed() >= Duration::from_millis(60));
        assert!(!late.is_tripped());
        assert!(interrupt_at(now).is_tripped());
    }

    #[test]
    fn what_nobody_looks_at_is_forgotten() {
        let mut waiting = Waiting::default();
        let now = Instant::now();
        let mut held = Vec::new();
        for number in 0..10 {
            let (interrupt, tripwire) = Interrupt::new();
            waiting.deadlines.push(Reverse((now, number)));
            waiting.tripwires.insert(number, tripwire);
            held.extend((number % 2 == 0).then_some(interrupt));
        }
        waiting.forget_idle();
        assert_eq!((waiting.deadlines.len(), waiting.tripwires.len()), (5, 5));
        waiting.trip_until(now);
        assert!(held.iter().all(Interrupt::is_tripped) && waiting.deadlines.is_empty());
    }
}
