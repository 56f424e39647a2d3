//! Two programs that do different things: another event, another branch.
//!
//! Where the walk in step ends, or the events of a point are not the same, there is a mistake if a run can get there and
//! what the world sees then is of another kind: a store of another width, another callee, a branch on another condition.
//! Events that are only unknown opcodes do not count.

use super::conditions;
use super::refute::{AllocationError, SEEDS, is_possible, used, way_to};
use machine::{Agreement, EventKind, Function, Names, Product, Run, Side, Stage, State, Trial, execute};

/// What the world sees of an event, and which instruction does it.
pub(super) type Seen = (String, u32);

/// Most blocks that are looked at for the first thing to see.
const FARTHEST: usize = 64;

/// Looks for a difference at the point where the programs part.
pub fn refute(product: &mut Product<'_>, point: usize, names: &Names) -> Option<AllocationError> {
    let (ours, theirs) = product.points.get(point)?.blocks;
    let path = way_to(&product.edges, product.points.len(), point)?;
    let (original, candidate) = (product.original, product.candidate);
    let numbers = (original.blocks[ours as usize].number, candidate.blocks[theirs as usize].number);
    // A block that only the candidate has may have been put with the wrong one of the original.
    let known = original.blocks.iter().all(|block| candidate.block_index(block.number).is_some());
    if !known || original.block_index(numbers.1).is_none() || !can_be_reached(product, &path) {
        return None;
    }
    let found = if numbers.0 == numbers.1 {
        other_condition(product, point, &path, names).or_else(|| other_event(product, point, names))
    } else {
        other_block(product, (ours, theirs), names)
    };
    let ((needs, before), (holds, after), summary) = found?;
    let mut blocks = vec![original.blocks[0].number];
    blocks.extend(path.iter().map(|edge| original.blocks[product.edges[*edge].original.next as usize].number));
    Some(AllocationError {
        function: original.name.clone(),
        path: blocks,
        original: used(original, before),
        candidate: used(candidate, after),
        needs,
        holds,
        location: None,
        lives: None,
        summary: summary.to_string(),
    })
}

/// The candidate gets to an instruction that faults, or that touches what is not its own.
pub fn forbidden(product: &mut Product<'_>, (line, what): &(u32, String)) -> Option<AllocationError> {
    let (original, candidate) = (product.original, product.candidate);
    let instruction = candidate.instructions.iter().position(|i| i.line == *line)?;
    let has = |block: u32| candidate.blocks[block as usize].instructions.range().contains(&instruction);
    let points: Vec<usize> = (0..product.points.len()).filter(|p| has(product.points[*p].blocks.1)).collect();
    let (point, path) = points.into_iter().find_map(|point| {
        let path = way_to(&product.edges, product.points.len(), point)?;
        can_be_reached(product, &path).then_some((point, path))
    })?;
    let first = original.blocks[product.points[point].blocks.0 as usize].instructions.start;
    let mut blocks = vec![original.blocks[0].number];
    blocks.extend(path.iter().map(|edge| original.blocks[product.edges[*edge].original.next as usize].number));
    Some(AllocationError {
        function: original.name.clone(),
        path: blocks,
        original: used(original, first),
        candidate: used(candidate, instruction as u32),
        needs: "no such access".to_string(),
        holds: what.clone(),
        location: None,
        lives: None,
        summary: what.clone(),
    })
}

