//! A file with everything that a check needs to know about it.

use crate::container::{self, AddressMap, Container, Kind, Place, Section, Symbol};
use crate::content::hex;
use crate::dwarf::{Addresses, Debug};
use crate::functions::{self, FunctionEntry};
use crate::labels::Reference;
use crate::layout::Layout;
use crate::split::Splits;
use crate::{Error, assemble};
use program::{Call, Callee, Function, Next, Point};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

/// A file taken apart.
pub struct Image {
    /// Name of the file, for messages.
    pub name: String,
    /// What kind of file it is.
    pub kind: Kind,
    pub(crate) bytes: Vec<u8>,
    pub(crate) map: AddressMap,
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
    /// Versions of the names that the file takes from others.
    pub(crate) versions: FxHashMap<String, String>,
    /// Unique names of the symbols.
    pub(crate) names: Vec<String>,
    pub(crate) layout: Layout,
    pub(crate) debug: Debug,
    /// References from data to code, once somebody asks.
    pub(crate) code_labels: OnceLock<Vec<(Place, Place, Reference)>>,
    /// Hash of the bytes, once somebody asks.
    pub(crate) digest: OnceLock<[u8; 32]>,
    /// Symbols of writable data that never changes, once somebody asks.
    pub(crate) constant_statics: OnceLock<FxHashSet<u32>>,
    pub(crate) unaliased_statics: OnceLock<FxHashSet<u32>>,
    pub(crate) unwritten_statics: OnceLock<FxHashSet<u32>>,
    /// Variables that are there in parts only, once somebody asks.
    pub(crate) splits: OnceLock<Splits>,
    /// Local functions whose address is never taken, once somebody asks.
    pub(crate) private_functions: OnceLock<FxHashSet<String>>,
    pub(crate) weak_names: OnceLock<FxHashSet<String>>,
    pub(crate) hidden_names: OnceLock<FxHashSet<String>>,
    /// Defined symbols that other files see, by their places.
    pub(crate) visible_symbols: OnceLock<Vec<u32>>,
    /// Which functions read `r10` as it arrives.
    pub(crate) chain_readers: OnceLock<Vec<bool>>,
    /// Does a variable live in a register that calls keep?
    pub(crate) register_variable: OnceLock<program::RegisterVariable>,
    /// The functions that know where `errno` is.
    pub(crate) errno_functions: OnceLock<Vec<usize>>,
    /// Frames that unwinding stops in, once somebody asks.
    pub(crate) handlers: OnceLock<Handlers>,
    /// Could memory hold values of a type that is only 0 or 1? Once somebody asks.
    pub(crate) truth_values: OnceLock<bool>,
    functions: Vec<FunctionEntry>,
    by_name: FxHashMap<String, usize>,
}

/// Frames that unwinding stops in.
#[derive(Default, Debug)]
pub(crate) struct Handlers {
    /// Where their code begins.
    pub(crate) starts: BTreeSet<Place>,
    /// Is there a description that cannot be read?
    pub(crate) unreadable: bool,
}

impl Image {
    /// Reads a file. Assembly files (`.s`, `.S`) are assembled first.
    pub fn read(path: &Path) -> Result<Image, Error> {
        let name = path.display().to_string();
        let unreadable = |e: std::io::Error| Error::Unreadable { file: name.clone(), what: e.to_string() };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > container::MAX_FILE {
            return Err(Error::Unreadable { file: name, what: format!("{size} bytes are too many") });
        }
        let bytes = match assemble::is_assembly(path) {
            true => assemble::assemble(path)?,
            false => std::fs::read(path).map_err(unreadable)?,
        };
        Image::parse(bytes, &name)
    }

