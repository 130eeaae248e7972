//! Long-tailed data sets with known true marginals.
//!
//! Label popularity follows a power law. Every instance has a few *concepts*: labels that are likely
//! for it. Its features are those of its concepts, stronger the likelier the label, among noise; so
//! a model can learn the marginals from the features. Labels are drawn from the marginals. A row
//! depends on the seed and its global number only, so any number of ranks makes the same file.

mod row;
mod sample;

use rayon::prelude::*;

pub use row::{Generator, Shape};
pub use sample::Sample;

use crate::store::Matrix;

/// Rows of a matrix being made, as CSR.
#[derive(Default)]
pub struct Rows {
    pub indptr: Vec<usize>,
    pub indices: Vec<u32>,
    pub values: Vec<f32>,
}

impl Rows {
    fn new() -> Rows {
        Rows { indptr: vec![0], ..Rows::default() }
    }

    fn push(&mut self, mut entries: Vec<(u32, f32)>) {
        entries.sort_unstable_by_key(|entry| entry.0);
        self.indices.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.indptr.push(self.indices.len());
    }

    fn append(&mut self, other: Rows) {
        let offset = self.indices.len();
        self.indptr.extend(other.indptr[1..].iter().map(|at| at + offset));
        self.indices.extend(other.indices);
        self.values.extend(other.values);
    }

    pub fn matrix<'d>(&'d self, group: &'static str, rows: u64, columns: u64) -> Matrix<'d> {
        Matrix { group, rows, columns, indptr: &self.indptr, indices: &self.indices, values: &self.values }
    }
}

/// A part of the data set.
pub struct Made {
    pub features: Rows,
    pub labels: Rows,
    pub marginals: Rows,
}

/// Rows made at a time by one thread.
const BLOCK: u64 = 4096;

/// Makes the rows of a range, in parallel; `finished` hears of every block.
pub fn make(generator: &Generator, rows: std::ops::Range<u64>, finished: impl Fn(u64) + Sync) -> Made {
    let mut made = Made { features: Rows::new(), labels: Rows::new(), marginals: Rows::new() };
    let size = rows.end - rows.start;
    made.marginals.indices.reserve_exact((size * generator.entries_a_row()) as usize);
    made.marginals.values.reserve_exact((size * generator.entries_a_row()) as usize);
    // A few blocks at a time, so that what waits to be appended stays small.
    let stride = BLOCK * 4 * rayon::current_num_threads() as u64;
    let mut start = rows.start;
    while start < rows.end {
        let end = (start + stride).min(rows.end);
        let blocks: Vec<Made> = (0..(end - start).div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let from = start + block * BLOCK;
                let to = (from + BLOCK).min(end);
                let mut made = Made { features: Rows::new(), labels: Rows::new(), marginals: Rows::new() };
                let mut space = row::Space::default();
                for row in from..to {
                    let (features, labels, marginals) = generator.row(row, &mut space);
                    made.features.push(features);
                    made.labels.push(labels);
                    made.marginals.push(marginals);
                }
                finished(to - from);
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
    made
}
