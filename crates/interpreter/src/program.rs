//! Functions made ready to run: terms as straight code over numbered cells.
//!
//! A cell holds the value of a register, a temporary, a constant, an object's address, or an intermediate result.
//! Values of up to 64 bits (and truth values) live in narrow cells, others in wide ones. A register has the cell of
//! its own index. The code of an expression ends in the cell that holds its value.

use program::{FaultKind, Function, Next, Op, Register};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use term::{Arena, Bits, Func, Linear, Op as TermOp, Sort, TermId, VarId};

/// A cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Narrow(u32),
    Wide(u32),
}

/// Operations on narrow cells; the rest is [`Kind::General`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Not,
    And,
    Or,
    Ite,
    Eq,
    Ult,
    Slt,
    Add,
    Mul,
    BvNot,
    BvAnd,
    BvOr,
    BvXor,
    Shl,
    Lshr,
    Ashr,
    /// `a >> c`, cut to the width.
    Extract,
    /// `a << c | b`.
    Concat,
    /// From `c` bits.
    Sext,
    /// The address in `to` is made from the frame register `width` and the constant `a | b << 32`; with `c`, of which an index
    /// may be a part.
    FrameBase,
    /// The address of the object in cell `a` is what `to` is made from.
    ObjectBase,
    /// The same for the object in which a constant address of optimised code lies.
    NearBase,
    /// The same where nobody knows which object of a section that is.
    SectionBase,
    /// The value in `to` is a difference: of pointers, perhaps.
    Difference,
    /// `a` is divided by `b`; sets nothing.
    Quotient,
    /// Something of `width` bits is shifted by the low byte of `a`; sets nothing.
    ShiftCount,
    /// Any operator, operands `a..a + b` in the list of operands.
    General(TermOp),
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub kind: Kind,
    /// Width of the result (of the operands, for comparisons); 1 for truth values.
    pub width: u16,
    pub to: Cell,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

/// An expression: its code and the cell of its value.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub code: Range<u32>,
    pub cell: Cell,
    /// General registers that it mentions.
    pub reads: u32,
}

/// The address of an access.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub expression: Expression,
    /// Is it a constant distance from the stack or frame pointer?
    pub direct: bool,
}

/// What code does with a byte that it loads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteUse {
    /// Nothing that tells its type.
    Plain,
    /// It extends its sign: a number.
    Signed,
    /// It takes the lowest bit: a truth value, or a field.
    Cut,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Set {
        to: Cell,
        value: Expression,
    },
    /// `taken_for`: what the code goes on to do with a byte.
    Load {
        to: Cell,
        address: Address,
        bytes: u16,
        taken_for: ByteUse,
    },
    Store {
        address: Address,
        value: Expression,
        bytes: u16,
    },
    /// The width is 0 for a truth value.
    Unknown {
        to: Cell,
        width: u16,
    },
    Fault {
        condition: Expression,
        kind: FaultKind,
    },
    Unsupported,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Instruction address.
    pub place: u64,
    pub action: Action,
    /// The general register that it writes: index, whether the instruction writes no other, and the bits written.
    pub writes: Option<Written>,
}

/// A general register that a step writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub register: u8,
    /// Does the instruction write no other general register?
    pub alone: bool,
    pub extent: Extent,
}

/// How much of a register an instruction defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// 32 bits or less; zeros above.
    Half,
    /// All, as a signed 32-bit number.
    Signed,
    /// All.
    Whole,
}

/// The code of a point.
#[derive(Clone, Debug)]
pub(super) struct PointCode {
    pub steps: Range<u32>,
    /// One per edge.
    pub guards: Vec<Expression>,
    /// Target of a call through a pointer.
    pub target: Option<Expression>,
    /// For a call: is only the low byte of `rax` looked at behind it?
    pub byte_result: bool,
    /// Is the result of a call looked at right behind it?
    pub result_used: bool,
}

