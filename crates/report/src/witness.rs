//! A witness as text: the inputs that matter, then what each function did with them.

use crate::Colour;
use crate::palette::{Look, printable};
use search::{Behaviour, Witness, WitnessBytes, WitnessCall, WitnessRegister};
use term::Bits;

/// Bytes of one object shown before the rest is left out.
const MOST_BYTES: usize = 32;
/// Lines of inputs of one witness; the others are in JSON.
const MOST_LINES: usize = 12;
/// Texts shorter than this are numbers as likely as not.
const SHORTEST_TEXT: usize = 3;
/// Places that a callee writes shown before the rest is left out.
const MOST_WRITES: usize = 3;

pub(crate) fn render(title: &str, witness: &Witness, colour: Colour) -> String {
    if let Some(error) = &witness.allocation {
        return crate::regalloc::allocation::render(title, error, colour);
    }
    let by = match witness.replayed.as_slice() {
        [] => String::new(),
        ["interpreter"] => " (replayed)".to_string(),
        names => format!(" (replayed: {})", names.join(", ")),
    };
    let mut out = format!("  {}: the two functions disagree on this input{by}\n", colour.paint(Look::Name, title));
    let lines = inputs(witness);
    // What both sides do takes two of them.
    let shown = if lines.len() + 2 > MOST_LINES { MOST_LINES - 3 } else { lines.len() };
    for line in &lines[..shown] {
        out.push_str(&format!("      {}\n", printable(line)));
    }
    if shown < lines.len() {
        let rest = format!("… {} more lines; --format json has them all", lines.len() - shown);
        out.push_str(&format!("      {}\n", colour.paint(Look::Aside, rest)));
    }
    if let Some(class) = witness.class().in_words() {
        out.push_str(&format!("      {}\n", colour.paint(Look::Aside, class)));
    }
    let width = witness.original.summary.chars().count().max(witness.candidate.summary.chars().count());
    out.push_str(&behaviour("original ", &witness.original, width, colour));
    out.push_str(&behaviour("candidate", &witness.candidate, width, colour));
    out
}

/// `name = value` lines with the equal signs below each other, then the calls.
fn inputs(witness: &Witness) -> Vec<String> {
    let registers = witness.registers.iter().map(|r| (register_name(r, witness), register_value(r)));
    let memory = witness.memory.iter().map(|m| (bytes_name(m), bytes(&m.bytes)));
    let pairs: Vec<(String, String)> = registers.chain(memory).collect();
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let values = pairs.into_iter().map(|(name, value)| format!("{name:width$}  = {value}"));
    let calls = witness.calls.iter().map(|call| {
        format!("where {}({}) gives {}{}", call.callee, call.arguments.join(", "), call.result, writes(call))
    });
    values.chain(calls).collect()
}

/// ` and writes [g] = 01` for what a callee is assumed to write; the first few places.
fn writes(call: &WitnessCall) -> String {
    let some = call.writes.iter().take(MOST_WRITES).map(|w| format!("{} = {}", bytes_name(w), bytes(&w.bytes)));
    let some: Vec<String> = some.collect();
    let more = if call.writes.len() > MOST_WRITES { ", …" } else { "" };
    if some.is_empty() { String::new() } else { format!(" and writes {}{more}", some.join(", ")) }
}

fn register_name(register: &WitnessRegister, witness: &Witness) -> String {
    let width = witness.registers.iter().map(|r| r.name.len()).max().unwrap_or(0);
    match &register.parameter {
        Some(parameter) => format!("{:width$}  {parameter}", register.name),
        None => register.name.clone(),
    }
}

fn bytes_name(memory: &WitnessBytes) -> String {
    match &memory.object {
        Some(object) => format!("[{object}]"),
        None => format!("[{:#x}]", memory.address),
    }
}

/// A vector register most often carries a floating-point number: say which.
fn register_value(register: &WitnessRegister) -> String {
    let shown = value(register.value);
    let number = match register.value.to_u64() {
        Some(bits) if register.name.starts_with("xmm") => match u32::try_from(bits) {
            Ok(single) => format!("{:e}", f32::from_bits(single)),
            Err(_) => format!("{:e}", f64::from_bits(bits)),
        },
        _ => return shown,
    };
    format!("{shown} ({number})")
}

/// Small numbers in decimal, for people; the rest in hexadecimal.
pub(crate) fn value(bits: Bits) -> String {
    match bits.to_u64() {
        Some(small @ 0..=4096) => small.to_string(),
        _ => hexadecimal(bits),
    }
}

/// Hexadecimal without leading zeros.
pub(crate) fn hexadecimal(bits: Bits) -> String {
    let digits: String = bits.limbs().iter().rev().map(|limb| format!("{limb:016x}")).collect();
    match digits.trim_start_matches('0') {
        "" => "0x0".to_string(),
        significant => format!("0x{significant}"),
    }
}

