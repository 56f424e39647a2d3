//! Memory that the sides change at different times.
//!
//! At a point the memories of the side that is ahead are those of the other with some changes more: values stored, blocks
//! filled, copied, or excepted from the comparison. Blocks have expressions for their borders, so they move with the loop.
//! That two memories are the same is shown without quantifiers, at one address that stands for all.
//!
//! So that one side may do at once what the other does turn by turn, the blocks that the original has accessed are claimed,
//! too: what the candidate accesses lies there.
//!
//! Trust: full. An address that stands for all is no pointer of a program: nothing that holds of pointers is used for it.

use crate::objects::certificate::{BlockClaim, Change, ChangeClaim};
use crate::objects::expression::Expression;
use crate::objects::obligation::{FactKind, Failure, Ignored};
use crate::objects::product::{Checker, Point, Rejection};
use program::{Assumption, Side};
use rustc_hash::FxHashMap;
use symbolic::{Access, Block, Exclusive, Known, Run, State};
use term::{Op, Sort, TermId, VarId};

/// Objects whose places in memory are told to the solver.
const MOST_OBJECTS: usize = 6;
/// Accesses of the original that a block is compared with.
const MOST_ACCESSES: usize = 40;

/// A claimed change.
#[derive(Clone, Debug)]
pub(crate) struct ReadChange {
    local: Option<usize>,
    source: Option<usize>,
    what: Change<Expression>,
}

impl ReadChange {
    /// The private local object that changes, if it is not the world.
    pub fn local(&self) -> Option<usize> {
        self.local
    }
}

/// A block that the original has accessed.
#[derive(Clone, Debug)]
pub(crate) struct ReadBlock {
    address: Expression,
    length: Expression,
    write: bool,
}

/// Reads claimed changes.
pub(crate) fn read_changes(claims: &[ChangeClaim]) -> Result<Vec<ReadChange>, String> {
    let parse = |text: &String| Expression::parse(text);
    let mut out = Vec::new();
    for (i, ChangeClaim { local, source, what }) in claims.iter().enumerate() {
        let what = match what {
            Change::Store(a, v) => Change::Store(parse(a)?, parse(v)?),
            Change::Fill(a, b, n) => Change::Fill(parse(a)?, parse(b)?, parse(n)?),
            Change::Copy(a, b, n) => Change::Copy(parse(a)?, parse(b)?, parse(n)?),
            // What is written over it later would not be compared.
            Change::Any(..) if i + 1 < claims.len() => {
                return Err("an excepted block is changed afterwards".to_string());
            }
            Change::Any(a, n) => Change::Any(parse(a)?, parse(n)?),
        };
        out.push(ReadChange { local: *local, source: *source, what });
    }
    Ok(out)
}

/// Reads claimed blocks.
pub(crate) fn read_blocks(claims: &[BlockClaim]) -> Result<Vec<ReadBlock>, String> {
    let read = |claim: &BlockClaim| {
        let (address, length) = (Expression::parse(&claim.address)?, Expression::parse(&claim.length)?);
        Ok(ReadBlock { address, length, write: claim.write })
    };
    claims.iter().map(read).collect()
}

/// A change in terms of the states at a point.
struct Applied {
    local: Option<usize>,
    source: Option<usize>,
    what: Change<TermId>,
}

impl Checker<'_, '_> {
    /// The side that is ahead at a point, and by what.
    pub(crate) fn changes(&self, index: usize) -> Option<(Side, &[ReadChange])> {
        let point = &self.points[index];
        if !point.ahead.is_empty() {
            return Some((Side::Original, &point.ahead));
        }
        (!point.behind.is_empty()).then_some((Side::Candidate, &point.behind[..]))
    }

    /// The states with the memories of the side that lags behind on both sides: what one side is ahead must not be said
    /// with its own memory.
    pub(crate) fn defined_over(&self, index: usize, states: &[State; 2]) -> [State; 2] {
        let mut states = states.clone();
        if let Some((side, changes)) = self.changes(index) {
            let (ahead, base) = (side.index(), 1 - side.index());
            states[ahead].world = states[base].world;
            for local in changes.iter().filter_map(|c| c.local) {
                if local < states[0].locals.len() {
                    states[ahead].locals[local] = states[base].locals[local];
                }
            }
        }
        states
    }

