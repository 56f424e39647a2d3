//! Many chains side by side, each making one proposal a round, through any evaluator: the way to feed the processor, which wants
//! many programs at a time.

use crate::evaluate::Evaluate;
use crate::moves;
use crate::pool::{Pool, Slot};
use crate::random::Random;
use std::sync::Arc;

/// The chains.
pub struct Herd<E> {
    pool: Arc<Pool>,
    evaluator: E,
    random: Random,
    beta: f64,
    current: Vec<(Vec<Slot>, u32)>,
    next: Vec<Vec<Slot>>,
    /// Proposals so far.
    pub proposals: u64,
}

impl<E: Evaluate> Herd<E> {
    /// As many chains as the evaluator wants, with programs of this length that do nothing at first.
    pub fn new(pool: Arc<Pool>, evaluator: E, (seed, beta): (u64, f64), length: usize) -> Herd<E> {
        let next = vec![vec![Slot::default(); length]; evaluator.at_once()];
        let random = Random::new(seed, 0);
        let current = Vec::new();
        let mut herd = Herd { pool, evaluator, random, beta, current, next, proposals: 0 };
        let costs = herd.evaluator.costs(&herd.next);
        let cost = |cost: Option<u32>| cost.unwrap_or(u32::MAX / 2);
        herd.current = herd.next.iter().cloned().zip(costs.into_iter().map(cost)).collect();
        herd
    }

    /// One proposal of each chain. Gives the programs that are right.
    pub fn round(&mut self) -> Vec<Vec<Slot>> {
        for (next, (program, _)) in self.next.iter_mut().zip(&self.current) {
            next.clone_from(program);
            moves::change(next, &self.pool, &mut self.random);
        }
        let costs = self.evaluator.costs(&self.next);
        self.proposals += self.next.len() as u64;
        let mut right = Vec::new();
        for ((next, cost), (program, current)) in self.next.iter().zip(costs).zip(&mut self.current) {
            let Some(cost) = cost else { continue };
            let worse = f64::from(cost.saturating_sub(*current));
            let fraction = (self.random.below(1 << 24) + 1) as f64 / f64::from(1 << 24);
            if worse == 0.0 || fraction.ln() < -self.beta * worse {
                program.clone_from(next);
                *current = cost;
                if cost == 0 {
                    right.push(next.clone());
                }
            }
        }
        right
    }

    /// The programs as they are, with their costs.
    pub fn programs(&self) -> &[(Vec<Slot>, u32)] {
        &self.current
    }

    /// The evaluator.
    pub fn evaluator(&mut self) -> &mut E {
        &mut self.evaluator
    }
}
