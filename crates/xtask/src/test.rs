//! `cargo xtask test`: everything that the tests need, then all tests, then a bounded attack with a fixed seed.

use crate::{attack, build, root, tools};
use std::process::Command;
use std::time::Instant;

/// Installs and runs. The last line says how it went.
pub fn run() -> Result<(), String> {
    tools::require(&[&tools::Z3, &tools::CC, &tools::BINUTILS])?;
    tools::prefer(&[&tools::GCC_12, &tools::CLANG_19, &tools::LLVM_19]);
    let start = Instant::now();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--workspace", "--no-fail-fast"]).current_dir(root());
    match build::succeed(&mut command, "cargo test --workspace") {
        Ok(()) => {
            if tools::GCC_12.find().is_some() && tools::CLANG_19.find().is_some() {
                for request in [attack::Request::bounded(), attack::Request::bounded_kernels()] {
                    attack::run(request).map_err(|message| format!("xtask: TESTS FAILED: {message}"))?;
                }
            }
            println!("xtask: all tests passed in {:.0} s", start.elapsed().as_secs_f64());
            Ok(())
        }
        Err(message) => Err(format!("xtask: TESTS FAILED: {message}")),
    }
}
