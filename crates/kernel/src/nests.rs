//! Checker of update sequences: two kernels with known control, executed and compared cell by cell.
//!
//! The claim is small because the check is the execution itself: both programs run over the same inputs, with hashes or with
//! terms as values, and every cell that the caller can see must hold the same value at the end; in strict mode also
//! after every update. Where the values are hashes, the proof assumes `hash-128`.
//!
//! The original's run must be defined. What the candidate does beyond it (a fault, a division that may trap) is
//! refused. Schordan et al., ISoLA 2014, section 3.

use crate::proof::{CheckedProof, Counts};
use interrupt::Interrupt;
use program::{Assumption, Side};
use std::collections::BTreeSet;
use updates::{
    Equality, Fault, Final, Floating, Hashed, Hashes, Limits, Program, Regroup, Symbolic, TermRef, Terms, execute,
};

mod certificate;
mod code;
mod history;
mod lowered;
mod pairing;

pub use certificate::{UPDATES_VERSION, UpdateCertificate};
pub use code::{Subject, check_code, code_assumptions};
pub use history::{HashHistory, TermHistory};
pub use lowered::{Lowered, LoweredRejection, check_lowered};
pub use pairing::{CellPair, Pairing};

/// What values are compared as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// 128-bit hashes: fast, assumes that none collide.
    Hashes,
    /// Terms: exact.
    Terms,
}

/// What is claimed about two kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// Which floating-point rewriting is allowed.
    pub mode: Floating,
    /// What values are compared as.
    pub method: Method,
    /// Must every intermediate value of a cell agree, too?
    pub strict: bool,
    /// May subscripts leave their row inside the array?
    pub flat: bool,
}

/// Why a claim was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UpdateRejection {
    /// The two functions do not take the same arguments, or the certificate is about others.
    Malformed(String),
    /// An execution stopped.
    Fault(Side, Box<Fault>),
    /// Cells differ at the end: the first in the original's order of objects, and how many.
    Different {
        /// The first one.
        first: CellPair,
        /// Number of differing cells.
        count: u64,
        /// Were there choices or conversions, which terms understand better than hashes?
        cases: bool,
    },
    /// The candidate divides values that the original does not divide: it may trap. Line of the division.
    Division(u32),
    /// A global variable that only one of the programs knows is changed.
    Unmatched(String),
    /// A global variable of both programs holds something else before the first call.
    Start(String),
    /// Out of terms.
    OutOfTerms,
    /// Out of time.
    OutOfBudget,
}

/// Most terms of a check: about 2 GB.
const MOST_TERMS: usize = 24_000_000;
/// Steps for showing that choices nested differently agree.
const STEPS: u64 = 20_000_000;

/// Checks a claim by executing both programs.
pub fn check_updates(
    original: &Program,
    candidate: &Program,
    claim: Claim,
    interrupt: &Interrupt,
) -> Result<CheckedProof, UpdateRejection> {
    let pairing = Pairing::of(original, candidate).map_err(UpdateRejection::Malformed)?;
    pairing.check_starts(original, candidate)?;
    let limits = &Limits { interrupt: interrupt.clone(), flat: claim.flat, ..Limits::default() };
    let compared = match claim.method {
        Method::Hashes => check_hashes(original, candidate, &pairing, claim, limits),
        Method::Terms => check_terms(original, candidate, &pairing, claim, limits),
    }?;
    let mut assumptions = base_assumptions(original, candidate, claim);
    assumptions.extend(pairing.extents.iter().map(|name| Assumption::Extent(name.clone())));
    if compared.used_nan_payload {
        assumptions.insert(Assumption::NanPayload);
    }
    if claim.method == Method::Hashes {
        assumptions.insert(Assumption::Hash128);
    }
    let counts =
        Counts { points: compared.cells as usize, obligations: compared.updates as usize, ..Counts::default() };
    let assumptions = assumptions.into_iter().collect();
    Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), assumptions, counts))
}

/// What every verdict about two kernels assumes, whatever it is.
pub fn base_assumptions(original: &Program, candidate: &Program, claim: Claim) -> BTreeSet<Assumption> {
    let mut set = BTreeSet::new();
    for (name, value) in original.parameters.iter().chain(&candidate.parameters) {
        set.insert(Assumption::Parameter { name: name.clone(), first: *value, last: None });
    }
    set.insert(Assumption::DisjointArrays);
    if claim.mode != Floating::Ieee {
        set.insert(Assumption::FloatingMode(claim.mode.name().to_string()));
    }
    if claim.flat {
        set.insert(Assumption::FlatArrays);
    }
    if !original.functions.is_empty() {
        set.insert(Assumption::MathFunctions);
    }
    set
}

struct Compared {
    cells: u64,
    updates: u64,
    used_nan_payload: bool,
}

fn fault(side: Side) -> impl Fn(Box<Fault>) -> UpdateRejection {
    move |fault| UpdateRejection::Fault(side, fault)
}

/// Every division of the candidate must be one of the original, under conditions that the candidate's include.
fn check_divisions<V: PartialEq>(
    original: &Final<V>,
    candidate: &Final<V>,
    program: &Program,
) -> Result<(), UpdateRejection> {
    for division in &candidate.divisions {
        if !original.divisions.iter().any(|d| d.covers(division)) {
            let line = program.sites.get(division.site as usize).map_or(0, |s| s.line);
            return Err(UpdateRejection::Division(line));
        }
    }
    Ok(())
}

