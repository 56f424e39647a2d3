//! Other sizes than those that were asked for.

/// For each size an odd one close to it without a factor in common.
pub fn other(sizes: &[(String, i64)]) -> Vec<(String, i64)> {
    let near = |size: i64| match size {
        // Less work, and arrays of fixed length still hold it.
        4.. if size % 2 == 0 => size - 1,
        5.. => size - 2,
        2 => 3,
        _ => size,
    };
    sizes.iter().map(|(name, size)| (name.clone(), near(*size))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sizes_are_odd_and_have_no_factor_in_common() {
        let of = |size| other(&[("n".to_string(), size)])[0].1;
        assert_eq!([32, 31, 15, 2, 1, 0, -4].map(of), [31, 29, 13, 3, 1, 0, -4]);
    }
}
