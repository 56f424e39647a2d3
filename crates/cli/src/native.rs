//! A proof against the CPU: both objects run on the inputs that the search knows to be defined.
//!
//! Trust: none. A disagreement takes the proof away: either the proof or the run is wrong, and both are bugs.

use graph::{Assumption, Place, Register};
use oracle::{Alias, Input, Limits, Script, Shape};
use pair::Files;
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
        let linked = oracle::Objects::link([files.original(), files.candidate()].map(|file| file.image().file()));
        Objects { linked: linked.map(Arc::new).map_err(|error| error.to_string()) }
    }

    /// Runs the samples of a proof. A disagreement becomes the verdict.
    pub fn try_proof(&self, files: &Files, functions: [usize; 2], outcome: &mut Outcome) {
        let samples = std::mem::take(&mut outcome.native.samples);
        if !matches!(outcome.verdict, Verdict::Equivalent(_)) {
            return;
        }
        let unmet = unmet(&outcome.verdict);
        match self.run(files, functions, &samples) {
            Ok(report) => {
                tracing::debug!(?report, "native runs");
                outcome.native.inputs = report.ran;
                let doubt = report.doubt.map(|doubt| format!("doubtful: {doubt}"));
                let none = || "no input on which the original's run is defined".to_string();
                let reason = report.not_run.or(doubt).unwrap_or_else(none);
                outcome.native.reason = (report.ran == 0).then_some(reason);
                if let Some(assumption) = report.difference.as_ref().and(unmet) {
                    outcome.native.reason = Some(format!("doubtful: the runs do not meet {assumption}"));
                } else if let Some(difference) = report.difference {
                    let detail = format!(
                        "the kernel accepted a proof, but run natively the programs differ in {}: {} in the original, {} in the \
                         candidate; this is a bug in lockstep, please report it",
                        difference.what, difference.original, difference.candidate
                    );
                    outcome.verdict = Verdict::Unknown(Reason::new(ReasonKind::Internal, detail));
                    outcome.certificate = None;
                }
            }
            Err(reason) => outcome.native.reason = Some(reason),
        }
    }

    fn run(&self, files: &Files, functions: [usize; 2], samples: &[Sample]) -> Result<oracle::Report, String> {
        let linked = self.linked.as_ref().map_err(Clone::clone)?;
        if samples.is_empty() {
            return Err("no input on which the original's run is defined".to_string());
        }
        let programs = [files.original(), files.candidate()];
        let names = [0, 1].map(|i| programs[i].name(functions[i]));
        let pair = linked.pair(names).map_err(|error| error.to_string())?;
        let images = programs.map(pair::File::image);
        let shape = Shape::of(images, names[0], &pair.callees());
        let inputs: Vec<Input> = samples.iter().filter_map(input).collect();
        Ok(pair.compare(&inputs, &shape, LIMITS))
    }
}

/// An assumption of a proof that the runs do not meet: stubs are not the library's functions, statics begin with any bytes, whatever
/// the program stores there, and results of stubs lie anywhere in local objects. A difference says nothing then.
fn unmet(verdict: &Verdict) -> Option<String> {
    let Verdict::Equivalent(proof) = verdict else { return None };
    let unmet = |a: &&Assumption| {
        matches!(
            a,
            Assumption::Library(_)
                | Assumption::StoredValues(_)
                | Assumption::TruthValues
                | Assumption::ConstantStatic(_)
                | Assumption::LocalAddressOpaque
        )
    };
    proof.assumptions().iter().find(unmet).map(ToString::to_string)
}

/// A sample as the oracle takes it; `None` if it has something that no register holds.
fn input(sample: &Sample) -> Option<Input> {
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
            Place::Register(register) => {
                let position = Register::ARGUMENTS.iter().position(|r| r == register)?;
                input.general[position] = value.low();
            }
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
    // A local name that repeats has its file before it.
    let plain = |name: &str| name.rsplit(':').next().and_then(|n| n.split('#').next()).unwrap_or(name).to_string();
    input.memory.clone_from(&sample.memory);
    input.objects = sample.objects.iter().map(|(name, at, bytes)| (plain(name), *at, bytes.clone())).collect();
    let alias = |(start, size, name): &(u64, u64, String)| Alias { start: *start, size: *size, name: plain(name) };
    input.aliases = sample.names.iter().map(alias).collect();
    let script = |(callee, result): &(String, u64)| Script { callee: callee.clone(), result: *result };
    input.script = sample.results.iter().map(script).collect();
    Some(input)
}
