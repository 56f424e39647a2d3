//! Calls: where arguments and results live; `set_up` finds arguments that no declaration names, `entry` has the call that a function was
//! entered by, `silent` those that are no events.

mod entry;
mod comparison;
mod set_up;
mod silent;

use self::set_up::Prototype;
use crate::{Context, State, Stuck};
use library::Effect;
use program::Loaded;
use program::contract::{Fixed, FixedResult, LocalContract, LocalEffect};
use program::{Assumption, Callee, Place, PointId, Register, Side, Signature, Value, ValueRange};
use std::collections::{BTreeMap, BTreeSet};
use term::{Op as TermOp, Sort, TermId, VarId};

/// How a call passes values, as far as it can be known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// What the callee reads.
    pub arguments: Vec<Value>,
    /// What the callee returns.
    pub results: Vec<Value>,
    /// Vector registers that a variadic callee may read: `al` at the call.
    pub variadic: bool,
    /// The call never returns.
    pub noreturn: bool,
    /// The callee's result is a fresh object.
    pub allocates: bool,
    /// Arguments that the candidate passes in another register, or not at all.
    pub moved: BTreeMap<Register, Option<Register>>,
    /// What the candidate passes instead of a pointer.
    pub promoted: BTreeMap<Register, Loaded>,
    /// What the callee is known to return.
    pub fixed: Option<FixedResult>,
    /// Range of the callee's one result, at its width.
    pub result_range: Option<ValueRange>,
    /// Registers of the original whose address nobody can find when the call is done.
    pub forgets: BTreeSet<Register>,
    /// Does the callee leave the world alone?
    pub preserves: bool,
    /// Need the candidate's callee return nothing, as no caller looks at it?
    pub result_unused: bool,
    /// Why the call cannot be compared, in words.
    pub refused: Option<String>,
    /// By side: does the call return where the string at its first argument ends, in place of what the callee returns?
    pub returns_end: [bool; 2],
}

impl Shape {
    /// Where an argument is on a side; `None` if the candidate does not take it.
    pub fn on_side(&self, argument: &Value, side: Side) -> Option<Value> {
        let Place::Register(register) = argument.place else { return Some(*argument) };
        match self.moved.get(&register) {
            None => Some(*argument),
            Some(None) => None,
            Some(Some(to)) if side == Side::Candidate => Some(Value { place: Place::Register(*to), ..*argument }),
            Some(Some(_)) => Some(*argument),
        }
    }
}

impl Shape {
    /// Bits of a result that can be other than zero.
    fn significant_bits(&self, value: &Value) -> u16 {
        let whole = 8 * value.bytes;
        let range = self.result_range.filter(|r| r.width == whole && self.results.len() == 1);
        range.map_or(whole, |r| significant_bits(&r))
    }
}

/// Who says how a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// A declaration or definition in the original's file.
    Original,
    /// A declaration in the candidate's file: the code at the call has the last word.
    Other,
    /// The type of the pointer that is called: the same.
    Pointer,
    /// The library table.
    Library,
}

/// Why a function of this name is not called as others are, in words.
fn foreign_name(name: &str) -> Option<&'static str> {
    // A jump to one of these is a return, or a call of what a register holds.
    const THUNKS: &[&str] = &["__x86_return_thunk", "__x86_indirect_", "__llvm_retpoline_", "__llvm_lvi_thunk_"];
    if THUNKS.iter().any(|thunk| name.starts_with(thunk)) {
        return Some("a thunk, which is no function");
    }
    // Names as clang makes them for `regcall` and `vectorcall`.
    let size = name.rsplit_once("@@").map(|(_, size)| size);
    let sized = size.is_some_and(|size| !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit()));
    (sized || name.starts_with("__regcall")).then_some("a convention other than System V")
}

/// Bits of numbers in a range that can be other than zero; at least one.
fn significant_bits(range: &ValueRange) -> u16 {
    (64 - range.unsigned().1.leading_zeros() as u16).max(1)
}

impl<'a> Context<'a> {
    /// Is a call of this function no event?
    pub fn is_silent(&self, name: &str) -> bool {
        if let Some(contract) = self.local_contract(name) {
            let signature = self.signature(name).map(|(signature, _)| signature);
            return contract.effect <= LocalEffect::Reads && signature.is_some_and(|s| !s.variadic);
        }
        self.contract(name).is_some_and(|c| {
            matches!(
                c.effect,
                Effect::Pure { .. } | Effect::ReadsThreadLocalAddress | Effect::CopyMemory | Effect::FillMemory
            )
        })
    }

