//! Exit statuses, which scripts depend on.

use report::Summary;
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// All functions equivalent; the certificate accepted; the file shown.
    Good,
    /// At least one function different.
    Different,
    /// None different, at least one unknown; the certificate rejected.
    Unknown,
    /// All functions equivalent, at least one under a condition that was inferred.
    Conditional,
    /// Bad input or usage. Nothing was written to stdout.
    Failed,
    /// Somebody interrupted it; what was decided until then is reported.
    Interrupted,
}

/// Why nothing could be done: bad input or usage, in words, naming the file.
#[derive(PartialEq, Eq, Debug)]
pub struct Failure(pub String);

impl Status {
    /// The number for what a signal ended, as shells have it for the interrupt key.
    pub const INTERRUPTED: u8 = 130;

    /// The same where not everything was decided.
    pub fn at_least_unknown(self) -> Status {
        if self == Status::Good { Status::Unknown } else { self }
    }

    /// Status of a finished `check`.
    pub fn of(summary: Summary) -> Status {
        match summary {
            Summary { different: 1.., .. } => Status::Different,
            Summary { unknown: 1.., .. } => Status::Unknown,
            Summary { equivalent_if: 1.., .. } => Status::Conditional,
            Summary { .. } => Status::Good,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Good => 0,
            Status::Different => 1,
            Status::Unknown => 2,
            Status::Failed => 3,
            Status::Conditional => 4,
            Status::Interrupted => Status::INTERRUPTED,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_outranks_unknown_outranks_conditions_outrank_equivalent() {
        let status = |equivalent, equivalent_if, different, unknown| {
            Status::of(Summary { equivalent, equivalent_if, different, unknown, inlined: 0 })
        };
        assert_eq!(status(3, 0, 0, 0), Status::Good);
        assert_eq!(status(3, 2, 0, 0), Status::Conditional);
        assert_eq!(status(3, 2, 0, 1), Status::Unknown);
        assert_eq!(status(3, 2, 1, 1), Status::Different);
    }
}
