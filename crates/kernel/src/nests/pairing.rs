//! Which object of the candidate is which of the original: arguments by position, globals by name.

use super::UpdateRejection;
use updates::{Argument, Domain, Final, Object, Origin, Program, input_key};

/// A cell of both programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellPair {
    /// Object of the original.
    pub original: u32,
    /// Object of the candidate.
    pub candidate: u32,
    /// Cell.
    pub cell: u64,
}

/// The objects that both programs share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pairing {
    /// Outputs: object of the original, object of the candidate.
    pub outputs: Vec<(u32, u32)>,
    /// Objects that only one side has, and which their owner may not leave changed: side zero is the original.
    pub lonely: [Vec<u32>; 2],
    /// Pointers whose extent is taken from the original's accesses.
    pub extents: Vec<String>,
}

fn describe(object: &Object) -> String {
    let dims: String = object.dims.iter().map(|d| format!("[{d}]")).collect();
    let flat = if object.cells.is_none() { " *" } else { "" };
    format!("{}{dims}{flat}", object.fields.first().map_or("nothing", |f| f.ty.name()))
}

impl Pairing {
    /// Pairs the objects, or says why the two functions cannot be called alike.
    pub fn of(original: &Program, candidate: &Program) -> Result<Pairing, String> {
        if original.arguments.len() != candidate.arguments.len() {
            return Err(format!(
                "the original takes {} arguments, the candidate {}",
                original.arguments.len(),
                candidate.arguments.len()
            ));
        }
        let mut outputs = Vec::new();
        for (position, (ours, theirs)) in original.arguments.iter().zip(&candidate.arguments).enumerate() {
            Pairing::argument(position + 1, (original, *ours), (candidate, *theirs), &mut outputs)?;
        }
        let global = |object: &Object| match &object.origin {
            Origin::Global(name) => Some(name.clone()),
            _ => None,
        };
        let mut lonely: [Vec<u32>; 2] = Default::default();
        for (number, object) in original.objects.iter().enumerate() {
            let Some(name) = global(object) else { continue };
            let found = candidate.objects.iter().position(|o| global(o).as_ref() == Some(&name));
            match found {
                Some(other) => {
                    same_shape(&format!("global `{name}`"), object, &candidate.objects[other])?;
                    outputs.push((number as u32, other as u32));
                }
                None => lonely[0].push(number as u32),
            }
        }
        for (number, object) in candidate.objects.iter().enumerate() {
            if global(object).is_some() && !outputs.iter().any(|(_, c)| *c == number as u32) {
                lonely[1].push(number as u32);
            }
        }
        let result = |p: &Program| p.result.map(|r| p.objects[r as usize].fields.clone());
        match (original.result, candidate.result) {
            (Some(a), Some(b)) if result(original) == result(candidate) => outputs.push((a, b)),
            (None, None) => {}
            _ => return Err("the two functions return different types".to_string()),
        }
        let unbounded = |o: &&Object| o.cells.is_none();
        let extents = original.objects.iter().filter(unbounded).map(|o| o.name.clone()).collect();
        Ok(Pairing { outputs, lonely, extents })
    }

    fn argument(
        position: usize,
        (original, ours): (&Program, Argument),
        (candidate, theirs): (&Program, Argument),
        outputs: &mut Vec<(u32, u32)>,
    ) -> Result<(), String> {
        match (ours, theirs) {
            (Argument::Unnamed, Argument::Memory(_)) | (Argument::Memory(_), Argument::Unnamed) => {
                Err(format!("argument {position} is a pointer that has a name on one side only"))
            }
            (Argument::Unnamed, _) | (_, Argument::Unnamed) => Ok(()),
            (Argument::Known(a, first), Argument::Known(b, second)) if a == b && first == second => Ok(()),
            (Argument::Known(a, _), Argument::Known(b, _)) => {
                Err(format!("argument {position} is {a} in the original and {b} in the candidate, or of another type"))
            }
            (Argument::Value(a), Argument::Value(b)) => {
                let (a, b) = (&original.objects[a as usize], &candidate.objects[b as usize]);
                same_shape(&format!("argument {position} `{}`", a.name), a, b)
            }
            (Argument::Memory(a), Argument::Memory(b)) => {
                let (first, second) = (&original.objects[a as usize], &candidate.objects[b as usize]);
                same_shape(&format!("argument {position} `{}`", first.name), first, second)?;
                outputs.push((a, b));
                Ok(())
            }
            (Argument::Known(..), Argument::Value(object)) => {
                let name = &candidate.objects[object as usize].name;
                Err(format!("argument {position} has a value in the original; give the candidate's `{name}` the same"))
            }
            (Argument::Value(object), Argument::Known(..)) => {
                let name = &original.objects[object as usize].name;
                Err(format!("argument {position} has a value in the candidate; give the original's `{name}` the same"))
            }
            _ => Err(format!("argument {position} is a pointer on one side only")),
        }
    }

