//! A certificate as a table that a person can read: the pairs of loop heads, what is known at each, and how both sides
//! get from one to the next.
//!
//! With the two functions at hand, points have addresses and source lines, slots the names of their variables, and the
//! edges are those that both graphs have. Without them, only what the certificate says is shown.

use crate::objects::infix::Names;
use crate::palette::printable;
use kernel::{BlockClaim, Certificate, Change, ChangeClaim, MemoryClaim, PointClaim};
use program::loops::successors;
use program::{Function, PointId, Side};
use std::collections::BTreeSet;

/// A certificate and, if they are at hand, the two functions that it is about.
#[derive(Clone, Copy)]
pub struct CertificateView<'c> {
    certificate: &'c Certificate,
    functions: Option<[&'c Function; 2]>,
}

/// A way from one point to another.
struct Way {
    /// Index of the point where it begins; `None` for the entry.
    from: Option<usize>,
    to: usize,
    passes: [u32; 2],
    /// Turns more that the original may take.
    more: u32,
    /// Is the candidate there already, and waits?
    waits: bool,
}

/// Larger certificates are not for people.
const MOST_POINTS: usize = 500;
const MOST_EDGES: usize = 2_000;
/// Column where the parts of a point begin.
const INDENT: usize = 14;

impl<'c> CertificateView<'c> {
    /// The error says which point is not there, or which function is another version.
    pub fn new(
        certificate: &'c Certificate,
        functions: Option<[&'c Function; 2]>,
    ) -> Result<CertificateView<'c>, String> {
        if certificate.points.len() > MOST_POINTS || certificate.edges.len() > MOST_EDGES {
            return Err("too many points or edges to be shown".to_string());
        }
        let hashes = [&certificate.original_hash, &certificate.candidate_hash];
        for (side, hash) in Side::BOTH.into_iter().zip(hashes) {
            let Some(function) = functions.map(|f| f[side.index()]) else { continue };
            if function.hash != *hash {
                return Err(format!("the certificate is about another version of {}", printable(&function.name)));
            }
            let named = certificate.points.iter().map(|p| [p.original, p.candidate][side.index()]);
            let mut named = named.chain(certificate.cuts[side.index()].iter().copied());
            if let Some(missing) = named.find(|p| *p as usize >= function.points.len()) {
                return Err(format!("{} has no point p{missing}", printable(&function.name)));
            }
        }
        Ok(CertificateView { certificate, functions })
    }