/// What each side does, and what that is.
type Found = (Seen, Seen, &'static str);

pub(super) fn can_be_reached(product: &mut Product<'_>, path: &[usize]) -> bool {
    SEEDS.into_iter().all(|seed| {
        let mut trial = Trial::along(&product.edges, path, seed);
        let Product { original, candidate, values, points, edges } = product;
        is_possible(&mut trial, values, &mut Stage { original, candidate, points, edges }, path)
    })
}

/// The same flags, another condition.
fn other_condition(product: &mut Product<'_>, point: usize, path: &[usize], names: &Names) -> Option<Found> {
    let (ours, theirs) = (&product.points[point].original.leaving, &product.points[point].candidate.leaving);
    let (a, b) = ours.iter().zip(theirs).find(|(a, b)| a.when.map(|w| w.0) != b.when.map(|w| w.0))?;
    let ((code, flags), (other, theirs)) = (a.when?, b.when?);
    let (first, second) = (a.instruction, b.instruction);
    // The negation leads elsewhere; that shows in the next block.
    if code == other ^ 1
        || !(may_differ(code, other) || conditions::tell_apart(product, path, flags, names, (code, other)))
    {
        return None;
    }
    let same = SEEDS.into_iter().all(|seed| {
        let mut trial = Trial::along(&product.edges, path, seed);
        let Product { original, candidate, values, points, edges } = product;
        let mut stage = Stage { original, candidate, points, edges };
        let x = trial.at(values, &mut stage, path.len(), Side::Original, flags);
        let y = trial.at(values, &mut stage, path.len(), Side::Candidate, theirs);
        Agreement::of(x, y) == Agreement::Equal
    });
    let needs = (format!("condition {code}"), first);
    same.then(|| (needs, (format!("condition {other}"), second), "the branch depends on another condition"))
}

/// Can the flags of a comparison with zero tell two conditions apart? Intel SDM vol. 1, appendix B; carry and overflow
/// are clear, so that what is told apart here is told apart by every comparison.
fn may_differ(one: u8, other: u8) -> bool {
    let holds = |code: u8, zero: bool, sign: bool, parity: bool| {
        let even = match code & !1 {
            0 | 2 => false,
            4 | 6 => zero,
            8 | 12 => sign,
            10 => parity,
            14 => zero || sign,
            _ => return None,
        };
        Some(even != (code & 1 == 1))
    };
    let states =
        [(true, false, true), (false, true, false), (false, true, true), (false, false, false), (false, false, true)];
    states.into_iter().any(|(z, s, p)| match (holds(one, z, s, p), holds(other, z, s, p)) {
        (Some(x), Some(y)) => x != y,
        _ => false,
    })
}

/// Another event in the same block.
fn other_event(product: &Product<'_>, point: usize, names: &Names) -> Option<Found> {
    let (original, candidate) = (product.original, product.candidate);
    let point = &product.points[point];
    let mut ours = seen(original, &point.original, names);
    let mut theirs = seen(candidate, &point.candidate, names);
    // The same things in another order need not be another behaviour.
    ours.sort();
    theirs.sort();
    let at = (0..ours.len().max(theirs.len())).find(|i| ours.get(*i).map(|s| &s.0) != theirs.get(*i).map(|s| &s.0))?;
    let nothing = |run: &Run| ("nothing".to_string(), run.leaving.last().map_or(u32::MAX, |exit| exit.instruction));
    let first = ours.get(at).cloned().unwrap_or_else(|| nothing(&point.original));
    let second = theirs.get(at).cloned().unwrap_or_else(|| nothing(&point.candidate));
    Some((first, second, "does something else"))
}

/// The programs are in different blocks, and whatever way each takes from there, it does something else first.
fn other_block(product: &mut Product<'_>, blocks: (u32, u32), names: &Names) -> Option<Found> {
    let ours = first_seen(product, Side::Original, blocks.0, names)?;
    let theirs = first_seen(product, Side::Candidate, blocks.1, names)?;
    let common = ours.iter().any(|one| theirs.iter().any(|other| one.0 == other.0));
    let (first, second) = (ours.into_iter().next()?, theirs.into_iter().next()?);
    (!common).then_some((first, second, "goes somewhere else"))
}

/// What may be seen first from a block on; `None` if that is too much.
fn first_seen(product: &mut Product<'_>, side: Side, block: u32, names: &Names) -> Option<Vec<Seen>> {
    let function = if side == Side::Original { product.original } else { product.candidate };
    let (mut found, mut blocks, mut next) = (Vec::new(), vec![block], 0);
    while let Some(block) = blocks.get(next).copied() {
        next += 1;
        let run = execute(&mut product.values, function, side, block, State::default(), None);
        match seen(function, &run, names).into_iter().next() {
            Some(first) => found.push(first),
            // It ends without anything that we know to be seen.
            None if run.leaving.is_empty() || run.leaving.iter().any(|exit| exit.by_event) => return None,
            None => {
                for exit in &run.leaving {
                    if !blocks.contains(&exit.target) {
                        blocks.push(exit.target);
                    }
                }
            }
        }
        if blocks.len() > FARTHEST {
            return None;
        }
    }
    Some(found)
}

/// The events of a run that are more than an opcode that we do not know.
fn seen(function: &Function, run: &Run, names: &Names) -> Vec<Seen> {
    run.events.iter().filter_map(|event| Some((label(function, event, names)?, event.instruction))).collect()
}

/// What the world sees of an event; `None` if it is only an opcode that we do not know.
pub(super) fn label(function: &Function, event: &machine::Event, names: &Names) -> Option<String> {
    let label = |event: &machine::Event| {
        let text = function.instruction_text(event.instruction);
        Some(match event.kind {
            EventKind::Store(bits) => format!("a store of {bits} bits"),
            EventKind::OrderedStore(bits) => format!("an ordered store of {bits} bits"),
            EventKind::OrderedLoad(bits) => format!("an ordered load of {bits} bits"),
            EventKind::Other(name) => {
                let name = names.text(name);
                let callee = text.split_once(name).map_or("", |(_, rest)| rest.split(',').next().unwrap_or("")).trim();
                match name {
                    _ if name.starts_with("CALL64pcrel32") || name.starts_with("TCRETURNdi64") => {
                        format!("{name} {callee}{}", registers(text))
                    }
                    _ if ["CALL", "RET", "TCRETURN", "INLINEASM", "ADJCALLSTACK", "write a reserved"]
                        .iter()
                        .any(|start| name.starts_with(start)) =>
                    {
                        name.to_string()
                    }
                    _ => return None,
                }
            }
        })
    };
    label(event)
}

/// The registers that a call reads and writes implicitly, in order.
fn registers(text: &str) -> String {
    let implicit = text.split(", ").filter_map(|operand| {
        let (flags, register) = operand.split_once('$')?;
        let kind = flags.split(' ').next().filter(|word| word.starts_with("implicit"))?;
        Some(format!(", {kind} ${register}"))
    });
    let mut list: Vec<String> = implicit.collect();
    list.sort();
    list.concat()
}

#[cfg(test)]
mod tests {
    use super::may_differ;

    #[test]
    fn conditions_that_a_comparison_with_zero_tells_apart() {
        // Equal against sign, less against greater.
        assert!(may_differ(4, 8) && may_differ(12, 15));
        // Without a carry, below or equal is equal; without an overflow, less is sign.
        assert!(!may_differ(4, 6) && !may_differ(8, 12));
    }
}
