//! What a vectorised loop keeps apart in the lanes of its registers and adds up, or compares, behind it.
//!
//! A sum of the original is the sum of all lanes of some registers, a largest element the largest of the lanes, and so for
//! bitwise operations. In which order lanes are put together does not matter: terms have one form for all.

use super::affine::solve;
use super::columns::{Column, Row, column};
use super::guess::{Names, Operand, sum};
use kernel::Location;

/// How two lanes are put together: the name in certificates, and what it does.
type Way<T> = (&'static str, fn(T, T) -> T);

/// The lanes of a register.
fn lanes(register: &Location, width: u16, rows: &[Row]) -> Option<Vec<Column>> {
    let lane = |i: u16| column(Location { low: i * width, width, ..*register }, rows, true);
    (0..register.width / width).map(lane).collect()
}

/// Widths that the lanes of a sum of some width may have.
fn widths(target: &Column) -> impl Iterator<Item = u16> {
    let least = target.location.width;
    [8, 16, 32, 64].into_iter().filter(move |w| *w >= least)
}

/// A variable of the original that was the sum of all lanes of all the wide registers, or of one of them, and which.
pub(super) fn plain_sum(target: &Column, places: &[Location], rows: &[Row]) -> Option<(String, Vec<Location>)> {
    let wide: Vec<Location> = places.iter().filter(|l| l.width > 64).copied().collect();
    let width = target.location.width;
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let groups = std::iter::once(wide.clone()).chain(wide.iter().map(|l| vec![*l]));
    for group in groups.filter(|g| !g.is_empty()) {
        let Some(apart) = group.iter().map(|r| lanes(r, width, rows)).collect::<Option<Vec<_>>>() else { continue };
        let lanes: Vec<Column> = apart.into_iter().flatten().collect();
        let total = |i: usize| lanes.iter().fold(0u64, |sum, c| sum.wrapping_add(c.values[i])) & mask;
        if (0..rows.len()).all(|i| total(i) == target.values[i] & mask) {
            let names: Vec<String> = lanes.iter().map(Column::name).collect();
            return Some((format!("(add {})", names.join(" ")), group));
        }
    }
    None
}

/// A variable of the original as the sum of all lanes of some of the registers.
pub(super) fn sum_of_lanes(names: &Names, target: &Column, registers: &[Location], rows: &[Row]) -> Option<String> {
    let width = target.location.width;
    let ones = vec![1; rows.len()];
    for lane in widths(target) {
        let apart: Vec<Vec<Column>> = registers.iter().filter_map(|r| lanes(r, lane, rows)).collect();
        let total = |lanes: &Vec<Column>| -> Vec<u64> {
            (0..rows.len()).map(|i| lanes.iter().fold(0u64, |sum, c| sum.wrapping_add(c.values[i]))).collect()
        };
        let totals: Vec<Vec<u64>> = apart.iter().map(total).collect();
        let mut columns: Vec<&[u64]> = vec![&ones];
        columns.extend(totals.iter().map(Vec::as_slice));
        if totals.is_empty() || columns.len() + 2 > rows.len() {
            continue;
        }
        let Some(factors) = solve(&columns, &target.values, u32::from(width)) else { continue };
        let mut of_lanes = vec![factors[0]];
        let mut operands = Vec::new();
        for (factor, lanes) in factors[1..].iter().zip(apart).filter(|(f, _)| **f != 0) {
            for part in lanes {
                let name = part.location.to_string();
                let text = if lane == width { name } else { format!("(slice 0 {width} {name})") };
                operands.push(Operand { text, values: part.values, forgotten: true, location: part.location });
                of_lanes.push(*factor);
            }
        }
        let text = sum(names, target.location, &of_lanes, &operands.iter().collect::<Vec<_>>());
        if !operands.is_empty() && text.is_some() {
            return text;
        }
    }
    None
}

/// A variable of the original as the largest or the smallest lane of some registers: the first such text that is new. With
/// few values seen, several fit.
pub(super) fn extreme_lane(
    target: &Column,
    registers: &[Location],
    rows: &[Row],
    new: impl Fn(&String) -> bool,
) -> Option<String> {
    let width = target.location.width;
    let apart: Vec<Vec<Column>> = registers.iter().filter_map(|r| lanes(r, width, rows)).collect();
    let together = apart.iter().flatten().cloned().collect::<Vec<Column>>();
    for lanes in std::iter::once(&together).chain(&apart).filter(|l| !l.is_empty()) {
        for sign in ["s", "u"] {
            let values = |c: &Column| -> Vec<i128> {
                match sign {
                    "s" => c.signed().into_iter().map(i128::from).collect(),
                    _ => c.values.iter().map(|v| i128::from(*v)).collect(),
                }
            };
            let wanted = values(target);
            let seen: Vec<Vec<i128>> = lanes.iter().map(values).collect();
            let all = |best: fn(i128, i128) -> i128| {
                (0..rows.len()).all(|i| seen.iter().map(|c| c[i]).reduce(best) == Some(wanted[i]))
            };
            let ends: [Way<i128>; 2] = [("max", i128::max), ("min", i128::min)];
            let names: Vec<String> = lanes.iter().map(Column::name).collect();
            let texts = ends.into_iter().filter(|(_, best)| all(*best));
            let found = texts.map(|(end, _)| format!("({end}{sign} {})", names.join(" "))).find(&new);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// A variable of the original as all lanes of some registers put together bit by bit, the first such text that is new.
pub(super) fn bits_of_lanes(
    target: &Column,
    registers: &[Location],
    rows: &[Row],
    new: impl Fn(&String) -> bool,
) -> Option<String> {
    let width = target.location.width;
    let apart: Vec<Vec<Column>> = registers.iter().filter_map(|r| lanes(r, width, rows)).collect();
    let together = apart.iter().flatten().cloned().collect::<Vec<Column>>();
    let ways: [Way<u64>; 3] = [("bitxor", |a, b| a ^ b), ("bitor", |a, b| a | b), ("and", |a, b| a & b)];
    for lanes in std::iter::once(&together).chain(&apart).filter(|l| !l.is_empty()) {
        let names: Vec<String> = lanes.iter().map(Column::name).collect();
        let fits = |way: fn(u64, u64) -> u64| {
            (0..rows.len()).all(|i| lanes.iter().map(|c| c.values[i]).reduce(way) == Some(target.values[i]))
        };
        let texts = ways.iter().filter(|(_, way)| fits(*way));
        let found = texts.map(|(name, _)| format!("({name} {})", names.join(" "))).find(&new);
        if found.is_some() {
            return found;
        }
    }
    None
}
