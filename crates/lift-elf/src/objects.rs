//! Address variables of a function being lifted, and the objects behind them.

use crate::Image;
use crate::container::{Binding, Definition, Place, Visibility};
use crate::content::IDENTITY_BUDGET;
use crate::layout::{Base, Location};
use program::{Content, Linkage, Member, Object, ObjectKind, Register, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use term::{Arena, Sort, TermId, VarId};

/// Objects whose content and members are followed, per function.
const MAX_OBJECTS: usize = 4096;
/// Members of a section that are listed.
const MAX_MEMBERS: usize = 1 << 16;

/// The objects that a function mentions.
pub(crate) struct Objects<'a> {
    image: &'a Image,
    side: Side,
    terms: FxHashMap<Base, TermId>,
    /// Objects without their content and members yet.
    waiting: Vec<(Base, VarId)>,
    /// Functions that are called: undefined symbols have no type that says so.
    called: FxHashSet<u32>,
    taken: Vec<Place>,
    budget: usize,
    found: BTreeMap<VarId, Object>,
}

impl<'a> Objects<'a> {
    pub fn new(image: &'a Image, side: Side) -> Objects<'a> {
        Objects {
            image,
            side,
            terms: FxHashMap::default(),
            waiting: Vec::new(),
            called: FxHashSet::default(),
            taken: Vec::new(),
            budget: IDENTITY_BUDGET,
            found: BTreeMap::new(),
        }
    }

    /// The address as a term.
    pub fn term(&mut self, arena: &mut Arena, location: Location) -> TermId {
        let location = self.image.unsplit(location);
        if location.base == Base::Number {
            return arena.bv_i64(64, location.offset);
        }
        if let Some(place) = self.image.place_of(location).filter(|p| self.image.sections[p.section as usize].is_code())
            && self.image.function_at(place).is_none()
        {
            self.taken.push(place);
        }
        let base = self.base(arena, location.base);
        arena.add_const(base, location.offset)
    }

    /// The offset of a thread-local object from the thread pointer. The object's variable is its address.
    pub fn thread_offset(&mut self, arena: &mut Arena, location: Location) -> TermId {
        let address = self.term(arena, location);
        let pointer = Register::FsBase.term(arena);
        arena.sub(address, pointer)
    }

    /// The program that is lifted.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Notes that a symbol is called, so that its object is known to be a function.
    pub fn call(&mut self, symbol: u32) {
        self.called.insert(symbol);
    }

    fn base(&mut self, arena: &mut Arena, base: Base) -> TermId {
        if let Some(term) = self.terms.get(&base) {
            return *term;
        }
        let name = self.variable(base);
        let term = arena.var(&name, Sort::Bv(64));
        self.terms.insert(base, term);
        if let Some(var) = arena.as_var(term) {
            self.waiting.push((base, var));
        }
        term
    }

    /// The bases behind the variables made so far.
    pub fn bases(&self, arena: &Arena) -> FxHashMap<VarId, Base> {
        self.terms.iter().filter_map(|(base, term)| Some((arena.as_var(*term)?, *base))).collect()
    }

    /// Places inside code, but not at the start of a function, whose addresses were made into terms.
    pub fn taken(&self) -> &[Place] {
        &self.taken
    }

    /// Name of an object's variable, as `program::Object` lays it down.
    fn variable(&mut self, base: Base) -> String {
        let name = self.image.plain_name(base);
        let known = self.image.identity(base, &mut self.budget);
        match (base, known.or_else(|| self.image.opaque_identity(base, &mut self.budget))) {
            (Base::Section(_), _) => format!("§{}.{name}", self.side.name()),
            (Base::Literal { .. }, Some(identity)) => format!("&\"{identity}"),
            // A literal too large to be read as a whole: known by its place in this program only.
            (Base::Literal { section, start, .. }, None) => {
                let name = self.image.plain_name(Base::Section(section));
                format!("§{}.{name}+{start:#x}", self.side.name())
            }
            (_, Some(identity)) => format!("&{name}@{identity}"),
            (_, None) => format!("&{name}"),
        }
    }

    /// All objects, with their contents and the objects that those point to.
    pub fn finish(mut self, arena: &mut Arena) -> BTreeMap<VarId, Object> {
        while let Some((base, var)) = self.waiting.pop() {
            let mut object = self.object(arena, base, var);
            if let Some(other) = self.found.get(&var) {
                object.tails.extend(other.tails.iter().cloned());
            }
            self.found.insert(var, object);
        }
        self.found
    }

    fn object(&mut self, arena: &mut Arena, base: Base, var: VarId) -> Object {
        let mut object = Object {
            var,
            name: self.image.display_name(base),
            kind: ObjectKind::Literal,
            size: None,
            align: 1,
            promised_align: 1,
            read_only: false,
            content: None,
            start: None,
            initial: None,
            start_identity: None,
            constant_static: false,
            unaliased: false,
            linkage: Default::default(),
            shared: false,
            tails: self.image.layout.tail(base).into_iter().cloned().collect(),
            constancy: self.image.constancy(base),
            volatile: self.image.is_volatile(base),
            members: Vec::new(),
        };
        if let Some((section, start, size, sized)) = self.image.extent_of(base) {
            object.size = (sized && size > 0).then_some(size);
            object.align = alignment(self.image.sections[section as usize].align, start);
            let declared = self.image.debug.alignments.get(&Place { section, offset: start });
            object.promised_align = declared.map_or(object.align, |align| object.align.min(*align));
            object.read_only = self.image.sections[section as usize].is_read_only();
        }
        match base {
            Base::Symbol(symbol) => self.describe_symbol(symbol, &mut object),
            Base::Section(section) => {
                object.kind = ObjectKind::Section;
                object.size = None;
                object.align = self.image.sections[section as usize].align;
                object.read_only = self.image.sections[section as usize].is_read_only();
                object.members = self.members(arena, section);
            }
            Base::Whole(whole) => {
                object.kind = ObjectKind::Named { defined: true, local: true, weak: false, function: false };
                object.size = Some(self.image.splits().wholes[whole as usize].1);
                object.unaliased = true;
            }
            Base::Literal { .. } | Base::Number => {}
        }
        if self.found.len() < MAX_OBJECTS
            && let Base::Symbol(symbol) = base
            && let Some(start) = self.image.start(symbol)
        {
            let pointers = start.pointers.iter().map(|(at, target)| (*at, self.term(arena, *target))).collect();
            object.start = Some(Content { bytes: start.bytes, pointers });
        }
        if self.found.len() < MAX_OBJECTS {
            object.start_identity = self.image.start_identity(base, &mut self.budget);
        }
        if self.found.len() < MAX_OBJECTS
            && let Some(constant) = self.image.constant(base)
        {
            let pointers = constant.pointers.iter().map(|(at, target)| (*at, self.term(arena, *target))).collect();
            object.content = Some(Content { bytes: constant.bytes, pointers });
            object.constant_static = self.image.is_constant(base);
        }
        object
    }

    fn describe_symbol(&self, symbol: u32, object: &mut Object) {
        let info = &self.image.symbols[symbol as usize];
        let code = |place: Place| self.image.sections[place.section as usize].is_code();
        let defined = info.definition != Definition::Undefined;
        object.kind = ObjectKind::Named {
            defined,
            local: info.binding == Binding::Local,
            weak: info.binding == Binding::Weak && !defined,
            function: info.is_function() || self.called.contains(&symbol) || info.place().is_some_and(code),
        };
        object.linkage = match (info.binding, info.visibility) {
            (Binding::Local, _) => Linkage::Local,
            (Binding::Global, Visibility::Default) => Linkage::External,
            (Binding::Global, Visibility::Protected) => Linkage::Protected,
            (Binding::Global, Visibility::Hidden) => Linkage::Hidden,
            (Binding::Weak, Visibility::Default) => Linkage::Weak,
            (Binding::Weak, Visibility::Protected | Visibility::Hidden) => Linkage::HiddenWeak,
        };
        object.shared = self.image.layout.is_shared(symbol) || !defined && crate::statics::is_border(&info.name);
        object.unaliased = self.image.is_unaliased_static(symbol) && !object.shared;
        object.initial = self.image.initial(symbol).filter(|_| object.unaliased);
        if let Definition::Common(align) = info.definition {
            object.size = (info.size > 0).then_some(info.size);
            object.align = alignment(align.max(1), 0);
            object.promised_align = object.align;
        }
        if info.binding == Binding::Weak {
            // Another definition may win at link time.
            object.size = None;
            (object.align, object.promised_align) = (1, 1);
        }
    }

    fn members(&mut self, arena: &mut Arena, section: u32) -> Vec<Member> {
        if self.found.len() >= MAX_OBJECTS {
            return Vec::new();
        }
        let image = self.image;
        let extents = image.layout.extents.get(section as usize).map_or(&[][..], |e| &e[..]);
        let extents = extents.iter().filter(|e| e.size > 0).take(MAX_MEMBERS);
        let mut members = Vec::new();
        for extent in extents {
            let term = self.base(arena, extent.base);
            if let Some(var) = arena.as_var(term) {
                members.push(Member { offset: extent.start, size: extent.size, var });
            }
        }
        members
    }
}

/// Alignment of an offset in a section.
fn alignment(section: u64, offset: u64) -> u64 {
    let section = if section.is_power_of_two() { section } else { 1 };
    if offset == 0 { section } else { section.min(1 << offset.trailing_zeros()) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled, objects, shown};
    use expect_test::{Expect, expect};

    fn has_objects(text: &str, expect: Expect) {
        expect.assert_eq(&objects(&assembled(text), "f"));
    }

    #[test]
    fn strings_and_constants_are_known_by_content() {
        has_objects(
            ".globl f\nf: lea rdi, [rip + .Ls + 2]\nmovsd xmm0, [rip + .Lc]\nret
             .section .rodata.str1.1, \"aMS\", @progbits, 1\n.string \"first\"\n.Ls: .string \"second\"
             .section .rodata.cst8, \"aM\", @progbits, 8\n.Lc: .quad 1",
            expect![[r#"
                &"ae7c `"second"` size 7 align 1 content 7 []
                &"cc5d `constant 0x0000000000000001` size 8 align 1 content 8 []"#]],
        );
    }

    #[test]
    fn tables_are_known_by_name_and_content_with_what_they_point_to() {
        has_objects(
            ".globl f\nf: lea rax, [rip + names]\nret
             .section .rodata\n.align 16\n.type names, @object\nnames: .quad .Ls, f, names, other + 4\n.size names, 32
             .section .rodata.str1.1, \"aMS\", @progbits, 1\n.Ls: .string \"text\"",
            expect![[r#"
                &"4250 `"text"` size 5 align 1 content 5 []
                &f `f` size ? align 1
                &names@e8a4 `names` size 32 align 16 content 32 [0: &"4250, 8: &f, 16: &names@e8a4, 24: &other + 4]
                &other `other` size ? align 1"#]],
        );
    }

    #[test]
    fn constants_that_are_not_followed_are_not_the_same_by_name() {
        let table = |first: &str, second: &str| {
            let text = format!(
                ".globl f\nf: lea rax, [rip + names]\nret
                 .section .rodata\n.type names, @object\nnames: .long {first} - names, {second} - names\n.size names, 8
                 .section .rodata.str1.1, \"aMS\", @progbits, 1\n.La: .string \"a\"\n.Lb: .string \"b\""
            );
            objects(&assembled(&text), "f")
        };
        assert_eq!(table(".La", ".Lb"), table(".La", ".Lb"));
        assert_ne!(table(".La", ".Lb"), table(".Lb", ".La"));
    }

    #[test]
    fn an_index_keeps_the_section_with_its_members() {
        let text = ".globl f\nf: mov eax, [.data + 8 + rdi*4]\nret
             .data\n.type a, @object\na: .quad 0\n.size a, 8\n.type b, @object\nb: .quad 0, 0\n.size b, 16";
        has_objects(
            text,
            expect![[r#"
            &a `a` size 8 align 1
            &b `b` size 16 align 1
            §original..data `.data` size ? align 1 members 0+8 &a, 8+16 &b"#]],
        );
        expect![[r#"
            0: at 0x0
               t32.0 := 4 at 4*rdi + §original..data + 8
               rax := zext64(t32.0)
               return
        "#]]
        .assert_eq(&shown(&assembled(text), "f"));
    }

    #[test]
    fn a_pointer_says_no_object_of_a_section_with_several() {
        let text = ".globl f\nf: mov eax, offset .data + 16\nmov edx, offset .data + 24\nret
             .data\n.type a, @object\na: .quad 0, 0\n.size a, 16\n.type b, @object\nb: .quad 0\n.size b, 8
             .type c, @object\nc: .quad 0\n.size c, 8";
        expect![[r#"
            0: at 0x0
               rax := §original..data + 16
               rdx := §original..data + 24
               return
        "#]]
        .assert_eq(&shown(&assembled(text), "f"));
    }

    #[test]
    fn thread_locals_and_the_global_offset_table() {
        let text = "__thread int local; extern __thread int other; extern int global; static __thread int hidden;
            int f(void) { return local + other + global + hidden++; }";
        for flags in ["-fno-pic", "-fPIC"] {
            let image = compiled(text, &format!("cc -c -O1 {flags} -fcf-protection=none"));
            let names = objects(&image, "f");
            let names: Vec<&str> = names.lines().filter_map(|line| line.split(' ').next()).collect();
            assert_eq!(names, ["&global", "&tls:hidden", "&tls:local", "&tls:other"], "{flags}");
            assert!(!shown(&image, "f").contains("__tls_get_addr"), "{flags}");
        }
    }

    #[test]
    fn statics_of_functions_are_named_after_them() {
        let text = "int f(void) { static int counter; return counter++; } int g(void) { static int counter; return counter++; }";
        let image = compiled(text, "cc -c -g -O0");
        expect!["&g.counter `g.counter` size 4 align 4"].assert_eq(&objects(&image, "g"));
    }

    #[test]
    fn a_table_that_nothing_writes_is_known_by_content_wherever_it_lies() {
        let text = "static const char *names[] = {\"a\", \"b\"}; const char *f(int i) { return names[i]; }";
        let [plain, optimised] = ["cc -c -g -O0 -fno-pic", "cc -c -g -O2 -fno-pic"].map(|command| {
            let image = compiled(text, command);
            let (_, function) = crate::testing::lifted(&image, "f");
            let constant = function.expect("a graph").objects.values().any(|object| object.constant_static);
            let all = objects(&image, "f");
            let name = all.lines().filter_map(|line| line.split(' ').next()).find(|n| n.starts_with("&names@"));
            (constant, name.map(str::to_string))
        });
        assert_eq!((plain.0, optimised.0), (true, false));
        assert!(plain.1.is_some());
        assert_eq!(plain.1, optimised.1);
        let text = "static const char *names[] = {\"a\", \"b\"}; const char *f(int i) { return names[i]; } void g(int i) { names[i] = 0; }";
        let written = objects(&compiled(text, "cc -c -g -O0 -fno-pic"), "f");
        assert!(written.lines().any(|line| line.starts_with("&names `names`")), "{written}");
    }
}
