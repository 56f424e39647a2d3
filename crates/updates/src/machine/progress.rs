//! Where control values go in the next turns of a loop.
//!
//! A *progression* is a value in the first turn and the amount that it changes by from turn to turn. Sums and multiples of
//! progressions are progressions as long as nothing overflows, and a condition on one keeps its value for some turns.
//! So every step here may lower the number of turns for which the prediction is good ([`Chunk::turns`]); it is never
//! good for a turn in which an operation would overflow, wrap or leave an array, nor past a change of a condition.
//!
//! Trust: full, as the machine. A prediction is for turns that the machine then runs without looking again.

use super::control::{REACH, arithmetic, make_pointer, split_pointer};
use super::{DEPENDS, Machine, compare_control};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::program::{Base, Element, Int, Place, UNWRITTEN};
use crate::scalar::{Cmp, Op, Scalar};
use crate::strided::Expr;

/// Most turns that are predicted at once: the time limit is looked at in between.
pub(super) const MOST_TURNS: i64 = 1 << 14;

/// A value in the first turn, and its change from turn to turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Progress {
    pub(super) first: i64,
    pub(super) step: i64,
}

/// Cells of one object, one in each turn; or numbers, and then the object means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Access {
    pub(super) object: u32,
    pub(super) cell: Progress,
}

/// A slot that the turns write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Written {
    pub(super) slot: u32,
    /// Its value at this place of the body; `None` if that is not known.
    pub(super) value: Option<Progress>,
    /// Was it written in the turn?
    pub(super) done: bool,
}

/// What a turn does, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action<'p> {
    Store { site: u32, base: usize, value: &'p Expr },
    Enter(&'p [u32]),
}

/// A prediction.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk<'p> {
    /// For so many turns it is good.
    pub(super) turns: i64,
    pub(super) accesses: Vec<Access>,
    pub(super) actions: Vec<Action<'p>>,
    pub(super) written: Vec<Written>,
    /// The slots that every turn changes by the same amount, at the start of a turn.
    pub(super) inductive: Vec<(u32, Progress)>,
    /// Accesses to objects that grow as they are used.
    pub(super) growing: Vec<usize>,
}

impl Chunk<'_> {
    pub(super) fn clear(&mut self) {
        self.turns = MOST_TURNS;
        self.accesses.clear();
        self.actions.clear();
        self.written.clear();
        self.inductive.clear();
        self.growing.clear();
    }

    /// Cuts the turns to those in which the value is in a range. `None` if it is outside in the first.
    #[inline]
    pub(super) fn within(&mut self, value: Progress, low: i64, high: i64) -> Option<Progress> {
        if value.first < low || value.first > high {
            return None;
        }
        // Room that saturates is less than there is: turns are lost, never gained.
        let room = match value.step {
            0 => return Some(value),
            1.. => high.saturating_sub(value.first),
            _ => value.first.saturating_sub(low),
        } as u64;
        let distance = value.step.unsigned_abs();
        if room < distance.saturating_mul(self.turns as u64 - 1) {
            self.turns = (room / distance) as i64 + 1;
        }
        Some(value)
    }
}

impl Progress {
    pub(super) fn fixed(value: i64) -> Progress {
        Progress { first: value, step: 0 }
    }

    #[inline]
    pub(super) fn at(self, turn: i64) -> i64 {
        self.first + turn * self.step
    }

    fn plus(self, other: Progress) -> Option<Progress> {
        Some(Progress { first: self.first.checked_add(other.first)?, step: self.step.checked_add(other.step)? })
    }

    fn minus(self, other: Progress) -> Option<Progress> {
        Some(Progress { first: self.first.checked_sub(other.first)?, step: self.step.checked_sub(other.step)? })
    }

    fn times(self, factor: i64) -> Option<Progress> {
        Some(Progress { first: self.first.checked_mul(factor)?, step: self.step.checked_mul(factor)? })
    }
}

