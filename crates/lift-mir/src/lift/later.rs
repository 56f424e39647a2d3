//! What later passes of LLVM make of an instruction, where that is less than its text seems to say.
//!
//! - A definition of a part with `implicit-def` of the whole, and no use of the whole, leaves the rest undefined: the
//!   pass for byte and word instructions then takes an instruction that clears it (`X86FixupBWInsts`), and what was in
//!   the whole before counts as dead.
//! - A copy of 32 bits clears the upper half only if it stays. Copy propagation deletes one that brings back what another
//!   copy took away, or repeats it, and looks at the 32 bits only (`MachineCopyPropagation`, `isNopCopy`).
//! - A read that is `internal` to a bundle keeps nothing alive; after the allocator there are no bundles. Nor is there a
//!   prologue or epilogue yet, of which instructions can be marked to be parts.
//! - A tail call reads its operands behind the epilogue, where a spill slot lies below the stack pointer and an interrupt
//!   may overwrite it.
//! - `nofpexcept` lets floating-point operations move; where exceptions are looked at the original must say so.

use super::*;

/// A copy between physical registers: its instruction, their units, and the step that clears the upper half of the
/// target, if one does.
pub struct Copied {
    instruction: usize,
    from: u32,
    to: u32,
    clears: Option<usize>,
}

/// Units of which one was copied to the other since either was written, the lesser first. More may be listed.
type Available = Vec<(u32, u32)>;

