//! LLVM's own description of instructions and registers, as `data/make.py` distils it from TableGen.
//!
//! The text is searched, not loaded: lines are sorted by opcode, so that a file costs only the rows it uses. What a row
//! says is believed: which operands there are and in which classes, which share a register, what is read and written
//! besides, how wide an access to memory is.

use crate::registers;
use machine::Lane;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

static INSTRUCTIONS: &str = include_str!("../data/instructions.txt");
static REGISTERS: &str = include_str!("../data/registers.txt");

/// A register class.
#[derive(Debug)]
pub struct RegisterClass {
    pub name: &'static str,
    /// Width of its registers.
    pub bits: u16,
    members: Vec<Lane>,
}

impl RegisterClass {
    /// Is the physical register one of it?
    pub fn has(&self, lane: Lane) -> bool {
        self.members.contains(&lane)
    }
}

struct Registers {
    /// In LLVM's numbering.
    classes: Vec<RegisterClass>,
    by_name: FxHashMap<&'static str, usize>,
}

static ALL: LazyLock<Registers> = LazyLock::new(|| {
    let mut all = Registers { classes: Vec::new(), by_name: FxHashMap::default() };
    for line in REGISTERS.lines() {
        let mut words = line.split(' ');
        let (Some("class"), Some(name), Some(bits)) = (words.next(), words.next(), words.next()) else { continue };
        all.by_name.insert(name, all.classes.len());
        // Registers that only exist with later extensions have no lane here, so nothing can be in them.
        let members = words.filter_map(registers::lane).collect();
        all.classes.push(RegisterClass { name, bits: bits.parse().unwrap_or(0), members });
    }
    all
});

/// The class with a number, as inline assembly names it.
pub fn class_numbered(number: usize) -> Option<&'static RegisterClass> {
    ALL.classes.get(number)
}

/// The class with a name.
pub fn class_named(name: &str) -> Option<&'static RegisterClass> {
    ALL.by_name.get(name).and_then(|n| ALL.classes.get(*n))
}

/// The masks of calls: name and preserved registers.
pub fn masks() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    REGISTERS.lines().filter_map(|line| {
        let mut words = line.strip_prefix("mask ")?.split(' ');
        Some((words.next()?, words))
    })
}

/// What stands at the place of an operand.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A register of a class.
    Register(&'static RegisterClass),
    /// The five operands of an address.
    Memory {
        /// Width of the access; 0 if it is not known, or there is none.
        bits: u16,
        /// Does it fault if the address is not a multiple of its width?
        aligned: bool,
        base: Option<&'static RegisterClass>,
        index: Option<&'static RegisterClass>,
    },
    /// A number or something that becomes one, and which numbers can be encoded.
    Number(Encoding),
    /// A block or a symbol.
    Target,
    /// Anything.
    Any,
}

/// How many bits of a number an instruction has, and what becomes of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    Unknown,
    /// As wide as the operation.
    Whole(u16),
    /// Sign-extended to the operation's width.
    Signed(u16),
    /// Zero-extended to the operation's width.
    Unsigned(u16),
}

impl Encoding {
    /// Does the instruction compute with this very number?
    pub fn holds(self, number: i64) -> bool {
        let signed = |bits: u16| bits >= 64 || (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(&number);
        let unsigned = |bits: u16| bits >= 64 || (0..1i64 << bits).contains(&number);
        match self {
            Encoding::Unknown => true,
            Encoding::Whole(bits) => signed(bits) || unsigned(bits),
            Encoding::Signed(bits) => signed(bits),
            Encoding::Unsigned(bits) => unsigned(bits),
        }
    }
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub kind: Kind,
    pub defined: bool,
    /// Written before all others are read.
    pub early: bool,
    /// Number of the definition that must be in the same register.
    pub tied: Option<usize>,
    /// How many low bits are read, if not all.
    pub reads: Option<u16>,
}

/// How a memory form relates to its register form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    /// One operand is loaded.
    Load,
    /// The same, but the access may be narrower than the register, or masked.
    NarrowLoad,
    /// The result is stored.
    Store,
    /// Loaded, and the result stored in the same place.
    Both,
}

