//! Words of bits as circuits, and circuits as clauses of a SAT solver.
//!
//! A gate is a variable of the SAT solver with the clauses that define it. Gates fold constants and are shared: the
//! same gate over the same inputs is made once. Words are little-endian; all operators mean what SMT-LIB says.
//!
//! What would go wrong if this module were wrong: false proofs. Every operator is compared with the evaluator.

use rustc_hash::FxHashMap;
use std::ops::Not;

/// A variable of the SAT solver or its negation: twice the variable, plus one if negated. Variable 0 is true.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(pub(crate) u32);

impl Lit {
    pub(crate) const TRUE: Lit = Lit(0);
    pub(crate) const FALSE: Lit = Lit(1);

    pub(crate) fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }

    fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self == Lit::TRUE)
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Negated if `flip`.
    fn flipped(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// Bits of a value, the lowest first.
pub(crate) type Word = Vec<Lit>;

/// What the clauses are given to.
pub(crate) trait Clauses {
    /// A new variable.
    fn variable(&mut self) -> Lit;
    /// One of the literals holds.
    fn clause(&mut self, literals: &[Lit]);
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And,
    Xor,
    Choice,
    Majority,
}

/// Makes gates.
pub(crate) struct Circuit<C> {
    pub(crate) clauses: C,
    gates: FxHashMap<(Gate, [Lit; 3]), Lit>,
    conjunctions: FxHashMap<Vec<Lit>, Lit>,
}

impl<C: Clauses> Circuit<C> {
    pub(crate) fn new(clauses: C) -> Circuit<C> {
        Circuit { clauses, gates: FxHashMap::default(), conjunctions: FxHashMap::default() }
    }

    /// How many gates there are.
    pub(crate) fn size(&self) -> usize {
        self.gates.len() + self.conjunctions.len()
    }

    /// A word of new variables.
    pub(crate) fn fresh(&mut self, width: u16) -> Word {
        (0..width).map(|_| self.clauses.variable()).collect()
    }

    /// Asserts that one of the literals holds.
    pub(crate) fn require(&mut self, literals: &[Lit]) {
        if !literals.contains(&Lit::TRUE) {
            let open: Vec<Lit> = literals.iter().copied().filter(|lit| *lit != Lit::FALSE).collect();
            self.clauses.clause(&open);
        }
    }

    /// Asserts that two words are equal.
    pub(crate) fn require_equal(&mut self, a: &[Lit], b: &[Lit]) {
        for (a, b) in a.iter().zip(b) {
            if a != b {
                self.require(&[*a, !*b]);
                self.require(&[!*a, *b]);
            }
        }
    }

    fn gate(&mut self, gate: Gate, inputs: [Lit; 3], define: impl FnOnce(&mut C, Lit)) -> Lit {
        if let Some(known) = self.gates.get(&(gate, inputs)) {
            return *known;
        }
        let output = self.clauses.variable();
        define(&mut self.clauses, output);
        self.gates.insert((gate, inputs), output);
        output
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (a.as_constant(), b.as_constant()) {
            (Some(false), _) | (_, Some(false)) => return Lit::FALSE,
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            _ if a == b => return a,
            _ if a == !b => return Lit::FALSE,
            _ => {}
        }
        let (a, b) = (a.min(b), a.max(b));
        self.gate(Gate::And, [a, b, Lit::TRUE], |clauses, out| {
            clauses.clause(&[!out, a]);
            clauses.clause(&[!out, b]);
            clauses.clause(&[out, !a, !b]);
        })
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// The exclusive or of any number of literals.
    fn parity(&mut self, inputs: &[Lit]) -> Lit {
        let mut flip = false;
        let mut open: Vec<Lit> = Vec::with_capacity(inputs.len());
        for input in inputs {
            flip ^= input.is_negated();
            // Variable 0 is true: plain, it flips; negated, it has flipped once too often.
            flip ^= input.0 < 2;
            let positive = Lit(input.0 & !1);
            match open.iter().position(|lit| *lit == positive) {
                _ if input.0 < 2 => {}
                Some(at) => drop(open.swap_remove(at)),
                None => open.push(positive),
            }
        }
        open.sort_unstable();
        let value = match open[..] {
            [] => Lit::FALSE,
            [a] => a,
            [a, b] => self.gate(Gate::Xor, [a, b, Lit::FALSE], |clauses, out| {
                for signs in 0..4u32 {
                    let (x, y) = (signs & 1 == 1, signs & 2 == 2);
                    clauses.clause(&[a.flipped(x), b.flipped(y), out.flipped(!(x ^ y))]);
                }
            }),
            [a, b, c] => self.gate(Gate::Xor, [a, b, c], |clauses, out| {
                for signs in 0..8u32 {
                    let (x, y, z) = (signs & 1 == 1, signs & 2 == 2, signs & 4 == 4);
                    let inputs = [a.flipped(x), b.flipped(y), c.flipped(z)];
                    clauses.clause(&[inputs[0], inputs[1], inputs[2], out.flipped(!(x ^ y ^ z))]);
                }
            }),
            [a, b, ref rest @ ..] => {
                let first = self.parity(&[a, b]);
                let rest: Vec<Lit> = [first].iter().chain(rest).copied().collect();
                self.parity(&rest)
            }
        };
        value.flipped(flip)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        self.parity(&[a, b])
    }

    pub(crate) fn choice(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        if condition.is_negated() {
            return self.choice(!condition, no, yes);
        }
        match (yes.as_constant(), no.as_constant()) {
            _ if condition == Lit::TRUE || yes == no => return yes,
            (Some(true), _) => return self.or(condition, no),
            (Some(false), _) => return self.and(!condition, no),
            (_, Some(true)) => return self.or(!condition, yes),
            (_, Some(false)) => return self.and(condition, yes),
            _ if yes == !no => return self.xor(condition, no),
            _ if yes == condition => return self.or(condition, no),
            _ if yes == !condition => return self.and(!condition, no),
            _ if no == condition => return self.and(condition, yes),
            _ if no == !condition => return self.or(!condition, yes),
            _ => {}
        }
        self.gate(Gate::Choice, [condition, yes, no], |clauses, out| {
            clauses.clause(&[!condition, !yes, out]);
            clauses.clause(&[!condition, yes, !out]);
            clauses.clause(&[condition, !no, out]);
            clauses.clause(&[condition, no, !out]);
            // Implied, but it propagates before the condition is known.
            clauses.clause(&[!yes, !no, out]);
            clauses.clause(&[yes, no, !out]);
        })
    }

    /// At least two of three.
    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut inputs = [a, b, c];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        match (a.as_constant(), a == b, b == c) {
            (Some(true), ..) => return self.or(b, c),
            (Some(false), ..) => return self.and(b, c),
            (_, true, _) => return a,
            (_, _, true) => return b,
            _ if a == !b => return c,
            _ if b == !c => return a,
            _ => {}
        }
        self.gate(Gate::Majority, inputs, |clauses, out| {
            for (x, y) in [(a, b), (a, c), (b, c)] {
                clauses.clause(&[!x, !y, out]);
                clauses.clause(&[x, y, !out]);
            }
        })
    }

    /// Do all hold?
    pub(crate) fn all(&mut self, inputs: &[Lit]) -> Lit {
        let mut open: Vec<Lit> = inputs.iter().copied().filter(|lit| *lit != Lit::TRUE).collect();
        open.sort_unstable();
        open.dedup();
        // A literal and its negation are neighbours.
        if open.contains(&Lit::FALSE) || open.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Lit::FALSE;
        }
        match open[..] {
            [] => return Lit::TRUE,
            [a] => return a,
            [a, b] => return self.and(a, b),
            _ => {}
        }
        if let Some(known) = self.conjunctions.get(&open) {
            return *known;
        }
        let out = self.clauses.variable();
        let mut long = vec![out];
        for lit in &open {
            self.clauses.clause(&[!out, *lit]);
            long.push(!*lit);
        }
        self.clauses.clause(&long);
        self.conjunctions.insert(open, out);
        out
    }

    /// Does one hold?
    pub(crate) fn any(&mut self, inputs: &[Lit]) -> Lit {
        let negated: Vec<Lit> = inputs.iter().map(|lit| !*lit).collect();
        !self.all(&negated)
    }

    pub(crate) fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let bits: Vec<Lit> = a.iter().zip(b).map(|(a, b)| !self.xor(*a, *b)).collect();
        self.all(&bits)
    }

    /// Unsigned comparison.
    pub(crate) fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        a.iter().zip(b).fold(Lit::FALSE, |below, (a, b)| self.majority(!*a, *b, below))
    }

    /// Signed comparison.
    pub(crate) fn less_signed(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut flipped = (a.to_vec(), b.to_vec());
        for word in [&mut flipped.0, &mut flipped.1] {
            if let Some(sign) = word.last_mut() {
                *sign = !*sign;
            }
        }
        self.less(&flipped.0, &flipped.1)
    }

    /// Chooses between two words.
    pub(crate) fn choose(&mut self, condition: Lit, yes: &[Lit], no: &[Lit]) -> Word {
        yes.iter().zip(no).map(|(yes, no)| self.choice(condition, *yes, *no)).collect()
    }

    /// A gate per bit.
    pub(crate) fn bitwise(&mut self, a: &[Lit], b: &[Lit], gate: fn(&mut Self, Lit, Lit) -> Lit) -> Word {
        a.iter().zip(b).map(|(a, b)| gate(self, *a, *b)).collect()
    }

    fn sum(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Word {
        let mut sum = Word::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            sum.push(self.parity(&[*a, *b, carry]));
            carry = self.majority(*a, *b, carry);
        }
        sum
    }

    pub(crate) fn add(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.sum(a, b, Lit::FALSE)
    }

    fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.sum(a, &inverted(b), Lit::TRUE)
    }

    pub(crate) fn negate(&mut self, a: &[Lit]) -> Word {
        self.subtract(&vec![Lit::FALSE; a.len()], a)
    }

    /// Adds shifted copies of `a`, those that the bits of `b` select.
    pub(crate) fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        let constants = |word: &[Lit]| word.iter().filter(|lit| lit.as_constant().is_some()).count();
        // The factor with more constants selects; of two alike the same one whichever comes first.
        let (a, b) = if (constants(a), a) > (constants(b), b) { (b, a) } else { (a, b) };
        let copies = |word: &[Lit]| word.iter().filter(|lit| **lit == Lit::TRUE).count();
        if constants(b) == b.len() {
            let negated = self.negate(b);
            if copies(&negated) + 1 < copies(b) {
                let product = self.multiply(a, &negated);
                return self.negate(&product);
            }
        }
        let width = a.len();
        let mut product = vec![Lit::FALSE; width];
        for (shift, select) in b.iter().enumerate().filter(|(_, select)| **select != Lit::FALSE) {
            let copy: Word = a[..width - shift].iter().map(|lit| self.and(*lit, *select)).collect();
            let high = self.add(&product[shift..], &copy);
            product.truncate(shift);
            product.extend(high);
        }
        product
    }

    /// Quotient and remainder of unsigned division, bit by bit from the top; by zero all ones and the dividend.
    pub(crate) fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let width = a.len();
        let mut divisor = b.to_vec();
        divisor.push(Lit::FALSE);
        let mut rest = vec![Lit::FALSE; width + 1];
        let mut quotient = vec![Lit::FALSE; width];
        for i in (0..width).rev() {
            rest.pop();
            rest.insert(0, a[i]);
            let fits = !self.less(&rest, &divisor);
            let less = self.subtract(&rest, &divisor);
            rest = self.choose(fits, &less, &rest);
            quotient[i] = fits;
        }
        rest.pop();
        (quotient, rest)
    }

    /// Quotient and remainder of signed division, rounding towards zero; the remainder has the dividend's sign.
    pub(crate) fn divide_signed(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let (sign_a, sign_b) = (sign_of(a), sign_of(b));
        let (size_a, size_b) = (self.negate_if(sign_a, a), self.negate_if(sign_b, b));
        let (quotient, rest) = self.divide(&size_a, &size_b);
        let opposite = self.xor(sign_a, sign_b);
        (self.negate_if(opposite, &quotient), self.negate_if(sign_a, &rest))
    }

    fn negate_if(&mut self, condition: Lit, a: &[Lit]) -> Word {
        let negated = self.negate(a);
        self.choose(condition, &negated, a)
    }

    /// Shifts towards the top; zeros come in.
    pub(crate) fn shift_left(&mut self, a: &[Lit], amount: &[Lit]) -> Word {
        let reversed: Word = a.iter().rev().copied().collect();
        let mut shifted = self.shift_right(&reversed, amount, Lit::FALSE);
        shifted.reverse();
        shifted
    }

    /// Shifts towards the bottom; `fill` comes in.
    pub(crate) fn shift_right(&mut self, a: &[Lit], amount: &[Lit], fill: Lit) -> Word {
        let width = a.len();
        let mut word = a.to_vec();
        let mut beyond = Vec::new();
        for (i, bit) in amount.iter().enumerate() {
            if i < 16 && 1 << i < width {
                let mut moved = word[1 << i..].to_vec();
                moved.resize(width, fill);
                word = self.choose(*bit, &moved, &word);
            } else {
                beyond.push(*bit);
            }
        }
        let beyond = self.any(&beyond);
        self.choose(beyond, &vec![fill; width], &word)
    }

    /// The number of ones, in as many bits as the word has.
    pub(crate) fn ones(&mut self, a: &[Lit]) -> Word {
        let width = a.len();
        let mut sums: Vec<Word> = a.iter().map(|lit| vec![*lit]).collect();
        while sums.len() > 1 {
            let mut next = Vec::with_capacity(sums.len().div_ceil(2));
            for pair in sums.chunks(2) {
                let [x, y] = pair else {
                    next.push(pair[0].clone());
                    continue;
                };
                let bits = x.len().max(y.len()) + 1;
                let (x, y) = (extended(x, bits, Lit::FALSE), extended(y, bits, Lit::FALSE));
                next.push(self.add(&x, &y));
            }
            sums = next;
        }
        extended(&sums.pop().unwrap_or_default(), width, Lit::FALSE)
    }

    /// The number of zeros below the lowest one; the width if there is none.
    pub(crate) fn trailing_zeros(&mut self, a: &[Lit]) -> Word {
        let mut none = Lit::TRUE;
        let zeros: Word = a
            .iter()
            .map(|lit| {
                none = self.and(none, !*lit);
                none
            })
            .collect();
        self.ones(&zeros)
    }
}

/// The word with every bit negated.
pub(crate) fn inverted(a: &[Lit]) -> Word {
    a.iter().map(|lit| !*lit).collect()
}

/// The highest bit.
pub(crate) fn sign_of(a: &[Lit]) -> Lit {
    a.last().copied().unwrap_or(Lit::FALSE)
}

/// The word cut or extended with `fill`.
pub(crate) fn extended(a: &[Lit], width: usize, fill: Lit) -> Word {
    let mut word = a.to_vec();
    word.resize(width, fill);
    word
}