    fn names(&self) -> Names<'c> {
        Names { functions: self.functions }
    }

    /// The table.
    pub fn render_text(&self) -> String {
        let certificate = self.certificate;
        let mut out = format!("{}: {}\n", self.title(), self.summary());
        for (i, local) in certificate.locals.iter().enumerate() {
            let place = |side: char, offset: Option<i64>| match offset {
                Some(offset) => self.names().place(&format!("{side}[{offset},{}]", local.size)),
                None => "nowhere".to_string(),
            };
            let escapes = if local.escapes { ", its address leaves the function" } else { "" };
            let (ours, theirs) = (place('o', local.original), place('c', local.candidate));
            out.push_str(&format!("  local {i}: {ours} is {theirs}, {} bytes{escapes}\n", local.size));
        }
        if certificate.points.is_empty() {
            out.push_str("  nothing is claimed about loops: calls and returns are met in order\n");
            return out;
        }
        out.push_str("  o is the original, c the candidate, ₀ a value at entry, ᵤ an unsigned order\n\n");
        out.push_str(&row("entry", &[self.heads([Function::ENTRY; 2])]));
        out.push_str(&row("  memory", &["the same on both sides".to_string()]));
        let ways = self.ways();
        out.push_str(&render_ways(&ways, None));
        for (i, point) in certificate.points.iter().enumerate() {
            out.push_str(&self.render_point(i, point));
            out.push_str(&render_ways(&ways, Some(i)));
        }
        let alone = self.passed_alone();
        if !alone.is_empty() {
            out.push_str(&format!("\n{}", row("passed alone", &alone)));
        }
        let exits = "calls, results and memory are compared where both sides call or return".to_string();
        out.push_str(&format!("\n{}", row("exits", &[exits])));
        out
    }

    /// The graph for graphviz.
    pub fn render_dot(&self) -> String {
        let mut out = format!("digraph \"{}\" {{\n", quoted(&self.title()));
        out.push_str("  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
        let entry = vec!["entry".to_string(), self.heads([Function::ENTRY; 2])];
        out.push_str(&format!("  entry [label=\"{}\"];\n", label(&entry)));
        for (i, point) in self.certificate.points.iter().enumerate() {
            let mut lines = vec![format!("point {}", i + 1), self.heads(heads(point))];
            for (name, said) in self.sections(point) {
                // Formulas speak for themselves.
                let lead = if ["defines", "holds"].contains(&name) { String::new() } else { format!("{name} ") };
                lines.extend(said.iter().map(|line| format!("{lead}{line}")));
            }
            out.push_str(&format!("  p{} [label=\"{}\"];\n", i + 1, label(&lines)));
        }
        for way in self.ways() {
            let from = way.from.map_or("entry".to_string(), |i| format!("p{}", i + 1));
            let turns = match way.passes {
                _ if way.waits => "c waits".to_string(),
                [1, 1] => String::new(),
                [a, b] => format!("{a} : {b}"),
            };
            out.push_str(&format!("  {from} -> p{} [label=\"{turns}\"];\n", way.to + 1));
        }
        out.push_str("}\n");
        out
    }

    fn title(&self) -> String {
        let [a, b] = [&self.certificate.original, &self.certificate.candidate].map(|n| printable(n));
        if a == b { a } else { format!("{a} = {b}") }
    }

    fn summary(&self) -> String {
        let points = &self.certificate.points;
        let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let definitions: usize = points.iter().map(|p| p.define.len()).sum();
        let conditions: usize = points.iter().map(|p| p.hold.len()).sum();
        match points.len() {
            0 => "no pair of loop heads".to_string(),
            n => format!(
                "{}, {}, {}",
                count(n, "pair of loop heads", "pairs of loop heads"),
                count(definitions, "definition", "definitions"),
                count(conditions, "condition", "conditions")
            ),
        }
    }

    fn render_point(&self, index: usize, point: &PointClaim) -> String {
        let mut out = format!("\n{}", row(&format!("point {}", index + 1), &[self.heads(heads(point))]));
        for (name, lines) in self.sections(point) {
            out.push_str(&row(&format!("  {name}"), &lines));
        }
        out
    }

    /// What a point claims, in groups with a name each.
    fn sections(&self, point: &PointClaim) -> Vec<(&'static str, Vec<String>)> {
        let forgotten = |side: &str| {
            let places = point.forget.iter().filter(|l| l.starts_with(side)).map(|l| self.names().place(l));
            places.collect::<Vec<_>>().join(", ")
        };
        let mut forgets = vec![forgotten("o"), forgotten("c")];
        forgets.retain(|l| !l.is_empty());
        let waits = point.waits.then(|| "c, while o goes round alone".to_string());
        let rests = point
            .alone
            .as_deref()
            .map(|rank| format!("o, while c goes round alone: {} becomes smaller", self.names().expression(rank)));
        let but = match (point.ahead.is_empty(), point.behind.is_empty()) {
            (true, true) => "",
            (true, false) => ", but for what c has written ahead of o",
            _ => ", but for what o has written ahead of c",
        };
        let mut memories = vec![format!("{}{but}", memory(point.world))];
        memories.extend(point.locals.iter().enumerate().map(|(i, claim)| format!("local {i} {}", memory(*claim))));
        vec![
            ("waits", waits.into_iter().collect()),
            ("rests", rests.into_iter().collect()),
            ("forgets", forgets),
            ("defines", self.definitions(point)),
            ("holds", self.conditions(point)),
            ("memory", memories),
            ("ahead", self.written_ahead(point)),
            ("seen", self.accessed(point)),
        ]
    }

    fn written_ahead(&self, point: &PointClaim) -> Vec<String> {
        let names = self.names();
        let line = |side: &str, claim: &ChangeClaim| {
            let of = claim.local.map_or(String::new(), |l| format!(" of local {l}"));
            let from = claim.source.map_or(String::new(), |l| format!(" of local {l}"));
            let text = |e: &String| names.expression(e);
            match &claim.what {
                Change::Store(a, v) => format!("{side} has written {} at {}{of}", text(v), text(a)),
                Change::Fill(a, b, n) => {
                    format!("{side} has filled {} bytes at {}{of} with {}", text(n), text(a), text(b))
                }
                Change::Copy(a, b, n) => {
                    format!("{side} has copied {} bytes to {}{of} from {}{from}", text(n), text(a), text(b))
                }
                Change::Any(a, n) => format!("{side} has changed {} bytes at {}{of}", text(n), text(a)),
            }
        };
        let ours = point.ahead.iter().map(|claim| line("o", claim));
        ours.chain(point.behind.iter().map(|claim| line("c", claim))).collect()
    }

    fn accessed(&self, point: &PointClaim) -> Vec<String> {
        let line = |(address, bytes): &(String, u16)| {
            format!("o has accessed {bytes} bytes at {}", self.names().expression(address))
        };
        let block = |claim: &BlockClaim| {
            let [address, length] = [&claim.address, &claim.length].map(|e| self.names().expression(e));
            format!("o has {} {length} bytes at {address}", if claim.write { "written" } else { "accessed" })
        };
        point.seen.iter().map(line).chain(point.accessed.iter().map(block)).collect()
    }

    fn definitions(&self, point: &PointClaim) -> Vec<String> {
        let names = self.names();
        point.define.iter().map(|(l, text)| format!("{} = {}", names.place(l), names.expression(text))).collect()
    }

    fn conditions(&self, point: &PointClaim) -> Vec<String> {
        point.hold.iter().map(|text| self.names().expression(text)).collect()
    }

    /// The two points of a pair, with addresses and lines if they are known.
    fn heads(&self, heads: [PointId; 2]) -> String {
        let [a, b] = Side::BOTH.map(|side| self.place(side, heads[side.index()]));
        format!("o {a}, c {b}")
    }

    fn place(&self, side: Side, point: PointId) -> String {
        let Some(function) = self.functions.map(|f| f[side.index()]) else { return format!("p{}", point.0) };
        let address = function.point(point).address;
        let line =
            function.lines.find(address).map_or(String::new(), |l| format!(" {}:{}", printable(&l.file), l.line));
        format!("p{} +{address:#x}{line}", point.0)
    }

    /// The ways between points: those of both graphs, or those that the certificate mentions.
    fn ways(&self) -> Vec<Way> {
        let points = &self.certificate.points;
        let mut out = Vec::new();
        for from in [None].into_iter().chain((0..points.len()).map(Some)) {
            let source = from.map_or([Function::ENTRY; 2], |i| heads(&points[i]));
            let reached = self.functions.map(|f| Side::BOTH.map(|side| self.reached(f[side.index()], side, source)));
            for (to, target) in points.iter().enumerate() {
                let there = match &reached {
                    Some(reached) => (0..2).all(|i| reached[i].contains(&heads(target)[i])),
                    None => self.certificate.edges.iter().any(|e| e.from == from && e.to == to) || from == Some(to),
                };
                if there {
                    let (passes, more) = (self.certificate.passes(from, to), self.certificate.more(from, to));
                    out.push(Way { from, to, passes, more, waits: target.waits });
                }
            }
        }
        out
    }

    /// The heads of claimed pairs that paths lead to without passing those of a third one. A candidate that waits has not
    /// gone anywhere, and none stops on its way in order to wait.
    fn reached(&self, function: &Function, side: Side, from: [PointId; 2]) -> BTreeSet<PointId> {
        let i = side.index();
        let rests = |p: &&PointClaim| p.waits && side == Side::Candidate;
        let points = &self.certificate.points;
        let waits: BTreeSet<PointId> = points.iter().filter(rests).map(|p| heads(p)[i]).collect();
        let claimed: BTreeSet<PointId> = points.iter().filter(|p| !rests(p)).map(|p| heads(p)[i]).collect();
        let mut out: BTreeSet<PointId> = waits.iter().copied().filter(|p| *p == from[i]).collect();
        let mut seen = BTreeSet::new();
        let mut open = successors(function, from[i]);
        while let Some(point) = open.pop() {
            if waits.contains(&point) || claimed.contains(&point) {
                out.insert(point);
            }
            if !claimed.contains(&point) && point.index() < function.points.len() && seen.insert(point) {
                open.extend(successors(function, point));
            }
        }
        out
    }

    /// Cut points that belong to no pair: their side goes through them by itself.
    fn passed_alone(&self) -> Vec<String> {
        let mut out = Vec::new();
        for side in Side::BOTH {
            let i = side.index();
            let met: BTreeSet<PointId> = self.certificate.points.iter().map(|p| heads(p)[i]).collect();
            let alone = self.certificate.cuts[i].iter().map(|c| PointId(*c)).filter(|c| !met.contains(c));
            let letter = ['o', 'c'][i];
            out.extend(alone.map(|point| format!("{letter} {}", self.place(side, point))));
        }
        out
    }
}

