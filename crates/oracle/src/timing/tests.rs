//! Sessions of functions compiled for the test. How long things take is never asserted but as a large ratio.

use super::{CannotTime, Options, Times, time};
use crate::{Input, Limits, Piece, Place, Script};
use std::process::Command;
use std::time::Duration;

const BUFFER: u64 = 0x2000_0000_0000;

fn compile(source: &str, flags: &[&str]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (c, o) = (dir.path().join("a.c"), dir.path().join("a.o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new("gcc").args(["-c", "-w", "-o"]).arg(&o).arg(&c).args(flags).status().unwrap();
    assert!(status.success());
    std::fs::read(o).unwrap()
}

/// A buffer and a number.
fn input(seed: u64, n: u64) -> Input {
    let mut input = Input::new(seed);
    (input.general[0], input.general[1]) = (BUFFER, n);
    input.memory = vec![(BUFFER, (0..8192u32).map(|i| (i * 7 + seed as u32) as u8 % 50).collect())];
    input
}

fn time_of(sources: [&str; 2], inputs: &[Input]) -> Result<Times, CannotTime> {
    let objects = sources.map(|source| compile(source, &["-O1"]));
    let limits = Limits { processor: Duration::from_millis(50), clock: Duration::from_secs(30) };
    let options = Options { rounds: 21, layouts: 3, seed: 1, limits };
    let results = [Piece { place: Place::General(0), bytes: 4, boolean: false }];
    time([&objects[0], &objects[1]], ["f", "f"], inputs, &results, options)
}

/// Median ticks of original, candidate and control in a layout.
fn medians(times: &Times, layout: usize) -> [u64; 3] {
    std::array::from_fn(|contender| {
        let mut ticks: Vec<u64> = times.layouts[layout].iter().map(|round| round[contender]).collect();
        ticks.sort_unstable();
        ticks[ticks.len() / 2]
    })
}

const SUM: &str = "int f(unsigned char *p, long n) { int s = 0; for (long i = 0; i < n; i++) s += p[i]; return s; }";

#[test]
fn twice_the_work_takes_longer_in_every_layout() {
    let twice = SUM.replace("return s", "for (long i = 0; i < 9 * n; i++) __asm__ volatile(\"\"); return s");
    let times = time_of([&twice, SUM], &[input(1, 500), input(2, 600)]).unwrap();
    assert_eq!((times.layouts.len(), times.states.len(), times.differing), (3, 2, 0));
    for layout in 0..3 {
        assert_eq!(times.layouts[layout].len(), 21);
        let [original, candidate, _] = medians(&times, layout);
        assert!(original > 2 * candidate, "{times:?}");
    }
}

#[test]
fn what_a_call_writes_is_put_back() {
    // Goes on only as long as it finds what the start state has.
    let source = "static int n = 5; int f(unsigned char *p, long k) { if (n != 5) __builtin_trap();
        n = 6; for (long i = 0; i < k; i++) p[i] = p[i] == 255 ? *(volatile char *)8 : 255; return p[0]; }";
    let mut all = input(3, 300);
    all.memory[0].1.fill(7);
    let times = time_of([source, source], &[all]).unwrap();
    assert_eq!((times.states.len(), times.calls > 1, times.differing), (1, true, 0));
}

#[test]
fn start_states_on_which_somebody_fails_are_left_out() {
    let faults = SUM.replace("int s = 0;", "int s = 0; if (n == 77) s = *(volatile int *)8;");
    let endless = SUM.replace("int s = 0;", "int s = 0; while (n == 78) __asm__ volatile(\"\");");
    let times = time_of([&faults, &endless], &[input(1, 77), input(1, 78), input(1, 79)]).unwrap();
    assert_eq!(times.states, [2]);
    let why: Vec<&str> = times.left_out.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(why, ["the original faults (Segv at 0x8)", "the candidate does not end in time"]);
    let error = time_of([&faults, SUM], &[input(1, 77)]).unwrap_err();
    assert_eq!(error.to_string(), "no start state can be timed: the original faults (Segv at 0x8)");
}

#[test]
fn contenders_that_do_different_things_are_counted() {
    let other = SUM.replace("return s", "return s + (n == 40)");
    let times = time_of([SUM, &other], &[input(1, 40), input(1, 41)]).unwrap();
    assert_eq!((times.states.len(), times.differing), (2, 1));
    let store = SUM.replace("return s", "p[5] = 99; return s");
    assert_eq!(time_of([SUM, &store], &[input(1, 40)]).unwrap().differing, 1);
}

#[test]
fn callees_are_stand_ins_and_told() {
    let source = "int getc(void *); void *memcpy(void *, const void *, unsigned long); void *malloc(unsigned long);
        int f(unsigned char *p, long n) { char *q = malloc(64); memcpy(q, p, 64); int s = q[3], c;
          while ((c = getc(p)) != -1) s += c; return s; }";
    let mut start = input(1, 1);
    let script = |result: i32| Script { callee: "getc".to_string(), result: result as u32 as u64 };
    start.script = vec![script(1), script(5), script(-1)];
    let times = time_of([source, source], &[start.clone()]).unwrap();
    assert_eq!((times.stand_ins.as_slice(), times.differing), (["getc", "malloc"].map(str::to_string).as_slice(), 0));
    // Without an end it runs out of results, or of time.
    start.script = vec![Script { callee: "getc".to_string(), result: 7 }; 300];
    assert!(matches!(time_of([source, source], &[start]), Err(CannotTime::NoState(_))));
}

#[test]
fn what_cannot_be_timed_is_refused() {
    let thread = "__thread int t; int f(unsigned char *p, long n) { return t++; }";
    let error = time_of([SUM, thread], &[input(1, 1)]).unwrap_err();
    assert_eq!(error.to_string(), "the candidate cannot be linked: it has thread-local data");
    let error = time_of(["int g(void) { return 1; }", SUM], &[input(1, 1)]).unwrap_err();
    assert_eq!(error.to_string(), "the original cannot be linked: `f` is not defined");
    assert!(matches!(time_of([SUM, SUM], &[]), Err(CannotTime::NoState(_))));
}
