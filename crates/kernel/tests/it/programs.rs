//! Pairs of programs as text, ready to be checked.

use graph::{Function, Register, Side, Stuck};
use kernel::{Certificate, CheckedProof, LocalClaim, Rejection, VERSION};
use lift_elf::Image;
use solver::{Solver, SolverOptions};
use std::time::{Duration, Instant};
use term::Arena;
use testkit::compiler::Compiler;
use testkit::pair::Pair;

const TIME: Duration = Duration::from_secs(20);

/// Both versions of the function `f`.
pub struct Programs {
    images: [Image; 2],
}

impl Programs {
    /// Bodies in assembly, under header lines as in a golden pair.
    pub fn assembly(header: &str, original: &str, candidate: &str) -> Programs {
        let text =
            format!("{header}\n--- original\n{original}\n--- candidate\n{candidate}\n--- expect\nverdict: unknown\n");
        let folder = tempfile::tempdir().expect("a temporary folder");
        Pair::parse(&text)
            .expect("a golden pair")
            .build(&Compiler::all()[0], folder.path())
            .unwrap_or_else(|e| panic!("{e}"));
        let read = |name| Image::read(&folder.path().join(name)).expect("an object file");
        Programs { images: [read("original.o"), read("candidate.o")] }
    }

    /// C, the original compiled with -O0 and the candidate with -O2.
    pub fn c(original: &str, candidate: &str) -> Programs {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let build = |text, level, name| {
            let object = folder.path().join(name);
            Compiler::all()[0].compile(text, &[level], &object).unwrap_or_else(|e| panic!("{e}"));
            Image::read(&object).expect("an object file")
        };
        Programs { images: [build(original, "-O0", "original.o"), build(candidate, "-O2", "candidate.o")] }
    }

    /// Both functions, in an arena of their own: no check sees the terms of another.
    pub fn lift(&self) -> (Arena, [Function; 2]) {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        let functions = Side::BOTH.map(|side| {
            let image = &self.images[side.index()];
            image.lift(image.find("f").expect("a function f"), side, &mut arena).expect("a function that can be lifted")
        });
        (arena, functions)
    }

    /// A certificate for this pair.
    pub fn certificate(&self, locals: &[LocalClaim]) -> Certificate {
        let (_, [original, candidate]) = self.lift();
        Certificate {
            version: VERSION,
            original: original.name,
            candidate: candidate.name,
            original_hash: original.hash,
            candidate_hash: candidate.hash,
            locals: locals.to_vec(),
            cuts: Default::default(),
            points: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// What the kernel says.
    pub fn check(&self, certificate: &Certificate) -> Result<CheckedProof, Rejection> {
        let (mut arena, [original, candidate]) = self.lift();
        let mut solver = Solver::new(SolverOptions::default());
        kernel::check(&mut arena, &original, &candidate, certificate, &mut solver, Some(Instant::now() + TIME))
    }

    /// The same in words.
    pub fn verdict(&self, locals: &[LocalClaim]) -> String {
        match self.check(&self.certificate(locals)) {
            Ok(_) => "accepted".to_string(),
            Err(rejection) => render_rejection(&rejection),
        }
    }
}

pub fn render_rejection(rejection: &Rejection) -> String {
    match rejection {
        Rejection::Malformed(what) => format!("malformed: {what}"),
        Rejection::Stuck(Stuck::Loop { side, .. }) => format!("stuck: a loop of the {}", side.name()),
        Rejection::Stuck(stuck) => format!("stuck: {stuck:?}"),
        Rejection::Unbound { original, candidate } => format!("unbound: {original} and {candidate}"),
        Rejection::Claims(failed) => format!("claims: {failed:?}"),
        Rejection::Obligation { what, .. } => format!("obligation: {what}"),
    }
}
