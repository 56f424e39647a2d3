//! The two programs of a pair.

/// Which program of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Side {
    /// The specification.
    Original,
    /// The program that must do the same.
    Candidate,
}

impl Side {
    /// Both, the original first.
    pub const BOTH: [Side; 2] = [Side::Original, Side::Candidate];

    /// 0 for the original, 1 for the candidate.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name, as used in variables.
    pub fn name(self) -> &'static str {
        match self {
            Side::Original => "original",
            Side::Candidate => "candidate",
        }
    }
}
