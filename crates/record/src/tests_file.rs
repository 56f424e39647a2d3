//! The states as a file of tests (docs/tests-format.md).

use crate::follower::Capture;
use crate::modules::Module;
use crate::recorder::Recording;
use program::{Place, Register};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use term::Bits;

/// The file's text.
pub fn render(recording: &Recording) -> String {
    let tests: Vec<Value> = recording.states.iter().map(|state| test(recording, state)).collect();
    let file = json!({
        "version": 1,
        "recorded": {
            "command": recording.command,
            "file": recording.module.path.display().to_string(),
            "hits": recording.hits,
            "paths": recording.paths,
        },
        "tests": tests,
    });
    format!("{file:#}\n")
}

fn test(recording: &Recording, state: &Capture) -> Value {
    let mut registers = Map::new();
    let mut pointed = BTreeSet::new();
    for (place, bits) in &state.arguments {
        registers.insert(name(*place), json!(hexadecimal(*bits)));
        pointed.insert(bits.low());
    }
    let mut memory: Vec<Value> = Vec::new();
    let mut named = BTreeSet::new();
    for (address, bytes) in &state.memory {
        pointed.extend(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
        for (at, part) in parts(&recording.module, *address, bytes) {
            let object = object(&recording.module, at);
            named.extend(recording.module.object_at(at).map(|(symbol, _)| symbol.start));
            memory.push(piece(at, object, part));
        }
    }
    // Objects that are only pointed to: so that the pointers can follow them.
    for word in pointed {
        if let Some((symbol, offset)) = recording.module.object_at(word)
            && named.insert(symbol.start)
        {
            memory.push(piece(word - offset, Some(symbol.name.clone()), &[]));
        }
    }
    let mut test = json!({ "function": recording.function, "registers": registers, "memory": memory });
    if let Some(why) = state.partial {
        test["partial"] = json!(why);
    }
    test
}

fn piece(address: u64, object: Option<String>, bytes: &[u8]) -> Value {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut piece = json!({ "address": format!("{address:#x}"), "bytes": digits });
    if let Some(object) = object {
        piece["object"] = json!(object);
    }
    piece
}

/// A block where objects begin and end.
fn parts<'b>(module: &Module, mut address: u64, mut bytes: &'b [u8]) -> Vec<(u64, &'b [u8])> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let room = module.border(address).saturating_sub(address).max(1);
        let (part, rest) = bytes.split_at(usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len()));
        out.push((address, part));
        (address, bytes) = (address.wrapping_add(part.len() as u64), rest);
    }
    out
}

fn object(module: &Module, address: u64) -> Option<String> {
    let (symbol, offset) = module.object_at(address)?;
    Some(if offset == 0 { symbol.name.clone() } else { format!("{}+{offset:#x}", symbol.name) })
}

fn name(place: Place) -> String {
    match place {
        Place::Register(Register::General(i)) => Register::General(i).name(),
        Place::Register(register) => register.name(),
        Place::Stack(offset) => format!("[rsp+{:#x}]", offset + 8),
    }
}

fn hexadecimal(bits: Bits) -> String {
    let limbs = bits.limbs();
    let high = limbs.get(1).copied().unwrap_or(0);
    let number = u128::from(high) << 64 | u128::from(limbs[0]);
    format!("{number:#x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::{Symbol, Symbols};
    use std::sync::Arc;

    #[test]
    fn memory_is_told_by_object_where_there_is_one() {
        let symbol = |start, size, name: &str| Symbol { start, size, name: name.to_string() };
        let data = vec![symbol(0x4000, 16, "a"), symbol(0x4010, 4, "b")];
        let symbols = Arc::new(Symbols { data, ..Symbols::default() });
        let module = Module { path: "p".into(), bias: 0x10_0000, symbols };
        let bytes: Vec<u8> = (0..24).collect();
        let parts = parts(&module, 0x10_4008, &bytes);
        let told: Vec<_> = parts.iter().map(|(at, part)| (object(&module, *at), part.len())).collect();
        let named = |name: &str| Some(name.to_string());
        assert_eq!(told, [(named("a+0x8"), 8), (named("b"), 4), (None, 12)]);
    }
}
