//! Guesses what holds at a meeting from the values seen there.
//!
//! Definitions first: each place of the candidate as a linear combination of the original's variables, as sparse as
//! possible; then the original's remaining variables by the candidate's, which is how the sum of a vectorised loop is
//! the sum of its lanes. Then conditions: order, ranges and residues.

use super::affine::solve;
use super::cases::by_cases;
use super::columns::{Column, Row, column, variables};
use super::compared::Compared;
use super::conditions::{conditions, order};
use super::correlate::Meeting;
use super::fields::Field;
use super::lanes;
use super::loaded::loaded;
use super::streams::Blocks;
use interpreter::{Layout, STACK_TOP, WatchBase};
use kernel::{Location, Spot};
use program::{Function, ObjectKind, Register, Side};
use std::collections::BTreeSet;
use term::Arena;

/// What is needed to name things.
pub(crate) struct Names<'n, 'a> {
    pub arena: &'n Arena,
    pub layout: &'n Layout<'a>,
    pub functions: [&'a Function; 2],
    /// Registers of the two sides that the loop writes with a zero upper half only.
    pub zeroed: [u64; 2],
    /// Variables that the original compares.
    pub compared: &'n Compared,
    /// Local objects of the original that others can reach: their variables are memory.
    pub bound: Vec<(usize, i64, u64)>,
    /// Memory that the candidate reads.
    pub behind: &'n [Field],
    /// The most turns that one side takes at once somewhere.
    pub period: u32,
    /// Prefer the other extension of a variable where both fit.
    pub flip: bool,
}

/// Guesses for one meeting.
#[derive(Clone, Default, Debug)]
pub(crate) struct Guesses {
    pub define: Vec<(Location, String)>,
    pub hold: Vec<String>,
    /// What the original has written already: address and value.
    pub ahead: Vec<(String, String)>,
    /// Blocks that the side that goes round alone writes.
    pub blocks: Option<Blocks>,
}

/// A column as it stands in a sum: extended to the width of the sum.
pub(super) struct Operand {
    pub text: String,
    pub values: Vec<u64>,
    pub forgotten: bool,
    pub location: Location,
}

/// Whether sums may have products of variables in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Degree {
    One,
    Two,
}

/// Offset of a slot that no frame has: memory is no slot.
pub(super) const NOWHERE: i64 = -(1 << 31);
/// Fewer meetings tell nothing.
pub(super) const FEWEST_ROWS: usize = 3;
/// Rows that equations are made of, and rows that conditions are tested on.
const MOST_ROWS: usize = 100;
const ALL_ROWS: usize = 4000;
/// So many visits of a run are early ones.
const EARLY: usize = 4;
/// Definitions of one place that are tried.
const MOST_TRIES: usize = 8;
/// Products that are tried where nothing linear fits.
const MOST_PRODUCTS: usize = 120;
/// An order that never comes closer to an equality is an accident.
pub(super) const NEAR: i128 = 256;
/// Factors of variables beyond this are no accident of a program.
const LARGEST_FACTOR: u64 = 1 << 13;

