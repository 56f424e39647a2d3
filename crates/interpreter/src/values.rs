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
pub const BUFFERS: u64 = 0x2000_0000_0000;
/// Distance of these blocks.
pub const BUFFER_SPACING: u64 = 0x1_0000;
/// Number of the blocks that pointers in memory point to.
pub const BUFFER_COUNT: u64 = 61;

/// A pointer to one of a few buffers.
pub fn pointer_to_buffer(random: u64) -> u64 {
    BUFFERS + (random % BUFFER_COUNT) * BUFFER_SPACING + (random >> 8) % 4 * 0x40
}

/// A 64-bit word as memory might hold it: a number, a pointer, text, two 32-bit numbers, or a constant of the
/// programs, whole or in parts.
pub fn plausible_word(random: u64, constants: &[u64]) -> u64 {
    let more = random >> 8;
    let small = |r: u64| match r % 8 {
        0 => 0,
        1 => 1,
        2 => u64::from(u32::MAX),
        3 => 0x8000_0000,
        4 => 0x7fff_ffff,
        _ => (r >> 3) % 40,
    };
    let constant = |r: u64| match constants {
        [] => small(r),
        known => known[(r % known.len() as u64) as usize],
    };
    match random % 20 {
        0..=2 => 0,
        3..=4 => more % 20,
        5 => (more % 20).wrapping_neg(),
        6..=9 => pointer_to_buffer(more),
        10..=11 => {
            let text: u64 = (0..8).map(|i| (0x20 + (more >> (6 * i)) % 0x5f) << (8 * i)).sum();
            text & !(0xff << (8 * (more % 8)))
        }
        12..=13 => small(more) | small(more >> 20) << 32,
        14 => [i64::MAX as u64, i64::MIN as u64, u64::MAX, 1 << 32, 0xff, 0x80, 0xffff, 1 << 31][(more % 8) as usize],
        15 => constant(more),
        16 => constant(more) & 0xffff_ffff | constant(more >> 16) << 32,
        17 => (0..8).fold(0, |word, i| word << 8 | constant(more >> (5 * i)) & 0xff),
        18 => small(more) | constant(more >> 16) << 32,
        _ => more.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}

/// What the words of memory are mostly like.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Fabric {
    /// Everything that programs hold.
    #[default]
    Mixed,
    /// Text of few letters.
    Text,
    /// Digits, and now and then something else.
    Digits,
    /// Small numbers of 32 bits.
    Numbers,
    /// Pointers, and now and then the end of a list.
    Links,
    /// Nothing for the most part: flags that are not set, places that are free.
    Zeros,
}

impl Fabric {
    /// All of them.
    pub const ALL: [Fabric; 6] =
        [Fabric::Mixed, Fabric::Text, Fabric::Digits, Fabric::Numbers, Fabric::Links, Fabric::Zeros];

    /// What a callee answers that has a habit: many functions say zero if all is well, and code goes on only then.
    pub(super) fn result(self, random: u64, habit: u64, bytes: u16, constants: &[u64]) -> u64 {
        let more = random >> 8;
        match (self, bytes) {
            (Fabric::Mixed, _) => plausible_word(random, constants),
            (_, 1 | 2 | 4) if habit.is_multiple_of(2) && !random.is_multiple_of(16) => 0,
            (_, 8) if !random.is_multiple_of(8) => pointer_to_buffer(more),
            (_, 1 | 2 | 4) if !random.is_multiple_of(4) => more % 24,
            _ => plausible_word(more, constants),
        }
    }

    /// A word of it.
    pub(super) fn word(self, random: u64, constants: &[u64], known: &[u64]) -> u64 {
        let more = random >> 8;
        match self {
            Fabric::Mixed => plausible_word(random, constants),
            Fabric::Text | Fabric::Digits => {
                let letters: &[u8] = if self == Fabric::Text { b"aab1 " } else { b"0123456789123 +-.exa" };
                let letter = |r: u64| match constants {
                    [_, ..] if r.is_multiple_of(7) => constants[(r / 7 % constants.len() as u64) as usize] & 0xff,
                    _ => u64::from(letters[r as usize % letters.len()]),
                };
                let text = (0..8).map(|i| letter(more >> (6 * i) & 0x3f) << (8 * i)).sum::<u64>();
                if random.is_multiple_of(6) { text & !(0xff << (8 * (more % 8))) } else { text }
            }
            Fabric::Numbers => {
                let number = |r: u64| (r % 128).wrapping_sub(16) & 0xffff_ffff;
                if random.is_multiple_of(8) { 0 } else { number(more) | number(more >> 20) << 32 }
            }
            Fabric::Zeros => match random % 8 {
                0 => (more % 40) | (((more >> 20) % 40) << 32),
                1 => plausible_word(more, constants),
                _ => 0,
            },
            Fabric::Links => match random % 20 {
                // What an argument points to may point back, and lists may end where an object is.
                0..=1 if !known.is_empty() => known[(more % known.len() as u64) as usize],
                0..=11 => pointer_to_buffer(more),
                12..=14 => 0,
                _ => plausible_word(more, constants),
            },
        }
    }
}

/// A word with a double or two floats in it, mostly such as are rounded when they are added up.
pub(super) fn plausible_floats(random: u64) -> u64 {
    let number = |r: u64| -> f64 {
        let tenths = (r >> 4) as u32 % 2000;
        match r % 16 {
            0 => 0.0,
            1 => -0.0,
            2 => f64::from(tenths),
            3 => 1e16 + 2.0 * f64::from(tenths),
            4 => -1e16,
            5 => 3e7 + f64::from(tenths),
            6 => f64::INFINITY,
            7 => 1.0,
            8..12 => f64::from(tenths) * 0.1 - 50.0,
            _ => f64::from(tenths) * 1e-3,
        }
    };
    let half = |r: u64| u64::from((number(r) as f32).to_bits());
    match random & 1 {
        0 => number(random >> 1).to_bits(),
        _ => half(random >> 1) | half(random >> 31) << 32,
    }
}

/// A number for a name.
pub(super) fn text_key(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Is the address in one of the buffers that pointers point to, aliases included?
pub(super) fn is_buffer(address: u64) -> bool {
    address.wrapping_sub(BUFFERS) < BUFFER_COUNT * BUFFER_SPACING
}
