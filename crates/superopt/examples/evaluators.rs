//! How many proposals a second the search makes, and what it finds for the functions of `bench/optimize/hackers_delight`.
//!
//! `evaluators rates` prints the rates, `evaluators find SECONDS NAME…` lets the search run. `cargo xtask bench evaluators` calls
//! the first.

use object::{Object, ObjectSection, ObjectSymbol};
use program::Register;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use superopt::{Evaluate, Herd, LANES, Lanes, Native, Options, Output, Plain, Pool, Search, State, Task, price};
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

/// Proposals a second of processor time, this process and its children.
fn rate<E: Evaluate>(mut herd: Herd<E>) -> f64 {
    let warm = processor_time();
    while processor_time() - warm < Duration::from_millis(200) {
        let _ = herd.round();
    }
    let (before, start, children) = (herd.proposals, processor_time(), Instant::now());
    while processor_time() - start < Duration::from_millis(700) {
        for _ in 0..64 {
            let _ = herd.round();
        }
    }
    let _ = children;
    (herd.proposals - before) as f64 / (processor_time() - start).as_secs_f64() / 1e6
}

/// Rates of the chains, of the processor, and of an evaluator that runs whole programs one by one, on the same tasks.
fn rates() {
    let mut columns: [Vec<f64>; 3] = Default::default();
    println!("M proposals a second of processor time: chains, processor (without its child), whole programs");
    for name in ["p14", "p19", "p21", "p23", "p24"] {
        let mut search = Search::new(task(name), states(32), &[], Options::default()).expect("a search");
        let _ = search.epoch();
        let before = search.proposals;
        let start = processor_time();
        let _ = search.epoch();
        let chains = (search.proposals - before) as f64 / (processor_time() - start).as_secs_f64() / 1e6;
        let task = task(name);
        let pool = Arc::new(Pool::for_task(&task, &[]));
        let original = pool.exactly(&task.original).expect("the original");
        let mut lanes = Lanes::new(pool.clone(), &task);
        let states = search.states().to_vec();
        let native = Native::new(pool.clone(), &task, &states, &original).expect("the processor");
        assert!(lanes.load(&states[..states.len().min(LANES)], &task, &original));
        let processor = rate(Herd::new(pool.clone(), native, (1, 0.3), 16));
        let plain = rate(Herd::new(pool, Plain(lanes), (1, 0.3), 16));
        println!("{name}: {chains:.2}  {processor:.2}  {plain:.2}");
        for (column, rate) in columns.iter_mut().zip([chains, processor, plain]) {
            column.push(rate);
        }
    }
    let [chains, processor, plain] = columns.map(|mut column| {
        column.sort_by(f64::total_cmp);
        column[2]
    });
    println!("median: chains {chains:.2}, processor {processor:.2}, whole programs {plain:.2}");
    println!("times as fast as whole programs: chains {:.1}, processor {:.1}", chains / plain, processor / plain);
}
