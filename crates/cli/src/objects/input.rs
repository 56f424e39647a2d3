//! The object files that are compared, in the words of the command line: files, members of archives, and what a file is that
//! cannot be compared.

use crate::status::Failure;
use object::read::archive::ArchiveFile;
use pair::{Error, File};
use search::{Reason, ReasonKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest archive that is read.
const LARGEST: u64 = 1 << 31;

/// Reads a file, or `archive.a(member.o)`. It must hold code.
pub fn read(path: &Path) -> Result<File, Failure> {
    let file = match member_of(path) {
        Some((archive, member)) => {
            let failed = |what: String| Failure(format!("{}: {what}", path.display()));
            let members = members(&archive)?;
            let bytes = members.get(&member).ok_or_else(|| {
                let names: Vec<&str> = members.keys().take(8).map(String::as_str).collect();
                failed(format!("the archive has no member `{member}`; it has {}", names.join(", ")))
            })?;
            parse(bytes.clone(), path)?
        }
        None if path.is_dir() => {
            let what = "a directory; two directories are compared object by object";
            return Err(Failure(format!("{}: {what}", path.display())));
        }
        None => {
            if let Some(what) = kind_of(path) {
                return Err(Failure(format!("{}: {what}", path.display())));
            }
            File::read(path).map_err(|error| Failure(error.to_string()))?
        }
    };
    code(file, path).map_err(NoCode::failure)
}

/// Takes the bytes of an object file apart.
pub fn parse(bytes: Vec<u8>, path: &Path) -> Result<File, Failure> {
    if let Some(what) = kind(&bytes) {
        return Err(Failure(format!("{}: {what}", path.display())));
    }
    File::parse(bytes, &path.display().to_string()).map_err(|error| Failure(error.to_string()))
}

/// Why there is nothing to compare.
pub enum NoCode {
    /// The file holds data only.
    Data(Failure),
    /// A compiler has left the work to the linker.
    Intermediate(Failure),
}

impl NoCode {
    fn failure(self) -> Failure {
        match self {
            NoCode::Data(failure) | NoCode::Intermediate(failure) => failure,
        }
    }
}

/// A file without code has nothing to compare: to call that equal would be a lie about everything in it.
pub fn code(file: File, path: &Path) -> Result<File, NoCode> {
    if file.has_code() {
        return Ok(file);
    }
    let intermediate = file.image().sections().iter().any(|section| section.name.starts_with(".gnu.lto_"));
    let failed = |what: &str| Failure(format!("{}: {what}", path.display()));
    Err(match intermediate {
        true => NoCode::Intermediate(failed(
            "no machine code, only gcc's intermediate code (-flto); compile without -flto or with -ffat-lto-objects",
        )),
        false => NoCode::Data(failed("no code in it")),
    })
}

/// The members of an archive that are files, by name. One that repeats gets a number.
pub fn members(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let failed = |what: String| Failure(format!("{}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?.len();
    if size > LARGEST {
        return Err(failed(format!("{size} bytes are too many")));
    }
    let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
    let archive = ArchiveFile::parse(&*bytes).map_err(|e| failed(format!("a broken archive: {e}")))?;
    let mut out = BTreeMap::new();
    for member in archive.members() {
        let member = member.map_err(|e| failed(format!("a broken archive: {e}")))?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let content = if archive.is_thin() {
            // Such an archive only says where its members are.
            let beside = path.parent().unwrap_or(Path::new("")).join(&name);
            std::fs::read(&beside).map_err(|e| Failure(format!("{}: {}: {e}", path.display(), beside.display())))?
        } else {
            member.data(&*bytes).map_err(|e| failed(format!("{name}: a broken archive: {e}")))?.to_vec()
        };
        let mut unique = name.clone();
        let mut number = 1;
        while out.contains_key(&unique) {
            number += 1;
            unique = format!("{name}#{number}");
        }
        out.insert(unique, content);
    }
    Ok(out)
}

/// `archive.a(member.o)` in its two parts, unless there is a file of that name.
fn member_of(path: &Path) -> Option<(PathBuf, String)> {
    let (archive, rest) = path.to_str()?.split_once(".a(")?;
    let member = rest.strip_suffix(')')?;
    (!path.exists()).then(|| (PathBuf::from(format!("{archive}.a")), member.to_string()))
}

/// Is it an archive?
pub fn is_archive(path: &Path) -> bool {
    let start = beginning(path).unwrap_or_default();
    start.starts_with(b"!<arch>\n") || start.starts_with(b"!<thin>\n")
}

/// Is it an object file that is to be linked?
pub fn is_object(path: &Path) -> bool {
    beginning(path).is_some_and(|start| is_relocatable(&start))
}

/// Does it begin like an object file that is to be linked?
pub fn is_relocatable(start: &[u8]) -> bool {
    start.starts_with(b"\x7fELF") && start.get(16..18) == Some(&[1, 0])
}

/// Is it LLVM bitcode, by its beginning?
pub fn is_bitcode(start: &[u8]) -> bool {
    start.starts_with(b"BC\xc0\xde") || start.starts_with(b"\xde\xc0\x17\x0b")
}

/// The first bytes of a file.
pub fn beginning(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut start = Vec::new();
    std::fs::File::open(path).ok()?.take(512).read_to_end(&mut start).ok()?;
    Some(start)
}

/// What a file is that is no ELF file, and what to do; assembly is what its name says.
fn kind_of(path: &Path) -> Option<&'static str> {
    let assembly = path.extension().is_some_and(|e| e == "s" || e == "S");
    if assembly || !path.is_file() { None } else { kind(&beginning(path)?) }
}

/// What begins like this, if it is no ELF file.
pub fn kind(start: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (
            b"BC\xc0\xde",
            "LLVM bitcode, not machine code; compile without -flto and -emit-llvm, or run `llc -filetype=obj` on it",
        ),
        (b"\xde\xc0\x17\x0b", "LLVM bitcode in a wrapper, not machine code; compile without -flto and -emit-llvm"),
        (b"!<arch>\n", "an archive; compare two archives, or name a member: `lib.a(member.o)`"),
        (b"!<thin>\n", "a thin archive; compare two archives, or name a member: `lib.a(member.o)`"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O file of macOS; lockstep reads ELF files of x86-64"),
        (b"\xca\xfe\xba\xbe", "a universal binary of macOS, or Java bytecode; lockstep reads ELF files of x86-64"),
        (b"MZ", "a Windows executable; lockstep reads ELF files of x86-64"),
        (b"\x64\x86", "a COFF object of Windows; lockstep reads ELF files of x86-64"),
        (b"\x00asm", "WebAssembly; lockstep reads ELF files of x86-64"),
        (b"\x1f\x8b", "compressed by gzip; unpack it first"),
        (b"\xfd7zXZ", "compressed by xz; unpack it first"),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"CPCH", "a precompiled header of clang"),
        (b"gpch", "a precompiled header of gcc"),
    ];
    if start.starts_with(b"\x7fELF") {
        return None;
    }
    if start.is_empty() {
        return Some("an empty file");
    }
    if let Some((_, what)) = KINDS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some(what);
    }
    let text = |byte: &u8| (0x20..0x7f).contains(byte) || matches!(byte, b'\n' | b'\r' | b'\t') || *byte >= 0x80;
    if !start.iter().all(text)
        || std::str::from_utf8(&start[..start.len().min(500)]).is_err_and(|e| e.error_len().is_some())
    {
        return Some("not an ELF file, and nothing else that is known here");
    }
    let begins = |what: &str| String::from_utf8_lossy(start).trim_start().starts_with(what);
    Some(if begins("; ModuleID") || begins("source_filename") {
        "LLVM IR as text, not machine code; compile it with `llc -filetype=obj` or `clang -c`"
    } else if begins("--- |") || begins("---\n") {
        "text, perhaps LLVM Machine IR; that is recognised by names that end in .mir"
    } else if begins("{") {
        "JSON, not an object file; certificates go to `lockstep verify` and `lockstep show --certificate`"
    } else if begins("#!") {
        "a script, not an object file"
    } else {
        "text, not an object file; C kernels end in .c, assembly in .s, Machine IR in .mir"
    })
}

