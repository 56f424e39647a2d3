//! Runs the turns of a chunk operation by operation: one operation for a block of turns, then the next.
//!
//! The expressions of a turn become a list of lines, each with a column of values, one per turn. A line whose operands no
//! earlier turn of the block writes is worked out for the whole block at once. The others, such as the sum in
//! `s += a[i] * b[i]`, follow turn by turn with the stores, in the order of the program. A load of what the same turn
//! stored before takes the value without going through the cell.
//!
//! *Which loads may come early.* A load reads its cell before any store of the block. That is right if no store that comes before it
//! in the program's order, and in the same block, writes that cell: cells of two accesses with the same step meet at one
//! distance in turns, or never; accesses with different steps are taken to meet if their ranges do.
//!
//! A column that cannot be worked out (a cell that nobody wrote, an overflow) changes nothing: the block is left to
//! [`super::stride`], which goes turn by turn and knows what to report.
//!
//! Trust: full, as the machine.

use super::progress::{Access, Action, Chunk, Progress};
use super::{Machine, Run, control};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::scalar::{Cmp, Constant, Op, Scalar};
use crate::strided::Expr;

/// Turns of a block.
pub(super) const BLOCK: usize = 128;

/// Fewer turns than these are not worth the lines.
pub(super) const LEAST_TURNS: i64 = 4;

/// One operation. Operands are numbers of lines.
#[derive(Clone, Copy, Debug)]
enum Code<'p> {
    Const(Constant),
    /// Number of the access.
    Load(usize),
    FromInt(usize, Scalar),
    Binary(Op, Scalar, usize, usize),
    Neg(Scalar, usize),
    Compare(Cmp, Scalar, usize, usize),
    Not(usize),
    Convert(Scalar, Scalar, usize),
    /// Function, then where its arguments are in the list, and how many.
    Call(Scalar, u32, usize, usize),
    Choice(usize, usize, usize),
    /// A whole expression that must be looked at turn by turn, and the first of its accesses.
    Whole(&'p Expr, usize),
}

/// When a line is worked out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum When {
    /// Once for the block: all turns have the same value.
    Once,
    /// For all turns before any of them runs.
    Early,
    /// In its turn.
    InTurn,
}

#[derive(Clone, Copy, Debug)]
struct Line<'p> {
    code: Code<'p>,
    when: When,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    /// Lines from, to; the line of the value; the place of the accesses, the first of which is written.
    Store {
        site: u32,
        from: usize,
        value: usize,
        base: usize,
        expr: &'p Expr,
    },
    Enter(&'p [u32]),
}

/// The lines of a chunk and their columns.
#[derive(Debug)]
pub(super) struct Columns<'p, V> {
    lines: Vec<Line<'p>>,
    arguments: Vec<usize>,
    steps: Vec<Step<'p>>,
    values: Vec<V>,
}

impl<V> Default for Columns<'_, V> {
    fn default() -> Self {
        Columns { lines: Vec::new(), arguments: Vec::new(), steps: Vec::new(), values: Vec::new() }
    }
}

/// How a load finds the cell of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meeting {
    /// Never, or only before the store.
    No,
    /// In the same turn, and in no other unless the cell stays the same.
    SameTurn,
    /// In a later turn of the block.
    Later,
    /// Nobody knows.
    Perhaps,
}

fn meeting(load: Progress, store: Progress, turns: i64) -> Meeting {
    if load.step != store.step {
        let range = |p: Progress| (p.first.min(p.at(turns - 1)), p.first.max(p.at(turns - 1)));
        let ((low, high), (least, most)) = (range(load), range(store));
        return if high < least || most < low { Meeting::No } else { Meeting::Perhaps };
    }
    if load.first == store.first {
        return Meeting::SameTurn;
    }
    let (gap, step) = (load.first - store.first, store.step);
    if step == 0 || gap % step != 0 {
        return Meeting::No;
    }
    // The turn of the store is that of the load plus this.
    let distance = gap / step;
    if distance > 0 || distance <= -(BLOCK as i64) { Meeting::No } else { Meeting::Later }
}

