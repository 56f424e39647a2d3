//! Which physical registers hold something, as the text says: lists of what is live where a block is entered, `killed`
//! and `dead`. Later passes put their own instructions where the text says that a register is free, so it must not say
//! so of a register that is read again.
//!
//! The rules are those of LLVM's own verifier: a register that is read is live, at least in part; what a block says to be
//! live on entry is live at the end of all blocks before it. Together they make the lists complete on every path.

use super::*;

/// Units of the general registers, vectors and flags, and of masks, MMX and x87. The others are reserved, or nobody asks.
fn is_tracked(unit: u32) -> bool {
    unit < 64 || unit == FLAGS || (96..120).contains(&unit)
}

const UNITS: usize = 128;
/// Where the parts of a register end.
const ENDS: [u16; 7] = [8, 16, 32, 64, 128, 256, 512];

/// Live parts of each unit, a bit each.
#[derive(Clone)]
pub struct Live([u8; UNITS]);

impl Default for Live {
    fn default() -> Live {
        Live([0; UNITS])
    }
}

/// The unit of a tracked register, and its parts.
fn parts(lane: Lane) -> Option<(usize, u8)> {
    let Place::Physical(unit) = lane.location.place() else { return None };
    if !is_tracked(unit) {
        return None;
    }
    let (mut mask, mut low) = (0, 0);
    for (bit, end) in ENDS.into_iter().enumerate() {
        if low < lane.low + lane.bits && lane.low < end {
            mask |= 1 << bit;
        }
        low = end;
    }
    Some((unit as usize, mask))
}

impl Live {
    pub fn add(&mut self, lane: Lane) {
        if let Some((unit, mask)) = parts(lane) {
            self.0[unit] |= mask;
        }
    }

    fn remove(&mut self, lane: Lane) {
        if let Some((unit, mask)) = parts(lane) {
            self.0[unit] &= !mask;
        }
    }

    /// Is at least a part live? Of what is not tracked that is taken for granted.
    pub fn has(&self, lane: Lane) -> bool {
        parts(lane).is_none_or(|(unit, mask)| self.0[unit] & mask != 0)
    }
}

impl Lifter<'_> {
    /// What an instruction does to what is live.
    pub(super) fn follow_liveness(&mut self, line: &Line, sorted: &Operands) {
        if !self.tracks_liveness || line.opcode.starts_with("DBG_") {
            return;
        }
        let registers =
            || line.operands.iter().filter_map(|o| if let Operand::Register(l, f) = o { Some((*l, *f)) } else { None });
        let reads = |(_, flags): &(Lane, RegisterFlags)| !flags.define && !flags.undefined;
        for (lane, _) in registers().filter(reads).filter(|(lane, _)| is_physical(*lane)) {
            // A part of a register that is there as a whole is said by the operand for the whole.
            let whole = |(l, f): (Lane, RegisterFlags)| {
                f.implicit && !f.define && l.location == lane.location && self.live.has(l)
            };
            if !self.live.has(lane) && !self.is_reserved(lane) && !registers().any(whole) {
                let name = self.function.location_name(lane.location);
                self.doubt(format!("{name} is read where it is not live"));
            }
        }
        registers().filter(|(_, f)| f.killed && !f.define).for_each(|(lane, _)| self.live.remove(lane));
        if let Some((mask, _)) = sorted.mask {
            let kept = match mask {
                Mask::Known(index) => self.function.target.masks.get(usize::from(index)),
                Mask::Own(index) => self.function.masks.get(usize::from(index)),
                Mask::Unknown => None,
            };
            let before = std::mem::take(&mut self.live);
            // Of a mask that keeps parts of vectors it is not known which.
            let vectors = self.function.keeps_parts.then_some(32..64).into_iter().flatten();
            for unit in kept.into_iter().flatten().copied().chain(vectors).filter(|unit| is_tracked(*unit)) {
                self.live.0[unit as usize] = before.0[unit as usize];
            }
        }
        registers().filter(|(_, f)| f.define && f.dead).for_each(|(lane, _)| self.live.remove(lane));
        registers().filter(|(_, f)| f.define && !f.dead).for_each(|(lane, _)| self.live.add(lane));
        if line.opcode == "INLINEASM_BR" {
            self.live_at_jump = Some(self.live.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str) -> Lane {
        registers::lane(name).expect("a register")
    }

    #[test]
    fn a_part_keeps_the_whole_and_not_another_part() {
        let mut live = Live::default();
        live.add(lane("al"));
        assert!(live.has(lane("al")) && live.has(lane("rax")) && !live.has(lane("ah")) && !live.has(lane("rcx")));
        live.remove(lane("eax"));
        assert!(!live.has(lane("rax")));
        live.add(lane("ymm3"));
        assert!(live.has(lane("xmm3")) && live.has(lane("zmm3")) && !live.has(lane("xmm4")));
    }

    #[test]
    fn nobody_asks_about_reserved_registers() {
        assert!(Live::default().has(lane("mxcsr")) && !Live::default().has(lane("eflags")));
    }
}