/// Guesses about one meeting, given what the loop changes and which registers matter there.
pub(crate) fn guess(
    names: &Names,
    rows: &[Row],
    forget: &BTreeSet<Location>,
    live: [u64; 2],
    meeting: &Meeting,
    dropped: &BTreeSet<String>,
    memory: &[Field],
) -> Guesses {
    let mut out = Guesses::default();
    if rows.len() < FEWEST_ROWS {
        return out;
    }
    let all = &rows[..rows.len().min(ALL_ROWS)];
    let rows = pick(rows);
    let is_live = |l: &Location| match l.spot {
        Spot::Register(register) => live[l.side.index()] >> register.index() & 1 == 1,
        Spot::Slot { .. } => true,
    };
    let forgotten = |l: &Location| forget.iter().any(|f| f.overlaps(l));
    let mut own: Vec<Location> = variables(names.functions[0], Side::Original);
    own.retain(|v| !forget.iter().any(|f| f.overlaps(v) && f != v));
    own.extend(
        forget
            .iter()
            .filter(|l| l.side == Side::Original && !own.contains(l) && is_live(l))
            .copied()
            .collect::<Vec<_>>(),
    );
    for register in (0..16).map(Register::General) {
        let location = Location::whole(Side::Original, Spot::Register(register)).expect("a word");
        if is_live(&location) && register != Register::RSP && !own.contains(&location) {
            own.push(location);
        }
    }
    // Numbers of 32 bits in registers.
    for place in own.iter_mut().filter(|l| forgotten(l)) {
        if let Some(upper) = upper_half(names, place) {
            place.width = 32;
            out.define.push(upper);
        }
    }
    // Floating-point numbers, and lanes.
    let wide: Vec<Location> = own.iter().filter(|l| l.width > 64).copied().collect();
    for place in wide {
        own.extend((0..place.width).step_by(64).map(|low| Location { low, width: 64, ..place }));
    }
    let bound: Vec<(Location, String)> = own.iter().filter_map(|l| Some((*l, in_memory(names, l)?))).collect();
    own.retain(|l| in_memory(names, l).is_none());
    let mut basis: Vec<Column> =
        own.iter().filter(|l| l.width <= 64).filter_map(|l| column(*l, &rows, forgotten(l))).collect();
    basis.sort_by_key(|c| !c.forgotten);
    // Memory as variables of the original, named by what reads it.
    for (i, field) in memory.iter().enumerate() {
        let values: Option<Vec<u64>> = rows.iter().map(|r| r.original.loads.get(i).copied()).collect();
        let Some(values) = values else { continue };
        // What the original has written ahead is said by the candidate's places, not the other way round.
        let global = matches!(field.watched.base, WatchBase::Address(_));
        if global && rows.iter().any(|r| r.original.loads.get(i) != r.candidate.loads.get(i)) {
            continue;
        }
        let spot = Spot::Slot { offset: NOWHERE, bytes: field.watched.bytes };
        let location = Location { side: Side::Original, spot, low: 0, width: 8 * field.watched.bytes };
        basis.push(Column { location, values, forgotten: true, text: Some(field.text.clone()) });
    }
    basis.extend(bound.iter().filter_map(|(l, text)| reached(*l, text, &rows)));
    // What the candidate keeps in registers, if the original has it nowhere.
    let stays = |r: &Register| live[1] >> r.index() & 1 == 1 && *r != Register::RSP;
    let registers = (0..16).map(Register::General).filter(stays);
    let registers = registers.filter_map(|r| Location::whole(Side::Candidate, Spot::Register(r)));
    let mut kept: Vec<Column> = registers.filter(|l| !forgotten(l)).filter_map(|l| column(l, &rows, false)).collect();
    kept.retain(|k| !basis.iter().any(|c| c.text.is_none() && c.values == k.values));
    basis.extend(kept.iter().cloned());
    basis.extend(rounded(&basis, meeting.turns));
    // The original's variables by its others and by what is kept, the widest first: a pointer by an index.
    let mut used: Vec<Location> = Vec::new();
    let mut mine: Vec<Location> = own.iter().filter(|l| forgotten(l) && l.width <= 64).copied().collect();
    mine.sort_by_key(|l| std::cmp::Reverse(l.width));
    for place in mine {
        let Some(target) = column(place, &rows, true) else { continue };
        let free = |c: &&Column| c.text.is_none() && !out.define.iter().any(|(d, _)| d.overlaps(&c.location));
        let others: Vec<Column> = basis.iter().filter(|c| c.location != place).filter(free).cloned().collect();
        if !used.iter().any(|u| u.overlaps(&place))
            && let Some(text) = combine(names, &target, &others, dropped, Degree::Two)
        {
            note_places(&text, &mut used);
            out.define.push((place, text));
        } else if meeting.waits
            && let Some(text) = by_cases(names, &target, &others, dropped)
        {
            note_places(&text, &mut used);
            out.define.push((place, text));
        }
    }
    let mut theirs: Vec<Location> =
        forget.iter().filter(|l| l.side == Side::Candidate && is_live(l)).copied().collect();
    theirs.sort_by_key(|l| l.width);
    // What a vectorised loop adds up: where runs rarely add anything, each lane would look like a constant.
    for place in own.iter().filter(|l| forgotten(l) && l.width <= 64) {
        let taken = out.define.iter().map(|(l, _)| l).chain(&used).any(|l| l.overlaps(place));
        let Some(target) = column(*place, &rows, true).filter(|_| !taken) else { continue };
        if let Some((text, registers)) = lanes::plain_sum(&target, &theirs, &rows)
            && !dropped.contains(&format!("{place} := {text}"))
        {
            theirs.retain(|l| !registers.contains(l));
            out.define.push((*place, text));
        }
    }
    let mut open: Vec<Column> = Vec::new();
    for place in &theirs {
        define(names, &rows, place, &basis, dropped, &mut open, &mut out);
    }
    relate(names, &mut open, &basis, dropped, &mut out);
    carried(names, &rows, memory.len(), dropped, &mut open, &mut out);
    out.define.iter().for_each(|(_, text)| note_places(text, &mut used));
    // A variable of the original that the candidate has not read yet.
    for column in basis.iter().filter(|c| c.forgotten && c.text.is_none()) {
        let taken = out.define.iter().map(|(l, _)| l).chain(&used).any(|l| l.overlaps(&column.location));
        let varies = column.values.iter().any(|v| *v != column.values[0]);
        for (i, field) in names.behind.iter().enumerate().filter(|_| !taken && varies) {
            let read = |r: &Row| r.candidate.loads.get(memory.len() + i).copied();
            let fits = 8 * field.watched.bytes == column.location.width;
            let new = !dropped.contains(&format!("{} := {}", column.location, field.text));
            if fits && new && rows.iter().zip(&column.values).all(|(r, v)| read(r) == Some(*v)) {
                out.define.push((column.location, field.text.clone()));
                break;
            }
        }
    }
    out.define.iter().for_each(|(_, text)| note_places(text, &mut used));
    // The original's variables by what the candidate keeps apart.
    if !open.is_empty() {
        let defined: Vec<Location> = out.define.iter().map(|(l, _)| *l).collect();
        let free = |l: &&Location| !used.iter().chain(&defined).any(|u| u.overlaps(l));
        let wide: Vec<Location> =
            theirs.iter().filter(|l| l.width > 64 && !defined.iter().any(|d| d.overlaps(l))).copied().collect();
        for place in own.iter().filter(|l| forgotten(l) && l.width <= 64).filter(free) {
            let Some(target) = column(*place, &rows, true) else { continue };
            let new = |text: &String| !dropped.contains(&format!("{place} := {text}"));
            let sum = lanes::sum_of_lanes(names, &target, &wide, &rows).filter(new);
            let found = sum
                .or_else(|| lanes::extreme_lane(&target, &wide, &rows, new))
                .or_else(|| lanes::bits_of_lanes(&target, &wide, &rows, new))
                .or_else(|| by_lanes(names, &target, &open, &basis).filter(new));
            out.define.extend(found.map(|text| (*place, text)));
        }
        // A counter of the candidate that counts several of the original's turns.
        for column in basis.iter().filter(|c| c.forgotten && c.text.is_none()) {
            for counter in open.iter().filter(|c| c.location.width >= 32) {
                let ones = vec![1; rows.len()];
                let width = column.location.width;
                for operand in operands(names, std::slice::from_ref(counter), width, false) {
                    let factors = solve(&[&ones, &operand.values], &column.values, u32::from(width));
                    if let Some(factors) = factors.filter(|f| f[1] != 0)
                        && let Some(text) = sum(names, column.location, &factors, &[&operand])
                    {
                        out.hold.push(format!("(= {} {text})", column.location));
                        break;
                    }
                }
            }
        }
    }
    let word = |c: &&Column| matches!(c.location.spot, Spot::Register(Register::General(_)) | Spot::Slot { .. });
    loaded(names, &rows, &basis, forget, live[1], &mut out);
    let defined: Vec<Location> = out.define.iter().map(|(l, _)| *l).collect();
    let wide = theirs.iter().filter(|l| l.width > 64 && !defined.iter().any(|d| d.overlaps(l)));
    let wide: Vec<Location> = wide.copied().collect();
    ahead(&rows, memory, live[1], &wide, &mut out);
    let compared = basis.iter().filter(|c| c.text.is_none()).chain(open.iter().filter(word));
    let mut whole: Vec<Column> = compared.filter_map(|c| column(c.location, all, c.forgotten)).collect();
    whole.extend(bound.iter().filter_map(|(l, text)| reached(*l, text, all)));
    let halves = kept.iter().map(|c| Location { width: 32, ..c.location });
    let small = |c: &Column| c.values.iter().all(|v| *v >> 32 == 0);
    whole.extend(halves.zip(&kept).filter(|(_, c)| small(c)).filter_map(|(half, _)| column(half, all, false)));
    // An index that the candidate keeps from the loop before.
    let indices = open.iter().filter(|c| c.location.side == Side::Candidate && word(c) && c.location.width == 64);
    for index in indices.filter(|c| small(c) && c.values.iter().any(|v| *v != c.values[0])) {
        out.hold.push(format!("(= (slice 32 32 {}) #32:0)", index.location));
        whole.extend(column(Location { width: 32, ..index.location }, all, true));
    }
    conditions(names, &whole, meeting.turns, &mut out);
    ends(all, &theirs, &kept, &mut out);
    let defined = |l: &Location| out.define.iter().any(|(d, _)| d.overlaps(l));
    let mut hold = Vec::new();
    for x in whole.iter().filter(|c| c.location.width >= 32 && !defined(&c.location)) {
        for (i, field) in memory.iter().enumerate().filter(|(_, f)| 8 * f.watched.bytes <= x.location.width) {
            if out.ahead.iter().any(|(address, _)| address == field.address()) {
                continue;
            }
            let values: Option<Vec<u64>> = all.iter().map(|r| r.original.loads.get(i).copied()).collect();
            let Some(values) = values else { continue };
            let (width, narrow) = (x.location.width, 8 * field.watched.bytes);
            let text = if narrow == width { field.text.clone() } else { format!("(zext {width} {})", field.text) };
            let bound = Column { location: x.location, values, forgotten: true, text: Some(text) };
            let compared = Compared::key(&x.location)
                .is_some_and(|key| names.compared.fields.contains(&(key, field.text.clone())));
            if compared {
                order(&bound, x, None, &mut hold);
            } else if !x.forgotten {
                continue;
            }
            let near = if compared { None } else { Some(NEAR) };
            order(x, &bound, near, &mut hold);
        }
    }
    // Where a loop stops at a zero, there is none while it goes on.
    for (i, field) in memory.iter().enumerate() {
        if all.iter().all(|r| r.original.loads.get(i).is_some_and(|v| *v != 0)) {
            hold.push(format!("(not (= {} #{}:0))", field.text, 8 * field.watched.bytes));
        }
    }
    out.hold.extend(hold);
    out
}

