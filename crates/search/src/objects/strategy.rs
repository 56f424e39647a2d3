//! The ways to a proof that a user can choose between.

use crate::objects::loops::Guidance;

/// How to look for a proof of a pair of functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// What is likeliest first, then the rest.
    #[default]
    Auto,
    /// Calls and returns alone: functions with loops stay unknown.
    Events,
    /// Loops are correlated in their order; what holds at their heads is guessed from the code alone.
    Static,
    /// Both come from runs.
    Data,
}

impl Strategy {
    /// The strategy of a name.
    pub fn from_name(name: &str) -> Option<Strategy> {
        match name {
            "auto" => Some(Strategy::Auto),
            "events" => Some(Strategy::Events),
            "static" => Some(Strategy::Static),
            "data" => Some(Strategy::Data),
            _ => None,
        }
    }

    /// How loops are looked at, in this order.
    pub(crate) fn guidances(self) -> &'static [Guidance] {
        match self {
            Strategy::Auto => &[Guidance::Runs, Guidance::Code],
            Strategy::Events => &[],
            Strategy::Static => &[Guidance::Code],
            Strategy::Data => &[Guidance::Runs],
        }
    }
}
