//! Long-tailed data sets with known true marginals.
//!
//! Label popularity follows a power law. Every row has a few *concepts*, labels that are likely for it, and features that
//! show each concept with a strength that grows with its marginal, among noise; so a model can learn the marginals. Labels
//! are drawn from the marginals. A row depends on the seed and its global number only, so any number of ranks makes the same
//! file.

mod generator;
mod sample;

use rayon::prelude::*;

pub use generator::{Generator, SynthShape};
pub use sample::SynthSample;

use crate::progress::Progress;
use crate::sparse::CsrBuilder;

#[derive(Default)]
pub struct SynthRows {
    pub features: CsrBuilder,
    pub labels: CsrBuilder,
    pub marginals: CsrBuilder,
}

/// Rows that one thread makes at a time.
const ROWS_PER_BLOCK: u64 = 4096;

/// Makes the rows of a range, in parallel.
pub fn generate(generator: &Generator, rows: std::ops::Range<u64>, progress: &dyn Progress) -> SynthRows {
    let size = rows.end - rows.start;
    progress.started("making rows", size, 0);
    let entries = (size * generator.entries_per_row()) as usize;
    let mut made =
        SynthRows { marginals: CsrBuilder::with_capacity(size as usize, entries), ..SynthRows::default() };
    // A few blocks at a time, so that little memory waits to be appended.
    let stride = ROWS_PER_BLOCK * 4 * rayon::current_num_threads() as u64;
    let mut start = rows.start;
    while start < rows.end {
        let end = (start + stride).min(rows.end);
        let blocks: Vec<SynthRows> = (0..(end - start).div_ceil(ROWS_PER_BLOCK))
            .into_par_iter()
            .map(|block| {
                let from = start + block * ROWS_PER_BLOCK;
                let to = (from + ROWS_PER_BLOCK).min(end);
                let mut made = SynthRows::default();
                let mut scratch = generator::RowScratch::default();
                for row in from..to {
                    let (mut features, mut labels, mut marginals) = generator.row(row, &mut scratch);
                    made.features.push_entries(&mut features);
                    made.labels.push_entries(&mut labels);
                    made.marginals.push_entries(&mut marginals);
                }
                progress.advanced(to - from);
                made
            })
            .collect();
        for block in blocks {
            made.features.append(&block.features);
            made.labels.append(&block.labels);
            made.marginals.append(&block.marginals);
        }
        start = end;
    }
    progress.finished();
    made
}
