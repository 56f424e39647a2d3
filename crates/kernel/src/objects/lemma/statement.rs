//! What a certificate says about functions: lemmas.
//!
//! A lemma is about one function of the original's file, or about how the candidate's version of one takes its arguments, or
//! about a static. Values in it are typed and mean the same in every function: numbers, addresses of objects by name,
//! what the function itself was given in a register.
//!
//! Trust: full, for what a lemma means. Whether it holds is `super::prove`'s business.

use program::contract::{Fixed, FixedResult, LocalEffect};
use program::{Register, ValueRange};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A statement about a function or a static.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Lemma {
    /// About a function of the original's file.
    Original {
        /// Its name.
        function: String,
        /// What is true of it.
        claim: Claim,
    },
    /// About how a function of the candidate's file is called.
    Candidate {
        /// Its name.
        function: String,
        /// What its body and its callers keep to.
        convention: Convention,
    },
    /// A static of the original's file holds one of these numbers, whenever somebody may look at it.
    Static {
        /// Its name.
        object: String,
        /// The numbers.
        holds: BTreeSet<u64>,
    },
}

/// What is true of a function of the original's file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Claim {
    /// It returns this.
    Returns(Returned),
    /// It returns a number in this range.
    ReturnsIn(Range),
    /// It never returns.
    NeverReturns,
    /// It returns null or a new object.
    ReturnsNew,
    /// When it is done, nobody can find there the address that it was given in this register.
    Forgets(RegisterName),
    /// What it does besides.
    Does(Effect),
    /// All callers give it one of these values.
    Given {
        /// Where.
        register: RegisterName,
        /// The values.
        values: BTreeSet<Constant>,
    },
    /// All callers give it a number in this range.
    GivenIn {
        /// Where.
        register: RegisterName,
        /// The range.
        range: Range,
    },
    /// In every run it loads this before anything else can be seen.
    ReadsFirst(Chain),
    /// At a loop head a slot holds a number in a range: for the proof of other claims, which must do without it if it fails.
    AtHead {
        /// Number of the point.
        point: u32,
        /// Offset from the stack pointer at the entry.
        slot: i64,
        /// The range.
        range: Range,
    },
}

/// How the candidate's version of a function takes its arguments and gives its result.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Convention {
    /// What the original takes in a register, it takes in this one, or nowhere.
    Takes {
        /// The original's.
        register: RegisterName,
        /// The candidate's.
        place: Option<RegisterName>,
    },
    /// In a register it takes what these loads find when it is called.
    TakesLoaded {
        /// The candidate's register.
        register: RegisterName,
        /// The loads.
        chain: Chain,
    },
    /// Nobody reads its result.
    ResultUnread,
}

/// What a function returns.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Returned {
    /// Always this.
    Constant(Constant),
    /// What it was given in this register.
    Argument(RegisterName),
}

/// A value that means the same in every function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Constant {
    /// A number.
    Number(u64),
    /// An address.
    Address {
        /// Name of the variable that stands for the object's address.
        object: String,
        /// Distance from there.
        offset: i64,
    },
}

/// The numbers `low, low + 1, …, low + span` modulo 2^width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Bits.
    pub width: u16,
    /// First number.
    pub low: u64,
    /// Distance of the last one.
    pub span: u64,
}

/// Loads behind one another, from an argument on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The register with the first address.
    pub argument: RegisterName,
    /// What is added before each load.
    pub offsets: Vec<i64>,
    /// Bytes of the last load; the others load addresses.
    pub bytes: u16,
}

/// What a function does besides returning a result: [`LocalEffect`], without "anything".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing, whatever memory holds.
    Nothing,
    /// Nothing, but its result may depend on memory.
    Reads,
    /// It leaves memory alone, but may not return.
    Preserves,
    /// The same, but for the heap's own.
    Heap,
}

/// A register by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RegisterName(pub Register);

impl TryFrom<String> for RegisterName {
    type Error = String;

    fn try_from(name: String) -> Result<RegisterName, String> {
        let known = Register::all().find(|register| register.name() == name);
        known.map(RegisterName).ok_or_else(|| format!("`{}` is no register", name.escape_debug()))
    }
}

impl From<RegisterName> for String {
    fn from(RegisterName(register): RegisterName) -> String {
        register.name()
    }
}

impl From<ValueRange> for Range {
    fn from(ValueRange { width, low, span }: ValueRange) -> Range {
        Range { width, low, span }
    }
}

impl From<Range> for ValueRange {
    fn from(Range { width, low, span }: Range) -> ValueRange {
        ValueRange { width, low, span }
    }
}

impl From<&Fixed> for Constant {
    fn from(fixed: &Fixed) -> Constant {
        match fixed {
            Fixed::Number(number) => Constant::Number(*number),
            Fixed::Address(object, offset) => Constant::Address { object: object.clone(), offset: *offset },
        }
    }
}

