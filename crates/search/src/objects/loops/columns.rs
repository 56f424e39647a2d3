//! The values seen at a meeting, as columns of numbers with names that certificates understand.

use super::samples::Run;
use interpreter::Visit;
use kernel::{Location, Spot};
use program::{Function, Register, Side};

/// A place and its values, one for each meeting.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub location: Location,
    pub values: Vec<u64>,
    /// Does the loop change it?
    pub forgotten: bool,
    /// How to write it, if it is no place of a state.
    pub text: Option<String>,
}

impl Column {
    /// How a certificate writes it.
    pub fn name(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.location.to_string())
    }

    /// The values, sign-extended from their width.
    pub fn signed(&self) -> Vec<i64> {
        let shift = 64 - u32::from(self.location.width);
        self.values.iter().map(|v| ((*v << shift) as i64) >> shift).collect()
    }
}

/// A meeting.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r> {
    pub original: &'r Visit,
    pub candidate: &'r Visit,
    /// Number of the run.
    pub run: usize,
    /// Did both come from this very point?
    pub again: bool,
    /// What each side visits next, and the run.
    pub after: [&'r [Visit]; 2],
    pub whole: &'r Run,
}

/// The value of a place of at most 64 bits.
pub(crate) fn value(location: &Location, visits: [&Visit; 2]) -> Option<u64> {
    let visit = visits[location.side.index()];
    let mask = if location.width >= 64 { u64::MAX } else { (1 << location.width) - 1 };
    let word = match location.spot {
        Spot::Register(Register::General(i)) => visit.general[usize::from(i)] >> location.low,
        Spot::Register(register @ (Register::Vector(i) | Register::VectorHigh(i))) => {
            let half = usize::from(i) + if matches!(register, Register::Vector(_)) { 0 } else { 16 };
            (visit.vectors[half] >> location.low) as u64
        }
        Spot::Register(_) => return None,
        Spot::Slot { offset, .. } => {
            visit.slot(offset + i64::from(location.low / 8), location.width.div_ceil(8))? >> (location.low % 8)
        }
    };
    Some(word & mask)
}

/// A column for a place, if all visits have it.
pub(crate) fn column(location: Location, rows: &[Row], forgotten: bool) -> Option<Column> {
    if location.width > 64 {
        return None;
    }
    let values = rows.iter().map(|r| value(&location, [r.original, r.candidate])).collect::<Option<Vec<u64>>>()?;
    Some(Column { location, values, forgotten, text: None })
}

/// The original's variables in its frame that fit a register.
pub(crate) fn variables(function: &Function, side: Side) -> Vec<Location> {
    let fits = |size: u64| matches!(size, 1 | 2 | 4 | 8);
    let locals = function.locals.iter().filter(|l| fits(l.size));
    let mut out: Vec<Location> =
        locals.filter_map(|l| Location::whole(side, Spot::Slot { offset: l.offset, bytes: l.size as u16 })).collect();
    out.sort();
    out.dedup();
    out
}
