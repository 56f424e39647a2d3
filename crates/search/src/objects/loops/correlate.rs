//! Which loop heads the two programs reach together, and how often between two meetings.
//!
//! The candidate's heads are followed; each gets a point of the original that is reached a multiple as often. Where
//! several fit, the traces decide: at a meeting both sides have made the same calls and changed memory in the same way.

use super::columns::Row;
use super::fields::keeps_registers;
use super::samples::Run;
use interpreter::Visit;
use kernel::EdgeClaim;
use program::loops::Loops;
use program::{Call, Callee, Function, Next, PointId};
use std::collections::BTreeMap;

/// A guess about the shape of the product.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    /// Points that cut the loops, by side.
    pub cuts: [Vec<PointId>; 2],
    /// Pairs of heads.
    pub points: Vec<Meeting>,
    /// May the candidate be behind with its writes?
    pub loose: bool,
}

/// A pair of heads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Meeting {
    pub heads: [PointId; 2],
    /// How often each side reaches its head from one meeting to the next.
    pub turns: [u32; 2],
    /// Turns of the original before the first meeting; below 0 those of the candidate.
    pub peeled: i32,
    /// Turns more that the original may take before the first meeting, depending on the path.
    pub slack: u32,
    /// How often the candidate comes to its head before they meet, where it comes from a loop that meets the same one of the
    /// original: what is left over begins while the original still rests at its head.
    pub late: u32,
    /// Does the candidate wait at its point while the original goes round alone?
    pub waits: bool,
    /// Does the candidate go round alone while the original rests? Then its point means nothing.
    pub alone: bool,
}

impl Meeting {
    /// Two loops that go round together, turn by turn.
    pub fn plain(heads: [PointId; 2]) -> Meeting {
        Meeting { heads, turns: [1, 1], peeled: 0, slack: 0, late: 0, waits: false, alone: false }
    }

    /// A loop of the candidate that the original does not have.
    fn alone(head: PointId) -> Meeting {
        Meeting { alone: true, ..Meeting::plain([NOWHERE, head]) }
    }

    fn is_both(&self) -> bool {
        !self.waits && !self.alone
    }
}

/// No point of the original.
const NOWHERE: PointId = PointId(u32::MAX);

impl Plan {
    /// How often the heads of a point are reached on the way from another.
    pub fn passes(&self, from: Option<usize>, to: usize) -> [u32; 2] {
        let target = &self.points[to];
        match from.map(|i| &self.points[i]) {
            _ if target.alone || target.waits && from == Some(to) => [1, 1],
            _ if target.waits => [1 + target.peeled.max(0) as u32, 1],
            Some(source) if source.heads == target.heads => target.turns,
            Some(source) if source.waits || source.alone => [1, 1],
            Some(source) if source.heads[0] == target.heads[0] && target.late > 0 => [1, 1 + target.late],
            Some(source) if source.heads[0] == target.heads[0] => [source.turns[0], 1],
            Some(_) => [1, 1],
            None => [1 + target.peeled.max(0) as u32, 1 + (-target.peeled).max(0) as u32],
        }
    }

    /// Turns more that the original may take on the way from another point.
    pub fn slack(&self, from: Option<usize>, to: usize) -> u32 {
        if from == Some(to) { 0 } else { self.points[to].slack }
    }

    /// The edges whose heads are not reached just once.
    pub fn edges(&self) -> Vec<EdgeClaim> {
        let mut out = Vec::new();
        for to in 0..self.points.len() {
            for from in [None].into_iter().chain((0..self.points.len()).map(Some)) {
                let [original, candidate] = self.passes(from, to);
                let more = self.slack(from, to);
                if [original, candidate] != [1, 1] || more > 0 {
                    out.push(EdgeClaim { from, to, original, candidate, more });
                }
            }
        }
        out
    }
}

