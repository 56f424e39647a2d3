//! The arena: interning of terms, variables, constants and function symbols.

use crate::node::ConstId;
use crate::{Axiom, Bits, Func, FuncId, Node, Op, Sort, TermId, VarId, rules};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Rewriting nests at most this deep; below it terms stay as written. Bounds the stack, not the result's truth.
const MAX_DEPTH: u32 = 96;

/// Owns all terms of one function pair.
#[derive(Default)]
pub struct Arena {
    nodes: Vec<Node>,
    /// Per node the normal form of its operator and operands, once [`Arena::make`] has asked for it.
    normal: Vec<Normal>,
    /// Open-addressing table: high half of a node's hash, then its number plus one; zero when free. Its length is a
    /// power of two.
    table: Vec<u64>,
    depth: u32,
    pub(crate) swapped_float: bool,
    /// Axioms that terms are made with, and those of them that some term was made with, as bit sets.
    axioms: (u8, u8),
    narrow_consts: FxHashMap<(u16, u64), TermId>,
    consts: Vec<Bits>,
    const_ids: FxHashMap<Bits, ConstId>,
    vars: Vec<(String, Sort)>,
    var_ids: FxHashMap<String, VarId>,
    funcs: Vec<Func>,
    func_ids: FxHashMap<Func, FuncId>,
    /// When present, every firing of a rewrite rule is noted here: the tests prove each of them.
    pub log: Option<Vec<Firing>>,
}

/// What is known about the normal form of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Normal {
    Unknown,
    /// Being computed: a rule that asks again gets the term as written.
    Pending,
    Is(TermId),
}

/// One application of a rewrite rule: `rule` turned `before` (not rewritten) into `after`.
#[derive(Clone, Copy, Debug)]
pub struct Firing {
    /// Name of the rule.
    pub rule: &'static str,
    /// The term as asked for.
    pub before: TermId,
    /// The term that the rule returned.
    pub after: TermId,
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Arena {
        Arena::default()
    }

    /// Number of terms so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Is there no term yet?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node behind a handle.
    pub fn node(&self, term: TermId) -> &Node {
        &self.nodes[term.index()]
    }

    /// Operator of a term.
    pub fn op(&self, term: TermId) -> Op {
        self.nodes[term.index()].op
    }

    /// Operands of a term.
    pub fn args(&self, term: TermId) -> &[TermId] {
        &self.nodes[term.index()].args
    }

    /// Operand `i` of a term.
    pub fn arg(&self, term: TermId, i: usize) -> TermId {
        self.nodes[term.index()].args[i]
    }

    /// Sort of a term.
    pub fn sort(&self, term: TermId) -> Sort {
        self.nodes[term.index()].sort
    }

    /// Width of a bit-vector term. Panics on other sorts: a caller's bug.
    pub fn width(&self, term: TermId) -> u16 {
        match self.sort(term) {
            Sort::Bv(width) => width,
            other => panic!("width of a {other} term"),
        }
    }

    /// The value of a constant bit vector.
    pub fn as_const(&self, term: TermId) -> Option<Bits> {
        match self.op(term) {
            Op::Const(id) => Some(self.consts[id.0 as usize]),
            _ => None,
        }
    }

    /// The value of a constant bit vector that fits 64 bits.
    pub fn as_u64(&self, term: TermId) -> Option<u64> {
        self.as_const(term).and_then(Bits::to_u64)
    }

    /// The truth value of a constant.
    pub fn as_bool(&self, term: TermId) -> Option<bool> {
        match self.op(term) {
            Op::True => Some(true),
            Op::False => Some(false),
            _ => None,
        }
    }

    /// The variable, if the term is one.
    pub fn as_var(&self, term: TermId) -> Option<VarId> {
        match self.op(term) {
            Op::Var(var) => Some(var),
            _ => None,
        }
    }

    /// Name of a variable.
    pub fn var_name(&self, var: VarId) -> &str {
        &self.vars[var.index()].0
    }

    /// Sort of a variable.
    pub fn var_sort(&self, var: VarId) -> Sort {
        self.vars[var.index()].1
    }

    /// Number of variables so far.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// A function symbol.
    pub fn func(&self, func: FuncId) -> &Func {
        &self.funcs[func.0 as usize]
    }

    /// The variable of that name. Panics if the name is taken with another sort: a caller's bug.
    pub fn var(&mut self, name: &str, sort: Sort) -> TermId {
        let var = match self.var_ids.get(name) {
            Some(var) => {
                assert_eq!(self.vars[var.index()].1, sort, "variable `{name}` has two sorts");
                *var
            }
            None => self.new_var(name.to_string(), sort),
        };
        self.intern(Op::Var(var), &[], sort)
    }

    /// The variable of that name, if it exists.
    pub fn find_var(&self, name: &str) -> Option<VarId> {
        self.var_ids.get(name).copied()
    }

