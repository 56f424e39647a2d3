//! Test helpers: images from text, graphs to text.

use crate::{Error, Image};
use program::{Call, Callee, Function, Next, Op, Register, Side};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use term::Arena;

/// The bytes that a tool makes of a text.
fn built(file: &str, text: &str, command: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), text).expect("a file");
    let (program, arguments) = command.split_first().expect("a command");
    let run = Command::new(program)
        .args(arguments)
        .args(["-o", "out", file])
        .current_dir(folder.path())
        .output()
        .expect("a tool");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    std::fs::read(folder.path().join("out")).expect("its output")
}

/// The object file of an assembly text, in Intel syntax.
pub(crate) fn assembled(text: &str) -> Image {
    let bytes = built("test.s", &format!(".intel_syntax noprefix\n{text}\n"), &["as"]);
    Image::parse(bytes, "test.o").expect("an object file")
}

/// The output of a C compiler for a C text.
pub(crate) fn compiled(text: &str, command: &str) -> Image {
    let command: Vec<&str> = command.split(' ').collect();
    Image::parse(built("test.c", text, &command), "test.o").expect("an object file")
}

/// Bytes of an object file with debug information, tables and strings.
pub(crate) fn sample() -> Vec<u8> {
    let text = "
        struct pair { int a; double b; };
        static int counter; static const int squares[] = {0, 1, 4, 9};
        static const char *names[] = {\"zero\", \"one\"};
        extern int puts(const char *); __thread int local;
        int pick(unsigned n, struct pair p) {
            static int calls; int array[8]; calls++;
            for (unsigned i = 0; i < 8; i++) array[i] = n * i;
            switch (n) { case 0: return puts(names[n & 1]); case 1: return counter++; case 2: return local;
                case 3: return squares[n]; case 4: return p.a; case 5: return array[n]; case 6: return (int)p.b; }
            return calls;
        }
        int (*pointer)(unsigned, struct pair) = pick;
    ";
    built("test.c", text, &["cc", "-c", "-g", "-O1", "-fPIC"])
}

/// A function of an image, or why it cannot be lifted, with its arena.
pub(crate) fn lifted(image: &Image, name: &str) -> (Arena, Result<Function, Error>) {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let index = image.find(name).expect("a function of that name");
    let function = image.lift(index, Side::Original, &mut arena);
    (arena, function)
}

/// A function as text, flags left out.
pub(crate) fn shown(image: &Image, name: &str) -> String {
    let (arena, function) = lifted(image, name);
    match function {
        Ok(function) => render(&arena, &function),
        Err(error) => format!("{error}\n"),
    }
}

fn render(arena: &Arena, function: &Function) -> String {
    let mut out = String::new();
    for (i, point) in function.points.iter().enumerate() {
        let _ = writeln!(out, "{i}: at {:#x}", point.address);
        for (_, op) in &point.ops {
            let is_flag = |var| matches!(Register::of_var(var), Some(Register::Flag(_)));
            let _ = match op {
                Op::Set { var, .. } | Op::Unknown { var } if is_flag(*var) => Ok(()),
                Op::Set { var, value } => writeln!(out, "   {} := {}", arena.var_name(*var), arena.text(*value)),
                Op::Load { var, address, bytes } => {
                    writeln!(out, "   {} := {bytes} at {}", arena.var_name(*var), arena.text(*address))
                }
                Op::Store { address, value } => {
                    writeln!(out, "   at {} := {}", arena.text(*address), arena.text(*value))
                }
                Op::Unknown { var } => writeln!(out, "   {} := ?", arena.var_name(*var)),
                Op::Fault { condition, kind } => writeln!(out, "   {kind:?} if {}", arena.text(*condition)),
            };
        }
        let _ = match &point.next {
            Next::Edges(edges) => {
                edges.iter().try_for_each(|edge| writeln!(out, "   -> {} if {}", edge.target.0, arena.text(edge.guard)))
            }
            Next::Call(Call { callee, returns, tail }) => {
                let callee = match callee {
                    Callee::Named(name) => name.clone(),
                    Callee::Pointer(term) => format!("[{}]", arena.text(*term)),
                };
                let word = if *tail { "leave to" } else { "call" };
                match returns {
                    Some(point) => writeln!(out, "   {word} {callee} -> {}", point.0),
                    None => writeln!(out, "   {word} {callee}"),
                }
            }
            Next::Return => writeln!(out, "   return"),
            Next::Fault(kind) => writeln!(out, "   fault {kind:?}"),
        };
    }
    out
}

/// Objects of a function as text, one per line, hashes shortened.
pub(crate) fn objects(image: &Image, name: &str) -> String {
    let (arena, function) = lifted(image, name);
    let function = function.expect("a graph");
    let mut lines: Vec<String> = Vec::new();
    for object in function.objects.values() {
        let size = object.size.map_or("?".to_string(), |s| s.to_string());
        let content = match &object.content {
            Some(content) => {
                let pointers: Vec<String> =
                    content.pointers.iter().map(|(at, term)| format!("{at}: {}", short(&arena.text(*term)))).collect();
                format!(" content {} [{}]", content.bytes.len(), pointers.join(", "))
            }
            None => String::new(),
        };
        let members: Vec<String> = object
            .members
            .iter()
            .map(|m| format!("{}+{} {}", m.offset, m.size, short(arena.var_name(m.var))))
            .collect();
        let members = if members.is_empty() { String::new() } else { format!(" members {}", members.join(", ")) };
        let var = short(arena.var_name(object.var));
        lines.push(format!("{var} `{}` size {size} align {}{content}{members}", object.name, object.align));
    }
    lines.sort();
    lines.join("\n")
}

/// Identities as four digits.
fn short(text: &str) -> String {
    let mut out = String::new();
    let mut run = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_hexdigit() {
            run.push(c);
            continue;
        }
        out.push_str(if run.len() == 32 { &run[..4] } else { &run });
        run.clear();
        out.push(c);
    }
    out.trim_end().to_string()
}

/// Writes an assembly file and reads it as the command line would.
pub(crate) fn read_assembly(text: &str) -> Result<Image, Error> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.s");
    std::fs::write(&path, text).expect("a file");
    Image::read(Path::new(&path))
}
