//! A question answered in this process: clauses for a SAT solver, lemmas about functions where its models need them.
//!
//! SMT solvers spend most of their time on our questions by treating every pair of loads up front. Here a pair costs
//! nothing until a model confuses it. Limits are counts of conflicts, so the answer does not depend on the machine; the
//! deadline is looked at as well.
//!
//! Trust: `unsat` is believed, as an SMT solver's is (`blast.rs`, `circuit.rs`, `functions.rs`, and the SAT solver).

use crate::Why;
use crate::backend::{Limits, Reply};
use crate::basis::Basis;
use crate::blast::{Blaster, split};
use crate::circuit::{Clauses, Lit, Word};
use crate::functions::number;
use crate::smt::{Question, Source};
use batsat::{Callbacks, ClauseKind, Solver, SolverInterface, SolverOpts, Var, lbool};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use term::eval::Value;
use term::{Arena, Bits, Sort, TermId};

/// The deadline is looked at once in so many steps.
const STEPS: u32 = 64;

/// Stops the search.
struct Budget<'a> {
    conflicts: u64,
    most: u64,
    until: Instant,
    stop: &'a AtomicBool,
    steps: Cell<u32>,
    late: Cell<bool>,
}

impl Callbacks for Budget<'_> {
    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.conflicts += 1;
        }
    }

    fn stop(&self) -> bool {
        self.steps.set(self.steps.get().wrapping_add(1));
        if self.steps.get().is_multiple_of(STEPS) {
            self.late.set(Instant::now() >= self.until || self.stop.load(Ordering::Relaxed));
        }
        self.late.get() || self.conflicts >= self.most
    }
}

/// The SAT solver, and a clause on its way to it.
struct Engine<'a>(Solver<Budget<'a>>, Vec<batsat::Lit>);

fn literal(lit: Lit) -> batsat::Lit {
    batsat::Lit::new(Var::unsafe_from_idx(lit.0 >> 1), lit.0 & 1 == 0)
}

impl Clauses for Engine<'_> {
    fn variable(&mut self) -> Lit {
        Lit(self.0.new_var_default().idx() << 1)
    }

    fn clause(&mut self, literals: &[Lit]) {
        self.1.clear();
        self.1.extend(literals.iter().map(|lit| literal(*lit)));
        self.0.add_clause_reuse(&mut self.1);
    }
}

/// Is there a model of the assertions?
pub(crate) fn ask(arena: &Arena, basis: &Basis, question: &Question, limits: Limits<'_>) -> Result<Reply, Why> {
    let budget = Budget {
        conflicts: 0,
        most: limits.resources,
        until: limits.until,
        stop: limits.stop,
        steps: Cell::new(0),
        late: Cell::new(false),
    };
    let mut engine = Engine(Solver::new(SolverOpts::default(), budget), Vec::new());
    let truth = engine.variable();
    engine.clause(&[truth]);
    let mut blaster = Blaster::new(arena, basis, &question.commuting, engine).map_err(|_| Why::ResourceLimit)?;
    loop {
        let answer = blaster.circuit.clauses.0.solve_limited(&[]);
        if answer == lbool::FALSE {
            return Ok(Reply::Unsat);
        }
        if answer != lbool::TRUE {
            let late = blaster.circuit.clauses.0.cb().late.get();
            return Err(if late { Why::Timeout } else { Why::ResourceLimit });
        }
        let model: Vec<lbool> = blaster.circuit.clauses.0.get_model().to_vec();
        let value = |lit: Lit| {
            let truth = model.get((lit.0 >> 1) as usize).is_some_and(|value| *value == lbool::TRUE);
            truth == (lit.0 & 1 == 0)
        };
        if blaster.functions.refine(&mut blaster.circuit, &value) == 0 {
            let values = question.sources.iter().zip(&question.values);
            let values = values.map(|(source, (_, sort))| value_of(arena, &blaster, *source, *sort, &value));
            return Ok(Reply::Sat(values.collect()));
        }
        if Instant::now() >= limits.until {
            return Err(Why::Timeout);
        }
    }
}

/// What the model says a wanted value is.
fn value_of(
    arena: &Arena,
    blaster: &Blaster<'_, Engine<'_>>,
    source: Source,
    sort: Sort,
    value: &dyn Fn(Lit) -> bool,
) -> Value {
    let bits = |width: u16, word: Option<&Word>| {
        Bits::from_limbs(width, &word.map_or_else(|| vec![0], |word| number(word, value)))
    };
    match source {
        Source::Byte { memory, address } => {
            let (base, distance) = split(arena, address);
            let bytes = blaster.functions.bytes.get(&(memory, base));
            Value::Bits(bits(8, bytes.and_then(|bytes| bytes.at.get(&distance))))
        }
        Source::Term(term) => match sort {
            Sort::Bool => Value::Bool(blaster.known_word(term).is_some_and(|word| value(word[0]))),
            Sort::Bv(width) => Value::Bits(match blaster.known_word(term) {
                Some(word) => bits(width, Some(word)),
                None => sum_of(arena, blaster, term, width, value),
            }),
            Sort::Memory => unreachable!("memories are not asked for"),
        },
    }
}

/// The value of an address that has no word of its own.
fn sum_of(
    arena: &Arena,
    blaster: &Blaster<'_, Engine<'_>>,
    term: TermId,
    width: u16,
    value: &dyn Fn(Lit) -> bool,
) -> Bits {
    let (base, distance) = split(arena, term);
    base.iter().fold(Bits::new(width, distance), |sum, part| match blaster.known_word(*part) {
        Some(word) => sum.add(Bits::from_limbs(width, &number(word, value))),
        None => sum,
    })
}
