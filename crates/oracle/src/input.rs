//! What a run begins with.

/// The start of a run, the same for both programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// rdi, rsi, rdx, rcx, r8, r9.
    pub general: [u64; 6],
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
    /// Results of stubs, contents of undefined data, garbage.
    pub seed: u64,
}

impl Input {
    /// Nothing but a seed: all registers are zero.
    pub fn new(seed: u64) -> Input {
        Input {
            general: [0; 6],
            vectors: [[0; 32]; 8],
            rax: 0,
            stack: Vec::new(),
            memory: Vec::new(),
            objects: Vec::new(),
            seed,
        }
    }
}
