//! What was typed, checked.

use std::path::{Path, PathBuf};

use super::Typed;
use crate::error::{Result, usage};
use crate::measure::Metric;
use crate::optimize::{Existing, Keep, Options, Search};
use crate::shard::LoadOptions;
use crate::store::{Location, Overwrite, Role};

/// What was checked and is ready to use.
pub(super) struct Ready<'t> {
    pub typed: &'t Typed,
    pub load: LoadOptions,
    pub k: usize,
    pub search: Search,
    pub metric: Metric,
    pub out: PathBuf,
    /// None when no checkpoints are wanted.
    pub keep: Option<Keep>,
}

impl Ready<'_> {
    /// The options for data of so many rows. Only epsilon depends on that.
    pub fn options(&self, rows: u64) -> Options {
        self.search.options(self.k, rows)
    }
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
        Ok(Ready {
            typed: self,
            load: LoadOptions {
                marginals: Location::parse(marginals, Role::Marginals),
                labels: self.labels.as_ref().map(|text| Location::parse(text, Role::Labels)),
                clamp: self.clamp,
            },
            k,
            search: self.how.check()?,
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
