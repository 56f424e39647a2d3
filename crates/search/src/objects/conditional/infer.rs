//! The condition under which two programs do the same, where they do not always.
//!
//! Runs say what the condition may be ([`super::learn`]); a proof under it is looked for as under any other; a difference goes back to
//! the runs, and where there is no proof, what runs do not show is added (bounds of numbers that the candidate cuts, blocks that do not
//! overlap). At last everything that no run has shown to be needed is left out, if there is a proof without it.
//!
//! Trust: none. The proof is about the condition that its certificate states.

use super::atom::{Atom, Kind};
use super::lab::{Floats, Lab};
use super::learn::Part;
use crate::objects::inputs::Input;
use crate::objects::refute::{Refutation, Runner};
use crate::objects::session::{Native, Session};
use crate::objects::start_state::{StartBytes, StartPlace, StartState};
use crate::{Outcome, ReasonKind, Verdict, Witness, budgets};
use condition::Interface;
use interpreter::Seed;
use kernel::{Expression, Pair, Precondition};
use std::time::{Duration, Instant};
use term::{Arena, Axiom};

/// A condition that was inferred, part by part.
#[derive(Clone, Debug, Default)]
pub struct Inferred {
    /// What must hold, all of it.
    pub conjuncts: Vec<Conjunct>,
    /// How many start states of the user satisfy it.
    pub tests: usize,
}

/// A part of an inferred condition.
#[derive(Clone, Debug)]
pub struct Conjunct {
    /// What kind of condition it is.
    pub kind: Kind,
    /// As `--assume` takes it.
    pub text: String,
    /// What the proof is about; empty for an axiom.
    pub expressions: Vec<Expression>,
    /// Why it cannot be left out.
    pub need: Need,
}

/// Whether a part of a condition can be left out.
#[derive(Clone, Debug)]
pub enum Need {
    /// On this input, which satisfies everything else, the programs disagree.
    Shown(Box<Witness>),
    /// Nobody knows: without it there was no proof and no difference.
    NotShown,
}

/// May named laws of real numbers be part of a condition?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatAxioms {
    /// They may.
    Allowed,
    /// They may not.
    Forbidden,
}

/// What an inference is about.
pub struct Question<'q> {
    /// The pair, as often as it is asked for.
    pub prepare: &'q dyn Fn() -> Option<(Arena, Pair)>,
    /// What the user assumes.
    pub assumed: &'q Precondition,
    /// What may be assumed beside.
    pub axioms: FloatAxioms,
}

/// Sets of axioms that are tried, the smaller ones first.
const AXIOMS: [&[Axiom]; 4] = [
    &[Axiom::AddZero, Axiom::MulZero],
    &[Axiom::Reassociate],
    &[Axiom::Reassociate, Axiom::AddZero, Axiom::MulZero],
    &Axiom::ALL,
];

impl Session {
    /// Decides a pair; where it is not equivalent as it is, under which condition it is.
    pub fn infer(&self, question: &Question) -> Option<Outcome> {
        let start = Instant::now();
        let deadline = start + self.options().timeout;
        let (mut arena, pair) = (question.prepare)()?;
        let pair = pair.under(question.assumed.clone());
        for axiom in question.assumed.axioms() {
            arena.allow(*axiom);
        }
        let budget = budgets::PLAIN_CHECK.of(self.options().timeout);
        let first = self.check_within(&mut arena, &pair, budget);
        let open = match &first.verdict {
            Verdict::Equivalent(_) => false,
            Verdict::Unknown(reason) => {
                !matches!(reason.kind, ReasonKind::Unsupported | ReasonKind::MissingFunction | ReasonKind::Internal)
            }
            Verdict::Different(_) => true,
        };
        if !open {
            return Some(first);
        }
        let (lab_arena, lab_pair) = (question.prepare)()?;
        let lab_pair = lab_pair.under(question.assumed.clone());
        let lab = self.lab(&lab_arena, &lab_pair, deadline);
        let mut search = Search::new(self, question, lab, &lab_pair, deadline);
        search.prepare_lab(&lab_arena);
        search.lab.warm_up(&search.tests);
        let given = match &first.verdict {
            Verdict::Different(witness) => search.input_of(&lab_arena, witness).into_iter().collect(),
            _ => Vec::new(),
        };
        let mut found = None;
        if question.axioms == FloatAxioms::Allowed {
            search.lab.floats = Floats::Exact;
            let loops = program::order::has_cycle(search.lab.original);
            let mut sets = AXIOMS.to_vec();
            // Sums in loops are grouped in another way; elsewhere something is left out because it is zero.
            sets.sort_by_key(|set| loops && !set.contains(&Axiom::Reassociate));
            found = sets.iter().find_map(|axioms| search.condition(Vec::new(), axioms));
            search.lab.floats = Floats::Any;
            search.lab.differing.clear();
            search.lab.forget();
        }
        let found = found.take().or_else(|| search.condition(given, &[]));
        Some(match found {
            Some(outcome) => outcome,
            None => first,
        })
    }

