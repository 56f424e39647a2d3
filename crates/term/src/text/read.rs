//! Text to terms: the reader of what [`super::write`] prints, and of what people write.
//!
//! An expression is read into nodes whose sorts are unified as they are read: operands of a sum have the width of the sum,
//! addresses have 64 bits. What nothing determines is refused: constants show their width then (`1:8`), and so does a variable
//! that the arena does not know yet (`x:32`, `p:bool`, `m:memory`). Names that begin with `&` or `§` are addresses.
//!
//! If this is wrong, a fixture means something else than it says; no verdict rests on it.

use super::tokens::{TextError, Token, Tokens};
use super::words::{Builtin, builtin};
use crate::{Arena, Bits, Func, FuncId, Op, Sort, TermId};
use std::collections::BTreeMap;

/// Deeper parentheses are refused.
const MOST_NESTED: u32 = 220;
/// Wider bit vectors do not exist.
const WIDEST: u16 = 512;

/// In which form terms are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Normalised, as every other constructor makes them.
    Normal,
    /// Operator by operator as the text says.
    AsWritten,
}

/// What a node is made of; operands are the nodes before it.
enum Made {
    Bool(bool),
    Number {
        digits: String,
        negative: bool,
    },
    Known(TermId),
    Op(Op),
    Apply(FuncId),
    /// Zero or sign extension, or extraction: the operand's width has to be looked at.
    Checked(Op),
}

struct Node {
    made: Made,
    args: Vec<usize>,
    spot: (usize, usize),
    parenthesised: bool,
    /// The node that stands for all nodes of one sort, and the sort once it is known.
    like: usize,
    sort: Option<Sort>,
}

/// Reads terms into an arena; keeps the names that `let` gives.
pub struct TermReader<'a> {
    /// Where the terms are made.
    pub arena: &'a mut Arena,
    names: BTreeMap<String, TermId>,
    form: Form,
    nodes: Vec<Node>,
    nested: u32,
}

type Read<T> = Result<T, TextError>;

/// Binary operators, how tightly they bind, and which sort of operands they take.
fn binary(sign: &str) -> Option<(u8, Option<Op>)> {
    Some(match sign {
        "?" => (1, None),
        "||" => (2, Some(Op::Or)),
        "&&" => (3, Some(Op::And)),
        "==" | "!=" => (4, Some(Op::Eq)),
        "<u" | ">=u" | ">u" | "<=u" => (4, Some(Op::Ult)),
        "<s" | ">=s" | ">s" | "<=s" => (4, Some(Op::Slt)),
        "/u" => (5, Some(Op::Udiv)),
        "%u" => (5, Some(Op::Urem)),
        "/s" => (5, Some(Op::Sdiv)),
        "%s" => (5, Some(Op::Srem)),
        "&" => (5, Some(Op::BvAnd)),
        "|" => (5, Some(Op::BvOr)),
        "^" => (5, Some(Op::BvXor)),
        "<<" => (5, Some(Op::Shl)),
        ">>u" => (5, Some(Op::Lshr)),
        ">>s" => (5, Some(Op::Ashr)),
        "++" => (5, Some(Op::Concat)),
        "+" | "-" => (6, Some(Op::Add)),
        "*" => (7, Some(Op::Mul)),
        _ => return None,
    })
}

impl Arena {
    /// Reads a term, its `let` lines included. `expected` is the sort that it must have, if the place says so.
    pub fn read(&mut self, text: &str, expected: Option<Sort>, form: Form) -> Result<TermId, TextError> {
        let mut tokens = Tokens::new(text)?;
        let mut reader = TermReader::new(self, form);
        reader.lets(&mut tokens)?;
        let term = reader.term(&mut tokens, expected)?;
        tokens.skip_newlines();
        if *tokens.peek() == Token::End { Ok(term) } else { Err(tokens.error("the term should end here")) }
    }
}