/// Orders of a register that the candidate's loop changes and one that it keeps, where they come as near to each other as
/// they can without being equal: a loop that goes on until they are.
fn ends(rows: &[Row], theirs: &[Location], kept: &[Column], out: &mut Guesses) {
    let counters = theirs.iter().filter(|l| l.width == 64 && matches!(l.spot, Spot::Register(Register::General(_))));
    for counter in counters.filter_map(|l| column(*l, rows, true)) {
        for end in kept.iter().filter_map(|c| column(c.location, rows, false)) {
            let gaps = counter.signed().into_iter().zip(end.signed()).map(|(a, b)| i128::from(b) - i128::from(a));
            let (least, most) = gaps.fold((i128::MAX, i128::MIN), |(least, most), gap| (least.min(gap), most.max(gap)));
            let (x, y) = (counter.location, end.location);
            if least == 1 && most > 1 {
                out.hold.push(format!("(<s {x} {y})"));
            } else if most == -1 && least < -1 {
                out.hold.push(format!("(<s {y} {x})"));
            }
        }
    }
}

/// Bounds without the turns that an unrolled loop leaves over.
fn rounded(basis: &[Column], turns: [u32; 2]) -> Vec<Column> {
    let period = turns[0].max(turns[1]);
    if period < 2 || !period.is_power_of_two() {
        return Vec::new();
    }
    let bounds = basis.iter().filter(|c| !c.forgotten && c.text.is_none() && c.location.width >= 32);
    let bounds = bounds.filter(|c| c.values.iter().any(|v| *v != c.values[0]));
    let one = |c: &Column| Column {
        values: c.values.iter().map(|v| v & !u64::from(period - 1)).collect(),
        text: Some(format!("(and {} #{}:{})", c.location, c.location.width, -i64::from(period))),
        ..c.clone()
    };
    bounds.map(one).collect()
}

