//! Which lemmas the comparison of two functions needs, and which the proofs of those need.
//!
//! A comparison uses what callers give the original, what its callees do, and what statics hold that it mentions. What is
//! said of a function's body is shown by executing it; of what it is given, by executing its callers; of a static, by
//! executing who stores to it. Each execution uses the same things again. What is closed under that is an inductive set by itself.

use super::set::Set;
use super::{File, Surroundings, callees};
use program::contract::Fixed;
use program::{Function, Object, ObjectKind, Op};
use std::collections::{BTreeMap, BTreeSet};
use term::Arena;

/// Who calls, mentions and stores to what, in the original's file.
#[derive(Clone, Default, Debug)]
pub(super) struct CallGraph {
    /// By function.
    mentions: BTreeMap<String, Mentions>,
    /// By function: who calls it.
    callers: BTreeMap<String, BTreeSet<String>>,
    /// By object: who stores to it by its name, or to something around it.
    storers: BTreeMap<String, BTreeSet<String>>,
}

/// What one function mentions.
#[derive(Clone, Default, Debug)]
pub(super) struct Mentions {
    /// Functions that it calls, or whose address it has.
    functions: BTreeSet<String>,
    /// Objects.
    objects: BTreeSet<String>,
}

/// A pair that is to be compared, by names.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The original.
    pub original: String,
    /// The candidate.
    pub candidate: String,
}

/// What must be known.
#[derive(Clone, Default, Debug)]
struct Needed {
    /// Functions whose bodies matter.
    bodies: BTreeSet<String>,
    /// Functions of which it matters what they are given.
    entries: BTreeSet<String>,
    /// Objects of which it matters what they hold.
    statics: BTreeSet<String>,
    /// Functions that are executed for it.
    executed: BTreeSet<String>,
    /// Functions of which it matters how they are called.
    called: BTreeSet<String>,
}

impl Mentions {
    pub fn of(function: &Function) -> Mentions {
        let mut out = Mentions { functions: callees(function).map(str::to_string).collect(), ..Mentions::default() };
        for object in function.objects.values() {
            let is_function = matches!(object.kind, ObjectKind::Named { function: true, .. });
            let names = if is_function { &mut out.functions } else { &mut out.objects };
            names.insert(object.name.clone());
        }
        out
    }

    fn extend(&mut self, other: &Mentions) {
        self.functions.extend(other.functions.iter().cloned());
        self.objects.extend(other.objects.iter().cloned());
    }
}

/// Objects that a function's code stores to by their names. A section's name stands for every object in it.
pub(super) fn stored_objects<'f>(arena: &Arena, function: &'f Function) -> BTreeSet<&'f str> {
    let mut out = BTreeSet::new();
    for (_, op) in function.points.iter().flat_map(|point| &point.ops) {
        let Op::Store { address, .. } = op else { continue };
        for object in arena.free_vars(*address).into_iter().filter_map(|var| function.objects.get(&var)) {
            let inner = object.members.iter().filter_map(|member| function.objects.get(&member.var));
            out.extend(inner.chain([object]).map(|o: &Object| o.name.as_str()));
        }
    }
    out
}

impl CallGraph {
    pub fn of(file: &File) -> CallGraph {
        let mut out = CallGraph::default();
        for function in &file.functions {
            let name = || function.name.clone();
            for callee in callees(function) {
                out.callers.entry(callee.to_string()).or_default().insert(name());
            }
            for object in stored_objects(&file.arena, function) {
                out.storers.entry(object.to_string()).or_default().insert(name());
            }
            out.mentions.insert(name(), Mentions::of(function));
        }
        out
    }

    /// Lemmas that the comparisons of these pairs may use, and those that their proofs need.
    pub fn for_pairs(&self, set: &Set, around: &Surroundings, wanted: &[Wanted]) -> Set {
        let mut needed = Needed::default();
        let theirs: BTreeMap<&str, &Function> =
            around.candidate.functions.iter().map(|f| (f.name.as_str(), f)).collect();
        for pair in wanted {
            let mut mentions = self.mentions.get(&pair.original).cloned().unwrap_or_default();
            if let Some(candidate) = theirs.get(pair.candidate.as_str()) {
                mentions.extend(&Mentions::of(candidate));
            }
            self.compare(set, &pair.original, &mentions, &mut needed);
        }
        needed.restrict(set)
    }

    /// The same for one pair.
    pub fn for_pair(&self, set: &Set, [original, candidate]: [&Function; 2]) -> Set {
        let mut mentions = Mentions::of(original);
        mentions.extend(&Mentions::of(candidate));
        let mut needed = Needed::default();
        self.compare(set, &original.name, &mentions, &mut needed);
        needed.restrict(set)
    }

    /// What the comparison of a function uses.
    fn compare(&self, set: &Set, name: &str, mentions: &Mentions, needed: &mut Needed) {
        needed.called.insert(name.to_string());
        needed.called.extend(mentions.functions.iter().cloned());
        let mut open = Vec::new();
        self.use_mentions(set, name, mentions, needed, &mut open);
        while let Some(next) = open.pop() {
            if needed.executed.insert(next.clone()) {
                let mentions = self.mentions.get(&next).cloned().unwrap_or_default();
                self.use_mentions(set, &next, &mentions, needed, &mut open);
            }
        }
    }

    /// What an execution of a function uses, and who is to be executed to show that.
    fn use_mentions(&self, set: &Set, name: &str, mentions: &Mentions, needed: &mut Needed, open: &mut Vec<String>) {
        let contracts = &set.contracts;
        let own = contracts.get(name);
        if own.is_some_and(|c| !c.arguments.is_empty() || !c.ranges.is_empty())
            && needed.entries.insert(name.to_string())
        {
            open.extend(self.callers.get(name).into_iter().flatten().cloned());
        }
        // Functions that it is given.
        let given = own.into_iter().flat_map(|c| c.arguments.values().flatten()).filter_map(|value| match value {
            Fixed::Address(object, 0) => object.strip_prefix('&').map(str::to_string),
            _ => None,
        });
        for callee in mentions.functions.iter().cloned().chain(given) {
            needed.called.insert(callee.clone());
            if contracts.contains_key(&callee) && needed.bodies.insert(callee.clone()) {
                open.push(callee);
            }
        }
        for object in mentions.objects.iter().filter(|object| contracts.statics.contains_key(*object)) {
            if needed.statics.insert(object.clone()) {
                open.extend(self.storers.get(object).into_iter().flatten().cloned());
            }
        }
    }
}

impl Needed {
    /// What is needed of a set.
    fn restrict(&self, set: &Set) -> Set {
        let mut out = Set::default();
        out.contracts.twice.clone_from(&set.contracts.twice);
        for (name, contract) in &*set.contracts {
            let mut contract = contract.clone();
            if !self.bodies.contains(name) {
                super::forget_body(&mut contract);
            }
            if !self.entries.contains(name) {
                super::forget_callers(&mut contract);
            }
            if !self.called.contains(name) {
                super::set::forget_convention(&mut contract);
            }
            if super::set::says_something(&contract) {
                out.contracts.insert(name.clone(), contract);
            }
        }
        let statics = set.contracts.statics.iter().filter(|(name, _)| self.statics.contains(*name));
        out.contracts.statics = statics.map(|(name, values)| (name.clone(), values.clone())).collect();
        let heads = set.heads.iter().filter(|(name, _)| self.executed.contains(*name));
        out.heads = heads.map(|(name, ranges)| (name.clone(), ranges.clone())).collect();
        out
    }
}
