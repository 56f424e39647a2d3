//! The readable text form of terms: `3*rdi + 8`, `rax[31:0] <u 16`, `mem[rsp + 8, 4]`.
//!
//! A term is printed on one line as long as that stays short. Otherwise shared and long parts get names first:
//! `let t1 = …` lines, then the term. The text is for people and tests; nothing reads it back.

use crate::{Arena, Bits, Func, Op, TermId};
use rustc_hash::FxHashMap;

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

struct Piece {
    text: String,
    binding: Binding,
}

impl Piece {
    fn atom(text: String) -> Piece {
        Piece { text, binding: Binding::Atom }
    }

    fn inside(&self, at_least: Binding) -> String {
        if self.binding >= at_least { self.text.clone() } else { format!("({})", self.text) }
    }
}

impl Arena {
    /// The text form of a term.
    pub fn text(&self, term: TermId) -> String {
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
            let shared = uses.get(&next).is_some_and(|n| *n > 1) && piece.text.len() > 12;
            if named && next != term && (shared || piece.text.len() > INLINE_CHARS) {
                names += 1;
                out.push_str(&format!("let t{names} = {}\n", piece.text));
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
        let node = self.node(term);
        let part = |i: usize| &pieces[&node.args[i]];
        let infix = |sign: &str, binding: Binding, operands: Binding| Piece {
            text: node.args.iter().map(|arg| pieces[arg].inside(operands)).collect::<Vec<_>>().join(sign),
            binding,
        };
        let call = |name: &str| {
            let args: Vec<&str> = node.args.iter().map(|arg| pieces[arg].text.as_str()).collect();
            Piece::atom(format!("{name}({})", args.join(", ")))
        };
        match node.op {
            Op::True => Piece::atom("true".to_string()),
            Op::False => Piece::atom("false".to_string()),
            Op::Const(_) => constant_text(self.as_const(term).expect("a constant")),
            Op::Var(var) => Piece::atom(self.var_name(var).to_string()),
            Op::Not => self.negation(node.args[0], pieces),
            Op::And => infix(" && ", Binding::And, Binding::Comparison),
            Op::Or => infix(" || ", Binding::Or, Binding::And),
            Op::Ite => Piece {
                text: format!(
                    "{} ? {} : {}",
                    part(0).inside(Binding::Or),
                    part(1).inside(Binding::Or),
                    part(2).inside(Binding::Choice)
                ),
                binding: Binding::Choice,
            },
            Op::Eq => infix(" == ", Binding::Comparison, Binding::Bits),
            Op::Ult => infix(" <u ", Binding::Comparison, Binding::Bits),
            Op::Slt => infix(" <s ", Binding::Comparison, Binding::Bits),
            Op::Add => self.sum(term, pieces),
            Op::Mul => match self.as_const(node.args[1]) {
                Some(c) => product(c, part(0)),
                None => infix("*", Binding::Product, Binding::Unary),
            },
            Op::Udiv => infix(" /u ", Binding::Bits, Binding::Sum),
            Op::Urem => infix(" %u ", Binding::Bits, Binding::Sum),
            Op::Sdiv => infix(" /s ", Binding::Bits, Binding::Sum),
            Op::Srem => infix(" %s ", Binding::Bits, Binding::Sum),
            Op::BvNot => Piece { text: format!("~{}", part(0).inside(Binding::Unary)), binding: Binding::Unary },
            Op::BvAnd => infix(" & ", Binding::Bits, Binding::Sum),
            Op::BvOr => infix(" | ", Binding::Bits, Binding::Sum),
            Op::BvXor => infix(" ^ ", Binding::Bits, Binding::Sum),
            Op::Shl => infix(" << ", Binding::Bits, Binding::Sum),
            Op::Lshr => infix(" >>u ", Binding::Bits, Binding::Sum),
            Op::Ashr => infix(" >>s ", Binding::Bits, Binding::Sum),
            Op::Extract { hi, lo } if hi == lo => Piece::atom(format!("{}[{hi}]", part(0).inside(Binding::Atom))),
            Op::Extract { hi, lo } => Piece::atom(format!("{}[{hi}:{lo}]", part(0).inside(Binding::Atom))),
            Op::Concat => {
                let parts: Vec<String> = node
                    .args
                    .iter()
                    .map(|arg| match self.as_const(*arg) {
                        Some(c) => format!("{c}:{}", c.width()),
                        None => pieces[arg].inside(Binding::Sum),
                    })
                    .collect();
                Piece { text: parts.join(" ++ "), binding: Binding::Bits }
            }
            Op::Zext(width) => call(&format!("zext{width}")),
            Op::Sext(width) => call(&format!("sext{width}")),
            Op::Popcount => call("popcount"),
            Op::TrailingZeros => call("trailing_zeros"),
            Op::LeadingZeros => call("leading_zeros"),
            Op::Apply(func) => match self.func(func) {
                Func::Float(op) => call(&op.name()),
                Func::Opaque { name, .. } => call(name),
            },
            Op::Load(bytes) => Piece::atom(format!("{}[{}, {bytes}]", part(0).inside(Binding::Atom), part(1).text)),
            Op::Store(bytes) => Piece::atom(format!(
                "{}{{{}, {bytes} := {}}}",
                part(0).inside(Binding::Atom),
                part(1).text,
                part(2).text
            )),
            Op::Fill => call("fill"),
            Op::Copy => call("copy"),
        }
    }

    fn negation(&self, term: TermId, pieces: &FxHashMap<TermId, Piece>) -> Piece {
        let inner = &pieces[&term];
        let named = inner.binding == Binding::Atom;
        let args = self.args(term);
        let infix = |a: TermId, sign: &str, b: TermId| Piece {
            text: format!("{}{sign}{}", pieces[&a].inside(Binding::Bits), pieces[&b].inside(Binding::Bits)),
            binding: Binding::Comparison,
        };
        match self.op(term) {
            Op::Eq if !named => infix(args[0], " != ", args[1]),
            Op::Ult if !named => infix(args[0], " >=u ", args[1]),
            Op::Slt if !named => infix(args[0], " >=s ", args[1]),
            _ => Piece { text: format!("!{}", inner.inside(Binding::Unary)), binding: Binding::Unary },
        }
    }

    fn sum(&self, term: TermId, pieces: &FxHashMap<TermId, Piece>) -> Piece {
        let mut text = String::new();
        for arg in self.args(term) {
            let (negative, one) = match (self.as_const(*arg), self.op(*arg)) {
                (Some(c), _) => {
                    let negative = c.sign() && c.width() > 1;
                    (negative, constant_text(if negative { c.neg() } else { c }).text)
                }
                (None, Op::Mul) if pieces[arg].binding != Binding::Atom => {
                    let factor = self.as_const(self.arg(*arg, 1)).filter(|c| c.sign() && c.width() > 1);
                    match factor {
                        Some(c) => (true, product(c.neg(), &pieces[&self.arg(*arg, 0)]).inside(Binding::Product)),
                        None => (false, pieces[arg].inside(Binding::Product)),
                    }
                }
                _ => (false, pieces[arg].inside(Binding::Product)),
            };
            match (text.is_empty(), negative) {
                (true, false) => {}
                (true, true) => text.push('-'),
                (false, true) => text.push_str(" - "),
                (false, false) => text.push_str(" + "),
            }
            text.push_str(&one);
        }
        Piece { text, binding: Binding::Sum }
    }
}

/// A term times a constant.
fn product(c: Bits, term: &Piece) -> Piece {
    let one = Bits::new(c.width(), 1);
    let term = term.inside(Binding::Unary);
    if c == one {
        Piece { text: term, binding: Binding::Unary }
    } else if c == one.neg() {
        Piece { text: format!("-{term}"), binding: Binding::Unary }
    } else {
        Piece { text: format!("{}*{term}", constant_text(c).text), binding: Binding::Product }
    }
}

/// Small numbers in decimal, numbers just below zero with a sign, the others in hexadecimal.
fn constant_text(c: Bits) -> Piece {
    let minus = c.neg();
    match (c.to_u64(), minus.to_u64()) {
        (Some(n), _) if n < 256 => Piece::atom(n.to_string()),
        (_, Some(n)) if n <= 256 && c.width() >= 16 => Piece { text: format!("-{n}"), binding: Binding::Unary },
        _ => Piece::atom(c.to_string()),
    }
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