/// Places of the candidate by its others: the lanes of a vector that go in step.
fn relate(names: &Names, open: &mut Vec<Column>, basis: &[Column], dropped: &BTreeSet<String>, out: &mut Guesses) {
    let varies = |c: &Column| c.values.iter().any(|v| *v != c.values[0]);
    let fixed: Vec<Column> = basis.iter().filter(|c| c.text.is_none() && varies(c)).cloned().collect();
    let mut left: Vec<Column> = Vec::new();
    for target in open.drain(..) {
        let others: Vec<Column> = left.iter().chain(&fixed).cloned().collect();
        match combine(names, &target, &others, dropped, Degree::One) {
            Some(text) if !left.is_empty() => out.define.push((target.location, text)),
            _ => left.push(target),
        }
    }
    *open = left;
}

/// Places of the candidate that hold what it has written or read at the end of the turn before, and what memory still
/// holds there.
fn carried(
    names: &Names,
    rows: &[Row],
    fields: usize,
    dropped: &BTreeSet<String>,
    open: &mut Vec<Column>,
    out: &mut Guesses,
) {
    open.retain(|column| {
        let varies = column.values.iter().any(|v| *v != column.values[0]);
        let held = names.behind.iter().enumerate().find(|(i, field)| {
            let read = |r: &Row| r.candidate.loads.get(fields + i).copied();
            let new = !dropped.contains(&format!("{} := {}", column.location, field.text));
            let fits = 8 * field.watched.bytes == column.location.width;
            fits && new && rows.iter().zip(&column.values).all(|(r, v)| read(r) == Some(*v))
        });
        match held.filter(|_| varies) {
            Some((_, field)) => {
                out.define.push((column.location, field.text.clone()));
                false
            }
            None => true,
        }
    });
}

