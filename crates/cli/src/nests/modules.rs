//! What clang makes of files: LLVM IR without a pass.
//!
//! Starting the compiler costs ten times what lowering a kernel does, so all texts that are not known yet go into one process, and a text
//! is lowered once. Structures are the exception: one process gives those of a second file other names, and functions are compared
//! by their text.

use super::native::{Scratch, Side, compiled};
use ir::Module;
use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Why a text has no module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoModule {
    /// There is no compiler whose code can be read.
    NoCompiler,
    /// The compiler refuses the text, or its code cannot be read.
    Refused(String),
}

type Made = Result<Arc<Module>, NoModule>;

/// Texts that were lowered: text, are rows of arrays one row.
#[derive(Default)]
pub struct Modules(Mutex<HashMap<(String, bool), Made>>);

/// Names under which the compiler is known.
const NAMES: [&str; 2] = ["clang-19", "clang"];

/// Headers that another compiler's preprocessor read have types and attributes that this one spells otherwise.
const SPELLINGS: [&str; 6] = [
    "-D_Float128=__float128",
    "-D_Float64x=long double",
    "-D_Float64=double",
    "-D_Float32x=double",
    "-D_Float32=float",
    "-D__malloc__(...)=",
];

/// Most texts of one process.
const MOST: usize = 64;

