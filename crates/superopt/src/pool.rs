//! What new code is made of: forms of instructions from `x86`, registers, constants and addresses.
//!
//! A [`Slot`] is an instruction in eight bytes: a form by number, a constant by number, registers. What a task does not
//! need is left out of its pool: vector forms for code without vectors, 64-bit arithmetic for 32-bit code.

use crate::cells::{self, Cell};
use crate::nature::{Nature, Widths};
use crate::operands::{Chosen, Class, Constant, NONE, build};
use crate::random::Random;
use crate::task::Task;
use crate::template::{Makers, Role, Template};
use program::Register;
use rustc_hash::FxHashMap;
use term::Arena;
use x86::{Choice, Form, Instruction, Operand};

/// An instruction of a program under search; the default one does nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Slot {
    /// Which opcode; 0 is none.
    pub(crate) opcode: u16,
    /// Which constant or address.
    pub(crate) constant: u16,
    /// Register of each operand; the base of an address in its operand's place, the index in the last one.
    pub(crate) registers: [u8; 4],
}

impl Slot {
    /// All of it as one number.
    pub(crate) fn number(self) -> u64 {
        let [a, b, c, d] = self.registers;
        u64::from(self.opcode) << 48 | u64::from(self.constant) << 32 | u64::from(u32::from_le_bytes([a, b, c, d]))
    }

    /// Does it do nothing?
    pub fn is_empty(self) -> bool {
        self.opcode == 0
    }
}

/// A form with all that the search wants to know of it.
pub(crate) struct Opcode {
    kind: Kind,
    /// Operands that may be chosen.
    choices: Vec<(usize, Chosen)>,
    /// Opcodes whose operands can be taken over.
    family: u16,
    /// Constants: how many, and the first of its templates.
    constants: Vec<Constant>,
    first_template: usize,
    pub price: u32,
    /// With the same register in both sources nothing is read.
    pub idiom: bool,
    reads_flags: bool,
}

enum Kind {
    /// From the table of forms.
    Form(&'static Form),
    /// An instruction of the original or of a seed, as it is.
    Foreign(Box<Instruction>),
    Nothing,
}

/// The material of a task.
pub struct Pool {
    pub(crate) opcodes: Vec<Opcode>,
    pub(crate) templates: Vec<Template>,
    pub(crate) arena: Arena,
    pub(crate) constants: Vec<u64>,
    families: Vec<Vec<u16>>,
    /// Opcodes from the table, to be drawn from.
    drawn: Vec<u16>,
    readable: [Vec<u8>; 2],
    writable: [Vec<u8>; 2],
    foreign: FxHashMap<String, u16>,
}

impl Pool {
    /// The pool of a task, with its original and seeds as foreign instructions.
    pub(crate) fn new(task: &Task, seeds: &[Vec<Instruction>], widths: Widths) -> Pool {
        Pool::made_of(task, seeds, widths, x86::forms())
    }

    fn made_of(task: &Task, seeds: &[Vec<Instruction>], widths: Widths, forms: &'static [Form]) -> Pool {
        let nature = Nature::of(task, widths);
        let mut makers = Makers::new();
        let mut pool = Pool {
            opcodes: Vec::new(),
            templates: Vec::new(),
            arena: Arena::new(),
            constants: Vec::new(),
            families: Vec::new(),
            drawn: Vec::new(),
            readable: nature.readable.clone(),
            writable: nature.writable.clone(),
            foreign: FxHashMap::default(),
        };
        pool.push(Kind::Nothing, Vec::new(), vec![Constant::Nothing], vec![Template::default()], &nature);
        for form in forms {
            pool.add_form(form, &nature, &mut makers);
        }
        let mut families: FxHashMap<Vec<(usize, Chosen)>, u16> = FxHashMap::default();
        for i in 1..pool.opcodes.len() {
            let next = families.len() as u16;
            let family = *families.entry(pool.opcodes[i].choices.clone()).or_insert(next);
            if family == next {
                pool.families.push(Vec::new());
            }
            pool.opcodes[i].family = family;
            pool.families[usize::from(family)].push(i as u16);
            pool.drawn.push(i as u16);
        }
        for instruction in task.original.iter().chain(seeds.iter().flatten()) {
            pool.add_foreign(instruction, &nature, &mut makers);
        }
        pool.constants = makers.constants;
        pool.arena = makers.arena;
        pool
    }

