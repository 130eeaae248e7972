//! The search for the best step towards a rule (Algorithm 1, line 11).

use super::brent::BrentSearch;

/// A step and the utility after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub size: f64,
    pub value: f64,
}

/// Uniform points of the coarse search, both ends included. The first half suffices if it has a single peak.
const COARSE_POINTS: usize = 21;
/// Additional points near both ends, where quotients with a vanishing denominator change fastest.
const NEAR_ENDS: [f64; 3] = [1e-3, 5e-3, 2e-2];
/// Maximum number of peaks that are refined.
const MAX_PEAKS: usize = 3;
/// Steps of the grid that the result is never worse than, apart from rounding.
const GRID_STEPS: f64 = 999.0;

/// Returns the best step for a `utility` on [0, 1], which need not be concave; the smallest of equally good steps.
///
/// After a coarse search, refines the best peaks, then tries the nearest points of a grid of 1,000, so that rounding cannot make
/// the result worse than that grid at the peak. Takes some 18 to 80 evaluations, never two at the same size.
pub fn best_step(mut utility: impl FnMut(f64) -> f64) -> Step {
    best_step_batched(|sizes| sizes.iter().map(|&size| utility(size)).collect())
}

/// [`best_step`] for a utility that is cheaper at many sizes together. It is called 2 to 20 times.
pub fn best_step_batched(utilities: impl FnMut(&[f64]) -> Vec<f64>) -> Step {
    let mut evaluated = EvaluatedSteps { utilities, steps: Vec::new() };
    let mut coarse = evaluated.evaluate(&coarse_sizes(2));
    let mut peaks = find_peaks(&coarse);
    if peaks.len() > 1 {
        coarse = evaluated.evaluate(&coarse_sizes(1));
        peaks = find_peaks(&coarse);
    }
    let search = |&peak: &usize| {
        let low = coarse[peak.saturating_sub(1)];
        let high = coarse[(peak + 1).min(coarse.len() - 1)];
        BrentSearch::new(low, high, coarse[peak])
    };
    let mut searches: Vec<BrentSearch> = peaks.iter().take(MAX_PEAKS).map(search).collect();
    loop {
        let calls: Vec<(&mut BrentSearch, f64)> =
            searches.iter_mut().filter_map(|search| search.next_size().map(|size| (search, size))).collect();
        if calls.is_empty() {
            break;
        }
        let sizes: Vec<f64> = calls.iter().map(|(_, size)| *size).collect();
        calls
            .into_iter()
            .zip(evaluated.evaluate(&sizes))
            .for_each(|((search, _), tried)| search.record(tried));
    }
    let tops = searches.iter().map(BrentSearch::best);
    let on_grid = |top: Step| [(top.size * GRID_STEPS).floor(), (top.size * GRID_STEPS).ceil()];
    let neighbours: Vec<f64> = tops.clone().flat_map(on_grid).map(|i| (i / GRID_STEPS).min(1.0)).collect();
    let neighbours = evaluated.evaluate(&neighbours);
    coarse.iter().copied().chain(tops).chain(neighbours).fold(coarse[0], better_step)
}

/// Returns every `stride`-th uniform point and the points near the ends, ascending.
fn coarse_sizes(stride: usize) -> Vec<f64> {
    let uniform = (0..COARSE_POINTS).step_by(stride).map(|i| i as f64 / (COARSE_POINTS - 1) as f64);
    let mut points: Vec<f64> = uniform.chain(NEAR_ENDS.iter().flat_map(|&end| [end, 1.0 - end])).collect();
    points.sort_by(f64::total_cmp);
    points
}

/// Returns the steps that are not below their neighbours, the highest first. NaN values are never peaks.
fn find_peaks(coarse: &[Step]) -> Vec<usize> {
    let reaches = |i: usize, other: Option<&Step>| other.is_none_or(|other| coarse[i].value >= other.value);
    let before = |i: usize| i.checked_sub(1).and_then(|i| coarse.get(i));
    let is_peak = |&i: &usize| reaches(i, before(i)) && reaches(i, coarse.get(i + 1));
    let mut peaks: Vec<usize> = (0..coarse.len()).filter(is_peak).collect();
    peaks.sort_by(|&i, &j| coarse[j].value.total_cmp(&coarse[i].value).then(i.cmp(&j)));
    peaks
}

/// A utility and the steps at which it is known.
struct EvaluatedSteps<F> {
    utilities: F,
    steps: Vec<Step>,
}

impl<F: FnMut(&[f64]) -> Vec<f64>> EvaluatedSteps<F> {
    /// Returns the steps of these sizes, evaluating the utility at new sizes only.
    fn evaluate(&mut self, sizes: &[f64]) -> Vec<Step> {
        let find = |steps: &[Step], size: f64| steps.iter().copied().find(|step| step.size == size);
        let mut new: Vec<f64> = Vec::new();
        for &size in sizes {
            if find(&self.steps, size).is_none() && !new.contains(&size) {
                new.push(size);
            }
        }
        if !new.is_empty() {
            let values = (self.utilities)(&new);
            assert_eq!(values.len(), new.len(), "one utility for every size");
            self.steps.extend(new.into_iter().zip(values).map(|(size, value)| Step { size, value }));
        }
        sizes.iter().filter_map(|&size| find(&self.steps, size)).collect()
    }
}

