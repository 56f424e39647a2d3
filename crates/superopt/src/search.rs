//! The whole search: islands of chains and one enumeration, in epochs.
//!
//! Island *i* draws from the stream (seed, *i*). Islands meet at the ends of epochs only, in their order: what one has found
//! the others may start from. So the result does not depend on how many threads there are.

use crate::chain::{Chain, Report};
use crate::enumerate;
use crate::lanes::Lanes;
use crate::nature::Widths;
use crate::pool::{Pool, Slot};
use crate::price::price;
use crate::random::Random;
use crate::task::{State, Task};
use program::Register;
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::Arc;
use x86::{Instruction, Operand};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of everything random.
    pub seed: u64,
    /// Number of chains. Part of what decides the result.
    pub islands: usize,
    /// Proposals of each chain in an epoch.
    pub epoch: u64,
    /// Threads. Not part of what decides the result.
    pub jobs: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 1, islands: 6, epoch: 250_000, jobs: 1 }
    }
}

/// Who found a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// The chain of this island.
    Chain(usize),
    /// Enumeration.
    Enumeration,
}

/// Code that does the same as the original on all states.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposal {
    /// The code.
    pub code: Vec<Instruction>,
    /// Its estimated price; compare with [`price`] of the original.
    pub price: u32,
    /// Who found it.
    pub method: Method,
}

/// Why there is nothing to search for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchError {
    /// An instruction of the original that cannot be run here.
    Unmodelled(String),
    /// The original can be run on none of the states.
    NoStates,
    /// The original has too many instructions.
    TooLong(usize),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Unmodelled(name) => write!(f, "the search cannot run `{name}`"),
            SearchError::NoStates => write!(f, "the original runs to its end on none of the test states"),
            SearchError::TooLong(count) => write!(f, "{count} instructions in a row are too many for the search"),
        }
    }
}

impl std::error::Error for SearchError {}

/// A search that can go on as long as somebody wants.
pub struct Search {
    task: Arc<Task>,
    states: Vec<State>,
    options: Options,
    pools: Vec<Arc<Pool>>,
    chains: Vec<Chain>,
    /// What was proposed already.
    seen: FxHashSet<String>,
    /// The cheapest program that was not refuted.
    best: Option<u32>,
    epochs: u64,
    /// Proposals of all chains so far.
    pub proposals: u64,
    /// Accepted ones.
    pub accepted: u64,
}

impl Search {
    /// Prepares a search. States get the memory that the original asks for; those on which it faults are left out; seeds are programs to begin with, whether they
    /// are right or not.
    pub fn new(
        task: Task,
        states: Vec<State>,
        seeds: &[Vec<Instruction>],
        options: Options,
    ) -> Result<Search, SearchError> {
        let most = crate::lanes::MOST_SLOTS;
        if task.original.len() > most {
            return Err(SearchError::TooLong(task.original.len()));
        }
        let short: Vec<Vec<Instruction>> = seeds.iter().filter(|seed| seed.len() <= most).cloned().collect();
        let pools = [Widths::Same, Widths::Wider].map(|widths| Arc::new(Pool::new(&task, &short, widths)));
        let mut pools = Vec::from(pools);
        if pools[0].forms() == pools[1].forms() {
            pools.pop();
        }
        let task = Arc::new(task);
        let foreign = |instruction: &&Instruction| pools[0].exactly(std::slice::from_ref(instruction)).is_none();
        if let Some(unmodelled) = task.original.iter().find(foreign) {
            return Err(SearchError::Unmodelled(unmodelled.to_string()));
        }
        let original = |pool: &Pool| pool.exactly(&task.original).unwrap_or_default();
        let mut lanes = Lanes::new(pools[0].clone(), &task);
        let first = original(&pools[0]);
        let mut states = states;
        states.retain_mut(|state| lanes.load_one(state, &task, &first));
        if states.is_empty() {
            return Err(SearchError::NoStates);
        }
        const BETAS: [f64; 4] = [1.0, 0.6, 0.3, 0.15];
        let mut chains = Vec::new();
        for i in 0..options.islands.max(1) {
            let pool = pools[i / 2 % pools.len()].clone();
            let random = Random::new(options.seed, i as u64);
            let mut chain = Chain::new(pool.clone(), task.clone(), original(&pool), random, BETAS[i / 2 % BETAS.len()]);
            // Every other island begins with what is there.
            if i % 2 == 1 {
                let starts = std::iter::once(&task.original).filter(|code| !has_frame(code)).chain(&short);
                starts.filter_map(|code| pool.slots(code)).for_each(|slots| chain.start_from(slots));
            }
            chains.push(chain);
        }
        let seen = FxHashSet::default();
        Ok(Search { task, states, options, pools, chains, seen, best: None, epochs: 0, proposals: 0, accepted: 0 })
    }

