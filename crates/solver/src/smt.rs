//! Prints flat assertions as an SMT-LIB 2 question.
//!
//! One pass over the shared graph, operands first, without recursion: a term used more than once, or long, becomes a
//! `define-fun` without parameters, so the text is linear in the number of terms. Names are positions in the order of
//! first use, hence the text depends on the structure of the question only and serves as the key of the cache.
//!
//! What the solver does not understand, it sees as uninterpreted functions; each is a function in truth, so `unsat`
//! remains a proof:
//! - floating-point and opaque functions, per name and operand sorts;
//! - a byte of a memory variable, as a function of the address;
//! - a memory as such (operand of an opaque function, or beneath a load that was not expanded), by its *identity*, a
//!   32-bit number. Take any injective numbering of the memories that occur, fewer than 2^32: stores, fills and copies
//!   are then functions of identities, and equal memories have equal identities and conversely.
//!
//! What would go wrong if this module were wrong: false proofs. The tests compare it with the evaluator.

use crate::basis::Basis;
use crate::counting;
use crate::memory::is_base;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::fmt::Write;
use term::{Arena, Bits, FloatOp, Func, FuncId, Op, Sort, TermId, VarId};

/// Terms used once stay inside their user up to this many characters.
const INLINE: usize = 120;

/// More sums or products of floats than this are taken as they stand.
const MOST_COMMUTED: usize = 64;

/// Sort of the identity of a memory.
pub(crate) const IDENTITY: Sort = Sort::Bv(32);

/// A question in the solver's language.
pub(crate) struct Question {
    /// SMT-LIB logic.
    pub(crate) logic: &'static str,
    /// Declarations, definitions, assertions.
    pub(crate) text: String,
    /// What to ask of a model; [`Meaning`] refers to the positions.
    pub(crate) values: Vec<(String, Sort)>,
    /// The same, for who does not read the text.
    pub(crate) sources: Vec<Source>,
    /// Functions whose two operands may change places.
    pub(crate) commuting: FxHashSet<FuncId>,
    /// What the values say about the variables.
    pub(crate) meanings: Vec<Meaning>,
}

/// What a wanted value is the value of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// A term.
    Term(TermId),
    /// A byte of a base memory.
    Byte {
        /// The memory.
        memory: TermId,
        /// Where.
        address: TermId,
    },
}

/// How values of a solver's model translate back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// The value of a variable.
    Var {
        /// The variable.
        var: VarId,
        /// Position of its value.
        value: usize,
    },
    /// A byte of a memory variable.
    Byte {
        /// The memory.
        memory: VarId,
        /// Position of the address.
        address: usize,
        /// Position of the byte.
        value: usize,
    },
    /// The result of an opaque function without memory operands.
    Result {
        /// The application.
        term: TermId,
        /// Position of the result.
        value: usize,
    },
}

impl Question {
    /// Prints the conjunction of flat assertions.
    pub(crate) fn new(arena: &mut Arena, basis: &Basis) -> Question {
        let roots: Vec<TermId> =
            basis.assertions.iter().copied().chain(basis.eliminated.iter().map(|(_, value)| *value)).collect();
        let mut printer = Printer {
            arena,
            declarations: String::new(),
            definitions: String::new(),
            texts: FxHashMap::default(),
            uses: FxHashMap::default(),
            bytes: FxHashMap::default(),
            reads: FxHashMap::default(),
            functions: FxHashMap::default(),
            defined: 0,
            vars: 0,
            introduced: &basis.introduced,
            values: Vec::new(),
            sources: Vec::new(),
            commuting: FxHashSet::default(),
            meanings: Vec::new(),
        };
        let order = printer.order(&roots);
        for term in &order {
            printer.print(*term);
        }
        printer.commute(&order);
        for assertion in &basis.assertions {
            let text = &printer.texts[assertion];
            let _ = writeln!(printer.definitions, "(assert {text})");
        }
        for (var, value) in &basis.eliminated {
            printer.meanings.push(Meaning::Var { var: *var, value: printer.values.len() });
            printer.want(printer.texts[value].clone(), Sort::Bv(64), Source::Term(*value));
        }
        let logic = if printer.functions.is_empty() { "QF_BV" } else { "QF_UFBV" };
        let text = printer.declarations + &printer.definitions;
        Question {
            logic,
            text,
            values: printer.values,
            sources: printer.sources,
            commuting: printer.commuting,
            meanings: printer.meanings,
        }
    }
}

