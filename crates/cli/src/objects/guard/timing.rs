//! What a guard costs on this processor, at given sizes: original, candidate and guarded function in one sandbox, as `measure` times them.
//!
//! Trust: none. Nothing is concluded from times.

use super::Condition;
use crate::objects::native;
use crate::status::Failure;
use kernel::lemma::Facts;
use oracle::{Input, Limits, Shape};
use pair::{File, Files};
use search::{Wanted, start_samples};
use serde::Serialize;
use std::time::{Duration, Instant};
use term::Bits;

/// Sizes that are wanted, and which argument they are values of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// The argument; the first one that is an integer if nothing is said.
    pub parameter: Option<String>,
    pub values: Vec<u64>,
}

impl Sizes {
    /// `8,64,1024` or `n=8,64,1024`.
    pub fn parse(text: &str) -> Result<Sizes, String> {
        let wrong = || "expected N,N,… or NAME=N,N,…".to_string();
        let (parameter, list) = match text.split_once('=') {
            Some((name, list)) if !name.is_empty() => (Some(name.to_string()), list),
            Some(_) => return Err(wrong()),
            None => (None, text),
        };
        let values: Result<Vec<u64>, _> = list.split(',').map(|number| number.trim().parse::<u64>()).collect();
        let values = values.map_err(|_| wrong())?;
        if values.len() > MOST_SIZES {
            return Err(format!("more than {MOST_SIZES} sizes"));
        }
        Ok(Sizes { parameter, values })
    }
}

/// More sizes are refused.
const MOST_SIZES: usize = 16;

/// What was measured at a size: nanoseconds a call.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Row {
    pub size: u64,
    pub original: f64,
    pub candidate: f64,
    pub guarded: f64,
    /// What the check adds to the candidate; below zero where noise or layout is more than it.
    pub guard: f64,
    /// The same as a share of the guarded call.
    pub share: f64,
}

/// Rounds and layouts are fewer than those of `measure`, which is there for claims.
const ROUNDS: usize = 101;
const LAYOUTS: usize = 3;
const STATES: usize = 4;
const LOOKING: Duration = Duration::from_secs(5);
const LIMITS: Limits = Limits { processor: Duration::from_secs(2), clock: Duration::from_secs(30) };

/// Times all three in start states that satisfy the condition.
pub fn measure(
    sizes: &Sizes,
    files: &Files,
    both: [usize; 2],
    symbols: [&str; 2],
    condition: &Condition,
    guarded: &[u8],
) -> Result<Vec<Row>, Failure> {
    let failed = |what: &dyn std::fmt::Display| Failure(format!("--sizes: {what}"));
    let parameter = match &sizes.parameter {
        Some(name) => name.clone(),
        None => first_integer(condition).ok_or_else(|| failed(&"which argument is the size? say NAME=N,N,…"))?,
    };
    let prepared = files.prepare(both, &Facts::default()).map_err(|error| failed(&error))?;
    let pair = prepared.pair.under(condition.precondition.clone());
    let bytes = [files.original(), files.candidate()].map(|file| file.image().file());
    let images = [files.original(), files.candidate()].map(File::image);
    let results = Shape::of(images, symbols[0], &[]).own.map_or_else(Vec::new, |own| own.results);
    let nanoseconds = nanoseconds_a_tick();
    let mut rows = Vec::new();
    for size in &sizes.values {
        let arguments = [(parameter.clone(), Bits::new(64, *size))];
        let until = Instant::now() + LOOKING;
        let wanted = Wanted { tests: &[], arguments: &arguments, most: STATES, seed: 1, until };
        let samples = start_samples(&prepared.arena, &pair, &wanted);
        if let Some(name) = samples.unknown.first() {
            return Err(failed(&format!("there is no argument `{name}`")));
        }
        let inputs: Vec<Input> = samples.samples.iter().filter_map(native::input).collect();
        if inputs.is_empty() {
            return Err(failed(&format!("no start state with {parameter} = {size} satisfies the condition")));
        }
        let time = |objects: [&[u8]; 2], names: [&str; 2]| -> Result<[f64; 2], Failure> {
            let options = oracle::Options { rounds: ROUNDS, layouts: LAYOUTS, seed: 1, limits: LIMITS };
            let times = oracle::time(objects, names, &inputs, &results, options).map_err(|error| failed(&error))?;
            let middle = |side: usize| {
                let mut ticks: Vec<u64> = times.layouts.iter().flatten().map(|round| round[side]).collect();
                ticks.sort_unstable();
                ticks.get(ticks.len() / 2).map_or(0.0, |middle| *middle as f64 * nanoseconds)
                    / times.calls.max(1) as f64
            };
            Ok([middle(0), middle(1)])
        };
        let [candidate, with_check] = time([bytes[1], guarded], [symbols[1], symbols[0]])?;
        let [original, _] = time([bytes[0], guarded], [symbols[0]; 2])?;
        let guard = with_check - candidate;
        rows.push(Row { size: *size, original, candidate, guarded: with_check, guard, share: guard / with_check });
    }
    Ok(rows)
}

/// The first argument that is an integer.
fn first_integer(condition: &Condition) -> Option<String> {
    let integer = |ty: &str| ["long", "int", "short", "char"].iter().any(|word| ty.ends_with(word));
    condition.interface.declared_parameters()?.into_iter().find(|(ty, _)| integer(ty)).map(|(_, name)| name)
}

/// By what the system says of the clock; 1 if it says nothing.
fn nanoseconds_a_tick() -> f64 {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("cpu MHz"));
    let megahertz = line.and_then(|line| line.split(':').nth(1)).and_then(|number| number.trim().parse::<f64>().ok());
    megahertz.filter(|frequency| *frequency > 0.0).map_or(1.0, |frequency| 1000.0 / frequency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_of_an_argument() {
        let sizes = |text: &str| Sizes::parse(text).map(|sizes| (sizes.parameter, sizes.values));
        assert_eq!(sizes("8,64"), Ok((None, vec![8, 64])));
        assert_eq!(sizes("n=8"), Ok((Some("n".to_string()), vec![8])));
        assert!(sizes("=8").is_err() && sizes("n=").is_err() && sizes("x").is_err() && sizes("").is_err());
    }
}
