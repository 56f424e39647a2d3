//! Runs of instructions between leaders, as operations: what jump-table analysis and graph building share.

use crate::Error;
use crate::code::{Code, Exit, Step};
use crate::container::Place;
use crate::objects::Objects;
use crate::operands;
use program::{Op, Register};
use std::collections::BTreeMap;
use term::{Arena, TermId};
use x86::Builder;

/// A run of instructions from a leader to the next leader or to an instruction that does not fall through.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Operations, with the addresses of their instructions.
    pub ops: Vec<(u64, Op)>,
    /// Place of the last instruction, or where the block ends without one.
    pub last: Place,
    /// How it ends.
    pub end: End,
}

/// How a block ends.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum End {
    /// Control goes on to this leader.
    Fall(Place),
    /// Control runs out of the code here.
    Off(Place),
    /// By an instruction, with the place after it, and the condition or computed target that belongs to it.
    Exit { exit: Exit, next: Place, term: Option<TermId> },
}

/// Lifts the block that begins at a leader.
pub(crate) fn lift_block(code: &Code, arena: &mut Arena, objects: &mut Objects, leader: Place) -> Result<Block, Error> {
    let mut builder = Builder::new();
    let mut place = leader;
    let mut last = leader;
    loop {
        if place != leader && code.leaders.contains(&place) {
            return Ok(Block { ops: builder.take(), last, end: End::Fall(place) });
        }
        let Some(step) = code.steps.get(&place) else {
            return Ok(Block { ops: builder.take(), last, end: End::Off(place) });
        };
        last = place;
        builder.address = code.address(place);
        let next = Place { offset: place.offset + step.length, ..place };
        let term = lift_step(code, arena, objects, &mut builder, place, step)?;
        if step.exit != Exit::Next {
            let end = End::Exit { exit: step.exit.clone(), next, term };
            return Ok(Block { ops: builder.take(), last, end });
        }
        place = next;
    }
}

fn lift_step(
    code: &Code,
    arena: &mut Arena,
    objects: &mut Objects,
    builder: &mut Builder,
    place: Place,
    step: &Step,
) -> Result<Option<TermId>, Error> {
    let instruction = &step.resolved.instruction;
    let unsupported = |what: x86::Unsupported| code.gap(place, what.name, format!("`{}`", code.text(place)));
    match &step.exit {
        // The operations of one turn, or of one lane, belong to a point of their own.
        Exit::Repeat | Exit::Masked | Exit::Trap => Ok(None),
        Exit::Computed | Exit::ComputedCall => {
            x86::lift_target(instruction, arena, builder).map(Some).map_err(unsupported)
        }
        Exit::ThreadAddress(object) => {
            let value = match object {
                Some(location) => objects.term(arena, *location),
                None => operands::thread_module(arena),
            };
            thread_address(arena, builder, value);
            Ok(None)
        }
        // A direct branch through a linkage-table slot has no operation either.
        Exit::Leave(_) | Exit::Call(_) | Exit::Jump(_) => Ok(None),
        _ => {
            x86::lift(instruction, arena, builder).map_err(unsupported)?;
            match &step.exit {
                Exit::Branch(_) | Exit::LeaveIf(_) => match x86::condition(instruction, arena) {
                    Some(condition) => Ok(Some(condition)),
                    None => Err(code.gap(place, instruction.name(), format!("`{}`", code.text(place)))),
                },
                _ => Ok(None),
            }
        }
    }
}

/// What a call of `__tls_get_addr` does: the address in `rax`, everything else that a callee may change unknown.
fn thread_address(arena: &mut Arena, builder: &mut Builder, value: TermId) {
    for register in Register::all() {
        let kept = matches!(register, Register::FsBase | Register::GsBase | Register::RSP)
            || Register::CALLEE_SAVED.contains(&register)
            || matches!(register, Register::Flag(program::Flag::Direction));
        let term = register.term(arena);
        let Some(var) = arena.as_var(term).filter(|_| !kept) else { continue };
        builder.push(match register {
            Register::General(0) => Op::Set { var, value },
            _ => Op::Unknown { var },
        });
    }
}

/// All blocks of the code found so far, by their leaders.
pub(crate) fn lift_blocks(
    code: &Code,
    arena: &mut Arena,
    objects: &mut Objects,
    known: &mut BTreeMap<Place, Block>,
) -> Result<(), Error> {
    for leader in &code.leaders {
        // A block is stale if a leader was found inside it.
        let stale = known.get(leader).is_none_or(|block| {
            let mut inside =
                code.leaders.range((std::ops::Bound::Excluded(*leader), std::ops::Bound::Included(block.last)));
            block.last > *leader && inside.next().is_some()
        });
        if stale {
            let block = lift_block(code, arena, objects, *leader)?;
            known.insert(*leader, block);
        }
    }
    Ok(())
}
