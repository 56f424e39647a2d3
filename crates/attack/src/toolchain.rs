//! Compilers and the linker: how both sides and the harness of a batch are built.

use crate::builder::{Files, Setting};
use crate::random::Random;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Flags of both sides: no undefined behaviour that machine code does not show, one object format.
const FLAGS: [&str; 8] = [
    "-w",
    "-pipe",
    "-std=gnu11",
    "-fno-inline",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-stack-protector",
    "-ffp-contract=off",
];
/// Of objects that are compared as they are, and of those that become a shared library.
const PLACED: &[&str] = &["-fno-pic", "-fno-pie"];
const ANYWHERE: &[&str] = &["-fPIC"];

/// How one side is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilation {
    /// The program.
    pub compiler: &'static str,
    /// Its arguments, without the files.
    pub flags: Vec<String>,
}

impl std::fmt::Display for Compilation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.compiler, self.flags.join(" "))
    }
}

impl Compilation {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    /// Whether there is debug information that is read: versions before the fifth are not.
    pub fn describes(&self) -> bool {
        self.has("-g")
    }

    /// Whether debug information says how undefined functions are declared: clang's does not without optimisation.
    pub fn declares(&self) -> bool {
        self.describes() && !(self.compiler == CLANG && self.has("-O0"))
    }
}

/// How both sides of a batch are compiled.
#[derive(Clone, Debug)]
pub struct Compilations {
    /// Of the original.
    pub original: Compilation,
    /// Of the candidate.
    pub candidate: Compilation,
    /// What the programs may use.
    pub setting: Setting,
}

const GCC: &str = "gcc-12";
const CLANG: &str = "clang-19";

/// Compilers and levels of one batch.
pub fn choose(random: &mut Random, area: &str) -> Compilations {
    let setting = Setting {
        avx: matches!(area, "calls" | "memory") && random.one_in(6) && std::is_x86_feature_detected!("avx"),
        gcc: false,
        plain: false,
        described: false,
        builtin: area == "library" && random.one_in(2),
        common: area == "statics" && random.one_in(3),
        files: match random.below(16) {
            0 | 1 => Files::Libraries,
            2 => Files::Executables,
            _ => Files::Objects,
        },
    };
    // clang at -O0 is the quickest, and declares the least.
    let (original, level) = [
        (GCC, "-O0"),
        (GCC, "-O0"),
        (CLANG, "-O0"),
        (CLANG, "-O0"),
        (GCC, "-O2"),
        (CLANG, "-O2"),
        (GCC, "-O1"),
        (CLANG, "-O1"),
        (CLANG, "-O3"),
        (GCC, "-O3"),
    ][random.below(10)];
    let (candidate, other) = [
        (original, level),
        (original, "-O0"),
        (GCC, "-O0"),
        (CLANG, "-O0"),
        (GCC, "-O2"),
        (CLANG, "-O2"),
        (CLANG, "-O2"),
        (CLANG, "-O1"),
        (GCC, "-O1"),
        (CLANG, "-O3"),
        (GCC, "-O3"),
    ][random.below(11)];
    let plain = area == "statics" && random.one_in(3);
    let (level, other) = if plain { ("-O0", "-O0") } else { (level, other) };
    let make = |compiler: &'static str, level: &str, debug: &str, protection: &str| {
        let place = if setting.files == Files::Libraries { ANYWHERE } else { PLACED };
        let mut flags: Vec<String> = FLAGS.iter().chain(place).map(|f| f.to_string()).collect();
        flags.push(level.into());
        flags.push(debug.into());
        flags.push(format!("-fcf-protection={protection}"));
        if compiler == GCC {
            // Two pairs whose functions are one after folding have one verdict, and the change is in only one of them.
            flags.push("-fno-ipa-icf".into());
        }
        if !setting.builtin {
            flags.push("-fno-builtin".into());
        }
        if setting.avx {
            flags.push("-mavx".into());
        }
        flags.push(if setting.common { "-fcommon" } else { "-fno-common" }.into());
        Compilation { compiler, flags }
    };
    let (described, also) = (!random.one_in(8), !random.one_in(3));
    // Older and shorter forms of debug information, at times.
    let form = |random: &mut Random| match random.below(16) {
        0 => "-gdwarf-2",
        1 => "-gdwarf-4",
        2 => "-g1",
        _ => "-g",
    };
    let [debug, its] = [described, also].map(|has| if has { form(random) } else { "-g0" });
    let described = described && debug != "-g1";
    let protection = if random.one_in(8) { "full" } else { "none" };
    Compilations {
        original: make(original, level, debug, protection),
        candidate: make(candidate, other, its, protection),
        setting: Setting {
            gcc: original == GCC && candidate == GCC,
            described,
            plain: level == "-O0" && other == "-O0",
            ..setting
        },
    }
}

