//! Accesses of an instrumented run: is each where its address came from, as large and as aligned as what is there?

use super::cells::Origin;
use super::ctype;
use super::machine::Machine;
use super::memory::{STACK_TOP, is_stack};
use super::trace::End;
use super::values::is_buffer;

impl Machine<'_, '_, '_> {
    /// Ends the run, or notes a doubt, where an access is one that a proof could have assumed away.
    pub(super) fn check_access(&mut self, at: u64, bytes: u64, origin: Origin, write: bool) -> Result<(), End> {
        let likely = self.program.function.likely_alignments.get(&self.place);
        if likely.is_some_and(|align| !at.is_multiple_of(*align)) {
            self.doubt("an address that is not aligned for its type");
        }
        if is_stack(at) {
            match origin {
                Origin::Slot => {}
                Origin::Frame | Origin::None | Origin::Difference | Origin::Rest => {
                    self.doubt("access to a part of the frame of which nothing is known")
                }
                Origin::Local(i) => {
                    self.computed_locals = true;
                    let local = &self.program.function.locals[i as usize];
                    let offset = at.wrapping_sub(STACK_TOP.wrapping_add(local.offset as u64));
                    if offset.wrapping_add(bytes) > local.size || offset > local.size {
                        if !self.program.function.is_unoptimised() {
                            // The constant part of an optimised address may lie in another local.
                            self.doubt("access to a part of the frame of which nothing is known");
                            return Ok(());
                        }
                        let name = local.name.clone();
                        return Err(self.reject(|| format!("access outside {name}")));
                    }
                }
                Origin::Object(_) | Origin::Near(_) | Origin::Section => {
                    return Err(self.reject(|| "access outside its object".to_string()));
                }
            }
            return Ok(());
        }
        if matches!(origin, Origin::Local(_) | Origin::Frame) {
            return Err(self.reject(|| "access outside the frame through a frame pointer".to_string()));
        }
        // Optimisers make one access of several where pointers are aligned.
        let merged = self.situation.aligned && is_buffer(at) && !self.program.function.is_unoptimised();
        if bytes.is_power_of_two() && !at.is_multiple_of(if bytes > 8 { 4 } else { bytes }) && !merged {
            self.doubt("misaligned access");
        }
        if ctype::is_outside(at) {
            return Err(self.reject(|| "access outside the table of characters".to_string()));
        }
        if self.memory.is_freed(at) {
            return Err(self.reject(|| "access to freed memory".to_string()));
        }
        if let Some(allocation) = self.memory.allocation_at(at)
            && at - allocation.start + bytes > allocation.size
        {
            return Err(self.reject(|| "access outside a heap object".to_string()));
        }
        if write && !self.situation.start.layout.may_change(at) {
            self.doubt("write to what may be constant");
        }
        let table = self.program.function.surroundings.table_loads.contains(&self.place);
        match self.situation.start.layout.object_at(at) {
            Some((placed, offset)) => {
                let outside = placed.object.size.is_some_and(|s| offset + bytes > s);
                let strange = matches!(origin, Origin::Object(start) if start != placed.start);
                if outside || strange || (write && placed.object.content.is_some()) {
                    return Err(self.reject(|| format!("access outside {} at offset {offset}", placed.object.name)));
                }
                let other = matches!(origin, Origin::Near(start) if start != placed.start);
                if !write && placed.object.is_thread_static() {
                    self.doubt("what a thread-local static holds");
                }
                if !table && (other || origin == Origin::Section) {
                    self.doubt("an address that may be made from another object");
                }
            }
            None if !table && matches!(origin, Origin::Object(_) | Origin::Near(_) | Origin::Section) => {
                return Err(self.reject(|| "access outside its object".to_string()));
            }
            None => {}
        }
        Ok(())
    }
}
