//! Terms to text: `3*rdi + 8`, `rax[31:0] <u 16`, `mem[rsp + 8, 4]`.
//!
//! A term is printed on one line as long as that stays short. Otherwise shared and long parts get names first:
//! `let t1 = …` lines, then the term. A constant stands without its width where the width follows from what is around it;
//! where nothing around it tells, one constant has it: `zext64(p ? 1:8 : 0)`. [`super::read`] reads all of it.

use super::tokens::quoted;
use super::words::is_builtin;
use crate::{Arena, Bits, Func, Op, Sort, TermId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A term whose tree has at most this many nodes is printed without names.
const INLINE_NODES: u64 = 200;
/// A part whose text is longer than this gets a name once any part does.
const INLINE_CHARS: usize = 160;

/// How tightly a piece of text binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Or,
    And,
    Comparison,
    Bits,
    Sum,
    Product,
    Unary,
    Atom,
}

#[derive(Clone)]
struct Piece {
    text: String,
    binding: Binding,
    /// If the text alone does not tell its width: the same with one constant that does.
    typed: Option<Box<Piece>>,
}

impl Piece {
    fn new(text: String, binding: Binding) -> Piece {
        Piece { text, binding, typed: None }
    }

    fn atom(text: String) -> Piece {
        Piece::new(text, Binding::Atom)
    }

