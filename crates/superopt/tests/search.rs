//! What searches find, and that it depends on nothing but the seed and the number of epochs.

use expect_test::{Expect, expect};
use program::Register;
use superopt::{Goal, Options, Output, Proposal, Search, State, Task};
use x86::{Instruction, Lane, Registers, decode};

fn code(hex: &str) -> Vec<Instruction> {
    let digits: String = hex.split_whitespace().collect();
    let bytes: Vec<u8> =
        (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect();
    let (mut at, mut out) = (0, Vec::new());
    while at < bytes.len() {
        let decoded = decode(&bytes[at..], at as u64).unwrap();
        at += decoded.length;
        out.push(decoded.instruction);
    }
    out
}

fn task(hex: &str) -> Task {
    let arguments: Registers = Register::ARGUMENTS.into_iter().take(2).collect();
    let result = Output::Lane(Lane { register: Register::General(0), offset: 0, bits: 32 });
    Task::of_function(code(hex), arguments, vec![result])
}

/// Arguments in edi and esi.
fn state(edi: u64, esi: u64) -> State {
    let mut state = State::default();
    (state.general[7], state.general[6]) = (edi ^ 0xdead_0000_0000_0000, esi ^ 0xbeef_0000_0000_0000);
    state.general[4] = 0x7ffd_0000_0000;
    state.memory = vec![(0x7ffc_ffff_ff00, vec![0; 512])];
    state
}

fn states() -> Vec<State> {
    let values = [0, 1, 2, 3, 5, 0x80, 0xff, 0x100, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xf0f0, 0x1234_5678];
    let rotated = |i: usize| values[(i * 7 + 3) % values.len()];
    values.iter().enumerate().map(|(i, value)| state(*value, rotated(i))).collect()
}

fn options(jobs: usize) -> Options {
    Options { seed: 1, islands: 4, epoch: 60_000, jobs }
}

fn run(task: Task, jobs: usize, epochs: usize) -> Vec<Proposal> {
    let mut search = Search::new(task, states(), &[], options(jobs)).unwrap();
    (0..epochs).flat_map(|_| search.epoch()).collect()
}

fn text(proposal: &Proposal) -> String {
    proposal.code.iter().map(Instruction::to_string).collect::<Vec<_>>().join("; ")
}

/// The cheapest proposal of some epochs.
fn finds(hex: &str, expect: Expect) {
    let best = run(task(hex), 1, 2).into_iter().min_by_key(|proposal| proposal.price).expect("a proposal");
    expect.assert_eq(&text(&best));
}

#[test]
fn one_instruction_replaces_two() {
    // lea eax, [rdi - 1]; and eax, edi
    finds("8d 47 ff 21 f8", expect!["blsr eax, edi"]);
}

#[test]
fn code_with_a_frame_is_found_anew() {
    // push rbp; mov rbp, rsp; mov [rbp-4], edi; mov [rbp-8], esi; mov eax, [rbp-4]; and eax, [rbp-8]; pop rbp
    finds("55 48 89 e5 89 7d fc 89 75 f8 8b 45 fc 23 45 f8 5d", expect!["and esi, edi; mov eax, esi"]);
}

#[test]
fn size_counts_bytes() {
    let mut smaller = task("b8 00 00 00 00"); // mov eax, 0
    smaller.goal = Goal::Size;
    let best = run(smaller, 1, 1).into_iter().min_by_key(|proposal| proposal.price).expect("a proposal");
    expect!["xor eax, eax"].assert_eq(&text(&best));
}

#[test]
fn threads_change_nothing() {
    let hex = "89 f8 31 f0 d1 e8 21 fe 01 f0"; // average
    assert_eq!(run(task(hex), 1, 2), run(task(hex), 3, 2));
}

#[test]
fn a_state_that_refutes_is_not_forgotten() {
    // lea eax, [rdi + 1], on states where that is the same as `or edi, 1`.
    let even = |edi| state(edi, 0);
    let mut search = Search::new(task("8d 47 01"), vec![even(2), even(4)], &[], options(1)).unwrap();
    let _ = search.epoch();
    assert!(search.add_state(even(3)));
    assert!(!search.add_state(even(3)));
    let proposals: Vec<Proposal> = (0..3).flat_map(|_| search.epoch()).collect();
    assert!(proposals.iter().all(|proposal| !text(proposal).starts_with("or ")), "{proposals:?}");
}
