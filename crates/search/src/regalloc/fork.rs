//! A branch that leads elsewhere: both programs take the same way out of a block and enter blocks of different numbers.
//!
//! From there each side is run by itself along a few paths. If there is one path of each that can be taken in one run (no
//! condition is taken both ways) and what the world sees on them differs, the candidate is wrong. Seen is the kind of an
//! event, and of the first one also what it reads.

use super::astray::{can_be_reached, label};
use super::refute::{AllocationError, SEEDS, is_constant, used, way_to};
use machine::{
    Agreement, Function, Id, Leaving, Names, Number, Product, Side, Stage, Trial, Way, entering, execute, pair_exits,
};
use rustc_hash::FxHashMap;

/// Most paths of each side, and most blocks of each.
const PATHS: usize = 24;
const BLOCKS: usize = 12;
/// Most events that are compared.
const EVENTS: usize = 12;

/// What the world sees of an event.
struct Seen {
    label: String,
    args: Vec<Id>,
    instruction: u32,
}

impl Seen {
    /// Calls begin with it whatever they do.
    fn is_preparation(&self) -> bool {
        self.label.starts_with("ADJCALLSTACK") || self.label.starts_with("write a reserved")
    }
}

/// Flags, a condition of them, and whether it holds.
type Choice = (Id, u8, bool);

/// A path of one side and what is seen on it.
#[derive(Default)]
struct Track {
    events: Vec<Seen>,
    choices: Vec<Choice>,
}

/// Looks for a branch that leads elsewhere.
pub fn refute(product: &mut Product<'_>, names: &Names) -> Option<AllocationError> {
    let (original, candidate) = (product.original, product.candidate);
    // A block that only the candidate has may have been put with the wrong one of the original.
    if original.blocks.iter().any(|block| candidate.block_index(block.number).is_none()) {
        return None;
    }
    for point in 0..product.points.len() {
        let (ours, theirs) = product.points[point].blocks;
        if original.blocks[ours as usize].number != candidate.blocks[theirs as usize].number {
            continue;
        }
        let (a, b) = (product.points[point].original.leaving.clone(), product.points[point].candidate.leaving.clone());
        for (i, j) in pair_exits(&a, &b).unwrap_or_default() {
            let number = candidate.blocks[b[j].target as usize].number;
            let elsewhere = original.blocks[a[i].target as usize].number != number;
            if elsewhere
                && original.block_index(number).is_some()
                && !a[i].by_event
                && let Some(error) = fork(product, names, point, (&a, i), (&b, j))
            {
                return Some(error);
            }
        }
    }
    None
}

/// The conditions under which a way out is taken; `None` if an event decides.
fn choices(exits: &[Leaving], taken: usize) -> Option<Vec<Choice>> {
    let before = exits[..=taken].iter().enumerate();
    before
        .filter_map(|(i, e)| {
            e.when.map(|(code, flags)| Ok((flags, code, i == taken))).or(e.by_event.then_some(Err(())))
        })
        .collect::<Result<_, ()>>()
        .ok()
}

fn fork(
    product: &mut Product<'_>,
    names: &Names,
    point: usize,
    (a, i): (&[Leaving], usize),
    (b, j): (&[Leaving], usize),
) -> Option<AllocationError> {
    let path = way_to(&product.edges, product.points.len(), point)?;
    let (first, second) = (choices(a, i)?, choices(b, j)?);
    if !can_be_reached(product, &path) || !same_flags(product, &path, a, b) {
        return None;
    }
    let (original, candidate) = (product.original, product.candidate);
    let blocks = product.points[point].blocks;
    let way = |state, previous, next| Way { state, previous, next, through: Vec::new() };
    let start = way(product.points[point].original.states[a[i].state].clone(), blocks.0, a[i].target);
    let ours = tracks(product, names, original, Side::Original, start, first);
    let start = way(product.points[point].candidate.states[b[j].state].clone(), blocks.1, b[j].target);
    let theirs = tracks(product, names, candidate, Side::Candidate, start, second);
    for one in &ours {
        for other in &theirs {
            let Some((k, by_label)) = difference(one, other) else { continue };
            let shown = SEEDS.into_iter().all(|seed| {
                let mut run =
                    Evaluation { trial: Trial::along(&product.edges, &path, seed), product, visit: path.len() };
                run.is_possible(one, other) && (by_label || run.reads_differ(&one.events[k], &other.events[k]))
            });
            if !shown {
                continue;
            }
            let mut numbers = vec![original.blocks[0].number];
            numbers.extend(path.iter().map(|e| original.blocks[product.edges[*e].original.next as usize].number));
            return Some(AllocationError {
                function: original.name.clone(),
                path: numbers,
                original: used(original, one.events[k].instruction),
                candidate: used(candidate, other.events[k].instruction),
                needs: one.events[k].label.clone(),
                holds: other.events[k].label.clone(),
                location: None,
                lives: None,
                summary: "goes somewhere else".to_string(),
            });
        }
    }
    None
}

