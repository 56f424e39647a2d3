//! The semantics against the CPU: every encodable form of every row that this CPU can run, on random and corner
//! states.
//!
//! A failure prints a command that repeats it. Undefined flags and results are those that the row declares: the
//! model is run with the undefined values all zeros and all ones, bits that then differ are undefined, and they
//! must be declared.

mod encoding;
mod forms;
mod model;
mod random;
mod states;

use forms::Form;
use iced_x86::Code;
use model::{End, Model};
use native::{Outcome, Runner, Signal};
use random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use x86::{Flow, table};

/// States per choice of operands, and how many a form gets in total.
const STATES: usize = 32;
const TOTAL: usize = 1000;
/// Choices of operands after which a form gives up: some choices are refused (`xchg` with memory).
const INSTANCES: u64 = 200;

/// What the threads found.
#[derive(Default)]
struct Findings {
    /// Rows that were run, with the number of states.
    rows: BTreeMap<&'static str, usize>,
    forms: usize,
    failures: Vec<String>,
}

#[test]
fn every_form_agrees_with_the_cpu() {
    let wanted = std::env::var("X86_CASE").ok();
    let (wanted, only) = match wanted.as_deref().map(|case| case.split_once(':').unwrap_or((case, ""))) {
        Some((name, instance)) => (Some(name.to_string()), instance.parse().ok()),
        None => (None, None),
    };
    let forms: Vec<Form> =
        forms::all().filter(|form| wanted.as_ref().is_none_or(|name| form.name() == *name)).collect();
    let (next, findings) = (AtomicUsize::new(0), Mutex::new(Findings::default()));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut runner = Runner::new(states::SCRATCH, STATES).expect("a child process");
                while let Some(form) = forms.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check_form(form, only, &mut runner, &findings);
                }
            });
        }
    });
    let findings = findings.into_inner().expect("no thread panicked");
    assert!(findings.failures.is_empty(), "{} failures:\n{}", findings.failures.len(), findings.failures.join("\n"));
    if wanted.is_none() {
        check_coverage(&findings);
    }
}

/// Every row that this CPU can run was run, apart from those without operations.
fn check_coverage(findings: &Findings) {
    let control: BTreeSet<&str> = "jmp jcc jrcxz loop call ret ud2 int3 hlt endbr32".split(' ').collect();
    let missing: Vec<&str> = table::rows()
        .filter(|row| forms::is_available(row) && !findings.rows.contains_key(row.name))
        .map(|row| row.name)
        .filter(|name| !control.contains(name))
        .collect();
    assert!(missing.is_empty(), "rows that no form tests: {missing:?}");
    println!("{} forms of {} rows", findings.forms, findings.rows.len());
}

fn check_form(form: &Form, only: Option<u64>, runner: &mut Runner, findings: &Mutex<Findings>) {
    let mut model = Model::new();
    let (mut run, mut row_name) = (0, None);
    for instance in (0..INSTANCES).filter(|i| only.is_none_or(|only| only == *i)) {
        let mut random = Random::new(form.seed(), instance);
        if run >= TOTAL {
            break;
        }
        let Some(code) = (0..16).find_map(|_| form.encode(&mut random)) else { return };
        let Ok(decoded) = x86::decode(&code, 0x1000) else { return };
        let Some(row) = decoded.instruction.mnemonic.row() else { return };
        if !forms::is_available(row) || decoded.instruction.flow() != Flow::Next {
            return;
        }
        let Ok(program) = model.compile(&decoded.instruction) else { continue };
        row_name = Some(row.name);
        let inputs: Vec<_> = (0..STATES).map(|_| states::generate(&decoded.instruction, &mut random)).collect();
        let outcomes = runner.run(&code, &inputs).expect("the child answers");
        for (input, outcome) in inputs.iter().zip(&outcomes) {
            let end = model.run(&program, input);
            run += usize::from(!matches!(end, End::Skip));
            let verdict = match (end, outcome) {
                (End::Skip, _) => Ok(()),
                (End::Fault(expected), Outcome::Fault(fault)) if is_same(expected, fault.signal) => Ok(()),
                (End::Done(end), Outcome::Done { state, memory }) => end.compare(row, input, state, memory),
                (End::Fault(expected), other) => Err(format!("model faults with {expected:?}, cpu: {}", brief(other))),
                (End::Done(_), other) => Err(format!("model runs through, cpu: {}", brief(other))),
            };
            if let Err(difference) = verdict {
                let failure = format!(
                    "{} `{}` ({}): {difference}\n    X86_CASE={}:{instance} cargo test -p x86 --test cpu",
                    form.name(),
                    decoded.instruction,
                    code.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
                    form.name(),
                );
                findings.lock().expect("no thread panicked").failures.push(failure);
                return;
            }
        }
    }
    if let Some(name) = row_name {
        assert!(run >= TOTAL || only.is_some(), "{}: only {run} states", form.name());
        let mut findings = findings.lock().expect("no thread panicked");
        findings.forms += 1;
        *findings.rows.entry(name).or_default() += run;
    }
}

