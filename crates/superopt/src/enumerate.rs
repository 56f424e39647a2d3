//! Every short program: values instead of instructions.
//!
//! A value is a column, one word per state. Level 1 holds what one instruction makes of the arguments, and constants. Two
//! values of level 1 make a value of level 2, which is not kept: it is compared with the goal, and for the last sum,
//! difference or exclusive or the missing operand is computed and looked up. So programs of up to five instructions are found
//! with the memory of two. Instructions that read flags, and memory, are left to the chains.

use crate::lanes::{LANES, Lanes};
use crate::pool::{Pool, Slot};
use crate::steps::{Buffer, PART};
use crate::task::{State, Task};
use program::Register;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use x86::Instruction;

/// Most values of level 1.
const MOST_VALUES: usize = 1500;
/// Most values of level 2 that are looked at.
const MOST_PAIRS: usize = 1_500_000;
/// Most programs that are proposed.
const MOST_PROGRAMS: usize = 16;

/// A value and how it is made.
struct Node {
    value: Buffer,
    made: Made,
}

#[derive(Clone, Copy)]
enum Made {
    Argument(u8),
    /// An instruction with registers A and B for its sources, and the nodes that they hold.
    By(Slot, [u32; 2]),
}

/// Stand-ins for the two sources, and for a destination that is not read. They must be registers that no
/// instruction uses by itself.
const A: u8 = 8;
const B: u8 = 9;
const RESULT: u8 = 10;

/// Programs of few instructions that are right on all states.
pub(crate) fn short_programs(pool: &Arc<Pool>, task: &Task, original: &[Slot], states: &[State]) -> Vec<Vec<Slot>> {
    let mut lanes = Lanes::new(pool.clone(), task);
    if !lanes.load(&states[..states.len().min(LANES)], task, original) {
        return Vec::new();
    }
    let Some((goal, mask)) = lanes.goal() else { return Vec::new() };
    let Some(result) = task.live_out.iter().find_map(|output| match output {
        crate::Output::Lane(lane) => match lane.register {
            Register::General(n) => Some(n),
            _ => None,
        },
        crate::Output::Flag(_) => None,
    }) else {
        return Vec::new();
    };
    let mut table = Table { nodes: Vec::new(), known: FxHashMap::default() };
    for register in task.live_in.iter() {
        if let Register::General(n) = register
            && register != Register::RSP
        {
            table.add(of_column(&lanes.start(n)), Made::Argument(n));
        }
    }
    let arguments = table.nodes.len();
    let unary: Vec<Slot> = applications(pool, &[A]);
    let binary: Vec<Slot> = applications(pool, &[A, B]).into_iter().filter(|slot| reads_both(pool, *slot)).collect();
    // Level 1.
    for i in 0..arguments {
        let value = table.nodes[i].value;
        for slot in &unary {
            if let Some(made) = lanes.apply(*slot, &[(A, &value)]) {
                table.add(made, Made::By(*slot, [i as u32, 0]));
            }
        }
        for j in (0..arguments).filter(|j| *j != i) {
            let other = table.nodes[j].value;
            for slot in &binary {
                if let Some(made) = lanes.apply(*slot, &[(A, &value), (B, &other)]) {
                    table.add(made, Made::By(*slot, [i as u32, j as u32]));
                }
            }
        }
    }
    let mut search = Goal { goal: of_column(&goal), mask, result, pool, task, programs: Vec::new() };
    for i in 0..table.nodes.len() {
        if matches(&table.nodes[i].value, &search.goal, mask) {
            search.propose(&table, &[], i as u32);
        }
    }
    // Level 2, streamed.
    let mut left = MOST_PAIRS;
    'all: for i in 0..table.nodes.len() {
        let value = table.nodes[i].value;
        for slot in &unary {
            left = left.saturating_sub(1);
            if let Some(made) = lanes.apply(*slot, &[(A, &value)]) {
                search.look(&table, &made, Made::By(*slot, [i as u32, 0]));
            }
        }
        for j in (0..=i).filter(|j| *j < i) {
            let other = table.nodes[j].value;
            for slot in &binary {
                for (first, second, x, y) in [(i, j, &value, &other), (j, i, &other, &value)] {
                    left = left.saturating_sub(1);
                    if let Some(made) = lanes.apply(*slot, &[(A, x), (B, y)]) {
                        search.look(&table, &made, Made::By(*slot, [first as u32, second as u32]));
                    }
                }
            }
        }
        if left == 0 || search.programs.len() >= MOST_PROGRAMS {
            break 'all;
        }
    }
    search.right(states, original)
}

