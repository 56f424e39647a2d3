//! A function's graph: discovery of its code, then one point per block.

use crate::blocks::{self, Block, End};
use crate::code::{Code, Exit, Target};
use crate::container::Place;
use crate::dispatch::{Dispatch, Dispatcher};
use crate::objects::Objects;
use crate::{Error, Image};
use program::{Call, Callee, Edge, FaultKind, Flag, Function, Next, Op, Point, PointId, Register, Side};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, TermId};
use x86::{Builder, Repeat};

/// Rounds of discovery: a jump table may lead to code with the next one.
const MAX_ROUNDS: usize = 64;

impl Image {
    /// The graph of a function. The arena must have its registers declared.
    pub fn lift(&self, index: usize, side: Side, arena: &mut Arena) -> Result<Function, Error> {
        let mut code = Code::new(self, index);
        let mut objects = Objects::new(self, side);
        let mut blocks = BTreeMap::new();
        let mut dispatches = BTreeMap::new();
        let mut rounds = 0;
        loop {
            code.discover(arena, &mut objects)?;
            blocks::lift_blocks(&code, arena, &mut objects, &mut blocks)?;
            let bases = objects.bases(arena);
            let dispatcher = Dispatcher {
                image: self,
                code: &code,
                blocks: &blocks,
                known: &dispatches,
                bases: &bases,
                taken: objects.taken(),
                work: Cell::new(0),
            };
            let found = dispatcher.run(arena)?;
            let same = places(&found) == places(&dispatches);
            for (leader, dispatch) in &found {
                let from = blocks[leader].last;
                for place in dispatch.places() {
                    code.include(from, place)?;
                    code.reach(place);
                }
            }
            dispatches = found;
            if same && code.is_discovered() && code.leaders.len() == blocks.len() {
                break;
            }
            rounds += 1;
            if rounds > MAX_ROUNDS {
                return Err(code.gap(code.entry(), "jump table", "jump tables that do not settle"));
            }
        }
        if self.has_handlers(code.parts().iter().map(|(part, _)| *part)) {
            return Err(code.gap(code.entry(), "exception handler", "a frame that unwinding stops in"));
        }
        if let Some(place) = objects.taken().iter().find(|place| !code.leaders.contains(place)) {
            return Err(code.gap(*place, "label", "the address of code that nothing leads to, or of data in it"));
        }
        let graph = Graph::new(self, &code, arena, &mut objects);
        let (mut points, table_loads) = graph.build(&blocks, &dispatches)?;
        let bases = objects.bases(arena);
        self.unshrink(arena, &mut points, &bases);
        let objects = objects.finish(arena);
        let bounds =
            |name: &str| name.strip_prefix("__start_").or_else(|| name.strip_prefix("__stop_")).map(str::to_string);
        let own = |section: String| self.sections.iter().any(|s| s.is_loaded() && s.name == section);
        if objects.values().filter_map(|object| bounds(&object.name)).any(own) {
            return Err(code.gap(
                code.entry(),
                "linker set",
                "a section that the linker collects, part of which lies in this file",
            ));
        }
        let typed = self.typed(index, &points, &bases, arena);
        let mut function = self.describe(index, &code, points, objects, arena);
        (function.pointer_calls, function.truths) = (typed.pointer_calls, typed.truths);
        function.volatile = typed.volatile;
        (function.alignments, function.likely_alignments) = (typed.alignments, typed.likely_alignments);
        function.paddings = typed.paddings;
        (function.undescribed_frame, function.local_ends) = (typed.undescribed_frame, typed.local_ends);
        function.surroundings.table_loads = table_loads;
        function.surroundings.pointer_arguments = typed.pointer_arguments;
        function.surroundings.member_starts = typed.member_starts;
        program::drop_dead_flags(&mut function, arena);
        Ok(function)
    }
}

/// The instruction of a block that loads what the target of its jump is made of.
fn entry_load(arena: &Arena, ops: &[(u64, Op)], target: TermId) -> Option<u64> {
    let mut vars = arena.free_vars(target).to_vec();
    ops.iter().rev().find_map(|(place, op)| match op {
        Op::Set { var, value } if vars.contains(var) => {
            vars.retain(|v| v != var);
            vars.extend(arena.free_vars(*value).iter());
            None
        }
        Op::Load { var, .. } => vars.contains(var).then_some(*place),
        _ => None,
    })
}

