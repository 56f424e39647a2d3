//! The recording: starts the command, finds the function, takes states at its entry, lets the program end.

use crate::error::Error;
use crate::follower::{Capture, Follower, Prediction};
use crate::kept::Kept;
use crate::modules::{Known, Module, modules};
use crate::processes::{Processes, Purpose};
use crate::target::Target;
use native::traced::{Birth, Ended, Happened, Thread, Traced, count_interruptions, interruptions};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::time::{Duration, Instant};

/// What to do with processes that the program forks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forks {
    /// They run alone.
    Leave,
    /// They are recorded, too.
    Follow,
}

/// How much is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most states.
    pub states: usize,
    /// Most hits that are looked at.
    pub hits: u64,
    /// How long, from the first hit on.
    pub time: Duration,
}

/// What came of it.
pub struct Recording {
    pub(crate) command: Vec<String>,
    pub(crate) function: String,
    pub(crate) module: Module,
    pub(crate) states: Vec<Capture>,
    /// Paths through the function that the kept states take.
    pub paths: usize,
    /// How often the function was entered, as far as it was looked at.
    pub hits: u64,
    /// Hits of no use, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Hits whose end was compared with what the interpreter said, and how many agreed.
    pub compared: [u64; 2],
    /// How the program ended.
    pub ended: Ended,
    /// Median time for which a hit stopped the program, without the interpreter's, and of the interpreter.
    pub stopped: [Duration; 2],
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recording { command, hits, left_out, compared, ended, .. } = self;
        write!(f, "{} states of {command:?}, {hits} hits, {left_out:?}, {compared:?}, {ended:?}", self.len())
    }
}

impl Recording {
    /// How many states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// How many of them are partial.
    pub fn partial(&self) -> usize {
        self.states.iter().filter(|state| state.partial.is_some()).count()
    }

    /// The file that the function is in.
    pub fn file(&self) -> &std::path::Path {
        &self.module.path
    }
}

/// Of the hits that can be compared at their return, the first few and then one in so many are.
const COMPARED_AT_FIRST: u64 = 64;
const COMPARED_THEN: u64 = 16;
/// What the dynamic linker calls whenever it has loaded something (glibc's link.h, `r_brk`).
const LINKER_HOOK: &str = "_dl_debug_state";

/// Runs a command and records a function of it. The calling thread needs a large stack, and must trace nothing else.
pub fn record(command: &[OsString], function: &str, limits: Limits, forks: Forks) -> Result<Recording, Error> {
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    count_interruptions();
    let traced = Traced::start(command).map_err(|error| Error::Start(words.join(" "), error))?;
    let processes = Processes::new(traced.main());
    let mut session = Session { traced, processes, forks, known: Known::new(), ended: None, unknown: Vec::new() };
    let main = session.traced.main();
    session.processes.stop_at_begin(&session.traced, main)?;
    session.traced.resume(main, 0);
    let Some(target) = session.find(function)? else {
        return Err(session.unknown.pop().unwrap_or_else(|| Error::NoFunction(function.to_string())));
    };
    let found = session.take(&target, limits)?;
    let (ended, mut times) = (session.ended.unwrap_or(Ended::Status(0)), found.times);
    let mut median = |of: fn(&(Duration, Duration)) -> Duration| {
        times.sort_by_key(of);
        times.get(times.len() / 2).map_or(Duration::ZERO, of)
    };
    let stopped = [median(|t| t.0), median(|t| t.1)];
    Ok(Recording {
        command: words,
        function: function.to_string(),
        module: target.module,
        paths: found.kept.paths(),
        states: found.kept.into_states(),
        hits: found.hits,
        left_out: found.left_out,
        compared: found.compared,
        ended,
        stopped,
    })
}

/// The program under way.
struct Session {
    traced: Traced,
    processes: Processes,
    forks: Forks,
    known: Known,
    /// How the first process ended.
    ended: Option<Ended>,
    /// What stood in the way of finding the function.
    unknown: Vec<Error>,
}

/// What hits gave so far.
struct Found {
    kept: Kept,
    hits: u64,
    left_out: BTreeMap<&'static str, u64>,
    compared: [u64; 2],
    times: Vec<(Duration, Duration)>,
}

/// A hit whose return is awaited.
struct Awaited {
    process: Thread,
    address: u64,
    prediction: Prediction,
}