/// The states of both sides at the meetings.
pub(crate) struct Alignment<'r> {
    /// Per point of the plan: the meetings.
    pub rows: Vec<Vec<Row<'r>>>,
    /// Runs that do not fit.
    pub misfits: usize,
    /// Visits of the original that nothing met, where turns were left over.
    pub left_over: usize,
}

/// Follows the plan through the runs.
pub(crate) fn align<'r>(plan: &Plan, runs: &'r [Run]) -> Alignment<'r> {
    let empty = || Alignment { rows: vec![Vec::new(); plan.points.len()], misfits: 0, left_over: 0 };
    let mut out = empty();
    let mut rests = Rests::new(plan.points.len());
    if plan.points.iter().any(|p| p.slack > 0) {
        let complete = runs.iter().enumerate().filter(|(_, run)| run.complete);
        complete.for_each(|(number, run)| align_run(plan, run, number, &mut empty(), &mut rests));
        rests.learning = false;
    }
    for (number, run) in runs.iter().enumerate() {
        align_run(plan, run, number, &mut out, &mut rests);
        for (index, point) in plan.points.iter().enumerate() {
            if point.waits {
                wait_in(plan, point, run, number, &mut out.rows[index]);
            } else if point.alone {
                alone_in(point, run, number, &mut out.rows[index]);
            }
        }
    }
    out
}

/// The plan, and that the candidate waits where it is while the original is at a loop head, which the kernel has found them at;
/// at once, or after the turns that a loop of the candidate may have left over.
pub(crate) fn with_waiting(functions: [&Function; 2], plan: &Plan, places: [u64; 2]) -> Vec<Plan> {
    let Some([head, place]) = waiting_at(functions, plan, places) else { return Vec::new() };
    if plan.points.iter().any(|p| p.waits && p.heads == [head, place]) {
        return Vec::new();
    }
    let longer = |peeled: u32| {
        let mut longer = plan.clone();
        longer.points.push(Meeting { waits: true, peeled: peeled as i32, ..Meeting::plain([head, place]) });
        if !longer.cuts[1].contains(&place) {
            longer.cuts[1].push(place);
        }
        longer
    };
    let turns = plan.points.iter().filter(|p| p.is_both() && p.heads[0] == head).map(|p| p.turns[0]).max();
    [Some(0), turns.filter(|turns| *turns > 1)].into_iter().flatten().map(longer).collect()
}

/// The points at which the kernel has found the two sides.
fn waiting_at(functions: [&Function; 2], plan: &Plan, [ours, theirs]: [u64; 2]) -> Option<[PointId; 2]> {
    let address = |i: usize, id: PointId| functions[i].point(id).last_address();
    let head = *plan.cuts[0].iter().find(|cut| address(0, **cut) == ours)?;
    let all = || (0..functions[1].points.len() as u32).map(PointId);
    let is_event = |id: &PointId| {
        plan.cuts[1].contains(id) || matches!(functions[1].point(*id).next, Next::Return | Next::Call(_))
    };
    let place = all().find(|id| address(1, *id) == theirs && is_event(id))?;
    Some([head, place])
}

/// The original's visits of a head, and the candidate where it waits: both have made the same calls. If no visits of that place
/// were noted, those of the entry stand for it, in runs that come to none of the loops that the head meets.
fn wait_in<'r>(plan: &Plan, point: &Meeting, run: &'r Run, number: usize, rows: &mut Vec<Row<'r>>) {
    let mut again = false;
    let meets = |v: &Visit| plan.points.iter().any(|p| p.is_both() && p.heads == [point.heads[0], v.point]);
    let noted = |v: &Visit| v.point == point.heads[1];
    let first = run.visits[1].first().filter(|v| v.point == Function::ENTRY);
    let entry = first.filter(|_| !run.visits[1].iter().any(|v| meets(v) || noted(v)));
    // Short runs may have come to no loop of the candidate either.
    let turns = run.visits[0].iter().filter(|v| v.point == point.heads[0]).count();
    if turns <= point.peeled.max(0) as usize {
        return;
    }
    for (i, visit) in run.visits[0].iter().enumerate() {
        if visit.point != point.heads[0] {
            // The points of one loop that are watched are one behind the other.
            continue;
        }
        let there = run.visits[1].iter().rev().find(|v| noted(v) && v.calls == visit.calls);
        let there = there.or(entry.filter(|v| v.calls == visit.calls));
        let after: [&[Visit]; 2] = [&run.visits[0][i + 1..], &[]];
        rows.extend(there.map(|there| Row {
            original: visit,
            candidate: there,
            run: number,
            again,
            after,
            whole: run,
        }));
        again = true;
    }
}