/// Bytes that are a text, with or without its end, as C writes it.
fn text(bytes: &[u8]) -> Option<String> {
    let content = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    let readable = |b: &u8| (0x20..0x7f).contains(b) || matches!(b, b'\n' | b'\t' | b'\r');
    if content.len() < SHORTEST_TEXT || !content.iter().all(readable) {
        return None;
    }
    let shown: String = content.iter().take(MOST_BYTES).map(|b| char::from(*b)).collect();
    let rest = content.len().saturating_sub(MOST_BYTES);
    let more = if rest > 0 { format!(" … {rest} more bytes") } else { String::new() };
    let open = if bytes.len() == content.len() { " without an end" } else { "" };
    Some(format!("{shown:?}{more}{open}"))
}

fn bytes(bytes: &[u8]) -> String {
    if let Some(text) = text(bytes) {
        return text;
    }
    let shown: Vec<String> = bytes.iter().take(MOST_BYTES).map(|b| format!("{b:02x}")).collect();
    let rest = bytes.len().saturating_sub(MOST_BYTES);
    let more = if rest > 0 { format!(" … {rest} more bytes") } else { String::new() };
    format!("{}{more}", shown.join(" "))
}

fn behaviour(who: &str, behaviour: &Behaviour, width: usize, colour: Colour) -> String {
    let summary = printable(&behaviour.summary);
    let line = match &behaviour.line {
        Some(line) => {
            let place = colour.paint(Look::Aside, format!("{}:{}", printable(&line.file), line.line));
            format!("      {who}  {summary:width$}   {place}")
        }
        None => format!("      {who}  {summary}"),
    };
    format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::samples;
    use expect_test::{Expect, expect};

    /// The first line keeps the indentation of the others: golden texts lose what all lines share.
    fn renders_to(title: &str, witness: &Witness, expect: Expect) {
        expect.assert_eq(&format!("report\n{}", render(title, witness, Colour::Plain)));
    }

    #[test]
    fn shows_inputs_bytes_calls_and_both_results() {
        renders_to(
            "count_set",
            &samples::witness(),
            expect![[r#"
                report
                  count_set: the two functions disagree on this input (replayed: interpreter, cpu)
                      rdi  bits  = 0x8000000000000000
                      rsi        = 0x7000
                      [0x7000]   = 2a 00 00 00
                      [g+8]      = ff
                      where getc(0x7000) gives 0xffffffff and writes [h] = 07
                      needs a callee that writes what is shown (class callee-writes)
                      original   returns 1   count.c:14
                      candidate  returns 0
            "#]],
        );
    }

    #[test]
    fn long_memory_is_cut_and_interpreter_alone_is_not_named() {
        let mut witness = samples::witness();
        witness.registers.clear();
        witness.calls.clear();
        witness.memory.truncate(1);
        witness.memory[0].bytes = vec![7; 40];
        witness.replayed.pop();
        renders_to(
            "f",
            &witness,
            expect![[r#"
            report
              f: the two functions disagree on this input (replayed)
                  [0x7000]  = 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 07 … 8 more bytes
                  original   returns 1   count.c:14
                  candidate  returns 0
        "#]],
        );
    }

    #[test]
    fn texts_are_shown_as_texts_and_long_witnesses_are_cut() {
        expect![[r#""%d: \"x\"\n""#]].assert_eq(&bytes(b"%d: \"x\"\n\0"));
        expect![[r#""abc" without an end"#]].assert_eq(&bytes(b"abc"));
        expect!["2a 00 00 00"].assert_eq(&bytes(b"*\0\0\0"));
        let mut witness = samples::witness();
        witness.calls = vec![witness.calls[0].clone(); 20];
        witness.calls.iter_mut().for_each(|call| call.writes.clear());
        let shown = render("f", &witness, Colour::Plain);
        assert_eq!(shown.lines().count(), 1 + MOST_LINES, "{shown}");
        assert!(shown.contains("… 15 more lines; --format json has them all"), "{shown}");
    }

    #[test]
    fn vector_registers_are_also_shown_as_numbers() {
        let shown = |bits: u64| {
            let value = Bits::new(128, bits);
            register_value(&WitnessRegister { name: "xmm0".to_string(), parameter: None, value })
        };
        expect!["0x4017400000000000 (5.8125e0)"].assert_eq(&shown(5.8125f64.to_bits()));
        expect!["0x3f000000 (5e-1)"].assert_eq(&shown(0.5f32.to_bits().into()));
        expect!["0xffffffffffffffff (NaN)"].assert_eq(&shown(u64::MAX));
    }

    #[test]
    fn values_are_short() {
        let shown = [Bits::new(64, 10), Bits::new(64, u64::MAX), Bits::from_limbs(128, &[0, 1])].map(value);
        expect!["10 0xffffffffffffffff 0x10000000000000000"].assert_eq(&shown.join(" "));
    }
}
