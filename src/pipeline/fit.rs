//! Fitting a classifier: load the rows, check them, search, write the classifier file.

use std::path::PathBuf;

use super::{check_budget, read_classifier};
use crate::checkpoint::{CheckpointPolicy, Fingerprint};
use crate::classifier_file::ClassifierFile;
use crate::error::{Result, usage};
use crate::job::StopControl;
use crate::load::{ExtraMemory, LoadOptions, LoadPlan, plan_load};
use crate::measure::{Metric, monotone};
use crate::optimize::{
    FinishedFit, FitConfig, FitData, FitProblem, InitialClassifier, InitialSource, fit, request_fingerprint,
};
use crate::progress::Progress;
use crate::store::Overwrite;
use crate::world::World;

/// A fit and the file it goes to.
pub struct FitRequest {
    pub load: LoadOptions,
    pub k: usize,
    pub metric: Metric,
    pub search: FitConfig,
    /// Seed of a random initial classifier.
    pub seed: u64,
    pub out: PathBuf,
    pub overwrite: Overwrite,
    /// `None` when no checkpoints are wanted.
    pub checkpoint_policy: Option<CheckpointPolicy>,
}

impl FitRequest {
    /// Returns the initial classifier, on every rank. Collective.
    pub fn load_initial(&self, world: &World) -> Result<InitialClassifier> {
        Ok(match &self.search.initial {
            InitialSource::TopK => InitialClassifier::TopK,
            InitialSource::Random => InitialClassifier::Random { seed: self.seed },
            InitialSource::Prior => InitialClassifier::Prior,
            InitialSource::File(path) => {
                world.on_root(|| match path.exists() {
                    true => Ok(()),
                    false => {
                        usage(format!("--init is {}, but must be {}", path.display(), InitialSource::CHOICES))
                    }
                })?;
                InitialClassifier::Given(read_classifier(world, path)?)
            }
        })
    }

    /// Returns what decides the result, as far as it is known before the rows are loaded.
    pub fn fingerprint(&self, initial: &InitialClassifier) -> Fingerprint {
        request_fingerprint(&self.metric, self.k, initial, &self.search.options)
    }

    /// Returns the memory needed in addition to the rows.
    pub fn extra_memory(&self) -> ExtraMemory {
        let labelled = self.load.labels.is_some();
        match self.checkpoint_policy {
            Some(_) => ExtraMemory::for_fitting(labelled),
            None => ExtraMemory::for_counting(labelled),
        }
    }

    /// Plans to load the rows, and checks that `k` and the initial classifier suit them. Collective.
    pub fn plan_load<'w>(&self, world: &'w World, initial: &InitialClassifier) -> Result<LoadPlan<'w>> {
        let plan = plan_load(world, &self.load, self.extra_memory())?;
        world.agree(self.check_labels(initial, plan.summary.labels as usize))?;
        Ok(plan)
    }

    /// Refuses rows with fewer than `k` labels, and an initial classifier for other labels.
    pub fn check_labels(&self, initial: &InitialClassifier, labels: usize) -> Result<()> {
        check_budget(self.k, &self.load.marginals, labels)?;
        match (initial, &self.search.initial) {
            (InitialClassifier::Given(mixture), InitialSource::File(path))
                if mixture.rules[0].labels() != labels =>
            {
                let (path, given) = (path.display(), mixture.rules[0].labels());
                usage(format!("--init {path} is for {given} labels, but the data have {labels}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the search problem on loaded rows.
    pub fn problem<'a>(&'a self, data: &'a FitData<'a>, initial: InitialClassifier) -> FitProblem<'a> {
        FitProblem { data, metric: &self.metric, k: self.k, initial, options: self.search.options }
    }

    /// Returns what the user should know about the metric, for data of `rows` rows.
    pub fn metric_warnings(&self, rows: u64) -> Vec<String> {
        monotone::warnings(&self.metric.bind(self.k, self.search.options.epsilon.for_rows(rows)))
    }

    /// Searches, calls `searched`, and writes the classifier file. The checkpoint remains until the caller removes it.
    /// Collective.
    pub fn run<'a>(
        &self,
        world: &'a World,
        problem: FitProblem<'_>,
        control: &'a StopControl,
        progress: &dyn Progress,
        searched: impl FnOnce(),
    ) -> Result<FinishedFit<'a>> {
        let (population, fingerprint) = (&problem.data.population, problem.fingerprint());
        let finished = fit(world, problem, self.checkpoint_policy.as_ref(), control, progress)?;
        searched();
        let file = finished
            .fit
            .as_ref()
            .map(|fit| ClassifierFile::of_fit(fit, &self.metric, self.seed, population, &fingerprint));
        ClassifierFile::write(file.as_ref(), world, &self.out, self.overwrite)?;
        Ok(finished)
    }
}
