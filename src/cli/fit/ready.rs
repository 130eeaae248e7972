//! What was typed, checked.

use std::path::{Path, PathBuf};

use super::Typed;
use crate::error::{Result, usage};
use crate::measure::Metric;
use crate::optimize::{Existing, Keep, Options};
use crate::shard::LoadOptions;
use crate::store::{Location, Overwrite, Role};

/// What was checked and is ready to use.
pub(super) struct Ready<'t> {
    pub typed: &'t Typed,
    pub load: LoadOptions,
    pub options: Options,
    pub metric: Metric,
    pub out: PathBuf,
    /// None when no checkpoints are wanted.
    pub keep: Option<Keep>,
}

impl Typed {
    pub(super) fn check(&self, overwrite: Overwrite) -> Result<Ready<'_>> {
        let Some(marginals) = &self.marginals else {
            return usage("fit needs the estimated probabilities: --marginals FILE.h5");
        };
        let Some(k) = self.k else { return usage("fit needs the number of labels to predict: -k 5") };
        let Some(out) = &self.out else { return usage("fit needs a file to write to: --out CLF.h5") };
        if k == 0 {
            return usage("-k is 0, but at least one label must be predicted");
        }
        if !(1..=8000).contains(&self.max_iters) {
            return usage(format!("--max-iters is {}, but must be 1 to 8000", self.max_iters));
        }
        let positive = [("--epsilon", self.epsilon), ("--smoothing", self.smoothing.unwrap_or(1.0))];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be positive and finite"));
            }
        }
        for (name, value) in [("--tolerance", self.tolerance), ("--min-gain", self.min_gain)] {
            if !(value >= 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be at least 0 and finite"));
            }
        }
        Ok(Ready {
            typed: self,
            load: LoadOptions {
                marginals: Location::parse(marginals, Role::Marginals),
                labels: self.labels.as_ref().map(|text| Location::parse(text, Role::Labels)),
                clamp: self.clamp,
            },
            options: Options {
                k,
                epsilon: self.epsilon,
                candidates: self.candidates,
                step: self.step,
                max_iterations: self.max_iters,
                tolerance: self.tolerance,
                min_gain: self.min_gain,
            },
            metric: Metric::parse(&self.metric)?,
            out: out.clone(),
            keep: self.keep(out, overwrite)?,
        })
    }

    fn keep(&self, out: &Path, overwrite: Overwrite) -> Result<Option<Keep>> {
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
        let file = self.checkpoint.clone().unwrap_or_else(|| {
            let mut name = out.as_os_str().to_owned();
            name.push(".checkpoint");
            name.into()
        });
        let existing = match overwrite {
            _ if self.resume => Existing::Resume,
            Overwrite::Replace => Existing::Replace,
            Overwrite::Refuse => Existing::Refuse,
        };
        Ok(Some(Keep { file, every: self.checkpoint_every, existing }))
    }
}
