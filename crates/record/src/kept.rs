//! Which start states are kept: the first few, then some of each path, and none twice.
//!
//! Once there are as many as wanted, a new one takes the place of one of the path that has most. In the path that itself has most, each
//! state seen has the same chance to be kept (a reservoir).

use crate::follower::Capture;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// The states kept so far.
#[derive(Debug)]
pub(crate) struct Kept {
    states: Vec<Capture>,
    most: usize,
    /// By path: how many were seen, and which are kept.
    paths: FxHashMap<u64, (u64, Vec<usize>)>,
    /// Of all states seen.
    known: FxHashSet<u64>,
    bytes: usize,
    random: u64,
}

/// So many are kept whatever their paths.
const FIRST: usize = 16;
/// Most bytes of memory of one state, and of all: a tests file of twice the size is still read.
const MOST_OF_STATE: usize = 1 << 20;
const MOST_BYTES: usize = 24 << 20;

impl Kept {
    pub fn new(most: usize) -> Kept {
        let (states, paths, known) = Default::default();
        Kept { states, most, paths, known, bytes: 0, random: 0x5eed }
    }

    /// How many paths they take.
    pub fn paths(&self) -> usize {
        self.paths.values().filter(|(_, kept)| !kept.is_empty()).count()
    }

    pub fn into_states(self) -> Vec<Capture> {
        self.states
    }

    /// Takes a state, or not. `Err` says why one is never taken.
    pub fn offer(&mut self, state: Capture) -> Result<(), &'static str> {
        let size: usize = size(&state);
        if size > MOST_OF_STATE {
            return Err("it looks at more than a megabyte");
        }
        let mut hasher = FxHasher::default();
        (&state.memory, state.path).hash(&mut hasher);
        for (place, bits) in &state.arguments {
            (place, bits.limbs()).hash(&mut hasher);
        }
        if !self.known.insert(hasher.finish()) {
            return Err("it was seen before");
        }
        let path = state.path;
        let (seen, kept) = self.paths.entry(path).or_default();
        *seen += 1;
        if self.states.len() < self.most && self.bytes + size <= MOST_BYTES {
            kept.push(self.states.len());
            self.bytes += size;
            self.states.push(state);
            return Ok(());
        }
        let (seen, kept) = (*seen, kept.iter().filter(|i| **i >= FIRST).count());
        let replaceable = |kept: &[usize]| kept.iter().filter(|i| **i >= FIRST).count();
        let Some((largest, most)) = self
            .paths
            .iter()
            .map(|(path, (_, kept))| (*path, replaceable(kept)))
            .max_by_key(|(path, most)| (*most, *path))
        else {
            return Ok(());
        };
        if most == 0 {
            return Ok(());
        }
        // In a path that has as many as any, it is as likely to stay as those before.
        let from = if kept >= most { path } else { largest };
        if from == path && self.draw(seen) >= kept as u64 {
            return Ok(());
        }
        let choices: Vec<usize> = self.paths[&from].1.iter().copied().filter(|i| *i >= FIRST).collect();
        let index = choices[self.draw(choices.len() as u64) as usize];
        let gone = self::size(&self.states[index]);
        if self.bytes - gone + size > MOST_BYTES {
            return Ok(());
        }
        self.bytes = self.bytes - gone + size;
        if let Some((_, kept)) = self.paths.get_mut(&from) {
            kept.retain(|i| *i != index);
        }
        if let Some((_, kept)) = self.paths.get_mut(&path) {
            kept.push(index);
        }
        self.states[index] = state;
        Ok(())
    }

    /// A number below a limit. Splitmix64: the same states are kept of the same hits.
    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % below.max(1)
    }
}

fn size(state: &Capture) -> usize {
    state.memory.iter().map(|(_, bytes)| bytes.len() + 32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::{Place, Register};
    use term::Bits;

    fn state(number: u64, path: u64) -> Capture {
        let arguments = vec![(Place::Register(Register::General(7)), Bits::new(64, number))];
        Capture { arguments, memory: vec![(0x1000, vec![1; 8])], path, partial: None }
    }

    fn number(state: &Capture) -> u64 {
        state.arguments[0].1.low()
    }

    #[test]
    fn the_first_ones_stay_and_rare_paths_get_in() {
        let mut kept = Kept::new(40);
        for n in 0..5000 {
            // One path in a thousand, and one that comes last.
            let path = if n % 1000 == 999 { 2 } else { 1 };
            kept.offer(state(n, path)).unwrap();
        }
        kept.offer(state(5000, 3)).unwrap();
        assert_eq!((kept.states.len(), kept.paths()), (40, 3));
        let states = kept.into_states();
        assert_eq!(states[..16].iter().map(number).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
        assert_eq!(states.iter().filter(|s| s.path == 2).count(), 5);
        // The rest is spread over the run.
        let late = states.iter().filter(|s| s.path == 1 && number(s) > 2500).count();
        assert!((4..=16).contains(&late), "{late}");
    }

    #[test]
    fn paths_share_what_there_is() {
        let mut kept = Kept::new(64);
        for n in 0..10_000 {
            kept.offer(state(n, n % 4)).unwrap();
        }
        let states = kept.into_states();
        for path in 0..4 {
            let count = states.iter().filter(|s| s.path == path).count();
            assert!((12..=20).contains(&count), "{count}");
        }
    }

    #[test]
    fn none_is_kept_twice() {
        let mut kept = Kept::new(8);
        assert!(kept.offer(state(1, 1)).is_ok());
        assert!(kept.offer(state(1, 1)).is_err());
        assert!(kept.offer(state(2, 1)).is_ok());
        assert_eq!(kept.states.len(), 2);
        let huge = Capture { memory: vec![(0, vec![0; 2 << 20])], ..state(3, 1) };
        assert!(kept.offer(huge).is_err());
    }
}
