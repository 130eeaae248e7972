//! Madow's sampling scheme (the paper's Algorithm 2): exactly k distinct labels, each with its
//! given chance.

use super::mixture::TOTAL_WEIGHT;
use super::select::Pick;

/// The chances of one row's labels to be predicted, as integers of which [`TOTAL_WEIGHT`] is certainty.
/// In integers they sum to exactly k, so that rounding can neither lose nor repeat a label.
#[derive(Default)]
pub struct MadowSampler {
    chances: Vec<(u32, f32, u64)>,
    picks: Vec<Pick>,
}

impl MadowSampler {
    pub fn clear(&mut self) {
        self.chances.clear();
    }

    /// A rule of weight `integer_weight` predicts `label`.
    pub fn add(&mut self, label: u32, marginal: f32, integer_weight: u64) {
        self.chances.push((label, marginal, integer_weight));
    }

    /// Algorithm 2 with `u` uniform in 0..TOTAL_WEIGHT: label j is picked when one of u, u + 1, u + 2, ...
    /// falls into its stretch of the line. Picks carry their chance as score, likeliest first.
    pub fn draw(&mut self, u: u64) -> &[Pick] {
        self.chances.sort_unstable_by_key(|chance| chance.0);
        self.picks.clear();
        // Wide, because k times TOTAL_WEIGHT may not fit 64 bits.
        let (mut end, mut next) = (0u128, u128::from(u));
        for same in self.chances.chunk_by(|a, b| a.0 == b.0) {
            let chance: u64 = same.iter().map(|chance| chance.2).sum();
            end += u128::from(chance);
            // Half-open stretches [start, end) where the paper has (start, end]: the same chances.
            if next < end {
                let score = chance as f64 / TOTAL_WEIGHT as f64;
                self.picks.push(Pick { label: same[0].0, score, marginal: same[0].1 });
                next += u128::from(TOTAL_WEIGHT);
            }
        }
        self.picks.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then(b.marginal.total_cmp(&a.marginal)).then(a.label.cmp(&b.label))
        });
        &self.picks
    }
}
