//! Calibrating a trained estimator with rows that it has not seen.

use std::fmt;
use std::path::Path;

use serde_json::json;

use super::error::EstimateError;
use super::hold_out::CalibrationRows;
use super::model::{Model, PredictOptions};
use super::predict::predict_marginals;
use crate::calibration::{CalibrationMap, CalibrationMethod, MarginalHistogram};
use crate::error::Result;
use crate::format::format_count;
use crate::sparse::{Csr, RowsView};
use crate::store::ModelFile;
use crate::world::World;

/// How, and with what share of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationOptions {
    pub method: CalibrationMethod,
    pub share: f64,
}

/// Marginals of a row that a map is fitted to: those that `macrok marginals` keeps unless told otherwise. All others
/// count as zeros, then and now.
const MARGINALS_PER_ROW: usize = 200;

/// What was done; the numbers are rank 0's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CalibrationCounts {
    pub rows: u64,
    pub pairs: u64,
    pub positives: u64,
}

impl fmt::Display for CalibrationCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, pairs, positives] = [self.rows, self.pairs, self.positives].map(format_count);
        write!(
            f,
            "calibrated with {rows} rows that were held out: {pairs} marginals, {positives} of them of true labels"
        )
    }
}

/// Fits a map on rank 0, which has both the model and the rows, and adds it to the model. `path` is for messages.
/// Collective.
pub fn calibrate(
    world: &World,
    file: &mut ModelFile,
    held_out: &CalibrationRows,
    how: CalibrationOptions,
    path: &Path,
) -> Result<CalibrationCounts> {
    let mut calibrated = CalibrationCounts::default();
    world.on_root(|| {
        let Some((features, labels)) = &held_out.examples else { return Ok(()) };
        let model = Model::from_file(file.clone(), path)?;
        let (map, found) = fit(&model, features, labels, how.method)?;
        map.put(file);
        file.options["calibrate-share"] = json!(how.share);
        file.record["calibration"] =
            json!({ "rows": found.rows, "pairs": found.pairs, "positives": found.positives });
        calibrated = found;
        Ok(())
    })?;
    Ok(calibrated)
}

fn fit(
    model: &Model,
    features: &Csr,
    labels: &Csr,
    method: CalibrationMethod,
) -> Result<(CalibrationMap, CalibrationCounts)> {
    let kept =
        predict_marginals(model, features, PredictOptions { keep: MARGINALS_PER_ROW, beam: None }, &());
    let mut counted = MarginalHistogram::default();
    let all_labels = RowsView::from(labels);
    let mut found = CalibrationCounts { rows: features.rows() as u64, pairs: 0, positives: 0 };
    for row in 0..kept.rows() {
        let true_labels = all_labels.row(row).0;
        for (label, marginal) in kept.row(row) {
            let positive = true_labels.binary_search(&label).is_ok();
            counted.add(marginal, positive);
            found.pairs += 1;
            found.positives += u64::from(positive);
        }
    }
    let CalibrationCounts { rows, pairs, positives } = found;
    let nothing = EstimateError::NothingToCalibrate { rows, pairs, positives };
    Ok((method.fit(&counted).ok_or(nothing)?, found))
}
