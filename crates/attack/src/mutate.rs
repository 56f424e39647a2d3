//! Mutants of compiled candidates: one instruction, operand, immediate, displacement or relocation of one function is changed in place.
//!
//! A pair whose candidate is proved before is checked again with the mutant. What is still `equivalent` is run natively by lockstep's
//! own oracle, which links the objects and does not share the lifter. Where it sees a difference, the proof was wrong.

use crate::random::Random;
use crate::toolchain;
use crate::verdicts::{Prover, Verdict};
use iced_x86::{Decoder, DecoderOptions};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Mutants that were checked, by verdict: equivalent, different, unknown.
    pub verdicts: [usize; 3],
    /// Of the equivalent ones, those that were run natively.
    pub run: usize,
    /// Of these, those that differ.
    pub wrong: Vec<PathBuf>,
}

impl Mutants {
    /// One line.
    pub fn render(&self) -> String {
        let [equivalent, different, unknown] = self.verdicts;
        format!(
            "{} mutants: {equivalent} equivalent, {different} different, {unknown} unknown; {} of the equivalent ones run natively, {} wrong proofs\n",
            equivalent + different + unknown,
            self.run,
            self.wrong.len()
        )
    }
}

/// Two objects of one source, the candidate optimised.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Built {
    original: PathBuf,
    candidate: PathBuf,
}

/// The pairs below a directory in which folders are named for compiler and level, such as `gcc-12-O0`.
fn built(directory: &Path) -> Vec<Built> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut inside: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
        inside.sort();
        for original in inside.iter().filter(|p| p.to_string_lossy().ends_with("-O0")) {
            let stem = original.to_string_lossy().trim_end_matches('0').to_string();
            for candidate in inside.iter().filter(|p| *p != original && p.to_string_lossy().starts_with(&stem)) {
                let Ok(objects) = std::fs::read_dir(candidate) else { continue };
                found.extend(
                    objects.flatten().map(|o| o.path()).filter(|o| o.extension().is_some_and(|e| e == "o")).filter_map(
                        |o| {
                            let pair = Built { original: original.join(o.file_name()?), candidate: o };
                            pair.original.exists().then_some(pair)
                        },
                    ),
                );
            }
        }
        folders.extend(inside);
    }
    found.sort_by(|a, b| (&a.original, &a.candidate).cmp(&(&b.original, &b.candidate)));
    found
}

/// A function in an object file.
struct Function {
    name: String,
    /// In the file.
    start: usize,
    code: Vec<u8>,
    /// Bytes of the code that the linker fills in: first and number.
    filled: Vec<(usize, usize)>,
    /// Where the addends of its relocations are in the file.
    addends: Vec<usize>,
}

/// Larger functions take longer than a mutant is worth.
const LARGEST: usize = 400;

/// Bytes to change: where in the file, and what.
type Change = (usize, u8);

fn functions(bytes: &[u8]) -> Option<Vec<Function>> {
    let file = object::File::parse(bytes).ok()?;
    let mut found = Vec::new();
    for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0) {
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let (offset, _) = section.file_range()?;
        let (from, size) = (usize::try_from(symbol.address()).ok()?, usize::try_from(symbol.size()).ok()?);
        let start = usize::try_from(offset).ok()?.checked_add(from)?;
        let code = bytes.get(start..start.checked_add(size)?)?.to_vec();
        let mut filled = Vec::new();
        for (at, relocation) in section.relocations() {
            let at = usize::try_from(at).ok()?;
            if (from..from + size).contains(&at) && !matches!(relocation.target(), RelocationTarget::Absolute) {
                filled.push((at - from, usize::from(relocation.size() / 8).max(4)));
            }
        }
        let addends = addends(&file, &section, bytes, from..from + size).unwrap_or_default();
        found.push(Function { name: symbol.name().ok()?.into(), start, code, filled, addends });
    }
    Some(found)
}

