//! Comparison of a value of the original with a value of the candidate.
//!
//! Two values of one run are the same if they have the same number, or are built in the same way from values that are
//! the same, or if a hypothesis about the block's entry says so. What the hypotheses are is the caller's business: a
//! checker looks them up in a certificate, a search writes down what it needs.
//!
//! Looser than plain congruence are:
//! - a value of the original that does not matter equals anything, but the same thing each time;
//! - arguments that commute, and the terms of a sum, may be paired in any order;
//! - where the program may have been reordered, a load may see another version of memory if the stores between do not
//!   touch its bytes; where that does not follow from the addresses it is noted in [`Memory::unaliased`].

use crate::run::{EventKind, Run, SET};
use crate::values::{IMMUTABLE, Id, Ids, Kind, Terms, Values};
use crate::{Agreement, Commute};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// How likely it is that two values are the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Evidence {
    /// They cannot be.
    No,
    /// A location against something computed: possible, but rarely meant.
    Unlikely,
    /// They may be.
    Maybe,
    /// It is already known.
    Yes,
}

/// What is known, or wanted, of the entry states.
pub trait Hypotheses {
    /// Do hypotheses only answer? Then ways of pairing are tried one after the other.
    const EXACT: bool;
    /// May the two values be equal, as far as a run tells?
    fn agree(&mut self, values: &mut Values, original: Id, candidate: Id) -> Agreement;
    /// How likely is it that these are equal at entry?
    fn evidence(&mut self, values: &mut Values, original: Id, candidate: Id) -> Evidence;
    /// Which two values the next requirement is an argument of; `None` if it is the compared value itself.
    fn used_by(&mut self, _: Option<(Id, Id)>) {}
    /// They must be equal at entry. `false` refuses.
    fn require(&mut self, values: &mut Values, original: Id, candidate: Id) -> bool;
    /// Two ways of pairing are equally likely. `true` if the comparison will be asked for again later.
    fn postpone(&mut self) -> bool;
}

/// Where a comparison failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The pairs from the outermost to the one that differs.
    pub trail: Vec<(Id, Id)>,
}

/// What comparisons of one pair of runs remember.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    known: FxHashMap<(Id, Id), bool>,
    bound: FxHashMap<u32, Vec<(u16, u16, Id)>>,
    /// May a load have changed places with stores?
    may_reorder: bool,
    /// Loads and stores, as instructions of the original, that were taken not to overlap.
    pub unaliased: Vec<(u32, u32)>,
    /// Was an order of floating-point arguments ignored?
    pub nan_payload: bool,
}

impl Memory {
    /// Nothing compared yet. If loads and stores are not known to have been reordered, each load sees its own version.
    pub fn new(may_reorder: bool) -> Memory {
        Memory { may_reorder, ..Memory::default() }
    }
}

/// Compares values of two runs.
pub struct Matcher<'a, H: Hypotheses> {
    /// The values of both.
    pub values: &'a mut Values,
    /// What the original did.
    pub original: &'a Run,
    /// What the candidate did.
    pub candidate: &'a Run,
    /// What is known.
    pub hypotheses: &'a mut H,
    /// What was compared before.
    pub memory: &'a mut Memory,
    /// The first failure.
    pub mismatch: Option<Mismatch>,
    trail: Vec<(Id, Id)>,
    /// Was something put off, so that nothing is known yet?
    pub postponed: bool,
}

/// Deepest comparison; more is refused.
const DEEPEST: usize = 2000;
/// How deep to look for evidence.
const GLANCE: usize = 3;

