//! Comparisons with a short literal: `strcmp`, `strncmp`, `memcmp` and `bcmp` byte by byte, where only one of the programs
//! calls so often. Compilers put the comparisons of the bytes in place of the call.
//!
//! What the call reads is known then: `strcmp` a byte of the other string only if all before it are those of the literal,
//! `memcmp` all of them. Of the result only zero and the sign are known; which number it is else, the library says.
//!
//! Trust: full.

use crate::execute::Executor;
use crate::{Context, State, Stuck};
use library::{Contract, Known as Literal};
use program::{Callee, Next};
use term::TermId;

/// Longer literals are left to the call.
const LONGEST: usize = 8;

/// A comparison with bytes that are known.
pub(super) struct Comparison {
    /// Which of the two arguments is the other string.
    pub other: usize,
    bytes: Vec<u8>,
    /// Is a byte read only where all before it are the same?
    stops: bool,
    /// Does the sign of the result say anything?
    signed: bool,
}

impl Context<'_> {
    /// Does a call compare with a short literal, and does one program make fewer calls of the function?
    pub(super) fn comparison(&mut self, contract: &Contract, arguments: &[TermId]) -> Option<Comparison> {
        let (stops, counted) = match contract.name {
            "strcmp" => (true, false),
            "strncmp" => (true, true),
            "memcmp" | "bcmp" => (false, true),
            _ => return None,
        };
        let calls = self.functions.map(|f| {
            let named = |c: &Callee| matches!(c, Callee::Named(n) if n == contract.name);
            f.points.iter().filter(|p| matches!(&p.next, Next::Call(c) if named(&c.callee))).count()
        });
        if calls[0] == calls[1] {
            return None;
        }
        let length = match counted {
            true => usize::try_from(self.arena.as_u64(*arguments.get(2)?)?).ok()?,
            false => usize::MAX,
        };
        let found = [(0, 1), (1, 0)].into_iter().find_map(|(other, known)| match self.literal(arguments[known])? {
            Literal::Text(text) => Some((other, text)),
            Literal::Number(_) => None,
        });
        let (other, mut bytes) = found?;
        bytes.push(0);
        if stops {
            bytes.truncate(length);
        } else if length > bytes.len() {
            return None;
        } else {
            bytes.truncate(length);
        }
        // What lies in the frame is not at an address of the world.
        let address = arguments[other];
        let local = self.depends_on_frame(address) || self.base_object(address).is_some_and(|(_, l)| l.is_some());
        let signed = contract.name != "bcmp";
        (bytes.len() <= LONGEST && !local).then_some(Comparison { other, bytes, stops, signed })
    }
}

impl Executor<'_, '_> {
    /// The result of a comparison, given what the call would return.
    pub(super) fn compare(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        comparison: &Comparison,
        (address, returned): (TermId, TermId),
    ) -> Result<TermId, Stuck> {
        let mut same = self.context.arena.bool(true);
        let mut less = self.context.arena.bool(false);
        for (i, byte) in comparison.bytes.iter().enumerate() {
            let read = if comparison.stops { self.context.arena.bool_and(guard, same) } else { guard };
            let at = self.context.arena.add_const(address, i as i64);
            let found = self.load(place, read, state, at, 1)?;
            let arena = &mut *self.context.arena;
            let byte = arena.bv(8, u64::from(*byte));
            let (equal, below) = (arena.eq(found, byte), arena.ult(found, byte));
            let first = arena.bool_and(same, below);
            less = arena.bool_or(less, first);
            same = arena.bool_and(same, equal);
        }
        let arena = &mut *self.context.arena;
        let less = if comparison.other == 0 { less } else { arena.bool_not(less) };
        let (zero, one, minus) = (arena.bv(32, 0), arena.bv(32, 1), arena.bv_i64(32, -1));
        let (negative, positive) = (arena.slt(returned, zero), arena.slt(zero, returned));
        if !comparison.signed {
            let nothing = arena.eq(returned, zero);
            let differs = arena.ite(nothing, one, returned);
            return Ok(arena.ite(same, zero, differs));
        }
        let below = arena.ite(negative, returned, minus);
        let above = arena.ite(positive, returned, one);
        let differs = arena.ite(less, below, above);
        Ok(arena.ite(same, zero, differs))
    }
}
