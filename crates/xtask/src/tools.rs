//! Programs from outside: found on the PATH, or installed with apt-get.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that a command needs.
pub struct Tool {
    /// Names it may have; the first found is taken.
    pub programs: &'static [&'static str],
    /// Debian packages that bring it.
    pub packages: &'static [&'static str],
}

/// The solver.
pub const Z3: Tool = Tool { programs: &["z3"], packages: &["z3"] };
/// Any C compiler, with the headers of the C library.
pub const CC: Tool = Tool { programs: &["cc", "gcc", "clang"], packages: &["gcc", "libc6-dev"] };
/// The compiler that judges variants of kernels: it must know `-ftrivial-auto-var-init`.
pub const GCC: Tool = Tool { programs: &["gcc"], packages: &["gcc", "libc6-dev"] };
/// Python, for the generator of kernel variants.
pub const PYTHON: Tool = Tool { programs: &["python3"], packages: &["python3", "python3-venv"] };
/// The compiler of the corpus.
pub const GCC_12: Tool = Tool { programs: &["gcc-12"], packages: &["gcc-12"] };
/// The other compiler of the tests.
pub const CLANG_19: Tool = Tool { programs: &["clang-19"], packages: &["clang-19"] };
/// Tools of that compiler.
pub const LLVM_19: Tool = Tool { programs: &["llc-19"], packages: &["llvm-19"] };
/// Assembler, linker and objdump.
pub const BINUTILS: Tool = Tool { programs: &["as"], packages: &["binutils"] };

impl Tool {
    /// The program, if it is on the PATH.
    pub fn find(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
        self.programs.iter().find_map(|p| directories.iter().map(|d| d.join(p)).find(|f| is_executable(f)))
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Makes sure that the tools are there; says how to get them when it cannot.
pub fn require(tools: &[&Tool]) -> Result<(), String> {
    install(tools);
    let missing = missing_packages(tools);
    if missing.is_empty() { Ok(()) } else { Err(format!("missing programs. Run\n    {}", line(&missing))) }
}

/// Gets the tools if that is possible; goes on without them otherwise, and says so.
pub fn prefer(tools: &[&Tool]) {
    for tool in tools {
        install(&[tool]);
        if tool.find().is_none() {
            println!("going on without {}; to get it run\n    {}", tool.programs[0], line(tool.packages));
        }
    }
}

fn install(tools: &[&Tool]) {
    let packages = missing_packages(tools);
    if !packages.is_empty() {
        fetch(&packages);
    }
}

/// Installs Debian packages if that is possible here.
pub fn fetch(packages: &[&str]) {
    let apt = Tool { programs: &["apt-get"], packages: &["apt"] };
    if !is_root() || apt.find().is_none() {
        return;
    }
    println!("installing {}", packages.join(" "));
    // The package lists of a fresh machine may be missing or stale; fetching them is slow, so only then.
    if !apt_get(&["install", "-y", "-qq", "--no-install-recommends"], packages) && apt_get(&["update", "-qq"], &[]) {
        apt_get(&["install", "-y", "-qq", "--no-install-recommends"], packages);
    }
}

fn missing_packages(tools: &[&Tool]) -> Vec<&'static str> {
    tools.iter().filter(|t| t.find().is_none()).flat_map(|t| t.packages.iter().copied()).collect()
}

fn apt_get(words: &[&str], packages: &[&str]) -> bool {
    Command::new("apt-get")
        .args(words)
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|o| o.stdout.trim_ascii() == b"0")
}

fn line(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install -y {}", packages.join(" "))
}