/// A function ready to run.
pub struct Program<'a> {
    /// The function.
    pub function: &'a Function,
    pub(super) instructions: Vec<Instruction>,
    /// Operands of general instructions, and their widths (0 for truth values).
    pub(super) operands: Vec<Cell>,
    pub(super) operand_widths: Vec<u16>,
    pub(super) steps: Vec<Step>,
    pub(super) points: Vec<PointCode>,
    pub(super) narrow_constants: Vec<(u32, u64)>,
    pub(super) wide_constants: Vec<(u32, Bits)>,
    pub(super) objects: Vec<(u32, VarId)>,
    pub(super) narrow_cells: u32,
    pub(super) wide_cells: u32,
}

impl<'a> Program<'a> {
    /// Translates a function.
    pub fn new(arena: &Arena, function: &'a Function) -> Program<'a> {
        let registers = Register::COUNT as u32;
        let program = Program {
            function,
            instructions: Vec::new(),
            operands: Vec::new(),
            operand_widths: Vec::new(),
            steps: Vec::new(),
            points: Vec::new(),
            narrow_constants: Vec::new(),
            wide_constants: Vec::new(),
            objects: Vec::new(),
            narrow_cells: registers,
            wide_cells: registers,
        };
        let mut compiler = Compiler {
            arena,
            program,
            variables: FxHashMap::default(),
            constants: FxHashMap::default(),
            memo: FxHashMap::default(),
            reads: 0,
            mentioned: mentioned(arena, function),
        };
        for point in &function.points {
            compiler.point(point);
        }
        compiler.program
    }

    /// The cell whose low part an expression is, unchanged.
    pub(super) fn moved_cell(&self, value: &Expression) -> Option<Cell> {
        match &self.instructions[value.code.start as usize..value.code.end as usize] {
            [] => Some(value.cell),
            [Instruction { kind: Kind::Extract, c: 0, a, .. }] => Some(Cell::Narrow(*a)),
            [Instruction { kind: Kind::General(TermOp::Extract { lo: 0, .. }), a, .. }] => {
                Some(self.operands[*a as usize])
            }
            _ => None,
        }
    }

    /// Does the program compute with floating-point numbers?
    pub fn computes_floats(&self, arena: &Arena) -> bool {
        let float = |op: TermOp| matches!(op, TermOp::Apply(func) if matches!(arena.func(func), Func::Float(_)));
        self.instructions.iter().any(|i| matches!(i.kind, Kind::General(op) if float(op)))
    }
}

struct Compiler<'c, 'a> {
    arena: &'c Arena,
    program: Program<'a>,
    /// Cells of temporaries and objects.
    variables: FxHashMap<VarId, Cell>,
    constants: FxHashMap<TermId, Cell>,
    /// Values of terms, as long as no variable changes.
    memo: FxHashMap<TermId, Cell>,
    reads: u32,
    /// Variables of objects that the code names.
    mentioned: FxHashSet<VarId>,
}

impl Compiler<'_, '_> {
    fn point(&mut self, point: &program::Point) {
        let from = self.program.steps.len() as u32;
        for (i, (place, op)) in point.ops.iter().enumerate() {
            self.memo.clear();
            let mut action = self.action(op).unwrap_or(Action::Unsupported);
            if let (Action::Load { taken_for, .. }, Op::Load { var, .. }) = (&mut action, op) {
                *taken_for = self.byte_use(&point.ops[i + 1..], *var);
            }
            let writes = self.writes(*place, op, point);
            self.program.steps.push(Step { place: *place, action, writes });
        }
        self.memo.clear();
        let steps = from..self.program.steps.len() as u32;
        let (mut guards, mut target, mut looked_at) = (Vec::new(), None, None);
        match &point.next {
            Next::Edges(edges) => guards = edges.iter().map_while(|edge| self.expression(edge.guard)).collect(),
            Next::Call(call) => {
                let after = call.returns.map(|next| self.program.function.point(next));
                looked_at = after.and_then(|point| bytes_read(self.arena, point, Register::General(0)));
                if let program::Callee::Pointer(term) = &call.callee {
                    target = self.expression(*term);
                }
            }
            Next::Return | Next::Fault(_) => {}
        }
        let (byte_result, result_used) = (looked_at == Some(1), looked_at.is_some());
        self.program.points.push(PointCode { steps, guards, target, byte_result, result_used });
    }

