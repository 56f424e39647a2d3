//! Conditions in the source's words: what they mean, how they are refused, how they are shown.

mod interface;
mod meaning;
mod refused;
mod shown;
