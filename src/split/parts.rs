//! Reading rows once, and writing them to parts.

use std::ops::Range;
use std::path::Path;

use super::assign::Assignment;
use super::origin::Origin;
use super::source::{SourceGroup, SplitSource, value_kind};
use crate::error::Result;
use crate::heartbeat::beat;
use crate::memory::check_memory;
use crate::sparse::CsrBuilder;
use crate::store::{
    LocalMatrix, MatrixFile, Overwrite, Role, RowStarts, Slab, StoreError, UnpublishedFile, ValueKind,
    write_names, write_unpublished,
};
use crate::world::World;

/// This rank's rows of some parts, group by group.
pub struct Parts {
    groups: Vec<SourceGroup>,
    /// The parts read, by number, each with a matrix for every group.
    parts: Vec<(usize, Vec<CsrBuilder>)>,
}

/// Entries read from the file at a time.
const ENTRIES_PER_SLAB: u64 = 1 << 18;

impl Parts {
    /// Reads this rank's rows, every group once, and keeps the rows of the parts `wanted`. Needs memory for these and one slab.
    /// Collective.
    pub fn read(
        world: &World,
        source: &SplitSource,
        assignment: &Assignment,
        wanted: &[usize],
    ) -> Result<Parts> {
        let rows = source.rank_rows(world)?;
        let mine = &assignment.parts[rows.start as usize..rows.end as usize];
        let mut parts: Vec<(usize, Vec<CsrBuilder>)> =
            wanted.iter().map(|&part| (part, Vec::new())).collect();
        for group in &source.groups {
            let matrix = world.agree(source.matrix(group.role))?;
            let starts = world.agree(matrix.row_starts(rows.clone()))?;
            let mut kept: Vec<CsrBuilder> =
                wanted.iter().map(|&part| with_capacity_for(&starts, mine, part)).collect();
            let entries: u64 = kept.iter().map(|rows| rows.columns.capacity() as u64).sum();
            check_memory(world, entries * 8 + (rows.end - rows.start) * 8)?;
            let read = for_each_row(&matrix, &starts, value_kind(group.role), |row, columns, values| {
                if let Some(at) = wanted.iter().position(|&part| part == usize::from(mine[row])) {
                    kept[at].push_row(columns, values);
                }
            });
            world.agree(read)?;
            parts.iter_mut().zip(kept).for_each(|(part, rows)| part.1.push(rows));
        }
        Ok(Parts { groups: source.groups.clone(), parts })
    }

    /// Returns this rank's rows of a group in each part.
    pub(super) fn group_rows(&self, role: Role) -> impl Iterator<Item = &CsrBuilder> {
        let at = self.groups.iter().position(|group| group.role == role);
        self.parts.iter().filter_map(move |(_, rows)| rows.get(at?))
    }

    /// Writes each part to its path, unpublished. Collective.
    pub fn write(
        &self,
        world: &World,
        source: &SplitSource,
        assignment: &Assignment,
        origin: &Origin,
        paths: &[&Path],
        overwrite: Overwrite,
    ) -> Result<Vec<UnpublishedFile>> {
        let write = |((part, rows), path): (&(usize, Vec<CsrBuilder>), &&Path)| {
            let matrices: Vec<LocalMatrix<'_>> = self
                .groups
                .iter()
                .zip(rows)
                .map(|(group, rows)| LocalMatrix {
                    group: group.role.group(),
                    rows: assignment.sizes[*part],
                    columns: group.columns,
                    local: rows.view(),
                })
                .collect();
            write_unpublished(world, path, overwrite, &matrices, |file| {
                let numbers: Vec<i64> = assignment.rows_of(*part).map(|row| row as i64).collect();
                origin.write(file, *part, &numbers)?;
                if let Some(names) = &source.instance_names {
                    let names: Vec<String> = numbers.iter().map(|&row| names[row as usize].clone()).collect();
                    write_names(file, "instance_names", &names)?;
                }
                match &source.label_names {
                    Some(names) => write_names(file, "label_names", names),
                    None => Ok(()),
                }
            })
        };
        self.parts.iter().zip(paths).map(write).collect()
    }
}

/// Allocates exactly the memory for the rows of `part`.
fn with_capacity_for(starts: &RowStarts, parts: &[u8], part: usize) -> CsrBuilder {
    let in_part = |row: &usize| usize::from(parts[*row]) == part;
    let (mut rows, mut entries) = (0, 0);
    for row in (0..parts.len()).filter(in_part) {
        rows += 1;
        entries += (starts.starts()[row + 1] - starts.starts()[row]) as usize;
    }
    CsrBuilder::with_capacity(rows, entries)
}

/// Calls `each` with every row of `starts`, numbered from 0.
fn for_each_row(
    matrix: &MatrixFile,
    starts: &RowStarts,
    content: ValueKind,
    mut each: impl FnMut(usize, &[u32], &[f32]),
) -> Result<(), StoreError> {
    let places = starts.starts();
    let mut slab = Slab::default();
    let mut row = 0;
    while row + 1 < places.len() {
        let fitting = places[row + 1..].partition_point(|&end| end - places[row] <= ENTRIES_PER_SLAB);
        let rows: Range<usize> = row..row + fitting.max(1);
        matrix.read_slab(starts, rows.clone(), content, &mut slab)?;
        beat();
        let mut start = 0;
        for (row, &end) in rows.clone().zip(&slab.ends) {
            each(row, &slab.columns[start..end], &slab.values[start..end]);
            start = end;
        }
        row = rows.end;
    }
    Ok(())
}
