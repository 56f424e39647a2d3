//! What code shows of the values that it sets up for its calls.
//!
//! Forward analysis over the points of one function. For every register and every point: is its content what arrived
//! at entry, what a callee left, or something that was written since the last call; and if written, was it read again, and how?
//! A register that is written and not read before a call was written for the callee: compilers leave no dead writes. One that
//! was read may be a temporary, or an argument that the code also uses itself (`f(++x)`): see `calls/set_up.rs`.
//! Joins take the union: a mark says that it is so on some path.
//!
//! gcc loads each value for one use in unoptimised C. What was loaded from a variable or through a pointer, and was since read just
//! once, to load from there or by a move to where an argument goes, is no argument itself ([`Mark::spent`]). This does not hold
//! of a variable in a register, of what was saved to be used again (both are kept in the frame, or computed with), of inlined
//! bodies ([`program::Surroundings::loads_once`] leaves these out), nor of the address of a store (`memcpy` in place of a call
//! returns where it wrote). clang shares loads: of the size of a type, and of all that it does not select in a hurry.
//!
//! From the same marks: a function, or a call in it, that does not keep to System V as its declaration says
//! ([`foreign_convention`]): `ms_abi`, a static chain in `r10`, a cast. Debug information of gcc does not show these.
//!
//! Trust: full. A mark that is missing here is a register that is not compared.

use program::{Callee, Function, Next, Op, Place, PointId, Register, Signature};
use std::collections::BTreeSet;
use term::{Arena, Linear, TermId};

/// How a register came to its content, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mark(u16);

impl Mark {
    /// A callee may have left anything in it.
    pub const CLOBBERED: Mark = Mark(1);
    /// It is as it arrived.
    pub const ENTRY: Mark = Mark(2);
    /// Written since the last call, and not read.
    pub const UNREAD: Mark = Mark(4);
    /// The same, beside another register that the instruction writes: the remainder of a division.
    pub const ASIDE: Mark = Mark(8);
    /// Written, then stored, or copied to a register that carries no argument.
    pub const KEPT: Mark = Mark(16);
    /// Written, then read for anything else.
    pub const USED: Mark = Mark(32);
    /// Loaded, and read once since, as an address to load from.
    const ADDRESS: Mark = Mark(64);
    /// Not just loaded, or read for something else, or read again.
    const HELD: Mark = Mark(128);
    /// Written by a plain move from another register.
    const COPY: Mark = Mark(256);
    /// Written otherwise than by such a move.
    const PLAIN: Mark = Mark(512);
    /// Loaded, and read once since, by a move to an argument register: the first of six bits.
    const FIRST_MOVE: u16 = 1024;
    const MOVED: Mark = Mark(63 * Mark::FIRST_MOVE);
    /// Written since the last call.
    pub const WRITTEN: Mark = Mark(4 | 8 | 16 | 32);

    /// Is one of these set?
    pub fn any(self, of: Mark) -> bool {
        self.0 & of.0 != 0
    }

    /// Both.
    pub const fn or(self, other: Mark) -> Mark {
        Mark(self.0 | other.0)
    }

    /// Was it loaded for one use that has been made of it, whichever way the code came? Which one?
    pub fn spent(self) -> Option<Spent> {
        let other = Mark::HELD.or(Mark::ENTRY).or(Mark::UNREAD).or(Mark::ASIDE);
        let uses = self.0 & Mark::ADDRESS.or(Mark::MOVED).0;
        if self.any(other) || !uses.is_power_of_two() {
            return None;
        }
        let to = |i: &usize| uses == Mark::FIRST_MOVE << i;
        Some((0..Register::ARGUMENTS.len()).find(to).map_or(Spent::Address, |i| Spent::Moved(Register::ARGUMENTS[i])))
    }

    /// Is it just what was moved there from another register, and not read, whichever way the code came?
    pub fn is_moved(self) -> bool {
        let all = Mark::WRITTEN.or(Mark::CLOBBERED).or(Mark::ENTRY).or(Mark::COPY).0;
        self.0 & all == Mark::UNREAD.or(Mark::COPY).0 && !self.any(Mark::PLAIN)
    }

    fn read(self, how: Mark, purpose: Purpose) -> Mark {
        if !self.any(Mark::WRITTEN) {
            return self;
        }
        let first = !self.any(Mark::ADDRESS.or(Mark::MOVED).or(Mark::HELD));
        let use_of_it = match purpose {
            Purpose::Address if first => Mark::ADDRESS,
            Purpose::Move(i) if first => Mark(Mark::FIRST_MOVE << i),
            _ => Mark::HELD,
        };
        Mark(self.0 & !(Mark::UNREAD.0 | Mark::ASIDE.0) | how.0 | use_of_it.0)
    }
}

