//! The function that is recorded: its graph, without what it calls, and where its objects lie in the process.

use crate::error::Error;
use crate::modules::Module;
use pair::File;
use program::{Function, Next, ObjectKind, Place, Register, Side, Value};
use rustc_hash::FxHashMap;
use term::{Arena, VarId};

/// A function in a process.
pub(crate) struct Target {
    pub arena: Arena,
    /// Ends where it calls another.
    pub function: Function,
    /// Where the process has its objects.
    pub places: FxHashMap<VarId, u64>,
    /// The file that it is in.
    pub module: Module,
    /// Its first instruction.
    pub entry: u64,
}

impl Target {
    /// The function of a name, in the first file that has one.
    pub fn find(name: &str, modules: &[Module]) -> Result<Option<Target>, Error> {
        for module in modules {
            let Some(entry) = module.function(name)? else { continue };
            let failed = |why: String| Error::NotUnderstood(name.to_string(), why);
            let file = File::read(&module.path).map_err(|error| failed(error.to_string()))?;
            let index =
                file.find(name).ok_or_else(|| failed(format!("{} has no code for it", module.path.display())))?;
            let mut arena = pair::new_arena();
            let mut function =
                file.lift(index, Side::Original, &mut arena).map_err(|error| failed(error.to_string()))?;
            // An edge to nowhere ends a run.
            for point in function.points.iter_mut().filter(|point| matches!(point.next, Next::Call(_))) {
                point.next = Next::Edges(Default::default());
            }
            let places = places(&function, module, modules);
            return Ok(Some(Target { arena, function, places, module: module.clone(), entry }));
        }
        Ok(None)
    }

    /// What the function takes; everything that the convention could pass if nobody says it.
    pub fn arguments(&self) -> Vec<(Place, u16)> {
        let described = self.function.signature.as_ref().filter(|s| s.unsupported.is_none() && !s.variadic);
        match described {
            Some(signature) => signature.arguments.iter().map(|value| (value.place, value.bytes)).collect(),
            None => {
                let general = Register::ARGUMENTS.into_iter().map(|register| (Place::Register(register), 8));
                general.chain((0..8).map(|i| (Place::Register(Register::Vector(i)), 16))).collect()
            }
        }
    }

    /// Where it returns something, as far as that is known.
    pub fn results(&self) -> &[Value] {
        self.function.signature.as_ref().filter(|s| s.unsupported.is_none()).map_or(&[], |s| &s.results)
    }
}

/// Where the process has the function's objects. Those that are not found lie elsewhere, with what their file says.
fn places(function: &Function, module: &Module, modules: &[Module]) -> FxHashMap<VarId, u64> {
    let mut places = FxHashMap::default();
    for object in function.objects.values().filter(|object| object.kind == ObjectKind::Section) {
        let Some(start) = module.symbols.sections.get(&object.name) else { continue };
        let start = start.wrapping_add(module.bias);
        places.insert(object.var, start);
        places.extend(object.members.iter().map(|member| (member.var, start.wrapping_add(member.offset))));
    }
    for object in function.objects.values() {
        let ObjectKind::Named { defined, function, .. } = object.kind else { continue };
        let here = || match function {
            true => module.function(&object.name).ok().flatten(),
            false => module.data(&object.name),
        };
        let elsewhere = || {
            modules.iter().find_map(|m| if function { m.function(&object.name).ok()? } else { m.data(&object.name) })
        };
        let found = here().or_else(|| if defined { None } else { elsewhere() });
        if let Some(found) = found {
            places.entry(object.var).or_insert(found);
        }
    }
    places
}
