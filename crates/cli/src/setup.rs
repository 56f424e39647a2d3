//! `lockstep setup`: man pages and completions, made from the definition of the command line.

use crate::arguments::{Arguments, SetupArguments};
use crate::deliver;
use crate::status::{Failure, Status};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::path::{Path, PathBuf};

/// Where a user's own files go.
pub fn home_prefix() -> PathBuf {
    std::env::var_os("HOME").map_or_else(|| PathBuf::from("."), |home| Path::new(&home).join(".local"))
}

/// Writes everything, and says what.
pub fn run(arguments: &SetupArguments) -> Result<Status, Failure> {
    let mut written = String::new();
    for (path, content) in files()? {
        let path = arguments.prefix.join(path);
        let failed = |e: std::io::Error| Failure(format!("{}: {e}", path.display()));
        if !arguments.dry_run {
            path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
            std::fs::write(&path, content).map_err(failed)?;
        }
        written.push_str(&format!("{}\n", path.display()));
    }
    deliver(&written);
    Ok(Status::Good)
}

/// Paths below the prefix, and what goes there.
fn files() -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let mut out = Vec::new();
    let mut command = Arguments::command();
    // Gives subcommands the names under which they are called.
    command.build();
    out.push(page(command.clone())?);
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        out.push(page(sub.clone())?);
    }
    for (shell, path) in [
        (Shell::Bash, "share/bash-completion/completions/lockstep"),
        (Shell::Zsh, "share/zsh/site-functions/_lockstep"),
        (Shell::Fish, "share/fish/vendor_completions.d/lockstep.fish"),
    ] {
        let mut text = Vec::new();
        generate(shell, &mut Arguments::command(), "lockstep", &mut text);
        out.push((PathBuf::from(path), text));
    }
    Ok(out)
}

/// The man page of a command.
fn page(command: clap::Command) -> Result<(PathBuf, Vec<u8>), Failure> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|e| Failure(format!("man page of {name}: {e}")))?;
    Ok((PathBuf::from(format!("share/man/man1/{name}.1")), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_commands_have_pages() {
        let files = files().expect("pages");
        let text = |name: &str| {
            let found = files.iter().find(|(path, _)| path.ends_with(name)).unwrap_or_else(|| panic!("{name}"));
            String::from_utf8_lossy(&found.1).into_owned()
        };
        assert!(text("lockstep.1").contains("lockstep"));
        assert!(text("lockstep-check.1").contains("\\-\\-fail\\-on"), "{}", text("lockstep-check.1"));
        assert!(text("completions/lockstep").contains("--time-limit"));
        assert!(text("_lockstep").contains("#compdef lockstep"));
    }
}
