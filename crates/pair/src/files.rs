//! Two files, and the pairs of functions in them.

use crate::{File, new_arena};
use kernel::Pair;
use kernel::lemma::{self, Facts, Lemma, Surroundings, Unproved, Wanted};
use lift_elf::Error;
use program::{AssertTexts, CallInterface, Function, Next, ObjectKind, Side, Undefined};
use solver::{Solver, SolverOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use term::Arena;

/// Two files that are compared.
pub struct Files {
    original: File,
    candidate: File,
    undefined: Undefined,
    assert_texts: AssertTexts,
    /// Do arenas note which rewrite rules fire?
    logged: bool,
    /// How functions are called that have no debug information, by their names in the original.
    interfaces: BTreeMap<String, CallInterface>,
    /// Functions that return twice, in either file, because they jump to one that does.
    twice: OnceLock<BTreeSet<String>>,
    /// Local functions of each file whose address is never taken.
    private: OnceLock<[BTreeSet<String>; 2]>,
}

/// What an answer about a pair is worth that was compared without lemmas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alone {
    /// It is the answer: nothing that can be said of the files is about this pair.
    Settled,
    /// A proof is one. Anything else may change with what callers pass and statics hold.
    ProofOnly,
}

/// Two functions and the owner of their terms.
pub struct Prepared {
    /// Owner of the functions' terms.
    pub arena: Arena,
    /// The functions.
    pub pair: Pair,
}

impl Files {
    /// Two files, and whether the original's source may be taken to be defined.
    pub fn new(original: File, candidate: File, undefined: Undefined) -> Files {
        Files {
            original,
            candidate,
            undefined,
            assert_texts: AssertTexts::default(),
            logged: false,
            interfaces: BTreeMap::new(),
            twice: OnceLock::new(),
            private: OnceLock::new(),
        }
    }

    /// The same, and whether it is observable where a failed assertion says that it is.
    pub fn with_assert_texts(self, assert_texts: AssertTexts) -> Files {
        Files { assert_texts, ..self }
    }

    /// The same, with arenas that note every rewrite rule which fires, for audits.
    pub fn logged(self) -> Files {
        Files { logged: true, ..self }
    }

    /// The same, where functions of these names are called so, as far as the files do not say how.
    pub fn called_as(self, interfaces: BTreeMap<String, CallInterface>) -> Files {
        Files { interfaces, ..self }
    }

    fn arena(&self) -> Arena {
        let mut arena = new_arena();
        arena.log = self.logged.then(Vec::new);
        arena
    }

    /// The original's file.
    pub fn original(&self) -> &File {
        &self.original
    }

    /// The candidate's file.
    pub fn candidate(&self) -> &File {
        &self.candidate
    }

    /// A pair of functions, by their positions in the files. The facts are those of the same two files.
    pub fn prepare(&self, [ours, theirs]: [usize; 2], facts: &Facts) -> Result<Prepared, Error> {
        let mut arena = self.arena();
        let [original, candidate] = self.lift([ours, theirs], &mut arena)?;
        if self.twice.get().is_none() {
            self.surroundings();
        }
        let twice = self.twice.get().cloned().unwrap_or_default();
        let mut pair = Pair::new(original, candidate, facts, &twice, self.undefined);
        if let Some(interface) = self.interfaces.get(self.original.name(ours)) {
            pair = pair.called_as(interface);
        }
        Ok(Prepared { arena, pair })
    }

    /// A pair that can be compared before anything is known of the functions around it, because neither function calls: `None` if one
    /// does. Who returns twice is then of no interest.
    pub fn prepare_alone(&self, both: [usize; 2]) -> Result<Option<(Prepared, Alone)>, Error> {
        let mut arena = self.arena();
        let functions = self.lift(both, &mut arena)?;
        if functions.iter().any(calls) {
            return Ok(None);
        }
        let known = self.has_private(both) || functions.iter().any(mentions_static);
        let alone = match known {
            false => Alone::Settled,
            true if functions.iter().any(program::order::has_cycle) => return Ok(None),
            true => Alone::ProofOnly,
        };
        let [original, candidate] = functions;
        let pair = Pair::new(original, candidate, &Facts::default(), &BTreeSet::new(), self.undefined);
        let pair = match self.interfaces.get(self.original.name(both[0])) {
            Some(interface) => pair.called_as(interface),
            None => pair,
        };
        Ok(Some((Prepared { arena, pair }, alone)))
    }

