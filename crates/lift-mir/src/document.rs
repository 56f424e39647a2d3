//! A file: the embedded LLVM IR, then one document for each function.
//!
//! The header of a function is YAML of which only a few sections matter. They are scanned, not parsed: a section is the
//! text between two keys that start in the first column.

use crate::error::{Error, Fault};
use crate::features::Features;
use crate::lift::{Constant, Content, Current, Frame, Lifter, Live, Opcodes};
use crate::operand::Cursor;
use crate::registers::{self, BASE_POINTER, FRAME_POINTER, X86_64};
use machine::{Block, Condition, Exit, Function, Lane, Names, Object, Phi, Span, Step, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The functions of a file.
#[derive(Debug)]
pub struct Module {
    /// In file order.
    pub functions: Vec<Function>,
}

/// Largest text that offsets of 32 bits can address.
const LARGEST: usize = u32::MAX as usize;

impl Module {
    /// Reads a text. Names are shared with the module it is compared with.
    pub fn parse(text: &str, names: &mut Names) -> Result<Module, Error> {
        if text.len() >= LARGEST {
            return Err(Error { fault: Fault::Unsupported, line: 1, column: 1, what: "the file is too large".into() });
        }
        let source: Arc<str> = text.into();
        let mut reader = Reader {
            lines: Lines { text: &source, at: 0, number: 0 },
            names,
            opcodes: Opcodes::default(),
            framed: FxHashMap::default(),
            source: Arc::clone(&source),
            module: None,
            is_ssa: false,
        };
        let mut functions: Vec<Function> = Vec::new();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        while let Some(line) = reader.lines.next() {
            let text = line.text.trim_end();
            if text.starts_with("--- |") {
                reader.ir(line)?;
            } else if text == "---" {
                let function = reader.function(line)?;
                if !seen.insert(function.name.clone()) {
                    return Err(line.error(format!("function `{}` is there twice", function.name)));
                }
                functions.push(function);
            } else if !text.is_empty() && !text.starts_with(['#', ';']) && text != "..." {
                return Err(line.error("expected `---`: this is no Machine IR"));
            }
        }
        // All functions of a file come from the same place of the pipeline.
        for function in &mut functions {
            function.may_reorder &= reader.is_ssa;
        }
        Ok(Module { functions })
    }
}

#[derive(Clone, Copy)]
struct TextLine<'a> {
    text: &'a str,
    start: usize,
    number: u32,
}

impl TextLine<'_> {
    fn error(&self, what: impl Into<String>) -> Error {
        Error { fault: Fault::Malformed, line: self.number, column: 1, what: what.into() }
    }
}

struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: u32,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<TextLine<'a>> {
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at;
        let end = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
        self.at = end + 1;
        self.number += 1;
        Some(TextLine { text: self.text[start..end].trim_end_matches('\r'), start, number: self.number })
    }
}

struct Reader<'a, 'n> {
    lines: Lines<'a>,
    names: &'n mut Names,
    opcodes: Opcodes,
    /// What the LLVM IR says of the functions that it defines.
    framed: FxHashMap<String, Attributes>,
    source: Arc<str>,
    /// The text of the embedded LLVM IR.
    module: Option<Symbol>,
    /// Is a function in SSA form, before operations on two addresses and phis are lowered?
    is_ssa: bool,
}

/// What the attributes of a function say of its frame.
#[derive(Clone, Default)]
struct Attributes {
    features: Features,
    frame_pointer: Option<FramePointer>,
    /// The stack is realigned whatever the objects need.
    realigned: bool,
    /// The stack is never realigned.
    unaligned: bool,
    /// Rounding and floating-point exceptions are looked at.
    strict: bool,
    /// Nothing is saved on entry.
    naked: bool,
}

