//! The C text behind a kernel that makes it a program: reads the cells of one call from its input, calls, writes what the caller sees.
//!
//! What differs from size to size comes first in the input: lengths of arrays and values of parameters. So kernels whose sizes are no
//! macros are compiled once.
//!
//! The program limits itself: time, memory, no files; and where it does not need the C library, no system calls
//! but `read`, `write` and `exit`. Arrays have guards on both sides that must stay as they are.

use super::native::Side;
use updates::{Argument, Constant, Number, Object, Origin, Program, Scalar};

/// Where the cells of an object are in memory.
pub struct Layout {
    fields: Vec<(usize, Scalar)>,
    /// Of one element.
    size: usize,
}

impl Layout {
    fn of(object: &Object) -> Layout {
        let fields = object.fields.iter().map(|f| (f.offset as usize, f.ty)).collect();
        Layout { fields, size: object.element_bytes as usize }
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

/// An object that goes in or comes out.
pub struct Part {
    /// In [`Program::objects`].
    pub object: usize,
    pub cells: usize,
    layout: Layout,
}

impl Part {
    fn size(&self) -> usize {
        self.layout.size_of(self.cells)
    }
}

/// What a kernel takes and gives.
pub struct Shape {
    /// Everything that the caller fills, in order.
    pub inputs: Vec<Part>,
    /// Everything that the caller sees, the result first.
    pub outputs: Vec<Part>,
}

impl Shape {
    /// The shape of a program whose objects have these numbers of cells.
    pub fn of(program: &Program, cells: &[usize]) -> Result<Shape, String> {
        let part = |number: usize| {
            let object = &program.objects[number];
            let layout = Layout::of(object);
            if layout.fields.is_empty() || layout.size == 0 {
                return Err(format!("`{}` has no cells", object.name));
            }
            Ok(Part { object: number, cells: cells.get(number).copied().unwrap_or(0), layout })
        };
        let given = |o: &Object| match o.origin {
            Origin::Parameter(_) | Origin::Value(_) => true,
            Origin::Global(_) => !o.is_static(),
            Origin::Table(_) | Origin::Local => false,
        };
        let numbers = |wanted: &dyn Fn(&Object) -> bool| {
            let found = program.objects.iter().enumerate().filter(|(_, o)| wanted(o));
            found.map(|(number, _)| number).collect::<Vec<_>>()
        };
        let inputs = numbers(&given).into_iter().map(part).collect::<Result<_, String>>()?;
        let seen = numbers(&|o| given(o) && o.is_output());
        let result = program.result.map(|r| r as usize);
        let outputs = result.into_iter().chain(seen).map(part).collect::<Result<_, String>>()?;
        Ok(Shape { inputs, outputs })
    }

    /// Bytes that come out of one call.
    pub fn output_size(&self) -> usize {
        self.outputs.iter().map(Part::size).sum()
    }

    /// Bytes that go in.
    pub fn input_size(&self) -> usize {
        self.inputs.iter().map(Part::size).sum()
    }

    /// The inputs of a call as bytes.
    pub fn encode(&self, program: &Program, value: &mut dyn FnMut(&Object, u64) -> Constant) -> Vec<u8> {
        let mut bytes = vec![0; self.input_size()];
        let mut start = 0;
        for part in &self.inputs {
            let object = &program.objects[part.object];
            for cell in 0..part.cells {
                let (at, ty) = part.layout.cell(cell);
                let width = ty.bytes() as usize;
                let content = match value(object, cell as u64) {
                    Constant::F64(bits) => bits,
                    Constant::F32(bits) => u64::from(bits),
                    Constant::Int(value) => value as u64,
                    Constant::Big(value) => value,
                };
                bytes[start + at..start + at + width].copy_from_slice(&content.to_le_bytes()[..width]);
            }
            start += part.size();
        }
        bytes
    }

    /// A cell of an output, by its position among the outputs.
    pub fn decode(&self, bytes: &[u8], output: usize, cell: usize) -> Option<Constant> {
        let start: usize = self.outputs[..output].iter().map(Part::size).sum();
        let (at, ty) = self.outputs[output].layout.cell(cell);
        let mut content = [0; 8];
        let width = ty.bytes() as usize;
        content[..width].copy_from_slice(bytes.get(start + at..start + at + width)?);
        let bits = u64::from_le_bytes(content);
        Some(match ty {
            Scalar::F64 => Constant::F64(bits),
            Scalar::F32 => Constant::F32(bits as u32),
            // A byte that is neither zero nor one is no truth value: let it be seen.
            Scalar::Bool => Constant::Int(bits as i64),
            ty => Constant::integer(ty.wrap(i128::from(bits))),
        })
    }
}

/// Are the numbers the same, up to the payload of a NaN?
pub fn same(a: Constant, b: Constant) -> bool {
    let nan = |c: Constant| c.as_float().is_some_and(f64::is_nan);
    a == b || nan(a) && nan(b)
}

/// The number, if it was written.
pub fn written(number: Number) -> Option<Constant> {
    match number {
        Number::Value(constant) => Some(constant),
        Number::Unwritten => None,
    }
}

/// Does the program allocate? Then it needs the C library and its system calls.
pub fn allocates(program: &Program) -> bool {
    program.objects.iter().any(|o| o.name.starts_with("memory of line"))
}

/// How an object's function is declared.
fn declaration(side: &Side<'_>) -> String {
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
    format!("{} {}({arguments});\n", program.result.map_or("void", of), side.name)
}

const GUARD: usize = 64;

const HELPERS: &str = r#"
static long lockstep_system(long k, long a, const void *b, long c) { long r; __asm__ volatile ("syscall" : "=a"(r) : "a"(k), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); return r; }
static void lockstep_exit(int s) { for (;;) lockstep_system(60, s, 0, 0); }
static int lockstep_take(void *p, unsigned long n) { char *c = p; while (n) { long k = lockstep_system(0, 0, c, n); if (k <= 0) return 0; c += k; n -= k; } return 1; }
static void lockstep_give(const void *p, unsigned long n) { const char *c = p; while (n) { long k = lockstep_system(1, 1, c, n); if (k <= 0) lockstep_exit(2); c += k; n -= k; } }
static void lockstep_copy(void *p, const void *q, unsigned long n) { char *a = p; const char *b = q; while (n--) *a++ = *b++; }
static void lockstep_limit(long what, unsigned long most) { unsigned long l[2]; l[0] = most; l[1] = most; lockstep_system(160, what, l, 0); }
static unsigned char *lockstep_map(unsigned long n) { register long a __asm__("r10") = 34; register long b __asm__("r8") = -1; register long c __asm__("r9") = 0; unsigned char *r; __asm__ volatile ("syscall" : "=a"(r) : "a"(9L), "D"(0L), "S"(n), "d"(3L), "r"(a), "r"(b), "r"(c) : "rcx", "r11", "memory"); if ((unsigned long)r > -4096ul) lockstep_exit(6); return r; }
static void lockstep_guard(unsigned char *p, unsigned long n) { for (int i = 0; i < 64; i++) p[i] = p[64 + n + i] = 0xa5; }
static void lockstep_guarded(unsigned char *p, unsigned long n) { for (int i = 0; i < 64; i++) if (p[i] != 0xa5 || p[64 + n + i] != 0xa5) lockstep_exit(4); }
"#;

/// What the program reads first: bytes of each input, values of arguments that have one, values of globals that do.
pub fn header(side: &Side<'_>, shape: &Shape) -> Vec<u8> {
    let sizes = shape.inputs.iter().map(|part| part.size() as u64);
    let known = side.program.arguments.iter().filter_map(|argument| match argument {
        Argument::Known(value, _) => Some(*value as u64),
        _ => None,
    });
    let given = given_globals(side).map(|(_, value)| *value as u64);
    sizes.chain(known).chain(given).flat_map(u64::to_le_bytes).collect()
}

/// Globals of the file that have values.
fn given_globals<'a>(side: &Side<'a>) -> impl Iterator<Item = &'a (String, i64)> {
    let (source, from_c) = (side.source, side.object.is_none());
    side.program.parameters.iter().filter(move |(name, _)| from_c && source.has_global(name))
}

