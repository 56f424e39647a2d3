//! The machine code that runs the programs of a batch: for each program and each input it sets registers, jumps to
//! the program, and stores what it leaves.
//!
//! It finds its own data relative to `rip`, so that all registers belong to the programs.

use super::serve::{Layout, PAGE, Words};
use super::{Flags, Interface, PROGRAMS};
use crate::trampoline::Vectors;

/// Where it keeps its data: offsets of words in the control page.
#[derive(Clone, Copy)]
pub(super) enum Word {
    HostStack,
    Program,
    Input,
    Output,
    InputsLeft,
    Done,
    Count,
    Saved,
    Flags,
}

/// The code and its entries, as offsets.
pub(super) struct Driver {
    pub bytes: Vec<u8>,
    pub entry: usize,
    /// Where programs go at their end.
    pub finish: usize,
    /// Where a program goes on that faults.
    pub abort: usize,
}

pub(super) const RSP: u8 = 4;
const RAX: u8 = 0;
const RCX: u8 = 1;
/// Bytes of the jump behind a program.
pub(super) const JUMP: usize = 5;
/// Bytes of a program and its jump.
const ROOM: usize = 512;
/// push rbx, rbp, r12–r15; pop them again and return.
const SAVE: &[u8] = &[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57];
const RESTORE: &[u8] = &[0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3];

/// Offset of a program.
pub(super) fn program_offset(number: usize) -> usize {
    PAGE + number * ROOM
}

/// Bytes of code: the driver and the programs.
pub(super) const CODE: usize = PAGE + PROGRAMS * ROOM;

/// `jmp rel32`.
pub(super) fn jump(at: usize, target: usize) -> Vec<u8> {
    let distance = target as i32 - (at + JUMP) as i32;
    [&[0xe9][..], &distance.to_le_bytes()].concat()
}

struct Emitter {
    bytes: Vec<u8>,
    control: usize,
}

