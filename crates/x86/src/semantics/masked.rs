//! Loads and stores of the lanes that a mask selects. A lane that is not selected is not accessed, so each is a branch of
//! its own: [`crate::lift_lanes`] gives the lanes one by one, and [`crate::lift`] refuses these instructions.

use crate::step::{Lifted, Step};
use crate::table::{Alignment, Feature, Feature::*, Row, Vex};
use crate::{Memory, Operand, Unsupported};
use program::Register;
use term::TermId;

const fn masked(name: &'static str, feature: Feature) -> Row {
    Row::new(name, feature, |s| s.unsupported()).vex(Vex::Only).alignment(Alignment::Never)
}

pub(crate) const ROWS: &[Row] =
    &[masked("vpmaskmovd", Avx2), masked("vpmaskmovq", Avx2), masked("vmaskmovps", Avx), masked("vmaskmovpd", Avx)];

/// Width of the lanes of a masked access.
pub(crate) fn lane_width(name: &str) -> Option<u16> {
    match name {
        "vpmaskmovd" | "vmaskmovps" => Some(32),
        "vpmaskmovq" | "vmaskmovpd" => Some(64),
        _ => None,
    }
}

/// Is the lane selected?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Selected {
    Yes,
    No,
}

/// When a lane is selected: the highest bit of the mask's lane.
// Intel SDM vol. 2C, VMASKMOV and VPMASKMOV: the mask is the second operand of both forms.
pub(crate) fn condition(s: &mut Step, lane: u16, width: u16) -> Result<TermId, Unsupported> {
    let bit = width * (lane + 1) - 1;
    if s.count() != 3 || bit >= s.bits(1)? {
        return s.unsupported();
    }
    let mask = s.read(1)?;
    let sign = s.arena.extract(mask, bit, bit);
    let one = s.bv(1, 1);
    Ok(s.arena.eq(sign, one))
}

/// What happens to one lane.
pub(crate) fn lane(s: &mut Step, lane: u16, width: u16, selected: Selected) -> Lifted {
    match (s.operand(0)?, s.operand(2)?) {
        (Operand::Register(target), Operand::Memory(memory)) => {
            let value = match selected {
                Selected::Yes => {
                    let address = address(s, &memory, lane, width)?;
                    s.load(address, width / 8)
                }
                Selected::No => s.bv(width, 0),
            };
            let Register::Vector(number) = target.register else { return s.unsupported() };
            let offset = width * lane;
            let half = if offset < 128 { Register::Vector(number) } else { Register::VectorHigh(number) };
            let old = s.register(half);
            let new = s.insert(old, offset % 128, value);
            s.set(half, new);
            if target.bits == 128 {
                let zero = s.bv(128, 0);
                s.set(Register::VectorHigh(number), zero);
            }
            Ok(())
        }
        (Operand::Memory(memory), Operand::Register(_)) => {
            if selected == Selected::Yes {
                let address = address(s, &memory, lane, width)?;
                let source = s.read(2)?;
                let value = s.arena.extract(source, width * (lane + 1) - 1, width * lane);
                s.store(address, value);
            }
            Ok(())
        }
        _ => s.unsupported(),
    }
}

fn address(s: &mut Step, memory: &Memory, lane: u16, width: u16) -> Result<TermId, Unsupported> {
    let start = s.address(memory)?;
    Ok(s.arena.add_const(start, i64::from(lane * width / 8)))
}
