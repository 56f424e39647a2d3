//! Bit vectors some of whose bits are symbolic: lanes, the lowest first.

use smallvec::SmallVec;
use term::Bits;
use updates::Scalar;

/// What some bits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content<V> {
    /// Known bits; at most 64.
    Known(u64),
    /// Bits from `low` on of a value of a type.
    Part { value: V, ty: Scalar, low: u16 },
    /// All bits are this truth value: what a packed comparison leaves.
    Mask(V),
    /// Nothing is known, for this reason.
    Lost(&'static str),
}

/// Some adjacent bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lane<V> {
    pub width: u16,
    pub content: Content<V>,
}

pub(crate) type Lanes<V> = SmallVec<[Lane<V>; 4]>;

/// The value of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value<V> {
    /// A known bit vector.
    Bits(Bits),
    /// A bit vector that is not known as a whole.
    Lanes(Lanes<V>),
    /// A known truth value.
    Bool(bool),
    /// A truth value that depends on data.
    Truth(V),
    /// A truth value that nothing is known about.
    LostTruth(&'static str),
}

fn low_bits(width: u16) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl<V: Copy + Eq> Lane<V> {
    /// Known bits.
    pub fn known(width: u16, bits: u64) -> Lane<V> {
        Lane { width, content: Content::Known(bits & low_bits(width)) }
    }

    /// Bits about which nothing is known.
    pub fn lost(width: u16, why: &'static str) -> Lane<V> {
        Lane { width, content: Content::Lost(why) }
    }

    /// Some of its bits.
    pub fn slice(self, low: u16, width: u16) -> Lane<V> {
        let content = match self.content {
            Content::Known(bits) => Content::Known((bits >> low) & low_bits(width)),
            Content::Part { value, ty, low: start } => Content::Part { value, ty, low: start + low },
            other => other,
        };
        Lane { width, content }
    }

    /// Is it a whole value of a type?
    pub fn whole(self) -> Option<(V, Scalar)> {
        match self.content {
            Content::Part { value, ty, low: 0 } if u64::from(self.width) == 8 * ty.bytes() => Some((value, ty)),
            _ => None,
        }
    }

    /// Does it have these known bits?
    pub fn is_known(self, bits: u64) -> bool {
        self.content == Content::Known(bits & low_bits(self.width))
    }
}

/// Appends bits above those there are, joined with the last lane where they continue it.
pub(crate) fn push<V: Copy + Eq>(lanes: &mut Lanes<V>, lane: Lane<V>) {
    if lane.width == 0 {
        return;
    }
    if let Some(last) = lanes.last_mut() {
        let joined = match (last.content, lane.content) {
            (Content::Known(low), Content::Known(high)) if last.width + lane.width <= 64 => {
                Some(Content::Known(low | high << last.width))
            }
            (Content::Part { value, ty, low }, Content::Part { value: next, ty: of, low: from })
                if value == next && ty == of && low + last.width == from =>
            {
                Some(last.content)
            }
            (a, b) if a == b && matches!(a, Content::Mask(_) | Content::Lost(_)) => Some(a),
            _ => None,
        };
        if let Some(content) = joined {
            last.content = content;
            last.width += lane.width;
            return;
        }
    }
    lanes.push(lane);
}

/// Bits `low` to `low + width - 1`.
pub(crate) fn slice<V: Copy + Eq>(lanes: &Lanes<V>, low: u16, width: u16) -> Lanes<V> {
    let (mut out, mut start) = (Lanes::new(), 0);
    for lane in lanes {
        let (from, to) = (low.max(start), (low + width).min(start + lane.width));
        if from < to {
            push(&mut out, lane.slice(from - start, to - from));
        }
        start += lane.width;
    }
    out
}

impl<V: Copy + Eq> Value<V> {
    /// From lanes, known if all are.
    pub fn from_lanes(lanes: Lanes<V>) -> Value<V> {
        let mut whole: Option<Bits> = None;
        for lane in &lanes {
            let Content::Known(bits) = lane.content else { return Value::Lanes(lanes) };
            let next = Bits::new(lane.width, bits);
            whole = Some(whole.map_or(next, |low| next.concat(low)));
        }
        whole.map_or(Value::LostTruth("a value without bits"), Value::Bits)
    }

