//! The only way to a [`Proved`]: a file on disk, and a proof that the kernel made about what was read from it.
//!
//! Trust: none of its own. It asks whoever holds the door to the kernel and keeps the answer; there is no other constructor.

use kernel::{Certificate, CheckedProof, Precondition};
use search::{Outcome, Reason, StartState, Verdict, Witness};
use std::path::Path;
use std::time::Duration;

/// A question: does the candidate's file do what the original's does?
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The file that says what is right.
    pub original: &'a Path,
    /// The file with the candidate.
    pub candidate: &'a Path,
    /// The function, in both.
    pub function: &'a str,
    /// What may be taken for granted of start states.
    pub precondition: Option<&'a Precondition>,
    /// Is a condition looked for under which it is so, if it is not so always?
    pub infers: Infers,
    /// Start states to be tried first.
    pub tests: &'a [StartState],
    /// Seed of others.
    pub seed: u64,
    /// How long it may take.
    pub limit: Duration,
}

/// Whether a condition is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Infers {
    /// Only what holds always is an answer.
    Nothing,
    /// A statement under a condition is one, too.
    Condition,
}

/// Who answers: reads both files, searches, and asks the kernel.
pub type Door<'a> = dyn Fn(&Question<'_>) -> Outcome + Sync + 'a;

/// Who checks a certificate against two files, with the kernel alone.
pub type Recheck<'a> = dyn Fn(&Question<'_>, &Certificate) -> Result<CheckedProof, String> + Sync + 'a;

/// A proof about a file.
#[derive(Debug)]
pub struct Proved {
    proof: CheckedProof,
    certificate: Certificate,
    inferred: Vec<String>,
}

/// What came of a question.
#[derive(Debug)]
pub enum Answer {
    /// A proof.
    Proved(Box<Proved>),
    /// An input on which they differ.
    Refuted(Box<Witness>),
    /// Neither, and why.
    Unknown(Reason),
}

impl Proved {
    /// Asks the door.
    pub fn ask(door: &Door<'_>, question: &Question<'_>) -> Answer {
        let Outcome { verdict, certificate, inferred, .. } = door(question);
        let texts = |inferred: search::Inferred| inferred.conjuncts.into_iter().map(|conjunct| conjunct.text).collect();
        let inferred: Vec<String> = inferred.map(texts).unwrap_or_default();
        match (verdict, certificate) {
            (Verdict::Equivalent(proof), Some(certificate)) => {
                Answer::Proved(Box::new(Proved { proof, certificate, inferred }))
            }
            (Verdict::Equivalent(_), None) => {
                Answer::Unknown(Reason::new(search::ReasonKind::Internal, "a proof without a certificate"))
            }
            (Verdict::Different(witness), _) => Answer::Refuted(witness),
            (Verdict::Unknown(reason), _) => Answer::Unknown(reason),
        }
    }

    /// The same statement about another file, by the same certificate.
    pub fn again(&self, recheck: &Recheck<'_>, question: &Question<'_>) -> Result<Proved, String> {
        let certificate = self.certificate.clone();
        let precondition = self.proof.precondition();
        let question = Question { precondition: Some(precondition), ..*question };
        Ok(Proved { proof: recheck(&question, &certificate)?, certificate, inferred: self.inferred.clone() })
    }

    /// What the kernel said.
    pub fn proof(&self) -> &CheckedProof {
        &self.proof
    }

    /// The condition that was inferred, as `--assume` takes it.
    pub fn inferred(&self) -> &[String] {
        &self.inferred
    }

    /// What it was shown.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }
}
