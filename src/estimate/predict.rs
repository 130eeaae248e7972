//! All rows of a rank, by all its threads.

use rayon::prelude::*;

use super::model::{Model, PredictOptions};
use super::top_marginals::TopMarginals;
use crate::heartbeat::beat;
use crate::progress::Progress;
use crate::sparse::{Csr, RowsView};

/// Rows that one thread asks about at a time: enough to read a group's weights once for many of them.
const ROWS_PER_BLOCK: usize = 512;

/// Blocks for each thread, where there are few rows: so that none waits long for the last.
const BLOCKS_PER_THREAD: usize = 4;

/// Returns the largest marginals of every row.
pub fn predict_marginals(
    model: &Model,
    features: &Csr,
    options: PredictOptions,
    progress: &dyn Progress,
) -> TopMarginals {
    let rows = features.rows();
    progress.started("estimating marginals", rows as u64, 0);
    let all = RowsView::from(features);
    let block = ROWS_PER_BLOCK.min(rows.div_ceil(BLOCKS_PER_THREAD * rayon::current_num_threads()).max(1));
    let starts: Vec<usize> = (0..rows).step_by(block).collect();
    let largest = |&start: &usize| {
        let end = (start + block).min(rows);
        let kept = model.top_marginals(all.slice(start..end), options);
        beat();
        progress.advanced((end - start) as u64);
        kept
    };
    let parts: Vec<TopMarginals> = starts.par_iter().with_max_len(1).map(largest).collect();
    progress.finished();
    let mut kept = TopMarginals::default();
    parts.iter().for_each(|part| kept.append(part));
    kept
}
