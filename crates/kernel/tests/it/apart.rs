//! Memory that the sides change at different times, and loops that one side has alone: accepted and forged claims.

use crate::programs::{Programs, render_rejection};
use kernel::{BlockClaim, Change, ChangeClaim, MemoryClaim, PointClaim};
use program::loops::Loops;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|t| (*t).to_string()).collect()
}

fn change(what: Change<&str>) -> ChangeClaim {
    let what = match what {
        Change::Store(a, v) => Change::Store(a.to_string(), v.to_string()),
        Change::Fill(a, b, n) => Change::Fill(a.to_string(), b.to_string(), n.to_string()),
        Change::Copy(a, b, n) => Change::Copy(a.to_string(), b.to_string(), n.to_string()),
        Change::Any(a, n) => Change::Any(a.to_string(), n.to_string()),
    };
    ChangeClaim { local: None, source: None, what }
}

fn block(address: &str, length: &str, write: bool) -> BlockClaim {
    BlockClaim { address: address.to_string(), length: length.to_string(), write }
}

/// A claim that memory changes, with what the original is ahead.
fn ahead(forget: &[&str], changes: &[Change<&str>]) -> PointClaim {
    PointClaim {
        forget: texts(forget),
        world: MemoryClaim::Equal,
        ahead: changes.iter().copied().map(change).collect(),
        ..PointClaim::default()
    }
}

/// What the kernel says about two programs and one claim about their first loops.
fn verdict(header: &str, original: &str, candidate: &str, claim: PointClaim) -> String {
    let programs = Programs::assembly(header, original, candidate);
    let mut certificate = programs.certificate(&[]);
    let pair = programs.prepare().pair;
    let head = |i: usize| Loops::of(pair.functions()[i]).heads.first().map_or(0, |h| h.0);
    let (ours, theirs) = if claim.waits { (head(0), 0) } else { (head(0), head(1)) };
    certificate.points.push(PointClaim { original: ours, candidate: theirs, ..claim });
    match programs.check(&certificate) {
        Ok(_) => "accepted".to_string(),
        Err(rejection) => render_rejection(&rejection),
    }
}

#[track_caller]
fn refuted(said: String) {
    assert!(said.starts_with("obligation") || said.starts_with("claims"), "{said}");
}

const COPY: &str = "prototype: void f(char *p, int unused, unsigned n)
prelude: void *memmove(void *, const void *, unsigned long); void *memcpy(void *, const void *, unsigned long);";

/// A loop that copies upwards from some distance.
fn copies(distance: i32) -> String {
    format!(
        "mov edx, edx\nlea rsi, [rdi + {distance}]\nxor eax, eax\n1: cmp rax, rdx\njae 2f\nmov cl, [rsi + rax]\nmov [rdi + rax], cl\ninc rax\njmp 1b\n2: ret"
    )
}

fn calls(distance: i32, set_up: &str, callee: &str) -> String {
    format!("mov edx, edx\nlea rsi, [rdi + {distance}]\npush rbx\n{set_up}\ncall {callee}\npop rbx\nret")
}

fn copied(to: &str, from: &str, length: &str) -> PointClaim {
    PointClaim {
        waits: true,
        accessed: vec![block(to, length, true), block(from, length, false)],
        hold: texts(&["(<=u o.rax o.rdx)"]),
        ..ahead(&["o.rax", "o.rcx"], &[Change::Copy(to, from, length)])
    }
}

#[test]
fn a_block_is_copied_by_what_the_original_copies() {
    let honest = || copied("o.rdi", "o.rsi", "o.rax");
    assert_eq!(verdict(COPY, &copies(1), &calls(1, "", "memmove"), honest()), "accepted");
    // From below the loop repeats what it has written; memcpy allows neither.
    refuted(verdict(COPY, &copies(-1), &calls(-1, "", "memmove"), honest()));
    refuted(verdict(COPY, &copies(1), &calls(1, "", "memcpy"), honest()));
    for wrong in ["inc rdx", "dec rdx", "inc rsi", "inc rdi"] {
        refuted(verdict(COPY, &copies(1), &calls(1, wrong, "memmove"), honest()));
    }
}

#[test]
fn claims_about_copies_are_checked() {
    let check = |claim| verdict(COPY, &copies(1), &calls(1, "", "memmove"), claim);
    for (to, from, length) in [("o.rdi", "o.rsi", "o.rdx"), ("o.rsi", "o.rdi", "o.rax"), ("o.rdi", "o.rdi", "o.rax")] {
        refuted(check(copied(to, from, length)));
    }
    // Nothing says that the candidate may access the blocks.
    refuted(check(PointClaim { accessed: Vec::new(), ..copied("o.rdi", "o.rsi", "o.rax") }));
    let reads = vec![block("o.rdi", "o.rax", false), block("o.rsi", "o.rax", false)];
    refuted(check(PointClaim { accessed: reads, ..copied("o.rdi", "o.rsi", "o.rax") }));
    let more = vec![block("o.rdi", "o.rdx", true), block("o.rsi", "o.rdx", false)];
    refuted(check(PointClaim { accessed: more, ..copied("o.rdi", "o.rsi", "o.rax") }));
}

const FILL: &str = "prototype: void f(char *p, long n)\nprelude: void *memset(void *, int, unsigned long);";
const MEMSET: &str = "push rbx\nmov rdx, rsi\nxor esi, esi\ncall memset\npop rbx\nret";

