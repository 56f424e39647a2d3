//! Every `equivalent` is run: both kernels as the compiler makes them, on inputs of all kinds, against each other and against our own
//! evaluation of each.
//!
//! The proof speaks about what the front end made of the files. If one of these comparisons fails, somebody misread
//! C, and there is no proof. Variables that outlive a call keep their content from input to input, on the CPU as in our evaluation.

use super::driver::{Shape, same, written};
use super::native::{Built, Executables, NotRun, Side};
use kernel::nests::Pairing;
use search::nests::{CORNERS, Inputs, KernelOptions};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use updates::{
    Constant, Final, Floating, Hashes, Limits, Nobody, Number, Numbers, Object, Origin, Overflow, Program, Scalar,
    Symbolic, execute, input_key,
};

/// What the runs say.
pub enum Agreement {
    /// All agree.
    Agree,
    /// Two of them do not; which, and on what.
    Disagree(String),
    /// There is no compiler.
    NoCompiler,
    /// It could not be run.
    NotRun(String),
    /// No input was found on which the original is defined.
    NoInput,
}

/// Longest time for our own evaluation of inputs after the first; all patterns once are enough if the compiler is done.
const PATIENCE: Duration = Duration::from_millis(60);
/// An evaluation that takes longer has a thread for each side; so has the first one of objects with so many cells.
const SLOW: Duration = Duration::from_millis(2);
const MANY: u64 = 1 << 12;
/// One evaluation that takes longer is enough.
const LONG: Duration = Duration::from_secs(1);
/// Most inputs.
const MOST_INPUTS: u64 = 240;
/// Most bytes of all inputs together after the first.
const MOST_BYTES: usize = 32 << 20;
/// Longest time for all runs of one side.
const LONGEST: Duration = Duration::from_secs(60);
/// Patterns in the order in which they are tried: mixed numbers first, then extreme ones.
const PATTERNS: [Pattern; 12] = [
    Pattern::Random(0),
    Pattern::Corners,
    Pattern::Written,
    Pattern::Random(4),
    Pattern::Random(6),
    Pattern::Random(7),
    Pattern::Random(3),
    Pattern::Random(8),
    Pattern::Random(1),
    Pattern::Random(2),
    Pattern::Written,
    Pattern::Random(5),
];

/// How inputs are filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Random(u32),
    /// Integers at the edges of their types.
    Corners,
    /// Numbers that the files mention, and their neighbours.
    Written,
}

/// An input: how its cells are filled, the same on both sides.
struct Input<'a> {
    inputs: Inputs,
    /// Dimensions of the original's objects, by key.
    dims: &'a HashMap<u64, Vec<u64>>,
    written: Option<&'a [Constant]>,
}

impl Input<'_> {
    fn value(&self, key: u64, cell: u64, ty: Scalar) -> Constant {
        let random = self.inputs.value(key, cell, ty, self.dims.get(&key).map_or(&[], Vec::as_slice));
        let Some(known) = self.written.filter(|known| !known.is_empty()) else { return random };
        let mix = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ cell.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mix = (mix ^ self.inputs.seed.wrapping_mul(0x94d0_49bb_1331_11eb))
            .rotate_left(29)
            .wrapping_mul(0x2545_f491_4f6c_dd1d);
        let chosen = known[(mix >> 33) as usize % known.len()];
        let shift = i128::from((mix >> 20) % 3) - 1;
        match (ty.is_float(), chosen.as_float(), chosen.as_integer()) {
            _ if mix >> 60 < 4 => random,
            (true, Some(value), _) => Constant::float(ty, value),
            (true, _, Some(value)) => Constant::float(ty, value as f64),
            (false, _, Some(value)) => Constant::integer(ty.wrap(value + shift)),
            (false, Some(value), _) => Constant::integer(ty.wrap(value as i128 + shift)),
            _ => random,
        }
    }
}

/// Our own evaluation of one side, call after call.
struct Evaluation<'a> {
    program: &'a Program,
    extents: Vec<Option<u64>>,
    /// What variables of the file's own hold.
    state: HashMap<u64, Vec<Number>>,
}

