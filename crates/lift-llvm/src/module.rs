//! A whole file.

use crate::constants::Scope;
use crate::function::{Text, name_of};
use crate::promote::{end_operands, operands};
use crate::token::{Reader, Token, tokens};
use crate::types::{Names, Type};
use crate::{function, globals};
use ir::{Callee, End, Function, Global, Inst, Known, Linkage, Module, Start};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

/// The layout that all sizes and offsets are read for: little-endian, addresses of 64 bits, natural alignment.
const LAYOUT: &str = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
const TRIPLE: &str = "x86_64-";

/// The text of a file, cut into its parts.
#[derive(Default)]
struct Parts<'a> {
    types: Vec<&'a str>,
    globals: Vec<&'a str>,
    functions: Vec<Text<'a>>,
    /// Metadata `!{i8 0, i8 2}`.
    truths: FxHashSet<String>,
}

fn parts(text: &str) -> Result<Parts<'_>, String> {
    let mut parts = Parts::default();
    let mut open: Option<Text<'_>> = None;
    let (mut layout, mut triple) = (false, false);
    for line in text.lines() {
        if let Some(function) = &mut open {
            if line == "}" {
                parts.functions.extend(open.take());
            } else {
                function.body.push(line);
            }
            continue;
        }
        if let Some(rest) = line.strip_prefix("target datalayout = \"") {
            layout = rest.strip_suffix('"') == Some(LAYOUT);
        } else if let Some(rest) = line.strip_prefix("target triple = \"") {
            triple = rest.starts_with(TRIPLE) && rest.contains("linux");
        } else if line.starts_with("define ") {
            open = Some(Text { header: line, body: Vec::new() });
        } else if line.starts_with('@') {
            parts.globals.push(line);
        } else if line.starts_with('%') {
            parts.types.push(line);
        } else if let Some((name, rest)) = line.strip_prefix('!').and_then(|l| l.split_once(" = ")) {
            if rest == "!{i8 0, i8 2}" {
                parts.truths.insert(name.to_string());
            }
        } else if line.starts_with("module asm") {
            return Err("assembly beside the functions".to_string());
        }
    }
    if !layout || !triple {
        return Err("another machine than x86-64, or another layout than this reader knows".to_string());
    }
    Ok(parts)
}

/// Identity of a function's text, without metadata and numbers of attributes, and with the types that it names.
fn hash(text: &Text<'_>, types: &FxHashMap<String, Vec<Token>>) -> Result<String, String> {
    let mut list = Vec::new();
    for line in std::iter::once(&text.header).chain(&text.body) {
        list.extend(tokens(line)?);
    }
    Ok(identity(&list, types))
}

