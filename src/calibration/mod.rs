//! Maps that make marginals mean what they say: fitted on rows that an estimator has not seen, monotone, so that the
//! order of a row's labels stays.
//!
//! A map is fitted from a [`Histogram`]: how many pairs of an instance and a label have a marginal, and how many of
//! those labels were there. Counts are integers, so any number of ranks and threads gives the same map. Pairs without
//! a stored marginal count as zeros, and zero stays zero.

mod file;
mod histogram;
mod isotonic;
mod map;
mod platt;

#[cfg(test)]
mod tests;

pub use histogram::{Histogram, Point};
pub use map::Map;

/// How a map is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Method {
    /// Any monotone map, by pooling adjacent violators
    Isotonic,
    /// A logistic curve of the log-odds, with two parameters
    Platt,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Isotonic => "isotonic",
            Method::Platt => "platt",
        }
    }

    /// The map for what was counted; `None` when no pair, or every pair, is a positive: there is nothing to learn.
    pub fn fit(self, counted: &Histogram) -> Option<Map> {
        let points = counted.points();
        let positives: u64 = points.iter().map(|point| point.positives).sum();
        let entries: u64 = points.iter().map(|point| point.entries).sum();
        if positives == 0 || positives == entries {
            return None;
        }
        let knots = match self {
            Method::Isotonic => isotonic::knots(&points),
            Method::Platt => platt::knots(platt::fit(&points)),
        };
        Some(Map::new(self, knots))
    }
}
