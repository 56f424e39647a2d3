//! The condition of a guard: what the user assumes, or what a certificate states.

use super::{GuardArguments, prepared, variadic};
use crate::status::Failure;
use ::guard::Variadic;
use condition::Interface;
use kernel::{Certificate, Precondition};
use pair::Files;

/// A condition and what it is about.
pub struct Condition {
    pub precondition: Precondition,
    pub interface: Interface,
    pub variadic: Variadic,
    /// The proof under it, if there is one.
    pub certificate: Option<Certificate>,
    /// Its parts in the source's words.
    pub texts: Vec<String>,
}

impl Condition {
    /// Reads it from where the arguments say.
    pub fn read(arguments: &GuardArguments, files: &Files, both: [usize; 2]) -> Result<Condition, Failure> {
        let pair::Prepared { arena, pair } = prepared(files, both)?;
        let original = pair.original();
        let mut known = None;
        let precondition = match &arguments.certificate {
            Some(path) => {
                let failed = |what: &dyn std::fmt::Display| Failure(format!("{}: {what}", path.display()));
                let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
                let certificate = Certificate::from_json(&text).map_err(|error| failed(&error))?;
                if certificate.original_hash != original.hash {
                    return Err(failed(&format!("it is about another version of `{}`", original.name)));
                }
                let precondition = certificate.precondition(original, &arena).map_err(|error| failed(&error))?;
                known = Some(certificate);
                precondition
            }
            None if arguments.assume.is_empty() => {
                let what = "a guard needs a condition: --assume EXPR, or --certificate FILE of a proof under one";
                return Err(Failure(what.to_string()));
            }
            None => arguments.assume.about(files, both)?.precondition,
        };
        if precondition.is_true() {
            return Err(Failure("the condition holds always: there is nothing to check".to_string()));
        }
        let interface = Interface::new(original, &arena);
        let texts = condition::render_all(precondition.conjuncts(), &interface);
        Ok(Condition { variadic: variadic(original), precondition, interface, certificate: known, texts })
    }
}
