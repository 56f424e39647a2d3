//! The search for versions that no compiler makes: what it proposes, and what it is told of failed proofs.
//!
//! A function without branches is searched as a whole, every version in *windows*: pieces of straight-line code, those in loops first, on
//! the states in which runs of the function come to them.
//!
//! Trust: none.

use crate::assembly::{Body, Piece};
use crate::candidate::Candidate;
use crate::code::Code;
use crate::request::Request;
use crate::seeds::Proposal;
use crate::straight::{Interface, body, instructions, lines, of_cpu, of_goal};
use crate::subject::Subject;
use search::{Sample, Witness};
use std::ops::Range;
use std::time::{Duration, Instant};
use superopt::{Method, Options, Search, State, price};
use x86::{Flow, Instruction};

/// Searches for versions of one function, each in its turn.
pub struct Improver {
    interface: Interface,
    starts: Vec<State>,
    options: Options,
    goal: superopt::Goal,
    level: superopt::Level,
    whole: Option<Search>,
    windows: Vec<Window>,
    took: Duration,
    /// Proposals of searches that are over.
    before: u64,
    turn: usize,
}

/// A piece of a version that is searched.
struct Window {
    search: Search,
    below: u32,
    origin: String,
    body: Body,
    lines: Range<usize>,
}

/// Most versions of one epoch that are proposed.
const MOST: usize = 4;
/// Most windows at a time: those in loops come first.
const MOST_WINDOWS: usize = 8;
/// Proposals of a window's chain in an epoch: short code needs few.
const WINDOW_EPOCH: u64 = 100_000;

impl Improver {
    /// A search. `specification` is the code that says what is right, `versions` is the code of others, the best first; `proved` are those
    /// of them that are right.
    pub fn new(
        request: &Request,
        subject: &Subject,
        specification: &Code,
        (proved, versions): (&[&Code], &[&Code]),
        samples: &[Sample],
    ) -> Result<Improver, String> {
        let interface = Interface::of(&subject.specification, &subject.function)
            .ok_or("it is not known how the function is called")?;
        let mut starts: Vec<State> = samples.iter().filter_map(|sample| interface.of_sample(sample)).collect();
        starts.extend(interface.states(request.seed));
        let options = Options { seed: request.seed, jobs: request.jobs, ..Options::default() };
        let straight = std::iter::once(specification).chain(proved.iter().copied()).find_map(instructions);
        let seeds: Vec<Vec<Instruction>> = versions.iter().filter_map(|code| instructions(code)).collect();
        let whole = straight.and_then(|original| {
            let task = interface.task(original, request.goal, request.cpu);
            Search::new(task, starts.clone(), &seeds, options.clone()).ok()
        });
        let (goal, level) = (of_goal(request.goal), of_cpu(request.cpu));
        let (took, windows) = (Duration::ZERO, Vec::new());
        Ok(Improver { interface, starts, options, goal, level, whole, windows, took, before: 0, turn: 0 })
    }

    /// From now on windows are those of this version.
    pub fn look_at(&mut self, candidate: &Candidate) {
        self.before += self.windows.iter().map(|window| window.search.proposals).sum::<u64>();
        self.windows = self.windows_of(candidate).unwrap_or_default();
    }

    fn windows_of(&self, candidate: &Candidate) -> Option<Vec<Window>> {
        let relocations = &candidate.code.relocations;
        let relocated = |range: Range<usize>| relocations.iter().any(|at| range.contains(at));
        let code = superopt::Code::read(&candidate.code.bytes, &relocated, &self.interface.outputs())?;
        let places = places(&candidate.body, &code)?;
        let windows = superopt::windows(&code, self.level, self.goal);
        let states = superopt::states(&code, &windows, &self.starts);
        let mut out = Vec::new();
        for (window, states) in windows.into_iter().zip(states) {
            let below = price(&window.task.original, self.goal);
            let (Some(first), Some(last)) = (places[window.range.start], places[window.range.end - 1]) else {
                continue;
            };
            // A label or a directive in between would be lost.
            if !candidate.body.code[first..=last].iter().all(is_plain) {
                continue;
            }
            let options = Options { epoch: WINDOW_EPOCH, ..self.options.clone() };
            let Ok(search) = Search::new(window.task, states, &[], options) else { continue };
            let origin = format!("window +{:#x} of {}", code.instructions[window.range.start].offset, candidate.origin);
            out.push(Window { search, below, origin, body: candidate.body.clone(), lines: first..last + 1 });
            if out.len() >= MOST_WINDOWS {
                break;
            }
        }
        Some(out)
    }

    /// Is there anything to search?
    pub fn is_idle(&self) -> bool {
        self.whole.is_none() && self.windows.is_empty()
    }

