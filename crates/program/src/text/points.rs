//! Points, their operations, and where control goes.
//!
//! ```text
//!   p0 +0x0 at f.c:3:
//!     +0x4 rax := mem[rdi + 8, 8]
//!     → p1 if zf
//!     → p2
//!   p1: call g → p2
//!   p2: return
//! ```
//!
//! Addresses are printed where they are not 0, 1, 2, … in order. The last of several edges may leave out its guard: it is taken
//! where no other is.

use super::{Read, address, read_address};
use crate::{Call, Callee, Edge, FaultKind, Function, LineTable, Next, Op, Point, PointId, Register, SourceLine};
use term::{Arena, Op as TermOp, Sort, TermId, TermReader, TextError, Token, Tokens, VarId, quoted};

/// Why programs fault, in words.
const FAULTS: [(FaultKind, &str); 7] = [
    (FaultKind::Divide, "divide"),
    (FaultKind::Misaligned, "misaligned"),
    (FaultKind::Trap, "trap"),
    (FaultKind::OffTheEnd, "off the end"),
    (FaultKind::BelowStack, "below stack"),
    (FaultKind::ReturnAddress, "return address"),
    (FaultKind::CallersFrame, "callers frame"),
];

fn fault(kind: FaultKind) -> &'static str {
    FAULTS.iter().find(|(fault, _)| *fault == kind).map_or("unnamed", |(_, words)| words)
}

/// The address of the point behind these, if nobody writes it.
fn usual_address(points: &[Point]) -> u64 {
    points.last().map_or(0, |point| point.last_address().saturating_add(1))
}

fn has_usual_addresses(function: &Function) -> bool {
    function.points.iter().enumerate().all(|(i, point)| {
        let ops = point.ops.iter().zip(point.address..);
        point.address == usual_address(&function.points[..i])
            && ops.into_iter().all(|((place, _), usual)| *place == usual)
    })
}

pub(super) fn write(arena: &Arena, function: &Function) -> String {
    let addresses = !has_usual_addresses(function);
    let mut out = String::new();
    for (index, point) in function.points.iter().enumerate() {
        out.push_str(&format!("  p{index}"));
        if addresses {
            out.push_str(&format!(" {}", address(point.address)));
        }
        if let Some(line) = function.lines.find(point.address) {
            out.push_str(&format!(" at {}:{}", quoted(&line.file), line.line));
        }
        out.push(':');
        let next = next_lines(arena, &point.next);
        if point.ops.is_empty() && next.len() == 1 {
            out.push_str(&format!(" {}\n", next[0]));
            continue;
        }
        out.push('\n');
        for (place, op) in &point.ops {
            let lines = op_lines(arena, op);
            for (i, line) in lines.iter().enumerate() {
                let lead =
                    if addresses && i + 1 == lines.len() { format!("{:<6} ", address(*place)) } else { String::new() };
                out.push_str(&format!("    {lead}{line}\n"));
            }
        }
        next.iter().for_each(|line| out.push_str(&format!("    {line}\n")));
    }
    out
}

/// The lines of a text around a term: the term's `let` lines come first.
fn around(term: &str, text: impl Fn(&str) -> String) -> Vec<String> {
    let mut lines: Vec<String> = term.lines().map(str::to_string).collect();
    let last = lines.pop().unwrap_or_default();
    lines.push(text(&last));
    lines
}

fn op_lines(arena: &Arena, op: &Op) -> Vec<String> {
    let named = |var: &VarId| quoted(arena.var_name(*var)).into_owned();
    // The reader knows the sorts of registers.
    let with_sort = |var: &VarId| match (Register::of_var(*var), arena.var_sort(*var)) {
        (Some(_), _) => named(var),
        (None, Sort::Bv(width)) => format!("{}:{width}", named(var)),
        (None, sort) => format!("{}:{sort}", named(var)),
    };
    match op {
        Op::Set { var, value } => {
            let text = if Register::of_var(*var).is_some() { arena.text(*value) } else { arena.text_alone(*value) };
            around(&text, |value| format!("{} := {value}", named(var)))
        }
        Op::Load { var, address, bytes } => {
            let fits = arena.var_sort(*var) == Sort::Bv(8 * *bytes);
            let target = if fits { named(var) } else { with_sort(var) };
            around(&arena.text(*address), |address| format!("{target} := mem[{address}, {bytes}]"))
        }
        Op::Store { address, value } => {
            let bytes = arena.sort(*value).width().map_or(0, |w| w.div_ceil(8));
            let (address, value) = (lines_apart(&arena.text(*address), "a"), lines_apart(&arena.text(*value), "v"));
            let mut lines: Vec<String> = address.0.into_iter().chain(value.0).collect();
            lines.push(format!("mem[{}, {bytes}] := {}", address.1, value.1));
            lines
        }
        Op::Unknown { var } => vec![format!("{} := unknown", with_sort(var))],
        Op::Fault { condition, kind } => {
            around(&arena.text(*condition), |condition| format!("fault ({}) if {condition}", fault(*kind)))
        }
    }
}

