//! From the arguments to a checked request.

use super::FitArgs;
use crate::checkpoint::CheckpointPolicy;
use crate::cli::existing_output::RunFiles;
use crate::error::{Result, usage};
use crate::load::LoadOptions;
use crate::measure::Metric;
use crate::pipeline::FitRequest;
use crate::store::{Location, Overwrite, Role};

impl FitArgs {
    pub(super) fn check(&self, overwrite: Overwrite) -> Result<FitRequest> {
        Ok(FitRequest {
            load: LoadOptions {
                marginals: Location::parse(&self.marginals, Role::Marginals),
                labels: self.labels.as_ref().map(|text| Location::parse(text, Role::Labels)),
                clamp: self.clamp,
            },
            k: self.k,
            metric: Metric::parse(&self.metric)?,
            search: self.options.config(),
            seed: self.seed,
            out: self.out.clone(),
            overwrite,
            checkpoint_policy: self.checkpoint_policy(overwrite)?,
        })
    }

    fn checkpoint_policy(&self, overwrite: Overwrite) -> Result<Option<CheckpointPolicy>> {
        let stop = &self.stop;
        match self.checkpoint_every {
            0 if stop.resume => usage("--resume needs checkpoints, but --checkpoint-every is 0"),
            0 if stop.time_limit.is_some() => {
                usage("--time-limit needs checkpoints, but --checkpoint-every is 0")
            }
            0 => Ok(None),
            interval => Ok(Some(stop.checkpoint_policy(&self.out, interval, overwrite))),
        }
    }

    /// Returns the files that the fit reads and writes.
    pub(super) fn files<'r>(&'r self, request: &'r FitRequest) -> RunFiles<'r> {
        let mut inputs = vec![request.load.marginals.file.as_path(), self.options.init.as_ref()];
        inputs.extend(request.load.labels.as_ref().map(|labels| labels.file.as_path()));
        RunFiles {
            inputs,
            out: &request.out,
            checkpoint_policy: request.checkpoint_policy.as_ref(),
            resume: self.stop.resume,
        }
    }
}
