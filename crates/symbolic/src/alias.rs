//! How two accesses relate: the rules of aliasing, one named row each.
//!
//! The rows are asked in order and the first answer counts; if none answers, nobody can tell. Rows of [`BY_ADDRESS`] look at the
//! addresses alone, rows of [`OF_TWO_OBJECTS`] at accesses that both stay inside an object, rows of [`OF_ONE_OBJECT`] at an access
//! inside an object and one of which only the address is known. A row notes what it assumes.
//! `tests/aliasing.rs` has a fixture that each row decides and one that it must not.
//!
//! Trust: full. A read resolved with a wrong answer is what memory does not hold.

use crate::Context;
use crate::context::Region;
use program::{Assumption, Register};
use term::{Bits, Linear, Op as TermOp, Sort, TermId, VarId};

/// How two accesses relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alias {
    /// No byte in common.
    Disjoint,
    /// The first begins this many bytes after the second (possibly negative), and they overlap.
    Distance(i64),
    /// Cannot tell.
    May,
}

/// So many bytes at an address.
type Bytes = (TermId, u16);

/// A rule: its name, and what it says about two accesses, if anything.
struct Rule<Question> {
    name: &'static str,
    answer: fn(&mut Context<'_>, &Question) -> Option<Alias>,
}

/// An access that stays inside an object, and one of which only the address is known.
struct OneObject {
    region: Region,
    /// Bytes of the access inside the object.
    bytes: u16,
    other: Bytes,
}

const BY_ADDRESS: &[Rule<[Bytes; 2]>] = &[
    Rule { name: "known-distance", answer: known_distance },
    Rule { name: "volatile-trace", answer: |c, [a, b]| disjoint(c.is_trace(a.0) || c.is_trace(b.0)) },
    // Rules of its own: an interval, integers that do not wrap, or each case of a condition (`apart`).
    Rule { name: "compared-distance", answer: |c, [a, b]| disjoint(c.kept_apart(*a, *b)) },
    Rule { name: "thread-address", answer: thread_address },
];

const OF_TWO_OBJECTS: &[Rule<[Region; 2]>] = &[Rule { name: "different-objects", answer: different_objects }];

const OF_ONE_OBJECT: &[Rule<OneObject>] = &[
    Rule { name: "variadic-arguments", answer: variadic_arguments },
    Rule { name: "private-local", answer: private_local },
    Rule { name: "local-escaped-later", answer: local_escaped_later },
    Rule { name: "unaliased-static", answer: unaliased_static },
    Rule { name: "fresh-allocation", answer: fresh_allocation },
    Rule { name: "allocated-later", answer: allocated_later },
    Rule { name: "behind-object", answer: behind_object },
];

/// Names of all rules of aliasing.
pub fn alias_rules() -> Vec<&'static str> {
    let by_address = BY_ADDRESS.iter().map(|rule| rule.name);
    let of_two = OF_TWO_OBJECTS.iter().map(|rule| rule.name);
    by_address.chain(of_two).chain(OF_ONE_OBJECT.iter().map(|rule| rule.name)).collect()
}

impl Context<'_> {
    /// How an access of `n` bytes at `a` relates to one of `m` bytes at `b`.
    pub fn alias(&mut self, a: TermId, n: u16, b: TermId, m: u16) -> Alias {
        self.alias_by_rule(a, n, b, m).0
    }

    /// The same, with the name of the rule that says so.
    pub fn alias_by_rule(&mut self, a: TermId, n: u16, b: TermId, m: u16) -> (Alias, Option<&'static str>) {
        if let Some((answer, rule)) = self.ask(BY_ADDRESS, &[(a, n), (b, m)]) {
            return (answer, Some(rule));
        }
        let found = match (self.region(a, n), self.region(b, m)) {
            (None, None) => None,
            (Some(x), Some(y)) => self.ask(OF_TWO_OBJECTS, &[x, y]),
            (Some(region), None) => self.ask(OF_ONE_OBJECT, &OneObject { region, bytes: n, other: (b, m) }),
            (None, Some(region)) => self.ask(OF_ONE_OBJECT, &OneObject { region, bytes: m, other: (a, n) }),
        };
        found.map_or((Alias::May, None), |(answer, rule)| (answer, Some(rule)))
    }

    fn ask<Question>(&mut self, rules: &[Rule<Question>], question: &Question) -> Option<(Alias, &'static str)> {
        rules.iter().find_map(|rule| Some(((rule.answer)(self, question)?, rule.name)))
    }

    /// Notes that an access is taken to stay inside its object, if it is.
    fn assume_inside(&mut self, region: Region) {
        if region.assumed {
            let name = self.object_name(region.var);
            self.assume(Assumption::InBounds(name));
        }
    }
}

