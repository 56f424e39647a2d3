//! The commands of README.md are run, and print what it says, times apart.

use std::path::Path;
use std::process::Command;

/// A command and what it prints.
struct Session {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// The sessions of a document: blocks in which lines begin with `$ `.
fn sessions(text: &str) -> Vec<Session> {
    let mut out: Vec<Session> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside;
            continue;
        }
        match line.strip_prefix("$ ") {
            Some(command) if inside => {
                out.push(Session { line: number + 1, command: command.to_string(), output: Vec::new() })
            }
            _ if inside && out.last().is_some_and(|s| s.line + s.output.len() == number) => {
                out.last_mut().expect("one").output.push(line.to_string());
            }
            _ => {}
        }
    }
    out
}

/// A line without its times and without how much blank there is.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = |i: usize| {
        let unit = words.get(i + 1).is_some_and(|unit| *unit == "ms" || *unit == "s");
        unit && words[i].parse::<f64>().is_ok()
    };
    let shown = (0..words.len()).map(|i| if time(i) { "…" } else { words[i] });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_commands_of_the_readme_print_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).expect("README.md");
    let sessions = sessions(&text);
    assert!(sessions.len() >= 8, "{} commands", sessions.len());
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::os::unix::fs::symlink(
        root.canonicalize().expect("the repository").join("examples"),
        folder.path().join("examples"),
    )
    .expect("a link");
    let binaries = Path::new(env!("CARGO_BIN_EXE_lockstep")).parent().expect("a directory");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    for Session { line, command, output } in sessions {
        let run = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).env("PATH", &path).output();
        let run = run.expect("sh runs");
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(matches!(run.status.code(), Some(0..=2 | 4)), "README.md:{line}: {command}: {said}{complaint}");
        let said: Vec<String> = said.lines().map(plain).collect();
        // A line of dots stands for lines that are left out.
        let wanted = output.iter().map(|line| plain(line)).filter(|line| !line.is_empty() && line != "…");
        let mut left = said.iter();
        for wanted in wanted {
            assert!(
                left.any(|line| *line == wanted),
                "README.md:{line}: {command}: `{wanted}` is not in\n{}",
                said.join("\n")
            );
        }
    }
}