    /// The changes at a point, in terms of the states there.
    fn applied(&mut self, index: usize, states: &[State; 2]) -> Result<Vec<Applied>, Rejection> {
        let Some((_, changes)) = self.changes(index) else { return Ok(Vec::new()) };
        let odd = || Rejection::Malformed("memory changes at an odd width".to_string());
        let (changes, mut out) = (changes.to_vec(), Vec::new());
        for ReadChange { local, source, what } in changes {
            let mut term = |e: &Expression| e.term(self.context, states).map_err(Rejection::Malformed);
            let what = match &what {
                Change::Store(a, v) => Change::Store(term(a)?, term(v)?),
                Change::Fill(a, b, n) => Change::Fill(term(a)?, term(b)?, term(n)?),
                Change::Copy(a, b, n) => Change::Copy(term(a)?, term(b)?, term(n)?),
                Change::Any(a, n) => Change::Any(term(a)?, term(n)?),
            };
            let sort = |t: TermId| self.context.arena.sort(t);
            let word = |t: TermId| sort(t) == Sort::Bv(64);
            let fits = match what {
                Change::Store(a, v) => word(a) && sort(v).width().is_some_and(|w| w % 8 == 0),
                Change::Fill(a, b, n) => word(a) && sort(b) == Sort::Bv(8) && word(n),
                Change::Copy(a, b, n) => word(a) && word(b) && word(n),
                Change::Any(a, n) => word(a) && word(n),
            };
            let missing = |local: Option<usize>| local.is_some_and(|l| l >= states[0].locals.len());
            if !fits || missing(local) || missing(source) {
                return Err(odd());
            }
            let mut at = |a: TermId| self.context.canonical_address(a);
            let what = match what {
                Change::Store(a, v) => Change::Store(at(a), v),
                Change::Fill(a, b, n) => Change::Fill(at(a), b, n),
                Change::Copy(a, b, n) => Change::Copy(at(a), at(b), n),
                Change::Any(a, n) => Change::Any(at(a), n),
            };
            out.push(Applied { local, source, what });
        }
        Ok(out)
    }

    /// Makes the changes of a point to a state that has the memories of the other side. Excepted blocks hold anything;
    /// where they are only to be left out, they are returned and stay as they are.
    fn change(
        &mut self,
        changes: &[Applied],
        state: &mut State,
        side: Side,
        excepts: bool,
    ) -> Option<(TermId, TermId)> {
        let mut excepted = None;
        for change in changes {
            let private = |local: Option<usize>, state: &State| local.filter(|l| !state.escaped[*l]);
            let memory_of = |local: Option<usize>, state: &State| local.map_or(state.world, |l| state.locals[l]);
            let local = private(change.local, state);
            let memory = memory_of(local, state);
            let changed = match change.what {
                Change::Store(address, value) => self.context.write(memory, address, value),
                Change::Fill(address, byte, length) => self.context.arena.fill(memory, address, byte, length),
                Change::Copy(to, from, length) => {
                    let source = memory_of(private(change.source, state), state);
                    self.context.arena.copy(memory, to, source, from, length)
                }
                Change::Any(address, length) if excepts => {
                    excepted = Some((address, length));
                    memory
                }
                Change::Any(address, length) => {
                    let anything = self.context.fresh("anything", Sort::Memory);
                    if side == Side::Candidate {
                        self.context.note_candidate_value(anything);
                    }
                    self.context.arena.copy(memory, address, anything, address, length)
                }
            };
            match local {
                Some(local) => state.locals[local] = changed,
                None => state.world = changed,
            }
        }
        excepted
    }

