//! One run of a whole function with memory at chosen addresses, in a sandbox.

use crate::region::PAGE;
use crate::sandbox::{Limits, Processor, Sandbox, Segment, Stop};
use crate::state::{Fault, NativeError, Outcome, Signal, State};
use std::time::Duration;

/// Most memory of one run.
const MOST_BYTES: u64 = 64 << 20;

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

/// Pages of one access.
struct Span {
    start: u64,
    end: u64,
    access: Access,
}

/// Where the function returns to: far below everything that is worth an address.
const FINISH: u64 = Sandbox::LOWEST;

/// Runs a function in a sandbox of its own. On return the memory of the outcome holds the blocks' content, one
/// after another in the order given.
pub fn run_function(run: &FunctionRun) -> Result<Outcome, NativeError> {
    let mut segments = vec![Segment { address: FINISH, bytes: vec![0xcc], access: Access::Execute }];
    for span in spans(&run.blocks)? {
        let length = usize::try_from(span.end - span.start).map_err(|_| NativeError::TooLarge)?;
        let mut bytes = vec![0; length];
        for block in run.blocks.iter().filter(|b| (span.start..span.end).contains(&b.address)) {
            let at = (block.address - span.start) as usize;
            bytes[at..at + block.bytes.len()].copy_from_slice(&block.bytes);
        }
        segments.push(Segment { address: span.start, bytes, access: span.access });
    }
    let mut sandbox = Sandbox::start(&segments)?;
    sandbox.write(run.state.general[4], &FINISH.to_le_bytes())?;
    let State { general, flags, vector, .. } = run.state;
    let start = Processor { general, flags, vectors: vector, rip: run.entry, ..Processor::default() };
    sandbox.set_processor(&start)?;
    let limits = Limits { processor: run.limit, clock: run.limit.max(Duration::from_secs(1)) * 10 };
    let outcome = match sandbox.run(limits) {
        Err(NativeError::Killed) => Outcome::Killed,
        Err(NativeError::Busy) => Outcome::Timeout,
        Err(error) => return Err(error),
        Ok(Stop::OutOfTime) => Outcome::Timeout,
        Ok(Stop::Fault(fault)) => Outcome::Fault(fault),
        Ok(Stop::Trap) => {
            let end = sandbox.processor()?;
            if end.rip != FINISH + 1 {
                return Ok(Outcome::Fault(Fault { signal: Signal::Trap, address: end.rip }));
            }
            let mut state = State::default();
            (state.general, state.flags, state.vector) = (end.general, end.flags, end.vectors);
            Outcome::Done { state, memory: read_all(&mut sandbox, &run.blocks)? }
        }
    };
    Ok(outcome)
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
            _ => spans.push(Span { start, end, access: block.access }),
        }
    }
    let total: u64 = spans.iter().map(|span| span.end - span.start).fold(0, u64::saturating_add);
    if total > MOST_BYTES { Err(NativeError::TooLarge) } else { Ok(spans) }
}

fn read_all(sandbox: &mut Sandbox, blocks: &[Block]) -> Result<Vec<u8>, NativeError> {
    let mut out = Vec::new();
    for block in blocks.iter().filter(|block| !block.bytes.is_empty()) {
        let at = out.len();
        out.resize(at + block.bytes.len(), 0);
        sandbox.read(block.address, &mut out[at..])?;
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