impl Attributes {
    /// What a list of attributes says.
    fn of(text: &str) -> Attributes {
        let frame_pointer =
            if text.contains("\"frame-pointer\"=\"all\"") || text.contains("\"frame-pointer\"=\"reserved\"") {
                Some(FramePointer::Always)
            } else if text.contains("\"frame-pointer\"=") && !text.contains("\"frame-pointer\"=\"none\"") {
                Some(FramePointer::WithCalls)
            } else {
                None
            };
        let word = |wanted: &str| text.split_whitespace().any(|word| word == wanted);
        Attributes {
            strict: word("strictfp"),
            naked: word("naked"),
            frame_pointer,
            realigned: text.contains("\"stackrealign\"") || text.contains("alignstack"),
            unaligned: text.contains("\"no-realign-stack\""),
            features: Features::of(text),
        }
    }

    /// Units that the processor does not have, or that the function keeps for something else.
    fn missing(&self) -> impl Iterator<Item = u32> {
        // The upper general registers (APX), and the upper vector registers (AVX-512).
        let general = (!self.features.lists("egpr")).then_some(16..32);
        let vectors = (!self.features.lists("avx512f")).then_some(48..64);
        general.into_iter().chain(vectors).flatten()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FramePointer {
    Always,
    WithCalls,
}

/// The sections of a function's header that matter.
#[derive(Default)]
struct Header<'a> {
    name: Option<&'a str>,
    registers: &'a str,
    stack: &'a str,
    fixed: &'a str,
    constants: &'a str,
    tables: &'a str,
    frame: &'a str,
    liveins: &'a str,
    /// Do the blocks say which registers are live?
    live: bool,
    /// What else must be the same in both functions: key and text.
    others: Vec<(&'a str, &'a str)>,
}

impl<'a> Reader<'a, '_> {
    /// The embedded LLVM IR: the target, and whose frame pointer is reserved.
    fn ir(&mut self, first: TextLine<'a>) -> Result<(), Error> {
        if self.module.is_some() {
            return Err(first.error("the LLVM IR is there twice"));
        }
        let start = self.lines.at;
        let mut attributes: FxHashMap<&str, &str> = FxHashMap::default();
        let mut defined: Vec<(String, &str)> = Vec::new();
        while let Some(line) = self.lines.next() {
            let text = line.text.trim_start();
            if line.text.trim_end() == "..." {
                for (name, head) in defined {
                    let groups = head.split(' ').filter_map(|word| attributes.get(word));
                    let text = groups.fold(head.to_string(), |text, group| format!("{text} {group}"));
                    self.framed.insert(name, Attributes::of(&text));
                }
                let whole = self.lines.text.get(start..line.start).unwrap_or("");
                self.module = Some(self.names.intern(whole));
                return Ok(());
            }
            if let Some(triple) = text.strip_prefix("target triple = ") {
                if !triple.trim_start_matches('"').starts_with("x86_64") || triple.contains("x32") {
                    let what = format!("target {triple} is not x86-64");
                    return Err(Error { fault: Fault::Unsupported, ..line.error(what) });
                }
            } else if text.starts_with("define ") {
                let Some((name, rest)) = text.split_once('@').and_then(|(_, after)| defined_name(after)) else {
                    return Err(line.error("a definition without a name"));
                };
                defined.push((name, rest));
            } else if text.contains("!\"override-stack-alignment\"") {
                let what = "a module with another alignment of the stack";
                return Err(Error { fault: Fault::Unsupported, ..line.error(what) });
            } else if let Some(rest) = text.strip_prefix("attributes ") {
                let Some((group, body)) = rest.split_once(" = ") else { continue };
                attributes.insert(group, body);
            }
        }
        Err(self.unfinished("the embedded LLVM IR"))
    }

    fn unfinished(&self, what: &str) -> Error {
        let line = self.lines.number;
        Error { fault: Fault::Malformed, line, column: 1, what: format!("{what} does not end; is the file cut off?") }
    }

