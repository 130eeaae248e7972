//! Loading this rank's rows. Every step that can fail is agreed on by all ranks before the next.

use super::memory_estimate::RankShare;
use super::pack::load_packed;
use crate::error::{Result, usage};
use crate::memory::{MemoryBudget, check_memory};
use crate::shard::{ColumnOrder, FixedPoint, LabelFrequencies, Shard, Targets, TrueLabels};
use crate::sparse::Csr;
use crate::store::{Hdf5File, Location, MatrixFile, RowStarts, StoreError, ValueKind};
use crate::world::World;
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct LoadOptions {
    pub marginals: Location,
    /// Without labels the marginals stand in for them.
    pub labels: Option<Location>,
    /// Accept marginals outside [0, 1] and move them to the nearer end.
    pub clamp: bool,
}

/// What is going to be loaded, known before it is.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    pub rows: u64,
    pub labels: u64,
    /// Stored marginals.
    pub entries: u64,
    /// Bytes that one pass over the rows will read, on all ranks together.
    pub bytes_per_pass: u64,
    pub memory: MemoryBudget,
}

/// What a command is going to need beside what is loaded, on each rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtraMemory {
    pub bytes_per_row: u64,
    pub bytes_per_label: u64,
    /// For each label and thread.
    pub bytes_per_count: u64,
}

impl ExtraMemory {
    /// What passes that count need: counts, and those that wait to be added.
    pub fn for_counting(labelled: bool) -> ExtraMemory {
        ExtraMemory { bytes_per_count: if labelled { 9 } else { 17 }, ..ExtraMemory::default() }
    }

    /// Adds the memory of a classifier's rules: as the file has them, as rules, and as tables.
    pub fn with_rules(self, rules: u64) -> ExtraMemory {
        ExtraMemory { bytes_per_label: 28 * rules, ..self }
    }

    /// What a fit needs that keeps checkpoints: what the rows answered to each rule, a few bytes a label.
    pub fn for_fitting(labelled: bool) -> ExtraMemory {
        ExtraMemory { bytes_per_label: 24, ..ExtraMemory::for_counting(labelled) }
    }
}

/// Reads this rank's share of the rows, balanced by stored marginals.
pub fn load_shard(world: &World, options: &LoadOptions) -> Result<Shard> {
    load_shard_with_plan(world, options, ExtraMemory::for_counting(options.labels.is_some()), |_| Ok(()))
}

/// The same, and before any entry is read `announce` is told, on every rank, what there is and what it
/// takes; it may refuse. When a node lacks the memory, that is an error.
pub fn load_shard_with_plan(
    world: &World,
    options: &LoadOptions,
    extra: ExtraMemory,
    announce: impl FnOnce(&LoadPlan) -> Result<()>,
) -> Result<Shard> {
    open_and_plan(world, options, extra, |plan, rows, marginals, labels| {
        announce(&plan)?;
        load(world, options, rows, marginals, labels)
    })
}

/// What loading would take, without loading. When a node lacks the memory, that is an error. Collective.
pub fn plan_load(world: &World, options: &LoadOptions, extra: ExtraMemory) -> Result<LoadPlan> {
    open_and_plan(world, options, extra, |plan, _, _, _| Ok(plan))
}

/// A matrix to be read, and where its rows on this rank start.
type OpenMatrix<'a, 'f> = (&'a MatrixFile<'f>, RowStarts);

/// Opens the files, chooses this rank's rows, plans, and goes on with all of it.
fn open_and_plan<T>(
    world: &World,
    options: &LoadOptions,
    extra: ExtraMemory,
    then: impl FnOnce(LoadPlan, Range<u64>, OpenMatrix<'_, '_>, Option<OpenMatrix<'_, '_>>) -> Result<T>,
) -> Result<T> {
    let file = world.agree(Hdf5File::open(&options.marginals.file).map_err(Into::into))?;
    let marginals = world.agree(MatrixFile::open(&file, options.marginals.clone()).map_err(Into::into))?;
    let labels_file = match &options.labels {
        Some(location) => Some(world.agree(Hdf5File::open(&location.file).map_err(Into::into))?),
        None => None,
    };
    let labels = match (&labels_file, &options.labels) {
        (Some(file), Some(location)) => {
            Some(world.agree(MatrixFile::open(file, location.clone()).map_err(Into::into))?)
        }
        _ => None,
    };
    if let Some(labels) = &labels {
        world.agree(same_shape(&marginals, labels).map_err(Into::into))?;
    }
    let rows = rows_of_this_rank(world, &marginals)?;
    let starts = world.agree(marginals.row_starts(rows.clone()).map_err(Into::into))?;
    let label_starts = match &labels {
        Some(labels) => Some(world.agree(labels.row_starts(rows.clone()).map_err(Into::into))?),
        None => None,
    };
    let plan = plan(world, &marginals, &starts, label_starts.as_ref(), extra)?;
    then(plan, rows, (&marginals, starts), labels.as_ref().zip(label_starts))
}

