//! Loads from concrete memories, and opaque functions of memories.

use super::model::mix;
use super::{Model, Value};
use crate::{Arena, Bits, Func, FuncId, Op, TermId};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A fill or copy longer than this is not enumerated when a whole memory must be hashed.
const MAX_ENUMERATED: u64 = 1 << 16;

/// `bytes` bytes at an address. `value` gives the values of the operands of stores, fills, copies and inner memories.
pub(super) fn load(
    arena: &Arena,
    model: &Model,
    value: &dyn Fn(TermId) -> Value,
    memory: TermId,
    address: Bits,
    bytes: u16,
) -> Bits {
    let mut out = [0u8; 64];
    for (i, byte) in out.iter_mut().enumerate().take(usize::from(bytes)) {
        *byte = load_byte(arena, model, value, memory, address.low().wrapping_add(i as u64));
    }
    Bits::from_bytes(&out[..usize::from(bytes)])
}

fn load_byte(arena: &Arena, model: &Model, value: &dyn Fn(TermId) -> Value, memory: TermId, address: u64) -> u8 {
    let (mut memory, mut address) = (memory, address);
    loop {
        let args = arena.args(memory);
        match arena.op(memory) {
            Op::Var(var) => return model.byte(var, address),
            Op::Apply(_) => return model.derived_byte(application_hash(arena, model, value, memory), address),
            Op::Store(bytes) => {
                let offset = address.wrapping_sub(value(args[1]).bits().low());
                if offset < u64::from(bytes) {
                    let at = 8 * offset as u16;
                    return value(args[2]).bits().extract(at + 7, at).low() as u8;
                }
                memory = value(args[0]).memory();
            }
            Op::Fill => {
                let offset = address.wrapping_sub(value(args[1]).bits().low());
                if offset < value(args[3]).bits().low() {
                    return value(args[2]).bits().low() as u8;
                }
                memory = value(args[0]).memory();
            }
            Op::Copy => {
                let offset = address.wrapping_sub(value(args[1]).bits().low());
                if offset < value(args[4]).bits().low() {
                    address = value(args[3]).bits().low().wrapping_add(offset);
                    memory = value(args[2]).memory();
                } else {
                    memory = value(args[0]).memory();
                }
            }
            other => panic!("{other:?} is no memory"),
        }
    }
}

/// The result of an opaque function: equal for equal arguments, memories being compared by content.
pub(super) fn opaque(
    arena: &Arena,
    model: &Model,
    value: &dyn Fn(TermId) -> Value,
    func: FuncId,
    args: &[Value],
) -> Value {
    let Func::Opaque { result, .. } = arena.func(func) else { panic!("not an opaque function") };
    model.result(func, args, *result, arguments_hash(arena, model, value, func, args))
}

fn arguments_hash(arena: &Arena, model: &Model, value: &dyn Fn(TermId) -> Value, func: FuncId, args: &[Value]) -> u64 {
    let Func::Opaque { name, .. } = arena.func(func) else { panic!("not an opaque function") };
    let mut hasher = rustc_hash::FxHasher::default();
    name.hash(&mut hasher);
    for arg in args {
        match arg {
            Value::Memory(memory) => content_hash(arena, model, value, *memory).hash(&mut hasher),
            other => other.hash(&mut hasher),
        }
    }
    mix(hasher.finish())
}

/// What the content of a memory that a function returns depends on.
fn application_hash(arena: &Arena, model: &Model, value: &dyn Fn(TermId) -> Value, term: TermId) -> u64 {
    let Op::Apply(func) = arena.op(term) else { panic!("not an application") };
    let args: Vec<Value> = arena.args(term).iter().map(|arg| value(*arg)).collect();
    arguments_hash(arena, model, value, func, &args)
}

/// A hash of the base variable and of the bytes that differ from it.
fn content_hash(arena: &Arena, model: &Model, value: &dyn Fn(TermId) -> Value, memory: TermId) -> u64 {
    let mut written: BTreeMap<u64, ()> = BTreeMap::new();
    let mut base = memory;
    let mut huge = 0u64;
    let mut note = |start: u64, length: u64| {
        if length <= MAX_ENUMERATED {
            (0..length).for_each(|i| {
                written.insert(start.wrapping_add(i), ());
            });
        } else {
            huge = mix(huge ^ start ^ mix(length));
        }
    };
    loop {
        let args = arena.args(base);
        match arena.op(base) {
            Op::Var(_) | Op::Apply(_) => break,
            Op::Store(bytes) => note(value(args[1]).bits().low(), u64::from(bytes)),
            Op::Fill => note(value(args[1]).bits().low(), value(args[3]).bits().low()),
            Op::Copy => note(value(args[1]).bits().low(), value(args[4]).bits().low()),
            other => panic!("{other:?} is no memory"),
        }
        base = value(args[0]).memory();
    }
    let origin = match arena.op(base) {
        Op::Var(var) => var.index() as u64,
        _ => application_hash(arena, model, value, base),
    };
    written
        .keys()
        .filter_map(|address| {
            let byte = load_byte(arena, model, value, memory, *address);
            (byte != load_byte(arena, model, value, base, *address))
                .then(|| mix(*address) ^ mix(u64::from(byte) + 0x100))
        })
        .fold(mix(origin ^ huge), |hash, byte| mix(hash ^ byte))
}