/// What a stop at a breakpoint is.
enum Stop {
    /// At this breakpoint of ours; `rip` is behind it.
    At(Thread, u64, Purpose),
    /// Nothing more will happen.
    End,
    /// Something else, which was seen to.
    Other,
}

impl Session {
    /// Waits for a breakpoint, and sees to everything else.
    fn wait(&mut self) -> Result<Stop, Error> {
        if !self.traced.is_running() {
            return Ok(Stop::End);
        }
        match self.traced.wait()? {
            Happened::Interrupted => {
                if interruptions() > 1 {
                    self.traced.kill();
                }
            }
            Happened::Gone(thread, ended) => self.gone(thread, ended),
            Happened::Signal(thread, signal) => self.traced.resume(thread, signal),
            Happened::Born { thread, by, birth } => self.born(thread, by, birth),
            Happened::Program(process) => self.program(process),
            Happened::Trap(thread) => {
                let process = self.processes.of(thread);
                let at = self.traced.next_instruction(thread).map_or(0, |rip| rip.wrapping_sub(1));
                match self.processes.purpose(process, at) {
                    Some(purpose) => return Ok(Stop::At(thread, at, purpose)),
                    None if self.processes.was_there(process, at) => {
                        self.traced.set_next_instruction(thread, at)?;
                        self.traced.resume(thread, 0);
                    }
                    // Its own.
                    None => self.traced.resume(thread, SIGTRAP),
                }
            }
        }
        Ok(Stop::Other)
    }

    fn gone(&mut self, thread: Thread, ended: Ended) {
        self.processes.gone(thread);
        if thread == self.traced.main() {
            self.ended = Some(ended);
        }
    }

    fn born(&mut self, thread: Thread, by: Thread, birth: Birth) {
        self.processes.born(thread, by, birth);
        if birth == Birth::Process && self.forks == Forks::Leave {
            self.processes.clear(thread);
            self.processes.gone(thread);
            self.traced.leave(thread);
            return;
        }
        // One that uses its maker's memory must be kept until it has its own: it may meet our breakpoints.
        self.traced.resume(thread, 0);
    }

    fn program(&mut self, process: Thread) {
        if process != self.traced.main() && self.forks == Forks::Leave {
            self.processes.gone(process);
            self.traced.leave(process);
            return;
        }
        self.processes.begin(process);
        if let Err(error) = self.processes.stop_at_begin(&self.traced, process) {
            self.unknown.push(error);
        }
        self.traced.resume(process, 0);
    }

    /// Waits until a process has the function; `None` if the program ends without.
    fn find(&mut self, name: &str) -> Result<Option<Target>, Error> {
        loop {
            let (thread, at, purpose) = match self.wait()? {
                Stop::At(thread, at, purpose) => (thread, at, purpose),
                Stop::End => return Ok(None),
                Stop::Other => continue,
            };
            let process = self.processes.of(thread);
            let modules = modules(process, &mut self.known);
            let found = Target::find(name, &modules);
            if let Ok(Some(target)) = &found {
                self.processes.set(&self.traced, process, target.entry, Purpose::Function)?;
            } else if purpose == Purpose::Begin {
                // It may come with a library that is loaded later.
                let hook = modules.iter().find_map(|m| m.function(LINKER_HOOK).ok().flatten());
                if let Some(hook) = hook {
                    self.processes.set(&self.traced, process, hook, Purpose::Libraries)?;
                }
            }
            if purpose == Purpose::Begin || matches!(found, Ok(Some(_))) {
                self.processes.remove(process, at);
            }
            self.go_on(thread, at)?;
            match found {
                Ok(Some(target)) => return Ok(Some(target)),
                Ok(None) => {}
                Err(error) => self.unknown.push(error),
            }
        }
    }

    /// Lets a thread go on at a breakpoint that it has met.
    fn go_on(&mut self, thread: Thread, at: u64) -> Result<(), Error> {
        let process = self.processes.of(thread);
        if self.traced.set_next_instruction(thread, at).is_err() {
            // Killed meanwhile: that is told next.
            self.traced.resume(thread, 0);
            return Ok(());
        }
        if self.processes.purpose(process, at).is_none() {
            self.traced.resume(thread, 0);
            return Ok(());
        }
        self.processes.lift(process, at)?;
        let stepped = self.traced.step(thread);
        self.processes.lower(process, at);
        match stepped {
            Ok(signals) => {
                // The last one is delivered now; the others are sent again.
                self.traced.resume(thread, signals.last().copied().unwrap_or(0));
            }
            Err(Happened::Gone(thread, ended)) => self.gone(thread, ended),
            Err(Happened::Program(process)) => self.program(process),
            Err(Happened::Born { thread: new, by, birth }) => {
                self.born(new, by, birth);
                self.traced.resume(thread, 0);
            }
            Err(_) => self.traced.resume(thread, 0),
        }
        Ok(())
    }

