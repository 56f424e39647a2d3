//! Guarded objects under the eyes of the kernel: a right check is proved, a check that asks too little never.

use guard::{Guarded, ObjectPiece, Variadic, build};
use kernel::Expression;
use kernel::lemma::Facts;
use pair::{File, Files, Prepared};
use program::Undefined;
use search::{Native, Options, Session, Verdict};
use std::path::Path;
use std::time::Duration;

/// Reads a function from text.
fn assembled(folder: &Path, name: &str, body: &str) -> File {
    let path = folder.join(name);
    let text = format!(".intel_syntax noprefix\n.globl f\n.type f, @function\nf:\n{body}\n.size f, .-f\n");
    std::fs::write(&path, text).expect("the scratch directory is writable");
    File::read(&path).expect("an assembly file")
}

/// What becomes of two functions and a check: `proved`, `different`, `unknown`, or why there is no object.
fn guarded(original: &str, candidate: &str, conditions: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let both = [("o.s", original), ("c.s", candidate)].map(|(name, body)| assembled(folder.path(), name, body));
    let bytes = [both[0].image().file().to_vec(), both[1].image().file().to_vec()];
    let [original, candidate] = both;
    let files = Files::new(original, candidate, Undefined::Excused);
    let prepared = files.prepare([0, 0], &Facts::default()).expect("a pair");
    let interface = condition::Interface::new(prepared.pair.original(), &prepared.arena);
    let conjuncts: Vec<Expression> =
        conditions.iter().map(|text| Expression::parse(text).expect("an expression")).collect();
    let wanted = Guarded { conjuncts: &conjuncts, axioms: &[], interface: &interface, variadic: Variadic::Perhaps };
    let piece = |i: usize| ObjectPiece { bytes: &bytes[i], function: "f" };
    let object = match build(&piece(0), &piece(1), &wanted) {
        Ok(object) => object,
        Err(refusal) => return refusal.to_string(),
    };
    let path = folder.path().join("guarded.o");
    std::fs::write(&path, &object.bytes).expect("the scratch directory is writable");
    let again = File::read(&path).expect("a guarded object is an object");
    let (function, original) = (again.find("f").expect("f"), File::read(&folder.path().join("o.s")).expect("o.s"));
    let files = Files::new(original, again, Undefined::Excused);
    let Prepared { mut arena, pair } = files.prepare([0, function], &Facts::default()).expect("a pair");
    let options = Options { timeout: Duration::from_secs(10), native: Native::Forbidden, ..Options::default() };
    match Session::new(options).check_pair(&mut arena, &pair).verdict {
        Verdict::Equivalent(proof) => {
            assert!(proof.precondition().is_true(), "a guard is proved without a condition");
            "proved".to_string()
        }
        Verdict::Different(_) => "different".to_string(),
        Verdict::Unknown(_) => "unknown".to_string(),
    }
}

/// The check is enough, and the weaker one is not.
fn tight(original: &str, candidate: &str, enough: &[&str], weaker: &[&str]) {
    assert_eq!(guarded(original, candidate, enough), "proved", "{enough:?}");
    let twin = guarded(original, candidate, weaker);
    assert!(twin == "different" || twin == "unknown", "{weaker:?}: {twin}");
}

#[test]
fn alignment() {
    let copy = |mov: &str| format!("{mov} xmm0, [rdi]\n{mov} [rsi], xmm0\nret");
    let aligned = |bits: u32, name: &str| format!("(= (slice 0 {bits} ${name}) #{bits}:0)");
    let [four, three, other] = [aligned(4, "rdi"), aligned(3, "rdi"), aligned(4, "rsi")];
    tight(&copy("movups"), &copy("movaps"), &[&four, &other], &[&three, &other]);
    tight(&copy("movups"), &copy("movaps"), &[&four, &other], &[&other]);
}

#[test]
fn bounds_and_multiples() {
    tight("mov rax, rdi\nret", "mov eax, edi\nret", &["(<u $rdi #64:4294967296)"], &["(<=u $rdi #64:4294967296)"]);
    let rounded = "mov rax, rdi\nand rax, -4\nret";
    tight(rounded, "mov rax, rdi\nret", &["(= (urem $rdi #64:4) #64:0)"], &["(= (urem $rdi #64:2) #64:0)"]);
}

#[test]
fn blocks_apart() {
    let again = "mov eax, [rdi]\nmov [rsi], edx\nmov eax, [rdi]\nret";
    let once = "mov eax, [rdi]\nmov [rsi], edx\nret";
    tight(again, once, &["(apart $rdi #64:4 $rsi #64:4)"], &["(apart $rdi #64:4 $rsi #64:3)"]);
}

#[test]
fn cells_are_read_where_the_original_reads_them() {
    tight(
        "mov eax, [rdi]\nimul eax, [rsi]\nret",
        "xor eax, eax\nret",
        &["(= (load 4 $rdi) #32:0)"],
        &["(= (load 2 $rdi) #16:0)"],
    );
    // Where rsi is zero the original looks at nothing.
    tight(
        "xor eax, eax\ntest rsi, rsi\nje 1f\nmov eax, [rdi]\n1: ret",
        "xor eax, eax\nret",
        &["(or (= (load 4 $rdi) #32:0) (= $rsi #64:0))"],
        &["(= (load 4 $rdi) #32:0)"],
    );
}

#[test]
fn loops_of_both_sides() {
    let count = |step: &str, after: &str| {
        format!("xor eax, eax\n1: cmp rax, rdi\njae 2f\nadd rax, {step}\njmp 1b\n2: {after}ret")
    };
    assert_eq!(guarded(&count("1", ""), &count("2", ""), &["(= (urem $rdi #64:2) #64:0)"]), "proved");
    let twin = guarded(&count("1", ""), &count("2", ""), &["(<u $rdi #64:100)"]);
    assert!(twin == "different" || twin == "unknown", "{twin}");
}

#[test]
fn what_would_be_there_twice_is_refused() {
    let counter = "inc dword ptr [rip + counter]\nmov eax, edi\nret\n.local counter\n.comm counter, 4";
    let told = guarded("mov eax, edi\nret", counter, &["(= $rdi #64:0)"]);
    assert!(told.contains("writable data") || told.contains("only the candidate's file defines"), "{told}");
    let own = "call helper\nret\n.pushsection .text.other, \"ax\"\n.type helper, @function\nhelper: mov eax, 1\nret\n.size helper, .-helper\n.popsection";
    let told = guarded("mov eax, 1\nret", own, &["(= $rdi #64:0)"]);
    assert!(told.contains("file's own function `helper`"), "{told}");
}
