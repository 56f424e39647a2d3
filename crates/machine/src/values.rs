//! Value numbering: hash-consed descriptions of bit strings.
//!
//! The constructors keep a normal form, so that most equal values have equal numbers:
//! - `extract` of `extract`, `concat`, constants and sums is pushed inwards; `concat` is flat and joins neighbours that
//!   were cut from one value;
//! - `linear` is a sum modulo 2^width with sorted terms, nested sums merged. So `LEA`, `ADD`, `INC`, `SHL` by a constant
//!   agree. Its low bits are the sum of the low bits of its terms;
//! - an application whose first two arguments commute has them sorted, unless that only holds up to a NaN's payload.
//!
//! Each is an identity of bit strings, so equal numbers are equal values.

use crate::{Commute, Location, Symbol};
use smallvec::SmallVec;

/// A few values, mostly without an allocation.
pub type Ids = SmallVec<[Id; 8]>;
/// Terms of a sum: factor and value.
pub type Terms = SmallVec<[(u64, Id); 4]>;
type Words = SmallVec<[u32; 12]>;

/// Number of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(pub u32);

/// Whose state an input belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The program that says what is right.
    Original,
    /// The one that should do the same.
    Candidate,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// What a location holds when the block is entered.
    Input(Side, Location),
    /// A number.
    Constant(u64),
    /// Something known by its text.
    Symbol(Symbol),
    /// A value of the original that does not matter: 0 is free at each read, another number is one value of one read,
    /// with the first bit of the part of it.
    Undefined(u32, u16),
    /// Nothing known; each number is another value.
    Junk(u32),
    /// Bits of the argument from here on.
    Extract(u16),
    /// The arguments, lowest first.
    Concat,
    /// Constant plus sum.
    Linear(u64),
    /// An uninterpreted function.
    Apply(Symbol, Commute),
    /// A result of the argument: an application or an event.
    Result(u16),
    /// What the event with this number of the block yields.
    Event(u32),
    /// What memory held at this version; `u32::MAX` if it never changes.
    Load(u32),
}

/// Width of the results of applications; a definition cuts what it needs.
pub const RESULT_BITS: u16 = 512;
/// Version of memory that never changes.
pub const IMMUTABLE: u32 = u32::MAX;

/// Contains a value of the original that does not matter, or something that may match up to an assumption.
const LOOSE: u8 = 1;
/// Depends on an input of the original.
const ORIGINAL: u8 = 2;
/// Depends on an input of the candidate.
const CANDIDATE: u8 = 4;
/// Contains junk.
const JUNK: u8 = 8;
/// Means something only inside one run of one block.
const LOCAL: u8 = 16;
/// Contains a state of the original that is free at each read.
const FREE: u8 = 32;

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    bits: u16,
    flags: u8,
    start: u32,
    len: u32,
    hash: u64,
}

/// The table of values.
#[derive(Debug)]
pub struct Values {
    nodes: Vec<Node>,
    pool: Vec<u32>,
    /// Open addressing; 0 is empty, else a number plus one.
    table: Vec<u32>,
    fresh: u32,
}

impl Default for Values {
    fn default() -> Values {
        Values::new()
    }
}

impl Values {
    /// An empty table.
    pub fn new() -> Values {
        Values::with_room(1024)
    }