/// How a variable of the original that others can reach is read.
fn in_memory(names: &Names, location: &Location) -> Option<String> {
    let Spot::Slot { offset, bytes } = location.spot else { return None };
    let inside = |(_, at, size): &&(usize, i64, u64)| (*at..*at + *size as i64).contains(&offset);
    let (number, at, _) = names.bound.iter().find(inside)?;
    Some(format!("(load {bytes} (add &§local.{number} #64:{}))", offset - at))
}

/// The values of such a variable.
fn reached(location: Location, text: &str, rows: &[Row]) -> Option<Column> {
    let Spot::Slot { offset, bytes } = location.spot else { return None };
    let values = column(location, rows, true)?.values;
    let location = Location { spot: Spot::Slot { offset: NOWHERE + offset, bytes }, ..location };
    Some(Column { location, values, forgotten: true, text: Some(text.to_string()) })
}

/// The places that a definition reads.
pub(super) fn note_places(text: &str, used: &mut Vec<Location>) {
    if let Ok(expression) = kernel::Expression::parse(text) {
        expression.places(used);
    }
}

/// Memory that the candidate keeps in a register, or in the lanes of open wide ones, and writes after the loop.
fn ahead(rows: &[Row], memory: &[Field], live: u64, wide: &[Location], out: &mut Guesses) {
    for (i, field) in memory.iter().enumerate() {
        // Optimised originals keep what they can in registers, too.
        if matches!(field.watched.base, WatchBase::Register(_)) {
            continue;
        }
        let global = matches!(field.watched.base, WatchBase::Address(_));
        let differ = |r: &Row| !global || r.original.loads.get(i) != r.candidate.loads.get(i);
        let varied = || rows.iter().any(|r| r.original.loads.get(i) != rows[0].original.loads.get(i));
        // What the candidate has behind a pointer of the original is not known: it may be behind where that one writes.
        let may = if global { rows.iter().any(differ) } else { field.stored && varied() };
        if !may {
            continue;
        }
        let values: Option<Vec<u64>> = rows.iter().map(|r| r.original.loads.get(i).copied()).collect();
        if let Some(values) = values.filter(|_| global && !wide.is_empty()) {
            let spot = Spot::Slot { offset: NOWHERE, bytes: field.watched.bytes };
            let location = Location { side: Side::Original, spot, low: 0, width: 8 * field.watched.bytes };
            let target = Column { location, values, forgotten: true, text: None };
            let sum = lanes::plain_sum(&target, wide, rows).map(|(text, _)| text);
            let found = sum.or_else(|| lanes::bits_of_lanes(&target, wide, rows, |_| true));
            if let Some(text) = found {
                out.ahead.push((field.address().to_string(), text));
                continue;
            }
        }
        for register in (0..16).map(Register::General).filter(|r| live >> r.index() & 1 == 1 && *r != Register::RSP) {
            let whole = Location::whole(Side::Candidate, Spot::Register(register)).expect("a word");
            let part = Location { width: 8 * field.watched.bytes, ..whole };
            let Some(held) = column(part, rows, true) else { continue };
            let same = rows.iter().zip(&held.values).all(|(r, v)| r.original.loads.get(i) == Some(v));
            if same {
                let address = field.address().to_string();
                // Where a flag says that nothing was written, there is nothing to write.
                for flag in (0..16).map(Register::General).filter(|r| live >> r.index() & 1 == 1) {
                    let Some(flag) = Location::whole(Side::Candidate, Spot::Register(flag)) else { continue };
                    let flag = Location { width: 8, ..flag };
                    let Some(values) = column(flag, rows, true).map(|c| c.values) else { continue };
                    let tells = |(r, v): (&Row, &u64)| *v != 0 || !differ(r);
                    if values.contains(&0) && values.iter().all(|v| *v < 2) && rows.iter().zip(&values).all(tells) {
                        let bytes = field.watched.bytes;
                        out.hold.push(format!("(or (not (= {flag} #8:0)) (= (peek {bytes} {address}) {part}))"));
                        // What is to be written then may be in another register.
                        for copy in (0..16).filter(|r| live >> r & 1 == 1).map(Register::General) {
                            let Some(copy) = Location::whole(Side::Candidate, Spot::Register(copy)) else { continue };
                            let copy = Location { width: part.width, ..copy };
                            let Some(copied) = column(copy, rows, true).filter(|_| copy != part) else { continue };
                            let same = |i: usize| copied.values[i] == held.values[i];
                            if (0..rows.len()).all(|i| values[i] == 0 || same(i)) && !(0..rows.len()).all(same) {
                                out.hold.push(format!("(or (= {flag} #8:0) (= {copy} {part}))"));
                            }
                        }
                    }
                }
                out.ahead.push((address, part.to_string()));
                break;
            }
        }
    }
}

