//! When two runs disagree.
//!
//! Only what is certain counts: if a compiler could have replaced a call by another, or by code, the runs tell nothing
//! from there on.
//!
//! Trust: full. What is called a difference here is reported as one.

use super::family;
use interpreter::{
    BUFFER_SPACING, Called, Change, End, FormArgument, Layout, Passed, ResultUse, SetUp, Trace, is_stack,
};
use program::{AssertTexts, FaultKind, Function, ObjectKind, Place, Register, Side, Value};
use term::Bits;

/// A disagreement.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub summaries: [String; 2],
    pub places: [u64; 2],
}

/// What a comparison depends on besides the runs.
pub(crate) struct Comparison<'r, 'a> {
    pub functions: [&'a Function; 2],
    pub layout: &'r Layout<'a>,
    /// Do the programs compute with floating-point numbers?
    pub floats: bool,
    /// Are all addresses among the arguments multiples of 8?
    pub aligned_input: bool,
    /// Where the result goes, if it is returned in memory.
    pub result: Option<u64>,
    /// Does it count what the original leaves as it is there?
    pub untouched_counts: bool,
}

/// What the general forms of a pair of calls say.
#[derive(PartialEq, Eq)]
enum Forms {
    /// The calls are to be compared as they are.
    Absent,
    /// Both do the same.
    Equal,
    Verdict(Calls),
}

/// What a pair of calls says.
#[derive(PartialEq, Eq)]
enum Calls {
    Same,
    Differ(String, String),
    /// No verdict from here on.
    Unclear,
}

impl<'a> Comparison<'_, 'a> {
    /// The first disagreement of two runs; the original's is defined and reached an exit.
    pub fn traces(&self, original: &Trace<'a>, candidate: &Trace<'a>) -> Option<Difference> {
        let mut passed = 0;
        let difference = self.first_difference(original, candidate, &mut passed)?;
        // Behind a call of a function that nobody declared, and that may never return, is nothing but other code.
        let returns = |(a, b): (&Called, &Called)| a.callee.returns || (a.result_used && b.result_used);
        original.calls.iter().zip(&candidate.calls).take(passed).all(returns).then_some(difference)
    }

    /// The first disagreement, and how many calls were the same before it.
    fn first_difference(&self, original: &Trace<'a>, candidate: &Trace<'a>, passed: &mut usize) -> Option<Difference> {
        let said = |a: String, b: String, places: [u64; 2]| Some(Difference { summaries: [a, b], places });
        let places = [original.place, candidate.place];
        for i in 0..original.calls.len().max(candidate.calls.len()) {
            match (original.calls.get(i), candidate.calls.get(i)) {
                (Some(a), Some(b)) => match self.calls(a, b, [original, candidate]) {
                    Calls::Same => *passed += 1,
                    Calls::Differ(x, y) => return said(x, y, [a.place, b.place]),
                    Calls::Unclear => return None,
                },
                (Some(a), None) => {
                    // The candidate may be in the middle of what the call would have done.
                    if self.replaceable(a, Side::Original, original) {
                        return None;
                    }
                    if candidate.end == End::Return {
                        return said(format!("calls {}", a.callee.name), "returns".to_string(), [a.place, places[1]]);
                    }
                    break;
                }
                (None, Some(b)) => {
                    if original.end == End::Return && !self.replaceable(b, Side::Candidate, candidate) {
                        return said("returns".to_string(), format!("calls {}", b.callee.name), [places[0], b.place]);
                    }
                    return None;
                }
                (None, None) => break,
            }
        }
        match candidate.end {
            End::Fault(FaultKind::Misaligned, _) if !self.aligned_input || self.has_loose_literal() => return None,
            End::Fault(kind, place) => {
                return said(describe_end(original), format!("faults: {}", kind.name()), [places[0], place]);
            }
            End::BadAddress(address, place) => {
                return said(describe_end(original), format!("accesses address {address:#x}"), [places[0], place]);
            }
            End::Forever => {
                return said(describe_end(original), "runs for ever".to_string(), places);
            }
            End::Return if original.end == End::Return && original.calls.len() == candidate.calls.len() => {}
            End::Return | End::NoReturn | End::Fuel | End::Unsupported => return None,
        }
        for value in self.results([original, candidate]) {
            let Place::Register(register) = value.place else { continue };
            let (Some(a), Some(b)) = (original.result(register), candidate.result(register)) else { continue };
            // A part of an address, by the look of it: where things lie is no difference.
            let part = value.bytes < 8 && [a, b].iter().any(|v| self.layout.is_address(v.bits.low()));
            // A truth value that is none came from a callee that does not exist.
            if value.boolean && a.bits.low() as u8 > 1 {
                return None;
            }
            if !part && !self.same(a, b, value.bytes, value.place) {
                let show = |v: Passed| format!("returns {}", show(v.bits.extract(8 * value.bytes - 1, 0)));
                return said(show(a), show(b), places);
            }
        }
        if let Some(register) = candidate.spoiled {
            let name = register.name();
            return said(format!("preserves {name}"), format!("changes {name}"), places);
        }
        let (a, b) = self.memory(&original.changes, &candidate.changes, [original, candidate])?;
        said(a, b, places)
    }

