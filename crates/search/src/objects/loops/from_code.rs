//! Guesses about a meeting from the code alone: every relation of a few shapes between the places of both sides. Most are
//! wrong; the kernel's counterexamples drop those (Houdini), and what is left holds.
//!
//! Shapes: a place of the candidate is a variable of the original, perhaps extended and one step on; it is a base plus a
//! scaled variable; it is the difference of two variables; a register that stays holds what the original reads from
//! memory. Orders: variables that the original compares, and the constants that it compares with.
//!
//! All guesses are conditions that are claimed together. A condition that fails under all of them fails under fewer as
//! well, so nothing is dropped that could have held.
//!
//! Trust: none.

use super::columns::variables;
use super::compared::Compared;
use super::fields::Field;
use super::guess::Guesses;
use super::in_order::sizes;
use kernel::{Location, Spot};
use program::{Function, Next, ObjectKind, Op, PointId, Register, Side};
use std::collections::BTreeSet;
use term::{Arena, TermId};

/// Guesses for one meeting at most: each is a part of every question.
const MOST_GUESSES: usize = 600;
/// Constants that variables are compared with.
const MOST_CONSTANTS: usize = 6;
/// Objects whose addresses are bases.
const MOST_OBJECTS: usize = 6;

/// The loops around a meeting, as far as guesses need them.
pub(crate) struct Surroundings<'n> {
    pub arena: &'n Arena,
    pub functions: [&'n Function; 2],
    /// The points of the two loops.
    pub bodies: [Vec<PointId>; 2],
    pub live: [u64; 2],
    /// Registers of the candidate that the loop writes with a zero upper half only.
    pub zeroed: u64,
    pub compared: &'n Compared,
    pub fields: &'n [Field],
}

/// Everything that may hold.
pub(crate) fn guess(around: &Surroundings, forget: &BTreeSet<Location>) -> Guesses {
    let mut out = Guesses::default();
    let forgotten = |l: &Location| forget.iter().any(|f| f.overlaps(l));
    let is_live = |l: &Location| match l.spot {
        Spot::Register(register) => around.live[l.side.index()] >> register.index() & 1 == 1,
        Spot::Slot { .. } => true,
    };
    let mut own: Vec<Location> = variables(around.functions[0], Side::Original);
    own.retain(|v| !forget.iter().any(|f| f.overlaps(v) && f != v));
    let written = forget.iter().filter(|l| l.side == Side::Original && l.width <= 64 && is_live(l));
    let written: Vec<Location> = written.filter(|l| !own.contains(l)).copied().collect();
    own.extend(written);
    let steps: Vec<u16> = sizes(around.arena, around.functions[1], &around.bodies[1]).into_iter().chain([1]).collect();
    let bases = bases(around, &own, &forgotten);
    let theirs = forget.iter().filter(|l| l.side == Side::Candidate && l.width <= 64 && is_live(l));
    for place in theirs {
        let mut parts: Vec<Location> = vec![*place];
        if let Spot::Register(register @ Register::General(_)) = place.spot {
            let low = Location { width: 32, ..*place };
            if around.zeroed >> register.index() & 1 == 1 {
                out.define.push((Location { low: 32, width: 32, ..*place }, "#32:0".to_string()));
                parts = vec![low];
            } else {
                parts.push(low);
            }
        }
        for part in parts {
            equalities(&part, &own, &forgotten, &bases, &steps, &mut out.hold);
        }
    }
    for register in (0..16).map(Register::General).filter(|r| *r != Register::RSP) {
        let Some(place) = Location::whole(Side::Candidate, Spot::Register(register)) else { continue };
        if is_live(&place) && !forgotten(&place) {
            for field in around.fields {
                let part = Location { width: 8 * field.watched.bytes, ..place };
                out.hold.push(format!("(= {part} {})", field.text));
            }
        }
    }
    let changing: Vec<Location> = own.iter().filter(|l| forgotten(l)).copied().collect();
    orders(around, &changing, &own, &mut out.hold);
    out.hold.truncate(MOST_GUESSES);
    out
}

/// What a pointer may be counted from: variables that the loop keeps, and objects.
fn bases(around: &Surroundings, own: &[Location], forgotten: &dyn Fn(&Location) -> bool) -> Vec<String> {
    let kept = own.iter().filter(|l| l.width == 64 && !forgotten(l));
    let mut out: Vec<String> = kept.map(Location::to_string).collect();
    let mut objects: Vec<&str> = Vec::new();
    for function in around.functions {
        for (var, object) in &function.objects {
            let name = around.arena.var_name(*var);
            let plain = !name.chars().any(|c| c.is_whitespace() || c == '(' || c == ')');
            let data = matches!(object.kind, ObjectKind::Named { function: false, .. });
            if plain && data && !objects.contains(&name) {
                objects.push(name);
            }
        }
    }
    out.extend(objects.iter().take(MOST_OBJECTS).map(|name| format!("&{name}")));
    out
}

