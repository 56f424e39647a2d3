//! Options that do not apply to the inputs are refused: whoever gives one expects that it does something.

use crate::arguments::CheckArguments;
use crate::status::Failure;

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Functions of object files.
    Objects,
    /// Machine IR before and after register allocation.
    Allocations,
    /// C kernels.
    Kernels,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::Objects => "functions of object files",
            Engine::Allocations => "register allocations",
            Engine::Kernels => "C kernels",
        }
    }
}

use Engine::{Kernels, Objects};

/// Options that only some engines know; the others are for all.
const ONLY: &[(&str, &[Engine])] = &[
    ("assume", &[Objects]),
    ("no_ub", &[Objects]),
    ("conditional", &[Objects]),
    ("fp_axioms", &[Objects]),
    ("prototypes", &[Objects]),
    ("header", &[Objects]),
    ("live_in", &[Objects]),
    ("live_out", &[Objects]),
    ("strict_assert", &[Objects]),
    ("tests", &[Objects]),
    ("dump_queries", &[Objects]),
    ("unroll", &[Objects]),
    ("solvers", &[Objects]),
    ("sorted", &[Objects]),
    ("time_limit", &[Objects]),
    ("fail_fast", &[Objects]),
    ("fail_on", &[Objects]),
    ("run", &[Objects, Kernels]),
    ("no_run", &[Objects, Kernels]),
    ("parameters", &[Kernels]),
    ("sweep", &[Kernels]),
    ("fp", &[Kernels]),
    ("strict_updates", &[Kernels]),
    ("flat_arrays", &[Kernels]),
    ("defines", &[Kernels]),
    ("includes", &[Kernels]),
];

/// How an option is written.
fn written(option: &str) -> String {
    match option {
        "defines" => "-D".to_string(),
        "includes" => "-I".to_string(),
        "parameters" => "--param".to_string(),
        "solvers" => "--solver".to_string(),
        "prototypes" => "--prototype".to_string(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

/// Refuses what does not apply.
pub fn check(arguments: &CheckArguments, engine: Engine) -> Result<(), Failure> {
    let strange = |given: &&String| ONLY.iter().any(|(name, engines)| name == given && !engines.contains(&engine));
    let Some(option) = arguments.given.iter().find(strange) else { return Ok(()) };
    let engines = ONLY.iter().find(|(name, _)| name == option).map_or(&[][..], |(_, engines)| engines);
    let known: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    let hint = match engine {
        Engine::Objects if engines.contains(&Kernels) => "; files that end in .c are C kernels",
        Engine::Kernels if engines.contains(&Objects) => {
            "; a file that ends in .c is taken for a C kernel: compile both (cc -g -c) to compare their functions"
        }
        _ => "",
    };
    Err(Failure(format!("{} is for {}, and these are {}{hint}", written(option), known.join(" and "), engine.name())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    /// A name that is no option would refuse nothing.
    #[test]
    fn all_names_are_options() {
        let command = Arguments::command();
        let check = command.find_subcommand("check").expect("a subcommand");
        for (name, _) in ONLY {
            let found = check.get_arguments().find(|a| a.get_id() == name).unwrap_or_else(|| panic!("{name}"));
            let long = found.get_long().map(|long| format!("--{long}"));
            let short = found.get_short().map(|short| format!("-{short}"));
            assert!([long, short].contains(&Some(written(name))), "{name}");
        }
    }
}
