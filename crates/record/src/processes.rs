//! Processes of a traced program and the breakpoints in them.

use crate::error::Error;
use crate::modules;
use native::traced::{Birth, Thread, Traced};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

/// What a breakpoint is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The program begins: its libraries are there.
    Begin,
    /// The dynamic linker has loaded or unloaded something.
    Libraries,
    /// The function.
    Function,
    /// Where the function returns to, for somebody with this stack pointer.
    Return { thread: Thread, rsp: u64 },
}

/// Memory of a process that we may write, and what is written there.
struct Process {
    memory: Option<File>,
    breakpoints: BTreeMap<u64, (u8, Purpose)>,
    /// Where breakpoints were: a thread may have met one and not have told yet.
    removed: BTreeSet<u64>,
    /// Does it use the memory of another until it executes a program?
    guest: bool,
}

/// All processes and whose thread each is.
pub(crate) struct Processes {
    processes: HashMap<Thread, Process>,
    threads: HashMap<Thread, Thread>,
}

/// `int3`.
const TRAP: u8 = 0xcc;

impl Processes {
    pub fn new(main: Thread) -> Processes {
        let mut out = Processes { processes: HashMap::new(), threads: HashMap::new() };
        out.begin(main);
        out
    }

    /// The process of a thread.
    pub fn of(&self, thread: Thread) -> Thread {
        self.threads.get(&thread).copied().unwrap_or(thread)
    }

    /// A process executes a new program: its memory is new.
    pub fn begin(&mut self, process: Thread) {
        let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem")).ok();
        let (breakpoints, removed) = Default::default();
        self.processes.insert(process, Process { memory, breakpoints, removed, guest: false });
        self.threads.insert(process, process);
    }

    /// A new thread or process.
    pub fn born(&mut self, thread: Thread, by: Thread, birth: Birth) {
        let parent = self.of(by);
        if birth == Birth::Thread {
            self.threads.insert(thread, parent);
            return;
        }
        let (breakpoints, removed) =
            self.processes.get(&parent).map(|p| (p.breakpoints.clone(), p.removed.clone())).unwrap_or_default();
        self.begin(thread);
        if let Some(process) = self.processes.get_mut(&thread) {
            (process.breakpoints, process.removed, process.guest) = (breakpoints, removed, birth == Birth::Guest);
        }
    }

    /// Does a process use another's memory?
    pub fn is_guest(&self, process: Thread) -> bool {
        self.processes.get(&process).is_some_and(|p| p.guest)
    }

    pub fn gone(&mut self, thread: Thread) {
        self.threads.remove(&thread);
        self.processes.remove(&thread);
    }

    /// What the breakpoint at an address is for.
    pub fn purpose(&self, process: Thread, address: u64) -> Option<Purpose> {
        self.processes.get(&process)?.breakpoints.get(&address).map(|(_, purpose)| *purpose)
    }

    /// Was there a breakpoint at an address?
    pub fn was_there(&self, process: Thread, address: u64) -> bool {
        self.processes.get(&process).is_some_and(|p| p.removed.contains(&address))
    }

    /// Sets a breakpoint, if there is none at that address yet.
    pub fn set(&mut self, traced: &Traced, process: Thread, address: u64, purpose: Purpose) -> Result<(), Error> {
        let Some(known) = self.processes.get_mut(&process) else { return Ok(()) };
        if known.breakpoints.contains_key(&address) {
            return Ok(());
        }
        let mut byte = [0];
        if traced.read(process, address, &mut byte) != 1 {
            return Err(Error::System(format!("cannot read the program's code at {address:#x}")));
        }
        known.write(address, TRAP)?;
        known.breakpoints.insert(address, (byte[0], purpose));
        known.removed.remove(&address);
        Ok(())
    }

    /// Takes a breakpoint away.
    pub fn remove(&mut self, process: Thread, address: u64) {
        if let Some(known) = self.processes.get_mut(&process)
            && let Some((byte, _)) = known.breakpoints.remove(&address)
        {
            known.removed.insert(address);
            // A process that is gone has no code.
            let _ = known.write(address, byte);
        }
    }

    /// Takes all breakpoints out of a process.
    pub fn clear(&mut self, process: Thread) {
        let Some(known) = self.processes.get(&process) else { return };
        for address in known.breakpoints.keys().copied().collect::<Vec<_>>() {
            self.remove(process, address);
        }
    }

    /// Takes all breakpoints out of everything.
    pub fn clear_all(&mut self) {
        for process in self.processes.keys().copied().collect::<Vec<_>>() {
            self.clear(process);
        }
    }

    /// Shows the code without a breakpoint, or with it again: for one step of one thread.
    pub fn lift(&mut self, process: Thread, address: u64) -> Result<(), Error> {
        match self.processes.get(&process) {
            Some(known) => known.breakpoints.get(&address).map_or(Ok(()), |(byte, _)| known.write(address, *byte)),
            None => Ok(()),
        }
    }

    /// The other half of [`Processes::lift`].
    pub fn lower(&mut self, process: Thread, address: u64) {
        if let Some(known) = self.processes.get(&process)
            && known.breakpoints.contains_key(&address)
        {
            let _ = known.write(address, TRAP);
        }
    }

    /// Has a process stop where its program begins.
    pub fn stop_at_begin(&mut self, traced: &Traced, process: Thread) -> Result<(), Error> {
        let entry = modules::entry(process)?;
        self.set(traced, process, entry, Purpose::Begin)
    }
}

impl Process {
    fn write(&self, address: u64, byte: u8) -> Result<(), Error> {
        let failed = |why: String| Error::System(format!("cannot set a breakpoint: {why}"));
        let memory = self.memory.as_ref().ok_or_else(|| failed("its memory cannot be written".to_string()))?;
        memory.write_all_at(&[byte], address).map_err(|error| failed(error.to_string()))
    }
}
