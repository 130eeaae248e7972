//! Evaluation of predictions: metrics from integer sums over rows, and the calibration of marginals.

mod evaluation;
mod reliability;
mod scores;
mod tally;

pub use evaluation::{Evaluation, EvaluationMode, Summary, summarise};
pub use reliability::{CalibrationReport, ReliabilityBin, measure_calibration};
pub use scores::{Scores, join_equal, score, standard_metric_names};
pub use tally::{InversePropensities, Tally, tally, tally_draw};
