//! The code that loads a state, enters the code under test, and saves the state afterwards.
//!
//! It addresses the control block relative to `rip`, so that every general register, the stack pointer included,
//! belongs to the code under test. It is called like a C function without arguments.

use crate::region::{CONTROL, Control, TRAMPOLINE};
use crate::state::State;
use std::mem::offset_of;

/// Where the parts of the trampoline are.
pub(crate) struct Trampoline {
    pub bytes: Vec<u8>,
    /// Offset in the region of the code that saves the state.
    pub finish: usize,
    /// Offset of the code that returns without saving.
    pub abort: usize,
}

/// Vector registers that are loaded and saved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectors {
    Xmm,
    Ymm,
}

impl Vectors {
    /// Those that this processor has.
    pub fn of_processor() -> Vectors {
        if is_x86_feature_detected!("avx") { Vectors::Ymm } else { Vectors::Xmm }
    }
}

struct Emitter {
    bytes: Vec<u8>,
}

impl Emitter {
    fn plain(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// An instruction whose last field is the displacement of a place in the control block.
    fn control(&mut self, opcode: &[u8], field: usize) {
        self.bytes.extend_from_slice(opcode);
        let next = TRAMPOLINE + self.bytes.len() + 4;
        let displacement = (CONTROL + field) as i32 - next as i32;
        self.bytes.extend_from_slice(&displacement.to_le_bytes());
    }

    /// `mov` between a general register and its slot: 8b loads, 89 stores.
    fn general(&mut self, opcode: u8, number: u8) {
        let rex = 0x48 | (number >> 3) << 2;
        let modrm = (number & 7) << 3 | 5;
        let slot = offset_of!(Control, state) + offset_of!(State, general) + 8 * usize::from(number);
        self.control(&[rex, opcode, modrm], slot);
    }

    /// `movups` between a vector register and its slot: 10 loads, 11 stores.
    fn vector(&mut self, opcode: u8, number: u8, vectors: Vectors) {
        let modrm = (number & 7) << 3 | 5;
        let slot = offset_of!(Control, state) + offset_of!(State, vector) + 32 * usize::from(number);
        match vectors {
            Vectors::Ymm => self.control(&[0xc5, if number < 8 { 0xfc } else { 0x7c }, opcode, modrm], slot),
            Vectors::Xmm => self.control(&[0x40 | (number >> 3) << 2, 0x0f, opcode, modrm], slot),
        }
    }
}

const RSP: u8 = 4;
/// push rbx, rbp, r12–r15.
const SAVE: &[u8] = &[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57];
/// pop r15–r12, rbp, rbx; ret.
const RESTORE: &[u8] = &[0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3];

/// Assembles the trampoline for its place at the start of a region.
pub(crate) fn assemble(vectors: Vectors) -> Trampoline {
    let flags = offset_of!(Control, state) + offset_of!(State, flags);
    let mut e = Emitter { bytes: Vec::new() };
    e.plain(SAVE);
    e.general_stack(0x89);
    e.control(&[0x0f, 0xae, 0x15], offset_of!(Control, mxcsr)); // ldmxcsr
    (0..16).for_each(|number| e.vector(0x10, number, vectors));
    e.control(&[0xff, 0x35], flags); // push flags
    e.plain(&[0x9d]); // popfq
    (0..16).filter(|number| *number != RSP).for_each(|number| e.general(0x8b, number));
    e.general(0x8b, RSP);
    e.control(&[0xff, 0x25], offset_of!(Control, entry)); // jmp

    let finish = TRAMPOLINE + e.bytes.len();
    (0..16).for_each(|number| e.general(0x89, number));
    e.general_stack(0x8b);
    e.plain(&[0x9c]); // pushfq
    e.control(&[0x8f, 0x05], flags); // pop flags
    (0..16).for_each(|number| e.vector(0x11, number, vectors));
    e.leave(vectors);

    let abort = TRAMPOLINE + e.bytes.len();
    e.general_stack(0x8b);
    e.leave(vectors);
    Trampoline { bytes: e.bytes, finish, abort }
}

impl Emitter {
    /// `mov` between rsp and the child's own stack pointer.
    fn general_stack(&mut self, opcode: u8) {
        self.control(&[0x48, opcode, RSP << 3 | 5], offset_of!(Control, host_stack));
    }

    fn leave(&mut self, vectors: Vectors) {
        if vectors == Vectors::Ymm {
            self.plain(&[0xc5, 0xf8, 0x77]); // vzeroupper
        }
        self.plain(&[0xfc]); // cld
        self.plain(RESTORE);
    }
}

/// `jmp` to the code that saves the state, for the end of a snippet that ends at `offset` of the region.
pub(crate) fn jump_to_finish(offset: usize) -> Vec<u8> {
    let next = offset + 6;
    let displacement = (CONTROL + offset_of!(Control, finish)) as i32 - next as i32;
    let mut bytes = vec![0xff, 0x25];
    bytes.extend_from_slice(&displacement.to_le_bytes());
    bytes
}
