//! One fit: what is asked, and on which data.

use super::data::Data;
use super::frank_wolfe::Options;
use super::initial::Initial;
use super::step::StepRule;
use crate::checkpoint::Fingerprint;
use crate::measure::Metric;

pub struct Task<'a> {
    pub data: &'a Data<'a>,
    pub metric: &'a Metric,
    pub initial: Initial,
    pub options: Options,
}

impl Task<'_> {
    /// All that decides the bits of the result.
    pub fn facts(&self) -> Fingerprint {
        asked(self.metric, &self.initial, &self.options)
            .with("epsilon", self.options.epsilon)
            .and(self.data.facts())
    }
}

/// What is asked, as far as it is known without the data: epsilon may depend on them.
pub fn asked(metric: &Metric, initial: &Initial, options: &Options) -> Fingerprint {
    let step = match options.step {
        StepRule::Search => "search",
        StepRule::Classic => "classic",
    };
    Fingerprint::of_program()
        .with("metric", metric.text())
        .with("k", options.k)
        .with("init", start(initial))
        .with("step", step)
        .with("max-iters", options.max_iterations)
        .with("tolerance", options.tolerance)
        .with("min-gain", options.min_gain)
        .with("candidates", options.candidates.name())
}

fn start(initial: &Initial) -> String {
    match initial {
        Initial::TopK => "top-k".into(),
        Initial::Random { seed } => format!("random, seed {seed}"),
        Initial::Prior => "prior".into(),
        Initial::Given(mixture) => {
            let mut checksum = crc32fast::Hasher::new();
            checksum.update(bytemuck::cast_slice(&mixture.weights));
            for part in mixture.rules.iter().flat_map(|rule| [&rule.slopes, &rule.intercepts]) {
                checksum.update(bytemuck::cast_slice(part));
            }
            format!("a classifier of {} rules, checksum {:08x}", mixture.rules.len(), checksum.finalize())
        }
    }
}
