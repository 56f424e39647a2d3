//! Claims about loops: true ones that are accepted, and those under which a falsehood must not be.

use crate::programs::{Programs, render_rejection};
use kernel::{Certificate, EdgeClaim, LocalClaim, MemoryClaim, PointClaim};
use program::loops::Loops;

/// The first loop heads of both functions.
pub(crate) fn heads(programs: &Programs) -> [u32; 2] {
    programs.prepare().pair.functions().map(|f| Loops::of(f).heads[0].0)
}

/// A claim about a pair of heads: places of both sides that are forgotten, those of one side, and conditions.
/// What is forgotten on both sides is claimed to be equal.
pub(crate) fn point(heads: [u32; 2], both: &[&str], forget: &[&str], hold: &[&str]) -> PointClaim {
    let sided = |side: char| both.iter().map(move |name| format!("{side}.{name}"));
    PointClaim {
        original: heads[0],
        candidate: heads[1],
        forget: sided('o').chain(sided('c')).chain(forget.iter().map(|f| (*f).to_string())).collect(),
        define: sided('c').zip(sided('o')).collect(),
        hold: hold.iter().map(|h| (*h).to_string()).collect(),
        ..PointClaim::default()
    }
}

pub(crate) fn claimed(programs: &Programs, points: Vec<PointClaim>) -> Certificate {
    Certificate { points, ..programs.certificate(&[]) }
}

fn verdict(programs: &Programs, certificate: &Certificate) -> String {
    match programs.check(certificate) {
        Ok(proof) => {
            let used: Vec<String> = proof.assumptions().iter().map(ToString::to_string).collect();
            let no_fault = used.iter().filter(|a| a.starts_with("no-fault")).count();
            if no_fault == 0 { "accepted".to_string() } else { format!("accepted with {no_fault} no-fault") }
        }
        Err(rejection) => render_rejection(&rejection),
    }
}

const COUNT: &str = "xor eax, eax\nxor ecx, ecx\n1: cmp ecx, edi\njge 2f\nadd eax, 1\ninc ecx\njmp 1b\n2: ret";

#[test]
fn a_true_claim_is_accepted() {
    let programs = Programs::assembly("prototype: int f(int n)", COUNT, COUNT);
    let claim = point(heads(&programs), &["rax", "rcx"], &[], &[]);
    assert_eq!(verdict(&programs, &claimed(&programs, vec![claim])), "accepted");
}

/// An edge from the second point leads to the first, at which the walk looks first.
#[test]
fn no_point_is_left_out() {
    let wrong = COUNT.replace("inc ecx", "cmp ecx, 1\njl 3f\nadd eax, 1\n3: inc ecx");
    let programs = Programs::assembly("prototype: int f(int n)", COUNT, &wrong);
    let claim = point(heads(&programs), &[], &[], &[]);
    let edge = |from, to, times| EdgeClaim { from, to, original: times, candidate: times, more: 0 };
    let certificate = Certificate {
        edges: vec![edge(None, 0, 99), edge(None, 1, 1), edge(Some(1), 0, 1), edge(Some(1), 1, 99)],
        ..claimed(&programs, vec![claim.clone(), claim])
    };
    assert!(programs.check(&certificate).is_err());
}

#[test]
fn cuts_outside_the_function_are_refused() {
    let programs = Programs::assembly("prototype: int f(int n)", COUNT, COUNT);
    let [a, b] = heads(&programs);
    let claim = point([9999, b], &["rax", "rcx"], &[], &[]);
    let certificate = Certificate { cuts: [vec![a, 9999], vec![b]], ..claimed(&programs, vec![claim]) };
    assert_eq!(verdict(&programs, &certificate), "malformed: a cut is no point of the function");
}

/// A loop with two entries: what is known at one is not known at the other.
#[test]
fn a_condition_at_one_entry_is_none_at_the_other() {
    let code = |extra: &str| {
        format!("xor eax, eax\ntest edi, edi\njle 2f\n1: add eax, 3\n{extra}\n2: inc eax\ndec esi\njne 1b\nret")
    };
    let programs =
        Programs::assembly("prototype: int f(int n, int x)", &code(""), &code("test edi, edi\njg 2f\nadd eax, 100"));
    let pair = programs.prepare().pair;
    // Cut where the two parts begin, whichever is the head.
    let starts = pair.functions().map(|f| {
        let entry = program::loops::successors(f, program::Function::ENTRY);
        [entry[0].0, entry[1].0]
    });
    let points = (0..2).map(|i| point([starts[0][i], starts[1][i]], &["rax", "rsi"], &[], &[])).collect();
    let cuts = starts.map(|s| s.to_vec());
    assert!(programs.check(&Certificate { cuts, ..claimed(&programs, points) }).is_err());
}

