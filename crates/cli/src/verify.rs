//! `lockstep verify`: the kernel alone on saved certificates.
//!
//! No clock is looked at. What a check may do is counted (the certificate says how much a question may cost), so the
//! answer is the same on every machine, however busy it is.

use crate::arguments::{Format, VerifyArguments, assert_texts, undefined};
use crate::check::{ASSUME_ELSEWHERE, INTERFACE_ELSEWHERE, NO_UB_ELSEWHERE};
use crate::objects::assume::{self, Assumed};
use crate::objects::input::{self, unsupported};
use crate::pairing::Matched;
use crate::pool::{self, Finished};
use crate::regalloc::machine_ir;
use crate::status::{Failure, Status};
use crate::{complain, deliver, nests};
use audit::RuleAudit;
use condition::Interface;
use kernel::lemma::{self, Facts, Lemma, Unproved};
use kernel::{Certificate, CheckedProof, Entailment, Pair, Rejection};
use pair::{File, Files, Prepared};
use report::{AuditReport, CertificateVerdict, Condition, VerifiedCertificate, VerifyReport};
use solver::{Solver, SolverOptions, SolverStatistics};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Certificates are small; a larger file is something else.
const LARGEST: u64 = 64 << 20;

/// What the questions of one check may cost together, in propagations: a certificate cannot make it endless.
const MOST_PROPAGATIONS: u64 = 20_000_000_000;

/// Why there is no proof.
enum Refused {
    /// A lemma that the certificate states.
    Lemma(Unproved),
    /// The rest of it.
    Certificate(Rejection),
}

impl Refused {
    fn verdict(self) -> CertificateVerdict {
        match self {
            Refused::Certificate(Rejection::Malformed(what)) => CertificateVerdict::Malformed(what),
            Refused::Lemma(senseless @ Unproved::Senseless { .. }) => {
                CertificateVerdict::Malformed(senseless.to_string())
            }
            Refused::Certificate(rejection) => CertificateVerdict::Rejected(rejection.to_string()),
            Refused::Lemma(unproved) => CertificateVerdict::Rejected(unproved.to_string()),
        }
    }
}

/// Checks the certificates against the two files.
pub fn run(arguments: &VerifyArguments) -> Result<Status, Failure> {
    let machine_ir = machine_ir::is_machine_ir(&arguments.original);
    let c = nests::is_c(&arguments.original) || nests::is_c(&arguments.candidate);
    let nest = c || arguments.interface.is_some();
    if machine_ir || nest {
        let other = "is for functions of object files";
        if arguments.no_ub {
            return Err(Failure(NO_UB_ELSEWHERE.to_string()));
        }
        if !arguments.assume.is_empty() {
            return Err(Failure(ASSUME_ELSEWHERE.to_string()));
        }
        if !arguments.calls.is_empty() {
            return Err(Failure(INTERFACE_ELSEWHERE.to_string()));
        }
        if arguments.audit || arguments.format == Format::Json {
            return Err(Failure(format!("{} {other}", if arguments.audit { "--audit" } else { "--format json" })));
        }
        return if machine_ir { machine_ir::verify(arguments) } else { nests::verify(arguments) };
    }
    let paths = certificates(&arguments.certificate)?;
    let read: Vec<Result<Certificate, Failure>> = paths.iter().map(|path| read(path)).collect();
    let (original, candidate) = (input::read(&arguments.original)?, input::read(&arguments.candidate)?);
    let mut files = Files::new(original, candidate, undefined(arguments.no_ub));
    files = files.with_assert_texts(assert_texts(arguments.strict_assert));
    if arguments.audit {
        files = files.logged();
    }
    let find = |file: &File, path: &Path, name: &str| {
        let missing = || Failure(format!("{}: no function `{name}`, which the certificate is about", path.display()));
        file.find(name).ok_or_else(missing)
    };
    let mut jobs = Vec::new();
    for certificate in read {
        jobs.push(certificate.and_then(|certificate| {
            let ours = find(files.original(), &arguments.original, &certificate.original)?;
            let theirs = find(files.candidate(), &arguments.candidate, &certificate.candidate)?;
            Ok((certificate, [ours, theirs]))
        }));
    }
    if let [job] = &mut jobs[..]
        && arguments.certificate.is_file()
        && let Err(failure) = job
    {
        return Err(std::mem::replace(failure, Failure(String::new())));
    }
    let known = jobs.iter().filter_map(|job| job.as_ref().ok());
    let matched = |(certificate, pair): &(Certificate, [usize; 2])| Matched {
        name: certificate.original.clone(),
        original: pair[0],
        candidate: Some(pair[1]),
    };
    let pairs: Vec<Matched> = known.map(matched).collect();
    let files = arguments.calls.apply(files, &pairs)?;
    let assumed = match (arguments.assume.is_empty(), &jobs[..]) {
        (true, _) => None,
        (false, [Ok((_, pair))]) => Some(arguments.assume.about(&files, *pair)?),
        (false, _) => return Err(Failure("--assume is about one function: name its certificate".to_string())),
    };
    let report = check_all(arguments, files, &paths, jobs, assumed);
    match arguments.format {
        Format::Text => {
            for certificate in &report.certificates {
                if let CertificateVerdict::Malformed(why) = &certificate.verdict {
                    complain(&format!("error: {}: {why}", certificate.certificate));
                }
            }
            deliver(&report.render_text());
        }
        Format::Json => deliver(&report.render_json()),
    }
    let any = |wanted: fn(&CertificateVerdict) -> bool| report.certificates.iter().any(|c| wanted(&c.verdict));
    Ok(if any(|verdict| matches!(verdict, CertificateVerdict::Malformed(_))) {
        Status::Failed
    } else if any(|verdict| matches!(verdict, CertificateVerdict::Rejected(_))) || report.found_something() {
        Status::Unknown
    } else {
        Status::Good
    })
}

