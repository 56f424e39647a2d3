//! Operands, memory operands and whole instructions, from one line of text.
//!
//! One pass over the bytes of a line, no backtracking. What has no structure that matters here (globals, metadata,
//! symbols) is kept as its text.

use crate::error::{Error, Fault};
use crate::registers;
use machine::{LARGEST_NUMBER, Lane, Location, Names, Symbol};

/// Flags of a register operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegisterFlags {
    pub implicit: bool,
    pub define: bool,
    pub dead: bool,
    pub undefined: bool,
    pub early: bool,
    /// Last use: the register is free afterwards.
    pub killed: bool,
    /// May a later pass take another register instead?
    pub renamable: bool,
    /// A read of what the same bundle defines.
    pub internal: bool,
    /// Index of the operand that this one must share a register with (inline assembly).
    pub tied: Option<u32>,
}

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A physical register, or a virtual one that has no width yet: then `bits` is 0.
    Register(Lane, RegisterFlags),
    /// `$noreg`.
    NoRegister,
    Immediate(i64),
    Block(u32),
    Stack(u32),
    /// `%subreg.sub_32bit`: first bit and number.
    Subregister(u16, u16),
    /// Something known by its text, and a number added to it.
    Text(Symbol, i64),
    /// A register mask, and its text.
    Mask(machine::Mask, Symbol),
}

/// How an instruction touches memory, as its memory operands say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryOperand {
    pub load: bool,
    pub store: bool,
    /// Width in bits; 0 if unknown.
    pub bits: u32,
    /// Volatile or atomic.
    pub ordered: bool,
    pub invariant: bool,
    pub base: Base,
}

/// What a memory operand points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    Stack(u32),
    FixedStack(i64),
    /// Constant pool, jump table, GOT: never changes.
    Constant,
    Other,
}

/// A line of a block, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub opcode: String,
    pub operands: Vec<Operand>,
    /// How many of the operands stand before the `=`.
    pub defined: usize,
    pub memory: Vec<MemoryOperand>,
    /// The texts of all memory operands.
    pub said: Vec<Symbol>,
    /// Did a memory operand make no sense?
    pub strange_memory: bool,
    /// Does a bundle begin with it?
    pub bundled: bool,
    /// Is it marked as a part of the prologue or epilogue?
    pub framed: bool,
    /// Is it marked to raise no floating-point exception (`nofpexcept`)?
    pub silent: bool,
    /// What else hangs on the instruction and reaches the output: labels, the type of a checked call.
    pub notes: Vec<Symbol>,
    /// Widths of classes that were mentioned, with the number of the virtual register.
    pub classes: Vec<(u32, u16)>,
}

/// A position in a line.
pub struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
    pub line: u32,
    pub names: &'a mut Names,
}

