//! Places of the two states that a certificate can name: registers, stack slots and parts of them.
//!
//! Text: `o.rax` is the original's register, `c[-16,8]` the candidate's eight bytes at `rsp₀ − 16`, and
//! `c.xmm0{32,32}` the 32 bits from bit 32 on.

use program::{Register, Side};
use std::fmt;
use std::str::FromStr;
use symbolic::State;
use term::{Arena, Sort, TermId};

/// A register or a stack slot of one side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Spot {
    /// A register.
    Register(Register),
    /// Bytes of the frame.
    Slot {
        /// Offset from the entry stack pointer.
        offset: i64,
        /// Number of bytes.
        bytes: u16,
    },
}

/// A spot of one side, or some bits of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Location {
    /// Which program.
    pub side: Side,
    /// What.
    pub spot: Spot,
    /// First bit.
    pub low: u16,
    /// Number of bits.
    pub width: u16,
}

/// Offsets of slots and their sizes are below this.
const FRAME_LIMIT: i64 = 1 << 32;

impl Spot {
    /// Bits of the whole spot; flags have none.
    pub fn width(self) -> Option<u16> {
        match self {
            Spot::Register(register) => register.sort().width(),
            Spot::Slot { bytes, .. } => Some(8 * bytes),
        }
    }
}

impl Location {
    /// A whole spot; `None` for flags, which no certificate mentions.
    pub fn whole(side: Side, spot: Spot) -> Option<Location> {
        Some(Location { side, spot, low: 0, width: spot.width()? })
    }

    /// Does it have a bit in common with the other?
    pub fn overlaps(&self, other: &Location) -> bool {
        if self.side != other.side {
            return false;
        }
        let bits = |start: i64, l: &Location| (start + i64::from(l.low), start + i64::from(l.low + l.width));
        let (a, b) = match (self.spot, other.spot) {
            (Spot::Register(a), Spot::Register(b)) if a == b => (bits(0, self), bits(0, other)),
            (Spot::Slot { offset: a, .. }, Spot::Slot { offset: b, .. }) => (bits(8 * a, self), bits(8 * b, other)),
            _ => return false,
        };
        a.0 < b.1 && b.0 < a.1
    }

    /// The value in a state.
    pub fn read(&self, arena: &mut Arena, state: &State) -> TermId {
        let whole = match self.spot {
            Spot::Register(register) => state.get(register),
            Spot::Slot { offset, bytes } => state.frame.read(arena, offset, bytes),
        };
        arena.extract(whole, self.low + self.width - 1, self.low)
    }

    /// Changes the value in a state.
    pub fn write(&self, arena: &mut Arena, state: &mut State, value: TermId) {
        let whole = Location { low: 0, width: self.spot.width().unwrap_or(self.width), ..*self };
        let old = whole.read(arena, state);
        let mut parts = Vec::new();
        if self.low + self.width < whole.width {
            parts.push(arena.extract(old, whole.width - 1, self.low + self.width));
        }
        parts.push(value);
        if self.low > 0 {
            parts.push(arena.extract(old, self.low - 1, 0));
        }
        let value = arena.concat_all(&parts);
        match self.spot {
            Spot::Register(register) => state.set(register, value),
            Spot::Slot { offset, .. } => state.frame.write(arena, offset, value),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == Side::Original { 'o' } else { 'c' };
        match self.spot {
            Spot::Register(register) => write!(f, "{side}.{}", register.name())?,
            Spot::Slot { offset, bytes } => write!(f, "{side}[{offset},{bytes}]")?,
        }
        if Some(self.width) != self.spot.width() {
            write!(f, "{{{},{}}}", self.low, self.width)?;
        }
        Ok(())
    }
}

impl FromStr for Location {
    type Err = String;

    fn from_str(text: &str) -> Result<Location, String> {
        parse(text).ok_or_else(|| format!("`{text}` is no location"))
    }
}

fn parse(text: &str) -> Option<Location> {
    let side = match text.chars().next()? {
        'o' => Side::Original,
        'c' => Side::Candidate,
        _ => return None,
    };
    let (place, bits) = match text[1..].split_once('{') {
        Some((place, bits)) => (place, Some(bits.strip_suffix('}')?)),
        None => (&text[1..], None),
    };
    let spot = match place.strip_prefix('.') {
        Some(name) => Spot::Register(Register::all().find(|r| r.name() == name && r.sort() != Sort::Bool)?),
        None => {
            let (offset, bytes) = place.strip_prefix('[')?.strip_suffix(']')?.split_once(',')?;
            let (offset, bytes): (i64, u16) = (offset.parse().ok()?, bytes.parse().ok()?);
            if offset.unsigned_abs() >= FRAME_LIMIT as u64 || !(1..=64).contains(&bytes) {
                return None;
            }
            Spot::Slot { offset, bytes }
        }
    };
    let whole = Location::whole(side, spot)?;
    let Some(bits) = bits else { return Some(whole) };
    let (low, width) = bits.split_once(',')?;
    let (low, width): (u16, u16) = (low.parse().ok()?, width.parse().ok()?);
    let fits = width > 0 && low.checked_add(width)? <= whole.width;
    fits.then_some(Location { low, width, ..whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["o.rax", "c.xmm3", "c.xmm3{32,32}", "o[-20,4]", "c[16,8]{0,16}"] {
            assert_eq!(text.parse::<Location>().expect(text).to_string(), text);
        }
        for text in
            ["", "o", "o.zf", "x.rax", "o[-20]", "o[1,0]", "o[1,65]", "o.rax{60,8}", "o.rax{0,0}", "o[99999999999,4]"]
        {
            assert!(text.parse::<Location>().is_err(), "{text}");
        }
    }

    #[test]
    fn overlap_is_by_bits() {
        let at = |text: &str| text.parse::<Location>().expect(text);
        assert!(at("o[-20,4]").overlaps(&at("o[-17,2]")));
        assert!(!at("o[-20,4]").overlaps(&at("o[-16,2]")));
        assert!(!at("o[-20,4]").overlaps(&at("c[-20,4]")));
        assert!(!at("c.xmm0{0,32}").overlaps(&at("c.xmm0{32,32}")));
    }
}