    /// Where the results are. Without a declaration, `rax` may hold one; of its type only the low byte is certain.
    pub(super) fn results(&self, traces: [&Trace; 2]) -> Vec<Value> {
        if self.functions[0].contract().is_some_and(|c| c.result_unused) {
            return Vec::new();
        }
        match self.functions[0].signature.as_ref().filter(|s| s.unsupported.is_none()) {
            Some(signature) => signature.results.clone(),
            None if traces[0].result == ResultUse::Certain && traces[1].result >= ResultUse::Possible => {
                vec![Value { place: Place::Register(Register::General(0)), bytes: 1, boolean: false, narrow: None }]
            }
            None => Vec::new(),
        }
    }

    /// Are the low bytes the same value, as far as the original defines them?
    pub(super) fn same(&self, a: Passed, b: Passed, bytes: u16, place: Place) -> bool {
        let vector = matches!(place, Place::Register(Register::Vector(_)));
        let cut = |v: Passed| v.bits.extract((8 * bytes).min(v.bits.width()) - 1, 0);
        let (x, y) = (cut(a), cut(b));
        let differs = |i: u16| x.extract(8 * i + 7, 8 * i) != y.extract(8 * i + 7, 8 * i);
        let unequal = (0..x.width() / 8).any(|i| a.taint >> i & 1 == 0 && differs(i));
        !unequal || (vector && self.both_nan(x, y)) || (x.width() == 64 && self.same_address(x.low(), y.low()))
    }

    /// Addresses in the two frames, or of the same literal, cannot be told apart.
    fn same_address(&self, a: u64, b: u64) -> bool {
        (is_stack(a) && is_stack(b))
            || self.layout.is_nowhere(self.layout.translate(a))
            || self.layout.is_nowhere(self.layout.translate(b))
            || self.layout.may_be_same(a, b)
            || self.layout.same_literal(a, b)
            || self.layout.same_constant(a, b)
    }

    /// May a compiler put other calls or code in the place of this call?
    fn replaceable(&self, call: &Called, side: Side, trace: &Trace) -> bool {
        let info = &call.callee;
        if info.defined || info.own || info.local.is_some() || info.name.contains('.') {
            return true;
        }
        if side == Side::Original && self.functions[0].defined.contains(&*info.name) {
            return true;
        }
        match info.library {
            Some(contract) => family::is_replaceable(contract, trace),
            None => false,
        }
    }