    fn push(
        &mut self,
        kind: Kind,
        choices: Vec<(usize, Chosen)>,
        constants: Vec<Constant>,
        templates: Vec<Template>,
        nature: &Nature,
    ) {
        let price = match &kind {
            Kind::Nothing => 0,
            Kind::Form(form) => nature.price(&form.prototype),
            Kind::Foreign(instruction) => nature.price(instruction),
        };
        let idiom = match &kind {
            Kind::Form(form) => is_idiom(form),
            _ => false,
        };
        let flags = |template: &Template| {
            let flag = |role: &Role| matches!(role, Role::Fixed(cell) if usize::from(*cell) >= cells::FLAGS);
            template.inputs.iter().any(flag)
        };
        let reads_flags = templates.iter().any(flags);
        let first_template = self.templates.len();
        self.templates.extend(templates);
        let family = 0;
        self.opcodes.push(Opcode { kind, choices, family, constants, first_template, price, idiom, reads_flags });
    }

    fn add_form(&mut self, form: &'static Form, nature: &Nature, makers: &mut Makers) {
        let Some(choices) = nature.choices(form) else { return };
        let all = nature.constants(form, &choices);
        let (mut constants, mut templates) = (Vec::new(), Vec::new());
        for constant in all {
            let Some(instruction) = build(form, &choices, constant, &PROTOTYPE) else { continue };
            if !matches!(constant, Constant::Nothing) && x86::encode(&instruction, 0).is_err() {
                continue;
            }
            let Some(template) = makers.template(&instruction, role) else { continue };
            constants.push(constant);
            templates.push(template.shorten());
        }
        if !constants.is_empty() {
            self.push(Kind::Form(form), choices, constants, templates, nature);
        }
    }

    fn add_foreign(&mut self, instruction: &Instruction, nature: &Nature, makers: &mut Makers) {
        let name = instruction.to_string();
        if self.foreign.contains_key(&name) {
            return;
        }
        let fixed = |register: Register| cells::of(register).map(Role::Fixed);
        if let Some(template) = makers.template(instruction, fixed) {
            self.foreign.insert(name, self.opcodes.len() as u16);
            let kind = Kind::Foreign(Box::new(instruction.clone()));
            self.push(kind, Vec::new(), vec![Constant::Nothing], vec![template.shorten()], nature);
        }
    }

    /// The pool of a task; seeds are code whose instructions must be there.
    pub fn for_task(task: &Task, seeds: &[Vec<Instruction>]) -> Pool {
        Pool::new(task, seeds, Widths::Same)
    }

    /// A pool of a task's own instructions only.
    pub fn of_code(task: &Task) -> Pool {
        Pool::made_of(task, &[], Widths::Same, &[])
    }

    /// The slots of code whose instructions are in the pool, from its forms where possible.
    pub fn slots(&self, code: &[Instruction]) -> Option<Vec<Slot>> {
        code.iter().map(|instruction| self.slot(instruction)).collect()
    }

    /// The slots of code exactly as it is; all of it was given when the pool was made.
    pub fn exactly(&self, code: &[Instruction]) -> Option<Vec<Slot>> {
        code.iter().map(|instruction| self.foreign_slot(instruction)).collect()
    }

    fn foreign_slot(&self, instruction: &Instruction) -> Option<Slot> {
        let opcode = *self.foreign.get(&instruction.to_string())?;
        Some(Slot { opcode, ..Slot::default() })
    }

    fn slot(&self, instruction: &Instruction) -> Option<Slot> {
        self.drawn
            .iter()
            .filter(|i| {
                let Kind::Form(form) = self.opcodes[usize::from(**i)].kind else { return false };
                form.prototype.mnemonic == instruction.mnemonic
                    && form.prototype.operands.len() == instruction.operands.len()
            })
            .find_map(|i| self.as_form(*i, instruction))
            .or_else(|| self.foreign_slot(instruction))
    }