/// Some of the rows, at no regular distance.
fn pick<'r>(rows: &[Row<'r>]) -> Vec<Row<'r>> {
    if rows.len() <= MOST_ROWS {
        return rows.to_vec();
    }
    // The first visits of each run differ most from one another.
    let mut numbers: Vec<usize> = (0..rows.len()).collect();
    let mut since = vec![0usize; rows.len()];
    for i in 1..rows.len() {
        since[i] = if rows[i].run == rows[i - 1].run { since[i - 1] + 1 } else { 0 };
    }
    let scattered = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    numbers.sort_by_key(|i| {
        (if since[*i] < EARLY { since[*i] } else { EARLY + (scattered(*i) % 8) as usize }, scattered(*i))
    });
    let (early, late) = numbers.split_at(numbers.partition_point(|i| since[*i] < EARLY));
    let mut numbers: Vec<usize> = early.iter().take(MOST_ROWS / 2).chain(late).copied().collect();
    numbers.truncate(MOST_ROWS);
    numbers.sort_unstable();
    numbers.into_iter().map(|i| rows[i]).collect()
}

/// Tries to define a place of the candidate, as a whole or its low part; what cannot be defined is left open.
pub(super) fn define(
    names: &Names,
    rows: &[Row],
    place: &Location,
    basis: &[Column],
    dropped: &BTreeSet<String>,
    open: &mut Vec<Column>,
    out: &mut Guesses,
) {
    if place.width > 64 {
        // Half by half, and what is no number of 64 bits as two of 32.
        let lane = |low: u16, width: u16| Location { low, width, ..*place };
        let found = |lane: Location| -> Option<(Location, String)> {
            let target = column(lane, rows, true)?;
            combine(names, &target, basis, dropped, Degree::Two).map(|text| (lane, text))
        };
        for half in (0..place.width).step_by(64) {
            if let Some(whole) = found(lane(half, 64)) {
                out.define.push(whole);
                continue;
            }
            for part in [lane(half, 32), lane(half + 32, 32)] {
                match found(part) {
                    Some(defined) => out.define.push(defined),
                    None => open.extend(column(part, rows, true)),
                }
            }
        }
        return;
    }
    for width in [64u16, 32, 16, 8].into_iter().filter(|w| *w <= place.width) {
        let part = Location { low: 0, width, ..*place };
        let name = format!("{part} := ");
        if dropped.iter().filter(|text| text.starts_with(&name)).count() >= MOST_TRIES {
            continue;
        }
        let Some(target) = column(part, rows, true) else { continue };
        if let Some(text) = combine(names, &target, basis, dropped, Degree::Two) {
            out.define.push((part, text));
            if width == 32 {
                out.define.extend(upper_half(names, place));
            }
            return;
        }
    }
    match upper_half(names, place) {
        Some(zero) => {
            out.define.push(zero);
            open.extend(column(Location { width: 32, ..*place }, rows, true));
        }
        None => open.extend(column(*place, rows, true)),
    }
}

/// The upper half of a register that the loop only writes with zeros there.
fn upper_half(names: &Names, place: &Location) -> Option<(Location, String)> {
    let Spot::Register(register @ Register::General(_)) = place.spot else { return None };
    let zeroed = place.width == 64 && names.zeroed[place.side.index()] >> register.index() & 1 == 1;
    zeroed.then(|| (Location { low: 32, width: 32, ..*place }, "#32:0".to_string()))
}

