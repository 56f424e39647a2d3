//! `lockstep regalloc`: compiles a file with LLVM, stops before and after register allocation, and checks every function
//! for every allocator.
//!
//! llc silently ignores the name of a pass that is not in its pipeline and prints what comes out at the end. So what it
//! prints is looked at: before allocation there are virtual registers, after it none, and never a prologue.

use crate::arguments::{Format, RegallocArguments, Span};
use crate::regalloc::machine_ir::{Effort, pairs, read, report_all};
use crate::status::{Failure, Status};
use crate::{complain, deliver};
use lift_mir::Module;
use machine::{Arg, Place};
use report::{AllocatorReport, CheckReport, render_allocators_json, render_allocators_text};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Where llc is stopped: before SSA is left, before and after the allocator.
struct Cuts {
    ssa: &'static str,
    pre: &'static str,
    post: &'static str,
}

const UNOPTIMISED: Cuts = Cuts {
    ssa: "-stop-before=phi-node-elimination",
    pre: "-stop-before=regallocfast",
    post: "-stop-after=regallocfast",
};
const OPTIMISED: Cuts =
    Cuts { ssa: "-stop-before=livevars", pre: "-stop-after=machine-scheduler", post: "-stop-after=virtregrewriter" };

/// Compiles, compares, reports.
pub fn run(arguments: &RegallocArguments) -> Result<Status, Failure> {
    let scratch = tempfile::tempdir().map_err(|e| Failure(format!("no scratch directory: {e}")))?;
    let kept = arguments.save_mir.as_deref().unwrap_or(scratch.path());
    std::fs::create_dir_all(kept).map_err(|e| Failure(format!("{}: {e}", kept.display())))?;
    let input = compile(arguments, scratch.path())?;
    let cuts = if arguments.level == "0" { &UNOPTIMISED } else { &OPTIMISED };
    let before = kept.join("before.mir");
    let first = if arguments.span == Span::Ssa { cuts.ssa } else { cuts.pre };
    llc(arguments, &input, &[first], &before)?;
    let mut reports = Vec::new();
    for allocator in allocators(arguments)? {
        let after = kept.join(format!("after-{allocator}.mir"));
        if let Err(Failure(what)) = llc(arguments, &input, &[cuts.post, &format!("-regalloc={allocator}")], &after) {
            // Not every version of llc can run every allocator. Only what was asked for by name must work.
            if !arguments.allocators.is_empty() {
                return Err(Failure(format!("{allocator}: {what}")));
            }
            complain(&format!("{allocator} is left out: {what}"));
            continue;
        }
        reports.push(compare(allocator, [&before, &after], arguments)?);
    }
    if reports.is_empty() {
        return Err(Failure(format!("{}: no allocator could be run", arguments.llc)));
    }
    match arguments.format {
        Format::Text => deliver(&render_allocators_text(&reports)),
        Format::Json => deliver(&render_allocators_json(&arguments.file.display().to_string(), &reports)),
    }
    let summaries = reports.iter().map(|one| one.report.summary());
    Ok(match summaries.fold((0, 0), |(d, u), summary| (d + summary.different, u + summary.unknown)) {
        (1.., _) => Status::Different,
        (0, 1..) => Status::Unknown,
        (0, 0) => Status::Good,
    })
}

/// At -O0 llc has only one allocator.
fn allocators(arguments: &RegallocArguments) -> Result<Vec<String>, Failure> {
    let all = ["fast", "basic", "greedy", "pbqp"];
    let mut chosen: Vec<String> = if arguments.allocators.is_empty() {
        all.iter().map(|a| a.to_string()).collect()
    } else {
        arguments.allocators.clone()
    };
    if let Some(strange) = chosen.iter().find(|a| !all.contains(&a.as_str())) {
        return Err(Failure(format!("--regalloc {strange}: llc has fast, basic, greedy and pbqp")));
    }
    if arguments.level == "0" {
        if !arguments.allocators.is_empty() && chosen.iter().any(|a| a != "fast") {
            complain("at -O0 llc has only the fast allocator; the others are left out");
        }
        chosen.retain(|a| a == "fast");
        if chosen.is_empty() {
            return Err(Failure("at -O0 llc has only the fast allocator".to_string()));
        }
    }
    Ok(chosen)
}

