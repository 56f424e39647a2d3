//! The evaluators agree: what the lanes say of random programs is what the processor says.

use program::Register;
use std::sync::Arc;
use superopt::{Evaluate, Herd, Lanes, Native, Output, Plain, Pool, Slot, State, Task};
use x86::{Instruction, Lane, Registers, decode};

/// mov eax, edi; add eax, esi; cmp edi, esi
const CODE: [&[u8]; 3] = [&[0x89, 0xf8], &[0x01, 0xf0], &[0x39, 0xf7]];

fn task() -> Task {
    let original: Vec<Instruction> = CODE.iter().map(|bytes| decode(bytes, 0).unwrap().instruction).collect();
    let arguments: Registers = Register::ARGUMENTS.into_iter().take(2).collect();
    let carry = Output::Flag(program::Flag::Carry);
    let result = Output::Lane(Lane { register: Register::General(0), offset: 0, bits: 64 });
    Task::of_function(original, arguments, vec![result, carry])
}

fn states() -> Vec<State> {
    (0..32).map(|number| State::random(5, number)).collect()
}

#[test]
fn lanes_and_processor_agree_on_random_programs() {
    let task = task();
    let pool = Arc::new(Pool::for_task(&task, &[]));
    let original = pool.exactly(&task.original).unwrap();
    let native = Native::new(pool.clone(), &task, &states(), &original).unwrap();
    let mut lanes = Lanes::new(pool.clone(), &task);
    assert!(lanes.load(&states(), &task, &original));
    let mut herd = Herd::new(pool.clone(), native, (3, 0.01), 8);
    let (mut compared, mut differ) = (0, Vec::new());
    for _ in 0..60 {
        let _ = herd.round();
        let programs: Vec<Vec<Slot>> = herd.programs().iter().map(|(program, _)| program.clone()).collect();
        let costs = herd.evaluator().costs(&programs);
        for (program, cost) in programs.iter().zip(costs) {
            let (Some(cost), Some(ours)) = (cost, lanes.costs(std::slice::from_ref(program))[0]) else { continue };
            compared += 1;
            if cost != ours {
                let text: Vec<String> = pool.instructions(program).iter().map(Instruction::to_string).collect();
                // Of nothing they find what the processor likes.
                if text.iter().any(|line| line.starts_with("bsf") || line.starts_with("bsr")) {
                    continue;
                }
                differ.push(format!("lanes {ours}, processor {cost}: {}", text.join("; ")));
            }
        }
    }
    assert!(compared > 5000, "only {compared} programs");
    differ.sort();
    differ.dedup();
    assert!(differ.is_empty(), "{} of {compared} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn what_is_not_run_again_is_as_it_was() {
    let task = task();
    let pool = Arc::new(Pool::for_task(&task, &[]));
    let original = pool.exactly(&task.original).unwrap();
    let loaded = || {
        let mut lanes = Lanes::new(pool.clone(), &task);
        assert!(lanes.load(&states(), &task, &original));
        lanes
    };
    let (mut lanes, mut plain) = (loaded(), Plain(loaded()));
    let mut herd = Herd::new(pool.clone(), Plain(loaded()), (9, 0.02), 10);
    for _ in 0..5000 {
        let _ = herd.round();
        let (program, _) = &herd.programs()[0];
        let ours = lanes.propose(program, u32::MAX);
        assert_eq!(ours, plain.costs(std::slice::from_ref(program))[0]);
        if ours.is_some() {
            lanes.accept(program);
        }
    }
}

#[test]
fn herds_find_programs() {
    let task = task();
    let pool = Arc::new(Pool::for_task(&task, &[]));
    let original = pool.exactly(&task.original).unwrap();
    let native = Native::new(pool.clone(), &task, &states(), &original).unwrap();
    let mut herd = Herd::new(pool, native, (1, 0.3), 6);
    assert!((0..2000).any(|_| !herd.round().is_empty()));
}
