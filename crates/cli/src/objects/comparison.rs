//! Compares the pairs of two files, and tells each answer as soon as it is there.
//!
//! What can be proved of the functions around a pair takes seconds for a large file, because all of it is lifted. So it is
//! looked for beside everything else, and pairs that need none of it come first: functions that call nothing. What the
//! answer is does not depend on what is ready when (`pair::Alone`): a pair of these is always tried without lemmas first.
//! The lemmas are proved only then, because no caller may use another convention than the one of such a proof.

use crate::check::{LEMMAS_HANG, no_facts, outcome, patience, unknown};
use crate::complain;
use crate::objects::assume::Assumed;
use crate::objects::conditional::ConditionalArguments;
use crate::objects::input::unsupported;
use crate::objects::native::{Objects, Trial};
use crate::pairing::Matched;
use crate::pool::{self, Finished, Pool, Timed};
use crate::stop::{Stop, Why};
use kernel::lemma::Facts;
use pair::{Alone, Files, Prepared};
use search::{Outcome, Reason, ReasonKind, Session, Verdict};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use term::Arena;

/// What is to be compared, and how.
pub struct Task {
    pub files: Arc<Files>,
    pub pairs: Vec<Matched>,
    pub session: Arc<Session>,
    pub assumed: Option<Assumed>,
    pub conditional: ConditionalArguments,
    /// Both files, ready to be run, if that is allowed.
    pub objects: Option<Objects>,
}

/// How much may be done at the same time, and how long.
pub struct Effort {
    pub workers: NonZeroUsize,
    /// Time limit for each pair.
    pub timeout: Duration,
}

/// Between two looks at everything that may have happened.
const POLL: Duration = Duration::from_millis(20);

/// Functions that are named of those that contain one that was inlined.
const MOST_CONTAINING: usize = 4;

/// What a job says of its pair.
enum Step {
    Decided(Box<Outcome>, Option<Trial>),
    /// It needs to be known what is around the pair.
    Later,
}

/// What all jobs see.
struct Shared {
    task: Task,
    facts: OnceLock<Facts>,
    /// Who uses which function of the original, once somebody asks.
    users: OnceLock<BTreeMap<usize, BTreeSet<usize>>>,
}

/// Compares all pairs. `tell` hears of each answer, and may say that what was looked for is found. Why it ended early, if it did.
pub fn compare_all(
    task: Task,
    effort: &Effort,
    stop: &mut Stop,
    tell: &mut dyn FnMut(usize, Outcome, Duration, &mut Stop),
) -> Option<Why> {
    let count = task.pairs.len();
    let both: Vec<[usize; 2]> = task.pairs.iter().filter_map(Matched::both).collect();
    let shared = Arc::new(Shared { task, facts: OnceLock::new(), users: OnceLock::new() });
    let (proved, alone) = channel();
    let mut proved = Some(proved);
    let mut lemmas = find_facts(Arc::clone(&shared.task.files), both, alone);
    let settings = pool::Settings { workers: effort.workers, patience: patience(effort.timeout) };
    let mut pool = {
        let shared = Arc::clone(&shared);
        // The second half are the same pairs, with lemmas.
        Pool::new(settings, move |job| if job < count { shared.first(job) } else { shared.second(job - count) })
    };
    let mut finisher = Finisher::new();
    let (mut first, mut second): (VecDeque<usize>, VecDeque<usize>) = ((0..count).collect(), VecDeque::new());
    let (mut first_running, mut without, mut spent) = (0, Vec::new(), vec![Duration::ZERO; count]);
    loop {
        if let Some(why) = stop.now() {
            // What is proved already only waits for its runs; somebody who interrupts does not.
            while why != Why::Interrupted && !finisher.is_idle() {
                for Answer { pair, outcome, time } in finisher.finished() {
                    tell(pair, outcome, time, stop);
                }
                thread::sleep(POLL);
            }
            return Some(why);
        }
        let tried = first.is_empty() && first_running == 0;
        if tried && let Some(proved) = proved.take() {
            // Nobody listens if the search for lemmas is over.
            let _ = proved.send(std::mem::take(&mut without));
        }
        if tried && shared.facts.get().is_none() {
            let found = lemmas.wait(Duration::ZERO).pop().map(|(_, timed)| timed.finished);
            match found {
                Some(Finished::Done(facts)) => drop(shared.facts.set(facts)),
                Some(failed) => {
                    if let Finished::Panicked(message) = failed {
                        complain(&no_facts(&message));
                    }
                    drop(shared.facts.set(Facts::default()));
                }
                None => {}
            }
        }
        while pool.has_room() {
            if let Some(pair) = first.pop_front() {
                first_running += 1;
                pool.start(pair);
            } else if shared.facts.get().is_some()
                && let Some(pair) = second.pop_front()
            {
                pool.start(count + pair);
            } else {
                break;
            }
        }
        for (job, Timed { finished, time }) in pool.wait(POLL) {
            let pair = if job < count { job } else { job - count };
            first_running -= usize::from(job < count);
            spent[pair] += time;
            let (outcome, trial) = match finished {
                Finished::Done(Step::Later) => {
                    second.push_back(pair);
                    continue;
                }
                Finished::Done(Step::Decided(outcome, trial)) => (*outcome, trial),
                Finished::Panicked(message) => (outcome(Finished::Panicked(message), time), None),
                Finished::Overdue => (outcome(Finished::Overdue, time), None),
            };
            if job < count && matches!(outcome.verdict, Verdict::Equivalent(_)) {
                without.extend(shared.task.pairs[pair].both());
            }
            finisher.take(Answer { pair, outcome, time: spent[pair] }, trial);
        }
        for Answer { pair, outcome, time } in finisher.finished() {
            tell(pair, outcome, time, stop);
        }
        if pool.is_idle() && finisher.is_idle() {
            if first.is_empty() && second.is_empty() {
                return None;
            }
            // Only the lemmas are missing.
            thread::sleep(POLL);
        }
    }
}

