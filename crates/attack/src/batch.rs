//! A batch: many cases in one file for each side, compiled once, checked once, run once.

use crate::areas::Area;
use crate::builder::Files;
use crate::case::{Case, Line, Planted};
use crate::native::{self, Assumed, Comparison};
use crate::random::Random;
use crate::toolchain::{self, Compilation, Compilations, Runtime, World};
use crate::verdicts::{Answers, Prover, Verdict, is_version, together};
use std::path::{Path, PathBuf};

/// What all batches share.
#[derive(Clone, Debug)]
pub struct Environment {
    /// For objects and executables; each worker has its own.
    pub scratch: PathBuf,
    /// Of the harness.
    pub runtime: Runtime,
    /// Under attack.
    pub prover: Prover,
    /// Inputs of each native run.
    pub inputs: usize,
    /// Of everything random.
    pub seed: u64,
    /// How many pairs of a hundred carry a planted change.
    pub planted: usize,
}

/// A case with what is planted in it, as lines that can be taken away.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Its number in the batch.
    pub id: usize,
    /// Its shape.
    pub shape: &'static str,
    /// The change, if the candidate has one.
    pub planted: Option<Planted>,
    /// Both sides.
    pub lines: Vec<Line>,
    /// Callees and runs.
    pub harness: String,
    /// The functions whose verdicts count.
    pub judged: Vec<String>,
}

/// What came out for one pair.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The pair.
    pub pair: Pair,
    /// Of the functions that are judged, together.
    pub verdict: Verdict,
    /// What the native runs showed, if there were any.
    pub native: Option<Comparison>,
}

/// Number of pairs in a batch.
pub const PAIRS: usize = 32;

/// How many pairs of a hundred carry a planted change, if nothing else is asked for.
pub const PLANTED: usize = 80;

/// The pairs of a batch and how they are compiled: a function of seed, number, area and the share of planted changes alone.
pub fn pairs(seed: u64, number: u64, area: Area, planted: usize) -> (Vec<Pair>, Compilations) {
    let mut random = Random::new(seed, number);
    let compilations = toolchain::choose(&mut random, area.name);
    let mut taken = Vec::new();
    let pairs = (0..PAIRS)
        .map(|id| {
            let case = area.generate(id, &mut random, compilations.setting, &mut taken);
            let planted = if random.below(100) < planted { case.plant(&mut random) } else { None };
            Pair::new(&case, planted)
        })
        .collect();
    (pairs, compilations)
}

impl Pair {
    /// The lines of a case.
    pub fn new(case: &Case, planted: Option<Planted>) -> Pair {
        let judged = planted.as_ref().map_or_else(|| case.functions(), |p| p.blamed.clone());
        Pair {
            id: case.id,
            shape: case.shape,
            lines: case.lines(planted.as_ref()),
            planted,
            harness: case.harness.clone(),
            judged,
        }
    }
}

/// The objects of both sides and of the harness.
pub struct Built {
    objects: [PathBuf; 2],
    /// What is compared: these, or libraries made of them.
    compared: [PathBuf; 2],
    sources: [PathBuf; 3],
    executables: [PathBuf; 2],
    /// The same in a world that meets assumptions.
    assumed: [PathBuf; 2],
}

/// The three texts of some pairs: both sides and the harness.
pub fn texts(pairs: &[Pair]) -> [String; 3] {
    let side =
        |f: fn(&Line) -> &str| pairs.iter().flat_map(|p| &p.lines).map(|l| format!("{}\n", f(l))).collect::<String>();
    let mut harness = String::from("#include \"harness.h\"\n");
    for pair in pairs {
        harness.push_str(&pair.harness);
    }
    harness.push_str("const struct attack_case attack_cases[] = {\n");
    for pair in pairs {
        harness.push_str(&format!("  {{ {0}, run_{0} }},\n", pair.id));
    }
    harness.push_str("  { 0, 0 }\n};\n");
    [side(|l| &l.original), side(|l| &l.candidate), harness]
}