fn places(dispatches: &BTreeMap<Place, Dispatch>) -> Vec<(Place, Vec<Place>)> {
    dispatches.iter().map(|(leader, dispatch)| (*leader, dispatch.places())).collect()
}

/// A graph under construction.
struct Graph<'a, 'b, 'c> {
    image: &'a Image,
    code: &'a Code<'b>,
    arena: &'a mut Arena,
    objects: &'a mut Objects<'c>,
    ids: FxHashMap<Place, PointId>,
    points: Vec<Point>,
    /// Instructions that load an entry of a jump table.
    table_loads: BTreeSet<u64>,
}

impl<'a, 'b, 'c> Graph<'a, 'b, 'c> {
    fn new(image: &'a Image, code: &'a Code<'b>, arena: &'a mut Arena, objects: &'a mut Objects<'c>) -> Self {
        let entry = code.entry();
        let order = [entry].into_iter().chain(code.leaders.iter().copied().filter(|l| *l != entry));
        let ids = order.enumerate().map(|(i, place)| (place, PointId(i as u32))).collect();
        Graph { image, code, arena, objects, ids, points: Vec::new(), table_loads: BTreeSet::new() }
    }

    fn build(
        mut self,
        blocks: &BTreeMap<Place, Block>,
        dispatches: &BTreeMap<Place, Dispatch>,
    ) -> Result<(Vec<Point>, BTreeSet<u64>), Error> {
        // Points of leaders first, so that their handles are known; those made on the way come behind.
        let mut order: Vec<(PointId, Place)> = self.ids.iter().map(|(place, id)| (*id, *place)).collect();
        order.sort_unstable();
        for (_, place) in &order {
            let address = self.code.address(*place);
            self.points.push(Point { address, ops: Vec::new(), next: Next::Fault(FaultKind::OffTheEnd) });
        }
        for (id, place) in order {
            let block = &blocks[&place];
            let mut ops = block.ops.clone();
            let next = self.next(block, dispatches.get(&place), &mut ops)?;
            let point = &mut self.points[id.index()];
            (point.ops, point.next) = (ops, next);
        }
        Ok((self.points, self.table_loads))
    }

    fn extra(&mut self, place: Place, ops: Vec<(u64, Op)>, next: Next) -> PointId {
        let id = PointId(self.points.len() as u32);
        self.points.push(Point { address: self.code.address(place), ops, next });
        id
    }

    /// The point at a place, or one that faults because there is no code.
    fn point(&mut self, place: Place) -> PointId {
        match self.ids.get(&place) {
            Some(id) => *id,
            None => {
                let next = self.off_the_end(place);
                self.extra(place, Vec::new(), next)
            }
        }
    }

    fn off_the_end(&mut self, place: Place) -> Next {
        // Hand-written code may run on into the next function. A compiler's ends where its source has no meaning, or behind a
        // call that does not return.
        let compiled = |part: usize| self.image.functions()[part].sized && self.image.is_compiled(part);
        let compiled = self.code.parts().iter().all(|(part, _)| compiled(*part));
        match self.image.function_at(place) {
            Some(index) if !compiled => self.leave(&self.image.target(index)),
            _ => Next::Fault(FaultKind::OffTheEnd),
        }
    }

    fn always(&mut self, place: Place) -> Next {
        let guard = self.arena.bool(true);
        let target = self.point(place);
        Next::Edges(vec![Edge { guard, target }])
    }

    fn either(&mut self, condition: TermId, yes: PointId, no: PointId) -> Next {
        if yes == no {
            let guard = self.arena.bool(true);
            return Next::Edges(vec![Edge { guard, target: yes }]);
        }
        let otherwise = self.arena.bool_not(condition);
        Next::Edges(vec![Edge { guard: condition, target: yes }, Edge { guard: otherwise, target: no }])
    }

    fn callee(&mut self, target: &Target) -> Callee {
        if let Some(symbol) = target.symbol {
            self.objects.call(symbol);
        }
        Callee::Named(target.name.clone())
    }

    fn leave(&mut self, target: &Target) -> Next {
        Next::Call(Call { callee: self.callee(target), returns: None, tail: true })
    }

    /// Where a call returns to: nowhere if the code ends after it.
    fn returns(&mut self, next: Place) -> Option<PointId> {
        let off = !self.ids.contains_key(&next) && matches!(self.off_the_end(next), Next::Fault(_));
        if off { None } else { Some(self.point(next)) }
    }

