//! Numbers that depend on a seed and a key only.

/// A seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(pub u64);

impl Seed {
    /// The number of a key (splitmix64's finaliser over both).
    pub fn number(self, key: u64) -> u64 {
        let mut z = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(key.wrapping_mul(0xd134_2543_de82_ef95));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Another seed for the same key.
    pub fn of(self, key: u64) -> Seed {
        Seed(self.number(key ^ 0xa5a5_5a5a_1234_8765))
    }

    /// Another seed for a name.
    pub fn named(self, name: &str) -> Seed {
        name.bytes().fold(self, |seed, byte| seed.of(u64::from(byte)))
    }
}

/// A word as memory might hold it: mostly small numbers, pointers into the pool, zeros.
pub(crate) fn plausible(random: u64) -> u64 {
    let more = random >> 8;
    match random % 16 {
        0..=3 => 0,
        4..=6 => more % 40,
        7..=10 => crate::map::POOL + (more % (crate::map::POOL_SIZE / 2)) / 16 * 16,
        11 => (more % 20).wrapping_neg(),
        12 => (more % 100) | (((more >> 20) % 100) << 32),
        13 => more & 0x7f7f_7f7f_7f7f,
        _ => more.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}

/// What registers and memory hold that nobody has defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// Anything.
    Random(Seed),
    /// The same everywhere.
    Constant(u64),
}

impl Garbage {
    /// The word at a place.
    pub fn number(self, key: u64) -> u64 {
        match self {
            Garbage::Random(seed) => seed.number(key),
            Garbage::Constant(word) => word,
        }
    }

    /// Other garbage of the same kind.
    pub fn of(self, key: u64) -> Garbage {
        match self {
            Garbage::Random(seed) => Garbage::Random(seed.of(key)),
            constant => constant,
        }
    }
}
