//! Lemmas by what they are about, and which of them make sense of two files.
//!
//! What is checked here needs no execution: that a function is there and cannot be replaced, that all its callers are visible if
//! something is said of them, that values mean the same everywhere, and that a convention is one.

use super::statement::{Chain, Claim, Constant, Convention, Effect, Lemma, Range, RegisterName, Returned};
use super::{Surroundings, heads::SlotRanges};
use program::contract::{FixedResult, LocalContract, LocalEffect};
use program::{Contracts, Function, Object, ObjectKind, Place, PointId, Register, Signature, ValueRange};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use symbolic::liveness;

/// More lemmas are not read.
const MOST_LEMMAS: usize = 50_000;
/// Values that one lemma lists.
const MOST_VALUES: usize = 64;
/// Loads behind one another.
const LONGEST_CHAIN: usize = 8;
/// Distances above are no part of an object or a frame.
const FARTHEST: u64 = 1 << 32;

/// Lemmas, by function and object.
#[derive(Clone, Default, Debug)]
pub(super) struct Set {
    /// What is said of functions and statics.
    pub contracts: Contracts,
    /// By function: ranges of slots at loop heads.
    pub heads: BTreeMap<String, SlotRanges>,
}

/// What decides which lemmas make sense.
pub(super) struct Sense<'f> {
    around: &'f Surroundings,
    ours: FxHashMap<&'f str, &'f Function>,
    theirs: FxHashMap<&'f str, &'f Function>,
    /// Functions that the candidate calls.
    called: BTreeSet<&'f str>,
    /// Variables of objects of the original's file that have one address wherever they are named.
    addresses: BTreeSet<&'f str>,
    /// Registers that functions of the candidate read before they write them.
    live: FxHashMap<String, u64>,
}