/// A certificate, or those of a directory in the order of their names.
fn certificates(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", path.display()));
    let mut out = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|extension| extension == "json") {
            out.push(file);
        }
    }
    out.sort();
    if out.is_empty() {
        return Err(Failure(format!("{}: no certificates", path.display())));
    }
    Ok(out)
}

type Job = Result<(Certificate, [usize; 2]), Failure>;

fn check_all(
    arguments: &VerifyArguments,
    files: Files,
    paths: &[PathBuf],
    jobs: Vec<Job>,
    assumed: Option<Assumed>,
) -> VerifyReport {
    let audit = arguments.audit.then(|| Arc::new(Mutex::new(Audit::default())));
    let cores = if arguments.audit {
        NonZeroUsize::MIN
    } else {
        std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
    };
    let settings = pool::Settings { workers: arguments.jobs.unwrap_or(cores), patience: pool::NO_LIMIT };
    let (files, jobs) = (Arc::new(files), Arc::new(jobs));
    let together = facts_together(&files, &jobs, &audit);
    let results = {
        let (jobs, audit) = (Arc::clone(&jobs), audit.clone());
        let work = move |index: usize| match &jobs[index] {
            Ok((certificate, pair)) => {
                check(&files, certificate, *pair, together.as_ref(), assumed.as_ref(), audit.as_deref())
            }
            Err(Failure(what)) => CertificateVerdict::Malformed(what.clone()),
        };
        pool::run_in_order(paths.len(), settings, work, |_| {})
    };
    let certificates = results.into_iter().zip(paths).zip(jobs.iter()).map(|((result, path), job)| {
        let verdict = match result.finished {
            Finished::Done(verdict) => verdict,
            Finished::Panicked(message) => {
                complain(&format!("internal: {message}"));
                CertificateVerdict::Rejected("internal".to_string())
            }
            Finished::Overdue => CertificateVerdict::Rejected("timeout".to_string()),
        };
        let function = job.as_ref().map_or_else(|_| String::new(), |(certificate, _)| certificate.original.clone());
        VerifiedCertificate { certificate: path.display().to_string(), function, verdict }
    });
    let certificates = certificates.collect();
    let audit = audit.map(|audit| {
        let audit = audit.lock().unwrap_or_else(PoisonError::into_inner);
        AuditReport { questions: audit.questions, rules: audit.rules.rows().clone() }
    });
    let shown = |path: &Path| path.display().to_string();
    VerifyReport { original: shown(&arguments.original), candidate: shown(&arguments.candidate), certificates, audit }
}

/// What an audit gathers.
#[derive(Default)]
struct Audit {
    questions: SolverStatistics,
    rules: RuleAudit,
}

impl Audit {
    fn asked(&mut self, solver: &Solver) {
        self.questions.add(&solver.statistics());
    }

    fn fired(&mut self, arena: &mut term::Arena) {
        let firings = arena.log.take().unwrap_or_default();
        self.rules.look_at(arena, &firings);
    }
}