    /// The term of a variable.
    pub fn var_term(&mut self, var: VarId) -> TermId {
        let sort = self.var_sort(var);
        self.intern(Op::Var(var), &[], sort)
    }

    /// A new variable whose name begins with `hint`.
    pub fn fresh(&mut self, hint: &str, sort: Sort) -> TermId {
        let mut name = format!("{hint}#{}", self.vars.len());
        while self.var_ids.contains_key(&name) {
            name.push('\'');
        }
        self.var(&name, sort)
    }

    fn new_var(&mut self, name: String, sort: Sort) -> VarId {
        let var = VarId(self.vars.len() as u32);
        self.vars.push((name.clone(), sort));
        self.var_ids.insert(name, var);
        var
    }

    /// A constant.
    pub fn constant(&mut self, bits: Bits) -> TermId {
        if bits.width() <= 64 {
            if let Some(term) = self.narrow_consts.get(&(bits.width(), bits.low())) {
                return *term;
            }
        } else if let Some(id) = self.const_ids.get(&bits) {
            return self.intern(Op::Const(*id), &[], Sort::Bv(bits.width()));
        }
        let id = ConstId(self.consts.len() as u32);
        self.consts.push(bits);
        let term = self.intern(Op::Const(id), &[], Sort::Bv(bits.width()));
        if bits.width() <= 64 {
            self.narrow_consts.insert((bits.width(), bits.low()), term);
        } else {
            self.const_ids.insert(bits, id);
        }
        term
    }

    /// The function symbol.
    pub fn func_id(&mut self, func: Func) -> FuncId {
        if let Some(id) = self.func_ids.get(&func) {
            return *id;
        }
        let id = FuncId(self.funcs.len() as u32);
        self.funcs.push(func.clone());
        self.func_ids.insert(func, id);
        id
    }