/// The text of the program.
pub fn text(side: &Side<'_>, shape: &Shape) -> Result<String, String> {
    let program = side.program;
    let mut text = String::new();
    let from_c = side.object.is_none();
    if from_c {
        // Parameters that nobody declares.
        for (name, value) in side.source.undeclared(side.name, &program.parameters) {
            let fits = i32::try_from(value).is_ok();
            text.push_str(&if fits {
                format!("enum {{ {name} = {value} }};\n")
            } else {
                return Err(format!("the value of `{name}` is no `int`"));
            });
        }
        text.push_str(side.source.preprocessed());
    } else {
        if program.objects.iter().any(|o| matches!(o.origin, Origin::Global(_))) {
            return Err("the object's globals have no types out here".to_string());
        }
        text.push_str(&declaration(side));
    }
    text.push_str("\n# 1 \"lockstep\"\n");
    text.push_str(HELPERS);
    text.push_str(&format!("static long lockstep_h[{}];\n", header(side, shape).len() / 8 + 1));
    for part in &shape.inputs {
        let object = &program.objects[part.object];
        text.push_str(&format!("static unsigned char *lockstep_m{};\n", part.object));
        if let (Origin::Global(name), updates::Start::Elsewhere) = (&object.origin, &object.start) {
            text.push_str(&format!("__typeof__({name}) {name};\n"));
        }
    }
    let limits = "lockstep_limit(0, 60); lockstep_limit(1, 0); lockstep_limit(3, 1ul << 30); lockstep_limit(4, 0);";
    text.push_str(&format!("void lockstep_run(void) {{ char more; {limits}\n"));
    text.push_str("if (!lockstep_take(lockstep_h, sizeof lockstep_h - 8)) lockstep_exit(3);\n");
    for (number, part) in shape.inputs.iter().enumerate() {
        text.push_str(&format!("lockstep_m{} = lockstep_map(lockstep_h[{number}] + {});\n", part.object, 2 * GUARD));
    }
    if program.functions.is_empty() && !allocates(program) && from_c {
        // Nothing but `read`, `write` and `exit` from here on (prctl PR_SET_SECCOMP, SECCOMP_MODE_STRICT).
        text.push_str("lockstep_system(157, 22, (const void *)1, 0);\n");
    }
    text.push_str("while (lockstep_take(&more, 1)) {\n");
    for (at, part) in shape.inputs.iter().enumerate() {
        let number = part.object;
        text.push_str(&format!("lockstep_guard(lockstep_m{number}, lockstep_h[{at}]); if (!lockstep_take(lockstep_m{number} + {GUARD}, lockstep_h[{at}])) lockstep_exit(3);\n"));
        if let Origin::Global(name) = &program.objects[number].origin {
            text.push_str(&format!("if (sizeof {name} != lockstep_h[{at}]) lockstep_exit(5); lockstep_copy((void *)&{name}, lockstep_m{number} + {GUARD}, lockstep_h[{at}]);\n"));
        }
    }
    let known = |argument: &&Argument| matches!(argument, Argument::Known(..));
    let first = shape.inputs.len() + program.arguments.iter().filter(known).count();
    for (number, (name, _)) in given_globals(side).enumerate() {
        text.push_str(&format!("*(__typeof__(+{name}) *)&{name} = lockstep_h[{}];\n", first + number));
    }
    let call = call(side, shape)?;
    match program.result {
        Some(object) => {
            let ty = program.objects[object as usize].fields[0].ty;
            let width = ty.bytes();
            text.push_str(&format!(
                "{{ __typeof__({call}) lockstep_r = {call}; if (sizeof lockstep_r != {width}) lockstep_exit(5); lockstep_give(&lockstep_r, {width}); }}\n"
            ));
        }
        None => text.push_str(&format!("{call};\n")),
    }
    for (at, part) in shape.inputs.iter().enumerate() {
        text.push_str(&format!("lockstep_guarded(lockstep_m{}, lockstep_h[{at}]);\n", part.object));
    }
    for part in shape.outputs.iter().filter(|part| program.result != Some(part.object as u32)) {
        let number = part.object;
        let at = shape.inputs.iter().position(|input| input.object == number).ok_or("an output is not there")?;
        match &program.objects[number].origin {
            Origin::Global(name) => text.push_str(&format!("lockstep_give((void *)&{name}, lockstep_h[{at}]);\n")),
            _ => text.push_str(&format!("lockstep_give(lockstep_m{number} + {GUARD}, lockstep_h[{at}]);\n")),
        }
    }
    text.push_str("}\nlockstep_exit(0); }\n");
    text.push_str("__asm__ (\".globl _start\\n_start: xorl %ebp, %ebp\\nandq $-16, %rsp\\ncall lockstep_run\\n\");\n");
    Ok(text)
}

fn call(side: &Side<'_>, shape: &Shape) -> Result<String, String> {
    let program = side.program;
    let place = |object: u32| {
        let found = shape.inputs.iter().any(|part| part.object == object as usize);
        found.then(|| format!("(lockstep_m{object} + {GUARD})")).ok_or("an argument is not there".to_string())
    };
    let mut arguments = Vec::new();
    let mut known = shape.inputs.len();
    for (position, argument) in program.arguments.iter().enumerate() {
        arguments.push(match argument {
            Argument::Known(_, ty) => {
                known += 1;
                format!("({})lockstep_h[{}]", ty.name(), known - 1)
            }
            Argument::Unnamed => "0".to_string(),
            Argument::Value(object) => {
                let what = &program.objects[*object as usize];
                let ty = match what.fields.as_slice() {
                    [field] if field.name.is_empty() => field.ty.name().to_string(),
                    _ => side
                        .source
                        .structure_of(side.name, position)
                        .ok_or_else(|| format!("the structure `{}` has no name", what.name))?,
                };
                format!("*({ty} *){}", place(*object)?)
            }
            Argument::Memory(object) => format!("(void *){}", place(*object)?),
        });
    }
    Ok(format!("{}({})", side.name, arguments.join(", ")))
}