/// Where a load gets its value.
enum Source {
    /// From the cell, before the turns.
    Early,
    /// From the cell, in its turn.
    InTurn,
    /// From the value of this line.
    Line(usize),
}

impl<'p, V> Columns<'p, V> {
    /// Makes the lines of a chunk. False if it has something that lines cannot say.
    pub(super) fn prepare(&mut self, chunk: &Chunk<'p>) -> bool {
        self.lines.clear();
        self.arguments.clear();
        self.steps.clear();
        chunk.actions.iter().all(|action| match action {
            Action::Store { site, base, value } => self.statement(*site, *base, value, chunk).is_some(),
            Action::Enter(objects) => {
                self.steps.push(Step::Enter(objects));
                true
            }
        })
    }

    fn statement(&mut self, site: u32, base: usize, expr: &'p Expr, chunk: &Chunk<'p>) -> Option<()> {
        let (from, arguments) = (self.lines.len(), self.arguments.len());
        let mut whole = false;
        let mut value = self.expression(expr, base, chunk, &mut whole)?;
        if whole {
            self.lines.truncate(from);
            self.arguments.truncate(arguments);
            self.lines.push(Line { code: Code::Whole(expr, base), when: When::InTurn });
            value = from;
        }
        self.steps.push(Step::Store { site, from, value, base, expr });
        Some(())
    }

    fn push(&mut self, code: Code<'p>, when: When) -> usize {
        self.lines.push(Line { code, when });
        self.lines.len() - 1
    }

    fn when(&self, line: usize) -> When {
        self.lines[line].when
    }

    /// Adds the lines of an expression. `whole` is set if an operation that may or may not happen depends on the turns
    /// before, or if who divides by what must be noted: then the expression cannot be taken apart.
    fn expression(&mut self, expr: &'p Expr, base: usize, chunk: &Chunk<'p>, whole: &mut bool) -> Option<usize> {
        let mut operand = |columns: &mut Self, expr| columns.expression(expr, base, chunk, whole);
        Some(match expr {
            Expr::Const(constant) => self.push(Code::Const(*constant), When::Once),
            Expr::Load(number, ..) => {
                let access = chunk.accesses[base + number];
                let fixed = if access.cell.step == 0 { When::Once } else { When::Early };
                match self.source(access, chunk)? {
                    Source::Early => self.push(Code::Load(base + number), fixed),
                    Source::InTurn => self.push(Code::Load(base + number), When::InTurn),
                    Source::Line(line) => line,
                }
            }
            Expr::FromInt(number, ty, _) => {
                let fixed = chunk.accesses[base + number].cell.step == 0;
                self.push(Code::FromInt(base + number, *ty), if fixed { When::Once } else { When::Early })
            }
            Expr::Binary(op, ty, parts) => {
                let (a, b) = (operand(self, &parts.0)?, operand(self, &parts.1)?);
                if matches!(op, Op::Div | Op::Rem) && !ty.is_float() {
                    *whole = true;
                }
                self.push(Code::Binary(*op, *ty, a, b), self.when(a).max(self.when(b)))
            }
            Expr::Neg(ty, inner) => {
                let a = operand(self, inner)?;
                self.push(Code::Neg(*ty, a), self.when(a))
            }
            Expr::Compare(cmp, ty, parts) => {
                let (a, b) = (operand(self, &parts.0)?, operand(self, &parts.1)?);
                self.push(Code::Compare(*cmp, *ty, a, b), self.when(a).max(self.when(b)))
            }
            Expr::Not(inner) => {
                let a = operand(self, inner)?;
                self.push(Code::Not(a), self.when(a))
            }
            Expr::Convert(from, to, inner) => {
                let a = operand(self, inner)?;
                self.push(Code::Convert(*from, *to, a), self.when(a))
            }
            Expr::Call(ty, function, inner) => {
                let lines = inner.iter().map(|a| operand(self, a)).collect::<Option<Vec<usize>>>()?;
                let when = lines.iter().map(|a| self.when(*a)).max().unwrap_or(When::Once);
                let start = self.arguments.len();
                self.arguments.extend(&lines);
                self.push(Code::Call(*ty, *function, start, lines.len()), when)
            }
            Expr::Choice(parts) => {
                let cond = operand(self, &parts.0)?;
                let (yes, no) = (operand(self, &parts.1)?, operand(self, &parts.2)?);
                let when = self.when(cond).max(self.when(yes)).max(self.when(no));
                if when == When::InTurn {
                    *whole = true;
                }
                self.push(Code::Choice(cond, yes, no), when)
            }
            Expr::Known(number, _, parts) => {
                let holds = chunk.accesses[base + number].cell.first != 0;
                operand(self, if holds { &parts.0 } else { &parts.1 })?
            }
        })
    }