    fn next(&mut self, block: &Block, dispatch: Option<&Dispatch>, ops: &mut Vec<(u64, Op)>) -> Result<Next, Error> {
        let (exit, next, term) = match &block.end {
            End::Fall(next) => return Ok(self.always(*next)),
            End::Off(place) => return Ok(self.off_the_end(*place)),
            End::Exit { exit, next, term } => (exit, *next, *term),
        };
        let missing = |code: &Code| code.gap(block.last, "branch", "a branch without a condition");
        Ok(match exit {
            Exit::Next | Exit::ThreadAddress(_) => self.always(next),
            Exit::Jump(to) => self.always(*to),
            Exit::Branch(to) => {
                let (yes, no) = (self.point(*to), self.point(next));
                let condition = term.ok_or_else(|| missing(self.code))?;
                self.either(condition, yes, no)
            }
            Exit::Leave(target) => self.leave(target),
            Exit::LeaveIf(target) => {
                let away = self.leave(target);
                let yes = self.extra(block.last, Vec::new(), away);
                let no = self.point(next);
                let condition = term.ok_or_else(|| missing(self.code))?;
                self.either(condition, yes, no)
            }
            Exit::Call(target) => {
                let returns = self.returns(next);
                Next::Call(Call { callee: self.callee(target), returns, tail: false })
            }
            Exit::ComputedCall => {
                let returns = self.returns(next);
                let target = term.ok_or_else(|| missing(self.code))?;
                Next::Call(Call { callee: Callee::Pointer(target), returns, tail: false })
            }
            Exit::Return => Next::Return,
            Exit::Trap => Next::Fault(FaultKind::Trap),
            Exit::Repeat => self.repeat(block, next)?,
            Exit::Masked => self.masked(block, next)?,
            Exit::Computed => {
                let target = term.ok_or_else(|| missing(self.code))?;
                self.dispatch(block, dispatch, target, ops)
            }
        })
    }

    /// A string instruction with a repeat prefix as a loop: `rcx` turns, and for comparisons only as long as the zero flag
    /// says so (Intel SDM vol. 2B, REP).
    fn repeat(&mut self, block: &Block, next: Place) -> Result<Next, Error> {
        let place = block.last;
        let Some(step) = self.code.steps.get(&place) else {
            return Err(self.code.gap(place, "branch", "a repeat prefix without an instruction"));
        };
        let mut instruction = step.resolved.instruction.clone();
        let kind = instruction.repeat.take();
        let compares =
            instruction.mnemonic.name().starts_with("cmps") || instruction.mnemonic.name().starts_with("scas");
        let mut builder = Builder::new();
        builder.address = self.code.address(place);
        x86::lift(&instruction, self.arena, &mut builder).map_err(|_| {
            self.code.gap(place, step.resolved.instruction.name(), format!("`{}`", self.code.text(place)))
        })?;
        let rcx = Register::General(1).term(self.arena);
        if let Some(var) = self.arena.as_var(rcx) {
            let value = self.arena.add_const(rcx, -1);
            builder.push(Op::Set { var, value });
        }
        let head = self.point(place);
        let exit = self.point(next);
        let again = match (compares, kind) {
            (false, _) => self.arena.bool(true),
            (true, Some(Repeat::NotEqual)) => {
                let zero = Register::Flag(Flag::Zero).term(self.arena);
                self.arena.bool_not(zero)
            }
            (true, _) => Register::Flag(Flag::Zero).term(self.arena),
        };
        let turn = match compares {
            true => self.either(again, head, exit),
            false => Next::Edges(vec![Edge { guard: again, target: head }]),
        };
        let body = self.extra(place, builder.take(), turn);
        let zero = self.arena.bv(64, 0);
        let done = self.arena.eq(rcx, zero);
        Ok(self.either(done, exit, body))
    }

    /// An access of the lanes that a mask selects, as a branch for each lane.
    fn masked(&mut self, block: &Block, next: Place) -> Result<Next, Error> {
        let place = block.last;
        let Some(step) = self.code.steps.get(&place) else {
            return Err(self.code.gap(place, "branch", "a masked access without an instruction"));
        };
        let instruction = &step.resolved.instruction;
        let lanes = x86::lift_lanes(instruction, self.arena, self.code.address(place))
            .map_err(|_| self.code.gap(place, instruction.name(), format!("`{}`", self.code.text(place))))?;
        let guard = self.arena.bool(true);
        let mut behind = Next::Edges(vec![Edge { guard, target: self.point(next) }]);
        let mut rest = self.point(next);
        for lane in lanes.into_iter().rev() {
            let onward = Next::Edges(vec![Edge { guard, target: rest }]);
            let yes = self.extra(place, lane.yes, onward.clone());
            let no = if lane.no.is_empty() { rest } else { self.extra(place, lane.no, onward) };
            behind = self.either(lane.selected, yes, no);
            rest = self.extra(place, Vec::new(), behind.clone());
        }
        Ok(behind)
    }

