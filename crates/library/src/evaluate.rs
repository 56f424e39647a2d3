//! Values of pure functions on concrete arguments, for the interpreter and for literals.
//!
//! The locale is "C", the floating-point environment the default one. Results that are defined in sign only come
//! as -1, 0 or 1. Numbers are bit patterns of the result's class, floats too, in the low bytes of a `u64`.
//!
//! Trust: full, for literals. A wrong value would make a wrong constant.

/// Bytes that one call may look at before we give up.
const FUEL: u64 = 1 << 20;

/// The result of a pure function of one value; `None` if it is not known here: another function, an unreadable
/// byte, too long a string, or operands for which libraries differ.
pub fn eval_pure(name: &str, arguments: &[u64], read: &mut dyn FnMut(u64) -> Option<u8>) -> Option<u64> {
    let mut memory = Reader { read, fuel: FUEL };
    match *arguments {
        [a] => memory.unary(name, a).or_else(|| arithmetic(name, a, 0)),
        [a, b] => memory.binary(name, a, b).or_else(|| arithmetic(name, a, b)),
        [a, b, n] => memory.bounded(name, a, b, n),
        [a, n, b, m] if name == "memmem" => memory.find_block(a, n, b, m),
        _ => None,
    }
}

struct Reader<'a> {
    read: &'a mut dyn FnMut(u64) -> Option<u8>,
    fuel: u64,
}

impl Reader<'_> {
    fn byte(&mut self, address: u64) -> Option<u8> {
        self.fuel = self.fuel.checked_sub(1)?;
        (self.read)(address)
    }

    /// Offset of the first byte below `limit` that satisfies the predicate; `limit` if there is none.
    fn scan(&mut self, from: u64, limit: u64, mut found: impl FnMut(u8) -> bool) -> Option<u64> {
        let mut offset = 0;
        while offset < limit && !found(self.byte(from.wrapping_add(offset))?) {
            offset += 1;
        }
        Some(offset)
    }

    fn length(&mut self, string: u64) -> Option<u64> {
        self.scan(string, u64::MAX, |byte| byte == 0)
    }

    fn string(&mut self, string: u64) -> Option<Vec<u8>> {
        let length = self.length(string)?;
        (0..length).map(|i| self.byte(string.wrapping_add(i))).collect()
    }

    fn unary(&mut self, name: &str, a: u64) -> Option<u64> {
        match name {
            "strlen" => self.length(a),
            _ => None,
        }
    }

    fn binary(&mut self, name: &str, a: u64, b: u64) -> Option<u64> {
        match name {
            "strnlen" => self.scan(a, b, |byte| byte == 0),
            "strcmp" => self.compare(a, b, u64::MAX, |byte| byte, |byte| byte == 0),
            "strcasecmp" => self.compare(a, b, u64::MAX, |byte| byte.to_ascii_lowercase(), |byte| byte == 0),
            "strchr" | "index" | "strchrnul" => {
                let offset = self.scan(a, u64::MAX, |byte| byte == b as u8 || byte == 0)?;
                let found = a.wrapping_add(offset);
                let missing = name != "strchrnul" && self.byte(found)? != b as u8;
                Some(if missing { 0 } else { found })
            }
            "strrchr" | "rindex" => {
                let mut string = self.string(a)?;
                string.push(0);
                let last = string.iter().rposition(|byte| *byte == b as u8);
                Some(last.map_or(0, |i| a.wrapping_add(i as u64)))
            }
            "rawmemchr" => Some(a.wrapping_add(self.scan(a, u64::MAX, |byte| byte == b as u8)?)),
            "strstr" => {
                let (n, m) = (self.length(a)?, self.length(b)?);
                self.find_block(a, n, b, m)
            }
            "strspn" => {
                let set = self.string(b)?;
                self.scan(a, u64::MAX, |byte| !set.contains(&byte))
            }
            "strcspn" => {
                let set = self.string(b)?;
                self.scan(a, u64::MAX, |byte| byte == 0 || set.contains(&byte))
            }
            "strpbrk" => {
                let set = self.string(b)?;
                let found = a.wrapping_add(self.scan(a, u64::MAX, |byte| byte == 0 || set.contains(&byte))?);
                Some(if self.byte(found)? == 0 { 0 } else { found })
            }
            _ => None,
        }
    }

    fn bounded(&mut self, name: &str, a: u64, b: u64, n: u64) -> Option<u64> {
        match name {
            "memcmp" | "bcmp" => self.compare(a, b, n, |byte| byte, |_| false),
            "strncmp" => self.compare(a, b, n, |byte| byte, |byte| byte == 0),
            "strncasecmp" => self.compare(a, b, n, |byte| byte.to_ascii_lowercase(), |byte| byte == 0),
            "memchr" => {
                let offset = self.scan(a, n, |byte| byte == b as u8)?;
                Some(if offset == n { 0 } else { a.wrapping_add(offset) })
            }
            "memrchr" => {
                for i in (0..n).rev() {
                    if self.byte(a.wrapping_add(i))? == b as u8 {
                        return Some(a.wrapping_add(i));
                    }
                }
                Some(0)
            }
            _ => None,
        }
    }

    fn find_block(&mut self, a: u64, n: u64, b: u64, m: u64) -> Option<u64> {
        let block: Vec<u8> = (0..m).map(|i| self.byte(b.wrapping_add(i))).collect::<Option<_>>()?;
        let Some(last) = n.checked_sub(m) else { return Some(0) };
        for start in 0..=last {
            let mut same = true;
            for (i, byte) in block.iter().enumerate() {
                same &= self.byte(a.wrapping_add(start).wrapping_add(i as u64))? == *byte;
            }
            if same {
                return Some(a.wrapping_add(start));
            }
        }
        Some(0)
    }

    /// The sign of the first difference among `n` bytes, as a 4-byte integer; `end` stops after an equal byte.
    fn compare(&mut self, a: u64, b: u64, n: u64, fold: fn(u8) -> u8, end: fn(u8) -> bool) -> Option<u64> {
        for i in 0..n {
            let (x, y) = (self.byte(a.wrapping_add(i))?, self.byte(b.wrapping_add(i))?);
            match fold(x).cmp(&fold(y)) {
                std::cmp::Ordering::Equal if end(x) => return Some(0),
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Less => return Some(u64::from(u32::MAX)),
                std::cmp::Ordering::Greater => return Some(1),
            }
        }
        Some(0)
    }
}

