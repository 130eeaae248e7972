//! Difficult data with more labels than 16-bit codes: many ties, rows of every length from none to all labels, and the
//! frequent labels last, so that renumbering moves every label.

use std::path::Path;

use hdf5::types::H5Type;

use super::files::{create, set_text};

/// A random number generator independent of the program's, so that the data never change.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        // Knuth's MMIX generator, of which only the high bits are good.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// A true label of some rows, of which few store a marginal for it.
pub const UNSTORED: i32 = 5;

/// Writes `rows` rows of `labels` labels to `path`, in the types that are read fastest. Marginals have two digits and may be
/// zero. The first rows store 0, 1, 2, ... entries, the middle row stores every label.
pub fn write(path: &Path, rows: usize, labels: usize) {
    let mut random = Numbers(labels as u64);
    let (mut indptr, mut indices, mut data) = (vec![0i64], Vec::new(), Vec::new());
    let (mut true_indptr, mut true_indices) = (vec![0i64], Vec::new());
    for row in 0..rows {
        let mut columns: Vec<i32> = if row == rows / 2 {
            (0..labels as i32).collect()
        } else {
            let length = if row < 6 { row } else { 20 + random.below(40) };
            // The product of two draws is mostly small, which gives a long tail, here with the rare labels first.
            (0..length)
                .map(|_| (labels - 1 - random.below(labels) * random.below(labels) / labels) as i32)
                .collect()
        };
        columns.sort_unstable();
        columns.dedup();
        let mut truth = Vec::new();
        for column in columns {
            let hundredths = random.below(101);
            indices.push(column);
            data.push(hundredths as f32 / 100.0);
            if random.below(100) < hundredths && (row != rows / 2 || random.below(50) == 0) {
                truth.push(column);
            }
        }
        // A true label without a marginal, in some rows always the same one.
        if row % 7 == 3 {
            truth.push(if row % 2 == 0 { UNSTORED } else { random.below(labels) as i32 });
        }
        truth.sort_unstable();
        truth.dedup();
        true_indices.extend(truth);
        indptr.push(indices.len() as i64);
        true_indptr.push(true_indices.len() as i64);
    }
    let ones = vec![1.0f32; true_indices.len()];
    create(path, |file| {
        for (name, indptr, indices, data) in
            [("marginals", &indptr, &indices, &data), ("labels", &true_indptr, &true_indices, &ones)]
        {
            let group = file.create_group(name).unwrap();
            set_text(&group, "encoding-type", "csr_matrix");
            let shape = [rows as i64, labels as i64];
            group.new_attr_builder().with_data(&shape).create("shape").unwrap();
            put(&group, "indptr", indptr);
            put(&group, "indices", indices);
            put(&group, "data", data);
        }
    });
}

fn put<T: H5Type>(group: &hdf5::Group, name: &str, values: &[T]) {
    group.new_dataset_builder().with_data(values).create(name).unwrap();
}
