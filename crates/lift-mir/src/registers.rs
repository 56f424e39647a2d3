//! The registers of x86-64: which share storage, how wide they are, what calls preserve.

use crate::table;
use machine::{Lane, Location, Target, Unit};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Unit of the flags.
pub const FLAGS: u32 = 64;
/// Unit of the stack pointer.
pub const STACK_POINTER: u32 = 4;
/// Unit of the frame pointer.
pub const FRAME_POINTER: u32 = 5;
/// Unit of the base pointer of realigned frames.
pub const BASE_POINTER: u32 = 3;

const LEGACY: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];
const WIDE: [&str; 8] = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"];
const HIGH: [&str; 16] =
    ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23"];
const HIGHER: [&str; 8] = ["r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"];
/// Units after the flags, one register each: name, width, reserved.
const SINGLE: [(&str, u16, bool); 19] = [
    ("eflags", 32, false),
    ("mxcsr", 32, false),
    ("ssp", 64, true),
    ("rip", 64, true),
    ("fpcw", 16, false),
    ("fpsw", 16, false),
    ("df", 32, false),
    ("cs", 16, true),
    ("ds", 16, true),
    ("es", 16, true),
    ("fs", 16, true),
    ("gs", 16, true),
    ("ss", 16, true),
    ("fs_base", 64, true),
    ("gs_base", 64, true),
    ("eip", 32, true),
    ("ip", 16, true),
    ("eiz", 32, true),
    ("riz", 64, true),
];
/// Families of numbered registers after those: prefix, width, how many, first unit.
const FAMILIES: [(&str, u16, u32, u32); 6] = [
    ("k", 64, 8, 96),
    ("mm", 64, 8, 104),
    ("fp", 80, 8, 112),
    ("st", 80, 8, 120),
    ("tmm", 8192, 8, 128),
    ("cr", 64, 16, 136),
];

/// The machine.
pub static X86_64: LazyLock<Target> = LazyLock::new(|| {
    let unused = Unit { name: "unused", bits: 64, reserved: true };
    let mut units = vec![unused; 160];
    let general = WIDE.iter().chain(&HIGH).chain(&HIGHER);
    for (i, name) in general.enumerate() {
        units[i] = Unit { name, bits: 64, reserved: i as u32 == STACK_POINTER };
    }
    for i in 0..32u32 {
        units[32 + i as usize] = Unit { name: leak(format!("xmm{i}")), bits: 512, reserved: false };
    }
    for (i, (name, bits, reserved)) in SINGLE.into_iter().enumerate() {
        units[FLAGS as usize + i] = Unit { name, bits, reserved };
    }
    for (prefix, bits, count, first) in FAMILIES {
        for i in 0..count {
            let reserved = prefix == "cr";
            units[(first + i) as usize] = Unit { name: leak(format!("{prefix}{i}")), bits, reserved };
        }
    }
    let masks = table::masks().map(|(_, kept)| preserved(&units, kept)).collect();
    Target { units, masks }
});

/// The units that a mask preserves: those whose widest register it names. Control registers always keep their values.
fn preserved<'a>(units: &[Unit], kept: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let whole = |name: &str| lane(name).filter(|l| l.bits == units[unit_of(*l)].bits).map(|l| unit_of(l) as u32);
    let always = |u: &u32| units[*u as usize].reserved || matches!(units[*u as usize].name, "mxcsr" | "fpcw");
    let mut mask: Vec<u32> = kept.filter_map(whole).chain((0..160).filter(always)).collect();
    mask.sort_unstable();
    mask.dedup();
    mask
}

/// What `CustomRegMask($rbx,$rbp)` preserves.
pub fn custom_mask(text: &str) -> Option<Vec<u32>> {
    let list = text.strip_prefix("CustomRegMask(")?.strip_suffix(')')?;
    Some(preserved(&X86_64.units, list.split(',').map(|name| name.trim().trim_start_matches('$'))))
}

/// Does a mask preserve a part of a vector register, but not all of it?
pub fn keeps_part(text: &str) -> bool {
    let part = |name: &str| lane(name).is_some_and(|l| is_vector(l.location) && l.bits < X86_64.units[unit_of(l)].bits);
    let list = text.strip_prefix("CustomRegMask(").and_then(|rest| rest.strip_suffix(')'));
    match list {
        Some(list) => list.split(',').any(|name| part(name.trim().trim_start_matches('$'))),
        None => table::masks().find(|(name, _)| *name == text).is_some_and(|(_, mut kept)| kept.any(part)),
    }
}

fn unit_of(lane: Lane) -> usize {
    match lane.location.place() {
        machine::Place::Physical(unit) => unit as usize,
        _ => 0,
    }
}

static MASKS: LazyLock<FxHashMap<&'static str, u16>> =
    LazyLock::new(|| table::masks().enumerate().map(|(i, (name, _))| (name, i as u16)).collect());

