//! A program graph as text: what lockstep understood of a function.
//!
//! Terms appear in their own text form; a store is `mem[address, bytes] := value`, as in terms. Addresses are
//! relative to the start of the function.

use crate::palette::printable;
use program::{
    Call, Callee, FaultKind, Function, Next, Object, ObjectKind, Op, Parameter, Place, Point, Register, Signature,
    Value,
};
use term::Arena;

/// Bytes of a read-only object shown before the rest is left out.
const MOST_BYTES: usize = 24;

/// Signature, locals, objects, callees, then every point.
pub fn render_function(arena: &Arena, function: &Function) -> String {
    let mut out = format!("{}: {}", printable(&function.name), plural(function.points.len(), "point"));
    if let Some(line) = function.lines.find(0) {
        out.push_str(&format!(", {}:{}", printable(&line.file), line.line));
    }
    out.push('\n');
    if let Some(signature) = &function.signature {
        out.push_str(&format!("  signature {}\n", render_signature(signature)));
    }
    for parameter in &function.parameters {
        out.push_str(&format!("  parameter {}\n", render_parameter(parameter)));
    }
    for (callee, signature) in &function.callees {
        out.push_str(&format!("  callee {} {}\n", printable(callee), render_signature(signature)));
    }
    for (point, signature) in &function.pointer_calls {
        out.push_str(&format!("  pointer called at p{} {}\n", point.0, render_signature(signature)));
    }
    for local in &function.locals {
        let bytes = plural(local.size as usize, "byte");
        out.push_str(&format!("  local {} at rsp0{}, {bytes}\n", printable(&local.name), signed(local.offset)));
    }
    for object in function.objects.values() {
        out.push_str(&format!("  object {}\n", render_object(arena, object)));
    }
    for (index, point) in function.points.iter().enumerate() {
        out.push_str(&render_point(arena, function, index, point));
    }
    out
}

fn render_point(arena: &Arena, function: &Function, index: usize, point: &Point) -> String {
    let mut out = format!("  p{index} +{:#x}", point.address);
    if let Some(line) = function.lines.find(point.address) {
        out.push_str(&format!("  {}:{}", printable(&line.file), line.line));
    }
    out.push('\n');
    for (address, op) in &point.ops {
        push_indented(&mut out, &format!("    +{address:<#6x} "), &render_op(arena, op));
    }
    for line in render_next(arena, &point.next) {
        push_indented(&mut out, "    ", &line);
    }
    out
}

/// Long terms take several lines; the later ones line up with the first.
fn push_indented(out: &mut String, lead: &str, text: &str) {
    for (i, line) in text.lines().enumerate() {
        let lead = if i == 0 { lead.to_string() } else { " ".repeat(lead.chars().count()) };
        out.push_str(&format!("{lead}{}\n", printable(line)));
    }
}

fn render_op(arena: &Arena, op: &Op) -> String {
    let text = |term| arena.text(term);
    match op {
        Op::Set { var, value } => assign(arena.var_name(*var), &text(*value)),
        Op::Load { var, address, bytes } => assign(arena.var_name(*var), &format!("mem[{}, {bytes}]", text(*address))),
        Op::Store { address, value } => {
            let bytes = arena.sort(*value).width().map_or(0, |w| w.div_ceil(8));
            assign(&format!("mem[{}, {bytes}]", text(*address)), &text(*value))
        }
        Op::Unknown { var } => assign(arena.var_name(*var), "unknown"),
        Op::Fault { condition, kind } => {
            named_first(&text(*condition), |condition| format!("fault ({}) if {condition}", fault(*kind)))
        }
    }
}

fn assign(target: &str, value: &str) -> String {
    named_first(value, |value| format!("{target} := {value}"))
}

/// The text around a term; the `let` lines of a long term come before it.
fn named_first(term: &str, around: impl Fn(&str) -> String) -> String {
    match term.rsplit_once('\n') {
        Some((names, last)) => format!("{names}\n{}", around(last)),
        None => around(term),
    }
}

fn render_next(arena: &Arena, next: &Next) -> Vec<String> {
    match next {
        Next::Edges(edges) => edges
            .iter()
            .map(|edge| match arena.as_bool(edge.guard) {
                Some(true) => format!("→ p{}", edge.target.0),
                _ => named_first(&arena.text(edge.guard), |guard| format!("→ p{} if {guard}", edge.target.0)),
            })
            .collect(),
        Next::Call(call) => vec![render_call(arena, call)],
        Next::Return => vec!["return".to_string()],
        Next::Fault(kind) => vec![format!("fault ({})", fault(*kind))],
    }
}

