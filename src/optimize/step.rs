//! How far to go towards the new rule (Algorithm 1, line 11).

/// The rule for choosing steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StepRule {
    /// The best step on [0, 1]
    Search,
    /// 2 / (i + 1), for which the paper proves convergence
    Classic,
}

/// A chosen step and the utility there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub size: f64,
    pub value: f64,
}

/// Uniform points of the coarse look, both ends included.
const COARSE: usize = 21;
/// Extra points near both ends: quotients with a vanishing denominator change fastest there.
const NEAR_ENDS: [f64; 3] = [1e-3, 5e-3, 2e-2];
/// Hills of the coarse look that are climbed.
const HILLS: usize = 3;
/// How finely a hill is climbed.
const FINE: f64 = 1e-5;
/// The grid that the result is never worse than: multiples of 1 / 999.
const GRID: f64 = 999.0;

/// The best of `utility` on [0, 1], which need not be concave: a coarse look, then the best hills
/// climbed, then the neighbouring points of a grid of 1,000, so that rounding cannot make it worse
/// than that grid on the hill. Some 60 evaluations. Of equal values the smallest step.
pub fn best_step(mut utility: impl FnMut(f64) -> f64) -> Step {
    let mut at = |size: f64| Step { size, value: utility(size) };
    let mut points: Vec<f64> = (0..COARSE).map(|i| i as f64 / (COARSE - 1) as f64).collect();
    points.extend(NEAR_ENDS.iter().flat_map(|&end| [end, 1.0 - end]));
    points.sort_by(f64::total_cmp);
    let looked: Vec<Step> = points.into_iter().map(&mut at).collect();
    let mut hills: Vec<usize> = (0..looked.len())
        .filter(|&i| {
            let here = looked[i].value;
            (i == 0 || here >= looked[i - 1].value) && (i + 1 == looked.len() || here >= looked[i + 1].value)
        })
        .collect();
    hills.sort_by(|&i, &j| looked[j].value.total_cmp(&looked[i].value).then(i.cmp(&j)));
    let mut best = looked.iter().copied().fold(looked[0], better);
    for &hill in hills.iter().take(HILLS) {
        let low = looked[hill.saturating_sub(1)].size;
        let high = looked[(hill + 1).min(looked.len() - 1)].size;
        let top = climb(&mut at, low, high, looked[hill]);
        best = better(best, top);
        for neighbour in [(top.size * GRID).floor(), (top.size * GRID).ceil()] {
            best = better(best, at((neighbour / GRID).min(1.0)));
        }
    }
    best
}

fn better(a: Step, b: Step) -> Step {
    if b.value > a.value || (b.value == a.value && b.size < a.size) { b } else { a }
}

/// Brent's method (golden section, sped up by parabolas) for a maximum between `low` and `high`,
/// from the best point known.
fn climb(at: &mut impl FnMut(f64) -> Step, mut low: f64, mut high: f64, start: Step) -> Step {
    const GOLDEN: f64 = 0.381_966_011_250_105;
    let (mut best, mut second, mut third) = (start, start, start);
    let (mut moved, mut moved_before) = (0.0f64, 0.0f64);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if (best.size - middle).abs() <= 2.0 * FINE - 0.5 * (high - low) {
            break;
        }
        let parabola = parabola_step(best, second, third);
        let usable = parabola.is_some_and(|step| {
            let to = best.size + step;
            step.abs() < 0.5 * moved_before.abs() && to > low && to < high
        });
        moved_before = moved;
        moved = match parabola {
            Some(step) if usable => step,
            _ if best.size >= middle => {
                moved_before = low - best.size;
                GOLDEN * moved_before
            }
            _ => {
                moved_before = high - best.size;
                GOLDEN * moved_before
            }
        };
        let stride = if moved.abs() >= FINE { moved } else { FINE.copysign(moved) };
        let tried = at((best.size + stride).clamp(low, high));
        if tried.value >= best.value {
            if tried.size >= best.size {
                low = best.size
            } else {
                high = best.size
            }
            (third, second, best) = (second, best, tried);
        } else {
            if tried.size < best.size {
                low = tried.size
            } else {
                high = tried.size
            }
            if tried.value >= second.value || second.size == best.size {
                (third, second) = (second, tried);
            } else if tried.value >= third.value || third.size == best.size {
                third = tried;
            }
        }
    }
    best
}

/// From `best` to the top of the parabola through three points, when it has one.
fn parabola_step(best: Step, second: Step, third: Step) -> Option<f64> {
    let r = (best.size - second.size) * (best.value - third.value);
    let q = (best.size - third.size) * (best.value - second.value);
    let below = 2.0 * (q - r);
    let above = (best.size - third.size) * q - (best.size - second.size) * r;
    (below != 0.0).then(|| -above / below).filter(|step| step.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best_of_grid(utility: impl Fn(f64) -> f64) -> f64 {
        (0..1000).map(|i| utility(f64::from(i) / GRID)).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn finds_both_ends_and_the_middle() {
        assert_eq!(best_step(|x| x).size, 1.0);
        assert_eq!(best_step(|x| -x).size, 0.0);
        assert_eq!(best_step(|_| 1.0).size, 0.0);
        let step = best_step(|x| -(x - 0.3141).powi(2));
        assert!((step.size - 0.3141).abs() < 1e-4, "{step:?}");
    }

    #[test]
    fn costs_a_small_part_of_the_grid() {
        for top in [0.0, 1e-3, 0.2, 0.77, 1.0] {
            let mut evaluations = 0;
            best_step(|x: f64| {
                evaluations += 1;
                -(x - top).abs().sqrt()
            });
            assert!(evaluations <= 120, "{evaluations} for a top at {top}");
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
            prop_assert!(found.value >= grid, "{} at {} against {}", found.value, found.size, grid);
        }
    }
}