fn check_hashes(
    original: &Program,
    candidate: &Program,
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
) -> Result<Compared, UpdateRejection> {
    let mut domain = Symbolic::new(Hashes, claim.mode);
    let mut histories: [HashHistory; 2] = Default::default();
    let (ours, theirs) = if claim.strict {
        let ours = execute(original, &mut domain, &mut histories[0], limits, &[]).map_err(fault(Side::Original))?;
        let extents = pairing.extents_for(&ours, candidate);
        let theirs =
            execute(candidate, &mut domain, &mut histories[1], limits, &extents).map_err(fault(Side::Candidate))?;
        (ours, theirs)
    } else {
        let nobody = &mut updates::Nobody;
        let ours = execute(original, &mut domain, nobody, limits, &[]).map_err(fault(Side::Original))?;
        let extents = pairing.extents_for(&ours, candidate);
        let theirs = execute(candidate, &mut domain, nobody, limits, &extents).map_err(fault(Side::Candidate))?;
        (ours, theirs)
    };
    let strict = |pair: &CellPair| {
        !claim.strict || {
            let of = |side: usize, object: u32| histories[side].of(object, pair.cell);
            of(0, pair.original) == of(1, pair.candidate)
        }
    };
    let cells =
        pairing.compare(&ours, &theirs, original, &mut domain, |a: Hashed, b: Hashed, pair| a == b && strict(pair));
    let used_cases = domain.used_cases;
    let cells = cells.map_err(|rejection| match rejection {
        UpdateRejection::Different { first, count, .. } => {
            UpdateRejection::Different { first, count, cases: used_cases }
        }
        other => other,
    })?;
    check_divisions(&ours, &theirs, candidate)?;
    pairing.check_lonely([(original, &ours), (candidate, &theirs)], &mut domain)?;
    Ok(Compared { cells, updates: ours.updates + theirs.updates, used_nan_payload: domain.used_nan_payload })
}

/// Why a run over terms did not end.
enum Stopped {
    /// The table of terms is full; what the run says then means nothing.
    Full,
    At(Box<Fault>),
}

impl Stopped {
    fn of(self, side: Side) -> UpdateRejection {
        match self {
            Stopped::Full => UpdateRejection::OutOfTerms,
            Stopped::At(fault) => UpdateRejection::Fault(side, fault),
        }
    }
}

fn of_terms<T>(run: Result<T, Box<Fault>>, domain: &Symbolic<Terms>) -> Result<T, Stopped> {
    if domain.backing.exhausted() { Err(Stopped::Full) } else { run.map_err(Stopped::At) }
}

fn check_terms(
    original: &Program,
    candidate: &Program,
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
) -> Result<Compared, UpdateRejection> {
    let mut domain = Symbolic::new(Terms::new(MOST_TERMS), claim.mode);
    let mut histories: [TermHistory; 2] = Default::default();
    let ours = execute(original, &mut domain, &mut histories[0], limits, &[]);
    let ours = of_terms(ours, &domain).map_err(|rejection| rejection.of(Side::Original))?;
    let extents = pairing.extents_for(&ours, candidate);
    let theirs = execute(candidate, &mut domain, &mut histories[1], limits, &extents);
    let theirs = of_terms(theirs, &domain).map_err(|rejection| rejection.of(Side::Candidate))?;
    let mut pairs: Vec<(CellPair, TermRef, TermRef)> = Vec::new();
    let cells = pairing.each(&ours, &theirs, original, &mut domain, |pair, a, b| pairs.push((pair, a, b)))?;
    if claim.strict {
        for (pair, ..) in pairs.clone() {
            let (a, b) = (histories[0].of(pair.original, pair.cell), histories[1].of(pair.candidate, pair.cell));
            if a.len() != b.len() {
                return Err(UpdateRejection::Different { first: pair, count: 1, cases: false });
            }
            pairs.extend(a.iter().zip(b).map(|(a, b)| (pair.clone(), *a, *b)));
        }
    }
    same_terms(pairs, &mut domain, claim, limits)?;
    check_divisions(&ours, &theirs, candidate)?;
    pairing.check_lonely([(original, &ours), (candidate, &theirs)], &mut domain)?;
    Ok(Compared { cells, updates: ours.updates + theirs.updates, used_nan_payload: domain.used_nan_payload })
}

/// Are all these pairs of terms equal?
fn same_terms(
    mut pairs: Vec<(CellPair, TermRef, TermRef)>,
    domain: &mut Symbolic<Terms>,
    claim: Claim,
    limits: &Limits,
) -> Result<(), UpdateRejection> {
    if claim.mode == Floating::Reassoc {
        let mut regroup = Regroup::default();
        for (_, a, b) in &mut pairs {
            *a = regroup.normal(&mut domain.backing, *a);
            *b = regroup.normal(&mut domain.backing, *b);
        }
    }
    if domain.backing.exhausted() {
        return Err(UpdateRejection::OutOfTerms);
    }
    let mut equality = Equality::new(&domain.backing, claim.mode, STEPS);
    let mut different = BTreeSet::new();
    let mut first = None;
    for (pair, a, b) in pairs {
        if limits.interrupt.is_tripped() {
            return Err(UpdateRejection::OutOfBudget);
        }
        if !equality.equal(a, b) && different.insert((pair.original, pair.cell)) && first.is_none() {
            first = Some(pair);
        }
    }
    match first {
        Some(first) => Err(UpdateRejection::Different { first, count: different.len() as u64, cases: false }),
        None => Ok(()),
    }
}
