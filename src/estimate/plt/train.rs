//! Training a forest: units spread over ranks and threads, in rounds between which it can be stopped.

use std::sync::Arc;

use rayon::prelude::*;
use serde_json::json;

use super::options::{TreeOptions, TreeShape};
use super::positives::Positives;
use super::representations::normalise;
use super::tasks::{Task, all_tasks, assign_to_ranks, plan_rounds};
use super::tree_plan::{TreePlan, assemble_forest, grow_trees};
use super::unit_model::{UnitModel, train_root, train_unit};
use super::unit_rows::{ColumnScratch, TrainingSet, UnitRows};
use crate::checkpoint::{CheckpointSession, SavedParts, Snapshot, SnapshotPart};
use crate::error::Result;
use crate::fault;
use crate::format::format_count;
use crate::heartbeat::beat;
use crate::load::Examples;
use crate::progress::Progress;
use crate::sparse::RowsView;
use crate::store::ModelFile;
use crate::world::World;

/// Trains a forest; rank 0 gets the model. Its bits depend on the examples and the options alone. Every rank has all
/// examples, with labels. Collective.
pub fn train(
    world: &World,
    examples: &Examples,
    options: &TreeOptions,
    saved: Option<SavedParts>,
    session: &mut CheckpointSession<'_>,
    progress: &dyn Progress,
) -> Result<Option<ModelFile>> {
    let labels = examples.labels.as_ref().expect("estimators are trained on labels");
    let features = RowsView::from(&examples.features);
    let mut values = features.values.to_vec();
    features.starts.windows(2).for_each(|row| normalise(&mut values[row[0]..row[1]]));
    let (labels, label_count) = (RowsView::from(labels), labels.cols());
    let training_set = TrainingSet {
        features: RowsView { values: &values, ..features },
        width: examples.features.cols(),
        labels,
        positives: Positives::new(labels, label_count),
    };
    // Every rank grows the same trees; to wait for one that does would take as long.
    let trees: Vec<TreePlan> =
        grow_trees(&training_set, options).into_iter().map(|tree| TreePlan::new(tree, label_count)).collect();
    beat();
    let unknown = label_count - trees[0].tree.labels.len();
    if unknown > 0 {
        progress.message(&format!(
            "{} of {} labels have no positive instance here; their marginals will be 0",
            format_count(unknown as u64),
            format_count(label_count as u64)
        ));
    }
    let trainer = ForestTrainer::new(&training_set, &trees, options);
    let models = trainer.train_all(world, saved, session, progress)?;
    let Some(models) = models else { return Ok(None) };
    let forest = assemble_forest(&trees, training_set.width, &trainer.in_forest_order(models));
    let mut file = ModelFile {
        estimator: options.estimator().into(),
        features: training_set.width as u64,
        labels: label_count as u64,
        seed: options.seed,
        options: options.to_json(),
        record: json!({
            "instances": examples.total_rows,
            "labels without positive instance": unknown,
            "nodes": forest.nodes(),
            "units": forest.unit_count(),
            "weights": forest.weights.len(),
        }),
        ..ModelFile::default()
    };
    forest.put_into(&mut file);
    Ok(Some(file))
}

/// A unit that is trained, as bytes: its task, then its model.
type EncodedUnit = Arc<Vec<u8>>;

/// All that units are trained from.
struct ForestTrainer<'t> {
    training_set: &'t TrainingSet<'t>,
    trees: &'t [TreePlan],
    options: &'t TreeOptions,
    tasks: Vec<Task>,
    /// Every row; and those with a label, where a tree needs to know.
    rows: Vec<u32>,
    labelled_rows: Vec<u32>,
}

