//! The numbers that conditions are guessed about: arguments, cells of memory at entry, distances of pointers.
//!
//! Each goes by the words of the source where debug information has some, and by its register otherwise.

use crate::objects::inputs::{Argument, Input};
use crate::objects::refute::Runner;
use program::{Function, Place, SourceType, SourceTypeId, SourceTypes};
use term::{Arena, Bits};

/// How the bits of a number are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Unsigned,
    Signed,
    Float,
    Pointer,
}

/// What a number is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// The argument at this position.
    Argument(usize),
    /// Memory behind a pointer, perhaps at an index: the argument that is the index, and its scale.
    Cell { base: usize, index: Option<(usize, u64)>, offset: i64 },
    /// The first pointer minus the second, in bytes.
    Difference(usize, usize),
}

/// A number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub what: What,
    pub text: String,
    pub bytes: u16,
    pub form: Form,
}

impl Number {
    /// Its bits in a start state.
    pub fn bits(&self, arena: &Arena, runner: &mut Runner, input: &Input) -> u64 {
        let low = match &self.what {
            What::Argument(i) => input.values[*i].low(),
            What::Difference(i, j) => input.values[*i].low().wrapping_sub(input.values[*j].low()),
            What::Cell { .. } => runner.initial_bytes(arena, input, self.address(input), self.bytes),
        };
        self.cut(low)
    }

    /// Its value as its type reads it; that of a floating-point number is its bits.
    pub fn value(&self, bits: u64) -> i128 {
        match self.form {
            Form::Signed if self.bytes < 8 => {
                let unused = 64 - 8 * u32::from(self.bytes);
                i128::from((bits << unused) as i64 >> unused)
            }
            Form::Signed => i128::from(bits as i64),
            _ => i128::from(bits),
        }
    }

    /// Changes a start state so that it has these bits.
    pub fn set(&self, runner: &Runner, input: &mut Input, bits: u64) {
        match &self.what {
            What::Argument(i) => input.set(&runner.arguments, *i, Bits::new(64, bits)),
            What::Difference(i, j) => {
                let value = input.values[*j].low().wrapping_add(bits);
                input.set(&runner.arguments, *i, Bits::new(64, value));
            }
            What::Cell { .. } => {
                let start = self.address(input);
                for (i, byte) in bits.to_le_bytes().into_iter().take(usize::from(self.bytes)).enumerate() {
                    input.fixed.insert(start.wrapping_add(i as u64), byte);
                }
            }
        }
    }

    /// Where a cell lies.
    fn address(&self, input: &Input) -> u64 {
        let What::Cell { base, index, offset } = &self.what else { return 0 };
        let along = index.map_or(0, |(i, scale)| input.values[i].low().wrapping_mul(scale));
        input.values[*base].low().wrapping_add(along).wrapping_add(*offset as u64)
    }

    fn cut(&self, value: u64) -> u64 {
        if self.bytes >= 8 { value } else { value & ((1 << (8 * self.bytes)) - 1) }
    }

    pub fn is_cell(&self) -> bool {
        matches!(self.what, What::Cell { .. })
    }

    /// As its bits alone: two floating-point numbers with the same bits are the same.
    pub fn raw(&self) -> String {
        if self.form == Form::Float { format!("bits({})", self.text) } else { self.text.clone() }
    }

    /// Without a sign.
    pub fn unsigned(&self) -> String {
        match (self.form, self.bytes) {
            (Form::Signed, 8) => format!("(unsigned long){}", self.text),
            (Form::Signed, 4) => format!("(unsigned){}", self.text),
            _ => self.text.clone(),
        }
    }
}

/// An argument in the source's words.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub text: String,
    pub bytes: u16,
    pub form: Form,
    /// What it points to.
    pub pointee: Option<SourceTypeId>,
}

/// The arguments of the original in its source's words, in the order of the runner's; `None` for those that no condition should mention.
pub(crate) fn words(original: &Function, arguments: &[Argument]) -> Vec<Option<Word>> {
    arguments.iter().map(|argument| word(original, argument)).collect()
}

