//! Planning and loading a shard. All ranks agree on every step that can fail before the next one begins.

use std::ops::Range;

use super::memory_estimate::{ExtraMemory, RankShare};
use super::open::{ColumnMeaning, open_with_labels, rows_of_this_rank};
use super::pack::load_packed;
use super::positives::total_positives;
use super::read::read_csr;
use crate::error::{Result, usage};
use crate::memory::{MemoryBudget, check_memory};
use crate::shard::{ColumnOrder, FixedPoint, LabelFrequencies, Shard, Targets, TrueLabels};
use crate::store::{Location, MatrixFile, RowStarts, ValueKind};
use crate::world::World;

#[derive(Clone, Debug)]
pub struct LoadOptions {
    pub marginals: Location,
    /// `None` to use the marginals as expected labels.
    pub labels: Option<Location>,
    /// Moves marginals outside [0, 1] to the nearer end instead of refusing them.
    pub clamp: bool,
}

/// The size of what is going to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct LoadSummary {
    pub rows: u64,
    pub labels: u64,
    /// Stored marginals.
    pub entries: u64,
    /// Bytes that one pass reads on all ranks together.
    pub bytes_per_pass: u64,
    pub memory: MemoryBudget,
}

/// A shard about to be loaded: the files have been opened and there is memory for the rows, but no entry has been read.
pub struct LoadPlan<'w> {
    pub summary: LoadSummary,
    world: &'w World,
    rows: Range<u64>,
    marginals: MatrixFile,
    starts: RowStarts,
    labels: Option<(MatrixFile, RowStarts)>,
    clamp: bool,
}

/// Loads this rank's range of the rows, balanced by stored marginals. Collective.
pub fn load_shard(world: &World, options: &LoadOptions) -> Result<Shard> {
    plan_load(world, options, ExtraMemory::for_counting(options.labels.is_some()))?.load()
}

/// Opens the files, chooses this rank's rows, and checks that every node has the memory to load them. Collective.
pub fn plan_load<'w>(world: &'w World, options: &LoadOptions, extra: ExtraMemory) -> Result<LoadPlan<'w>> {
    let opened = open_with_labels(&options.marginals, options.labels.as_ref(), ColumnMeaning::Labels);
    let (marginals, labels) = world.agree(opened)?;
    let rows = rows_of_this_rank(world, &marginals)?;
    let row_starts = |matrix: &MatrixFile| world.agree(matrix.row_starts(rows.clone()));
    let starts = row_starts(&marginals)?;
    let labels = match labels {
        Some(matrix) => row_starts(&matrix).map(|starts| Some((matrix, starts)))?,
        None => None,
    };
    let share = RankShare::new(&starts, labels.as_ref().map(|(_, starts)| starts));
    let summary = summarise(world, &marginals, &starts, &share, extra)?;
    Ok(LoadPlan { summary, world, rows, marginals, starts, labels, clamp: options.clamp })
}

/// Adds up the sizes over all ranks and checks that there is memory. Collective.
fn summarise(
    world: &World,
    marginals: &MatrixFile,
    starts: &RowStarts,
    share: &RankShare,
    extra: ExtraMemory,
) -> Result<LoadSummary> {
    let (rows, labels) = marginals.shape();
    let (local_rows, most) = (starts.starts().len() as u64, Shard::MAX_ROWS);
    world.agree(if local_rows > most {
        let place = marginals.location();
        usage(format!(
            "{place}: {local_rows} rows on one rank, but at most {most} are possible; use more ranks"
        ))
    } else {
        Ok(())
    })?;
    let [entries, bytes_per_pass] =
        [starts.entries(), share.bytes_per_pass(labels)].map(|part| world.gather_to_all(part).iter().sum());
    let memory = check_memory(world, share.memory_bytes(labels, extra, rayon::current_num_threads() as u64))?;
    Ok(LoadSummary { rows, labels, entries, bytes_per_pass, memory })
}

impl LoadPlan<'_> {
    /// Reads the rows. Collective.
    pub fn load(self) -> Result<Shard> {
        let LoadPlan { world, rows, marginals, starts, labels, clamp, .. } = self;
        let true_labels = match &labels {
            Some((labels, starts)) => Some(world.agree(read_csr(labels, starts, ValueKind::Labels))?),
            None => None,
        };
        let content = ValueKind::Probabilities { clamp };
        let total_rows = marginals.shape().0;
        let positives = true_labels.as_ref().map(|labels| total_positives(world, labels, total_rows));
        let renumbered = marginals.shape().1 as usize >= ColumnOrder::MIN_LABELS;
        let known = positives.as_deref().filter(|_| renumbered);
        let packed = load_packed(&marginals, starts, content, true_labels.as_ref(), known);
        let (mut loaded, hits, mut hit_mass) = world.agree(packed)?;
        if renumbered {
            let frequencies = match known {
                Some(positives) => {
                    world.sum(&mut hit_mass, total_rows.saturating_mul(LabelFrequencies::MASS_OF_ONE as u64));
                    LabelFrequencies { positives: positives.to_vec(), hit_mass }
                }
                None => {
                    let total_entries = world.gather_to_all(loaded.entries() as u64).iter().sum();
                    let mut seen = loaded.sample_label_counts(rows.start, total_rows, total_entries);
                    world.sum(&mut seen, total_rows);
                    LabelFrequencies { hit_mass: vec![0; seen.len()], positives: seen }
                }
            };
            loaded.renumber(&frequencies);
        }
        let targets = match true_labels {
            Some(labels) => Targets::Labels(TrueLabels::from_parts(labels, hits, positives)),
            None => Targets::Expected(FixedPoint::for_terms(total_rows)),
        };
        Ok(Shard { rows, total_rows, marginals: loaded, targets })
    }
}