impl<'a> TermReader<'a> {
    /// A reader that knows no `let` yet.
    pub fn new(arena: &'a mut Arena, form: Form) -> TermReader<'a> {
        TermReader { arena, names: BTreeMap::new(), form, nodes: Vec::new(), nested: 0 }
    }

    /// Reads `let` lines, if there are any. Their names hold for what is read next, until [`TermReader::forget_lets`].
    pub fn lets(&mut self, tokens: &mut Tokens) -> Read<()> {
        while tokens.eat_word("let") {
            let name = tokens.name()?;
            tokens.expect("=")?;
            let term = self.term(tokens, None)?;
            tokens.end_of_line()?;
            self.names.insert(name, term);
        }
        Ok(())
    }

    /// The names that `let` gave mean nothing from here on.
    pub fn forget_lets(&mut self) {
        self.names.clear();
    }

    /// Reads a term.
    pub fn term(&mut self, tokens: &mut Tokens, expected: Option<Sort>) -> Read<TermId> {
        self.nodes.clear();
        self.nested = 0;
        let root = self.expression(tokens, 1)?;
        if let Some(sort) = expected {
            self.is(root, sort)?;
        }
        self.build(root)
    }

    /// Makes a term in the reader's form.
    pub fn make(&mut self, op: Op, args: &[TermId]) -> TermId {
        match self.form {
            Form::AsWritten => self.arena.raw(op, args),
            Form::Normal => self.arena.make(op, args),
        }
    }

    fn error_at(&self, node: usize, message: impl Into<String>) -> TextError {
        let (line, column) = self.nodes[node].spot;
        TextError { line, column, message: message.into() }
    }

    fn add(&mut self, made: Made, args: Vec<usize>, spot: (usize, usize), sort: Option<Sort>) -> usize {
        let like = self.nodes.len();
        self.nodes.push(Node { made, args, spot, parenthesised: false, like, sort });
        like
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.nodes[node].like != node {
            let next = self.nodes[node].like;
            self.nodes[node].like = self.nodes[next].like;
            node = next;
        }
        node
    }

    fn sort(&mut self, node: usize) -> Option<Sort> {
        let root = self.root(node);
        self.nodes[root].sort
    }

    fn is(&mut self, node: usize, sort: Sort) -> Read<()> {
        let root = self.root(node);
        match self.nodes[root].sort {
            Some(found) if found != sort => Err(self.error_at(node, format!("this is a {found}, not a {sort}"))),
            _ => {
                self.nodes[root].sort = Some(sort);
                Ok(())
            }
        }
    }

    fn same(&mut self, a: usize, b: usize) -> Read<()> {
        let (x, y) = (self.root(a), self.root(b));
        match (self.nodes[x].sort, self.nodes[y].sort) {
            (Some(one), Some(other)) if one != other => {
                Err(self.error_at(b, format!("this is a {other}, what it stands beside is a {one}")))
            }
            (sort, other) => {
                self.nodes[y].like = x;
                self.nodes[x].sort = sort.or(other);
                Ok(())
            }
        }
    }

    /// A number stands for a bit vector.
    fn is_bits(&mut self, node: usize) -> Read<()> {
        match self.sort(node) {
            Some(sort @ (Sort::Bool | Sort::Memory)) => Err(self.error_at(node, format!("this is a {sort}, not bits"))),
            _ => Ok(()),
        }
    }

    fn width(&mut self, node: usize) -> Read<u16> {
        match self.sort(node) {
            Some(Sort::Bv(width)) => Ok(width),
            Some(sort) => Err(self.error_at(node, format!("this is a {sort}, not bits"))),
            None => Err(self.error_at(node, "nothing tells the width; a constant can, as `1:8`")),
        }
    }

    /// Reads operators that bind at least so tightly.
    fn expression(&mut self, tokens: &mut Tokens, tightest: u8) -> Read<usize> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(tokens.error("nested too deeply"));
        }
        let mut left = self.unary(tokens)?;
        while let Token::Sign(sign) = *tokens.peek() {
            let Some((binding, op)) = binary(sign).filter(|(binding, _)| *binding >= tightest) else { break };
            let spot = tokens.spot();
            left = match op {
                None => self.choice(tokens, left)?,
                Some(op @ (Op::And | Op::Or | Op::Concat | Op::Add)) => self.chain(tokens, left, op, binding)?,
                Some(op) => {
                    tokens.take();
                    let right = self.expression(tokens, binding + 1)?;
                    self.two(op, sign, left, right, spot)?
                }
            };
        }
        self.nested -= 1;
        Ok(left)
    }

    fn choice(&mut self, tokens: &mut Tokens, condition: usize) -> Read<usize> {
        let spot = tokens.spot();
        tokens.expect("?")?;
        self.is(condition, Sort::Bool)?;
        let then = self.expression(tokens, 2)?;
        tokens.expect(":")?;
        let other = self.expression(tokens, 1)?;
        self.same(then, other)?;
        let node = self.add(Made::Op(Op::Ite), vec![condition, then, other], spot, None);
        self.same(node, then)?;
        Ok(node)
    }

    /// Operators of any number of operands.
    fn chain(&mut self, tokens: &mut Tokens, first: usize, op: Op, binding: u8) -> Read<usize> {
        let spot = tokens.spot();
        let mut args = vec![first];
        loop {
            let minus = match (op, tokens.peek()) {
                (Op::Add, Token::Sign("-")) => true,
                (Op::Add, Token::Sign("+")) => false,
                (Op::And, Token::Sign("&&")) | (Op::Or, Token::Sign("||")) | (Op::Concat, Token::Sign("++")) => false,
                _ => break,
            };
            let sign = tokens.spot();
            tokens.take();
            let operand = self.expression(tokens, binding + 1)?;
            args.push(if minus { self.negated(operand, sign)? } else { operand });
        }
        match op {
            Op::Concat => {
                let mut width = 0u16;
                for arg in &args {
                    width = width.saturating_add(self.width(*arg)?);
                }
                if width > WIDEST {
                    return Err(self.error_at(first, "too wide"));
                }
                Ok(self.add(Made::Op(op), args, spot, Some(Sort::Bv(width))))
            }
            Op::Add => {
                for arg in &args {
                    self.is_bits(*arg)?;
                    self.same(first, *arg)?;
                }
                let node = self.add(Made::Op(op), args, spot, None);
                self.same(first, node)?;
                Ok(node)
            }
            _ => {
                for arg in &args {
                    self.is(*arg, Sort::Bool)?;
                }
                Ok(self.add(Made::Op(op), args, spot, Some(Sort::Bool)))
            }
        }
    }

    /// The negative of a term: of a constant, or a product with minus one.
    fn negated(&mut self, node: usize, spot: (usize, usize)) -> Read<usize> {
        self.is_bits(node)?;
        let factor = match (&self.nodes[node].made, self.nodes[node].parenthesised) {
            (Made::Number { .. }, false) => Some(node),
            (Made::Op(Op::Mul), false) => self.nodes[node].args.get(1).copied(),
            _ => None,
        };
        if let Some(Made::Number { negative, .. }) = factor.map(|factor| &mut self.nodes[factor].made) {
            *negative = !*negative;
            return Ok(node);
        }
        let one = self.add(Made::Number { digits: "1".to_string(), negative: true }, Vec::new(), spot, None);
        self.same(node, one)?;
        let product = self.add(Made::Op(Op::Mul), vec![node, one], spot, None);
        self.same(node, product)?;
        Ok(product)
    }

    fn two(&mut self, op: Op, sign: &str, left: usize, right: usize, spot: (usize, usize)) -> Read<usize> {
        if op != Op::Eq {
            self.is_bits(left)?;
            self.is_bits(right)?;
        }
        self.same(left, right)?;
        if let Op::Eq | Op::Ult | Op::Slt = op {
            if self.sort(left) == Some(Sort::Memory) {
                return Err(self.error_at(left, "memories are not compared"));
            }
            let turned = matches!(sign, ">u" | ">s" | "<=u" | "<=s");
            let args = if turned { vec![right, left] } else { vec![left, right] };
            let node = self.add(Made::Op(op), args, spot, Some(Sort::Bool));
            let negated = matches!(sign, "!=" | ">=u" | ">=s" | "<=u" | "<=s");
            return Ok(if negated { self.add(Made::Op(Op::Not), vec![node], spot, Some(Sort::Bool)) } else { node });
        }
        // A constant factor stands last.
        let constant = matches!(self.nodes[left].made, Made::Number { .. });
        let args = if op == Op::Mul && constant { vec![right, left] } else { vec![left, right] };
        let node = self.add(Made::Op(op), args, spot, None);
        self.same(left, node)?;
        Ok(node)
    }

    fn unary(&mut self, tokens: &mut Tokens) -> Read<usize> {
        let mut signs = Vec::new();
        while let Token::Sign(sign @ ("-" | "~" | "!")) = *tokens.peek() {
            signs.push((sign, tokens.spot()));
            tokens.take();
            if signs.len() > MOST_NESTED as usize {
                return Err(tokens.error("nested too deeply"));
            }
        }
        let mut node = self.postfix(tokens)?;
        for (sign, spot) in signs.into_iter().rev() {
            node = match sign {
                "-" => self.negated(node, spot)?,
                "~" => {
                    self.is_bits(node)?;
                    let made = self.add(Made::Op(Op::BvNot), vec![node], spot, None);
                    self.same(node, made)?;
                    made
                }
                _ => {
                    self.is(node, Sort::Bool)?;
                    self.add(Made::Op(Op::Not), vec![node], spot, Some(Sort::Bool))
                }
            };
        }
        Ok(node)
    }

    /// Slices of bits, reads and writes of memory.
    fn postfix(&mut self, tokens: &mut Tokens) -> Read<usize> {
        let mut node = self.atom(tokens)?;
        loop {
            let spot = tokens.spot();
            if tokens.eat("[") {
                node = self.slice_or_read(tokens, node, spot)?;
            } else if tokens.eat("{") {
                self.is(node, Sort::Memory)?;
                let address = self.expression(tokens, 1)?;
                self.is(address, Sort::Bv(64))?;
                tokens.expect(",")?;
                let bytes = access(tokens)?;
                tokens.expect(":=")?;
                let value = self.expression(tokens, 1)?;
                self.is(value, Sort::Bv(8 * bytes))?;
                tokens.expect("}")?;
                node = self.add(Made::Op(Op::Store(bytes)), vec![node, address, value], spot, Some(Sort::Memory));
            } else {
                return Ok(node);
            }
        }
    }

    fn slice_or_read(&mut self, tokens: &mut Tokens, of: usize, spot: (usize, usize)) -> Read<usize> {
        if self.sort(of) == Some(Sort::Memory) {
            let address = self.expression(tokens, 1)?;
            self.is(address, Sort::Bv(64))?;
            tokens.expect(",")?;
            let bytes = access(tokens)?;
            tokens.expect("]")?;
            return Ok(self.add(Made::Op(Op::Load(bytes)), vec![of, address], spot, Some(Sort::Bv(8 * bytes))));
        }
        let width = self.width(of)?;
        let hi: u16 = tokens.small()?;
        let lo: u16 = if tokens.eat(":") { tokens.small()? } else { hi };
        if lo > hi || hi >= width {
            return Err(self.error_at(of, format!("this has {width} bits, not bits {hi} to {lo}")));
        }
        tokens.expect("]")?;
        Ok(self.add(Made::Checked(Op::Extract { hi, lo }), vec![of], spot, Some(Sort::Bv(hi - lo + 1))))
    }

    fn atom(&mut self, tokens: &mut Tokens) -> Read<usize> {
        let spot = tokens.spot();
        match tokens.peek().clone() {
            Token::Sign("(") => {
                tokens.take();
                let node = self.expression(tokens, 1)?;
                tokens.expect(")")?;
                self.nodes[node].parenthesised = true;
                Ok(node)
            }
            Token::Number(digits) => {
                tokens.take();
                let sort = if tokens.is_suffix() { Some(read_sort(tokens)?) } else { None };
                let node = self.add(Made::Number { digits, negative: false }, Vec::new(), spot, sort);
                self.is_bits(node)?;
                Ok(node)
            }
            Token::Name(name) if name == "true" || name == "false" => {
                tokens.take();
                Ok(self.add(Made::Bool(name == "true"), Vec::new(), spot, Some(Sort::Bool)))
            }
            Token::Name(name) => {
                tokens.take();
                match self.names.get(&name) {
                    Some(term) => {
                        let (term, sort) = (*term, self.arena.sort(*term));
                        Ok(self.add(Made::Known(term), Vec::new(), spot, Some(sort)))
                    }
                    None => self.named(tokens, name, false, spot),
                }
            }
            Token::Quoted(name) => {
                tokens.take();
                self.named(tokens, name, true, spot)
            }
            _ => Err(tokens.error("a term expected")),
        }
    }

    /// A variable or the application of a function.
    fn named(&mut self, tokens: &mut Tokens, name: String, quoted: bool, spot: (usize, usize)) -> Read<usize> {
        let given = if tokens.is_suffix() { Some(read_sort(tokens)?) } else { None };
        if tokens.is_glued() && *tokens.peek() == Token::Sign("(") {
            return self.applied(tokens, name, quoted, given, spot);
        }
        let known = self.arena.find_var(&name).map(|var| self.arena.var_sort(var));
        let error = |message: String| TextError { line: spot.0, column: spot.1, message };
        let sort = match (known, given) {
            (Some(known), Some(given)) if known != given => {
                return Err(error(format!("`{name}` is a {known}, not a {given}")));
            }
            (Some(sort), _) | (None, Some(sort)) => sort,
            (None, None) if name.starts_with(['&', '§']) => Sort::Bv(64),
            (None, None) => {
                return Err(error(format!(
                    "nothing of this name is known; a new variable shows its sort, as `{name}:64`"
                )));
            }
        };
        let term = self.arena.var(&name, sort);
        Ok(self.add(Made::Known(term), Vec::new(), spot, Some(sort)))
    }

    fn applied(
        &mut self,
        tokens: &mut Tokens,
        name: String,
        quoted: bool,
        result: Option<Sort>,
        spot: (usize, usize),
    ) -> Read<usize> {
        tokens.expect("(")?;
        let mut args = Vec::new();
        while !tokens.eat(")") {
            if !args.is_empty() {
                tokens.expect(",")?;
            }
            args.push(self.expression(tokens, 1)?);
        }
        let known = builtin(&name).filter(|_| !quoted && result.is_none());
        let error = |message: &str| TextError { line: spot.0, column: spot.1, message: message.to_string() };
        // Sorts of the operands, and of the result if it is not the first operand's.
        let (op, sorts, sort): (Op, Vec<Sort>, Option<Sort>) = match known {
            None => {
                for arg in &args {
                    if self.sort(*arg).is_none() {
                        self.width(*arg)?;
                    }
                }
                let result = result.unwrap_or(Sort::Bv(64));
                let func = self.arena.func_id(Func::Opaque { name, result });
                return Ok(self.add(Made::Apply(func), args, spot, Some(result)));
            }
            Some(Builtin::Float(op)) => {
                let (width, count) = op.operands();
                let func = self.arena.func_id(Func::Float(op));
                (Op::Apply(func), vec![Sort::Bv(width); count], Some(op.result()))
            }
            Some(Builtin::Zext(to)) | Some(Builtin::Sext(to)) => {
                let [arg] = args[..] else { return Err(error("one operand expected")) };
                if to > WIDEST || to <= self.width(arg)? {
                    return Err(error("an extension makes its operand wider, up to 512 bits"));
                }
                let op = if matches!(known, Some(Builtin::Zext(_))) { Op::Zext(to) } else { Op::Sext(to) };
                return Ok(self.add(Made::Checked(op), args, spot, Some(Sort::Bv(to))));
            }
            Some(count @ (Builtin::Popcount | Builtin::TrailingZeros | Builtin::LeadingZeros)) => {
                let [arg] = args[..] else { return Err(error("one operand expected")) };
                self.is_bits(arg)?;
                let op = match count {
                    Builtin::Popcount => Op::Popcount,
                    Builtin::TrailingZeros => Op::TrailingZeros,
                    _ => Op::LeadingZeros,
                };
                let node = self.add(Made::Op(op), args, spot, None);
                self.same(arg, node)?;
                return Ok(node);
            }
            Some(Builtin::Fill) => {
                let sorts = vec![Sort::Memory, Sort::Bv(64), Sort::Bv(8), Sort::Bv(64)];
                (Op::Fill, sorts, Some(Sort::Memory))
            }
            Some(Builtin::Copy) => {
                let sorts = vec![Sort::Memory, Sort::Bv(64), Sort::Memory, Sort::Bv(64), Sort::Bv(64)];
                (Op::Copy, sorts, Some(Sort::Memory))
            }
        };
        if sorts.len() != args.len() {
            return Err(error(&format!("{} operands expected", sorts.len())));
        }
        for (arg, sort) in args.iter().zip(sorts) {
            self.is(*arg, sort)?;
        }
        Ok(self.add(Made::Op(op), args, spot, sort))
    }

    /// Makes the terms of all nodes, operands first.
    fn build(&mut self, root: usize) -> Read<TermId> {
        let mut terms: Vec<TermId> = Vec::with_capacity(self.nodes.len());
        for i in 0..self.nodes.len() {
            let args: Vec<TermId> = self.nodes[i].args.iter().map(|arg| terms[*arg]).collect();
            let op = match &self.nodes[i].made {
                Made::Known(term) => {
                    terms.push(*term);
                    continue;
                }
                Made::Number { digits, negative } => {
                    let (digits, negative) = (digits.clone(), *negative);
                    let width = self.width(i)?;
                    let error = || self.error_at(i, format!("the number does not fit {width} bits"));
                    let bits = number(&digits, negative, width).ok_or_else(error)?;
                    terms.push(self.arena.constant(bits));
                    continue;
                }
                Made::Bool(value) => {
                    if *value {
                        Op::True
                    } else {
                        Op::False
                    }
                }
                Made::Op(op) | Made::Checked(op) => *op,
                Made::Apply(func) => Op::Apply(*func),
            };
            let sort = self.sort(i);
            if sort.is_none() {
                self.width(i)?;
            }
            terms.push(self.make(op, &args));
        }
        Ok(terms[root])
    }
}

