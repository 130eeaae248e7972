//! A classifier: rules with weights, and the draw of one prediction from them.

use std::sync::Arc;

use super::madow::MadowSampler;
use super::pass::DrawOptions;
use super::prepared_rule::PreparedRule;
use super::rule::{Candidates, Rule};
use super::select::{Pick, Selector};
use crate::random::{self, Purpose};
use crate::shard::{Marginals, Row};

/// How a prediction is drawn from a mixture. Both give every label the same chance in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sampling {
    /// One rule for each instance, by weight; its k labels are the prediction.
    Rule,
    /// Madow's scheme on the labels' chances of being predicted (the paper's appendix A).
    Madow,
}

/// A randomised classifier: one rule is drawn with probability `weight`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    pub k: usize,
    pub candidates: Candidates,
    /// Shared with whoever saves them while the search goes on.
    pub rules: Vec<Arc<Rule>>,
    pub weights: Vec<f64>,
}

/// Weights as integers that sum to exactly this, so that chances add up without rounding.
pub(super) const TOTAL_WEIGHT: u64 = 1 << 52;

impl Mixture {
    pub fn single(rule: Rule, k: usize, candidates: Candidates) -> Mixture {
        Mixture { k, candidates, rules: vec![Arc::new(rule)], weights: vec![1.0] }
    }

    /// Algorithm 1, lines 13 to 15: the new rule gets `share`, the others shrink. Rules that can no
    /// longer be drawn are dropped.
    pub fn add(&mut self, rule: Rule, share: f64) {
        for weight in &mut self.weights {
            *weight *= 1.0 - share;
        }
        self.rules.push(Arc::new(rule));
        self.weights.push(share);
        let kept: Vec<bool> = self.weights.iter().map(|&weight| weight > 0.0).collect();
        let mut keep = kept.iter();
        self.rules.retain(|_| *keep.next().unwrap_or(&true));
        self.weights.retain(|&weight| weight > 0.0);
    }

    /// Integer weights that sum to [`TOTAL_WEIGHT`]; rounding goes to the largest.
    pub(super) fn integer_weights(&self) -> Vec<u64> {
        let total: f64 = self.weights.iter().sum();
        let mut integer_weights: Vec<u64> =
            self.weights.iter().map(|w| (w / total * TOTAL_WEIGHT as f64) as u64).collect();
        let missing = TOTAL_WEIGHT - integer_weights.iter().sum::<u64>().min(TOTAL_WEIGHT);
        let largest =
            (0..integer_weights.len()).max_by_key(|&i| (integer_weights[i], integer_weights.len() - i));
        if let Some(largest) = largest {
            integer_weights[largest] += missing;
        }
        integer_weights
    }

    pub(super) fn prepare<'m>(&self, marginals: &'m Marginals) -> Vec<PreparedRule<'m>> {
        self.rules.iter().map(|rule| PreparedRule::new(rule, self.k, self.candidates, marginals)).collect()
    }
}

/// What draws predictions row by row. The draw and the *global* row decide everything.
pub(super) struct PredictionDrawer<'p> {
    pub rules: &'p [PreparedRule<'p>],
    pub integer_weights: &'p [u64],
    pub draw: DrawOptions,
}

impl PredictionDrawer<'_> {
    /// The predicted labels of a row, best first, in `space`.
    pub fn draw<'s>(&self, row: Row<'_>, global: u64, space: &'s mut DrawScratch) -> &'s [Pick] {
        let DrawOptions { sampling, seed, round } = self.draw;
        match sampling {
            Sampling::Rule => {
                let bits = random::bits(seed, Purpose::DrawRule, round, global);
                let mut left = bits % TOTAL_WEIGHT;
                let chosen = self.integer_weights.iter().position(|&integer_weight| {
                    let here = left < integer_weight;
                    left = left.wrapping_sub(integer_weight);
                    here
                });
                space.selector.select(&self.rules[chosen.unwrap_or(0)], row)
            }
            Sampling::Madow => {
                space.sampler.clear();
                for (rule, &integer_weight) in self.rules.iter().zip(self.integer_weights) {
                    for pick in space.selector.select(rule, row) {
                        space.sampler.add(pick.label, pick.marginal, integer_weight);
                    }
                }
                let bits = random::bits(seed, Purpose::Madow, round, global);
                space.sampler.draw(bits % TOTAL_WEIGHT)
            }
        }
    }
}

/// Space one thread reuses from row to row.
#[derive(Default)]
pub(super) struct DrawScratch {
    pub selector: Selector,
    pub sampler: MadowSampler,
}
