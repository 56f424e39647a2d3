//! The condition of a guard: what the user assumes, what a certificate states, or what can be inferred.

use super::{GuardArguments, facts, prepared, variadic};
use crate::check::patience;
use crate::objects::conditional::ConditionalArguments;
use crate::objects::start_states;
use crate::pool::{self, Finished};
use crate::status::Failure;
use ::guard::Variadic;
use condition::Interface;
use kernel::{Certificate, Precondition};
use pair::Files;
use search::{Native, Options, Outcome, Session, Verdict};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A condition and what it is about.
pub struct Condition {
    pub precondition: Precondition,
    pub interface: Interface,
    pub variadic: Variadic,
    /// The proof under it, if there is one.
    pub certificate: Option<Certificate>,
    /// Its parts in the source's words.
    pub texts: Vec<String>,
}

impl Condition {
    /// Reads it from where the arguments say.
    pub fn read(arguments: &GuardArguments, files: &Arc<Files>, both: [usize; 2]) -> Result<Condition, Failure> {
        let pair::Prepared { arena, pair } = prepared(files, both)?;
        let original = pair.original();
        let mut known = None;
        let precondition = match &arguments.certificate {
            Some(path) => {
                let failed = |what: &dyn std::fmt::Display| Failure(format!("{}: {what}", path.display()));
                let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
                let certificate = Certificate::from_json(&text).map_err(|error| failed(&error))?;
                if certificate.original_hash != original.hash {
                    return Err(failed(&format!("it is about another version of `{}`", original.name)));
                }
                let precondition = certificate.precondition(original, &arena).map_err(|error| failed(&error))?;
                known = Some(certificate);
                precondition
            }
            None if arguments.assume.is_empty() => {
                let (precondition, certificate) = inferred(arguments, files, both)?;
                known = Some(certificate);
                precondition
            }
            None => arguments.assume.about(files, both)?.precondition,
        };
        if precondition.is_true() {
            return Err(Failure("the condition holds always: there is nothing to check".to_string()));
        }
        let interface = Interface::new(original, &arena);
        let texts = condition::render_all(precondition.conjuncts(), &interface);
        Ok(Condition { variadic: variadic(original), precondition, interface, certificate: known, texts })
    }
}

/// The condition that `check --conditional` infers, and the certificate under it.
fn inferred(
    arguments: &GuardArguments,
    files: &Arc<Files>,
    both: [usize; 2],
) -> Result<(Precondition, Certificate), Failure> {
    let name = files.original().name(both[0]).to_string();
    let tests = match &arguments.tests {
        Some(path) => start_states::read(path)?,
        None => Vec::new(),
    };
    let session = Session::new(Options {
        timeout: arguments.timeout,
        native: if arguments.no_run { Native::Forbidden } else { Native::Allowed },
        solvers: vec!["z3".to_string()],
        tests,
        ..Options::default()
    });
    let shared = Arc::clone(files);
    let work = move |_: usize| {
        let facts = facts(&shared, both);
        let wanted = ConditionalArguments { conditional: true, fp_axioms: false };
        wanted.infer(&session, &shared, &facts, both, &Precondition::default())
    };
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: patience(3 * arguments.timeout) };
    let finished = pool::run_in_order(1, settings, work, |_| {}).pop().map(|timed| timed.finished);
    let why = match finished {
        Some(Finished::Done(Outcome {
            verdict: Verdict::Equivalent(proof), certificate: Some(certificate), ..
        })) => {
            return Ok((proof.precondition().clone(), certificate));
        }
        Some(Finished::Done(Outcome { verdict: Verdict::Unknown(reason), .. })) => reason.to_string(),
        Some(Finished::Done(_)) => "the two functions differ".to_string(),
        Some(Finished::Panicked(message)) => message,
        Some(Finished::Overdue) | None => "no time is left".to_string(),
    };
    Err(Failure(format!("{name}: no condition was found ({why}); say one with --assume EXPR or --certificate FILE")))
}
