//! What the file around a function tells a run of it: what compilers may know beyond the code, and the code itself.

use crate::code::Code;
use crate::container::{Binding, Place, Section, Symbol, Visibility};
use crate::dwarf::Producer;
use crate::relocation::{Meaning, Relocation};
use crate::{Image, Kind};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind};
use program::{Object, RegisterVariable, Surroundings};
use std::collections::{BTreeMap, BTreeSet};
use term::VarId;

/// Longest function that is run on the CPU.
const LONGEST: u64 = 1 << 16;

/// What a function does with `r10` as it arrives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Chain {
    /// Neither reads it nor leaves it to somebody else.
    Gone,
    /// Leaves it to a callee.
    PassedOn,
    /// Leaves it to what lies outside of it: a jump.
    Left,
    /// Reads it.
    Read,
}

/// The instructions of a function and where they lead.
struct Flow<'i> {
    /// By their distance from its start.
    instructions: BTreeMap<u64, Instruction>,
    /// Where a jump table may lead: to what data refers to, or to what nothing else leads to.
    tables: Vec<u64>,
    home: &'i Section,
    start: u64,
}

impl Flow<'_> {
    /// Where an instruction leads; behind the end, or to the middle of an instruction, where that is not known.
    fn next(&self, instruction: &Instruction) -> Vec<u64> {
        let (from, to) = (self.start + instruction.ip(), self.start + instruction.next_ip());
        let target = match self.home.relocations_in(from..to).is_empty() {
            true => instruction.near_branch_target(),
            // The linker's to say.
            false => u64::MAX,
        };
        match instruction.flow_control() {
            FlowControl::Next => vec![instruction.next_ip()],
            FlowControl::UnconditionalBranch => vec![target],
            FlowControl::ConditionalBranch => vec![target, instruction.next_ip()],
            FlowControl::IndirectBranch => self.tables.clone(),
            FlowControl::Return | FlowControl::Exception | FlowControl::Interrupt => Vec::new(),
            FlowControl::Call | FlowControl::IndirectCall | FlowControl::XbeginXabortXend => Vec::new(),
        }
    }
}

/// The registers that calls keep, but for the stack pointer.
const KEPT: [iced_x86::Register; 6] = {
    use iced_x86::Register::{R12, R13, R14, R15, RBP, RBX};
    [RBX, RBP, R12, R13, R14, R15]
};

/// Parts of a register: its lowest byte, and the rest.
const LOW: u8 = 1;
const REST: u8 = 2;
const WHOLE: u8 = LOW | REST;

/// The parts of a register that an instruction reads, and those that it sets.
fn access(factory: &mut InstructionInfoFactory, instruction: &Instruction, register: iced_x86::Register) -> (u8, u8) {
    if is_made_of_nothing(instruction) && instruction.op0_register().full_register() == register {
        return (0, WHOLE);
    }
    let (mut reads, mut sets) = (0, 0);
    for used in factory.info(instruction).used_registers().iter().filter(|u| u.register().full_register() == register) {
        let high = {
            use iced_x86::Register::{AH, BH, CH, DH};
            [AH, BH, CH, DH].contains(&used.register())
        };
        let size = used.register().size();
        match used.access() {
            OpAccess::None | OpAccess::NoMemAccess => {}
            // Half a register clears the other half; less leaves it as it was.
            OpAccess::Write if size >= 4 => sets |= WHOLE,
            OpAccess::Write if !high => sets |= LOW,
            OpAccess::Write => {}
            _ if high => reads |= REST,
            _ if size == 1 => reads |= LOW,
            _ => reads |= WHOLE,
        }
    }
    (reads, sets)
}

/// Does an instruction set a whole register to what does not depend on its value: `xor r, r`, `sbb r, r` for the carry, `or r, -1`?
fn is_made_of_nothing(instruction: &Instruction) -> bool {
    if instruction.mnemonic() == Mnemonic::Or && instruction.op0_kind() == OpKind::Register {
        let ones = instruction.try_immediate(1).is_ok_and(|value| value as i32 == -1);
        return ones && instruction.op0_register().size() >= 4;
    }
    matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Sbb)
        && [instruction.op0_kind(), instruction.op1_kind()] == [OpKind::Register; 2]
        && instruction.op0_register() == instruction.op1_register()
        && instruction.op0_register().size() >= 4
}