    fn as_form(&self, number: u16, instruction: &Instruction) -> Option<Slot> {
        let opcode = &self.opcodes[usize::from(number)];
        let mut slot = Slot { opcode: number, constant: 0, registers: [NONE; 4] };
        for (i, _) in &opcode.choices {
            match instruction.operands.get(*i)? {
                Operand::Register(lane) => match lane.register {
                    Register::General(n) | Register::Vector(n) => slot.registers[*i] = n,
                    _ => return None,
                },
                Operand::Memory(memory) => {
                    let number = |register: Option<Register>| match register {
                        Some(Register::General(n)) => n,
                        _ => NONE,
                    };
                    slot.registers[*i] = number(memory.base);
                    slot.registers[3] = number(memory.index);
                }
                Operand::Immediate(_) => {}
            }
        }
        (0..opcode.constants.len() as u16)
            .map(|constant| Slot { constant, ..slot })
            .find(|slot| self.instruction(*slot).as_ref() == Some(instruction))
    }

    /// The instruction of a slot; `None` for an empty one.
    pub fn instruction(&self, slot: Slot) -> Option<Instruction> {
        let opcode = &self.opcodes[usize::from(slot.opcode)];
        match &opcode.kind {
            Kind::Nothing => None,
            Kind::Foreign(instruction) => Some((**instruction).clone()),
            Kind::Form(form) => {
                build(form, &opcode.choices, opcode.constants[usize::from(slot.constant)], &slot.registers)
            }
        }
    }

    /// The instructions of a program.
    pub fn instructions(&self, program: &[Slot]) -> Vec<Instruction> {
        program.iter().filter_map(|slot| self.instruction(*slot)).collect()
    }

    /// How a slot is run.
    #[inline(always)]
    pub(crate) fn template(&self, slot: Slot) -> &Template {
        let opcode = &self.opcodes[usize::from(slot.opcode)];
        &self.templates[opcode.first_template + usize::from(slot.constant)]
    }

    /// Does the slot read nothing, since both sources are the same?
    #[inline(always)]
    pub(crate) fn is_idiom(&self, slot: Slot) -> bool {
        let opcode = &self.opcodes[usize::from(slot.opcode)];
        opcode.idiom && {
            let last = opcode.choices.len() - 1;
            slot.registers[last] == slot.registers[last - 1]
        }
    }

    /// Number of forms that programs are made of.
    pub fn forms(&self) -> usize {
        self.drawn.len()
    }

    /// Any instruction.
    pub(crate) fn draw(&self, random: &mut Random) -> Slot {
        let opcode = random.pick(&self.drawn);
        let mut slot = Slot { opcode, constant: 0, registers: [NONE; 4] };
        self.draw_operands(&mut slot, random);
        slot
    }

    fn draw_operands(&self, slot: &mut Slot, random: &mut Random) {
        let opcode = &self.opcodes[usize::from(slot.opcode)];
        slot.constant = random.below(opcode.constants.len()) as u16;
        for (i, chosen) in &opcode.choices {
            self.draw_operand(slot, *i, *chosen, random);
        }
    }

    fn draw_operand(&self, slot: &mut Slot, i: usize, chosen: Chosen, random: &mut Random) {
        match chosen {
            Chosen::Read(class) => slot.registers[i] = random.pick(&self.readable[class as usize]),
            Chosen::Written(class) => slot.registers[i] = random.pick(&self.writable[class as usize]),
            Chosen::Address => {
                slot.registers[i] = random.pick(&self.readable[0]);
                slot.registers[3] = random.pick(&self.readable[0]);
            }
            Chosen::Constant => {}
        }
    }

    /// Another operand in one place.
    pub(crate) fn change_operand(&self, slot: Slot, random: &mut Random) -> Slot {
        let opcode = &self.opcodes[usize::from(slot.opcode)];
        let mut out = slot;
        if opcode.choices.is_empty() {
            return out;
        }
        let (i, chosen) = random.pick(&opcode.choices);
        match chosen {
            Chosen::Constant => out.constant = random.below(opcode.constants.len()) as u16,
            Chosen::Address if random.below(2) == 0 => out.constant = random.below(opcode.constants.len()) as u16,
            chosen => self.draw_operand(&mut out, i, chosen, random),
        }
        out
    }

