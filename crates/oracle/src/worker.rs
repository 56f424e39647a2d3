//! Threads with sandboxes that live for many proofs.
//!
//! Starting a process costs more than all runs of a proof, so a sandbox is used again: all registers and all memory that a run may look
//! at are set before it, and memory of other inputs that a run has written to is seen behind the proof ([`Machine::has_strayed`]).
//! What is odd in a used sandbox (a difference, a stray store, an error) is run once more in new ones that have nothing but what
//! this proof needs, and that counts.
//!
//! Requests to a traced process must come from the thread that started it; hence the threads. Who
//! asks need not wait: the next proof can be searched for meanwhile.

use crate::input::Input;
use crate::pair::{Linkage, Report, Task};
use crate::run::{Machine, Role};
use crate::world::pages_of;
use native::NativeError;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

type Order = (Task, Sender<Report>);

/// Threads that run tasks; they end when this value is dropped.
#[derive(Debug)]
pub(crate) struct Workers {
    orders: Sender<Order>,
    /// Where the threads take them from.
    queue: Arc<Mutex<Receiver<Order>>>,
    /// Tasks that are not done yet.
    open: Arc<AtomicUsize>,
    threads: usize,
}

impl Default for Workers {
    fn default() -> Workers {
        let (orders, queue) = channel();
        Workers { orders, queue: Arc::new(Mutex::new(queue)), open: Arc::default(), threads: 0 }
    }
}

impl Workers {
    /// Has a task done; the report comes later. Nothing comes if there is no thread.
    pub fn submit(&mut self, linkage: &Arc<Linkage>, task: Task) -> Receiver<Report> {
        let most = std::thread::available_parallelism().map_or(1, |n| n.get());
        let waiting = self.open.fetch_add(1, Ordering::SeqCst) >= self.threads;
        if waiting && self.threads < most {
            let (linkage, queue, open) = (Arc::clone(linkage), Arc::clone(&self.queue), Arc::clone(&self.open));
            let serve = move || serve(&linkage, &queue, &open);
            let thread = std::thread::Builder::new().name("sandboxes".to_string()).spawn(serve);
            self.threads += usize::from(thread.is_ok());
        }
        let (answer, report) = channel();
        if self.threads > 0 {
            // Fails only if the queue is gone, and we have it.
            let _ = self.orders.send((task, answer));
        }
        report
    }
}

fn serve(linkage: &Linkage, queue: &Mutex<Receiver<Order>>, open: &AtomicUsize) {
    let mut used = Machines::new(linkage, Keep::ForOthers);
    let next = || queue.lock().ok()?.recv().ok();
    while let Some((task, answer)) = next() {
        let start = Instant::now();
        let report = catch_unwind(AssertUnwindSafe(|| used.report(task))).unwrap_or_else(|_| {
            used.end();
            Report { not_run: Some("cannot run native code: a panic".to_string()), ..Report::default() }
        });
        open.fetch_sub(1, Ordering::SeqCst);
        // Who asked may have given up.
        let _ = answer.send(Report { time: start.elapsed(), ..report });
    }
}

/// Do machines serve one task, or many?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    ForOthers,
    ForOne,
}

/// The sandboxes of both sides and of the moved original.
pub(crate) struct Machines<'l> {
    linkage: &'l Linkage,
    keep: Keep,
    machines: [Option<Machine<'l>>; 3],
    /// Pages of the inputs of this task, as far as they are run.
    pages: BTreeSet<u64>,
    /// Has the code written to pages of other inputs, in sandboxes that this task has used up?
    strayed: bool,
}

/// Most pages of inputs that a sandbox keeps for others.
const MOST_PAGES: usize = 1024;

impl<'l> Machines<'l> {
    fn new(linkage: &'l Linkage, keep: Keep) -> Machines<'l> {
        Machines { linkage, keep, machines: [None, None, None], pages: BTreeSet::new(), strayed: false }
    }

    fn report(&mut self, mut task: Task) -> Report {
        let all = task.inputs.len();
        task.inputs.retain(|input| pages_of(input).is_some());
        if task.inputs.is_empty() && all > 0 {
            return Report { not_run: Some(NativeError::TooLarge.to_string()), ..Report::default() };
        }
        if let Ok(report) = self.run(&task)
            && report.difference.is_none()
            && matches!(self.have_strayed(), Ok(false))
        {
            return report;
        }
        self.end();
        let mut new = Machines::new(self.linkage, Keep::ForOne);
        let report = new.run(&task);
        new.end();
        report.unwrap_or_else(|error| Report { not_run: Some(error.to_string()), ..Report::default() })
    }

    fn run(&mut self, task: &Task) -> Result<Report, NativeError> {
        let usual = |pages: &BTreeSet<u64>| self.keep == Keep::ForOne || pages.is_subset(&self.linkage.usual);
        self.pages = task.inputs.iter().filter_map(pages_of).filter(usual).flatten().collect();
        self.strayed = false;
        task.compare(self.linkage, self)
    }

    /// Do sandboxes of this task have the memory of an input without being started anew?
    pub fn have(&self, input: &Input) -> bool {
        pages_of(input).is_some_and(|pages| pages.is_subset(&self.pages))
    }

    /// From now on they have the memory of all these inputs.
    pub fn extend(&mut self, inputs: &[Input]) -> Result<(), NativeError> {
        self.strayed = self.have_strayed()?;
        self.pages = inputs.iter().filter_map(pages_of).flatten().collect();
        Ok(())
    }

    fn have_strayed(&mut self) -> Result<bool, NativeError> {
        let mut strayed = self.strayed;
        for machine in self.machines.iter_mut().flatten() {
            strayed |= machine.has_strayed(&self.pages)?;
        }
        Ok(strayed)
    }

    /// The machine of a side; that of the moved original is last. Most comparisons do not need it.
    pub fn side(&mut self, side: usize) -> Result<&mut Machine<'l>, NativeError> {
        let fits = |machine: &Machine| self.pages.is_subset(machine.pages());
        let machine = match self.machines[side].take() {
            Some(machine) if fits(&machine) => machine,
            other => {
                let mut pages = self.pages.clone();
                if self.keep == Keep::ForOthers {
                    pages.extend(&self.linkage.usual);
                    let known = other.as_ref().map(Machine::pages).filter(|known| known.len() < MOST_PAGES);
                    pages.extend(known.into_iter().flatten());
                }
                if let Some(small) = other {
                    small.end();
                }
                let role = if side == 1 { Role::Candidate } else { Role::Original };
                Machine::new(role, self.linkage.side(side), pages)?
            }
        };
        Ok(self.machines[side].insert(machine))
    }

    fn end(&mut self) {
        self.machines.iter_mut().filter_map(Option::take).for_each(Machine::end);
    }
}
