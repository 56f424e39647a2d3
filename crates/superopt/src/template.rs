//! What an instruction does, as steps for the evaluator: derived from the operations that its row in `x86` gives.
//!
//! Terms become words of 64 bits. A word may be *dirty*: bits above the term's width hold anything. Sums, products and
//! bitwise operations do not care, so `add eax, edi` is a sum and one mask. What has no step of its own is evaluated
//! state by state with the terms' own evaluator, so every row that can be lifted can be run.

use crate::cells::{self, Cell};
use crate::steps::{Place, Slow, Step, StepOp, low_bits};
use program::{Flag, Op, Register};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use term::{Arena, Bits, FuncId, Sort, TermId, VarId};
use x86::{Builder, Instruction};

/// Most buffers that one instruction reads, and writes.
pub(crate) const MOST_INPUTS: usize = 24;
pub(crate) const MOST_OUTPUTS: usize = 16;
/// Most values on the way.
pub(crate) const MOST_TEMPORARIES: usize = 250;

/// A register operand that stands for any register: which one, or a cell that is always the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Role {
    /// The general register of an operand.
    General(u8),
    /// A word of the vector register of an operand.
    Word(u8, u8),
    /// This cell.
    Fixed(Cell),
}

/// How an instruction is run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    /// Where its inputs come from.
    pub inputs: Vec<Role>,
    /// How many of them more than flags depend on.
    pub base_inputs: usize,
    /// Everything but flags.
    pub steps: Vec<Step>,
    /// What it writes besides flags, in the order of its outputs.
    pub outputs: Vec<Role>,
    /// Flags that it writes; their outputs come after the others. Steps that compute them are run on demand.
    pub flags: Vec<FlagSteps>,
    /// Flags that have no defined value afterwards.
    pub undefined: Vec<Cell>,
    pub loads: bool,
    /// Number of bytes it stores: the address is its first output, the words of the value follow.
    pub stores: Option<u16>,
    /// Operations that are done state by state.
    pub slow: Vec<Slow>,
}

/// How a flag is computed.
#[derive(Clone, Debug)]
pub(crate) struct FlagSteps {
    pub cell: Cell,
    pub steps: Vec<Step>,
}

/// Constants that steps mention, and the arena that terms of templates live in.
pub(crate) struct Makers {
    pub arena: Arena,
    builder: Builder,
    /// The values of constants; the first one is different in each state.
    pub constants: Vec<u64>,
    places: FxHashMap<u64, u16>,
}

/// The constant that stands for values that nobody defines.
const NOISE: Place = Place::Constant(0);

impl Makers {
    pub fn new() -> Makers {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        Makers { arena, builder: Builder::new(), constants: vec![0], places: FxHashMap::default() }
    }

    fn constant(&mut self, value: u64) -> Place {
        let next = self.constants.len() as u16;
        let place = *self.places.entry(value).or_insert(next);
        if place == next {
            self.constants.push(value);
        }
        Place::Constant(place)
    }

    /// The steps of an instruction; `role` says what a register of it stands for. `None` if it is not modelled or
    /// too large.
    pub fn template(&mut self, instruction: &Instruction, role: impl Fn(Register) -> Option<Role>) -> Option<Template> {
        if x86::is_masked(instruction) {
            return None;
        }
        x86::lift(instruction, &mut self.arena, &mut self.builder).ok()?;
        let ops = self.builder.take();
        let mut compiler =
            Compiler { makers: self, role, out: Template::default(), memo: FxHashMap::default(), next: 0 };
        compiler.compile(&ops)
    }
}

/// A word of a value.
#[derive(Clone, Copy)]
struct Word {
    place: Place,
    dirty: bool,
}

type Words = SmallVec<[Word; 4]>;

struct Compiler<'m, F> {
    makers: &'m mut Makers,
    role: F,
    out: Template,
    memo: FxHashMap<TermId, Words>,
    /// Next temporary.
    next: usize,
}

