//! Forged claims: pairs of different programs, and certificates made to hide the difference.

use crate::programs::{Programs, render_rejection};
use kernel::{BlockClaim, Certificate, Change, ChangeClaim, EdgeClaim, LocalClaim, MemoryClaim, PointClaim};
use program::loops::Loops;

/// A certificate under construction.
struct Forgery {
    programs: Programs,
    certificate: Certificate,
}

impl Forgery {
    fn of(header: &str, original: &str, candidate: &str) -> Forgery {
        let programs = Programs::assembly(header, original, candidate);
        let certificate = programs.certificate(&[]);
        Forgery { programs, certificate }
    }

    /// Adds a point at the n-th heads.
    fn point(mut self, heads: [usize; 2], claim: PointClaim) -> Forgery {
        let pair = self.programs.prepare().pair;
        let [original, candidate] = [0, 1].map(|i: usize| Loops::of(pair.functions()[i]).heads[heads[i]].0);
        self.certificate.points.push(PointClaim { original, candidate, ..claim });
        self
    }

    /// Adds a point at which the candidate waits at a point of its own while the original goes round.
    fn waiting(mut self, head: usize, at: u32, claim: PointClaim) -> Forgery {
        let original = Loops::of(self.programs.prepare().pair.original()).heads[head].0;
        self.certificate.points.push(PointClaim { original, candidate: at, waits: true, ..claim });
        self
    }

    fn edge(mut self, from: Option<usize>, to: usize, original: u32, candidate: u32) -> Forgery {
        self.certificate.edges.push(EdgeClaim { from, to, original, candidate, more: 0 });
        self
    }

    fn local(mut self, local: LocalClaim) -> Forgery {
        self.certificate.locals.push(local);
        self
    }

    fn verdict(&self) -> String {
        match self.programs.check(&self.certificate) {
            Ok(_) => "accepted".to_string(),
            Err(rejection) => render_rejection(&rejection),
        }
    }

    /// The kernel refuses, and because something does not hold rather than because the text makes no sense.
    #[track_caller]
    fn is_refuted(&self) {
        let said = self.verdict();
        assert!(said.starts_with("obligation") || said.starts_with("claims"), "{said}");
    }

    #[track_caller]
    fn is_malformed(&self) {
        let said = self.verdict();
        assert!(said.starts_with("malformed"), "{said}");
    }
}

/// Everything that a callee may change, on both sides.
fn scratch() -> Vec<String> {
    let general = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"].map(String::from);
    let vectors = (0..16).flat_map(|i| [format!("xmm{i}"), format!("ymm{i}.high")]);
    general.into_iter().chain(vectors).flat_map(|r| [format!("o.{r}"), format!("c.{r}")]).collect()
}

/// What a point claims: places of both sides that are equal, other forgotten places.
fn claim(both: &[&str], forget: &[&str]) -> PointClaim {
    let sided = |side: char| both.iter().map(move |name| format!("{side}.{name}"));
    PointClaim {
        forget: sided('o').chain(sided('c')).chain(forget.iter().map(|f| (*f).to_string())).collect(),
        define: sided('c').zip(sided('o')).collect(),
        ..PointClaim::default()
    }
}

/// A change of the world.
fn change(what: Change<&str>) -> ChangeClaim {
    let what = match what {
        Change::Store(a, v) => Change::Store(a.to_string(), v.to_string()),
        Change::Fill(a, b, n) => Change::Fill(a.to_string(), b.to_string(), n.to_string()),
        Change::Copy(a, b, n) => Change::Copy(a.to_string(), b.to_string(), n.to_string()),
        Change::Any(a, n) => Change::Any(a.to_string(), n.to_string()),
    };
    ChangeClaim { local: None, source: None, what }
}

/// A block that the original has accessed.
fn block(address: &str, length: &str, write: bool) -> BlockClaim {
    BlockClaim { address: address.to_string(), length: length.to_string(), write }
}

trait Claims {
    fn world(self, world: MemoryClaim) -> PointClaim;
    fn ahead(self, address: &str, value: &str) -> PointClaim;
    fn define(self, place: &str, value: &str) -> PointClaim;
    fn hold(self, condition: &str) -> PointClaim;
    fn seen(self, address: &str, bytes: u16) -> PointClaim;
}

