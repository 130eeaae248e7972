//! Reading a range of rows into one matrix, slab by slab.

use std::ops::Range;

use rayon::prelude::*;

use super::error::Result;
use super::matrix_file::MatrixFile;
use super::slab::{RowStarts, Slab, ValueKind};
use crate::heartbeat::beat;
use crate::sparse::Csr;

/// Entries that a thread reads from the file at a time: large enough for the disk, small beside a shard.
const ENTRIES_PER_SLAB: u64 = 1 << 18;

/// The place of a slab in the matrix that is read.
struct SlabTarget<'m> {
    rows: Range<usize>,
    columns: &'m mut [u32],
    values: &'m mut [f32],
    /// Where each row ends, within the slab.
    ends: &'m mut [usize],
}

impl MatrixFile<'_> {
    /// The rows of `starts`, validated. On an error the first bad row of the range is named.
    pub fn read(&self, starts: &RowStarts, content: ValueKind) -> Result<Csr> {
        let places = starts.starts();
        let (rows, entries) = (places.len() - 1, starts.entries() as usize);
        let (mut columns, mut values) = (vec![0; entries], vec![0.0; entries]);
        let mut indptr = vec![0; rows + 1];
        let parts = slab_targets(places, &mut columns, &mut values, &mut indptr[1..]);
        let read = |slab: &mut Slab, part: SlabTarget<'_>| {
            self.read_slab(starts, part.rows, content, slab)?;
            beat();
            // Labels that are stored as zeros are left out: then there are fewer.
            let found = slab.columns.len();
            part.columns[..found].copy_from_slice(&slab.columns);
            part.values[..found].copy_from_slice(&slab.values);
            part.ends.copy_from_slice(&slab.ends);
            Ok((part.ends.len(), part.columns.len(), found))
        };
        let done: Vec<Result<_>> = parts.into_par_iter().map_init(Slab::default, read).collect();
        // The first error, whoever met one first.
        let (mut row, mut from, mut to) = (1, 0, 0);
        for part in done {
            let (rows, room, found) = part?;
            indptr[row..row + rows].iter_mut().for_each(|end| *end += to);
            if from != to {
                columns.copy_within(from..from + found, to);
                values.copy_within(from..from + found, to);
            }
            (row, from, to) = (row + rows, from + room, to + found);
        }
        columns.truncate(to);
        values.truncate(to);
        Ok(Csr::new((rows, self.columns as usize), indptr, columns, values))
    }
}

/// Cuts a matrix into slabs: as many whole rows as fit, at least one.
fn slab_targets<'m>(
    places: &[u64],
    mut columns: &'m mut [u32],
    mut values: &'m mut [f32],
    mut ends: &'m mut [usize],
) -> Vec<SlabTarget<'m>> {
    let (mut parts, mut row) = (Vec::new(), 0);
    while row + 1 < places.len() {
        let fitting = places[row + 1..].partition_point(|&end| end - places[row] <= ENTRIES_PER_SLAB);
        let rows = row..row + fitting.max(1);
        let entries = (places[rows.end] - places[rows.start]) as usize;
        let part = SlabTarget {
            columns: columns.split_off_mut(..entries).expect("a column for every entry"),
            values: values.split_off_mut(..entries).expect("a value for every entry"),
            ends: ends.split_off_mut(..rows.len()).expect("an end for every row"),
            rows,
        };
        row = part.rows.end;
        parts.push(part);
    }
    parts
}
