//! The report for people: one line a function, the witnesses, the summary.

use crate::check_report::Stopped;
use crate::palette::{Look, printable};
use crate::reasons::{Cause, cause};
use crate::row::{Finding, Row};
use crate::{Colour, Summary, assumed, conditional, readable, witness};
use program::Assumption;
use search::{Reason, ReasonKind};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How the text looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextStyle {
    /// Colour.
    pub colour: Colour,
    /// How much to tell.
    pub detail: Detail,
}

/// How much a report tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Verdicts and what they rest on.
    Brief,
    /// Also the machine-independent counts.
    Statistics,
}

/// Names longer than this push their line to the right instead of widening the column for all.
const WIDEST_NAME: usize = 40;
/// Kinds of unsupported things listed by name; the rest is counted together.
const MOST_SUBJECTS: usize = 8;

/// Lines of functions, each by itself: they share a column for their names and nothing else, so that a line can be printed
/// before the others are known.
pub(crate) struct Lines {
    width: usize,
    style: TextStyle,
}

impl Lines {
    /// For functions of these names.
    pub fn new<'a>(names: impl Iterator<Item = Title<'a>>, style: TextStyle) -> Lines {
        let widths = names.map(|name| name.shown().chars().count()).filter(|width| *width <= WIDEST_NAME);
        Lines { width: widths.max().unwrap_or(0), style }
    }

    pub fn line(&self, row: &Row<'_>) -> String {
        let width = self.width;
        let title = format!("{:width$}", row.title().shown());
        format!("{}\n", render_line(row, &title, self.style).trim_end())
    }
}

/// What a function is called in a report.
#[derive(Clone, Copy, Debug)]
pub struct Title<'a> {
    /// The file that it is in, where there are several.
    pub file: Option<&'a str>,
    /// Name in the original.
    pub name: &'a str,
    /// Name in the candidate, if it differs.
    pub candidate_name: Option<&'a str>,
}

impl Title<'_> {
    pub(crate) fn shown(&self) -> String {
        let name = match self.candidate_name {
            Some(other) => format!("{}={other}", readable(self.name)),
            None => readable(self.name),
        };
        match self.file {
            Some(file) => printable(&format!("{file}: {name}")),
            None => printable(&name),
        }
    }
}