/// The `let` lines of a text and what follows them, their names told apart from those of another text of the same line.
fn lines_apart(text: &str, letter: &str) -> (Vec<String>, String) {
    let Some((lets, last)) = text.rsplit_once('\n') else { return (Vec::new(), text.to_string()) };
    let names: Vec<String> =
        lets.lines().filter_map(|line| line.strip_prefix("let ")?.split(" = ").next().map(str::to_string)).collect();
    let mut renamed = format!("{lets}\n{last}");
    // From the last on, so that `t1` does not change the beginning of `t12`.
    for name in names.iter().rev() {
        renamed = replace_word(&renamed, name, &format!("{letter}.{name}"));
    }
    let (lets, last) = renamed.rsplit_once('\n').unwrap_or(("", &renamed));
    (lets.lines().map(str::to_string).collect(), last.to_string())
}

/// Replaces a word where it stands as a name of its own.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let in_name = |c: char| c.is_alphanumeric() || "_.$@#'§&`".contains(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = rest[..at].chars().next_back().or(out.chars().next_back()).is_some_and(in_name);
        let after = rest[at + word.len()..].chars().next().is_some_and(in_name);
        out.push_str(&rest[..at]);
        out.push_str(if before || after { word } else { by });
        rest = &rest[at + word.len()..];
    }
    out + rest
}

/// The last of two guards may be left out if it is the negation of the other.
fn is_rest(arena: &Arena, edges: &[Edge]) -> bool {
    let negates = |a: TermId, b: TermId| arena.op(a) == TermOp::Not && arena.arg(a, 0) == b;
    matches!(edges, [one, other] if negates(one.guard, other.guard) || negates(other.guard, one.guard))
}

fn next_lines(arena: &Arena, next: &Next) -> Vec<String> {
    match next {
        Next::Edges(edges) if edges.is_empty() => vec!["stop".to_string()],
        Next::Edges(edges) => {
            let rest = is_rest(arena, edges);
            let line = |(i, edge): (usize, &Edge)| {
                let only = edges.len() == 1 && arena.as_bool(edge.guard) == Some(true);
                if only || (rest && i == 1) {
                    return vec![format!("→ p{}", edge.target.0)];
                }
                around(&arena.text(edge.guard), |guard| format!("→ p{} if {guard}", edge.target.0))
            };
            edges.iter().enumerate().flat_map(line).collect()
        }
        Next::Call(call) => call_lines(arena, call),
        Next::Return => vec!["return".to_string()],
        Next::Fault(kind) => vec![format!("fault ({})", fault(*kind))],
    }
}

fn call_lines(arena: &Arena, call: &Call) -> Vec<String> {
    let end = match (call.tail, call.returns) {
        (_, Some(point)) => format!(" → p{}", point.0),
        (true, None) => String::new(),
        (false, None) => ", does not return".to_string(),
    };
    let tail = if call.tail { "tail " } else { "" };
    match &call.callee {
        Callee::Named(name) => vec![format!("{tail}call {}{end}", quoted(name))],
        Callee::Pointer(term) => around(&arena.text(*term), |term| format!("{tail}call *({term}){end}")),
    }
}

/// Does a point begin here?
pub(super) fn is_point(tokens: &Tokens) -> bool {
    let Token::Name(name) = tokens.peek() else { return false };
    let numbered = number_of(name).is_some();
    let behind = match tokens.peek_second() {
        Token::Sign(sign) => matches!(*sign, ":" | "+"),
        Token::Name(word) => word == "at",
        _ => false,
    };
    numbered && behind
}

fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('p')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// Reads the points of one function.
#[derive(Default)]
pub(super) struct Reader {
    lines: Vec<(u64, SourceLine)>,
    /// Points that are mentioned, and where.
    mentioned: Vec<(PointId, TextError)>,
}

