//! What symbolic execution of a pair shares: the arena, the two functions, local objects, and facts about
//! addresses.

mod conditions;
mod escape;
mod noted;
mod origins;
mod places;

use crate::Known;
use crate::viewpoint::Overlaps;
use escape::Escapes;
use interrupt::Interrupt;
use noted::{Accesses, Shown};
use origins::{Origins, TermFacts};
use program::{Assumption, Function, LocalContract, Object, ObjectKind, Register, Side, Undefined};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, Bits, Linear, Op as TermOp, Sort, TermId, VarId};

/// An interval of a frame, relative to the entry stack pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Interval {
    /// First byte.
    pub offset: i64,
    /// Length in bytes.
    pub size: u64,
}

impl Interval {
    /// Does the interval contain the byte?
    pub fn contains(&self, offset: i64) -> bool {
        offset >= self.offset && offset.abs_diff(self.offset) < self.size
    }
}

/// A local object that is accessed through pointers: where it lives in each frame. Part of a certificate.
///
/// Both sides see it at one symbolic address (`local-address-opaque`). Each side has a private memory for it, until it
/// escapes (its address reaches the world or a callee): from then on it is part of the compared world.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Binding {
    /// Place in the original's frame; `None` if only the candidate has such an object.
    pub original: Option<Interval>,
    /// Place in the candidate's frame.
    pub candidate: Option<Interval>,
    /// Does its address leave the function?
    pub escapes: bool,
}

impl Binding {
    /// Place in the frame of a side.
    pub fn interval(&self, side: Side) -> Option<Interval> {
        match side {
            Side::Original => self.original,
            Side::Candidate => self.candidate,
        }
    }
}

/// What a precondition says of an argument outright. It holds in every start state that a proof is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stated {
    /// Its value.
    Value(Bits),
    /// It is a number of so many bits, without a sign.
    Bits(u16),
}

/// Why symbolic execution stopped without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// Something that is not modelled, at a place.
    Unsupported {
        /// Which program.
        side: Side,
        /// Instruction address relative to the function.
        address: u64,
        /// What.
        what: String,
    },
    /// A cycle without an abstraction point.
    Loop {
        /// Which program.
        side: Side,
        /// Address of the loop head.
        address: u64,
    },
    /// A frame address is used as data or with a variable offset, and no binding covers it.
    Unbound {
        /// Which program.
        side: Side,
        /// Instruction address.
        address: u64,
        /// Offset of the frame address.
        offset: i64,
        /// Does the address leave the function here?
        escapes: bool,
        /// What the address is offset by, if anything.
        index: Option<TermId>,
        /// The part of the frame that must be one object, if more is known than that the offset lies in it.
        span: Option<Interval>,
    },
    /// The budget of terms or time is used up.
    OutOfBudget,
}

/// Shared state of the symbolic execution of a pair.
pub struct Context<'a> {
    /// Owner of all terms.
    pub arena: &'a mut Arena,
    /// The two functions, by [`Side::index`].
    pub functions: [&'a Function; 2],
    /// Local objects behind pointers.
    pub bindings: Vec<Binding>,
    /// What was taken for granted so far.
    pub assumptions: BTreeSet<Assumption>,
    /// What variables stand for, and since when.
    pub(crate) origins: Origins,
    /// Local objects that have left the function.
    pub(crate) escapes: Escapes,
    /// What has been accessed, and how.
    pub(crate) accesses: Accesses,
    /// What the code of both sides shows.
    pub(crate) shown: Shown,
    /// Which accesses overlap.
    pub(crate) overlaps: Overlaps,
    /// Are extensions pushed into sums that do not wrap? Only loops need it.
    pub widens: bool,
    /// Is something assumed about which blocks of memory overlap? Then it counts where nothing is widened, too.
    pub keeps_apart: bool,
    /// What a precondition says of arguments outright.
    pub stated: BTreeMap<Register, Stated>,
    /// Places of its frame that the original has computed from addresses of locals which do not hold them.
    pub(crate) left_locals: FxHashSet<i64>,
    /// Objects that the candidate aligns less than whoever has their address from the original may rely on.
    less_aligned: FxHashSet<VarId>,
    /// Ends the work from outside.
    pub interrupt: Interrupt,
    /// The number of terms at which to give up.
    pub most_terms: usize,
}

