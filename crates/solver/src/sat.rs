//! A question answered in this process: clauses for a SAT solver, lemmas about functions where its models need them.
//!
//! SMT solvers spend most of their time on our questions by treating every pair of loads up front. Here a pair costs
//! nothing until a model confuses it. Limits are counts of conflicts and propagations, so the answer does not depend on the
//! machine.
//!
//! Trust: `unsat` is believed, as an SMT solver's is (`blast.rs`, `circuit.rs`, `functions.rs`, and the SAT solver). In an
//! audit the SAT solver is not: the clauses that it learns on the way to a refutation are checked by `clausal`, which
//! shares nothing with it. What is checked then is that *these clauses* have no model; that they say what the question
//! says is `blast.rs`, `circuit.rs` and `functions.rs`.

use crate::Why;
use crate::backend::Reply;
use crate::basis::Basis;
use crate::blast::{Blaster, split};
use crate::circuit::{Clauses, Lit, Word};
use crate::effort::Work;
use crate::functions::number;
use crate::smt::{Question, Source};
use batsat::{Callbacks, ClauseKind, Solver, SolverInterface, SolverOpts, Var, lbool};
use clausal::Proof;
use interrupt::Interrupt;
use std::cell::Cell;
use term::eval::Value;
use term::{Arena, Bits, Sort, TermId};

/// The interrupt is looked at once in so many steps.
const STEPS: u32 = 64;
/// Steps between two looks at the propagations: at first as many as make about so many if each went through all variables,
/// later as the steps so far suggest.
const FIRST_PROPAGATIONS: u64 = 4_000_000;
const FIRST_STEPS: u64 = 4000;
const LEAST_STEPS: u64 = 64;

/// Limits of one question.
#[derive(Clone, Copy)]
pub(crate) struct BitLimits<'a> {
    pub(crate) conflicts: u64,
    pub(crate) propagations: u64,
    pub(crate) interrupt: &'a Interrupt,
    /// Is a refutation believed only if the clauses that were learnt show it?
    pub(crate) audited: bool,
}

/// Stops the search, and notes what it learns.
struct Budget<'a> {
    conflicts: u64,
    most: u64,
    /// Steps until the propagations are counted.
    slice: u64,
    steps: Cell<u64>,
    interrupt: &'a Interrupt,
    tripped: Cell<bool>,
    proof: Option<Proof>,
}

impl Callbacks for Budget<'_> {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.conflicts += 1;
            if let Some(proof) = &mut self.proof {
                proof.learnt(clause.iter().map(|lit| encoded(*lit)));
            }
        }
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        if let Some(proof) = &mut self.proof {
            proof.deleted(clause.iter().map(|lit| encoded(*lit)));
        }
    }

    fn stop(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get().is_multiple_of(u64::from(STEPS)) {
            self.tripped.set(self.interrupt.is_tripped());
        }
        self.tripped.get() || self.conflicts >= self.most || self.steps.get() >= self.slice
    }
}

/// The SAT solver, and a clause on its way to it.
struct Engine<'a>(Solver<Budget<'a>>, Vec<batsat::Lit>);

/// A literal as a proof writes it.
fn encoded(lit: batsat::Lit) -> clausal::Literal {
    clausal::Literal::new(lit.var().idx(), lit.sign())
}

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
        if let Some(proof) = &mut self.0.cb_mut().proof {
            proof.given(literals.iter().map(|lit| encoded(literal(*lit))));
        }
        self.0.add_clause_reuse(&mut self.1);
    }
}

/// Is there a model of the assertions? And what it took to find out.
pub(crate) fn ask(
    arena: &Arena,
    basis: &Basis,
    question: &Question,
    limits: BitLimits<'_>,
) -> (Result<Reply, Why>, Work) {
    let mut work = Work::default();
    let reply = refute_or_satisfy(arena, basis, question, limits, &mut work);
    (reply, work)
}

