//! What fuzzing checks: no input makes this crate panic, hang or fill the memory.

use crate::Image;
use graph::{Register, Side};
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