    fn calls(&self, a: &Called<'a>, b: &Called<'a>, traces: [&Trace<'a>; 2]) -> Calls {
        let forms = self.forms(a, b);
        if let Forms::Verdict(verdict) = forms {
            return verdict;
        }
        let name = &a.callee.name;
        if *name != b.callee.name && forms != Forms::Equal {
            let replaceable =
                self.replaceable(a, Side::Original, traces[0]) || self.replaceable(b, Side::Candidate, traces[1]);
            return match replaceable {
                true => Calls::Unclear,
                false => Calls::Differ(format!("calls {name}"), format!("calls {}", b.callee.name)),
            };
        }
        if let Some(verdict) = self.arguments(a, b).filter(|_| forms != Forms::Equal) {
            // A recursion that became a loop leaves its calls out, and what is computed from constants is known.
            let count = |trace: &Trace| trace.calls.iter().filter(|call| call.callee.name == *name).count();
            let computed = a.callee.library.is_some_and(family::computes) && count(traces[0]) != count(traces[1]);
            return if a.callee.own || computed { Calls::Unclear } else { verdict };
        }
        // What a compiler can see of a function, it may know not to read.
        if a.callee.defined || a.callee.library.is_some_and(family::reads_nothing) {
            return Calls::Same;
        }
        if a.aligned && !b.aligned {
            return Calls::Differ(format!("calls {name}"), format!("calls {name} with a misaligned stack"));
        }
        for (i, (p, q)) in a.pointed.iter().zip(&b.pointed).enumerate() {
            if let Some(at) = self.pointed_differ(&p.bytes, &q.bytes) {
                let say = |byte: u8| format!("calls {name} with {byte:#04x} at byte {at} behind pointer {}", i + 1);
                return Calls::Differ(say(p.bytes[at].0), say(q.bytes[at].0));
            }
        }
        // Nobody else sees the result before the return, unless it is told where that goes.
        let told = [a, b].iter().any(|call| {
            let mut passed = call.registers.iter().zip(&call.set_up);
            passed.any(|(passed, set_up)| matches!(set_up, SetUp::Written(_)) && self.in_result(passed.bits.low()))
        });
        let seen = |changes: &[Change]| -> Vec<Change> {
            changes.iter().filter(|change| told || !self.in_result(change.address)).copied().collect()
        };
        match self.memory(&seen(&a.changes), &seen(&b.changes), traces) {
            Some((x, y)) => Calls::Differ(format!("calls {name} with {x}"), format!("calls {name} with {y}")),
            None => Calls::Same,
        }
    }

    /// Is an address where the result goes?
    fn in_result(&self, address: u64) -> bool {
        self.result.is_some_and(|at| address.wrapping_sub(at) < BUFFER_SPACING)
    }

    /// Compares calls of the library that have a general form.
    fn forms(&self, a: &Called, b: &Called) -> Forms {
        let same_name = a.callee.name == b.callee.name;
        let (x, y) = match (&a.form, &b.form) {
            (Some(x), Some(y)) => (x, y),
            _ if same_name || (a.form.is_none() && b.form.is_none()) => return Forms::Absent,
            _ => return Forms::Verdict(Calls::Unclear),
        };
        let equal = |(p, q): (&FormArgument, &FormArgument)| match (p, q) {
            (FormArgument::Word(p), FormArgument::Word(q)) => self.same_address(*p, *q),
            (p, q) => p == q,
        };
        let alike = x.callee == y.callee && x.arguments.len() == y.arguments.len();
        if alike && x.arguments.iter().zip(&y.arguments).all(equal) {
            return Forms::Equal;
        }
        let known = |p: &FormArgument, q: &FormArgument| std::mem::discriminant(p) == std::mem::discriminant(q);
        let certain = alike && x.arguments.iter().zip(&y.arguments).all(|(p, q)| known(p, q));
        let written = matches!((family::output(x), family::output(y)), (Some(p), Some(q)) if p != q);
        Forms::Verdict(match certain || written {
            true => Calls::Differ(describe_form(a, x), describe_form(b, y)),
            false => Calls::Unclear,
        })
    }

    /// Compares the arguments of two calls of the same function; `None` if they agree.
    fn arguments(&self, a: &Called, b: &Called) -> Option<Calls> {
        let info = &a.callee;
        let declared = info.signature.as_ref().map_or(&[][..], |s| &s.arguments);
        // A local function of which nobody made a contract may take its arguments elsewhere.
        let over_stack = |v: &Value| matches!(v.place, Place::Stack(_));
        if info.defined && info.local.is_none() && declared.iter().any(over_stack) {
            return None;
        }
        let unset =
            |v: &Value| !self.is_set_up(a, Side::Original, v.place) || !self.is_set_up(b, Side::Candidate, v.place);
        if info.foreign || self.passes_more(a, b) || declared.iter().any(unset) {
            return Some(Calls::Unclear);
        }
        let name = &info.name;
        let differ = |x: Bits, y: Bits| {
            // Two texts are told apart by what they say.
            let texts = [x, y].map(|v| self.layout.text_at(v.low()).filter(|_| v.width() == 64));
            if let [Some(a), Some(b)] = &texts
                && a != b
            {
                let say = |text: &[u8]| format!("calls {name} with {:?}", String::from_utf8_lossy(text));
                return Some(Calls::Differ(say(a), say(b)));
            }
            let say = |v: Bits| format!("calls {name} with {}", show(v));
            Some(Calls::Differ(say(x), say(y)))
        };
        for value in declared.iter().copied().chain(self.further(a, b)) {
            let (x, y) = match value.place {
                Place::Register(register) => {
                    let to = match info.local.and_then(|l| l.moved.get(&register)) {
                        Some(None) => continue,
                        Some(Some(to)) => *to,
                        None => register,
                    };
                    let (Some(p), Some(q)) = (Called::position(register), Called::position(to)) else { continue };
                    (a.registers[p], b.registers[q])
                }
                Place::Stack(offset) => match (a.stack.get(offset as usize / 8), b.stack.get(offset as usize / 8)) {
                    (Some(x), Some(y)) if value.bytes <= 8 => (*x, *y),
                    _ => continue,
                },
            };
            if !self.same(x, y, value.bytes, value.place) && !self.asserted_alike(name, value.place, [x, y]) {
                let cut = |v: Passed| v.bits.extract(8 * value.bytes - 1, 0);
                // A copy of a literal in the frame, or the literal itself: who only reads it cannot tell. Nor can who gets a part.
                let [p, q] = [x, y].map(|v| v.bits.low());
                let part =
                    value.bytes < 8 && info.signature.is_none() && [p, q].iter().any(|v| self.layout.is_address(*v));
                if part || is_stack(p) != is_stack(q) || !(is_written(a, value.place) || is_written(b, value.place)) {
                    return Some(Calls::Unclear);
                }
                // An argument that the function does not use need not be passed.
                if info.defined && [a, b].iter().any(|call| !passed_on_purpose(call, value.place)) {
                    return Some(Calls::Unclear);
                }
                return differ(cut(x), cut(y));
            }
        }
        None
    }

    /// Do both programs name one function in a failed assertion? C leaves it to the compiler what `__PRETTY_FUNCTION__` says
    /// besides the name: `f`, or `int f(int)`.
    /// Unless they are compared, file, line and function are not looked at.
    fn asserted_alike(&self, callee: &str, place: Place, [a, b]: [Passed; 2]) -> bool {
        if self.functions[0].assert_texts == AssertTexts::Ignored {
            let known = ["__assert_fail", "__assert_perror_fail", "__assert"].contains(&callee);
            let position = Register::ARGUMENTS.iter().position(|r| place == Place::Register(*r));
            return known && position.is_some_and(|i| (1..4).contains(&i));
        }
        let text = |v: Passed| self.layout.text_at(v.bits.low());
        callee == "__assert_fail"
            && place == Place::Register(Register::ARGUMENTS[3])
            && matches!((text(a), text(b)), (Some(a), Some(b)) if declares(&a, &b) || declares(&b, &a))
    }

    /// Is a general register set up for the call, as it always is without an optimiser?
    fn is_set_up(&self, call: &Called, side: Side, place: Place) -> bool {
        is_written(call, place) || !self.functions[side.index()].is_unoptimised()
    }

    /// Do both programs set up a register for the call that the declaration does not name? Then it is called in another way.
    fn passes_more(&self, a: &Called, b: &Called) -> bool {
        let Some(signature) = a.callee.signature.as_ref().filter(|s| !s.variadic) else { return false };
        let named = |register: Register| signature.arguments.iter().any(|v| v.place == Place::Register(register));
        let written = |i: usize| [a, b].iter().all(|call| matches!(call.set_up[i], SetUp::Written(_)));
        Register::ARGUMENTS.into_iter().enumerate().any(|(i, register)| !named(register) && written(i))
    }

    /// Arguments that no declaration names but that certainly are some: those that a format asks for, and registers
    /// that both programs set up and do not use themselves.
    fn further(&self, a: &Called, b: &Called) -> Vec<Value> {
        let plain = |register: Register, bytes: u16| Value {
            place: Place::Register(register),
            bytes,
            boolean: false,
            narrow: None,
        };
        let signature = a.callee.signature.as_ref();
        if signature.is_some_and(|s| s.variadic) {
            let general = signature.map_or(0, |s| s.arguments.iter().filter(|v| is_general(v)).count());
            let vector = signature.map_or(0, |s| s.arguments.len() - general);
            let format = (0..general).rev().find_map(|i| self.layout.text_at(a.registers[i].bits.low()));
            let format = format.unwrap_or_default();
            // Whoever scans takes addresses only.
            if a.callee.name.contains("scanf") {
                let places = Register::ARGUMENTS.iter().skip(general);
                let asked = if format.contains(&b'*') { 0 } else { family::format_arguments(&format, 0, 0).len() };
                return places.take(asked).map(|register| plain(*register, 8)).collect();
            }
            return family::format_arguments(&format, general, vector);
        }
        let mut out = Vec::new();
        // The candidate may know how many there are.
        let its = b.callee.signature.as_ref().filter(|s| !s.variadic);
        let named =
            |register: Register| its.is_none_or(|s| s.arguments.iter().any(|v| v.place == Place::Register(register)));
        let possible = Register::ARGUMENTS.into_iter().enumerate().filter(|_| signature.is_none());
        for (i, register) in possible.take_while(|(_, register)| named(*register)) {
            match (a.set_up[i], b.set_up[i]) {
                (SetUp::Written(_), SetUp::Written(_) | SetUp::Entry) | (SetUp::Entry, SetUp::Written(_)) => {
                    // Of its type only the low byte is certain: a structure has what it likes above that. Two addresses are whole.
                    let addresses = [a, b].iter().all(|call| self.layout.is_address(call.registers[i].bits.low()));
                    out.push(plain(register, if addresses { 8 } else { 1 }));
                }
                _ => break,
            }
        }
        // A format among them: who asks for floating-point numbers gets them, and `al` says how many.
        let format = out.iter().enumerate().find_map(|(i, _)| self.layout.text_at(a.registers[i].bits.low()));
        let vectors =
            family::format_arguments(&format.unwrap_or_default(), out.len(), 0).into_iter().filter(|v| !is_general(v));
        let counts = [a, b].map(|c| c.registers[14].bits.low() & 0xff);
        if signature.is_none() && counts[0] == counts[1] {
            out.extend(vectors.take(counts[0] as usize));
        }
        out
    }

    /// The first defined byte behind a pointer that differs. Addresses in the frames are no difference.
    fn pointed_differ(&self, a: &[(u8, bool)], b: &[(u8, bool)]) -> Option<usize> {
        let word = |bytes: &[(u8, bool)], at: usize| {
            let part = bytes.get(at..at + 8)?;
            Some(part.iter().rev().fold(0, |word, (byte, _)| word << 8 | u64::from(*byte)))
        };
        let same_word = |at: usize| match (word(a, at), word(b, at)) {
            (Some(x), Some(y)) => self.same_address(x, y) || self.both_nan(Bits::new(64, x), Bits::new(64, y)),
            _ => false,
        };
        let differs = |i: &usize| a[*i].1 && a[*i].0 != b[*i].0;
        (0..a.len().min(b.len())).filter(differs).find(|i| !same_word(i & !7) && !self.nan_half(a, b, *i))
    }

    fn nan_half(&self, a: &[(u8, bool)], b: &[(u8, bool)], at: usize) -> bool {
        let half = |bytes: &[(u8, bool)]| {
            let part = bytes.get(at & !3..(at & !3) + 4)?;
            Some(Bits::from_bytes(&part.iter().map(|(byte, _)| *byte).collect::<Vec<u8>>()))
        };
        matches!((half(a), half(b)), (Some(x), Some(y)) if self.both_nan(x, y))
    }

    /// The first byte of the world that differs.
    fn memory(&self, a: &[Change], b: &[Change], traces: [&Trace; 2]) -> Option<(String, String)> {
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let (p, q) = (a.get(i), b.get(j));
            let first = p.iter().chain(&q).map(|c| c.address).min().expect("one is left");
            let p = p.filter(|c| c.address == first);
            let q = q.filter(|c| c.address == first);
            (i, j) = (i + usize::from(p.is_some()), j + usize::from(q.is_some()));
            let x = p.map(|c| c.now).or(q.map(|c| c.before)).expect("one is there");
            let y = q.map(|c| c.now).or(p.map(|c| c.before)).expect("one is there");
            let mask = p.map_or(0xff, |c| c.mask) & q.map_or(0xff, |c| c.mask);
            // A store that comes later is not left out.
            let never = |side: Side| traces[side.index()].changes.iter().all(|c| c.address != first);
            let dropped = |change: Option<&Change>, side: Side, byte: u64| {
                change.is_none() && never(side) && self.drops(side, first + byte)
            };
            let result = !self.untouched_counts && self.in_result(first);
            let member = |i: u64| result && p.is_none_or(|change| change.written >> i & 1 == 0);
            let left_out = |i: &u64| member(*i) || dropped(p, Side::Original, *i) || dropped(q, Side::Candidate, *i);
            let kept = (0..8).filter(|i| !left_out(i)).fold(0, |kept, i| kept | 1 << i);
            if let Some(byte) = self.word_differs(first, x, y, mask & kept, traces) {
                let place = self.layout.describe(first + byte).unwrap_or_else(|| format!("{:#x}", first + byte));
                let say = |word: u64, change: Option<&Change>| match change {
                    Some(_) => format!("{:#04x} at {place}", (word >> (8 * byte)) as u8),
                    None => format!("{place} unchanged"),
                };
                return Some((say(x, p), say(y, q)));
            }
        }
        None
    }