/// The candidate's visits of a head that the original does not have; what it was entered with stands for the original.
fn alone_in<'r>(point: &Meeting, run: &'r Run, number: usize, rows: &mut Vec<Row<'r>>) {
    let Some(entry) = run.visits[1].first().filter(|v| v.point == Function::ENTRY) else { return };
    let mut again = false;
    for (i, visit) in run.visits[1].iter().enumerate().filter(|(_, v)| v.point == point.heads[1]) {
        let after: [&[Visit]; 2] = [&[], &run.visits[1][i + 1..]];
        rows.push(Row { original: entry, candidate: visit, run: number, again, after, whole: run });
        again = true;
    }
}

/// How many turns of the original are left when the candidate has gone round for the last time, by point: where it is
/// open how many turns came before the first meeting and memory does not tell, that does.
struct Rests {
    seen: Vec<Vec<i64>>,
    learning: bool,
}

impl Rests {
    fn new(points: usize) -> Rests {
        Rests { seen: vec![Vec::new(); points], learning: true }
    }

    /// The number that was seen most.
    fn usual(&self, point: usize) -> Option<i64> {
        let seen = &self.seen[point];
        let count = |rest: &i64| seen.iter().filter(|r| *r == rest).count();
        seen.iter().copied().max_by_key(|rest| (count(rest), std::cmp::Reverse(*rest)))
    }

    /// Which of several visits of the original is the meeting: a visit, and what would be left behind it.
    fn choose(&mut self, point: usize, options: &[(usize, i64)]) -> Option<usize> {
        match options {
            [(visit, rest)] => {
                if self.learning {
                    self.seen[point].push(*rest);
                }
                Some(*visit)
            }
            _ if self.learning => None,
            _ => {
                let usual = self.usual(point);
                options.iter().find(|(_, rest)| Some(*rest) == usual).or(options.first()).map(|(visit, _)| *visit)
            }
        }
    }
}

