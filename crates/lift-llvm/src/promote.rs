//! Local variables whose address nobody takes become registers.
//!
//! A variable of a scalar type qualifies if every mention of its address is a read or write of just that type, or says where its life
//! begins or ends.

use ir::{End, Function, Inst, Kind};
use rustc_hash::FxHashMap;

/// The registers that an instruction reads.
pub(crate) fn operands(inst: &Inst) -> Vec<u32> {
    match inst {
        Inst::Read { from, .. } | Inst::Write { from, .. } | Inst::Restore { from } => vec![*from],
        Inst::Forget { .. } | Inst::Save { .. } | Inst::Trap => Vec::new(),
        Inst::ForgetAt { at } | Inst::Load { at, .. } => vec![*at],
        Inst::Store { at, from, .. } => vec![*at, *from],
        Inst::Reserve { count, .. } => count.iter().copied().collect(),
        Inst::Address { base, terms, .. } => terms.iter().map(|(r, ..)| *r).chain([*base]).collect(),
        Inst::Integer { a, b, .. } | Inst::Float { a, b, .. } | Inst::Compare { a, b, .. } => vec![*a, *b],
        Inst::Negate { a, .. } | Inst::Convert { a, .. } => vec![*a],
        Inst::Select { cond, a, b, .. } => vec![*cond, *a, *b],
        Inst::Call { arguments, .. } => arguments.clone(),
    }
}

/// The registers that the end of a block reads.
pub(crate) fn end_operands(end: &End) -> Vec<u32> {
    let moved = |edges: &[ir::Edge]| edges.iter().flat_map(|e| e.moves.iter().map(|(_, from)| *from)).collect();
    match end {
        End::Jump(edge) => moved(std::slice::from_ref(edge)),
        End::Branch(cond, edges) => {
            let mut list: Vec<u32> = moved(edges.as_slice());
            list.push(*cond);
            list
        }
        End::Switch(on, _, edges) => {
            let mut list: Vec<u32> = moved(edges);
            list.push(*on);
            list
        }
        End::Return(result) => result.iter().copied().collect(),
        End::Unreachable => Vec::new(),
    }
}

/// Makes registers of local variables.
pub(crate) fn promote(function: &mut Function) {
    // Variables, the kind that they are used with, and whether they qualify.
    let mut found: FxHashMap<u32, Option<Kind>> = FxHashMap::default();
    for inst in function.blocks.iter().flat_map(|b| &b.code) {
        if let Inst::Reserve { to, bytes, count: None, .. } = inst
            && matches!(bytes, 1 | 2 | 4 | 8)
        {
            found.insert(*to, None);
        }
    }
    let mut sizes: FxHashMap<u32, u64> = FxHashMap::default();
    for inst in function.blocks.iter().flat_map(|b| &b.code) {
        match inst {
            Inst::Reserve { to, bytes, .. } => {
                sizes.insert(*to, *bytes);
            }
            Inst::Load { at, kind, .. } => note(&mut found, *at, *kind),
            Inst::Store { at, from, kind } => {
                found.remove(from);
                note(&mut found, *at, *kind);
            }
            Inst::ForgetAt { .. } => {}
            other => operands(other).iter().for_each(|register| {
                found.remove(register);
            }),
        }
    }
    for register in function.blocks.iter().flat_map(|b| end_operands(&b.end)) {
        found.remove(&register);
    }
    let kinds: FxHashMap<u32, Kind> = found
        .into_iter()
        .filter_map(|(register, kind)| Some((register, kind?)))
        .filter(|(register, kind)| sizes.get(register) == Some(&u64::from(kind.bytes())))
        .collect();
    for block in &mut function.blocks {
        block.code.retain(|inst| !matches!(inst, Inst::Reserve { to, .. } if kinds.contains_key(to)));
        for inst in &mut block.code {
            match *inst {
                Inst::Load { to, at, .. } if kinds.contains_key(&at) => *inst = Inst::Read { to, from: at },
                Inst::Store { at, from, .. } if kinds.contains_key(&at) => *inst = Inst::Write { to: at, from },
                Inst::ForgetAt { at } if kinds.contains_key(&at) => *inst = Inst::Forget { to: at },
                _ => {}
            }
        }
    }
    for (register, kind) in kinds {
        function.registers[register as usize] = kind;
    }
}

/// A plain access: all of them must have one kind.
fn note(found: &mut FxHashMap<u32, Option<Kind>>, register: u32, kind: Kind) {
    match found.get_mut(&register) {
        Some(known @ None) => *known = Some(kind),
        Some(Some(known)) if *known != kind => {
            found.remove(&register);
        }
        _ => {}
    }
}
