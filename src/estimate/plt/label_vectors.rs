//! Vectors of labels for clustering: the normalised sum of the features of a label's positives, called PIFA in PECOS
//! (Yu et al. 2022).

use rayon::prelude::*;

use super::training_set::{TrainingSet, normalise};

/// A sparse vector of length 1 for each label; empty for labels without positives.
pub(super) struct LabelVectors {
    vectors: Vec<(Vec<u32>, Vec<f32>)>,
    pub width: usize,
}

impl LabelVectors {
    pub fn new(training_set: &TrainingSet<'_>) -> LabelVectors {
        let TrainingSet { features, width, positives, .. } = training_set;
        let sum = |dense: &mut Vec<f32>, label: usize| {
            dense.resize(*width, 0.0);
            let mut touched = Vec::new();
            for &row in positives.rows(label) {
                let (columns, values) = features.row(row as usize);
                for (&column, &value) in columns.iter().zip(values) {
                    let sum = &mut dense[column as usize];
                    if *sum == 0.0 {
                        touched.push(column);
                    }
                    *sum += value;
                }
            }
            // A sum that returned to 0 is listed twice.
            touched.sort_unstable();
            touched.dedup();
            let mut values: Vec<f32> =
                touched.iter().map(|&column| std::mem::take(&mut dense[column as usize])).collect();
            normalise(&mut values);
            (touched, values)
        };
        let vectors = (0..positives.labels()).into_par_iter().map_init(Vec::new, sum).collect();
        LabelVectors { vectors, width: *width }
    }

    /// Returns the features of a label's vector, ascending, and their values.
    pub fn of(&self, label: u32) -> (&[u32], &[f32]) {
        let (columns, values) = &self.vectors[label as usize];
        (columns, values)
    }
}