/// The one thing that a loaded value was for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spent {
    /// A load.
    Address,
    /// An argument in this register, to which it was moved.
    Moved(Register),
}

/// What a register is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// For an address to load from.
    Address,
    /// To be moved to an argument register.
    Move(usize),
    Other,
}

/// Marks of all registers.
pub(crate) type Marks = [Mark; Register::COUNT];

/// The general registers that neither carry arguments nor are preserved: `r10` and `r11`.
const SCRATCH: [Register; 2] = [Register::General(10), Register::General(11)];

/// Marks before each point's operations.
pub(crate) struct Evidence {
    entries: Vec<Option<Marks>>,
    /// The first read of a register as it arrived, by an operation that does not write it: place, register, is it stored?
    arrivals: BTreeSet<(u64, Register, bool)>,
}

impl Evidence {
    /// Looks at a function.
    pub fn of(arena: &Arena, function: &Function) -> Evidence {
        let mut out = Evidence { entries: vec![None; function.points.len()], arrivals: BTreeSet::new() };
        let mut open = BTreeSet::from([Function::ENTRY]);
        if let Some(first) = out.entries.first_mut() {
            *first = Some([Mark::ENTRY; Register::COUNT]);
        }
        while let Some(id) = open.pop_first() {
            let Some(mut marks) = out.entries.get(id.index()).copied().flatten() else { continue };
            out.point(arena, function, id, &mut marks);
            let targets: Vec<PointId> = match &function.point(id).next {
                Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
                Next::Call(call) => {
                    for register in Register::all().filter(|r| !is_preserved(*r)) {
                        marks[register.index()] = Mark::CLOBBERED;
                    }
                    call.returns.into_iter().collect()
                }
                Next::Return | Next::Fault(_) => continue,
            };
            for target in targets {
                let Some(there) = out.entries.get_mut(target.index()) else { continue };
                let joined = match there {
                    None => marks,
                    Some(there) => std::array::from_fn(|i| there[i].or(marks[i])),
                };
                if *there != Some(joined) {
                    *there = Some(joined);
                    open.insert(target);
                }
            }
        }
        out
    }

    /// Marks behind a point's operations: at its call or return.
    pub fn behind(&self, arena: &Arena, function: &Function, id: PointId) -> Marks {
        let mut marks = self.entries.get(id.index()).copied().flatten().unwrap_or([Mark::ENTRY; Register::COUNT]);
        let mut ignored = Evidence { entries: Vec::new(), arrivals: BTreeSet::new() };
        ignored.point(arena, function, id, &mut marks);
        // A register that is called through is compared as the address called.
        if let Next::Call(call) = &function.point(id).next
            && let Callee::Pointer(target) = &call.callee
            && let Some(register) = arena.as_var(*target).and_then(Register::of_var)
        {
            marks[register.index()] = marks[register.index()].read(Mark::USED, Purpose::Other);
        }
        marks
    }

    fn point(&mut self, arena: &Arena, function: &Function, id: PointId, marks: &mut Marks) {
        let ops = &function.point(id).ops;
        let mut at = 0;
        // Operations of one instruction happen together.
        while at < ops.len() {
            let place = ops[at].0;
            let end = ops[at..].iter().position(|(p, _)| *p != place).map_or(ops.len(), |n| at + n);
            self.instruction(arena, function, &ops[at..end], marks);
            at = end;
        }
    }

    fn instruction(&mut self, arena: &Arena, function: &Function, ops: &[(u64, Op)], marks: &mut Marks) {
        let written: BTreeSet<Register> = ops.iter().filter_map(|(_, op)| target(op)).collect();
        let general = written.iter().filter(|r| matches!(r, Register::General(_)) && **r != Register::RSP).count();
        for (place, op) in ops {
            let (terms, how, purpose): (Vec<TermId>, Mark, Purpose) = match op {
                Op::Set { value, .. } => (vec![*value], how_set(arena, op, *value), purpose_set(arena, op, *value)),
                Op::Load { address, .. } => (vec![*address], Mark::USED, Purpose::Address),
                Op::Fault { condition, .. } => (vec![*condition], Mark::USED, Purpose::Other),
                Op::Store { address, value } => {
                    self.read(arena, *place, *address, (Mark::USED, Purpose::Other), &written, marks);
                    (vec![*value], Mark::KEPT, Purpose::Other)
                }
                Op::Unknown { .. } => (Vec::new(), Mark::USED, Purpose::Other),
            };
            for term in terms {
                self.read(arena, *place, term, (how, purpose), &written, marks);
            }
            if let Some(register) = target(op) {
                let held = match op {
                    Op::Set { value, .. } if is_move(arena, *value) => Mark::HELD.or(Mark::COPY),
                    _ if is_loaded(arena, function, ops, op) => Mark::PLAIN,
                    _ => Mark::HELD.or(Mark::PLAIN),
                };
                marks[register.index()] = match op {
                    Op::Unknown { .. } => Mark::CLOBBERED,
                    _ if general > 1 && matches!(register, Register::General(_)) => Mark::ASIDE.or(held),
                    _ => Mark::UNREAD.or(held),
                };
            }
        }
    }