/// Does an instruction put a whole register into the frame, and no more?
fn saves(instruction: &Instruction, register: iced_x86::Register) -> bool {
    let frame = |base| matches!(base, iced_x86::Register::RSP | iced_x86::Register::RBP);
    match instruction.mnemonic() {
        Mnemonic::Push => instruction.op0_register() == register,
        Mnemonic::Mov => {
            instruction.op0_kind() == OpKind::Memory
                && instruction.op1_register() == register
                && frame(instruction.memory_base())
                && instruction.memory_base() != register
                && instruction.memory_index() == iced_x86::Register::None
        }
        _ => false,
    }
}

/// Does an instruction put a register on the stack, or take it back?
fn moves(mnemonic: Mnemonic, instruction: &Instruction, register: iced_x86::Register) -> bool {
    instruction.mnemonic() == mnemonic && instruction.op0_register() == register
}

impl Image {
    /// The surroundings of a function that calls these functions.
    pub(crate) fn surroundings(
        &self,
        index: usize,
        code: &Code,
        called: &BTreeSet<&str>,
        objects: &BTreeMap<VarId, Object>,
    ) -> Surroundings {
        let mentioned = |(name, _): &(&String, &String)| {
            called.contains(name.as_str()) || objects.values().any(|object| object.name == **name)
        };
        let is_local = |name: &&&str| self.find(name).is_some_and(|callee| self.functions()[callee].local);
        Surroundings {
            file: Some(*self.file_digest()),
            private: self.is_private(index),
            unseen_callers: self.kind != Kind::Relocatable && self.functions()[index].local,
            local_callees: called.iter().filter(is_local).map(|name| name.to_string()).collect(),
            weak_callees: called.iter().filter(|name| self.is_weak(name)).map(|name| name.to_string()).collect(),
            hidden_callees: called.iter().filter(|name| self.is_hidden(name)).map(|name| name.to_string()).collect(),
            chained_callees: called.iter().filter(|name| self.reads_chain(name)).map(|name| name.to_string()).collect(),
            register_variable: if called.is_empty() { RegisterVariable::None } else { self.register_variable() },
            errno: self.other_errno(index, called),
            by_place: self.meant_by_place(index, code),
            versions: self.versions.iter().filter(mentioned).map(|(name, v)| (name.clone(), v.clone())).collect(),
            truth_values: self.knows_truth_values(),
            code: self.self_contained_code(index),
            table_loads: BTreeSet::new(),
            pointer_arguments: BTreeMap::new(),
            loads_once: self.loads_once(index),
            member_starts: BTreeSet::new(),
        }
    }

    /// Names that other files see of what the function's code refers to by a local name, or by its place in a section. Whoever goes by
    /// the name itself may find another file's definition there, if that comes first when a shared library is loaded.
    fn meant_by_place(&self, index: usize, code: &Code) -> BTreeSet<String> {
        let mut out: BTreeSet<String> = code.by_place.clone();
        if self.kind != Kind::Relocatable {
            return out;
        }
        for (part, _) in code.parts() {
            let entry = &self.functions()[*part];
            let section = &self.sections[entry.place.section as usize];
            let end = entry.place.offset.saturating_add(entry.size);
            for relocation in section.relocations_in(entry.place.offset..end) {
                let Some(symbol) = relocation.symbol.and_then(|s| self.symbols.get(s as usize)) else { continue };
                let Some(place) = symbol.place() else { continue };
                // Addresses relative to the next instruction are 4 bytes short, or more.
                let at = |more: i64| place.offset.wrapping_add_signed(relocation.addend.wrapping_add(more));
                let places = match symbol.name.is_empty() {
                    true => [0, 4].map(|more| Place { offset: at(more), ..place }).to_vec(),
                    false => vec![place],
                };
                let seen = places.into_iter().flat_map(|place| self.seen_elsewhere(place));
                out.extend(seen.filter(|name| **name != symbol.name).cloned());
            }
        }
        out.remove(&self.functions()[index].name);
        out
    }

