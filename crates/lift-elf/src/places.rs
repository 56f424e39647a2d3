//! Which function or symbol a place or address belongs to.

use crate::Image;
use crate::code::Target;
use crate::container::{Binding, Place};
use crate::layout::{Base, Location};
use program::SourceLine;

impl Image {
    /// The place of a location, if it lies in this file.
    pub(crate) fn place_of(&self, location: Location) -> Option<Place> {
        let (section, start) = match location.base {
            Base::Symbol(symbol) => self.symbols.get(symbol as usize)?.place().map(|p| (p.section, p.offset))?,
            Base::Section(section) => (section, 0),
            Base::Literal { section, start, .. } => (section, start),
            Base::Whole(_) | Base::Number => return None,
        };
        let offset = start.wrapping_add(location.offset as u64);
        (offset <= self.sections.get(section as usize)?.size).then_some(Place { section, offset })
    }

    /// Has a section several objects between which a pointer does not tell? Those that the linker merges are known one by one.
    pub(crate) fn is_divided(&self, section: u32) -> bool {
        let home = &self.sections[section as usize];
        !(home.has_strings() || home.has_constants() || home.is_code() || self.is_only_object(section))
    }

    /// Is a section nothing but one object?
    pub(crate) fn is_only_object(&self, section: u32) -> bool {
        self.layout.is_only_object(&self.sections[section as usize], section)
    }

    /// Is this relative to a weak symbol that is an object of its own beside another one at its place?
    pub(crate) fn is_replaceable_alias(&self, location: Location) -> bool {
        let Base::Symbol(symbol) = location.base else { return false };
        self.symbols[symbol as usize].place().is_some() && self.extent_of(location.base).is_none()
    }

    /// The function whose code holds a place; the innermost where functions overlap.
    pub(crate) fn function_holding(&self, place: Place) -> Option<usize> {
        let after = self.functions().partition_point(|f| f.place <= place);
        // Overlapping functions are rare: a short look back finds them.
        (after.saturating_sub(64)..after).rev().find(|i| self.functions()[*i].contains(place))
    }

    /// A function of this file as the target of a call.
    pub(crate) fn target(&self, index: usize) -> Target {
        let function = &self.functions()[index];
        let symbol = match self.layout.extent(function.place).map(|e| e.base) {
            Some(Base::Symbol(symbol)) if self.symbols[symbol as usize].place() == Some(function.place) => Some(symbol),
            _ => None,
        };
        // What may be replaced is not what is called by a name of this file's own.
        let own = symbol.map(|symbol| &self.symbols[symbol as usize]).filter(|info| info.binding != Binding::Weak);
        let name = match (function.weak, own, symbol) {
            (true, Some(_), Some(symbol)) => self.names[symbol as usize].clone(),
            _ => function.name.clone(),
        };
        Target { name, symbol }
    }

    /// A symbol of another file as the target of a call.
    pub(crate) fn undefined(&self, symbol: u32) -> Target {
        Target { name: self.names[symbol as usize].clone(), symbol: Some(symbol) }
    }

    /// The symbol that a stub of the procedure linkage table of a linked file jumps to.
    pub(crate) fn stub(&self, location: Location) -> Option<u32> {
        let place = self.place_of(location)?;
        let section = &self.sections[place.section as usize];
        if !section.name.starts_with(".plt") {
            return None;
        }
        let bytes = self.data(place.section);
        let mut at = place.offset;
        for _ in 0..3 {
            let decoded = x86::decode(bytes.get(at as usize..)?, section.address.wrapping_add(at)).ok()?;
            if let ("jmp", Some(x86::Operand::Memory(memory))) =
                (decoded.instruction.mnemonic.name(), decoded.instruction.operands.first())
                && memory.rip_relative
            {
                let slot = self.place_of(self.at_address(memory.displacement as u64)?)?;
                let home = &self.sections[slot.section as usize];
                let relocation = home.relocations_in(slot.offset..slot.offset.checked_add(1)?).first()?;
                let location = self.layout.symbol(&self.symbols, relocation.symbol?, 0);
                return match location {
                    Location { base: Base::Symbol(symbol), offset: 0 } => Some(symbol),
                    _ => None,
                };
            }
            at += decoded.length as u64;
        }
        None
    }

    /// The source line of a place.
    pub(crate) fn line(&self, place: Place) -> Option<SourceLine> {
        self.debug.line(place)
    }
}
