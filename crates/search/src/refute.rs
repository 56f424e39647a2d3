//! Refutation: runs both programs on concrete inputs until they disagree.
//!
//! An input counts only if the original's run is defined: nothing that a proof may assume was violated. A difference is
//! made small, replayed, and only then shown.
//!
//! Trust: none for finding, full for [`Runner::compare`]: what it calls a difference is reported as one.

use crate::inputs::{Argument, Input, arguments};
use crate::{Behaviour, Witness, WitnessBytes, WitnessCall, WitnessRegister};
use graph::interpreter::{Called, End, Layout, Machine, Memory, Seed, Trace};
use graph::{Function, Place, Register, Signature, Value as Passed, library};
use std::collections::BTreeMap;
use std::time::Instant;
use term::eval::Value;
use term::{Arena, Bits};

/// Runs the two programs of a pair on inputs.
pub(crate) struct Runner<'a> {
    arena: &'a Arena,
    functions: [&'a Function; 2],
    layout: Layout,
    /// Defined runs of the original that reached an exit.
    pub evidence: usize,
    /// Why runs of the original were no evidence, by count.
    rejected: BTreeMap<String, usize>,
}

/// A disagreement.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    summaries: [String; 2],
    places: [u64; 2],
}

const ORIGINAL_FUEL: usize = 4000;
const CANDIDATE_FUEL: usize = 12000;