    /// Extents of the candidate's objects whose extent it does not state: what the original touched.
    pub fn extents_for<V>(&self, ours: &Final<V>, candidate: &Program) -> Vec<Option<u64>> {
        let mut extents = vec![None; candidate.objects.len()];
        for (original, other) in &self.outputs {
            if candidate.objects[*other as usize].cells.is_none() {
                extents[*other as usize] = Some(ours.objects[*original as usize].len() as u64);
            }
        }
        extents
    }

    /// Gives every pair of output cells to `visit`; a cell that one side never reached holds its input. Returns the
    /// number of cells.
    pub fn each<D: Domain>(
        &self,
        ours: &Final<D::Value>,
        theirs: &Final<D::Value>,
        original: &Program,
        domain: &mut D,
        mut visit: impl FnMut(CellPair, D::Value, D::Value),
    ) -> Result<u64, UpdateRejection> {
        let mut cells = 0;
        for (first, second) in &self.outputs {
            let object = &original.objects[*first as usize];
            let (a, b) = (&ours.objects[*first as usize], &theirs.objects[*second as usize]);
            for cell in 0..a.len().max(b.len()) {
                let mut input = || match input_key(&object.origin) {
                    Some(key) => domain.input(key, cell as u64, object.cell_type(cell as u64)),
                    None => domain.unwritten(),
                };
                let (x, y) =
                    (a.get(cell).copied().unwrap_or_else(&mut input), b.get(cell).copied().unwrap_or_else(&mut input));
                visit(CellPair { original: *first, candidate: *second, cell: cell as u64 }, x, y);
                cells += 1;
            }
        }
        Ok(cells)
    }

    /// Globals of both sides must hold the same before the first call; then what each call leaves in them, which is compared, keeps
    /// them the same.
    pub fn check_starts(&self, original: &Program, candidate: &Program) -> Result<(), UpdateRejection> {
        for (first, second) in &self.outputs {
            let (ours, theirs) = (&original.objects[*first as usize], &candidate.objects[*second as usize]);
            if ours.start != theirs.start {
                return Err(UpdateRejection::Start(ours.name.clone()));
            }
        }
        Ok(())
    }

    /// A global that only one side has must keep its content, unless it is that file's own.
    pub fn check_lonely<D: Domain>(
        &self,
        sides: [(&Program, &Final<D::Value>); 2],
        domain: &mut D,
    ) -> Result<(), UpdateRejection> {
        for (lonely, (program, end)) in self.lonely.iter().zip(sides) {
            for number in lonely {
                let object = &program.objects[*number as usize];
                let (Origin::Global(name), Some(key)) = (&object.origin, input_key(&object.origin)) else { continue };
                if object.is_static() {
                    continue;
                }
                let cells = &end.objects[*number as usize];
                let kept = |(cell, value): (usize, &D::Value)| {
                    domain.input(key, cell as u64, object.cell_type(cell as u64)) == *value
                };
                if !cells.iter().enumerate().all(kept) {
                    return Err(UpdateRejection::Unmatched(name.clone()));
                }
            }
        }
        Ok(())
    }

    /// Compares every pair of output cells.
    pub fn compare<D: Domain>(
        &self,
        ours: &Final<D::Value>,
        theirs: &Final<D::Value>,
        original: &Program,
        domain: &mut D,
        same: impl Fn(D::Value, D::Value, &CellPair) -> bool,
    ) -> Result<u64, UpdateRejection> {
        let (mut first, mut count) = (None, 0);
        let cells = self.each(ours, theirs, original, domain, |pair, a, b| {
            if !same(a, b, &pair) {
                count += 1;
                first.get_or_insert(pair);
            }
        })?;
        match first {
            Some(first) => Err(UpdateRejection::Different { first, count, cases: false }),
            None => Ok(cells),
        }
    }
}

/// Arrays of one shape, or the same cells in another arrangement. The caller has one structure, with its gaps.
fn same_shape(what: &str, a: &Object, b: &Object) -> Result<(), String> {
    let types = |o: &Object| (o.element_bytes, o.fields.iter().map(|f| (f.ty, f.offset)).collect::<Vec<_>>());
    let cells = a.cells.is_none() || b.cells.is_none() || a.cells == b.cells;
    if types(a) == types(b) && cells {
        return Ok(());
    }
    match (describe(a), describe(b)) {
        (ours, theirs) if ours == theirs => Err(format!("{what} is a structure with another layout in the candidate")),
        (ours, theirs) => Err(format!("{what} is `{ours}` in the original and `{theirs}` in the candidate")),
    }
}