fn align_run<'r>(plan: &Plan, run: &'r Run, number: usize, out: &mut Alignment<'r>, rests: &mut Rests) {
    let [ours, theirs] = &run.visits;
    let (mut a, mut b) = (0, 0);
    let mut from: Option<usize> = None;
    let met = |visit: &Visit| plan.points.iter().position(|p| p.is_both() && p.heads[1] == visit.point);
    // The candidate's next head of the plan.
    while let Some((head, to)) = theirs[b..].iter().find_map(|v| Some((v.point, met(v)?))) {
        let [turns, their_turns] = plan.passes(from, to);
        let Some(other) = nth(&theirs[b..], head, their_turns) else { break };
        b += other + 1;
        let y = &theirs[b - 1];
        let reached = |n: u32| nth(&ours[a..], plan.points[to].heads[0], n);
        let same = |i: &usize| ours[a + i].world == y.world && ours[a + i].calls == y.calls;
        // Where the number of turns is open, memory tells.
        let slack = plan.slack(from, to);
        let found = if slack > 0 {
            let [own, other] = plan.points[to].heads;
            let later = theirs[b..].iter().filter(|v| v.point == other).count() as i64;
            let rest = |i: usize| {
                let left = ours[a + i + 1..].iter().filter(|v| v.point == own).count() as i64;
                left - later * i64::from(plan.points[to].turns[0])
            };
            let options = (turns..=turns + slack).filter_map(reached);
            let mut options: Vec<(usize, i64)> = options.map(|i| (i, rest(i))).collect();
            // The payload of a NaN may make memory look different.
            let fits = |(_, rest): &(usize, i64)| run.complete && plan.loose && Some(*rest) == rests.usual(to);
            if rests.learning || !options.iter().any(fits) {
                options.retain(|(i, _)| same(i));
            }
            if !run.complete && options.len() > 1 {
                // Nobody knows how many turns it would have had left.
                return;
            }
            rests.choose(to, &options)
        } else {
            None
        };
        let Some(mine) = found.or_else(|| reached(turns)) else {
            // The last of several turns at once may be cut short.
            let last = from == Some(to) && turns > 1 && !theirs[b..].iter().any(|v| met(v).is_some());
            out.misfits += usize::from(run.complete && !last);
            return;
        };
        a += mine + 1;
        let x = &ours[a - 1];
        if x.calls != y.calls || (x.world != y.world && !plan.loose) {
            out.misfits += 1;
            return;
        }
        let after = [&ours[a..], &theirs[b..]];
        out.rows[to].push(Row { original: x, candidate: y, run: number, again: from == Some(to), after, whole: run });
        from = Some(to);
    }
    if run.complete
        && let Some(last) = from
    {
        let head = plan.points[last].heads[0];
        // The turns of the last meeting itself, and fewer than another one would need.
        let turns = plan.points[last].turns[0].max(1) as usize;
        let rest = ours[a..].iter().filter(|v| v.point == head).count();
        out.left_over += rest.saturating_sub(turns) / (turns + 1);
    }
}

/// Position of the n-th visit of a point.
fn nth(visits: &[Visit], point: PointId, n: u32) -> Option<usize> {
    visits.iter().enumerate().filter(|(_, v)| v.point == point).map(|(i, _)| i).nth(n.max(1) as usize - 1)
}

/// Partners that are considered for one head, and those with turns before the first meeting that depend on the path.
const MOST_PARTNERS: usize = 6;
const MOST_ODD: usize = 2;
const MOST_LATE: usize = 2;
/// Plans that leave loops of both sides alone before others do not.
const MOST_LONELY: usize = 3;
/// Turns at once that a loop without vectors has.
const FEW_TURNS: usize = 8;
/// Combinations that waiting is tried with.
const MOST_WAITING: usize = 3;
/// Combinations that are looked at.
const MOST_COMBINATIONS: usize = 400;

/// Turns that a candidate takes before a loop that does several at once.
const MOST_SLACK: u32 = 7;

/// What an unlikely shape weighs, in turns that are left over, and what a loop does that only the candidate has.
const UNLIKELY: usize = 100;
const LONELY: usize = 40;
/// Runs that do not fit, as many as weigh what loops of both sides do that meet nothing.
const UNMATCHED: usize = 2;

/// Library functions that do what a loop could.
const BLOCK_FUNCTIONS: [&str; 4] = ["memset", "memcpy", "memmove", "bzero"];

/// Does a function call one of these?
pub(crate) fn calls_blocks(function: &Function) -> bool {
    function.points.iter().any(|point| match &point.next {
        Next::Call(Call { callee: Callee::Named(name), .. }) => BLOCK_FUNCTIONS.contains(&name.as_str()),
        _ => false,
    })
}

/// May the candidate have something else in place of a loop of the original?
pub(crate) fn may_wait(functions: [&Function; 2], loops: &[Loops; 2]) -> bool {
    !loops[0].heads.is_empty() && (calls_blocks(functions[1]) || loops[1].heads.len() < loops[0].heads.len())
}

