//! Fit, evaluate and baseline from files to a classifier file or a table of metrics, each once for the commands and for the
//! steps of experiments: load, check, compute, write. Callers translate options, display progress and record the result.

mod baseline;
mod evaluate;
mod fit;

pub use baseline::BaselineRequest;
pub use evaluate::{EvaluateRequest, Subject, load_for_classifier, load_predicted, scoring_memory};
pub use fit::FitRequest;

use std::path::Path;

use crate::classifier::Mixture;
use crate::classifier_file::{ClassifierFile, broadcast};
use crate::error::{Result, usage};
use crate::store::Location;
use crate::world::World;

/// Reads the classifier of a file on rank 0 and sends it to all ranks. Collective.
pub fn read_classifier(world: &World, path: &Path) -> Result<Mixture> {
    let file = world.agree(world.is_root().then(|| ClassifierFile::read(path)).transpose())?;
    Ok(broadcast(world, file))
}

/// Refuses to predict more labels than the data of `source` have.
fn check_budget(k: usize, source: &Location, labels: usize) -> Result<()> {
    if k <= labels { Ok(()) } else { usage(format!("-k is {k}, but {source} has only {labels} labels")) }
}