/// A mask by name, as an index of [`Target::masks`].
pub fn mask(name: &str) -> machine::Mask {
    MASKS.get(name).map_or(machine::Mask::Unknown, |index| machine::Mask::Known(*index))
}

/// Names in the static table live as long as the program; there are fewer than a hundred.
fn leak(name: String) -> &'static str {
    Box::leak(name.into_boxed_str())
}

static LANES: LazyLock<FxHashMap<String, Lane>> = LazyLock::new(|| {
    let mut lanes = FxHashMap::default();
    let mut add = |name: String, unit: u32, low: u16, bits: u16| {
        lanes.insert(name, Lane::new(Location::physical(unit), low, bits));
    };
    for (i, name) in LEGACY.iter().enumerate() {
        let unit = i as u32;
        add(format!("r{name}"), unit, 0, 64);
        add(format!("e{name}"), unit, 0, 32);
        add(name.to_string(), unit, 0, 16);
        let letter = &name[..1];
        if i < 4 {
            add(format!("{letter}l"), unit, 0, 8);
            add(format!("{letter}h"), unit, 8, 8);
        } else {
            add(format!("{name}l"), unit, 0, 8);
        }
    }
    for (i, name) in HIGH.iter().chain(&HIGHER).enumerate() {
        let unit = 8 + i as u32;
        for (suffix, bits) in [("", 64), ("d", 32), ("w", 16), ("b", 8)] {
            add(format!("{name}{suffix}"), unit, 0, bits);
        }
    }
    for i in 0..32 {
        for (prefix, bits) in [("xmm", 128), ("ymm", 256), ("zmm", 512)] {
            add(format!("{prefix}{i}"), 32 + i, 0, bits);
        }
    }
    for (i, (name, bits, _)) in SINGLE.into_iter().enumerate() {
        add(name.to_string(), FLAGS + i as u32, 0, bits);
    }
    for (prefix, bits, count, first) in FAMILIES {
        for i in 0..count {
            add(format!("{prefix}{i}"), first + i, 0, bits);
        }
    }
    lanes
});

/// The lane of a register.
pub fn lane(name: &str) -> Option<Lane> {
    LANES.get(name).copied()
}

/// Is the unit a vector register?
pub fn is_vector(location: Location) -> bool {
    matches!(location.place(), machine::Place::Physical(unit) if (32..64).contains(&unit))
}

/// Bits of a sub-register index: first and number.
pub fn subregister(name: &str) -> Option<(u16, u16)> {
    Some(match name {
        "sub_8bit" => (0, 8),
        "sub_8bit_hi" => (8, 8),
        "sub_16bit" => (0, 16),
        "sub_16bit_hi" => (16, 16),
        "sub_32bit" => (0, 32),
        "sub_xmm" => (0, 128),
        "sub_ymm" => (0, 256),
        _ => return None,
    })
}

/// Width of the registers of a class.
pub fn class_bits(class: &str) -> u16 {
    table::class_named(class).map_or(512, |class| class.bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_that_share_storage_share_a_unit() {
        let unit = |name: &str| lane(name).map(|l| (l.location, l.low, l.bits));
        let rax = Location::physical(0);
        assert_eq!(unit("rax"), Some((rax, 0, 64)));
        assert_eq!(unit("ah"), Some((rax, 8, 8)));
        assert_eq!(unit("al"), Some((rax, 0, 8)));
        assert_eq!(unit("sil").map(|l| l.0), unit("rsi").map(|l| l.0));
        assert_eq!(unit("r9d"), Some((Location::physical(9), 0, 32)));
        assert_eq!(unit("ymm3").map(|l| l.0), unit("xmm3").map(|l| l.0));
        assert_eq!(unit("x0"), None);
    }

    #[test]
    fn classes_have_widths() {
        let widths = ["gr8", "gr64_with_sub_8bit", "fr32", "vr128", "low32_addr_access", "vk16wm", "rfp80"];
        assert_eq!(widths.map(class_bits), [8, 64, 32, 128, 32, 16, 80]);
    }

    #[test]
    fn some_calls_preserve_parts_of_vectors() {
        assert!(!keeps_part("csr_64") && !keeps_part("CustomRegMask($rbx,$rbp)"));
        assert!(keeps_part("csr_64_allregs") && keeps_part("CustomRegMask($rbx,$xmm8)"));
    }

    #[test]
    fn calls_preserve_six_registers_and_the_stack_pointer() {
        let machine::Mask::Known(index) = mask("csr_64") else { panic!("there is one") };
        let kept = &X86_64.masks[usize::from(index)];
        let names: Vec<&str> =
            kept.iter().map(|u| X86_64.units[*u as usize].name).filter(|n| n.starts_with('r')).collect();
        assert_eq!(names, ["rbx", "rsp", "rbp", "r12", "r13", "r14", "r15", "rip", "riz"]);
    }
}