    /// Takes states until there are enough, then lets the program run to its end.
    fn take(&mut self, target: &Target, limits: Limits) -> Result<Found, Error> {
        let mut follower = Follower::new(target);
        let kept = Kept::new(limits.states);
        let mut found = Found { kept, hits: 0, left_out: BTreeMap::new(), compared: [0; 2], times: Vec::new() };
        let mut awaited: Option<Awaited> = None;
        let mut until: Option<Instant> = None;
        let mut enough = false;
        loop {
            let late = until.is_some_and(|until| Instant::now() >= until);
            if !enough && (late || found.hits >= limits.hits || interruptions() > 0) {
                enough = true;
                self.processes.clear_all();
            }
            let (thread, at, purpose) = match self.wait()? {
                Stop::At(thread, at, purpose) => (thread, at, purpose),
                Stop::End => return Ok(found),
                Stop::Other => continue,
            };
            let begin = Instant::now();
            let process = self.processes.of(thread);
            let mut interpreted = Duration::ZERO;
            match purpose {
                Purpose::Function if !self.processes.is_guest(process) => {
                    until.get_or_insert(begin + limits.time);
                    let hit = found.hits;
                    found.hits += 1;
                    let processor = self.traced.processor(thread)?;
                    let follow = Instant::now();
                    let followed = follower.follow(&self.traced, process, &processor);
                    interpreted = follow.elapsed();
                    match followed {
                        Ok((capture, prediction)) => {
                            if let Err(why) = found.kept.offer(capture) {
                                *found.left_out.entry(why).or_default() += 1;
                            }
                            let sampled = hit < COMPARED_AT_FIRST || hit.is_multiple_of(COMPARED_THEN);
                            if let (Some(prediction), true, None) = (prediction, sampled, &awaited) {
                                awaited = self.wait_for_return(process, thread, processor.general[4], prediction)?;
                            }
                        }
                        Err(why) => *found.left_out.entry(why).or_default() += 1,
                    }
                }
                Purpose::Function => {}
                Purpose::Return { thread: whose, rsp } => {
                    let processor = self.traced.processor(thread)?;
                    if whose == thread && processor.general[4] == rsp {
                        if let Some(awaited) = awaited.take() {
                            found.compared[0] += 1;
                            let agrees = awaited.prediction.has_come_true(&self.traced, process, &processor);
                            found.compared[1] += u64::from(agrees);
                            if !agrees {
                                tracing::debug!(?awaited.prediction, ?processor, "a state does not replay");
                            }
                        }
                        self.processes.remove(process, at);
                    }
                }
                Purpose::Begin => {
                    // A process that we follow has executed a program: perhaps the same.
                    self.processes.remove(process, at);
                    let same = |m: &Module| m.path == target.module.path && m.bias == target.module.bias;
                    if !enough && modules(process, &mut self.known).iter().any(same) {
                        self.processes.set(&self.traced, process, target.entry, Purpose::Function)?;
                    }
                }
                Purpose::Libraries => self.processes.remove(process, at),
            }
            if let Some(lost) = &awaited
                && self.processes.purpose(lost.process, lost.address).is_none()
            {
                awaited = None;
            }
            self.go_on(thread, at)?;
            if purpose == Purpose::Function {
                found.times.push((begin.elapsed().saturating_sub(interpreted), interpreted));
            }
        }
    }

    /// Has the process stop where the function returns to.
    fn wait_for_return(
        &mut self,
        process: Thread,
        thread: Thread,
        rsp: u64,
        prediction: Prediction,
    ) -> Result<Option<Awaited>, Error> {
        let mut word = [0; 8];
        if self.traced.read(process, rsp, &mut word) != word.len() {
            return Ok(None);
        }
        let address = u64::from_le_bytes(word);
        if self.processes.purpose(process, address).is_some() {
            return Ok(None);
        }
        let purpose = Purpose::Return { thread, rsp: rsp.wrapping_add(8) };
        self.processes.set(&self.traced, process, address, purpose)?;
        Ok(Some(Awaited { process, address, prediction }))
    }
}

/// signal(7).
const SIGTRAP: i32 = 5;