fn disjoint(holds: bool) -> Option<Alias> {
    holds.then_some(Alias::Disjoint)
}

/// The addresses differ by a number.
fn known_distance(context: &mut Context<'_>, &[(a, n), (b, m)]: &[Bytes; 2]) -> Option<Alias> {
    let distance = context.arena.difference(a, b)?.low() as i64;
    let disjoint = distance as u64 >= u64::from(m) && (distance.wrapping_neg()) as u64 >= u64::from(n);
    Some(if disjoint { Alias::Disjoint } else { Alias::Distance(distance) })
}

/// One is made of an address that the library gives for the thread, the other is not.
fn thread_address(context: &mut Context<'_>, &[(a, _), (b, _)]: &[Bytes; 2]) -> Option<Alias> {
    let given = [a, b].map(|address| context.mentions_thread_address(address));
    if given[0] == given[1] || !context.may_assume_defined() {
        return None;
    }
    context.assume(Assumption::ErrnoPrivate);
    Some(Alias::Disjoint)
}

/// Both stay inside objects, and these are two.
fn different_objects(context: &mut Context<'_>, &[x, y]: &[Region; 2]) -> Option<Alias> {
    if x.var == y.var || !context.may_assume_defined() {
        return None;
    }
    context.assume(Assumption::DisjointObjects);
    context.assume_inside(x);
    context.assume_inside(y);
    Some(Alias::Disjoint)
}

/// One is inside a named object, the other among the stack words that a variadic function was given.
fn variadic_arguments(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    let OneObject { region, other: (other, bytes), .. } = *question;
    let named = region.local.is_none() && !context.origins.allocations.contains_key(&region.var);
    if !named || !context.is_in_claimed_arguments(other, bytes) || !context.may_assume_defined() {
        return None;
    }
    context.assume(Assumption::DisjointObjects);
    context.assume_inside(region);
    Some(Alias::Disjoint)
}

/// One is inside a local object of which the other's address cannot know.
fn private_local(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    let local = question.region.local?;
    if context.may_reach_local(question.other.0, local) {
        return None;
    }
    context.assume(Assumption::FramePrivate);
    context.assume_inside(question.region);
    Some(Alias::Disjoint)
}

/// One is inside a local object, the other an index away from a pointer that was there before the object escaped.
fn local_escaped_later(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    let escaped = context.escapes.at[question.region.local?]?;
    if !context.is_based_before(question.other.0, escaped, question.region.var) {
        return None;
    }
    context.assume(Assumption::FramePrivate);
    context.assume_inside(question.region);
    Some(Alias::Disjoint)
}

/// One is inside a static whose address is never taken, the other's address is not made of it.
fn unaliased_static(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    let region = question.region;
    let unaliased = region.local.is_none() && context.may_assume_defined() && context.is_unaliased(region.var);
    if !unaliased || context.is_part_of(region.var, question.other.0) {
        return None;
    }
    let name = context.object_name(region.var);
    context.assume(Assumption::UnaliasedStatic(name));
    context.assume(Assumption::DisjointObjects);
    if context.origins.allocations.contains_key(&region.var) {
        context.assume(Assumption::FreshAllocation);
    }
    context.assume_inside(region);
    Some(Alias::Disjoint)
}

/// When the object of an access was allocated, if it was.
fn born(context: &Context<'_>, region: Region) -> Option<u32> {
    context.origins.allocations.get(&region.var).copied().filter(|_| region.local.is_none())
}

