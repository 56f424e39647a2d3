//! Register allocation: cases in `tests/regalloc`, each with a right and a wrong candidate, and hostile texts.
//!
//! A case holds the bodies of one function: `before`, `good` and one or more `bad` ones; `stack` lists the candidate's
//! spill slots as `number:bytes`; `ir` and `header`, if there, are the LLVM IR and more of the function's header; `expect`
//! says what is to be found of the good and of each bad one.

use kernel::regalloc::AllocationCertificate;
use lift_mir::Module;
use machine::Names;
use search::regalloc::{Answer, decide};
use std::path::PathBuf;

struct Case {
    name: String,
    expect: Vec<String>,
    before: String,
    good: String,
    /// With their names.
    bad: Vec<(String, String)>,
}

const IR: &str = "  define void @f() { ret void }\n";

fn document(stack: &str, body: &str) -> String {
    document_of(IR, "", stack, body)
}

fn document_of(ir: &str, header: &str, stack: &str, body: &str) -> String {
    let slots: String = stack
        .split_whitespace()
        .map(|slot| {
            let (id, size) = slot.split_once(':').expect("number:bytes");
            format!("  - {{ id: {id}, type: spill-slot, size: {size}, alignment: {size} }}\n")
        })
        .collect();
    let stack = if slots.is_empty() { String::new() } else { format!("stack:\n{slots}") };
    format!(
        "--- |\n  target triple = \"x86_64-unknown-linux-gnu\"\n{ir}...\n---\nname:            f\n\
         tracksRegLiveness: true\n{header}{stack}body:             |\n{body}\n...\n"
    )
}

fn cases() -> Vec<Case> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/regalloc");
    let entries = std::fs::read_dir(directory).expect("the cases");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "case"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| read_case(&path)).collect()
}

fn read_case(path: &std::path::Path) -> Case {
    let text = std::fs::read_to_string(path).expect("a case");
    let field = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).expect("a field").trim().to_string();
    let is_key = |line: &str| !line.starts_with([' ', '#', '|']) && line.ends_with(':');
    let section = |key: &str| {
        let lines = text.lines().skip_while(|line| *line != key).skip(1);
        lines
            .take_while(|line| !is_key(line))
            .map(|l| format!("{}\n", l.strip_prefix('|').unwrap_or(l)))
            .collect::<String>()
    };
    let stack = field("stack:");
    let ir = if text.contains("\nir:\n") { section("ir:") } else { IR.to_string() };
    let header = section("header:");
    let bad = text.lines().filter(|line| line.starts_with("bad") && is_key(line));
    Case {
        name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
        expect: field("expect:").split_whitespace().map(str::to_string).collect(),
        before: document_of(&ir, &header, "", &section("before:")),
        good: document_of(&ir, &header, &stack, &section("good:")),
        bad: bad.map(|key| (key.to_string(), document_of(&ir, &header, &stack, &section(key)))).collect(),
    }
}

fn answer(before: &str, after: &str) -> (Answer, Module, Module, Names) {
    let mut names = Names::new();
    let original = Module::parse(before, &mut names).expect("the original");
    let candidate = Module::parse(after, &mut names).expect("the candidate");
    (decide(&original.functions[0], &candidate.functions[0], &names), original, candidate, names)
}

fn words(answer: &Answer) -> (&'static str, String) {
    match answer {
        Answer::Proved(..) => ("equivalent", String::new()),
        Answer::Refuted(error) => ("different", error.summary.clone()),
        Answer::Unknown(reason) => ("unknown", reason.to_string()),
    }
}

