//! Arguments that a function forgets: when it is done, nobody can find there the address that it was given.
//!
//! Every term is made of arguments: of those whose variables are in it. An argument is kept if what is made of it is in memory
//! outside the frame where others look (at calls and returns), is returned, or is passed to somebody who may keep it.
//!
//! An access of the object itself, at the argument or at a distance from it that is made of none, tells nothing: what a load
//! finds there is made of what was stored, and only who knows the object finds a store. Any other place that an argument
//! chooses tells about it: `k[p >> 8 & 255] = 1` and `k = table[p & 255]` copy parts of it.
//!
//! Control tells about an argument, too: `if (p >> i & 1) k |= 1 << i` copies it bit by bit. The only conditions that do
//! not count are whether it is null, and those in which it cancels out, as that of `p < p + n`.

use program::Register;
use rustc_hash::{FxHashMap, FxHashSet};
use symbolic::{Context, State};
use term::{Linear, Op, Sort, TermId, VarId};

/// A set of argument registers, by their position in [`Register::ARGUMENTS`].
pub(super) type Given = u8;

/// What is made of arguments, and what was kept of them.
#[derive(Default)]
pub(super) struct Taint {
    sources: FxHashMap<VarId, Given>,
    /// Those of them that are an argument, or an argument and a distance.
    pointers: FxHashSet<VarId>,
    memo: FxHashMap<TermId, Given>,
    /// Arguments that somebody may find again.
    pub kept: Given,
}

impl Taint {
    /// The arguments are what these registers hold at the entry.
    pub fn begin(&mut self, context: &Context, entry: &State, registers: impl Iterator<Item = Register>) {
        for register in registers {
            let Some(i) = Register::ARGUMENTS.iter().position(|r| *r == register) else { continue };
            for var in context.arena.free_vars(entry.get(register)) {
                *self.sources.entry(var).or_default() |= 1 << i;
                self.pointers.insert(var);
            }
        }
    }

    /// A condition that holds in every run, with each of its parts, tells nothing.
    pub fn always(&mut self, context: &Context, condition: TermId) {
        let mut open = vec![condition];
        while let Some(term) = open.pop() {
            self.memo.insert(term, 0);
            if context.arena.op(term) == Op::And {
                open.extend(context.arena.args(term));
            }
        }
    }

    /// Is there nothing to follow?
    pub fn is_idle(&self) -> bool {
        self.sources.is_empty()
    }

    /// Says what a new variable is made of.
    pub fn note(&mut self, context: &Context, term: TermId, given: Given) {
        if let Some(var) = context.arena.as_var(term).filter(|_| given != 0) {
            *self.sources.entry(var).or_default() |= given;
        }
    }

    /// Says that a new variable is an argument and a distance.
    pub fn note_pointer(&mut self, context: &Context, term: TermId, given: Given) {
        self.note(context, term, given);
        self.pointers.extend(context.arena.as_var(term));
    }

    /// Is a value made of no argument, or one argument and a distance that is made of none?
    pub fn is_pointer(&mut self, context: &mut Context, term: TermId) -> bool {
        self.of(context, term);
        self.told_by(context, term) == 0
    }

    /// What a value is made of; of a memory: what its bytes are.
    pub fn of(&mut self, context: &mut Context, term: TermId) -> Given {
        if self.is_idle() {
            return 0;
        }
        let mut open = vec![term];
        while let Some(&top) = open.last() {
            if self.memo.contains_key(&top) {
                open.pop();
                continue;
            }
            let missing: Vec<TermId> =
                context.arena.args(top).iter().copied().filter(|a| !self.memo.contains_key(a)).collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            open.pop();
            let given = self.made_of(context, top);
            self.memo.insert(top, given);
        }
        self.memo.get(&term).copied().unwrap_or(Given::MAX)
    }

    /// The same, if that of the operands is known.
    fn made_of(&self, context: &mut Context, term: TermId) -> Given {
        let args = context.arena.args(term).to_vec();
        let of = |i: usize| args.get(i).and_then(|a| self.memo.get(a)).copied().unwrap_or(Given::MAX);
        let all = || (0..args.len()).fold(0, |given, i| given | of(i));
        match context.arena.op(term) {
            Op::Var(var) => self.sources.get(&var).copied().unwrap_or(0),
            Op::Load(_) => of(0) | self.told_by(context, args[1]),
            Op::Store(_) => of(0) | self.told_by(context, args[1]) | of(2),
            Op::Fill => of(0) | self.told_by(context, args[1]) | of(2) | of(3),
            Op::Copy => of(0) | self.told_by(context, args[1]) | of(2) | self.told_by(context, args[3]) | of(4),
            Op::Eq | Op::Ult | Op::Slt if all() != 0 => self.compared(context, &args, all()),
            _ => all(),
        }
    }

    /// What an access of a place tells about.
    fn told_by(&self, context: &Context, address: TermId) -> Given {
        let of = |term: TermId| self.memo.get(&term).copied().unwrap_or(Given::MAX);
        let all = of(address);
        if all == 0 || context.arena.sort(address) != Sort::Bv(64) {
            return all;
        }
        let sum = Linear::of(context.arena, address);
        let mut made = sum.terms.iter().filter(|(term, _)| of(*term) != 0);
        let itself = made.next().is_some_and(|(term, factor)| {
            factor.to_u64() == Some(1) && context.arena.as_var(*term).is_some_and(|var| self.pointers.contains(&var))
        });
        if itself && made.next().is_none() { 0 } else { all }
    }

    /// What the outcome of a comparison tells about.
    fn compared(&self, context: &mut Context, args: &[TermId], all: Given) -> Given {
        let &[a, b] = args else { return all };
        let arena = &mut *context.arena;
        if arena.sort(a) != Sort::Bv(64) {
            return all;
        }
        let null = |t: TermId| arena.as_u64(t) == Some(0);
        let whole = |t: TermId| arena.as_var(t).is_some();
        if null(b) && whole(a) || null(a) && whole(b) {
            return 0;
        }
        let distance = arena.sub(a, b);
        let vars = arena.free_vars(distance);
        // What is loaded is another value; a memory in it is one variable among others.
        if vars.iter().all(|var| !self.sources.contains_key(var)) { 0 } else { all }
    }

    /// What others can find at an event: in memory, and by the way that led there.
    pub fn look(&mut self, context: &mut Context, condition: TermId, state: &State) {
        if self.is_idle() {
            return;
        }
        let found = self.of(context, condition) | self.of(context, state.world);
        self.kept |= found;
    }
}