/// Where the addends of a section's relocations at these places stand in the file: entries of 24 bytes, place first, addend last.
fn addends(
    file: &object::File,
    section: &object::Section,
    bytes: &[u8],
    places: std::ops::Range<usize>,
) -> Option<Vec<usize>> {
    let table = file.section_by_name(&format!(".rela{}", section.name().ok()?))?;
    let (offset, size) = table.file_range()?;
    let (offset, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
    let entry = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?) as usize);
    Some(
        (offset..offset + size)
            .step_by(24)
            .filter(|at| entry(*at).is_some_and(|place| places.contains(&place)))
            .map(|at| at + 16)
            .collect(),
    )
}

impl Function {
    /// One change; none if the choice leads nowhere.
    fn mutate(&self, random: &mut Random) -> Option<Change> {
        if !self.addends.is_empty() && random.one_in(6) {
            let at = *random.pick(&self.addends);
            return Some((at, random.pick(&[1u8, 4, 8]).to_owned()));
        }
        let instructions: Vec<(usize, usize)> = Decoder::with_ip(64, &self.code, 0, DecoderOptions::NONE)
            .into_iter()
            .map(|i| (i.ip() as usize, i.len()))
            .collect();
        let (at, length) = *instructions.get(random.below(instructions.len()))?;
        let byte = at + random.below(length);
        if self.filled.iter().any(|(first, size)| (*first..first + size).contains(&byte)) {
            return None;
        }
        let bit = 1u8 << random.below(8);
        let mut code = self.code.clone();
        code[byte] ^= bit;
        // Still one valid instruction of the same length: what follows is read as before.
        let mut decoder = Decoder::with_ip(64, &code[at..], at as u64, DecoderOptions::NONE);
        let mutant = decoder.decode();
        (!mutant.is_invalid() && mutant.len() == length).then_some((self.start + byte, bit))
    }
}

/// Mutates candidates below `corpus` until the time is up.
pub fn run(corpus: &Path, prover: &Prover, seed: u64, time: Duration, directory: &Path) -> Result<Mutants, String> {
    let pairs = built(corpus);
    if pairs.is_empty() {
        return Err(format!("{}: no objects in folders such as gcc-12-O0 and gcc-12-O2", corpus.display()));
    }
    std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut mutants = Mutants::default();
    let end = Instant::now() + time;
    let mut random = Random::new(seed, 0);
    while Instant::now() < end {
        let pair = random.pick(&pairs).clone();
        let bytes = std::fs::read(&pair.candidate).map_err(|e| format!("{}: {e}", pair.candidate.display()))?;
        let Some(functions) = functions(&bytes) else { continue };
        // A few small ones at a time: most of the time should go into mutants.
        let small: Vec<&Function> = functions.iter().filter(|f| f.code.len() <= LARGEST).collect();
        let few: Vec<&Function> = (0..small.len().min(6)).map(|_| *random.pick(&small)).collect();
        let names: Vec<String> = few.iter().map(|f| f.name.clone()).collect();
        if names.is_empty() {
            continue;
        }
        let Ok(proved) = prover.check_only(&pair.original, &pair.candidate, &names) else { continue };
        let is_proved = |f: &&Function| proved.get(&f.name).is_some_and(|a| a.verdict == Verdict::Equivalent);
        let good: Vec<&Function> = few.into_iter().filter(is_proved).collect();
        for _ in 0..good.len() * 8 {
            if Instant::now() >= end {
                break;
            }
            let function = *random.pick(&good);
            let Some((at, bits)) = function.mutate(&mut random) else { continue };
            let mut changed = bytes.clone();
            changed[at] ^= bits;
            let mutant = directory.join("mutant.o");
            std::fs::write(&mutant, &changed).map_err(|e| format!("{}: {e}", mutant.display()))?;
            let number = mutants.verdicts.iter().sum::<usize>();
            judge(&mut mutants, prover, &pair, &mutant, function, directory, number)?;
        }
    }
    Ok(mutants)
}

