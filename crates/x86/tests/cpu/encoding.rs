//! Encoding is the inverse of decoding, and the text means the same to the assembler.

use crate::forms::{self, Form};
use crate::random::Random;
use program::Register;
use std::process::Command;
use term::Arena;
use x86::{Builder, Flow, Instruction, Nameless, Syntax, decode, encode, text};

/// Choices of operands for each form.
const INSTANCES: u64 = 6;

/// Every modelled form with some operands.
fn modelled() -> Vec<Instruction> {
    let mut out = Vec::new();
    for form in forms::all() {
        out.extend((0..INSTANCES).filter_map(|instance| of_form(&form, instance)));
    }
    out
}

fn of_form(form: &Form, instance: u64) -> Option<Instruction> {
    let mut random = Random::new(form.seed(), 1000 + instance);
    let code = (0..16).find_map(|_| form.encode(&mut random))?;
    let instruction = decode(&code, 0x1000).ok()?.instruction;
    instruction.mnemonic.row()?;
    x86::effects(&instruction).is_ok().then_some(instruction)
}

#[test]
fn decoding_undoes_encoding() {
    let instructions = modelled();
    assert!(instructions.len() > 3000, "only {} instructions", instructions.len());
    for instruction in &instructions {
        let bytes = encode(instruction, 0x1000).unwrap_or_else(|error| panic!("{error}"));
        let decoded = decode(&bytes, 0x1000).unwrap();
        assert_eq!(decoded.instruction, *instruction);
        assert_eq!(decoded.length, bytes.len());
    }
}

#[test]
fn the_assembler_reads_what_we_write() {
    let instructions: Vec<Instruction> =
        modelled().into_iter().filter(|instruction| instruction.flow() == Flow::Next).collect();
    for (syntax, header) in [(Syntax::Att, ".text\n"), (Syntax::Intel, ".intel_syntax noprefix\n.text\n")] {
        let mut source = header.to_string();
        for instruction in &instructions {
            source.push_str(&text(instruction, syntax, &Nameless).unwrap());
            source.push('\n');
        }
        check_assembly(&source, &instructions);
    }
}

/// Assembles the source and compares what it decodes to.
fn check_assembly(source: &str, instructions: &[Instruction]) {
    let folder = std::env::temp_dir().join(format!("x86-encoding-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (input, object, flat) = (folder.join("a.s"), folder.join("a.o"), folder.join("a.bin"));
    std::fs::write(&input, source).unwrap();
    let out = Command::new("as").arg("--64").arg("-o").arg(&object).arg(&input).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let copied =
        Command::new("objcopy").args(["-O", "binary", "-j", ".text"]).arg(&object).arg(&flat).status().unwrap();
    assert!(copied.success());
    let bytes = std::fs::read(&flat).unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let (mut at, mut differ) = (0, Vec::new());
    for (line, instruction) in source.lines().skip(source.lines().count() - instructions.len()).zip(instructions) {
        let decoded = decode(&bytes[at..], 0x1000).unwrap();
        if !is_the_same(&decoded.instruction, instruction) {
            differ.push(format!("{line}: {instruction}, read as {}", decoded.instruction));
        }
        at += decoded.length;
    }
    assert_eq!(at, bytes.len());
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// The assembler may write the operands of `xchg` the other way round, and prefers shorter spellings that do the same.
fn is_the_same(read: &Instruction, written: &Instruction) -> bool {
    let mut read = read.clone();
    if read.mnemonic.name() == "xchg" && read.operands != written.operands {
        read.operands.reverse();
    }
    if read == *written {
        return true;
    }
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let [read, written] = [&read, written].map(|instruction| {
        let mut builder = Builder::new();
        x86::lift(instruction, &mut arena, &mut builder).map(|()| builder.take())
    });
    read.is_ok() && read == written
}