/// The pool's instructions that read only these registers.
fn applications(pool: &Pool, sources: &[u8]) -> Vec<Slot> {
    let mut out = Vec::new();
    for destination in [A, RESULT] {
        for slot in pool.pure(sources, destination) {
            let Some(instruction) = pool.instruction(slot) else { continue };
            let Ok(effects) = x86::effects(&instruction) else { continue };
            let reads = effects.reads.contains(Register::General(A));
            let constant = effects.reads.is_empty();
            let overwrites = destination == A;
            let writes = effects.writes.contains(Register::General(destination));
            // A destination that is read is the first source.
            let needed = overwrites == reads_destination(&instruction);
            if writes && needed && (reads || constant) && !effects.faults {
                out.push(slot);
            }
        }
    }
    out.sort_unstable_by_key(|slot| (slot.opcode, slot.constant, slot.registers));
    out.dedup();
    out
}

fn reads_destination(instruction: &Instruction) -> bool {
    // With another register in its place that register is read.
    let mut other = instruction.clone();
    if let Some(x86::Operand::Register(lane)) = other.operands.first_mut() {
        lane.register = Register::General(11);
    }
    x86::effects(&other).is_ok_and(|effects| effects.reads.contains(Register::General(11)))
}

fn reads_both(pool: &Pool, slot: Slot) -> bool {
    let effects = pool.instruction(slot).and_then(|instruction| x86::effects(&instruction).ok());
    effects.is_some_and(|e| e.reads.contains(Register::General(A)) && e.reads.contains(Register::General(B)))
}

fn of_column(column: &[u64; LANES]) -> Buffer {
    std::array::from_fn(|part| std::array::from_fn(|i| column[part * PART + i]))
}

fn matches(a: &Buffer, b: &Buffer, mask: u64) -> bool {
    a.iter().zip(b).all(|(x, y)| (0..PART).all(|i| (x[i] ^ y[i]) & mask == 0))
}

/// A number for a column; equal columns have equal ones.
fn digest(value: &Buffer, mask: u64) -> u64 {
    let mut sum = [0u64; PART];
    for part in value {
        for i in 0..PART {
            sum[i] = (sum[i].rotate_left(23) ^ (part[i] & mask)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    sum.iter().fold(0, |all, word| (all.rotate_left(29) ^ word).wrapping_mul(0xd1b5_4a32_d192_ed03))
}

struct Table {
    nodes: Vec<Node>,
    known: FxHashMap<u64, u32>,
}

impl Table {
    fn add(&mut self, value: Buffer, made: Made) {
        let digest = digest(&value, u64::MAX);
        if self.nodes.len() < MOST_VALUES && !self.known.contains_key(&digest) {
            self.known.insert(digest, self.nodes.len() as u32);
            self.nodes.push(Node { value, made });
        }
    }

    /// A node whose value agrees under a mask, among those whose other bits are clear.
    fn find(&self, value: &Buffer, mask: u64) -> Option<u32> {
        let masked: Buffer = std::array::from_fn(|part| std::array::from_fn(|i| value[part][i] & mask));
        self.known.get(&digest(&masked, u64::MAX)).copied()
    }
}

/// The operand that a last instruction lacks, from the goal and the other one.
type Missing = fn(u64, u64) -> u64;

struct Goal<'a> {
    goal: Buffer,
    mask: u64,
    result: u8,
    pool: &'a Arc<Pool>,
    task: &'a Task,
    programs: Vec<Vec<Slot>>,
}

impl Goal<'_> {
    fn look(&mut self, table: &Table, value: &Buffer, made: Made) {
        if self.programs.len() >= MOST_PROGRAMS {
            return;
        }
        let top = table.nodes.len() as u32;
        if matches(value, &self.goal, self.mask) {
            self.propose(table, &[made], top);
            return;
        }
        let goal = self.goal;
        let with = |f: Missing| -> Buffer {
            std::array::from_fn(|part| std::array::from_fn(|i| f(goal[part][i], value[part][i])))
        };
        let width = if self.mask > 0xffff_ffff { 64 } else { 32 };
        // goal = value + x, goal = value xor x, goal = x - value, goal = value - x.
        let ways: [(&str, Missing, bool); 4] = [
            ("add", |g, v| g.wrapping_sub(v), false),
            ("xor", |g, v| g ^ v, false),
            ("sub", |g, v| g.wrapping_add(v), true),
            ("sub", |g, v| v.wrapping_sub(g), false),
        ];
        for (name, missing, swapped) in ways {
            let Some(other) = table.find(&with(missing), self.mask) else { continue };
            let Some(slot) = self.last(name, width) else { continue };
            let sources = if swapped { [other, top] } else { [top, other] };
            self.propose(table, &[made, Made::By(slot, sources)], top + 1);
        }
    }

    /// The pool's slot of an instruction of two registers.
    fn last(&self, name: &str, width: u16) -> Option<Slot> {
        let lane = |n| x86::Operand::Register(x86::Lane { register: Register::General(n), offset: 0, bits: width });
        let form = x86::forms().iter().find(|form| {
            form.prototype.mnemonic.name() == name
                && form.prototype.operands.len() == 2
                && form.prototype.operands.iter().all(|o| matches!(o, x86::Operand::Register(l) if l.bits == width))
        })?;
        let mut instruction = form.prototype.clone();
        (instruction.operands[0], instruction.operands[1]) = (lane(A), lane(B));
        self.pool.slots(&[instruction]).map(|slots| slots[0]).filter(|slot| slot.registers[0] == A)
    }

    /// Writes the program that makes a value; `extra` are nodes behind those of the table.
    fn propose(&mut self, table: &Table, extra: &[Made], root: u32) {
        let made = |node: u32| match table.nodes.get(node as usize) {
            Some(node) => node.made,
            None => extra[node as usize - table.nodes.len()],
        };
        let mut writer = Writer { pool: self.pool, free: self.pool.writable()[0].clone(), code: Vec::new() };
        writer
            .free
            .retain(|register| *register != self.result && !self.task.live_in.contains(Register::General(*register)));
        // Arguments that nobody reads afterwards may be overwritten, but copies are left to the chains to remove.
        if let Some(program) = writer.program(&made, root, self.result) {
            self.programs.push(program);
        }
    }

    /// The programs that are right on all states.
    fn right(self, states: &[State], original: &[Slot]) -> Vec<Vec<Slot>> {
        let mut judge = Lanes::new(self.pool.clone(), self.task);
        let mut programs = self.programs;
        for block in states.chunks(LANES) {
            if !judge.load(block, self.task, original) {
                return Vec::new();
            }
            programs.retain(|program| judge.propose(program, 0) == Some(0));
        }
        programs
    }
}

struct Writer<'a> {
    pool: &'a Pool,
    free: Vec<u8>,
    code: Vec<Slot>,
}

