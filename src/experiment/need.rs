//! How much memory an experiment is going to need, before it runs.

use super::fitting::{for_evaluation, for_fits};
use super::{Choice, Data, Experiment};
use crate::load::needs_of;
use crate::store::StoreError;

impl Experiment {
    /// Bytes that each of so many ranks is going to need at most; `None` where rows have yet to be made. Classifiers
    /// may turn out smaller than the most that is reckoned with here, a rule for every iteration.
    pub fn needs(&self, ranks: usize, threads: usize) -> Result<Option<Vec<u64>>, StoreError> {
        let (Data::Files(fit), Data::Files(test)) = (&self.fit, &self.test) else { return Ok(None) };
        let fits = self.choices.contains(&Choice::FrankWolfe);
        let most_rules = if fits { self.search.max_iterations as u64 + 1 } else { 1 };
        let mut needs = needs_of(test, for_evaluation(most_rules), ranks, threads)?;
        if fits {
            let (files, extra) = for_fits(fit, &self.targets);
            // One after the other: the fitting rows go before the others come.
            let fitting = needs_of(&files, extra, ranks, threads)?;
            needs.iter_mut().zip(fitting).for_each(|(need, other)| *need = other.max(*need));
        }
        Ok(Some(needs))
    }
}