/// The ways that begin at a point, or at the entry.
fn render_ways(ways: &[Way], from: Option<usize>) -> String {
    let times = |n: u32| if n == 1 { "once".to_string() } else { format!("{n} times") };
    let line = |way: &Way| {
        let [a, b] = way.passes;
        let turns = if way.waits {
            "o reaches its head, c waits".to_string()
        } else if a == b {
            format!("each reaches its head {}", times(a))
        } else {
            format!("o reaches its head {}, c {}", times(a), times(b))
        };
        let more = if way.more > 0 { format!("; o up to {} more", times(way.more)) } else { String::new() };
        format!("→ point {}: {turns}{more}", way.to + 1)
    };
    let lines: Vec<String> = ways.iter().filter(|way| way.from == from).map(line).collect();
    row("  edges", &lines)
}

fn heads(point: &PointClaim) -> [PointId; 2] {
    [PointId(point.original), PointId(point.candidate)]
}

fn memory(claim: MemoryClaim) -> &'static str {
    match claim {
        MemoryClaim::Kept => "unchanged on each side",
        MemoryClaim::Equal => "changes, the same on both sides",
        MemoryClaim::Apart => "changes, and the sides may differ",
    }
}

/// Lines behind a name; nothing if there are none.
fn row(name: &str, lines: &[String]) -> String {
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let lead = if i == 0 { name } else { "" };
        out.push_str(&format!("  {lead:<INDENT$}{line}\n"));
    }
    out
}