impl Claims for PointClaim {
    fn world(self, world: MemoryClaim) -> PointClaim {
        PointClaim { world, ..self }
    }

    fn ahead(mut self, address: &str, value: &str) -> PointClaim {
        self.ahead.push(change(Change::Store(address, value)));
        self
    }

    fn define(mut self, place: &str, value: &str) -> PointClaim {
        self.define.push((place.to_string(), value.to_string()));
        self
    }

    fn hold(mut self, condition: &str) -> PointClaim {
        self.hold.push(condition.to_string());
        self
    }

    fn seen(mut self, address: &str, bytes: u16) -> PointClaim {
        self.seen.push((address.to_string(), bytes));
        self
    }
}

const GLOBAL: &str = "prototype: void f(long n)\nprelude: int g;";

/// The candidate never writes `g`; the claim says that the original is ahead with what is there on its own side.
#[test]
fn what_is_ahead_is_not_the_originals_own_world() {
    let original = "xor eax, eax\n1: test edi, edi\nje 2f\nmov [rip + g], edi\ndec edi\njmp 1b\n2: ret";
    let wrong = "xor eax, eax\n1: test edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    let right =
        "mov ecx, [rip + g]\n1: test edi, edi\nje 2f\nmov ecx, edi\ndec edi\njmp 1b\n2: mov [rip + g], ecx\nret";
    let ahead = claim(&["rdi"], &["c.rcx"]).world(MemoryClaim::Equal).ahead("&&g", "(slice 0 32 c.rcx)");
    assert_eq!(Forgery::of(GLOBAL, original, right).point([0, 0], ahead).verdict(), "accepted");
    let ahead = claim(&["rdi"], &[]).world(MemoryClaim::Equal).ahead("&&g", "(load 4 &&g)");
    Forgery::of(GLOBAL, original, wrong).point([0, 0], ahead).is_refuted();
}

/// A definition reads the original's world, in which the original is ahead.
#[test]
fn definitions_do_not_read_what_is_ahead() {
    let header = "prototype: int f(long n)\nprelude: int g;";
    let original =
        "mov eax, [rip + g]\n1: test edi, edi\nje 2f\nmov [rip + g], edi\nmov eax, edi\ndec edi\njmp 1b\n2: ret";
    let candidate = |result: &str| {
        let turns = "1: test edi, edi\nje 2f\nmov edx, edi\ndec edi\njmp 1b";
        format!("mov edx, [rip + g]\n{turns}\n2: mov eax, {result}\nmov [rip + g], edx\nret")
    };
    let ahead = |rax: &str, rdx: &str| {
        claim(&["rdi"], &["o.rax", "c.rdx"])
            .world(MemoryClaim::Equal)
            .ahead("&&g", "(slice 0 32 c.rdx)")
            .define(rax, rdx)
    };
    let check = |result: &str, claim| Forgery::of(header, original, &candidate(result)).point([0, 0], claim);
    assert_eq!(check("edx", ahead("c.rdx", "o.rax")).verdict(), "accepted");
    // Returns what `g` was at the start.
    let own = ahead("o.rax", "(zext 64 (load 4 &&g))").define("c.rdx", "o.rax");
    check("[rip + g]", own).is_refuted();
    let own = ahead("o.rax", "(zext 64 (peek 4 &&g))").define("c.rdx", "o.rax");
    check("[rip + g]", own).is_refuted();
    let held = ahead("c.rdx", "o.rax").hold("(= o.rax (zext 64 (load 4 &&g)))");
    check("[rip + g]", held).is_refuted();
}

