//! Discharge of one obligation at a time.
//!
//! An obligation says: under the path condition and the facts that the original's defined behaviour gives, a goal
//! holds. Known literals are tried first, then the solver.
//!
//! Trust: full. Dropping hypotheses is always sound; believing anything but `Proved` is not.

use crate::objects::choices::{is_true_either_way, nearest_choice};
use crate::objects::product::{Checker, Point};
use crate::objects::rows::weakened;
use program::Assumption;
use rustc_hash::{FxHashMap, FxHashSet};
use solver::{Answer, Query, Why, Word};
use std::fmt;
use symbolic::{Alias, Known};
use term::eval::Model;
use term::{Arena, FloatOp, Func, Linear, Op, Sort, TermId, VarId};

/// Why an obligation could not be discharged.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A state of the symbolic variables that violates it.
    Refuted(Box<Model>),
    /// The solver does not know.
    Unknown(Why),
    /// No solver was asked: the two sides do not have the same shape.
    NotShown,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refuted(_) => f.write_str("refuted"),
            Failure::Unknown(why) => write!(f, "{why}"),
            Failure::NotShown => f.write_str("not shown"),
        }
    }
}

/// Bytes of the world that an event makes unobservable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ignored {
    /// None.
    Nothing,
    /// None, not even bytes that were never initialised.
    Exact,
    /// The local objects, at a return.
    Locals,
    /// The object at this address, which the call frees; the original writes at constant distances from its address
    /// only inside the object.
    Freed(Option<TermId>),
}

/// Something the original's defined behaviour guarantees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fact {
    /// Where it was learned: the same fact keeps its number, whatever is put into its terms.
    pub number: u32,
    /// When (a complete path condition).
    pub when: TermId,
    /// What.
    pub kind: FactKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FactKind {
    /// The condition does not hold: the original would fault.
    Not(TermId),
    /// The original accesses these bytes, so they are user addresses. A callee that was called since then may have taken them away.
    Access { address: TermId, bytes: u16, called_since: bool },
    /// The condition does not hold: blocks that the original gives to `memcpy` would partly overlap.
    Apart(TermId),
    /// The original accesses something there through a pointer to a type with this alignment.
    Aligned { address: TermId, align: u64 },
}

impl Fact {
    /// Somebody was called since it was learned, or may have been.
    pub fn called(&mut self) {
        if let FactKind::Access { called_since, .. } = &mut self.kind {
            *called_since = true;
        }
    }
}

const RELEVANT_FACTS: usize = 48;
/// Cases that a goal is split into, and half as many below each.
const MOST_CASES: u32 = 32;
/// What all of them may cost, in times of what one question may.
const CASES_EFFORT: u32 = 4;
/// Pairs of operands that are compared one by one.
const MOST_OPERANDS: usize = 6;
/// Operations that are compared one inside the other.
const DEEPEST_PARTS: u32 = 8;
/// Longer filled or copied blocks are not compared byte by byte.
const LONGEST_BLOCK: u64 = 4096;

impl Checker<'_, '_> {
    /// Proves a goal at a product point.
    pub(crate) fn prove(&mut self, at: &Point, known: &Known, goal: TermId) -> Result<(), Failure> {
        self.counts.obligations += 1;
        self.attributed(|checker| {
            checker.patiently(|checker| match checker.ask(at, known, goal) {
                Err(Failure::Unknown(why)) => checker.prove_by_cases(at, goal).map_err(|_| Failure::Unknown(why)),
                answer => answer,
            })
        })
    }

    /// Counts by whose word an obligation is discharged: the weakest of all questions that were proved on the way.
    pub(crate) fn attributed<T>(&mut self, attempt: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.solver.statistics();
        let answer = attempt(self);
        let after = self.solver.statistics();
        let by = |word: Word| after.proved_by(word) > before.proved_by(word);
        if by(Word::Process) {
            self.counts.by_process += 1;
        } else if by(Word::Clauses) {
            self.counts.by_clauses += 1;
        }
        answer
    }