/// Functions of numbers.
fn arithmetic(name: &str, a: u64, b: u64) -> Option<u64> {
    let (single, double) = (f32::from_bits(a as u32), f64::from_bits(a));
    let narrow = |value: u32| Some(u64::from(value));
    let truth = |value: bool| Some(u64::from(value));
    match name {
        "abs" => narrow((a as i32).unsigned_abs()),
        "labs" | "llabs" | "imaxabs" => Some((a as i64).unsigned_abs()),
        "ffs" => narrow(if a as u32 == 0 { 0 } else { (a as u32).trailing_zeros() + 1 }),
        "ffsl" | "ffsll" => narrow(if a == 0 { 0 } else { a.trailing_zeros() + 1 }),
        "htonl" | "ntohl" => narrow((a as u32).swap_bytes()),
        "__popcountdi2" => narrow(a.count_ones()),
        "div" => {
            let (n, d) = (a as i32, b as i32);
            Some(u64::from(n.checked_rem(d)? as u32) << 32 | u64::from(n.checked_div(d)? as u32))
        }
        "pthread_equal" => truth(a == b),
        "toascii" => narrow(a as u32 & 0x7f),
        "isascii" => truth((a as u32) < 128),
        "tolower" => narrow(in_ascii(a, |c| c.to_ascii_lowercase())),
        "toupper" => narrow(in_ascii(a, |c| c.to_ascii_uppercase())),
        _ if name.starts_with("is") && class_test(name).is_some() => {
            let test = class_test(name)?;
            truth((a as u32) < 128 && test(a as u8))
        }
        "fabs" => Some(a & !(1 << 63)),
        "fabsf" => narrow(a as u32 & !(1 << 31)),
        "copysign" => Some(a & !(1 << 63) | b & 1 << 63),
        "copysignf" => narrow(a as u32 & !(1 << 31) | b as u32 & 1 << 31),
        "isnan" | "__isnan" => truth(double.is_nan()),
        "isnanf" | "__isnanf" => truth(single.is_nan()),
        "finite" | "__finite" => truth(double.is_finite()),
        "finitef" | "__finitef" => truth(single.is_finite()),
        "floor" | "ceil" | "trunc" | "round" | "rint" | "nearbyint" => Some(if double.is_nan() {
            a | 1 << 51
        } else {
            match name {
                "floor" => double.floor(),
                "ceil" => double.ceil(),
                "trunc" => double.trunc(),
                "round" => double.round(),
                _ => double.round_ties_even(),
            }
            .to_bits()
        }),
        "floorf" | "ceilf" | "truncf" | "roundf" | "rintf" | "nearbyintf" => narrow(if single.is_nan() {
            a as u32 | 1 << 22
        } else {
            match name {
                "floorf" => single.floor(),
                "ceilf" => single.ceil(),
                "truncf" => single.trunc(),
                "roundf" => single.round(),
                _ => single.round_ties_even(),
            }
            .to_bits()
        }),
        // Libraries differ on signalling NaNs and on zeros of different sign.
        "fmin" | "fmax" => {
            let other = f64::from_bits(b);
            let clear = !double.is_nan() && !other.is_nan() && (double != other || a == b);
            clear.then(|| if (name == "fmin") == (double < other) { a } else { b })
        }
        "fminf" | "fmaxf" => {
            let other = f32::from_bits(b as u32);
            let clear = !single.is_nan() && !other.is_nan() && (single != other || a as u32 == b as u32);
            clear.then(|| u64::from(if (name == "fminf") == (single < other) { a as u32 } else { b as u32 }))
        }
        _ => None,
    }
}