const SUM: &str =
    "xor eax, eax\nxor ecx, ecx\n1: cmp ecx, esi\njge 2f\nadd eax, [rdi + 4 * rcx]\ninc ecx\njmp 1b\n2: ret";

/// The last turn reads what the original never does.
#[test]
fn no_read_behind_the_end() {
    let wrong = "xor eax, eax\nxor ecx, ecx\n1: mov edx, [rdi + 4 * rcx]\ncmp ecx, esi\njge 2f\nadd eax, edx\n\
                 inc ecx\njmp 1b\n2: ret";
    let programs = Programs::assembly("prototype: int f(int *a, int n)", SUM, wrong);
    let claim = point(heads(&programs), &["rax", "rcx"], &["c.rdx"], &[]);
    assert!(programs.check(&claimed(&programs, vec![claim])).is_err());
}

/// A read before the loop that the original makes in the first turn at the latest.
#[test]
fn a_loop_may_delay_a_read() {
    let original = "xor eax, eax\nmov esi, esi\n1: test esi, esi\njle 2f\nadd eax, [rdi]\ndec esi\njmp 1b\n2: ret";
    let hoisted = |guard: &str| {
        format!(
            "xor eax, eax\nmov esi, esi\n{guard}\nmov edx, [rdi]\n1: test esi, esi\njle 2f\nadd eax, edx\ndec esi\njmp 1b\n2: ret"
        )
    };
    let check = |guard: &str| {
        let programs = Programs::assembly("prototype: int f(int *a, int n)", original, &hoisted(guard));
        let claim = PointClaim {
            forget: ["o.rax", "c.rax", "o.rsi", "c.rsi", "c.rdx"].map(String::from).to_vec(),
            define: [("c.rax", "o.rax"), ("c.rsi", "o.rsi"), ("c.rdx", "(zext 64 (load 4 o.rdi))")]
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .to_vec(),
            ..point(heads(&programs), &[], &[], &[])
        };
        verdict(&programs, &claimed(&programs, vec![claim]))
    };
    assert_eq!(check("test esi, esi\njle 2f"), "accepted");
    assert!(check("").starts_with("obligation: the candidate reads"), "{}", check(""));
}

/// A pointer to the frame in a forgotten register is no pointer to the world.
#[test]
fn a_forgotten_frame_address_reaches_the_frame() {
    let original = "mov dword ptr [rsp - 8], 3\nlea rcx, [rsp - 8]\nxor eax, eax\n1: test edi, edi\njle 2f\n\
                    mov edx, [rcx]\nmov [rcx], esi\nmov eax, [rsp - 8]\nmov [rcx], edx\ndec edi\njmp 1b\n2: ret";
    let wrong = "xor eax, eax\n1: test edi, edi\njle 2f\nmov eax, 3\ndec edi\njmp 1b\n2: ret";
    let programs = Programs::assembly("prototype: int f(int n, int k)", original, wrong);
    let claim = point(heads(&programs), &["rax", "rdi"], &["o.rcx", "o.rdx"], &[]);
    assert!(programs.check(&claimed(&programs, vec![claim])).is_err());
    // The same, where the address comes there in the loop only.
    let late =
        original.replace("lea rcx, [rsp - 8]\n", "mov ecx, edi\n").replace("dec edi", "lea rcx, [rsp - 8]\ndec edi");
    let programs = Programs::assembly("prototype: int f(int n, int k)", &late, wrong);
    let claim = point(heads(&programs), &["rax", "rdi"], &["o.rcx", "o.rdx"], &[]);
    assert!(programs.check(&claimed(&programs, vec![claim])).is_err());
}

/// A pointer that the original compares with a frame address of its own is no address in the candidate's frame.
#[test]
fn a_frame_address_is_one_of_its_side() {
    let spin = "mov ecx, 3\n1: dec ecx\njne 1b";
    let original = format!(
        "sub rsp, 24\nmov dword ptr [rsp + 8], 5\nlea rdi, [rsp + 8]\ncall g\n{spin}\nlea rdx, [rsp + 8]\n\
         cmp rax, rdx\njne 3f\nmov eax, 9\njmp 4f\n3: mov eax, [rax]\n4: add rsp, 24\nret"
    );
    let wrong = format!(
        "sub rsp, 40\nmov dword ptr [rsp + 8], 5\nmov dword ptr [rsp + 24], 9\nlea rdi, [rsp + 8]\ncall g\n{spin}\n\
         mov eax, [rax]\nadd rsp, 40\nret"
    );
    let programs = Programs::assembly("prototype: int f(void)\ncalls: int *g(int *);", &original, &wrong);
    let local = LocalClaim { original: Some(-16), candidate: Some(-32), size: 4, escapes: true };
    let claim = PointClaim { world: MemoryClaim::Equal, ..point(heads(&programs), &["rax", "rcx"], &[], &[]) };
    let certificate = Certificate { points: vec![claim], ..programs.certificate(&[local]) };
    let said = verdict(&programs, &certificate);
    assert!(said.starts_with("obligation") || said.starts_with("stuck"), "{said}");
}

