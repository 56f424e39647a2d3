//! Flat assertions as clauses.
//!
//! Each term becomes a word of literals ([`crate::circuit`]), operands first, without recursion. An asserted equation
//! of a variable that has no word yet gives it the word of the other side. What `smt.rs` prints as an uninterpreted
//! function becomes a word of new variables here, and the place is noted: that equal operands have equal results is
//! required later, where a model of the clauses violates it ([`crate::functions`]).
//!
//! Bytes of a load are noted by their distance from a sum without its constant, so that the eight bytes of a word need
//! one address.
//!
//! What would go wrong if this module were wrong: false proofs. The tests compare it with the evaluator.

use crate::basis::Basis;
use crate::circuit::{Circuit, Clauses, Lit, Word, extended, inverted, sign_of};
use crate::functions::Functions;
use crate::memory::is_base;
use crate::smt::{IDENTITY, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use term::{Arena, Bits, FuncId, Op, Sort, TermId};

/// A question with more gates than this is left to others.
const MOST_GATES: usize = 400_000;

/// The terms that a sum adds up, without its constant; which may be none.
pub(crate) type Base = SmallVec<[TermId; 4]>;

/// An address as a sum and a constant distance.
pub(crate) fn split(arena: &Arena, address: TermId) -> (Base, u64) {
    let args = match arena.op(address) {
        Op::Add => arena.args(address),
        _ => std::slice::from_ref(&address),
    };
    let constant = |term: &TermId| arena.as_const(*term).map(Bits::low);
    let distance = args.iter().filter_map(constant).fold(0, u64::wrapping_add);
    (args.iter().copied().filter(|arg| constant(arg).is_none()).collect(), distance)
}

/// Too many gates.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// The clauses of a question as they grow.
pub(crate) struct Blaster<'a, C> {
    arena: &'a Arena,
    pub(crate) circuit: Circuit<C>,
    words: FxHashMap<TermId, Word>,
    commuting: &'a FxHashSet<FuncId>,
    pub(crate) functions: Functions,
}

