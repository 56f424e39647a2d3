//! A mistake of a register allocator, as text and JSON.

use crate::Colour;
use crate::palette::{Look, printable};
use search::regalloc::AllocationError;
use serde::Serialize;

/// Blocks of a path that are shown at each end.
const ENDS: usize = 6;

/// The mistake for programs; the witness's field `allocation`.
#[derive(Serialize)]
pub(crate) struct JsonAllocation<'a> {
    function: &'a str,
    path: &'a [u32],
    original: JsonUsed<'a>,
    candidate: JsonUsed<'a>,
    needs: &'a str,
    holds: &'a str,
    location: Option<&'a str>,
    lives: Option<&'a str>,
    summary: &'a str,
}

#[derive(Serialize)]
struct JsonUsed<'a> {
    line: u32,
    instruction: &'a str,
}

pub(crate) fn json(error: &AllocationError) -> JsonAllocation<'_> {
    JsonAllocation {
        function: &error.function,
        path: &error.path,
        original: JsonUsed { line: error.original.line, instruction: &error.original.text },
        candidate: JsonUsed { line: error.candidate.line, instruction: &error.candidate.text },
        needs: &error.needs,
        holds: &error.holds,
        location: error.location.as_deref(),
        lives: error.lives.as_deref(),
        summary: &error.summary,
    }
}

/// The mistake for people.
pub(crate) fn render(title: &str, error: &AllocationError, colour: Colour) -> String {
    let heading = format!("  {title}: {} (run along this path by the interpreter)", printable(&error.summary));
    let mut out = format!("{}\n", colour.paint(Look::Different, heading));
    let mut row = |name: &str, text: &str| out.push_str(&format!("      {name:10} {}\n", printable(text)));
    row("path", &path(&error.path));
    row("original", &format!("{:>6}: {}", error.original.line, error.original.text));
    row("candidate", &format!("{:>6}: {}", error.candidate.line, error.candidate.text));
    row("needs", &error.needs);
    row("holds", &error.holds);
    if let Some(lives) = &error.lives {
        row("lives in", lives);
    }
    out
}

fn path(blocks: &[u32]) -> String {
    let show = |blocks: &[u32]| blocks.iter().map(|b| format!("bb.{b}")).collect::<Vec<String>>().join(" ");
    if blocks.len() <= 2 * ENDS + 1 {
        return show(blocks);
    }
    let hidden = blocks.len() - 2 * ENDS;
    format!("{} … {hidden} more … {}", show(&blocks[..ENDS]), show(&blocks[blocks.len() - ENDS..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use search::regalloc::Used;

    fn sample() -> AllocationError {
        let used = |line: u32, text: &str| Used { line, text: text.to_string() };
        AllocationError {
            function: "f".to_string(),
            path: vec![0, 3, 4],
            original: used(40, "MOV64mr %0, 1, $noreg, 0, $noreg, %3"),
            candidate: used(44, "MOV64mr $rax, 1, $noreg, 0, $noreg, $rcx"),
            needs: "%3 = event 0".to_string(),
            holds: "$rcx = %stack.1".to_string(),
            location: Some("$rcx".to_string()),
            lives: Some("%stack.17".to_string()),
            summary: "missing reload of %stack.17".to_string(),
        }
    }

    #[test]
    fn as_text() {
        // Indented throughout, so that a golden text would lose it.
        let lines = [
            "  f: missing reload of %stack.17 (run along this path by the interpreter)",
            "      path       bb.0 bb.3 bb.4",
            "      original       40: MOV64mr %0, 1, $noreg, 0, $noreg, %3",
            "      candidate      44: MOV64mr $rax, 1, $noreg, 0, $noreg, $rcx",
            "      needs      %3 = event 0",
            "      holds      $rcx = %stack.1",
            "      lives in   %stack.17",
            "",
        ];
        assert_eq!(render("f", &sample(), Colour::Plain), lines.join("\n"));
    }

    #[test]
    fn as_json() {
        let error = sample();
        let text = serde_json::to_string(&json(&error)).expect("plain data");
        expect![[r#"{"function":"f","path":[0,3,4],"original":{"line":40,"instruction":"MOV64mr %0, 1, $noreg, 0, $noreg, %3"},"candidate":{"line":44,"instruction":"MOV64mr $rax, 1, $noreg, 0, $noreg, $rcx"},"needs":"%3 = event 0","holds":"$rcx = %stack.1","location":"$rcx","lives":"%stack.17","summary":"missing reload of %stack.17"}"#]]
            .assert_eq(&text);
    }

    #[test]
    fn long_paths_are_shortened() {
        let blocks: Vec<u32> = (0..40).collect();
        expect!["bb.0 bb.1 bb.2 bb.3 bb.4 bb.5 … 28 more … bb.34 bb.35 bb.36 bb.37 bb.38 bb.39"]
            .assert_eq(&path(&blocks));
    }
}
