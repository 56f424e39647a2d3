//! One solver command: how it is started, limited and asked.
//!
//! Z3 is kept alive and `(reset)` before each question: 1 ms, and measured to consume exactly the resources that a new
//! process would. (Under push and pop it would not use its tactics.) Other solvers have no resource limit that we could
//! rely on; they get a new process per question.

use crate::process::{Failure, Process, Stop};
use crate::sexpr::parse_values;
use crate::smt::Question;
use crate::{SolverOptions, Why};
use std::path::Path;
use term::eval::Value;

/// After so many failures in a row a solver is not started again for the same pair of functions.
const MAX_FAILURES: u32 = 3;

/// What a solver said about the conjunction of the assertions.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reply {
    /// No model.
    Unsat,
    /// A model; its values in the order of [`Question::values`].
    Sat(Vec<Value>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Z3,
    Other,
}

/// A solver command with its process.
pub(crate) struct Backend {
    words: Vec<String>,
    kind: Kind,
    process: Option<Process>,
    failures: u32,
    /// Why it can never be started.
    broken: Option<String>,
    /// Why it is not started again before the next reset.
    failing: Option<String>,
}

/// Limits of one question.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) resources: u64,
    pub(crate) stop: Stop<'a>,
}

impl Backend {
    /// A backend for a command line of words separated by blanks. Nothing is started yet.
    pub(crate) fn new(command: &str, memory_mb: u32) -> Backend {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        let program = words.first().map(Path::new).and_then(Path::file_name).and_then(|name| name.to_str());
        let kind = if program.is_some_and(|name| name.starts_with("z3")) { Kind::Z3 } else { Kind::Other };
        match (kind, program) {
            (Kind::Z3, _) => {
                for (option, value) in [("-in", ""), ("-smt2", ""), ("-memory:", &*memory_mb.to_string())] {
                    if !words.iter().any(|word| word.starts_with(option)) {
                        words.push(format!("{option}{value}"));
                    }
                }
            }
            // Others are left as the user wrote them, unless nothing but the name is given.
            (Kind::Other, Some("cvc5")) if words.len() == 1 => words.push("--lang=smt2".to_string()),
            (Kind::Other, Some("yices-smt2")) if words.len() == 1 => words.push("--incremental".to_string()),
            (Kind::Other, _) => {}
        }
        let broken = words.is_empty().then(|| "empty solver command".to_string());
        Backend { words, kind, process: None, failures: 0, broken, failing: None }
    }

    /// Forgets failures.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
        self.failing = None;
    }

    /// Asks a solver that has just been reset, with all its tactics.
    pub(crate) fn ask(
        &mut self,
        question: &Question,
        options: &SolverOptions,
        limits: Limits<'_>,
    ) -> Result<Reply, Why> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.spawn(options)?,
        };
        let mut script = String::new();
        match self.kind {
            Kind::Z3 => {
                script.push_str(&format!("(reset)\n{}", preamble(question, limits)));
            }
            Kind::Other => {
                script.push_str(&format!("(set-option :produce-models true)\n(set-logic {})\n", question.logic));
            }
        }
        script.push_str(&question.text);
        let answer = dialogue(&mut process, &script, question, limits);
        if answer.is_ok() && self.kind == Kind::Z3 {
            self.process = Some(process);
        }
        self.conclude(answer)
    }

    fn spawn(&mut self, options: &SolverOptions) -> Result<Process, Why> {
        if let Some(reason) = self.broken.as_ref().or(self.failing.as_ref()) {
            return Err(Why::SolverFailed(reason.clone()));
        }
        let program = &self.words[0];
        if !is_executable(program) {
            let reason = format!("solver `{program}` was not found");
            self.broken = Some(reason.clone());
            return Err(Why::SolverFailed(reason));
        }
        let memory = match self.kind {
            Kind::Z3 => None,
            Kind::Other => Some(options.memory_mb),
        };
        Process::spawn(&self.words, memory).map_err(|error| {
            let reason = format!("solver `{program}` could not be started: {error}");
            self.broken = Some(reason.clone());
            Why::SolverFailed(reason)
        })
    }

    fn conclude(&mut self, answer: Result<Said, Trouble>) -> Result<Reply, Why> {
        let why = match answer {
            Ok(said) => {
                self.failures = 0;
                return match said {
                    Said::Definite(reply) => Ok(reply),
                    Said::Unknown(reason) => Err(reason_of(&reason)),
                };
            }
            Err(Trouble::Process(Failure::Stopped)) => return Err(Why::Timeout),
            Err(Trouble::Process(Failure::Died(last))) if last.contains("out of memory") => {
                return Err(Why::OutOfMemory);
            }
            Err(Trouble::Process(Failure::Died(last))) if last.is_empty() => format!("solver `{}` died", self.words[0]),
            Err(Trouble::Process(Failure::Died(last))) => format!("solver `{}` died: {last}", self.words[0]),
            Err(Trouble::Process(Failure::Babble)) => format!("solver `{}` does not stop writing", self.words[0]),
            Err(Trouble::Garbage(reply)) => {
                let reply: String = reply.trim().lines().next().unwrap_or("").chars().take(200).collect();
                if reply.contains("out of memory") {
                    return Err(Why::OutOfMemory);
                }
                format!("solver `{}` gave a reply that is none: `{reply}`", self.words[0])
            }
        };
        self.failures += 1;
        if self.failures >= MAX_FAILURES {
            self.failing = Some(why.clone());
        }
        Err(Why::SolverFailed(why))
    }
}