#[cfg(test)]
pub(crate) fn render(rows: &[Row<'_>], time: Duration, style: TextStyle) -> String {
    let lines = Lines::new(rows.iter().map(Row::title), style);
    let above: String = rows.iter().map(|row| lines.line(row)).collect();
    above + &render_end(rows, time, style, None)
}

/// What comes below the lines: the witnesses and the summary.
pub(crate) fn render_end(rows: &[Row<'_>], time: Duration, style: TextStyle, stopped: Option<Stopped>) -> String {
    let mut out = String::new();
    for row in rows {
        let title = row.title().shown();
        match row.finding {
            Finding::Different(found, hint) => {
                out.push('\n');
                out.push_str(&witness::render(&title, found, style.colour));
                if let Some(hint) = hint {
                    out.push_str(&conditional::render_hint(hint, style.colour));
                }
            }
            Finding::EquivalentIf(_, inferred) => {
                out.push('\n');
                out.push_str(&conditional::render(&title, inferred, style.colour));
            }
            _ => {}
        }
    }
    for row in rows.iter().filter(|row| !row.assumed.is_empty()) {
        out.push('\n');
        out.push_str(&assumed::render(&row.title().shown(), row.assumed, style.colour));
    }
    let summary = Summary::of(rows);
    if summary.different > 0 {
        let note = "  note: undefined behaviour of C that machine code does not show (signed overflow, strict aliasing) \
                    excuses no difference\n";
        out.push('\n');
        out.push_str(&style.colour.paint(Look::Aside, note.trim_end()));
        out.push('\n');
    }
    if !rows.is_empty() {
        out.push('\n');
    }
    out.push_str(&render_summary(rows, summary, time));
    if let Some(Stopped { why, undecided }) = stopped {
        out.push_str(&format!("stopped: {why}; {} not decided\n", count(undecided, "function")));
    }
    let shared = shared_assumptions(rows);
    if !shared.is_empty() {
        let names: Vec<String> = shared.iter().map(Assumption::to_string).collect();
        out.push_str(&format!("every proof assumes {}\n", names.join(", ")));
    }
    if let Some(reasons) = render_reasons(rows) {
        out.push_str(&format!("unknown: {reasons}\n"));
        out.push_str(&render_causes(rows));
    }
    if style.detail == Detail::Statistics {
        out.push_str(&render_statistics(rows));
    }
    out
}

fn render_line(row: &Row<'_>, title: &str, style: TextStyle) -> String {
    let look = match row.finding {
        Finding::Equivalent(_) | Finding::EquivalentIf(..) => Look::Equivalent,
        Finding::Different(..) => Look::Different,
        Finding::Unknown(_) => Look::Unknown,
        Finding::Inlined(_) => Look::Aside,
    };
    let word = style.colour.paint(look, format!("{:10}", row.finding.word()));
    let millis =
        if was_tried(row) { format!("{} ms", row.time.as_secs_f64().mul_add(1e3, 0.5) as u64) } else { String::new() };
    let mut line = format!("  {title}   {word} {millis:>9}");
    let mut add = |text: &str| {
        line.push_str("   ");
        line.push_str(text);
    };
    match &row.finding {
        Finding::Equivalent(assumptions) | Finding::EquivalentIf(assumptions, _) => {
            if row.statistics.loops > 0 {
                add(&count(row.statistics.loops, "loop"));
            }
            let names: Vec<String> = assumptions.iter().map(Assumption::to_string).collect();
            if !names.is_empty() {
                add(&format!("assumes {}", printable(&names.join(", "))));
            }
        }
        Finding::Different(..) => {}
        Finding::Unknown(reason) => add(&printable(&reason.to_string())),
        Finding::Inlined(reason) => add(&printable(&reason.detail)),
    }
    if !row.assumed.is_empty() {
        add("under --assume");
    }
    if style.detail == Detail::Statistics && was_tried(row) {
        let s = row.statistics;
        let mut parts =
            vec![count(s.points, "point"), count(s.obligations, "obligation"), count(s.solver_calls, "solver call")];
        if s.plans > 0 {
            parts.push(count(s.plans, "correlation"));
            parts.push(format!("{}, {} left", guesses(s.guesses), s.survivors));
        }
        match row.run {
            Some((0, reason)) => parts.push(format!("not run: {}", printable(reason.unwrap_or("no input")))),
            Some((inputs, _)) => parts.push(format!("{} run", count(inputs, "input"))),
            None => {}
        }
        let text = format!("[{}]", parts.join(", "));
        add(&style.colour.paint(Look::Aside, text));
    }
    line
}

/// Functions that never reached the search have no time worth showing.
fn was_tried(row: &Row<'_>) -> bool {
    match row.finding {
        Finding::Unknown(reason) => !matches!(reason.kind, ReasonKind::Unsupported | ReasonKind::MissingFunction),
        Finding::Inlined(_) => false,
        _ => true,
    }
}

/// Assumptions about no particular entity that all proofs share.
fn shared_assumptions(rows: &[Row<'_>]) -> BTreeSet<Assumption> {
    let mut proofs = rows.iter().filter_map(|row| match &row.finding {
        Finding::Equivalent(assumptions) | Finding::EquivalentIf(assumptions, _) => Some(assumptions),
        _ => None,
    });
    let (Some(first), Some(second)) = (proofs.next(), proofs.next()) else { return BTreeSet::new() };
    let mut shared: BTreeSet<Assumption> = first.iter().filter(|a| a.entity().is_empty()).cloned().collect();
    for proof in std::iter::once(second).chain(proofs) {
        shared.retain(|a| proof.contains(a));
    }
    shared
}

fn render_summary(rows: &[Row<'_>], summary: Summary, time: Duration) -> String {
    let inlined = if summary.inlined > 0 { format!(", {} inlined", summary.inlined) } else { String::new() };
    let conditional = match summary.equivalent_if {
        0 => String::new(),
        n => format!("{n} equivalent under a condition, "),
    };
    let counts = format!(
        "{}: {} equivalent, {conditional}{} different, {} unknown{inlined}",
        count(rows.len(), "function"),
        summary.equivalent,
        summary.different,
        summary.unknown
    );
    format!("{counts}          {:.2} s\n", time.as_secs_f64())
}

/// Reasons for `unknown`, the commonest first; unsupported things by name.
fn render_reasons(rows: &[Row<'_>]) -> Option<String> {
    let mut kinds: BTreeMap<ReasonKind, usize> = BTreeMap::new();
    let mut subjects: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let Finding::Unknown(reason) = row.finding else { continue };
        *kinds.entry(reason.kind).or_default() += 1;
        if reason.kind == ReasonKind::Unsupported {
            *subjects.entry(subject(reason)).or_default() += 1;
        }
    }
    let by_count = most_frequent(kinds);
    let parts: Vec<String> = by_count
        .into_iter()
        .map(|(kind, n)| match kind {
            ReasonKind::Unsupported => {
                format!("{n} {} ({})", kind.name(), render_subjects(most_frequent(std::mem::take(&mut subjects))))
            }
            _ => format!("{n} {}", kind.name()),
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What functions without an answer have in common, the commonest first, with one piece of advice each.
fn render_causes(rows: &[Row<'_>]) -> String {
    let mut causes: BTreeMap<Cause, Vec<&str>> = BTreeMap::new();
    for row in rows {
        if let Finding::Unknown(reason) = row.finding {
            causes.entry(cause(reason)).or_default().push(row.name);
        }
    }
    let mut causes: Vec<(Cause, Vec<&str>)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let rest: usize = causes.iter().skip(MOST_CAUSES).map(|(_, names)| names.len()).sum();
    let mut out = String::new();
    for (Cause { what, advice }, names) in causes.iter().take(MOST_CAUSES) {
        let examples: Vec<String> = names.iter().take(MOST_EXAMPLES).map(|name| readable(name)).collect();
        let more = if names.len() > MOST_EXAMPLES { ", …" } else { "" };
        out.push_str(&format!("  {:>5}  {what} ({}{more})\n", names.len(), printable(&examples.join(", "))));
        out.push_str(&format!("         → {advice}\n"));
    }
    if rest > 0 {
        out.push_str(&format!("  {rest:>5}  for other causes\n"));
    }
    out
}

/// Causes that are listed.
const MOST_CAUSES: usize = 8;
/// Functions that are named for a cause.
const MOST_EXAMPLES: usize = 3;

fn render_subjects(subjects: Vec<(&str, usize)>) -> String {
    let rest: usize = subjects.iter().skip(MOST_SUBJECTS).map(|(_, n)| n).sum();
    let mut parts: Vec<String> =
        subjects.iter().take(MOST_SUBJECTS).map(|(name, n)| format!("{} {n}", printable(name))).collect();
    if rest > 0 {
        parts.push(format!("others {rest}"));
    }
    parts.join(", ")
}

/// What is unsupported, without its place: the mnemonic of the quoted instruction, else the words of the detail
/// without `f+0x12` before them and ` at …` or a source line after them.
pub(crate) fn subject(reason: &Reason) -> &str {
    let detail = reason.detail.as_str();
    let mut quoted = detail.split('`');
    match (quoted.next(), quoted.next(), quoted.next()) {
        (Some(_), Some(instruction), Some(_)) => mnemonic(instruction),
        _ => {
            let after =
                detail.split_once(' ').filter(|(place, _)| place.contains("+0x")).map_or(detail, |(_, rest)| rest);
            let what = after.split_once(" at ").map_or(after, |(what, _)| what);
            what.rsplit_once(" (").filter(|(_, line)| line.ends_with(')')).map_or(what, |(what, _)| what)
        }
    }
}

/// The first word of an instruction, with its prefixes: `rep movsb` of `rep movsb es:[rdi], [rsi]`.
fn mnemonic(instruction: &str) -> &str {
    const PREFIXES: [&str; 6] = ["rep", "repe", "repne", "lock", "bnd", "notrack"];
    let mut end = 0;
    for word in instruction.split_inclusive(' ') {
        end += word.len();
        if !PREFIXES.contains(&word.trim_end()) {
            break;
        }
    }
    instruction[..end].trim_end()
}

fn most_frequent<K: Ord>(counts: BTreeMap<K, usize>) -> Vec<(K, usize)> {
    let mut sorted: Vec<(K, usize)> = counts.into_iter().collect();
    // Stable, so that equal counts stay in the order of their keys.
    sorted.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    sorted
}

fn render_statistics(rows: &[Row<'_>]) -> String {
    let proofs: Vec<&Row<'_>> = rows.iter().filter(|row| matches!(row.finding, Finding::Equivalent(_))).collect();
    let calls: usize = rows.iter().map(|row| row.statistics.solver_calls).sum();
    let obligations: usize = rows.iter().map(|row| row.statistics.obligations).sum();
    let points: usize = rows.iter().map(|row| row.statistics.points).sum();
    let tried: usize = rows.iter().map(|row| row.statistics.guesses).sum();
    let about_loops = if tried > 0 { format!(", {}", guesses(tried)) } else { String::new() };
    let without = proofs.iter().filter(|row| row.statistics.solver_calls == 0).count();
    format!(
        "statistics: {}, {}, {}{about_loops}; {without} of {} needed no solver\n",
        count(points, "point"),
        count(obligations, "obligation"),
        count(calls, "solver call"),
        count(proofs.len(), "proof"),
    )
}

fn guesses(n: usize) -> String {
    if n == 1 { "1 guess".to_string() } else { format!("{n} guesses") }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::samples::{equivalent, row, unsupported, witness};
    use expect_test::{Expect, expect};

    fn renders_to(rows: &[Row<'_>], style: TextStyle, expect: Expect) {
        expect.assert_eq(&render(rows, Duration::from_millis(50), style));
    }

    const PLAIN: TextStyle = TextStyle { colour: Colour::Plain, detail: Detail::Brief };

    #[test]
    fn one_line_a_function_then_witnesses_then_the_summary() {
        let (found, reason) = (witness(), unsupported());
        let mut looped =
            row("sum_positive", equivalent(&[Assumption::FramePrivate, Assumption::InBounds("g".to_string())]), 38);
        looped.statistics.loops = 1;
        let rows = [
            row("clamp", equivalent(&[Assumption::FramePrivate]), 2),
            looped,
            row("count_set", Finding::Different(&found, None), 9),
            row("render", Finding::Unknown(&reason), 0),
        ];
        renders_to(
            &rows,
            PLAIN,
            expect![[r#"
                  clamp          equivalent      2 ms   assumes frame-private
                  sum_positive   equivalent     38 ms   1 loop   assumes frame-private, in-bounds(g)
                  count_set      different       9 ms
                  render         unknown                unsupported: render+0x41 `fsincos` (render.c:88)

                  count_set: the two functions disagree on this input (replayed: interpreter, cpu)
                      rdi  bits  = 0x8000000000000000
                      rsi        = 0x7000
                      [0x7000]   = 2a 00 00 00
                      [g+8]      = ff
                      where getc(0x7000) gives 0xffffffff and writes [h] = 07
                      needs a callee that writes what is shown (class callee-writes)
                      original   returns 1   count.c:14
                      candidate  returns 0

                  note: undefined behaviour of C that machine code does not show (signed overflow, strict aliasing) excuses no difference

                4 functions: 2 equivalent, 1 different, 1 unknown          0.05 s
                every proof assumes frame-private
                unknown: 1 unsupported (fsincos 1)
                      1  `fsincos` is not modelled (render)
                         → compile without it (-mno-…, or another spelling in the source); docs/supported-instructions.md lists what is modelled
            "#]],
        );
    }

    #[test]
    fn reasons_are_counted_and_the_commonest_comes_first() {
        let reasons = [
            Reason::new(ReasonKind::Timeout, "60 s"),
            Reason::new(ReasonKind::Unsupported, "loop at f+0x1f"),
            Reason::new(ReasonKind::Unsupported, "g+0x2 `rep movsb es:[rdi], [rsi]` (g.c:2)"),
            Reason::new(ReasonKind::Unsupported, "loop at h+0x4"),
            Reason::new(ReasonKind::Unsupported, "i+0xc a jump out of the function (i.c:5)"),
            Reason::new(ReasonKind::MissingFunction, "not in new.o"),
        ];
        let rows: Vec<Row<'_>> = reasons.iter().map(|r| row("f", Finding::Unknown(r), 60_000)).collect();
        renders_to(
            &rows,
            PLAIN,
            expect![[r#"
                  f   unknown     60000 ms   timeout: 60 s
                  f   unknown                unsupported: loop at f+0x1f
                  f   unknown                unsupported: g+0x2 `rep movsb es:[rdi], [rsi]` (g.c:2)
                  f   unknown                unsupported: loop at h+0x4
                  f   unknown                unsupported: i+0xc a jump out of the function (i.c:5)
                  f   unknown                missing-function: not in new.o

                6 functions: 0 equivalent, 0 different, 6 unknown          0.05 s
                unknown: 4 unsupported (loop 2, a jump out of the function 1, rep movsb 1), 1 timeout, 1 missing-function
                      2  loop (f, f)
                         → `lockstep show FILE --function FUNCTION` shows what was understood
                      1  `rep movsb` is not modelled (f)
                         → compile without it (-mno-…, or another spelling in the source); docs/supported-instructions.md lists what is modelled
                      1  a jump out of the function (f)
                         → `lockstep show FILE --function FUNCTION` shows what was understood
                      1  the candidate has no such function (f)
                         → compare it under its other name with --function NAME=OTHER
                      1  time ran out (f)
                         → give it more with --timeout; `lockstep show --why` shows what was tried
            "#]],
        );
    }

    #[test]
    fn statistics_join_each_line_and_the_end() {
        let mut other = row("f", equivalent(&[]), 1);
        other.candidate_name = Some("f_new");
        other.statistics.solver_calls = 0;
        let rows = [other, row("g", equivalent(&[]), 1)];
        renders_to(
            &rows,
            TextStyle { detail: Detail::Statistics, ..PLAIN },
            expect![[r#"
              f=f_new   equivalent      1 ms   [3 points, 7 obligations, 0 solver calls]
              g         equivalent      1 ms   [3 points, 7 obligations, 1 solver call]

            2 functions: 2 equivalent, 0 different, 0 unknown          0.05 s
            statistics: 6 points, 14 obligations, 1 solver call; 1 of 2 proofs needed no solver
        "#]],
        );
    }

    #[test]
    fn guesses_about_loops_are_counted() {
        let mut looped = row("f", equivalent(&[]), 1);
        (looped.statistics.plans, looped.statistics.guesses, looped.statistics.survivors) = (1, 9, 4);
        renders_to(
            &[looped],
            TextStyle { detail: Detail::Statistics, ..PLAIN },
            expect![[r#"
              f   equivalent      1 ms   [3 points, 7 obligations, 1 solver call, 1 correlation, 9 guesses, 4 left]

            1 function: 1 equivalent, 0 different, 0 unknown          0.05 s
            statistics: 3 points, 7 obligations, 1 solver call, 9 guesses; 0 of 1 proof needed no solver
        "#]],
        );
    }

    #[test]
    fn colour_surrounds_the_verdict_and_never_comes_from_a_name() {
        let rows = [row("f\u{1b}[31m", equivalent(&[]), 1)];
        let text = render(&rows, Duration::ZERO, TextStyle { colour: Colour::Ansi, ..PLAIN });
        expect![[r#"
              f\u{1b}[31m   ESC[32mequivalentESC[0m      1 ms

            1 function: 1 equivalent, 0 different, 0 unknown          0.00 s
        "#]]
        .assert_eq(&text.replace('\u{1b}', "ESC"));
    }
}
