//! Constants that two programs mention: values at which they may behave differently.

use program::{Function, Next, Op};
use rustc_hash::FxHashSet;
use term::{Arena, Bits, Op as TermOp, TermId};

/// Constants of a pair.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    words: Vec<u64>,
    floats: Vec<u64>,
    doubles: Vec<u64>,
}

/// Most constants of a kind that are worth trying.
const MOST: usize = 96;

impl Constants {
    /// The constants of both functions: those that are compared with something, and their neighbours, come first.
    pub fn of(arena: &Arena, functions: [&Function; 2]) -> Constants {
        let mut harvest = Harvest { arena, seen: FxHashSet::default(), compared: Vec::new(), others: Vec::new() };
        for function in functions {
            harvest.function(function);
        }
        let mut out = Constants::default();
        let mut known = FxHashSet::default();
        for value in harvest.compared.iter().take(MOST) {
            let one = Bits::new(value.width(), 1);
            for near in [*value, value.sub(one), value.add(one)] {
                if known.insert(near.low()) {
                    out.words.push(near.low());
                }
            }
        }
        for value in harvest.others.iter().take(MOST) {
            if known.insert(value.low()) {
                out.words.push(value.low());
            }
        }
        out.literals(functions);
        out
    }

    /// Small read-only objects hold the floating-point constants.
    fn literals(&mut self, functions: [&Function; 2]) {
        let objects = functions.iter().flat_map(|f| f.objects.values());
        for content in
            objects.filter_map(|o| o.content.as_ref()).filter(|c| c.bytes.len() <= 32 && c.pointers.is_empty())
        {
            let word = |bytes: &[u8]| Bits::from_bytes(bytes).low();
            self.doubles.extend(content.bytes.chunks_exact(8).map(word));
            self.floats.extend(content.bytes.chunks_exact(4).map(word));
        }
        for list in [&mut self.doubles, &mut self.floats] {
            list.sort_unstable();
            list.dedup();
            list.truncate(MOST);
        }
        // What lies just beside a bound tells `<` from `<=`.
        let near = |bits: &u64| [*bits, bits.wrapping_add(1), bits.wrapping_sub(1)];
        self.doubles = self.doubles.iter().flat_map(near).collect();
        self.floats = self.floats.iter().flat_map(near).map(|bits| bits & 0xffff_ffff).collect();
    }

    /// As numbers.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// As 32-bit floating-point numbers.
    pub fn floats(&self) -> &[u64] {
        &self.floats
    }

    /// As 64-bit floating-point numbers.
    pub fn doubles(&self) -> &[u64] {
        &self.doubles
    }
}

struct Harvest<'a> {
    arena: &'a Arena,
    seen: FxHashSet<TermId>,
    compared: Vec<Bits>,
    others: Vec<Bits>,
}

impl Harvest<'_> {
    fn function(&mut self, function: &Function) {
        for point in &function.points {
            for (_, op) in &point.ops {
                match op {
                    Op::Set { value, .. } => self.term(*value),
                    // Addresses are made of offsets, which say little.
                    Op::Load { .. } | Op::Unknown { .. } => {}
                    Op::Store { value, .. } => self.term(*value),
                    Op::Fault { condition, .. } => self.term(*condition),
                }
            }
            if let Next::Edges(edges) = &point.next {
                edges.iter().for_each(|edge| self.term(edge.guard));
            }
        }
    }

    fn term(&mut self, term: TermId) {
        if !self.seen.insert(term) {
            return;
        }
        let node = self.arena.node(term);
        let compares = matches!(node.op, TermOp::Eq | TermOp::Ult | TermOp::Slt);
        let frame = |term: &TermId| {
            let register = self.arena.as_var(*term).and_then(program::Register::of_var);
            matches!(register, Some(program::Register::RSP | program::Register::RBP))
        };
        if node.op == TermOp::Add && node.args.iter().any(frame) {
            return;
        }
        for arg in &node.args {
            match self.arena.as_const(*arg).filter(|bits| bits.width() <= 64 && bits.width() >= 8) {
                Some(bits) if compares => self.compared.push(bits),
                Some(bits) => self.others.push(bits),
                None => self.term(*arg),
            }
        }
        if let Some(bits) = self.arena.as_const(term).filter(|bits| bits.width() <= 64 && bits.width() >= 8) {
            self.others.push(bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;

    #[test]
    fn compared_constants_come_first_with_their_neighbours() {
        let mut arena = Arena::new();
        let x = arena.var("x", Sort::Bv(32));
        let (k, m) = (arena.bv(32, 1000), arena.bv(32, 7));
        let product = arena.mul(x, m);
        let condition = arena.eq(x, k);
        let mut harvest =
            Harvest { arena: &arena, seen: FxHashSet::default(), compared: Vec::new(), others: Vec::new() };
        harvest.term(condition);
        harvest.term(product);
        assert_eq!(harvest.compared, [Bits::new(32, 1000)]);
        assert_eq!(harvest.others, [Bits::new(32, 7)]);
    }
}