    fn action(&mut self, op: &Op) -> Option<Action> {
        Some(match op {
            Op::Set { var, value } => Action::Set { value: self.expression(*value)?, to: self.variable(*var) },
            Op::Load { var, address, bytes } => {
                let (address, to) = (self.address(*address)?, self.variable(*var));
                Action::Load { address, to, bytes: *bytes, taken_for: ByteUse::Plain }
            }
            Op::Store { address, value } => {
                let bytes = self.arena.width(*value) / 8;
                Action::Store { address: self.address(*address)?, value: self.expression(*value)?, bytes }
            }
            Op::Unknown { var } => {
                Action::Unknown { to: self.variable(*var), width: self.arena.var_sort(*var).width().unwrap_or(0) }
            }
            Op::Fault { condition, kind } => Action::Fault { condition: self.expression(*condition)?, kind: *kind },
        })
    }

    /// Do the next operations extend the sign of what was loaded, or cut it to its lowest bit, at once or in a register?
    fn byte_use(&self, next: &[(u64, Op)], loaded: VarId) -> ByteUse {
        let mut held = vec![loaded];
        for (_, op) in next.iter().take(4) {
            let (var, value) = match op {
                Op::Set { var, value } => (*var, Some(*value)),
                Op::Load { var, .. } | Op::Unknown { var } => (*var, None),
                Op::Store { .. } | Op::Fault { .. } => continue,
            };
            if value.is_some_and(|value| held.iter().any(|h| extends(self.arena, value, *h))) {
                return ByteUse::Signed;
            }
            if value.is_some_and(|value| held.contains(&var) && cuts(self.arena, value, var)) {
                return ByteUse::Cut;
            }
            let from_held = value.is_some_and(|v| self.arena.free_vars(v).iter().any(|v| held.contains(v)));
            // Temporaries are used again.
            held.retain(|h| *h != var);
            held.extend(from_held.then_some(var));
        }
        ByteUse::Plain
    }

    fn address(&mut self, term: TermId) -> Option<Address> {
        let linear = Linear::of(self.arena, term);
        let direct = match linear.terms[..] {
            [(base, one)] => one.to_u64() == Some(1) && self.frame_register(base).is_some(),
            _ => false,
        };
        Some(Address { expression: self.expression(term)?, direct })
    }

    fn frame_register(&self, term: TermId) -> Option<u32> {
        let register = self.arena.as_var(term).and_then(Register::of_var)?;
        (register == Register::RSP || register == Register::RBP).then_some(register.index() as u32)
    }

    fn writes(&self, place: u64, op: &Op, point: &program::Point) -> Option<Written> {
        let general = |op: &Op| match op {
            Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } => match Register::of_var(*var) {
                Some(Register::General(i)) if i != 4 => Some(i),
                _ => None,
            },
            Op::Store { .. } | Op::Fault { .. } => None,
        };
        let register = general(op)?;
        let here = point.ops.iter().filter(|(at, _)| *at == place).filter_map(|(_, op)| general(op));
        let alone = here.filter(|other| *other != register).count() == 0;
        let extent = match op {
            Op::Set { value, .. } => match self.arena.op(*value) {
                TermOp::Zext(64) if self.arena.width(self.arena.arg(*value, 0)) <= 32 => Extent::Half,
                TermOp::Const(_) if self.arena.as_u64(*value).is_some_and(|v| v >> 32 == 0) => Extent::Half,
                TermOp::Const(_) | TermOp::Sext(64) => Extent::Signed,
                _ => Extent::Whole,
            },
            _ => Extent::Whole,
        };
        Some(Written { register, alone, extent })
    }

    fn expression(&mut self, term: TermId) -> Option<Expression> {
        let from = self.program.instructions.len() as u32;
        self.reads = 0;
        let cell = self.cell(term)?;
        Some(Expression { code: from..self.program.instructions.len() as u32, cell, reads: self.reads })
    }

    fn fresh(&mut self, sort: Sort) -> Option<Cell> {
        match sort {
            Sort::Memory => None,
            Sort::Bv(width) if width > 64 => {
                self.program.wide_cells += 1;
                Some(Cell::Wide(self.program.wide_cells - 1))
            }
            Sort::Bool | Sort::Bv(_) => {
                self.program.narrow_cells += 1;
                Some(Cell::Narrow(self.program.narrow_cells - 1))
            }
        }
    }

