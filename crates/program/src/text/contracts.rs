//! Contracts of the function and of those that it calls: `contract g: private, rdi in 1..=6:32, effect reads`.
//!
//! Only what the function can meet is printed, not what a file knows of its other functions. What a contract rests on is not in
//! the text.

use super::{Read, list, read_register};
use crate::contract::{Fixed, FixedResult, LocalEffect};
use crate::{Contracts, Function, Loaded, LocalContract, Register, ValueRange};
use std::collections::BTreeSet;
use std::sync::Arc;
use term::{Arena, Token, Tokens, quoted};

const EFFECTS: [(LocalEffect, &str); 5] = [
    (LocalEffect::Pure, "pure"),
    (LocalEffect::Reads, "reads"),
    (LocalEffect::Preserves, "preserves"),
    (LocalEffect::Heap, "heap"),
    (LocalEffect::Unknown, "unknown"),
];

fn nothing_known() -> LocalContract {
    LocalContract {
        private: false,
        ranges: Default::default(),
        result_range: None,
        noreturn: false,
        arguments: Default::default(),
        moved: Default::default(),
        promoted: Default::default(),
        reads: Default::default(),
        result_unused: false,
        result: None,
        result_bytes: 0,
        returns_fresh: false,
        forgets: Default::default(),
        effect: LocalEffect::Unknown,
        assumptions: Default::default(),
    }
}

pub(super) fn write(arena: &Arena, function: &Function) -> Vec<String> {
    let contracts = &function.contracts;
    let names: BTreeSet<&str> = function.named_callees().chain([function.name.as_str()]).collect();
    let mut out: Vec<String> = names
        .iter()
        .filter_map(|name| contracts.get(*name).map(|contract| format!("contract {}{}", quoted(name), items(contract))))
        .collect();
    let met = |name: &str| function.objects.values().any(|o| o.name == name || arena.var_name(o.var) == name);
    for (name, values) in contracts.statics.iter().filter(|(name, _)| met(name)) {
        let values: Vec<String> = values.iter().map(u64::to_string).collect();
        out.push(format!("static {} holds {}", quoted(name), values.join(" | ")));
    }
    out.extend(super::listed("twice", contracts.twice.iter().filter(|name| names.contains(name.as_str())), |name| {
        quoted(name).into_owned()
    }));
    out
}

fn range(range: &ValueRange) -> String {
    let last = u64::MAX >> (64 - range.width.clamp(1, 64));
    format!("{}..={}:{}", range.low, range.low.wrapping_add(range.span) & last, range.width)
}

fn fixed(value: &Fixed) -> String {
    match value {
        Fixed::Number(number) => number.to_string(),
        Fixed::Address(name, offset) => format!("{}{}", quoted(name), super::signed(*offset)),
    }
}

fn loaded(loaded: &Loaded) -> String {
    let offsets: String = loaded.offsets.iter().map(|offset| format!("[{offset}]")).collect();
    format!("{}{offsets}:{}", loaded.argument.name(), loaded.bytes)
}

fn items(contract: &LocalContract) -> String {
    let mut items: Vec<String> = Vec::new();
    let flags = [
        (contract.private, "private"),
        (contract.noreturn, "never returns"),
        (contract.returns_fresh, "fresh"),
        (contract.result_unused, "result unread"),
    ];
    items.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| word.to_string()));
    items.extend(contract.ranges.iter().map(|(register, r)| format!("{} in {}", register.name(), range(r))));
    items.extend(contract.result_range.iter().map(|r| format!("result in {}", range(r))));
    for (register, values) in &contract.arguments {
        let values: Vec<String> = values.iter().map(fixed).collect();
        items.push(format!("{} one of {}", register.name(), values.join(" | ")));
    }
    for (from, to) in &contract.moved {
        items.push(format!("moved {} to {}", from.name(), to.map_or("nowhere".to_string(), Register::name)));
    }
    items.extend(contract.promoted.iter().map(|(to, what)| format!("promoted {} to {}", loaded(what), to.name())));
    items.extend(contract.reads.iter().map(|what| format!("first reads {}", loaded(what))));
    items.extend(contract.result.iter().map(|result| match result {
        FixedResult::Value(value) => format!("result {}", fixed(value)),
        FixedResult::Argument(register) => format!("result is {}", register.name()),
    }));
    items.extend((contract.result_bytes != 0).then(|| format!("result bytes {}", contract.result_bytes)));
    items.extend(contract.forgets.iter().map(|register| format!("forgets {}", register.name())));
    if contract.effect != LocalEffect::Unknown {
        let name = EFFECTS.iter().find(|(effect, _)| *effect == contract.effect).map_or("", |(_, name)| name);
        items.push(format!("effect {name}"));
    }
    if items.is_empty() { String::new() } else { format!(": {}", items.join(", ")) }
}