    /// Names that other files see of what holds a place.
    fn seen_elsewhere(&self, place: Place) -> impl Iterator<Item = &String> {
        let start = |symbol: &u32| self.symbols[*symbol as usize].place();
        let all = || {
            let global = |i: &u32| self.symbols[*i as usize].binding == Binding::Global && start(i).is_some();
            let mut all: Vec<u32> = (0..self.symbols.len() as u32).filter(global).collect();
            all.sort_by_key(start);
            all
        };
        let all = self.visible_symbols.get_or_init(all);
        let behind = all.partition_point(|symbol| start(symbol) <= Some(place));
        let nearest = behind.checked_sub(1).and_then(|i| start(&all[i]));
        let here = all[..behind].iter().rev().take_while(move |symbol| start(symbol) == nearest);
        here.map(|symbol| &self.symbols[*symbol as usize]).filter_map(move |symbol| {
            let from = symbol.place().filter(|from| from.section == place.section)?;
            (place.offset - from.offset < symbol.size.max(1)).then_some(&symbol.name)
        })
    }

    /// Does a function call others of its file, and does one of those of the file know where `errno` is?
    fn other_errno(&self, index: usize, called: &BTreeSet<&str>) -> bool {
        let is_errno = |symbol: u32| self.symbols.get(symbol as usize).is_some_and(|s| s.name.contains("errno"));
        let knows = |i: usize| {
            let entry = &self.functions()[i];
            let end = entry.place.offset.saturating_add(entry.size);
            let section = &self.sections[entry.place.section as usize];
            let mentioned = section.relocations_in(entry.place.offset..end);
            // In a linked file calls have no names.
            self.kind != Kind::Relocatable || mentioned.iter().any(|r| r.symbol.is_some_and(is_errno))
        };
        let named = || (0..self.symbols.len() as u32).any(is_errno);
        let knowing = || (0..self.functions().len()).filter(|i| named() && knows(*i)).collect();
        called.iter().any(|name| self.find(name).is_some())
            && self.errno_functions.get_or_init(knowing).iter().any(|i| *i != index)
    }

    /// Is a name kept from other files of the program, or its definition from being replaced?
    fn is_hidden(&self, name: &str) -> bool {
        let kept = |s: &&Symbol| s.binding != Binding::Local && s.visibility != Visibility::Default;
        let hidden = || self.symbols.iter().filter(kept).map(|s| s.name.clone()).collect();
        self.hidden_names.get_or_init(hidden).contains(name)
    }

    /// Is a symbol of this name weak?
    fn is_weak(&self, name: &str) -> bool {
        let weak = || self.symbols.iter().filter(|s| s.binding == Binding::Weak).map(|s| s.name.clone()).collect();
        self.weak_names.get_or_init(weak).contains(name)
    }

    /// May a function of this file read `r10` as it arrives, or pass it on to one that does? So do nested functions; others have no
    /// business with what is there.
    fn reads_chain(&self, name: &str) -> bool {
        let Some(index) = self.find(name) else { return false };
        // What an outlined piece reads, the function around it may have written.
        let arrives = |i: usize| self.functions()[i].parent.is_none_or(|parent| self.chain(parent) == Chain::Left);
        let reads = |i: usize| self.chain(i) == Chain::Read && arrives(i);
        let reads = self.chain_readers.get_or_init(|| (0..self.functions().len()).map(reads).collect());
        reads[index] || reads.contains(&true) && self.chain(index) != Chain::Gone
    }

    /// What a function does with `r10` as it arrives.
    fn chain(&self, index: usize) -> Chain {
        let Some(flow) = self.flow(index) else { return Chain::Read };
        let mut factory = InstructionInfoFactory::new();
        let (mut open, mut seen, mut found) = (vec![(0, WHOLE)], BTreeSet::new(), Chain::Gone);
        while let Some((at, arrived)) = open.pop() {
            if !seen.insert((at, arrived)) {
                continue;
            }
            // Behind the end, or between instructions: anybody's code.
            let Some(instruction) = flow.instructions.get(&at) else {
                found = Chain::Left;
                continue;
            };
            let (reads, sets) = access(&mut factory, instruction, iced_x86::Register::R10);
            if reads & arrived != 0 {
                return Chain::Read;
            }
            let arrived = arrived & !sets;
            if arrived == 0 {
                continue;
            }
            open.extend(flow.next(instruction).into_iter().map(|next| (next, arrived)));
            found = found.max(match instruction.flow_control() {
                FlowControl::Call | FlowControl::IndirectCall | FlowControl::XbeginXabortXend => Chain::PassedOn,
                FlowControl::IndirectBranch => Chain::Left,
                _ => Chain::Gone,
            });
        }
        found
    }