fn judge(
    mutants: &mut Mutants,
    prover: &Prover,
    pair: &Built,
    mutant: &Path,
    function: &Function,
    directory: &Path,
    number: usize,
) -> Result<(), String> {
    let only = std::slice::from_ref(&function.name);
    let Some(answer) = prover.check_only(&pair.original, mutant, only)?.remove(&function.name) else { return Ok(()) };
    mutants.verdicts[answer.verdict as usize] += 1;
    if answer.verdict != Verdict::Equivalent {
        return Ok(());
    }
    let Some(ran) = prover.check_and_run(&pair.original, mutant, only)?.remove(&function.name) else { return Ok(()) };
    mutants.run += usize::from(ran.inputs > 0 || ran.is_refuted_by_a_run());
    if ran.is_refuted_by_a_run() {
        let kept = directory.join("wrong").join(format!("mutant-{number}-{}", function.name));
        std::fs::create_dir_all(&kept).map_err(|e| format!("{}: {e}", kept.display()))?;
        for (from, to) in [(pair.original.as_path(), "a.o"), (pair.candidate.as_path(), "right.o"), (mutant, "b.o")] {
            std::fs::copy(from, kept.join(to)).map_err(|e| format!("{}: {e}", from.display()))?;
        }
        let text = format!(
            "lockstep check a.o b.o --function {}\nassuming {}\n{}\n",
            function.name,
            answer.assumptions.join(", "),
            ran.reason
        );
        toolchain::write(&kept.join("README"), &text)?;
        mutants.wrong.push(kept);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn mutants_stay_decodable_and_leave_relocations_alone() {
        let directory = std::env::temp_dir().join(format!("attack-mutate-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary directory");
        let (source, object) = (directory.join("a.c"), directory.join("a.o"));
        toolchain::write(
            &source,
            "extern int g; int h(int); int f(int x) { return h(x + 5) * g; } int k(int *p) { return p[3] - 7; }",
        )
        .expect("a file");
        toolchain::run(Command::new("gcc-12").args(["-O2", "-fno-pic", "-c"]).arg(&source).arg("-o").arg(&object))
            .expect("gcc-12");
        let bytes = std::fs::read(&object).expect("an object");
        let found = functions(&bytes).expect("functions");
        assert_eq!(found.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["f", "k"]);
        assert_eq!((found[0].filled.len(), found[0].addends.len()), (2, 2));
        let mut random = Random::new(1, 1);
        let mut made = 0;
        for _ in 0..400 {
            let function = &found[random.below(2)];
            let Some((at, bits)) = function.mutate(&mut random) else { continue };
            made += 1;
            let inside = at.checked_sub(function.start).filter(|o| *o < function.code.len());
            match inside {
                Some(offset) => {
                    assert!(function.filled.iter().all(|(first, size)| !(*first..first + size).contains(&offset)))
                }
                None => assert!(function.addends.contains(&at)),
            }
            assert_ne!(bits, 0);
        }
        assert!(made > 100, "{made}");
        std::fs::remove_dir_all(directory).expect("a temporary directory");
    }

    #[test]
    fn originals_are_found_beside_their_candidates() {
        let directory = std::env::temp_dir().join(format!("attack-built-{}", std::process::id()));
        for folder in ["bzip2/gcc-12-O0", "bzip2/gcc-12-O2", "bzip2/clang-19-O2"] {
            std::fs::create_dir_all(directory.join(folder)).expect("a folder");
            toolchain::write(&directory.join(folder).join("a.o"), "").expect("a file");
        }
        let found = built(&directory);
        assert_eq!(found.len(), 1);
        assert!(found[0].candidate.ends_with("bzip2/gcc-12-O2/a.o"), "{found:?}");
        std::fs::remove_dir_all(directory).expect("a temporary directory");
    }
}
