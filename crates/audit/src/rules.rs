//! The rules that fired, and what became of their instances.

use crate::pattern::Cutter;
use crate::proved_elsewhere;
use rustc_hash::{FxHashMap, FxHashSet};
use solver::{Answer, Effort, Query, Solver, SolverOptions, Word};
use std::collections::BTreeMap;
use term::{Arena, Firing, Func, Op, TermId};

/// How deep patterns are cut, the shallowest first.
const DEPTHS: [u32; 7] = [1, 2, 3, 4, 6, 9, 14];

/// Instances that nobody proved are shown, so many of each rule and so much of each.
const EXAMPLES: usize = 3;
const LONGEST: usize = 1000;

/// What one instance may cost.
const EFFORT: Effort = Effort { resources: 1_500_000, propagations: 2_000_000 };

/// What is known about the instances of one rule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RuleRow {
    /// How often it fired.
    pub firings: u64,
    /// Distinct pairs of terms among these.
    pub instances: u64,
    /// Of these, instances of a pattern that was proved by terms and checked clauses.
    pub by_clauses: u64,
    /// Of these, instances of a pattern that a solver process proved.
    pub by_process: u64,
    /// Of these, instances that rest on something else.
    pub elsewhere: u64,
    /// Of these, instances that nobody proved.
    pub open: u64,
    /// Some of them, as text.
    pub examples: Vec<String>,
    /// Instances that are wrong, as text. There are none.
    pub wrong: Vec<String>,
}

/// What became of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Proved(Word),
    Refuted,
    NotShown,
}

/// Proves instances of rules, each pattern once.
pub struct RuleAudit {
    solver: Solver,
    patterns: Arena,
    fates: FxHashMap<TermId, Fate>,
    rows: BTreeMap<&'static str, RuleRow>,
}

impl Default for RuleAudit {
    fn default() -> RuleAudit {
        let options = SolverOptions { audited: true, efforts: vec![EFFORT], ..SolverOptions::default() };
        RuleAudit {
            solver: Solver::new(options),
            patterns: Arena::new(),
            fates: FxHashMap::default(),
            rows: BTreeMap::new(),
        }
    }
}

impl RuleAudit {
    /// What is known about each rule that fired, by name.
    pub fn rows(&self) -> &BTreeMap<&'static str, RuleRow> {
        &self.rows
    }

    /// Looks at everything that fired in an arena.
    pub fn look_at(&mut self, arena: &Arena, firings: &[Firing]) {
        let mut seen: FxHashSet<(&'static str, TermId, TermId)> = FxHashSet::default();
        for firing in firings {
            let row = self.rows.entry(firing.rule).or_default();
            row.firings += 1;
            if !seen.insert((firing.rule, firing.before, firing.after)) {
                continue;
            }
            row.instances += 1;
            if proved_elsewhere(firing.rule).is_some() {
                row.elsewhere += 1;
                continue;
            }
            let fate = self.fate(arena, *firing);
            let row = self.rows.entry(firing.rule).or_default();
            match fate {
                Ok(Fate::Proved(Word::Terms | Word::Clauses)) => row.by_clauses += 1,
                Ok(Fate::Proved(Word::Process)) => row.by_process += 1,
                // What is said of floats in passing rests on the same theory.
                Ok(_) if mentions_float(arena, *firing) => row.elsewhere += 1,
                Ok(_) => {
                    row.open += 1;
                    if row.examples.len() < EXAMPLES {
                        row.examples.push(shown(arena, *firing));
                    }
                }
                // A term beneath may have been rewritten by an axiom on the way.
                Err(_) if !arena.used_axioms().is_empty() && mentions_float(arena, *firing) => row.elsewhere += 1,
                Err(wrong) => row.wrong.push(wrong),
            }
        }
    }

    /// Cuts an instance deeper and deeper until it is proved. The error is an instance that is wrong.
    fn fate(&mut self, arena: &Arena, firing: Firing) -> Result<Fate, String> {
        for depth in DEPTHS {
            let cutter = Cutter::new(arena, &mut self.patterns);
            let Some((pattern, cut)) = cutter.equation(firing.before, firing.after, depth) else { break };
            let fate = match self.fates.get(&pattern) {
                Some(fate) => *fate,
                None => self.ask(pattern),
            };
            self.fates.insert(pattern, fate);
            match fate {
                Fate::Proved(_) => return Ok(fate),
                // A state of the terms as they were.
                Fate::Refuted if !cut => {
                    return Err(shown(arena, firing));
                }
                Fate::NotShown if !cut => break,
                _ => {}
            }
        }
        Ok(Fate::NotShown)
    }

    fn ask(&mut self, pattern: TermId) -> Fate {
        let before = self.solver.statistics();
        match self.solver.ask(&mut self.patterns, &Query::goal(pattern)) {
            Answer::Proved => {}
            Answer::Refuted(_) => return Fate::Refuted,
            Answer::Unknown(_) => return Fate::NotShown,
        }
        let process = self.solver.statistics().proved_by(Word::Process) > before.proved_by(Word::Process);
        Fate::Proved(if process { Word::Process } else { Word::Clauses })
    }
}

fn shown(arena: &Arena, firing: Firing) -> String {
    let [before, after] =
        [firing.before, firing.after].map(|term| arena.text(term).chars().take(LONGEST).collect::<String>());
    format!("{before} to {after}")
}

/// Does the instance rest on the meaning of a floating-point function?
fn mentions_float(arena: &Arena, firing: Firing) -> bool {
    arena.topological(&[firing.before, firing.after]).into_iter().any(|term| match arena.op(term) {
        Op::Apply(func) => matches!(arena.func(func), Func::Float(_)),
        _ => false,
    })
}
