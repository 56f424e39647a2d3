//! Random assembly: arithmetic of all widths, flags, memory, forward branches; the candidate is written with synonyms.

use crate::builder::{Builder, Parameter};
use crate::random::Random;
use crate::spot::{same, spot};
use crate::types::{INTEGERS, Type};

/// Registers by width: 64, 32, 16, 8 bits. `rdi` is the pointer and stays it.
const REGISTERS: [[&str; 4]; 8] = [
    ["rax", "eax", "ax", "al"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
];
const SUFFIXES: [&str; 4] = ["q", "l", "w", "b"];
const CONDITIONS: [&str; 14] = ["e", "ne", "b", "ae", "be", "a", "l", "ge", "le", "g", "s", "ns", "o", "no"];

/// One case.
pub fn generate(b: &mut Builder) {
    b.shape("assembly");
    let f = b.name("f");
    let long = Type::Scalar(INTEGERS[2]);
    let p = b.by_pointer("p", &long, 8);
    let parameters: Vec<Parameter> = [p].into_iter().chain(["x", "y"].iter().map(|n| b.by_value(n, &long))).collect();
    let mut lines: Vec<String> = [
        "movq %rsi, %rax",
        "leaq 5(%rdx), %rcx",
        "movq %rdx, %r8",
        "movl %esi, %r9d",
        "movq (%rdi), %r10",
        "leaq (%rsi,%rdx,2), %r11",
    ]
    .map(str::to_string)
    .to_vec();
    let count = b.random.below(9) + 3;
    let mut open: Vec<(usize, String)> = Vec::new();
    for number in 0..count {
        open.retain(|(end, label)| {
            let now = *end == number;
            if now {
                lines.push(format!("{label}:"));
            }
            !now
        });
        if b.random.one_in(6) && number + 1 < count {
            let label = format!(".L{f}_{number}");
            let condition = *b.random.pick(&CONDITIONS);
            lines.push(compare(b.random));
            lines.push(format!("j{} {label}", spot("*condition", condition, &CONDITIONS)));
            open.push((number + 1 + b.random.below(count - number - 1).min(2), label));
        } else {
            lines.push(instruction(b.random));
        }
    }
    lines.extend(open.into_iter().map(|(_, label)| format!("{label}:")));
    // What is left in a register that nobody reads does not show.
    for register in ["rcx", "rdx", "rsi", "r9", "r10", "r11"] {
        if b.random.one_in(2) {
            lines.push(format!("rolq $7, %rax; addq %{register}, %rax"));
        }
    }
    lines.push(format!("addq %{}, %rax", spot("*register", "r8", &["r9", "rcx", "r10"])));
    lines.push("ret".into());
    let body: String = lines.iter().map(|l| format!("  \"{l}\\n\"\n")).collect();
    let text =
        format!("__asm__(\".text\\n.globl {f}\\n.type {f}, @function\\n{f}:\\n\"\n{body}  \".size {f}, .-{f}\\n\");");
    b.function(&f, text);
    b.call(&f, &parameters, Some(&long));
}

fn register(random: &mut Random, width: usize) -> String {
    let names: Vec<&str> = REGISTERS.iter().map(|r| r[width]).collect();
    let chosen = *random.pick(&names);
    format!("%{}", spot("*register", chosen, &names))
}

fn immediate(random: &mut Random) -> String {
    let n = [1, 2, 3, 7, 8, 15, 16, 31, 100, 127, -1, -8][random.below(12)];
    format!("${}", spot("*immediate", n, &[n + 1, n - 1]))
}

fn place(random: &mut Random) -> String {
    let at = random.below(8) * 8;
    format!("{}(%rdi)", spot("*displacement", at, &[(at + 8) % 64, at + 1 - at % 64 / 56]))
}

fn compare(random: &mut Random) -> String {
    let width = random.below(4);
    let operation = ["cmp", "test", "add", "sub"][random.below(4)];
    let (from, to) = (register(random, width), register(random, width));
    format!("{}{} {from}, {to}", spot("*operation", operation, &["cmp", "test", "sub"]), SUFFIXES[width])
}

/// One instruction, at times with a synonym for the candidate.
fn instruction(random: &mut Random) -> String {
    let width = random.below(4);
    let s = SUFFIXES[width];
    let operations = ["add", "sub", "and", "or", "xor"];
    let operation = *random.pick(&operations);
    let operation = spot("*operation", operation, &operations);
    match random.below(16) {
        0 | 1 => format!("{operation}{s} {}, {}", register(random, width), register(random, width)),
        2 => format!("{operation}{s} {}, {}", immediate(random), register(random, width)),
        3 => format!("mov{s} {}, {}", register(random, width), register(random, width)),
        4 => format!("mov{s} {}, {}", place(random), register(random, width)),
        5 => format!("mov{s} {}, {}", register(random, width), place(random)),
        6 => format!("{operation}{s} {}, {}", register(random, width), place(random)),
        7 => format!(
            "{}{s} ${}, {}",
            spot("*operation", "shl", &["shr", "sar", "rol"]),
            random.below(7) + 1,
            register(random, width)
        ),
        8 => {
            let width = random.below(3);
            format!("imul{} {}, {}", SUFFIXES[width], register(random, width), register(random, width))
        }
        9 => format!("{}{s} {}", spot("*operation", "neg", &["not", "inc", "dec"]), register(random, width)),
        10 => {
            let condition = *random.pick(&CONDITIONS);
            format!("{}; set{} {}", compare(random), spot("*condition", condition, &CONDITIONS), register(random, 3))
        }
        11 => {
            let condition = *random.pick(&CONDITIONS);
            let wide = random.below(2);
            format!(
                "{}; cmov{}{} {}, {}",
                compare(random),
                spot("*condition", condition, &CONDITIONS),
                SUFFIXES[wide],
                register(random, wide),
                register(random, wide)
            )
        }
        12 => format!("mov{}bl {}, {}", spot("*operation", "z", &["s"]), register(random, 3), register(random, 1)),
        13 => format!(
            "movq %rcx, %rsi; andl ${}, %esi; {}{s} (%rdi,%rsi,8), %{}",
            spot("*immediate", 7, &[3]),
            spot("*operation", "add", &["sub", "mov"]),
            REGISTERS[4][width]
        ),
        14 => {
            let to = REGISTERS[random.below(8)];
            same(format!("movl $0, %{}", to[1]), format!("xorl %{0}, %{0}", to[1]))
        }
        _ => {
            let (a, c) = (REGISTERS[random.below(8)][0], REGISTERS[random.below(8)][0]);
            // The first instruction of the synonym must leave alone what the second one reads.
            let synonym = match a == "r9" && c != "r9" {
                true => format!("leaq (%r9,%{c}), %r9; leaq (%r9,%{c}), %r9"),
                false => format!("movq %{c}, %r9; leaq (%{a},%r9,2), %r9"),
            };
            same(format!("leaq (%{a},%{c},2), %r9"), synonym)
        }
    }
}
