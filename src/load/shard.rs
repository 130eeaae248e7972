//! Loading this rank's rows. Every step that can fail is agreed on by all ranks before the next.

use super::need::Share;
use super::pack::pack;
use crate::error::{Result, usage};
use crate::memory::{Fits, check_room};
use crate::shard::{FixedPoint, Known, Order, Shard, Targets, Truth};
use crate::sparse::Csr;
use crate::store::{Content, Hdf5File, Location, MatrixFile, RowStarts, StoreError};
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
pub struct Plan {
    pub rows: u64,
    pub labels: u64,
    /// Stored marginals.
    pub entries: u64,
    /// Bytes that one pass over the rows will read, on all ranks together.
    pub bytes_per_pass: u64,
    pub memory: Fits,
}

/// What a command is going to need beside what is loaded, on each rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    pub bytes_a_row: u64,
    pub bytes_a_label: u64,
    /// For each label and thread.
    pub bytes_a_count: u64,
}

impl Extra {
    /// What passes that count need: counts, and those that wait to be added.
    pub fn counting(labelled: bool) -> Extra {
        Extra { bytes_a_count: if labelled { 9 } else { 17 }, ..Extra::default() }
    }

    /// Adds the memory of a classifier's rules: as the file has them, as rules, and as tables.
    pub fn with_rules(self, rules: u64) -> Extra {
        Extra { bytes_a_label: 28 * rules, ..self }
    }

    /// What a fit needs that keeps checkpoints: what the rows answered to each rule, a few bytes a label.
    pub fn fitting(labelled: bool) -> Extra {
        Extra { bytes_a_label: 24, ..Extra::counting(labelled) }
    }
}

/// Reads this rank's share of the rows, balanced by stored marginals.
pub fn load_shard(world: &World, options: &LoadOptions) -> Result<Shard> {
    load_planned(world, options, Extra::counting(options.labels.is_some()), |_| Ok(()))
}

/// The same, and before any entry is read `announce` is told, on every rank, what there is and what it
/// takes; it may refuse. When a node lacks the memory, that is an error.
pub fn load_planned(
    world: &World,
    options: &LoadOptions,
    extra: Extra,
    announce: impl FnOnce(&Plan) -> Result<()>,
) -> Result<Shard> {
    with_plan(world, options, extra, |plan, rows, marginals, labels| {
        announce(&plan)?;
        load(world, options, rows, marginals, labels)
    })
}

/// What loading would take, without loading. When a node lacks the memory, that is an error. Collective.
pub fn plan_load(world: &World, options: &LoadOptions, extra: Extra) -> Result<Plan> {
    with_plan(world, options, extra, |plan, _, _, _| Ok(plan))
}

/// A matrix to be read, and where its rows on this rank start.
type Opened<'a, 'f> = (&'a MatrixFile<'f>, RowStarts);

/// Opens the files, chooses this rank's rows, plans, and goes on with all of it.
fn with_plan<T>(
    world: &World,
    options: &LoadOptions,
    extra: Extra,
    then: impl FnOnce(Plan, Range<u64>, Opened<'_, '_>, Option<Opened<'_, '_>>) -> Result<T>,
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
    let rows = share(world, &marginals)?;
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
    (marginals, starts): Opened<'_, '_>,
    labels: Option<Opened<'_, '_>>,
) -> Result<Shard> {
    let truth = match labels {
        Some((labels, starts)) => {
            Some(world.agree(labels.read(&starts, Content::Labels).map_err(Into::into))?)
        }
        None => None,
    };
    let content = Content::Probabilities { clamp: options.clamp };
    let total_rows = marginals.shape().0;
    let renumbered = marginals.shape().1 as usize >= Order::WORTHWHILE;
    let positives =
        truth.as_ref().filter(|_| renumbered).map(|labels| total_positives(world, labels, total_rows));
    let packed = pack(marginals, starts, content, truth.as_ref(), positives.as_deref());
    let (mut loaded, hits, mut found) = world.agree(packed.map_err(Into::into))?;
    if renumbered {
        let known = match positives {
            Some(positives) => {
                world.sum(&mut found, total_rows.saturating_mul(Known::ONE as u64));
                Known { positives, found }
            }
            None => {
                let total_entries = world.gather_to_all(loaded.entries() as u64).iter().sum();
                let mut seen = loaded.sample(rows.start, total_rows, total_entries);
                world.sum(&mut seen, total_rows);
                Known { found: vec![0; seen.len()], positives: seen }
            }
        };
        loaded.renumber(&known);
    }
    let targets = match truth {
        Some(labels) => Targets::Labels(Truth::from_parts(labels, hits)),
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
    extra: Extra,
) -> Result<Plan> {
    let (rows, labels) = marginals.shape();
    let (local_rows, share) = (starts.starts().len() as u64, Share::new(starts, label_starts));
    world.agree(if local_rows > Shard::MOST_ROWS {
        let most = Shard::MOST_ROWS;
        usage(format!(
            "{}: {local_rows} rows on one rank, but at most {most} are possible; use more ranks",
            marginals.location()
        ))
    } else {
        Ok(())
    })?;
    let totals: Vec<u64> =
        [starts.entries(), share.pass(labels)].map(|part| world.gather_to_all(part).iter().sum()).into();
    let memory = check_room(world, share.need(labels, extra, rayon::current_num_threads() as u64))?;
    Ok(Plan { rows, labels, entries: totals[0], bytes_per_pass: totals[1], memory })
}

/// Reads this rank's share of a label matrix, for what needs no marginals.
pub fn load_labels(world: &World, location: &Location) -> Result<(Range<u64>, u64, Csr)> {
    let file = world.agree(Hdf5File::open(&location.file).map_err(Into::into))?;
    let matrix = world.agree(MatrixFile::open(&file, location.clone()).map_err(Into::into))?;
    let rows = share(world, &matrix)?;
    let labels = read_rows(world, &matrix, rows.clone(), Content::Labels)?;
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
pub(crate) fn share(world: &World, matrix: &MatrixFile<'_>) -> Result<Range<u64>> {
    let mut bounds = Vec::new();
    world.on_root(|| {
        let ranges = matrix.balanced(world.size())?;
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
    content: Content,
) -> Result<Csr> {
    let starts = world.agree(matrix.row_starts(rows).map_err(Into::into))?;
    check_room(world, starts.entries() * 8 + starts.starts().len() as u64 * 8)?;
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
