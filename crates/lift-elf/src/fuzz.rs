//! What fuzzing checks: no input makes this crate panic, hang or fill the memory.

use crate::Image;
use program::{Register, Side};
use term::Arena;

/// Functions that are lifted per input.
const MAX_FUNCTIONS: usize = 16;

/// Reads the bytes as a file and lifts its first functions. Whatever the bytes are, this returns.
pub fn fuzz_one(bytes: &[u8]) {
    let Ok(image) = Image::parse(bytes.to_vec(), "fuzzed.o") else { return };
    for index in 0..image.functions().len().min(MAX_FUNCTIONS) {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        // Both outcomes are fine; only returning counts.
        let _ = image.lift(index, Side::Original, &mut arena);
        let _ = image.hash(index);
    }
    let _ = image.statics();
}

#[cfg(test)]
mod tests {
    use super::fuzz_one;
    use crate::testing::sample;
    use std::time::{Duration, Instant};

    /// A small generator of numbers (xorshift), so that a failure can be repeated.
    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn broken_files_never_panic() {
        let original = sample();
        fuzz_one(&original);
        let start = Instant::now();
        let mut seed = 0u64;
        while start.elapsed() < Duration::from_secs(1) {
            seed += 1;
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut bytes = original.clone();
            let length = bytes.len() as u64;
            for _ in 0..1 + next(&mut state) % 8 {
                // Headers, tables and code alike; the first and last pages more often.
                let at = match next(&mut state) % 4 {
                    0 => next(&mut state) % 64,
                    1 => length - 1 - next(&mut state) % (length / 4),
                    _ => next(&mut state) % length,
                };
                bytes[at as usize] = match next(&mut state) % 4 {
                    0 => 0xff,
                    1 => 0,
                    2 => bytes[at as usize].wrapping_add(1),
                    _ => next(&mut state) as u8,
                };
            }
            if next(&mut state).is_multiple_of(8) {
                bytes.truncate((next(&mut state) % length) as usize);
            }
            let before = Instant::now();
            let result = std::panic::catch_unwind(|| fuzz_one(&bytes));
            assert!(result.is_ok(), "panic with seed {seed}");
            assert!(before.elapsed() < Duration::from_secs(20), "hang with seed {seed}");
        }
    }
}
