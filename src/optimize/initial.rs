//! The initial classifier (Algorithm 1, line 3).

use crate::classifier::{BaselineConstants, BaselineStrategy, Candidates, Mixture, Rule, baseline_rule};
use crate::measure::Population;
use crate::random::{self, Purpose};

#[derive(Clone, Debug)]
pub enum InitialClassifier {
    /// Equal weights: the k most probable labels.
    TopK,
    /// A random weight in (0, 1] for each label.
    Random { seed: u64 },
    /// Weights inverse to the labels' priors.
    Prior,
    /// The result of another search.
    Given(Mixture),
}

impl InitialClassifier {
    /// Returns the classifier, which predicts `k` of the `candidates`.
    pub fn mixture(&self, population: &Population, k: usize, candidates: Candidates) -> Mixture {
        let labels = population.positives.len();
        let rule = match self {
            InitialClassifier::Given(mixture) => return Mixture { k, candidates, ..mixture.clone() },
            InitialClassifier::TopK => Rule::top_k(labels),
            &InitialClassifier::Random { seed } => {
                let weight =
                    |label| 1.0 - random::uniform(random::bits(seed, Purpose::InitialRule, 0, label));
                Rule::weighted(&(0..labels as u64).map(weight).collect::<Vec<_>>())
            }
            InitialClassifier::Prior => {
                let constants = BaselineConstants { beta: 1.0, propensity_a: 0.0, propensity_b: 0.0 };
                let rows = population.rows.saturating_mul(population.unit);
                baseline_rule(BaselineStrategy::MacroRecall, &population.positives, rows, constants)
            }
        };
        Mixture::single(rule, k, candidates)
    }
}
