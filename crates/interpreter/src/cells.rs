//! Values of cells and the execution of straight code on them.
//!
//! Beside each value the run of an original keeps a *shadow*: which bytes nobody defined, and which object an address
//! was made from.

use super::copies::Copies;
use super::layout::Layout;
use super::memory::{STACK_TOP, is_stack};
use super::program::{Cell, Expression, Instruction, Kind, Program};
use super::taint;
use program::Local;
use smallvec::SmallVec;
use term::eval::{Value, apply};
use term::{Arena, Bits, Op as TermOp};

/// Where a pointer came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Origin {
    /// Not known, or no pointer.
    #[default]
    None,
    /// A constant distance from the stack or frame pointer, in the address of an access.
    Slot,
    /// The own frame.
    Frame,
    /// A local variable, by its place in the function's list.
    Local(u32),
    /// The object at this address.
    Object(u64),
    /// A constant address in optimised code: it lies in the object at this address, but may be made for another, with an index
    /// that leads there.
    Near(u64),
    /// A section, and nobody knows which object of it.
    Section,
    /// No pointer: a difference, of pointers perhaps.
    Difference,
    /// The upper bits of a difference whose lower bits are not all zero.
    Rest,
}

/// What is known about a value besides its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Shadow {
    /// Bytes that nobody defined, lowest first.
    pub taint: u64,
    pub origin: Origin,
}

impl Shadow {
    pub const CLEAN: Shadow = Shadow { taint: 0, origin: Origin::None };
    pub const UNDEFINED: Shadow = Shadow { taint: u64::MAX, origin: Origin::None };
}

/// Does the run keep shadows?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tracking {
    Off,
    On,
}

/// The cells of a program.
pub struct Cells {
    pub(super) narrow: Vec<u64>,
    pub(super) wide: Vec<Bits>,
    narrow_shadows: Vec<Shadow>,
    wide_shadows: Vec<Shadow>,
    pub(super) copies: Copies,
    /// Was a difference divided, and something left over? Pointers into one array are a multiple of its elements apart,
    /// and compilers divide as if that were so.
    pub(super) inexact: bool,
    /// Was something shifted by more bits than it has? C leaves that undefined.
    pub(super) far: bool,
    /// Did an index lead from one member of a local structure to another?
    pub(super) outside: bool,
}

impl Cells {
    /// The value of a register.
    pub fn register(&self, register: program::Register) -> Bits {
        match super::machine::cell_of(register) {
            Cell::Narrow(index) => Bits::new(64, self.narrow[index as usize]),
            Cell::Wide(index) => self.wide[index as usize],
        }
    }

    /// Cells with the program's constants in them and its objects placed.
    pub fn new(program: &Program, layout: &Layout) -> Cells {
        let mut cells = Cells {
            narrow: vec![0; program.narrow_cells as usize],
            wide: vec![Bits::zero(128); program.wide_cells as usize],
            narrow_shadows: vec![Shadow::CLEAN; program.narrow_cells as usize],
            wide_shadows: vec![Shadow::CLEAN; program.wide_cells as usize],
            copies: Copies::new(program.narrow_cells as usize, program.wide_cells as usize),
            inexact: false,
            far: false,
            outside: false,
        };
        for (index, value) in &program.narrow_constants {
            cells.narrow[*index as usize] = *value;
        }
        for (index, value) in &program.wide_constants {
            cells.wide[*index as usize] = *value;
        }
        for (index, var) in &program.objects {
            let Some(address) = layout.address(*var) else { continue };
            cells.narrow[*index as usize] = address;
            let object = program.function.objects.get(var);
            let first = object.and_then(|o| o.member_at(0)).and_then(|member| layout.address(member.var));
            let section = object.is_none_or(|o| o.kind == program::ObjectKind::Section);
            cells.narrow_shadows[*index as usize].origin = match (section, first) {
                (false, _) => Origin::Object(address),
                (true, Some(first)) if program.function.is_unoptimised() => Origin::Object(first),
                (true, Some(first)) => Origin::Near(first),
                (true, None) => Origin::Section,
            };
        }
        cells
    }

    pub(super) fn shadow(&self, cell: Cell) -> Shadow {
        match cell {
            Cell::Narrow(index) => self.narrow_shadows[index as usize],
            Cell::Wide(index) => self.wide_shadows[index as usize],
        }
    }

    pub(super) fn set_shadow(&mut self, cell: Cell, shadow: Shadow) {
        match cell {
            Cell::Narrow(index) => self.narrow_shadows[index as usize] = shadow,
            Cell::Wide(index) => self.wide_shadows[index as usize] = shadow,
        }
    }

