//! The search for versions that no compiler makes: what it proposes, and what it is told of failed proofs.
//!
//! Trust: none.

use crate::code::Code;
use crate::request::Request;
use crate::seeds::Proposal;
use crate::straight::{Interface, body, instructions};
use crate::subject::Subject;
use search::{Sample, Witness};
use std::time::{Duration, Instant};
use superopt::{Method, Options, Returns, Search, price};
use x86::Instruction;

/// A search for versions of one function.
pub struct Improver {
    search: Search,
    interface: Interface,
    took: Duration,
    epochs: u32,
}

/// Most versions of one epoch that are proposed.
const MOST: usize = 4;

impl Improver {
    /// A search, if the function has a version without branches. `specification` is the code that says what is right, `versions` is
    /// the code of others, the best first; `proved` are those of them that are right.
    pub fn new(
        request: &Request,
        subject: &Subject,
        specification: &Code,
        (proved, versions): (&[&Code], &[&Code]),
        samples: &[Sample],
    ) -> Result<Improver, String> {
        let interface = Interface::of(&subject.specification, &subject.function)
            .ok_or("it is not known how the function is called")?;
        let straight = std::iter::once(specification).chain(proved.iter().copied()).find_map(instructions);
        let original = straight.ok_or("the function has branches, calls or references")?;
        let seeds: Vec<Vec<Instruction>> = versions.iter().filter_map(|code| instructions(code)).collect();
        let task = interface.task(original, request.goal, request.cpu);
        let mut states: Vec<_> = samples.iter().filter_map(|sample| interface.of_sample(sample)).collect();
        states.extend(interface.states(request.seed));
        let options = Options { seed: request.seed, jobs: request.jobs, ..Options::default() };
        let search = Search::new(task, states, &seeds, options).map_err(|error| error.to_string())?;
        Ok(Improver { search, interface, took: Duration::ZERO, epochs: 0 })
    }

    /// What an epoch finds, the cheapest first, if it is cheaper than this.
    pub fn epoch(&mut self, below: u32) -> Vec<Proposal> {
        let begin = Instant::now();
        let found = self.search.epoch();
        self.took += begin.elapsed();
        self.epochs += 1;
        let epoch = self.epochs;
        let cheaper = found.into_iter().filter(|proposal| proposal.price < below).take(MOST);
        let proposal = |proposal: superopt::Proposal| {
            let method = match proposal.method {
                Method::Chain(island) => format!("chain {island}"),
                Method::Enumeration => "enumeration".to_string(),
            };
            Some(Proposal { origin: format!("search: {method}, epoch {epoch}"), body: body(&proposal.code)? })
        };
        cheaper.filter_map(proposal).collect()
    }

    /// Tells the search of a state on which a proposal was wrong.
    pub fn learn(&mut self, witness: &Witness) {
        if let Some(state) = self.interface.of_witness(witness) {
            self.search.add_state(state);
        }
    }

    /// Versions that were tried, and the seconds that it took.
    pub fn effort(&self) -> (u64, f64) {
        (self.search.proposals, self.took.as_secs_f64())
    }
}

/// The price of code by the table, whatever its branches do.
pub fn estimate(code: &Code, goal: superopt::Goal) -> u32 {
    let (mut at, mut all) = (0, Vec::new());
    while at < code.bytes.len() {
        let Ok(decoded) = x86::decode(&code.bytes[at..], at as u64) else { return u32::MAX };
        at += decoded.length;
        if !matches!(decoded.instruction.flow(), x86::Flow::Return) {
            all.push(decoded.instruction);
        }
    }
    price(&all, goal)
}

/// Functions that one string instruction does, for the function's arguments: small ones.
pub fn string_functions(request: &Request, subject: &Subject) -> Vec<Proposal> {
    let Some(interface) = Interface::of(&subject.specification, &subject.function) else { return Vec::new() };
    let task = interface.task(Vec::new(), request.goal, request.cpu);
    let proposal =
        |code: &Vec<Instruction>| Some(Proposal { origin: "a string instruction".to_string(), body: body(code)? });
    let returns = if task.live_out.is_empty() { Returns::Nothing } else { Returns::Something };
    superopt::string_functions(task.live_in, returns).iter().filter_map(proposal).collect()
}
