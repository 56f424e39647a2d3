//! Addresses that the original's types align: `natural-alignment`.
//!
//! Two accesses of one size at addresses that are multiples of it meet exactly or not at all. So a read behind a store is a
//! choice between two values, where bytes that may meet anywhere would be a choice per byte and distance.
//!
//! Trust: full. Alignment is used only where the original makes the access on the way, and only after a question without it
//! was too hard, or was refuted by a state that violates it.

use crate::objects::obligation::FactKind;
use crate::objects::product::{Checker, Point};
use rustc_hash::FxHashMap;
use symbolic::Known;
use term::eval::{Evaluator, Model};
use term::{Arena, Op, Sort, TermId};

/// Alignments that one question is given.
const MOST: usize = 48;
/// Those among them that hold on some ways only.
const MOST_PERHAPS: usize = 12;

impl Checker<'_, '_> {
    /// A question with the alignments that hold at a point: its hypotheses and its goal. `None` if there are none, or if the
    /// model of the question without them violates none.
    pub(crate) fn with_alignment(
        &mut self,
        at: &Point,
        known: &Known,
        question: (&[TermId], TermId),
        model: Option<&Model>,
    ) -> Option<(Vec<TermId>, TermId)> {
        if !self.context.may_assume_defined() {
            return None;
        }
        let arena = &mut *self.context.arena;
        let mut addresses: Vec<(TermId, u64)> = Vec::new();
        // What is accessed on some ways only is no more than a hypothesis.
        let mut perhaps: Vec<(TermId, TermId, u64)> = Vec::new();
        for fact in at.facts.iter().rev() {
            let FactKind::Aligned { address, align } = fact.kind else { continue };
            let when = known.simplify(arena, fact.when);
            match arena.as_bool(when) {
                Some(true) if !addresses.contains(&(address, align)) && addresses.len() < MOST => {
                    addresses.push((address, align));
                }
                None if perhaps.len() < MOST_PERHAPS => perhaps.push((when, address, align)),
                _ => {}
            }
        }
        let mut violated = false;
        let mut hypotheses = Vec::new();
        let yes = arena.bool(true);
        perhaps.truncate(if model.is_some() { MOST_PERHAPS } else { 0 });
        let certain = addresses.iter().map(|(address, align)| (yes, *address, *align));
        for (when, address, align) in certain.chain(perhaps).collect::<Vec<_>>() {
            let bits = align.trailing_zeros() as u16;
            let (low, zero) = (arena.truncate(address, bits), arena.bv(bits, 0));
            let aligned = arena.eq(low, zero);
            let holds = arena.implies(when, aligned);
            violated |= model.is_none_or(|model| !Evaluator::new(arena, model).bool(holds));
            hypotheses.push(holds);
        }
        if !violated {
            return None;
        }
        hypotheses.extend(question.0);
        let mut reader = Reader { aligned: addresses.into_iter().collect(), memo: FxHashMap::default() };
        // Addresses are written anew, too.
        let aligned: Vec<(TermId, u64)> = reader.aligned.iter().map(|(a, n)| (*a, *n)).collect();
        for (address, align) in aligned {
            let anew = reader.rewrite(arena, address);
            reader.aligned.insert(anew, align);
        }
        reader.memo.clear();
        let anew: Vec<TermId> = hypotheses.iter().map(|term| reader.rewrite(arena, *term)).collect();
        let goal = reader.rewrite(arena, question.1);
        // What was too hard becomes easier only if there are fewer choices.
        (model.is_some() || anew != hypotheses || goal != question.1).then_some((anew, goal))
    }
}

/// Writes terms anew, given that these addresses are multiples of these powers of two.
struct Reader {
    aligned: FxHashMap<TermId, u64>,
    memo: FxHashMap<TermId, TermId>,
}

impl Reader {
    fn rewrite(&mut self, arena: &mut Arena, term: TermId) -> TermId {
        for next in arena.topological(&[term]) {
            if self.memo.contains_key(&next) {
                continue;
            }
            let node = arena.node(next).clone();
            let args: Vec<TermId> = node.args.iter().map(|arg| self.memo[arg]).collect();
            let new = match node.op {
                Op::Load(bytes) => self.read(arena, args[0], args[1], bytes),
                _ if args[..] == node.args[..] => next,
                op => arena.make(op, &args),
            };
            self.memo.insert(next, new);
        }
        self.memo[&term]
    }

    fn is_aligned(&self, address: TermId, bytes: u16) -> bool {
        self.aligned.get(&address).is_some_and(|align| *align >= u64::from(bytes))
    }

    fn read(&self, arena: &mut Arena, memory: TermId, address: TermId, bytes: u16) -> TermId {
        if !bytes.is_power_of_two() || !self.is_aligned(address, bytes) {
            return arena.load(memory, address, bytes);
        }
        match arena.op(memory) {
            Op::Store(size) if size == bytes && self.is_aligned(arena.arg(memory, 1), bytes) => {
                let [inner, at, value] = [0, 1, 2].map(|i| arena.arg(memory, i));
                let below = self.read(arena, inner, address, bytes);
                let same = arena.eq(address, at);
                arena.ite(same, value, below)
            }
            Op::Ite if arena.sort(memory) == Sort::Memory => {
                let [condition, then, other] = [0, 1, 2].map(|i| arena.arg(memory, i));
                let (a, b) = (self.read(arena, then, address, bytes), self.read(arena, other, address, bytes));
                arena.ite(condition, a, b)
            }
            _ => arena.load(memory, address, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads behind two stores, as they were and written anew.
    fn read_behind_stores(arena: &mut Arena, aligned: &[usize]) -> (TermId, TermId) {
        let vars = ["a", "b", "c", "x", "y"].map(|name| arena.var(name, Sort::Bv(64)));
        let world = arena.var("world", Sort::Memory);
        let one = arena.store(world, vars[0], vars[3]);
        let two = arena.store(one, vars[1], vars[4]);
        let read = arena.load(two, vars[2], 8);
        let mut reader =
            Reader { aligned: aligned.iter().map(|i| (vars[*i], 8)).collect(), memo: FxHashMap::default() };
        (read, reader.rewrite(arena, read))
    }

    #[test]
    fn aligned_reads_are_choices_and_the_same() {
        let mut arena = Arena::new();
        let (before, after) = read_behind_stores(&mut arena, &[0, 1, 2]);
        assert_ne!(before, after);
        assert_eq!(arena.op(after), Op::Ite);
        for round in 0..200u64 {
            // Few addresses, all aligned: they meet often.
            let mut model = Model::seeded(round);
            for (i, name) in ["a", "b", "c"].into_iter().enumerate() {
                let var = arena.find_var(name).unwrap();
                model.set_bits(var, term::Bits::new(64, 4096 + 8 * (round >> (2 * i) & 3)));
            }
            let values = [before, after].map(|term| Evaluator::new(&arena, &model).bits(term));
            assert_eq!(values[0], values[1], "round {round}");
        }
    }

    #[test]
    fn reads_and_stores_without_alignment_stay() {
        for aligned in [&[0, 1][..], &[0, 2], &[]] {
            let mut arena = Arena::new();
            let (before, after) = read_behind_stores(&mut arena, aligned);
            // The upper store is not aligned, or the read is not.
            assert_eq!(before, after, "{aligned:?}");
        }
    }
}
