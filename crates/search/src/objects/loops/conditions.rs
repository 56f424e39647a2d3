//! Conditions that held whenever both sides met: order, ranges, residues, and constants that the code compares with.

use super::columns::Column;
use super::compared::Compared;
use super::guess::{Guesses, NEAR, Names};
use kernel::{Location, Spot};
use program::Side;
use std::collections::BTreeSet;

/// Fewer values tell nothing about the others.
const FEWEST_VALUES: usize = 4;

/// Longer residues are accidents of a few runs.
const MOST_RESIDUE_BITS: u32 = 8;

/// Ends of a row that are farther away are other objects.
const FARTHEST_END: u64 = 1 << 36;
/// Starts and ends of one pointer that are tried.
const MOST_ENDS: usize = 3;

/// Comparisons and residues that held in all rows.
pub(super) fn conditions(names: &Names, columns: &[Column], turns: [u32; 2], out: &mut Guesses) {
    let defined = |l: &Location| out.define.iter().any(|(d, _)| d.overlaps(l));
    let mut hold = Vec::new();
    // Of what others define, only what the code asks about is worth saying.
    for column in columns.iter().filter(|c| c.forgotten) {
        tested(names, column, &mut hold);
    }
    let columns: Vec<&Column> = columns.iter().filter(|c| !(names.period > 1 && is_sum(names, c))).collect();
    for column in columns.iter().filter(|c| c.forgotten && !defined(&c.location)) {
        let (name, width) = (column.name(), column.location.width);
        let values = column.signed();
        let (least, most) = (*values.iter().min().expect("rows"), *values.iter().max().expect("rows"));
        if (0..=4).contains(&least) && most > least {
            hold.push(format!("(<=s #{width}:{least} {name})"));
        }
        if most > least && most < 1 << 12 && (-1..=4096).contains(&most) {
            let hits = values.iter().filter(|v| **v == most).count();
            if hits > 1 {
                hold.push(format!("(<=s {name} #{width}:{most})"));
            }
        }
        if let Some(key) = Compared::key(&column.location) {
            let limits = names.compared.limits.iter().filter(|(at, _)| *at == key);
            for limit in limits.flat_map(|(_, c)| [c.wrapping_sub(1), *c, c.wrapping_add(1)]) {
                if most <= limit && (-(1 << 31)..1 << 31).contains(&limit) {
                    hold.push(format!("(<=s {name} #{width}:{limit})"));
                }
                if least >= limit && limit > 0 && limit < 1 << 31 {
                    hold.push(format!("(<=s #{width}:{limit} {name})"));
                }
            }
        }
        let zero = format!("(not (= {name} #{width}:0))");
        if width >= 32 && column.values.iter().all(|v| *v != 0) && most > least && !hold.contains(&zero) {
            hold.push(zero);
        }
        let period = match column.location.side {
            Side::Original => turns[0].max(turns[1]),
            Side::Candidate => names.period,
        };
        if period > 1 && period.is_power_of_two() && width >= 32 {
            // A register may count bytes.
            let varied = column.values.iter().fold(0, |all, v| all | (v ^ column.values[0]));
            let least_bits = period.ilog2();
            let most_bits = varied.trailing_zeros().min(MOST_RESIDUE_BITS).max(least_bits);
            let bits = match (column.location.spot, column.location.side) {
                (Spot::Register(_), Side::Original) => vec![most_bits],
                // A turn may count by more than one.
                (Spot::Slot { .. }, Side::Original) if most_bits > least_bits && most_bits <= least_bits + 2 => {
                    vec![least_bits, most_bits]
                }
                _ => vec![least_bits],
            };
            for bits in bits {
                let mask = (1 << bits) - 1;
                let rest = column.values[0] & mask;
                if varied & mask == 0 && most > least {
                    hold.push(format!("(= (slice 0 {bits} {name}) #{bits}:{})", residue(rest, bits)));
                }
            }
        }
    }
    hold.extend(columns.iter().filter(|c| c.forgotten && !defined(&c.location)).filter_map(|c| stride(c, turns)));
    for x in columns.iter().copied() {
        for y in columns.iter().copied() {
            let same = x.location == y.location || x.location.width != y.location.width;
            if same || (!x.forgotten && !y.forgotten) || x.location.width < 32 {
                continue;
            }
            let near = match (Compared::key(&x.location), Compared::key(&y.location)) {
                // Of pointers, distances say more.
                (Some(a), Some(b)) if names.compared.pairs.contains(&(a, b)) && !(is_pointer(x) && is_pointer(y)) => {
                    None
                }
                _ => Some(NEAR),
            };
            if near.is_some() && (defined(&x.location) || defined(&y.location)) {
                continue;
            }
            let period = turns[0].max(turns[1]);
            if x.forgotten && !y.forgotten && x.location.width == 32 && period > 1 && period.is_power_of_two() {
                let gap = |(a, b): (&u64, &u64)| b.wrapping_sub(*a) & (u64::from(period) - 1);
                let mut gaps = x.values.iter().zip(&y.values).map(gap);
                let first = gaps.next().expect("rows");
                let varies = |c: &Column| c.values.iter().any(|v| (v ^ c.values[0]) & (u64::from(period) - 1) != 0);
                if gaps.all(|g| g == first) && varies(x) && varies(y) {
                    let (p, q, bits) = (x.name(), y.name(), period.ilog2());
                    let rest = residue(first, bits);
                    hold.push(format!("(= (slice 0 {bits} (add {q} (mul #32:-1 {p}))) #{bits}:{rest})"));
                }
            }
            order(x, y, near, &mut hold);
            if near.is_none() && x.forgotten && !y.forgotten {
                room_for_turns(x, y, period, &mut hold);
                // Without a sign: both extensions of the bound are the same.
                let positive = format!("(<=s #{}:1 {})", y.location.width, y.name());
                if x.signed().iter().all(|v| *v >= 0) && y.signed().iter().all(|v| *v > 0) && !hold.contains(&positive)
                {
                    hold.push(positive);
                }
            }
        }
    }
    for x in columns.iter().filter(|c| c.forgotten && !defined(&c.location) && is_pointer(c)) {
        between(x, &columns, &mut hold);
    }
    out.hold.extend(hold);
}