    /// An empty table with room for that many values.
    pub fn with_room(count: usize) -> Values {
        let count = count.clamp(64, 1 << 20).next_power_of_two();
        Values {
            nodes: Vec::with_capacity(count),
            pool: Vec::with_capacity(2 * count),
            table: vec![0; 2 * count],
            fresh: 0,
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Is the table empty?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a value is.
    pub fn kind(&self, id: Id) -> Kind {
        self.nodes[id.0 as usize].kind
    }

    /// Its width.
    pub fn bits(&self, id: Id) -> u16 {
        self.nodes[id.0 as usize].bits
    }

    /// Its arguments; for sums see [`Values::terms`].
    pub fn args(&self, id: Id) -> impl ExactSizeIterator<Item = Id> + '_ {
        let node = &self.nodes[id.0 as usize];
        self.pool[node.start as usize..(node.start + node.len) as usize].iter().map(|n| Id(*n))
    }

    /// One argument.
    pub fn arg(&self, id: Id, index: usize) -> Id {
        let node = &self.nodes[id.0 as usize];
        Id(self.pool[node.start as usize + index])
    }

    /// Number of arguments.
    pub fn arity(&self, id: Id) -> usize {
        self.nodes[id.0 as usize].len as usize
    }

    /// The terms of a sum, or the value itself as its only term.
    pub fn terms(&self, id: Id) -> (u64, Terms) {
        let node = &self.nodes[id.0 as usize];
        match node.kind {
            Kind::Linear(constant) => {
                let words = &self.pool[node.start as usize..(node.start + node.len) as usize];
                let terms = words.chunks_exact(3).map(|w| (u64::from(w[1]) | u64::from(w[2]) << 32, Id(w[0])));
                (constant, terms.collect())
            }
            Kind::Constant(value) => (value, Terms::new()),
            _ => (0, smallvec::smallvec![(1, id)]),
        }
    }

    /// Must equality be decided by looking inside?
    pub fn is_loose(&self, id: Id) -> bool {
        self.nodes[id.0 as usize].flags & LOOSE != 0
    }

    /// Does it depend on an input of either side?
    pub fn has_input(&self, id: Id) -> bool {
        self.nodes[id.0 as usize].flags & (ORIGINAL | CANDIDATE) != 0
    }

    /// Can it be said of the state at the block's entry alone?
    pub fn is_portable(&self, id: Id) -> bool {
        self.nodes[id.0 as usize].flags & LOCAL == 0
    }

    /// Does it contain a state that does not matter?
    pub fn is_free(&self, id: Id) -> bool {
        self.nodes[id.0 as usize].flags & FREE != 0
    }

    /// Does it contain something unknown?
    pub fn has_junk(&self, id: Id) -> bool {
        self.nodes[id.0 as usize].flags & JUNK != 0
    }

    /// Does it depend on an input of this side?
    pub fn has_input_of(&self, id: Id, side: Side) -> bool {
        let flag = if side == Side::Original { ORIGINAL } else { CANDIDATE };
        self.nodes[id.0 as usize].flags & flag != 0
    }

    fn make(&mut self, kind: Kind, bits: u16, args: &[u32]) -> Id {
        let hash = hash(kind, bits, args);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at] != 0 {
            let number = self.table[at] - 1;
            let node = &self.nodes[number as usize];
            if node.hash == hash
                && node.kind == kind
                && node.bits == bits
                && node.len as usize == args.len()
                && self.pool[node.start as usize..].iter().zip(args).all(|(x, y)| x == y)
            {
                return Id(number);
            }
            at = (at + 1) & mask;
        }
        let number = self.nodes.len() as u32;
        self.table[at] = number + 1;
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(args);
        let flags = self.flags_of(kind, args);
        self.nodes.push(Node { kind, bits, flags, start, len: args.len() as u32, hash });
        if self.nodes.len() * 2 > self.table.len() {
            self.grow();
        }
        Id(number)
    }

    fn flags_of(&self, kind: Kind, args: &[u32]) -> u8 {
        let own = match kind {
            Kind::Input(Side::Original, _) => ORIGINAL,
            Kind::Input(Side::Candidate, _) => CANDIDATE,
            Kind::Apply(_, Commute::FloatingPoint) => LOOSE,
            Kind::Undefined(0, _) => LOOSE | LOCAL | FREE,
            Kind::Undefined(..) => LOOSE | LOCAL,
            Kind::Load(version) if version != IMMUTABLE => LOOSE | LOCAL,
            Kind::Junk(_) => JUNK | LOCAL,
            Kind::Event(_) => LOCAL,
            _ => 0,
        };
        let step = if matches!(kind, Kind::Linear(_)) { 3 } else { 1 };
        args.iter().step_by(step).fold(own, |flags, arg| flags | self.nodes[*arg as usize].flags)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![0; size];
        for (number, node) in self.nodes.iter().enumerate() {
            let mut at = node.hash as usize & (size - 1);
            while table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            table[at] = number as u32 + 1;
        }
        self.table = table;
    }