/// Do both sides branch on the same flags?
fn same_flags(product: &mut Product<'_>, path: &[usize], a: &[Leaving], b: &[Leaving]) -> bool {
    let pairs: Vec<(Id, Id)> = a.iter().zip(b).filter_map(|(x, y)| Some((x.when?.1, y.when?.1))).collect();
    SEEDS.into_iter().all(|seed| {
        let mut run = Evaluation { trial: Trial::along(&product.edges, path, seed), product, visit: path.len() };
        pairs.iter().all(|(x, y)| {
            let (x, y) = (run.number(Side::Original, *x), run.number(Side::Candidate, *y));
            Agreement::of(x, y) == Agreement::Equal
        })
    })
}

/// A few paths of one side.
fn tracks(
    product: &mut Product<'_>,
    names: &Names,
    function: &Function,
    side: Side,
    start: Way,
    choices: Vec<Choice>,
) -> Vec<Track> {
    let mut done = Vec::new();
    let mut open = vec![(start, Vec::<u32>::new(), Track { events: Vec::new(), choices })];
    while let Some((way, mut visited, mut track)) = open.pop() {
        if done.len() >= PATHS {
            break;
        }
        let state = entering(&mut product.values, function, &way, side);
        let run = execute(&mut product.values, function, side, way.next, state, None);
        visited.push(way.next);
        for event in &run.events {
            if let Some(label) = label(function, event, names) {
                let args = event.args.to_vec();
                track.events.push(Seen { label, args, instruction: event.instruction });
            }
        }
        let ended = run.leaving.is_empty() || run.leaving.iter().any(|exit| exit.by_event);
        if ended || track.events.len() >= EVENTS || visited.len() >= BLOCKS {
            done.push(track);
            continue;
        }
        for (i, exit) in run.leaving.iter().enumerate().filter(|(_, exit)| !visited.contains(&exit.target)) {
            let taken = run.leaving[..=i].iter().enumerate();
            let new = taken.filter_map(|(k, e)| e.when.map(|(code, flags)| (flags, code, k == i)));
            let events = track.events.iter();
            let events =
                events.map(|e| Seen { label: e.label.clone(), args: e.args.clone(), instruction: e.instruction });
            let next = Track { events: events.collect(), choices: track.choices.iter().copied().chain(new).collect() };
            let way = Way {
                state: run.states[exit.state].clone(),
                previous: way.next,
                next: exit.target,
                through: Vec::new(),
            };
            open.push((way, visited.clone(), next));
        }
    }
    done
}

/// Where two paths may first be seen to differ: which event, and whether its kind is enough. What events read is compared
/// only of the first that is more than a preparation: later ones may depend on it.
fn difference(one: &Track, other: &Track) -> Option<(usize, bool)> {
    for (k, (a, b)) in one.events.iter().zip(&other.events).enumerate() {
        if a.label != b.label {
            return Some((k, true));
        }
        if !a.is_preparation() && one.events[..k].iter().all(Seen::is_preparation) && a.args.len() == b.args.len() {
            let later = one.events.iter().zip(&other.events).skip(k + 1).position(|(a, b)| a.label != b.label);
            return Some(later.map_or((k, false), |n| (k + 1 + n, true)));
        }
    }
    None
}

/// Numbers at the fork.
struct Evaluation<'r, 'a> {
    trial: Trial,
    product: &'r mut Product<'a>,
    visit: usize,
}

impl Evaluation<'_, '_> {
    fn number(&mut self, side: Side, id: Id) -> Option<Number> {
        let Product { original, candidate, values, points, edges } = &mut *self.product;
        self.trial.at(values, &mut Stage { original, candidate, points, edges }, self.visit, side, id)
    }

    /// Is no condition taken both ways on the two paths together?
    fn is_possible(&mut self, one: &Track, other: &Track) -> bool {
        let mut taken: FxHashMap<([u64; 8], u8), bool> = FxHashMap::default();
        for (side, choices) in [(Side::Original, &one.choices), (Side::Candidate, &other.choices)] {
            for (flags, code, holds) in choices {
                let Some(number) = self.number(side, *flags).filter(|n| !n.tainted) else { return false };
                let holds = *holds == (code & 1 == 0);
                let before = *taken.entry((number.words, code & !1)).or_insert(holds);
                if is_constant(&self.product.values, *flags) || before != holds {
                    return false;
                }
            }
        }
        true
    }

    fn reads_differ(&mut self, one: &Seen, other: &Seen) -> bool {
        one.args.iter().zip(&other.args).any(|(a, b)| {
            let (x, y) = (self.number(Side::Original, *a), self.number(Side::Candidate, *b));
            Agreement::of(x, y) == Agreement::Differ
        })
    }
}
