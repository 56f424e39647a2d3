//! The search in functions with branches: pieces of the best version that is proved, one after another, are replaced.
//!
//! A piece is tried on the states in which runs of the function come by. What is proposed is the whole function with other
//! lines in the piece's place, and it is proved as a whole.
//!
//! Trust: none.

use crate::assembly::{Body, Piece, Syntax};
use crate::candidate::Candidate;
use crate::request::Request;
use crate::seeds::Proposal;
use crate::straight::Interface;
use crate::subject::Subject;
use search::Sample;
use std::ops::Range;
use std::time::{Duration, Instant};
use superopt::{Options, Search, State, Window, price, states, windows};
use x86::{Instruction, Nameless};

/// Epochs of one piece, and versions of an epoch that are proposed.
const EPOCHS: u32 = 6;
const MOST: usize = 2;
/// Proposals of a chain in an epoch.
const EPOCH: u64 = 100_000;

/// A search in the pieces of one version.
pub struct Pieces {
    pieces: Vec<Place>,
    body: Body,
    /// The line of the body with each instruction, but for padding.
    lines: Vec<Option<usize>>,
    options: Options,
    next: usize,
    took: Duration,
    proposals: u64,
}

/// A piece, and the search in it.
struct Place {
    window: Window,
    states: Vec<State>,
    search: Option<Search>,
    epochs: u32,
}

impl Pieces {
    /// A search in a version's pieces.
    pub fn new(
        request: &Request,
        subject: &Subject,
        version: &Candidate,
        samples: &[Sample],
    ) -> Result<Pieces, String> {
        let interface = Interface::of(&subject.specification, &subject.function)
            .ok_or("it is not known how the function is called")?;
        // Of no code: what it would have to leave, on which processor.
        let task = interface.task(Vec::new(), request.goal, request.cpu);
        let filled = |range: Range<usize>| version.code.relocations.iter().any(|at| range.contains(at));
        let code = superopt::Code::read(&version.code.bytes, &filled, &task.live_out)
            .ok_or("control goes to a place that is not known")?;
        let lines = lines(&version.body, &code).ok_or("lines and instructions do not go together")?;
        let windows: Vec<Window> = windows(&code, task.level, task.goal)
            .into_iter()
            .filter(|window| is_whole(&version.body, &lines[window.range.clone()]))
            .collect();
        let mut starts: Vec<State> = samples.iter().filter_map(|sample| interface.of_sample(sample)).collect();
        starts.extend(interface.states(request.seed));
        let seen = states(&code, &windows, &starts);
        let place = |(window, states)| Place { window, states, search: None, epochs: 0 };
        let pieces: Vec<Place> =
            windows.into_iter().zip(seen).filter(|(_, states)| !states.is_empty()).map(place).collect();
        if pieces.is_empty() {
            return Err("no run comes by a piece that could be replaced".to_string());
        }
        let options = Options { seed: request.seed, jobs: request.jobs, epoch: EPOCH, ..Options::default() };
        let body = version.body.clone();
        Ok(Pieces { pieces, body, lines, options, next: 0, took: Duration::ZERO, proposals: 0 })
    }

    /// Has every piece had its turns?
    pub fn is_done(&self) -> bool {
        self.pieces.iter().all(|piece| piece.epochs >= EPOCHS)
    }

    /// What an epoch in the next piece finds.
    pub fn epoch(&mut self) -> Vec<Proposal> {
        let begin = Instant::now();
        let number = self.next % self.pieces.len();
        self.next += 1;
        let piece = &mut self.pieces[number];
        piece.epochs += 1;
        if piece.search.is_none() {
            let made = Search::new(piece.window.task.clone(), piece.states.clone(), &[], self.options.clone());
            match made {
                Ok(search) => piece.search = Some(search),
                Err(_) => piece.epochs = EPOCHS,
            }
        }
        let Some(search) = &mut piece.search else { return Vec::new() };
        let before = search.proposals;
        let found = search.epoch();
        self.proposals += search.proposals - before;
        self.took += begin.elapsed();
        let window = &piece.window;
        let own = price(&window.task.original, window.task.goal);
        let (range, epoch) = (window.range.clone(), piece.epochs);
        let cheaper = found.into_iter().filter(|proposal| proposal.price < own).take(MOST);
        let origin = format!("search: piece {}, epoch {epoch}", number + 1);
        let whole = |proposal: superopt::Proposal| {
            Some(Proposal { origin: origin.clone(), body: self.with(range.clone(), &proposal.code)? })
        };
        cheaper.filter_map(whole).collect()
    }