    /// As lanes; a truth value has none.
    pub fn lanes(&self) -> Lanes<V> {
        match self {
            Value::Lanes(lanes) => lanes.clone(),
            Value::Bits(bits) => {
                let width = bits.width();
                let chunk = |i: u16| Lane::known((width - 64 * i).min(64), bits.limbs()[usize::from(i)]);
                (0..width.div_ceil(64)).map(chunk).collect()
            }
            _ => Lanes::new(),
        }
    }

    /// Bits about which nothing is known.
    pub fn lost(width: u16, why: &'static str) -> Value<V> {
        Value::Lanes(SmallVec::from_iter([Lane::lost(width, why)]))
    }

    /// The reason if anything in it is lost.
    pub fn why_lost(&self) -> Option<&'static str> {
        match self {
            Value::LostTruth(why) => Some(why),
            Value::Lanes(lanes) => lanes.iter().find_map(|l| match l.content {
                Content::Lost(why) => Some(why),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// The two vectors cut at the same places: where symbolic lanes of either begin or end, and at most 64 bits each.
pub(crate) fn aligned<V: Copy + Eq>(a: &Lanes<V>, b: &Lanes<V>) -> Vec<(Lane<V>, Lane<V>)> {
    let mut cuts: Vec<u16> = vec![0];
    for lanes in [a, b] {
        let mut start = 0;
        for lane in lanes {
            if !matches!(lane.content, Content::Known(_)) {
                cuts.extend([start, start + lane.width]);
            }
            start += lane.width;
        }
        cuts.push(start);
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut pairs = Vec::new();
    for window in cuts.windows(2) {
        let (mut low, end) = (window[0], window[1]);
        while low < end {
            let width = (end - low).min(64);
            let (x, y) = (slice(a, low, width), slice(b, low, width));
            match (x.as_slice(), y.as_slice()) {
                ([x], [y]) => pairs.push((*x, *y)),
                _ => pairs.push((Lane::lost(width, LENGTHS), Lane::lost(width, LENGTHS))),
            }
            low += width;
        }
    }
    pairs
}

const LENGTHS: &str = "operands of different lengths";

#[cfg(test)]
mod tests {
    use super::*;

    fn part(low: u16, width: u16) -> Lane<u32> {
        Lane { width, content: Content::Part { value: 7, ty: Scalar::F64, low } }
    }

    fn joined(lanes: &[Lane<u32>]) -> Lanes<u32> {
        let mut out = Lanes::new();
        for lane in lanes {
            push(&mut out, *lane);
        }
        out
    }

    #[test]
    fn bytes_of_one_value_in_order_are_the_value() {
        let bytes: Vec<Lane<u32>> = (0..8).map(|i| part(8 * i, 8)).collect();
        assert_eq!(joined(&bytes).as_slice(), &[part(0, 64)]);
        assert_eq!(part(0, 64).whole(), Some((7, Scalar::F64)));
        let swapped = joined(&[part(32, 32), part(0, 32)]);
        assert_eq!(swapped.len(), 2, "halves in the wrong order are no value");
        assert_eq!(part(32, 32).whole(), None);
    }

    #[test]
    fn known_bits_join_up_to_a_word() {
        let lanes = joined(&[Lane::known(32, 1), Lane::known(32, 2), Lane::known(64, 3)]);
        assert_eq!(lanes.as_slice(), &[Lane::known(64, 2 << 32 | 1), Lane::known(64, 3)]);
        let Value::Bits(bits) = Value::from_lanes(lanes) else { panic!("all bits are known") };
        assert_eq!(bits.limbs()[..2], [2 << 32 | 1, 3]);
    }

    #[test]
    fn slices_cross_lanes() {
        let lanes = joined(&[Lane::known(64, 0xff00), part(0, 64)]);
        assert_eq!(slice(&lanes, 8, 8).as_slice(), &[Lane::known(8, 0xff)]);
        assert_eq!(slice(&lanes, 56, 16).as_slice(), &[Lane::known(8, 0), part(0, 8)]);
        assert_eq!(slice(&lanes, 64, 64).as_slice(), &[part(0, 64)]);
    }

    #[test]
    fn operands_are_cut_where_either_has_a_symbolic_lane() {
        let (a, b) = (joined(&[part(0, 64), Lane::known(64, 5)]), joined(&[Lane::known(64, 1), Lane::known(64, 2)]));
        assert_eq!(aligned(&a, &b), [(part(0, 64), Lane::known(64, 1)), (Lane::known(64, 5), Lane::known(64, 2))]);
    }
}
