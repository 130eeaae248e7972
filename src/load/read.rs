//! Reading rows by all threads, block by block, and assembling them into a CSR matrix.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::memory::check_memory;
use crate::shard::RowBlocks;
use crate::sparse::Csr;
use crate::store::{MatrixFile, RowStarts, Slab, StoreError, ValueKind};
use crate::world::World;

/// Reads and checks the rows of `starts` and passes each block to `add`, with a total that each thread starts with `new`.
/// Returns the totals. The error of the first bad block is returned, whichever thread meets it.
pub(super) fn read_blocks<T: Send>(
    matrix: &MatrixFile,
    starts: &RowStarts,
    content: ValueKind,
    blocks: &RowBlocks,
    new: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, usize, &Slab) + Sync,
) -> Result<Vec<T>, StoreError> {
    let first_error: Mutex<Option<(usize, StoreError)>> = Mutex::new(None);
    let lock = || first_error.lock().unwrap_or_else(PoisonError::into_inner);
    let totals = blocks.fold(
        || (Slab::default(), new()),
        |(slab, total), block| {
            // Blocks after a bad one no longer matter, but one before it may be bad too.
            if lock().as_ref().is_some_and(|(first, _)| *first < block) {
                return;
            }
            match matrix.read_slab(starts, blocks.rows(block), content, slab) {
                Ok(()) => add(total, block, slab),
                Err(error) => {
                    let mut first_error = lock();
                    if first_error.as_ref().is_none_or(|(first, _)| block < *first) {
                        *first_error = Some((block, error));
                    }
                }
            }
        },
    );
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(totals.into_iter().map(|(_, total)| total).collect()),
    }
}

/// Reads the rows of `starts`. An error names the first bad row.
pub fn read_csr(matrix: &MatrixFile, starts: &RowStarts, content: ValueKind) -> Result<Csr, StoreError> {
    let places = starts.starts();
    let (rows, entries) = (places.len() - 1, starts.entries() as usize);
    let (mut columns, mut values, mut indptr) = (vec![0; entries], vec![0.0; entries], vec![0; rows + 1]);
    let blocks = RowBlocks::new(places);
    let start = |row: usize| places[row] as usize;
    let column_pieces = blocks.pieces(&mut columns, start);
    let value_pieces = blocks.pieces(&mut values, start);
    let end_pieces = blocks.pieces(&mut indptr[1..], |row| row);
    // Stored zeros of labels are dropped, so a block may have fewer entries than its piece.
    let write = |_: &mut (), block, slab: &Slab| {
        let found = slab.columns.len();
        column_pieces.with(block, |piece| piece[..found].copy_from_slice(&slab.columns));
        value_pieces.with(block, |piece| piece[..found].copy_from_slice(&slab.values));
        end_pieces.with(block, |piece| piece.copy_from_slice(&slab.ends));
    };
    read_blocks(matrix, starts, content, &blocks, || (), write)?;
    drop((column_pieces, value_pieces, end_pieces));
    let mut to = 0;
    for block in 0..blocks.len() {
        let rows = blocks.rows(block);
        let (from, found) = (start(rows.start), indptr[rows.end]);
        indptr[rows.start + 1..=rows.end].iter_mut().for_each(|end| *end += to);
        if from != to {
            columns.copy_within(from..from + found, to);
            values.copy_within(from..from + found, to);
        }
        to += found;
    }
    columns.truncate(to);
    values.truncate(to);
    Ok(Csr::new((rows, matrix.shape().1 as usize), indptr, columns, values))
}

/// Reads a range of rows, if there is memory for it: first its structure, then its entries, so that the error reported
/// does not depend on the number of ranks. Collective.
pub(super) fn read_rows(
    world: &World,
    matrix: &MatrixFile,
    rows: Range<u64>,
    content: ValueKind,
) -> Result<Csr> {
    let starts = world.agree(matrix.row_starts(rows))?;
    check_memory(world, starts.entries() * 8 + starts.starts().len() as u64 * 8)?;
    world.agree(read_csr(matrix, &starts, content))
}