fn identity(list: &[Token], types: &FxHashMap<String, Vec<Token>>) -> String {
    let mut hasher = Sha256::new();
    let mut named = Vec::new();
    for token in list {
        if !matches!(token, Token::Meta(_) | Token::Attributes) {
            hasher.update(format!("{token:?}\n"));
        }
        named.extend(type_name(token, types));
    }
    let mut seen = FxHashSet::default();
    let mut at = 0;
    while let Some(name) = named.get(at).cloned() {
        at += 1;
        if seen.insert(name.clone()) {
            hasher.update(format!("{name}: {:?}\n", types[&name]));
            named.extend(types[&name].iter().filter_map(|token| type_name(token, types)));
        }
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn type_name(token: &Token, types: &FxHashMap<String, Vec<Token>>) -> Option<String> {
    match token {
        Token::Local(name) if types.contains_key(name) => Some(name.clone()),
        _ => None,
    }
}

/// Reads a file.
pub fn read(text: &str) -> Result<Module, String> {
    let parts = parts(text)?;
    let mut names = Names::default();
    let mut types: FxHashMap<String, Vec<Token>> = FxHashMap::default();
    for line in &parts.types {
        let list = tokens(line)?;
        let mut reader = Reader::new(&list);
        let name = reader.local()?.to_string();
        reader.expect('=')?;
        if !reader.take_word("type") {
            return Err(format!("`{line}`"));
        }
        let ty = Type::read(&mut reader)?;
        names.insert(name.clone(), ty);
        types.insert(name, list);
    }
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let mut lines = Vec::new();
    for (number, line) in parts.globals.iter().enumerate() {
        let list = tokens(line)?;
        let Some(Token::Global(name)) = list.first() else { return Err(format!("`{line}`")) };
        numbers.insert(name.clone(), number as u32);
        lines.push((name.clone(), list));
    }
    let scope = Scope { names: &names, globals: &numbers };
    let mut module = Module::default();
    for (name, list) in &lines {
        let mut reader = Reader::new(&list[1..]);
        reader.expect('=')?;
        // A global that cannot be read has no bytes, so nobody can use it.
        let mut made = globals::read(name, &mut reader, &scope).unwrap_or_else(|_| Global {
            name: name.clone(),
            bytes: 0,
            grain: 1,
            linkage: Linkage::Declared,
            constant: false,
            start: Start::Unknown,
            hash: String::new(),
            mentions: Vec::new(),
        });
        made.hash = identity(list, &types);
        let mentioned = list[1..].iter().filter_map(|token| match token {
            Token::Global(name) => numbers.get(name).copied(),
            _ => None,
        });
        made.mentions = mentioned.collect();
        module.globals.push(made);
    }
    let mut functions: FxHashMap<String, u32> = FxHashMap::default();
    for (number, text) in parts.functions.iter().enumerate() {
        let list = tokens(text.header)?;
        let name = name_of(&list).ok_or("a function without a name")?;
        functions.insert(name.to_string(), number as u32);
    }
    let taken = addresses(&parts, &lines, &functions)?;
    for text in &parts.functions {
        let mut made = function::read(text, &scope, &functions, &parts.truths)?;
        made.hash = hash(text, &types)?;
        let internal =
            tokens(text.header)?.iter().any(|t| matches!(t, Token::Word(w) if w == "internal" || w == "private"));
        made.entered = !internal || taken.contains(&made.name);
        made.mentions = mentions(text, &numbers)?;
        let called = mentions(text, &functions)?;
        made.calls = functions.iter().filter(|(_, number)| called.contains(number)).map(|(n, _)| n.clone()).collect();
        made.calls.sort_unstable();
        module.functions.push(made);
    }
    let changed = changed(&module);
    for (number, global) in module.globals.iter_mut().enumerate() {
        let defined = matches!(global.start, Start::Cells(_));
        global.constant |= defined && global.linkage == Linkage::Internal && !changed.contains(&(number as u32));
    }
    Ok(module)
}

/// Functions whose address goes somewhere: mentioned, but not as what a call calls.
fn addresses(
    parts: &Parts<'_>,
    globals: &[(String, Vec<Token>)],
    functions: &FxHashMap<String, u32>,
) -> Result<FxHashSet<String>, String> {
    let mut set = FxHashSet::default();
    let mut note = |list: &[Token]| {
        for (at, token) in list.iter().enumerate() {
            if let Token::Global(name) = token
                && functions.contains_key(name)
                && list.get(at + 1) != Some(&Token::Mark('('))
            {
                set.insert(name.clone());
            }
        }
    };
    for (_, list) in globals {
        note(list);
    }
    for text in &parts.functions {
        for line in &text.body {
            note(&tokens(line)?);
        }
    }
    Ok(set)
}

/// The globals or functions that the text of a function mentions.
fn mentions(text: &Text<'_>, numbers: &FxHashMap<String, u32>) -> Result<Vec<u32>, String> {
    let mut list = Vec::new();
    for line in &text.body {
        for token in tokens(line)? {
            if let Token::Global(name) = token {
                list.extend(numbers.get(&name));
            }
        }
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// The globals that some function may change, or whose address goes somewhere.
fn changed(module: &Module) -> FxHashSet<u32> {
    let mut set = FxHashSet::default();
    for global in &module.globals {
        if let Start::Cells(cells) = &global.start {
            set.extend(cells.iter().filter_map(|cell| match cell.value {
                Known::Address(number, _) => Some(number),
                _ => None,
            }));
        }
    }
    for function in &module.functions {
        if function.refused.is_some() {
            set.extend(&function.mentions);
        } else {
            changed_by(function, &mut set);
        }
    }
    set
}

/// Registers that hold an address in a global, and what is done with it.
fn changed_by(function: &Function, set: &mut FxHashSet<u32>) {
    let mut holds: FxHashMap<u32, u32> = FxHashMap::default();
    for (register, known) in &function.constants {
        if let Known::Address(global, _) = known {
            holds.insert(*register, *global);
        }
    }
    let mut grown = true;
    while grown {
        grown = false;
        for inst in function.blocks.iter().flat_map(|b| &b.code) {
            if let Inst::Address { to, base, .. } = inst
                && let Some(global) = holds.get(base).copied()
            {
                grown |= holds.insert(*to, global).is_none();
            }
        }
    }
    for block in &function.blocks {
        for inst in &block.code {
            let harmless: Option<u32> = match inst {
                Inst::Load { at, .. } => Some(*at),
                Inst::Address { base, .. } => Some(*base),
                // What is copied from.
                Inst::Call { callee: Callee::Named(name), arguments, .. }
                    if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") =>
                {
                    arguments.get(1).copied()
                }
                _ => None,
            };
            let mut used = operands(inst);
            if let Some(place) = used.iter().position(|register| Some(*register) == harmless) {
                used.remove(place);
            }
            set.extend(used.iter().filter_map(|register| holds.get(register)));
        }
        let end: &End = &block.end;
        set.extend(end_operands(end).iter().filter_map(|register| holds.get(register)));
    }
}
