//! Objects of the program's memory that have a name or known content.
//!
//! The address of an object is a variable, shared by both programs of a pair when they mean the same object.
//! Frontends name these variables so: `&name` for a named object; `&name@HASH` for a defined read-only one, where
//! HASH covers its content (so that two constant tables of one name and different content are different
//! objects); `&"HASH` for anonymous read-only data, by content alone; `§original.SECTION`/`§candidate.SECTION` for
//! a section of one program, whose members are objects again.

use std::collections::BTreeSet;
use term::{TermId, VarId};

/// What a variable that is an address points to.
#[derive(Clone, Debug)]
pub struct Object {
    /// Variable that stands for the address.
    pub var: VarId,
    /// Name for people.
    pub name: String,
    /// Kind.
    pub kind: ObjectKind,
    /// Size in bytes; `None` when unknown (undefined, size-less, zero-length or linker-made symbols).
    pub size: Option<u64>,
    /// Alignment in bytes that the program guarantees, 1 when unknown.
    pub align: u64,
    /// Alignment in bytes that whoever is given its address may rely on: what its declaration asks for, or, where there is none, all that it has.
    pub promised_align: u64,
    /// Can nobody write it?
    pub read_only: bool,
    /// Content, if it never changes.
    pub content: Option<Content>,
    /// Is the content that of a writable object of this file, which nothing in the file writes or points to? Who uses it
    /// assumes `constant-static`.
    pub constant_static: bool,
    /// Is it a static of this file whose address is never taken, so that no pointer points to it? Who uses it assumes
    /// `unaliased-static`.
    pub unaliased: bool,
    /// May it change while the program runs, by its declaration?
    pub constancy: Constancy,
    /// Is it volatile, or a part of it?
    pub volatile: bool,
    /// What a static of this file holds at the start, if only code of the file can write it, or none does by its name. Who
    /// looks for inputs uses it: other contents may never come up.
    pub start: Option<Content>,
    /// What a static of this file of up to eight bytes holds at the start.
    pub initial: Option<u64>,
    /// Identity of what a writable object of this file holds at the start; `None` if it cannot be compared.
    pub start_identity: Option<String>,
    /// Who else may mean this object by its name?
    pub linkage: Linkage,
    /// May it share bytes with an object of another name (a weak alias)?
    pub shared: bool,
    /// Of texts that may go on behind their NUL: identities of what follows them.
    pub tails: BTreeSet<String>,
    /// Members of a section, sorted by offset; empty for other kinds.
    pub members: Vec<Member>,
}

/// Who may mean an object by its name. Objects of two programs are the same only if this is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Linkage {
    /// Its file only, or nobody: it has no name.
    #[default]
    Local,
    /// Every file.
    External,
    /// Every file, but no other definition takes its place.
    Protected,
    /// The files that are linked together with it.
    Hidden,
    /// Every file; another file's definition may take its place, or it may be missing.
    Weak,
    /// The same among the files that are linked together with it.
    HiddenWeak,
}

impl Object {
    /// Is it a thread-local variable that only its file can name? Compilers know all that is stored there.
    pub fn is_thread_static(&self) -> bool {
        self.name.starts_with("tls:") && matches!(self.kind, ObjectKind::Named { local: true, .. })
    }

    /// The member of a section that holds an offset.
    pub fn member_at(&self, offset: u64) -> Option<&Member> {
        self.members.iter().find(|m| offset >= m.offset && offset - m.offset < m.size.max(1))
    }
}

/// What a declaration says about changes of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Constancy {
    /// It may change.
    #[default]
    Changing,
    /// An object of another file that is declared `const`. Who uses it assumes `constant-object`.
    Declared,
    /// An object of another file that nothing declares. A compiler may have known it to be `const`.
    Unclear,
}

/// Kinds of objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKind {
    /// A named object or function.
    Named {
        /// Is it defined in this program?
        defined: bool,
        /// Is it invisible outside (a `static`)?
        local: bool,
        /// May it be null (weak and undefined)?
        weak: bool,
        /// Is it code?
        function: bool,
    },
    /// Anonymous read-only data, identified by its content.
    Literal,
    /// A section; accesses are rewritten to the member they fall in.
    Section,
}

/// Known bytes of a read-only object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// The bytes; those under a relocation are zero here.
    pub bytes: Vec<u8>,
    /// 8-byte pointers inside: offset and value.
    pub pointers: Vec<(u64, TermId)>,
}

/// A member of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Offset in the section.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Variable of the member's address.
    pub var: VarId,
}