    /// The states of a point that is entered, with one side ahead of the other.
    pub(crate) fn put_ahead(&mut self, index: usize, states: &mut [State; 2]) -> Result<(), Rejection> {
        let Some(side) = self.changes(index).map(|(side, _)| side) else { return Ok(()) };
        let changes = self.applied(index, states)?;
        self.change(&changes, &mut states[side.index()], side, false);
        Ok(())
    }

    /// The memories that the changes of a point lead to where an edge arrives, given the states that they are said over: the
    /// original's or the candidate's with its own memories replaced, and a block that is not compared.
    pub(crate) fn expected(
        &mut self,
        index: usize,
        defined: &[State; 2],
    ) -> Result<(State, Option<(TermId, TermId)>), Rejection> {
        let side = self.changes(index).map_or(Side::Candidate, |(side, _)| side);
        let changes = self.applied(index, defined)?;
        let mut state = defined[side.index()].clone();
        let excepted = self.change(&changes, &mut state, side, true);
        Ok((state, excepted))
    }

    /// A term with what is known put into it, and extensions pushed into sums.
    pub(crate) fn wide(&mut self, known: &Known, term: TermId) -> TermId {
        let term = known.rewrite(self.context.arena, term);
        known.widen_all(self.context.arena, term, &mut FxHashMap::default())
    }

    /// An address that stands for all, said as a distance from one of interest: differences with that are short then.
    fn somewhere(&mut self, from: Option<TermId>) -> TermId {
        let distance = self.context.fresh("distance", Sort::Bv(64));
        from.map_or(distance, |from| self.context.arena.add(from, distance))
    }

    /// Is a memory another one with a block at the top that stores have written one after the other at its end? The short way
    /// to what [`Self::same_everywhere`] asks.
    pub(crate) fn is_grown(&mut self, at: &Point, known: &Known, memory: TermId, whole: TermId) -> bool {
        let op = self.context.arena.op(whole);
        let mut block = self.context.arena.args(whole).to_vec();
        let Some(mut length) = block.pop().filter(|_| matches!(op, Op::Fill | Op::Copy)) else { return false };
        let base = block[0];
        let mut memory = known.rewrite(self.context.arena, memory);
        loop {
            let kind = self.context.arena.op(memory);
            if memory == base || !(kind == op || matches!(kind, Op::Store(_))) {
                let zero = self.context.arena.bv(64, 0);
                return self.prove_equal(at, known, length, zero).is_ok()
                    && self.prove_same_memory(at, known, memory, base, Ignored::Nothing).is_ok();
            }
            let args = self.context.arena.args(memory).to_vec();
            let Op::Store(bytes) = kind else {
                let same = [(args[1], block[1]), (args[args.len() - 1], length)];
                let values = same.into_iter().chain([(args[args.len() - 2], block[block.len() - 1])]);
                return values.into_iter().all(|(a, b)| self.prove_equal(at, known, a, b).is_ok())
                    && self.prove_same_memory(at, known, args[0], base, Ignored::Nothing).is_ok()
                    && (op == Op::Fill
                        || self.prove_same_memory(at, known, args[2], block[2], Ignored::Exact).is_ok());
            };
            let arena = &mut *self.context.arena;
            let size = arena.bv(64, u64::from(bytes));
            let rest = arena.sub(length, size);
            let end = arena.add(block[1], rest);
            let enough = arena.ule(size, length);
            let wanted = match op {
                Op::Fill => arena.concat_all(&vec![block[2]; usize::from(bytes)]),
                _ => {
                    let from = arena.add(block[3], rest);
                    arena.load(block[2], from, bytes)
                }
            };
            let last = self.prove_equal(at, known, args[1], end).is_ok()
                && self.prove(at, known, enough).is_ok()
                && self.prove_equal(at, known, args[2], wanted).is_ok();
            if !last {
                return false;
            }
            (memory, length) = (args[0], rest);
        }
    }