    /// The one condition without which the programs would agree on a witness, if runs suggest one.
    pub fn hint(&self, arena: &Arena, pair: &Pair, witness: &Witness) -> Option<super::hint::Hint> {
        let prepare = || None;
        let question = Question { prepare: &prepare, assumed: pair.precondition(), axioms: FloatAxioms::Forbidden };
        let deadline = Instant::now() + super::hint::PATIENCE;
        let lab = self.lab(arena, pair, deadline);
        let mut search = Search::new(self, &question, lab, pair, deadline);
        search.prepare_lab(arena);
        let input = search.input_of(arena, witness)?;
        search.lab.hint(&input)
    }

    fn lab<'r, 'a>(&self, arena: &'r Arena, pair: &'a Pair, deadline: Instant) -> Lab<'r, 'a> {
        // Runs compute with floating-point numbers as they are: the laws that are assumed are none of theirs.
        let conjuncts = pair.precondition().conjuncts().to_vec();
        let assumed = Precondition::new(conjuncts, Vec::new(), pair.original(), arena).unwrap_or_default();
        let mut runner = Runner::new(arena, pair.original(), pair.candidate()).under(&assumed);
        runner.native = self.options().native;
        Lab::new(arena, runner, self.options().seed, deadline)
    }
}

/// The state of an inference.
struct Search<'s, 'r, 'a> {
    session: &'s Session,
    question: &'s Question<'s>,
    interface: Interface,
    deadline: Instant,
    /// Proofs tried so far.
    checks: usize,
    lab: Lab<'r, 'a>,
    tests: Vec<Input>,
    /// Bounds of numbers that the candidate cuts.
    bounds: Vec<Atom>,
    /// Blocks that may have to be apart.
    apart: Vec<Atom>,
    /// The longest time that a successful proof took.
    longest: Duration,
}

/// Proofs that are tried at most.
const MOST_CHECKS: usize = 30;
/// How often a difference that only a proof has found goes back to the runs.
const ROUNDS: usize = 6;
/// Weaker conditions that are tried in the place of one.
const MOST_WEAKER: usize = 2;
/// Differences that are replayed natively.
const MOST_REPLAYED: usize = 24;

