//! A classifier from rank 0 to all ranks.

use crate::classifier::{Candidates, Mixture};
use crate::classifier_file::ClassifierFile;
use crate::world::World;

/// What rank 0 read, on every rank: others need not see its files. Collective.
pub(super) fn share(world: &World, file: Option<ClassifierFile>) -> Mixture {
    let mut file = file.unwrap_or_default();
    let mut numbers = vec![file.k, file.labels, u64::from(file.candidates == Candidates::Support.name())];
    world.broadcast(&mut numbers);
    (file.k, file.labels) = (numbers[0], numbers[1]);
    let candidates = if numbers[2] == 1 { Candidates::Support } else { Candidates::All };
    file.candidates = candidates.name().to_owned();
    world.broadcast(&mut file.slopes);
    world.broadcast(&mut file.intercepts);
    world.broadcast(&mut file.weights);
    Mixture::from_file(&file)
}
