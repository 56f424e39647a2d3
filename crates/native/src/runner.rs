//! The parent's side: starts the child, hands it batches, replaces it when it dies.

use crate::child::{self, Mapping};
use crate::region::{Region, SNIPPET, SNIPPET_SIZE, TRAMPOLINE};
use crate::state::{Fault, Input, NativeError, Outcome, Signal};
use crate::trampoline::{self, Vectors};
use std::time::Duration;

/// Memory that the code under test may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scratch {
    /// Where it lies; page-aligned.
    pub address: u64,
    /// Number of bytes.
    pub length: usize,
}

/// Runs snippets of code on many states each.
pub struct Runner {
    region: Region,
    scratch: Scratch,
    child: Option<Child>,
    /// Limit of one batch.
    pub limit: Duration,
}

/// A living child: its process and our ends of the pipes.
pub(crate) struct Child {
    process: libc::pid_t,
    requests: libc::c_int,
    answers: libc::c_int,
}

/// How waiting for an answer ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Answered,
    Died,
    TimedOut,
}

/// Fills the trampoline's part of a region.
pub(crate) fn prepare(region: &mut Region) {
    let code = trampoline::assemble(Vectors::of_processor());
    region.write(TRAMPOLINE, &code.bytes);
    let (finish, abort) = (region.address(code.finish), region.address(code.abort));
    let control = region.control();
    (control.finish, control.abort) = (finish, abort);
    // Intel SDM vol. 1, 10.2.3: the default, all exceptions masked, round to nearest.
    control.mxcsr = 0x1f80;
}

impl Child {
    /// Forks; `work` runs in the child with its ends of the pipes and must not return or allocate.
    pub fn start(work: impl FnOnce(libc::c_int, libc::c_int)) -> Result<Child, NativeError> {
        let (mut to, mut from) = ([0; 2], [0; 2]);
        // SAFETY: `pipe2` fills arrays of two descriptors; both were just made and are closed below or by drop.
        unsafe {
            if libc::pipe2(to.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                return Err(NativeError::last("make a pipe"));
            }
            if libc::pipe2(from.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                let error = NativeError::last("make a pipe");
                libc::close(to[0]);
                libc::close(to[1]);
                return Err(error);
            }
        }
        // SAFETY: the child only makes system calls and touches the shared region, which is sound after `fork`
        // in a process with threads; it never returns from this block.
        let process = unsafe { libc::fork() };
        if process == 0 {
            // SAFETY: our own descriptors; the child must not keep the parent's ends, or it would never see
            // the end of the requests.
            unsafe {
                libc::close(to[1]);
                libc::close(from[0]);
            }
            work(to[0], from[1]);
            child::leave(1);
        }
        // SAFETY: our own descriptors, not used afterwards.
        unsafe {
            libc::close(to[0]);
            libc::close(from[1]);
        }
        let child = Child { process, requests: to[1], answers: from[0] };
        if process < 0 {
            return Err(NativeError::last("fork"));
        }
        Ok(child)
    }

    pub fn request(&self) -> bool {
        // MSG_NOSIGNAL is for sockets; a dead reader would raise SIGPIPE, which Rust programs ignore.
        // SAFETY: writes one byte from a buffer of one byte.
        unsafe { libc::write(self.requests, [1u8].as_ptr().cast(), 1) == 1 }
    }

    pub fn wait(&self, limit: Duration) -> Waited {
        let mut poll = libc::pollfd { fd: self.answers, events: libc::POLLIN, revents: 0 };
        let timeout = libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: one descriptor, one `pollfd`.
        match unsafe { libc::poll(&mut poll, 1, timeout) } {
            0 => Waited::TimedOut,
            1 => {
                let mut byte = [0u8];
                // SAFETY: reads one byte into a buffer of one byte.
                match unsafe { libc::read(self.answers, byte.as_mut_ptr().cast(), 1) } {
                    1 => Waited::Answered,
                    _ => Waited::Died,
                }
            }
            _ => Waited::Died,
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the descriptors and the process are ours; the process has not been waited for yet, so its
        // number cannot belong to another one.
        unsafe {
            libc::close(self.requests);
            libc::close(self.answers);
            if self.process > 0 {
                libc::kill(self.process, libc::SIGKILL);
                libc::waitpid(self.process, std::ptr::null_mut(), 0);
            }
        }
    }
}

impl Runner {
    /// A runner for batches of up to `capacity` states.
    pub fn new(scratch: Scratch, capacity: usize) -> Result<Runner, NativeError> {
        let mut region = Region::new(capacity, scratch.length)?;
        prepare(&mut region);
        Ok(Runner { region, scratch, child: None, limit: Duration::from_secs(10) })
    }

    fn child(&mut self) -> Result<&Child, NativeError> {
        if self.child.is_none() {
            let scratch = Mapping {
                address: self.scratch.address,
                length: self.scratch.length,
                protection: libc::PROT_READ | libc::PROT_WRITE,
                file: None,
            };
            let region = &mut self.region;
            self.child = Some(Child::start(|requests, answers| child::serve(region, &scratch, requests, answers))?);
        }
        self.child.as_ref().ok_or(NativeError::TooLarge)
    }

