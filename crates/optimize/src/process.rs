//! Other programs: run without a shell, in a process group of their own, for a limited time.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a program did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ran {
    /// It ended well.
    Good,
    /// It did not: what it said.
    Failed(String),
    /// It took too long and was ended.
    Overdue,
    /// There is no such program, or it cannot be started.
    Missing(String),
}

/// Longest message that is kept.
const LONGEST: u64 = 1 << 16;

/// Runs a command to its end, or to the end of its time.
pub fn run(command: &mut Command, limit: Duration) -> Ran {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ran::Missing(error.to_string()),
    };
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.by_ref().take(LONGEST).read_to_end(&mut text);
            // What nobody keeps must not block the program.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        }
        String::from_utf8_lossy(&text).trim().to_string()
    });
    let status = wait(&mut child, Instant::now() + limit);
    let said = reader.join().unwrap_or_default();
    match status {
        Some(true) => Ran::Good,
        Some(false) => Ran::Failed(said),
        None => Ran::Overdue,
    }
}

/// Did it end well? `None` if its time was over; then it and its children are gone.
fn wait(child: &mut Child, deadline: Instant) -> Option<bool> {
    let mut pause = Duration::from_micros(500);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < deadline => {}
            _ => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return None;
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_well_or_badly_or_not_at_all() {
        let shell = |script: &str, limit| run(Command::new("sh").args(["-c", script]), limit);
        let long = Duration::from_secs(60);
        assert_eq!(shell("exit 0", long), Ran::Good);
        assert_eq!(shell("echo wrong >&2; exit 3", long), Ran::Failed("wrong".to_string()));
        let start = Instant::now();
        assert_eq!(shell("sleep 100 & sleep 100", Duration::from_millis(50)), Ran::Overdue);
        assert!(start.elapsed() < Duration::from_secs(20));
        assert!(matches!(run(&mut Command::new("/nowhere/at/all"), long), Ran::Missing(_)));
    }
}
