//! Evaluating a classifier or predictions: load the rows, check them, score.

use std::path::Path;

use crate::classifier::{Mixture, Pick};
use crate::classifier_file::ClassifierFile;
use crate::error::{Result, usage};
use crate::evaluate::{Evaluation, InversePropensities, Summary, score, summarise, tally};
use crate::load::{ExtraMemory, LabelCounts, LoadOptions, load_predictions, plan_load};
use crate::progress::Progress;
use crate::shard::{LabelId, Shard};
use crate::store::Location;
use crate::world::World;

/// The options of an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluateRequest {
    pub evaluation: Evaluation,
    /// Constants A and B of the propensity model of ps-precision.
    pub propensity: (f64, f64),
}

/// A classifier or its predictions.
pub enum Subject {
    Classifier(Mixture),
    Predictions { picks: Vec<Pick>, k: usize },
}

impl EvaluateRequest {
    /// Returns mean and deviation of every metric. `counts` give the propensities. Collective.
    pub fn run(
        &self,
        world: &World,
        shard: &Shard,
        subject: &Subject,
        counts: &LabelCounts,
        progress: &dyn Progress,
    ) -> Result<Vec<(String, Summary)>> {
        let EvaluateRequest { evaluation, propensity: (a, b) } = self;
        let propensities = InversePropensities::new(&counts.positives, counts.rows, *a, *b);
        match subject {
            Subject::Classifier(mixture) => {
                evaluation.summary(world, shard, mixture, &propensities, progress)
            }
            Subject::Predictions { picks, k } => {
                let tally = tally(world, shard, picks, *k, &propensities);
                Ok(summarise(&[score(&[(1.0, &tally)], evaluation.epsilon, &[])?]))
            }
        }
    }
}

/// Returns the memory needed in addition to the rows to score draws from `rules` rules.
pub fn scoring_memory(rules: u64) -> ExtraMemory {
    ExtraMemory { bytes_per_count: 16, ..ExtraMemory::default() }.with_rules(rules)
}

/// Loads rows to use the classifier of `path` on, once the labels are known to be as many. Collective.
pub fn load_for_classifier(
    world: &World,
    load: &LoadOptions,
    path: &Path,
    classifier: &ClassifierFile,
    extra: ExtraMemory,
) -> Result<Shard> {
    let plan = plan_load(world, load, extra)?;
    let (labels, found) = (classifier.labels(), plan.summary.labels);
    world.agree(if labels == found {
        Ok(())
    } else {
        let (path, data) = (path.display(), &load.marginals);
        usage(format!("{path} is for {labels} labels, but {data} has {found}"))
    })?;
    plan.load()
}

/// Loads predictions and true labels. Collective.
pub fn load_predicted(world: &World, predictions: &Location, labels: &Location) -> Result<(Shard, Subject)> {
    let (shard, k) = load_predictions(world, predictions, labels)?;
    let picks = picks_by_score(&shard);
    Ok((shard, Subject::Predictions { picks, k }))
}

/// Returns the predicted labels of each row, best score first.
fn picks_by_score(shard: &Shard) -> Vec<Pick> {
    let mut picks = Vec::with_capacity(shard.marginals.entries());
    for local in 0..shard.local_rows() {
        let start = picks.len();
        let pick = |(label, score): (LabelId, f32)| Pick { label, score: score.into(), marginal: 0.0 };
        picks.extend(shard.marginals.labels_and_marginals(local).map(pick));
        picks[start..].sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
    }
    picks
}
