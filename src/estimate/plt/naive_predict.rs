//! The definition of a forest's marginals: every node of every row, without any care for time.

use super::forest::{Forest, NO_NODE};
use super::representations::normalise;
use super::sigmoid::sigmoid;
use crate::estimate::TopMarginals;
use crate::sparse::RowsView;

impl Forest {
    /// What [`CompiledForest`](super::CompiledForest) gives, bit for bit.
    pub fn top_marginals_naive(&self, rows: RowsView<'_>, keep: usize) -> TopMarginals {
        let mut kept = TopMarginals::default();
        let mut dense = vec![0.0f32; self.features];
        let mut marginals = vec![0.0f32; self.nodes()];
        for row in 0..rows.count() {
            let (columns, values) = rows.row(row);
            let mut values = values.to_vec();
            normalise(&mut values);
            for (&column, &value) in columns.iter().zip(&values) {
                dense[column as usize] = value;
            }
            let mut sums = vec![0.0f32; self.labels];
            for node in 0..self.nodes() {
                let (features, weights) = self.node(node);
                let products = features.iter().zip(weights).map(|(&feature, &w)| dense[feature as usize] * w);
                let score = products.fold(0.0f32, |sum, product| sum + product);
                let above = match self.parents[node] {
                    NO_NODE => 1.0,
                    parent => marginals[parent as usize],
                };
                marginals[node] = above * sigmoid(score + self.biases[node]);
                if self.leaf_labels[node] != NO_NODE {
                    sums[self.leaf_labels[node] as usize] += marginals[node];
                }
            }
            columns.iter().for_each(|&column| dense[column as usize] = 0.0);
            let share = self.trees as f32;
            kept.push(&mut (0..).zip(sums.iter().map(|sum| sum / share)).collect(), keep);
        }
        kept
    }
}
