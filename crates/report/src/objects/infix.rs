//! Expressions of certificates as people write them: `4·sext64(o.i) + &a` for `(add (mul #64:4 (sext 64 o[-20,4])) &&a)`.
//!
//! A text that is no expression, or uses an operator that is not known here, is shown as it stands or as a function:
//! what is printed never depends on whether a claim makes sense.

use crate::palette::printable;
use kernel::{Location, Spot};
use program::{Function, Register, Side};

/// Names for places: those of the source where debug information has them.
#[derive(Clone, Copy)]
pub(crate) struct Names<'f> {
    pub functions: Option<[&'f Function; 2]>,
}

/// Deeper texts are shown as they stand.
const DEEPEST: usize = 60;

/// How tightly the outermost operator of a text binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    Comparison,
    Bits,
    Sum,
    Product,
    Atom,
}

struct Infix {
    text: String,
    binding: Binding,
}

/// A text in prefix notation.
enum Prefix<'t> {
    Atom(&'t str),
    List(Vec<Prefix<'t>>),
}

impl Names<'_> {
    /// An expression in infix form.
    pub fn expression(&self, text: &str) -> String {
        match read(text) {
            Some(prefix) => self.infix(&prefix).text,
            None => printable(text),
        }
    }

    /// A place by its text.
    pub fn place(&self, text: &str) -> String {
        text.parse().map_or_else(|_| printable(text), |location| self.location(&location))
    }

    fn location(&self, location: &Location) -> String {
        let side = if location.side == Side::Original { 'o' } else { 'c' };
        let whole = match location.spot {
            Spot::Register(register) => format!("{side}.{}", register.name()),
            Spot::Slot { offset, bytes } => match self.variable(location.side, offset, bytes) {
                Some(name) => format!("{side}.{name}"),
                None => format!("{side}[{offset},{bytes}]"),
            },
        };
        if Some(location.width) == location.spot.width() {
            return whole;
        }
        format!("{whole}[{}:{}]", location.low + location.width - 1, location.low)
    }

    /// The source's name for a piece of the frame.
    fn variable(&self, side: Side, offset: i64, bytes: u16) -> Option<String> {
        let locals = &self.functions?[side.index()].locals;
        let end = |at: i64, size: u64| at.saturating_add_unsigned(size);
        let inside = |at: i64, size: u64| at <= offset && end(offset, bytes.into()) <= end(at, size);
        let local = locals.iter().find(|l| inside(l.offset, l.size))?;
        if Register::all().any(|r| r.name() == local.name) {
            return None;
        }
        let mut name = printable(&local.name);
        if locals.iter().any(|l| l.name == local.name && l.offset != local.offset) {
            name.push_str(&format!("@{}", local.offset));
        }
        if (local.offset, local.size) != (offset, bytes.into()) {
            name.push_str(&format!("{{+{},{bytes}}}", offset - local.offset));
        }
        Some(name)
    }

    fn infix(&self, prefix: &Prefix) -> Infix {
        let list = match prefix {
            Prefix::Atom(text) => return Infix { text: self.atom(text), binding: Binding::Atom },
            Prefix::List(list) => list,
        };
        let (name, rest) = match list.split_first() {
            Some((Prefix::Atom(name), rest)) => (*name, rest),
            _ => return self.function("", list),
        };
        let (text, binding) = match (name, rest) {
            ("add", [_, _, ..]) => (self.sum(rest), Binding::Sum),
            ("mul", [a, b]) => (self.product(a, b), Binding::Product),
            ("sext" | "zext", [Prefix::Atom(width), value]) => {
                (format!("{name}{}({})", printable(width), self.infix(value).text), Binding::Atom)
            }
            ("slice", [Prefix::Atom(low), Prefix::Atom(width), value]) => match bits(low, width) {
                Some(bits) => (format!("{}{bits}", self.within(value, Binding::Atom)), Binding::Atom),
                None => return self.function(name, rest),
            },
            ("load" | "peek", [Prefix::Atom(bytes), address]) => {
                let world = if name == "load" { "mem" } else { "c.mem" };
                (format!("{world}[{}, {}]", self.infix(address).text, printable(bytes)), Binding::Atom)
            }
            ("not", [Prefix::List(inner)]) => match inner.as_slice() {
                [Prefix::Atom("="), a, b] => (self.between(a, "≠", b, Binding::Comparison), Binding::Comparison),
                _ => (format!("¬({})", self.infix(&rest[0]).text), Binding::Atom),
            },
            ("or", [_, ..]) => {
                let parts: Vec<String> = rest.iter().map(|p| self.within(p, Binding::Comparison)).collect();
                (parts.join(" ∨ "), Binding::Or)
            }
            (_, [a, b]) => match symbol(name) {
                Some((sign, binding)) => (self.between(a, sign, b, binding), binding),
                None => return self.function(name, rest),
            },
            _ => return self.function(name, rest),
        };
        Infix { text, binding }
    }

    fn function(&self, name: &str, operands: &[Prefix]) -> Infix {
        let operands: Vec<String> = operands.iter().map(|o| self.infix(o).text).collect();
        Infix { text: format!("{}({})", printable(name), operands.join(", ")), binding: Binding::Atom }
    }

    /// An operand, in parentheses if it binds less than this.
    fn within(&self, prefix: &Prefix, least: Binding) -> String {
        let infix = self.infix(prefix);
        if infix.binding < least { format!("({})", infix.text) } else { infix.text }
    }

    fn between(&self, a: &Prefix, sign: &str, b: &Prefix, binding: Binding) -> String {
        let operand = |p| {
            let infix = self.infix(p);
            if infix.binding <= binding { format!("({})", infix.text) } else { infix.text }
        };
        format!("{} {sign} {}", operand(a), operand(b))
    }

    fn sum(&self, operands: &[Prefix]) -> String {
        let mut out = String::new();
        for operand in operands {
            let text = self.within(operand, Binding::Sum);
            match text.strip_prefix('-') {
                Some(positive) if !out.is_empty() => out.push_str(&format!(" - {positive}")),
                _ if out.is_empty() => out = text,
                _ => out.push_str(&format!(" + {text}")),
            }
        }
        out
    }

    fn product(&self, a: &Prefix, b: &Prefix) -> String {
        let [first, second] = [a, b].map(|p| self.within(p, Binding::Product));
        if first == "-1" { format!("-{second}") } else { format!("{first}·{second}") }
    }

    fn atom(&self, text: &str) -> String {
        if let Some(constant) = text.strip_prefix('#') {
            return printable(constant.split_once(':').map_or(constant, |(_, value)| value));
        }
        if let Some(name) = text.strip_prefix('$') {
            return printable(&match (name.strip_suffix(".original"), name.strip_suffix(".candidate")) {
                (Some(name), _) => format!("o.{name}₀"),
                (_, Some(name)) => format!("c.{name}₀"),
                _ => format!("{name}₀"),
            });
        }
        if let Some(name) = text.strip_prefix('&') {
            // Variables for addresses have the sign in their own name.
            return printable(if name.starts_with('&') { name } else { text });
        }
        self.place(text)
    }
}