    /// Versions that were tried, and the seconds that it took.
    pub fn effort(&self) -> (u64, f64) {
        (self.proposals, self.took.as_secs_f64())
    }

    /// The function with other instructions in place of some.
    fn with(&self, range: Range<usize>, code: &[Instruction]) -> Option<Body> {
        let syntax = match self.body.syntax {
            Syntax::Att => x86::Syntax::Att,
            Syntax::Intel => x86::Syntax::Intel,
        };
        let written =
            |instruction: &Instruction| x86::text(instruction, syntax, &Nameless).map(|text| format!("\t{text}"));
        let new: Vec<String> = code.iter().map(written).collect::<Result<_, _>>().ok()?;
        let old: Vec<usize> = self.lines[range].iter().copied().flatten().collect();
        let first = *old.first()?;
        let mut body = self.body.clone();
        for line in &old {
            body.code[*line] = Piece::Text(String::new());
        }
        body.code[first] = Piece::Text(new.join("\n"));
        Some(body)
    }
}

/// The instruction of a line, without its label and comment.
fn instruction_of(piece: &Piece) -> Option<&str> {
    let Piece::Text(text) = piece else { return None };
    let text = text.split('#').next().unwrap_or("").trim();
    let text = match text.split_once(':') {
        Some((label, rest)) if !label.contains(char::is_whitespace) => rest.trim(),
        _ => text,
    };
    (!text.is_empty() && !text.starts_with('.')).then_some(text)
}

/// The line of each instruction. `None` if there are not as many of both.
fn lines(body: &Body, code: &superopt::Code) -> Option<Vec<Option<usize>>> {
    let is_padding = |text: &str| text.starts_with("nop") || text.contains("nopw") || text == "xchgw\t%ax, %ax";
    let written = body.code.iter().enumerate().filter_map(|(i, piece)| Some((i, instruction_of(piece)?)));
    let mut written = written.filter(|(_, text)| !is_padding(text)).map(|(i, _)| i);
    let mut out = Vec::with_capacity(code.instructions.len());
    for located in &code.instructions {
        let padding = located.instruction.mnemonic.name() == "nop";
        out.push(if padding { None } else { Some(written.next()?) });
    }
    written.next().is_none().then_some(out)
}

/// Do the lines follow one another, with nothing between them that must stay where it is?
fn is_whole(body: &Body, lines: &[Option<usize>]) -> bool {
    let (Some(Some(first)), Some(Some(last))) = (lines.first(), lines.last()) else { return false };
    let stays = |piece: &Piece| match piece {
        Piece::Home => true,
        // A label here belongs to no block; lines of debug information may stand anywhere.
        Piece::Text(text) => instruction_of(piece).is_none() && text.contains(".cfi_"),
    };
    lines.iter().all(Option::is_some) && !body.code[*first..=*last].iter().any(stays)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Body {
        let code = text.lines().map(|line| Piece::Text(line.to_string())).collect();
        Body { code, data: Vec::new(), syntax: Syntax::Att }
    }

    /// xor %eax, %eax; nopw; .L2: add %edi, %eax; ret
    const BYTES: &[u8] = &[0x31, 0xc0, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x01, 0xf8, 0xc3];

    #[test]
    fn lines_are_those_of_instructions() {
        let code = superopt::Code::read(BYTES, &|_| false, &[]).unwrap();
        let text = "\t.cfi_startproc\n\txorl\t%eax, %eax # zero\n\t.p2align 3\n.L2:\taddl\t%edi, %eax\n\tret";
        assert_eq!(lines(&body(text), &code), Some(vec![Some(1), None, Some(3), Some(4)]));
        assert_eq!(lines(&body("\tret"), &code), None);
    }

    #[test]
    fn what_must_stay_ends_a_piece() {
        let text = "\tpushq\t%rbx\n\t.cfi_offset 3, -16\n\taddl\t%edi, %eax\n\tsubl\t%esi, %eax";
        assert!(!is_whole(&body(text), &[Some(0), Some(2)]));
        assert!(is_whole(&body(text), &[Some(2), Some(3)]));
        assert!(!is_whole(&body(text), &[None, Some(3)]));
    }
}
