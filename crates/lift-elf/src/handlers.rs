//! Functions that stack unwinding stops in: handlers of exceptions, and cleanups of what goes out of scope.
//!
//! No instruction leads to a landing pad; the unwinder finds it in the table that the function's frame description (`.eh_frame`)
//! names, its language-specific data area. A graph has no edge for that, so what the pads do is not compared, and neither is whether
//! an exception passes through at all (`noexcept`). Functions with such a table are refused.
//!
//! If this misses a table, two functions that differ in what they do about exceptions count as the same.

use crate::container::{Kind, Place, Section};
use crate::image::{Handlers, Image};
use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use std::collections::BTreeSet;

impl Image {
    /// May an exception lead into one of these functions, or end there?
    pub(crate) fn has_handlers(&self, functions: impl Iterator<Item = usize>) -> bool {
        let handlers = self.handlers.get_or_init(|| self.read_handlers());
        let mut functions = functions.map(|index| &self.functions()[index]);
        handlers.unreadable || functions.any(|function| handlers.starts.iter().any(|place| function.contains(*place)))
    }

    fn read_handlers(&self) -> Handlers {
        let mut out = Handlers::default();
        for (index, section) in self.sections().iter().enumerate().filter(|(_, s)| s.is_loaded() && s.is_unwind()) {
            let read = match self.kind {
                Kind::Relocatable => self.handlers_of_object(section, self.data(index as u32), &mut out.starts),
                _ => self.handlers_of_linked(section, self.data(index as u32), &mut out.starts),
            };
            out.unreadable |= read.is_none();
        }
        out
    }

    /// In object files relocations name the code and, if there is one, the table: nothing else in a description is one.
    fn handlers_of_object(&self, section: &Section, data: &[u8], out: &mut BTreeSet<Place>) -> Option<()> {
        let word = |at: usize| Some(u32::from_le_bytes(data.get(at..at.checked_add(4)?)?.try_into().ok()?));
        let mut at = 0;
        while at < data.len() {
            let length = word(at)? as usize;
            // A terminator; or 64-bit lengths, which no compiler makes.
            if length == 0 {
                at += 4;
                continue;
            }
            let end =
                at.checked_add(4)?.checked_add(length).filter(|end| length < 0xffff_fff0 && *end <= data.len())?;
            if word(at + 4)? != 0 {
                let (code, more) = section.relocations_in(at as u64 + 8..end as u64).split_first()?;
                if !more.is_empty() {
                    let place = self.symbols().get(code.symbol? as usize)?.place()?;
                    out.insert(Place { offset: place.offset.checked_add_signed(code.addend)?, ..place });
                }
            }
            at = end;
        }
        Some(())
    }

    fn handlers_of_linked(&self, section: &Section, data: &[u8], out: &mut BTreeSet<Place>) -> Option<()> {
        let frames = EhFrame::new(data, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(section.address);
        let mut entries = frames.entries(&bases);
        while let Some(entry) = entries.next().ok()? {
            let CieOrFde::Fde(partial) = entry else { continue };
            let description = partial.parse(EhFrame::cie_from_offset).ok()?;
            if description.lsda().is_some() {
                out.insert(self.map.find(description.initial_address())?);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::compiled;
    use program::{Register, Side};
    use term::Arena;

    const TEXT: &str = "void g(void); void done(int *); void plain(void) { g(); }
        void cleaned(void) { int x __attribute__((cleanup(done))) = 0; g(); }";

    /// Is the function lifted?
    fn lifted(command: &str, name: &str) -> bool {
        let image = compiled(TEXT, command);
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        image.lift(image.find(name).expect(name), Side::Original, &mut arena).is_ok()
    }

    #[test]
    fn functions_that_unwinding_stops_in_are_refused() {
        for command in ["cc -c -O2 -fexceptions", "cc -O1 -fexceptions -fPIC -shared -nostdlib"] {
            assert!(lifted(command, "plain"), "{command}");
            assert!(!lifted(command, "cleaned"), "{command}");
        }
        assert!(lifted("cc -c -O2", "cleaned"));
    }
}