fn pair(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

fn unit(lane: Lane) -> Option<u32> {
    if let Place::Physical(unit) = lane.location.place() { Some(unit) } else { None }
}

impl Lifter<'_> {
    /// Marks that have no place between the allocator and the prologue.
    pub(super) fn check_marks(&mut self, known: &Known, line: &Line) {
        if line.bundled || line.opcode == "BUNDLE" {
            self.doubt("a bundle");
        }
        if line.framed {
            self.doubt("an instruction of a prologue or epilogue");
        }
        if line.operands.iter().any(|o| matches!(o, Operand::Register(_, flags) if flags.internal)) {
            self.doubt("a read that is internal to a bundle");
        }
        let slot = |o: &Operand| matches!(o, Operand::Stack(number) if self.is_spill(*number));
        if self.row.returns && line.operands.iter().any(slot) {
            self.doubt("a spill slot is read when the frame is gone");
        }
        if self.frame.strict && line.silent {
            let form = known.register.as_ref().map_or(known.symbol, |form| form.symbol);
            let name = self.names.intern(&format!("nofpexcept {}", self.names.text(form)));
            self.apply(name, &[], &[], Commute::Never, Effect::Aligned, None);
        }
    }

    /// Forgets what an implicit definition of a whole register loses beside the part that is defined.
    pub(super) fn lose_rest(&mut self, line: &Line, operands: &Operands) {
        let registers =
            || line.operands.iter().filter_map(|o| if let Operand::Register(l, f) = o { Some((*l, *f)) } else { None });
        for (whole, _) in registers().filter(|(lane, flags)| flags.implicit && flags.define && is_physical(*lane)) {
            let parts = || operands.defined.iter().map(|(lane, _)| *lane).filter(|l| l.location == whole.location);
            // 32 bits and vectors have rules of their own, in `after`.
            if parts().next().is_none() || parts().any(|part| part.bits >= 32) {
                continue;
            }
            let kept = |(lane, flags): (Lane, RegisterFlags)| {
                !flags.define && !flags.undefined && lane.location == whole.location && lane.bits >= whole.bits
            };
            if registers().any(kept) {
                continue;
            }
            let mut at = whole.low;
            let mut sorted: Vec<Lane> = parts().collect();
            sorted.sort_unstable();
            for part in sorted {
                if at < part.low {
                    self.push(Step::Forget(Lane::new(whole.location, at, part.low - at)));
                }
                at = at.max(part.low + part.bits);
            }
            if at < whole.low + whole.bits {
                self.push(Step::Forget(Lane::new(whole.location, at, whole.low + whole.bits - at)));
            }
        }
    }

    /// Notes a copy whose steps were just pushed.
    pub(super) fn note_copy(&mut self, from: Lane, to: Lane) {
        let (Some(source), Some(target)) = (unit(from), unit(to)) else { return };
        if from.bits.min(to.bits) < 32 {
            return;
        }
        let last = self.function.steps.len().checked_sub(1);
        let clears = last.filter(|at| {
            matches!(self.function.steps[*at], Step::Move { to: rest, from: Arg::Constant(0, 32) }
                if rest == Lane::new(to.location, 32, 32))
        });
        let instruction = self.function.instructions.len();
        self.copied.push(Copied { instruction, from: source, to: target, clears });
    }

    /// A proof may not rely on what copies clear that may be deleted. Blocks are joined and doubled before that, so what
    /// is available on any path counts.
    pub fn doubt_copies(&mut self, blocks: &[machine::Block]) {
        let copied = std::mem::take(&mut self.copied);
        if copied.iter().all(|copy| copy.clears.is_none()) || copied.len() < 2 {
            return;
        }
        let copies: FxHashMap<usize, &Copied> = copied.iter().map(|copy| (copy.instruction, copy)).collect();
        let index: FxHashMap<u32, usize> = blocks.iter().enumerate().map(|(i, block)| (block.number, i)).collect();
        let mut entered: Vec<Available> = vec![Vec::new(); blocks.len()];
        let mut work: std::collections::BTreeSet<usize> = (0..blocks.len()).collect();
        let mut doubted = FxHashSet::default();
        while let Some(block) = work.pop_first() {
            let mut available = entered[block].clone();
            for at in blocks[block].instructions.range() {
                let steps = self.function.instructions[at].steps.range();
                if let Some(copy) = copies.get(&at) {
                    if available.contains(&pair(copy.from, copy.to)) {
                        doubted.extend(copy.clears);
                    } else {
                        available.retain(|(a, b)| *a != copy.to && *b != copy.to);
                    }
                    // The source may be replaced by what it was copied from.
                    let others = available.iter().filter(|(a, b)| *a == copy.from || *b == copy.from);
                    let others: Vec<u32> = others.map(|(a, b)| if *a == copy.from { *b } else { *a }).collect();
                    for other in others.into_iter().chain([copy.from]).filter(|other| *other != copy.to) {
                        let new = pair(other, copy.to);
                        if !available.contains(&new) {
                            available.push(new);
                        }
                    }
                } else if !available.is_empty() {
                    self.written(steps.clone(), |unit| available.retain(|(a, b)| *a != unit && *b != unit));
                }
                for step in &self.function.steps[steps] {
                    let Step::Leave(exit) = step else { continue };
                    let Some(target) = index.get(&exit.target) else { continue };
                    let before = entered[*target].len();
                    for new in &available {
                        if !entered[*target].contains(new) {
                            entered[*target].push(*new);
                        }
                    }
                    if entered[*target].len() > before {
                        work.insert(*target);
                    }
                }
            }
        }
        let mut doubted: Vec<usize> = doubted.into_iter().collect();
        doubted.sort_unstable();
        for at in doubted {
            if let Step::Move { to, .. } = self.function.steps[at] {
                self.function.steps[at] = Step::Forget(to);
                self.function.deletable.push(at as u32);
            }
        }
    }

    /// The physical units that steps write, calls apart.
    fn written(&self, steps: std::ops::Range<usize>, mut write: impl FnMut(u32)) {
        let mut lane = |lane: &Lane| unit(*lane).into_iter().for_each(&mut write);
        for step in &self.function.steps[steps] {
            match step {
                Step::Move { to, .. } | Step::Linear { to, .. } | Step::Load { to, .. } => lane(to),
                Step::Undefine(to) | Step::Forget(to) => lane(to),
                Step::Apply { results, .. } => self.function.lanes[results.range()].iter().for_each(&mut lane),
                Step::Store { .. } | Step::Leave(_) => {}
            }
        }
    }
}
