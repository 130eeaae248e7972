//! Maps that make marginals mean what they say: fitted on rows that an estimator has not seen, monotone, so that the
//! order of a row's labels stays.
//!
//! A map is fitted from a [`MarginalHistogram`]: how many pairs of an instance and a label have a marginal, and how many of
//! those labels were there. Counts are integers, so any number of ranks and threads gives the same map. Pairs without
//! a stored marginal count as zeros, and zero stays zero.

mod calibration_map;
mod histogram;
mod isotonic;
mod model_arrays;
mod platt;

#[cfg(test)]
mod tests;

pub use calibration_map::CalibrationMap;
pub use histogram::{HistogramPoint, MarginalHistogram};

/// How a map is fitted.
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

    /// The map for what was counted; `None` when no pair, or every pair, is a positive: there is nothing to learn.
    pub fn fit(self, counted: &MarginalHistogram) -> Option<CalibrationMap> {
        let points = counted.points();
        let positives: u64 = points.iter().map(|point| point.positives).sum();
        let entries: u64 = points.iter().map(|point| point.entries).sum();
        if positives == 0 || positives == entries {
            return None;
        }
        let knots = match self {
            CalibrationMethod::Isotonic => isotonic::knots(&points),
            CalibrationMethod::Platt => platt::knots(platt::fit(&points)),
        };
        Some(CalibrationMap::new(self, knots))
    }
}