    fn inside(&self, at_least: Binding) -> String {
        if self.binding >= at_least { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The piece as it stands where nothing else tells its width.
    fn alone(&self) -> &Piece {
        self.typed.as_deref().unwrap_or(self)
    }
}

impl Arena {
    /// The text form of a term, for a place that tells the term's width.
    pub fn text(&self, term: TermId) -> String {
        self.text_where(term, false)
    }

    /// The text form of a term, with its width if that does not follow from its parts.
    pub fn text_alone(&self, term: TermId) -> String {
        self.text_where(term, true)
    }

    fn text_where(&self, term: TermId, alone: bool) -> String {
        let order = self.topological(&[term]);
        let named = self.tree_size(&order, term) > INLINE_NODES;
        let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
        if named {
            order.iter().flat_map(|t| self.args(*t)).for_each(|arg| *uses.entry(*arg).or_default() += 1);
        }
        let mut pieces: FxHashMap<TermId, Piece> = FxHashMap::default();
        let mut out = String::new();
        let mut names = 0;
        for next in order {
            let mut piece = self.piece(next, &pieces);
            if alone && next == term {
                piece = piece.alone().clone();
            }
            let shared = uses.get(&next).is_some_and(|n| *n > 1) && piece.text.len() > 12;
            if named && next != term && (shared || piece.text.len() > INLINE_CHARS) {
                names += 1;
                while self.find_var(&format!("t{names}")).is_some() {
                    names += 1;
                }
                out.push_str(&format!("let t{names} = {}\n", piece.alone().text));
                piece = Piece::atom(format!("t{names}"));
            }
            pieces.insert(next, piece);
        }
        out.push_str(&pieces[&term].text);
        out
    }

    fn tree_size(&self, order: &[TermId], term: TermId) -> u64 {
        let mut sizes: FxHashMap<TermId, u64> = FxHashMap::default();
        for next in order {
            let size = self.args(*next).iter().fold(1u64, |sum, arg| sum.saturating_add(sizes[arg]));
            sizes.insert(*next, size);
        }
        sizes[&term]
    }

    fn piece(&self, term: TermId, pieces: &FxHashMap<TermId, Piece>) -> Piece {
        let parts: Vec<&Piece> = self.args(term).iter().map(|arg| &pieces[arg]).collect();
        let mut piece = self.rendered(term, &parts, None, pieces);
        if let Some(teller) = self.width_teller(term, &parts) {
            let mut told = parts.clone();
            if let Some(part) = told.get_mut(teller) {
                *part = part.alone();
            }
            piece.typed = Some(Box::new(self.rendered(term, &told, Some(teller), pieces)));
        }
        piece
    }

    /// If none of the parts that have the term's width tells it: the part that has to say it. A constant says its own.
    fn width_teller(&self, term: TermId, parts: &[&Piece]) -> Option<usize> {
        let like_the_whole = match self.op(term) {
            Op::Const(_) => return Some(0),
            Op::Ite if matches!(self.sort(term), Sort::Bv(_)) => 1..3,
            Op::Add | Op::Mul | Op::Udiv | Op::Urem | Op::Sdiv | Op::Srem => 0..parts.len(),
            Op::BvNot | Op::BvAnd | Op::BvOr | Op::BvXor | Op::Shl | Op::Lshr | Op::Ashr => 0..parts.len(),
            Op::Popcount | Op::TrailingZeros | Op::LeadingZeros => 0..1,
            _ => return None,
        };
        let mut open = like_the_whole.clone().map(|i| parts[i].typed.is_some());
        let constant = |i: &usize| self.as_const(self.arg(term, *i)).is_some();
        let first = like_the_whole.clone().find(|i| !constant(i)).unwrap_or(like_the_whole.start);
        open.all(|open| open).then_some(first)
    }

    /// The text of a term whose parts look so; the constant that tells the width shows it.
    fn rendered(
        &self,
        term: TermId,
        parts: &[&Piece],
        teller: Option<usize>,
        pieces: &FxHashMap<TermId, Piece>,
    ) -> Piece {
        let node = self.node(term);
        let part = |i: usize| parts[i];
        let infix = |sign: &str, binding: Binding, operands: Binding| {
            let operands: Vec<String> = parts.iter().map(|part| part.inside(operands)).collect();
            Piece::new(operands.join(sign), binding)
        };
        // What the place of an argument says of its width, the argument need not say.
        let call = |name: &str, place_tells: bool| {
            let shown = |part: &&Piece| if place_tells { part.text.clone() } else { part.alone().text.clone() };
            let args: Vec<String> = parts.iter().map(shown).collect();
            Piece::atom(format!("{name}({})", args.join(", ")))
        };
        match node.op {
            Op::True => Piece::atom("true".to_string()),
            Op::False => Piece::atom("false".to_string()),
            Op::Const(_) => constant_text(self.as_const(term).expect("a constant"), teller.is_some()),
            Op::Var(var) => Piece::atom(quoted(self.var_name(var)).into_owned()),
            Op::Not => self.negation(node.args[0], pieces),
            Op::And => infix(" && ", Binding::And, Binding::Comparison),
            Op::Or => infix(" || ", Binding::Or, Binding::And),
            Op::Ite => Piece::new(
                format!(
                    "{} ? {} : {}",
                    part(0).inside(Binding::Or),
                    part(1).inside(Binding::Or),
                    part(2).inside(Binding::Choice)
                ),
                Binding::Choice,
            ),
            Op::Eq => comparison(part(0), " == ", part(1)),
            Op::Ult => comparison(part(0), " <u ", part(1)),
            Op::Slt => comparison(part(0), " <s ", part(1)),
            Op::Add => self.sum(term, parts, teller, pieces),
            Op::Mul => match self.as_const(node.args[1]) {
                Some(c) => product(c, part(0), teller == Some(1)),
                None => infix("*", Binding::Product, Binding::Unary),
            },
            Op::Udiv => infix(" /u ", Binding::Bits, Binding::Sum),
            Op::Urem => infix(" %u ", Binding::Bits, Binding::Sum),
            Op::Sdiv => infix(" /s ", Binding::Bits, Binding::Sum),
            Op::Srem => infix(" %s ", Binding::Bits, Binding::Sum),
            Op::BvNot => Piece::new(format!("~{}", part(0).inside(Binding::Unary)), Binding::Unary),
            Op::BvAnd => infix(" & ", Binding::Bits, Binding::Sum),
            Op::BvOr => infix(" | ", Binding::Bits, Binding::Sum),
            Op::BvXor => infix(" ^ ", Binding::Bits, Binding::Sum),
            Op::Shl => infix(" << ", Binding::Bits, Binding::Sum),
            Op::Lshr => infix(" >>u ", Binding::Bits, Binding::Sum),
            Op::Ashr => infix(" >>s ", Binding::Bits, Binding::Sum),
            Op::Extract { hi, lo } if hi == lo => {
                Piece::atom(format!("{}[{hi}]", part(0).alone().inside(Binding::Atom)))
            }
            Op::Extract { hi, lo } => Piece::atom(format!("{}[{hi}:{lo}]", part(0).alone().inside(Binding::Atom))),
            Op::Concat => {
                let operand = |(arg, part): (&TermId, &&Piece)| match self.as_const(*arg) {
                    Some(c) => format!("{c}:{}", c.width()),
                    None => part.alone().inside(Binding::Sum),
                };
                let operands: Vec<String> = node.args.iter().zip(parts).map(operand).collect();
                Piece::new(operands.join(" ++ "), Binding::Bits)
            }
            Op::Zext(width) => call(&format!("zext{width}"), false),
            Op::Sext(width) => call(&format!("sext{width}"), false),
            Op::Popcount => call("popcount", true),
            Op::TrailingZeros => call("trailing_zeros", true),
            Op::LeadingZeros => call("leading_zeros", true),
            Op::Apply(func) => match self.func(func) {
                Func::Float(op) => call(&op.name(), true),
                Func::Opaque { name, result } => call(&symbol(name, *result), false),
            },
            Op::Load(bytes) => Piece::atom(format!("{}[{}, {bytes}]", part(0).inside(Binding::Atom), part(1).text)),
            Op::Store(bytes) => Piece::atom(format!(
                "{}{{{}, {bytes} := {}}}",
                part(0).inside(Binding::Atom),
                part(1).text,
                part(2).text
            )),
            Op::Fill => call("fill", true),
            Op::Copy => call("copy", true),
        }
    }

    fn negation(&self, term: TermId, pieces: &FxHashMap<TermId, Piece>) -> Piece {
        let inner = &pieces[&term];
        let named = inner.binding == Binding::Atom;
        let sides = |sign: &str| comparison(&pieces[&self.arg(term, 0)], sign, &pieces[&self.arg(term, 1)]);
        match self.op(term) {
            Op::Eq if !named => sides(" != "),
            Op::Ult if !named => sides(" >=u "),
            Op::Slt if !named => sides(" >=s "),
            _ => Piece::new(format!("!{}", inner.inside(Binding::Unary)), Binding::Unary),
        }
    }

    fn sum(&self, term: TermId, parts: &[&Piece], teller: Option<usize>, pieces: &FxHashMap<TermId, Piece>) -> Piece {
        let mut text = String::new();
        for (i, (arg, part)) in self.args(term).iter().zip(parts).enumerate() {
            let (negative, one) = match (self.as_const(*arg), self.op(*arg)) {
                (Some(c), _) => {
                    let negative = c.sign() && c.width() > 1;
                    (
                        negative,
                        constant_text(if negative { c.neg() } else { c }, teller == Some(i)).inside(Binding::Product),
                    )
                }
                (None, Op::Mul) if part.binding != Binding::Atom => {
                    let factor = self.as_const(self.arg(*arg, 1)).filter(|c| c.sign() && c.width() > 1);
                    let multiplied = &pieces[&self.arg(*arg, 0)];
                    let multiplied = if teller == Some(i) { multiplied.alone() } else { multiplied };
                    match factor {
                        Some(c) if c.is_ones() => (true, multiplied.inside(Binding::Unary)),
                        Some(c) => (true, product(c.neg(), multiplied, false).inside(Binding::Product)),
                        None => (false, part.inside(Binding::Product)),
                    }
                }
                _ => (false, part.inside(Binding::Product)),
            };
            match (text.is_empty(), negative) {
                (true, false) => {}
                (true, true) => text.push('-'),
                (false, true) => text.push_str(" - "),
                (false, false) => text.push_str(" + "),
            }
            text.push_str(&one);
        }
        Piece::new(text, Binding::Sum)
    }
}

/// Two terms of one sort; if neither tells its width, the left one does.
fn comparison(a: &Piece, sign: &str, b: &Piece) -> Piece {
    let left = if b.typed.is_some() { a.alone() } else { a };
    Piece::new(format!("{}{sign}{}", left.inside(Binding::Bits), b.inside(Binding::Bits)), Binding::Comparison)
}

/// A function symbol: its result has 64 bits unless it says otherwise.
fn symbol(name: &str, result: Sort) -> String {
    let name = if is_builtin(name) { Cow::Owned(format!("`{name}`")) } else { quoted(name) };
    match result {
        Sort::Bv(64) => name.into_owned(),
        Sort::Bv(width) => format!("{name}:{width}"),
        other => format!("{name}:{other}"),
    }
}

/// A term times a constant.
fn product(c: Bits, term: &Piece, shows_width: bool) -> Piece {
    let one = Bits::new(c.width(), 1);
    let factor = term.inside(Binding::Unary);
    if c == one.neg() && c.width() > 1 && !shows_width {
        Piece::new(format!("-{factor}"), Binding::Unary)
    } else {
        Piece::new(format!("{}*{factor}", constant_text(c, shows_width).text), Binding::Product)
    }
}

/// Small numbers in decimal, numbers just below zero with a sign, the others in hexadecimal.
fn constant_text(c: Bits, shows_width: bool) -> Piece {
    let minus = c.neg();
    let width = if shows_width { format!(":{}", c.width()) } else { String::new() };
    let mut piece = match (c.to_u64(), minus.to_u64()) {
        (Some(n), _) if n < 256 => Piece::atom(format!("{n}{width}")),
        (_, Some(n)) if n <= 256 && c.width() >= 16 => Piece::new(format!("-{n}{width}"), Binding::Unary),
        _ => Piece::atom(format!("{c}{width}")),
    };
    if !shows_width {
        piece.typed = Some(Box::new(constant_text(c, true)));
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sort;
    use expect_test::{Expect, expect};

    fn prints(build: impl FnOnce(&mut Arena) -> TermId, expected: Expect) {
        let mut arena = Arena::new();
        let term = build(&mut arena);
        expected.assert_eq(&arena.text(term));
    }

    #[test]
    fn sums_and_memories() {
        prints(
            |a| {
                let (memory, rsp, rdi) =
                    (a.var("mem", Sort::Memory), a.var("rsp", Sort::Bv(64)), a.var("rdi", Sort::Bv(64)));
                let three = a.bv(64, 3);
                let value = a.mul(rdi, three);
                let slot = a.add_const(rsp, -8);
                let memory = a.store(memory, slot, value);
                a.load(memory, rdi, 4)
            },
            expect![[r#"mem{rsp - 8, 8 := 3*rdi}[rdi, 4]"#]],
        );
    }

    #[test]
    fn operators_bind_as_people_expect() {
        prints(
            |a| {
                let (x, y) = (a.var("x", Sort::Bv(32)), a.var("y", Sort::Bv(32)));
                let p = a.var("p", Sort::Bool);
                let (sum, both) = (a.add(x, y), a.xor(x, y));
                let (less, equal) = (a.slt(sum, both), a.eq(x, y));
                let either = a.bool_or(less, equal);
                let all = a.bool_and(p, either);
                let choice = a.ite(all, sum, both);
                a.mul(choice, x)
            },
            expect!["x*(p && (x + y <s x ^ y || x == y) ? x + y : x ^ y)"],
        );
    }

    #[test]
    fn shared_parts_of_large_terms_get_names() {
        prints(
            |a| {
                let x = a.var("x", Sort::Bv(64));
                let mut term = x;
                for _ in 0..8 {
                    let product = a.mul(term, term);
                    term = a.xor(product, x);
                }
                term
            },
            expect![[r#"
                let t1 = x ^ (x ^ x*x)*(x ^ x*x)
                let t2 = x ^ (x ^ t1*t1)*(x ^ t1*t1)
                let t3 = x ^ (x ^ t2*t2)*(x ^ t2*t2)
                x ^ (x ^ t3*t3)*(x ^ t3*t3)"#]],
        );
    }
}