impl<'t> ForestTrainer<'t> {
    fn new(
        training_set: &'t TrainingSet<'t>,
        trees: &'t [TreePlan],
        options: &'t TreeOptions,
    ) -> ForestTrainer<'t> {
        let rows: Vec<u32> = (0..training_set.labels.count() as u32).collect();
        let has_label = |&row: &u32| !training_set.labels.row(row as usize).0.is_empty();
        let labelled_rows: Vec<u32> = rows.iter().copied().filter(has_label).collect();
        // Below the root of a tree there are only rows with a label; whether a row has one is then a question of its own.
        let root = options.shape != TreeShape::Flat && labelled_rows.len() < rows.len();
        let tasks = all_tasks(training_set, trees, root);
        ForestTrainer { training_set, trees, options, tasks, rows, labelled_rows }
    }

    /// Trains every task that was not `saved`. Rank 0 gets the models, by task. Collective.
    fn train_all(
        &self,
        world: &World,
        saved: Option<SavedParts>,
        session: &mut CheckpointSession<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<UnitModel>>> {
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
            let made: Vec<Vec<u8>> = mine
                .par_iter()
                .with_max_len(1)
                .map_init(ColumnScratch::default, |space, &task| {
                    let model = self.train_task(task, space);
                    progress.advanced(nodes(&self.tasks[task]));
                    [&(task as u64).to_ne_bytes()[..], &model.encode()].concat()
                })
                .collect();
            trained.extend(gather_encoded_units(world, &made));
            // Those that others have trained.
            let theirs = round.iter().filter(|task| !mine.contains(task));
            progress.advanced(theirs.map(|&task| nodes(&self.tasks[task])).sum());
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
        let mut models = vec![UnitModel::default(); self.tasks.len()];
        for (task, model) in trained.iter().filter_map(|part| self.decode(part)) {
            models[task] = model;
        }
        Ok(Some(models))
    }

    fn decode(&self, part: &[u8]) -> Option<(usize, UnitModel)> {
        let (task, model) = part.split_at_checked(8)?;
        let task = u64::from_ne_bytes(task.try_into().ok()?) as usize;
        let model = UnitModel::decode(model)?;
        (model.biases.len() == self.tasks.get(task)?.nodes(self.trees)).then_some((task, model))
    }

    fn train_task(&self, task: usize, space: &mut ColumnScratch) -> UnitModel {
        let (training_set, options, number) = (self.training_set, self.options, task as u64);
        let Some((tree, unit)) = self.tasks[task].unit else {
            let rows = UnitRows::gather(training_set, &self.trees[0], 0, &self.rows, space);
            return train_root(&rows, options, number);
        };
        let planned = &self.trees[tree];
        let unit = &planned.units[unit];
        let below;
        let rows = match (options.shape, unit.root) {
            (TreeShape::Flat, _) => &self.rows,
            (_, 0) => &self.labelled_rows,
            (_, root) => {
                below = training_set.positives.rows_of_any(planned.labels_below(root));
                &below
            }
        };
        let rows = UnitRows::gather(training_set, planned, unit.root, rows, space);
        train_unit(&rows, &planned.tree, unit, options, number)
    }

    /// The models as a forest has them: for each tree the root, then the units.
    fn in_forest_order(&self, models: Vec<UnitModel>) -> Vec<UnitModel> {
        let root = self.tasks.iter().position(|task| task.unit.is_none());
        let root = root.map_or_else(UnitModel::always_reached, |task| models[task].clone());
        let mut ordered = Vec::new();
        let mut tree = None;
        for (task, model) in self.tasks.iter().zip(models) {
            let Some((of, _)) = task.unit else { continue };
            if tree.replace(of) != Some(of) {
                ordered.push(root.clone());
            }
            ordered.push(model);
        }
        ordered
    }
}

/// What all ranks have made, on rank 0. Collective.
fn gather_encoded_units(world: &World, made: &[Vec<u8>]) -> Vec<EncodedUnit> {
    let sizes: Vec<u64> = made.iter().map(|part| part.len() as u64).collect();
    let all_sizes = world.gather(&sizes).unwrap_or_default();
    let all = world.gather(&made.concat()).unwrap_or_default();
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
