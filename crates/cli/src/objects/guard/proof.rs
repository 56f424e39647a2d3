//! The proof that a guarded function is the original.
//!
//! The file is an ordinary candidate and is searched as such. Where that fails, a certificate is composed: of the proof under the condition,
//! and of one about a guarded function whose condition never holds, which runs the original's own code.

use super::output::draft;
use super::{Condition, facts as facts_of, find, pieces};
use crate::check::{patience, unknown};
use crate::objects::input::unsupported;
use crate::objects::native;
use crate::pool::{self, Finished};
use crate::status::Failure;
use ::guard::{Guarded, GuardedObject, Part, compose};
use kernel::lemma::Facts;
use kernel::{Certificate, Expression, Operator, Precondition};
use pair::{Files, Prepared};
use program::{Function, Undefined};
use search::{Native, Options, Outcome, Reason, ReasonKind, Session, StartState, Verdict};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a proof is wanted of.
#[derive(Clone)]
pub struct Attempt {
    /// The two files that were joined, and the functions in them.
    pub files: Arc<Files>,
    pub both: [usize; 2],
    pub condition: Arc<Condition>,
    pub object: Arc<GuardedObject>,
    /// Where the original is, and the guarded object.
    pub original: PathBuf,
    pub guarded: PathBuf,
    pub timeout: Duration,
    pub tests: Vec<StartState>,
    /// May code run?
    pub native: Native,
}

/// Searches a proof; a failure is about a file that cannot be read.
pub fn prove(attempt: Attempt) -> Result<Outcome, Failure> {
    let timeout = attempt.timeout;
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: patience(3 * timeout) };
    let work = move |_: usize| attempt.run();
    let finished = pool::run_in_order(1, settings, work, |_| {}).pop().map(|timed| timed.finished);
    match finished {
        Some(Finished::Done(outcome)) => outcome,
        Some(Finished::Panicked(message)) => Ok(unknown(Reason::new(ReasonKind::Internal, message))),
        Some(Finished::Overdue) | None => Ok(unknown(Reason::new(ReasonKind::Timeout, "gave up".to_string()))),
    }
}

impl Attempt {
    fn run(&self) -> Result<Outcome, Failure> {
        let (files, both) = self.with(&self.guarded)?;
        let facts = facts_of(&files, both);
        // With a proof under the condition at hand, to compose is cheaper than to search.
        let early = match &self.condition.certificate {
            Some(_) => self.composed(&files, both, &facts)?,
            None => None,
        };
        let mut outcome = match early {
            Some(outcome) => outcome,
            None => self.search(&files, both, &facts, None, self.timeout / 3),
        };
        if let (Verdict::Unknown(first), None) = (&outcome.verdict, &self.condition.certificate) {
            tracing::debug!(reason = %first, "no proof by a search");
            if let Some(composed) = self.composed(&files, both, &facts)? {
                outcome = composed;
            }
        }
        if self.native == Native::Allowed {
            let objects = native::Objects::link(&files);
            if let Some(trial) = objects.try_proof(&files, both, &mut outcome) {
                trial.finish(&mut outcome);
            }
        }
        Ok(outcome)
    }

    /// The original's file with another, and the function in both.
    fn with(&self, other: &Path) -> Result<(Arc<Files>, [usize; 2]), Failure> {
        let files = Files::new(
            crate::objects::input::read(&self.original)?,
            crate::objects::input::read(other)?,
            Undefined::Excused,
        );
        let name = self.files.original().name(self.both[0]);
        let both = [find(files.original(), name)?, find(files.candidate(), name)?];
        Ok((Arc::new(files), both))
    }

    fn session(&self, timeout: Duration) -> Session {
        Session::new(Options {
            timeout,
            native: self.native,
            tests: self.tests.clone(),
            solvers: vec!["z3".to_string()],
            ..Options::default()
        })
    }

    /// The ordinary search, perhaps under a condition.
    fn search(
        &self,
        files: &Files,
        both: [usize; 2],
        facts: &Facts,
        condition: Option<&Precondition>,
        timeout: Duration,
    ) -> Outcome {
        match files.prepare(both, facts) {
            Ok(Prepared { mut arena, pair }) => {
                let pair = match condition {
                    Some(condition) => pair.under(condition.clone()),
                    None => pair,
                };
                self.session(timeout).check_pair(&mut arena, &pair)
            }
            Err(error) => unknown(unsupported(error)),
        }
    }

    /// A proof by a composed certificate, if one can be composed.
    fn composed(&self, files: &Arc<Files>, both: [usize; 2], facts: &Facts) -> Result<Option<Outcome>, Failure> {
        let condition = &self.condition.precondition;
        let around = facts_of(&self.files, self.both);
        let conditional = match &self.condition.certificate {
            Some(certificate) => certificate.clone(),
            None => match self.search(&self.files, self.both, &around, Some(condition), self.timeout).certificate {
                Some(certificate) => certificate,
                None => return Ok(None),
            },
        };
        let Some((kept, refusing, start)) = self.refusing()? else { return Ok(None) };
        let Ok(Prepared { mut arena, pair }) = files.prepare(both, facts) else { return Ok(None) };
        let Some(candidate) = self.candidate_of(&self.files, self.both) else { return Ok(None) };
        let end = self.object.body_end - self.object.front;
        let first = Part { certificate: &conditional, function: &candidate, from: (0, end), to: self.object.front };
        let second =
            Part { certificate: &kept, function: &refusing, from: (start, u64::MAX), to: behind(&self.object) };
        let Some(certificate) = compose(pair.candidate(), [first, second]) else {
            tracing::debug!("the certificates do not go together");
            return Ok(None);
        };
        tracing::debug!(certificate = %certificate.to_json(), "composed");
        match self.session(self.timeout).check_certificate(&mut arena, &pair, certificate, "composed") {
            Ok(outcome) => Ok(Some(outcome)),
            Err(rejection) => {
                tracing::debug!(%rejection, "the composed certificate is rejected");
                Ok(None)
            }
        }
    }

    /// A proof about the guarded function whose condition never holds, that function, and where the original's code begins in it.
    fn refusing(&self) -> Result<Option<(Certificate, Function, u64)>, Failure> {
        let never = [Expression::Apply(Operator::False, Vec::new())];
        let symbols = pieces(&self.files, self.both);
        let guarded = Guarded {
            conjuncts: &never,
            axioms: &[],
            interface: &self.condition.interface,
            variadic: self.condition.variadic,
        };
        let Ok(object) = ::guard::build(&symbols.piece(0), &symbols.piece(1), &guarded) else { return Ok(None) };
        let draft = draft(&self.guarded, ".o", &object.bytes)?;
        let (files, both) = self.with(draft.path())?;
        let facts = facts_of(&files, both);
        let outcome = self.search(&files, both, &facts, None, self.timeout);
        let function = self.candidate_of(&files, both);
        Ok(outcome.certificate.zip(function).map(|(certificate, function)| (certificate, function, behind(&object))))
    }

    fn candidate_of(&self, files: &Files, both: [usize; 2]) -> Option<Function> {
        files.prepare(both, &Facts::default()).ok().map(|prepared| prepared.pair.candidate().clone())
    }
}

/// Where the original's code gets its addresses in the guarded function: behind it, as a function's pieces do.
fn behind(object: &GuardedObject) -> u64 {
    (object.size + 1).next_multiple_of(16)
}