/// What can be proved of functions around the pairs. The proof waits for the pairs that are proved without it; if nobody names
/// them, nobody needs the lemmas.
fn find_facts(files: Arc<Files>, pairs: Vec<[usize; 2]>, alone: Receiver<Vec<[usize; 2]>>) -> Pool<Facts> {
    let alone = Mutex::new(alone);
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: LEMMAS_HANG };
    let mut pool = Pool::new(settings, move |_| {
        let mut around = files.surroundings();
        let lemmas = propose::propose(&mut around);
        let alone = alone.lock().unwrap_or_else(PoisonError::into_inner).recv();
        alone.map_or_else(|_| Facts::default(), |alone| files.prove(around, &lemmas, &pairs, &alone))
    });
    pool.start(0);
    pool
}

impl Shared {
    /// A pair as long as nothing is known of what is around it.
    fn first(&self, index: usize) -> Step {
        let pair = &self.task.pairs[index];
        let Some(both) = pair.both() else {
            return Step::Decided(Box::new(unknown(self.missing(pair))), None);
        };
        // A condition is inferred with all that is known.
        if self.task.conditional.conditional {
            return Step::Later;
        }
        let (prepared, alone) = match self.task.files.prepare_alone(both) {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return Step::Later,
            Err(error) => return Step::Decided(Box::new(unknown(unsupported(error))), None),
        };
        let Prepared { mut arena, pair: programs } = self.assume(prepared, pair);
        let outcome = match alone {
            Alone::Settled => Some(self.check(&mut arena, &programs)),
            Alone::ProofOnly => self.task.session.prove_pair(&mut arena, &programs),
        };
        let Some(outcome) = outcome else { return Step::Later };
        self.warn(pair, &programs);
        self.run(both, outcome)
    }

    /// A pair with all that is known.
    fn second(&self, index: usize) -> Step {
        let (pair, nothing) = (&self.task.pairs[index], Facts::default());
        let Some(both) = pair.both() else { return Step::Later };
        let facts = self.facts.get().unwrap_or(&nothing);
        if self.task.conditional.conditional {
            let assumed = self.task.assumed.as_ref().filter(|assumed| assumed.function == pair.original);
            let precondition = assumed.map(|assumed| assumed.precondition.clone()).unwrap_or_default();
            let (session, files) = (&self.task.session, &self.task.files);
            return self.run(both, self.task.conditional.infer(session, files, facts, both, &precondition));
        }
        let prepared = match self.task.files.prepare(both, facts) {
            Ok(prepared) => prepared,
            Err(error) => return Step::Decided(Box::new(unknown(unsupported(error))), None),
        };
        let Prepared { mut arena, pair: programs } = self.assume(prepared, pair);
        self.warn(pair, &programs);
        let outcome = self.check(&mut arena, &programs);
        self.run(both, outcome)
    }