    fn function(&mut self, first: TextLine<'a>) -> Result<Function, Error> {
        let mut header = Header::default();
        let mut key = "";
        let mut section = self.lines.at;
        let text = self.lines.text;
        let close = |header: &mut Header<'a>, key: &'a str, from: usize, to: usize| {
            let body = text.get(from..to).unwrap_or("");
            match key {
                "registers" => header.registers = body,
                "stack" => header.stack = body,
                "fixedStack" => header.fixed = body,
                "constants" => header.constants = body,
                "jumpTable" => header.tables = body,
                "frameInfo" => header.frame = body,
                "liveins" => header.liveins = body,
                "tracksRegLiveness" => header.live = body.trim() == "true",
                // What the allocator may change, or what only debuggers and verifiers read.
                ""
                | "name"
                | "tracksDebugUserValues"
                | "debugInstrRef"
                | "failsVerification"
                | "callSites"
                | "debugValueSubstitutions"
                | "isSSA"
                | "noPhis"
                | "noVRegs"
                | "hasFakeUses"
                | "legalized"
                | "regBankSelected"
                | "selected"
                | "failedISel" => {}
                other => header.others.push((other, body)),
            }
        };
        while let Some(line) = self.lines.next() {
            let text = line.text;
            if text.trim_end() == "..." {
                return match header.name {
                    Some(name) => Err(line.error(format!("function `{name}` has no body"))),
                    None => Err(line.error("a function without a name")),
                };
            }
            if text.is_empty() || text.starts_with([' ', '#', ';', '-', '\t']) {
                continue;
            }
            close(&mut header, key, section, line.start);
            let Some((name, value)) = text.split_once(':') else {
                return Err(line.error(format!("expected `key:`, found `{}`", shorten(text))));
            };
            key = name;
            section = line.start + name.len() + 1;
            if key == "name" {
                header.name = Some(value.trim().trim_matches(['\'', '"']));
            }
            if key == "body" {
                let Some(name) = header.name else { return Err(line.error("a function without a name")) };
                return self.body(name, &header, first);
            }
        }
        Err(self.unfinished("a function"))
    }

