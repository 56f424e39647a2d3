//! Sizes: those that files give themselves, and others than those that were asked for.

use std::path::Path;

/// Macros to which both files give the same number unless the command line gives another: `#ifndef N`, `#define N 16`, `#endif`. That is how
/// a size is left open, and a verdict is about the one that is taken.
pub fn own(files: [&Path; 2], defines: &[String]) -> Vec<(String, i64)> {
    // A file that cannot be read is an error when its turn comes.
    let [ours, theirs] =
        files.map(|file| std::fs::read_to_string(file).map_or_else(|_| Vec::new(), |text| open(&text)));
    let defined = |name: &str| defines.iter().any(|d| d.split('=').next() == Some(name));
    ours.into_iter().filter(|size| theirs.contains(size) && !defined(&size.0)).collect()
}

/// Macros of a text that another value may be given to.
fn open(text: &str) -> Vec<(String, i64)> {
    let directive = |line: &&str| line.trim_start().starts_with('#');
    let words = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        line.trim().trim_start_matches('#').split_whitespace().map(str::to_string).collect::<Vec<_>>()
    };
    let lines: Vec<Vec<String>> = text.lines().filter(directive).map(words).collect();
    let mut found: Vec<(String, i64)> = Vec::new();
    for three in lines.windows(3) {
        let [guard, define, end] = three else { continue };
        let ([ifndef, name], [word, defined, number], [endif]) = (guard.as_slice(), define.as_slice(), end.as_slice())
        else {
            continue;
        };
        let form = ifndef == "ifndef" && word == "define" && endif == "endif" && name == defined;
        match number.parse() {
            Ok(value @ 2..=1_000_000) if form && !found.iter().any(|(known, _)| known == name) => {
                found.push((name.clone(), value));
            }
            _ => {}
        }
    }
    found
}

/// For each size an odd one close to it without a factor in common.
pub fn other(sizes: &[(String, i64)]) -> Vec<(String, i64)> {
    let near = |size: i64| match size {
        // Less work, and arrays of fixed length still hold it.
        4.. if size % 2 == 0 => size - 1,
        5.. => size - 2,
        2 => 3,
        _ => size,
    };
    sizes.iter().map(|(name, size)| (name.clone(), near(*size))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_left_open_are_numbers_under_a_guard() {
        let of = |text: &str| open(text).into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        assert_eq!(of("#ifndef N\n# define N 16 // cells\n#endif\n#define M 8\nint x;"), ["N=16"]);
        assert_eq!(of("#ifndef H\n#define H\n#endif\n#ifndef T\n#define T (8)\n#endif"), [""; 0]);
        assert_eq!(
            of("#ifdef N\n#define N 16\n#endif\n#ifndef A\n#define B 4\n#endif\n#ifndef Z\n#define Z 0\n#endif"),
            [""; 0]
        );
        assert_eq!(of("#ifndef N\n#define N 16\n#else\n#define M 3\n#endif"), [""; 0]);
    }

    #[test]
    fn other_sizes_are_odd_and_have_no_factor_in_common() {
        let of = |size| other(&[("n".to_string(), size)])[0].1;
        assert_eq!([32, 31, 15, 2, 1, 0, -4].map(of), [31, 29, 13, 3, 1, 0, -4]);
    }
}