    /// Is a block one that the original had accessed, or a part of it, or with what it has accessed at its end since then?
    fn is_grown_block(&mut self, at: &Point, known: &Known, block: &Block, original: &Run) -> bool {
        for old in at.touched.iter().filter(|b| b.write || !block.write) {
            let arena = &mut *self.context.arena;
            let offset = arena.sub(block.address, old.address);
            if arena.as_u64(offset).is_some() {
                let room = arena.sub(old.length, offset);
                let (short, inside) = (arena.ule(offset, old.length), arena.ule(block.length, room));
                let goal = arena.bool_and(short, inside);
                let goal = self.wide(known, goal);
                if self.prove(at, known, goal).is_ok() {
                    return true;
                }
            }
            let objects = [block.address, old.address].map(|address| self.context.base_object(address));
            let same = objects[0] == objects[1] && self.prove_equal(at, known, block.address, old.address).is_ok();
            let mut length = old.length;
            for access in original.accesses.iter().filter(|a| same && (a.write || !block.write)) {
                let end = self.context.arena.add(old.address, length);
                let goal = self.equality(known, access.address, end);
                let goal = self.context.arena.bool_and(goal, access.guard);
                if self.context.base_object(access.address) == self.context.base_object(old.address)
                    && self.prove(at, known, goal).is_ok()
                {
                    let size = self.context.arena.bv(64, u64::from(access.bytes));
                    length = self.context.arena.add(length, size);
                }
            }
            if same && length != old.length && self.prove_equal(at, known, length, block.length).is_ok() {
                return true;
            }
        }
        false
    }

    /// Do two memories hold the same at an address that stands for all, but those of an excepted block?
    pub(crate) fn same_everywhere(
        &mut self,
        at: &Point,
        known: &Known,
        memories: [TermId; 2],
        excepted: Option<(TermId, TermId)>,
    ) -> Result<(), Failure> {
        let [a, b] = memories.map(|memory| self.wide(known, memory));
        let block = excepted.map(|(address, _)| address);
        let block = block.or_else(|| first_block(self.context.arena, b)).or_else(|| first_block(self.context.arena, a));
        let somewhere = self.somewhere(block);
        let [x, y] = [a, b].map(|memory| self.context.arena.load(memory, somewhere, 1));
        let arena = &mut *self.context.arena;
        let mut goal = arena.eq(x, y);
        if let Some((address, length)) = excepted {
            let inside = inside(arena, somewhere, address, length);
            goal = arena.bool_or(inside, goal);
        }
        let placed = self.with_objects(at, goal);
        self.prove(&placed, known, goal)
    }

    /// The point with what is known about where objects lie: those that the goal is about do not overlap, and what the
    /// original has accessed in them lies inside.
    fn with_objects(&mut self, at: &Point, goal: TermId) -> Point {
        let mut objects: Vec<(VarId, u64)> = Vec::new();
        for var in self.context.arena.free_vars(goal) {
            if let Some(size) = self.context.extent(var)
                && objects.len() < MOST_OBJECTS
            {
                objects.push((var, size));
            }
        }
        objects.sort();
        let mut out = at.clone();
        if objects.is_empty() || !self.context.may_assume_defined() {
            return out;
        }
        let mut holds = Vec::new();
        for (i, (var, size)) in objects.iter().enumerate() {
            let address = self.context.arena.var_term(*var);
            holds.push(self.user_block(address, *size));
            for (other, length) in &objects[..i] {
                self.context.assume(Assumption::DisjointObjects);
                let other = self.context.arena.var_term(*other);
                let arena = &mut *self.context.arena;
                let (ahead, back) = (arena.sub(address, other), arena.sub(other, address));
                let (length, size) = (arena.bv(64, *length), arena.bv(64, *size));
                let (behind, before) = (arena.ule(length, ahead), arena.ule(size, back));
                holds.push(arena.bool_and(behind, before));
            }
        }
        for fact in at.facts.clone() {
            let FactKind::Access { address, bytes, .. } = fact.kind else { continue };
            let Some(region) = self.context.region(address, bytes).filter(|r| r.assumed) else { continue };
            let Some((var, size)) = objects.iter().find(|(var, _)| *var == region.var).copied() else { continue };
            let Some(last) = size.checked_sub(u64::from(bytes)) else { continue };
            let name = self.context.object_name(var);
            self.context.assume(Assumption::InBounds(name));
            let arena = &mut *self.context.arena;
            let base = arena.var_term(var);
            let offset = arena.sub(address, base);
            let last = arena.bv(64, last);
            let inside = arena.ule(offset, last);
            holds.push(arena.implies(fact.when, inside));
        }
        let all = self.context.arena.bool_and_all(&holds);
        out.condition = self.context.arena.bool_and(at.condition, all);
        out
    }

