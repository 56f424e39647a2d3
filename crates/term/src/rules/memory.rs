//! Loads and stores.
//!
//! Everything is decided by constant differences of addresses ([`Arena::difference`]); when a difference is not
//! constant, nothing is rewritten. A load looks through stores that it does not touch and takes the bytes of those it
//! does. Stores at constant distance are sorted by address and merged where they overlap.

use super::{FOLD, Rule, rule, view};
use crate::{Arena, Bits, Op, TermId};

/// Rules for loads.
pub(super) const LOAD: &[Rule] = &[rule("load-through", load_through)];

/// Rules for stores.
pub(super) const STORE: &[Rule] = &[
    rule("store-back", store_back),
    rule("store-over", store_over),
    rule("store-into", store_into),
    rule("store-order", store_order),
];

/// Rules for fills.
pub(super) const FILL: &[Rule] = &[FOLD, rule("fill-short", fill_short)];

/// Rules for copies.
pub(super) const COPY: &[Rule] = &[FOLD, rule("copy-short", copy_short)];

/// Fills and copies up to this many bytes are stores.
const MAX_SHORT: u64 = 64;

/// How an access relates to an earlier write.
enum Overlap {
    /// No common byte.
    None,
    /// The access lies inside the write, at this offset.
    Inside(u64),
    /// Some bytes of the access: from this one to that one (exclusive).
    Part(u64, u64),
}

/// Relates `size` bytes at `address` to `length` bytes written at `target`, if their distance is constant.
fn overlap(arena: &Arena, address: TermId, size: u64, target: TermId, length: u64) -> Option<Overlap> {
    let ahead = arena.difference(address, target)?.low();
    if ahead < length {
        // Begins inside the write; the write may be so long that it wraps, but then so does the arithmetic.
        let left = length - ahead;
        return Some(if size <= left { Overlap::Inside(ahead) } else { Overlap::Part(0, left) });
    }
    let behind = ahead.wrapping_neg();
    if behind >= size {
        return Some(Overlap::None);
    }
    Some(Overlap::Part(behind, size.min(behind.saturating_add(length))))
}

/// A load over stores, fills and copies at constant distance.
fn load_through(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Load(bytes) = op else { return None };
    let size = u64::from(bytes);
    let (mut memory, address) = (args[0], args[1]);
    loop {
        let (kind, parts) = view::open(arena, memory);
        let length = match kind {
            Op::Store(n) => Some(u64::from(n)),
            Op::Fill => arena.as_u64(parts[3]),
            Op::Copy => arena.as_u64(parts[4]),
            _ => None,
        };
        let related = length.and_then(|length| overlap(arena, address, size, parts[1], length));
        match related {
            Some(Overlap::None) => memory = parts[0],
            Some(Overlap::Inside(offset)) => {
                return Some(match kind {
                    Op::Store(_) => {
                        let low = 8 * offset as u16;
                        arena.extract(parts[2], low + 8 * bytes - 1, low)
                    }
                    Op::Fill => repeat(arena, parts[2], bytes),
                    _ => {
                        let offset = arena.bv(64, offset);
                        let source = arena.add(parts[3], offset);
                        arena.load(parts[2], source, bytes)
                    }
                });
            }
            Some(Overlap::Part(from, to)) => {
                let mut pieces = Vec::new();
                for (start, end) in [(to, size), (from, to), (0, from)] {
                    if start < end {
                        let at = arena.add_const(address, start as i64);
                        pieces.push(arena.load(memory, at, (end - start) as u16));
                    }
                }
                return Some(arena.concat_all(&pieces));
            }
            None => break,
        }
    }
    (memory != args[0]).then(|| arena.make(op, &[memory, address]))
}

fn repeat(arena: &mut Arena, byte: TermId, times: u16) -> TermId {
    let parts = vec![byte; usize::from(times)];
    arena.concat_all(&parts)
}

fn stored(op: Op) -> Option<u64> {
    match op {
        Op::Store(bytes) => Some(u64::from(bytes)),
        _ => None,
    }
}

/// Writing back what is there changes nothing.
fn store_back(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let n = stored(op)? as u16;
    let value = args[2];
    if arena.op(value) != Op::Load(n) {
        return None;
    }
    (arena.arg(value, 0) == args[0] && arena.difference(arena.arg(value, 1), args[1])?.is_zero()).then_some(args[0])
}

/// A store that covers the one before it replaces it.
fn store_over(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, inner) = view::open(arena, args[0]);
    let (outer, length) = (stored(op)?, stored(kind)?);
    match overlap(arena, inner[1], length, args[1], outer)? {
        Overlap::Inside(_) => Some(arena.make(op, &[inner[0], args[1], args[2]])),
        _ => None,
    }
}

/// A store inside the one before it changes the value of that one.
fn store_into(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, inner) = view::open(arena, args[0]);
    let (size, length) = (stored(op)?, stored(kind)?);
    let Overlap::Inside(offset) = overlap(arena, args[1], size, inner[1], length)? else { return None };
    let (low, high) = (8 * offset as u16, 8 * (offset + size) as u16);
    let width = 8 * length as u16;
    let mut pieces = Vec::new();
    if high < width {
        pieces.push(arena.extract(inner[2], width - 1, high));
    }
    pieces.push(args[2]);
    if low > 0 {
        pieces.push(arena.extract(inner[2], low - 1, 0));
    }
    let value = arena.concat_all(&pieces);
    Some(arena.make(kind, &[inner[0], inner[1], value]))
}