/// Runs a program quietly; its complaints if it fails.
pub fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|l| l.contains("error")).or(text.lines().next()).unwrap_or("");
    Err(format!("{} failed: {line}", command.get_program().to_string_lossy()))
}

/// Compiles one side.
pub fn compile(compilation: &Compilation, source: &Path, object: &Path) -> Result<(), String> {
    run(Command::new(compilation.compiler).args(&compilation.flags).arg("-c").arg(source).arg("-o").arg(object))
        .map(drop)
}

/// The functions that an object defines.
pub fn functions(object: &Path) -> Result<Vec<String>, String> {
    let listed = run(Command::new("nm").arg("--defined-only").arg(object))?;
    let function = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        words.next().filter(|kind| "TtWwi".contains(kind)).and_then(|_| words.next()).map(str::to_string)
    };
    Ok(String::from_utf8_lossy(&listed).lines().filter_map(function).collect())
}

/// How a shared library is made of an object.
pub const SHARED: [&str; 3] = ["-shared", "-nostdlib", "-Wl,-z,norelro,-z,pack-relative-relocs"];

/// Makes a shared library of one side, whose relative relocations are packed.
pub fn share(object: &Path, library: &Path) -> Result<(), String> {
    let mut command = Command::new(GCC);
    command.args(SHARED).arg(object);
    run(command.arg("-o").arg(library)).map(drop)
}

/// What programs are run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// One that knows nothing of proofs.
    Any,
    /// One that meets what [`crate::native::Assumed`] names.
    Assumed,
}

/// What harnesses are linked with, built once.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// Where `harness.h` and the object are.
    pub directory: PathBuf,
    linker: Option<&'static str>,
}

impl Runtime {
    /// Builds the runtime in a directory.
    pub fn build(directory: &Path) -> Result<Runtime, String> {
        write(&directory.join("harness.h"), include_str!("harness.h"))?;
        write(&directory.join("runtime.c"), include_str!("runtime.c"))?;
        run(Command::new(GCC)
            .args(["-w", "-O1", "-fno-builtin", "-c"])
            .arg(directory.join("runtime.c"))
            .arg("-o")
            .arg(directory.join("runtime.o")))?;
        let mold = Command::new("mold")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success());
        Ok(Runtime { directory: directory.into(), linker: mold.then_some("-fuse-ld=mold") })
    }

    /// Compiles a harness.
    pub fn harness(&self, setting: Setting, world: World, source: &Path, object: &Path) -> Result<(), String> {
        let mut command = Command::new(GCC);
        if world == World::Assumed {
            command.arg("-DASSUMED");
        }
        command.args(["-w", "-pipe", "-O0", "-fno-builtin", "-fno-pic", "-fno-pie", "-I"]).arg(&self.directory);
        if setting.avx {
            command.arg("-mavx");
        }
        run(command.arg("-c").arg(source).arg("-o").arg(object)).map(drop)
    }

    /// Links one side with its harness.
    pub fn link(&self, side: &Path, harness: &Path, executable: &Path) -> Result<(), String> {
        let mut command = Command::new(GCC);
        command
            .args(["-no-pie", "-z", "noexecstack", "-z", "norelro"])
            .args(self.linker)
            .arg(side)
            .arg(harness)
            .arg(self.directory.join("runtime.o"));
        run(command.args(["-lm", "-o"]).arg(executable)).map(drop)
    }
}

/// Writes a file.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
