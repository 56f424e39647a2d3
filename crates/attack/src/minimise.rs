//! Reproducers: a wrong proof with as few lines as keep it wrong, written where it can be looked at.

use crate::batch::{Built, Environment, Pair, texts};
use crate::native::Comparison;
use crate::toolchain::{self, Compilations};
use crate::verdicts::{Answers, Verdict, together};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is written about a wrong proof.
pub struct Reproducer {
    /// The pair that is left.
    pub pair: Pair,
    input: usize,
    answers: Answers,
    observed: [String; 2],
}

/// Checks and runs one pair alone: the input that shows the difference, if it is a wrong proof.
fn try_alone(environment: &Environment, pair: &Pair, compilations: &Compilations) -> Option<Reproducer> {
    let built = Built::compile(environment, std::slice::from_ref(pair), compilations).ok()?;
    let answers = environment.prover.check(&built.objects[0], &built.objects[1]).ok()?;
    if together(&answers, &pair.judged) != Verdict::Equivalent {
        return None;
    }
    built.link(environment, compilations).ok()?;
    let Comparison::Different(input) = *built.run(environment, &[pair.id]).ok()?.first()? else { return None };
    Some(Reproducer { observed: built.observe(environment, pair.id, input), pair: pair.clone(), input, answers })
}

/// Whether what is left is still a program without undefined behaviour, as far as the compiler can tell.
fn is_clean(environment: &Environment, pair: &Pair) -> bool {
    let file = environment.scratch.join("clean.c");
    let complaints =
        ["return-type", "implicit-function-declaration", "implicit-int", "uninitialized", "maybe-uninitialized"]
            .map(|w| format!("-Werror={w}"));
    texts(std::slice::from_ref(pair)).iter().take(2).all(|text| {
        toolchain::write(&file, text).is_ok()
            && toolchain::run(
                Command::new("gcc-12")
                    .args(["-std=gnu11", "-O1", "-fno-builtin", "-S", "-o", "/dev/null"])
                    .args(&complaints)
                    .arg(&file),
            )
            .is_ok()
    })
}

/// Takes lines away while it stays a wrong proof. None if the pair alone is none.
pub fn minimise(environment: &Environment, pair: &Pair, compilations: &Compilations) -> Option<Reproducer> {
    let mut best = try_alone(environment, pair, compilations)?;
    let mut budget = 60;
    let mut size = best.pair.lines.len() / 2;
    while size > 0 && budget > 0 {
        let mut at = 0;
        while at < best.pair.lines.len() && budget > 0 {
            let mut smaller = best.pair.clone();
            let end = (at + size).min(smaller.lines.len());
            let removed: Vec<_> = smaller.lines.drain(at..end).collect();
            // The change itself stays, and so does a function that is judged.
            if removed.iter().all(|l| l.original == l.candidate) {
                budget -= 1;
                if is_clean(environment, &smaller)
                    && let Some(found) = try_alone(environment, &smaller, compilations)
                {
                    best = found;
                    continue;
                }
            }
            at += size;
        }
        size /= 2;
    }
    Some(best)
}

impl Reproducer {
    /// Writes the files; the directory.
    pub fn save(
        &self,
        directory: &Path,
        environment: &Environment,
        compilations: &Compilations,
    ) -> Result<PathBuf, String> {
        std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let [a, b, harness] = texts(std::slice::from_ref(&self.pair));
        toolchain::write(&directory.join("a.c"), &a)?;
        toolchain::write(&directory.join("b.c"), &b)?;
        toolchain::write(&directory.join("harness.c"), &harness)?;
        toolchain::write(&directory.join("README"), &self.describe(environment, compilations))?;
        Ok(directory.into())
    }

    fn describe(&self, environment: &Environment, compilations: &Compilations) -> String {
        let mut text = match &self.pair.planted {
            Some(p) => format!("planted: {}: `{}` became `{}`\n", p.kind, p.right, p.wrong),
            None => "planted: nothing; the same text on both sides\n".into(),
        };
        for function in &self.pair.judged {
            let assumptions = self.answers.get(function).map_or(String::new(), |a| a.assumptions.join(", "));
            text.push_str(&format!("{function}: equivalent, assuming {assumptions}\n"));
        }
        text.push_str(&format!(
            "\n{} -c a.c -o a.o\n{} -c b.c -o b.o\n{}\ngcc-12 -w -fno-builtin -no-pie -I. a.o harness.c runtime.c -lm -o a.run   # harness.h and runtime.c are in crates/attack/src\n./a.run {} {} 1 1 {}\n",
            compilations.original,
            compilations.candidate,
            environment.prover.command("a.o", "b.o"),
            environment.seed,
            self.input,
            self.pair.id
        ));
        text.push_str(&format!("\noriginal:\n{}\ncandidate:\n{}\n", self.observed[0], self.observed[1]));
        text
    }
}
