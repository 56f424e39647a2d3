//! Every `equivalent` is proved on the compiler's code: both files as clang lowers them, without a pass, executed and compared by the kernel.
//!
//! What C means is then the compiler's word, not that of our front end, which only says how the function is called and explains
//! differences. Bounds of arrays are checked by the code that the compiler adds for it.

use super::modules::{Modules, NoModule};
use super::native::Side;
use kernel::nests::{Claim, Lowered, LoweredRejection, Method, UpdateRejection, check_lowered};
use program::Assumption;
use search::nests::KernelOptions;
use search::{Reason, ReasonKind};
use std::time::Instant;
use updates::{FaultKind, Floating};

/// What the compiler's code says.
pub enum Confirmation {
    /// The kernels are equivalent.
    Proved(kernel::CheckedProof),
    /// There is no compiler whose code can be read, or it was not asked.
    Assumed(Assumption),
    /// It was not shown that they are.
    Refused(Reason),
}

/// Proves what was found to be equivalent on the compiler's code.
pub fn confirm(sides: &[Side<'_>; 2], options: KernelOptions, known: &Modules) -> Confirmation {
    if options.strict {
        return Confirmation::Assumed(Assumption::OwnFrontEnd);
    }
    let modules = match known.both(sides, options.flat) {
        [Ok(first), Ok(second)] => [first, second],
        [Err(NoModule::NoCompiler), _] | [_, Err(NoModule::NoCompiler)] => {
            return Confirmation::Assumed(Assumption::OwnFrontEnd);
        }
        [Err(NoModule::Refused(what)), _] => return refused(format!("the compiler's code of the original: {what}")),
        [_, Err(NoModule::Refused(what))] => return refused(format!("the compiler's code of the candidate: {what}")),
    };
    let lowered = |number: usize| Lowered {
        module: &modules[number],
        name: sides[number].name,
        interface: sides[number].program,
    };
    prove([lowered(0), lowered(1)], options)
}

fn refused(what: String) -> Confirmation {
    Confirmation::Refused(Reason::new(ReasonKind::Unsupported, what))
}

fn prove(sides: [Lowered<'_>; 2], options: KernelOptions) -> Confirmation {
    let interrupt = search::interrupt_at(Instant::now() + options.timeout);
    let method = if options.exact || options.mode == Floating::Reassoc { Method::Terms } else { Method::Hashes };
    let claim = Claim { mode: options.mode, method, strict: false, flat: options.flat };
    let mut answer = check_lowered(sides, claim, &interrupt);
    if matches!(answer, Err(LoweredRejection::Unequal { cases: true, .. })) && method == Method::Hashes {
        answer = check_lowered(sides, Claim { method: Method::Terms, ..claim }, &interrupt);
    }
    match answer {
        Ok(proof) => Confirmation::Proved(proof),
        Err(rejection) => Confirmation::Refused(reason(&rejection)),
    }
}

fn reason(rejection: &LoweredRejection) -> Reason {
    let (kind, what) = match rejection {
        LoweredRejection::Unequal { cell, .. } => {
            (ReasonKind::NoInvariant, format!("the compiler's code leaves other expressions in `{cell}`"))
        }
        LoweredRejection::Other(UpdateRejection::Fault(side, fault)) => {
            let kind = match fault.kind {
                FaultKind::Time => ReasonKind::Timeout,
                FaultKind::Memory => ReasonKind::OutOfMemory,
                _ => ReasonKind::Unsupported,
            };
            (kind, format!("the compiler's code of the {}: {}", side.name(), fault.detail))
        }
        LoweredRejection::Other(UpdateRejection::OutOfTerms) => {
            (ReasonKind::OutOfMemory, "more terms than there is room for".to_string())
        }
        LoweredRejection::Other(UpdateRejection::OutOfBudget) => {
            (ReasonKind::Timeout, "out of time for comparing terms".to_string())
        }
        LoweredRejection::Other(other) => {
            (ReasonKind::Unsupported, format!("the compiler's code: {}", super::verify::describe(other)))
        }
    };
    Reason::new(kind, what)
}
