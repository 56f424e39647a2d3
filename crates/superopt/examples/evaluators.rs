//! How many proposals a second the search makes, and what it finds for the functions of `bench/optimize/hackers_delight`.
//!
//! `evaluators rates` prints the rates, `evaluators find SECONDS NAME…` lets the search run. `cargo xtask bench evaluators` calls
//! the first.

use object::{Object, ObjectSection, ObjectSymbol};
use program::Register;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use superopt::{Options, Output, Search, State, Task, price};
use x86::{Flow, Instruction, Lane, Registers};

/// Number of arguments of the functions that have more than one.
const ARGUMENTS: [(&str, usize); 9] =
    [("p10", 2), ("p11", 2), ("p12", 2), ("p14", 2), ("p15", 2), ("p16", 2), ("p19", 3), ("p21", 4), ("p25", 2)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["rates"] => rates(),
        ["find", seconds, names @ ..] => {
            let limit = Duration::from_secs_f64(seconds.parse().expect("a number of seconds"));
            names.iter().for_each(|name| find(name, limit));
        }
        _ => panic!("usage: evaluators rates | evaluators find SECONDS NAME..."),
    }
}

/// The instructions of a function, without its `ret`.
fn code(name: &str) -> Vec<Instruction> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../bench/optimize/hackers_delight/{name}.c"));
    let target: PathBuf = std::env::temp_dir().join(format!("evaluators-{}-{name}.o", std::process::id()));
    let done = Command::new("gcc").args(["-O0", "-fcf-protection=none", "-c", "-o"]).arg(&target).arg(&source).status();
    assert!(done.is_ok_and(|status| status.success()), "gcc compiles {}", source.display());
    let bytes = std::fs::read(&target).expect("the object");
    let _ = std::fs::remove_file(&target);
    let file = object::File::parse(&*bytes).expect("an object file");
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).expect("the function");
    let text = file.section_by_name(".text").expect("code").data().expect("code").to_vec();
    let (mut at, mut out) = (symbol.address() as usize, Vec::new());
    loop {
        let decoded = x86::decode(&text[at..], at as u64).expect("an instruction");
        if decoded.instruction.flow() == Flow::Return {
            return out;
        }
        at += decoded.length;
        out.push(decoded.instruction);
    }
}

fn task(name: &str) -> Task {
    let count = ARGUMENTS.iter().find(|(other, _)| *other == name).map_or(1, |(_, count)| *count);
    let arguments: Registers = Register::ARGUMENTS.into_iter().take(count).collect();
    let result = Output::Lane(Lane { register: Register::General(0), offset: 0, bits: 32 });
    Task::of_function(code(name), arguments, vec![result])
}

fn states(count: u64) -> Vec<State> {
    (0..count).map(|number| State::random(7, number)).collect()
}

/// Price, code, when, by whom.
type Found = (u32, Vec<Instruction>, Duration, String);

fn find(name: &str, limit: Duration) {
    let task = task(name);
    let goal = task.goal;
    let processor = processor_time();
    let options = Options::default();
    let mut search = Search::new(task, states(256), &[], options).expect("a search");
    let prepared = processor_time() - processor;
    let (mut best, mut first): (Option<Found>, _) = (None, None);
    while processor_time() - processor < limit {
        for proposal in search.epoch() {
            first.get_or_insert(processor_time() - processor);
            if best.as_ref().is_none_or(|(price, ..)| proposal.price < *price) {
                best = Some((
                    price(&proposal.code, goal),
                    proposal.code,
                    processor_time() - processor,
                    format!("{:?}", proposal.method),
                ));
            }
        }
    }
    let used = processor_time() - processor;
    let rate = search.proposals as f64 / (used - prepared).as_secs_f64() / 1e6;
    match best {
        None => println!("{name}: nothing; {rate:.2} M proposals/s, {} forms, {prepared:.1?} to begin", search.forms()),
        Some((price, code, when, method)) => {
            let text: Vec<String> = code.iter().map(Instruction::to_string).collect();
            println!(
                "{name}: {} instructions, price {price}, first {:.1?}, best {when:.1?} by {method}; {rate:.2} M/s, {} forms, {prepared:.1?} to begin\n    {}",
                code.len(),
                first.unwrap_or_default(),
                search.forms(),
                text.join("; "),
            );
        }
    }
}

/// Processor time of this thread: the machine may have other things to do.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn rates() {
    let mut rates = Vec::new();
    for name in ["p14", "p19", "p21", "p23", "p24"] {
        let mut search = Search::new(task(name), states(32), &[], Options::default()).expect("a search");
        let _ = search.epoch();
        let before = search.proposals;
        let start = processor_time();
        let _ = search.epoch();
        let rate = (search.proposals - before) as f64 / (processor_time() - start).as_secs_f64() / 1e6;
        println!("{name}: {rate:.2} M proposals/s of processor time");
        rates.push(rate);
    }
    rates.sort_by(f64::total_cmp);
    println!("median: {:.2} M proposals/s", rates[2]);
}
