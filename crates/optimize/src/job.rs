//! A run: proposals, screening, timing, proofs with the fastest first, and the file with the winner.
//!
//! Nothing that is proposed is believed, whoever proposes it. A version gets into the output only as a [`Proved`].
//!
//! The order is: all proposals become files; those that do the same as another are dropped; the rest are put in order of what they
//! cost; proofs are tried in that order until one holds and everything before it is decided. So how many proofs run at a time changes
//! how long it takes and not what comes out.

use crate::candidate::{Candidate, Maker};
use crate::code::Code;
use crate::compilers::Compiler;
use crate::emit::{self, Output};
use crate::event::{Event, Tell};
use crate::hints::Wrapped;
use crate::improve::{Improver, estimate, string_functions};
use crate::mined::mine;
use crate::pieces::Pieces;
use crate::prove::{Answer, Door, Infers, Proved, Question, Recheck};
use crate::rank::{Care, Race, Speed, Timer};
use crate::report::{Given, Report, Row, RowState};
use crate::request::{Conditional, Goal, Request, Until};
use crate::seeds::{self, Proposal};
use crate::subject::{Kind, Refused, Subject};
use crate::tests::of_witness;
use kernel::Precondition;
use search::{Reason, Sample, StartState, Witness};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Who does what a run cannot do by itself.
pub struct Tools<'a> {
    /// The door to the kernel.
    pub door: &'a Door<'a>,
    /// The kernel with a certificate.
    pub recheck: &'a Recheck<'a>,
    /// The clock.
    pub timer: &'a Timer<'a>,
    /// What the user's conditions mean for a function of a file.
    pub condition: &'a Condition<'a>,
    /// Start states on which the function of a file is defined.
    pub samples: &'a Sampler<'a>,
    /// Who is told what happens.
    pub tell: &'a Tell<'a>,
    /// Has the user had enough?
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Reads conditions about the function of this name in this file.
pub type Condition<'a> = dyn Fn(&Path, &str) -> Result<Option<Precondition>, String> + Sync + 'a;

/// Finds start states for the function of this name in this file.
pub type Sampler<'a> = dyn Fn(&Path, &str) -> Vec<Sample> + Sync + 'a;

/// What has become of a version.
#[derive(Debug)]
enum State {
    Waiting,
    Proved(Box<Proved>, Duration),
    Refuted(String),
    Unknown(Reason),
}

/// A version in the race.
#[derive(Debug)]
struct Entry {
    candidate: Candidate,
    object: PathBuf,
    speed: Option<Speed>,
    state: State,
}

struct Run<'a> {
    request: &'a Request,
    subject: &'a Subject,
    tools: &'a Tools<'a>,
    precondition: Option<Precondition>,
    maker: Maker<'a>,
    folder: &'a Path,
    /// The object that is to be beaten, and what it is.
    rival: (PathBuf, String),
    rival_bytes: usize,
    rival_price: f64,
    entries: Vec<Entry>,
    seen: BTreeMap<[u8; 32], usize>,
    made: usize,
    tests: Vec<StartState>,
    /// What failed proofs have left for the search.
    witnesses: Vec<Witness>,
    deadline: Instant,
    best: Option<usize>,
}

/// Who looks for versions that no compiler makes.
enum Seeker {
    Whole(Box<Improver>),
    /// In pieces of the version with this number.
    Pieces(Box<Pieces>, usize),
}

/// Most of the time that proofs and timing of first proposals take.
const SHARE_OF_SEEDS: f64 = 0.6;
/// When the search ends, so that there is time to measure what it found.
const SHARE_OF_SEARCH: f64 = 0.85;
/// Without a limit on time a proof still ends.
const NO_HURRY: Duration = Duration::from_secs(60);
/// Versions that are measured thoroughly at the end.
const FINALISTS: usize = 2;

