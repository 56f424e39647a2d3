//! Definitions, and instructions that only move values around.

use super::*;

impl Lifter<'_> {
    /// Writes a definition.
    pub(super) fn set(&mut self, lane: Lane, flags: RegisterFlags, value: Arg) {
        if self.is_reserved(lane) {
            let name = self.names.intern("write a reserved register");
            let unit = Arg::Constant(u64::from(lane.location.number()), 32);
            self.apply(name, &[unit, value], &[], Commute::Never, Effect::Event, None);
        }
        self.before(lane, flags);
        self.push(Step::Move { to: lane, from: value });
        self.after(lane);
    }

    /// Zero extension of the low bits of a value into a definition.
    pub(super) fn extend(&mut self, lane: Lane, flags: RegisterFlags, value: Arg, bits: u16) {
        if bits >= lane.bits {
            return self.set(lane, flags, cut(value, lane.bits));
        }
        let whole = self.temporary(lane.bits);
        self.push(Step::Move { to: whole, from: Arg::Constant(0, lane.bits) });
        self.push(Step::Move { to: Lane { bits, ..whole }, from: cut(value, bits) });
        self.set(lane, flags, Arg::Lane(whole));
    }

    /// What a definition does to the rest of its register before it is written.
    pub(super) fn before(&mut self, lane: Lane, flags: RegisterFlags) {
        let width = self.function.width(lane.location);
        let partial = lane.bits < width;
        if flags.undefined && partial && matches!(lane.location.place(), Place::Virtual(_)) {
            self.push(Step::Undefine(Lane::new(lane.location, 0, width)));
        }
    }

    /// What a definition does to the rest of its register.
    pub(super) fn after(&mut self, lane: Lane) {
        let width = self.function.width(lane.location);
        if lane.bits >= width {
            return;
        }
        if lane.bits == 32 && lane.low == 0 && width == 64 {
            self.push(Step::Move { to: Lane::new(lane.location, 32, 32), from: Arg::Constant(0, 32) });
        } else if lane.bits >= 128 && lane.low == 0 && self.row.clears {
            let rest = Lane::new(lane.location, lane.bits, width - lane.bits);
            self.push(Step::Move { to: rest, from: Arg::Constant(0, rest.bits) });
        } else if lane.bits >= 128 || registers::is_vector(lane.location) {
            self.push(Step::Forget(Lane::new(lane.location, lane.bits, width - lane.bits)));
        }
    }

    pub(super) fn forget_implicit(&mut self, operands: &Operands) {
        for (lane, _) in &operands.implicit_definitions {
            // A part of the result is a note about liveness.
            if !operands.defined.iter().any(|(d, _)| d.location == lane.location) {
                self.push(Step::Forget(*lane));
            }
        }
    }

    pub(super) fn kill(&mut self, operands: &Operands) {
        for (lane, _) in &operands.defined {
            let own = operands.used.iter().any(|o| matches!(o, Operand::Register(l, _) if l.location == lane.location));
            if !own {
                self.push(Step::Forget(*lane));
            }
        }
    }

    pub(super) fn copy(&mut self, operands: &Operands) {
        let (&[(to, flags)], [source]) = (&operands.defined[..], &operands.used[..]) else {
            return self.gap("COPY with unusual operands");
        };
        let Operand::Register(from, source_flags) = *source else { return self.gap("COPY of something else") };
        // A copy of a register to itself is no instruction.
        if from == to && matches!(to.location.place(), Place::Physical(_)) {
            return;
        }
        if is_physical(from) && is_physical(to) && !can_copy(from, to) {
            let (from, to) = (self.function.location_name(from.location), self.function.location_name(to.location));
            self.violate(format!("no instruction copies this part of {from} to {to}"));
        }
        if source_flags.undefined {
            self.before(to, flags);
            self.push(Step::Undefine(to));
            return self.after(to);
        }
        let value = if from.bits < to.bits { Arg::Padded(from, to.bits) } else { cut(Arg::Lane(from), to.bits) };
        self.set(to, flags, value);
        self.note_copy(from, to);
        // The allocator may give both one register, and then there is no instruction.
        let cleared = matches!(self.function.steps.last(), Some(Step::Move { to: rest, from: Arg::Constant(0, 32) }) if rest.low == 32);
        if flags.undefined && cleared && !is_physical(to) {
            self.function.weak.push(self.function.steps.len() as u32 - 1);
        }
    }

    /// Puts parts into a register that is otherwise `base`, or zero.
    pub(super) fn assemble(&mut self, operands: &Operands, base: Option<Arg>, parts: &[(Arg, u16, u16)]) {
        let [(to, flags)] = operands.defined[..] else {
            return self.gap("a register is put together without a target");
        };
        let whole = self.temporary(to.bits);
        match base {
            Some(Arg::Undefined(_)) => self.push(Step::Undefine(whole)),
            Some(Arg::Lane(lane)) if lane.bits < to.bits => {
                self.push(Step::Move { to: whole, from: Arg::Padded(lane, to.bits) });
            }
            Some(base) => self.push(Step::Move { to: whole, from: base }),
            None => self.push(Step::Move { to: whole, from: Arg::Constant(0, to.bits) }),
        }
        for (value, low, bits) in parts {
            if low + bits > to.bits {
                return self.gap("a part does not fit its register");
            }
            let lane = Lane::new(whole.location, *low, *bits);
            match value {
                Arg::Undefined(_) => self.push(Step::Undefine(lane)),
                value if arg_bits(*value) < *bits => return self.gap("a part is narrower than its place"),
                value => self.push(Step::Move { to: lane, from: cut(*value, *bits) }),
            }
        }
        self.set(to, flags, Arg::Lane(whole));
    }

    pub(super) fn phi(&mut self, line: &Line) {
        let mut operands = line.operands.iter();
        let Some(Operand::Register(to, _)) = operands.next() else { return self.gap("PHI without a target") };
        let to = self.resolve(*to);
        let mut sources = Vec::new();
        let rest: Vec<&Operand> = operands.collect();
        for pair in rest.chunks(2) {
            let [Operand::Register(lane, flags), Operand::Block(block)] = pair else {
                return self.gap("PHI with unusual operands");
            };
            let arg = if flags.undefined { Arg::Undefined(to.bits) } else { Arg::Lane(self.resolve(*lane)) };
            sources.push((*block, arg));
        }
        if to.bits != self.function.width(to.location) {
            return self.gap("PHI of a part of a register");
        }
        self.phis.push(Phi { to, sources, line: self.line });
    }
}