    /// Is each value that a function loads for one use?
    fn loads_once(&self, index: usize) -> bool {
        let once = |d: &crate::dwarf::Described| {
            d.unoptimised && !d.moves_variables && d.loads_once() && self.debug.kept_in_memory.contains(&d.unit)
        };
        self.described(index).is_some_and(once) && self.sets_up_rbp(index)
    }

    /// Does some function of this file look at a register that calls keep as it arrives, but to save it? A variable lives there
    /// then, which every callee may look at.
    fn register_variable(&self) -> RegisterVariable {
        let functions = || (0..self.functions().len()).filter(|i| self.functions()[*i].parent.is_none());
        let most = || functions().map(|i| self.reads_kept_register(i)).max().unwrap_or_default();
        *self.register_variable.get_or_init(most)
    }

    fn reads_kept_register(&self, index: usize) -> RegisterVariable {
        let Some(flow) = self.flow(index) else { return RegisterVariable::Whole };
        let own = KEPT.map(|register| self.is_own(index, &flow, register));
        let (mut factory, mut found) = (InstructionInfoFactory::new(), RegisterVariable::None);
        // The parts that hold what they held at the entry, on some path to a place: two bits for each register.
        let (mut open, mut arrived) = (vec![(0, (1u16 << (2 * KEPT.len())) - 1)], BTreeMap::<u64, u16>::new());
        while let Some((at, parts)) = open.pop() {
            let known = arrived.entry(at).or_default();
            let mut fresh = parts & !*known;
            *known |= fresh;
            let Some(instruction) = flow.instructions.get(&at).filter(|_| fresh != 0) else { continue };
            for (i, register) in KEPT.into_iter().enumerate() {
                let (reads, mut sets) = access(&mut factory, instruction, register);
                if parts & u16::from(reads) << (2 * i) != 0 && !saves(instruction, register) {
                    found = found.max(match parts >> (2 * i) & u16::from(WHOLE) == u16::from(WHOLE) {
                        true => RegisterVariable::Whole,
                        false => RegisterVariable::Rest,
                    });
                }
                if own[i] && moves(Mnemonic::Push, instruction, register) {
                    sets = WHOLE;
                }
                fresh &= !(u16::from(sets) << (2 * i));
            }
            open.extend(flow.next(instruction).into_iter().map(|next| (next, fresh)));
        }
        found
    }

    /// Is a register that calls keep the function's own once it is saved? A compiler of C saves and restores no register that it has
    /// given to a variable of the program: gcc uses it for nothing else, and clang has none but `rsp` and `rbp`. What is read
    /// there was never set then, and means nothing. Conventions in which clang passes arguments in kept registers (`swiftcall`,
    /// `regcall`, `preserve_none`) leave out `rbx` and `rbp`. What is pushed and never popped is an argument.
    fn is_own(&self, index: usize, flow: &Flow, register: iced_x86::Register) -> bool {
        use iced_x86::Register::{RBP, RBX};
        let by_clang = self.described(index).is_some_and(|described| described.producer == Producer::Clang);
        let popped = || flow.instructions.values().any(|i| moves(Mnemonic::Pop, i, register));
        self.is_compiled_c(index) && (!by_clang || [RBX, RBP].contains(&register)) && popped()
    }

    /// Has a compiler that is known made the function, from C?
    fn is_compiled_c(&self, index: usize) -> bool {
        self.described(index).is_some_and(|described| described.is_c && described.producer != Producer::Other)
    }

