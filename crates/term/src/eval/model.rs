//! Values and models.

use crate::{Arena, Bits, FuncId, Sort, TermId, VarId};
use rustc_hash::FxHashMap;

/// The value of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// Of a truth term.
    Bool(bool),
    /// Of a bit-vector term.
    Bits(Bits),
    /// Of a memory term: the variable, store, fill or copy whose content it is, no `ite` being left at the top.
    Memory(TermId),
}

impl Value {
    /// The bit vector. Panics on other sorts: a caller's bug.
    pub fn bits(self) -> Bits {
        match self {
            Value::Bits(bits) => bits,
            other => panic!("{other:?} is no bit vector"),
        }
    }

    /// The truth value. Panics on other sorts: a caller's bug.
    pub fn bool(self) -> bool {
        match self {
            Value::Bool(value) => value,
            other => panic!("{other:?} is no truth value"),
        }
    }

    /// The memory. Panics on other sorts: a caller's bug.
    pub fn memory(self) -> TermId {
        match self {
            Value::Memory(term) => term,
            other => panic!("{other:?} is no memory"),
        }
    }
}

/// Values of the free variables, of memory bytes and of opaque functions. What is not stated is pseudo-random:
/// a function of the seed and of what is asked for, the same at every ask.
#[derive(Clone, Debug, Default)]
pub struct Model {
    seed: u64,
    vars: FxHashMap<VarId, Value>,
    bytes: FxHashMap<(VarId, u64), u8>,
    other_bytes: FxHashMap<VarId, u8>,
    functions: FxHashMap<(FuncId, Vec<Value>), Value>,
}

impl Model {
    /// A model in which everything is pseudo-random.
    pub fn seeded(seed: u64) -> Model {
        Model { seed, ..Model::default() }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// States the value of a bit-vector variable.
    pub fn set_bits(&mut self, var: VarId, value: Bits) {
        self.vars.insert(var, Value::Bits(value));
    }

    /// States the value of a truth variable.
    pub fn set_bool(&mut self, var: VarId, value: bool) {
        self.vars.insert(var, Value::Bool(value));
    }

    /// States one byte of a memory variable.
    pub fn set_byte(&mut self, memory: VarId, address: u64, value: u8) {
        self.bytes.insert((memory, address), value);
    }

    /// States all bytes of a memory variable that are not stated one by one.
    pub fn set_other_bytes(&mut self, memory: VarId, value: u8) {
        self.other_bytes.insert(memory, value);
    }

    /// States the result of an opaque function on some arguments (none of them a memory).
    pub fn set_result(&mut self, func: FuncId, args: Vec<Value>, result: Value) {
        self.functions.insert((func, args), result);
    }

    /// The stated variables.
    pub fn stated(&self) -> impl Iterator<Item = (VarId, Value)> + '_ {
        self.vars.iter().map(|(var, value)| (*var, *value))
    }

    /// The stated bytes: memory variable, address, byte.
    pub fn stated_bytes(&self) -> impl Iterator<Item = (VarId, u64, u8)> + '_ {
        self.bytes.iter().map(|((memory, address), byte)| (*memory, *address, *byte))
    }

    /// The value of a bit-vector or truth variable; for a memory, the variable's own term.
    pub(super) fn var(&self, arena: &Arena, var: VarId, term: TermId) -> Value {
        if let Some(value) = self.vars.get(&var) {
            return *value;
        }
        let seed = mix(self.seed ^ mix(var.index() as u64 + 1));
        match arena.var_sort(var) {
            Sort::Memory => Value::Memory(term),
            sort => random_value(seed, sort),
        }
    }

    /// The value of a variable of any sort but memory.
    pub fn value(&self, arena: &Arena, var: VarId) -> Value {
        assert_ne!(arena.var_sort(var), Sort::Memory, "a memory has no single value");
        self.var(arena, var, TermId(0))
    }

    /// One byte of a memory variable.
    pub fn byte(&self, memory: VarId, address: u64) -> u8 {
        if let Some(byte) = self.bytes.get(&(memory, address)) {
            return *byte;
        }
        if let Some(byte) = self.other_bytes.get(&memory) {
            return *byte;
        }
        self.derived_byte(memory.index() as u64, address)
    }

    /// A byte of a memory known by a number only.
    pub(super) fn derived_byte(&self, memory: u64, address: u64) -> u8 {
        let hash = mix(self.seed ^ mix(memory.wrapping_add(1)) ^ mix(address ^ 0x6d65_6d6f));
        // Zero bytes end strings and null pointers: make them common enough to matter.
        if hash >> 56 < 24 { 0 } else { hash as u8 }
    }

    pub(super) fn result(&self, func: FuncId, args: &[Value], sort: Sort, hash: u64) -> Value {
        match self.functions.get(&(func, args.to_vec())) {
            Some(value) => *value,
            None => random_value(mix(self.seed ^ hash), sort),
        }
    }
}

/// The output function of splitmix64: every bit of the result depends on every bit of the argument.
pub(crate) fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Random values with the corners of their range overrepresented: rules break there.
fn random_value(seed: u64, sort: Sort) -> Value {
    let Sort::Bv(width) = sort else { return Value::Bool(mix(seed) & 1 == 1) };
    let shape = mix(seed ^ 0x5eed);
    let limbs: [u64; 8] = std::array::from_fn(|i| mix(seed.wrapping_add(i as u64 + 1)));
    let full = Bits::from_limbs(width, &limbs);
    Value::Bits(match shape % 8 {
        0 => Bits::new(64, limbs[0] % 17).resize(width),
        1 => Bits::new(64, limbs[0] % 17).resize(width).neg(),
        2 => {
            let top = Bits::zero(width).not().lshr(Bits::new(width, 1));
            top.add(Bits::new(64, limbs[0] % 5).resize(width)).sub(Bits::new(64, 2).resize(width))
        }
        3 => Bits::new(64, limbs[0] % 256).resize(width),
        4 => Bits::new(64, limbs[0] & 0xffff_ffff).resize(width),
        _ => full,
    })
}
