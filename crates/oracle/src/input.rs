//! What a run begins with.

use crate::link::Linked;

/// The start of a run, the same for both programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// rdi, rsi, rdx, rcx, r8, r9.
    pub general: [u64; 6],
    /// The same for the candidate, if it is not called as the original is.
    pub convention: Option<[u64; 6]>,
    /// ymm0 to ymm7.
    pub vectors: [[u8; 32]; 8],
    /// rax: callers of a variadic function say in `al` how many vector registers they use.
    pub rax: u64,
    /// Words on the stack behind the return address.
    pub stack: Vec<u64>,
    /// Memory: addresses (far from those of [`crate::map`]) and contents.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// Contents of the objects' own writable data by symbol and offset; what is not set has its initial value.
    pub objects: Vec<(String, u64, Vec<u8>)>,
    /// Addresses that stand for symbols: where such a word is in a register or, aligned, in memory, each side has its own address
    /// there.
    pub aliases: Vec<Alias>,
    /// Results of stubs, the first call of a name first; the seed decides about all others.
    pub script: Vec<Script>,
    /// Inputs that go the same way may have the same number: not all of them are run then.
    pub path: u64,
    /// Results of stubs, contents of undefined data, garbage.
    pub seed: u64,
}

/// Addresses that stand for a symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alias {
    /// The first.
    pub start: u64,
    /// How many.
    pub size: u64,
    /// The symbol.
    pub name: String,
}

/// What a stub returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// The callee.
    pub callee: String,
    /// Its result in `rax`.
    pub result: u64,
}

impl Input {
    /// A word as a side sees it.
    pub(crate) fn translate(&self, linked: &Linked, word: u64) -> u64 {
        let alias = self.aliases.iter().find(|a| word.wrapping_sub(a.start) < a.size);
        let symbol = alias.and_then(|a| linked.names.named(&a.name).map(|n| n.start.wrapping_add(word - a.start)));
        symbol.unwrap_or(word)
    }

    /// The same for the aligned words of memory at an address.
    pub(crate) fn translate_bytes(&self, linked: &Linked, address: u64, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        if self.aliases.is_empty() {
            return out;
        }
        let first = (address.wrapping_neg() % 8) as usize;
        let low = self.aliases.iter().map(|a| a.start).min().unwrap_or(0);
        let high = self.aliases.iter().map(|a| a.start.saturating_add(a.size)).max().unwrap_or(0);
        for chunk in out.get_mut(first..).unwrap_or_default().chunks_exact_mut(8) {
            let word = crate::world::word(chunk);
            if (low..high).contains(&word) {
                chunk.copy_from_slice(&self.translate(linked, word).to_le_bytes());
            }
        }
        out
    }

    /// Nothing but a seed: all registers are zero.
    pub fn new(seed: u64) -> Input {
        Input {
            general: [0; 6],
            convention: None,
            vectors: [[0; 32]; 8],
            rax: 0,
            stack: Vec::new(),
            memory: Vec::new(),
            objects: Vec::new(),
            aliases: Vec::new(),
            script: Vec::new(),
            path: seed,
            seed,
        }
    }
}