/// A number that goes up or down by two, four, eight each turn keeps its low bits. Where it was seen with few values, or is
/// an address, that may be an accident.
fn stride(column: &Column, turns: [u32; 2]) -> Option<String> {
    let distinct: BTreeSet<u64> = column.values.iter().copied().collect();
    let varied = distinct.iter().fold(0, |all, v| all | (v ^ column.values[0]));
    let bits = varied.trailing_zeros();
    let small = column.signed().iter().all(|v| v.unsigned_abs() < 1 << 31);
    let told = turns == [1, 1] && small && distinct.len() >= FEWEST_VALUES;
    (told && (1..=3).contains(&bits) && column.location.width >= 32).then(|| {
        let rest = residue(column.values[0] & ((1 << bits) - 1), bits);
        format!("(= (slice 0 {bits} {}) #{bits}:{rest})", column.name())
    })
}

/// Does an optimised original hold a pointer there?
fn is_pointer(column: &Column) -> bool {
    let register = matches!(column.location.spot, Spot::Register(program::Register::General(_)));
    let own = register && column.location.side == Side::Original && column.location.width == 64;
    own && column.values.iter().all(|v| *v > 1 << 20)
}

/// Where a pointer is between its start and its end, both of which the loop keeps: how far the end is, at most and modulo
/// the steps. Said of distances, nothing wraps.
fn between(x: &Column, columns: &[&Column], hold: &mut Vec<String>) {
    let kept = || columns.iter().filter(|c| !c.forgotten && c.location.width == 64);
    let gaps = |to: &Column| -> Vec<u64> { to.values.iter().zip(&x.values).map(|(a, b)| a.wrapping_sub(*b)).collect() };
    let near = |gaps: &[u64]| gaps.iter().all(|g| *g < FARTHEST_END) && gaps.iter().any(|g| *g <= NEAR as u64);
    let starts = kept().filter(|z| {
        let back = gaps(z);
        back.iter().all(|g| g.wrapping_neg() < FARTHEST_END) && back.contains(&0)
    });
    let starts: Vec<&&Column> = starts.take(MOST_ENDS).collect();
    for end in kept().filter(|y| near(&gaps(y))).take(MOST_ENDS) {
        let gaps = gaps(end);
        let varied = gaps.iter().fold(0, |all, g| all | (g ^ gaps[0]));
        if varied == 0 {
            continue;
        }
        let left = format!("(add {} (mul #64:-1 {}))", end.name(), x.name());
        let bits = varied.trailing_zeros().min(MOST_RESIDUE_BITS);
        if bits > 0 {
            let rest = residue(gaps[0] & ((1 << bits) - 1), bits);
            hold.push(format!("(= (slice 0 {bits} {left}) #{bits}:{rest})"));
        }
        if !gaps.contains(&0) {
            hold.push(format!("(not (= {} {}))", x.name(), end.name()));
        }
        for start in &starts {
            let whole = format!("(add {} (mul #64:-1 {}))", end.name(), start.name());
            hold.push(format!("(<=u {left} {whole})"));
        }
    }
}