/// Plans, the most promising first.
pub(crate) fn plans(functions: [&Function; 2], loops: &[Loops; 2], runs: &[Run], unroll: u32) -> Vec<Plan> {
    let visited = |head: &PointId| runs.iter().any(|r| r.visits[1].iter().any(|v| v.point == *head));
    let as_many = loops[0].heads.len() == loops[1].heads.len();
    let heads: Vec<PointId> = loops[1].heads.iter().copied().filter(|h| as_many || visited(h)).collect();
    let owners = owners(functions[0], &loops[0]);
    let owner = |m: &Meeting| owners.get(&m.heads[0]);
    // One head after the other; those that use the best partners are kept.
    let mut combinations: Vec<(usize, Vec<Meeting>)> = vec![(0, Vec::new())];
    for head in &heads {
        let partners = partners(functions[0], &loops[0], &loops[1].heads, runs, *head, unroll);
        let mut options: Vec<Option<Meeting>> = partners.iter().copied().map(Some).collect();
        // A loop that the original does not have: so many turns that they can be followed one by one, or any number.
        if partners.is_empty() {
            options.push(None);
        }
        options.push(Some(Meeting::alone(*head)));
        let mut next = Vec::new();
        for (cost, chosen) in &combinations {
            for (rank, option) in options.iter().enumerate() {
                // A loop of the original is cut at one point only.
                let clash = |m: &Meeting| {
                    option.is_some_and(|partner| m.heads[0] != partner.heads[0] && owner(m) == owner(&partner))
                };
                if !chosen.iter().any(clash) {
                    next.push((cost + rank, chosen.iter().copied().chain(*option).collect::<Vec<_>>()));
                }
            }
        }
        next.sort_by_key(|(cost, _)| *cost);
        next.truncate(MOST_COMBINATIONS);
        combinations = next;
    }
    let combinations: Vec<Vec<Meeting>> = combinations.into_iter().map(|(_, points)| points).collect();
    // Loops that the candidate does not have: it waits where it is.
    let met = |head: &PointId, points: &[Meeting]| {
        let alternatives = loops[0].cuts(functions[0], *head);
        points.iter().any(|p| alternatives.contains(&p.heads[0]))
    };
    let mut waiting: Vec<Vec<Meeting>> = Vec::new();
    if may_wait(functions, loops) {
        for points in combinations.iter().take(MOST_WAITING) {
            // Behind the loop's test first: there it is certain that a turn follows.
            for (behind, last) in [(true, false), (false, false), (true, true), (false, true)] {
                let mut longer = points.clone();
                for head in loops[0].heads.iter().filter(|h| !met(h, points)) {
                    let alternatives = loops[0].alternatives(functions[0], *head);
                    let cut = if behind { *alternatives.last().expect("the head") } else { *head };
                    if let Some(place) = waiting_place(runs, cut, last) {
                        longer.push(Meeting { waits: true, ..Meeting::plain([cut, place]) });
                    }
                }
                if longer.len() > points.len() && !waiting.contains(&longer) {
                    waiting.push(longer);
                }
            }
        }
    }
    let first = waiting.len();
    waiting.extend(combinations);
    let mut scored: Vec<((usize, usize, usize), Plan)> = Vec::new();
    for (number, points) in waiting.into_iter().enumerate() {
        let alone = usize::from(number >= first && first > 0);
        // Only behind a loop that meets the same one of the original.
        let shares = |m: &Meeting| points.iter().filter(|other| other.heads[0] == m.heads[0]).count() > 1;
        if points.iter().any(|m| m.late > 0 && !shares(m)) {
            continue;
        }
        let Some(plan) = complete(loops, functions[0], points) else { continue };
        if scored.iter().any(|(_, p)| *p == plan) {
            continue;
        }
        let alignment = align(&plan, runs);
        let rows: usize = alignment.rows.iter().map(Vec::len).sum();
        let disorder = plan.points.windows(2).filter(|w| order(loops, &w[0], &w[1])).count();
        // Who does several turns at once has no reason to peel one.
        let odd = plan.points.iter().filter(|p| p.peeled != 0 && p.turns[0] > 1).count();
        let uneven = plan.points.iter().filter(|p| is_uneven(p)).count();
        let folded = folded(&owners, loops, &plan.points);
        let open = plan.points.iter().filter(|p| p.slack > 0 || p.late > 0).count();
        // Behind the test of a loop its bound is known.
        let has_test =
            |head: PointId| loops[0].heads.contains(&head) && loops[0].alternatives(functions[0], head).len() > 1;
        let exposed = plan.points.iter().filter(|p| p.waits && has_test(p.heads[0])).count();
        let lonely = plan.points.iter().filter(|p| p.alone).count();
        // A loop of the candidate alone, while one of the original meets nothing: rather these two are one.
        let unmatched = lonely > 0 && loops[0].heads.iter().any(|head| !met(head, &plan.points));
        let unmatched = if unmatched { UNMATCHED } else { 0 };
        let disorder = disorder + UNLIKELY * (odd + uneven + folded) + LONELY * lonely + open + exposed;
        if alignment.misfits > 0 {
            let plan = Plan { loose: true, ..plan.clone() };
            let loose = align(&plan, runs);
            let rows: usize = loose.rows.iter().map(Vec::len).sum();
            scored.push(((loose.misfits + 1 + unmatched, loose.left_over + disorder + alone, usize::MAX - rows), plan));
        }
        scored.push(((alignment.misfits + unmatched, alignment.left_over + disorder + alone, usize::MAX - rows), plan));
    }
    scored.sort_by_key(|(score, _)| *score);
    // Where the original has a loop that meets nothing, few plans leave one of the candidate's alone; the others come last.
    let mut few = 0;
    let (scored, last): (Vec<_>, Vec<_>) = scored.into_iter().partition(|(_, plan)| {
        let lonely = plan.points.iter().any(|p| p.alone) && loops[0].heads.iter().any(|head| !met(head, &plan.points));
        few += usize::from(lonely);
        !lonely || few <= MOST_LONELY
    });
    let scored: Vec<_> = scored.into_iter().chain(last).collect();
    scored.iter().take(20).for_each(|(score, plan)| tracing::trace!(?score, ?plan.points, "scored"));
    scored.into_iter().map(|(_, plan)| plan).collect()
}