    /// Tries all ways to a proof with short questions before any with long ones: what is too hard as it stands is often easy
    /// in another form.
    fn patiently(&mut self, mut attempt: impl FnMut(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        let (full, efforts) = (self.solver.effort(), self.solver.efforts().to_vec());
        let Some((_, shorter)) = efforts.split_last() else { return attempt(self) };
        for effort in shorter {
            self.solver.set_effort(*effort);
            let answer = attempt(self);
            self.solver.set_effort(full);
            if !matches!(answer, Err(Failure::Unknown(_) | Failure::NotShown)) {
                return answer;
            }
        }
        attempt(self)
    }

    /// Proves a goal case by case, where one question was too hard. All cases together may cost a few times as much.
    fn prove_by_cases(&mut self, at: &Point, goal: TermId) -> Result<(), ()> {
        let most = self.solver.effort().times(CASES_EFFORT).propagations;
        let until = self.solver.statistics().propagations.saturating_add(most);
        self.prove_cases(at, goal, MOST_CASES, until)
    }

    fn prove_cases(&mut self, at: &Point, goal: TermId, most: u32, until: u64) -> Result<(), ()> {
        let tripped = self.solver.interrupt().is_tripped();
        let over = most == 0 || tripped || self.solver.statistics().propagations >= until;
        let condition = if over { None } else { self.choice(goal) };
        let condition = condition.ok_or(())?;
        let not = self.context.arena.bool_not(condition);
        for holds in [condition, not] {
            let condition = self.context.arena.bool_and(at.condition, holds);
            let case = Point { condition, ..at.clone() };
            let known = Known::from_condition(self.context.arena, condition);
            let goal = known.simplify(self.context.arena, goal);
            match self.ask(&case, &known, goal) {
                Ok(()) => {}
                Err(Failure::Unknown(_) | Failure::NotShown) => self.prove_cases(&case, goal, most / 2, until)?,
                Err(Failure::Refuted(_)) => return Err(()),
            }
        }
        Ok(())
    }

    /// The condition of the choice nearest to the top of a term.
    pub(crate) fn choice(&self, goal: TermId) -> Option<TermId> {
        nearest_choice(self.context.arena, goal)
    }

    /// Asks about a goal, once.
    pub(crate) fn ask(&mut self, at: &Point, known: &Known, goal: TermId) -> Result<(), Failure> {
        let mut goal = known.simplify(self.context.arena, goal);
        if self.context.arena.as_bool(goal).is_none() {
            let rewritten = known.rewrite(self.context.arena, goal);
            goal = known.simplify(self.context.arena, rewritten);
        }
        if self.context.arena.as_bool(goal) == Some(true) || self.context.arena.as_bool(at.condition) == Some(false) {
            return Ok(());
        }
        if is_true_either_way(self.context.arena, goal) {
            return Ok(());
        }
        let hypotheses = self.hypotheses(at, known, goal);
        if let Some(few) = self.without_pointers(at, &hypotheses, goal)
            && let Answer::Proved = self.solver.ask(self.context.arena, &Query::new(few, goal))
        {
            return Ok(());
        }
        let failure = match self.solver.ask(self.context.arena, &Query::new(hypotheses.clone(), goal)) {
            Answer::Proved => return Ok(()),
            Answer::Refuted(model) => Failure::Refuted(Box::new(model)),
            Answer::Unknown(why) => Failure::Unknown(why),
        };
        let model = match &failure {
            Failure::Refuted(model) => Some(&**model),
            Failure::Unknown(_) | Failure::NotShown => None,
        };
        if let Some((hypotheses, goal)) = self.with_alignment(at, known, (&hypotheses, goal), model) {
            // A model of this question is no better witness: what is aligned may still be no whole object.
            if let Answer::Proved = self.solver.ask(self.context.arena, &Query::new(hypotheses, goal)) {
                self.context.assume(Assumption::NaturalAlignment);
                return Ok(());
            }
        }
        Err(failure)
    }

    /// Where the goal is about numbers, the hypotheses that are: how often a loop goes round seldom depends on where its
    /// arrays lie, and a question without addresses is a small one. Nothing if these are all of them.
    fn without_pointers(&self, at: &Point, hypotheses: &[TermId], goal: TermId) -> Option<Vec<TermId>> {
        let arena = &*self.context.arena;
        if !self.context.widens {
            return None;
        }
        let mut pointers: FxHashSet<VarId> = FxHashSet::default();
        for fact in &at.facts {
            if let FactKind::Access { address, .. } = fact.kind {
                let sum = Linear::of(arena, address);
                let bases = sum.terms.iter().filter(|(_, factor)| factor.to_u64() == Some(1));
                pointers.extend(bases.filter_map(|(term, _)| arena.as_var(*term)));
            }
        }
        let free = |term: TermId| arena.free_vars(term).iter().all(|var| !pointers.contains(var));
        if pointers.is_empty() || !free(goal) {
            return None;
        }
        let few: Vec<TermId> = hypotheses.iter().copied().filter(|h| free(*h)).collect();
        (!few.is_empty() && few.len() < hypotheses.len()).then_some(few)
    }

    /// The path condition and the facts that share a variable with it or with the goal.
    fn hypotheses(&mut self, at: &Point, known: &Known, goal: TermId) -> Vec<TermId> {
        let mut out = weakened(self.context.arena, at.condition);
        // Where addresses lie rarely matters to the question whether a path is possible.
        let paths_only = self.context.widens && self.context.arena.as_bool(goal) == Some(false);
        let mut vars: FxHashSet<VarId> = self.context.arena.free_vars(goal).into_iter().collect();
        vars.extend(self.context.arena.free_vars(at.condition));
        for var in vars.iter().copied().collect::<std::collections::BTreeSet<_>>() {
            if self.context.is_certain_object(var) && self.context.may_assume_defined() {
                self.context.assume(Assumption::UserAddresses);
                let address = self.context.arena.var_term(var);
                let range = self.user_range(address, 1);
                out.push(range);
            }
        }
        if !paths_only && known.compares_distances() {
            let pointers = self.pointers(at, known);
            for (var, bytes) in pointers.into_iter().filter(|(var, _)| vars.contains(var)) {
                let pointer = self.context.arena.var_term(var);
                let range = self.pointer_range(pointer);
                out.push(range);
                if bytes > 1 {
                    let bits = bytes.trailing_zeros() as u16;
                    let rest = self.context.arena.extract(pointer, bits - 1, 0);
                    let zero = self.context.arena.bv(bits, 0);
                    let whole = self.context.arena.eq(rest, zero);
                    out.push(whole);
                }
            }
        }
        let between = if paths_only { FxHashSet::default() } else { self.accesses_between(at, known) };
        for fact in at.facts.iter().rev().filter(|f| !between.contains(&f.number)) {
            if out.len() > RELEVANT_FACTS {
                break;
            }
            let about = match fact.kind {
                FactKind::Not(condition) => condition,
                FactKind::Access { .. } if paths_only || !self.context.may_assume_defined() => continue,
                FactKind::Access { address, .. } => address,
                FactKind::Apart(_) if paths_only || !self.context.may_assume_defined() => continue,
                FactKind::Apart(condition) => condition,
                FactKind::Aligned { .. } => continue,
            };
            if !self.context.arena.free_vars(about).iter().any(|v| vars.contains(v)) {
                continue;
            }
            let holds = match fact.kind {
                FactKind::Not(condition) => self.context.arena.bool_not(condition),
                FactKind::Access { address, bytes, .. } => {
                    self.context.assume(Assumption::UserAddresses);
                    self.user_range(address, bytes)
                }
                FactKind::Apart(condition) => {
                    self.context.assume(Assumption::CopiesApart);
                    self.context.arena.bool_not(condition)
                }
                FactKind::Aligned { .. } => continue,
            };
            let when = known.simplify(self.context.arena, fact.when);
            let fact = self.context.arena.implies(when, holds);
            if !out.contains(&fact) {
                out.push(fact);
            }
        }
        out
    }

    /// Accesses that lie between two certain ones of a row: that those are user addresses says that these are, whether they
    /// are made or not.
    fn accesses_between(&mut self, at: &Point, known: &Known) -> FxHashSet<u32> {
        let mut rows: FxHashMap<TermId, Vec<(i64, u32)>> = FxHashMap::default();
        let mut certain: FxHashSet<u32> = FxHashSet::default();
        for fact in &at.facts {
            let FactKind::Access { address, .. } = fact.kind else { continue };
            let when = known.simplify(self.context.arena, fact.when);
            if self.context.arena.as_bool(when) == Some(true) {
                certain.insert(fact.number);
            }
            let sum = Linear::of(self.context.arena, address);
            let offset = sum.constant.low() as i64;
            let base = self.context.arena.add_const(address, offset.wrapping_neg());
            rows.entry(base).or_default().push((offset, fact.number));
        }
        let mut out = FxHashSet::default();
        for row in rows.values() {
            let sure = || row.iter().filter(|(_, number)| certain.contains(number)).copied();
            let (Some(least), Some(most)) = (sure().min(), sure().max()) else { continue };
            let inside = |(offset, number): &(i64, u32)| {
                (least.0..=most.0).contains(offset) && ![least.1, most.1].contains(number)
            };
            out.extend(row.iter().filter(|r| inside(r)).map(|(_, number)| *number));
        }
        out
    }

    /// `4096 ≤ pointer ≤ 2⁴⁷`: it may point behind the last element.
    fn pointer_range(&mut self, pointer: TermId) -> TermId {
        let arena = &mut *self.context.arena;
        let (low, high) = (arena.bv(64, 4096), arena.bv(64, 1 << 47));
        let (above, below) = (arena.ule(low, pointer), arena.ule(pointer, high));
        arena.bool_and(above, below)
    }

    /// `4096 ≤ address` and `address + bytes ≤ 2⁴⁷ − 4096`.
    fn user_range(&mut self, address: TermId, bytes: u16) -> TermId {
        let arena = &mut *self.context.arena;
        let (low, high) = (arena.bv(64, 4096), arena.bv(64, (1 << 47) - 4096 - u64::from(bytes)));
        let (above, below) = (arena.ule(low, address), arena.ule(address, high));
        arena.bool_and(above, below)
    }

    /// Proves that two values are equal at a product point.
    pub(crate) fn prove_equal(&mut self, at: &Point, known: &Known, a: TermId, b: TermId) -> Result<(), Failure> {
        if a == b {
            self.counts.obligations += 1;
            return Ok(());
        }
        let goal = self.equality(known, a, b);
        self.counts.obligations += 1;
        self.attributed(|checker| {
            checker.patiently(|checker| match checker.ask(at, known, goal) {
                Err(Failure::Unknown(_)) if checker.prove_operands(at, known, a, b) => Ok(()),
                Err(Failure::Unknown(why)) => checker.prove_by_cases(at, goal).map_err(|_| Failure::Unknown(why)),
                answer => answer,
            })
        })
    }

    /// Are two values equal because they are made in the same way of equal operands?
    fn prove_operands(&mut self, at: &Point, known: &Known, a: TermId, b: TermId) -> bool {
        let [a, b] = [a, b].map(|value| known.rewrite(self.context.arena, value));
        let mut pairs = Vec::new();
        if !operands(self.context.arena, a, b, &mut pairs) {
            return false;
        }
        let proved = pairs.into_iter().all(|(x, y)| {
            let goal = self.equality(known, x, y);
            self.ask(at, known, goal).is_ok()
        });
        let arena = &mut *self.context.arena;
        if proved && arena.topological(&[a, b]).into_iter().any(|term| commutes(arena, term) == Some(true)) {
            arena.note_swapped_floats();
        }
        proved
    }

    /// Two values are equal, with what is known put into both.
    pub(crate) fn equality(&mut self, known: &Known, a: TermId, b: TermId) -> TermId {
        let mut values = [a, b].map(|value| known.rewrite(self.context.arena, value));
        if self.context.widens {
            values = values.map(|value| known.widen(self.context.arena, value));
        }
        self.context.arena.eq(values[0], values[1])
    }

    /// Proves that two memories hold the same bytes everywhere, except where nobody can look any more.
    ///
    /// Both stand on one variable with stores on top; elsewhere than at the stored addresses they agree by
    /// construction. So it is enough to compare what a read finds at each stored address.
    pub(crate) fn prove_same_memory(
        &mut self,
        at: &Point,
        known: &Known,
        a: TermId,
        b: TermId,
        ignored: Ignored,
    ) -> Result<(), MemoryFailure> {
        if a == b {
            self.counts.obligations += 1;
            return Ok(());
        }
        let a = known.rewrite(self.context.arena, a);
        let b = known.rewrite(self.context.arena, b);
        let written = match self.written(a, b) {
            Err(MemoryFailure::Block) if self.depth < DEEPEST_PARTS => {
                self.depth += 1;
                let same = self.same_by_parts(at, known, a, b, ignored);
                // A block that one side has written at once and the other piece by piece.
                let same = same || self.is_grown(at, known, a, b) || self.is_grown(at, known, b, a);
                self.depth -= 1;
                let same = same || self.depth == 0 && self.same_everywhere(at, known, [a, b], None).is_ok();
                return if same { Ok(()) } else { Err(MemoryFailure::Block) };
            }
            written => written?,
        };
        for (base, offset, bytes) in written {
            let address = self.context.arena.add_const(base, offset);
            if self.is_ignored(address, bytes, ignored) {
                continue;
            }
            let (x, y) = (self.context.read(a, address, bytes), self.context.read(b, address, bytes));
            let local = self.context.region(address, bytes).and_then(|r| r.local);
            let parts = if ignored == Ignored::Exact { vec![(x, y)] } else { self.initialised_parts(local, x, y) };
            for (x, y) in parts {
                self.prove_equal(at, known, x, y).map_err(|failure| MemoryFailure::Bytes { address, failure })?;
            }
        }
        Ok(())
    }

    /// Were both memories made by the same operations, one after the other? For blocks of variable length.
    fn same_by_parts(&mut self, at: &Point, known: &Known, a: TermId, b: TermId, ignored: Ignored) -> bool {
        let ops = [a, b].map(|m| self.context.arena.op(m));
        if let Some(choice) = [a, b].into_iter().zip(ops).find(|(_, op)| *op == Op::Ite).map(|(memory, _)| memory) {
            let condition = self.context.arena.arg(choice, 0);
            let not = self.context.arena.bool_not(condition);
            return [(condition, 1), (not, 2)].into_iter().all(|(holds, i)| {
                let case = self.context.arena.bool_and(at.condition, holds);
                if self.context.arena.as_bool(case) == Some(false) {
                    return true;
                }
                let arm = self.context.arena.arg(choice, i);
                let [x, y] = [a, b].map(|m| if m == choice { arm } else { m });
                let known = Known::from_condition(self.context.arena, case);
                let point = Point { condition: case, ..at.clone() };
                self.prove_same_memory(&point, &known, x, y, ignored).is_ok() || {
                    let never = self.context.arena.bool(false);
                    self.prove(&point, &known, never).is_ok()
                }
            });
        }
        if ops[0] != ops[1] || !matches!(ops[0], Op::Fill | Op::Copy | Op::Store(_)) {
            return false;
        }
        let pairs: Vec<(TermId, TermId)> =
            self.context.arena.args(a).iter().copied().zip(self.context.arena.args(b).iter().copied()).collect();
        let (memories, values): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(x, _)| self.context.arena.sort(*x) == Sort::Memory);
        values.into_iter().all(|(x, y)| self.prove_equal(at, known, x, y).is_ok())
            && memories.into_iter().enumerate().all(|(i, (x, y))| {
                // What is copied must be the same even where nobody looks any more.
                let ignored = if i == 0 { ignored } else { Ignored::Exact };
                self.prove_same_memory(at, known, x, y, ignored).is_ok()
            })
    }