    /// What a location holds at entry.
    pub fn input(&mut self, side: Side, location: Location, bits: u16) -> Id {
        self.make(Kind::Input(side, location), bits, &[])
    }

    /// A number.
    pub fn constant(&mut self, value: u64, bits: u16) -> Id {
        self.make(Kind::Constant(value & low_mask(bits)), bits, &[])
    }

    /// Something known by its text.
    pub fn symbol(&mut self, symbol: Symbol, bits: u16) -> Id {
        self.make(Kind::Symbol(symbol), bits, &[])
    }

    /// A state of the original that does not matter.
    pub fn undefined(&mut self, bits: u16) -> Id {
        self.make(Kind::Undefined(0, 0), bits, &[])
    }

    /// Nothing known, unequal to everything else.
    pub fn junk(&mut self, bits: u16) -> Id {
        self.fresh += 1;
        self.make(Kind::Junk(self.fresh), bits, &[])
    }

    /// Numbers of that many unknown values.
    pub fn reserve_junk(&mut self, count: u32) -> u32 {
        let first = self.fresh + 1;
        self.fresh += count;
        first
    }

    /// The unknown value of a reserved number; the same each time.
    pub fn reserved_junk(&mut self, number: u32, bits: u16) -> Id {
        self.make(Kind::Junk(number), bits, &[])
    }

    /// An event of the block.
    pub fn event(&mut self, number: u32) -> Id {
        self.make(Kind::Event(number), RESULT_BITS, &[])
    }

    /// A result of an application or event.
    pub fn result(&mut self, of: Id, index: u16) -> Id {
        self.make(Kind::Result(index), RESULT_BITS, &[of.0])
    }

    /// A load.
    pub fn load(&mut self, bits: u16, version: u32, address: Id, segment: Option<Id>) -> Id {
        match segment {
            Some(segment) => self.make(Kind::Load(version), bits, &[address.0, segment.0]),
            None => self.make(Kind::Load(version), bits, &[address.0]),
        }
    }

    /// An uninterpreted function.
    pub fn apply(&mut self, name: Symbol, commute: Commute, args: &[Id]) -> Id {
        let mut words: Words = args.iter().map(|id| id.0).collect();
        if commute == Commute::FirstTwo && words.len() >= 2 && words[0] > words[1] {
            words.swap(0, 1);
        }
        self.make(Kind::Apply(name, commute), RESULT_BITS, &words)
    }

    /// All of memory, as an instruction reads it that may look anywhere.
    pub fn memory(&mut self, version: u32) -> Id {
        self.make(Kind::Load(version), 8, &[])
    }

    /// The same value where inputs are what `input` says.
    pub fn rebuild(&mut self, id: Id, input: &mut dyn FnMut(&mut Values, Side, Location) -> Id) -> Id {
        if !self.has_input(id) {
            return id;
        }
        let kind = self.kind(id);
        if let Kind::Input(side, location) = kind {
            return input(self, side, location);
        }
        if let Kind::Linear(constant) = kind {
            let (_, terms) = self.terms(id);
            let terms: Terms = terms.into_iter().map(|(f, t)| (f, self.rebuild(t, input))).collect();
            let bits = self.bits(id);
            return self.linear(constant, &terms, bits);
        }
        let mut args: Ids = self.args(id).collect();
        args.iter_mut().for_each(|arg| *arg = self.rebuild(*arg, input));
        let bits = self.bits(id);
        match kind {
            Kind::Extract(low) => self.extract(args[0], low, bits),
            Kind::Concat => self.concat(&args),
            Kind::Apply(name, commute) => self.apply(name, commute, &args),
            Kind::Result(index) => self.result(args[0], index),
            Kind::Load(version) => self.load(bits, version, args[0], args.get(1).copied()),
            _ => id,
        }
    }

