//! Loops in strides: many iterations of an innermost loop whose control is the same in each.
//!
//! One iteration is followed from the loop's head back to it without data: integers and addresses are linear in the number of the
//! iteration ([`Linear`]), and every rule narrows the [`Span`] of iterations for which the walk is right: the same branches, no overflow,
//! addresses inside their objects. What a register gains in an iteration is guessed from the first and must come out of the walk again, so
//! the walk is right for the next iteration if it is for this one. What is left to do in each iteration are the instructions that touch data: they
//! run in their order on the same registers and cells, by the same code as anywhere else ([`Machine::step`], [`Machine::load_cell`]).
//!
//! Trust: full. A span that is too long would be another program. The way out, if anything is not as simple, is to do nothing: the iteration then
//! runs as any other.

use crate::calls::is_mathematical;
use crate::datum::{Datum, mask, signed};
use crate::integers::fold;
use crate::linear::{Linear, Span};
use crate::machine::{Machine, Run};
use crate::memory::is_float;
use crate::module::{Callee, Comparison, Conversion, Edge, End, Function, Inst, IntOp, Kind};
use crate::region::Slot;
use updates::{Domain, FaultKind};

/// Most blocks of an iteration.
const MOST_BLOCKS: usize = 48;
/// Most iterations of a stride.
const LONGEST: u64 = 1 << 40;
/// Iterations between looks at the clock.
const LOOK: u64 = 4096;
/// How often a loop may disappoint before nobody tries any more.
const HOPE: u8 = 8;
/// Walks until guesses hold.
const WALKS: usize = 5;

/// What a register holds in all iterations of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    Number(Linear),
    /// Region, and bytes from its start.
    Place(u32, Linear),
    /// What the register itself says.
    Data,
}

/// What is guessed of a register that an iteration hands on to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guess {
    Step(i64),
    Data,
}

/// What is known of a block as the head of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    hope: u8,
    guesses: Vec<(u32, Guess)>,
}

/// Something to do in each iteration.
#[derive(Clone, Copy, Debug)]
enum Action<'m> {
    /// A number that is needed beside data.
    Number {
        to: u32,
        value: Linear,
        bits: u8,
    },
    Place {
        to: u32,
        region: u32,
        at: Linear,
    },
    Load {
        to: u32,
        access: Access,
        truth: bool,
    },
    Store {
        from: u32,
        access: Access,
    },
    Step(&'m Inst),
    Pass(&'m Edge),
}

/// A cell, moving.
#[derive(Clone, Copy, Debug)]
struct Access {
    region: u32,
    at: Linear,
    kind: Kind,
    /// First cell, and cells from one iteration to the next.
    index: usize,
    cells: isize,
}

/// Why there is no stride.
enum Stop {
    /// There never will be.
    Never,
    /// Not this time.
    NotNow,
    /// Other guesses may help.
    Again,
}

type Walked<T> = Result<T, Stop>;

/// An iteration as it was followed.
#[derive(Debug)]
pub(crate) struct Walk<'m> {
    span: Span,
    actions: Vec<Action<'m>>,
    /// What registers hold that were read or set: number of the walk, content, was it set.
    registers: Vec<(u64, Holds, bool)>,
    number: u64,
    set: Vec<u32>,
    /// What the walk took registers to hold at the head.
    taken: Vec<(u32, Holds)>,
    blocks: Vec<u32>,
    /// Regions that were read as if they stay as they are, those that are stored to, and those that are known to change.
    steady: Vec<u32>,
    stored: Vec<u32>,
    changing: Vec<u32>,
}