    fn variable(&mut self, var: VarId) -> Cell {
        if let Some(register) = Register::of_var(var) {
            let index = register.index() as u32;
            return match register.sort() {
                Sort::Bv(128) => Cell::Wide(index),
                _ => Cell::Narrow(index),
            };
        }
        if let Some(cell) = self.variables.get(&var) {
            return *cell;
        }
        let cell = self.fresh(self.arena.var_sort(var)).unwrap_or(Cell::Narrow(Register::RSP.index() as u32));
        if let (Cell::Narrow(index), true) = (cell, self.program.function.objects.contains_key(&var)) {
            self.program.objects.push((index, var));
        }
        self.variables.insert(var, cell);
        cell
    }

    /// The cell that holds a term's value after the code emitted so far.
    fn cell(&mut self, term: TermId) -> Option<Cell> {
        if let Some(cell) = self.memo.get(&term).or_else(|| self.constants.get(&term)) {
            return Some(*cell);
        }
        let node = self.arena.node(term);
        match node.op {
            TermOp::Const(_) | TermOp::True | TermOp::False => return self.constant(term),
            TermOp::Var(var) => {
                if let Some(Register::General(i)) = Register::of_var(var) {
                    self.reads |= 1 << i;
                }
                return (node.sort != Sort::Memory).then(|| self.variable(var));
            }
            TermOp::Load(_) | TermOp::Store(_) | TermOp::Fill | TermOp::Copy => return None,
            TermOp::Apply(func) if matches!(self.arena.func(func), Func::Opaque { .. }) => return None,
            _ => {}
        }
        let mut cells = Vec::with_capacity(node.args.len());
        for arg in &node.args {
            cells.push(self.cell(*arg)?);
        }
        let cell = self.emit(term, &cells)?;
        self.memo.insert(term, cell);
        Some(cell)
    }

    fn constant(&mut self, term: TermId) -> Option<Cell> {
        let cell = self.fresh(self.arena.sort(term))?;
        match (cell, self.arena.as_const(term)) {
            (Cell::Narrow(index), Some(bits)) => self.program.narrow_constants.push((index, bits.low())),
            (Cell::Wide(index), Some(bits)) => self.program.wide_constants.push((index, bits)),
            (Cell::Narrow(index), None) => {
                let value = u64::from(self.arena.as_bool(term) == Some(true));
                self.program.narrow_constants.push((index, value));
            }
            (Cell::Wide(_), None) => return None,
        }
        self.constants.insert(term, cell);
        Some(cell)
    }

