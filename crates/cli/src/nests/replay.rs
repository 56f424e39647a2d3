//! Replays a witness on the CPU: both kernels as the compiler makes them, on the witness's input.

use super::agreement::position;
use super::driver::same;
use super::native::{Built, Executables, Side};
use search::nests::KernelWitness;
use std::time::Duration;
use updates::{Constant, Object, Origin, input_key};

/// What the compiled programs say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Result {
    /// Their outputs differ.
    Differs,
    /// Their outputs are the same.
    Agrees,
    /// No compiler, or something the harness cannot pass.
    NotRun,
}

/// Longest time for each run.
const LIMIT: Duration = Duration::from_secs(10);
/// Witnesses with more cells are not compiled.
const MOST_CELLS: usize = 4_000_000;

/// Compiles and runs both kernels on the witness.
pub fn replay(sides: &[Side<'_>; 2], witness: &KernelWitness, known: &Executables) -> Result {
    if witness.memory.iter().map(|m| m.cells.len()).sum::<usize>() > MOST_CELLS {
        return Result::NotRun;
    }
    let mut runs = Vec::new();
    for side in sides {
        let program = side.program;
        let given = |o: &Object| witness.memory.iter().find(|m| m.origin == o.origin);
        let cells = |o: &Object| given(o).map_or(o.cells.unwrap_or(0) as usize, |m| m.cells.len());
        let cells: Vec<usize> = program.objects.iter().map(cells).collect();
        let Ok(built) = Built::new(side, &cells, known) else { return Result::NotRun };
        let mut value = |object: &Object, cell: u64| {
            let known = given(object).and_then(|m| m.cells.get(cell as usize)).copied();
            let random = |key| witness.inputs.value(key, cell, object.cell_type(cell), &object.dims);
            known.or_else(|| input_key(&object.origin).map(random)).unwrap_or(Constant::Int(0))
        };
        let input = built.shape().encode(program, &mut value);
        match built.run(&[input], LIMIT) {
            Ok(mut outputs) => runs.push((built, outputs.remove(0))),
            Err(_) => return Result::NotRun,
        }
    }
    let [(first, ours), (second, theirs)] = runs.as_slice() else { return Result::NotRun };
    let (original, candidate) = (sides[0].program, sides[1].program);
    for (number, part) in first.shape().outputs.iter().enumerate() {
        let origin = &original.objects[part.object].origin;
        let other = match origin {
            Origin::Local => candidate.result.map(|r| r as usize),
            origin => position(candidate, origin),
        };
        let other = other.and_then(|object| second.shape().outputs.iter().position(|p| p.object == object));
        let Some(other) = other else { continue };
        for cell in 0..part.cells.min(second.shape().outputs[other].cells) {
            let pair = (first.shape().decode(ours, number, cell), second.shape().decode(theirs, other, cell));
            if let (Some(a), Some(b)) = pair
                && !same(a, b)
            {
                return Result::Differs;
            }
        }
    }
    // What a clause makes private is so with OpenMP only, and these programs run in order.
    let parallel = sides.iter().any(|side| side.source.preprocessed().contains("#pragma omp"));
    if parallel { Result::NotRun } else { Result::Agrees }
}