impl Walk<'_> {
    pub fn new() -> Self {
        Walk {
            span: Span(LONGEST),
            actions: Vec::new(),
            registers: Vec::new(),
            number: 0,
            set: Vec::new(),
            taken: Vec::new(),
            blocks: Vec::new(),
            steady: Vec::new(),
            stored: Vec::new(),
            changing: Vec::new(),
        }
    }

    fn start(&mut self, registers: usize) {
        self.span = Span(LONGEST);
        self.number += 1;
        if self.registers.len() < registers {
            self.registers.resize(registers, (0, Holds::Data, false));
        }
        self.actions.clear();
        self.set.clear();
        self.taken.clear();
        self.blocks.clear();
        self.steady.clear();
        self.stored.clear();
    }

    fn set(&mut self, register: u32, holds: Holds) {
        let entry = &mut self.registers[register as usize];
        if entry.0 != self.number || !entry.2 {
            self.set.push(register);
        }
        *entry = (self.number, holds, true);
    }

    fn was_set(&self, register: u32) -> bool {
        let entry = &self.registers[register as usize];
        entry.0 == self.number && entry.2
    }
}

/// The blocks that may be heads of loops: those that a later one leads to.
pub(crate) fn heads(function: &Function) -> Vec<Head> {
    let mut heads = vec![Head::default(); function.blocks.len()];
    for (number, block) in function.blocks.iter().enumerate() {
        let edges: &[Edge] = match &block.end {
            End::Jump(edge) => std::slice::from_ref(edge),
            End::Branch(_, edges) => edges.as_slice(),
            End::Switch(_, _, edges) => edges,
            End::Return(_) | End::Unreachable => &[],
        };
        for edge in edges.iter().filter(|edge| edge.to as usize <= number) {
            heads[edge.to as usize].hope = HOPE;
        }
    }
    heads
}

impl<'m, D: Domain> Machine<'m, D> {
    /// Is it worth trying at this block?
    #[inline]
    pub(crate) fn may_stride(&self, block: u32) -> bool {
        self.heads[self.number as usize].get(block as usize).is_some_and(|head| head.hope > 0)
    }

    fn head(&mut self, block: u32) -> &mut Head {
        &mut self.heads[self.number as usize][block as usize]
    }

    /// Runs as many iterations of the loop that starts at the current block as are alike.
    pub(crate) fn stride(&mut self, stop: Option<u32>) -> Run<()> {
        let head = self.block;
        if stop == Some(head) {
            return Ok(());
        }
        let mut walk = std::mem::replace(&mut self.walk, Walk::new());
        walk.changing.clear();
        let mut ready = false;
        for _ in 0..WALKS {
            match self.follow(&mut walk, head, stop) {
                Ok(()) => ready = true,
                Err(Stop::Again) => continue,
                Err(Stop::NotNow) => {}
                Err(Stop::Never) => self.head(head).hope = 0,
            }
            break;
        }
        let hope = &mut self.head(head).hope;
        *hope = if ready && walk.span.0 >= 4 { HOPE } else { hope.saturating_sub(1) };
        let done = if ready && walk.span.0 >= 2 { self.repeat(&mut walk, head) } else { Ok(()) };
        self.walk = walk;
        done
    }

    /// What a register holds.
    fn holds(&self, walk: &mut Walk<'m>, register: u32, head: u32) -> Walked<Holds> {
        let (number, holds, _) = walk.registers[register as usize];
        if number == walk.number {
            return Ok(holds);
        }
        let guesses = &self.heads[self.number as usize][head as usize].guesses;
        let guess = guesses.iter().find(|(of, _)| *of == register).map(|(_, guess)| *guess);
        let step = match guess {
            None => 0,
            Some(Guess::Step(step)) => step,
            Some(Guess::Data) => {
                walk.registers[register as usize] = (walk.number, Holds::Data, false);
                walk.taken.push((register, Holds::Data));
                return Ok(Holds::Data);
            }
        };
        let holds = match (self.get(register), self.function.registers[register as usize]) {
            (Datum::Bits(known), Kind::Int(bits)) => {
                let start = signed(known, bits);
                Holds::Number(walk.span.fit(start.into(), step.into(), bits).ok_or(Stop::NotNow)?)
            }
            (Datum::Place(region, start), Kind::Pointer) => {
                Holds::Place(region, walk.span.fit(start.into(), step.into(), 64).ok_or(Stop::NotNow)?)
            }
            _ => Holds::Data,
        };
        walk.registers[register as usize] = (walk.number, holds, false);
        walk.taken.push((register, holds));
        Ok(holds)
    }

