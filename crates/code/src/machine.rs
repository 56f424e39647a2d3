//! Runs a function from its entry to its return.

use crate::expression::Expression;
use crate::lane::Value;
use crate::memory::{Memory, Refusal, STACK};
use crate::values::Values;
use program::{FaultKind as Trap, Function, Next, Op, PointId, Register};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Arena, TermId, VarId};
use updates::{Domain, Fault, FaultKind, Final, Limits, Program};

/// A lifted function and the arena of its terms.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    /// Owner of the terms.
    pub arena: &'a Arena,
    /// The graph.
    pub function: &'a Function,
}

/// Where the arrays lie. Code may look at addresses: to peel a loop up to an alignment, or to test for overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// At multiples of 64, in the order of the parameters.
    Aligned,
    /// One element past a multiple of 64, the last parameter first.
    Skewed,
}

impl Placement {
    /// Those that are tried.
    pub const ALL: [Placement; 2] = [Placement::Aligned, Placement::Skewed];
}

pub(crate) type Run<T> = Result<T, Box<Fault>>;

/// A run under way.
pub(crate) struct Machine<'p, 'd, D: Domain> {
    pub code: Code<'p>,
    pub interface: &'p Program,
    pub values: Values<'d, D>,
    pub limits: Limits,
    pub memory: Memory<D::Value>,
    pub variables: Vec<Option<Value<D::Value>>>,
    expressions: FxHashMap<TermId, Rc<Expression>>,
    /// Regions of the interface's objects, by object.
    pub slots: FxHashMap<usize, usize>,
    /// Which regions the caller sees.
    pub visible: Vec<bool>,
    pub updates: u64,
    /// The caller's frame: from the return address up to the arguments, and from their end on.
    pub frame: [u64; 2],
    /// The lowest stack address written.
    pub lowest: u64,
    place: u64,
    entered: u64,
    /// Branches on data that are open.
    pub depth: usize,
    /// Branches on data so far.
    pub forks: usize,
    /// Numbers of the points in topological order, once they are needed.
    pub order: Option<Rc<Vec<usize>>>,
}

/// Where to go on.
enum Way<V> {
    To(PointId),
    /// One of two points, by a condition on data.
    Either(V, [PointId; 2]),
}

/// Points entered between looks at the clock.
const LOOK: u64 = 1024;

impl Code<'_> {
    /// Executes the function, called as the C program `interface` says, to its return. The final state has the
    /// interface's objects; only those that the caller sees have cells. `extents` bounds objects whose extent the
    /// interface does not state.
    pub fn execute<D: Domain>(
        &self,
        interface: &Program,
        domain: &mut D,
        limits: &Limits,
        extents: &[Option<u64>],
        placement: Placement,
    ) -> Result<Final<D::Value>, Box<Fault>> {
        let mut machine = Machine {
            code: *self,
            interface,
            values: Values::new(domain),
            limits: limits.clone(),
            memory: Memory::new(),
            variables: Vec::new(),
            expressions: FxHashMap::default(),
            slots: FxHashMap::default(),
            visible: vec![false; STACK + 1],
            updates: 0,
            frame: [0; 2],
            lowest: u64::MAX,
            place: 0,
            entered: 0,
            depth: 0,
            forks: 0,
            order: None,
        };
        machine.enter(extents, placement)?;
        machine.go()?;
        machine.leave()
    }
}

impl<D: Domain> Machine<'_, '_, D> {
    #[cold]
    pub fn fault(&self, kind: FaultKind, what: String) -> Box<Fault> {
        let function = self.code.function;
        let line = function.lines.find(self.place).map_or(String::new(), |l| format!(" ({}:{})", l.file, l.line));
        let detail = format!("{}+{:#x}{line}: {what}", function.name, self.place);
        Box::new(Fault { kind, site: 0, detail, instance: String::new(), conditional: false })
    }

    #[cold]
    pub fn unsupported(&self, what: String) -> Box<Fault> {
        self.fault(FaultKind::Unsupported, what)
    }

    pub fn set_var(&mut self, var: VarId, value: Value<D::Value>) {
        let index = var.index();
        if self.variables.len() <= index {
            self.variables.resize(index + 1, None);
        }
        self.variables[index] = Some(value);
    }

    pub fn set_register(&mut self, register: Register, value: Value<D::Value>) {
        let index = register.index();
        if self.variables.len() <= index {
            self.variables.resize(index + 1, None);
        }
        self.variables[index] = Some(value);
    }

    pub fn register(&self, register: Register) -> Value<D::Value> {
        let found = self.variables.get(register.index()).cloned().flatten();
        found.unwrap_or(Value::LostTruth("a register that nobody set"))
    }

    fn eval(&mut self, term: TermId) -> Value<D::Value> {
        let arena = self.code.arena;
        let made = self.expressions.entry(term).or_insert_with(|| Rc::new(Expression::new(arena, term)));
        let expression = Rc::clone(made);
        let variables = &self.variables;
        expression.eval(arena, &mut self.values, |var| variables.get(var.index()).cloned().flatten())
    }