/// Disjoint stores at constant distance: the one at the lower address first.
fn store_order(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, inner) = view::open(arena, args[0]);
    let (size, length) = (stored(op)?, stored(kind)?);
    let Overlap::None = overlap(arena, args[1], size, inner[1], length)? else { return None };
    if !arena.difference(args[1], inner[1])?.sign() {
        return None;
    }
    let below = arena.make(op, &[inner[0], args[1], args[2]]);
    Some(arena.make(kind, &[below, inner[1], inner[2]]))
}

fn fill_short(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let length = arena.as_u64(args[3])?;
    if length == 0 {
        return Some(args[0]);
    }
    (length <= MAX_SHORT).then(|| {
        let value = repeat(arena, args[2], length as u16);
        arena.store(args[0], args[1], value)
    })
}

fn copy_short(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let length = arena.as_u64(args[4])?;
    if length == 0 {
        return Some(args[0]);
    }
    (length <= MAX_SHORT).then(|| {
        let value = arena.load(args[2], args[3], length as u16);
        arena.store(args[0], args[1], value)
    })
}

/// A store beyond the address space's end wraps; the largest access is far below that, so bytes stay distinct.
const _: () = assert!(Bits::MAX_WIDTH as u64 / 8 <= MAX_SHORT);

#[cfg(test)]
mod tests {
    use super::super::testing::gives;
    use crate::{Arena, Sort, TermId};
    use expect_test::expect;

    fn place(arena: &mut Arena) -> (TermId, TermId) {
        (arena.var("mem", Sort::Memory), arena.var("p", Sort::Bv(64)))
    }

    fn at(arena: &mut Arena, p: TermId, offset: i64) -> TermId {
        arena.add_const(p, offset)
    }

    fn var(arena: &mut Arena, name: &str, width: u16) -> TermId {
        arena.var(name, Sort::Bv(width))
    }

    #[test]
    fn loads_see_stores() {
        gives(
            |a| {
                let ((m, p), v) = (place(a), var(a, "v", 64));
                let m = a.store(m, p, v);
                let inside = at(a, p, 4);
                a.load(m, inside, 4)
            },
            expect!["v[63:32]"],
        );
        gives(
            |a| {
                let ((m, p), v) = (place(a), var(a, "v", 32));
                let beyond = at(a, p, 4);
                let m = a.store(m, beyond, v);
                a.load(m, p, 4)
            },
            expect!["mem[p, 4]"],
        );
        gives(
            |a| {
                let ((m, p), v) = (place(a), var(a, "v", 16));
                let middle = at(a, p, 1);
                let m = a.store(m, middle, v);
                a.load(m, p, 4)
            },
            expect!["mem[p + 3, 1] ++ v ++ mem[p, 1]"],
        );
        // Near miss: the distance is not constant.
        gives(
            |a| {
                let ((m, p), v) = (place(a), var(a, "v", 32));
                let q = var(a, "q", 64);
                let m = a.store(m, q, v);
                a.load(m, p, 4)
            },
            expect!["mem{q, 4 := v}[p, 4]"],
        );
    }

    #[test]
    fn stores_are_sorted_and_merged() {
        gives(
            |a| {
                let ((m, p), v, w) = (place(a), var(a, "v", 32), var(a, "w", 32));
                let next = at(a, p, 4);
                let m = a.store(m, next, w);
                a.store(m, p, v)
            },
            expect!["mem{p, 4 := v}{p + 4, 4 := w}"],
        );
        gives(
            |a| {
                let ((m, p), v, w) = (place(a), var(a, "v", 64), var(a, "w", 16));
                let m = a.store(m, p, v);
                let inside = at(a, p, 2);
                a.store(m, inside, w)
            },
            expect!["mem{p, 8 := v[63:32] ++ w ++ v[15:0]}"],
        );
        gives(
            |a| {
                let ((m, p), v, w) = (place(a), var(a, "v", 64), var(a, "w", 16));
                let inside = at(a, p, 2);
                let m = a.store(m, inside, w);
                a.store(m, p, v)
            },
            expect!["mem{p, 8 := v}"],
        );
        gives(
            |a| {
                let (m, p) = place(a);
                let v = a.load(m, p, 8);
                a.store(m, p, v)
            },
            expect!["mem"],
        );
    }

    #[test]
    fn blocks_are_seen_through_when_lengths_are_known() {
        gives(
            |a| {
                let ((m, p), byte) = (place(a), var(a, "b", 8));
                let length = a.bv(64, 100);
                let m = a.fill(m, p, byte, length);
                let inside = at(a, p, 98);
                a.load(m, inside, 2)
            },
            expect!["b ++ b"],
        );
        gives(
            |a| {
                let (m, p) = place(a);
                let (source, length) = (var(a, "q", 64), a.bv(64, 100));
                let m = a.copy(m, p, m, source, length);
                let inside = at(a, p, 8);
                a.load(m, inside, 4)
            },
            expect!["mem[q + 8, 4]"],
        );
    }
}
