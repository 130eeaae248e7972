//! The affine top-k rule.

use crate::measure::{fill_blocks, map_blocks};

/// Where a rule looks for labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Candidates {
    /// Every label: one without a stored marginal has probability 0 and scores its intercept.
    All,
    /// Labels with a stored marginal; others only to fill up a row that has fewer than k.
    Support,
}

impl Candidates {
    pub fn name(self) -> &'static str {
        match self {
            Candidates::All => "all",
            Candidates::Support => "support",
        }
    }
}

/// Predicts the k labels with the largest `slope * marginal + intercept`; of equal ones the smaller
/// label (Theorem "linear metric", equation 6).
///
/// Both vectors are f32, and so are marginals: their product is exact in f64, so a fused and an
/// unfused multiply-add give the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub slopes: Vec<f32>,
    pub intercepts: Vec<f32>,
}

impl Rule {
    /// The k most probable labels.
    pub fn top_k(labels: usize) -> Rule {
        Rule { slopes: vec![1.0; labels], intercepts: vec![0.0; labels] }
    }

    /// Marginals weighted label by label.
    pub fn weighted(weights: &[f64]) -> Rule {
        Rule::affine(weights, &vec![0.0; weights.len()])
    }

    /// A rule from coefficients of any size. Scaling both vectors changes no prediction; a power of
    /// two changes no digit either, and keeps the largest coefficient within f32.
    ///
    /// # Panics
    /// When a coefficient is not finite, or there are not as many slopes as intercepts.
    pub fn affine(slopes: &[f64], intercepts: &[f64]) -> Rule {
        assert_eq!(slopes.len(), intercepts.len(), "a slope and an intercept for every label");
        // Without their signs, the bits of numbers have the order of the numbers, and what is not finite is on
        // top. A maximum of integers needs not be taken one after the other.
        let top = |values: &[f64]| values.iter().map(|v| v.abs().to_bits()).fold(0, u64::max);
        let tops = map_blocks(slopes.len(), |range| top(&slopes[range.clone()]).max(top(&intercepts[range])));
        let largest = f64::from_bits(tops.into_iter().fold(0, u64::max));
        assert!(largest.is_finite(), "coefficients of a rule must be finite");
        let scale = if largest == 0.0 { 1.0 } else { (-largest.log2().floor()).exp2() };
        let narrow = |values: &[f64]| {
            let mut narrow = vec![0.0; values.len()];
            fill_blocks(&mut narrow, |range, out| {
                out.iter_mut().zip(&values[range]).for_each(|(out, v)| *out = (v * scale) as f32);
            });
            narrow
        };
        Rule { slopes: narrow(slopes), intercepts: narrow(intercepts) }
    }

    /// Gives labels that were never seen, and so have no slope, one far below any other: it decides
    /// nothing but which of them a row gets when nothing better is left. The more probable one.
    pub fn order_unseen(mut self, positives: &[u64]) -> Rule {
        fill_blocks(&mut self.slopes, |range, slopes| {
            for (slope, &positives) in slopes.iter_mut().zip(&positives[range]) {
                // A choice, not a branch: half of the branches would be mispredicted.
                let unseen = (positives == 0) & (*slope == 0.0);
                *slope = if unseen { Rule::HARDLY } else { *slope };
            }
        });
        self
    }

    /// Coefficients are scaled to about 1, so that this outweighs no other score but 0.
    const HARDLY: f32 = 1e-30;

    pub fn labels(&self) -> usize {
        self.slopes.len()
    }
}