/// Named data that both files define and the candidate aligns less than the original promises.
fn less_aligned(original: &Function, candidate: &Function) -> FxHashSet<VarId> {
    let data = |o: &Object| matches!(o.kind, ObjectKind::Named { defined: true, function: false, .. });
    let less = |(var, ours): (&VarId, &Object)| {
        let theirs = candidate.objects.get(var).filter(|theirs| data(ours) && data(theirs))?;
        (theirs.align < ours.promised_align).then_some(*var)
    };
    original.objects.iter().filter_map(less).collect()
}

impl<'a> Context<'a> {
    /// A context for a pair. The arena must have its registers declared.
    pub fn new(arena: &'a mut Arena, original: &'a Function, candidate: &'a Function, bindings: Vec<Binding>) -> Self {
        let entry_rsp = Side::BOTH.map(|side| {
            let term = arena.var(&format!("rsp.{}", side.name()), Sort::Bv(64));
            arena.as_var(term).expect("a variable")
        });
        let locals = (0..bindings.len())
            .map(|i| {
                let term = arena.var(&format!("§local.{i}"), Sort::Bv(64));
                arena.as_var(term).expect("a variable")
            })
            .collect();
        Context {
            arena,
            functions: [original, candidate],
            assumptions: BTreeSet::new(),
            origins: Origins::new(entry_rsp, locals),
            escapes: Escapes::of(bindings.len()),
            bindings,
            accesses: Accesses::default(),
            shown: Shown::default(),
            overlaps: Overlaps::default(),
            widens: false,
            keeps_apart: false,
            stated: BTreeMap::new(),
            left_locals: FxHashSet::default(),
            less_aligned: less_aligned(original, candidate),
            interrupt: Interrupt::never(),
            most_terms: 30_000_000,
        }
    }

    /// Notes an assumption.
    pub fn assume(&mut self, assumption: Assumption) {
        self.assumptions.insert(assumption);
    }

    /// May a proof assume what only undefined behaviour of the source could violate? Where not, it must do without: the
    /// kernel refuses a proof that noted such an assumption.
    pub fn may_assume_defined(&self) -> bool {
        self.functions[0].undefined == Undefined::Excused
    }

    /// Does one of the functions look at `errno`?
    pub(crate) fn uses_errno(&mut self) -> bool {
        let functions = self.functions;
        *self.shown.uses_errno.get_or_insert_with(|| functions.into_iter().any(Function::uses_errno))
    }

    /// Is the budget used up?
    pub fn out_of_budget(&self) -> bool {
        self.arena.len() > self.most_terms || self.interrupt.is_tripped()
    }

    /// The entry stack pointer of a side.
    pub fn entry_rsp(&mut self, side: Side) -> TermId {
        let var = self.origins.entry_rsp[side.index()];
        self.arena.var_term(var)
    }

    /// The symbolic address of a local object.
    pub fn local_address(&mut self, local: usize) -> TermId {
        let var = self.origins.locals[local];
        self.arena.var_term(var)
    }

    /// Moves the clock on: variables made from now on are younger than everything so far.
    pub fn tick(&mut self) -> u32 {
        self.origins.tick()
    }

    /// A new variable, born now.
    pub fn fresh(&mut self, hint: &str, sort: Sort) -> TermId {
        let term = self.arena.fresh(hint, sort);
        let var = self.arena.as_var(term).expect("a variable");
        self.origins.bear(var);
        term
    }