/// Why there is no answer about a function that could not be lifted.
pub fn unsupported(error: Error) -> Reason {
    match error {
        Error::Unsupported { gap, .. } => Reason::new(ReasonKind::Unsupported, gap.to_string()),
        other => Reason::new(ReasonKind::Unsupported, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_objects_are_named() {
        for (start, word) in [
            (&b"BC\xc0\xde\x35"[..], "bitcode"),
            (b"!<arch>\nlib", "archive"),
            (b"int main(void) { return 0; }\n", "text"),
            (b"; ModuleID = 'a.c'\n", "LLVM IR"),
            (b"{\"version\": 1}", "JSON"),
            (b"", "empty"),
            (b"\x00\x01\x02\x03", "not an ELF file"),
        ] {
            assert!(kind(start).is_some_and(|what| what.contains(word)), "{word}: {:?}", kind(start));
        }
        assert_eq!(kind(b"\x7fELF\x02\x01\x01"), None);
    }

    #[test]
    fn members_of_archives_have_names_with_brackets() {
        let parts = |text: &str| member_of(Path::new(text)).map(|(a, m)| (a.display().to_string(), m));
        assert_eq!(parts("lib/libx.a(y.o)"), Some(("lib/libx.a".to_string(), "y.o".to_string())));
        assert_eq!(parts("x.o"), None);
        assert_eq!(parts("libx.a"), None);
    }
}
