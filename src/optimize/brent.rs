//! The refinement of one peak of the utility along a segment.

use super::step_search::Step;

/// Accuracy of the position of a peak.
const SIZE_TOLERANCE: f64 = 1e-5;

/// Brent's method (golden section with parabolic steps) for a maximum between two ends. It asks for one size at a time, so that
/// several searches can be interleaved.
pub(super) struct BrentSearch {
    low: f64,
    high: f64,
    best: Step,
    second: Step,
    third: Step,
    moved: f64,
    moved_before: f64,
    tries: usize,
}

impl BrentSearch {
    const GOLDEN: f64 = 0.381_966_011_250_105;
    const MAX_EVALUATIONS: usize = 40;

    /// Starts from three known points, of which `start` is the best.
    pub fn new(low: Step, high: Step, start: Step) -> BrentSearch {
        let (second, third) = if low.value >= high.value { (low, high) } else { (high, low) };
        let width = high.size - low.size;
        BrentSearch {
            low: low.size,
            high: high.size,
            best: start,
            second,
            third,
            moved: width,
            moved_before: width,
            tries: 0,
        }
    }

    /// Returns the best point so far.
    pub fn best(&self) -> Step {
        self.best
    }

    /// Returns the size to try next; `None` at the end of the search.
    pub fn next_size(&mut self) -> Option<f64> {
        let (best, middle) = (self.best.size, 0.5 * (self.low + self.high));
        let reached = (best - middle).abs() <= 2.0 * SIZE_TOLERANCE - 0.5 * (self.high - self.low);
        if reached || self.tries == BrentSearch::MAX_EVALUATIONS {
            return None;
        }
        self.tries += 1;
        let parabola = parabola_step(self.best, self.second, self.third);
        let usable = |step: &f64| {
            let to = best + step;
            step.abs() < 0.5 * self.moved_before.abs() && to > self.low && to < self.high
        };
        let step = self.close_in(parabola).or(parabola.filter(usable));
        self.moved_before = self.moved;
        self.moved = step.unwrap_or_else(|| {
            let end = if best >= middle { self.low } else { self.high };
            self.moved_before = end - best;
            BrentSearch::GOLDEN * self.moved_before
        });
        let stride =
            if self.moved.abs() >= SIZE_TOLERANCE { self.moved } else { SIZE_TOLERANCE.copysign(self.moved) };
        Some((best + stride).clamp(self.low, self.high))
    }

    /// Returns the smallest step to a side that is still open, if the best point seems to be the maximum: at the maximum of the
    /// parabola, or at an end with that beyond it. Then two lower neighbours prove it, without a longer search from afar.
    fn close_in(&self, parabola: Option<f64>) -> Option<f64> {
        let best = self.best.size;
        let at_end = best == self.low || best == self.high;
        let leads_out = |step: f64| best + step < self.low || best + step > self.high;
        let is_top =
            parabola.map_or(at_end, |step| step.abs() < SIZE_TOLERANCE || (at_end && leads_out(step)));
        let open = |&side: &f64| {
            (if side < 0.0 { best - self.low } else { self.high - best }) > 2.0 * SIZE_TOLERANCE
        };
        let nearer = SIZE_TOLERANCE.copysign(parabola.unwrap_or(0.0));
        [nearer, -nearer].into_iter().find(open).filter(|_| is_top)
    }

    /// Records the utility at the size of [`BrentSearch::next_size`].
    pub fn record(&mut self, tried: Step) {
        let best = self.best;
        if tried.value >= best.value {
            if tried.size >= best.size {
                self.low = best.size
            } else {
                self.high = best.size
            }
            (self.third, self.second, self.best) = (self.second, best, tried);
        } else {
            if tried.size < best.size {
                self.low = tried.size
            } else {
                self.high = tried.size
            }
            if tried.value >= self.second.value || self.second.size == best.size {
                (self.third, self.second) = (self.second, tried);
            } else if tried.value >= self.third.value || self.third.size == best.size {
                self.third = tried;
            }
        }
    }
}

/// Returns the distance from `best` to the extremum of the parabola through three points, if there is one.
fn parabola_step(best: Step, second: Step, third: Step) -> Option<f64> {
    let r = (best.size - second.size) * (best.value - third.value);
    let q = (best.size - third.size) * (best.value - second.value);
    let below = 2.0 * (q - r);
    let above = (best.size - third.size) * q - (best.size - second.size) * r;
    (below != 0.0).then(|| -above / below).filter(|step| step.is_finite())
}