impl<'f> Sense<'f> {
    pub fn new(around: &'f Surroundings) -> Sense<'f> {
        let by_name = |functions: &'f [Function]| functions.iter().map(|f| (f.name.as_str(), f)).collect();
        let (original, candidate) = (&around.original, &around.candidate);
        let objects = original.functions.iter().flat_map(|f| f.objects.values());
        let named = objects.filter(|object| object.kind != ObjectKind::Section);
        Sense {
            around,
            ours: by_name(&original.functions),
            theirs: by_name(&candidate.functions),
            called: candidate.functions.iter().flat_map(super::callees).collect(),
            addresses: named.map(|object| original.arena.var_name(object.var)).collect(),
            live: FxHashMap::default(),
        }
    }

    /// Is a function called from the visible call sites only, on both sides?
    pub fn is_private(&self, name: &str) -> bool {
        [&self.around.original, &self.around.candidate].into_iter().all(|file| file.private.contains(name))
    }

    /// A function that something may be said of.
    fn function(&self, name: &str) -> Result<(&'f Function, &'f Signature), String> {
        let function = *self.ours.get(name).ok_or("the original's file does not define it")?;
        let files = [&self.around.original, &self.around.candidate];
        if files.into_iter().any(|file| file.replaceable.contains(name)) {
            return Err("another file can replace it".to_string());
        }
        let private = self.around.original.private.contains(name);
        if !self.theirs.contains_key(name) && (!private || self.called.contains(name)) {
            return Err("the candidate's is somewhere else".to_string());
        }
        let signature = function.signature.as_ref().filter(|s| s.unsupported.is_none() && !s.variadic);
        Ok((function, signature.ok_or("what it takes is not known")?))
    }

    /// What is known of a function without any lemma.
    fn blank(&self, name: &str, signature: &Signature) -> LocalContract {
        let registers = signature.arguments.iter().filter_map(|value| match value.place {
            Place::Register(register) => Some((register, Some(register))),
            Place::Stack(_) => None,
        });
        LocalContract {
            private: self.is_private(name),
            ranges: BTreeMap::new(),
            result_range: None,
            noreturn: false,
            arguments: BTreeMap::new(),
            moved: registers.collect(),
            promoted: BTreeMap::new(),
            reads: BTreeSet::new(),
            result_unused: false,
            result: None,
            result_bytes: result_bytes(signature).unwrap_or(0),
            returns_fresh: false,
            forgets: BTreeSet::new(),
            effect: LocalEffect::Unknown,
            assumptions: BTreeSet::new(),
        }
    }

    fn is_known(&self, constant: &Constant) -> Result<(), String> {
        match constant {
            Constant::Number(_) => Ok(()),
            Constant::Address { object, offset } => {
                let known = self.addresses.contains(object.as_str()) && offset.unsigned_abs() < FARTHEST;
                known.then_some(()).ok_or_else(|| "it speaks of an object that no function has".to_string())
            }
        }
    }

    /// Does the candidate's function read the register before it writes it?
    fn reads(&mut self, name: &str, register: Register) -> bool {
        let Some(function) = self.theirs.get(name) else { return true };
        let ours = &self.ours;
        let signature_of = |name: &str| ours.get(name).and_then(|f| f.signature.clone());
        let arena = &self.around.candidate.arena;
        let live = self.live.entry(name.to_string());
        let live = live.or_insert_with(|| liveness(arena, function, &signature_of)[Function::ENTRY.index()]);
        *live & 1 << register.index() != 0
    }
}

/// Bytes of the one result in `rax`.
fn result_bytes(signature: &Signature) -> Option<u16> {
    match signature.results[..] {
        [value] if value.place == Place::Register(Register::General(0)) => Some(value.bytes),
        _ => None,
    }
}

/// Bytes of the argument in a register.
fn argument_bytes(signature: &Signature, register: Register) -> Option<u16> {
    signature.arguments.iter().find(|value| value.place == Place::Register(register)).map(|value| value.bytes)
}

fn general(signature: &Signature, RegisterName(register): RegisterName) -> Result<Register, String> {
    let fits = Register::ARGUMENTS.contains(&register) && argument_bytes(signature, register).is_some();
    fits.then_some(register).ok_or_else(|| format!("it takes no argument in {}", register.name()))
}

fn sane(range: Range) -> Result<ValueRange, String> {
    let range = ValueRange::from(range);
    let whole = matches!(range.width, 8 | 16 | 32 | 64) && range.is_sane();
    whole.then_some(range).ok_or_else(|| "the range is none".to_string())
}

fn chain(signature: &Signature, chain: &Chain) -> Result<program::Loaded, String> {
    let pointer = general(signature, chain.argument)?;
    let near = chain.offsets.iter().all(|offset| offset.unsigned_abs() < FARTHEST);
    let fits = near && matches!(chain.offsets.len(), 1..=LONGEST_CHAIN) && matches!(chain.bytes, 1 | 2 | 4 | 8);
    if !fits || argument_bytes(signature, pointer) != Some(8) {
        return Err("the loads are none".to_string());
    }
    Ok(chain.into())
}

/// The same, said twice of the same thing, says nothing.
fn once(new: bool) -> Result<(), String> {
    new.then_some(()).ok_or_else(|| "another lemma says something else".to_string())
}

impl Set {
    /// Reads lemmas. `doubt` is told which make no sense, and decides whether that ends it.
    pub fn read<E>(
        lemmas: &[Lemma],
        around: &Surroundings,
        mut doubt: impl FnMut(&Lemma, String) -> Result<(), E>,
    ) -> Result<Set, E> {
        let mut set = Set::default();
        let mut sense = Sense::new(around);
        for (number, lemma) in lemmas.iter().enumerate() {
            let added = match number < MOST_LEMMAS {
                true => set.add(lemma, &mut sense),
                false => Err(format!("there are more than {MOST_LEMMAS}")),
            };
            added.or_else(|what| doubt(lemma, what))?;
        }
        for name in set.contracts.keys().cloned().collect::<Vec<String>>() {
            if let Err((lemma, what)) = set.check_convention(&name) {
                set.contracts.get_mut(&name).into_iter().for_each(forget_convention);
                doubt(&lemma, what)?;
            }
        }
        Ok(set)
    }

    fn add(&mut self, lemma: &Lemma, sense: &mut Sense) -> Result<(), String> {
        match lemma {
            Lemma::Static { object, holds } => self.add_static(object, holds, sense),
            Lemma::Original { function: name, claim } => {
                let (function, signature) = sense.function(name)?;
                if let Claim::AtHead { point, slot, range } = claim {
                    let at = (slot.unsigned_abs() < FARTHEST).then_some((*slot, sane(*range)?));
                    let fits = (*point as usize) < function.points.len();
                    let at = at.filter(|_| fits).ok_or("the slot or the point is none")?;
                    self.heads.entry(name.clone()).or_default().entry(PointId(*point)).or_default().push(at);
                    return Ok(());
                }
                let mut contract = self.contracts.get(name).cloned().unwrap_or_else(|| sense.blank(name, signature));
                add_claim(&mut contract, claim, signature, sense)?;
                self.contracts.insert(name.clone(), contract);
                Ok(())
            }
            Lemma::Candidate { function: name, convention } => {
                let (_, signature) = sense.function(name)?;
                let mut contract = self.contracts.get(name).cloned().unwrap_or_else(|| sense.blank(name, signature));
                add_convention(&mut contract, name, convention, signature, sense)?;
                self.contracts.insert(name.clone(), contract);
                Ok(())
            }
        }
    }

