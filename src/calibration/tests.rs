//! Properties of maps.

use proptest::prelude::*;

use super::isotonic;
use super::platt;
use super::{CalibrationMap, CalibrationMethod, HistogramPoint, MarginalHistogram};
use crate::random::{Purpose, bits, uniform};
use crate::store::ModelFile;

/// `count` marginals, each positive with the probability that `truth` returns.
fn counted(count: u64, truth: impl Fn(f64) -> f64) -> MarginalHistogram {
    let mut histogram = MarginalHistogram::default();
    for at in 0..count {
        // Mostly small marginals, as in long-tailed data.
        let value = uniform(bits(1, Purpose::Madow, 0, at)).powi(4) as f32;
        let positive = uniform(bits(2, Purpose::Madow, 0, at)) < truth(value.into());
        histogram.add(value, positive);
    }
    histogram
}

/// The mean absolute difference between a map and the truth.
fn error(map: impl Fn(f32) -> f32, truth: impl Fn(f64) -> f64) -> f64 {
    let values = (0..20_000u64).map(|at| uniform(bits(3, Purpose::Madow, 0, at)).powi(4));
    values.map(|value| (f64::from(map(value as f32)) - truth(value)).abs()).sum::<f64>() / 20_000.0
}

#[test]
fn the_mean_of_a_bin_is_exact() {
    let mut histogram = MarginalHistogram::default();
    let low = 0.3f32;
    let values = [low, low.next_up(), low.next_up().next_up()];
    values.iter().for_each(|&value| histogram.add(value, value == low));
    let points = histogram.points();
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 3.0;
    assert_eq!(points, [HistogramPoint { mean, entries: 3, positives: 1 }]);
}

#[test]
fn counts_all_values_from_0_to_1() {
    let mut histogram = MarginalHistogram::default();
    let values = [0.0, 1e-30, f32::MIN_POSITIVE, 1e-9, 0.5, 1.0f32.next_down(), 1.0];
    values.iter().for_each(|&value| histogram.add(value, true));
    let points = histogram.points();
    assert_eq!(points.iter().map(|point| point.entries).sum::<u64>(), 7);
    assert_eq!((points[0].mean, points[points.len() - 1].mean), (0.0, 1.0));
    assert!(points.is_sorted_by(|a, b| a.mean < b.mean));
}

#[test]
fn merged_histograms_equal_the_whole() {
    let (mut parts, mut all) =
        ([MarginalHistogram::default(), MarginalHistogram::default()], MarginalHistogram::default());
    for at in 0..1000u64 {
        let (value, positive) = (uniform(bits(1, Purpose::Madow, 0, at)) as f32, at % 3 == 0);
        parts[(at % 2) as usize].add(value, positive);
        all.add(value, positive);
    }
    let [mut first, second] = parts;
    first.merge(&second);
    assert_eq!(first, all);
}

#[test]
fn both_maps_correct_overconfident_marginals() {
    // The true odds are a third of the square root of the marginal's odds.
    let truth = |value: f64| {
        let odds = (value / (1.0 - value)).max(0.0).sqrt() / 3.0;
        odds / (1.0 + odds)
    };
    let counted = counted(400_000, truth);
    let before = error(|value| value, truth);
    for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
        let map = method.fit(&counted).unwrap();
        let after = error(|value| map.apply(value), truth);
        assert!(after < 0.1 * before, "{method:?}: {after} after, {before} before");
    }
}

#[test]
fn calibrated_marginals_hardly_change() {
    let counted = counted(400_000, |value| value);
    for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
        let map = method.fit(&counted).unwrap();
        let after = error(|value| map.apply(value), |value| value);
        assert!(after < 0.005, "{method:?}: {after}");
    }
}

#[test]
fn platt_recovers_a_logistic_curve() {
    let points: Vec<HistogramPoint> = (1..200)
        .map(|at| {
            let mean = f64::from(at) / 200.0;
            let odds = 0.7 * (mean / (1.0 - mean)).ln() - 1.5;
            let rate = 1.0 / (1.0 + (-odds).exp());
            HistogramPoint { mean, entries: 1_000_000, positives: (rate * 1e6).round() as u64 }
        })
        .collect();
    let curve = platt::fit(&points);
    assert!((curve.slope - 0.7).abs() < 1e-4 && (curve.shift + 1.5).abs() < 1e-4, "{curve:?}");
}

#[test]
fn maps_of_misleading_marginals_still_increase() {
    let counted = counted(50_000, |value| 0.5 - 0.4 * value);
    for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
        let map = method.fit(&counted).unwrap();
        assert!(map.apply(0.9) > map.apply(0.1), "{method:?}");
    }
}

#[test]
fn there_is_no_map_without_both_outcomes() {
    for all in [false, true] {
        let mut histogram = MarginalHistogram::default();
        (0..100).for_each(|at| histogram.add(at as f32 / 100.0, all));
        assert_eq!(CalibrationMethod::Isotonic.fit(&histogram), None);
        assert_eq!(CalibrationMethod::Platt.fit(&histogram), None);
    }
    assert_eq!(CalibrationMethod::Isotonic.fit(&MarginalHistogram::default()), None);
}

