//! From a file into the arrays of a pass, by all threads: each reads and checks a block, and puts it where
//! it will read it again.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::blocks::Blocks;
use super::columns::Columns;
use super::marginals::{Marginals, PADDING};
use super::order::Order;
use super::truth::{Hits, columns as columns_of_row};
use crate::store::{Content, Csr, MatrixFile, RowStarts, Slab, StoreError};

/// Blocks whose labels are looked at to find the frequent ones: a million entries or two.
const SAMPLED: usize = 32;

/// Loads the rows of `starts`, and marks the entries of labels that are in `truth`. Of several bad rows the
/// first is named. Where labels are renumbered, `positives` of all ranks say which are alike, if they are known.
pub(super) fn pack(
    matrix: &MatrixFile<'_>,
    starts: RowStarts,
    content: Content,
    truth: Option<&Csr>,
    positives: Option<&[u64]>,
) -> Result<(Marginals, Hits), StoreError> {
    let labels = matrix.shape().1 as usize;
    let entries = starts.entries() as usize;
    let blocks = Blocks::new(starts.starts());
    let order = (labels >= Order::WORTHWHILE).then(|| {
        let sample = sample(matrix, &starts, content, &blocks);
        Order::new(labels, &sample, positives)
    });
    let columns_of = order.as_ref().map(Order::columns);
    let mut columns = Columns::new(labels, entries);
    // Zeros that cost nothing: each page is the thread's that first writes to it.
    let mut values = vec![0.0; entries + PADDING];
    let first_bad = AtomicUsize::new(usize::MAX);
    let read = |put: &(dyn Fn(usize, &Slab) + Sync)| {
        let failures = blocks.fold(
            || (Slab::default(), None),
            |(slab, failed): &mut (Slab, Option<(usize, StoreError)>), block| {
                // Behind a bad block nothing matters any more; before it, another may be.
                if first_bad.load(Ordering::Relaxed) < block {
                    return;
                }
                let read = matrix.read_slab(&starts, blocks.rows(block), content, slab);
                let Err(error) = read else { return put(block, slab) };
                first_bad.fetch_min(block, Ordering::Relaxed);
                if failed.as_ref().is_none_or(|(first, _)| block < *first) {
                    *failed = Some((block, error));
                }
            },
        );
        let first = failures.into_iter().filter_map(|(_, failed)| failed).min_by_key(|failed| failed.0);
        first.map_or(Ok(()), |(_, error)| Err(error))
    };
    let end = |row: usize| starts.starts()[row] as usize;
    let value_pieces = blocks.pieces(&mut values, end);
    let hits = Hits::new(truth.map_or(0, |_| entries));
    let fill = |block: usize, slab: &Slab| {
        if let Some(truth) = truth {
            let mut first = 0;
            for (local, &end) in blocks.rows(block).zip(&slab.ends) {
                let start = starts.starts()[local] as usize;
                hits.mark(start, &slab.columns[first..end], columns_of_row(truth, local));
                first = end;
            }
        }
        value_pieces.with_new(block, |values| values.copy_from_slice(&slab.values));
    };
    let column_pieces = columns.pieces(&blocks, end);
    read(&|block, slab| {
        fill(block, slab);
        column_pieces.put(block, &slab.columns, columns_of);
    })?;
    drop(column_pieces);
    drop(value_pieces);
    Ok((Marginals::new(labels, starts.into_starts(), columns, values, order, blocks), hits))
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