    /// Another opcode with the same operands.
    pub(crate) fn change_opcode(&self, slot: Slot, random: &mut Random) -> Slot {
        let opcode = &self.opcodes[usize::from(slot.opcode)];
        if slot.is_empty() || matches!(opcode.kind, Kind::Foreign(_)) {
            return slot;
        }
        let other = random.pick(&self.families[usize::from(opcode.family)]);
        let constants = &self.opcodes[usize::from(other)].constants;
        let old = opcode.constants[usize::from(slot.constant)];
        let constant = constants.iter().position(|constant| *constant == old);
        let constant = constant.unwrap_or_else(|| random.below(constants.len())) as u16;
        Slot { opcode: other, constant, ..slot }
    }

    /// Every instruction that reads these registers and writes that one, for enumeration: no flags, no memory.
    pub(crate) fn pure(&self, sources: &[u8], destination: u8) -> Vec<Slot> {
        let mut out = Vec::new();
        for number in &self.drawn {
            let opcode = &self.opcodes[usize::from(*number)];
            let plain = opcode.choices.iter().all(|(_, chosen)| !matches!(chosen, Chosen::Address));
            if opcode.reads_flags || !plain {
                continue;
            }
            let mut slots = vec![Slot { opcode: *number, constant: 0, registers: [NONE; 4] }];
            for (i, chosen) in &opcode.choices {
                let options: &[u8] = match chosen {
                    Chosen::Read(Class::General) => sources,
                    Chosen::Written(Class::General) => &[destination],
                    Chosen::Constant => continue,
                    _ => &[],
                };
                slots = slots
                    .into_iter()
                    .flat_map(|slot| {
                        options.iter().map(move |register| {
                            let mut slot = slot;
                            slot.registers[*i] = *register;
                            slot
                        })
                    })
                    .collect();
            }
            for constant in 0..opcode.constants.len() as u16 {
                out.extend(slots.iter().map(|slot| Slot { constant, ..*slot }));
            }
        }
        out
    }

    /// Is there a form among those to be drawn that uses memory?
    pub(crate) fn has_memory(&self) -> bool {
        let uses = |number: &u16| {
            let opcode = &self.opcodes[usize::from(*number)];
            let templates = &self.templates[opcode.first_template..][..opcode.constants.len()];
            templates.iter().any(|template| template.loads || template.stores.is_some())
        };
        self.drawn.iter().any(uses)
    }

    /// Registers that programs may write: general ones, vectors.
    pub(crate) fn writable(&self) -> &[Vec<u8>; 2] {
        &self.writable
    }
}

/// The registers of a prototype's operands; an address has its base in its operand's place and its index behind all.
const PROTOTYPE: [u8; 4] = [8, 9, 10, INDEX];
const INDEX: u8 = 13;
/// What a register of a prototype stands for.
fn role(register: Register) -> Option<Role> {
    Some(match register {
        Register::General(n @ 8..=10) => Role::General(n - 8),
        Register::General(INDEX) => Role::General(3),
        Register::Vector(n @ 8..=11) => Role::Word(n - 8, 0),
        Register::VectorHigh(n @ 8..=11) => Role::Word(n - 8, 2),
        other => Role::Fixed(cells::of(other)?),
    })
}

/// `xor a, a` and the like: with equal sources the result is always the same.
fn is_idiom(form: &Form) -> bool {
    let mut same = form.prototype.clone();
    let count = same.operands.len();
    let registers =
        count >= 2 && same.operands[count - 2..].iter().all(|operand| matches!(operand, Operand::Register(_)));
    if !registers || form.choices.iter().any(|choice| *choice != Choice::Register) {
        return false;
    }
    same.operands[count - 2] = same.operands[count - 1];
    let Operand::Register(source) = same.operands[count - 1] else { return false };
    let Operand::Register(result) = same.operands[0] else { return false };
    x86::effects(&same)
        .is_ok_and(|effects| !effects.reads.contains(source.register) && effects.writes.contains(result.register))
}

/// The cell that a role stands for in a slot.
#[inline(always)]
pub(crate) fn cell(role: Role, slot: &Slot) -> Cell {
    match role {
        Role::General(operand) => slot.registers[usize::from(operand)],
        Role::Word(operand, word) => 16 + 4 * slot.registers[usize::from(operand)] + word,
        Role::Fixed(cell) => cell,
    }
}