    /// The parts of two values of a local object that the original has initialised. Nobody reads the others
    /// (`uninit-unread`): an unknown byte of the original may be taken to be the candidate's.
    fn initialised_parts(&mut self, local: Option<usize>, x: TermId, y: TermId) -> Vec<(TermId, TermId)> {
        let Some(local) = local.filter(|l| !self.context.is_incoming(*l) && self.context.may_assume_defined()) else {
            return vec![(x, y)];
        };
        let parts = {
            let arena = &*self.context.arena;
            if arena.op(x) == Op::Concat { arena.args(x).to_vec() } else { vec![x] }
        };
        // A register that held nothing was pushed to make room.
        let nothing = |part: &TermId| {
            let arena = &*self.context.arena;
            let whole = if let Op::Extract { .. } = arena.op(*part) { arena.arg(*part, 0) } else { *part };
            self.context.is_undefined(whole)
        };
        let undefined: Vec<bool> = parts.iter().map(nothing).collect();
        let arena = &mut *self.context.arena;
        let initial = arena.find_var(&format!("local.{local}"));
        let mut out = Vec::new();
        let mut skipped = false;
        let mut low = 0;
        for (part, undefined) in parts.into_iter().zip(undefined).rev() {
            let width = arena.width(part);
            let loaded =
                matches!(arena.op(part), Op::Load(_)).then(|| arena.arg(part, 0)).and_then(|m| arena.as_var(m));
            if undefined || loaded.is_some() && loaded == initial {
                skipped = true;
            } else {
                let other = arena.extract(y, low + width - 1, low);
                out.push((part, other));
            }
            low += width;
        }
        if skipped {
            let name = self.context.local_name(local);
            self.context.assume(Assumption::UninitUnread(Some(name)));
        }
        out
    }