    /// Follows one iteration.
    fn follow(&mut self, walk: &mut Walk<'m>, head: u32, stop: Option<u32>) -> Walked<()> {
        let function = self.function;
        walk.start(function.registers.len());
        let mut at = head;
        loop {
            walk.blocks.push(at);
            let block = &function.blocks[at as usize];
            for inst in &block.code {
                self.follow_inst(walk, head, inst)?;
            }
            let edge = match &block.end {
                End::Jump(edge) => edge,
                End::Branch(cond, edges) => match self.holds(walk, *cond, head)? {
                    Holds::Number(Linear { start, step: 0 }) => &edges[usize::from(start & 1 == 0)],
                    _ => return Err(Stop::Never),
                },
                End::Switch(on, cases, edges) => {
                    let (Holds::Number(Linear { start, step: 0 }), Kind::Int(bits)) =
                        (self.holds(walk, *on, head)?, function.registers[*on as usize])
                    else {
                        return Err(Stop::Never);
                    };
                    let found = cases.iter().position(|case| *case == start as u64 & mask(bits));
                    &edges[found.unwrap_or(cases.len())]
                }
                End::Return(_) | End::Unreachable => return Err(Stop::NotNow),
            };
            self.follow_edge(walk, head, edge)?;
            if edge.to == head {
                break;
            }
            if Some(edge.to) == stop || walk.blocks.contains(&edge.to) {
                return Err(Stop::NotNow);
            }
            if walk.blocks.len() > MOST_BLOCKS {
                return Err(Stop::Never);
            }
            at = edge.to;
        }
        self.close(walk, head)
    }

    /// Holds what the next iteration starts with against what was guessed.
    fn close(&mut self, walk: &mut Walk<'m>, head: u32) -> Walked<()> {
        let mut again = false;
        for at in 0..walk.taken.len() {
            let (register, taken) = walk.taken[at];
            // What nobody sets stays as it is, whatever another way through the loop did to it.
            let left = match (walk.was_set(register), taken) {
                (true, _) => walk.registers[register as usize].1,
                (false, Holds::Number(first)) => Holds::Number(Linear::fixed(first.start)),
                (false, Holds::Place(region, first)) => Holds::Place(region, Linear::fixed(first.start)),
                (false, Holds::Data) => continue,
            };
            let guess = match (taken, left) {
                (Holds::Number(first), Holds::Number(next)) => guess(first, next),
                (Holds::Place(region, first), Holds::Place(other, next)) if region == other => guess(first, next),
                (Holds::Data, _) => None,
                _ => Some(Guess::Data),
            };
            let Some(guess) = guess else {
                // The next iteration may find it in the register.
                self.provide(walk, head, register)?;
                continue;
            };
            let guesses = &mut self.head(head).guesses;
            match guesses.iter_mut().find(|(of, _)| *of == register) {
                // It does not grow evenly.
                Some((_, old)) if *old == guess => return Err(Stop::NotNow),
                Some((_, old)) => *old = guess,
                None => guesses.push((register, guess)),
            }
            again = true;
        }
        if again { Err(Stop::Again) } else { Ok(()) }
    }

    fn follow_edge(&mut self, walk: &mut Walk<'m>, head: u32, edge: &'m Edge) -> Walked<()> {
        let mut read = Vec::with_capacity(edge.moves.len());
        for (_, from) in &edge.moves {
            read.push(self.holds(walk, *from, head)?);
        }
        if read.contains(&Holds::Data) {
            for (_, from) in &edge.moves {
                self.provide(walk, head, *from)?;
            }
            walk.actions.push(Action::Pass(edge));
        }
        for ((to, _), holds) in edge.moves.iter().zip(read) {
            walk.set(*to, holds);
        }
        Ok(())
    }

    /// Sees to it that the register itself holds what it should, for an instruction that works with data.
    fn provide(&mut self, walk: &mut Walk<'m>, head: u32, register: u32) -> Walked<()> {
        let holds = self.holds(walk, register, head)?;
        let there = !walk.was_set(register);
        match (holds, self.function.registers[register as usize]) {
            (Holds::Data, _) => {}
            (Holds::Number(Linear { step: 0, .. }) | Holds::Place(_, Linear { step: 0, .. }), _) if there => {}
            (Holds::Number(value), Kind::Int(bits)) => {
                walk.actions.push(Action::Number { to: register, value, bits });
            }
            (Holds::Place(region, at), Kind::Pointer) => walk.actions.push(Action::Place { to: register, region, at }),
            _ => return Err(Stop::Never),
        }
        Ok(())
    }

