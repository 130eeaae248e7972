//! Reading a range of rows into one matrix, slab by slab.

use super::error::Result;
use super::matrix::MatrixFile;
use super::slab::{Content, RowStarts, Slab};
use crate::world::progress;

/// A matrix in memory (DESIGN section 3).
pub type Csr = sprs::CsMatI<f32, u32, usize>;

/// Entries read from the file at a time: large enough for the disk, small beside a shard.
const ENTRIES: u64 = 1 << 18;

impl MatrixFile<'_> {
    /// The rows of `starts`, validated. On an error the first bad row of the range is named.
    pub fn read(&self, starts: &RowStarts, content: Content) -> Result<Csr> {
        let places = starts.starts();
        let rows = places.len() - 1;
        let mut indptr = Vec::with_capacity(places.len());
        indptr.push(0);
        let mut columns = Vec::with_capacity(starts.entries() as usize);
        let mut values = Vec::with_capacity(starts.entries() as usize);
        let mut slab = Slab::default();
        let mut row = 0;
        while row < rows {
            // As many whole rows as fit a slab, at least one.
            let fitting = places[row + 1..].partition_point(|&end| end - places[row] <= ENTRIES);
            let end = row + fitting.max(1);
            self.read_slab(starts, row..end, content, &mut slab)?;
            progress();
            let before = columns.len();
            columns.extend_from_slice(&slab.columns);
            values.extend_from_slice(&slab.values);
            indptr.extend(slab.ends.iter().map(|end| before + end));
            row = end;
        }
        let shape = (rows, self.columns as usize);
        Ok(Csr::new(shape, indptr, columns, values))
    }
}
