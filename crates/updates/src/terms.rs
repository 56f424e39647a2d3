//! Values as hash-consed terms: exact, for explaining a difference and for certificates.

use crate::scalar::{Cmp, Constant, Op, Scalar};
use crate::symbolic::{Backing, Opened, Tag};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A term and its flag: arithmetic negation of a float, logical negation of a truth value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermRef(u32);

impl TermRef {
    /// Does it carry the flag?
    pub fn flag(self) -> bool {
        self.0 & 1 == 1
    }

    /// Without the flag.
    pub fn plain(self) -> TermRef {
        TermRef(self.0 & !1)
    }

    /// With the flag turned if asked.
    pub fn turn(self, turn: bool) -> TermRef {
        TermRef(self.0 ^ u32::from(turn))
    }

    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
}

/// The shape of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Shape {
    Unwritten,
    Constant(Constant),
    Input {
        key: u64,
        cell: u64,
        ty: Scalar,
    },
    Binary(Op, Scalar),
    Compare(Cmp, Scalar),
    Convert(Scalar, Scalar),
    Choice,
    /// A function by its number, with its result type.
    Call(u32, Scalar),
    /// A multiset of summands or factors, in the mode that forgets their order.
    Multiset(Op, Scalar),
}

/// A set of terms, flags aside.
#[derive(Clone, Debug)]
pub struct Parts {
    marked: Vec<bool>,
}

impl Parts {
    /// Is the term one of them?
    pub fn contains(&self, term: TermRef) -> bool {
        self.marked.get(term.index()).copied().unwrap_or(false)
    }
}

/// The terms of a pair.
#[derive(Debug, Default)]
pub struct Terms {
    shapes: Vec<Shape>,
    /// Start of the operands of each term; the end is the next one's start.
    starts: Vec<u32>,
    operands: Vec<TermRef>,
    /// Open addressing: term numbers plus one; zero is free.
    index: Vec<u32>,
    functions: Vec<String>,
    /// No more terms than this; past it, `exhausted` is set and results mean nothing.
    limit: usize,
    exhausted: bool,
}

impl Terms {
    /// An arena that holds at most so many terms.
    pub fn new(limit: usize) -> Terms {
        let mut terms = Terms { limit, ..Terms::default() };
        terms.make(Shape::Unwritten, &[]);
        terms
    }

    /// Was the limit reached? Then no result counts.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Is there no term? Never: the unwritten one is always there.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// The shape of a term.
    pub fn shape(&self, term: TermRef) -> Shape {
        self.shapes[term.index()]
    }

    /// The operands of a term.
    pub fn operands(&self, term: TermRef) -> &[TermRef] {
        let index = term.index();
        let end = self.starts.get(index + 1).map_or(self.operands.len(), |end| *end as usize);
        &self.operands[self.starts[index] as usize..end]
    }

    /// All terms that these consist of.
    pub fn parts_of(&self, roots: impl Iterator<Item = TermRef>) -> Parts {
        let mut parts = Parts { marked: vec![false; self.shapes.len()] };
        let mut open: Vec<TermRef> = roots.collect();
        while let Some(term) = open.pop() {
            if !std::mem::replace(&mut parts.marked[term.index()], true) {
                open.extend(self.operands(term));
            }
        }
        parts
    }

    /// Name of a function.
    pub fn function(&self, number: u32) -> &str {
        &self.functions[number as usize]
    }

    fn function_number(&mut self, name: &str) -> u32 {
        let known = self.functions.iter().position(|f| f == name);
        known.unwrap_or_else(|| {
            self.functions.push(name.to_string());
            self.functions.len() - 1
        }) as u32
    }

    /// The term of a shape and operands.
    pub fn make(&mut self, shape: Shape, operands: &[TermRef]) -> TermRef {
        if (self.shapes.len() + 1) * 2 > self.index.len() {
            self.grow();
        }
        let mask = self.index.len() - 1;
        let mut at = hash(shape, operands) as usize & mask;
        while self.index[at] != 0 {
            let term = TermRef((self.index[at] - 1) << 1);
            if self.shapes[term.index()] == shape && self.operands(term) == operands {
                return term;
            }
            at = (at + 1) & mask;
        }
        if self.shapes.len() >= self.limit {
            self.exhausted = true;
            return TermRef(0);
        }
        let index = self.shapes.len() as u32;
        self.shapes.push(shape);
        self.starts.push(self.operands.len() as u32);
        self.operands.extend_from_slice(operands);
        self.index[at] = index + 1;
        TermRef(index << 1)
    }

    fn grow(&mut self) {
        let size = (self.index.len() * 2).max(1024);
        let mut index = vec![0; size];
        for number in 0..self.shapes.len() as u32 {
            let term = TermRef(number << 1);
            let mut at = hash(self.shape(term), self.operands(term)) as usize & (size - 1);
            while index[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            index[at] = number + 1;
        }
        self.index = index;
    }
}

fn hash(shape: Shape, operands: &[TermRef]) -> u64 {
    let hash = FxBuildHasher.hash_one((shape, operands));
    // The low bits choose the place; let all bits reach them.
    hash ^ (hash >> 32)
}

impl Backing for Terms {
    type Value = TermRef;

    fn unwritten(&self) -> TermRef {
        TermRef(0)
    }

    fn constant(&mut self, constant: Constant) -> TermRef {
        self.make(Shape::Constant(constant), &[])
    }

    fn known(&self, value: TermRef) -> Option<Constant> {
        match self.shape(value) {
            Shape::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    fn input(&mut self, key: u64, cell: u64, ty: Scalar) -> TermRef {
        self.make(Shape::Input { key, cell, ty }, &[])
    }

    fn apply(&mut self, tag: Tag<'_>, arguments: &[TermRef]) -> TermRef {
        let shape = match tag {
            Tag::Binary(op, ty) => Shape::Binary(op, ty),
            Tag::Compare(cmp, ty) => Shape::Compare(cmp, ty),
            Tag::Convert(from, to) => {
                // A float survives the way to double and back.
                if let (Scalar::F64, Scalar::F32, Shape::Convert(Scalar::F32, Scalar::F64)) =
                    (from, to, self.shape(arguments[0]))
                {
                    let inner = self.operands(arguments[0])[0];
                    return inner.turn(arguments[0].flag());
                }
                Shape::Convert(from, to)
            }
            Tag::Choice => Shape::Choice,
            Tag::Call(name, ty) => Shape::Call(self.function_number(name), ty),
        };
        self.make(shape, arguments)
    }

    fn turned(&self, value: TermRef) -> TermRef {
        value.turn(true)
    }

    fn split(&self, value: TermRef) -> (TermRef, bool) {
        (value.plain(), value.flag())
    }

    fn opened(&self, value: TermRef) -> Option<(Opened, &[TermRef])> {
        let made = match self.shape(value) {
            Shape::Binary(op, ty) => Opened::Binary(op, ty),
            Shape::Convert(from, to) => Opened::Convert(from, to),
            Shape::Call(function, ty) if self.functions[function as usize] == "sqrt" => Opened::Root(ty),
            _ => return None,
        };
        Some((made, self.operands(value)))
    }
}
