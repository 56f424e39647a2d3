//! What a search tried, as text: for `lockstep show --why`.

use crate::palette::printable;
use program::{Function, Side};
use search::{Attempt, Outcome, Verdict};

/// Widest line of a counterexample.
const WIDTH: usize = 110;

/// The verdict of a pair, then each attempt at a proof: the loop heads that it paired, what it failed at, and a state
/// in which that does not hold.
pub fn render_attempts(functions: [&Function; 2], outcome: &Outcome) -> String {
    let name = printable(&functions[0].name);
    let mut out = match &outcome.verdict {
        Verdict::Equivalent(_) => format!("{name}: equivalent, by `{}`\n", outcome.strategy.unwrap_or("events")),
        Verdict::Different(_) => format!("{name}: different; `lockstep check` shows the input\n"),
        Verdict::Unknown(reason) => format!("{name}: unknown, {}: {}\n", reason.kind.name(), printable(&reason.detail)),
    };
    let journal = &outcome.journal;
    if journal.attempts.is_empty() {
        out.push_str("  no certificate was refused by the kernel\n");
        return out;
    }
    out.push_str("  o is the original, c the candidate; what the kernel refused, in order:\n");
    for (i, attempt) in journal.attempts.iter().enumerate() {
        out.push_str(&render_attempt(functions, i + 1, attempt));
    }
    if journal.left_out > 0 {
        out.push_str(&format!("\n  and {} more\n", journal.left_out));
    }
    out
}

fn render_attempt(functions: [&Function; 2], number: usize, attempt: &Attempt) -> String {
    let heads: Vec<String> = attempt.heads.iter().map(|heads| pair(functions, heads)).collect();
    let asked = if attempt.rounds == 1 { String::new() } else { format!(", asked {} times", attempt.rounds) };
    let mut out = format!("\n  {number}. {}{asked}\n", attempt.strategy);
    for heads in heads {
        out.push_str(&format!("     loops       {heads}\n"));
    }
    if !attempt.heads.is_empty() {
        out.push_str(&format!("     claims      {} definitions and conditions were left\n", attempt.claims));
    }
    let reason = &attempt.reason;
    out.push_str(&format!("     fails at    {}: {}\n", reason.kind.name(), printable(&reason.detail)));
    for (i, line) in wrapped(&attempt.state).into_iter().enumerate() {
        out.push_str(&format!("     {:<11} {line}\n", if i == 0 { "in a state" } else { "" }));
    }
    out
}

/// The heads of a pair of loops: `o +0x11 f.c:3 with c +0x20 f.c:3`.
fn pair(functions: [&Function; 2], heads: &[u64; 2]) -> String {
    let place = |side: Side| {
        let address = heads[side.index()];
        let line = functions[side.index()].lines.find(address);
        let line = line.map_or(String::new(), |l| format!(" {}:{}", printable(&l.file), l.line));
        format!("{} +{address:#x}{line}", if side == Side::Original { "o" } else { "c" })
    };
    format!("{} with {}", place(Side::Original), place(Side::Candidate))
}

fn wrapped(state: &[(String, String)]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in state {
        let text = format!("{} = {value}", printable(name));
        match lines.last_mut() {
            Some(line) if line.len() + text.len() + 2 <= WIDTH => line.push_str(&format!(", {text}")),
            _ => lines.push(text),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use search::{Journal, Reason, ReasonKind, Statistics};

    fn outcome(attempts: Vec<Attempt>, left_out: usize) -> Outcome {
        let mut journal = Journal::default();
        (journal.attempts, journal.left_out) = (attempts, left_out);
        Outcome {
            inferred: None,
            hint: None,
            verdict: Verdict::Unknown(Reason::new(ReasonKind::Timeout, "no proof of the loops after 6 s")),
            strategy: None,
            statistics: Statistics::default(),
            certificate: None,
            native: Default::default(),
            journal,
        }
    }

    #[test]
    fn attempts_are_listed_in_order() {
        let function = Function { name: "f".to_string(), ..Function::default() };
        let reason = |what: &str| Reason::new(ReasonKind::NoCorrelation, what);
        let state = vec![("rdi".to_string(), "0x3".to_string()), ("rsi".to_string(), "0x0".to_string())];
        let attempts = vec![
            Attempt {
                strategy: "data",
                heads: vec![[0x11, 0x20]],
                rounds: 4,
                claims: 7,
                reason: reason("the result not shown equal at f+0x30 / f+0x28"),
                state,
            },
            Attempt {
                strategy: "unrolling",
                heads: vec![],
                rounds: 1,
                claims: 0,
                reason: reason("memory\u{1b}"),
                state: vec![],
            },
        ];
        expect![[r#"
            f: unknown, timeout: no proof of the loops after 6 s
              o is the original, c the candidate; what the kernel refused, in order:

              1. data, asked 4 times
                 loops       o +0x11 with c +0x20
                 claims      7 definitions and conditions were left
                 fails at    no-correlation: the result not shown equal at f+0x30 / f+0x28
                 in a state  rdi = 0x3, rsi = 0x0

              2. unrolling
                 fails at    no-correlation: memory\u{1b}

              and 2 more
        "#]]
        .assert_eq(&render_attempts([&function; 2], &outcome(attempts, 2)));
    }

    #[test]
    fn nothing_tried_is_said() {
        let function = Function { name: "f".to_string(), ..Function::default() };
        let text = render_attempts([&function; 2], &outcome(vec![], 0));
        assert!(text.ends_with("no certificate was refused by the kernel\n"), "{text}");
    }
}
