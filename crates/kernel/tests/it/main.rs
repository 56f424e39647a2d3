//! The kernel on lifted programs: every rule accepts and rejects, and no certificate makes it believe a falsehood.

mod programs;
mod rules;
mod apart;
mod certificates;
mod forged;
mod effort;
mod endless;
mod lemmas;
mod loops;
mod nests;