fn render_call(arena: &Arena, call: &Call) -> String {
    let callee = match &call.callee {
        Callee::Named(name) => name.clone(),
        Callee::Pointer(term) => format!("*({})", arena.text(*term)),
    };
    match (call.tail, call.returns) {
        (true, _) => format!("tail call {callee}"),
        (false, Some(point)) => format!("call {callee} → p{}", point.0),
        (false, None) => format!("call {callee}, does not return"),
    }
}

/// The kind's own name in words, so that a new kind needs no line here: `OffTheEnd` is `off the end`.
fn fault(kind: FaultKind) -> String {
    let mut words = String::new();
    for c in format!("{kind:?}").chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

fn render_signature(signature: &Signature) -> String {
    let list = |values: &[Value]| values.iter().map(render_value).collect::<Vec<_>>().join(", ");
    let mut out = format!("({}", list(&signature.arguments));
    if signature.variadic {
        out.push_str(if signature.arguments.is_empty() { "…" } else { ", …" });
    }
    out.push(')');
    match (signature.noreturn, signature.results.as_slice()) {
        (true, _) => out.push_str(" never returns"),
        (false, []) => {}
        (false, results) => out.push_str(&format!(" → {}", list(results))),
    }
    if let Some(what) = &signature.unsupported {
        out.push_str(&format!(", unsupported: {}", printable(what)));
    }
    out
}

fn render_parameter(parameter: &Parameter) -> String {
    let places: Vec<String> = parameter.values.iter().map(render_value).collect();
    let kind = match (parameter.pointer, parameter.restrict) {
        (_, true) => ", restrict pointer",
        (true, false) => ", pointer",
        (false, false) => "",
    };
    format!("{} in {}{kind}", printable(&parameter.name), places.join(", "))
}

fn render_value(value: &Value) -> String {
    let place = match value.place {
        Place::Register(register) => Register::name(register),
        Place::Stack(offset) => format!("stack+{offset}"),
    };
    let kind = match (value.boolean, value.narrow) {
        (true, _) => " bool".to_string(),
        (false, Some(narrow)) => {
            format!(
                " from {}{}",
                if narrow.signed { "signed " } else { "unsigned " },
                plural(narrow.bytes.into(), "byte")
            )
        }
        (false, None) => String::new(),
    };
    format!("{place}:{}{kind}", value.bytes)
}

fn render_object(arena: &Arena, object: &Object) -> String {
    let mut words: Vec<String> = Vec::new();
    match object.kind {
        ObjectKind::Named { defined, local, weak, function } => {
            words.push(if function { "function" } else { "data" }.to_string());
            let flags = [(!defined, "undefined"), (local, "local"), (weak, "weak")];
            words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| word.to_string()));
        }
        ObjectKind::Literal => words.push("literal".to_string()),
        ObjectKind::Section => words.push("section".to_string()),
    }
    if let Some(size) = object.size {
        words.push(plural(size as usize, "byte"));
    }
    if object.align > 1 {
        words.push(format!("aligned {}", object.align));
    }
    if object.constancy == program::Constancy::Declared {
        words.push("declared const".to_string());
    }
    if let Some(content) = &object.content {
        let never_written = if object.constant_static { "never written, " } else { "" };
        words.push(format!("{never_written}content {}", render_content(&content.bytes)));
        words.extend(content.pointers.iter().map(|(offset, value)| format!("+{offset:#x} → {}", arena.text(*value))));
    }
    words.extend(object.members.iter().map(|m| format!("+{:#x} {}", m.offset, arena.var_name(m.var))));
    printable(&format!("{} ({}): {}", arena.var_name(object.var), object.name, words.join(", ")))
}