impl<'a> Cursor<'a> {
    pub fn error(&self, what: impl Into<String>) -> Error {
        Error { fault: Fault::Malformed, line: self.line, column: self.at as u32 + 1, what: what.into() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at.min(self.text.len())..]
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        while self.peek() == b' ' || self.peek() == b'\t' {
            self.at += 1;
        }
        if self.rest().starts_with("/*") {
            self.at = self.rest().find("*/").map_or(self.text.len(), |end| self.at + end + 2);
            self.skip_blanks();
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == byte;
        self.at += usize::from(there);
        there
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.text.len() && wanted(self.text.as_bytes()[self.at]) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn number(&mut self) -> Result<u32, Error> {
        let digits = self.take_while(|b| b.is_ascii_digit());
        match digits.parse::<u32>() {
            Ok(n) if n <= LARGEST_NUMBER => Ok(n),
            _ => Err(self.error("expected a number")),
        }
    }

    /// A whole instruction.
    pub fn instruction(&mut self) -> Result<Line, Error> {
        let mut line = Line::default();
        self.skip_blanks();
        // Definitions, up to the `=`.
        loop {
            let before = self.at;
            let flags = self.register_flags();
            if self.peek() != b'%' && self.peek() != b'$' {
                self.at = before;
                break;
            }
            let mut operand = self.operand(flags, &mut line)?;
            if let Operand::Register(_, flags) = &mut operand {
                flags.define = true;
            }
            line.operands.push(operand);
            self.skip_blanks();
            if self.eat(b',') {
                self.skip_blanks();
                continue;
            }
            if !self.eat(b'=') {
                return Err(self.error("expected `=` after the definitions"));
            }
            self.skip_blanks();
            break;
        }
        line.defined = line.operands.len();
        // Flags of the instruction, then the opcode.
        loop {
            let word = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if word.is_empty() {
                return Err(self.error("expected an opcode"));
            }
            self.skip_blanks();
            if word.as_bytes()[0].is_ascii_uppercase() {
                line.opcode.push_str(word);
                break;
            }
            line.framed |= matches!(word, "frame-setup" | "frame-destroy");
            line.silent |= word == "nofpexcept";
        }
        self.operands(&mut line)?;
        line.bundled = self.text.trim_end().ends_with('{');
        Ok(line)
    }

    fn operands(&mut self, line: &mut Line) -> Result<(), Error> {
        loop {
            self.skip_blanks();
            if self.at >= self.text.len() || matches!(self.peek(), b'{' | b'}' | b';') {
                return Ok(());
            }
            if self.rest().starts_with("::") {
                self.at += 2;
                return self.memory_operands(line);
            }
            if let Some(rest) = self.rest().strip_prefix("debug-location") {
                // `debug-location !12` or `debug-location !DILocation(...)`.
                let text = rest.trim_start();
                let end = self.end_of_opaque(self.text.len() - text.len());
                self.at = end;
            } else if self.rest().starts_with("debug-instr-number") || self.rest().starts_with("heap-alloc-marker ") {
                self.at = self.end_of_opaque(self.at);
            } else if ["cfi-type ", "pre-instr-symbol ", "post-instr-symbol ", "pcsections ", "mmra "]
                .iter()
                .any(|n| self.rest().starts_with(n))
            {
                let start = self.at;
                self.at = self.end_of_opaque(start);
                let text = &self.text[start..self.at];
                line.notes.push(self.names.intern(text));
            } else {
                let flags = self.register_flags();
                let operand = self.operand(flags, line)?;
                line.operands.push(operand);
            }
            self.skip_blanks();
            if !self.eat(b',') && self.at < self.text.len() && !self.rest().starts_with("::") {
                if matches!(self.peek(), b'{' | b'}' | b';') {
                    return Ok(());
                }
                return Err(self.error("expected `,` or the end of the line"));
            }
        }
    }

    fn register_flags(&mut self) -> RegisterFlags {
        let mut flags = RegisterFlags::default();
        loop {
            let start = self.at;
            let word = self.take_while(|b| b.is_ascii_lowercase() || b == b'-');
            if self.peek() != b' ' {
                self.at = start;
                return flags;
            }
            match word {
                "implicit" => flags.implicit = true,
                "implicit-def" => (flags.implicit, flags.define) = (true, true),
                "def" => flags.define = true,
                "dead" => flags.dead = true,
                "undef" => flags.undefined = true,
                "early-clobber" => flags.early = true,
                "killed" => flags.killed = true,
                "renamable" => flags.renamable = true,
                "internal" => flags.internal = true,
                "debug-use" => {}
                _ => {
                    self.at = start;
                    return flags;
                }
            }
            self.skip_blanks();
        }
    }

    fn operand(&mut self, mut flags: RegisterFlags, line: &mut Line) -> Result<Operand, Error> {
        match self.peek() {
            b'$' => {
                self.at += 1;
                let name = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                if name == "noreg" {
                    return Ok(Operand::NoRegister);
                }
                let Some(lane) = registers::lane(name) else {
                    let what = format!("register `${name}` is not one of x86-64");
                    return Err(Error { fault: Fault::Unsupported, ..self.error(what) });
                };
                self.tie(&mut flags)?;
                Ok(Operand::Register(lane, flags))
            }
            b'%' => self.percent(flags, line),
            b'-' | b'0'..=b'9' => self.immediate(),
            b'@' | b'&' => self.global(),
            _ => self.opaque(),
        }
    }

    fn tie(&mut self, flags: &mut RegisterFlags) -> Result<(), Error> {
        if self.rest().starts_with("(tied-def ") {
            self.at += "(tied-def ".len();
            flags.tied = Some(self.number()?);
            if !self.eat(b')') {
                return Err(self.error("expected `)`"));
            }
        }
        Ok(())
    }

    fn percent(&mut self, mut flags: RegisterFlags, line: &mut Line) -> Result<Operand, Error> {
        let start = self.at;
        self.at += 1;
        if self.peek().is_ascii_digit() {
            let number = self.number()?;
            let (mut low, mut bits) = (0, 0);
            if self.eat(b'.') {
                let name = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                let Some(range) = registers::subregister(name) else {
                    let what = format!("sub-register `{name}` is not known");
                    return Err(Error { fault: Fault::Unsupported, ..self.error(what) });
                };
                (low, bits) = range;
            }
            if self.eat(b':') {
                let class = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                line.classes.push((number, registers::class_bits(class)));
                if self.eat(b'(') {
                    self.take_while(|b| b != b')');
                    self.eat(b')');
                }
            }
            self.tie(&mut flags)?;
            return Ok(Operand::Register(Lane::new(Location::virtual_register(number), low, bits), flags));
        }
        let kind = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let name_ends = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'$');
        if !self.eat(b'.') {
            return Err(self.error(format!("operand `%{kind}` is not known")));
        }
        match kind {
            "bb" => {
                let number = self.number()?;
                self.take_while(name_ends);
                Ok(Operand::Block(number))
            }
            "stack" => {
                let number = self.number()?;
                if self.eat(b'.') {
                    self.name();
                }
                let addend = self.addend()?;
                if addend == 0 {
                    return Ok(Operand::Stack(number));
                }
                let symbol = self.names.intern(&format!("%stack.{number}"));
                Ok(Operand::Text(symbol, addend))
            }
            "subreg" => {
                let name = self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                match registers::subregister(name) {
                    Some((low, bits)) => Ok(Operand::Subregister(low, bits)),
                    None => {
                        let what = format!("sub-register `{name}` is not known");
                        Err(Error { fault: Fault::Unsupported, ..self.error(what) })
                    }
                }
            }
            "fixed-stack" | "const" | "jump-table" => {
                self.take_while(|b| b.is_ascii_digit() || b == b'-');
                let symbol = self.names.intern(&self.text[start..self.at]);
                let addend = self.addend()?;
                Ok(Operand::Text(symbol, addend))
            }
            _ => Err(self.error(format!("operand `%{kind}` is not known"))),
        }
    }

    /// A name that may be quoted.
    fn name(&mut self) {
        if self.eat(b'"') {
            while self.at < self.text.len() && self.peek() != b'"' {
                self.at += if self.peek() == b'\\' { 2 } else { 1 };
            }
            self.at = (self.at + 1).min(self.text.len());
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        } else {
            self.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'-') || b >= 0x80);
        }
    }

    fn addend(&mut self) -> Result<i64, Error> {
        let start = self.at;
        self.skip_blanks();
        let sign = match self.peek() {
            b'+' => 1,
            b'-' => -1,
            _ => {
                self.at = start;
                return Ok(0);
            }
        };
        self.at += 1;
        self.skip_blanks();
        let digits = self.take_while(|b| b.is_ascii_digit());
        let value: i64 = digits.parse().map_err(|_| self.error("expected a number"))?;
        Ok(sign * value)
    }

    fn global(&mut self) -> Result<Operand, Error> {
        let start = self.at;
        self.at += 1;
        self.name();
        let symbol = self.names.intern(&self.text[start..self.at]);
        let addend = self.addend()?;
        Ok(Operand::Text(symbol, addend))
    }

    fn immediate(&mut self) -> Result<Operand, Error> {
        let text = self.take_while(|b| b.is_ascii_digit() || b == b'-');
        // Unsigned 64-bit numbers occur too.
        let value = text.parse::<i64>().or_else(|_| text.parse::<u64>().map(|n| n as i64));
        value.map(Operand::Immediate).map_err(|_| self.error("expected a number"))
    }

    /// End of something that is kept as text: a comma or `::` outside of brackets and quotes.
    fn end_of_opaque(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut at = from;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += 1;
                    }
                }
                b'(' | b'<' | b'[' => depth += 1,
                b')' | b'>' | b']' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => break,
                b' ' if depth == 0 && self.text[at..].starts_with(" ::") => break,
                _ => {}
            }
            at += 1;
        }
        at.min(bytes.len())
    }

    fn opaque(&mut self) -> Result<Operand, Error> {
        let start = self.at;
        if self.rest().starts_with("target-flags(") {
            self.take_while(|b| b != b')');
            self.eat(b')');
            let flags_end = self.at;
            self.skip_blanks();
            let inner = self.operand(RegisterFlags::default(), &mut Line::default())?;
            return Ok(match inner {
                Operand::Text(symbol, addend) => {
                    let text = format!("{} {}", &self.text[start..flags_end], self.names.text(symbol));
                    Operand::Text(self.names.intern(&text), addend)
                }
                other => other,
            });
        }
        self.at = self.end_of_opaque(start);
        let text = self.text[start..self.at].trim();
        if text.is_empty() {
            return Err(self.error("expected an operand"));
        }
        if text.starts_with("csr_") || text.starts_with("CustomRegMask") {
            return Ok(Operand::Mask(registers::mask(text), self.names.intern(text)));
        }
        Ok(Operand::Text(self.names.intern(text), 0))
    }

    fn memory_operands(&mut self, line: &mut Line) -> Result<(), Error> {
        loop {
            self.skip_blanks();
            if !self.eat(b'(') {
                return Err(self.error("expected a memory operand"));
            }
            let start = self.at;
            let mut depth = 1;
            let bytes = self.text.as_bytes();
            while self.at < bytes.len() {
                match bytes[self.at] {
                    b'(' => depth += 1,
                    b')' => {
                        depth -= 1;
                        if depth == 0 {
                            break;
                        }
                    }
                    b'"' => {
                        self.at += 1;
                        while self.at < bytes.len() && bytes[self.at] != b'"' {
                            self.at += 1;
                        }
                    }
                    _ => {}
                }
                self.at += 1;
            }
            if self.at >= bytes.len() {
                return Err(self.error("a memory operand does not end"));
            }
            let text = &self.text[start..self.at];
            line.said.push(self.names.intern(text));
            match memory_operand(text) {
                Some(operand) => line.memory.push(operand),
                None => line.strange_memory = true,
            }
            self.at += 1;
            self.skip_blanks();
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }
}