    /// The low 64 bits of a cell.
    pub(super) fn low(&self, cell: Cell) -> u64 {
        match cell {
            Cell::Narrow(index) => self.narrow[index as usize],
            Cell::Wide(index) => self.wide[index as usize].low(),
        }
    }

    fn value(&self, cell: Cell, width: u16) -> Value {
        match cell {
            Cell::Wide(index) => Value::Bits(self.wide[index as usize]),
            Cell::Narrow(index) if width == 0 => Value::Bool(self.narrow[index as usize] != 0),
            Cell::Narrow(index) => Value::Bits(Bits::new(width, self.narrow[index as usize])),
        }
    }

    fn set_value(&mut self, cell: Cell, value: Value) {
        match (cell, value) {
            (Cell::Narrow(index), Value::Bits(bits)) => self.narrow[index as usize] = bits.low(),
            (Cell::Narrow(index), Value::Bool(bit)) => self.narrow[index as usize] = u64::from(bit),
            (Cell::Wide(index), Value::Bits(bits)) => self.wide[index as usize] = bits,
            (_, Value::Memory(_)) | (Cell::Wide(_), Value::Bool(_)) => {}
        }
    }

    /// Copies a value of the same kind.
    pub(super) fn copy(&mut self, to: Cell, from: Cell) {
        match (to, from) {
            (Cell::Narrow(to), Cell::Narrow(from)) => self.narrow[to as usize] = self.narrow[from as usize],
            (Cell::Wide(to), Cell::Wide(from)) => self.wide[to as usize] = self.wide[from as usize],
            _ => {}
        }
    }
}

/// Runs the code of an expression.
pub(super) fn evaluate(
    cells: &mut Cells,
    program: &Program,
    arena: &Arena,
    expression: &Expression,
    tracking: Tracking,
) {
    let code = &program.instructions[expression.code.start as usize..expression.code.end as usize];
    match tracking {
        Tracking::Off => code.iter().for_each(|i| step(cells, program, arena, i)),
        Tracking::On => {
            for instruction in code {
                step(cells, program, arena, instruction);
                track(cells, program, instruction);
            }
        }
    }
}

fn mask(width: u16) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn signed(value: u64, width: u16) -> i64 {
    let shift = 64 - u32::from(width.clamp(1, 64));
    ((value << shift) as i64) >> shift
}

fn step(cells: &mut Cells, program: &Program, arena: &Arena, i: &Instruction) {
    let (a, b) = match i.kind {
        Kind::General(op) => {
            if lanes(cells, program, op, i) {
                return;
            }
            let range = i.a as usize..(i.a + i.b) as usize;
            let operands = program.operands[range.clone()].iter().zip(&program.operand_widths[range]);
            let values: SmallVec<[Value; 4]> = operands.map(|(cell, width)| cells.value(*cell, *width)).collect();
            cells.set_value(i.to, apply(arena, op, &values));
            return;
        }
        Kind::FrameBase
        | Kind::ObjectBase
        | Kind::NearBase
        | Kind::SectionBase
        | Kind::Difference
        | Kind::Quotient
        | Kind::ShiftCount => return,
        _ => (cells.narrow[i.a as usize], cells.narrow[i.b as usize]),
    };
    let shift = |amount: u64| u32::try_from(amount).ok().filter(|n| *n < u32::from(i.width));
    let value = match i.kind {
        Kind::Not => a ^ 1,
        Kind::And | Kind::BvAnd => a & b,
        Kind::Or | Kind::BvOr => a | b,
        Kind::BvXor => a ^ b,
        Kind::Ite => {
            if a != 0 {
                b
            } else {
                cells.narrow[i.c as usize]
            }
        }
        Kind::Eq => u64::from(a == b),
        Kind::Ult => u64::from(a < b),
        Kind::Slt => u64::from(signed(a, i.width) < signed(b, i.width)),
        Kind::Add => a.wrapping_add(b) & mask(i.width),
        Kind::Mul => a.wrapping_mul(b) & mask(i.width),
        Kind::BvNot => !a & mask(i.width),
        Kind::Shl => shift(b).map_or(0, |n| a << n & mask(i.width)),
        Kind::Lshr => shift(b).map_or(0, |n| a >> n),
        Kind::Ashr => (signed(a, i.width) >> shift(b).unwrap_or(63)) as u64 & mask(i.width),
        Kind::Extract => a >> i.c & mask(i.width),
        Kind::Concat => a << i.c | b,
        Kind::Sext => signed(a, i.c as u16) as u64 & mask(i.width),
        Kind::FrameBase
        | Kind::ObjectBase
        | Kind::NearBase
        | Kind::SectionBase
        | Kind::Difference
        | Kind::Quotient
        | Kind::ShiftCount
        | Kind::General(_) => return,
    };
    if let Cell::Narrow(to) = i.to {
        cells.narrow[to as usize] = value;
    }
}

