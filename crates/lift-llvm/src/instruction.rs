//! Instructions.

use crate::function::Builder;
use crate::token::{Reader, Token};
use crate::types::Type;
use ir::{Comparison, Conversion, Edge, End, Inst, IntOp, Kind, Known};
use updates::Op;

/// The end of a block, if the line is one.
pub(crate) fn end(builder: &mut Builder<'_>, reader: &mut Reader<'_>) -> Result<Option<End>, String> {
    let Some(Token::Word(word)) = reader.peek() else { return Ok(None) };
    let made = match word.as_str() {
        "br" => {
            reader.next()?;
            if reader.is_word("label") {
                End::Jump(builder.label(reader)?)
            } else {
                let kind = Type::read(reader)?.kind()?;
                let cond = builder.operand(reader, kind)?;
                reader.expect(',')?;
                let yes = builder.label(reader)?;
                reader.expect(',')?;
                let no = builder.label(reader)?;
                if kind != Kind::Int(1) {
                    return Err("a condition that is no truth value".to_string());
                }
                End::Branch(cond, Box::new([yes, no]))
            }
        }
        "switch" => {
            reader.next()?;
            let kind = Type::read(reader)?.kind()?;
            let on = builder.operand(reader, kind)?;
            reader.expect(',')?;
            let other = builder.label(reader)?;
            reader.expect('[')?;
            let (mut cases, mut edges): (Vec<u64>, Vec<Edge>) = (Vec::new(), Vec::new());
            while !reader.take(']') {
                let of = Type::read(reader)?.kind()?;
                let Known::Bits(case) = builder.scope.scalar(reader, of)? else {
                    return Err("a case that is no number".to_string());
                };
                reader.expect(',')?;
                if of != kind || cases.contains(&case) {
                    return Err("a case of another type, or twice".to_string());
                }
                cases.push(case);
                edges.push(builder.label(reader)?);
            }
            edges.push(other);
            End::Switch(on, cases, edges)
        }
        "ret" => {
            reader.next()?;
            match Type::read(reader)? {
                Type::Void => End::Return(None),
                ty => {
                    let kind = ty.register()?;
                    End::Return(Some(builder.operand(reader, kind)?))
                }
            }
        }
        "unreachable" => {
            reader.next()?;
            End::Unreachable
        }
        _ => return Ok(None),
    };
    rest(reader)?;
    Ok(Some(made))
}

/// Nothing but metadata may follow.
pub(crate) fn rest(reader: &mut Reader<'_>) -> Result<(), String> {
    while !reader.is_done() {
        match reader.next()? {
            Token::Mark(',') | Token::Meta(_) | Token::Attributes => {}
            other => return Err(format!("{other:?} at the end")),
        }
    }
    Ok(())
}

/// Is the value said to be zero or one? What else stands at the end is alignment and metadata.
pub(crate) fn access_rest(builder: &Builder<'_>, reader: &mut Reader<'_>) -> Result<bool, String> {
    let mut truth = false;
    while !reader.is_done() {
        reader.expect(',')?;
        match reader.next()? {
            Token::Word(word) if word == "align" => {
                reader.next()?;
            }
            Token::Meta(kind) => match reader.next()? {
                Token::Meta(number) => truth |= kind == "range" && builder.truths.contains(number),
                other => return Err(format!("metadata {other:?}")),
            },
            other => return Err(format!("{other:?} at the end of an access")),
        }
    }
    Ok(truth)
}

/// Reads an instruction that does not end its block.
pub(crate) fn read(builder: &mut Builder<'_>, list: &[Token], code: &mut Vec<Inst>) -> Result<(), String> {
    let (to, rest_of) = match (list.first(), list.get(1)) {
        (Some(Token::Local(name)), Some(Token::Mark('='))) => (Some(name.as_str()), &list[2..]),
        _ => (None, list),
    };
    let mut reader = Reader::new(rest_of);
    let word = reader.word()?;
    let made = match (word, to) {
        ("call" | "tail" | "notail", _) => return crate::calls::read(builder, &mut reader, to, code),
        ("store" | "load" | "extractvalue" | "insertvalue", _)
            if crate::structures::read(builder, word, to, rest_of, code)? =>
        {
            return Ok(());
        }
        ("store", None) => store(builder, &mut reader)?,
        (_, Some(to)) => valued(builder, word, to, &mut reader)?,
        _ => return Err(format!("the instruction `{word}`")),
    };
    code.push(made);
    Ok(())
}

