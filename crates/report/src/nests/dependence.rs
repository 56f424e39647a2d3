//! A broken dependence in words.

use search::nests::{Broken, Instance, Kind, Reading};

fn place(instance: &Instance) -> String {
    let pairs: Vec<String> = instance.iterators.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let at = if pairs.is_empty() { String::new() } else { format!(" at {}", pairs.join(",")) };
    let inside = instance.inside.as_ref().map_or(String::new(), |i| format!(" in {} (line {})", i.function, i.line));
    format!("line {}{at}{inside}", instance.line)
}

fn written(cell: &str, writer: &Option<Instance>) -> String {
    match writer {
        Some(instance) => format!("{cell} written at {}", place(instance)),
        None => format!("the initial {cell}"),
    }
}

/// One or two lines: which instance reads or writes what, and what it should have been.
pub fn render_broken(broken: &Broken) -> Vec<String> {
    let theirs = broken.candidate.as_ref().map_or("the candidate".to_string(), place);
    let ours = broken.original.as_ref().map_or("the original".to_string(), place);
    let mut lines = Vec::new();
    match (broken.kind, &broken.reading) {
        (Kind::Flow | Kind::Anti, Some(reading)) => {
            lines.push(format!("{theirs} reads {}", written(&reading.found_cell, &reading.found)));
            lines.push(format!("the original, {ours}, reads {}", original_reading(reading)));
        }
        (Kind::OtherCell, Some(reading)) => {
            lines.push(format!(
                "{theirs} writes {} from {}",
                broken.cell,
                written(&reading.found_cell, &reading.found)
            ));
            lines.push(format!("the original, {ours}, uses {}", original_reading(reading)));
        }
        (Kind::Missing, _) => {
            lines.push(format!("the candidate never makes the update of {} at {ours} of the original", broken.cell));
        }
        (Kind::Extra, _) => {
            lines.push(format!("{theirs} of the candidate updates {} once too often", broken.cell));
        }
        (Kind::Output, _) => {
            lines.push(format!("{theirs} writes {} where the original has {ours}", broken.cell));
        }
        (Kind::Undefined, _) => lines.push(theirs.clone()),
        (Kind::Race, _) => {}
        _ => {
            lines.push(format!("{theirs} computes another value for {} than {ours} of the original", broken.cell));
        }
    }
    lines.extend(broken.note.clone());
    lines
}

fn original_reading(reading: &Reading) -> String {
    match (&reading.expected, &reading.found) {
        // The same statement at another time: only the iterators that differ matter.
        (Some(expected), Some(found))
            if reading.cell == reading.found_cell && expected.iterators.len() == found.iterators.len() =>
        {
            let same_names = expected.iterators.iter().zip(&found.iterators).all(|(a, b)| a.0 == b.0);
            let differing: Vec<String> = expected
                .iterators
                .iter()
                .zip(&found.iterators)
                .filter(|(a, b)| a.1 != b.1)
                .map(|(a, _)| format!("{}={}", a.0, a.1))
                .collect();
            if same_names && !differing.is_empty() {
                format!("the one of {} (line {})", differing.join(","), expected.line)
            } else {
                written(&reading.cell, &reading.expected)
            }
        }
        _ => written(&reading.cell, &reading.expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn instance(line: u32, iterators: &[(&str, i64)]) -> Option<Instance> {
        let iterators = iterators.iter().map(|(n, v)| (n.to_string(), *v)).collect();
        Some(Instance { line, inside: None, iterators })
    }

    fn renders_to(broken: Broken, expect: Expect) {
        expect.assert_eq(&render_broken(&broken).join("\n"));
    }

    #[test]
    fn a_read_that_comes_too_early() {
        renders_to(
            Broken {
                kind: Kind::Flow,
                cell: "A[3][4]".into(),
                original: instance(9, &[("t", 1), ("i", 3), ("j", 4)]),
                candidate: instance(14, &[("t", 1), ("i", 3), ("j", 4)]),
                reading: Some(Reading {
                    cell: "A[2][4]".into(),
                    expected: instance(9, &[("t", 1), ("i", 2), ("j", 4)]),
                    found_cell: "A[2][4]".into(),
                    found: instance(9, &[("t", 0), ("i", 2), ("j", 4)]),
                }),
                note: None,
            },
            expect![[r#"
                line 14 at t=1,i=3,j=4 reads A[2][4] written at line 9 at t=0,i=2,j=4
                the original, line 9 at t=1,i=3,j=4, reads the one of t=1 (line 9)"#]],
        );
    }

    #[test]
    fn an_update_that_is_never_made() {
        renders_to(
            Broken {
                kind: Kind::Missing,
                cell: "C[15][0]".into(),
                original: instance(5, &[("i", 15), ("j", 0)]),
                candidate: None,
                reading: None,
                note: None,
            },
            expect!["the candidate never makes the update of C[15][0] at line 5 at i=15,j=0 of the original"],
        );
    }
}
