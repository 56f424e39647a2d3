//! What a certificate says about hard questions changes the work, never the answer "yes" of something wrong.

use crate::programs::Programs;
use kernel::{Answerer, Certificate, CheckedProof, EffortClaim, HardClaim, Rejection};
use pair::Prepared;
use solver::{EFFORTS, Effort, Solver, SolverOptions, SolverStatistics};

/// A product, and the same by parts that have no bits in common: some thousand conflicts.
const PRODUCT: &str = "unsigned f(unsigned char x, unsigned char y) { x &= 31; y &= 31; return (unsigned)x * y; }";
const BY_PARTS: &str = "unsigned f(unsigned char x, unsigned char y) { x &= 31; y &= 31;
    return (unsigned)(x & y) * (x | y) + (unsigned)(x & ~y) * (~x & y); }";
/// One of the parts is another.
const WRONG: &str = "unsigned f(unsigned char x, unsigned char y) { x &= 31; y &= 31;
    return (unsigned)(x & y) * (x | y) + (unsigned)(x & ~y) * (~x & y & 15); }";

fn check(programs: &Programs, certificate: &Certificate) -> (Result<CheckedProof, Rejection>, SolverStatistics) {
    let (result, solver) = check_with(programs, certificate, &EFFORTS);
    (result, solver.statistics())
}

fn check_with(
    programs: &Programs,
    certificate: &Certificate,
    efforts: &[Effort],
) -> (Result<CheckedProof, Rejection>, Solver) {
    let Prepared { mut arena, pair } = programs.prepare();
    let mut solver =
        Solver::new(SolverOptions { efforts: efforts.to_vec(), few_conflicts: 20, ..SolverOptions::default() });
    let result = kernel::check(&mut arena, &pair, certificate, &mut solver);
    (result, solver)
}

/// The pair, a certificate with a record of what was hard, and what the check took without it.
fn recorded() -> (Programs, Certificate, SolverStatistics) {
    let programs = Programs::c(PRODUCT, BY_PARTS);
    let mut certificate = programs.certificate(&[]);
    let (result, solver) = check_with(&programs, &certificate, &EFFORTS);
    assert!(result.is_ok(), "{result:?}");
    certificate.effort = Some(EffortClaim::of(solver.efforts(), solver.record()));
    (programs, certificate, solver.statistics())
}

#[test]
fn a_record_is_found_again_in_another_arena() {
    let (programs, certificate, before) = recorded();
    let effort = certificate.effort.clone().expect("a record");
    assert!(!effort.hard.is_empty(), "nothing was hard: {before:?}");
    // Twice: the same answer, the same work, the same record.
    let again = [0, 1].map(|_| {
        let (result, solver) = check_with(&programs, &certificate, &EFFORTS[..1]);
        let proof = result.expect("a proof");
        (proof.counts(), solver.statistics(), EffortClaim::of(solver.efforts(), solver.record()))
    });
    assert_eq!(again[0], again[1]);
    let known: Vec<&String> = effort.hard.iter().map(|hard| &hard.question).collect();
    assert!(again[0].2.hard.iter().all(|hard| known.contains(&&hard.question)), "{:?}", again[0].2);
    assert!(again[0].1.bit_calls < before.bit_calls, "{:?}", again[0].1);
}

#[test]
fn mutated_records_are_rejected_or_still_true() {
    let (programs, certificate, _) = recorded();
    let wrong = Programs::c(PRODUCT, WRONG);
    let effort = certificate.effort.clone().expect("a record");
    let mut rejected = 0;
    for by in [Answerer::Nobody, Answerer::Clauses, Answerer::Process] {
        for amount in [0, 1, 5_000_000, u64::MAX] {
            for limits in [vec![[1, 0]], vec![[1_000_000, 1_000_000]], effort.limits.clone()] {
                let said = |hard: &HardClaim| HardClaim { by, effort: amount, ..hard.clone() };
                let hard = effort.hard.iter().map(said).collect();
                let forged = Some(EffortClaim { limits, hard });
                let mutated = Certificate { effort: forged.clone(), ..certificate.clone() };
                rejected += usize::from(check(&programs, &mutated).0.is_err());
                let lie = Certificate { effort: forged, ..wrong.certificate(&[]) };
                assert!(check(&wrong, &lie).0.is_err(), "{by:?} {amount}");
            }
        }
    }
    assert!(rejected > 0, "the record changes nothing");
}

#[test]
fn senseless_records_are_malformed() {
    let (programs, certificate, _) = recorded();
    let hard = |question: &str| HardClaim { question: question.to_string(), by: Answerer::Nobody, effort: 1 };
    let senseless = [
        EffortClaim { limits: Vec::new(), hard: Vec::new() },
        EffortClaim { limits: vec![[u64::MAX, 1]], hard: Vec::new() },
        EffortClaim { limits: vec![[1, 1]], hard: vec![hard("0")] },
        EffortClaim { limits: vec![[1, 1]], hard: vec![hard("0123456789abcdef"), hard("0123456789abcdef")] },
    ];
    for effort in senseless {
        let mutated = Certificate { effort: Some(effort.clone()), ..certificate.clone() };
        assert!(matches!(check(&programs, &mutated).0, Err(Rejection::Malformed(_))), "{effort:?}");
    }
}

/// In an audit the SAT solver is believed only where its clauses are checked.
#[test]
fn an_audited_check_confirms_every_refutation() {
    // So few bits that the SAT solver needs no process.
    let [product, by_parts] = [PRODUCT, BY_PARTS].map(|text| text.replace("&= 31", "&= 7"));
    let programs = Programs::c(&product, &by_parts);
    let Prepared { mut arena, pair } = programs.prepare();
    let mut solver = Solver::new(SolverOptions { audited: true, ..SolverOptions::default() });
    let proof = kernel::check(&mut arena, &pair, &programs.certificate(&[]), &mut solver).expect("a proof");
    let asked = solver.statistics();
    assert!(asked.refutations > 0 && asked.confirmed == asked.refutations && asked.doubtful == 0, "{asked:?}");
    let counts = proof.counts();
    assert!(counts.by_clauses > 0 && counts.by_clauses + counts.by_process <= counts.obligations, "{counts:?}");
}