impl Emitter {
    fn plain(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// An instruction on a word of the control page, with `after` bytes behind the displacement.
    fn word(&mut self, opcode: &[u8], word: Word, after: &[u8]) {
        self.plain(opcode);
        let next = self.bytes.len() + 4 + after.len();
        let displacement = (self.control + 8 * word as usize) as i32 - next as i32;
        self.plain(&displacement.to_le_bytes());
        self.plain(after);
    }

    /// `mov` between a register and `[base + offset]`: 8b loads, 89 stores; the base is rax or rcx.
    fn general(&mut self, opcode: u8, register: u8, base: u8, offset: usize) {
        let rex = 0x48 | (register >> 3) << 2;
        self.plain(&[rex, opcode, 0x80 | (register & 7) << 3 | base]);
        self.plain(&(offset as i32).to_le_bytes());
    }

    /// `movups` between a vector register and `[rax + offset]`: 10 loads, 11 stores. Without AVX only the lower half.
    fn vector(&mut self, opcode: u8, register: u8, offset: usize) {
        let modrm = 0x80 | (register & 7) << 3;
        if Vectors::of_processor() == Vectors::Ymm {
            self.plain(&[0xc5, if register < 8 { 0xfc } else { 0x7c }, opcode, modrm]);
        } else {
            self.plain(&[0x40 | (register >> 3) << 2, 0x0f, opcode, modrm]);
        }
        self.plain(&(offset as i32).to_le_bytes());
    }

    /// Copies words with `rep movsq`; the address of one side is in rax.
    fn copy(&mut self, to: Option<u64>, from: Option<u64>, offset: usize, words: usize) {
        for (register, address) in [(7u8, to), (6, from)] {
            match address {
                Some(address) => {
                    self.plain(&[0x48, 0xb8 + register]); // mov r64, imm64
                    self.plain(&address.to_le_bytes());
                }
                None => {
                    self.plain(&[0x48, 0x8d, 0x80 | register << 3]); // lea r64, [rax + offset]
                    self.plain(&(offset as i32).to_le_bytes());
                }
            }
        }
        self.plain(&[0xb9]); // mov ecx, words
        self.plain(&(words as u32).to_le_bytes());
        self.plain(&[0xfc, 0xf3, 0x48, 0xa5]); // cld; rep movsq
    }

    fn jump_back(&mut self, opcode: &[u8], target: usize) {
        self.plain(opcode);
        let distance = target as i32 - (self.bytes.len() + 4) as i32;
        self.plain(&distance.to_le_bytes());
    }
}

pub(super) fn assemble(interface: &Interface, layout: &Layout) -> Driver {
    let mut e = Emitter { bytes: Vec::new(), control: layout.control };
    let memory = interface.memory.map(|scratch| (scratch.address, scratch.length / 8));
    let entry = 0;
    e.plain(SAVE);
    e.word(&[0x48, 0x89, 0x25], Word::HostStack, &[]); // mov [], rsp
    let next = e.bytes.len();
    // The state of an input.
    e.word(&[0x48, 0x8b, 0x05], Word::Input, &[]); // mov rax, []
    let mut at = 8 * interface.general_in.len();
    for number in &interface.vector_in {
        e.vector(0x10, *number, at);
        at += 32;
    }
    if let Some((address, words)) = memory {
        e.copy(Some(address), None, at, words);
    }
    for (i, number) in interface.general_in.iter().enumerate().filter(|(_, number)| **number != RAX) {
        e.general(0x8b, *number, RAX, 8 * i);
    }
    if let Some(i) = interface.general_in.iter().position(|number| *number == RAX) {
        e.general(0x8b, RAX, RAX, 8 * i);
    }
    e.word(&[0xff, 0x25], Word::Program, &[]); // jmp []

    let finish = e.bytes.len();
    if interface.flags == Flags::Kept {
        // The program may have moved its stack pointer: `mov` leaves flags alone.
        e.word(&[0x48, 0x8b, 0x25], Word::HostStack, &[]);
        e.plain(&[0x9c]); // pushfq
        e.word(&[0x8f, 0x05], Word::Flags, &[]); // pop []
    }
    e.word(&[0x48, 0x89, 0x05], Word::Saved, &[]); // mov [], rax
    e.word(&[0x48, 0x8b, 0x05], Word::Output, &[]);
    for (i, number) in interface.general_out.iter().enumerate().filter(|(_, number)| **number != RAX) {
        e.general(0x89, *number, RAX, 8 * i);
    }
    if let Some(i) = interface.general_out.iter().position(|number| *number == RAX) {
        e.word(&[0x48, 0x8b, 0x0d], Word::Saved, &[]); // mov rcx, []
        e.general(0x89, RCX, RAX, 8 * i);
    }
    let mut at = 8 * interface.general_out.len();
    if interface.flags == Flags::Kept {
        e.word(&[0x48, 0x8b, 0x0d], Word::Flags, &[]);
        e.general(0x89, RCX, RAX, at);
        at += 8;
    }
    for number in &interface.vector_out {
        e.vector(0x11, *number, at);
        at += 32;
    }
    if let Some((address, words)) = memory {
        e.copy(None, Some(address), at, words);
    }
    e.word(&[0x48, 0x8b, 0x25], Word::HostStack, &[]); // mov rsp, []
    add(&mut e, Word::Output, layout.output_stride);
    add(&mut e, Word::Input, layout.input_stride);
    e.word(&[0x48, 0xff, 0x0d], Word::InputsLeft, &[]); // dec []
    e.jump_back(&[0x0f, 0x85], next); // jnz

    // The next program.
    let advance = e.bytes.len();
    e.word(&[0x48, 0x81, 0x2d], Word::Input, &((layout.inputs * layout.input_stride) as u32).to_le_bytes()); // sub [], imm
    e.word(&[0x48, 0xc7, 0x05], Word::InputsLeft, &(layout.inputs as u32).to_le_bytes()); // mov [], imm
    add(&mut e, Word::Program, ROOM);
    e.word(&[0x48, 0xff, 0x05], Word::Done, &[]); // inc []
    e.word(&[0x48, 0x8b, 0x05], Word::Done, &[]);
    e.word(&[0x48, 0x3b, 0x05], Word::Count, &[]); // cmp rax, []
    e.jump_back(&[0x0f, 0x82], next); // jb
    if Vectors::of_processor() == Vectors::Ymm {
        e.plain(&[0xc5, 0xf8, 0x77]); // vzeroupper
    }
    e.plain(&[0xfc]); // cld
    e.plain(RESTORE);

    // Skips the rest of a program's inputs.
    let abort = e.bytes.len();
    e.word(&[0x48, 0x8b, 0x25], Word::HostStack, &[]);
    e.word(&[0x48, 0x8b, 0x05], Word::InputsLeft, &[]);
    e.plain(&[0x48, 0x69, 0xc8]); // imul rcx, rax, stride
    e.plain(&(layout.output_stride as u32).to_le_bytes());
    e.word(&[0x48, 0x01, 0x0d], Word::Output, &[]); // add [], rcx
    e.plain(&[0x48, 0x69, 0xc8]);
    e.plain(&(layout.input_stride as u32).to_le_bytes());
    e.word(&[0x48, 0x01, 0x0d], Word::Input, &[]);
    e.jump_back(&[0xe9], advance);
    assert!(e.bytes.len() <= PAGE, "the driver overlaps the programs");
    Driver { bytes: e.bytes, entry, finish, abort }
}

/// `add [], imm32`.
fn add(e: &mut Emitter, word: Word, value: usize) {
    e.word(&[0x48, 0x81, 0x05], word, &(value as u32).to_le_bytes());
}

impl Word {
    /// The word among all.
    pub fn of(self, words: &mut Words) -> &mut u64 {
        &mut words[self as usize]
    }
}
