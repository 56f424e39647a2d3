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
use kernel::{Entailment, Expression, Pair, Precondition};
use pair::{Files, Prepared};
use report::AssumedPart;
use solver::{Solver, SolverOptions};
use term::Arena;

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
    /// Its parts, as they are shown.
    pub parts: Vec<AssumedPart>,
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
        self.about(files, [*original, *candidate]).map(Some)
    }

    /// The condition about a pair.
    pub fn about(&self, files: &Files, both: [usize; 2]) -> Result<Assumed, Failure> {
        let name = files.original().name(both[0]).to_string();
        let failed = |what: &dyn std::fmt::Display| Failure(format!("--assume, {name}: {what}"));
        let Prepared { mut arena, pair } =
            files.prepare(both, &Facts::default()).map_err(|error| failed(&unsupported(error).to_string()))?;
        let interface = Interface::new(pair.original(), &arena);
        let texts: Vec<&str> = self.assume.iter().map(String::as_str).collect();
        let Parsed { conjuncts, axioms } =
            condition::parse_all(&texts, &interface).map_err(|(i, error)| failed(&error.show(texts[i])))?;
        let precondition =
            Precondition::new(conjuncts, axioms, pair.original(), &arena).map_err(|what| failed(&what))?;
        let parts = parts(&precondition, &interface);
        for AssumedPart { text, expression, .. } in parts.iter().take(MOST_ECHOED) {
            complain(&format!("note: {name}: assumed: {text}   that is {expression}"));
        }
        if parts.len() > MOST_ECHOED {
            complain(&format!("note: {name}: assumed: {} more parts", parts.len() - MOST_ECHOED));
        }
        match precondition.is_contradictory(&pair, &mut arena, &mut solver()) {
            Ok(Entailment::Holds) => Err(failed(&"the condition can never hold")),
            Ok(_) => Ok(Assumed { function: both[0], precondition, parts }),
            Err(what) => Err(failed(&what)),
        }
    }
}

/// Parts of a condition that are echoed.
const MOST_ECHOED: usize = 16;

/// The parts of a condition, in the source's words and as they are stated.
pub fn parts(precondition: &Precondition, interface: &Interface) -> Vec<AssumedPart> {
    let texts = condition::render_all(precondition.conjuncts(), interface);
    let one = |(conjunct, text): (&Expression, String)| AssumedPart {
        kind: condition::kind(conjunct),
        text,
        expression: conjunct.to_string(),
    };
    let axioms = precondition.axioms().iter().map(|axiom| AssumedPart {
        kind: "axiom",
        text: format!("fp({axiom})"),
        expression: axiom.to_string(),
    });
    precondition.conjuncts().iter().zip(texts).map(one).chain(axioms).collect()
}

/// Does a condition hold in no start state, as far as that can be shown? Nothing is said about one that cannot be expressed.
pub fn can_never_hold(precondition: &Precondition, pair: &Pair, arena: &mut Arena) -> bool {
    !precondition.conjuncts().is_empty()
        && matches!(precondition.is_contradictory(pair, arena, &mut solver()), Ok(Entailment::Holds))
}

/// Does a condition follow from what the user assumes?
pub fn follows(
    assumed: &Precondition,
    from: &Precondition,
    pair: &Pair,
    arena: &mut Arena,
) -> Result<Entailment, String> {
    assumed.implies(from, pair, arena, &mut solver())
}

fn solver() -> Solver {
    Solver::new(SolverOptions { total: MOST_PROPAGATIONS, ..SolverOptions::default() })
}

/// What the question whether a condition contradicts itself may cost.
const MOST_PROPAGATIONS: u64 = 200_000_000;
