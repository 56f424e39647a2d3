//! Signatures: `(rdi:8, rsi:4 bool, stack+8:8, …) → rax:8`.

use super::{Read, bytes, read_register, read_string};
use crate::{Narrow, Place, Signature, Value};
use term::{Token, Tokens, quoted_text};

pub(super) fn write(signature: &Signature) -> String {
    let list = |values: &[Value]| values.iter().map(value).collect::<Vec<_>>().join(", ");
    let mut out = format!("({}", list(&signature.arguments));
    if signature.variadic {
        out.push_str(if signature.arguments.is_empty() { "…" } else { ", …" });
    }
    out.push(')');
    if signature.noreturn {
        out.push_str(" never returns");
    }
    if !signature.results.is_empty() {
        out.push_str(&format!(" → {}", list(&signature.results)));
    }
    if let Some(what) = &signature.unsupported {
        out.push_str(&format!(", unsupported {}", quoted_text(what.as_bytes())));
    }
    out
}

pub(super) fn value(value: &Value) -> String {
    let place = match value.place {
        Place::Register(register) => register.name(),
        Place::Stack(offset) => format!("stack+{offset}"),
    };
    let mut out = format!("{place}:{}", value.bytes);
    if value.boolean {
        out.push_str(" bool");
    }
    if let Some(narrow) = value.narrow {
        let sign = if narrow.signed { "signed" } else { "unsigned" };
        out.push_str(&format!(" from {sign} {}", bytes(narrow.bytes.into())));
    }
    out
}

pub(super) fn read(tokens: &mut Tokens) -> Read<Signature> {
    let mut out = Signature::default();
    tokens.expect("(")?;
    while !tokens.eat(")") {
        if !out.arguments.is_empty() {
            tokens.expect(",")?;
        }
        if tokens.eat("…") {
            out.variadic = true;
            tokens.expect(")")?;
            break;
        }
        out.arguments.push(read_value(tokens)?);
    }
    out.noreturn = tokens.eat_words("never returns");
    if tokens.eat("→") {
        out.results.push(read_value(tokens)?);
    }
    while *tokens.peek() == Token::Sign(",") {
        match tokens.peek_second() {
            Token::Name(word) if word == "unsupported" => {
                tokens.take();
                tokens.take();
                out.unsupported = Some(read_string(tokens)?);
            }
            // What else is said of the signature is not the signature's.
            Token::Name(word) if word == "adopted" => break,
            _ if out.results.is_empty() => break,
            _ => {
                tokens.take();
                out.results.push(read_value(tokens)?);
            }
        }
    }
    Ok(out)
}

pub(super) fn read_value(tokens: &mut Tokens) -> Read<Value> {
    let place = if tokens.eat_word("stack") {
        tokens.expect("+")?;
        Place::Stack(tokens.small()?)
    } else {
        Place::Register(read_register(tokens)?)
    };
    tokens.expect(":")?;
    let mut out = Value { place, bytes: tokens.small()?, boolean: tokens.eat_word("bool"), narrow: None };
    if tokens.eat_word("from") {
        let signed = tokens.eat_word("signed");
        if !signed && !tokens.eat_word("unsigned") {
            return Err(tokens.error("`signed` or `unsigned` expected"));
        }
        out.narrow = Some(Narrow { bytes: read_bytes(tokens)?, signed });
    }
    Ok(out)
}

/// A number of bytes, with or without the word.
pub(super) fn read_bytes<N: TryFrom<u64>>(tokens: &mut Tokens) -> Read<N> {
    let number = tokens.small()?;
    if !tokens.eat_word("byte") {
        tokens.eat_word("bytes");
    }
    Ok(number)
}
