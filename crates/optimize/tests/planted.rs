//! Wrong versions that are better than every right one, through the same door as all others: none gets out.

use optimize::assembly::Listing;
use optimize::cpu::Cpu;
use optimize::emit::Output;
use optimize::event::Event;
use optimize::prove::Question;
use optimize::report::{Report, RowState};
use optimize::request::{Conditional, Goal, Request, Specification, Until};
use optimize::{Proposal, Tools};
use pair::{File, Files};
use search::{Options, Outcome, Reason, ReasonKind, Session, Statistics, Verdict};
use solver::{Solver, SolverOptions};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// `f(x, y)` is the average, rounded down, in seven instructions.
const ORIGINAL: &str = "\t.text\n\t.globl f\n\t.type f, @function\nf:\n\tmovl %edi, %eax\n\tandl %esi, %eax\n\tmovl %edi, %ecx\n\
    \txorl %esi, %ecx\n\tshrl $1, %ecx\n\taddl %ecx, %eax\n\tret\n\t.size f, .-f\n";
/// The same in fewer bytes.
const BETTER: &str = "f:\n\tmovl %edi, %eax\n\tandl %esi, %eax\n\txorl %esi, %edi\n\tshrl $1, %edi\n\taddl %edi, %eax\n\tret\n\t.size f, .-f\n";

/// Small wrong versions: no two are the same.
fn wrong(number: usize) -> String {
    let first = ["movl %edi, %eax", "leal (%rdi,%rsi), %eax", "movl %esi, %eax", "xorl %eax, %eax"][number % 4];
    let second = ["", "shrl $1, %eax\n\t", "incl %eax\n\t", "sarl $1, %eax\n\t", "decl %eax\n\t"][number / 4 % 5];
    let third = ["", "andl %esi, %eax\n\t", "notl %eax\n\t", "negl %eax\n\t", "bswap %eax\n\t"][number / 20 % 5];
    format!("f:\n\t{first}\n\t{second}{third}ret\n\t.size f, .-f\n")
}

fn read(question: &Question<'_>) -> (Files, [usize; 2]) {
    let read = |path: &Path| File::read(path).expect("the job writes files that can be read");
    let files = Files::new(read(question.original), read(question.candidate), Default::default());
    let both = [files.original(), files.candidate()].map(|file| file.find("f").expect("with the function"));
    (files, both)
}

fn ask(question: &Question<'_>) -> Outcome {
    let (files, both) = read(question);
    let mut prepared = files.prepare(both, &Default::default()).expect("the form of simple code is known");
    let options = Options { timeout: question.limit, tests: question.tests.to_vec(), ..Options::default() };
    Session::new(options).check_pair(&mut prepared.arena, &prepared.pair)
}

fn recheck(question: &Question<'_>, certificate: &kernel::Certificate) -> Result<kernel::CheckedProof, String> {
    let (files, both) = read(question);
    let mut prepared = files.prepare(both, &Default::default()).map_err(|error| error.to_string())?;
    let mut solver = Solver::new(SolverOptions::default());
    kernel::check(&mut prepared.arena, &prepared.pair, certificate, &mut solver).map_err(|r| format!("{r:?}"))
}

struct Ran {
    report: Report,
    written: Option<String>,
    journal: String,
}

/// Optimises the original's size with these proposals.
fn run(proposals: &[String], jobs: usize, ask: &optimize::prove::Door<'_>) -> Ran {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [file, assembly] = ["original.s", "out.s"].map(|name| folder.path().join(name));
    std::fs::write(&file, ORIGINAL).expect("the scratch folder is writable");
    let request = Request {
        file,
        function: "f".to_string(),
        source: None,
        specification: Specification::File,
        context: Vec::new(),
        goal: Goal::Size,
        cpu: Cpu::Baseline,
        until: Until::Epochs(0),
        jobs,
        seed: 1,
        tests: Vec::new(),
        arguments: Vec::new(),
        assumed: Vec::new(),
        conditional: Conditional::No,
    };
    let proposal = |(i, text): (usize, &String)| Proposal {
        origin: format!("planted {i}"),
        body: Listing::parse(text).extract("f").expect("a function"),
    };
    let proposals = proposals.iter().enumerate().map(proposal).collect();
    let journal = Mutex::new(String::new());
    let tools = Tools {
        door: ask,
        recheck: &recheck,
        timer: &|_| Err("no clock".to_string()),
        condition: &|_, _| Ok(None),
        samples: &|_, _| Vec::new(),
        tell: &|event| {
            // How long a proof took is not the same twice.
            let event = match event {
                Event::Proved { origin, speedup, .. } => Event::Proved { origin, speedup, seconds: 0.0 },
                Event::Begin { function, seed, .. } => Event::Begin { function, file: String::new(), seed },
                Event::Written { .. } => return,
                other => other,
            };
            *journal.lock().unwrap() += &(event.line() + "\n");
        },
        stopped: &|| false,
    };
    let output = Output { assembly: assembly.clone(), ..Output::default() };
    let report = optimize::run(&request, proposals, &output, &tools).expect("the input is good");
    let written = std::fs::read_to_string(assembly).ok();
    Ran { report, written, journal: journal.into_inner().unwrap() }
}

#[test]
fn of_wrong_versions_none_gets_out() {
    let mut proposals: Vec<String> = (0..100).map(wrong).collect();
    let Ran { report, written, .. } = run(&proposals, 2, &ask);
    assert!(report.winner.is_none() && written.is_none(), "{:?}", report.winner);
    assert!(report.rows.iter().filter(|row| row.state == RowState::Refuted).count() > 50);
    proposals.push(BETTER.to_string());
    let Ran { report, written, .. } = run(&proposals, 2, &ask);
    let winner = report.winner.expect("one is right");
    assert_eq!(winner.origin, "planted 100");
    assert!(written.expect("it is written").contains("shrl $1, %edi"));
}

#[test]
fn an_answer_about_another_file_is_no_proof_of_this_one() {
    // A door that proves the original equivalent to itself, whatever it was asked.
    let confused = |question: &Question<'_>| ask(&Question { candidate: question.original, ..*question });
    let folder_error = std::panic::catch_unwind(|| run(&[wrong(0)], 1, &confused));
    // The file as written is checked again, and is not proved.
    assert!(folder_error.is_err());
}

#[test]
fn runs_are_the_same_however_many_proofs_run_at_a_time() {
    let proposals: Vec<String> = (0..12).map(wrong).chain([BETTER.to_string()]).collect();
    let [first, second] = [(); 2].map(|()| run(&proposals, 1, &ask));
    assert_eq!(first.written, second.written);
    assert_eq!(first.journal, second.journal);
    assert_eq!(run(&proposals, 3, &ask).written, first.written);
}

#[test]
fn a_door_that_does_not_know_proves_nothing() {
    let reason = || Reason::new(ReasonKind::Timeout, "no time");
    let nothing = |_: &Question<'_>| Outcome {
        verdict: Verdict::Unknown(reason()),
        strategy: None,
        statistics: Statistics::default(),
        certificate: None,
        native: Default::default(),
        journal: Default::default(),
        hint: None,
        inferred: None,
    };
    let Ran { report, written, .. } = run(&[BETTER.to_string()], 1, &nothing);
    assert!(report.winner.is_none() && written.is_none());
    assert!(report.render_text().contains("better, but not proved"));
    assert!(Duration::from_secs_f64(report.seconds) < Duration::from_secs(60));
}