enum Said {
    Definite(Reply),
    Unknown(String),
}

enum Trouble {
    Process(Failure),
    Garbage(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Process(failure)
    }
}

fn preamble(question: &Question, limits: Limits<'_>) -> String {
    // None at all would mean no limit.
    let (resources, logic) = (limits.resources.max(1), question.logic);
    format!("(set-option :produce-models true)\n(set-option :rlimit {resources})\n(set-logic {logic})\n")
}

/// Asks for satisfiability, then for the model or the reason. Anything but the expected words is garbage: an error
/// message before the answer may mean that an assertion was not understood.
fn dialogue(process: &mut Process, script: &str, question: &Question, limits: Limits<'_>) -> Result<Said, Trouble> {
    let reply = process.converse(&format!("{script}(check-sat)"), &limits.stop)?;
    match reply.trim() {
        "unsat" => Ok(Said::Definite(Reply::Unsat)),
        "sat" if question.values.is_empty() => Ok(Said::Definite(Reply::Sat(Vec::new()))),
        "sat" => {
            let names: Vec<&str> = question.values.iter().map(|(name, _)| name.as_str()).collect();
            let command = format!("(get-value ({}))", names.join(" "));
            let reply = process.converse(&command, &limits.stop)?;
            match parse_values(&reply, question.values.iter().map(|(_, sort)| *sort)) {
                Some(values) => Ok(Said::Definite(Reply::Sat(values))),
                // The limit may end the list of values: there is a model, and nobody tells it.
                None if reply.contains("resource limit exceeded") => Ok(Said::Unknown("resource limit".to_string())),
                None => Err(Trouble::Garbage(reply)),
            }
        }
        "unknown" => {
            let reply = process.converse("(get-info :reason-unknown)", &limits.stop)?;
            let reason = reply.trim().trim_start_matches("(:reason-unknown").trim_end_matches(')');
            Ok(Said::Unknown(reason.trim().trim_matches('"').to_string()))
        }
        _ => Err(Trouble::Garbage(reply)),
    }
}

/// Z3 names its limits in several ways.
fn reason_of(reason: &str) -> Why {
    if reason.contains("timeout") {
        Why::Timeout
    } else if reason.contains("resource limit") || reason.contains("canceled") {
        Why::ResourceLimit
    } else if reason.contains("memout") || reason.contains("memory") {
        Why::OutOfMemory
    } else {
        Why::GaveUp(reason.chars().take(200).collect())
    }
}

fn is_executable(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn runs_as(command: &str, expected: Expect) {
        let backend = Backend::new(command, 512);
        expected.assert_eq(&format!("{:?}: {}", backend.kind, backend.words.join(" ")));
    }

    #[test]
    fn options_that_we_need_are_added() {
        runs_as("z3", expect!["Z3: z3 -in -smt2 -memory:512"]);
        runs_as("/opt/z3-5.4/bin/z3 -memory:99", expect!["Z3: /opt/z3-5.4/bin/z3 -memory:99 -in -smt2"]);
        runs_as("cvc5", expect!["Other: cvc5 --lang=smt2"]);
        runs_as("bitwuzla --sat-solver kissat", expect!["Other: bitwuzla --sat-solver kissat"]);
        runs_as("z3/wrapper", expect!["Other: z3/wrapper"]);
    }

    #[test]
    fn reasons_of_z3() {
        assert_eq!(reason_of("max. resource limit exceeded"), Why::ResourceLimit);
        assert_eq!(reason_of("sat.canceled"), Why::ResourceLimit);
        assert_eq!(reason_of("timeout"), Why::Timeout);
        assert_eq!(reason_of("memout"), Why::OutOfMemory);
        assert_eq!(reason_of("incomplete"), Why::GaveUp("incomplete".to_string()));
    }
}
