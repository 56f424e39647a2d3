//! Which symbol an address belongs to.

use std::collections::BTreeMap;

/// A symbol and its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    pub start: u64,
    pub size: u64,
    pub name: String,
    pub local: bool,
    pub function: bool,
}

/// All symbols of a side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// By address.
    sorted: Vec<Name>,
    /// Positions by [`stem`] and whether they are local; `None` if several symbols have it.
    by_stem: BTreeMap<(String, bool), Option<usize>>,
}

/// A name without the number that a compiler appends to statics of functions (`count.0`, `count.1234`).
pub(crate) fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
            // clang says `function.variable`; there the last part is no number.
            stem
        }
        _ => name,
    }
}

/// The key under which both sides know a symbol.
fn key(name: &Name) -> (String, bool) {
    let plain = if name.local { stem(&name.name) } else { &name.name };
    // clang puts the function's name before that of a static in it.
    let plain = if name.local && !name.function { plain.rsplit('.').next().unwrap_or(plain) } else { plain };
    (plain.to_string(), name.local)
}

impl Names {
    pub fn new(mut sorted: Vec<Name>) -> Names {
        sorted.sort_by(|a, b| (a.start, a.size, &a.name).cmp(&(b.start, b.size, &b.name)));
        let mut by_stem: BTreeMap<(String, bool), Option<usize>> = BTreeMap::new();
        for (i, name) in sorted.iter().enumerate() {
            by_stem.entry(key(name)).and_modify(|known| *known = None).or_insert(Some(i));
        }
        Names { sorted, by_stem }
    }

    /// All symbols, by address.
    pub fn all(&self) -> &[Name] {
        &self.sorted
    }

    /// The data of a name; the compiler's number may be missing.
    pub fn named(&self, name: &str) -> Option<&Name> {
        let data = || self.sorted.iter().filter(|n| !n.function);
        let exact = data().find(|n| n.name == name);
        let mut near = data().filter(|n| n.local && stem(&n.name) == stem(name));
        exact.or_else(|| near.next().filter(|_| near.next().is_none()))
    }

    /// The symbol with an address in it, and the offset. The end of an object counts as its own, unless another begins there.
    pub fn find(&self, address: u64) -> Option<(&Name, u64)> {
        let after = self.sorted.partition_point(|n| n.start <= address);
        let inside = |n: &&Name| address - n.start < n.size.max(1);
        let at_end = |n: &&Name| address - n.start == n.size;
        let near = || self.sorted[..after].iter().rev().take(8);
        let found = near().find(inside).or_else(|| near().find(at_end))?;
        Some((found, address - found.start))
    }

    /// The symbol that stands for one of the other side's: the same name, or the same but for a compiler's number.
    pub fn counterpart(&self, other: &Name) -> Option<&Name> {
        let exact = self.sorted.iter().find(|n| n.name == other.name && n.local == other.local);
        exact.or_else(|| self.by_stem.get(&key(other)).copied().flatten().map(|i| &self.sorted[i]))
    }
}