    /// The value as an instruction reads it: each state that does not matter becomes one value.
    pub fn read_once(&mut self, id: Id) -> Id {
        match self.kind(id) {
            Kind::Undefined(0, _) => {
                self.fresh += 1;
                let bits = self.bits(id);
                self.make(Kind::Undefined(self.fresh, 0), bits, &[])
            }
            Kind::Concat if self.is_loose(id) => {
                let mut parts: Ids = self.args(id).collect();
                parts.iter_mut().for_each(|part| *part = self.read_once(*part));
                self.concat(&parts)
            }
            _ => id,
        }
    }

    /// Bits of a value.
    pub fn extract(&mut self, id: Id, low: u16, bits: u16) -> Id {
        let width = self.bits(id);
        if low == 0 && bits == width {
            return id;
        }
        if u32::from(low) + u32::from(bits) > u32::from(width) {
            // More than there is: the rest is not known.
            if low >= width {
                return self.junk(bits);
            }
            let there = self.extract(id, low, width - low);
            let rest = self.junk(bits - (width - low));
            return self.concat(&[there, rest]);
        }
        match self.kind(id) {
            Kind::Constant(value) => {
                let value = if low >= 64 { 0 } else { value >> low };
                self.constant(value, bits)
            }
            Kind::Undefined(0, _) => self.undefined(bits),
            Kind::Undefined(n, first) => self.make(Kind::Undefined(n, first + low), bits, &[]),
            Kind::Extract(first) => {
                let of = self.arg(id, 0);
                self.extract(of, first + low, bits)
            }
            Kind::Concat => {
                let parts: Ids = self.args(id).collect();
                let mut wanted = Ids::new();
                let mut at = 0u16;
                for part in parts {
                    let size = self.bits(part);
                    let (from, to) = (low.max(at), (low + bits).min(at + size));
                    if from < to {
                        wanted.push(self.extract(part, from - at, to - from));
                    }
                    at += size;
                }
                self.concat(&wanted)
            }
            Kind::Linear(constant) if low == 0 => {
                let (_, terms) = self.terms(id);
                let terms: Terms = terms.into_iter().map(|(c, t)| (c, self.extract(t, 0, bits))).collect();
                self.linear(constant, &terms, bits)
            }
            _ => self.make(Kind::Extract(low), bits, &[id.0]),
        }
    }

    /// Values side by side, lowest first.
    pub fn concat(&mut self, parts: &[Id]) -> Id {
        if let [only] = parts {
            return *only;
        }
        let mut flat = Ids::new();
        for part in parts {
            if self.kind(*part) == Kind::Concat {
                let inner: Ids = self.args(*part).collect();
                inner.into_iter().for_each(|p| self.append(&mut flat, p));
            } else {
                self.append(&mut flat, *part);
            }
        }
        if let [only] = flat[..] {
            return only;
        }
        let bits = flat.iter().map(|p| self.bits(*p)).sum();
        let words: Words = flat.iter().map(|p| p.0).collect();
        self.make(Kind::Concat, bits, &words)
    }

    fn append(&mut self, flat: &mut Ids, part: Id) {
        let Some(last) = flat.last().copied() else { return flat.push(part) };
        let (a, b) = (self.bits(last), self.bits(part));
        let joined = match (self.kind(last), self.kind(part)) {
            (Kind::Constant(low), Kind::Constant(0)) => Some(self.constant(low, a + b)),
            (Kind::Constant(low), Kind::Constant(high)) if u32::from(a) + u32::from(b) <= 64 => {
                Some(self.constant(low | high << a, a + b))
            }
            (Kind::Undefined(0, _), Kind::Undefined(0, _)) => Some(self.undefined(a + b)),
            (Kind::Undefined(n, first), Kind::Undefined(m, next)) if n == m && first + a == next => {
                Some(self.make(Kind::Undefined(n, first), a + b, &[]))
            }
            (_, Kind::Extract(next)) => {
                let of = self.arg(part, 0);
                let (base, first) = match self.kind(last) {
                    Kind::Extract(first) => (self.arg(last, 0), first),
                    _ => (last, 0),
                };
                (base == of && first + a == next).then(|| self.extract(of, first, a + b))
            }
            _ => None,
        };
        match joined {
            Some(joined) => *flat.last_mut().expect("it has a last part") = joined,
            None => flat.push(part),
        }
    }