/// The candidate fills what the original has filled.
fn filling(rank: &str) -> PointClaim {
    PointClaim {
        alone: Some(rank.to_string()),
        accessed: vec![block("c.rdi", "c.rcx", true)],
        ..ahead(&["c.rcx", "c.rdi"], &[Change::Fill("c.rdi", "(slice 0 8 c.rax)", "c.rcx")])
    }
}

#[test]
fn a_candidate_that_goes_round_alone_does_what_the_original_has_done() {
    let fills = |set_up: &str| format!("xor eax, eax\nmov rcx, rsi\n{set_up}\nrep stosb\nret");
    assert_eq!(verdict(FILL, MEMSET, &fills(""), filling("c.rcx")), "accepted");
    for wrong in ["inc rcx", "dec rcx", "inc rdi", "mov al, 1", "std"] {
        refuted(verdict(FILL, MEMSET, &fills(wrong), filling("c.rcx")));
    }
    // The original writes nothing, or less.
    refuted(verdict(FILL, "ret", &fills(""), filling("c.rcx")));
    refuted(verdict(FILL, "test rsi, rsi\nje 1f\nmov byte ptr [rdi], 0\n1: ret", &fills(""), filling("c.rcx")));
}

#[test]
fn what_goes_round_alone_comes_to_an_end() {
    let fills = "xor eax, eax\nmov rcx, rsi\nrep stosb\nret";
    for rank in ["#64:0", "c.rdi", "c.rsi", "(slice 0 8 c.rcx)"] {
        refuted(verdict(FILL, MEMSET, fills, filling(rank)));
    }
    let said = verdict(FILL, MEMSET, fills, filling("(<u c.rcx c.rsi)"));
    assert!(said.starts_with("malformed"), "{said}");
    let header = "prototype: void f(long n)";
    let alone = || PointClaim { alone: Some("c.rdi".to_string()), forget: texts(&["c.rdi"]), ..PointClaim::default() };
    assert_eq!(verdict(header, "ret", "1: test rdi, rdi\nje 2f\ndec rdi\njmp 1b\n2: ret", alone()), "accepted");
    // Past zero it would go on for ever.
    refuted(verdict(header, "ret", "1: test rdi, rdi\nje 2f\nsub rdi, 2\njmp 1b\n2: ret", alone()));
    refuted(verdict(header, "ret", "1: test rdi, rdi\nje 2f\njmp 1b\n2: ret", alone()));
    // A loop around a loop is none that comes to an end by itself.
    let nest = "1: test rdi, rdi\nje 3f\n2: dec rdi\ncmp rdi, 5\nja 2b\njmp 1b\n3: ret";
    refuted(verdict(header, "ret", nest, alone()));
}

/// The original stores in every turn what it overwrites behind the loop.
#[test]
fn an_excepted_block_is_not_compared_until_it_is_written() {
    let header = "prototype: void f(char *p, long n)";
    let stores = |last: &str| format!("1: mov [rdi], sil\ndec rsi\njne 1b\n{last}\nret");
    let counts = |last: &str| format!("1: dec rsi\njne 1b\n{last}\nret");
    let excepted = |length: &str| {
        let mut claim = ahead(&["o.rsi", "c.rsi"], &[Change::Any("o.rdi", length)]);
        claim.define.push(("c.rsi".to_string(), "o.rsi".to_string()));
        claim
    };
    let last = "mov byte ptr [rdi], 0";
    assert_eq!(verdict(header, &stores(last), &counts(last), excepted("#64:1")), "accepted");
    refuted(verdict(header, &stores(last), &counts(last), excepted("#64:0")));
    refuted(verdict(header, &stores(last), &counts(last), excepted("#64:2")));
    refuted(verdict(header, &stores(""), &counts(""), excepted("#64:1")));
    refuted(verdict(header, &stores(last), &counts(""), excepted("#64:1")));
    // What comes behind an excepted block would not be compared.
    let mut hidden = excepted("#64:1");
    hidden.ahead.push(change(Change::Store("o.rdi", "#8:0")));
    let said = verdict(header, &stores(last), &counts(last), hidden);
    assert!(said.starts_with("malformed"), "{said}");
}

/// The candidate stores before the loop what the original stores behind it.
#[test]
fn the_candidate_may_be_ahead() {
    let header = "prototype: void f(char *p, long n)\nprelude: int g;";
    let original = "mov eax, [rip + g]\nmov [rip + g], eax\n1: dec rsi\njne 1b\nmov dword ptr [rip + g], 5\nret";
    let candidate = |value: u32| format!("mov dword ptr [rip + g], {value}\n1: dec rsi\njne 1b\nret");
    let behind = |value: &str| PointClaim {
        behind: vec![change(Change::Store("&&g", value))],
        define: vec![("c.rsi".to_string(), "o.rsi".to_string())],
        ..ahead(&["o.rsi", "c.rsi"], &[])
    };
    assert_eq!(verdict(header, original, &candidate(5), behind("#32:5")), "accepted");
    refuted(verdict(header, original, &candidate(6), behind("#32:6")));
    refuted(verdict(header, original, &candidate(6), behind("#32:5")));
    let both = PointClaim { ahead: behind("#32:5").behind, ..behind("#32:5") };
    let said = verdict(header, original, &candidate(5), both);
    assert!(said.starts_with("malformed"), "{said}");
}
