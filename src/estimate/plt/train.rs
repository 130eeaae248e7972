//! Training a forest.

use super::options::TreeOptions;
use crate::error::{Result, usage};
use crate::estimate::{Saved, Saving, Watch};
use crate::shard::Examples;
use crate::store::ModelFile;
use crate::world::World;

/// Trains a forest; rank 0 gets the model. Its bits depend on the examples and the options alone. Collective.
pub fn train(
    _world: &World,
    _examples: &Examples,
    _options: &TreeOptions,
    _saved: Option<Saved>,
    _saving: &mut Saving<'_>,
    _watch: &dyn Watch,
) -> Result<Option<ModelFile>> {
    usage("label trees cannot be trained yet")
}
