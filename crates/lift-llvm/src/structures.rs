//! Structures as values: what a function returns in registers, say.
//!
//! A register for such a value holds the address of a copy that was made when the value was, and that nobody changes.

use crate::function::Builder;
use crate::instruction::{access_rest, pointer};
use crate::token::{Reader, Token};
use crate::types::Type;
use ir::{Callee, Inst, Kind, Known};

/// Copies memory.
const COPY: &str = "llvm.memcpy.p0.p0.i64";

fn reserve(builder: &mut Builder<'_>, ty: &Type, to: u32, code: &mut Vec<Inst>) -> Result<u64, String> {
    let (bytes, _) = ty.layout(builder.scope.names)?;
    let grain = ty.grain(builder.scope.names);
    code.push(Inst::Reserve { to, bytes, count: None, grain, lasting: true });
    Ok(bytes)
}

fn transfer(builder: &mut Builder<'_>, to: u32, from: u32, bytes: u64, code: &mut Vec<Inst>) {
    let count = builder.constant(Known::Bits(bytes), Kind::Int(64));
    let callee = Callee::Named(COPY.to_string());
    code.push(Inst::Call { to: None, callee, arguments: vec![to, from, count] });
}

/// The address of a copy.
pub(crate) fn copy(builder: &mut Builder<'_>, ty: &Type, from: u32, code: &mut Vec<Inst>) -> Result<u32, String> {
    let to = builder.unnamed(Kind::Pointer);
    let bytes = reserve(builder, ty, to, code)?;
    transfer(builder, to, from, bytes, code);
    Ok(to)
}

/// Reads an instruction if it is about a structure.
pub(crate) fn read(
    builder: &mut Builder<'_>,
    word: &str,
    to: Option<&str>,
    list: &[Token],
    code: &mut Vec<Inst>,
) -> Result<bool, String> {
    let mut reader = Reader::new(list);
    reader.next()?;
    if reader.is_word("volatile") || reader.is_word("atomic") {
        return Ok(false);
    }
    let ty = Type::read(&mut reader)?;
    if !ty.is_structure() {
        return Ok(false);
    }
    match (word, to) {
        ("load", Some(to)) => {
            reader.expect(',')?;
            let from = pointer(builder, &mut reader)?;
            access_rest(builder, &mut reader)?;
            let to = builder.defined(to, Kind::Pointer)?;
            let bytes = reserve(builder, &ty, to, code)?;
            transfer(builder, to, from, bytes, code);
        }
        ("store", None) => {
            let from = builder.operand(&mut reader, Kind::Pointer)?;
            reader.expect(',')?;
            let at = pointer(builder, &mut reader)?;
            access_rest(builder, &mut reader)?;
            let (bytes, _) = ty.layout(builder.scope.names)?;
            transfer(builder, at, from, bytes, code);
        }
        ("extractvalue", Some(to)) => {
            let base = builder.operand(&mut reader, Kind::Pointer)?;
            let (offset, kind) = part(builder, &ty, &mut reader)?;
            let at = builder.unnamed(Kind::Pointer);
            code.push(Inst::Address { to: at, base, offset, terms: Vec::new() });
            code.push(Inst::Load { to: builder.defined(to, kind)?, at, kind, truth: false });
        }
        ("insertvalue", Some(to)) => {
            let fresh = reader.take_word("poison") || reader.take_word("undef");
            let base = if fresh { None } else { Some(builder.operand(&mut reader, Kind::Pointer)?) };
            reader.expect(',')?;
            let of = Type::read(&mut reader)?.kind()?;
            let from = builder.operand(&mut reader, of)?;
            let (offset, kind) = part(builder, &ty, &mut reader)?;
            if kind != of {
                return Err("a part of another type".to_string());
            }
            let to = builder.defined(to, Kind::Pointer)?;
            let bytes = reserve(builder, &ty, to, code)?;
            if let Some(base) = base {
                transfer(builder, to, base, bytes, code);
            }
            let at = builder.unnamed(Kind::Pointer);
            code.push(Inst::Address { to: at, base: to, offset, terms: Vec::new() });
            code.push(Inst::Store { at, from, kind });
        }
        _ => return Err(format!("the instruction `{word}` on a structure")),
    }
    Ok(true)
}

/// `, 1`: where the part starts, and what it is.
fn part(builder: &Builder<'_>, ty: &Type, reader: &mut Reader<'_>) -> Result<(i64, Kind), String> {
    reader.expect(',')?;
    let index = reader.word()?.parse().map_err(|_| "a part without a number".to_string())?;
    if !reader.is_done() {
        return Err("a part of a part".to_string());
    }
    let (offset, part) = ty.part(index, builder.scope.names)?;
    Ok((offset as i64, part.kind()?))
}
