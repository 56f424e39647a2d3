//! What undefined functions do where calls are timed: code of ours beside that of the objects.
//!
//! Stopping the process at each call, as comparisons do ([`crate::stubs`]), would cost a thousand times what is timed. A few functions
//! that programs spend their time in are there as plain loops, allocation functions hand out what is left of a block, and all others
//! return at once with the next word of a list.

use crate::map;
use std::collections::BTreeMap;

/// Results of one callee that are there; a run that calls it more often stops.
pub(super) const MOST_RESULTS: usize = 255;
/// Bytes of a callee's cursor and results.
const SIZE: u64 = 8 * (MOST_RESULTS as u64 + 1);
/// The last list is followed by a page that is not there.
const PAGE: u64 = 4096;

/// Callees and where their results are, the same for all contenders.
pub(super) struct Callees {
    lists: BTreeMap<String, u64>,
}

impl Callees {
    pub fn new(names: impl IntoIterator<Item = String>) -> Callees {
        let mut lists: BTreeMap<String, u64> = names.into_iter().map(|name| (name, 0)).collect();
        for (i, list) in lists.values_mut().enumerate() {
            // Each ends where a page ends that nothing follows.
            *list = map::RESULTS + 2 * PAGE * (i as u64 + 1) + PAGE - SIZE;
        }
        Callees { lists }
    }

    /// Where the page of each list is.
    pub fn pages(&self) -> impl Iterator<Item = u64> + '_ {
        self.lists.values().map(|list| list / PAGE * PAGE)
    }

    /// Whose list lies at an address.
    pub fn at(&self, address: u64) -> Option<&str> {
        self.lists.iter().find(|(_, list)| **list == address).map(|(name, _)| name.as_str())
    }

    /// The memory that a run begins with: for each list its cursor and results; `next` is asked for each result of a name.
    pub fn memory(&self, next: impl Fn(&str, usize) -> u64) -> Vec<(u64, Vec<u8>)> {
        let one = |(name, list): (&String, &u64)| {
            let cursor = if is_allocation(name) { map::HEAP } else { list + 8 };
            let words = std::iter::once(cursor).chain((0..MOST_RESULTS).map(|i| next(name, i)));
            (*list, words.flat_map(u64::to_le_bytes).collect())
        };
        self.lists.iter().map(one).collect()
    }

    /// Code for the stubs of a contender, which lie 16 bytes apart: from the address of the first on.
    pub fn code(&self, stubs: &BTreeMap<u64, String>, start: u64) -> Vec<u8> {
        let mut out = vec![0xcc; 16 * (stubs.len() + 1)];
        for (address, name) in stubs {
            let slot = (address - start) as usize;
            let jump = out.len() as i32 - (slot as i32 + 5);
            let body = match self.lists.get(name) {
                _ if crate::stubs::never_returns(name) => vec![0xcc],
                Some(list) => body(name, *list as u32),
                None => vec![0xcc],
            };
            out[slot] = 0xe9; // jmp
            out[slot + 1..slot + 5].copy_from_slice(&jump.to_le_bytes());
            out.extend(body);
        }
        out
    }

    /// The names of those that are not what the library has, but return what a list says.
    pub fn stand_ins(&self) -> Vec<String> {
        self.lists.keys().filter(|name| !is_real(name)).cloned().collect()
    }
}

fn is_allocation(name: &str) -> bool {
    matches!(name, "malloc" | "calloc")
}

/// Is it as in the library, but for its speed?
fn is_real(name: &str) -> bool {
    matches!(name, "memcpy" | "memmove" | "memset" | "memcmp" | "bcmp" | "strlen")
}

