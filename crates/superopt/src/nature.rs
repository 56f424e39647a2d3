//! Which forms, registers, constants and addresses a task has a use for.
//!
//! Everything is read off the original: vectors only if it has vectors, arithmetic of 64 bits only if it has such,
//! divisions only if it divides, memory only where it goes there. A smaller pool is searched faster, and what is missing
//! here is never found.

use crate::operands::{Chosen, Class, Constant, NONE};
use crate::price;
use crate::task::{Goal, Level, Output, Task};
use program::{Flag, Register};
use rustc_hash::FxHashSet;
use x86::{Choice, Form, Instruction, Memory, Operand, Registers};

/// Which widths of arithmetic a pool offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Widths {
    /// Those of the original.
    Same,
    /// 64 bits as well.
    Wider,
}

/// What of all forms a task can use.
pub(crate) struct Nature {
    level: Level,
    goal: Goal,
    vectors: bool,
    wide: bool,
    divides: bool,
    loads: bool,
    stores: bool,
    scratch: Registers,
    immediates: Vec<u64>,
    addresses: Vec<(bool, u8, i64)>,
    pub readable: [Vec<u8>; 2],
    pub writable: [Vec<u8>; 2],
}

/// Is the address a sum of registers and a constant?
fn is_plain(memory: &Memory) -> bool {
    !memory.rip_relative && memory.symbol.is_none() && memory.segment.is_none()
}

/// Registers that new code uses beside those that the task mentions.
const SPARE: usize = 3;
/// Constants that are useful anywhere.
const IMMEDIATES: [u64; 18] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 24, 31, 32, 63, 0xff, 0xffff, u64::MAX];

impl Nature {
    pub fn of(task: &Task, widths: Widths) -> Nature {
        let operands = || task.original.iter().flat_map(|instruction| &instruction.operands);
        let is_vector =
            |operand: &Operand| matches!(operand, Operand::Register(l) if matches!(l.register, Register::Vector(_)));
        let vector_result = task
            .live_out
            .iter()
            .any(|output| matches!(output, Output::Lane(l) if matches!(l.register, Register::Vector(_))));
        let mentioned = |name: &str| task.original.iter().any(|instruction| instruction.mnemonic.name().contains(name));
        let stack = |memory: &Memory| matches!(memory.base, Some(Register::General(4 | 5)));
        let memory = |operand: &Operand| matches!(operand, Operand::Memory(m) if m.bytes > 0 && !stack(m));
        let stores = task
            .original
            .iter()
            .any(|i| i.operands.first().is_some_and(memory) && x86::effects(i).is_ok_and(|e| e.stores));
        // Frame addresses are computed with 64 bits in any function.
        let wide = |instruction: &Instruction| {
            let frame = |operand: &Operand| match operand {
                Operand::Register(lane) => matches!(lane.register, Register::General(4 | 5)),
                Operand::Memory(memory) => memory.bytes == 0,
                Operand::Immediate(_) => false,
            };
            let arithmetic = !matches!(instruction.mnemonic.name(), "push" | "pop" | "lea" | "mov" | "movabs");
            instruction.width == 64 && arithmetic && !instruction.operands.iter().any(frame)
        };
        let wide_result = task.live_out.iter().any(|output| matches!(output, Output::Lane(l) if l.bits == 64));
        let mut immediates: FxHashSet<u64> = IMMEDIATES.into_iter().collect();
        let mut addresses: FxHashSet<(bool, u8, i64)> = FxHashSet::default();
        for operand in operands() {
            match operand {
                Operand::Immediate(immediate) if immediate.symbol.is_none() => {
                    let value = immediate.value.sext(64).low();
                    immediates.extend([
                        value,
                        !value,
                        value.wrapping_neg(),
                        value.wrapping_add(1),
                        value.wrapping_sub(1),
                    ]);
                    let width = immediate.value.width();
                    if width == 32 {
                        immediates.insert(immediate.value.low());
                    }
                }
                Operand::Memory(m) if is_plain(m) && !stack(m) && m.bytes > 0 => {
                    let scale = if m.index.is_some() { m.scale } else { 0 };
                    addresses.extend([(m.base.is_some(), scale, m.displacement), (true, 0, m.displacement)]);
                }
                _ => {}
            }
        }
        let mut immediates: Vec<u64> = immediates.into_iter().collect();
        immediates.sort_unstable();
        let mut addresses: Vec<(bool, u8, i64)> = addresses.into_iter().collect();
        addresses.sort_unstable();
        let (readable, writable) = registers(task, vector_result || operands().any(is_vector));
        Nature {
            level: task.level,
            goal: task.goal,
            vectors: vector_result || operands().any(is_vector),
            wide: widths == Widths::Wider || wide_result || task.original.iter().any(wide),
            divides: mentioned("div"),
            loads: !addresses.is_empty(),
            stores,
            scratch: task.scratch,
            immediates,
            addresses,
            readable,
            writable,
        }
    }