    /// Can nobody observe these bytes any more?
    fn is_ignored(&mut self, address: TermId, bytes: u16, ignored: Ignored) -> bool {
        match ignored {
            Ignored::Nothing | Ignored::Exact | Ignored::Freed(None) => false,
            Ignored::Locals => self.context.region(address, bytes).is_some_and(|r| r.local.is_some()),
            Ignored::Freed(Some(freed)) => {
                let inside = self.context.arena.difference(address, freed).is_some_and(|d| !d.sign());
                let inside = inside && self.context.may_assume_defined();
                if inside {
                    self.context.assume(Assumption::InBounds("freed memory".to_string()));
                }
                inside
            }
        }
    }

    /// What was freed holds whatever the allocator leaves there, the same on both sides.
    pub(crate) fn forget_freed(&mut self, at: &mut Point, freed: Ignored) {
        let worlds = [0, 1].map(|i| at.states[i].world);
        let Ok(written) = self.written(worlds[0], worlds[1]) else { return };
        for (base, offset, bytes) in written {
            let address = self.context.arena.add_const(base, offset);
            if self.is_ignored(address, bytes, freed) {
                let left = self.context.fresh("freed", Sort::Bv(8 * bytes));
                for state in &mut at.states {
                    state.world = self.context.write(state.world, address, left);
                }
            }
        }
    }