/// A flag of the candidate says whether anything is to be written: `peek` reads what the candidate has not written yet.
#[test]
fn a_peek_reads_the_candidates_world() {
    let original = "xor eax, eax\n1: test edi, edi\nje 2f\nmov [rip + g], edi\ndec edi\njmp 1b\n2: ret";
    let right = "mov ecx, [rip + g]\nxor edx, edx\n1: test edi, edi\nje 2f\nmov ecx, edi\nmov edx, 1\ndec edi\njmp 1b\n\
                 2: test edx, edx\nje 3f\nmov [rip + g], ecx\n3: ret";
    let check = |candidate: &str, read: &str| {
        let unwritten = format!("(or (not (= (slice 0 32 c.rdx) #32:0)) (= ({read} 4 &&g) (slice 0 32 c.rcx)))");
        let ahead = claim(&["rdi"], &["c.rcx", "c.rdx"]).world(MemoryClaim::Equal).ahead("&&g", "(slice 0 32 c.rcx)");
        Forgery::of(GLOBAL, original, candidate).point([0, 0], ahead.hold(&unwritten))
    };
    assert_eq!(check(right, "peek").verdict(), "accepted");
    // The original's world has it anyway.
    check(right, "load").is_refuted();
    let unset = right.replace("mov edx, 1\n", "");
    check(&unset, "peek").is_refuted();
    check(&unset, "load").is_refuted();
    check(&right.replace("je 3f", "jne 3f"), "peek").is_refuted();
}

/// A global in a register, written after the loop, and read too early.
#[test]
fn a_stale_global_is_not_what_is_ahead() {
    let header = "prototype: int f(long n)\nprelude: int g;";
    let original = "xor eax, eax\n1: inc dword ptr [rip + g]\nadd eax, [rip + g]\ndec edi\njne 1b\nret";
    let right = "xor eax, eax\nmov ecx, [rip + g]\n1: inc ecx\nadd eax, ecx\ndec edi\njne 1b\nmov [rip + g], ecx\nret";
    let ahead = || claim(&["rdi", "rax"], &["c.rcx"]).world(MemoryClaim::Equal).ahead("&&g", "(slice 0 32 c.rcx)");
    assert_eq!(Forgery::of(header, original, right).point([0, 0], ahead()).verdict(), "accepted");
    let stale = right.replace("add eax, ecx", "add eax, [rip + g]");
    Forgery::of(header, original, &stale).point([0, 0], ahead()).is_refuted();
    let lost = right.replace("mov [rip + g], ecx\n", "");
    Forgery::of(header, original, &lost).point([0, 0], ahead()).is_refuted();
}

/// The same through a pointer, which may be that of the array.
#[test]
fn what_is_ahead_may_be_what_is_read() {
    let header = "prototype: int f(int *p, int *q, long n)";
    let original = "xor eax, eax\n1: mov [rdi], eax\nadd eax, [rsi + 4 * rdx - 4]\ndec rdx\njne 1b\nret";
    let wrong = "xor eax, eax\n1: mov ecx, eax\nadd eax, [rsi + 4 * rdx - 4]\ndec rdx\njne 1b\nmov [rdi], ecx\nret";
    let ahead = claim(&["rdx", "rax"], &["c.rcx"]).world(MemoryClaim::Equal).ahead("o.rdi", "(slice 0 32 c.rcx)");
    Forgery::of(header, original, wrong).point([0, 0], ahead).is_refuted();
}

/// The candidate loads at the head what the original has loaded on the way there, and not what it has not.
#[test]
fn what_was_seen_was_accessed() {
    let header = "prototype: long f(long *p)";
    let original = "mov rax, [rdi + 8]\n1: test rax, rax\nje 2f\nmov rax, [rax]\njmp 1b\n2: ret";
    let right = "add rdi, 8\n1: mov rdi, [rdi]\ntest rdi, rdi\njne 1b\nxor eax, eax\nret";
    let list = || claim(&[], &["o.rax", "c.rdi"]).define("o.rax", "(peek 8 c.rdi)");
    let check = |candidate: &str, claim| Forgery::of(header, original, candidate).point([0, 0], claim);
    assert_eq!(check(right, list().seen("c.rdi", 8)).verdict(), "accepted");
    // Without the claim the load is not allowed, nor are bytes next to it.
    check(right, list()).is_refuted();
    check(right, list().seen("c.rdi", 4)).is_refuted();
    check(right, list().seen("(add c.rdi #64:8)", 8)).is_refuted();
    check(right, list().seen("c.rdi", 16)).is_refuted();
    check(right, list().seen("c.rdi", 0)).is_malformed();
    check(right, list().seen("(slice 0 32 c.rdi)", 8)).is_malformed();
    // One link too many.
    let further = "mov rax, [rdi + 8]\n1: mov rcx, [rax]\ntest rax, rax\nje 2f\nmov rax, rcx\njmp 1b\n2: ret";
    let ahead = || claim(&["rax"], &["c.rcx"]);
    check(further, ahead().seen("c.rax", 8)).is_refuted();
    check(further, ahead().seen("o.rax", 8)).is_refuted();
}

