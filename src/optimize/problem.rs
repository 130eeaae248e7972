//! One fit: the data, the metric and the options.

use super::fit_data::FitData;
use super::initial::InitialClassifier;
use super::options::FrankWolfeOptions;
use crate::checkpoint::Fingerprint;
use crate::measure::Metric;

pub struct FitProblem<'a> {
    pub data: &'a FitData<'a>,
    pub metric: &'a Metric,
    /// Labels to predict for each row.
    pub k: usize,
    pub initial: InitialClassifier,
    pub options: FrankWolfeOptions,
}

impl FitProblem<'_> {
    /// Returns everything that decides the bits of the result.
    pub fn fingerprint(&self) -> Fingerprint {
        request_fingerprint(self.metric, self.k, &self.initial, &self.options)
            .with("epsilon", self.options.epsilon.for_rows(self.data.population.rows))
            .merge(self.data.fingerprint())
    }
}

/// Returns the part of a problem's fingerprint that is known before the data: epsilon may depend on them.
pub fn request_fingerprint(
    metric: &Metric,
    k: usize,
    initial: &InitialClassifier,
    options: &FrankWolfeOptions,
) -> Fingerprint {
    Fingerprint::of_program()
        .with("metric", metric.text())
        .with("k", k)
        .with("init", describe_initial(initial))
        .with("step", options.step.name())
        .with("max-iters", options.max_iterations)
        .with("tolerance", options.tolerance)
        .with("min-gain", options.min_gain)
        .with("candidates", options.candidates.name())
}

fn describe_initial(initial: &InitialClassifier) -> String {
    match initial {
        InitialClassifier::TopK => "top-k".into(),
        InitialClassifier::Random { seed } => format!("random, seed {seed}"),
        InitialClassifier::Prior => "prior".into(),
        InitialClassifier::Given(mixture) => {
            let mut checksum = crc32fast::Hasher::new();
            checksum.update(bytemuck::cast_slice(&mixture.weights));
            for part in mixture.rules.iter().flat_map(|rule| [&rule.slopes, &rule.intercepts]) {
                checksum.update(bytemuck::cast_slice(part));
            }
            format!("a classifier of {} rules, checksum {:08x}", mixture.rules.len(), checksum.finalize())
        }
    }
}