/// C becomes bitcode by the clang that belongs to llc; bitcode and LLVM IR stay what they are.
fn compile(arguments: &RegallocArguments, scratch: &Path) -> Result<PathBuf, Failure> {
    let file = &arguments.file;
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    if !file.is_file() {
        return Err(Failure(format!("{}: no such file", file.display())));
    }
    match extension {
        "ll" | "bc" => Ok(file.clone()),
        "c" | "cc" | "cpp" | "cxx" => {
            let clang = arguments.clang.clone().unwrap_or_else(|| arguments.llc.replace("llc", "clang"));
            let output = scratch.join("input.bc");
            let mut command = Command::new(&clang);
            command.arg(format!("-O{}", arguments.level));
            if arguments.level == "0" {
                command.args(["-Xclang", "-disable-O0-optnone"]);
            }
            command.args(["-c", "-emit-llvm"]).args(&arguments.cflags).arg(file).arg("-o").arg(&output);
            run_tool(&mut command, &clang)?;
            Ok(output)
        }
        _ => Err(Failure(format!("{}: expected a .c, .ll or .bc file", file.display()))),
    }
}

fn llc(arguments: &RegallocArguments, input: &Path, options: &[&str], output: &Path) -> Result<(), Failure> {
    let mut command = Command::new(&arguments.llc);
    command.arg(format!("-O{}", arguments.level)).arg("-simplify-mir").args(options).arg(input).arg("-o").arg(output);
    run_tool(&mut command, &arguments.llc)
}

fn run_tool(command: &mut Command, name: &str) -> Result<(), Failure> {
    let output = command.output().map_err(|e| Failure(format!("{name}: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let lines = || message.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.contains("error") || line.contains("ERROR"));
    let message = line.or_else(|| lines().next()).unwrap_or("it failed").to_string();
    Err(Failure(format!("{name}: {message}")))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Before,
    After,
}

/// Did llc stop where it was asked to?
fn check_cut(module: &Module, cut: Cut) -> Result<(), Failure> {
    let ignored = |what: &str| {
        Err(Failure(format!("llc did not stop where asked ({what}); does this version have a pass of that name?")))
    };
    if module.functions.iter().any(|f| f.source_text().contains(" frame-setup ")) {
        return ignored("there are prologues");
    }
    let virtuals = |function: &machine::Function| {
        let written = function.lanes.iter().any(|lane| matches!(lane.location.place(), Place::Virtual(_)));
        let read = function.args.iter().chain(function.terms.iter().map(|(_, arg)| arg));
        let is_virtual = |arg: &Arg| matches!(arg, Arg::Lane(l) | Arg::Padded(l, _) if matches!(l.location.place(), Place::Virtual(_)));
        written || read.into_iter().any(is_virtual) || function.virtuals.iter().any(|bits| *bits > 0)
    };
    let any = module.functions.iter().any(virtuals);
    let work = module.functions.iter().map(|f| f.instructions.len()).sum::<usize>() > 20;
    match cut {
        Cut::Before if !any && work => ignored("there are no virtual registers before allocation"),
        Cut::After if any => ignored("there are virtual registers after allocation"),
        _ => Ok(()),
    }
}

fn compare(allocator: String, files: [&Path; 2], arguments: &RegallocArguments) -> Result<AllocatorReport, Failure> {
    let start = Instant::now();
    let [before, after] = files;
    let modules = Arc::new(read(before, after).map_err(|f| Failure(format!("{allocator}: {}", f.0)))?);
    check_cut(&modules.original, Cut::Before)?;
    check_cut(&modules.candidate, Cut::After)?;
    let certificates = arguments.certificates.as_ref().map(|directory| directory.join(&allocator));
    let effort = Effort { timeout: arguments.timeout, jobs: arguments.jobs, certificates: certificates.as_deref() };
    let functions = report_all(&modules, pairs(&modules, &arguments.functions)?, &effort)?;
    let [original, candidate] = files.map(|path| path.display().to_string());
    let (time, reading) = (start.elapsed(), Some(modules.reading));
    let report = CheckReport { original, candidate, functions, time, reading, stopped: None };
    Ok(AllocatorReport { allocator, report })
}