    /// The code of a function, to be followed.
    fn flow(&self, index: usize) -> Option<Flow<'_>> {
        let entry = &self.functions()[index];
        let (start, end) = (entry.place.offset as usize, entry.place.offset.saturating_add(entry.size) as usize);
        let code = self.data(entry.place.section).get(start..end)?;
        let instructions: BTreeMap<u64, Instruction> =
            Decoder::new(64, code, DecoderOptions::NONE).into_iter().map(|i| (i.ip(), i)).collect();
        let here = |(_, to, _): &(Place, Place, _)| {
            to.offset.checked_sub(entry.place.offset).filter(|_| to.section == entry.place.section)
        };
        let labels = self.code_labels().iter().filter_map(here).filter(|at| *at < entry.size);
        let ends = |i: &&Instruction| {
            matches!(
                i.flow_control(),
                FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::Return
            )
        };
        let alone = instructions.values().filter(ends).map(Instruction::next_ip);
        let home = &self.sections[entry.place.section as usize];
        // A function's first instruction is its name; every other place in code may be a target, or a table of them.
        let elsewhere = |r: &Relocation, next: u64| {
            let more = match r.meaning() {
                Meaning::Absolute => r.addend,
                // Distances count from the next instruction.
                Meaning::Relative => r.addend.wrapping_add_unsigned(next - r.offset),
                _ => 0,
            };
            let place = r.symbol.and_then(|s| self.symbols.get(s as usize)?.place());
            let place = place.filter(|place| self.sections[place.section as usize].is_code());
            place.is_some_and(|from| {
                let to = Place { offset: from.offset.wrapping_add_signed(more), ..from };
                self.function_at(to).is_none()
            })
        };
        // Tables in the data of object files name their targets. Where there is none, or the code makes addresses of its own, a
        // jump may lead to whatever nothing runs into.
        let made = |i: &Instruction| {
            let (from, next) = (entry.place.offset + i.ip(), entry.place.offset + i.next_ip());
            let named = home.relocations_in(from..next);
            let address = i.is_ip_rel_memory_operand() && named.is_empty() && {
                let to = Place { offset: entry.place.offset.wrapping_add(i.ip_rel_memory_address()), ..entry.place };
                self.function_at(to).is_none()
            };
            let direct = matches!(
                i.flow_control(),
                FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
            );
            !direct && (address || named.iter().any(|r| elsewhere(r, next)))
        };
        let mut tables: Vec<u64> = labels.collect();
        let unlisted = tables.is_empty() && !self.is_compiled_c(index);
        if self.kind != Kind::Relocatable || unlisted || instructions.values().any(made) {
            tables.extend(alone);
        }
        Some(Flow { instructions, tables, home, start: entry.place.offset })
    }

    /// Is the function called from its file only?
    fn is_private(&self, index: usize) -> bool {
        let private =
            || self.statics().into_iter().filter(|f| f.function && !f.address_taken).map(|f| f.name).collect();
        let entry = &self.functions()[index];
        entry.local && self.private_functions.get_or_init(private).contains(&entry.name)
    }

    /// Could memory hold values of a type that is only 0 or 1?
    pub(crate) fn knows_truth_values(&self) -> bool {
        *self.truth_values.get_or_init(|| self.has_truth_values())
    }

    fn has_truth_values(&self) -> bool {
        let data = |name: &str| self.sections().iter().position(|s| s.name == name).map(|i| self.data(i as u32));
        let mentions = |data: &[u8]| data.windows(5).any(|w| w == b"_Bool");
        match data(".debug_info") {
            Some(info) => mentions(info) || data(".debug_str").is_some_and(mentions),
            None => true,
        }
    }

    /// The code, if it is in one piece and nothing in it depends on where it lies.
    fn self_contained_code(&self, index: usize) -> Option<std::sync::Arc<[u8]>> {
        let entry = &self.functions()[index];
        let pieces = self.functions().iter().any(|f| f.parent == Some(index));
        let section = self.sections().get(entry.place.section as usize)?;
        let end = entry.place.offset.checked_add(entry.size)?;
        let relocated = section.relocations.iter().any(|r| (entry.place.offset..end).contains(&r.offset));
        if self.kind != Kind::Relocatable
            || pieces
            || relocated
            || !entry.sized
            || entry.size == 0
            || entry.size > LONGEST
        {
            return None;
        }
        let code = self.data(entry.place.section).get(entry.place.offset as usize..end as usize)?;
        Some(code.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled};
    use program::RegisterVariable;

    /// Two blocks behind a jump through a table in the data; the second reads `rbx`, and only a call leads there.
    fn jumps(before: &str, table: &str) -> bool {
        let image = assembled(&format!(
            ".type h, @function\nh: ret\n.size h, . - h\n.globl f\n.type f, @function\nf: push rbx\n{before}\ncmp edi, 1\nja 2f\nmov edi, edi\njmp [{table} + 8*rdi]
             1: mov ebx, esi\ncall g\njmp 3f\n2: xor eax, eax\n3: pop rbx\nret\n4: mov eax, ebx\njmp 3b\n.size f, . - f
             .section .rodata\n.Lt: .quad 1b, 2b"
        ));
        image.register_variable() != RegisterVariable::None
    }

    #[test]
    fn tables_in_data_name_their_targets() {
        assert!(!jumps("", ".Lt"));
        assert!(jumps("lea rax, [rip + 4f]", ".Lt"));
        assert!(jumps("mov eax, OFFSET 4f", ".Lt"));
        assert!(jumps("", "f + 3"));
        // The start of another function is no place that the jump leads to; a place in it may be.
        assert!(!jumps("mov eax, OFFSET h", ".Lt"));
        assert!(!jumps("lea rax, [rip + h]", ".Lt"));
        assert!(jumps("mov eax, OFFSET h - 1", ".Lt"));
        assert!(jumps("lea rax, [rip + h + 4]", ".Lt"));
    }

    /// A function that a compiler of C is said to have made.
    fn compiled_as(text: &str, compiler: &str) -> RegisterVariable {
        let text = format!("__attribute__((naked)) long f(long a) {{ asm(\"{text}\"); }}");
        compiled(&text, &format!("{compiler} -c -g -O2 -masm=intel")).register_variable()
    }

    #[test]
    fn what_a_compiler_saves_and_restores_is_no_variable() {
        let [gcc, clang] = ["gcc", "clang-19"];
        let saved = "push rbx; mov rax, rbx; pop rbx; ret";
        assert_eq!(compiled_as(saved, gcc), RegisterVariable::None);
        assert_eq!(compiled_as(saved, clang), RegisterVariable::None);
        // On another way it is not saved; what is not taken back is an argument; a store is none.
        assert_eq!(
            compiled_as("test edi, edi; je 1f; push rbx; pop rbx; 1: mov rax, rbx; ret", gcc),
            RegisterVariable::Whole
        );
        assert_eq!(compiled_as("push rbx; mov rax, rbx; pop rcx; ret", gcc), RegisterVariable::Whole);
        assert_eq!(compiled_as("mov [rsp - 8], rbx; mov rax, rbx; pop rbx; ret", gcc), RegisterVariable::Whole);
        // Arguments of some conventions that clang has.
        let saved = "push r13; mov rax, r13; pop r13; ret";
        assert_eq!(compiled_as(saved, gcc), RegisterVariable::None);
        assert_eq!(compiled_as(saved, clang), RegisterVariable::Whole);
        // Nobody says who wrote it.
        let written = assembled(&format!(".globl f\n.type f, @function\nf: {saved}\n.size f, . - f"));
        assert_eq!(written.register_variable(), RegisterVariable::Whole);
    }

    #[test]
    fn a_jump_of_compiled_code_without_a_table_leaves_the_function() {
        let text = "test edi, edi; je 1f; jmp rsi; 1: xor eax, eax; ret; mov rax, rbx; ret";
        assert_eq!(compiled_as(text, "gcc"), RegisterVariable::None);
        let made = text
            .replace("jmp rsi", "lea rax, [rip + 1b]; jmp rax")
            .replace("1b", "2f")
            .replace("ret; mov", "ret; 2: mov");
        assert_eq!(compiled_as(&made, "gcc"), RegisterVariable::Whole);
        let written = assembled(&format!(".globl f\n.type f, @function\nf: {text}\n.size f, . - f"));
        assert_eq!(written.register_variable(), RegisterVariable::Whole);
    }

    #[test]
    fn a_register_that_is_made_of_nothing_is_not_read() {
        let found = |text: &str| {
            assembled(&format!(".globl f\n.type f, @function\nf: push r12\n{text}\npop r12\nret\n.size f, . - f"))
                .register_variable()
        };
        let reads = |text: &str| found(text) != RegisterVariable::None;
        assert!(!reads("cmp edi, 1\nsbb r12, r12\nmov rax, r12"));
        assert!(!reads("xor r12d, r12d\nmov rax, r12"));
        assert!(reads("xor r12b, r12b\nmov rax, r12"));
        assert!(!reads("sete r12b\nmovzx eax, r12b"));
        assert!(reads("sete r12b\nmovzx eax, r12w"));
        assert!(reads("sete bh\nmovzx eax, bl"));
        assert!(!reads("sete bl\nmovzx eax, bl"));
        assert!(reads("sbb r12, rdi\nmov rax, r12"));
        assert!(!reads("or r12, -1\nmov rax, r12"));
        assert!(reads("or r12, 1\nmov rax, r12"));
        assert_eq!(found("mov rax, r12"), RegisterVariable::Whole);
        assert_eq!(found("sete r12b\nmov eax, r12d"), RegisterVariable::Rest);
        assert_eq!(found("sete r12b\nmov eax, r12d\nmov rax, r13"), RegisterVariable::Whole);
    }
}