fn bits(low: &str, width: &str) -> Option<String> {
    let (low, width): (u32, u32) = (low.parse().ok()?, width.parse().ok()?);
    Some(format!("[{}:{low}]", low.checked_add(width)?.checked_sub(1)?))
}

fn symbol(operator: &str) -> Option<(&'static str, Binding)> {
    Some(match operator {
        "=" => ("=", Binding::Comparison),
        "<s" => ("<", Binding::Comparison),
        "<=s" => ("≤", Binding::Comparison),
        "<u" => ("<ᵤ", Binding::Comparison),
        "<=u" => ("≤ᵤ", Binding::Comparison),
        "lshr" => (">>", Binding::Bits),
        "and" => ("&", Binding::Bits),
        _ => return None,
    })
}

fn read(text: &str) -> Option<Prefix<'_>> {
    let mut open: Vec<Vec<Prefix>> = vec![Vec::new()];
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { break };
        let length = match first {
            '(' | ')' => 1,
            _ => rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        match token {
            "(" if open.len() > DEEPEST => return None,
            "(" => open.push(Vec::new()),
            ")" => {
                let list = open.pop()?;
                open.last_mut()?.push(Prefix::List(list));
            }
            _ => open.last_mut()?.push(Prefix::Atom(token)),
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(mut one), true) if one.len() == 1 => one.pop(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use program::Local;

    fn reads_as(text: &str, expect: Expect) {
        expect.assert_eq(&Names { functions: None }.expression(text));
    }

    #[test]
    fn sums_and_products() {
        reads_as("(add (mul #64:4 (sext 64 o[-20,4])) &&a)", expect!["4·sext64(o[-20,4]) + &a"]);
        reads_as("(add o.rax (mul #64:-1 c.rax) #64:-8)", expect!["o.rax - c.rax - 8"]);
        reads_as("(mul #32:-3 (add o.rax o.rbx))", expect!["-3·(o.rax + o.rbx)"]);
        reads_as("(add $rsp.candidate #64:-24)", expect!["c.rsp₀ - 24"]);
    }

    #[test]
    fn parts_and_memory() {
        reads_as("(slice 0 32 (add o.rax o.rbx))", expect!["(o.rax + o.rbx)[31:0]"]);
        reads_as("c.xmm0{32,32}", expect!["c.xmm0[63:32]"]);
        reads_as("(load 4 (add o[-24,8] #64:16))", expect!["mem[o[-24,8] + 16, 4]"]);
        reads_as("(= (peek 4 &&g) (load 4 &&g))", expect!["c.mem[&g, 4] = mem[&g, 4]"]);
        reads_as("(concat o.rax c.rax)", expect!["concat(o.rax, c.rax)"]);
    }

    #[test]
    fn conditions() {
        reads_as("(<=s #32:0 o[-12,4])", expect!["0 ≤ o[-12,4]"]);
        reads_as("(not (= o.rax #64:0))", expect!["o.rax ≠ 0"]);
        reads_as("(or (<u o.rax o.rbx) (not (<s o.rax o.rbx)))", expect!["o.rax <ᵤ o.rbx ∨ ¬(o.rax < o.rbx)"]);
        reads_as("(= (slice 0 2 o.rax) (and o.rbx #64:3))", expect!["o.rax[1:0] = o.rbx & 3"]);
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        reads_as("(frobnicate o.rax #8:1)", expect!["frobnicate(o.rax, 1)"]);
        reads_as("(add o.rax", expect!["(add o.rax"]);
        reads_as("", expect![""]);
        reads_as("()", expect!["()"]);
        reads_as("\u{1b}[31m", expect!["\\u{1b}[31m"]);
        let deep = "(not ".repeat(10_000);
        assert_eq!(Names { functions: None }.expression(&deep), deep);
    }

    #[test]
    fn slots_get_the_names_of_the_source() {
        let local = |name: &str, offset, size| Local { name: name.to_string(), offset, size, align: 1 };
        let locals = vec![local("i", -12, 4), local("p", -40, 16), local("k", -16, 4), local("k", -44, 4)];
        let ours = Function { locals, ..Function::default() };
        let theirs = Function::default();
        let names = Names { functions: Some([&ours, &theirs]) };
        let texts = ["o[-12,4]", "c[-12,4]", "o[-32,8]", "o[-12,4]{0,8}", "o[-16,4]", "o[-12,8]"];
        let shown: Vec<String> = texts.iter().map(|t| names.place(t)).collect();
        assert_eq!(shown, ["o.i", "c[-12,4]", "o.p{+8,8}", "o.i[7:0]", "o.k@-16", "o[-12,8]"]);
    }
}