fn load(
    world: &World,
    options: &LoadOptions,
    rows: Range<u64>,
    (marginals, starts): OpenMatrix<'_, '_>,
    labels: Option<OpenMatrix<'_, '_>>,
) -> Result<Shard> {
    let true_labels = match labels {
        Some((labels, starts)) => {
            Some(world.agree(labels.read(&starts, ValueKind::Labels).map_err(Into::into))?)
        }
        None => None,
    };
    let content = ValueKind::Probabilities { clamp: options.clamp };
    let total_rows = marginals.shape().0;
    let renumbered = marginals.shape().1 as usize >= ColumnOrder::MIN_LABELS;
    let positives =
        true_labels.as_ref().filter(|_| renumbered).map(|labels| total_positives(world, labels, total_rows));
    let packed = load_packed(marginals, starts, content, true_labels.as_ref(), positives.as_deref());
    let (mut loaded, hits, mut hit_mass) = world.agree(packed.map_err(Into::into))?;
    if renumbered {
        let known = match positives {
            Some(positives) => {
                world.sum(&mut hit_mass, total_rows.saturating_mul(LabelFrequencies::MASS_OF_ONE as u64));
                LabelFrequencies { positives, hit_mass }
            }
            None => {
                let total_entries = world.gather_to_all(loaded.entries() as u64).iter().sum();
                let mut seen = loaded.sample_label_counts(rows.start, total_rows, total_entries);
                world.sum(&mut seen, total_rows);
                LabelFrequencies { hit_mass: vec![0; seen.len()], positives: seen }
            }
        };
        loaded.renumber(&known);
    }
    let targets = match true_labels {
        Some(labels) => Targets::Labels(TrueLabels::from_parts(labels, hits)),
        None => Targets::Expected(FixedPoint::for_terms(total_rows)),
    };
    Ok(Shard { rows, total_rows, marginals: loaded, targets })
}

/// Adds up what all ranks are going to hold, and checks that there is room for it. Collective.
fn plan(
    world: &World,
    marginals: &MatrixFile<'_>,
    starts: &RowStarts,
    label_starts: Option<&RowStarts>,
    extra: ExtraMemory,
) -> Result<LoadPlan> {
    let (rows, labels) = marginals.shape();
    let (local_rows, share) = (starts.starts().len() as u64, RankShare::new(starts, label_starts));
    world.agree(if local_rows > Shard::MAX_ROWS {
        let most = Shard::MAX_ROWS;
        usage(format!(
            "{}: {local_rows} rows on one rank, but at most {most} are possible; use more ranks",
            marginals.location()
        ))
    } else {
        Ok(())
    })?;
    let totals: Vec<u64> = [starts.entries(), share.bytes_per_pass(labels)]
        .map(|part| world.gather_to_all(part).iter().sum())
        .into();
    let memory = check_memory(world, share.memory_bytes(labels, extra, rayon::current_num_threads() as u64))?;
    Ok(LoadPlan { rows, labels, entries: totals[0], bytes_per_pass: totals[1], memory })
}

/// Reads this rank's share of a label matrix, for what needs no marginals.
pub fn load_labels(world: &World, location: &Location) -> Result<(Range<u64>, u64, Csr)> {
    let file = world.agree(Hdf5File::open(&location.file).map_err(Into::into))?;
    let matrix = world.agree(MatrixFile::open(&file, location.clone()).map_err(Into::into))?;
    let rows = rows_of_this_rank(world, &matrix)?;
    let labels = read_rows(world, &matrix, rows.clone(), ValueKind::Labels)?;
    Ok((rows, matrix.shape().0, labels))
}

/// Positive instances of each label over all ranks.
pub fn total_positives(world: &World, labels: &Csr, total_rows: u64) -> Vec<u64> {
    let mut positives = vec![0; labels.cols()];
    for &label in labels.indices() {
        positives[label as usize] += 1;
    }
    world.sum(&mut positives, total_rows);
    positives
}

/// This rank's rows of `matrix`.
pub(crate) fn rows_of_this_rank(world: &World, matrix: &MatrixFile<'_>) -> Result<Range<u64>> {
    let mut bounds = Vec::new();
    world.on_root(|| {
        let ranges = matrix.balanced_row_ranges(world.size())?;
        bounds = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
        Ok(())
    })?;
    world.broadcast(&mut bounds);
    Ok(bounds[2 * world.rank()]..bounds[2 * world.rank() + 1])
}

/// Reads a range: first its structure, then its entries, so that the error found does not depend
/// on the number of ranks.
pub(crate) fn read_rows(
    world: &World,
    matrix: &MatrixFile<'_>,
    rows: Range<u64>,
    content: ValueKind,
) -> Result<Csr> {
    let starts = world.agree(matrix.row_starts(rows).map_err(Into::into))?;
    check_memory(world, starts.entries() * 8 + starts.starts().len() as u64 * 8)?;
    world.agree(matrix.read(&starts, content).map_err(Into::into))
}

pub(crate) fn same_shape(first: &MatrixFile<'_>, second: &MatrixFile<'_>) -> Result<(), StoreError> {
    if first.shape() == second.shape() {
        return Ok(());
    }
    Err(StoreError::ShapesDiffer {
        first: first.location().to_string(),
        a: first.shape(),
        second: second.location().to_string(),
        b: second.shape(),
    })
}
