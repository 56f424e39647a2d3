//! A pair of functions, linked, and the comparison of their runs.

use crate::compare::{self, Compared};
use crate::input::Input;
use crate::link::{CannotLink, Linked};
use crate::map;
use crate::places::{Places, Region, parse};
use crate::run::{Begin, End, Run};
use crate::same::Sides;
use crate::seed::{Garbage, Seed};
use crate::shape::Shape;
use crate::worker::{Machines, Workers};
use crate::world::Filling;
use native::{Limits, NativeError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Two objects, linked for running.
#[derive(Debug)]
pub struct Objects {
    linkage: Arc<Linkage>,
    workers: Mutex<Workers>,
}

/// Both objects at their addresses.
#[derive(Debug)]
pub(crate) struct Linkage {
    linked: [Linked; 2],
    /// The original at other addresses.
    moved: Linked,
    /// Pages that inputs mostly have, by number.
    pub usual: BTreeSet<u64>,
}

/// A function of each of two objects.
#[derive(Clone, Debug)]
pub struct Pair {
    objects: Arc<Objects>,
    /// First instructions, that of the moved original last.
    entries: [u64; 3],
}

/// What to run.
pub(crate) struct Task {
    pub entries: [u64; 3],
    pub inputs: Vec<Input>,
    pub shape: Shape,
    pub limits: Limits,
}

/// A difference between the two programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Which input shows it.
    pub input: usize,
    /// What differs.
    pub what: String,
    /// The original's.
    pub original: String,
    /// The candidate's.
    pub candidate: String,
    /// Undefined functions that the two runs called.
    pub called: BTreeSet<String>,
}

/// What runs have shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Inputs on which both sides were run and compared.
    pub ran: usize,
    /// Inputs on which the original faulted, did not end or contradicts itself: they say nothing.
    pub undefined: usize,
    /// What the first of these did, in words.
    pub misbehaviour: Option<String>,
    /// Inputs of which it cannot be told whether the sides agree.
    pub doubtful: usize,
    /// The first doubt, in words.
    pub doubt: Option<String>,
    /// The first difference.
    pub difference: Option<Difference>,
    /// Why the rest was not run, in words.
    pub not_run: Option<String>,
    /// Time by the clock for all of it.
    pub time: Duration,
}

/// Runs that are under way.
#[derive(Debug)]
pub struct Pending {
    report: Receiver<Report>,
    /// The threads live as long.
    _objects: Arc<Objects>,
}

impl Pending {
    /// What they have shown.
    pub fn wait(self) -> Report {
        let cannot = || Report { not_run: Some("cannot run native code: no thread".to_string()), ..Report::default() };
        self.report.recv().unwrap_or_else(|_| cannot())
    }
}

/// What was run so far and agreed.
#[derive(Default)]
struct Effort {
    /// Runs by the number of their path.
    paths: BTreeMap<u64, usize>,
    /// Times that they stopped: at calls and at their ends.
    stops: usize,
    ran: usize,
}

/// Runs of one path that are enough.
const MOST_OF_PATH: usize = 5;
/// Stops of one side that are enough, after so many runs.
const MOST_STOPS: usize = 48;
const FEW_RUNS: usize = 5;

impl Effort {
    fn add(&mut self, input: &Input, run: &Run) {
        *self.paths.entry(input.path).or_default() += 1;
        self.stops += 1 + run.calls.len();
        self.ran += 1;
    }

    /// Were enough inputs run that go the same way?
    fn knows(&self, input: &Input) -> bool {
        self.paths.get(&input.path).is_some_and(|ran| *ran >= MOST_OF_PATH)
    }

    /// Was one run that goes the same way?
    fn has_seen(&self, input: &Input) -> bool {
        self.paths.contains_key(&input.path)
    }

    fn is_enough(&self) -> bool {
        self.ran >= FEW_RUNS && self.stops >= MOST_STOPS
    }
}

/// Where the moved original's sections lie.
const SLIDE: u64 = 0x0310_0000;

/// Its stack lies elsewhere, too.
const STACK_SLIDE: u64 = 0x1350;

impl Objects {
    /// Links two relocatable objects.
    pub fn link(objects: [&[u8]; 2]) -> Result<Objects, CannotLink> {
        Objects::for_inputs(objects, BTreeSet::new())
    }

    /// The same, for inputs that mostly have these pages, by number: then sandboxes need not be started anew.
    pub fn for_inputs(objects: [&[u8]; 2], usual: BTreeSet<u64>) -> Result<Objects, CannotLink> {
        let files = [parse(objects[0])?, parse(objects[1])?];
        let places = Places::new(&[&files[0], &files[1]], Region::whole(0))?;
        let elsewhere = Places::new(&[&files[0], &files[1]], Region::whole(SLIDE))?;
        let linked = [Linked::new(&files[0], &places)?, Linked::new(&files[1], &places)?];
        let moved = Linked::new(&files[0], &elsewhere)?;
        Ok(Objects { linkage: Arc::new(Linkage { linked, moved, usual }), workers: Mutex::default() })
    }

    /// A pair of their functions.
    pub fn pair(self: &Arc<Objects>, functions: [&str; 2]) -> Result<Pair, CannotLink> {
        let Linkage { linked: [original, candidate], moved, .. } = &*self.linkage;
        let entries =
            [original.function(functions[0])?, candidate.function(functions[1])?, moved.function(functions[0])?];
        Ok(Pair { objects: Arc::clone(self), entries })
    }
}

