//! Madow's sampling scheme (Algorithm 2): exactly k distinct labels, each with its given probability.

use super::mixture::TOTAL_WEIGHT;
use super::select::Pick;
use crate::shard::LabelId;

/// The probabilities that labels are predicted for one row, as multiples of 1 / [`TOTAL_WEIGHT`]. As integers they sum to
/// exactly k, so that rounding can neither lose nor repeat a label.
#[derive(Default)]
pub(super) struct MadowSampler {
    chances: Vec<(LabelId, f32, u64)>,
    picks: Vec<Pick>,
}

impl MadowSampler {
    pub fn clear(&mut self) {
        self.chances.clear();
    }

    /// Adds the weight of a rule that predicts `label`.
    pub fn add(&mut self, label: LabelId, marginal: f32, integer_weight: u64) {
        self.chances.push((label, marginal, integer_weight));
    }

    /// Runs Algorithm 2 with `u` uniform in 0..TOTAL_WEIGHT: a label is picked if one of u, u + 1, u + 2, ... (in units of
    /// TOTAL_WEIGHT) falls into its interval. The score of a pick is its probability; likeliest first.
    pub fn draw(&mut self, u: u64) -> &[Pick] {
        self.chances.sort_unstable_by_key(|chance| chance.0);
        self.picks.clear();
        // 128 bits, because k times TOTAL_WEIGHT may not fit 64.
        let (mut end, mut next) = (0u128, u128::from(u));
        for same in self.chances.chunk_by(|a, b| a.0 == b.0) {
            let chance: u64 = same.iter().map(|chance| chance.2).sum();
            end += u128::from(chance);
            // Intervals are [start, end) instead of (start, end] as in the paper; probabilities are the same.
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
