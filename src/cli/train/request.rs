//! The arguments of `macrok train`, checked.

use super::{EstimatorName, TrainArgs};
use crate::checkpoint::{CheckpointPolicy, Fingerprint};
use crate::cli::existing_output::RunFiles;
use crate::error::Result;
use crate::estimate::{CalibrationOptions, EstimatorOptions};
use crate::store::{Location, Overwrite, Role};

/// A training that is ready to run.
pub(super) struct TrainRequest<'t> {
    pub args: &'t TrainArgs,
    pub features: Location,
    pub labels: Location,
    pub estimator: Box<dyn EstimatorOptions>,
    pub calibrate: Option<CalibrationOptions>,
    /// `None` without checkpoints.
    pub checkpoint_policy: Option<CheckpointPolicy>,
}

impl TrainRequest<'_> {
    pub fn files(&self) -> RunFiles<'_> {
        RunFiles {
            inputs: vec![&self.features.file, &self.labels.file],
            out: &self.args.out,
            checkpoint_policy: self.checkpoint_policy.as_ref(),
            resume: self.args.stop.resume,
        }
    }

    /// Returns all that determines the model except the data.
    pub fn options_fingerprint(&self) -> Fingerprint {
        let (method, share) = match self.calibrate {
            Some(CalibrationOptions { method, share }) => (method.name(), share.to_string()),
            None => ("none", "0".into()),
        };
        self.estimator.fingerprint().with("calibrate", method).with("calibrate-share", share)
    }
}

impl TrainArgs {
    pub(super) fn check(&self, overwrite: Overwrite) -> Result<TrainRequest<'_>> {
        let features = Location::parse(&self.data, Role::Features);
        let labels = match &self.labels {
            Some(text) => Location::parse(text, Role::Labels),
            None => Location::in_file(&features.file, Role::Labels),
        };
        let estimator: Box<dyn EstimatorOptions> = match self.estimator {
            EstimatorName::Plt | EstimatorName::Linear => {
                Box::new(self.tree.options(self.estimator, self.seed))
            }
            EstimatorName::Mlp => Box::new(self.network.check(self.seed)?),
        };
        let share = self.calibrate_share;
        let calibrate = self.calibrate.map(|method| CalibrationOptions { method, share });
        let checkpoint_policy =
            (!self.no_checkpoint).then(|| self.stop.checkpoint_policy(&self.out, 1, overwrite));
        Ok(TrainRequest { args: self, features, labels, estimator, calibrate, checkpoint_policy })
    }
}
