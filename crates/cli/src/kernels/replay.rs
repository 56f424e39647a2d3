//! Replays a witness on the CPU: both kernels and a small main program in one file, compiled without optimisation.
//!
//! One compilation unit, because starting the compiler is most of the cost: names that the files define get a suffix
//! each. Inputs go in through a pipe, outputs come back the same way.

use lift_c::Source;
use search::updates::{KernelWitness, WitnessInput};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use updates::{Argument, Constant, Object, Origin, Program, Scalar};

/// A kernel with its file.
pub struct Side<'a> {
    pub source: &'a Source,
    pub program: &'a Program,
    pub name: &'a str,
    /// The object file with the function; its program is then how it is called.
    pub object: Option<PathBuf>,
}

/// What the compiled programs say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Result {
    /// Their outputs differ.
    Differs,
    /// Their outputs are the same.
    Agrees,
    /// No compiler, or something the harness cannot pass.
    NotRun,
}

/// Longest time for compiling and for running.
const LIMIT: Duration = Duration::from_secs(10);
/// Witnesses with more cells are not compiled.
const MOST_CELLS: usize = 4_000_000;

/// What is added to the names of the original and of the candidate.
const SUFFIXES: [&str; 2] = ["__o", "__c"];

/// Compiles and runs both kernels on the witness.
pub fn replay(sides: [Side<'_>; 2], witness: &KernelWitness) -> Result {
    let cells: usize = witness.memory.iter().map(|m| m.cells.len()).sum();
    if cells > MOST_CELLS {
        return Result::NotRun;
    }
    let Some(text) = harness(&sides, witness) else { return Result::NotRun };
    let Some(directory) = scratch() else { return Result::NotRun };
    let objects: Option<Vec<PathBuf>> =
        sides.iter().zip(SUFFIXES).filter_map(|(side, suffix)| prepared(side, suffix, &directory)).collect();
    let alone = sides.iter().all(|s| s.object.is_none() && s.program.functions.is_empty());
    let library = if alone { Library::Avoided } else { Library::Linked };
    let outputs = objects
        .and_then(|objects| compile_and_run(&directory, &text, (&objects, library), (sides[0].program, witness)));
    // Scratch files that stay behind harm nobody.
    let _ = std::fs::remove_dir_all(&directory);
    let Some(bytes) = outputs else { return Result::NotRun };
    compare(&bytes, sides[0].program, witness)
}

fn scratch() -> Option<PathBuf> {
    let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    let path = std::env::temp_dir().join(format!("lockstep-{}-{stamp}", std::process::id()));
    std::fs::create_dir(&path).ok()?;
    Some(path)
}

/// A copy of the side's object in which only the function is global, under the name that the harness calls; the inner
/// nothing means that it could not be made.
fn prepared(side: &Side<'_>, suffix: &str, directory: &Path) -> Option<Option<PathBuf>> {
    let object = side.object.as_ref()?;
    let (copy, name) = (directory.join(format!("side{suffix}.o")), format!("{}{suffix}", side.name));
    let mut command = Command::new("objcopy");
    command.arg("--redefine-sym").arg(format!("{}={name}", side.name)).arg("--keep-global-symbol").arg(&name);
    command.arg(object).arg(&copy).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(run(command, Vec::new()).map(|_| copy))
}

/// How an object's function is declared.
fn declaration(side: &Side<'_>, suffix: &str) -> String {
    let program = side.program;
    let of = |object: u32| program.objects[object as usize].fields.first().map_or("int", |f| f.ty.name());
    let argument = |argument: &Argument| match *argument {
        Argument::Known(_, ty) => ty.name().to_string(),
        Argument::Value(object) => of(object).to_string(),
        Argument::Memory(_) => "void *".to_string(),
        Argument::Unnamed => "long".to_string(),
    };
    let arguments: Vec<String> = program.arguments.iter().map(argument).collect();
    let arguments = if arguments.is_empty() { "void".to_string() } else { arguments.join(", ") };
    format!("{} {}{suffix}({arguments});\n", program.result.map_or("void", of), side.name)
}

/// Is the C library linked? That is half of the cost, and few kernels need it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Library {
    Linked,
    /// Only if it does not go without.
    Avoided,
}

