//! Options of an estimator: how they are recorded, and the training that they decide.

use serde_json::Value;

use crate::checkpoint::{CheckpointSession, Fingerprint, SavedParts};
use crate::error::Result;
use crate::load::{Examples, RowDistribution};
use crate::progress::Progress;
use crate::store::ModelFile;
use crate::world::World;

/// Environment of a training.
pub struct TrainingRun<'a, 's> {
    pub world: &'a World,
    /// Saved parts to resume from; on rank 0.
    pub saved: Option<SavedParts>,
    pub session: &'a mut CheckpointSession<'s>,
    pub progress: &'a dyn Progress,
}

/// Options that decide a model, together with the data. A new estimator implements this.
pub trait EstimatorOptions {
    /// The kind of estimator: `plt`, `linear` or `mlp`.
    fn estimator(&self) -> &'static str;

    fn seed(&self) -> u64;

    /// All options except the seed, in the order of the fingerprint.
    fn by_name(&self) -> Vec<(&'static str, Value)>;

    /// The rows that training needs on each rank.
    fn row_distribution(&self) -> RowDistribution;

    /// Trains from the beginning, or from the saved parts. Returns the model on rank 0. Collective.
    ///
    /// # Panics
    /// If the examples have no labels.
    fn train(&self, examples: &Examples, run: TrainingRun<'_, '_>) -> Result<Option<ModelFile>>;

    /// Everything that decides a model, except the data and the number of ranks.
    fn fingerprint(&self) -> Fingerprint {
        let start = Fingerprint::of_program().with("estimator", self.estimator()).with("seed", self.seed());
        self.by_name().into_iter().fold(start, |fingerprint, (name, value)| fingerprint.with(name, value))
    }

    /// A model file without arrays; `record` holds the sizes and counts found by training.
    fn new_model(&self, features: usize, labels: usize, record: Value) -> ModelFile {
        let options = self.by_name().into_iter().map(|(name, value)| (name.into(), value)).collect();
        ModelFile {
            estimator: self.estimator().into(),
            features: features as u64,
            labels: labels as u64,
            seed: self.seed(),
            options: Value::Object(options),
            record,
            ..ModelFile::default()
        }
    }
}
