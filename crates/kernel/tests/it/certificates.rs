//! Certificates as hostile text: the kernel never panics on one and never accepts a falsehood because of one.

use crate::programs::Programs;
use kernel::{Certificate, LocalClaim, Rejection};

const ORIGINAL: &str = "void fill(int *); int f(void) { int a[4]; a[1] = 7; fill(a); return a[1]; }";
/// Wrong: `fill` may change the element.
const CONSTANT: &str = "void fill(int *); int f(void) { int a[4]; a[1] = 7; fill(a); return 7; }";

const MUTATIONS: u64 = 1500;

/// A pair, and the claim about its array that the kernel itself points at.
fn claimed(candidate: &str) -> (Programs, Certificate) {
    let programs = Programs::c(ORIGINAL, candidate);
    let rejection = programs.check(&programs.certificate(&[])).expect_err("the array is not claimed");
    let Rejection::Unbound { original, candidate } = rejection else { panic!("{rejection:?}") };
    let size = programs.prepare().pair.original().locals[0].size;
    let claim = LocalClaim { original: Some(original), candidate: Some(candidate), size, escapes: true };
    let certificate = programs.certificate(&[claim]);
    (programs, certificate)
}

#[test]
fn text_keeps_what_is_claimed() {
    let (programs, certificate) = claimed(ORIGINAL);
    let read = Certificate::from_json(&certificate.to_json()).unwrap();
    assert_eq!(read, certificate);
    assert!(programs.check(&read).is_ok());
}

#[test]
fn text_of_another_version_is_refused() {
    let (_, certificate) = claimed(ORIGINAL);
    let text = certificate.to_json().replacen("\"version\": 4", "\"version\": 3", 1);
    assert_eq!(Certificate::from_json(&text).unwrap_err(), "certificate version 3 is not 4");
}

#[test]
fn unknown_fields_are_refused() {
    let (_, certificate) = claimed(ORIGINAL);
    let text = certificate.to_json().replacen("\"escapes\"", "\"trusted\": true, \"escapes\"", 1);
    assert!(Certificate::from_json(&text).unwrap_err().starts_with("unknown field `trusted`"));
}

/// xorshift64*: small, seeded, the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "4",
    "8",
    "-8",
    "12",
    "16",
    "-16",
    "-20",
    "-24",
    "-28",
    "-32",
    "-40",
    "64",
    "-64",
    "null",
    "true",
    "1e3",
    "4294967295",
    "4294967296",
    "-4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
];

/// The claims' part of a certificate, changed in one place. Hashes stay: with others the kernel looks no further.
fn mutate(text: &str, random: &mut Random) -> String {
    let start = text.find("\"locals\"").unwrap_or(0);
    let (head, tail) = text.split_at(start);
    let lines: Vec<&str> = tail.lines().collect();
    if lines.is_empty() {
        return text.to_string();
    }
    let at = random.below(lines.len());
    let mut out: Vec<String> = lines.iter().map(|l| (*l).to_string()).collect();
    match random.below(8) {
        // Another value in a field.
        0..3 => {
            if let Some((key, value)) = lines[at].split_once(": ") {
                let comma = if value.ends_with(',') { "," } else { "" };
                out[at] = format!("{key}: {}{comma}", random.pick(NUMBERS));
            }
        }
        3 => out[at] = flip_digit(lines[at], random),
        4 => drop(out.remove(at)),
        5 => out.insert(at, lines[at].to_string()),
        6 => return text[..start + random.below(tail.len())].to_string(),
        _ => return head.to_string() + &duplicate_claim(tail, random),
    }
    head.to_string() + &out.join("\n")
}

fn flip_digit(line: &str, random: &mut Random) -> String {
    let digits: Vec<usize> = line.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
    if digits.is_empty() {
        return line.replace("true", "false");
    }
    let at = random.pick(&digits);
    format!("{}{}{}", &line[..at], random.below(10), &line[at + 1..])
}

/// A second copy of the first claim, with one number changed so that it need not overlap.
fn duplicate_claim(tail: &str, random: &mut Random) -> String {
    let Some(open) = tail.find('{') else { return tail.to_string() };
    let Some(length) = tail[open..].find('}') else { return tail.to_string() };
    let close = open + length;
    let claim = &tail[open..=close];
    let copy: Vec<String> =
        claim.lines().map(|l| if random.below(2) == 0 { flip_digit(l, random) } else { l.to_string() }).collect();
    format!("{}{claim},\n{}{}", &tail[..open], copy.join("\n"), &tail[close + 1..])
}

/// How many different mutants could be read, and how many of these the kernel accepted.
fn try_mutants(programs: &Programs, certificate: &Certificate) -> [usize; 2] {
    let text = certificate.to_json();
    let mut counts = [0; 2];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=MUTATIONS {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut mutant = text.clone();
        for _ in 0..=random.below(3) {
            mutant = mutate(&mutant, &mut random);
        }
        let Ok(read) = Certificate::from_json(&mutant) else { continue };
        if read != *certificate && seen.insert(read.to_json()) {
            counts[0] += 1;
            counts[1] += usize::from(programs.check(&read).is_ok());
        }
    }
    counts
}

#[test]
fn mutated_claims_about_equal_programs_are_survived() {
    let (programs, certificate) = claimed(ORIGINAL);
    assert!(programs.check(&certificate).is_ok());
    let [read, accepted] = try_mutants(&programs, &certificate);
    println!("{MUTATIONS} mutants: {read} different ones read, {accepted} accepted");
    assert!(read > 50, "most mutants do not even parse: {read}");
}

#[test]
fn mutated_claims_about_different_programs_are_rejected() {
    let (programs, certificate) = claimed(CONSTANT);
    assert!(matches!(programs.check(&certificate), Err(Rejection::Obligation { .. })));
    let [read, accepted] = try_mutants(&programs, &certificate);
    println!("{MUTATIONS} mutants: {read} different ones read, {accepted} accepted");
    assert!(read > 50, "most mutants do not even parse: {read}");
    assert_eq!(accepted, 0, "the kernel believes a false claim");
}