impl Evaluation<'_> {
    fn call(&mut self, input: &Input<'_>, deadline: Instant, flat: bool) -> Option<Final<Number>> {
        let objects: HashMap<u64, &Object> =
            self.program.objects.iter().filter_map(|o| Some((input_key(&o.origin)?, o))).collect();
        let state = &self.state;
        let fill = |key: u64, cell: u64, ty: Scalar| {
            let Some(object) = objects.get(&key) else { return input.value(key, cell, ty) };
            if let Some(Number::Value(known)) = state.get(&key).and_then(|cells| cells.get(cell as usize)) {
                return *known;
            }
            let start = if object.is_static() { object.start.cell(cell, ty) } else { None };
            start.unwrap_or_else(|| input.value(key, cell, ty))
        };
        let mut numbers = Numbers { inputs: fill, overflow: Overflow::Wraps };
        let limits = &Limits { interrupt: search::interrupt_at(deadline), flat, ..Limits::default() };
        execute(self.program, &mut numbers, &mut Nobody, limits, &self.extents).ok()
    }

    /// The call counts: its effects stay.
    fn keep(&mut self, end: &Final<Number>) {
        for (object, cells) in self.program.objects.iter().zip(&end.objects).filter(|(o, _)| o.is_static()) {
            if let Some(key) = input_key(&object.origin) {
                self.state.insert(key, cells.clone());
            }
        }
    }
}

/// Cells of the objects of both sides, and the extents of the candidate's.
type Sizes = ([Vec<usize>; 2], Vec<Option<u64>>);

/// Numbers of cells of all objects of both sides, and the extents of the candidate's. Pointers are taken as far as the original goes
/// for any data.
fn sizes([original, candidate]: [&Program; 2], pairing: &Pairing, options: KernelOptions) -> Option<Sizes> {
    let stated = |program: &Program| program.objects.iter().map(|o| o.cells.unwrap_or(0) as usize).collect::<Vec<_>>();
    if pairing.extents.is_empty() && candidate.objects.iter().all(|o| o.cells.is_some()) {
        return Some(([stated(original), stated(candidate)], Vec::new()));
    }
    let mut domain = Symbolic::new(Hashes, options.mode);
    let interrupt = search::interrupt_at(Instant::now() + options.timeout);
    let limits = &Limits { interrupt, flat: options.flat, ..Limits::default() };
    let end = execute(original, &mut domain, &mut Nobody, limits, &[]).ok()?;
    let extents = pairing.extents_for(&end, candidate);
    let ours = end.objects.iter().map(Vec::len).collect();
    let theirs =
        stated(candidate).into_iter().zip(&extents).map(|(cells, e)| e.map_or(cells, |e| e as usize)).collect();
    Some(([ours, theirs], extents))
}

