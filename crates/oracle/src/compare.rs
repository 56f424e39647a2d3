//! The comparison of two runs.

use crate::names::Name;
use crate::run::{Call, End, Run};
use crate::same::{Same, Sides};
use crate::shape::{Piece, Place, Shape};
use crate::world::{Changes, World};

use native::Processor;
use std::collections::BTreeSet;

/// What a comparison came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    Same,
    /// It cannot be told: why.
    Doubt(String),
    /// What differs, and both values.
    Different(String, [String; 2]),
}

impl Compared {
    fn of(same: Same, what: impl FnOnce() -> String, values: impl FnOnce() -> [String; 2]) -> Compared {
        match same {
            Same::Yes => Compared::Same,
            Same::Doubt => Compared::Doubt(what()),
            Same::No => Compared::Different(what(), values()),
        }
    }
}

/// The first of these that is no agreement; a difference before a doubt.
fn worst(all: impl IntoIterator<Item = Compared>) -> Compared {
    let mut doubt = Compared::Same;
    for compared in all {
        match compared {
            Compared::Different(..) => return compared,
            Compared::Doubt(_) if doubt == Compared::Same => doubt = compared,
            _ => {}
        }
    }
    doubt
}

/// Which memory is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// All.
    All,
    /// What other files can see.
    ByOthers,
}

/// Compares what two runs did. Compilers expand, rename, merge and drop calls of functions that they know; a stub's result is then
/// worth nothing, and a difference no more than a doubt.
pub(crate) fn runs(sides: &Sides, runs: [&Run; 2], shape: &Shape) -> Compared {
    match observed(sides, runs, shape) {
        Compared::Different(what, _) if runs.iter().any(|run| run.calls.iter().any(is_known)) => {
            Compared::Doubt(format!("{what}, with calls of functions that compilers know"))
        }
        other => other,
    }
}

/// Is the callee a function that compilers do more with than call it?
fn is_known(call: &Call) -> bool {
    let Some(name) = &call.callee else { return false };
    let printing =
        ["printf", "fprintf", "sprintf", "snprintf", "vprintf", "vfprintf", "fputs", "fputc", "putchar", "fwrite"];
    let effect = library::contract(name).map(|contract| contract.effect);
    printing.contains(&name.as_str()) || effect.is_some_and(|effect| effect != library::Effect::Event)
}

fn observed(sides: &Sides, runs: [&Run; 2], shape: &Shape) -> Compared {
    let [a, b] = runs;
    for (i, calls) in a.calls.iter().zip(&b.calls).enumerate() {
        match call(sides, runs, [calls.0, calls.1], i, shape) {
            Compared::Same => {}
            other => return other,
        }
    }
    let ends = [a, b].map(|run| match &run.end {
        End::Return => format!("returns after {} calls", run.calls.len()),
        End::NoReturn => format!("ends with call {}", run.calls.len()),
        End::Fault(what) => format!("fault: {what}"),
        End::OutOfTime => "runs out of time".to_string(),
        End::Impossible(what) => what.clone(),
    });
    if let Some(End::Impossible(what)) =
        [a, b].map(|run| &run.end).into_iter().find(|e| matches!(e, End::Impossible(_)))
    {
        return Compared::Doubt(what.clone());
    }
    if a.end != b.end || a.calls.len() != b.calls.len() {
        return Compared::Different("how it ends".to_string(), ends);
    }
    if a.end == End::NoReturn {
        return Compared::Same;
    }
    let memory = memory(sides, [&a.world, &b.world], [&a.changes, &b.changes], Seen::All, "memory at the end");
    worst([results(sides, runs, shape), memory, spoiled(runs)])
}

fn spoiled([a, b]: [&Run; 2]) -> Compared {
    let names =
        ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
    match (a.spoiled(), b.spoiled()) {
        (None, Some(register)) => {
            let values = ["kept".to_string(), format!("{:#x}", b.processor.general[register])];
            Compared::Different(format!("register {}", names[register]), values)
        }
        _ => Compared::Same,
    }
}

fn results(sides: &Sides, [a, b]: [&Run; 2], shape: &Shape) -> Compared {
    match &shape.own {
        Some(own) => worst(own.results.iter().map(|piece| {
            let of = |run: &Run| value(piece, &run.processor, &[]);
            compare(sides, piece, [of(a), of(b)], format!("result {}", name(piece.place)))
        })),
        // Nobody knows whether there is one.
        None if a.processor.general[0] != b.processor.general[0] => {
            Compared::Doubt("results of unknown type".to_string())
        }
        None => Compared::Same,
    }
}

/// Compares two calls that should be the same.
fn call(sides: &Sides, runs: [&Run; 2], [a, b]: [&Call; 2], number: usize, shape: &Shape) -> Compared {
    let shown = |call: &Call| call.callee.clone().unwrap_or_else(|| format!("{:#x}", call.target));
    let callee = match (&a.callee, &b.callee) {
        (Some(x), Some(y)) => {
            if x == y {
                Same::Yes
            } else {
                Same::No
            }
        }
        _ => sides.word(a.target, b.target),
    };
    let target = Compared::of(callee, || format!("callee of call {}", number + 1), || [shown(a), shown(b)]);
    if target != Compared::Same {
        return target;
    }
    let prototype = a.callee.as_ref().and_then(|name| shape.callees.get(name));
    let arguments = prototype.iter().flat_map(|p| &p.arguments).map(|piece| {
        let of = |call: &Call| value(piece, &call.processor, &call.stack);
        let what = format!("argument {} of call {} ({})", name(piece.place), number + 1, shown(a));
        compare(sides, piece, [of(a), of(b)], what)
    });
    let what = format!("memory at call {} ({})", number + 1, shown(a));
    let memory = memory(sides, runs.map(|r| &r.world), [&a.changes, &b.changes], Seen::ByOthers, &what);
    worst(arguments.chain([memory]))
}

