//! What both programs mean by one name.
//!
//! The address of an object is one variable for both programs, by its name and, where it never changes, its content. That
//! is right only if the name means the same object in both: a `static` is another object than one of another file, and a
//! weak one, which another file's definition may replace, is another than one that stays. Where both files
//! define it, it must be as large and begin with the same bytes. (What it holds when a function is called is the same by
//! assumption; but nobody who changed a table wants to hear that its readers are the same.) The same goes for
//! functions that are called by name.
//!
//! Trust: full.

use crate::{Failure, Obligation, Rejection};
use program::{Assumption, Function, Object, ObjectKind};
use symbolic::Binding;

/// Objects and callees that both functions mention are the same.
pub(crate) fn check_objects(original: &Function, candidate: &Function) -> Result<(), Rejection> {
    for (var, object) in &original.objects {
        let other = candidate.objects.get(var);
        if let Some(what) = other.and_then(|other| difference(object, other)) {
            return Err(rejection(what, &object.name));
        }
    }
    let versions = [original, candidate].map(|f| &f.surroundings.versions);
    let mentions = |function: &Function, name: &str| {
        function.named_callees().any(|callee| callee == name) || function.objects.values().any(|o| o.name == name)
    };
    for (name, version) in versions[0] {
        let other = versions[1].get(name).filter(|other| *other != version);
        if other.is_some() && mentions(original, name) {
            return Err(rejection("version", name));
        }
    }
    let calls = |function: &Function, name: &str| function.named_callees().any(|callee| callee == name);
    for name in original.named_callees().filter(|name| calls(candidate, name)) {
        let linkage = [original, candidate].map(|f| {
            let around = &f.surroundings;
            [&around.local_callees, &around.weak_callees, &around.hidden_callees].map(|names| names.contains(name))
        });
        if linkage[0] != linkage[1] {
            return Err(rejection("linkage", name));
        }
    }
    Ok(())
}

/// What one program means by the name, which another file's definition may take, and the other by its place in this file.
pub(crate) fn meant_otherwise(original: &Function, candidate: &Function) -> Vec<Assumption> {
    let [ours, theirs] = [original, candidate].map(|f| &f.surroundings.by_place);
    ours.symmetric_difference(theirs).map(|name| Assumption::Definition(name.clone())).collect()
}

/// Locals whose address others are given are as aligned in the candidate as their declarations ask for. Frames are aligned to 16 bytes.
pub(crate) fn check_aligned_locals(original: &Function, bindings: &[Binding]) -> Result<(), Rejection> {
    // The entry stack pointer is 8 above a multiple of 16.
    let aligned = |offset: i64, align: i64| offset.checked_add(8).is_some_and(|at| at.rem_euclid(align) == 0);
    for binding in bindings.iter().filter(|b| b.escapes) {
        let (Some(ours), Some(theirs)) = (binding.original, binding.candidate) else { continue };
        let end = ours.offset.saturating_add_unsigned(ours.size);
        for local in original.locals.iter().filter(|l| ours.offset <= l.offset && l.offset < end) {
            let there = theirs.offset.saturating_add(local.offset - ours.offset);
            let lost = |align: i64| aligned(local.offset, align) && !aligned(there, align);
            // No frame is known to be aligned to more.
            if local.align > 16 || [2, 4, 8, 16].into_iter().any(|align| local.align >= align as u64 && lost(align)) {
                return Err(rejection("alignment", &local.name));
            }
        }
    }
    Ok(())
}

fn rejection(property: &'static str, name: &str) -> Rejection {
    let what = Obligation::SameObject { property, name: name.to_string() };
    Rejection::Obligation { what, places: [0, 0], failure: Failure::NotShown }
}

/// What tells an object of the original from the one of the same name in the candidate.
fn difference(a: &Object, b: &Object) -> Option<&'static str> {
    if a.linkage != b.linkage {
        return Some("linkage");
    }
    // A text of the candidate that may be longer than it looks is the original's only if what follows it is the same, too. What
    // the original's looks like is what it is (`literal-address-opaque`).
    if !b.tails.is_empty() && (a.tails != b.tails || a.tails.len() > 1) {
        return Some("what follows the text");
    }
    let data = |o: &Object| matches!(o.kind, ObjectKind::Named { defined: true, function: false, .. });
    let other = |o: &Object| matches!(o.kind, ObjectKind::Named { defined: false, function: false, .. });
    if data(a) && other(b) || other(a) && data(b) {
        return Some("definition");
    }
    if !(data(a) && data(b)) {
        return None;
    }
    if a.size != b.size {
        return Some("size");
    }
    if a.shared != b.shared {
        return Some("overlap with other objects");
    }
    if a.read_only != b.read_only && !(a.constant_static || b.constant_static) {
        return Some("section");
    }
    // Weak and unsized ones have no size here: what they hold at the start is not theirs to say. What never changes is known
    // by its content.
    let starts = a.size.is_some() && !(a.read_only || b.read_only || a.content.is_some() || b.content.is_some());
    let untold = a.size.is_none() && a.content.is_none();
    let different = a.start_identity != b.start_identity || (starts || untold) && a.start_identity.is_none();
    different.then_some("initial content")
}
