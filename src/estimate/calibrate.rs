//! Calibration of a trained estimator, on rows held out from its training.

use std::fmt;
use std::path::Path;

use serde_json::json;

use super::error::EstimateError;
use super::model::{Model, PredictOptions, predict_marginals};
use crate::calibration::{CalibrationMethod, MarginalHistogram};
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::load::{Examples, RowDistribution};
use crate::sparse::{Csr, CsrBuilder, RowsView};
use crate::split::{Fractions, Method, Split};
use crate::store::ModelFile;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationOptions {
    pub method: CalibrationMethod,
    /// Share of the rows to hold out.
    pub share: f64,
}

/// Rows held out from training.
#[derive(Default)]
pub struct CalibrationRows {
    /// Number of rows; on all ranks.
    pub rows: u64,
    /// Features and labels; on rank 0.
    pub examples: Option<(Csr, Csr)>,
}

/// Holds out a share of the rows, chosen by the seed independently of the number of ranks, and renumbers the others.
/// Collective.
///
/// # Panics
/// If the examples have no labels.
pub fn hold_out(
    world: &World,
    examples: Examples,
    distribution: RowDistribution,
    share: f64,
    seed: u64,
) -> Result<(Examples, CalibrationRows)> {
    let rows = examples.total_rows;
    let sizes = Fractions::new(vec![1.0 - share, share]).and_then(|fractions| {
        let none = |_| {
            usage(format!(
                "--calibrate-share {share} of {rows} rows leaves no rows to train on, or none to calibrate with; \
                 pass another share"
            ))
        };
        fractions.sizes(rows).or_else(none).map(|sizes| (fractions, sizes))
    });
    let (fractions, sizes) = world.agree(sizes)?;
    let parts = Split { fractions, seed, method: Method::Plain }.assign_rows(rows, None, &sizes);
    let Examples { rows: range, features, labels, .. } = examples;
    let labels = labels.expect("examples for training have labels");
    let mine = &parts[range.start as usize..range.end as usize];
    let before = parts[..range.start as usize].iter().filter(|&&part| part == 0).count() as u64;
    let [left, out] = divide_rows(&features, mine);
    let [left_labels, out_labels] = divide_rows(&labels, mine);
    let examples = match distribution {
        RowDistribution::Replicated => world.is_root().then_some((out, out_labels)),
        RowDistribution::Split => gather_rows(world, &out).zip(gather_rows(world, &out_labels)),
    };
    let range = before..before + left.rows() as u64;
    let left = Examples { rows: range, total_rows: sizes[0], features: left, labels: Some(left_labels) };
    Ok((left, CalibrationRows { rows: sizes[1], examples }))
}

/// Returns the rows of part 0 and those of part 1.
fn divide_rows(matrix: &Csr, parts: &[u8]) -> [Csr; 2] {
    let mut divided = [CsrBuilder::default(), CsrBuilder::default()];
    for (row, &part) in parts.iter().enumerate() {
        let (columns, values) = RowsView::from(matrix).row(row);
        divided[usize::from(part)].push_row(columns, values);
    }
    divided.map(|rows| rows.finish(matrix.cols()))
}

/// Gathers the rows of all ranks, in the order of ranks, on rank 0. Collective.
fn gather_rows(world: &World, matrix: &Csr) -> Option<Csr> {
    let lengths: Vec<u64> =
        RowsView::from(matrix).starts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
    let lengths = world.gather(&lengths);
    let columns = world.gather(matrix.indices());
    let values = world.gather(matrix.data());
    let mut starts = vec![0];
    for length in lengths?.concat() {
        starts.push(starts[starts.len() - 1] + length as usize);
    }
    Some(CsrBuilder { starts, columns: columns?.concat(), values: values?.concat() }.finish(matrix.cols()))
}

/// Number of marginals per row that a map is fitted to: the default of `macrok marginals --keep`. All others count as
/// 0, both here and there.
const MARGINALS_PER_ROW: usize = 200;

