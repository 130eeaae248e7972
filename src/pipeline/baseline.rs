//! Writing a baseline: one rule in closed form, computed from label counts.

use std::path::PathBuf;

use super::check_budget;
use crate::classifier::{BaselineConstants, BaselineStrategy, Candidates, Mixture, baseline_rule};
use crate::classifier_file::ClassifierFile;
use crate::error::Result;
use crate::load::LabelCounts;
use crate::store::{Location, Overwrite};
use crate::world::World;

/// A baseline and the file it goes to.
pub struct BaselineRequest {
    pub strategy: BaselineStrategy,
    pub k: usize,
    pub constants: BaselineConstants,
    pub candidates: Candidates,
    /// The labels to count.
    pub labels: Location,
    pub out: PathBuf,
    pub overwrite: Overwrite,
}

impl BaselineRequest {
    /// Writes the classifier file. `counts` are those of `labels`. Collective.
    pub fn run(&self, world: &World, counts: &LabelCounts) -> Result<()> {
        let LabelCounts { positives, rows } = counts;
        world.agree(check_budget(self.k, &self.labels, positives.len()))?;
        let rule = baseline_rule(self.strategy, positives, *rows, self.constants);
        let mixture = Mixture::single(rule, self.k, self.candidates);
        let file = ClassifierFile::of_baseline(self.strategy, mixture, positives.clone(), *rows);
        ClassifierFile::write(Some(&file), world, &self.out, self.overwrite)
    }
}