/// Compilers do two, four, eight turns at once; where nothing is written, other numbers fit by accident.
fn is_uneven(meeting: &Meeting) -> bool {
    meeting.turns.iter().any(|n| *n > 2 && !n.is_power_of_two())
}

/// Which loop each point cuts, of those that may be cut there the last.
type Owners = BTreeMap<PointId, usize>;

fn owners(function: &Function, loops: &Loops) -> Owners {
    let cuts = |(i, head): (usize, &PointId)| loops.cuts(function, *head).into_iter().map(move |p| (p, i));
    loops.heads.iter().enumerate().flat_map(cuts).collect()
}

/// How many loops of the candidate lie inside another that meets the same loop of the original.
fn folded(owners: &Owners, loops: &[Loops; 2], points: &[Meeting]) -> usize {
    let nested = |outer: &Meeting, inner: &Meeting| {
        outer.heads[1] != inner.heads[1] && loops[1].body(outer.heads[1]).contains(&inner.heads[1])
    };
    let meeting: Vec<&Meeting> = points.iter().filter(|m| m.is_both()).collect();
    let pairs = meeting.iter().flat_map(|a| meeting.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| nested(a, b) && owners.get(&a.heads[0]) == owners.get(&b.heads[0])).count()
}

/// Where the candidate is while the original goes round a loop that the candidate does not have: at the entry, or behind
/// its last call. Calls that nobody sees tell nothing: the first or the last of the places.
fn waiting_place(runs: &[Run], head: PointId, last: bool) -> Option<PointId> {
    let mut counts: std::collections::BTreeMap<PointId, usize> = Default::default();
    for run in runs {
        for visit in run.visits[0].iter().filter(|v| v.point == head).take(1) {
            let mut places = run.visits[1].iter().filter(|v| v.calls == visit.calls && v.waits);
            let there = if last { places.next_back() } else { places.next() };
            *counts.entry(there?.point).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, n)| *n).map(|(p, _)| p)
}