/// The number of bytes of an access.
fn access(tokens: &mut Tokens) -> Read<u16> {
    let error = tokens.error("an access has 1 to 64 bytes");
    tokens.small().ok().filter(|bytes| (1..=64).contains(bytes)).ok_or(error)
}

/// Reads `:32`, `:bool` or `:memory`.
pub fn read_sort(tokens: &mut Tokens) -> Read<Sort> {
    tokens.expect(":")?;
    if tokens.eat_word("bool") {
        return Ok(Sort::Bool);
    }
    if tokens.eat_word("memory") {
        return Ok(Sort::Memory);
    }
    let error = tokens.error("a sort expected: a width of 1 to 512, `bool` or `memory`");
    tokens.small().ok().filter(|width| (1..=WIDEST).contains(width)).map(Sort::Bv).ok_or(error)
}

/// A number of a width; a negative one is as far below zero as it says.
fn number(digits: &str, negative: bool, width: u16) -> Option<Bits> {
    let hex = digits.strip_prefix("0x");
    let mut limbs = [0u64; 8];
    let (radix, digits) = if let Some(hex) = hex { (16u128, hex) } else { (10, digits) };
    for digit in digits.chars() {
        let mut carry = u128::from(digit.to_digit(radix as u32)?);
        for limb in &mut limbs {
            let next = u128::from(*limb) * radix + carry;
            *limb = next as u64;
            carry = next >> 64;
        }
        if carry != 0 {
            return None;
        }
    }
    let wide = Bits::from_limbs(WIDEST, &limbs);
    let bits = wide.resize(width);
    let fits = bits.resize(WIDEST) == wide;
    fits.then(|| if negative { bits.neg() } else { bits })
}