impl Writer<'_> {
    fn program(mut self, made: &dyn Fn(u32) -> Made, root: u32, result: u8) -> Option<Vec<Slot>> {
        let register = self.write(made, root)?;
        if register != result {
            self.copy(register, result)?;
        }
        (self.code.len() <= crate::lanes::MOST_SLOTS).then_some(self.code)
    }

    /// Computes a node; gives the register that holds it.
    fn write(&mut self, made: &dyn Fn(u32) -> Made, node: u32) -> Option<u8> {
        match made(node) {
            Made::Argument(register) => Some(register),
            Made::By(slot, [a, b]) => {
                let uses_b = slot.registers.contains(&B) && self.reads(slot, B);
                let uses_a = self.reads(slot, A);
                let first = if uses_a { Some(self.write(made, a)?) } else { None };
                let second = if uses_b { Some(self.write(made, b)?) } else { None };
                let target = self.free.pop()?;
                // A destination that is read gets the first source before.
                if slot.registers[0] == A {
                    self.copy(first?, target)?;
                }
                let mut placed = slot;
                for (i, register) in slot.registers.iter().enumerate().take(3) {
                    placed.registers[i] = match *register {
                        A if i == 0 => target,
                        A if slot.registers[0] == A => target,
                        A => first?,
                        B => second?,
                        RESULT => target,
                        other => other,
                    };
                }
                if let A | B = slot.registers[3] {
                    placed.registers[3] = if slot.registers[3] == A { first? } else { second? };
                }
                self.code.push(placed);
                Some(target)
            }
        }
    }

    fn reads(&self, slot: Slot, register: u8) -> bool {
        let effects = self.pool.instruction(slot).and_then(|instruction| x86::effects(&instruction).ok());
        effects.is_some_and(|effects| effects.reads.contains(Register::General(register)))
    }

    fn copy(&mut self, from: u8, to: u8) -> Option<()> {
        let lane = |n| x86::Operand::Register(x86::Lane { register: Register::General(n), offset: 0, bits: 64 });
        let form = x86::forms().iter().find(|form| {
            form.prototype.mnemonic.name() == "mov"
                && form.prototype.operands.iter().all(|o| matches!(o, x86::Operand::Register(l) if l.bits == 64))
        })?;
        let mut narrow = form.prototype.clone();
        (narrow.operands[0], narrow.operands[1]) = (lane(to), lane(from));
        let slots = self.pool.slots(&[narrow.clone()]).or_else(|| {
            for operand in &mut narrow.operands {
                if let x86::Operand::Register(lane) = operand {
                    lane.bits = 32;
                }
            }
            let prototype = x86::forms().iter().find(|form| {
                form.prototype.mnemonic.name() == "mov"
                    && form.prototype.operands.iter().all(|o| matches!(o, x86::Operand::Register(l) if l.bits == 32))
            })?;
            narrow.width = prototype.prototype.width;
            self.pool.slots(&[narrow])
        })?;
        self.code.extend(slots);
        Some(())
    }
}
