//! Conditions in the source's words.
//!
//! A precondition is a list of expressions over what a function finds at its entry: `(= (slice 0 4 $rdi) #4:0)`. People write
//! `aligned(p, 16)`. This crate reads the one as C would, by the types of debug information ([`parse`]), and shows the other so
//! ([`render`]); what is shown can be read again and means the same.
//!
//! Trust: none. A proof is about the expressions, which are printed and stand in the certificate. A wrong reading would give a
//! condition that the user did not mean; the echo of what was understood is there for that.

mod token;
mod types;
mod interface;
mod syntax;
mod build;
mod value;
mod registers;
mod meaning;
mod render;

pub use interface::Interface;
pub use render::{kind, render, render_all};

use kernel::{Expression, Operator};
use meaning::{Meaning, Ranges};
use syntax::{Node, NodeKind};
use term::{Axiom, Sort};

/// What texts say.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parsed {
    /// What must hold, all of it.
    pub conjuncts: Vec<Expression>,
    /// Laws of floating-point numbers that are taken for granted.
    pub axioms: Vec<Axiom>,
}

/// Where a text is wrong, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// In characters, from 0.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Error {
    pub(crate) fn new(column: usize, message: impl Into<String>) -> Error {
        Error { column, message: message.into() }
    }

    /// The message with the text and a mark below the column.
    pub fn show(&self, text: &str) -> String {
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("column {}: {}\n  {line}\n  {}^", self.column + 1, self.message, " ".repeat(self.column))
    }
}

/// Reads a condition.
pub fn parse(text: &str, interface: &Interface) -> Result<Parsed, Error> {
    parse_all(&[text], interface).map_err(|(_, error)| error)
}

/// Reads conditions that hold together; the error names the text by its position.
pub fn parse_all(texts: &[&str], interface: &Interface) -> Result<Parsed, (usize, Error)> {
    let mut parsed = Parsed::default();
    let mut nodes = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let mut parts = Vec::new();
        split(syntax::read(text, interface).map_err(|error| (i, error))?, &mut parts);
        for part in parts {
            match &part.kind {
                NodeKind::Axioms(names) => {
                    for (column, name) in names {
                        let axiom = Axiom::parse(name).ok_or_else(|| (i, unknown_axiom(*column, name)))?;
                        parsed.axioms.push(axiom);
                    }
                }
                _ => nodes.push((i, part)),
            }
        }
    }
    parsed.axioms.sort_unstable();
    parsed.axioms.dedup();
    // What bounds a number is read first, so that extents need not bound it again.
    let mut meaning = Meaning { interface, ranges: Ranges::default() };
    let mut found: Vec<Option<Expression>> = vec![None; nodes.len()];
    for with_extents in [false, true] {
        for ((i, node), found) in nodes.iter().zip(&mut found) {
            if mentions_apart(node) == with_extents {
                let holds = meaning.truth(node).map_err(|error| (*i, error))?;
                check(&holds, interface).map_err(|message| (*i, Error::new(node.column, message)))?;
                parts_of(&holds).iter().for_each(|part| meaning.ranges.note(part));
                *found = Some(holds);
            }
        }
    }
    for conjunct in found.iter().flatten().flat_map(parts_of) {
        if !parsed.conjuncts.contains(&conjunct) {
            parsed.conjuncts.push(conjunct);
        }
    }
    Ok(parsed)
}

fn unknown_axiom(column: usize, name: &str) -> Error {
    let names: Vec<&str> = Axiom::ALL.iter().map(|axiom| axiom.name()).collect();
    Error::new(column, format!("`{name}` is no axiom; there are {}", names.join(", ")))
}

/// The parts between `&&`.
fn split(node: Node, out: &mut Vec<Node>) {
    match node.kind {
        NodeKind::Binary("&&", a, b) => {
            split(*a, out);
            split(*b, out);
        }
        _ => out.push(node),
    }
}

fn mentions_apart(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Call(name, operands) => name == "apart" || operands.iter().any(mentions_apart),
        NodeKind::Unary(_, a) | NodeKind::Cast(_, a) | NodeKind::SizeOfValue(a) | NodeKind::Member { of: a, .. } => {
            mentions_apart(a)
        }
        NodeKind::Binary(_, a, b) | NodeKind::Index(a, b) => mentions_apart(a) || mentions_apart(b),
        NodeKind::Choice(a, b, c) => [a, b, c].into_iter().any(|part| mentions_apart(part)),
        _ => false,
    }
}

/// The conjuncts of an expression; none of what always holds.
fn parts_of(expression: &Expression) -> Vec<Expression> {
    match expression {
        Expression::Apply(Operator::BvAnd, parts) => parts.iter().flat_map(parts_of).collect(),
        Expression::Apply(Operator::True, _) => Vec::new(),
        other => vec![other.clone()],
    }
}

/// What is written in a certificate must be readable from there.
fn check(expression: &Expression, interface: &Interface) -> Result<(), String> {
    if interface.sort(expression) != Some(Sort::Bool) {
        return Err(format!("`{expression}` is no condition"));
    }
    match Expression::parse(&expression.to_string()) {
        Ok(again) if again == *expression => Ok(()),
        Ok(_) => Err("the expression cannot be written into a certificate".to_string()),
        Err(why) => Err(why),
    }
}