impl Modules {
    /// The modules of two sides.
    pub fn both(&self, sides: &[Side<'_>; 2], flat: bool) -> [Made; 2] {
        self.fetch(sides, flat);
        sides.each_ref().map(|side| {
            let text = text(side).map_err(NoModule::Refused)?;
            let known = self.0.lock().ok().and_then(|known| known.get(&(text, flat)).cloned());
            known.unwrap_or_else(|| Err(NoModule::Refused("internal".to_string())))
        })
    }

    /// Lowers the texts of sides that are not known yet.
    pub fn fetch(&self, sides: &[Side<'_>], flat: bool) {
        let mut missing: Vec<String> = Vec::new();
        for text in sides.iter().filter_map(|side| text(side).ok()) {
            let known = self.0.lock().is_ok_and(|known| known.contains_key(&(text.clone(), flat)));
            if !known && !missing.contains(&text) {
                missing.push(text);
            }
        }
        for texts in missing.chunks(MOST) {
            let made = lower(texts, flat);
            if let Ok(mut known) = self.0.lock() {
                known.extend(texts.iter().map(|text| (text.clone(), flat)).zip(made));
            }
        }
    }
}

/// The text of a side: with the parameters that nobody declares in front.
fn text(side: &Side<'_>) -> Result<String, String> {
    let mut text = String::new();
    for (name, value) in side.source.undeclared(side.name, &side.program.parameters) {
        let value = i32::try_from(value).map_err(|_| format!("the value of `{name}` is no `int`"))?;
        text.push_str(&format!("enum {{ {name} = {value} }};\n"));
    }
    // The compiler at hand refuses hints where it sees no loop; without them its code is the same.
    for line in side.source.preprocessed().lines() {
        text.push_str(if lift_c::is_hint(line) { "" } else { line });
        text.push('\n');
    }
    Ok(text)
}

/// The modules of texts, in one process if the compiler takes them all; those with structures once more, alone.
fn lower(texts: &[String], flat: bool) -> Vec<Made> {
    let together = match texts.len() {
        0 | 1 => None,
        _ => match outputs(texts, flat) {
            Err(NoModule::NoCompiler) => return vec![Err(NoModule::NoCompiler); texts.len()],
            made => made.ok(),
        },
    };
    let one = |number: usize| match together.as_ref().map(|outputs| &outputs[number]) {
        Some(output) if !has_types(output) => read(output),
        _ => {
            let outputs = outputs(std::slice::from_ref(&texts[number]), flat)?;
            outputs.first().map_or_else(|| Err(NoModule::Refused("internal".to_string())), |output| read(output))
        }
    };
    match texts.len() {
        2 => std::thread::scope(|scope| {
            let second = scope.spawn(|| one(1));
            let failed = || Err(NoModule::Refused("internal".to_string()));
            vec![one(0), second.join().unwrap_or_else(|_| failed())]
        }),
        count => (0..count).map(one).collect(),
    }
}

fn read(output: &str) -> Made {
    lift_llvm::read(output).map(Arc::new).map_err(NoModule::Refused)
}

/// Does the code have named types?
fn has_types(output: &str) -> bool {
    output.lines().any(|line| line.starts_with('%'))
}

/// What the compiler makes of texts, in one process.
fn outputs(texts: &[String], flat: bool) -> Result<Vec<String>, NoModule> {
    let refused = |what: &str| NoModule::Refused(what.to_string());
    let scratch = Scratch::new().ok_or_else(|| refused("no room for temporary files"))?;
    let name = |number: usize| format!("{number}.c");
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(scratch.path().join(name(number)), text).map_err(|e| refused(&e.to_string()))?;
    }
    for compiler in NAMES {
        let mut command = Command::new(compiler);
        command.current_dir(scratch.path());
        command.args(["-std=gnu17", "-w", "-S", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes"]);
        command.args([
            "-ffp-contract=off",
            "-fno-discard-value-names",
            "-femit-all-decls",
            "-fno-unwind-tables",
            "-fno-asynchronous-unwind-tables",
        ]);
        if !flat {
            command.args(["-fsanitize=array-bounds", "-fsanitize-trap=array-bounds"]);
        }
        command.args(SPELLINGS).args(["-o", "-", "-x", "c"]).arg(name(0));
        // More inputs of the same job: the driver would start a process for each.
        for number in 1..texts.len() {
            command.arg("-Xclang").arg(name(number));
        }
        let output = match compiled(command) {
            Err(None) => continue,
            Err(Some(message)) => return Err(refused(&format!("the compiler refuses it: {message}"))),
            Ok(output) => String::from_utf8(output).map_err(|_| refused("the compiler's code is no text"))?,
        };
        return parted(&output, texts.len(), name).ok_or_else(|| refused("the compiler's code has other parts"));
    }
    Err(NoModule::NoCompiler)
}

/// The parts of an output by the names of their inputs.
fn parted(output: &str, count: usize, name: impl Fn(usize) -> String) -> Option<Vec<String>> {
    const START: &str = "; ModuleID = '";
    let mut parts: Vec<Option<String>> = vec![None; count];
    let mut at: Option<usize> = None;
    for line in output.lines() {
        if let Some(id) = line.strip_prefix(START) {
            let found = (0..count).find(|number| id == format!("{}'", name(*number)))?;
            if parts[found].replace(String::new()).is_some() {
                return None;
            }
            at = Some(found);
        }
        let part = parts[at?].as_mut()?;
        part.push_str(line);
        part.push('\n');
    }
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(texts: &[&str]) -> Vec<Made> {
        lower(&texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>(), false)
    }

    #[test]
    fn parts_belong_to_their_inputs() {
        let parts = |text| parted(text, 2, |number| format!("{number}.c"));
        let both = "; ModuleID = '1.c'\nsecond\n; ModuleID = '0.c'\nfirst\n";
        let expected = ["; ModuleID = '0.c'\nfirst\n", "; ModuleID = '1.c'\nsecond\n"].map(str::to_string);
        assert_eq!(parts(both), Some(expected.to_vec()));
        assert_eq!(parts("; ModuleID = '0.c'\nfirst\n"), None, "one is missing");
        assert_eq!(parts("; ModuleID = '0.c'\n; ModuleID = '0.c'\n"), None, "one is there twice");
        assert_eq!(parts("before\n; ModuleID = '0.c'\n; ModuleID = '1.c'\n"), None);
    }

    #[test]
    fn texts_of_one_process_are_read_as_alone() {
        let texts =
            ["static int s = 1; int f(int a) { return a + s++; }", "static int s = 2; int f(int a) { return s + a; }"];
        let together = modules(&texts);
        for (text, together) in texts.iter().zip(together) {
            let alone = modules(&[text]).remove(0);
            assert_eq!(format!("{alone:?}"), format!("{together:?}"));
        }
        let structure = "struct s { int a; }; int f(struct s *p) { return p->a; }";
        let [first, second] = modules(&[structure, &format!("{structure} int x;")]).try_into().expect("two");
        let hash = |made: Made| made.map(|module| module.functions[0].hash.clone());
        assert_eq!(hash(first), hash(second));
    }

    #[test]
    fn a_text_that_the_compiler_refuses_leaves_the_others_alone() {
        let made = modules(&["int f(void) { return 1; }", "int f(void) { return"]);
        assert!(matches!(made[0], Ok(_) | Err(NoModule::NoCompiler)));
        assert!(made[1].is_err());
    }

    /// The kernels of the bench and of the tests with the sizes that they or their first candidate name.
    fn kernels() -> Vec<(lift_c::Source, Vec<(String, i64)>)> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let list =
            |path| std::fs::read_dir(path).map(|entries| entries.flatten().map(|e| e.path()).collect::<Vec<_>>());
        let mut files = list(root.join("bench/kernels/src")).expect("the bench is there");
        for directory in list(root.join("tests/kernels")).expect("the tests are there") {
            files.extend(list(directory).unwrap_or_default());
        }
        let mut kernels = Vec::new();
        for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "c")) {
            let text = std::fs::read_to_string(path).expect("a kernel");
            let size = |word: &str| {
                let (name, value) = word.trim_matches([',', ';']).split_once('=')?;
                Some((name.to_string(), value.parse().ok()?))
            };
            let first = text.lines().next().unwrap_or("");
            let parameters: Vec<(String, i64)> = first.split_whitespace().filter_map(size).collect();
            let settings = lift_c::Settings { parameters: parameters.clone(), ..lift_c::Settings::default() };
            kernels.extend(lift_c::Source::read(path, &settings).ok().map(|source| (source, parameters)));
        }
        kernels
    }

    #[test]
    fn strides_leave_what_steps_leave() {
        let kernels = kernels();
        let texts: Vec<String> = kernels.iter().map(|(source, _)| source.preprocessed().to_string()).collect();
        let mut compared = 0;
        let modules = texts.chunks(MOST).flat_map(|texts| lower(texts, false));
        for ((source, parameters), module) in kernels.iter().zip(modules) {
            let (Ok(module), Ok(name)) = (module, source.kernel()) else { continue };
            let Ok(program) = source.lower(&name, parameters) else { continue };
            let run = |pace| {
                let setting = ir::Setting { interface: &program, extents: &[], pace };
                let mut domain = updates::Symbolic::new(updates::Hashes, updates::Floating::Ieee);
                ir::execute(&module, &name, setting, &mut domain, &updates::Limits::default())
                    .map(|ended| format!("{ended:?}"))
                    .map_err(|fault| fault.kind)
            };
            let [steps, strides] = [ir::Pace::Steps, ir::Pace::Strides].map(run);
            compared += usize::from(steps.is_ok());
            assert!(steps == strides, "{}", source.path());
        }
        assert!(compared >= 250 || compiled(Command::new(NAMES[0])) == Err(None), "{compared}");
    }
}
