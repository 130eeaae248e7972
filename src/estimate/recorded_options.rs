//! Options of an estimator, as the model file and the fingerprint record them.

use serde_json::Value;

use crate::checkpoint::Fingerprint;
use crate::store::ModelFile;

/// Options that decide a model, together with the data.
pub trait RecordedOptions {
    /// The kind of estimator: `plt`, `linear` or `mlp`.
    fn estimator(&self) -> &'static str;

    fn seed(&self) -> u64;

    /// All options except the seed, in the order of the fingerprint.
    fn by_name(&self) -> Vec<(&'static str, Value)>;

    /// Everything that decides a model, except the data and the number of ranks.
    fn fingerprint(&self) -> Fingerprint {
        let start = Fingerprint::of_program().with("estimator", self.estimator()).with("seed", self.seed());
        self.by_name().into_iter().fold(start, |fingerprint, (name, value)| fingerprint.with(name, value))
    }

    /// A model file without arrays; `record` holds the sizes and counts found by training.
    fn new_model(&self, features: usize, labels: usize, record: Value) -> ModelFile {
        ModelFile {
            estimator: self.estimator().into(),
            features: features as u64,
            labels: labels as u64,
            seed: self.seed(),
            options: Value::Object(
                self.by_name().into_iter().map(|(name, value)| (name.into(), value)).collect(),
            ),
            record,
            ..ModelFile::default()
        }
    }
}