    pub fn price(&self, instruction: &Instruction) -> u32 {
        match self.goal {
            Goal::Latency => 4 + price::latency(instruction),
            Goal::Throughput => 4 * price::operations(instruction) + 1,
            Goal::Size => 3 * x86::encode(instruction, 0).map_or(4, |bytes| bytes.len() as u32),
        }
    }

    /// Which operands of a form are chosen; `None` if the task has no use for it.
    pub fn choices(&self, form: &Form) -> Option<Vec<(usize, Chosen)>> {
        let prototype = &form.prototype;
        let row = prototype.mnemonic.row()?;
        let vex = prototype.encoding == x86::Encoding::Vex;
        if !self.level.has(row, vex) || form.choices.len() > 3 || !self.is_useful(form) {
            return None;
        }
        let effects = x86::effects(prototype).ok()?;
        let memory = form.choices.contains(&Choice::Memory);
        let address_only = prototype.mnemonic.name() == "lea";
        if memory && !address_only && (effects.stores && !self.stores || effects.loads && !self.loads) {
            return None;
        }
        // Registers that are written without being chosen must be free.
        let chosen: Registers = prototype
            .operands
            .iter()
            .zip(&form.choices)
            .filter_map(|(operand, choice)| match (operand, choice) {
                (Operand::Register(lane), Choice::Register) => Some(lane.register),
                _ => None,
            })
            .flat_map(|register| match register {
                Register::Vector(n) => [register, Register::VectorHigh(n)],
                _ => [register; 2],
            })
            .collect();
        let flags: Registers = Register::all().filter(|register| matches!(register, Register::Flag(_))).collect();
        let implied = effects.writes.without(chosen).without(flags);
        let direction = effects.writes.contains(Register::Flag(Flag::Direction));
        if direction || !implied.without(self.scratch).is_empty() {
            return None;
        }
        let mut out = Vec::new();
        for (i, operand, choice) in form.exchangeable() {
            out.push((
                i,
                match (operand, choice) {
                    (Operand::Register(lane), _) => {
                        let class =
                            if matches!(lane.register, Register::Vector(_)) { Class::Vector } else { Class::General };
                        let written = effects.writes.contains(lane.register);
                        let options = if written { &self.writable } else { &self.readable };
                        if options[class as usize].is_empty() {
                            return None;
                        }
                        if written { Chosen::Written(class) } else { Chosen::Read(class) }
                    }
                    (Operand::Memory(_), _) => Chosen::Address,
                    (Operand::Immediate(_), _) => Chosen::Constant,
                },
            ));
        }
        let constants = out.iter().filter(|(_, chosen)| matches!(chosen, Chosen::Address | Chosen::Constant)).count();
        (constants <= 1).then_some(out)
    }

    fn is_useful(&self, form: &Form) -> bool {
        let (prototype, name) = (&form.prototype, form.prototype.mnemonic.name());
        let vector = prototype.operands.iter().any(|operand| match operand {
            Operand::Register(lane) => matches!(lane.register, Register::Vector(_)),
            _ => false,
        });
        if vector {
            return self.vectors;
        }
        let never = [
            "sal",
            "push",
            "pop",
            "leave",
            "xchg",
            "xadd",
            "cmpxchg",
            "movnti",
            "movbe",
            "nop",
            "pause",
            "endbr64",
            "rcl",
            "rcr",
            "lahf",
            "sahf",
            "cld",
            "std",
            "loop",
            "prefetchnta",
            "prefetcht0",
            "prefetcht1",
            "prefetcht2",
            "prefetchw",
            "cbw",
            "cwd",
            "cmc",
        ];
        let divides = matches!(name, "div" | "idiv");
        // String instructions have no operands in our form.
        let string = prototype.operands.is_empty() && x86::effects(prototype).is_ok_and(|e| e.loads || e.stores);
        // A move that extends nothing.
        if name == "movsxd" && prototype.width != 64
            || never.contains(&name)
            || divides && !self.divides
            || string
            || name.starts_with("lea") && prototype.width == 16
        {
            return false;
        }
        let widths = |operand: &Operand| match operand {
            Operand::Register(lane) => Some(lane.bits),
            Operand::Memory(memory) => Some(8 * memory.bytes),
            Operand::Immediate(_) => None,
        };
        let narrow = matches!(name, "movzx" | "movsx") || prototype.condition.is_some() && prototype.width == 8;
        prototype.operands.iter().filter_map(widths).all(|width| match width {
            0 => true,
            8 => narrow || is_count(prototype),
            16 => narrow,
            64 => self.wide || name == "lea" && prototype.width == 32,
            _ => true,
        })
    }