fn word(original: &Function, argument: &Argument) -> Option<Word> {
    if argument.result || !argument.choices.is_empty() {
        return None;
    }
    let of = |p: &&program::Parameter| p.values.len() == 1 && p.values[0].place == argument.place;
    let Some(parameter) = original.parameters.iter().find(of) else {
        let parts = |p: &program::Parameter| p.values.iter().any(|v| v.place == argument.place);
        if original.parameters.iter().any(parts) || argument.bytes > 8 {
            return None;
        }
        let Place::Register(register) = argument.place else { return None };
        let form = if argument.is_vector() {
            Form::Float
        } else if argument.pointer {
            Form::Pointer
        } else {
            Form::Unsigned
        };
        return Some(Word { text: register.name(), bytes: argument.bytes, form, pointee: None });
    };
    let types = &original.source_types;
    let passed = parameter.values[0].bytes;
    let (bytes, form, pointee) = match parameter.source_type.map(|id| types.get(id)) {
        Some(SourceType::Integer { bytes, signed, boolean }) => {
            let form = if *signed && !boolean { Form::Signed } else { Form::Unsigned };
            (*bytes, form, None)
        }
        Some(SourceType::Float { bytes: bytes @ (4 | 8) }) => (*bytes, Form::Float, None),
        Some(SourceType::Pointer(to)) => (8, Form::Pointer, *to),
        None if parameter.pointer => (8, Form::Pointer, None),
        None if !argument.is_vector() => (passed, Form::Unsigned, None),
        _ => return None,
    };
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    is_word(&parameter.name).then(|| Word { text: parameter.name.clone(), bytes, form, pointee })
}

/// Size of a type in bytes, if it is known.
pub(crate) fn size_of(types: &SourceTypes, id: SourceTypeId) -> Option<u64> {
    match types.get(id) {
        SourceType::Integer { bytes, .. } | SourceType::Float { bytes } => Some(u64::from(*bytes)),
        SourceType::Pointer(_) => Some(8),
        SourceType::Array { element, count } => size_of(types, *element)?.checked_mul((*count)?),
        SourceType::Vector { element, count } => size_of(types, *element)?.checked_mul(*count),
        SourceType::Aggregate { size, .. } => *size,
        SourceType::Other { size, .. } => Some(*size),
    }
    .filter(|size| *size > 0)
}

/// The scalar at a distance from what a pointer points to: how it is written, its size and form, and how far into it the distance leads.
pub(crate) fn scalar_at(types: &SourceTypes, word: &Word, offset: i64) -> Option<(String, u16, Form, u64)> {
    let mut id = word.pointee?;
    let size = i64::try_from(size_of(types, id)?).ok()?;
    let (index, mut rest) = (offset.div_euclid(size), offset.rem_euclid(size) as u64);
    let mut text = match types.get(id) {
        SourceType::Aggregate { .. } if index == 0 => format!("{}->", word.text),
        SourceType::Aggregate { .. } => format!("{}[{index}].", word.text),
        SourceType::Integer { .. } | SourceType::Float { .. } | SourceType::Pointer(_) if index == 0 => {
            format!("*{}", word.text)
        }
        _ => format!("{}[{index}]", word.text),
    };
    loop {
        let (bytes, form) = match types.get(id) {
            SourceType::Integer { bytes, signed, boolean } => {
                (*bytes, if *signed && !boolean { Form::Signed } else { Form::Unsigned })
            }
            SourceType::Float { bytes: bytes @ (4 | 8) } => (*bytes, Form::Float),
            SourceType::Pointer(_) => (8, Form::Pointer),
            SourceType::Array { element, .. } => {
                let size = size_of(types, *element)?;
                text.push_str(&format!("[{}]", rest / size));
                (id, rest) = (*element, rest % size);
                if let SourceType::Aggregate { .. } = types.get(id) {
                    text.push('.');
                }
                continue;
            }
            SourceType::Aggregate { members, .. } => {
                let inside = |m: &&program::SourceMember| {
                    let size = size_of(types, m.ty).unwrap_or(0);
                    !m.bits && m.offset <= rest && rest < m.offset + size
                };
                let member = members.iter().find(inside)?;
                text.push_str(&member.name);
                if let (SourceType::Aggregate { .. }, false) = (types.get(member.ty), member.name.is_empty()) {
                    text.push('.');
                }
                (id, rest) = (member.ty, rest - member.offset);
                continue;
            }
            _ => return None,
        };
        return Some((text, bytes, form, rest));
    }
}