    /// A sum modulo 2^bits.
    pub fn linear(&mut self, constant: u64, terms: &[(u64, Id)], bits: u16) -> Id {
        let mask = low_mask(bits);
        let mut constant = constant;
        let mut flat: SmallVec<[(Id, u64); 6]> = SmallVec::new();
        for (factor, term) in terms {
            match self.kind(*term) {
                Kind::Constant(value) => constant = constant.wrapping_add(value.wrapping_mul(*factor)),
                Kind::Linear(inner) => {
                    constant = constant.wrapping_add(inner.wrapping_mul(*factor));
                    let (_, inner) = self.terms(*term);
                    flat.extend(inner.into_iter().map(|(c, t)| (t, c.wrapping_mul(*factor) & mask)));
                }
                _ => flat.push((*term, factor & mask)),
            }
        }
        flat.sort_unstable();
        let mut sum: SmallVec<[(Id, u64); 6]> = SmallVec::new();
        for (term, factor) in flat {
            match sum.last_mut() {
                Some((last, total)) if *last == term => *total = total.wrapping_add(factor) & mask,
                _ => sum.push((term, factor)),
            }
        }
        sum.retain(|(_, factor)| *factor != 0);
        let constant = constant & mask;
        match sum[..] {
            [] => self.constant(constant, bits),
            [(term, 1)] if constant == 0 => term,
            _ => {
                let words: Words = sum.iter().flat_map(|(t, f)| [t.0, *f as u32, (*f >> 32) as u32]).collect();
                self.make(Kind::Linear(constant), bits, &words)
            }
        }
    }
}

/// Ones in the low bits.
pub fn low_mask(bits: u16) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn hash(kind: Kind, bits: u16, args: &[u32]) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut state = rustc_hash::FxHasher::default();
    kind.hash(&mut state);
    state.write_u16(bits);
    args.iter().for_each(|arg| state.write_u32(*arg));
    state.finish().rotate_left(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(values: &mut Values, n: u32) -> Id {
        values.input(Side::Candidate, Location::physical(n), 64)
    }

    #[test]
    fn neighbours_join() {
        let mut v = Values::new();
        let x = register(&mut v, 1);
        let (low, high) = (v.extract(x, 0, 32), v.extract(x, 32, 32));
        assert_eq!(v.concat(&[low, high]), x);
        let zero = v.constant(0, 32);
        let wide = v.concat(&[low, zero]);
        assert_ne!(wide, x);
        assert_eq!(v.extract(wide, 0, 32), low);
        assert_eq!(v.extract(wide, 40, 8), v.constant(0, 8));
    }

    #[test]
    fn sums_have_one_form() {
        let mut v = Values::new();
        let (x, y) = (register(&mut v, 1), register(&mut v, 2));
        let a = v.linear(3, &[(1, x), (4, y)], 64);
        let b = v.linear(0, &[(4, y), (1, a), (u64::MAX - 7, y)], 64);
        assert_eq!(b, v.linear(3, &[(1, x)], 64));
        let (lowx, low) = (v.extract(x, 0, 32), v.extract(b, 0, 32));
        assert_eq!(low, v.linear(3, &[(1, lowx)], 32));
    }

    #[test]
    fn reading_past_the_end_is_junk() {
        let mut v = Values::new();
        let x = register(&mut v, 1);
        let y = v.extract(x, 32, 64);
        assert!(v.has_junk(y) && v.bits(y) == 64);
        assert_ne!(v.extract(x, 32, 64), y);
    }

    #[test]
    fn a_free_state_becomes_one_value_when_read() {
        let mut v = Values::new();
        let u = v.undefined(64);
        let (a, b) = (v.read_once(u), v.read_once(u));
        assert_ne!(a, b);
        assert_eq!(v.read_once(a), a);
    }
}
