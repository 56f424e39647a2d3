//! What variables stand for, and since when.
//!
//! A variable is an input, or came into being when a call returned or a loop was entered; the clock says which is older. What was there
//! before a local object escaped cannot hold its address.
//!
//! Trust: full. A variable that is taken to be older than it is may reach what it is said not to.

use program::Side;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Op, Sort, TermId, VarId};

/// Where variables come from.
pub(crate) struct Origins {
    /// Stack pointers at entry, by [`Side::index`].
    pub entry_rsp: [VarId; Side::BOTH.len()],
    /// Addresses of local objects, in the order of the bindings.
    pub locals: Vec<VarId>,
    /// Variables for places that may hold a frame address.
    pub frame_values: FxHashSet<VarId>,
    /// Variables for what the candidate alone put somewhere: they may hold addresses that the original never takes.
    pub candidate_values: FxHashSet<VarId>,
    /// Variables that stand for values nobody defined: clobbered registers after calls and at entry.
    pub undefined: FxHashSet<VarId>,
    /// Results of allocation functions, with the clock of their birth.
    pub allocations: FxHashMap<VarId, u32>,
    /// When a variable came into being: 0 for inputs, later for results of calls.
    births: FxHashMap<VarId, u32>,
    clock: u32,
    facts: FxHashMap<TermId, TermFacts>,
}

/// What a term is made of.
#[derive(Clone, Copy, Default)]
pub(crate) struct TermFacts {
    /// Youngest variable inside.
    pub birth: u32,
    /// Which local objects' addresses occur inside, as a bit set (locals beyond 63 share the last bit).
    pub locals: u64,
    /// For a memory: which of them its bytes may hold.
    content: u64,
    /// Does an entry stack pointer occur outside of loads?
    pub frame: bool,
}

impl Origins {
    pub fn new(entry_rsp: [VarId; Side::BOTH.len()], locals: Vec<VarId>) -> Origins {
        Origins {
            entry_rsp,
            locals,
            frame_values: FxHashSet::default(),
            candidate_values: FxHashSet::default(),
            undefined: FxHashSet::default(),
            allocations: FxHashMap::default(),
            births: FxHashMap::default(),
            clock: 0,
            facts: FxHashMap::default(),
        }
    }

    /// Moves the clock on.
    pub fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// A variable comes into being now.
    pub fn bear(&mut self, var: VarId) {
        self.births.insert(var, self.clock);
    }

    /// Says when a variable came into being; before any term over it was looked at.
    pub fn set_birth(&mut self, var: VarId, clock: u32) {
        self.births.insert(var, clock);
    }

    /// What a term is made of.
    pub fn facts(&mut self, arena: &Arena, term: TermId) -> TermFacts {
        if let Some(facts) = self.facts.get(&term) {
            return *facts;
        }
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if self.facts.contains_key(&top) {
                stack.pop();
                continue;
            }
            let missing: Vec<TermId> =
                arena.args(top).iter().copied().filter(|a| !self.facts.contains_key(a)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            stack.pop();
            let mut facts = TermFacts::default();
            for arg in arena.args(top) {
                let inner = self.facts[arg];
                facts.birth = facts.birth.max(inner.birth);
                facts.locals |= inner.locals;
                facts.frame |= inner.frame;
            }
            facts.content = self.content_of(arena, top);
            match arena.op(top) {
                // What is read where is made of what was stored, not of the place.
                Op::Load(_) => (facts.frame, facts.locals) = (false, facts.content),
                Op::Var(var) => {
                    facts.birth = self.births.get(&var).copied().unwrap_or(0);
                    facts.frame = self.entry_rsp.contains(&var) || self.frame_values.contains(&var);
                    if let Some(local) = self.locals.iter().position(|v| *v == var) {
                        facts.locals = 1 << local.min(63);
                    }
                }
                _ => {}
            }
            self.facts.insert(top, facts);
        }
        self.facts[&term]
    }

    /// Local objects whose addresses a memory may hold, as far as it was stored to since it was anybody's; for a load, what
    /// it may find. The facts of the operands are known.
    fn content_of(&self, arena: &Arena, term: TermId) -> u64 {
        let args = arena.args(term);
        let content = |i: usize| self.facts[&args[i]].content;
        let locals = |i: usize| self.facts[&args[i]].locals;
        match arena.op(term) {
            Op::Var(_) => 0,
            Op::Load(_) => content(0),
            Op::Store(_) | Op::Fill => content(0) | locals(2),
            Op::Copy => content(0) | content(2),
            Op::Ite if arena.sort(term) == Sort::Memory => content(1) | content(2),
            _ => (0..args.len()).fold(0, |all, i| all | content(i) | locals(i)),
        }
    }
}
