//! Runs many turns of an innermost loop at once.
//!
//! First the chunk is planned: which statements run in the next turns, which cells they read and write, and for how many
//! turns that is so ([`super::progress`]). Then the turns run with these cells and nothing else to decide. What cannot be
//! planned (also the turn that leaves an array, which must be reported) is left to the general machine.

use super::progress::{Access, Action, Chunk, Progress, Written};
use super::{Machine, Run, columns, control};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::program::{Cond, LoopStmt, Place, UNWRITTEN};
use crate::scalar::{Constant, Op};
use crate::strided::{Arm, Expr, Node, Strided};

/// Fewer turns than these are not worth a plan.
const LEAST_TURNS: i64 = 2;

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    /// Runs some turns from the loop's head on. False if the next turn must be walked.
    pub(super) fn stride(&mut self, body: &'p LoopStmt, prepared: &'p Strided) -> Run<bool> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let planned = self.plan(body, prepared, &mut chunk).is_some() && chunk.turns >= LEAST_TURNS;
        let outcome = if planned && self.grow_for(&chunk) { self.run(&chunk).map(|()| true) } else { Ok(false) };
        self.chunk = chunk;
        outcome
    }

    fn plan(&self, body: &'p LoopStmt, prepared: &'p Strided, chunk: &mut Chunk<'p>) -> Option<()> {
        chunk.clear();
        for (slot, step) in &prepared.inductive {
            let first = self.read_slot(*slot).ok()?;
            let value = Progress { first, step: *step };
            chunk.inductive.push((*slot, value));
            chunk.written.push(Written { slot: *slot, value: Some(value), done: false });
        }
        chunk.written.extend(prepared.derived.iter().map(|slot| Written { slot: *slot, value: None, done: false }));
        let Some(Cond::Int(cond)) = &body.cond else { return None };
        // The last turn is the general machine's to see.
        if !self.settled(cond, chunk)? {
            return None;
        }
        self.plan_nodes(&prepared.nodes, chunk)
    }

    fn plan_nodes(&self, nodes: &'p [Node], chunk: &mut Chunk<'p>) -> Option<()> {
        for node in nodes {
            if chunk.turns < LEAST_TURNS {
                return None;
            }
            match node {
                Node::Store { site, place, value, numbers } => {
                    let base = chunk.accesses.len();
                    chunk.accesses.resize(base + numbers, Access::default());
                    self.plan_expression(value, base, chunk)?;
                    self.plan_access(place, base, Arm::Always, chunk)?;
                    if self.constant[chunk.accesses[base].object as usize] {
                        return None;
                    }
                    chunk.actions.push(Action::Store { site: *site, base, value });
                }
                Node::Slot { slot, value, .. } => {
                    let value = self.progress(value, chunk)?;
                    // Far from the marks of slots without a value.
                    chunk.within(value, i64::MIN / 2, i64::MAX)?;
                    set(chunk, *slot, Some(value));
                }
                Node::Enter(objects) => chunk.actions.push(Action::Enter(objects)),
                Node::Forget(slots) => slots.iter().for_each(|slot| set(chunk, *slot, None)),
                Node::If { cond, yes, no } => {
                    let holds = self.settled(cond, chunk)?;
                    self.plan_nodes(if holds { yes } else { no }, chunk)?;
                }
            }
        }
        Some(())
    }

    fn plan_access(&self, place: &'p Place, at: usize, arm: Arm, chunk: &mut Chunk<'p>) -> Option<()> {
        let access = self.place_progress(place, chunk)?;
        let number = access.object as usize;
        let bounded =
            self.program.objects[number].cells.is_some() || self.extents.get(number).copied().flatten().is_some();
        let length = self.objects[number].len() as i64;
        // What is read only if a condition on data holds does not say how far the object goes.
        if !bounded && arm == Arm::Always {
            chunk.within(access.cell, 0, self.limits.cells as i64)?;
            chunk.growing.push(at);
        } else {
            chunk.within(access.cell, 0, length - 1)?;
        }
        chunk.accesses[at] = access;
        Some(())
    }

    fn plan_expression(&self, expr: &'p Expr, base: usize, chunk: &mut Chunk<'p>) -> Option<()> {
        match expr {
            Expr::Const(_) => {}
            Expr::Load(number, place, arm) => self.plan_access(place, base + number, *arm, chunk)?,
            Expr::FromInt(number, _, value) => {
                let cell = self.progress(value, chunk)?;
                chunk.accesses[base + number] = Access { object: 0, cell };
            }
            Expr::Binary(_, _, parts) | Expr::Compare(_, _, parts) => {
                self.plan_expression(&parts.0, base, chunk)?;
                self.plan_expression(&parts.1, base, chunk)?;
            }
            Expr::Neg(_, inner) | Expr::Not(inner) | Expr::Convert(_, _, inner) => {
                self.plan_expression(inner, base, chunk)?;
            }
            Expr::Call(_, _, arguments) => {
                for argument in arguments {
                    self.plan_expression(argument, base, chunk)?;
                }
            }
            Expr::Choice(parts) => {
                self.plan_expression(&parts.0, base, chunk)?;
                self.plan_expression(&parts.1, base, chunk)?;
                self.plan_expression(&parts.2, base, chunk)?;
            }
            Expr::Known(number, cond, parts) => {
                let holds = self.settled(cond, chunk)?;
                chunk.accesses[base + number].cell.first = i64::from(holds);
                self.plan_expression(if holds { &parts.0 } else { &parts.1 }, base, chunk)?;
            }
        }
        Some(())
    }

    /// Objects without a stated extent get the cells that the turns will touch.
    fn grow_for(&mut self, chunk: &Chunk<'p>) -> bool {
        for at in &chunk.growing {
            let Access { object, cell } = chunk.accesses[*at];
            let most = cell.first.max(cell.at(chunk.turns - 1));
            if most >= self.objects[object as usize].len() as i64 && self.grow(object, most).is_err() {
                return false;
            }
        }
        true
    }

    pub(super) fn set_inductive(&mut self, chunk: &Chunk<'p>, turn: i64) {
        for (slot, value) in &chunk.inductive {
            self.slots[*slot as usize] = value.at(turn);
        }
    }

    fn run(&mut self, chunk: &Chunk<'p>) -> Run<()> {
        let mut columns = std::mem::take(&mut self.columns);
        let done = if chunk.turns >= columns::LEAST_TURNS && columns.prepare(chunk) {
            self.run_columns(chunk, &mut columns)
        } else {
            Ok(0)
        };
        self.columns = columns;
        for turn in done?..chunk.turns {
            self.set_inductive(chunk, turn);
            for action in &chunk.actions {
                match action {
                    Action::Store { site, base, value } => {
                        self.site = *site;
                        let accesses = &chunk.accesses[*base..];
                        let value = self.planned_value(value, accesses, turn)?;
                        let Access { object, cell } = accesses[0];
                        match self.objects[object as usize].get_mut(cell.at(turn) as usize) {
                            Some(place) => *place = value,
                            None => return Err(self.no_cell(object)),
                        }
                        self.updates += 1;
                    }
                    Action::Enter(objects) => {
                        let unwritten = self.domain.unwritten();
                        for object in *objects {
                            self.objects[*object as usize].fill(unwritten);
                        }
                    }
                }
            }
        }
        for written in chunk.written.iter().filter(|w| w.done) {
            self.slots[written.slot as usize] = written.value.map_or(UNWRITTEN, |v| v.at(chunk.turns - 1));
        }
        self.turns += chunk.turns as u64;
        self.unchecked_turns += chunk.turns as u64;
        if self.unchecked_turns > 0x3fff {
            self.unchecked_turns = 0;
            self.check_time()?;
        }
        Ok(())
    }

    /// As [`Machine::planned_value`], without a call for cells.
    #[inline(always)]
    fn planned_operand(&mut self, expr: &'p Expr, accesses: &[Access], turn: i64) -> Run<D::Value> {
        match expr {
            Expr::Load(number, ..) => {
                let Access { object, cell } = accesses[*number];
                self.load_cell(object, cell.at(turn) as u64)
            }
            other => self.planned_value(other, accesses, turn),
        }
    }

    pub(super) fn planned_value(&mut self, expr: &'p Expr, accesses: &[Access], turn: i64) -> Run<D::Value> {
        match expr {
            Expr::Const(constant) => Ok(self.domain.constant(*constant)),
            Expr::Load(..) => self.planned_operand(expr, accesses, turn),
            Expr::FromInt(number, ty, _) => {
                let value = accesses[*number].cell.at(turn);
                Ok(self.domain.constant(Constant::integer(control::number(*ty, value))))
            }
            Expr::Binary(op, ty, parts) => {
                let a = self.planned_operand(&parts.0, accesses, turn)?;
                let b = self.planned_operand(&parts.1, accesses, turn)?;
                if matches!(op, Op::Div | Op::Rem) && !ty.is_float() {
                    self.note_division(*ty, a, b);
                }
                self.domain.binary(*op, *ty, a, b).map_err(|why| self.undefined(why.to_string()))
            }
            Expr::Neg(ty, inner) => {
                let value = self.planned_operand(inner, accesses, turn)?;
                self.domain.negate(*ty, value).map_err(|why| self.undefined(why.to_string()))
            }
            Expr::Compare(cmp, ty, parts) => {
                let a = self.planned_operand(&parts.0, accesses, turn)?;
                let b = self.planned_operand(&parts.1, accesses, turn)?;
                Ok(self.domain.compare(*cmp, *ty, a, b))
            }
            Expr::Not(inner) => {
                let value = self.planned_operand(inner, accesses, turn)?;
                Ok(self.domain.not(value))
            }
            Expr::Convert(from, to, inner) => {
                let value = self.planned_operand(inner, accesses, turn)?;
                self.domain.convert(*from, *to, value).map_err(|why| self.undefined(why.to_string()))
            }
            Expr::Call(ty, function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.planned_operand(argument, accesses, turn)?);
                }
                let name = &self.program.functions[*function as usize];
                Ok(self.domain.call(name, *ty, &values))
            }
            Expr::Choice(parts) => self.planned_choice(parts, accesses, turn),
            Expr::Known(number, _, parts) => {
                let taken = if accesses[*number].cell.first != 0 { &parts.0 } else { &parts.1 };
                self.planned_operand(taken, accesses, turn)
            }
        }
    }

    fn planned_choice(&mut self, parts: &'p (Expr, Expr, Expr), accesses: &[Access], turn: i64) -> Run<D::Value> {
        let (cond, yes, no) = parts;
        let cond = self.planned_operand(cond, accesses, turn)?;
        if let Some(constant) = self.domain.known(cond) {
            let taken = if constant.is_true() { yes } else { no };
            return self.planned_operand(taken, accesses, turn);
        }
        let mut arm = |expr| {
            self.planned_operand(expr, accesses, turn).map_err(|mut fault| {
                fault.conditional = true;
                fault
            })
        };
        let (yes, no) = (arm(yes)?, arm(no)?);
        Ok(self.domain.choice(cond, yes, no))
    }
}

/// The value that a slot has from here on in the turn.
fn set(chunk: &mut Chunk<'_>, slot: u32, value: Option<Progress>) {
    if let Some(written) = chunk.written.iter_mut().find(|w| w.slot == slot) {
        written.value = value;
        written.done = true;
    }
}
