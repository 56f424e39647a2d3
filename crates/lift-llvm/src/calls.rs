//! Calls.

use crate::function::{Builder, attribute, in_brackets};
use crate::instruction::rest;
use crate::structures;
use crate::token::{Reader, Token};
use crate::types::Type;
use ir::{Callee, Inst};

/// Reads what follows the word `call`.
pub(crate) fn read(
    builder: &mut Builder<'_>,
    reader: &mut Reader<'_>,
    to: Option<&str>,
    code: &mut Vec<Inst>,
) -> Result<(), String> {
    reader.take_word("call");
    let result = loop {
        match reader.peek() {
            Some(Token::Word(word))
                if matches!(word.as_str(), "noundef" | "signext" | "zeroext" | "noalias" | "nonnull") =>
            {
                reader.next()?;
            }
            Some(Token::Word(word)) if word == "asm" => return Err("inline assembly".to_string()),
            _ => break Type::read(reader)?,
        }
    };
    // The type of a function with any number of arguments.
    if reader.is_mark('(') {
        reader.skip_brackets('(', ')')?;
    }
    let name = match reader.next()? {
        Token::Global(name) => name.clone(),
        Token::Word(word) if word == "asm" => return Err("inline assembly".to_string()),
        _ => return Err("a call through a pointer".to_string()),
    };
    let mut arguments = Vec::new();
    reader.expect('(')?;
    while !reader.take(')') {
        if matches!(reader.peek(), Some(Token::Word(w)) if w == "metadata") {
            return Err(format!("a call of `{name}`"));
        }
        let kind = Type::read(reader)?.kind()?;
        let mut copied = None;
        while let Some(Token::Word(word)) = reader.peek() {
            if !is_attribute(word) {
                break;
            }
            reader.next()?;
            if word == "byval" {
                copied = Some(in_brackets(reader)?);
            } else {
                attribute(word, reader)?;
            }
        }
        let argument = builder.operand(reader, kind)?;
        arguments.push(match copied {
            None => argument,
            // The callee gets a copy.
            Some(ty) => structures::copy(builder, &ty, argument, code)?,
        });
        reader.take(',');
    }
    rest(reader)?;
    let to = match (result, to) {
        (Type::Void, None) => None,
        (ty, to) => {
            let kind = ty.register()?;
            Some(match to {
                Some(to) => builder.defined(to, kind)?,
                None => builder.unnamed(kind),
            })
        }
    };
    code.push(match name.as_str() {
        "llvm.ubsantrap" | "llvm.trap" => Inst::Trap,
        "llvm.lifetime.start.p0" | "llvm.lifetime.end.p0" => Inst::ForgetAt { at: last(&arguments)? },
        "llvm.stacksave.p0" => Inst::Save { to: to.ok_or("a place that is kept nowhere")? },
        "llvm.stackrestore.p0" => Inst::Restore { from: last(&arguments)? },
        _ => {
            let callee = match builder.functions.get(&name) {
                Some(number) => Callee::Own(*number),
                None => Callee::Named(name),
            };
            Inst::Call { to, callee, arguments }
        }
    });
    Ok(())
}

fn last(arguments: &[u32]) -> Result<u32, String> {
    arguments.last().copied().ok_or_else(|| "a call without arguments".to_string())
}

fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "noundef"
            | "signext"
            | "zeroext"
            | "noalias"
            | "nocapture"
            | "readonly"
            | "readnone"
            | "writeonly"
            | "nonnull"
            | "returned"
            | "immarg"
            | "nofree"
            | "align"
            | "dereferenceable"
            | "dereferenceable_or_null"
            | "byval"
            | "sret"
            | "writable"
            | "dead_on_unwind"
            | "inalloca"
            | "preallocated"
            | "nest"
            | "swiftself"
            | "swifterror"
            | "range"
            | "captures"
    )
}