fn refute_or_satisfy(
    arena: &Arena,
    basis: &Basis,
    question: &Question,
    limits: BitLimits<'_>,
    work: &mut Work,
) -> Result<Reply, Why> {
    let budget = Budget {
        conflicts: 0,
        most: limits.conflicts,
        slice: 0,
        steps: Cell::new(0),
        interrupt: limits.interrupt,
        tripped: Cell::new(false),
        proof: limits.audited.then(Proof::default),
    };
    let mut engine = Engine(Solver::new(SolverOpts::default(), budget), Vec::new());
    let truth = engine.variable();
    engine.clause(&[truth]);
    let mut blaster = Blaster::new(arena, basis, &question.commuting, engine).map_err(|_| Why::ResourceLimit)?;
    loop {
        let solver = &mut blaster.circuit.clauses.0;
        let answer = solve(solver, limits.propagations);
        work.conflicts = solver.cb().conflicts;
        work.propagations = solver.num_propagations();
        if answer == lbool::FALSE {
            work.refutations = 1;
            return match solver.cb_mut().proof.take() {
                Some(proof) => confirmed(&proof, work),
                None => Ok(Reply::Unsat),
            };
        }
        if answer != lbool::TRUE {
            let tripped = limits.interrupt.is_tripped();
            return Err(if tripped { Why::Timeout } else { Why::ResourceLimit });
        }
        let model: Vec<lbool> = solver.get_model().to_vec();
        let value = |lit: Lit| {
            let truth = model.get((lit.0 >> 1) as usize).is_some_and(|value| *value == lbool::TRUE);
            truth == (lit.0 & 1 == 0)
        };
        if blaster.functions.refine(&mut blaster.circuit, &value) == 0 {
            let values = question.sources.iter().zip(&question.values);
            let values = values.map(|(source, (_, sort))| value_of(arena, &blaster, *source, *sort, &value));
            return Ok(Reply::Sat(values.collect()));
        }
        if limits.interrupt.is_tripped() {
            return Err(Why::Timeout);
        }
        if work.propagations >= limits.propagations {
            return Err(Why::ResourceLimit);
        }
    }
}

/// Searches for a model until a limit is reached. The SAT solver can be stopped at any step, but it tells its propagations
/// only when it has stopped: it runs for slices.
fn solve(solver: &mut Solver<Budget<'_>>, most_propagations: u64) -> lbool {
    let variables = u64::from(solver.num_vars()).max(1);
    let mut steps = (FIRST_PROPAGATIONS / variables).clamp(LEAST_STEPS, FIRST_STEPS);
    loop {
        let (before, done) = (solver.num_propagations(), solver.cb().steps.get());
        solver.cb_mut().slice = done + steps;
        let answer = solver.solve_limited(&[]);
        if answer == lbool::TRUE || answer == lbool::FALSE {
            return answer;
        }
        let (propagations, budget) = (solver.num_propagations(), solver.cb());
        if budget.interrupt.is_tripped() || budget.conflicts >= budget.most || propagations >= most_propagations {
            return lbool::UNDEF;
        }
        let (made, taken) = ((propagations - before).max(1), (budget.steps.get() - done).max(1));
        let left = most_propagations - propagations;
        let fitting = u128::from(left) * u128::from(taken) / u128::from(made);
        steps = u64::try_from(fitting / 2).unwrap_or(u64::MAX).clamp(LEAST_STEPS, 1 << 40);
    }
}

/// A refutation that was checked.
fn confirmed(proof: &Proof, work: &mut Work) -> Result<Reply, Why> {
    match clausal::check(proof) {
        Ok(counts) => {
            work.confirmed = 1;
            work.clauses = counts.learnt as u64;
            Ok(Reply::Unsat)
        }
        Err(why) => {
            work.doubtful = 1;
            Err(Why::GaveUp(format!("a refutation was not confirmed: {why}")))
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
