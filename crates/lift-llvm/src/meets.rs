//! Where the ways from a block meet again: the first block that all ways to the return go through.
//!
//! Trust: none. Where it is wrong, a branch on data is refused.

use ir::{Block, End};

/// Finds the meeting point of every block. Ways that end in a trap do not count.
pub(crate) fn find(blocks: &mut [Block]) {
    let count = blocks.len();
    let exit = count;
    let next: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| match &block.end {
            End::Jump(edge) => vec![edge.to as usize],
            End::Branch(_, edges) => edges.iter().map(|e| e.to as usize).collect(),
            End::Switch(_, _, edges) => edges.iter().map(|e| e.to as usize).collect(),
            End::Return(_) => vec![exit],
            End::Unreachable => Vec::new(),
        })
        .collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    for (block, targets) in next.iter().enumerate() {
        for target in targets {
            before[*target].push(block);
        }
    }
    // Order of the reversed graph, from the exit.
    let (mut order, mut seen) = (Vec::new(), vec![false; count + 1]);
    let mut open = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((block, at)) = open.last_mut() {
        match before[*block].get(*at) {
            Some(from) => {
                *at += 1;
                if !std::mem::replace(&mut seen[*from], true) {
                    open.push((*from, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    let mut place = vec![usize::MAX; count + 1];
    for (number, block) in order.iter().enumerate() {
        place[*block] = number;
    }
    // Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm", on the reversed graph.
    let mut meet: Vec<Option<usize>> = vec![None; count + 1];
    meet[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for block in order.iter().skip(1) {
            let mut new: Option<usize> = None;
            for target in next[*block].iter().filter(|t| meet[**t].is_some()) {
                new = Some(match new {
                    None => *target,
                    Some(other) => common(other, *target, &meet, &place),
                });
            }
            if new.is_some() && new != meet[*block] {
                meet[*block] = new;
                changed = true;
            }
        }
    }
    for (block, found) in blocks.iter_mut().zip(meet) {
        block.meet = found.filter(|m| *m != exit).map(|m| m as u32);
    }
}

fn common(mut a: usize, mut b: usize, meet: &[Option<usize>], place: &[usize]) -> usize {
    while a != b {
        if place[a] > place[b] {
            a = meet[a].unwrap_or(b);
        } else {
            b = meet[b].unwrap_or(a);
        }
    }
    a
}
