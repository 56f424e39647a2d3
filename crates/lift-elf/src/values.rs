//! What the operations of a few blocks in a row compute, as terms over the state before them.
//!
//! A small symbolic execution for the analysis of jump tables: registers are substituted, loads become new
//! variables that are remembered by address. A load sees an earlier store or load of the same address if every store
//! between them is to another address at a constant distance.

use program::Op;
use rustc_hash::FxHashMap;
use term::{Arena, Sort, TermId, VarId};

/// Values after some operations.
#[derive(Clone, Default)]
pub(crate) struct Values {
    registers: FxHashMap<VarId, TermId>,
    /// Variables that stand for loaded values: address, number of bytes, position of the operation.
    pub loads: FxHashMap<VarId, (TermId, u16, usize)>,
    memory: Vec<(TermId, u16, TermId)>,
}

impl Values {
    /// A term over the state now, as one over the state before the operations.
    pub fn get(&self, arena: &mut Arena, term: TermId) -> TermId {
        if self.registers.is_empty() {
            return term;
        }
        arena.substitute(term, &mut |var| self.registers.get(&var).copied(), &mut FxHashMap::default())
    }

    /// Gives the variables of another execution of the same block the values that its loads have here, where
    /// the blocks before it are known.
    pub fn adopt(&mut self, arena: &mut Arena, other: &Values, ops: &[(u64, Op)]) {
        let mut after = self.clone();
        let loaded: FxHashMap<usize, TermId> = after.run(arena, ops).into_iter().collect();
        for (var, (_, _, position)) in &other.loads {
            if let Some(value) = loaded.get(position) {
                self.registers.insert(*var, *value);
            }
        }
    }

    /// Executes the operations of a block. Returns what each load read, by the position of the load.
    pub fn run(&mut self, arena: &mut Arena, ops: &[(u64, Op)]) -> Vec<(usize, TermId)> {
        let mut loaded = Vec::new();
        for (position, (_, op)) in ops.iter().enumerate() {
            match op {
                Op::Set { var, value } => {
                    let value = self.get(arena, *value);
                    self.registers.insert(*var, value);
                }
                Op::Load { var, address, bytes } => {
                    let address = self.get(arena, *address);
                    let value = self.load(arena, address, *bytes, position);
                    loaded.push((position, value));
                    self.registers.insert(*var, value);
                }
                Op::Store { address, value } => {
                    let address = self.get(arena, *address);
                    let value = self.get(arena, *value);
                    let bytes = arena.width(value) / 8;
                    self.memory.retain(|(known, size, _)| {
                        let apart = arena.difference(address, *known).and_then(|d| d.to_i64());
                        apart.is_some_and(|d| d >= i64::from(*size) || d <= -i64::from(bytes))
                    });
                    self.memory.push((address, bytes, value));
                }
                Op::Unknown { var } => {
                    let value = arena.fresh("unknown", arena.var_sort(*var));
                    self.registers.insert(*var, value);
                }
                Op::Fault { .. } => {}
            }
        }
        loaded
    }

    fn load(&mut self, arena: &mut Arena, address: TermId, bytes: u16, position: usize) -> TermId {
        if let Some((_, _, value)) = self.memory.iter().find(|(known, size, _)| *known == address && *size == bytes) {
            return *value;
        }
        let value = arena.fresh("loaded", Sort::Bv(8 * bytes));
        if let Some(var) = arena.as_var(value) {
            self.loads.insert(var, (address, bytes, position));
        }
        self.memory.push((address, bytes, value));
        value
    }
}