    fn emit(&mut self, term: TermId, cells: &[Cell]) -> Option<Cell> {
        let node = self.arena.node(term).clone();
        let narrow: Option<Vec<u32>> =
            cells.iter().map(|c| if let Cell::Narrow(i) = c { Some(*i) } else { None }).collect();
        let is_narrow = node.sort == Sort::Bool || node.sort.width().is_some_and(|w| w <= 64);
        let Some(args) = narrow.filter(|_| is_narrow) else { return self.general(&node, cells) };
        let width = node.sort.width().unwrap_or(1);
        let inner = self.arena.sort(node.args[0]).width().unwrap_or(1);
        let (kind, width) = match node.op {
            TermOp::Not => (Kind::Not, 1),
            TermOp::And => (Kind::And, 1),
            TermOp::Or => (Kind::Or, 1),
            TermOp::Eq => (Kind::Eq, inner),
            TermOp::Ult => (Kind::Ult, inner),
            TermOp::Slt => (Kind::Slt, inner),
            TermOp::Add => (Kind::Add, width),
            TermOp::Mul => (Kind::Mul, width),
            TermOp::BvNot => (Kind::BvNot, width),
            TermOp::BvAnd => (Kind::BvAnd, width),
            TermOp::BvOr => (Kind::BvOr, width),
            TermOp::BvXor => (Kind::BvXor, width),
            TermOp::Shl => (Kind::Shl, width),
            TermOp::Lshr => (Kind::Lshr, width),
            TermOp::Ashr => (Kind::Ashr, width),
            TermOp::Ite => return self.push(Kind::Ite, width, node.sort, args[0], args[1], args[2].into()),
            TermOp::Extract { lo, .. } => {
                return self.push(Kind::Extract, width, node.sort, args[0], 0, u32::from(lo).into());
            }
            TermOp::Sext(_) => return self.push(Kind::Sext, width, node.sort, args[0], 0, u32::from(inner).into()),
            TermOp::Zext(_) => return Some(cells[0]),
            // Parts of bytes stay together: bit by bit the shadows would blur.
            TermOp::Concat
                if args.len() > 2 && node.args.iter().any(|arg| !self.arena.width(*arg).is_multiple_of(8)) =>
            {
                return self.general(&node, cells);
            }
            TermOp::Concat => {
                let mut whole = args[0];
                let mut have = inner;
                for (part, arg) in node.args.iter().zip(&args).skip(1) {
                    let more = self.arena.width(*part);
                    have += more;
                    let cell = self.push(Kind::Concat, have, Sort::Bv(have), whole, *arg, u32::from(more).into())?;
                    let Cell::Narrow(index) = cell else { return None };
                    whole = index;
                }
                return Some(Cell::Narrow(whole));
            }
            _ => return self.general(&node, cells),
        };
        let mut whole = args[0];
        if args.len() == 1 {
            return self.push(kind, width, node.sort, whole, 0, None);
        }
        if matches!(kind, Kind::Shl | Kind::Lshr | Kind::Ashr) && self.program.function.is_unoptimised() {
            self.shift_count(node.args[1]);
        }
        for arg in &args[1..] {
            let Cell::Narrow(index) = self.push(kind, width, node.sort, whole, *arg, None)? else { return None };
            whole = index;
        }
        if kind == Kind::Add && width == 64 {
            self.frame_base(term, whole);
            self.object_base(term, whole);
            let minus = |arg: &TermId| {
                let node = self.arena.node(*arg);
                node.op == TermOp::Mul
                    && node.args.last().is_some_and(|f| self.arena.as_const(*f).is_some_and(Bits::is_ones))
            };
            let parts = || node.args.iter().zip(&args).filter(|(arg, _)| self.arena.as_const(**arg).is_none());
            let less = parts().find(|(arg, _)| minus(arg)).map(|(_, cell)| *cell);
            let more = parts().find(|(arg, _)| !minus(arg)).map(|(_, cell)| *cell);
            if let (2, Some(more), Some(less)) = (parts().count(), more, less) {
                let plain = u32::from(node.args.len() == 2);
                let (to, kind) = (Cell::Narrow(whole), Kind::Difference);
                self.program.instructions.push(Instruction { kind, width, to, a: more, b: less, c: plain });
            }
        }
        Some(Cell::Narrow(whole))
    }

    /// Notes a shift by `cl`, of which the CPU takes five or six bits. Optimisers leave it to that to mask the count.
    fn shift_count(&mut self, count: TermId) {
        let masked = match self.arena.op(count) {
            TermOp::Zext(_) => self.arena.arg(count, 0),
            _ => count,
        };
        let TermOp::Extract { hi: hi @ (4 | 5), lo: 0 } = self.arena.op(masked) else { return };
        let register = self.arena.as_var(self.arena.arg(masked, 0)).and_then(Register::of_var);
        if register == Some(Register::General(1)) {
            let a = Register::General(1).index() as u32;
            let (kind, width, to) = (Kind::ShiftCount, 2 << hi, Cell::Narrow(a));
            self.program.instructions.push(Instruction { kind, width, to, a, b: 0, c: 0 });
        }
    }

    /// Notes which part of the frame an address is made from: `rsp + rest + constant` belongs to what lies at
    /// `rsp + constant`. Optimised code may have put a part of the index into the constant, unless something starts there or
    /// there is only one local.
    fn frame_base(&mut self, term: TermId, to: u32) {
        let linear = Linear::of(self.arena, term);
        let single = linear.terms.iter().filter(|(_, factor)| factor.to_u64() == Some(1));
        let frame = single.filter_map(|(part, _)| self.frame_register(*part)).next();
        if let Some(frame) = frame {
            let (low, high) = (linear.constant.low() as u32, (linear.constant.low() >> 32) as u32);
            let kind = Kind::FrameBase;
            let to = Cell::Narrow(to);
            let function = self.program.function;
            let c = u32::from(linear.terms.len() > 1 && function.locals.len() > 1 && !function.is_unoptimised());
            self.program.instructions.push(Instruction { kind, width: frame as u16, to, a: low, b: high, c });
        }
    }

