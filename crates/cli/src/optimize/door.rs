//! How a version is proved, timed and put under a condition: with what `check` uses.

use crate::check::{find_facts, outcome, patience, unknown};
use crate::objects::assume::AssumeArguments;
use crate::objects::conditional::ConditionalArguments;
use crate::objects::input::unsupported;
use crate::objects::native;
use crate::pool::{self, Finished, Settings};
use crate::status::Failure;
use kernel::{Certificate, CheckedProof, Precondition};
use optimize::prove::{Infers, Question};
use pair::{File, Files, Prepared};
use program::Undefined;
use search::{Options, Outcome, Reason, ReasonKind, Session};
use solver::{Solver, SolverOptions};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a certificate may cost when the written file is checked.
const MOST_PROPAGATIONS: u64 = 2_000_000_000;

/// Both files and the functions in them.
fn read(question: &Question<'_>) -> Result<(Arc<Files>, [usize; 2]), String> {
    let read = |path: &Path| File::read(path).map_err(|error| error.to_string());
    let files = Files::new(read(question.original)?, read(question.candidate)?, Undefined::default());
    let find = |file: &File| file.find(question.function).ok_or(format!("no function `{}`", question.function));
    let both = [find(files.original())?, find(files.candidate())?];
    Ok((Arc::new(files), both))
}

/// Does one thing as a job: with a large stack, and with an end.
pub fn alone<T: Send + 'static>(
    patience: Duration,
    work: impl Fn() -> T + Send + Sync + 'static,
) -> (Option<Finished<T>>, Duration) {
    let settings = Settings { workers: NonZeroUsize::MIN, patience };
    match pool::run_in_order(1, settings, move |_| work(), |_| {}).pop() {
        Some(timed) => (Some(timed.finished), timed.time),
        None => (None, Duration::ZERO),
    }
}

/// Answers whether two files do the same.
pub fn ask(question: &Question<'_>) -> Outcome {
    let internal = |what: String| unknown(Reason::new(ReasonKind::Internal, what));
    let (files, both) = match read(question) {
        Ok(read) => read,
        Err(what) => return internal(what),
    };
    let facts = find_facts(&files, vec![both]);
    let session = Session::new(Options {
        timeout: question.limit,
        seed: question.seed,
        solvers: vec!["z3".to_string()],
        tests: question.tests.to_vec(),
        ..Options::default()
    });
    let precondition = question.precondition.cloned();
    let objects = native::Objects::link(&files);
    // A proof is tried against the CPU, as `check` does it.
    let around = Arc::clone(&files);
    let tried = move |mut outcome: Outcome| {
        if let Some(trial) = objects.try_proof(&around, both, &mut outcome) {
            trial.finish(&mut outcome);
        }
        outcome
    };
    let infers = question.infers == Infers::Condition;
    let work = move || {
        if infers {
            let conditional = ConditionalArguments { conditional: true, fp_axioms: false };
            let assumed = precondition.clone().unwrap_or_default();
            return tried(conditional.infer(&session, &files, &facts, both, &assumed));
        }
        let Prepared { mut arena, pair } = match files.prepare(both, &facts) {
            Ok(prepared) => prepared,
            Err(error) => return unknown(unsupported(error)),
        };
        let pair = match &precondition {
            Some(precondition) => pair.under(precondition.clone()),
            None => pair,
        };
        for axiom in pair.precondition().axioms() {
            arena.allow(*axiom);
        }
        tried(session.check_pair(&mut arena, &pair))
    };
    match alone(patience(question.limit), work) {
        (Some(finished), time) => outcome(finished, time),
        (None, _) => internal("no thread".to_string()),
    }
}

/// Checks a certificate against two files.
pub fn recheck(question: &Question<'_>, certificate: &Certificate) -> Result<CheckedProof, String> {
    let (files, both) = read(question)?;
    let (precondition, certificate) = (question.precondition.cloned(), certificate.clone());
    let work = move || {
        let facts = files.prove_stated(&certificate.lemmas).map_err(|_| "a lemma does not hold".to_string())?;
        let prepared = files.prepare(both, &facts).map_err(|error| unsupported(error).to_string())?;
        let Prepared { mut arena, mut pair } = prepared;
        if let Some(precondition) = &precondition {
            pair = pair.under(precondition.clone());
        }
        for axiom in pair.precondition().axioms() {
            arena.allow(*axiom);
        }
        let mut solver = Solver::new(SolverOptions { total: MOST_PROPAGATIONS, ..SolverOptions::default() });
        kernel::check(&mut arena, &pair, &certificate, &mut solver).map_err(|rejection| format!("{rejection:?}"))
    };
    match alone(pool::NO_LIMIT, work).0 {
        Some(Finished::Done(result)) => result,
        Some(Finished::Panicked(message)) => Err(message),
        _ => Err("no thread".to_string()),
    }
}

/// What `--assume` says about a function of this file.
pub fn condition(assume: &AssumeArguments, path: &Path, function: &str) -> Result<Option<Precondition>, String> {
    if assume.is_empty() {
        return Ok(None);
    }
    let read = |path: &Path| File::read(path).map_err(|error| error.to_string());
    let files = Files::new(read(path)?, read(path)?, Undefined::default());
    let index = files.original().find(function).ok_or(format!("no function `{function}`"))?;
    assume.about(&files, [index, index]).map(|assumed| Some(assumed.precondition)).map_err(|Failure(what)| what)
}
