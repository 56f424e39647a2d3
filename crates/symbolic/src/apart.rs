//! Accesses that what is known keeps apart: pointers whose distance a path has compared with a constant, which is how
//! compilers ask whether a loop may do several elements at once.
//!
//! Trust: full. A read resolved with such a distance is what memory holds only where the condition that says so is true;
//! all terms of a path are used under its condition alone.

use crate::viewpoint::{View, Viewpoint};
use crate::{Context, Known};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Op, TermId};

impl Context<'_> {
    /// From now on, what is known here decides which accesses overlap. Returns what did so before.
    pub fn look_from(&mut self, known: &Known) -> Viewpoint {
        if !(self.widens || self.keeps_apart) || known.distances.is_empty() {
            return self.stand(Viewpoint::default());
        }
        let key = (known.conditions.clone(), known.distances.pointers.clone());
        let number = match self.overlaps.memo.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let view = View::new(self.arena, known);
                self.overlaps.memo.views.push(Rc::new(view));
                let number = self.overlaps.memo.views.len();
                self.overlaps.memo.numbers.insert(key, number);
                number
            }
        };
        self.stand(Viewpoint(number))
    }

    /// Decides by what was known somewhere else.
    pub fn stand(&mut self, at: Viewpoint) -> Viewpoint {
        std::mem::replace(&mut self.overlaps.viewpoint, at)
    }

    /// A term with its reads resolved by what is known here.
    pub fn resolve(&mut self, term: TermId, memo: &mut FxHashMap<TermId, TermId>) -> TermId {
        for next in self.arena.topological_where(&[term], |t| !memo.contains_key(&t)) {
            let node = self.arena.node(next).clone();
            let args: Vec<TermId> = node.args.iter().map(|a| memo[a]).collect();
            let out = match node.op {
                Op::Load(bytes) if matches!(self.arena.op(args[0]), Op::Store(_) | Op::Ite) => {
                    self.read(args[0], args[1], bytes)
                }
                _ if args[..] == node.args[..] => next,
                op => self.arena.make(op, &args),
            };
            memo.insert(next, out);
        }
        memo[&term]
    }

    pub(crate) fn kept_apart(&mut self, a: (TermId, u16), b: (TermId, u16)) -> bool {
        let Some(index) = self.overlaps.viewpoint.0.checked_sub(1) else { return false };
        let question = (index, a.0, a.1, b.0, b.1);
        if let Some(answer) = self.overlaps.memo.apart.get(&question) {
            return *answer;
        }
        let view = self.overlaps.memo.views[index].clone();
        let answer = view.keep_apart(self.arena, a, b);
        self.overlaps.memo.apart.insert(question, answer);
        answer
    }

    pub(crate) fn remembered(&self, memory: TermId, address: TermId, bytes: u16) -> Option<TermId> {
        self.overlaps.memo.values.get(&(self.overlaps.viewpoint.0, memory, address, bytes)).copied()
    }

    pub(crate) fn remember(&mut self, memory: TermId, address: TermId, bytes: u16, value: TermId) {
        self.overlaps.memo.values.insert((self.overlaps.viewpoint.0, memory, address, bytes), value);
    }
}
