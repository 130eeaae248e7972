//! A monotone map of [0, 1].

use super::CalibrationMethod;

/// From what an estimator says to what it means: straight lines between corners, rising everywhere, 0 to 0.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationMap {
    pub(super) method: CalibrationMethod,
    /// Corners, both coordinates rising, the first (0, 0), the last at 1.
    pub(super) knots: Vec<(f64, f64)>,
}

impl CalibrationMap {
    /// # Panics
    /// If the corners do not rise from (0, 0) to (1, at most 1).
    pub(super) fn new(method: CalibrationMethod, knots: Vec<(f64, f64)>) -> CalibrationMap {
        assert!(is_valid(&knots), "corners of a map rise from (0, 0) to 1");
        CalibrationMap { method, knots }
    }

    pub fn method(&self) -> CalibrationMethod {
        self.method
    }

    /// Corners of the map.
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }

    /// What a marginal in [0, 1] means. Of two marginals the larger never becomes the smaller, and only 0 becomes 0.
    pub fn apply(&self, value: f32) -> f32 {
        if value <= 0.0 {
            return 0.0;
        }
        let from = f64::from(value);
        let above = self.knots.partition_point(|knot| knot.0 < from).clamp(1, self.knots.len() - 1);
        let ((low, bottom), (high, top)) = (self.knots[above - 1], self.knots[above]);
        let share = (from - low) / (high - low);
        let to = (bottom + share * (top - bottom)).clamp(bottom, top);
        (to as f32).max(f32::MIN_POSITIVE)
    }
}

pub(super) fn is_valid(knots: &[(f64, f64)]) -> bool {
    let rises = knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
    let ends = (knots.first(), knots.last());
    rises && matches!(ends, (Some((0.0, 0.0)), Some((1.0, top))) if *top <= 1.0)
}
