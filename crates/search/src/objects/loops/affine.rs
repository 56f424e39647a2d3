//! Linear equations modulo a power of two.
//!
//! Elimination picks the entry with the fewest factors of two as the next pivot, so that every division is exact: the
//! triangular form is the Howell form without the rows that only say something about multiples.

use std::array::from_fn;

/// Equations that are looked at first.
const FIRST: usize = 9;

/// Coefficients `c` with `columns · c = target` modulo 2^width, if there are any. Earlier columns are preferred.
pub(crate) fn solve(columns: &[&[u64]], target: &[u64], width: u32) -> Option<Vec<u64>> {
    if is_hopeless(columns, target, width) {
        return None;
    }
    // Most systems have no solution, and a few equations tell.
    if target.len() > 3 * FIRST && columns.len() < FIRST {
        eliminate(columns, target, width, target.len() / FIRST)?;
    }
    eliminate(columns, target, width, 1)
}

/// Do a few equations show that there is no solution? If the target is a sum of a constant and up to three columns, the
/// differences of any rows, target included, have determinant zero.
fn is_hopeless(columns: &[&[u64]], target: &[u64], width: u32) -> bool {
    let [ones, rest @ ..] = columns else { return false };
    let (count, last) = (rest.len() + 1, target.len() - 1);
    if !(2..=4).contains(&count) || last <= count {
        return false;
    }
    (0..2).any(|first| {
        let at = |i: usize| first + i * (last - first) / count;
        if (0..=count).any(|i| ones[at(i)] != 1) {
            return false;
        }
        let column = |j: usize| rest.get(j).copied().unwrap_or(target);
        let difference = |i: usize, j: usize| column(j)[at(i + 1)].wrapping_sub(column(j)[first]);
        let determinant = match count {
            2 => determinant::<2>(&from_fn(|i| from_fn(|j| difference(i, j))), 0, u8::MAX),
            3 => determinant::<3>(&from_fn(|i| from_fn(|j| difference(i, j))), 0, u8::MAX),
            _ => determinant::<4>(&from_fn(|i| from_fn(|j| difference(i, j))), 0, u8::MAX),
        };
        determinant << (64 - width.min(64)) != 0
    })
}

/// The determinant modulo 2⁶⁴ of the rows from `row` on and the columns that are left.
fn determinant<const N: usize>(m: &[[u64; N]; N], row: usize, left: u8) -> u64 {
    if row == N {
        return 1;
    }
    let mut sum = 0u64;
    let mut sign = 1u64;
    for column in (0..N).filter(|column| left >> column & 1 == 1) {
        let rest = determinant(m, row + 1, left & !(1 << column));
        sum = sum.wrapping_add(sign.wrapping_mul(m[row][column]).wrapping_mul(rest));
        sign = sign.wrapping_neg();
    }
    sum
}

/// Solves every `step`-th of the equations.
fn eliminate(columns: &[&[u64]], target: &[u64], width: u32, step: usize) -> Option<Vec<u64>> {
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let n = columns.len();
    // One row after the other: a matrix is made for each of very many systems.
    let (stride, count) = (n + 1, target.len().div_ceil(step));
    let mut cells = Vec::with_capacity(stride * count);
    for i in (0..target.len()).step_by(step) {
        cells.extend(columns.iter().map(|c| c[i] & mask));
        cells.push(target[i] & mask);
    }
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    let mut free: Vec<usize> = (0..n).collect();
    let mut next = 0;
    while next < count {
        let mut best: Option<(u32, usize, usize)> = None;
        for column in &free {
            for i in next..count {
                let value = cells[i * stride + *column];
                if value != 0 && best.is_none_or(|(zeros, _, _)| value.trailing_zeros() < zeros) {
                    best = Some((value.trailing_zeros(), *column, i));
                    if value & 1 == 1 {
                        break;
                    }
                }
            }
            if best.is_some_and(|(zeros, _, _)| zeros == 0) {
                break;
            }
        }
        let Some((zeros, column, row)) = best else { break };
        let (done, open) = cells.split_at_mut((next + 1) * stride);
        let pivot = &mut done[next * stride..];
        if row > next {
            pivot.swap_with_slice(&mut open[(row - next - 1) * stride..(row - next) * stride]);
        }
        let odd = inverse(pivot[column] >> zeros);
        for row in open.chunks_exact_mut(stride).filter(|row| row[column] != 0) {
            let factor = (row[column] >> zeros).wrapping_mul(odd);
            for (value, p) in row.iter_mut().zip(&*pivot) {
                *value = value.wrapping_sub(factor.wrapping_mul(*p)) & mask;
            }
        }
        free.retain(|c| *c != column);
        pivots.push((next, column));
        next += 1;
    }
    if cells.chunks_exact(stride).skip(next).any(|row| row[n] != 0) {
        return None;
    }
    let mut out = vec![0u64; n];
    for (row, column) in pivots.iter().rev() {
        let row = &cells[row * stride..(row + 1) * stride];
        let rest = (0..n).fold(
            row[n],
            |sum, c| {
                if c == *column { sum } else { sum.wrapping_sub(row[c].wrapping_mul(out[c])) }
            },
        ) & mask;
        let zeros = row[*column].trailing_zeros();
        if rest != 0 && rest.trailing_zeros() < zeros {
            return None;
        }
        let quotient = (rest >> zeros).wrapping_mul(inverse(row[*column] >> zeros)) & mask;
        // Only the low bits are determined: take the number that is nearest to zero.
        let spare = 64 - width.min(64) + zeros;
        out[*column] = if spare < 64 { (((quotient << spare) as i64) >> spare) as u64 & mask } else { 0 };
    }
    Some(out)
}