impl<F: Fn(Register) -> Option<Role>> Compiler<'_, F> {
    fn compile(&mut self, ops: &[(u64, Op)]) -> Option<Template> {
        // Terms over the state before the instruction, loaded values and undefined ones.
        let mut state: FxHashMap<VarId, TermId> = FxHashMap::default();
        let mut written: Vec<Register> = Vec::new();
        let mut undefined: Vec<Register> = Vec::new();
        let mut store = None;
        for (_, op) in ops {
            match op {
                Op::Set { var, value } => {
                    let value = self.now(*value, &state);
                    state.insert(*var, value);
                    written.extend(Register::of_var(*var).filter(|r| !written.contains(r)));
                }
                Op::Load { var, address, bytes } => {
                    let address = self.now(*address, &state);
                    let value = self.load(address, *bytes)?;
                    let fresh = self.makers.arena.fresh("loaded", self.makers.arena.var_sort(*var));
                    self.memo.insert(fresh, value);
                    state.insert(*var, fresh);
                }
                Op::Unknown { var } => {
                    let sort = self.makers.arena.var_sort(*var);
                    let fresh = self.makers.arena.fresh("unknown", sort);
                    let count = sort.width().unwrap_or(1).div_ceil(64);
                    let dirty = sort.width().is_none_or(|width| width % 64 != 0);
                    let mut words: Words = (0..count).map(|_| Word { place: NOISE, dirty }).collect();
                    if sort == Sort::Bool {
                        words = smallvec![self.emit(StepOp::Mask(1), &[NOISE])?];
                    }
                    self.memo.insert(fresh, words);
                    state.insert(*var, fresh);
                    if let Some(register) = Register::of_var(*var) {
                        undefined.push(register);
                        written.retain(|other| *other != register);
                    }
                }
                Op::Store { address, value } => {
                    let (address, value) = (self.now(*address, &state), self.now(*value, &state));
                    if store.replace((address, value)).is_some() {
                        return None;
                    }
                }
                Op::Fault { condition, .. } => {
                    let condition = self.now(*condition, &state);
                    let word = self.word(condition)?;
                    self.push(StepOp::Fault, word.place, &[word.place]);
                }
            }
        }
        if let Some((address, value)) = store {
            let bytes = self.makers.arena.width(value) / 8;
            self.out.stores = Some(bytes);
            let mut words = self.clean_words(address)?;
            words.extend(self.clean_words(value)?);
            for word in words {
                self.output(word.place, None)?;
            }
        }
        for register in written.iter().filter(|register| !matches!(register, Register::Flag(_))) {
            let value = state[&self.makers.arena.find_var(&register.name())?];
            let role = (self.role)(*register)?;
            for (i, word) in (0..).zip(self.clean_words(value)?) {
                let role = match role {
                    Role::Word(operand, first) => Role::Word(operand, first + i),
                    Role::Fixed(cell) => Role::Fixed(cell + i),
                    general => general,
                };
                self.output(word.place, Some(role))?;
            }
        }
        self.out.base_inputs = self.out.inputs.len();
        self.out.undefined = undefined.iter().filter_map(|register| cells::of(*register)).collect();
        for register in written {
            let Register::Flag(flag) = register else { continue };
            let value = state[&self.makers.arena.find_var(&register.name())?];
            self.flag(flag, value)?;
        }
        let stored = self.out.stores.map_or(0, |bytes| 1 + usize::from(bytes).div_ceil(8));
        let outputs = stored + self.out.outputs.len() + self.out.flags.len();
        let fits = self.out.inputs.len() <= MOST_INPUTS && outputs <= MOST_OUTPUTS && self.next <= MOST_TEMPORARIES;
        fits.then(|| std::mem::take(&mut self.out))
    }

    fn now(&mut self, term: TermId, state: &FxHashMap<VarId, TermId>) -> TermId {
        self.makers.arena.substitute(term, &mut |var| state.get(&var).copied(), &mut Default::default())
    }

    /// Number of outputs so far, flags apart.
    fn output_count(&self) -> usize {
        let writes = |step: &&Step| matches!(step.out, Place::Output(_));
        self.out.steps.iter().filter(writes).count()
    }

    /// Makes a value the next output, in the step that computes it if nobody else reads it.
    fn output(&mut self, place: Place, role: Option<Role>) -> Option<()> {
        let index = Place::Output(u8::try_from(self.output_count()).ok()?);
        self.push(StepOp::Copy, index, &[place]);
        self.out.outputs.extend(role);
        Some(())
    }

    /// A flag is computed apart from the rest; what it shares with the rest is there already.
    fn flag(&mut self, flag: Flag, value: TermId) -> Option<()> {
        let (steps, memo) = (self.out.steps.len(), self.memo.clone());
        let word = self.word(value)?;
        let stored = self.output_count() + self.out.flags.len();
        self.push(StepOp::Copy, Place::Output(u8::try_from(stored).ok()?), &[word.place]);
        let steps = self.out.steps.split_off(steps);
        self.memo = memo;
        self.out.flags.push(FlagSteps { cell: cells::of_flag(flag), steps });
        Some(())
    }

    fn push(&mut self, op: StepOp, out: Place, args: &[Place]) {
        let at = |i: usize| args.get(i).copied().unwrap_or(args[0]);
        self.out.steps.push(Step { op, out, a: at(0), b: at(1), c: at(2) });
    }

    /// A new clean value.
    fn emit(&mut self, op: StepOp, args: &[Place]) -> Option<Word> {
        let place = Place::Temporary(u8::try_from(self.next).ok()?);
        self.next += 1;
        self.push(op, place, args);
        Some(Word { place, dirty: false })
    }

    /// The same with bits above the width that hold anything.
    fn emit_dirty(&mut self, op: StepOp, args: &[Place], width: u16) -> Option<Words> {
        let word = self.emit(op, args)?;
        Some(smallvec![Word { dirty: width < 64, ..word }])
    }

    fn constant(&mut self, value: u64) -> Word {
        Word { place: self.makers.constant(value), dirty: false }
    }

    fn load(&mut self, address: TermId, bytes: u16) -> Option<Words> {
        self.out.loads = true;
        let address = self.word(address)?.place;
        (0..bytes.div_ceil(8))
            .map(|i| {
                let count = (bytes - 8 * i).min(8) as u8;
                self.emit(StepOp::Load(count, 8 * i as u8), &[address])
            })
            .collect()
    }

    fn width(&self, term: TermId) -> u16 {
        self.makers.arena.sort(term).width().unwrap_or(1)
    }

    /// The words of a term, nothing above its width.
    fn clean_words(&mut self, term: TermId) -> Option<Words> {
        let mut words = self.value(term)?;
        let top = self.width(term) % 64;
        if let Some(word) = words.last_mut()
            && word.dirty
        {
            *word = self.emit(StepOp::Mask(top as u8), &[word.place])?;
            self.memo.insert(term, words.clone());
        }
        Some(words)
    }

    /// The only word of a term, clean.
    fn word(&mut self, term: TermId) -> Option<Word> {
        let words = self.clean_words(term)?;
        (words.len() == 1).then(|| words[0])
    }

    /// The only word of a term, which may be dirty.
    fn loose(&mut self, term: TermId) -> Option<Word> {
        let words = self.value(term)?;
        (words.len() == 1).then(|| words[0])
    }

    fn value(&mut self, term: TermId) -> Option<Words> {
        if let Some(words) = self.memo.get(&term) {
            return Some(words.clone());
        }
        let words = self.compute(term)?;
        self.memo.insert(term, words.clone());
        Some(words)
    }

    fn input(&mut self, register: Register) -> Option<Words> {
        let role = (self.role)(register)?;
        (0..cells::count(register))
            .map(|i| {
                let role = match role {
                    Role::Word(operand, first) => Role::Word(operand, first + i),
                    Role::Fixed(cell) => Role::Fixed(cell + i),
                    general => general,
                };
                let at = self.out.inputs.iter().position(|other| *other == role).unwrap_or_else(|| {
                    self.out.inputs.push(role);
                    self.out.inputs.len() - 1
                });
                Some(Word { place: Place::Input(u8::try_from(at).ok()?), dirty: false })
            })
            .collect()
    }

    fn compute(&mut self, term: TermId) -> Option<Words> {
        use term::Op;
        let (op, args) = (self.makers.arena.op(term), self.makers.arena.args(term).to_vec());
        let width = self.width(term);
        let narrow = width <= 64 && args.iter().all(|arg| self.width(*arg) <= 64);
        Some(match op {
            Op::Var(var) => return self.input(Register::of_var(var)?),
            Op::True => smallvec![self.constant(1)],
            Op::False => smallvec![self.constant(0)],
            Op::Const(_) => {
                let bits = self.makers.arena.as_const(term)?;
                return Some((0..usize::from(width.div_ceil(64))).map(|i| self.constant(bits.limbs()[i])).collect());
            }
            Op::Not => {
                let a = self.word(args[0])?;
                smallvec![self.emit(StepOp::Flip, &[a.place])?]
            }
            Op::And | Op::Or => {
                let step = if op == Op::And { StepOp::And } else { StepOp::Or };
                let mut all = self.word(args[0])?;
                for arg in &args[1..] {
                    let next = self.word(*arg)?;
                    all = self.emit(step, &[all.place, next.place])?;
                }
                smallvec![all]
            }
            Op::Eq => {
                let (a, b) = (self.clean_words(args[0])?, self.clean_words(args[1])?);
                let mut all: Option<Word> = None;
                for (x, y) in a.iter().zip(&b) {
                    let same = self.emit(StepOp::Eq, &[x.place, y.place])?;
                    all = Some(match all {
                        None => same,
                        Some(all) => self.emit(StepOp::And, &[all.place, same.place])?,
                    });
                }
                smallvec![all?]
            }
            Op::Ite => {
                let condition = self.word(args[0])?;
                let (a, b) = (self.value(args[1])?, self.value(args[2])?);
                let mut out = Words::new();
                for (x, y) in a.iter().zip(&b) {
                    let word = self.emit(StepOp::Ite, &[condition.place, x.place, y.place])?;
                    out.push(Word { dirty: x.dirty || y.dirty, ..word });
                }
                out
            }
            Op::BvNot => {
                let a = self.value(args[0])?;
                let mut out = Words::new();
                for (i, x) in (1..).zip(&a) {
                    let word = self.emit(StepOp::Not, &[x.place])?;
                    out.push(Word { dirty: i == a.len() && !width.is_multiple_of(64), ..word });
                }
                out
            }
            Op::BvAnd | Op::BvOr | Op::BvXor => {
                let (a, b) = (self.value(args[0])?, self.value(args[1])?);
                let mut out = Words::new();
                for (x, y) in a.iter().zip(&b) {
                    let (step, dirty) = match op {
                        Op::BvAnd => (StepOp::And, x.dirty && y.dirty),
                        Op::BvOr => (StepOp::Or, x.dirty || y.dirty),
                        _ => (StepOp::Xor, x.dirty || y.dirty),
                    };
                    let word = self.emit(step, &[x.place, y.place])?;
                    out.push(Word { dirty, ..word });
                }
                out
            }
            Op::Add if narrow => {
                let mut sum = self.loose(args[0])?;
                for arg in &args[1..] {
                    // A difference is a sum with a product by -1.
                    sum = match self.negated(*arg) {
                        Some(term) => {
                            let next = self.loose(term)?;
                            self.emit(StepOp::Sub, &[sum.place, next.place])?
                        }
                        None => {
                            let next = self.loose(*arg)?;
                            self.emit(StepOp::Add, &[sum.place, next.place])?
                        }
                    };
                }
                smallvec![Word { dirty: width < 64, ..sum }]
            }
            Op::Mul if narrow => {
                let (a, b) = (self.loose(args[0])?, self.loose(args[1])?);
                return self.emit_dirty(StepOp::Mul, &[a.place, b.place], width);
            }
            Op::Mul if width == 128 => return self.wide_product(&args),
            Op::Ult if narrow => {
                let (a, b) = (self.word(args[0])?, self.word(args[1])?);
                smallvec![self.emit(StepOp::Ult, &[a.place, b.place])?]
            }
            Op::Slt if narrow => {
                let bits = self.width(args[0]) as u8;
                let (a, b) = (self.loose(args[0])?, self.loose(args[1])?);
                smallvec![self.emit(StepOp::Slt(bits), &[a.place, b.place])?]
            }
            Op::Shl if narrow => {
                let (a, b) = (self.loose(args[0])?, self.word(args[1])?);
                return self.emit_dirty(StepOp::Shl(width as u8), &[a.place, b.place], width);
            }
            Op::Lshr if narrow => {
                let (a, b) = (self.word(args[0])?, self.word(args[1])?);
                smallvec![self.emit(StepOp::Lshr(width as u8), &[a.place, b.place])?]
            }
            Op::Ashr if narrow => {
                let (a, b) = (self.loose(args[0])?, self.word(args[1])?);
                return self.emit_dirty(StepOp::Ashr(width as u8), &[a.place, b.place], width);
            }
            Op::Popcount if narrow => {
                let a = self.word(args[0])?;
                smallvec![self.emit(StepOp::Popcount, &[a.place])?]
            }
            Op::TrailingZeros if narrow => {
                let a = self.word(args[0])?;
                smallvec![self.emit(StepOp::Trailing(width as u8), &[a.place])?]
            }
            Op::LeadingZeros if narrow => {
                let a = self.word(args[0])?;
                smallvec![self.emit(StepOp::Leading(width as u8), &[a.place])?]
            }
            Op::Extract { hi, lo } => return self.extract(args[0], hi, lo),
            Op::Concat => return self.concat(&args, width),
            Op::Zext(_) => {
                let mut words = self.clean_words(args[0])?;
                while words.len() < usize::from(width.div_ceil(64)) {
                    words.push(self.constant(0));
                }
                words
            }
            Op::Sext(_) => return self.sext(args[0], width),
            Op::Load(_) | Op::Store(_) | Op::Fill | Op::Copy => return None,
            Op::Apply(func) if !self.is_float(func) => return None,
            _ => return self.slow(op, &args, width),
        })
    }

    fn is_float(&self, func: FuncId) -> bool {
        matches!(self.makers.arena.func(func), term::Func::Float(_))
    }

    /// `a` of `-1 * a`.
    fn negated(&self, term: TermId) -> Option<TermId> {
        let arena = &self.makers.arena;
        let ones = arena.op(term) == term::Op::Mul && arena.as_const(arena.arg(term, 1)).is_some_and(Bits::is_ones);
        ones.then(|| arena.arg(term, 0))
    }

    /// The product of two extended words.
    fn wide_product(&mut self, args: &[TermId]) -> Option<Words> {
        use term::Op;
        let arena = &self.makers.arena;
        let kinds = [arena.op(args[0]), arena.op(args[1])];
        let high = match kinds {
            [Op::Zext(_), Op::Zext(_)] => StepOp::MulHighUnsigned,
            [Op::Sext(_), Op::Sext(_)] => StepOp::MulHighSigned,
            _ => return self.slow(Op::Mul, args, 128),
        };
        let (a, b) = (self.clean_words(args[0])?[0], self.clean_words(args[1])?[0]);
        let low = self.emit(StepOp::Mul, &[a.place, b.place])?;
        Some(smallvec![low, self.emit(high, &[a.place, b.place])?])
    }

    fn extract(&mut self, of: TermId, hi: u16, lo: u16) -> Option<Words> {
        let words = self.value(of)?;
        let (width, whole) = (hi - lo + 1, self.width(of));
        let mut out = Words::new();
        for i in 0..width.div_ceil(64) {
            let (from, bits) = (lo + 64 * i, (width - 64 * i).min(64));
            let (word, shift) = (words[usize::from(from / 64)], (from % 64) as u8);
            let available = (whole - from / 64 * 64).min(64) - u16::from(shift);
            let mut piece = match shift {
                0 => word,
                _ => Word { dirty: word.dirty, ..self.emit(StepOp::Right(shift), &[word.place])? },
            };
            if available < bits {
                let next = words[usize::from(from / 64) + 1];
                let high = self.emit(StepOp::Left(64 - shift), &[next.place])?;
                piece = self.emit(StepOp::Or, &[piece.place, high.place])?;
                piece.dirty = bits < 64;
            } else {
                piece.dirty |= bits < available;
            }
            out.push(piece);
        }
        Some(out)
    }

    fn concat(&mut self, args: &[TermId], width: u16) -> Option<Words> {
        let mut out: Words = Words::new();
        let mut at = 0u16;
        for arg in args.iter().rev() {
            let words = self.clean_words(*arg)?;
            let bits = self.width(*arg);
            for (i, word) in (0..).zip(&words) {
                let (from, bits) = (at + 64 * i, (bits - 64 * i).min(64));
                let shift = (from % 64) as u8;
                if shift == 0 {
                    out.push(*word);
                    continue;
                }
                let low = self.emit(StepOp::Left(shift), &[word.place])?;
                let last = out.len() - 1;
                out[last] = self.emit(StepOp::Or, &[out[last].place, low.place])?;
                if u16::from(shift) + bits > 64 {
                    out.push(self.emit(StepOp::Right(64 - shift), &[word.place])?);
                }
            }
            at += bits;
        }
        debug_assert_eq!(out.len(), usize::from(width.div_ceil(64)));
        Some(out)
    }

    fn sext(&mut self, of: TermId, width: u16) -> Option<Words> {
        let from = self.width(of);
        if from > 64 {
            return self.slow(term::Op::Sext(width), &[of], width);
        }
        let word = self.loose(of)?;
        let mut out: Words = match from {
            64 => smallvec![word],
            _ => self.emit_dirty(StepOp::Sext(from as u8), &[word.place], width)?,
        };
        if width > 64 {
            let sixty_three = self.constant(63);
            let sign = self.emit(StepOp::Ashr(64), &[out[0].place, sixty_three.place])?;
            while out.len() < usize::from(width.div_ceil(64)) {
                out.push(Word { dirty: false, ..sign });
            }
            if let (Some(top), true) = (out.last_mut(), !width.is_multiple_of(64)) {
                top.dirty = true;
            }
        }
        Some(out)
    }

    fn slow(&mut self, op: term::Op, args: &[TermId], width: u16) -> Option<Words> {
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            let words: Vec<Place> = self.clean_words(*arg)?.iter().map(|word| word.place).collect();
            operands.push((words, self.makers.arena.sort(*arg)));
        }
        let mut out = Words::new();
        for _ in 0..width.div_ceil(64) {
            let place = Place::Temporary(u8::try_from(self.next).ok()?);
            self.next += 1;
            out.push(Word { place, dirty: false });
        }
        let index = StepOp::Slow(u16::try_from(self.out.slow.len()).ok()?);
        self.out.slow.push(Slow { op, args: operands, out: out.iter().map(|word| word.place).collect() });
        self.push(index, out[0].place, &[out[0].place]);
        Some(out)
    }
}

