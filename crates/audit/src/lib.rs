//! Looks again at what a check took for granted of the rewrite rules.
//!
//! A check believes every rule of `term`. The tests prove them on samples; an audit proves the very instances that fired
//! while two functions were lifted, executed and compared. An arena notes what fired ([`term::Arena::log`]), and
//! [`RuleAudit`] puts each instance to the solver: the term before equals the term after, at the instance's own widths
//! and with its own constants. Whatever the rule did not look at becomes a variable first (`pattern.rs`), so that
//! thousands of instances are a few hundred questions.
//!
//! Trust: none. An audit takes nothing for proved; it can only find something wrong, or say what it did not look at.

mod elsewhere;
mod pattern;
mod reals;
mod rules;

pub use elsewhere::{is_float, proved_elsewhere};
pub use reals::{axioms_of, over_reals};
pub use rules::{RuleAudit, RuleRow};
