//! Runs many jobs on a few threads, keeps their order, and survives what a job may do: panic, overflow a small
//! stack, or ignore its time limit.
//!
//! Each job gets a thread of its own, at most `workers` at a time. A job that is long past its limit is reported as
//! [`Finished::Overdue`] and left behind; the process ends without waiting for it. So the limit holds even if a job
//! has no way to notice it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

/// How a job ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finished<T> {
    /// With a result.
    Done(T),
    /// With a panic: its place and message.
    Panicked(String),
    /// Not in time.
    Overdue,
}

/// A finished job and the time it took.
#[derive(Debug)]
pub struct Timed<T> {
    pub finished: Finished<T>,
    pub time: Duration,
}

/// How the pool runs its jobs.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Jobs at the same time.
    pub workers: NonZeroUsize,
    /// Time after which a job is given up.
    pub patience: Duration,
}

/// No limit that anybody would live to see, for jobs that count what they do.
pub const NO_LIMIT: Duration = Duration::from_secs(366 * 24 * 3600);

/// Address space for the stack of a job, first choice first. Terms are walked recursively in places and some
/// functions have ten thousand instructions; pages that are never touched cost nothing.
const STACKS: [usize; 3] = [256 << 20, 64 << 20, 16 << 20];

/// Runs `work(0)`, …, `work(count - 1)`; `progress` hears of each end as it happens. Results are in order.
pub fn run_in_order<T: Send + 'static>(
    count: usize,
    settings: Settings,
    work: impl Fn(usize) -> T + Send + Sync + 'static,
    mut progress: impl FnMut(usize),
) -> Vec<Timed<T>> {
    let mut pool = Pool::new(settings, work);
    let mut results: Vec<Option<Timed<T>>> = (0..count).map(|_| None).collect();
    let mut jobs = 0..count;
    loop {
        while pool.has_room()
            && let Some(job) = jobs.next()
        {
            pool.start(job);
        }
        let ended = pool.wait(NO_LIMIT);
        if ended.is_empty() && pool.is_idle() {
            break;
        }
        for (job, result) in ended {
            results[job] = Some(result);
            progress(job);
        }
    }
    results.into_iter().flatten().collect()
}

/// Jobs that are under way. Whoever has it decides what starts next.
pub struct Pool<T> {
    settings: Settings,
    work: Arc<Work<T>>,
    running: BTreeMap<usize, Instant>,
    /// Jobs that could not be started.
    failed: Vec<(usize, Timed<T>)>,
    sender: Sender<(usize, Timed<T>)>,
    receiver: Receiver<(usize, Timed<T>)>,
}

impl<T: Send + 'static> Pool<T> {
    /// A pool for this kind of work.
    pub fn new(settings: Settings, work: impl Fn(usize) -> T + Send + Sync + 'static) -> Pool<T> {
        catch_messages();
        let (sender, receiver) = channel();
        Pool { settings, work: Arc::new(work), running: BTreeMap::new(), failed: Vec::new(), sender, receiver }
    }

    /// May another job start?
    pub fn has_room(&self) -> bool {
        self.running.len() < self.settings.workers.get()
    }

    /// Is nothing under way?
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.failed.is_empty()
    }

    /// Starts a job.
    pub fn start(&mut self, job: usize) {
        match start(job, Arc::clone(&self.work), self.sender.clone()) {
            Ok(()) => drop(self.running.insert(job, Instant::now())),
            Err(error) => {
                let finished = Finished::Panicked(format!("no thread: {error}"));
                self.failed.push((job, Timed { finished, time: Duration::ZERO }));
            }
        }
    }

    /// Jobs that have ended or are given up; waits at most so long for the first one.
    pub fn wait(&mut self, at_most: Duration) -> Vec<(usize, Timed<T>)> {
        let mut ended = std::mem::take(&mut self.failed);
        if ended.is_empty()
            && let Some(oldest) = self.running.values().min()
        {
            let left = (*oldest + self.settings.patience).saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(left.min(at_most)) {
                Ok(result) => ended.extend(self.known(result)),
                Err(RecvTimeoutError::Timeout) => ended.extend(self.overdue()),
                // The pool has a sender itself.
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        while let Ok(result) = self.receiver.try_recv() {
            ended.extend(self.known(result));
        }
        ended
    }

    /// A job that was given up may still report; nobody waits for it any more.
    fn known(&mut self, (job, result): (usize, Timed<T>)) -> Option<(usize, Timed<T>)> {
        self.running.remove(&job).map(|_| (job, result))
    }

    fn overdue(&mut self) -> Vec<(usize, Timed<T>)> {
        let now = Instant::now();
        let patience = self.settings.patience;
        let late: Vec<(usize, Duration)> = (self.running.iter())
            .filter(|(_, start)| now >= **start + patience)
            .map(|(job, start)| (*job, now - *start))
            .collect();
        for (job, _) in &late {
            self.running.remove(job);
        }
        late.into_iter().map(|(job, time)| (job, Timed { finished: Finished::Overdue, time })).collect()
    }
}

type Work<T> = dyn Fn(usize) -> T + Send + Sync;

fn start<T: Send + 'static>(
    index: usize,
    work: Arc<Work<T>>,
    sender: Sender<(usize, Timed<T>)>,
) -> std::io::Result<()> {
    let mut last = Ok(());
    for stack in STACKS {
        let (work, sender) = (Arc::clone(&work), sender.clone());
        let job = move || {
            let start = Instant::now();
            LAST_PANIC.set(Some(String::new()));
            let finished = match std::panic::catch_unwind(AssertUnwindSafe(|| work(index))) {
                Ok(result) => Finished::Done(result),
                Err(_) => Finished::Panicked(LAST_PANIC.take().unwrap_or_default()),
            };
            let _ = sender.send((index, Timed { finished, time: start.elapsed() }));
        };
        match thread::Builder::new().name(format!("pair {index}")).stack_size(stack).spawn(job) {
            Ok(_) => return Ok(()),
            // A limit on address space may leave room for a smaller stack.
            Err(error) => last = Err(error),
        }
    }
    last
}

