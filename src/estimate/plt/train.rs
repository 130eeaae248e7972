//! Training of a forest: units spread over ranks and threads, in rounds between which it can be stopped.

use std::sync::Arc;

use rayon::prelude::*;
use serde_json::json;

use super::forest::Forest;
use super::node_models::NodeModels;
use super::options::{TreeOptions, TreeShape};
use super::schedule::{Task, all_tasks, assign_to_ranks, plan_rounds};
use super::train_unit::{ColumnBuffer, UnitRows};
use super::training_set::{Positives, TrainingSet, normalised_rows};
use super::tree::{Tree, grow_trees};
use crate::checkpoint::{Snapshot, SnapshotPart};
use crate::error::Result;
use crate::estimate::{EstimatorOptions, TrainingRun};
use crate::fault;
use crate::format::format_count;
use crate::heartbeat::beat;
use crate::load::Examples;
use crate::sparse::RowsView;
use crate::store::ModelFile;
use crate::world::World;

/// Trains a forest on examples that every rank has. Returns the model on rank 0. Its bits depend only on the examples
/// and the options. Collective.
pub(super) fn train(
    options: &TreeOptions,
    examples: &Examples,
    run: TrainingRun<'_, '_>,
) -> Result<Option<ModelFile>> {
    let labels = examples.labels.as_ref().expect("examples for training have labels");
    let (features, label_rows) = (normalised_rows((&examples.features).into()), RowsView::from(labels));
    let training_set = TrainingSet {
        features: features.view(),
        width: examples.features.cols(),
        labels: label_rows,
        positives: Positives::new(label_rows, labels.cols()),
    };
    // Every rank grows the same trees, which takes no longer than waiting for one rank to grow them.
    let trees = grow_trees(&training_set, options);
    beat();
    let unknown = labels.cols() - trees[0].labels.len();
    if unknown > 0 {
        let [unknown, all] = [unknown, labels.cols()].map(|count| format_count(count as u64));
        run.progress.message(&format!(
            "labels without a positive instance: {unknown} of {all}; their marginals will be 0"
        ));
    }
    let trainer = ForestTrainer::new(&training_set, &trees, options);
    let Some(models) = trainer.train_all(run)? else { return Ok(None) };
    let always_reached = NodeModels::always_reached();
    let (root, units) = match trainer.tasks[0].unit {
        Some(_) => (&always_reached, &models[..]),
        None => (&models[0], &models[1..]),
    };
    let forest = Forest::assemble(&trees, training_set.width, root, units);
    let record = json!({
        "instances": examples.total_rows,
        "labels without positive instance": unknown,
        "nodes": forest.nodes(),
        "units": forest.unit_count(),
        "weights": forest.models.weights.len(),
    });
    let mut file = options.new_model(training_set.width, labels.cols(), record);
    forest.put_into(&mut file);
    Ok(Some(file))
}

/// A trained unit as bytes: its task, then its models.
type EncodedUnit = Arc<Vec<u8>>;

struct ForestTrainer<'t> {
    training_set: &'t TrainingSet<'t>,
    trees: &'t [Tree],
    options: &'t TreeOptions,
    tasks: Vec<Task>,
    rows: Vec<u32>,
    labelled_rows: Vec<u32>,
}

