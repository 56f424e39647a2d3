//! What a loop does to memory turn by turn, seen in runs: blocks that it fills or copies, one piece after the other.
//!
//! A *stream* is a place where every turn of a loop writes the next piece of a block: of one byte value, or what the same
//! turn reads from the next piece of another block. What is done so far, and what is left to do, are changes of memory
//! that a certificate can claim of the side that goes round alone.

use super::columns::{Column, Row};
use super::guess::{NOWHERE, Names, combine};
use interpreter::{STACK_TOP, Touch};
use kernel::{BlockClaim, Change, ChangeClaim, Location, Spot};
use program::{PointId, Side};
use std::collections::BTreeSet;
use symbolic::Binding;

/// Changes of memory that may be claimed at a point.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Blocks {
    /// What one side has written and the other has not.
    pub changes: Vec<ChangeClaim>,
    /// What the original has accessed.
    pub accessed: Vec<BlockClaim>,
    /// Bytes that are left to write.
    pub left: Option<String>,
}

impl Blocks {
    /// The local objects whose memory changes.
    pub fn locals(&self) -> impl Iterator<Item = usize> + '_ {
        self.changes.iter().filter_map(|c| c.local)
    }
}

/// Whether a block is what a loop has done, or what it has still to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    SoFar,
    Left,
}

/// Pieces that one turn writes side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Piece {
    address: u64,
    bytes: u64,
    /// The byte that fills it.
    fill: Option<u8>,
    /// Distances to what was read in the same turn and is the same.
    copies: BTreeSet<u64>,
}

/// Writes of one turn that are looked at.
const MOST_WRITES: usize = 16;
/// Blocks of one loop.
const MOST_STREAMS: usize = 4;
/// Fewer turns tell nothing.
const FEWEST_TURNS: usize = 1;
/// Stacks are not larger in runs.
const STACK_SIZE: u64 = 1 << 20;

fn is_frame(address: u64) -> bool {
    address.wrapping_sub(STACK_TOP - STACK_SIZE) < 2 * STACK_SIZE
}

/// The local object of a side's frame that an address lies in.
fn local_of(bindings: &[Binding], side: Side, address: u64) -> Option<(usize, u64)> {
    let offset = address.wrapping_sub(STACK_TOP) as i64;
    let found = |b: &Binding| b.interval(side).filter(|i| (i.offset..i.offset + i.size as i64).contains(&offset));
    let (number, interval) = bindings.iter().enumerate().find_map(|(i, b)| Some((i, found(b)?)))?;
    Some((number, STACK_TOP.wrapping_add(interval.offset as u64)))
}

/// What a side does from one visit of a point to the n-th next one, and whether there was one. Behind the last turn of a
/// loop come accesses that do not belong to it.
fn turn(row: &Row, side: Side, point: PointId, n: u32) -> (Vec<Touch>, bool) {
    let mut touches = Vec::new();
    let mut visits = 0;
    for visit in row.after[side.index()] {
        touches.extend_from_slice(&visit.touches);
        visits += u32::from(visit.point == point);
        if visits == n {
            return (touches, true);
        }
    }
    touches.extend_from_slice(&row.whole.touches[side.index()]);
    (touches, false)
}

/// The pieces that a turn writes outside the slots of the frame, in the order of their addresses.
fn pieces(touches: &[Touch], bindings: &[Binding], side: Side) -> Option<Vec<Piece>> {
    let counts = |t: &&Touch| !is_frame(t.address) || local_of(bindings, side, t.address).is_some();
    let mut writes: Vec<&Touch> = touches.iter().filter(|t| t.write).filter(counts).collect();
    if writes.len() > MOST_WRITES {
        return None;
    }
    writes.sort_by_key(|t| t.address);
    let mut out: Vec<Piece> = Vec::new();
    for write in writes {
        let all = &write.value.to_le_bytes()[..usize::from(write.bytes)];
        let fill = all.iter().all(|b| *b == all[0]).then_some(all[0]);
        let reads = touches.iter().filter(|t| !t.write).filter(counts);
        let same = reads.filter(|r| r.bytes == write.bytes && r.value == write.value);
        let copies: BTreeSet<u64> = same.map(|r| r.address.wrapping_sub(write.address)).collect();
        match out.last_mut() {
            Some(last) if last.address.wrapping_add(last.bytes) == write.address => {
                last.bytes += u64::from(write.bytes);
                last.fill = last.fill.filter(|b| Some(*b) == fill);
                last.copies.retain(|d| copies.contains(d));
            }
            _ => out.push(Piece { address: write.address, bytes: u64::from(write.bytes), fill, copies }),
        }
    }
    Some(out)
}

