//! How far to go towards the new rule (Algorithm 1, line 11).

use super::brent::BrentSearch;

/// A chosen step and the utility there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub size: f64,
    pub value: f64,
}

/// Uniform points of the coarse look, both ends included; every other one first, which are enough if they show one
/// hill.
const COARSE_POINTS: usize = 21;
/// Extra points near both ends: quotients with a vanishing denominator change fastest there.
const NEAR_ENDS: [f64; 3] = [1e-3, 5e-3, 2e-2];
/// Hills of the coarse look that are climbed.
const MAX_PEAKS: usize = 3;
/// The grid that the result is never worse than, but for the last digits of a sum: multiples of 1 / 999.
const GRID_STEPS: f64 = 999.0;

/// The best of `utility` on [0, 1], which need not be concave: a coarse look, then the best hills
/// climbed, then the neighbouring points of a grid of 1,000, so that rounding cannot make it worse
/// than that grid on the hill. Some 18 to 80 evaluations, none of them twice. Of equal values the
/// smallest step.
pub fn best_step(mut utility: impl FnMut(f64) -> f64) -> Step {
    best_step_batched(|sizes| sizes.iter().map(|&size| utility(size)).collect())
}

/// [`best_step`] for a utility that costs less at many sizes together than at one after the other. It is
/// asked 2 to 20 times.
pub fn best_step_batched(utilities: impl FnMut(&[f64]) -> Vec<f64>) -> Step {
    let mut evaluated = EvaluatedSteps { utilities, steps: Vec::new() };
    let mut looked = evaluated.evaluate(&coarse_sizes(2));
    let mut hills = find_peaks(&looked);
    if hills.len() > 1 {
        looked = evaluated.evaluate(&coarse_sizes(1));
        hills = find_peaks(&looked);
    }
    let search = |&hill: &usize| {
        let low = looked[hill.saturating_sub(1)];
        let high = looked[(hill + 1).min(looked.len() - 1)];
        BrentSearch::new(low, high, looked[hill])
    };
    let mut searches: Vec<BrentSearch> = hills.iter().take(MAX_PEAKS).map(search).collect();
    loop {
        let asked: Vec<(&mut BrentSearch, f64)> =
            searches.iter_mut().filter_map(|search| search.next_size().map(|size| (search, size))).collect();
        if asked.is_empty() {
            break;
        }
        let sizes: Vec<f64> = asked.iter().map(|(_, size)| *size).collect();
        asked
            .into_iter()
            .zip(evaluated.evaluate(&sizes))
            .for_each(|((search, _), tried)| search.record(tried));
    }
    let tops = searches.iter().map(BrentSearch::best);
    let on_grid = |top: Step| [(top.size * GRID_STEPS).floor(), (top.size * GRID_STEPS).ceil()];
    let neighbours: Vec<f64> = tops.clone().flat_map(on_grid).map(|i| (i / GRID_STEPS).min(1.0)).collect();
    let neighbours = evaluated.evaluate(&neighbours);
    looked.iter().copied().chain(tops).chain(neighbours).fold(looked[0], better_step)
}

/// Where to look first: every so many of the uniform points, and those near the ends; ascending.
fn coarse_sizes(every: usize) -> Vec<f64> {
    let uniform = (0..COARSE_POINTS).step_by(every).map(|i| i as f64 / (COARSE_POINTS - 1) as f64);
    let mut points: Vec<f64> = uniform.chain(NEAR_ENDS.iter().flat_map(|&end| [end, 1.0 - end])).collect();
    points.sort_by(f64::total_cmp);
    points
}

/// Which of these are not below their neighbours, the highest first.
fn find_peaks(looked: &[Step]) -> Vec<usize> {
    // What is no number is no hill.
    let reaches = |i: usize, other: Option<&Step>| other.is_none_or(|other| looked[i].value >= other.value);
    let before = |i: usize| i.checked_sub(1).and_then(|i| looked.get(i));
    let is_hill = |&i: &usize| reaches(i, before(i)) && reaches(i, looked.get(i + 1));
    let mut hills: Vec<usize> = (0..looked.len()).filter(is_hill).collect();
    hills.sort_by(|&i, &j| looked[j].value.total_cmp(&looked[i].value).then(i.cmp(&j)));
    hills
}

/// A utility and where it is known already.
struct EvaluatedSteps<F> {
    utilities: F,
    steps: Vec<Step>,
}

impl<F: FnMut(&[f64]) -> Vec<f64>> EvaluatedSteps<F> {
    /// The steps of these sizes; the utility is only asked for those that are new.
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

    /// Hills of every shape: smooth, with a peak, and several of them.
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
            let (mut asked, mut sizes) = (0, Vec::new());
            best_step_batched(|wanted| {
                asked += 1;
                sizes.extend_from_slice(wanted);
                wanted.iter().map(|&size| utility(size)).collect()
            });
            assert!(sizes.len() <= 80, "{} evaluations of utility {i}", sizes.len());
            // A smooth top, and one at an end, need no more than a look at both sides once they are found.
            let most = if [0, 3, 4].contains(&i) { 6 } else { 20 };
            assert!(asked <= most, "utility {i} was asked {asked} times");
            sizes.sort_by(f64::total_cmp);
            assert!(sizes.is_sorted_by(|a, b| a < b), "utility {i} was evaluated twice at a size");
        }
    }

    #[test]
    fn what_is_no_number_is_no_hill() {
        let values = [1.0, 3.0, 2.0, f64::NAN, 5.0, 4.0, 4.5];
        let looked: Vec<Step> = values.iter().map(|&value| Step { size: 0.0, value }).collect();
        assert_eq!(find_peaks(&looked), [6, 1]);
        assert!(
            (best_step(|x| if x < 0.5 { f64::NAN } else { 1.0 - x }).value).is_nan(),
            "seen, not skipped"
        );
    }

    /// One size and one hill after the other, as the search is defined.
    fn one_after_the_other(utility: impl Fn(f64) -> f64) -> Step {
        let at = |size: f64| Step { size, value: utility(size) };
        let look = |every| -> Vec<Step> { coarse_sizes(every).into_iter().map(at).collect() };
        let looked = if find_peaks(&look(2)).len() > 1 { look(1) } else { look(2) };
        let mut best = looked.iter().copied().fold(looked[0], better_step);
        for &hill in find_peaks(&looked).iter().take(MAX_PEAKS) {
            let (low, high) = (looked[hill.saturating_sub(1)], looked[(hill + 1).min(looked.len() - 1)]);
            let mut search = BrentSearch::new(low, high, looked[hill]);
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
    fn hills_climbed_side_by_side_lead_to_the_same_step() {
        for utility in UTILITIES {
            assert_eq!(best_step(utility), one_after_the_other(utility));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]
        /// Means of quotients along a segment, as macro metrics are: each label's numbers move
        /// linearly from one confusion matrix to another.
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
            // Where a sum of many quotients is flat, its last digits are those of rounding.
            let rounding = 4.0 * f64::EPSILON * grid.abs();
            prop_assert!(found.value >= grid - rounding, "{} at {} against {}", found.value, found.size, grid);
        }
    }
}