    /// An instruction that works with data.
    fn on_data(&mut self, walk: &mut Walk<'m>, head: u32, inst: &'m Inst, read: &[u32], to: u32) -> Walked<()> {
        for register in read {
            self.provide(walk, head, *register)?;
        }
        walk.actions.push(Action::Step(inst));
        walk.set(to, Holds::Data);
        Ok(())
    }

    fn follow_inst(&mut self, walk: &mut Walk<'m>, head: u32, inst: &'m Inst) -> Walked<()> {
        match *inst {
            Inst::Read { to, from } | Inst::Write { to, from } => match self.holds(walk, from, head)? {
                Holds::Data => self.on_data(walk, head, inst, &[from], to)?,
                holds => walk.set(to, holds),
            },
            Inst::Forget { to } => self.on_data(walk, head, inst, &[], to)?,
            Inst::Load { to, at, kind, truth } => self.follow_load(walk, head, (to, at), kind, truth)?,
            Inst::Store { at, from, kind } => {
                let access = self.access(walk, head, at, kind)?;
                if walk.steady.contains(&access.region) {
                    walk.changing.push(access.region);
                    return Err(Stop::Again);
                }
                self.provide(walk, head, from)?;
                walk.stored.push(access.region);
                walk.actions.push(Action::Store { from, access });
            }
            Inst::Address { to, base, offset, ref terms } => {
                let Holds::Place(region, at) = self.holds(walk, base, head)? else { return Err(Stop::Never) };
                // Neither the parts nor the sums leave the type.
                let mut sum = Linear::fixed(offset);
                for (register, bits, scale) in terms {
                    let Holds::Number(index) = self.holds(walk, *register, head)? else { return Err(Stop::Never) };
                    if self.function.registers[*register as usize] != Kind::Int(*bits) {
                        return Err(Stop::Never);
                    }
                    let part = walk.span.integer(IntOp::Mul, 64, index, Linear::fixed(*scale)).ok_or(Stop::NotNow)?;
                    sum = walk.span.integer(IntOp::Add, 64, sum, part).ok_or(Stop::NotNow)?;
                }
                let at = walk.span.integer(IntOp::Add, 64, at, sum).ok_or(Stop::NotNow)?;
                walk.set(to, Holds::Place(region, at));
            }
            Inst::Integer { to, op, bits, exact, a, b } => {
                match (self.holds(walk, a, head)?, self.holds(walk, b, head)?) {
                    (Holds::Number(x), Holds::Number(y)) if x.step == 0 && y.step == 0 => {
                        let [x, y] = [x, y].map(|n| n.start as u64 & mask(bits));
                        let value = fold(op, bits, exact, x, y).map_err(|_| Stop::NotNow)?;
                        walk.set(to, Holds::Number(Linear::fixed(signed(value, bits))));
                    }
                    (Holds::Number(x), Holds::Number(y)) => {
                        let value = walk.span.integer(op, bits, x, y).ok_or(Stop::NotNow)?;
                        walk.set(to, Holds::Number(value));
                    }
                    (Holds::Place(..), _) | (_, Holds::Place(..)) => return Err(Stop::Never),
                    _ => self.on_data(walk, head, inst, &[a, b], to)?,
                }
            }
            Inst::Compare { to, how, kind, a, b } => {
                let (x, y) = (self.holds(walk, a, head)?, self.holds(walk, b, head)?);
                match (x, y, kind) {
                    (Holds::Number(x), Holds::Number(y), Kind::Int(bits)) => {
                        let truth = self.follow_compare(walk, how, bits, x, y)?;
                        walk.set(to, Holds::Number(truth));
                    }
                    (Holds::Place(..), ..) | (_, Holds::Place(..), _) => return Err(Stop::Never),
                    _ => self.on_data(walk, head, inst, &[a, b], to)?,
                }
            }
            Inst::Convert { to, how, from, into, a } => {
                let holds = self.holds(walk, a, head)?;
                match (how, holds) {
                    (Conversion::SignExtend | Conversion::ZeroExtend | Conversion::Truncate, Holds::Number(number)) => {
                        let made = extended(&mut walk.span, how, from.bits(), into.bits(), number);
                        walk.set(to, Holds::Number(made.ok_or(Stop::NotNow)?));
                    }
                    (_, Holds::Place(..)) => return Err(Stop::Never),
                    _ => self.on_data(walk, head, inst, &[a], to)?,
                }
            }
            Inst::Float { to, a, b, .. } => self.on_data(walk, head, inst, &[a, b], to)?,
            Inst::Negate { to, a, .. } => self.on_data(walk, head, inst, &[a], to)?,
            Inst::Select { to, cond, a, b, .. } => match self.holds(walk, cond, head)? {
                Holds::Number(Linear { start, step: 0 }) => {
                    let chosen = if start & 1 == 1 { a } else { b };
                    match self.holds(walk, chosen, head)? {
                        Holds::Data => self.on_data(walk, head, inst, &[cond, a, b], to)?,
                        holds => walk.set(to, holds),
                    }
                }
                Holds::Data => self.on_data(walk, head, inst, &[cond, a, b], to)?,
                _ => return Err(Stop::Never),
            },
            Inst::Call { to: Some(to), callee: Callee::Named(ref name), ref arguments } if is_mathematical(name) => {
                self.on_data(walk, head, inst, arguments, to)?;
            }
            _ => return Err(Stop::Never),
        }
        Ok(())
    }

