//! Baselines: rules that need no optimisation.

use super::rule::Rule;

/// A strategy that the paper compares with (Section 6), or one of its closed forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BaselineStrategy {
    /// The k most probable labels; best for instance precision
    TopK,
    /// Marginals times prior^-beta (--beta, 0.5 as in the paper)
    PowerLaw,
    /// Marginals times -log(prior)
    Log,
    /// Marginals divided by the propensity of Jain et al. 2016 (--propensity-a, --propensity-b)
    Propensity,
    /// Marginals divided by the prior: the closed form for macro-recall
    MacroRecall,
    /// The closed form for macro-balanced-accuracy
    MacroBalancedAccuracy,
}

impl BaselineStrategy {
    pub fn name(self) -> &'static str {
        match self {
            BaselineStrategy::TopK => "top-k",
            BaselineStrategy::PowerLaw => "power-law",
            BaselineStrategy::Log => "log",
            BaselineStrategy::Propensity => "propensity",
            BaselineStrategy::MacroRecall => "macro-recall",
            BaselineStrategy::MacroBalancedAccuracy => "macro-balanced-accuracy",
        }
    }
}

/// Constants of the strategies.
#[derive(Clone, Copy, Debug)]
pub struct BaselineConstants {
    pub beta: f64,
    pub propensity_a: f64,
    pub propensity_b: f64,
}

/// Returns the rule of a strategy for labels with `positives` of `rows` instances.
///
/// The prior of a label without positives is unknown. If the formula divides by it, the slope is tiny, so that the label
/// is chosen last.
pub fn baseline_rule(
    strategy: BaselineStrategy,
    positives: &[u64],
    rows: u64,
    constants: BaselineConstants,
) -> Rule {
    let prior = |count: u64| count as f64 / rows as f64;
    let each = |value: &dyn Fn(u64) -> f64| positives.iter().map(|&count| value(count)).collect::<Vec<_>>();
    let weighted = |weight: &dyn Fn(u64) -> f64| {
        Rule::weighted(&each(&|count| if count == 0 { 0.0 } else { weight(count) }))
    };
    let rule = match strategy {
        BaselineStrategy::TopK => Rule::top_k(positives.len()),
        BaselineStrategy::PowerLaw => weighted(&|count| prior(count).powf(-constants.beta)),
        BaselineStrategy::Log => weighted(&|count| -prior(count).ln()),
        BaselineStrategy::MacroRecall => weighted(&|count| 1.0 / prior(count)),
        BaselineStrategy::Propensity => {
            let propensities = propensities(positives, rows, constants.propensity_a, constants.propensity_b);
            Rule::weighted(&propensities.iter().map(|propensity| 1.0 / propensity).collect::<Vec<_>>())
        }
        BaselineStrategy::MacroBalancedAccuracy => {
            let slope = |count: u64| match count {
                // 1 - prior is 0 and the specificity undefined.
                always if always == rows => 0.5,
                0 => 0.0,
                _ => 0.5 / prior(count) + 0.5 / (1.0 - prior(count)),
            };
            let intercept = |count: u64| if count == rows { 0.0 } else { -0.5 / (1.0 - prior(count)) };
            Rule::affine(&each(&slope), &each(&intercept))
        }
    };
    rule.order_without_positives(positives)
}

/// Returns propensities, the probabilities that a relevant label is observed: 1 / (1 + C (N_l + B)^-A) with
/// C = (log N - 1)(B + 1)^A (Jain et al. 2016, as computed by the Extreme Classification repository).
pub fn propensities(positives: &[u64], rows: u64, a: f64, b: f64) -> Vec<f64> {
    // Below three instances C would be negative and propensities above 1.
    let c = ((rows as f64).ln() - 1.0).max(0.0) * (b + 1.0).powf(a);
    positives.iter().map(|&count| 1.0 / (1.0 + c * (count as f64 + b).powf(-a))).collect()
}
