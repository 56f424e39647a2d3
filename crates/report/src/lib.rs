//! Verdicts and program graphs as text and JSON.
//!
//! Everything here is a function from values to a `String`: no file is opened and nothing is printed, so every
//! report can be tested as text. Whether the reader's terminal wants colour is the caller's knowledge.
//!
//! Trust: none, but the last word. A mistake here can misreport a verdict that was right; so the verdict words and
//! the counts are derived in one place, [`CheckReport::summary`] and `Row`.

mod assumed;
mod check_report;
mod conditional;
mod demangle;
mod json;
mod palette;
mod reasons;
mod row;
mod summaries;
mod text;
mod verified;
mod witness;
mod objects;
mod regalloc;
pub mod nests;

pub use assumed::AssumedPart;
pub use check_report::{CheckReport, FunctionReport, Stopped, Summary, TextLines, render_jsonl_start};
pub use demangle::readable;
pub use objects::attempts::render_attempts;
pub use objects::certificate::CertificateView;
pub use palette::Colour;
pub use reasons::{Cause, cause, explain};
pub use regalloc::allocators::{AllocatorReport, render_allocators_json, render_allocators_text};
pub use summaries::{render_allocation_claim, render_update_claim};
pub use text::{Detail, TextStyle, Title};
pub use verified::{AuditReport, CertificateVerdict, Condition, VerifiedCertificate, VerifyReport};