thread_local! {
    /// The last panic's text; `None` on threads that are not jobs.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on a panic in a job is noted instead of printed.
fn catch_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let noted = LAST_PANIC.with_borrow_mut(|last| match last {
                Some(text) => {
                    *text = describe(info);
                    true
                }
                None => false,
            });
            if !noted {
                print(info);
            }
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("panic without a message");
    // Only the file's name: its directories say where somebody built lockstep.
    let place = info.location().map(|l| (l.file().rsplit('/').next().unwrap_or(l.file()).to_string(), l.line()));
    match place {
        Some((file, line)) => format!("{message} ({file}:{line})"),
        None => message.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(workers: usize, patience: Duration) -> Settings {
        Settings { workers: NonZeroUsize::new(workers).expect("not zero"), patience }
    }

    fn finished<T: Clone>(results: &[Timed<T>]) -> Vec<Finished<T>> {
        results.iter().map(|r| r.finished.clone()).collect()
    }

    #[test]
    fn results_are_in_order_whatever_the_number_of_workers() {
        for workers in [1, 3, 64] {
            let mut seen = 0;
            let work = |i: usize| {
                thread::sleep(Duration::from_millis(20 - i as u64));
                i * i
            };
            let results = run_in_order(20, settings(workers, Duration::from_secs(60)), work, |_| seen += 1);
            assert_eq!(finished(&results), (0..20).map(|i| Finished::Done(i * i)).collect::<Vec<_>>());
            assert_eq!(seen, 20);
        }
    }

    #[test]
    fn a_panic_becomes_its_message() {
        let work = |i: usize| if i == 1 { panic!("odd {i}") } else { i };
        let results = run_in_order(3, settings(2, Duration::from_secs(60)), work, |_| {});
        let finished = finished(&results);
        assert_eq!((&finished[0], &finished[2]), (&Finished::Done(0), &Finished::Done(2)));
        let Finished::Panicked(message) = &finished[1] else { panic!("no panic") };
        assert!(message.starts_with("odd 1 (pool.rs:"), "{message}");
    }

    #[test]
    fn a_job_that_ignores_its_limit_is_left_behind() {
        let work = |i: usize| {
            if i == 0 {
                thread::sleep(Duration::from_secs(5))
            }
        };
        let start = Instant::now();
        let results = run_in_order(2, settings(1, Duration::from_millis(50)), work, |_| {});
        assert_eq!(finished(&results), [Finished::Overdue, Finished::Done(())]);
        assert!(start.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn deep_recursion_fits_the_stack() {
        fn deep(n: usize) -> usize {
            let pad = std::hint::black_box([n; 16]);
            if n == 0 { 0 } else { deep(n - 1) + pad[0] - pad[15] + 1 }
        }
        let results = run_in_order(1, settings(1, Duration::from_secs(60)), |_| deep(200_000), |_| {});
        assert_eq!(finished(&results), [Finished::Done(200_000)]);
    }
}
