//! Hashes of source files in line tables.

use super::sections::Reader;
use program::SourceText;

/// The source text of a unit, if its line table identifies it: from version 5 on, with a hash for every file, the first of
/// which is the main one.
pub(crate) fn source_text(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
) -> gimli::Result<Option<SourceText>> {
    let Some(program) = &unit.line_program else { return Ok(None) };
    let header = program.header();
    if header.version() < 5 || !header.file_has_md5() {
        return Ok(None);
    }
    let mut files = Vec::with_capacity(header.file_names().len());
    for file in header.file_names() {
        // Text that no file holds, or that was never hashed.
        if *file.md5() == [0; 16] {
            return Ok(None);
        }
        let name = dwarf.attr_string(unit, file.path_name())?.to_string_lossy().into_owned();
        let directory = match file.directory(header).filter(|_| !name.starts_with('/')) {
            Some(directory) => dwarf.attr_string(unit, directory)?.to_string_lossy().into_owned() + "/",
            None => String::new(),
        };
        files.push((directory + &name, *file.md5()));
    }
    let main = files.first().map(|(path, _)| path.clone());
    Ok(main.and_then(|main| SourceText::new(main, files)))
}
