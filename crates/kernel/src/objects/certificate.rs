//! The untrusted claim, as versioned JSON (docs/certificate-format.md).

use crate::objects::effort::EffortClaim;
use crate::objects::expression::Expression;
use crate::objects::lemma::Lemma;
use crate::objects::precondition::Precondition;
use program::Function;
use serde::{Deserialize, Serialize};
use symbolic::{Binding, Interval};
use term::{Arena, Axiom};

/// Version of the format that this kernel reads and writes.
pub const VERSION: u32 = 4;

/// A claim that two functions are equivalent, with what the kernel needs to check it.
///
/// Transparent product points (calls, exits) are not listed: the kernel finds them by following the original and
/// asking where the candidate goes, which it must do anyway to check that nothing was left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Format version.
    pub version: u32,
    /// Name of the original function.
    pub original: String,
    /// Name of the candidate function.
    pub candidate: String,
    /// Hash of the original's code and of the data that the proof depends on.
    pub original_hash: String,
    /// Hash of the candidate's.
    pub candidate_hash: String,
    /// What the start states satisfy that the proof is about; all of them if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assume: Vec<String>,
    /// What floating-point operations are taken to satisfy besides, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axioms: Vec<String>,
    /// Local objects behind pointers, and where they live in the two frames.
    pub locals: Vec<LocalClaim>,
    /// Points that cut every cycle of the original, and of the candidate; none for the loop heads.
    #[serde(default, skip_serializing_if = "no_cuts")]
    pub cuts: [Vec<u32>; 2],
    /// Pairs of loop heads that both sides reach together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointClaim>,
    /// How often a head is reached between two of these pairs, where it is not once on both sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<EdgeClaim>,
    /// What the proof uses of other functions, and what the proofs of that need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lemmas: Vec<Lemma>,
    /// What the check may cost, and where the work is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortClaim>,
}

fn no_cuts(cuts: &[Vec<u32>; 2]) -> bool {
    cuts.iter().all(Vec::is_empty)
}

/// A pair of loop heads, and what holds whenever both sides are there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointClaim {
    /// Number of the original's point.
    pub original: u32,
    /// Number of the candidate's point.
    pub candidate: u32,
    /// Does the candidate wait at its point, which is no loop head then, while the original goes round?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// Locations that the loop changes. All others keep their values.
    pub forget: Vec<String>,
    /// Does the world change?
    pub world: MemoryClaim,
    /// What the original has written and the candidate has not yet, in this order. Otherwise the memories are equal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<ChangeClaim>,
    /// What the candidate has written and the original has not yet. Not both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<ChangeClaim>,
    /// Blocks that the original has accessed since the last call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accessed: Vec<BlockClaim>,
    /// The original rests while the candidate goes round, wherever it is; its point is not looked at. A number that becomes
    /// smaller with every turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<String>,
    /// What becomes of the local objects' memory, in the order of the claims of local objects; those without an entry
    /// stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<MemoryClaim>,
    /// Forgotten locations that others determine: location, expression.
    pub define: Vec<(String, String)>,
    /// Conditions that hold.
    pub hold: Vec<String>,
    /// Bytes that the original has accessed by now: address and number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<(String, u16)>,
}

/// A change of memory that one side has made and the other has not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeClaim {
    /// The private local object whose memory changes; `None` for the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<usize>,
    /// The private local object that is copied from; `None` for the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
    /// What happens to it.
    pub what: Change<String>,
}

/// What happens to a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change<E> {
    /// A value of whole bytes at an address.
    Store(E, E),
    /// From an address on a byte, so many times.
    Fill(E, E, E),
    /// To an address from another, so many bytes.
    Copy(E, E, E),
    /// From an address on anything, so many bytes. Only as the last change.
    Any(E, E),
}

/// A block of bytes that the original has accessed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockClaim {
    /// Where it begins.
    pub address: String,
    /// Its length in bytes.
    pub length: String,
    /// Has all of it been written?
    pub write: bool,
}

/// What a loop does to a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryClaim {
    /// It stays as it is on each side.
    #[default]
    Kept,
    /// It changes, and is the same on both sides.
    Equal,
    /// It changes, and the sides may differ; not for the world.
    Apart,
}

/// How often heads are reached between two points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeClaim {
    /// Index of the point where the edge begins; `None` for the entry.
    pub from: Option<usize>,
    /// Index of the point where it ends.
    pub to: usize,
    /// The original stops when it reaches its head this many times.
    pub original: u32,
    /// The candidate stops when it reaches its head this many times.
    pub candidate: u32,
    /// The original may go round up to this many times more, as many as the path asks for: turns that the candidate has
    /// taken before its loop if their number is odd.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A [`Binding`] as written in a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalClaim {
    /// Offset from the entry stack pointer in the original's frame.
    pub original: Option<i64>,
    /// Offset in the candidate's frame.
    pub candidate: Option<i64>,
    /// Size in bytes.
    pub size: u64,
    /// Does its address leave the function?
    pub escapes: bool,
}