/// Runs both sides and compares.
pub fn check(sides: &[Side<'_>; 2], options: KernelOptions, known: &Executables) -> Agreement {
    let programs = [sides[0].program, sides[1].program];
    let Ok(pairing) = Pairing::of(programs[0], programs[1]) else { return Agreement::NoInput };
    let Some((cells, extents)) = sizes(programs, &pairing, options) else { return Agreement::NoInput };
    let shapes = match [0, 1].map(|side: usize| Shape::of(programs[side], &cells[side])) {
        [Ok(first), Ok(second)] => [first, second],
        [Err(what), _] => return not_run("original", NotRun::Cannot(what)),
        [_, Err(what)] => return not_run("candidate", NotRun::Cannot(what)),
    };
    let extents_of = |side: usize| match side {
        // What the original's pointers point to is as long as any data makes it.
        0 => programs[0].objects.iter().zip(&cells[0]).map(|(o, c)| o.cells.is_none().then_some(*c as u64)).collect(),
        _ => extents.clone(),
    };
    let mut mentioned: Vec<Constant> = sides.iter().flat_map(|side| side.source.numbers()).collect();
    mentioned.sort_unstable();
    mentioned.dedup();
    // The compiler needs longer than most evaluations do.
    let (first, second, runs) = std::thread::scope(|scope| {
        let [first, second] = [0, 1].map(|side| {
            let cells = &cells[side];
            scope.spawn(move || Built::new(&sides[side], cells, known))
        });
        let waits = || !first.is_finished() || !second.is_finished();
        let runs = evaluate(sides, &shapes, [extents_of(0), extents_of(1)], &mentioned, options, &waits);
        (first.join(), second.join(), runs)
    });
    let internal = |_| Err(NotRun::Cannot("internal".to_string()));
    let built = match (first.unwrap_or_else(internal), second.unwrap_or_else(internal)) {
        (Ok(first), Ok(second)) => [first, second],
        (Err(why), _) => return not_run("original", why),
        (_, Err(why)) => return not_run("candidate", why),
    };
    let runs = match runs {
        Ok(runs) if runs.inputs[0].is_empty() => return Agreement::NoInput,
        Ok(runs) => runs,
        Err(what) => return Agreement::Disagree(what),
    };
    compare(sides, &built, &pairing, &runs, options)
}

fn not_run(side: &str, why: NotRun) -> Agreement {
    match why {
        NotRun::NoCompiler => Agreement::NoCompiler,
        NotRun::Cannot(what) | NotRun::Failed(what) => {
            Agreement::NotRun(format!("the {side} could not be run: {what}"))
        }
    }
}

/// Inputs as bytes, and what our own evaluation makes of each.
#[derive(Default)]
struct Runs {
    inputs: [Vec<Vec<u8>>; 2],
    ends: [Vec<Final<Number>>; 2],
    names: Vec<String>,
}

fn evaluate(
    sides: &[Side<'_>; 2],
    shapes: &[Shape; 2],
    extents: [Vec<Option<u64>>; 2],
    mentioned: &[Constant],
    options: KernelOptions,
    waits: &dyn Fn() -> bool,
) -> Result<Runs, String> {
    let start = Instant::now();
    let [first, second] = extents;
    let evaluation =
        |side: usize, extents| Evaluation { program: sides[side].program, extents, state: HashMap::default() };
    let mut evaluations = [evaluation(0, first), evaluation(1, second)];
    let dims = |o: &Object| Some((input_key(&o.origin)?, o.dims.clone()));
    let dims: HashMap<u64, Vec<u64>> = sides[0].program.objects.iter().filter_map(dims).collect();
    let mut runs = Runs::default();
    let mut bytes = 0;
    let mut slow = sides.iter().any(|side| side.program.objects.iter().any(|o| o.cells.is_some_and(|c| c > MANY)));
    for attempt in 0..MOST_INPUTS {
        let pattern = PATTERNS[(attempt % PATTERNS.len() as u64) as usize];
        // Sums that are regrouped round differently; small numbers do not round.
        let exact = matches!(options.mode, Floating::Reassoc | Floating::Contract);
        let number = match pattern {
            _ if exact => 4,
            Pattern::Random(number) => number,
            Pattern::Corners => CORNERS,
            Pattern::Written => 4,
        };
        let inputs = Inputs { seed: options.seed.wrapping_add(attempt / PATTERNS.len() as u64), pattern: number };
        let input =
            Input { inputs, dims: &dims, written: (pattern == Pattern::Written && !exact).then_some(mentioned) };
        let before = Instant::now();
        let deadline = before + options.timeout;
        let [original, candidate] = &mut evaluations;
        let (ours, theirs) = std::thread::scope(|scope| {
            // A thread costs more than a short evaluation does.
            let other = slow.then(|| scope.spawn(|| candidate.call(&input, deadline, options.flat)));
            let ours = original.call(&input, deadline, options.flat);
            (ours, other.map(|other| other.join().ok().flatten()))
        });
        // Inputs on which the original is not defined do not count.
        if let Some(ours) = ours {
            let theirs = theirs.unwrap_or_else(|| evaluations[1].call(&input, deadline, options.flat));
            let Some(theirs) = theirs else {
                return Err(format!("the candidate is not defined on input {attempt}, where the original is"));
            };
            for (side, end) in [ours, theirs].into_iter().enumerate() {
                let program = sides[side].program;
                let mut value = |object: &Object, cell: u64| {
                    input_key(&object.origin)
                        .map_or(Constant::Int(0), |key| input.value(key, cell, object.cell_type(cell)))
                };
                runs.inputs[side].push(shapes[side].encode(program, &mut value));
                evaluations[side].keep(&end);
                runs.ends[side].push(end);
            }
            runs.names.push(format!("seed {} pattern {number}", inputs.seed));
            bytes += shapes[0].input_size() + shapes[0].output_size();
        }
        slow = before.elapsed() > SLOW;
        let patterns = attempt + 1 >= PATTERNS.len() as u64 && !waits();
        let late = start.elapsed() > PATIENCE || patterns;
        let wanted = if before.elapsed() > LONG { 1 } else { 2 };
        let enough = runs.names.len() >= wanted && late || start.elapsed() > options.timeout;
        if enough || bytes > MOST_BYTES && !runs.names.is_empty() {
            break;
        }
    }
    Ok(runs)
}

/// Compares what the sides leave on the CPU with each other, and with what we think that they do.
fn compare(
    sides: &[Side<'_>; 2],
    built: &[Built; 2],
    pairing: &Pairing,
    runs: &Runs,
    options: KernelOptions,
) -> Agreement {
    let mut outputs = Vec::new();
    for (side, name) in [(0, "original"), (1, "candidate")] {
        match built[side].run(&runs.inputs[side], LONGEST) {
            Ok(output) => outputs.push(output),
            Err(why) => return not_run(name, why),
        }
    }
    let what = |side: usize, object: usize, cell: usize| sides[side].program.objects[object].cell_name(cell as u64);
    for (run, name) in runs.names.iter().enumerate() {
        for (side, word) in [(0, "original"), (1, "candidate")] {
            if sides[side].object.is_some() || !evaluated(sides[side].program) {
                continue;
            }
            for (output, part) in built[side].shape().outputs.iter().enumerate() {
                for cell in 0..part.cells {
                    let native = built[side].shape().decode(&outputs[side][run], output, cell);
                    let ours = runs.ends[side][run].objects[part.object].get(cell).copied().and_then(written);
                    if let (Some(native), Some(ours)) = (native, ours)
                        && !same(native, ours)
                    {
                        let cell = what(side, part.object, cell);
                        return Agreement::Disagree(format!(
                            "the compiled {word} leaves {native} in `{cell}`, our reading of it {ours} ({name})"
                        ));
                    }
                }
            }
        }
        for (first, second) in &pairing.outputs {
            let shapes = [built[0].shape(), built[1].shape()];
            let at = |side: usize, object: u32| shapes[side].outputs.iter().position(|p| p.object == object as usize);
            let (Some(a), Some(b)) = (at(0, *first), at(1, *second)) else { continue };
            for cell in 0..shapes[0].outputs[a].cells.min(shapes[1].outputs[b].cells) {
                let (x, y) = (shapes[0].decode(&outputs[0][run], a, cell), shapes[1].decode(&outputs[1][run], b, cell));
                if let (Some(x), Some(y)) = (x, y)
                    && !close(x, y, options.mode)
                {
                    let cell = what(0, *first as usize, cell);
                    return Agreement::Disagree(format!(
                        "the compiled original leaves {x} in `{cell}`, the compiled candidate {y} ({name})"
                    ));
                }
            }
        }
    }
    Agreement::Agree
}

/// Do we evaluate all functions that the program calls as the library does?
fn evaluated(program: &Program) -> bool {
    let zeros = |name: &String| name.starts_with("fmin") || name.starts_with("fmax");
    program.functions.iter().all(|name| updates::is_evaluated(name) && !zeros(name))
}

/// Are the results of two sides the same? Where sums may be regrouped, also if rounding explains the difference.
fn close(a: Constant, b: Constant, mode: Floating) -> bool {
    if same(a, b) {
        return true;
    }
    let (Some(x), Some(y)) = (a.as_float(), b.as_float()) else { return false };
    let tolerance = if matches!(a, Constant::F32(_)) { 1e-2 } else { 1e-6 };
    matches!(mode, Floating::Reassoc | Floating::Contract)
        && (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1e-3)
}

/// Objects by origin, for finding the same one on the other side.
pub fn position(program: &Program, origin: &Origin) -> Option<usize> {
    program.objects.iter().position(|o| o.origin == *origin)
}
