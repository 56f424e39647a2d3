//! Counts of right, wrong and missing answers, as a table.

use crate::lockstep::Verdict;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How an answer compares with the truth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mark {
    /// The true verdict.
    Right,
    /// `unknown`.
    GaveUp,
    /// The opposite of the truth.
    Wrong,
    /// No answer: a crash, a missing function, a program that does not compile.
    Broken,
}

impl Mark {
    /// Marks a verdict.
    pub fn of(verdict: Verdict, truth: Verdict) -> Mark {
        match verdict {
            v if v == truth => Mark::Right,
            Verdict::Unknown => Mark::GaveUp,
            _ => Mark::Wrong,
        }
    }
}

/// Marks by row, and a line of text for each answer that is not right.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Score {
    rows: BTreeMap<String, BTreeMap<Mark, usize>>,
    notes: Vec<(Mark, String)>,
}

impl Score {
    /// Counts a mark.
    pub fn add(&mut self, row: &str, mark: Mark, note: impl FnOnce() -> String) {
        *self.rows.entry(row.to_string()).or_default().entry(mark).or_default() += 1;
        if mark != Mark::Right {
            self.notes.push((mark, note()));
        }
    }

    /// The score of many independent cases, worked on by as many threads as there are processors.
    pub fn of_all<T: Sync>(cases: &[T], work: impl Fn(&T, &mut Score) + Sync) -> Score {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let mut all = Score::default();
        std::thread::scope(|scope| {
            let worker = || {
                let mut score = Score::default();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(case, &mut score);
                }
                score
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            for worker in workers {
                all.join(worker.join().expect("a worker that does not panic"));
            }
        });
        all
    }

    /// Adds the counts of another score.
    fn join(&mut self, other: Score) {
        for (row, marks) in other.rows {
            let mine = self.rows.entry(row).or_default();
            marks.into_iter().for_each(|(mark, n)| *mine.entry(mark).or_default() += n);
        }
        self.notes.extend(other.notes);
    }

    /// How often a mark was given.
    pub fn count(&self, mark: Mark) -> usize {
        self.rows.values().filter_map(|marks| marks.get(&mark)).sum()
    }

    /// Number of answers.
    pub fn total(&self) -> usize {
        self.rows.values().flat_map(BTreeMap::values).sum()
    }

    /// The notes with this mark, sorted.
    pub fn notes(&self, mark: Mark) -> Vec<&str> {
        let mut notes: Vec<&str> =
            self.notes.iter().filter(|(m, _)| *m == mark).map(|(_, note)| note.as_str()).collect();
        notes.sort_unstable();
        notes
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = [Mark::Right, Mark::GaveUp, Mark::Wrong, Mark::Broken];
        writeln!(f, "{:<28} {:>6} {:>8} {:>6} {:>7}", "", "right", "unknown", "wrong", "broken")?;
        let mut line = |name: &str, count: &dyn Fn(Mark) -> usize| {
            let n = marks.map(count);
            writeln!(f, "{name:<28} {:>6} {:>8} {:>6} {:>7}", n[0], n[1], n[2], n[3])
        };
        for (row, counts) in &self.rows {
            line(row, &|mark| counts.get(&mark).copied().unwrap_or(0))?;
        }
        line("all", &|mark| self.count(mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_counts() {
        let mut score = Score::default();
        score.add("a", Mark::of(Verdict::Different, Verdict::Different), String::new);
        score.add("b", Mark::of(Verdict::Unknown, Verdict::Different), || "b: gave up".to_string());
        score.add("b", Mark::of(Verdict::Equivalent, Verdict::Different), || "b: wrong".to_string());
        let lines: Vec<String> =
            score.to_string().lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines, ["right unknown wrong broken", "a 1 0 0 0", "b 0 1 1 0", "all 1 1 1 0"]);
        assert_eq!(score.notes(Mark::Wrong), ["b: wrong"]);
    }
}
