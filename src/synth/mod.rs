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
use crate::store::LocalMatrix;

/// Rows of a growing matrix, as CSR.
pub struct MatrixRows {
    pub indptr: Vec<usize>,
    pub indices: Vec<u32>,
    pub values: Vec<f32>,
}

impl Default for MatrixRows {
    fn default() -> MatrixRows {
        MatrixRows { indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }
}

impl MatrixRows {
    fn push(&mut self, mut entries: Vec<(u32, f32)>) {
        entries.sort_unstable_by_key(|entry| entry.0);
        self.indices.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.indptr.push(self.indices.len());
    }

    fn append(&mut self, other: MatrixRows) {
        let offset = self.indices.len();
        self.indptr.extend(other.indptr[1..].iter().map(|at| at + offset));
        self.indices.extend(other.indices);
        self.values.extend(other.values);
    }

    pub fn matrix<'d>(&'d self, group: &'static str, rows: u64, columns: u64) -> LocalMatrix<'d> {
        LocalMatrix {
            group,
            rows,
            columns,
            indptr: &self.indptr,
            indices: &self.indices,
            values: &self.values,
        }
    }
}

#[derive(Default)]
pub struct SynthRows {
    pub features: MatrixRows,
    pub labels: MatrixRows,
    pub marginals: MatrixRows,
}

/// Rows that one thread makes at a time.
const ROWS_PER_BLOCK: u64 = 4096;

/// Makes the rows of a range, in parallel.
pub fn generate(generator: &Generator, rows: std::ops::Range<u64>, progress: &dyn Progress) -> SynthRows {
    let mut made = SynthRows::default();
    let size = rows.end - rows.start;
    progress.started("making rows", size, 0);
    made.marginals.indices.reserve_exact((size * generator.entries_per_row()) as usize);
    made.marginals.values.reserve_exact((size * generator.entries_per_row()) as usize);
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
                let mut space = generator::RowScratch::default();
                for row in from..to {
                    let (features, labels, marginals) = generator.row(row, &mut space);
                    made.features.push(features);
                    made.labels.push(labels);
                    made.marginals.push(marginals);
                }
                progress.advanced(to - from);
                made
            })
            .collect();
        for block in blocks {
            made.features.append(block.features);
            made.labels.append(block.labels);
            made.marginals.append(block.marginals);
        }
        start = end;
    }
    progress.finished();
    made
}
