//! Objects: `object &a data 16 bytes aligned 8`.
//!
//! A name is the variable's own without what marks it as an address; a named object that is not local is external; literals are
//! read-only; the promised alignment is the alignment. What differs is said.

use super::signatures::read_bytes;
use super::{Read, bytes, listed, read_address, read_string, read_text};
use crate::{Constancy, Content, Function, Linkage, Member, Object, ObjectKind};
use term::{Arena, Sort, TermReader, Tokens, VarId, quoted, quoted_text};

const LINKAGES: [(Linkage, &str); 6] = [
    (Linkage::Local, "local"),
    (Linkage::External, "external"),
    (Linkage::Protected, "protected"),
    (Linkage::Hidden, "hidden"),
    (Linkage::Weak, "weak"),
    (Linkage::HiddenWeak, "weak hidden"),
];

/// An object of which only its kind is known.
fn plain(arena: &Arena, var: VarId, kind: ObjectKind) -> Object {
    let name = arena.var_name(var);
    Object {
        var,
        name: name.trim_start_matches('&').trim_start_matches('"').to_string(),
        kind,
        size: None,
        align: 1,
        promised_align: 1,
        read_only: kind == ObjectKind::Literal,
        content: None,
        constant_static: false,
        unaliased: false,
        constancy: Constancy::Changing,
        volatile: false,
        start: None,
        initial: None,
        start_identity: None,
        linkage: match kind {
            ObjectKind::Named { local: false, weak: true, .. } => Linkage::Weak,
            ObjectKind::Named { local: false, weak: false, .. } => Linkage::External,
            _ => Linkage::Local,
        },
        shared: false,
        tails: Default::default(),
        members: Vec::new(),
    }
}

pub(super) fn write(arena: &Arena, object: &Object) -> String {
    let plain = plain(arena, object.var, object.kind);
    let mut words = vec![format!("object {}", quoted(arena.var_name(object.var)))];
    words.extend((object.name != plain.name).then(|| format!("named {}", quoted_text(object.name.as_bytes()))));
    match object.kind {
        ObjectKind::Named { defined, local, weak, function } => {
            words.push(if function { "function" } else { "data" }.to_string());
            let flags = [(!defined, "undefined"), (local, "local"), (weak, "weak")];
            words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| word.to_string()));
        }
        ObjectKind::Literal => words.push("literal".to_string()),
        ObjectKind::Section => words.push("section".to_string()),
    }
    words.extend(object.size.map(bytes));
    words.extend((object.align != 1).then(|| format!("aligned {}", object.align)));
    words.extend((object.promised_align != object.align).then(|| format!("promised {}", object.promised_align)));
    if object.linkage != plain.linkage {
        let name = LINKAGES.iter().find(|(linkage, _)| *linkage == object.linkage).map_or("", |(_, name)| name);
        words.push(format!("linkage {name}"));
    }
    if object.read_only != plain.read_only {
        words.push(if object.read_only { "read only" } else { "writable" }.to_string());
    }
    match object.constancy {
        Constancy::Changing => {}
        Constancy::Declared => words.push("declared const".to_string()),
        Constancy::Unclear => words.push("undeclared".to_string()),
    }
    let flags = [
        (object.volatile, "volatile"),
        (object.unaliased, "unaliased"),
        (object.shared, "shared"),
        (object.constant_static, "never written"),
    ];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| word.to_string()));
    words.extend(object.initial.map(|value| format!("initially {value}")));
    words.extend(object.start_identity.as_ref().map(|what| format!("identity {}", quoted_text(what.as_bytes()))));
    words.extend(listed("tails", &object.tails, |tail| quoted_text(tail.as_bytes())));
    for (word, content) in [("content", &object.content), ("start", &object.start)] {
        words.extend(content.as_ref().map(|content| format!("{word} {}", write_content(arena, content))));
    }
    let member = |m: &Member| format!("+{:#x} {} {}", m.offset, quoted(arena.var_name(m.var)), bytes(m.size));
    words.extend(listed("members", &object.members, member));
    words.join(" ")
}

/// Bytes as a text, then the pointers among them.
fn write_content(arena: &Arena, content: &Content) -> String {
    let pointer = |(offset, value): &(u64, term::TermId)| format!("+{offset:#x} → {}", arena.text(*value));
    let pointers: Vec<String> = content.pointers.iter().map(pointer).collect();
    let with = if pointers.is_empty() { String::new() } else { format!(" with {}", pointers.join(", ")) };
    format!("{}{with}", quoted_text(&content.bytes))
}