impl From<&Constant> for Fixed {
    fn from(constant: &Constant) -> Fixed {
        match constant {
            Constant::Number(number) => Fixed::Number(*number),
            Constant::Address { object, offset } => Fixed::Address(object.clone(), *offset),
        }
    }
}

impl From<&FixedResult> for Returned {
    fn from(result: &FixedResult) -> Returned {
        match result {
            FixedResult::Value(fixed) => Returned::Constant(fixed.into()),
            FixedResult::Argument(register) => Returned::Argument(RegisterName(*register)),
        }
    }
}

impl From<&Returned> for FixedResult {
    fn from(returned: &Returned) -> FixedResult {
        match returned {
            Returned::Constant(constant) => FixedResult::Value(constant.into()),
            Returned::Argument(RegisterName(register)) => FixedResult::Argument(*register),
        }
    }
}

impl From<&program::Loaded> for Chain {
    fn from(loaded: &program::Loaded) -> Chain {
        let program::Loaded { argument, offsets, bytes } = loaded.clone();
        Chain { argument: RegisterName(argument), offsets, bytes }
    }
}

impl From<&Chain> for program::Loaded {
    fn from(chain: &Chain) -> program::Loaded {
        let Chain { argument: RegisterName(argument), offsets, bytes } = chain.clone();
        program::Loaded { argument, offsets, bytes }
    }
}

impl Effect {
    /// The effect, if it says anything.
    pub fn of(effect: LocalEffect) -> Option<Effect> {
        match effect {
            LocalEffect::Pure => Some(Effect::Nothing),
            LocalEffect::Reads => Some(Effect::Reads),
            LocalEffect::Preserves => Some(Effect::Preserves),
            LocalEffect::Heap => Some(Effect::Heap),
            LocalEffect::Unknown => None,
        }
    }
}

impl From<Effect> for LocalEffect {
    fn from(effect: Effect) -> LocalEffect {
        match effect {
            Effect::Nothing => LocalEffect::Pure,
            Effect::Reads => LocalEffect::Reads,
            Effect::Preserves => LocalEffect::Preserves,
            Effect::Heap => LocalEffect::Heap,
        }
    }
}

impl fmt::Display for Lemma {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Lemma::Original { function, claim } => write!(f, "`{}` {claim}", function.escape_debug()),
            Lemma::Candidate { function, convention } => {
                write!(f, "the candidate's `{}` {convention}", function.escape_debug())
            }
            Lemma::Static { object, holds } => {
                let holds: Vec<String> = holds.iter().take(SHOWN).map(u64::to_string).collect();
                write!(f, "`{}` holds {}", object.escape_debug(), holds.join(" or "))
            }
        }
    }
}

/// Values that a message names.
const SHOWN: usize = 16;

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Claim::Returns(Returned::Constant(value)) => write!(f, "returns {value}"),
            Claim::Returns(Returned::Argument(register)) => write!(f, "returns what it was given in {register}"),
            Claim::ReturnsIn(range) => write!(f, "returns {range}"),
            Claim::NeverReturns => write!(f, "never returns"),
            Claim::ReturnsNew => write!(f, "returns null or a new object"),
            Claim::Forgets(register) => write!(f, "forgets the address in {register}"),
            Claim::Does(Effect::Nothing) => write!(f, "has no effect and reads no memory"),
            Claim::Does(Effect::Reads) => write!(f, "has no effect"),
            Claim::Does(Effect::Preserves) => write!(f, "leaves memory alone"),
            Claim::Does(Effect::Heap) => write!(f, "leaves memory alone but for the heap's own"),
            Claim::Given { register, values } => {
                let values: Vec<String> = values.iter().take(SHOWN).map(Constant::to_string).collect();
                write!(f, "is given {} in {register}", values.join(" or "))
            }
            Claim::GivenIn { register, range } => write!(f, "is given {range} in {register}"),
            Claim::ReadsFirst(chain) => write!(f, "reads {chain} first"),
            Claim::AtHead { point, slot, range } => write!(f, "has {range} in its slot {slot} at point {point}"),
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Convention::Takes { register, place: Some(place) } => write!(f, "takes {register} in {place}"),
            Convention::Takes { register, place: None } => write!(f, "does not take {register}"),
            Convention::TakesLoaded { register, chain } => write!(f, "takes {chain} in {register}"),
            Convention::ResultUnread => write!(f, "need not return anything"),
        }
    }
}

impl fmt::Display for RegisterName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0.name())
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Constant::Number(number) => write!(f, "{number}"),
            Constant::Address { object, offset: 0 } => write!(f, "{}", object.escape_debug()),
            Constant::Address { object, offset } => write!(f, "{}{offset:+}", object.escape_debug()),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "one of {} numbers from {} on", u128::from(self.span) + 1, self.low)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.argument)?;
        self.offsets.iter().take(SHOWN).try_for_each(|offset| write!(f, "[{offset}]"))?;
        write!(f, " ({} bytes)", self.bytes)
    }
}