    pub(super) fn word_differs(&self, address: u64, x: u64, y: u64, mask: u8, traces: [&Trace; 2]) -> Option<u64> {
        if x == y
            // What has no name in one program may be anything of the other.
            || self.layout.is_nowhere(address)
            || self.same_address(x, y)
            || self.both_nan(Bits::new(64, x), Bits::new(64, y))
        {
            return None;
        }
        let freed = |i: u64| {
            let holds = |(start, size): &(u64, u64)| (address + i).wrapping_sub(*start) < *size;
            traces.iter().any(|trace| trace.freed.iter().any(holds))
        };
        let nan = |i: u64| {
            let half = |word: u64| Bits::new(32, word >> (32 * (i / 4)));
            self.both_nan(half(x), half(y))
        };
        let differs = |i: &u64| mask >> i & 1 == 1 && (x >> (8 * i)) as u8 != (y >> (8 * i)) as u8;
        (0..8).find(|i| differs(i) && !nan(*i) && !freed(*i) && !self.is_private(address + i))
    }

    /// Which NaN it is depends on the order of operands; nobody can rely on it.
    fn both_nan(&self, a: Bits, b: Bits) -> bool {
        if !self.floats {
            return false;
        }
        let cut = |v: Bits, i: u16, width: u16| v.extract(width * i + width - 1, width * i);
        let parts = |width: u16| {
            let part = |i: u16| (cut(a, i, width), cut(b, i, width));
            (0..a.width() / width).map(part).all(|(x, y)| x == y || self.both_nan(x, y))
        };
        match a.width() {
            32 => f32::from_bits(a.low() as u32).is_nan() && f32::from_bits(b.low() as u32).is_nan(),
            64 => f64::from_bits(a.low()).is_nan() && f64::from_bits(b.low()).is_nan() || parts(32),
            128 | 256 => parts(64),
            _ => false,
        }
    }