fn store(builder: &mut Builder<'_>, reader: &mut Reader<'_>) -> Result<Inst, String> {
    if reader.is_word("volatile") || reader.is_word("atomic") {
        return Err("a volatile or atomic access".to_string());
    }
    let kind = memory_kind(reader)?;
    let from = builder.operand(reader, kind)?;
    reader.expect(',')?;
    let at = pointer(builder, reader)?;
    access_rest(builder, reader)?;
    Ok(Inst::Store { at, from, kind })
}

pub(crate) fn pointer(builder: &mut Builder<'_>, reader: &mut Reader<'_>) -> Result<u32, String> {
    match Type::read(reader)?.kind()? {
        Kind::Pointer => builder.operand(reader, Kind::Pointer),
        _ => Err("an address that is none".to_string()),
    }
}

/// A type that memory holds; `i1` has no place there.
fn memory_kind(reader: &mut Reader<'_>) -> Result<Kind, String> {
    match Type::read(reader)?.kind()? {
        Kind::Int(1) => Err("a bit in memory".to_string()),
        kind => Ok(kind),
    }
}

fn valued(builder: &mut Builder<'_>, word: &str, to: &str, reader: &mut Reader<'_>) -> Result<Inst, String> {
    if let Some(op) = integer_op(word) {
        return integer(builder, op, to, reader);
    }
    if let Some(how) = conversion(word) {
        return convert(builder, how, to, reader);
    }
    let made = match word {
        "load" => {
            if reader.is_word("volatile") || reader.is_word("atomic") {
                return Err("a volatile or atomic access".to_string());
            }
            let kind = memory_kind(reader)?;
            reader.expect(',')?;
            let at = pointer(builder, reader)?;
            let truth = access_rest(builder, reader)? && kind == Kind::Int(8);
            Inst::Load { to: builder.defined(to, kind)?, at, kind, truth }
        }
        "alloca" => alloca(builder, to, reader)?,
        "getelementptr" => address(builder, to, reader)?,
        "fadd" | "fsub" | "fmul" | "fdiv" => {
            // Flags that let numbers be computed otherwise are words, not types.
            let kind = Type::read(reader)?.kind()?;
            let (a, b) = two(builder, kind, reader)?;
            let op = match word {
                "fadd" => Op::Add,
                "fsub" => Op::Sub,
                "fmul" => Op::Mul,
                _ => Op::Div,
            };
            if !matches!(kind, Kind::Float | Kind::Double) {
                return Err("a floating-point operation on something else".to_string());
            }
            Inst::Float { to: builder.defined(to, kind)?, op, kind, a, b }
        }
        "fneg" => {
            let kind = Type::read(reader)?.kind()?;
            let a = builder.operand(reader, kind)?;
            Inst::Negate { to: builder.defined(to, kind)?, kind, a }
        }
        "icmp" | "fcmp" => compare(builder, to, reader)?,
        "select" => {
            if Type::read(reader)?.kind()? != Kind::Int(1) {
                return Err("a choice by something that is no truth value".to_string());
            }
            let cond = builder.operand(reader, Kind::Int(1))?;
            reader.expect(',')?;
            let kind = Type::read(reader)?.kind()?;
            let a = builder.operand(reader, kind)?;
            reader.expect(',')?;
            if Type::read(reader)?.kind()? != kind {
                return Err("a choice of two types".to_string());
            }
            let b = builder.operand(reader, kind)?;
            Inst::Select { to: builder.defined(to, kind)?, kind, cond, a, b }
        }
        other => return Err(format!("the instruction `{other}`")),
    };
    rest(reader)?;
    Ok(made)
}

fn two(builder: &mut Builder<'_>, kind: Kind, reader: &mut Reader<'_>) -> Result<(u32, u32), String> {
    let a = builder.operand(reader, kind)?;
    reader.expect(',')?;
    Ok((a, builder.operand(reader, kind)?))
}