/// Takes vectors apart and puts them together, which vector code does all the time; false for everything else.
fn lanes(cells: &mut Cells, program: &Program, op: TermOp, i: &Instruction) -> bool {
    let range = i.a as usize..(i.a + i.b) as usize;
    let (operands, widths) = (&program.operands[range.clone()], &program.operand_widths[range]);
    match (op, i.to) {
        (TermOp::Extract { hi, lo }, Cell::Narrow(to)) => {
            let [Cell::Wide(from)] = *operands else { return false };
            let limbs = cells.wide[from as usize].limbs();
            let (limb, shift) = (usize::from(lo) / 64, lo % 64);
            let high = if shift == 0 { 0 } else { limbs.get(limb + 1).map_or(0, |next| next << (64 - shift)) };
            cells.narrow[to as usize] = (limbs[limb] >> shift | high) & mask(hi - lo + 1);
            true
        }
        (TermOp::Concat, Cell::Wide(to)) => {
            let mut limbs = [0u64; 8];
            let mut at = 0u16;
            for (cell, width) in operands.iter().zip(widths).rev() {
                let one;
                let parts = match *cell {
                    Cell::Narrow(index) => {
                        one = [cells.narrow[index as usize]];
                        &one[..]
                    }
                    Cell::Wide(index) => &cells.wide[index as usize].limbs()[..usize::from(*width).div_ceil(64)],
                };
                for (k, part) in parts.iter().enumerate() {
                    let (limb, shift) = (usize::from(at) / 64 + k, at % 64);
                    if limb < 8 {
                        limbs[limb] |= part << shift;
                    }
                    if shift > 0 && limb + 1 < 8 {
                        limbs[limb + 1] |= part >> (64 - shift);
                    }
                }
                at += width;
            }
            cells.wide[to as usize] = Bits::from_limbs(at, &limbs[..usize::from(at).div_ceil(64)]);
            true
        }
        _ => false,
    }
}

/// The shadow of an instruction's result.
fn track(cells: &mut Cells, program: &Program, i: &Instruction) {
    let shadow = match i.kind {
        Kind::General(op) => {
            let range = i.a as usize..(i.a + i.b) as usize;
            let operands = &program.operands[range.clone()];
            if operands.iter().all(|cell| cells.shadow(*cell).taint == 0) {
                Shadow::CLEAN
            } else {
                let widths = &program.operand_widths[range];
                let one = |(cell, width): (&Cell, &u16)| (cells.value(*cell, *width), cells.shadow(*cell).taint);
                let values: SmallVec<[(Value, u64); 4]> = operands.iter().zip(widths).map(one).collect();
                Shadow { taint: taint::of(op, &values, i.width), origin: Origin::None }
            }
        }
        Kind::FrameBase => {
            let mut shadow = cells.shadow(i.to);
            let base = cells.narrow[usize::from(i.width)].wrapping_add(u64::from(i.a) | u64::from(i.b) << 32);
            if is_stack(base) && shadow.origin == Origin::Frame {
                let locals = &program.function.locals;
                let starts = |n: &u32| STACK_TOP.wrapping_add(locals[*n as usize].offset as u64) == base;
                let local = local_at(locals, base).filter(|n| i.c == 0 || starts(n));
                shadow.origin = local.map_or(Origin::Frame, Origin::Local);
                cells.outside |= local.is_some_and(|n| {
                    let reached = local_at(locals, cells.low(i.to)) == Some(n);
                    reached && !in_one_member(program, [base, cells.low(i.to)])
                });
            }
            shadow
        }
        Kind::ObjectBase => Shadow { origin: Origin::Object(cells.narrow[i.a as usize]), ..cells.shadow(i.to) },
        Kind::NearBase => Shadow { origin: Origin::Near(cells.narrow[i.a as usize]), ..cells.shadow(i.to) },
        Kind::SectionBase => Shadow { origin: Origin::Section, ..cells.shadow(i.to) },
        Kind::Difference => {
            let [more, less] = [cells.narrow[i.a as usize], cells.narrow[i.b as usize].wrapping_neg()];
            let mut shadow = cells.shadow(i.to);
            if i.c == 1 {
                shadow.origin = Origin::Difference;
            }
            // How far something else is from the frame, nobody can say: frames lie anywhere, and those of two versions differ.
            if is_stack(more) != is_stack(less) {
                shadow.taint = u64::MAX;
            }
            shadow
        }
        Kind::ShiftCount => {
            cells.far |= cells.narrow[i.a as usize] & 0xff >= u64::from(i.width);
            return;
        }
        Kind::Quotient => {
            let (dividend, divisor) = (cells.narrow[i.a as usize] as i64, cells.narrow[i.b as usize] as i64);
            let inexact = dividend.checked_rem(divisor).is_some_and(|rest| rest != 0);
            cells.inexact |= inexact && cells.narrow_shadows[i.a as usize].origin == Origin::Difference;
            return;
        }
        _ => {
            let shadow = narrow_shadow(cells, i);
            if i.kind == Kind::Sext && cells.narrow_shadows[i.a as usize].origin == Origin::Rest {
                cells.inexact = true;
            }
            if shadow.origin == Origin::Difference {
                cells.inexact |= leaves_rest(cells, i);
            }
            shadow
        }
    };
    cells.set_shadow(i.to, shadow);
}

