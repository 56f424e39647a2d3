//! Pointers where the original follows what is none.
//!
//! Memory is seeded before anybody knows what its words are for. A run of the original that uses a word as an address, and
//! gets nowhere with it, tells: there, or in what that call returns, a pointer belongs. With it the run gets further.
//!
//! Trust: none. An input is an input, however it was found.

use super::runner::Runner;
use crate::objects::inputs::Input;
use interpreter::{Script, Trace, pointer_to_buffer};
use program::Side;
use term::Arena;

/// Pointers that are put into one input.
const MOST_REPAIRS: usize = 24;

impl<'a> Runner<'a> {
    /// The input, with pointers where the original's run needs them; `None` if it needs none or nothing helps.
    pub(crate) fn repaired(&mut self, arena: &Arena, input: &Input, trace: &Trace<'a>) -> Option<Input> {
        let mut better = input.clone();
        let mut wild = trace.wild;
        let mut results = results(trace);
        let mut done = false;
        for turn in 0..MOST_REPAIRS {
            let Some(address) = wild else { break };
            let random = input.seed.split(0x0070_6f69).mix(turn as u64);
            // Often to the same few places, so that structures meet.
            let pointer = pointer_to_buffer(if random.is_multiple_of(3) { random >> 32 } else { random % 5 });
            match self.word_near(&better, address) {
                Some(at) => better.fixed.extend((at..).zip(pointer.to_le_bytes())),
                None => {
                    let near = |(_, _, result): &&(String, usize, u64)| is_near(address, *result);
                    let (callee, number, _) = results.iter().rev().find(near)?;
                    answer(&mut better.scripts, callee, *number, pointer);
                }
            }
            done = true;
            let again = self.traces_of(arena, Side::Original, &better);
            wild = again.wild;
            results = self::results(&again);
        }
        done.then_some(better)
    }
}

/// Calls by callee and number among those of that callee, and what they returned.
fn results(trace: &Trace) -> Vec<(String, usize, u64)> {
    let number = |i: usize| trace.calls[..i].iter().filter(|c| c.callee.name == trace.calls[i].callee.name).count();
    let one = |i: usize| (trace.calls[i].callee.name.to_string(), number(i), trace.calls[i].result);
    (0..trace.calls.len()).map(one).collect()
}

/// Is an address what a pointer of this value and a member's offset make?
pub(super) fn is_near(address: u64, value: u64) -> bool {
    address.wrapping_sub(value) < 4096 || value.wrapping_sub(address) < 256
}

/// Lets a call of a callee return a value.
fn answer(scripts: &mut Vec<Script>, callee: &str, number: usize, value: u64) {
    let have = scripts.iter().filter(|s| s.callee == callee).count();
    for _ in have..=number {
        scripts.push(Script { callee: callee.to_string(), ..Script::default() });
    }
    if let Some(script) = scripts.iter_mut().filter(|s| s.callee == callee).nth(number) {
        script.results[0] = Some(value);
    }
}
