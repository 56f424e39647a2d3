//! Writes questions as stand-alone SMT-LIB files, for people and for other solvers.

use crate::Why;
use crate::backend::Reply;
use crate::smt::{Meaning, Question};
use std::fmt::Write;
use std::path::Path;
use term::Arena;

/// Writes one question, named by its key, with the answer as a comment.
pub(crate) fn write(
    dir: &Path,
    key: u128,
    arena: &Arena,
    question: &Question,
    reply: &Result<Reply, Why>,
) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join(format!("{key:032x}.smt2")), render(arena, question, reply))
}

fn render(arena: &Arena, question: &Question, reply: &Result<Reply, Why>) -> String {
    let mut text = String::new();
    for meaning in &question.meanings {
        let (what, value) = match *meaning {
            Meaning::Var { var, value } => (arena.var_name(var).to_string(), value),
            Meaning::Byte { memory, address, value } => {
                (format!("{}[{}]", arena.var_name(memory), question.values[address].0), value)
            }
            Meaning::Result { term, value } => (arena.text(term), value),
        };
        let what: String = what.chars().take(160).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = writeln!(text, "; {} is {what}", question.values[value].0);
    }
    let answer = match reply {
        Ok(Reply::Unsat) => "unsat".to_string(),
        Ok(Reply::Sat(_)) => "sat".to_string(),
        Err(why) => format!("unknown ({})", why.to_string().replace(char::is_control, " ")),
    };
    let _ = write!(text, "(set-logic {})\n{}(check-sat)\n; answer: {answer}\n", question.logic, question.text);
    text
}
