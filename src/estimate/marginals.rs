//! All rows of a rank, by all its threads.

use rayon::prelude::*;

use super::kept::Kept;
use super::model::{Ask, Model};
use super::rows::Rows;
use crate::heartbeat::beat;
use crate::sparse::Csr;

/// Rows that one thread asks about at a time: enough to read a group's weights once for many of them.
const BLOCK: usize = 512;

/// Blocks for each thread, where there are few rows: so that none waits long for the last.
const BLOCKS_A_THREAD: usize = 4;

/// The largest marginals of every row. `done` hears how many rows are finished.
pub fn marginals_of(model: &Model, features: &Csr, ask: Ask, done: impl Fn(u64) + Sync) -> Kept {
    let rows = features.rows();
    let parts: Vec<Kept> = Rows::of(features, |all| {
        let block = BLOCK.min(rows.div_ceil(BLOCKS_A_THREAD * rayon::current_num_threads()).max(1));
        let starts: Vec<usize> = (0..rows).step_by(block).collect();
        let largest = |&start: &usize| {
            let end = (start + block).min(rows);
            let kept = model.largest(all.part(start..end), ask);
            beat();
            done((end - start) as u64);
            kept
        };
        starts.par_iter().with_max_len(1).map(largest).collect()
    });
    let mut kept = Kept::default();
    parts.iter().for_each(|part| kept.append(part));
    kept
}