    fn read(
        &mut self,
        arena: &Arena,
        place: u64,
        term: TermId,
        (how, purpose): (Mark, Purpose),
        written: &BTreeSet<Register>,
        marks: &mut Marks,
    ) {
        for register in arena.free_vars(term).into_iter().filter_map(Register::of_var) {
            let mark = &mut marks[register.index()];
            if mark.any(Mark::ENTRY) && !written.contains(&register) {
                self.arrivals.insert((place, register, how == Mark::KEPT));
            }
            *mark = mark.read(how, purpose);
        }
    }
}

/// Does an operation of an instruction set a general register to what it loads (four bytes, or eight) from a variable that debug
/// information describes, from a named object, or through a pointer? A slot without a name may hold what was saved to be used again.
fn is_loaded(arena: &Arena, function: &Function, ops: &[(u64, Op)], op: &Op) -> bool {
    let Some(Register::General(_)) = target(op) else { return false };
    let load = match op {
        Op::Load { .. } => Some(op),
        Op::Set { value, .. } => {
            let whole = if matches!(arena.op(*value), term::Op::Zext(_)) { arena.arg(*value, 0) } else { *value };
            let loads = |var: term::VarId| ops.iter().map(|(_, op)| op).find(|op| sets(op, var));
            arena.as_var(whole).filter(|var| Register::of_var(*var).is_none()).and_then(loads)
        }
        _ => None,
    };
    let Some(Op::Load { address, bytes: 4 | 8, .. }) = load else { return false };
    let sum = Linear::of(arena, *address);
    let in_frame = |(atom, _): &(TermId, _)| {
        let register = arena.as_var(*atom).and_then(Register::of_var);
        matches!(register, Some(Register::RSP | Register::RBP))
    };
    if !sum.terms.iter().any(in_frame) {
        return true;
    }
    // Behind `push rbp; mov rbp, rsp` the entry stack pointer is eight bytes above `rbp`.
    let [(base, one)] = sum.terms[..] else { return false };
    let from = (sum.constant.low() as i64).saturating_sub(8);
    let inside = |local: &program::Local| {
        let end = local.offset.saturating_add_unsigned(local.size);
        local.offset <= from && from.saturating_add(4) <= end
    };
    let rbp = arena.as_var(base).and_then(Register::of_var) == Some(Register::RBP) && one.to_u64() == Some(1);
    rbp && function.locals.iter().any(inside)
}

fn sets(op: &Op, var: term::VarId) -> bool {
    matches!(op, Op::Set { var: set, .. } | Op::Load { var: set, .. } | Op::Unknown { var: set } if *set == var)
}

/// Is a value a general register, or its lower half?
fn is_move(arena: &Arena, value: TermId) -> bool {
    let held = match arena.op(value) {
        term::Op::Zext(_) if is_part(arena, arena.arg(value, 0)) => arena.arg(arena.arg(value, 0), 0),
        _ => value,
    };
    matches!(arena.as_var(held).and_then(Register::of_var), Some(Register::General(_)))
}

fn purpose_set(arena: &Arena, op: &Op, value: TermId) -> Purpose {
    let to = target(op).and_then(|to| Register::ARGUMENTS.iter().position(|argument| *argument == to));
    to.filter(|_| is_move(arena, value)).map_or(Purpose::Other, Purpose::Move)
}

fn target(op: &Op) -> Option<Register> {
    match op {
        Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } => Register::of_var(*var),
        Op::Store { .. } | Op::Fault { .. } => None,
    }
}

fn is_preserved(register: Register) -> bool {
    register == Register::RSP || Register::CALLEE_SAVED.contains(&register)
}

/// Does a register carry arguments?
pub(crate) fn carries_arguments(register: Register) -> bool {
    Register::ARGUMENTS.contains(&register) || matches!(register, Register::Vector(0..8) | Register::VectorHigh(0..8))
}