    fn address(&mut self, term: TermId) -> Run<u64> {
        match self.eval(term) {
            Value::Bits(bits) => Ok(bits.low()),
            other => {
                let why = other.why_lost().map_or(String::new(), |why| format!(": {why}"));
                Err(self.unsupported(format!("an address depends on data{why}")))
            }
        }
    }

    fn condition(&mut self, term: TermId) -> Run<bool> {
        let value = self.eval(term);
        self.is_true(value)
    }

    fn is_true(&self, value: Value<D::Value>) -> Run<bool> {
        match value {
            Value::Bool(truth) => Ok(truth),
            other => {
                let why = other.why_lost().map_or(String::new(), |why| format!(": {why}"));
                Err(self.unsupported(format!("control depends on data{why}")))
            }
        }
    }

    pub fn refuse(&self, refusal: Refusal, access: &str) -> Box<Fault> {
        match refusal {
            // A load past the end may be harmless; nothing is claimed about it.
            Refusal::Outside(name) if access == "load" => self.unsupported(format!("a load outside {name}")),
            Refusal::Outside(name) => self.fault(FaultKind::Undefined, format!("a {access} outside {name}")),
            Refusal::Stack => self.unsupported("more stack than a program usually has".to_string()),
            Refusal::Constant(name) => self.unsupported(format!("a {access} to `{name}`, which C does not have")),
            Refusal::Torn => self.unsupported(format!("a {access} of bits that are no bytes")),
        }
    }

    pub fn store(&mut self, address: u64, value: &Value<D::Value>) -> Run<()> {
        match self.memory.store(address, value) {
            Ok(STACK) => {
                let width: u16 = value.lanes().iter().map(|l| l.width).sum();
                let (end, [top, limit]) = (address + u64::from(width / 8), self.frame);
                self.lowest = self.lowest.min(address);
                if end > limit || address < top + 8 && end > top {
                    return Err(self.unsupported("a store to the caller's frame".to_string()));
                }
                Ok(())
            }
            Ok(region) => {
                self.updates += u64::from(self.visible[region]);
                Ok(())
            }
            Err(refusal) => Err(self.refuse(refusal, "store")),
        }
    }

    fn operation(&mut self, op: &Op) -> Run<()> {
        match *op {
            Op::Set { var, value } => {
                let value = self.eval(value);
                self.set_var(var, value);
            }
            Op::Load { var, address, bytes } => {
                let address = self.address(address)?;
                let value = self.memory.load(address, u64::from(bytes)).map_err(|r| self.refuse(r, "load"))?;
                self.set_var(var, value);
            }
            Op::Store { address, value } => {
                let address = self.address(address)?;
                let value = self.eval(value);
                self.store(address, &value)?;
            }
            Op::Unknown { var } => {
                let value = match self.code.arena.var_sort(var) {
                    term::Sort::Bv(width) => Value::lost(width, "a result that the architecture leaves undefined"),
                    _ => Value::LostTruth("a flag that the architecture leaves undefined"),
                };
                self.set_var(var, value);
            }
            Op::Fault { condition, kind } => {
                if self.condition(condition)? {
                    return Err(self.trap(kind));
                }
            }
        }
        Ok(())
    }

    fn trap(&self, kind: Trap) -> Box<Fault> {
        self.fault(FaultKind::Undefined, format!("a fault: {}", kind.name()))
    }

    fn go(&mut self) -> Run<()> {
        let mut at = Some(Function::ENTRY);
        while let Some(point) = at {
            at = self.step(point)?;
        }
        Ok(())
    }

    /// Runs a point; the next one, or nothing after the return.
    pub fn step(&mut self, at: PointId) -> Run<Option<PointId>> {
        self.entered += 1;
        let late = self.entered.is_multiple_of(LOOK) && self.limits.interrupt.is_tripped();
        if late || self.entered > self.limits.turns {
            return Err(self.fault(FaultKind::Time, "out of time".to_string()));
        }
        let function = self.code.function;
        let Some(point) = function.points.get(at.index()) else {
            return Err(self.trap(Trap::OffTheEnd));
        };
        for (place, op) in &point.ops {
            self.place = *place;
            self.operation(op)?;
        }
        match &point.next {
            Next::Edges(edges) => match self.choose(edges)? {
                Way::To(next) => Ok(Some(next)),
                Way::Either(cond, sides) => self.fork(cond, sides),
            },
            Next::Return => Ok(None),
            Next::Fault(kind) => Err(self.trap(*kind)),
            Next::Call(call) => {
                self.call(&call.callee)?;
                match call.returns {
                    Some(next) => Ok(Some(next)),
                    None if call.tail => Ok(None),
                    None => Err(self.trap(Trap::OffTheEnd)),
                }
            }
        }
    }

    fn choose(&mut self, edges: &[program::Edge]) -> Run<Way<D::Value>> {
        for (number, edge) in edges.iter().enumerate() {
            let guard = self.eval(edge.guard);
            // Guards are exclusive and exhaustive.
            if let (Value::Truth(yes), 0, [first, second]) = (&guard, number, edges) {
                return Ok(Way::Either(*yes, [first.target, second.target]));
            }
            if self.is_true(guard)? {
                return Ok(Way::To(edge.target));
            }
        }
        Err(self.trap(Trap::OffTheEnd))
    }
}