impl<'a, C: Clauses> Blaster<'a, C> {
    /// The clauses of a conjunction; the operands of some functions may change places.
    pub(crate) fn new(
        arena: &'a Arena,
        basis: &Basis,
        commuting: &'a FxHashSet<FuncId>,
        clauses: C,
    ) -> Result<Blaster<'a, C>, TooLarge> {
        let mut blaster = Blaster {
            arena,
            circuit: Circuit::new(clauses),
            words: FxHashMap::default(),
            commuting,
            functions: Functions::default(),
        };
        let mut facts = Vec::new();
        for assertion in &basis.assertions {
            blaster.conjuncts(*assertion, &mut facts);
        }
        let mut rest = Vec::new();
        for fact in facts {
            if !blaster.bind(fact)? {
                rest.push(fact);
            }
        }
        for fact in rest {
            blaster.assert(fact)?;
        }
        for (_, value) in &basis.eliminated {
            blaster.word(*value)?;
        }
        Ok(blaster)
    }

    /// The word of a term, if it has one.
    pub(crate) fn known_word(&self, term: TermId) -> Option<&Word> {
        self.words.get(&term)
    }

    fn conjuncts(&self, term: TermId, facts: &mut Vec<TermId>) {
        let mut stack = vec![term];
        while let Some(term) = stack.pop() {
            match self.arena.op(term) {
                Op::And => stack.extend(self.arena.args(term).iter().rev()),
                _ => facts.push(term),
            }
        }
    }

    /// Gives a variable the word that an equation says it has; `false` if the term is no such equation.
    fn bind(&mut self, fact: TermId) -> Result<bool, TooLarge> {
        if self.arena.op(fact) != Op::Eq {
            return Ok(false);
        }
        let (a, b) = (self.arena.arg(fact, 0), self.arena.arg(fact, 1));
        for (var, other) in [(a, b), (b, a)] {
            if self.arena.as_var(var).is_some() && !self.words.contains_key(&var) {
                let word = self.word(other)?;
                // The other side may have used the variable.
                match self.words.get(&var).cloned() {
                    Some(known) => self.circuit.require_equal(&known, &word),
                    None => drop(self.words.insert(var, word)),
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn assert(&mut self, fact: TermId) -> Result<(), TooLarge> {
        let args = self.arena.args(fact);
        match self.arena.op(fact) {
            Op::Eq => {
                let (a, b) = (self.word(args[0])?, self.word(args[1])?);
                self.circuit.require_equal(&a, &b);
            }
            Op::Or => {
                let options = args.iter().map(|arg| self.bit(*arg)).collect::<Result<Vec<Lit>, TooLarge>>()?;
                self.circuit.require(&options);
            }
            _ => {
                let bit = self.bit(fact)?;
                self.circuit.require(&[bit]);
            }
        }
        Ok(())
    }

    fn bit(&mut self, term: TermId) -> Result<Lit, TooLarge> {
        Ok(self.word(term)?[0])
    }

    /// What must have a word before a term.
    fn operands(&self, term: TermId) -> Base {
        let arena = self.arena;
        if !matches!(arena.op(term), Op::Load(_)) || !is_base(arena, arena.arg(term, 0)) {
            return arena.args(term).into();
        }
        let mut operands = split(arena, arena.arg(term, 1)).0;
        operands.extend(arena.args(arena.arg(term, 0)).iter().copied());
        operands
    }

    /// The word of a term and of all that it needs.
    fn word(&mut self, root: TermId) -> Result<Word, TooLarge> {
        let mut stack = vec![(root, false)];
        while let Some((term, operands_done)) = stack.pop() {
            if self.words.contains_key(&term) {
                continue;
            }
            if operands_done {
                if self.circuit.size() > MOST_GATES {
                    return Err(TooLarge);
                }
                let word = self.blast(term);
                self.words.insert(term, word);
                continue;
            }
            stack.push((term, true));
            stack.extend(self.operands(term).into_iter().rev().map(|operand| (operand, false)));
        }
        Ok(self.words[&root].clone())
    }

    fn blast(&mut self, term: TermId) -> Word {
        let arena = self.arena;
        let op = arena.op(term);
        let args = arena.args(term);
        let width = usize::from(width_of(arena.sort(term)));
        let circuit = &mut self.circuit;
        let word = |i: usize| self.words[&args[i]].as_slice();
        let mut folded = |gate: fn(&mut Circuit<C>, Lit, Lit) -> Lit| {
            (1..args.len()).fold(word(0).to_vec(), |sum, i| circuit.bitwise(&sum, word(i), gate))
        };
        match op {
            Op::True => vec![Lit::TRUE],
            Op::False => vec![Lit::FALSE],
            Op::Const(_) => {
                let bits = arena.as_const(term).expect("a constant");
                (0..bits.width()).map(|i| Lit::constant(bits.bit(i))).collect()
            }
            Op::Var(_) => circuit.fresh(width as u16),
            Op::Not | Op::BvNot => inverted(word(0)),
            Op::And | Op::Or => {
                let bits: Vec<Lit> = (0..args.len()).map(|i| word(i)[0]).collect();
                vec![if op == Op::And { circuit.all(&bits) } else { circuit.any(&bits) }]
            }
            Op::Ite => circuit.choose(word(0)[0], word(1), word(2)),
            Op::Eq => vec![circuit.equal(word(0), word(1))],
            Op::Ult => vec![circuit.less(word(0), word(1))],
            Op::Slt => vec![circuit.less_signed(word(0), word(1))],
            Op::Add => (1..args.len()).fold(word(0).to_vec(), |sum, i| circuit.add(&sum, word(i))),
            Op::Mul => (1..args.len()).fold(word(0).to_vec(), |product, i| circuit.multiply(&product, word(i))),
            Op::Udiv => circuit.divide(word(0), word(1)).0,
            Op::Urem => circuit.divide(word(0), word(1)).1,
            Op::Sdiv => circuit.divide_signed(word(0), word(1)).0,
            Op::Srem => circuit.divide_signed(word(0), word(1)).1,
            Op::BvAnd => folded(Circuit::and),
            Op::BvOr => folded(Circuit::or),
            Op::BvXor => folded(Circuit::xor),
            Op::Shl => circuit.shift_left(word(0), word(1)),
            Op::Lshr => circuit.shift_right(word(0), word(1), Lit::FALSE),
            Op::Ashr => circuit.shift_right(word(0), word(1), sign_of(word(0))),
            Op::Extract { hi, lo } => word(0)[usize::from(lo)..=usize::from(hi)].to_vec(),
            Op::Concat => (0..args.len()).rev().flat_map(|i| word(i).to_vec()).collect(),
            Op::Zext(_) => extended(word(0), width, Lit::FALSE),
            Op::Sext(_) => extended(word(0), width, sign_of(word(0))),
            Op::Popcount => circuit.ones(word(0)),
            Op::TrailingZeros => circuit.trailing_zeros(word(0)),
            Op::LeadingZeros => {
                let reversed: Word = word(0).iter().rev().copied().collect();
                circuit.trailing_zeros(&reversed)
            }
            Op::Load(count) if is_base(arena, args[0]) => self.load(count, args[0], args[1]),
            Op::Apply(func) => {
                let sorts = args.iter().map(|arg| arena.sort(*arg)).collect();
                self.application(Symbol::Func(func, sorts), args, width)
            }
            Op::Load(_) | Op::Store(_) | Op::Fill | Op::Copy => self.application(Symbol::Memory(op), args, width),
        }
    }

    fn application(&mut self, symbol: Symbol, args: &[TermId], width: usize) -> Word {
        let words = args.iter().map(|arg| self.words[arg].clone()).collect();
        let result = self.circuit.fresh(width as u16);
        let commutes = matches!(&symbol, Symbol::Func(func, _) if self.commuting.contains(func));
        self.functions.note(symbol, commutes, words, result.clone());
        result
    }

    /// A load from a base memory: its bytes, each a function of the address.
    fn load(&mut self, count: u16, memory: TermId, address: TermId) -> Word {
        let (base, distance) = split(self.arena, address);
        let known = self.functions.bytes.contains_key(&(memory, base.clone()));
        if !known {
            let function = function_of(self.arena, memory);
            let words = self.arena.args(memory).iter().map(|arg| self.words[arg].clone()).collect();
            let zero = vec![Lit::FALSE; 64];
            let address = base.iter().fold(zero, |sum, term| self.circuit.add(&sum, &self.words[term]));
            self.functions.add_base(memory, base.clone(), function, words, address);
        }
        let mut word = Word::with_capacity(8 * usize::from(count));
        for i in 0..u64::from(count) {
            let circuit = &mut self.circuit;
            let bytes = self.functions.bytes.get_mut(&(memory, base.clone())).expect("just added");
            let byte = bytes.at.entry(distance.wrapping_add(i)).or_insert_with(|| circuit.fresh(8));
            word.extend(byte.iter());
        }
        word
    }
}

/// Whose bytes a load from a base memory reads.
fn function_of(arena: &Arena, memory: TermId) -> Symbol {
    let sorts = || arena.args(memory).iter().map(|arg| arena.sort(*arg)).collect();
    match arena.op(memory) {
        Op::Var(var) => Symbol::Bytes(var),
        Op::Apply(func) => Symbol::FuncBytes(func, sorts()),
        other => unreachable!("{other:?} is no base memory"),
    }
}

/// How many literals a value has.
fn width_of(sort: Sort) -> u16 {
    match sort {
        Sort::Bool => 1,
        Sort::Bv(width) => width,
        Sort::Memory => width_of(IDENTITY),
    }
}