    /// Lets every island make its proposals and gives what is new, the cheapest first.
    pub fn epoch(&mut self) -> Vec<Proposal> {
        let mut found: Vec<Proposal> = Vec::new();
        if self.epochs == 0 {
            self.enumerate(&mut found);
        }
        self.epochs += 1;
        let (states, epoch) = (&self.states, self.options.epoch);
        let jobs = self.options.jobs.clamp(1, self.chains.len());
        let share = self.chains.len().div_ceil(jobs);
        let mut reports: Vec<Report> = Vec::new();
        if jobs == 1 {
            reports.extend(self.chains.iter_mut().map(|chain| chain.run(epoch, states)));
        } else {
            std::thread::scope(|scope| {
                let work = |chains| move || run_all(chains, epoch, states);
                let threads: Vec<_> = self.chains.chunks_mut(share).map(|chains| scope.spawn(work(chains))).collect();
                for thread in threads {
                    match thread.join() {
                        Ok(mut part) => reports.append(&mut part),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
            });
        }
        for (i, report) in reports.into_iter().enumerate() {
            (self.proposals, self.accepted) = (self.proposals + report.proposals, self.accepted + report.accepted);
            let pool = self.pools[i / 2 % self.pools.len()].clone();
            for program in report.found {
                self.add(&pool, &program, Method::Chain(i), &mut found);
            }
        }
        found.sort_by_key(|proposal| proposal.price);
        self.exchange(&found);
        found
    }

    fn add(&mut self, pool: &Pool, program: &[Slot], method: Method, found: &mut Vec<Proposal>) {
        let code = pool.instructions(program);
        let name: Vec<String> = code.iter().map(Instruction::to_string).collect();
        if self.seen.insert(name.join("\n")) {
            let price = price(&code, self.task.goal);
            self.best = Some(self.best.map_or(price, |best| best.min(price)));
            found.push(Proposal { code, price, method });
        }
    }

    fn enumerate(&mut self, found: &mut Vec<Proposal>) {
        let pool = self.pools[self.pools.len() - 1].clone();
        let Some(original) = pool.exactly(&self.task.original) else { return };
        for program in enumerate::short_programs(&pool, &self.task, &original, &self.states) {
            self.add(&pool, &program, Method::Enumeration, found);
        }
    }

    /// The best of this epoch becomes a start for the islands that improve.
    fn exchange(&mut self, found: &[Proposal]) {
        let Some(best) = found.first() else { return };
        for (i, chain) in self.chains.iter_mut().enumerate().filter(|(i, _)| i % 2 == 1) {
            if best.method == Method::Chain(i) {
                continue;
            }
            if let Some(slots) = self.pools[i / 2 % self.pools.len()].slots(&best.code) {
                let price: u32 = slots
                    .iter()
                    .map(|s| self.pools[i / 2 % self.pools.len()].opcodes[usize::from(s.opcode)].price)
                    .sum();
                if chain.best_price().is_none_or(|own| price < own) {
                    chain.start_from(slots);
                }
            }
        }
    }

    /// A state on which some proposal was wrong: no program that fails on it is proposed again. False if the original
    /// cannot be run on it, or it is known.
    pub fn add_state(&mut self, mut state: State) -> bool {
        let Some(original) = self.pools[0].exactly(&self.task.original) else { return false };
        let mut lanes = Lanes::new(self.pools[0].clone(), &self.task);
        if !lanes.load_one(&mut state, &self.task, &original) || self.states.contains(&state) {
            return false;
        }
        self.states.insert(0, state);
        // Everybody's numbers of states move by one.
        for chain in &mut self.chains {
            chain.shift();
            chain.forget();
            chain.activate(0, &self.states);
        }
        self.best = None;
        true
    }

    /// The states that proposals agree on.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// Number of forms of instructions that new code is made of.
    pub fn forms(&self) -> usize {
        self.pools.iter().map(|pool| pool.forms()).max().unwrap_or(0)
    }
}

/// Does it keep values in memory below the stack pointer? Nothing is won by changing such code step by step.
fn has_frame(code: &[Instruction]) -> bool {
    let frame = |operand: &Operand| matches!(operand, Operand::Memory(memory) if matches!(memory.base, Some(Register::RSP | Register::RBP)));
    code.iter().any(|instruction| instruction.mnemonic.name() == "push" || instruction.operands.iter().any(frame))
}

fn run_all(chains: &mut [Chain], epoch: u64, states: &[State]) -> Vec<Report> {
    chains.iter_mut().map(|chain| chain.run(epoch, states)).collect()
}
