//! Pieces of a function with a loop: what is live, in which states runs come by, what replaces them.

use expect_test::expect;
use program::Register;
use superopt::{Code, Goal, Level, Options, Output, Search, State, states, windows};
use x86::{Instruction, Lane};

/// Adds twice each of `esi` numbers at `rdi`: a loop from +6 to +0x14.
const SUM: &str = "31c085f67e108b0f89ca01d101c84883c704ffce75f0c3";

fn code() -> Code {
    let bytes: Vec<u8> = (0..SUM.len()).step_by(2).map(|i| u8::from_str_radix(&SUM[i..i + 2], 16).unwrap()).collect();
    let result = Output::Lane(Lane { register: Register::General(0), offset: 0, bits: 32 });
    Code::read(&bytes, &|_| false, &[result]).expect("code")
}

fn starts() -> Vec<State> {
    (0..40)
        .map(|number| {
            let mut state = State::random(3, number);
            state.general[7] = 0x10_0000 + 0x1000 * number;
            state.general[6] = (state.general[6] >> 32 << 32) + number % 5;
            state
        })
        .collect()
}

#[test]
fn windows_know_what_is_live_behind_them() {
    let code = code();
    let mut out = String::new();
    for window in windows(&code, Level::V1, Goal::Latency) {
        let text: Vec<String> = window.task.original.iter().map(Instruction::to_string).collect();
        let results: Vec<String> = window
            .task
            .live_out
            .iter()
            .map(|output| match output {
                Output::Lane(lane) => lane.to_string(),
                Output::Flag(flag) => format!("{flag:?}"),
            })
            .collect();
        let place = if window.repeats { "in a loop" } else { "once" };
        out.push_str(&format!("{place}: {} -> {}\n", text.join("; "), results.join(" ")));
    }
    expect![[r#"
        in a loop: mov ecx, dword [rdi]; mov edx, ecx; add ecx, edx; add eax, ecx; add rdi, 0x4; dec esi -> rax rsi rdi Zero
        once: xor eax, eax; test esi, esi -> rax Zero Sign Overflow
    "#]].assert_eq(&out);
}

#[test]
fn states_are_those_of_runs() {
    let code = code();
    let windows = windows(&code, Level::V1, Goal::Latency);
    let states = states(&code, &windows, &starts());
    let inside = windows.iter().position(|window| window.repeats).unwrap();
    assert!(states[inside].len() > 30, "only {}", states[inside].len());
    assert!(states[inside].iter().all(|state| state.general[6] as u32 >= 1 && state.general[6] as u32 <= 4));
}

#[test]
fn a_window_of_a_loop_is_improved() {
    let code = code();
    let windows = windows(&code, Level::V1, Goal::Size);
    let states = states(&code, &windows, &starts());
    let inside = windows.iter().position(|window| window.repeats).unwrap();
    let options = Options { islands: 4, epoch: 60_000, ..Options::default() };
    let mut search = Search::new(windows[inside].task.clone(), states[inside].clone(), &[], options).unwrap();
    let found = (0..3).flat_map(|_| search.epoch()).min_by_key(|proposal| proposal.price).expect("a proposal");
    let before = superopt::price(&windows[inside].task.original, Goal::Size);
    assert!(found.price < before, "{} of {before}: {:?}", found.price, found.code);
}