/// How an assignment reads the registers in its value: a plain copy keeps it, and so does a temporary that is not looked into.
fn how_set(arena: &Arena, op: &Op, value: TermId) -> Mark {
    let Some(to) = target(op) else { return Mark::KEPT };
    let copied = match arena.free_vars(value)[..] {
        [var] if matches!(to, Register::General(_) | Register::Vector(_)) => {
            let whole = arena.op(value) == term::Op::Var(var);
            whole || matches!(arena.op(value), term::Op::Zext(_)) && is_part(arena, arena.arg(value, 0))
        }
        _ => false,
    };
    match copied {
        true if !carries_arguments(to) => Mark::KEPT,
        _ => Mark::USED,
    }
}

fn is_part(arena: &Arena, term: TermId) -> bool {
    matches!(arena.op(term), term::Op::Extract { lo: 0, .. }) && arena.as_var(arena.arg(term, 0)).is_some()
}

/// What shows that the function, or one of its calls, does not keep to System V as the declarations say: where, and what.
pub(crate) fn foreign_convention(arena: &Arena, function: &Function, evidence: &Evidence) -> Option<(u64, String)> {
    let own = function.signature.as_ref().filter(|s| s.unsupported.is_none() && !s.variadic);
    for (place, register, stored) in &evidence.arrivals {
        let named = |s: &Signature| s.arguments.iter().any(|a| a.place == Place::Register(*register));
        let foreign = match register {
            Register::General(10 | 11) => true,
            // A stored register may only make room on the stack; but who saves these two, preserves them.
            Register::General(6 | 7) => own.is_some_and(|s| !named(s)),
            Register::General(1 | 2 | 8 | 9) => own.is_some_and(|s| !named(s)) && !stored,
            Register::Vector(6..8) => *stored && own.is_some_and(|s| !named(s)),
            Register::Vector(8..16) => *stored,
            _ => false,
        };
        if foreign {
            return Some((*place, format!("{} as it arrives (ms_abi or a static chain)", register.name())));
        }
    }
    if let Some((place, register)) = unread_kept_register(arena, function, evidence) {
        return Some((place, format!("{} set up for a call", register.name())));
    }
    if let Some((place, register)) = restored_register(function, evidence) {
        return Some((place, format!("{} as it arrives, and restored", register.name())));
    }
    for (i, point) in function.points.iter().enumerate() {
        let Next::Call(call) = &point.next else { continue };
        let id = PointId(i as u32);
        if let Callee::Pointer(target) = &call.callee
            && arena.as_var(*target).and_then(Register::of_var) == Some(SCRATCH[0])
            && !function.is_unoptimised()
        {
            return Some((point.last_address(), "a call through r10 (which may be a static chain)".to_string()));
        }
        if evidence.entries.get(i).is_none_or(Option::is_none) {
            continue;
        }
        let marks = evidence.behind(arena, function, id);
        if let Some(chain) = SCRATCH.into_iter().find(|r| marks[r.index()].any(Mark::UNREAD)) {
            return Some((point.last_address(), format!("{} set up for a call (a static chain)", chain.name())));
        }
        let Callee::Named(name) = &call.callee else { continue };
        let own = function.own_declaration(name);
        // What nobody declares and a row of the library describes.
        let row =
            || library::contract(name).filter(|_| !function.defined.contains(name)).map(library::Contract::signature);
        let declared = own.cloned().or_else(row).filter(|s| s.unsupported.is_none() && !s.variadic);
        let Some(declared) = declared else { continue };
        let named = |r: &Register| declared.arguments.iter().any(|a| a.place == Place::Register(*r));
        let described =
            function.passed.get(&id).and_then(|passed| passed.iter().find(|r| carries_arguments(**r) && !named(r)));
        if let Some(register) = described.copied().or_else(|| beyond(&declared, &marks)) {
            let what = format!("call of {name}: it is given {}, which its declaration does not name", register.name());
            return Some((point.last_address(), what));
        }
    }
    None
}

/// A register that is set up for a call though its declaration does not name it.
fn beyond(declared: &Signature, marks: &Marks) -> Option<Register> {
    let named = |register: &Register| declared.arguments.iter().any(|a| a.place == Place::Register(*register));
    let general = Register::ARGUMENTS.into_iter();
    // What an instruction writes beside something else counts only where something that is declared is not set up.
    let complete = general.clone().filter(named).all(|r| marks[r.index()].any(Mark::WRITTEN));
    let evident = if complete { Mark::UNREAD } else { Mark::UNREAD.or(Mark::ASIDE) };
    general.chain((0..8).map(Register::Vector)).find(|r| !named(r) && marks[r.index()].any(evident))
}

