//! Guesses which parts of the two frames are the same local object.
//!
//! The kernel says where a frame address is used as data without a local object claimed for it. Debug information of
//! the original tells the object's extent; the candidate's place follows from the argument or access at the same
//! position.
//!
//! Trust: none. A wrong guess yields a certificate the kernel rejects.

use kernel::{Certificate, LocalClaim};
use program::{Function, Side};
use symbolic::{Binding, Interval};
use term::TermId;

/// Bytes of the area where a variadic function saves its argument registers.
const SAVE_AREA: u64 = 176;
/// Bytes claimed of the stack arguments of a variadic function; how many there are nobody knows.
const OVERFLOW_AREA: u64 = 256;

/// The local objects claimed so far.
#[derive(Clone, Default)]
pub(crate) struct Bindings {
    claims: Vec<Claim>,
}

#[derive(Clone)]
struct Claim {
    binding: Binding,
    /// Where in the object the original's address pointed when the claim was made.
    first_use: i64,
    /// What the address was offset by.
    index: Option<TermId>,
}

impl Bindings {
    /// Is nothing claimed?
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// The claims as a certificate holds them.
    pub fn to_claims(&self) -> Vec<LocalClaim> {
        self.claims.iter().map(|c| LocalClaim::of(&c.binding)).collect()
    }

    /// All objects claimed so far.
    pub fn all(&self) -> Vec<Binding> {
        self.claims.iter().map(|c| c.binding).collect()
    }

    /// Where the original's objects lie that others can reach, with their numbers: offset, size.
    pub fn reachable(&self) -> Vec<(usize, i64, u64)> {
        let numbered = self.claims.iter().map(|c| &c.binding).enumerate().filter(|(_, b)| b.escapes);
        numbered.filter_map(|(i, b)| b.original.map(|o| (i, o.offset, o.size))).collect()
    }

    /// A certificate with these claims and nothing else.
    pub fn certificate(&self, original: &Function, candidate: &Function) -> Certificate {
        Certificate {
            version: kernel::VERSION,
            original: original.name.clone(),
            candidate: candidate.name.clone(),
            original_hash: original.hash.clone(),
            candidate_hash: candidate.hash.clone(),
            assume: Vec::new(),
            axioms: Vec::new(),
            locals: self.to_claims(),
            cuts: Default::default(),
            points: Vec::new(),
            edges: Vec::new(),
            lemmas: Vec::new(),
            effort: None,
        }
    }

    /// Both sides pass the address of a local object. Returns false if that contradicts earlier claims.
    pub fn pair(&mut self, original: &Function, at_original: i64, at_candidate: i64) -> bool {
        if let Some(claim) =
            self.claims.iter_mut().find(|c| c.binding.original.is_some_and(|i| i.contains(at_original)))
        {
            let interval = claim.binding.original.expect("found by it");
            let candidate = Interval { offset: at_candidate - (at_original - interval.offset), size: interval.size };
            let news = !claim.binding.escapes || claim.binding.candidate.is_none();
            if claim.binding.candidate.is_some_and(|c| c != candidate) {
                return false;
            }
            claim.binding.escapes = true;
            claim.binding.candidate = Some(candidate);
            return news;
        }
        let interval = self.extent(original, at_original);
        let first_use = at_original - interval.offset;
        if at_original >= 0 && at_original != at_candidate {
            return false;
        }
        // An object that only the candidate was known to have is this one.
        let mirrored = Interval { offset: at_candidate - first_use, size: interval.size };
        self.claims.retain(|c| c.binding.original.is_some() || !overlap(c.binding.candidate, Some(mirrored)));
        self.claims.push(Claim {
            binding: Binding { original: Some(interval), candidate: Some(mirrored), escapes: true },
            first_use,
            index: None,
        });
        true
    }

    /// One side uses a frame address as data. Returns false if nothing new can be claimed.
    pub fn single(
        &mut self,
        original: &Function,
        side: Side,
        offset: i64,
        escapes: bool,
        index: Option<TermId>,
    ) -> bool {
        if let Some(claim) =
            self.claims.iter_mut().find(|c| c.binding.interval(side).is_some_and(|i| i.contains(offset)))
        {
            let news = escapes && !claim.binding.escapes;
            claim.binding.escapes |= escapes;
            return news;
        }
        match side {
            _ if offset >= 0 => {
                // Incoming arguments are at the same place on both sides.
                let interval = self.extent(original, offset);
                let binding = Binding { original: Some(interval), candidate: Some(interval), escapes };
                self.claims.push(Claim { binding, first_use: offset - interval.offset, index });
            }
            Side::Original => {
                let interval = self.extent(original, offset);
                let first_use = offset - interval.offset;
                // An object that only the candidate was known to have may be this one.
                let twin = |c: &Claim| c.binding.original.is_none() && c.index == index && index.is_some();
                if let Some(claim) = self.claims.iter_mut().find(|c| twin(c)) {
                    let start = claim.binding.candidate.map(|c| c.offset - first_use);
                    claim.binding = Binding {
                        original: Some(interval),
                        candidate: start.map(|offset| Interval { offset, size: interval.size }),
                        escapes: escapes || claim.binding.escapes,
                    };
                    claim.first_use = first_use;
                    return true;
                }
                let binding = Binding { original: Some(interval), candidate: None, escapes };
                self.claims.push(Claim { binding, first_use, index });
            }
            Side::Candidate => {
                let open = |c: &Claim| c.binding.candidate.is_none();
                let taken: Vec<Option<Interval>> = self.claims.iter().map(|c| c.binding.candidate).collect();
                let fits = |c: &Claim| {
                    let size = c.binding.original.map_or(0, |i| i.size);
                    let interval = Interval { offset: offset - c.first_use, size };
                    !taken.iter().any(|t| overlap(*t, Some(interval)))
                };
                let same_index =
                    self.claims.iter().position(|c| open(c) && c.index == index && index.is_some() && fits(c));
                match same_index.or_else(|| self.claims.iter().position(|c| open(c) && fits(c))) {
                    Some(i) => {
                        let claim = &mut self.claims[i];
                        let size = claim.binding.original.map_or(8, |i| i.size);
                        claim.binding.candidate = Some(Interval { offset: offset - claim.first_use, size });
                        claim.binding.escapes |= escapes;
                    }
                    None => {
                        let size = self.gap(Side::Candidate, offset);
                        let candidate = Some(Interval { offset, size });
                        self.claims.push(Claim {
                            binding: Binding { original: None, candidate, escapes },
                            first_use: 0,
                            index,
                        });
                    }
                }
            }
        }
        true
    }

