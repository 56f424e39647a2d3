//! Pieces of straight-line code inside of functions with loops: each is a task of its own, tried on the states in which
//! runs of the whole function come by.
//!
//! A window may be wrong about what is live behind it; the proof of the whole function is not.

use crate::flow::Code;
use crate::lanes::Lanes;
use crate::pool::{Pool, Slot};
use crate::task::{DeadStack, Goal, Level, Output, State, Task};
use program::{Flag, Register};
use std::ops::Range;
use std::sync::Arc;
use x86::{Condition, Flow, Instruction, Lane, Registers};

/// A piece of a function.
#[derive(Clone, Debug)]
pub struct Window {
    /// Its instructions, by their numbers in the code.
    pub range: Range<usize>,
    /// What replaces it must do this.
    pub task: Task,
    /// Is it in a loop?
    pub repeats: bool,
}

/// Most instructions of a window, and fewest.
const MOST: usize = 10;
const FEWEST: usize = 2;

/// The windows of a function, those in loops first.
pub fn windows(code: &Code, level: Level, goal: Goal) -> Vec<Window> {
    let mut out = Vec::new();
    for (number, block) in code.blocks.iter().enumerate() {
        let mut start = block.range.start;
        while start < block.range.end {
            if !is_replaceable(code, start) {
                start += 1;
                continue;
            }
            let mut end = start;
            while end < block.range.end && end - start < MOST && is_replaceable(code, end) {
                end += 1;
            }
            if end - start >= FEWEST {
                let task = task(code, number, start..end, level, goal);
                out.push(Window { range: start..end, task, repeats: block.repeats });
            }
            // Long blocks have windows that overlap.
            let more = end < block.range.end && is_replaceable(code, end);
            start = if more { start + MOST / 2 } else { end };
        }
    }
    out.sort_by_key(|window| !window.repeats);
    out
}

/// May the instruction be replaced? The stack pointer stays where it is.
fn is_replaceable(code: &Code, instruction: usize) -> bool {
    let located = &code.instructions[instruction];
    located.is_free() && located.effects().is_some_and(|effects| !effects.writes.contains(Register::RSP))
}

fn task(code: &Code, block: usize, range: Range<usize>, level: Level, goal: Goal) -> Task {
    let live_in = code.live_before(block, range.start);
    let live_out = code.live_before(block, range.end);
    let mut written = Registers::NONE;
    for located in &code.instructions[range.clone()] {
        if let Some(effects) = located.effects() {
            written = written.union(effects.writes).without(effects.undefined);
        }
    }
    let changeable = |register: &Register| !matches!(register, Register::FsBase | Register::GsBase);
    let dead: Registers = Register::all().filter(changeable).collect::<Registers>().without(live_out);
    let outputs = live_out.intersection(written).iter().filter_map(|register| match register {
        Register::Flag(flag) => Some(Output::Flag(flag)),
        Register::General(_) => Some(Output::Lane(Lane { register, offset: 0, bits: 64 })),
        Register::Vector(_) | Register::VectorHigh(_) => Some(Output::Lane(Lane { register, offset: 0, bits: 128 })),
        Register::FsBase | Register::GsBase => None,
    });
    let mut scratch = dead.union(written);
    scratch.remove(Register::RSP);
    scratch.remove(Register::Flag(Flag::Direction));
    Task {
        original: code.instructions[range.clone()].iter().map(|located| located.instruction.clone()).collect(),
        live_in,
        scratch,
        live_out: outputs.collect(),
        dead_below_stack: DeadStack::No,
        level,
        goal,
        slots: range.len().max(4),
    }
}

/// Most blocks that one run goes through, most of all runs, and most states that a window keeps.
const MOST_BLOCKS: usize = 400;
const MOST_OF_ALL: usize = 6000;
const MOST_STATES: usize = 64;

/// The states in which runs from these starts come to each window. Starts get the memory that the runs ask for.
pub fn states(code: &Code, windows: &[Window], starts: &[State]) -> Vec<Vec<State>> {
    let mut out = vec![Vec::new(); windows.len()];
    if code.blocks.is_empty() {
        return out;
    }
    let mut pieces: Vec<Vec<Piece>> =
        (0..code.blocks.len()).map(|block| Piece::of_block(code, windows, block)).collect();
    let mut left = MOST_OF_ALL;
    for start in starts {
        let mut state = start.clone();
        let mut block = 0;
        for _ in 0..MOST_BLOCKS.min(left) {
            left -= 1;
            let Some(after) = run_block(&mut pieces[block], state, &mut out) else { break };
            state = after;
            let Some(next) = next_block(code, block, &state) else { break };
            block = next;
        }
        if left == 0 || out.iter().all(|states| states.len() >= MOST_STATES) {
            break;
        }
    }
    out
}