    /// Notes which object of a section an address is made from: in code that is not optimised, the one that `section + constant`
    /// lies in. Optimised code may have put a part of the index into the constant, and every compiler computes a constant
    /// pointer (`e - 2`), which is then used with an index elsewhere.
    fn object_base(&mut self, term: TermId, to: u32) {
        let function = self.program.function;
        let linear = Linear::of(self.arena, term);
        let single = linear.terms.iter().filter(|(_, factor)| factor.to_u64() == Some(1));
        let mut objects = single.filter_map(|(part, _)| function.objects.get(&self.arena.as_var(*part)?));
        let Some(section) = objects.next().filter(|o| o.kind == program::ObjectKind::Section) else { return };
        let member = section.member_at(linear.constant.low());
        // An index that leaves its object seldom leads to the start of another.
        let (alone, start) = (linear.terms.len() == 1, member.is_some_and(|m| m.offset == linear.constant.low()));
        let exact = alone || start;
        let meant = function.is_unoptimised() && (!alone || start);
        // Compilers, clang even without optimisation, add a constant part of an index: where it leads is another object's business.
        let named = |m: &program::Member| self.mentioned.contains(&m.var);
        let unsure = !alone && member.is_some_and(|m| !named(m)) && (!start || section.members.iter().any(named));
        let member = member.filter(|_| !unsure);
        let (kind, object) = match member.map(|member| self.variable(member.var)) {
            Some(Cell::Narrow(object)) if meant => (Kind::ObjectBase, object),
            Some(Cell::Narrow(object)) if exact => (Kind::NearBase, object),
            _ => (Kind::SectionBase, 0),
        };
        self.program.instructions.push(Instruction { kind, width: 64, to: Cell::Narrow(to), a: object, b: 0, c: 0 });
    }

    fn push(&mut self, kind: Kind, width: u16, sort: Sort, a: u32, b: u32, c: Option<u32>) -> Option<Cell> {
        let to = self.fresh(sort)?;
        self.program.instructions.push(Instruction { kind, width, to, a, b, c: c.unwrap_or(0) });
        Some(to)
    }

    /// The 64-bit value that a wider one is made of.
    fn low_word(&mut self, term: TermId) -> Option<u32> {
        let node = self.arena.node(term).clone();
        match node.op {
            TermOp::Concat => self.low_word(*node.args.last()?),
            TermOp::Sext(_) | TermOp::Zext(_) => self.low_word(node.args[0]),
            _ if node.sort == Sort::Bv(64) => match self.cell(term)? {
                Cell::Narrow(index) => Some(index),
                Cell::Wide(_) => None,
            },
            _ => None,
        }
    }

    fn general(&mut self, node: &term::Node, cells: &[Cell]) -> Option<Cell> {
        if node.op == TermOp::Sdiv
            && let (Some(a), Some(b)) = (self.low_word(node.args[0]), self.low_word(node.args[1]))
        {
            let to = Cell::Narrow(a);
            self.program.instructions.push(Instruction { kind: Kind::Quotient, width: 64, to, a, b, c: 0 });
        }
        let to = self.fresh(node.sort)?;
        let a = self.program.operands.len() as u32;
        self.program.operands.extend_from_slice(cells);
        let b = cells.len() as u32;
        self.program.operand_widths.extend(node.args.iter().map(|arg| self.arena.sort(*arg).width().unwrap_or(0)));
        let width = node.sort.width().unwrap_or(0);
        self.program.instructions.push(Instruction { kind: Kind::General(node.op), width, to, a, b, c: 0 });
        Some(to)
    }
}