/// The values of a control type that are stored as themselves. Of 64 bits only a half: the rest is far from any sum that
/// could overflow, and from the marks of slots without a value.
fn range(ty: Scalar) -> (i64, i64) {
    match ty {
        Scalar::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Scalar::I64 => (i64::MIN / 2, i64::MAX / 2),
        Scalar::U64 => (0, i64::MAX / 2),
        _ => {
            let (low, high) = ty.range();
            (low as i64, high as i64)
        }
    }
}

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    /// The progression of a control value.
    pub(super) fn progress(&self, int: &Int, chunk: &mut Chunk<'p>) -> Option<Progress> {
        match int {
            Int::Const(value) => Some(Progress::fixed(*value)),
            Int::Slot(slot) => match chunk.written.iter().find(|w| w.slot == *slot) {
                Some(written) => written.value,
                None => {
                    let value = self.slots[*slot as usize];
                    (value != UNWRITTEN && value != DEPENDS).then(|| Progress::fixed(value))
                }
            },
            Int::Binary(op, ty, parts) => {
                let (a, b) = (self.leaf_progress(&parts.0, chunk)?, self.leaf_progress(&parts.1, chunk)?);
                if a.step == 0 && b.step == 0 {
                    return arithmetic(*op, *ty, a.first, b.first).ok().map(Progress::fixed);
                }
                if *ty == Scalar::U64 && (a.first < 0 || b.first < 0) {
                    return None;
                }
                let value = match op {
                    Op::Add => a.plus(b),
                    Op::Sub => a.minus(b),
                    Op::Mul if b.step == 0 => a.times(b.first),
                    Op::Mul if a.step == 0 => b.times(a.first),
                    _ => None,
                }?;
                let (low, high) = range(*ty);
                chunk.within(value, low, high)
            }
            Int::Compare(cmp, ty, parts) => {
                let (a, b) = (self.progress(&parts.0, chunk)?, self.progress(&parts.1, chunk)?);
                self.comparison(*cmp, *ty, a, b, chunk)
            }
            Int::Not(inner) => self.settled(inner, chunk).map(|holds| Progress::fixed(i64::from(!holds))),
            Int::Convert(ty, inner) => {
                let value = self.progress(inner, chunk)?;
                if value.step == 0 {
                    return Some(Progress::fixed(ty.wrap_control(value.first)));
                }
                let (low, high) = range(*ty);
                chunk.within(value, low, high)
            }
            Int::And(parts) => {
                let holds = self.settled(&parts.0, chunk)? && self.settled(&parts.1, chunk)?;
                Some(Progress::fixed(i64::from(holds)))
            }
            Int::Or(parts) => {
                let holds = self.settled(&parts.0, chunk)? || self.settled(&parts.1, chunk)?;
                Some(Progress::fixed(i64::from(holds)))
            }
            Int::Choice(parts) => {
                let holds = self.settled(&parts.0, chunk)?;
                self.progress(if holds { &parts.1 } else { &parts.2 }, chunk)
            }
            Int::Let(parts, value) => {
                for (slot, part) in parts {
                    let part = Some(self.progress(part, chunk)?);
                    match chunk.written.iter_mut().find(|w| w.slot == *slot) {
                        Some(written) => written.value = part,
                        None => chunk.written.push(Written { slot: *slot, value: part, done: false }),
                    }
                }
                self.progress(value, chunk)
            }
            Int::Address(place) => {
                let access = match &**place {
                    Place::Cell(object) => Access { object: *object, cell: Progress::default() },
                    Place::Element(element) => self.element_progress(element, Row::MayLeave, chunk)?,
                };
                pointer_progress(access.object, access.cell, chunk)
            }
            Int::Offset(parts, scale) => {
                let (pointer, by) = (self.progress(&parts.0, chunk)?, self.progress(&parts.1, chunk)?);
                let (object, start) = self.pointee(pointer, chunk)?;
                pointer_progress(object, start.plus(by.times(*scale)?)?, chunk)
            }
            _ => None,
        }
    }

    /// As [`Machine::progress`], without a call for numbers.
    #[inline(always)]
    fn leaf_progress(&self, int: &Int, chunk: &mut Chunk<'p>) -> Option<Progress> {
        match int {
            Int::Const(value) => Some(Progress::fixed(*value)),
            other => self.progress(other, chunk),
        }
    }

    /// A condition that keeps its value.
    pub(super) fn settled(&self, cond: &Int, chunk: &mut Chunk<'p>) -> Option<bool> {
        let value = self.progress(cond, chunk)?;
        (value.step == 0).then_some(value.first != 0)
    }

    fn comparison(&self, cmp: Cmp, ty: Scalar, a: Progress, b: Progress, chunk: &mut Chunk<'p>) -> Option<Progress> {
        let holds = compare_control(cmp, ty, a.first, b.first);
        if a.step == b.step && ty != Scalar::U64 || a.step == 0 && b.step == 0 {
            return Some(Progress::fixed(i64::from(holds)));
        }
        if ty == Scalar::U64 && (a.first < 0 || b.first < 0) {
            return None;
        }
        let gap = b.minus(a)?;
        let (low, high) = match cmp {
            Cmp::Lt if holds => (1, i64::MAX),
            Cmp::Lt => (i64::MIN, 0),
            Cmp::Le if holds => (0, i64::MAX),
            Cmp::Le => (i64::MIN, -1),
            Cmp::Eq | Cmp::Ne if gap.first == 0 => (0, 0),
            Cmp::Eq | Cmp::Ne if gap.first > 0 => (1, i64::MAX),
            Cmp::Eq | Cmp::Ne => (i64::MIN, -1),
        };
        chunk.within(gap, low, high)?;
        Some(Progress::fixed(i64::from(holds)))
    }

    /// The object and the cell that a pointer points to, the same object in all turns.
    fn pointee(&self, pointer: Progress, chunk: &mut Chunk<'p>) -> Option<(u32, Progress)> {
        let (object, first) = split_pointer(pointer.first)?;
        if object as usize >= self.objects.len() {
            return None;
        }
        let cell = chunk.within(Progress { first, step: pointer.step }, -REACH, REACH - 1)?;
        Some((object, cell))
    }

    /// The cells of a place. The growing ones are those of objects without a stated extent.
    pub(super) fn place_progress(&self, place: &Place, chunk: &mut Chunk<'p>) -> Option<Access> {
        match place {
            Place::Cell(object) => Some(Access { object: *object, cell: Progress::default() }),
            Place::Element(element) => self.element_progress(element, Row::Binds, chunk),
        }
    }

    fn element_progress(&self, element: &Element, row: Row, chunk: &mut Chunk<'p>) -> Option<Access> {
        let (object, mut cell) = match &element.base {
            Base::Object(object) => (*object, Progress::default()),
            Base::Pointer(pointer) => {
                let pointer = self.progress(pointer, chunk)?;
                self.pointee(pointer, chunk)?
            }
        };
        cell = cell.plus(Progress::fixed(element.offset))?;
        for index in &element.index {
            let value = self.progress(&index.value, chunk)?;
            if let (Some(extent), Row::Binds, false) = (index.extent, row, self.limits.flat) {
                chunk.within(value, 0, extent - 1)?;
            }
            cell = cell.plus(value.times(index.stride)?)?;
        }
        Some(Access { object, cell })
    }
}

/// Must a subscript stay in its row?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Binds,
    MayLeave,
}

fn pointer_progress(object: u32, cell: Progress, chunk: &mut Chunk<'_>) -> Option<Progress> {
    let cell = chunk.within(cell, -REACH, REACH - 1)?;
    Some(Progress { first: make_pointer(object, cell.first)?, step: cell.step })
}
