//! One run of a whole function with memory at chosen addresses.

use crate::child::{self, Mapping};
use crate::region::{PAGE, Region};
use crate::runner::{Child, Waited, prepare};
use crate::state::{Fault, NativeError, Outcome, Signal, State};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A piece of the function's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Where it lies. Blocks may share pages if their accesses agree.
    pub address: u64,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What the function may do with it.
    pub access: Access,
}

/// What the function may do with a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Access {
    /// Read.
    Read,
    /// Read and write.
    Write,
    /// Read and execute.
    Execute,
}

/// A function call to be made: `state.general[4]` points at the slot for the return address, which lies in a
/// writable block; the function must not need anything outside the blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionRun {
    /// Code, data and stack.
    pub blocks: Vec<Block>,
    /// Address of the first instruction.
    pub entry: u64,
    /// Registers at entry.
    pub state: State,
    /// Limit.
    pub limit: Duration,
}

/// Pages of one access, in a file that both processes map.
struct Span {
    start: u64,
    end: u64,
    access: Access,
    offset: u64,
}

/// Runs a function in a child of its own. On return the memory of the outcome holds the blocks' content, one
/// after another in the order given.
pub fn run_function(run: &FunctionRun) -> Result<Outcome, NativeError> {
    let mut region = Region::new(1, 0)?;
    prepare(&mut region);
    let control = region.control();
    (control.state, control.entry) = (run.state, run.entry);
    let finish = control.finish;

    let file = memory_file()?;
    let spans = spans(&run.blocks)?;
    for block in &run.blocks {
        write(&file, &spans, block.address, &block.bytes)?;
    }
    write(&file, &spans, run.state.general[4], &finish.to_le_bytes())?;
    let mappings: Vec<Mapping> = spans.iter().map(|span| mapping(&file, span)).collect();

    let child = Child::start(|_, answers| {
        let ready = mappings.iter().all(child::map) && child::confine(&region);
        if ready {
            child::run_once(&mut region);
            // SAFETY: writes one byte from a buffer of one byte.
            unsafe { libc::write(answers, [1u8].as_ptr().cast(), 1) };
        }
        child::leave(1);
    })?;
    let waited = child.wait(run.limit);
    drop(child);
    Ok(match waited {
        Waited::TimedOut => Outcome::Timeout,
        Waited::Died => Outcome::Killed,
        Waited::Answered => {
            let control = region.control();
            match Signal::of_number(control.signal) {
                Some(signal) => Outcome::Fault(Fault { signal, address: control.fault_address }),
                None => Outcome::Done { state: control.state, memory: read_all(&file, &spans, &run.blocks)? },
            }
        }
    })
}

fn memory_file() -> Result<File, NativeError> {
    // SAFETY: a NUL-terminated name and a flag; the descriptor is new and owned by the `File` from here on.
    unsafe {
        let fd = libc::memfd_create(c"lockstep".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 { Err(NativeError::last("make a memory file")) } else { Ok(File::from_raw_fd(fd)) }
    }
}

/// Pages covered by the blocks, merged where they touch.
fn spans(blocks: &[Block]) -> Result<Vec<Span>, NativeError> {
    let page = PAGE as u64;
    let mut spans: Vec<Span> = Vec::new();
    let mut sorted: Vec<&Block> = blocks.iter().filter(|block| !block.bytes.is_empty()).collect();
    sorted.sort_by_key(|block| block.address);
    for block in sorted {
        let end = block.address.checked_add(block.bytes.len() as u64).ok_or(NativeError::TooLarge)?;
        let start = block.address / page * page;
        let end = end.checked_next_multiple_of(page).ok_or(NativeError::TooLarge)?;
        match spans.last_mut() {
            Some(last) if last.access == block.access && start <= last.end => last.end = last.end.max(end),
            Some(last) if start < last.end => return Err(NativeError::TooLarge),
            _ => spans.push(Span { start, end, access: block.access, offset: 0 }),
        }
    }
    let mut offset = 0;
    for span in &mut spans {
        span.offset = offset;
        offset += span.end - span.start;
    }
    Ok(spans)
}

fn mapping(file: &File, span: &Span) -> Mapping {
    let protection = libc::PROT_READ
        | match span.access {
            Access::Read => 0,
            Access::Write => libc::PROT_WRITE,
            Access::Execute => libc::PROT_EXEC,
        };
    Mapping {
        address: span.start,
        length: (span.end - span.start) as usize,
        protection,
        file: Some((file.as_raw_fd(), span.offset as i64)),
    }
}

/// Offset in the file of an address that some span covers.
fn place(spans: &[Span], address: u64) -> Result<u64, NativeError> {
    spans
        .iter()
        .find(|span| (span.start..span.end).contains(&address))
        .map(|span| span.offset + (address - span.start))
        .ok_or(NativeError::TooLarge)
}

fn write(file: &File, spans: &[Span], address: u64, bytes: &[u8]) -> Result<(), NativeError> {
    if bytes.is_empty() {
        return Ok(());
    }
    let total = spans.last().map_or(0, |span| span.offset + (span.end - span.start));
    file.set_len(total).map_err(|error| NativeError::System { what: "size a memory file", error })?;
    file.write_all_at(bytes, place(spans, address)?)
        .map_err(|error| NativeError::System { what: "write memory", error })
}

fn read_all(file: &File, spans: &[Span], blocks: &[Block]) -> Result<Vec<u8>, NativeError> {
    let mut out = Vec::new();
    for block in blocks.iter().filter(|block| !block.bytes.is_empty()) {
        let at = out.len();
        out.resize(at + block.bytes.len(), 0);
        file.read_exact_at(&mut out[at..], place(spans, block.address)?)
            .map_err(|error| NativeError::System { what: "read memory", error })?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(code: &[u8], rdi: u64) -> FunctionRun {
        let mut state = State::default();
        state.general[7] = rdi;
        state.general[4] = 0x6000_0ff8;
        let block = |address, bytes: &[u8], access| Block { address, bytes: bytes.to_vec(), access };
        FunctionRun {
            blocks: vec![
                block(0x4000_0010, code, Access::Execute),
                block(0x6000_0000, &[0; 4096], Access::Write),
                block(0x7000_0100, &[7, 0, 0, 0], Access::Write),
            ],
            entry: 0x4000_0010,
            state,
            limit: Duration::from_millis(200),
        }
    }

    #[test]
    fn a_function_returns_its_result_and_memory() {
        let code = [0x8b, 0x07, 0x01, 0x07, 0xc3]; // mov eax, [rdi]; add [rdi], eax; ret
        match run_function(&call(&code, 0x7000_0100)).unwrap() {
            Outcome::Done { state, memory } => {
                assert_eq!(state.general[0], 7);
                assert_eq!(state.general[4], 0x6000_1000);
                assert_eq!(memory[memory.len() - 4..], [14, 0, 0, 0]);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_function_outside_its_memory_faults() {
        let code = [0x8b, 0x07, 0xc3]; // mov eax, [rdi]; ret
        let outcome = run_function(&call(&code, 0x1234_5678)).unwrap();
        assert_eq!(outcome, Outcome::Fault(Fault { signal: Signal::Segv, address: 0x1234_5678 }));
    }

    #[test]
    fn an_endless_function_times_out() {
        assert_eq!(run_function(&call(&[0xeb, 0xfe], 0)).unwrap(), Outcome::Timeout);
    }
}
