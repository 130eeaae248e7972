//! Mixtures of rules, and the draw of one prediction from them.

use std::sync::Arc;

use super::madow::MadowSampler;
use super::pass::DrawOptions;
use super::prepared_rule::PreparedRule;
use super::rule::{Candidates, Rule};
use super::select::{Pick, Selector};
use crate::random::{self, Purpose};
use crate::shard::{Marginals, Row};

/// A way to draw predictions from a mixture. Both predict each label of a row with the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sampling {
    /// Draws one rule for each row, by weight, and predicts its k labels.
    Rule,
    /// Applies Madow's scheme to the probabilities of labels (Algorithm 2).
    Madow,
}

/// A randomised classifier: weighted rules of which one is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    pub k: usize,
    pub candidates: Candidates,
    /// Shared, so that a checkpoint can hold them while the search continues.
    pub rules: Vec<Arc<Rule>>,
    pub weights: Vec<f64>,
}

/// The sum of integer weights, which add up without rounding.
pub(super) const TOTAL_WEIGHT: u64 = 1 << 52;

impl Mixture {
    pub fn single(rule: Rule, k: usize, candidates: Candidates) -> Mixture {
        Mixture { k, candidates, rules: vec![Arc::new(rule)], weights: vec![1.0] }
    }

    /// Gives a new rule the weight `share` and scales the others down (Algorithm 1, lines 13 to 15). Rules of weight 0 are
    /// dropped.
    pub fn add(&mut self, rule: Rule, share: f64) {
        for weight in &mut self.weights {
            *weight *= 1.0 - share;
        }
        self.rules.push(Arc::new(rule));
        self.weights.push(share);
        let (rules, weights) = (std::mem::take(&mut self.rules), std::mem::take(&mut self.weights));
        (self.rules, self.weights) = rules.into_iter().zip(weights).filter(|one| one.1 > 0.0).unzip();
    }

    /// Returns integer weights that sum to [`TOTAL_WEIGHT`]; the largest absorbs rounding.
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
}

/// Draws predictions row by row. A draw depends on the options and the *global* row only.
pub(super) struct PredictionDrawer<'m> {
    rules: Vec<PreparedRule<'m>>,
    integer_weights: Vec<u64>,
    draw: DrawOptions,
}

impl<'m> PredictionDrawer<'m> {
    pub fn new(mixture: &Mixture, marginals: &'m Marginals, draw: DrawOptions) -> Self {
        let prepare = |rule: &Arc<Rule>| PreparedRule::new(rule, mixture.k, mixture.candidates, marginals);
        let rules = mixture.rules.iter().map(prepare).collect();
        PredictionDrawer { rules, integer_weights: mixture.integer_weights(), draw }
    }

    /// Returns the predicted labels of a row, best first.
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
                for (rule, &integer_weight) in self.rules.iter().zip(&self.integer_weights) {
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

/// Space that one thread reuses from row to row.
#[derive(Default)]
pub(super) struct DrawScratch {
    pub selector: Selector,
    pub sampler: MadowSampler,
}