/// Are the original's heads of two meetings the other way round?
fn order(loops: &[Loops; 2], first: &Meeting, second: &Meeting) -> bool {
    let rank = |m: &Meeting| loops[0].ranks[m.heads[0].index()];
    !first.alone && !second.alone && rank(first) > rank(second)
}

/// The cuts that the points need: each loop of the original is cut where it meets the candidate's, once.
pub(super) fn complete(loops: &[Loops; 2], original: &Function, points: Vec<Meeting>) -> Option<Plan> {
    let mut cuts = Vec::new();
    for head in &loops[0].heads {
        let alternatives = loops[0].cuts(original, *head);
        let mut chosen: Vec<PointId> = points.iter().map(|p| p.heads[0]).filter(|p| alternatives.contains(p)).collect();
        chosen.sort();
        chosen.dedup();
        match chosen[..] {
            [] => cuts.push(*head),
            [one] => cuts.push(one),
            _ => return None,
        }
    }
    Some(Plan { cuts: [cuts, loops[1].heads.clone()], points, loose: false })
}

/// Points of the original that may meet a head of the candidate, the best first.
fn partners(
    original: &Function,
    loops: &Loops,
    theirs: &[PointId],
    runs: &[Run],
    head: PointId,
    unroll: u32,
) -> Vec<Meeting> {
    let count = |run: &Run, side: usize, point: PointId| run.visits[side].iter().filter(|v| v.point == point).count();
    let mut out: Vec<(u64, Meeting)> = Vec::new();
    for own in &loops.heads {
        for point in loops.cuts(original, *own) {
            let counts: Vec<(usize, usize)> = runs
                .iter()
                .filter(|r| r.complete)
                .map(|r| (count(r, 0, point), count(r, 1, head)))
                .filter(|(a, b)| *a > 0 && *b > 0)
                .collect();
            if counts.is_empty() {
                // No run tells: in the order of the loops, turn by turn.
                let position = |heads: &[PointId], h: PointId| heads.iter().position(|p| *p == h).unwrap_or(0);
                let apart = position(&loops.heads, *own).abs_diff(position(theirs, head)) as u64;
                out.push((2000 + 100 * apart, Meeting::plain([point, head])));
            }
            // A turn of the original may pass one of several heads: which, its path tells.
            let both = |other: &PointId| {
                let pairs = runs
                    .iter()
                    .filter(|r| r.complete)
                    .map(|r| [count(r, 0, point), count(r, 1, head) + count(r, 1, *other)]);
                let pairs: Vec<[usize; 2]> = pairs.filter(|n| n[0] > 0 && n[1] > 0).collect();
                let all: usize = pairs.iter().map(|n| n[0]).sum();
                let excess: usize = pairs.iter().map(|n| n[0].abs_diff(n[1])).sum();
                (1000 * excess / (all + 1)) as u64
            };
            if let Some(excess) = theirs.iter().filter(|h| **h != head).map(both).min().filter(|_| !counts.is_empty()) {
                out.push((excess, Meeting::plain([point, head])));
            }
            for turns in turns(&counts, unroll) {
                // The candidate may have peeled a turn, or the original, if an optimiser made it.
                let peelings: &[i32] = if keeps_registers(original) { &[0, 1, -1] } else { &[0, 1] };
                for &peeled in peelings {
                    let excess: u64 = counts
                        .iter()
                        .map(|(a, b)| (*a as i64 - i64::from(peeled.max(0)), *b as i64 + i64::from(peeled.min(0))))
                        .map(|(a, b)| (a * i64::from(turns[1]) - b * i64::from(turns[0])).unsigned_abs())
                        .sum();
                    let all: u64 = counts.iter().map(|(a, _)| *a as u64).sum();
                    let meeting = Meeting { turns, peeled, ..Meeting::plain([point, head]) };
                    out.push((1000 * excess / (all + 1), meeting));
                }
            }
        }
    }
    // Counts that fit are not enough: at the visits that would meet, the same must have happened.
    out.sort_by_key(|(excess, _)| *excess);
    let mut ranked: Vec<((bool, bool, u64, i32), Meeting)> = Vec::new();
    for (excess, meeting) in out {
        if !ranked.iter().any(|(_, m)| *m == meeting) {
            ranked.push(((misfits(meeting, runs), is_uneven(&meeting), excess, meeting.peeled.abs()), meeting));
        }
    }
    ranked.sort_by_key(|(key, _)| *key);
    tracing::trace!(?head, ?ranked, "partners");
    let mut meetings: Vec<Meeting> = ranked.into_iter().map(|(_, meeting)| meeting).collect();
    // Before a loop that does two turns at once there may be one if their number is odd.
    let several = |m: &&Meeting| m.turns[1] == 1 && (2..=MOST_SLACK + 1).contains(&m.turns[0]) && m.peeled == 0;
    let mut odd: Vec<Meeting> = Vec::new();
    for meeting in meetings.iter().filter(several) {
        if odd.len() < MOST_ODD && odd.iter().all(|o| o.heads != meeting.heads) {
            odd.push(Meeting { slack: meeting.turns[0] - 1, ..*meeting });
        }
    }
    // Behind another loop of the candidate it may be at this head while the original has not moved.
    let plain = meetings.iter().filter(|m| m.turns == [1, 1] && m.peeled == 0 && theirs.first() != Some(&head));
    let late: Vec<Meeting> = plain.take(MOST_LATE).map(|m| Meeting { late: 1, ..*m }).collect();
    meetings.truncate(MOST_PARTNERS);
    meetings.extend(odd);
    meetings.extend(late);
    meetings
}

