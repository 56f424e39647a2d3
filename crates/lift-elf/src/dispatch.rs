//! Where a computed jump goes: jump tables of compilers, labels whose addresses are taken, or a tail call.
//!
//! The target is a term over the state at the start of the jump's block. It is a table dispatch if it is a loaded
//! 8-byte word (absolute table) or a loaded, sign-extended 4-byte word plus the table's address (relative table),
//! and the load's address is a constant address in read-only data plus 8 or 4 times an index. Where the
//! table's address comes from an earlier block, every definition that reaches the block must agree. The number of entries
//! is the upper bound that the conditions on the way to the jump give the index; without one, the extent of
//! the table: its symbol's size, or as long as entries are addresses of this function's code. Too long a table adds edges
//! that are never taken.
//!
//! If this is wrong, the graph has wrong edges: everything is derived, nothing is matched by the look of code.

use crate::blocks::{Block, End};
use crate::code::{Code, Exit};
use crate::container::Place;
use crate::labels::Reference;
use crate::layout::{Base, Location};
use crate::paths::{MAX_WORK, Predecessors, bound_on_all, is_narrow};
use crate::values::{self, Values};
use crate::{Error, Image};
use program::{Op, Register};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeMap;
use term::{Arena, Bits, Linear, Op as TermOp, TermId, VarId};

/// Entries of one table, at most.
const MAX_ENTRIES: u64 = 1 << 14;
/// Edges of all computed jumps of a function, at most.
const MAX_EDGES: usize = 1 << 18;
/// Labels of a function whose addresses are taken, at most.
const MAX_LABELS: usize = 1 << 10;

/// Where a computed jump goes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Dispatch {
    /// Through a table: copies of values that the index is made of, to be made at positions of the block, then
    /// the index, then the target of each entry of `scale` bytes. `bounded` if the index cannot exceed 2^60.
    Table { table: Place, copies: Vec<(usize, Op)>, index: TermId, entries: Vec<Place>, scale: u64, bounded: bool },
    /// To one of these labels if the target is its address, else out of the function.
    Labels(Vec<(Location, Place)>),
    /// Out of the function.
    TailCall,
}

impl Dispatch {
    /// Places of this graph that the jump reaches.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Dispatch::Table { entries, .. } => entries.clone(),
            Dispatch::Labels(labels) => labels.iter().map(|(_, place)| *place).collect(),
            Dispatch::TailCall => Vec::new(),
        }
    }
}

/// What the analysis of a function's computed jumps works on.
pub(crate) struct Dispatcher<'a, 'b> {
    pub image: &'a Image,
    pub code: &'a Code<'b>,
    pub blocks: &'a BTreeMap<Place, Block>,
    /// What is known so far, by the leader of the jump's block.
    pub known: &'a BTreeMap<Place, Dispatch>,
    /// Variables of objects, by the variable: to read addresses back out of terms.
    pub bases: &'a FxHashMap<VarId, Base>,
    /// Places inside the function whose addresses the function itself takes.
    pub taken: &'a [Place],
    /// Blocks executed so far.
    pub work: Cell<usize>,
}

impl Dispatcher<'_, '_> {
    /// Analyses all computed jumps.
    pub fn run(&self, arena: &mut Arena) -> Result<BTreeMap<Place, Dispatch>, Error> {
        let mut out = BTreeMap::new();
        let mut others = Vec::new();
        let predecessors = self.predecessors();
        for (leader, block) in self.blocks {
            if let End::Exit { exit: Exit::Computed, term: Some(target), .. } = &block.end {
                match self.table(arena, &predecessors, *leader, block, *target)? {
                    Some(table) => {
                        out.insert(*leader, table);
                    }
                    None => others.push(*leader),
                }
            }
        }
        if !others.is_empty() {
            let labels = self.labels(&out)?;
            if labels.len() > MAX_LABELS || self.work.get() > MAX_WORK {
                return Err(self.code.gap(self.code.entry(), "computed jump", "jumps to too many labels"));
            }
            for leader in others {
                let dispatch = if labels.is_empty() { Dispatch::TailCall } else { Dispatch::Labels(labels.clone()) };
                out.insert(leader, dispatch);
            }
        }
        if out.values().map(|dispatch| dispatch.places().len()).sum::<usize>() > MAX_EDGES {
            return Err(self.code.gap(self.code.entry(), "computed jump", "jumps with too many targets"));
        }
        Ok(out)
    }

