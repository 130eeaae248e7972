//! A map in a model file: the arrays `calibration/from` and `calibration/to`, and how it was fitted among the options.

use super::calibration_map::is_valid;
use super::{CalibrationMap, CalibrationMethod};
use crate::store::ModelFile;

const FROM: &str = "calibration/from";
const TO: &str = "calibration/to";
const METHOD: &str = "calibrate";

impl CalibrationMap {
    /// Adds the map to a model.
    pub fn put(&self, file: &mut ModelFile) {
        let (from, to): (Vec<f64>, Vec<f64>) = self.knots.iter().copied().unzip();
        file.put(FROM, from);
        file.put(TO, to);
        file.options[METHOD] = self.method.name().into();
    }

    /// Takes the map out of a model; `None` where it has none. An error says what is wrong with it.
    pub fn take(file: &mut ModelFile) -> Result<Option<CalibrationMap>, String> {
        let (from, to) = (file.take(FROM), file.take(TO));
        if from.is_none() && to.is_none() {
            return Ok(None);
        }
        let wrong = |what: &str| format!("its calibration {what}");
        let (Some(from), Some(to)) = (from.and_then(|it| it.into_f64()), to.and_then(|it| it.into_f64()))
        else {
            return Err(wrong("lacks the numbers 'from' or 'to'"));
        };
        let name = file.options[METHOD].as_str().unwrap_or_default();
        let method = [CalibrationMethod::Isotonic, CalibrationMethod::Platt]
            .into_iter()
            .find(|known| known.name() == name);
        let method = method
            .ok_or_else(|| wrong(&format!("was fitted by '{name}', which this program does not know")))?;
        let knots: Vec<(f64, f64)> = from.iter().copied().zip(to.iter().copied()).collect();
        if from.len() != to.len() || !is_valid(&knots) {
            return Err(wrong("is no rising map of [0, 1]"));
        }
        Ok(Some(CalibrationMap { method, knots }))
    }
}
