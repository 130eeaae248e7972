//! The sizes of the parts.

use std::fmt;

use crate::error::{Result, usage};

/// At least two positive numbers that sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Fractions(Vec<f64>);

/// Tolerance for typed thirds such as 0.333333.
const TOLERANCE: f64 = 1e-6;

impl Fractions {
    pub const MAX_PARTS: usize = 100;

    pub fn new(values: Vec<f64>) -> Result<Fractions> {
        let shown = Fractions(values);
        let values = &shown.0;
        if values.len() < 2 {
            return usage(format!(
                "--fractions is {shown}, but a split has at least two parts, for example 0.5,0.5"
            ));
        }
        if values.len() > Fractions::MAX_PARTS {
            let (found, most) = (values.len(), Fractions::MAX_PARTS);
            return usage(format!("--fractions has {found} values, but at most {most} parts are possible"));
        }
        if let Some(bad) = values.iter().find(|value| !(**value > 0.0 && **value < 1.0)) {
            return usage(format!("--fractions has {bad}, but every value must lie between 0 and 1"));
        }
        let sum: f64 = values.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            let sum = (sum * 1e6).round() / 1e6;
            return usage(format!("--fractions is {shown}, which sums to {sum}, but must sum to 1"));
        }
        Ok(Fractions(values.iter().map(|value| value / sum).collect()))
    }

    pub fn parts(&self) -> usize {
        self.0.len()
    }

    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Returns the rows of each part, rounded so that they sum to `rows`; fails if a part is empty.
    pub fn sizes(&self, rows: u64) -> Result<Vec<u64>> {
        let exact: Vec<f64> = self.0.iter().map(|fraction| fraction * rows as f64).collect();
        let mut sizes: Vec<u64> = exact.iter().map(|size| size.floor() as u64).collect();
        let missing = rows.saturating_sub(sizes.iter().sum()) as usize;
        let mut parts: Vec<usize> = (0..sizes.len()).collect();
        // Fractions such as 0.29 give a rounding error less than a whole number.
        let rest = |part: usize| ((exact[part] - exact[part].floor()) * 1e6).round();
        parts.sort_by(|&a, &b| rest(b).total_cmp(&rest(a)));
        parts.iter().cycle().take(missing).for_each(|&part| sizes[part] += 1);
        match sizes.iter().position(|&size| size == 0) {
            None => Ok(sizes),
            Some(empty) => usage(format!(
                "the fraction {} (part {}) of {rows} rows is less than one row, but every part needs one",
                self.0[empty],
                empty + 1
            )),
        }
    }
}

impl fmt::Display for Fractions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> =
            self.0.iter().map(|value| ((value * 1e9).round() / 1e9).to_string()).collect();
        write!(f, "{}", texts.join(","))
    }
}