/// The registers that values are copied between, by unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    General,
    Vector,
    Mask,
    Multimedia,
    Float,
    Tile,
}

fn family(lane: Lane) -> Option<Family> {
    let Place::Physical(unit) = lane.location.place() else { return None };
    Some(match unit {
        0..32 => Family::General,
        32..64 => Family::Vector,
        96..104 => Family::Mask,
        104..112 => Family::Multimedia,
        // The last one is what the pass for the stack of x87 needs itself.
        112..119 => Family::Float,
        128..136 => Family::Tile,
        _ => return None,
    })
}

/// Is there a copy between these registers? X86InstrInfo::copyPhysReg.
fn can_copy(from: Lane, to: Lane) -> bool {
    let (Some(a), Some(b)) = (family(from), family(to)) else { return false };
    let general = if a == Family::General { from.bits } else { to.bits };
    match (a, b) {
        (a, b) if a == b => from.bits == to.bits,
        (Family::General, Family::Vector) | (Family::Vector, Family::General) => {
            matches!(general, 32 | 64) && from.bits.max(to.bits) == 128
        }
        (Family::General, Family::Mask) | (Family::Mask, Family::General) => matches!(general, 32 | 64),
        (Family::General, Family::Multimedia) | (Family::Multimedia, Family::General) => general == 64,
        _ => false,
    }
}
