//! What one run of a workload gave, and numbers made of many.

use std::collections::BTreeMap;

/// Numbers by name; the names say their units.
pub(crate) type Sample = BTreeMap<String, f64>;

/// Makes a sample of these.
pub(crate) fn sample<const N: usize>(numbers: [(&str, f64); N]) -> Sample {
    numbers
        .map(|(name, number)| (name.to_owned(), number))
        .into()
}

/// Returns the number below which this part of the numbers lies.
pub(crate) fn quantile(numbers: &mut [f64], part: f64) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1);
    let at = (last as f64 * part).round() as usize;
    numbers.get(at).copied().unwrap_or_default()
}

/// Returns the number in the middle.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    quantile(&mut numbers, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let mut numbers: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut numbers, 0.99), 99.0);
        assert_eq!(quantile(&mut numbers, 1.0), 100.0);
        assert_eq!(median(vec![5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(vec![]), 0.0);
    }
}