/// Looks for a better version and writes it.
pub fn run(request: &Request, more: Vec<Proposal>, output: &Output, tools: &Tools<'_>) -> Result<Report, Refused> {
    let start = Instant::now();
    let (compilers, missing) = Compiler::find();
    let folder = tempfile::tempdir().map_err(|error| Refused(format!("no temporary folder: {error}")))?;
    let file = request.file.display().to_string();
    (tools.tell)(Event::Begin { function: request.function.clone(), file, seed: request.seed });
    let subject = Subject::new(request, &compilers, folder.path())?;
    let precondition = (tools.condition)(&subject.specification, &subject.function).map_err(Refused)?;
    let maker = Maker::new(&subject, folder.path()).map_err(Refused)?;
    if subject.source.is_some() {
        for family in missing {
            (tools.tell)(Event::Note { what: format!("{family} is not on the PATH: it makes no proposals") });
        }
    }
    let deadline = match request.until {
        Until::Time(time) => start + time,
        Until::Epochs(_) => start + Duration::from_secs(24 * 3600),
    };
    let own = folder.path().join("own.o");
    let bytes = crate::candidate::object(&subject.own).map_err(Refused)?;
    std::fs::write(&own, bytes).map_err(|error| Refused(format!("{}: {error}", own.display())))?;
    let rival_bytes = maker.own().bytes.len();
    let mut run = Run {
        request,
        subject: &subject,
        tools,
        precondition,
        maker,
        folder: folder.path(),
        rival: (own, "the file's own code".to_string()),
        rival_bytes,
        rival_price: 0.0,
        entries: Vec::new(),
        seen: BTreeMap::new(),
        made: 0,
        tests: request.tests.clone(),
        witnesses: Vec::new(),
        deadline,
        best: None,
    };
    run.rival_price = run.price(run.maker.own());
    run.seeds(&compilers, more);
    run.time_all();
    let until = match request.until {
        Until::Time(time) => start + time.mul_f64(SHARE_OF_SEEDS),
        Until::Epochs(_) => deadline,
    };
    run.tell(Event::Phase { name: "proving" });
    run.prove_in_order(until);
    run.improve();
    run.finish(output, start)
}