    /// Address at which snippets run.
    pub fn code_address(&self) -> u64 {
        self.region.address(SNIPPET)
    }

    /// Runs the code, which must fall through at its end, on every state.
    pub fn run(&mut self, code: &[u8], inputs: &[Input]) -> Result<Vec<Outcome>, NativeError> {
        let jump = trampoline::jump_to_finish(SNIPPET + code.len());
        if code.len() + jump.len() > SNIPPET_SIZE || inputs.len() > self.region.capacity() {
            return Err(NativeError::TooLarge);
        }
        self.region.write(SNIPPET, code);
        self.region.write(SNIPPET + code.len(), &jump);
        for (i, input) in inputs.iter().enumerate() {
            let (record, memory) = self.region.record(i);
            record.state = input.state;
            let length = input.memory.len().min(memory.len());
            memory[..length].copy_from_slice(&input.memory[..length]);
            memory[length..].fill(0);
        }
        let entry = self.code_address();
        let control = self.region.control();
        (control.entry, control.count, control.done) = (entry, inputs.len() as u64, 0);

        let mut outcomes = Vec::with_capacity(inputs.len());
        let mut retried = None;
        while outcomes.len() < inputs.len() {
            let limit = self.limit;
            let child = self.child()?;
            let waited = if child.request() { child.wait(limit) } else { Waited::Died };
            let done = self.region.control().done as usize;
            for i in outcomes.len()..done.min(inputs.len()) {
                outcomes.push(self.outcome(i));
            }
            if waited != Waited::Answered {
                // The state after the last one that is done is to blame; go on behind it with a new child. A child
                // may also have died before it began: one that only died gets a second chance.
                self.child = None;
                let again = waited == Waited::Died && retried != Some(outcomes.len());
                retried = Some(outcomes.len());
                if outcomes.len() < inputs.len() && !again {
                    outcomes.push(if waited == Waited::TimedOut { Outcome::Timeout } else { Outcome::Killed });
                }
                self.region.control().done = outcomes.len() as u64;
            }
        }
        Ok(outcomes)
    }

    fn outcome(&mut self, i: usize) -> Outcome {
        let (record, memory) = self.region.record(i);
        match Signal::of_number(record.signal) {
            Some(signal) => Outcome::Fault(Fault { signal, address: record.fault_address }),
            None => Outcome::Done { state: record.state, memory: memory.to_vec() },
        }
    }
}

/// Runs a snippet on some states with a child of its own.
pub fn run_batch(code: &[u8], scratch: Scratch, inputs: &[Input]) -> Result<Vec<Outcome>, NativeError> {
    Runner::new(scratch, inputs.len().max(1))?.run(code, inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    const SCRATCH: Scratch = Scratch { address: 0x5000_0000, length: 4096 };

    fn input(rax: u64) -> Input {
        let mut state = State::default();
        state.general[0] = rax;
        state.general[4] = SCRATCH.address + 2048;
        Input { state, memory: Vec::new() }
    }

    fn general(outcome: &Outcome, number: usize) -> u64 {
        match outcome {
            Outcome::Done { state, .. } => state.general[number],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn runs_a_batch() {
        let code = [0x48, 0x8d, 0x44, 0x40, 0x05]; // lea rax, [rax + rax*2 + 5]
        let out = run_batch(&code, SCRATCH, &[input(1), input(100)]).unwrap();
        assert_eq!(general(&out[0], 0), 8);
        assert_eq!(general(&out[1], 0), 305);
    }

    #[test]
    fn reads_and_writes_scratch_memory() {
        let code = [0xff, 0x04, 0x25, 0, 0, 0, 0x50]; // inc dword [0x50000000]
        let mut start = input(0);
        start.memory = vec![0xff, 1];
        match &run_batch(&code, SCRATCH, &[start]).unwrap()[0] {
            Outcome::Done { state, memory } => {
                assert_eq!(memory[..4], [0, 2, 0, 0]);
                assert_eq!(state.flags & State::FLAGS, 0x14);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn faults_do_not_end_the_batch() {
        let code = [0x31, 0xd2, 0x48, 0xf7, 0xf0]; // xor edx, edx; div rax
        let out = run_batch(&code, SCRATCH, &[input(0), input(1)]).unwrap();
        assert!(matches!(out[0], Outcome::Fault(Fault { signal: Signal::Fpe, .. })), "{:?}", out[0]);
        assert_eq!(general(&out[1], 0), 1);
    }

    #[test]
    fn endless_loops_and_system_calls_cost_one_child_each() {
        // test eax, eax; js: mov eax, 39; syscall; jz self; fall through.
        let code = [0x85, 0xc0, 0x79, 0x07, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x74, 0xfe];
        let mut runner = Runner::new(SCRATCH, 4).unwrap();
        runner.limit = Duration::from_millis(100);
        let out = runner.run(&code, &[input(0), input(5), input(0x8000_0000), input(6)]).unwrap();
        assert_eq!(out[0], Outcome::Timeout);
        assert_eq!(general(&out[1], 0), 5);
        assert_eq!(out[2], Outcome::Killed);
        assert_eq!(general(&out[3], 0), 6);
    }
}
