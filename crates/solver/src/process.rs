//! One living solver process.
//!
//! The plain standard library instead of `easy-smt`: that crate waits for replies without a limit, and a limit is the
//! point here. A thread owns the solver's output; the caller waits on a channel and looks from time to time whether it
//! was interrupted; then the process is killed. No clock is read: what the process may do is limited by its own count. A message that fits into an empty pipe is written at once, which cannot block: the
//! solver has read everything up to its last reply. A longer one is written by a thread, in case the solver does not
//! read.
//!
//! Every message ends with an `echo` of a number never used before: a late reply to an earlier question cannot be
//! taken for the reply to this one.

use interrupt::Interrupt;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Shorter messages fit into an empty pipe (Linux: 64 KiB).
const PIPE: usize = 1 << 15;

/// How often a waiting caller looks whether it was interrupted.
const POLL: Duration = Duration::from_millis(5);

/// How long we wait for more of what a dead solver has written.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A reply longer than this is no reply.
const MAX_REPLY: usize = 1 << 26;

/// Why a process gave no reply. In each case it has been killed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The caller was interrupted.
    Stopped,
    /// It ended; with what it said last.
    Died(String),
    /// It wrote too much.
    Babble,
}

/// What ends a conversation early.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a> {
    /// Nobody waits for any answer.
    pub(crate) interrupt: &'a Interrupt,
    /// Another solver was faster.
    pub(crate) decided: &'a AtomicBool,
}

impl Stop<'_> {
    fn is_asked(&self) -> bool {
        self.decided.load(Ordering::Relaxed) || self.interrupt.is_tripped()
    }
}

/// Who holds the pipe to the solver.
enum Input {
    Idle(ChildStdin),
    Writing(JoinHandle<std::io::Result<ChildStdin>>),
    Closed,
}

/// A solver process with its pipes.
pub(crate) struct Process {
    child: Child,
    input: Input,
    output: Receiver<Vec<u8>>,
    pending: Vec<u8>,
    messages: u64,
}

impl Process {
    /// Starts a command. `memory_mb` limits its address space, if given.
    pub(crate) fn spawn(words: &[String], memory_mb: Option<u32>) -> std::io::Result<Process> {
        let mut command = match memory_mb {
            // The shell replaces itself by the solver: the child that we kill is the solver.
            Some(memory) => {
                let mut shell = Command::new("sh");
                let limit = u64::from(memory) * 1024;
                shell.arg("-c").arg(format!("ulimit -v {limit} 2>/dev/null; exec \"$0\" \"$@\"")).args(words);
                shell
            }
            None => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
        };
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let missing = || std::io::Error::other("no pipe to the solver");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        // A bounded channel: a solver that writes without end is stopped by its pipe, not by our memory.
        let (chunks, output) = mpsc::sync_channel(16);
        Builder::new().name("solver-output".into()).spawn(move || forward(stdout, &chunks))?;
        Ok(Process { child, input: Input::Idle(stdin), output, pending: Vec::new(), messages: 0 })
    }

    /// Sends commands and returns what the solver writes in reply.
    pub(crate) fn converse(&mut self, commands: &str, stop: &Stop<'_>) -> Result<String, Failure> {
        self.messages += 1;
        let marker = format!("end-of-reply-{}-{}", self.child.id(), self.messages);
        if self.send(format!("{commands}\n(echo \"{marker}\")\n"), stop).is_err() {
            return Err(self.died());
        }
        let mut searched = 0;
        loop {
            if let Some((start, end)) = find_line(&self.pending, searched, &marker) {
                let reply = String::from_utf8_lossy(&self.pending[..start]).into_owned();
                self.pending.drain(..end);
                return Ok(reply);
            }
            searched = self.pending.len().saturating_sub(marker.len() + 4);
            if self.pending.len() > MAX_REPLY {
                return Err(self.end(Failure::Babble));
            }
            if stop.is_asked() {
                return Err(self.end(Failure::Stopped));
            }
            match self.output.recv_timeout(POLL) {
                Ok(chunk) => self.pending.extend_from_slice(&chunk),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    fn send(&mut self, message: String, stop: &Stop<'_>) -> std::io::Result<()> {
        let mut stdin = match std::mem::replace(&mut self.input, Input::Closed) {
            Input::Idle(stdin) => stdin,
            Input::Writing(thread) => {
                // The solver has replied to what this thread wrote, so it is done, or about to be.
                while !thread.is_finished() && !stop.is_asked() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                if !thread.is_finished() {
                    return Err(closed());
                }
                thread.join().unwrap_or_else(|_| Err(closed()))?
            }
            Input::Closed => return Err(closed()),
        };
        if message.len() <= PIPE {
            stdin.write_all(message.as_bytes())?;
            self.input = Input::Idle(stdin);
        } else {
            let write = move || stdin.write_all(message.as_bytes()).map(|()| stdin);
            self.input = Input::Writing(Builder::new().name("solver-input".into()).spawn(write)?);
        }
        Ok(())
    }

    fn end(&mut self, failure: Failure) -> Failure {
        self.kill();
        failure
    }

    fn died(&mut self) -> Failure {
        self.kill();
        // The thread that reads may be behind.
        while self.pending.len() <= MAX_REPLY
            && let Ok(chunk) = self.output.recv_timeout(LAST_WORDS)
        {
            self.pending.extend_from_slice(&chunk);
        }
        let said = String::from_utf8_lossy(&self.pending);
        let last: String = said.trim().lines().last().unwrap_or("").chars().take(200).collect();
        Failure::Died(last)
    }

    fn kill(&mut self) {
        // Both fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn closed() -> std::io::Error {
    std::io::Error::from(std::io::ErrorKind::BrokenPipe)
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn forward(mut stdout: impl Read, chunks: &SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; 1 << 14];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if chunks.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Where the line that consists of the marker, in quotes or not, begins and where the next one begins.
fn find_line(text: &[u8], from: usize, marker: &str) -> Option<(usize, usize)> {
    let from = text[..from].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let mut start = from;
    while let Some(length) = text[start..].iter().position(|b| *b == b'\n') {
        let line = text[start..start + length].trim_ascii();
        let bare = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
        if bare == marker.as_bytes() {
            return Some((start, start + length + 1));
        }
        start += length + 1;
    }
    None
}