    /// The contract of a local function of both programs, this one excepted.
    pub fn local_contract(&self, name: &str) -> Option<&'a LocalContract> {
        let function = self.functions[0];
        function.contracts.get(name).filter(|_| name != function.name)
    }

    /// Does the other program have in its place what the header says about `tolower` or `toupper`?
    pub(crate) fn expands(&self, name: &str) -> bool {
        let table = match name {
            "tolower" => "__ctype_tolower_loc",
            "toupper" => "__ctype_toupper_loc",
            _ => return false,
        };
        let calls = |point: &program::Point| matches!(&point.next, program::Next::Call(c) if matches!(&c.callee, Callee::Named(n) if n == table));
        self.functions.iter().any(|f| f.points.iter().any(calls))
    }

    /// The library contract of a function, if it is about this one.
    pub fn contract(&self, name: &str) -> Option<&'static library::Contract> {
        library::applicable(self.functions, name)
    }

    /// Why a call of this function cannot be treated at all: a function of this name in the library returns twice, or in the
    /// x87 stack. Whoever declares it otherwise may still mean that one.
    pub fn refused_callee(&self, name: &str) -> Option<&'static str> {
        if let Some(what) = foreign_name(name) {
            return Some(what);
        }
        let own = self.functions.iter().any(|f| f.defined.contains(name));
        library::contract(name).filter(|_| !own).and_then(|c| c.unsupported)
    }

    /// The name called, if it is known.
    pub fn callee_name(&self, callee: &Callee, state: &State) -> Option<String> {
        match callee {
            Callee::Named(name) => Some(name.clone()),
            Callee::Pointer(_) => {
                let var = self.arena.as_var(state.call_target?)?;
                let Some(object) = self.object(var) else { return self.passed_function(var) };
                matches!(object.kind, program::ObjectKind::Named { function: true, .. }).then(|| object.name.clone())
            }
        }
    }

    /// The function that all callers pass in an argument, if the variable is its address.
    fn passed_function(&self, var: VarId) -> Option<String> {
        let address = self.arena.var_name(var);
        let is_it = |value: &Fixed| matches!(value, Fixed::Address(name, 0) if name == address);
        let passed =
            self.own_contract()?.arguments.values().any(|values| values.len() == 1 && values.iter().any(is_it));
        address.strip_prefix('&').filter(|name| passed && !name.starts_with('"')).map(str::to_string)
    }

    /// How a function is declared, and by whom. Code is never asked.
    fn signature(&self, name: &str) -> Option<(Signature, Source)> {
        let [original, candidate] = self.functions;
        let debug = match original.own_declaration(name) {
            Some(own) => Some((own, Source::Original)),
            None => {
                let source = if self.contract(name).is_some() { Source::Library } else { Source::Other };
                original.callees.get(name).or_else(|| candidate.callees.get(name)).map(|s| (s, source))
            }
        };
        match debug {
            Some((signature, source)) => Some((signature.clone(), source)).filter(|(s, _)| s.unsupported.is_none()),
            None => self.contract(name).map(|row| (row.signature(), Source::Library)),
        }
    }

    /// Is a function declared to take any number of arguments?
    pub fn is_variadic(&self, name: &str) -> bool {
        self.signature(name).is_some_and(|(signature, _)| signature.variadic)
    }

    /// Why a declaration that somebody has made cannot be used: then nothing else is known either.
    fn unplaced(&self, name: Option<&str>, call: Option<PointId>) -> Option<String> {
        let declared = match name {
            Some(name) => self.functions.iter().find_map(|f| f.callees.get(name)),
            None => call.and_then(|point| self.functions[0].pointer_calls.get(&point)),
        };
        declared.and_then(|s| s.unsupported.clone()).filter(|what| what != Signature::CHANGED)
    }

    /// Does the original's code end behind this call?
    fn ends_behind(&self, call: Option<PointId>) -> bool {
        let next = call.map(|point| &self.functions[0].point(point).next);
        matches!(next, Some(program::Next::Call(call)) if call.returns.is_none() && !call.tail)
    }

    /// How the original's call passes its values: from debug information of either program, from the library
    /// table, else everything that the original has set up.
    pub fn shape(&mut self, name: Option<&str>, call: Option<PointId>, state: &State) -> Shape {
        let contract = name.and_then(|n| self.contract(n));
        if contract.is_some() {
            self.assume(Assumption::Library(name.unwrap_or_default().to_string()));
        }
        let known_noreturn = contract.is_some_and(|c| c.noreturn);
        let local = name.and_then(|n| self.functions[0].contracts.get(n));
        let allocates =
            contract.is_some_and(library::Contract::returns_fresh) || local.is_some_and(|c| c.returns_fresh);
        let moved = local.map_or(BTreeMap::new(), |c| c.moved.clone());
        let promoted = local.map_or(BTreeMap::new(), |c| c.promoted.clone());
        let first = || FixedResult::Argument(Register::ARGUMENTS[0]);
        let returned = contract.filter(|c| c.returns_first_argument()).map(|_| first());
        let result_unused = local.is_some_and(|c| c.result_unused);
        let fixed_bytes = local.map_or(8, |c| c.result_bytes);
        let fixed = local.and_then(|c| c.result.clone()).or(returned);
        let manages_heap = match local {
            Some(local) => local.effect == LocalEffect::Heap,
            None => contract.is_some_and(|c| library::manages_heap(c.name)),
        };
        let quiet = manages_heap && !self.uses_errno() && self.may_assume_defined();
        if quiet {
            self.assume(Assumption::PrivateHeap);
            self.assume(Assumption::ErrnoPrivate);
        }
        let preserves = quiet || local.is_some_and(|c| c.effect <= LocalEffect::Preserves);
        if let Some(contract) = local {
            self.assumptions.extend(contract.assumptions.iter().cloned());
            let name = name.unwrap_or_default().to_string();
            let convention = contract.convention().map(|how| Assumption::Convention { function: name.clone(), how });
            self.assumptions.extend(convention);
            self.assume(if contract.private { Assumption::Callers(name) } else { Assumption::Definition(name) });
        }
        let known_noreturn = known_noreturn || local.is_some_and(|c| c.noreturn);
        let result_range = local.and_then(|c| c.result_range);
        // A pointer that it returns may be one that it was given.
        let forgetful = contract.filter(|c| local.is_none() && c.forgets() && c.result != library::Class::Pointer);
        let forgets = match forgetful {
            Some(row) if library::prints(row) => self.unprinted(row, state),
            Some(_) => Register::ARGUMENTS.into_iter().collect(),
            None => local.map_or(BTreeSet::new(), |c| c.forgets.clone()),
        };
        let typed = || call.and_then(|point| self.functions[0].pointer_calls.get(&point)).cloned();
        let typed = || typed().filter(|s| s.unsupported.is_none()).map(|s| (s, Source::Pointer));
        let declared = name.and_then(|n| self.signature(n)).or_else(typed);
        if name.is_some_and(|n| self.functions[0].adopted.contains(n))
            && let Some(file) = self.functions[0].same_source.clone()
        {
            self.assume(Assumption::SameSource(file));
        }
        let mut shape = Shape {
            allocates,
            moved,
            promoted,
            result_range,
            forgets,
            preserves,
            result_unused,
            refused: self.unplaced(name, call),
            ..Shape::default()
        };
        match declared {
            Some((signature, source)) => {
                let narrow = signature.results.first().is_some_and(|value| value.bytes <= fixed_bytes);
                shape.fixed = fixed.filter(|_| narrow);
                // What the candidate says about returning, the original's code must show.
                let hearsay = matches!(source, Source::Other | Source::Pointer);
                let believed = !hearsay || self.ends_behind(call);
                shape.noreturn = signature.noreturn && believed || known_noreturn;
                shape.variadic = signature.variadic;
                // A call under another name, and one that is no event, has its values elsewhere or by a definition.
                let as_written = call.is_some() && state.renamed.is_none();
                let seen = |context: &mut Self, value| {
                    if as_written { context.as_set_up(state, value, hearsay) } else { *value }
                };
                shape.arguments = signature.arguments.iter().map(|value| seen(self, value)).collect();
                let asked = contract.filter(|_| signature.variadic).and_then(|c| self.asked_for(c, state));
                match (asked, call) {
                    (Some(exact), _) => shape.arguments = exact,
                    (None, Some(call)) if signature.variadic || hearsay && as_written => {
                        let by = match source {
                            _ if signature.variadic => Prototype::Variadic,
                            Source::Pointer => Prototype::Own,
                            _ => Prototype::Open,
                        };
                        self.add_set_up(call, state, &mut shape, by);
                    }
                    (None, Some(call)) if as_written => {
                        let elsewhere = name.is_some_and(|n| !self.functions[0].defined.contains(n));
                        if source == Source::Original && elsewhere && contract.is_none() {
                            let further = self.registers_behind(call, state, &shape.arguments);
                            shape.arguments.extend(further);
                        }
                        self.add_words(call, state, &mut shape);
                    }
                    (None, _) => {}
                }
                shape.results = signature.results;
            }
            None => {
                let result =
                    |register, bytes| Value { place: Place::Register(register), bytes, boolean: false, narrow: None };
                let any = || {
                    vec![
                        result(Register::General(0), 8),
                        result(Register::General(2), 8),
                        result(Register::Vector(0), 16),
                        result(Register::Vector(1), 16),
                    ]
                };
                let declared = name.and_then(|n| self.functions[0].callees.get(n));
                shape.fixed = fixed.filter(|_| fixed_bytes >= 8);
                shape.results = declared.and_then(Signature::changed_results).map_or_else(any, <[Value]>::to_vec);
                (shape.variadic, shape.noreturn) = (true, known_noreturn);
                match call {
                    Some(call) => self.add_set_up(call, state, &mut shape, Prototype::Open),
                    None => shape.refused = Some("a call of a function without a declaration".to_string()),
                }
            }
        }
        shape
    }

    /// Adds everything that the original may have meant to pass beside what is declared.
    fn add_set_up(&mut self, call: PointId, state: &State, shape: &mut Shape, by: Prototype) {
        match self.set_up(call, state, &shape.arguments, by) {
            Some(further) => shape.arguments.extend(further),
            None => shape.refused = Some("stack arguments that cannot be told from the frame".to_string()),
        }
    }

    /// Adds the stack words that the original puts right behind those that are declared: the call was made by another type.
    fn add_words(&mut self, call: PointId, state: &State, shape: &mut Shape) {
        match self.words_behind(call, state, &shape.arguments) {
            Some(words) => shape.arguments.extend(words),
            None => shape.refused = Some("stack arguments that cannot be told from the frame".to_string()),
        }
    }

    /// The values that a call passes, as the world sees them.
    pub fn arguments(&mut self, side: Side, place: u64, state: &State, shape: &Shape) -> Result<Vec<TermId>, Stuck> {
        let mut out = Vec::with_capacity(shape.arguments.len());
        for argument in &shape.arguments {
            let Some(argument) = shape.on_side(argument, side) else { continue };
            let value = self.value_at(state, &argument.as_passed(), side, place)?;
            let value = self.canonical_value(value);
            out.push(self.outward(side, place, value, true)?);
        }
        Ok(out)
    }

    /// The low bytes of a place at a call.
    pub fn value_at(&mut self, state: &State, value: &Value, side: Side, place: u64) -> Result<TermId, Stuck> {
        let whole = match value.place {
            Place::Register(register) => state.get(register),
            Place::Stack(offset) => {
                let Some(depth) = state.stack_depth(self) else {
                    return Err(crate::context::unsupported(side, place, "stack argument at an unknown stack depth"));
                };
                if value.bytes > 64 {
                    return Err(crate::context::unsupported(side, place, "large argument on the stack"));
                }
                let first = depth + if state.tail { 8 } else { 0 };
                let (from, to) = (first + i64::from(offset), first + i64::from(offset) + i64::from(value.bytes));
                let mut bound = self.bindings.iter().filter_map(|b| b.interval(side));
                if bound.any(|i| i.offset < to && i.offset.saturating_add_unsigned(i.size) > from) {
                    return Err(crate::context::unsupported(side, place, "stack argument inside a local object"));
                }
                return Ok(state.frame.read(self.arena, first + i64::from(offset), value.bytes));
            }
        };
        Ok(self.arena.truncate(whole, 8 * value.bytes))
    }

    /// A value of which only `bytes` bytes are defined, as a whole register.
    pub(crate) fn widen(&mut self, side: Side, register: Register, low: TermId) -> TermId {
        let width = register.sort().width().expect("a bit vector");
        let have = self.arena.width(low);
        if have == width {
            return low;
        }
        let high = self.fresh_undefined(&Self::register_hint(side, register), Sort::Bv(width - have));
        self.arena.concat(high, low)
    }

    /// The state after a call: results set, what the callee may clobber unknown.
    pub fn after_call(&mut self, side: Side, state: &mut State, shape: &Shape, results: &[TermId], world: TermId) {
        self.clobber(side, state);
        for (value, result) in shape.results.iter().zip(results) {
            if let Place::Register(register) = value.place {
                let whole = self.widen(side, register, *result);
                state.set(register, whole);
            }
        }
        let outgoing = shape.arguments.iter().filter_map(|a| match a.place {
            Place::Stack(offset) => Some(i64::from(offset) + i64::from(a.bytes.next_multiple_of(8))),
            Place::Register(_) => None,
        });
        let outgoing = outgoing.max().unwrap_or(0);
        let depth = state.stack_depth(self).unwrap_or(i64::MAX / 4);
        let base = self.fresh(&format!("frame.{}", side.name()), Sort::Memory);
        state.frame.forget_below(self.arena, depth, base);
        state.frame.forget_range(self.arena, depth, depth.saturating_add(outgoing));
        state.world = world;
        self.forget_locals_below(side, state, depth);
        state.tail = false;
        state.call_target = None;
        state.renamed = None;
    }

    /// Local objects below the stack pointer are overwritten by the callee.
    fn forget_locals_below(&mut self, side: Side, state: &mut State, depth: i64) {
        for local in 0..self.bindings.len() {
            if self.bindings[local].interval(side).is_none_or(|i| i.offset >= depth) {
                continue;
            }
            let unknown = self.fresh(&format!("local.{}", side.name()), Sort::Memory);
            state.locals[local] = unknown;
            if state.escaped[local] {
                let size = self.bindings[local].interval(side).map_or(0, |i| i.size);
                let (address, length) = (self.local_address(local), self.arena.bv(64, size));
                state.world = self.arena.make(TermOp::Copy, &[state.world, address, unknown, address, length]);
            }
        }
    }

    /// Caller-saved registers and flags become unknown.
    pub fn clobber(&mut self, side: Side, state: &mut State) {
        for register in Register::all() {
            let keep = match register {
                Register::General(_) => register == Register::RSP || Register::CALLEE_SAVED.contains(&register),
                Register::Flag(flag) => flag == program::Flag::Direction,
                Register::FsBase | Register::GsBase => true,
                Register::Vector(_) | Register::VectorHigh(_) => false,
            };
            if !keep {
                let unknown = self.fresh_undefined(&Self::register_hint(side, register), register.sort());
                state.set(register, unknown);
            }
        }
    }

    /// The result number `i` of a call, if the callee's contract says it.
    pub fn known_result(&mut self, side: Side, shape: &Shape, state: &State, i: usize) -> Option<TermId> {
        let value = shape.results.get(i).filter(|_| i == 0)?;
        let whole = match shape.fixed.clone()? {
            FixedResult::Value(fixed) => self.fixed_term(&fixed),
            FixedResult::Argument(register) => match shape.moved.get(&register) {
                Some(None) => return None,
                Some(Some(to)) if side == Side::Candidate => state.get(*to),
                _ => state.get(register),
            },
        };
        Some(self.arena.truncate(whole, 8 * value.bytes))
    }

    /// Fresh values for the results of a call, shared by both sides.
    pub fn fresh_results(&mut self, shape: &Shape, hint: &str) -> Vec<TermId> {
        let mut out = Vec::new();
        for value in &shape.results {
            let result = if value.boolean {
                let bit = self.fresh(hint, Sort::Bv(1));
                self.arena.zext(bit, 8 * value.bytes)
            } else {
                let bits = shape.significant_bits(value);
                let result = self.fresh(hint, Sort::Bv(bits));
                self.arena.zext(result, 8 * value.bytes)
            };
            out.push(result);
        }
        if shape.allocates
            && let Some(var) = out.first().and_then(|r| self.arena.as_var(*r))
        {
            let born = self.tick();
            self.set_birth(var, born);
            self.origins.allocations.insert(var, born);
        }
        out
    }

    /// Is a call's result in the callee's range? `None` if its sort says so.
    pub fn result_in_range(&mut self, shape: &Shape, result: TermId) -> Option<TermId> {
        let width = self.arena.width(result);
        let range = shape.result_range.filter(|r| r.width == width && shape.results.len() == 1)?;
        let holds = self.in_range(result, &range);
        self.arena.as_bool(holds).is_none().then_some(holds)
    }

    /// Is a value in a range of its width?
    pub fn in_range(&mut self, value: TermId, range: &ValueRange) -> TermId {
        let low = self.arena.bv(range.width, range.low);
        let distance = self.arena.sub(value, low);
        let span = self.arena.bv(range.width, range.span);
        self.arena.ule(distance, span)
    }

    /// A value that does not depend on an arena, as a term.
    pub fn fixed_term(&mut self, value: &Fixed) -> TermId {
        match value {
            Fixed::Number(number) => self.arena.bv(64, *number),
            Fixed::Address(name, offset) => {
                let base = self.arena.var(name, Sort::Bv(64));
                self.arena.add_const(base, *offset)
            }
        }
    }

    /// A value with section-relative addresses replaced by those of the objects they fall in.
    pub fn canonical_value(&mut self, value: TermId) -> TermId {
        if self.arena.sort(value) != Sort::Bv(64) {
            return value;
        }
        self.member_address(value, None, &crate::Known::default())
    }
}
