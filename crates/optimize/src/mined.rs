//! What tests have in common, as hints: values that never change, bounds, alignment, contents of memory.
//!
//! Trust: none. What holds in all tests need not hold elsewhere; a version that relies on it is proved under the condition, or behind a
//! guard that checks it, or not at all.

use crate::hints::{Hint, Parameter, Prototype};
use program::Register;
use search::{StartPlace, StartState};
use std::collections::BTreeMap;

/// Fewer tests say nothing.
const FEWEST: usize = 3;
/// Elements behind a pointer that are looked at.
const MOST_CELLS: u64 = 64;
/// Alignments that compilers make use of.
const ALIGNMENTS: [u64; 3] = [64, 32, 16];

/// Sets of hints, each worth a try: what arguments have in common, and that with what is in memory.
pub fn mine(prototype: &Prototype, tests: &[StartState]) -> Vec<Vec<Hint>> {
    if tests.len() < FEWEST {
        return Vec::new();
    }
    let mut arguments = Vec::new();
    let mut cells = Vec::new();
    for (at, parameter) in prototype.parameters.iter().enumerate() {
        let place = place(prototype, at);
        let values: Option<Vec<u64>> = tests.iter().map(|test| value(test, parameter, place.as_deref())).collect();
        let Some(values) = values else { continue };
        if parameter.pointer {
            let aligned = |bytes: &&u64| values.iter().all(|value| value.is_multiple_of(**bytes));
            if let Some(bytes) = ALIGNMENTS.iter().find(aligned) {
                arguments.push(Hint::Aligned(parameter.name.clone(), *bytes as u32));
            }
            cells.extend(contents(parameter, &values, tests));
        } else if let Some(bytes) = size(&parameter.r#type) {
            arguments.extend(number(parameter, bytes, &values));
        }
    }
    let apart = prototype.parameters.iter().filter(|p| p.pointer).count() > 1;
    let apart = apart.then_some(Hint::Apart);
    let mut sets = Vec::new();
    if !arguments.is_empty() {
        sets.push(arguments.clone());
        sets.push(apart.iter().cloned().chain(arguments.iter().cloned()).collect());
    }
    if !cells.is_empty() {
        sets.push(apart.iter().cloned().chain(cells.iter().cloned()).collect());
        sets.push(apart.into_iter().chain(arguments).chain(cells).collect());
    }
    sets
}