    /// May a side leave out a store to this place? Optimisers do, where only the file can read it and never does.
    fn drops(&self, side: Side, address: u64) -> bool {
        let Some((placed, _)) = self.layout.object_at(address) else { return false };
        let local = matches!(placed.object.kind, ObjectKind::Named { local: true, .. });
        local && !self.functions[side.index()].is_unoptimised()
    }

    /// Does the candidate have a constant without a name that need not be aligned? In a linked file it may happen to be.
    fn has_loose_literal(&self) -> bool {
        let loose = |object: &program::Object| object.kind == ObjectKind::Literal && object.align < 16;
        self.functions[1].objects.values().any(loose)
    }

    /// A static variable that the candidate does not mention may be gone, because nobody reads it.
    fn is_private(&self, address: u64) -> bool {
        let Some((placed, _)) = self.layout.object_at(address) else { return false };
        let local = matches!(placed.object.kind, ObjectKind::Named { local: true, .. });
        local && !self.functions[1].objects.contains_key(&placed.object.var)
    }
}

/// Is the argument set up for this call?
fn passed_on_purpose(call: &Called, place: Place) -> bool {
    let Place::Register(register) = place else { return false };
    let position = Register::ARGUMENTS.iter().position(|r| *r == register);
    position.is_some_and(|i| matches!(call.set_up[i], SetUp::Written(_)))
}