    /// A new variable for a place that may hold a frame address: nobody can tell what an access through it reaches.
    pub fn fresh_frame_value(&mut self, hint: &str, sort: Sort) -> TermId {
        let term = self.fresh(hint, sort);
        self.origins.frame_values.extend(self.arena.as_var(term));
        term
    }

    /// Says that the candidate alone decides what a variable holds.
    pub fn note_candidate_value(&mut self, variable: TermId) {
        self.origins.candidate_values.extend(self.arena.as_var(variable));
    }

    /// May the candidate have put any address into this variable?
    pub(crate) fn is_candidate_value(&self, var: VarId) -> bool {
        self.origins.candidate_values.contains(&var)
    }

    /// Is there a memory whose content the candidate alone decides?
    pub(crate) fn has_candidate_memories(&self) -> bool {
        self.origins.candidate_values.iter().any(|v| self.arena.var_sort(*v) == Sort::Memory)
    }

    /// Says when a variable came into being; before any term over it was looked at.
    pub(crate) fn set_birth(&mut self, var: VarId, clock: u32) {
        self.origins.set_birth(var, clock);
    }

    /// A new variable for a value that nobody defined.
    pub fn fresh_undefined(&mut self, hint: &str, sort: Sort) -> TermId {
        let term = self.fresh(hint, sort);
        let var = self.arena.as_var(term).expect("a variable");
        self.origins.undefined.insert(var);
        term
    }

    /// Is this a value that nobody defined (what a register holds after a call that clobbers it)?
    pub fn is_undefined(&self, term: TermId) -> bool {
        self.arena.as_var(term).is_some_and(|var| self.origins.undefined.contains(&var))
    }

    /// Is this what an allocating function has returned?
    pub fn is_allocation(&self, var: VarId) -> bool {
        self.origins.allocations.contains_key(&var)
    }

