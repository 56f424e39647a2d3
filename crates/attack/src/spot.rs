//! Text with places at which a change can be planted.
//!
//! A generator writes a program once; wherever it can name a wrong alternative, it writes a *spot*: the right text and the
//! wrong ones. The original takes the right text of every spot, the candidate with a planted change takes a wrong one at just
//! one spot. Spots nest, and none reaches over the end of a line, so both sides have the same lines.

use std::fmt::Display;

const OPEN: char = '\u{1}';
const NEXT: char = '\u{2}';
const CLOSE: char = '\u{3}';
const SYNONYM: &str = "=";

/// A spot as text. A kind that begins with `*` is what its area is about, and is planted more often.
pub fn spot<T: Display>(kind: &str, right: impl Display, wrong: &[T]) -> String {
    let right = right.to_string();
    let wrong: Vec<String> = wrong.iter().map(|w| w.to_string()).filter(|w| *w != right).collect();
    if wrong.is_empty() {
        return right;
    }
    let mut text = format!("{OPEN}{kind}{NEXT}{right}");
    for alternative in wrong {
        text.push(NEXT);
        text.push_str(&alternative);
    }
    text.push(CLOSE);
    text
}

/// A spot that another version of the program does not have.
pub fn droppable(text: impl Display) -> String {
    spot("dropped statement", text, &[""])
}

/// A spot that only a wrong version of the program has.
pub fn extra<T: Display>(kind: &str, wrong: &[T]) -> String {
    spot(kind, "", wrong)
}

/// Two ways to write the same: the original's and the candidate's. No change is planted there, and `original` has no spots.
pub fn same(original: impl Display, candidate: impl Display) -> String {
    format!("{OPEN}{SYNONYM}{NEXT}{original}{NEXT}{candidate}{CLOSE}")
}

/// Which text of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is right.
    Original,
    /// What is compared with it.
    Candidate,
}

/// One place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// What is changed there, without the mark.
    pub kind: String,
    /// Whether it is what the area is about.
    pub main: bool,
    /// What is right there.
    pub right: String,
    /// What is wrong there.
    pub wrong: Vec<String>,
}

enum Node {
    Text(String),
    Spot { kind: String, alternatives: Vec<Vec<Node>> },
}

/// All spots of a text, in the order in which they begin.
pub fn spots(text: &str) -> Vec<Spot> {
    let mut found = Vec::new();
    collect(&parse(text), &mut found);
    found
}

fn collect(nodes: &[Node], found: &mut Vec<Spot>) {
    for node in nodes {
        if let Node::Spot { kind, alternatives } = node
            && kind != SYNONYM
        {
            let texts: Vec<String> = alternatives.iter().map(|a| plain(a)).collect();
            let (right, wrong) = texts.split_first().expect("a spot has a right text");
            found.push(Spot {
                kind: kind.trim_start_matches('*').into(),
                main: kind.starts_with('*'),
                right: right.clone(),
                wrong: wrong.to_vec(),
            });
            collect(&alternatives[0], found);
        }
    }
}

/// The text of one side with everything right, or with alternative `wrong` at spot number `at`.
pub fn render(text: &str, side: Side, change: Option<(usize, usize)>) -> String {
    let mut written = String::new();
    write(&parse(text), side, change, &mut 0, &mut written);
    written
}

fn write(nodes: &[Node], side: Side, change: Option<(usize, usize)>, number: &mut usize, written: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => written.push_str(text),
            Node::Spot { kind, alternatives } if kind == SYNONYM => {
                let chosen = if side == Side::Original { 0 } else { 1 };
                write(&alternatives[chosen], side, None, &mut 0, written);
            }
            Node::Spot { alternatives, .. } => {
                let here = *number;
                *number += 1;
                match change {
                    Some((at, wrong)) if at == here => {
                        written.push_str(&plain(&alternatives[wrong + 1]));
                        // The spots inside keep their numbers.
                        write(&alternatives[0], side, None, number, &mut String::new());
                    }
                    _ => write(&alternatives[0], side, change, number, written),
                }
            }
        }
    }
}

fn plain(nodes: &[Node]) -> String {
    let mut written = String::new();
    write(nodes, Side::Original, None, &mut 0, &mut written);
    written
}

fn parse(text: &str) -> Vec<Node> {
    let mut rest = text;
    sequence(&mut rest)
}

fn sequence(rest: &mut &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    loop {
        let end = rest.find([OPEN, NEXT, CLOSE]).unwrap_or(rest.len());
        if end > 0 {
            nodes.push(Node::Text(rest[..end].into()));
            *rest = &rest[end..];
        }
        if !rest.starts_with(OPEN) {
            return nodes;
        }
        *rest = &rest[1..];
        let kind = rest.find(NEXT).unwrap_or(rest.len());
        let (kind, after) = rest.split_at(kind);
        *rest = after;
        let mut alternatives = Vec::new();
        while rest.starts_with(NEXT) {
            *rest = &rest[1..];
            alternatives.push(sequence(rest));
        }
        *rest = rest.strip_prefix(CLOSE).unwrap_or(rest);
        nodes.push(Node::Spot { kind: kind.into(), alternatives });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spot_changes_at_a_time() {
        let text = format!(
            "f({});",
            spot("sum", format!("{} + {}", spot("left", "x", &["y"]), spot("right", "1", &["2", "3"])), &["0"])
        );
        assert_eq!(render(&text, Side::Original, None), "f(x + 1);");
        assert_eq!(render(&text, Side::Candidate, Some((0, 0))), "f(0);");
        assert_eq!(render(&text, Side::Candidate, Some((1, 0))), "f(y + 1);");
        assert_eq!(render(&text, Side::Candidate, Some((2, 1))), "f(x + 3);");
        assert_eq!(spots(&text).len(), 3);
        assert_eq!(spots(&text)[2].wrong, ["2", "3"]);
    }

    #[test]
    fn synonyms_are_no_changes() {
        let text = format!("{} {}", same("a", "b"), spot("constant", "1", &["2"]));
        assert_eq!(render(&text, Side::Original, None), "a 1");
        assert_eq!(render(&text, Side::Candidate, None), "b 1");
        assert_eq!(render(&text, Side::Candidate, Some((0, 0))), "b 2");
    }

    #[test]
    fn equal_alternatives_are_no_spot() {
        assert_eq!(spot("constant", 3, &[3]), "3");
    }
}