fn integer_op(word: &str) -> Option<IntOp> {
    Some(match word {
        "add" => IntOp::Add,
        "sub" => IntOp::Sub,
        "mul" => IntOp::Mul,
        "sdiv" => IntOp::SignedDiv,
        "udiv" => IntOp::UnsignedDiv,
        "srem" => IntOp::SignedRem,
        "urem" => IntOp::UnsignedRem,
        "shl" => IntOp::ShiftLeft,
        "ashr" => IntOp::ArithmeticShift,
        "lshr" => IntOp::LogicalShift,
        "and" => IntOp::And,
        "or" => IntOp::Or,
        "xor" => IntOp::Xor,
        _ => return None,
    })
}

fn integer(builder: &mut Builder<'_>, op: IntOp, to: &str, reader: &mut Reader<'_>) -> Result<Inst, String> {
    let mut exact = false;
    loop {
        match reader.peek() {
            Some(Token::Word(flag)) if flag == "nsw" => exact = true,
            // Sizes of arrays, and differences of addresses.
            Some(Token::Word(flag)) if flag == "nuw" || flag == "exact" => {}
            _ => break,
        }
        reader.next()?;
    }
    if exact && !matches!(op, IntOp::Add | IntOp::Sub | IntOp::Mul) {
        return Err("a flag of an operation".to_string());
    }
    let Kind::Int(bits) = Type::read(reader)?.kind()? else { return Err("integers that are none".to_string()) };
    let (a, b) = two(builder, Kind::Int(bits), reader)?;
    rest(reader)?;
    Ok(Inst::Integer { to: builder.defined(to, Kind::Int(bits))?, op, bits, exact, a, b })
}

fn conversion(word: &str) -> Option<Conversion> {
    Some(match word {
        "sext" => Conversion::SignExtend,
        "zext" => Conversion::ZeroExtend,
        "trunc" => Conversion::Truncate,
        "fpext" | "fptrunc" => Conversion::FloatToFloat,
        "sitofp" => Conversion::SignedToFloat,
        "uitofp" => Conversion::UnsignedToFloat,
        "fptosi" => Conversion::FloatToSigned,
        "fptoui" => Conversion::FloatToUnsigned,
        "ptrtoint" => Conversion::Address,
        _ => return None,
    })
}

fn convert(builder: &mut Builder<'_>, how: Conversion, to: &str, reader: &mut Reader<'_>) -> Result<Inst, String> {
    let from = Type::read(reader)?.kind()?;
    let a = builder.operand(reader, from)?;
    if !reader.take_word("to") {
        return Err("a conversion to nothing".to_string());
    }
    let into = Type::read(reader)?.kind()?;
    rest(reader)?;
    let is_int = |kind| matches!(kind, Kind::Int(_));
    let is_float = |kind| matches!(kind, Kind::Float | Kind::Double);
    use Conversion::*;
    let fits = match how {
        SignExtend | ZeroExtend => is_int(from) && is_int(into) && from.bits() < into.bits(),
        Truncate => is_int(from) && is_int(into) && from.bits() > into.bits(),
        FloatToFloat => is_float(from) && is_float(into),
        SignedToFloat | UnsignedToFloat => is_int(from) && is_float(into),
        FloatToSigned | FloatToUnsigned => is_float(from) && is_int(into),
        Address => from == Kind::Pointer && into == Kind::Int(64),
    };
    if !fits {
        return Err("a conversion between other types".to_string());
    }
    Ok(Inst::Convert { to: builder.defined(to, into)?, how, from, into, a })
}