/// An instruction.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub operands: Vec<Spec>,
    pub loads: bool,
    pub stores: bool,
    /// Does something that the other fields do not say.
    pub effects: bool,
    pub calls: bool,
    pub returns: bool,
    pub variadic: bool,
    pub pseudo: bool,
    pub terminates: bool,
    pub commutes: bool,
    /// Is a vector register cleared above the result?
    pub clears: bool,
    pub uses: Vec<Lane>,
    pub definitions: Vec<Lane>,
    /// Register forms of a memory form.
    pub forms: Vec<(&'static str, Fold)>,
    /// What the processor must have besides x86-64, by LLVM's names of features.
    pub needs: Vec<&'static str>,
    /// Something in the row is not known here, such as a register of a later extension.
    pub strange: bool,
}

impl Row {
    /// Width of the access to memory, and whether it must be aligned.
    pub fn memory(&self) -> Option<(u16, bool)> {
        self.operands.iter().find_map(|spec| match spec.kind {
            Kind::Memory { bits, aligned, .. } => Some((bits, aligned)),
            _ => None,
        })
    }

    /// Number of the address's first operand among the explicit uses.
    pub fn memory_at(&self) -> Option<usize> {
        let mut uses = self.operands.iter().filter(|spec| !spec.defined);
        uses.position(|spec| matches!(spec.kind, Kind::Memory { .. }))
    }

    /// Does it nothing but compute its definitions from its operands?
    pub fn computes_only(&self) -> bool {
        !(self.loads || self.stores || self.effects || self.calls || self.returns || self.variadic || self.pseudo)
            && !self.terminates
            && !self.strange
    }
}

/// The row of an opcode.
pub fn row(opcode: &str) -> Option<Row> {
    let line = find(opcode)?;
    let mut fields = line.split('\t').skip(1);
    let mut row = Row::default();
    for token in words(fields.next()) {
        row.operands.push(spec(token)?);
    }
    let flags = fields.next().unwrap_or("");
    let has = |letter: char| flags.contains(letter);
    (row.loads, row.stores, row.effects) = (has('L'), has('S'), has('E'));
    (row.calls, row.returns, row.variadic) = (has('C'), has('R'), has('V'));
    (row.pseudo, row.terminates, row.commutes, row.clears) = (has('P'), has('T'), has('X'), has('Z'));
    for (list, field) in [(&mut row.uses, fields.next()), (&mut row.definitions, fields.next())] {
        for name in words(field) {
            match registers::lane(name) {
                Some(lane) => list.push(lane),
                None => row.strange = true,
            }
        }
    }
    for form in words(fields.next()) {
        let (name, kind) = form.split_once(':')?;
        let kind = match kind {
            "ld" => Fold::Load,
            "lx" => Fold::NarrowLoad,
            "st" => Fold::Store,
            "rw" => Fold::Both,
            _ => return None,
        };
        row.forms.push((name, kind));
    }
    row.needs = words(fields.next()).collect();
    Some(row)
}

fn words(field: Option<&'static str>) -> impl Iterator<Item = &'static str> {
    field.unwrap_or("").split(' ').filter(|word| !word.is_empty())
}

fn spec(token: &'static str) -> Option<Spec> {
    let (defined, token) = token.strip_prefix('>').map_or((false, token), |rest| (true, rest));
    let (early, token) = token.strip_prefix('!').map_or((false, token), |rest| (true, rest));
    let (token, tied) = match token.split_once('=') {
        Some((token, number)) => (token, Some(number.parse().ok()?)),
        None => (token, None),
    };
    let (token, reads) = match token.split_once('/') {
        Some((token, bits)) => (token, Some(bits.parse().ok()?)),
        None => (token, None),
    };
    let kind = match token {
        "i" => Kind::Number(Encoding::Unknown),
        "b" => Kind::Target,
        "?" => Kind::Any,
        _ => match memory(token).or_else(|| number(token)) {
            Some(kind) => kind,
            None => Kind::Register(pointer_class(token)?),
        },
    };
    Some(Spec { kind, defined, early, tied, reads })
}

/// `m32`, `a128`, `m64:tailcall`, `m0:ptr:vr128`.
fn memory(token: &'static str) -> Option<Kind> {
    let mut parts = token.split(':');
    let first = parts.next()?;
    let aligned = first.starts_with('a');
    let bits = first.strip_prefix(['m', 'a'])?.parse().ok()?;
    let (base, index) = match (parts.next(), parts.next()) {
        (None, _) | (Some("lea"), _) => ("gr64", "gr64_nosp"),
        (Some("tailcall"), _) => ("gr64_tc", "gr64_tc"),
        (Some(base), Some(index)) => (base, index),
        (Some(_), None) => return None,
    };
    Some(Kind::Memory { bits, aligned, base: pointer_class(base), index: pointer_class(index) })
}

/// `i8`, `i32s`, `i32u`.
fn number(token: &str) -> Option<Kind> {
    let token = token.strip_prefix('i')?;
    let (digits, of): (&str, fn(u16) -> Encoding) = match token.strip_suffix('s') {
        Some(digits) => (digits, Encoding::Signed),
        None => match token.strip_suffix('u') {
            Some(digits) => (digits, Encoding::Unsigned),
            None => (token, Encoding::Whole),
        },
    };
    let bits = digits.parse().ok().filter(|bits| (1..=64).contains(bits))?;
    Some(Kind::Number(of(bits)))
}

/// Classes that depend on the mode; here pointers have 64 bits.
fn pointer_class(name: &str) -> Option<&'static RegisterClass> {
    class_named(match name {
        "ptr" => "gr64",
        "ptr_nosp" => "gr64_nosp",
        "ptr_norex" => "gr64_norex",
        "ptr_norex_nosp" => "gr64_norex_nosp",
        "ptr_tailcall" => "gr64_tc",
        other => other,
    })
}