    fn hash(op: Op, args: &[TermId]) -> u64 {
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        args.iter().for_each(|arg| hasher.write_u32(arg.0));
        // The low bits choose the place, the high ones tell entries apart: mix them all.
        let hash = hasher.finish();
        (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The node's number, or the free place in the table where it belongs.
    fn find(&self, hash: u64, op: Op, args: &[TermId]) -> Result<TermId, usize> {
        let mask = self.table.len() - 1;
        let mut at = (hash >> 20) as usize & mask;
        loop {
            match self.table[at] {
                0 => return Err(at),
                entry if entry >> 32 == hash >> 32 => {
                    let term = entry as u32 - 1;
                    let node = &self.nodes[term as usize];
                    if node.op == op && node.args[..] == *args {
                        return Ok(TermId(term));
                    }
                }
                _ => {}
            }
            at = (at + 1) & mask;
        }
    }

    /// The term as written, if it exists already.
    pub fn lookup(&self, op: Op, args: &[TermId]) -> Option<TermId> {
        if self.table.is_empty() { None } else { self.find(Self::hash(op, args), op, args).ok() }
    }

    /// The normal form of a term, if it has been made already.
    pub(crate) fn lookup_normal(&self, op: Op, args: &[TermId]) -> Option<TermId> {
        match self.normal[self.lookup(op, args)?.index()] {
            Normal::Is(term) => Some(term),
            Normal::Unknown | Normal::Pending => None,
        }
    }

    /// The term of a constant, if it has been made already.
    pub(crate) fn find_const(&self, bits: Bits) -> Option<TermId> {
        if bits.width() <= 64 {
            return self.narrow_consts.get(&(bits.width(), bits.low())).copied();
        }
        self.lookup(Op::Const(*self.const_ids.get(&bits)?), &[])
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(1024);
        self.table = vec![0; size];
        for (i, node) in self.nodes.iter().enumerate() {
            let hash = Self::hash(node.op, &node.args);
            let mut at = (hash >> 20) as usize & (size - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = hash >> 32 << 32 | (i as u64 + 1);
        }
    }

    fn intern(&mut self, op: Op, args: &[TermId], sort: Sort) -> TermId {
        self.intern_with(op, args, |_| sort)
    }

    fn intern_with(&mut self, op: Op, args: &[TermId], sort: impl FnOnce(&Arena) -> Sort) -> TermId {
        if self.nodes.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = Self::hash(op, args);
        match self.find(hash, op, args) {
            Ok(term) => term,
            Err(place) => {
                let sort = sort(self);
                let term = TermId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms"));
                self.nodes.push(Node { op, args: args.into(), sort });
                self.normal.push(Normal::Unknown);
                self.table[place] = hash >> 32 << 32 | (u64::from(term.0) + 1);
                term
            }
        }
    }

    /// The term as written, without rewriting. Panics on ill-sorted operands: a caller's bug.
    pub fn raw(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.intern_with(op, args, |arena| arena.sort_of(op, args))
    }

    /// The term, rewritten to normal form.
    pub fn make(&mut self, op: Op, args: &[TermId]) -> TermId {
        let before = self.raw(op, args);
        match self.normal[before.index()] {
            Normal::Is(term) => return self.settled(term),
            Normal::Pending => return before,
            Normal::Unknown => {}
        }
        if self.depth >= MAX_DEPTH {
            return before;
        }
        self.depth += 1;
        self.normal[before.index()] = Normal::Pending;
        let rewritten = rules::rewrite(self, before, op, args);
        self.depth -= 1;
        let after = match rewritten {
            Some((rule, after)) => {
                if let Some(log) = &mut self.log {
                    log.push(Firing { rule, before, after });
                }
                after
            }
            None => before,
        };
        self.normal[before.index()] = Normal::Is(after);
        after
    }

    /// A normal form that was noted while its own rewriting was under way may have been rewritten since.
    fn settled(&self, term: TermId) -> TermId {
        match self.normal[term.index()] {
            Normal::Is(later) => later,
            Normal::Unknown | Normal::Pending => term,
        }
    }

    /// Runs a part of a rule that calls itself, counted like nested rewriting; `None` if that is too deep already.
    pub(crate) fn nested<T>(&mut self, part: impl FnOnce(&mut Arena) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let out = part(self);
        self.depth -= 1;
        out
    }

    /// Has a rule exchanged the operands of a floating-point sum or product? Then the results rest on the
    /// assumption `nan-payload`.
    pub fn used_nan_payload(&self) -> bool {
        self.swapped_float
    }

    /// Notes that somebody relies on the order of float operands not being observable.
    pub fn note_swapped_floats(&mut self) {
        self.swapped_float = true;
    }

    /// From now on terms are made with this axiom, too. Whoever allows one does so before the first term of a program is made.
    pub fn allow(&mut self, axiom: Axiom) {
        self.axioms.0 |= 1 << axiom as u8;
    }

    /// Are terms made with this axiom?
    pub fn allows(&self, axiom: Axiom) -> bool {
        self.axioms.0 >> axiom as u8 & 1 == 1
    }

    /// The axioms that terms are made with.
    pub fn allowed_axioms(&self) -> Vec<Axiom> {
        Axiom::ALL.into_iter().filter(|axiom| self.allows(*axiom)).collect()
    }

    /// The axioms that some term was made with.
    pub fn used_axioms(&self) -> Vec<Axiom> {
        Axiom::ALL.into_iter().filter(|axiom| self.axioms.1 >> *axiom as u8 & 1 == 1).collect()
    }

    /// Notes that a term rests on an axiom.
    pub fn note_axiom(&mut self, axiom: Axiom) {
        self.axioms.1 |= 1 << axiom as u8;
    }

    fn sort_of(&self, op: Op, args: &[TermId]) -> Sort {
        let sort = |i: usize| self.sort(args[i]);
        match op {
            Op::True | Op::False | Op::Not | Op::And | Op::Or | Op::Eq | Op::Ult | Op::Slt => Sort::Bool,
            Op::Const(id) => Sort::Bv(self.consts[id.0 as usize].width()),
            Op::Var(var) => self.var_sort(var),
            Op::Ite => {
                assert_eq!(sort(1), sort(2), "ite of two sorts");
                sort(1)
            }
            Op::Add
            | Op::Mul
            | Op::Udiv
            | Op::Urem
            | Op::Sdiv
            | Op::Srem
            | Op::BvAnd
            | Op::BvOr
            | Op::BvXor
            | Op::Shl
            | Op::Lshr
            | Op::Ashr => {
                debug_assert!(args.iter().all(|a| self.sort(*a) == sort(0)), "{op:?} of two sorts");
                sort(0)
            }
            Op::BvNot | Op::Popcount | Op::TrailingZeros | Op::LeadingZeros => sort(0),
            Op::Extract { hi, lo } => {
                assert!(lo <= hi && hi < self.width(args[0]), "extract {hi}..{lo} of {}", sort(0));
                Sort::Bv(hi - lo + 1)
            }
            Op::Concat => Sort::Bv(args.iter().map(|a| self.width(*a)).sum()),
            Op::Zext(to) | Op::Sext(to) => {
                assert!(to > self.width(args[0]), "extension of {} to {to}", sort(0));
                Sort::Bv(to)
            }
            Op::Apply(func) => match self.func(func) {
                Func::Float(float) => float.result(),
                Func::Opaque { result, .. } => *result,
            },
            Op::Load(bytes) => Sort::Bv(8 * bytes),
            Op::Store(bytes) => {
                assert_eq!(self.width(args[2]), 8 * bytes, "width of a stored value");
                Sort::Memory
            }
            Op::Fill | Op::Copy => Sort::Memory,
        }
    }
}