    fn body(&mut self, name: &str, header: &Header<'_>, first: TextLine<'a>) -> Result<Function, Error> {
        let mut function = empty(name, Arc::clone(&self.source), self.module);
        let attributes = self.framed.get(name).cloned();
        if attributes.is_none() && self.module.is_some() {
            function.gap = Some((first.number, format!("the LLVM IR does not define `{name}`")));
        }
        let attributes = attributes.unwrap_or_default();
        if attributes.naked {
            function.gap = Some((first.number, "a function that saves no registers".to_string()));
        }
        let frame = frame(header, &attributes, &mut function);
        function.tables = jump_tables(header.tables);
        if header.others.iter().any(|(key, text)| *key == "exposesReturnsTwice" && text.contains("true")) {
            // A slot that was used again before the second return holds something else then.
            function.gap = Some((first.number, "a call that may return twice".to_string()));
        }
        let start = Lines { text: self.lines.text, at: self.lines.at, number: self.lines.number };
        let landing = landing_pads(start);
        let mut blocks: Vec<Block> = Vec::new();
        let mut begun = 0usize;
        let mut lifter = Lifter::new(self.names, &mut self.opcodes, &mut function, &frame, &landing);
        for object in lifter.function.objects.iter().filter(|o| o.name.starts_with("%const.")) {
            lifter.constants.insert(lifter.names.intern(&object.name), constant(&object.description));
        }
        for (number, class) in register_classes(header.registers) {
            lifter.declare(number, registers::class_bits(class));
        }
        if header.registers.trim().is_empty() {
            declare_from_body(Lines { ..start_of(&self.lines) }, &mut lifter);
        }
        lifter.tracks_liveness = header.live;
        let mut liveness: Vec<Liveness> = Vec::new();
        let mut addressed: FxHashSet<u32> = FxHashSet::default();
        let mut ended = None;
        while let Some(line) = self.lines.next() {
            let text = line.text.trim();
            if line.text.trim_end() == "..." {
                ended = Some(line);
                break;
            }
            if text.is_empty() || text.starts_with(';') || text == "}" {
                continue;
            }
            let indent = line.text.len() - line.text.trim_start().len();
            if indent <= 2 && text.starts_with("bb.") {
                let (number, address) = block_header(text, &line)?;
                if text.contains("ir-block-address-taken ") {
                    addressed.insert(number);
                }
                // The rest of a call sequence that was split moves the stack pointer for the frame's objects too.
                if let Some((_, size)) = text.split_once("call-frame-size: ") {
                    let description = size.split([',', ')']).next().unwrap_or("").to_string();
                    let name = format!("call frame of bb.{number}");
                    lifter.function.objects.push(Object { name, description });
                }
                close_liveness(&mut lifter, &mut liveness);
                liveness.push(Liveness::default());
                finish_block(&mut lifter, &mut blocks, &mut begun, Some(number));
                lifter.current.unlabelled = text.contains("landing-pad");
                if text.contains("ehfunclet-entry") && lifter.function.gap.is_none() {
                    lifter.function.gap = Some((line.number, "a funclet, which is entered without registers".into()));
                }
                let address = address.map(|text| lifter.names.intern(text));
                let instructions = Span::default();
                blocks.push(Block { number, line: line.number, phis: Vec::new(), instructions, address });
                continue;
            }
            if blocks.is_empty() {
                return Err(line.error(format!("expected a block, found `{}`", shorten(text))));
            }
            if let Some(list) = text.strip_prefix("successors:") {
                lifter.current.successors = Some(block_numbers(list));
                continue;
            }
            if let Some(list) = text.strip_prefix("liveins:") {
                if let (true, Some(block)) = (lifter.tracks_liveness, liveness.last_mut()) {
                    block.entry.extend(live_registers(list));
                    block.entry.iter().for_each(|lane| lifter.live.add(*lane));
                }
                continue;
            }
            let mut cursor = Cursor { text: line.text, at: indent, line: line.number, names: lifter.names };
            let instruction = cursor.instruction()?;
            lifter.instruction(&instruction, line.number, (line.start as u32, (line.start + line.text.len()) as u32));
        }
        close_liveness(&mut lifter, &mut liveness);
        finish_block(&mut lifter, &mut blocks, &mut begun, None);
        check_liveness(&mut lifter, &blocks, &liveness);
        lifter.doubt_copies(&blocks);
        lifter.function.objects.sort();
        let indirect = std::mem::take(&mut lifter.indirect);
        let (redefines, untied) = (lifter.redefines, lifter.untied);
        self.is_ssa |= !redefines && (untied || blocks.iter().any(|block| !block.phis.is_empty()));
        function.may_reorder = !redefines;
        let Some(end) = ended else { return Err(self.unfinished("a function")) };
        function.text = (first.start as u32, (end.start + end.text.len()) as u32);
        function.blocks = blocks;
        resolve_blocks(&mut function, &indirect, &addressed).map_err(|(line, what)| Error {
            fault: Fault::Malformed,
            line,
            column: 1,
            what,
        })?;
        Ok(function)
    }
}

fn start_of<'a>(lines: &Lines<'a>) -> Lines<'a> {
    Lines { text: lines.text, at: lines.at, number: lines.number }
}