/// The lemmas of several certificates about the same files, proved as one set: each is true then. Nothing if that fails, or
/// if there is one certificate: it is proved by itself then.
fn facts_together(files: &Arc<Files>, jobs: &[Job], audit: &Option<Arc<Mutex<Audit>>>) -> Option<Facts> {
    if jobs.len() < 2 {
        return None;
    }
    let lemmas: BTreeSet<Lemma> =
        jobs.iter().filter_map(|job| job.as_ref().ok()).flat_map(|(c, _)| c.lemmas.iter().cloned()).collect();
    let lemmas: Vec<Lemma> = lemmas.into_iter().collect();
    let (files, audit) = (Arc::clone(files), audit.clone());
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: pool::NO_LIMIT };
    let work = move |_| prove_lemmas(&files, &lemmas, audit.as_deref()).ok();
    match pool::run_in_order(1, settings, work, |_| {}).pop().map(|timed| timed.finished) {
        Some(Finished::Done(facts)) => facts,
        _ => None,
    }
}

fn prove_lemmas(files: &Files, lemmas: &[Lemma], audit: Option<&Mutex<Audit>>) -> Result<Facts, Unproved> {
    if lemmas.is_empty() {
        return Ok(Facts::default());
    }
    let mut around = files.surroundings();
    let mut solver = solver(audit.is_some());
    let facts = lemma::prove_stated(&mut around, lemmas, &mut solver);
    if let Some(audit) = audit {
        let mut audit = audit.lock().unwrap_or_else(PoisonError::into_inner);
        audit.asked(&solver);
        around.parts().into_iter().for_each(|parts| audit.fired(parts.arena));
    }
    facts
}

fn check(
    files: &Files,
    certificate: &Certificate,
    pair: [usize; 2],
    together: Option<&Facts>,
    assumed: Option<&Assumed>,
    audit: Option<&Mutex<Audit>>,
) -> CertificateVerdict {
    let proved = match together {
        Some(facts) => Ok(facts.clone()),
        None => prove_lemmas(files, &certificate.lemmas, audit),
    };
    let facts = match proved {
        Ok(facts) => facts,
        Err(unproved) => return Refused::Lemma(unproved).verdict(),
    };
    let Prepared { mut arena, pair } = match files.prepare(pair, &facts) {
        Ok(prepared) => prepared,
        Err(error) => return CertificateVerdict::Malformed(unsupported(error).to_string()),
    };
    // The axioms that the certificate names are part of what it states.
    let stated = match certificate.precondition(pair.original(), &arena) {
        Ok(stated) => stated,
        Err(what) => return CertificateVerdict::Malformed(what),
    };
    if assume::can_never_hold(&stated, &pair, &mut arena) {
        return CertificateVerdict::Rejected("its condition can never hold".to_string());
    }
    stated.axioms().iter().for_each(|axiom| arena.allow(*axiom));
    let mut solver = solver(audit.is_some());
    let checked = kernel::check(&mut arena, &pair, certificate, &mut solver);
    if let Some(audit) = audit {
        let mut audit = audit.lock().unwrap_or_else(PoisonError::into_inner);
        audit.asked(&solver);
        audit.fired(&mut arena);
    }
    match checked {
        Ok(proof) => accepted(&proof, &pair, &mut arena, assumed, &solver),
        Err(rejection) => Refused::Certificate(rejection).verdict(),
    }
}

/// What was proved, and under which condition: a proof under one that does not follow from what the user assumes is none for the user.
fn accepted(
    proof: &CheckedProof,
    pair: &Pair,
    arena: &mut term::Arena,
    assumed: Option<&Assumed>,
    solver: &Solver,
) -> CertificateVerdict {
    let condition = proof.precondition();
    if let Some(assumed) = assumed {
        match assume::follows(&assumed.precondition, condition, pair, arena) {
            Ok(Entailment::Holds) => {}
            Ok(Entailment::Fails) => {
                return CertificateVerdict::Rejected("its condition does not follow from --assume".to_string());
            }
            Ok(Entailment::Unknown) => {
                let what = "that its condition follows from --assume could not be shown";
                return CertificateVerdict::Rejected(what.to_string());
            }
            Err(what) => return CertificateVerdict::Malformed(what),
        }
    }
    let parts = assume::parts(condition, &Interface::new(pair.original(), arena));
    CertificateVerdict::Accepted {
        assumptions: proof.assumptions().iter().map(|a| a.to_string()).collect(),
        condition: Condition { parts, assumed: assumed.is_some() },
        counts: proof.counts(),
        questions: solver.statistics().proved,
    }
}

fn solver(audited: bool) -> Solver {
    Solver::new(SolverOptions { total: MOST_PROPAGATIONS, audited, ..SolverOptions::default() })
}

fn read(path: &Path) -> Result<Certificate, Failure> {
    Certificate::from_json(&read_text(path)?).map_err(|what| Failure(format!("{}: {what}", path.display())))
}

/// The text of a certificate of any kind.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let failed = |what: String| Failure(format!("{}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?.len();
    if size > LARGEST {
        return Err(failed(format!("{size} bytes are too many for a certificate")));
    }
    std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))
}