/// One is inside a new object, all of which the other's address is made was there before.
fn fresh_allocation(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    let born = born(context, question.region)?;
    if !context.older_than(question.other.0, born) {
        return None;
    }
    context.assume(Assumption::FreshAllocation);
    context.assume_inside(question.region);
    Some(Alias::Disjoint)
}

/// One is inside a new object, the other an index away from a pointer that was there before, or to another new object.
fn allocated_later(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    let born = born(context, question.region)?;
    if !context.is_based_before(question.other.0, born, question.region.var) {
        return None;
    }
    context.assume(Assumption::FreshAllocation);
    context.assume_inside(question.region);
    Some(Alias::Disjoint)
}

/// One is inside an object, the other so far behind a pointer that it lies behind the bytes of the first.
fn behind_object(context: &mut Context<'_>, question: &OneObject) -> Option<Alias> {
    disjoint(context.is_behind(question.other.0, question.region, question.bytes))
}

/// Distances from a pointer that are those of fields: what is nearer may be a mark in the pointer, what is farther an address
/// with an index.
const FIELDS: std::ops::Range<u64> = 8..4096;

impl Context<'_> {
    /// Is an address that the original accesses so far from a pointer that it lies behind these bytes of an object, wherever in
    /// the object the pointer points to? No pointer points in front of its object.
    fn is_behind(&mut self, address: TermId, region: Region, bytes: u16) -> bool {
        let known = self.accesses.original.contains(&address) && self.may_assume_defined();
        if !known || self.depends_on_frame(address) || self.mentions_locals(address) {
            return false;
        }
        let size = self.object(region.var).and_then(|object| object.size);
        let Some(end) = region.offset.map(|at| at.saturating_add(u64::from(bytes))).or(size) else { return false };
        let linear = Linear::of(self.arena, address);
        let &[(pointer, factor)] = &linear.terms[..] else { return false };
        let distance = linear.constant.low();
        let named = self.base_object(pointer).is_some() || self.is_given_number(pointer);
        if named || !FIELDS.contains(&distance) || distance < end || factor.to_i64() != Some(1) {
            return false;
        }
        let free = self.arena.free_vars(pointer);
        if self.is_narrow(pointer) || free.iter().any(|var| self.is_candidate_value(*var)) {
            return false;
        }
        let text = self.arena.text(pointer);
        self.assume(Assumption::InBounds(text));
        self.assume(Assumption::DisjointObjects);
        if region.assumed {
            let name = self.object_name(region.var);
            self.assume(Assumption::InBounds(name));
        }
        true
    }

    /// Is an address that the original accesses an index away from a pointer that was there before that time, or to another
    /// new object? Then it lies in what the pointer points to, and not in an object that came to be reached later. What is
    /// scaled, or extended from 32 bits, is an index; of what else there is must be one.
    fn is_based_before(&mut self, address: TermId, clock: u32, object: VarId) -> bool {
        let known = self.accesses.original.contains(&address) && self.may_assume_defined();
        if !known || self.depends_on_frame(address) || self.mentions_locals(address) {
            return false;
        }
        let linear = Linear::of(self.arena, address);
        let mut base = None;
        for (part, factor) in &linear.terms {
            // What the candidate computes may be a distance between two objects.
            let free = self.arena.free_vars(*part);
            if !self.is_narrow(*part) && free.iter().any(|var| self.is_candidate_value(*var)) {
                return false;
            }
            if self.is_index(*part, *factor) {
                continue;
            }
            if factor.to_i64() != Some(1) || base.replace(*part).is_some() {
                return false;
            }
        }
        let Some(base) = base.filter(|base| self.points_elsewhere(*base, clock, object)) else { return false };
        // Nothing is derived from a number; and what is made of the object's own address leads back to it.
        if self.is_given_number(base) || self.arena.free_vars(address).contains(&object) {
            return false;
        }
        let text = self.arena.text(base);
        self.assume(Assumption::InBounds(text));
        true
    }

    /// Is this an argument that nobody declares to be a pointer?
    fn is_given_number(&self, value: TermId) -> bool {
        let Some(register) = self.arena.as_var(value).and_then(Register::of_var) else { return false };
        let here = |v: &program::Value| v.place == program::Place::Register(register);
        !self.functions[0].parameters.iter().any(|p| p.pointer && p.values.iter().any(here))
    }

    /// Is a part of an address extended from 32 bits or less?
    fn is_narrow(&self, part: TermId) -> bool {
        let extended = matches!(self.arena.op(part), TermOp::Zext(_) | TermOp::Sext(_));
        extended && self.arena.width(self.arena.args(part)[0]) <= 32
    }

    /// Is a part of an address no pointer: extended from 32 bits, or scaled?
    fn is_index(&self, part: TermId, factor: Bits) -> bool {
        self.is_narrow(part) || factor.to_i64().is_some_and(|f| !(-1..=1).contains(&f))
    }

    /// Is a value older than that time, or the address of another new object, whichever way it was chosen?
    fn points_elsewhere(&mut self, value: TermId, clock: u32, object: VarId) -> bool {
        if self.older_than(value, clock) {
            return true;
        }
        if let Some(var) = self.arena.as_var(value) {
            let fresh = var != object && self.origins.allocations.contains_key(&var);
            if fresh {
                self.assume(Assumption::FreshAllocation);
            }
            return fresh;
        }
        if self.arena.op(value) == TermOp::Ite {
            let [_, a, b] = *self.arena.args(value) else { return false };
            return self.points_elsewhere(a, clock, object) && self.points_elsewhere(b, clock, object);
        }
        false
    }

    /// Are these bytes on the stack, among those claimed of what a variadic function was given? Who owns them is not known:
    /// the caller may have given less.
    pub(crate) fn is_in_claimed_arguments(&self, address: TermId, bytes: u16) -> bool {
        let Some((_, Some(local))) = self.base_object(address) else { return false };
        let linear = Linear::of(self.arena, address);
        let size = self.bindings[local].original.map_or(0, |i| i.size);
        let offset = linear.constant.low();
        self.is_incoming(local) && linear.terms.len() == 1 && offset <= size && size - offset >= u64::from(bytes)
    }

    /// Is an address made of one that the library gives for the thread, as that of `errno`? What is loaded from there is
    /// another address.
    fn mentions_thread_address(&self, address: TermId) -> bool {
        Linear::of(self.arena, address).terms.iter().any(|(term, _)| self.library_location(*term).is_some())
    }

    /// Bytes that the library keeps at an address that it gives for the thread.
    pub fn library_location(&self, address: TermId) -> Option<u16> {
        let TermOp::Apply(function) = self.arena.op(address) else { return None };
        let term::Func::Opaque { name, .. } = self.arena.func(function) else { return None };
        match name.strip_prefix("__ctype_") {
            Some(table) => table.ends_with("_loc").then_some(8),
            None => name.ends_with("errno_location").then_some(4),
        }
    }

    /// Is this a static of the original's file whose address nobody has?
    fn is_unaliased(&self, var: VarId) -> bool {
        self.functions[0].objects.get(&var).is_some_and(|o| o.unaliased)
    }

    /// Does an address contain that of the object, other than as a place in memory that something was loaded from?
    fn is_part_of(&self, var: VarId, address: TermId) -> bool {
        let outside = |t: TermId| !matches!(self.arena.op(t), TermOp::Load(_)) && self.arena.sort(t) != Sort::Memory;
        let vars = |roots: &[TermId]| -> Vec<VarId> {
            let parts = self.arena.topological_where(roots, outside);
            parts.into_iter().filter_map(|t| self.arena.as_var(t)).collect()
        };
        if vars(&[address]).contains(&var) {
            return true;
        }
        // Where the original accesses it, too, an index is an index, whoever computes it.
        let linear = Linear::of(self.arena, address);
        let pointers =
            linear.terms.iter().filter(|(part, factor)| !self.is_index(*part, *factor)).map(|(part, _)| *part);
        let pointers: Vec<TermId> = match self.accesses.original.contains(&address) {
            true => pointers.collect(),
            false => vec![address],
        };
        if vars(&pointers).into_iter().any(|v| self.is_candidate_value(v)) {
            return true;
        }
        // The candidate may keep the address in a memory of its own.
        self.has_candidate_memories() && self.arena.free_vars(address).iter().any(|v| self.is_candidate_value(*v))
    }
}
