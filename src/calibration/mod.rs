//! Calibration of marginals: monotone maps, fitted on rows that the estimator was not trained on, which preserve the
//! order of a row's labels.
//!
//! A map is fitted to a [`MarginalHistogram`] of the marginals of pairs of a row and a label, and of the pairs that are
//! positive. Its counts are integers, so any number of ranks and threads gives the same map. Pairs without a stored
//! marginal count as 0, and 0 stays 0.

mod calibration_map;
mod histogram;
mod isotonic;
mod platt;

#[cfg(test)]
mod tests;

pub use calibration_map::CalibrationMap;
pub use histogram::{HistogramPoint, MarginalHistogram};

/// The kinds of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CalibrationMethod {
    /// Any monotone map, by pooling adjacent violators
    Isotonic,
    /// A logistic curve of the log-odds, with two parameters
    Platt,
}

impl CalibrationMethod {
    pub fn name(self) -> &'static str {
        match self {
            CalibrationMethod::Isotonic => "isotonic",
            CalibrationMethod::Platt => "platt",
        }
    }

    /// Fits a map; `None` if no pair or every pair is positive.
    pub fn fit(self, histogram: &MarginalHistogram) -> Option<CalibrationMap> {
        let (entries, positives) = histogram.totals();
        if positives == 0 || positives == entries {
            return None;
        }
        let points = histogram.points();
        let knots = match self {
            CalibrationMethod::Isotonic => isotonic::knots(&points),
            CalibrationMethod::Platt => platt::knots(platt::fit(&points)),
        };
        Some(CalibrationMap::new(self, knots))
    }
}