/// Instructions of a block between the starts of windows.
struct Piece {
    /// Windows that begin here.
    windows: Vec<usize>,
    lanes: Lanes,
    task: Task,
    slots: Option<Vec<Slot>>,
}

impl Piece {
    fn of_block(code: &Code, windows: &[Window], block: usize) -> Vec<Piece> {
        let range = code.blocks[block].range.clone();
        let is_jump =
            |i: usize| matches!(code.instructions[i].instruction.flow(), Flow::Jump(_) | Flow::ConditionalJump(_));
        let end = if is_jump(range.end - 1) { range.end - 1 } else { range.end };
        let mut cuts: Vec<usize> = windows.iter().map(|w| w.range.start).filter(|at| range.contains(at)).collect();
        cuts.extend([range.start, end]);
        cuts.sort_unstable();
        cuts.dedup();
        let last = cuts.len() - 1;
        cuts.iter()
            .enumerate()
            .map(|(k, from)| {
                let to = if k == last { *from } else { cuts[k + 1] };
                let begin = (0..windows.len()).filter(|w| windows[*w].range.start == *from).collect();
                Piece::new(
                    &code.instructions[*from..to]
                        .iter()
                        .map(|i| (i.is_free(), i.instruction.clone()))
                        .collect::<Vec<_>>(),
                    begin,
                )
            })
            .collect()
    }

    fn new(instructions: &[(bool, Instruction)], windows: Vec<usize>) -> Piece {
        let all: Registers = Register::all().collect();
        let original: Vec<Instruction> = instructions.iter().map(|(_, instruction)| instruction.clone()).collect();
        let task = Task {
            original,
            live_in: all,
            scratch: all,
            live_out: all.iter().filter_map(whole).collect(),
            dead_below_stack: DeadStack::No,
            level: Level::V3,
            goal: Goal::Size,
            slots: 1,
        };
        let pool = Arc::new(Pool::of_code(&task));
        let known = instructions.iter().all(|(free, _)| *free) && task.original.len() <= crate::lanes::MOST_SLOTS;
        let slots = if known { pool.exactly(&task.original) } else { None };
        Piece { windows, lanes: Lanes::new(pool, &task), task, slots }
    }
}

fn whole(register: Register) -> Option<Output> {
    match register {
        Register::General(_) => Some(Output::Lane(Lane { register, offset: 0, bits: 64 })),
        Register::Vector(_) | Register::VectorHigh(_) => Some(Output::Lane(Lane { register, offset: 0, bits: 128 })),
        Register::Flag(flag) => Some(Output::Flag(flag)),
        Register::FsBase | Register::GsBase => None,
    }
}

fn run_block(pieces: &mut [Piece], mut state: State, out: &mut [Vec<State>]) -> Option<State> {
    for piece in pieces {
        for window in &piece.windows {
            if out[*window].len() < MOST_STATES && !out[*window].contains(&state) {
                out[*window].push(state.clone());
            }
        }
        if !piece.task.original.is_empty() {
            state = piece.lanes.run_one(&mut state, &piece.task, piece.slots.as_ref()?)?;
        }
    }
    Some(state)
}

fn next_block(code: &Code, block: usize, state: &State) -> Option<usize> {
    let last = code.blocks[block].range.end - 1;
    let located = &code.instructions[last];
    match located.instruction.flow() {
        Flow::Next => code.block_at(last + 1),
        Flow::Jump(target) if !located.placed => code.block_at(code.at_offset(target)?),
        Flow::ConditionalJump(target) => match holds(located.instruction.condition?, state) {
            true => code.block_at(code.at_offset(target)?),
            false => code.block_at(last + 1),
        },
        _ => None,
    }
}

/// Does a condition hold in a state?
fn holds(condition: Condition, state: &State) -> bool {
    let flag = |flag: Flag| state.flags[flag as usize];
    let (carry, zero, less) = (flag(Flag::Carry), flag(Flag::Zero), flag(Flag::Sign) != flag(Flag::Overflow));
    let positive = match Condition::from_code(condition as u8 & !1) {
        Condition::Overflow => flag(Flag::Overflow),
        Condition::Below => carry,
        Condition::Equal => zero,
        Condition::BelowEqual => carry || zero,
        Condition::Sign => flag(Flag::Sign),
        Condition::Parity => flag(Flag::Parity),
        Condition::Less => less,
        _ => less || zero,
    };
    positive != (condition as u8 & 1 == 1)
}