impl Template {
    /// Lets the step that computes an output write it at once, where nobody else reads the value.
    pub fn shorten(mut self) -> Template {
        let mut i = 0;
        while i < self.steps.len() {
            let step = self.steps[i];
            if let (StepOp::Copy, Place::Output(_), Place::Temporary(_)) = (step.op, step.out, step.a)
                && let Some(maker) = self.steps[..i].iter().position(|other| makes(other, step.a))
            {
                let target = |place: &mut Place| {
                    if *place == step.a {
                        *place = step.out;
                    }
                };
                self.steps.remove(i);
                let later =
                    self.steps[maker..].iter_mut().chain(self.flags.iter_mut().flat_map(|flag| &mut flag.steps));
                for other in later {
                    [&mut other.out, &mut other.a, &mut other.b, &mut other.c].into_iter().for_each(target);
                }
                for slow in &mut self.slow {
                    slow.args.iter_mut().flat_map(|(words, _)| words).for_each(target);
                }
                continue;
            }
            i += 1;
        }
        self
    }
}

/// Does the step, and no operation done state by state, compute this value?
fn makes(step: &Step, place: Place) -> bool {
    step.out == place && !matches!(step.op, StepOp::Slow(_) | StepOp::Fault)
}

/// All ones in the low bits of a lane, at its offset.
pub(crate) fn lane_mask(offset: u16, bits: u16) -> u64 {
    low_bits(bits.min(64) as u8) << (offset % 64)
}
