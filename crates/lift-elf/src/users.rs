//! Who mentions which function: by a call, a jump, or its address.
//!
//! Instructions are decoded in a row, not followed, so this takes milliseconds for a whole file.
//!
//! Trust: none. Only reports use it: it says into which functions one may have been inlined.

use crate::Image;
use crate::container::Place;
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use std::collections::{BTreeMap, BTreeSet};

impl Image {
    /// For each function the functions that mention it, by their positions. An outlined piece counts as its parent.
    pub fn users(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut out: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let whole = |index: usize| self.functions()[index].parent.unwrap_or(index);
        for (user, entry) in self.functions().iter().enumerate() {
            let (section, start) = (entry.place.section, entry.place.offset);
            let end = start.saturating_add(entry.size);
            let Some(code) = self.data(section).get(start as usize..end as usize) else { continue };
            let mut note = |place: Place| {
                if let Some(used) = self.function_at(place)
                    && whole(used) != whole(user)
                {
                    out.entry(whole(used)).or_default().insert(whole(user));
                }
            };
            for instruction in Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
                let direct = matches!(
                    instruction.flow_control(),
                    FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
                );
                if direct
                    && instruction.is_jcc_short_or_near()
                        | instruction.is_call_near()
                        | instruction.is_jmp_short_or_near()
                {
                    note(Place { section, offset: instruction.near_branch_target() });
                } else if instruction.is_ip_rel_memory_operand() {
                    note(Place { section, offset: instruction.ip_rel_memory_address() });
                }
            }
            for relocation in self.sections()[section as usize].relocations_in(start..end) {
                let symbol = relocation.symbol.and_then(|symbol| self.symbols().get(symbol as usize));
                let Some(place) = symbol.and_then(|symbol| symbol.place()) else { continue };
                // Fields of instructions count from their ends, which are 4 bytes on.
                for addend in [0, 4] {
                    let offset = place.offset.wrapping_add_signed(relocation.addend).wrapping_add(addend);
                    note(Place { offset, ..place });
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::compiled;

    #[test]
    fn calls_jumps_and_addresses_are_mentions() {
        let text = "static __attribute__((noinline)) int called(int x) { return x * 3; }
            static __attribute__((noinline)) int passed(int x) { return x * 5; }
            static __attribute__((noinline)) int jumped(int x) { return x * 7; }
            int (*pointer(void))(int) { return passed; }
            int f(int x) { return called(x) + 1; }
            int g(int x) { return called(x) + jumped(x); }
            int h(int x) { return jumped(x); }";
        for flags in ["cc -O0", "cc -O2", "cc -O2 -ffunction-sections", "cc -O0 -fPIC"] {
            let image = compiled(text, &format!("{flags} -c"));
            let users = image.users();
            let name = |index: &usize| image.functions()[*index].name.clone();
            let of = |used: &str| -> Vec<String> {
                let found = users.get(&image.find(used).expect("a function"));
                found.into_iter().flatten().map(name).collect()
            };
            assert_eq!(of("called"), ["f", "g"], "{flags}");
            assert_eq!(of("passed"), ["pointer"], "{flags}");
            assert_eq!(of("jumped"), ["g", "h"], "{flags}");
            assert_eq!(of("f"), [] as [String; 0], "{flags}");
        }
    }
}