/// Offset of the first incoming stack argument.
const INCOMING: i64 = 8;

/// Frames above this size are refused: offsets and sizes then never overflow.
const FRAME_LIMIT: u64 = 1 << 32;

impl LocalClaim {
    /// The claim for a binding.
    pub fn of(binding: &Binding) -> LocalClaim {
        let size = binding.original.or(binding.candidate).map_or(0, |i| i.size);
        LocalClaim {
            original: binding.original.map(|i| i.offset),
            candidate: binding.candidate.map(|i| i.offset),
            size,
            escapes: binding.escapes,
        }
    }

    fn interval(&self, offset: Option<i64>) -> Option<Interval> {
        offset.map(|offset| Interval { offset, size: self.size })
    }

    /// The binding, if it is sane.
    fn binding(&self) -> Option<Binding> {
        let fits = |offset: Option<i64>| offset.is_none_or(|o| o.unsigned_abs() < FRAME_LIMIT);
        let sane = self.size > 0 && self.size < FRAME_LIMIT && fits(self.original) && fits(self.candidate);
        sane.then(|| Binding {
            original: self.interval(self.original),
            candidate: self.interval(self.candidate),
            escapes: self.escapes,
        })
    }
}

impl Certificate {
    /// The bindings, or what is wrong with them: intervals of one frame must not overlap, nor touch the return
    /// address.
    pub fn bindings(&self) -> Result<Vec<Binding>, String> {
        if self.locals.len() > 10_000 {
            return Err("too many local objects".to_string());
        }
        let bindings: Option<Vec<Binding>> = self.locals.iter().map(LocalClaim::binding).collect();
        let bindings = bindings.ok_or("a local object has an impossible size or offset")?;
        for pick in [|b: &Binding| b.original, |b: &Binding| b.candidate] {
            let mut intervals: Vec<Interval> = bindings.iter().filter_map(pick).collect();
            intervals.sort();
            let end = |i: &Interval| i.offset + i.size as i64;
            if intervals.windows(2).any(|w| end(&w[0]) > w[1].offset) {
                return Err("local objects overlap".to_string());
            }
            if intervals.iter().any(|i| end(i) > 0 && i.offset < INCOMING) {
                return Err("a local object lies outside the frame".to_string());
            }
        }
        // What the caller put there is at the same place on both sides, and nowhere else.
        let above = |i: Option<Interval>| i.is_some_and(|i| i.offset >= INCOMING);
        if bindings.iter().any(|b| (above(b.original) || above(b.candidate)) && b.original != b.candidate) {
            return Err("incoming arguments are bound to something else".to_string());
        }
        Ok(bindings)
    }

    /// The condition that it states, read.
    pub fn precondition(&self, original: &Function, arena: &Arena) -> Result<Precondition, String> {
        let conjuncts: Vec<Expression> =
            self.assume.iter().map(|text| Expression::parse(text)).collect::<Result<_, _>>()?;
        let axiom = |name: &String| Axiom::parse(name).ok_or_else(|| format!("`{name}` is no axiom"));
        let axioms: Vec<Axiom> = self.axioms.iter().map(axiom).collect::<Result<_, _>>()?;
        Precondition::new(conjuncts, axioms, original, arena)
    }

    /// The same for start states that satisfy a condition.
    pub fn state(&mut self, precondition: &Precondition) {
        self.assume = precondition.conjuncts().iter().map(Expression::to_string).collect();
        self.axioms = precondition.axioms().iter().map(|axiom| axiom.name().to_string()).collect();
    }

    /// Is nothing claimed of the two functions but that they are equivalent?
    pub fn is_plain(&self) -> bool {
        self.locals.is_empty() && no_cuts(&self.cuts) && self.points.is_empty() && self.edges.is_empty()
    }

    /// How often the heads of a point are reached on the way from another.
    pub fn passes(&self, from: Option<usize>, to: usize) -> [u32; 2] {
        let edge = self.edges.iter().find(|e| e.from == from && e.to == to);
        edge.map_or([1, 1], |e| [e.original.max(1), e.candidate.max(1)])
    }

    /// How many turns more the original may take on an edge.
    pub fn more(&self, from: Option<usize>, to: usize) -> u32 {
        self.edges.iter().find(|e| e.from == from && e.to == to).map_or(0, |e| e.more)
    }

    /// Text form.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a certificate is plain data")
    }

    /// Reads the text form.
    pub fn from_json(text: &str) -> Result<Certificate, String> {
        let certificate: Certificate = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if certificate.version != VERSION {
            return Err(format!("certificate version {} is not {VERSION}", certificate.version));
        }
        Ok(certificate)
    }
}