impl<'t> ForestTrainer<'t> {
    fn new(
        training_set: &'t TrainingSet<'t>,
        trees: &'t [Tree],
        options: &'t TreeOptions,
    ) -> ForestTrainer<'t> {
        let rows: Vec<u32> = (0..training_set.labels.count() as u32).collect();
        let has_label = |&row: &u32| !training_set.labels.row(row as usize).0.is_empty();
        let labelled_rows: Vec<u32> = rows.iter().copied().filter(has_label).collect();
        // Nodes below the root of a tree are trained on rows with a label, so the root must tell whether there is one.
        let with_root = options.shape != TreeShape::Flat && labelled_rows.len() < rows.len();
        let tasks = all_tasks(training_set, trees, with_root);
        ForestTrainer { training_set, trees, options, tasks, rows, labelled_rows }
    }

    /// Trains all tasks, except those that are `saved`. Returns the models of each task on rank 0. Collective.
    fn train_all(&self, run: TrainingRun<'_, '_>) -> Result<Option<Vec<NodeModels>>> {
        let TrainingRun { world, saved, session, progress } = run;
        let mut trained: Vec<EncodedUnit> = Vec::new();
        world.on_root(|| {
            let Some(saved) = saved else { return Ok(()) };
            if !saved.lasting.iter().all(|part| self.decode(part).is_some()) {
                return Err(saved.unusable().into());
            }
            trained.extend(saved.lasting.into_iter().map(Arc::new));
            Ok(())
        })?;
        let number = |part: &EncodedUnit| self.decode(part).map_or(0, |(task, _)| task as u64);
        let mut done: Vec<u64> = trained.iter().map(number).collect();
        world.broadcast(&mut done);
        let nodes = |task: &Task| task.nodes(self.trees) as u64;
        let total: u64 = self.tasks.iter().map(nodes).sum();
        let before: u64 = done.iter().map(|&task| nodes(&self.tasks[task as usize])).sum();
        let place = |finished: usize| format!("after {finished} of {} units", self.tasks.len());
        if !done.is_empty() {
            session.resumed_at(done.len() as u64, &place(done.len()), progress);
        }
        progress.started("training nodes", total, before);
        let left: Vec<usize> = (0..self.tasks.len()).filter(|&task| !done.contains(&(task as u64))).collect();
        let mut finished = done.len();
        let workers = world.gather_to_all(rayon::current_num_threads() as u64).iter().sum();
        for round in plan_rounds(&self.tasks, &left, workers) {
            let mine = &assign_to_ranks(&self.tasks, &round, world.size())[world.rank()];
            let encoded: Vec<Vec<u8>> = mine
                .par_iter()
                .with_max_len(1)
                .map_init(ColumnBuffer::new, |buffer, &task| {
                    let models = self.train_task(task, buffer);
                    progress.advanced(nodes(&self.tasks[task]));
                    [&(task as u64).to_ne_bytes()[..], &models.encode()].concat()
                })
                .collect();
            trained.extend(gather_encoded_units(world, &encoded));
            let of_others = round.iter().filter(|task| !mine.contains(task));
            progress.advanced(of_others.map(|&task| nodes(&self.tasks[task])).sum());
            finished += round.len();
            let lasting = || trained.iter().map(|part| Arc::clone(part) as Arc<dyn SnapshotPart>).collect();
            let snapshot = |buffer| Snapshot { lasting: lasting(), fresh: buffer };
            session.save_or_stop(finished as u64, &place(finished), snapshot, progress)?;
            fault::inject(world.rank(), "unit")?;
        }
        progress.finished();
        if !world.is_root() {
            return Ok(None);
        }
        let mut models = vec![NodeModels::default(); self.tasks.len()];
        for (task, decoded) in trained.iter().filter_map(|part| self.decode(part)) {
            models[task] = decoded;
        }
        Ok(Some(models))
    }

    fn decode(&self, part: &[u8]) -> Option<(usize, NodeModels)> {
        let (task, models) = part.split_at_checked(8)?;
        let task = u64::from_ne_bytes(task.try_into().ok()?) as usize;
        let models = NodeModels::decode(models)?;
        (models.biases.len() == self.tasks.get(task)?.nodes(self.trees)).then_some((task, models))
    }

    fn train_task(&self, task: usize, buffer: &mut ColumnBuffer) -> NodeModels {
        let (training_set, options, number) = (self.training_set, self.options, task as u64);
        let Some((tree, unit)) = self.tasks[task].unit else {
            let rows = UnitRows::gather(training_set, &self.trees[0], 0, &self.rows, buffer);
            return rows.train_root(options, number);
        };
        let tree = &self.trees[tree];
        let unit = &tree.units[unit];
        let below;
        let rows = match (options.shape, unit.root) {
            (TreeShape::Flat, _) => &self.rows,
            (_, 0) => &self.labelled_rows,
            (_, root) => {
                below = training_set.positives.rows_of_any(tree.labels_below(root));
                &below
            }
        };
        UnitRows::gather(training_set, tree, unit.root, rows, buffer).train(tree, unit, options, number)
    }
}

/// Gathers the units that all ranks have trained, on rank 0. Collective.
fn gather_encoded_units(world: &World, encoded: &[Vec<u8>]) -> Vec<EncodedUnit> {
    let sizes: Vec<u64> = encoded.iter().map(|part| part.len() as u64).collect();
    let all_sizes = world.gather(&sizes).unwrap_or_default();
    let all = world.gather(&encoded.concat()).unwrap_or_default();
    let mut parts = Vec::new();
    for (sizes, bytes) in all_sizes.iter().zip(&all) {
        let mut rest = bytes.as_slice();
        for &size in sizes {
            let (part, after) = rest.split_at(size as usize);
            parts.push(Arc::new(part.to_vec()));
            rest = after;
        }
    }
    parts
}