/// A loop that nothing leaves is not taken to end.
#[test]
fn a_loop_without_an_exit_does_not_end() {
    let header = "prototype: int f(long n)";
    let original = "cmp edi, 5\njne 2f\n1: jmp 1b\n2: mov eax, edi\nret";
    let wrong = "mov eax, edi\nret";
    Forgery::of(header, original, wrong).waiting(0, 0, claim(&[], &[])).is_refuted();
    let ends = original.replace("1: jmp 1b", "mov ecx, 9\n1: dec ecx\njne 1b");
    assert_eq!(Forgery::of(header, &ends, wrong).waiting(0, 0, claim(&[], &["o.rcx"])).verdict(), "accepted");
    let inner = "cmp edi, 5\njne 2f\n1: inc ecx\ntest ecx, ecx\nje 1b\njmp 1b\n2: mov eax, edi\nret";
    Forgery::of(header, inner, wrong).waiting(0, 0, claim(&[], &["o.rcx"])).is_refuted();
}

/// The candidate waits, and goes on with less than the original has done.
#[test]
fn a_waiting_candidate_knows_what_the_loop_did() {
    let header = "prototype: int f(long n)";
    let original = "xor eax, eax\n1: test edi, edi\njle 2f\nadd eax, 3\ndec edi\njmp 1b\n2: ret";
    let wrong = "lea eax, [rdi + 2 * rdi]\nret";
    for hold in ["(= (slice 0 32 (add o.rax (mul #64:3 o.rdi))) (slice 0 32 (mul #64:3 c.rdi)))", "(<=s #64:0 o.rdi)"] {
        let waits = claim(&[], &["o.rax", "o.rdi"]).hold(hold);
        Forgery::of(header, original, wrong).waiting(0, 0, waits).is_refuted();
    }
}

/// The original writes while the candidate waits.
#[test]
fn a_waiting_candidate_has_the_same_world() {
    let original = "1: mov [rip + g], edi\ndec edi\njne 1b\nret";
    for world in [MemoryClaim::Kept, MemoryClaim::Equal] {
        let waits = claim(&[], &["o.rdi"]).world(world);
        Forgery::of(GLOBAL, original, "ret").waiting(0, 0, waits).is_refuted();
    }
}

/// The original fills a block byte by byte, the candidate at once.
#[test]
fn a_block_is_filled_by_what_the_original_stores() {
    let header = "prototype: void f(char *p, long n)\nprelude: void *memset(void *, int, unsigned long);";
    let original = "xor eax, eax\n1: cmp rax, rsi\njae 2f\nmov byte ptr [rdi + rax], 0\ninc rax\njmp 1b\n2: ret";
    let calls = |set_up: &str| format!("push rbx\nmov rdx, rsi\nxor esi, esi\n{set_up}\ncall memset\npop rbx\nret");
    let filled = |address: &str, byte: &str, length: &str| {
        let claim = claim(&[], &["o.rax"]).world(MemoryClaim::Equal).hold("(<=u o.rax o.rsi)");
        let accessed = vec![block(address, length, true)];
        PointClaim { ahead: vec![change(Change::Fill(address, byte, length))], accessed, ..claim }
    };
    let honest = || filled("o.rdi", "#8:0", "o.rax");
    let forged =
        |original: &str, set_up: &str, claim| Forgery::of(header, original, &calls(set_up)).waiting(0, 0, claim);
    assert_eq!(forged(original, "", honest()).verdict(), "accepted");
    for wrong in ["inc rdx", "inc rdi", "mov esi, 1", "dec rdx"] {
        forged(original, wrong, honest()).is_refuted();
    }
    for claim in [
        filled("o.rdi", "#8:1", "o.rax"),
        filled("o.rdi", "#8:0", "(add o.rax #64:1)"),
        filled("o.rdi", "#8:0", "o.rsi"),
    ] {
        forged(original, "", claim).is_refuted();
    }
    // Every other byte; a byte only if there is something to write; another byte.
    let others = [
        "xor eax, eax\n1: cmp rax, rsi\njae 2f\nmov byte ptr [rdi + 2*rax], 0\ninc rax\njmp 1b\n2: ret",
        "xor eax, eax\n1: cmp rax, rsi\njae 2f\ncmp byte ptr [rdi + rax], 0\nje 3f\nmov byte ptr [rdi + rax], 0\n3: inc rax\njmp 1b\n2: ret",
        "xor eax, eax\n1: cmp rax, rsi\njae 2f\nmov byte ptr [rdi + rax], 1\ninc rax\njmp 1b\n2: ret",
    ];
    for other in others {
        forged(other, "", honest()).is_refuted();
    }
    let unequal = PointClaim { world: MemoryClaim::Kept, ..honest() };
    forged(original, "", unequal).is_malformed();
    forged(original, "", filled("o.rdi", "#16:0", "o.rax")).is_malformed();
}

