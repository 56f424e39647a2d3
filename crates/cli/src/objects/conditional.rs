//! `--conditional`: under which condition two functions do the same, where they do not always.

use crate::check::unknown;
use crate::objects::input::unsupported;
use clap::Args;
use kernel::lemma::Facts;
use kernel::{Pair, Precondition};
use pair::{Files, Prepared};
use search::{FloatAxioms, Outcome, Question, Reason, ReasonKind, Session};
use term::Arena;

/// What may be inferred.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ConditionalArguments {
    /// Where two functions are not equivalent as they are, infer a condition on start states under which they are; exit status 4
    /// (docs/conditions.md)
    #[arg(long)]
    pub conditional: bool,
    /// With --conditional: the condition may name laws of real numbers that floating-point numbers do not obey
    #[arg(long, requires = "conditional")]
    pub fp_axioms: bool,
}

impl ConditionalArguments {
    /// Infers a condition for a pair of functions, beside what is assumed.
    pub fn infer(
        self,
        session: &Session,
        files: &Files,
        facts: &Facts,
        both: [usize; 2],
        assumed: &Precondition,
    ) -> Outcome {
        if let Err(error) = files.prepare(both, facts) {
            return unknown(unsupported(error));
        }
        let prepare = || -> Option<(Arena, Pair)> {
            let Prepared { arena, pair } = files.prepare(both, facts).ok()?;
            Some((arena, pair))
        };
        let axioms = if self.fp_axioms { FloatAxioms::Allowed } else { FloatAxioms::Forbidden };
        let question = Question { prepare: &prepare, assumed, axioms };
        let gone = || unknown(Reason::new(ReasonKind::Internal, "the pair cannot be prepared twice"));
        session.infer(&question).unwrap_or_else(gone)
    }
}
