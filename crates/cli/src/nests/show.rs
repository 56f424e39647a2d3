//! `show` for C files: the functions, and what is known about each before its parameters have values.

use crate::arguments::ShowArguments;
use crate::deliver;
use crate::status::{Failure, Status};
use lift_c::{Error, Settings, Source};
use std::path::Path;

/// Lists the functions, or one of them with what lowering it without parameters says.
pub fn show(arguments: &ShowArguments, file: &Path) -> Result<Status, Failure> {
    let source = Source::read(file, &Settings::default()).map_err(|e| Failure(e.to_string()))?;
    let chosen = |name: &str| arguments.function.as_ref().is_none_or(|wanted| wanted == name);
    let entries: Vec<_> = source.functions().into_iter().filter(|entry| chosen(&entry.name)).collect();
    if entries.is_empty() {
        let what =
            arguments.function.as_ref().map_or("no function".to_string(), |f| format!("no function of the name `{f}`"));
        return Err(Failure(format!("{}: {what}", file.display())));
    }
    let kernel = source.kernel().ok();
    for entry in entries {
        let mark = if kernel.as_ref() == Some(&entry.name) { ", the kernel" } else { "" };
        deliver(&format!("{}: line {}{mark}\n", entry.name.escape_debug(), entry.line));
        match source.lower(&entry.name, &[]) {
            Ok(program) => {
                for object in &program.objects {
                    let dims: String = object.dims.iter().map(|d| format!("[{d}]")).collect();
                    let ty = object.fields.first().map_or("", |f| f.ty.name());
                    let extent = object.cells.map_or("unknown extent".to_string(), |c| format!("{c} cells"));
                    deliver(&format!("  {ty} {}{dims}: {extent}\n", object.name.escape_debug()));
                }
                deliver(&format!("  {} loops, {} control variables\n", program.loops.len(), program.slots));
            }
            Err(Error::Parameter(name)) => deliver(&format!("  parameter `{}`\n", name.escape_debug())),
            Err(error) => deliver(&format!("  {error}\n")),
        }
    }
    Ok(Status::Good)
}
