//! The small operations that instructions are made of, each done for all states at once.
//!
//! A buffer holds one 64-bit value per state. Loops run over eight states at a time, so that the compiler keeps them in
//! vector registers without being told about any.

use term::eval::{Value, apply};
use term::{Arena, Bits, Sort};

/// Number of states that are run at once.
pub const LANES: usize = 32;
/// States in one part of a buffer.
pub(crate) const PART: usize = 8;
/// One value per state.
pub(crate) type Buffer = [[u64; PART]; LANES / PART];

/// Where a value lies, relative to the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// What the instruction reads.
    Input(u8),
    /// A value on the way.
    Temporary(u8),
    /// The same value in all states.
    Constant(u16),
    /// What the instruction writes.
    Output(u8),
}

/// An operation on values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepOp {
    Copy,
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    MulHighUnsigned,
    MulHighSigned,
    Not,
    /// The low bits.
    Mask(u8),
    /// The low bits, sign-extended.
    Sext(u8),
    /// Shift by a constant.
    Left(u8),
    Right(u8),
    /// Shift by a value; 0 where it reaches the width.
    Shl(u8),
    Lshr(u8),
    Ashr(u8),
    Eq,
    Ult,
    /// Signed comparison of the low bits.
    Slt(u8),
    /// 1 - a.
    Flip,
    /// a ? b : c.
    Ite,
    Popcount,
    Trailing(u8),
    Leading(u8),
    /// A word from memory: number of bytes, offset from the address.
    Load(u8, u8),
    /// The instruction faults where this is not 0.
    Fault,
    /// An operation that is done state by state.
    Slow(u16),
}

/// One step: `out := op(a, b, c)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub op: StepOp,
    pub out: Place,
    pub a: Place,
    pub b: Place,
    pub c: Place,
}

/// An operation of terms on values of any width.
#[derive(Clone, Debug)]
pub(crate) struct Slow {
    pub op: term::Op,
    /// Words and sort of each operand.
    pub args: Vec<(Vec<Place>, Sort)>,
    /// Words of the result.
    pub out: Vec<Place>,
}

/// Where the places of an instruction lie among the buffers.
pub(crate) struct Frame<'a> {
    pub inputs: &'a [u16],
    pub temporaries: usize,
    pub constants: usize,
    pub outputs: usize,
}

impl Frame<'_> {
    #[inline(always)]
    fn at(&self, place: Place) -> usize {
        match place {
            Place::Input(i) => usize::from(self.inputs[usize::from(i)]),
            Place::Temporary(i) => self.temporaries + usize::from(i),
            Place::Constant(i) => self.constants + usize::from(i),
            Place::Output(i) => self.outputs + usize::from(i),
        }
    }
}

/// Reads memory in one of the states; `None` where there is none.
pub(crate) trait Reads {
    fn read(&self, buffers: &[Buffer], lane: usize, address: u64, bytes: u8) -> Option<u64>;
}

#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "parts of several buffers in one list")]
fn map1(buffers: &mut [Buffer], out: usize, a: usize, f: impl Fn(u64) -> u64) {
    for part in 0..LANES / PART {
        let x = buffers[a][part];
        buffers[out][part] = std::array::from_fn(|i| f(x[i]));
    }
}

#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "parts of several buffers in one list")]
fn map2(buffers: &mut [Buffer], out: usize, a: usize, b: usize, f: impl Fn(u64, u64) -> u64) {
    for part in 0..LANES / PART {
        let (x, y) = (buffers[a][part], buffers[b][part]);
        buffers[out][part] = std::array::from_fn(|i| f(x[i], y[i]));
    }
}

#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "parts of several buffers in one list")]
fn choose(buffers: &mut [Buffer], out: usize, [condition, yes, no]: [usize; 3]) {
    for part in 0..LANES / PART {
        let (x, y, z) = (buffers[condition][part], buffers[yes][part], buffers[no][part]);
        buffers[out][part] = std::array::from_fn(|i| {
            let mask = x[i].wrapping_neg();
            y[i] & mask | z[i] & !mask
        });
    }
}