/// The register of a parameter, if everything before it is passed in one register or in none of this kind.
fn place(prototype: &Prototype, at: usize) -> Option<String> {
    let general = |p: &Parameter| p.pointer || size(&p.r#type).is_some();
    let count = prototype.parameters[..at].iter().filter(|p| general(p)).count();
    Register::ARGUMENTS.get(count).map(|register| register.name())
}

fn value(test: &StartState, parameter: &Parameter, place: Option<&str>) -> Option<u64> {
    let named = |(name, _): &&(String, term::Bits)| *name == parameter.name || Some(name.as_str()) == place;
    test.registers.iter().find(named).map(|(_, bits)| bits.low())
}

/// One value, or a bound.
fn number(parameter: &Parameter, bytes: u64, values: &[u64]) -> Option<Hint> {
    let shift = 64 - 8 * bytes as u32;
    let values: Vec<i64> = values.iter().map(|value| ((value << shift) as i64) >> shift).collect();
    let (least, most) = (*values.iter().min()?, *values.iter().max()?);
    if least == most {
        return Some(Hint::Equal(parameter.name.clone(), least));
    }
    // A bound far above what was seen costs as little as one that is near.
    let bound = u64::try_from(most).ok()?.checked_add(1)?.checked_next_power_of_two()?.max(1 << 20);
    (least >= 0 && bound < 1 << (8 * bytes - 1))
        .then(|| Hint::True(format!("{} >= 0 && {} < {bound}", parameter.name, parameter.name)))
}

/// Elements behind a pointer that are the same in all tests.
fn contents(parameter: &Parameter, addresses: &[u64], tests: &[StartState]) -> Vec<Hint> {
    let element = parameter.r#type.trim_end().trim_end_matches('*');
    let Some(bytes) = size(element) else { return Vec::new() };
    let memories: Vec<BTreeMap<u64, u8>> = tests.iter().map(memory).collect();
    let read = |memory: &BTreeMap<u64, u8>, address: u64| -> Option<u64> {
        let byte = |i: u64| Some(u64::from(*memory.get(&address.wrapping_add(i))?) << (8 * i));
        (0..bytes).try_fold(0, |word, i| Some(word | byte(i)?))
    };
    let same = |index: u64| {
        let mut values =
            memories.iter().zip(addresses).map(|(memory, start)| read(memory, start.wrapping_add(index * bytes)));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some((index, first))
    };
    let shift = 64 - 8 * bytes as u32;
    let hint = |(index, word): (u64, u64)| {
        Hint::True(format!("{}[{index}] == {}", parameter.name, ((word << shift) as i64) >> shift))
    };
    (0..MOST_CELLS).filter_map(same).map(hint).collect()
}

fn memory(test: &StartState) -> BTreeMap<u64, u8> {
    let mut out = BTreeMap::new();
    for bytes in &test.memory {
        if let StartPlace::Address(start) = bytes.place {
            out.extend((0..).map(|i| start.wrapping_add(i)).zip(bytes.bytes.iter().copied()));
        }
    }
    out
}

/// Bytes of an integer type, as a compiler spells it.
fn size(name: &str) -> Option<u64> {
    let words: Vec<&str> = name.split_whitespace().filter(|word| *word != "const").collect();
    match &words.join(" ")[..] {
        "char" | "signed char" | "unsigned char" | "int8_t" | "uint8_t" => Some(1),
        "short int" | "short unsigned int" | "int16_t" | "uint16_t" => Some(2),
        "int" | "unsigned int" | "int32_t" | "uint32_t" => Some(4),
        "long int"
        | "long unsigned int"
        | "long long int"
        | "long long unsigned int"
        | "int64_t"
        | "uint64_t"
        | "size_t"
        | "ssize_t"
        | "ptrdiff_t"
        | "intptr_t"
        | "uintptr_t" => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use search::StartBytes;

    /// Hints for `f(int *a, long int n, unsigned int k)` after tests with these arguments, and these bytes behind `a`.
    fn mines(tests: &[([u64; 3], &[u8])], expect: Expect) {
        let line = "/* t.c:1:NF */ extern int f (int *a, long int n, unsigned int k); /* (a, n, k) int *a; long int n; unsigned int k; */";
        let prototype = Prototype::find(line, "f").unwrap();
        let state = |(values, bytes): &([u64; 3], &[u8])| StartState {
            registers: ["a", "rsi", "k"]
                .iter()
                .zip(values)
                .map(|(n, v)| (n.to_string(), term::Bits::new(64, *v)))
                .collect(),
            memory: vec![StartBytes { place: StartPlace::Address(values[0]), bytes: bytes.to_vec() }],
            ..StartState::default()
        };
        let tests: Vec<StartState> = tests.iter().map(state).collect();
        let sets = mine(&prototype, &tests);
        let text: Vec<String> =
            sets.iter().map(|set| set.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")).collect();
        expect.assert_eq(&text.join("\n"));
    }

    #[test]
    fn what_is_always_so_is_told() {
        mines(
            &[
                ([0x7020, 5, 32], &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
                ([0x7040, 9, 32], &[2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
                ([0x8020, 0, 32], &[3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
            ],
            expect![[r#"
                a aligned 32, n >= 0 && n < 1048576, k == 32
                a aligned 32, n >= 0 && n < 1048576, k == 32
                a[1] == -1
                a aligned 32, n >= 0 && n < 1048576, k == 32, a[1] == -1"#]],
        );
    }

    #[test]
    fn what_differs_is_not() {
        let odd: &[u8] = &[1, 2, 3];
        mines(
            &[([0x7021, u64::MAX, 1], odd), ([0x7040, 9, 2], odd), ([0x8020, 0, 3], odd)],
            expect![[r#"
            k >= 0 && k < 1048576
            k >= 0 && k < 1048576"#]],
        );
        mines(&[([0x7020, 5, 32], odd), ([0x7020, 5, 32], odd)], expect![""]);
    }
}
