//! A concrete runner of operation lists.

use crate::states::SCRATCH;
use native::{Input, Signal, State};
use program::{FaultKind, Flag, Op, Register};
use std::collections::HashMap;
use term::eval::{Value, apply};
use term::{Arena, Bits, Sort, TermId, VarId};
use x86::table::Row;
use x86::{Builder, Instruction, Unsupported};

/// An arena and builder for the instances of one form.
pub struct Model {
    arena: Arena,
    builder: Builder,
}

/// An operation list with its terms laid out for evaluation.
pub struct Program {
    parts: Vec<Part>,
    has_unknowns: bool,
}

/// Steps that are made one after the other; where there is a choice, the first ones if it holds, else the others.
struct Part {
    choice: Option<Step>,
    steps: Vec<Step>,
    others: Vec<Step>,
}

/// An operation, the terms below it in order, and the positions of its own terms among them.
struct Step {
    op: Op,
    codes: Vec<Code>,
    roots: Vec<usize>,
}

/// One term: where its value comes from. Operands are positions in the same list.
enum Code {
    Constant(Value),
    Variable(VarId),
    Apply(term::Op, Vec<usize>),
}

/// How a run ends.
pub enum End {
    Done(Box<Final>),
    Fault(Signal),
    /// It touches mapped memory that is not compared.
    Skip,
}

