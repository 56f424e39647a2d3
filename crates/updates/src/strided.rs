//! Innermost loops without jumps, prepared for running many turns at once.
//!
//! Such a loop's body is a list of stores and of changes of control slots, possibly under conditions on control. The form here
//! has the loads of each store numbered, so that the machine can work out once where they go and how far they move
//! from turn to turn ([`crate::machine`], module `stride`). A loop that has anything else in it has no such form and
//! is walked statement by statement.

use crate::program::{Cond, Data, Int, LoopStmt, Place, Stmt};
use crate::scalar::{Cmp, Constant, Op, Scalar};

/// The body and the step of a loop.
#[derive(Clone, Debug)]
pub struct Strided {
    pub(crate) nodes: Vec<Node>,
    /// Slots that every turn changes by the same amount, once, and the amount.
    pub(crate) inductive: Vec<(u32, i64)>,
    /// Other slots that the turns write.
    pub(crate) derived: Vec<u32>,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Store { site: u32, place: Place, value: Expr, numbers: usize },
    Slot { slot: u32, value: Int },
    Enter(Vec<u32>),
    Forget(Vec<u32>),
    If { cond: Int, yes: Vec<Node>, no: Vec<Node> },
}

/// A data expression without effects. Numbers count the loads, control values and known conditions of a statement;
/// number zero is the cell that is written.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Const(Constant),
    Load(usize, Place, Arm),
    FromInt(usize, Scalar, Int),
    Binary(Op, Scalar, Box<(Expr, Expr)>),
    Neg(Scalar, Box<Expr>),
    Compare(Cmp, Scalar, Box<(Expr, Expr)>),
    Not(Box<Expr>),
    Convert(Scalar, Scalar, Box<Expr>),
    Call(Scalar, u32, Vec<Expr>),
    /// By a condition on data.
    Choice(Box<(Expr, Expr, Expr)>),
    /// By a condition on control.
    Known(usize, Int, Box<(Expr, Expr)>),
}

impl Strided {
    /// The prepared form of a loop, if it has one.
    pub(crate) fn of(body: &LoopStmt) -> Option<Strided> {
        let known = matches!(&body.cond, Some(Cond::Int(cond)) if is_plain(cond));
        if !known || body.parallel.is_some() {
            return None;
        }
        let mut nodes = list(&body.body)?;
        nodes.extend(list(&body.step)?);
        let mut written = Vec::new();
        written_slots(&nodes, &mut written);
        written.sort_unstable();
        let (mut inductive, mut derived) = (Vec::new(), Vec::new());
        for same in written.chunk_by(|a, b| a == b) {
            let change = |node: &Node| match node {
                Node::Slot { slot, value, .. } if *slot == same[0] => amount(*slot, value),
                _ => None,
            };
            match nodes.iter().find_map(change) {
                Some(by) if same.len() == 1 => inductive.push((same[0], by)),
                _ => derived.push(same[0]),
            }
        }
        Some(Strided { nodes, inductive, derived })
    }
}

/// The constant that an assignment adds to its slot.
fn amount(slot: u32, value: &Int) -> Option<i64> {
    match value {
        Int::Binary(op @ (Op::Add | Op::Sub), _, parts) => match &**parts {
            (Int::Slot(from), Int::Const(by)) if *from == slot => {
                if *op == Op::Add {
                    Some(*by)
                } else {
                    by.checked_neg()
                }
            }
            (Int::Const(by), Int::Slot(from)) if *from == slot && *op == Op::Add => Some(*by),
            _ => None,
        },
        Int::Offset(parts, scale) => match &**parts {
            (Int::Slot(from), Int::Const(by)) if *from == slot => by.checked_mul(*scale),
            _ => None,
        },
        Int::Convert(_, inner) => amount(slot, inner),
        _ => None,
    }
}

/// Every slot as often as it is written.
fn written_slots(nodes: &[Node], found: &mut Vec<u32>) {
    for node in nodes {
        match node {
            Node::Slot { slot, .. } => found.push(*slot),
            // Not written once by the same amount: counted twice.
            Node::Forget(slots) => found.extend(slots.iter().flat_map(|s| [*s, *s])),
            Node::If { yes, no, .. } => {
                written_slots(yes, found);
                written_slots(no, found);
            }
            Node::Store { .. } | Node::Enter(_) => {}
        }
    }
}

