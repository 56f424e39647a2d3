//! Lifts every function of the given files and counts what cannot be lifted, by reason.
//!
//! `cargo run --release --example lift_all -- FILE...`; a first argument `-v` lists the functions too.

use lift_elf::{Error, Image};
use program::{Call, Callee, Next, PointId, Register, Side};
use std::collections::BTreeMap;
use std::path::Path;
use term::Arena;

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let verbose = files.first().is_some_and(|a| a == "-v");
    if verbose {
        files.remove(0);
    }
    let (mut lifted, mut failed, mut points, mut signatures, mut tables, mut computed) = (0, 0, 0, 0, 0, 0);
    let (mut through, mut typed) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for file in &files {
        let image = match Image::read(Path::new(file)) {
            Ok(image) => image,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        for (index, entry) in image.functions().iter().enumerate().filter(|(_, f)| f.parent.is_none()) {
            let mut arena = Arena::new();
            Register::declare(&mut arena);
            match image.lift(index, Side::Original, &mut arena) {
                Ok(function) => {
                    lifted += 1;
                    points += function.points.len();
                    signatures += usize::from(function.signature.is_some());
                    typed += function.pointer_calls.len();
                    for (id, point) in function.points.iter().enumerate() {
                        if let Next::Call(Call { callee: Callee::Pointer(target), .. }) = &point.next {
                            through += 1;
                            if verbose && !function.pointer_calls.contains_key(&PointId(id as u32)) {
                                let target = arena.text(*target);
                                println!(
                                    "{file}: {}+{:#x} p{id} calls {target} of unknown type",
                                    entry.name, point.address
                                );
                            }
                        }
                        match &point.next {
                            Next::Edges(edges) if edges.len() > 2 => tables += 1,
                            Next::Call(Call { callee: Callee::Pointer(_), tail: true, .. }) => {
                                computed += 1;
                                if verbose {
                                    println!("{file}: {}+{:#x} leaves through a pointer", entry.name, point.address);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                Err(Error::Unsupported { gap, .. }) => {
                    failed += 1;
                    *reasons.entry(gap.construct.clone()).or_default() += 1;
                    if verbose {
                        println!("{file}: {gap}");
                    }
                }
                Err(error) => println!("{}: {error}", entry.name),
            }
        }
    }
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), name.clone()));
    for (reason, count) in &reasons {
        println!("{count:6}  {reason}");
    }
    let share = 100.0 * lifted as f64 / (lifted + failed).max(1) as f64;
    println!("{lifted} lifted, {failed} not ({share:.2} %), {points} points, {signatures} signatures");
    println!("{through} calls through pointers, {typed} with a signature");
    println!("{tables} jumps through tables, {computed} tail calls through pointers");
}