/// One place of a loop that writes, in all rows: where the next piece is, where the block begins and where it ends.
struct Stream<'r> {
    rows: Vec<Row<'r>>,
    next: Vec<u64>,
    first: Vec<u64>,
    /// Where the next piece would be behind the last turn.
    last: Vec<Option<u64>>,
    bytes: u64,
    descends: bool,
    fill: Option<Vec<u8>>,
    /// How far away what is copied lies.
    copy: Option<Vec<u64>>,
}

/// What one turn writes, and whether it is certain that it was one.
type Turn = (Option<Vec<Piece>>, bool);

impl Stream<'_> {
    /// Where the block ends if a place counts the pieces, or the bytes, that are left.
    fn left_by(&self, column: &Column) -> Option<Vec<Option<u64>>> {
        let follows = |i: &usize| self.rows[*i].run == self.rows[*i - 1].run && self.rows[*i].again;
        let steps = (1..self.rows.len()).filter(follows);
        let mut steps = steps.map(|i| column.values[i - 1].wrapping_sub(column.values[i]));
        let step = steps.next().filter(|_| column.forgotten && column.location.width == 64)?;
        let piece = if step == 1 { self.bytes } else { 1 };
        if piece.wrapping_mul(step) != self.bytes || steps.any(|s| s != step) {
            return None;
        }
        let end = |(next, left): (&u64, &u64)| {
            let bytes = left.wrapping_mul(piece);
            Some(if self.descends { next.wrapping_sub(bytes) } else { next.wrapping_add(bytes) })
        };
        Some(self.next.iter().zip(&column.values).map(end).collect())
    }
}

/// Follows the n-th piece of every turn through the rows.
fn follow<'r>(rows: &[Row<'r>], turns: &[Turn], n: usize) -> Option<Stream<'r>> {
    let piece = |i: usize| turns[i].0.as_ref().and_then(|pieces| pieces.get(n));
    let bytes = (0..rows.len()).find_map(piece)?.bytes;
    let steps = (1..rows.len()).filter(|i| rows[*i].run == rows[*i - 1].run).filter_map(|i| {
        let (before, here) = (piece(i - 1)?, piece(i)?);
        Some(here.address.wrapping_sub(before.address))
    });
    let steps: Vec<u64> = steps.collect();
    let up = steps.iter().filter(|s| **s == bytes).count();
    let down = steps.iter().filter(|s| **s == bytes.wrapping_neg()).count();
    if up.max(down) < FEWEST_TURNS {
        return None;
    }
    let descends = down > up;
    let step = if descends { bytes.wrapping_neg() } else { bytes };
    let mut out = Stream {
        rows: Vec::new(),
        next: Vec::new(),
        first: Vec::new(),
        last: Vec::new(),
        bytes,
        descends,
        fill: None,
        copy: None,
    };
    let (mut fill, mut copy): (Option<Vec<u8>>, Option<Vec<u64>>) = (Some(Vec::new()), Some(Vec::new()));
    let mut i = 0;
    while i < rows.len() {
        // One time that the loop is entered.
        let Some(start) = piece(i) else {
            i += 1;
            continue;
        };
        let mut end = i + 1;
        while end < rows.len()
            && rows[end].run == rows[i].run
            && piece(end).is_some_and(|p| p.address == start.address.wrapping_add(step.wrapping_mul((end - i) as u64)))
        {
            end += 1;
        }
        let at = |k: usize| start.address.wrapping_add(step.wrapping_mul((k - i) as u64));
        // Either the last visit is followed by a turn, or the loop is left from there.
        let leaves = end < rows.len() && rows[end].run == rows[i].run && rows[end].again && !turns[end].1;
        let left = rows[i].whole.complete && (leaves || !turns[end - 1].1);
        let shown = if leaves { end + 1 } else { end };
        let mut distances = start.copies.clone();
        (i + 1..end).for_each(|k| distances.retain(|d| piece(k).is_some_and(|p| p.copies.contains(d))));
        let byte = start.fill.filter(|b| (i..end).all(|k| piece(k).is_some_and(|p| p.fill == Some(*b))));
        fill = fill.zip(byte).map(|(mut all, b)| {
            all.resize(all.len() + shown - i, b);
            all
        });
        copy = copy.zip(distances.first().copied()).map(|(mut all, d)| {
            all.resize(all.len() + shown - i, d);
            all
        });
        for (k, row) in rows.iter().enumerate().take(shown).skip(i) {
            out.rows.push(*row);
            out.next.push(at(k));
            out.first.push(start.address);
            out.last.push(left.then(|| at(end)));
        }
        i = shown;
    }
    out.fill = fill;
    out.copy = copy;
    Some(out)
}