impl Linkage {
    /// The object of a side; the moved original is last.
    pub fn side(&self, side: usize) -> &Linked {
        self.linked.get(side).unwrap_or(&self.moved)
    }
}

impl Pair {
    /// Links two relocatable objects for a function of each.
    pub fn link(objects: [&[u8]; 2], functions: [&str; 2]) -> Result<Pair, CannotLink> {
        Arc::new(Objects::link(objects)?).pair(functions)
    }

    /// Names of the functions that neither object need define: those that stubs stand for.
    pub fn callees(&self) -> Vec<String> {
        let linked = self.objects.linkage.side(0);
        linked.stubs.values().chain(linked.externs.values()).cloned().collect()
    }

    /// Runs both sides on these inputs, up to the first difference.
    pub fn compare(&self, inputs: Vec<Input>, shape: Shape, limits: Limits) -> Report {
        self.submit(inputs, shape, limits).wait()
    }

    /// The same, on another thread.
    pub fn submit(&self, inputs: Vec<Input>, shape: Shape, limits: Limits) -> Pending {
        let task = Task { entries: self.entries, inputs, shape, limits };
        let mut workers = self.objects.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let report = workers.submit(&self.objects.linkage, task);
        Pending { report, _objects: Arc::clone(&self.objects) }
    }
}

impl Task {
    /// Runs both sides up to the first difference.
    pub fn compare(&self, linkage: &Linkage, machines: &mut Machines) -> Result<Report, NativeError> {
        let Task { shape, limits, .. } = self;
        let sides = Sides { linked: [linkage.side(0), linkage.side(1)] };
        let with_itself = Sides { linked: [linkage.side(0), linkage.side(2)] };
        let mut report = Report::default();
        let mut effort = Effort::default();
        // Starting sandboxes costs more than many runs, so inputs that the present ones have memory for come first.
        let (here, elsewhere): (Vec<usize>, Vec<usize>) =
            (0..self.inputs.len()).partition(|i| machines.have(&self.inputs[*i]));
        for (i, input) in here.into_iter().chain(elsewhere).map(|i| (i, &self.inputs[i])) {
            if effort.is_enough() {
                break;
            }
            if !machines.have(input) {
                if effort.has_seen(input) {
                    continue;
                }
                machines.extend(&self.inputs)?;
            }
            if effort.knows(input) {
                continue;
            }
            let garbage = Garbage::Random(Seed(input.seed).of(0x6a4ba6e));
            let filling = Filling::new(linkage.side(0), input, garbage);
            let begin =
                |side: usize| Begin { entry: self.entries[side], rsp: map::STACK_TOP, garbage, filling: &filling };
            let ours = machines.side(0)?.run(begin(0), input, shape, *limits)?;
            if let Some(why) = misbehaviour(&ours) {
                report.undefined += 1;
                report.misbehaviour.get_or_insert(why);
                continue;
            }
            let theirs = match machines.side(1)?.run(begin(1), input, shape, *limits) {
                Ok(run) => run,
                Err(NativeError::Killed) => {
                    // The original made no system call.
                    let values = ["runs to its end", "makes a system call"].map(str::to_string);
                    report.difference = Some(difference_of(i, "how it ends".to_string(), values, &[&ours]));
                    return Ok(report);
                }
                Err(error) => return Err(error),
            };
            let (what, values) = match compare::runs(&sides, [&ours, &theirs], shape) {
                Compared::Same => {
                    report.ran += 1;
                    effort.add(input, &ours);
                    continue;
                }
                Compared::Doubt(why) => {
                    report.doubtful += 1;
                    report.doubt.get_or_insert(why);
                    continue;
                }
                Compared::Different(what, values) => (what, values),
            };
            // Does the original leave open what it does here?
            let mut open = false;
            for garbage in [garbage.of(1), Garbage::Constant(0), Garbage::Constant(u64::MAX), Garbage::Constant(1)] {
                let filling = &Filling::new(linkage.side(2), input, garbage);
                let rsp = map::STACK_TOP - STACK_SLIDE;
                let begin = Begin { entry: self.entries[2], rsp, garbage, filling };
                let again = machines.side(2)?.run(begin, input, shape, *limits)?;
                open |= compare::runs(&with_itself, [&ours, &again], shape) != Compared::Same;
            }
            if open {
                report.undefined += 1;
                report.misbehaviour.get_or_insert_with(|| format!("it leaves open: {what}"));
                continue;
            }
            report.ran += 1;
            report.difference = Some(difference_of(i, what, values, &[&ours, &theirs]));
            return Ok(report);
        }
        Ok(report)
    }
}

fn difference_of(input: usize, what: String, [original, candidate]: [String; 2], runs: &[&Run]) -> Difference {
    let calls = runs.iter().flat_map(|run| &run.calls);
    Difference { input, what, original, candidate, called: calls.filter_map(|call| call.callee.clone()).collect() }
}

/// What a run of the original did that it may not, in words.
fn misbehaviour(run: &Run) -> Option<String> {
    match &run.end {
        End::NoReturn => None,
        End::Return => run.spoiled().map(|_| "it does not keep its caller's registers".to_string()),
        End::Fault(what) => Some(format!("fault: {what}")),
        End::OutOfTime => Some("it runs out of time".to_string()),
        End::Impossible(what) => Some(what.clone()),
    }
}
