//! A pair of functions, linked, and the comparison of their runs.

use crate::compare::{self, Compared};
use crate::input::Input;
use crate::link::{CannotLink, Linked};
use crate::places::{Places, parse};
use crate::run::{End, Machine, Run};
use crate::same::Sides;
use crate::seed::{Garbage, Seed};
use crate::shape::Shape;
use native::{Limits, NativeError};
use std::sync::Arc;

/// Two objects, linked for running.
#[derive(Debug)]
pub struct Objects {
    linked: [Linked; 2],
    /// The original at other addresses.
    moved: Linked,
}

/// A function of each of two objects.
#[derive(Clone, Debug)]
pub struct Pair {
    objects: Arc<Objects>,
    /// First instructions, that of the moved original last.
    entries: [u64; 3],
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
}

/// What runs have shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Inputs on which both sides were run and compared.
    pub ran: usize,
    /// Inputs on which the original faulted, did not end or contradicts itself: they say nothing.
    pub undefined: usize,
    /// Inputs of which it cannot be told whether the sides agree.
    pub doubtful: usize,
    /// The first doubt, in words.
    pub doubt: Option<String>,
    /// The first difference.
    pub difference: Option<Difference>,
    /// Why the rest was not run, in words.
    pub not_run: Option<String>,
}

/// Where the moved original's sections lie.
const SLIDE: u64 = 0x0310_0000;

impl Objects {
    /// Links two relocatable objects.
    pub fn link(objects: [&[u8]; 2]) -> Result<Objects, CannotLink> {
        let files = [parse(objects[0])?, parse(objects[1])?];
        let places = Places::new([&files[0], &files[1]], 0)?;
        let elsewhere = Places::new([&files[0], &files[1]], SLIDE)?;
        let linked = [Linked::new(&files[0], &places)?, Linked::new(&files[1], &places)?];
        Ok(Objects { linked, moved: Linked::new(&files[0], &elsewhere)? })
    }

    /// A pair of their functions.
    pub fn pair(self: &Arc<Objects>, functions: [&str; 2]) -> Result<Pair, CannotLink> {
        let [original, candidate] = &self.linked;
        let entries =
            [original.function(functions[0])?, candidate.function(functions[1])?, self.moved.function(functions[0])?];
        Ok(Pair { objects: Arc::clone(self), entries })
    }
}

impl Pair {
    /// Links two relocatable objects for a function of each.
    pub fn link(objects: [&[u8]; 2], functions: [&str; 2]) -> Result<Pair, CannotLink> {
        Arc::new(Objects::link(objects)?).pair(functions)
    }

    /// Names of the functions that neither object need define: those that stubs stand for.
    pub fn callees(&self) -> Vec<String> {
        let linked = &self.objects.linked[0];
        linked.stubs.values().chain(linked.externs.values()).cloned().collect()
    }

    /// Address and size of a symbol of either side, if it lies at the same place in both.
    pub fn object(&self, name: &str) -> Option<(u64, u64)> {
        let find = |side: usize| self.objects.linked[side].names.all().iter().find(|n| n.name == name);
        let (a, b) = (find(0)?, find(1)?);
        (a.start == b.start).then_some((a.start, a.size.min(b.size)))
    }

    /// Runs both sides on these inputs, up to the first difference.
    pub fn compare(&self, inputs: &[Input], shape: &Shape, limits: Limits) -> Report {
        let mut report = Report::default();
        if let Err(error) = self.compare_all(inputs, shape, limits, &mut report) {
            report.not_run = Some(error.to_string());
        }
        report
    }

    fn compare_all(
        &self,
        inputs: &[Input],
        shape: &Shape,
        limits: Limits,
        report: &mut Report,
    ) -> Result<(), NativeError> {
        if inputs.is_empty() {
            return Ok(());
        }
        let mut original = Machine::new((&self.objects.linked[0], self.entries[0]), inputs)?;
        let mut candidate = Machine::new((&self.objects.linked[1], self.entries[1]), inputs)?;
        let mut moved: Option<Machine> = None;
        let sides = Sides { linked: [&self.objects.linked[0], &self.objects.linked[1]] };
        let with_itself = Sides { linked: [&self.objects.linked[0], &self.objects.moved] };
        for (i, input) in inputs.iter().enumerate() {
            let garbage = Garbage::Random(Seed(input.seed).of(0x6a4ba6e));
            let ours = original.run(input, garbage, shape, limits)?;
            if !is_defined(&ours) {
                report.undefined += 1;
                continue;
            }
            let theirs = match candidate.run(input, garbage, shape, limits) {
                Ok(run) => run,
                Err(NativeError::Killed) => {
                    // The original made no system call.
                    let difference = ["runs to its end", "makes a system call"].map(str::to_string);
                    report.difference = Some(difference_of(i, "how it ends".to_string(), difference));
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let compared = compare::runs(&sides, [&ours, &theirs], shape);
            let (what, values) = match compared {
                Compared::Same => {
                    report.ran += 1;
                    continue;
                }
                Compared::Doubt(why) => {
                    report.doubtful += 1;
                    report.doubt.get_or_insert(why);
                    continue;
                }
                Compared::Different(what, values) => (what, values),
            };
            let elsewhere = match &mut moved {
                Some(machine) => machine,
                None => moved.insert(Machine::new((&self.objects.moved, self.entries[2]), inputs)?),
            };
            // Does the original leave open what it does here?
            let mut open = false;
            for other in [garbage.of(1), Garbage::Constant(0), Garbage::Constant(u64::MAX), Garbage::Constant(1)] {
                let again = elsewhere.run(input, other, shape, limits)?;
                open |= compare::runs(&with_itself, [&ours, &again], shape) != Compared::Same;
            }
            if open {
                report.undefined += 1;
                continue;
            }
            report.ran += 1;
            report.difference = Some(difference_of(i, what, values));
            return Ok(());
        }
        Ok(())
    }
}

fn difference_of(input: usize, what: String, [original, candidate]: [String; 2]) -> Difference {
    Difference { input, what, original, candidate }
}

/// Did the run of the original do something that it may?
fn is_defined(run: &Run) -> bool {
    matches!(run.end, End::Return | End::NoReturn) && (run.end == End::NoReturn || run.spoiled().is_none())
}
