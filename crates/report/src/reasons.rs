//! Reasons for `unknown`, for people who want to do something about them: what caused them, and one piece of advice.
//!
//! A reason says what and where; here it is only sorted. Nothing is decided by it.

use crate::palette::printable;
use search::{Reason, ReasonKind};

/// What several functions may have in common for which there is no answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cause {
    /// What happened, without a place.
    pub what: String,
    /// What one can do.
    pub advice: &'static str,
}

const LOOK: &str = "`lockstep show --why FUNCTION ORIGINAL CANDIDATE` shows what was tried";
const INLINE: &str = "compile both with -fno-inline to compare them one by one";
const TIME: &str = "give it more with --timeout; `lockstep show --why` shows what was tried";

/// The cause of a reason.
pub fn cause(reason: &Reason) -> Cause {
    let detail = reason.detail.as_str();
    let (what, advice) = match reason.kind {
        ReasonKind::Unsupported => unsupported(reason),
        ReasonKind::Timeout => ("time ran out".to_string(), TIME),
        ReasonKind::NoCorrelation => correlation(detail),
        ReasonKind::NoInvariant => ("relations of loops could not be shown".to_string(), LOOK),
        ReasonKind::SolverUnknown => {
            ("the solver gave up".to_string(), "give it more with --timeout, or add another solver with --solver")
        }
        ReasonKind::MissingFunction if detail.contains("has only") => (
            "the candidate has only what a compiler has made of it".to_string(),
            "compile the candidate with -fno-ipa-sra -fno-ipa-cp -fno-partial-inlining, or name it: --function NAME=OTHER",
        ),
        ReasonKind::MissingFunction => (
            "the candidate has no such function".to_string(),
            "compare it under its other name with --function NAME=OTHER",
        ),
        ReasonKind::Inlined => ("part of other functions".to_string(), INLINE),
        ReasonKind::Vacuous => (
            "no run of the original was found that is defined and ends".to_string(),
            "give a start state with --tests (docs/tests-format.md)",
        ),
        ReasonKind::UndefinedOriginal => {
            ("the original does something undefined".to_string(), "correct the original: it is the specification")
        }
        ReasonKind::Race => ("parallel iterations conflict".to_string(), "look at the two iterations that are named"),
        ReasonKind::OutOfMemory => (
            "expressions grew too large".to_string(),
            "compare smaller functions: most of the size comes from inlining and unrolling",
        ),
        ReasonKind::Internal => ("a mistake of lockstep".to_string(), "please report it with both files"),
    };
    Cause { what, advice }
}

fn unsupported(reason: &Reason) -> (String, &'static str) {
    let subject = crate::text::subject(reason);
    if reason.detail.contains('`') {
        let advice = "compile without it (-mno-…, or another spelling in the source); docs/supported-instructions.md lists what is modelled";
        return (format!("`{}` is not modelled", printable(subject)), advice);
    }
    let advice = if subject.contains("outlined piece") {
        "compile both with -fno-partial-inlining -fno-reorder-blocks-and-partition"
    } else if subject.contains("setjmp") || subject.contains("twice") {
        "functions that return twice are not supported; compare their callees"
    } else {
        "`lockstep show FILE --function FUNCTION` shows what was understood"
    };
    (printable(subject), advice)
}

fn correlation(detail: &str) -> (String, &'static str) {
    // What it says of both sides, without the places at the end.
    let what = detail.rsplit_once(" at ").map_or(detail, |(what, _)| what);
    if let Some((ours, theirs)) =
        what.strip_prefix("the original ").and_then(|rest| rest.split_once(", the candidate "))
    {
        return sides(ours, theirs);
    }
    let starts = |word: &str| what.starts_with(word);
    if starts("memory at the call") {
        ("memory differs at a call, as far as could be shown".to_string(), LOOK)
    } else if starts("memory at") {
        ("memory differs at the end or at a loop, as far as could be shown".to_string(), LOOK)
    } else if starts("argument") {
        ("an argument of a call differs, as far as could be shown".to_string(), LOOK)
    } else if starts("the result") {
        ("the result differs, as far as could be shown".to_string(), LOOK)
    } else if starts("the candidate reads") || starts("the candidate writes") || starts("the candidate accesses") {
        let advice = "compile the original with -g, so that the sizes of what it accesses are known";
        ("the candidate accesses memory that the original does not".to_string(), advice)
    } else if starts("the candidate may fault") {
        ("the candidate may fault where the original does not".to_string(), LOOK)
    } else if what.contains("local object") {
        let advice = "compile both with -g: debug information says where locals lie";
        ("local objects of the two frames do not correspond".to_string(), advice)
    } else if starts("the proof needs") {
        (printable(what), "without --no-ub it may be assumed")
    } else {
        ("other things that could not be shown".to_string(), LOOK)
    }
}

