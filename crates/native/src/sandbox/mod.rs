//! Code of files that nobody vouches for, run in a process of its own.
//!
//! We write a program for each [`Sandbox`]: an ELF file in memory whose segments are exactly what the code may see, and
//! whose entry is a stub of ours ([`image`]). A process executes it ([`launch`]), so that nothing of ours is in its
//! address space: no memory, no descriptor, no environment. The stub closes all descriptors, unmaps what the system
//! kernel has put beside our segments, and installs a seccomp filter that allows *no* system call; then it stops.
//! From there on we drive it as its tracer ([`tracee`]): we set registers and memory, let it run until it traps,
//! faults or uses up its time, and look at registers and memory. It tells us nothing by itself, so there is nothing
//! that it could forge: what we read has sizes that we chose.
//!
//! Who is lost: a process whose tracer dies is killed by the system kernel (`PTRACE_O_EXITKILL`).
//!
//! Trust: none for proofs. If it is wrong, hostile code may harm the user: see docs/security.md.

mod image;
mod launch;
pub(crate) mod processor;
mod tracee;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use image::{Clock, Image, Segment, Zeros};
pub use processor::{Processor, Vectors};

use crate::state::{Fault, NativeError, Signal};
use std::time::Duration;
use tracee::{Event, Tracee};

/// A process with chosen memory that can do nothing but compute.
pub struct Sandbox {
    tracee: Tracee,
    image: Image,
    /// First byte and end of each piece of memory, by address.
    extents: Vec<(u64, u64)>,
}

/// How far one [`Sandbox::run`] may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Processor time of the code.
    pub processor: Duration,
    /// Time by the clock, for a machine that has other things to do.
    pub clock: Duration,
}

/// Why the code stopped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stop {
    /// At an `int3`: `rip` is behind it.
    Trap,
    /// The processor stopped it.
    Fault(Fault),
    /// It has used its processor time.
    OutOfTime,
}

impl Sandbox {
    /// Starts a process with these segments, which lie apart from each other and inside [`Sandbox::LOWEST`] to
    /// [`Sandbox::HIGHEST`].
    pub fn start(segments: &[Segment]) -> Result<Sandbox, NativeError> {
        Sandbox::of(Image::new(segments)?, &[])
    }

    /// Starts a process with the segments of an image and these pieces beside them.
    pub fn of(image: Image, zeros: &[Zeros]) -> Result<Sandbox, NativeError> {
        let mut tracee = launch::launch(image.program(zeros)?)?;
        // The stub runs to its trap; all of its steps must have succeeded.
        let limits = Limits { processor: Duration::from_secs(1), clock: Duration::from_secs(10) };
        match tracee.resume(limits)? {
            Event::Stopped(Signal::Trap, _) => {}
            _ => return Err(NativeError::Unavailable("the system does not let a process be confined")),
        }
        let extents = image.extents(zeros);
        Ok(Sandbox { tracee, image, extents })
    }

    /// Ends the process. Its image is as it was before.
    pub fn end(self) -> Image {
        drop(self.tracee);
        self.image
    }

    /// No segment begins below this address: the stub is there.
    pub const LOWEST: u64 = 0x20_0000;
    /// No segment ends above this address: the system kernel puts its own things there first. Far below it, it may do so, too, where it
    /// chooses addresses at random; then a sandbox with a segment at such a place does not start.
    pub const HIGHEST: u64 = 0x7ffe_0000_0000;

    /// Overwrites memory in one of the writable segments.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), NativeError> {
        self.write_all(&[(address, bytes)])
    }

    /// Overwrites several pieces of memory at once.
    pub fn write_all(&mut self, pieces: &[(u64, &[u8])]) -> Result<(), NativeError> {
        for (address, bytes) in pieces {
            self.inside(*address, bytes.len())?;
        }
        self.tracee.write(pieces)
    }

    /// Reads memory of one of the segments.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), NativeError> {
        self.read_all(&mut [(address, bytes)])
    }

    /// Reads several pieces of memory at once.
    pub fn read_all(&mut self, pieces: &mut [(u64, &mut [u8])]) -> Result<(), NativeError> {
        for (address, bytes) in pieces.iter() {
            self.inside(*address, bytes.len())?;
        }
        self.tracee.read(pieces)
    }

    /// Which of so many pages from an address on anybody has written to since the start.
    pub fn written(&mut self, address: u64, pages: usize) -> Result<Vec<u64>, NativeError> {
        self.tracee.own_pages(address, pages)
    }

    /// The registers while the code stands.
    pub fn processor(&mut self) -> Result<Processor, NativeError> {
        self.tracee.processor()
    }

    /// Sets the registers.
    pub fn set_processor(&mut self, processor: &Processor) -> Result<(), NativeError> {
        self.tracee.set_processor(processor)
    }

    /// Has the code computed with a denormal number since its registers were set?
    pub fn met_denormal(&mut self) -> Result<bool, NativeError> {
        self.tracee.met_denormal()
    }

    /// Lets the code run from its registers. An error means that the process is gone: it made a system call, or the
    /// machine was too busy.
    pub fn run(&mut self, limits: Limits) -> Result<Stop, NativeError> {
        Ok(match self.tracee.resume(limits)? {
            Event::Stopped(Signal::Trap, _) => Stop::Trap,
            Event::Stopped(signal, address) => Stop::Fault(Fault { signal, address }),
            Event::OutOfTime => Stop::OutOfTime,
        })
    }

    fn inside(&self, address: u64, length: usize) -> Result<(), NativeError> {
        let end = address.checked_add(length as u64).ok_or(NativeError::TooLarge)?;
        let after = self.extents.partition_point(|(from, _)| *from <= address);
        let within = after.checked_sub(1).is_some_and(|i| end <= self.extents[i].1);
        if within { Ok(()) } else { Err(NativeError::TooLarge) }
    }
}
