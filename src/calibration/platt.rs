//! Platt scaling: an affine function of a marginal's log-odds ("Probabilistic outputs for support vector machines",
//! 1999), fitted by the method of Lin, Lin and Weng (2007).

use super::histogram::HistogramPoint;

/// `log-odds = slope * log-odds of the marginal + shift`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlattCurve {
    pub slope: f64,
    pub shift: f64,
}

/// Log-odds of the smallest marginal outside the first bin of a histogram, and of the largest `f32` below 1.
const LOG_ODDS_RANGE: (f64, f64) = (-28.0, 17.0);

/// A smaller slope would make different marginals equal, and a negative one would reverse their order.
const SMALLEST_SLOPE: f64 = 0.01;

const MAX_STEPS: usize = 100;

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

fn log_odds(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln().clamp(LOG_ODDS_RANGE.0, LOG_ODDS_RANGE.1)
}

/// Returns the curve of maximum likelihood, by Newton's method with step halving.
pub(super) fn fit(points: &[HistogramPoint]) -> PlattCurve {
    let samples: Vec<Sample> = points
        .iter()
        .filter(|point| point.mean > 0.0)
        .map(|point| Sample {
            odds: log_odds(point.mean),
            entries: point.entries as f64,
            positives: point.positives as f64,
        })
        .collect();
    let curve = newton(&samples, PlattCurve { slope: 1.0, shift: 0.0 }, true);
    if curve.slope >= SMALLEST_SLOPE {
        return curve;
    }
    newton(&samples, PlattCurve { slope: SMALLEST_SLOPE, shift: 0.0 }, false)
}

struct Sample {
    odds: f64,
    entries: f64,
    positives: f64,
}

/// The negative log-likelihood.
fn loss(samples: &[Sample], PlattCurve { slope, shift }: PlattCurve) -> f64 {
    // log(1 + e^x) without overflow.
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let one = |sample: &Sample| {
        let odds = slope * sample.odds + shift;
        sample.entries * softplus(odds) - sample.positives * odds
    };
    samples.iter().map(one).sum()
}

fn newton(samples: &[Sample], mut curve: PlattCurve, fit_slope: bool) -> PlattCurve {
    let mut now = loss(samples, curve);
    for _ in 0..MAX_STEPS {
        let (mut gradient, mut hessian) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for Sample { odds, entries, positives } in samples {
            let rate = logistic(curve.slope * odds + curve.shift);
            let (off, weight) = (entries * rate - positives, entries * rate * (1.0 - rate));
            gradient[0] += off * odds;
            gradient[1] += off;
            hessian[0] += weight * odds * odds;
            hessian[1] += weight * odds;
            hessian[2] += weight;
        }
        let [a, b, d] = hessian;
        let determinant = a * d - b * b;
        let step = if fit_slope && determinant > 0.0 {
            [
                (d * gradient[0] - b * gradient[1]) / determinant,
                (a * gradient[1] - b * gradient[0]) / determinant,
            ]
        } else {
            [0.0, gradient[1] / d]
        };
        let next = |length: f64| PlattCurve {
            slope: curve.slope - length * step[0],
            shift: curve.shift - length * step[1],
        };
        let lengths = (0..30).map(|halvings| 0.5f64.powi(halvings));
        let better = lengths.map(next).map(|next| (loss(samples, next), next)).find(|(loss, _)| *loss < now);
        let Some((found, next)) = better else { break };
        let gain = now - found;
        (now, curve) = (found, next);
        if gain <= 1e-12 * now.abs() {
            break;
        }
    }
    curve
}

/// Returns knots so dense that the lines between them follow the curve to a few parts in ten thousand.
pub(super) fn knots(PlattCurve { slope, shift }: PlattCurve) -> Vec<(f64, f64)> {
    const SPACING: f64 = 0.05;
    let (low, high) = LOG_ODDS_RANGE;
    let mut knots = vec![(0.0, 0.0)];
    for knot in 0..=((high - low) / SPACING) as usize {
        let odds = low + SPACING * knot as f64;
        let (from, to) = (logistic(odds), logistic(slope * odds + shift));
        // Ends where the curve is constant in double precision.
        if to > knots[knots.len() - 1].1 && to < 1.0 {
            knots.push((from, to));
        }
    }
    let last = knots[knots.len() - 1].1;
    knots.push((1.0, 0.5 * (1.0 + last)));
    knots
}