const TEXTS: &[&str] = &[
    "o.rax",
    "c.rax",
    "o.rcx",
    "c.rcx",
    "o.rdi",
    "c.rdi",
    "o.rsp",
    "c.rbx",
    "o[-8,8]",
    "c[0,8]",
    "c.rax{0,32}",
    "#64:0",
    "#64:1",
    "#32:-1",
    "$rsp.original",
    "$rax@0",
    "&f",
    "(add o.rax #64:1)",
    "(add c.rcx o.rcx)",
    "(load 8 o.rsp)",
    "(= o.rax c.rax)",
    "(= o.rcx o.rax)",
    "(<s o.rax o.rcx)",
    "(not (= o.rax o.rax))",
    "(slice 0 32 o.rax)",
    "(zext 64 c.rax{0,32})",
    "(",
    "",
];

/// A claim changed in one place by a small generator; the same number gives the same claim.
fn mutate(certificate: &mut Certificate, random: &mut impl FnMut(usize) -> usize) {
    let texts = |random: &mut dyn FnMut(usize) -> usize| TEXTS[random(TEXTS.len())].to_string();
    let count = certificate.points.len();
    let at = random(count);
    let point = &mut certificate.points[at];
    match random(14) {
        0 => point.forget.push(texts(random)),
        1 if !point.forget.is_empty() => drop(point.forget.swap_remove(random(point.forget.len()))),
        2 => point.define.push((texts(random), texts(random))),
        3 if !point.define.is_empty() => drop(point.define.swap_remove(random(point.define.len()))),
        4 if !point.define.is_empty() => {
            let index = random(point.define.len());
            point.define[index].1 = texts(random);
        }
        5 => point.hold.push(texts(random)),
        6 => point.world = [MemoryClaim::Kept, MemoryClaim::Equal, MemoryClaim::Apart][random(3)],
        7 => point.waits = !point.waits,
        8 => point.candidate = [0, 1, 2, 3, 4, 9999, u32::MAX][random(7)],
        9 => point.original = [0, 1, 2, 3, 4, 9999, u32::MAX][random(7)],
        10 if count < 4 => {
            let copy = point.clone();
            certificate.points.push(copy);
        }
        11 => certificate.cuts[random(2)].push([0, 1, 2, 3, 4, 9999, u32::MAX][random(7)]),
        12 => drop(certificate.cuts[random(2)].pop()),
        _ => {
            let numbers = [0, 1, 2, 3, 7, 700, u32::MAX];
            let from = [None, Some(0), Some(1), Some(9)][random(4)];
            let (original, candidate) = (numbers[random(7)], numbers[random(7)]);
            certificate.edges.push(EdgeClaim {
                from,
                to: [0, 1, 2, usize::MAX][random(4)],
                original,
                candidate,
                more: random(3) as u32,
            });
        }
    }
}

/// Tries mutants of a claim about the counting loop; how many the kernel accepted.
fn accepted_mutants(candidate: &str, mutants: u64) -> usize {
    let programs = Programs::assembly("prototype: int f(int n)", COUNT, candidate);
    let start = claimed(&programs, vec![point(heads(&programs), &["rax", "rcx"], &[], &[])]);
    let mut accepted = 0;
    for seed in 1..=mutants {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let mut mutant = start.clone();
        for _ in 0..=random(4) {
            mutate(&mut mutant, &mut random);
        }
        accepted += usize::from(programs.check(&mutant).is_ok());
    }
    accepted
}

#[test]
fn mutated_loops_of_equal_programs_are_survived() {
    assert!(accepted_mutants(COUNT, 150) > 5, "hardly a mutant is accepted: they say nothing");
}

#[test]
fn mutated_loops_of_different_programs_are_rejected() {
    let late = COUNT.replace("inc ecx", "cmp ecx, 1\njl 3f\nadd eax, 1\n3: inc ecx");
    let short = COUNT.replace("jge 2f", "jg 2f");
    let endless = COUNT.replace("inc ecx", "cmp ecx, 77\nje 1b\ninc ecx");
    for wrong in [late, short, endless] {
        assert_eq!(accepted_mutants(&wrong, 150), 0, "the kernel believes a false claim about\n{wrong}");
    }
}
