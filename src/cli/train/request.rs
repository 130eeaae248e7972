//! The arguments of `macrok train`, checked.

use std::path::PathBuf;

use super::{EstimatorName, TrainArgs};
use crate::checkpoint::{CheckpointPolicy, CheckpointSession, Fingerprint, SavedParts};
use crate::cli::existing_output::RunFiles;
use crate::error::Result;
use crate::estimate::{
    CalibrationOptions, RecordedOptions,
    mlp::{self, NetworkOptions},
    plt::{self, TreeOptions},
};
use crate::load::{Examples, RowDistribution};
use crate::progress::Progress;
use crate::store::{Location, ModelFile, Overwrite, Role};
use crate::world::World;

/// A training that is ready to run.
pub(super) struct TrainRequest<'t> {
    pub args: &'t TrainArgs,
    pub features: Location,
    pub labels: Location,
    pub out: PathBuf,
    pub estimator: EstimatorOptions,
    pub calibrate: Option<CalibrationOptions>,
    /// `None` without checkpoints.
    pub checkpoint_policy: Option<CheckpointPolicy>,
}

impl TrainRequest<'_> {
    pub fn files(&self) -> RunFiles<'_> {
        RunFiles {
            inputs: vec![&self.features.file, &self.labels.file],
            out: &self.out,
            checkpoint_policy: self.checkpoint_policy.as_ref(),
            resume: self.args.stop.resume,
            read_fingerprint: |path| ModelFile::read_fingerprint(path).ok().flatten(),
        }
    }

    /// Returns all that determines the model except the data.
    pub fn options_fingerprint(&self) -> Fingerprint {
        let (method, share) = match self.calibrate {
            Some(CalibrationOptions { method, share }) => (method.name(), share.to_string()),
            None => ("none", "0".into()),
        };
        self.estimator.options_fingerprint().with("calibrate", method).with("calibrate-share", share)
    }
}

/// The estimator and its options. A new estimator is a variant here.
pub(super) enum EstimatorOptions {
    Tree(TreeOptions),
    Network(NetworkOptions),
}

impl EstimatorOptions {
    /// Returns which rows training needs on each rank.
    pub fn held(&self) -> RowDistribution {
        match self {
            // The upper nodes of a tree see all rows.
            EstimatorOptions::Tree(_) => RowDistribution::Replicated,
            EstimatorOptions::Network(_) => RowDistribution::Split,
        }
    }

    /// Returns all that determines the model except the data.
    pub fn options_fingerprint(&self) -> Fingerprint {
        match self {
            EstimatorOptions::Tree(options) => options.fingerprint(),
            EstimatorOptions::Network(options) => options.fingerprint(),
        }
    }

    /// Trains from the beginning, or resumes from `saved`. Rank 0 gets the model. Collective.
    pub fn train(
        &self,
        world: &World,
        examples: &Examples,
        saved: Option<SavedParts>,
        session: &mut CheckpointSession<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<ModelFile>> {
        match self {
            EstimatorOptions::Tree(options) => plt::train(world, examples, options, saved, session, progress),
            EstimatorOptions::Network(options) => {
                mlp::train(world, examples, options, saved, session, progress)
            }
        }
    }
}

impl TrainArgs {
    pub(super) fn check(&self, overwrite: Overwrite) -> Result<TrainRequest<'_>> {
        let features = Location::parse(&self.data, Role::Features);
        let labels = match &self.labels {
            Some(text) => Location::parse(text, Role::Labels),
            None => Location { file: features.file.clone(), group: Role::Labels.group().into() },
        };
        let estimator = match self.estimator {
            EstimatorName::Plt | EstimatorName::Linear => {
                EstimatorOptions::Tree(self.tree.options(self.estimator, self.seed))
            }
            EstimatorName::Mlp => EstimatorOptions::Network(self.network.check(self.seed)?),
        };
        let share = self.calibrate_share;
        let calibrate = self.calibrate.map(|method| CalibrationOptions { method, share });
        let checkpoint_policy =
            (!self.no_checkpoint).then(|| self.stop.checkpoint_policy(&self.out, 1, overwrite));
        Ok(TrainRequest {
            args: self,
            features,
            labels,
            out: self.out.clone(),
            estimator,
            calibrate,
            checkpoint_policy,
        })
    }
}