    /// All stores above the last memory that both chains pass through: address, offset from it, size.
    fn written(&self, a: TermId, b: TermId) -> Result<Vec<(TermId, i64, u16)>, MemoryFailure> {
        let arena = &*self.context.arena;
        let mut open = std::collections::BTreeSet::from([a, b]);
        let mut seen: FxHashSet<(TermId, u16)> = FxHashSet::default();
        let mut out = Vec::new();
        // Operands have smaller handles, so the largest open one can never be reached again; when only one is
        // left, every path from both memories runs through it.
        while open.len() > 1 {
            let memory = open.pop_last().expect("not empty");
            match arena.op(memory) {
                Op::Store(bytes) => {
                    let address = arena.arg(memory, 1);
                    if seen.insert((address, bytes)) {
                        out.push((address, 0, bytes));
                    }
                    open.insert(arena.arg(memory, 0));
                }
                Op::Ite => {
                    open.insert(arena.arg(memory, 1));
                    open.insert(arena.arg(memory, 2));
                }
                Op::Fill | Op::Copy => {
                    let length = arena.args(memory).last().and_then(|l| arena.as_u64(*l));
                    let Some(length) = length.filter(|n| *n <= LONGEST_BLOCK) else { return Err(MemoryFailure::Block) };
                    let pieces = (0..length)
                        .step_by(32)
                        .map(|at| (arena.arg(memory, 1), at as i64, (length - at).min(32) as u16));
                    out.extend(pieces);
                    open.insert(arena.arg(memory, 0));
                }
                _ => return Err(MemoryFailure::Roots),
            }
        }
        Ok(out)
    }

