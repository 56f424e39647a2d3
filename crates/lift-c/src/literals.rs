//! Numbers and characters as written in C.

use updates::{Constant, Scalar};

/// Value and type of a number.
pub(crate) fn number(text: &str) -> Option<(Constant, Scalar)> {
    let lower = text.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let float = if hex { lower.contains('p') || lower.contains('.') } else { lower.contains(['.', 'e']) };
    if float { float_number(&lower, hex) } else { integer(&lower) }
}

fn float_number(text: &str, hex: bool) -> Option<(Constant, Scalar)> {
    // In hexadecimal `f` is a digit unless an exponent came before.
    let (digits, ty) = match text.strip_suffix('f') {
        Some(digits) if !hex || text.contains('p') => (digits, Scalar::F32),
        _ => (text, Scalar::F64),
    };
    if digits.ends_with('l') {
        return None;
    }
    if hex {
        return hex_float(digits).map(|value| (Constant::float(ty, value), ty));
    }
    // Rounded once, to the type it has.
    Some(match ty {
        Scalar::F32 => (Constant::F32(digits.parse::<f32>().ok()?.to_bits()), ty),
        _ => (Constant::F64(digits.parse::<f64>().ok()?.to_bits()), ty),
    })
}

fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // More digits than a double holds would need rounding here.
    let value = u64::from_str_radix(&digits, 16).ok().filter(|v| *v < 1 << 53)?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    (-1000..=900).contains(&exponent).then(|| value as f64 * 2f64.powi(exponent))
}

fn integer(text: &str) -> Option<(Constant, Scalar)> {
    let digits = text.trim_end_matches(['u', 'l']);
    let suffix = &text[digits.len()..];
    let unsigned = suffix.contains('u');
    let long = suffix.contains('l');
    let (value, decimal) = if let Some(hex) = digits.strip_prefix("0x") {
        (u64::from_str_radix(hex, 16).ok()?, false)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        (u64::from_str_radix(binary, 2).ok()?, false)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (u64::from_str_radix(&digits[1..], 8).ok()?, false)
    } else {
        (digits.parse().ok()?, true)
    };
    // C11 6.4.4.1: the first type that can hold the value.
    let fits = |ty: Scalar| i128::from(value) <= ty.range().1;
    let order = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];
    let allowed = |ty: &Scalar| {
        let kind = if unsigned { !ty.is_signed() } else { ty.is_signed() || !decimal };
        kind && (!long || ty.bits() == 64) && fits(*ty)
    };
    let ty = order.into_iter().find(allowed)?;
    Some((Constant::integer(i128::from(value)), ty))
}

/// Value of a character constant.
pub(crate) fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inner.chars();
    let value = match chars.next()? {
        '\\' => match chars.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            '?' => 63,
            // A number is that of a `char`, which is signed.
            'x' => {
                let digits = chars.as_str();
                let value = u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
                return Some(i64::from(value as i8));
            }
            first @ '0'..='7' => {
                let digits = format!("{first}{}", chars.as_str());
                let value = i64::from_str_radix(&digits, 8).ok().filter(|v| digits.len() <= 3 && *v < 256)?;
                return Some(i64::from(value as i8));
            }
            '\\' => 92,
            '\'' => 39,
            '"' => 34,
            _ => return None,
        },
        plain if plain.is_ascii() => plain as i64,
        _ => return None,
    };
    chars.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_type_c_gives_them() {
        let int = |v, ty| Some((Constant::Int(v), ty));
        assert_eq!(number("16"), int(16, Scalar::I32));
        assert_eq!(number("0x10u"), int(16, Scalar::U32));
        assert_eq!(number("3000000000"), int(3_000_000_000, Scalar::I64));
        assert_eq!(number("0xffffffff"), int(0xffff_ffff, Scalar::U32));
        assert_eq!(number("017L"), int(15, Scalar::I64));
        assert_eq!(number("0.1f"), Some((Constant::F32(0.1f32.to_bits()), Scalar::F32)));
        assert_eq!(number("1e-3"), Some((Constant::F64(1e-3f64.to_bits()), Scalar::F64)));
        assert_eq!(number("5."), Some((Constant::F64(5f64.to_bits()), Scalar::F64)));
        assert_eq!(number("0x1.8p1"), Some((Constant::F64(3f64.to_bits()), Scalar::F64)));
        assert_eq!(number("12abc"), None);
        assert_eq!(number("1.0L"), None);
    }

    #[test]
    fn characters() {
        assert_eq!(character("'a'"), Some(97));
        assert_eq!(character("'\\n'"), Some(10));
        assert_eq!(character("'ab'"), None);
        assert_eq!(character("'\\x41'"), Some(65));
        assert_eq!(character("'\\xff'"), Some(-1));
        assert_eq!(character("'\\101'"), Some(65));
        assert_eq!(character("'\\0'"), Some(0));
        assert_eq!(character("'\\x+1'"), None);
    }
}