impl<'s, 'r, 'a> Search<'s, 'r, 'a> {
    fn new(
        session: &'s Session,
        question: &'s Question<'s>,
        lab: Lab<'r, 'a>,
        pair: &Pair,
        deadline: Instant,
    ) -> Search<'s, 'r, 'a> {
        Search {
            session,
            question,
            interface: Interface::new(pair.original(), lab.arena),
            deadline,
            checks: 0,
            lab,
            tests: Vec::new(),
            bounds: Vec::new(),
            apart: Vec::new(),
            longest: Duration::from_millis(400),
        }
    }

    fn prepare_lab(&mut self, arena: &Arena) {
        let lab = &mut self.lab;
        for state in self.session.tests().iter().filter(|state| state.concerns(&lab.original.name)) {
            let mut input = lab.runner.random_input(arena, Seed(state.seed), 0);
            state.apply(&mut input, &lab.runner.arguments, &lab.original.parameters, &lab.runner.layout);
            self.tests.push(input);
        }
        let survey = lab.survey(&self.tests);
        lab.fill_pool(&survey, &self.tests);
        let readable: Vec<bool> =
            lab.pool.iter().map(|atom| condition::parse(&lab.text(atom), &self.interface).is_ok()).collect();
        let mut readable = readable.into_iter();
        lab.pool.retain(|_| readable.next().unwrap_or(false));
        lab.forget();
        self.apart = survey.apart().into_iter().filter(|atom| lab.pool.contains(atom)).collect();
        self.bounds = lab.cut_numbers().into_iter().filter(|atom| lab.pool.contains(atom)).collect();
        tracing::debug!(
            pool = lab.pool.len(),
            cells = survey.cells.len(),
            apart = self.apart.len(),
            bounds = self.bounds.len(),
            "pool"
        );
    }

    /// The input of a witness.
    fn input_of(&mut self, arena: &Arena, witness: &Witness) -> Option<Input> {
        let registers = witness.registers.iter().map(|r| (r.name.clone(), r.value)).collect();
        let bytes =
            |b: &crate::WitnessBytes| StartBytes { place: StartPlace::Address(b.address), bytes: b.bytes.clone() };
        let memory = witness.memory.iter().map(bytes).collect();
        let state = StartState { registers, memory, ..StartState::default() };
        let lab = &mut self.lab;
        let mut input = lab.runner.random_input(arena, Seed(self.session.options().seed), 0);
        state.apply(&mut input, &lab.runner.arguments, &lab.original.parameters, &lab.runner.layout);
        input.fuel = 100_000;
        matches!(lab.judge(&input), crate::objects::refute::Judged::Differs(_)).then_some(input)
    }

    /// A proof under a condition, with the condition; `None` if there is none.
    fn condition(&mut self, mut given: Vec<Input>, axioms: &[Axiom]) -> Option<Outcome> {
        let mut atoms: Vec<Atom> = self.bounds.clone();
        for _ in 0..ROUNDS {
            if let Err(input) = self.lab.learn(&mut atoms, std::mem::take(&mut given)) {
                tracing::debug!(values = ?input.values, "a difference that nothing explains");
                return None;
            }
            let mut parts = self.lab.prune(&atoms);
            self.lab.weaken(&mut parts);
            // What runs cannot show stays.
            for bound in &self.bounds {
                if atoms.contains(bound) && !parts.iter().any(|part| part.atom == *bound) {
                    parts.push(Part { atom: bound.clone(), needed: None });
                }
            }
            self.without_implied(&mut parts);
            let outcome = self.prove(&parts, axioms, None);
            match outcome.verdict {
                Verdict::Equivalent(_) => return self.finish(parts, axioms, outcome),
                Verdict::Different(witness) => {
                    let arena = self.lab.arena;
                    given = self.input_of(arena, &witness).into_iter().collect();
                    if given.is_empty() {
                        return None;
                    }
                    atoms = parts.into_iter().map(|part| part.atom).collect();
                }
                Verdict::Unknown(_) => match self.with_more(parts, axioms)? {
                    Further::Proved(parts, outcome) => return self.finish(parts, axioms, *outcome),
                    Further::Differs(parts, inputs) => {
                        given = inputs;
                        atoms = parts.into_iter().map(|part| part.atom).collect();
                    }
                },
            }
        }
        None
    }

    /// Where there is no proof, what no run has shown is added.
    fn with_more(&mut self, parts: Vec<Part>, axioms: &[Axiom]) -> Option<Further> {
        let known: Vec<Atom> = parts.iter().map(|part| part.atom.clone()).collect();
        let fresh = |atoms: &[Atom]| -> Vec<Atom> { atoms.iter().filter(|a| !known.contains(a)).cloned().collect() };
        let apart = fresh(&self.apart);
        let aligned = fresh(&self.lab.natural_alignments());
        let bounds = |bits: u32| fresh(&self.lab.bounds_of_all(bits));
        let stages = [apart.clone(), [bounds(31), apart, aligned].concat()];
        let mut last: Vec<Atom> = Vec::new();
        for more in stages {
            if more.is_empty() || more == last || self.is_over() {
                continue;
            }
            let added = more.iter().map(|atom| Part { atom: atom.clone(), needed: None });
            let mut enlarged: Vec<Part> = parts.iter().cloned().chain(added).collect();
            self.without_implied(&mut enlarged);
            let outcome = self.prove(&enlarged, axioms, None);
            match outcome.verdict {
                Verdict::Equivalent(_) => return Some(Further::Proved(enlarged, Box::new(outcome))),
                Verdict::Different(witness) => {
                    let arena = self.lab.arena;
                    let input = self.input_of(arena, &witness)?;
                    return Some(Further::Differs(parts, vec![input]));
                }
                Verdict::Unknown(_) => last = more,
            }
        }
        None
    }

    /// Leaves out what another part implies.
    fn without_implied(&self, parts: &mut Vec<Part>) {
        let implied: Vec<Atom> = parts.iter().flat_map(|part| self.lab.weaker(&part.atom)).collect();
        parts.retain(|part| !implied.contains(&part.atom));
    }

    /// Is it a bound of a number of which the candidate looks at the low half only? No run shows what happens beyond.
    fn is_cut(&self, atom: &Atom) -> bool {
        let Atom::Below { number, .. } = atom else { return false };
        self.bounds.iter().any(|bound| matches!(bound, Atom::Below { number: cut, .. } if cut == number))
    }

    fn is_over(&self) -> bool {
        self.checks >= MOST_CHECKS || Instant::now() >= self.deadline
    }

    /// Looks for a proof under a condition.
    fn prove(&mut self, parts: &[Part], axioms: &[Axiom], limit: Option<Duration>) -> Outcome {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let limit = limit.unwrap_or_else(|| budgets::CONDITIONAL_CHECK.of(left)).min(left);
        let start = Instant::now();
        let texts: Vec<String> = parts.iter().map(|part| self.lab.text(&part.atom)).collect();
        let outcome = self.check(&texts, axioms, limit);
        self.checks += 1;
        let time = start.elapsed();
        tracing::debug!(?texts, ?axioms, ?time, verdict = ?short(&outcome.verdict), "tried");
        if matches!(outcome.verdict, Verdict::Equivalent(_)) {
            self.longest = self.longest.max(time);
        }
        outcome
    }

    fn check(&self, texts: &[String], axioms: &[Axiom], limit: Duration) -> Outcome {
        let failed = |what: String| crate::verdict::unknown(crate::Reason::new(ReasonKind::Internal, what));
        let Some((mut arena, pair)) = (self.question.prepare)() else { return failed("the pair is gone".to_string()) };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let parsed = match condition::parse_all(&texts, &self.interface) {
            Ok(parsed) => parsed,
            Err((i, error)) => return failed(error.show(texts[i])),
        };
        let assumed = self.question.assumed;
        let conjuncts = assumed.conjuncts().iter().cloned().chain(parsed.conjuncts).collect();
        let axioms: Vec<Axiom> = assumed.axioms().iter().chain(axioms).copied().collect();
        for axiom in &axioms {
            arena.allow(*axiom);
        }
        match Precondition::new(conjuncts, axioms, pair.original(), &arena) {
            Ok(precondition) => {
                let pair = pair.under(precondition);
                self.session.check_within(&mut arena, &pair, limit)
            }
            Err(what) => failed(what),
        }
    }

    /// Leaves out what nobody has shown to be needed and a proof does without, and says why the rest is needed.
    fn finish(&mut self, mut parts: Vec<Part>, axioms: &[Axiom], mut outcome: Outcome) -> Option<Outcome> {
        let mut axioms = axioms.to_vec();
        for axiom in axioms.clone() {
            let rest: Vec<Axiom> = axioms.iter().copied().filter(|a| *a != axiom).collect();
            if let Some(proved) = self.still_proved(&parts, &rest) {
                (axioms, outcome) = (rest, proved);
            }
        }
        let mut open: Vec<Atom> = parts.iter().filter(|p| p.needed.is_none()).map(|p| p.atom.clone()).collect();
        open.sort_by_key(|atom| std::cmp::Reverse((super::explain::rank(atom), atom.strength())));
        for atom in open {
            // A search without it would only take time.
            if self.is_cut(&atom) && program::order::has_cycle(self.lab.original) {
                continue;
            }
            let rest: Vec<Part> = parts.iter().filter(|part| part.atom != atom).cloned().collect();
            if let Some(proved) = self.still_proved(&rest, &axioms) {
                (parts, outcome) = (rest, proved);
                continue;
            }
            for weaker in self.lab.weaker(&atom).into_iter().rev().take(MOST_WEAKER) {
                let replaced: Vec<Part> = parts
                    .iter()
                    .map(|p| if p.atom == atom { Part { atom: weaker.clone(), needed: None } } else { p.clone() })
                    .collect();
                if let Some(proved) = self.still_proved(&replaced, &axioms) {
                    (parts, outcome) = (replaced, proved);
                    break;
                }
            }
        }
        let conjuncts = self.conjuncts(&parts, &axioms);
        outcome.inferred = Some(Inferred { conjuncts, tests: self.tests.len() });
        Some(outcome)
    }

    fn still_proved(&mut self, parts: &[Part], axioms: &[Axiom]) -> Option<Outcome> {
        if self.is_over() {
            return None;
        }
        let limit = 2 * self.longest + Duration::from_millis(100);
        let outcome = self.prove(parts, axioms, Some(limit));
        matches!(outcome.verdict, Verdict::Equivalent(_)).then_some(outcome)
    }

    fn conjuncts(&mut self, parts: &[Part], axioms: &[Axiom]) -> Vec<Conjunct> {
        let mut out = Vec::new();
        let native = self.lab.runner.native;
        // What a conjunct leaves to say depends on what the others bound.
        let texts: Vec<String> = parts.iter().map(|part| self.lab.text(&part.atom)).collect();
        for (i, part) in parts.iter().enumerate() {
            let rest: Vec<Atom> =
                parts.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, part)| part.atom.clone()).collect();
            let needed = part.needed.clone().filter(|input| self.lab.all_hold(&rest, input));
            let needed = needed.or_else(|| self.lab.violation(&rest, &part.atom));
            if i >= MOST_REPLAYED {
                self.lab.runner.native = Native::Forbidden;
            }
            let need = needed.and_then(|input| self.shown(input, &rest)).map_or(Need::NotShown, Need::Shown);
            let expressions = condition::parse(&texts[i], &self.interface).map(|p| p.conjuncts).unwrap_or_default();
            out.push(Conjunct { kind: part.atom.kind(), text: texts[i].clone(), expressions, need });
        }
        self.lab.runner.native = native;
        let axiom = |axiom: &Axiom| Conjunct {
            kind: Kind::Axiom,
            text: format!("fp({axiom})"),
            expressions: Vec::new(),
            need: Need::NotShown,
        };
        out.extend(axioms.iter().map(axiom));
        out
    }

    /// The difference on an input, replayed; the input is made small as far as the condition allows.
    fn shown(&mut self, input: Input, rest: &[Atom]) -> Option<Box<Witness>> {
        let found = self.lab.smallest(input, rest)?;
        match self.lab.runner.told(self.lab.arena, found) {
            Refutation::Different(witness) => Some(witness),
            Refutation::Disputed(_) => None,
        }
    }
}

/// What came of a larger condition.
enum Further {
    Proved(Vec<Part>, Box<Outcome>),
    Differs(Vec<Part>, Vec<Input>),
}

fn short(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Equivalent(_) => "equivalent".to_string(),
        Verdict::Different(witness) => format!("different: {:?} {:?}", witness.registers, witness.candidate.summary),
        Verdict::Unknown(reason) => format!("unknown: {}", reason.detail),
    }
}
