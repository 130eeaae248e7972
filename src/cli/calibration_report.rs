//! Calibration of marginals as text.

use crate::evaluate::{CalibrationReport, ReliabilityBin};
use crate::format::format_count;
use crate::report::{Console, Table};

/// Prints the calibration of the marginals, with a reliability curve.
pub(super) fn print_calibration(console: &Console, found: &CalibrationReport) {
    console.line(format_args!(
        "marginals: sum to {:.2} per instance; {:.1}% of positives have a stored marginal",
        found.mean_sum,
        100.0 * found.recalled
    ));
    console.line(format_args!(
        "expected calibration error {:.5}; with bins of equal size {:.6}; calibration error equals {:.1}% of the positives",
        found.error,
        found.error_equal_mass,
        100.0 * found.error_relative
    ));
    let mut table =
        Table::new(&["marginal", ">entries", ">mean", ">observed", "1/4   too large  |  too small   4"]);
    for bin in found.curve.iter().filter(|bin| bin.entries > 0) {
        table.row([
            format!("{} to {}", bin.low, bin.high),
            format_count(bin.entries),
            four_digits(bin.mean),
            four_digits(bin.observed),
            ratio_marker(bin),
        ]);
    }
    console.table(&table);
}

/// Formats a number with four decimals, or three significant digits if it is small.
fn four_digits(value: f64) -> String {
    if value == 0.0 || value >= 0.01 { format!("{value:.4}") } else { format!("{value:.2e}") }
}

/// Characters on either side of the middle.
const HALF_WIDTH: usize = 17;

/// Position of the observed frequency relative to the mean marginal, on a log scale from 1/4x to 4x.
fn ratio_marker(bin: &ReliabilityBin) -> String {
    let doublings =
        if bin.observed > 0.0 && bin.mean > 0.0 { (bin.observed / bin.mean).log2() } else { -2.0 };
    let place = (HALF_WIDTH as f64 * (1.0 + doublings.clamp(-2.0, 2.0) / 2.0)).round() as usize;
    let sign = |at: usize| match at {
        _ if at == place => 'o',
        HALF_WIDTH => '|',
        _ => '.',
    };
    (0..=2 * HALF_WIDTH).map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(mean: f64, observed: f64) -> String {
        ratio_marker(&ReliabilityBin { low: 0.0, high: 1.0, entries: 1, mean, observed })
    }

    #[test]
    fn mark_is_at_the_ratio() {
        let place = |mean, observed| drawn(mean, observed).find('o').unwrap();
        assert_eq!(place(0.3, 0.3), HALF_WIDTH);
        assert_eq!(place(0.4, 0.1), 0);
        assert_eq!(place(0.1, 0.4), 2 * HALF_WIDTH);
        assert_eq!(place(0.1, 0.0), 0);
        assert_eq!(place(0.001, 0.9), 2 * HALF_WIDTH);
        assert!(place(0.2, 0.15) < HALF_WIDTH && place(0.15, 0.2) > HALF_WIDTH);
        assert_eq!(drawn(0.4, 0.1).chars().count(), 2 * HALF_WIDTH + 1);
    }
}