    /// Is every byte of an access inside the bytes that the given accesses cover, whenever it happens?
    pub(crate) fn covered_when(&mut self, access: &symbolic::Access, others: &[&symbolic::Access]) -> Option<TermId> {
        let mut all = self.context.arena.bool(true);
        let mut last: Option<TermId> = None;
        for byte in 0..access.bytes {
            let address = self.context.arena.add_const(access.address, i64::from(byte));
            let mut guards = Vec::new();
            for other in others {
                if matches!(self.context.alias(address, 1, other.address, other.bytes), Alias::Distance(_)) {
                    guards.push(other.guard);
                }
            }
            if guards.is_empty() {
                return None;
            }
            let any = self.context.arena.bool_or_all(&guards);
            if last != Some(any) {
                all = self.context.arena.bool_and(all, any);
                last = Some(any);
            }
        }
        Some(all)
    }
}

/// May operands be exchanged? True if a NaN's payload could tell.
fn commutes(arena: &Arena, term: TermId) -> Option<bool> {
    match arena.op(term) {
        Op::Apply(func) => matches!(arena.func(func), Func::Float(FloatOp::Add(_) | FloatOp::Mul(_))).then_some(true),
        Op::BvAnd | Op::BvOr | Op::BvXor | Op::Add | Op::Mul | Op::Eq | Op::And | Op::Or => Some(false),
        _ => None,
    }
}