    /// The object behind an address variable, of either program.
    pub fn object(&self, var: VarId) -> Option<&'a Object> {
        self.functions[0].objects.get(&var).or_else(|| self.functions[1].objects.get(&var))
    }

    /// Is this the address of an object or function that certainly exists?
    pub fn is_certain_object(&self, var: VarId) -> bool {
        let kinds: Vec<ObjectKind> =
            self.functions.iter().filter_map(|f| f.objects.get(&var)).map(|object| object.kind).collect();
        !kinds.is_empty()
            && kinds.iter().all(|kind| matches!(kind, ObjectKind::Named { weak: false, .. } | ObjectKind::Literal))
    }

    /// Size of an object: the smaller one if the files disagree.
    fn object_size(&self, var: VarId) -> Option<u64> {
        let sizes = self.functions.map(|f| f.objects.get(&var).map(|o| o.size));
        match sizes {
            [Some(a), Some(b)] => Some(a?.min(b?)),
            [one, other] => one.or(other).flatten(),
        }
    }

    /// Alignment of an object in one program. What is known of the original's is not known of the candidate's.
    fn object_align(&self, side: Side, var: VarId) -> u64 {
        self.functions[side.index()].objects.get(&var).map_or(1, |o| o.align)
    }

    /// The name of an object in a condition that the candidate aligns less than the original.
    pub(crate) fn less_aligned_object(&self, condition: TermId) -> Option<String> {
        let [original, candidate] = self.functions;
        let less = |var: &VarId| match (original.objects.get(var), candidate.objects.get(var)) {
            (Some(ours), Some(theirs)) => theirs.align < ours.align,
            _ => false,
        };
        self.arena.free_vars(condition).into_iter().find(less).map(|var| self.object_name(var))
    }

    /// An object that the candidate aligns less, and whose address a value is made of. What is read there is not.
    fn less_aligned_part(&self, term: TermId) -> Option<VarId> {
        let (mut open, mut seen) = (vec![term], FxHashSet::default());
        while let Some(term) = open.pop() {
            match self.arena.op(term) {
                TermOp::Var(var) if self.less_aligned.contains(&var) => return Some(var),
                // Whoever stored an address there has been asked.
                TermOp::Load(_) => {}
                _ => open.extend(self.arena.args(term).iter().copied().filter(|arg| seen.insert(*arg))),
            }
        }
        None
    }

    fn facts(&mut self, term: TermId) -> TermFacts {
        self.origins.facts(self.arena, term)
    }

    /// Does the value depend on where the frame is?
    pub fn depends_on_frame(&mut self, term: TermId) -> bool {
        self.facts(term).frame
    }

    /// The contract that the function itself is compared under.
    pub fn own_contract(&self) -> Option<&'a LocalContract> {
        let [original, candidate] = self.functions;
        original.contract().filter(|_| original.name == candidate.name)
    }

    /// The value with every frame address replaced by the symbolic address of its local object: what the
    /// world may see.
    pub fn outward(&mut self, side: Side, address: u64, term: TermId, escapes: bool) -> Result<TermId, Stuck> {
        if !self.less_aligned.is_empty()
            && let Some(var) = self.less_aligned_part(term)
        {
            let what = format!("the address of `{}`, which the candidate aligns less", self.object_name(var));
            return Err(unsupported(side, address, what));
        }
        if !self.depends_on_frame(term) {
            if escapes {
                self.note_escape(term, side, address)?;
            }
            return Ok(term);
        }
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if memo.contains_key(&top) {
                stack.pop();
                continue;
            }
            if !self.depends_on_frame(top) {
                memo.insert(top, top);
                continue;
            }
            if let Some((offset, rest)) = self.frame_offset(top) {
                let index = rest.first().map(|(t, _)| *t);
                let (local, span) = self.claimed_object(side, address, &Known::default(), (offset, &rest), None)?;
                let Some(local) = local else {
                    return Err(Stuck::Unbound { side, address, offset, escapes, index, span });
                };
                if rest.iter().any(|(t, _)| self.facts(*t).frame) {
                    return Err(unsupported(side, address, "arithmetic on two frame addresses"));
                }
                if escapes && !self.bindings[local].escapes {
                    return Err(Stuck::Unbound { side, address, offset, escapes, index: None, span: None });
                }
                let pointer = self.local_pointer(side, local, offset, rest);
                memo.insert(top, pointer);
                continue;
            }
            if let Some(distance) = self.distance_from_object(side, top) {
                memo.insert(top, distance);
                continue;
            }
            let node = self.arena.node(top).clone();
            if node.args.is_empty() {
                return Err(unsupported(side, address, "entry stack pointer used as a value"));
            }
            let missing: Vec<TermId> = node.args.iter().copied().filter(|a| !memo.contains_key(a)).collect();
            if missing.is_empty() {
                let args: Vec<TermId> = node.args.iter().map(|a| memo[a]).collect();
                let rebuilt = self.arena.make(node.op, &args);
                memo.insert(top, rebuilt);
            } else {
                stack.extend(missing);
            }
        }
        let out = memo[&term];
        if escapes {
            self.note_escape(out, side, address)?;
        }
        Ok(out)
    }

    /// The address of an access, `§section + k + rest`, as one of the member that it falls in.
    pub fn canonical_address(&mut self, address: TermId) -> TermId {
        self.member_address(address, Some(1), &Known::default())
    }

    /// Rewrites `§section + k + rest` to `&member + (k − offset) + rest` for the member that `k` falls in. That is the
    /// definition of the member's address. But where the original's code does not say which object it means, the address stays
    /// what it is, and the candidate has no such: with an index, which may have a constant folded into `k`, unless it cannot
    /// leave the member; and, as a value (without `bytes`), at the end of one member and the start of another.
    pub(crate) fn member_address(&mut self, address: TermId, bytes: Option<u16>, known: &Known) -> TermId {
        let linear = Linear::of(self.arena, address);
        for (i, (term, coefficient)) in linear.terms.iter().enumerate() {
            let Some(var) = self.arena.as_var(*term) else { continue };
            let Some(object) = self.object(var) else { continue };
            if object.kind != ObjectKind::Section || coefficient.to_u64() != Some(1) {
                continue;
            }
            let at = linear.constant.low();
            let Some(member) = object.member_at(at) else { continue };
            let mut rest = linear.terms.clone();
            rest.remove(i);
            let original = self.functions[0].objects.contains_key(&var);
            if original && !rest.is_empty() && !self.stays_inside(known, (at, &rest), bytes, member) {
                continue;
            }
            if original && rest.is_empty() && bytes.is_none() && self.is_end_of_another(object, member, at) {
                continue;
            }
            let mut terms = linear.terms.clone();
            let base = self.arena.var_term(member.var);
            terms[i] = (base, Bits::new(64, 1));
            let constant = linear.constant.sub(Bits::new(64, member.offset));
            return Linear { terms, constant }.build(self.arena);
        }
        address
    }

    /// Is it an address in a section to which an index is added?
    pub(crate) fn is_indexed_section(&self, address: TermId) -> bool {
        let linear = Linear::of(self.arena, address);
        let section = |term: TermId| {
            let object = self.arena.as_var(term).and_then(|var| self.object(var));
            object.is_some_and(|object| object.kind == ObjectKind::Section)
        };
        linear.terms.len() > 1 && linear.terms.iter().any(|(term, _)| section(*term))
    }

    /// Is `at + rest` certainly inside a member of its section?
    fn stays_inside(
        &self,
        known: &Known,
        (at, rest): (u64, &[(TermId, Bits)]),
        bytes: Option<u16>,
        member: &program::Member,
    ) -> bool {
        let Some((low, high)) = self.range_of_rest(known, rest) else { return false };
        let at = i128::from(at) - i128::from(member.offset);
        at + low >= 0 && at + high + i128::from(bytes.unwrap_or(0)) <= i128::from(member.size)
    }

    /// Is an offset the start of a member and the end of another one? Of anonymous data nobody takes the end.
    fn is_end_of_another(&self, section: &Object, member: &program::Member, at: u64) -> bool {
        let literal = |var: VarId| self.object(var).is_some_and(|o| o.kind == ObjectKind::Literal);
        let ends = |m: &&program::Member| m.offset < at && m.offset.checked_add(m.size) == Some(at);
        let mut before = section.members.iter().filter(ends);
        at == member.offset && before.any(|m| !(literal(m.var) && literal(member.var)))
    }

    /// The first offset from the entry stack pointer behind the incoming stack arguments.
    pub(crate) fn argument_limit(&self) -> i64 {
        self.functions[0].argument_limit()
    }

    /// Is the local object a part of the incoming stack arguments? Then the caller gave it its content.
    pub fn is_incoming(&self, local: usize) -> bool {
        self.bindings[local].original.is_some_and(|i| i.offset >= 0)
    }

    /// Is the local object what a variadic function was given on the stack? Nobody knows how much that is.
    fn is_open_ended(&self, local: usize) -> bool {
        self.is_incoming(local) && self.argument_limit() == Function::NO_LIMIT
    }

    /// Is this the frame offset of an incoming argument that an open-ended object does not hold, though there is one?
    pub(crate) fn is_beyond_arguments(&self, offset: i64) -> bool {
        offset >= 8 && (0..self.bindings.len()).any(|local| self.is_open_ended(local))
    }

    /// Takes it that a candidate's access whose address begins at a sized object stays inside. Whoever uses the
    /// results must prove it: see [`Context::bounds`].
    pub(crate) fn claim_in_bounds(&mut self, address: TermId) {
        if self.bounds(address, 1).is_some() {
            self.accesses.claimed.insert(address);
        }
    }

    /// When an access that begins at a defined object of known size stays inside it.
    pub fn bounds(&mut self, address: TermId, bytes: u16) -> Option<TermId> {
        let (var, local) = self.base_object(address)?;
        if local.is_some() || self.is_shared(var) {
            return None;
        }
        let object = self.object(var)?;
        let exists = match object.kind {
            ObjectKind::Named { defined, .. } => defined,
            ObjectKind::Literal => true,
            ObjectKind::Section => false,
        };
        let size = self.object_size(var).filter(|s| exists && *s >= u64::from(bytes))?;
        let base = self.arena.var_term(var);
        let offset = self.arena.sub(address, base);
        let limit = self.arena.bv(64, size - u64::from(bytes));
        Some(self.arena.ule(offset, limit))
    }

    /// Size of a named or local object that certainly exists and that no other overlaps.
    pub fn extent(&self, var: VarId) -> Option<u64> {
        if let Some(local) = self.origins.locals.iter().position(|v| *v == var) {
            let binding = &self.bindings[local];
            return binding.original.or(binding.candidate).map(|i| i.size).filter(|_| !self.is_open_ended(local));
        }
        let named = matches!(self.object(var)?.kind, ObjectKind::Named { defined: true, .. });
        self.object_size(var).filter(|_| named && self.is_certain_object(var) && !self.is_shared(var))
    }

    /// May an object of either program share bytes with another one?
    fn is_shared(&self, var: VarId) -> bool {
        self.functions.iter().any(|f| f.objects.get(&var).is_some_and(|object| object.shared))
    }

    /// Does the term point to anonymous read-only data?
    pub fn is_literal(&self, term: TermId) -> bool {
        let object = self.arena.sort(term).width().filter(|w| *w == 64).and_then(|_| self.base_object(term));
        object.and_then(|(var, _)| self.object(var)).is_some_and(|o| o.kind == ObjectKind::Literal)
    }

    /// Is it the address of read-only bytes that are known and that no other file names: a literal, or what `__func__` is?
    pub fn is_text(&self, term: TermId) -> bool {
        let object = self.arena.sort(term).width().filter(|w| *w == 64).and_then(|_| self.base_object(term));
        let text = |o: &program::Object| match o.kind {
            ObjectKind::Literal => true,
            ObjectKind::Named { local, defined, function, .. } => {
                local && defined && !function && o.read_only && o.content.is_some()
            }
            ObjectKind::Section => false,
        };
        object.and_then(|(var, _)| self.object(var)).is_some_and(text)
    }

    /// Notes that the original accesses bytes at this address.
    pub(crate) fn note_original_address(&mut self, address: TermId, bytes: u16) {
        self.accesses.original.insert(address);
        // A wide store is cut into pieces.
        for at in 1..if bytes > 8 { bytes } else { 0 } {
            let inside = self.arena.add_const(address, i64::from(at));
            self.accesses.original.insert(inside);
        }
    }

    /// Notes a block that the original fills or copies, or that is filled for it.
    pub fn note_original_block(&mut self, address: TermId, length: TermId) {
        self.note_original_address(address, 1);
        self.note_block(address, length);
    }

    /// Notes a block that lies in the object that it begins in.
    pub fn note_block(&mut self, address: TermId, length: TermId) {
        self.accesses.blocks.insert((address, length));
    }

    /// The object that an access at this address stays inside, and whether `in-bounds` is needed for it.
    pub fn region(&self, address: TermId, bytes: u16) -> Option<Region> {
        let (var, local) = self.base_object(address).filter(|(var, _)| !self.is_shared(*var))?;
        let linear = Linear::of(self.arena, address);
        let size = match local {
            Some(local) => self.bindings[local].original.or(self.bindings[local].candidate).map(|i| i.size),
            None => self.object_size(var),
        };
        let offset = linear.constant.low();
        let constant = linear.terms.len() == 1;
        let certain = local.is_none_or(|local| !self.is_open_ended(local));
        if constant && certain && size.is_some_and(|s| offset <= s && s - offset >= u64::from(bytes)) {
            return Some(Region { var, local, offset: Some(offset), assumed: false, claimed: false });
        }
        if self.accesses.claimed.contains(&address) && !self.accesses.original.contains(&address) {
            return Some(Region { var, local, offset: constant.then_some(offset), assumed: false, claimed: true });
        }
        if self.accesses.original.contains(&address) && self.may_assume_defined() {
            return Some(Region { var, local, offset: constant.then_some(offset), assumed: true, claimed: false });
        }
        None
    }

    /// Could a pointer point into the local object? Not if all it is made of is older than the escape.
    pub(crate) fn may_reach_local(&mut self, pointer: TermId, local: usize) -> bool {
        let facts = self.facts(pointer);
        if facts.frame || facts.locals & 1 << local.min(63) != 0 {
            return true;
        }
        self.escapes.at[local].is_some_and(|escaped| facts.birth >= escaped)
    }

    /// Is the term made of the address of a local object?
    pub(crate) fn mentions_locals(&mut self, term: TermId) -> bool {
        self.facts(term).locals != 0
    }

    /// Was everything that the term is made of there before that time?
    pub(crate) fn older_than(&mut self, term: TermId, clock: u32) -> bool {
        self.facts(term).birth < clock
    }

    /// Name of an object variable for people.
    pub fn object_name(&self, var: VarId) -> String {
        if let Some(object) = self.object(var) {
            return object.name.clone();
        }
        match self.origins.locals.iter().position(|v| *v == var) {
            Some(local) => self.local_name(local),
            None => self.arena.var_name(var).to_string(),
        }
    }

    /// Name of a local object for people.
    pub fn local_name(&self, local: usize) -> String {
        let Some(interval) = self.bindings[local].original else { return format!("candidate's local {local}") };
        let named = self.functions[0].locals.iter().find(|l| l.offset == interval.offset);
        named.map_or_else(|| format!("frame{:+}", interval.offset), |l| l.name.clone())
    }

    /// A condition of one side on the alignment of addresses, decided where `rsp₀ ≡ 8 (mod 16)` or the object's alignment in
    /// that program decides it.
    pub fn settle_alignment(&mut self, side: Side, condition: TermId) -> TermId {
        let mut known: FxHashMap<VarId, TermId> = FxHashMap::default();
        for var in self.arena.free_vars(condition) {
            let (align, low) = if self.origins.entry_rsp.contains(&var) {
                self.assume(Assumption::AbiEntry);
                (16, 8)
            } else {
                match self.object_align(side, var) {
                    align if align.is_power_of_two() && align > 1 => (align.min(4096), 0),
                    _ => continue,
                }
            };
            let bits = align.trailing_zeros() as u16;
            let whole = self.arena.var_term(var);
            let high = self.arena.extract(whole, 63, bits);
            let low = self.arena.bv(bits, low);
            let aligned = self.arena.concat(high, low);
            known.insert(var, aligned);
        }
        if known.is_empty() {
            return condition;
        }
        let mut memo = FxHashMap::default();
        self.arena.substitute(condition, &mut |var| known.get(&var).copied(), &mut memo)
    }

    /// Registers of a side at entry, given its signature.
    pub(crate) fn register_hint(side: Side, register: Register) -> String {
        format!("{}.{}", register.name(), side.name())
    }
}

/// The object an access stays inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Variable of the object's address.
    pub var: VarId,
    /// Which local object, if it is one.
    pub local: Option<usize>,
    /// The offset, if constant.
    pub offset: Option<u64>,
    /// Was `in-bounds` used to know it?
    pub assumed: bool,
    /// Does it still have to be proved, of a candidate's access?
    pub claimed: bool,
}

/// An [`Stuck::Unsupported`].
pub(crate) fn unsupported(side: Side, address: u64, what: impl Into<String>) -> Stuck {
    Stuck::Unsupported { side, address, what: what.into() }
}