    fn dispatch(
        &mut self,
        block: &Block,
        dispatch: Option<&Dispatch>,
        target: TermId,
        ops: &mut Vec<(u64, Op)>,
    ) -> Next {
        let away = Next::Call(Call { callee: Callee::Pointer(target), returns: None, tail: true });
        match dispatch {
            None | Some(Dispatch::TailCall) => away,
            Some(Dispatch::Labels(labels)) => {
                let mut edges = Vec::new();
                let mut earlier: Vec<TermId> = Vec::new();
                for (location, place) in labels {
                    let address = self.objects.term(self.arena, *location);
                    let hit = self.arena.eq(target, address);
                    let mut parts: Vec<TermId> = vec![hit];
                    for known in &earlier {
                        parts.push(self.arena.bool_not(*known));
                    }
                    // Labels of one function differ; those of different pieces might not, as far as terms know.
                    let guard = if self.code.parts().len() > 1 { self.arena.bool_and_all(&parts) } else { hit };
                    earlier.push(hit);
                    edges.push(Edge { guard, target: self.point(*place) });
                }
                let any = self.arena.bool_or_all(&earlier);
                let guard = self.arena.bool_not(any);
                let target = self.extra(block.last, Vec::new(), away);
                edges.push(Edge { guard, target });
                Next::Edges(edges)
            }
            Some(Dispatch::Table { copies, index, entries, scale, bounded, .. }) => {
                self.table_loads.extend(entry_load(self.arena, ops, target));
                let mut copies = copies.clone();
                copies.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
                for (position, op) in copies {
                    let address = ops.get(position).or(ops.last()).map_or(0, |(address, _)| *address);
                    ops.insert(position.min(ops.len()), (address, op));
                }
                self.table_edges(block, *index, entries, *scale, *bounded)
            }
        }
    }

    fn table_edges(&mut self, block: &Block, index: TermId, entries: &[Place], scale: u64, bounded: bool) -> Next {
        // Without a bound the product may wrap around: compare the products then.
        let scaled = |arena: &mut Arena, term: TermId| {
            if bounded {
                return term;
            }
            let factor = arena.bv(64, scale);
            arena.mul(term, factor)
        };
        let value = scaled(self.arena, index);
        let mut targets: BTreeMap<PointId, Vec<TermId>> = BTreeMap::new();
        let mut order: Vec<PointId> = Vec::new();
        let mut all = Vec::new();
        for (k, place) in entries.iter().enumerate() {
            let number = if bounded { k as u64 } else { scale * k as u64 };
            let constant = self.arena.bv(64, number);
            let hit = self.arena.eq(value, constant);
            let point = self.point(*place);
            if !targets.contains_key(&point) {
                order.push(point);
            }
            targets.entry(point).or_default().push(hit);
            all.push(hit);
        }
        let mut edges: Vec<Edge> = Vec::new();
        for target in order {
            let guard = self.arena.bool_or_all(&targets[&target]);
            edges.push(Edge { guard, target });
        }
        let beyond = if bounded {
            let count = self.arena.bv(64, entries.len() as u64);
            self.arena.ule(count, value)
        } else {
            let any = self.arena.bool_or_all(&all);
            self.arena.bool_not(any)
        };
        let fault = self.extra(block.last, Vec::new(), Next::Fault(FaultKind::OffTheEnd));
        edges.push(Edge { guard: beyond, target: fault });
        Next::Edges(edges)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled, shown};
    use expect_test::{Expect, expect};

    fn lifts_to(text: &str, function: &str, expect: Expect) {
        expect.assert_eq(&shown(&assembled(text), function));
    }