    fn follow_compare(
        &mut self,
        walk: &mut Walk<'m>,
        how: Comparison,
        bits: u8,
        a: Linear,
        b: Linear,
    ) -> Walked<Linear> {
        let truth = if a.step == 0 && b.step == 0 {
            let [x, y] = [a, b].map(|n| Datum::Bits(n.start as u64 & mask(bits)));
            match self.compare(how, Kind::Int(bits), x, y) {
                Ok(Datum::Bits(truth)) => truth & 1 == 1,
                _ => return Err(Stop::NotNow),
            }
        } else {
            walk.span.compare(how, a, b).ok_or(Stop::NotNow)?
        };
        // A truth value is an integer of one bit, whose sign it is.
        Ok(Linear::fixed(if truth { -1 } else { 0 }))
    }

    fn follow_load(
        &mut self,
        walk: &mut Walk<'m>,
        head: u32,
        (to, at): (u32, u32),
        kind: Kind,
        truth: bool,
    ) -> Walked<()> {
        let access = self.access(walk, head, at, kind)?;
        let changes = walk.stored.contains(&access.region) || walk.changing.contains(&access.region);
        if access.at.step == 0 && !is_float(kind) && !changes {
            // A bound or an address that stays in memory.
            let (number, index, offset) =
                self.inside(Datum::Place(access.region, access.at.start), kind.bytes()).map_err(|_| Stop::NotNow)?;
            let held = match (self.load_cell((number, index, offset), kind, truth), kind) {
                (Ok(Datum::Bits(known)), Kind::Int(bits)) => Some(Holds::Number(Linear::fixed(signed(known, bits)))),
                (Ok(Datum::Place(region, at)), Kind::Pointer) => Some(Holds::Place(region, Linear::fixed(at))),
                (Ok(_), _) => None,
                (Err(_), _) => return Err(Stop::NotNow),
            };
            if let Some(holds) = held {
                walk.steady.push(access.region);
                walk.set(to, holds);
                return Ok(());
            }
        }
        walk.actions.push(Action::Load { to, access, truth });
        walk.set(to, Holds::Data);
        Ok(())
    }