    /// An object lies at user addresses.
    fn user_block(&mut self, address: TermId, size: u64) -> TermId {
        if !self.context.may_assume_defined() {
            return self.context.arena.bool(true);
        }
        self.context.assume(Assumption::UserAddresses);
        let arena = &mut *self.context.arena;
        let (low, high) = (arena.bv(64, 4096), arena.bv(64, ((1u64 << 47) - 4096).saturating_sub(size)));
        let (above, below) = (arena.ule(low, address), arena.ule(address, high));
        arena.bool_and(above, below)
    }

    /// What the original has accessed at a point, in terms of the states there.
    pub(crate) fn accessed(&mut self, index: usize, states: &[State; 2]) -> Result<Vec<Block>, Rejection> {
        let mut out = Vec::new();
        for ReadBlock { address, length, write } in self.points[index].accessed.clone() {
            let address = address.term(self.context, states).map_err(Rejection::Malformed)?;
            let length = length.term(self.context, states).map_err(Rejection::Malformed)?;
            if [address, length].iter().any(|t| self.context.arena.sort(*t) != Sort::Bv(64)) {
                return Err(Rejection::Malformed("an accessed block has an odd width".to_string()));
            }
            let address = self.context.canonical_address(address);
            let guard = self.context.arena.bool(true);
            out.push(Block { guard, address, length, write, place: 0 });
        }
        Ok(out)
    }

    /// Blocks that one side is ahead and that the original has accessed: each byte as part of the object that the block
    /// begins in, so all of it lies there.
    pub(crate) fn note_blocks(&mut self, point: &Point, index: usize) -> Result<(), Rejection> {
        let base = self.defined_over(index, &point.states);
        for change in self.applied(index, &base)? {
            let (Change::Fill(address, _, length) | Change::Copy(address, _, length)) = change.what else { continue };
            let accessed = point.touched.iter().any(|b| b.write && b.address == address && b.length == length);
            if accessed && self.context.base_object(address).is_some() {
                self.context.note_block(address, length);
            }
        }
        Ok(())
    }

    /// Does a block of the candidate lie in an object that exists, and is it writable if it must be?
    pub(crate) fn block_exists(&mut self, at: &Point, known: &Known, block: &Block) -> bool {
        let Some((var, local)) = self.context.base_object(block.address) else { return false };
        let Some(size) = self.context.extent(var) else { return false };
        let first = Access { guard: block.guard, address: block.address, bytes: 1, write: true, place: block.place };
        let own = local.is_some_and(|l| self.context.bindings[l].candidate.is_some());
        if !own && (local.is_some() || block.write && !self.is_writable(&first)) {
            return false;
        }
        let arena = &mut *self.context.arena;
        let (base, size) = (arena.var_term(var), arena.bv(64, size));
        let offset = arena.sub(block.address, base);
        let room = arena.sub(size, block.length);
        let (short, inside) = (arena.ule(block.length, size), arena.ule(offset, room));
        let fits = arena.bool_and(short, inside);
        let goal = arena.implies(block.guard, fits);
        self.prove(at, known, goal).is_ok()
    }

