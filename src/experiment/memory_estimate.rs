//! The memory an experiment needs, known before it runs.

use super::fit_rows::fit_load_request;
use super::{DataSource, Experiment, StrategyChoice};
use crate::load::memory_of_each_rank;
use crate::pipeline::scoring_memory;
use crate::store::StoreError;

impl Experiment {
    /// Returns the most bytes that each of `ranks` ranks needs, assuming a rule from every iteration; `None` when the data
    /// do not exist yet.
    pub fn memory_per_rank(&self, ranks: usize, threads: usize) -> Result<Option<Vec<u64>>, StoreError> {
        let (DataSource::Files(fit), DataSource::Files(test)) = (&self.fit, &self.test) else {
            return Ok(None);
        };
        let fits = self.strategies.contains(&StrategyChoice::FrankWolfe);
        let most_rules = if fits { self.search.options.max_iterations as u64 + 1 } else { 1 };
        let mut needs = memory_of_each_rank(test, scoring_memory(most_rules), ranks, threads)?;
        if fits {
            let (files, extra) = fit_load_request(fit, &self.targets);
            let fitting = memory_of_each_rank(&files, extra, ranks, threads)?;
            // The fitting rows are freed before the test rows are loaded.
            needs.iter_mut().zip(fitting).for_each(|(need, other)| *need = other.max(*need));
        }
        Ok(Some(needs))
    }
}
