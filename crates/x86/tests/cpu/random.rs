//! A small deterministic random source with a taste for corner values.

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, stream: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// Number of a vector register, often one of the first, so that operands coincide.
    pub fn vector_number(&mut self) -> u32 {
        let count = if self.chance(2) { 3 } else { 16 };
        self.below(count) as u32
    }

    /// A 64-bit value, often one at an edge of some width.
    pub fn word(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(70),
            1 => self.below(70).wrapping_neg(),
            2 => {
                let edge = 1u64 << self.pick(&[7, 8, 15, 16, 31, 32, 63]);
                edge.wrapping_add(self.below(3)).wrapping_sub(1)
            }
            3 => {
                let edge = 1u64 << self.pick(&[7, 8, 15, 16, 31, 32, 63]);
                edge.wrapping_neg().wrapping_add(self.below(3)).wrapping_sub(1)
            }
            4 => 1 << self.below(64),
            5 => self.next() >> self.below(64),
            _ => self.next(),
        }
    }

    /// Four words of a vector: random bits, integers at edges of some lane width, or floating-point numbers.
    pub fn vector(&mut self) -> [u64; 4] {
        let kind = self.below(8);
        std::array::from_fn(|_| match kind {
            0 => self.word(),
            1 => {
                let corners = [0u8, 1, 0x7f, 0x80, 0x81, 0xff, 2, 15];
                u64::from_le_bytes(std::array::from_fn(|_| {
                    if self.chance(2) { self.pick(&corners) } else { self.next() as u8 }
                }))
            }
            2 => {
                let corners = [0u16, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x80, 0xff7f];
                let lanes: [u16; 4] =
                    std::array::from_fn(|_| if self.chance(2) { self.pick(&corners) } else { self.next() as u16 });
                lanes.iter().rev().fold(0, |all, lane| all << 16 | u64::from(*lane))
            }
            3 | 4 => u64::from(self.float32()) << 32 | u64::from(self.float32()),
            5 | 6 => self.float64(),
            _ => self.next(),
        })
    }

    pub fn float32(&mut self) -> u32 {
        match self.below(6) {
            0 => self.pick(&[
                0,
                0x8000_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x3f00_0000,
                0x3fc0_0000,
                0x4020_0000,
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0000,
                0xffc0_1234,
                0x7f80_0001,
                0xffa0_0000,
                1,
                0x8000_0001,
                0x007f_ffff,
                0x7f7f_ffff,
                0x4f00_0000,
                0xcf00_0000,
                0x4eff_ffff,
                0x5f00_0000,
                0xdf00_0000,
            ]),
            1 => (self.below(200) as f32 - 100.0).to_bits(),
            2 => ((self.below(2000) as f32 - 1000.0) / 4.0).to_bits(),
            3 => (self.next() as i32 as f32).to_bits(),
            4 => self.next() as u32 & 0x83ff_ffff | 0x3c00_0000,
            _ => self.next() as u32,
        }
    }

    pub fn float64(&mut self) -> u64 {
        match self.below(6) {
            0 => self.pick(&[
                0,
                1 << 63,
                0x3ff0_0000_0000_0000,
                0xbff8_0000_0000_0000,
                0x4004_0000_0000_0000,
                0x7ff0_0000_0000_0000,
                0xfff0_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0xfff8_0000_1234_5678,
                0x7ff0_0000_0000_0001,
                1,
                0x800f_ffff_ffff_ffff,
                0x7fef_ffff_ffff_ffff,
                0x41e0_0000_0000_0000,
                0xc1e0_0000_0000_0000,
                0xc1e0_0000_0010_0000,
                0xc1e0_0000_0020_0000,
                0x41df_ffff_ffc0_0000,
                0x43e0_0000_0000_0000,
                0xc3e0_0000_0000_0000,
                0x47ef_ffff_f000_0000,
                0x36a0_0000_0000_0000,
            ]),
            1 => (self.below(200) as f64 - 100.0).to_bits(),
            2 => ((self.below(2000) as f64 - 1000.0) / 4.0).to_bits(),
            3 => (self.next() as i64 as f64).to_bits(),
            4 => (f32::from_bits(self.float32()) as f64).to_bits(),
            _ => self.next(),
        }
    }
}
