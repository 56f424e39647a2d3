//! Reads the values that a solver prints. Input is untrusted: nothing here panics or recurses.

use term::eval::Value;
use term::{Bits, Sort};

/// The values of a reply to `(get-value (e₀ e₁ …))`: the last element of each pair. `None` if it is anything else.
pub(crate) fn parse_values(reply: &str, sorts: impl ExactSizeIterator<Item = Sort>) -> Option<Vec<Value>> {
    let tokens = tokenize(reply)?;
    let mut values = Vec::with_capacity(sorts.len());
    let mut at = 1;
    if *tokens.first()? != "(" {
        return None;
    }
    for sort in sorts {
        if *tokens.get(at)? != "(" {
            return None;
        }
        at = skip(&tokens, at + 1)?;
        let end = skip(&tokens, at)?;
        values.push(parse_value(tokens.get(at..end)?, sort)?);
        if *tokens.get(end)? != ")" {
            return None;
        }
        at = end + 1;
    }
    (*tokens.get(at)? == ")" && at + 1 == tokens.len()).then_some(values)
}

/// Parentheses, quoted symbols, strings and everything else between blanks.
fn tokenize(text: &str) -> Option<Vec<&str>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' => 1,
            '|' | '"' => 2 + rest.get(1..)?.find(first)?,
            _ => rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len()),
        };
        tokens.push(rest.get(..length)?);
        rest = rest.get(length..)?.trim_start();
    }
    Some(tokens)
}

/// The position after the expression at `at`.
fn skip(tokens: &[&str], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

fn parse_value(tokens: &[&str], sort: Sort) -> Option<Value> {
    match (sort, tokens) {
        (Sort::Bool, ["true"]) => Some(Value::Bool(true)),
        (Sort::Bool, ["false"]) => Some(Value::Bool(false)),
        (Sort::Bv(width), [digits]) => {
            let (digits, radix, per_digit) = match digits.split_at_checked(2)? {
                ("#x", digits) => (digits, 16, 4),
                ("#b", digits) => (digits, 2, 1),
                _ => return None,
            };
            (digits.len() * per_digit == usize::from(width)).then_some(())?;
            parse_digits(digits, radix, width)
        }
        (Sort::Bv(width), ["(", "_", value, bits, ")"]) => {
            (bits.parse() == Ok(width)).then_some(())?;
            parse_digits(value.strip_prefix("bv")?, 10, width)
        }
        _ => None,
    }
}

fn parse_digits(digits: &str, radix: u32, width: u16) -> Option<Value> {
    // Eight more bits than the value has, so that no digit is lost before the check of the range.
    let wide = (width + 8).min(512);
    let (mut bits, factor) = (Bits::zero(wide), Bits::new(wide, u64::from(radix)));
    (!digits.is_empty()).then_some(())?;
    for digit in digits.chars() {
        let digit = Bits::new(wide, u64::from(digit.to_digit(radix)?));
        bits = bits.mul(factor).add(digit);
        (wide == width || bits.ult(Bits::ones(width).zext(wide).add(Bits::new(wide, 1)))).then_some(())?;
    }
    Some(Value::Bits(if wide == width { bits } else { bits.extract(width - 1, 0) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn reads_as(reply: &str, sorts: &[Sort], expected: Expect) {
        expected.assert_eq(&format!("{:?}", parse_values(reply, sorts.iter().copied())));
    }

    #[test]
    fn values_of_all_notations() {
        let sorts = [Sort::Bv(8), Sort::Bv(3), Sort::Bool, Sort::Bv(64), Sort::Bv(8)];
        reads_as(
            "((v0 #x1f)\n (|a b| #b101) ((f1 v0) true) ((bvadd v1 #x00) (_ bv18446744073709551615 64)) (t (_ bv7 8)))",
            &sorts,
            expect!["Some([Bits(0x1f:8), Bits(0x5:3), Bool(true), Bits(0xffffffffffffffff:64), Bits(0x7:8)])"],
        );
        reads_as("()", &[], expect!["Some([])"]);
    }

    #[test]
    fn garbage_is_refused() {
        let bv8 = [Sort::Bv(8)];
        for reply in [
            "",
            "(",
            ")",
            "((v0 #x1))",
            "((v0 #x1g))",
            "((v0 (_ bv256 8)))",
            "((v0 (_ bv1 9)))",
            "((v0 true))",
            "((v0))",
            "((v0 #x01) (v1 #x02))",
            "((v0 #x01)) x",
            "((v0 #x01)",
            "((v0 \"#x01",
            "((v0 #x))",
            "(v0 #x01)",
            "(error \"x\")",
            "((v0 (_ bv 8)))",
            "((v0 #é1))",
            "((|v0 #x01))",
        ] {
            assert_eq!(parse_values(reply, bv8.iter().copied()), None, "{reply}");
        }
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let reply = format!("(({}{} #x01))", "(".repeat(100_000), ")".repeat(100_000));
        reads_as(&reply, &[Sort::Bv(8)], expect!["Some([Bits(0x1:8)])"]);
    }
}
