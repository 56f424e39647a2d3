//! A Markov chain over programs (Metropolis): changes that help are taken, others with a probability that falls with what
//! they cost.
//!
//! A chain first looks for any program that is right on its states, from a random start; then it makes that one cheaper,
//! passing through wrong programs on the way. A program that is right on the active states is tried on all others;
//! one on which it fails takes a place among the active ones, so that a chain is fooled by each state once.

use crate::lanes::{LANES, Lanes, Placement};
use crate::moves;
use crate::pool::{Pool, Slot};
use crate::random::Random;
use crate::task::{State, Task};
use std::sync::Arc;

/// Proposals without a right program after which a search for one begins anew.
const PATIENCE: u64 = 1_000_000;
/// Proposals without a cheaper program after which the chain goes back to its best one.
const STUBBORNNESS: u64 = 300_000;
/// Such returns after which it begins anew.
const RETURNS: u32 = 4;
/// Entries of the table of allowances.
const ALLOWANCES: usize = 4096;
/// Lengths to try; the task's own is the largest.
const LENGTHS: [usize; 4] = [6, 8, 12, 16];

/// One chain.
pub(crate) struct Chain {
    pool: Arc<Pool>,
    task: Arc<Task>,
    /// The original in the pool's slots.
    original: Vec<Slot>,
    random: Random,
    lanes: Lanes,
    judge: Lanes,
    /// Which states the lanes run.
    active: Vec<usize>,
    /// What a proposal may cost more than the program it changes: drawn from these.
    allowances: Vec<u32>,
    program: Vec<Slot>,
    next: Vec<Slot>,
    cost: u32,
    phase: Phase,
    /// The cheapest right program.
    best: Option<(u32, Vec<Slot>)>,
    /// Programs to begin with: seeds, what others found.
    starts: Vec<Vec<Slot>>,
    idle: u64,
    returns: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Looks for a right program.
    Synthesis,
    /// Makes one cheaper.
    Improvement,
}

/// What one epoch of a chain came to.
#[derive(Default)]
pub(crate) struct Report {
    /// Right programs, as they were found.
    pub found: Vec<Vec<Slot>>,
    pub proposals: u64,
    pub accepted: u64,
}

impl Chain {
    pub fn new(pool: Arc<Pool>, task: Arc<Task>, original: Vec<Slot>, random: Random, beta: f64) -> Chain {
        // Quantiles of the exponential distribution: a table, since logarithms take as long as half a proposal.
        let quantile = |i: usize| (-((i as f64 + 0.5) / ALLOWANCES as f64).ln() / beta) as u32;
        let allowances = (0..ALLOWANCES).map(quantile).collect();
        let (lanes, judge) = (Lanes::new(pool.clone(), &task), Lanes::new(pool.clone(), &task));
        Chain {
            pool,
            task,
            original,
            random,
            lanes,
            judge,
            active: Vec::new(),
            allowances,
            program: Vec::new(),
            next: Vec::new(),
            cost: 0,
            phase: Phase::Synthesis,
            best: None,
            starts: Vec::new(),
            idle: 0,
            returns: 0,
        }
    }

    /// Gives it a program to improve.
    pub fn start_from(&mut self, program: Vec<Slot>) {
        self.starts.push(program);
    }

    /// Price of its best program.
    pub fn best_price(&self) -> Option<u32> {
        self.best.as_ref().map(|(price, _)| *price)
    }

    /// The best one is no longer believed: some state refutes it.
    pub fn forget(&mut self) {
        self.best = None;
        self.program.clear();
    }

    /// A state was put before all others.
    pub fn shift(&mut self) {
        self.active.iter_mut().for_each(|state| *state += 1);
    }

    /// Puts a state among the active ones.
    pub fn activate(&mut self, state: usize, states: &[State]) {
        self.choose(states);
        self.active.retain(|other| *other != state);
        self.active.insert(0, state);
        self.active.truncate(LANES);
        self.reload(states);
    }

    /// Chooses the first active states: half of them the first ones given, the rest at random.
    fn choose(&mut self, states: &[State]) {
        if !self.active.is_empty() {
            return;
        }
        self.active = (0..states.len().min(LANES / 2)).collect();
        while self.active.len() < states.len().min(LANES) {
            let other = self.random.below(states.len());
            if !self.active.contains(&other) {
                self.active.push(other);
            }
        }
        self.reload(states);
    }

    fn reload(&mut self, states: &[State]) {
        let chosen: Vec<State> = self.active.iter().map(|i| states[*i].clone()).collect();
        let loaded = self.lanes.load(&chosen, &self.task, &self.original);
        debug_assert!(loaded, "states were tried before");
        if !self.program.is_empty() {
            match self.lanes.propose(&self.program, u32::MAX) {
                Some(wrong) => {
                    self.lanes.accept(&self.program);
                    self.cost = wrong + self.extra(&self.program);
                }
                None => self.program.clear(),
            }
        }
    }

    /// What a program costs beside wrong bits.
    fn extra(&self, program: &[Slot]) -> u32 {
        match self.phase {
            Phase::Synthesis => 0,
            Phase::Improvement => self.price(program),
        }
    }