fn list(stmts: &[Stmt]) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::Store(site, place, data) => nodes.push(store(*site, place, data)?),
            Stmt::Data(site, Data::Assign(_, parts)) => nodes.push(store(*site, &parts.0, &parts.1)?),
            Stmt::Int(_, Int::Assign(slot, value)) if is_plain(value) => {
                nodes.push(Node::Slot { slot: *slot, value: (**value).clone() });
            }
            Stmt::Int(_, Int::PostStep(slot, ty, by)) => {
                let value = Int::Binary(Op::Add, *ty, Box::new((Int::Slot(*slot), Int::Const(*by))));
                nodes.push(Node::Slot { slot: *slot, value });
            }
            Stmt::Int(_, Int::Const(_)) => {}
            Stmt::Enter(objects) => nodes.push(Node::Enter(objects.clone())),
            Stmt::Forget(slots) => nodes.push(Node::Forget(slots.clone())),
            Stmt::Block(inner) => nodes.extend(list(inner)?),
            Stmt::If(_, parts) => match &**parts {
                (Cond::Int(cond), yes, no) if is_plain(cond) => {
                    nodes.push(Node::If { cond: cond.clone(), yes: list(yes)?, no: list(no)? });
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(nodes)
}

fn store(site: u32, place: &Place, data: &Data) -> Option<Node> {
    if !is_plain_place(place) {
        return None;
    }
    let mut numbers = 1;
    let value = expression(data, &mut numbers, Arm::Always)?;
    Some(Node::Store { site, place: place.clone(), value, numbers })
}

/// Is an expression evaluated in every turn, or only if a condition on data holds?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arm {
    Always,
    Sometimes,
}

fn expression(data: &Data, numbers: &mut usize, arm: Arm) -> Option<Expr> {
    let mut next = || {
        *numbers += 1;
        *numbers - 1
    };
    Some(match data {
        Data::Const(constant) => Expr::Const(*constant),
        Data::Load(place) if is_plain_place(place) => Expr::Load(next(), place.clone(), arm),
        Data::FromInt(ty, value) if is_plain(value) => Expr::FromInt(next(), *ty, (**value).clone()),
        // The conditions under which a division happens are the general machine's to collect.
        Data::Binary(Op::Div | Op::Rem, ty, _) if arm == Arm::Sometimes && !ty.is_float() => return None,
        Data::Binary(op, ty, parts) => {
            let a = expression(&parts.0, numbers, arm)?;
            Expr::Binary(*op, *ty, Box::new((a, expression(&parts.1, numbers, arm)?)))
        }
        Data::Neg(ty, inner) => Expr::Neg(*ty, Box::new(expression(inner, numbers, arm)?)),
        Data::Compare(cmp, ty, parts) => {
            let a = expression(&parts.0, numbers, arm)?;
            Expr::Compare(*cmp, *ty, Box::new((a, expression(&parts.1, numbers, arm)?)))
        }
        Data::Not(inner) => Expr::Not(Box::new(expression(inner, numbers, arm)?)),
        Data::Convert(from, to, inner) => Expr::Convert(*from, *to, Box::new(expression(inner, numbers, arm)?)),
        Data::Call(ty, function, arguments) => {
            let arguments = arguments.iter().map(|a| expression(a, numbers, arm)).collect::<Option<Vec<Expr>>>()?;
            Expr::Call(*ty, *function, arguments)
        }
        Data::Choice(parts) => match &**parts {
            (Cond::Int(cond), yes, no) if is_plain(cond) => {
                let number = next();
                let yes = expression(yes, numbers, arm)?;
                Expr::Known(number, cond.clone(), Box::new((yes, expression(no, numbers, arm)?)))
            }
            (Cond::Data(cond), yes, no) => {
                let cond = expression(cond, numbers, arm)?;
                let yes = expression(yes, numbers, Arm::Sometimes)?;
                Expr::Choice(Box::new((cond, yes, expression(no, numbers, Arm::Sometimes)?)))
            }
            _ => return None,
        },
        _ => return None,
    })
}

fn is_plain_place(place: &Place) -> bool {
    match place {
        Place::Cell(_) => true,
        Place::Element(element) => {
            let base = match &element.base {
                crate::program::Base::Object(_) => true,
                crate::program::Base::Pointer(pointer) => is_plain(pointer),
            };
            base && element.index.iter().all(|index| is_plain(&index.value))
        }
    }
}

/// Has the control expression no effects that others see, and does it read slots only?
pub(crate) fn is_plain(int: &Int) -> bool {
    match int {
        Int::Const(_) | Int::Slot(_) => true,
        Int::Binary(_, _, parts) | Int::Compare(_, _, parts) | Int::And(parts) | Int::Or(parts) => {
            is_plain(&parts.0) && is_plain(&parts.1)
        }
        Int::Offset(parts, _) | Int::Distance(parts, _) => is_plain(&parts.0) && is_plain(&parts.1),
        Int::Not(inner) | Int::Convert(_, inner) => is_plain(inner),
        Int::Choice(parts) => is_plain(&parts.0) && is_plain(&parts.1) && is_plain(&parts.2),
        Int::Let(parts, value) => parts.iter().all(|(_, part)| is_plain(part)) && is_plain(value),
        Int::Address(place) => is_plain_place(place),
        Int::Assign(..) | Int::PostStep(..) | Int::FromData(..) | Int::Sequence(..) => false,
    }
}