/// A candidate that never returns.
#[test]
fn a_candidate_that_hangs_is_refuted() {
    let header = "prototype: int f(long n)";
    let original = "xor eax, eax\n1: test edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    assert_eq!(Forgery::of(header, original, original).point([0, 0], claim(&["rdi"], &[])).verdict(), "accepted");
    let hangs = "xor eax, eax\n1: test edi, edi\nje 3f\ndec edi\njmp 1b\n3: jmp 3b";
    Forgery::of(header, original, hangs).point([0, 0], claim(&["rdi"], &[])).is_refuted();
    let at_first = "xor eax, eax\ncmp edi, 7\n3: je 3b\n1: test edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    let heads = [0, 1];
    Forgery::of(header, original, at_first).point(heads, claim(&["rdi"], &[])).is_refuted();
    Forgery::of(header, original, at_first)
        .point([0, 0], claim(&[], &[]))
        .point(heads, claim(&["rdi"], &[]))
        .is_refuted();
}

/// Original and candidate both loop, but only one for ever.
#[test]
fn an_original_that_hangs_is_refuted() {
    let header = "prototype: int f(long n)";
    let original = "xor eax, eax\n1: cmp edi, 3\nje 1b\ntest edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    let ends = "xor eax, eax\n1: test edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    Forgery::of(header, original, ends).point([0, 0], claim(&["rdi"], &[])).is_refuted();
    Forgery::of(header, ends, original).point([0, 0], claim(&["rdi"], &[])).is_refuted();
    for counts in [[1, 2], [2, 1], [600, 1], [1, 600]] {
        let forgery = Forgery::of(header, original, ends).point([0, 0], claim(&["rdi"], &[]));
        let said = forgery.edge(Some(0), 0, counts[0], counts[1]).verdict();
        assert_ne!(said, "accepted");
    }
}

/// Two turns of one side in one of the other, and an odd number of them.
#[test]
fn no_turn_is_lost_between_two_meetings() {
    let header = "prototype: int f(unsigned long n)";
    let original = "xor eax, eax\n1: test edi, edi\nje 2f\nadd eax, 3\ndec edi\njmp 1b\n2: ret";
    let wrong = "xor eax, eax\n1: test edi, edi\nje 2f\nadd eax, 6\nsub edi, 2\njmp 1b\n2: ret";
    let short = "xor eax, eax\n1: cmp edi, 2\njb 2f\nadd eax, 6\nsub edi, 2\njmp 1b\n2: ret";
    for candidate in [wrong, short] {
        for hold in ["(= o.rdi o.rdi)", "(= (slice 0 1 o.rdi) #1:0)"] {
            let claim = claim(&["rax", "rdi"], &[]).hold(hold);
            let forgery = Forgery::of(header, original, candidate).point([0, 0], claim);
            forgery.edge(Some(0), 0, 2, 1).is_refuted();
        }
    }
}

