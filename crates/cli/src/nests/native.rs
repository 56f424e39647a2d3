//! Kernels as the compiler makes them: one executable for each side, run in a child process.
//!
//! The text that is compiled is the file's own, preprocessed, with a driver behind it that reads inputs from a pipe, calls the
//! kernel and writes back what the caller sees. Nothing of the front end is between the file and the compiler, so an agreement of its runs
//! with ours is evidence about the front end, too.

use super::driver::{self, Shape};
use lift_c::Source;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use updates::Program;

/// A kernel with its file.
#[derive(Clone)]
pub struct Side<'a> {
    pub source: &'a Source,
    pub program: &'a Program,
    pub name: &'a str,
    /// The object file with the function; its program is then how it is called.
    pub object: Option<PathBuf>,
}

/// Why nothing was run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotRun {
    /// There is no C compiler.
    NoCompiler,
    /// The harness cannot pass this, or the compiler refuses it.
    Cannot(String),
    /// The program ended with an error, or too late.
    Failed(String),
}

/// Longest time for compiling.
const COMPILE: Duration = Duration::from_secs(30);

/// A directory that is gone when nobody needs it.
pub struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files that stay behind harm nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    /// An empty directory.
    pub fn new() -> Option<Scratch> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("lockstep-{}-{stamp}-{count}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        Some(Scratch(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Programs that were compiled before, by their text.
#[derive(Default)]
pub struct Executables(Mutex<HashMap<String, Arc<Scratch>>>);

/// A side as an executable.
pub struct Built {
    shape: Shape,
    /// What it reads first.
    header: Vec<u8>,
    program: Arc<Scratch>,
}

/// Is there a C compiler?
pub fn has_compiler() -> bool {
    let mut command = Command::new("cc");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Built {
    /// Compiles a side whose objects have these numbers of cells.
    pub fn new(side: &Side<'_>, cells: &[usize], known: &Executables) -> Result<Built, NotRun> {
        let shape = Shape::of(side.program, cells).map_err(NotRun::Cannot)?;
        let text = driver::text(side, &shape).map_err(NotRun::Cannot)?;
        let header = driver::header(side, &shape);
        let before = known.0.lock().ok().and_then(|known| known.get(&text).cloned());
        if let (Some(program), None) = (before, &side.object) {
            return Ok(Built { shape, header, program });
        }
        let program = Arc::new(executable(side, &text)?);
        if let (Ok(mut known), None) = (known.0.lock(), &side.object) {
            known.insert(text, Arc::clone(&program));
        }
        Ok(Built { shape, header, program })
    }

    /// What the side does with inputs and outputs.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Runs it on all these inputs, one call after the other in one process; the outputs in the same order.
    pub fn run(&self, inputs: &[Vec<u8>], limit: Duration) -> Result<Vec<Vec<u8>>, NotRun> {
        let mut command = Command::new(self.program.0.join("side"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).env_clear();
        let mut stream = self.header.clone();
        for input in inputs {
            stream.push(1);
            stream.extend(input);
        }
        let output = finish(command, stream, limit).map_err(NotRun::Failed)?;
        let size = self.shape.output_size();
        if output.len() != size * inputs.len() {
            return Err(NotRun::Failed("it ended early".to_string()));
        }
        let pieces = |run: usize| output[run * size..(run + 1) * size].to_vec();
        Ok((0..inputs.len()).map(pieces).collect())
    }
}

/// Compiles a text.
fn executable(side: &Side<'_>, text: &str) -> Result<Scratch, NotRun> {
    let scratch = Scratch::new().ok_or_else(|| NotRun::Cannot("no room for temporary files".to_string()))?;
    let source = scratch.0.join("side.i");
    std::fs::write(&source, text).map_err(|e| NotRun::Cannot(e.to_string()))?;
    let object = match &side.object {
        Some(object) => Some(exported(object, side.name, &scratch.0)?),
        None => None,
    };
    let alone = object.is_none() && side.program.functions.is_empty() && !driver::allocates(side.program);
    let linked = alone && link(&scratch.0, &source, None, Library::Avoided).is_ok();
    if !linked {
        link(&scratch.0, &source, object.as_deref(), Library::Linked)?;
    }
    Ok(scratch)
}

/// A copy of an object in which the function can be called from outside.
fn exported(object: &Path, name: &str, directory: &Path) -> Result<PathBuf, NotRun> {
    let copy = directory.join("object.o");
    let mut command = Command::new("objcopy");
    command.arg(format!("--globalize-symbol={name}")).arg(object).arg(&copy);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    finish(command, Vec::new(), COMPILE).map_err(NotRun::Cannot)?;
    Ok(copy)
}

/// Is the C library linked? That is half of the cost, and few kernels need it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Library {
    Linked,
    Avoided,
}

fn link(directory: &Path, source: &Path, object: Option<&Path>, library: Library) -> Result<(), NotRun> {
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-O0", "-ffp-contract=off", "-fwrapv", "-pipe", "-fno-stack-protector", "-no-pie"]);
    compiler.args(["-ffunction-sections", "-nostartfiles", "-Wl,--gc-sections", "-Wl,-z,now"]);
    compiler.arg("-o").arg(directory.join("side")).args(["-xcpp-output"]).arg(source);
    if let Some(object) = object {
        compiler.arg("-xnone").arg(object);
    }
    match library {
        Library::Avoided => compiler.args(["-nostdlib", "-static"]),
        Library::Linked => compiler.arg("-lm"),
    };
    compiler.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    match finish(compiler, Vec::new(), COMPILE) {
        Ok(_) => Ok(()),
        Err(_) if !has_compiler() => Err(NotRun::NoCompiler),
        Err(message) => Err(NotRun::Cannot(format!("the compiler refuses it: {message}"))),
    }
}

/// What a compiler prints; else what it complains about, or nothing if it is not there.
pub fn compiled(mut command: Command) -> Result<Vec<u8>, Option<String>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|e| (e.kind() != std::io::ErrorKind::NotFound).then(|| e.to_string()))?;
    ended(child, Vec::new(), COMPILE).map_err(Some)
}

/// The output of a process that ends well and in time; else what it complains about.
fn finish(mut command: Command, input: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String> {
    ended(command.spawn().map_err(|e| e.to_string())?, input, limit)
}

fn ended(mut child: Child, input: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String> {
    let feeder = child.stdin.take().map(|mut pipe| std::thread::spawn(move || pipe.write_all(&input)));
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes)
        })
    };
    let reader = child.stdout.take().map(|pipe| read(Box::new(pipe)));
    let complaints = child.stderr.take().map(|pipe| read(Box::new(pipe)));
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < limit => std::thread::sleep(pause),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("it takes too long".to_string());
            }
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let _ = feeder.map(std::thread::JoinHandle::join);
    let gathered = |reader: Option<std::thread::JoinHandle<std::io::Result<Vec<u8>>>>| {
        reader.map_or(Some(Vec::new()), |reader| reader.join().ok()?.ok())
    };
    let (output, complaints) = (gathered(reader), gathered(complaints).unwrap_or_default());
    if status.success() {
        return output.ok_or_else(|| "its output cannot be read".to_string());
    }
    let complaints = String::from_utf8_lossy(&complaints);
    let first = complaints.lines().find(|l| l.contains("error") || l.contains("undefined")).unwrap_or("");
    Err(if first.is_empty() { status.to_string() } else { first.to_string() })
}
