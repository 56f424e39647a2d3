//! What LLVM's description demands of an instruction's registers.
//!
//! Constraints come from the row of the opcode and, for inline assembly, from its flag words, which both programs must
//! agree on; what the text says about them (`tied-def`, `early-clobber`) is not asked. They bind physical registers only:
//! a virtual register is still to be given one. An instruction that breaks a constraint is recorded in
//! [`machine::Function::violation`], which no proof survives, and its results are not known.

use super::*;
use crate::table::{Kind, RegisterClass, Spec};

/// Kinds of groups of inline assembly.
const USE: u32 = 1;
const DEFINITION: u32 = 2;
const EARLY: u32 = 3;
const CLOBBER: u32 = 4;

/// An operand that is written.
struct Written {
    lane: Lane,
    early: bool,
    /// Number among the explicit operands; `None` if it is implicit.
    number: Option<usize>,
}

/// An operand that is read.
struct Read {
    lane: Lane,
    tied: Option<usize>,
}

/// The registers of an instruction.
#[derive(Default)]
struct Registers {
    written: Vec<Written>,
    read: Vec<Read>,
}

impl Lifter<'_> {
    /// The instruction breaks a constraint: what it yields is not known, and nothing is proved of the function.
    pub(super) fn violate(&mut self, what: impl Into<String>) {
        self.violated = true;
        self.doubt(what);
    }

    /// An access to a spill slot that goes wrong whenever it is made.
    pub(super) fn forbid(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.function.forbidden.is_none() {
            self.function.forbidden = Some((self.line, what.clone()));
        }
        self.violate(what);
    }

    /// Something that later passes read is not as it must be: nothing is proved of the function.
    pub(super) fn doubt(&mut self, what: impl Into<String>) {
        if self.function.violation.is_none() {
            self.function.violation = Some((self.line, what.into()));
        }
    }

    /// Checks the explicit operands against the row. Notes in `operands` how many bits of each are read and yielded.
    pub(super) fn constrain(&mut self, line: &Line, row: &Row, explicit: &[Operand], operands: &mut Operands) {
        if line.opcode.starts_with("INLINEASM") {
            return self.constrain_assembly(explicit, operands);
        }
        let mut registers = Registers::default();
        let mut at = 0;
        for spec in &row.operands {
            let size = if matches!(spec.kind, Kind::Memory { .. }) { 5 } else { 1 };
            let Some(parts) = explicit.get(at..at + size) else {
                return self.malformed(line, "has too few operands");
            };
            if !self.fits(spec, at, parts, &mut registers, operands) {
                return self.malformed(line, &format!("has a strange operand {}", at + 1));
            }
            at += size;
        }
        let rest = explicit.get(at..).unwrap_or(&[]);
        if !rest.is_empty() && !row.variadic && !is_counted_elsewhere(&line.opcode) {
            return self.malformed(line, "has too many operands");
        }
        for (k, operand) in rest.iter().enumerate() {
            if let Operand::Register(lane, flags) = operand {
                match flags.define {
                    true => operands.yields.push(0),
                    false => operands.reads.push(0),
                }
                if is_physical(*lane) && flags.define {
                    registers.written.push(Written { lane: *lane, early: flags.early, number: Some(at + k) });
                } else if is_physical(*lane) && !flags.undefined {
                    registers.read.push(Read { lane: *lane, tied: None });
                }
            } else {
                operands.reads.push(0);
            }
        }
        for (lane, flags) in &operands.implicit_definitions {
            registers.written.push(Written { lane: *lane, early: flags.early && row.variadic, number: None });
        }
        self.check_registers(&registers, !row.calls);
        self.check_high_bytes(row, explicit);
    }

    fn malformed(&mut self, line: &Line, what: &str) {
        self.gap(format!("`{}` {what}", line.opcode));
    }

    /// Does an operand stand where the row wants one of its kind?
    fn fits(
        &mut self,
        spec: &Spec,
        at: usize,
        parts: &[Operand],
        registers: &mut Registers,
        operands: &mut Operands,
    ) -> bool {
        match spec.kind {
            Kind::Register(class) => {
                let Operand::Register(lane, flags) = parts[0] else { return false };
                if flags.define != spec.defined {
                    return false;
                }
                if let Some((result, _)) = spec.tied.and_then(|n| operands.defined.get(n)) {
                    self.untied |= result.location != lane.location && !is_physical(lane) && !is_physical(*result);
                }
                let bits = spec.reads.unwrap_or(class.bits);
                let cut = if bits < lane.bits { bits } else { 0 };
                match spec.defined {
                    true => operands.yields.push(cut),
                    false => operands.reads.push(cut),
                }
                if is_physical(lane) {
                    self.check_class(class, lane);
                    if spec.defined {
                        registers.written.push(Written { lane, early: spec.early, number: Some(at) });
                    } else if !flags.undefined {
                        registers.read.push(Read { lane, tied: spec.tied });
                    }
                }
                true
            }
            Kind::Memory { base, index, .. } => {
                if !is_address_shape(parts) {
                    return false;
                }
                operands.reads.extend([0; 5]);
                if let Operand::Immediate(offset) | Operand::Text(_, offset) = parts[3]
                    && i32::try_from(offset).is_err()
                {
                    self.violate(format!("the displacement {offset} does not fit its instruction"));
                }
                let segments = crate::table::class_named("segment_reg");
                for (part, class) in [(0, base), (2, index), (4, segments)] {
                    let Operand::Register(lane, flags) = parts[part] else { continue };
                    if flags.define {
                        return false;
                    }
                    if is_physical(lane) {
                        let Some(class) = class else { return false };
                        self.check_class(class, lane);
                        registers.read.push(Read { lane, tied: None });
                    }
                }
                true
            }
            Kind::Number(_) | Kind::Target => {
                if let (Kind::Number(encoding), Operand::Immediate(number)) = (spec.kind, parts[0])
                    && !encoding.holds(number)
                {
                    self.violate(format!("the number {number} does not fit its instruction"));
                }
                operands.reads.push(0);
                !matches!(parts[0], Operand::Register(..) | Operand::NoRegister)
            }
            Kind::Any => {
                match parts[0] {
                    Operand::Register(lane, flags) if flags.define => {
                        operands.yields.push(0);
                        if is_physical(lane) {
                            registers.written.push(Written { lane, early: false, number: Some(at) });
                        }
                    }
                    // `$noreg` is no value.
                    Operand::NoRegister => return false,
                    _ => operands.reads.push(0),
                }
                true
            }
        }
    }

    fn check_class(&mut self, class: &RegisterClass, lane: Lane) {
        if !class.has(lane) {
            let name = self.function.location_name(lane.location);
            self.violate(format!("{name} ({} bits) is not in the class {}", lane.bits, class.name));
        }
    }

    /// Ties, early clobbers, and definitions that share bits.
    fn check_registers(&mut self, registers: &Registers, disjoint: bool) {
        for read in &registers.read {
            let tied = |w: &&Written| read.tied.is_some() && w.number == read.tied;
            if let Some(written) = registers.written.iter().find(tied)
                && written.lane != read.lane
            {
                let name = self.function.location_name(read.lane.location);
                self.violate(format!("the operand in {name} must be where the result is"));
            }
            let clobbered = |w: &&Written| w.early && w.lane.overlaps(read.lane) && !tied(w);
            if registers.written.iter().any(|w| clobbered(&w)) {
                let name = self.function.location_name(read.lane.location);
                self.violate(format!("{name} is written before it is read"));
            }
        }
        for (i, one) in registers.written.iter().enumerate() {
            let twice = |other: &Written| one.lane.overlaps(other.lane) && (disjoint || one.lane == other.lane);
            if registers.written[..i].iter().any(twice) {
                let name = self.function.location_name(one.lane.location);
                self.violate(format!("{name} takes two results"));
            }
        }
    }

    /// Intel SDM vol. 2A, 2.2.1: with a REX prefix ah, bh, ch and dh cannot be named.
    fn check_high_bytes(&mut self, row: &Row, explicit: &[Operand]) {
        let lanes =
            || explicit.iter().filter_map(|o| if let Operand::Register(lane, _) = o { Some(*lane) } else { None });
        if !lanes().any(|lane| is_physical(lane) && lane.low == 8 && lane.bits == 8) {
            return;
        }
        let needs_prefix = |lane: Lane| match lane.location.place() {
            Place::Physical(unit @ 0..32) => unit >= 8 || unit >= 4 && lane.bits == 8,
            Place::Physical(unit @ 32..64) => unit >= 40,
            _ => false,
        };
        let wide = row.operands.iter().any(|spec| matches!(spec.kind, Kind::Register(class) if class.bits == 64));
        if wide || lanes().any(needs_prefix) {
            self.violate("the upper byte of a register stands beside a register that needs a prefix");
        }
    }

    /// Inline assembly: each flag word says what the operands behind it are (llvm/IR/InlineAsm.h).
    fn constrain_assembly(&mut self, explicit: &[Operand], operands: &mut Operands) {
        let mut registers = Registers::default();
        // The text and its flags, then groups.
        let [Operand::Text(..), Operand::Immediate(_), groups @ ..] = explicit else {
            return self.gap("inline assembly with unusual operands");
        };
        operands.reads.extend([0, 0]);
        // The position of the first operand of each group, and the group's class.
        let mut starts: Vec<(usize, Option<&'static RegisterClass>)> = Vec::new();
        let mut at = 0;
        while let Some(Operand::Immediate(word)) = groups.get(at) {
            let Ok(word) = u32::try_from(*word) else { return self.gap("inline assembly with a strange flag word") };
            let kind = word & 7;
            let count = (word >> 3 & 0x1fff) as usize;
            operands.reads.push(0);
            let Some(members) = groups.get(at + 1..at + 1 + count) else {
                return self.gap("inline assembly with a strange flag word");
            };
            let tied = (word >> 31 == 1).then_some((word >> 16 & 0x7fff) as usize);
            let class = (tied.is_none() && word >> 16 & 0x3fff > 0)
                .then(|| crate::table::class_numbered((word >> 16 & 0x3fff) as usize - 1));
            let class = match class {
                Some(None) if matches!(kind, 1..=3) => return self.gap("inline assembly with an unknown class"),
                Some(class) if matches!(kind, 1..=3) => class,
                _ => None,
            };
            // What is tied has the class of the group that it is tied to.
            let class = class.or_else(|| starts.get(tied?).and_then(|(_, class)| *class));
            for (k, member) in members.iter().enumerate() {
                let tied = match tied.map(|group| starts.get(group)) {
                    Some(Some((start, _))) => Some(start + k),
                    Some(None) => return self.gap("inline assembly tied to nothing"),
                    None => None,
                };
                let ok = self.asm_operand(kind, class, tied, member, at + 1 + k, &mut registers, operands);
                if !ok {
                    return self.gap("inline assembly with an operand that its flag word does not allow");
                }
            }
            starts.push((at + 1, class));
            at += 1 + count;
        }
        // Then metadata and such, and notes about liveness.
        let explicit = |o: &Operand| match o {
            Operand::Register(_, flags) => !flags.implicit,
            other => *other == Operand::NoRegister,
        };
        if groups[at..].iter().any(explicit) {
            return self.gap("inline assembly with a register behind its groups");
        }
        operands.reads.extend(groups[at..].iter().filter(|o| !matches!(o, Operand::Register(..))).map(|_| 0));
        let grouped = |lane: &Lane| operands.members.contains(lane);
        for (lane, _) in operands.implicit_definitions.iter().filter(|(lane, _)| !grouped(lane)) {
            registers.written.push(Written { lane: *lane, early: true, number: None });
        }
        self.check_registers(&registers, true);
        let early = registers.written.iter().filter(|w| w.early);
        // A clobber is written before all that is read: what is read implicitly too, save the stack pointer.
        for (lane, _) in &operands.implicit_uses {
            if early.clone().any(|w| w.lane.overlaps(*lane)) && !self.is_reserved(*lane) {
                return self.gap("inline assembly clobbers what it reads implicitly");
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn asm_operand(
        &mut self,
        kind: u32,
        class: Option<&'static RegisterClass>,
        tied: Option<usize>,
        member: &Operand,
        number: usize,
        registers: &mut Registers,
        operands: &mut Operands,
    ) -> bool {
        match (kind, member) {
            // A certain register is defined implicitly.
            (DEFINITION | EARLY | CLOBBER, Operand::Register(lane, flags)) if flags.implicit => {
                let number = (kind != CLOBBER).then_some(number);
                registers.written.push(Written { lane: *lane, early: kind != DEFINITION, number });
                operands.members.push(*lane);
                is_physical(*lane) && (kind == DEFINITION || flags.early)
            }
            (USE | DEFINITION | EARLY, Operand::Register(lane, flags)) => {
                if flags.define != (kind != USE) || flags.early != (kind == EARLY) {
                    return false;
                }
                // Later passes read the text's own note.
                if tied.is_some() && flags.tied.is_none() {
                    self.doubt("an operand of inline assembly does not say that it is tied");
                }
                let cut = class.map(|class| class.bits).filter(|bits| *bits < lane.bits).unwrap_or(0);
                match flags.define {
                    true => operands.yields.push(cut),
                    false => operands.reads.push(cut),
                }
                if !is_physical(*lane) {
                    return true;
                }
                if let Some(class) = class {
                    self.check_class(class, *lane);
                }
                match kind {
                    USE if flags.undefined => {}
                    USE => registers.read.push(Read { lane: *lane, tied }),
                    _ => registers.written.push(Written { lane: *lane, early: kind == EARLY, number: Some(number) }),
                }
                true
            }
            (USE | DEFINITION | EARLY | CLOBBER, _) => false,
            (_, Operand::Register(lane, flags)) => {
                operands.reads.push(0);
                if is_physical(*lane) {
                    registers.read.push(Read { lane: *lane, tied: None });
                }
                !flags.define
            }
            _ => {
                operands.reads.push(0);
                true
            }
        }
    }
}

/// Instructions whose operands LLVM's table does not count.
fn is_counted_elsewhere(opcode: &str) -> bool {
    matches!(opcode, "KILL" | "PHI" | "REG_SEQUENCE" | "BUNDLE") || opcode.starts_with("DBG_")
}

pub(super) fn is_physical(lane: Lane) -> bool {
    matches!(lane.location.place(), Place::Physical(_))
}

/// Five operands that may be an address.
fn is_address_shape(parts: &[Operand]) -> bool {
    matches!(
        parts,
        [
            Operand::Register(..) | Operand::NoRegister | Operand::Stack(_) | Operand::Text(..),
            Operand::Immediate(1 | 2 | 4 | 8),
            Operand::Register(..) | Operand::NoRegister,
            Operand::Immediate(_) | Operand::Text(..),
            Operand::Register(..) | Operand::NoRegister
        ]
    )
}
