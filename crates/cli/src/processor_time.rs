//! Processor time of the calling thread.
//!
//! On a machine that other work shares, wall-clock time says little about a program. What must be compared with other
//! programs is measured by this clock.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// What the calling thread has used so far, in user and kernel mode. Only differences on one thread mean anything.
pub fn used() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(u64::try_from(now.tv_sec).unwrap_or(0));
    seconds + Duration::from_nanos(u64::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_sleep_does_not() {
        let start = used();
        std::thread::sleep(Duration::from_millis(300));
        let slept = used() - start;
        assert!(slept < Duration::from_millis(150), "{slept:?}");
        let mut sum = 0u64;
        while used() - start < slept + Duration::from_millis(2) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(sum > 0);
    }
}
