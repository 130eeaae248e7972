//! How much memory an experiment is going to need, before it runs.

use super::fit_rows::{evaluation_memory, fit_load_request};
use super::{DataSource, Experiment, StrategyChoice};
use crate::load::memory_of_each_rank;
use crate::store::StoreError;

impl Experiment {
    /// Bytes that each of so many ranks is going to need at most; `None` where rows have yet to be made. Classifiers
    /// may turn out smaller than the most that is reckoned with here, a rule for every iteration.
    pub fn memory_per_rank(&self, ranks: usize, threads: usize) -> Result<Option<Vec<u64>>, StoreError> {
        let (DataSource::Files(fit), DataSource::Files(test)) = (&self.fit, &self.test) else {
            return Ok(None);
        };
        let fits = self.strategies.contains(&StrategyChoice::FrankWolfe);
        let most_rules = if fits { self.search.max_iterations as u64 + 1 } else { 1 };
        let mut needs = memory_of_each_rank(test, evaluation_memory(most_rules), ranks, threads)?;
        if fits {
            let (files, extra) = fit_load_request(fit, &self.targets);
            // One after the other: the fitting rows go before the others come.
            let fitting = memory_of_each_rank(&files, extra, ranks, threads)?;
            needs.iter_mut().zip(fitting).for_each(|(need, other)| *need = other.max(*need));
        }
        Ok(Some(needs))
    }
}
