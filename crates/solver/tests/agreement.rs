//! The SAT solver in this process and solver processes agree on random questions.

use solver::{Answer, Query, Solver, SolverOptions};
use term::{Arena, FloatOp, Op, Sort, TermId};

/// A source of choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}

/// Random terms over a few variables, a memory with stores, an opaque function and a sum of floats.
struct Garden {
    arena: Arena,
    dice: Dice,
    memory: TermId,
    /// Of 32 bits each.
    words: Vec<TermId>,
    /// Of 64 bits each.
    addresses: Vec<TermId>,
}

impl Garden {
    fn new(seed: u64) -> Garden {
        let mut arena = Arena::new();
        let memory = arena.var("memory", Sort::Memory);
        let words = (0..3).map(|i| arena.var(&format!("w{i}"), Sort::Bv(32))).collect();
        let addresses = (0..2).map(|i| arena.var(&format!("a{i}"), Sort::Bv(64))).collect();
        Garden { arena, dice: Dice(seed), memory, words, addresses }
    }

    fn grow(&mut self) {
        let (x, y) = (self.dice.pick(&self.words), self.dice.pick(&self.words));
        let address = self.dice.pick(&self.addresses);
        let arena = &mut self.arena;
        match self.dice.roll(10) {
            0 => {
                let offset = self.dice.roll(6) as i64;
                self.addresses.push(arena.add_const(address, offset));
            }
            1 => {
                let wide = arena.zext(x, 64);
                self.addresses.push(arena.add(address, wide));
            }
            2 => self.memory = arena.store(self.memory, address, x),
            3 => {
                let count = self.dice.pick(&[1, 2, 4]);
                let loaded = arena.load(self.memory, address, count);
                self.words.push(arena.zext(loaded, 32));
            }
            4 => self.words.push(arena.apply("f", Sort::Bv(32), &[x, y])),
            5 => self.words.push(arena.float(FloatOp::Add(32), &[x, y])),
            6 => {
                let less = arena.slt(x, y);
                self.words.push(arena.ite(less, y, x));
            }
            _ => {
                let op = self.dice.pick(&[Op::Add, Op::BvXor, Op::BvAnd, Op::Shl, Op::Lshr, Op::Ashr]);
                self.words.push(arena.raw(op, &[x, y]));
            }
        }
    }

    fn comparison(&mut self) -> TermId {
        let (x, y) = (self.dice.pick(&self.words), self.dice.pick(&self.words));
        let op = self.dice.pick(&[Op::Eq, Op::Ult, Op::Slt]);
        let plain = self.arena.raw(op, &[x, y]);
        if self.dice.roll(2) == 0 { plain } else { self.arena.bool_not(plain) }
    }

    fn query(&mut self) -> Query {
        for _ in 0..8 + self.dice.roll(8) {
            self.grow();
        }
        let hypotheses: Vec<TermId> = (0..self.dice.roll(4)).map(|_| self.comparison()).collect();
        let goals = [self.comparison(), self.comparison()];
        Query::new(hypotheses, self.arena.bool_or(goals[0], goals[1]))
    }
}

/// Loads near two addresses that may be near each other.
fn overlapping(seed: u64) -> (Arena, Query) {
    let Garden { mut arena, mut dice, memory, addresses, .. } = Garden::new(seed);
    let apart = arena.sub(addresses[1], addresses[0]);
    let (near, distance) = (arena.bv(64, 1 + dice.roll(4) as u64), arena.bv(64, dice.roll(4) as u64));
    let close = [arena.ult(apart, near), arena.eq(apart, distance)];
    let mut load = |arena: &mut Arena| {
        let at = arena.add_const(dice.pick(&addresses), dice.roll(4) as i64);
        let count = dice.pick(&[1, 2, 4]);
        let loaded = arena.load(memory, at, count);
        arena.zext(loaded, 32)
    };
    let equations: Vec<TermId> = (0..4)
        .map(|_| {
            let (x, y) = (load(&mut arena), load(&mut arena));
            arena.eq(x, y)
        })
        .collect();
    let hypotheses = [dice.pick(&close), equations[0], equations[1]];
    let goal = arena.bool_or(equations[2], equations[3]);
    (arena, Query::new(hypotheses, goal))
}

#[test]
fn both_kinds_of_solver_agree_on_overlaps() {
    agree(400, [30, 200], overlapping);
}

#[test]
fn both_kinds_of_solver_agree() {
    agree(400, [60, 200], |seed| {
        let mut garden = Garden::new(seed);
        let query = garden.query();
        (garden.arena, query)
    });
}

/// Asks both; at least so many questions must be proved by both, and refuted by both.
fn agree(questions: u64, least: [u32; 2], make: fn(u64) -> (Arena, Query)) {
    let mut counts = [0; 2];
    for seed in 0..questions {
        let (mut arena, query) = make(seed);
        let mut bits = Solver::new(SolverOptions { commands: Vec::new(), ..SolverOptions::default() });
        let mut processes = Solver::new(SolverOptions { few_conflicts: 0, ..SolverOptions::default() });
        let answers = [bits.ask(&mut arena, &query), processes.ask(&mut arena, &query)];
        match &answers {
            [Answer::Proved, Answer::Proved] => counts[0] += 1,
            [Answer::Refuted(_), Answer::Refuted(_)] => counts[1] += 1,
            [Answer::Proved, Answer::Refuted(_)] | [Answer::Refuted(_), Answer::Proved] => {
                panic!("question {seed}: {answers:?} of {}", arena.text(query.goal))
            }
            _ => {}
        }
    }
    // Questions that one of them leaves open would make the test say nothing.
    assert!(counts[0] >= least[0] && counts[1] >= least[1], "{counts:?}");
}
