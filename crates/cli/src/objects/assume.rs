//! `--assume`: the condition under which a user wants two functions to be compared.
//!
//! The texts are about one function of the original, in the words of its source. What they become is echoed, so that nobody
//! believes a proof about something else.

use crate::complain;
use crate::objects::input::unsupported;
use crate::pairing::Matched;
use crate::status::Failure;
use clap::Args;
use condition::{Interface, Parsed};
use kernel::lemma::Facts;
use kernel::{Entailment, Precondition};
use pair::{Files, Prepared};
use solver::{Solver, SolverOptions};

/// Conditions on start states, for every subcommand that compares functions.
#[derive(Args, Clone, Debug, Default)]
pub struct AssumeArguments {
    /// Compare only in start states that satisfy this condition, a C expression over the original's parameters and globals
    /// (docs/conditions.md); may be repeated
    #[arg(long = "assume", value_name = "EXPR", allow_hyphen_values = true)]
    pub assume: Vec<String>,
}

/// What a user assumes about a function.
#[derive(Clone, Debug)]
pub struct Assumed {
    /// The function.
    pub function: usize,
    /// The condition that was understood.
    pub precondition: Precondition,
}

impl AssumeArguments {
    /// Is nothing assumed?
    pub fn is_empty(&self) -> bool {
        self.assume.is_empty()
    }

    /// Reads the conditions about the one pair that is selected, and shows what they mean.
    pub fn read(&self, files: &Files, pairs: &[Matched]) -> Result<Option<Assumed>, Failure> {
        if self.is_empty() {
            return Ok(None);
        }
        let [Matched { original, candidate: Some(candidate), .. }] = pairs else {
            let what = "--assume is about one function: select it with --function";
            return Err(Failure(what.to_string()));
        };
        let precondition = self.about(files, [*original, *candidate])?;
        Ok(Some(Assumed { function: *original, precondition }))
    }

    /// The condition about a pair.
    pub fn about(&self, files: &Files, both: [usize; 2]) -> Result<Precondition, Failure> {
        let name = files.original().name(both[0]).to_string();
        let failed = |what: &dyn std::fmt::Display| Failure(format!("--assume, {name}: {what}"));
        let Prepared { mut arena, pair } =
            files.prepare(both, &Facts::default()).map_err(|error| failed(&unsupported(error).to_string()))?;
        let interface = Interface::new(pair.original(), &arena);
        let texts: Vec<&str> = self.assume.iter().map(String::as_str).collect();
        let Parsed { conjuncts, axioms } =
            condition::parse_all(&texts, &interface).map_err(|(i, error)| failed(&error.show(texts[i])))?;
        for conjunct in &conjuncts {
            complain(&format!("note: {name}: assumed: {}  {conjunct}", condition::render(conjunct, &interface)));
        }
        for axiom in &axioms {
            complain(&format!("note: {name}: assumed: fp({axiom})"));
        }
        let precondition =
            Precondition::new(conjuncts, axioms, pair.original(), &arena).map_err(|what| failed(&what))?;
        let mut solver = Solver::new(SolverOptions { total: MOST_PROPAGATIONS, ..SolverOptions::default() });
        match precondition.is_contradictory(&pair, &mut arena, &mut solver) {
            Ok(Entailment::Holds) => Err(failed(&"the condition can never hold")),
            Ok(_) => Ok(precondition),
            Err(what) => Err(failed(&what)),
        }
    }
}

/// What the question whether a condition contradicts itself may cost.
const MOST_PROPAGATIONS: u64 = 200_000_000;
