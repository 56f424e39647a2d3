//! `lockstep record`: start states of a function from a running program. docs/record.md says how.

use crate::arguments::RecordArguments;
use crate::complain;
use crate::status::{Failure, Status};
use record::{Ended, Forks, Limits, Recording, record, render};

/// Entries that are looked at.
const MOST_HITS: u64 = 100_000;
/// Lifting recurses over expressions.
const STACK: usize = 256 << 20;

/// Runs the command and writes what was recorded.
pub fn run(arguments: &RecordArguments) -> Result<Status, Failure> {
    // Told before the program runs.
    let output = arguments.output.display();
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&arguments.output)
        .map_err(|error| Failure(format!("{output}: {error}")))?;
    let forks = if arguments.forks { Forks::Follow } else { Forks::Leave };
    let limits = Limits { states: arguments.max as usize, hits: MOST_HITS, time: arguments.seconds };
    let recording = std::thread::scope(|scope| {
        let work = || record(&arguments.command, &arguments.function, limits, forks);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Failure(format!("no thread: {error}")))?;
        let result =
            thread.join().map_err(|_| Failure("internal: the recorder panicked; please report it".to_string()))?;
        result.map_err(|error| Failure(error.to_string()))
    })?;
    std::fs::write(&arguments.output, render(&recording)).map_err(|error| Failure(format!("{output}: {error}")))?;
    for line in summary(&recording, &arguments.function, &output.to_string()) {
        complain(&line);
    }
    Ok(if recording.is_empty() { Status::Unknown } else { Status::Good })
}

fn summary(recording: &Recording, function: &str, output: &str) -> Vec<String> {
    let ended = match recording.ended {
        Ended::Status(status) => format!("the program exited with status {status}"),
        Ended::Signal(signal) => format!("the program was ended by signal {signal}"),
    };
    if recording.hits == 0 {
        return vec![format!("`{function}` of {} was never entered; {ended}", recording.file().display())];
    }
    let mut out = vec![format!(
        "{} start states of `{function}` by {} paths, of {} entries, in {output}; {ended}",
        recording.len(),
        recording.paths,
        recording.hits
    )];
    if recording.partial() > 0 {
        out.push(format!(
            "{} of them are partial: they were followed to a call of another function, or for long",
            recording.partial()
        ));
    }
    let [compared, agreed] = recording.compared;
    if compared > 0 {
        out.push(format!("{agreed} of {compared} that were compared did in the program what the interpreter says"));
    }
    let [stopped, interpreted] = recording.stopped.map(|time| time.as_secs_f64() * 1e6);
    out.push(format!("an entry took {stopped:.0} µs, and {interpreted:.0} µs to follow it (medians)"));
    for (why, count) in &recording.left_out {
        out.push(format!("{count} entries were left out: {why}"));
    }
    out
}