    fn add_static(&mut self, name: &str, holds: &BTreeSet<u64>, sense: &Sense) -> Result<(), String> {
        if !sense.around.original.complete {
            return Err("not all functions of the file are known".to_string());
        }
        if holds.len() > MOST_VALUES {
            return Err("it lists too many values".to_string());
        }
        let functions = sense.around.original.functions.iter();
        let objects: Vec<&Object> = functions.flat_map(|f| f.objects.values()).filter(|o| o.name == name).collect();
        let first = objects.first().ok_or("the original's file has no object of that name")?;
        let starts = |o: &&Object| o.initial.is_some_and(|value| holds.contains(&value));
        if !objects.iter().all(|o| o.var == first.var && is_number(o) && starts(o)) {
            return Err("it is no number of which all uses are known, or starts with another".to_string());
        }
        once(self.contracts.statics.insert(name.to_string(), holds.clone()).is_none())
    }

    /// No register carries two things.
    fn check_convention(&self, name: &str) -> Result<(), (Lemma, String)> {
        let Some(contract) = self.contracts.get(name) else { return Ok(()) };
        let mut taken: BTreeSet<Register> = contract.promoted.keys().copied().collect();
        let twice = contract.moved.values().flatten().find(|register| !taken.insert(**register));
        let Some(register) = twice else { return Ok(()) };
        let lemma = conventions_of(name, contract).into_iter().next();
        let place = RegisterName(*register);
        let lemma = lemma.unwrap_or_else(|| Lemma::Candidate {
            function: name.to_string(),
            convention: Convention::Takes { register: place, place: Some(place) },
        });
        Err((lemma, format!("{place} would carry two arguments")))
    }