/// Numbers of rows, of their marginals, and of those that belong to true labels; on rank 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CalibrationCounts {
    pub rows: u64,
    pub pairs: u64,
    pub positives: u64,
}

impl fmt::Display for CalibrationCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, pairs, positives] = [self.rows, self.pairs, self.positives].map(format_count);
        write!(f, "calibrated on {rows} held-out rows: {pairs} marginals, {positives} of them of true labels")
    }
}

/// Fits a map on rank 0, which has the model and the rows, and adds it to the model. `path` names the model in
/// messages. Collective.
pub fn calibrate(
    world: &World,
    file: &mut ModelFile,
    held_out: &CalibrationRows,
    options: CalibrationOptions,
    path: &Path,
) -> Result<CalibrationCounts> {
    let mut counts = CalibrationCounts::default();
    world.on_root(|| {
        let Some((features, labels)) = &held_out.examples else { return Ok(()) };
        let histogram = count_marginals(&Model::from_file(file.clone(), path)?, features, labels);
        let (pairs, positives) = histogram.totals();
        let rows = held_out.rows;
        let nothing = EstimateError::NothingToCalibrate { rows, pairs, positives };
        options.method.fit(&histogram).ok_or(nothing)?.put(file);
        file.options["calibrate-share"] = json!(options.share);
        file.record["calibration"] = json!({ "rows": rows, "pairs": pairs, "positives": positives });
        counts = CalibrationCounts { rows, pairs, positives };
        Ok(())
    })?;
    Ok(counts)
}

fn count_marginals(model: &Model, features: &Csr, labels: &Csr) -> MarginalHistogram {
    let options = PredictOptions { keep: MARGINALS_PER_ROW, beam: None };
    let kept = predict_marginals(model, features, options, &());
    let (labels, mut histogram) = (RowsView::from(labels), MarginalHistogram::default());
    for row in 0..kept.rows() {
        for (label, marginal) in kept.row(row) {
            histogram.add(marginal, labels.row(row).0.binary_search(&label).is_ok());
        }
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row i has the feature i, and the label i % 3.
    fn examples(rows: usize) -> Examples {
        let starts: Vec<usize> = (0..=rows).collect();
        let numbers = (0..rows as u32).collect();
        let features = Csr::new((rows, rows), starts.clone(), numbers, vec![1.0; rows]);
        let labels = (0..rows as u32).map(|row| row % 3).collect();
        let labels = Csr::new((rows, 3), starts, labels, vec![1.0; rows]);
        Examples { rows: 0..rows as u64, total_rows: rows as u64, features, labels: Some(labels) }
    }

    #[test]
    fn every_row_is_either_left_for_training_or_held_out() {
        for distribution in [RowDistribution::Replicated, RowDistribution::Split] {
            let (left, out) = hold_out(&World::alone(), examples(50), distribution, 0.2, 9).unwrap();
            assert_eq!((left.total_rows, out.rows), (40, 10));
            assert_eq!(left.rows, 0..40);
            let (features, labels) = out.examples.unwrap();
            let mut seen = left.features.indices().to_vec();
            seen.extend_from_slice(features.indices());
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..50));
            for (features, labels) in [(&left.features, left.labels.as_ref().unwrap()), (&features, &labels)]
            {
                let expected: Vec<u32> = features.indices().iter().map(|row| row % 3).collect();
                assert_eq!(labels.indices(), expected);
            }
        }
    }

    #[test]
    fn the_seed_decides_which_rows_are_held_out() {
        let held_out = |seed| {
            let (_, out) =
                hold_out(&World::alone(), examples(50), RowDistribution::Replicated, 0.2, seed).unwrap();
            out.examples.unwrap().0.indices().to_vec()
        };
        assert_eq!(held_out(1), held_out(1));
        assert_ne!(held_out(1), held_out(2));
    }
}
