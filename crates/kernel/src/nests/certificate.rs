//! The saved claim about two kernels, as versioned JSON.

use super::{Claim, Method};
use serde::{Deserialize, Serialize};
use updates::Floating;

/// Version of the format.
pub const UPDATES_VERSION: u32 = 1;

/// A claim that two kernels compute the same, at these sizes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateCertificate {
    /// `updates`.
    pub kind: String,
    /// Format version.
    pub version: u32,
    /// Name of the original function.
    pub original: String,
    /// Name of the candidate function.
    pub candidate: String,
    /// Hash of the original's preprocessed text, or of its code.
    pub original_hash: String,
    /// Hash of the candidate's.
    pub candidate_hash: String,
    /// Hash of the preprocessed C text that says how the functions are called, if one of them is object code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface_hash: Option<String>,
    /// Values of parameters.
    pub parameters: Vec<(String, i64)>,
    /// `-D` options that both files were preprocessed with.
    pub defines: Vec<String>,
    /// `-I` options.
    pub includes: Vec<String>,
    /// Floating-point mode.
    pub fp: String,
    /// Do intermediate values agree, too?
    pub strict: bool,
    /// May subscripts leave their row?
    pub flat: bool,
}

impl UpdateCertificate {
    /// The claim; always checked with terms.
    pub fn claim(&self) -> Result<Claim, String> {
        let mode = Floating::from_name(&self.fp).ok_or_else(|| format!("no floating-point mode `{}`", self.fp))?;
        Ok(Claim { mode, method: Method::Terms, strict: self.strict, flat: self.flat })
    }

    /// Text form.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a certificate is plain data")
    }

    /// Reads the text form.
    pub fn from_json(text: &str) -> Result<UpdateCertificate, String> {
        let certificate: UpdateCertificate = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if certificate.kind != "updates" || certificate.version != UPDATES_VERSION {
            return Err(format!("not a certificate of updates, version {UPDATES_VERSION}"));
        }
        Ok(certificate)
    }
}
