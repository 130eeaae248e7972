//! What was typed, checked.

use std::path::PathBuf;

use super::{EstimatorName, Typed};
use crate::checkpoint::Fingerprint;
use crate::cli::earlier::Files;
use crate::error::{Result, usage};
use crate::estimate::{
    Calibrate, Saved, Saving, Watch,
    mlp::{self, NetworkOptions},
    plt::{self, TreeOptions},
};
use crate::load::{Examples, Held};
use crate::optimize::{Existing, Keep};
use crate::store::{Location, ModelFile, Overwrite, Role};
use crate::world::World;

/// What was checked and is ready to use.
pub(super) struct Ready<'t> {
    pub typed: &'t Typed,
    pub features: Location,
    pub labels: Location,
    pub out: PathBuf,
    pub how: How,
    pub calibrate: Option<Calibrate>,
    /// None when no checkpoints are wanted.
    pub keep: Option<Keep>,
}

impl Ready<'_> {
    pub fn files(&self) -> Files<'_> {
        Files {
            inputs: vec![&self.features.file, &self.labels.file],
            out: &self.out,
            keep: self.keep.as_ref(),
            resume: self.typed.resume,
            made_from: |path| ModelFile::read_made_from(path).ok().flatten(),
        }
    }

    /// What decides the model, as far as it is known without the data.
    pub fn facts(&self) -> Fingerprint {
        let (method, share) = match self.calibrate {
            Some(Calibrate { method, share }) => (method.name(), share.to_string()),
            None => ("none", "0".into()),
        };
        self.how.facts().with("calibrate", method).with("calibrate-share", share)
    }
}

/// Which estimator, and its options. A new one is a variant here.
pub(super) enum How {
    Tree(TreeOptions),
    Network(NetworkOptions),
}

impl How {
    /// The rows that training needs on each rank.
    pub fn held(&self) -> Held {
        match self {
            // The upper nodes of a tree see all rows.
            How::Tree(_) => Held::All,
            How::Network(_) => Held::Share,
        }
    }

    /// What decides the model, as far as it is known without the data.
    pub fn facts(&self) -> Fingerprint {
        match self {
            How::Tree(options) => options.facts(),
            How::Network(options) => options.facts(),
        }
    }

    /// Trains, from the beginning or from what was `saved`. Rank 0 gets the model. Collective.
    pub fn train(
        &self,
        world: &World,
        examples: &Examples,
        saved: Option<Saved>,
        saving: &mut Saving<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<ModelFile>> {
        match self {
            How::Tree(options) => plt::train(world, examples, options, saved, saving, watch),
            How::Network(options) => mlp::train(world, examples, options, saved, saving, watch),
        }
    }
}

impl Typed {
    pub(super) fn check(&self, overwrite: Overwrite) -> Result<Ready<'_>> {
        let features = Location::parse(&self.data, Role::Features);
        let labels = match &self.labels {
            Some(text) => Location::parse(text, Role::Labels),
            None => Location { file: features.file.clone(), group: Role::Labels.group().into() },
        };
        let how = match self.estimator {
            EstimatorName::Plt | EstimatorName::Linear => {
                How::Tree(self.tree.check(self.estimator, self.seed)?)
            }
            EstimatorName::Mlp => How::Network(self.network.check(self.seed)?),
        };
        let share = self.calibrate_share;
        if self.calibrate.is_some() && !(share > 0.0 && share < 1.0) {
            return usage(format!("--calibrate-share is {share}, but must lie between 0 and 1"));
        }
        let calibrate = self.calibrate.map(|method| Calibrate { method, share });
        let existing = Existing::asked(self.resume, overwrite);
        let keep =
            (!self.no_checkpoint).then(|| Keep::of_output(&self.out, self.checkpoint.clone(), 1, existing));
        Ok(Ready { typed: self, features, labels, out: self.out.clone(), how, calibrate, keep })
    }
}