/// The two sides do not go the same way.
fn sides(ours: &str, theirs: &str) -> (String, &'static str) {
    let called =
        |side: &str| side.strip_prefix("calls ").map(|name| name.split(' ').next().unwrap_or(name).to_string());
    match (called(ours), called(theirs)) {
        (Some(name), None) => (format!("`{}` is inlined in the candidate, or not called", printable(&name)), INLINE),
        (None, Some(name)) => (format!("`{}` is called by the candidate only", printable(&name)), LOOK),
        (Some(a), Some(b)) => (
            format!("the original calls `{}` where the candidate calls `{}`", printable(&a), printable(&b)),
            "one of the two is inlined, or the order of calls has changed; compile both with -fno-inline",
        ),
        (None, None) if ours.starts_with("loops") || theirs.starts_with("loops") => (
            "a loop of one side has no counterpart".to_string(),
            "it was unrolled, removed or vectorised: compile with -fno-unroll-loops -fno-tree-vectorize to see which",
        ),
        (None, None) => ("the two sides do not end alike".to_string(), LOOK),
    }
}

/// What a kind of reason means, and what to do about it, in a few sentences.
pub fn explain(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::Unsupported => {
            "lockstep has met something that it does not model: an instruction, a construct, a way of calling. It is named with its \
             place, and nothing is said about the function. Often a compiler flag avoids it, such as -fno-partial-inlining for \
             outlined pieces or -mno-avx512f for instructions; docs/supported-instructions.md lists what is modelled."
        }
        ReasonKind::Timeout => {
            "The time of --timeout is over (60 s for each function), or the share of it that a search for a proof of loops gets. What \
             the first try failed at is named: that is where to look. A larger limit helps where the search was making progress."
        }
        ReasonKind::NoCorrelation => {
            "Both versions could not be brought into step: one calls where the other does not, a value or memory could not be shown \
             equal, or local objects do not correspond. The place in both versions is named. It is no difference: no input was found on \
             which they disagree. Usual causes are inlined functions (compile both with -fno-inline) and missing debug \
             information (compile both with -g)."
        }
        ReasonKind::NoInvariant => {
            "Loops were brought into step, but what must be known at their heads could not be shown, or, for C kernels, two \
             expressions differ and no input shows it. `lockstep show --why` lists what was guessed and what failed."
        }
        ReasonKind::SolverUnknown => {
            "A question about bits was too hard for the solver. More time (--timeout) or another solver (--solver) may help; \
             multiplications and divisions of 64 bits are the usual cause."
        }
        ReasonKind::MissingFunction => {
            "The candidate has no function of that name, so there is nothing to compare with. If it has another name, say so: \
             --function NAME=OTHER. Compilers give what they have made of a function a longer one, such as f.constprop.0."
        }
        ReasonKind::Inlined => {
            "A function that only its own file sees is gone from the candidate, and the functions that used it are there: its code is \
             part of them. They are compared with their counterparts, so nothing is left out, and the exit status is theirs."
        }
        ReasonKind::Vacuous => {
            "There is a proof, but no run of the original was found that is free of undefined behaviour and comes to an end, so the \
             proof may say nothing. A start state of your own (--tests, docs/tests-format.md) settles it."
        }
        ReasonKind::UndefinedOriginal => {
            "The original does something undefined on the inputs that were tried. It is the specification, so there is nothing to \
             hold the candidate to."
        }
        ReasonKind::Race => {
            "Iterations that run in parallel touch the same memory, and no schedule that was tried changes the result."
        }
        ReasonKind::OutOfMemory => {
            "Expressions have grown beyond what lockstep allows itself. That happens with very large functions."
        }
        ReasonKind::Internal => {
            "A mistake of lockstep itself: a panic that was caught, or a proof with which running the two objects disagrees. It is \
             never an answer about your program. Please report it with both files."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn sorted_under(kind: ReasonKind, detail: &str, expect: Expect) {
        let Cause { what, advice } = cause(&Reason::new(kind, detail));
        expect.assert_eq(&format!("{what}: {advice}"));
    }

    #[test]
    fn causes_have_no_places() {
        sorted_under(
            ReasonKind::NoCorrelation,
            "the original calls common, the candidate returns at f+0x12 (a.c:3) / f+0x8 (a.c:4)",
            expect![
                "`common` is inlined in the candidate, or not called: compile both with -fno-inline to compare them one by one"
            ],
        );
        sorted_under(
            ReasonKind::Unsupported,
            "f+0x14 `fld st,qword ptr [rbp-210h]` (a.c:9)",
            expect![
                "`fld` is not modelled: compile without it (-mno-…, or another spelling in the source); docs/supported-instructions.md lists what is modelled"
            ],
        );
        sorted_under(
            ReasonKind::NoCorrelation,
            "memory at the return, at rdi + 20 not shown equal at f+0x38 (a.c:1) / f+0x2",
            expect![
                "memory differs at the end or at a loop, as far as could be shown: `lockstep show --why FUNCTION ORIGINAL CANDIDATE` shows what was tried"
            ],
        );
        sorted_under(
            ReasonKind::NoCorrelation,
            "the original loops, the candidate returns at f+0x1 / f+0x2",
            expect![
                "a loop of one side has no counterpart: it was unrolled, removed or vectorised: compile with -fno-unroll-loops -fno-tree-vectorize to see which"
            ],
        );
    }

    #[test]
    fn every_kind_is_explained() {
        for kind in ReasonKind::ALL {
            assert!(explain(kind).len() > 60, "{}", kind.name());
            assert!(!cause(&Reason::new(kind, "x")).advice.is_empty());
        }
    }
}