/// What stands between the brackets of a memory operand.
fn memory_operand(text: &str) -> Option<MemoryOperand> {
    let mut operand =
        MemoryOperand { load: false, store: false, bits: 0, ordered: false, invariant: false, base: Base::Other };
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('(') || rest.is_empty() {
            break;
        }
        let end = rest.find([' ', '(']).unwrap_or(rest.len());
        match &rest[..end] {
            "load" => operand.load = true,
            "store" => operand.store = true,
            "dereferenceable" | "non-temporal" => {}
            "invariant" => operand.invariant = true,
            word if word.starts_with('"') => return None,
            "unknown-size" => break,
            "from" | "into" | "on" => break,
            // `volatile`, an atomic ordering, a scope, a target's flag.
            _ => operand.ordered = true,
        }
        if end == 0 {
            return None;
        }
        rest = &rest[end..];
        if operand.ordered && rest.starts_with("(\"") {
            rest = rest.split_once(')')?.1;
        }
    }
    if let Some(inner) = rest.strip_prefix('(') {
        let close = inner.find(')')?;
        operand.bits = type_bits(&inner[..close]).unwrap_or(0);
        rest = &inner[close + 1..];
    } else if let Some(after) = rest.strip_prefix("unknown-size") {
        rest = after;
    }
    let place = rest.trim_start();
    let place = ["from ", "into ", "on "].iter().find_map(|word| place.strip_prefix(word)).unwrap_or("");
    let number = |text: &str| -> Option<i64> {
        let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
        text[..digits].parse().ok()
    };
    operand.base = if let Some(n) = place.strip_prefix("%stack.").and_then(number) {
        Base::Stack(u32::try_from(n).ok()?)
    } else if let Some(n) = place.strip_prefix("%fixed-stack.").and_then(number) {
        Base::FixedStack(n)
    } else if ["constant-pool", "jump-table", "got"].iter().any(|word| place.starts_with(word)) {
        Base::Constant
    } else {
        Base::Other
    };
    (operand.load || operand.store).then_some(operand)
}

/// `s32`, `p0`, `<4 x s32>`.
fn type_bits(text: &str) -> Option<u32> {
    if let Some(vector) = text.strip_prefix('<') {
        let (count, element) = vector.trim_end_matches('>').split_once(" x ")?;
        return count.parse::<u32>().ok()?.checked_mul(type_bits(element)?);
    }
    if text.starts_with('p') {
        return Some(64);
    }
    text.strip_prefix('s')?.parse().ok().filter(|bits| *bits <= 4096)
}
