//! What undefined functions do: a few are known, the others return what a seed says.

use crate::map;
use crate::seed::{Garbage, Seed, plausible};
use crate::shape::{Place, Prototype};
use native::{NativeError, Processor, Sandbox};

/// What came of a call.
pub(crate) enum Called {
    /// It returned, and nobody need know that it was called.
    Silent(Option<u64>),
    /// It returned; its call is part of what the program does.
    Event(Option<u64>),
    /// It does not return.
    Ends,
    /// It would fault.
    Faults(u64),
    /// It does something that a stub cannot.
    Impossible,
}

const RDI: usize = 7;
const RSI: usize = 6;
const RDX: usize = 2;
/// Most bytes that one call copies.
const MOST_BYTES: u64 = 1 << 16;

const NO_RETURN: &[&str] = &[
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__stack_chk_fail",
    "__assert_fail",
    "__assert",
    "__assert_perror_fail",
    "err",
    "errx",
    "verr",
    "verrx",
    "longjmp",
    "siglongjmp",
    "_longjmp",
    "__longjmp_chk",
    "__fortify_fail",
    "__chk_fail",
    "pthread_exit",
    "_Unwind_Resume",
    "__cxa_throw",
    "__cxa_rethrow",
    "_ZSt9terminatev",
];
const TWICE: &[&str] = &["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "vfork", "getcontext", "savectx"];

/// Does a function of this name never return, or return twice?
pub(crate) fn never_returns(name: &str) -> bool {
    NO_RETURN.contains(&name) || TWICE.contains(&name)
}

/// Carries out a call of a function that the object does not define.
pub(crate) fn call(
    sandbox: &mut Sandbox,
    name: &str,
    prototype: Option<&Prototype>,
    processor: &Processor,
    heap: &mut u64,
) -> Result<Called, NativeError> {
    if NO_RETURN.contains(&name) || prototype.is_some_and(|p| p.noreturn) {
        return Ok(Called::Ends);
    }
    if TWICE.contains(&name) {
        return Ok(Called::Impossible);
    }
    let [a, b, c] = [RDI, RSI, RDX].map(|i| processor.general[i]);
    Ok(match name {
        "memcpy" | "memmove" => match take(sandbox, b, c)? {
            Some(bytes) => put(sandbox, a, &bytes, a)?,
            None => Called::Faults(b),
        },
        "memset" if c <= MOST_BYTES => put(sandbox, a, &vec![b as u8; c as usize], a)?,
        "memset" => Called::Faults(a),
        "memcmp" | "bcmp" => match (take(sandbox, a, c)?, take(sandbox, b, c)?) {
            (Some(x), Some(y)) => Called::Silent(Some(match x.cmp(&y) {
                std::cmp::Ordering::Less => u64::from(u32::MAX),
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
            })),
            _ => Called::Faults(a),
        },
        "strlen" => match text(sandbox, a)? {
            Some(length) => Called::Silent(Some(length)),
            None => Called::Faults(a),
        },
        "malloc" => allocate(heap, a),
        "calloc" => {
            let size = a.saturating_mul(b);
            let at = *heap;
            if size <= map::HEAP_SIZE && at + size <= map::HEAP + map::HEAP_SIZE {
                sandbox.write(at, &vec![0; size as usize])?;
            }
            allocate(heap, size)
        }
        _ => Called::Event(None),
    })
}

/// A new object, or null if there is no room.
fn allocate(heap: &mut u64, size: u64) -> Called {
    let end = heap.saturating_add(size.max(1)).saturating_add(31) / 16 * 16;
    if end > map::HEAP + map::HEAP_SIZE {
        return Called::Event(Some(0));
    }
    Called::Event(Some(std::mem::replace(heap, end)))
}

fn take(sandbox: &mut Sandbox, address: u64, length: u64) -> Result<Option<Vec<u8>>, NativeError> {
    if length > MOST_BYTES {
        return Ok(None);
    }
    let mut bytes = vec![0; length as usize];
    match sandbox.read(address, &mut bytes) {
        Err(NativeError::TooLarge) if length > 0 => Ok(None),
        Err(NativeError::TooLarge) => Ok(Some(Vec::new())),
        Err(error) => Err(error),
        Ok(()) => Ok(Some(bytes)),
    }
}

fn put(sandbox: &mut Sandbox, address: u64, bytes: &[u8], result: u64) -> Result<Called, NativeError> {
    if bytes.is_empty() {
        return Ok(Called::Silent(Some(result)));
    }
    match sandbox.write(address, bytes) {
        // Not there, or not writable.
        Err(NativeError::TooLarge | NativeError::System { .. }) => Ok(Called::Faults(address)),
        Err(error) => Err(error),
        Ok(()) => Ok(Called::Silent(Some(result))),
    }
}

/// Length of a text.
fn text(sandbox: &mut Sandbox, address: u64) -> Result<Option<u64>, NativeError> {
    let mut length = 0;
    while length < MOST_BYTES {
        match take(sandbox, address.wrapping_add(length), 1)? {
            Some(byte) if byte == [0] => return Ok(Some(length)),
            Some(_) => length += 1,
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// The registers after a call: results from the seed of the call, garbage in all that a callee may change.
pub(crate) fn after(
    processor: &mut Processor,
    prototype: Option<&Prototype>,
    result: Option<u64>,
    seed: Seed,
    garbage: Garbage,
) {
    for i in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
        processor.general[i] = garbage.number(0x6a0 + i as u64);
    }
    for (i, vector) in processor.vectors.iter_mut().enumerate() {
        *vector = std::array::from_fn(|k| garbage.number(0x7ec0 + 4 * i as u64 + k as u64));
    }
    processor.flags = 0;
    processor.x87 = None;
    let float = |random: u64| ((random % 4000) as f64 / 16.0 - 50.0).to_bits();
    // Without a prototype every register that may hold a result does.
    processor.general[0] = plausible(seed.number(0));
    processor.general[2] = plausible(seed.number(1));
    processor.vectors[0] = std::array::from_fn(|k| float(seed.number(2 + k as u64)));
    processor.vectors[1] = std::array::from_fn(|k| float(seed.number(6 + k as u64)));
    for (i, piece) in prototype.iter().flat_map(|p| &p.results).enumerate() {
        let key = 16 + i as u64;
        match piece.place {
            Place::General(register) => {
                let value = plausible(seed.number(key));
                let value = if piece.boolean { value & 1 } else { value };
                // What is above the result is garbage.
                let mask = if piece.bytes >= 8 { u64::MAX } else { (1 << (8 * piece.bytes)) - 1 };
                let above = if piece.boolean { 0 } else { garbage.number(key) & !mask };
                processor.general[usize::from(register & 15)] = value & mask | above;
            }
            Place::Vector(register) => {
                let value = if piece.bytes == 4 {
                    let narrow = f64::from_bits(float(seed.number(key))) as f32;
                    u64::from(narrow.to_bits()) | garbage.number(key) << 32
                } else {
                    float(seed.number(key))
                };
                processor.vectors[usize::from(register & 15)][0] = value;
            }
            Place::X87 => processor.x87 = Some([0, 0, 0, 0, 0, 0, 0, 0x80 | (seed.number(key) as u8 >> 1), 0xff, 0x3f]),
            Place::Stack(_) => {}
        }
    }
    if let Some(result) = result {
        processor.general[0] = result;
    }
}
