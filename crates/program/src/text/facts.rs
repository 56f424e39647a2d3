//! What is known of a function besides its code, a line for each: parameters, callees, locals, places that debug information
//! tells something about, and what only the file around the function tells.

use super::signatures::{self, read_bytes, read_value, value};
use super::{Read, address, bytes, list, listed, read_address, read_register, read_string, signed};
use crate::{
    AssertTexts, Casts, Folded, Function, Local, Parameter, PointId, Register, RegisterVariable, Surroundings,
    Undefined,
};
use std::collections::{BTreeMap, BTreeSet};
use term::{Token, Tokens, quoted, quoted_text};

pub(super) fn write(function: &Function) -> Vec<String> {
    // A new field does not compile until it is printed here, and read below, or elsewhere, or left out on purpose.
    let Function {
        name: _,
        points: _,
        objects: _,
        signature: _,
        parameters: _,
        source_types: _,
        callees: _,
        adopted: _,
        source: _,
        same_source: _,
        pointer_calls: _,
        truths: _,
        volatile: _,
        alignments: _,
        likely_alignments: _,
        undescribed_frame: _,
        local_ends: _,
        passed: _,
        paddings: _,
        defined: _,
        unoptimised: _,
        locals: _,
        lines: _,
        hash: _,
        contracts: _,
        surroundings: _,
        folded: _,
        undefined: _,
        assert_texts: _,
    } = function;
    let name = |name: &String| quoted(name).into_owned();
    let at = |place: &u64| address(*place);
    let mut out: Vec<String> = function.parameters.iter().map(parameter).collect();
    for (callee, signature) in &function.callees {
        let adopted = if function.adopted.contains(callee) { ", adopted" } else { "" };
        out.push(format!("callee {}{}{adopted}", quoted(callee), signatures::write(signature)));
    }
    out.extend(listed("defines", &function.defined, name));
    out.extend(function.same_source.as_ref().map(|file| format!("same source {}", quoted_text(file.as_bytes()))));
    for (point, signature) in &function.pointer_calls {
        out.push(format!("pointer called at p{} {}", point.0, signatures::write(signature)));
    }
    for (point, registers) in &function.passed {
        out.extend(listed(&format!("passes at p{}", point.0), registers, |register| register.name()));
    }
    for local in &function.locals {
        let aligned = if local.align == 1 { String::new() } else { format!(", aligned {}", local.align) };
        out.push(format!(
            "local {} at rsp0{}, {}{aligned}",
            quoted(&local.name),
            signed(local.offset),
            bytes(local.size)
        ));
    }
    out.extend(listed("local ends at", &function.local_ends, |offset| signed(*offset)));
    out.extend(function.undescribed_frame.then(|| "undescribed frame".to_string()));
    out.extend(function.unoptimised.then(|| "unoptimised".to_string()));
    out.extend(listed("truths at", &function.truths, at));
    out.extend(listed("volatile at", &function.volatile.places, at));
    out.extend(listed("doubtful at", &function.volatile.doubtful, at));
    if let Casts::Sizes(sizes) = &function.volatile.casts {
        let sizes = listed("casts of", sizes, |size| size.to_string());
        out.push(sizes.unwrap_or_else(|| "casts of nothing".to_string()));
    }
    let unmodelled = function.volatile.unmodelled.as_ref();
    out.extend(unmodelled.map(|(place, what)| format!("unmodelled at {} {}", at(place), quoted_text(what.as_bytes()))));
    for (words, map) in maps(function) {
        out.extend(listed(words, map, |(place, number)| format!("{}: {number}", address(*place))));
    }
    out.extend(function.folded.map(|folded| match folded {
        Folded::Plain => "folded".to_string(),
        Folded::WithLocals => "folded with locals".to_string(),
    }));
    out.extend((function.undefined == Undefined::Counted).then(|| "undefined behaviour counts".to_string()));
    out.extend((function.assert_texts == AssertTexts::Compared).then(|| "assertions compared".to_string()));
    out.extend(surroundings(function));
    out
}

const MAPS: [&str; 3] = ["alignments at", "likely alignments at", "paddings at"];