/// Pairs of terms whose equality makes two terms equal: what stands at the same places of both, below what is made in the
/// same way. False if that is the two terms themselves, or too many.
fn operands(arena: &Arena, a: TermId, b: TermId, out: &mut Vec<(TermId, TermId)>) -> bool {
    let mut open = vec![(a, b)];
    let mut seen: FxHashSet<(TermId, TermId)> = FxHashSet::default();
    while let Some((x, y)) = open.pop() {
        if x == y || !seen.insert((x, y)) {
            continue;
        }
        let (ours, theirs) = (arena.args(x), arena.args(y));
        let alike = arena.op(x) == arena.op(y) && ours.len() == theirs.len() && !ours.is_empty();
        let values = arena.sort(x) != Sort::Memory && !matches!(arena.op(x), Op::Load(_));
        if !alike || !values {
            out.push((x, y));
            if (x, y) == (a, b) || out.len() > MOST_OPERANDS {
                return false;
            }
            continue;
        }
        if commutes(arena, x).is_none() {
            open.extend(ours.iter().copied().zip(theirs.iter().copied()));
            continue;
        }
        // What both have stands for itself, as often as both have it; of the rest, the operands of one kind belong together.
        let (mut left, mut right) = (Vec::new(), theirs.to_vec());
        for one in ours {
            match right.iter().position(|t| t == one) {
                Some(at) => {
                    right.swap_remove(at);
                }
                None => left.push(*one),
            }
        }
        let kind = |t: &TermId| std::mem::discriminant(&arena.op(*t));
        while let Some(one) = left.pop() {
            let fits = right.iter().rposition(|t| kind(t) == kind(&one)).unwrap_or(right.len() - 1);
            open.push((one, right.remove(fits)));
        }
    }
    !out.is_empty()
}

/// Why two memories could not be shown equal.
#[derive(Clone, Debug)]
pub enum MemoryFailure {
    /// The bytes at an address differ or may differ.
    Bytes {
        /// Where.
        address: TermId,
        /// Why.
        failure: Failure,
    },
    /// A block of variable length is written.
    Block,
    /// The memories do not come from one state.
    Roots,
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// The pairs that would make two terms equal.
    fn pairs(build: fn(&mut Arena, [TermId; 3]) -> [TermId; 2]) -> String {
        let mut arena = Arena::new();
        let vars = ["x", "y", "z"].map(|name| arena.var(name, Sort::Bv(32)));
        let [a, b] = build(&mut arena, vars);
        let mut found = Vec::new();
        if !operands(&arena, a, b, &mut found) {
            return "none".to_string();
        }
        let text = |(p, q): &(TermId, TermId)| format!("{} = {}", arena.text(*p), arena.text(*q));
        found.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn equal_operands_make_equal_results() {
        expect!["z = y"].assert_eq(&pairs(|arena, [x, y, z]| {
            [arena.float(FloatOp::Add(32), &[x, z]), arena.float(FloatOp::Add(32), &[y, x])]
        }));
        // Differences have an order.
        expect!["x = y, y = x"].assert_eq(&pairs(|arena, [x, y, _]| {
            [arena.float(FloatOp::Div(32), &[y, x]), arena.float(FloatOp::Div(32), &[x, y])]
        }));
        // Made in different ways: only the two themselves.
        expect!["none"].assert_eq(&pairs(|arena, [x, y, z]| {
            [arena.float(FloatOp::Add(32), &[x, y]), arena.float(FloatOp::Mul(32), &[x, z])]
        }));
        // An operand twice is not that operand and another.
        expect!["x = y"].assert_eq(&pairs(|arena, [x, y, _]| {
            [arena.float(FloatOp::Add(32), &[x, x]), arena.float(FloatOp::Add(32), &[x, y])]
        }));
    }
}
