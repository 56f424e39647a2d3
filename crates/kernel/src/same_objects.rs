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
use graph::{Function, Object, ObjectKind};

/// Objects and callees that both functions mention are the same.
pub(crate) fn check_objects(original: &Function, candidate: &Function) -> Result<(), Rejection> {
    for (var, object) in &original.objects {
        let other = candidate.objects.get(var);
        if let Some(what) = other.and_then(|other| difference(object, other)) {
            return Err(rejection(what, &object.name));
        }
    }
    let calls = |function: &Function, name: &str| function.named_callees().any(|callee| callee == name);
    for name in original.named_callees().filter(|name| calls(candidate, name)) {
        let linkage = [original, candidate].map(|f| {
            let around = &f.surroundings;
            [around.local_callees.contains(name), around.weak_callees.contains(name)]
        });
        if linkage[0] != linkage[1] {
            return Err(rejection("linkage", name));
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
    let different = a.start_identity != b.start_identity || starts && a.start_identity.is_none();
    different.then_some("initial content")
}