fn narrow_shadow(cells: &Cells, i: &Instruction) -> Shadow {
    let unary = matches!(i.kind, Kind::Not | Kind::BvNot | Kind::Extract | Kind::Sext);
    let a = cells.narrow_shadows[i.a as usize];
    let b = if unary { Shadow::CLEAN } else { cells.narrow_shadows[i.b as usize] };
    let c = if i.kind == Kind::Ite { cells.narrow_shadows[i.c as usize] } else { Shadow::CLEAN };
    let origin = match i.kind {
        Kind::Add if i.width == 64 => match (a.origin, b.origin) {
            (Origin::Difference, origin) | (origin, Origin::Difference) if origin == Origin::Difference => Origin::None,
            (Origin::Near(_), _) | (_, Origin::Near(_)) => Origin::Section,
            (origin, Origin::None | Origin::Difference) | (Origin::None | Origin::Difference, origin) => origin,
            _ => Origin::None,
        },
        Kind::Ashr | Kind::Mul | Kind::Sext if a.origin == Origin::Difference => Origin::Difference,
        Kind::Mul if b.origin == Origin::Difference => Origin::Difference,
        // A shift to the right, before the sign is extended.
        Kind::Extract if a.origin == Origin::Difference && i.c > 0 && i.c + u32::from(i.width) == 64 => {
            if cells.narrow[i.a as usize] & ((1 << i.c) - 1) == 0 { Origin::Difference } else { Origin::Rest }
        }
        Kind::BvAnd => {
            if a.origin == Origin::Frame {
                Origin::Frame
            } else {
                Origin::None
            }
        }
        Kind::Ite => {
            if cells.narrow[i.a as usize] != 0 {
                b.origin
            } else {
                c.origin
            }
        }
        _ => Origin::None,
    };
    if a.taint | b.taint | c.taint == 0 {
        return Shadow { taint: 0, origin };
    }
    let value = |index: u32, width: u16| match width {
        0 => Value::Bool(cells.narrow[index as usize] != 0),
        width => Value::Bits(Bits::new(width, cells.narrow[index as usize])),
    };
    let taint = taint::narrow(i, [a.taint, b.taint, c.taint], &value);
    Shadow { taint, origin }
}

/// Does a division of a difference leave a rest? A shift divides, and so does the product with an inverse modulo 2⁶⁴.
fn leaves_rest(cells: &Cells, i: &Instruction) -> bool {
    let (a, b) = (cells.narrow[i.a as usize], cells.narrow[i.b as usize]);
    match i.kind {
        Kind::Ashr => b < 64 && a & ((1 << b) - 1) != 0,
        Kind::Mul if i.width == 64 => {
            let of_pointers = cells.narrow_shadows[i.a as usize].origin == Origin::Difference;
            let (difference, factor) = if of_pointers { (a, b) } else { (b, a) };
            // Newton's iteration: each round doubles the number of correct bits.
            let step = |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x)));
            let divisor = (0..6).fold(factor, step);
            let divides = factor % 2 == 1 && factor >> 32 != 0 && divisor < 1 << 20;
            divides && (difference as i64) % (divisor as i64) != 0
        }
        _ => false,
    }
}

/// Are two addresses of a local structure in the same member?
fn in_one_member(program: &Program, [a, b]: [u64; 2]) -> bool {
    let [a, b] = [a, b].map(|address| address.wrapping_sub(STACK_TOP) as i64);
    let starts = &program.function.surroundings.member_starts;
    a == b || starts.range(a.min(b).saturating_add(1)..=a.max(b)).next().is_none()
}

/// The smallest local variable that holds a stack address: variables of disjoint scopes may share their place.
pub(super) fn local_at(locals: &[Local], address: u64) -> Option<u32> {
    let offset = address.wrapping_sub(STACK_TOP) as i64;
    let inside = |l: &Local| offset >= l.offset && (offset.wrapping_sub(l.offset) as u64) < l.size;
    let found = locals.iter().enumerate().filter(|(_, l)| inside(l)).min_by_key(|(_, l)| l.size);
    found.map(|(i, _)| i as u32)
}
