//! What only functions of object files have: certificates with claims about loops, and attempts at a proof.

pub(crate) mod attempts;
pub(crate) mod certificate;
mod infix;