impl Run<'_> {
    fn tell(&self, event: Event) {
        (self.tools.tell)(event);
    }

    fn is_over(&self) -> bool {
        (self.tools.stopped)() || Instant::now() >= self.deadline
    }

    /// The first proposals: the code as it is, those of others, and those of compilers.
    fn seeds(&mut self, compilers: &[Compiler], more: Vec<Proposal>) {
        self.tell(Event::Phase { name: "compiling" });
        let compiled = match &self.subject.source {
            Some(source) => {
                let hints = self.hints(compilers, source);
                seeds::compile(self.request, (compilers, source, &hints), self.folder, self.tools.tell)
            }
            None => Vec::new(),
        };
        if let Some((family, level, cpu)) = self.subject.rival(compilers, self.request.cpu) {
            let origin = format!("{family} -{level} -march={cpu}");
            if let Some(rival) = compiled.iter().find(|proposal| proposal.origin == origin).cloned()
                && let Some(index) = self.admit(rival)
            {
                let entry = &self.entries[index];
                self.rival = (entry.object.clone(), origin);
                self.rival_bytes = entry.candidate.code.bytes.len();
                self.rival_price = self.price(&entry.candidate.code);
            }
        }
        if self.subject.kind != Kind::Source
            && let Some(body) = self.subject.body()
        {
            self.admit(Proposal { origin: "the code as it is".to_string(), body });
        }
        for proposal in more.into_iter().chain(compiled) {
            self.admit(proposal);
        }
    }

    fn hints(&self, compilers: &[Compiler], source: &Path) -> Vec<Wrapped> {
        let prototype = seeds::prototype(self.request, compilers, source, self.folder);
        let Some(prototype) = prototype else { return Vec::new() };
        let name = &self.request.function;
        let mut hints = seeds::usual_hints(&prototype, name, source, &self.request.assumed);
        if self.request.conditional != Conditional::No {
            let mined = mine(&prototype, &self.tests).into_iter();
            hints.extend(mined.filter_map(|hints| prototype.wrap(name, source, hints)));
        }
        hints
    }

    /// Makes a file of a proposal; the number of its entry, unless it is of no use.
    fn admit(&mut self, proposal: Proposal) -> Option<usize> {
        let Proposal { origin, body } = proposal;
        self.made += 1;
        let candidate = match self.maker.make(self.made, origin.clone(), &body) {
            Ok(candidate) => candidate,
            Err(useless) => {
                self.tell(Event::Useless { origin, why: useless.0 });
                return None;
            }
        };
        if let Some(index) = self.seen.get(&candidate.code.identity) {
            return Some(*index);
        }
        let object = candidate.path.with_extension("o");
        if let Err(error) = std::fs::write(&object, &candidate.object) {
            self.tell(Event::Useless { origin, why: error.to_string() });
            return None;
        }
        let index = self.entries.len();
        self.seen.insert(candidate.code.identity, index);
        let bytes = candidate.code.bytes.len();
        self.tell(Event::Proposed { origin, bytes, text: body.alone(&self.request.function) });
        self.entries.push(Entry { candidate, object, speed: None, state: State::Waiting });
        Some(index)
    }

    /// Does only the clock know what is better?
    fn is_timed(&self) -> bool {
        let time = matches!(self.request.until, Until::Time(_));
        time && matches!(self.request.goal, Goal::Latency | Goal::Throughput)
    }

    fn price(&self, code: &Code) -> f64 {
        match self.request.goal {
            Goal::Size => code.bytes.len() as f64,
            Goal::Throughput => f64::from(estimate(code, superopt::Goal::Throughput)),
            Goal::Latency | Goal::Model => f64::from(estimate(code, superopt::Goal::Latency)),
        }
    }

    fn race(&self, index: usize, care: Care) -> Result<Speed, String> {
        let race = Race {
            specification: &self.subject.specification,
            rival: &self.rival.0,
            candidate: &self.entries[index].object,
            function: &self.request.function,
            tests: &self.request.tests,
            arguments: &self.request.arguments,
            seed: self.request.seed,
            care,
        };
        (self.tools.timer)(&race)
    }

    /// Puts numbers to all versions, if time is what counts.
    fn time_all(&mut self) {
        if self.is_timed() {
            self.tell(Event::Phase { name: "timing" });
        }
        let all: Vec<usize> = (0..self.entries.len()).collect();
        if let Some(why) = self.time(&all) {
            self.tell(Event::Note { what: format!("cannot be timed: {why}") });
        }
    }

    /// Times some versions; why one of them could not be.
    fn time(&mut self, indices: &[usize]) -> Option<String> {
        let mut failed = None;
        for index in indices.iter().copied() {
            if !self.is_timed() || self.is_over() {
                break;
            }
            if self.entries[index].speed.is_some() {
                continue;
            }
            match self.race(index, Care::Quick) {
                Ok(speed) => {
                    let origin = self.entries[index].candidate.origin.clone();
                    self.tell(Event::Timed { origin, speedup: speed.speedup });
                    self.entries[index].speed = Some(speed);
                }
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        failed
    }

    /// What a version costs; less is better.
    fn cost(&self, index: usize) -> f64 {
        let Entry { candidate, speed, .. } = &self.entries[index];
        match speed {
            _ if !self.is_timed() => self.price(&candidate.code),
            Some(speed) => 1.0 / speed.speedup.max(1e-9),
            // What cannot be timed is tried after everything that can.
            None => 1e9 + self.price(&candidate.code),
        }
    }

    /// All versions, the best first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by(|a, b| self.cost(*a).total_cmp(&self.cost(*b)).then(a.cmp(b)));
        order
    }

    /// Proofs, the best first, until one holds.
    fn prove_in_order(&mut self, until: Instant) {
        loop {
            let order = self.order();
            let proved = order.iter().position(|i| matches!(self.entries[*i].state, State::Proved(..)));
            let ahead = &order[..proved.unwrap_or(order.len())];
            let waiting = ahead.iter().filter(|i| matches!(self.entries[**i].state, State::Waiting));
            let wave: Vec<usize> = waiting.take(self.request.jobs.max(1)).copied().collect();
            let late = Instant::now() >= until && proved.is_some();
            if wave.is_empty() || late || self.is_over() {
                break;
            }
            self.prove_wave(&wave);
        }
    }

    /// Searches for what no compiler makes, until the time is over.
    fn improve(&mut self) {
        if self.request.until == Until::Epochs(0) || self.is_over() {
            return;
        }
        self.tell(Event::Phase { name: "searching" });
        let whole = self.improver();
        if self.request.goal == Goal::Size && whole.is_err() {
            for proposal in string_functions(self.request, self.subject) {
                self.admit(proposal);
            }
            self.prove_in_order(self.deadline);
        }
        let mut seeker = match self.seeker(whole) {
            Ok(seeker) => seeker,
            Err(why) => {
                self.tell(Event::Note { what: format!("no search: {why}") });
                return;
            }
        };
        let (mut learned, mut epochs) = (0, 0);
        let enough = match self.request.until {
            Until::Time(time) => self.deadline - time.mul_f64(1.0 - SHARE_OF_SEARCH),
            Until::Epochs(_) => self.deadline,
        };
        while !self.is_over() && Instant::now() < enough && self.request.until != Until::Epochs(epochs) {
            epochs += 1;
            let best = self.proved().first().copied();
            let (proposals, (proposals_so_far, seconds)) = match &mut seeker {
                Seeker::Whole(improver) => {
                    for witness in &self.witnesses[learned..] {
                        improver.learn(witness);
                    }
                    learned = self.witnesses.len();
                    let below = best.map_or(u32::MAX, |index| self.search_price(&self.entries[index].candidate.code));
                    (improver.epoch(below), improver.effort())
                }
                Seeker::Pieces(pieces, of) => {
                    // A better version has pieces of its own.
                    if best.is_some_and(|best| best != *of)
                        && let Ok((again, index)) = self.pieces()
                    {
                        (**pieces, *of) = (again, index);
                    }
                    if pieces.is_done() {
                        break;
                    }
                    (pieces.epoch(), pieces.effort())
                }
            };
            self.tell(Event::Searching { name: "search".to_string(), proposals: proposals_so_far, seconds });
            let new: Vec<usize> = proposals.into_iter().filter_map(|proposal| self.admit(proposal)).collect();
            self.time(&new);
            let waiting = |index: &usize| matches!(self.entries[*index].state, State::Waiting);
            if new.iter().any(waiting) {
                self.prove_in_order(self.deadline);
            }
        }
    }

    /// A search in the whole function if it has no branches, else in pieces of its best version.
    fn seeker(&self, whole: Result<Improver, String>) -> Result<Seeker, String> {
        match whole {
            Ok(improver) => Ok(Seeker::Whole(Box::new(improver))),
            Err(why) => match self.pieces() {
                Ok((pieces, index)) => Ok(Seeker::Pieces(Box::new(pieces), index)),
                Err(also) => Err(format!("{why}; in pieces: {also}")),
            },
        }
    }

    fn pieces(&self) -> Result<(Pieces, usize), String> {
        let best = self.proved().first().copied().ok_or("no version is proved")?;
        let samples = (self.tools.samples)(&self.subject.specification, &self.request.function);
        Ok((Pieces::new(self.request, self.subject, &self.entries[best].candidate, &samples)?, best))
    }

    /// What the search says that code costs.
    fn search_price(&self, code: &Code) -> u32 {
        estimate(code, crate::straight::of_goal(self.request.goal))
    }

    fn improver(&self) -> Result<Improver, String> {
        let object = crate::candidate::object(&self.subject.specification)?;
        let specification = Code::of(&object, &self.request.function)?;
        let code = |index: &usize| &self.entries[*index].candidate.code;
        let (proved, order) = (self.proved(), self.order());
        let proved: Vec<&Code> = proved.iter().map(code).collect();
        let versions: Vec<&Code> = order.iter().map(code).collect();
        let samples = (self.tools.samples)(&self.subject.specification, &self.request.function);
        Improver::new(self.request, self.subject, &specification, (&proved, &versions), &samples)
    }

    fn limit(&self) -> Duration {
        match self.request.until {
            Until::Time(time) => {
                let left = self.deadline.saturating_duration_since(Instant::now());
                time.mul_f64(0.2)
                    .clamp(Duration::from_secs(2), Duration::from_secs(15))
                    .min(left.max(Duration::from_secs(1)))
            }
            Until::Epochs(_) => NO_HURRY,
        }
    }

    fn question<'q>(&'q self, candidate: &'q Path) -> Question<'q> {
        Question {
            original: &self.subject.specification,
            candidate,
            function: &self.request.function,
            precondition: self.precondition.as_ref(),
            infers: match self.request.conditional {
                Conditional::No => Infers::Nothing,
                Conditional::Assumed => Infers::Condition,
            },
            tests: &self.tests,
            seed: self.request.seed,
            limit: self.limit(),
        }
    }

    fn prove_wave(&mut self, wave: &[usize]) {
        let answers: Vec<(usize, Answer, Duration)> = std::thread::scope(|scope| {
            let ask = |index: usize| {
                let run = &*self;
                let candidate = &run.entries[index].candidate;
                run.tell(Event::Proving { origin: candidate.origin.clone() });
                let (question, door, begin) = (run.question(&candidate.path), run.tools.door, Instant::now());
                scope.spawn(move || (index, Proved::ask(door, &question), begin.elapsed()))
            };
            let threads: Vec<_> = wave.iter().map(|index| ask(*index)).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for (index, answer, time) in answers {
            let origin = self.entries[index].candidate.origin.clone();
            let speedup = self.entries[index].speed.map(|speed| speed.speedup);
            self.entries[index].state = match answer {
                Answer::Proved(proved) => {
                    self.tell(Event::Proved { origin, speedup, seconds: time.as_secs_f64() });
                    State::Proved(proved, time)
                }
                Answer::Refuted(witness) => {
                    self.witnesses.push((*witness).clone());
                    self.tests.push(of_witness(&self.request.function, &witness));
                    let what = format!("{}, not {}", witness.candidate.summary, witness.original.summary);
                    self.tell(Event::Refuted { origin, what: what.clone() });
                    State::Refuted(what)
                }
                Answer::Unknown(reason) => {
                    let (kind, why) = (reason.kind.name(), reason.detail.clone());
                    self.tell(Event::Unknown { origin, kind, why });
                    State::Unknown(reason)
                }
            };
        }
        // A thread that died has left its entry waiting; it must not be asked again for ever.
        for index in wave {
            if matches!(self.entries[*index].state, State::Waiting) {
                let reason = Reason::new(search::ReasonKind::Internal, "the proof ended without an answer");
                self.entries[*index].state = State::Unknown(reason);
            }
        }
        self.note_best();
    }

    fn proved(&self) -> Vec<usize> {
        let order = self.order();
        order.into_iter().filter(|i| matches!(self.entries[*i].state, State::Proved(..))).collect()
    }

    fn note_best(&mut self) {
        let best = self.proved().first().copied();
        if best != self.best
            && let Some(index) = best
        {
            self.best = best;
            let Entry { candidate, speed, .. } = &self.entries[index];
            let (origin, bytes) = (candidate.origin.clone(), candidate.code.bytes.len());
            self.tell(Event::Best { origin, speedup: speed.map(|speed| speed.speedup), bytes });
        }
    }

    /// Is a version better than what is to be beaten, beyond doubt? Of those that are timed, this is the last word.
    fn is_better(&mut self, index: usize) -> bool {
        if !self.is_timed() {
            return self.cost(index) < self.rival_price;
        }
        if let Ok(speed) = self.race(index, Care::Thorough) {
            self.entries[index].speed = Some(speed);
            return speed.faster;
        }
        false
    }

    /// The winner, written and proved again, and the report.
    fn finish(mut self, output: &Output, start: Instant) -> Result<Report, Refused> {
        self.tell(Event::Phase { name: "measuring the best" });
        let finalists: Vec<usize> = self.proved().into_iter().take(FINALISTS).collect();
        let better: Vec<usize> = finalists.into_iter().filter(|index| self.is_better(*index)).collect();
        let winner = better.into_iter().min_by(|a, b| self.cost(*a).total_cmp(&self.cost(*b)));
        let mut report = Report {
            version: 1,
            function: self.request.function.clone(),
            file: self.request.file.display().to_string(),
            goal: self.request.goal,
            rival: self.rival.1.clone(),
            rival_bytes: self.rival_bytes,
            given: Given::default(),
            winner: None,
            rows: self.rows(),
            seconds: 0.0,
        };
        if let Some(index) = winner {
            let written = self.write(index, output)?;
            report.winner = Some(written);
        }
        report.given = Given {
            assumed: self.request.assumed.clone(),
            cpu: self.request.cpu.march(),
            counterexamples: self.tests.len() - self.request.tests.len(),
        };
        report.seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }

    fn write(&self, index: usize, output: &Output) -> Result<crate::report::Winner, Refused> {
        let Entry { candidate, speed, state, .. } = &self.entries[index];
        let State::Proved(proved, time) = state else {
            return Err(Refused("internal: only what is proved is written".to_string()));
        };
        let rival = match &self.subject.base {
            Some(_) if self.subject.kind != Kind::Source => self.subject.body(),
            _ => self.entries.iter().find(|entry| entry.object == self.rival.0).map(|e| e.candidate.body.clone()),
        };
        let condition = [&self.request.assumed[..], proved.inferred()].concat();
        let chosen =
            emit::Chosen { candidate, proved, speed: *speed, rival: &self.rival.1, time: *time, condition: &condition };
        let question = |path: &Path, ask: &dyn Fn(&Question<'_>) -> Result<Proved, String>| {
            let question = Question { candidate: path, limit: NO_HURRY, ..self.question(path) };
            ask(&question)
        };
        let again = |path: &Path| question(path, &|q| proved.again(self.tools.recheck, q));
        let written = emit::write(self.request, self.subject, &chosen, output, &again)?;
        self.tell(Event::Written { file: written.file.clone() });
        let listing = |body: &crate::assembly::Body| crate::report::instructions(body);
        Ok(crate::report::Winner {
            before: rival.as_ref().map(listing).unwrap_or_default(),
            after: listing(&candidate.body),
            ..written
        })
    }

    fn rows(&self) -> Vec<Row> {
        let row = |index: usize| {
            let Entry { candidate, speed, state, .. } = &self.entries[index];
            let (state, reason) = match state {
                State::Waiting => (RowState::NotTried, None),
                State::Proved(..) => (RowState::Proved, None),
                State::Refuted(what) => (RowState::Refuted, Some(what.clone())),
                State::Unknown(reason) => (RowState::Unknown, Some(reason.to_string())),
            };
            Row { origin: candidate.origin.clone(), bytes: candidate.code.bytes.len(), speed: *speed, state, reason }
        };
        self.order().into_iter().map(row).collect()
    }
}