fn compile_and_run(
    directory: &Path,
    text: &str,
    (objects, library): (&[PathBuf], Library),
    (original, witness): (&Program, &KernelWitness),
) -> Option<Vec<u8>> {
    let (source, program) = (directory.join("replay.c"), directory.join("replay"));
    std::fs::write(&source, text).ok()?;
    let compiler = || {
        let mut compiler = Command::new("cc");
        compiler.args(["-w", "-O0", "-ffp-contract=off", "-fwrapv", "-pipe", "-o"]).arg(&program).arg(&source);
        compiler.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        compiler
    };
    let here = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    let linked = here && library == Library::Avoided && !text.contains("omp parallel") && {
        let mut small = compiler();
        small.args(["-DALONE", "-nostdlib", "-static", "-fno-stack-protector"]);
        run(small, Vec::new()).is_some()
    };
    let mut compiler = compiler();
    // What a clause makes private is so with OpenMP only. The order of a reduction is not fixed then.
    if text.contains("omp parallel") && !text.contains("reduction") {
        compiler.arg("-fopenmp");
    }
    if !objects.is_empty() {
        compiler.arg("-no-pie").args(objects);
    }
    compiler.arg("-lm");
    if !linked {
        run(compiler, Vec::new())?;
    }
    let mut input = Vec::new();
    for memory in &witness.memory {
        let layout = Layout::of(original, memory)?;
        let start = input.len();
        input.resize(start + layout.size_of(memory.cells.len()), 0);
        for (cell, constant) in memory.cells.iter().enumerate() {
            let (at, ty) = layout.cell(cell);
            let bytes = bytes(constant, ty);
            input[start + at..start + at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    let mut command = Command::new(&program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    run(command, input)
}

/// The output of a process that ends well and in time.
fn run(mut command: Command, input: Vec<u8>) -> Option<Vec<u8>> {
    let mut child = command.spawn().ok()?;
    let feeder = child.stdin.take().map(|mut pipe| std::thread::spawn(move || pipe.write_all(&input)));
    let reader = child.stdout.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes)
        })
    });
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < LIMIT => std::thread::sleep(pause),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let _ = feeder.map(std::thread::JoinHandle::join);
    let output = reader.map_or(Some(Vec::new()), |reader| reader.join().ok()?.ok());
    status.success().then_some(output?)
}

/// Where the cells of an object are in memory.
struct Layout {
    fields: Vec<(usize, Scalar)>,
    /// Of one element.
    size: usize,
}

impl Layout {
    /// Nothing if the object is not there, or if padding inside its structures is not known.
    fn of(program: &Program, input: &WitnessInput) -> Option<Layout> {
        let object = program.objects.iter().find(|o| o.origin == input.origin)?;
        let width = |ty: Scalar| ty.bytes() as usize;
        let widest = object.fields.iter().map(|f| width(f.ty)).max()?;
        // A structure inside a structure ends with padding of its own, unless all is of one width.
        let nested = object.fields.iter().any(|f| f.name.matches('.').count() > 1);
        if nested && object.fields.iter().any(|f| width(f.ty) != widest) {
            return None;
        }
        let (mut fields, mut size) = (Vec::new(), 0usize);
        for field in &object.fields {
            let at = size.next_multiple_of(width(field.ty));
            fields.push((at, field.ty));
            size = at + width(field.ty);
        }
        Some(Layout { fields, size: size.next_multiple_of(widest) })
    }

    fn size_of(&self, cells: usize) -> usize {
        cells.div_ceil(self.fields.len()) * self.size
    }

    /// Place and type of a cell.
    fn cell(&self, cell: usize) -> (usize, Scalar) {
        let (at, ty) = self.fields[cell % self.fields.len()];
        (cell / self.fields.len() * self.size + at, ty)
    }
}

fn bytes(constant: &Constant, ty: Scalar) -> Vec<u8> {
    let value = match constant {
        Constant::F64(bits) => *bits,
        Constant::F32(bits) => u64::from(*bits),
        Constant::Int(value) => *value as u64,
        Constant::Big(value) => *value,
    };
    value.to_le_bytes()[..ty.bytes() as usize].to_vec()
}