/// Splits a condition that holds into upper bounds of terms.
pub(crate) fn collect_bounds(arena: &Arena, condition: TermId, bounds: &mut FxHashMap<TermId, u64>) {
    use term::Op as T;
    let mut todo = vec![(condition, true)];
    while let Some((term, holds)) = todo.pop() {
        let args = arena.args(term);
        let (least, bound) = match (arena.op(term), holds) {
            (T::Not, _) => {
                todo.push((args[0], !holds));
                continue;
            }
            (T::And, true) | (T::Or, false) => {
                todo.extend(args.iter().map(|arg| (*arg, holds)));
                continue;
            }
            (T::Ult, true) => match arena.as_u64(args[1]) {
                Some(bound) if bound > 0 => (args[0], bound - 1),
                _ => continue,
            },
            (T::Ult, false) => match arena.as_u64(args[0]) {
                Some(bound) => (args[1], bound),
                None => continue,
            },
            (T::Eq, true) => match arena.as_u64(args[1]) {
                Some(bound) => (args[0], bound),
                None => continue,
            },
            _ => continue,
        };
        let entry = bounds.entry(least).or_insert(bound);
        *entry = bound.min(*entry);
    }
}

/// The largest value that a term can have, given bounds of some terms.
pub(crate) fn upper_bound(arena: &Arena, term: TermId, bounds: &FxHashMap<TermId, u64>) -> Option<u64> {
    upper(arena, term, bounds, 16)
}

/// The same, also where the normal form of the comparison is about another term than the bounded one.
pub(crate) fn implied_bound(arena: &mut Arena, term: TermId, bounds: &FxHashMap<TermId, u64>) -> Option<u64> {
    let direct = upper_bound(arena, term, bounds);
    let width = arena.sort(term).width().filter(|width| *width <= 64)?;
    let fits = |bound: &u64| width == 64 || *bound < (1 << width) - 1;
    let mut guesses: Vec<u64> = bounds.values().copied().filter(|b| *b < u64::MAX && fits(b)).collect();
    guesses.sort_unstable();
    guesses.dedup();
    let implied = guesses.into_iter().take(16).find(|guess| {
        let limit = arena.bv(width, guess + 1);
        let claim = arena.ult(term, limit);
        let mut needed = FxHashMap::default();
        collect_bounds(arena, claim, &mut needed);
        // A comparison is exactly one bound; anything else says less than the claim: what is 7 is more than at most 7.
        let exact = |term: TermId| match arena.op(term) {
            term::Op::Ult => true,
            term::Op::Eq => arena.as_u64(arena.arg(term, 1)) == Some(0),
            _ => false,
        };
        let simple = match arena.op(claim) {
            term::Op::Not => arena.op(arena.arg(claim, 0)) == term::Op::Ult,
            _ => exact(claim),
        };
        let simple = simple && needed.len() == 1;
        simple && needed.iter().all(|(term, bound)| bounds.get(term).is_some_and(|known| known <= bound))
    });
    [direct, implied].into_iter().flatten().min()
}

fn upper(arena: &Arena, term: TermId, bounds: &FxHashMap<TermId, u64>, depth: u32) -> Option<u64> {
    use term::Op as T;
    let width = arena.sort(term).width()?;
    let args = arena.args(term);
    let inner = |arg: TermId| if depth == 0 { None } else { upper(arena, arg, bounds, depth - 1) };
    let computed = match arena.op(term) {
        T::Const(_) => arena.as_u64(term),
        T::Zext(_) => inner(args[0]),
        T::Sext(_) => {
            let narrow = arena.width(args[0]);
            inner(args[0]).filter(|bound| narrow <= 64 && bound >> (narrow - 1) == 0)
        }
        T::Extract { lo: 0, .. } => inner(args[0]),
        T::BvAnd => match (inner(args[0]), inner(args[1])) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        },
        T::Lshr => match (inner(args[0]), arena.as_u64(args[1])) {
            (Some(a), Some(shift)) if shift < 64 => Some(a >> shift),
            _ => None,
        },
        T::Concat => {
            // Zeros above a narrower value.
            let zeros = args[..args.len() - 1].iter().all(|arg| arena.as_u64(*arg) == Some(0));
            if zeros { inner(args[args.len() - 1]) } else { None }
        }
        T::Ite => match (inner(args[1]), inner(args[2])) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        },
        _ => None,
    };
    let by_width = (width < 64).then(|| (1u64 << width) - 1);
    let known = bounds.get(&term).copied();
    [computed, by_width, known].into_iter().flatten().min()
}