/// Is it a number of the original that its loops change and never look at, such as a sum? Where many turns are one, what
/// held of it by chance is expensive to refute.
fn is_sum(names: &Names, column: &Column) -> bool {
    let Some(key) = Compared::key(&column.location) else { return false };
    let narrow = column.location.side == Side::Original && column.location.width <= 32;
    narrow && column.forgotten && !names.compared.mentions(key)
}

/// As many turns as are taken at once are still to be made: less than runs have seen, but what the code makes sure of.
fn room_for_turns(x: &Column, y: &Column, period: u32, hold: &mut Vec<String>) {
    let width = x.location.width;
    let least = x.signed().iter().zip(y.signed()).map(|(a, b)| i128::from(b) - i128::from(*a)).min();
    let claim = format!("(<=s #{width}:{period} (add {} (mul #{width}:-1 {})))", y.name(), x.name());
    if period > 1 && least.is_some_and(|least| least >= i128::from(period)) && !hold.contains(&claim) {
        hold.push(claim);
    }
}

/// A variable that the code compares with constants, none of which it ever was.
fn tested(names: &Names, column: &Column, hold: &mut Vec<String>) {
    let Some(key) = Compared::key(&column.location) else { return };
    let values = column.signed();
    let end = 1i128 << (column.location.width - 1);
    for (_, limit) in names.compared.limits.iter().filter(|(at, _)| *at == key) {
        if !values.contains(limit) && (-end..end).contains(&i128::from(*limit)) {
            hold.push(format!("(not (= {} #{}:{limit}))", column.name(), column.location.width));
        }
    }
}

/// A number of so many bits as certificates write it.
fn residue(value: u64, bits: u32) -> i64 {
    if value >> (bits - 1) & 1 == 1 { value as i64 - (1 << bits) } else { value as i64 }
}

/// `x ≤ y` if it held and, where that matters, came close to being an equality.
pub(super) fn order(x: &Column, y: &Column, near: Option<i128>, hold: &mut Vec<String>) {
    let width = x.location.width;
    let (p, q) = (x.name(), y.name());
    let nearest = |gaps: &mut dyn Iterator<Item = i128>| {
        let (least, most) = gaps.fold((i128::MAX, i128::MIN), |(a, b), gap| (a.min(gap), b.max(gap)));
        (least != most && least >= 0 && near.is_none_or(|n| least <= n)).then_some(least)
    };
    let (a, b) = (x.signed(), y.signed());
    let pointers = width == 64 && a.iter().chain(&b).all(|v| *v > 1 << 20);
    let signed = nearest(&mut a.iter().zip(&b).map(|(a, b)| i128::from(*b) - i128::from(*a)));
    let unsigned = nearest(&mut x.values.iter().zip(&y.values).map(|(a, b)| i128::from(*b) - i128::from(*a)));
    if let Some(least) = signed.filter(|_| !pointers) {
        hold.push(format!("({} {p} {q})", if least == 0 { "<=s" } else { "<s" }));
        if (2..=NEAR).contains(&least) {
            hold.push(format!("(<=s #{width}:{least} (add {q} (mul #{width}:-1 {p})))"));
        }
    }
    if let Some(least) = unsigned {
        hold.push(format!("({} {p} {q})", if least == 0 { "<=u" } else { "<u" }));
        if (2..=NEAR).contains(&least) {
            hold.push(format!("(<=u #{width}:{least} (add {q} (mul #{width}:-1 {p})))"));
        }
    }
}
