//! temp
use std::time::{Duration, Instant};
fn next(state: &mut u64) -> u64 { *state ^= *state << 13; *state ^= *state >> 7; *state ^= *state << 17; *state }
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let secs: u64 = args[0].parse().unwrap();
    let mut seed: u64 = args[1].parse().unwrap();
    let files: Vec<Vec<u8>> = args[2..].iter().map(|f| std::fs::read(f).unwrap()).collect();
    let start = Instant::now();
    let mut n = 0; let mut worst = Duration::ZERO;
    while start.elapsed() < Duration::from_secs(secs) {
        seed += 1; n += 1;
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let which = (next(&mut state) % files.len() as u64) as usize;
        let mut bytes = files[which].clone();
        let length = bytes.len() as u64;
        for _ in 0..1 + next(&mut state) % 4 {
            let at = match next(&mut state) % 4 { 0 => 64 + next(&mut state) % (length - 64), 1 => length - 1 - next(&mut state) % (length / 3), _ => next(&mut state) % length };
            bytes[at as usize] = match next(&mut state) % 4 { 0 => 0xff, 1 => 0, 2 => bytes[at as usize].wrapping_add(1), _ => next(&mut state) as u8 };
        }
        if next(&mut state) % 16 == 0 { bytes.truncate((next(&mut state) % length) as usize); }
        let before = Instant::now();
        let r = std::panic::catch_unwind(|| lift_elf::fuzz_one(&bytes));
        if r.is_err() { println!("PANIC seed {seed} file {}", args[2 + which]); std::fs::write(format!("/tmp/crash-{seed}"), &bytes).unwrap(); }
        let t = before.elapsed();
        if t > worst { worst = t; println!("worst {t:?} seed {seed} file {}", args[2 + which]); if t > Duration::from_secs(2) { std::fs::write(format!("/tmp/slow-{seed}"), &bytes).unwrap(); } }
    }
    println!("{n} runs");
}