    /// Why the candidate lacks a function. A local one that nobody has to find may be gone into those that used it.
    fn missing(&self, pair: &Matched) -> Reason {
        let (original, candidate) = (self.task.files.original(), self.task.files.candidate());
        let name = original.name(pair.original);
        // Compilers give what they have made of a function a longer name.
        let names = candidate.names();
        let made =
            names.iter().flatten().find(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
        if let Some(made) = made {
            let detail = format!("the candidate has only `{made}`, which a compiler has made of it");
            return Reason::new(ReasonKind::MissingFunction, detail);
        }
        let users = if original.is_local(pair.original) { self.containing(pair.original) } else { BTreeSet::new() };
        if users.is_empty() {
            return Reason::new(ReasonKind::MissingFunction, "the candidate has no function of that name");
        }
        let names: Vec<&str> = users.iter().take(MOST_CONTAINING).map(|user| original.name(*user)).collect();
        let more = match users.len().saturating_sub(MOST_CONTAINING) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        Reason::new(ReasonKind::Inlined, format!("into {}{more}", names.join(", ")))
    }

    /// Functions of both files that use a local one of the original, by way of others that are gone, too.
    fn containing(&self, function: usize) -> BTreeSet<usize> {
        let (original, candidate) = (self.task.files.original(), self.task.files.candidate());
        let users = self.users.get_or_init(|| original.users());
        let (mut open, mut seen, mut found) = (vec![function], BTreeSet::new(), BTreeSet::new());
        while let Some(gone) = open.pop() {
            for user in users.get(&gone).into_iter().flatten().filter(|user| **user != function) {
                if candidate.find(original.name(*user)).is_some() {
                    found.insert(*user);
                } else if seen.insert(*user) {
                    open.push(*user);
                }
            }
        }
        found
    }

    /// The pair under the user's condition, if there is one about it.
    fn assume(&self, Prepared { mut arena, mut pair }: Prepared, matched: &Matched) -> Prepared {
        if let Some(assumed) = self.task.assumed.as_ref().filter(|assumed| assumed.function == matched.original) {
            pair = pair.under(assumed.precondition.clone());
        }
        for axiom in pair.precondition().axioms() {
            arena.allow(*axiom);
        }
        Prepared { arena, pair }
    }

    /// Decides a pair, with a hint at what is missing where it differs.
    fn check(&self, arena: &mut Arena, programs: &kernel::Pair) -> Outcome {
        let mut outcome = self.task.session.check_pair(arena, programs);
        if let Verdict::Different(witness) = &outcome.verdict {
            outcome.hint = self.task.session.hint(arena, programs, witness);
        }
        outcome
    }

    fn warn(&self, matched: &Matched, programs: &kernel::Pair) {
        let ours = programs.original();
        let tests = self.task.session.tests().iter().enumerate();
        for (i, test) in tests.filter(|(_, test)| test.function.as_ref() == Some(&matched.name)) {
            for name in test.unknown_names(ours) {
                complain(&format!("warning: test {}: {} has no argument `{name}`", i + 1, ours.name));
            }
        }
    }

    /// Begins to run a proof on the CPU.
    fn run(&self, both: [usize; 2], mut outcome: Outcome) -> Step {
        let objects = self.task.objects.as_ref();
        let trial = objects.and_then(|objects| objects.try_proof(&self.task.files, both, &mut outcome));
        Step::Decided(Box::new(outcome), trial)
    }
}

/// An answer about a pair, and the time that it took.
struct Answer {
    pair: usize,
    outcome: Outcome,
    time: Duration,
}

/// Waits for native runs, which go on beside other pairs, on a thread of its own.
struct Finisher {
    to: Option<Sender<(Answer, Option<Trial>)>>,
    from: Receiver<Answer>,
    waiting: usize,
    done: Vec<Answer>,
}

impl Finisher {
    fn new() -> Finisher {
        let (to, work) = channel::<(Answer, Option<Trial>)>();
        let (done, from) = channel();
        let wait = move || {
            for (mut answer, trial) in work {
                answer.time += trial.map_or(Duration::ZERO, |trial| trial.finish(&mut answer.outcome));
                if done.send(answer).is_err() {
                    break;
                }
            }
        };
        let started = thread::Builder::new().name("native runs".to_string()).spawn(wait);
        Finisher { to: started.is_ok().then_some(to), from, waiting: 0, done: Vec::new() }
    }

    fn take(&mut self, mut answer: Answer, trial: Option<Trial>) {
        match (&self.to, trial) {
            (_, None) => self.done.push(answer),
            (Some(to), trial) => {
                self.waiting += 1;
                if let Err(unsent) = to.send((answer, trial)) {
                    self.waiting -= 1;
                    self.done.push(unsent.0.0);
                }
            }
            (None, Some(trial)) => {
                answer.time += trial.finish(&mut answer.outcome);
                self.done.push(answer);
            }
        }
    }

    fn finished(&mut self) -> Vec<Answer> {
        let mut done = std::mem::take(&mut self.done);
        while let Ok(answer) = self.from.try_recv() {
            self.waiting -= 1;
            done.push(answer);
        }
        done
    }

    fn is_idle(&self) -> bool {
        self.waiting == 0 && self.done.is_empty()
    }
}