fn name(place: Place) -> String {
    match place {
        Place::General(i) => {
            let names = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9"];
            names.get(usize::from(i)).map_or_else(|| format!("r{i}"), |n| n.to_string())
        }
        Place::Vector(i) => format!("xmm{i}"),
        Place::Stack(offset) => format!("[rsp+{:#x}]", offset + 8),
        Place::X87 => "st0".to_string(),
    }
}

/// The words of a value; missing ones are zero.
fn value(piece: &Piece, processor: &Processor, stack: &[u64]) -> [u64; 4] {
    match piece.place {
        Place::General(i) => [processor.general[usize::from(i & 15)], 0, 0, 0],
        Place::Vector(i) => processor.vectors[usize::from(i & 15)],
        Place::Stack(offset) => std::array::from_fn(|k| stack.get(offset as usize / 8 + k).copied().unwrap_or(0)),
        Place::X87 => {
            let bytes = processor.x87.unwrap_or_default();
            [crate::world::word(&bytes[..8]), crate::world::word(&bytes[8..]), 0, 0]
        }
    }
}

fn compare(sides: &Sides, piece: &Piece, [a, b]: [[u64; 4]; 2], what: String) -> Compared {
    let mut left = piece.bytes;
    let mut same = Same::Yes;
    for (x, y) in a.into_iter().zip(b) {
        if left == 0 {
            break;
        }
        same = same.max(sides.bytes(x, y, left.min(8)));
        left = left.saturating_sub(8);
    }
    let words = usize::from(piece.bytes).div_ceil(8).min(4);
    let show = |value: [u64; 4]| value[..words].iter().rev().map(|w| format!("{w:#x}")).collect::<Vec<_>>().join(":");
    Compared::of(same, || what, || [show(a), show(b)])
}

/// Compares what has changed in memory.
fn memory(sides: &Sides, worlds: [&World; 2], changes: [&Changes; 2], seen: Seen, what: &str) -> Compared {
    let mut doubt = Compared::Same;
    let mut named: BTreeSet<(usize, u64)> = BTreeSet::new();
    let mut plain: BTreeSet<u64> = BTreeSet::new();
    for (side, changes) in changes.into_iter().enumerate() {
        for address in changes.keys() {
            let inside = sides.linked[side]
                .sections
                .iter()
                .any(|s| address.wrapping_sub(s.address / 8 * 8) < s.bytes.len() as u64 + 8);
            if !inside {
                plain.insert(*address);
                continue;
            }
            // A word may hold parts of several objects.
            for offset in 0..8 {
                if let Some((name, at)) = sides.linked[side].names.find(address + offset)
                    && at < name.size
                {
                    named.insert((side, name.start));
                }
            }
        }
    }
    for address in plain {
        let at =
            |side: usize| changes[side].get(&address).copied().unwrap_or_else(|| start_word(worlds[side], address));
        let (a, b) = (at(0), at(1));
        match Compared::of(sides.word(a, b), || format!("{what}: {address:#x}"), || [a, b].map(|v| format!("{v:#x}"))) {
            Compared::Same => {}
            Compared::Doubt(why) => doubt = Compared::Doubt(why),
            different => return different,
        }
    }
    for (side, start) in named {
        let Some((ours, 0)) = sides.linked[side].names.find(start) else { continue };
        let Some(theirs) = sides.linked[1 - side].names.counterpart(ours) else { continue };
        if ours.function || (seen == Seen::ByOthers && ours.local) {
            continue;
        }
        let pair = if side == 0 { [ours, theirs] } else { [theirs, ours] };
        match object(sides, worlds, changes, pair, what) {
            Compared::Same => {}
            Compared::Doubt(why) => doubt = Compared::Doubt(why),
            different => return different,
        }
    }
    doubt
}

/// Compares the content of an object of both sides.
fn object(sides: &Sides, worlds: [&World; 2], changes: [&Changes; 2], names: [&Name; 2], what: &str) -> Compared {
    let size = names[0].size.min(names[1].size).min(1 << 16);
    let byte = |side: usize, offset: u64| {
        let address = names[side].start + offset;
        match changes[side].get(&(address / 8 * 8)) {
            Some(word) => (word >> (8 * (address % 8))) as u8,
            None => worlds[side].start_byte(address).unwrap_or(0),
        }
    };
    let word = |side: usize, offset: u64, bytes: u64| {
        (0..bytes).rev().fold(0u64, |w, i| w << 8 | u64::from(byte(side, offset + i)))
    };
    let mut offset = 0;
    while offset < size {
        let bytes = (size - offset).min(8);
        let (a, b) = (word(0, offset, bytes), word(1, offset, bytes));
        let place = || format!("{what}: {}+{offset:#x}", names[0].name);
        let compared = Compared::of(sides.bytes(a, b, bytes as u16), place, || [a, b].map(|v| format!("{v:#x}")));
        if compared != Compared::Same {
            return compared;
        }
        offset += 8;
    }
    Compared::Same
}

fn start_word(world: &World, address: u64) -> u64 {
    (0..8).rev().fold(0, |word, i| word << 8 | u64::from(world.start_byte(address + i).unwrap_or(0)))
}
