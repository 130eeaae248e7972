//! Monotone maps of [0, 1], and their arrays in a model file.

use super::CalibrationMethod;
use crate::store::ModelFile;

/// A piecewise linear, strictly increasing map from marginals to calibrated marginals, with 0 mapped to 0.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationMap {
    method: CalibrationMethod,
    /// Both coordinates increase; the first knot is (0, 0), the last is at 1.
    knots: Vec<(f64, f64)>,
}

const FROM: &str = "calibration/from";
const TO: &str = "calibration/to";
const METHOD: &str = "calibrate";

impl CalibrationMap {
    /// # Panics
    /// If the knots do not increase from (0, 0) to (1, at most 1).
    pub(super) fn new(method: CalibrationMethod, knots: Vec<(f64, f64)>) -> CalibrationMap {
        assert!(is_valid(&knots), "knots increase from (0, 0) to 1");
        CalibrationMap { method, knots }
    }

    /// Maps a marginal in [0, 1]. Preserves the order of marginals, and maps only 0 to 0.
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

    /// Adds the map to a model file, with the method among the options.
    pub fn put(&self, file: &mut ModelFile) {
        let (from, to): (Vec<f64>, Vec<f64>) = self.knots.iter().copied().unzip();
        file.put(FROM, from);
        file.put(TO, to);
        file.options[METHOD] = self.method.name().into();
    }

    /// Removes the map from a model file; `None` if there is none. The error is the reason why a map is invalid.
    pub fn take(file: &mut ModelFile) -> Result<Option<CalibrationMap>, String> {
        let (from, to) = (file.take(FROM), file.take(TO));
        if from.is_none() && to.is_none() {
            return Ok(None);
        }
        let (Some(from), Some(to)) = (from.and_then(|it| it.into_f64()), to.and_then(|it| it.into_f64()))
        else {
            return Err(format!("its calibration lacks '{FROM}' or '{TO}' of 64-bit floats"));
        };
        let name = file.options[METHOD].as_str().unwrap_or_default();
        let method = <CalibrationMethod as clap::ValueEnum>::from_str(name, false)
            .map_err(|_| format!("its calibration has the unknown method '{name}'"))?;
        let equal = from.len() == to.len();
        let knots: Vec<(f64, f64)> = from.into_iter().zip(to).collect();
        if !equal || !is_valid(&knots) {
            return Err("its calibration is not an increasing map of [0, 1]".into());
        }
        Ok(Some(CalibrationMap { method, knots }))
    }
}

fn is_valid(knots: &[(f64, f64)]) -> bool {
    let increases = knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
    let ends = (knots.first(), knots.last());
    increases && matches!(ends, (Some((0.0, 0.0)), Some((1.0, top))) if *top <= 1.0)
}
