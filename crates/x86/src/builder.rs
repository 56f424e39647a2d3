//! Collects the operations of a point.

use program::{FaultKind, Op, Register};
use rustc_hash::FxHashMap;
use term::{Arena, Sort, TermId, VarId};

/// Operations of a point under construction, for one arena.
///
/// Temporaries are numbered per width and reused by the next instruction: operations run in order, and no
/// instruction reads a temporary of an earlier one.
#[derive(Default)]
pub struct Builder {
    /// Address that the following operations are tagged with.
    pub address: u64,
    /// Operations so far, tagged with their instruction's address.
    pub ops: Vec<(u64, Op)>,
    registers: Vec<TermId>,
    temporaries: FxHashMap<Sort, (usize, Vec<TermId>)>,
    mentions: FxHashMap<TermId, u64>,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Takes the operations, to begin the next point.
    pub fn take(&mut self) -> Vec<(u64, Op)> {
        std::mem::take(&mut self.ops)
    }

    /// Appends an operation.
    pub fn push(&mut self, op: Op) {
        self.ops.push((self.address, op));
    }

    /// Begins a new instruction: temporaries of the earlier ones may be reused.
    pub(crate) fn begin(&mut self) {
        for (used, _) in self.temporaries.values_mut() {
            *used = 0;
        }
    }

    /// The variable of a register as a term.
    pub(crate) fn register(&mut self, arena: &mut Arena, register: Register) -> TermId {
        if self.registers.is_empty() {
            self.registers = Register::all().map(|register| register.term(arena)).collect();
        }
        self.registers[register.index()]
    }

    /// A temporary that this instruction has not used yet.
    pub(crate) fn temporary(&mut self, arena: &mut Arena, sort: Sort) -> (VarId, TermId) {
        let (used, terms) = self.temporaries.entry(sort).or_default();
        if *used == terms.len() {
            let kind = match sort {
                Sort::Bool => "b".to_string(),
                Sort::Bv(width) => width.to_string(),
                Sort::Memory => "m".to_string(),
            };
            terms.push(arena.var(&format!("t{kind}.{used}"), sort));
        }
        let term = terms[*used];
        *used += 1;
        let var = arena.as_var(term).expect("a variable's term");
        (var, term)
    }

    /// Appends a fault unless its condition is known not to hold.
    pub(crate) fn fault(&mut self, arena: &Arena, condition: TermId, kind: FaultKind) {
        if arena.as_bool(condition) != Some(false) {
            self.push(Op::Fault { condition, kind });
        }
    }

    /// Appends all assignments as if they happened at once: every value is meant in the state before them.
    ///
    /// A register is assigned once no waiting value reads it; where values read each other's registers in a
    /// circle, one of the values goes through a temporary.
    pub(crate) fn assign(&mut self, arena: &mut Arena, writes: &[(Register, Option<TermId>)]) {
        let mut waiting: Vec<(Register, Option<TermId>, u64)> = Vec::with_capacity(writes.len());
        for (register, value) in writes {
            let reads = value.map_or(0, |value| self.mentions(arena, value));
            waiting.push((*register, *value, reads));
        }
        while !waiting.is_empty() {
            let free = (0..waiting.len()).find(|i| {
                let bit = 1u64 << waiting[*i].0.index();
                waiting.iter().enumerate().all(|(j, (_, _, reads))| j == *i || reads & bit == 0)
            });
            match free {
                Some(i) => {
                    let (register, value, _) = waiting.remove(i);
                    let term = self.register(arena, register);
                    let var = arena.as_var(term).expect("a register's variable");
                    match value {
                        Some(value) if value == term => {}
                        Some(value) => self.push(Op::Set { var, value }),
                        None => self.push(Op::Unknown { var }),
                    }
                }
                None => {
                    // Any choice ends, since a saved value reads no register.
                    let entry = waiting.iter_mut().find(|(_, _, reads)| *reads != 0).expect("a circle reads something");
                    let value = entry.1.expect("a value that reads");
                    entry.2 = 0;
                    let sort = arena.sort(value);
                    let at = entry.0;
                    let (var, term) = self.temporary(arena, sort);
                    self.push(Op::Set { var, value });
                    for (register, value, _) in &mut waiting {
                        if *register == at {
                            *value = Some(term);
                        }
                    }
                }
            }
        }
    }

    /// The registers that a term reads, one bit each.
    fn mentions(&mut self, arena: &Arena, root: TermId) -> u64 {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.mentions.contains_key(&term) {
                stack.pop();
                continue;
            }
            let missing: Vec<TermId> =
                arena.args(term).iter().copied().filter(|arg| !self.mentions.contains_key(arg)).collect();
            if missing.is_empty() {
                let own = arena.as_var(term).and_then(Register::of_var).map_or(0, |register| 1 << register.index());
                let all = arena.args(term).iter().fold(own, |bits, arg| bits | self.mentions[arg]);
                self.mentions.insert(term, all);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        self.mentions[&root]
    }
}