#[test]
fn a_map_survives_its_file() {
    for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
        let map = method.fit(&counted(5000, |value| value * value)).unwrap();
        let mut file = ModelFile::default();
        file.options["cost"] = 1.into();
        map.put(&mut file);
        assert_eq!(CalibrationMap::take(&mut file), Ok(Some(map)));
        assert_eq!(file.options["cost"], 1);
    }
    assert_eq!(CalibrationMap::take(&mut ModelFile::default()), Ok(None));
}

#[test]
fn a_damaged_map_is_refused() {
    let read = |from: &[f64], to: &[f64], method: &str| {
        let mut file = ModelFile::default();
        file.options["calibrate"] = method.into();
        file.put("calibration/from", from.to_vec());
        file.put("calibration/to", to.to_vec());
        CalibrationMap::take(&mut file).map(|map| map.is_some())
    };
    assert_eq!(read(&[0.0, 0.5, 1.0], &[0.0, 0.2, 0.9], "platt"), Ok(true));
    let bad = [
        (&[0.0, 0.5, 1.0][..], &[0.0, 0.2, 0.1][..], "platt"),
        (&[0.0, 0.5, 1.0], &[0.0, f64::NAN, 0.9], "platt"),
        (&[0.0, 0.5, 1.0], &[0.0, 0.2, 1.1], "platt"),
        (&[0.0, 0.5, 1.0], &[0.0, 0.2], "platt"),
        (&[0.1, 0.5, 1.0], &[0.0, 0.2, 0.9], "platt"),
        (&[0.0, 1.0], &[0.0, 1.0], "guess"),
    ];
    for (from, to, method) in bad {
        let message = read(from, to, method).unwrap_err();
        assert!(message.starts_with("its calibration "), "{message}");
    }
    let mut half = ModelFile::default();
    half.put("calibration/from", vec![0.0, 1.0]);
    assert!(CalibrationMap::take(&mut half).unwrap_err().contains("'calibration/from' or 'calibration/to'"));
}

fn points() -> impl Strategy<Value = Vec<HistogramPoint>> {
    let numbers = prop::collection::vec((1u64..30, 0u64..30), 1..25);
    numbers.prop_map(|numbers| {
        let count = numbers.len() as f64;
        let point = |(at, (entries, positives)): (usize, (u64, u64))| HistogramPoint {
            mean: (at as f64 + 1.0) / (count + 1.0),
            entries,
            positives: positives.min(entries),
        };
        numbers.into_iter().enumerate().map(point).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// By the min-max formula: the rate of a point is the maximum, over starts up to it, of the minimum, over ends from
    /// it on, of the rates of the points between.
    #[test]
    fn pooled_rates_are_the_isotonic_regression(points in points()) {
        let all: u64 = points.iter().map(|point| point.entries).sum();
        let positives: u64 = points.iter().map(|point| point.positives).sum();
        prop_assume!(positives > 0 && positives < all);
        let rate = |from: usize, to: usize| {
            let part = &points[from..=to];
            let sum = |value: fn(&HistogramPoint) -> u64| part.iter().map(value).sum::<u64>() as f64;
            sum(|point| point.positives) / sum(|point| point.entries)
        };
        let isotonic = |at: usize| {
            let least = |from: usize| (at..points.len()).map(|to| rate(from, to)).fold(f64::INFINITY, f64::min);
            (0..=at).map(least).fold(f64::NEG_INFINITY, f64::max)
        };
        let mut expected: Vec<f64> = (0..points.len()).map(isotonic).collect();
        expected.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        let knots = isotonic::knots(&points);
        // Without the two ends and the rates that were moved off 0 and 1.
        let found: Vec<f64> = knots[1..knots.len() - 1].iter().map(|knot| knot.1).collect();
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected).filter(|pair| *pair.1 > 0.0 && *pair.1 < 1.0) {
            prop_assert!((found - expected).abs() < 1e-12, "{} instead of {}", found, expected);
        }
    }

    #[test]
    fn maps_preserve_the_order_of_marginals(points in points(), values in prop::collection::vec(0f32..=1.0, 2..50)) {
        let mut histogram = MarginalHistogram::default();
        for point in &points {
            (0..point.entries).for_each(|at| histogram.add(point.mean as f32, at < point.positives));
        }
        let mut values = values;
        values.sort_by(f32::total_cmp);
        for method in [CalibrationMethod::Isotonic, CalibrationMethod::Platt] {
            let Some(map) = method.fit(&histogram) else { continue };
            prop_assert_eq!(map.apply(0.0), 0.0);
            let mapped: Vec<f32> = values.iter().map(|&value| map.apply(value)).collect();
            prop_assert!(mapped.is_sorted(), "{:?} of {:?}", method, values);
            prop_assert!(mapped.iter().all(|value| (0.0..=1.0).contains(value)));
        }
    }
}