impl Built {
    /// Compiles both sides.
    pub fn compile(environment: &Environment, pairs: &[Pair], compilations: &Compilations) -> Result<Built, String> {
        let file = |name: &str| environment.scratch.join(name);
        let objects = [file("a.o"), file("b.o")];
        let executables = [file("a.run"), file("b.run")];
        let built = Built {
            compared: match compilations.setting.files {
                Files::Objects => objects.clone(),
                Files::Libraries => [file("a.so"), file("b.so")],
                Files::Executables => executables.clone(),
            },
            executables,
            assumed: [file("a.assumed"), file("b.assumed")],
            objects,
            sources: [file("a/program.c"), file("b/program.c"), file("harness.c")],
        };
        for folder in ["a", "b"].map(file) {
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        for (source, text) in built.sources.iter().zip(texts(pairs)) {
            toolchain::write(source, &text)?;
        }
        toolchain::compile(&compilations.original, &built.sources[0], &built.objects[0])?;
        toolchain::compile(&compilations.candidate, &built.sources[1], &built.objects[1])?;
        if compilations.setting.files == Files::Libraries {
            for (object, library) in built.objects.iter().zip(&built.compared) {
                toolchain::share(object, library)?;
            }
        }
        Ok(built)
    }

    /// What the prover says about both sides.
    pub fn check(
        &self,
        environment: &Environment,
        pairs: &[Pair],
        compilations: &Compilations,
    ) -> Result<Answers, String> {
        let [a, b] = &self.compared;
        if compilations.setting.files != Files::Executables {
            return environment.prover.check(a, b);
        }
        // The harness is in there, too, and nobody asks for its functions.
        self.link(environment, compilations, World::Any)?;
        let judged: Vec<String> = pairs.iter().flat_map(|p| p.judged.iter().cloned()).collect();
        let (mut functions, theirs) =
            (toolchain::functions(&self.objects[0])?, toolchain::functions(&self.objects[1])?);
        // A cold part belongs to its function.
        functions.retain(|f| theirs.contains(f) && is_version(f, &judged) && !f.ends_with(".cold"));
        if functions.is_empty() { Ok(Answers::new()) } else { environment.prover.check_only(a, b, &functions) }
    }

    fn executables(&self, world: World) -> &[PathBuf; 2] {
        match world {
            World::Any => &self.executables,
            World::Assumed => &self.assumed,
        }
    }

    /// Compiles the harness and links it with each side.
    pub fn link(&self, environment: &Environment, compilations: &Compilations, world: World) -> Result<(), String> {
        let harness = self.sources[2].with_extension("o");
        environment.runtime.harness(compilations.setting, world, &self.sources[2], &harness)?;
        for (object, executable) in self.objects.iter().zip(self.executables(world)) {
            environment.runtime.link(object, &harness, executable)?;
        }
        Ok(())
    }

    /// Runs these cases on both sides.
    pub fn run(&self, environment: &Environment, cases: &[usize], world: World) -> Result<Vec<Comparison>, String> {
        let [a, b] =
            self.executables(world).each_ref().map(|e| native::run(e, environment.seed, environment.inputs, cases));
        let (a, b) = (a?, b?);
        Ok(cases.iter().map(|c| native::compare(a.get(c), b.get(c))).collect())
    }

    /// What both sides show of a case on an input.
    pub fn observe(&self, environment: &Environment, case: usize, input: usize) -> [String; 2] {
        [0, 1].map(|side: usize| native::observe(&self.executables[side], environment.seed, input, case))
    }
}

/// What a batch came to.
pub struct Report {
    /// One for each pair.
    pub outcomes: Vec<Outcome>,
    /// What lockstep said.
    pub answers: Answers,
    /// How it was compiled.
    pub compilations: Compilations,
}

/// Generates, compiles, checks, and runs what was proved.
pub fn run(environment: &Environment, number: u64, area: Area) -> Result<Report, String> {
    let (pairs, compilations) = pairs(environment.seed, number, area, environment.planted);
    let (pairs, built) = compile_what_compiles(environment, pairs, &compilations)?;
    let answers = built.check(environment, &pairs, &compilations)?;
    let mut outcomes: Vec<Outcome> = pairs
        .into_iter()
        .map(|pair| Outcome { verdict: together(&answers, &pair.judged), pair, native: None })
        .collect();
    let proved: Vec<usize> = outcomes.iter().filter(|o| o.verdict == Verdict::Equivalent).map(|o| o.pair.id).collect();
    if !proved.is_empty() {
        built.link(environment, &compilations, World::Any)?;
        let compared = built.run(environment, &proved, World::Any)?;
        for (id, native) in proved.into_iter().zip(compared) {
            let Some(outcome) = outcomes.iter_mut().find(|o| o.pair.id == id) else { continue };
            outcome.native = Some(judge(native, &outcome.pair, &answers, &compilations, &built, environment)?);
        }
    }
    Ok(Report { outcomes, answers, compilations })
}

/// What a run of a proved pair shows. A difference that an assumption of the proof names is none of the proof's. The programs are free
/// of undefined behaviour and the harness keeps to the calling convention, so only two can be meant, and each only where the program
/// is about that, and the difference is gone where runs meet the assumption.
pub fn judge(
    comparison: Comparison,
    pair: &Pair,
    answers: &Answers,
    compilations: &Compilations,
    built: &Built,
    environment: &Environment,
) -> Result<Comparison, String> {
    let Comparison::Different(input) = comparison else { return Ok(comparison) };
    let Some(assumed) = named(pair, answers, &compilations.original) else { return Ok(comparison) };
    built.link(environment, compilations, World::Assumed)?;
    let again = built.run(environment, &[pair.id], World::Assumed)?;
    Ok(match again.as_slice() {
        [Comparison::Same(_)] => Comparison::Covered(input, assumed),
        _ => comparison,
    })
}

/// The assumption of the proof that this pair may violate, if it is printed for a function of the pair.
fn named(pair: &Pair, answers: &Answers, original: &Compilation) -> Option<Assumed> {
    let assumed = match pair.shape {
        "volatile cast" => Assumed::NoVolatileCasts,
        "volatile" if !original.describes() => Assumed::NoVolatileCasts,
        "namesake" if !original.declares() => Assumed::Library,
        _ => return None,
    };
    let of_pair = |function: &str| pair.lines.iter().any(|l| l.original.contains(&format!("{function}(")));
    let printed = |text: &String| match text.split_once('(') {
        Some((name, function)) => name == assumed.name() && of_pair(function.trim_end_matches(')')),
        None => false,
    };
    let said = answers.iter().filter(|(function, _)| is_version(function, &pair.judged));
    said.flat_map(|(_, answer)| &answer.assumptions).any(printed).then_some(assumed)
}

/// Compiles the batch; pairs that a compiler refuses are left out.
pub fn compile_what_compiles(
    environment: &Environment,
    pairs: Vec<Pair>,
    compilations: &Compilations,
) -> Result<(Vec<Pair>, Built), String> {
    let complaint = match Built::compile(environment, &pairs, compilations) {
        Ok(built) => return Ok((pairs, built)),
        Err(complaint) => complaint,
    };
    let good: Vec<Pair> = pairs
        .into_iter()
        .filter(|p| Built::compile(environment, std::slice::from_ref(p), compilations).is_ok())
        .collect();
    if good.is_empty() {
        return Err(complaint);
    }
    let built = Built::compile(environment, &good, compilations)?;
    Ok((good, built))
}

/// A worker's own directory.
pub fn scratch(directory: &Path, worker: usize) -> Result<PathBuf, String> {
    let scratch = directory.join(format!("work-{}-{worker}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
    Ok(scratch)
}