fn maps(function: &Function) -> [(&'static str, &BTreeMap<u64, u64>); 3] {
    [(MAPS[0], &function.alignments), (MAPS[1], &function.likely_alignments), (MAPS[2], &function.paddings)]
}

fn parameter(parameter: &Parameter) -> String {
    let places: Vec<String> = parameter.values.iter().map(value).collect();
    let mut out = format!("parameter {}", quoted(&parameter.name));
    if !places.is_empty() {
        out.push_str(&format!(" in {}", places.join(" and ")));
    }
    let flags =
        [(parameter.pointer, ", pointer"), (parameter.restrict, ", restrict"), (parameter.located, ", located")];
    flags.iter().filter(|(set, _)| *set).for_each(|(_, word)| out.push_str(word));
    if parameter.element != 1 {
        out.push_str(&format!(", element {}", parameter.element));
    }
    if let Some(register) = parameter.arrives {
        out.push_str(&format!(", arrives in {}", register.name()));
    }
    out
}

fn surroundings(function: &Function) -> Vec<String> {
    // A new field does not compile until it is printed here, and read below, or left out on purpose.
    let Surroundings {
        file: _,
        private,
        unseen_callers,
        local_callees,
        weak_callees,
        hidden_callees,
        chained_callees,
        register_variable,
        errno,
        by_place,
        versions,
        truth_values,
        code: _,
        table_loads,
        loads_once,
        pointer_arguments,
        member_starts,
    } = &function.surroundings;
    let name = |name: &String| quoted(name).into_owned();
    let version = |(name, version): (&String, &String)| format!("{} {}", quoted(name), quoted_text(version.as_bytes()));
    let variable = match register_variable {
        RegisterVariable::None => None,
        RegisterVariable::Rest => Some("register variable, the rest".to_string()),
        RegisterVariable::Whole => Some("register variable".to_string()),
    };
    let at_most = |(point, registers): (&PointId, &BTreeSet<Register>)| {
        let words = format!("passes at most at p{}", point.0);
        listed(&words, registers, |register| register.name()).unwrap_or(format!("{words} nothing"))
    };
    let facts = [
        private.then(|| "private".to_string()),
        unseen_callers.then(|| "unseen callers".to_string()),
        listed("local callees", local_callees, name),
        listed("weak callees", weak_callees, name),
        listed("hidden callees", hidden_callees, name),
        listed("chained callees", chained_callees, name),
        variable,
        errno.then(|| "callees tell errno".to_string()),
        listed("by place", by_place, name),
        listed("versions", versions, version),
        truth_values.then(|| "truth values".to_string()),
        listed("table loads at", table_loads, |place| address(*place)),
        loads_once.then(|| "loads once".to_string()),
        listed("members at", member_starts, |offset| signed(*offset)),
    ];
    facts.into_iter().flatten().chain(pointer_arguments.iter().map(at_most)).collect()
}

/// Reads one line, if it is one of these.
pub(super) fn read(tokens: &mut Tokens, function: &mut Function) -> Read<bool> {
    let around = &mut function.surroundings;
    if tokens.eat_word("parameter") {
        function.parameters.push(read_parameter(tokens)?);
    } else if tokens.eat_word("callee") {
        let name = tokens.name()?;
        let signature = signatures::read(tokens)?;
        if tokens.eat(",") {
            if !tokens.eat_word("adopted") {
                return Err(tokens.error("`adopted` expected"));
            }
            function.adopted.insert(name.clone());
        }
        function.callees.insert(name, signature);
    } else if tokens.eat_word("defines") {
        function.defined = names(tokens)?;
    } else if tokens.eat_words("same source") {
        function.same_source = Some(read_string(tokens)?);
    } else if tokens.eat_words("pointer called at") {
        let point = read_point(tokens)?;
        function.pointer_calls.insert(point, signatures::read(tokens)?);
    } else if tokens.eat_words("passes at most at") {
        let point = read_point(tokens)?;
        let nothing = tokens.eat_word("nothing");
        let registers = if nothing { BTreeSet::new() } else { list(tokens, read_register)?.into_iter().collect() };
        around.pointer_arguments.insert(point, registers);
    } else if tokens.eat_words("passes at") {
        let point = read_point(tokens)?;
        let registers: BTreeSet<Register> = list(tokens, read_register)?.into_iter().collect();
        function.passed.insert(point, registers);
    } else if tokens.eat_words("local ends at") {
        function.local_ends = list(tokens, |tokens| tokens.signed())?.into_iter().collect();
    } else if tokens.eat_words("local callees") {
        around.local_callees = names(tokens)?;
    } else if tokens.eat_word("local") {
        function.locals.push(read_local(tokens)?);
    } else if tokens.eat_words("undescribed frame") {
        function.undescribed_frame = true;
    } else if tokens.eat_word("unoptimised") {
        function.unoptimised = true;
    } else if tokens.eat_words("truths at") {
        function.truths = places(tokens)?;
    } else if tokens.eat_words("volatile at") {
        function.volatile.places = places(tokens)?;
    } else if tokens.eat_words("doubtful at") {
        function.volatile.doubtful = places(tokens)?;
    } else if tokens.eat_words("casts of nothing") {
        function.volatile.casts = Casts::Sizes(BTreeSet::new());
    } else if tokens.eat_words("casts of") {
        function.volatile.casts = Casts::Sizes(list(tokens, |tokens| tokens.number())?.into_iter().collect());
    } else if tokens.eat_words("unmodelled at") {
        function.volatile.unmodelled = Some((read_address(tokens)?, read_string(tokens)?));
    } else if tokens.eat_words(MAPS[0]) {
        function.alignments = numbers(tokens)?;
    } else if tokens.eat_words(MAPS[1]) {
        function.likely_alignments = numbers(tokens)?;
    } else if tokens.eat_words(MAPS[2]) {
        function.paddings = numbers(tokens)?;
    } else if tokens.eat_words("folded with locals") {
        function.folded = Some(Folded::WithLocals);
    } else if tokens.eat_word("folded") {
        function.folded = Some(Folded::Plain);
    } else if tokens.eat_words("undefined behaviour counts") {
        function.undefined = Undefined::Counted;
    } else if tokens.eat_words("assertions compared") {
        function.assert_texts = AssertTexts::Compared;
    } else if tokens.eat_word("private") {
        around.private = true;
    } else if tokens.eat_words("unseen callers") {
        around.unseen_callers = true;
    } else if tokens.eat_words("loads once") {
        around.loads_once = true;
    } else if tokens.eat_words("weak callees") {
        around.weak_callees = names(tokens)?;
    } else if tokens.eat_words("hidden callees") {
        around.hidden_callees = names(tokens)?;
    } else if tokens.eat_words("chained callees") {
        around.chained_callees = names(tokens)?;
    } else if tokens.eat_words("register variable") {
        let rest = tokens.eat(",");
        if rest && !tokens.eat_words("the rest") {
            return Err(tokens.error("`the rest` expected"));
        }
        around.register_variable = if rest { RegisterVariable::Rest } else { RegisterVariable::Whole };
    } else if tokens.eat_words("callees tell errno") {
        around.errno = true;
    } else if tokens.eat_words("by place") {
        around.by_place = names(tokens)?;
    } else if tokens.eat_word("versions") {
        around.versions = list(tokens, |tokens| Ok((tokens.name()?, read_string(tokens)?)))?.into_iter().collect();
    } else if tokens.eat_words("truth values") {
        around.truth_values = true;
    } else if tokens.eat_words("table loads at") {
        around.table_loads = places(tokens)?;
    } else if tokens.eat_words("members at") {
        around.member_starts = list(tokens, |tokens| tokens.signed())?.into_iter().collect();
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn names(tokens: &mut Tokens) -> Read<BTreeSet<String>> {
    Ok(list(tokens, |tokens| tokens.name())?.into_iter().collect())
}

fn places(tokens: &mut Tokens) -> Read<BTreeSet<u64>> {
    Ok(list(tokens, read_address)?.into_iter().collect())
}

fn numbers(tokens: &mut Tokens) -> Read<BTreeMap<u64, u64>> {
    let pairs = list(tokens, |tokens| {
        let place = read_address(tokens)?;
        tokens.expect(":")?;
        Ok((place, tokens.number()?))
    })?;
    Ok(pairs.into_iter().collect())
}

/// A point by its name.
fn read_point(tokens: &mut Tokens) -> Read<PointId> {
    let error = tokens.error("a point expected");
    let name = tokens.name()?;
    name.strip_prefix('p').and_then(|number| number.parse().ok()).map(PointId).ok_or(error)
}

fn read_parameter(tokens: &mut Tokens) -> Read<Parameter> {
    let mut out = Parameter {
        name: tokens.name()?,
        values: Vec::new(),
        pointer: false,
        restrict: false,
        element: 1,
        arrives: None,
        located: false,
        source_type: None,
    };
    if tokens.eat_word("in") {
        out.values.push(read_value(tokens)?);
        while tokens.eat_word("and") {
            out.values.push(read_value(tokens)?);
        }
    }
    while tokens.eat(",") {
        if tokens.eat_word("pointer") {
            out.pointer = true;
        } else if tokens.eat_word("restrict") {
            out.restrict = true;
        } else if tokens.eat_word("located") {
            out.located = true;
        } else if tokens.eat_word("element") {
            out.element = tokens.small()?;
        } else if tokens.eat_words("arrives in") {
            out.arrives = Some(read_register(tokens)?);
        } else {
            return Err(tokens.error("nothing that is said of parameters"));
        }
    }
    Ok(out)
}

fn read_local(tokens: &mut Tokens) -> Read<Local> {
    let name = tokens.name()?;
    if !tokens.eat_words("at rsp0") || !matches!(tokens.peek(), Token::Sign("+" | "-")) {
        return Err(tokens.error("`at rsp0` and a distance expected"));
    }
    let offset = tokens.signed()?;
    tokens.expect(",")?;
    let size = read_bytes(tokens)?;
    let align = if tokens.eat(",") {
        if !tokens.eat_word("aligned") {
            return Err(tokens.error("`aligned` expected"));
        }
        tokens.number()?
    } else {
        1
    };
    Ok(Local { name, offset, size, align })
}