/// The name that a definition begins with, which may be quoted, and what comes after it.
fn defined_name(text: &str) -> Option<(String, &str)> {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map(|(name, rest)| (name.to_string(), rest)),
        None => text.split_once('(').map(|(name, rest)| (name.to_string(), rest)),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

fn empty(name: &str, source: Arc<str>, module: Option<Symbol>) -> Function {
    Function {
        name: name.to_string(),
        target: &X86_64,
        source,
        text: (0, 0),
        blocks: Vec::new(),
        virtuals: Vec::new(),
        slots: Vec::new(),
        objects: Vec::new(),
        tables: Vec::new(),
        masks: Vec::new(),
        reserved: Vec::new(),
        instructions: Vec::new(),
        steps: Vec::new(),
        args: Vec::new(),
        lanes: Vec::new(),
        terms: Vec::new(),
        gap: None,
        violation: None,
        needs: Vec::new(),
        forbidden: None,
        module,
        weak: Vec::new(),
        deletable: Vec::new(),
        keeps_parts: false,
        may_reorder: false,
    }
}

/// Closes the block before a header, or the last one.
fn finish_block(lifter: &mut Lifter<'_>, blocks: &mut [Block], begun: &mut usize, next: Option<u32>) {
    let current = std::mem::take(&mut lifter.current);
    let phis: Vec<Phi> = std::mem::take(&mut lifter.phis);
    let Some(block) = blocks.last_mut() else { return };
    if !current.ended {
        let falls = match (&current.successors, next) {
            (Some(list), Some(next)) => list.contains(&next),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if let (true, Some(target)) = (falls, next) {
            lifter.fall_through(Exit { when: Condition::Always, target }, block.line);
        }
    }
    // Later passes delete a block that no list of successors has.
    let listed = |to: u32| current.successors.as_ref().is_none_or(|list| list.contains(&to));
    let leads = lifter.function.instructions[*begun..].iter().flat_map(|i| &lifter.function.steps[i.steps.range()]);
    let mut lost = leads.filter_map(|step| if let Step::Leave(exit) = step { Some(exit.target) } else { None });
    if let Some(lost) = lost.find(|to| !listed(*to))
        && lifter.function.violation.is_none()
    {
        let what = format!("bb.{lost} is no successor of bb.{}", block.number);
        lifter.function.violation = Some((block.line, what));
    }
    // A way out that only the list of successors knows would not be looked at.
    let steps = lifter.function.instructions[*begun..].iter().flat_map(|i| &lifter.function.steps[i.steps.range()]);
    let leads = |to: &u32| steps.clone().any(|step| matches!(step, Step::Leave(exit) if exit.target == *to));
    if let Some(lost) = current.successors.iter().flatten().find(|to| !leads(to))
        && lifter.function.gap.is_none()
    {
        lifter.function.gap = Some((block.line, format!("no instruction of bb.{} leads to bb.{lost}", block.number)));
    }
    block.phis = phis;
    let end = lifter.function.instructions.len();
    block.instructions = Span { start: *begun as u32, len: (end - *begun) as u32 };
    *begun = end;
    lifter.current = Current::default();
}

/// What is live where a block is entered, and where it ends.
#[derive(Default)]
struct Liveness {
    entry: Vec<Lane>,
    end: Live,
    /// Where inline assembly leaves it.
    jump: Option<Live>,
}

/// `$rdi, $xmm0:0x0000000000000003`: parts are not told apart.
fn live_registers(list: &str) -> impl Iterator<Item = Lane> {
    list.split(',').filter_map(|word| registers::lane(word.trim().trim_start_matches('$').split(':').next()?))
}

fn close_liveness(lifter: &mut Lifter<'_>, liveness: &mut [Liveness]) {
    let (live, jump) = (std::mem::take(&mut lifter.live), lifter.live_at_jump.take());
    if let Some(block) = liveness.last_mut() {
        (block.end, block.jump) = (live, jump);
    }
}

/// What is live where a block is entered is live wherever control comes from. An exception brings its own registers.
fn check_liveness(lifter: &mut Lifter<'_>, blocks: &[Block], liveness: &[Liveness]) {
    if !lifter.tracks_liveness || lifter.function.violation.is_some() {
        return;
    }
    let index: FxHashMap<u32, usize> = blocks.iter().enumerate().map(|(i, block)| (block.number, i)).collect();
    for (block, before) in blocks.iter().zip(liveness) {
        let instructions = &lifter.function.instructions[block.instructions.range()];
        for step in instructions.iter().flat_map(|i| &lifter.function.steps[i.steps.range()]) {
            let Step::Leave(exit) = step else { continue };
            let Some(target) = index.get(&exit.target).filter(|_| !lifter.landing.contains(&exit.target)) else {
                continue;
            };
            let live = before.jump.as_ref().filter(|_| exit.when == Condition::Event).unwrap_or(&before.end);
            let lost = |lane: &&Lane| !live.has(**lane) && !lifter.is_reserved(**lane);
            if let Some(lane) = liveness[*target].entry.iter().find(lost) {
                let name = lifter.function.location_name(lane.location);
                let what = format!("{name} is live in bb.{} and not in bb.{} before it", exit.target, block.number);
                lifter.function.violation = Some((block.line, what));
                return;
            }
        }
    }
}

/// `bb.3.name (%ir-block.7, ir-block-address-taken %ir-block.7):`
fn block_header<'a>(text: &'a str, line: &TextLine<'_>) -> Result<(u32, Option<&'a str>), Error> {
    let digits = text[3..].bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = text[3..3 + digits].parse().map_err(|_| line.error("expected the number of a block"))?;
    // How it is reached besides: `ir-block-address-taken`, `machine-block-address-taken`, `inlineasm-br-indirect-target`.
    let address = ["ir-block-address-taken", "machine-block-address-taken", "inlineasm-br-indirect-target"];
    let address = address.iter().filter_map(|flag| text.find(flag)).min().map(|at| &text[at..]);
    Ok((number, address))
}

fn block_numbers(text: &str) -> Vec<u32> {
    text.split("%bb.")
        .skip(1)
        .filter_map(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            rest[..digits].parse().ok()
        })
        .collect()
}

