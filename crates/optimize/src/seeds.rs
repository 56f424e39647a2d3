//! Proposals by compilers: the function from its source, in many ways.

use crate::assembly::{Body, Listing};
use crate::compilers::{Compiler, Family};
use crate::event::{Event, Tell};
use crate::hints::{Hint, Prototype, Wrapped};
use crate::recipe::{Recipe, alone};
use crate::request::Request;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A version of the function that somebody proposes.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Who.
    pub origin: String,
    /// The function.
    pub body: Body,
}

/// What compilers make of the source. They work side by side; the order of the proposals does not depend on that.
pub fn compile(
    request: &Request,
    (compilers, source, hints): (&[Compiler], &Path, &[Wrapped]),
    folder: &Path,
    tell: &Tell<'_>,
) -> Vec<Proposal> {
    let recipes = Recipe::all(compilers, request.cpu, hints);
    let made: Vec<Mutex<Option<Result<Proposal, String>>>> = recipes.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..request.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(recipe) = recipes.get(index) else { break };
                    let result = follow(recipe, index, request, source, folder);
                    *made[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    let mut out = Vec::new();
    for (recipe, made) in recipes.iter().zip(made) {
        match made.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(Ok(proposal)) => out.push(proposal),
            Some(Err(why)) => tell(Event::Useless { origin: recipe.to_string(), why }),
            None => {}
        }
    }
    out
}

/// One version.
fn follow(recipe: &Recipe, index: usize, request: &Request, source: &Path, folder: &Path) -> Result<Proposal, String> {
    let output = folder.join(format!("seed{index}.s"));
    let mut flags = recipe.flags();
    flags.extend(request.context.iter().cloned());
    let wrapper = folder.join(format!("seed{index}.c"));
    let source = match &recipe.hints {
        Some(wrapped) => {
            std::fs::write(&wrapper, &wrapped.text).map_err(|error| error.to_string())?;
            wrapper.as_path()
        }
        None => source,
    };
    recipe.compiler.compile(&flags, source, &output).map_err(|error| error.0)?;
    let text = std::fs::read(&output).map_err(|error| error.to_string())?;
    let listing = Listing::parse(&String::from_utf8_lossy(&text));
    let body = listing.extract(&request.function).map_err(|error| error.to_string())?;
    Ok(Proposal { origin: recipe.to_string(), body })
}

/// The function's prototype, in the words of a compiler. Only gcc says it.
pub fn prototype(request: &Request, compilers: &[Compiler], source: &Path, folder: &Path) -> Option<Prototype> {
    let gcc = compilers.iter().find(|compiler| compiler.family == Family::Gcc)?;
    let listing = folder.join("prototypes");
    let mut flags: Vec<String> = ["-O0", "-S", "-aux-info"].map(str::to_string).to_vec();
    flags.push(listing.to_str()?.to_string());
    flags.extend(alone(Family::Gcc));
    flags.extend(request.context.iter().cloned());
    gcc.compile(&flags, source, &folder.join("prototypes.s")).ok()?;
    let text = std::fs::read(&listing).ok()?;
    Prototype::find(&String::from_utf8_lossy(&text), &request.function)
}

/// What compilers are told in general: whatever is often true of arguments and lets them do more.
pub fn usual_hints(prototype: &Prototype, name: &str, source: &Path, assumed: &[String]) -> Vec<Wrapped> {
    let pointers: Vec<&str> = prototype.parameters.iter().filter(|p| p.pointer).map(|p| p.name.as_str()).collect();
    let given: Vec<Hint> = assumed.iter().filter(|text| is_plain(text)).map(|text| Hint::True(text.clone())).collect();
    let mut sets: Vec<Vec<Hint>> = Vec::new();
    if !given.is_empty() {
        sets.push(given.clone());
    }
    if pointers.len() > 1 {
        sets.push([&given[..], &[Hint::Apart]].concat());
    }
    for bytes in [16, 32] {
        if !pointers.is_empty() {
            let aligned = pointers.iter().map(|pointer| Hint::Aligned(pointer.to_string(), bytes));
            sets.push(given.iter().cloned().chain([Hint::Apart]).chain(aligned).collect());
        }
    }
    sets.into_iter().filter_map(|hints| prototype.wrap(name, source, hints)).collect()
}

/// Is a condition C as compilers read it? Words such as `apart` are ours.
fn is_plain(condition: &str) -> bool {
    let calls = condition.match_indices('(').any(|(at, _)| {
        let before = condition[..at].trim_end();
        before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && !before.ends_with("sizeof")
    });
    !calls
}