/// What is known about the places of the side that goes round.
pub(crate) struct Around<'n, 'a> {
    pub names: &'n Names<'n, 'a>,
    pub bindings: &'n [Binding],
    pub side: Side,
    pub head: PointId,
    /// How often the head is reached from one row to the next.
    pub turns: u32,
    /// The head of the other side and how often it is reached, if both go round: what it writes, too, is no difference.
    pub other: Option<(PointId, u32)>,
}

impl Around<'_, '_> {
    fn target(&self, values: Vec<u64>) -> Column {
        let spot = Spot::Slot { offset: NOWHERE, bytes: 8 };
        let location = Location { side: self.side, spot, low: 0, width: 64 };
        Column { location, values, forgotten: true, text: None }
    }

    fn say(&self, values: Vec<u64>, basis: &[Column]) -> Option<String> {
        combine(self.names, &self.target(values), basis, &BTreeSet::new(), super::guess::Degree::One)
    }

    /// An address, in a local object if the first of them is.
    fn say_address(&self, values: Vec<u64>, basis: &[Column]) -> Option<(String, Option<usize>)> {
        if !is_frame(*values.first()?) {
            return Some((self.say(values, basis)?, None));
        }
        let (local, base) = local_of(self.bindings, self.side, values[0])?;
        let inside = self.say(values.iter().map(|v| v.wrapping_sub(base)).collect(), basis)?;
        Some((format!("(add &§local.{local} {inside})"), Some(local)))
    }

    /// What the side writes from one row to the next and the other does not.
    fn turn(&self, row: &Row) -> Turn {
        let (mut touches, certain) = turn(row, self.side, self.head, self.turns);
        if let Some((head, turns)) = self.other {
            let (theirs, _) = turn(row, Side::BOTH[1 - self.side.index()], head, turns);
            let also = |t: &Touch| theirs.iter().any(|o| o.write && o.address == t.address && o.value == t.value);
            touches.retain(|t| !t.write || !also(t));
        }
        (pieces(&touches, self.bindings, self.side), certain)
    }

    /// The blocks that a loop fills or copies. `basis` makes the columns of the places that expressions may use.
    pub fn blocks(&self, rows: &[Row], extent: Extent, basis: &dyn Fn(&[Row]) -> Vec<Column>) -> Option<Blocks> {
        let turns: Vec<Turn> = rows.iter().map(|row| self.turn(row)).collect();
        let shape = |pieces: &Vec<Piece>| pieces.iter().map(|p| p.bytes).collect::<Vec<_>>();
        let certain = || turns.iter().filter(|t| t.1).filter_map(|t| t.0.as_ref());
        let first = certain().map(shape).next()?;
        if first.is_empty() || first.len() > MOST_STREAMS || certain().any(|p| shape(p) != first) {
            return None;
        }
        let mut out = Blocks::default();
        for n in 0..first.len() {
            self.block(follow(rows, &turns, n)?, extent, basis, &mut out)?;
        }
        Some(out)
    }