    fn price(&self, program: &[Slot]) -> u32 {
        program.iter().map(|slot| self.pool.opcodes[usize::from(slot.opcode)].price).sum()
    }

    /// Makes so many proposals.
    pub fn run(&mut self, proposals: u64, states: &[State]) -> Report {
        let mut report = Report { proposals, ..Report::default() };
        self.choose(states);
        for _ in 0..proposals {
            if self.program.is_empty() {
                self.restart();
            }
            self.next.clone_from(&self.program);
            moves::change(&mut self.next, &self.pool, &mut self.random);
            self.idle += 1;
            if self.next != self.program {
                self.step(states, &mut report);
            }
            match self.phase {
                Phase::Synthesis if self.idle > PATIENCE => self.program.clear(),
                Phase::Improvement if self.idle > STUBBORNNESS => self.give_up(),
                _ => {}
            }
        }
        report
    }

    fn step(&mut self, states: &[State], report: &mut Report) {
        let allowance = self.allowances[self.random.below(ALLOWANCES)];
        let extra = self.extra(&self.next);
        let Some(room) = (self.cost + allowance).checked_sub(extra) else { return };
        let Some(wrong) = self.lanes.propose(&self.next, room) else { return };
        self.lanes.accept(&self.next);
        report.accepted += 1;
        std::mem::swap(&mut self.program, &mut self.next);
        self.cost = wrong + extra;
        let better = || self.best.as_ref().is_none_or(|(price, _)| self.price(&self.program) < *price);
        if wrong == 0 && (self.phase == Phase::Synthesis || better()) {
            self.found(states, report);
        }
    }

    /// A program that is right on the active states.
    fn found(&mut self, states: &[State], report: &mut Report) {
        self.tidy();
        match self.refuted(&self.program.clone(), states) {
            Some(state) => self.activate(state, states),
            None => {
                let price = self.price(&self.program);
                if self.best.as_ref().is_none_or(|(best, _)| price < *best) {
                    self.best = Some((price, self.program.clone()));
                    report.found.push(self.program.clone());
                    self.returns = 0;
                }
                self.idle = 0;
                self.phase = Phase::Improvement;
                self.cost = price;
            }
        }
    }

    /// Takes out what the result does not need.
    fn tidy(&mut self) {
        for i in 0..self.program.len() {
            let slot = std::mem::take(&mut self.program[i]);
            if !slot.is_empty() && self.lanes.propose(&self.program, 0) != Some(0) {
                self.program[i] = slot;
            }
        }
        if self.lanes.propose(&self.program, 0).is_some() {
            self.lanes.accept(&self.program);
        }
    }

    /// A state on which the program is wrong.
    fn refuted(&mut self, program: &[Slot], states: &[State]) -> Option<usize> {
        for (k, block) in states.chunks(LANES).enumerate() {
            if !self.judge.load(block, &self.task, &self.original) {
                return Some(k * LANES);
            }
            if self.judge.propose(program, 0) != Some(0) {
                let _ = self.judge.propose(program, u32::MAX);
                let wrong = self.judge.wrong_states();
                let first = wrong.into_iter().find(|i| *i < block.len()).unwrap_or(0);
                return Some(k * LANES + first);
            }
        }
        None
    }

    fn give_up(&mut self) {
        self.returns += 1;
        self.idle = 0;
        match &self.best {
            Some((_, program)) if self.returns <= RETURNS => {
                let program = program.clone();
                self.enter(program, Phase::Improvement);
            }
            _ => self.program.clear(),
        }
    }

    fn restart(&mut self) {
        (self.idle, self.returns) = (0, 0);
        if let Some(start) = self.starts.pop() {
            let mut program = start;
            let spare = (program.len() / 4).max(2);
            program.resize((program.len() + spare).min(crate::lanes::MOST_SLOTS), Slot::default());
            if self.enter(program, Phase::Improvement) {
                return;
            }
        }
        let lengths: Vec<usize> = LENGTHS.into_iter().filter(|length| *length <= self.task.slots).collect();
        let length = if lengths.is_empty() { self.task.slots.max(1) } else { self.random.pick(&lengths) };
        for _ in 0..1000 {
            let program = (0..length).map(|_| self.random_slot()).collect();
            if self.enter(program, Phase::Synthesis) {
                return;
            }
        }
        let empty = vec![Slot::default(); length];
        if !self.enter(empty.clone(), Phase::Synthesis) {
            // Nothing can be run: not even an empty program. The chain stands still.
            self.program = empty;
            self.cost = u32::MAX / 2;
        }
    }

    fn random_slot(&mut self) -> Slot {
        if self.random.below(2) == 0 { Slot::default() } else { self.pool.draw(&mut self.random) }
    }

    fn enter(&mut self, program: Vec<Slot>, phase: Phase) -> bool {
        self.phase = phase;
        self.lanes.placement = if phase == Phase::Synthesis { Placement::Anywhere } else { Placement::Exact };
        let Some(wrong) = self.lanes.propose(&program, u32::MAX / 4) else { return false };
        self.lanes.accept(&program);
        self.cost = wrong + self.extra(&program);
        self.program = program;
        true
    }
}