/// The calls of a loop, one fewer, in another order, or with another argument.
#[test]
fn calls_of_a_loop_are_made_in_order() {
    let header = "prototype: void f(int n)\ncalls: void g(int); void h(int);";
    let body = |calls: &str| {
        format!("push rbx\nmov ebx, edi\n1: test ebx, ebx\njle 2f\n{calls}\ndec ebx\njmp 1b\n2: pop rbx\nret")
    };
    let g = "mov edi, ebx\ncall g";
    let h = "mov edi, ebx\ncall h";
    let original = body(&format!("{g}\n{h}"));
    let check = |candidate: &str| {
        let mut claim = claim(&["rbx"], &[]).world(MemoryClaim::Equal);
        claim.forget.extend(scratch());
        Forgery::of(header, &original, candidate).point([0, 0], claim).verdict()
    };
    assert_eq!(check(&original), "accepted");
    let late = body(&format!("{g}\ncmp ebx, 1\nje 3f\n{h}\n3:"));
    let other = body(&format!("{g}\nlea edi, [rbx + 1]\ncall h"));
    for wrong in [body(&format!("{h}\n{g}")), body(g), body(&format!("{g}\n{h}\n{h}")), late, other] {
        assert!(check(&wrong).starts_with("obligation"), "{}", check(&wrong));
    }
}

/// What the candidate does not restore stays so, whatever is claimed about it.
#[test]
fn a_forgotten_register_is_not_restored() {
    let header = "prototype: int f(long n)";
    let original = "xor eax, eax\n1: test edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    assert_eq!(Forgery::of(header, original, original).point([0, 0], claim(&["rdi"], &[])).verdict(), "accepted");
    let wrong = original.replace("dec edi", "mov ebx, edi\ndec edi");
    let flag = original.replace("dec edi", "std\ndec edi");
    let deeper = original.replace("dec edi", "push rdi\ndec edi");
    for define in [None, Some("$rbx"), Some("o.rbx")] {
        let mut claim = claim(&["rdi"], &["c.rbx"]);
        claim.define.extend(define.map(|d| ("c.rbx".to_string(), d.to_string())));
        Forgery::of(header, original, &wrong).point([0, 0], claim).is_refuted();
    }
    for candidate in [flag, deeper] {
        let said = Forgery::of(header, original, &candidate).point([0, 0], claim(&["rdi"], &[])).verdict();
        assert_ne!(said, "accepted");
    }
}

/// The division of the candidate is by zero in a turn in which the original does not divide.
#[test]
fn a_fault_in_a_loop_is_one() {
    let header = "prototype: int f(long n, long k)";
    let body = |before: &str, inside: &str| {
        format!(
            "mov ecx, esi\nxor esi, esi\n{before}\n1: test edi, edi\njle 2f\n{inside}\ndec edi\njmp 1b\n2: mov eax, esi\nret"
        )
    };
    let divide = "mov eax, 100\ncdq\nidiv ecx";
    let original = body("", &format!("{divide}\nadd esi, eax"));
    let hoisted = body(&format!("{divide}\nmov r8d, eax"), "add esi, r8d");
    let claim = claim(&["rdi", "rsi"], &["o.rax", "o.rdx"]).define("c.r8", "o.r8");
    let mut claim = PointClaim { define: claim.define[..2].to_vec(), ..claim };
    claim.forget.push("c.r8".to_string());
    let said = Forgery::of(header, &original, &hoisted).point([0, 0], claim).verdict();
    assert!(said.starts_with("obligation: the candidate may fault") || said.starts_with("claims"), "{said}");
}