    /// Takes the bytes of a file apart.
    pub fn parse(bytes: Vec<u8>, name: &str) -> Result<Image, Error> {
        let mut file = container::parse(name, &bytes)?;
        let Container { kind, map, sections, symbols, .. } = &file;
        let debug = Debug::read(&bytes, Addresses { kind: *kind, map, sections, symbols });
        if file.kind == Kind::Relocatable {
            crate::sealed::check_described(&debug, &file.symbols, &mut file.sections);
        }
        let layout = Layout::new(&file, &bytes);
        let Container { kind, map, sections, symbols, versions } = file;
        let names = functions::unique_names(&symbols, &debug);
        let functions = functions::functions(&sections, &symbols, &names);
        let mut by_name = FxHashMap::default();
        for (i, function) in functions.iter().enumerate().rev() {
            for alias in &function.aliases {
                by_name.insert(alias.clone(), i);
            }
        }
        by_name.extend(functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)));
        Ok(Image {
            name: name.to_string(),
            kind,
            bytes,
            map,
            sections,
            symbols,
            versions,
            names,
            layout,
            debug,
            code_labels: OnceLock::new(),
            digest: OnceLock::new(),
            constant_statics: OnceLock::new(),
            unaliased_statics: OnceLock::new(),
            unwritten_statics: OnceLock::new(),
            splits: OnceLock::new(),
            private_functions: OnceLock::new(),
            weak_names: OnceLock::new(),
            hidden_names: OnceLock::new(),
            visible_symbols: OnceLock::new(),
            chain_readers: OnceLock::new(),
            register_variable: OnceLock::new(),
            errno_functions: OnceLock::new(),
            handlers: OnceLock::new(),
            truth_values: OnceLock::new(),
            functions,
            by_name,
        })
    }

    /// Sections, in the file's order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Symbols, in the file's order.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Is there any code?
    pub fn has_code(&self) -> bool {
        self.sections.iter().any(|section| section.is_code() && section.size > 0)
    }

    /// Is it the same file, byte for byte?
    pub fn is_copy_of(&self, other: &Image) -> bool {
        self.bytes == other.bytes
    }

    /// A function of which not all instructions are modelled, as a step into code of which nothing is known but where it is.
    /// It is the same as that of a copy of the file, and as nothing else: `is_copy_of` must have been asked.
    pub fn unread(&self, index: usize) -> Function {
        let entry = &self.functions[index];
        let callee = Callee::Named(format!("{}, which is not modelled", entry.name));
        let next = Next::Call(Call { callee, returns: None, tail: true });
        let point = Point { address: 0, ops: Vec::new(), next };
        Function { name: entry.name.clone(), points: vec![point], hash: hex(&self.hash(index)), ..Function::default() }
    }

    /// Functions in address order. Those with a parent are its pieces and not compared by themselves.
    pub fn functions(&self) -> &[FunctionEntry] {
        &self.functions
    }

    /// The function of this unique name or alias.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The function that begins at a place.
    pub fn function_at(&self, place: Place) -> Option<usize> {
        self.functions.binary_search_by_key(&place, |f| f.place).ok()
    }

    /// The bytes of the file.
    pub fn file(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of a section.
    pub fn data(&self, section: u32) -> &[u8] {
        self.sections.get(section as usize).and_then(|s| self.bytes.get(s.range.clone())).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled, read_assembly, sample};
    use crate::{Error, Image};
    use expect_test::expect;

    fn listed(image: &Image) -> String {
        let line = |f: &crate::FunctionEntry| {
            let parent = f.parent.map_or(String::new(), |p| format!(" piece of {}", image.functions()[p].name));
            format!("{} {:?} size {}{parent}", f.name, f.aliases, f.size)
        };
        image.functions().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn functions_come_in_address_order_with_aliases_and_pieces() {
        let text = ".globl f, g\n.type f, @function\nf: nop\nret\n.size f, 2\n.weak alias\n.set alias, f\n.type alias, @function
            .type local, @function\nlocal: ret\n.size local, 1\ng: nop\nnop\nret
            .section .text.unlikely, \"ax\"\n.type f.cold, @function\nf.cold: ret\n.size f.cold, 1";
        expect![[r#"
            f [] size 2
            local [] size 1
            g [] size 3
            f.cold [] size 1 piece of f"#]]
        .assert_eq(&listed(&assembled(text)));
    }

    #[test]
    fn hashes_follow_code_and_constants() {
        let hash = |body: &str, data: &str| {
            let text =
                format!(".globl f\nf: lea rdi, [rip + .Ls]\n{body}\nret\n.section .rodata\n.Ls: .string \"{data}\"");
            let image = assembled(&text);
            image.hash(image.find("f").expect("f"))
        };
        assert_eq!(hash("nop", "text"), hash("nop", "text"));
        assert_ne!(hash("nop", "text"), hash("inc eax", "text"));
        assert_ne!(hash("nop", "text"), hash("nop", "other"));
    }

    #[test]
    fn assembler_errors_are_passed_on() {
        let Err(Error::Assembly { message, .. }) = read_assembly("f: mov nothing\n") else {
            panic!("an assembly error")
        };
        assert!(message.contains("Error"), "{message}");
        assert!(read_assembly(".globl f\nf: ret\n").is_ok_and(|image| image.find("f").is_some()));
    }

    #[test]
    fn what_is_no_object_file_is_refused_with_the_place() {
        let refused =
            |bytes: &[u8]| Image::parse(bytes.to_vec(), "x.o").err().map(|e| e.to_string()).unwrap_or_default();
        expect!["x.o: at offset 0x0: not an ELF file"].assert_eq(&refused(b"int main"));
        let mut bytes = sample();
        bytes.truncate(bytes.len() - 100);
        assert!(refused(&bytes).starts_with("x.o: at offset 0x"), "{}", refused(&bytes));
        let mut bytes = sample();
        bytes[18] = 40;
        expect!["x.o: unsupported: an ELF file for another machine than x86-64"].assert_eq(&refused(&bytes));
    }

    #[test]
    fn linked_files_know_imported_functions_and_strings() {
        let text = "#include <stdio.h>\nint helper(int x) { return x + 1; } int main(void) { puts(\"hello\"); return helper(2); }";
        for flags in ["-pie", "-no-pie", "-shared -fPIC"] {
            let image = compiled(text, &format!("cc -O0 {flags}"));
            let graph = crate::testing::shown(&image, "main");
            assert!(graph.contains("call puts -> ") && graph.contains("call helper -> "), "{flags}: {graph}");
            let objects = crate::testing::objects(&image, "main");
            assert!(objects.contains("`\"hello\"` size 6"), "{flags}: {objects}");
        }
    }
}
