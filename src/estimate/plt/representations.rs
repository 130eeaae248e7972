//! What a label looks like: the features of its positive instances, added up and brought to length 1.

use rayon::prelude::*;

use super::positives::Positives;
use crate::sparse::RowsView;

/// A sparse vector of length 1 for each label; empty for labels without positive instance.
pub(super) struct Representations {
    vectors: Vec<(Vec<u32>, Vec<f32>)>,
    pub width: usize,
}

impl Representations {
    /// Of rows whose values are normalised already.
    pub fn new(rows: RowsView<'_>, width: usize, positives: &Positives) -> Representations {
        let sum = |dense: &mut Vec<f32>, label: usize| {
            dense.resize(width, 0.0);
            let mut touched = Vec::new();
            for &row in positives.rows(label) {
                let (columns, values) = rows.row(row as usize);
                for (&column, &value) in columns.iter().zip(values) {
                    let sum = &mut dense[column as usize];
                    if *sum == 0.0 {
                        touched.push(column);
                    }
                    *sum += value;
                }
            }
            // What came back to 0 on the way is listed twice.
            touched.sort_unstable();
            touched.dedup();
            let mut values: Vec<f32> =
                touched.iter().map(|&column| std::mem::take(&mut dense[column as usize])).collect();
            normalise(&mut values);
            (touched, values)
        };
        let vectors = (0..positives.labels()).into_par_iter().map_init(Vec::new, sum).collect();
        Representations { vectors, width }
    }

    pub fn of(&self, label: u32) -> (&[u32], &[f32]) {
        let (columns, values) = &self.vectors[label as usize];
        (columns, values)
    }
}

/// Brings a vector to length 1, unless it is 0.
pub(super) fn normalise(values: &mut [f32]) {
    let square: f64 = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    if square > 0.0 {
        let scale = (1.0 / square.sqrt()) as f32;
        values.iter_mut().for_each(|value| *value *= scale);
    }
}
