//! Start states that tell versions apart: the user's, and what failed proofs leave behind.

use search::{StartBytes, StartCall, StartPlace, StartState, Witness, WitnessBytes};

/// A counterexample as a start state, so that it refutes whatever else makes the same mistake.
pub fn of_witness(function: &str, witness: &Witness) -> StartState {
    let registers = witness.registers.iter().map(|register| (register.name.clone(), register.value));
    let call = |call: &search::WitnessCall| {
        let result = number(&call.result)?;
        Some(StartCall { callee: call.callee.clone(), result, writes: call.writes.iter().map(bytes).collect() })
    };
    StartState {
        function: Some(function.to_string()),
        registers: registers.collect(),
        memory: witness.memory.iter().map(bytes).collect(),
        calls: witness.calls.iter().map_while(call).collect(),
        seed: 1,
    }
}

fn bytes(bytes: &WitnessBytes) -> StartBytes {
    let object = bytes.object.as_ref().map(|object| match object.rsplit_once('+') {
        Some((name, offset)) => match number(offset) {
            Some(offset) => StartPlace::Object(name.to_string(), offset),
            None => StartPlace::Object(object.clone(), 0),
        },
        None => StartPlace::Object(object.clone(), 0),
    });
    StartBytes { place: object.unwrap_or(StartPlace::Address(bytes.address)), bytes: bytes.bytes.clone() }
}

/// A number as reports print it.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(|n| n as u64)),
    }
}
