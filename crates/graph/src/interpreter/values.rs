//! Seeded values that look like what programs hold.

/// A seed, mixed further for each use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(pub u64);

impl Seed {
    /// A number that depends on the seed and the key only (a finaliser of splitmix64).
    pub fn mix(self, key: u64) -> u64 {
        let mut z = self.0 ^ key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for _ in 0..2 {
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
        }
        z
    }

    /// Another seed, for another purpose.
    pub fn split(self, key: u64) -> Seed {
        Seed(self.mix(key ^ 0x5851_f42d_4c95_7f2d))
    }
}

/// Where seeded pointers point: blocks of 64 KiB in the middle of the address space.
const HEAP: u64 = 0x2000_0000_0000;

/// A pointer to one of a few buffers.
pub(crate) fn pointer(random: u64) -> u64 {
    HEAP + (random % 61) * 0x1_0000 + (random >> 8) % 4 * 0x40
}

/// A 64-bit word as memory might hold it: a number, a pointer, text, or two 32-bit numbers.
pub fn plausible_word(random: u64) -> u64 {
    let more = random >> 8;
    let small = |r: u64| match r % 8 {
        0 => 0,
        1 => 1,
        2 => u64::from(u32::MAX),
        3 => 0x8000_0000,
        4 => 0x7fff_ffff,
        _ => (r >> 3) % 40,
    };
    match random % 16 {
        0..=2 => 0,
        3..=4 => more % 20,
        5 => (more % 20).wrapping_neg(),
        6..=9 => pointer(more),
        10..=11 => {
            let text: u64 = (0..8).map(|i| (0x20 + (more >> (6 * i)) % 0x5f) << (8 * i)).sum();
            text & !(0xff << (8 * (more % 8)))
        }
        12..=13 => small(more) | small(more >> 20) << 32,
        14 => [i64::MAX as u64, i64::MIN as u64, u64::MAX, 1 << 32, 0xff, 0x80, 0xffff, 1 << 31][(more % 8) as usize],
        _ => more.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}