    /// Is one of them a local function whose callers may all be visible?
    fn has_private(&self, [ours, theirs]: [usize; 2]) -> bool {
        let [original, candidate] = self.private.get_or_init(|| [self.original.private(), self.candidate.private()]);
        original.contains(self.original.name(ours)) || candidate.contains(self.candidate.name(theirs))
    }

    /// The graphs of a pair. Where the candidate calls itself at fewer places, tail calls of the original to itself are
    /// jumps. Of the same file twice, a function need not be understood to be the same.
    fn lift(&self, [ours, theirs]: [usize; 2], arena: &mut Arena) -> Result<[Function; 2], Error> {
        let lifted = self.original.lift(ours, Side::Original, arena);
        let lifted = lifted.map(|function| Function { assert_texts: self.assert_texts, ..function });
        let counterpart = self.candidate.lift(theirs, self.naming(), arena);
        match (lifted, counterpart) {
            (Ok(a), Ok(b)) => {
                // A recursion that became a loop.
                let folds = !self.original.is_replaceable(ours) && program::own_calls(&b) < program::own_calls(&a);
                let folded = folds.then(|| program::fold_tail_calls(arena, &a)).flatten();
                Ok([folded.unwrap_or(a), b])
            }
            (Err(_), Err(_)) if ours == theirs && self.candidate.is_copy_of(&self.original) => {
                Ok([self.original.unread(ours), self.candidate.unread(theirs)])
            }
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    /// Whose names the places of the candidate get that have none of their own: of the same file twice they are the same.
    fn naming(&self) -> Side {
        if self.candidate.is_copy_of(&self.original) { Side::Original } else { Side::Candidate }
    }

    /// All functions of both files, for whoever looks for lemmas about them. May take long and need a large stack.
    pub fn surroundings(&self) -> Surroundings {
        let file = |file: &File, side| {
            let mut arena = self.arena();
            let (functions, complete) = file.lift_all(side, &mut arena);
            lemma::File::new(arena, functions, complete, file.private(), file.replaceable())
        };
        let (original, candidate) = (file(&self.original, Side::Original), file(&self.candidate, self.naming()));
        let around = Surroundings::new(original, candidate, self.undefined);
        self.twice.get_or_init(|| around.returning_twice());
        around
    }

    /// What is true of some lemmas, as far as the comparisons of these pairs may need it. The surroundings are those of the same
    /// two files. Pairs that were proved alone keep the convention under which they were.
    pub fn prove(
        &self,
        mut around: Surroundings,
        lemmas: &[Lemma],
        pairs: &[[usize; 2]],
        proved_alone: &[[usize; 2]],
    ) -> Facts {
        let both = |[ours, theirs]: &[usize; 2]| [self.original.name(*ours), self.candidate.name(*theirs)];
        around.compared_alone(proved_alone.iter().flat_map(both).map(str::to_string).collect());
        let name = |[ours, theirs]: &[usize; 2]| Wanted {
            original: self.original.name(*ours).to_string(),
            candidate: self.candidate.name(*theirs).to_string(),
        };
        let wanted: Vec<Wanted> = pairs.iter().map(name).collect();
        lemma::prove(&mut around, lemmas, &wanted, &mut patient_solver())
    }

    /// The facts that a certificate states; all of them must hold.
    pub fn prove_stated(&self, lemmas: &[Lemma]) -> Result<Facts, Unproved> {
        if lemmas.is_empty() {
            return Ok(Facts::default());
        }
        lemma::prove_stated(&mut self.surroundings(), lemmas, &mut patient_solver())
    }
}

/// Does the function call anything, even itself, at its end or on the way?
fn calls(function: &Function) -> bool {
    function.points.iter().any(|point| matches!(point.next, Next::Call(_)))
}

/// Does it mention something of its file of which a lemma could say what it holds, or another function?
fn mentions_static(function: &Function) -> bool {
    function.objects.values().any(|object| match object.kind {
        ObjectKind::Named { local, defined, function, .. } => function || local && defined && object.content.is_none(),
        // A section's name stands for what lies in it.
        ObjectKind::Section => true,
        _ => false,
    })
}

/// Proofs of lemmas end by themselves: what they may do is counted.
fn patient_solver() -> Solver {
    Solver::new(SolverOptions::default())
}