fn compare(builder: &mut Builder<'_>, to: &str, reader: &mut Reader<'_>) -> Result<Inst, String> {
    use Comparison::*;
    let word = reader.word()?;
    let (how, swapped) = match word {
        "eq" | "oeq" => (Equal, false),
        "ne" | "une" => (NotEqual, false),
        "slt" => (SignedLess, false),
        "sle" => (SignedLessEqual, false),
        "sgt" => (SignedLess, true),
        "sge" => (SignedLessEqual, true),
        "ult" => (UnsignedLess, false),
        "ule" => (UnsignedLessEqual, false),
        "ugt" => (UnsignedLess, true),
        "uge" => (UnsignedLessEqual, true),
        "olt" => (Less, false),
        "ole" => (LessEqual, false),
        "ogt" => (Less, true),
        "oge" => (LessEqual, true),
        "uno" => (Unordered, false),
        other => return Err(format!("the comparison `{other}`")),
    };
    let kind = Type::read(reader)?.kind()?;
    let is_float = matches!(kind, Kind::Float | Kind::Double);
    // `ult` of floating-point numbers is another comparison.
    let of_floats = matches!(word, "oeq" | "une" | "olt" | "ole" | "ogt" | "oge" | "uno");
    if is_float != of_floats {
        return Err(format!("the comparison `{word}`"));
    }
    let (a, b) = two(builder, kind, reader)?;
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    rest(reader)?;
    Ok(Inst::Compare { to: builder.defined(to, Kind::Int(1))?, how, kind, a, b })
}

fn alloca(builder: &mut Builder<'_>, to: &str, reader: &mut Reader<'_>) -> Result<Inst, String> {
    let ty = Type::read(reader)?;
    let names = builder.scope.names;
    let (bytes, grain) = (ty.layout(names)?.0, ty.grain(names));
    let mut count = None;
    while reader.take(',') {
        if reader.take_word("align") {
            reader.next()?;
        } else if matches!(reader.peek(), Some(Token::Meta(_))) {
            reader.next()?;
            reader.next()?;
        } else {
            let Kind::Int(64) = Type::read(reader)?.kind()? else {
                return Err("a number of elements of another width".to_string());
            };
            count = Some(builder.operand(reader, Kind::Int(64))?);
        }
    }
    Ok(Inst::Reserve { to: builder.defined(to, Kind::Pointer)?, bytes, count, grain, lasting: false })
}

fn address(builder: &mut Builder<'_>, to: &str, reader: &mut Reader<'_>) -> Result<Inst, String> {
    while matches!(reader.peek(), Some(Token::Word(w)) if matches!(w.as_str(), "inbounds" | "nuw" | "nusw")) {
        reader.next()?;
    }
    let mut ty = Type::read(reader)?;
    reader.expect(',')?;
    let base = pointer(builder, reader)?;
    let (mut offset, mut terms, mut first) = (0i64, Vec::new(), true);
    let names = builder.scope.names;
    while reader.take(',') {
        if matches!(reader.peek(), Some(Token::Meta(_))) {
            reader.next()?;
            reader.next()?;
            continue;
        }
        let Kind::Int(bits) = Type::read(reader)?.kind()? else { return Err("an index that is none".to_string()) };
        let is_field = !first && matches!(ty.resolved(names)?, Type::Struct { .. });
        let (scale, next) = if first {
            (ty.layout(names)?.0, ty.clone())
        } else if is_field {
            let Known::Bits(field) = builder.scope.scalar(reader, Kind::Int(bits))? else {
                return Err("an unknown field".to_string());
            };
            let (at, part) = ty.part(field, names)?;
            offset = offset.checked_add(at as i64).ok_or("too large an address")?;
            ty = part.clone();
            continue;
        } else {
            let (size, part) = ty.part(1, names)?;
            (size, part.clone())
        };
        let scale = i64::try_from(scale).map_err(|_| "too large a type")?;
        if matches!(reader.peek(), Some(Token::Local(_))) {
            terms.push((builder.operand(reader, Kind::Int(bits))?, bits, scale));
        } else {
            let Known::Bits(index) = builder.scope.scalar(reader, Kind::Int(bits))? else {
                return Err("an unknown index".to_string());
            };
            let shift = 64 - u32::from(bits);
            let index = ((index << shift) as i64) >> shift;
            offset = index.checked_mul(scale).and_then(|s| offset.checked_add(s)).ok_or("too large an address")?;
        }
        (ty, first) = (next, false);
    }
    Ok(Inst::Address { to: builder.defined(to, Kind::Pointer)?, base, offset, terms })
}