/// Does some run contradict a meeting, whatever the other heads do?
fn misfits(meeting: Meeting, runs: &[Run]) -> bool {
    let plan = Plan { cuts: Default::default(), points: vec![meeting], loose: false };
    align(&plan, runs).misfits > 0
}

/// How many turns of one loop could be one of the other's.
fn turns(counts: &[(usize, usize)], unroll: u32) -> Vec<[u32; 2]> {
    if counts.is_empty() {
        return Vec::new();
    }
    let least = |ratio: &dyn Fn(usize, usize) -> Option<usize>| {
        counts.iter().filter_map(|(a, b)| ratio(*a, *b)).min().unwrap_or(1)
    };
    let ours = least(&|a, b| Some(a / b));
    let ours_between = least(&|a, b| (b > 1).then(|| (a - 1) / (b - 1)));
    let theirs = least(&|a, b| Some(b / a));
    let theirs_between = least(&|a, b| (a > 1).then(|| (b - 1) / (a - 1)));
    let mut out: Vec<[u32; 2]> = Vec::new();
    let mut push = |pair: [usize; 2]| {
        let pair = pair.map(|n| n.clamp(1, unroll.max(1) as usize) as u32);
        if !out.contains(&pair) {
            out.push(pair);
        }
    };
    let power = |n: usize| if n == 0 { 0 } else { 1 << n.ilog2() };
    for n in [ours, ours_between] {
        if n >= 1 {
            push([power(n), 1]);
            push([n, 1]);
        }
    }
    for n in [theirs, theirs_between] {
        if n >= 1 {
            push([1, power(n)]);
            push([1, n]);
        }
    }
    // The last of several turns at once may be cut short.
    let most = |ratio: &dyn Fn(usize, usize) -> Option<usize>| {
        counts.iter().filter_map(|(a, b)| ratio(*a, *b)).max().filter(|n| (2..=FEW_TURNS).contains(n))
    };
    if let Some(n) = most(&|a, b| (b > 1).then(|| (a - 1).div_ceil(b - 1))) {
        push([n, 1]);
    }
    if let Some(n) = most(&|a, b| (a > 1).then(|| (b - 1).div_ceil(a - 1))) {
        push([1, n]);
    }
    push([1, 1]);
    out
}