/// A place of the candidate by variables of the original.
fn equalities(
    place: &Location,
    own: &[Location],
    forgotten: &dyn Fn(&Location) -> bool,
    bases: &[String],
    steps: &[u16],
    hold: &mut Vec<String>,
) {
    let width = place.width;
    let plus = |text: &str, k: i64| match k {
        0 => text.to_string(),
        k => format!("(add {text} #{width}:{k})"),
    };
    let mut push = |text: String| hold.push(format!("(= {place} {text})"));
    for variable in own {
        for text in extended(variable, width) {
            [0, 1, -1].into_iter().for_each(|k| push(plus(&text, k)));
        }
        if variable.width == 64 && width == 64 {
            for step in steps.iter().filter(|s| **s > 1) {
                let step = i64::from(*step);
                [step, -step].into_iter().for_each(|k| push(plus(&variable.to_string(), k)));
            }
        }
    }
    for variable in own.iter().filter(|l| forgotten(l) && l.width >= 32) {
        if width == 64 {
            for (text, step) in
                extended(variable, width).iter().flat_map(|t| steps.iter().map(move |s| (t, i64::from(*s))))
            {
                let scaled = if step == 1 { text.clone() } else { format!("(mul #64:{step} {text})") };
                let sums = bases.iter().map(|base| format!("(add {base} {scaled})"));
                let sums: Vec<String> = sums.chain((step > 1).then(|| scaled.clone())).collect();
                for sum in sums {
                    [0, step, -step].into_iter().for_each(|k| push(plus(&sum, k)));
                }
            }
        }
        for limit in own.iter().filter(|l| l.width == variable.width && variable.width == width && !forgotten(l)) {
            let rest = format!("(add {limit} (mul #{width}:-1 {variable}))");
            [0, 1, -1].into_iter().for_each(|k| push(plus(&rest, k)));
        }
    }
}

/// A variable at a width.
fn extended(variable: &Location, width: u16) -> Vec<String> {
    match variable.width {
        own if own == width => vec![variable.to_string()],
        own if own < width => vec![format!("(sext {width} {variable})"), format!("(zext {width} {variable})")],
        _ => Vec::new(),
    }
}

/// Orders between variables that the original compares, and with constants.
fn orders(around: &Surroundings, changing: &[Location], own: &[Location], hold: &mut Vec<String>) {
    let constants = constants(around);
    for x in changing.iter().filter(|l| l.width >= 32) {
        let width = x.width;
        hold.push(format!("(<=s #{width}:0 {x})"));
        hold.push(format!("(not (= {x} #{width}:0))"));
        for constant in &constants {
            for order in ["<=s", "<s"] {
                hold.push(format!("({order} {x} #{width}:{constant})"));
                hold.push(format!("({order} #{width}:{constant} {x})"));
            }
        }
        for y in own.iter().filter(|y| *y != x && y.width == width) {
            let compared = match (x.spot, y.spot) {
                (Spot::Slot { offset: a, .. }, Spot::Slot { offset: b, .. }) => around.compared.pairs.contains(&(a, b)),
                _ => true,
            };
            for order in ["<=s", "<s", "<=u", "<u"].into_iter().filter(|_| compared) {
                hold.push(format!("({order} {x} {y})"));
                hold.push(format!("({order} {y} {x})"));
            }
        }
        for field in around.fields.iter().filter(|f| 8 * f.watched.bytes == width) {
            for order in ["<=s", "<s", "<=u", "<u"] {
                hold.push(format!("({order} {x} {})", field.text));
            }
        }
    }
    for field in around.fields {
        hold.push(format!("(not (= {} #{}:0))", field.text, 8 * field.watched.bytes));
    }
}

/// Constants that the original's loop compares with.
fn constants(around: &Surroundings) -> BTreeSet<i64> {
    let mut out = BTreeSet::new();
    for point in &around.bodies[0] {
        let point = around.functions[0].point(*point);
        for (_, op) in &point.ops {
            if let Op::Set { value, .. } = op {
                compared_constants(around.arena, *value, &mut out);
            }
        }
        if let Next::Edges(edges) = &point.next {
            edges.iter().for_each(|edge| compared_constants(around.arena, edge.guard, &mut out));
        }
    }
    out.into_iter().filter(|c| c.unsigned_abs() < 1 << 31).take(MOST_CONSTANTS).collect()
}

fn compared_constants(arena: &Arena, term: TermId, out: &mut BTreeSet<i64>) {
    for part in arena.topological_where(&[term], |_| true) {
        if !matches!(arena.op(part), term::Op::Ult | term::Op::Slt) {
            continue;
        }
        for operand in arena.args(part) {
            let width = arena.sort(*operand).width().filter(|w| matches!(w, 32 | 64));
            if let (Some(width), Some(value)) = (width, arena.as_u64(*operand)) {
                let shift = 64 - u32::from(width);
                out.insert((value << shift) as i64 >> shift);
            }
        }
    }
}