/// Text inside a graphviz string.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Lines of a graphviz label, to the left.
fn label(lines: &[String]) -> String {
    lines.iter().map(|l| quoted(l) + "\\l").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use kernel::{EdgeClaim, LocalClaim};
    use program::{Edge, LineTable, Local, Next, Point, SourceLine};
    use term::Arena;

    /// Sums an array; the candidate does two elements a turn and has a second loop for the rest.
    fn sample() -> Certificate {
        let texts = |list: &[&str]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        let point = |candidate, defined: &str| PointClaim {
            original: 1,
            candidate,
            forget: texts(&["o.rax", "o[-12,4]", "c.rax", "c.rdx"]),
            world: MemoryClaim::Equal,
            locals: vec![MemoryClaim::Apart],
            define: vec![("c.rax".to_string(), defined.to_string())],
            hold: texts(&["(<=s #32:0 o[-12,4])", "(<s o[-12,4] o[-28,4])"]),
            ..PointClaim::default()
        };
        Certificate {
            version: kernel::VERSION,
            original: "sum".to_string(),
            candidate: "sum".to_string(),
            original_hash: "a".to_string(),
            candidate_hash: "b".to_string(),
            assume: Vec::new(),
            axioms: Vec::new(),
            locals: vec![LocalClaim { original: Some(-64), candidate: None, size: 16, escapes: true }],
            cuts: [vec![1], vec![1, 2, 3]],
            points: vec![point(1, "(add (mul #64:4 (sext 64 o[-12,4])) &&a)"), point(2, "(zext 64 o[-12,4])")],
            edges: vec![EdgeClaim { from: Some(0), to: 0, original: 2, candidate: 1, more: 0 }],
            lemmas: Vec::new(),
            effort: None,
        }
    }

    fn graph(edges: &[&[u32]], hash: &str, arena: &mut Arena) -> Function {
        let guard = arena.bool(true);
        let edge = |target: &u32| Edge { guard, target: PointId(*target) };
        let next = |to: &&[u32]| if to.is_empty() { Next::Return } else { Next::Edges(to.iter().map(edge).collect()) };
        let point = |(i, to)| Point { address: 16 * i as u64, ops: Vec::new(), next: next(to) };
        let line = |line| SourceLine { file: "sum.c".to_string(), line };
        Function {
            name: "sum".to_string(),
            points: edges.iter().enumerate().map(point).collect(),
            locals: vec![Local { name: "i".to_string(), offset: -12, size: 4, align: 4 }],
            lines: LineTable { rows: vec![(0, line(2)), (16, line(4))] },
            hash: hash.to_string(),
            ..Function::default()
        }
    }

    #[test]
    fn a_certificate_alone() {
        let certificate = sample();
        let view = CertificateView::new(&certificate, None).expect("sane");
        expect![[r#"
            sum: 2 pairs of loop heads, 2 definitions, 4 conditions
              local 0: o[-64,16] is nowhere, 16 bytes, its address leaves the function
              o is the original, c the candidate, ₀ a value at entry, ᵤ an unsigned order

              entry         o p0, c p0
                memory      the same on both sides

              point 1       o p1, c p1
                forgets     o.rax, o[-12,4]
                            c.rax, c.rdx
                defines     c.rax = 4·sext64(o[-12,4]) + &a
                holds       0 ≤ o[-12,4]
                            o[-12,4] < o[-28,4]
                memory      changes, the same on both sides
                            local 0 changes, and the sides may differ
                edges       → point 1: o reaches its head 2 times, c once

              point 2       o p1, c p2
                forgets     o.rax, o[-12,4]
                            c.rax, c.rdx
                defines     c.rax = zext64(o[-12,4])
                holds       0 ≤ o[-12,4]
                            o[-12,4] < o[-28,4]
                memory      changes, the same on both sides
                            local 0 changes, and the sides may differ
                edges       → point 2: each reaches its head once

              passed alone  c p3

              exits         calls, results and memory are compared where both sides call or return
        "#]]
        .assert_eq(&view.render_text());
    }

    #[test]
    fn a_certificate_with_its_programs() {
        let mut arena = Arena::new();
        let ours = graph(&[&[1], &[1, 2], &[]], "a", &mut arena);
        let theirs = graph(&[&[1, 2], &[1, 2], &[2, 3], &[3, 4], &[]], "b", &mut arena);
        let certificate = sample();
        let view = CertificateView::new(&certificate, Some([&ours, &theirs])).expect("sane");
        let text = view.render_text();
        let told = |l: &&str| l.contains("+0x") || l.contains("→") || l.contains("0 ≤");
        let shown: Vec<&str> = text.lines().filter(told).map(|l| &l[2..]).collect();
        expect![[r#"
              entry         o p0 +0x0 sum.c:2, c p0 +0x0 sum.c:2
                edges       → point 1: each reaches its head once
                            → point 2: each reaches its head once
              point 1       o p1 +0x10 sum.c:4, c p1 +0x10 sum.c:4
                holds       0 ≤ o.i
                edges       → point 1: o reaches its head 2 times, c once
                            → point 2: each reaches its head once
              point 2       o p1 +0x10 sum.c:4, c p2 +0x20 sum.c:4
                holds       0 ≤ o.i
                edges       → point 2: each reaches its head once
              passed alone  c p3 +0x30 sum.c:4"#]]
        .assert_eq(&shown.join("\n"));
        expect![[r#"
            digraph "sum" {
              node [shape=box, fontname=monospace];
              edge [fontname=monospace];
              entry [label="entry\lo p0 +0x0 sum.c:2, c p0 +0x0 sum.c:2\l"];
              p1 [label="point 1\lo p1 +0x10 sum.c:4, c p1 +0x10 sum.c:4\lforgets o.rax, o.i\lforgets c.rax, c.rdx\lc.rax = 4·sext64(o.i) + &a\l0 ≤ o.i\lo.i < o[-28,4]\lmemory changes, the same on both sides\lmemory local 0 changes, and the sides may differ\l"];
              p2 [label="point 2\lo p1 +0x10 sum.c:4, c p2 +0x20 sum.c:4\lforgets o.rax, o.i\lforgets c.rax, c.rdx\lc.rax = zext64(o.i)\l0 ≤ o.i\lo.i < o[-28,4]\lmemory changes, the same on both sides\lmemory local 0 changes, and the sides may differ\l"];
              entry -> p1 [label=""];
              entry -> p2 [label=""];
              p1 -> p1 [label="2 : 1"];
              p1 -> p2 [label=""];
              p2 -> p2 [label=""];
            }
        "#]]
        .assert_eq(&view.render_dot());
    }

    /// The original writes a global in each turn, the candidate after the loop; before, the original has a loop for which
    /// the candidate waits at its entry.
    #[test]
    fn what_waits_and_what_is_ahead_is_shown() {
        let mut arena = Arena::new();
        let ours = graph(&[&[1], &[1, 2], &[2, 3], &[]], "a", &mut arena);
        let theirs = graph(&[&[1], &[1, 2], &[]], "b", &mut arena);
        let mut certificate = sample();
        certificate.edges.clear();
        certificate.locals.clear();
        certificate.cuts = [Vec::new(), Vec::new()];
        let [waiting, behind] = certificate.points.as_mut_slice() else { panic!("two points") };
        (waiting.original, waiting.candidate, waiting.waits) = (1, 0, true);
        waiting.world = MemoryClaim::Kept;
        (behind.original, behind.candidate) = (2, 1);
        let change = |what| ChangeClaim { local: None, source: None, what };
        let store = Change::Store("&&g".to_string(), "(slice 0 32 c.rdx)".to_string());
        let fill = Change::Fill("&&a".to_string(), "#8:0".to_string(), "(sext 64 o[-12,4])".to_string());
        behind.ahead = vec![change(store), change(fill)];
        behind.seen = vec![("(add c.rdx #64:8)".to_string(), 8)];
        behind.hold = vec!["(<u (peek 4 &&g) (load 4 &&g))".to_string()];
        for point in [waiting, behind] {
            point.forget.truncate(2);
            point.define.clear();
            point.locals.clear();
        }
        let view = CertificateView::new(&certificate, Some([&ours, &theirs])).expect("sane");
        expect![[r#"
            sum: 2 pairs of loop heads, 0 definitions, 3 conditions
              o is the original, c the candidate, ₀ a value at entry, ᵤ an unsigned order

              entry         o p0 +0x0 sum.c:2, c p0 +0x0 sum.c:2
                memory      the same on both sides
                edges       → point 1: o reaches its head, c waits

              point 1       o p1 +0x10 sum.c:4, c p0 +0x0 sum.c:2
                waits       c, while o goes round alone
                forgets     o.rax, o.i
                holds       0 ≤ o.i
                            o.i < o[-28,4]
                memory      unchanged on each side
                edges       → point 1: o reaches its head, c waits
                            → point 2: each reaches its head once

              point 2       o p2 +0x20 sum.c:4, c p1 +0x10 sum.c:4
                forgets     o.rax, o.i
                holds       c.mem[&g, 4] <ᵤ mem[&g, 4]
                memory      changes, the same on both sides, but for what o has written ahead of c
                ahead       o has written c.rdx[31:0] at &g
                            o has filled sext64(o.i) bytes at &a with 0
                seen        o has accessed 8 bytes at c.rdx + 8
                edges       → point 2: each reaches its head once

              exits         calls, results and memory are compared where both sides call or return
        "#]]
        .assert_eq(&view.render_text());
        expect![[r#"
            digraph "sum" {
              node [shape=box, fontname=monospace];
              edge [fontname=monospace];
              entry [label="entry\lo p0 +0x0 sum.c:2, c p0 +0x0 sum.c:2\l"];
              p1 [label="point 1\lo p1 +0x10 sum.c:4, c p0 +0x0 sum.c:2\lwaits c, while o goes round alone\lforgets o.rax, o.i\l0 ≤ o.i\lo.i < o[-28,4]\lmemory unchanged on each side\l"];
              p2 [label="point 2\lo p2 +0x20 sum.c:4, c p1 +0x10 sum.c:4\lforgets o.rax, o.i\lc.mem[&g, 4] <ᵤ mem[&g, 4]\lmemory changes, the same on both sides, but for what o has written ahead of c\lahead o has written c.rdx[31:0] at &g\lahead o has filled sext64(o.i) bytes at &a with 0\lseen o has accessed 8 bytes at c.rdx + 8\l"];
              entry -> p1 [label="c waits"];
              p1 -> p1 [label="c waits"];
              p1 -> p2 [label=""];
              p2 -> p2 [label=""];
            }
        "#]].assert_eq(&view.render_dot());
    }

    #[test]
    fn another_version_and_missing_points_are_refused() {
        let mut arena = Arena::new();
        let certificate = sample();
        let short = graph(&[&[]], "a", &mut arena);
        let theirs = graph(&[&[1, 2], &[1, 2], &[2, 3], &[3, 4], &[]], "b", &mut arena);
        let error = |ours: &Function| CertificateView::new(&certificate, Some([ours, &theirs])).err();
        assert_eq!(error(&short).as_deref(), Some("sum has no point p1"));
        assert_eq!(error(&theirs).as_deref(), Some("the certificate is about another version of sum"));
    }
}