    fn block(
        &self,
        mut stream: Stream,
        extent: Extent,
        basis: &dyn Fn(&[Row]) -> Vec<Column>,
        out: &mut Blocks,
    ) -> Option<()> {
        if extent == Extent::Left {
            // Where a run was cut short nobody knows how much was left; a place that counts it may tell.
            if stream.last.iter().all(Option::is_none) {
                let counted = basis(&stream.rows).into_iter().find_map(|column| stream.left_by(&column));
                stream.last = counted.unwrap_or_default();
            }
            let known: Vec<bool> = stream.last.iter().map(Option::is_some).collect();
            fn keep<T: Clone>(all: &[T], known: &[bool]) -> Vec<T> {
                all.iter().zip(known).filter(|(_, k)| **k).map(|(t, _)| t.clone()).collect()
            }
            stream.rows = keep(&stream.rows, &known);
            stream.next = keep(&stream.next, &known);
            stream.first = keep(&stream.first, &known);
            stream.last = keep(&stream.last, &known);
            stream.fill = stream.fill.map(|all| keep(&all, &known));
            stream.copy = stream.copy.map(|all| keep(&all, &known));
        }
        if stream.rows.len() < FEWEST_TURNS {
            return None;
        }
        let columns = basis(&stream.rows);
        let pairs: Vec<(u64, u64)> = match extent {
            Extent::SoFar => stream.first.iter().copied().zip(stream.next.iter().copied()).collect(),
            Extent::Left => stream.next.iter().copied().zip(stream.last.iter().map(|l| l.unwrap_or(0))).collect(),
        };
        let up = if stream.descends { stream.bytes } else { 0 };
        let (starts, lengths): (Vec<u64>, Vec<u64>) = pairs
            .into_iter()
            .map(|(from, to)| {
                let (low, high) = if stream.descends { (to, from) } else { (from, to) };
                (low.wrapping_add(up), high.wrapping_sub(low))
            })
            .unzip();
        let (address, local) = self.say_address(starts.clone(), &columns)?;
        let length = self.say(lengths, &columns)?;
        let byte = stream.fill.as_ref().and_then(|bytes| self.say_byte(bytes, &columns));
        out.accessed.push(BlockClaim { address: address.clone(), length: length.clone(), write: true });
        let (what, source) = match (byte, &stream.copy) {
            (Some(byte), _) => (Change::Fill(address, byte, length.clone()), None),
            (None, Some(distances)) => {
                let from = starts.iter().zip(distances).map(|(a, d)| a.wrapping_add(*d)).collect();
                let (from, source) = self.say_address(from, &columns)?;
                out.accessed.push(BlockClaim { address: from.clone(), length: length.clone(), write: false });
                (Change::Copy(address, from, length.clone()), source)
            }
            (None, None) => return None,
        };
        out.changes.push(ChangeClaim { local, source, what });
        out.left.get_or_insert(length);
        Some(())
    }

    /// The byte that fills a block: a number, or the low part of what the loop keeps.
    fn say_byte(&self, bytes: &[u8], columns: &[Column]) -> Option<String> {
        if bytes.iter().all(|b| *b == bytes[0]) {
            return Some(format!("#8:{}", bytes[0] as i8));
        }
        let fits = |c: &&Column| !c.forgotten && c.values.iter().zip(bytes).all(|(v, b)| *v as u8 == *b);
        let column = columns.iter().find(fits)?;
        Some(if column.location.width == 8 { column.name() } else { format!("(slice 0 8 {})", column.name()) })
    }
}