impl Reader {
    pub fn point(
        &mut self,
        terms: &mut TermReader,
        tokens: &mut Tokens,
        function: &mut Function,
        margin: usize,
    ) -> Read<()> {
        let error = tokens.error(format!("the next point is p{}", function.points.len()));
        if number_of(&tokens.name()?) != u32::try_from(function.points.len()).ok() {
            return Err(error);
        }
        let usual = usual_address(&function.points);
        let address = if *tokens.peek() == Token::Sign("+") { read_address(tokens)? } else { usual };
        if tokens.eat_word("at") {
            let file = tokens.name()?;
            tokens.expect(":")?;
            self.lines.push((address, SourceLine { file, line: tokens.small()? }));
        }
        tokens.expect(":")?;
        tokens.skip_newlines();
        let mut ops: Vec<(u64, Op)> = Vec::new();
        let next = loop {
            if *tokens.peek() == Token::End || tokens.spot().1 <= margin || is_point(tokens) {
                return Err(tokens.error("the point does not say where control goes"));
            }
            terms.lets(tokens)?;
            if let Some(next) = self.next(terms, tokens)? {
                break next;
            }
            let usual = ops.last().map_or(address, |(place, _)| place.saturating_add(1));
            let place = if *tokens.peek() == Token::Sign("+") { Some(read_address(tokens)?) } else { None };
            let op = op(terms, tokens)?;
            terms.forget_lets();
            tokens.end_of_line()?;
            ops.push((place.unwrap_or(usual), op));
        };
        terms.forget_lets();
        function.points.push(Point { address, ops, next });
        Ok(())
    }

    /// Are all points there that are mentioned?
    pub fn finish(self, function: &mut Function, tokens: &Tokens) -> Read<()> {
        let missing = self.mentioned.into_iter().find(|(point, _)| point.index() >= function.points.len());
        if let Some((_, error)) = missing {
            return Err(error);
        }
        if function.points.is_empty() {
            return Err(tokens.error(format!("`{}` has no point", function.name)));
        }
        let mut rows = self.lines;
        rows.sort_by_key(|(address, _)| *address);
        function.lines = LineTable { rows };
        Ok(())
    }

    fn target(&mut self, tokens: &mut Tokens) -> Read<PointId> {
        let error = tokens.error("a point expected");
        let missing = tokens.error("there is no such point");
        let point = number_of(&tokens.name()?).map(PointId).ok_or(error)?;
        self.mentioned.push((point, missing));
        Ok(point)
    }

    /// Where control goes, if the line says so.
    fn next(&mut self, terms: &mut TermReader, tokens: &mut Tokens) -> Read<Option<Next>> {
        if *tokens.peek() == Token::Sign("→") || *tokens.peek() == Token::Sign("->") {
            return self.edges(terms, tokens).map(Some);
        }
        let next = if tokens.eat_word("return") {
            Next::Return
        } else if tokens.eat_word("stop") {
            Next::Edges(Vec::new())
        } else if tokens.eat_words("tail call") {
            Next::Call(self.call(terms, tokens, true)?)
        } else if tokens.eat_word("call") {
            Next::Call(self.call(terms, tokens, false)?)
        } else if tokens.at_word("fault") {
            let mut ahead = tokens.clone();
            ahead.take();
            let kind = read_fault(&mut ahead)?;
            if ahead.at_word("if") {
                return Ok(None);
            }
            *tokens = ahead;
            Next::Fault(kind)
        } else {
            return Ok(None);
        };
        tokens.end_of_line()?;
        Ok(Some(next))
    }

    fn edges(&mut self, terms: &mut TermReader, tokens: &mut Tokens) -> Read<Next> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut open = false;
        loop {
            let here = tokens.error("only the last edge leaves out its guard");
            if !tokens.eat("→") {
                break;
            }
            if open {
                return Err(here);
            }
            let target = self.target(tokens)?;
            let guard = if tokens.eat_word("if") {
                terms.term(tokens, Some(Sort::Bool))?
            } else {
                open = true;
                let guards: Vec<TermId> = edges.iter().map(|edge| edge.guard).collect();
                neither(terms, &guards)
            };
            edges.push(Edge { guard, target });
            terms.forget_lets();
            tokens.end_of_line()?;
            terms.lets(tokens)?;
        }
        Ok(Next::Edges(edges))
    }

    fn call(&mut self, terms: &mut TermReader, tokens: &mut Tokens, tail: bool) -> Read<Call> {
        let callee = if tokens.eat("*") {
            tokens.expect("(")?;
            let pointer = terms.term(tokens, Some(Sort::Bv(64)))?;
            tokens.expect(")")?;
            Callee::Pointer(pointer)
        } else {
            Callee::Named(tokens.name()?)
        };
        let returns = if tokens.eat("→") { Some(self.target(tokens)?) } else { None };
        if returns.is_none() && !tail {
            tokens.expect(",")?;
            if !tokens.eat_words("does not return") {
                return Err(tokens.error("`does not return` expected"));
            }
        }
        Ok(Call { callee, returns, tail })
    }
}