impl<'a, H: Hypotheses> Matcher<'a, H> {
    /// A matcher.
    pub fn new(
        values: &'a mut Values,
        original: &'a Run,
        candidate: &'a Run,
        hypotheses: &'a mut H,
        memory: &'a mut Memory,
    ) -> Matcher<'a, H> {
        Matcher { values, original, candidate, hypotheses, memory, mismatch: None, trail: Vec::new(), postponed: false }
    }

    /// Are the two values the same?
    pub fn same(&mut self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        if let Some(known) = self.memory.known.get(&(a, b)).copied() {
            if !known {
                self.fail(a, b);
            }
            return known;
        }
        if self.trail.len() >= DEEPEST {
            self.fail(a, b);
            return false;
        }
        self.trail.push((a, b));
        let same = self.compare(a, b);
        self.trail.pop();
        if !same {
            self.fail(a, b);
        }
        if !self.postponed {
            self.memory.known.insert((a, b), same);
        }
        same
    }

    fn fail(&mut self, a: Id, b: Id) {
        if self.mismatch.is_none() {
            let mut trail = self.trail.clone();
            trail.push((a, b));
            self.mismatch = Some(Mismatch { trail });
        }
    }

    fn compare(&mut self, a: Id, b: Id) -> bool {
        let bits = self.values.bits(a);
        if bits != self.values.bits(b) {
            return false;
        }
        let (kind_a, kind_b) = (self.values.kind(a), self.values.kind(b));
        if let Kind::Undefined(number, first) = kind_a {
            return number == 0 || self.bind(number, first, bits, b);
        }
        if kind_a == Kind::Concat || kind_b == Kind::Concat {
            return self.compare_parts(a, b);
        }
        if is_input(self.values, a) || is_input(self.values, b) {
            let portable = self.values.is_portable(a) && self.values.is_portable(b);
            let user = self
                .trail
                .iter()
                .rev()
                .skip(1)
                .find(|(x, _)| matches!(self.values.kind(*x), Kind::Apply(..) | Kind::Load(_)));
            self.hypotheses.used_by(user.copied());
            return portable && self.hypotheses.require(self.values, a, b);
        }
        match (kind_a, kind_b) {
            (Kind::Linear(_), _) | (_, Kind::Linear(_)) => self.compare_sums(a, b),
            (Kind::Extract(x), Kind::Extract(y)) if x == y => {
                let (a, b) = (self.values.arg(a, 0), self.values.arg(b, 0));
                self.same(a, b)
            }
            (Kind::Result(x), Kind::Result(y)) if x == y => {
                let (a, b) = (self.values.arg(a, 0), self.values.arg(b, 0));
                self.same(a, b)
            }
            (Kind::Apply(x, commute), Kind::Apply(y, other)) if (x, commute) == (y, other) => {
                self.compare_args(a, b, commute)
            }
            (Kind::Load(x), Kind::Load(y)) => {
                let arity = self.values.arity(a);
                arity == self.values.arity(b) && self.same_args(a, b) && self.same_version(a, x, y)
            }
            _ => false,
        }
    }

    fn bind(&mut self, number: u32, first: u16, bits: u16, to: Id) -> bool {
        let bound = self.memory.bound.entry(number).or_default();
        if let Some((.., old)) = bound.iter().find(|(f, n, _)| (*f, *n) == (first, bits)) {
            return *old == to;
        }
        if bound.iter().any(|(f, n, _)| *f < first + bits && first < *f + *n) {
            return false;
        }
        bound.push((first, bits, to));
        true
    }

    fn compare_parts(&mut self, a: Id, b: Id) -> bool {
        let bits = self.values.bits(a);
        let mut cuts: SmallVec<[u16; 8]> = smallvec![bits];
        for id in [a, b] {
            if self.values.kind(id) == Kind::Concat {
                let mut at = 0;
                for part in self.values.args(id) {
                    at += self.values.bits(part);
                    cuts.push(at);
                }
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut low = 0;
        for cut in cuts {
            let (x, y) = (self.values.extract(a, low, cut - low), self.values.extract(b, low, cut - low));
            if !self.same(x, y) {
                return false;
            }
            low = cut;
        }
        true
    }

    fn same_args(&mut self, a: Id, b: Id) -> bool {
        (0..self.values.arity(a)).all(|i| {
            let (x, y) = (self.values.arg(a, i), self.values.arg(b, i));
            self.same(x, y)
        })
    }

    fn compare_args(&mut self, a: Id, b: Id, commute: Commute) -> bool {
        let arity = self.values.arity(a);
        if arity != self.values.arity(b) {
            return false;
        }
        if !commutes(commute) || arity < 2 {
            return self.same_args(a, b);
        }
        let [a0, a1, b0, b1] = [(a, 0), (a, 1), (b, 0), (b, 1)].map(|(id, i)| self.values.arg(id, i));
        let rest = (2..arity).all(|i| {
            let (x, y) = (self.values.arg(a, i), self.values.arg(b, i));
            self.same(x, y)
        });
        if !rest {
            return false;
        }
        let floating = commute == Commute::FloatingPoint;
        let cross = if H::EXACT {
            if self.attempt(&[(a0, b0), (a1, b1)]) {
                return true;
            }
            true
        } else {
            if self.is_known(a0, b0) && self.is_known(a1, b1) {
                return true;
            }
            let straight = self.agree(a0, b0).min(self.agree(a1, b1));
            let crossed = self.agree(a0, b1).min(self.agree(a1, b0));
            if straight == crossed && straight > Agreement::Differ {
                match self.weigh([a0, a1, b0, b1], floating) {
                    Some(cross) => cross,
                    None => return true,
                }
            } else {
                crossed > straight
            }
        };
        if cross && floating {
            self.memory.nan_payload = true;
        }
        let (b0, b1) = if cross { (b1, b0) } else { (b0, b1) };
        self.same(a0, b0) && self.same(a1, b1)
    }

    fn is_known(&self, a: Id, b: Id) -> bool {
        a == b || self.memory.known.get(&(a, b)) == Some(&true)
    }

    fn agree(&mut self, a: Id, b: Id) -> Agreement {
        if a == b {
            return Agreement::Equal;
        }
        if self.values.bits(a) != self.values.bits(b) {
            return Agreement::Differ;
        }
        self.hypotheses.agree(self.values, a, b)
    }

    /// Compares without noting a failure.
    fn attempt(&mut self, pairs: &[(Id, Id)]) -> bool {
        let before = self.mismatch.take();
        let same = pairs.iter().all(|(x, y)| self.same(*x, *y));
        self.mismatch = before;
        same
    }

    /// Should the arguments be crossed? `None` if that was put off.
    fn weigh(&mut self, [a0, a1, b0, b1]: [Id; 4], floating: bool) -> Option<bool> {
        let both = |x: Evidence, y: Evidence| (x.min(y), x.max(y));
        let straight = both(self.glance(a0, b0, GLANCE), self.glance(a1, b1, GLANCE));
        let crossed = both(self.glance(a0, b1, GLANCE), self.glance(a1, b0, GLANCE));
        let open = straight.0 > Evidence::No && straight.0 < Evidence::Yes;
        let ambiguous = open && straight == crossed && a0 != a1 && b0 != b1;
        if ambiguous && !floating && self.hypotheses.postpone() {
            self.postponed = true;
            return None;
        }
        Some(crossed > straight)
    }

    /// Pairs the terms of two sums; one term left on one side equals the rest of the other.
    fn compare_sums(&mut self, a: Id, b: Id) -> bool {
        let bits = self.values.bits(a);
        let ((ca, mut left), (cb, mut right)) = (self.values.terms(a), self.values.terms(b));
        if H::EXACT {
            self.pair_exactly(&mut left, &mut right);
            return self.compare_rest(ca, &left, cb, &right, bits);
        }
        if ca == cb && is_forced(&mut left, &mut right) {
            return left.iter().zip(&right).all(|((_, x), (_, y))| self.same(*x, *y));
        }
        let mut pairs: Vec<(Id, Id)> = Vec::new();
        while let Some((evidence, alone, i, j)) = self.best_pair(&left, &right) {
            let certain = evidence == Evidence::Yes || alone && left.len() == right.len();
            if !certain && self.is_open(&left, &right) && self.hypotheses.postpone() {
                self.postponed = true;
                return true;
            }
            pairs.push((left.remove(i).1, right.remove(j).1));
        }
        let paired = pairs.into_iter().all(|(x, y)| self.same(x, y));
        paired && self.compare_rest(ca, &left, cb, &right, bits)
    }

    /// The likeliest pair of terms: how likely, whether it is the only one with its factor, and where they are.
    fn best_pair(&mut self, left: &[(u64, Id)], right: &[(u64, Id)]) -> Option<(Evidence, bool, usize, usize)> {
        let count = |terms: &[(u64, Id)], factor: u64| terms.iter().filter(|(f, _)| *f == factor).count();
        let mut best: Option<(Evidence, bool, usize, usize)> = None;
        for (i, (factor, x)) in left.iter().enumerate() {
            let alone = count(left, *factor) == 1 && count(right, *factor) == 1;
            for (j, (other, y)) in right.iter().enumerate() {
                if factor != other || self.agree(*x, *y) == Agreement::Differ {
                    continue;
                }
                let evidence = self.glance(*x, *y, GLANCE);
                if evidence > Evidence::No && best.is_none_or(|(e, lonely, ..)| (evidence, alone) > (e, lonely)) {
                    best = Some((evidence, alone, i, j));
                }
            }
        }
        best
    }

    /// Removes the terms that are the same on both sides.
    fn pair_exactly(&mut self, left: &mut Terms, right: &mut Terms) {
        left.retain(|&mut (factor, x)| {
            let found = (0..right.len()).find(|j| right[*j].0 == factor && self.attempt(&[(x, right[*j].1)]));
            if let Some(j) = found {
                right.remove(j);
            }
            found.is_none()
        });
    }

    /// Is there more than one way to pair what is left?
    fn is_open(&mut self, left: &[(u64, Id)], right: &[(u64, Id)]) -> bool {
        let mut ways = 0;
        for (factor, x) in left {
            for (other, y) in right {
                let possible = factor == other
                    && self.agree(*x, *y) > Agreement::Differ
                    && self.glance(*x, *y, GLANCE) > Evidence::No;
                ways += usize::from(possible);
            }
        }
        ways > left.len().min(right.len())
    }

    fn compare_rest(&mut self, ca: u64, left: &[(u64, Id)], cb: u64, right: &[(u64, Id)], bits: u16) -> bool {
        let minus_one = crate::values::low_mask(bits);
        match (left, right) {
            ([], []) => ca == cb,
            ([(factor, x)], _) if is_unit(*factor, minus_one) && is_input(self.values, *x) => {
                let rest = self.solve(*factor, cb.wrapping_sub(ca), right, bits);
                self.same(*x, rest)
            }
            (_, [(factor, y)]) if is_unit(*factor, minus_one) && is_input(self.values, *y) => {
                let rest = self.solve(*factor, ca.wrapping_sub(cb), left, bits);
                self.same(rest, *y)
            }
            _ => false,
        }
    }

    /// x * factor + rest = other, so x = (other - rest) * factor for a factor of 1 or -1.
    fn solve(&mut self, factor: u64, constant: u64, terms: &[(u64, Id)], bits: u16) -> Id {
        let scaled: Terms = terms.iter().map(|(f, t)| (f.wrapping_mul(factor), *t)).collect();
        self.values.linear(constant.wrapping_mul(factor), &scaled, bits)
    }

    /// May two versions of memory be told apart by this load?
    fn same_version(&mut self, load: Id, x: u32, y: u32) -> bool {
        if x == y {
            return true;
        }
        if !self.memory.may_reorder || x == IMMUTABLE || y == IMMUTABLE || self.values.arity(load) == 0 {
            return false;
        }
        let (before, after) = (set_of(self.original, x), set_of(self.candidate, y));
        let differing: Vec<u32> = before
            .iter()
            .filter(|n| !after.contains(n))
            .chain(after.iter().filter(|n| !before.contains(n)))
            .copied()
            .collect();
        let address = self.values.arg(load, 0);
        let bytes = self.values.bits(load) / 8;
        let reader = self.original.producer(load).unwrap_or(0);
        for number in differing {
            let Some(event) = self.original.events.get(number as usize) else { return false };
            let EventKind::Store(stored) = event.kind else { return false };
            // With a segment register the addresses alone say nothing.
            let flat = self.values.arity(load) == 1 && event.args.len() == 2;
            let overlaps = if flat { overlap(self.values, address, bytes, event.args[1], stored / 8) } else { None };
            match overlaps {
                Some(true) => return false,
                Some(false) => {}
                None => self.memory.unaliased.push((reader, event.instruction)),
            }
        }
        true
    }

    /// Looks whether two values may be the same, without asking for anything.
    pub fn plausible(&mut self, a: Id, b: Id) -> Evidence {
        self.glance(a, b, GLANCE)
    }

    fn glance(&mut self, a: Id, b: Id, depth: usize) -> Evidence {
        if a == b {
            return Evidence::Yes;
        }
        let values = &*self.values;
        if values.bits(a) != values.bits(b) {
            return Evidence::No;
        }
        if let Some(known) = self.memory.known.get(&(a, b)) {
            return if *known { Evidence::Yes } else { Evidence::No };
        }
        let (kind_a, kind_b) = (values.kind(a), values.kind(b));
        if matches!(kind_a, Kind::Undefined(..)) || kind_a == Kind::Concat || kind_b == Kind::Concat {
            return self.glance_parts(a, b, depth);
        }
        if is_input(values, a) || is_input(values, b) {
            if !values.is_portable(a) || !values.is_portable(b) {
                return Evidence::No;
            }
            return self.hypotheses.evidence(self.values, a, b);
        }
        if depth == 0 {
            return Evidence::Maybe;
        }
        match (kind_a, kind_b) {
            (Kind::Linear(_), _) | (_, Kind::Linear(_)) => self.glance_sums(a, b, depth),
            (Kind::Extract(x), Kind::Extract(y)) if x == y => {
                let (a, b) = (values.arg(a, 0), values.arg(b, 0));
                self.glance(a, b, depth)
            }
            (Kind::Result(x), Kind::Result(y)) if x == y => {
                let (a, b) = (values.arg(a, 0), values.arg(b, 0));
                self.glance(a, b, depth)
            }
            (Kind::Apply(x, commute), Kind::Apply(y, _)) if x == y && values.arity(a) == values.arity(b) => {
                self.glance_args(a, b, commute, depth - 1)
            }
            (Kind::Load(x), Kind::Load(y)) if values.arity(a) == values.arity(b) => {
                let args = self.glance_args(a, b, Commute::Never, depth - 1);
                if x == y { args } else { args.min(Evidence::Maybe) }
            }
            _ => Evidence::No,
        }
    }

    fn glance_parts(&mut self, a: Id, b: Id, depth: usize) -> Evidence {
        let values = &*self.values;
        if matches!(values.kind(a), Kind::Undefined(..)) {
            return Evidence::Maybe;
        }
        let (left, right): (Ids, Ids) = match (values.kind(a), values.kind(b)) {
            (Kind::Concat, Kind::Concat) => (values.args(a).collect(), values.args(b).collect()),
            (Kind::Concat, Kind::Constant(value)) => return glance_constant(values, a, value),
            (Kind::Constant(value), Kind::Concat) => return glance_constant(values, b, value),
            _ => return Evidence::Unlikely,
        };
        let aligned =
            left.len() == right.len() && left.iter().zip(&right).all(|(x, y)| values.bits(*x) == values.bits(*y));
        if !aligned {
            return Evidence::Maybe;
        }
        let mut worst = Evidence::Yes;
        for (x, y) in left.iter().zip(&right) {
            worst = worst.min(self.glance(*x, *y, depth));
        }
        worst
    }

    fn glance_args(&mut self, a: Id, b: Id, commute: Commute, depth: usize) -> Evidence {
        let (left, right): (Ids, Ids) = (self.values.args(a).collect(), self.values.args(b).collect());
        let mut worst = Evidence::Yes;
        let mut from = 0;
        if commutes(commute) && left.len() >= 2 {
            let straight = self.glance(left[0], right[0], depth).min(self.glance(left[1], right[1], depth));
            let crossed = if straight == Evidence::Yes {
                straight
            } else {
                self.glance(left[0], right[1], depth).min(self.glance(left[1], right[0], depth))
            };
            worst = straight.max(crossed);
            from = 2;
        }
        for i in from..left.len() {
            if worst == Evidence::No {
                break;
            }
            worst = worst.min(self.glance(left[i], right[i], depth));
        }
        worst
    }

    fn glance_sums(&mut self, a: Id, b: Id, depth: usize) -> Evidence {
        let ((ca, left), (cb, right)) = (self.values.terms(a), self.values.terms(b));
        if left.len() != right.len() || ca != cb {
            let values = &*self.values;
            let inputs = |terms: &[(u64, Id)]| terms.iter().any(|(_, t)| is_input(values, *t));
            return if inputs(&left) || inputs(&right) { Evidence::Unlikely } else { Evidence::No };
        }
        let mut worst = Evidence::Yes;
        for (factor, x) in &left {
            let mut best = Evidence::No;
            for (_, y) in right.iter().filter(|(f, _)| f == factor) {
                best = best.max(self.glance(*x, *y, depth - 1));
            }
            worst = worst.min(best);
        }
        worst
    }
}

/// Is there one term with each factor on either side? They are brought into one order.
fn is_forced(left: &mut Terms, right: &mut Terms) -> bool {
    if left.len() != right.len() {
        return false;
    }
    left.sort_unstable();
    right.sort_unstable();
    let factors = |terms: &Terms| terms.windows(2).all(|pair| pair[0].0 < pair[1].0);
    factors(left) && left.iter().zip(right.iter()).all(|((f, _), (g, _))| f == g)
}

fn commutes(commute: Commute) -> bool {
    matches!(commute, Commute::FirstTwo | Commute::FloatingPoint)
}

/// May these parts together be the number?
fn glance_constant(values: &Values, parts: Id, value: u64) -> Evidence {
    let mut at = 0u32;
    for part in values.args(parts) {
        let bits = values.bits(part);
        let wanted = if at >= 64 { 0 } else { value >> at & crate::values::low_mask(bits) };
        match values.kind(part) {
            Kind::Constant(there) if there == wanted => {}
            Kind::Undefined(..) => {}
            _ if is_input(values, part) => {}
            _ => return Evidence::No,
        }
        at += u32::from(bits);
    }
    Evidence::Unlikely
}

fn is_unit(factor: u64, minus_one: u64) -> bool {
    factor == 1 || factor == minus_one
}

/// Is it (part of) what a location held at entry?
pub fn is_input(values: &Values, id: Id) -> bool {
    match values.kind(id) {
        Kind::Input(..) => true,
        Kind::Extract(_) => matches!(values.kind(values.arg(id, 0)), Kind::Input(..)),
        _ => false,
    }
}

fn set_of(run: &Run, version: u32) -> Vec<u32> {
    if version >= SET {
        return run.sets.get((version - SET) as usize).cloned().unwrap_or_default();
    }
    (0..version).collect()
}

/// Do two accesses overlap? `None` if the addresses do not tell.
pub fn overlap(values: &Values, a: Id, bytes_a: u16, b: Id, bytes_b: u16) -> Option<bool> {
    let ((ca, left), (cb, right)) = (values.terms(a), values.terms(b));
    if left != right {
        return None;
    }
    let distance = cb.wrapping_sub(ca);
    let back = ca.wrapping_sub(cb);
    Some(!(distance >= u64::from(bytes_a) && back >= u64::from(bytes_b)))
}
