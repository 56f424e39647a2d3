//! Random choices: one seed, the same pairs.

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of this seed and number.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.next();
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items, which are at least one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of several words.
    pub fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// A number that programs like to have in their text.
    pub fn number(&mut self) -> i64 {
        match self.below(6) {
            0 => self.below(4) as i64,
            1 | 2 => self.below(100) as i64 + 1,
            3 => -(self.below(50) as i64) - 1,
            4 => [127, 128, 255, 256, 4095, 32767, 65535][self.below(7)],
            _ => (self.next() & 0x3fff_ffff) as i64,
        }
    }
}