/// Where none of the guards holds.
fn neither(terms: &mut TermReader, guards: &[TermId]) -> TermId {
    match guards {
        [] => terms.arena.bool(true),
        [one] if terms.arena.op(*one) == TermOp::Not => terms.arena.arg(*one, 0),
        [one] => terms.make(TermOp::Not, &[*one]),
        _ => {
            let any = terms.make(TermOp::Or, guards);
            terms.make(TermOp::Not, &[any])
        }
    }
}

fn read_fault(tokens: &mut Tokens) -> Read<FaultKind> {
    tokens.expect("(")?;
    let error = tokens.error("a kind of fault expected");
    let kind = FAULTS.iter().find(|(_, words)| tokens.eat_words(words)).ok_or(error)?.0;
    tokens.expect(")")?;
    Ok(kind)
}

/// One operation.
fn op(terms: &mut TermReader, tokens: &mut Tokens) -> Read<Op> {
    if tokens.eat_word("fault") {
        let kind = read_fault(tokens)?;
        if !tokens.eat_word("if") {
            return Err(tokens.error("`if` expected"));
        }
        return Ok(Op::Fault { condition: terms.term(tokens, Some(Sort::Bool))?, kind });
    }
    if tokens.at_word("mem") && *tokens.peek_second() == Token::Sign("[") {
        let (address, bytes) = memory(terms, tokens)?;
        tokens.expect(":=")?;
        return Ok(Op::Store { address, value: terms.term(tokens, Some(Sort::Bv(8 * bytes)))? });
    }
    let spot = tokens.error("an operation expected");
    let name = tokens.name().map_err(|_| spot.clone())?;
    let known = terms.arena.find_var(&name).map(|var| terms.arena.var_sort(var));
    let given = if tokens.is_suffix() { Some(term::read_sort(tokens)?) } else { None };
    let clash = TextError { message: format!("`{name}` has another sort"), ..spot.clone() };
    let known = match (known, given) {
        (Some(known), Some(given)) if known != given => return Err(clash),
        (known, given) => known.or(given),
    };
    tokens.expect(":=")?;
    let var = |terms: &mut TermReader, sort: Sort| match terms.arena.find_var(&name) {
        Some(var) if terms.arena.var_sort(var) == sort => Ok(var),
        Some(_) => Err(clash.clone()),
        None => {
            let term = terms.arena.var(&name, sort);
            terms.arena.as_var(term).ok_or(spot.clone())
        }
    };
    if tokens.at_word("mem") && *tokens.peek_second() == Token::Sign("[") {
        let (address, bytes) = memory(terms, tokens)?;
        let sort = known.unwrap_or(Sort::Bv(8 * bytes));
        if sort != Sort::Bv(8 * bytes) {
            return Err(TextError { message: format!("`{name}` does not have {bytes} bytes"), ..spot });
        }
        return Ok(Op::Load { var: var(terms, sort)?, address, bytes });
    }
    if tokens.eat_word("unknown") {
        let error = || TextError { message: format!("nothing tells the sort of `{name}`"), ..spot.clone() };
        let sort = known.ok_or_else(error)?;
        return Ok(Op::Unknown { var: var(terms, sort)? });
    }
    let value = terms.term(tokens, known)?;
    let sort = terms.arena.sort(value);
    Ok(Op::Set { var: var(terms, sort)?, value })
}

/// `mem[address, bytes]`.
fn memory(terms: &mut TermReader, tokens: &mut Tokens) -> Read<(TermId, u16)> {
    tokens.take();
    tokens.expect("[")?;
    let address = terms.term(tokens, Some(Sort::Bv(64)))?;
    tokens.expect(",")?;
    let error = tokens.error("an access has 1 to 64 bytes");
    let bytes = tokens.small::<u16>()?;
    if !(1..=64).contains(&bytes) {
        return Err(error);
    }
    tokens.expect("]")?;
    Ok((address, bytes))
}