fn landing_pads(mut lines: Lines<'_>) -> FxHashSet<u32> {
    let mut pads = FxHashSet::default();
    while let Some(line) = lines.next() {
        if line.text.starts_with("...") {
            break;
        }
        if line.text.starts_with("  bb.")
            && line.text.contains("landing-pad")
            && let Ok((number, _)) = block_header(line.text.trim(), &line)
        {
            pads.insert(number);
        }
    }
    pads
}

fn register_classes(section: &str) -> impl Iterator<Item = (u32, &str)> {
    section.split("id: ").skip(1).filter_map(|item| {
        let (number, rest) = item.split_once(',')?;
        let class = rest.split_once("class: ")?.1;
        let end = class.find([',', ' ', '}']).unwrap_or(class.len());
        Some((number.trim().parse().ok()?, &class[..end]))
    })
}

/// Without a list of registers their classes stand beside their definitions.
fn declare_from_body(mut lines: Lines<'_>, lifter: &mut Lifter<'_>) {
    while let Some(line) = lines.next() {
        if line.text.starts_with("...") {
            return;
        }
        for item in line.text.split('%').skip(1) {
            let digits = item.bytes().take_while(u8::is_ascii_digit).count();
            let Ok(number) = item[..digits].parse::<u32>() else { continue };
            let mut rest = &item[digits..];
            if let Some(sub) = rest.strip_prefix('.') {
                rest = sub.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            }
            if let Some(class) = rest.strip_prefix(':') {
                let end = class.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(class.len());
                lifter.declare(number, registers::class_bits(&class[..end]));
            }
        }
    }
}

/// The items `- { key: value, … }` of a section, which may wrap.
fn items(section: &str) -> impl Iterator<Item = FxHashMap<&str, &str>> {
    section.split("- {").skip(1).map(|item| {
        let body = item.split('}').next().unwrap_or("");
        body.split(',').filter_map(|field| field.split_once(':')).map(|(k, v)| (k.trim(), v.trim())).collect()
    })
}

/// What a constant holds, from its text: `value: '<4 x i32> zeroinitializer' alignment: 16`.
fn constant(description: &str) -> Constant {
    let value = description.split_once("value: ").map_or("", |(_, rest)| rest);
    let (value, rest) = value.rsplit_once(" alignment: ").unwrap_or((value, ""));
    let alignment = rest.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let value = value.split(" isTargetSpecific:").next().unwrap_or("").trim_matches('\'');
    let bits = constant_bits(value);
    if value.ends_with(" zeroinitializer") || value == "double 0.000000e+00" || value == "float 0.000000e+00" {
        return Constant { content: Content::Zeros, bits, alignment };
    }
    let elements = value.split_once("> <").map_or("", |(_, rest)| rest.trim_end_matches('>'));
    let ones = !elements.is_empty() && elements.split(", ").all(|e| e.starts_with('i') && e.ends_with(" -1"));
    Constant { content: if ones { Content::Ones } else { Content::Other }, bits, alignment }
}

/// Width of the type that a constant's text begins with; 0 if it is not known.
fn constant_bits(value: &str) -> u32 {
    let scalar = |name: &str| match name {
        "half" | "bfloat" => 16,
        "float" => 32,
        "double" => 64,
        "fp128" => 128,
        other => other.strip_prefix('i').and_then(|n| n.parse().ok()).filter(|n| n % 8 == 0).unwrap_or(0),
    };
    if let Some(vector) = value.strip_prefix('<') {
        let Some((count, rest)) = vector.split_once(" x ") else { return 0 };
        let Some((element, _)) = rest.split_once('>') else { return 0 };
        return count.parse::<u32>().ok().and_then(|n| n.checked_mul(scalar(element))).unwrap_or(0);
    }
    scalar(value.split(' ').next().unwrap_or(""))
}

