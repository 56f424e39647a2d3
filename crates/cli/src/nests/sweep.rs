//! `--sweep N=1..20`: the verdict at every size.

use super::{Job, Names, native};
use crate::status::Failure;
use program::Assumption;
use report::nests::{KernelFunction, SweepRow};
use search::nests::KernelVerdict;
use std::time::Instant;

/// A parameter and its values, both ends included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sweep {
    pub parameter: String,
    pub first: i64,
    pub last: i64,
}

/// Most sizes of one sweep.
const MOST: i64 = 10_000;
/// Sizes that are lowered by one process of the compiler.
const AHEAD: i64 = 24;

impl Sweep {
    /// Reads `N=1..20`.
    pub fn parse(text: &str) -> Result<Sweep, String> {
        let wrong = || "expected NAME=FIRST..LAST".to_string();
        let (parameter, range) = text.split_once('=').ok_or_else(wrong)?;
        let (first, last) = range.split_once("..").ok_or_else(wrong)?;
        let (first, last) = (first.trim().parse().map_err(|_| wrong())?, last.trim().parse().map_err(|_| wrong())?);
        if parameter.is_empty() || first > last {
            return Err(wrong());
        }
        if last - first >= MOST {
            return Err(format!("at most {MOST} sizes"));
        }
        Ok(Sweep { parameter: parameter.to_string(), first, last })
    }

    /// Number of sizes.
    pub fn len(&self) -> usize {
        (self.last - self.first + 1) as usize
    }
}

impl Job {
    /// All sizes. The verdict of the whole is the worst: the first `different`, else the first `unknown`.
    pub(super) fn sweep(&self, names: &Names, sweep: &Sweep) -> Result<KernelFunction, Failure> {
        let start = Instant::now();
        let mut rows: Vec<SweepRow> = Vec::new();
        for value in sweep.first..=sweep.last {
            if (value - sweep.first) % AHEAD == 0 {
                self.lower_ahead(names, sweep, value);
            }
            let mut values = self.parameters.clone();
            values.push((sweep.parameter.clone(), value));
            let before = Instant::now();
            let outcome = self.outcome(names, &values, self.run)?;
            rows.push(SweepRow { parameter: sweep.parameter.clone(), value, outcome, time: before.elapsed() });
        }
        let rank = |verdict: &KernelVerdict| match verdict {
            KernelVerdict::Different(_) => 0,
            KernelVerdict::Unknown(_) | KernelVerdict::Parameter(_) => 1,
            KernelVerdict::Equivalent(_) => 2,
        };
        let worst = (0..rows.len()).min_by_key(|i| rank(&rows[*i].outcome.verdict)).unwrap_or(0);
        // The proof of one size stands for the row it came from; the table says what was proved at the others.
        let mut values = self.parameters.clone();
        values.push((sweep.parameter.clone(), rows[worst].value));
        let mut function = self.compare(names, &values, self.run)?;
        if rows.iter().all(|row| matches!(row.outcome.verdict, KernelVerdict::Equivalent(_))) {
            let assumptions = &mut function.outcome.assumptions;
            assumptions.retain(|a| !matches!(a, Assumption::Parameter { name, .. } if *name == sweep.parameter));
            let (name, first, last) = (sweep.parameter.clone(), sweep.first, Some(sweep.last));
            assumptions.push(Assumption::Parameter { name, first, last });
        }
        function.sweep = rows;
        function.time = start.elapsed();
        Ok(function)
    }

    /// Has the compiler lower both files at the next sizes, all at once. What cannot be read is told when its turn comes.
    fn lower_ahead(&self, names: &Names, sweep: &Sweep, first: i64) {
        if self.files().with_object() {
            return;
        }
        let mut read = Vec::new();
        for value in first..=sweep.last.min(first.saturating_add(AHEAD - 1)) {
            let mut values = self.parameters.clone();
            values.push((sweep.parameter.clone(), value));
            let Ok(Ok((original, candidate))) = self.sources(&values) else { return };
            for (source, name) in [(original, &names.original), (candidate, &names.candidate)] {
                let Ok(program) = source.lower(name, &values) else { return };
                read.push((source, program, name));
            }
        }
        let sides: Vec<native::Side<'_>> =
            read.iter().map(|(source, program, name)| native::Side { source, program, name, object: None }).collect();
        self.known.modules.fetch(&sides, self.options.flat);
    }
}
