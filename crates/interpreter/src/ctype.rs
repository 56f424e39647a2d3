//! The character tables of glibc, which its headers make programs read directly.
//!
//! `isdigit(c)` is a call in one program and a look at a table in the other; both must mean the same. The locale is "C".

/// Where the pointers to the tables lie, and behind them the tables.
const BASE: u64 = 0x2e00_0000_0000;
const TABLES: [u64; 3] = [BASE + 0x1000, BASE + 0x2000, BASE + 0x3000];
/// Tables begin with the entry of the character -128.
const FIRST: u64 = 128;
const ENTRIES: u64 = 384;

/// What a function returns that tells where a table is: the address of a pointer to the entry of character 0.
pub(super) fn location(name: &str) -> Option<u64> {
    match name {
        "__ctype_b_loc" => Some(BASE),
        "__ctype_tolower_loc" => Some(BASE + 8),
        "__ctype_toupper_loc" => Some(BASE + 16),
        _ => None,
    }
}

/// Is the address reached from a table but not in it?
pub(super) fn is_outside(address: u64) -> bool {
    let near = address.wrapping_sub(BASE - (1 << 39)) < 1 << 40;
    let size = |i: usize| if i == 0 { 2 * ENTRIES } else { 4 * ENTRIES };
    let inside = TABLES.iter().enumerate().any(|(i, table)| address.wrapping_sub(*table) < size(i));
    near && !inside && address.wrapping_sub(BASE) >= 24
}

/// The word at an address, if it belongs to the tables.
pub(super) fn word(address: u64) -> Option<u64> {
    if address.wrapping_sub(BASE) >= 0x4000 {
        return None;
    }
    let bytes: Vec<u8> = (0..8).map(|i| byte(address + i)).collect();
    Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

fn byte(address: u64) -> u8 {
    let pointers = [TABLES[0] + 2 * FIRST, TABLES[1] + 4 * FIRST, TABLES[2] + 4 * FIRST];
    let offset = address - BASE;
    if offset < 24 {
        return pointers[offset as usize / 8].to_le_bytes()[offset as usize % 8];
    }
    for (i, table) in TABLES.iter().enumerate() {
        let size = if i == 0 { 2 } else { 4 };
        let at = address.wrapping_sub(*table);
        if at < ENTRIES * size {
            let character = (at / size) as i64 - FIRST as i64;
            let entry = match i {
                0 => class(character),
                1 => letter(character, |c| c.to_ascii_lowercase()),
                _ => letter(character, |c| c.to_ascii_uppercase()),
            };
            return entry.to_le_bytes()[(at % size) as usize];
        }
    }
    0
}

fn letter(character: i64, change: impl Fn(u8) -> u8) -> u32 {
    match u8::try_from(character) {
        Ok(byte) if byte < 128 => u32::from(change(byte)),
        _ => character as u32,
    }
}

/// Bits of the class table on a little-endian machine.
fn class(character: i64) -> u32 {
    let Some(c) = u8::try_from(character).ok().filter(u8::is_ascii) else { return 0 };
    let bits = [
        (c.is_ascii_uppercase(), 0x100),
        (c.is_ascii_lowercase(), 0x200),
        (c.is_ascii_alphabetic(), 0x400),
        (c.is_ascii_digit(), 0x800),
        (c.is_ascii_hexdigit(), 0x1000),
        (matches!(c, b' ' | 9..=13), 0x2000),
        (c.is_ascii_graphic() || c == b' ', 0x4000),
        (c.is_ascii_graphic(), 0x8000),
        (matches!(c, b' ' | b'\t'), 0x1),
        (c.is_ascii_control(), 0x2),
        (c.is_ascii_punctuation(), 0x4),
        (c.is_ascii_alphanumeric(), 0x8),
    ];
    bits.iter().filter(|(is, _)| *is).fold(0, |all, (_, bit)| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, character: i64, size: u64) -> u64 {
        let table = word(location(name).unwrap()).unwrap();
        let at = table.wrapping_add((size as i64 * character) as u64);
        word(at & !7).unwrap() >> (8 * (at & 7)) & ((1 << (8 * size)) - 1)
    }

    #[test]
    fn tables_of_the_c_locale() {
        assert_eq!(entry("__ctype_b_loc", i64::from(b'a'), 2), 0xd608);
        assert_eq!(entry("__ctype_b_loc", i64::from(b'7'), 2), 0xd808);
        assert_eq!(entry("__ctype_b_loc", i64::from(b'\n'), 2), 0x2002);
        assert_eq!(entry("__ctype_b_loc", -1, 2), 0);
        assert_eq!(entry("__ctype_toupper_loc", i64::from(b'q'), 4), u64::from(b'Q'));
        assert_eq!(entry("__ctype_tolower_loc", -1, 4), 0xffff_ffff);
    }
}