/// The fields of an item that both functions must agree on.
fn description(item: &FxHashMap<&str, &str>) -> String {
    let mut fields: Vec<(&str, &str)> = item.iter().map(|(k, v)| (*k, *v)).collect();
    fields.retain(|(key, _)| *key != "id" && !key.starts_with("debug-info"));
    fields.sort_unstable();
    let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
    fields.join(", ")
}

/// Spill slots, objects, and which registers the frame needs.
fn frame(header: &Header<'_>, attributes: &Attributes, function: &mut Function) -> Frame {
    let mut frame = Frame { strict: attributes.strict, features: attributes.features.clone(), ..Frame::default() };
    let number = |item: &FxHashMap<&str, &str>, key: &str| item.get(key).and_then(|n| n.parse::<u64>().ok());
    let mut names: FxHashSet<String> = FxHashSet::default();
    let (mut largest, mut largest_spill) = (1, 1);
    for item in items(header.stack) {
        let id = item.get("id").and_then(|id| id.parse::<u32>().ok());
        let Some(id) = id.filter(|id| names.insert(format!("%stack.{id}"))) else {
            function.gap = Some((0, "a stack object has no number, or that of another".to_string()));
            continue;
        };
        let size = number(&item, "size").unwrap_or(0);
        let alignment = number(&item, "alignment").unwrap_or(1);
        let kind = item.get("type").copied().unwrap_or("default");
        if kind == "spill-slot" {
            let usual = |key: &str, value: &str| item.get(key).is_none_or(|there| *there == value);
            if !usual("stack-id", "default") || !usual("callee-saved-register", "''") {
                function.gap = Some((0, format!("spill slot {id} is for something else")));
            }
            largest_spill = largest_spill.max(alignment);
            frame.alignments.insert(id, alignment);
            if id < 1_000_000 && size > 0 && size <= 4096 {
                if function.slots.len() <= id as usize {
                    function.slots.resize(id as usize + 1, 0);
                }
                function.slots[id as usize] = (size * 8) as u16;
            } else {
                function.gap = Some((0, format!("spill slot {id} has an impossible number or size")));
            }
        } else {
            largest = largest.max(alignment);
            function.objects.push(Object { name: format!("%stack.{id}"), description: description(&item) });
        }
    }
    for item in items(header.fixed) {
        let id = item.get("id").and_then(|id| id.parse::<i64>().ok());
        let Some(id) = id.filter(|id| names.insert(format!("%fixed-stack.{id}"))) else {
            function.gap = Some((0, "a fixed stack object has no number, or that of another".to_string()));
            continue;
        };
        if item.get("isImmutable").is_some_and(|value| *value == "true") {
            frame.immutable.insert(id, number(&item, "size").unwrap_or(0));
        }
        function.objects.push(Object { name: format!("%fixed-stack.{id}"), description: description(&item) });
    }
    for item in header.constants.split("- id:").skip(1) {
        let (id, rest) = item.trim_start().split_once(['\n', ',']).unwrap_or((item, ""));
        let description = rest.split_whitespace().collect::<Vec<&str>>().join(" ");
        let name = format!("%const.{}", id.trim());
        if !names.insert(name.clone()) {
            function.gap = Some((0, format!("{name} is there twice")));
        }
        function.objects.push(Object { name, description });
    }
    let mut info: Vec<(&str, &str)> = header.frame.lines().filter_map(|line| line.split_once(':')).collect();
    info.iter_mut().for_each(|(key, value)| (*key, *value) = (key.trim(), value.trim()));
    let get = |key: &str| info.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let is = |key: &str| get(key) == Some("true");
    let whole = get("maxAlignment").and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
    // What only spill slots need came too late to reserve a register for.
    let needed = if whole > largest_spill { whole } else { largest };
    frame.realigned = attributes.realigned || needed > 16 && !attributes.unaligned;
    let variable = header.stack.contains("variable-sized") || is("hasOpaqueSPAdjustment");
    let framed = match attributes.frame_pointer {
        Some(FramePointer::Always) => true,
        Some(FramePointer::WithCalls) => is("hasCalls"),
        None => false,
    };
    let special = ["isFrameAddressTaken", "hasStackMap", "hasPatchPoint"].into_iter().any(is)
        || header.others.iter().any(|(key, text)| {
            let key = ["callsUnwindInit", "callsEHReturn", "hasEHFunclets"].contains(key);
            key && text.contains("true") || text.contains("hasPreallocatedCall: true")
        });
    // X86FrameLowering::hasFP and X86RegisterInfo::hasBasePointer.
    if framed || variable || special || frame.realigned {
        function.reserved.push(FRAME_POINTER);
    }
    let preallocated = header.others.iter().any(|(_, text)| text.contains("hasPreallocatedCall: true"));
    if frame.realigned && variable || preallocated {
        function.reserved.push(BASE_POINTER);
    }
    function.reserved.extend(attributes.missing());
    for (key, value) in info.into_iter().filter(|(key, _)| *key != "maxAlignment") {
        function.objects.push(Object { name: format!("frameInfo {key}"), description: value.to_string() });
    }
    for (key, text) in &header.others {
        let description = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        function.objects.push(Object { name: key.to_string(), description });
    }
    if let Some((kind, _)) = header.tables.split_once("entries:") {
        let description = kind.split_whitespace().collect::<Vec<&str>>().join(" ");
        function.objects.push(Object { name: "jumpTable".to_string(), description });
    }
    // Later passes ask whether lists of live registers can be believed, and which registers the function is entered with.
    let mut entered: Vec<&str> = items(header.liveins).filter_map(|item| item.get("reg").copied()).collect();
    entered.sort_unstable();
    let description = format!("tracked: {}, on entry: {}", header.live, entered.join(" "));
    function.objects.push(Object { name: "liveness".to_string(), description });
    function.objects.sort();
    frame
}

