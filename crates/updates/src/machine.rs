//! Executes a program over any domain.
//!
//! Control is concrete: the machine walks the statements as C would. A condition on data that is not known splits
//! the execution: both sides run on the same state, one after the other, and every cell that either wrote becomes a
//! choice. A slot that the sides leave with different values depends on data from then on and may not be read.

use crate::domain::Domain;
use crate::fault::{Fault, FaultKind};
use crate::observe::Observer;
use crate::program::{
    Base, Cond, Data, Element, LoopStmt, Object, Origin, Place, Program, Stmt, SwitchStmt, UNWRITTEN, Variable,
};
use crate::scalar::{self, Cmp, Op, Scalar};
use interrupt::Interrupt;
use rustc_hash::FxHashMap;

mod branch;
mod columns;
mod control;
mod parallel;
mod progress;
mod stride;

use branch::Branch;
use columns::Columns;
use progress::Chunk;

/// A loop is walked statement by statement after so many turns that could not be run together with others.
const MOST_FAILURES: u32 = 2;

/// Content of a slot that depends on data.
const DEPENDS: i64 = UNWRITTEN + 1;

/// Limits and rules of an execution.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Ends the execution from outside.
    pub interrupt: Interrupt,
    /// Most cells of all objects together.
    pub cells: u64,
    /// Most turns of loops.
    pub turns: u64,
    /// May a subscript leave its row inside the array?
    pub flat: bool,
    /// In which order the turns of parallel loops run.
    pub schedule: Schedule,
}

/// An order of the turns of parallel loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schedule {
    /// One after the other, as without OpenMP.
    #[default]
    Forward,
    /// The last turn first.
    Reverse,
    /// All at once: each turn starts from the state before the loop, their writes follow in order.
    Together,
    /// In step: the first statement of the body in all turns, then the second, and so on.
    Interleaved,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            interrupt: Interrupt::never(),
            cells: 60_000_000,
            turns: 20_000_000_000,
            flat: false,
            schedule: Schedule::Forward,
        }
    }
}

/// The state at the end.
#[derive(Clone, Debug)]
pub struct Final<V> {
    /// Cells of every object, by object.
    pub objects: Vec<Vec<V>>,
    /// Number of updates: writes of cells.
    pub updates: u64,
    /// Integer divisions by a value that is not known, each once: they trap if it is zero.
    pub divisions: Vec<Division<V>>,
}

/// A division that may trap: if the divisor is zero, or the quotient does not fit the type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Division<V> {
    /// Type of the operation: of signed numbers the lowest divided by -1 traps, too.
    pub ty: Scalar,
    /// The dividend.
    pub dividend: V,
    /// The divisor.
    pub divisor: V,
    /// The conditions on data under which it happens; all hold.
    pub path: Vec<V>,
    /// Where.
    pub site: u32,
}

impl<V: PartialEq> Division<V> {
    /// Does the other one trap only where this one does?
    pub fn covers(&self, other: &Division<V>) -> bool {
        let zero = self.divisor == other.divisor;
        let overflow = !other.ty.is_signed() || self.ty == other.ty && self.dividend == other.dividend;
        zero && overflow && self.path.iter().all(|step| other.path.contains(step))
    }
}

pub(crate) type Run<T> = Result<T, Box<Fault>>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

/// A program in execution.
pub struct Machine<'p, D: Domain, O> {
    program: &'p Program,
    /// The values.
    pub domain: &'p mut D,
    observer: &'p mut O,
    limits: Limits,
    slots: Vec<i64>,
    objects: Vec<Vec<D::Value>>,
    /// Which objects may not be written.
    constant: Vec<bool>,
    /// Objects without a stated extent grow up to this.
    extents: &'p [Option<u64>],
    branches: Vec<Branch<D::Value>>,
    divisions: FxHashMap<D::Value, Vec<Division<D::Value>>>,
    total: u64,
    updates: u64,
    turns: u64,
    /// Turns since the time limit was looked at.
    unchecked_turns: u64,
    site: u32,
    chunk: Chunk<'p>,
    columns: Columns<'p, D::Value>,
}