    /// Labels of this function whose addresses are taken, jump tables apart: where a `goto *p` may go.
    fn labels(&self, tables: &BTreeMap<Place, Dispatch>) -> Result<Vec<(Location, Place)>, Error> {
        let in_table = |field: Place| {
            tables.values().any(|dispatch| match dispatch {
                Dispatch::Table { table, entries, scale, .. } => {
                    let size = entries.len() as u64 * scale;
                    field.section == table.section && field.offset.wrapping_sub(table.offset) < size
                }
                _ => false,
            })
        };
        let mut places = self.taken.to_vec();
        for (field, target, reference) in self.image.code_labels() {
            if self.code.part_of(*target).is_none() || in_table(*field) {
                continue;
            }
            match reference {
                Reference::Pointer if self.image.function_at(*target).is_some() => {}
                Reference::Pointer => places.push(*target),
                Reference::Distance => {
                    let text = "a jump table that no jump was seen to use, and a jump of unknown target";
                    return Err(self.code.gap(self.code.entry(), "jump table", text));
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok(places.into_iter().map(|place| (self.image.code_location(place), place)).collect())
    }

    fn table(
        &self,
        arena: &mut Arena,
        predecessors: &Predecessors,
        leader: Place,
        block: &Block,
        target: TermId,
    ) -> Result<Option<Dispatch>, Error> {
        let mut inside = Values::default();
        inside.run(arena, &block.ops);
        let target = inside.get(arena, target);
        let Some((load, rest)) = split_target(arena, &inside, target) else {
            return self.refuse_split_table(arena, predecessors, leader, block, target);
        };
        let (address, bytes, _) = inside.loads[&load];
        let scale = u64::from(bytes);
        // A distance from a table is never a function pointer: it must be understood.
        let unknown = |what: &str| match rest {
            Some(_) => Err(self.code.gap(block.last, "jump table", format!("a jump table {what}"))),
            None => Ok(None),
        };
        // The state at the start of the block, on each way to it as far as the blocks before it decide it.
        let ways = self.ways(arena, predecessors, leader, &inside, block);
        let before = match &ways[..] {
            [only] => only.values.clone(),
            _ => Values::default(),
        };
        let Some((table, index)) = self.split_address(arena, predecessors, leader, &before, address, scale) else {
            return unknown("at an unknown place");
        };
        let origin = match rest {
            None => None,
            Some(rest) => match self.constant(arena, predecessors, leader, &before, rest) {
                Some(location) => Some(location),
                None => return unknown("relative to an unknown place"),
            },
        };
        let mut bound = bound_on_all(arena, &ways, index);
        let mut count = bound;
        if bound.is_none() {
            // The condition may be about the lower half of a register whose upper half is zero from long before, or at
            // least from the entry's being inside the table.
            let low = arena.truncate(index, 32);
            count = bound_on_all(arena, &ways, low).filter(|b| *b < u64::from(u32::MAX));
            if let (Some(_), Some(register)) = (count, arena.as_var(index))
                && self.reaching(arena, predecessors, leader, register, &is_narrow).is_some()
            {
                bound = count;
            }
        }
        // A bound that only the width gives says nothing about the table's length.
        let by_width = values::upper_bound(arena, index, &FxHashMap::default());
        let proved = count.filter(|c| by_width.is_none_or(|width| *c < width));
        let place = self.image.place_of(table);
        let Some(place) = place.filter(|p| self.image.sections[p.section as usize].is_read_only()) else {
            return unknown("in writable data");
        };
        let entries = self.entries(block, place, origin, scale, [count, proved])?;
        if entries.is_empty() {
            return unknown("without entries");
        }
        let Some((copies, index)) = self.copy_atoms(arena, &inside, block, index) else {
            return Err(self.code.gap(block.last, "jump table", "a jump table whose index is not known at the jump"));
        };
        let bounded = bound.is_some_and(|b| b < 1 << 60);
        Ok(Some(Dispatch::Table { table: place, copies, index, entries, scale, bounded }))
    }

    /// A target whose table entry is loaded in an earlier block is not understood; it is no tail call either.
    fn refuse_split_table(
        &self,
        arena: &mut Arena,
        predecessors: &Predecessors,
        leader: Place,
        block: &Block,
        target: TermId,
    ) -> Result<Option<Dispatch>, Error> {
        let mut values = Values::default();
        for (from, _) in self.chain(predecessors, leader) {
            values.run(arena, &self.blocks[&from].ops);
        }
        let target = values.get(arena, target);
        match split_target(arena, &values, target) {
            Some((_, Some(_))) => Err(self.code.gap(block.last, "jump table", "a jump table read in an earlier block")),
            _ => Ok(None),
        }
    }

    /// Splits the address of a table entry into the table's constant address and the index.
    fn split_address(
        &self,
        arena: &mut Arena,
        predecessors: &Predecessors,
        leader: Place,
        before: &Values,
        address: TermId,
        scale: u64,
    ) -> Option<(Location, TermId)> {
        let linear = Linear::of(arena, address);
        let mut base: Option<(usize, Location)> = None;
        for (i, (term, factor)) in linear.terms.iter().enumerate() {
            if factor.to_u64() == Some(1)
                && let Some(location) = self.constant(arena, predecessors, leader, before, *term)
                && location.base != Base::Number
            {
                base = Some((i, location));
                break;
            }
        }
        let (i, location) = base?;
        let mut rest = linear.clone();
        rest.terms.remove(i);
        rest.constant = Bits::zero(64);
        // Every factor must be a multiple of the entries' size. A factor 1 may hide it in an earlier block.
        let unit = Bits::new(64, scale);
        for (_, factor) in &mut rest.terms {
            let quotient = factor.udiv(unit);
            if quotient.mul(unit) != *factor {
                return None;
            }
            *factor = quotient;
        }
        let offset = location.offset.wrapping_add(linear.constant.low() as i64);
        Some((Location { offset, ..location }, rest.build(arena)))
    }

    /// Targets of a table's entries, up to the bound or as far as the table reaches. Up to a proved bound there must be
    /// no other entry.
    fn entries(
        &self,
        block: &Block,
        table: Place,
        origin: Option<Location>,
        scale: u64,
        [bound, proved]: [Option<u64>; 2],
    ) -> Result<Vec<Place>, Error> {
        let size = self.image.sections[table.section as usize].size;
        let end = match self.image.layout.extent(table) {
            Some(extent) if matches!(extent.base, Base::Symbol(_)) && extent.sized => extent.start + extent.size,
            _ => size,
        };
        let room = end.saturating_sub(table.offset) / scale;
        // An exact length: a proved bound, or the size that the file gives.
        let exact = proved.is_some_and(|b| b < room) || end != size;
        let limit = bound.map_or(room, |b| room.min(b.saturating_add(1)));
        let mut out = Vec::new();
        for k in 0..limit {
            if k >= MAX_ENTRIES {
                return Err(self.code.gap(block.last, "jump table", "a jump table of too many entries"));
            }
            let at = Place { offset: table.offset + scale * k, ..table };
            let target = match scale {
                8 => self.image.code_pointer(at),
                4 => origin.and_then(|origin| self.image.relative_code_pointer(at, origin)),
                _ => None,
            };
            match target.filter(|t| self.code.may_reach(*t)) {
                Some(target) => out.push(target),
                None if k > 0 && (exact || self.leads_out(table, at, scale, target)) => {
                    return Err(self.code.gap(block.last, "jump table", "a jump table that leads out of the function"));
                }
                // Past the end of a table of unknown length.
                None => break,
            }
        }
        Ok(out)
    }

    /// Does what follows the entries of a table of unknown length lead to other code? A pointer that does ends the table only
    /// where something else begins: a named object, or what code refers to by itself.
    fn leads_out(&self, table: Place, at: Place, scale: u64, target: Option<Place>) -> bool {
        let is_code = |place: Place| self.image.sections[place.section as usize].is_code();
        let section = &self.image.sections[at.section as usize];
        let relocated = !section.relocations_in(at.offset..at.offset.saturating_add(scale)).is_empty();
        let outside = target.map_or(relocated, is_code);
        let home = |place: Place| self.image.layout.extent(place).map(|extent| extent.base);
        let named = matches!(home(at), Some(Base::Symbol(_))) && home(at) != home(table);
        outside && !named && !self.image.is_mentioned_by_code(at)
    }

    /// Copies of the values that the index is made of, so that it can be read at the end of the block.
    fn copy_atoms(
        &self,
        arena: &mut Arena,
        inside: &Values,
        block: &Block,
        index: TermId,
    ) -> Option<(Vec<(usize, Op)>, TermId)> {
        let mut copies = Vec::new();
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for var in arena.free_vars(index) {
            if self.bases.contains_key(&var) {
                continue;
            }
            let (position, source) = match inside.loads.get(&var) {
                Some((_, _, position)) => match &block.ops.get(*position)?.1 {
                    Op::Load { var, .. } => (*position + 1, *var),
                    _ => return None,
                },
                None => (0, Register::of_var(var).map(|_| var)?),
            };
            let term = arena.var_term(var);
            let sort = arena.sort(term);
            let width = sort.width()?;
            let copy = arena.var(&format!("switch{width}.{}", copies.len()), sort);
            let value = arena.var_term(source);
            copies.push((position, Op::Set { var: arena.as_var(copy)?, value }));
            map.insert(term, copy);
        }
        let index = arena.replace(index, &map);
        Some((copies, index))
    }
}

/// The variable of the loaded table entry in a jump's target, and what is added to it.
fn split_target(arena: &mut Arena, values: &Values, target: TermId) -> Option<(VarId, Option<TermId>)> {
    let loaded = |var: VarId, bytes: u16| values.loads.get(&var).is_some_and(|(_, size, _)| *size == bytes);
    if let Some(var) = arena.as_var(target).filter(|var| loaded(*var, 8)) {
        return Some((var, None));
    }
    let linear = Linear::of(arena, target);
    let (i, var) = linear.terms.iter().enumerate().find_map(|(i, (term, factor))| {
        let var = match arena.op(*term) {
            TermOp::Sext(64) => arena.as_var(arena.arg(*term, 0))?,
            _ => return None,
        };
        (factor.to_u64() == Some(1) && loaded(var, 4)).then_some((i, var))
    })?;
    let mut rest = linear;
    rest.terms.remove(i);
    Some((var, Some(rest.build(arena))))
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled, lifted, shown};
    use expect_test::{Expect, expect};
    use program::Next;

    fn lifts_to(text: &str, expect: Expect) {
        expect.assert_eq(&shown(&assembled(text), "f"));
    }

    #[test]
    fn an_absolute_table_with_a_bound() {
        lifts_to(
            ".globl f\nf: cmp edi, 2\nja 9f\nmov eax, edi\njmp [table + rax*8]\n1: mov eax, 5\nret\n2: mov eax, 6\nret\n9: ret
             .section .rodata\ntable: .quad 1b, 2b, 1b, 2b",
            expect![[r#"
                0: at 0x0
                   -> 4 if !cf && !zf
                   -> 1 if cf || zf
                1: at 0x5
                   switch64.0 := rdi
                   rax := zext64(rdi[31:0])
                   t64.0 := 8 at 8*rax + &table@8181382d6bcb300785b77d115d2f9d01
                   -> 2 if switch64.0[31:0] == 0 || switch64.0[31:0] == 2
                   -> 3 if switch64.0[31:0] == 1
                   -> 5 if switch64.0[31:0] >=u 3
                2: at 0xe
                   rax := 5
                   return
                3: at 0x14
                   rax := 6
                   return
                4: at 0x1a
                   return
                5: at 0x7
                   fault OffTheEnd
            "#]],
        );
    }

    #[test]
    fn a_relative_table_whose_index_register_is_overwritten() {
        lifts_to(
            ".globl f\nf: lea rdx, [rip + .Lt]\ncmp edi, 1\nja 9f\nmov eax, edi\nmovsxd rax, dword ptr [rdx + rax*4]
             add rax, rdx\njmp rax\n1: mov eax, 5\nret\n2: mov eax, 6\nret\n9: ret
             .section .rodata\n.Lt: .long 1b - .Lt, 2b - .Lt\n.Lother: .long 9b - .Lother",
            expect![[r#"
                0: at 0x0
                   rdx := §original..rodata
                   -> 4 if !cf && !zf
                   -> 1 if cf || zf
                1: at 0xc
                   switch64.0 := rdi
                   rax := zext64(rdi[31:0])
                   t32.0 := 4 at 4*rax + rdx
                   rax := sext64(t32.0)
                   rax := rax + rdx
                   -> 2 if switch64.0[31:0] == 0
                   -> 3 if switch64.0[31:0] == 1
                   -> 5 if switch64.0[31:0] >=u 2
                2: at 0x17
                   rax := 5
                   return
                3: at 0x1d
                   rax := 6
                   return
                4: at 0x23
                   return
                5: at 0x15
                   fault OffTheEnd
            "#]],
        );
    }

    #[test]
    fn without_a_bound_the_table_ends_with_its_symbol_and_products_are_compared() {
        lifts_to(
            ".globl f\nf: jmp [table + rdi*8]\n1: mov eax, 5\nret\n2: mov eax, 6\nret
             .section .rodata\n.type table, @object\ntable: .quad 1b, 2b\n.size table, 16\nnext: .quad 1b",
            expect![[r#"
                0: at 0x0
                   switch64.0 := rdi
                   t64.0 := 8 at 8*rdi + §original..rodata
                   -> 1 if switch64.0[60:0] == 0
                   -> 2 if switch64.0[60:0] == 1
                   -> 3 if switch64.0[60:0] >=u 2
                1: at 0x7
                   rax := 5
                   return
                2: at 0xd
                   rax := 6
                   return
                3: at 0x0
                   fault OffTheEnd
            "#]],
        );
    }

    #[test]
    fn a_table_of_functions_is_a_tail_call() {
        lifts_to(
            ".globl f\nf: and edi, 1\njmp [table + rdi*8]\n.globl g\ng: ret\n.globl h\nh: ret
             .section .rodata\n.type table, @object\ntable: .quad g, h\n.size table, 16",
            expect![[r#"
                0: at 0x0
                   rdi := zext64(rdi[0])
                   t64.0 := 8 at 8*rdi + &table@c2a4d33a2d22c68363487a8c4ba45173
                   leave to [t64.0]
            "#]],
        );
    }

    #[test]
    fn a_computed_goto_goes_to_labels_whose_address_is_taken() {
        lifts_to(
            ".globl f\nf: mov rax, [table + rdi*8]\ntest esi, esi\nje 3f\n3: jmp rax\n1: mov eax, 5\nret\n2: mov eax, 6\nret
             .data\n.type table, @object\ntable: .quad 1b, 2b\n.size table, 16",
            expect![[r#"
                0: at 0x0
                   t64.0 := 8 at 8*rdi + &table@a4b415c49062f304dcfcc90f7c3cbd33
                   rax := t64.0
                   -> 1 if true
                1: at 0xc
                   -> 2 if rax == &f + 14
                   -> 3 if rax == &f + 20
                   -> 4 if rax != &f + 14 && rax != &f + 20
                2: at 0xe
                   rax := 5
                   return
                3: at 0x14
                   rax := 6
                   return
                4: at 0xc
                   leave to [rax]
            "#]],
        );
    }

    #[test]
    fn a_relative_table_that_is_not_understood_is_refused() {
        lifts_to(
            ".globl f\nf: movsxd rax, dword ptr [rsi + rdi*4]\nadd rax, rsi\njmp rax\n1: ret",
            expect![[r#"
                test.o: unsupported: f+0x7 a jump table at an unknown place
            "#]],
        );
    }

    #[test]
    fn compilers_tables_are_found_at_all_levels() {
        let text =
            "int g(int); int f(signed char *p, int x) { switch (*p) { case 40: return g(1); case 41: return g(x);
            case 42: return 7; case 43: return x; case 44: return g(9) + x; case 45: return 1 << x; case 46: return 3; }
            return x * 3; }";
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            for pic in ["-fPIC", "-fno-pic"] {
                let image = compiled(text, &format!("cc -c {level} {pic} -fcf-protection=none"));
                let (_, function) = lifted(&image, "f");
                let function = function.expect("a graph");
                let edges = |next: &Next| if let Next::Edges(edges) = next { edges.len() } else { 0 };
                // Seven cases and the way past the table's end; equal targets are merged.
                let widest = function.points.iter().map(|p| edges(&p.next)).max();
                assert!(widest >= Some(6), "{level} {pic}: {widest:?}");
            }
        }
    }
}
