//! Pairs of programs as text, ready to be checked.

use kernel::lemma::Facts;
use kernel::{Certificate, CheckedProof, LocalClaim, Rejection, VERSION};
use pair::{File, Files, Prepared};
use program::Undefined;
use solver::{Solver, SolverOptions};
use symbolic::Stuck;
use testkit::compiler::Compiler;
use testkit::pair::Pair;

/// Both versions of the function `f`.
pub struct Programs {
    files: Files,
    facts: Facts,
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
        let read = |name| File::read(&folder.path().join(name)).expect("an object file");
        Programs::new(read("original.o"), read("candidate.o"))
    }

    /// C, the original compiled with -O0 and the candidate with -O2.
    pub fn c(original: &str, candidate: &str) -> Programs {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let build = |text, level, name| {
            let object = folder.path().join(name);
            Compiler::all()[0].compile(text, &[level], &object).unwrap_or_else(|e| panic!("{e}"));
            File::read(&object).expect("an object file")
        };
        Programs::new(build(original, "-O0", "original.o"), build(candidate, "-O2", "candidate.o"))
    }

    fn new(original: File, candidate: File) -> Programs {
        let files = Files::new(original, candidate, Undefined::Excused);
        let mut around = files.surroundings();
        let lemmas = propose::propose(&mut around);
        let facts = files.prove(around, &lemmas, &[both(&files)], &[]);
        Programs { facts, files }
    }

    /// Both functions, in an arena of their own: no check sees the terms of another.
    pub fn prepare(&self) -> Prepared {
        self.files.prepare(both(&self.files), &self.facts).expect("functions that can be lifted")
    }

    /// A certificate for this pair.
    pub fn certificate(&self, locals: &[LocalClaim]) -> Certificate {
        let pair = self.prepare().pair;
        let [original, candidate] = pair.functions();
        Certificate {
            version: VERSION,
            original: original.name.clone(),
            candidate: candidate.name.clone(),
            original_hash: original.hash.clone(),
            candidate_hash: candidate.hash.clone(),
            assume: Vec::new(),
            axioms: Vec::new(),
            locals: locals.to_vec(),
            cuts: Default::default(),
            points: Vec::new(),
            edges: Vec::new(),
            lemmas: pair.lemmas().to_vec(),
            effort: None,
        }
    }

    /// What the kernel says.
    pub fn check(&self, certificate: &Certificate) -> Result<CheckedProof, Rejection> {
        let Prepared { mut arena, pair } = self.prepare();
        let mut solver = Solver::new(SolverOptions::default());
        kernel::check(&mut arena, &pair, certificate, &mut solver)
    }

    /// The same in words.
    pub fn verdict(&self, locals: &[LocalClaim]) -> String {
        match self.check(&self.certificate(locals)) {
            Ok(_) => "accepted".to_string(),
            Err(rejection) => render_rejection(&rejection),
        }
    }
}

/// Where `f` is in both files.
fn both(files: &Files) -> [usize; 2] {
    [files.original(), files.candidate()].map(|file| file.find("f").expect("a function f"))
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