/// The final state, with undefined bits.
pub struct Final {
    /// Registers with undefined values read as zeros, then as ones.
    values: [Vec<Value>; 2],
    memory: [Vec<u8>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknowns {
    Zeros,
    Ones,
}

impl Model {
    pub fn new() -> Model {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        Model { arena, builder: Builder::new() }
    }

    pub fn is_large(&self) -> bool {
        self.arena.len() > 100_000
    }

    pub fn compile(&mut self, instruction: &Instruction) -> Result<Program, Unsupported> {
        let mut parts = Vec::new();
        if x86::is_masked(instruction) {
            for lane in x86::lift_lanes(instruction, &mut self.arena, 0)? {
                // Laid out as the condition of a fault.
                let condition = Op::Fault { condition: lane.selected, kind: FaultKind::Trap };
                let choice = Some(self.layout(condition, &[lane.selected]));
                parts.push(Part { choice, steps: self.steps(lane.yes), others: self.steps(lane.no) });
            }
        } else {
            x86::lift(instruction, &mut self.arena, &mut self.builder)?;
            let ops = self.builder.take();
            parts.push(Part { choice: None, steps: self.steps(ops), others: Vec::new() });
        }
        let unknown = |step: &Step| matches!(step.op, Op::Unknown { .. });
        let has_unknowns = parts.iter().any(|part| part.steps.iter().chain(&part.others).any(unknown));
        Ok(Program { parts, has_unknowns })
    }

    fn steps(&self, ops: Vec<(u64, Op)>) -> Vec<Step> {
        ops.into_iter()
            .map(|(_, op)| {
                let roots: Vec<TermId> = match &op {
                    Op::Set { value, .. } => vec![*value],
                    Op::Load { address, .. } => vec![*address],
                    Op::Store { address, value } => vec![*address, *value],
                    Op::Unknown { .. } => vec![],
                    Op::Fault { condition, .. } => vec![*condition],
                };
                self.layout(op, &roots)
            })
            .collect()
    }

    fn layout(&self, op: Op, roots: &[TermId]) -> Step {
        let mut codes: Vec<Code> = Vec::new();
        let mut at: HashMap<TermId, usize> = HashMap::new();
        for term in self.arena.topological(roots) {
            let code = match self.arena.op(term) {
                term::Op::Const(_) => Code::Constant(Value::Bits(self.arena.as_const(term).expect("a constant"))),
                term::Op::Var(var) => Code::Variable(var),
                op => Code::Apply(op, self.arena.args(term).iter().map(|arg| at[arg]).collect()),
            };
            at.insert(term, codes.len());
            codes.push(code);
        }
        let roots = roots.iter().map(|root| at[root]).collect();
        Step { op, codes, roots }
    }

    fn eval(&self, codes: &[Code], vars: &[Value], values: &mut Vec<Value>) {
        values.clear();
        let mut args: Vec<Value> = Vec::new();
        for code in codes {
            let value = match code {
                Code::Constant(value) => *value,
                Code::Variable(var) => vars[var.index()],
                Code::Apply(op, operands) => {
                    args.clear();
                    args.extend(operands.iter().map(|i| values[*i]));
                    apply(&self.arena, *op, &args)
                }
            };
            values.push(value);
        }
    }

    pub fn run(&self, program: &Program, input: &Input) -> End {
        let (zeros, memory) = match self.run_with(program, input, Unknowns::Zeros) {
            Ok(end) => end,
            Err(end) => return end,
        };
        if !program.has_unknowns {
            let (values, memory) = ([zeros.clone(), zeros], [memory.clone(), memory]);
            return End::Done(Box::new(Final { values, memory }));
        }
        match self.run_with(program, input, Unknowns::Ones) {
            Ok((ones, other)) => End::Done(Box::new(Final { values: [zeros, ones], memory: [memory, other] })),
            Err(end) => end,
        }
    }

    fn run_with(&self, program: &Program, input: &Input, unknowns: Unknowns) -> Result<(Vec<Value>, Vec<u8>), End> {
        let mut vars = self.initial(&input.state);
        let mut memory = input.memory.clone();
        let mut values = Vec::new();
        for part in &program.parts {
            let holds = part.choice.as_ref().is_none_or(|choice| {
                self.eval(&choice.codes, &vars, &mut values);
                values[choice.roots[0]].bool()
            });
            for step in if holds { &part.steps } else { &part.others } {
                self.make(step, unknowns, &mut vars, &mut memory, &mut values)?;
            }
        }
        Ok((vars, memory))
    }

    fn make(
        &self,
        Step { op, codes, roots }: &Step,
        unknowns: Unknowns,
        vars: &mut [Value],
        memory: &mut [u8],
        values: &mut Vec<Value>,
    ) -> Result<(), End> {
        self.eval(codes, vars, values);
        let root = |i: usize| values[roots[i]];
        match op {
            Op::Set { var, .. } => vars[var.index()] = root(0),
            Op::Load { var, bytes, .. } => {
                let range = range(root(0).bits().low(), usize::from(*bytes))?;
                vars[var.index()] = Value::Bits(Bits::from_bytes(&memory[range]));
            }
            Op::Store { .. } => {
                let bytes = root(1).bits().to_bytes();
                memory[range(root(0).bits().low(), bytes.len())?].copy_from_slice(&bytes);
            }
            Op::Unknown { var } => {
                vars[var.index()] = match (self.arena.var_sort(*var), unknowns) {
                    (Sort::Bv(width), Unknowns::Zeros) => Value::Bits(Bits::zero(width)),
                    (Sort::Bv(width), Unknowns::Ones) => Value::Bits(Bits::ones(width)),
                    (_, unknowns) => Value::Bool(unknowns == Unknowns::Ones),
                }
            }
            Op::Fault { kind, .. } => {
                if root(0).bool() {
                    return Err(End::Fault(match kind {
                        FaultKind::Divide => Signal::Fpe,
                        _ => Signal::Segv,
                    }));
                }
            }
        }
        Ok(())
    }

    fn initial(&self, state: &State) -> Vec<Value> {
        let mut vars = vec![Value::Bool(false); self.arena.var_count()];
        for register in Register::all() {
            vars[register.index()] = of_state(register, state);
        }
        vars
    }
}

/// Position of an access in the scratch memory.
fn range(address: u64, bytes: usize) -> Result<std::ops::Range<usize>, End> {
    let offset = address.wrapping_sub(SCRATCH.address);
    match offset.checked_add(bytes as u64) {
        Some(end) if end <= SCRATCH.length as u64 => Ok(offset as usize..end as usize),
        Some(end) if end <= 4096 => Err(End::Skip),
        _ => Err(End::Fault(Signal::Segv)),
    }
}

/// Position of a flag in the flags register.
fn flag_bit(flag: Flag) -> u32 {
    match flag {
        Flag::Carry => 0,
        Flag::Parity => 2,
        Flag::Adjust => 4,
        Flag::Zero => 6,
        Flag::Sign => 7,
        Flag::Direction => 10,
        Flag::Overflow => 11,
    }
}

fn of_state(register: Register, state: &State) -> Value {
    Value::Bits(match register {
        Register::General(i) => Bits::new(64, state.general[usize::from(i)]),
        Register::Vector(i) => Bits::from_limbs(128, &state.vector[usize::from(i)][..2]),
        Register::VectorHigh(i) => Bits::from_limbs(128, &state.vector[usize::from(i)][2..]),
        Register::Flag(flag) => return Value::Bool(state.flags >> flag_bit(flag) & 1 == 1),
        Register::FsBase | Register::GsBase => Bits::zero(64),
    })
}

impl Final {
    /// Compares with what the CPU did; the error says what differs.
    pub fn compare(&self, row: &Row, input: &Input, state: &State, memory: &[u8]) -> Result<(), String> {
        for register in Register::all() {
            let [zeros, ones] = [self.values[0][register.index()], self.values[1][register.index()]];
            let actual = of_state(register, state);
            let difference = match (zeros, ones, actual) {
                (Value::Bool(zeros), Value::Bool(ones), Value::Bool(actual)) if zeros == ones => {
                    (zeros != actual).then(|| format!("model {zeros}, cpu {actual}"))
                }
                (Value::Bool(_), ..) => {
                    let Register::Flag(flag) = register else { return Err(format!("{register:?} is a truth value")) };
                    let declared = row.undefined.contains(&flag) || row.sometimes.contains(&flag);
                    (!declared).then(|| "undefined, but not declared so".to_string())
                }
                (Value::Bits(zeros), Value::Bits(ones), Value::Bits(actual)) => {
                    let defined = zeros.xor(ones).not();
                    let wrong = zeros.xor(actual).and(defined);
                    let wrong = !wrong.is_zero() && !is_nan_difference(row, register, zeros, actual);
                    let declared = defined.is_ones() || row.undefined_result.is_some();
                    if !declared {
                        Some("undefined, but not declared so".to_string())
                    } else {
                        wrong.then(|| format!("model {zeros}, cpu {actual}"))
                    }
                }
                _ => return Err("sorts differ".to_string()),
            };
            if let Some(difference) = difference {
                return Err(format!("{}: {difference}; {}", register.name(), describe(input)));
            }
        }
        for (i, actual) in memory.iter().enumerate() {
            let [zeros, ones] = [self.memory[0][i], self.memory[1][i]];
            if (zeros ^ actual) & !(zeros ^ ones) != 0 {
                return Err(format!("memory {i:#x}: model {zeros:#x}, cpu {actual:#x}; {}", describe(input)));
            }
        }
        Ok(())
    }
}

/// Lanes that differ are NaN on both sides, and the row says that payloads are not exact.
fn is_nan_difference(row: &Row, register: Register, model: Bits, actual: Bits) -> bool {
    let (Some(width), Register::Vector(_) | Register::VectorHigh(_)) = (row.nan_lanes, register) else { return false };
    (0..128 / width).all(|i| {
        let lane = |value: Bits| value.extract(width * i + width - 1, width * i);
        let is_nan = |value: Bits| match width {
            32 => f32::from_bits(value.low() as u32).is_nan(),
            _ => f64::from_bits(value.low()).is_nan(),
        };
        lane(model) == lane(actual) || (is_nan(lane(model)) && is_nan(lane(actual)))
    })
}

fn describe(input: &Input) -> String {
    let mut out = String::from("start:");
    for register in Register::all() {
        match of_state(register, &input.state) {
            Value::Bits(value) if !matches!(register, Register::FsBase | Register::GsBase) => {
                out.push_str(&format!(" {}={value}", register.name()));
            }
            Value::Bool(true) => out.push_str(&format!(" {}", register.name())),
            _ => {}
        }
    }
    out
}