    /// Where the next load gets its value; `None` if the turns empty the object.
    fn source(&self, load: Access, chunk: &Chunk<'p>) -> Option<Source> {
        let here = self.steps.len();
        let (mut forwarded, mut unsure, mut carried, mut emptied) = (None, None, false, None);
        for (position, action) in chunk.actions.iter().enumerate() {
            match action {
                Action::Enter(objects) => {
                    if objects.contains(&load.object) && (position < here || emptied.is_none()) {
                        emptied = Some(position);
                    }
                }
                Action::Store { base, .. } => {
                    let store = chunk.accesses[*base];
                    if store.object != load.object {
                        continue;
                    }
                    match meeting(load.cell, store.cell, chunk.turns) {
                        Meeting::No => {}
                        Meeting::SameTurn if position < here => forwarded = Some(position),
                        // Read before it is written, unless a turn before wrote the same cell.
                        Meeting::SameTurn => carried |= load.cell.step == 0,
                        Meeting::Later => carried = true,
                        Meeting::Perhaps => {
                            carried = true;
                            if position < here {
                                unsure = Some(position);
                            }
                        }
                    }
                }
            }
        }
        let last = forwarded.filter(|at| unsure.is_none_or(|other| other < *at));
        match last.map(|at| (at, self.steps[at])) {
            Some((at, Step::Store { value, .. })) if emptied.is_none_or(|e| e < at || e > here) => {
                Some(Source::Line(value))
            }
            _ if emptied.is_some() => None,
            _ if carried || forwarded.is_some() => Some(Source::InTurn),
            _ => Some(Source::Early),
        }
    }
}

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    /// Runs turns of a chunk, block by block. How many it ran: fewer than there are if a column has no value.
    pub(super) fn run_columns(&mut self, chunk: &Chunk<'p>, columns: &mut Columns<'p, D::Value>) -> Run<i64> {
        let unwritten = self.domain.unwritten();
        columns.values.resize(columns.lines.len() * BLOCK, unwritten);
        let mut start = 0;
        while start < chunk.turns {
            let count = (chunk.turns - start).min(BLOCK as i64) as usize;
            for number in 0..columns.lines.len() {
                if columns.lines[number].when != When::InTurn
                    && self.column(number, chunk, columns, start, count).is_none()
                {
                    return Ok(start);
                }
            }
            self.turns_of_block(chunk, columns, start, count)?;
            start += count as i64;
        }
        Ok(start)
    }

    /// Works out a line for all turns of a block.
    fn column(
        &mut self,
        number: usize,
        chunk: &Chunk<'p>,
        columns: &mut Columns<'p, D::Value>,
        start: i64,
        count: usize,
    ) -> Option<()> {
        let line = columns.lines[number];
        let many = if line.when == When::Once { 1 } else { count };
        let (before, rest) = columns.values.split_at_mut(number * BLOCK);
        let out = &mut rest[..many];
        let of = |line: usize| &before[line * BLOCK..line * BLOCK + many];
        match line.code {
            Code::Const(constant) => out[0] = self.domain.constant(constant),
            Code::Load(at) => {
                let Access { object, cell } = chunk.accesses[at];
                let cells = &self.objects[object as usize];
                for (turn, value) in out.iter_mut().enumerate() {
                    *value = *cells.get(cell.at(start + turn as i64) as usize)?;
                }
                if out.iter().any(|value| self.domain.is_unwritten(*value)) {
                    return None;
                }
            }
            Code::FromInt(at, ty) => {
                let cell = chunk.accesses[at].cell;
                for (turn, value) in out.iter_mut().enumerate() {
                    let number = control::number(ty, cell.at(start + turn as i64));
                    *value = self.domain.constant(Constant::integer(number));
                }
            }
            Code::Binary(op, ty, a, b) => self.domain.binary_column(op, ty, of(a), of(b), out).ok()?,
            Code::Neg(ty, a) => {
                for (value, a) in out.iter_mut().zip(of(a)) {
                    *value = self.domain.negate(ty, *a).ok()?;
                }
            }
            Code::Compare(cmp, ty, a, b) => {
                for (value, (a, b)) in out.iter_mut().zip(of(a).iter().zip(of(b))) {
                    *value = self.domain.compare(cmp, ty, *a, *b);
                }
            }
            Code::Not(a) => {
                for (value, a) in out.iter_mut().zip(of(a)) {
                    *value = self.domain.not(*a);
                }
            }
            Code::Convert(from, to, a) => {
                for (value, a) in out.iter_mut().zip(of(a)) {
                    *value = self.domain.convert(from, to, *a).ok()?;
                }
            }
            Code::Call(ty, function, first, most) => {
                let name = &self.program.functions[function as usize];
                let mut values = Vec::with_capacity(most);
                for (turn, value) in out.iter_mut().enumerate() {
                    values.clear();
                    values.extend(columns.arguments[first..first + most].iter().map(|a| of(*a)[turn]));
                    *value = self.domain.call(name, ty, &values);
                }
            }
            Code::Choice(cond, yes, no) => {
                let arms = of(cond).iter().zip(of(yes).iter().zip(of(no)));
                for (value, (cond, (yes, no))) in out.iter_mut().zip(arms) {
                    *value = self.domain.choice(*cond, *yes, *no);
                }
            }
            Code::Whole(..) => return None,
        }
        if line.when == When::Once {
            let value = rest[0];
            rest[1..count].fill(value);
        }
        Some(())
    }

    /// What is left to do in each turn, in the order of the program.
    fn turns_of_block(
        &mut self,
        chunk: &Chunk<'p>,
        columns: &mut Columns<'p, D::Value>,
        start: i64,
        count: usize,
    ) -> Run<()> {
        if let [Step::Store { value, base, site, .. }] = columns.steps[..]
            && columns.lines[value].when != When::InTurn
        {
            // Nothing but the store.
            let Access { object, cell } = chunk.accesses[base];
            self.site = site;
            let cells = &mut self.objects[object as usize];
            for (turn, new) in columns.values[value * BLOCK..].iter().take(count).enumerate() {
                match cells.get_mut(cell.at(start + turn as i64) as usize) {
                    Some(place) => *place = *new,
                    None => return Err(self.no_cell(object)),
                }
            }
            self.updates += count as u64;
            return Ok(());
        }
        if self.gather_block(chunk, columns, count) {
            return Ok(());
        }
        for turn in 0..count {
            for step in 0..columns.steps.len() {
                let (site, from, value, base, expr) = match columns.steps[step] {
                    Step::Store { site, from, value, base, expr } => (site, from, value, base, expr),
                    Step::Enter(objects) => {
                        let unwritten = self.domain.unwritten();
                        objects.iter().for_each(|object| self.objects[*object as usize].fill(unwritten));
                        continue;
                    }
                };
                self.site = site;
                for number in from..=value {
                    if columns.lines[number].when == When::InTurn
                        && self.in_turn(number, chunk, columns, start, turn).is_none()
                    {
                        return Err(self.failure(chunk, expr, base, start + turn as i64));
                    }
                }
                let Access { object, cell } = chunk.accesses[base];
                match self.objects[object as usize].get_mut(cell.at(start + turn as i64) as usize) {
                    Some(place) => *place = columns.values[value * BLOCK + turn],
                    None => return Err(self.no_cell(object)),
                }
                self.updates += 1;
            }
        }
        Ok(())
    }

    /// A block that does nothing but gather a column in one cell: `s += a[i] * b[i]`. False if it is none.
    fn gather_block(&mut self, chunk: &Chunk<'p>, columns: &Columns<'p, D::Value>, count: usize) -> bool {
        let [Step::Store { value, base, site, .. }] = columns.steps[..] else { return false };
        let Access { object, cell } = chunk.accesses[base];
        let Code::Binary(op, ty, a, b) = columns.lines[value].code else { return false };
        let is_cell = |line: usize| {
            matches!(columns.lines[line], Line { code: Code::Load(at), when: When::InTurn }
                if chunk.accesses[at] == chunk.accesses[base])
        };
        // The order of the operands matters where the sum does not come first.
        if cell.step != 0 || !is_cell(a) || columns.lines[b].when == When::InTurn {
            return false;
        }
        let column = &columns.values[b * BLOCK..b * BLOCK + count];
        let Some(place) = self.objects[object as usize].get_mut(cell.first as usize) else { return false };
        if self.domain.is_unwritten(*place) {
            return false;
        }
        self.site = site;
        let Ok(sum) = self.domain.gather(op, ty, *place, column) else { return false };
        *place = sum;
        self.updates += count as u64;
        true
    }

    /// Works out a line in a turn.
    #[inline]
    fn in_turn(
        &mut self,
        number: usize,
        chunk: &Chunk<'p>,
        columns: &mut Columns<'p, D::Value>,
        start: i64,
        turn: usize,
    ) -> Option<()> {
        let of = |line: usize| columns.values[line * BLOCK + turn];
        let value = match columns.lines[number].code {
            Code::Load(at) => {
                let Access { object, cell } = chunk.accesses[at];
                let value = *self.objects[object as usize].get(cell.at(start + turn as i64) as usize)?;
                if self.domain.is_unwritten(value) {
                    return None;
                }
                value
            }
            Code::Binary(op, ty, a, b) => self.domain.binary(op, ty, of(a), of(b)).ok()?,
            Code::Neg(ty, a) => self.domain.negate(ty, of(a)).ok()?,
            Code::Compare(cmp, ty, a, b) => self.domain.compare(cmp, ty, of(a), of(b)),
            Code::Not(a) => self.domain.not(of(a)),
            Code::Convert(from, to, a) => self.domain.convert(from, to, of(a)).ok()?,
            Code::Call(ty, function, first, most) => {
                let name = &self.program.functions[function as usize];
                let values: Vec<D::Value> = columns.arguments[first..first + most].iter().map(|a| of(*a)).collect();
                self.domain.call(name, ty, &values)
            }
            Code::Whole(expr, base) => {
                let turn = start + turn as i64;
                self.set_inductive(chunk, turn);
                self.planned_value(expr, &chunk.accesses[base..], turn).ok()?
            }
            // Choices in a turn are left whole; the others do not depend on the turns before.
            Code::Choice(..) | Code::Const(_) | Code::FromInt(..) => return None,
        };
        columns.values[number * BLOCK + turn] = value;
        Some(())
    }

    /// What an expression without a value is reported as.
    #[cold]
    fn failure(&mut self, chunk: &Chunk<'p>, expr: &'p Expr, base: usize, turn: i64) -> Box<crate::Fault> {
        self.set_inductive(chunk, turn);
        match self.planned_value(expr, &chunk.accesses[base..], turn) {
            Err(fault) => fault,
            Ok(_) => self.unsupported("a statement that has a value only sometimes"),
        }
    }
}