fn better_step(a: Step, b: Step) -> Step {
    if b.value > a.value || (b.value == a.value && b.size < a.size) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best_of_grid(utility: impl Fn(f64) -> f64) -> f64 {
        (0..1000).map(|i| utility(f64::from(i) / GRID_STEPS)).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn finds_both_ends_and_the_middle() {
        assert_eq!(best_step(|x| x).size, 1.0);
        assert_eq!(best_step(|x| -x).size, 0.0);
        assert_eq!(best_step(|_| 1.0).size, 0.0);
        let step = best_step(|x| -(x - 0.3141).powi(2));
        assert!((step.size - 0.3141).abs() < 1e-4, "{step:?}");
    }

    /// Utilities with smooth peaks, sharp peaks and several peaks.
    const UTILITIES: [fn(f64) -> f64; 8] = [
        |x| -(x - 0.3141).powi(2),
        |x| -(x - 0.77).abs().sqrt(),
        |x| -(x - 1e-3).abs().sqrt(),
        |x| x,
        |x| -x,
        |_| 1.0,
        |x| (x * 20.0).sin() - x,
        |x| x / (x + 1e-4) + (1.0 - x) / (1.0 - x + 1e-3) + 0.3 * (x * 9.0).cos(),
    ];

    #[test]
    fn costs_a_small_part_of_the_grid() {
        for (i, utility) in UTILITIES.into_iter().enumerate() {
            let (mut calls, mut sizes) = (0, Vec::new());
            best_step_batched(|wanted| {
                calls += 1;
                sizes.extend_from_slice(wanted);
                wanted.iter().map(|&size| utility(size)).collect()
            });
            assert!(sizes.len() <= 80, "{} evaluations of utility {i}", sizes.len());
            // Smooth peaks, and peaks at an end, are found quickly.
            let most = if [0, 3, 4].contains(&i) { 6 } else { 20 };
            assert!(calls <= most, "utility {i} was calls {calls} times");
            sizes.sort_by(f64::total_cmp);
            assert!(sizes.is_sorted_by(|a, b| a < b), "utility {i} was evaluated twice at a size");
        }
    }

    #[test]
    fn nan_values_are_never_peaks() {
        let values = [1.0, 3.0, 2.0, f64::NAN, 5.0, 4.0, 4.5];
        let coarse: Vec<Step> = values.iter().map(|&value| Step { size: 0.0, value }).collect();
        assert_eq!(find_peaks(&coarse), [6, 1]);
        assert!(
            (best_step(|x| if x < 0.5 { f64::NAN } else { 1.0 - x }).value).is_nan(),
            "NaN is reported, not skipped"
        );
    }

    /// The definition of the search, one size and one peak at a time.
    fn sequential_search(utility: impl Fn(f64) -> f64) -> Step {
        let at = |size: f64| Step { size, value: utility(size) };
        let look = |every| -> Vec<Step> { coarse_sizes(every).into_iter().map(at).collect() };
        let coarse = if find_peaks(&look(2)).len() > 1 { look(1) } else { look(2) };
        let mut best = coarse.iter().copied().fold(coarse[0], better_step);
        for &peak in find_peaks(&coarse).iter().take(MAX_PEAKS) {
            let (low, high) = (coarse[peak.saturating_sub(1)], coarse[(peak + 1).min(coarse.len() - 1)]);
            let mut search = BrentSearch::new(low, high, coarse[peak]);
            while let Some(size) = search.next_size() {
                search.record(at(size));
            }
            best = better_step(best, search.best());
            for neighbour in
                [(search.best().size * GRID_STEPS).floor(), (search.best().size * GRID_STEPS).ceil()]
            {
                best = better_step(best, at((neighbour / GRID_STEPS).min(1.0)));
            }
        }
        best
    }

    #[test]
    fn finds_the_same_step_whether_peaks_are_refined_together_or_in_turn() {
        for utility in UTILITIES {
            assert_eq!(best_step(utility), sequential_search(utility));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]
        /// Means of quotients along a segment, as of macro metrics: each label's numbers change linearly.
        #[test]
        fn is_never_worse_than_a_grid_of_a_thousand(
            labels in prop::collection::vec((0u32..20, 0u32..40, 0u32..20, 0u32..40, 1u32..30), 1..40),
        ) {
            let n = 100.0;
            let utility = |x: f64| {
                let mix = |a: u32, b: u32| ((1.0 - x) * f64::from(a) + x * f64::from(b)) / n;
                labels.iter().map(|&(tp0, fp0, tp1, fp1, positives)| {
                    let (tp0, tp1) = (tp0.min(positives), tp1.min(positives));
                    let (tp, fp) = (mix(tp0, tp1), mix(fp0, fp1));
                    // Precision and F1 together: convex and concave parts, jumps at both ends.
                    tp / (tp + fp + 1e-9) + 2.0 * tp / (tp + fp + f64::from(positives) / n + 1e-9)
                }).sum::<f64>() / labels.len() as f64
            };
            let found = best_step(utility);
            let grid = best_of_grid(utility);
            let rounding = 4.0 * f64::EPSILON * grid.abs();
            prop_assert!(found.value >= grid - rounding, "{} at {} against {}", found.value, found.size, grid);
        }
    }
}
