//! Global variables: `@name = internal global [3 x double] …`.

use crate::constants::Scope;
use crate::token::{Reader, Token};
use crate::types::Type;
use ir::{Global, Linkage, Start};

/// Reads the line of a global after its `=`. What is not handled makes a global that nobody may use.
pub(crate) fn read(name: &str, reader: &mut Reader<'_>, scope: &Scope<'_>) -> Result<Global, String> {
    let mut linkage = Linkage::Exported;
    let constant = loop {
        match reader.word()? {
            "private" | "internal" => linkage = Linkage::Internal,
            "external" => linkage = Linkage::Declared,
            "dso_local" | "unnamed_addr" | "local_unnamed_addr" | "dso_preemptable" | "default" | "hidden" => {}
            // One of several definitions is taken, and they are the same by the language's rule.
            "common" => {}
            "constant" => break true,
            "global" => break false,
            other => return Err(format!("the variable `{name}`, which is `{other}`")),
        }
    };
    let ty = Type::read(reader)?;
    let (bytes, _) = ty.layout(scope.names)?;
    let start = match reader.peek() {
        Some(Token::Mark(',')) | None => Start::Unknown,
        _ => {
            let mut cells = Vec::new();
            scope.cells(reader, &ty, 0, &mut cells)?;
            Start::Cells(cells)
        }
    };
    if linkage == Linkage::Declared && start != Start::Unknown {
        linkage = Linkage::Exported;
    }
    while reader.take(',') {
        match reader.peek() {
            Some(Token::Word(word)) if word == "align" => {
                reader.next()?;
                reader.next()?;
            }
            Some(Token::Meta(_)) => {
                reader.next()?;
                reader.next()?;
            }
            other => return Err(format!("the variable `{name}`, with {other:?}")),
        }
    }
    let (hash, mentions) = (String::new(), Vec::new());
    Ok(Global { name: name.to_string(), bytes, grain: ty.grain(scope.names), linkage, constant, start, hash, mentions })
}
