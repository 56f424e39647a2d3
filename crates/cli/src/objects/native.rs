//! A proof against the CPU: both objects run on the inputs that the search knows to be defined.
//!
//! Trust: none. A disagreement takes the proof away: either the proof or the run is wrong, and both are bugs.

use oracle::{Alias, Difference, Input, Limits, Pending, Script, Shape};
use pair::Files;
use program::{Assumption, Place, Register};
use search::{Outcome, Reason, ReasonKind, Sample, Verdict};
use std::sync::Arc;
use std::time::Duration;

/// Both files, linked, or why they cannot be.
pub struct Objects {
    linked: Result<Arc<oracle::Objects>, String>,
}

/// Most of the time that one run may take. The interpreter has seen each end within a few hundred thousand points.
const LIMITS: Limits = Limits { processor: Duration::from_millis(100), clock: Duration::from_secs(2) };

impl Objects {
    /// Links both files.
    pub fn link(files: &Files) -> Objects {
        let objects = [files.original(), files.candidate()].map(|file| file.image().file());
        let linked = oracle::Objects::for_inputs(objects, search::usual_pages());
        Objects { linked: linked.map(Arc::new).map_err(|error| error.to_string()) }
    }

    /// Begins to run the samples of a proof.
    pub fn try_proof(&self, files: &Files, functions: [usize; 2], outcome: &mut Outcome) -> Option<Trial> {
        let samples = std::mem::take(&mut outcome.native.samples);
        let Verdict::Equivalent(proof) = &outcome.verdict else { return None };
        if samples.is_empty() && !proof.precondition().axioms().is_empty() {
            let reason = "the proof rests on axioms that floating-point numbers do not obey";
            outcome.native.reason = Some(reason.to_string());
            return None;
        }
        let started = self.start(files, functions, &samples);
        started.map_err(|reason| outcome.native.reason = Some(reason)).ok()
    }

    fn start(&self, files: &Files, functions: [usize; 2], samples: &[Sample]) -> Result<Trial, String> {
        let linked = self.linked.as_ref().map_err(Clone::clone)?;
        if samples.is_empty() {
            return Err("no input on which the original's run is defined".to_string());
        }
        let programs = [files.original(), files.candidate()];
        let names = [0, 1].map(|i| programs[i].name(functions[i]));
        let pair = linked.pair(names).map_err(|error| error.to_string())?;
        let images = programs.map(pair::File::image);
        let mut shape = Shape::of(images, names[0], &pair.callees());
        if let (Some(own), true) = (&mut shape.own, samples.iter().any(|sample| sample.unread)) {
            own.results.clear();
        }
        let inputs: Vec<Input> = samples.iter().filter_map(input).collect();
        Ok(Trial { pending: pair.submit(inputs, shape, LIMITS) })
    }
}

/// Runs of a proof that are under way.
pub struct Trial {
    pending: Pending,
}

impl Trial {
    /// Waits for the runs; how long they took. A disagreement becomes the verdict.
    pub fn finish(self, outcome: &mut Outcome) -> Duration {
        let report = self.pending.wait();
        tracing::debug!(?report, "native runs");
        outcome.native.inputs = report.ran;
        let doubt = report.doubt.map(|doubt| format!("doubtful: {doubt}"));
        let open = report.misbehaviour.map_or(String::new(), |what| format!(": {what}"));
        let none = || format!("the original's native run is defined on no input{open}");
        let reason = report.not_run.or(doubt).unwrap_or_else(none);
        outcome.native.reason = (report.ran == 0).then_some(reason);
        let Some(difference) = report.difference else { return report.time };
        let assumptions = match &outcome.verdict {
            Verdict::Equivalent(proof) => proof.assumptions(),
            _ => &[],
        };
        if let Some(assumption) = unmet(assumptions, &difference) {
            outcome.native.reason = Some(format!("doubtful: the runs do not meet {assumption}"));
            return report.time;
        }
        let detail = format!(
            "the kernel accepted a proof, but run natively the programs differ in {}: {} in the original, {} in the \
             candidate; this is a bug in lockstep, please report it",
            difference.what, difference.original, difference.candidate
        );
        outcome.verdict = Verdict::Unknown(Reason::new(ReasonKind::Internal, detail));
        outcome.certificate = None;
        report.time
    }
}