/// The inverse of an odd number modulo 2⁶⁴, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_is_base_plus_scaled_index() {
        let (ones, i) = (vec![1; 5], vec![0, 1, 2, 5, 9]);
        let address: Vec<u64> = i.iter().map(|i| 0x1000 + 4 * i).collect();
        assert_eq!(solve(&[&ones, &i], &address, 64), Some(vec![0x1000, 4]));
        assert_eq!(solve(&[&ones], &address, 64), None);
    }

    #[test]
    fn even_coefficients_need_no_odd_entry() {
        let (ones, x) = (vec![1; 3], vec![0, 2, 6]);
        assert_eq!(solve(&[&ones, &x], &[7, 8, 10], 64), None);
        assert_eq!(solve(&[&ones, &x], &[7, 13, 25], 64), Some(vec![7, 3]));
    }

    #[test]
    fn determinants() {
        let all = u8::MAX;
        assert_eq!(determinant(&[[3, 5], [7, 11]], 0, all), (33 - 35i64) as u64);
        assert_eq!(determinant(&[[2, 0, 1], [1, 3, 2], [1, 1, 1]], 0, all), 0);
        assert_eq!(determinant(&[[2, 0, 1], [1, 3, 2], [1, 1, 4]], 0, all), 18);
        assert_eq!(determinant(&[[1, 2, 3, 4], [2, 3, 4, 1], [3, 4, 1, 2], [4, 1, 2, 3]], 0, all), 160);
    }

    #[test]
    fn small_coefficients_are_preferred() {
        // The variables differ by an even number, always.
        let (ones, i, n) = (vec![1; 5], vec![9, 7, 5, 12, 10], vec![10, 10, 10, 13, 13]);
        let offset: Vec<u64> = i.iter().zip(&n).map(|(i, n)| 8u64.wrapping_mul(i + 1).wrapping_sub(8 * n)).collect();
        let minus = |n: u64| n.wrapping_neg();
        assert_eq!(solve(&[&ones, &i, &n], &offset, 64), Some(vec![8, 8, minus(8)]));
    }

    proptest! {
        #[test]
        fn what_was_combined_is_found(
            columns in prop::collection::vec(prop::collection::vec(any::<u64>(), 8), 1..5),
            factors in prop::collection::vec(any::<u64>(), 4),
            width in prop::sample::select(vec![8u32, 32, 64]),
        ) {
            let target: Vec<u64> = (0..8)
                .map(|i| columns.iter().zip(&factors).fold(0u64, |s, (c, f)| s.wrapping_add(c[i].wrapping_mul(*f))))
                .collect();
            let slices: Vec<&[u64]> = columns.iter().map(|c| c.as_slice()).collect();
            let found = solve(&slices, &target, width).expect("a solution exists");
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            for i in 0..8 {
                let sum = columns.iter().zip(&found).fold(0u64, |s, (c, f)| s.wrapping_add(c[i].wrapping_mul(*f)));
                prop_assert_eq!(sum & mask, target[i] & mask);
            }
        }
    }
}
