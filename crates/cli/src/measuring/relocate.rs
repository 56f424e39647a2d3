//! Start states at addresses that no sandbox has: a recorded program's stack, a program linked at low addresses.
//!
//! Such memory is moved, and with it the words that point into it: argument registers, and aligned words of memory. Whether a word is
//! an address is a guess; a wrong one makes another start state, on which both functions are timed alike.

use oracle::Input;

/// Where sandboxes have memory of start states.
const FREE: std::ops::Range<u64> = 0x1_0000_0000..0x7800_0000_0000;
/// How far what lies above or below moves.
const DOWN: u64 = 0x1000_0000_0000;
const UP: u64 = 0x5_0000_0000;
/// What a pointer may point behind.
const REACH: u64 = 4096;

/// Where a byte goes.
fn moved(address: u64) -> u64 {
    match address {
        _ if FREE.contains(&address) => address,
        _ if address < FREE.start => address + UP,
        _ => address.wrapping_sub(DOWN),
    }
}

/// The start state with all memory where a sandbox can have it.
pub fn into_sandbox(mut input: Input) -> Input {
    let away: Vec<(u64, u64)> = input
        .memory
        .iter()
        .filter(|(at, _)| !FREE.contains(at))
        .map(|(at, bytes)| (at.saturating_sub(REACH), at.saturating_add(bytes.len() as u64 + REACH)))
        .collect();
    if away.is_empty() {
        return input;
    }
    let word = |word: u64| if away.iter().any(|(from, to)| (*from..*to).contains(&word)) { moved(word) } else { word };
    let bytes = |start: u64, bytes: &mut Vec<u8>| {
        let first = (start.wrapping_neg() % 8) as usize;
        for chunk in bytes.get_mut(first..).unwrap_or_default().chunks_exact_mut(8) {
            let value = chunk.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
            chunk.copy_from_slice(&word(value).to_le_bytes());
        }
    };
    input.general = input.general.map(word);
    input.stack.iter_mut().for_each(|value| *value = word(*value));
    for (address, content) in &mut input.memory {
        bytes(*address, content);
        *address = moved(*address);
    }
    for (_, offset, content) in &mut input.objects {
        bytes(*offset, content);
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_moves_with_what_points_to_it() {
        let mut input = Input::new(1);
        input.general = [0x7fff_ffff_e010, 0x40_4040, 7, 0x5555_5555_0000, 0x7fff_0000_0000, 0];
        input.memory = vec![
            (0x7fff_ffff_e010, 0x5555_5555_0000u64.to_le_bytes().to_vec()),
            (0x5555_5555_0000, 0x7fff_ffff_e018u64.to_le_bytes().to_vec()),
            (0x40_4040, vec![1; 4]),
        ];
        let input = into_sandbox(input);
        assert_eq!(input.general[..3], [0x6fff_ffff_e010, 0x5_0040_4040, 7]);
        // An address in the middle stays, and so does a number that leads nowhere.
        assert_eq!(input.general[3..5], [0x5555_5555_0000, 0x7fff_0000_0000]);
        assert_eq!(input.memory[1], (0x5555_5555_0000, 0x6fff_ffff_e018u64.to_le_bytes().to_vec()));
        assert!(input.memory.iter().all(|(at, _)| FREE.contains(at)));
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut input = Input::new(1);
        input.memory = vec![(0x2000_0000_0000, vec![1; 16])];
        assert_eq!(into_sandbox(input.clone()), input);
    }
}
