//! What the file around a function tells a run of it: what compilers may know beyond the code, and the code itself.

use crate::container::Binding;
use crate::{Image, Kind};
use graph::Surroundings;
use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess};
use std::collections::BTreeSet;

/// Longest function that is run on the CPU.
const LONGEST: u64 = 1 << 16;

impl Image {
    /// The surroundings of a function that calls these functions.
    pub(crate) fn surroundings(&self, index: usize, called: &BTreeSet<&str>) -> Surroundings {
        let is_local = |name: &&&str| self.find(name).is_some_and(|callee| self.functions()[callee].local);
        Surroundings {
            private: self.is_private(index),
            local_callees: called.iter().filter(is_local).map(|name| name.to_string()).collect(),
            weak_callees: called.iter().filter(|name| self.is_weak(name)).map(|name| name.to_string()).collect(),
            chained_callees: called.iter().filter(|name| self.reads_chain(name)).map(|name| name.to_string()).collect(),
            truth_values: self.knows_truth_values(),
            code: self.self_contained_code(index),
            table_loads: BTreeSet::new(),
        }
    }

    /// Is a symbol of this name weak?
    fn is_weak(&self, name: &str) -> bool {
        let weak = || self.symbols.iter().filter(|s| s.binding == Binding::Weak).map(|s| s.name.clone()).collect();
        self.weak_names.get_or_init(weak).contains(name)
    }

    /// Does the code of a function of this file mention `r10` first by reading it? So do nested functions, in whatever order
    /// their blocks are run; others have no business with what is there.
    fn reads_chain(&self, name: &str) -> bool {
        let Some(entry) = self.find(name).map(|index| &self.functions()[index]) else { return false };
        let (start, end) = (entry.place.offset as usize, entry.place.offset.saturating_add(entry.size) as usize);
        let Some(code) = self.data(entry.place.section).get(start..end) else { return false };
        let mut factory = InstructionInfoFactory::new();
        for instruction in Decoder::new(64, code, DecoderOptions::NONE) {
            let used = factory.info(&instruction).used_registers();
            let mut chain = used.iter().filter(|used| used.register().full_register() == iced_x86::Register::R10);
            if let Some(first) = chain.next() {
                let reads = |access| !matches!(access, OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None);
                return reads(first.access()) || chain.any(|used| reads(used.access()));
            }
        }
        false
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