/// Linux reports a bad address on the stack as SIGBUS.
fn is_same(expected: Signal, actual: Signal) -> bool {
    expected == actual || (expected, actual) == (Signal::Segv, Signal::Bus)
}

fn brief(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { .. } => "runs through".to_string(),
        other => format!("{other:?}"),
    }
}

/// No code that the encoder can produce makes the lifter panic, whether modelled or not.
#[test]
fn unmodelled_instructions_are_refused_by_name() {
    let mut refused = BTreeSet::new();
    for code in Code::values() {
        let form = Form::of(code);
        let mut random = Random::new(form.seed(), 0);
        let Some(bytes) = form.encode(&mut random) else { continue };
        let Ok(decoded) = x86::decode(&bytes, 0x1000) else { continue };
        if let Err(unsupported) = Model::new().compile(&decoded.instruction) {
            refused.insert(unsupported.name);
        }
    }
    for name in ["xchg with memory", "cpuid", "syscall", "fld", "vaddps", "rdtsc", "mfence", "rcpps", "vgatherdps"] {
        assert!(refused.contains(name), "{name} is not among the refused: {refused:?}");
    }
}

/// Bytes from anywhere neither panic the decoder nor the lifter.
#[test]
fn random_bytes_are_decoded_and_lifted_without_panic() {
    let mut random = Random::new(7, 7);
    let mut model = Model::new();
    let start = std::time::Instant::now();
    while start.elapsed().as_millis() < 1000 {
        let bytes: Vec<u8> = (0..16).map(|_| random.next() as u8).collect();
        if let Ok(decoded) = x86::decode(&bytes, 0x1000) {
            let _ = decoded.instruction.flow();
            let _ = decoded.instruction.to_string();
            let _ = model.compile(&decoded.instruction);
        }
        if model.is_large() {
            model = Model::new();
        }
    }
}

/// Any mnemonic with any operands is lifted or refused: other frontends may get operands wrong.
#[test]
fn mixed_up_operands_are_refused_without_panic() {
    let mut random = Random::new(11, 13);
    let mut instructions = Vec::new();
    for form in forms::all() {
        let Some(bytes) = form.encode(&mut random) else { continue };
        let Ok(decoded) = x86::decode(&bytes, 0x1000) else { continue };
        if decoded.instruction.mnemonic.row().is_some() {
            instructions.push(decoded.instruction);
        }
    }
    let mut model = Model::new();
    let start = std::time::Instant::now();
    while start.elapsed().as_millis() < 1000 {
        let count = instructions.len() as u64;
        let mut mixed = instructions[random.below(count) as usize].clone();
        let other = &instructions[random.below(count) as usize];
        match random.below(3) {
            0 => mixed.operands = other.operands.clone(),
            1 => mixed.operands.truncate(random.below(4) as usize),
            _ => {
                let donor = other.operands.first().copied();
                if let (Some(slot), Some(donor)) = (mixed.operands.first_mut(), donor) {
                    *slot = donor;
                }
            }
        }
        mixed.encoding = if random.chance(4) { other.encoding } else { mixed.encoding };
        let _ = model.compile(&mixed);
        if model.is_large() {
            model = Model::new();
        }
    }
}
