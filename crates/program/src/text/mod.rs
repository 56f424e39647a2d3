//! The text form of functions: what `lockstep show` prints, read back (docs/program-text.md is its grammar).
//!
//! Each part of a function has one module that prints it and reads it: [`points`], [`objects`], [`signatures`], [`contracts`],
//! [`facts`]. Terms are in the text form of `term`. What has its usual value is not printed, so that a fixture is as short as
//! what it is about. Left out are the hash of the code, the code itself, digests of files and of the source, and what a contract
//! rests on: nothing is executed by them.
//!
//! If this is wrong, a fixture means something else than it says; no verdict rests on it.

mod contracts;
mod facts;
mod objects;
mod points;
mod signatures;

use crate::{Function, Object, Register};
use term::{Arena, Form, TermReader, TextError, Token, Tokens, quoted};

type Read<T> = Result<T, TextError>;

/// A function as text; [`read_function`] reads it.
pub fn write_function(arena: &Arena, function: &Function) -> String {
    let mut out = quoted(&function.name).into_owned();
    if let Some(signature) = &function.signature {
        out.push_str(&signatures::write(signature));
    }
    out.push('\n');
    for line in facts::write(function) {
        out.push_str(&format!("  {line}\n"));
    }
    for line in contracts::write(arena, function) {
        out.push_str(&format!("  {line}\n"));
    }
    // By name: another arena numbers its variables in another order.
    let mut objects: Vec<&Object> = function.objects.values().collect();
    objects.sort_by_key(|object| arena.var_name(object.var));
    for object in objects {
        out.push_str(&format!("  {}\n", objects::write(arena, object)));
    }
    out.push_str(&points::write(arena, function));
    out
}

/// Reads one function. The arena must be empty or have the registers ([`Register::declare`]).
pub fn read_function(arena: &mut Arena, text: &str, form: Form) -> Read<Function> {
    let mut tokens = Tokens::new(text)?;
    let function = next_function(arena, &mut tokens, form)?;
    tokens.skip_newlines();
    if *tokens.peek() == Token::End { Ok(function) } else { Err(tokens.error("a second function")) }
}

/// Reads functions one after another. Each begins where the first one does on its line, what belongs to it is indented.
pub fn read_functions(arena: &mut Arena, text: &str, form: Form) -> Read<Vec<Function>> {
    let mut tokens = Tokens::new(text)?;
    let mut functions = Vec::new();
    tokens.skip_newlines();
    while *tokens.peek() != Token::End {
        functions.push(next_function(arena, &mut tokens, form)?);
        tokens.skip_newlines();
    }
    Ok(functions)
}

fn next_function(arena: &mut Arena, tokens: &mut Tokens, form: Form) -> Read<Function> {
    Register::declare(arena);
    tokens.skip_newlines();
    let (_, margin) = tokens.spot();
    let mut function = Function { name: tokens.name()?, ..Function::default() };
    if matches!(tokens.peek(), Token::Sign("(")) {
        function.signature = Some(signatures::read(tokens)?);
    }
    tokens.end_of_line()?;
    let mut points = points::Reader::default();
    let inside = |tokens: &Tokens| *tokens.peek() != Token::End && tokens.spot().1 > margin;
    let mut reader = TermReader::new(arena, form);
    while inside(tokens) {
        if points::is_point(tokens) {
            points.point(&mut reader, tokens, &mut function, margin)?;
        } else if !function.points.is_empty() {
            return Err(tokens.error("a point expected: what is known of a function stands before its points"));
        } else {
            fact(&mut reader, tokens, &mut function)?;
        }
    }
    points.finish(&mut function, tokens)?;
    Ok(function)
}

/// One line before the points.
fn fact(reader: &mut TermReader, tokens: &mut Tokens, function: &mut Function) -> Read<()> {
    if tokens.eat_word("object") {
        objects::read(reader, tokens, function)?;
    } else if !contracts::read(tokens, function)? && !facts::read(tokens, function)? {
        return Err(tokens.error("neither a point nor anything known of a function"));
    }
    tokens.end_of_line()
}

/// Reads items with commas between them.
fn list<T>(tokens: &mut Tokens, mut item: impl FnMut(&mut Tokens) -> Read<T>) -> Read<Vec<T>> {
    let mut out = vec![item(tokens)?];
    while tokens.eat(",") {
        out.push(item(tokens)?);
    }
    Ok(out)
}

/// Items with commas between them, after some words; nothing if there are none.
fn listed<T>(words: &str, items: impl IntoIterator<Item = T>, item: impl Fn(T) -> String) -> Option<String> {
    let items: Vec<String> = items.into_iter().map(item).collect();
    (!items.is_empty()).then(|| format!("{words} {}", items.join(", ")))
}

/// Bytes and bit widths after a number: `1 byte`, `2 bytes`.
fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".to_string() } else { format!("{n} bytes") }
}

/// A distance with its sign: `+0x8`, `-0x10`.
fn signed(offset: i64) -> String {
    format!("{}{:#x}", if offset < 0 { '-' } else { '+' }, offset.unsigned_abs())
}

fn address(at: u64) -> String {
    format!("+{at:#x}")
}

/// Reads `+0x10`.
fn read_address(tokens: &mut Tokens) -> Read<u64> {
    tokens.expect("+")?;
    tokens.number()
}

/// A register by its name.
fn read_register(tokens: &mut Tokens) -> Read<Register> {
    let error = tokens.error("a register expected");
    let name = tokens.name()?;
    Register::all().find(|register| register.name() == name).ok_or(error)
}

/// A text in quotation marks.
fn read_text(tokens: &mut Tokens) -> Read<Vec<u8>> {
    let Token::Text(text) = tokens.peek().clone() else {
        return Err(tokens.error("a text in quotation marks expected"));
    };
    tokens.take();
    Ok(text)
}

/// The same, of characters.
fn read_string(tokens: &mut Tokens) -> Read<String> {
    let error = tokens.error("not a text of characters");
    String::from_utf8(read_text(tokens)?).map_err(|_| error)
}