/// Objects that the caller sees at the end, by number, without the result.
fn outputs(program: &Program) -> impl Iterator<Item = (usize, &Object)> {
    let visible = |o: &Object| match &o.origin {
        Origin::Parameter(_) => true,
        Origin::Global(name) => !name.starts_with("static "),
        _ => false,
    };
    program.objects.iter().enumerate().filter(move |(_, o)| visible(o))
}

const PRELUDE: &str = "\
typedef unsigned long size_t; typedef long ssize_t; typedef long ptrdiff_t; typedef unsigned long uintptr_t; typedef long intptr_t;
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long uint64_t;
#ifdef ALONE
static long pass(long k, long a, const void *b, unsigned long c) { long r; __asm__ volatile (\"syscall\" : \"=a\"(r) : \"a\"(k), \"D\"(a), \"S\"(b), \"d\"(c) : \"rcx\", \"r11\", \"memory\"); return r; }
#define read(f, p, n) pass(0, f, p, n)
#define write(f, p, n) pass(1, f, p, n)
int main(void);
__attribute__((used)) static void start(void) { pass(60, main(), 0, 0); }
__asm__ (\".globl _start\\n_start: xorl %ebp, %ebp\\nandq $-16, %rsp\\ncall start\\n\");
#else
long read(int, void *, unsigned long); long write(int, const void *, unsigned long);
#endif
void *malloc(unsigned long); void free(void *);
static void take(void *p, unsigned long n) { char *c = p; while (n) { long k = read(0, c, n); if (k <= 0) __builtin_trap(); c += k; n -= k; } }
static void give(const void *p, unsigned long n) { const char *c = p; while (n) { long k = write(1, c, n); if (k <= 0) __builtin_trap(); c += k; n -= k; } }
static void copy(void *p, const void *q, unsigned long n) { char *a = p; const char *b = q; while (n--) *a++ = *b++; }
#undef read
#undef write
";

/// The text of the program that runs both kernels.
fn harness(sides: &[Side<'_>; 2], witness: &KernelWitness) -> Option<String> {
    let mut text = PRELUDE.to_string();
    for function in sides.iter().flat_map(|s| &s.program.functions) {
        let (ty, base) = match function.strip_suffix('f') {
            Some(base) if function != "erf" => ("float", base),
            _ => ("double", function.as_str()),
        };
        let arguments = match base {
            "pow" | "fmod" | "atan2" | "hypot" | "fmin" | "fmax" | "copysign" => 2,
            "fma" => 3,
            "abs" | "labs" | "llabs" => continue,
            _ => 1,
        };
        text.push_str(&format!("{ty} {function}({});\n", vec![ty; arguments].join(", ")));
    }
    text.push_str("int abs(int); long labs(long);\n");
    for (side, suffix) in sides.iter().zip(SUFFIXES) {
        if side.object.is_some() {
            // The object's globals have no names out here.
            if side.program.objects.iter().any(|o| matches!(o.origin, Origin::Global(_))) {
                return None;
            }
            text.push_str(&declaration(side, suffix));
            continue;
        }
        let undeclared = side.source.undeclared(side.name, &side.program.parameters);
        for (name, value) in &undeclared {
            text.push_str(&format!("#define {name} ({value})\n"));
        }
        text.push_str(&side.source.renamed_for(side.name, suffix));
        text.push('\n');
        for (name, _) in &undeclared {
            text.push_str(&format!("#undef {name}\n"));
        }
    }
    text.push_str("\nint main(void) {\n");
    let original = sides[0].program;
    let mut size_of: Vec<(Origin, usize)> = Vec::new();
    for (number, input) in witness.memory.iter().enumerate() {
        let layout = Layout::of(original, input)?;
        let size = layout.size_of(input.cells.len());
        // An argument is taken from here as a value of its type; of structures only the bytes count.
        let (ty, count) = match input.types.as_slice() {
            [ty] => (ty.name(), input.cells.len()),
            _ => ("_Alignas(16) unsigned char", size),
        };
        text.push_str(&format!("static {ty} in{number}[{}], o{number}[{0}], c{number}[{0}];\n", count.max(1)));
        text.push_str(&format!(
            "take(in{number}, {size}); copy(o{number}, in{number}, {size}); copy(c{number}, in{number}, {size});\n"
        ));
        size_of.push((input.origin.clone(), size));
    }
    let place = |origin: &Origin| size_of.iter().position(|(o, _)| o == origin).map(|at| (at, size_of[at].1));
    for ((side, suffix), letter) in sides.iter().zip(SUFFIXES).zip(["o", "c"]) {
        let program = side.program;
        // A global that only the candidate has would need inputs of its own.
        for object in &program.objects {
            if let Origin::Global(name) = &object.origin {
                let (at, size) = place(&object.origin)?;
                let name = name.strip_prefix("static ").unwrap_or(name);
                if name.contains('.') {
                    return None;
                }
                text.push_str(&format!("copy((void *)&{name}{suffix}, {letter}{at}, {size});\n"));
            }
        }
        let mut arguments = Vec::new();
        for argument in &program.arguments {
            arguments.push(match argument {
                Argument::Known(value, _) => format!("{value}"),
                Argument::Unnamed => "0".to_string(),
                Argument::Value(object) => {
                    format!("{letter}{}[0]", place(&program.objects[*object as usize].origin)?.0)
                }
                Argument::Memory(object) => {
                    format!("(void *){letter}{}", place(&program.objects[*object as usize].origin)?.0)
                }
            });
        }
        let call = format!("{}{suffix}({})", side.name, arguments.join(", "));
        match program.result {
            Some(object) => {
                let ty = program.objects[object as usize].fields[0].ty;
                text.push_str(&format!("{{ {0} r = {call}; give(&r, {1}); }}\n", ty.name(), ty.bytes()));
            }
            None => text.push_str(&format!("{call};\n")),
        }
        for (_, object) in outputs(original) {
            let (at, size) = place(&object.origin)?;
            if let Origin::Global(name) = &object.origin {
                text.push_str(&format!("copy({letter}{at}, (void *)&{name}{suffix}, {size});\n"));
            }
            text.push_str(&format!("give({letter}{at}, {size});\n"));
        }
    }
    text.push_str("return 0;\n}\n");
    Some(text)
}

/// Do the two halves of the output differ in more than the payload of a NaN?
fn compare(output: &[u8], original: &Program, witness: &KernelWitness) -> Result {
    let half = output.len() / 2;
    if output.len() % 2 == 1 {
        return Result::NotRun;
    }
    let (ours, theirs) = output.split_at(half);
    let mut at = 0;
    if let Some(object) = original.result {
        let ty = original.objects[object as usize].fields[0].ty;
        if differs(ours, theirs, at, ty) {
            return Result::Differs;
        }
        at += ty.bytes() as usize;
    }
    for (_, object) in outputs(original) {
        let Some(input) = witness.memory.iter().find(|m| m.origin == object.origin) else { continue };
        let Some(layout) = Layout::of(original, input) else { return Result::NotRun };
        let mut cells = (0..input.cells.len()).map(|cell| layout.cell(cell));
        if cells.any(|(offset, ty)| differs(ours, theirs, at + offset, ty)) {
            return Result::Differs;
        }
        at += layout.size_of(input.cells.len());
    }
    if at == half { Result::Agrees } else { Result::NotRun }
}

/// Do two outputs differ at this place? What is not there does not.
fn differs(ours: &[u8], theirs: &[u8], at: usize, ty: Scalar) -> bool {
    let range = at..at + ty.bytes() as usize;
    let (Some(a), Some(b)) = (ours.get(range.clone()), theirs.get(range)) else { return false };
    a != b && !(is_nan(ty, a) && is_nan(ty, b))
}

fn is_nan(ty: Scalar, bytes: &[u8]) -> bool {
    match ty {
        Scalar::F64 => bytes.try_into().is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        Scalar::F32 => bytes.try_into().is_ok_and(|b| f32::from_le_bytes(b).is_nan()),
        _ => false,
    }
}