fn in_ascii(a: u64, convert: fn(&u8) -> u8) -> u32 {
    let c = a as u32;
    if c < 128 { u32::from(convert(&(c as u8))) } else { c }
}

/// The class tests of ctype.h in the "C" locale.
fn class_test(name: &str) -> Option<fn(u8) -> bool> {
    Some(match name {
        "isalnum" => |c| c.is_ascii_alphanumeric(),
        "isalpha" => |c| c.is_ascii_alphabetic(),
        "isblank" => |c| c == b' ' || c == b'\t',
        "iscntrl" => |c| c.is_ascii_control(),
        "isdigit" => |c| c.is_ascii_digit(),
        "isgraph" => |c| c.is_ascii_graphic(),
        "islower" => |c| c.is_ascii_lowercase(),
        "isprint" => |c| c.is_ascii_graphic() || c == b' ',
        "ispunct" => |c| c.is_ascii_punctuation(),
        // The vertical tab is no white space to Rust.
        "isspace" => |c| c == b' ' || (9..=13).contains(&c),
        "isupper" => |c| c.is_ascii_uppercase(),
        "isxdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evaluates with strings laid out from address 1000 on, each at the next multiple of 100.
    fn eval(name: &str, strings: &[&str], numbers: &[u64]) -> Option<i64> {
        let memory: Vec<(u64, &[u8])> =
            strings.iter().enumerate().map(|(i, s)| (1000 + 100 * i as u64, s.as_bytes())).collect();
        let mut arguments: Vec<u64> = memory.iter().map(|(base, _)| *base).collect();
        arguments.extend(numbers);
        let mut read = |address: u64| {
            let inside = |(base, bytes): &(u64, &[u8])| {
                let offset = usize::try_from(address.checked_sub(*base)?).ok()?;
                if offset == bytes.len() { Some(0) } else { bytes.get(offset).copied() }
            };
            memory.iter().find_map(inside)
        };
        eval_pure(name, &arguments, &mut read).map(|v| v as i64)
    }

    #[test]
    fn strings() {
        assert_eq!(eval("strlen", &["abc"], &[]), Some(3));
        assert_eq!(eval("strnlen", &["abc"], &[2]), Some(2));
        assert_eq!(eval("strcmp", &["abc", "abd"], &[]), Some(0xffff_ffff));
        assert_eq!(eval("strcmp", &["abc", "ab"], &[]), Some(1));
        assert_eq!(eval("strcmp", &["\u{7f}", "\u{80}"], &[]), Some(0xffff_ffff));
        assert_eq!(eval("strncmp", &["abc", "abd"], &[2]), Some(0));
        assert_eq!(eval("strcasecmp", &["aBc", "AbC"], &[]), Some(0));
        assert_eq!(eval("strchr", &["abc"], &[u64::from(b'c')]), Some(1002));
        assert_eq!(eval("strchr", &["abc"], &[0x100]), Some(1003));
        assert_eq!(eval("strchr", &["abc"], &[u64::from(b'x')]), Some(0));
        assert_eq!(eval("strchrnul", &["abc"], &[u64::from(b'x')]), Some(1003));
        assert_eq!(eval("strrchr", &["abab"], &[u64::from(b'a')]), Some(1002));
        assert_eq!(eval("strstr", &["xabay", "aba"], &[]), Some(1001));
        assert_eq!(eval("strstr", &["x", "aba"], &[]), Some(0));
        assert_eq!(eval("strstr", &["", ""], &[]), Some(1000));
        assert_eq!(eval("strspn", &["aabx", "ab"], &[]), Some(3));
        assert_eq!(eval("strcspn", &["xya", "ab"], &[]), Some(2));
        assert_eq!(eval("strpbrk", &["xya", "ab"], &[]), Some(1002));
        assert_eq!(eval("strpbrk", &["xyz", "ab"], &[]), Some(0));
    }

    #[test]
    fn blocks() {
        assert_eq!(eval("memcmp", &["abc", "abd"], &[2]), Some(0));
        assert_eq!(eval("memcmp", &["abc", "abd"], &[3]), Some(0xffff_ffff));
        assert_eq!(eval("memchr", &["abc"], &[u64::from(b'c'), 2]), Some(0));
        assert_eq!(eval("memchr", &["abc"], &[u64::from(b'c'), 3]), Some(1002));
        assert_eq!(eval("memrchr", &["abca"], &[u64::from(b'a'), 4]), Some(1003));
        assert_eq!(eval("memchr", &["abc"], &[u64::from(b'x'), 100]), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(eval("abs", &[], &[-5i64 as u64]), Some(5));
        assert_eq!(eval("abs", &[], &[0x8000_0000]), Some(0x8000_0000));
        assert_eq!(eval("ffs", &[], &[8]), Some(4));
        assert_eq!(eval("isspace", &[], &[11]), Some(1));
        assert_eq!(eval("isalpha", &[], &[0xe4]), Some(0));
        assert_eq!(eval("toupper", &[], &[u64::from(b'q')]), Some(i64::from(b'Q')));
        assert_eq!(eval("div", &[], &[-7i64 as u64, 2]), Some((-1i32 as i64) << 32 | 0xffff_fffd));
        let bits = |x: f64| x.to_bits();
        assert_eq!(eval("floor", &[], &[bits(-1.5)]), Some(bits(-2.0) as i64));
        assert_eq!(eval("rint", &[], &[bits(2.5)]), Some(bits(2.0) as i64));
        assert_eq!(eval("fmax", &[], &[bits(1.0), bits(2.0)]), Some(bits(2.0) as i64));
        assert_eq!(eval("fmin", &[], &[bits(1.0), bits(2.0)]), Some(bits(1.0) as i64));
        assert_eq!(eval("fmin", &[], &[bits(0.0), bits(-0.0)]), None);
        assert_eq!(eval("sin", &[], &[0]), None);
    }
}
