//! Guesses about loops that one side has and the other has not.
//!
//! Where the candidate goes round alone, its places are said by one another, by what it keeps and by what the function was
//! entered with. What it writes is what the original has written already: what is left to write becomes less with every turn.

use super::columns::{Column, Row, column, variables};
use super::conditions::conditions;
use super::correlate::Meeting;
use super::guess::{Guesses, NOWHERE, Names, define, note_places};
use super::streams::{Around, Blocks, Extent};
use kernel::{Location, Spot};
use program::{PointId, Register, Side};
use std::collections::BTreeSet;
use symbolic::Binding;

/// Rows that equations are made of.
const MOST_ROWS: usize = 160;
/// Fewer visits tell nothing.
const FEWEST_ROWS: usize = 3;

/// What the function was entered with, by name: whole registers and their lower halves.
fn entered_with(rows: &[Row]) -> Vec<Column> {
    let mut out = Vec::new();
    for register in Register::ARGUMENTS {
        let Register::General(i) = register else { continue };
        let name = register.name();
        for (width, text) in [(64, format!("${name}")), (32, format!("(slice 0 32 ${name})"))] {
            let spot = Spot::Slot { offset: NOWHERE - i64::from(i), bytes: width / 8 };
            let location = Location { side: Side::Original, spot, low: 0, width };
            let mask = u64::MAX >> (64 - width);
            let values = rows.iter().map(|r| r.original.general[usize::from(i)] & mask).collect();
            out.push(Column { location, values, forgotten: false, text: Some(text) });
        }
    }
    out
}

/// The candidate's registers that matter at a point, those that the loop changes first.
fn registers(rows: &[Row], forget: &BTreeSet<Location>, live: u64) -> Vec<Column> {
    let mut out = Vec::new();
    for register in (0..16).map(Register::General).filter(|r| live >> r.index() & 1 == 1 && *r != Register::RSP) {
        let location = Location::whole(Side::Candidate, Spot::Register(register)).expect("a word");
        let forgotten = forget.iter().any(|f| f.overlaps(&location));
        out.extend(column(location, rows, forgotten));
    }
    out.sort_by_key(|c| !c.forgotten);
    out
}

/// Guesses about a loop that only the candidate has.
pub(crate) fn candidate_alone(
    names: &Names,
    bindings: &[Binding],
    rows: &[Row],
    forget: &BTreeSet<Location>,
    live: u64,
    head: PointId,
    dropped: &BTreeSet<String>,
) -> Guesses {
    let mut out = Guesses::default();
    if rows.len() < FEWEST_ROWS {
        return out;
    }
    let around = Around { names, bindings, side: Side::Candidate, head, turns: 1, other: None };
    let basis = |rows: &[Row]| {
        let mut columns = registers(rows, forget, live);
        columns.extend(entered_with(rows));
        columns
    };
    let few = &rows[..rows.len().min(MOST_ROWS)];
    out.blocks = around.blocks(few, Extent::Left, &basis);
    let columns = basis(few);
    let mut used: Vec<Location> = Vec::new();
    let mut open = Vec::new();
    for place in columns.iter().filter(|c| c.forgotten).rev() {
        let free =
            |c: &&Column| c.location != place.location && !out.define.iter().any(|(d, _)| d.overlaps(&c.location));
        let others: Vec<Column> = columns.iter().filter(free).cloned().collect();
        if used.iter().any(|u| u.overlaps(&place.location)) {
            continue;
        }
        define(names, few, &place.location, &others, dropped, &mut open, &mut out);
        out.define.iter().for_each(|(_, text)| note_places(text, &mut used));
    }
    let mut all: Vec<Column> = registers(rows, forget, live);
    all.extend(entered_with(rows).into_iter().filter(|c| c.location.width == 64));
    conditions(names, &all, [1, 1], &mut out);
    out
}

/// The blocks that a loop writes which only the original has, or that only the original writes.
pub(crate) fn original_blocks(
    names: &Names,
    bindings: &[Binding],
    rows: &[Row],
    forget: &BTreeSet<Location>,
    live: [u64; 2],
    meeting: &Meeting,
    extent: Extent,
) -> Option<Blocks> {
    let basis = |rows: &[Row]| {
        let forgotten = |l: &Location| forget.iter().any(|f| f.overlaps(l));
        let mut places = variables(names.functions[0], Side::Original);
        places.retain(|v| !forget.iter().any(|f| f.overlaps(v) && f != v));
        for register in (0..16).map(Register::General).filter(|r| live[0] >> r.index() & 1 == 1 && *r != Register::RSP)
        {
            places.extend(Location::whole(Side::Original, Spot::Register(register)));
        }
        // What the candidate keeps.
        for register in (0..16).map(Register::General).filter(|r| live[1] >> r.index() & 1 == 1) {
            places.extend(Location::whole(Side::Candidate, Spot::Register(register)).filter(|l| !forgotten(l)));
        }
        let mut columns: Vec<Column> = places.into_iter().filter_map(|l| column(l, rows, forgotten(&l))).collect();
        columns.sort_by_key(|c| !c.forgotten);
        columns
    };
    let other = (!meeting.waits).then_some((meeting.heads[1], meeting.turns[1]));
    let (head, turns) = (meeting.heads[0], meeting.turns[0]);
    let around = Around { names, bindings, side: Side::Original, head, turns, other };
    around.blocks(&rows[..rows.len().min(MOST_ROWS)], extent, &basis)
}