/// Reads one line, if it is one of these.
pub(super) fn read(tokens: &mut Tokens, function: &mut Function) -> Read<bool> {
    let contracts: &mut Contracts = Arc::make_mut(&mut function.contracts);
    if tokens.eat_word("contract") {
        let name = tokens.name()?;
        let mut contract = nothing_known();
        if tokens.eat(":") {
            list(tokens, |tokens| item(tokens, &mut contract))?;
        }
        contracts.insert(name, contract);
    } else if tokens.eat_word("static") {
        let name = tokens.name()?;
        if !tokens.eat_word("holds") {
            return Err(tokens.error("`holds` expected"));
        }
        let mut values = BTreeSet::from([tokens.number()?]);
        while tokens.eat("|") {
            values.insert(tokens.number()?);
        }
        contracts.statics.insert(name, values);
    } else if tokens.eat_word("twice") {
        contracts.twice.extend(list(tokens, |tokens| tokens.name())?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn item(tokens: &mut Tokens, contract: &mut LocalContract) -> Read<()> {
    if tokens.eat_word("private") {
        contract.private = true;
    } else if tokens.eat_words("never returns") {
        contract.noreturn = true;
    } else if tokens.eat_word("fresh") {
        contract.returns_fresh = true;
    } else if tokens.eat_words("result unread") {
        contract.result_unused = true;
    } else if tokens.eat_words("result in") {
        contract.result_range = Some(read_range(tokens)?);
    } else if tokens.eat_words("result bytes") {
        contract.result_bytes = tokens.small()?;
    } else if tokens.eat_words("result is") {
        contract.result = Some(FixedResult::Argument(read_register(tokens)?));
    } else if tokens.eat_word("result") {
        contract.result = Some(FixedResult::Value(read_fixed(tokens)?));
    } else if tokens.eat_word("moved") {
        let from = read_register(tokens)?;
        to(tokens)?;
        let to = if tokens.eat_word("nowhere") { None } else { Some(read_register(tokens)?) };
        contract.moved.insert(from, to);
    } else if tokens.eat_word("promoted") {
        let what = read_loaded(tokens)?;
        to(tokens)?;
        contract.promoted.insert(read_register(tokens)?, what);
    } else if tokens.eat_words("first reads") {
        contract.reads.insert(read_loaded(tokens)?);
    } else if tokens.eat_word("forgets") {
        contract.forgets.insert(read_register(tokens)?);
    } else if tokens.eat_word("effect") {
        let error = tokens.error("an effect expected");
        contract.effect = EFFECTS.iter().find(|(_, name)| tokens.eat_word(name)).ok_or(error)?.0;
    } else {
        let register = read_register(tokens)?;
        if tokens.eat_word("in") {
            contract.ranges.insert(register, read_range(tokens)?);
        } else if tokens.eat_words("one of") {
            let mut values = BTreeSet::from([read_fixed(tokens)?]);
            while tokens.eat("|") {
                values.insert(read_fixed(tokens)?);
            }
            contract.arguments.insert(register, values);
        } else {
            return Err(tokens.error("`in` or `one of` expected"));
        }
    }
    Ok(())
}

fn to(tokens: &mut Tokens) -> Read<()> {
    if tokens.eat_word("to") { Ok(()) } else { Err(tokens.error("`to` expected")) }
}

fn read_range(tokens: &mut Tokens) -> Read<ValueRange> {
    let error = tokens.error("a range of numbers of a width: `1..=6:32`");
    let low = tokens.number()?;
    tokens.expect("..=")?;
    let high = tokens.number()?;
    tokens.expect(":")?;
    let width: u16 = tokens.small()?;
    let last = u64::MAX >> (64 - width.clamp(1, 64));
    let range = ValueRange { width, low, span: high.wrapping_sub(low) & last };
    if range.is_sane() && high <= last { Ok(range) } else { Err(error) }
}

fn read_fixed(tokens: &mut Tokens) -> Read<Fixed> {
    if matches!(tokens.peek(), Token::Number(_)) {
        return Ok(Fixed::Number(tokens.number()?));
    }
    let name = tokens.name()?;
    let distance = matches!(tokens.peek(), Token::Sign("+" | "-"));
    Ok(Fixed::Address(name, if distance { tokens.signed()? } else { 0 }))
}

fn read_loaded(tokens: &mut Tokens) -> Read<Loaded> {
    let argument = read_register(tokens)?;
    let mut offsets = Vec::new();
    while tokens.eat("[") {
        offsets.push(tokens.signed()?);
        tokens.expect("]")?;
    }
    tokens.expect(":")?;
    Ok(Loaded { argument, offsets, bytes: tokens.small()? })
}