#[test]
fn good_candidates_are_proved_and_bad_ones_are_not() {
    let cases = cases();
    assert!(cases.len() >= 12, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        assert_eq!(case.expect.len(), 1 + case.bad.len(), "{}", case.name);
        assert!(case.expect[0] == "equivalent" && case.expect[1..].iter().all(|e| e != "equivalent"), "{}", case.name);
        let bad = case.bad.iter().map(|(name, text)| (name.as_str(), text));
        let all = std::iter::once(("good", &case.good)).chain(bad).zip(&case.expect);
        for ((which, text), expected) in all {
            let (found, ..) = answer(&case.before, text);
            let (word, detail) = words(&found);
            if word != expected {
                wrong.push(format!("{} {which}: expected {expected}, got {word} {detail}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_the_header_says_of_live_registers_stays() {
    let body = "  bb.0:\n    liveins: $r13\n    $rax = COPY $r13\n    RET64 implicit $rax\n";
    let entered = "liveins:\n  - { reg: '$r13' }\n";
    let before = document_of(IR, entered, "", body);
    assert_eq!(words(&answer(&before, &before).0).0, "equivalent");
    let bad = [document(" ", body), before.replace("tracksRegLiveness: true", "tracksRegLiveness: false")];
    for after in bad {
        assert_eq!(words(&answer(&before, &after).0).0, "unknown", "{after}");
    }
}

#[test]
fn nothing_is_said_of_what_runtimes_read() {
    let stackmap = "    STACKMAP 3, 0, $rdi, implicit-def dead early-clobber $r11\n";
    for instruction in [stackmap, "    $rax = RDFLAGS64 implicit-def dead $esp, implicit $rsp\n"] {
        let text = document("", &format!("  bb.0:\n    liveins: $rdi\n{instruction}    RET64\n"));
        let (word, detail) = words(&answer(&text, &text).0);
        assert!(word == "unknown" && detail.contains("reads"), "{word} {detail}");
    }
}

#[test]
fn mistakes_name_the_place() {
    let case = cases().into_iter().find(|c| c.name == "asm_goto_result").expect("the case");
    let (Answer::Refuted(error), ..) = answer(&case.before, &case.bad[0].1) else { panic!("not refuted") };
    assert_eq!(error.path, [0, 2]);
    assert!(error.candidate.text.starts_with("MOV64mr"), "{}", error.candidate.text);
    assert_eq!(error.summary, "missing spill of $rax to %stack.1");
}

#[test]
fn certificates_are_checked_again_and_prove_nothing_else() {
    for case in cases() {
        let (Answer::Proved(_, claim), original, candidate, mut names) = answer(&case.before, &case.good) else {
            panic!("{} is not proved", case.name)
        };
        let (ours, theirs) = (&original.functions[0], &candidate.functions[0]);
        let text = AllocationCertificate::new(&claim, ours, theirs, &names).to_json();
        let again = AllocationCertificate::from_json(&text).expect("its own text");
        let read = again.claim(ours, theirs, &mut names).expect("the same functions");
        assert!(kernel::regalloc::check(ours, theirs, &read).is_ok(), "{}", case.name);
        let bad = Module::parse(&case.bad[0].1, &mut names).expect("the bad one");
        let bad = &bad.functions[0];
        assert!(again.claim(ours, bad, &mut names).is_err(), "{}", case.name);
        // However the equations are changed, the bad candidate is never accepted.
        for point in 0..read.points.len() {
            assert!(kernel::regalloc::check(ours, bad, &read).is_err(), "{}", case.name);
            for equation in 0..read.points[point].equations.len() {
                let mut less = read.clone();
                less.points[point].equations.swap_remove(equation);
                assert!(kernel::regalloc::check(ours, bad, &less).is_err(), "{}", case.name);
                let mut other = read.clone();
                let all = &mut other.points[point].equations;
                let stolen = all[(equation + 1) % all.len()].1.clone();
                all[equation].1 = stolen;
                assert!(kernel::regalloc::check(ours, bad, &other).is_err(), "{}", case.name);
            }
        }
    }
}

/// A small generator of numbers; the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

fn damage(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..1 + dice.below(3) {
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        let mut letters: Vec<char> = lines[at].chars().collect();
        let place = dice.below(letters.len() + 1);
        match dice.below(6) {
            0 => lines[at].clear(),
            1 => lines.swap(at, other),
            2 => lines.truncate(at + 1),
            3 => {
                letters.insert(place, ['%', '$', '0', ',', '(', '"', 'é', ':', ' ', '-', '9'][dice.below(11)]);
                lines[at] = letters.into_iter().collect();
            }
            4 => lines[at] = letters[..place].iter().collect(),
            _ => {
                let copy = lines[other].clone();
                lines.insert(at, copy);
            }
        }
    }
    lines.join("\n")
}

#[test]
fn hostile_texts_do_not_panic() {
    let cases = cases();
    let mut dice = Dice(7);
    let start = std::time::Instant::now();
    let mut parsed = 0;
    while start.elapsed().as_millis() < 1500 || parsed < 20 {
        let case = &cases[dice.below(cases.len())];
        let (before, after) = (damage(&case.before, &mut dice), damage(&case.good, &mut dice));
        let mut names = Names::new();
        let (Ok(a), Ok(b)) = (Module::parse(&before, &mut names), Module::parse(&after, &mut names)) else { continue };
        for (x, y) in a.functions.iter().zip(&b.functions) {
            parsed += 1;
            drop(decide(x, y, &names));
        }
    }
    assert!(parsed >= 20, "{parsed} damaged texts could still be read");
}

#[test]
fn other_targets_and_truncated_texts_are_refused_with_their_line() {
    let parse = |text: &str| Module::parse(text, &mut Names::new()).map(|_| ()).map_err(|e| e.to_string());
    let other = "--- |\n  target triple = \"aarch64-unknown-linux-gnu\"\n...\n";
    assert_eq!(parse(other), Err("2:1: unsupported: target \"aarch64-unknown-linux-gnu\" is not x86-64".to_string()));
    let case = cases().into_iter().find(|c| c.name == "aligned_access").expect("the case");
    let half = &case.good[..case.good.len() - 10];
    assert!(parse(half).is_err_and(|e| e.contains("does not end")));
    assert_eq!(parse("hello\n"), Err("1:1: expected `---`: this is no Machine IR".to_string()));
    let strange = document("", "  bb.0:\n    $w0 = COPY $w1\n");
    assert!(parse(&strange).is_err_and(|e| e.contains("register `$w0` is not one of x86-64")));
}