    /// Do two blocks that the candidate accesses lie in different objects? They are among those that the original accesses,
    /// as part of these objects.
    pub(crate) fn in_different_objects(&mut self, candidate: &Run, copy: &Exclusive) -> bool {
        let is_block =
            |address: TermId| candidate.blocks.iter().any(|b| (b.address, b.length) == (address, copy.length));
        let [to, from] = [copy.to, copy.from].map(|address| {
            let address = self.context.canonical_address(address);
            self.context.base_object(address).filter(|_| is_block(address))
        });
        let (Some((to, _)), Some((from, _))) = (to, from) else { return false };
        let may = self.context.may_assume_defined();
        if to == from || !may {
            return false;
        }
        self.context.assume(Assumption::DisjointObjects);
        for var in [to, from] {
            let name = self.context.object_name(var);
            self.context.assume(Assumption::InBounds(name));
        }
        true
    }

    /// Has the original accessed every byte of a block, by what it did on the edge and what it had accessed before?
    pub(crate) fn covers_block(
        &mut self,
        at: &Point,
        known: &Known,
        block: &Block,
        original: &Run,
    ) -> Result<(), Failure> {
        if self.is_grown_block(at, known, block, original) {
            return Ok(());
        }
        let [address, length] = [block.address, block.length].map(|term| self.wide(known, term));
        let somewhere = self.somewhere(Some(address));
        let mut any = Vec::new();
        // What lies side by side by chance is not one block: it may be read as if it were none.
        let object = self.context.base_object(block.address);
        let blocks: Vec<Block> = at.touched.iter().chain(&original.blocks).copied().collect();
        for other in blocks.iter().filter(|b| b.write || !block.write) {
            if self.context.base_object(other.address) != object {
                continue;
            }
            let here = inside(self.context.arena, somewhere, other.address, other.length);
            any.push(self.context.arena.bool_and(other.guard, here));
        }
        let accesses = original.accesses.iter().rev().filter(|a| a.write || !block.write);
        let accesses = accesses.filter(|a| self.context.base_object(a.address) == object);
        for Access { guard, address, bytes, .. } in accesses.take(MOST_ACCESSES).collect::<Vec<_>>() {
            let length = self.context.arena.bv(64, u64::from(*bytes));
            let here = inside(self.context.arena, somewhere, *address, length);
            any.push(self.context.arena.bool_and(*guard, here));
        }
        let arena = &mut *self.context.arena;
        let covered = arena.bool_or_all(&any);
        let here = inside(arena, somewhere, address, length);
        let here = arena.bool_and(block.guard, here);
        let goal = arena.implies(here, covered);
        let goal = self.wide(known, goal);
        let placed = self.with_objects(at, goal);
        self.prove(&placed, known, goal)
    }

    /// Does an access of the candidate lie in one of the blocks that the original has accessed?
    pub(crate) fn lies_in_block(&mut self, at: &Point, known: &Known, access: &Access, original: &Run) -> bool {
        let mut any = Vec::new();
        let blocks: Vec<Block> = at.touched.iter().chain(&original.blocks).copied().collect();
        for other in blocks.iter().filter(|b| b.write || !access.write) {
            let arena = &mut *self.context.arena;
            let bytes = arena.bv(64, u64::from(access.bytes));
            let offset = arena.sub(access.address, other.address);
            let last = arena.sub(other.length, bytes);
            let (enough, within) = (arena.ule(bytes, other.length), arena.ule(offset, last));
            any.push(arena.bool_and_all(&[other.guard, enough, within]));
        }
        if any.is_empty() {
            return false;
        }
        let covered = self.context.arena.bool_or_all(&any);
        let goal = self.context.arena.implies(access.guard, covered);
        let goal = self.wide(known, goal);
        self.prove(at, known, goal).is_ok()
    }
}

/// Where the topmost block of a memory begins.
fn first_block(arena: &term::Arena, mut memory: TermId) -> Option<TermId> {
    loop {
        memory = match arena.op(memory) {
            Op::Fill | Op::Copy => return Some(arena.arg(memory, 1)),
            Op::Store(_) => arena.arg(memory, 0),
            Op::Ite => arena.arg(memory, 1),
            _ => return None,
        };
    }
}

/// Is an address in a block? One of length zero has none.
fn inside(arena: &mut term::Arena, address: TermId, start: TermId, length: TermId) -> TermId {
    let offset = arena.sub(address, start);
    arena.ult(offset, length)
}