/// The columns as operands of a sum of some width.
pub(super) fn operands(names: &Names, columns: &[Column], width: u16, zero_first: bool) -> Vec<Operand> {
    let mut out = Vec::new();
    for column in columns {
        let own = column.location.width;
        let mut push = |text: String, values: Vec<u64>| {
            out.push(Operand { text, values, forgotten: column.forgotten, location: column.location });
        };
        let name = column.name();
        if own == width && width == 64 && column.values.iter().all(|v| is_frame_address(*v)) {
            // Only distances inside a frame mean something to the other side.
            let distances = column.values.iter().map(|v| v.wrapping_sub(STACK_TOP)).collect();
            push(format!("(add {name} (mul #64:-1 $rsp.{}))", column.location.side.name()), distances);
        } else if own == width {
            push(name, column.values.clone());
        } else if own > width {
            push(format!("(slice 0 {width} {name})"), column.values.clone());
        } else {
            let key = Compared::key(&column.location).filter(|_| column.location.side == Side::Original);
            let unsigned = key.is_some_and(|key| !names.compared.signed.contains(&key));
            let zero_first = (zero_first || unsigned) != names.flip;
            let signed: Vec<u64> = column.signed().iter().map(|v| *v as u64).collect();
            if zero_first {
                push(format!("(zext {width} {name})"), column.values.clone());
                push(format!("(sext {width} {name})"), signed);
            } else {
                push(format!("(sext {width} {name})"), signed);
                push(format!("(zext {width} {name})"), column.values.clone());
            }
        }
    }
    out
}

/// The sparsest combination of the basis that gives the target in all rows.
pub(super) fn combine(
    names: &Names,
    target: &Column,
    basis: &[Column],
    dropped: &BTreeSet<String>,
    degree: Degree,
) -> Option<String> {
    let width = target.location.width;
    let zero_first = match target.location.spot {
        Spot::Register(register) => names.zeroed[target.location.side.index()] >> register.index() & 1 == 1,
        Spot::Slot { .. } => false,
    };
    let operands = operands(names, basis, width, zero_first);
    let ones = vec![1; target.values.len()];
    let new = |text: &String| !dropped.contains(&format!("{} := {text}", target.location));
    let attempt = |chosen: &[&Operand]| -> Option<String> {
        let mut columns: Vec<&[u64]> = vec![&ones];
        columns.extend(chosen.iter().map(|o| o.values.as_slice()));
        let factors = solve(&columns, &target.values, u32::from(width))?;
        sum(names, target.location, &factors, chosen).filter(new)
    };
    // Plain copies, even if a few rows differ: the payload of a NaN is nobody's business.
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let varied = target.values.iter().any(|v| *v != target.values[0]);
    for operand in operands.iter().filter(|_| varied) {
        let alike = |(a, b): &(&u64, &u64)| **a & mask == **b & mask || (is_nan(**a, width) && is_nan(**b, width));
        let same = operand.values.iter().zip(&target.values).filter(alike).count();
        if same * 10 >= target.values.len() * 8 && new(&operand.text) {
            return Some(operand.text.clone());
        }
    }
    if let Some(text) = attempt(&[]) {
        return Some(text);
    }
    // Where runs are few, what looks like a constant may be a copy.
    let copy = operands.iter().find(|o| o.forgotten && o.values == target.values && new(&o.text));
    if let Some(operand) = copy {
        return Some(operand.text.clone());
    }
    let varies = |o: &&Operand| o.values.iter().any(|v| *v != o.values[0]);
    let varying: Vec<&Operand> = operands.iter().filter(varies).collect();
    if let Some(text) = varying.iter().find_map(|o| attempt(&[o])) {
        return Some(text);
    }
    for (i, a) in varying.iter().enumerate().filter(|(_, a)| a.forgotten) {
        for (j, b) in varying.iter().enumerate() {
            if (i < j || !b.forgotten)
                && a.location != b.location
                && let Some(text) = attempt(&[a, b])
            {
                return Some(text);
            }
        }
    }
    for a in varying.iter().filter(|a| a.forgotten) {
        for (j, b) in varying.iter().enumerate().filter(|(_, b)| !b.forgotten) {
            for c in varying.iter().take(j).filter(|c| !c.forgotten && c.location != b.location) {
                if let Some(text) = attempt(&[a, b, c]) {
                    return Some(text);
                }
            }
        }
    }
    // Products of two variables of the sum's own width.
    let mut products = Vec::new();
    for (i, a) in varying.iter().enumerate().filter(|(_, a)| a.forgotten) {
        for b in varying.iter().skip(i).filter(|b| b.location.width == a.location.width) {
            let values = a.values.iter().zip(&b.values).map(|(x, y)| x.wrapping_mul(*y)).collect();
            let text = format!("(mul {} {})", a.text, b.text);
            products.push(Operand { text, values, forgotten: true, location: a.location });
        }
    }
    if degree == Degree::Two && products.len() <= MOST_PRODUCTS {
        for product in &products {
            if let Some(text) = attempt(&[product]) {
                return Some(text);
            }
            for other in &varying {
                if let Some(text) = attempt(&[product, other]) {
                    return Some(text);
                }
            }
        }
    }
    // Everything at once, if there are enough rows to tell.
    if varying.len() > 2 && varying.len() + 8 <= target.values.len() {
        return attempt(&varying);
    }
    None
}