/// A symbol declared on first use.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Symbol {
    /// An operation on identities, or a load that was not expanded.
    Memory(Op),
    /// Bytes of a memory variable.
    Bytes(VarId),
    /// A function of the arena with these operand sorts.
    Func(FuncId, Vec<Sort>),
    /// Bytes of the memory that a function of the arena returns.
    FuncBytes(FuncId, Vec<Sort>),
}

struct Printer<'a> {
    arena: &'a mut Arena,
    declarations: String,
    definitions: String,
    texts: FxHashMap<TermId, String>,
    uses: FxHashMap<TermId, u32>,
    /// Addresses of the single bytes of a load from a base memory, lowest first.
    bytes: FxHashMap<TermId, SmallVec<[TermId; 8]>>,
    /// Bytes already read: base memory and address.
    reads: FxHashMap<(TermId, TermId), String>,
    functions: FxHashMap<Symbol, String>,
    defined: usize,
    vars: usize,
    /// Variables that mean nothing outside the question.
    introduced: &'a FxHashSet<VarId>,
    values: Vec<(String, Sort)>,
    sources: Vec<Source>,
    commuting: FxHashSet<FuncId>,
    meanings: Vec<Meaning>,
}

fn sort_text(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_string(),
        Sort::Bv(width) => format!("(_ BitVec {width})"),
        Sort::Memory => sort_text(IDENTITY),
    }
}

/// A constant as `#x…` or `#b…`.
pub(crate) fn const_text(bits: Bits) -> String {
    let width = bits.width();
    if width.is_multiple_of(4) {
        let digit = |i: u16| bits.extract(4 * i + 3, 4 * i).low();
        (0..width / 4).rev().fold("#x".to_string(), |mut text, i| {
            let _ = write!(text, "{:x}", digit(i));
            text
        })
    } else {
        (0..width).rev().fold("#b".to_string(), |text, i| text + if bits.bit(i) { "1" } else { "0" })
    }
}