fn jump_tables(section: &str) -> Vec<Vec<u32>> {
    let mut tables: Vec<Vec<u32>> = Vec::new();
    for item in section.split("- id:").skip(1) {
        let digits = item.trim_start().bytes().take_while(u8::is_ascii_digit).count();
        let id: usize = item.trim_start()[..digits].parse().unwrap_or(usize::MAX);
        if id > 100_000 {
            continue;
        }
        if tables.len() <= id {
            tables.resize(id + 1, Vec::new());
        }
        tables[id] = block_numbers(item);
    }
    tables
}

/// Numbers of blocks become indices.
fn resolve_blocks(function: &mut Function, indirect: &[u32], addressed: &FxHashSet<u32>) -> Result<(), (u32, String)> {
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    for (index, block) in function.blocks.iter().enumerate() {
        if numbers.insert(block.number, index as u32).is_some() {
            return Err((block.line, format!("block bb.{} is there twice", block.number)));
        }
    }
    let find = |number: u32, line: u32| {
        numbers.get(&number).copied().ok_or_else(|| (line, format!("there is no block bb.{number}")))
    };
    let instructions = std::mem::take(&mut function.instructions);
    for instruction in &instructions {
        for step in &mut function.steps[instruction.steps.range()] {
            if let Step::Leave(exit) = step {
                exit.target = find(exit.target, instruction.line)?;
            }
        }
    }
    function.instructions = instructions;
    for block in &mut function.blocks {
        for phi in &mut block.phis {
            for (source, _) in &mut phi.sources {
                *source = find(*source, phi.line)?;
            }
        }
    }
    for target in function.tables.iter_mut().flatten() {
        *target = find(*target, 0)?;
    }
    for number in indirect {
        let index = find(*number, 0)? as usize;
        if !addressed.contains(number) && function.gap.is_none() {
            function.gap = Some((function.blocks[index].line, "an indirect jump to a block without an address".into()));
        }
    }
    Ok(())
}
