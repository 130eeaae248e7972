//! What was typed, checked.

use std::path::{Path, PathBuf};

use super::Typed;
use crate::classifier_file::ClassifierFile;
use crate::cli::earlier::Files;
use crate::error::{Result, usage};
use crate::load::LoadOptions;
use crate::measure::Metric;
use crate::optimize::{Existing, Keep, Options, Search};
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
    pub fn files(&self) -> Files<'_> {
        let mut inputs = vec![self.load.marginals.file.as_path(), self.typed.how.init.as_ref()];
        inputs.extend(self.load.labels.as_ref().map(|labels| labels.file.as_path()));
        Files {
            inputs,
            out: &self.out,
            keep: self.keep.as_ref(),
            resume: self.typed.resume,
            made_from: |path| ClassifierFile::read_fingerprint(path).ok().flatten(),
        }
    }

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
        let existing = Existing::asked(self.resume, overwrite);
        Ok(Some(Keep::of_output(out, self.checkpoint.clone(), self.checkpoint_every, existing)))
    }
}
