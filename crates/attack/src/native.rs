//! Native runs: both executables on the same inputs, and the first input on which they do not agree.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// What one executable did with one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Hash of what was observed, for each input that came to its end.
    pub hashes: Vec<u64>,
    /// The signal that ended it, 0 for none.
    pub signal: u64,
}

/// The end of the processor time that the harness allows (`SIGXCPU`).
const ALARM: u64 = 24;

/// Assumptions of a proof that programs without undefined behaviour may violate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumed {
    /// Nothing is accessed as volatile but what debug information shows to be so.
    NoVolatileCasts,
    /// A function with a name that is reserved for the library is the library's, where the original declares nothing.
    Library,
}

impl Assumed {
    /// As proofs print it, without what it is about.
    pub fn name(self) -> &'static str {
        match self {
            Assumed::NoVolatileCasts => "no-volatile-casts",
            Assumed::Library => "library",
        }
    }
}

/// How two traces of a case relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same on all inputs, so many.
    Same(usize),
    /// The input that shows the difference.
    Different(usize),
    /// The input that shows a difference which an assumption of the proof names.
    Covered(usize, Assumed),
    /// The original itself failed at this input: the generator's fault.
    OriginalFaults(usize),
    /// Nothing was compared.
    Nothing,
}

/// Runs cases of an executable on inputs `0..count`.
pub fn run(executable: &Path, seed: u64, count: usize, cases: &[usize]) -> Result<HashMap<usize, Trace>, String> {
    let output =
        command(executable, seed, 0, count, 0, cases).output().map_err(|e| format!("{}: {e}", executable.display()))?;
    let words: Vec<u64> =
        output.stdout.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect();
    let mut traces = HashMap::new();
    let mut rest = words.as_slice();
    while let [case, done, signal, tail @ ..] = rest {
        let done = *done as usize;
        if tail.len() < done {
            return Err(format!("{}: the harness wrote too little", executable.display()));
        }
        traces.insert(*case as usize, Trace { hashes: tail[..done].to_vec(), signal: *signal });
        rest = &tail[done..];
    }
    Ok(traces)
}

/// The observations of one case on one input, as text.
pub fn observe(executable: &Path, seed: u64, input: usize, case: usize) -> String {
    let output = command(executable, seed, input, 1, 1, &[case]).output();
    output.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into_owned())
}

fn command(executable: &Path, seed: u64, first: usize, count: usize, verbose: usize, cases: &[usize]) -> Command {
    let mut command = Command::new(executable);
    command.arg(seed.to_string()).arg(first.to_string()).arg(count.to_string()).arg(verbose.to_string());
    command.args(cases.iter().map(usize::to_string)).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Compares what both sides did.
pub fn compare(original: Option<&Trace>, candidate: Option<&Trace>) -> Comparison {
    let (Some(original), Some(candidate)) = (original, candidate) else { return Comparison::Nothing };
    if let Some(at) = original.hashes.iter().zip(&candidate.hashes).position(|(a, b)| a != b) {
        return Comparison::Different(at);
    }
    match (original.signal, candidate.signal) {
        (0, 0) => Comparison::Same(original.hashes.len()),
        (ALARM, _) => Comparison::Nothing,
        (0, _) => Comparison::Different(candidate.hashes.len()),
        (_, _) if candidate.hashes.len() < original.hashes.len() => Comparison::Different(candidate.hashes.len()),
        _ => Comparison::OriginalFaults(original.hashes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(hashes: &[u64], signal: u64) -> Trace {
        Trace { hashes: hashes.to_vec(), signal }
    }

    #[test]
    fn traces_are_compared_up_to_the_first_fault() {
        let whole = trace(&[1, 2, 3], 0);
        assert_eq!(compare(Some(&whole), Some(&whole)), Comparison::Same(3));
        assert_eq!(compare(Some(&whole), Some(&trace(&[1, 9, 3], 0))), Comparison::Different(1));
        assert_eq!(compare(Some(&whole), Some(&trace(&[1, 2], 11))), Comparison::Different(2));
        assert_eq!(compare(Some(&trace(&[1], 11)), Some(&trace(&[1, 2, 3], 0))), Comparison::OriginalFaults(1));
        assert_eq!(compare(Some(&trace(&[1], ALARM)), Some(&trace(&[1], ALARM))), Comparison::Nothing);
        assert_eq!(compare(None, Some(&whole)), Comparison::Nothing);
    }
}
