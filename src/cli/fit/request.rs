//! From the arguments to a checked request.

use std::path::Path;

use super::FitArgs;
use crate::checkpoint::{CheckpointPolicy, ExistingCheckpoint};
use crate::classifier_file::ClassifierFile;
use crate::cli::existing_output::RunFiles;
use crate::error::{Result, usage};
use crate::load::LoadOptions;
use crate::measure::Metric;
use crate::pipeline::FitRequest;
use crate::store::{Location, Overwrite, Role};

impl FitArgs {
    pub(super) fn check(&self, overwrite: Overwrite) -> Result<FitRequest> {
        let Some(marginals) = &self.marginals else {
            return usage("fit needs the estimated probabilities: --marginals FILE.h5");
        };
        let Some(k) = self.k else { return usage("fit needs the number of labels to predict: -k 5") };
        let Some(out) = &self.out else { return usage("fit needs a file to write to: --out CLF.h5") };
        if k == 0 {
            return usage("-k is 0, but at least one label must be predicted");
        }
        Ok(FitRequest {
            load: LoadOptions {
                marginals: Location::parse(marginals, Role::Marginals),
                labels: self.labels.as_ref().map(|text| Location::parse(text, Role::Labels)),
                clamp: self.clamp,
            },
            k,
            metric: Metric::parse(&self.metric)?,
            search: self.options.check()?,
            seed: self.seed,
            out: out.clone(),
            overwrite,
            checkpoint_policy: self.checkpoint_policy(out, overwrite)?,
        })
    }

    fn checkpoint_policy(&self, out: &Path, overwrite: Overwrite) -> Result<Option<CheckpointPolicy>> {
        if self.checkpoint_every == 0 {
            let needing = [("--resume", self.resume), ("--time-limit", self.time_limit.is_some())]
                .into_iter()
                .find(|it| it.1);
            return match needing {
                Some((option, _)) => usage(format!(
                    "{option} needs checkpoints, but --checkpoint-every is 0; leave one of them out"
                )),
                None => Ok(None),
            };
        }
        let existing = ExistingCheckpoint::from_options(self.resume, overwrite);
        Ok(Some(CheckpointPolicy::for_output(out, self.checkpoint.clone(), self.checkpoint_every, existing)))
    }

    /// Returns what the fit reads and writes.
    pub(super) fn files<'r>(&'r self, request: &'r FitRequest) -> RunFiles<'r> {
        let mut inputs = vec![request.load.marginals.file.as_path(), self.options.init.as_ref()];
        inputs.extend(request.load.labels.as_ref().map(|labels| labels.file.as_path()));
        RunFiles {
            inputs,
            out: &request.out,
            checkpoint_policy: request.checkpoint_policy.as_ref(),
            resume: self.resume,
            read_fingerprint: |path| ClassifierFile::read_fingerprint(path).ok().flatten(),
        }
    }
}