impl Printer<'_> {
    /// Asks for a value of a model.
    fn want(&mut self, text: String, sort: Sort, source: Source) {
        self.values.push((text, sort));
        self.sources.push(source);
    }

    /// What must be printed before a term.
    fn operands(&mut self, term: TermId) -> SmallVec<[TermId; 8]> {
        let op = self.arena.op(term);
        let Op::Load(count) = op else { return self.arena.args(term).into() };
        let (memory, address) = (self.arena.arg(term, 0), self.arena.arg(term, 1));
        if !is_base(self.arena, memory) {
            return [memory, address].as_slice().into();
        }
        if !self.bytes.contains_key(&term) {
            let addresses = (0..count).map(|i| self.arena.add_const(address, i64::from(i))).collect();
            self.bytes.insert(term, addresses);
        }
        let mut operands: SmallVec<[TermId; 8]> = self.arena.args(memory).into();
        operands.extend(self.bytes[&term].iter().copied());
        operands
    }

    /// The terms to print, operands first, and how often each is used.
    fn order(&mut self, roots: &[TermId]) -> Vec<TermId> {
        let mut order = Vec::new();
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|root| (*root, false)).collect();
        for root in roots {
            *self.uses.entry(*root).or_default() += 1;
        }
        let mut entered: FxHashMap<TermId, ()> = FxHashMap::default();
        while let Some((term, operands_done)) = stack.pop() {
            if operands_done {
                order.push(term);
                continue;
            }
            if entered.insert(term, ()).is_some() {
                continue;
            }
            stack.push((term, true));
            for operand in self.operands(term).into_iter().rev() {
                *self.uses.entry(operand).or_default() += 1;
                stack.push((operand, false));
            }
        }
        order
    }

    fn print(&mut self, term: TermId) {
        let text = self.text(term);
        let text = if (self.uses[&term] > 1 && text.starts_with('(')) || text.len() > INLINE {
            self.define(self.arena.sort(term), &text)
        } else {
            text
        };
        self.texts.insert(term, text);
    }

    /// Names a text.
    fn define(&mut self, sort: Sort, text: &str) -> String {
        let name = format!("t{}", self.defined);
        self.defined += 1;
        let _ = writeln!(self.definitions, "(define-fun {name} () {} {text})", sort_text(sort));
        name
    }

    fn arg(&self, term: TermId, i: usize) -> &str {
        &self.texts[&self.arena.arg(term, i)]
    }

    fn fold(&self, operator: &str, term: TermId) -> String {
        let args = self.arena.args(term);
        let first = self.texts[&args[0]].clone();
        args[1..].iter().fold(first, |sum, arg| format!("({operator} {sum} {})", self.texts[arg]))
    }

    fn flat(&self, operator: &str, term: TermId) -> String {
        let mut text = format!("({operator}");
        for arg in self.arena.args(term) {
            text.push(' ');
            text.push_str(&self.texts[arg]);
        }
        text + ")"
    }

    fn text(&mut self, term: TermId) -> String {
        let op = self.arena.op(term);
        let width = self.arena.sort(term).width().unwrap_or(0);
        match op {
            Op::True => "true".to_string(),
            Op::False => "false".to_string(),
            Op::Const(_) => const_text(self.arena.as_const(term).expect("a constant")),
            Op::Var(var) => self.variable(var, term),
            Op::Not => self.flat("not", term),
            Op::And => self.flat("and", term),
            Op::Or => self.flat("or", term),
            Op::Ite => self.flat("ite", term),
            Op::Eq => self.flat("=", term),
            Op::Ult => self.flat("bvult", term),
            Op::Slt => self.flat("bvslt", term),
            Op::Add => self.fold("bvadd", term),
            Op::Mul if self.arena.as_const(self.arena.arg(term, 1)).is_some_and(Bits::is_ones) => {
                format!("(bvneg {})", self.arg(term, 0))
            }
            Op::Mul => self.flat("bvmul", term),
            Op::Udiv => self.flat("bvudiv", term),
            Op::Urem => self.flat("bvurem", term),
            Op::Sdiv => self.flat("bvsdiv", term),
            Op::Srem => self.flat("bvsrem", term),
            Op::BvNot => self.flat("bvnot", term),
            Op::BvAnd => self.fold("bvand", term),
            Op::BvOr => self.fold("bvor", term),
            Op::BvXor => self.fold("bvxor", term),
            Op::Shl => self.flat("bvshl", term),
            Op::Lshr => self.flat("bvlshr", term),
            Op::Ashr => self.flat("bvashr", term),
            Op::Extract { hi, lo } => format!("((_ extract {hi} {lo}) {})", self.arg(term, 0)),
            Op::Concat => self.fold("concat", term),
            Op::Zext(to) => self.extend("zero_extend", to, term),
            Op::Sext(to) => self.extend("sign_extend", to, term),
            Op::Popcount | Op::TrailingZeros | Op::LeadingZeros => {
                let x = self.arg(term, 0).to_string();
                let mut define = |width: u16, text: &str| self.define(Sort::Bv(width), text);
                match op {
                    Op::Popcount => counting::ones(width, &x, &mut define),
                    Op::TrailingZeros => counting::trailing_zeros(width, &x, &mut define),
                    _ => counting::leading_zeros(width, &x, &mut define),
                }
            }
            Op::Apply(func) => self.application(func, term),
            Op::Load(count) if is_base(self.arena, self.arena.arg(term, 0)) => self.load(count, term),
            Op::Load(_) | Op::Store(_) | Op::Fill | Op::Copy => {
                let sorts: Vec<Sort> = self.arena.args(term).iter().map(|arg| self.arena.sort(*arg)).collect();
                let name = self.declare(Symbol::Memory(op), &sorts, self.arena.sort(term));
                self.flat(&name, term)
            }
        }
    }

    fn extend(&self, operator: &str, to: u16, term: TermId) -> String {
        let by = to - self.arena.width(self.arena.arg(term, 0));
        format!("((_ {operator} {by}) {})", self.arg(term, 0))
    }

    fn variable(&mut self, var: VarId, term: TermId) -> String {
        let name = format!("v{}", self.vars);
        self.vars += 1;
        let sort = self.arena.var_sort(var);
        let _ = writeln!(self.declarations, "(declare-fun {name} () {})", sort_text(sort));
        if sort != Sort::Memory && !self.introduced.contains(&var) {
            self.meanings.push(Meaning::Var { var, value: self.values.len() });
            self.want(name.clone(), sort, Source::Term(term));
        }
        name
    }

    fn declare(&mut self, symbol: Symbol, operands: &[Sort], result: Sort) -> String {
        if let Some(name) = self.functions.get(&symbol) {
            return name.clone();
        }
        let name = format!("f{}", self.functions.len());
        let operands: Vec<String> = operands.iter().map(|sort| sort_text(*sort)).collect();
        let _ = writeln!(self.declarations, "(declare-fun {name} ({}) {})", operands.join(" "), sort_text(result));
        self.functions.insert(symbol, name.clone());
        name
    }

    /// Sums and products of floats are the same the other way round: the sorted operands of two of them need not have met
    /// in one order. What payload a NaN has is not observable (`nan-payload`).
    fn commute(&mut self, order: &[TermId]) {
        let mut found: BTreeMap<FuncId, Vec<TermId>> = BTreeMap::new();
        for term in order {
            if let Op::Apply(func) = self.arena.op(*term)
                && matches!(self.arena.func(func), Func::Float(FloatOp::Add(_) | FloatOp::Mul(_)))
                && self.arena.arg(*term, 0) != self.arena.arg(*term, 1)
                && self.arena.as_const(self.arena.arg(*term, 1)).is_none()
            {
                found.entry(func).or_default().push(*term);
            }
        }
        for terms in found.into_values().filter(|terms| (2..=MOST_COMMUTED).contains(&terms.len())) {
            for term in terms {
                let sorts: Vec<Sort> = self.arena.args(term).iter().map(|arg| self.arena.sort(*arg)).collect();
                let Op::Apply(func) = self.arena.op(term) else { continue };
                let Some(name) = self.functions.get(&Symbol::Func(func, sorts)) else { continue };
                let (a, b) = (self.arg(term, 0), self.arg(term, 1));
                let theorem = format!("(assert (= ({name} {a} {b}) ({name} {b} {a})))");
                let _ = writeln!(self.definitions, "{theorem}");
                self.commuting.insert(func);
                self.arena.note_swapped_floats();
            }
        }
    }

    fn application(&mut self, func: FuncId, term: TermId) -> String {
        let sorts: Vec<Sort> = self.arena.args(term).iter().map(|arg| self.arena.sort(*arg)).collect();
        let result = self.arena.sort(term);
        let name = self.declare(Symbol::Func(func, sorts.clone()), &sorts, result);
        let text = if sorts.is_empty() { name } else { self.flat(&name, term) };
        let stated = matches!(self.arena.func(func), Func::Opaque { .. }) && result != Sort::Memory;
        if !stated || sorts.contains(&Sort::Memory) {
            return text;
        }
        let name = self.define(result, &text);
        self.meanings.push(Meaning::Result { term, value: self.values.len() });
        self.want(name.clone(), result, Source::Term(term));
        name
    }

    /// A load from a base memory: its bytes, concatenated.
    fn load(&mut self, count: u16, term: TermId) -> String {
        let memory = self.arena.arg(term, 0);
        let addresses = self.bytes[&term].clone();
        let mut text = String::new();
        for i in (0..usize::from(count)).rev() {
            let byte = self.read(memory, addresses[i]);
            text = if text.is_empty() { byte } else { format!("(concat {text} {byte})") };
        }
        text
    }

    fn read(&mut self, memory: TermId, address: TermId) -> String {
        if let Some(name) = self.reads.get(&(memory, address)) {
            return name.clone();
        }
        let at = self.texts[&address].clone();
        let name = match self.arena.op(memory) {
            Op::Var(var) => {
                let bytes = self.declare(Symbol::Bytes(var), &[Sort::Bv(64)], Sort::Bv(8));
                let name = self.define(Sort::Bv(8), &format!("({bytes} {at})"));
                let first = self.values.len();
                self.want(at, Sort::Bv(64), Source::Term(address));
                self.want(name.clone(), Sort::Bv(8), Source::Byte { memory, address });
                self.meanings.push(Meaning::Byte { memory: var, address: first, value: first + 1 });
                name
            }
            Op::Apply(func) => {
                let mut sorts: Vec<Sort> = self.arena.args(memory).iter().map(|arg| self.arena.sort(*arg)).collect();
                let symbol = Symbol::FuncBytes(func, sorts.clone());
                sorts.push(Sort::Bv(64));
                let bytes = self.declare(symbol, &sorts, Sort::Bv(8));
                let args: Vec<&str> = self.arena.args(memory).iter().map(|arg| self.texts[arg].as_str()).collect();
                let text = format!("({bytes} {} {at})", args.join(" "));
                self.define(Sort::Bv(8), &text)
            }
            other => unreachable!("{other:?} is no base memory"),
        };
        self.reads.insert((memory, address), name.clone());
        name
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// The question that asserts these terms.
    pub(crate) fn text_of(arena: &mut Arena, assertions: &[TermId]) -> String {
        let basis = crate::basis::change(arena, assertions, &[]);
        Question::new(arena, &basis).text
    }

    fn prints(build: impl FnOnce(&mut Arena) -> TermId, expected: Expect) {
        let mut arena = Arena::new();
        let term = build(&mut arena);
        expected.assert_eq(&text_of(&mut arena, &[term]));
    }

    #[test]
    fn shared_terms_are_defined_once() {
        prints(
            |arena| {
                let x = arena.var("x", Sort::Bv(32));
                let y = arena.var("y", Sort::Bv(32));
                let xor = arena.raw(Op::BvXor, &[x, y]);
                let square = arena.raw(Op::Mul, &[xor, xor]);
                arena.raw(Op::Ult, &[square, y])
            },
            expect![[r#"
                (declare-fun v0 () (_ BitVec 32))
                (declare-fun v1 () (_ BitVec 32))
                (define-fun t0 () (_ BitVec 32) (bvxor v0 v1))
                (assert (bvult (bvmul t0 t0) v1))
            "#]],
        );
    }

    #[test]
    fn loads_from_variables_share_bytes() {
        prints(
            |arena| {
                let memory = arena.var("m", Sort::Memory);
                let p = arena.var("p", Sort::Bv(64));
                let q = arena.add_const(p, 1);
                let (a, b) = (arena.load(memory, p, 2), arena.load(memory, q, 2));
                arena.raw(Op::Ult, &[a, b])
            },
            expect![[r#"
                (declare-fun v0 () (_ BitVec 64))
                (declare-fun f0 ((_ BitVec 64)) (_ BitVec 8))
                (define-fun t0 () (_ BitVec 64) (bvadd v0 #x0000000000000001))
                (define-fun t1 () (_ BitVec 8) (f0 t0))
                (define-fun t2 () (_ BitVec 8) (f0 v0))
                (define-fun t3 () (_ BitVec 8) (f0 (bvadd v0 #x0000000000000002)))
                (assert (bvult (concat t1 t2) (concat t3 t1)))
            "#]],
        );
    }

    #[test]
    fn functions_see_memories_by_identity() {
        prints(
            |arena| {
                let memory = arena.var("m", Sort::Memory);
                let p = arena.var("p", Sort::Bv(64));
                let v = arena.var("v", Sort::Bv(16));
                let stored = arena.store(memory, p, v);
                let a = arena.apply("strlen", Sort::Bv(64), &[stored, p]);
                let b = arena.apply("strlen", Sort::Bv(64), &[memory, p]);
                arena.raw(Op::Eq, &[a, b])
            },
            expect![[r#"
                (declare-fun v0 () (_ BitVec 32))
                (declare-fun v1 () (_ BitVec 64))
                (declare-fun v2 () (_ BitVec 16))
                (declare-fun f0 ((_ BitVec 32) (_ BitVec 64) (_ BitVec 16)) (_ BitVec 32))
                (declare-fun f1 ((_ BitVec 32) (_ BitVec 64)) (_ BitVec 64))
                (assert (= (f1 (f0 v0 v1 v2) v1) (f1 v0 v1)))
            "#]],
        );
    }

    #[test]
    fn memories_made_by_functions_have_bytes() {
        prints(
            |arena| {
                let p = arena.var("p", Sort::Bv(64));
                let memory = arena.apply("after", Sort::Memory, &[p]);
                let byte = arena.load(memory, p, 1);
                let x = arena.var("x", Sort::Bv(32));
                let sum = arena.float(FloatOp::Add(32), &[x, x]);
                let low = arena.truncate(sum, 8);
                arena.raw(Op::Eq, &[byte, low])
            },
            expect![[r#"
                (declare-fun v0 () (_ BitVec 64))
                (declare-fun f0 ((_ BitVec 64) (_ BitVec 64)) (_ BitVec 8))
                (declare-fun v1 () (_ BitVec 32))
                (declare-fun f1 ((_ BitVec 32) (_ BitVec 32)) (_ BitVec 32))
                (define-fun t0 () (_ BitVec 8) (f0 v0 v0))
                (assert (= t0 ((_ extract 7 0) (f1 v1 v1))))
            "#]],
        );
    }

    #[test]
    fn depth_needs_no_stack_and_size_is_linear() {
        let mut arena = Arena::new();
        let mut term = arena.var("x", Sort::Bv(64));
        let y = arena.var("y", Sort::Bv(64));
        for _ in 0..50_000 {
            let sum = arena.raw(Op::BvXor, &[term, y]);
            term = arena.raw(Op::Mul, &[sum, sum]);
        }
        let goal = arena.raw(Op::Eq, &[term, y]);
        let text = text_of(&mut arena, &[goal]);
        assert!(text.len() < 50_000 * 200);
    }
}