/// An assumption of a proof that the runs with this difference do not meet, so that it says nothing. Samples meet the others: those about
/// statics, truth values and where locals lie, too.
fn unmet<'a>(assumptions: impl IntoIterator<Item = &'a Assumption>, difference: &Difference) -> Option<&'a Assumption> {
    let unmet = |a: &&Assumption| match a {
        // A stub is not the library's function.
        Assumption::Library(name) => difference.called.contains(name),
        // The sides may mean different values by the same bytes, or keep a truth value the other way round.
        Assumption::StoredValues(_) => true,
        _ => false,
    };
    assumptions.into_iter().find(unmet)
}

/// A name as the object has it: a local one that repeats has its file before it.
fn plain(name: &str) -> &str {
    name.rsplit(':').next().and_then(|n| n.split('#').next()).unwrap_or(name)
}

/// A sample as the oracle takes it; `None` if it has something that no register holds.
pub fn input(sample: &Sample) -> Option<Input> {
    let mut input = Input::new(sample.seed);
    for (i, word) in input.general.iter_mut().enumerate() {
        *word = oracle::Seed(sample.seed).number(0xa0 + i as u64);
    }
    for (place, value) in &sample.arguments {
        match place {
            Place::Register(Register::General(0)) => input.rax = value.low(),
            Place::Register(Register::Vector(i)) => {
                let vector = input.vectors.get_mut(usize::from(*i))?;
                for (to, from) in vector.iter_mut().zip(value.to_bytes()) {
                    *to = from;
                }
            }
            Place::Register(register) => input.general[position(register)?] = value.low(),
            Place::Stack(offset) => {
                for (i, byte) in value.to_bytes().into_iter().enumerate() {
                    let at = *offset as usize + i;
                    if input.stack.len() <= at / 8 {
                        input.stack.resize(at / 8 + 1, 0);
                    }
                    let word = &mut input.stack[at / 8];
                    *word = *word & !(0xff << (8 * (at % 8))) | u64::from(byte) << (8 * (at % 8));
                }
            }
        }
    }
    if let Some(convention) = &sample.convention {
        let mut general = input.general.map(|word| oracle::Seed(word).number(0xdead));
        for (register, value) in convention {
            match register {
                // These do not move.
                Register::Vector(_) => {}
                other => general[position(other)?] = value.low(),
            }
        }
        input.convention = Some(general);
    }
    input.path = sample.path;
    input.memory.clone_from(&sample.memory);
    input.objects =
        sample.objects.iter().map(|(name, at, bytes)| (plain(name).to_string(), *at, bytes.clone())).collect();
    let alias =
        |(start, size, name): &(u64, u64, String)| Alias { start: *start, size: *size, name: plain(name).to_string() };
    input.aliases = sample.names.iter().map(alias).collect();
    let script = |(callee, result): &(String, u64)| Script { callee: callee.clone(), result: *result };
    input.script = sample.results.iter().map(script).collect();
    Some(input)
}

/// Which of the argument registers it is.
fn position(register: &Register) -> Option<usize> {
    Register::ARGUMENTS.iter().position(|r| r == register)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a difference of runs that called these functions is excused, where both files have `same`.
    fn excused(assumption: Assumption, called: &[&str]) -> bool {
        let called = called.iter().map(|name| name.to_string()).collect();
        let [what, original, candidate] = ["result rax", "1", "2"].map(str::to_string);
        let difference = Difference { input: 0, what, original, candidate, called };
        unmet([&assumption], &difference).is_some()
    }

    #[test]
    fn a_difference_is_excused_only_if_its_runs_do_not_meet_an_assumption() {
        let library = || Assumption::Library("isatty".to_string());
        assert!(excused(library(), &["open", "isatty"]));
        assert!(!excused(library(), &[]));
        assert!(!excused(library(), &["open"]));
        assert!(excused(Assumption::StoredValues("a.c:flag".to_string()), &[]));
        for assumption in [
            Assumption::TruthValues,
            Assumption::LocalAddressOpaque,
            Assumption::ConstantStatic("other".to_string()),
            Assumption::Sequential,
        ] {
            assert!(!excused(assumption, &["isatty"]));
        }
    }
}