fn body(name: &str, list: u32) -> Vec<u8> {
    match name {
        // mov rax, rdi; mov rcx, rdx; cmp rdi, rsi; jbe l; lea r8, [rsi+rdx]; cmp rdi, r8; jae l;
        // std; lea rsi, [rsi+rdx-1]; lea rdi, [rdi+rdx-1]; rep movsb; cld; ret; l: rep movsb; ret
        "memcpy" | "memmove" => vec![
            0x48, 0x89, 0xf8, 0x48, 0x89, 0xd1, 0x48, 0x39, 0xf7, 0x76, 0x18, 0x4c, 0x8d, 0x04, 0x16, 0x4c, 0x39, 0xc7,
            0x73, 0x0f, 0xfd, 0x48, 0x8d, 0x74, 0x16, 0xff, 0x48, 0x8d, 0x7c, 0x17, 0xff, 0xf3, 0xa4, 0xfc, 0xc3, 0xf3,
            0xa4, 0xc3,
        ],
        // mov r8, rdi; mov eax, esi; mov rcx, rdx; rep stosb; mov rax, r8; ret
        "memset" => {
            vec![0x49, 0x89, 0xf8, 0x89, 0xf0, 0x48, 0x89, 0xd1, 0xf3, 0xaa, 0x4c, 0x89, 0xc0, 0xc3]
        }
        // xor ecx, ecx; l: cmp rcx, rdx; jae e; movzx eax, byte [rdi+rcx]; movzx r8d, byte [rsi+rcx]; inc rcx; sub eax, r8d; je l; ret;
        // e: xor eax, eax; ret
        "memcmp" | "bcmp" => vec![
            0x31, 0xc9, 0x48, 0x39, 0xd1, 0x73, 0x12, 0x0f, 0xb6, 0x04, 0x0f, 0x44, 0x0f, 0xb6, 0x04, 0x0e, 0x48, 0xff,
            0xc1, 0x44, 0x29, 0xc0, 0x74, 0xea, 0xc3, 0x31, 0xc0, 0xc3,
        ],
        // xor eax, eax; l: cmp byte [rdi+rax], 0; je e; inc rax; jmp l; e: ret
        "strlen" => vec![0x31, 0xc0, 0x80, 0x3c, 0x07, 0x00, 0x74, 0x05, 0x48, 0xff, 0xc0, 0xeb, 0xf5, 0xc3],
        "malloc" | "calloc" => allocation(name, list),
        _ => {
            let mut out = vec![0x4c, 0x8b, 0x1c, 0x25]; // mov r11, [list]
            out.extend(list.to_le_bytes());
            out.extend([0x49, 0x8b, 0x03]); // mov rax, [r11]
            out.extend([0x48, 0x83, 0x04, 0x25]); // add qword [list], 8
            out.extend(list.to_le_bytes());
            out.push(8);
            out.extend([0x66, 0x48, 0x0f, 0x6e, 0xc0, 0xc3]); // movq xmm0, rax; ret
            out
        }
    }
}

/// Hands out what is left between a cursor and the end of the heap, whose bytes are zero.
fn allocation(name: &str, cursor: u32) -> Vec<u8> {
    let mut out = Vec::new();
    if name == "calloc" {
        out.extend([0x48, 0x0f, 0xaf, 0xfe]); // imul rdi, rsi
    }
    out.extend([0x48, 0x8b, 0x04, 0x25]); // mov rax, [cursor]
    out.extend(cursor.to_le_bytes());
    out.extend([0x48, 0x8d, 0x4f, 0x1f, 0x48, 0x83, 0xe1, 0xf0]); // lea rcx, [rdi+31]; and rcx, -16
    out.extend([0x48, 0x01, 0xc1]); // add rcx, rax
    out.extend([0x48, 0x81, 0xf9]); // cmp rcx, end
    out.extend((map::HEAP as u32 + map::HEAP_SIZE as u32).to_le_bytes());
    out.extend([0x76, 0x03, 0x31, 0xc0, 0xc3]); // jbe l; xor eax, eax; ret
    out.extend([0x48, 0x89, 0x0c, 0x25]); // l: mov [cursor], rcx
    out.extend(cursor.to_le_bytes());
    out.push(0xc3);
    out
}