/// Number that names an input on both sides.
pub fn input_key(origin: &Origin) -> Option<u64> {
    match origin {
        Origin::Parameter(position) => Some(u64::from(*position) << 1),
        Origin::Value(position) => Some(u64::from(*position) << 1 | 1),
        Origin::Global(name) => Some(crate::hash::name_key(name) | 1 << 63),
        Origin::Table(_) | Origin::Local => None,
    }
}

/// Executes a program to its end. `extents` bounds objects whose extent the program does not state, by object; an
/// empty slice means that they grow as they are used.
pub fn execute<D: Domain, O: Observer<D::Value>>(
    program: &Program,
    domain: &mut D,
    observer: &mut O,
    limits: &Limits,
    extents: &[Option<u64>],
) -> Run<Final<D::Value>> {
    let mut machine = Machine {
        program,
        domain,
        observer,
        limits: limits.clone(),
        slots: vec![UNWRITTEN; program.slots],
        objects: Vec::with_capacity(program.objects.len()),
        constant: program.objects.iter().map(|o| matches!(o.origin, Origin::Table(_))).collect(),
        extents,
        branches: Vec::new(),
        divisions: FxHashMap::default(),
        total: 0,
        updates: 0,
        turns: 0,
        unchecked_turns: 0,
        site: 0,
        chunk: Chunk::default(),
        columns: Columns::default(),
    };
    for (number, object) in program.objects.iter().enumerate() {
        machine.start(number, object)?;
    }
    let body: &[Stmt] = &program.body;
    machine.list(body)?;
    let mut divisions: Vec<Division<D::Value>> = machine.divisions.into_values().flatten().collect();
    divisions.sort_by_key(|d| d.site);
    Ok(Final { objects: machine.objects, updates: machine.updates, divisions })
}

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    fn start(&mut self, number: usize, object: &Object) -> Run<()> {
        let cells = object.cells.or(self.extents.get(number).copied().flatten()).unwrap_or(0);
        self.total = self.total.saturating_add(cells);
        if self.total > self.limits.cells {
            return Err(
                self.fault(FaultKind::Memory, format!("the objects have more than {} cells", self.limits.cells))
            );
        }
        let values = match (&object.origin, input_key(&object.origin)) {
            (Origin::Table(known), _) => known.iter().map(|c| self.domain.constant(*c)).collect(),
            (_, Some(key)) => (0..cells).map(|cell| self.domain.input(key, cell, object.cell_type(cell))).collect(),
            (_, None) => vec![self.domain.unwritten(); cells as usize],
        };
        self.objects.push(values);
        Ok(())
    }

    #[cold]
    fn fault(&self, kind: FaultKind, detail: impl Into<String>) -> Box<Fault> {
        let conditional = !self.branches.is_empty();
        let names = self.loop_names();
        let values = self.iterators();
        let pairs = names.into_iter().zip(values).filter(|(_, value)| *value != UNWRITTEN && *value != DEPENDS);
        let pairs = pairs.filter_map(|(name, value)| name.map(|n| format!("{n}={value}")));
        let instance = pairs.collect::<Vec<_>>().join(", ");
        Box::new(Fault { kind, site: self.site, detail: detail.into(), instance, conditional })
    }

    #[cold]
    fn undefined(&self, what: impl Into<String>) -> Box<Fault> {
        self.fault(FaultKind::Undefined, what)
    }

    #[cold]
    fn unsupported(&self, what: impl Into<String>) -> Box<Fault> {
        self.fault(FaultKind::Unsupported, what)
    }

    fn loop_names(&self) -> Vec<Option<String>> {
        let Some(site) = self.program.sites.get(self.site as usize) else { return Vec::new() };
        site.loops.iter().map(|l| self.program.loops[*l as usize].iterator.clone()).collect()
    }

    /// Values of the enclosing loops' variables, the outermost first.
    fn iterators(&self) -> Vec<i64> {
        let Some(site) = self.program.sites.get(self.site as usize) else { return Vec::new() };
        let value = |number: &u32| match self.program.loops[*number as usize].variable {
            Some(Variable::Slot(slot)) => self.slots[slot as usize],
            Some(Variable::Cell(object)) => {
                let cell = self.objects[object as usize].first().copied();
                let known = cell.and_then(|value| self.domain.known(value)).and_then(|c| c.as_integer());
                known.map_or(0, |v| v as i64)
            }
            None => 0,
        };
        site.loops.iter().map(value).collect()
    }

    fn locate(&mut self, place: &'p Place) -> Run<(u32, u64)> {
        match place {
            Place::Cell(object) => Ok((*object, 0)),
            Place::Element(element) => self.locate_element(element),
        }
    }

    #[inline(always)]
    fn locate_element(&mut self, element: &'p Element) -> Run<(u32, u64)> {
        let (object, start) = match &element.base {
            Base::Object(object) => (*object, 0),
            Base::Pointer(pointer) => {
                let value = self.int(pointer)?;
                self.pointer_parts(value)?
            }
        };
        let mut cell = start + element.offset;
        for index in &element.index {
            let value = self.leaf(&index.value)?;
            if let Some(extent) = index.extent {
                if (value as u64) < extent as u64 {
                    // Both factors have at most 32 bits.
                    cell += value * index.stride;
                    continue;
                }
                if !self.limits.flat {
                    return Err(self.outside(object, value, extent));
                }
            }
            let step = value.checked_mul(index.stride).and_then(|step| cell.checked_add(step));
            cell = step.ok_or_else(|| self.undefined("subscript overflows"))?;
        }
        let length = self.objects[object as usize].len() as u64;
        if cell as u64 >= length {
            self.grow(object, cell)?;
        }
        Ok((object, cell as u64))
    }

    #[cold]
    fn outside(&self, object: u32, value: i64, extent: i64) -> Box<Fault> {
        let name = &self.program.objects[object as usize].name;
        self.undefined(format!("subscript {value} of `{name}` is outside 0..{extent}"))
    }

    /// An access past the cells there are: only objects whose extent nobody states may grow.
    #[cold]
    fn grow(&mut self, object: u32, cell: i64) -> Run<()> {
        let program = self.program;
        let what = &program.objects[object as usize];
        let bounded = what.cells.is_some() || self.extents.get(object as usize).copied().flatten().is_some();
        if cell < 0 || bounded {
            let per = what.fields.len() as i64;
            let length = self.objects[object as usize].len() as i64 / per;
            let detail = format!("access to element {} of `{}`, which has {length}", cell.div_euclid(per), what.name);
            return Err(self.undefined(detail));
        }
        let key = input_key(&what.origin);
        let (old, new) = (self.objects[object as usize].len() as u64, cell as u64 + 1);
        self.total = self.total.saturating_add(new - old);
        if self.total > self.limits.cells {
            return Err(
                self.fault(FaultKind::Memory, format!("the objects have more than {} cells", self.limits.cells))
            );
        }
        for cell in old..new {
            let value = match key {
                Some(key) => self.domain.input(key, cell, what.cell_type(cell)),
                None => self.domain.unwritten(),
            };
            self.objects[object as usize].push(value);
        }
        Ok(())
    }

    fn pointer_parts(&self, pointer: i64) -> Run<(u32, i64)> {
        match control::split_pointer(pointer) {
            Some((object, cell)) if (object as usize) < self.objects.len() => Ok((object, cell)),
            _ => Err(self.undefined("use of a null or invalid pointer")),
        }
    }

    /// Blocks of so many cells must lie apart.
    fn apart(&self, a: i64, b: i64, cells: i64) -> Run<()> {
        if cells == 0 {
            return Ok(());
        }
        let ((first, x), (second, y)) = (self.pointer_parts(a)?, self.pointer_parts(b)?);
        if first == second && (x - y).abs() < cells {
            let name = &self.program.objects[first as usize].name;
            return Err(self.undefined(format!("a copy of `{name}` to a block that overlaps it")));
        }
        Ok(())
    }

    #[cold]
    fn no_cell(&self, object: u32) -> Box<Fault> {
        let what = if self.constant[object as usize] { "is a constant" } else { "has no such cell" };
        self.undefined(format!("access to `{}`, which {what}", self.program.objects[object as usize].name))
    }

    #[cold]
    fn not_written(&self, object: u32, cell: u64) -> Box<Fault> {
        let name = self.program.objects[object as usize].cell_name(cell);
        self.undefined(format!("`{name}` is read before it is written"))
    }

    #[inline]
    fn load(&mut self, place: &'p Place) -> Run<D::Value> {
        let (object, cell) = self.locate(place)?;
        self.load_cell(object, cell)
    }

    #[inline(always)]
    fn load_cell(&mut self, object: u32, cell: u64) -> Run<D::Value> {
        let Some(value) = self.objects[object as usize].get(cell as usize).copied() else {
            return Err(self.no_cell(object));
        };
        if self.domain.is_unwritten(value) {
            return Err(self.not_written(object, cell));
        }
        if O::ACTIVE {
            self.observer.load(object, cell, value, self.site);
        }
        Ok(value)
    }

    #[inline(always)]
    fn store(&mut self, object: u32, cell: u64, value: D::Value) -> Run<()> {
        if !self.branches.is_empty() {
            self.log_cell(object, cell);
        }
        let place = match self.objects[object as usize].get_mut(cell as usize) {
            Some(place) if !self.constant[object as usize] => place,
            _ => return Err(self.no_cell(object)),
        };
        *place = value;
        self.updates += 1;
        if O::ACTIVE {
            self.tell_store(object, cell, value);
        }
        Ok(())
    }

    fn tell_store(&mut self, object: u32, cell: u64, value: D::Value) {
        let iterators = self.iterators();
        self.observer.store(object, cell, value, self.site, &|| iterators.clone());
    }

    /// As [`Machine::data`], without a call for cells.
    #[inline(always)]
    fn operand(&mut self, data: &'p Data) -> Run<D::Value> {
        match data {
            Data::Load(place) => self.load(place),
            other => self.data(other),
        }
    }

    fn data(&mut self, data: &'p Data) -> Run<D::Value> {
        match data {
            Data::Const(constant) => Ok(self.domain.constant(*constant)),
            Data::Load(place) => self.load(place),
            Data::FromInt(ty, value) => {
                let value = self.int(value)?;
                let constant = scalar::Constant::integer(control::number(*ty, value));
                Ok(self.domain.constant(constant))
            }
            Data::Binary(op, ty, operands) => {
                let a = self.operand(&operands.0)?;
                let b = self.operand(&operands.1)?;
                if matches!(op, Op::Div | Op::Rem) && !ty.is_float() {
                    self.note_division(*ty, a, b);
                }
                self.domain.binary(*op, *ty, a, b).map_err(|why| self.undefined(why.to_string()))
            }
            Data::Neg(ty, value) => {
                let value = self.data(value)?;
                self.domain.negate(*ty, value).map_err(|why| self.undefined(why.to_string()))
            }
            Data::Compare(cmp, ty, operands) => {
                let a = self.data(&operands.0)?;
                let b = self.data(&operands.1)?;
                Ok(self.domain.compare(*cmp, *ty, a, b))
            }
            Data::Not(value) => {
                let value = self.data(value)?;
                Ok(self.domain.not(value))
            }
            Data::Convert(from, to, value) => {
                let value = self.data(value)?;
                self.domain.convert(*from, *to, value).map_err(|why| self.undefined(why.to_string()))
            }
            Data::Choice(parts) => {
                let (cond, yes, no) = &**parts;
                self.choose(cond, |m| m.data(yes), |m| m.data(no))
            }
            Data::And(parts) => {
                let (left, right) = &**parts;
                self.choose(left, |m| m.truth(right), |m| Ok(m.domain.constant(scalar::Constant::Int(0))))
            }
            Data::Or(parts) => {
                let (left, right) = &**parts;
                self.choose(left, |m| Ok(m.domain.constant(scalar::Constant::Int(1))), |m| m.truth(right))
            }
            Data::Call(ty, function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.data(argument)?);
                }
                let name = &self.program.functions[*function as usize];
                Ok(self.domain.call(name, *ty, &values))
            }
            Data::Assign(site, parts) => {
                let value = self.data(&parts.1)?;
                let (object, cell) = self.locate(&parts.0)?;
                self.site = *site;
                self.store(object, cell, value)?;
                Ok(value)
            }
            Data::PostStep(site, ty, place, by) => {
                let (object, cell) = self.locate(place)?;
                let old = self.load_cell(object, cell)?;
                let by = self.domain.constant(*by);
                let new = self.domain.binary(Op::Add, *ty, old, by).map_err(|why| self.undefined(why.to_string()))?;
                self.site = *site;
                self.store(object, cell, new)?;
                Ok(old)
            }
            Data::Sequence(stmts, value) => {
                self.sequence(stmts)?;
                self.data(value)
            }
        }
    }

    fn note_division(&mut self, ty: Scalar, dividend: D::Value, divisor: D::Value) {
        match self.domain.known(divisor).map(|known| known.as_integer()) {
            // Zero traps whatever is divided.
            Some(Some(0)) => {}
            Some(Some(-1)) if ty.is_signed() && self.domain.known(dividend).is_none() => {}
            Some(_) => return,
            None => {}
        }
        let domain = &mut *self.domain;
        let holds = |b: &Branch<D::Value>| if b.side { b.cond } else { domain.not(b.cond) };
        let path: Vec<D::Value> = self.branches.iter().map(holds).collect();
        let division = Division { ty, dividend, divisor, path, site: self.site };
        let known = self.divisions.entry(divisor).or_default();
        if !known.iter().any(|d| d.covers(&division)) {
            known.push(division);
        }
    }

    /// Statements inside an expression; none of them leaves it.
    fn sequence(&mut self, stmts: &'p [Stmt]) -> Run<()> {
        let outer = self.site;
        let token = if O::ACTIVE { self.observer.suspend() } else { 0 };
        let flow = self.list(stmts)?;
        if O::ACTIVE {
            self.observer.resume(token);
        }
        self.site = outer;
        match flow {
            Flow::Next => Ok(()),
            _ => Err(self.unsupported("a jump out of an expression")),
        }
    }

    /// A condition as a truth value.
    fn truth(&mut self, cond: &'p Cond) -> Run<D::Value> {
        match cond {
            Cond::Int(value) => {
                let value = self.int(value)?;
                Ok(self.domain.constant(scalar::Constant::Int(i64::from(value != 0))))
            }
            Cond::Data(data) => self.data(data),
        }
    }

    fn list(&mut self, stmts: &'p [Stmt]) -> Run<Flow> {
        for stmt in stmts {
            let flow = self.statement(stmt)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, stmt: &'p Stmt) -> Run<Flow> {
        match stmt {
            Stmt::Store(site, place, data) => {
                self.site = *site;
                if O::ACTIVE {
                    self.observer.statement();
                }
                let value = self.data(data)?;
                let (object, cell) = self.locate(place)?;
                self.store(object, cell, value)?;
            }
            Stmt::Data(site, data) => {
                self.site = *site;
                if O::ACTIVE {
                    self.observer.statement();
                }
                self.data(data)?;
            }
            Stmt::Int(site, value) => {
                self.site = *site;
                self.int(value)?;
            }
            Stmt::Enter(objects) => {
                for object in objects {
                    let unwritten = self.domain.unwritten();
                    for cell in 0..self.objects[*object as usize].len() {
                        if !self.branches.is_empty() {
                            self.log_cell(*object, cell as u64);
                        }
                        self.objects[*object as usize][cell] = unwritten;
                    }
                }
            }
            Stmt::Forget(slots) => {
                for slot in slots {
                    self.write_slot(*slot, UNWRITTEN);
                }
            }
            Stmt::Apart(site, pointers, cells) => {
                self.site = *site;
                let (a, b) = (self.int(&pointers.0)?, self.int(&pointers.1)?);
                self.apart(a, b, *cells)?;
            }
            Stmt::If(site, parts) => {
                self.site = *site;
                if O::ACTIVE {
                    self.observer.statement();
                }
                let (cond, yes, no) = &**parts;
                return self.conditional(*site, cond, yes, no);
            }
            Stmt::Loop(body) => return self.turns(body),
            Stmt::Block(stmts) => return self.list(stmts),
            Stmt::Call(stmts) => {
                return Ok(match self.list(stmts)? {
                    Flow::Return => Flow::Next,
                    other => other,
                });
            }
            Stmt::Switch(site, switch) => {
                self.site = *site;
                return self.switch(switch);
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Return(site) => {
                self.site = *site;
                return Ok(Flow::Return);
            }
        }
        Ok(Flow::Next)
    }

    fn switch(&mut self, switch: &'p SwitchStmt) -> Run<Flow> {
        let value = self.int(&switch.value)?;
        let chosen = switch.cases.iter().find(|(case, _)| *case == value).map(|(_, at)| *at).or(switch.default);
        let Some(start) = chosen else { return Ok(Flow::Next) };
        let body: &'p [Stmt] = &switch.body;
        Ok(match self.list(&body[start.min(body.len())..])? {
            Flow::Break => Flow::Next,
            other => other,
        })
    }

    /// A condition that decides whether a loop goes on: it must be known.
    fn decide(&mut self, cond: &'p Cond) -> Run<bool> {
        match cond {
            Cond::Int(value) => Ok(self.int(value)? != 0),
            Cond::Data(data) => {
                let value = self.data(data)?;
                match self.domain.known(value) {
                    Some(constant) => Ok(constant.is_true()),
                    None => Err(self.data_dependent(data, "loop bound")),
                }
            }
        }
    }

    #[cold]
    fn data_dependent(&self, data: &Data, what: &str) -> Box<Fault> {
        match control::needed_parameter(self.program, data) {
            Some(name) => self.fault(FaultKind::Parameter(name.clone()), format!("{what} depends on `{name}`")),
            None => self.unsupported(format!("data-dependent {what}")),
        }
    }

    fn turns(&mut self, body: &'p LoopStmt) -> Run<Flow> {
        if let Some(parallel) = &body.parallel {
            return self.parallel_turns(body, parallel);
        }
        // Who watches wants to see each statement; a branch on data logs what it writes.
        let mut strided = body.strided().filter(|_| !O::ACTIVE && self.branches.is_empty());
        let (mut first, mut failures, mut ran) = (true, 0, false);
        loop {
            self.site = body.site;
            if let Some(prepared) = strided.filter(|_| !ran && (body.test_first || !first)) {
                if self.stride(body, prepared)? {
                    (first, ran) = (false, true);
                    continue;
                }
                failures += 1;
                if failures > MOST_FAILURES {
                    strided = None;
                }
            }
            if let (Some(cond), true) = (&body.cond, body.test_first || !first)
                && !self.decide(cond)?
            {
                break;
            }
            if ran {
                // There is more to do after the chunk: plan again.
                ran = false;
                continue;
            }
            first = false;
            self.turns += 1;
            if self.turns & 0x3fff == 0 {
                self.check_time()?;
            }
            match self.list(&body.body)? {
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            self.list(&body.step)?;
        }
        Ok(Flow::Next)
    }

    #[cold]
    fn check_time(&self) -> Run<()> {
        if self.turns > self.limits.turns {
            return Err(self.fault(FaultKind::Time, format!("more than {} turns of loops", self.limits.turns)));
        }
        if self.limits.interrupt.is_tripped() {
            return Err(
                self.fault(FaultKind::Time, format!("the time limit ended the loop after {} turns", self.turns))
            );
        }
        Ok(())
    }
}

pub(crate) fn compare_control(cmp: Cmp, ty: Scalar, a: i64, b: i64) -> bool {
    match (cmp, ty) {
        (Cmp::Eq, _) => a == b,
        (Cmp::Ne, _) => a != b,
        (Cmp::Lt, Scalar::U64) => (a as u64) < b as u64,
        (Cmp::Le, Scalar::U64) => a as u64 <= b as u64,
        (Cmp::Lt, _) => a < b,
        (Cmp::Le, _) => a <= b,
    }
}