    pub fn constants(&self, form: &Form, choices: &[(usize, Chosen)]) -> Vec<Constant> {
        let Some((i, chosen)) = choices.iter().find(|(_, chosen)| matches!(chosen, Chosen::Address | Chosen::Constant))
        else {
            return vec![Constant::Nothing];
        };
        let address = |(base, scale, displacement)| Constant::Address { base, scale, displacement };
        if *chosen == Chosen::Address {
            if form.prototype.mnemonic.name() != "lea" {
                return self.addresses.iter().copied().map(address).collect();
            }
            let sums = [1, 2, 4, 8].into_iter().flat_map(|scale| [-1, 0, 1].map(|d| (true, scale, d)));
            let products = [2, 4, 8].into_iter().flat_map(|scale| [0, 1].map(|d| (false, scale, d)));
            let plain = [-8, -4, -3, -2, -1, 1, 2, 3, 4, 8].map(|d| (true, 0, d));
            return sums.chain(products).chain(plain).map(address).collect();
        }
        let width = form.prototype.operands[*i].bits();
        let target = form.prototype.width;
        let name = form.prototype.mnemonic.name();
        // Shifts and bit tests count below the width; immediates of 8 bits select anything in vector instructions.
        let counts = matches!(
            name,
            "shl" | "shr" | "sar" | "rol" | "ror" | "shld" | "shrd" | "rorx" | "bt" | "bts" | "btr" | "btc"
        );
        let mut out: Vec<u64> = match width {
            8 if counts => (1..u64::from(target.min(64))).collect(),
            8 => self.immediates.iter().filter(|value| **value < 256).copied().chain(SELECTORS).collect(),
            32 => self.immediates.iter().map(|value| value & 0xffff_ffff).collect(),
            _ => self.immediates.clone(),
        };
        out.sort_unstable();
        out.dedup();
        out.into_iter().map(Constant::Immediate).collect()
    }
}

/// Selectors of shuffles: broadcasts, swaps, rotations, halves.
const SELECTORS: [u64; 10] = [0x1b, 0x4e, 0xb1, 0x39, 0x93, 0x55, 0xaa, 0x44, 0xee, 0xd8];

/// Is the operand of 8 bits the count of a shift?
fn is_count(instruction: &Instruction) -> bool {
    matches!(instruction.operands.last(), Some(Operand::Register(lane)) if lane.register == Register::General(1) && lane.bits == 8)
        && instruction.operands.first().is_some_and(|operand| operand.bits() >= 32)
}

/// General and vector registers that new code may read, and write.
fn registers(task: &Task, vectors: bool) -> ([Vec<u8>; 2], [Vec<u8>; 2]) {
    let outputs: Vec<Register> = task
        .live_out
        .iter()
        .filter_map(|output| match output {
            Output::Lane(lane) => Some(lane.register),
            Output::Flag(_) => None,
        })
        .collect();
    let order: [Register; 9] = [0u8, 1, 2, 6, 7, 8, 9, 10, 11].map(Register::General);
    let vector_order: Vec<Register> = if vectors { (0..16).map(Register::Vector).collect() } else { Vec::new() };
    let pick = |order: &[Register]| -> (Vec<u8>, Vec<u8>) {
        let number = |register: &Register| match register {
            Register::General(n) | Register::Vector(n) => *n,
            _ => NONE,
        };
        let needed = |r: &&Register| task.live_in.contains(**r) || outputs.contains(r);
        let mut writable: Vec<u8> =
            order.iter().filter(needed).filter(|r| task.scratch.contains(**r)).map(number).collect();
        let spare = order.iter().filter(|r| !needed(r) && task.scratch.contains(**r)).map(number);
        writable.extend(spare.take(SPARE));
        let same = |register: &Register| {
            matches!(register, Register::General(_)) == matches!(order.first(), Some(Register::General(_)))
        };
        let kept = task.live_in.iter().filter(|r| same(r) && !matches!(r, Register::Flag(_) | Register::VectorHigh(_)));
        let kept = kept.filter(|r| *r != Register::RSP && !matches!(r, Register::FsBase | Register::GsBase));
        let kept: Vec<u8> = kept.map(|r| number(&r)).filter(|n| !writable.contains(n)).collect();
        let readable = writable.iter().copied().chain(kept).collect();
        (readable, writable)
    };
    let (general, general_writable) = pick(&order);
    let (vector, vector_writable) = if vectors { pick(&vector_order) } else { Default::default() };
    ([general, vector], [general_writable, vector_writable])
}
