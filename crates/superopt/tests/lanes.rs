//! The evaluator against the terms: every modelled form, on random states, leaves what its operations say.

use program::{Flag, Op, Register};
use std::collections::HashMap;
use std::sync::Arc;
use superopt::{DeadStack, Goal, LANES, Lanes, Level, Output, Pool, State, Task};
use term::eval::{Value, apply};
use term::{Arena, Bits, Sort, TermId, VarId};
use x86::{Builder, Form, Instruction, Lane, Registers};

/// Where memory operands of prototypes lie: their base is r12.
const MEMORY: u64 = 0x5000_0000;

fn states(seed: u64) -> Vec<State> {
    let mut x = seed | 1;
    let mut next = move || {
        x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let z = (x ^ x >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if z & 7 == 0 { z >> 61 } else { z ^ z >> 29 }
    };
    (0..LANES)
        .map(|_| {
            let mut state = State::default();
            state.general.iter_mut().for_each(|value| *value = next());
            state.vector.iter_mut().flatten().for_each(|value| *value = next());
            state.flags.iter_mut().for_each(|flag| *flag = next() & 16 == 0);
            state.flags[Flag::Direction as usize] = false;
            state.general[12] = MEMORY + 64;
            (state.general[6], state.general[7]) = (MEMORY + 128, MEMORY + 192);
            (state.general[4], state.general[5]) = (MEMORY + 96, MEMORY + 32);
            let bytes = (0..256).map(|_| next() as u8).collect();
            state.memory = vec![(MEMORY, bytes)];
            state
        })
        .collect()
}

fn value_of(state: &State, register: Register) -> Value {
    Value::Bits(match register {
        Register::General(n) => Bits::new(64, state.general[usize::from(n)]),
        Register::Vector(n) => Bits::from_limbs(128, &state.vector[usize::from(n)][..2]),
        Register::VectorHigh(n) => Bits::from_limbs(128, &state.vector[usize::from(n)][2..]),
        Register::Flag(flag) => return Value::Bool(state.flags[flag as usize]),
        Register::FsBase | Register::GsBase => Bits::zero(64),
    })
}

/// The registers after the operations; `None` where an undefined value or a fault is involved.
fn direct(arena: &Arena, ops: &[(u64, Op)], state: &State) -> Option<HashMap<VarId, Value>> {
    let mut vars: HashMap<VarId, Value> = HashMap::new();
    for register in Register::all() {
        vars.insert(arena.find_var(&register.name())?, value_of(state, register));
    }
    let value = |term: TermId, vars: &HashMap<VarId, Value>| {
        let mut values: HashMap<TermId, Value> = HashMap::new();
        for t in arena.topological(&[term]) {
            let result = match arena.op(t) {
                term::Op::Const(_) => Value::Bits(arena.as_const(t)?),
                term::Op::Var(var) => *vars.get(&var)?,
                op => {
                    let args: Vec<Value> = arena.args(t).iter().map(|arg| values[arg]).collect();
                    apply(arena, op, &args)
                }
            };
            values.insert(t, result);
        }
        Some(values[&term])
    };
    for (_, op) in ops {
        match op {
            Op::Set { var, value: term } => {
                match value(*term, &vars) {
                    Some(value) => vars.insert(*var, value),
                    None => vars.remove(var),
                };
            }
            Op::Load { var, address, bytes } => {
                let at = usize::try_from(value(*address, &vars)?.bits().low().wrapping_sub(MEMORY)).ok()?;
                let content = state.memory[0].1.get(at..at.checked_add(usize::from(*bytes))?)?;
                vars.insert(*var, Value::Bits(Bits::from_bytes(content)));
            }
            Op::Unknown { var } => drop(vars.remove(var)),
            Op::Fault { condition, .. } if value(*condition, &vars)?.bool() => return None,
            Op::Fault { .. } | Op::Store { .. } => {}
        }
    }
    Some(vars)
}

/// What must be right after an instruction: the registers that its operations define.
fn check(form: &Form) -> Result<bool, String> {
    let instruction = form.prototype.clone();
    let effects = x86::effects(&instruction).map_err(|error| error.to_string())?;
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let mut builder = Builder::new();
    if x86::is_masked(&instruction) || x86::lift(&instruction, &mut arena, &mut builder).is_err() {
        return Ok(false);
    }
    let ops = builder.take();
    let written = effects.writes.without(effects.undefined);
    let outputs: Vec<Output> = written.iter().map(output).collect();
    let task = task(instruction, outputs);
    let pool = Arc::new(Pool::of_code(&task));
    let Some(slots) = pool.exactly(&task.original) else { return Ok(false) };
    let mut ran = false;
    for state in states(u64::from(instruction_seed(form))) {
        let Some(vars) = direct(&arena, &ops, &state) else { continue };
        let mut lanes = Lanes::new(pool.clone(), &task);
        if !lanes.load(std::slice::from_ref(&state), &task, &slots) {
            return Err(format!("{} cannot be run", form.prototype));
        }
        ran = true;
        for (register, words) in written.iter().zip(lanes.goals()) {
            let Some(expected) = vars.get(&arena.find_var(&register.name()).ok_or("a register")?) else { continue };
            let expected: Vec<u64> = match expected {
                Value::Bool(truth) => vec![u64::from(*truth)],
                Value::Bits(bits) => bits.limbs()[..usize::from(bits.width().div_ceil(64))].to_vec(),
                Value::Memory(_) => continue,
            };
            if words != expected {
                return Err(format!("{}: {} is {words:x?}, not {expected:x?}", form.prototype, register.name()));
            }
        }
    }
    Ok(ran)
}

fn instruction_seed(form: &Form) -> u32 {
    form.prototype.to_string().bytes().fold(7, |sum, byte| sum * 31 % 65521 + u32::from(byte))
}

fn output(register: Register) -> Output {
    match register {
        Register::Flag(flag) => Output::Flag(flag),
        register => {
            let bits = if register.sort() == Sort::Bv(64) { 64 } else { 128 };
            Output::Lane(Lane { register, offset: 0, bits })
        }
    }
}

fn task(instruction: Instruction, live_out: Vec<Output>) -> Task {
    let all: Registers = Register::all().collect();
    Task {
        original: vec![instruction],
        live_in: all,
        scratch: all,
        live_out,
        dead_below_stack: DeadStack::No,
        level: Level::V3,
        goal: Goal::Latency,
        slots: 1,
    }
}

#[test]
fn every_form_does_what_its_operations_say() {
    let (mut ran, mut failures) = (0, Vec::new());
    for form in x86::forms() {
        match check(form) {
            Ok(true) => ran += 1,
            Ok(false) => {}
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(ran > 800, "only {ran} forms were run");
}
