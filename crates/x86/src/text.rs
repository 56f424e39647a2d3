//! Instructions as text that the GNU assembler reads, in either syntax.
//!
//! Addresses that a linker fills in are terms in our form; whoever prints an instruction says what they are called.

use crate::encode::{self, EncodeError};
use crate::{Immediate, Instruction, Memory, Operand};
use iced_x86::{self as iced, Formatter, SymbolResolver, SymbolResult};
use term::TermId;

/// How operands are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// Destination first, after `.intel_syntax noprefix`.
    Intel,
    /// Destination last, the assembler's default.
    Att,
}

/// What addresses are called.
pub trait Names {
    /// The assembler's expression for the address that a relocation gives.
    fn symbol(&self, symbol: TermId) -> Option<String>;
    /// The label at an address of the code, for branches and for data that is addressed relative to the code.
    fn target(&self, address: u64) -> Option<String>;
}

/// No address has a name.
pub struct Nameless;

impl Names for Nameless {
    fn symbol(&self, _: TermId) -> Option<String> {
        None
    }

    fn target(&self, _: u64) -> Option<String> {
        None
    }
}

/// The instruction as one line for the assembler, without the end of the line.
pub fn text(instruction: &Instruction, syntax: Syntax, names: &dyn Names) -> Result<String, EncodeError> {
    let unresolved = || EncodeError::Unresolved(instruction.to_string());
    let mut plain = instruction.clone();
    let mut named = Named { memory: None, immediate: None };
    for operand in &mut plain.operands {
        match operand {
            Operand::Memory(memory) => {
                named.memory = name_memory(memory, names).ok_or_else(unresolved)?;
            }
            Operand::Immediate(immediate) => {
                if let Some(name) = name_immediate(immediate, names).ok_or_else(unresolved)? {
                    named.immediate = Some(name);
                }
            }
            Operand::Register(_) => {}
        }
    }
    let branch = !matches!(instruction.flow(), crate::Flow::Next);
    if let (true, Some(Operand::Immediate(immediate))) = (branch, plain.operands.first()) {
        let name = named.immediate.take().map(|(name, _)| name).or_else(|| names.target(immediate.value.low()));
        named.immediate = Some((name.ok_or_else(unresolved)?, immediate.value.low()));
    }
    let (raw, bytes) = encode::raw(&plain, 0)?;
    if has_no_spelling(instruction) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
        return Ok(format!(".byte {}", bytes.join(", ")));
    }
    Ok(write(&raw, syntax, named))
}

/// The assembler has no name for a `movsxd` that extends nothing, and takes `push` of a constant for one of 64 bits.
fn has_no_spelling(instruction: &Instruction) -> bool {
    match instruction.mnemonic.name() {
        "movsxd" => instruction.width != 64,
        "push" => instruction.width == 16 && matches!(instruction.operands[..], [Operand::Immediate(_)]),
        _ => false,
    }
}

type Name = Option<(String, u64)>;

/// Gives a memory operand a displacement that the formatter replaces by a name; the outer `None` is for an address
/// that has no name.
fn name_memory(memory: &mut Memory, names: &dyn Names) -> Option<Name> {
    let displacement = memory.displacement as u64;
    if memory.rip_relative {
        return names.target(displacement).map(|name| Some((name, displacement)));
    }
    let Some(symbol) = memory.symbol.take() else { return Some(None) };
    // Without registers the address is taken relative to the code, which links at any place.
    memory.rip_relative = memory.base.is_none() && memory.index.is_none() && memory.segment.is_none();
    names.symbol(symbol).map(|name| Some((name, 0)))
}

fn name_immediate(immediate: &mut Immediate, names: &dyn Names) -> Option<Name> {
    let Some(symbol) = immediate.symbol.take() else { return Some(None) };
    names.symbol(symbol).map(|name| Some((name, 0)))
}

fn write(raw: &iced::Instruction, syntax: Syntax, named: Named) -> String {
    let mut out = String::new();
    let resolver = Some(Box::new(named) as Box<dyn SymbolResolver>);
    match syntax {
        Syntax::Att => {
            let mut formatter = iced::GasFormatter::with_options(resolver, None);
            formatter.options_mut().set_rip_relative_addresses(true);
            formatter.options_mut().set_gas_show_mnemonic_size_suffix(true);
            formatter.format(raw, &mut out);
        }
        Syntax::Intel => {
            let mut formatter = iced::IntelFormatter::with_options(resolver, None);
            let options = formatter.options_mut();
            options.set_rip_relative_addresses(true);
            options.set_hex_prefix("0x");
            options.set_hex_suffix("");
            options.set_show_branch_size(false);
            options.set_memory_size_options(iced::MemorySizeOptions::Always);
            formatter.format(raw, &mut out);
        }
    }
    out
}

/// The names of one instruction's operands, each with the address that it stands for.
struct Named {
    memory: Name,
    immediate: Name,
}

impl SymbolResolver for Named {
    fn symbol(
        &mut self,
        raw: &iced::Instruction,
        _: u32,
        operand: Option<u32>,
        _: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let in_memory = raw.op_kind(operand?) == iced::OpKind::Memory;
        let (name, address) = if in_memory { self.memory.as_ref() } else { self.immediate.as_ref() }?;
        Some(SymbolResult::with_str(*address, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bytes;
    use crate::{Condition, decode};
    use expect_test::expect;
    use term::{Arena, Sort};

    struct One(TermId);

    impl Names for One {
        fn symbol(&self, symbol: TermId) -> Option<String> {
            (symbol == self.0).then(|| "table".to_string())
        }

        fn target(&self, address: u64) -> Option<String> {
            Some(format!(".L{address:x}"))
        }
    }

    #[test]
    fn addresses_are_printed_by_name() {
        let mut arena = Arena::new();
        let symbol = arena.fresh("table", Sort::Bv(64));
        let mut out = String::new();
        for case in ["8b 04 25 10 00 00 00", "8b 04 8d 10 00 00 00", "bf 04 00 00 00", "75 0e", "48 8d 05 08 00 00 00"]
        {
            let mut instruction = decode(&bytes(case), 0).unwrap().instruction;
            let last = instruction.operands.len() - 1;
            match &mut instruction.operands[last] {
                Operand::Memory(memory) if !memory.rip_relative => memory.symbol = Some(symbol),
                Operand::Immediate(immediate) if instruction.condition.is_none() => immediate.symbol = Some(symbol),
                _ => {}
            }
            for syntax in [Syntax::Att, Syntax::Intel] {
                out.push_str(&format!("{}\n", text(&instruction, syntax, &One(symbol)).unwrap()));
            }
        }
        expect![[r#"
            movl table+0x10(%rip),%eax
            mov eax,dword ptr [rip+table+0x10]
            movl table+0x10(,%rcx,4),%eax
            mov eax,dword ptr [rcx*4+table+0x10]
            movl $table+4,%edi
            mov edi,table+4
            jne .L10
            jne .L10
            leaq .Lf(%rip),%rax
            lea rax,[rip+.Lf]
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn an_address_without_a_name_is_an_error() {
        let jump = decode(&bytes("75 0e"), 0).unwrap().instruction;
        assert_eq!(jump.condition.map(Condition::suffix), Some("ne"));
        assert!(matches!(text(&jump, Syntax::Att, &Nameless), Err(EncodeError::Unresolved(_))));
    }
}
