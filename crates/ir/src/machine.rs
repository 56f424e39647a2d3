//! Runs a function, block by block.

use crate::calls::Template;
use crate::datum::{Datum, mask, signed};
use crate::fork::Undo;
use crate::module::{Comparison, Conversion, Edge, End, Function, Inst, Kind, Module};
use crate::region::Region;
use crate::stride::{Head, Walk, heads};
use crate::values::{Sign, float_type};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use updates::{Cmp, Constant, Division, Domain, Fault, FaultKind, Limits, Scalar};

pub(crate) type Run<T> = Result<T, Box<Fault>>;

/// A run under way.
pub(crate) struct Machine<'m, D: Domain> {
    pub module: &'m Module,
    pub domain: &'m mut D,
    pub limits: Limits,
    /// Registers of all calls, the innermost last.
    pub registers: Vec<Datum<D::Value>>,
    /// Where those of the innermost call start.
    pub base: usize,
    /// The innermost call's function, its number, and block.
    pub function: &'m Function,
    pub number: u32,
    pub block: u32,
    pub depth: usize,
    pub regions: Vec<Region<D::Value>>,
    /// Regions of the globals, by number.
    pub globals: Vec<Option<u32>>,
    /// Values given to globals, by name.
    pub given: &'m [(String, i64)],
    pub templates: Vec<Option<Rc<Template<D::Value>>>>,
    /// What the sides of open branches on data changed.
    pub journals: Vec<Vec<Undo<D::Value>>>,
    /// Conditions of the open branches.
    pub path: Vec<D::Value>,
    pub forks: usize,
    pub divisions: FxHashMap<D::Value, Vec<Division<D::Value>>>,
    pub updates: u64,
    pub cells: u64,
    /// Was a mathematical function called?
    pub mathematical: bool,
    /// Was memory allocated?
    pub allocates: bool,
    /// Name of the compared function, which names of its static variables start with.
    pub root: &'m str,
    /// Heads of loops by function and block, and room for following one.
    pub heads: Vec<Vec<Head>>,
    pub walk: Walk<'m>,
    pace: Pace,
    entered: u64,
}

/// How loops are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Many iterations at once where they are alike.
    Strides,
    /// One after the other: the definition that strides are tested against.
    Steps,
}

/// Where a run of blocks ended.
pub(crate) enum Arrival<V> {
    /// At the block where it should stop.
    Met,
    /// At the return, with the result.
    Returned(Datum<V>),
}

/// Blocks entered between looks at the clock.
const LOOK: u64 = 4096;