    /// The lemmas again.
    pub fn stated(&self) -> Vec<Lemma> {
        let mut out = Vec::new();
        for (name, contract) in &*self.contracts {
            let claims = claims(contract).into_iter();
            out.extend(claims.map(|claim| Lemma::Original { function: name.clone(), claim }));
            out.extend(conventions_of(name, contract));
        }
        for (name, heads) in &self.heads {
            for (point, slots) in heads {
                out.extend(slots.iter().map(|(slot, range)| Lemma::Original {
                    function: name.clone(),
                    claim: Claim::AtHead { point: point.0, slot: *slot, range: (*range).into() },
                }));
            }
        }
        let statics = self.contracts.statics.iter();
        out.extend(statics.map(|(object, holds)| Lemma::Static { object: object.clone(), holds: holds.clone() }));
        out
    }
}

/// The candidate is called as the original is.
pub(super) fn forget_convention(contract: &mut LocalContract) {
    contract.moved.iter_mut().for_each(|(from, to)| *to = Some(*from));
    contract.promoted.clear();
    contract.result_unused = false;
}

/// Is there a lemma in it?
pub(super) fn says_something(contract: &LocalContract) -> bool {
    !claims(contract).is_empty() || !conventions_of("", contract).is_empty()
}

/// Could the object be a static number of which all uses are known?
fn is_number(object: &Object) -> bool {
    let local = matches!(object.kind, ObjectKind::Named { local: true, defined: true, function: false, .. });
    let fits = matches!(object.size, Some(1 | 2 | 4 | 8));
    local && fits && object.unaliased && !object.volatile && object.content.is_none() && !object.read_only
}

fn add_claim(contract: &mut LocalContract, claim: &Claim, signature: &Signature, sense: &Sense) -> Result<(), String> {
    match claim {
        Claim::Returns(returned) => {
            match returned {
                Returned::Constant(constant) => sense.is_known(constant)?,
                Returned::Argument(register) => {
                    let bytes = argument_bytes(signature, general(signature, *register)?).unwrap_or(0);
                    if result_bytes(signature).is_none_or(|wanted| bytes < wanted) {
                        return Err("it is given less than it returns".to_string());
                    }
                }
            }
            once(contract.result.replace(returned.into()).is_none())
        }
        Claim::ReturnsIn(range) => once(contract.result_range.replace(sane(*range)?).is_none()),
        Claim::NeverReturns => once(!std::mem::replace(&mut contract.noreturn, true)),
        Claim::ReturnsNew => once(!std::mem::replace(&mut contract.returns_fresh, true)),
        Claim::Forgets(register) => once(contract.forgets.insert(general(signature, *register)?)),
        Claim::Does(effect) => {
            let before = std::mem::replace(&mut contract.effect, (*effect).into());
            once(before == LocalEffect::Unknown)
        }
        Claim::Given { register, values } => {
            callers_known(contract, sense)?;
            if values.is_empty() || values.len() > MOST_VALUES {
                return Err("it lists no values, or too many".to_string());
            }
            values.iter().try_for_each(|value| sense.is_known(value))?;
            let values = values.iter().map(Into::into).collect();
            once(contract.arguments.insert(general(signature, *register)?, values).is_none())
        }
        Claim::GivenIn { register, range } => {
            callers_known(contract, sense)?;
            once(contract.ranges.insert(general(signature, *register)?, sane(*range)?).is_none())
        }
        Claim::ReadsFirst(loads) => once(contract.reads.insert(chain(signature, loads)?)),
        Claim::AtHead { .. } => Ok(()),
    }
}

fn callers_known(contract: &LocalContract, sense: &Sense) -> Result<(), String> {
    if !contract.private {
        return Err("others may call it, too".to_string());
    }
    sense.around.original.complete.then_some(()).ok_or_else(|| "not all functions of the file are known".to_string())
}

fn add_convention(
    contract: &mut LocalContract,
    name: &str,
    convention: &Convention,
    signature: &Signature,
    sense: &mut Sense,
) -> Result<(), String> {
    // Whoever compares it without this lemma relies on the original's convention, like a caller that nobody sees.
    let fixed = !contract.private || sense.around.alone.contains(name);
    match convention {
        // Whoever calls it from elsewhere passes everything; what the body does not look at need not be passed.
        Convention::Takes { register: RegisterName(register), place: None } if fixed => {
            argument_bytes(signature, *register).ok_or("it takes no such argument")?;
            if sense.reads(name, *register) {
                return Err("its code reads the register, and others may call it".to_string());
            }
            once(contract.moved.insert(*register, None) == Some(Some(*register)))
        }
        _ if fixed => Err("others may call it, too".to_string()),
        Convention::Takes { register: RegisterName(register), place } => {
            argument_bytes(signature, *register).ok_or("it takes no such argument")?;
            let place = place.map(|RegisterName(place)| place);
            let moved = place.filter(|place| place != register);
            let both_general = |place: &Register| [place, register].iter().all(|r| Register::ARGUMENTS.contains(r));
            if moved.as_ref().is_some_and(|place| !both_general(place)) {
                return Err("it would be in a register that carries no such argument".to_string());
            }
            once(contract.moved.insert(*register, place) == Some(Some(*register)))
        }
        Convention::TakesLoaded { register: RegisterName(register), chain: loads } => {
            if !Register::ARGUMENTS.contains(register) {
                return Err("it would be in a register that carries no argument".to_string());
            }
            once(contract.promoted.insert(*register, chain(signature, loads)?).is_none())
        }
        Convention::ResultUnread => once(!std::mem::replace(&mut contract.result_unused, true)),
    }
}

/// What a contract says of the original.
fn claims(contract: &LocalContract) -> Vec<Claim> {
    let mut out = Vec::new();
    let result: Option<&FixedResult> = contract.result.as_ref();
    out.extend(result.map(|result| Claim::Returns(result.into())));
    out.extend(contract.result_range.map(|range| Claim::ReturnsIn(range.into())));
    out.extend(contract.noreturn.then_some(Claim::NeverReturns));
    out.extend(contract.returns_fresh.then_some(Claim::ReturnsNew));
    out.extend(contract.forgets.iter().map(|register| Claim::Forgets(RegisterName(*register))));
    out.extend(Effect::of(contract.effect).map(Claim::Does));
    out.extend(contract.arguments.iter().map(|(register, values)| Claim::Given {
        register: RegisterName(*register),
        values: values.iter().map(Into::into).collect(),
    }));
    out.extend(
        contract
            .ranges
            .iter()
            .map(|(register, range)| Claim::GivenIn { register: RegisterName(*register), range: (*range).into() }),
    );
    out.extend(contract.reads.iter().map(|loaded| Claim::ReadsFirst(loaded.into())));
    out
}

/// How a contract says that the candidate is called, where that is not as the original is.
fn conventions_of(name: &str, contract: &LocalContract) -> Vec<Lemma> {
    let moved = contract.moved.iter().filter(|(from, to)| **to != Some(**from));
    let moved =
        moved.map(|(from, to)| Convention::Takes { register: RegisterName(*from), place: to.map(RegisterName) });
    let loaded = contract
        .promoted
        .iter()
        .map(|(register, loaded)| Convention::TakesLoaded { register: RegisterName(*register), chain: loaded.into() });
    let unread = contract.result_unused.then_some(Convention::ResultUnread);
    let all = moved.chain(loaded).chain(unread);
    all.map(|convention| Lemma::Candidate { function: name.to_string(), convention }).collect()
}
