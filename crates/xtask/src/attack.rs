//! `cargo xtask attack`: pairs with a known answer against the prover (crate `attack`).

use crate::{build, root, tools};
use attack::{Area, Options, Prover};
use std::path::PathBuf;
use std::time::Duration;

/// What the command line asks for.
pub struct Request {
    options: Options,
    lockstep: Option<PathBuf>,
    /// Mutate the candidates below this directory instead.
    mutate: Option<PathBuf>,
    /// Only write the sources of this batch.
    show: Option<u64>,
    /// What is attacked.
    target: Target,
}

/// What is attacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    /// Proofs about object files.
    Objects,
    /// Proofs about C kernels.
    Kernels,
}

impl Request {
    /// Reads the words after `attack`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let mut request =
            Request { options: Options::default(), lockstep: None, mutate: None, show: None, target: Target::Objects };
        let options = &mut request.options;
        let mut rest = words;
        while let [name, value, tail @ ..] = rest {
            match *name {
                "--minutes" => {
                    options.time = Some(Duration::try_from_secs_f64(value.parse::<f64>().ok()? * 60.0).ok()?)
                }
                "--batches" => options.batches = Some(value.parse().ok()?),
                "--seed" => options.seed = value.parse().ok()?,
                "--timeout" => options.timeout = value.parse().ok()?,
                "--inputs" => options.inputs = value.parse().ok()?,
                "--jobs" => options.jobs = value.parse().ok()?,
                "--planted" => options.planted = value.parse().ok()?,
                "--area" if *value == "all" => options.area = None,
                "--area" if *value == "c" => request.target = Target::Kernels,
                "--area" => options.area = Some(Area::named(value)?),
                "--mutate" => request.mutate = Some(value.into()),
                "--show" => request.show = Some(value.parse().ok()?),
                "--lockstep" => request.lockstep = Some(value.into()),
                _ => return None,
            }
            rest = tail;
        }
        if options.time.is_none() && options.batches.is_none() {
            options.time = Some(Duration::from_secs(60));
        }
        rest.is_empty().then_some(request)
    }

    /// A bounded number of batches with a fixed seed, for the tests.
    pub fn bounded() -> Request {
        Request {
            options: Options { batches: Some(2 * attack::AREAS.len() as u64), ..Options::default() },
            // The tests have built it; without, a release build is made.
            lockstep: Some(root().join("target/debug/lockstep")).filter(|path| path.is_file()),
            mutate: None,
            show: None,
            target: Target::Objects,
        }
    }

    /// The same for C kernels.
    pub fn bounded_kernels() -> Request {
        let bounded = Request::bounded();
        Request { options: Options { batches: Some(8), ..bounded.options }, target: Target::Kernels, ..bounded }
    }
}

/// Attacks, prints the table, and fails if there is a wrong proof.
pub fn run(request: Request) -> Result<(), String> {
    if let Some(number) = request.show {
        let area = request.options.area.unwrap_or(attack::AREAS[(number % attack::AREAS.len() as u64) as usize]);
        return attack::write_batch(&request.options, number, area, &root().join("target/attack/shown"));
    }
    if request.target == Target::Kernels {
        return kernels(&request);
    }
    tools::require(&[&tools::GCC_12, &tools::CLANG_19, &tools::Z3, &tools::BINUTILS])?;
    let lockstep = match request.lockstep {
        Some(path) => path,
        None => build::lockstep()?,
    };
    let directory = root().join("target/attack");
    if let Some(corpus) = request.mutate {
        let prover = Prover::new(&lockstep, request.options.timeout)?;
        let time = request.options.time.unwrap_or(Duration::from_secs(60));
        let mutants = attack::run_mutants(&corpus, &prover, request.options.seed, time, &directory)?;
        print!("{}", mutants.render());
        return match mutants.wrong.first() {
            Some(first) => {
                Err(format!("xtask attack: {} wrong proofs, such as {}", mutants.wrong.len(), first.display()))
            }
            None => Ok(()),
        };
    }
    let summary = attack::run(request.options, &lockstep, &directory)?;
    print!("{}", summary.render());
    let total = summary.total();
    if total.wrong > 0 {
        return Err(format!(
            "xtask attack: {} wrong proofs; reproducers are in {}",
            total.wrong,
            directory.join("wrong").display()
        ));
    }
    Ok(())
}

/// Attacks proofs about C kernels.
fn kernels(request: &Request) -> Result<(), String> {
    tools::require(&[&tools::CC, &tools::CLANG_19])?;
    let lockstep = match &request.lockstep {
        Some(path) => path.clone(),
        None => build::lockstep()?,
    };
    let score = attack::kernels::run(&request.options, &lockstep, &root().join("target/attack/c"))?;
    print!("{}", score.render());
    match score.wrong.len() {
        0 => Ok(()),
        count => Err(format!("xtask attack: {count} wrong proofs of kernels")),
    }
}