/// The low bits of a word.
#[inline(always)]
pub(crate) fn low_bits(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[inline(always)]
fn sext(value: u64, bits: u8) -> i64 {
    let rest = 64 - u32::from(bits);
    (value as i64) << rest >> rest
}

/// Runs steps; sets a bit in the result for each state that faults.
pub(crate) fn run(
    steps: &[Step],
    slow: &[Slow],
    arena: &Arena,
    buffers: &mut [Buffer],
    frame: &Frame,
    memory: &dyn Reads,
) -> u32 {
    let mut faults = 0;
    for step in steps {
        if let StepOp::Slow(i) = step.op {
            run_slow(&slow[usize::from(i)], arena, buffers, frame);
            continue;
        }
        let (a, b) = (frame.at(step.a), frame.at(step.b));
        if step.op == StepOp::Fault {
            (0..LANES).filter(|i| lane(buffers, a, *i) != 0).for_each(|i| faults |= 1 << i);
            continue;
        }
        let out = frame.at(step.out);
        match step.op {
            StepOp::Copy => buffers[out] = buffers[a],
            StepOp::And => map2(buffers, out, a, b, |x, y| x & y),
            StepOp::Or => map2(buffers, out, a, b, |x, y| x | y),
            StepOp::Xor => map2(buffers, out, a, b, |x, y| x ^ y),
            StepOp::Add => map2(buffers, out, a, b, u64::wrapping_add),
            StepOp::Sub => map2(buffers, out, a, b, u64::wrapping_sub),
            StepOp::Mul => map2(buffers, out, a, b, u64::wrapping_mul),
            StepOp::MulHighUnsigned => map2(buffers, out, a, b, |x, y| ((u128::from(x) * u128::from(y)) >> 64) as u64),
            StepOp::MulHighSigned => {
                map2(buffers, out, a, b, |x, y| ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64);
            }
            StepOp::Not => map1(buffers, out, a, |x| !x),
            StepOp::Mask(bits) => {
                let mask = low_bits(bits);
                map1(buffers, out, a, |x| x & mask);
            }
            StepOp::Sext(bits) => map1(buffers, out, a, |x| sext(x, bits) as u64),
            StepOp::Left(n) => map1(buffers, out, a, |x| x << (n & 63)),
            StepOp::Right(n) => map1(buffers, out, a, |x| x >> (n & 63)),
            StepOp::Shl(w) => map2(buffers, out, a, b, |x, y| if y < u64::from(w) { x << (y & 63) } else { 0 }),
            StepOp::Lshr(w) => map2(buffers, out, a, b, |x, y| if y < u64::from(w) { x >> (y & 63) } else { 0 }),
            StepOp::Ashr(w) => map2(buffers, out, a, b, |x, y| (sext(x, w) >> y.min(63)) as u64),
            StepOp::Eq => map2(buffers, out, a, b, |x, y| u64::from(x == y)),
            StepOp::Ult => map2(buffers, out, a, b, |x, y| u64::from(x < y)),
            StepOp::Slt(w) => map2(buffers, out, a, b, |x, y| u64::from(sext(x, w) < sext(y, w))),
            StepOp::Flip => map1(buffers, out, a, |x| x ^ 1),
            StepOp::Ite => choose(buffers, out, [a, b, frame.at(step.c)]),
            StepOp::Popcount => map1(buffers, out, a, popcount),
            StepOp::Trailing(w) => map1(buffers, out, a, |x| {
                let below = popcount(!x & x.wrapping_sub(1));
                if below > u64::from(w) { u64::from(w) } else { below }
            }),
            StepOp::Leading(w) => map1(buffers, out, a, |x| u64::from(w) - (64 - u64::from(x.leading_zeros()))),
            StepOp::Load(bytes, offset) => {
                for i in 0..LANES {
                    let address = lane(buffers, a, i).wrapping_add(u64::from(offset));
                    let value = memory.read(buffers, i, address, bytes);
                    if value.is_none() {
                        faults |= 1 << i;
                    }
                    buffers[out][i / PART][i % PART] = value.unwrap_or(0);
                }
            }
            StepOp::Fault | StepOp::Slow(_) => {}
        }
    }
    faults
}

/// Number of ones, in operations that go for several states at once.
#[inline(always)]
pub(crate) fn popcount(x: u64) -> u64 {
    let x = x - (x >> 1 & 0x5555_5555_5555_5555);
    let x = (x & 0x3333_3333_3333_3333) + (x >> 2 & 0x3333_3333_3333_3333);
    let x = (x + (x >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    let x = x + (x >> 8);
    let x = x + (x >> 16);
    (x + (x >> 32)) & 0x7f
}

/// The value of a buffer in one state.
#[inline(always)]
pub(crate) fn lane(buffers: &[Buffer], buffer: usize, i: usize) -> u64 {
    buffers[buffer][i / PART][i % PART]
}

fn run_slow(slow: &Slow, arena: &Arena, buffers: &mut [Buffer], frame: &Frame) {
    for i in 0..LANES {
        let value = |(words, sort): &(Vec<Place>, Sort)| {
            let words: smallvec::SmallVec<[u64; 8]> = words.iter().map(|p| lane(buffers, frame.at(*p), i)).collect();
            match sort {
                Sort::Bv(width) => Value::Bits(Bits::from_limbs(*width, &words)),
                _ => Value::Bool(words[0] != 0),
            }
        };
        let args: smallvec::SmallVec<[Value; 4]> = slow.args.iter().map(value).collect();
        match apply(arena, slow.op, &args) {
            Value::Bool(truth) => buffers[frame.at(slow.out[0])][i / PART][i % PART] = u64::from(truth),
            Value::Bits(bits) => {
                for (place, limb) in slow.out.iter().zip(bits.limbs()) {
                    buffers[frame.at(*place)][i / PART][i % PART] = *limb;
                }
            }
            Value::Memory(_) => {}
        }
    }
}
