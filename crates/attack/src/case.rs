//! A pair with a known answer: the text of a program, and the change that is planted in the candidate, if there is one.

use crate::random::Random;
use crate::spot::{self, Side};

/// A piece of a program: one function, or declarations and data.
#[derive(Clone, Debug)]
pub struct Part {
    /// The function that it defines.
    pub function: Option<String>,
    /// Text with spots.
    pub text: String,
}

/// A program in two versions, and what calls it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number; all its names end in it.
    pub id: usize,
    /// The shape that was generated, for reports.
    pub shape: &'static str,
    /// What both sides are compiled from.
    pub parts: Vec<Part>,
    /// Callees, objects of other files, and `run_ID`, in C. The same for both sides.
    pub harness: String,
}

/// The change that a candidate carries.
#[derive(Clone, Debug)]
pub struct Planted {
    part: usize,
    spot: usize,
    alternative: usize,
    /// What was changed.
    pub kind: String,
    /// What the original says.
    pub right: String,
    /// What the candidate says.
    pub wrong: String,
    /// The functions whose verdicts together say that nothing changed.
    pub blamed: Vec<String>,
}

/// A line of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Of the original.
    pub original: String,
    /// Of the candidate.
    pub candidate: String,
}

impl Part {
    fn is_local(&self) -> bool {
        self.function.is_some() && (self.text.starts_with("static ") || self.text.contains("visibility(\"hidden\")"))
    }
}

impl Case {
    /// The functions that it defines.
    pub fn functions(&self) -> Vec<String> {
        self.parts.iter().filter_map(|p| p.function.clone()).collect()
    }

    /// A change at one spot; none if the case has no spots.
    pub fn plant(&self, random: &mut Random) -> Option<Planted> {
        let mut choices = Vec::new();
        for (part, p) in self.parts.iter().enumerate() {
            for (at, found) in spot::spots(&p.text).into_iter().enumerate() {
                let weight = if found.main { 6 } else { 1 };
                choices.extend(std::iter::repeat_n((part, at, found), weight));
            }
        }
        if choices.is_empty() {
            return None;
        }
        let (part, spot, found) = random.pick(&choices).clone();
        // What is inside a spot may have made an alternative the same as the right text.
        let wrong: Vec<usize> = (0..found.wrong.len()).filter(|w| found.wrong[*w] != found.right).collect();
        let alternative = *wrong.get(random.below(wrong.len()))?;
        let blamed = self.blamed(&self.parts[part]);
        Some(Planted {
            part,
            spot,
            alternative,
            kind: found.kind,
            right: found.right,
            wrong: found.wrong[alternative].clone(),
            blamed,
        })
    }

    /// The functions whose verdicts together say that a change in this part has no effect. Optimisers move code and constants between a local
    /// function and its callers, so these count together; a change of data may show in any function.
    fn blamed(&self, part: &Part) -> Vec<String> {
        match &part.function {
            Some(function) if !part.is_local() => self
                .parts
                .iter()
                .filter(|p| p.is_local() || p.function.as_ref() == Some(function))
                .filter_map(|p| p.function.clone())
                .collect(),
            _ => self.functions(),
        }
    }

    /// The text of both sides, line by line.
    pub fn lines(&self, planted: Option<&Planted>) -> Vec<Line> {
        let mut lines = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let change = planted.filter(|p| p.part == number).map(|p| (p.spot, p.alternative));
            if part.text.trim_end() == "static" {
                continue;
            }
            let original = spot::render(&part.text, Side::Original, None);
            let candidate = spot::render(&part.text, Side::Candidate, change);
            debug_assert_eq!(
                original.lines().count(),
                candidate.lines().count(),
                "a spot has a line break: {candidate}"
            );
            lines.extend(
                original.lines().zip(candidate.lines()).map(|(a, b)| Line { original: a.into(), candidate: b.into() }),
            );
        }
        lines
    }
}