/// Is the second text a declaration of the function that the first one names?
fn declares(name: &[u8], declaration: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let head = declaration.split(|byte| *byte == b'(').next().unwrap_or_default();
    let start = head.iter().rposition(|byte| !is_part(byte));
    start.is_some_and(|at| head.len() < declaration.len() && head[at + 1..] == *name)
}

fn is_general(value: &Value) -> bool {
    !matches!(value.place, Place::Register(Register::Vector(_)))
}

fn describe_end(trace: &Trace) -> String {
    match trace.end {
        End::Return => "returns".to_string(),
        End::NoReturn => "calls a function that does not return".to_string(),
        _ => "ends".to_string(),
    }
}

/// Is it no general register, or one that was written for this call?
fn is_written(call: &Called, place: Place) -> bool {
    let position = Register::ARGUMENTS.iter().position(|r| place == Place::Register(*r));
    position.is_none_or(|i| matches!(call.set_up[i], SetUp::Written(_)))
}

fn describe_form(call: &Called, form: &interpreter::Form) -> String {
    let text = form.arguments.iter().find_map(|argument| match argument {
        FormArgument::Text(text) => Some(format!("{:?}", String::from_utf8_lossy(text))),
        FormArgument::Word(_) => None,
    });
    let word = form.arguments.iter().find_map(|argument| match argument {
        FormArgument::Word(word) => Some(show(Bits::new(64, *word))),
        FormArgument::Text(_) => None,
    });
    format!("calls {} with {}", call.callee.name, text.or(word).unwrap_or_default())
}

pub(super) fn show(bits: Bits) -> String {
    match bits.to_i64() {
        Some(value) if (-4096..=4096).contains(&value) => value.to_string(),
        _ => bits.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::declares;

    #[test]
    fn declarations_name_their_function() {
        assert!(declares(b"open", b"int open(const char *, int)"));
        assert!(declares(b"list", b"struct node *list(void)"));
        assert!(!declares(b"pen", b"int open(const char *, int)"));
        assert!(!declares(b"open", b"int close(int open)"));
        assert!(!declares(b"open", b"open"));
        assert!(!declares(b"", b"int "));
    }
}