impl<'m, D: Domain> Machine<'m, D> {
    pub fn new(
        module: &'m Module,
        function: &'m Function,
        domain: &'m mut D,
        limits: &Limits,
        given: &'m [(String, i64)],
        pace: Pace,
    ) -> Machine<'m, D> {
        Machine {
            module,
            domain,
            limits: limits.clone(),
            registers: Vec::new(),
            base: 0,
            function,
            number: 0,
            block: 0,
            depth: 0,
            regions: Vec::new(),
            globals: vec![None; module.globals.len()],
            given,
            templates: vec![None; module.functions.len()],
            journals: Vec::new(),
            path: Vec::new(),
            forks: 0,
            divisions: FxHashMap::default(),
            updates: 0,
            cells: 0,
            mathematical: false,
            allocates: false,
            root: &function.name,
            heads: vec![Vec::new(); module.functions.len()],
            walk: Walk::new(),
            pace,
            entered: 0,
        }
    }

    #[cold]
    pub fn fault(&self, kind: FaultKind, what: String) -> Box<Fault> {
        let block = self.function.blocks.get(self.block as usize).map_or("", |b| &b.name);
        let detail = format!("{}, {block}: {what}", self.function.name);
        Box::new(Fault { kind, site: 0, detail, instance: String::new(), conditional: !self.journals.is_empty() })
    }

    #[cold]
    pub fn unsupported(&self, what: impl Into<String>) -> Box<Fault> {
        self.fault(FaultKind::Unsupported, what.into())
    }

    #[cold]
    pub fn undefined(&self, what: String) -> Box<Fault> {
        self.fault(FaultKind::Undefined, what)
    }

    #[inline]
    pub fn get(&self, register: u32) -> Datum<D::Value> {
        self.registers[self.base + register as usize]
    }

    #[inline]
    pub fn set(&mut self, register: u32, datum: Datum<D::Value>) {
        let index = self.base + register as usize;
        if let Some(journal) = self.journals.last_mut() {
            journal.push(Undo::Register(index, self.registers[index]));
        }
        self.registers[index] = datum;
    }

    /// A known number of a width, with its sign.
    #[inline]
    pub fn known(&self, register: u32, bits: u8) -> Run<i64> {
        match self.get(register) {
            Datum::Bits(known) => Ok(signed(known, bits)),
            Datum::Value(..) => Err(self.unsupported("an address or a size depends on data")),
            other => Err(self.no_number(other)),
        }
    }

    /// Blocks were entered.
    pub fn entered(&mut self, count: u64) {
        self.entered = self.entered.saturating_add(count);
    }

    /// Notes which blocks of the innermost call's function may be heads of loops.
    pub fn find_heads(&mut self) {
        let known = &mut self.heads[self.number as usize];
        if known.is_empty() && self.pace == Pace::Strides {
            *known = heads(self.function);
        }
    }

    /// Goes to a block.
    #[inline]
    pub fn pass(&mut self, edge: &Edge) {
        match edge.moves.as_slice() {
            [] => {}
            [(to, from)] => self.set(*to, self.get(*from)),
            moves => {
                let read: Vec<Datum<D::Value>> = moves.iter().map(|(_, from)| self.get(*from)).collect();
                for ((to, _), datum) in moves.iter().zip(read) {
                    self.set(*to, datum);
                }
            }
        }
        self.block = edge.to;
    }

    /// Goes to a block; is it the one to stop at?
    #[inline]
    pub fn arrive(&mut self, edge: &Edge, stop: Option<u32>) -> bool {
        self.pass(edge);
        Some(edge.to) == stop
    }

    /// Runs from the current block to the return, or to a block.
    pub fn run(&mut self, stop: Option<u32>) -> Run<Arrival<D::Value>> {
        let function = self.function;
        loop {
            let before = self.entered;
            self.entered(1);
            if before / LOOK != self.entered / LOOK && self.limits.interrupt.is_tripped()
                || self.entered > self.limits.turns
            {
                return Err(self.fault(FaultKind::Time, "out of time".to_string()));
            }
            if self.may_stride(self.block) {
                self.stride(stop)?;
            }
            let block = &function.blocks[self.block as usize];
            for inst in &block.code {
                self.step(inst)?;
            }
            let met = match &block.end {
                End::Jump(edge) => self.arrive(edge, stop),
                End::Branch(cond, edges) => match self.get(*cond) {
                    Datum::Bits(bit) => self.arrive(&edges[usize::from(bit & 1 == 0)], stop),
                    Datum::Value(cond, Scalar::Bool) => match self.fork(cond, block.meet, &edges[0], &edges[1])? {
                        Arrival::Met => block.meet == stop,
                        returned => return Ok(returned),
                    },
                    Datum::Value(..) => return Err(self.unsupported("a condition that is no truth value")),
                    other => return Err(self.no_number(other)),
                },
                End::Switch(on, cases, edges) => match self.get(*on) {
                    Datum::Bits(bits) => {
                        let found = cases.iter().position(|case| *case == bits).unwrap_or(cases.len());
                        self.arrive(&edges[found], stop)
                    }
                    datum @ Datum::Value(..) => {
                        let kind = function.registers[*on as usize];
                        match self.switch(datum, kind, block.meet, cases, edges)? {
                            Arrival::Met => block.meet == stop,
                            returned => return Ok(returned),
                        }
                    }
                    other => return Err(self.no_number(other)),
                },
                End::Return(None) => return Ok(Arrival::Returned(Datum::Poison)),
                End::Return(Some(register)) => return Ok(Arrival::Returned(self.get(*register))),
                End::Unreachable => return Err(self.undefined("a place that is never reached".to_string())),
            };
            if met {
                return Ok(Arrival::Met);
            }
        }
    }

    #[inline]
    pub fn step(&mut self, inst: &'m Inst) -> Run<()> {
        match *inst {
            Inst::Read { to, from } => match self.get(from) {
                datum @ (Datum::Poison | Datum::Lost) => return Err(self.no_number(datum)),
                datum => self.set(to, datum),
            },
            Inst::Write { to, from } => self.set(to, self.get(from)),
            Inst::Forget { to } => self.set(to, Datum::Poison),
            Inst::Load { to, at, kind, truth } => {
                let datum = self.load(at, kind, truth)?;
                self.set(to, datum);
            }
            Inst::Store { at, from, kind } => self.store(at, self.get(from), kind)?,
            Inst::Address { to, base, offset, ref terms } => {
                let mut sum = offset;
                for (register, bits, scale) in terms {
                    let index = self.known(*register, *bits)?;
                    let moved = index.checked_mul(*scale).and_then(|step| sum.checked_add(step));
                    sum = moved.ok_or_else(|| self.undefined("an address overflows".to_string()))?;
                }
                let datum = match self.get(base) {
                    Datum::Place(region, at) => Datum::Place(region, at.wrapping_add(sum)),
                    datum @ (Datum::Poison | Datum::Lost) => return Err(self.no_number(datum)),
                    _ => return Err(self.unsupported("an address that is no object's")),
                };
                self.set(to, datum);
            }
            // Known numbers are by far the most frequent; the general rules give the same.
            Inst::Convert { to, how: Conversion::SignExtend, from, into, a }
                if matches!(self.get(a), Datum::Bits(_)) =>
            {
                if let Datum::Bits(known) = self.get(a) {
                    self.set(to, Datum::Bits(signed(known, from.bits()) as u64 & mask(into.bits())));
                }
            }
            Inst::Compare { to, how, kind: Kind::Int(bits), a, b } => {
                let datum = match (self.get(a), self.get(b), how) {
                    (Datum::Bits(x), Datum::Bits(y), Comparison::SignedLess) => {
                        Datum::Bits(u64::from(signed(x, bits) < signed(y, bits)))
                    }
                    (Datum::Bits(x), Datum::Bits(y), Comparison::UnsignedLess) => Datum::Bits(u64::from(x < y)),
                    (x, y, _) => self.compare(how, Kind::Int(bits), x, y)?,
                };
                self.set(to, datum);
            }
            Inst::Integer { to, op, bits, exact, a, b } => {
                let datum = self.integer(op, bits, exact, self.get(a), self.get(b))?;
                self.set(to, datum);
            }
            Inst::Float { to, op, kind, a, b } => {
                let Some(ty) = float_type(kind) else { return Err(self.unsupported("an operation of integers")) };
                let (a, b) = (self.number(self.get(a), ty)?, self.number(self.get(b), ty)?);
                let value = self.domain.binary(op, ty, a, b).map_err(|why| self.undefined(why.to_string()))?;
                let datum = self.held(value, ty, kind.bits());
                self.set(to, datum);
            }
            _ => return self.step_rarely(inst),
        }
        Ok(())
    }

    fn step_rarely(&mut self, inst: &'m Inst) -> Run<()> {
        match *inst {
            Inst::Compare { to, how, kind, a, b } => {
                let datum = self.compare(how, kind, self.get(a), self.get(b))?;
                self.set(to, datum);
            }
            Inst::Convert { to, how, from, into, a } => {
                let datum = self.convert(how, from, into, self.get(a))?;
                self.set(to, datum);
            }
            Inst::Negate { to, kind, a } => {
                let Some(ty) = float_type(kind) else { return Err(self.unsupported("an operation of integers")) };
                let value = self.number(self.get(a), ty)?;
                let value = self.domain.negate(ty, value).map_err(|why| self.undefined(why.to_string()))?;
                let datum = self.held(value, ty, kind.bits());
                self.set(to, datum);
            }
            Inst::Select { to, kind, cond, a, b } => {
                let datum = match self.get(cond) {
                    Datum::Bits(bit) => self.get(if bit & 1 == 1 { a } else { b }),
                    Datum::Value(cond, Scalar::Bool) => {
                        let (a, b) = (self.get(a), self.get(b));
                        self.either(cond, Some(kind), a, b)?
                    }
                    other => return Err(self.no_number(other)),
                };
                self.set(to, datum);
            }
            Inst::Reserve { to, bytes, count, grain, lasting } => {
                let datum = self.reserve(bytes, count, grain, lasting)?;
                self.set(to, datum);
            }
            Inst::ForgetAt { at } => self.forget(at)?,
            Inst::Call { to, ref callee, ref arguments } => {
                let result = to.map(|to| self.function.registers[to as usize]);
                let datum = self.call(callee, arguments, result)?;
                if let Some(to) = to {
                    self.set(to, datum);
                }
            }
            Inst::Save { to } => self.set(to, Datum::Bits(self.regions.len() as u64)),
            Inst::Restore { from } => self.restore(from)?,
            Inst::Trap => return Err(self.undefined("a subscript outside its array".to_string())),
            _ => return Err(self.unsupported("an instruction")),
        }
        Ok(())
    }

    pub fn compare(
        &mut self,
        how: Comparison,
        kind: Kind,
        a: Datum<D::Value>,
        b: Datum<D::Value>,
    ) -> Run<Datum<D::Value>> {
        use Comparison::*;
        if kind == Kind::Pointer {
            return self.compare_places(how, a, b);
        }
        let (cmp, swapped, sign) = match how {
            Equal => (Cmp::Eq, false, None),
            NotEqual => (Cmp::Ne, false, None),
            SignedLess => (Cmp::Lt, false, Some(Sign::Signed)),
            SignedLessEqual => (Cmp::Le, false, Some(Sign::Signed)),
            UnsignedLess => (Cmp::Lt, false, Some(Sign::Unsigned)),
            UnsignedLessEqual => (Cmp::Le, false, Some(Sign::Unsigned)),
            Less => (Cmp::Lt, false, None),
            LessEqual => (Cmp::Le, false, None),
            Unordered => (Cmp::Eq, true, None),
        };
        if let (Datum::Bits(x), Datum::Bits(y), Kind::Int(bits)) = (a, b, kind) {
            let holds = match (cmp, sign) {
                (Cmp::Eq, _) => x == y,
                (Cmp::Ne, _) => x != y,
                (Cmp::Lt, Some(Sign::Unsigned)) => x < y,
                (Cmp::Le, Some(Sign::Unsigned)) => x <= y,
                (Cmp::Lt, _) => signed(x, bits) < signed(y, bits),
                (Cmp::Le, _) => signed(x, bits) <= signed(y, bits),
            };
            return Ok(Datum::Bits(u64::from(holds)));
        }
        let ty = match (kind, sign) {
            (Kind::Int(bits), Some(sign)) => sign.of(bits),
            (Kind::Int(bits), None) => self.common(bits, [a, b]),
            _ => float_type(kind),
        };
        let Some(ty) = ty else { return Err(self.unsupported("an integer of an unusual width")) };
        let (a, b) = (self.number(a, ty)?, self.number(b, ty)?);
        let truth = match swapped {
            false => self.domain.compare(cmp, ty, a, b),
            // Only NaN differs from itself.
            true => {
                let [first, second] = [a, b].map(|x| self.domain.compare(Cmp::Ne, ty, x, x));
                let yes = self.domain.constant(Constant::Int(1));
                self.domain.choice(first, yes, second)
            }
        };
        Ok(self.held(truth, Scalar::Bool, 1))
    }

    fn compare_places(&self, how: Comparison, a: Datum<D::Value>, b: Datum<D::Value>) -> Run<Datum<D::Value>> {
        use Comparison::*;
        let truth = |holds: bool| Ok(Datum::Bits(u64::from(holds)));
        match (a, b, how) {
            (Datum::Place(first, x), Datum::Place(second, y), _) if first == second => truth(match how {
                Equal => x == y,
                NotEqual => x != y,
                UnsignedLess => x < y,
                UnsignedLessEqual => x <= y,
                _ => return Err(self.unsupported("a comparison of addresses")),
            }),
            // An object is not at null.
            (Datum::Place(..), Datum::Bits(0), Equal) | (Datum::Bits(0), Datum::Place(..), Equal) => truth(false),
            (Datum::Place(..), Datum::Bits(0), NotEqual) | (Datum::Bits(0), Datum::Place(..), NotEqual) => truth(true),
            (Datum::Bits(x), Datum::Bits(y), Equal) => truth(x == y),
            (Datum::Bits(x), Datum::Bits(y), NotEqual) => truth(x != y),
            (datum @ (Datum::Poison | Datum::Lost), ..) | (_, datum @ (Datum::Poison | Datum::Lost), _) => {
                Err(self.no_number(datum))
            }
            _ => Err(self.unsupported("addresses in different objects are compared")),
        }
    }

    fn convert(&mut self, how: Conversion, from: Kind, into: Kind, a: Datum<D::Value>) -> Run<Datum<D::Value>> {
        use Conversion::*;
        let width = || "an integer of an unusual width";
        match how {
            Address => match a {
                Datum::Place(..) | Datum::Bits(_) => Ok(a),
                other => Err(self.no_number(other)),
            },
            Truncate => match a {
                Datum::Bits(bits) => Ok(Datum::Bits(bits & mask(into.bits()))),
                Datum::Value(_, Scalar::Bool) => Ok(a),
                // One bit of a number is no truth value.
                Datum::Value(_, ty) if !ty.is_float() && into.bits() > 1 => Ok(a),
                Datum::Value(..) => Err(self.unsupported("bits of a value")),
                other => Err(self.no_number(other)),
            },
            SignExtend | ZeroExtend => {
                if let Datum::Bits(bits) = a {
                    let extended = if how == SignExtend { signed(bits, from.bits()) as u64 } else { bits };
                    return Ok(Datum::Bits(extended & mask(into.bits())));
                }
                let sign = if how == SignExtend { Sign::Signed } else { Sign::Unsigned };
                let Some(ty) = sign.of(from.bits()) else { return Err(self.unsupported(width())) };
                let narrower = |of: Scalar| ty.range().0 <= of.range().0 && of.range().1 <= ty.range().1;
                match a {
                    // It says more about the number to keep its type.
                    Datum::Value(_, of) if !of.is_float() && narrower(of) => Ok(a),
                    _ => {
                        let value = self.number(a, ty)?;
                        Ok(self.held(value, ty, into.bits()))
                    }
                }
            }
            FloatToFloat | SignedToFloat | UnsignedToFloat | FloatToSigned | FloatToUnsigned => {
                let source = match how {
                    SignedToFloat => Sign::Signed.of(from.bits()),
                    UnsignedToFloat => Sign::Unsigned.of(from.bits()),
                    _ => float_type(from),
                };
                let target = match how {
                    FloatToSigned => Sign::Signed.of(into.bits()),
                    FloatToUnsigned => Sign::Unsigned.of(into.bits()).filter(|ty| *ty != Scalar::Bool),
                    _ => float_type(into),
                };
                let (Some(source), Some(target)) = (source, target) else { return Err(self.unsupported(width())) };
                let value = self.number(a, source)?;
                let value =
                    self.domain.convert(source, target, value).map_err(|why| self.undefined(why.to_string()))?;
                Ok(self.held(value, target, into.bits()))
            }
        }
    }
}
