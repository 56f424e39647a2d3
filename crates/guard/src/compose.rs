//! A certificate for the guarded function, made of two others.
//!
//! One is about the original and the candidate under the condition. The other is about the original and a guarded function whose
//! condition never holds, which runs the original's own code. The guarded function has the loops of both, at other
//! addresses; its frame is theirs, because the check keeps it. So the claims of both hold together, if their points are
//! those of the guarded function.
//!
//! Trust: none. A wrong claim is a rejected certificate.

use kernel::{Certificate, EdgeClaim, LocalClaim, MemoryClaim, PointClaim};
use program::{Function, Side};

/// A part of the guarded function's code, as another function has it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What is claimed about it.
    pub certificate: &'a Certificate,
    /// The function that it is about.
    pub function: &'a Function,
    /// Its addresses there.
    pub from: (u64, u64),
    /// The first of them in the guarded function.
    pub to: u64,
}

/// The certificate about the original and the guarded function; nothing if the claims do not go together.
pub fn compose(guarded: &Function, parts: [Part; 2]) -> Option<Certificate> {
    let [first, second] = parts.map(|part| part.certificate);
    if first.original_hash != second.original_hash {
        return None;
    }
    let mut out = Certificate {
        candidate: guarded.name.clone(),
        candidate_hash: guarded.hash.clone(),
        assume: Vec::new(),
        axioms: Vec::new(),
        cuts: Default::default(),
        points: Vec::new(),
        edges: Vec::new(),
        // What holds of other functions is for whoever checks it to state.
        lemmas: Vec::new(),
        effort: None,
        ..first.clone()
    };
    for part in &parts {
        let locals = merge_locals(&mut out.locals, &part.certificate.locals)?;
        let before = out.points.len();
        for claim in &part.certificate.points {
            let candidate = moved(part, guarded, claim.candidate)?;
            out.points.push(with_locals(PointClaim { candidate, ..claim.clone() }, &locals, out.locals.len())?);
        }
        let shifted =
            |edge: &EdgeClaim| EdgeClaim { from: edge.from.map(|from| from + before), to: edge.to + before, ..*edge };
        out.edges.extend(part.certificate.edges.iter().map(shifted));
        for cut in cuts(part.certificate, Side::Original) {
            note(&mut out.cuts[0], cut);
        }
        for cut in cuts(part.certificate, Side::Candidate) {
            note(&mut out.cuts[1], moved(part, guarded, cut)?);
        }
    }
    Some(out)
}

/// The points that cut the loops of a side: those that are stated, or those that something is claimed about.
fn cuts(certificate: &Certificate, side: Side) -> Vec<u32> {
    let stated = &certificate.cuts[side.index()];
    if !stated.is_empty() {
        return stated.clone();
    }
    let claimed = |claim: &PointClaim| match side {
        Side::Original => claim.original,
        Side::Candidate => claim.candidate,
    };
    certificate.points.iter().map(claimed).collect()
}

fn note(known: &mut Vec<u32>, point: u32) {
    if !known.contains(&point) {
        known.push(point);
    }
}

/// The point of the guarded function that a point of a part is.
fn moved(part: &Part, guarded: &Function, point: u32) -> Option<u32> {
    let address = part.function.points.get(point as usize)?.address;
    if !(part.from.0..part.from.1).contains(&address) {
        return None;
    }
    let there = address - part.from.0 + part.to;
    // Points that an instruction has besides its first come behind.
    guarded.points.iter().position(|point| point.address == there).and_then(|index| u32::try_from(index).ok())
}

/// Adds local objects; where each is now.
fn merge_locals(known: &mut Vec<LocalClaim>, more: &[LocalClaim]) -> Option<Vec<usize>> {
    let mut at = Vec::new();
    for local in more {
        let position = known.iter().position(|other| other == local).unwrap_or_else(|| {
            known.push(*local);
            known.len() - 1
        });
        at.push(position);
    }
    Some(at)
}

/// The claim with the local objects at their new positions.
fn with_locals(claim: PointClaim, at: &[usize], count: usize) -> Option<PointClaim> {
    let mut locals = vec![MemoryClaim::default(); if claim.locals.is_empty() { 0 } else { count }];
    for (from, memory) in claim.locals.iter().enumerate() {
        *locals.get_mut(*at.get(from)?)? = *memory;
    }
    let mut claim = PointClaim { locals, ..claim };
    for change in claim.ahead.iter_mut().chain(&mut claim.behind) {
        for index in [&mut change.local, &mut change.source].into_iter().flatten() {
            *index = *at.get(*index)?;
        }
    }
    Some(claim)
}