/// A register that calls keep, written for nobody in the function: a callee looks at it (`swiftcall`, a variable in a register).
fn unread_kept_register(arena: &Arena, function: &Function, evidence: &Evidence) -> Option<(u64, Register)> {
    let mask = |var: term::VarId| match Register::of_var(var) {
        // Frame pointers are set up where nobody needs them.
        Some(register) if Register::CALLEE_SAVED.contains(&register) && register != Register::RBP => {
            1u64 << register.index()
        }
        _ => 0,
    };
    let reads = |term: TermId| arena.free_vars(term).into_iter().fold(0, |all, var| all | mask(var));
    let all = Register::CALLEE_SAVED.iter().fold(0u64, |all, r| all | 1 << r.index());
    let out = |next: &Next, live: &[u64]| match next {
        Next::Edges(edges) => edges.iter().fold(0, |l, e| l | reads(e.guard) | live[e.target.index()]),
        Next::Call(call) => {
            let target = if let Callee::Pointer(term) = &call.callee { reads(*term) } else { 0 };
            call.returns.map_or(all, |next| live[next.index()]) | target
        }
        Next::Return | Next::Fault(_) => all,
    };
    let step = |op: &Op, live: u64| match op {
        Op::Set { var, value } => live & !mask(*var) | reads(*value),
        Op::Load { var, address, .. } => live & !mask(*var) | reads(*address),
        Op::Store { address, value } => live | reads(*address) | reads(*value),
        Op::Unknown { var } => live & !mask(*var),
        Op::Fault { condition, .. } => live | reads(*condition),
    };
    // Registers that a callee finds as they are here, on some path.
    let found = |next: &Next, ahead: &[u64]| match next {
        Next::Edges(edges) => edges.iter().fold(0, |found, e| found | ahead[e.target.index()]),
        Next::Call(_) => all,
        Next::Return | Next::Fault(_) => 0,
    };
    let written = |op: &Op| match op {
        Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } => mask(*var),
        Op::Store { .. } | Op::Fault { .. } => 0,
    };
    let (mut live, mut ahead) = (vec![0u64; function.points.len()], vec![0u64; function.points.len()]);
    let mut changed = true;
    while changed {
        changed = false;
        for (i, point) in function.points.iter().enumerate().rev() {
            let here = point.ops.iter().rev().fold(out(&point.next, &live), |live, (_, op)| step(op, live));
            let passed = point.ops.iter().fold(found(&point.next, &ahead), |passed, (_, op)| passed & !written(op));
            changed |= live[i] != here || ahead[i] != passed;
            (live[i], ahead[i]) = (here, passed);
        }
    }
    for (i, point) in function.points.iter().enumerate() {
        if evidence.entries.get(i).is_none_or(Option::is_none) {
            continue;
        }
        let (mut here, mut passed) = (out(&point.next, &live), found(&point.next, &ahead));
        for (place, op) in point.ops.iter().rev() {
            if let Op::Set { var, .. } | Op::Load { var, .. } = op
                && mask(*var) & !here & passed != 0
                && let Some(register) = Register::of_var(*var)
            {
                return Some((*place, register));
            }
            here = step(op, here);
            passed &= !written(op);
        }
    }
    None
}

/// A register that callees may overwrite, saved as it arrives and taken back from the stack: its callers rely on that.
fn restored_register(function: &Function, evidence: &Evidence) -> Option<(u64, Register)> {
    let calls = function.points.iter().any(|point| matches!(point.next, Next::Call(_)));
    let taken_back = |register: Register| {
        function.points.iter().any(|point| {
            let at = |place: u64| point.ops.iter().filter(move |(at, _)| *at == place).map(|(_, op)| op);
            let pops = |place: u64| {
                at(place).any(|op| target(op) == Some(Register::RSP))
                    && at(place).any(|op| matches!(op, Op::Load { .. }))
            };
            point.ops.iter().any(|(place, op)| target(op) == Some(register) && pops(*place))
        })
    };
    // Room on the stack is made with `push rax`, too.
    let saved = |register: Register| match register {
        Register::General(0) => !calls,
        Register::General(1 | 2 | 6..=11) => true,
        _ => false,
    };
    let mut stored = evidence.arrivals.iter().filter(|(_, register, stored)| *stored && saved(*register));
    stored.find(|(_, register, _)| taken_back(*register)).map(|(place, register, _)| (*place, *register))
}
