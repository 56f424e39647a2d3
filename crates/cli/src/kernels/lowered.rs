//! Every `equivalent` is proved on the compiler's code: both files as clang lowers them, without a pass, executed and compared by the kernel.
//!
//! What C means is then the compiler's word, not that of our front end, which only says how the function is called and explains
//! differences. Bounds of arrays are checked by the code that the compiler adds for it.

use super::native::{Side, compiled};
use graph::Assumption;
use ir::Module;
use kernel::updates::{Claim, Lowered, LoweredRejection, Method, UpdateRejection, check_lowered};
use search::updates::KernelOptions;
use search::{Reason, ReasonKind};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
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

/// Names under which the compiler is known.
const NAMES: [&str; 2] = ["clang-19", "clang"];

/// Headers that another compiler's preprocessor read have types and attributes that this one spells otherwise.
const SPELLINGS: [&str; 6] = [
    "-D_Float128=__float128",
    "-D_Float64x=long double",
    "-D_Float64=double",
    "-D_Float32x=double",
    "-D_Float32=float",
    "-D__malloc__(...)=",
];

fn compiler() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&'static str>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        NAMES.into_iter().find(|name| {
            let mut command = Command::new(name);
            command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        })
    })
}

/// The compiler's code of a side.
fn module(compiler: &str, side: &Side<'_>, flat: bool) -> Result<Module, String> {
    let mut text = String::new();
    for (name, value) in side.source.undeclared(side.name, &side.program.parameters) {
        let value = i32::try_from(value).map_err(|_| format!("the value of `{name}` is no `int`"))?;
        text.push_str(&format!("enum {{ {name} = {value} }};\n"));
    }
    text.push_str(side.source.preprocessed());
    let mut command = Command::new(compiler);
    command.args(["-x", "c", "-std=gnu17", "-w", "-S", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes"]);
    command.args([
        "-ffp-contract=off",
        "-fno-discard-value-names",
        "-femit-all-decls",
        "-fno-unwind-tables",
        "-fno-asynchronous-unwind-tables",
    ]);
    if !flat {
        command.args(["-fsanitize=array-bounds", "-fsanitize-trap=array-bounds"]);
    }
    command.args(SPELLINGS).args(["-o", "-", "-"]);
    let output = compiled(command, text.into_bytes())?;
    let text = String::from_utf8(output).map_err(|_| "the compiler's code is no text".to_string())?;
    lift_llvm::read(&text)
}

/// Proves what was found to be equivalent on the compiler's code.
pub fn confirm(sides: &[Side<'_>; 2], options: KernelOptions) -> Confirmation {
    let Some(compiler) = compiler() else { return Confirmation::Assumed(Assumption::OwnFrontEnd) };
    if options.strict {
        return Confirmation::Assumed(Assumption::OwnFrontEnd);
    }
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| module(compiler, &sides[1], options.flat));
        (module(compiler, &sides[0], options.flat), other.join())
    });
    let second = second.unwrap_or_else(|_| Err("internal".to_string()));
    let modules = match (first, second) {
        (Ok(first), Ok(second)) => [first, second],
        (Err(what), _) => return refused(format!("the compiler's code of the original: {what}")),
        (_, Err(what)) => return refused(format!("the compiler's code of the candidate: {what}")),
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
    let deadline = Some(Instant::now() + options.timeout);
    let method = if options.exact || options.mode == Floating::Reassoc { Method::Terms } else { Method::Hashes };
    let claim = Claim { mode: options.mode, method, strict: false, flat: options.flat };
    let mut answer = check_lowered(sides, claim, deadline);
    if matches!(answer, Err(LoweredRejection::Unequal { cases: true, .. })) && method == Method::Hashes {
        answer = check_lowered(sides, Claim { method: Method::Terms, ..claim }, deadline);
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