    /// The original may access any of the locals in a part of its frame: they become one object. The candidate's place is that
    /// of a local of the same name, else what an earlier claim says, else it follows from the access.
    pub fn span(
        &mut self,
        original: &Function,
        candidate: &Function,
        span: Interval,
        (offset, index, escapes): (i64, Option<TermId>, bool),
    ) -> bool {
        let (mut start, mut end) = (span.offset, span.offset.saturating_add_unsigned(span.size));
        let touches = |c: &Claim, start: i64, end: i64| {
            let size = end.saturating_sub(start).max(0) as u64;
            overlap(c.binding.original, Some(Interval { offset: start, size }))
        };
        // Claims that lie partly inside are taken in as a whole.
        while let Some(more) = self.claims.iter().filter(|c| touches(c, start, end)).find_map(|c| {
            let i = c.binding.original?;
            let last = i.offset.saturating_add_unsigned(i.size);
            (i.offset < start || last > end).then_some((i.offset.min(start), last.max(end)))
        }) {
            (start, end) = more;
        }
        let whole = Interval { offset: start, size: end.saturating_sub(start).max(0) as u64 };
        if self.claims.iter().any(|c| c.binding.original == Some(whole) && (c.binding.escapes || !escapes)) {
            return false;
        }
        let inside: Vec<Claim> = self.claims.extract_if(.., |c| touches(c, start, end)).collect();
        let named = |l: &program::Local| {
            let mut same = candidate.locals.iter().filter(|o| o.name == l.name && o.size == l.size);
            let only = original.locals.iter().filter(|o| o.name == l.name).count() == 1;
            same.next().filter(|_| only && same.next().is_none()).map(|o| o.offset - (l.offset - start))
        };
        let locals = original.locals.iter().filter(|l| l.offset >= start && l.offset < end);
        let mut places = locals.filter_map(named);
        let by_name = places.next().filter(|first| places.all(|other| other == *first));
        let earlier = inside.iter().find_map(|c| {
            let (o, c) = (c.binding.original?, c.binding.candidate?);
            Some(c.offset - (o.offset - start))
        });
        let place = by_name.or(earlier).map(|offset| Interval { offset, size: whole.size });
        self.claims.retain(|c| c.binding.original.is_some() || !overlap(c.binding.candidate, place));
        let escapes = escapes || inside.iter().any(|c| c.binding.escapes);
        self.claims.push(Claim {
            binding: Binding { original: Some(whole), candidate: place, escapes },
            first_use: offset - start,
            index,
        });
        true
    }

    /// The local object of the original at an offset: from debug information, else up to the next claim.
    fn extent(&self, original: &Function, offset: i64) -> Interval {
        let locals = original
            .locals
            .iter()
            .filter(|l| l.size > 0 && offset >= l.offset && ((offset - l.offset) as u64) < l.size);
        // The largest one: locals of disjoint scopes may share their place.
        match locals.max_by_key(|l| (l.size, std::cmp::Reverse(l.offset))) {
            Some(local) => Interval { offset: local.offset, size: local.size },
            None => {
                let variadic = original.signature.as_ref().is_some_and(|s| s.variadic);
                if variadic && offset >= 8 {
                    return Interval { offset, size: OVERFLOW_AREA };
                }
                let next = original.locals.iter().map(|l| l.offset).filter(|o| *o > offset).min().unwrap_or(0);
                let size = self.gap(Side::Original, offset).min((next - offset).max(1) as u64);
                Interval { offset, size: if variadic { size.min(SAVE_AREA) } else { size } }
            }
        }
    }

    /// Bytes from an offset to the next claim above, or to the end of the frame.
    fn gap(&self, side: Side, offset: i64) -> u64 {
        let next =
            self.claims.iter().filter_map(|c| c.binding.interval(side)).map(|i| i.offset).filter(|o| *o > offset);
        let end = if offset < 0 { 0 } else { offset + 8 };
        (next.min().unwrap_or(end).min(end.max(offset + 1)) - offset).max(1) as u64
    }
}

fn overlap(a: Option<Interval>, b: Option<Interval>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.offset < b.offset + b.size as i64 && b.offset < a.offset + a.size as i64,
        _ => false,
    }
}