/// A string literal as a string, other bytes in hexadecimal.
fn render_content(bytes: &[u8]) -> String {
    let is_text = |text: &[u8]| text.iter().all(|b| b.is_ascii_graphic() || b" \n\t".contains(b));
    let rest = if bytes.len() > MOST_BYTES { " …" } else { "" };
    let shown = &bytes[..bytes.len().min(MOST_BYTES)];
    match bytes.split_last() {
        Some((0, text)) if is_text(text) && !text.is_empty() => {
            format!("\"{}\"{rest}", String::from_utf8_lossy(&text[..text.len().min(MOST_BYTES)]).escape_default())
        }
        _ => format!("{}{rest}", shown.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")),
    }
}

fn signed(offset: i64) -> String {
    format!("{}{:#x}", if offset < 0 { '-' } else { '+' }, offset.unsigned_abs())
}

fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use program::{Content, Edge, LineTable, Local, PointId, SourceLine};
    use std::collections::{BTreeMap, BTreeSet};
    use term::Sort;

    fn edge(guard: term::TermId, target: u32) -> Edge {
        Edge { guard, target: PointId(target) }
    }

    /// A function with one operation, one edge and one object of each kind.
    fn sample(arena: &mut Arena) -> Function {
        Register::declare(arena);
        let rdi = Register::General(7).term(arena);
        let rsp = Register::RSP.term(arena);
        let rax = Register::General(0).term(arena);
        let rax = arena.as_var(rax).unwrap();
        let zf = Register::Flag(program::Flag::Zero).term(arena);
        let text = arena.var("&\"text", Sort::Bv(64));
        let slot = arena.add_const(rsp, -8);
        let always = arena.bool(true);
        let not_zf = arena.bool_not(zf);
        let low = arena.truncate(rdi, 32);
        let zf_var = arena.as_var(zf).unwrap();
        let ops = vec![
            (0, Op::Store { address: slot, value: low }),
            (4, Op::Load { var: rax, address: rdi, bytes: 8 }),
            (8, Op::Unknown { var: zf_var }),
            (8, Op::Fault { condition: zf, kind: FaultKind::Divide }),
            (12, Op::Set { var: rax, value: text }),
        ];
        let call = |callee, returns, tail| Next::Call(Call { callee, returns, tail });
        let point = |address, ops, next| Point { address, ops, next };
        let points = vec![
            point(0, ops, Next::Edges(vec![edge(zf, 1), edge(not_zf, 2)])),
            point(0x10, vec![], call(Callee::Named("puts".to_string()), Some(PointId(3)), false)),
            point(0x18, vec![], call(Callee::Pointer(rdi), None, true)),
            point(0x20, vec![], Next::Edges(vec![edge(always, 4)])),
            point(0x24, vec![], Next::Return),
        ];
        let content = Content { bytes: b"hi\n\0".to_vec(), pointers: vec![] };
        let var = arena.as_var(text).unwrap();
        let object = Object {
            var,
            name: "text".to_string(),
            kind: ObjectKind::Literal,
            size: Some(4),
            align: 1,
            read_only: true,
            content: Some(content),
            start: None,
            initial: None,
            start_identity: None,
            constant_static: false,
            constancy: program::Constancy::Changing,
            promised_align: 1,
            unaliased: false,
            linkage: Default::default(),
            shared: false,
            tails: Default::default(),
            volatile: false,
            members: vec![],
        };
        let value = |index, bytes| Value {
            place: Place::Register(Register::General(index)),
            bytes,
            boolean: false,
            narrow: None,
        };
        let signature = |arguments, results| Signature { arguments, results, ..Signature::default() };
        let line = SourceLine { file: "f.c".to_string(), line: 3 };
        Function {
            name: "f".to_string(),
            points,
            objects: BTreeMap::from([(var, object)]),
            signature: Some(signature(vec![value(7, 8)], vec![value(0, 4)])),
            adopted: Default::default(),
            source: None,
            same_source: None,
            parameters: vec![Parameter {
                element: 1,
                name: "p".to_string(),
                values: vec![value(7, 8)],
                pointer: true,
                restrict: false,
                arrives: None,
                located: false,
            }],
            callees: BTreeMap::from([("puts".to_string(), signature(vec![value(7, 8)], vec![]))]),
            truths: Default::default(),
            volatile: Default::default(),
            unoptimised: false,
            alignments: Default::default(),
            likely_alignments: Default::default(),
            paddings: Default::default(),
            undescribed_frame: false,
            local_ends: Default::default(),
            passed: Default::default(),
            pointer_calls: BTreeMap::from([(PointId(2), signature(vec![value(6, 4)], vec![]))]),
            defined: BTreeSet::new(),
            locals: vec![Local { name: "x".to_string(), offset: -8, size: 4, align: 4 }],
            lines: LineTable { rows: vec![(0, line)] },
            contracts: Default::default(),
            hash: String::new(),
            surroundings: Default::default(),
            undefined: Default::default(),
            folded: None,
        }
    }

    #[test]
    fn every_part_of_a_function() {
        let mut arena = Arena::new();
        let function = sample(&mut arena);
        expect![[r#"
            f: 5 points, f.c:3
              signature (rdi:8) → rax:4
              parameter p in rdi:8, pointer
              callee puts (rdi:8)
              pointer called at p2 (rsi:4)
              local x at rsp0-0x8, 4 bytes
              object &"text (text): literal, 4 bytes, content "hi\n"
              p0 +0x0  f.c:3
                +0x0    mem[rsp - 8, 4] := rdi[31:0]
                +0x4    rax := mem[rdi, 8]
                +0x8    zf := unknown
                +0x8    fault (divide) if zf
                +0xc    rax := &"text
                → p1 if zf
                → p2 if !zf
              p1 +0x10  f.c:3
                call puts → p3
              p2 +0x18  f.c:3
                tail call *(rdi)
              p3 +0x20  f.c:3
                → p4
              p4 +0x24  f.c:3
                return
        "#]]
        .assert_eq(&render_function(&arena, &function));
    }
}
