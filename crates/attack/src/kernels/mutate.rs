//! Changes of a kernel: most make another program of it, some do not.

use super::kernel::Kernel;
use crate::random::Random;

/// Pairs of words; one is replaced by the other.
const WORDS: [(&str, &str); 40] = [
    (" + ", " - "),
    (" * ", " + "),
    (" < ", " <= "),
    (" > ", " >= "),
    (" == ", " != "),
    (" & ", " | "),
    (" && ", " & "),
    (" || ", " | "),
    (" ^ ", " + "),
    (" << ", " >> "),
    (" / ", " % "),
    (" += ", " = "),
    ("(-", "(+"),
    ("(~", "(!"),
    ("int ", "unsigned "),
    ("unsigned ", "int "),
    ("char ", "signed char "),
    ("char ", "unsigned char "),
    ("short ", "unsigned short "),
    ("long ", "int "),
    ("(char)", "(unsigned char)"),
    ("(short)", "(int)"),
    ("(unsigned)", "(int)"),
    ("(_Bool)", "(int)"),
    ("double", "float"),
    ("0.1", "0.1f"),
    ("p0[", "p1["),
    ("[0]", "[1]"),
    ("1", "2"),
    ("3", "4"),
    ("7", "6"),
    ("u)", ")"),
    ("0x80000000", "2147483648"),
    ("0xffffffff", "-1"),
    ("sizeof(p0)", "64"),
    ("sizeof(int)", "4"),
    ("'a'", "97"),
    ("break;", ""),
    ("E1", "1"),
    ("calls++", "++calls"),
];

/// The kernel with one change, and which.
pub fn mutate(kernel: &Kernel, random: &mut Random) -> (Kernel, String) {
    let mut changed = kernel.clone();
    // Nothing but another spelling, so that right proofs are made as well.
    match random.below(4) {
        0 => {
            changed.body.insert(1, "int unused = 0; (void)unused;".to_string());
            return (changed, "an unused variable".to_string());
        }
        1 if changed.body.len() > 2 => {
            for line in &mut changed.body {
                *line = line.replace("for (int i = 0;", "for (long i = 0;").replace("((p0[0])", "(p0[0]");
            }
            if random.below(2) == 0 {
                return (changed, "other types of iterators".to_string());
            }
        }
        _ => {}
    }
    for _ in 0..40 {
        let (from, to) = WORDS[random.below(WORDS.len())];
        let in_body = random.below(3) > 0;
        let lines = if in_body { &mut changed.body } else { &mut changed.before };
        let number = random.below(lines.len());
        let places: Vec<usize> = lines[number].match_indices(from).map(|(at, _)| at).collect();
        if places.is_empty() {
            continue;
        }
        let at = places[random.below(places.len())];
        let mut line = lines[number].clone();
        line.replace_range(at..at + from.len(), to);
        if !names_arrays(&line, kernel.arrays.len()) {
            continue;
        }
        lines[number] = line;
        return (changed, format!("`{from}` became `{to}`"));
    }
    if changed.body.len() > 2 {
        let number = 1 + random.below(changed.body.len() - 1);
        changed.body.swap(1, number);
    }
    (changed, "statements changed places".to_string())
}

/// Are all arrays that the line names there?
fn names_arrays(line: &str, arrays: usize) -> bool {
    let digit = |(at, _): (usize, &str)| line[at + 1..].chars().next().and_then(|c| c.to_digit(10));
    let start = |at: usize| !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    line.match_indices('p').filter(|(at, _)| start(*at)).filter_map(digit).all(|number| (number as usize) < arrays)
}