/// Is the word no number, as a float of that width?
fn is_nan(word: u64, width: u16) -> bool {
    match width {
        32 => f32::from_bits(word as u32).is_nan(),
        64 => f64::from_bits(word).is_nan(),
        _ => false,
    }
}

/// A variable of the original as a sum of the candidate's open places.
fn by_lanes(names: &Names, target: &Column, open: &[Column], basis: &[Column]) -> Option<String> {
    let width = target.location.width;
    let ones = vec![1; target.values.len()];
    let varies = |o: &Operand| o.values.iter().any(|v| *v != o.values[0]);
    let mut operands: Vec<Operand> = operands(names, open, width, false).into_iter().filter(varies).collect();
    let others: Vec<Column> = basis.iter().filter(|c| c.location != target.location).cloned().collect();
    operands.extend(self::operands(names, &others, width, false).into_iter().filter(varies));
    if operands.len() + 4 > target.values.len() {
        return None;
    }
    let chosen: Vec<&Operand> = operands.iter().collect();
    let mut columns: Vec<&[u64]> = vec![&ones];
    columns.extend(chosen.iter().map(|o| o.values.as_slice()));
    let factors = solve(&columns, &target.values, u32::from(width))?;
    sum(names, target.location, &factors, &chosen)
}

/// The text of a sum; addresses among its constant get their names.
pub(super) fn sum(names: &Names, target: Location, factors: &[u64], operands: &[&Operand]) -> Option<String> {
    let width = target.width;
    let signed = |v: u64| (v << (64 - width) as u32) as i64 >> (64 - width) as u32;
    let mut parts = Vec::new();
    for (factor, operand) in factors[1..].iter().zip(operands) {
        match signed(*factor) {
            0 => {}
            1 => parts.push(operand.text.clone()),
            f if f.unsigned_abs() <= LARGEST_FACTOR >> if width < 32 { 7 } else { 0 } => {
                parts.push(format!("(mul #{width}:{f} {})", operand.text))
            }
            _ => return None,
        }
    }
    let constant = factors[0];
    let address = if width == 64 { name_address(names, target, constant) } else { None };
    match address {
        Some((base, 0)) => parts.push(base),
        Some((base, offset)) => parts.extend([base, format!("#64:{offset}")]),
        None if constant == 0 && !parts.is_empty() => {}
        None => parts.push(format!("#{width}:{}", signed(constant))),
    }
    match parts.len() {
        1 => parts.pop(),
        _ => Some(format!("(add {})", parts.join(" "))),
    }
}

/// Is it an address in or near the frame of these runs?
fn is_frame_address(address: u64) -> bool {
    (-4096..1 << 20).contains(&(STACK_TOP.wrapping_sub(address) as i64))
}

/// An address of these runs, as an object or stack pointer and a distance from it.
fn name_address(names: &Names, target: Location, address: u64) -> Option<(String, i64)> {
    let below = (STACK_TOP.wrapping_sub(address)) as i64;
    if is_frame_address(address) {
        // The entry stack pointer is not at hand; the return address lies there.
        let side = if target.side == Side::Original { "original" } else { "candidate" };
        return Some((format!("$rsp.{side}"), -below));
    }
    for back in [0u64, 8, 64] {
        let Some((placed, offset)) = names.layout.object_at(address.wrapping_sub(back)) else { continue };
        if matches!(placed.object.kind, ObjectKind::Section) {
            continue;
        }
        let var = names.functions.iter().find_map(|f| f.objects.iter().find(|(_, o)| o.name == placed.object.name));
        let name = names.arena.var_name(*var?.0);
        if name.chars().any(|c| c.is_whitespace() || c == '(' || c == ')') {
            return None;
        }
        return Some((format!("&{name}"), (offset + back) as i64));
    }
    None
}