    #[test]
    fn a_branch_has_two_exclusive_edges() {
        lifts_to(
            ".globl f\nf: test edi, edi\njne 1f\nmov eax, 1\nret\n1: mov eax, 2\nret",
            "f",
            expect![[r#"
                0: at 0x0
                   -> 2 if !zf
                   -> 1 if zf
                1: at 0x4
                   rax := 1
                   return
                2: at 0xa
                   rax := 2
                   return
            "#]],
        );
    }

    #[test]
    fn a_call_of_an_undefined_function_goes_by_its_name() {
        lifts_to(
            ".globl f\nf: call g@PLT\nret",
            "f",
            expect![[r#"
            0: at 0x0
               call g -> 1
            1: at 0x5
               return
        "#]],
        );
    }

    #[test]
    fn code_that_ends_after_a_call_has_no_return_point() {
        lifts_to(
            ".globl f\n.type f, @function\nf: call abort\n.size f, .-f",
            "f",
            expect![[r#"
            0: at 0x0
               call abort
        "#]],
        );
    }

    #[test]
    fn hand_written_code_runs_on_into_what_lies_behind_it() {
        let shown = |text: &str, expect: expect_test::Expect| lifts_to(text, "f", expect);
        shown(
            ".type f, @function\nf: xor eax, eax\n.size f, .-f\n.globl g\ng: ret",
            expect![[r#"
            0: at 0x0
               rax := 0
               leave to g
        "#]],
        );
        shown(
            ".type f, @function\nf: xor eax, eax\n.size f, .-f",
            expect![[r#"
            0: at 0x0
               rax := 0
               fault OffTheEnd
        "#]],
        );
    }

    #[test]
    fn labels_without_a_size_run_on_into_the_next() {
        lifts_to(
            ".globl f\nf: xor eax, eax\n.globl g\ng: ret",
            "f",
            expect![[r#"
            0: at 0x0
               rax := 0
               leave to g
        "#]],
        );
    }

    #[test]
    fn a_conditional_tail_call_leaves_through_a_point_of_its_own() {
        lifts_to(
            ".globl f\nf: test edi, edi\nje g\nret",
            "f",
            expect![[r#"
            0: at 0x0
               -> 2 if zf
               -> 1 if !zf
            1: at 0x8
               return
            2: at 0x2
               leave to g
        "#]],
        );
    }

    #[test]
    fn a_repeat_prefix_is_a_loop() {
        lifts_to(
            ".globl f\nf: rep stosb\nret",
            "f",
            expect![[r#"
            0: at 0x0
               -> 1 if rcx == 0
               -> 2 if rcx != 0
            1: at 0x2
               return
            2: at 0x0
               at rdi := rax[7:0]
               rdi := rdi + (df ? -2 : 0) + 1
               rcx := rcx - 1
               -> 0 if true
        "#]],
        );
        lifts_to(
            ".globl f\nf: repne scasb\nret",
            "f",
            expect![[r#"
            0: at 0x0
               -> 1 if rcx == 0
               -> 2 if rcx != 0
            1: at 0x2
               return
            2: at 0x0
               t8.0 := 1 at rdi
               rdi := rdi + (df ? -2 : 0) + 1
               rcx := rcx - 1
               -> 0 if !zf
               -> 1 if zf
        "#]],
        );
    }

    #[test]
    fn cold_pieces_are_part_of_the_graph() {
        lifts_to(
            ".type f, @function\nf: test edi, edi\njne f.cold\n.Lback: ret\n.size f, .-f\n
             .section .text.unlikely, \"ax\"\n.type f.cold, @function\nf.cold: mov eax, 7\njmp .Lback\n.size f.cold, .-f.cold",
            "f",
            expect![[r#"
                0: at 0x0
                   -> 2 if !zf
                   -> 1 if zf
                1: at 0x8
                   return
                2: at 0x10
                   rax := 7
                   -> 1 if true
            "#]],
        );
    }

    #[test]
    fn unsupported_instructions_are_named_with_place_and_line() {
        let text = "int f(void) {\n  __asm__(\"fsincos\");\n  return 0;\n}";
        let image = compiled(text, "cc -c -g -O1");
        expect![[r#"
            test.o: unsupported: f+0x0 `fsincos` (test.c:2)
        "#]]
        .assert_eq(&shown(&image, "f"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let text = ".globl f\nf: call 1f\n1: pop rax\nret";
        lifts_to(
            text,
            "f",
            expect![[r#"
            test.o: unsupported: f+0x0 a call into the middle of a function
        "#]],
        );
        lifts_to(
            ".globl f\nf: syscall\nret",
            "f",
            expect![[r#"
            test.o: unsupported: f+0x0 `syscall`
        "#]],
        );
        lifts_to(
            ".globl f\nf: .byte 0x06, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
            "f",
            expect![[r#"
            test.o: unsupported: f+0x0 the bytes are no instruction
        "#]],
        );
    }
}
