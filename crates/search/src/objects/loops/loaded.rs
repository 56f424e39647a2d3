//! Registers of the candidate, or lanes of them, that hold what the original reads from memory in every turn, or the end that it
//! makes of it.

use super::affine::solve;
use super::columns::{Column, Row, column};
use super::guess::{FEWEST_ROWS, Guesses, Names, operands, sum};
use kernel::{Location, Spot};
use program::{Register, Side};
use std::collections::BTreeSet;

/// Registers of the candidate that the loop keeps and that hold what the original reads from memory each time.
pub(super) fn loaded(
    names: &Names,
    rows: &[Row],
    basis: &[Column],
    forget: &BTreeSet<Location>,
    live: u64,
    out: &mut Guesses,
) {
    lanes_loaded(rows, basis, forget, live, out);
    for register in (0..16).map(Register::General).filter(|r| live >> r.index() & 1 == 1 && *r != Register::RSP) {
        let whole = Location::whole(Side::Candidate, Spot::Register(register)).expect("a word");
        if forget.iter().any(|l| l.overlaps(&whole)) {
            continue;
        }
        let register = column(whole, rows, false);
        for read in basis.iter().filter(|c| c.text.is_some()) {
            let part = Location { width: read.location.width, ..whole };
            let Some(values) = column(part, rows, false) else { continue };
            let varied = values.values.iter().any(|v| *v != values.values[0]);
            if varied && values.values == read.values {
                out.hold.push(format!("(= {part} {})", read.text.as_deref().expect("memory")));
            } else if let Some(text) = register.as_ref().and_then(|c| multiple(names, c, read)) {
                out.hold.push(format!("(= {whole} {text})"));
            }
        }
    }
}

/// Lanes of the candidate's vector registers that the loop keeps and that hold what the original reads from memory each time: a
/// value that is read once and spread.
fn lanes_loaded(rows: &[Row], basis: &[Column], forget: &BTreeSet<Location>, live: u64, out: &mut Guesses) {
    for register in (0..16).map(Register::Vector).filter(|r| live >> r.index() & 1 == 1) {
        let Some(whole) = Location::whole(Side::Candidate, Spot::Register(register)) else { continue };
        if forget.iter().any(|l| l.overlaps(&whole)) {
            continue;
        }
        for read in basis.iter().filter(|c| c.location.width >= 32) {
            let (Some(text), width) = (&read.text, read.location.width) else { continue };
            for low in (0..whole.width / width).map(|i| i * width) {
                let Some(lane) = column(Location { low, width, ..whole }, rows, false) else { continue };
                let varied = lane.values.iter().any(|v| *v != lane.values[0]);
                if varied && lane.values == read.values {
                    out.hold.push(format!("(= {} {text})", lane.location));
                }
            }
        }
    }
}

/// A register as a multiple of what is read from memory, and a number: the end of a loop that counts in bytes.
fn multiple(names: &Names, register: &Column, read: &Column) -> Option<String> {
    let told = |c: &Column| c.values.iter().collect::<BTreeSet<_>>().len() > FEWEST_ROWS;
    if !told(register) || !told(read) {
        return None;
    }
    let ones = vec![1; register.values.len()];
    operands(names, std::slice::from_ref(read), register.location.width, false).iter().find_map(|operand| {
        let factors = solve(&[&ones, &operand.values], &register.values, u32::from(register.location.width))?;
        sum(names, register.location, &factors, &[operand]).filter(|_| factors[1] != 0)
    })
}
