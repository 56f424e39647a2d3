//! Terms of the graph, flattened once and evaluated often.

use crate::lane::{Lane, Lanes, Value, push, slice};
use crate::values::Values;
use term::{Arena, Func, Op, Sort, TermId, VarId};
use updates::Domain;

/// A term and its operands, operands first.
pub(crate) struct Expression {
    steps: Vec<Step>,
}

struct Step {
    op: Op,
    sort: Sort,
    args: Vec<usize>,
    constant: Option<term::Bits>,
}

impl Expression {
    /// Flattens a term.
    pub fn new(arena: &Arena, term: TermId) -> Expression {
        let order = arena.topological_where(&[term], |_| true);
        let mut position = rustc_hash::FxHashMap::default();
        let mut steps = Vec::with_capacity(order.len());
        for (number, next) in order.into_iter().enumerate() {
            position.insert(next, number);
            let node = arena.node(next);
            steps.push(Step {
                op: node.op,
                sort: node.sort,
                args: node.args.iter().map(|a| position[a]).collect(),
                constant: arena.as_const(next),
            });
        }
        Expression { steps }
    }

    /// The value, with variables from `lookup`.
    pub fn eval<D: Domain>(
        &self,
        arena: &Arena,
        values: &mut Values<'_, D>,
        lookup: impl Fn(VarId) -> Option<Value<D::Value>>,
    ) -> Value<D::Value> {
        let mut done: Vec<Value<D::Value>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let value = match (step.op, step.constant) {
                (_, Some(bits)) => Value::Bits(bits),
                (Op::Var(var), _) => lookup(var).unwrap_or_else(|| lost(step.sort, "a value that nobody set")),
                _ => {
                    let args: Vec<Value<D::Value>> = step.args.iter().map(|a| done[*a].clone()).collect();
                    apply(arena, step, &args, values)
                }
            };
            done.push(value);
        }
        done.pop().unwrap_or(Value::LostTruth("an empty term"))
    }
}

fn lost<V: Copy + Eq>(sort: Sort, why: &'static str) -> Value<V> {
    match sort {
        Sort::Bv(width) => Value::lost(width, why),
        _ => Value::LostTruth(why),
    }
}

/// The concrete value, if it is one.
fn concrete<V>(value: &Value<V>) -> Option<term::eval::Value> {
    match value {
        Value::Bits(bits) => Some(term::eval::Value::Bits(*bits)),
        Value::Bool(truth) => Some(term::eval::Value::Bool(*truth)),
        _ => None,
    }
}

fn apply<D: Domain>(
    arena: &Arena,
    step: &Step,
    args: &[Value<D::Value>],
    values: &mut Values<'_, D>,
) -> Value<D::Value> {
    let memory = matches!(step.op, Op::Load(_) | Op::Store(_) | Op::Fill | Op::Copy);
    let opaque = matches!(step.op, Op::Apply(func) if matches!(arena.func(func), Func::Opaque { .. }));
    if memory || opaque {
        return lost(step.sort, "a function that is not known");
    }
    if let Some(known) = args.iter().map(concrete).collect::<Option<Vec<_>>>() {
        return match term::eval::apply(arena, step.op, &known) {
            term::eval::Value::Bits(bits) => Value::Bits(bits),
            term::eval::Value::Bool(truth) => Value::Bool(truth),
            term::eval::Value::Memory(_) => lost(step.sort, "a memory"),
        };
    }
    let gap = || {
        let reason = args.iter().find_map(Value::why_lost);
        lost(step.sort, reason.unwrap_or("an integer operation on data"))
    };
    match step.op {
        Op::Extract { hi, lo } => Value::from_lanes(slice(&args[0].lanes(), lo, hi - lo + 1)),
        Op::Concat => {
            let mut out = Lanes::new();
            for lane in args.iter().rev().flat_map(Value::lanes) {
                push(&mut out, lane);
            }
            Value::from_lanes(out)
        }
        Op::Zext(width) => {
            let (mut out, mut have) = (Lanes::new(), 0);
            for lane in args[0].lanes() {
                have += lane.width;
                push(&mut out, lane);
            }
            while have < width {
                let more = (width - have).min(64);
                push(&mut out, Lane::known(more, 0));
                have += more;
            }
            Value::from_lanes(out)
        }
        Op::BvAnd | Op::BvOr | Op::BvXor => values.bitwise(step.op, &args[0], &args[1]),
        Op::BvNot => match step.sort {
            Sort::Bv(width) => values.bitwise(Op::BvXor, &args[0], &Value::Bits(term::Bits::ones(width))),
            _ => gap(),
        },
        Op::Ite => match (&args[0], step.sort) {
            (Value::Bool(truth), _) => args[if *truth { 1 } else { 2 }].clone(),
            (Value::Truth(cond), Sort::Bv(_)) => values.choice(*cond, &args[1], &args[2]),
            _ => gap(),
        },
        Op::Not => match &args[0] {
            Value::Truth(value) => {
                let not = values.domain.not(*value);
                values.truth(not)
            }
            _ => gap(),
        },
        Op::And => values.connect(true, args),
        Op::Or => values.connect(false, args),
        Op::Apply(func) => match arena.func(func) {
            Func::Float(op) => values.float(*op, args).unwrap_or_else(|why| lost(step.sort, why)),
            Func::Opaque { .. } => gap(),
        },
        _ => gap(),
    }
}
