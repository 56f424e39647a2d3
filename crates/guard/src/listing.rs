//! A listing: instructions, labels and branches between them, and the bytes that they become.
//!
//! Branches inside are short where all of them can be; a branch to the original leaves the listing and is the linker's to
//! complete.

use iced_x86::{Encoder, IcedError, Instruction};

/// Conditions of branches, by their numbers in opcodes (Intel SDM vol. 2D, table B-10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum When {
    /// Carry: unsigned less.
    Below = 2,
    NotBelow = 3,
    Equal = 4,
    NotEqual = 5,
    /// Unsigned less or equal.
    NotAbove = 6,
    Above = 7,
    /// Of floating-point comparisons: one is NaN.
    Unordered = 10,
    Ordered = 11,
    /// With sign.
    Less = 12,
    NotLess = 13,
    NotGreater = 14,
    Greater = 15,
}

impl When {
    /// The same, or its contrary.
    pub fn if_is(self, truth: Truth) -> When {
        const ALL: [When; 12] = [
            When::Below,
            When::NotBelow,
            When::Equal,
            When::NotEqual,
            When::NotAbove,
            When::Above,
            When::Unordered,
            When::Ordered,
            When::Less,
            When::NotLess,
            When::NotGreater,
            When::Greater,
        ];
        let number = self as u8 ^ u8::from(truth == Truth::Fails);
        ALL.into_iter().find(|when| *when as u8 == number).unwrap_or(self)
    }
}

/// Which truth value a branch waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Truth {
    Holds,
    Fails,
}

impl Truth {
    pub fn negated(self) -> Truth {
        match self {
            Truth::Holds => Truth::Fails,
            Truth::Fails => Truth::Holds,
        }
    }
}

/// A place in the listing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(usize);

/// Where a branch goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Inside.
    Inside(Label),
    /// To the original's code.
    Original,
}

#[derive(Clone, Debug)]
enum Item {
    Plain(Instruction),
    /// An instruction whose displacement is the distance to the linker's slot for a symbol.
    Slot(Instruction, String),
    Branch(Option<When>, Target),
    Bind(Label),
}

/// A field that the linker completes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub offset: u64,
    pub names: Named,
}

/// What a field of the listing refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    /// The distance to the original's code.
    Original,
    /// The distance to the slot with the address of a symbol.
    Slot(String),
}

/// Code under construction.
#[derive(Default, Debug)]
pub(crate) struct Listing {
    items: Vec<Item>,
    labels: usize,
    /// What went wrong first.
    failed: Option<String>,
}

impl Listing {
    pub fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        match instruction {
            Ok(instruction) => self.items.push(Item::Plain(instruction)),
            Err(error) => {
                self.failed.get_or_insert(error.to_string());
            }
        }
    }

    pub fn push_slot(&mut self, instruction: Result<Instruction, IcedError>, symbol: &str) {
        match instruction {
            Ok(instruction) => self.items.push(Item::Slot(instruction, symbol.to_string())),
            Err(error) => {
                self.failed.get_or_insert(error.to_string());
            }
        }
    }

    pub fn branch(&mut self, when: When, to: Target) {
        self.items.push(Item::Branch(Some(when), to));
    }

    pub fn jump(&mut self, to: Target) {
        self.items.push(Item::Branch(None, to));
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub fn bind(&mut self, label: Label) {
        self.items.push(Item::Bind(label));
    }

    /// Number of instructions.
    pub fn instructions(&self) -> usize {
        self.items.iter().filter(|item| !matches!(item, Item::Bind(_))).count()
    }

    /// The bytes, and the fields in them that the linker completes.
    pub fn encode(&self) -> Result<(Vec<u8>, Vec<Field>), String> {
        if let Some(what) = &self.failed {
            return Err(what.clone());
        }
        match self.encode_with(Reach::Short) {
            Err(Misfit::TooFar) => self.encode_with(Reach::Near),
            other => other,
        }
        .map_err(|misfit| match misfit {
            Misfit::TooFar => "the code is too long".to_string(),
            Misfit::Encoder(what) => what,
        })
    }

    fn encode_with(&self, reach: Reach) -> Result<(Vec<u8>, Vec<Field>), Misfit> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut fields = Vec::new();
        let mut bound = vec![None; self.labels];
        // Where the distance is written, and of what.
        let mut inside: Vec<(usize, Label)> = Vec::new();
        for item in &self.items {
            match item {
                Item::Bind(label) => bound[label.0] = Some(bytes.len()),
                Item::Plain(instruction) => bytes.extend(encoded(instruction, bytes.len())?.0),
                Item::Slot(instruction, symbol) => {
                    let (mut code, displacement) = encoded(instruction, bytes.len())?;
                    code[displacement..displacement + 4].fill(0);
                    let offset = (bytes.len() + displacement) as u64;
                    fields.push(Field { offset, names: Named::Slot(symbol.clone()) });
                    bytes.extend(code);
                }
                Item::Branch(when, to) => {
                    let short = reach == Reach::Short && *to != Target::Original;
                    match (when, short) {
                        (Some(when), true) => bytes.push(0x70 + *when as u8),
                        (Some(when), false) => bytes.extend([0x0f, 0x80 + *when as u8]),
                        (None, true) => bytes.push(0xeb),
                        (None, false) => bytes.push(0xe9),
                    }
                    match to {
                        Target::Inside(label) => inside.push((bytes.len(), *label)),
                        Target::Original => {
                            fields.push(Field { offset: bytes.len() as u64, names: Named::Original });
                        }
                    }
                    bytes.extend(if short { &[0][..] } else { &[0; 4][..] });
                }
            }
        }
        for (at, label) in inside {
            let to = bound[label.0].ok_or_else(|| Misfit::Encoder("a label is nowhere".to_string()))?;
            let width = if reach == Reach::Short { 1 } else { 4 };
            let distance = to as i64 - (at + width) as i64;
            match reach {
                Reach::Short => bytes[at] = i8::try_from(distance).map_err(|_| Misfit::TooFar)? as u8,
                Reach::Near => {
                    let distance = i32::try_from(distance).map_err(|_| Misfit::TooFar)?;
                    bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
                }
            }
        }
        Ok((bytes, fields))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Short,
    Near,
}

enum Misfit {
    TooFar,
    Encoder(String),
}

/// The bytes of an instruction, and where its displacement is.
fn encoded(instruction: &Instruction, at: usize) -> Result<(Vec<u8>, usize), Misfit> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, at as u64).map_err(|error| Misfit::Encoder(error.to_string()))?;
    let displacement = encoder.get_constant_offsets().displacement_offset();
    Ok((encoder.take_buffer(), displacement))
}
