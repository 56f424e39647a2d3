//! What paired times of two functions say.
//!
//! Times come in *rounds*: in each, original and candidate were timed right after each other in random order, and a second copy of the
//! original, too, the *control*. What slows the machine down hits a whole round, so the ratio inside a round is steady where times are not.
//! Rounds belong to a *layout*: where code, data and stack lie. Identical code at another address is a little faster or slower, so one layout
//! proves nothing.
//!
//! - The speed-up in a layout is the median of the rounds' ratios; its interval comes from order statistics ([`rank`]): no
//!   assumption about how times are distributed.
//! - The speed-up is the median over layouts, and the worst layout is told.
//! - There is a [`Claim`] only if in *every* layout the whole interval is beyond what noise or layout could explain: 1 %, or as far as the
//!   control was off, if that is more.
//!
//! Nothing is subtracted: the call belongs to the time, as for a caller who does not inline.
//!
//! Trust: none. No I/O, no `unsafe`, no clock.

mod interval;
mod claim;

pub use claim::{Claim, Layout, Measurement};
pub use interval::{Interval, Round, rank};
