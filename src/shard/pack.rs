//! From a file into the arrays of a pass, by all threads: each reads and checks a block, and puts it where
//! it will read it again.

use super::blocks::Blocks;
use super::marginals::{Columns, Marginals, PADDING};
use super::order::Order;
use crate::memory::Zeroed;
use crate::store::{Content, MatrixFile, RowStarts, Slab, StoreError};

/// Blocks whose labels are looked at to find the frequent ones: a million entries or two.
const SAMPLED: usize = 32;

/// Loads the rows of `starts`. Of several bad rows the first is named.
pub(super) fn pack(
    matrix: &MatrixFile<'_>,
    starts: RowStarts,
    content: Content,
) -> Result<Marginals, StoreError> {
    let labels = matrix.shape().1 as usize;
    let entries = starts.entries() as usize;
    let blocks = Blocks::new(starts.starts());
    // With few labels all coefficients stay in the cache anyway.
    let order = (labels > Columns::NARROW).then(|| {
        let sample = sample(matrix, &starts, content, &blocks);
        Order::by_frequency(labels, &sample)
    });
    let (order, columns_of) = order.map_or((None, Vec::new()), |(order, columns)| (Some(order), columns));
    let mut columns = Columns::new(labels, entries);
    let mut values = Zeroed::new(entries + PADDING);
    let read = |put: &(dyn Fn(usize, &Slab) + Sync)| {
        let failures = blocks.fold(
            || (Slab::default(), None),
            |(slab, failed): &mut (Slab, Option<(usize, StoreError)>), block| match matrix.read_slab(
                &starts,
                blocks.rows(block),
                content,
                slab,
            ) {
                Ok(()) => put(block, slab),
                Err(error) if failed.as_ref().is_none_or(|(first, _)| block < *first) => {
                    *failed = Some((block, error));
                }
                Err(_) => (),
            },
        );
        let first = failures.into_iter().filter_map(|(_, failed)| failed).min_by_key(|failed| failed.0);
        first.map_or(Ok(()), |(_, error)| Err(error))
    };
    let end = |row: usize| starts.starts()[row] as usize;
    let value_pieces = blocks.pieces(&mut values, end);
    match &mut columns {
        Columns::Narrow(columns) => {
            let pieces = blocks.pieces(columns, end);
            read(&|block, slab| {
                value_pieces.with(block, |values| values.copy_from_slice(&slab.values));
                pieces.with(block, |piece| {
                    piece.iter_mut().zip(&slab.columns).for_each(|(column, &label)| *column = label as u16);
                });
            })?;
        }
        Columns::Wide(columns) => {
            let pieces = blocks.pieces(columns, end);
            read(&|block, slab| {
                value_pieces.with(block, |values| values.copy_from_slice(&slab.values));
                pieces.with(block, |piece| {
                    let labels = piece.iter_mut().zip(&slab.columns);
                    labels.for_each(|(column, &label)| *column = columns_of[label as usize]);
                });
            })?;
        }
    }
    drop(value_pieces);
    Ok(Marginals::new(labels, starts.into_starts(), columns, values, order, blocks))
}

/// Labels of some entries from all over the rows. What cannot be read is left for the real reading to
/// complain about.
fn sample(matrix: &MatrixFile<'_>, starts: &RowStarts, content: Content, blocks: &Blocks) -> Vec<u32> {
    let mut labels = Vec::new();
    let mut slab = Slab::default();
    let some = blocks.len().min(SAMPLED);
    for block in (0..some).map(|at| blocks.len() * at / some) {
        if matrix.read_slab(starts, blocks.rows(block), content, &mut slab).is_ok() {
            labels.extend_from_slice(&slab.columns);
        }
    }
    labels
}
