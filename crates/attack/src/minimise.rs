//! Reproducers: a wrong verdict with as few lines as keep it wrong, written where it can be looked at.

use crate::batch::{Built, Environment, Pair, judge, texts};
use crate::builder::Files;
use crate::native::Comparison;
use crate::toolchain::{self, Compilations, World};
use crate::verdicts::{Answers, Verdict, together};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is wrong with a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// `equivalent`, and a run shows a difference.
    WrongProof,
    /// `different`, and nothing was planted.
    FalseAlarm,
}

/// What is written about a wrong verdict.
pub struct Reproducer {
    /// The pair that is left.
    pub pair: Pair,
    mistake: Mistake,
    input: usize,
    answers: Answers,
    observed: [String; 2],
}

/// Checks and runs one pair alone: what shows the mistake, if it is one.
fn try_alone(
    environment: &Environment,
    pair: &Pair,
    compilations: &Compilations,
    mistake: Mistake,
) -> Option<Reproducer> {
    let built = Built::compile(environment, std::slice::from_ref(pair), compilations).ok()?;
    let answers = built.check(environment, std::slice::from_ref(pair), compilations).ok()?;
    let verdict = together(&answers, &pair.judged);
    match (mistake, verdict) {
        (Mistake::WrongProof, Verdict::Equivalent) => {
            built.link(environment, compilations, World::Any).ok()?;
            let compared = *built.run(environment, &[pair.id], World::Any).ok()?.first()?;
            let judged = judge(compared, pair, &answers, compilations, &built, environment).ok()?;
            let Comparison::Different(input) = judged else { return None };
            let observed = built.observe(environment, pair.id, input);
            Some(Reproducer { pair: pair.clone(), mistake, input, answers, observed })
        }
        (Mistake::FalseAlarm, Verdict::Different) => {
            Some(Reproducer { pair: pair.clone(), mistake, input: 0, answers, observed: Default::default() })
        }
        _ => None,
    }
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

/// Takes lines away while it stays a mistake. None if the pair alone is none.
pub fn minimise(
    environment: &Environment,
    pair: &Pair,
    compilations: &Compilations,
    mistake: Mistake,
) -> Option<Reproducer> {
    let mut best = try_alone(environment, pair, compilations, mistake)?;
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
                    && let Some(found) = try_alone(environment, &smaller, compilations, mistake)
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
        for (side, text) in [("a", a), ("b", b)] {
            let folder = directory.join(side);
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            toolchain::write(&folder.join("program.c"), &text)?;
        }
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
            let Some(answer) = self.answers.get(function) else { continue };
            text.push_str(&match answer.verdict {
                Verdict::Different => format!("{function}: different\n"),
                Verdict::Unknown => format!("{function}: unknown\n"),
                Verdict::Equivalent => format!("{function}: equivalent, assuming {}\n", answer.assumptions.join(", ")),
            });
        }
        let (linked, ending) = match compilations.setting.files {
            Files::Objects => (String::new(), "o"),
            Files::Libraries => {
                (format!("for s in a b; do gcc-12 {} $s.o -o $s.so; done\n", toolchain::SHARED.join(" ")), "so")
            }
            Files::Executables => ("# a.run and b.run are compared\n".into(), "run"),
        };
        let file = |side: &str| format!("{side}.{ending}");
        text.push_str(&format!(
            "\n{} -c a/program.c -o a.o\n{} -c b/program.c -o b.o\n{linked}{}\ngcc-12 -w -fno-builtin -no-pie -I. a.o harness.c runtime.c -lm -o a.run   # harness.h and runtime.c are in crates/attack/src\n./a.run {} {} 1 1 {}\n",
            compilations.original,
            compilations.candidate,
            environment.prover.command(&file("a"), &file("b")),
            environment.seed,
            self.input,
            self.pair.id
        ));
        if self.mistake == Mistake::FalseAlarm {
            return text;
        }
        text.push_str(&format!("\noriginal:\n{}\ncandidate:\n{}\n", self.observed[0], self.observed[1]));
        text
    }
}