/// The line that starts with an opcode, by binary search.
fn find(opcode: &str) -> Option<&'static str> {
    let text = INSTRUCTIONS;
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = text.get(..middle)?.rfind('\n').map_or(0, |n| n + 1);
        let end = text.get(start..)?.find('\n').map_or(text.len(), |n| start + n);
        let line = text.get(start..end)?;
        // Comments sort first: `#` comes before all letters.
        let name = line.split('\t').next().unwrap_or("");
        match name.as_bytes().cmp(opcode.as_bytes()) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        let mut count = 0;
        for line in INSTRUCTIONS.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split('\t').next().unwrap_or("");
            assert!(row(name).is_some(), "{line}");
            count += 1;
        }
        assert!(count > 15_000);
        assert!(row("ADD32rq").is_none() && row("").is_none() && row("#").is_none());
    }

    #[test]
    fn rows_say_what_llvm_says() {
        let add = row("ADD32rm").expect("a row");
        assert_eq!(add.memory(), Some((32, false)));
        assert_eq!(add.operands[1].tied, Some(0));
        assert_eq!(add.definitions, [registers::lane("eflags").expect("a register")]);
        assert!(add.loads && !add.stores);
        assert_eq!(row("MOVAPSrm").and_then(|r| r.memory()), Some((128, true)));
        assert_eq!(row("MOVUPSrm").and_then(|r| r.memory()), Some((128, false)));
        assert!(row("VGATHERDPDrm").expect("a row").operands[0].early);
        let tail = row("TCRETURNri64").expect("a row");
        let Kind::Register(class) = tail.operands[0].kind else { panic!("a register") };
        assert!(class.has(registers::lane("rax").expect("rax")) && !class.has(registers::lane("rbx").expect("rbx")));
        assert!(row("MOVZX32rr8").expect("a row").computes_only() && !row("RDTSC").expect("a row").computes_only());
        let number = |opcode: &str, at: usize| match row(opcode).expect("a row").operands[at].kind {
            Kind::Number(encoding) => encoding,
            _ => panic!("a number"),
        };
        assert_eq!(number("ADD32ri", 2), Encoding::Whole(32));
        assert_eq!(number("ADD64ri32", 2), Encoding::Signed(32));
        assert_eq!(number("ADD32ri8", 2), Encoding::Signed(8));
        assert_eq!(number("MOV32ri64", 1), Encoding::Unsigned(32));
        assert!(Encoding::Signed(32).holds(-1) && !Encoding::Signed(32).holds(0xffff_ffff));
        assert!(Encoding::Whole(32).holds(-1) && Encoding::Whole(32).holds(0xffff_ffff));
        assert!(!Encoding::Whole(32).holds(1 << 32) && !Encoding::Unsigned(32).holds(-1));
        assert_eq!(class_numbered(40).map(|c| c.name), Some("gr32_norex2"));
    }
}