/// A static that only the candidate points to, and writes before it reads it.
#[test]
fn a_pointer_of_the_candidate_may_point_to_a_static() {
    let header = "prototype: int f(long n, int x)\nprelude: static int a[4]; int peek(void) { return a[1]; }";
    let original = "xor eax, eax\nmov ecx, 0\n1: mov edx, a[4 * rcx]\nmov a[rip], esi\n\
                    add eax, edx\ninc rcx\ncmp rcx, 4\njne 1b\nret";
    let wrong = "xor eax, eax\nmov ecx, 0\nlea r8, a[rip]\n1: mov a[rip], esi\nmov edx, [r8]\nadd eax, edx\nadd r8, 4\n\
                 inc rcx\ncmp rcx, 4\njne 1b\nret";
    let claim = claim(&["rax", "rcx"], &["o.rdx", "c.rdx", "c.r8"])
        .world(MemoryClaim::Equal)
        .hold("(= (slice 0 32 c.r8) (slice 0 32 (add &&a (mul #64:4 o.rcx))))")
        .hold("(= (slice 32 32 c.r8) (slice 32 32 (add &&a (mul #64:4 o.rcx))))");
    Forgery::of(header, original, wrong).point([0, 0], claim).is_refuted();
}

/// A local object that a callee changes in every turn.
#[test]
fn a_local_that_escapes_is_not_kept() {
    let header = "prototype: int f(int n)\ncalls: void g(int *);";
    let original = "push rbx\nsub rsp, 16\nmov ebx, edi\nmov dword ptr [rsp + 8], 1\n1: test ebx, ebx\njle 2f\n\
                    lea rdi, [rsp + 8]\ncall g\ndec ebx\njmp 1b\n2: mov eax, [rsp + 8]\nadd rsp, 16\npop rbx\nret";
    let wrong = original.replace("mov eax, [rsp + 8]", "mov eax, 1");
    for escapes in [true, false] {
        for memory in [MemoryClaim::Kept, MemoryClaim::Equal, MemoryClaim::Apart] {
            let mut claim = claim(&["rbx"], &[]).world(MemoryClaim::Equal);
            claim.forget.extend(scratch());
            claim.locals.push(memory);
            let local = LocalClaim { original: Some(-16), candidate: Some(-16), size: 4, escapes };
            let check = |candidate: &str| {
                Forgery::of(header, original, candidate).point([0, 0], claim.clone()).local(local).verdict()
            };
            assert_ne!(check(&wrong), "accepted", "{escapes} {memory:?}");
            assert!(!escapes || check(original) == "accepted", "{memory:?}: {}", check(original));
        }
    }
}

/// A definition by a place that is defined later, or by itself.
#[test]
fn definitions_do_not_go_in_circles() {
    let header = "prototype: int f(long n)";
    let original = "xor eax, eax\nxor ecx, ecx\n1: test edi, edi\nje 2f\ndec edi\ninc eax\ninc ecx\njmp 1b\n2: ret";
    for pair in [[("c.rax", "c.rax"), ("c.rcx", "o.rcx")], [("c.rax", "c.rcx"), ("c.rcx", "c.rax")]] {
        let mut circle = claim(&["rdi"], &["o.rax", "o.rcx", "c.rax", "c.rcx"]);
        circle.define.extend(pair.map(|(a, b)| (a.to_string(), b.to_string())));
        Forgery::of(header, original, original).point([0, 0], circle).is_malformed();
    }
}

/// Conditions about the start, about another point's variables, and false ones.
#[test]
fn conditions_hold_at_every_arrival() {
    let header = "prototype: int f(long n)";
    let original = "xor eax, eax\n1: test edi, edi\nje 2f\ndec edi\njmp 1b\n2: ret";
    assert_eq!(Forgery::of(header, original, original).point([0, 0], claim(&["rdi"], &[])).verdict(), "accepted");
    let wrong = original.replace("dec edi", "dec edi\ncmp edi, 50\njne 3f\nmov eax, 1\n3:");
    for hold in [
        "(= o.rdi $rdi)",
        "(= c.rdi $rdi)",
        "(<u #64:50 o.rdi)",
        "(not (= (slice 0 32 o.rdi) #32:51))",
        "(not (= o.rax o.rax))",
        "(= o.rax c.rdi)",
        "(or (= o.rdi $rdi) (<u #64:60 o.rdi))",
    ] {
        let said =
            Forgery::of(header, original, &wrong).point([0, 0], claim(&["rdi"], &["c.rax"]).hold(hold)).verdict();
        assert!(said.starts_with("claims") || said.starts_with("obligation"), "{hold}: {said}");
    }
}