/// The objects that the operations of a function name.
fn mentioned(arena: &Arena, function: &Function) -> FxHashSet<VarId> {
    let terms = |op: &Op| match op {
        Op::Set { value, .. } => [Some(*value), None],
        Op::Load { address, .. } => [Some(*address), None],
        Op::Store { address, value } => [Some(*address), Some(*value)],
        Op::Fault { condition, .. } => [Some(*condition), None],
        Op::Unknown { .. } => [None, None],
    };
    let ops = function.points.iter().flat_map(|point| &point.ops);
    let vars = ops.flat_map(|(_, op)| terms(op)).flatten().flat_map(|term| arena.free_vars(term));
    vars.filter(|var| function.objects.contains_key(var)).collect()
}

/// How many low bytes of a register the operations of a point look at before it is overwritten; `None` if they do not
/// look at all.
pub fn bytes_read(arena: &Arena, point: &program::Point, register: Register) -> Option<u16> {
    let mut most = None;
    for (_, op) in &point.ops {
        let (terms, set) = match op {
            Op::Set { var, value } => ([Some(*value), None], Some(*var)),
            Op::Load { var, address, .. } => ([Some(*address), None], Some(*var)),
            Op::Store { address, value } => ([Some(*address), Some(*value)], None),
            Op::Unknown { var } => ([None, None], Some(*var)),
            Op::Fault { condition, .. } => ([Some(*condition), None], None),
        };
        for term in terms.into_iter().flatten() {
            let itself = set.is_some_and(|var| var.index() == register.index());
            let read =
                if itself { read_for_itself(arena, term, register) } else { bytes_mentioned(arena, term, register) };
            most = most.max(read);
        }
        if set.is_some_and(|var| var.index() == register.index()) {
            return most;
        }
    }
    if let Next::Edges(edges) = &point.next {
        let guards = edges.iter().filter_map(|edge| bytes_mentioned(arena, edge.guard, register));
        most = most.max(guards.max());
    }
    most
}

/// The same of a term that becomes the register's new value. A partial write keeps the upper bytes: that is no look at them.
fn read_for_itself(arena: &Arena, term: TermId, register: Register) -> Option<u16> {
    let node = arena.node(term);
    let kept = |term: TermId| {
        let whole = arena.node(term).args.first().and_then(|arg| arena.as_var(*arg));
        matches!(arena.op(term), TermOp::Extract { hi: 63, .. }) && whole.is_some_and(|v| v.index() == register.index())
    };
    match node.op {
        TermOp::Extract { .. } if kept(term) => None,
        TermOp::Concat => {
            let rest = node.args[1..].iter().filter_map(|arg| bytes_mentioned(arena, *arg, register)).max();
            rest.max(read_for_itself(arena, node.args[0], register))
        }
        _ => bytes_mentioned(arena, term, register),
    }
}

/// Is a term what a variable holds, with its lowest byte cut to one bit?
fn cuts(arena: &Arena, term: TermId, var: VarId) -> bool {
    let node = arena.node(term);
    let [.., zeros, bit] = node.args[..] else { return false };
    let lowest =
        matches!(arena.op(bit), TermOp::Extract { hi: 0, lo: 0 }) && arena.as_var(arena.arg(bit, 0)) == Some(var);
    node.op == TermOp::Concat && lowest && arena.width(zeros) == 7 && arena.as_u64(zeros) == Some(0)
}

/// Does a term extend the sign of a variable?
fn extends(arena: &Arena, term: TermId, var: VarId) -> bool {
    let node = arena.node(term);
    let low = |term: TermId| match arena.op(term) {
        TermOp::Extract { hi: 7, lo: 0 } => arena.arg(term, 0),
        _ => term,
    };
    let direct = matches!(node.op, TermOp::Sext(_)) && arena.as_var(low(node.args[0])) == Some(var);
    direct || node.args.iter().any(|arg| extends(arena, *arg, var))
}

fn bytes_mentioned(arena: &Arena, term: TermId, register: Register) -> Option<u16> {
    let node = arena.node(term);
    let is_it = |term: TermId| arena.as_var(term).is_some_and(|var| var.index() == register.index());
    match node.op {
        TermOp::Extract { hi, .. } if is_it(node.args[0]) => Some(hi / 8 + 1),
        TermOp::Var(_) => is_it(term).then_some(8),
        _ => node.args.iter().filter_map(|arg| bytes_mentioned(arena, *arg, register)).max(),
    }
}
