//! Object code against C, or against object code: the same comparison of cells, with the C program as the interface.
//!
//! Machine code sees addresses, which C does not. Both programs therefore run for every [`Placement`] of the arrays that
//! there is, and the proof assumes `array-placement`: that no other placement makes the code behave differently.

use super::{
    Claim, Compared, MOST_TERMS, Method, Pairing, UpdateRejection, base_assumptions, check_divisions, fault, same_terms,
};
use crate::proof::{CheckedProof, Counts};
use code::{Code, Placement};
use interrupt::Interrupt;
use program::{Assumption, Side};
use std::collections::BTreeSet;
use updates::{Domain, Fault, Final, Hashes, Limits, Nobody, Program, Start, Symbolic, Terms, execute};

/// A program of either kind.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// The C program that is the interface.
    C,
    /// Object code that is called as the interface says.
    Code(Code<'a>),
}

impl Subject<'_> {
    /// Runs it; the final state has the interface's objects.
    pub fn run<D: Domain>(
        &self,
        interface: &Program,
        domain: &mut D,
        limits: &Limits,
        extents: &[Option<u64>],
        placement: Placement,
    ) -> Result<Final<D::Value>, Box<Fault>> {
        match self {
            Subject::C => execute(interface, domain, &mut Nobody, limits, extents),
            Subject::Code(code) => code.execute(interface, domain, limits, extents, placement),
        }
    }

    fn name(&self, interface: &Program) -> String {
        match self {
            Subject::C => interface.name.clone(),
            Subject::Code(code) => code.function.name.clone(),
        }
    }
}

/// What every verdict about object code assumes.
pub fn code_assumptions(interface: &Program, claim: Claim) -> BTreeSet<Assumption> {
    let mut set = base_assumptions(interface, interface, claim);
    set.insert(Assumption::ArrayPlacement);
    set.insert(Assumption::AbiEntry);
    set
}

/// Checks a claim about object code by executing both programs.
pub fn check_code(
    interface: &Program,
    [original, candidate]: [Subject<'_>; 2],
    claim: Claim,
    interrupt: &Interrupt,
) -> Result<CheckedProof, UpdateRejection> {
    if claim.strict {
        return Err(UpdateRejection::Malformed("intermediate updates of object code are not compared".to_string()));
    }
    let pairing = Pairing::of(interface, interface).map_err(UpdateRejection::Malformed)?;
    // What the code's own data starts with is not looked at.
    if let Some(object) = interface.objects.iter().find(|o| matches!(o.start, Start::Values(_))) {
        return Err(UpdateRejection::Start(object.name.clone()));
    }
    let limits = &Limits { interrupt: interrupt.clone(), flat: claim.flat, ..Limits::default() };
    let mut assumptions = code_assumptions(interface, claim);
    let mut counts = Counts::default();
    for placement in Placement::ALL {
        let sides = [original, candidate];
        let compared = match claim.method {
            Method::Hashes => check_hashes(interface, sides, &pairing, claim, limits, placement),
            Method::Terms => check_terms(interface, sides, &pairing, claim, limits, placement),
        }?;
        if compared.used_nan_payload {
            assumptions.insert(Assumption::NanPayload);
        }
        counts.points += compared.cells as usize;
        counts.obligations += compared.updates as usize;
    }
    assumptions.extend(pairing.extents.iter().map(|name| Assumption::Extent(name.clone())));
    if claim.method == Method::Hashes {
        assumptions.insert(Assumption::Hash128);
    }
    let assumptions = assumptions.into_iter().collect();
    Ok(CheckedProof::new(original.name(interface), candidate.name(interface), assumptions, counts))
}

type Ends<D> = [Final<<D as Domain>::Value>; 2];

fn run_both<D: Domain>(
    interface: &Program,
    [original, candidate]: [Subject<'_>; 2],
    pairing: &Pairing,
    domain: &mut D,
    limits: &Limits,
    placement: Placement,
) -> Result<Ends<D>, UpdateRejection> {
    let ours = original.run(interface, domain, limits, &[], placement).map_err(fault(Side::Original))?;
    let extents = pairing.extents_for(&ours, interface);
    let theirs = candidate.run(interface, domain, limits, &extents, placement).map_err(fault(Side::Candidate))?;
    check_divisions(&ours, &theirs, interface)?;
    Ok([ours, theirs])
}

fn check_hashes(
    interface: &Program,
    sides: [Subject<'_>; 2],
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
    placement: Placement,
) -> Result<Compared, UpdateRejection> {
    let mut domain = Symbolic::new(Hashes, claim.mode);
    let [ours, theirs] = run_both(interface, sides, pairing, &mut domain, limits, placement)?;
    let compared = pairing.compare(&ours, &theirs, interface, &mut domain, |a, b, _| a == b);
    let cells = compared.map_err(|rejection| match rejection {
        UpdateRejection::Different { first, count, .. } => {
            UpdateRejection::Different { first, count, cases: domain.used_cases }
        }
        other => other,
    })?;
    Ok(Compared { cells, updates: ours.updates + theirs.updates, used_nan_payload: domain.used_nan_payload })
}

fn check_terms(
    interface: &Program,
    sides: [Subject<'_>; 2],
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
    placement: Placement,
) -> Result<Compared, UpdateRejection> {
    let mut domain = Symbolic::new(Terms::new(MOST_TERMS), claim.mode);
    let [ours, theirs] = run_both(interface, sides, pairing, &mut domain, limits, placement)?;
    let mut pairs = Vec::new();
    let cells = pairing.each(&ours, &theirs, interface, &mut domain, |pair, a, b| pairs.push((pair, a, b)))?;
    same_terms(pairs, &mut domain, claim, limits)?;
    Ok(Compared { cells, updates: ours.updates + theirs.updates, used_nan_payload: domain.used_nan_payload })
}