/// Reads what follows `object`.
pub(super) fn read(reader: &mut TermReader, tokens: &mut Tokens, function: &mut Function) -> Read<()> {
    let var = read_var(reader, tokens)?;
    let name = if tokens.eat_word("named") { Some(read_string(tokens)?) } else { None };
    let kind = if tokens.eat_word("literal") {
        ObjectKind::Literal
    } else if tokens.eat_word("section") {
        ObjectKind::Section
    } else {
        let function = tokens.eat_word("function");
        if !function && !tokens.eat_word("data") {
            return Err(tokens.error("`data`, `function`, `literal` or `section` expected"));
        }
        let defined = !tokens.eat_word("undefined");
        let local = tokens.eat_word("local");
        ObjectKind::Named { defined, local, weak: tokens.eat_word("weak"), function }
    };
    let mut object = plain(reader.arena, var, kind);
    object.name = name.unwrap_or(object.name);
    let mut promised = None;
    loop {
        if matches!(tokens.peek(), term::Token::Number(_)) {
            object.size = Some(read_bytes(tokens)?);
        } else if tokens.eat_word("aligned") {
            object.align = tokens.number()?;
        } else if tokens.eat_word("promised") {
            promised = Some(tokens.number()?);
        } else if tokens.eat_word("linkage") {
            let error = tokens.error("a linkage expected");
            // Of two that begin with one word, the longer is meant.
            let found = LINKAGES.iter().rev().find(|(_, name)| tokens.eat_words(name));
            object.linkage = found.ok_or(error)?.0;
        } else if tokens.eat_words("read only") {
            object.read_only = true;
        } else if tokens.eat_word("writable") {
            object.read_only = false;
        } else if tokens.eat_words("declared const") {
            object.constancy = Constancy::Declared;
        } else if tokens.eat_word("undeclared") {
            object.constancy = Constancy::Unclear;
        } else if tokens.eat_word("volatile") {
            object.volatile = true;
        } else if tokens.eat_word("unaliased") {
            object.unaliased = true;
        } else if tokens.eat_word("shared") {
            object.shared = true;
        } else if tokens.eat_words("never written") {
            object.constant_static = true;
        } else if tokens.eat_word("initially") {
            object.initial = Some(tokens.number()?);
        } else if tokens.eat_word("identity") {
            object.start_identity = Some(read_string(tokens)?);
        } else if tokens.eat_word("tails") {
            object.tails = super::list(tokens, read_string)?.into_iter().collect();
        } else if tokens.eat_word("content") {
            object.content = Some(read_content(reader, tokens)?);
        } else if tokens.eat_word("start") {
            object.start = Some(read_content(reader, tokens)?);
        } else if tokens.eat_word("members") {
            object.members = super::list(tokens, |tokens| {
                let offset = read_address(tokens)?;
                Ok(Member { offset, var: read_var(reader, tokens)?, size: read_bytes(tokens)? })
            })?;
        } else {
            break;
        }
    }
    object.promised_align = promised.unwrap_or(object.align);
    if object.align == 0 || object.promised_align == 0 {
        return Err(tokens.error("an alignment is not 0"));
    }
    function.objects.insert(var, object);
    Ok(())
}

/// The variable of an address.
fn read_var(reader: &mut TermReader, tokens: &mut Tokens) -> Read<VarId> {
    let error = tokens.error("the name of an address expected: `&name`");
    let name = tokens.name()?;
    let known = reader.arena.find_var(&name).map(|var| reader.arena.var_sort(var));
    let address = name.starts_with(['&', '§']) && known.is_none_or(|sort| sort == Sort::Bv(64));
    let term = if address { reader.arena.var(&name, Sort::Bv(64)) } else { return Err(error) };
    reader.arena.as_var(term).ok_or(error)
}

fn read_content(reader: &mut TermReader, tokens: &mut Tokens) -> Read<Content> {
    let mut content = Content { bytes: read_text(tokens)?, pointers: Vec::new() };
    if tokens.eat_word("with") {
        content.pointers = super::list(tokens, |tokens| {
            let offset = read_address(tokens)?;
            tokens.expect("→")?;
            Ok((offset, reader.term(tokens, Some(Sort::Bv(64)))?))
        })?;
        let inside = |offset: u64| offset.checked_add(8).is_some_and(|end| end <= content.bytes.len() as u64);
        if !content.pointers.iter().all(|(offset, _)| inside(*offset)) {
            return Err(tokens.error("a pointer lies outside the content"));
        }
    }
    Ok(content)
}