    /// What the next epoch finds, the cheapest first. Of whole functions only what is cheaper than this.
    pub fn epoch(&mut self, below: u32) -> Vec<Proposal> {
        let begin = Instant::now();
        let searches = usize::from(self.whole.is_some()) + self.windows.len();
        let turn = self.turn % searches.max(1);
        self.turn += 1;
        let window = turn.checked_sub(usize::from(self.whole.is_some()));
        let found = match (&mut self.whole, window) {
            (Some(search), None) => whole(search, below),
            (_, Some(window)) => self.windows.get_mut(window).map(Window::epoch).unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        self.took += begin.elapsed();
        found
    }

    /// Tells the search of a state on which a proposal was wrong.
    pub fn learn(&mut self, witness: &Witness) {
        let Some(state) = self.interface.of_witness(witness) else { return };
        if let Some(search) = &mut self.whole {
            search.add_state(state.clone());
        }
        self.starts.insert(0, state);
    }

    /// Versions that were tried, and the seconds that it took.
    pub fn effort(&self) -> (u64, f64) {
        let whole = self.whole.as_ref().map_or(0, |search| search.proposals);
        let windows: u64 = self.windows.iter().map(|window| window.search.proposals).sum();
        (self.before + whole + windows, self.took.as_secs_f64())
    }
}

fn whole(search: &mut Search, below: u32) -> Vec<Proposal> {
    let found = search.epoch();
    let cheaper = found.into_iter().filter(|proposal| proposal.price < below).take(MOST);
    let proposal = |proposal: superopt::Proposal| {
        let origin = format!("search: {}", name(proposal.method));
        Some(Proposal { origin, body: body(&proposal.code)? })
    };
    cheaper.filter_map(proposal).collect()
}

fn name(method: Method) -> String {
    match method {
        Method::Chain(island) => format!("chain {island}"),
        Method::Enumeration => "enumeration".to_string(),
    }
}

impl Window {
    fn epoch(&mut self) -> Vec<Proposal> {
        let found = self.search.epoch();
        let below = self.below;
        let cheaper = found.into_iter().filter(|proposal| proposal.price < below).take(MOST);
        cheaper.filter_map(|proposal| self.splice(&proposal)).collect()
    }

    /// The version with other code in the window.
    fn splice(&self, proposal: &superopt::Proposal) -> Option<Proposal> {
        let mut body = self.body.clone();
        // The instructions of an assembly file in the other syntax stay what they are.
        let syntax = match body.syntax {
            crate::assembly::Syntax::Att => x86::Syntax::Att,
            crate::assembly::Syntax::Intel => x86::Syntax::Intel,
        };
        let new = lines(&proposal.code, syntax)?;
        body.code.splice(self.lines.clone(), new.into_iter().map(Piece::Text));
        let origin = format!("search: {}, {}", name(proposal.method), self.origin);
        Some(Proposal { origin, body })
    }
}

/// Is it an instruction, or nothing?
fn is_plain(piece: &Piece) -> bool {
    match piece {
        Piece::Text(text) => {
            let text = text.split('#').next().unwrap_or("").trim();
            !text.ends_with(':') && !text.starts_with('.')
        }
        Piece::Home => false,
    }
}

/// For each instruction its line, if lines and instructions match: assemblers put padding between them, and no more.
fn places(body: &Body, code: &superopt::Code) -> Option<Vec<Option<usize>>> {
    let is_padding = |text: &str| {
        let words = text.split_whitespace().find(|word| !["data16", "cs", "rep", "repz"].contains(word));
        words.is_some_and(|word| word.starts_with("nop") || word == "xchg")
    };
    let instruction = |piece: &Piece| match piece {
        Piece::Text(text) => {
            let text = text.split('#').next().unwrap_or("").trim();
            is_plain(piece) && !text.is_empty() && !is_padding(text)
        }
        Piece::Home => false,
    };
    let mut lines = (0..body.code.len()).filter(|i| instruction(&body.code[*i]));
    let mut out = Vec::new();
    for located in &code.instructions {
        let name = located.instruction.mnemonic.name();
        out.push(if matches!(name, "nop" | "xchg") { None } else { Some(lines.next()?) });
    }
    if lines.next().is_some() {
        return None;
    }
    Some(out)
}

/// The price of code by the table, whatever its branches do.
pub fn estimate(code: &Code, goal: superopt::Goal) -> u32 {
    let (mut at, mut all) = (0, Vec::new());
    while at < code.bytes.len() {
        let Ok(decoded) = x86::decode(&code.bytes[at..], at as u64) else { return u32::MAX };
        at += decoded.length;
        if !matches!(decoded.instruction.flow(), Flow::Return) {
            all.push(decoded.instruction);
        }
    }
    price(&all, goal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::Syntax;

    fn place(lines: &[&str]) -> Option<Vec<Option<usize>>> {
        let code = lines.iter().map(|line| Piece::Text(format!("\t{line}"))).collect();
        let body = Body { code, data: Vec::new(), syntax: Syntax::Att };
        // xor eax, eax; a nop of two bytes; add eax, 1; ret
        let bytes = [0x31, 0xc0, 0x66, 0x90, 0x83, 0xc0, 0x01, 0xc3];
        places(&body, &superopt::Code::read(&bytes, &|_| false, &[])?)
    }

    #[test]
    fn lines_and_instructions_are_matched_around_padding() {
        let lines = [".cfi_startproc", "xorl %eax, %eax # nothing", ".p2align 4", ".L3:", "addl $1, %eax", "ret"];
        assert_eq!(place(&lines), Some(vec![Some(1), None, Some(4), Some(5)]));
        // An instruction more or less, and nobody knows which is which.
        assert_eq!(place(&lines[..5]), None);
        assert_eq!(place(&[&lines[..], &["ret"]].concat()), None);
    }
}
