//! Interned texts: opcodes, globals, asm strings. One table serves both programs of a comparison, so that equal
//! texts are equal symbols.

use rustc_hash::FxHashMap;

/// An interned text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol(pub u32);

/// The table of texts.
#[derive(Default, Debug)]
pub struct Names {
    numbers: FxHashMap<Box<str>, Symbol>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// An empty table.
    pub fn new() -> Names {
        Names::default()
    }

    /// The symbol of a text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.numbers.get(text) {
            return *symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(text.into());
        self.numbers.insert(text.into(), symbol);
        symbol
    }

    /// The symbol of a text that is already there.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.numbers.get(text).copied()
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol.0 as usize).map_or("", |text| text)
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Is the table empty?
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_equal_symbols() {
        let mut names = Names::new();
        let (a, b) = (names.intern("ADD"), names.intern("SUB"));
        assert_ne!(a, b);
        assert_eq!(names.intern("ADD"), a);
        assert_eq!(names.find("SUB"), Some(b));
        assert_eq!((names.text(a), names.len(), names.is_empty()), ("ADD", 2, false));
    }
}
