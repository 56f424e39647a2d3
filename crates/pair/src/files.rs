//! Two files, and the pairs of functions in them.

use crate::{File, new_arena};
use graph::{Contracts, Function, Side, Undefined, contract};
use kernel::Pair;
use kernel::lemma::{self, OriginalFile};
use lift_elf::Error;
use solver::{Solver, SolverOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};
use term::Arena;

/// Facts about functions are proved within this time for a whole file; what is not, does not exist.
const TIME_FOR_LEMMAS: Duration = Duration::from_secs(8);

/// Two files that are compared.
pub struct Files {
    original: File,
    candidate: File,
    undefined: Undefined,
}

/// What two files say about their local functions. By default nothing: then less is provable.
#[derive(Clone, Default)]
pub struct FileContracts(Arc<Contracts>);

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
        Files { original, candidate, undefined }
    }

    /// The original's file.
    pub fn original(&self) -> &File {
        &self.original
    }

    /// The candidate's file.
    pub fn candidate(&self) -> &File {
        &self.candidate
    }

    /// A pair of functions, by their positions in the files. The contracts are those of the same two files.
    pub fn prepare(&self, [ours, theirs]: [usize; 2], contracts: &FileContracts) -> Result<Prepared, Error> {
        let mut arena = new_arena();
        let [original, candidate] = self.lift([ours, theirs], &mut arena)?;
        let pair = Pair::new(original, candidate, Arc::clone(&contracts.0), self.undefined);
        Ok(Prepared { arena, pair })
    }

    /// The graphs of a pair. Where the candidate calls itself at fewer places, tail calls of the original to itself are
    /// jumps. Of the same file twice, a function need not be understood to be the same.
    fn lift(&self, [ours, theirs]: [usize; 2], arena: &mut Arena) -> Result<[Function; 2], Error> {
        let lifted = self.original.lift(ours, Side::Original, arena);
        let counterpart = self.candidate.lift(theirs, self.naming(), arena);
        match (lifted, counterpart) {
            (Ok(a), Ok(b)) => {
                // A recursion that became a loop.
                let folds = !self.original.is_replaceable(ours) && graph::own_calls(&b) < graph::own_calls(&a);
                let folded = folds.then(|| graph::fold_tail_calls(arena, &a)).flatten();
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

    /// What is proved about the functions of the original's file, and how the candidate calls its own. Lifts all functions, so it may take long and
    /// need a large stack.
    pub fn contracts(&self) -> FileContracts {
        let sides = [(&self.original, Side::Original), (&self.candidate, self.naming())];
        let mut arenas = [new_arena(), new_arena()];
        let [a, b] = &mut arenas;
        let [(mut ours, complete), (theirs, all)] =
            [(sides[0], &mut *a), (sides[1], &mut *b)].map(|((file, side), arena)| file.lift_all(side, arena));
        let file = |arena, functions, complete, file: &File| contract::File {
            arena,
            functions,
            complete,
            private: file.private(),
            replaceable: file.replaceable(),
            undefined: self.undefined,
        };
        let mut before = file(a, &ours, complete, &self.original);
        let mut after = file(b, &theirs, all, &self.candidate);
        let proposed = contract::contracts(&mut before, &mut after);
        for function in &mut ours {
            function.undefined = self.undefined;
            if let Some(counterpart) = theirs.iter().find(|f| f.name == function.name) {
                function.adopt_declarations(counterpart);
            }
        }
        let replaceable = self.original.replaceable();
        let file = OriginalFile { arena: a, functions: &mut ours, complete, replaceable: &replaceable };
        let mut solver = Solver::new(SolverOptions::default());
        FileContracts(lemma::prove(file, proposed, &mut solver, Instant::now() + TIME_FOR_LEMMAS).into())
    }
}