    /// The cells of an access, inside the object in every iteration.
    fn access(&mut self, walk: &mut Walk<'m>, head: u32, at: u32, kind: Kind) -> Walked<Access> {
        let Holds::Place(number, at) = self.holds(walk, at, head)? else { return Err(Stop::Never) };
        let region = &self.regions[number as usize];
        let (bytes, grain) = (i64::from(kind.bytes()), i64::from(region.grain));
        let most = i64::try_from(region.size).ok().and_then(|size| size.checked_sub(bytes)).ok_or(Stop::NotNow)?;
        walk.span.within(at, 0, most).ok_or(Stop::NotNow)?;
        if !region.alive || bytes < grain || at.start % grain != 0 || at.step % grain != 0 {
            return Err(Stop::NotNow);
        }
        let (index, cells) = ((at.start / grain) as usize, (at.step / grain) as isize);
        Ok(Access { region: number, at, kind, index, cells })
    }

    /// Runs the iterations of a walk.
    fn repeat(&mut self, walk: &mut Walk<'m>, head: u32) -> Run<()> {
        let span = walk.span.0;
        for action in &walk.actions {
            let (Action::Load { access, .. } | Action::Store { access, .. }) = action else { continue };
            for end in [0, span - 1] {
                self.inside(Datum::Place(access.region, access.at.at(end)), access.kind.bytes())?;
            }
        }
        for iteration in 0..span {
            if iteration.is_multiple_of(LOOK) && self.limits.interrupt.is_tripped() {
                return Err(self.fault(FaultKind::Time, "out of time".to_string()));
            }
            for action in &walk.actions {
                match *action {
                    Action::Load { to, ref access, truth } => {
                        let datum = self.load_cell(access.place(iteration), access.kind, truth)?;
                        self.set(to, datum);
                    }
                    Action::Store { from, ref access } => {
                        let (number, index, _) = access.place(iteration);
                        let (bytes, float) = (access.kind.bytes(), is_float(access.kind));
                        self.write(number, index, Slot { datum: self.get(from), bytes, float })?;
                    }
                    Action::Step(inst) => self.step(inst)?,
                    Action::Number { to, value, bits } => {
                        self.set(to, Datum::Bits(value.at(iteration) as u64 & mask(bits)));
                    }
                    Action::Place { to, region, at } => self.set(to, Datum::Place(region, at.at(iteration))),
                    Action::Pass(edge) => self.pass(edge),
                }
            }
        }
        for register in &walk.set {
            match (walk.registers[*register as usize].1, self.function.registers[*register as usize]) {
                (Holds::Number(value), Kind::Int(bits)) => {
                    self.set(*register, Datum::Bits(value.at(span - 1) as u64 & mask(bits)));
                }
                (Holds::Place(region, at), _) => self.set(*register, Datum::Place(region, at.at(span - 1))),
                (Holds::Data, _) => {}
                (Holds::Number(_), _) => return Err(self.unsupported("a number in another register")),
            }
        }
        self.block = head;
        self.entered(span.saturating_mul(walk.blocks.len() as u64));
        Ok(())
    }
}

/// What is to be guessed of a number with these values at the starts of two iterations, if they are not as was guessed.
fn guess(first: Linear, next: Linear) -> Option<Guess> {
    if next == (Linear { start: first.at(1), ..first }) {
        return None;
    }
    Some(next.start.checked_sub(first.start).map_or(Guess::Data, Guess::Step))
}

impl Access {
    /// Region, cell and bytes from the start.
    fn place(&self, iteration: u64) -> (usize, usize, u64) {
        let index = self.index.wrapping_add_signed(self.cells.wrapping_mul(iteration as isize));
        (self.region as usize, index, self.at.at(iteration) as u64)
    }
}

/// A number in another width.
fn extended(span: &mut Span, how: Conversion, from: u8, into: u8, number: Linear) -> Option<Linear> {
    if number.step == 0 {
        let bits = number.start as u64 & mask(from);
        let bits = if how == Conversion::SignExtend { number.start as u64 } else { bits };
        return Some(Linear::fixed(signed(bits & mask(into), into)));
    }
    match how {
        Conversion::SignExtend => Some(number),
        Conversion::ZeroExtend => span.within(number, 0, i64::MAX).map(|()| number),
        Conversion::Truncate => span.fit(number.start.into(), number.step.into(), into),
        _ => None,
    }
}