impl<'a> Runner<'a> {
    pub fn new(arena: &'a Arena, original: &'a Function, candidate: &'a Function) -> Runner<'a> {
        let functions = [original, candidate];
        Runner { arena, functions, layout: Layout::new(arena, functions), evidence: 0, rejected: BTreeMap::new() }
    }

    /// Random inputs number `rounds`, until one tells the programs apart or time is up.
    pub fn random(&mut self, seed: u64, rounds: std::ops::Range<u64>, until: Instant) -> Option<Witness> {
        for round in rounds {
            if Instant::now() >= until {
                return None;
            }
            let input = Input::random(self.functions[0], Seed(seed), round);
            if let Some(difference) = self.try_input(&input) {
                return Some(self.witness(input, difference, until));
            }
        }
        None
    }

    /// The commonest reason why a run of the original was no evidence.
    pub fn commonest_rejection(&self) -> Option<&str> {
        self.rejected.iter().max_by_key(|(_, count)| **count).map(|(what, _)| what.as_str())
    }

    /// The disagreement on an input, if there is one and the original's run is defined.
    pub fn try_input(&mut self, input: &Input) -> Option<Difference> {
        let original = self.run(0, input, ORIGINAL_FUEL);
        if let Some(what) = &original.undefined {
            *self.rejected.entry(what.clone()).or_default() += 1;
        }
        if original.undefined.is_some() || !matches!(original.end, End::Return | End::NoReturn) {
            return None;
        }
        self.evidence += 1;
        let candidate = self.run(1, input, CANDIDATE_FUEL);
        self.compare(&original, &candidate)
    }

    fn signature(&self, name: &str) -> Option<Signature> {
        let debug = self.functions.iter().find_map(|f| f.callees.get(name)).filter(|s| s.unsupported.is_none());
        debug.cloned().or_else(|| {
            let defined = self.functions.iter().any(|f| f.defined.contains(name));
            if defined { None } else { library::contract(name).map(library::Contract::signature) }
        })
    }

    fn run(&self, side: usize, input: &Input, fuel: usize) -> Trace {
        let memory = Memory::new(input.seed, &self.layout, &input.fixed);
        let signatures = |name: &str| self.signature(name);
        let defined = |name: &str| self.functions.iter().any(|f| f.defined.contains(name));
        let machine = Machine::new(
            self.arena,
            self.functions[side],
            &self.layout,
            &signatures,
            &defined,
            input.seed,
            input.registers.clone(),
            memory,
        );
        machine.run(fuel)
    }

    fn compare(&self, original: &Trace, candidate: &Trace) -> Option<Difference> {
        let places = [original.place, candidate.place];
        let said = |a: String, b: String, places: [u64; 2]| Some(Difference { summaries: [a, b], places });
        for i in 0..original.calls.len().max(candidate.calls.len()) {
            match (original.calls.get(i), candidate.calls.get(i)) {
                (Some(a), Some(b)) => {
                    if let Some(difference) = self.compare_calls(a, b, original, candidate) {
                        return difference;
                    }
                }
                (Some(c), None) | (None, Some(c)) if self.replaceable(&c.callee) => return None,
                (Some(a), None) if candidate.end == End::Return => {
                    return said(format!("calls {}", a.callee), "returns".to_string(), [a.place, places[1]]);
                }
                (None, Some(b)) if original.end == End::Return => {
                    return said("returns".to_string(), format!("calls {}", b.callee), [places[0], b.place]);
                }
                _ => break,
            }
        }
        match candidate.end {
            End::Fault(kind, place) => {
                return said(describe_end(original), format!("faults: {}", kind.name()), [places[0], place]);
            }
            End::Fuel | End::Unsupported => return None,
            End::Return | End::NoReturn => {}
        }
        if original.end == End::NoReturn || candidate.end == End::NoReturn {
            return None;
        }
        for value in self.results() {
            let (a, b) = (self.passed(original, &value), self.passed(candidate, &value));
            if a != b && !both_in_frame(a, b) && !both_nan(a, b) {
                return said(format!("returns {}", show(a)), format!("returns {}", show(b)), places);
            }
        }
        let same = [Register::RSP].into_iter().chain(Register::CALLEE_SAVED);
        for register in same {
            let (a, b) = (&original.registers[register.index()], &candidate.registers[register.index()]);
            if a != b {
                let name = register.name();
                return said(format!("preserves {name}"), format!("changes {name}"), places);
            }
        }
        self.compare_memory(&original.changes, &candidate.changes, original, candidate)
            .and_then(|(a, b)| said(a, b, places))
    }

    fn results(&self) -> Vec<Passed> {
        match self.functions[0].signature.as_ref().filter(|s| s.unsupported.is_none()) {
            Some(signature) => signature.results.clone(),
            None => vec![Passed { place: Place::Register(Register::General(0)), bytes: 8, boolean: false, narrow: None }],
        }
    }

    fn passed(&self, trace: &Trace, value: &Passed) -> Bits {
        let Place::Register(register) = value.place else { return Bits::zero(8) };
        match trace.registers[register.index()] {
            Value::Bits(bits) => {
                let bits = if value.bytes == 8 && bits.width() == 64 { Bits::new(64, self.layout.translate(bits.low())) } else { bits };
                bits.extract(8 * value.bytes - 1, 0)
            }
            _ => Bits::zero(8),
        }
    }

    /// `Some(None)` means: no verdict from here on.
    fn compare_calls(&self, a: &Called, b: &Called, original: &Trace, candidate: &Trace) -> Option<Option<Difference>> {
        let places = [a.place, b.place];
        let said = |x: String, y: String| Some(Some(Difference { summaries: [x, y], places }));
        if a.callee != b.callee {
            let replaceable = [a, b].iter().any(|c| self.replaceable(&c.callee));
            return if replaceable { Some(None) } else { said(format!("calls {}", a.callee), format!("calls {}", b.callee)) };
        }
        for value in self.call_values(a) {
            let (x, y) = match value.place {
                Place::Register(register) => {
                    let position = argument_position(register)?;
                    let cut = |c: &Called| c.registers[position].extract(8 * value.bytes - 1, 0);
                    (cut(a), cut(b))
                }
                Place::Stack(offset) => {
                    let word = offset as usize / 8;
                    let cut = |c: &Called| c.stack.get(word).map_or(Bits::zero(8), |w| Bits::new(8 * value.bytes.min(8), *w));
                    (cut(a), cut(b))
                }
            };
            if both_in_frame(x, y) {
                continue;
            }
            if x != y && !both_nan(x, y) {
                let text = |v: Bits| format!("calls {} with {}", a.callee, show(v));
                return said(text(x), text(y));
            }
        }
        if a.callee == "free" && self.replaceable("free") {
            // What is freed need not be written before; how much that is we do not know.
            return None;
        }
        let memory = self.compare_memory(&a.changes, &b.changes, original, candidate)?;
        said(format!("calls {} with {}", a.callee, memory.0), format!("calls {} with {}", a.callee, memory.1))
    }

    /// May a compiler put other library calls or code in the place of this call (`printf`, `puts`; `strcat`, moves)?
    fn replaceable(&self, name: &str) -> bool {
        library::contract(name).is_some() && !self.functions.iter().any(|f| f.defined.contains(name))
    }

    /// What the callee of the original may read, as far as that is certain.
    fn call_values(&self, called: &Called) -> Vec<Passed> {
        self.signature(&called.callee).map_or(Vec::new(), |s| s.arguments)
    }

    fn compare_memory(
        &self,
        a: &BTreeMap<u64, u8>,
        b: &BTreeMap<u64, u8>,
        original: &Trace,
        candidate: &Trace,
    ) -> Option<(String, String)> {
        let pointers = |address: u64| original.frame_pointers.contains(&address) || candidate.frame_pointers.contains(&address);
        let addresses: std::collections::BTreeSet<u64> = a.keys().chain(b.keys()).copied().collect();
        for address in addresses {
            if pointers(address) || a.get(&address) == b.get(&address) || self.nan_word(a, b, address) {
                continue;
            }
            let place = self.place(address);
            let text = |m: &BTreeMap<u64, u8>| match m.get(&address) {
                Some(byte) => format!("{byte:#04x} at {place}"),
                None => format!("{place} unchanged"),
            };
            return Some((text(a), text(b)));
        }
        None
    }

    /// Do both memories hold some NaN in the word around the address? Payloads are not compared.
    fn nan_word(&self, a: &BTreeMap<u64, u8>, b: &BTreeMap<u64, u8>, address: u64) -> bool {
        let word = |m: &BTreeMap<u64, u8>, start: u64, n: u64| -> Option<Bits> {
            let bytes: Option<Vec<u8>> = (start..start + n).map(|i| m.get(&i).copied()).collect();
            bytes.map(|b| Bits::from_bytes(&b))
        };
        [(address & !7, 8), (address & !3, 4)].iter().any(|(start, n)| {
            matches!((word(a, *start, *n), word(b, *start, *n)), (Some(x), Some(y)) if both_nan(x, y))
        })
    }

    fn place(&self, address: u64) -> String {
        match self.layout.object_at(address) {
            Some((name, 0, ..)) => name.to_string(),
            Some((name, offset, ..)) => format!("{name}+{offset:#x}"),
            None => format!("{address:#x}"),
        }
    }

    /// Makes the input small and says what it does.
    fn witness(&mut self, input: Input, difference: Difference, until: Instant) -> Witness {
        let (input, difference) = self.minimise(input, difference, until);
        let traces = [self.run(0, &input, ORIGINAL_FUEL), self.run(1, &input, CANDIDATE_FUEL)];
        let wanted = arguments(self.functions[0]);
        let unknown = self.functions[0].signature.is_none();
        let registers = wanted
            .iter()
            .filter(|a| !(unknown && matches!(a.register, Register::Vector(_))))
            .map(|a| WitnessRegister {
                name: a.register.name(),
                parameter: self.parameter(a.register),
                value: input.get(a),
            });
        let behaviour = |side: usize| Behaviour {
            summary: difference.summaries[side].clone(),
            line: self.functions[side].lines.find(difference.places[side]).cloned(),
        };
        Witness {
            kind: "input",
            registers: registers.collect(),
            memory: self.witness_memory(&traces),
            calls: traces[0].calls.iter().map(|c| self.witness_call(c)).collect(),
            original: behaviour(0),
            candidate: behaviour(1),
            replayed: vec!["interpreter"],
        }
    }

    fn parameter(&self, register: Register) -> Option<String> {
        let parameters = &self.functions[0].parameters;
        let found = parameters.iter().find(|p| p.values.iter().any(|v| v.place == Place::Register(register)));
        found.map(|p| p.name.clone())
    }

    fn witness_call(&self, called: &Called) -> WitnessCall {
        let values = self.call_values(called).into_iter().filter_map(|v| match v.place {
            Place::Register(register) => {
                let position = argument_position(register)?;
                Some(show(called.registers[position].extract(8 * v.bytes - 1, 0)))
            }
            Place::Stack(_) => None,
        });
        WitnessCall { callee: called.callee.clone(), arguments: values.collect(), result: format!("{:#x}", called.result) }
    }

    fn witness_memory(&self, traces: &[Trace; 2]) -> Vec<WitnessBytes> {
        let mut bytes: BTreeMap<u64, u8> = traces[0].read.clone();
        bytes.extend(&traces[1].read);
        let mut out: Vec<WitnessBytes> = Vec::new();
        for (address, byte) in bytes.into_iter().filter(|(a, _)| !graph::interpreter::is_stack(*a)) {
            match out.last_mut() {
                Some(last) if last.address + last.bytes.len() as u64 == address && last.bytes.len() < 16 => last.bytes.push(byte),
                _ => {
                    let object = self.layout.object_at(address).map(|_| self.place(address));
                    out.push(WitnessBytes { address, object, bytes: vec![byte] });
                }
            }
        }
        out
    }

    fn minimise(&mut self, mut input: Input, mut difference: Difference, until: Instant) -> (Input, Difference) {
        let wanted: Vec<Argument> = arguments(self.functions[0]);
        for argument in &wanted {
            let simple: &[u64] = if argument.pointer { &[] } else { &[0, 1, 2, u64::MAX] };
            for value in simple {
                if Instant::now() >= until || input.get(argument) == Bits::new(64, *value).resize(8 * argument.bytes) {
                    break;
                }
                let mut smaller = input.clone();
                smaller.set(argument, Bits::new(64, *value).resize(8 * argument.bytes));
                if let Some(still) = self.try_input(&smaller) {
                    (input, difference) = (smaller, still);
                    break;
                }
            }
        }
        let mut read: Vec<u64> = self.run(0, &input, ORIGINAL_FUEL).read.into_iter().filter(|(_, b)| *b != 0).map(|(a, _)| a).collect();
        read.truncate(512);
        let mut chunk = read.len();
        while chunk > 0 && Instant::now() < until {
            for part in read.chunks(chunk) {
                let mut smaller = input.clone();
                smaller.fixed.extend(part.iter().map(|a| (*a, 0)));
                if let Some(still) = self.try_input(&smaller) {
                    (input, difference) = (smaller, still);
                }
                if Instant::now() >= until {
                    break;
                }
            }
            chunk /= 2;
        }
        (input, difference)
    }
}

fn argument_position(register: Register) -> Option<usize> {
    match register {
        Register::Vector(i) if i < 8 => Some(6 + usize::from(i)),
        other => Register::ARGUMENTS.iter().position(|r| *r == other),
    }
}

fn both_in_frame(a: Bits, b: Bits) -> bool {
    a.width() == 64 && graph::interpreter::is_stack(a.low()) && graph::interpreter::is_stack(b.low())
}

fn both_nan(a: Bits, b: Bits) -> bool {
    match a.width() {
        32 => f32::from_bits(a.low() as u32).is_nan() && f32::from_bits(b.low() as u32).is_nan(),
        64 => f64::from_bits(a.low()).is_nan() && f64::from_bits(b.low()).is_nan(),
        128 => both_nan(a.extract(63, 0), b.extract(63, 0)) && a.extract(127, 64) == b.extract(127, 64),
        _ => false,
    }
}

fn describe_end(trace: &Trace) -> String {
    match trace.end {
        End::Return => "returns".to_string(),
        End::NoReturn => "calls a function that does not return".to_string(),
        _ => "ends".to_string(),
    }
}

fn show(bits: Bits) -> String {
    match bits.to_i64() {
        Some(value) if (-4096..=4096).contains(&value) => value.to_string(),
        _ => bits.to_string(),
    }
}
